//! Dialog: the agent asks something, with answers to choose from or in the user's own words.
//!
//! Several questions are asked one after the other; they are answered together.

use std::collections::BTreeSet;

use super::{Known, answer, identity};
use crate::domain::question::{AgentQuestion, AnswerOption, AnswerSelectMode, QuestionAnswer};
use crate::text::pluralize;
use crate::tui::sheet::{Draft, Sheet, Then};
use crate::tui::theme;
use crate::tui::wrap::{one_line, width};

/// From how many columns on an offered answer is also shown whole.
const WIDE: usize = 30;

/// A number points at its answer, Enter gives it: the same keys show tabs where nothing is asked.
const NUMBERS: &str = "123456789";

pub(super) fn sheet(id: u32, questions: &[AgentQuestion], who: &str, known: &Known<'_>) -> Sheet {
    let open = open(questions, known);
    let n_answered = questions.len() - open.len();
    let title = match questions.len() {
        0 | 1 => format!("{who} asks"),
        n => format!("{who} asks ({} of {n})", (n_answered + 1).min(n)),
    };
    let title = match open.first().and_then(|asked| asked.header.as_ref()) {
        Some(header) => format!("{title}: {}", one_line(header)),
        None => title,
    };
    let sheet = Sheet::new(format!("{} {n_answered}", identity(id)), &title);
    let Some(asked) = open.first() else {
        return sheet.offers(
            'n',
            "let it decide itself",
            answer(id, QuestionAnswer::Dismiss),
        );
    };
    offer(sheet.says(&asked.text, theme::PLAIN), title, asked, known)
        .offers(
            'w',
            "answer in your own words: write",
            Then::Write(Draft::Reply { id }),
        )
        .offers(
            'n',
            "let it decide itself",
            answer(id, QuestionAnswer::Dismiss),
        )
}

/// The offered answers; where several may be chosen, each with a box, and one choice that gives them.
fn offer(mut sheet: Sheet, title: String, asked: &AgentQuestion, known: &Known<'_>) -> Sheet {
    let whole: Vec<String> = asked.options.iter().map(AnswerOption::describe).collect();
    sheet.whole = Some((title, format!("{}\n\n{}", asked.text, whole.join("\n"))));
    // A choice has one line; what it means, and what may not fit there, stands above.
    for (key, offered) in NUMBERS.chars().zip(&asked.options) {
        if offered.description.is_some() || width(&offered.label) > WIDE {
            let line = one_line(&offered.describe());
            sheet = sheet.says(&format!("{key}: {line}"), theme::QUIET);
        }
    }
    if asked.picks == AnswerSelectMode::Several {
        sheet = sheet.says("Several may be chosen; G gives them.", theme::QUIET);
    }
    let none = BTreeSet::new();
    let ticked = known.ticked.get(&asked.text).unwrap_or(&none);
    for (key, offered) in NUMBERS.chars().zip(&asked.options) {
        let label = offered.label.clone();
        sheet = match asked.picks {
            AnswerSelectMode::One => sheet.offers(key, &offered.label, Then::Pick(label)),
            AnswerSelectMode::Several => {
                let sign = if ticked.contains(&label) {
                    "[x]"
                } else {
                    "[ ]"
                };
                let asked = asked.text.clone();
                let words = format!("{sign} {label}");
                sheet.offers(key, &words, Then::Tick { asked, label })
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
            let words = format!("give {}", pluralize(n, "answer"));
            sheet.offers('g', &words, Then::Pick(chosen.join(", ")))
        }
    }
}

/// The questions that are not answered yet.
pub fn open<'a>(questions: &'a [AgentQuestion], known: &Known<'_>) -> Vec<&'a AgentQuestion> {
    questions
        .iter()
        .filter(|asked| !known.picked.contains_key(&asked.text))
        .collect()
}
