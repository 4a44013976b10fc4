//! Dialog before the first goal: the repository contains instructions for agents, and is not trusted.

use crate::domain::instructions_choice::InstructionsChoice;
use crate::text::pluralize;
use crate::tui::action::Action;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, DialogWeight};
use crate::tui::text_wrap::to_one_line;
use crate::tui::theme;

const EXPLANATION: &str = "You have not trusted this repository, so its instructions need your approval. Your \
answer is kept until these texts change. To use its settings too, run `agent-collab trust`.";

/// Asks about files, each with its text; Enter leaves the files out.
pub fn build_dialog(files: &[(String, String)]) -> ChoiceDialog {
    let title = match files {
        [(name, _)] => format!("Send {} to the agents?", to_one_line(name)),
        [(name, _), rest @ ..] => {
            format!(
                "Send {} and {}?",
                to_one_line(name),
                pluralize(rest.len(), "more file")
            )
        }
        [] => "Send the instructions to the agents?".to_owned(),
    };
    let mut sheet = ChoiceDialog::new("instructions", &title)
        .with_weight(DialogWeight::Permission)
        .with_reason(EXPLANATION, theme::QUIET);
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
            "Use them (once per session)",
            says(Some(InstructionsChoice::Use)),
        )
        .with_choice('i', "Ignore them", says(Some(InstructionsChoice::Ignore)))
        .with_choice('w', "Edit the goal first", says(None))
        .with_first_choice(1)
}
