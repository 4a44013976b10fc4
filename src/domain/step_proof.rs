//! Holds what the program found out about a step by running tests on clean trees (TRUTH.md T22), and says what that
//! proves.
//!
//! Old and new code each meet old and new tests: four runs, called cells. Pure: the engine lays down the trees and runs
//! the tests.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::receipt::TestOutcome;
use super::test_report::TestIdentity;
use crate::text::{clean_to_one_line, pluralize, truncate};

mod assessment;
mod cell_comparison;
mod ci_variable;
mod flaky_tests;
mod known_failures;
mod mutant_trial;
mod named_tests;
mod plain_words;
mod proof_cost;
mod test_location;

pub use cell_comparison::CellReports;
pub use ci_variable::{RunWithoutCi, find_tests_that_need_ci};
pub use flaky_tests::find_flaky_suspects;
pub use known_failures::find_unplanned_failures;
pub use mutant_trial::MutantTrial;
pub use named_tests::find_test_files;
pub use proof_cost::ProofCost;

/// The tests that prove a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProofScope {
    /// Each cell runs the whole suite.
    #[default]
    WholeSuite,
    /// Each cell runs the tests that the step names or changes; a later step runs the suite.
    StepTests,
    /// The last step: its own tests in each cell, and the suite once, compared with the one before the first step.
    StepTestsAndSuite,
}

impl ProofScope {
    /// Returns whether each cell runs the whole suite.
    fn is_whole_suite(&self) -> bool {
        *self == Self::WholeSuite
    }
}

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
    /// The number of its receipt; `None` where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<u32>,
    /// Whether an earlier run on the same tree was used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_reused: bool,
}

/// What the cells of a step showed. Lists of names are cut to [`MAX_LISTED_TESTS`]; the numbers beside them are whole.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StepProof {
    /// The cells in the order in which they ran; after them the whole suite, if it ran apart from them.
    pub cells: Vec<CellRun>,
    /// Which tests the cells ran.
    #[serde(default, skip_serializing_if = "ProofScope::is_whole_suite")]
    pub scope: ProofScope,
    /// Whether all cells know their tests by identity; otherwise the step is at most checked.
    pub is_by_identity: bool,
    /// The test files that the step changes, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_tests: Vec<String>,
    /// Those of them that hold only tests which did not exist before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added_tests: Vec<String>,
    /// The new or changed tests that fail without the change and pass with it.
    #[serde(default, skip_serializing_if = "TestNames::is_empty")]
    pub red: TestNames,
    /// Whether nothing is red, and the red cell could not load tests or does not have the new ones: without the change
    /// they cannot be built, imported or linked, and nothing else is known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_red_by_load: bool,
    /// The known tests that the plan's `Test first:` names, where none of them fails without the change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmet_tests: Vec<String>,
    /// Of a step that changes nothing, the tests that its plan names and that pass; `None` where not all do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed_before: Option<TestNames>,
    /// What the plan's `Proof:` command did; `None` where it has none or it was not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandProof>,
    /// What mutants of the step's code showed; `None` where none were needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutants: Option<MutantTrial>,
    /// The run without the variable `CI`; `None` where the step reads no such variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_ci: Option<Box<RunWithoutCi>>,
    /// How many tests passed before and still pass.
    pub n_kept: usize,
    /// Old tests that no longer pass or are gone, as the plan's `Changes tests:` says. The lists below leave them out.
    #[serde(default, skip_serializing_if = "TestNames::is_empty")]
    pub planned_changes: TestNames,
    /// Tests that passed before and that the new tree no longer has, or skips.
    #[serde(default, skip_serializing_if = "TestNames::is_empty")]
    pub lost: TestNames,
    /// Old tests that passed before and do not pass with the new code.
    #[serde(default, skip_serializing_if = "TestNames::is_empty")]
    pub broken: TestNames,
    /// Tests that fail on the new tree and did not fail before the step.
    #[serde(default, skip_serializing_if = "TestNames::is_empty")]
    pub failing: TestNames,
    /// Tests that fail on the new tree and failed before the step, too.
    #[serde(default, skip_serializing_if = "TestNames::is_empty")]
    pub known_failures: TestNames,
    /// Tests that the step did not touch and that pass and fail with the code before the step, too. Those that fail count
    /// as known failures.
    #[serde(default, skip_serializing_if = "TestNames::is_empty")]
    pub flaky: TestNames,
    /// Why something could not be established, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
}

/// How the command of a `Proof:` line ended without the step's change and with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandProof {
    pub failed_before: bool,
    pub passed_after: bool,
}

impl CommandProof {
    /// Returns whether it showed what it has to.
    pub fn is_met(self) -> bool {
        self.failed_before && self.passed_after
    }
}

/// How many tests a list of names holds at most.
pub const MAX_LISTED_TESTS: usize = 20;
/// How many of them a sentence names.
const MAX_NAMED_TESTS: usize = 3;
/// How many characters of a test's name are kept; runners put whole parameters into names.
const MAX_NAME_CHARS: usize = 200;

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

    /// Lists tests by their identity, in any order.
    pub fn from_tests<'a>(tests: impl IntoIterator<Item = &'a TestIdentity>) -> Self {
        let mut names = Self::default();
        for test in tests {
            names.add(&test.to_string());
        }
        names
    }

    /// Lists one test of which nothing is known.
    pub fn of_unnamed_test() -> Self {
        let mut names = Self::default();
        names.add("a test whose name is not known");
        names
    }

    /// Adds a name, which an agent may have chosen, as one line.
    fn add(&mut self, name: &str) {
        let name = truncate::to_chars(&clean_to_one_line(name), MAX_NAME_CHARS);
        self.count += 1;
        self.first.push(name);
        self.first.sort();
        self.first.truncate(MAX_LISTED_TESTS);
    }

    /// Names the first of them: `a, b, c and 4 more`.
    pub fn describe(&self) -> String {
        let named: Vec<&str> = self
            .first
            .iter()
            .take(MAX_NAMED_TESTS)
            .map(String::as_str)
            .collect();
        match self.count.saturating_sub(named.len()) {
            0 => named.join(", "),
            more => format!("{} and {more} more", named.join(", ")),
        }
    }
}

impl StepProof {
    /// Returns the run of a cell.
    pub fn run_of(&self, cell: ProofCell) -> Option<&CellRun> {
        self.cells.iter().find(|run| run.cell == cell)
    }

    /// Adds what a comparison of the whole suite found, after one of the step's own tests.
    pub fn add_suite(&mut self, suite: Self) {
        let lists = [
            (&mut self.lost, suite.lost),
            (&mut self.broken, suite.broken),
            (&mut self.failing, suite.failing),
            (&mut self.known_failures, suite.known_failures),
            (&mut self.planned_changes, suite.planned_changes),
        ];
        for (own, whole) in lists {
            // The suite has the step's own tests, too.
            if whole.count >= own.count {
                *own = whole;
            }
        }
        self.n_kept = self.n_kept.max(suite.n_kept);
        self.is_by_identity &= suite.is_by_identity;
        let new = suite.doubts.into_iter();
        let new: Vec<String> = new.filter(|doubt| !self.doubts.contains(doubt)).collect();
        self.doubts.extend(new);
    }

    /// Returns whether the old tests fail on the old code and pass on the new one.
    fn mends_old_tests(&self) -> bool {
        let outcome = |cell| self.run_of(cell).map(|run| &run.outcome);
        self.changed_tests.is_empty()
            && outcome(ProofCell::Baseline) == Some(&TestOutcome::Failed)
            && outcome(ProofCell::Green) == Some(&TestOutcome::Passed)
    }

    /// Returns whether the old tests as a whole pass with the new code, by their exit code.
    fn keeps_all_old_tests(&self) -> bool {
        let kept = self.run_of(ProofCell::Kept);
        // Without changed tests the new tests are the old ones.
        let ran = kept.or_else(|| {
            let green = self.run_of(ProofCell::Green);
            green.filter(|_| self.changed_tests.is_empty())
        });
        ran.is_some_and(|run| run.outcome == TestOutcome::Passed)
    }

    /// Returns the numbers of the receipts of all runs.
    pub fn receipts(&self) -> Vec<u32> {
        let without_ci = self.without_ci.iter().map(|without| &without.run);
        let runs = self.cells.iter().chain(without_ci);
        runs.filter_map(|run| run.receipt).collect()
    }

    /// Summarizes what the cells showed: `red \u{2192} green · kept 13`. How long they took would be read as the time of
    /// the step.
    pub fn summary(&self) -> String {
        let after = self.describe_green();
        let mut parts = vec![
            match (&self.command, self.is_red_by_load, self.red.is_empty()) {
                (Some(command), _, _) => {
                    let word = |is_pass: bool| if is_pass { "passes" } else { "fails" };
                    let (before, after) =
                        (word(!command.failed_before), word(command.passed_after));
                    format!("proof {before} \u{2192} {after}")
                }
                (None, true, _) if self.has_killed_mutant() => {
                    format!("not loaded \u{2192} {after} \u{b7} mutant noticed")
                }
                (None, true, _) => format!("not loaded \u{2192} {after}"),
                (None, false, false) => format!("red \u{2192} {after}"),
                (None, false, true) if self.has_killed_mutant() => {
                    format!("{after} \u{b7} mutant noticed")
                }
                (None, false, true) => after.to_owned(),
            },
        ];
        let counts = [
            (self.n_kept, format!("kept {}", self.n_kept)),
            (
                self.failing.count,
                format!("{} failing", self.failing.count),
            ),
            (self.broken.count, format!("{} broken", self.broken.count)),
            (self.lost.count, format!("{} lost", self.lost.count)),
            (
                self.planned_changes.count,
                format!("{} changed as planned", self.planned_changes.count),
            ),
            (
                self.known_failures.count,
                pluralize(self.known_failures.count, "known failure"),
            ),
            (self.flaky.count, format!("{} flaky", self.flaky.count)),
        ];
        parts.extend(
            counts
                .into_iter()
                .filter(|(n, _)| *n > 0)
                .map(|(_, words)| words),
        );
        match self.scope {
            ProofScope::WholeSuite => {}
            ProofScope::StepTests => parts.push("its own tests".to_owned()),
            ProofScope::StepTestsAndSuite => parts.push("its own tests and the suite".to_owned()),
        }
        let without_ci = self.without_ci.as_ref();
        let n_need_ci = without_ci.map_or(0, |without| without.failing.count);
        if n_need_ci > 0 {
            parts.push(format!("{n_need_ci} need `CI`"));
        }
        parts.join(" \u{b7} ")
    }

    fn describe_green(&self) -> &'static str {
        match self.run_of(ProofCell::Green).map(|run| &run.outcome) {
            None => "not tested",
            Some(TestOutcome::NoTests | TestOutcome::NoCommand) => "no tests",
            Some(TestOutcome::Passed) if self.failing.is_empty() => "green",
            Some(TestOutcome::Failed)
                if self.failing.is_empty() && !self.known_failures.is_empty() =>
            {
                "green"
            }
            Some(_) => "not green",
        }
    }
}

/// Formats a duration in whole seconds, at least one: `4 s`, `3 min 30 s`.
pub(super) fn format_seconds(millis: u64) -> String {
    let seconds = (millis.saturating_add(500) / 1_000).max(1);
    match seconds / 60 {
        0 => format!("{seconds} s"),
        minutes => format!("{minutes} min {} s", seconds % 60),
    }
}

/// What the cells and the plan together say about a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", content = "reason", rename_all = "snake_case")]
pub enum ProofStatus {
    /// The program saw all that T22 asks for.
    Proven,
    /// The same tests pass before and after, as the plan said (`Keeps behaviour`), and none of them is known to notice a
    /// change of the step's lines.
    Kept,
    /// The tests pass, but the program cannot tell what they prove: only an exit code, or no sandbox. The reason.
    Checked(String),
    /// Something that the plan promised was not seen. What is missing, in one line.
    Unproven(String),
    /// The plan says that no test can prove it (`No test`); the plan's reason.
    Waived(String),
}

impl ProofStatus {
    /// Returns the one word for the status.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Kept => "kept",
            Self::Checked(_) => "checked",
            Self::Unproven(_) => "unproven",
            Self::Waived(_) => "waived",
        }
    }

    /// Describes the status with its reason: `unproven: a test fails`.
    pub fn describe(&self) -> String {
        match self {
            Self::Proven | Self::Kept => self.word().to_owned(),
            Self::Checked(reason) | Self::Unproven(reason) | Self::Waived(reason) => {
                format!("{}: {reason}", self.word())
            }
        }
    }
}

#[cfg(test)]
mod tests;
