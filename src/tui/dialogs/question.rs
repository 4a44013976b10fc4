//! Dialog: the agent asks something, with answers to choose from or in the user's own words.
//!
//! Several questions are asked one after the other; they are answered together.

use super::{Known, answer, identity};
use crate::domain::question::Answer;
use crate::tui::sheet::{Draft, Sheet, Then};
use crate::tui::theme;
use crate::tui::wrap::{one_line, width};

/// From how many columns on an offered answer is also shown whole.
const WIDE: usize = 30;

/// A number points at its answer, Enter gives it: the same keys show tabs where nothing is asked.
const NUMBERS: &str = "123456789";

pub(super) fn sheet(
    id: u32,
    questions: &[(String, Vec<String>)],
    who: &str,
    known: &Known<'_>,
) -> Sheet {
    let open = open(questions, known);
    let n_answered = questions.len() - open.len();
    let title = match questions.len() {
        0 | 1 => format!("{who} asks"),
        n => format!("{who} asks ({} of {n})", (n_answered + 1).min(n)),
    };
    let sheet = Sheet::new(format!("{} {n_answered}", identity(id)), &title);
    let Some((text, offered)) = open.first() else {
        return sheet.offers('n', "let it decide itself", answer(id, Answer::Dismiss));
    };
    let mut sheet = sheet.says(text, theme::PLAIN);
    sheet.whole = Some((title, format!("{text}\n\n{}", offered.join("\n"))));
    // A choice has one line; what may not fit there stands whole above.
    for (key, option) in NUMBERS.chars().zip(offered) {
        if width(option) > WIDE {
            sheet = sheet.says(&format!("{key}: {}", one_line(option)), theme::QUIET);
        }
    }
    for (key, option) in NUMBERS.chars().zip(offered) {
        sheet = sheet.offers(key, option, Then::Pick(option.clone()));
    }
    sheet
        .offers(
            'w',
            "answer in your own words: write",
            Then::Write(Draft::Reply { id }),
        )
        .offers('n', "let it decide itself", answer(id, Answer::Dismiss))
}

/// The questions that are not answered yet.
pub fn open<'a>(
    questions: &'a [(String, Vec<String>)],
    known: &Known<'_>,
) -> Vec<&'a (String, Vec<String>)> {
    questions
        .iter()
        .filter(|(text, _)| !known.picked.contains_key(text))
        .collect()
}
