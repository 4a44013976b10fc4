//! Dialog: a CLI's plan is used up; the run waits and goes on by itself.

use super::{answer, back_to_the_goal, cancel, identity, offers_the_move};
use crate::domain::event::Event;
use crate::domain::phase::Gate;
use crate::domain::question::{QuestionAnswer, QuestionKind, WaitSource};
use crate::domain::run::RunState;
use crate::tui::Action;
use crate::tui::sheet::{Sheet, Then};
use crate::tui::theme;
use crate::tui::words::Clock;
use crate::tui::wrap::one_line;

pub(super) fn sheet(id: u32, kind: &QuestionKind, state: &RunState, clock: Clock) -> Sheet {
    let QuestionKind::UsageLimit {
        purpose,
        adapter,
        message,
        until,
        from,
        then,
        other,
    } = kind
    else {
        return Sheet::new(identity(id), "the run waits");
    };
    let role = purpose.role();
    let title = format!("{}'s usage limit is reached", one_line(adapter));
    let until = clock.minute(*until);
    let when = match from {
        WaitSource::Cli => format!("It ends at {until}."),
        WaitSource::Us => format!("Nobody told when it ends; the next try is at {until}."),
    };
    let goes = match then {
        Gate::Auto => format!("The turn of the {} goes again then by itself.", role.name()),
        Gate::Manual => format!("The turn of the {} waits for you then.", role.name()),
    };
    let mut sheet = Sheet::new(identity(id), &title)
        .says(&format!("{when} {goes}"), theme::PLAIN)
        .says(message, theme::QUIET);
    sheet.whole = Some((title, message.clone()));
    let wait = match then {
        Gate::Auto => ("wait", Vec::new()),
        Gate::Manual => {
            let waits = Event::QuestionAnswered {
                id,
                answer: QuestionAnswer::Wait,
            };
            let label = "wait, and go on by itself then";
            (label, vec![Action::Event(waits)])
        }
    };
    let sheet = sheet.offers('w', wait.0, Then::PutAside(wait.1)).offers(
        'r',
        "try again now",
        answer(id, QuestionAnswer::Retry),
    );
    offers_the_move(sheet, id, (role, other.as_deref()), state)
        .offers('b', "stop, back to the goal", back_to_the_goal(id))
        .offers('c', "cancel the run", cancel())
}
