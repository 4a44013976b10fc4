//! The receipt of one test run: the proof that this program, not an agent, ran the check.
//!
//! Plain data. Refuses to know how tests are found or run.

use serde::{Deserialize, Serialize};

use super::test_command::TestOrigin;

/// What one test run of this program did and found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The command line as it was run; empty when there was none.
    pub command: String,
    /// Whose command it was; `None` where there was none, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<TestOrigin>,
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
    /// Whether it ended well by a runner that counts its tests, and told no counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncounted: bool,
    /// The line by which it failed for want of the machine's network, where nobody has said yet whether it gets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks_network: Option<String>,
    /// The socket for want of which it failed, where nobody has said yet whether tests reach it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks_socket: Option<LackedSocket>,
}

/// A socket that is hidden from tests, and wanted by one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LackedSocket {
    /// Its path.
    pub path: String,
    /// The line of the test's output that tells of it.
    pub line: String,
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

impl Counts {
    /// Tests that ran.
    pub fn n_run(self) -> u64 {
        self.passed + self.failed
    }

    fn in_words(self) -> String {
        let Self {
            passed,
            failed,
            skipped,
        } = self;
        format!("{passed} passed, {failed} failed, {skipped} skipped")
    }
}

/// Whether the user has seen a receipt that another one is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// It is of a step that is through.
    OfStep,
    /// Nobody was asked about it.
    Unseen,
}

impl Receipt {
    /// Why tests that did not fail may not have tested what they tested before, with both figures; `None` where
    /// nothing speaks against them.
    pub fn doubt(&self, before: Option<(&Self, Seen)>) -> Option<String> {
        let counted = before.and_then(|(before, _)| before.counts);
        let counted = counted.filter(|counts| counts.n_run() + counts.skipped > 0);
        let told = |what: &str| {
            let before = counted.map_or("not counted".to_owned(), Counts::in_words);
            let now = match (&self.outcome, self.counts) {
                (TestOutcome::NoTests, _) => "no tests".to_owned(),
                (_, Some(counts)) => counts.in_words(),
                (_, None) => "no counts".to_owned(),
            };
            Some(format!("{what}: before {before}; now {now}"))
        };
        match (&self.outcome, counted, self.counts) {
            (TestOutcome::NoTests, Some(_), _) => told("the tests are gone"),
            (TestOutcome::Passed, Some(before), Some(now)) if now.n_run() < before.n_run() => {
                told("fewer tests ran than before")
            }
            (TestOutcome::Passed, Some(before), Some(now)) if now.skipped > before.skipped => {
                told("tests are skipped that were not skipped before")
            }
            (TestOutcome::Passed, Some(_), None) => {
                told("the tests ended well, and nothing was counted")
            }
            (TestOutcome::Passed, None, None) if self.uncounted => {
                let is_known =
                    before.is_some_and(|(before, seen)| before.uncounted && seen == Seen::OfStep);
                match is_known {
                    true => None,
                    false => told("the tests ended well, and nothing was counted"),
                }
            }
            _ => None,
        }
    }

    /// The receipt of a step for which there was nothing to run.
    pub fn without_command() -> Self {
        Self {
            command: String::new(),
            origin: None,
            outcome: TestOutcome::NoCommand,
            exit_code: None,
            duration_ms: 0,
            counts: None,
            tree_before: None,
            tree_after: None,
            output_tail: String::new(),
            uncounted: false,
            lacks_network: None,
            lacks_socket: None,
        }
    }

    /// Tells whether the program that the command names is not there: no agent's edit of the tree changes that. A script
    /// of the repository that is missing is another matter.
    pub fn lacks_runner(&self) -> bool {
        let program = self.command.split_ascii_whitespace().next();
        let is_path = program.is_some_and(|program| program.contains('/'));
        matches!(self.outcome, TestOutcome::NotStarted(_)) && !is_path
    }

    /// Tells whether the step may go on: nothing failed (not tested counts as going on, not as tested).
    pub fn lets_pass(&self) -> bool {
        match self.outcome {
            TestOutcome::Passed | TestOutcome::NoTests | TestOutcome::NoCommand => true,
            TestOutcome::Failed | TestOutcome::TimedOut | TestOutcome::NotStarted(_) => false,
        }
    }

    /// Says in a few words what was found, and whose command found it.
    pub fn in_words_with_origin(&self) -> String {
        let found = self.in_words();
        match &self.origin {
            Some(origin) => format!("{found} ({})", origin.in_words()),
            None => found,
        }
    }

    /// Says in a few words what was found, the same on screen, in log.md and in JSON.
    pub fn in_words(&self) -> String {
        let counted = self
            .counts
            .map_or(String::new(), |counts| format!(": {}", counts.in_words()));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt(outcome: TestOutcome, counts: Option<(u64, u64)>) -> Receipt {
        Receipt {
            outcome,
            counts: counts.map(|(passed, skipped)| Counts {
                passed,
                failed: 0,
                skipped,
            }),
            ..Receipt::without_command()
        }
    }

    fn check(before: Option<(u64, u64)>, now: (TestOutcome, Option<(u64, u64)>), expected: &str) {
        let before = receipt(TestOutcome::Passed, before);
        let found = receipt(now.0, now.1).doubt(Some((&before, Seen::Unseen)));
        assert_eq!(found.unwrap_or_default(), expected);
    }

    #[test]
    fn tests_that_are_fewer_or_skipped_or_gone_are_in_doubt_with_both_figures() {
        use TestOutcome::{NoTests, Passed};
        check(Some((3, 0)), (Passed, Some((3, 0))), "");
        check(Some((3, 0)), (Passed, Some((4, 0))), "");
        let before = "before 3 passed, 0 failed, 0 skipped";
        let fewer =
            format!("fewer tests ran than before: {before}; now 2 passed, 0 failed, 0 skipped");
        check(Some((3, 0)), (Passed, Some((2, 0))), &fewer);
        let skipped = format!(
            "tests are skipped that were not skipped before: {before}; now 3 passed, 0 failed, 1 skipped"
        );
        check(Some((3, 0)), (Passed, Some((3, 1))), &skipped);
        let gone = format!("the tests are gone: {before}; now no tests");
        check(Some((3, 0)), (NoTests, Some((0, 0))), &gone);
        let uncounted =
            format!("the tests ended well, and nothing was counted: {before}; now no counts");
        check(Some((3, 0)), (Passed, None), &uncounted);
        // A command that is no runner counts nothing, and a repository without tests has none to lose.
        check(None, (Passed, None), "");
        check(None, (NoTests, None), "");
    }

    #[test]
    fn a_runner_that_counts_nothing_is_in_doubt_until_a_step_passed_with_it() {
        let now = Receipt {
            uncounted: true,
            ..receipt(TestOutcome::Passed, None)
        };
        let told =
            "the tests ended well, and nothing was counted: before not counted; now no counts";
        assert_eq!(now.doubt(None).as_deref(), Some(told));
        assert_eq!(now.doubt(Some((&now, Seen::Unseen))).as_deref(), Some(told));
        assert_eq!(now.doubt(Some((&now, Seen::OfStep))), None);
    }
}
