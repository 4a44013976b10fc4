//! Runs work beside the loop, because a slow disk, git or a CLI must not delay a key; the loop gets the results.
//!
//! All of it ends before the program returns.

use std::pin::Pin;

use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::app::run_history::RunHistoryEntry;
use crate::tui::WelcomeInfo;

use super::front_run::{CallText, FrontResult};
use super::run_session::RunResult;
use super::run_starter::StartResult;
use super::run_viewer::ViewResult;
use super::scrollback_loader::ScrollbackResult;
use super::terminal_driver::TerminalResult;
use super::theme_saver::ThemeSaveResult;

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

/// The background work of the screen.
#[derive(Default)]
pub struct BackgroundWork {
    tasks: JoinSet<BackgroundResult>,
    /// Cancelled when the screen closes; stops work that reads a lot.
    closed: CancellationToken,
}

impl BackgroundWork {
    /// Starts work. Boxed: the runtime moves a future several times, and would be compiled once per type.
    pub fn spawn(&mut self, work: impl Future<Output = BackgroundResult> + Send + 'static) {
        let work: Pin<Box<dyn Future<Output = BackgroundResult> + Send>> = Box::pin(work);
        self.tasks.spawn(work);
    }

    /// Starts work that blocks its thread.
    pub fn spawn_blocking(&mut self, work: impl FnOnce() -> BackgroundResult + Send + 'static) {
        self.tasks.spawn_blocking(work);
    }

    /// Returns the token that is cancelled when the screen closes.
    pub fn closed(&self) -> CancellationToken {
        self.closed.clone()
    }

    /// Waits for the next result; an error is a panic in the work. Cancel safe.
    pub async fn next_result(&mut self) -> Result<BackgroundResult, JoinError> {
        match self.tasks.join_next().await {
            Some(done) => done,
            None => std::future::pending().await,
        }
    }

    /// Asks work that reads a lot to stop.
    pub fn cancel(&self) {
        self.closed.cancel();
    }

    pub async fn shut_down(&mut self) {
        self.tasks.shutdown().await;
    }
}
