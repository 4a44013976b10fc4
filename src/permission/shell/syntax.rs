//! The shape of a shell text: lists, blocks, simple commands, words and their pieces.
//!
//! It refuses to know what anything in it means.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

/// Commands one after the other.
#[derive(Debug, Default)]
pub struct List {
    pub items: Vec<Item>,
}

/// One pipeline and how it is reached.
#[derive(Debug)]
pub struct Item {
    pub link: Link,
    pub commands: Vec<Command>,
    pub is_background: bool,
}

/// When an item runs, seen from the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    Always,
    IfDone,
    IfFailed,
}

/// One command of a pipeline.
#[derive(Debug)]
pub struct Command {
    pub kind: Kind,
    pub redirects: Vec<Redirection>,
    pub span: Range<usize>,
}

#[derive(Debug)]
pub enum Kind {
    Simple {
        assigns: Vec<Assign>,
        words: Vec<RawWord>,
    },
    Block(List),
    Subshell(List),
    /// Each test with its body; the last test may be empty (`else`).
    If(Vec<(List, List)>),
    /// `while` and `until`.
    Loop {
        test: List,
        body: List,
    },
    /// `for` and `select`.
    For(For),
    Case {
        subject: RawWord,
        arms: Vec<(Vec<RawWord>, List)>,
    },
    Function {
        name: String,
        body: Rc<Command>,
    },
    /// `[[ … ]]`, `(( … ))` and the head of `for ((…))`: their words may hold substitutions.
    Test(Vec<RawWord>),
    Coprocess(Box<Command>),
}

/// `for name in words; do body; done`.
#[derive(Debug)]
pub struct For {
    pub name: String,
    /// Without words it goes through the arguments.
    pub words: Option<Vec<RawWord>>,
    pub body: List,
}

/// `name=value`, `name+=value`, `name[index]=value`, `name=(values)`.
#[derive(Debug)]
pub struct Assign {
    pub name: String,
    pub index: Option<RawWord>,
    pub is_append: bool,
    pub value: AssignValue,
}

#[derive(Debug)]
pub enum AssignValue {
    One(RawWord),
    Array(Vec<RawWord>),
}

/// A word before expansion.
#[derive(Debug, Default)]
pub struct RawWord {
    pub pieces: Vec<Piece>,
    /// Set for an operand of `export`, `declare` and their like that assigns.
    pub assign: Option<Box<Assign>>,
    pub span: Range<usize>,
}

/// A part of a word.
#[derive(Debug, Clone)]
pub enum Piece {
    Text {
        text: String,
        is_quoted: bool,
    },
    Parameter {
        parameter: Rc<Parameter>,
        is_quoted: bool,
    },
    /// `$(…)` and backticks.
    Command {
        list: Rc<List>,
        is_quoted: bool,
    },
    /// `<(…)` and `>(…)`.
    Process {
        list: Rc<List>,
        feeds: Feeds,
    },
    /// `$((…))`: a number, after what its pieces run.
    Arithmetic(Rc<Vec<Piece>>),
}

/// Which way a process substitution goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feeds {
    /// `<(…)`: the command reads what the list writes.
    Command,
    /// `>(…)`: the list reads what the command writes.
    List,
}

/// `$name`, `${name…}`.
#[derive(Debug)]
pub struct Parameter {
    pub name: String,
    pub index: Option<RawWord>,
    pub operation: Operation,
}

/// What `${name…}` does with the value.
#[derive(Debug)]
pub enum Operation {
    Value,
    /// `${!name}`: the value of the variable that it names.
    Indirect,
    /// `:-`, `-`, `:=`, `=`.
    Default(Vec<Piece>, Keeps),
    /// `:+`, `+`.
    Alternative(Vec<Piece>),
    /// `#`, `##`, `%`, `%%` with its pattern.
    Trim {
        from: Side,
        is_longest: bool,
        pattern: Vec<Piece>,
    },
    /// `/`, `//`, `/#`, `/%`.
    Replace {
        is_global: bool,
        pattern: Vec<Piece>,
        with: Vec<Piece>,
    },
    /// `:offset` and `:offset:length`, its words as they stand.
    Slice(Vec<Piece>),
    Lower {
        is_whole: bool,
    },
    Upper {
        is_whole: bool,
    },
    /// `${#name}`.
    Count,
    /// Any other; its pieces may hold substitutions.
    Other(Vec<Piece>),
}

/// Whether `${name:=word}` is meant or `${name:-word}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Start,
    End,
}

/// A redirection before expansion.
#[derive(Debug)]
pub struct Redirection {
    pub fd: Option<u32>,
    pub target: Target,
}

#[derive(Debug)]
pub enum Target {
    /// An operator with its word: `<`, `>`, `>>`, `<>`, `>|`, `&>`, `&>>`, `<&`, `>&`.
    File {
        operator: &'static str,
        word: RawWord,
    },
    /// `<<` with its body, filled once the line has ended.
    Document(Rc<OnceCell<Vec<Piece>>>),
    /// `<<<`.
    Line(RawWord),
}

impl List {
    /// A list of one command.
    pub fn of(command: Command) -> Self {
        let item = Item {
            link: Link::Always,
            commands: vec![command],
            is_background: false,
        };
        Self { items: vec![item] }
    }
}

impl RawWord {
    /// The word's text when it is nothing but literal text.
    pub fn literal(&self) -> Option<String> {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }
}
