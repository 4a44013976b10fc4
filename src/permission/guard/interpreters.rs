//! Interpreters: which programs run which language, and where the code stands that they are given.
//!
//! It refuses to know what code does; [`super::code`] looks at that.

use std::ops::Range;

use crate::permission::shell::{Input, RedirectKind, Simple, UNKNOWN};
use crate::permission::word_list::is_in_word_list;

use super::builtin::Builtin;
use super::code::{self, Language};
use super::command::Command;
use super::databases::{Harm, statement_harm};
use super::devices;
use super::judge::Scene;
use super::place::normal;

mod given;
mod known;
mod sed;

use known::{INTERPRETERS, Interpreter};

/// Code that deletes trees.
static TREE: Builtin = Builtin::dangerous(
    "interpreters.tree",
    "removes a folder with all that is in it, by code",
    &[],
);
static OUTSIDE: Builtin = Builtin::dangerous(
    "interpreters.outside",
    "removes or writes files of the system or of a user's keys, by code",
    &[],
);
static RIGHTS: Builtin = Builtin::dangerous(
    "interpreters.rights",
    "gives everybody every right to a file, by code",
    &[],
);
static DEVICE: Builtin = Builtin::dangerous(
    "interpreters.device",
    "writes straight to a device, by code",
    &[],
);
static REMOTE: Builtin = Builtin::dangerous(
    "interpreters.remote",
    "runs code that it fetches or decodes",
    &[],
);
static STATEMENT: Builtin = Builtin::dangerous(
    "interpreters.statement",
    "removes tables, databases or all rows, by code",
    &[],
);
static MANY: Builtin = Builtin::confirm(
    "interpreters.many",
    "removes every file that it finds, by code",
    &[],
);
static FORK: Builtin = Builtin::dangerous(
    "interpreters.fork-bomb",
    "starts itself until the machine stands still, by code",
    &[],
);
/// Code that only a run would show.
pub static UNKNOWN_CODE: Builtin = Builtin::confirm(
    "interpreters.unknown",
    "runs code that only a run would show",
    &[],
);

/// What is known of code.
pub const RULES: &[&Builtin] = &[
    &TREE,
    &OUTSIDE,
    &RIGHTS,
    &DEVICE,
    &REMOTE,
    &STATEMENT,
    &MANY,
    &FORK,
    &UNKNOWN_CODE,
];

/// Shells, which the shell's reader follows itself.
const SHELLS: &str = "sh bash dash zsh ksh mksh fish csh tcsh yash elvish nu busybox rc";

/// Tells whether a program is a shell.
pub fn is_shell(program: &str) -> bool {
    is_in_word_list(SHELLS, program)
}

/// Tells whether a program runs files that are named to it.
pub fn is_interpreter(program: &str) -> bool {
    is_shell(program) || of(program).is_some()
}

fn of(program: &str) -> Option<&'static Interpreter> {
    INTERPRETERS
        .iter()
        .find(|interpreter| interpreter.programs.contains(&program))
}

/// Tells whether a command reads its code from standard input, or is a shell word that runs a text.
pub fn reads_code(command: &Command<'_>) -> bool {
    if command.is(&["source", ".", "eval"]) {
        return true;
    }
    if is_shell(&command.program) {
        return !command.rest().iter().any(|word| word.text == "-c");
    }
    let Some(interpreter) = of(&command.program) else {
        return false;
    };
    let is_piped = |path: &str| path.starts_with("/dev/fd/") || path == "/dev/stdin";
    (interpreter.reads_input || command.rest().iter().any(|word| word.text == "-"))
        && codes(command, interpreter).is_empty()
        && script(command).is_none_or(is_piped)
}

/// Judges code that a program is given.
pub fn judge(command: &Command<'_>, scene: &Scene<'_>) {
    if command.program == "pwsh"
        && command.rest().iter().any(|word| {
            word.text.to_lowercase().starts_with("-enc") || word.text.eq_ignore_ascii_case("-e")
        })
    {
        scene.note(&REMOTE, &command.simple.span);
    }
    if command.program == "sed" {
        return sed::judge(command, scene);
    }
    if command.program == "make" {
        return judge_recipes(command, scene);
    }
    if command.program == "xonsh" {
        judge_other_shell(command, scene);
    }
    if command.program == "fish" || command.program == "nu" || command.program == "elvish" {
        return judge_other_shell(command, scene);
    }
    judge_written_script(command, scene);
    let Some(interpreter) = of(&command.program) else {
        return;
    };
    let given = codes(command, interpreter);
    for code in &given {
        judge_code(code, interpreter.language, command.simple, scene);
    }
    if !given.is_empty() {
        return judge_utility(command, scene);
    }
    match script(command) {
        Some(path) if !path.starts_with("/dev/fd/") => {
            for code in written(path, &command.simple.span, scene) {
                judge_code(&code, interpreter.language, command.simple, scene);
            }
        }
        Some(_) | None => {
            if let Input::Text(code) = &command.simple.input {
                judge_code(code, interpreter.language, command.simple, scene);
            }
        }
    }
}

/// `ruby -run -e rm -- -rf x`: the library of that name is a set of programs.
fn judge_utility(command: &Command<'_>, scene: &Scene<'_>) {
    let texts = command.texts();
    let code = texts.iter().position(|text| *text == "-e");
    if let (true, Some(at)) = (texts.contains(&"-run"), code) {
        let words = texts.iter().skip(at + 1).filter(|text| **text != "--");
        let argv: Vec<String> = words.map(|text| (*text).to_owned()).collect();
        scene.note_argv(&argv, &command.simple.span);
    }
}

fn judge_other_shell(command: &Command<'_>, scene: &Scene<'_>) {
    for text in super::files::behind(command, &["-c", "-C", "--command", "--init-command"]) {
        scene.note_text(text, &command.simple.span);
    }
}

/// `make -f -`: the recipes in what it reads, and `--eval`.
fn judge_recipes(command: &Command<'_>, scene: &Scene<'_>) {
    let mut texts: Vec<&str> = super::files::behind(command, &["--eval", "-E"]);
    if let Input::Text(text) = &command.simple.input {
        texts.push(text);
    }
    for line in texts.iter().flat_map(|text| text.lines()) {
        let recipe = line.strip_prefix('\t').or_else(|| {
            line.split_once(':')
                .and_then(|(_, rest)| rest.split_once(';'))
                .map(|(_, recipe)| recipe)
        });
        if let Some(recipe) = recipe {
            scene.note_text(
                recipe.trim_start_matches(['@', '-', '+', ' ']),
                &command.simple.span,
            );
        }
    }
}

/// What stands in a program's words as code.
fn codes<'a>(command: &Command<'a>, interpreter: &Interpreter) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut words = command.rest().iter().map(|word| word.text.as_str());
    let letters = interpreter
        .options
        .iter()
        .filter(|option| option.len() == 2)
        .filter_map(|option| option.chars().nth(1));
    let letters: Vec<char> = letters.collect();
    if interpreter.language == Language::Awk
        && !command.arguments.has(&["-f", "--file", "-e", "--source"])
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
        let is_listed = interpreter.options.contains(&word);
        if is_listed && word == "eval" {
            found.extend(words.by_ref().find(|word| !word.starts_with('-')));
            continue;
        }
        if is_listed || ends_cluster(word, &letters) {
            found.extend(words.next());
            continue;
        }
        is_behind_option = VALUED.contains(&word);
        if let Some((name, value)) = word.split_once('=')
            && interpreter.options.contains(&name)
        {
            found.push(value);
        } else if let Some(code) = interpreter
            .options
            .iter()
            .filter(|option| option.len() == 2)
            .find_map(|option| word.strip_prefix(option))
        {
            found.push(code);
        } else if interpreter.language == Language::Editor && word.starts_with('+') {
            found.push(&word[1..]);
        } else if !word.starts_with('-')
            && interpreter.language != Language::Editor
            && interpreter.language != Language::Other
            && !interpreter.options.contains(&word)
            && word != "artisan"
            && word != "tinker"
        {
            break;
        }
    }
    found
}

/// Options of interpreters whose value is the next word, and no code.
const VALUED: &[&str] = &[
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

/// `-ne`, `-lane`, `-i.bak`: letters without code of their own, the last one followed by code.
fn ends_cluster(word: &str, letters: &[char]) -> bool {
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

fn awk_program<'a>(command: &Command<'a>) -> Option<&'a str> {
    let mut words = command.rest().iter().map(|word| word.text.as_str());
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

/// The file that a program runs.
fn script<'a>(command: &Command<'a>) -> Option<&'a str> {
    let mut words = command.rest().iter().map(|word| word.text.as_str());
    while let Some(word) = words.next() {
        match word {
            "-m" => return words.next(),
            "-W" | "-X" | "-r" | "--require" | "-I" | "--import" | "--loader" | "-d" => {
                words.next();
            }
            "-" => return None,
            word if word.starts_with('-') => {}
            "run" if command.is(&["deno", "bun"]) => {}
            word => return Some(word),
        }
    }
    None
}

/// What the commands of the same text write into a file, where it is known.
fn written(path: &str, span: &Range<usize>, scene: &Scene<'_>) -> Vec<String> {
    let path = normal(path);
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_path = |text: &str| text.ends_with(name) && normal(text) == path;
    let mut found = Vec::new();
    let n_commands = scene.reading.commands.len();
    if !scene.take(1 + n_commands / 16, span) {
        return found;
    }
    for simple in &scene.reading.commands {
        let is_target = simple.redirects.iter().any(|redirect| {
            matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append)
                && is_path(&redirect.target.text)
        }) || (simple
            .words
            .first()
            .is_some_and(|first| first.text == "tee")
            && simple.words.iter().skip(1).any(|word| is_path(&word.text)));
        if is_target {
            found.extend(printed(simple));
        }
    }
    found
}

/// A script that a shell runs and that code of the same text names: every text of that code may be in it.
fn judge_written_script(command: &Command<'_>, scene: &Scene<'_>) {
    let first = command.words.first().map(|word| word.text.as_str());
    let path = match is_shell(&command.program) {
        true => script(command),
        false => first.filter(|first| first.contains('/')),
    };
    let name = path.and_then(|path| path.rsplit('/').next());
    let span = &command.simple.span;
    let n_commands = scene.reading.commands.len();
    let Some(name) = name.filter(|name| !name.is_empty() && n_commands > 1) else {
        return;
    };
    if !scene.take(1 + 4 * n_commands, span) {
        return;
    }
    for simple in &scene.reading.commands {
        let names_it = simple
            .words
            .iter()
            .skip(1)
            .any(|word| word.text.contains(name));
        let Some(writer) = Command::of(&simple.words, simple).filter(|_| names_it) else {
            continue;
        };
        let Some(interpreter) = of(&writer.program) else {
            continue;
        };
        for code in codes(&writer, interpreter) {
            if !code.contains(name) || !scene.take(1 + code.len() / 8, span) {
                continue;
            }
            for text in code::texts(code, interpreter.language) {
                scene.note_text(&text, span);
            }
        }
    }
}

fn printed(simple: &Simple) -> Option<String> {
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
        (_, Input::Text(text)) => Some(text.clone()),
        _ => None,
    }
}

fn judge_code(text: &str, language: Language, simple: &Simple, scene: &Scene<'_>) {
    let span = &simple.span;
    if text.chars().all(|c| c == UNKNOWN || c.is_whitespace()) && text.contains(UNKNOWN) {
        scene.note(&UNKNOWN_CODE, span);
        if scene.fetches() {
            scene.note(&REMOTE, span);
        }
        return;
    }
    for effect in code::effects(text, language) {
        match effect {
            code::Effect::Tree => scene.note(&TREE, span),
            code::Effect::Everybody => scene.note(&RIGHTS, span),
            code::Effect::Remote => scene.note(&REMOTE, span),
            code::Effect::Fork => scene.note(&FORK, span),
            code::Effect::Many => scene.note(&MANY, span),
            code::Effect::Unknown => scene.note(&UNKNOWN_CODE, span),
            code::Effect::Given(source) => given::judge(source, text, language, simple, scene),
            code::Effect::Shell(text) => scene.note_text(&text, span),
            code::Effect::Words(words) => scene.note_argv(&words, span),
            code::Effect::Removes(path) => {
                scene.note_argv(&["rm".to_owned(), "--".to_owned(), path], span)
            }
            code::Effect::Writes(path) => judge_written(&path, simple, scene),
            code::Effect::Statement(text) => {
                if statement_harm(&text) == Harm::All {
                    scene.note(&STATEMENT, span);
                }
            }
        }
    }
}

fn judge_written(path: &str, simple: &Simple, scene: &Scene<'_>) {
    let path = scene.path(path);
    if devices::is_device(&path) {
        scene.note(&DEVICE, &simple.span);
    } else if [
        "/etc/", "/boot/", "/usr/", "/bin/", "/sbin/", "/sys/", "/proc/", "~/.ssh/",
    ]
    .iter()
    .any(|folder| path.starts_with(folder))
    {
        scene.note(&OUTSIDE, &simple.span);
    }
}
