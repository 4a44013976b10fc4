//! Judges commands that unpack archives or copy trees into a folder, by where the files are written.
//!
//! What is inside the archives is not known.

use crate::permission::program_table::{ArchiveExtractor, program_facts};
use crate::permission::shell::RedirectKind;

use super::builtin_rules::RuleName;
use super::command_invocation::CommandInvocation;
use super::command_scene::CommandScene;
use super::file_operations::check_written_path;

const ABSOLUTE: RuleName = RuleName::new("unpacked.absolute");

/// Judges where a program unpacks to.
pub fn check_command(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let unpacker = program_facts(&command.program).archive();
    let Some(unpacker) = unpacker.filter(|unpacker| extracts_files(command, unpacker)) else {
        return;
    };
    let simple = command.simple;
    let mut folders = folder_option_values(command, &unpacker.folder_options);
    if unpacker.last_operand && folders.is_empty() {
        let operands: Vec<&str> = command.arguments.operand_texts().collect();
        let has_option_verbs = unpacker.verbs.iter().any(|verb| verb.starts_with('-'));
        let n_least = if has_option_verbs { 1 } else { 2 };
        folders.extend(operands.last().filter(|_| operands.len() > n_least));
    }
    if folders.is_empty() && unpacker.working_folder {
        folders.push(".");
    }
    for folder in folders {
        check_written_path(
            &scene.resolve_path(folder),
            RedirectKind::Append,
            simple,
            scene,
        );
    }
    if unpacker.tar_options
        && (has_option_letter(command, 'P')
            || has_argument(command, &["--absolute-names", "--absolute-paths"]))
    {
        scene.record_rule(ABSOLUTE, &simple.span);
    }
}

/// Returns whether the command writes files at all.
fn extracts_files(command: &CommandInvocation<'_>, unpacker: &ArchiveExtractor) -> bool {
    let first = command
        .argument_words()
        .first()
        .map_or("", |word| word.text.as_str());
    match command.program.as_str() {
        _ if unpacker.tar_options => {
            has_option_letter(command, 'x') || has_argument(command, &["--extract", "--get"])
        }
        "cpio" => {
            has_option_letter(command, 'i')
                || has_option_letter(command, 'p')
                || has_argument(command, &["--extract"])
        }
        "unzip" => !["-l", "-v", "-t", "-Z", "-p", "-z"].contains(&first),
        _ if unpacker.any_word => {
            let mut words = command.argument_words().iter();
            words.any(|word| unpacker.verbs.contains(&word.text))
        }
        _ => unpacker.verbs.is_empty() || unpacker.verbs.iter().any(|verb| verb == first),
    }
}

/// Returns whether a cluster of options contains a letter; tar's old style without a dash counts too.
fn has_option_letter(command: &CommandInvocation<'_>, letter: char) -> bool {
    command
        .argument_texts()
        .iter()
        .enumerate()
        .any(|(at, text)| {
            let is_long = text.starts_with("--");
            let is_old = at == 0
                && command.program != "cpio"
                && text.len() < 8
                && text.chars().all(|c| c.is_ascii_alphabetic());
            let cluster = text.strip_prefix('-').unwrap_or_default();
            // In `-Cetc/x` the text after such a letter is its value, not more letters.
            let letters = cluster
                .split(['C', 'D', 'I', 'T'])
                .next()
                .unwrap_or_default();
            !is_long && (letters.contains(letter) || is_old && text.contains(letter))
        })
}

fn has_argument(command: &CommandInvocation<'_>, names: &[&str]) -> bool {
    command
        .argument_texts()
        .iter()
        .any(|text| names.contains(text))
}

/// Returns the values of options: the next word, the text after `=`, or the text attached to a short option.
fn folder_option_values<'a>(command: &CommandInvocation<'a>, options: &[String]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut words = command
        .argument_words()
        .iter()
        .map(|word| word.text.as_str());
    while let Some(word) = words.next() {
        let value = options
            .iter()
            .find_map(|option| word.strip_prefix(option.as_str()));
        let is_short = options
            .iter()
            .any(|option| !option.starts_with("--") && word.starts_with(option.as_str()));
        match value {
            Some("") => found.extend(words.next()),
            Some(value) if word.starts_with("--") => found.extend(value.strip_prefix('=')),
            Some(value) if is_short => found.push(value),
            _ => {}
        }
    }
    found
}
