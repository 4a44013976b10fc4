//! The rows about the run itself: its stage and what happens now, what is proven, and last what seldom matters.

use super::status_context::{StatusContext, describe_turn_end};
use super::status_row::{StatusRow, plain_row};
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::plan_execution::StepCount;
use crate::domain::run::RunState;
use crate::domain::turn::Role;
use crate::tui::labels::{self, describe_program_operation, format_elapsed};
use crate::tui::text_wrap::to_one_line;
use crate::tui::theme;

/// Returns the stage, and what keeps the run from going on: a silent turn, a usage limit, failures.
pub(super) fn stage_rows(
    state: &RunState,
    about: StatusContext<'_>,
    now: UnixMillis,
) -> Vec<StatusRow> {
    let mut rows = vec![plain_row("Stage", &describe_stage(state))];
    if let Some(silent) = about.silent.filter(|_| state.running.is_some()) {
        let text = about.clock.localize_utc_times(&silent.describe(now));
        rows.push(StatusRow::new("Silent", &text, theme::WARNING));
        let text = describe_turn_end(about.interrupt, about.turn_timeout);
        rows.push(plain_row("", &text));
    }
    if let Some(text) = labels::describe_usage_limit(state, now, about.clock) {
        rows.push(StatusRow::new("Waits", &text, theme::WARNING));
    }
    if state.failures > 0 {
        let text = format!("{} in a row", state.failures);
        rows.push(StatusRow::new("Failures", &text, theme::BAD));
    }
    rows
}

/// Describes the stage with its count, in words: `Review 1 of 5`, `Execute, step 2 of 3`.
fn describe_stage(state: &RunState) -> String {
    let label = state.phase.label();
    match state.phase {
        Phase::Review | Phase::Respond if state.iteration > 0 => {
            format!("{label} {} of {}", state.iteration, state.iteration_limit())
        }
        Phase::Execute => {
            let StepCount { done, all } = state.step_count();
            let execution = state.execution.as_ref();
            match execution.and_then(|execution| execution.current.as_ref()) {
                Some(step) => format!("{label}, step {} of {all}", step.n),
                None => format!("{label}, {done} of {all} steps done"),
            }
        }
        _ => label.to_owned(),
    }
}

/// Returns what happens now, which a narrow window's last row has no room for.
pub(super) fn activity_row(
    state: &RunState,
    about: StatusContext<'_>,
    now: UnixMillis,
) -> Option<StatusRow> {
    if !state.approvals.is_empty() || state.current_question().is_some() {
        return Some(StatusRow::new("Now", "Waiting for you", theme::NEEDS_YOU));
    }
    if let Some(running) = state.running.as_ref().filter(|_| about.silent.is_none()) {
        let purpose = &running.order.purpose;
        let text = format!(
            "{} {}, {}",
            labels::turn_title(purpose),
            purpose.describe_progress(),
            format_elapsed(running.started_at, now)
        );
        return Some(plain_row("Now", &text));
    }
    let busy = state.busy.as_ref()?;
    Some(plain_row("Now", &describe_program_operation(busy, state)))
}

/// Returns how much is proven, and which steps are not.
pub(super) fn proof_rows(state: &RunState) -> Vec<StatusRow> {
    let Some(proofs) = state.describe_proofs() else {
        return Vec::new();
    };
    let unproven = state.describe_unproven_steps();
    let style = match unproven {
        Some(_) => theme::WARNING,
        None => theme::PLAIN,
    };
    let unproven = unproven.map(|unproven| StatusRow::new("Unproven", &unproven, theme::WARNING));
    let proofs = StatusRow::new("Proof", &proofs, style);
    std::iter::once(proofs).chain(unproven).collect()
}

/// Returns who sends the next turn, what runs without a question, and when the run started.
pub(super) fn setting_rows(state: &RunState, about: StatusContext<'_>) -> Vec<StatusRow> {
    let access = format!("{}: {}", state.mode.label(), state.mode.describe());
    let turns = format!("{}: {}", state.gate.label(), state.gate.describe());
    let mut rows = Vec::new();
    if !state.phase.is_final() {
        rows.push(plain_row("Turns", &turns));
    }
    rows.push(plain_row("Access", &access));
    let since = about.clock.time_with_minutes(state.created);
    rows.push(plain_row("Started", &since));
    rows
}

/// Returns what seldom matters: the project's instructions, the test command, the records of the checks, and the run's id.
pub(super) fn detail_rows(state: &RunState, about: StatusContext<'_>) -> Vec<StatusRow> {
    let mut rows = Vec::new();
    if !about.instructions_note.is_empty() {
        rows.push(plain_row("Project", about.instructions_note));
    }
    rows.extend(test_row(state));
    if state.receipt_head.is_some() {
        let text = "every check is recorded. agent-collab verify says whether the records are complete and unchanged";
        rows.push(plain_row("Records", text));
    }
    for role in [Role::Planner, Role::Reviewer] {
        let session = state
            .session(role)
            .and_then(|session| session.external_id.as_deref());
        if let Some(id) = session {
            let text = format!("{} {}", to_one_line(id), role.name());
            rows.push(plain_row("Session", &text));
        }
    }
    rows.push(plain_row("Run id", state.run.as_str()));
    rows
}

/// Returns the command that tests each step; nothing before the plan runs.
fn test_row(state: &RunState) -> Option<StatusRow> {
    let execution = state.execution.as_ref()?;
    Some(match &execution.test {
        Some(test) => {
            let text = format!("{} ({})", test.command, test.origin.describe());
            plain_row("Tests", &text)
        }
        None => StatusRow::new("Tests", "none, nothing is tested", theme::BAD),
    })
}
