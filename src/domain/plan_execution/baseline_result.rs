//! Holds what the tests showed before the first step, and says whether the plan fixes what failed (TRUTH.md T25).

use serde::{Deserialize, Serialize};

use crate::domain::plan::proof_lines::ProofClaim;
use crate::domain::plan::{Plan, Step};
use crate::domain::receipt::{Receipt, TestOutcome};
use crate::domain::step_proof::{ProofCost, TestNames};

/// The test result on the tree before the first step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestBaseline {
    pub receipt: Receipt,
    /// Untracked files that it made; they belong to no step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made_by_tests: Vec<String>,
    /// Other files that changed while it ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// What proving the steps will cost; `None` where nothing is proven, and in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof_cost: Option<ProofCost>,
    /// The failing tests that no step of the plan names; `None` where not all names are known, where nothing is proven, and
    /// in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unplanned_failures: Option<TestNames>,
}

impl TestBaseline {
    /// Describes what proving the steps will cost; `None` where no test ran, or nothing is proven.
    pub fn describe_cost(&self) -> Option<String> {
        let has_run = matches!(
            self.receipt.outcome,
            TestOutcome::Passed | TestOutcome::Failed
        );
        let cost = self.proof_cost.filter(|cost| has_run && cost.n_steps > 0)?;
        let run_ms = self.receipt.duration_ms;
        cost.exceeds_notice_threshold(run_ms)
            .then(|| cost.describe(run_ms))
    }

    /// Describes the result and its consequence in one line. Where steps are proven the user decides about failures.
    pub fn describe(&self) -> String {
        let told = if self.receipt.allows_next_step() || self.proof_cost.is_some() {
            ""
        } else {
            " (no step has to fix what already fails)"
        };
        format!("Before step 1: {}{told}", self.describe_failures())
    }

    /// Returns whether tests fail and the plan does not say that its steps fix all of them. Without names only a step with
    /// the test command as its `Proof:` says so.
    pub(in crate::domain) fn is_red(&self, plan: &Plan) -> bool {
        let proves = |step: &Step| matches!(&step.proof.claim, ProofClaim::Command(line) if *line == self.receipt.command);
        let is_planned = match &self.unplanned_failures {
            Some(unplanned) => unplanned.is_empty(),
            None => plan.steps.iter().any(proves),
        };
        matches!(
            self.receipt.outcome,
            TestOutcome::Failed | TestOutcome::TimedOut
        ) && !is_planned
    }

    /// Describes the result, with the names of the failing tests.
    pub fn describe_failures(&self) -> String {
        let receipt = &self.receipt;
        let result = receipt.describe_with_origin();
        if receipt.failed_tests.is_empty() {
            result
        } else {
            format!("{result}; failing: {}", receipt.failed_tests_label())
        }
    }
}
