//! Dialog before the first goal: the repository brings instructions for agents, and is not trusted.

use crate::domain::instructions_choice::InstructionsChoice;
use crate::tui::action::Action;
use crate::tui::sheet::{Sheet, Then};
use crate::tui::theme;
use crate::tui::wrap::one_line;

/// Why it is asked.
const WHY: &str = "This repository is not trusted, so nothing in it instructs agents until you say so. Your answer holds until \
                   these texts change; `agent-collab trust` lets its settings count as well.";

/// Asks about files, each with its text; Enter leaves them out.
pub fn sheet(files: &[(String, String)]) -> Sheet {
    let title = match files {
        [(name, _)] => format!("send {} to the agents?", one_line(name)),
        [(name, _), rest @ ..] => {
            format!(
                "send {} and {} more like it to the agents?",
                one_line(name),
                rest.len()
            )
        }
        [] => "send the instructions to the agents?".to_owned(),
    };
    let mut sheet = Sheet::new("instructions", &title).because(WHY, theme::QUIET);
    let mut whole = Vec::new();
    for (name, text) in files {
        let name = one_line(name);
        sheet = sheet
            .says(&format!("{name}:"), theme::STRONG)
            .says(text.trim_end(), theme::PLAIN);
        whole.push(format!("{name}:\n\n{}", text.trim_end()));
    }
    sheet.whole = Some((title, whole.join("\n\n")));
    let says = |choice| Then::ActAndBack(vec![Action::Instructions(choice)]);
    sheet
        .offers(
            'u',
            "use them: the first prompt of each conversation holds them",
            says(Some(InstructionsChoice::Use)),
        )
        .offers(
            'i',
            "ignore them: agents are told nothing of them",
            says(Some(InstructionsChoice::Ignore)),
        )
        .offers('w', "write the goal again first", says(None))
        .first(1)
}
