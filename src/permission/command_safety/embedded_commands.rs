//! Finds commands inside a program's arguments: a pager, a filter or a shell that an option names.
//!
//! The texts found here are judged like any other text.

use crate::permission::program_table::{ProgramTrait, has_trait, program_facts};
use crate::permission::shell::{CommandInput, ShellWord};
use crate::permission::word_list::is_in_word_list;

use super::command_invocation::{CommandInvocation, normalize_program_name};
use super::command_scene::CommandScene;
use super::file_operations::raw_option_values;

/// Words before the text in such a value.
const COMMAND_PREFIXES: &[&str] = &[
    "exec=",
    "ProxyCommand=",
    "ProxyCommand ",
    "LocalCommand=",
    "LocalCommand ",
    "KnownHostsCommand=",
    "|",
    "!",
    ".shell ",
    ".system ",
    "platform shell ",
    "shell ",
];

/// Options that run their value in any program. The value must begin with a program that is looked for.
const GENERIC_COMMAND_OPTIONS: &[&str] = &[
    "-c",
    "-C",
    "-e",
    "-x",
    "-ex",
    "-o",
    "--exec",
    "--command",
    "--cmd",
    "--run",
    "--eval",
    "--shell",
    "--execute",
    "--entrypoint",
    "--on-change",
    "--exec-cmd",
    "--shell-command",
    "--scripts",
    "--wrap",
];

/// Options whose value is a list of commands.
const COMMAND_LIST_OPTIONS: &[&str] = &["--parameters", "--parameter", "--commands"];

/// Words after which a program takes a command to run elsewhere.
const RUN_WORDS: &str = "run run:detached exec ssh shell rsh enter x dlx foreach cmd.run develop console cmd sh unshare launch attach";

/// Words after which a whole text is a command.
const RUN_SCRIPT_WORDS: &str = "exec ssh shell rsh cmd.run";

/// The options that name such a program.
const ENTRYPOINT_OPTIONS: &[&str] = &[
    "--entrypoint",
    "--command",
    "--exec",
    "--startas",
    "-a",
    "-x",
];

/// How many words after a leading one are checked.
const MAX_WORDS_BEHIND: usize = 12;

/// Variables of `make` whose value it runs.
const MAKE_VARIABLES: &[&str] = &[
    "SHELL", "MAKE", "CC", "CXX", "CPP", "LD", "AR", "PYTHON", "NODE",
];

/// Judges the commands in a command's options and words; `is_data` says that the program treats words as data.
pub fn check_command(command: &CommandInvocation<'_>, is_data: bool, scene: &CommandScene<'_>) {
    let span = &command.simple.span;
    let options = &program_facts(&command.program).command_options;
    // `git push -u origin`: a value counts only if it begins like a command.
    let is_ambiguous = has_trait(&command.program, ProgramTrait::AmbiguousOptions);
    let values = raw_option_values(command, options).into_iter();
    let values = values.filter(|value| !is_ambiguous || begins_with_program(value));
    for value in values.chain(attached_option_values(command, options)) {
        scene.classify_nested_script(strip_command_prefix(value), span);
    }
    let has = |wanted| has_trait(&command.program, wanted);
    if has(ProgramTrait::Entrypoint) {
        check_entrypoint(command, scene);
    }
    if has(ProgramTrait::CopyToProgram) {
        check_copy_to_program(command, scene);
    }
    if !is_data || has(ProgramTrait::RunWord) {
        check_generic_options(command, scene);
        check_words_behind_run_word(command, scene);
    }
    let texts = command
        .argument_words()
        .iter()
        .map(|word| word.text.as_str());
    if has(ProgramTrait::Pager) {
        for text in texts.filter_map(|text| text.strip_prefix("+!")) {
            scene.classify_nested_script(text, span);
        }
    } else if command.is_one_of(&["make"]) {
        let assigned = texts.filter_map(|text| text.split_once('='));
        for (_, value) in assigned.filter(|(name, _)| MAKE_VARIABLES.contains(name)) {
            scene.classify_nested_script(value, span);
        }
    }
}

/// Returns values inside the word of a short option: `-oProxyCommand=…`, `-O'…'`.
fn attached_option_values<'a>(
    command: &CommandInvocation<'a>,
    options: &'a [String],
) -> impl Iterator<Item = &'a str> {
    let words = command
        .argument_words()
        .iter()
        .map(|word| word.text.as_str());
    words.filter_map(move |word| {
        let mut short = options.iter().filter(|option| option.len() == 2);
        let value = short.find_map(|option| word.strip_prefix(option.as_str()))?;
        begins_with_program(value).then_some(value)
    })
}

/// Judges an option that names only the program; its arguments are among the words that follow.
fn check_entrypoint(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let mut words = command
        .argument_words()
        .iter()
        .map(|word| word.text.as_str());
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        if !ENTRYPOINT_OPTIONS.contains(&name) {
            continue;
        }
        let Some(program) = value.or_else(|| words.next()) else {
            return;
        };
        if begins_with_program(program) {
            let argv = std::iter::once(program).chain(words.filter(|word| *word != "--"));
            let argv: Vec<String> = argv.map(str::to_owned).collect();
            scene.classify_nested_argv(&argv, &command.simple.span);
        }
        return;
    }
}

/// `COPY t TO PROGRAM 'text'`: judges the texts that a database passes to a shell.
fn check_copy_to_program(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let input = match &command.simple.input {
        CommandInput::KnownText(text) => Some(text.as_str()),
        CommandInput::Nothing | CommandInput::Pipe(_) | CommandInput::Unknown => None,
    };
    let words = command
        .argument_words()
        .iter()
        .map(|word| word.text.as_str());
    for text in words.chain(input) {
        let lower = text.to_ascii_lowercase();
        for (at, found) in lower.match_indices("program") {
            let behind = text.get(at + found.len()..).unwrap_or_default();
            let quoted = behind.trim_start().strip_prefix('\'');
            if let Some((inner, _)) = quoted.and_then(|quoted| quoted.split_once('\'')) {
                scene.classify_nested_script(inner, &command.simple.span);
            }
        }
    }
}

fn check_generic_options(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let span = &command.simple.span;
    // `commands=["rm -rf x"]` of a cloud provider's command line program.
    let listed_texts = raw_option_values(command, COMMAND_LIST_OPTIONS)
        .into_iter()
        .flat_map(|value| value.split(['"', '[', ']', '\'']));
    for text in raw_option_values(command, GENERIC_COMMAND_OPTIONS)
        .into_iter()
        .chain(listed_texts)
    {
        if text.contains(' ') && begins_with_program(text) {
            scene.classify_nested_script(strip_command_prefix(text), span);
        }
    }
    if has_trait(&command.program, ProgramTrait::ScriptArguments) {
        let texts = command
            .argument_words()
            .iter()
            .map(|word| word.text.as_str());
        for text in texts.filter(|text| text.contains(' ') && begins_with_program(text)) {
            scene.classify_nested_script(text, span);
        }
    }
}

/// `knife ssh 'role:web' 'rm -rf x'`: judges a text after a word that says that it is run.
fn check_script_behind_run_word(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let rest = command.argument_words();
    let leads = |word: &ShellWord| is_in_word_list(RUN_SCRIPT_WORDS, &word.text);
    let (false, Some(at)) = (
        has_trait(&command.program, ProgramTrait::OwnRun) && command.program != "gh",
        rest.iter().position(leads),
    ) else {
        return;
    };
    for pair in rest
        .get(at..)
        .unwrap_or_default()
        .windows(2)
        .take(MAX_WORDS_BEHIND)
    {
        if let [before, word] = pair
            && !before.text.starts_with('-')
            && word.text.contains(' ')
            && begins_with_program(&word.text)
        {
            scene.classify_nested_script(strip_command_prefix(&word.text), &command.simple.span);
        }
    }
}

/// Judges the words after one that starts a command to run elsewhere.
fn check_words_behind_run_word(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let rest = command.argument_words();
    check_script_behind_run_word(command, scene);
    let leads = |word: &ShellWord| match word.text.as_str() {
        "--" | "run" => !has_trait(&command.program, ProgramTrait::OwnRun),
        text => is_in_word_list(RUN_WORDS, text),
    };
    let from = if has_trait(&command.program, ProgramTrait::Remote) {
        Some(0)
    } else {
        rest.iter().position(leads).map(|at| at + 1)
    };
    let Some(from) = from else {
        return;
    };
    let words = rest.get(from..).unwrap_or_default();
    for at in 0..words.len().min(MAX_WORDS_BEHIND) {
        let behind = words.get(at..).unwrap_or_default();
        let begins = behind
            .first()
            .is_some_and(|first| first.is_fully_known && begins_with_program(&first.text));
        if begins && behind.len() > 1 {
            let argv: Vec<String> = behind.iter().map(|word| word.text.clone()).collect();
            return scene.classify_nested_argv(&argv, &command.simple.span);
        }
    }
}

/// Returns whether a text begins with a program that is looked for.
fn begins_with_program(text: &str) -> bool {
    let first = strip_command_prefix(text)
        .split_whitespace()
        .next()
        .unwrap_or_default();
    has_trait(&normalize_program_name(first), ProgramTrait::OftenWrapped)
}

/// Removes the words that say what the text is; for `enter:execute(…)` returns the text in the brackets.
fn strip_command_prefix(value: &str) -> &str {
    if let Some((_, inner)) = value
        .split_once("execute(")
        .or_else(|| value.split_once("execute-silent("))
    {
        return inner.rsplit_once(')').map_or(inner, |(inner, _)| inner);
    }
    let value = value.trim_start();
    COMMAND_PREFIXES
        .iter()
        .find_map(|prefix| {
            let (start, rest) = value.split_at_checked(prefix.len())?;
            start.eq_ignore_ascii_case(prefix).then_some(rest)
        })
        .unwrap_or(value)
}
