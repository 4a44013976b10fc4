//! Why a command is not available now: the footer leaves it out, the palette shows the reason.
//!
//! The code that carries a command out checks again.

use super::command::ScreenCommand;
use super::dialog::ChoiceDialog;
use crate::domain::phase::{Gate, Phase};
use crate::domain::question::QuestionKind;
use crate::domain::run::{ProgramOperation, RunState, notes_blocker};

/// Returns whether a command has an effect now.
pub fn is_command_available(
    command: &ScreenCommand,
    state: Option<&RunState>,
    sheet: Option<&ChoiceDialog>,
) -> bool {
    command_blocker(command, state, sheet).is_none()
}

/// Returns why a command has no effect now; `None` if it has one.
#[expect(clippy::too_many_lines, reason = "one arm a command: a list to read")]
pub fn command_blocker(
    command: &ScreenCommand,
    state: Option<&RunState>,
    sheet: Option<&ChoiceDialog>,
) -> Option<String> {
    let phase = state.map(|state| state.phase);
    let gate = state
        .filter(|state| !state.phase.is_final())
        .map(|state| state.gate);
    let no_run = match phase {
        Some(_) => "the run is finished",
        None => "no run yet",
    };
    let unless = |is_so: bool, why: &str| (!is_so).then(|| why.to_owned());
    match command {
        ScreenCommand::Go => {
            let has_it = sheet.is_some_and(|sheet| sheet.choices.iter().any(|c| c.key == 'g'));
            unless(has_it, "no turn or goal is waiting")
        }
        ScreenCommand::AutoGate => match gate {
            Some(Gate::Manual) => None,
            Some(Gate::Auto) => Some("already in Auto".to_owned()),
            None => Some(no_run.to_owned()),
        },
        ScreenCommand::ManualGate => match gate {
            Some(Gate::Auto) => None,
            Some(Gate::Manual) => Some("already in Manual".to_owned()),
            None => Some(no_run.to_owned()),
        },
        ScreenCommand::SteerTurn(_) => {
            let runs = state.is_some_and(|state| state.running.is_some());
            unless(runs, "nothing is running")
        }
        ScreenCommand::InterruptTurn => {
            let runs = state.is_some_and(|state| {
                state.running.is_some()
                    || state.busy == Some(ProgramOperation::Baseline)
                    || state.may_interrupt_step_tests()
            });
            unless(runs, "nothing is running")
        }
        ScreenCommand::StopToGoal => {
            let goes_on = matches!(
                phase,
                Some(
                    Phase::WritePlan
                        | Phase::Review
                        | Phase::Respond
                        | Phase::Approved
                        | Phase::Execute
                )
            );
            unless(goes_on, "nothing to stop yet")
        }
        ScreenCommand::Edit(_) => {
            let has_plan = state.is_some_and(|state| state.plan.is_some());
            unless(has_plan, "no plan yet")
        }
        ScreenCommand::Undo(_) => match state {
            Some(state) => state.undo_blocker(),
            None => Some(no_run.to_owned()),
        },
        ScreenCommand::SkipStep(step, _) => match state {
            Some(state) => state.skip_blocker(*step),
            None => Some(no_run.to_owned()),
        },
        ScreenCommand::ReplanStep(step, _) => match state {
            Some(state) => state.replan_blocker(*step),
            None => Some(no_run.to_owned()),
        },
        ScreenCommand::ExportRun(_) => unless(state.is_some(), no_run),
        ScreenCommand::Diff(_) => {
            let executes = state.is_some_and(|state| state.execution.is_some());
            unless(executes, "no step has run yet")
        }
        ScreenCommand::ViewFullText => unless(sheet.is_some(), "nothing is waiting for you"),
        ScreenCommand::AllowCall | ScreenCommand::RejectCall(_) => {
            let asks = state.is_some_and(|state| !state.approvals.is_empty());
            unless(asks, "no request is waiting for you")
        }
        ScreenCommand::ApprovePlan | ScreenCommand::Changes(_) => {
            let is_asked = matches!(open_question(state), Some(QuestionKind::Execute { .. }));
            unless(is_asked, "no plan is waiting for your approval")
        }
        ScreenCommand::AnswerQuestion(_) => {
            unless(open_question(state).is_some(), "no question is open")
        }
        ScreenCommand::SetGoal(_) => {
            let takes_one = matches!(
                phase,
                None | Some(Phase::Init | Phase::RefineGoal | Phase::Done | Phase::Cancelled)
            );
            unless(takes_one, "the goal is confirmed")
        }
        ScreenCommand::ChooseRefiner(_) => {
            let is_open = matches!(phase, None | Some(Phase::Init | Phase::RefineGoal));
            unless(is_open, "the goal is confirmed")
        }
        ScreenCommand::CancelRun | ScreenCommand::Mode(_) => unless(gate.is_some(), no_run),
        ScreenCommand::ResumeRun => unless(state.is_none(), "a run is open"),
        ScreenCommand::Discuss(wish) => wish.blocker(state).map(str::to_owned),
        ScreenCommand::AddPlanNote(_) | ScreenCommand::RewritePlanLine => match state {
            Some(state) => notes_blocker(state).map(str::to_owned),
            None => Some(no_run.to_owned()),
        },
        _ => None,
    }
}

/// Returns the kind of the open question.
pub fn open_question(state: Option<&RunState>) -> Option<&QuestionKind> {
    let question = state?.current_question()?;
    Some(&question.kind)
}
