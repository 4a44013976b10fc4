//! What front ends ask of the engine besides events: decisions, documents, tasks and discussions.

use std::path::PathBuf;

use tokio::sync::oneshot;

use super::engine_error::EngineError;
use crate::domain::discussion::DiscussionStopReason;
use crate::domain::event::ApprovalDecision;
use crate::domain::ids::{DiscussionId, SessionId, UnixMillis};
use crate::domain::task::{TaskResult, TaskWaitMode};
use crate::domain::user_plan::UserPlan;
use crate::store::StoreError;
use crate::text::three_way_merge::ConflictVersions;

use super::discussion_runner::{
    self, DiscussionHandle, DiscussionPlan, DiscussionRequest, DiscussionStartError,
};
use super::documents;
use super::subagents::{self, ChildDeletionError, TaskRequest, TaskStartError};
use super::{ApprovalDecisionResult, ApprovalDetail, Engine};

/// What an earlier process of a run leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftoverKind {
    /// Tasks and discussions that were active: they are marked as ended.
    Tasks,
    /// Work trees of children: their changes are saved, and the trees are removed. A patch that was being written to the
    /// user's tree is written completely.
    Worktrees,
}

impl Engine {
    /// Returns a pending call, by its number in the run, as it was made, an edit with its diff; `None` if it is no longer
    /// pending.
    pub fn pending_approval_detail(&self, call: u32) -> Option<&ApprovalDetail> {
        self.approvals.pending_detail(&self.run, call)
    }

    /// Applies the user's decision to a pending call, by its number in the run. A call that no longer waits is left alone.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub fn decide_approval(
        &mut self,
        call: u32,
        decision: ApprovalDecision,
    ) -> Result<ApprovalDecisionResult, EngineError> {
        let decided = self.approvals.decide(&mut self.run, call, decision)?;
        self.settle()?;
        Ok(decided)
    }

    /// Records the user's changes to the workflow files since the run last read them.
    ///
    /// Do not call it for every file event: an editor may save in two steps, and only the second is complete.
    ///
    /// # Errors
    /// Reading a file or writing the record of the run failed.
    pub fn record_user_edits(&mut self) -> Result<(), EngineError> {
        self.apply_events(documents::try_detect_user_edits(&self.run)?)
    }

    /// Notes whether the user has the plan open in an editor; the plan's status is written once it is closed.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub fn set_plan_in_editor(&mut self, is_open: bool) -> Result<(), EngineError> {
        self.documents.set_plan_in_editor(is_open);
        let marked = self.documents.write_plan_status(&mut self.run);
        self.apply_events(marked)
    }

    /// Copies a plan file of the user's to `plan.md`. The run has no goal yet; once one is confirmed, it begins with the
    /// plan's review.
    ///
    /// # Errors
    /// The plan cannot be written, or writing the record of the run failed.
    pub async fn copy_user_plan(&mut self, file: &UserPlan) -> Result<(), EngineError> {
        let events = documents::copy_user_plan(&self.run, file).await?;
        self.apply_events(events)
    }

    /// Makes sure that the merge of the open conflict is in a file that can be edited, and returns its path.
    ///
    /// # Errors
    /// The reason why there is no such file.
    pub fn prepare_merge_file(&self) -> Result<PathBuf, String> {
        self.documents.prepare_merge_file(&self.run)
    }

    /// Returns the versions that the open question is about; none if it is about something else.
    ///
    /// # Errors
    /// A document cannot be read.
    pub fn conflict_versions(&self) -> Result<Vec<ConflictVersions>, StoreError> {
        self.documents.conflict_versions(&self.run)
    }

    /// Starts a task for an agent in a session of its own. Returns at once with the child's id and where its
    /// result will be.
    ///
    /// # Errors
    /// The record of the run cannot be written. A task that is not started is reported by the inner error.
    pub fn start_task(
        &mut self,
        request: TaskRequest,
    ) -> Result<Result<(SessionId, oneshot::Receiver<TaskResult>), TaskStartError>, EngineError>
    {
        let started = self.subagents.start_task(&mut self.run, request)?;
        self.settle()?;
        Ok(started)
    }

    /// Stops the task of a child; returns `false` if none is active.
    pub fn stop_child_task(&mut self, session: &SessionId, why: &str) -> bool {
        self.subagents.stop_child_task(&mut self.run, session, why)
    }

    /// Deletes a child session with all its files.
    ///
    /// # Errors
    /// The record of the run cannot be written. A session that is not deleted is reported by the inner error.
    pub fn delete_child(
        &mut self,
        session: &SessionId,
    ) -> Result<Result<(), ChildDeletionError>, EngineError> {
        let deleted = subagents::delete_child(&mut self.run, session)?;
        self.settle()?;
        Ok(deleted)
    }

    /// Deletes the child sessions whose last task ended before an instant.
    ///
    /// # Errors
    /// The record of the run cannot be written.
    pub fn prune_children(&mut self, before: UnixMillis) -> Result<Vec<SessionId>, EngineError> {
        let deleted = subagents::prune_children(&mut self.run, before)?;
        self.settle()?;
        Ok(deleted)
    }

    /// Settles what an earlier process left when it ended.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub fn recover_leftovers(&mut self, kind: LeftoverKind) -> Result<(), EngineError> {
        match kind {
            LeftoverKind::Tasks => {
                self.subagents.cancel_orphaned_tasks(&mut self.run)?;
                self.discussions.mark_interrupted(&mut self.run)?;
            }
            LeftoverKind::Worktrees => {
                self.subagents.collect_leftover_worktrees(&mut self.run)?;
            }
        }
        self.settle()
    }

    /// Returns whether a task waits for its slot or runs.
    pub fn has_active_tasks(&self) -> bool {
        self.subagents.has_active_tasks()
    }

    /// Plans a discussion; starts nothing.
    ///
    /// # Errors
    /// The discussion could not start.
    pub fn plan_discussion(
        &self,
        request: &DiscussionRequest,
    ) -> Result<DiscussionPlan, DiscussionStartError> {
        discussion_runner::plan_discussion(&self.run, request)
    }

    /// Starts a discussion. Returns at once with its id and the channel that delivers it once it is over.
    ///
    /// # Errors
    /// Writing the record of the run failed. A discussion that cannot start is not such an error: the inner one
    /// says why.
    pub fn start_discussion(
        &mut self,
        request: &DiscussionRequest,
    ) -> Result<Result<DiscussionHandle, DiscussionStartError>, EngineError> {
        let subagents = &mut self.subagents;
        let started = self.discussions.start(&mut self.run, subagents, request)?;
        self.settle()?;
        Ok(started)
    }

    /// Resumes a discussion that was stopped, was interrupted or failed, after its last finished round.
    ///
    /// # Errors
    /// Same as [`Engine::start_discussion`].
    pub fn resume_discussion(
        &mut self,
        id: &DiscussionId,
        wait_mode: TaskWaitMode,
    ) -> Result<Result<DiscussionHandle, DiscussionStartError>, EngineError> {
        let subagents = &mut self.subagents;
        let resumed = self
            .discussions
            .resume(&mut self.run, subagents, id, wait_mode)?;
        self.settle()?;
        Ok(resumed)
    }

    /// Stops a discussion; returns `false` if it is not running.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub fn stop_discussion(
        &mut self,
        id: &DiscussionId,
        reason: DiscussionStopReason,
    ) -> Result<bool, EngineError> {
        let subagents = &mut self.subagents;
        let stopped = self
            .discussions
            .stop(&mut self.run, subagents, id, reason)?;
        self.settle()?;
        Ok(stopped)
    }
}
