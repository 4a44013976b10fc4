//! Dialog: start this discussion, with these participants and settings?

use crate::domain::discussion::{FINDING_DOES_NOT_HOLD, FINDING_HOLDS};
use crate::text::pluralize;
use crate::tui::action::Action;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, ComposerDraft};
use crate::tui::discussion_commands::DiscussionPlanView;
use crate::tui::theme;

const MAX_TOPIC_LINES: usize = 6;

/// Builds the dialog; no discussion starts before the user agrees.
pub fn build_dialog(planned: &DiscussionPlanView) -> ChoiceDialog {
    let topic = &planned.topic;
    let (id, title) = match topic.finding {
        Some(n) => (format!("discuss {n}"), format!("Discuss finding {n}?")),
        None => ("discuss".to_owned(), "Discuss this?".to_owned()),
    };
    let mut sheet = ChoiceDialog::new(id, &title).until_closed();
    sheet = sheet
        .with_field("Who     ", &planned.participants.join(", "), theme::STRONG)
        .with_field("How     ", &planned.settings, theme::QUIET)
        .with_field("Prompt  ", &planned.budget, theme::QUIET);
    // The topic is the longest part and goes last: it is cut where there is little room, and the title
    // already says what the discussion is about.
    // Only the question about a finding has those answers; in the user's own words nothing is replaced.
    let text = match topic.finding {
        Some(_) => name_answers(&topic.text),
        None => topic.text.clone(),
    };
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    for line in lines.by_ref().take(MAX_TOPIC_LINES) {
        sheet = sheet.with_prose(line, theme::PLAIN);
    }
    let n_more = lines.count();
    if n_more > 0 {
        sheet = sheet.with_text(&format!("… +{}", pluralize(n_more, "line")), theme::QUIET);
    }
    sheet = sheet.with_choice(
        'y',
        "Start the discussion",
        ChoiceAction::ActAndClose(vec![Action::Discuss(topic.clone())]),
    );
    if let Some(finding) = topic.finding {
        sheet = sheet.with_choice(
            'e',
            "Edit the question first",
            ChoiceAction::WriteDraft(ComposerDraft::Topic { finding }),
        );
    }
    sheet.with_choice('n', "No discussion", ChoiceAction::Close)
}

/// Returns the topic with words in place of the names of answers that agents give.
fn name_answers(topic: &str) -> String {
    let topic = topic.replace("Options: `", "Answers: `");
    let topic = topic.replace(&format!("`{FINDING_HOLDS}`"), "it holds");
    topic.replace(&format!("`{FINDING_DOES_NOT_HOLD}`"), "it does not hold")
}
