//! Estimates what proving the steps of a plan costs, once it is known how long the tests take (TRUTH.md T34).

use serde::{Deserialize, Serialize};

use super::format_seconds;
use crate::domain::plan::proof_lines::ProofClaim;
use crate::text::pluralize;

/// What takes less time is not worth a line.
const MIN_NOTICE_MS: u64 = 30_000;

/// How often the tests will run to prove the steps that are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofCost {
    pub n_steps: u32,
    /// About how many test runs that takes.
    pub n_runs: u32,
}

impl ProofCost {
    /// Estimates the runs by what the steps say about their proof.
    pub fn estimate<'a>(claims: impl IntoIterator<Item = &'a ProofClaim>) -> Self {
        let mut cost = Self {
            n_steps: 0,
            n_runs: 0,
        };
        for claim in claims {
            cost.n_steps += 1;
            cost.n_runs += match claim {
                // New tests on new and on old code, old tests on new code, mutants. What ran on the old code before is
                // known.
                ProofClaim::TestFirst(_) | ProofClaim::Unnamed => 4,
                // The tests, and the command twice.
                ProofClaim::Command(_) => 3,
                // The tests, and a mutant.
                ProofClaim::KeepsBehaviour => 2,
                ProofClaim::NoTest(_) => 1,
            };
        }
        cost
    }

    /// Returns whether all runs take so long that the user should know, where one takes so many milliseconds.
    pub fn exceeds_notice_threshold(self, run_ms: u64) -> bool {
        run_ms.saturating_mul(u64::from(self.n_runs)) >= MIN_NOTICE_MS
    }

    /// Describes the cost, where one run takes so many milliseconds.
    pub fn describe(self, run_ms: u64) -> String {
        let (n_steps, n_runs) = (self.n_steps as usize, u64::from(self.n_runs));
        let took = match run_ms {
            0..1_000 => "less than 1 s".to_owned(),
            _ => format_seconds(run_ms),
        };
        format!(
            "The tests took {took}. Proving {} runs them about {}, about {}",
            pluralize(n_steps, "step"),
            pluralize(self.n_runs as usize, "time"),
            format_seconds(run_ms.saturating_mul(n_runs))
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_counts_the_runs_that_each_claim_takes() {
        let check = |claims: &[ProofClaim], run_ms: u64, expected: &str| {
            assert_eq!(ProofCost::estimate(claims).describe(run_ms), expected);
        };
        let test = || ProofClaim::TestFirst("a".to_owned());
        check(
            &[test(), ProofClaim::Unnamed, ProofClaim::KeepsBehaviour],
            4_000,
            "The tests took 4 s. Proving 3 steps runs them about 10 times, about 40 s",
        );
        check(
            &[ProofClaim::Command("make".to_owned())],
            70_000,
            "The tests took 1 min 10 s. Proving 1 step runs them about 3 times, about 3 min 30 s",
        );
        check(
            &[ProofClaim::NoTest("a".to_owned())],
            10,
            "The tests took less than 1 s. Proving 1 step runs them about 1 time, about 1 s",
        );
    }

    #[test]
    fn half_a_minute_of_test_runs_is_worth_a_line() {
        let three_runs = ProofCost::estimate(&[ProofClaim::Command("make".to_owned())]);
        assert!(three_runs.exceeds_notice_threshold(10_000));
        assert!(!three_runs.exceeds_notice_threshold(9_999));
    }
}
