//! What an adapter says of how its CLI can be held by the kernel.
//!
//! Refuses to know what holds it.

/// Who holds an agent by the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// The CLI, by a sandbox of its own around each call.
    ByItself,
    /// This program, around the whole process, which needs these places for itself.
    Whole(&'static [StatePlace]),
    /// Nobody: what the program needs for itself is not known.
    Nobody,
}

/// A place where a CLI keeps what is its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatePlace {
    /// The environment variable that names the folder.
    pub variable: &'static str,
    /// The folder below the user's home, where that is not set.
    pub at_home: &'static str,
    /// What of the folder; empty for all of it.
    pub below: &'static str,
    /// What the CLI does with it.
    pub keeps: Keeps,
}

/// What a CLI does with a place of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    /// It writes there, and makes it where it is missing.
    State,
    /// It is configured there; what an agent wrote there would be obeyed by the user's later sessions.
    Settings,
}
