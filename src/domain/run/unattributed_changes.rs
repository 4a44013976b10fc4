//! Asks about changes made while a step ran that no call of its agent accounts for: the user decides whose they are.

use super::current_step::{audit_again, current_at_stage};
use super::{RunState, open_questions};
use crate::domain::effect::Effect;
use crate::domain::event::AgentActivity;
use crate::domain::ids::{TurnId, UnixMillis};
use crate::domain::phase::Phase;
use crate::domain::plan_execution::{DirtyPolicy, StepStage};
use crate::domain::question::{FileOrigin, QuestionAnswer, QuestionKind};
use crate::domain::step_calls::StepCalls;
use crate::domain::task_patch::{PatchState, TaskPatch};

/// Returns the calls of the current step, where they are known.
fn step_calls_mut(state: &mut RunState) -> Option<&mut StepCalls> {
    if state.phase != Phase::Execute {
        return None;
    }
    let current = state.current_step_mut()?;
    current.calls.as_mut()
}

pub(super) fn on_agent_activity(
    state: &mut RunState,
    at: UnixMillis,
    turn: &TurnId,
    news: &AgentActivity,
) -> Vec<Effect> {
    let running = state.running.as_ref();
    if running.is_some_and(|running| running.order.turn == *turn)
        && let Some(calls) = step_calls_mut(state)
    {
        calls.on_activity(at, news);
    }
    Vec::new()
}

/// Ends all commands of a turn that is over, including those it left running.
pub(super) fn on_turn_ended(state: &mut RunState, at: UnixMillis) {
    if let Some(calls) = step_calls_mut(state) {
        calls.end_all_commands(at);
    }
}

/// Ends the commands at the last event before the program's end. What changed since belongs to no step until the user
/// decides.
pub(super) fn on_resumed(state: &mut RunState) {
    let last = state.course.last_event_at();
    if let (Some(at), Some(calls)) = (last, step_calls_mut(state)) {
        calls.end_all_commands(at);
    }
}

/// Records the tests as a command: failing tests may have changed files, which the next audit finds.
pub(super) fn on_tests_ran(state: &mut RunState, at: UnixMillis, duration_ms: u64) {
    if let Some(calls) = step_calls_mut(state) {
        let duration = i64::try_from(duration_ms).unwrap_or(i64::MAX);
        calls.begin_command(UnixMillis(at.0.saturating_sub(duration)), "tests");
        calls.end_command(at, "tests");
    }
}

/// Records a child's patch as a command, because this program writes it into the tree.
pub(super) fn on_task_patched(state: &mut RunState, at: UnixMillis, patch: &TaskPatch) {
    if let Some(calls) = step_calls_mut(state) {
        let item = format!("patch {}", patch.tree);
        match patch.state {
            PatchState::Applying => calls.begin_command(at, &item),
            PatchState::Applied | PatchState::Kept => calls.end_command(at, &item),
            PatchState::Waiting => {}
        }
    }
}

/// Asks about changes of the step that its calls do not account for and that the user has not decided about.
pub(super) fn ask_about_unattributed_changes(
    state: &mut RunState,
    step: u32,
    found: &[String],
) -> Option<Vec<Effect>> {
    let execution = state.execution.as_ref()?;
    let current = execution.current.as_ref()?;
    let is_open = |path: &&String| {
        current.changed.contains(path) && !execution.dirty_policy.contains_key(*path)
    };
    let paths: Vec<String> = found.iter().filter(is_open).cloned().collect();
    if paths.is_empty() {
        return None;
    }
    let question = QuestionKind::DirtyFiles {
        step,
        paths,
        origin: FileOrigin::OutsideOfCalls,
    };
    Some(open_questions::ask_user(state, question))
}

pub(super) fn on_unattributed_changes_answered(
    state: &mut RunState,
    step: u32,
    paths: &[String],
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    match answer {
        QuestionAnswer::Include => {
            if let Some(execution) = &mut state.execution {
                let decided = paths
                    .iter()
                    .map(|path| (path.clone(), DirtyPolicy::Include));
                execution.dirty_policy.extend(decided);
            }
        }
        _ => {
            if let Some(current) = current_at_stage(state, step, &[StepStage::Audit]) {
                current.users_edits.extend_from_slice(paths);
            }
        }
    }
    audit_again(state, step)
}
