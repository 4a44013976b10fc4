//! Judges commands that remove, empty, move away or overwrite files and folders.
//!
//! Where a path is comes from [`super::path_class`]; devices and modes have their own files.

use crate::permission::program_table::{ProgramTrait, WrittenOperands, program_facts};
use crate::permission::shell::{RedirectKind, ShellWord, SimpleCommand};

use super::builtin_rules::RuleName;
use super::command_invocation::{CommandInvocation, is_run_for_each_argument};
use super::command_scene::{CommandScene, UNKNOWN_WORDS};
use super::path_class::{PathClass, classify_path};

const TREE: RuleName = RuleName::new("files.tree");
const CRITICAL: RuleName = RuleName::new("files.critical");
const OUTSIDE: RuleName = RuleName::new("files.outside");
const ELSEWHERE: RuleName = RuleName::new("files.elsewhere");
const ALL: RuleName = RuleName::new("files.all");
const MANY: RuleName = RuleName::new("files.many");
const FOUND: RuleName = RuleName::new("files.found");
const EMPTIED: RuleName = RuleName::new("files.emptied");
const GONE: RuleName = RuleName::new("files.gone");
const SYSTEM_WRITE: RuleName = RuleName::new("files.system-write");
const HOME_WRITE: RuleName = RuleName::new("files.home-write");
pub const UNKNOWN_TREE: RuleName = RuleName::new("files.unknown-tree");

/// Programs that are judged even with a help option: other systems read it as a file name.
pub const TREE_REMOVERS: &[&str] = &["rm"];

/// Folders whose files the system or a login depends on.
const PROTECTED_FOLDERS: &[&str] = &[
    "/etc", "/boot", "/efi", "/bin", "/sbin", "/lib", "/lib64", "/sys", "/proc", "/root", "/usr",
    "~/.ssh", "~/.gnupg", "~/.aws", "~/.kube", "/System", "/Library",
];

/// Parts of [`PROTECTED_FOLDERS`] that may be written, freely or after a question.
const WRITABLE_PATHS: &[&str] = &["/proc/self/fd", "/proc/self/oom_score_adj"];
const CONFIRMED_FOLDERS: &[&str] = &["/usr/local", "/usr/share", "/usr/src"];

/// Judges programs that remove, move and write files.
pub fn check_command(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    match command.program.as_str() {
        "rm" => check_rm(command, scene),
        "unlink" | "rmdir" => check_single_removals(command, scene),
        "find" | "fd" | "fdfind" | "bfs" => check_find_delete(command, scene),
        "truncate" => check_truncate(command, scene),
        "mv" => check_mv(command, scene),
        _ if command.has_trait(ProgramTrait::WindowsRemoval) => {
            check_windows_delete(command, scene)
        }
        _ => {}
    }
    let appends = program_facts(&command.program)
        .writes()
        .is_some_and(|writer| {
            let mut options = writer.append_options.iter();
            writer.keeps_contents
                || options.any(|option| command.arguments.find_option(option).is_some())
        });
    let kind = if appends {
        RedirectKind::Append
    } else {
        RedirectKind::Write
    };
    for target in output_paths(command) {
        check_write_target(target, kind, command.simple, scene);
    }
}

/// Judges redirects to system files.
pub fn check_redirects(simple: &SimpleCommand, scene: &CommandScene<'_>) {
    for redirect in &simple.redirects {
        if matches!(
            redirect.kind,
            RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite
        ) {
            check_write_target(&redirect.target.text, redirect.kind, simple, scene);
        }
    }
}

/// Returns whether a word looks like `-rf`.
pub fn is_recursive_force_flag(text: &str) -> bool {
    matches!(
        text,
        "-rf" | "-fr" | "-Rf" | "-fR" | "-rfv" | "-rvf" | "-vrf" | "-frv"
    )
}

fn check_rm(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let span = &command.simple.span;
    if let Some(first) = command.argument_words().first()
        && matches!(first.text.as_str(), "--help" | "--version")
    {
        return;
    }
    let is_tree = command.arguments.has_option(&["-r", "-R", "--recursive"]);
    if command
        .arguments
        .options
        .iter()
        .any(|given| given.name == "--no-preserve-root")
    {
        scene.record_rule(CRITICAL, span);
    }
    if is_tree {
        scene.record_rule(TREE, span);
    }
    for operand in &command.arguments.operands {
        if is_tree {
            check_tree_removal(operand.word, command, scene)
        } else {
            check_file_removal(operand.word, command, scene)
        }
    }
    if is_run_for_each_argument(command.simple) {
        scene.record_rule(MANY, span);
    }
}

fn check_tree_removal(word: &ShellWord, command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let span = &command.simple.span;
    match classify_path(&word.text, scene.cwd.as_deref(), scene.settings) {
        PathClass::WholeTree => scene.record_rule(CRITICAL, span),
        PathClass::Protected => scene.record_rule(OUTSIDE, span),
        PathClass::Project
        | PathClass::Temporary
        | PathClass::AboveWorkingFolder
        | PathClass::Elsewhere
        | PathClass::Unknown => {}
    }
}

fn check_file_removal(word: &ShellWord, command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let span = &command.simple.span;
    if !word.is_fully_known && word.may_split && !is_run_for_each_argument(command.simple) {
        return scene.record_rule(UNKNOWN_WORDS, span);
    }
    match classify_path(&word.text, scene.cwd.as_deref(), scene.settings) {
        PathClass::WholeTree if word.is_glob && !word.text.starts_with(['/', '~', '.']) => {
            scene.record_rule(ALL, span)
        }
        PathClass::WholeTree | PathClass::Protected => scene.record_rule(OUTSIDE, span),
        PathClass::AboveWorkingFolder => scene.record_rule(ELSEWHERE, span),
        // Agents often start a command with `cd` to the project's own absolute path.
        PathClass::Elsewhere if word.text.starts_with(['/', '~']) => {
            scene.record_rule(ELSEWHERE, span)
        }
        PathClass::Elsewhere | PathClass::Project | PathClass::Temporary | PathClass::Unknown => {}
    }
}

fn check_single_removals(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    for operand in &command.arguments.operands {
        check_file_removal(operand.word, command, scene);
    }
    if is_run_for_each_argument(command.simple) && command.program == "unlink" {
        scene.record_rule(MANY, &command.simple.span);
    }
}

fn check_find_delete(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let span = &command.simple.span;
    let words = command.argument_texts();
    if !words.contains(&"-delete") {
        return;
    }
    let filters = [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-regex",
        "-iregex",
        "-mtime",
        "-mmin",
        "-newer",
        "-empty",
        "-size",
        "-wholename",
        "-atime",
        "-ctime",
        "-lname",
    ];
    let is_filtered = words.iter().any(|word| filters.contains(word));
    let begins = words
        .iter()
        .take_while(|word| !word.starts_with(['-', '(', '!']));
    let is_far = begins.into_iter().any(|start| {
        let place = classify_path(start, scene.cwd.as_deref(), scene.settings);
        matches!(
            place,
            PathClass::Protected | PathClass::Elsewhere | PathClass::Unknown
        ) || (place == PathClass::WholeTree && *start != "." && *start != "./")
    });
    if is_filtered && !is_far {
        return scene.record_rule(MANY, span);
    }
    scene.record_rule(FOUND, span);
}

fn check_truncate(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let empties = command
        .arguments
        .option_values(&["-s", "--size"])
        .any(|size| {
            size.trim_start_matches(['=', '<', '-', '/', '%'])
                .starts_with('0')
        });
    // Emptying a single file of the project is treated like `> file`.
    let is_single = command.arguments.operands.iter().all(|operand| {
        let place = classify_path(&operand.word.text, scene.cwd.as_deref(), scene.settings);
        !operand.word.is_glob && matches!(place, PathClass::Project | PathClass::Temporary)
    });
    if empties && (!is_single || is_run_for_each_argument(command.simple)) {
        scene.record_rule(EMPTIED, &command.simple.span);
    }
}

fn check_mv(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let span = &command.simple.span;
    let texts: Vec<&str> = command.arguments.operand_texts().collect();
    let named = command
        .arguments
        .option_values(&["-t", "--target-directory"])
        .next();
    let (target, moved) = match (named, texts.split_last()) {
        (Some(target), _) => (target, texts.as_slice()),
        (None, Some((target, moved))) => (*target, moved),
        (None, None) => return,
    };
    if scene.resolve_path(target) == "/dev/null" {
        return scene.record_rule(GONE, span);
    }
    for path in moved {
        let place = classify_path(path, scene.cwd.as_deref(), scene.settings);
        match place {
            PathClass::Protected => scene.record_rule(OUTSIDE, span),
            PathClass::WholeTree
                if path.starts_with(['/', '~']) || scene.resolve_path(path).ends_with(".git") =>
            {
                scene.record_rule(CRITICAL, span)
            }
            _ => {}
        }
    }
}

fn check_windows_delete(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let is_tree = command.argument_words().iter().any(|word| {
        let word = word.text.to_lowercase();
        matches!(word.as_str(), "/s" | "-recurse" | "-r")
    });
    if is_tree {
        scene.record_rule(FOUND, &command.simple.span);
    }
}

fn check_write_target(
    target: &str,
    kind: RedirectKind,
    simple: &SimpleCommand,
    scene: &CommandScene<'_>,
) {
    check_written_path(&scene.resolve_path(target), kind, simple, scene);
}

/// Judges a write at a path or, if it is a folder, into it.
pub fn check_written_path(
    path: &str,
    kind: RedirectKind,
    simple: &SimpleCommand,
    scene: &CommandScene<'_>,
) {
    let below = |folder: &&str| {
        path.strip_prefix(*folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if WRITABLE_PATHS.iter().any(below) {
        return;
    }
    if CONFIRMED_FOLDERS.iter().any(below) {
        return scene.record_rule(HOME_WRITE, &simple.span);
    }
    if path == "/" || PROTECTED_FOLDERS.iter().any(below) {
        return scene.record_rule(SYSTEM_WRITE, &simple.span);
    }
    let is_home =
        path.starts_with('~') && classify_path(path, None, scene.settings) == PathClass::Protected;
    if is_home && kind == RedirectKind::Write && path.starts_with("~/.") {
        scene.record_rule(HOME_WRITE, &simple.span);
    }
}

/// Returns the files that a program writes because an argument names them.
pub fn output_paths<'a>(command: &'a CommandInvocation<'_>) -> Vec<&'a str> {
    let Some(writer) = program_facts(&command.program).writes() else {
        return Vec::new();
    };
    let given = command.arguments.options.iter();
    let mut paths: Vec<&str> = given
        .filter(|given| writer.options.contains(&given.name))
        .filter_map(|given| given.value)
        .collect();
    paths.extend(raw_option_values(command, &writer.word_options));
    if !paths.is_empty() {
        return paths;
    }
    let mut operands: Vec<&str> = command.arguments.operand_texts().collect();
    match writer.operands {
        WrittenOperands::None => operands.clear(),
        WrittenOperands::All => {}
        WrittenOperands::Absolute => operands.retain(|path| path.starts_with('/')),
        WrittenOperands::Last => return last_operand(&operands),
        WrittenOperands::Second => return operands.get(1).copied().into_iter().collect(),
        WrittenOperands::OutputFile => {
            let words = operands.iter();
            return words.filter_map(|word| word.strip_prefix("of=")).collect();
        }
        WrittenOperands::InPlace if edits_in_place(command) => {}
        WrittenOperands::InPlace => operands.clear(),
        WrittenOperands::Custom => return custom_output_paths(command, &operands),
    }
    operands
}

fn last_operand<'a>(operands: &[&'a str]) -> Vec<&'a str> {
    let last = operands.last().filter(|_| operands.len() > 1);
    last.copied().into_iter().collect()
}

fn edits_in_place(command: &CommandInvocation<'_>) -> bool {
    let mut options = command.arguments.options.iter();
    options.any(|given| given.name.starts_with("-i"))
}

/// Returns the files that the other programs write.
fn custom_output_paths<'a>(
    command: &'a CommandInvocation<'_>,
    operands: &[&'a str],
) -> Vec<&'a str> {
    let arguments = &command.arguments;
    match command.program.as_str() {
        // The first operand is the script.
        "sed" if edits_in_place(command) || arguments.has_option(&["--in-place"]) => {
            operands.iter().copied().skip(1).collect()
        }
        "tar" | "bsdtar" => tar_output_paths(command, operands),
        "qemu-img" if operands.first() == Some(&"convert") => last_operand(operands),
        _ => Vec::new(),
    }
}

/// Returns the archive that tar writes.
fn tar_output_paths<'a>(command: &'a CommandInvocation<'_>, operands: &[&'a str]) -> Vec<&'a str> {
    let cluster = tar_archive_path(command);
    if !cluster.is_empty() {
        return cluster;
    }
    let arguments = &command.arguments;
    if arguments.has_option(&["-c", "--create", "-r", "-u", "--append", "--update"]) {
        let files = arguments.options.iter();
        let files = files.filter(|given| matches!(given.name.as_str(), "-f" | "--file"));
        return files.filter_map(|given| given.value).collect();
    }
    match operands {
        [letters, archive, ..]
            if !letters.contains('/') && letters.contains('c') && letters.contains('f') =>
        {
            vec![archive]
        }
        _ => Vec::new(),
    }
}

/// `tar -czf archive`: returns the word after letters that create and end with `f`.
fn tar_archive_path<'a>(command: &CommandInvocation<'a>) -> Vec<&'a str> {
    let mut words = command
        .argument_words()
        .iter()
        .map(|word| word.text.as_str());
    let is_creating = |word: &str| {
        word.starts_with('-')
            && !word.starts_with("--")
            && word.contains('c')
            && word.ends_with('f')
    };
    while let Some(word) = words.next() {
        if is_creating(word) {
            return words.next().into_iter().collect();
        }
    }
    Vec::new()
}

/// Returns the values of options that the program's own option list does not contain.
pub fn raw_option_values<'a>(
    command: &CommandInvocation<'a>,
    names: &[impl AsRef<str>],
) -> Vec<&'a str> {
    let is_named = |word: &str| names.iter().any(|name| name.as_ref() == word);
    let mut words = command
        .argument_words()
        .iter()
        .map(|word| word.text.as_str());
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        if is_named(word) {
            found.extend(words.next());
        } else if let Some((name, value)) = word.split_once('=')
            && is_named(name)
        {
            found.push(value);
        }
    }
    found
}
