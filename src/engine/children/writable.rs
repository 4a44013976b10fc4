//! Whether a child may write, and the place for the tree in which it does.
//!
//! Refuses to make the tree.

use std::path::PathBuf;

use super::TaskRefused;
use super::plot::Plot;
use crate::domain::ids::{SessionId, TurnId};
use crate::domain::phase::{Mode, Phase};
use crate::domain::task::ChildSession;
use crate::engine::Engine;
use crate::engine::git::{Repository, TreeId};

impl Engine {
    /// Whether an agent that is given a task now may write: by its rules, the mode, and where the run is.
    pub(super) fn may_write(&self, agent: &str) -> bool {
        let state = self.state();
        let here = self.children.alone || state.phase == Phase::Execute;
        let rules = self.setup.permissions.rules(agent);
        here && state.mode != Mode::Plan && rules.find_hiding_rule("edit").is_none()
    }

    pub(super) fn plot_for(
        &self,
        session: &SessionId,
        turn: &TurnId,
        known: Option<&ChildSession>,
    ) -> Result<Plot, TaskRefused> {
        let git = self.own_git().ok_or(TaskRefused::NoRepository)?;
        let place = self
            .setup
            .worktrees
            .prepare_worktree_path(session, &git.root);
        let path = place.map_err(|error| TaskRefused::Failed(error.to_string()))?;
        let kept = known.and_then(|child| child.patch.as_ref());
        let kept = kept.filter(|patch| patch.is_saved_as_file());
        Ok(Plot {
            turn: turn.clone(),
            carried: kept.map(|kept| (TreeId(kept.base.clone()), TreeId(kept.tree.clone()))),
            ..self.plot(git, path, session)
        })
    }

    /// A place for a tree, of no turn.
    pub(super) fn plot(&self, git: Repository, path: PathBuf, session: &SessionId) -> Plot {
        Plot {
            git,
            lock: self.tree_lock.clone(),
            trees: self.setup.worktrees.clone(),
            layout: self.journal.layout().clone(),
            run: self.state().run.as_str().to_owned(),
            path,
            session: session.clone(),
            turn: TurnId::new(session.as_str()),
            carried: None,
        }
    }
}
