//! What a shell text would run: every simple command of it, wrappers taken off, words expanded.
//!
//! It reads `bash` (which `sh`, `dash`, `ksh` and `zsh` share) and follows what can be followed
//! without running anything. It refuses to know what a program does and which command is dangerous;
//! what it cannot follow it says as a [`AnalysisDoubt`] and never drops.

use std::ops::Range;

mod abstract_value;
mod backslash_escapes;
mod brace_expansion;
mod command_output;
mod command_resolution;
mod command_wrappers;
mod control_flow;
mod environment;
mod fallback_lexer;
mod fan_out;
mod interpreter;
mod nested_shells;
mod parameter_expansion;
mod process_substitution;
mod redirections;
mod shell_builtins;
mod shell_parser;
mod step_budget;
mod syntax_tree;
mod word_expansion;

use interpreter::ShellInterpreter;

/// Stands in [`ShellWord::text`] for everything that only a run would show: at least no, at most any text.
pub const UNKNOWN_PLACEHOLDER: char = '\u{fffc}';

/// How much work one reading may be. Each limit passed is a [`AnalysisDoubt::Limit`], never a shorter answer in silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnalysisLimits {
    /// The longest text, in bytes; a longer one is only split into words.
    pub max_bytes: usize,
    /// Steps: pieces of syntax read and followed, commands found. A short text gets fewer.
    pub max_steps: usize,
    /// The most commands or words that one command or word may become.
    pub max_expansions: usize,
    /// How deep texts, substitutions and blocks may lie in each other.
    pub max_depth: usize,
}

impl Default for AnalysisLimits {
    fn default() -> Self {
        Self {
            max_bytes: 1 << 20,
            max_steps: 2_000_000,
            max_expansions: 256,
            max_depth: 40,
        }
    }
}

/// Everything that a text would run, and what could not be told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellAnalysis {
    /// In the order of the text; a command of several possible words stands here once for each.
    pub commands: Vec<SimpleCommand>,
    /// What could not be followed; while there is one, `commands` may lack some.
    pub doubts: Vec<AnalysisDoubt>,
    /// The text split at its operators and blanks alone, quotes and backslashes dropped, no program
    /// looked up: given when there is a [`AnalysisDoubt::Unparsable`] or [`AnalysisDoubt::Limit`], so that blocked
    /// words can still be looked for at every place of a line.
    pub rough_lines: Vec<Vec<String>>,
    /// How many steps it took, in the measure of [`AnalysisLimits::max_steps`].
    pub steps: usize,
}

/// One simple command that would run, wrappers taken off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The program first; empty when there are only redirects or assignments.
    pub words: Vec<ShellWord>,
    /// What stood before it, outermost first.
    pub wrappers: Vec<CommandWrapper>,
    /// Its own redirects and those of the wrappers on its line; those of a block stand in a command without words.
    pub redirects: Vec<CommandRedirect>,
    /// What it reads from standard input.
    pub input: CommandInput,
    /// The variables set for it alone (`VAR=x` before the command, `env VAR=x`).
    pub assignments: Vec<(String, ShellWord)>,
    /// The bytes of the outermost text that lead to it.
    pub span: Range<usize>,
}

/// Something that runs the command that follows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandWrapper {
    /// The program's name without its folder, or the shell's word for it (`eval`, `trap`, `alias`).
    pub name: String,
    /// What it does to the command.
    pub kind: WrapperKind,
    /// Its own words, itself first, the command's left out.
    pub words: Vec<ShellWord>,
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
    ForEachArgument,
    /// Reads a text as shell commands (`sh -c`, `eval`, `source`, `trap`, an alias, a function's body).
    Shell,
}

/// One redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRedirect {
    /// Which way.
    pub kind: RedirectKind,
    /// The descriptor that is redirected; `None` when a variable holds it.
    pub fd: Option<u32>,
    /// A path; for [`RedirectKind::Duplicate`] a descriptor or `-`.
    pub target: ShellWord,
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
pub enum CommandInput {
    /// What the whole text reads: nothing, where agents run it.
    Nothing,
    /// The output of these commands (indices into [`ShellAnalysis::commands`]), not known as text; also
    /// of those that wrote the script that it runs.
    Pipe(Vec<usize>),
    /// This text, from a here-document, a here-string or a command whose output is known.
    KnownText(String),
    /// A file or something else that only a run would show.
    Unknown,
}

/// A word after expansion and quote removal, as far as both can be followed.
///
/// `$HOME` stands in it as `~`, `$PWD` as `.`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellWord {
    /// The text; what is not known stands as [`UNKNOWN_PLACEHOLDER`].
    pub text: String,
    /// Whether no [`UNKNOWN_PLACEHOLDER`] is inside.
    pub is_fully_known: bool,
    /// Whether an unquoted `*`, `?` or `[` makes it a pattern for file names.
    pub is_glob: bool,
    /// Whether it may become none or several words.
    pub may_split: bool,
}

/// Why a reading may lack something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnalysisDoubt {
    /// A part is not shell syntax; what follows it on its level is only in [`ShellAnalysis::rough`].
    Unparsable {
        /// Bytes of the outermost text.
        span: Range<usize>,
    },
    /// A limit was passed.
    Limit {
        /// Which.
        limit: AnalysisLimitKind,
        /// Bytes of the outermost text.
        span: Range<usize>,
    },
    /// The program's name is not known (`$CMD x`); its command is listed.
    DynamicProgram {
        /// Bytes of the outermost text.
        span: Range<usize>,
    },
    /// A text is run that is not known (`eval "$X"`, `curl u | sh`); the command that runs it is listed.
    DynamicScript {
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
pub enum AnalysisLimitKind {
    /// [`AnalysisLimits::max_bytes`].
    Bytes,
    /// [`AnalysisLimits::max_steps`].
    Steps,
    /// [`AnalysisLimits::max_expansions`].
    Expansions,
    /// [`AnalysisLimits::max_depth`].
    Depth,
}

impl ShellWord {
    /// A word that is known; `text` may hold [`UNKNOWN_PLACEHOLDER`].
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            is_fully_known: !text.contains(UNKNOWN_PLACEHOLDER),
            text,
            is_glob: false,
            may_split: false,
        }
    }
}

/// Reads a text as `bash -c` would.
pub fn analyze_script(text: &str, limits: &AnalysisLimits) -> ShellAnalysis {
    ShellInterpreter::new(*limits, text.len()).interpret_script(text)
}

/// Reads a command that is started without a shell; the first word is the program. Spans are those
/// of the words joined by one blank each.
pub fn analyze_argv(argv: &[String], limits: &AnalysisLimits) -> ShellAnalysis {
    let n_bytes = argv.iter().map(String::len).sum();
    ShellInterpreter::new(*limits, n_bytes).interpret_argv(argv)
}

/// Splits a text at its operators and blanks alone, as [`ShellAnalysis::rough`] tells.
pub fn split_rough_lines(text: &str) -> Vec<Vec<String>> {
    fallback_lexer::split_rough_lines(text)
}

#[cfg(test)]
mod tests;
