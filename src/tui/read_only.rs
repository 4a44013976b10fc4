//! A screen that only looks: what it says in the header, which commands it refuses, and the picker and
//! the question that belong to looking.
//!
//! Refuses to know why the run cannot be touched: whoever opens the screen says so in words.

use super::action::Action;
use super::command::ScreenCommand;
use super::dialog::{ChoiceAction, ChoiceDialog};
use super::theme;
use super::{Screen, dialogs};

/// How a screen that only looks names itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOnlyStatus {
    /// What the header says after "read-only", such as "finished run".
    pub badge: String,
    /// What follows "read-only: " when a key is refused.
    pub reason: String,
    /// Whether somebody else works on the run.
    pub owner_activity: OwnerActivity,
    /// The run as it is listed, where it can be taken up again.
    pub resumable_run: Option<RunListEntry>,
}

/// Whether somebody else works on a run that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerActivity {
    /// Another instance does.
    Working,
    /// Nobody does: what ran was cut off.
    Idle,
}

/// A finished run, as the picker shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunListEntry {
    /// Its directory's name.
    pub name: String,
    /// When it was archived.
    pub date: String,
    /// Where it ended.
    pub ended: String,
    /// What it was about, or what is wrong with its files.
    pub about: String,
    /// How far it came; empty where that is not known.
    pub progress: String,
    /// Whether it came to its end.
    pub completion: RunCompletion,
}

/// Whether a run of the history came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunCompletion {
    /// It did, or what is wrong with its files leaves nothing to go on with.
    Complete,
    /// It was put away before, and can be taken up again.
    Unfinished,
}

/// Tells whether a key may mean a command while something lies over the run: it looks, goes somewhere, or stops a turn.
pub fn is_safe_in_overlay(command: &ScreenCommand) -> bool {
    let leaves_alone = !changes_run(command) && !matches!(command, ScreenCommand::ExportRun(_));
    leaves_alone
        || matches!(
            command,
            ScreenCommand::FocusComposer | ScreenCommand::InterruptTurn
        )
}

/// Tells whether a command does more than look.
pub fn changes_run(command: &ScreenCommand) -> bool {
    match command {
        ScreenCommand::Go
        | ScreenCommand::AutoGate
        | ScreenCommand::ManualGate
        | ScreenCommand::Mode(_)
        | ScreenCommand::StopToGoal
        | ScreenCommand::SteerTurn(_)
        | ScreenCommand::InterruptTurn
        | ScreenCommand::ApprovePlan
        | ScreenCommand::Changes(_)
        | ScreenCommand::CancelRun
        | ScreenCommand::Edit(_)
        | ScreenCommand::AllowCall
        | ScreenCommand::RejectCall(_)
        | ScreenCommand::ShowApprovals
        | ScreenCommand::AnswerQuestion(_)
        | ScreenCommand::Undo(_)
        | ScreenCommand::StartTask(..)
        | ScreenCommand::ListTaskSessions
        | ScreenCommand::ResumeRun
        | ScreenCommand::ChooseRefiner(_)
        | ScreenCommand::AddPlanNote(_)
        | ScreenCommand::RemovePlanNote(_)
        | ScreenCommand::RewritePlanLine
        | ScreenCommand::FocusComposer => true,
        ScreenCommand::SetGoal(text) => !text.is_empty(),
        ScreenCommand::Discuss(wish) => wish.has_side_effect(),
        ScreenCommand::BoardAction(does) => does.has_side_effect(),
        ScreenCommand::ShowHistory
        | ScreenCommand::ExportRun(_)
        | ScreenCommand::RunDoctor
        | ScreenCommand::ShowAgents(_)
        | ScreenCommand::ShowTodos
        | ScreenCommand::ViewFullText
        | ScreenCommand::Diff(_)
        | ScreenCommand::Theme(_)
        | ScreenCommand::ToggleMouse
        | ScreenCommand::ToggleThinking
        | ScreenCommand::Copy
        | ScreenCommand::CopyCodeBlock
        | ScreenCommand::SelectAdjacent(_)
        | ScreenCommand::OpenSelection
        | ScreenCommand::OpenInViewer(_)
        | ScreenCommand::GoToWaitingDialog
        | ScreenCommand::ToggleChatArrangement
        | ScreenCommand::OpenSearch
        | ScreenCommand::CycleFilter
        | ScreenCommand::JumpToCounterpart
        | ScreenCommand::ToggleSidePane
        | ScreenCommand::TogglePaneFocus
        | ScreenCommand::Redraw
        | ScreenCommand::Show(_)
        | ScreenCommand::NextTab
        | ScreenCommand::PreviousTab
        | ScreenCommand::Scroll(_)
        | ScreenCommand::LeaveComposer
        | ScreenCommand::Suspend
        | ScreenCommand::Quit
        | ScreenCommand::ShowHelp
        | ScreenCommand::OpenPalette
        | ScreenCommand::DiffAction(_)
        | ScreenCommand::SearchAction(_)
        | ScreenCommand::Close => false,
    }
}

impl Screen {
    /// Shows the finished runs to choose from; the answer is [`Action::OpenRun`].
    pub fn show_run_history(&mut self, runs: &[RunListEntry]) {
        self.is_dirty = true;
        if runs.is_empty() {
            self.show_toast("no run is in the history yet: one comes there when the next begins");
            return;
        }
        self.open_or_defer_dialog(dialogs::run_history_list::build_dialog(runs));
    }

    /// Asks whether to take over, now that the other instance has ended; the answer is
    /// [`Action::TakeOver`].
    pub fn ask_to_take_over(&mut self) {
        self.is_dirty = true;
        let sheet = ChoiceDialog::new("free", "the other instance has ended")
            .until_closed()
            .with_text("Nobody works in this repository any more.", theme::PLAIN)
            .with_choice(
                'y',
                "take over: start here",
                ChoiceAction::ActAndClose(vec![Action::TakeOver]),
            )
            .with_choice('n', "go on looking", ChoiceAction::Close);
        self.open_or_defer_dialog(sheet);
    }

    /// Changes what a screen that only looks says of itself.
    pub fn on_read_only(&mut self, read_only: ReadOnlyStatus) {
        self.is_dirty = true;
        self.settings.read_only = Some(read_only);
    }

    /// A word to the user that goes away with the next key and is kept nowhere.
    pub fn set_toast(&mut self, text: &str) {
        self.is_dirty = true;
        self.show_toast(text);
    }

    /// Takes a word back that is no longer so.
    pub fn clear_toast(&mut self) {
        self.is_dirty = true;
        self.toast = None;
    }

    /// The run that is looked at, where it can be taken up again.
    pub(super) fn resumable_run(&self) -> Option<&RunListEntry> {
        self.settings.read_only.as_ref()?.resumable_run.as_ref()
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.settings.read_only.is_some()
    }

    /// Why something is not done on a screen that only looks; `None` on any other.
    pub(super) fn read_only_reason(&self) -> Option<String> {
        let read_only = self.settings.read_only.as_ref()?;
        Some(format!("read-only: {}", read_only.reason))
    }
}
