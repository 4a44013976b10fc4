//! Read-only screens: how they describe themselves, and the runs of the history.
//!
//! The caller says why the run is read-only. Which commands are blocked then is in their rows of the command table.

/// How a read-only screen describes itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOnlyStatus {
    /// The text in the header after "read-only", such as "finished run".
    pub badge: String,
    /// The text after "read-only: " when a key is rejected.
    pub reason: String,
    /// Whether another instance is working on the run.
    pub owner_activity: OwnerActivity,
    /// The run's entry in the history, if it can be resumed.
    pub resumable_run: Option<RunListEntry>,
}

/// Whether another instance is working on the run that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerActivity {
    Working,
    /// No instance is: what was running has been interrupted.
    Idle,
}

/// A run of the history, as the list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunListEntry {
    /// The name of its directory.
    pub name: String,
    pub date: String,
    /// How it ended, in words.
    pub ended: String,
    /// The goal's title, or what is wrong with its files.
    pub about: String,
    /// How far it got; empty if unknown.
    pub progress: String,
    /// The steps of a run that is done, as `3 of 3 steps`, else in a word how it ended.
    pub short_result: String,
    pub completion: RunCompletion,
}

/// Whether a run of the history is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunCompletion {
    /// It reached its goal.
    Done,
    /// It was cancelled, or its files are too damaged to resume.
    Complete,
    /// It was archived before its end and can be resumed.
    Unfinished,
}
