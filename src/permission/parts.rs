//! A command line as rules see it: each simple command as the texts that a rule may name it by.
//!
//! It refuses to know rules and what a program does; how a shell reads a line is `shell`'s.

use std::path::Path;

use super::path::{absolute, is_inside};
use super::shell::{self, Doubt, Limits, Redirect, RedirectKind, Simple, WrapperKind};

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
    let mut parts: Vec<Part> = reading
        .commands
        .iter()
        .map(|simple| part(simple, line))
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
        self.words
            .iter()
            .skip(1)
            .map(|word| match word.split_once('=') {
                Some((option, value)) if option.starts_with('-') => value,
                Some(_) | None => word.as_str(),
            })
            .filter(|word| !NO_FILES.contains(word))
            .any(|word| word.starts_with('~') || !is_inside(&absolute(cwd, Path::new(word)), root))
    }
}

fn part(simple: &Simple, line: &str) -> Part {
    let source = line.get(simple.span.clone()).unwrap_or(line).trim();
    let words: Vec<&str> = simple.words.iter().map(|word| word.text.as_str()).collect();
    let own = words.join(" ");
    let wrapped: Vec<&str> = simple
        .via
        .iter()
        .flat_map(|wrapper| &wrapper.words)
        .map(|word| word.text.as_str())
        .chain(words.iter().copied())
        .collect();
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
    let Some(program) = words.first() else {
        // A block's redirects stand behind it: its commands are judged by themselves.
        let is_block = !simple.redirects.is_empty()
            && simple.assigned.is_empty()
            && !source.starts_with(|c: char| c.is_ascii_digit() || "<>&".contains(c));
        if !is_block {
            part.said.push(source.to_owned());
        }
        return part;
    };
    let first = wrapped.first().copied().unwrap_or_default();
    let assigned: Vec<String> = simple
        .assigned
        .iter()
        .map(|(name, value)| format!("{name}={} ", value.text))
        .collect();
    // What lies in a substitution may have the whole text around it as its source.
    let begins = match simple.assigned.first() {
        Some((name, _)) => source.starts_with(&format!("{name}=")) || source.starts_with(first),
        None => source.starts_with(first),
    };
    let source = begins.then(|| source.to_owned());
    let is_itself = simple.assigned.is_empty()
        && simple.via.iter().all(|wrapper| match wrapper.kind {
            WrapperKind::Known | WrapperKind::Shell => true,
            WrapperKind::Privilege
            | WrapperKind::Unknown
            | WrapperKind::Remote
            | WrapperKind::Each => false,
        });
    part.said.extend(source);
    if !simple.via.is_empty() || !simple.assigned.is_empty() {
        part.said
            .push(format!("{}{}", assigned.concat(), wrapped.join(" ")));
    }
    // A program whose name holds a blank is not what its text looks like.
    match is_itself && !program.contains(char::is_whitespace) {
        true => part.said.push(own.clone()),
        false => part.inner.push(own.clone()),
    }
    if let Some((_, name)) = program.rsplit_once('/') {
        let rest = words.get(1..).unwrap_or_default();
        let named: Vec<&str> = std::iter::once(name).chain(rest.iter().copied()).collect();
        part.looks.push(named.join(" "));
    }
    part
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
