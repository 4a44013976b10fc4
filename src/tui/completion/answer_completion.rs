//! Completion for `/answer`: the possible answers to the open question, each with its effect.
//!
//! An answer only goes into the composer; Enter sends it.

use super::{CompletionKind, CompletionList, MAX_ENTRIES};
use crate::domain::event::Event;
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::run::RunState;
use crate::tui::action::Action;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog};
use crate::tui::dialogs::{self, DialogContext};
use crate::tui::fuzzy_picker::{self, PickerRow};
use crate::tui::text_wrap::to_one_line;

/// Returns the suggestions for what was typed after the command.
pub(super) fn complete_answer(
    state: Option<&RunState>,
    known: &DialogContext<'_>,
    typed: &str,
) -> CompletionList {
    let question = state.and_then(RunState::current_question);
    let Some((state, question)) = state.zip(question) else {
        return no_answers(state, typed);
    };
    let sheet = dialogs::pending_dialog(state, known);
    let words = answer_words(&question.kind, sheet.as_ref());
    let found = words
        .into_iter()
        .filter(|word| word.name.starts_with(typed));
    let found: Vec<AnswerWord> = found.take(MAX_ENTRIES).collect();
    CompletionList {
        kind: CompletionKind::Answers,
        truncation_note: String::new(),
        note: String::new(),
        typed: typed.to_owned(),
        is_ordered: true,
        replaced_chars: typed.chars().count(),
        insertions: found.iter().map(AnswerWord::insertion).collect(),
        rows: found
            .iter()
            .map(|word| PickerRow {
                name: word.name.clone(),
                about: to_one_line(&word.about),
                matched_chars: fuzzy_picker::match_positions(typed, &word.name),
                ..PickerRow::default()
            })
            .collect(),
        chosen: 0,
    }
}

fn no_answers(state: Option<&RunState>, typed: &str) -> CompletionList {
    let waits = state.is_some_and(|state| !state.approvals.is_empty());
    let note = if waits {
        "No question is open. Use /allow or /reject for the waiting request."
    } else {
        "No question is open."
    };
    CompletionList {
        kind: CompletionKind::Answers,
        truncation_note: String::new(),
        note: note.to_owned(),
        typed: typed.to_owned(),
        is_ordered: true,
        replaced_chars: typed.chars().count(),
        insertions: Vec::new(),
        rows: Vec::new(),
        chosen: 0,
    }
}

struct AnswerWord {
    name: String,
    about: String,
}

impl AnswerWord {
    /// Returns the text for the composer; after a colon, the user writes the rest.
    fn insertion(&self) -> String {
        match self.name.split_once(':') {
            Some((word, "N" | "TEXT")) => format!("{word}:"),
            Some(_) | None => format!("{} ", self.name),
        }
    }
}

fn answer_words(kind: &QuestionKind, sheet: Option<&ChoiceDialog>) -> Vec<AnswerWord> {
    let word = |name: &str| AnswerWord {
        name: name.to_owned(),
        about: describe_word(name, kind, sheet),
    };
    match kind {
        QuestionKind::Gate { .. } => vec![word("go"), word("cancel")],
        QuestionKind::ManualEdit => vec![word("cancel")],
        QuestionKind::Agent { questions, .. } => {
            // With several questions, one text answers all of them, so the options of a single question do not apply.
            let options = match &questions[..] {
                [asked] => asked.options.as_slice(),
                _ => &[],
            };
            let options = options.iter().map(|offered| AnswerWord {
                name: to_one_line(&offered.label),
                about: offered
                    .description
                    .as_deref()
                    .map_or_else(String::new, to_one_line),
            });
            let mut words: Vec<AnswerWord> = options.collect();
            words.extend((!matches_any(&words, "dismiss")).then(|| word("dismiss")));
            words
        }
        kind => {
            let fits = |name: &&&str| kind.parse_answer(&example_word(name)).is_some();
            kind.choices()
                .iter()
                .filter(fits)
                .map(|name| word(name))
                .collect()
        }
    }
}

fn matches_any(words: &[AnswerWord], name: &str) -> bool {
    words.iter().any(|word| word.name == name)
}

/// Returns an answer with its placeholder filled in, so that it can be parsed.
fn example_word(name: &str) -> String {
    name.replace(":N", ":1").replace(":TEXT", ":text")
}

/// Returns whether a choice leads to such an action, directly or after a confirmation.
fn leads_to_action(then: &ChoiceAction, fits: &impl Fn(&Action) -> bool) -> bool {
    match then {
        ChoiceAction::Act(actions)
        | ChoiceAction::PutAside(actions)
        | ChoiceAction::ActAndClose(actions) => actions.iter().any(fits),
        ChoiceAction::Confirm(sheet) => {
            let mut choices = sheet.choices.iter();
            choices.any(|choice| leads_to_action(&choice.action, fits))
        }
        ChoiceAction::WriteDraft(_)
        | ChoiceAction::RunCommand(_)
        | ChoiceAction::FillComposer(_)
        | ChoiceAction::PickAnswer(_)
        | ChoiceAction::TickAnswer { .. }
        | ChoiceAction::Close => false,
    }
}

/// Returns the effect of an answer, in the words of the open dialog.
fn describe_word(name: &str, kind: &QuestionKind, sheet: Option<&ChoiceDialog>) -> String {
    let choices = sheet.map_or(&[][..], |sheet| &sheet.choices);
    let answer = kind.parse_answer(&example_word(name));
    let fits = |action: &Action| match action {
        Action::Event(Event::QuestionAnswered { answer: given, .. }) => {
            answer.as_ref() == Some(given)
        }
        Action::Event(Event::TurnSendConfirmed) => name == "go" && answer.is_some(),
        _ => false,
    };
    let choice = choices
        .iter()
        .find(|choice| leads_to_action(&choice.action, &fits));
    match (choice, &answer) {
        (Some(choice), _) => choice.label.clone(),
        (None, Some(QuestionAnswer::CancelRun)) => "Cancel the run".to_owned(),
        (None, Some(QuestionAnswer::Stop)) => "Stop and return to the goal".to_owned(),
        (None, Some(QuestionAnswer::RequestChanges { .. })) => "Ask for changes first".to_owned(),
        (None, Some(QuestionAnswer::MoreIterations { .. })) => "Allow N more reviews".to_owned(),
        (None, None) if name == "go" => "Send the turn".to_owned(),
        (None, _) => String::new(),
    }
}
