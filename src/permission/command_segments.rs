//! Splits a command line into its simple commands, each with the texts that a rule can match.
//!
//! How a shell reads a line is in `shell`; what a program does is not known here.

use std::path::{Path, PathBuf};

use super::lexical_path::{is_inside, lexical_absolute};
use super::shell::{
    self, AnalysisDoubt, AnalysisLimits, CommandRedirect, RedirectKind, ShellWord, SimpleCommand,
    WrapperKind,
};

/// A command line, split into its simple commands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandLineSegments {
    /// The simple commands; at least one.
    pub segments: Vec<CommandSegment>,
    /// Why there may be more commands; `None` when the list is complete.
    pub doubt: Option<String>,
}

/// One simple command, with the texts that rules can match.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandSegment {
    /// Texts for the whole command: a rule that allows one of them is enough. Empty when the command only writes files.
    pub match_texts: Vec<String>,
    /// Commands that run inside a wrapper that changes their meaning: none of them may be denied or asked about.
    pub inner_commands: Vec<String>,
    /// Other spellings of the same command: none of them may be denied.
    pub aliases: Vec<String>,
    /// Files that its redirects write, as the command names them.
    pub written_files: Vec<String>,
    /// Its words, the program first, for a closer look.
    words: Vec<String>,
    /// Whether the words are the whole command: no wrapper or assignment before it, and no word is a guess.
    is_literal: bool,
}

/// Redirect targets that store nothing.
const NON_FILE_TARGETS: [&str; 6] = [
    "/dev/null",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/zero",
    "/dev/full",
];

/// Splits a command line into its simple commands.
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

    /// Returns its words when nothing comes before them and every word is known.
    pub fn literal_words(&self) -> Option<&[String]> {
        self.is_literal.then_some(self.words.as_slice())
    }

    /// Returns whether an argument names something outside the root, judged by its text.
    pub fn leaves_root(&self, cwd: &Path, root: &Path) -> bool {
        self.argument_values().any(|word| {
            word.starts_with('~') || !is_inside(&lexical_absolute(cwd, Path::new(word)), root)
        })
    }

    /// Returns its words, its program and the files that it writes, each as the path that it could mean.
    pub fn possible_paths(&self, cwd: &Path) -> impl Iterator<Item = PathBuf> {
        let program = self.words.iter().take(1).map(String::as_str);
        let written = self.written_files.iter().map(String::as_str);
        let words = self.argument_values().chain(program).chain(written);
        words.map(move |word| lexical_absolute(cwd, Path::new(word)))
    }

    /// Returns the words after its program; for an option with a value, the value.
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
        // These are the redirects of a block. The commands inside the block are judged one by one.
        None if is_block_redirect(simple, source.text) => {}
        None => part.match_texts.push(source.text.to_owned()),
    }
    part
}

/// Returns for each command whether its span is inside another command's span, or equal to it.
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

/// Where a command is in the line.
#[derive(Clone, Copy)]
struct SegmentSource<'a> {
    text: &'a str,
    /// Whether no other command has the same span, as a command in a substitution may.
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

/// Collects the texts that rules can match for a command.
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
    // A program name with a space in it does not match its own text: the text would read as program and argument.
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
        AnalysisDoubt::Unparsable { .. } => "a part of it is not valid shell syntax",
        AnalysisDoubt::Limit { .. } => "it is too long or too deeply nested to analyse",
        AnalysisDoubt::DynamicProgram { .. } => "the program it runs is known only at run time",
        AnalysisDoubt::DynamicScript { .. } => "it runs a script known only at run time",
        AnalysisDoubt::ForkBomb { .. } => "it starts itself repeatedly",
    }
    .to_owned()
}

#[cfg(test)]
mod tests;
