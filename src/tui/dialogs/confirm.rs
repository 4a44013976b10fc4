//! Dialogs that ask once more before something that cannot be taken back by a key.

use crate::domain::event::Event;
use crate::domain::phase::{Mode, Phase};
use crate::domain::question::Answer;
use crate::tui::action::Action;
use crate::tui::keymap::{IsWriting, Keymap};
use crate::tui::sheet::{FromComposer, Sheet, Then};
use crate::tui::theme;

/// Gives the run up?
pub fn cancel() -> Sheet {
    asked(
        "cancel",
        "cancel the run?",
        "The run ends here and goes to the history. Files and commits stay as they are.",
        ("cancel the run", Action::Event(Event::Cancelled)),
    )
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
            "The step at hand is interrupted, the run goes back to the goal. Files and commits stay.",
        ),
        _ => ("stop, back to the goal?", less.as_str()),
    };
    let yes = ("stop, back to the goal", Action::Event(Event::Stopped));
    asked("stop", title, text, yes)
}

/// Answers a question by giving up what was planned?
pub fn back_to_the_goal(id: u32) -> Sheet {
    let answer = Answer::Stop;
    asked(
        "back-to-goal",
        "stop, back to the goal?",
        "What was planned and done so far is put aside; once you confirm the goal again, a plan is written anew. Files \
         and commits stay.",
        (
            "stop, back to the goal",
            Action::Event(Event::Answered { id, answer }),
        ),
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
                Action::Event(Event::Interrupted),
                Action::Event(entered),
            ]),
        )
        .offers('n', "no, back", Then::Back)
        .first(1)
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
}

/// Releases a turn, asked twice.
pub fn release(what: &str) -> Sheet {
    let mut sheet = asked(
        "release",
        "release it now? (confirm_enter)",
        what,
        ("release this turn", Action::Event(Event::Released)),
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
