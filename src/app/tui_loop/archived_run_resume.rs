//! Resumes an unfinished run of the history: moves it back and continues it like any other.
//!
//! Archives no run that is working or unfinished.

use crate::app::startup::{self, LockedProject, StartError, UnarchivedRun, UnfinishedRunPolicy};
use crate::engine::Engine;
use crate::tui::RunDocumentFiles;

use super::document_tracker::DocumentTracker;
use super::run_startup::{PendingRunStart, RunStartKind};
use super::shutdown::TuiEnd;
use super::{BackgroundResult, TuiApp, TuiStart};

/// The result of moving a run back.
pub struct UnarchiveAttempt {
    occupied: LockedProject,
    /// The engine of the run that was open meanwhile.
    engine: Option<Engine>,
    unarchived: Result<UnarchivedRun, StartError>,
}

impl TuiApp {
    /// Moves a run of the history back in the background, then resumes it.
    pub(super) fn resume_archived_run(&mut self, name: String) -> Result<Option<TuiEnd>, TuiEnd> {
        if self.views.has_base() {
            // A read-only screen has to lock the directory first.
            return self.take_over(TuiStart::ResumeArchived { name });
        }
        self.close_opened_view();
        self.screen.mark_dirty();
        if let Some(why) = self.unarchive_blocker() {
            self.screen.set_toast(&why);
            return Ok(None);
        }
        let Some(occupied) = self.occupied.take() else {
            return Ok(None);
        };
        self.screen
            .set_toast("Restoring the run from the history …");
        // Nothing may write to the open run while its files move.
        let (engine, unfinished) = (self.engine.take(), self.wishes.unfinished);
        self.pending_start = Some(PendingRunStart::new(RunStartKind::Unfinished));
        self.spawn_background(async move {
            let brought = startup::unarchive_run(&occupied, unfinished, &name).await;
            BackgroundResult::RunUnarchived(Box::new(UnarchiveAttempt {
                occupied,
                engine,
                unarchived: brought,
            }))
        });
        Ok(None)
    }

    /// Returns what must end before another run can take the place of this one.
    fn unarchive_blocker(&self) -> Option<String> {
        let is_left = "It stays in the history.";
        if self.pending_start.is_some() {
            return Some(format!("A run is starting. {is_left}"));
        }
        let state = self.state()?;
        if !state.is_over() && state.goal.is_some() {
            return Some(format!(
                "A run is open. Finish or cancel it first. {is_left}"
            ));
        }
        let mut children = state.children.iter();
        let mut talks = state.discussions.iter();
        let is_busy = children.any(|child| child.is_running())
            || talks.any(|talk| talk.is_running())
            || self.is_busy();
        is_busy
            .then(|| format!("Something is still running. Wait for it or stop it first. {is_left}"))
    }

    pub(super) fn on_run_unarchived(
        &mut self,
        attempt: UnarchiveAttempt,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let UnarchiveAttempt {
            occupied,
            engine,
            unarchived: brought,
        } = attempt;
        self.occupied = Some(occupied);
        let back = match brought {
            Ok(back) => back,
            Err(refusal) => {
                self.engine = engine;
                if self.engine.is_none() {
                    self.probe_environment();
                }
                self.screen
                    .on_notice(&format!("{}\n{}", refusal.problem, refusal.hint));
                return match self.pending_start.take() {
                    Some(begin) => self.start_queued(begin.next, begin.since),
                    None => Ok(None),
                };
            }
        };
        drop(engine);
        self.start = TuiStart::AskForGoal;
        self.wishes.unfinished = UnfinishedRunPolicy::Refuse;
        (self.unfinished_state, self.watch) = (None, None);
        self.document_tracker = DocumentTracker::default();
        self.screen.on_documents(RunDocumentFiles::default());
        self.scrollback_is_shown = true;
        self.clear_scrollback();
        self.screen.on_notice(&back.describe());
        if let Some(begin) = self.pending_start.as_mut().filter(|_| !back.has_goal()) {
            begin.what = RunStartKind::WithoutGoal;
        }
        self.try_start_run()
    }
}
