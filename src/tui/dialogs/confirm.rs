//! Dialogs that ask once more before something that cannot be taken back by a key.

use crate::domain::event::Event;
use crate::domain::phase::{Mode, Phase};
use crate::domain::question::QuestionAnswer;
use crate::domain::run::{ProgramOperation, RunState};
use crate::text::pluralize;
use crate::tui::action::Action;
use crate::tui::keymap::{IsWriting, Keymap};
use crate::tui::sheet::{FromComposer, Sheet, StopKind, Then};
use crate::tui::theme;

/// What is added where the turn ended behind the dialog.
const HELD: &str = "No turn runs now. The next one waits for this answer.";

/// Gives the run up?
pub fn cancel() -> Sheet {
    asked(
        "cancel",
        "cancel the run?",
        "The run ends here. It goes to the history when the next one begins. Files and commits stay as they are.",
        ("cancel the run", Action::Event(Event::RunCancelled)),
    )
    .until_answered(StopKind::Cancel)
}

/// Stops, and goes back to the goal? What does less is named by its keys.
pub fn stop(phase: Phase, keymap: &Keymap) -> Sheet {
    let key = |action| keymap.named(action, IsWriting::No);
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
    asked("stop", title, text, yes).until_answered(StopKind::ToGoal)
}

/// Answers a question by giving up what was planned?
pub fn back_to_the_goal(id: u32) -> Sheet {
    let answer = QuestionAnswer::Stop;
    asked(
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

/// Lets a plan pass that the review did not approve?
pub fn force_pass(id: u32, open: usize) -> Sheet {
    let findings = pluralize(open, "finding");
    let stays = match open {
        1 => "stays",
        _ => "stay",
    };
    let answered = Event::QuestionAnswered {
        id,
        answer: QuestionAnswer::ForcePass,
    };
    asked(
        "force-pass",
        "let the plan pass without the reviewer's approval?",
        &format!(
            "The review ends here, and {findings} {stays} open. The plan can be executed then."
        ),
        ("let it pass", Action::Event(answered)),
    )
}

/// Leaves the execution, and plans anew?
pub fn plan_anew() -> Sheet {
    let entered = Event::PlanEntered {
        reason: "you want the plan written anew".to_owned(),
    };
    Sheet::new("confirm plan-anew", "back to planning?")
        .says(
            "A turn that runs is interrupted, and the planner writes the plan anew. Files and commits stay.",
            theme::PLAIN,
        )
        .offers(
            'y',
            "back to planning",
            Then::ActAndBack(vec![
                Action::Event(Event::InterruptRequested),
                Action::Event(entered),
            ]),
        )
        .offers('n', "no, back", Then::Back)
        .first(1)
        .until_answered(StopKind::PlanAnew)
}

/// The dialog that asks whether to stop, as things are now: the run goes on behind it, but starts no turn.
pub fn refreshed(sheet: &Sheet, stops: StopKind, state: &RunState, keymap: &Keymap) -> Sheet {
    if let Some(why) = nothing_to_stop(stops, state) {
        return without_a_stop(sheet, why);
    }
    let sheet = match stops {
        StopKind::ToGoal => stop(state.phase, keymap),
        StopKind::ByAnswer { id }
            if state.current_question().is_none_or(|asked| asked.id != id) =>
        {
            stopping_at_once(sheet)
        }
        StopKind::ByAnswer { .. } | StopKind::PlanAnew | StopKind::Cancel => sheet.clone(),
        StopKind::Task => naming_what_is_over(sheet, state),
        StopKind::Leave => return sheet.clone(),
    };
    match state.busy {
        Some(ProgramOperation::Held { .. }) => sheet.says(HELD, theme::PLAIN),
        _ => sheet,
    }
}

/// Why nothing would come of stopping now.
fn nothing_to_stop(stops: StopKind, state: &RunState) -> Option<&'static str> {
    let is_of_run = !matches!(stops, StopKind::Leave | StopKind::Task);
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
        StopKind::PlanAnew if state.phase != Phase::Execute => {
            Some("The run no longer executes its plan.")
        }
        _ => None,
    }
}

fn without_a_stop(sheet: &Sheet, why: &str) -> Sheet {
    let mut sheet = sheet.clone().first(0).saying_nothing();
    sheet.title = "nothing left to stop".to_owned();
    sheet.choices.retain(|choice| choice.then == Then::Back);
    sheet.says(why, theme::PLAIN)
}

/// The question that was to be answered with a stop is no longer open: the run is stopped without it.
fn stopping_at_once(sheet: &Sheet) -> Sheet {
    let mut sheet = sheet.clone();
    let choices = sheet.choices.iter_mut();
    for choice in choices.filter(|choice| choice.then != Then::Back) {
        choice.then = Then::ActAndBack(vec![Action::Event(Event::RunStopped)]);
    }
    sheet
}

/// Says of tasks that have ended that they have; their keys stay, so that each key still means the same task.
fn naming_what_is_over(sheet: &Sheet, state: &RunState) -> Sheet {
    let runs = |action: &Action| match action {
        Action::StopChild(session) => {
            let mut children = state.children.iter();
            children.any(|child| child.session_id() == session && child.is_running())
        }
        _ => true,
    };
    let mut sheet = sheet.clone();
    for choice in &mut sheet.choices {
        if let Then::ActAndBack(actions) = &choice.then
            && !actions.iter().all(runs)
        {
            choice.label = format!("{} (over by now)", choice.label);
            choice.then = Then::Back;
        }
    }
    sheet
}

/// Lets nearly everything run unasked?
pub fn yolo() -> Sheet {
    asked(
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

/// Releases a turn, asked twice.
pub fn release(what: &str) -> Sheet {
    let mut sheet = asked(
        "release",
        "release it now? (confirm_enter)",
        what,
        ("release this turn", Action::Event(Event::TurnSendConfirmed)),
    );
    // The second Enter is the confirmation; the first one was seen.
    sheet.first = 0;
    sheet.from_composer = FromComposer::Yes;
    sheet
}

#[cfg_attr(test, track_caller)]
fn asked(id: &str, title: &str, text: &str, yes: (&str, Action)) -> Sheet {
    let (label, action) = yes;
    Sheet::new(format!("confirm {id}"), title)
        .says(text, theme::PLAIN)
        .offers('y', label, Then::ActAndBack(vec![action]))
        .offers('n', "no, back", Then::Back)
        .first(1)
}
