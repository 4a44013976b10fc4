//! Resumes an unfinished run of the history: moves it back and continues it like any other.
//!
//! Archives no run that is working or unfinished.

use crate::app::startup::{self, UnfinishedRunPolicy};

use super::super::background_result::{BackgroundResult, StartResult, UnarchiveAttempt};
use super::super::background_work::BackgroundWork;
use super::super::run_session::RunSession;
use super::super::tui_end::TuiEnd;
use super::super::tui_options::TuiStart;
use super::pending_start::{PendingRunStart, RunStartKind};
use super::{RunStarter, welcome_probe};

impl RunStarter {
    /// Moves a run of the history back in the background, then resumes it.
    pub fn unarchive(&mut self, name: String, session: &mut RunSession, work: &mut BackgroundWork) {
        if let Some(why) = self.unarchive_blocker(session) {
            return session.screen().set_toast(&why);
        }
        let Some((project, engine)) = session.lend_run() else {
            return;
        };
        session
            .screen()
            .set_toast("Restoring the run from the history …");
        let unfinished = self.options.wishes.unfinished;
        self.pending = Some(PendingRunStart::new(RunStartKind::Unfinished));
        work.spawn(async move {
            let unarchived = startup::unarchive_run(&project, unfinished, &name).await;
            BackgroundResult::Start(StartResult::RunUnarchived(Box::new(UnarchiveAttempt {
                project,
                engine,
                unarchived,
            })))
        });
    }

    /// Returns what must end before another run can take the place of this one.
    fn unarchive_blocker(&self, session: &RunSession) -> Option<String> {
        let is_left = "It stays in the history.";
        if self.pending.is_some() {
            return Some(format!("A run is starting. {is_left}"));
        }
        let state = session.state()?;
        if !state.is_over() && state.goal.is_some() {
            return Some(format!(
                "A run is open. Finish or cancel it first. {is_left}"
            ));
        }
        let mut children = state.children.iter();
        let mut talks = state.discussions.iter();
        let is_busy = children.any(|child| child.is_running())
            || talks.any(|talk| talk.is_running())
            || session.is_busy();
        is_busy
            .then(|| format!("Something is still running. Wait for it or stop it first. {is_left}"))
    }

    /// Resumes the run that was moved back, or continues with the one that was open.
    pub fn on_unarchived(
        &mut self,
        attempt: UnarchiveAttempt,
        session: &mut RunSession,
        work: &mut BackgroundWork,
    ) -> Result<(), TuiEnd> {
        session.return_project(attempt.project);
        let back = match attempt.unarchived {
            Ok(back) => back,
            Err(refusal) => {
                session.return_engine(attempt.engine);
                if session.engine().is_none() {
                    welcome_probe::probe_environment(session.project(), work);
                }
                let text = format!("{}\n{}", refusal.problem, refusal.hint);
                session.screen().on_notice(&text);
                return match self.pending.take() {
                    Some(begin) => self.start_queued(begin.next, begin.since, session, work),
                    None => Ok(()),
                };
            }
        };
        drop(attempt.engine);
        self.options.first = TuiStart::AskForGoal;
        self.options.wishes.unfinished = UnfinishedRunPolicy::Refuse;
        session.on_unarchived(&back);
        if let Some(begin) = self.pending.as_mut().filter(|_| !back.has_goal()) {
            begin.what = RunStartKind::WithoutGoal;
        }
        self.try_start(session, work);
        Ok(())
    }
}
