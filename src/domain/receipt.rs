//! Defines the receipt of one test run: the proof that this program, not an agent, ran the tests.

use serde::{Deserialize, Serialize};

use super::test_command::TestCommandOrigin;

/// How many failing tests are named in one line.
const MAX_NAMED_TESTS: usize = 5;

/// What one test run of this program did and found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The command line that was run; empty when there was none.
    pub command: String,
    /// Whose command it was; `None` where there was none, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<TestCommandOrigin>,
    pub outcome: TestOutcome,
    /// The exit code, where the command ended by itself.
    pub exit_code: Option<i32>,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
    /// What the runner's closing lines counted, where they could be read.
    pub counts: Option<TestCounts>,
    /// The git tree before the run (untracked files included); `None` without git.
    pub tree_before: Option<String>,
    /// The git tree after the run.
    pub tree_after: Option<String>,
    /// The end of its output, cleaned, at most 16 KiB.
    pub output_tail: String,
    /// The names of the tests that failed, where the runner prints them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_tests: Vec<String>,
    /// Whether it succeeded with a runner that counts its tests, but reported no counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncounted: bool,
    /// The line which shows that it failed without the machine's network, where the user has not decided yet whether
    /// tests get it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks_network: Option<String>,
    /// The socket without which it failed, where the user has not decided yet whether tests may reach it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks_socket: Option<MissingSocket>,
    /// Whether each test that fails failed before the first step, too, by name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_known_failures: bool,
    /// The earlier step since which tests fail that passed before the first; `None` where it is this one, or unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails_since: Option<u32>,
    /// Files and folders in no commit with which the tests pass that fail in a clean copy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passes_with: Vec<String>,
}

/// A socket that is hidden from tests, and that a test needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingSocket {
    pub path: String,
    /// The line of the test's output that shows it.
    pub line: String,
}

/// How a test run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestOutcome {
    /// Exit status 0 and at least one test, as far as this is known.
    Passed,
    Failed,
    /// The runner found no tests, which is not a pass.
    NoTests,
    /// It was stopped at `test.timeout`.
    TimedOut,
    /// It could not be started; the text says why.
    NotStarted(String),
    /// There was no command to run.
    NoCommand,
}

/// What a test runner counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TestCounts {
    pub passed: u64,
    /// Tests that failed or errored.
    pub failed: u64,
    pub skipped: u64,
}

impl TestCounts {
    /// Returns how many tests ran.
    pub fn executed_count(self) -> u64 {
        self.passed + self.failed
    }

    fn describe(self) -> String {
        let Self {
            passed,
            failed,
            skipped,
        } = self;
        format!("{passed} passed, {failed} failed, {skipped} skipped")
    }
}

/// Whether the user has seen the receipt used for a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiptSource {
    /// It belongs to a finished step.
    CompletedStep,
    /// The user was not asked about it.
    Baseline,
}

impl Receipt {
    /// Returns why tests that did not fail may not have tested what they tested before, with both numbers; `None` where
    /// there is no doubt.
    pub fn describe_test_doubt(&self, before: Option<(&Self, ReceiptSource)>) -> Option<String> {
        let counted = before.and_then(|(before, _)| before.counts);
        let counted = counted.filter(|counts| counts.executed_count() + counts.skipped > 0);
        let told = |what: &str| {
            let before = counted.map_or("not counted".to_owned(), TestCounts::describe);
            let now = match (&self.outcome, self.counts) {
                (TestOutcome::NoTests, _) => "no tests".to_owned(),
                (_, Some(counts)) => counts.describe(),
                (_, None) => "no counts".to_owned(),
            };
            Some(format!("{what}: before {before}; now {now}"))
        };
        match (&self.outcome, counted, self.counts) {
            (TestOutcome::NoTests, Some(_), _) => told("the tests are gone"),
            (TestOutcome::Passed, Some(before), Some(now))
                if now.executed_count() < before.executed_count() =>
            {
                told("fewer tests ran than before")
            }
            (TestOutcome::Passed, Some(before), Some(now)) if now.skipped > before.skipped => {
                told("some tests are skipped that ran before")
            }
            (TestOutcome::Passed, Some(_), None) => {
                told("the tests passed, but no test was counted")
            }
            (TestOutcome::Passed, None, None) if self.uncounted => {
                let is_known = before.is_some_and(|(before, seen)| {
                    before.uncounted && seen == ReceiptSource::CompletedStep
                });
                if is_known {
                    None
                } else {
                    told("the tests passed, but no test was counted")
                }
            }
            _ => None,
        }
    }

    /// Returns the receipt of a step for which there was nothing to run.
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
            failed_tests: Vec::new(),
            uncounted: false,
            lacks_network: None,
            lacks_socket: None,
            passes_with: Vec::new(),
            only_known_failures: false,
            fails_since: None,
        }
    }

    /// Returns whether everything that fails also failed in an earlier run of the same tests. In doubt it returns
    /// false.
    pub fn has_only_known_failures(&self, before: &Self) -> bool {
        let both_failed = [self, before]
            .iter()
            .all(|receipt| receipt.outcome == TestOutcome::Failed && receipt.exit_code.is_some());
        let (Some(now), Some(then)) = (self.counts, before.counts) else {
            return false;
        };
        // A runner that stopped early, or that fails for another reason than a test, says nothing about the other
        // tests.
        let is_comparable = both_failed
            && self.command == before.command
            && self.exit_code == before.exit_code
            && now.failed > 0
            && now.passed >= then.passed
            && now.skipped <= then.skipped;
        let (named, known) = (&self.failed_tests, &before.failed_tests);
        is_comparable
            && if named.is_empty() && known.is_empty() {
                now.failed <= then.failed
            } else {
                let n_named = u64::try_from(named.len()).unwrap_or(u64::MAX);
                n_named >= now.failed && named.iter().all(|name| known.contains(name))
            }
    }

    /// Returns the first names of the failing tests; empty where none is known.
    pub fn failed_tests_label(&self) -> String {
        let n_more = self.failed_tests.len().saturating_sub(MAX_NAMED_TESTS);
        let more = match n_more {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let named: Vec<&str> = self
            .failed_tests
            .iter()
            .take(MAX_NAMED_TESTS)
            .map(String::as_str)
            .collect();
        format!("{}{more}", named.join(", "))
    }

    /// Returns whether the program of the command is missing, which no agent can change by editing the tree. A missing
    /// script of the repository does not count.
    pub fn is_runner_missing(&self) -> bool {
        let program = self.command.split_ascii_whitespace().next();
        let is_path = program.is_some_and(|program| program.contains('/'));
        matches!(self.outcome, TestOutcome::NotStarted(_)) && !is_path
    }

    /// Returns whether the step may continue: nothing failed. Untested work may continue, but does not count as tested.
    pub fn allows_next_step(&self) -> bool {
        match self.outcome {
            TestOutcome::Passed | TestOutcome::NoTests | TestOutcome::NoCommand => true,
            TestOutcome::Failed => self.only_known_failures,
            TestOutcome::TimedOut | TestOutcome::NotStarted(_) => false,
        }
    }

    /// Describes the result in a few words, with the source of the command.
    pub fn describe_with_origin(&self) -> String {
        let found = self.describe();
        match &self.origin {
            Some(origin) => format!("{found}, test command {}", origin.describe()),
            None => found,
        }
    }

    /// Describes the result in a few words, the same on screen, in log.md and in JSON.
    pub fn describe(&self) -> String {
        let counted = self
            .counts
            .map_or(String::new(), |counts| format!(": {}", counts.describe()));
        match &self.outcome {
            TestOutcome::Passed => format!("tests passed{counted}"),
            TestOutcome::Failed => {
                let since = self
                    .fails_since
                    .map_or(String::new(), |step| format!(", since step {step}"));
                match self.exit_code {
                    Some(code) => format!("tests failed (exit {code}){counted}{since}"),
                    None => format!("tests failed (ended by a signal){counted}{since}"),
                }
            }
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
            counts: counts.map(|(passed, skipped)| TestCounts {
                passed,
                failed: 0,
                skipped,
            }),
            ..Receipt::without_command()
        }
    }

    fn check(before: Option<(u64, u64)>, now: (TestOutcome, Option<(u64, u64)>), expected: &str) {
        let before = receipt(TestOutcome::Passed, before);
        let found =
            receipt(now.0, now.1).describe_test_doubt(Some((&before, ReceiptSource::Baseline)));
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
            "some tests are skipped that ran before: {before}; now 3 passed, 0 failed, 1 skipped"
        );
        check(Some((3, 0)), (Passed, Some((3, 1))), &skipped);
        let gone = format!("the tests are gone: {before}; now no tests");
        check(Some((3, 0)), (NoTests, Some((0, 0))), &gone);
        let uncounted =
            format!("the tests passed, but no test was counted: {before}; now no counts");
        check(Some((3, 0)), (Passed, None), &uncounted);
        // A command that is not a test runner counts nothing, and a repository without tests has none to lose.
        check(None, (Passed, None), "");
        check(None, (NoTests, None), "");
    }

    /// A failed run with these numbers of passed and skipped tests and these names of failed ones.
    fn failed(passed: u64, skipped: u64, n_failed: u64, names: &[&str]) -> Receipt {
        Receipt {
            exit_code: Some(1),
            counts: Some(TestCounts {
                passed,
                failed: n_failed,
                skipped,
            }),
            failed_tests: names.iter().map(|name| (*name).to_owned()).collect(),
            ..receipt(TestOutcome::Failed, None)
        }
    }

    #[test]
    fn what_failed_before_is_known_by_its_names() {
        let before = failed(3, 0, 2, &["a", "b"]);
        let check = |now: &Receipt, expected: bool| {
            assert_eq!(now.has_only_known_failures(&before), expected, "{now:?}");
        };
        check(&failed(3, 0, 2, &["a", "b"]), true);
        check(&failed(4, 0, 1, &["b"]), true);
        // Something else fails, was not named, was left out, or did not run.
        check(&failed(4, 0, 1, &["c"]), false);
        check(&failed(3, 0, 2, &["a", "c"]), false);
        check(&failed(3, 0, 3, &["a", "b"]), false);
        check(&failed(3, 0, 1, &[]), false);
        check(&failed(2, 0, 2, &["a", "b"]), false);
        check(&failed(3, 1, 1, &["a"]), false);
        let mut other = failed(3, 0, 2, &["a", "b"]);
        other.exit_code = Some(2);
        check(&other, false);
        other = failed(3, 0, 2, &["a", "b"]);
        other.counts = None;
        check(&other, false);
        let passed = receipt(TestOutcome::Passed, Some((5, 0)));
        check(&passed, false);
        assert!(!failed(3, 0, 2, &["a", "b"]).has_only_known_failures(&passed));
    }

    #[test]
    fn without_names_the_counts_must_not_be_worse() {
        let before = failed(3, 0, 2, &[]);
        let check = |now: &Receipt, expected: bool| {
            assert_eq!(now.has_only_known_failures(&before), expected, "{now:?}");
        };
        check(&failed(3, 0, 2, &[]), true);
        check(&failed(4, 0, 1, &[]), true);
        check(&failed(3, 0, 3, &[]), false);
        check(&failed(2, 0, 2, &[]), false);
        // A failure outside of the tests, or a runner without counts, cannot be compared.
        check(&failed(5, 0, 0, &[]), false);
        let uncounted = Receipt {
            counts: None,
            ..failed(0, 0, 0, &[])
        };
        assert!(!uncounted.has_only_known_failures(&uncounted));
    }

    #[test]
    fn a_few_failing_tests_are_named() {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let told = |n: usize| failed(0, 0, 1, &names[..n]).failed_tests_label();
        assert_eq!(told(0), "");
        assert_eq!(told(2), "a, b");
        assert_eq!(told(7), "a, b, c, d, e and 2 more");
    }

    #[test]
    fn a_runner_that_counts_nothing_is_in_doubt_until_a_step_passed_with_it() {
        let now = Receipt {
            uncounted: true,
            ..receipt(TestOutcome::Passed, None)
        };
        let told = "the tests passed, but no test was counted: before not counted; now no counts";
        assert_eq!(now.describe_test_doubt(None).as_deref(), Some(told));
        assert_eq!(
            now.describe_test_doubt(Some((&now, ReceiptSource::Baseline)))
                .as_deref(),
            Some(told)
        );
        assert_eq!(
            now.describe_test_doubt(Some((&now, ReceiptSource::CompletedStep))),
            None
        );
    }
}
