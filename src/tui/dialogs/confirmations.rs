//! Dialogs that ask for confirmation before an action that a key cannot undo.

use crate::domain::event::Event;
use crate::domain::phase::{Mode, Phase};
use crate::domain::question::QuestionAnswer;
use crate::domain::run::{ProgramOperation, RunState};
use crate::text::pluralize;
use crate::tui::action::Action;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, EmptyComposerEnter, StopKind};
use crate::tui::keymap::{ActiveKeymap, ComposerFocus};
use crate::tui::theme;

/// Shown when the turn ended behind the dialog.
const HELD_TURN_NOTE: &str = "No turn runs now. The next one waits for this answer.";

/// Asks whether to cancel the run.
pub fn cancel_run() -> ChoiceDialog {
    build_confirmation(
        "cancel",
        "cancel the run?",
        "The run ends here. It goes to the history when the next one begins. Files and commits stay as they are.",
        ("cancel the run", Action::Event(Event::RunCancelled)),
    )
    .until_answered(StopKind::Cancel)
}

/// Asks whether to stop and return to the goal. The text names the keys that do less.
pub fn stop_run(phase: Phase, keymap: &ActiveKeymap) -> ChoiceDialog {
    let key = |action| keymap.key_label(action, ComposerFocus::Unfocused);
    let less = format!(
        "A turn that runs is interrupted, and the run goes back to the goal: once you confirm it again, a plan is written \
         anew. Files stay.\nTo end only the turn, press {}; to let it end and hold the next one, Esc and then {}.",
        key("interrupt"),
        key("pause")
    );
    let (title, text) = match phase {
        Phase::Execute => (
            "stop the execution?",
            "A turn that runs is interrupted, the run goes back to the goal. Files and commits stay.",
        ),
        _ => ("stop, back to the goal?", less.as_str()),
    };
    let yes = ("stop, back to the goal", Action::Event(Event::RunStopped));
    build_confirmation("stop", title, text, yes).until_answered(StopKind::ToGoal)
}

/// Asks whether to answer a question by dropping the plan and returning to the goal.
pub fn return_to_goal(id: u32) -> ChoiceDialog {
    let answer = QuestionAnswer::Stop;
    build_confirmation(
        "back-to-goal",
        "stop, back to the goal?",
        "What was planned and done so far is put aside; once you confirm the goal again, a plan is written anew. Files \
         and commits stay.",
        (
            "stop, back to the goal",
            Action::Event(Event::QuestionAnswered { id, answer }),
        ),
    )
    .until_answered(StopKind::ByAnswer { id })
}

/// Asks whether to let a plan pass that the review did not approve.
pub fn force_pass(id: u32, open: usize) -> ChoiceDialog {
    let findings = pluralize(open, "finding");
    let stays = match open {
        1 => "stays",
        _ => "stay",
    };
    let answered = Event::QuestionAnswered {
        id,
        answer: QuestionAnswer::ForcePass,
    };
    build_confirmation(
        "force-pass",
        "let the plan pass without the reviewer's approval?",
        &format!(
            "The review ends here, and {findings} {stays} open. The plan can be executed then."
        ),
        ("let it pass", Action::Event(answered)),
    )
}

/// Asks whether to leave the execution and plan again.
pub fn replan() -> ChoiceDialog {
    let entered = Event::PlanEntered {
        reason: "you want the plan written anew".to_owned(),
    };
    ChoiceDialog::new("confirm plan-anew", "back to planning?")
        .with_text(
            "A turn that runs is interrupted, and the planner writes the plan anew. Files and commits stay.",
            theme::PLAIN,
        )
        .with_choice(
            'y',
            "back to planning",
            ChoiceAction::ActAndClose(vec![
                Action::Event(Event::InterruptRequested),
                Action::Event(entered),
            ]),
        )
        .with_choice('n', "no, back", ChoiceAction::Close)
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
            Some("Files are being put back. Wait until that is done, then ask again.")
        }
        _ if state.phase.is_final() => Some("The run is over by now."),
        StopKind::ToGoal | StopKind::ByAnswer { .. } if is_at_goal => {
            Some("The run is back at its goal already.")
        }
        StopKind::Replan if state.phase != Phase::Execute => {
            Some("The run no longer executes its plan.")
        }
        _ => None,
    }
}

fn remove_stop_choice(sheet: &ChoiceDialog, why: &str) -> ChoiceDialog {
    let mut sheet = sheet.clone().with_first_choice(0).without_body();
    sheet.title = "nothing left to stop".to_owned();
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
            choice.label = format!("{} (over by now)", choice.label);
            choice.action = ChoiceAction::Close;
        }
    }
    sheet
}

/// Asks whether to let nearly everything run without approval.
pub fn enable_yolo_mode() -> ChoiceDialog {
    build_confirmation(
        "yolo",
        "mode yolo: let agents act without asking?",
        "Edits and commands that would ask you go ahead unseen. Still asked: dangerous commands, what lies outside \
         the repository, and calls that repeat without end; .git and .agent-collab stay closed. It ends with this program.",
        (
            "yolo, until I say otherwise",
            Action::Event(Event::ModeChanged { mode: Mode::Yolo }),
        ),
    )
    .until_closed()
}

/// Asks a second time before a turn is sent.
pub fn send_turn(what: &str) -> ChoiceDialog {
    let mut sheet = build_confirmation(
        "release",
        "release it now? (confirm_enter)",
        what,
        ("release this turn", Action::Event(Event::TurnSendConfirmed)),
    );
    // The user saw what the first Enter did; the second one is the confirmation.
    sheet.first_choice = 0;
    sheet.empty_composer_enter = EmptyComposerEnter::CarriesOutChoice;
    sheet
}

#[cfg_attr(test, track_caller)]
fn build_confirmation(id: &str, title: &str, text: &str, yes: (&str, Action)) -> ChoiceDialog {
    let (label, action) = yes;
    ChoiceDialog::new(format!("confirm {id}"), title)
        .with_text(text, theme::PLAIN)
        .with_choice('y', label, ChoiceAction::ActAndClose(vec![action]))
        .with_choice('n', "no, back", ChoiceAction::Close)
        .with_first_choice(1)
}
