//! Dialog: a CLI's usage limit is reached; the run waits and continues by itself.

use super::{
    add_adapter_switch, answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id,
};
use crate::domain::event::Event;
use crate::domain::phase::Gate;
use crate::domain::question::{QuestionAnswer, QuestionKind, WaitSource};
use crate::domain::run::RunState;
use crate::tui::Action;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog};
use crate::tui::labels::LocalClock;
use crate::tui::text_wrap::to_one_line;
use crate::tui::theme;

pub(super) fn build_dialog(
    id: u32,
    kind: &QuestionKind,
    state: &RunState,
    clock: LocalClock,
) -> ChoiceDialog {
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
        return ChoiceDialog::new(question_dialog_id(id), "the run waits");
    };
    let role = purpose.role();
    let title = format!("{}'s usage limit is reached", to_one_line(adapter));
    let until = clock.time_with_minutes(*until);
    let when = match from {
        WaitSource::Cli => format!("It ends at {until}."),
        WaitSource::Us => format!("Nobody told when it ends; the next try is at {until}."),
    };
    let goes = match then {
        Gate::Auto => format!("The turn of the {} goes again then by itself.", role.name()),
        Gate::Manual => format!("The turn of the {} waits for you then.", role.name()),
    };
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title)
        .with_text(&format!("{when} {goes}"), theme::PLAIN)
        .with_text(message, theme::QUIET);
    sheet.full_text = Some((title, message.clone()));
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
    let sheet = sheet
        .with_choice('w', wait.0, ChoiceAction::PutAside(wait.1))
        .with_choice(
            'r',
            "try again now",
            answer_question(id, QuestionAnswer::Retry),
        );
    add_adapter_switch(sheet, id, role, other.as_deref(), state)
        .with_choice('b', "stop, back to the goal", confirm_back_to_goal(id))
        .with_choice('c', "cancel the run", confirm_cancel())
}
