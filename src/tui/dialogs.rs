//! The dialogs: one file for each kind of question to the user, each a pure function of the run's state.

mod adapter_failure;
mod agent_question_dialog;
mod arbitration;
mod blocked_step;
mod changed_approval;
mod changed_entry_points;
mod changed_files;
mod commit_failure;
mod dirty_files;
mod dispute;
mod document_merge_conflict;
mod doubtful_tests;
mod draft_recovery;
pub mod edit_preview;
mod execution_approval;
mod execution_refusal;
mod failing_baseline;
mod goal_confirmation;
mod held_edits_decision;
mod manual_edit;
mod missing_document;
mod missing_test_runner;
mod out_of_scope_changes;
pub mod stale_plan;
mod step_recovery;
mod test_access;
mod test_failure;
mod turn_gate;
mod unchanged_step;
mod usage_limit;

pub mod approval_dialog;
pub mod confirmations;
pub mod discussion_start;
pub mod instructions_dialog;
pub mod quit_confirmation;
pub mod run_history_list;
pub mod stored_approvals;
pub mod take_over;
pub mod theme_picker;
pub mod undo_dialog;
pub mod unfinished_run_dialog;
mod unproven_step;
pub mod view_list;

use std::collections::{BTreeMap, BTreeSet};

use super::action::{Action, DocumentKind};
use super::approval_view::ExactCall;
use super::dialog::{ChoiceAction, ChoiceDialog};
use super::document_texts::DisplayDocuments;
use super::labels::LocalClock;
use super::prompt_preview::PromptPreview;
use super::text_versions::ConflictVersions;
use crate::domain::event::Event;
use crate::domain::phase::Phase;
use crate::domain::plan_thread::UserNote;
use crate::domain::question::{FileOrigin, Question, QuestionAnswer, QuestionKind};
use crate::domain::run::RunState;
use crate::domain::turn::Role;

/// How many columns of a finding a dialog shows, so that the rest of the dialog stays visible. The
/// Comments tab has the full text.
pub const MAX_FINDING_COLUMNS: usize = 100;

/// The parts of the view's state that dialogs need.
#[derive(Debug)]
pub struct DialogContext<'a> {
    /// The prompt of the turn that waits at the gate.
    pub preview: Option<&'a PromptPreview>,
    /// The first pending call as the agent made it, an edit with its diff against the file.
    pub exact_call: Option<&'a ExactCall>,
    pub versions: &'a [ConflictVersions],
    /// The goal as the agent last proposed it.
    pub proposed_goal: Option<&'a str>,
    /// The agent's previous proposal of the goal.
    pub goal_before: Option<&'a str>,
    /// Answers to the first of several questions.
    pub picked_answers: &'a BTreeMap<String, String>,
    /// For questions with several answers: the answers chosen so far.
    pub ticked_answers: &'a BTreeMap<String, BTreeSet<String>>,
    /// The line of the plan that a note or an edit is being written for, and its text.
    pub noted_line: Option<&'a UserNote>,
    pub clock: LocalClock,
    pub documents: &'a DisplayDocuments,
    /// Whether sending a turn needs a second Enter.
    pub confirm_enter: bool,
    /// Whether a turn that waits shows the first lines of its prompt.
    pub shows_prompt: bool,
}

/// Returns the dialog for what needs the user first: calls before questions before the goal.
pub fn pending_dialog(state: &RunState, known: &DialogContext<'_>) -> Option<ChoiceDialog> {
    if let Some(approval) = state.approvals.first() {
        return Some(approval_dialog::build_dialog(
            approval,
            state,
            known.exact_call,
        ));
    }
    if let Some(question) = state.current_question() {
        return Some(question_dialog(question, state, known));
    }
    let is_idle = state.running.is_none() && state.busy.is_none();
    (state.phase == Phase::RefineGoal && is_idle)
        .then(|| goal_confirmation::build_dialog(state, known))
}

#[expect(
    clippy::too_many_lines,
    reason = "one arm a kind of question: a list to read"
)]
fn question_dialog(
    question: &Question,
    state: &RunState,
    known: &DialogContext<'_>,
) -> ChoiceDialog {
    let id = question.id;
    match &question.kind {
        QuestionKind::Gate { order } => turn_gate::build_dialog(id, order, state, known),
        QuestionKind::Arbitration { reason, open } => {
            arbitration::build_dialog(id, *reason, *open, state)
        }
        QuestionKind::Dispute { n } => dispute::build_dialog(id, *n, state),
        QuestionKind::ManualEdit => manual_edit::build_dialog(id),
        QuestionKind::StalePlan {
            reviewed,
            fault,
            change,
            ..
        } => {
            let fault = fault.as_deref();
            stale_plan::build_dialog(id, reviewed, fault, change.as_deref(), state, known)
        }
        QuestionKind::Execute { terms } => execution_approval::build_dialog(id, terms, state),
        QuestionKind::NoDocument { purpose, reason } => {
            missing_document::build_dialog(id, purpose, &reason.to_string())
        }
        QuestionKind::Agent {
            questions, asker, ..
        } => agent_question_dialog::build_dialog(id, questions, asker, known),
        QuestionKind::AdapterFailed {
            purpose,
            kind,
            message,
            other,
        } => adapter_failure::build_dialog(id, purpose, kind, message, other.as_deref(), state),
        QuestionKind::UsageLimit { .. } => {
            usage_limit::build_dialog(id, &question.kind, state, known.clock)
        }
        QuestionKind::Conflict {
            document,
            purpose,
            clash,
        } => document_merge_conflict::build_dialog(id, document, clash.as_ref(), purpose, known),
        QuestionKind::Draft { order, files } => draft_recovery::build_dialog(id, order, files),
        QuestionKind::DirtyFiles {
            step,
            paths,
            origin: FileOrigin::WrittenByTests,
        } => dirty_files::build_changed_by_tests_dialog(id, *step, paths),
        QuestionKind::DirtyFiles {
            step,
            paths,
            origin: FileOrigin::OutsideOfCalls,
        } => dirty_files::build_unattributed_dialog(id, *step, paths),
        QuestionKind::DirtyFiles { step, paths, .. } => {
            let left = state
                .execution
                .as_ref()
                .and_then(|execution| execution.left.as_ref());
            dirty_files::build_dialog(id, *step, paths, left)
        }
        QuestionKind::ApprovalChanged { step, changes, .. } => {
            changed_approval::build_dialog(id, *step, changes)
        }
        QuestionKind::EntryPoints { step, changes } => {
            changed_entry_points::build_dialog(id, *step, changes)
        }
        QuestionKind::HeldEdits { step, edits } => {
            held_edits_decision::build_dialog(id, *step, edits)
        }
        QuestionKind::OutOfScope { step, changes } => {
            out_of_scope_changes::build_dialog(id, *step, changes, state)
        }
        QuestionKind::NothingChanged { step, said, found } => {
            unchanged_step::build_dialog(id, *step, said, found)
        }
        QuestionKind::Blocked {
            step,
            said,
            check,
            n_changed,
        } => blocked_step::build_dialog(id, *step, said, check.as_ref(), *n_changed),
        QuestionKind::TestsFailed { step, found } => {
            test_failure::build_dialog(id, *step, found, state)
        }
        QuestionKind::TestsInDoubt { step, found } => {
            doubtful_tests::build_dialog(id, *step, found, state)
        }
        QuestionKind::Unproven { step, found } => {
            unproven_step::build_dialog(id, *step, found, state)
        }
        QuestionKind::TestSocket { step, lacked } => {
            test_access::build_socket_dialog(id, *step, lacked, state)
        }
        QuestionKind::RunnerMissing { found } => {
            missing_test_runner::build_dialog(id, found, state)
        }
        QuestionKind::RedBaseline { found } => failing_baseline::build_dialog(id, found, state),
        QuestionKind::TestNetwork { step, line } => {
            test_access::build_network_dialog(id, *step, line, state)
        }
        QuestionKind::CommitFailed { step, message } => {
            commit_failure::build_dialog(id, *step, message)
        }
        QuestionKind::StepRecovery { step, stage } => {
            step_recovery::build_dialog(id, *step, *stage)
        }
        QuestionKind::CannotExecute { reason } => execution_refusal::build_dialog(id, reason),
    }
}

/// Returns the id of a question's dialog.
pub(super) fn question_dialog_id(id: u32) -> String {
    format!("question {id}")
}

/// Answers a question, after a confirmation if the answer destroys something.
fn answer_question(id: u32, answer: QuestionAnswer) -> ChoiceAction {
    if let Some(sheet) = confirmations::confirm_answer(id, &answer) {
        return ChoiceAction::Confirm(Box::new(sheet));
    }
    ChoiceAction::Act(vec![Action::Event(Event::QuestionAnswered { id, answer })])
}

/// Answers that the user edits by hand, and opens the plan.
fn edit_plan(id: u32) -> ChoiceAction {
    ChoiceAction::Act(vec![
        Action::Event(Event::QuestionAnswered {
            id,
            answer: QuestionAnswer::EditByHand,
        }),
        Action::Edit(DocumentKind::Plan),
    ])
}

/// Asks for confirmation before the plan is dropped, because in lists the same letter only closes the dialog.
fn confirm_back_to_goal(id: u32) -> ChoiceAction {
    ChoiceAction::Confirm(Box::new(confirmations::return_to_goal(id)))
}

/// Adds the choice to switch to the other CLI, if there is one, and says if both roles would then use it.
fn add_adapter_switch(
    sheet: ChoiceDialog,
    id: u32,
    role: Role,
    other: Option<&str>,
    state: &RunState,
) -> ChoiceDialog {
    let Some(other) = other else {
        return sheet;
    };
    let beside = match role {
        Role::Planner => Role::Reviewer,
        Role::Reviewer => Role::Planner,
    };
    let is_there = state
        .session(beside)
        .is_some_and(|session| session.adapter == other);
    let both = if is_there {
        format!(" ({} too)", beside.name())
    } else {
        String::new()
    };
    let label = format!("Switch to {other}{both}");
    sheet.with_choice(
        'o',
        &label,
        answer_question(id, QuestionAnswer::SwitchAdapter),
    )
}

/// Cancels the run after a confirmation.
fn confirm_cancel() -> ChoiceAction {
    ChoiceAction::Confirm(Box::new(confirmations::cancel_run()))
}

/// Lists at most `n` names, one per line.
fn list_names(names: &[String], n: usize) -> String {
    let mut lines: Vec<String> = names
        .iter()
        .take(n)
        .map(|name| format!("  {name}"))
        .collect();
    if names.len() > n {
        lines.push(format!("  … and {} more", names.len() - n));
    }
    lines.join("\n")
}

pub use agent_question_dialog::unanswered_questions as open_questions;
pub use goal_confirmation::{confirm_goal as goal_confirmed, goal_text, goal_title};
