//! The effects by which steps are undone and redone: the tree kept, the files put back, the boxes.

use crate::domain::event::Event;
use crate::domain::question::CommitTarget;
use crate::domain::reversal_plan::{ReversalPlan, UndoDirection};
use crate::domain::run::changed_boxes;
use crate::engine::documents::Pen;
use crate::engine::git::{CommitId, TreeId};
use crate::engine::undo::{Begun, Commits, Done, reverse};
use crate::engine::{Engine, documents, failed, news, troubled};
use crate::store::StoreError;

use super::commits::made_before;
use super::in_words;

impl Engine {
    /// Where this execution's commits go, for a reversal.
    pub fn commits(&self) -> Commits {
        let execution = self.state().execution.as_ref();
        let terms = execution.map(|execution| execution.commits.clone());
        Commits {
            git: self.commit_repository().cloned(),
            terms: terms.unwrap_or(CommitTarget::Off {
                reason: String::new(),
            }),
        }
    }

    /// Stores the tree, unless it is another one than the user was asked about.
    pub(in crate::engine) fn keep_tree(&mut self, seen: String) {
        let Some(git) = self.repository.clone() else {
            let reason = "there is no repository to keep the tree in".to_owned();
            return self.spawn(async move { Event::UndoFailed { reason } });
        };
        let name = format!("undo-before-{}", uuid::Uuid::now_v7().simple());
        self.spawn(async move {
            match git.snapshot(&name).await {
                Ok(kept) if kept.tree.0 == seen => Event::UndoKept { tree: kept.tree.0 },
                Ok(_) => Event::UndoFailed {
                    reason:
                        "files changed since you were asked; ask again and see what it comes to"
                            .to_owned(),
                },
                Err(error) => Event::UndoFailed {
                    reason: news::block(&in_words(&error)),
                },
            }
        });
    }

    /// Puts files back and takes commits back: all of it, or nothing.
    pub(in crate::engine) fn reverse(&mut self, reversal: ReversalPlan, kept: String) {
        let Some(git) = self.repository.clone() else {
            let reason = "there is no repository that has the trees".to_owned();
            return self.spawn(async move { Event::UndoFailed { reason } });
        };
        let (commits, resumed) = (self.commits(), self.resumed);
        let base = self.state().execution.as_ref().and_then(|e| e.base.clone());
        self.spawn_all(async move {
            let begun = match (resumed, &commits.git) {
                (true, Some(git)) if !reversal.commits.is_empty() => {
                    let base = base.map(CommitId);
                    Begun::Perhaps(
                        made_before(git, base.as_ref(), &reversal.commit_message()).await,
                    )
                }
                (true, _) => Begun::Perhaps(None),
                (false, _) => Begun::No,
            };
            let kept = TreeId(kept);
            match reverse(&git, &commits, (&reversal, &kept), begun).await {
                Ok(Done {
                    tree,
                    commit,
                    troubles,
                }) => {
                    let troubles = troubles.into_iter();
                    let put_back = Event::UndoPutBack {
                        tree: tree.0,
                        commit,
                    };
                    let troubles = troubles.map(|(what, why)| troubled(what, why));
                    troubles.chain([put_back]).collect()
                }
                Err(reason) => vec![Event::UndoFailed {
                    reason: news::block(&reason),
                }],
            }
        });
    }

    /// Opens or ticks the boxes of the steps in plan.md.
    pub(in crate::engine) fn record_reversal(
        &mut self,
        reversal: &ReversalPlan,
        (kept, commit): (String, Option<String>),
        pen: Result<Pen, StoreError>,
    ) -> Vec<Event> {
        let mark = match reversal.way {
            UndoDirection::Undo { .. } => documents::Mark::Open,
            UndoDirection::Redo => documents::Mark::Ticked,
        };
        let mut events = self.notice_edits();
        let steps = changed_boxes(reversal, self.state());
        let now = self.journal.now();
        match pen.and_then(|pen| documents::mark(&pen, &steps, mark, now)) {
            Ok(plan_file_sha256) => events.push(Event::UndoFinished {
                way: reversal.way,
                steps: reversal.steps.clone(),
                kept,
                commit,
                plan_file_sha256,
            }),
            Err(error) => events.push(failed("write the plan", error)),
        }
        events
    }
}
