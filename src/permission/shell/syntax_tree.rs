//! The syntax tree of a shell text: lists, blocks, simple commands, words and their pieces.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

/// Commands that run one after the other.
#[derive(Debug, Default)]
pub struct CommandList {
    pub items: Vec<PipelineItem>,
}

/// A pipeline, and when it runs.
#[derive(Debug)]
pub struct PipelineItem {
    pub condition: PipelineCondition,
    pub commands: Vec<CommandNode>,
    pub is_background: bool,
}

/// When an item runs, depending on the item before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PipelineCondition {
    Always,
    IfSucceeded,
    IfFailed,
}

/// One command of a pipeline.
#[derive(Debug)]
pub struct CommandNode {
    pub kind: CommandNodeKind,
    pub redirects: Vec<RedirectionNode>,
    pub span: Range<usize>,
}

#[derive(Debug)]
pub enum CommandNodeKind {
    Simple {
        assigns: Vec<AssignmentNode>,
        words: Vec<RawWord>,
    },
    Group(CommandList),
    Subshell(CommandList),
    /// Each test with its body; the last test may be empty (`else`).
    If(Vec<(CommandList, CommandList)>),
    /// `while` and `until`.
    Loop {
        test: CommandList,
        body: CommandList,
    },
    /// `for` and `select`.
    For(ForLoop),
    Case {
        subject: RawWord,
        arms: Vec<(Vec<RawWord>, CommandList)>,
    },
    Function {
        name: String,
        body: Rc<CommandNode>,
    },
    /// `[[ … ]]`, `(( … ))` and the head of `for ((…))`: their words may contain substitutions.
    Test(Vec<RawWord>),
    Coprocess(Box<CommandNode>),
}

/// `for name in words; do body; done`.
#[derive(Debug)]
pub struct ForLoop {
    pub name: String,
    /// `None`: the loop goes through the arguments.
    pub words: Option<Vec<RawWord>>,
    pub body: CommandList,
}

/// `name=value`, `name+=value`, `name[index]=value`, `name=(values)`.
#[derive(Debug)]
pub struct AssignmentNode {
    pub name: String,
    pub index: Option<RawWord>,
    pub is_append: bool,
    pub value: AssignmentValue,
}

#[derive(Debug)]
pub enum AssignmentValue {
    One(RawWord),
    Array(Vec<RawWord>),
}

/// A word before expansion.
#[derive(Debug, Default)]
pub struct RawWord {
    pub pieces: Vec<WordPiece>,
    /// Set for an operand of `export`, `declare` and similar builtins that assigns.
    pub assignment: Option<Box<AssignmentNode>>,
    pub span: Range<usize>,
}

#[derive(Debug, Clone)]
pub enum WordPiece {
    Text {
        text: String,
        is_quoted: bool,
    },
    Parameter {
        parameter: Rc<ParameterExpansion>,
        is_quoted: bool,
    },
    /// `$(…)` and backticks.
    Command {
        list: Rc<CommandList>,
        is_quoted: bool,
    },
    /// `<(…)` and `>(…)`.
    Process {
        list: Rc<CommandList>,
        feeds: ProcessSubstitutionDirection,
    },
    /// `$((…))`: a number; its pieces may run commands.
    Arithmetic(Rc<Vec<WordPiece>>),
}

/// The direction of a process substitution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessSubstitutionDirection {
    /// `<(…)`: the command reads what the list writes.
    Input,
    /// `>(…)`: the list reads what the command writes.
    Output,
}

/// `$name`, `${name…}`.
#[derive(Debug)]
pub struct ParameterExpansion {
    pub name: String,
    pub index: Option<RawWord>,
    pub operation: ParameterOperation,
}

/// What `${name…}` does with the value.
#[derive(Debug)]
pub enum ParameterOperation {
    Plain,
    /// `${!name}`: the value of the variable whose name is the value.
    Indirect,
    /// `:-`, `-`, `:=`, `=`.
    Default(Vec<WordPiece>, DefaultOperator),
    /// `:+`, `+`.
    Alternative(Vec<WordPiece>),
    /// `#`, `##`, `%`, `%%` with their pattern.
    Trim {
        from: TrimSide,
        is_longest: bool,
        pattern: Vec<WordPiece>,
    },
    /// `/`, `//`, `/#`, `/%`.
    Replace {
        is_global: bool,
        pattern: Vec<WordPiece>,
        with: Vec<WordPiece>,
    },
    /// `:offset` and `:offset:length`, with unevaluated words.
    Slice(Vec<WordPiece>),
    Lower {
        is_whole: bool,
    },
    Upper {
        is_whole: bool,
    },
    /// `${#name}`.
    Length,
    /// Any other operation; its pieces may contain substitutions.
    Other(Vec<WordPiece>),
}

/// Whether the operation is `${name:=word}` or `${name:-word}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultOperator {
    Assign,
    Substitute,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrimSide {
    Start,
    End,
}

/// A redirection before expansion.
#[derive(Debug)]
pub struct RedirectionNode {
    pub fd: Option<u32>,
    pub target: RedirectionTarget,
}

#[derive(Debug)]
pub enum RedirectionTarget {
    /// An operator with its word: `<`, `>`, `>>`, `<>`, `>|`, `&>`, `&>>`, `<&`, `>&`.
    File {
        operator: &'static str,
        word: RawWord,
    },
    /// `<<` with its body, filled at the end of the line.
    HereDocument(Rc<OnceCell<Vec<WordPiece>>>),
    /// `<<<`.
    HereString(RawWord),
}

impl CommandList {
    /// Makes a list of one command.
    pub fn from_command(command: CommandNode) -> Self {
        let item = PipelineItem {
            condition: PipelineCondition::Always,
            commands: vec![command],
            is_background: false,
        };
        Self { items: vec![item] }
    }
}

impl RawWord {
    /// Returns the word's text if it is only literal text.
    pub fn literal_text(&self) -> Option<String> {
        self.pieces
            .iter()
            .map(|piece| match piece {
                WordPiece::Text { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }
}
