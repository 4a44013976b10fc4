//! Collects the work trees of children that an earlier program left: saves their changes, then removes the
//! trees.
//!
//! Touches only trees in the program's own records and its own folder. Applies no patch, except to finish a
//! write that had already started.

use super::SubagentTasks;
use super::child_session_files::resave_child;
use super::child_worktree::ChildWorktree;
use super::patch_apply::mark_patch_applied;
use super::write_access::build_child_worktree;
use crate::domain::event::Event;
use crate::domain::ids::SessionId;
use crate::domain::task_patch::{PatchState, TaskPatch};
use crate::engine::engine_error::EngineError;
use crate::engine::git::GitRepository;
use crate::engine::run_context::RunContext;
use crate::engine::subagents::child_event::{ChildEvent, WorktreeGcResult};
use crate::engine::warnings::warning_event;
use crate::store::worktree_records::WorktreeRecord;

/// Why a patch is kept that the user was not asked about.
const PROGRAM_ENDED_REASON: &str = "the program ended before its changes were applied";

impl SubagentTasks {
    /// Saves the changes of children whose program ended, and removes their trees. A patch that was being
    /// written to the user's tree is written completely.
    ///
    /// # Errors
    /// The record of the run cannot be written.
    pub(in crate::engine) fn collect_leftover_worktrees(
        &mut self,
        run: &mut RunContext,
    ) -> Result<(), EngineError> {
        let (records, unread) = match run.setup.worktrees.list_records() {
            Ok(listed) => (listed.records, listed.failures),
            Err(error) => return run.warn_once("find the worktrees of tasks", error),
        };
        for error in unread {
            let why = format!("{error}; check the worktree next to it, then move that file away");
            run.warn_once("find the worktrees of tasks", why)?;
        }
        let Some(git) = run.uncancelled_repository() else {
            return Ok(());
        };
        for gone in git.missing_worktrees_below(run.setup.worktrees.folder()) {
            let is_known = |record: &WorktreeRecord| gone.ends_with(record.session.as_str());
            if !records.iter().any(is_known)
                && let Err(error) = git.remove_worktree(&gone)
            {
                run.warn_once("forget a worktree that no longer exists", error)?;
            }
        }
        for record in records {
            if !self.active_tasks.contains_key(&record.session) {
                self.spawn_worktree_collection(run, &git, &record);
            }
        }
        self.settle_open_patches(run, &git)
    }

    fn spawn_worktree_collection(
        &mut self,
        run: &mut RunContext,
        git: &GitRepository,
        record: &WorktreeRecord,
    ) {
        let place = run
            .setup
            .worktrees
            .prepare_worktree_path(&record.session, git.root());
        let plot = place.map(|path| ChildWorktree {
            turn: record.turn.clone(),
            ..build_child_worktree(run, git.clone(), path, &record.session)
        });
        let events = self.event_sender();
        events.spawn_work(run, &record.session, async move {
            let swept = match plot {
                Ok(plot) => collect_worktree(&plot).await,
                Err(error) => WorktreeGcResult {
                    saved_patch: Err(error.to_string()),
                    removal_error: String::new(),
                },
            };
            ChildEvent::WorktreeCollected(swept)
        });
    }

    /// Settles changes that were already saved when the program ended.
    fn settle_open_patches(
        &mut self,
        run: &mut RunContext,
        git: &GitRepository,
    ) -> Result<(), EngineError> {
        let children = run.state().children.iter();
        let open: Vec<(SessionId, TaskPatch)> = children
            .filter(|child| !self.active_tasks.contains_key(child.session_id()))
            .filter_map(|child| Some((child.session_id().clone(), child.patch.clone()?)))
            .filter(|(_, patch)| !patch.is_settled())
            .collect();
        for (session, patch) in open {
            if patch.state == PatchState::Applying {
                self.resume_patch_write(run, git, session, patch);
                continue;
            }
            let patch = TaskPatch {
                state: PatchState::Kept,
                why: PROGRAM_ENDED_REASON.to_owned(),
                ..patch
            };
            let told = session.clone();
            run.record(Event::TaskPatched {
                session: told,
                patch,
            })?;
            resave_child(run, &session)?;
        }
        Ok(())
    }

    /// Finishes an interrupted patch write: each path has its old or its new content.
    fn resume_patch_write(
        &mut self,
        run: &mut RunContext,
        git: &GitRepository,
        session: SessionId,
        patch: TaskPatch,
    ) {
        let plot = build_child_worktree(run, git.clone(), Default::default(), &session);
        let events = self.event_sender();
        events.spawn_work(run, &session, async move {
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
            ChildEvent::WorktreeCollected(swept)
        });
    }
}

pub(super) fn on_worktree_collected(
    run: &mut RunContext,
    session: &SessionId,
    swept: WorktreeGcResult,
) -> Result<(), EngineError> {
    if !swept.removal_error.is_empty() {
        run.warn_once("remove the worktree of a task", &swept.removal_error)?;
    }
    let patch = match swept.saved_patch {
        Ok(Some(patch)) => patch,
        Ok(None) => return Ok(()),
        Err(why) => return run.warn_once("save the changes of a task", why),
    };
    let known = run.child_session(session).map(|child| child.patch.clone());
    let is_told = |known: &TaskPatch| known.is_settled() && known.tree == patch.tree;
    match known {
        Some(known) if known.as_ref().is_some_and(is_told) => Ok(()),
        Some(_) => {
            let patch = match patch.state {
                PatchState::Applied => mark_patch_applied(run, patch)?,
                PatchState::Waiting | PatchState::Applying | PatchState::Kept => patch,
            };
            run.record(Event::TaskPatched {
                session: session.clone(),
                patch,
            })?;
            resave_child(run, session)
        }
        // The run is archived, so no session can apply the changes.
        None => run.record(warning_event(
            "apply the changes of a task of an earlier run",
            patch.describe(),
        )),
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
