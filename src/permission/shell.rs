//! What a shell text would run: every simple command of it, wrappers taken off, words expanded.
//!
//! It reads `bash` (which `sh`, `dash`, `ksh` and `zsh` share) and follows what can be followed
//! without running anything. It refuses to know what a program does and which command is dangerous;
//! what it cannot follow it says as a [`Doubt`] and never drops.

use std::ops::Range;

mod beside;
mod braces;
mod builtins;
mod env;
mod escapes;
mod expand;
mod follow;
mod many;
mod output;
mod parameters;
mod parse;
mod reader;
mod redirects;
mod rough;
mod run;
mod shells;
mod syntax;
mod value;
mod work;
mod wrappers;

use reader::Reader;

/// Stands in [`Word::text`] for everything that only a run would show: at least no, at most any text.
pub const UNKNOWN: char = '\u{fffc}';

/// How much work one reading may be. Each limit passed is a [`Doubt::Limit`], never a shorter answer in silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest text, in bytes; a longer one is only split into words.
    pub bytes: usize,
    /// Steps: pieces of syntax read and followed, commands found. A short text gets fewer.
    pub nodes: usize,
    /// The most commands or words that one command or word may become.
    pub expansions: usize,
    /// How deep texts, substitutions and blocks may lie in each other.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 1 << 20,
            nodes: 2_000_000,
            expansions: 256,
            depth: 40,
        }
    }
}

/// Everything that a text would run, and what could not be told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// In the order of the text; a command of several possible words stands here once for each.
    pub commands: Vec<Simple>,
    /// What could not be followed; while there is one, `commands` may lack some.
    pub doubts: Vec<Doubt>,
    /// The text split at its operators and blanks alone, quotes and backslashes dropped, no program
    /// looked up: given when there is a [`Doubt::Unparsable`] or [`Doubt::Limit`], so that blocked
    /// words can still be looked for at every place of a line.
    pub rough: Vec<Vec<String>>,
    /// How many steps it took, in the measure of [`Limits::nodes`].
    pub steps: usize,
}

/// One simple command that would run, wrappers taken off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    /// The program first; empty when there are only redirects or assignments.
    pub words: Vec<Word>,
    /// What stood before it, outermost first.
    pub via: Vec<Wrapper>,
    /// Its own redirects and those of the wrappers on its line; those of a block stand in a command without words.
    pub redirects: Vec<Redirect>,
    /// What it reads from standard input.
    pub input: Input,
    /// The variables set for it alone (`VAR=x` before the command, `env VAR=x`).
    pub assigned: Vec<(String, Word)>,
    /// The bytes of the outermost text that lead to it.
    pub span: Range<usize>,
}

/// Something that runs the command that follows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrapper {
    /// The program's name without its folder, or the shell's word for it (`eval`, `trap`, `alias`).
    pub name: String,
    /// What it does to the command.
    pub kind: WrapperKind,
    /// Its own words, itself first, the command's left out.
    pub words: Vec<Word>,
}

/// What a wrapper does to its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrapperKind {
    /// Runs it with other rights (`sudo`, `doas`, `su`, `pkexec`, `runuser`).
    Privilege,
    /// Runs it as it is (`env`, `nice`, `timeout`).
    Known,
    /// Seems to run it: the wrapper is not known, a later word names a program that often is wrapped.
    Unknown,
    /// Runs it on another machine or in a container (`ssh`, `docker exec`).
    Remote,
    /// Runs it once for each of many arguments (`xargs`, `find -exec`, `parallel`).
    Each,
    /// Reads a text as shell commands (`sh -c`, `eval`, `source`, `trap`, an alias, a function's body).
    Shell,
}

/// One redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// Which way.
    pub kind: RedirectKind,
    /// The descriptor that is redirected; `None` when a variable holds it.
    pub fd: Option<u32>,
    /// A path; for [`RedirectKind::Duplicate`] a descriptor or `-`.
    pub target: Word,
}

/// Which way a redirection goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`.
    Read,
    /// `>`, `>|`, `&>`.
    Write,
    /// `>>`, `&>>`.
    Append,
    /// `<>`.
    ReadWrite,
    /// `<&`, `>&` with a descriptor.
    Duplicate,
}

/// What a command reads from standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// What the whole text reads: nothing, where agents run it.
    Nothing,
    /// The output of these commands (indices into [`Reading::commands`]), not known as text; also
    /// of those that wrote the script that it runs.
    Pipe(Vec<usize>),
    /// This text, from a here-document, a here-string or a command whose output is known.
    Text(String),
    /// A file or something else that only a run would show.
    Unknown,
}

/// A word after expansion and quote removal, as far as both can be followed.
///
/// `$HOME` stands in it as `~`, `$PWD` as `.`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The text; what is not known stands as [`UNKNOWN`].
    pub text: String,
    /// Whether no [`UNKNOWN`] is inside.
    pub is_sure: bool,
    /// Whether an unquoted `*`, `?` or `[` makes it a pattern for file names.
    pub glob: bool,
    /// Whether it may become none or several words.
    pub may_split: bool,
}

/// Why a reading may lack something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doubt {
    /// A part is not shell syntax; what follows it on its level is only in [`Reading::rough`].
    Unparsable {
        /// Bytes of the outermost text.
        span: Range<usize>,
    },
    /// A limit was passed.
    Limit {
        /// Which.
        limit: Limited,
        /// Bytes of the outermost text.
        span: Range<usize>,
    },
    /// The program's name is not known (`$CMD x`); its command is listed.
    DynamicProgram {
        /// Bytes of the outermost text.
        span: Range<usize>,
    },
    /// A text is run that is not known (`eval "$X"`, `curl u | sh`); the command that runs it is listed.
    DynamicText {
        /// Bytes of the outermost text.
        span: Range<usize>,
    },
    /// A function starts itself in a pipe or in the background.
    ForkBomb {
        /// Bytes of the outermost text.
        span: Range<usize>,
    },
}

/// The limits by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limited {
    /// [`Limits::bytes`].
    Bytes,
    /// [`Limits::nodes`].
    Nodes,
    /// [`Limits::expansions`].
    Expansions,
    /// [`Limits::depth`].
    Depth,
}

impl Word {
    /// A word that is known; `text` may hold [`UNKNOWN`].
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            is_sure: !text.contains(UNKNOWN),
            text,
            glob: false,
            may_split: false,
        }
    }
}

/// Reads a text as `bash -c` would.
pub fn read(text: &str, limits: &Limits) -> Reading {
    Reader::new(*limits, text.len()).read(text)
}

/// Reads a command that is started without a shell; the first word is the program. Spans are those
/// of the words joined by one blank each.
pub fn read_argv(argv: &[String], limits: &Limits) -> Reading {
    let n_bytes = argv.iter().map(String::len).sum();
    Reader::new(*limits, n_bytes).read_argv(argv)
}

/// Splits a text at its operators and blanks alone, as [`Reading::rough`] tells.
pub fn rough(text: &str) -> Vec<Vec<String>> {
    rough::split(text)
}

#[cfg(test)]
mod tests;
