//! What code is given to run: the words behind it, variables set before it, the text that it reads.
//!
//! It refuses to know which of them the code takes: each may be the one.

use crate::permission::shell::{Input, Simple, Word};
use crate::permission::word_list::is_in_word_list;

use super::super::code::{Language, Source};
use super::super::judge::Scene;
use super::UNKNOWN_CODE;

/// From how many places of the words a command may begin.
const BEGINNINGS: usize = 6;

/// How many variables and lines are looked at.
const MOST: usize = 64;

/// Words of the shell that set variables for what it runs.
const EXPORTING: &str = "export declare typeset env";

/// Judges what code takes from a source; what is not known of it is asked about.
pub fn judge(source: Source, code: &str, language: Language, simple: &Simple, scene: &Scene<'_>) {
    let is_known = match source {
        Source::Arguments => judge_arguments(code, language, simple, scene),
        Source::Environment => judge_environment(simple, scene),
        Source::Input => judge_input(code, simple, scene),
    };
    if !is_known {
        scene.note(&UNKNOWN_CODE, &simple.span);
    }
}

/// Tells whether there are arguments and all are known.
fn judge_arguments(code: &str, language: Language, simple: &Simple, scene: &Scene<'_>) -> bool {
    let words = simple.words.get(1..).unwrap_or_default();
    let at = words.iter().position(|word| word.text.ends_with(code));
    let behind = match (language, at) {
        (Language::Awk, _) | (_, None) => words,
        (_, Some(at)) => words.get(at + 1..).unwrap_or_default(),
    };
    let is_taken = |word: &&Word| !matches!(word.text.as_str(), "-" | "--") && word.text != code;
    let given: Vec<String> = behind
        .iter()
        .filter(is_taken)
        .map(|word| value_of(&word.text, language).to_owned())
        .collect();
    for text in given.iter().filter(|text| text.contains(' ')) {
        scene.note_text(text, &simple.span);
    }
    for at in 0..given.len().min(BEGINNINGS) {
        let argv = given.get(at..).unwrap_or_default();
        if argv.len() > 1 {
            scene.note_argv(argv, &simple.span);
        }
    }
    !given.is_empty() && behind.iter().all(|word| word.is_sure)
}

/// `-v c=text` of awk: the text.
fn value_of(word: &str, language: Language) -> &str {
    match word.split_once('=') {
        Some((_, value)) if language == Language::Awk => value,
        _ => word,
    }
}

/// Tells whether some variable is set to a text that is known.
fn judge_environment(simple: &Simple, scene: &Scene<'_>) -> bool {
    let own = simple.assigned.iter().map(|(_, value)| value.text.as_str());
    let commands = scene.reading.commands.iter().take(MOST);
    let exported = commands
        .filter(|other| {
            let first = other.words.first();
            first.is_some_and(|first| is_in_word_list(EXPORTING, first.text.as_str()))
        })
        .flat_map(|other| other.words.iter().skip(1))
        .filter_map(|word| word.text.split_once('='))
        .map(|(_, value)| value);
    let wrapped = simple.via.iter().flat_map(|wrapper| &wrapper.words);
    let wrapped = wrapped
        .filter_map(|word| word.text.split_once('='))
        .map(|(_, value)| value);
    let mut is_known = false;
    for text in own.chain(exported).chain(wrapped).take(MOST) {
        is_known |= !text.contains(crate::permission::shell::UNKNOWN);
        scene.note_text(text, &simple.span);
    }
    is_known
}

/// Tells whether the input is a text that is known and not the code itself.
fn judge_input(code: &str, simple: &Simple, scene: &Scene<'_>) -> bool {
    let Input::Text(text) = &simple.input else {
        return false;
    };
    if text.trim() == code.trim() {
        return false;
    }
    scene.note_text(text, &simple.span);
    true
}
