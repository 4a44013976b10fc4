//! The receipt of one test run: the proof that this program, not an agent, ran the check.
//!
//! Plain data. Refuses to know how tests are found or run.

use serde::{Deserialize, Serialize};

/// What one test run of this program did and found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The command line as it was run; empty when there was none.
    pub command: String,
    /// How it ended.
    pub outcome: TestOutcome,
    /// The exit code, where the command ended by itself.
    pub exit_code: Option<i32>,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
    /// What the runner's closing lines counted, where they could be read.
    pub counts: Option<Counts>,
    /// The git tree before the run (untracked files included); `None` without git.
    pub tree_before: Option<String>,
    /// The git tree after the run.
    pub tree_after: Option<String>,
    /// The end of its output, cleaned, at most 16 KiB.
    pub output_tail: String,
    /// The line by which it failed for want of the machine's network, where nobody has said yet whether it gets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks_network: Option<String>,
}

/// How a test run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestOutcome {
    /// Exit status 0 and at least one test, as far as one can tell.
    Passed,
    /// Another exit status.
    Failed,
    /// The runner found no tests: that is no pass.
    NoTests,
    /// It was ended at `test.timeout`.
    TimedOut,
    /// It could not be started; the text says why.
    NotStarted(String),
    /// There was no command to run.
    NoCommand,
}

/// What a test runner counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed or errored.
    pub failed: u64,
    /// Tests that were left out.
    pub skipped: u64,
}

impl Receipt {
    /// The receipt of a step for which there was nothing to run.
    pub fn without_command() -> Self {
        Self {
            command: String::new(),
            outcome: TestOutcome::NoCommand,
            exit_code: None,
            duration_ms: 0,
            counts: None,
            tree_before: None,
            tree_after: None,
            output_tail: String::new(),
            lacks_network: None,
        }
    }

    /// Tells whether the step may go on: nothing failed (not tested counts as going on, not as tested).
    pub fn lets_pass(&self) -> bool {
        match self.outcome {
            TestOutcome::Passed | TestOutcome::NoTests | TestOutcome::NoCommand => true,
            TestOutcome::Failed | TestOutcome::TimedOut | TestOutcome::NotStarted(_) => false,
        }
    }

    /// Says in a few words what was found, the same on screen, in log.md and in JSON.
    pub fn in_words(&self) -> String {
        let counted = self.counts.map_or(String::new(), |c| {
            format!(
                ": {} passed, {} failed, {} skipped",
                c.passed, c.failed, c.skipped
            )
        });
        match &self.outcome {
            TestOutcome::Passed => format!("tests passed{counted}"),
            TestOutcome::Failed => match self.exit_code {
                Some(code) => format!("tests failed (exit {code}){counted}"),
                None => format!("tests failed (ended by a signal){counted}"),
            },
            TestOutcome::NoTests => "not tested: the command found no tests".to_owned(),
            TestOutcome::TimedOut => "tests ended at the time limit".to_owned(),
            TestOutcome::NotStarted(why) => format!("tests could not be started: {why}"),
            TestOutcome::NoCommand => "not tested: no test command".to_owned(),
        }
    }
}
