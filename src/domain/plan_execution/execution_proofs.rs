//! Says what an execution has changed and what is proven of it, and which tests its baseline allows.

use super::{PlanExecution, StepOutcome, StepRecord};
use crate::domain::plan::Step;
use crate::domain::step_proof::ProofScope;

/// From this duration on, in milliseconds, a suite is not run several times for each step.
const SLOW_SUITE_MS: u64 = 120_000;

impl PlanExecution {
    /// Returns whether no step changed anything, counting those that were undone.
    pub(in crate::domain) fn has_changed_nothing(&self) -> bool {
        let undone = self.undone.iter().flat_map(|undone| &undone.records);
        let mut records = self.done.iter().chain(undone);
        records.all(|step| step.outcome == StepOutcome::NoChange)
    }

    /// Counts the finished steps by what is proven of them: `4 of 5 proven, 1 waived`; `None` where no step has ended.
    pub(in crate::domain) fn describe_proofs(&self) -> Option<String> {
        if self.done.is_empty() {
            return None;
        }
        let words: Vec<&str> = self.done.iter().map(StepRecord::proof_word).collect();
        let count = |word: &str| words.iter().filter(|found| **found == word).count();
        let mut parts = vec![format!("{} of {} proven", count("proven"), words.len())];
        let others = ["kept", "checked", "waived", "unproven"];
        parts.extend(others.iter().filter_map(|word| match count(word) {
            0 => None,
            n => Some(format!("{n} {word}")),
        }));
        Some(parts.join(", "))
    }

    /// Describes each step that is not proven, and the suite where it should have run and did not.
    pub(in crate::domain) fn describe_unproven_steps(&self) -> Vec<String> {
        let told = self.done.iter().filter_map(|record| {
            let why = record.unproven_reason()?;
            let words = [record.skip_words(), record.checked_words()].concat();
            Some(format!("step {} {why}{words}", record.n))
        });
        let suite = self
            .step_without_suite()
            .map(|step| format!("the whole test suite did not run after step {step}"));
        told.chain(suite).collect()
    }

    /// Returns the last finished step after which the whole suite should have run and did not.
    fn step_without_suite(&self) -> Option<u32> {
        let scope = |record: &StepRecord| Some(record.proof.as_ref()?.found.scope);
        let records = self.done.iter();
        let mut scopes = records.filter_map(|record| Some((record.n, scope(record)?)));
        let (step, last) = scopes.next_back()?;
        (last == ProofScope::StepTests).then_some(step)
    }

    /// Returns whether the suite is too slow to run it several times for each step.
    pub(in crate::domain) fn has_slow_suite(&self) -> bool {
        let baseline = self.baseline.as_ref();
        baseline.is_some_and(|found| found.receipt.duration_ms > SLOW_SUITE_MS)
    }

    /// Returns whether a step has not ended and the user does not skip it.
    pub(in crate::domain) fn is_open_step(&self, step: &Step) -> bool {
        !self.done.iter().any(|record| record.n == step.n)
            && !self.is_skip_requested(step.n, &step.text)
    }
}
