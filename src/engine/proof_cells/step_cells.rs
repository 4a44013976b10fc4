//! Runs the four cells of a step, and gives what they report to the comparison.

use std::collections::BTreeMap;

use tokio_util::sync::CancellationToken;

use super::cell_runner::{CellRunner, FinishedCell};
use super::cell_trees::StepTrees;
use crate::domain::plan::proof_lines::{ProofClaim, StepProofPlan};
use crate::domain::proof_progress::ProofRun;
use crate::domain::step_proof::{CellReports, ProofCell, StepProof};
use crate::domain::test_report::TestReport;
use crate::engine::test_runner::TestRunError;

impl CellRunner {
    /// Runs the cells of a step that need a run of their own.
    ///
    /// # Errors
    /// The run is being stopped, or a copy cannot be prepared.
    pub(super) async fn run_cells_of_step(
        &self,
        trees: &StepTrees,
        plan: &StepProofPlan,
        cancel: &CancellationToken,
    ) -> Result<BTreeMap<ProofCell, FinishedCell>, TestRunError> {
        let needs_red = matches!(plan.claim, ProofClaim::TestFirst(_) | ProofClaim::Unnamed);
        let mut ran: BTreeMap<ProofCell, FinishedCell> = BTreeMap::new();
        for (cell, tree) in [
            (ProofCell::Baseline, &trees.old),
            (ProofCell::Green, &trees.new),
            (ProofCell::Red, &trees.red),
            (ProofCell::Kept, &trees.kept),
        ] {
            // Without changed tests the old code is tested once, and the new code, too.
            let is_same = (cell == ProofCell::Red && trees.red == trees.old)
                || (cell == ProofCell::Kept && trees.kept == trees.new);
            let names_tests = |cell| ran.get(&cell).is_some_and(FinishedCell::names_tests);
            // Where there were no tests, none can be lost.
            let has_none_to_keep = cell == ProofCell::Kept
                && plan.test_from_here.is_some()
                && names_tests(ProofCell::Green)
                && !names_tests(ProofCell::Baseline);
            if !is_same && !has_none_to_keep {
                let run = match cell {
                    ProofCell::Red if needs_red => ProofRun::ExpectedRed,
                    cell => ProofRun::Cell(cell),
                };
                let prepare_kept = async {
                    if cell == ProofCell::Red && trees.kept != trees.new {
                        self.lay_copy_down(ProofCell::Kept, &trees.kept).await;
                    }
                };
                let ended = self.run_beside(run, (cell, tree), prepare_kept, cancel);
                ran.insert(cell, ended.await?);
            }
        }
        Ok(ran)
    }
}

/// Compares the cells that ran.
pub(super) fn compare_cells(
    trees: &StepTrees,
    ran: &BTreeMap<ProofCell, FinishedCell>,
    plan: &StepProofPlan,
    renames: &BTreeMap<String, String>,
) -> StepProof {
    let report = |cell: ProofCell| ran.get(&cell).and_then(|cell| cell.report.as_ref());
    let (no_tests, unloaded_tests) = reports_without_tests();
    // Without changed tests that can be told from the code, the old code was tested once.
    let red = if trees.red == trees.old {
        ProofCell::Baseline
    } else {
        ProofCell::Red
    };
    let begins_tests = |cell: ProofCell| {
        plan.test_from_here.is_some() && ran.get(&cell).is_some_and(|cell| !cell.names_tests())
    };
    let mut proof = StepProof {
        cells: ran
            .iter()
            .map(|(cell, ran)| ran.to_cell_run(*cell))
            .collect(),
        changed_tests: trees.changed_tests.clone(),
        ..StepProof::default()
    };
    for doubt in ran.values().flat_map(|cell| &cell.doubts) {
        if !proof.doubts.contains(doubt) {
            proof.doubts.push(doubt.clone());
        }
    }
    let reports = CellReports {
        baseline: if begins_tests(ProofCell::Baseline) {
            Some(&no_tests)
        } else {
            report(ProofCell::Baseline)
        },
        red: if begins_tests(red) {
            Some(&unloaded_tests)
        } else {
            report(red)
        },
        green: report(ProofCell::Green),
        kept: report(ProofCell::Kept).or_else(|| {
            let is_same = trees.kept == trees.new || begins_tests(ProofCell::Baseline);
            report(ProofCell::Green).filter(|_| is_same)
        }),
    };
    proof.compare_cells(reports, plan, renames);
    if trees.old == trees.new {
        proof.note_named_tests(report(ProofCell::Baseline), plan);
    }
    // A file that the plan names may be moved.
    let moved = renames
        .iter()
        .filter(|(old, _)| plan.expects_change_of(old));
    proof.added_tests.extend(moved.map(|(_, new)| new.clone()));
    // No report names the scripts of a proof command. What did not exist can be no old test.
    if let ProofClaim::Command(line) = &plan.claim {
        let named = files_named_in(line);
        let scripts = trees.added_tests.iter().filter(|path| named.contains(path));
        proof.added_tests.extend(scripts.cloned());
    }
    proof
}

/// Returns what the old code has of tests before the step that adds the first ones (`Test from here:`): the runner may
/// not be there yet, so the old tests are none, and the new ones cannot be loaded.
fn reports_without_tests() -> (TestReport, TestReport) {
    let unloaded = TestReport {
        failed_to_load: true,
        ..TestReport::default()
    };
    (TestReport::default(), unloaded)
}

/// Returns the words of a command line that may be files of the repository.
pub(super) fn files_named_in(line: &str) -> Vec<String> {
    let words = line.split(|c: char| c.is_whitespace() || "'\"`;&|()<>=".contains(c));
    let words = words.map(|word| word.trim_start_matches("./"));
    words
        .filter(|word| word.contains('/') || word.contains('.'))
        .map(str::to_owned)
        .collect()
}
