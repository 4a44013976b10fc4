//! Tries mutants of a step's code: at least one of the step's tests has to notice a changed line (TRUTH.md T29).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::cell_runner::{CellRunner, FinishedCell};
use super::cell_trees::StepTrees;
use crate::domain::mutants::{ChangedCode, CodeMutant, is_code, make_mutants};
use crate::domain::proof_progress::{ProofRun, ProofRunEnd};
use crate::domain::receipt::TestOutcome;
use crate::domain::step_proof::{MutantTrial, ProofCell};
use crate::domain::test_report::{TestIdentity, TestReport, TestStatus};
use crate::engine::execution_effects::{path_from_event_text, path_to_event_text};
use crate::engine::git::{PathMergeResult, TreeId};
use crate::engine::test_runner::TestRunError;

/// How much longer than a test run the mutants may take.
const MAX_TEST_RUNS: u32 = 2;
/// The time that mutants always get.
const MIN_TIME: Duration = Duration::from_secs(5);

/// Returns the new or changed tests that pass with the step's code and did not pass without it; `before` has the reports
/// of the baseline and of red.
pub(super) fn find_new_tests<'a>(
    green: &'a FinishedCell,
    before: [Option<&TestReport>; 2],
    trees: &StepTrees,
) -> Vec<&'a TestIdentity> {
    let [baseline, red] = before;
    // A test that ran without the change and passed is no test of it.
    let is_new = |test: &&TestIdentity| {
        let is_changed = baseline.is_none_or(|report| !report.tests.contains_key(*test))
            || trees.changed_tests.contains(&test.file);
        is_changed && !red.is_some_and(|report| has_passed(report, test))
    };
    passing_tests(green).filter(is_new).collect()
}

/// Returns the tests that passed before the step and pass with its code.
pub(super) fn find_kept_tests<'a>(
    green: &'a FinishedCell,
    [baseline, _]: [Option<&TestReport>; 2],
) -> Vec<&'a TestIdentity> {
    let is_old = |test: &&TestIdentity| baseline.is_some_and(|report| has_passed(report, test));
    passing_tests(green).filter(is_old).collect()
}

fn passing_tests(cell: &FinishedCell) -> impl Iterator<Item = &TestIdentity> {
    let tests = cell.report.iter().flat_map(|report| &report.tests);
    let passing = tests.filter(|(_, status)| **status == TestStatus::Passed);
    passing.map(|(test, _)| test)
}

fn has_passed(report: &TestReport, test: &TestIdentity) -> bool {
    report.tests.get(test) == Some(&TestStatus::Passed)
}

/// Tries the mutants of a step until one of these tests notices one.
///
/// # Errors
/// The run is being stopped, or a copy cannot be prepared.
pub(super) async fn try_mutants(
    cells: &CellRunner,
    trees: &StepTrees,
    green: &FinishedCell,
    noticing: &[&TestIdentity],
    texts: &CodeTexts,
    cancel: &CancellationToken,
) -> Result<MutantTrial, TestRunError> {
    let mut trial = MutantTrial::default();
    if noticing.is_empty() {
        return Ok(trial);
    }
    let time = Duration::from_millis(green.receipt.duration_ms) * MAX_TEST_RUNS;
    let (started, time) = (Instant::now(), time.max(MIN_TIME));
    // A changed condition may never end.
    let mut settings = cells.settings.clone();
    settings.timeout = settings.timeout.min(time * MAX_TEST_RUNS);
    let cells = &CellRunner {
        settings,
        ..cells.clone()
    };
    let mutants = make_mutants(&to_changed_code(texts));
    for (at, mutant) in mutants.iter().enumerate() {
        if started.elapsed() > time {
            break;
        }
        let (n, n_all) = (at + 1, mutants.len());
        let run = ProofRun::Mutant { n, n_all };
        cells.report(run, None).await;
        let tree = mutated_tree(cells, trees, mutant).await?;
        let ran = cells.run_unreported(ProofCell::Green, &tree, cancel);
        let ran = ran.await?;
        let is_noticed = notices_mutant(&ran, noticing);
        let end = ProofRunEnd::of_mutant(is_noticed, ran.receipt.duration_ms);
        cells.report(run, Some(end)).await;
        let Some(is_noticed) = is_noticed else {
            continue;
        };
        trial.n_tried += 1;
        if is_noticed {
            trial.killed = Some(mutant.describe());
            break;
        }
        trial.survived.push(mutant.describe());
    }
    Ok(trial)
}

/// Returns whether one of the tests fails with a mutant; `None` where it is no valid program, or does not end, so that
/// nobody knows which test noticed it.
fn notices_mutant(ran: &FinishedCell, tests: &[&TestIdentity]) -> Option<bool> {
    let has_ended = ran.receipt.outcome != TestOutcome::TimedOut;
    let report = ran.report.as_ref();
    let found = report.filter(|found| has_ended && !found.failed_to_load)?;
    let fails = |test: &TestIdentity| found.tests.get(test) == Some(&TestStatus::Failed);
    Some(tests.iter().any(|test| fails(test)))
}

/// The path of a file that a step changed, with its text before and after.
pub(super) type CodeTexts = Vec<(String, String, String)>;

/// Reads the step's code.
pub(super) async fn read_step_code(
    cells: &CellRunner,
    trees: &StepTrees,
) -> Result<CodeTexts, TestRunError> {
    let code = trees.changed_code.iter();
    let code = code.filter(|(path, _)| is_code(&path_to_event_text(path)));
    read_changed_texts(cells, code).await
}

/// Reads the files that are still there and hold text.
pub(super) async fn read_changed_texts(
    cells: &CellRunner,
    changes: impl Iterator<Item = (&PathBuf, &PathMergeResult)>,
) -> Result<CodeTexts, TestRunError> {
    let mut texts = Vec::new();
    for (path, change) in changes {
        let name = path_to_event_text(path);
        let Some(after) = &change.after else {
            continue;
        };
        let Some(after) = cells.git.trees().read_content_text(after).await? else {
            continue;
        };
        let before = match &change.before {
            Some(before) => cells.git.trees().read_content_text(before).await?,
            None => None,
        };
        texts.push((name, before.unwrap_or_default(), after));
    }
    Ok(texts)
}

/// Borrows the texts as the domain takes them.
pub(super) fn to_changed_code(texts: &CodeTexts) -> Vec<ChangedCode<'_>> {
    let files = texts.iter();
    files
        .map(|(path, before, after)| ChangedCode {
            path,
            before,
            after,
        })
        .collect()
}

async fn mutated_tree(
    cells: &CellRunner,
    trees: &StepTrees,
    mutant: &CodeMutant,
) -> Result<TreeId, TestRunError> {
    let path = path_from_event_text(&mutant.path);
    let like = trees
        .changed_code
        .get(&path)
        .and_then(|change| change.after.as_deref());
    let text = mutant.text.clone();
    let content = cells
        .git
        .trees()
        .write_content(like.unwrap_or("100644"), text)
        .await?;
    let contents = BTreeMap::from([(path, Some(content))]);
    Ok(cells
        .git
        .trees()
        .tree_with_contents(&trees.new, &contents)
        .await?)
}
