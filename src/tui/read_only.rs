//! Read-only screens: what the header says, and the dialogs for the history and for taking over.
//!
//! The caller says why the run is read-only. Which commands are blocked then is in their rows of the command table.

use super::action::Action;
use super::dialog::{ChoiceAction, ChoiceDialog};
use super::theme;
use super::{Screen, dialogs};

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

impl Screen {
    /// Lists the finished runs; the answer is [`Action::OpenRun`].
    pub fn show_run_history(&mut self, runs: &[RunListEntry]) {
        self.is_dirty = true;
        if runs.is_empty() {
            self.show_toast("No finished runs yet.");
            return;
        }
        self.open_or_defer_dialog(dialogs::run_history_list::build_dialog(runs));
    }

    /// Asks whether to take over the repository after the other instance has ended; the
    /// answer is [`Action::TakeOver`].
    pub fn ask_to_take_over(&mut self) {
        self.is_dirty = true;
        let sheet = ChoiceDialog::new("free", "The other instance has exited")
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
            .with_choice('n', "Keep viewing", ChoiceAction::Close);
        self.open_or_defer_dialog(sheet);
    }

    /// Changes how a read-only screen describes itself.
    pub fn on_read_only(&mut self, read_only: ReadOnlyStatus) {
        self.is_dirty = true;
        self.settings.read_only = Some(read_only);
    }

    /// Shows a toast that disappears with the next key and is stored nowhere else.
    pub fn set_toast(&mut self, text: &str) {
        self.is_dirty = true;
        self.show_toast(text);
    }

    /// Removes the toast when it is no longer true.
    pub fn clear_toast(&mut self) {
        self.is_dirty = true;
        self.toast.text = None;
    }

    /// Returns the run's history entry, if it can be resumed.
    pub(super) fn resumable_run(&self) -> Option<&RunListEntry> {
        self.settings.read_only.as_ref()?.resumable_run.as_ref()
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.settings.read_only.is_some()
    }

    /// Returns why a read-only screen does not do something; `None` on any other screen.
    pub(super) fn read_only_reason(&self) -> Option<String> {
        let read_only = self.settings.read_only.as_ref()?;
        Some(format!("read-only: {}", read_only.reason))
    }
}
