//! Dialogs that ask for confirmation before an action that a key cannot undo.

use crate::domain::event::Event;
use crate::domain::phase::{Mode, Phase};
use crate::domain::question::QuestionAnswer;
use crate::domain::run::{ProgramOperation, RunState};
use crate::text::pluralize;
use crate::tui::action::Action;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, DialogWeight, EmptyComposerEnter, StopKind};
use crate::tui::keymap::{ActiveKeymap, ComposerFocus};
use crate::tui::theme;

/// Shown when the turn ended behind the dialog.
const HELD_TURN_NOTE: &str = "No turn is running. The next one waits for your answer.";

/// Asks whether to cancel the run.
pub fn cancel_run() -> ChoiceDialog {
    build_confirmation(
        "cancel",
        "Cancel the run?",
        "The run ends here and moves to the history when the next one starts. Files and commits stay as they are.",
        ("Cancel the run", Action::Event(Event::RunCancelled)),
    )
    .until_answered(StopKind::Cancel)
}

/// Asks whether to stop and return to the goal. The text names the keys that do less.
pub fn stop_run(phase: Phase, keymap: &ActiveKeymap) -> ChoiceDialog {
    let key = |action| keymap.key_label(action, ComposerFocus::Unfocused);
    let less = format!(
        "A running turn is interrupted and the run goes back to the goal. Once you confirm it again, the \
        planner writes a new plan. Files stay.\nTo end only the turn, press {}. To let it finish and stop \
        before the next one, press Esc and then {}.",
        key("interrupt"),
        key("pause")
    );
    let (title, text) = match phase {
        Phase::Execute => (
            "Stop running the plan?",
            "A running turn is interrupted and the run goes back to the goal. Files and commits stay.",
        ),
        _ => ("Stop and return to the goal?", less.as_str()),
    };
    let yes = (
        "Stop and return to the goal",
        Action::Event(Event::RunStopped),
    );
    build_confirmation("stop", title, text, yes).until_answered(StopKind::ToGoal)
}

/// Asks whether to answer a question by dropping the plan and returning to the goal.
pub fn return_to_goal(id: u32) -> ChoiceDialog {
    let answer = QuestionAnswer::Stop;
    build_confirmation(
        "back-to-goal",
        "Stop and return to the goal?",
        "The plan and its progress are set aside. Once you confirm the goal again, the planner writes a new \
        plan. Files and commits stay.",
        (
            "Stop and return to the goal",
            Action::Event(Event::QuestionAnswered { id, answer }),
        ),
    )
    .until_answered(StopKind::ByAnswer { id })
}

/// Asks whether to let a plan pass that the review did not approve.
pub fn force_pass(id: u32, open: usize) -> ChoiceDialog {
    let findings = pluralize(open, "finding");
    let answered = Event::QuestionAnswered {
        id,
        answer: QuestionAnswer::ForcePass,
    };
    build_confirmation(
        "force-pass",
        "Force the plan past its review?",
        &format!("The review ends here with {findings} open. You can then run the plan."),
        ("Approve anyway", Action::Event(answered)),
    )
}

/// Asks whether to give an answer that overwrites or discards something; `None` for any other answer.
pub fn confirm_answer(id: u32, answer: &QuestionAnswer) -> Option<ChoiceDialog> {
    let (name, title, text, label) = match answer {
        QuestionAnswer::Overwrite => (
            "overwrite",
            "Replace your text?",
            "The agent's text takes its place. Yours stays in history/conflicts/.",
            "Use the agent's text",
        ),
        QuestionAnswer::Discard => (
            "discard",
            "Discard what the turn wrote?",
            "The turn runs again. A copy of the text stays in history/conflicts/.",
            "Discard it and repeat the turn",
        ),
        QuestionAnswer::PutBack => (
            "put-back",
            "Restore these files?",
            "They return to their state before the step. Their current content stays in git, and the log names it.",
            "Restore the files",
        ),
        QuestionAnswer::RedoStep => (
            "redo-step",
            "Discard the step's changes?",
            "The working tree returns to before the step, and the step starts again.",
            "Discard changes, redo the step",
        ),
        QuestionAnswer::ForcePass
        | QuestionAnswer::MoreIterations { .. }
        | QuestionAnswer::DecideDispute { .. }
        | QuestionAnswer::EditByHand
        | QuestionAnswer::CancelRun
        | QuestionAnswer::Edited { .. }
        | QuestionAnswer::ReviewAgain
        | QuestionAnswer::AcceptAsIs
        | QuestionAnswer::Execute
        | QuestionAnswer::ExecuteByFlag
        | QuestionAnswer::SwitchTest
        | QuestionAnswer::SendNotes
        | QuestionAnswer::RequestChanges { .. }
        | QuestionAnswer::Retry
        | QuestionAnswer::NewSession
        | QuestionAnswer::Wait
        | QuestionAnswer::SwitchAdapter
        | QuestionAnswer::Stop
        | QuestionAnswer::Texts { .. }
        | QuestionAnswer::Dismiss
        | QuestionAnswer::Merge
        | QuestionAnswer::UseDraft
        | QuestionAnswer::Include
        | QuestionAnswer::LeaveOut
        | QuestionAnswer::Allow
        | QuestionAnswer::Keep
        | QuestionAnswer::SkipTests
        | QuestionAnswer::AlreadyTrue
        | QuestionAnswer::SkipStep { .. }
        | QuestionAnswer::AmendStep { .. }
        | QuestionAnswer::ReplanStep { .. }
        | QuestionAnswer::WaiveProof { .. }
        | QuestionAnswer::FixFirst
        | QuestionAnswer::HostNetwork
        | QuestionAnswer::LoopbackNetwork
        | QuestionAnswer::ReachSocket
        | QuestionAnswer::HideSocket
        | QuestionAnswer::WithoutCommit
        | QuestionAnswer::ContinueStep
        | QuestionAnswer::TreatAsDone => return None,
    };
    let answer = answer.clone();
    let yes = Action::Event(Event::QuestionAnswered { id, answer });
    Some(build_confirmation(name, title, text, (label, yes)))
}

/// Asks whether to leave the execution and plan again.
pub fn replan() -> ChoiceDialog {
    let entered = Event::PlanEntered {
        reason: "a new plan is wanted".to_owned(),
        step: None,
    };
    ChoiceDialog::new("confirm plan-anew", "Plan again?")
        .with_weight(DialogWeight::Destructive)
        .with_text(
            "A running turn is interrupted and the planner writes a new plan. Files and commits stay.",
            theme::PLAIN,
        )
        .with_choice(
            'y',
            "Plan again",
            ChoiceAction::ActAndClose(vec![
                Action::Event(Event::InterruptRequested),
                Action::Event(entered),
            ]),
        )
        .with_choice('n', "No, change nothing", ChoiceAction::Close)
        .with_first_choice(1)
        .until_answered(StopKind::Replan)
}

/// Updates an open stop dialog to the current state: the run continues behind it, but starts no turn.
pub fn refresh_stop_dialog(
    sheet: &ChoiceDialog,
    stops: StopKind,
    state: &RunState,
    keymap: &ActiveKeymap,
) -> ChoiceDialog {
    if let Some(why) = stop_blocker(stops, state) {
        return remove_stop_choice(sheet, why);
    }
    let sheet = match stops {
        StopKind::ToGoal => stop_run(state.phase, keymap),
        StopKind::ByAnswer { id }
            if state.current_question().is_none_or(|asked| asked.id != id) =>
        {
            stop_without_answer(sheet)
        }
        StopKind::ByAnswer { .. } | StopKind::Replan | StopKind::Cancel => sheet.clone(),
        StopKind::Task => mark_ended_tasks(sheet, state),
        StopKind::Quit => return sheet.clone(),
    };
    match state.busy {
        Some(ProgramOperation::Held { .. }) => sheet.with_text(HELD_TURN_NOTE, theme::PLAIN),
        _ => sheet,
    }
}

/// Returns the reason why stopping now would have no effect.
fn stop_blocker(stops: StopKind, state: &RunState) -> Option<&'static str> {
    let is_of_run = !matches!(stops, StopKind::Quit | StopKind::Task);
    let is_at_goal = matches!(state.phase, Phase::Init | Phase::RefineGoal);
    match stops {
        _ if !is_of_run => None,
        _ if matches!(state.busy, Some(ProgramOperation::Reversing { .. })) => {
            Some("Files are being restored. Wait until that is done, then try again.")
        }
        _ if state.phase.is_final() => Some("The run has finished."),
        StopKind::ToGoal | StopKind::ByAnswer { .. } if is_at_goal => {
            Some("The run is already back at its goal.")
        }
        StopKind::Replan if state.phase != Phase::Execute => {
            Some("The run is no longer running its plan.")
        }
        _ => None,
    }
}

fn remove_stop_choice(sheet: &ChoiceDialog, why: &str) -> ChoiceDialog {
    let mut sheet = sheet.clone().with_first_choice(0).without_body();
    sheet.weight = DialogWeight::Routine;
    sheet.title = "Nothing left to stop".to_owned();
    sheet
        .choices
        .retain(|choice| choice.action == ChoiceAction::Close);
    sheet.with_text(why, theme::PLAIN)
}

/// Makes the dialog stop the run directly, because the question that the stop would have answered is no
/// longer open.
fn stop_without_answer(sheet: &ChoiceDialog) -> ChoiceDialog {
    let mut sheet = sheet.clone();
    let choices = sheet.choices.iter_mut();
    for choice in choices.filter(|choice| choice.action != ChoiceAction::Close) {
        choice.action = ChoiceAction::ActAndClose(vec![Action::Event(Event::RunStopped)]);
    }
    sheet
}

/// Marks tasks that ended. They keep their keys, so that each key still means the same task.
fn mark_ended_tasks(sheet: &ChoiceDialog, state: &RunState) -> ChoiceDialog {
    let runs = |action: &Action| match action {
        Action::StopChild(session) => {
            let mut children = state.children.iter();
            children.any(|child| child.session_id() == session && child.is_running())
        }
        _ => true,
    };
    let mut sheet = sheet.clone();
    for choice in &mut sheet.choices {
        if let ChoiceAction::ActAndClose(actions) = &choice.action
            && !actions.iter().all(runs)
        {
            choice.label = format!("{} (finished)", choice.label);
            choice.action = ChoiceAction::Close;
        }
    }
    sheet
}

/// Asks whether to let nearly everything run without approval.
pub fn enable_yolo_mode() -> ChoiceDialog {
    build_confirmation(
        "yolo",
        "Give agents full access?",
        "Only the safety rules still ask: about dangerous commands, files outside the repository and endless \
        repeats. .git and .agent-collab stay closed. It lasts until you quit.",
        (
            "Give full access",
            Action::Event(Event::ModeChanged { mode: Mode::Yolo }),
        ),
    )
    .with_weight(DialogWeight::Permission)
    .until_closed()
}

/// Asks a second time before a turn is sent.
pub fn send_turn(what: &str) -> ChoiceDialog {
    let mut sheet = build_confirmation(
        "release",
        "Send it now? (confirm_enter)",
        what,
        ("Send", Action::Event(Event::TurnSendConfirmed)),
    )
    .with_weight(DialogWeight::Routine);
    // The user saw what the first Enter did; the second one is the confirmation.
    sheet.first_choice = 0;
    sheet.empty_composer_enter = EmptyComposerEnter::CarriesOutChoice;
    sheet
}

/// Builds the panel of a choice that destroys something, which is thereby carried out by a second key.
#[cfg_attr(test, track_caller)]
fn build_confirmation(id: &str, title: &str, text: &str, yes: (&str, Action)) -> ChoiceDialog {
    let (label, action) = yes;
    ChoiceDialog::new(format!("confirm {id}"), title)
        .with_weight(DialogWeight::Destructive)
        .with_text(text, theme::PLAIN)
        .with_choice('y', label, ChoiceAction::ActAndClose(vec![action]))
        .with_choice('n', "No, change nothing", ChoiceAction::Close)
        .with_first_choice(1)
}
