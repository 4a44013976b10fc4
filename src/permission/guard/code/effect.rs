//! What code does, as far as the guard asks.
//!
//! It refuses to know how that is found.

/// Where code takes from what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The words behind the code.
    Arguments,
    /// Variables of the environment.
    Environment,
    /// Standard input.
    Input,
}

/// Something that code does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Removes a tree.
    Tree,
    /// Gives everybody all rights.
    Everybody,
    /// Runs what it fetches or decodes.
    Remote,
    /// Starts itself without end.
    Fork,
    /// Removes all files that it finds.
    Many,
    /// Runs what only a run would show.
    Unknown,
    /// Runs what it takes from there.
    Given(Source),
    /// Runs a text by a shell.
    Shell(String),
    /// Starts a program with arguments.
    Words(Vec<String>),
    /// Removes a file.
    Removes(String),
    /// Writes a file.
    Writes(String),
    /// Tells a database something.
    Statement(String),
}
