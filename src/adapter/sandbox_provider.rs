//! Describes how an adapter's CLI can be sandboxed by the kernel, and which of its own files it needs.

/// Who sandboxes an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxProvider {
    /// The CLI, with its own sandbox around each call.
    Cli,
    /// This program, around the whole process; the CLI stores its state in this folder.
    AgentCollab(CliStateFolder),
    /// No sandbox: it is not known which files the program needs for itself.
    NoSandbox,
}

/// The folder in the user's home where a CLI stores the settings, conversations and logins of all its sessions.
///
/// Everything that is not among its entries configures the CLI: a process reads it and never writes it, and what is
/// missing stays missing, because the user's later sessions would obey it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliStateFolder {
    /// The environment variable that names the folder.
    pub env_variable: &'static str,
    /// The folder below the user's home, if the variable is not set.
    pub default_path_in_home: &'static str,
    /// Settings files directly in the user's home, if the variable is not set.
    pub settings_files_in_home: &'static [&'static str],
    /// The entries of the folder that are more than settings.
    pub entries: Vec<StateEntry>,
}

/// A file or folder inside a CLI's own state folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateEntry {
    /// The path relative to the state folder.
    pub relative_path: String,
    pub kind: StateEntryKind,
}

/// What a CLI does with an entry of its state folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateEntryKind {
    /// A folder that it writes and reads again later; it is created if missing.
    Conversations,
    /// A file that it renews, if it exists.
    Credentials,
    /// A folder that later sessions obey: it is readable, and what a process writes there if it is missing is
    /// discarded.
    AgentMemory,
    /// What a process needs only while it runs: it starts empty, and what it writes there is discarded.
    Transient,
}
