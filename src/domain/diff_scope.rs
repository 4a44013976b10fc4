//! Chooses which changes of an execution to show, and finds the two trees to compare.

use serde::{Deserialize, Serialize};

use super::plan_execution::{PlanExecution, StepRecord};

/// Which changes to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffScope {
    /// All changes from before the first step up to the current work tree.
    All,
    /// The changes of one step.
    Step(u32),
    /// The changes between the last two versions of the plan.
    Plan,
}

/// The two trees to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreePair {
    pub before: String,
    /// The later tree; `None` is the current work tree.
    pub after: Option<String>,
}

impl DiffScope {
    /// Returns the word that selects it: `all`, a step number or `plan`.
    pub fn keyword(self) -> String {
        match self {
            Self::All => "all".to_owned(),
            Self::Step(n) => n.to_string(),
            Self::Plan => "plan".to_owned(),
        }
    }

    /// Describes it for the user.
    pub fn describe(self) -> String {
        match self {
            Self::All => "all changes in this run".to_owned(),
            Self::Step(n) => format!("step {n}"),
            Self::Plan => "the plan, its last version against the one before".to_owned(),
        }
    }
}

impl PlanExecution {
    /// Lists the available scopes in order: all changes, then each step that was started.
    pub fn diff_scopes(&self) -> Vec<DiffScope> {
        let done = self
            .done
            .iter()
            .filter(|record| record.tree_before.is_some())
            .map(|record| record.n);
        let mut steps: Vec<u32> = done.collect();
        let begun = self.current.iter().filter(|c| c.tree_before.is_some());
        steps.extend(begun.map(|current| current.n));
        // A step that is being recorded is both done and current.
        steps.dedup();
        let steps = steps.into_iter().map(DiffScope::Step);
        [DiffScope::All].into_iter().chain(steps).collect()
    }

    /// Returns the trees of a scope; `None` where they are not known.
    pub fn diff_trees(&self, scope: DiffScope) -> Option<TreePair> {
        match scope {
            DiffScope::All => self.first_tree().map(|before| TreePair {
                before,
                after: None,
            }),
            DiffScope::Step(n) => self.step_trees(n),
            DiffScope::Plan => None,
        }
    }

    fn first_tree(&self) -> Option<String> {
        let done = self.done.iter().map(|record| &record.tree_before);
        let current = self.current.iter().map(|current| &current.tree_before);
        let first = done.chain(current).next().cloned().flatten();
        self.base_tree.clone().or(first)
    }

    fn step_trees(&self, n: u32) -> Option<TreePair> {
        let at = self.done.iter().position(|record| record.n == n);
        let Some(record) = at.and_then(|at| self.done.get(at)) else {
            let current = self.current.as_ref().filter(|current| current.n == n)?;
            return Some(TreePair {
                before: current.tree_before.clone()?,
                after: None,
            });
        };
        Some(TreePair {
            before: record.tree_before.clone()?,
            after: record
                .tree_after
                .clone()
                .or_else(|| self.next_tree_before(at)),
        })
    }

    /// Returns the first known tree after a step whose own last tree is not known.
    fn next_tree_before(&self, at: Option<usize>) -> Option<String> {
        let next: Option<&StepRecord> = at.and_then(|at| self.done.get(at + 1));
        match next {
            Some(next) => next.tree_before.clone(),
            None => self.current.as_ref()?.tree_before.clone(),
        }
    }
}
