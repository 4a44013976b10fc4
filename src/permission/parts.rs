//! A command line as rules see it: each simple command as the texts that a rule may name it by.
//!
//! It refuses to know rules and what a program does; how a shell reads a line is `shell`'s.

use std::path::{Path, PathBuf};

use super::path::{absolute, is_inside};
use super::shell::{self, Doubt, Limits, Redirect, RedirectKind, Simple, Word, WrapperKind};

/// A line, split.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parts {
    /// Its simple commands; at least one.
    pub parts: Vec<Part>,
    /// Why there may be more than these; `None` when they are all.
    pub doubt: Option<String>,
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Part {
    /// Texts that stand for the whole of it: one that a rule allows is enough. Empty when only files are written.
    pub said: Vec<String>,
    /// What it runs inside of a wrapper that changes its meaning: must not be forbidden or asked about.
    pub inner: Vec<String>,
    /// Other looks of the same command: must not be forbidden.
    pub looks: Vec<String>,
    /// Files that its redirects write, as they are named.
    pub writes: Vec<String>,
    /// Its words, the program first, for whoever looks closer.
    words: Vec<String>,
    /// Whether they are all of it: nothing stands before it, and none is guessed.
    is_bare: bool,
}

/// Targets of redirects that keep nothing.
const NO_FILES: [&str; 6] = [
    "/dev/null",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/zero",
    "/dev/full",
];

/// Splits a line.
pub fn split(line: &str) -> Parts {
    let reading = shell::read(line, &Limits::default());
    let nested = nested(&reading.commands);
    let mut parts: Vec<Part> = reading
        .commands
        .iter()
        .zip(nested)
        .map(|(simple, is_nested)| {
            let source = Source {
                text: line.get(simple.span.clone()).unwrap_or(line).trim(),
                is_its_own: !is_nested,
            };
            part(simple, source)
        })
        .collect();
    if parts.is_empty() {
        parts.push(Part::plain(line));
    }
    let unknown_file = reading
        .commands
        .iter()
        .flat_map(|simple| &simple.redirects)
        .any(|redirect| writes(redirect) && !redirect.target.is_sure);
    let doubt = reading.doubts.first().map(told);
    Parts {
        parts,
        doubt: doubt.or_else(|| {
            unknown_file.then(|| "it writes a file whose name is not known".to_owned())
        }),
    }
}

impl Part {
    fn plain(text: &str) -> Self {
        Self {
            said: vec![text.trim().to_owned()],
            ..Self::default()
        }
    }

    /// Its words, where nothing stands before them and each of them is known.
    pub fn own_words(&self) -> Option<&[String]> {
        self.is_bare.then_some(self.words.as_slice())
    }

    /// Tells whether an argument names something outside the root, as far as its text tells.
    pub fn leaves(&self, cwd: &Path, root: &Path) -> bool {
        self.values()
            .any(|word| word.starts_with('~') || !is_inside(&absolute(cwd, Path::new(word)), root))
    }

    /// Its words, its program and the files that it writes, each as the path that it would be.
    pub fn names(&self, cwd: &Path) -> impl Iterator<Item = PathBuf> {
        let program = self.words.iter().take(1).map(String::as_str);
        let written = self.writes.iter().map(String::as_str);
        let words = self.values().chain(program).chain(written);
        words.map(move |word| absolute(cwd, Path::new(word)))
    }

    /// What stands behind its program: of an option with a value, the value.
    fn values(&self) -> impl Iterator<Item = &str> {
        self.words
            .iter()
            .skip(1)
            .map(|word| match word.split_once('=') {
                Some((option, value)) if option.starts_with('-') => value,
                Some(_) | None => word.as_str(),
            })
            .filter(|word| !NO_FILES.contains(word))
    }
}

fn part(simple: &Simple, source: Source<'_>) -> Part {
    let words: Vec<&str> = texts(&simple.words).collect();
    let mut part = Part {
        writes: simple
            .redirects
            .iter()
            .filter(|redirect| writes(redirect) && redirect.target.is_sure)
            .map(|redirect| redirect.target.text.clone())
            .collect(),
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        is_bare: simple.via.is_empty()
            && simple.assigned.is_empty()
            && !words.is_empty()
            && simple
                .words
                .iter()
                .all(|word| word.is_sure && !word.may_split),
        ..Part::default()
    };
    match words.split_first() {
        Some((program, rest)) => name(&mut part, simple, source, (program, rest)),
        // A block's redirects stand behind it: its commands are judged by themselves.
        None if is_block(simple, source.text) => {}
        None => part.said.push(source.text.to_owned()),
    }
    part
}

/// Tells of each command whether its place in the line lies in that of another one, or is the same.
fn nested(commands: &[Simple]) -> Vec<bool> {
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
                .is_some_and(|last: &Simple| last.span == span)
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
struct Source<'a> {
    text: &'a str,
    /// Whether no other command has the same place, as what lies in a substitution may.
    is_its_own: bool,
}

fn texts(words: &[Word]) -> impl Iterator<Item = &str> {
    words.iter().map(|word| word.text.as_str())
}

fn is_block(simple: &Simple, source: &str) -> bool {
    !simple.redirects.is_empty()
        && simple.assigned.is_empty()
        && !source.starts_with(|c: char| c.is_ascii_digit() || "<>&".contains(c))
}

/// Gathers the texts that a command goes by.
fn name(part: &mut Part, simple: &Simple, source: Source<'_>, (program, rest): (&str, &[&str])) {
    let before = simple.via.iter().flat_map(|wrapper| texts(&wrapper.words));
    let own: Vec<&str> = std::iter::once(program)
        .chain(rest.iter().copied())
        .collect();
    let wrapped: Vec<&str> = before.chain(own.iter().copied()).collect();
    let assigned: String = simple
        .assigned
        .iter()
        .map(|(name, value)| format!("{name}={} ", value.text))
        .collect();
    if source.is_its_own {
        part.said.push(source.text.to_owned());
    }
    if !simple.via.is_empty() || !simple.assigned.is_empty() {
        part.said.push(format!("{assigned}{}", wrapped.join(" ")));
    }
    let is_itself = simple.assigned.is_empty()
        && simple.via.iter().all(|wrapper| match wrapper.kind {
            WrapperKind::Known | WrapperKind::Shell => true,
            WrapperKind::Privilege
            | WrapperKind::Unknown
            | WrapperKind::Remote
            | WrapperKind::Each => false,
        });
    // A program whose name holds a blank is not what its text looks like.
    match is_itself && !program.contains(char::is_whitespace) {
        true => part.said.push(own.join(" ")),
        false => part.inner.push(own.join(" ")),
    }
    if part.said.is_empty() {
        part.said.push(format!("{program:?} {}", rest.join(" ")));
    }
    if let Some((_, name)) = program.rsplit_once('/') {
        let named: Vec<&str> = std::iter::once(name).chain(rest.iter().copied()).collect();
        part.looks.push(named.join(" "));
    }
}

fn writes(redirect: &Redirect) -> bool {
    let target = redirect.target.text.as_str();
    let is_file = !NO_FILES.contains(&target) && !target.starts_with("/dev/fd/");
    match redirect.kind {
        RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite => is_file,
        RedirectKind::Read | RedirectKind::Duplicate => false,
    }
}

fn told(doubt: &Doubt) -> String {
    match doubt {
        Doubt::Unparsable { .. } => "a part of it cannot be read as a shell would",
        Doubt::Limit { .. } => "it is too long or too deep to be followed",
        Doubt::DynamicProgram { .. } => "which program it runs is only known when it runs",
        Doubt::DynamicText { .. } => "it runs a text that is only known when it runs",
        Doubt::ForkBomb { .. } => "it starts itself again and again",
    }
    .to_owned()
}

#[cfg(test)]
mod tests;
