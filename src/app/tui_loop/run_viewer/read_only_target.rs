//! Decides whether the program shows a run read-only, and which one, because the directory must not be locked.

use crate::app::run_history::{self, RunHistoryEntry};
use crate::app::startup::{
    self, ProjectContext, RunTreeReader, StartError, StartOptions, UnfinishedRunPolicy,
};
use crate::store::{InstanceLock, LockHolder, WorkdirLayout};
use crate::tui::ReadOnlyStatus;

use super::super::tui_options::TuiStart;
use super::run_labels::{archived_run_label, idle_run_label, other_instance_label};

/// A run that can be viewed.
pub struct ReadOnlyTarget {
    pub layout: WorkdirLayout,
    pub what: ReadOnlyKind,
    pub repository: String,
    pub branch: Option<String>,
    /// The reader for the trees of the run.
    pub reader: RunTreeReader,
}

/// The kind of a viewed run.
#[derive(Debug)]
pub enum ReadOnlyKind {
    Archived(Box<RunHistoryEntry>),
    /// The run that another instance works on.
    OtherInstance(LockHolder),
    /// A run without an instance.
    Idle,
}

impl ReadOnlyTarget {
    /// Sets the branch that is checked out.
    pub fn with_branch(self, branch: Option<String>) -> Self {
        Self { branch, ..self }
    }

    /// Returns the label above the run's screen.
    pub fn label(&self) -> ReadOnlyStatus {
        match &self.what {
            ReadOnlyKind::Archived(run) => archived_run_label(run),
            ReadOnlyKind::OtherInstance(held) => other_instance_label(held),
            ReadOnlyKind::Idle => idle_run_label(),
        }
    }
}

/// Returns what to view if the directory must not be locked. Changes nothing. Blocks.
///
/// # Errors
/// The directory cannot be inspected, or has no such run.
pub fn find_read_only_target(
    found: &ProjectContext,
    wishes: &StartOptions,
    first: &TuiStart,
) -> Result<Option<ReadOnlyTarget>, StartError> {
    let layout = startup::run_layout(&found.root, &found.loaded.config)?;
    let held = InstanceLock::read_holder(&layout)?;
    let what = match (first, held) {
        (TuiStart::Demo { .. }, _) => return Ok(None),
        (TuiStart::ViewArchived { name }, _) => {
            ReadOnlyKind::Archived(Box::new(run_history::load_run(&layout, name)?))
        }
        // A user who wants to archive the run gets the error that names the instance.
        (_, Some(_)) if wishes.unfinished == UnfinishedRunPolicy::Archive => return Ok(None),
        (_, Some(held)) => ReadOnlyKind::OtherInstance(held),
        (TuiStart::View, None) if !layout.workdir().is_dir() => {
            return Err(StartError::new(
                format!("no run to view in {}", found.root.display()),
                "start one with `agent-collab` without --view",
            ));
        }
        (TuiStart::View, None) => ReadOnlyKind::Idle,
        (TuiStart::AskForGoal | TuiStart::Resume | TuiStart::ResumeArchived { .. }, None) => {
            return Ok(None);
        }
    };
    Ok(Some(ReadOnlyTarget {
        layout,
        what,
        repository: found.root.to_string_lossy().into_owned(),
        branch: None,
        reader: RunTreeReader::from_project(found),
    }))
}
