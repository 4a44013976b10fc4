//! Collects the work trees of children that an earlier program left: saves their changes, then removes the
//! trees.
//!
//! Touches only trees in the program's own records and its own folder. Applies no patch, except to finish a
//! write that had already started.

use super::ChildEvent;
use super::child_worktree::ChildWorktree;
use crate::domain::event::Event;
use crate::domain::ids::SessionId;
use crate::domain::task_patch::{PatchState, TaskPatch};
use crate::engine::git::GitRepository;
use crate::engine::{Engine, EngineError, warning_event};
use crate::store::worktree_records::WorktreeRecord;

/// Why a patch is kept that the user was not asked about.
const PROGRAM_ENDED_REASON: &str = "the program ended before its changes were applied";

/// The result for a work tree that an earlier program left.
#[derive(Debug)]
pub struct WorktreeGcResult {
    /// The saved changes; `None` if there were none.
    saved_patch: Result<Option<TaskPatch>, String>,
    /// Why the tree still exists; empty if it is removed.
    removal_error: String,
}

impl Engine {
    /// Saves the changes of children whose program ended, and removes their trees. A patch that was being
    /// written to the user's tree is written completely.
    ///
    /// # Errors
    /// The record of the run cannot be written.
    pub fn collect_leftover_worktrees(&mut self) -> Result<(), EngineError> {
        let (records, unread) = match self.run.setup.worktrees.list_records() {
            Ok(listed) => (listed.records, listed.failures),
            Err(error) => return self.warn_once("find the worktrees of tasks", error),
        };
        for error in unread {
            let why = format!("{error}; check the worktree next to it, then move that file away");
            self.warn_once("find the worktrees of tasks", why)?;
        }
        let Some(git) = self.run.uncancelled_repository() else {
            return Ok(());
        };
        for gone in git.missing_worktrees_below(self.run.setup.worktrees.folder()) {
            let is_known = |record: &WorktreeRecord| gone.ends_with(record.session.as_str());
            if !records.iter().any(is_known)
                && let Err(error) = git.remove_worktree(&gone)
            {
                self.warn_once("forget a worktree that no longer exists", error)?;
            }
        }
        for record in records {
            if !self
                .subagent_tasks
                .active_tasks
                .contains_key(&record.session)
            {
                self.spawn_worktree_collection(&git, &record);
            }
        }
        self.settle_open_patches(&git)
    }

    fn spawn_worktree_collection(&mut self, git: &GitRepository, record: &WorktreeRecord) {
        let place = self
            .run
            .setup
            .worktrees
            .prepare_worktree_path(&record.session, &git.root);
        let plot = place.map(|path| ChildWorktree {
            turn: record.turn.clone(),
            ..self.build_child_worktree(git.clone(), path, &record.session)
        });
        let (said, session) = (self.subagent_tasks.events.0.clone(), record.session.clone());
        self.run.tasks.spawn(async move {
            let swept = match plot {
                Ok(plot) => collect_worktree(&plot).await,
                Err(error) => WorktreeGcResult {
                    saved_patch: Err(error.to_string()),
                    removal_error: String::new(),
                },
            };
            let _nobody = said
                .send((session, ChildEvent::WorktreeCollected(swept)))
                .await;
        });
    }

    pub(super) fn on_worktree_collected(
        &mut self,
        session: &SessionId,
        swept: WorktreeGcResult,
    ) -> Result<(), EngineError> {
        if !swept.removal_error.is_empty() {
            self.warn_once("remove the worktree of a task", &swept.removal_error)?;
        }
        let patch = match swept.saved_patch {
            Ok(Some(patch)) => patch,
            Ok(None) => return Ok(()),
            Err(why) => return self.warn_once("save the changes of a task", why),
        };
        let known = self
            .run
            .child_session(session)
            .map(|child| child.patch.clone());
        let is_told = |known: &TaskPatch| known.is_settled() && known.tree == patch.tree;
        match known {
            Some(known) if known.as_ref().is_some_and(is_told) => Ok(()),
            Some(_) => {
                let patch = match patch.state {
                    PatchState::Applied => self.mark_patch_applied(patch)?,
                    PatchState::Waiting | PatchState::Applying | PatchState::Kept => patch,
                };
                self.apply_event(Event::TaskPatched {
                    session: session.clone(),
                    patch,
                })?;
                self.resave_child(session)
            }
            // The run is archived, so no session can apply the changes.
            None => self.apply_event(warning_event(
                "apply the changes of a task of an earlier run",
                patch.describe(),
            )),
        }
    }

    /// Settles changes that were already saved when the program ended.
    fn settle_open_patches(&mut self, git: &GitRepository) -> Result<(), EngineError> {
        let children = self.state().children.iter();
        let open: Vec<(SessionId, TaskPatch)> = children
            .filter(|child| {
                !self
                    .subagent_tasks
                    .active_tasks
                    .contains_key(child.session_id())
            })
            .filter_map(|child| Some((child.session_id().clone(), child.patch.clone()?)))
            .filter(|(_, patch)| !patch.is_settled())
            .collect();
        for (session, patch) in open {
            if patch.state == PatchState::Applying {
                self.resume_patch_write(git, session, patch);
                continue;
            }
            let patch = TaskPatch {
                state: PatchState::Kept,
                why: PROGRAM_ENDED_REASON.to_owned(),
                ..patch
            };
            let told = session.clone();
            self.apply_event(Event::TaskPatched {
                session: told,
                patch,
            })?;
            self.resave_child(&session)?;
        }
        Ok(())
    }

    /// Finishes an interrupted patch write: each path has its old or its new content.
    fn resume_patch_write(&mut self, git: &GitRepository, session: SessionId, patch: TaskPatch) {
        let plot = self.build_child_worktree(git.clone(), Default::default(), &session);
        let said = self.subagent_tasks.events.0.clone();
        self.run.tasks.spawn(async move {
            let patch = match super::patch_apply::finish_interrupted_write(&plot, &patch).await {
                Ok(told) => TaskPatch {
                    state: PatchState::Applied,
                    why: if told.is_empty() { patch.why } else { told },
                    ..patch
                },
                Err(why) => TaskPatch {
                    state: PatchState::Kept,
                    why: format!("the program ended while its changes were applied: {why}"),
                    ..patch
                },
            };
            let swept = WorktreeGcResult {
                saved_patch: Ok(Some(patch)),
                removal_error: String::new(),
            };
            let _nobody = said
                .send((session, ChildEvent::WorktreeCollected(swept)))
                .await;
        });
    }
}

async fn collect_worktree(plot: &ChildWorktree) -> WorktreeGcResult {
    let found = plot.save_patch().await;
    let found = found.map(|found| {
        found.map(|patch| TaskPatch {
            state: PatchState::Kept,
            why: if patch.why.is_empty() {
                PROGRAM_ENDED_REASON.to_owned()
            } else {
                format!("{PROGRAM_ENDED_REASON}; {}", patch.why)
            },
            ..patch
        })
    });
    // A tree that could not be saved stays.
    let stays = match &found {
        Ok(_) => plot.remove().await.err().unwrap_or_default(),
        Err(_) => String::new(),
    };
    WorktreeGcResult {
        saved_patch: found,
        removal_error: stays,
    }
}
