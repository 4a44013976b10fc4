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
use crate::domain::event::Event;
use crate::domain::ids::SessionId;
use crate::domain::phase::Phase;
use crate::domain::task::TaskOutcome;
use crate::domain::task_patch::{PatchState, TaskPatch};
use crate::engine::agent_activity;
use crate::engine::conversations::OpenConversations;
use crate::engine::engine_error::EngineError;
use crate::engine::git::{TreeId, TreeMerge};
use crate::engine::run_context::RunContext;
use crate::engine::subagents::child_event::{ChildEvent, PatchEvent, PatchMerge, WriteRetry};
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
    /// Queues an event about a child's patch, to be handled after the current event.
    pub(super) fn queue_patch_event(
        &mut self,
        run: &mut RunContext,
        session: &SessionId,
        handed: PatchEvent,
    ) {
        let (said, session) = (self.events.0.clone(), session.clone());
        run.tasks.spawn(async move {
            // Sending fails only when the program is about to end.
            let _nobody = said.send((session, ChildEvent::Patch(handed))).await;
        });
    }

    fn spawn_patch_work(
        &mut self,
        run: &mut RunContext,
        session: &SessionId,
        work: impl Future<Output = PatchEvent> + Send + 'static,
    ) {
        let (said, session) = (self.events.0.clone(), session.clone());
        run.tasks.spawn(async move {
            let handed = work.await;
            let _nobody = said.send((session, ChildEvent::Patch(handed))).await;
        });
    }

    /// Starts saving the changes of a child whose agent has finished.
    pub(super) fn save_child_changes(
        &mut self,
        run: &mut RunContext,
        session: &SessionId,
        plot: Arc<ChildWorktree>,
    ) {
        self.spawn_patch_work(run, session, async move {
            PatchEvent::Saved(plot.save_patch().await)
        });
    }

    pub(super) fn on_patch_event(
        &mut self,
        run: &mut RunContext,
        conversations: &OpenConversations,
        session: &SessionId,
        handed: PatchEvent,
    ) -> Result<(), EngineError> {
        if let PatchEvent::Continue | PatchEvent::Merged(Ok(_)) = handed {
            match self.patch_apply_timing(run, conversations) {
                PatchApplyTiming::Never(why) => {
                    return self.leave_patch_as_file(run, session, why);
                }
                PatchApplyTiming::Later => return Ok(()),
                PatchApplyTiming::Now => {}
            }
        }
        match handed {
            PatchEvent::Saved(saved) => self.on_patch_saved(run, session, saved),
            PatchEvent::WorktreeRemoved(cleared) => {
                self.on_child_worktree_removed(run, session, cleared)
            }
            PatchEvent::Continue => {
                self.start_patch_merge(run, session);
                Ok(())
            }
            PatchEvent::Merged(Ok(prepared)) => self.on_patch_merged(run, session, *prepared),
            PatchEvent::Merged(Err(why)) => self.leave_patch_as_file(run, session, &why),
            PatchEvent::Decided(answered) => self.on_patch_decided(run, session, answered),
            PatchEvent::Written(put) => self.on_patch_written(run, session, put),
            PatchEvent::Abandoned => self.on_patch_abandoned(run, session),
        }
    }

    fn child_worktree(&self, session: &SessionId) -> Option<Arc<ChildWorktree>> {
        self.active_tasks.get(session)?.worktree.clone()
    }

    fn patch_application_mut(&mut self, session: &SessionId) -> Option<&mut PatchApplication> {
        match &mut self.active_tasks.get_mut(session)?.stage {
            ActiveTaskStage::ApplyingPatch(handing) => Some(handing),
            ActiveTaskStage::Working | ActiveTaskStage::Saving(..) => None,
        }
    }

    fn on_patch_saved(
        &mut self,
        run: &mut RunContext,
        session: &SessionId,
        saved: Result<Option<TaskPatch>, String>,
    ) -> Result<(), EngineError> {
        let Some(at_task) = self.active_tasks.get_mut(session) else {
            return Ok(());
        };
        let (ActiveTaskStage::Saving(end, took), Some(plot)) =
            (&at_task.stage, at_task.worktree.clone())
        else {
            return Ok(());
        };
        let (end, took) = (end.clone(), *took);
        match saved {
            Err(why) => {
                let error = format!(
                    "its changes could not be saved and stay in {}: {why}",
                    plot.path.display()
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
        self.spawn_patch_work(run, session, async move {
            PatchEvent::WorktreeRemoved(plot.remove().await)
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
            ActiveTaskStage::ApplyingPatch(handing) => match (&handing.end, &at_task.stop_reason) {
                (TaskOutcome::Completed { .. }, None) => {
                    self.queue_patch_event(run, session, PatchEvent::Continue);
                    Ok(())
                }
                _ => self.leave_patch_as_file(run, session, "the task was not completed"),
            },
        }
    }

    /// Returns whether patches may be applied to the user's tree now.
    fn patch_apply_timing(
        &self,
        run: &RunContext,
        conversations: &OpenConversations,
    ) -> PatchApplyTiming {
        if self.is_one_shot {
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
        let waits = |stage: &ActiveTaskStage| match stage {
            ActiveTaskStage::ApplyingPatch(handing) => matches!(
                handing.stage,
                PatchApplyStage::Waiting | PatchApplyStage::Approved(_)
            ),
            ActiveTaskStage::Working | ActiveTaskStage::Saving(..) => false,
        };
        let at_work = self.active_tasks.iter();
        let waiting = at_work.filter(|(_, task)| waits(&task.stage));
        let waiting: Vec<SessionId> = waiting.map(|(session, _)| session.clone()).collect();
        for session in waiting {
            self.queue_patch_event(run, &session, PatchEvent::Continue);
        }
    }

    /// Merges a patch with the user's tree.
    fn start_patch_merge(&mut self, run: &mut RunContext, session: &SessionId) {
        let (Some(plot), Some(handing)) = (
            self.child_worktree(session),
            self.patch_application_mut(session),
        ) else {
            return;
        };
        if !matches!(
            handing.stage,
            PatchApplyStage::Waiting | PatchApplyStage::Approved(_)
        ) {
            return;
        }
        let trees = [&handing.patch.base, &handing.patch.tree].map(|tree| TreeId(tree.clone()));
        self.spawn_patch_work(run, session, async move {
            let prepared = patch_writer::merge_patch(&plot, trees).await;
            PatchEvent::Merged(prepared.map(Box::new))
        });
    }

    fn on_patch_merged(
        &mut self,
        run: &mut RunContext,
        session: &SessionId,
        prepared: PatchMerge,
    ) -> Result<(), EngineError> {
        let extent = PatchScope::from_merge(&prepared.merge);
        let Some(handing) = self.patch_application_mut(session) else {
            return Ok(());
        };
        match &handing.stage {
            _ if extent.paths.is_empty() => {
                let why = "all changes were already in the working tree";
                self.on_patch_written(run, session, Ok(why.to_owned()))
            }
            // The user's tree may have changed since the decision: only what it covered may be written.
            PatchApplyStage::Approved(allowed) if allowed.covers(&extent) => {
                handing.stage = PatchApplyStage::Writing;
                self.start_patch_write(run, session, prepared.merge, &prepared.target)
            }
            PatchApplyStage::Waiting | PatchApplyStage::Approved(_) => {
                handing.stage = PatchApplyStage::AwaitingApproval(extent);
                self.decide_patch(run, session, prepared)
            }
            PatchApplyStage::AwaitingApproval(_) | PatchApplyStage::Writing => Ok(()),
        }
    }

    fn on_patch_written(
        &mut self,
        run: &mut RunContext,
        session: &SessionId,
        put: Result<String, (WriteRetry, String)>,
    ) -> Result<(), EngineError> {
        let Some(handing) = self.patch_application_mut(session) else {
            return Ok(());
        };
        match put {
            Ok(why) => {
                if !why.is_empty() {
                    handing.patch.why = why;
                }
                let patch = handing.patch.clone();
                let patch = mark_patch_applied(run, patch)?;
                if let Some(handing) = self.patch_application_mut(session) {
                    handing.patch = patch;
                }
                self.finish_patch(run, session)
            }
            Err((WriteRetry::Yes, _)) if handing.n_retries < MAX_WRITE_RETRIES => {
                handing.n_retries += 1;
                handing.stage = PatchApplyStage::Waiting;
                handing.patch.state = PatchState::Waiting;
                self.queue_patch_event(run, session, PatchEvent::Continue);
                Ok(())
            }
            Err((_, why)) => self.leave_patch_as_file(run, session, &why),
        }
    }

    fn on_patch_abandoned(
        &mut self,
        run: &mut RunContext,
        session: &SessionId,
    ) -> Result<(), EngineError> {
        match self.patch_application_mut(session) {
            Some(PatchApplication {
                stage:
                    PatchApplyStage::Waiting
                    | PatchApplyStage::AwaitingApproval(_)
                    | PatchApplyStage::Approved(_),
                ..
            }) => self.leave_patch_as_file(
                run,
                session,
                "the task was stopped before its changes were applied",
            ),
            Some(_) | None => Ok(()),
        }
    }

    /// Leaves the changes in their patch file.
    fn leave_patch_as_file(
        &mut self,
        run: &mut RunContext,
        session: &SessionId,
        why: &str,
    ) -> Result<(), EngineError> {
        let Some(handing) = self.patch_application_mut(session) else {
            return Ok(());
        };
        handing.patch.state = PatchState::Kept;
        let before = std::mem::take(&mut handing.patch.why);
        let why = [agent_activity::clean_line(why), before].into_iter();
        let why: Vec<String> = why.filter(|why| !why.is_empty()).collect();
        handing.patch.why = why.join("; ");
        self.finish_patch(run, session)
    }

    fn finish_patch(
        &mut self,
        run: &mut RunContext,
        session: &SessionId,
    ) -> Result<(), EngineError> {
        let Some(handing) = self.patch_application_mut(session) else {
            return Ok(());
        };
        let (end, took) = (handing.end.clone(), handing.took);
        let patch = handing.patch.clone();
        run.record(Event::TaskPatched {
            session: session.clone(),
            patch: patch.clone(),
        })?;
        self.finish_task(run, session, end, took, Some(patch))
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
