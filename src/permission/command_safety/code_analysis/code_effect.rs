//! What code does, as far as the guard asks.
//!
//! It refuses to know how that is found.

/// Where code takes from what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeInputSource {
    /// The words behind the code.
    Arguments,
    /// Variables of the environment.
    Environment,
    /// Standard input.
    Input,
}

/// Something that code does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeEffect {
    /// Removes a tree.
    RemovesTree,
    /// Gives everybody all rights.
    GrantsEverybody,
    /// Runs what it fetches or decodes.
    RunsRemoteCode,
    /// Starts itself without end.
    ForkBomb,
    /// Removes all files that it finds.
    RemovesManyFiles,
    /// Runs what only a run would show.
    RunsUnknownCode,
    /// Runs what it takes from there.
    RunsInput(CodeInputSource),
    /// Runs a text by a shell.
    RunsShellScript(String),
    /// Starts a program with arguments.
    RunsProgram(Vec<String>),
    /// Removes a file.
    RemovesFile(String),
    /// Writes a file.
    WritesFile(String),
    /// Tells a database something.
    RunsStatement(String),
}
