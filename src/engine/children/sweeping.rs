//! Trees of children whose program ended in the middle: what was changed in them is saved first, then they go.
//!
//! Only trees of the program's own record are touched, in its own folder. Refuses to take anything over that was not
//! being written already.

use super::Said;
use super::plot::Plot;
use crate::domain::event::Event;
use crate::domain::ids::SessionId;
use crate::domain::task_patch::{PatchState, TaskPatch};
use crate::engine::git::Repository;
use crate::engine::{Engine, EngineError, troubled};
use crate::store::worktree_records::WorktreeRecord;

/// Why a patch is kept that nobody was asked about.
const ENDED: &str = "the program ended before it was taken over";

/// What was in a tree that an earlier program left.
#[derive(Debug)]
pub struct Swept {
    /// What was changed in it; `None` where nothing was.
    found: Result<Option<TaskPatch>, String>,
    /// Why the tree is still there; empty where it is gone.
    stays: String,
}

impl Engine {
    /// Saves what children changed whose program ended, and removes their trees. What was being written into the
    /// user's tree is written whole.
    ///
    /// # Errors
    /// The record of the run cannot be kept.
    pub fn sweep_trees(&mut self) -> Result<(), EngineError> {
        let (records, unread) = match self.setup.worktrees.list_records() {
            Ok(listed) => (listed.records, listed.failures),
            Err(error) => return self.tell_trouble("look for work trees of children", error),
        };
        for error in unread {
            let why = format!("{error}; look at the tree beside it, then move that file away");
            self.tell_trouble("look for work trees of children", why)?;
        }
        let Some(git) = self.own_git() else {
            return Ok(());
        };
        for gone in git.gone_below(self.setup.worktrees.folder()) {
            let is_known = |record: &WorktreeRecord| gone.ends_with(record.session.as_str());
            if !records.iter().any(is_known)
                && let Err(error) = git.uproot(&gone)
            {
                self.tell_trouble("forget a work tree that is gone", error)?;
            }
        }
        for record in records {
            if !self.children.at_work.contains_key(&record.session) {
                self.sweep(&git, &record);
            }
        }
        self.settle_patches(&git)
    }

    /// The repository, whose calls outlive the run's cancellation.
    pub(super) fn own_git(&self) -> Option<Repository> {
        let git = self.repository.clone()?;
        Some(git.with_cancel(self.last_things.clone()))
    }

    fn sweep(&mut self, git: &Repository, record: &WorktreeRecord) {
        let place = self
            .setup
            .worktrees
            .prepare_worktree_path(&record.session, &git.root);
        let plot = place.map(|path| Plot {
            turn: record.turn.clone(),
            ..self.plot(git.clone(), path, &record.session)
        });
        let (said, session) = (self.children.said.0.clone(), record.session.clone());
        self.tasks.spawn(async move {
            let swept = match plot {
                Ok(plot) => sweep(&plot).await,
                Err(error) => Swept {
                    found: Err(error.to_string()),
                    stays: String::new(),
                },
            };
            let _nobody = said.send((session, Said::Swept(swept))).await;
        });
    }

    pub(super) fn on_swept(
        &mut self,
        session: &SessionId,
        swept: Swept,
    ) -> Result<(), EngineError> {
        if !swept.stays.is_empty() {
            self.tell_trouble("remove the work tree of a child", &swept.stays)?;
        }
        let patch = match swept.found {
            Ok(Some(patch)) => patch,
            Ok(None) => return Ok(()),
            Err(why) => return self.tell_trouble("save what a child changed", why),
        };
        let known = self.child(session).map(|child| child.patch.clone());
        let is_told = |known: &TaskPatch| known.is_settled() && known.tree == patch.tree;
        match known {
            Some(known) if known.as_ref().is_some_and(is_told) => Ok(()),
            Some(_) => {
                let patch = match patch.state {
                    PatchState::Applied => self.taken_over(patch)?,
                    PatchState::Waiting | PatchState::Applying | PatchState::Kept => patch,
                };
                self.feed(Event::TaskPatched {
                    session: session.clone(),
                    patch,
                })?;
                self.save_child_again(session)
            }
            // Its run is archived: nobody is there to take it over.
            None => self.feed(troubled(
                "take over what a child of an earlier run changed",
                patch.describe(),
            )),
        }
    }

    /// Settles changes that were saved when the program ended.
    fn settle_patches(&mut self, git: &Repository) -> Result<(), EngineError> {
        let children = self.state().children.iter();
        let open: Vec<(SessionId, TaskPatch)> = children
            .filter(|child| !self.children.at_work.contains_key(child.session_id()))
            .filter_map(|child| Some((child.session_id().clone(), child.patch.clone()?)))
            .filter(|(_, patch)| !patch.is_settled())
            .collect();
        for (session, patch) in open {
            if patch.state == PatchState::Applying {
                self.go_through(git, session, patch);
                continue;
            }
            let patch = TaskPatch {
                state: PatchState::Kept,
                why: ENDED.to_owned(),
                ..patch
            };
            let told = session.clone();
            self.feed(Event::TaskPatched {
                session: told,
                patch,
            })?;
            self.save_child_again(&session)?;
        }
        Ok(())
    }

    /// Writes the rest of what was being written: each path is as it was before, or as it is to be.
    fn go_through(&mut self, git: &Repository, session: SessionId, patch: TaskPatch) {
        let plot = self.plot(git.clone(), Default::default(), &session);
        let said = self.children.said.0.clone();
        self.tasks.spawn(async move {
            let patch = match super::handing::put_rest(&plot, &patch).await {
                Ok(told) => TaskPatch {
                    state: PatchState::Applied,
                    why: match told.is_empty() {
                        true => patch.why,
                        false => told,
                    },
                    ..patch
                },
                Err(why) => TaskPatch {
                    state: PatchState::Kept,
                    why: format!("the program ended while it was taken over: {why}"),
                    ..patch
                },
            };
            let swept = Swept {
                found: Ok(Some(patch)),
                stays: String::new(),
            };
            let _nobody = said.send((session, Said::Swept(swept))).await;
        });
    }
}

async fn sweep(plot: &Plot) -> Swept {
    let found = plot.save().await;
    let found = found.map(|found| {
        found.map(|patch| TaskPatch {
            state: PatchState::Kept,
            why: match patch.why.is_empty() {
                true => ENDED.to_owned(),
                false => format!("{ENDED}; {}", patch.why),
            },
            ..patch
        })
    });
    // One that could not be saved stays.
    let stays = match &found {
        Ok(_) => plot.clear().await.err().unwrap_or_default(),
        Err(_) => String::new(),
    };
    Swept { found, stays }
}
