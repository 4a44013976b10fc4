//! Judges the input that code runs: the words after it, variables set before it, and its standard input.
//!
//! Which of them the code takes is unknown, so each of them is judged.

use crate::permission::program_table::{CodeLanguage, ProgramTrait, has_trait};
use crate::permission::shell::{CommandInput, ShellWord, SimpleCommand};

use super::super::code_analysis::CodeInputSource;
use super::super::command_scene::CommandScene;
use super::UNKNOWN_CODE;

/// From how many of the words a command may start.
const MAX_COMMAND_STARTS: usize = 6;

/// How many variables and lines are checked.
const MAX_INPUTS: usize = 64;

/// Judges what code takes from a source; unknown input is confirmed.
pub fn check_input_source(
    source: CodeInputSource,
    code: &str,
    language: CodeLanguage,
    simple: &SimpleCommand,
    scene: &CommandScene<'_>,
) {
    let is_known = match source {
        CodeInputSource::Arguments => check_arguments(code, language, simple, scene),
        CodeInputSource::Environment => check_environment(simple, scene),
        CodeInputSource::Input => check_standard_input(code, simple, scene),
    };
    if !is_known {
        scene.record_rule(UNKNOWN_CODE, &simple.span);
    }
}

/// Returns whether there are arguments and all of them are known.
fn check_arguments(
    code: &str,
    language: CodeLanguage,
    simple: &SimpleCommand,
    scene: &CommandScene<'_>,
) -> bool {
    let words = simple.words.get(1..).unwrap_or_default();
    let at = words.iter().position(|word| word.text.ends_with(code));
    let behind = match (language, at) {
        (CodeLanguage::Awk, _) | (_, None) => words,
        (_, Some(at)) => words.get(at + 1..).unwrap_or_default(),
    };
    let is_taken =
        |word: &&ShellWord| !matches!(word.text.as_str(), "-" | "--") && word.text != code;
    let given: Vec<String> = behind
        .iter()
        .filter(is_taken)
        .map(|word| awk_variable_value(&word.text, language).to_owned())
        .collect();
    for text in given.iter().filter(|text| text.contains(' ')) {
        scene.classify_nested_script(text, &simple.span);
    }
    for at in 0..given.len().min(MAX_COMMAND_STARTS) {
        let argv = given.get(at..).unwrap_or_default();
        if argv.len() > 1 {
            scene.classify_nested_argv(argv, &simple.span);
        }
    }
    !given.is_empty() && behind.iter().all(|word| word.is_fully_known)
}

/// `-v c=text` of awk: returns the text.
fn awk_variable_value(word: &str, language: CodeLanguage) -> &str {
    match word.split_once('=') {
        Some((_, value)) if language == CodeLanguage::Awk => value,
        _ => word,
    }
}

/// Returns whether some variable is set to a known text.
fn check_environment(simple: &SimpleCommand, scene: &CommandScene<'_>) -> bool {
    let own = simple
        .assignments
        .iter()
        .map(|(_, value)| value.text.as_str());
    let commands = scene.analysis.commands.iter().take(MAX_INPUTS);
    let exported = commands
        .filter(|other| {
            let first = other.words.first();
            first.is_some_and(|first| has_trait(&first.text, ProgramTrait::SetsVariables))
        })
        .flat_map(|other| other.words.iter().skip(1))
        .filter_map(|word| word.text.split_once('='))
        .map(|(_, value)| value);
    let wrapped = simple.wrappers.iter().flat_map(|wrapper| &wrapper.words);
    let wrapped = wrapped
        .filter_map(|word| word.text.split_once('='))
        .map(|(_, value)| value);
    let mut is_known = false;
    for text in own.chain(exported).chain(wrapped).take(MAX_INPUTS) {
        is_known |= !text.contains(crate::permission::shell::UNKNOWN_PLACEHOLDER);
        scene.classify_nested_script(text, &simple.span);
    }
    is_known
}

/// Returns whether the input is a known text and not the code itself.
fn check_standard_input(code: &str, simple: &SimpleCommand, scene: &CommandScene<'_>) -> bool {
    let CommandInput::KnownText(text) = &simple.input else {
        return false;
    };
    if text.trim() == code.trim() {
        return false;
    }
    scene.classify_nested_script(text, &simple.span);
    true
}
