//! Tries mutants of a step's code: at least one of the step's tests has to notice a changed line (TRUTH.md T29).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::cell_runner::{CellRunner, FinishedCell};
use super::cell_trees::StepTrees;
use crate::domain::mutants::{ChangedCode, CodeMutant, is_code, make_mutants};
use crate::domain::step_proof::{MutantTrial, ProofCell};
use crate::domain::test_report::{TestIdentity, TestReport, TestStatus};
use crate::engine::execution_effects::{path_from_event_text, path_to_event_text};
use crate::engine::git::TreeId;
use crate::engine::test_runner::TestRunError;

/// How much longer than a test run the mutants may take.
const MAX_TEST_RUNS: u32 = 2;
/// The time that mutants always get.
const MIN_TIME: Duration = Duration::from_secs(5);

/// Tries the mutants of a step until one is noticed by a new or changed test that could not run without the
/// step's code; `before` has the reports of the baseline and of red.
///
/// # Errors
/// The run is being stopped, or a copy cannot be prepared.
pub(super) async fn try_mutants(
    cells: &CellRunner,
    trees: &StepTrees,
    green: &FinishedCell,
    before: [Option<&TestReport>; 2],
    cancel: &CancellationToken,
) -> Result<MutantTrial, TestRunError> {
    let mut trial = MutantTrial::default();
    let Some(report) = &green.report else {
        return Ok(trial);
    };
    // A test that ran without the change and passed is no test of it.
    let [baseline, red] = before;
    let is_new = |test: &TestIdentity| {
        let is_changed = baseline.is_none_or(|report| !report.tests.contains_key(test))
            || trees.changed_tests.contains(&test.file);
        is_changed && red.is_none_or(|report| !report.tests.contains_key(test))
    };
    let passing = report
        .tests
        .iter()
        .filter(|(_, status)| **status == TestStatus::Passed);
    let new_tests: Vec<&TestIdentity> = passing
        .map(|(test, _)| test)
        .filter(|test| is_new(test))
        .collect();
    if new_tests.is_empty() {
        return Ok(trial);
    }
    let time = Duration::from_millis(green.receipt.duration_ms) * MAX_TEST_RUNS;
    let (begun, time) = (Instant::now(), time.max(MIN_TIME));
    for mutant in step_mutants(cells, trees).await? {
        if trial.n_tried > 0 && begun.elapsed() > time {
            break;
        }
        let tree = mutated_tree(cells, trees, &mutant).await?;
        let ran = cells.run_cell(ProofCell::Green, &tree, cancel).await?;
        let Some(found) = ran.report.filter(|found| !found.failed_to_load) else {
            // It is no valid program, so no test could notice it.
            continue;
        };
        trial.n_tried += 1;
        let fails = |test: &&TestIdentity| found.tests.get(*test) == Some(&TestStatus::Failed);
        if new_tests.iter().copied().any(|test| fails(&test)) {
            trial.killed = Some(mutant.describe());
            break;
        }
        trial.survived.push(mutant.describe());
    }
    Ok(trial)
}

/// Makes the mutants of the step's code.
async fn step_mutants(
    cells: &CellRunner,
    trees: &StepTrees,
) -> Result<Vec<CodeMutant>, TestRunError> {
    let mut texts = Vec::new();
    for (path, change) in &trees.changed_code {
        let name = path_to_event_text(path);
        let Some(after) = change.after.as_ref().filter(|_| is_code(&name)) else {
            continue;
        };
        let Some(after) = cells.git.read_content_text(after).await? else {
            continue;
        };
        let before = match &change.before {
            Some(before) => cells.git.read_content_text(before).await?,
            None => None,
        };
        texts.push((name, before.unwrap_or_default(), after));
    }
    let files = texts.iter().map(|(path, before, after)| ChangedCode {
        path,
        before,
        after,
    });
    Ok(make_mutants(&files.collect::<Vec<_>>()))
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
        .write_content(like.unwrap_or("100644"), text)
        .await?;
    let contents = BTreeMap::from([(path, Some(content))]);
    Ok(cells.git.tree_with_contents(&trees.new, &contents).await?)
}
