//! Finds the code that interpreters are given: which program runs which language, and where the code is.
//!
//! What the code does is judged in [`super::code_analysis`].

use std::ops::Range;

use crate::permission::program_table::{
    CodeInterpreter, CodeLanguage, ProgramTrait, has_trait, program_facts,
};
use crate::permission::shell::{CommandInput, RedirectKind, SimpleCommand, UNKNOWN_PLACEHOLDER};

use super::builtin_rules::RuleName;
use super::code_analysis;
use super::command_invocation::CommandInvocation;
use super::command_scene::CommandScene;
use super::databases::{StatementHarm, statement_harm};
use super::devices;
use super::path_class::normalize_path;
use super::remote_code;

mod interpreter_inputs;
mod sed_scripts;

const TREE: RuleName = RuleName::new("interpreters.tree");
const OUTSIDE: RuleName = RuleName::new("interpreters.outside");
const RIGHTS: RuleName = RuleName::new("interpreters.rights");
const DEVICE: RuleName = RuleName::new("interpreters.device");
const REMOTE: RuleName = RuleName::new("interpreters.remote");
const STATEMENT: RuleName = RuleName::new("interpreters.statement");
const MANY: RuleName = RuleName::new("interpreters.many");
const FORK: RuleName = RuleName::new("interpreters.fork-bomb");
pub const UNKNOWN_CODE: RuleName = RuleName::new("interpreters.unknown");

/// Returns whether a program is a shell.
pub fn is_shell(program: &str) -> bool {
    has_trait(program, ProgramTrait::Shell)
}

/// Returns whether a program runs script files that its arguments name.
pub fn is_interpreter(program: &str) -> bool {
    is_shell(program) || find_interpreter(program).is_some()
}

fn find_interpreter(program: &str) -> Option<&'static CodeInterpreter> {
    program_facts(program).interpreter()
}

/// Returns whether a command reads its code from standard input, or is a shell builtin that runs a text.
pub fn reads_code_from_input(command: &CommandInvocation<'_>) -> bool {
    if command.has_trait(ProgramTrait::ScriptBuiltin) {
        return true;
    }
    if is_shell(&command.program) {
        return !command
            .argument_words()
            .iter()
            .any(|word| word.text == "-c");
    }
    let Some(interpreter) = find_interpreter(&command.program) else {
        return false;
    };
    let is_piped = |path: &str| path.starts_with("/dev/fd/") || path == "/dev/stdin";
    (interpreter.reads_input || command.argument_words().iter().any(|word| word.text == "-"))
        && inline_code(command, interpreter).is_empty()
        && script_path(command).is_none_or(is_piped)
}

/// Judges the code that a program is given.
pub fn check_command(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    if command.program == "pwsh"
        && command.argument_words().iter().any(|word| {
            word.text.to_lowercase().starts_with("-enc") || word.text.eq_ignore_ascii_case("-e")
        })
    {
        scene.record_rule(REMOTE, &command.simple.span);
    }
    if command.program == "sed" {
        return sed_scripts::check_command(command, scene);
    }
    if command.program == "make" {
        return check_makefile_recipes(command, scene);
    }
    if command.program == "xonsh" {
        check_other_shell(command, scene);
    }
    if command.program == "fish" || command.program == "nu" || command.program == "elvish" {
        return check_other_shell(command, scene);
    }
    check_written_script(command, scene);
    let Some(interpreter) = find_interpreter(&command.program) else {
        return;
    };
    let given = inline_code(command, interpreter);
    for code in &given {
        check_code(code, interpreter.language, command.simple, scene);
    }
    if !given.is_empty() {
        return check_ruby_utility(command, scene);
    }
    match script_path(command) {
        Some(path) if !path.starts_with("/dev/fd/") => {
            for code in written_file_texts(path, &command.simple.span, scene) {
                check_code(&code, interpreter.language, command.simple, scene);
            }
        }
        Some(_) | None => {
            if let CommandInput::KnownText(code) = &command.simple.input {
                check_code(code, interpreter.language, command.simple, scene);
            }
        }
    }
}

/// `ruby -run -e rm -- -rf x`: ruby's `un` library provides file programs such as `rm`.
fn check_ruby_utility(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let texts = command.argument_texts();
    let code = texts.iter().position(|text| *text == "-e");
    if let (true, Some(at)) = (texts.contains(&"-run"), code) {
        let words = texts.iter().skip(at + 1).filter(|text| **text != "--");
        let argv: Vec<String> = words.map(|text| (*text).to_owned()).collect();
        scene.classify_nested_argv(&argv, &command.simple.span);
    }
}

fn check_other_shell(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    for text in super::file_operations::raw_option_values(
        command,
        &["-c", "-C", "--command", "--init-command"],
    ) {
        scene.classify_nested_script(text, &command.simple.span);
    }
}

/// `make -f -`: judges the recipes that it reads from standard input, and those of `--eval`.
fn check_makefile_recipes(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let mut texts: Vec<&str> =
        super::file_operations::raw_option_values(command, &["--eval", "-E"]);
    if let CommandInput::KnownText(text) = &command.simple.input {
        texts.push(text);
    }
    for line in texts.iter().flat_map(|text| text.lines()) {
        let recipe = line.strip_prefix('\t').or_else(|| {
            line.split_once(':')
                .and_then(|(_, rest)| rest.split_once(';'))
                .map(|(_, recipe)| recipe)
        });
        if let Some(recipe) = recipe {
            scene.classify_nested_script(
                recipe.trim_start_matches(['@', '-', '+', ' ']),
                &command.simple.span,
            );
        }
    }
}

/// Returns the code in a program's arguments.
fn inline_code<'a>(command: &CommandInvocation<'a>, interpreter: &CodeInterpreter) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut words = command
        .argument_words()
        .iter()
        .map(|word| word.text.as_str());
    let is_code_option = |word: &str| interpreter.code_options.iter().any(|option| option == word);
    let letters = interpreter
        .code_options
        .iter()
        .filter(|option| option.len() == 2)
        .filter_map(|option| option.chars().nth(1));
    let letters: Vec<char> = letters.collect();
    if interpreter.language == CodeLanguage::Awk
        && !command
            .arguments
            .has_option(&["-f", "--file", "-e", "--source"])
    {
        return awk_program(command).into_iter().collect();
    }
    if command.program == "timeit" {
        return words.filter(|word| !word.starts_with('-')).collect();
    }
    let mut is_behind_option = false;
    while let Some(word) = words.next() {
        // `python3 -W ignore -c …`, `ruby -r fileutils -e …`.
        if std::mem::take(&mut is_behind_option) && !word.starts_with('-') {
            continue;
        }
        let is_listed = is_code_option(word);
        if is_listed && word == "eval" {
            found.extend(words.by_ref().find(|word| !word.starts_with('-')));
            continue;
        }
        if is_listed || ends_option_cluster(word, &letters) {
            found.extend(words.next());
            continue;
        }
        is_behind_option = VALUE_OPTIONS.contains(&word);
        if let Some((name, value)) = word.split_once('=')
            && is_code_option(name)
        {
            found.push(value);
        } else if let Some(code) = interpreter
            .code_options
            .iter()
            .filter(|option| option.len() == 2)
            .find_map(|option| word.strip_prefix(option.as_str()))
        {
            found.push(code);
        } else if interpreter.language == CodeLanguage::Editor && word.starts_with('+') {
            found.push(&word[1..]);
        } else if !word.starts_with('-')
            && interpreter.language != CodeLanguage::Editor
            && interpreter.language != CodeLanguage::Other
            && word != "artisan"
            && word != "tinker"
        {
            break;
        }
    }
    found
}

/// Options of interpreters whose value is the next word and is not code.
const VALUE_OPTIONS: &[&str] = &[
    "-W",
    "-X",
    "-Q",
    "-r",
    "-I",
    "-C",
    "-d",
    "--require",
    "--import",
    "--loader",
    "--check-hash-based-pycs",
    "--encoding",
    "--conditions",
];

/// `-ne`, `-lane`, `-i.bak`: letters without code; the last one is followed by code.
fn ends_option_cluster(word: &str, letters: &[char]) -> bool {
    let Some(cluster) = word.strip_prefix('-') else {
        return false;
    };
    cluster.len() > 1
        && cluster.len() <= 6
        && !cluster.starts_with('-')
        && cluster.chars().all(|c| c.is_ascii_alphanumeric())
        && cluster
            .chars()
            .last()
            .is_some_and(|last| letters.contains(&last))
}

fn awk_program<'a>(command: &CommandInvocation<'a>) -> Option<&'a str> {
    let mut words = command
        .argument_words()
        .iter()
        .map(|word| word.text.as_str());
    while let Some(word) = words.next() {
        match word {
            "-F" | "-v" | "--assign" | "--field-separator" | "-i" | "--include" => {
                words.next();
            }
            "--" => return words.next(),
            word if word.starts_with('-') && word.len() > 1 => {}
            word => return Some(word),
        }
    }
    None
}

/// Returns the file that a program runs.
fn script_path<'a>(command: &CommandInvocation<'a>) -> Option<&'a str> {
    let mut words = command
        .argument_words()
        .iter()
        .map(|word| word.text.as_str());
    while let Some(word) = words.next() {
        match word {
            "-m" => return words.next(),
            "-W" | "-X" | "-r" | "--require" | "-I" | "--import" | "--loader" | "-d" => {
                words.next();
            }
            "-" => return None,
            word if word.starts_with('-') => {}
            "run" if command.is_one_of(&["deno", "bun"]) => {}
            word => return Some(word),
        }
    }
    None
}

/// Returns what other commands of the same text write into a file, where it is known.
fn written_file_texts(path: &str, span: &Range<usize>, scene: &CommandScene<'_>) -> Vec<String> {
    let path = normalize_path(path);
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_path = |text: &str| text.ends_with(name) && normalize_path(text) == path;
    let mut found = Vec::new();
    let n_commands = scene.analysis.commands.len();
    if !scene.spend_steps(1 + n_commands / 16, span) {
        return found;
    }
    for simple in &scene.analysis.commands {
        let is_target = simple.redirects.iter().any(|redirect| {
            matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append)
                && is_path(&redirect.target.text)
        }) || (simple
            .words
            .first()
            .is_some_and(|first| first.text == "tee")
            && simple.words.iter().skip(1).any(|word| is_path(&word.text)));
        if is_target {
            found.extend(printed_text(simple));
        }
    }
    found
}

/// A script that a shell runs and that code in the same text names: each text of that code may be in it.
fn check_written_script(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let first = command.words.first().map(|word| word.text.as_str());
    let path = if is_shell(&command.program) {
        script_path(command)
    } else {
        first.filter(|first| first.contains('/'))
    };
    let name = path.and_then(|path| path.rsplit('/').next());
    let span = &command.simple.span;
    let n_commands = scene.analysis.commands.len();
    let Some(name) = name.filter(|name| !name.is_empty() && n_commands > 1) else {
        return;
    };
    if !scene.spend_steps(1 + 4 * n_commands, span) {
        return;
    }
    for simple in &scene.analysis.commands {
        let names_it = simple
            .words
            .iter()
            .skip(1)
            .any(|word| word.text.contains(name));
        let Some(writer) =
            CommandInvocation::from_words(&simple.words, simple).filter(|_| names_it)
        else {
            continue;
        };
        let Some(interpreter) = find_interpreter(&writer.program) else {
            continue;
        };
        for code in inline_code(&writer, interpreter) {
            if !code.contains(name) || !scene.spend_steps(1 + code.len() / 8, span) {
                continue;
            }
            for text in code_analysis::string_literals(code, interpreter.language) {
                scene.classify_nested_script(&text, span);
            }
        }
    }
}

fn printed_text(simple: &SimpleCommand) -> Option<String> {
    let texts = || {
        simple
            .words
            .iter()
            .skip(1)
            .map(|word| word.text.as_str())
            .filter(|word| !matches!(*word, "-e" | "-n" | "-ne" | "-en"))
    };
    match (
        simple.words.first().map(|first| first.text.as_str()),
        &simple.input,
    ) {
        (Some("echo" | "printf"), _) => {
            Some(texts().collect::<Vec<_>>().join(" ").replace("\\n", "\n"))
        }
        (_, CommandInput::KnownText(text)) => Some(text.clone()),
        _ => None,
    }
}

fn check_code(
    text: &str,
    language: CodeLanguage,
    simple: &SimpleCommand,
    scene: &CommandScene<'_>,
) {
    let span = &simple.span;
    if text
        .chars()
        .all(|c| c == UNKNOWN_PLACEHOLDER || c.is_whitespace())
        && text.contains(UNKNOWN_PLACEHOLDER)
    {
        scene.record_rule(UNKNOWN_CODE, span);
        if remote_code::has_fetcher(scene) {
            scene.record_rule(REMOTE, span);
        }
        return;
    }
    for effect in code_analysis::analyze_code(text, language) {
        match effect {
            code_analysis::CodeEffect::RemovesTree => scene.record_rule(TREE, span),
            code_analysis::CodeEffect::GrantsEverybody => scene.record_rule(RIGHTS, span),
            code_analysis::CodeEffect::RunsRemoteCode => scene.record_rule(REMOTE, span),
            code_analysis::CodeEffect::ForkBomb => scene.record_rule(FORK, span),
            code_analysis::CodeEffect::RemovesManyFiles => scene.record_rule(MANY, span),
            code_analysis::CodeEffect::RunsUnknownCode => scene.record_rule(UNKNOWN_CODE, span),
            code_analysis::CodeEffect::RunsInput(source) => {
                interpreter_inputs::check_input_source(source, text, language, simple, scene)
            }
            code_analysis::CodeEffect::RunsShellScript(text) => {
                scene.classify_nested_script(&text, span)
            }
            code_analysis::CodeEffect::RunsProgram(words) => {
                scene.classify_nested_argv(&words, span)
            }
            code_analysis::CodeEffect::RemovesFile(path) => {
                scene.classify_nested_argv(&["rm".to_owned(), "--".to_owned(), path], span)
            }
            code_analysis::CodeEffect::WritesFile(path) => check_file_write(&path, simple, scene),
            code_analysis::CodeEffect::RunsStatement(text) => {
                if statement_harm(&text) == StatementHarm::All {
                    scene.record_rule(STATEMENT, span);
                }
            }
        }
    }
}

fn check_file_write(path: &str, simple: &SimpleCommand, scene: &CommandScene<'_>) {
    let path = scene.resolve_path(path);
    if devices::is_harmful_device(&path) {
        scene.record_rule(DEVICE, &simple.span);
    } else if [
        "/etc/", "/boot/", "/usr/", "/bin/", "/sbin/", "/sys/", "/proc/", "~/.ssh/",
    ]
    .iter()
    .any(|folder| path.starts_with(folder))
    {
        scene.record_rule(OUTSIDE, &simple.span);
    }
}
