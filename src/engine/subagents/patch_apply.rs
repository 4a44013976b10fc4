//! Moves a child's changes into the user's tree: saved, approved like an edit, then written completely or
//! stored as a patch.
//!
//! The changes of a step are those between two snapshots of the tree. So a patch is applied while the agent
//! of a step works and becomes part of that step; at any other time it waits. Nothing is written without a
//! decision.

mod patch_approval;
mod patch_writer;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::SubagentTasks;
use super::child_worktree::ChildWorktree;
use crate::adapter::CallDecision;
use crate::domain::event::Event;
use crate::domain::ids::SessionId;
use crate::domain::phase::Phase;
use crate::domain::task::{TaskOrder, TaskOutcome};
use crate::domain::task_patch::{PatchState, TaskPatch};
use crate::engine::agent_activity;
use crate::engine::conversations::OpenConversations;
use crate::engine::engine_error::EngineError;
use crate::engine::git::{TreeId, TreeMerge};
use crate::engine::run_context::RunContext;
use crate::engine::subagents::child_event::{
    ChildEvent, ChildEventSender, PatchEvent, PatchMerge, WriteRetry,
};
use crate::engine::warnings::error_with_hint;
use crate::store::patch_files;

pub(super) use patch_writer::finish_interrupted_write;

/// How often a write is retried when files change in the meantime.
const MAX_WRITE_RETRIES: u8 = 5;

/// The stage of a child's task.
pub(super) enum ActiveTaskStage {
    /// The agent is working.
    Working,
    /// The agent has finished with this outcome, and its changes are being saved.
    Saving(TaskOutcome, Duration),
    /// The changes are being applied.
    ApplyingPatch(Box<PatchApplication>),
}

/// A patch on its way into the user's tree.
pub(super) struct PatchApplication {
    /// The task that the patch is from, with its session.
    order: TaskOrder,
    worktree: Arc<ChildWorktree>,
    events: ChildEventSender,
    end: TaskOutcome,
    took: Duration,
    patch: TaskPatch,
    stage: PatchApplyStage,
    n_retries: u8,
}

enum PatchApplyStage {
    /// It waits until it may be applied, or is being compared with the tree.
    Waiting,
    /// The user is asked about these changes.
    AwaitingApproval(PatchScope),
    /// These changes may be written.
    Approved(PatchScope),
    Writing,
}

/// Whether a patch is still on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatchProgress {
    Open,
    /// It was applied, or stays in its file.
    Settled,
}

/// What a decision is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct PatchScope {
    paths: BTreeSet<PathBuf>,
    conflicts: BTreeSet<PathBuf>,
}

/// Whether a patch may be applied now.
enum PatchApplyTiming {
    Now,
    Later,
    Never(&'static str),
}

impl PatchScope {
    fn from_merge(joined: &TreeMerge) -> Self {
        Self {
            paths: joined.paths.keys().cloned().collect(),
            conflicts: joined.conflicts.clone(),
        }
    }

    fn covers(&self, other: &Self) -> bool {
        self.paths.is_superset(&other.paths) && self.conflicts.is_superset(&other.conflicts)
    }
}

impl SubagentTasks {
    pub(super) fn on_patch_event(
        &mut self,
        run: &mut RunContext,
        conversations: &OpenConversations,
        session: &SessionId,
        event: PatchEvent,
    ) -> Result<(), EngineError> {
        if let PatchEvent::Continue | PatchEvent::Merged(Ok(_)) = event {
            match self.patch_apply_timing(run, conversations) {
                PatchApplyTiming::Never(why) => {
                    return self.leave_patch_as_file(run, session, why);
                }
                PatchApplyTiming::Later => return Ok(()),
                PatchApplyTiming::Now => {}
            }
        }
        match event {
            PatchEvent::Saved(saved) => self.on_patch_saved(run, session, saved),
            PatchEvent::WorktreeRemoved(cleared) => {
                self.on_child_worktree_removed(run, session, cleared)
            }
            event => {
                let Some(application) = self.patch_application_mut(session) else {
                    return Ok(());
                };
                match application.on_event(run, event)? {
                    PatchProgress::Open => Ok(()),
                    PatchProgress::Settled => self.finish_patch(run, session),
                }
            }
        }
    }

    fn patch_application_mut(&mut self, session: &SessionId) -> Option<&mut PatchApplication> {
        match &mut self.active_tasks.get_mut(session)?.stage {
            ActiveTaskStage::ApplyingPatch(application) => Some(application),
            ActiveTaskStage::Working | ActiveTaskStage::Saving(..) => None,
        }
    }

    fn on_patch_saved(
        &mut self,
        run: &mut RunContext,
        session: &SessionId,
        saved: Result<Option<TaskPatch>, String>,
    ) -> Result<(), EngineError> {
        let events = self.event_sender();
        let Some(at_task) = self.active_tasks.get_mut(session) else {
            return Ok(());
        };
        let (ActiveTaskStage::Saving(end, took), Some(worktree)) =
            (&at_task.stage, at_task.worktree.clone())
        else {
            return Ok(());
        };
        let (end, took) = (end.clone(), *took);
        match saved {
            Err(why) => {
                let error = format!(
                    "its changes could not be saved and stay in {}: {why}",
                    worktree.path.display()
                );
                return self.finish_task(
                    run,
                    session,
                    TaskOutcome::Failed {
                        error: error.into(),
                    },
                    took,
                    None,
                );
            }
            Ok(Some(patch)) => {
                at_task.stage = ActiveTaskStage::ApplyingPatch(Box::new(PatchApplication {
                    order: at_task.order.clone(),
                    worktree: worktree.clone(),
                    events: events.clone(),
                    end,
                    took,
                    patch: patch.clone(),
                    stage: PatchApplyStage::Waiting,
                    n_retries: 0,
                }));
                let session = session.clone();
                run.record(Event::TaskPatched { session, patch })?;
            }
            Ok(None) => {}
        }
        events.spawn_work(run, session, async move {
            ChildEvent::Patch(PatchEvent::WorktreeRemoved(worktree.remove().await))
        });
        Ok(())
    }

    fn on_child_worktree_removed(
        &mut self,
        run: &mut RunContext,
        session: &SessionId,
        cleared: Result<(), String>,
    ) -> Result<(), EngineError> {
        if let Err(why) = cleared {
            run.warn_once("remove the worktree of a task", why)?;
        }
        let Some(at_task) = self.active_tasks.get(session) else {
            return Ok(());
        };
        match &at_task.stage {
            ActiveTaskStage::Working => Ok(()),
            ActiveTaskStage::Saving(end, took) => {
                let (end, took) = (end.clone(), *took);
                self.finish_task(run, session, end, took, None)
            }
            ActiveTaskStage::ApplyingPatch(application) => {
                match (&application.end, &at_task.stop_reason) {
                    (TaskOutcome::Completed { .. }, None) => {
                        application.queue_event(run, PatchEvent::Continue);
                        Ok(())
                    }
                    _ => self.leave_patch_as_file(run, session, "the task was not completed"),
                }
            }
        }
    }

    /// Returns whether patches may be applied to the user's tree now.
    fn patch_apply_timing(
        &self,
        run: &RunContext,
        conversations: &OpenConversations,
    ) -> PatchApplyTiming {
        if run.setup.is_one_shot {
            return PatchApplyTiming::Now;
        }
        if run.state().phase != Phase::Execute {
            return PatchApplyTiming::Never("the execution is finished");
        }
        match conversations.open_turn(run) {
            Some(turn) if turn.order.purpose.may_write() => PatchApplyTiming::Now,
            _ => PatchApplyTiming::Later,
        }
    }

    /// Continues the patches that were waiting for their time.
    pub(in crate::engine) fn continue_waiting_patches(&mut self, run: &mut RunContext) {
        for task in self.active_tasks.values() {
            if let ActiveTaskStage::ApplyingPatch(application) = &task.stage
                && application.may_continue()
            {
                application.queue_event(run, PatchEvent::Continue);
            }
        }
    }

    /// Handles the answer about a child's changes after the current event.
    pub(in crate::engine) fn queue_patch_decision(
        &mut self,
        run: &mut RunContext,
        session: &SessionId,
        decision: CallDecision,
    ) {
        let decided = match decision {
            CallDecision::Allow => Ok(()),
            CallDecision::Deny { reason } => Err(reason),
            CallDecision::DenyAndStop => Err("declined by the user".to_owned()),
        };
        self.event_sender()
            .queue_patch_event(run, session, PatchEvent::Decided(decided));
    }

    /// Leaves the changes in their patch file.
    fn leave_patch_as_file(
        &mut self,
        run: &mut RunContext,
        session: &SessionId,
        why: &str,
    ) -> Result<(), EngineError> {
        let Some(application) = self.patch_application_mut(session) else {
            return Ok(());
        };
        application.leave_as_file(why);
        self.finish_patch(run, session)
    }

    fn finish_patch(
        &mut self,
        run: &mut RunContext,
        session: &SessionId,
    ) -> Result<(), EngineError> {
        let Some(application) = self.patch_application_mut(session) else {
            return Ok(());
        };
        let (end, took) = (application.end.clone(), application.took);
        let patch = application.patch.clone();
        run.record(Event::TaskPatched {
            session: session.clone(),
            patch: patch.clone(),
        })?;
        self.finish_task(run, session, end, took, Some(patch))
    }
}

impl PatchApplication {
    fn queue_event(&self, run: &mut RunContext, event: PatchEvent) {
        self.events
            .queue_patch_event(run, &self.order.session, event);
    }

    fn spawn_work(
        &self,
        run: &mut RunContext,
        work: impl Future<Output = PatchEvent> + Send + 'static,
    ) {
        let work = async { ChildEvent::Patch(work.await) };
        self.events.spawn_work(run, &self.order.session, work);
    }

    fn on_event(
        &mut self,
        run: &mut RunContext,
        event: PatchEvent,
    ) -> Result<PatchProgress, EngineError> {
        match event {
            PatchEvent::Continue => {
                self.start_merge(run);
                Ok(PatchProgress::Open)
            }
            PatchEvent::Merged(Ok(prepared)) => self.on_merged(run, *prepared),
            PatchEvent::Merged(Err(why)) => Ok(self.leave_as_file(&why)),
            PatchEvent::Decided(answered) => Ok(self.on_decided(run, answered)),
            PatchEvent::Written(put) => self.on_written(run, put),
            PatchEvent::Abandoned => Ok(self.on_abandoned()),
            // The task itself handles these.
            PatchEvent::Saved(_) | PatchEvent::WorktreeRemoved(_) => Ok(PatchProgress::Open),
        }
    }

    /// Returns whether the patch waits for the time at which it may be applied.
    fn may_continue(&self) -> bool {
        matches!(
            self.stage,
            PatchApplyStage::Waiting | PatchApplyStage::Approved(_)
        )
    }

    /// Merges the patch with the user's tree.
    fn start_merge(&self, run: &mut RunContext) {
        if !self.may_continue() {
            return;
        }
        let trees = [&self.patch.base, &self.patch.tree].map(|tree| TreeId(tree.clone()));
        let worktree = self.worktree.clone();
        self.spawn_work(run, async move {
            let prepared = patch_writer::merge_patch(&worktree, trees).await;
            PatchEvent::Merged(prepared.map(Box::new))
        });
    }

    fn on_merged(
        &mut self,
        run: &mut RunContext,
        prepared: PatchMerge,
    ) -> Result<PatchProgress, EngineError> {
        let extent = PatchScope::from_merge(&prepared.merge);
        match &self.stage {
            _ if extent.paths.is_empty() => {
                let why = "all changes were already in the working tree";
                self.on_written(run, Ok(why.to_owned()))
            }
            // The user's tree may have changed since the decision: only what it covered may be written.
            PatchApplyStage::Approved(allowed) if allowed.covers(&extent) => {
                self.stage = PatchApplyStage::Writing;
                self.start_write(run, prepared.merge, &prepared.target)?;
                Ok(PatchProgress::Open)
            }
            PatchApplyStage::Waiting | PatchApplyStage::Approved(_) => {
                self.stage = PatchApplyStage::AwaitingApproval(extent);
                self.decide(run, prepared)
            }
            PatchApplyStage::AwaitingApproval(_) | PatchApplyStage::Writing => {
                Ok(PatchProgress::Open)
            }
        }
    }

    fn on_written(
        &mut self,
        run: &mut RunContext,
        put: Result<String, (WriteRetry, String)>,
    ) -> Result<PatchProgress, EngineError> {
        match put {
            Ok(why) => {
                if !why.is_empty() {
                    self.patch.why = why;
                }
                self.patch = mark_patch_applied(run, self.patch.clone())?;
                Ok(PatchProgress::Settled)
            }
            Err((WriteRetry::Yes, _)) if self.n_retries < MAX_WRITE_RETRIES => {
                self.n_retries += 1;
                self.stage = PatchApplyStage::Waiting;
                self.patch.state = PatchState::Waiting;
                self.queue_event(run, PatchEvent::Continue);
                Ok(PatchProgress::Open)
            }
            Err((_, why)) => Ok(self.leave_as_file(&why)),
        }
    }

    fn on_abandoned(&mut self) -> PatchProgress {
        match self.stage {
            PatchApplyStage::Waiting
            | PatchApplyStage::AwaitingApproval(_)
            | PatchApplyStage::Approved(_) => {
                self.leave_as_file("the task was stopped before its changes were applied")
            }
            PatchApplyStage::Writing => PatchProgress::Open,
        }
    }

    /// Leaves the changes in their patch file.
    fn leave_as_file(&mut self, why: &str) -> PatchProgress {
        self.patch.state = PatchState::Kept;
        let before = std::mem::take(&mut self.patch.why);
        let why = [agent_activity::clean_line(why), before].into_iter();
        let why: Vec<String> = why.filter(|why| !why.is_empty()).collect();
        self.patch.why = why.join("; ");
        PatchProgress::Settled
    }
}

/// Marks a patch as applied; its file is no longer needed.
pub(super) fn mark_patch_applied(
    run: &mut RunContext,
    patch: TaskPatch,
) -> Result<TaskPatch, EngineError> {
    if let Some(file) = &patch.file
        && let Err(error) = patch_files::remove_patch(run.journal.layout(), Path::new(file))
    {
        run.warn_once("remove a patch that was applied", error_with_hint(&error))?;
    }
    Ok(TaskPatch {
        state: PatchState::Applied,
        file: None,
        ..patch
    })
}

#[cfg(test)]
mod tests;
