//! A screen that only looks: what it says in the header, which commands it refuses, and the picker and
//! the question that belong to looking.
//!
//! Refuses to know why the run cannot be touched: whoever opens the screen says so in words.

use super::action::Action;
use super::command::Command;
use super::sheet::{Sheet, Then};
use super::theme;
use super::{Screen, dialogs};

/// How a screen that only looks names itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOnly {
    /// What the header says after "read-only", such as "finished run".
    pub badge: String,
    /// What follows "read-only: " when a key is refused.
    pub why: String,
    /// Whether somebody else works on the run.
    pub elsewhere: Elsewhere,
    /// The run as it is listed, where it can be taken up again.
    pub again: Option<PastRun>,
}

/// Whether somebody else works on a run that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elsewhere {
    /// Another instance does.
    Works,
    /// Nobody does: what ran was cut off.
    Rests,
}

/// A finished run, as the picker shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastRun {
    /// Its directory's name.
    pub name: String,
    /// When it was archived.
    pub date: String,
    /// Where it ended.
    pub ended: String,
    /// What it was about, or what is wrong with its files.
    pub about: String,
    /// How far it came; empty where that is not known.
    pub how_far: String,
    /// Whether it came to its end.
    pub rest: Rest,
}

/// Whether a run of the history came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// It did, or what is wrong with its files leaves nothing to go on with.
    Over,
    /// It was put away before, and can be taken up again.
    Unfinished,
}

/// Tells whether a key may mean a command while something lies over the run: it looks, goes somewhere, or stops a turn.
pub fn is_calm(command: &Command) -> bool {
    let leaves_alone = !acts(command) && !matches!(command, Command::Export(_));
    leaves_alone || matches!(command, Command::Focus | Command::Interrupt)
}

/// Tells whether a command does more than look.
#[expect(clippy::too_many_lines, reason = "one entry a command: a list to read")]
pub fn acts(command: &Command) -> bool {
    match command {
        Command::Go
        | Command::Auto
        | Command::Pause
        | Command::Mode(_)
        | Command::Stop
        | Command::Steer(_)
        | Command::Interrupt
        | Command::Approve
        | Command::Changes(_)
        | Command::Cancel
        | Command::Edit(_)
        | Command::Allow
        | Command::Reject(_)
        | Command::Permissions
        | Command::Answer(_)
        | Command::Undo(_)
        | Command::Task(..)
        | Command::Sessions
        | Command::Resume
        | Command::Refiner(_)
        | Command::Note(_)
        | Command::Unnote(_)
        | Command::Rewrite
        | Command::Focus => true,
        Command::Goal(text) => !text.is_empty(),
        Command::Discuss(wish) => wish.acts(),
        Command::OnBoard(does) => does.acts(),
        Command::History
        | Command::Export(_)
        | Command::Diagnose
        | Command::Agent(_)
        | Command::Todos
        | Command::View
        | Command::Diff(_)
        | Command::Theme(_)
        | Command::Mouse
        | Command::Thinking
        | Command::Copy
        | Command::CopyCode
        | Command::Pick(_)
        | Command::Open
        | Command::Outside(_)
        | Command::NeedsMe
        | Command::Voices
        | Command::Find
        | Command::Filter
        | Command::Jump
        | Command::Side
        | Command::OtherPane
        | Command::Redraw
        | Command::Show(_)
        | Command::NextTab
        | Command::PreviousTab
        | Command::Scroll(_)
        | Command::Unfocus
        | Command::Suspend
        | Command::Quit
        | Command::Help
        | Command::Palette
        | Command::InDiff(_)
        | Command::InFind(_)
        | Command::Close => false,
    }
}

impl Screen {
    /// Shows the finished runs to choose from; the answer is [`Action::OpenRun`].
    pub fn on_history(&mut self, runs: &[PastRun]) {
        self.dirty = true;
        if runs.is_empty() {
            self.refuse("no run is in the history yet: one comes there when the next begins");
            return;
        }
        self.bring(dialogs::history::sheet(runs));
    }

    /// Asks whether to take over, now that the other instance has ended; the answer is
    /// [`Action::TakeOver`].
    pub fn on_free(&mut self) {
        self.dirty = true;
        let sheet = Sheet::new("free", "the other instance has ended")
            .until_closed()
            .says("Nobody works in this repository any more.", theme::PLAIN)
            .offers(
                'y',
                "take over: start here",
                Then::ActAndBack(vec![Action::TakeOver]),
            )
            .offers('n', "go on looking", Then::Back);
        self.bring(sheet);
    }

    /// Changes what a screen that only looks says of itself.
    pub fn on_read_only(&mut self, read_only: ReadOnly) {
        self.dirty = true;
        self.settings.read_only = Some(read_only);
    }

    /// A word to the user that goes away with the next key and is kept nowhere.
    pub fn on_word(&mut self, text: &str) {
        self.dirty = true;
        self.refuse(text);
    }

    /// Takes a word back that is no longer so.
    pub fn forget_word(&mut self) {
        self.dirty = true;
        self.toast = None;
    }

    /// The run that is looked at, where it can be taken up again.
    pub(super) fn again(&self) -> Option<&PastRun> {
        self.settings.read_only.as_ref()?.again.as_ref()
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.settings.read_only.is_some()
    }

    /// Why something is not done on a screen that only looks; `None` on any other.
    pub(super) fn read_only_word(&self) -> Option<String> {
        let read_only = self.settings.read_only.as_ref()?;
        Some(format!("read-only: {}", read_only.why))
    }
}
