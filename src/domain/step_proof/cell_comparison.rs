//! Compares the reports of a step's four cells by the identity of each test, and fills the lists of its proof.
//!
//! What a list leaves out because the plan allows it is in `planned_changes`.

use std::collections::{BTreeMap, BTreeSet};

use super::named_tests::{find_mentions, names_test};
use super::test_location::{may_hold_test, rename_test};
use super::{StepProof, TestNames};
use crate::domain::plan::proof_lines::{ProofClaim, StepProofPlan};
use crate::domain::test_report::{TestIdentity, TestReport, TestStatus};

/// Stands in a list of tests for those that could not be loaded, whose names are not known.
const UNLOADED_TESTS: &str = "a test file that cannot be loaded";

/// The reports of the cells; `None` where a cell did not run or only its exit code is known.
#[derive(Debug, Clone, Copy, Default)]
pub struct CellReports<'a> {
    pub baseline: Option<&'a TestReport>,
    pub red: Option<&'a TestReport>,
    pub green: Option<&'a TestReport>,
    pub kept: Option<&'a TestReport>,
}

impl StepProof {
    /// Fills the lists from the reports. `changed_tests` must be set; `cells`, `command` and earlier doubts stay as they
    /// are. `renames` has the old path of each renamed file with its new one.
    ///
    /// Without a report of the baseline nothing counts as failing before, and without changed tests the old tests are
    /// the new ones, so that red may stand for the baseline and green for kept.
    pub fn compare_cells(
        &mut self,
        mut reports: CellReports<'_>,
        plan: &StepProofPlan,
        renames: &BTreeMap<String, String>,
    ) {
        if self.changed_tests.is_empty() {
            reports.red = reports.red.or(reports.baseline);
            reports.kept = reports.kept.or(reports.green);
        }
        let comparison = CellComparison::new(reports, plan, renames, &self.changed_tests);
        let needs_red = matches!(plan.claim, ProofClaim::TestFirst(_) | ProofClaim::Unnamed);
        self.is_by_identity = reports.baseline.is_some()
            && reports.green.is_some()
            && reports.kept.is_some()
            && (reports.red.is_some() || !needs_red);
        let red = comparison.find_red();
        self.is_red_by_load = red.is_empty() && comparison.has_tests_that_cannot_run();
        self.unmet_tests = comparison.find_unmet_tests(&red);
        self.red = TestNames::from_tests(red);
        let old = comparison.compare_old_tests();
        self.n_kept = old.n_kept;
        self.lost = TestNames::from_tests(old.lost);
        self.broken = TestNames::from_tests(old.broken);
        self.planned_changes = TestNames::from_tests(old.planned);
        (self.failing, self.known_failures) = comparison.find_failures();
        self.added_tests = comparison.find_added_files();
        for doubt in comparison.collect_doubts() {
            if !self.doubts.contains(&doubt) {
                self.doubts.push(doubt);
            }
        }
    }
}

impl StepProof {
    /// Notes which tests that the plan names pass on the code before a step that changes nothing.
    pub fn note_named_tests(&mut self, baseline: Option<&TestReport>, plan: &StepProofPlan) {
        let (ProofClaim::TestFirst(words), Some(report)) = (&plan.claim, baseline) else {
            return;
        };
        let mut passed = BTreeSet::new();
        for mention in find_mentions(words) {
            let mut named = report.tests.iter();
            let mut is_met = false;
            let is_passed = named.all(|(test, status)| {
                let is_named = mention.matches(test);
                if is_named && *status == TestStatus::Passed {
                    is_met = true;
                    passed.insert(test);
                }
                !is_named || *status == TestStatus::Passed
            });
            if !is_met || !is_passed {
                return;
            }
        }
        let is_whole = !report.failed_to_load && !passed.is_empty();
        self.passed_before = is_whole.then(|| TestNames::from_tests(passed));
    }
}

struct CellComparison<'a> {
    reports: CellReports<'a>,
    plan: &'a StepProofPlan,
    renames: &'a BTreeMap<String, String>,
    changed: &'a [String],
    /// How each test ended before the step, under its old and its present name.
    before: BTreeMap<TestIdentity, TestStatus>,
}

/// What became of the tests that passed before.
#[derive(Default)]
struct OldTests<'a> {
    n_kept: usize,
    lost: Vec<&'a TestIdentity>,
    broken: Vec<&'a TestIdentity>,
    planned: Vec<&'a TestIdentity>,
}

impl<'a> CellComparison<'a> {
    fn new(
        reports: CellReports<'a>,
        plan: &'a StepProofPlan,
        renames: &'a BTreeMap<String, String>,
        changed: &'a [String],
    ) -> Self {
        let mut before = BTreeMap::new();
        for (test, status) in reports.baseline.iter().flat_map(|report| &report.tests) {
            before.insert(rename_test(test, renames), *status);
        }
        // A test that has kept its name counts before one that was renamed to it.
        for (test, status) in reports.baseline.iter().flat_map(|report| &report.tests) {
            before.insert(test.clone(), *status);
        }
        Self {
            reports,
            plan,
            renames,
            changed,
            before,
        }
    }

    /// Returns how a test of old files ended in a cell, under either of its names.
    fn status_in(&self, report: Option<&TestReport>, test: &TestIdentity) -> Option<TestStatus> {
        let tests = &report?.tests;
        let renamed = || tests.get(&rename_test(test, self.renames));
        tests.get(test).or_else(renamed).copied()
    }

    fn compare_old_tests(&self) -> OldTests<'a> {
        let mut old = OldTests::default();
        let (Some(baseline), Some(green)) = (self.reports.baseline, self.reports.green) else {
            return old;
        };
        let kept = self.reports.kept.unwrap_or(green);
        let is_load_planned = kept.failed_to_load && self.are_old_test_files_planned();
        for (test, _) in baseline
            .tests
            .iter()
            .filter(|(_, status)| **status == TestStatus::Passed)
        {
            let now = self.status_in(Some(green), test);
            let with_old_tests = self.status_in(Some(kept), test);
            let is_lost = matches!(now, None | Some(TestStatus::Skipped));
            if !is_lost && with_old_tests == Some(TestStatus::Passed) {
                old.n_kept += 1;
            } else if self.is_change_planned(test)
                || !is_lost && with_old_tests.is_none() && is_load_planned
            {
                old.planned.push(test);
            } else if is_lost {
                old.lost.push(test);
            } else {
                old.broken.push(test);
            }
        }
        old
    }

    /// Returns whether `Changes tests:` names this test, by its old or its new file.
    fn is_change_planned(&self, test: &TestIdentity) -> bool {
        let renamed = rename_test(test, self.renames);
        self.plan.changes_tests.iter().any(|change| {
            let is_in_file = |test: &TestIdentity| {
                let mut paths = self.changed.iter().filter(|path| change.matches_path(path));
                change.matches_path(&test.file)
                    || may_hold_test(&change.path, test)
                    || paths.any(|path| may_hold_test(path, test))
            };
            let is_named = change.test.is_empty() || names_test(&change.test, &test.name);
            is_named && (is_in_file(test) || is_in_file(&renamed))
        })
    }

    /// Returns whether the plan names every changed file that had tests before or has none of its own, so that it
    /// explains why old tests cannot be loaded.
    fn are_old_test_files_planned(&self) -> bool {
        let added = self.find_added_files();
        let old: Vec<&String> = self
            .changed
            .iter()
            .filter(|path| !added.contains(path))
            .collect();
        !old.is_empty() && old.iter().all(|path| self.plan.expects_change_of(path))
    }

    /// Returns the changed test files that hold nothing but tests which did not exist before.
    fn find_added_files(&self) -> Vec<String> {
        let holds = |report: Option<&TestReport>, path: &str| {
            report.is_some_and(|report| report.tests.keys().any(|test| may_hold_test(path, test)))
        };
        let is_added = |path: &&String| {
            self.reports.baseline.is_some()
                && holds(self.reports.green, path)
                && !self.before.keys().any(|test| may_hold_test(path, test))
        };
        self.changed.iter().filter(is_added).cloned().collect()
    }

    /// Returns the new or changed tests that fail without the change and pass with it.
    fn find_red(&self) -> Vec<&'a TestIdentity> {
        let Some(red) = self.reports.red else {
            return Vec::new();
        };
        let has_changed_helpers = self.changed.iter().any(|path| !self.holds_any_test(path));
        let failed = red
            .tests
            .iter()
            .filter(|(_, status)| **status == TestStatus::Failed);
        let failed = failed.map(|(test, _)| test);
        failed
            .filter(|test| self.status_in(self.reports.green, test) == Some(TestStatus::Passed))
            .filter(|test| self.is_new_or_changed(test, has_changed_helpers))
            .collect()
    }

    /// Returns whether the red cell could not load tests, or lacks new tests, as those of a Rust file that the old code
    /// does not have.
    fn has_tests_that_cannot_run(&self) -> bool {
        let (Some(red), Some(green)) = (self.reports.red, self.reports.green) else {
            return false;
        };
        let is_new =
            |test: &TestIdentity| !red.tests.contains_key(test) && !self.before.contains_key(test);
        let mut passed = green
            .tests
            .iter()
            .filter(|(_, status)| **status == TestStatus::Passed);
        let lacks_new_tests = !self.changed.is_empty() && passed.any(|(test, _)| is_new(test));
        red.failed_to_load || lacks_new_tests
    }

    fn is_new_or_changed(&self, test: &TestIdentity, has_changed_helpers: bool) -> bool {
        let before = self.before.get(test);
        // What a baseline does not name was not there before, unless it could not be loaded.
        let is_new = before.is_none()
            && self
                .reports
                .baseline
                .is_some_and(|report| !report.failed_to_load);
        let is_in_changed_file = self.changed.iter().any(|path| may_hold_test(path, test));
        // A changed fixture or snapshot changes the tests of files that stay the same.
        let is_affected = has_changed_helpers && before != Some(&TestStatus::Failed);
        // A known failure that the plan says the step fixes.
        let is_fixed = || {
            let ProofClaim::TestFirst(words) = &self.plan.claim else {
                return false;
            };
            let mentions = find_mentions(words);
            before == Some(&TestStatus::Failed)
                && mentions.iter().any(|mention| mention.matches(test))
        };
        is_new || is_in_changed_file || is_affected || is_fixed()
    }

    fn holds_any_test(&self, path: &str) -> bool {
        let reports = [self.reports.baseline, self.reports.red, self.reports.green];
        let mut tests = reports
            .iter()
            .flatten()
            .flat_map(|report| report.tests.keys());
        tests.any(|test| may_hold_test(path, test))
    }

    /// Returns the tests that `Test first:` names, where they are known and none of them is red.
    fn find_unmet_tests(&self, red: &[&TestIdentity]) -> Vec<String> {
        let ProofClaim::TestFirst(words) = &self.plan.claim else {
            return Vec::new();
        };
        let reports = [self.reports.baseline, self.reports.red, self.reports.green];
        let known: Vec<&TestIdentity> = reports
            .iter()
            .flatten()
            .flat_map(|report| report.tests.keys())
            .collect();
        let mut mentions = find_mentions(words);
        // A file that holds no test is not there; other words may be prose.
        mentions.retain(|mention| {
            mention.names_file() || known.iter().any(|test| mention.matches(test))
        });
        if red
            .iter()
            .any(|test| mentions.iter().any(|mention| mention.matches(test)))
        {
            return Vec::new();
        }
        mentions.into_iter().map(|mention| mention.text).collect()
    }

    /// Returns the tests that fail on the new tree: those that did not fail before, and those that did.
    fn find_failures(&self) -> (TestNames, TestNames) {
        let Some(green) = self.reports.green else {
            return (TestNames::default(), TestNames::default());
        };
        let failed = green
            .tests
            .iter()
            .filter(|(_, status)| **status == TestStatus::Failed);
        let failed: Vec<&TestIdentity> = failed.map(|(test, _)| test).collect();
        let is_known = |test: &&&TestIdentity| self.before.get(**test) == Some(&TestStatus::Failed);
        let known: BTreeSet<&TestIdentity> = failed.iter().filter(is_known).copied().collect();
        let new = failed.into_iter().filter(|test| !known.contains(test));
        let mut lists = (
            TestNames::from_tests(new),
            TestNames::from_tests(known.iter().copied()),
        );
        if green.failed_to_load
            && self
                .reports
                .baseline
                .is_some_and(|report| report.failed_to_load)
        {
            lists.1.add(UNLOADED_TESTS);
        } else if green.failed_to_load {
            lists.0.add(UNLOADED_TESTS);
        }
        lists
    }

    fn collect_doubts(&self) -> Vec<String> {
        let cells = [
            self.reports.baseline,
            self.reports.red,
            self.reports.green,
            self.reports.kept,
        ];
        let mut doubts: Vec<String> = cells
            .iter()
            .flatten()
            .flat_map(|report| report.doubts.clone())
            .collect();
        if self
            .reports
            .baseline
            .is_some_and(|report| report.failed_to_load)
        {
            doubts.push("some tests could not be loaded before the step, so nobody knows whether they passed".to_owned());
        }
        doubts
    }
}
