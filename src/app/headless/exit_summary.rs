//! Summarizes a run that is over, and returns its exit code.

use std::io::Write;

use crate::app::run_reporter::{ReportFormat, RunReporter};
use crate::domain::phase::Phase;
use crate::domain::plan_execution::StepOutcome;
use crate::domain::question::CommitTarget;
use crate::domain::run::RunState;
use crate::store::WorkdirLayout;
use crate::text::pluralize;

/// Reports a run that was over before this program could resume it, and returns its exit code.
pub(super) fn report_finished_run(
    state: &RunState,
    layout: &WorkdirLayout,
    teller: &mut RunReporter<'_>,
    err: &mut dyn Write,
) -> u8 {
    // If standard error is closed, there is nowhere left to report it.
    let _closed = writeln!(err, "note: the run here is finished, nothing to resume");
    let _closed = match (state.phase, state.describe_unproven_steps()) {
        (Phase::Cancelled, _) => writeln!(err, "the run was cancelled"),
        (_, Some(unproven)) => writeln!(err, "not verified: {unproven}"),
        (_, None) => Ok(()),
    };
    if teller.format == ReportFormat::Lines && state.phase == Phase::Done {
        let _closed = teller.print_line(&summarize_finished_run(state, &log_path(layout)));
    }
    exit_code(state)
}

/// Returns the exit code of a run that is over.
pub fn exit_code(state: &RunState) -> u8 {
    match state.phase {
        Phase::Cancelled => 5,
        Phase::Done if state.describe_unproven_steps().is_some() => 6,
        _ => 0,
    }
}

/// Returns the path of the log of the steps, relative to the repository.
pub fn log_path(layout: &WorkdirLayout) -> String {
    let path = layout.names().workdir.join(&layout.names().log);
    path.display().to_string()
}

/// Summarizes a finished run in one line; `log` is the path of the log with its steps.
pub fn summarize_finished_run(state: &RunState, log: &str) -> String {
    let Some(execution) = &state.execution else {
        return "done".to_owned();
    };
    let done = &execution.done;
    let changed = done
        .iter()
        .filter(|step| step.outcome != StepOutcome::NoChange)
        .count();
    let commits = done
        .iter()
        .filter(|step| matches!(step.outcome, StepOutcome::Committed { .. }))
        .count();
    let place = match &execution.commits {
        CommitTarget::Off { .. } => "commits are off".to_owned(),
        CommitTarget::Current { branch } | CommitTarget::New { branch, .. } => {
            format!("{} on {branch}", pluralize(commits, "commit"))
        }
    };
    let test = execution.test.as_ref();
    let tested_by = test.map_or(String::new(), |test| {
        format!(", tested with {}", test.describe())
    });
    let proven = state.describe_proofs().map_or(String::new(), |proofs| {
        format!(", {proofs}: `agent-collab verify` checks it")
    });
    format!(
        "done: {changed} of {} changed something, {place}{tested_by}{proven}, details in {log}",
        pluralize(done.len(), "step")
    )
}
