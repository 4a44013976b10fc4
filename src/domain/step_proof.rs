//! Holds what the program found out about a step by running tests on clean trees (TRUTH.md T22), and says what that
//! proves.
//!
//! Old and new code each meet old and new tests: four runs, called cells. Pure: the engine lays down the trees and runs
//! the tests.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::receipt::TestOutcome;

/// One of the four test runs that prove a step.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ProofCell {
    /// Old code, old tests: what failed before the step.
    Baseline,
    /// Old code, new tests: at least one new or changed test fails without the change.
    Red,
    /// New code, new tests: nothing fails but what failed before.
    Green,
    /// New code, old tests: what passed before still passes.
    Kept,
}

/// One test run on a clean tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellRun {
    pub cell: ProofCell,
    /// The git tree that was laid down and tested.
    pub tree: String,
    pub outcome: TestOutcome,
    /// The exit code, where the command ended by itself.
    pub exit_code: Option<i32>,
    /// In milliseconds; 0 where it was not run again.
    pub duration_ms: u64,
    /// How many tests passed, failed and were skipped, by identity; zero where only the exit code is known.
    pub n_passed: usize,
    pub n_failed: usize,
    pub n_skipped: usize,
    /// Whether an earlier run on the same tree was used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_reused: bool,
}

/// What the cells of a step showed. Lists of names are cut to [`MAX_LISTED_TESTS`]; the numbers beside them are whole.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StepProof {
    /// The cells in the order in which they ran.
    pub cells: Vec<CellRun>,
    /// Whether all cells know their tests by identity; otherwise the step is at most checked.
    pub is_by_identity: bool,
    /// The test files that the step changes, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_tests: Vec<String>,
    /// The new or changed tests that fail without the change and pass with it.
    #[serde(default, skip_serializing_if = "TestNames::is_empty")]
    pub red: TestNames,
    /// Whether the red cell could not load the tests, so that nothing but a failed build, import or link is known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_red_by_load: bool,
    /// How many tests passed before and still pass.
    pub n_kept: usize,
    /// Tests that passed before and that the new tree no longer has, or skips.
    #[serde(default, skip_serializing_if = "TestNames::is_empty")]
    pub lost: TestNames,
    /// Tests that passed before and fail with the new code.
    #[serde(default, skip_serializing_if = "TestNames::is_empty")]
    pub broken: TestNames,
    /// Tests that fail on the new tree and did not fail before the step.
    #[serde(default, skip_serializing_if = "TestNames::is_empty")]
    pub failing: TestNames,
    /// Tests that fail on the new tree and failed before the step, too.
    #[serde(default, skip_serializing_if = "TestNames::is_empty")]
    pub known_failures: TestNames,
    /// Why something could not be established, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
}

/// How many tests a list of names holds at most.
pub const MAX_LISTED_TESTS: usize = 20;

/// The number of some tests with the first of their names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TestNames {
    pub count: usize,
    /// At most [`MAX_LISTED_TESTS`], sorted.
    pub first: Vec<String>,
}

impl TestNames {
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// What the cells and the plan together say about a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", content = "reason", rename_all = "snake_case")]
pub enum ProofStatus {
    /// The program saw all that T22 asks for.
    Proven,
    /// The same tests pass before and after, as the plan said (`Keeps behaviour`).
    Kept,
    /// The tests pass, but the program cannot tell what they prove: only an exit code, or no sandbox. The reason.
    Checked(String),
    /// Something that the plan promised was not seen. What is missing, in one line.
    Unproven(String),
    /// The plan says that no test can prove it (`No test`); the plan's reason.
    Waived(String),
}
