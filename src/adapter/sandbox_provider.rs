//! What an adapter says of how its CLI can be held by the kernel.
//!
//! Refuses to know what holds it.

/// Who holds an agent by the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxProvider {
    /// The CLI, by a sandbox of its own around each call.
    Cli,
    /// This program, around the whole process, which keeps its own state in this folder.
    AgentCollab(CliStateFolder),
    /// Nobody: what the program needs for itself is not known.
    NoSandbox,
}

/// The folder of the user's home in which a CLI keeps the settings, conversations and logins of all its sessions.
///
/// What is not among its places configures the CLI: a process reads it and never writes it, and what is missing
/// stays missing, because the user's later sessions would obey it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliStateFolder {
    /// The environment variable that names the folder.
    pub env_variable: &'static str,
    /// The folder below the user's home, where that is not set.
    pub default_path_in_home: &'static str,
    /// Settings that lie in the user's home itself, where the variable is not set.
    pub settings_files_in_home: &'static [&'static str],
    /// What in it is more than a setting.
    pub entries: Vec<StateEntry>,
}

/// A place in a CLI's own folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateEntry {
    /// The path below the folder.
    pub relative_path: String,
    /// What the CLI does with it.
    pub kind: StateEntryKind,
}

/// What a CLI does with a place of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateEntryKind {
    /// A folder that it writes and reads again later; it is made where it is missing.
    Conversations,
    /// A file that it renews, where there is one.
    Credentials,
    /// A folder that later sessions take to heart: it is read, and what is written where it is missing is thrown away.
    AgentMemory,
    /// What a process needs only while it runs: it begins without it, and what it writes there is thrown away.
    Transient,
}
