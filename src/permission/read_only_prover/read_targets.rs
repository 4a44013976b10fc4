//! Lists what the commands of a text open to read: exactly where a command is proven, else
//! every word that could be a path.
//!
//! Nothing is read from the disk.

use std::path::{Path, PathBuf};

use super::working_folders::WorkingFolders;
use super::{ProofContext, WrapperArguments};
use crate::permission::call_reads::{ReadDepth, ReadTarget, SearchProgram, SearchScope};
use crate::permission::program_table::{ProgramTrait, has_trait};
use crate::permission::shell::{self, AnalysisLimits, RedirectKind, SimpleCommand, WrapperKind};
use crate::permission::word_list::is_in_word_list;

/// The most targets that are listed.
const MAX_TARGETS: usize = 2_000;
/// The longest text that is searched.
const MAX_TEXT_BYTES: usize = 1 << 16;

/// Lists what a text opens when it runs in `cwd`.
pub fn list_read_targets(text: &str, cwd: &Path, root: &Path) -> Vec<ReadTarget> {
    let limits = AnalysisLimits {
        max_bytes: MAX_TEXT_BYTES,
        max_steps: 50_000,
        ..AnalysisLimits::default()
    };
    let reading = shell::analyze_script(text, &limits);
    let mut places = WorkingFolders::new(cwd, root);
    let mut found = Vec::new();
    for simple in &reading.commands {
        let proof = ProofContext {
            text,
            commands: &reading.commands,
            folders: &places,
        };
        collect_command_targets(&proof, simple, &mut found);
        places.follow_cd(simple);
    }
    if !reading.doubts.is_empty() {
        found.extend(path_like_targets(text, places.folders()));
    }
    found.truncate(MAX_TARGETS);
    found
}

fn collect_command_targets(
    proof: &ProofContext<'_>,
    simple: &SimpleCommand,
    found: &mut Vec<ReadTarget>,
) {
    let folders = proof.folders.folders();
    for redirect in &simple.redirects {
        if redirect.kind == RedirectKind::Read {
            found.push(build_target(
                &redirect.target.text,
                folders,
                ReadDepth::Contents,
            ));
        }
    }
    let Some((program, arguments)) = simple.words.split_first() else {
        return;
    };
    let words: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    let fed = find_argument_source(proof, simple);
    let fed_how = if fed.is_some() {
        WrapperArguments::Anything
    } else {
        WrapperArguments::Nothing
    };
    proof.folders.take_mentions();
    let is_proven = proof
        .prove_command(&program.text, arguments, fed_how)
        .is_ok();
    let mentions = proof.folders.take_mentions();
    if !is_proven {
        for word in &simple.words {
            found.extend(path_like_targets(&word.text, folders));
        }
        return;
    }
    if has_trait(&program.text, ProgramTrait::ShowsLinks) {
        return;
    }
    let scope = search_scope(&program.text, &words);
    let depth = if has_trait(&program.text, ProgramTrait::ShowsNames) {
        ReadDepth::Names
    } else {
        ReadDepth::Contents
    };
    if program.text == "git" {
        collect_git_targets(&words, &mentions, proof.folders, found);
        return;
    }
    let mut names_any = false;
    for mention in mentions {
        let is_operand = words.contains(&mention.text.as_str());
        names_any |= is_operand;
        found.push(ReadTarget {
            text: mention.text,
            folders: mention.folders,
            is_pattern: mention.is_pattern,
            // The rules apply to its name even if the file does not exist.
            is_decided_by_name: is_operand && depth == ReadDepth::Contents,
            depth,
            search: scope.clone(),
        });
    }
    if let Some(scope) = scope.filter(|_| !names_any) {
        found.push(build_search_target(".", folders, depth, scope));
    }
    if let Some(source) = fed.filter(|_| depth == ReadDepth::Contents) {
        collect_piped_targets(&source, folders, found);
    }
}

fn build_target(text: &str, folders: &[PathBuf], depth: ReadDepth) -> ReadTarget {
    ReadTarget {
        text: text.to_owned(),
        folders: folders.to_vec(),
        is_pattern: text.contains(['*', '?', '[']),
        is_decided_by_name: false,
        depth,
        search: None,
    }
}

fn build_search_target(
    text: &str,
    folders: &[PathBuf],
    depth: ReadDepth,
    scope: SearchScope,
) -> ReadTarget {
    ReadTarget {
        search: Some(scope),
        ..build_target(text, folders, depth)
    }
}

/// Lists every piece of a text that could name a file, also inside quoted code.
fn path_like_targets(text: &str, folders: &[PathBuf]) -> Vec<ReadTarget> {
    let is_part = |c: char| c.is_alphanumeric() || "._-/~*?[]@+".contains(c);
    let pieces = text.split(|c: char| !is_part(c));
    let named = pieces.filter(|piece| piece.contains(|c: char| c.is_alphanumeric() || c == '*'));
    let whole = std::iter::once(text).filter(|text| text.contains(' '));
    named
        .chain(whole)
        .map(|piece| build_target(piece, folders, ReadDepth::Contents))
        .take(MAX_TARGETS)
        .collect()
}

/// Returns the words of the command that passes files on: `find` itself, or the command before the pipe to `xargs`.
fn find_argument_source<'a>(
    proof: &'a ProofContext<'a>,
    simple: &'a SimpleCommand,
) -> Option<Vec<&'a str>> {
    let each = simple
        .wrappers
        .iter()
        .rfind(|via| via.kind == WrapperKind::ForEachArgument)?;
    let texts =
        |words: &'a [shell::ShellWord]| words.iter().map(|word| word.text.as_str()).collect();
    match each.name.as_str() {
        "xargs" => proof
            .pipe_source(simple)
            .map(|source| texts(&source.words))
            .or(Some(Vec::new())),
        name => {
            let is_source = |other: &&SimpleCommand| {
                let first = other.words.first();
                first.is_some_and(|first| first.text == name)
                    && other.span.start <= simple.span.start
                    && simple.span.end <= other.span.end
            };
            let source = proof.commands.iter().find(is_source);
            Some(texts(source.map_or(&each.words, |source| &source.words)))
        }
    }
}

fn collect_piped_targets(source: &[&str], folders: &[PathBuf], found: &mut Vec<ReadTarget>) {
    let is_git = source.first() == Some(&"git");
    let mut scope = SearchScope::everything(if is_git {
        SearchProgram::Git
    } else {
        SearchProgram::Find
    });
    scope.follows = source.iter().any(|word| matches!(*word, "-L" | "-follow"));
    let is_simple = !source
        .iter()
        .any(|word| matches!(*word, "-o" | "-or" | "("));
    let mut before = "";
    for pair in source.windows(2) {
        if let [name @ ("-name" | "-path" | "-g" | "--glob"), pattern] = pair
            && is_simple
        {
            match (matches!(before, "-not" | "!"), pattern.strip_prefix('!')) {
                (true, _) => scope.excludes.push((*pattern).to_owned()),
                (false, Some(left_out)) => scope.excludes.push(left_out.to_owned()),
                (false, None) if *name == "-name" => scope.includes.push((*pattern).to_owned()),
                (false, None) => {}
            }
        }
        before = pair.first().copied().unwrap_or_default();
    }
    let starts = source
        .iter()
        .skip(1)
        .take_while(|word| !word.starts_with(['-', '(', '!']));
    let starts: Vec<&str> = match source.first() {
        Some(&"find") => starts.copied().collect(),
        _ => Vec::new(),
    };
    let starts = if starts.is_empty() { vec!["."] } else { starts };
    for start in starts {
        found.push(build_search_target(
            start,
            folders,
            ReadDepth::Contents,
            scope.clone(),
        ));
    }
}

/// Returns how a program searches folders; `None` if it does not.
fn search_scope(program: &str, words: &[&str]) -> Option<SearchScope> {
    let flag = |letter: char| {
        words
            .iter()
            .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    let long = |name: &str| words.iter().any(|word| word.starts_with(name));
    let mut scope = SearchScope::everything(SearchProgram::Grep);
    match program {
        "grep" | "egrep" | "fgrep" | "zgrep" => {
            let is_deep = flag('r') || flag('R') || long("--recursive") || long("--deref");
            if !is_deep && !long("--directories") && !flag('d') {
                return None;
            }
            scope.follows = flag('R') || long("--deref");
            scope.includes = option_values(words, &["--include"]);
            scope.excludes = option_values(words, &["--exclude", "--exclude-dir"]);
        }
        "rg" | "ag" => {
            scope.program = SearchProgram::Ripgrep;
            let n_u: usize = words
                .iter()
                .filter(|word| word.starts_with("-u"))
                .map(|word| word.chars().filter(|c| *c == 'u').count())
                .sum();
            scope.hidden = long("--hidden")
                || flag('.')
                || n_u > 1
                || program == "ag" && n_u > 0
                || words
                    .iter()
                    .filter(|word| **word == "--unrestricted")
                    .count()
                    > 1;
            scope.ignores =
                n_u == 0 && !long("--no-ignore") && !long("--unrestricted") && !flag('U');
            scope.follows = flag('L') || long("--follow") || program == "ag" && flag('f');
            for glob in option_values(words, &["-g", "--glob", "--iglob", "--ignore"]) {
                match glob.strip_prefix('!') {
                    Some(left_out) => scope.excludes.push(left_out.to_owned()),
                    None if program == "ag" => scope.excludes.push(glob),
                    None => scope.includes.push(glob),
                }
            }
        }
        "diff" | "sdiff" if flag('r') || long("--recursive") => {
            scope.follows = !long("--no-deref");
            scope.excludes = option_values(words, &["-x", "--exclude"]);
        }
        "find" | "fd" | "fdfind" => {
            scope.follows = flag('L') || words.contains(&"-follow") || long("--follow")
        }
        "tree" => scope.follows = flag('l'),
        "du" => scope.follows = flag('L') || long("--deref"),
        "ls" | "dir" | "vdir" => scope.follows = flag('L') || long("--deref"),
        _ => return None,
    }
    Some(scope)
}

/// Returns the values of options: after `=`, in the same word or in the next one.
fn option_values(words: &[&str], options: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        for option in options {
            let value = match word.strip_prefix(option) {
                Some("") => words.get(at + 1).copied(),
                Some(rest) if option.starts_with("--") => rest.strip_prefix('='),
                Some(rest) => Some(rest.trim_start_matches('=')),
                None => None,
            };
            found.extend(value.map(str::to_owned));
        }
    }
    found
}

/// Options with which git prints no file contents.
const NO_CONTENT_OPTIONS: &str = "--stat --name-only --name-status --numstat --shortstat --no-patch -s --summary --raw --dirstat --check \
    --quiet --cumulative";

/// Returns whether git prints file contents.
fn prints_contents(sub: &str, words: &[&str]) -> bool {
    let patch = words.iter().any(|word| {
        matches!(*word, "-p" | "-u" | "-c" | "--cc" | "-W")
            || [
                "--patch",
                "-U",
                "--unified",
                "-L",
                "--word-diff",
                "--color-words",
                "-p",
            ]
            .iter()
            .any(|option| word.starts_with(option))
    });
    let quiet = words.iter().any(|word| {
        is_in_word_list(
            NO_CONTENT_OPTIONS,
            word.split('=').next().unwrap_or_default(),
        )
    });
    match sub {
        "show" | "diff" => patch || !quiet,
        "grep" | "blame" | "annotate" | "cat-file" | "range-diff" => true,
        _ => patch,
    }
}

fn collect_git_targets(
    words: &[&str],
    mentions: &[super::working_folders::PathMention],
    places: &WorkingFolders,
    found: &mut Vec<ReadTarget>,
) {
    let sub = git_subcommand(words);
    let is_shown = prints_contents(sub, words);
    let depth = if is_shown {
        ReadDepth::Contents
    } else {
        ReadDepth::Names
    };
    let at = words
        .iter()
        .position(|word| *word == sub)
        .unwrap_or_default();
    let operands: Vec<&str> = words.iter().skip(at + 1).copied().collect();
    let behind = operands.iter().position(|word| *word == "--");
    let paths = behind.map(|at| operands.get(at + 1..).unwrap_or_default());
    let mut scope = SearchScope::everything(SearchProgram::Git);
    let mut named = false;
    for word in operands.iter().filter(|word| !word.starts_with('-')) {
        let marks = [":!", ":^", ":(exclude)"];
        let left_out = marks.iter().find_map(|mark| word.strip_prefix(mark));
        let object = word.rsplit_once(':').map_or("", |(_, path)| path);
        match left_out {
            Some(left_out) => scope.excludes.push(left_out.to_owned()),
            None if is_shown && !object.is_empty() => {
                named = true;
                found.push(git_object_target(object, places));
            }
            None => {}
        }
    }
    let paths: Vec<&str> = paths
        .into_iter()
        .flatten()
        .copied()
        .filter(|path| !path.starts_with([':', '-']))
        .collect();
    let (globs, plain): (Vec<&str>, Vec<&str>) = paths
        .iter()
        .partition(|path| path.contains(['*', '?', '[']));
    for mention in mentions {
        // A path in git's own syntax counts by name, whether it is in the work tree or not.
        found.push(ReadTarget {
            text: mention.text.clone(),
            folders: mention.folders.clone(),
            is_pattern: mention.is_pattern,
            is_decided_by_name: is_shown && plain.contains(&mention.text.as_str()),
            depth,
            search: (is_shown && plain.contains(&mention.text.as_str())).then(|| scope.clone()),
        });
    }
    let is_by_name = matches!(sub, "blame" | "annotate");
    if is_shown && !is_by_name && plain.is_empty() && !(named && globs.is_empty()) {
        scope.includes = globs.iter().map(|glob| (*glob).to_owned()).collect();
        found.push(build_search_target(
            ".",
            &[places.root().to_owned()],
            depth,
            scope,
        ));
    }
}

/// Returns git's sub-command, without the options before it.
fn git_subcommand<'a>(words: &[&'a str]) -> &'a str {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match *word {
            "-C" => drop(rest.next()),
            word if word.starts_with('-') => {}
            word => return word,
        }
    }
    ""
}

/// Makes the target for the path after `REV:`, which is relative to the root, or to the folder where it says so.
fn git_object_target(path: &str, places: &WorkingFolders) -> ReadTarget {
    let mut folders = vec![places.root().to_owned()];
    folders.extend(places.folders().iter().cloned());
    ReadTarget {
        is_decided_by_name: true,
        is_pattern: false,
        ..build_target(path, &folders, ReadDepth::Contents)
    }
}
