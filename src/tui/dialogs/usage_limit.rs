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
        return ChoiceDialog::new(question_dialog_id(id), "The run waits");
    };
    let role = purpose.role();
    let title = format!("{} usage limit reached", to_one_line(adapter));
    let until = clock.time_with_minutes(*until);
    let who = purpose.agent_name();
    let next = match then {
        Gate::Auto => format!("The {who} then continues automatically."),
        Gate::Manual => format!("The {who} then waits for you."),
    };
    let goes = match (from, then) {
        (WaitSource::Cli, Gate::Auto) => format!("The {who} continues at {until}."),
        (WaitSource::Cli, Gate::Manual) => format!("It resets at {until}. {next}"),
        (WaitSource::Us, Gate::Auto | Gate::Manual) => {
            format!("The reset time is unknown. The next try is at {until}. {next}")
        }
    };
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title)
        .with_text(&goes, theme::PLAIN)
        .with_text(message, theme::QUIET);
    sheet.full_text = Some((title, message.clone()));
    let wait = match then {
        Gate::Auto => ("Wait", Vec::new()),
        Gate::Manual => {
            let waits = Event::QuestionAnswered {
                id,
                answer: QuestionAnswer::Wait,
            };
            let label = "Wait, then continue";
            (label, vec![Action::Event(waits)])
        }
    };
    let sheet = sheet
        .with_choice('w', wait.0, ChoiceAction::PutAside(wait.1))
        .with_choice(
            'r',
            "Try again now",
            answer_question(id, QuestionAnswer::Retry),
        );
    add_adapter_switch(sheet, id, role, other.as_deref(), state)
        .with_choice('b', "Stop and return to the goal", confirm_back_to_goal(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
}
