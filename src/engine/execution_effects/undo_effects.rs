//! Runs the effects that undo and redo steps: stores the tree, restores files.

use crate::domain::event::Event;
use crate::domain::question::CommitTarget;
use crate::domain::reversal_plan::ReversalPlan;
use crate::engine::git::{CommitId, TreeId};
use crate::engine::tree_reversal::{
    CommitRepository, ReversalAttempt, ReversalResult, apply_reversal,
};
use crate::engine::{Engine, agent_activity, warning_event};

use super::git_error_with_hint;
use super::step_commits::find_existing_commit;

impl Engine {
    /// Returns where the commits of this execution go, for a reversal.
    pub fn reversal_commit_repository(&self) -> CommitRepository {
        let execution = self.state().execution.as_ref();
        let terms = execution.map(|execution| execution.commits.clone());
        CommitRepository {
            git: self.run.commit_repository().cloned(),
            terms: terms.unwrap_or(CommitTarget::Off {
                reason: String::new(),
            }),
        }
    }

    /// Stores the tree, unless it has changed since the user was asked.
    pub(in crate::engine) fn store_tree_before_undo(&mut self, seen: String) {
        let Some(git) = self.run.repository.clone() else {
            let reason = "there is no repository to save the working tree in".to_owned();
            return self
                .run
                .spawn_event_task(async move { Event::UndoFailed { reason } });
        };
        let name = format!("undo-before-{}", uuid::Uuid::now_v7().simple());
        self.run.spawn_event_task(async move {
            match git.snapshot(&name).await {
                Ok(kept) if kept.tree.0 == seen => Event::UndoKept { tree: kept.tree.0 },
                Ok(_) => Event::UndoFailed {
                    reason: "files changed since you were asked; undo again to see the new changes"
                        .to_owned(),
                },
                Err(error) => Event::UndoFailed {
                    reason: agent_activity::clean_block(&git_error_with_hint(&error)),
                },
            }
        });
    }

    /// Restores files and reverts commits: all of it, or nothing.
    pub(in crate::engine) fn apply_reversal(&mut self, reversal: ReversalPlan, kept: String) {
        let Some(git) = self.run.repository.clone() else {
            let reason = "there is no repository with the saved working trees".to_owned();
            return self
                .run
                .spawn_event_task(async move { Event::UndoFailed { reason } });
        };
        let (commits, resumed) = (
            self.reversal_commit_repository(),
            self.documents.is_resumed(),
        );
        let base = self.state().execution.as_ref().and_then(|e| e.base.clone());
        self.run.spawn_events_task(async move {
            let begun = match (resumed, &commits.git) {
                (true, Some(git)) if !reversal.commits.is_empty() => {
                    let base = base.map(CommitId);
                    ReversalAttempt::Repeated(
                        find_existing_commit(git, base.as_ref(), &reversal.commit_message()).await,
                    )
                }
                (true, _) => ReversalAttempt::Repeated(None),
                (false, _) => ReversalAttempt::First,
            };
            let kept = TreeId(kept);
            match apply_reversal(&git, &commits, &reversal, &kept, begun).await {
                Ok(ReversalResult {
                    tree,
                    commit,
                    warnings: troubles,
                }) => {
                    let troubles = troubles.into_iter();
                    let put_back = Event::UndoPutBack {
                        tree: tree.0,
                        commit,
                    };
                    let troubles = troubles.map(|(what, why)| warning_event(what, why));
                    troubles.chain([put_back]).collect()
                }
                Err(reason) => vec![Event::UndoFailed {
                    reason: agent_activity::clean_block(&reason),
                }],
            }
        });
    }
}
