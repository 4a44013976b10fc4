//! What a child changed in its own tree on the way into the user's: saved, decided like an edit, written whole or kept.
//!
//! A step's changes are those between two looks at the tree. So what is taken over comes while an agent of a step
//! works, and is part of that step; at any other time it waits. Refuses to write what was not decided.

mod deciding;
mod writing;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::Said;
use super::plot::Plot;
use crate::adapter::FileChange;
use crate::domain::event::Event;
use crate::domain::ids::SessionId;
use crate::domain::phase::Phase;
use crate::domain::run::ResultValidity;
use crate::domain::task::TaskOutcome;
use crate::domain::task_patch::{PatchState, TaskPatch};
use crate::domain::turn::TurnPurpose;
use crate::engine::git::{Joined, TreeId};
use crate::engine::{Engine, EngineError, news, with_hint};
use crate::store::patch_files;

pub(super) use writing::put_rest;

/// How often it is tried again when files change while they are written.
const TRIES: u8 = 5;

/// How far a child is.
pub(super) enum Stage {
    /// Its agent works.
    Working,
    /// Its agent is done so, and what it changed is being saved.
    Saving(TaskOutcome, Duration),
    /// What it changed is on its way.
    Handing(Box<Handing>),
}

/// Changes on their way.
pub(super) struct Handing {
    end: TaskOutcome,
    took: Duration,
    patch: TaskPatch,
    step: Step,
    n_tries: u8,
}

enum Step {
    /// For a time at which they may be taken over, or the tree is being compared.
    Waits,
    /// The user is asked about these.
    Asked(Extent),
    /// These may be written.
    Allowed(Extent),
    /// They are being written.
    Putting,
}

/// What a decision is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Extent {
    paths: BTreeSet<PathBuf>,
    conflicts: BTreeSet<PathBuf>,
}

/// When changes may be taken over.
enum When {
    Now,
    Later,
    Never(&'static str),
}

/// Changes joined with the user's tree as it is.
#[derive(Debug)]
pub struct Prepared {
    joined: Joined,
    /// The user's tree as it would be.
    target: TreeId,
    /// What would change, file by file.
    changes: Vec<FileChange>,
}

/// What the handing over of a child's changes tells.
#[derive(Debug)]
pub enum Handed {
    /// Its changes are saved; `None` where there are none.
    Saved(Result<Option<TaskPatch>, String>),
    /// Its tree is gone.
    Cleared(Result<(), String>),
    /// It may be time to take them over.
    GoOn,
    /// They are compared with the user's tree.
    Joined(Result<Box<Prepared>, String>),
    /// The decision is there.
    Answered(Result<(), String>),
    /// They are written, with what else is to be told, or they are not; the first word says whether to try again.
    Put(Result<String, (Again, String)>),
    /// Nobody waits for them any more.
    GivenUp,
}

/// Whether what failed is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// It is.
    Yes,
    /// It is not.
    No,
}

impl Step {
    fn is_in_conflict(&self) -> bool {
        matches!(self, Self::Asked(extent) if !extent.conflicts.is_empty())
    }
}

impl Extent {
    fn of(joined: &Joined) -> Self {
        Self {
            paths: joined.paths.keys().cloned().collect(),
            conflicts: joined.conflicts.clone(),
        }
    }

    fn covers(&self, other: &Self) -> bool {
        self.paths.is_superset(&other.paths) && self.conflicts.is_superset(&other.conflicts)
    }
}

impl Engine {
    /// Tells the engine something of a child's changes, after what it does now.
    pub(super) fn tell_handed(&mut self, session: &SessionId, handed: Handed) {
        let (said, session) = (self.children.said.0.clone(), session.clone());
        self.tasks.spawn(async move {
            // Nobody listens any more only when the program is about to end.
            let _nobody = said.send((session, Said::Handed(handed))).await;
        });
    }

    fn do_for(&mut self, session: &SessionId, work: impl Future<Output = Handed> + Send + 'static) {
        let (said, session) = (self.children.said.0.clone(), session.clone());
        self.tasks.spawn(async move {
            let handed = work.await;
            let _nobody = said.send((session, Said::Handed(handed))).await;
        });
    }

    /// Has what a child's agent changed saved, now that it is done.
    pub(super) fn save_changes(&mut self, session: &SessionId, plot: Arc<Plot>) {
        self.do_for(session, async move { Handed::Saved(plot.save().await) });
    }

    pub(super) fn on_handed(
        &mut self,
        session: &SessionId,
        handed: Handed,
    ) -> Result<(), EngineError> {
        match handed {
            Handed::Saved(saved) => self.on_saved(session, saved),
            Handed::Cleared(cleared) => self.on_cleared(session, cleared),
            Handed::GoOn => self.hand_over(session),
            Handed::Joined(Ok(prepared)) => self.on_joined(session, *prepared),
            Handed::Joined(Err(why)) => self.keep_patch(session, &why),
            Handed::Answered(answered) => self.on_patch_answered(session, answered),
            Handed::Put(put) => self.on_put(session, put),
            Handed::GivenUp => self.on_given_up(session),
        }
    }

    fn plot_of(&self, session: &SessionId) -> Option<Arc<Plot>> {
        self.children.at_work.get(session)?.plot.clone()
    }

    fn handing(&mut self, session: &SessionId) -> Option<&mut Handing> {
        match &mut self.children.at_work.get_mut(session)?.stage {
            Stage::Handing(handing) => Some(handing),
            Stage::Working | Stage::Saving(..) => None,
        }
    }

    fn on_saved(
        &mut self,
        session: &SessionId,
        saved: Result<Option<TaskPatch>, String>,
    ) -> Result<(), EngineError> {
        let Some(at_task) = self.children.at_work.get_mut(session) else {
            return Ok(());
        };
        let (Stage::Saving(end, took), Some(plot)) = (&at_task.stage, at_task.plot.clone()) else {
            return Ok(());
        };
        let (end, took) = (end.clone(), *took);
        match saved {
            Err(why) => {
                let error = format!(
                    "what it changed could not be saved and stays in {}: {why}",
                    plot.path.display()
                );
                return self.close_task(session, TaskOutcome::Failed { error }, took, None);
            }
            Ok(Some(patch)) => {
                at_task.stage = Stage::Handing(Box::new(Handing {
                    end,
                    took,
                    patch: patch.clone(),
                    step: Step::Waits,
                    n_tries: 0,
                }));
                let session = session.clone();
                self.feed(Event::TaskPatched { session, patch })?;
            }
            Ok(None) => {}
        }
        self.do_for(session, async move { Handed::Cleared(plot.clear().await) });
        Ok(())
    }

    fn on_cleared(
        &mut self,
        session: &SessionId,
        cleared: Result<(), String>,
    ) -> Result<(), EngineError> {
        if let Err(why) = cleared {
            self.tell_trouble("remove the work tree of a child", why)?;
        }
        let Some(at_task) = self.children.at_work.get(session) else {
            return Ok(());
        };
        match &at_task.stage {
            Stage::Working => Ok(()),
            Stage::Saving(end, took) => {
                let (end, took) = (end.clone(), *took);
                self.close_task(session, end, took, None)
            }
            Stage::Handing(handing) => match (&handing.end, &at_task.stopped) {
                (TaskOutcome::Completed { .. }, None) => self.hand_over(session),
                _ => self.keep_patch(session, "the task was not completed"),
            },
        }
    }

    /// When changes may come into the user's tree.
    fn when(&self) -> When {
        if self.children.alone {
            return When::Now;
        }
        if self.state().phase != Phase::Execute {
            return When::Never("the execution is over");
        }
        let counts = self.state().running.as_ref();
        let counts = counts.is_some_and(|running| running.result == ResultValidity::Yes);
        let purpose = self.at_work.as_ref().map(|at_work| &at_work.order.purpose);
        match purpose {
            Some(TurnPurpose::Step { .. } | TurnPurpose::Fix { .. })
                if counts && !self.turn_is_over =>
            {
                When::Now
            }
            _ => When::Later,
        }
    }

    /// Lets those changes go on that waited for their time.
    pub(in crate::engine) fn hand_over_waiting(&mut self) {
        let waits = |stage: &Stage| match stage {
            Stage::Handing(handing) => matches!(handing.step, Step::Waits | Step::Allowed(_)),
            Stage::Working | Stage::Saving(..) => false,
        };
        let at_work = self.children.at_work.iter();
        let waiting = at_work.filter(|(_, task)| waits(&task.stage));
        let waiting: Vec<SessionId> = waiting.map(|(session, _)| session.clone()).collect();
        for session in waiting {
            self.tell_handed(&session, Handed::GoOn);
        }
    }

    /// Compares changes with the user's tree, where it is their time.
    fn hand_over(&mut self, session: &SessionId) -> Result<(), EngineError> {
        match self.when() {
            When::Never(why) => return self.keep_patch(session, why),
            When::Later => return Ok(()),
            When::Now => {}
        }
        let (Some(plot), Some(handing)) = (self.plot_of(session), self.handing(session)) else {
            return Ok(());
        };
        if !matches!(handing.step, Step::Waits | Step::Allowed(_)) {
            return Ok(());
        }
        let trees = [&handing.patch.base, &handing.patch.tree].map(|tree| TreeId(tree.clone()));
        self.do_for(session, async move {
            let prepared = writing::prepare(&plot, trees).await;
            Handed::Joined(prepared.map(Box::new))
        });
        Ok(())
    }

    fn on_joined(&mut self, session: &SessionId, prepared: Prepared) -> Result<(), EngineError> {
        if !matches!(self.when(), When::Now) {
            return self.hand_over(session);
        }
        let extent = Extent::of(&prepared.joined);
        let Some(handing) = self.handing(session) else {
            return Ok(());
        };
        match &handing.step {
            _ if extent.paths.is_empty() => {
                let why = "all of it was in the tree already";
                self.on_put(session, Ok(why.to_owned()))
            }
            Step::Allowed(allowed) if allowed.covers(&extent) => {
                handing.step = Step::Putting;
                self.put(session, prepared.joined, &prepared.target)
            }
            Step::Waits | Step::Allowed(_) => {
                handing.step = Step::Asked(extent);
                self.decide_patch(session, prepared)
            }
            Step::Asked(_) | Step::Putting => Ok(()),
        }
    }

    fn on_put(
        &mut self,
        session: &SessionId,
        put: Result<String, (Again, String)>,
    ) -> Result<(), EngineError> {
        let Some(handing) = self.handing(session) else {
            return Ok(());
        };
        match put {
            Ok(why) => {
                if !why.is_empty() {
                    handing.patch.why = why;
                }
                let patch = handing.patch.clone();
                let patch = self.taken_over(patch)?;
                if let Some(handing) = self.handing(session) {
                    handing.patch = patch;
                }
                self.close_handing(session)
            }
            Err((Again::Yes, _)) if handing.n_tries < TRIES => {
                handing.n_tries += 1;
                handing.step = Step::Waits;
                handing.patch.state = PatchState::Waiting;
                self.hand_over(session)
            }
            Err((_, why)) => self.keep_patch(session, &why),
        }
    }

    /// A patch whose changes are in the user's tree: its file is not needed any more.
    pub(super) fn taken_over(&mut self, patch: TaskPatch) -> Result<TaskPatch, EngineError> {
        if let Some(file) = &patch.file
            && let Err(error) = patch_files::remove_patch(self.journal.layout(), Path::new(file))
        {
            self.tell_trouble("remove a patch that was taken over", with_hint(&error))?;
        }
        Ok(TaskPatch {
            state: PatchState::Applied,
            file: None,
            ..patch
        })
    }

    fn on_given_up(&mut self, session: &SessionId) -> Result<(), EngineError> {
        match self.handing(session) {
            Some(Handing {
                step: Step::Waits | Step::Asked(_) | Step::Allowed(_),
                ..
            }) => self.keep_patch(session, "the task was stopped before it was taken over"),
            Some(_) | None => Ok(()),
        }
    }

    /// Leaves changes in their file.
    fn keep_patch(&mut self, session: &SessionId, why: &str) -> Result<(), EngineError> {
        let Some(handing) = self.handing(session) else {
            return Ok(());
        };
        handing.patch.state = PatchState::Kept;
        let before = std::mem::take(&mut handing.patch.why);
        let why = [news::line(why), before].into_iter();
        let why: Vec<String> = why.filter(|why| !why.is_empty()).collect();
        handing.patch.why = why.join("; ");
        self.close_handing(session)
    }

    fn close_handing(&mut self, session: &SessionId) -> Result<(), EngineError> {
        let Some(handing) = self.handing(session) else {
            return Ok(());
        };
        let (end, took) = (handing.end.clone(), handing.took);
        let patch = handing.patch.clone();
        self.feed(Event::TaskPatched {
            session: session.clone(),
            patch: patch.clone(),
        })?;
        self.close_task(session, end, took, Some(patch))
    }
}

#[cfg(test)]
mod tests;
