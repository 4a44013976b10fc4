//! Carries to the views which test run of a proof runs, and how each one ended.
//!
//! It is never stored: once the step is proven, its proof says all of it.

use super::receipt::TestOutcome;
use super::step_proof::{ProofCell, format_seconds};

/// One test run of a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofRun {
    Cell(ProofCell),
    /// The new tests on the old code, of which one should fail.
    ExpectedRed,
    /// The new tests on the new code with the files that no commit holds.
    WithUncommittedFiles,
    /// The command of a `Proof:` line; it should fail on the old code.
    Command(ProofCell),
    /// The new tests on the new code with one line changed; `n` counts from 1.
    Mutant {
        n: usize,
        n_all: usize,
    },
}

impl ProofRun {
    /// Names the run: `new tests on old code`.
    pub fn describe(self) -> String {
        match self {
            Self::Cell(cell) => describe_cell(cell).to_owned(),
            Self::ExpectedRed => describe_cell(ProofCell::Red).to_owned(),
            Self::WithUncommittedFiles => "with files that no commit holds".to_owned(),
            Self::Command(ProofCell::Baseline | ProofCell::Red) => {
                "proof command on old code".to_owned()
            }
            Self::Command(ProofCell::Green | ProofCell::Kept) => {
                "proof command on new code".to_owned()
            }
            Self::Mutant { n, n_all } => format!("mutant {n} of {n_all}"),
        }
    }

    /// Returns whether the step is in order only if the run fails.
    fn is_to_fail(self) -> bool {
        matches!(
            self,
            Self::ExpectedRed | Self::Command(ProofCell::Baseline | ProofCell::Red)
        )
    }

    /// Returns how the run ended, as its receipt has it.
    pub fn end(self, outcome: &TestOutcome, exit_code: Option<i32>, time: RunTime) -> ProofRunEnd {
        let is_passed = match self {
            Self::Command(_) => exit_code == Some(0),
            Self::Cell(_)
            | Self::ExpectedRed
            | Self::WithUncommittedFiles
            | Self::Mutant { .. } => *outcome == TestOutcome::Passed,
        };
        let (words, is_good) = match outcome {
            TestOutcome::TimedOut => ("\u{2717} time limit", false),
            TestOutcome::NotStarted(_) => ("\u{2717} not started", false),
            TestOutcome::NoTests | TestOutcome::NoCommand if !is_passed => ("no tests", true),
            _ if is_passed && self.is_to_fail() => ("\u{2713} without the change, too", false),
            _ if is_passed => ("\u{2713}", true),
            _ if self.is_to_fail() => ("\u{2717} as it should", true),
            // Without the code that they test, new tests may fail or pass.
            _ if self == Self::Cell(ProofCell::Red) => ("\u{2717} as expected", true),
            _ => ("\u{2717} failed", false),
        };
        ProofRunEnd {
            words,
            is_good,
            time,
        }
    }
}

/// Names a cell as the table of docs/proof.md does.
fn describe_cell(cell: ProofCell) -> &'static str {
    match cell {
        ProofCell::Baseline => "old tests on old code",
        ProofCell::Red => "new tests on old code",
        ProofCell::Green => "new tests on new code",
        ProofCell::Kept => "old tests on new code",
    }
}

/// How long a run took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunTime {
    /// In milliseconds.
    Took(u64),
    /// An earlier run on the same tree was used.
    Reused,
}

/// How a run of a proof ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProofRunEnd {
    words: &'static str,
    /// Whether it ended as the step needs it.
    pub is_good: bool,
    pub time: RunTime,
}

impl ProofRunEnd {
    /// Returns the end of a mutant; `None` where nobody knows whether the tests noticed it.
    pub fn of_mutant(is_noticed: Option<bool>, duration_ms: u64) -> Self {
        let (words, is_good) = match is_noticed {
            Some(true) => ("\u{2713} noticed", true),
            Some(false) => ("\u{2717} not noticed", false),
            None => ("does not run", true),
        };
        Self {
            words,
            is_good,
            time: RunTime::Took(duration_ms),
        }
    }

    /// Describes the end: `✗ as it should 4 s`.
    pub fn describe(self) -> String {
        match self.time {
            RunTime::Took(millis) => format!("{} {}", self.words, format_seconds(millis)),
            RunTime::Reused => self.words.to_owned(),
        }
    }
}

/// The start or the end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProofProgress {
    /// The step that is proven; 0 before the first.
    pub step: u32,
    pub run: ProofRun,
    /// `None` where the run starts.
    pub end: Option<ProofRunEnd>,
}

impl ProofProgress {
    /// Describes the end of a run in one line; `None` where it starts, or where an earlier run was used.
    pub fn describe_end(&self) -> Option<String> {
        let end = self.end.filter(|end| end.time != RunTime::Reused)?;
        Some(format!("{}: {}", self.run.describe(), end.describe()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_named_and_its_end_says_whether_that_is_what_the_step_needs() {
        use ProofCell::{Baseline, Green, Kept, Red};
        let check = |run: ProofRun, outcome: TestOutcome, code: i32, expected: (&str, bool)| {
            let end = run.end(&outcome, Some(code), RunTime::Took(4_200));
            let progress = ProofProgress {
                step: 1,
                run,
                end: Some(end),
            };
            let found = progress.describe_end().unwrap();
            assert_eq!((found.as_str(), end.is_good), expected);
        };
        for (run, outcome, code, words, is_good) in [
            (
                ProofRun::Cell(Baseline),
                TestOutcome::Passed,
                0,
                "old tests on old code: ✓ 4 s",
                true,
            ),
            (
                ProofRun::Cell(Green),
                TestOutcome::Failed,
                1,
                "new tests on new code: ✗ failed 4 s",
                false,
            ),
            (
                ProofRun::Cell(Kept),
                TestOutcome::TimedOut,
                1,
                "old tests on new code: ✗ time limit 4 s",
                false,
            ),
            (
                ProofRun::ExpectedRed,
                TestOutcome::Failed,
                1,
                "new tests on old code: ✗ as it should 4 s",
                true,
            ),
            (
                ProofRun::ExpectedRed,
                TestOutcome::Passed,
                0,
                "new tests on old code: ✓ without the change, too 4 s",
                false,
            ),
            (
                ProofRun::Cell(Red),
                TestOutcome::Failed,
                1,
                "new tests on old code: ✗ as expected 4 s",
                true,
            ),
            (
                ProofRun::Command(Red),
                TestOutcome::NoTests,
                1,
                "proof command on old code: no tests 4 s",
                true,
            ),
            (
                ProofRun::Command(Green),
                TestOutcome::NoTests,
                0,
                "proof command on new code: ✓ 4 s",
                true,
            ),
        ] {
            check(run, outcome, code, (words, is_good));
        }
    }

    #[test]
    fn a_mutant_is_counted_and_its_end_says_whether_it_was_noticed() {
        let mutant = ProofRun::Mutant { n: 2, n_all: 5 };
        let end = ProofRunEnd::of_mutant(Some(false), 100);
        assert_eq!(
            (mutant.describe().as_str(), end.describe().as_str()),
            ("mutant 2 of 5", "✗ not noticed 1 s")
        );
    }
}
