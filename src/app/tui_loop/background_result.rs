//! What work beside the loop brings back, by the owner that it is for.

use std::io;
use std::process::ExitStatus;

use crate::app::run_diff::RunDiff;
use crate::app::run_history::RunHistoryEntry;
use crate::app::startup::{LockedProject, ReadyRun, StartError, UnarchivedRun};
use crate::domain::diff_scope::DiffScope;
use crate::domain::reversal_plan::ReversalPreview;
use crate::engine::Engine;
use crate::engine::git::GitError;
use crate::engine::stored_run::{StoredRun, StoredRunUpdate};
use crate::store::StoreError;
use crate::tui::{DocumentKind, ExternalViewer, WelcomeInfo};

use super::document_loader::DocumentSnapshot;
use super::run_session::ChildHistory;
use super::run_starter::OpenedDirectory;
use super::scrollback_loader::ScrollbackPage;

/// A result of background work, by the owner that it is for.
pub enum BackgroundResult {
    Start(StartResult),
    Run(RunResult),
    View(ViewResult),
    Terminal(TerminalResult),
    /// For the screen in front.
    Front(FrontResult),
    CallRead(CallText),
    /// A page of earlier events, for the screen that it names.
    Scrollback(ScrollbackResult),
    /// The checks for the welcome page are done, with the finished runs.
    WelcomeReady(Box<WelcomeInfo>, Vec<RunHistoryEntry>),
    ThemeSaved(ThemeSaveResult),
}

/// A result of work for a start.
pub enum StartResult {
    /// The directory was inspected and locked.
    DirectoryOpened(Box<Result<OpenedDirectory, StartError>>),
    /// A run started or failed to start.
    RunStarted(Box<RunStartAttempt>),
    /// The checks for a goal are done.
    GoalChecked(Result<(), StartError>),
    /// A run of the history was moved back into the work directory, or not.
    RunUnarchived(Box<UnarchiveAttempt>),
}

/// The result of starting a run.
pub struct RunStartAttempt {
    pub project: LockedProject,
    pub started: Result<ReadyRun, StartError>,
}

/// The result of moving a run back.
pub struct UnarchiveAttempt {
    pub project: LockedProject,
    /// The engine of the run that was open meanwhile.
    pub engine: Option<Engine>,
    pub unarchived: Result<UnarchivedRun, StartError>,
}

/// A result of work for the run.
pub enum RunResult {
    /// The branch that is checked out, if any.
    Branch(Option<String>),
    DocumentsRead(Result<DocumentSnapshot, StoreError>),
    /// A line of the plan was rewritten, or not.
    PlanLineWritten(Result<(), String>),
    /// A child session was read.
    ChildRead(Result<ChildHistory, StoreError>),
    /// What an undo would do, or why it is impossible.
    UndoOffers(Result<Vec<ReversalPreview>, String>),
}

/// A result of work for the views.
pub enum ViewResult {
    Refreshed(Box<ViewRefresh>),
    /// The finished runs.
    History(Result<Vec<RunHistoryEntry>, StoreError>),
    /// The instance that had the lock has ended.
    DirectoryFreed,
}

/// The result of a refresh in the background.
pub struct ViewRefresh {
    pub view: u64,
    pub stored: StoredRun,
    pub seen: StoredRunUpdate,
    /// The last page of the log, if the view starts there.
    pub page: Option<Result<Box<ScrollbackPage>, StoreError>>,
    pub documents: Option<Result<DocumentSnapshot, StoreError>>,
}

/// A result for the screen in front.
pub enum FrontResult {
    Toast(String),
    /// A text that the user asked for, under this title, or the error.
    TextReady(&'static str, Box<Result<String, StartError>>),
    DiffReady(DiffScope, Box<Result<RunDiff, StartError>>),
    /// The files of the repository, for the composer's `@` completion.
    Files(Result<Vec<String>, GitError>),
}

/// What was read of a tool call, to be opened in another program.
pub struct CallText {
    pub text: String,
    pub with: ExternalViewer,
    /// Why it is incomplete, if that is an error.
    pub problem: Option<String>,
}

/// A result of work for the terminal.
pub enum TerminalResult {
    EditorClosed(DocumentKind, io::Result<ExitStatus>),
    /// The program that showed a text has ended.
    ViewerClosed(ExternalViewer, io::Result<ExitStatus>),
    /// tmux received a text for the clipboard.
    Copied(String, Result<(), String>),
}

/// The result of saving a theme.
#[derive(Debug)]
pub struct ThemeSaveResult {
    pub name: String,
    /// The file's path as shown to the user.
    pub file: String,
    pub written: Result<(), String>,
}

/// The screen for which earlier events are loaded.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum ScrollbackOwner {
    /// The screen of the program's own run.
    #[default]
    Ours,
    /// A read-only view, by its id.
    View(u64),
}

/// A page of earlier events that was read, and for which screen.
pub struct ScrollbackResult {
    pub owner: ScrollbackOwner,
    pub page: Result<Box<ScrollbackPage>, StoreError>,
}
