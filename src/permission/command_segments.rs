//! A command line as rules see it: each simple command as the texts that a rule may name it by.
//!
//! It refuses to know rules and what a program does; how a shell reads a line is `shell`'s.

use std::path::{Path, PathBuf};

use super::lexical_path::{is_inside, lexical_absolute};
use super::shell::{
    self, AnalysisDoubt, AnalysisLimits, CommandRedirect, RedirectKind, ShellWord, SimpleCommand,
    WrapperKind,
};

/// A line, split.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandLineSegments {
    /// Its simple commands; at least one.
    pub segments: Vec<CommandSegment>,
    /// Why there may be more than these; `None` when they are all.
    pub doubt: Option<String>,
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandSegment {
    /// Texts that stand for the whole of it: one that a rule allows is enough. Empty when only files are written.
    pub match_texts: Vec<String>,
    /// What it runs inside of a wrapper that changes its meaning: must not be forbidden or asked about.
    pub inner_commands: Vec<String>,
    /// Other looks of the same command: must not be forbidden.
    pub aliases: Vec<String>,
    /// Files that its redirects write, as they are named.
    pub written_files: Vec<String>,
    /// Its words, the program first, for whoever looks closer.
    words: Vec<String>,
    /// Whether they are all of it: nothing stands before it, and none is guessed.
    is_literal: bool,
}

/// Targets of redirects that keep nothing.
const NON_FILE_TARGETS: [&str; 6] = [
    "/dev/null",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/zero",
    "/dev/full",
];

/// Splits a line.
pub fn split_command_line(line: &str) -> CommandLineSegments {
    let reading = shell::analyze_script(line, &AnalysisLimits::default());
    let nested = find_nested_commands(&reading.commands);
    let mut parts: Vec<CommandSegment> = reading
        .commands
        .iter()
        .zip(nested)
        .map(|(simple, is_nested)| {
            let source = SegmentSource {
                text: line.get(simple.span.clone()).unwrap_or(line).trim(),
                is_unshared: !is_nested,
            };
            build_segment(simple, source)
        })
        .collect();
    if parts.is_empty() {
        parts.push(CommandSegment::from_text(line));
    }
    let unknown_file = reading
        .commands
        .iter()
        .flat_map(|simple| &simple.redirects)
        .any(|redirect| writes_file(redirect) && !redirect.target.is_fully_known);
    let doubt = reading.doubts.first().map(describe_doubt);
    CommandLineSegments {
        segments: parts,
        doubt: doubt.or_else(|| {
            unknown_file.then(|| "it writes a file whose name is not known".to_owned())
        }),
    }
}

impl CommandSegment {
    fn from_text(text: &str) -> Self {
        Self {
            match_texts: vec![text.trim().to_owned()],
            ..Self::default()
        }
    }

    /// Its words, where nothing stands before them and each of them is known.
    pub fn literal_words(&self) -> Option<&[String]> {
        self.is_literal.then_some(self.words.as_slice())
    }

    /// Tells whether an argument names something outside the root, as far as its text tells.
    pub fn leaves_root(&self, cwd: &Path, root: &Path) -> bool {
        self.argument_values().any(|word| {
            word.starts_with('~') || !is_inside(&lexical_absolute(cwd, Path::new(word)), root)
        })
    }

    /// Its words, its program and the files that it writes, each as the path that it would be.
    pub fn possible_paths(&self, cwd: &Path) -> impl Iterator<Item = PathBuf> {
        let program = self.words.iter().take(1).map(String::as_str);
        let written = self.written_files.iter().map(String::as_str);
        let words = self.argument_values().chain(program).chain(written);
        words.map(move |word| lexical_absolute(cwd, Path::new(word)))
    }

    /// What stands behind its program: of an option with a value, the value.
    fn argument_values(&self) -> impl Iterator<Item = &str> {
        self.words
            .iter()
            .skip(1)
            .map(|word| match word.split_once('=') {
                Some((option, value)) if option.starts_with('-') => value,
                Some(_) | None => word.as_str(),
            })
            .filter(|word| !NON_FILE_TARGETS.contains(word))
    }
}

fn build_segment(simple: &SimpleCommand, source: SegmentSource<'_>) -> CommandSegment {
    let words: Vec<&str> = word_texts(&simple.words).collect();
    let mut part = CommandSegment {
        written_files: simple
            .redirects
            .iter()
            .filter(|redirect| writes_file(redirect) && redirect.target.is_fully_known)
            .map(|redirect| redirect.target.text.clone())
            .collect(),
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        is_literal: simple.wrappers.is_empty()
            && simple.assignments.is_empty()
            && !words.is_empty()
            && simple
                .words
                .iter()
                .all(|word| word.is_fully_known && !word.may_split),
        ..CommandSegment::default()
    };
    match words.split_first() {
        Some((program, rest)) => collect_match_texts(&mut part, simple, source, program, rest),
        // A block's redirects stand behind it: its commands are judged by themselves.
        None if is_block_redirect(simple, source.text) => {}
        None => part.match_texts.push(source.text.to_owned()),
    }
    part
}

/// Tells of each command whether its place in the line lies in that of another one, or is the same.
fn find_nested_commands(commands: &[SimpleCommand]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..commands.len()).collect();
    let span = |at: usize| commands.get(at).map_or(0..0, |simple| simple.span.clone());
    order.sort_by_key(|at| (span(*at).start, std::cmp::Reverse(span(*at).end)));
    let mut nested = vec![false; commands.len()];
    let mut mark = |at: usize| {
        if let Some(flag) = nested.get_mut(at) {
            *flag = true;
        }
    };
    let (mut end, mut last): (usize, Option<usize>) = (0, None);
    for at in order {
        let span = span(at);
        if span.end <= end {
            mark(at);
        }
        if let Some(last) = last.filter(|last| {
            commands
                .get(*last)
                .is_some_and(|last: &SimpleCommand| last.span == span)
        }) {
            mark(last);
        }
        end = end.max(span.end);
        last = Some(at);
    }
    nested
}

/// Where a command stands in the line.
#[derive(Clone, Copy)]
struct SegmentSource<'a> {
    text: &'a str,
    /// Whether no other command has the same place, as what lies in a substitution may.
    is_unshared: bool,
}

fn word_texts(words: &[ShellWord]) -> impl Iterator<Item = &str> {
    words.iter().map(|word| word.text.as_str())
}

fn is_block_redirect(simple: &SimpleCommand, source: &str) -> bool {
    !simple.redirects.is_empty()
        && simple.assignments.is_empty()
        && !source.starts_with(|c: char| c.is_ascii_digit() || "<>&".contains(c))
}

/// Gathers the texts that a command goes by.
fn collect_match_texts(
    part: &mut CommandSegment,
    simple: &SimpleCommand,
    source: SegmentSource<'_>,
    program: &str,
    rest: &[&str],
) {
    let before = simple
        .wrappers
        .iter()
        .flat_map(|wrapper| word_texts(&wrapper.words));
    let own: Vec<&str> = std::iter::once(program)
        .chain(rest.iter().copied())
        .collect();
    let wrapped: Vec<&str> = before.chain(own.iter().copied()).collect();
    let assigned: String = simple
        .assignments
        .iter()
        .map(|(name, value)| format!("{name}={} ", value.text))
        .collect();
    if source.is_unshared {
        part.match_texts.push(source.text.to_owned());
    }
    if !simple.wrappers.is_empty() || !simple.assignments.is_empty() {
        part.match_texts
            .push(format!("{assigned}{}", wrapped.join(" ")));
    }
    let is_itself = simple.assignments.is_empty()
        && simple.wrappers.iter().all(|wrapper| match wrapper.kind {
            WrapperKind::Known | WrapperKind::Shell => true,
            WrapperKind::Privilege
            | WrapperKind::Unknown
            | WrapperKind::Remote
            | WrapperKind::ForEachArgument => false,
        });
    // A program whose name holds a blank is not what its text looks like.
    if is_itself && !program.contains(char::is_whitespace) {
        part.match_texts.push(own.join(" "))
    } else {
        part.inner_commands.push(own.join(" "))
    }
    if part.match_texts.is_empty() {
        part.match_texts
            .push(format!("{program:?} {}", rest.join(" ")));
    }
    if let Some((_, name)) = program.rsplit_once('/') {
        let named: Vec<&str> = std::iter::once(name).chain(rest.iter().copied()).collect();
        part.aliases.push(named.join(" "));
    }
}

fn writes_file(redirect: &CommandRedirect) -> bool {
    let target = redirect.target.text.as_str();
    let is_file = !NON_FILE_TARGETS.contains(&target) && !target.starts_with("/dev/fd/");
    match redirect.kind {
        RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite => is_file,
        RedirectKind::Read | RedirectKind::Duplicate => false,
    }
}

fn describe_doubt(doubt: &AnalysisDoubt) -> String {
    match doubt {
        AnalysisDoubt::Unparsable { .. } => "a part of it cannot be read as a shell would",
        AnalysisDoubt::Limit { .. } => "it is too long or too deep to be followed",
        AnalysisDoubt::DynamicProgram { .. } => "which program it runs is only known when it runs",
        AnalysisDoubt::DynamicScript { .. } => "it runs a text that is only known when it runs",
        AnalysisDoubt::ForkBomb { .. } => "it starts itself again and again",
    }
    .to_owned()
}

#[cfg(test)]
mod tests;
