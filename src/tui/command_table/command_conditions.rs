//! Conditions of the command table: each returns why a command has no effect now. The footer leaves the command out,
//! the palette shows the reason.
//!
//! The code that carries a command out checks again.

use crate::domain::discussion::GroupDiscussion;
use crate::domain::phase::{Gate, Phase};
use crate::domain::question::QuestionKind;
use crate::domain::run::{ProgramOperation, RunState, notes_blocker};

/// What decides whether a command is available.
#[derive(Debug, Clone, Copy)]
pub struct CommandContext<'a> {
    pub state: Option<&'a RunState>,
    pub dialog: Option<OpenDialog>,
}

/// What the conditions ask about the open dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenDialog {
    /// Whether it asks to send a turn or to confirm the goal.
    pub has_go: bool,
    /// Whether it asks to resume an unfinished run.
    pub has_resume: bool,
}

impl<'a> CommandContext<'a> {
    fn phase(&self) -> Option<Phase> {
        self.state.map(|state| state.phase)
    }

    /// Returns the gate of a run that is not finished.
    fn gate(&self) -> Option<Gate> {
        let state = self.state.filter(|state| !state.phase.is_final());
        state.map(|state| state.gate)
    }

    fn no_run(&self) -> String {
        match self.state {
            Some(_) => "the run is finished".to_owned(),
            None => "no run yet".to_owned(),
        }
    }

    fn discussions(&self) -> &'a [GroupDiscussion] {
        self.state.map_or(&[], |state| state.discussions.as_slice())
    }
}

/// Returns the kind of the open question.
pub fn open_question(state: Option<&RunState>) -> Option<&QuestionKind> {
    let question = state?.current_question()?;
    Some(&question.kind)
}

fn unless(is_so: bool, why: &str) -> Option<String> {
    (!is_so).then(|| why.to_owned())
}

pub const fn is_always_available(_: &CommandContext<'_>) -> Option<String> {
    None
}

pub fn turn_is_waiting(now: &CommandContext<'_>) -> Option<String> {
    let is_waiting = now.dialog.is_some_and(|dialog| dialog.has_go);
    unless(is_waiting, "no turn or goal is waiting")
}

pub fn gate_is_manual(now: &CommandContext<'_>) -> Option<String> {
    match now.gate() {
        Some(Gate::Manual) => None,
        Some(Gate::Auto) => Some("already in Auto".to_owned()),
        None => Some(now.no_run()),
    }
}

pub fn gate_is_auto(now: &CommandContext<'_>) -> Option<String> {
    match now.gate() {
        Some(Gate::Auto) => None,
        Some(Gate::Manual) => Some("already in Manual".to_owned()),
        None => Some(now.no_run()),
    }
}

pub fn run_is_open(now: &CommandContext<'_>) -> Option<String> {
    now.gate().is_none().then(|| now.no_run())
}

pub fn run_can_be_resumed(now: &CommandContext<'_>) -> Option<String> {
    let is_asked = now.dialog.is_some_and(|dialog| dialog.has_resume);
    let is_open = now.state.is_some_and(|state| !state.phase.is_final());
    let why = if is_open {
        "a run is open"
    } else {
        "no run to resume"
    };
    unless(is_asked, why)
}

pub fn run_exists(now: &CommandContext<'_>) -> Option<String> {
    now.state.is_none().then(|| now.no_run())
}

pub fn turn_is_running(now: &CommandContext<'_>) -> Option<String> {
    let runs = now.state.is_some_and(|state| state.running.is_some());
    unless(runs, "nothing is running")
}

pub fn turn_or_tests_are_running(now: &CommandContext<'_>) -> Option<String> {
    let runs = now.state.is_some_and(|state| {
        state.running.is_some()
            || state.busy == Some(ProgramOperation::Baseline)
            || state.may_interrupt_step_tests()
    });
    unless(runs, "nothing is running")
}

pub fn run_is_past_the_goal(now: &CommandContext<'_>) -> Option<String> {
    let goes_on = matches!(
        now.phase(),
        Some(Phase::WritePlan | Phase::Review | Phase::Respond | Phase::Approved | Phase::Execute)
    );
    unless(goes_on, "nothing to stop yet")
}

pub fn plan_is_being_executed(now: &CommandContext<'_>) -> Option<String> {
    let is_executed = now.phase() == Some(Phase::Execute);
    unless(is_executed, "no plan is being executed")
}

pub fn goal_is_open(now: &CommandContext<'_>) -> Option<String> {
    let is_open = matches!(now.phase(), None | Some(Phase::Init | Phase::RefineGoal));
    unless(is_open, "the goal is confirmed")
}

pub fn goal_is_open_or_run_has_ended(now: &CommandContext<'_>) -> Option<String> {
    let has_ended = matches!(now.phase(), Some(Phase::Done | Phase::Cancelled));
    goal_is_open(now).filter(|_| !has_ended)
}

pub fn plan_exists(now: &CommandContext<'_>) -> Option<String> {
    let has_plan = now.state.is_some_and(|state| state.plan.is_some());
    unless(has_plan, "no plan yet")
}

pub fn notes_are_taken(now: &CommandContext<'_>) -> Option<String> {
    match now.state {
        Some(state) => notes_blocker(state).map(str::to_owned),
        None => Some(now.no_run()),
    }
}

pub fn step_has_run(now: &CommandContext<'_>) -> Option<String> {
    let executes = now.state.is_some_and(|state| state.execution.is_some());
    unless(executes, "no step has run yet")
}

pub fn step_can_be_undone(now: &CommandContext<'_>) -> Option<String> {
    match now.state {
        Some(state) => state.undo_blocker(),
        None => Some(now.no_run()),
    }
}

pub fn dialog_is_open(now: &CommandContext<'_>) -> Option<String> {
    unless(now.dialog.is_some(), "nothing is waiting for you")
}

pub fn request_is_waiting(now: &CommandContext<'_>) -> Option<String> {
    let asks = now.state.is_some_and(|state| !state.approvals.is_empty());
    unless(asks, "no request is waiting for you")
}

pub fn plan_approval_is_asked(now: &CommandContext<'_>) -> Option<String> {
    let is_asked = matches!(open_question(now.state), Some(QuestionKind::Execute { .. }));
    unless(is_asked, "no plan is waiting for your approval")
}

pub fn question_is_open(now: &CommandContext<'_>) -> Option<String> {
    unless(open_question(now.state).is_some(), "no question is open")
}

pub fn finding_is_open(now: &CommandContext<'_>) -> Option<String> {
    let has_one = now
        .state
        .is_some_and(|state| state.findings.open().count() > 0);
    unless(has_one, "no finding is open")
}

pub fn discussion_exists(now: &CommandContext<'_>) -> Option<String> {
    unless(!now.discussions().is_empty(), "no discussion yet")
}

pub fn discussion_is_running(now: &CommandContext<'_>) -> Option<String> {
    let runs = now.discussions().iter().any(GroupDiscussion::is_running);
    unless(runs, "no discussion is running")
}

pub fn discussion_can_resume(now: &CommandContext<'_>) -> Option<String> {
    let can = now.discussions().iter().any(GroupDiscussion::can_resume);
    unless(can, "no discussion was cut off")
}

pub fn discussion_has_finished(now: &CommandContext<'_>) -> Option<String> {
    let has_ended = now.discussions().iter().any(|each| each.outcome.is_some());
    unless(has_ended, "no discussion has finished yet")
}

pub fn finding_was_discussed(now: &CommandContext<'_>) -> Option<String> {
    let is_about = |each: &GroupDiscussion| each.order.finding.is_some();
    unless(
        now.discussions().iter().any(is_about),
        "no finding was discussed",
    )
}
