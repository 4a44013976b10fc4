//! The dialogs: one file for each kind of thing that waits for the user.
//!
//! They are functions from the run's state to a sheet. Refuses to hold state of its own.

mod adapter_failed;
mod arbitration;
mod blocked;
mod cannot_execute;
mod changed;
mod commit_failed;
mod conflict;
mod dirty_files;
mod draft;
mod entry_points;
mod execution;
mod goal;
mod held_edits;
mod manual_edit;
mod no_document;
mod nothing_changed;
mod patch;
mod question;
mod release;
mod runner_missing;
pub mod stale_plan;
mod step_recovery;
mod test_lacks;
mod tests_failed;
mod tests_in_doubt;
mod usage_limit;

pub mod approval;
pub mod confirm;
pub mod discussion;
pub mod history;
pub mod instructions;
pub mod quit;
pub mod themes;
pub mod undo;
pub mod unfinished;

use std::collections::{BTreeMap, BTreeSet};

use super::action::Action;
use super::calls::Exact;
use super::documents::Texts;
use super::keymap::Keymap;
use super::preview::Preview;
use super::sheet::{Sheet, Then};
use super::versions::ConflictVersions;
use super::words::Clock;
use crate::domain::event::Event;
use crate::domain::phase::Phase;
use crate::domain::question::{FileOrigin, Question, QuestionAnswer, QuestionKind};
use crate::domain::run::RunState;
use crate::domain::turn::Role;

/// How many columns of a finding a dialog tells, so that what else one decides by is seen beside it; Comments has the
/// whole of it.
pub const MOST_OF_FINDING: usize = 100;

/// What dialogs need of the view.
#[derive(Debug)]
pub struct Known<'a> {
    /// What the turn at the gate will send.
    pub preview: Option<&'a Preview>,
    /// The call that waits first, exactly.
    pub exact: Option<&'a Exact>,
    /// The texts that the open question is about.
    pub versions: &'a [ConflictVersions],
    /// The goal as the agent last put it.
    pub proposed_goal: Option<&'a str>,
    /// The goal as the agent put it before that.
    pub goal_before: Option<&'a str>,
    /// Answers to the first of several questions.
    pub picked: &'a BTreeMap<String, String>,
    /// Of questions with several answers: those chosen so far.
    pub ticked: &'a BTreeMap<String, BTreeSet<String>>,
    /// The line of the plan that a note is being written on, and what stands there.
    pub noting: Option<&'a (u32, String)>,
    /// The user's time of day.
    pub clock: Clock,
    /// The run's documents.
    pub texts: &'a Texts,
    /// Whether a release is asked twice.
    pub confirm_enter: bool,
    /// The keys in force.
    pub keymap: &'a Keymap,
}

/// The dialog for what waits for the user first: calls before questions before the goal.
pub fn waiting(state: &RunState, known: &Known<'_>) -> Option<Sheet> {
    if let Some(approval) = state.approvals.first() {
        return Some(approval::sheet(approval, state, known.exact));
    }
    if let Some(question) = state.current_question() {
        return Some(for_question(question, state, known));
    }
    let is_idle = state.running.is_none() && state.busy.is_none();
    (state.phase == Phase::RefineGoal && is_idle).then(|| goal::sheet(state, known))
}

#[expect(
    clippy::too_many_lines,
    reason = "one arm a kind of question: a list to read"
)]
fn for_question(question: &Question, state: &RunState, known: &Known<'_>) -> Sheet {
    let id = question.id;
    match &question.kind {
        QuestionKind::Gate { order } => release::sheet(id, order, state, known),
        QuestionKind::Arbitration { reason, open } => arbitration::sheet(id, *reason, *open, state),
        QuestionKind::ManualEdit => manual_edit::sheet(id),
        QuestionKind::StalePlan { reviewed, .. } => stale_plan::sheet(id, reviewed, state, known),
        QuestionKind::Execute { terms } => execution::sheet(id, terms, state),
        QuestionKind::NoDocument { purpose, reason } => no_document::sheet(id, purpose, reason),
        QuestionKind::Agent {
            questions, purpose, ..
        } => question::sheet(
            id,
            questions,
            &format!("the {}", purpose.role().name()),
            known,
        ),
        QuestionKind::Child {
            path, questions, ..
        } => question::sheet(id, questions, path, known),
        QuestionKind::AdapterFailed {
            purpose,
            kind,
            message,
            other,
        } => adapter_failed::sheet(id, purpose, (kind, message, other.as_deref()), state),
        QuestionKind::UsageLimit { .. } => {
            usage_limit::sheet(id, &question.kind, state, known.clock)
        }
        QuestionKind::Conflict {
            document,
            purpose,
            clash,
        } => conflict::sheet(id, (document, clash.as_ref()), purpose, known),
        QuestionKind::Draft { order, files } => draft::sheet(id, order, files),
        QuestionKind::DirtyFiles {
            step,
            paths,
            origin: FileOrigin::WrittenByTests,
        } => dirty_files::of_tests(id, *step, paths),
        QuestionKind::DirtyFiles {
            step,
            paths,
            origin: FileOrigin::OutsideOfCalls,
        } => dirty_files::outside_of_calls(id, *step, paths),
        QuestionKind::DirtyFiles { step, paths, .. } => {
            let left = state
                .execution
                .as_ref()
                .and_then(|execution| execution.left.as_ref());
            dirty_files::sheet(id, *step, paths, left)
        }
        QuestionKind::EntryPoints { step, changes } => entry_points::sheet(id, *step, changes),
        QuestionKind::HeldEdits { step, edits } => held_edits::sheet(id, *step, edits),
        QuestionKind::NothingChanged { step, said } => nothing_changed::sheet(id, *step, said),
        QuestionKind::Blocked {
            step,
            said,
            n_changed,
        } => blocked::sheet(id, *step, said, *n_changed),
        QuestionKind::TestsFailed { step, found } => tests_failed::sheet(id, *step, found, state),
        QuestionKind::TestsInDoubt { step, found } => {
            tests_in_doubt::sheet(id, *step, found, state)
        }
        QuestionKind::TestSocket { step, lacked } => test_lacks::socket(id, *step, lacked, state),
        QuestionKind::RunnerMissing { found } => runner_missing::sheet(id, found, state),
        QuestionKind::TestNetwork { step, line } => test_lacks::network(id, *step, line, state),
        QuestionKind::CommitFailed { step, message } => commit_failed::sheet(id, *step, message),
        QuestionKind::StepRecovery { step, stage } => step_recovery::sheet(id, *step, *stage),
        QuestionKind::CannotExecute { reason } => cannot_execute::sheet(id, reason),
    }
}

/// The identity of a question's dialog.
fn identity(id: u32) -> String {
    format!("question {id}")
}

/// Answers a question.
fn answer(id: u32, answer: QuestionAnswer) -> Then {
    Then::Act(vec![Action::Event(Event::QuestionAnswered { id, answer })])
}

/// Asks once more before what was planned is put aside: in a list the same letter only goes back.
fn back_to_the_goal(id: u32) -> Then {
    Then::Confirm(Box::new(confirm::back_to_the_goal(id)))
}

/// Offers the other CLI, where there is one, and says so when both roles would be there.
fn offers_the_move(
    sheet: Sheet,
    id: u32,
    (role, other): (Role, Option<&str>),
    state: &RunState,
) -> Sheet {
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
    let both = match is_there {
        true => format!(", where the {} is too", beside.name()),
        false => String::new(),
    };
    let label = format!("switch to {other}{both}");
    sheet.offers('o', &label, answer(id, QuestionAnswer::SwitchAdapter))
}

/// Gives the run up, after being asked once more.
fn cancel() -> Then {
    Then::Confirm(Box::new(confirm::cancel()))
}

/// Names, one a line, at most `n` of them.
fn listed(names: &[String], n: usize) -> String {
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

pub use goal::{confirmed as goal_confirmed, text as goal_text};
pub use question::open as open_questions;
