//! The effects of code that the classifier asks about.

/// Where code takes the text that it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeInputSource {
    /// The words after the code.
    Arguments,
    Environment,
    Input,
}

/// An effect of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeEffect {
    /// Removes a whole tree.
    RemovesTree,
    /// Gives all rights to every user.
    GrantsEverybody,
    /// Runs what it fetches or decodes.
    RunsRemoteCode,
    /// Starts itself without end.
    ForkBomb,
    /// Removes all files that it finds.
    RemovesManyFiles,
    /// Runs a text that only a run would show.
    RunsUnknownCode,
    /// Runs what it takes from this source.
    RunsInput(CodeInputSource),
    /// Runs a text in a shell.
    RunsShellScript(String),
    /// Starts a program with arguments.
    RunsProgram(Vec<String>),
    RemovesFile(String),
    WritesFile(String),
    /// Sends a statement to a database.
    RunsStatement(String),
}
