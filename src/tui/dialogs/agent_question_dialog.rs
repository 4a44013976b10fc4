//! Dialog: the agent asks a question, with answers to choose from or in the user's own words.
//!
//! Several questions are asked one after the other; their answers are sent together.

use std::collections::BTreeMap;

use std::collections::BTreeSet;

use super::{DialogContext, answer_question, question_dialog_id};
use crate::domain::question::{
    AgentQuestion, AnswerOption, AnswerSelectMode, QuestionAnswer, QuestionAsker,
};
use crate::text::capitalize;
use crate::text::pluralize;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, ComposerDraft};
use crate::tui::labels::turn_title;
use crate::tui::text_wrap::{text_width, to_one_line};
use crate::tui::theme;

/// An offered answer wider than this many columns is also shown in full above the choices.
const MAX_SHORT_ANSWER: usize = 30;

/// A number selects its answer, Enter sends it: the same keys switch tabs when no question is open.
const ANSWER_KEYS: &str = "123456789";

pub(super) fn build_dialog(
    id: u32,
    questions: &[AgentQuestion],
    asker: &QuestionAsker,
    known: &DialogContext<'_>,
) -> ChoiceDialog {
    let open = unanswered_questions(questions, known.picked_answers);
    let n_answered = questions.len() - open.len();
    let who = capitalize(match asker {
        QuestionAsker::Role { purpose } => turn_title(purpose),
        QuestionAsker::Child { path, .. } => path,
    });
    let title = match questions.len() {
        0 | 1 => format!("{who} asks"),
        n => format!("{who} asks ({} of {n})", (n_answered + 1).min(n)),
    };
    let title = match open.first().and_then(|asked| asked.header.as_ref()) {
        Some(header) => format!("{title}: {}", to_one_line(header)),
        None => title,
    };
    let sheet = ChoiceDialog::new(format!("{} {n_answered}", question_dialog_id(id)), &title);
    let Some(asked) = open.first() else {
        return sheet.with_choice(
            'n',
            "Let the agent decide",
            answer_question(id, QuestionAnswer::Dismiss),
        );
    };
    add_answers(
        sheet.with_text(&asked.text, theme::PLAIN),
        title,
        asked,
        known,
    )
    .with_choice(
        'w',
        "Answer in your own words…",
        ChoiceAction::WriteDraft(ComposerDraft::Reply { id }),
    )
    .with_choice(
        'n',
        "Let the agent decide",
        answer_question(id, QuestionAnswer::Dismiss),
    )
}

/// Adds the offered answers. Where several may be chosen, each has a checkbox and one more choice sends
/// them.
fn add_answers(
    mut sheet: ChoiceDialog,
    title: String,
    asked: &AgentQuestion,
    known: &DialogContext<'_>,
) -> ChoiceDialog {
    let whole: Vec<String> = asked.options.iter().map(AnswerOption::describe).collect();
    sheet.full_text = Some((title, format!("{}\n\n{}", asked.text, whole.join("\n"))));
    // A choice has one line, so its description, and a label that may not fit, go above the choices.
    for (key, offered) in ANSWER_KEYS.chars().zip(&asked.options) {
        if offered.description.is_some() || text_width(&offered.label) > MAX_SHORT_ANSWER {
            let line = to_one_line(&offered.describe());
            sheet = sheet.with_text(&format!("{key}: {line}"), theme::QUIET);
        }
    }
    if asked.picks == AnswerSelectMode::Several {
        sheet = sheet.with_text("Choose one or more, then send them.", theme::QUIET);
    }
    let none = BTreeSet::new();
    let ticked = known.ticked_answers.get(&asked.text).unwrap_or(&none);
    for (key, offered) in ANSWER_KEYS.chars().zip(&asked.options) {
        let label = offered.label.clone();
        sheet = match asked.picks {
            AnswerSelectMode::One => {
                sheet.with_choice(key, &offered.label, ChoiceAction::PickAnswer(label))
            }
            AnswerSelectMode::Several => {
                let sign = if ticked.contains(&label) {
                    "[x]"
                } else {
                    "[ ]"
                };
                let asked = asked.text.clone();
                let words = format!("{sign} {label}");
                sheet.with_choice(key, &words, ChoiceAction::TickAnswer { asked, label })
            }
        };
    }
    let chosen = asked
        .options
        .iter()
        .filter(|offered| ticked.contains(&offered.label));
    let chosen: Vec<&str> = chosen.map(|offered| offered.label.as_str()).collect();
    match (asked.picks, chosen.len()) {
        (AnswerSelectMode::One, _) | (AnswerSelectMode::Several, 0) => sheet,
        (AnswerSelectMode::Several, n) => {
            let words = format!("Send {}", pluralize(n, "answer"));
            sheet.with_choice('g', &words, ChoiceAction::PickAnswer(chosen.join(", ")))
        }
    }
}

/// Returns the questions that are not answered yet.
pub fn unanswered_questions<'a>(
    questions: &'a [AgentQuestion],
    picked_answers: &BTreeMap<String, String>,
) -> Vec<&'a AgentQuestion> {
    questions
        .iter()
        .filter(|asked| !picked_answers.contains_key(&asked.text))
        .collect()
}
