//! Read-only screens: what the header says, and the dialogs for the history and for taking over.
//!
//! The caller says why the run is read-only. Which commands are blocked then is in their rows of the command table.

use super::action::Action;
use super::dialog::{ChoiceAction, ChoiceDialog};
use super::theme;

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
    /// The phase in which it ended.
    pub ended: String,
    /// The goal's title, or what is wrong with its files.
    pub about: String,
    /// How far it got; empty if unknown.
    pub progress: String,
    pub completion: RunCompletion,
}

/// Whether a run of the history is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunCompletion {
    /// It is finished, or its files are too damaged to resume.
    Complete,
    /// It was archived before its end and can be resumed.
    Unfinished,
}

/// Asks whether to take over the repository after the other instance has ended; the answer is
/// [`Action::TakeOver`].
pub(super) fn take_over_dialog() -> ChoiceDialog {
    ChoiceDialog::new("free", "The other instance has exited")
        .until_closed()
        .with_text(
            "Nothing is running in this repository any more.",
            theme::PLAIN,
        )
        .with_choice(
            'y',
            "Take over this run",
            ChoiceAction::ActAndClose(vec![Action::TakeOver]),
        )
        .with_choice('n', "Keep viewing", ChoiceAction::Close)
}
