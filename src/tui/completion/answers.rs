//! The words that answer what is asked now, each with what it does; or that nothing is asked.
//!
//! Refuses to answer: a word is put into the composer, and Enter sends it.

use super::{MOST, Offer, What};
use crate::domain::event::Event;
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::run::RunState;
use crate::tui::action::Action;
use crate::tui::dialogs::{self, Known};
use crate::tui::fuzzy::{self, Row};
use crate::tui::sheet::{Sheet, Then};
use crate::tui::wrap::one_line;

/// The command, with the blank behind it.
pub const COMMAND: &str = "/answer ";

/// What is offered behind the command for what was typed there.
pub(super) fn offer(state: Option<&RunState>, known: &Known<'_>, typed: &str) -> Offer {
    let question = state.and_then(RunState::current_question);
    let Some((state, question)) = state.zip(question) else {
        return nothing(state, typed);
    };
    let sheet = dialogs::waiting(state, known);
    let words = words(&question.kind, sheet.as_ref());
    let found = words
        .into_iter()
        .filter(|word| word.name.starts_with(typed));
    let found: Vec<Word> = found.take(MOST).collect();
    Offer {
        what: What::Answers,
        cut: String::new(),
        note: String::new(),
        typed: typed.to_owned(),
        is_ordered: true,
        n_before: typed.chars().count(),
        texts: found.iter().map(Word::text).collect(),
        rows: found
            .iter()
            .map(|word| Row {
                name: word.name.clone(),
                about: one_line(&word.about),
                lit: fuzzy::places(typed, &word.name),
                ..Row::default()
            })
            .collect(),
        chosen: 0,
    }
}

fn nothing(state: Option<&RunState>, typed: &str) -> Offer {
    let waits = state.is_some_and(|state| !state.approvals.is_empty());
    let note = match waits {
        true => "no question is open; /allow and /reject decide the call that waits",
        false => "no question is open: there is nothing to answer",
    };
    Offer {
        what: What::Answers,
        cut: String::new(),
        note: note.to_owned(),
        typed: typed.to_owned(),
        is_ordered: true,
        n_before: typed.chars().count(),
        texts: Vec::new(),
        rows: Vec::new(),
        chosen: 0,
    }
}

/// A word that answers.
struct Word {
    name: String,
    about: String,
}

impl Word {
    /// What it puts into the composer: behind a colon more is to be written.
    fn text(&self) -> String {
        match self.name.split_once(':') {
            Some((word, "N" | "TEXT")) => format!("{word}:"),
            Some(_) | None => format!("{} ", self.name),
        }
    }
}

fn words(kind: &QuestionKind, sheet: Option<&Sheet>) -> Vec<Word> {
    let word = |name: &str| Word {
        name: name.to_owned(),
        about: about(name, kind, sheet),
    };
    match kind {
        QuestionKind::Gate { .. } => vec![word("go"), word("cancel")],
        QuestionKind::ManualEdit => vec![word("cancel")],
        QuestionKind::Agent { questions, .. } | QuestionKind::Child { questions, .. } => {
            // One text answers all of several questions, so that none of their answers is offered.
            let options = match &questions[..] {
                [asked] => asked.options.as_slice(),
                _ => &[],
            };
            let options = options.iter().map(|offered| Word {
                name: one_line(&offered.label),
                about: offered
                    .description
                    .as_deref()
                    .map_or_else(String::new, one_line),
            });
            let mut words: Vec<Word> = options.collect();
            words.extend((!matches_any(&words, "dismiss")).then(|| word("dismiss")));
            words
        }
        kind => {
            let fits = |name: &&&str| kind.parse_answer(&example(name)).is_some();
            kind.choices()
                .iter()
                .filter(fits)
                .map(|name| word(name))
                .collect()
        }
    }
}

fn matches_any(words: &[Word], name: &str) -> bool {
    words.iter().any(|word| word.name == name)
}

/// A word as it could be written, where it has a part of the user's own.
fn example(name: &str) -> String {
    name.replace(":N", ":1").replace(":TEXT", ":text")
}

/// Tells whether a choice leads to such an action, at once or after it was asked about once more.
fn gives(then: &Then, fits: &impl Fn(&Action) -> bool) -> bool {
    match then {
        Then::Act(actions) | Then::PutAside(actions) | Then::ActAndBack(actions) => {
            actions.iter().any(fits)
        }
        Then::Confirm(sheet) => {
            let mut choices = sheet.choices.iter();
            choices.any(|choice| gives(&choice.then, fits))
        }
        Then::Write(_)
        | Then::Do(_)
        | Then::Fill(_)
        | Then::Pick(_)
        | Then::Tick { .. }
        | Then::Back => false,
    }
}

/// What a word does, as the open dialog says it.
fn about(name: &str, kind: &QuestionKind, sheet: Option<&Sheet>) -> String {
    let choices = sheet.map_or(&[][..], |sheet| &sheet.choices);
    let answer = kind.parse_answer(&example(name));
    let fits = |action: &Action| match action {
        Action::Event(Event::QuestionAnswered { answer: given, .. }) => {
            answer.as_ref() == Some(given)
        }
        Action::Event(Event::TurnSendConfirmed) => name == "go" && answer.is_some(),
        _ => false,
    };
    let choice = choices.iter().find(|choice| gives(&choice.then, &fits));
    match (choice, &answer) {
        (Some(choice), _) => choice.label.clone(),
        (None, Some(QuestionAnswer::CancelRun)) => "cancel the run".to_owned(),
        (None, Some(QuestionAnswer::Stop)) => "stop, and go back to the goal".to_owned(),
        (None, Some(QuestionAnswer::RequestChanges { .. })) => {
            "have the plan changed first".to_owned()
        }
        (None, Some(QuestionAnswer::MoreIterations { .. })) => "so many more reviews".to_owned(),
        (None, None) if name == "go" => "release the turn".to_owned(),
        (None, _) => String::new(),
    }
}
