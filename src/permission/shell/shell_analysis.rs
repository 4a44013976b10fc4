//! What an analysis finds: commands, their words, redirects and input, and its doubts.

use std::ops::Range;

use crate::permission::program_table::WrapperKind;

/// Replaces, in [`ShellWord::text`], everything that only a run would show: no text, some text, or any text.
pub const UNKNOWN_PLACEHOLDER: char = '\u{fffc}';

/// How much work one analysis may take. Each limit that is exceeded is reported as [`AnalysisDoubt::Limit`];
/// the answer is never cut silently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnalysisLimits {
    /// The longest text, in bytes; a longer one is only split into words.
    pub max_bytes: usize,
    /// The steps: pieces of syntax read and followed, and commands found. A short text gets fewer.
    pub max_steps: usize,
    /// The most commands or words that one command or word may expand to.
    pub max_expansions: usize,
    /// How deep texts, substitutions and blocks may nest.
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

/// Everything that a text would run, and what is unknown about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellAnalysis {
    /// In the order of the text; a command with several possible words is listed once for each.
    pub commands: Vec<SimpleCommand>,
    /// What could not be followed; if there is any, `commands` may be incomplete.
    pub doubts: Vec<AnalysisDoubt>,
    /// The text split only at operators and spaces, with quotes and backslashes dropped and no program looked up.
    /// Filled when there is an [`AnalysisDoubt::Unparsable`] or [`AnalysisDoubt::Limit`], so that blocked words can
    /// still be found anywhere in a line.
    pub rough_lines: Vec<Vec<String>>,
    /// How many steps the analysis took, as [`AnalysisLimits::max_steps`] counts them.
    pub steps: usize,
}

/// One simple command that would run, with wrappers removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The program first; empty when there are only redirects or assignments.
    pub words: Vec<ShellWord>,
    /// The wrappers that came before it, outermost first.
    pub wrappers: Vec<CommandWrapper>,
    /// Its own redirects and those of the wrappers on its line; the redirects of a block
    /// are in a command without words.
    pub redirects: Vec<CommandRedirect>,
    pub input: CommandInput,
    /// The variables set for this command only (`VAR=x` before the command, `env VAR=x`).
    pub assignments: Vec<(String, ShellWord)>,
    /// The bytes of the outermost text that the command comes from.
    pub span: Range<usize>,
}

/// A program that runs the command after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandWrapper {
    /// The program's name without its folder, or the shell's name for it (`eval`, `trap`, `alias`).
    pub name: String,
    pub kind: WrapperKind,
    /// Its own words, itself first, without the words of the command.
    pub words: Vec<ShellWord>,
}

/// One redirect: its direction, its descriptor and its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRedirect {
    pub kind: RedirectKind,
    /// The descriptor that is redirected; `None` when it is in a variable.
    pub fd: Option<u32>,
    /// A path; for [`RedirectKind::Duplicate`] a descriptor or `-`.
    pub target: ShellWord,
}

/// The direction of a redirect.
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
    /// The input of the whole text: nothing, where agents run it.
    Nothing,
    /// The output of these commands (indices into [`ShellAnalysis::commands`]), whose text is unknown; also the
    /// commands that wrote the script that it runs.
    Pipe(Vec<usize>),
    /// A known text: from a here-document, a here-string or a command whose output is known.
    KnownText(String),
    /// A file, or something else that only a run would show.
    Unknown,
}

/// A word after expansion and quote removal, as far as both can be followed.
///
/// `$HOME` becomes `~`, and `$PWD` becomes `.`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellWord {
    /// The text, with [`UNKNOWN_PLACEHOLDER`] for every unknown part.
    pub text: String,
    /// Whether the text contains no [`UNKNOWN_PLACEHOLDER`].
    pub is_fully_known: bool,
    /// Whether an unquoted `*`, `?` or `[` makes it a pattern for file names.
    pub is_glob: bool,
    /// Whether it may expand to no word or to several.
    pub may_split: bool,
}

/// Why an analysis may be incomplete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnalysisDoubt {
    /// A part is not shell syntax; what follows it on its level is only in [`ShellAnalysis::rough_lines`].
    Unparsable {
        /// The bytes of the outermost text.
        span: Range<usize>,
    },
    /// A limit was exceeded.
    Limit {
        limit: AnalysisLimitKind,
        /// The bytes of the outermost text.
        span: Range<usize>,
    },
    /// The program's name is unknown (`$CMD x`); its command is listed.
    DynamicProgram {
        /// The bytes of the outermost text.
        span: Range<usize>,
    },
    /// An unknown text is run (`eval "$X"`, `curl u | sh`); the command that runs it is listed.
    DynamicScript {
        /// The bytes of the outermost text.
        span: Range<usize>,
    },
    /// A function starts itself in a pipe or in the background.
    ForkBomb {
        /// The bytes of the outermost text.
        span: Range<usize>,
    },
}

/// Which limit of [`AnalysisLimits`] was exceeded.
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
    /// Makes a word from a text, which may contain [`UNKNOWN_PLACEHOLDER`].
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
