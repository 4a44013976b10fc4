//! Plans how to undo and redo steps, as data.
//!
//! Both are one operation: between two recorded trees, each changed path gets its earlier content.

use serde::{Deserialize, Serialize};

use super::commit_subject::commit_subject;
use super::plan_execution::{PlanExecution, StepOutcome, StepRecord};

/// The direction in which steps are reversed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "way", rename_all = "snake_case")]
pub enum UndoDirection {
    /// Undo this step and all after it.
    Undo { step: u32 },
    /// Redo what was undone last.
    Redo,
}

/// What the user asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoRequest {
    /// Undo the last step that changed something; otherwise redo what was undone.
    Last,
    /// Undo back to before this step.
    BackTo(u32),
    /// Redo what was undone.
    Redo,
}

/// The steps that an undo takes back or a redo brings back, with their commits and trees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReversalPlan {
    pub way: UndoDirection,
    /// The steps, in the order in which they were done.
    pub steps: Vec<u32>,
    /// The text of the first of them.
    pub text: String,
    /// The current step, where it is among them and not finished.
    pub unfinished: Option<u32>,
    /// Between which trees the files changed, the oldest first; files change from `to` back to `from`.
    pub spans: Vec<TreeSpan>,
    /// The commits that one new commit reverts, the oldest first.
    pub commits: Vec<String>,
}

/// Two trees: the files change from the later one back to the earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeSpan {
    /// The tree to return to.
    pub from: String,
    /// The tree to leave.
    pub to: String,
    /// Paths that stay unchanged although they differ, because of the user's own edits in between.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keeps: Vec<String>,
}

/// What a reversal would do, for the user to decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReversalPreview {
    pub way: UndoDirection,
    pub steps: Vec<u32>,
    /// The tree that was inspected; when it changed, nothing is done.
    pub inspected_tree: String,
    /// Each file with what happens to it.
    pub files: Vec<(FileReversalKind, String)>,
    /// Those of them that were edited since; these edits are removed from the tree.
    pub user_edited: Vec<String>,
    /// The current step, where it is among them and not finished.
    pub unfinished: Option<u32>,
    /// The commits that are reverted: id and subject.
    pub commits: Vec<(String, String)>,
    /// The first line of the new commit; `None` where nothing is committed.
    pub commit_subject: Option<String>,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileReversalKind {
    /// It gets its earlier content.
    Modify,
    /// The file is created again.
    Restore,
    /// The file is deleted.
    Delete,
}

impl UndoDirection {
    /// Returns the verb, as in `undo step 2`.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Undo { .. } => "undo",
            Self::Redo => "redo",
        }
    }

    /// Returns the verb for the start of a sentence, as in `Undo`.
    pub fn title(self) -> &'static str {
        match self {
            Self::Undo { .. } => "Undo",
            Self::Redo => "Redo",
        }
    }

    /// Names what is done with which steps: `Undo steps 2–4`.
    pub fn label_with_steps(self, steps: &[u32]) -> String {
        format!("{} {}", self.title(), steps_label(steps))
    }

    /// Says what was done, and in which commit: `steps 2–4 undone, commit 0a1b2c3d`.
    pub fn describe_result(self, steps: &[u32], commit: Option<&str>) -> String {
        let done = match self {
            Self::Undo { .. } => "undone",
            Self::Redo => "redone",
        };
        let commit = commit.map_or(String::new(), |commit| format!(", commit {commit}"));
        format!("{} {done}{commit}", steps_label(steps))
    }
}

/// Says how to get the files back that a reversal replaced; `kept` is the tree from before it.
pub fn replaced_files_hint(kept: &str) -> String {
    format!("to get the replaced files back: git restore --source={kept} -- .")
}

/// Names steps: `step 2`, `steps 2–4`.
pub fn steps_label(steps: &[u32]) -> String {
    match steps {
        [] => "no step".to_owned(),
        [only] => format!("step {only}"),
        [first, .., last] => format!("steps {first}–{last}"),
    }
}

impl ReversalPlan {
    /// Returns the commit message: what was reversed, then which commits.
    pub fn commit_message(&self) -> String {
        let mark = self.way.label_with_steps(&self.steps);
        let subject = match self.steps.len() {
            1 => commit_subject(&mark, &self.text),
            _ => format!("[{mark}]"),
        };
        let commits: Vec<String> = self
            .commits
            .iter()
            .map(|commit| format!("This reverts commit {commit}.\n"))
            .collect();
        format!("{subject}\n\n{}", commits.concat())
    }
}

impl PlanExecution {
    /// Returns the steps that can be undone, the most likely first: the current one where it was started, then the last
    /// one that changed something.
    pub fn undoable_steps(&self) -> Vec<u32> {
        let started = self.current.iter().filter(|c| c.tree_before.is_some());
        let started = started.map(|current| current.n);
        let changed = |record: &&StepRecord| record.outcome != StepOutcome::NoChange;
        let last = self.done.iter().rev().find(changed).map(|record| record.n);
        started.chain(last).collect()
    }

    /// Returns the directions that a request may mean, the most likely first.
    pub fn candidate_directions(&self, wish: UndoRequest) -> Vec<UndoDirection> {
        let undo = |step| UndoDirection::Undo { step };
        match wish {
            UndoRequest::BackTo(step) => vec![undo(step)],
            UndoRequest::Redo => vec![UndoDirection::Redo],
            UndoRequest::Last => {
                let redo = (!self.undone.is_empty()).then_some(UndoDirection::Redo);
                let steps = self.undoable_steps().into_iter().map(undo);
                steps.chain(redo).collect()
            }
        }
    }

    /// Plans the undo back to before a step; `now` is the current tree.
    ///
    /// # Errors
    ///
    /// Returns why the step cannot be undone.
    pub fn plan_undo(&self, step: u32, now: &str) -> Result<ReversalPlan, String> {
        let at = self.done.iter().position(|record| record.n == step);
        let started = self.current.as_ref().filter(|c| c.tree_before.is_some());
        if at.is_none() && started.is_none_or(|current| current.n != step) {
            return Err(format!("step {step} has nothing to undo"));
        }
        let records = self.done.get(at.unwrap_or(self.done.len())..);
        let records = records.unwrap_or_default();
        let mut spans = Vec::new();
        // A step that was skipped before it began changed nothing.
        for record in records.iter().filter(|record| !record.is_skipped_unbegun()) {
            spans.push(step_tree_span(record)?);
        }
        spans.extend(started.and_then(|current| {
            Some(TreeSpan {
                from: current.tree_before.clone()?,
                to: now.to_owned(),
                keeps: current.users_edits.clone(),
            })
        }));
        let steps = records.iter().map(|record| record.n);
        let text = records.iter().map(|record| &record.text);
        let text = text.chain(started.map(|current| &current.text)).next();
        Ok(ReversalPlan {
            way: UndoDirection::Undo { step },
            steps: steps.chain(started.map(|current| current.n)).collect(),
            text: text.cloned().unwrap_or_default(),
            unfinished: started.map(|current| current.n),
            spans,
            commits: records.iter().filter_map(step_commit).collect(),
        })
    }

    /// Plans the redo of the steps undone last.
    ///
    /// # Errors
    ///
    /// Returns why nothing can be redone.
    pub fn plan_redo(&self) -> Result<ReversalPlan, String> {
        let undone = self.undone.last().ok_or("nothing to redo")?;
        let current = undone.current.iter();
        let steps = undone.records.iter().map(|record| (record.n, &record.text));
        let steps = steps.chain(current.map(|current| (current.n, &current.text)));
        let (steps, texts): (Vec<u32>, Vec<&String>) = steps.unzip();
        Ok(ReversalPlan {
            way: UndoDirection::Redo,
            steps,
            text: texts
                .first()
                .map_or_else(String::new, |text| (*text).clone()),
            unfinished: None,
            spans: vec![TreeSpan {
                from: undone.kept.clone(),
                to: undone.left.clone(),
                keeps: Vec::new(),
            }],
            commits: undone.commit.iter().cloned().collect(),
        })
    }

    /// Plans a reversal in this direction.
    ///
    /// # Errors
    ///
    /// Returns why it is not possible.
    pub fn plan_reversal(&self, way: UndoDirection, now: &str) -> Result<ReversalPlan, String> {
        match way {
            UndoDirection::Undo { step } => self.plan_undo(step, now),
            UndoDirection::Redo => self.plan_redo(),
        }
    }
}

fn step_tree_span(record: &StepRecord) -> Result<TreeSpan, String> {
    match (&record.tree_before, &record.tree_after) {
        (Some(from), Some(to)) => Ok(TreeSpan {
            from: from.clone(),
            to: to.clone(),
            keeps: record.users_edits.clone(),
        }),
        _ => Err(format!(
            "the state around step {} is unknown: an earlier version of this program ran it",
            record.n
        )),
    }
}

fn step_commit(record: &StepRecord) -> Option<String> {
    match &record.outcome {
        StepOutcome::Committed { commit, .. } => Some(commit.clone()),
        StepOutcome::Uncommitted { .. } | StepOutcome::NoChange => None,
    }
}
