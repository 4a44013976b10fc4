//! Dialog before the first goal: the repository contains instructions for agents, and is not trusted.

use crate::domain::instructions_choice::InstructionsChoice;
use crate::tui::action::Action;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog};
use crate::tui::text_wrap::to_one_line;
use crate::tui::theme;

const EXPLANATION: &str = "This repository is not trusted, so nothing in it instructs agents until you say so. Your answer holds until \
                   these texts change; `agent-collab trust` lets its settings count as well.";

/// Asks about files, each with its text; Enter leaves the files out.
pub fn build_dialog(files: &[(String, String)]) -> ChoiceDialog {
    let title = match files {
        [(name, _)] => format!("send {} to the agents?", to_one_line(name)),
        [(name, _), rest @ ..] => {
            format!(
                "send {} and {} more like it to the agents?",
                to_one_line(name),
                rest.len()
            )
        }
        [] => "send the instructions to the agents?".to_owned(),
    };
    let mut sheet =
        ChoiceDialog::new("instructions", &title).with_reason(EXPLANATION, theme::QUIET);
    let mut whole = Vec::new();
    for (name, text) in files {
        let name = to_one_line(name);
        sheet = sheet
            .with_text(&format!("{name}:"), theme::STRONG)
            .with_text(text.trim_end(), theme::PLAIN);
        whole.push(format!("{name}:\n\n{}", text.trim_end()));
    }
    sheet.full_text = Some((title, whole.join("\n\n")));
    let says = |choice| ChoiceAction::ActAndClose(vec![Action::Instructions(choice)]);
    sheet
        .with_choice(
            'u',
            "use them: the first prompt of each conversation holds them",
            says(Some(InstructionsChoice::Use)),
        )
        .with_choice(
            'i',
            "ignore them: agents are told nothing of them",
            says(Some(InstructionsChoice::Ignore)),
        )
        .with_choice('w', "write the goal again first", says(None))
        .with_first_choice(1)
}
