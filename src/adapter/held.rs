//! What an adapter says of how its CLI can be held by the kernel.
//!
//! Refuses to know what holds it.

/// Who holds an agent by the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// The CLI, by a sandbox of its own around each call.
    ByItself,
    /// This program, around the whole process, which keeps its own state in this folder.
    Whole(StateFolder),
    /// Nobody: what the program needs for itself is not known.
    Nobody,
}

/// The folder of the user's home in which a CLI keeps the settings, conversations and logins of all its sessions.
///
/// What is not among its places configures the CLI: a process reads it and never writes it, and what is missing
/// stays missing, because the user's later sessions would obey it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFolder {
    /// The environment variable that names the folder.
    pub variable: &'static str,
    /// The folder below the user's home, where that is not set.
    pub at_home: &'static str,
    /// Settings that lie in the user's home itself, where the variable is not set.
    pub beside: &'static [&'static str],
    /// What in it is more than a setting.
    pub places: Vec<StatePlace>,
}

/// A place in a CLI's own folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatePlace {
    /// The path below the folder.
    pub below: String,
    /// What the CLI does with it.
    pub keeps: Keeps,
}

/// What a CLI does with a place of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    /// A folder that it writes and reads again later; it is made where it is missing.
    Conversations,
    /// A file that it renews, where there is one.
    Login,
    /// A folder that later sessions take to heart: it is read, and what is written where it is missing is thrown away.
    Notes,
    /// What a process needs only while it runs: it begins without it, and what it writes there is thrown away.
    Nothing,
}
