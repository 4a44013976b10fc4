//! Checks before each step and before its tests that what the approval is bound to is as it was (TRUTH.md T31).
//!
//! A change of the plan itself is a stale plan: `approval_validity`.

use super::current_step::start_tests;
use super::{ProgramOperation, RunState, approval_validity, open_questions, turn_start};
use crate::domain::bound_parts::{BindingChange, BoundKind, describe_binding_changes};
use crate::domain::effect::Effect;
use crate::domain::event::Approval;
use crate::domain::phase::Phase;
use crate::domain::plan_execution::{PlanExecution, StepStage};
use crate::domain::question::{EntryPoint, QuestionAnswer, QuestionKind};
use crate::domain::receipt_chain::ApprovalExtension;
use crate::domain::test_command::{TestCommand, TestCommandOrigin, TestCommandSource};
use crate::domain::turn::{TurnOrder, TurnPurpose};
use crate::text::clean_to_one_line;

/// Returns the turn that waits for the check of a step; the step's test run waits where there is none.
fn waiting_order(state: &RunState, step: u32) -> Option<Option<TurnOrder>> {
    if state.phase != Phase::Execute {
        return None;
    }
    match state.busy.as_ref()? {
        ProgramOperation::Storing { order } => match order.purpose {
            TurnPurpose::Step { n } | TurnPurpose::Fix { n, .. } if n == step => {
                Some(Some(order.clone()))
            }
            _ => None,
        },
        ProgramOperation::Stepping { .. } => {
            let current = state.current_step()?;
            (current.n == step && current.stage == StepStage::Test).then_some(None)
        }
        ProgramOperation::Collecting { .. }
        | ProgramOperation::Held { .. }
        | ProgramOperation::Surveying
        | ProgramOperation::Entering
        | ProgramOperation::Baseline
        | ProgramOperation::Moving { .. }
        | ProgramOperation::Reversing { .. } => None,
    }
}

/// Continues with what waited for the check, or asks about what changed.
pub(super) fn on_approval_checked(
    state: &mut RunState,
    step: u32,
    changes: &[BindingChange],
) -> Vec<Effect> {
    let Some(order) = waiting_order(state, step) else {
        return Vec::new();
    };
    let asks_about_versions = state.settings.binds_versions;
    let needs_approval = |change: &BindingChange| match change.kind {
        BoundKind::Version => asks_about_versions && is_known_on_both_sides(change),
        BoundKind::Base => !is_first_base(state, change),
        BoundKind::RuleFile
        | BoundKind::TestCommand
        | BoundKind::TestVariable
        | BoundKind::CarriedPath => !change.by_step,
    };
    let (open, settled): (Vec<_>, Vec<_>) = changes.iter().cloned().partition(needs_approval);
    bind_changes(state, &settled);
    let told: Vec<BindingChange> = settled
        .into_iter()
        .filter(|change| change.kind == BoundKind::Version && is_known_on_both_sides(change))
        .collect();
    let told = (!told.is_empty()).then(|| {
        let changes = describe_binding_changes(&told);
        Effect::AppendLog(format!("Changed since the approval: {changes}"))
    });
    let then = if open.is_empty() {
        continue_checked(state, order)
    } else {
        state.busy = None;
        let kind = QuestionKind::ApprovalChanged {
            step,
            changes: open,
            order,
        };
        open_questions::ask_user(state, kind)
    };
    told.into_iter().chain(then).collect()
}

/// Returns whether a version changed. One that was not known at the approval, or whose program has no role any more, is
/// no change of one.
fn is_known_on_both_sides(change: &BindingChange) -> bool {
    change.before.is_some() && change.now.is_some()
}

/// Returns whether a run that began without a commit finds its own last one, which is its base from now on.
fn is_first_base(state: &RunState, change: &BindingChange) -> bool {
    let own = state.execution.iter();
    let mut own = own.flat_map(PlanExecution::last_commits);
    change.before.is_none() && own.any(|own| Some(own) == change.now.as_deref())
}

fn continue_checked(state: &RunState, order: Option<TurnOrder>) -> Vec<Effect> {
    match order {
        Some(order) => turn_start::store_tree_before(&order.purpose),
        None => start_tests(state),
    }
}

/// Takes over values: the approval is bound to them from now on.
fn bind_changes(state: &mut RunState, changes: &[BindingChange]) {
    let Some(execution) = &mut state.execution else {
        return;
    };
    let (commands, parts): (Vec<_>, Vec<_>) = changes
        .iter()
        .cloned()
        .partition(|change| change.kind == BoundKind::TestCommand);
    if let Some(binding) = &mut execution.binding {
        binding.apply(&parts);
    }
    for change in commands {
        let origin = TestCommandOrigin {
            source: TestCommandSource::Configured,
            place: None,
        };
        execution.test = change.now.map(|command| TestCommand {
            command,
            // The question shows one line, so that is what the user accepts.
            parts: Vec::new(),
            origin,
        });
    }
}

pub(super) fn on_approval_changed_answered(
    state: &mut RunState,
    step: u32,
    changes: &[BindingChange],
    order: Option<TurnOrder>,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    if *answer == QuestionAnswer::AcceptAsIs {
        bind_changes(state, changes);
        allow_rule_files(state, changes);
    }
    check_again(state, step, order)
}

/// Lets the audit of the step accept rule files that the user approved while it waited: one answer holds for the step.
fn allow_rule_files(state: &mut RunState, changes: &[BindingChange]) {
    let files = changes
        .iter()
        .filter(|change| change.kind == BoundKind::RuleFile);
    if let Some(current) = state.current_step_mut() {
        let points = files.map(|change| EntryPoint {
            path: change.name.clone(),
            why: change.describe(),
            content: None,
        });
        current.allowed_entry_points.extend(points);
    }
}

/// Checks again what a question was about: the files may have changed while it waited.
pub(super) fn check_again(
    state: &mut RunState,
    step: u32,
    order: Option<TurnOrder>,
) -> Vec<Effect> {
    // Before a turn the plan must still be the approved one; a step that is being tested ends first.
    let stale = order.as_ref();
    let stale = stale.and_then(|_| approval_validity::check_approval_before_step(state));
    if let Some(effects) = stale {
        return effects;
    }
    state.busy = Some(match order {
        Some(order) => ProgramOperation::Storing { order },
        None => ProgramOperation::Stepping { question: None },
    });
    vec![Effect::CheckApproval { step }]
}

/// Records an answer of the user that extends the approval of the plan.
pub(super) fn record_answer(state: &mut RunState, kind: &QuestionKind, answer: &QuestionAnswer) {
    let word = match (kind, answer) {
        (
            QuestionKind::EntryPoints { .. } | QuestionKind::OutOfScope { .. },
            QuestionAnswer::Allow,
        ) => "allow",
        (QuestionKind::HeldEdits { .. }, QuestionAnswer::Keep) => "keep",
        (
            QuestionKind::ApprovalChanged { .. } | QuestionKind::RedBaseline { .. },
            QuestionAnswer::AcceptAsIs,
        ) => "accept",
        (QuestionKind::TestNetwork { .. }, QuestionAnswer::HostNetwork) => "host",
        (QuestionKind::TestSocket { .. }, QuestionAnswer::ReachSocket) => "reach",
        _ => return,
    };
    extend_approval(state, kind.name(), &kind.describe(), word);
}

/// Records a call of an agent that the user allowed.
pub(super) fn record_allowed_call(state: &mut RunState, approval: &Approval) {
    extend_approval(state, "call", &approval.describe(), "allow");
}

fn extend_approval(state: &mut RunState, question: &str, about: &str, answer: &str) {
    if state.phase != Phase::Execute || !state.settings.proves_steps {
        return;
    }
    let extension = ApprovalExtension {
        step: state.current_step_number().unwrap_or(0),
        question: question.to_owned(),
        about: clean_to_one_line(about),
        answer: answer.to_owned(),
    };
    state.extensions.push(extension);
}
