//! Commands to the run that need nothing but its state: what they ask for, or why not now.

use super::action::Action;
use super::agent_dialogs::{self, AgentEntry};
use super::child_session_list;
use super::dialog::ChoiceDialog;
use super::dialogs::confirmations;
use super::keymap::ActiveKeymap;
use super::toast_line::ToastKind;
use crate::domain::event::{ApprovalDecision, Event};
use crate::domain::export_format::ExportFormat;
use crate::domain::phase::{Gate, Mode, Phase};
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::reversal_plan::UndoRequest;
use crate::domain::run::{ProgramOperation, RunState};

/// Shown for commands that need a run.
pub const NO_RUN: &str = "No run yet. Write the goal first.";
const RUN_FINISHED: &str = "The run is finished.";

/// What a command asks of the screen.
#[derive(Debug, Default)]
pub struct CommandOutcome {
    pub actions: Vec<Action>,
    /// A dialog to open first.
    pub dialog: Option<ChoiceDialog>,
    /// What the user is told: why the command does nothing, or what to know about it.
    pub note: Option<String>,
    pub note_kind: ToastKind,
}

impl CommandOutcome {
    pub fn refuse(why: &str) -> Self {
        Self {
            note: Some(why.to_owned()),
            ..Self::default()
        }
    }

    pub fn act(action: Action) -> Self {
        Self::act_all(vec![action])
    }

    /// Lets the keys that the note names be clicked; it must not contain text from an agent.
    pub fn with_clickable_keys(self) -> Self {
        Self {
            note_kind: ToastKind::WithKeys,
            ..self
        }
    }

    fn act_all(actions: Vec<Action>) -> Self {
        Self {
            actions,
            ..Self::default()
        }
    }

    pub fn record(event: Event) -> Self {
        Self::act(Action::Event(event))
    }

    fn ask(dialog: ChoiceDialog) -> Self {
        Self {
            dialog: Some(dialog),
            ..Self::default()
        }
    }

    pub fn with_note(self, note: &str) -> Self {
        Self {
            note: Some(note.to_owned()),
            ..self
        }
    }
}

/// Switches between Manual and Auto.
pub fn set_gate(gate: Gate, state: Option<&RunState>) -> CommandOutcome {
    match state {
        Some(state) if state.phase.is_final() => CommandOutcome::refuse(RUN_FINISHED),
        Some(state) if state.gate == gate && gate == Gate::Auto => {
            CommandOutcome::refuse("Already in Auto.")
        }
        Some(state) if state.gate == gate => CommandOutcome::refuse("Already in Manual."),
        Some(_) => CommandOutcome::record(Event::GateChanged { gate }),
        None => CommandOutcome::refuse(NO_RUN),
    }
}

/// Sets the mode; without one, switches to the next.
pub fn set_mode(wanted: Option<Mode>, state: Option<&RunState>) -> CommandOutcome {
    let Some(state) = state else {
        return CommandOutcome::refuse(NO_RUN);
    };
    let mode = wanted.unwrap_or_else(|| state.mode.next_in_cycle());
    if state.phase.is_final() {
        return CommandOutcome::refuse(RUN_FINISHED);
    }
    if state.mode == mode {
        return CommandOutcome::refuse(&format!("The mode is already {}.", mode.label()));
    }
    let changed = CommandOutcome::record(Event::ModeChanged { mode });
    match mode {
        Mode::Yolo => CommandOutcome::ask(confirmations::enable_yolo_mode()),
        Mode::Plan if has_step_turn(state) => changed.with_note(
            "Agents now only read. The sandbox of a running turn changes with the next one",
        ),
        Mode::Plan if wanted.is_some() => {
            changed.with_note("Agents now only read. See the plan itself with /tab plan")
        }
        Mode::Default | Mode::AutoEdit if state.mode == Mode::Plan && has_step_turn(state) => {
            changed.with_note(
                "A turn that began Read-only stays so, edits are possible from the next one on",
            )
        }
        Mode::Plan | Mode::Default | Mode::AutoEdit => changed,
    }
}

/// Returns whether the turn of a step runs: its sandbox stays as it was when the turn began.
fn has_step_turn(state: &RunState) -> bool {
    let running = state.running.as_ref();
    running.is_some_and(|turn| turn.order.purpose.may_write())
}

/// Asks whether to go back to the goal.
pub fn stop_to_goal(state: Option<&RunState>, keymap: &ActiveKeymap) -> CommandOutcome {
    match state.map(|state| state.phase) {
        Some(
            phase @ (Phase::WritePlan
            | Phase::Review
            | Phase::Respond
            | Phase::Approved
            | Phase::Execute),
        ) => CommandOutcome::ask(confirmations::stop_run(phase, keymap)),
        Some(Phase::RefineGoal) => interrupt_turn(state),
        Some(Phase::Init | Phase::Done | Phase::Cancelled) | None => {
            CommandOutcome::refuse("There is nothing to stop.")
        }
    }
}

/// Interrupts the running turn, or the tests.
pub fn interrupt_turn(state: Option<&RunState>) -> CommandOutcome {
    let tests_run = state.is_some_and(|state| state.busy == Some(ProgramOperation::Baseline));
    let is_interruptible =
        |state: &&RunState| state.running.is_some() || state.may_interrupt_step_tests();
    match state.filter(is_interruptible) {
        Some(_) => CommandOutcome::record(Event::InterruptRequested),
        None if tests_run => CommandOutcome::record(Event::BaselineStopped),
        None => CommandOutcome::refuse("No turn is running."),
    }
}

/// Asks whether to cancel the run.
pub fn cancel_run(state: Option<&RunState>) -> CommandOutcome {
    match state {
        Some(state) if !state.phase.is_final() => CommandOutcome::ask(confirmations::cancel_run()),
        Some(_) | None => CommandOutcome::refuse("There is no run to cancel."),
    }
}

/// Resumes the unfinished run.
pub fn resume_run(state: Option<&RunState>) -> CommandOutcome {
    if state.is_some_and(|state| !state.phase.is_final()) {
        return CommandOutcome::refuse("A run is open. Cancel it before you start another.");
    }
    CommandOutcome::act(Action::Resume)
}

/// Answers the first pending request of an agent.
pub fn decide_call(state: Option<&RunState>, answer: ApprovalDecision) -> CommandOutcome {
    match state.and_then(|state| state.approvals.first()) {
        Some(approval) => CommandOutcome::act(Action::AnswerApproval {
            call: approval.n,
            answer,
        }),
        None => CommandOutcome::refuse("No request of an agent is waiting."),
    }
}

/// Answers the open question with the name of an answer.
pub fn answer_question(state: Option<&RunState>, word: &str) -> CommandOutcome {
    let Some(question) = state.and_then(RunState::current_question) else {
        return CommandOutcome::refuse("No question is open.");
    };
    if matches!(question.kind, QuestionKind::Gate { .. }) && word == "go" {
        return CommandOutcome::record(Event::TurnSendConfirmed);
    }
    match question.kind.parse_answer(word) {
        Some(QuestionAnswer::CancelRun) => CommandOutcome::ask(confirmations::cancel_run()),
        Some(answer) => CommandOutcome::record(Event::QuestionAnswered {
            id: question.id,
            answer,
        }),
        None => {
            let choices = match question.kind.choices() {
                [] => "a key of its dialog".to_owned(),
                choices => choices.join(", "),
            };
            CommandOutcome::refuse(&format!(
                "`{word}` is not an answer here. Answers: {choices}"
            ))
        }
    }
}

/// Requests changes to the approved plan.
pub fn request_changes(state: Option<&RunState>, text: &str) -> CommandOutcome {
    let question = state.and_then(RunState::current_question);
    match question.map(|question| &question.kind) {
        Some(QuestionKind::Execute { .. }) => answer_question(state, &format!("changes:{text}")),
        Some(_) | None => CommandOutcome::refuse("No approved plan is waiting for you."),
    }
}

/// Exports the run as one page.
pub fn export_run(form: ExportFormat, state: Option<&RunState>) -> CommandOutcome {
    if state.is_none() {
        return CommandOutcome::refuse("No run to export yet. /history lists earlier runs.");
    }
    CommandOutcome::act(Action::ExportRun(form)).with_note("Writing the page …")
}

/// Requests a preview of the undo; the dialog opens with the answer.
pub fn request_undo(wish: UndoRequest, state: Option<&RunState>) -> CommandOutcome {
    // Without an open run, the program opens the finished one of this repository for it.
    match state.and_then(RunState::undo_blocker) {
        Some(why) => CommandOutcome::refuse(&why),
        None => CommandOutcome::act(Action::Undo(wish)).with_note("Checking what it would do …"),
    }
}

pub fn skip_step(state: Option<&RunState>, step: u32, reason: String) -> CommandOutcome {
    change_unfinished_step(state, step, Event::StepSkipped { step, reason })
}

/// Has a step planned again; a running turn ends.
pub fn replan_step(state: Option<&RunState>, step: u32, reason: String) -> CommandOutcome {
    let step_again = Some(step);
    let entered = Event::PlanEntered {
        reason,
        step: step_again,
    };
    change_unfinished_step(state, step, entered)
}

fn change_unfinished_step(state: Option<&RunState>, step: u32, event: Event) -> CommandOutcome {
    let Some(state) = state else {
        return CommandOutcome::refuse("No plan is being executed.");
    };
    let is_replan = matches!(event, Event::PlanEntered { .. });
    let blocker = if is_replan {
        state.replan_blocker(step)
    } else {
        state.skip_blocker(step)
    };
    if let Some(why) = blocker {
        return CommandOutcome::refuse(&why);
    }
    let current = state.execution.as_ref().and_then(|e| e.current.as_ref());
    let is_current = current.is_some_and(|current| current.n == step);
    let mut events = Vec::new();
    if state.running.is_some() && (is_current || is_replan) {
        events.push(Event::InterruptRequested);
    }
    events.push(event);
    CommandOutcome::act_all(events.into_iter().map(Action::Event).collect())
}

/// Lists the child sessions of the run.
pub fn list_children(state: Option<&RunState>) -> CommandOutcome {
    match state.map(|state| state.children.as_slice()) {
        None | Some([]) => {
            CommandOutcome::refuse("No tasks in this run yet. Give one with /task AGENT TEXT.")
        }
        Some(children) => CommandOutcome::ask(child_session_list::child_list_dialog(children)),
    }
}

/// Lists the agents, or shows one by its name.
pub fn show_agents(name: &str, agents: &[AgentEntry], state: Option<&RunState>) -> CommandOutcome {
    if agents.is_empty() {
        return CommandOutcome::refuse("The agents are listed once the configuration is read.");
    }
    match agent_dialogs::build_dialog(name, agents, state) {
        Ok(dialog) => CommandOutcome::ask(dialog),
        Err(why) => CommandOutcome::refuse(&why),
    }
}

/// Gives a task to an agent. An unknown name is reported before anything is started.
pub fn give_task(agent: String, prompt: String, agents: &[AgentEntry]) -> CommandOutcome {
    match agent_dialogs::unknown_task_agent(&agent, agents) {
        Some(why) => CommandOutcome::refuse(&why),
        None => CommandOutcome::act(Action::GiveTask { agent, prompt }),
    }
}
