//! What the tasks of children tell their owner.

use std::time::Duration;

use tokio::sync::mpsc;

use crate::adapter::FileChange;
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::task::TaskOutcome;
use crate::domain::task_patch::TaskPatch;
use crate::engine::agent_conversation::ConversationEvent;
use crate::engine::git::{TreeId, TreeMerge};
use crate::engine::run_context::RunContext;
use crate::store::{StoreError, TamperedFile};

/// An event of a child's task.
#[derive(Debug)]
pub enum ChildEvent {
    /// The task got its slot.
    Started,
    Conversation(ConversationEvent),
    /// The user did not answer the child's request within this time.
    RequestExpired(RequestId, Duration),
    /// The task is over, all its processes are gone, and the program's own files were checked.
    Finished {
        end: TaskOutcome,
        took: Duration,
        /// Files that differed and were restored.
        tampered: Result<Vec<TamperedFile>, StoreError>,
    },
    /// An event of the transfer of its changes into the user's tree.
    Patch(PatchEvent),
    /// The worktree of an earlier process was collected, with this result.
    WorktreeCollected(WorktreeGcResult),
}

/// An event in the application of a child's patch.
#[derive(Debug)]
pub enum PatchEvent {
    /// The changes are saved; `None` if there are none.
    Saved(Result<Option<TaskPatch>, String>),
    /// The work tree is removed.
    WorktreeRemoved(Result<(), String>),
    /// It may be time to apply the patch.
    Continue,
    /// The patch is merged with the user's tree.
    Merged(Result<Box<PatchMerge>, String>),
    /// The decision was made.
    Decided(Result<(), String>),
    /// The patch is written, with a note for the user, or the write failed; the first value says whether to
    /// retry.
    Written(Result<String, (WriteRetry, String)>),
    /// The patch is no longer wanted.
    Abandoned,
}

/// Whether a failed write is retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteRetry {
    Yes,
    No,
}

/// Changes merged with the current tree of the user.
#[derive(Debug)]
pub struct PatchMerge {
    pub(super) merge: TreeMerge,
    pub(super) target: TreeId,
    /// The changes, file by file.
    pub(super) changes: Vec<FileChange>,
}

/// The result for a work tree that an earlier program left.
#[derive(Debug)]
pub struct WorktreeGcResult {
    /// The saved changes; `None` if there were none.
    pub(super) saved_patch: Result<Option<TaskPatch>, String>,
    /// Why the tree still exists; empty if it is removed.
    pub(super) removal_error: String,
}

/// Hands the events of children's tasks to their owner.
#[derive(Debug, Clone)]
pub(super) struct ChildEventSender(pub(super) mpsc::Sender<(SessionId, ChildEvent)>);

impl ChildEventSender {
    /// Queues an event about a child's patch, to be handled after the current event.
    pub(super) fn queue_patch_event(
        &self,
        run: &mut RunContext,
        session: &SessionId,
        event: PatchEvent,
    ) {
        self.spawn_work(run, session, async { ChildEvent::Patch(event) });
    }

    /// Does work for a child beside the engine, and hands on the event that it ends with.
    pub(super) fn spawn_work(
        &self,
        run: &mut RunContext,
        session: &SessionId,
        work: impl Future<Output = ChildEvent> + Send + 'static,
    ) {
        let (sender, session) = (self.0.clone(), session.clone());
        run.tasks.spawn(async move {
            let event = work.await;
            // Sending fails only when the program is about to end.
            let _nobody = sender.send((session, event)).await;
        });
    }
}
