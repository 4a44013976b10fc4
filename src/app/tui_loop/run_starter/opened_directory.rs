//! Inspects the directory of the program: it is locked for a run, or a run in it is shown read-only.

use crate::app::startup::{
    self, ExistingRun, LockedProject, StartError, StartOptions, UnfinishedRunPolicy,
};
use crate::app::terminal;
use crate::app::ui_config::UiConfig;
use crate::store;

use super::super::run_viewer::{ReadOnlyTarget, find_read_only_target};
use super::super::tui_options::TuiStart;

pub struct OpenedDirectory {
    /// The appearance of the screen.
    pub looks: UiConfig,
    pub kind: OpenedDirectoryKind,
}

/// What may be done in a directory.
pub enum OpenedDirectoryKind {
    /// This process has the lock; a run may continue there.
    Locked(Box<LockedProject>, ExistingRun),
    /// Nothing: another instance has the lock, or the program was opened for a view.
    ReadOnly(Box<ReadOnlyTarget>),
}

/// Inspects the directory, and locks it unless it is to be viewed only.
///
/// # Errors
/// No run is possible there.
pub async fn open_directory(
    wishes: &StartOptions,
    first: &TuiStart,
) -> Result<OpenedDirectory, StartError> {
    let found = startup::inspect_project(wishes).await?;
    let looks = UiConfig::from_config(&found.loaded, terminal::detect_color_depth()).map_err(
        |problems| StartError::new(problems, "See them again with `agent-collab config check`."),
    )?;
    if let Some(target) = find_read_only_target(&found, wishes, first)? {
        let branch = match &found.repository {
            // If it is unknown, none is shown.
            Some(repository) => repository.branches().current_branch().await.ok().flatten(),
            None => None,
        };
        let kind = OpenedDirectoryKind::ReadOnly(Box::new(target.with_branch(branch)));
        return Ok(OpenedDirectory { looks, kind });
    }
    let project = startup::lock_project(found)?;
    // Completes an interrupted move to or from the history.
    store::archive_move::finish_move(&project.layout, &project.lock)?;
    let lies = match wishes.unfinished {
        UnfinishedRunPolicy::Refuse => startup::find_unfinished_run(&project.layout)?,
        // Any run here will be archived.
        UnfinishedRunPolicy::Archive => ExistingRun::Nothing,
    };
    let kind = OpenedDirectoryKind::Locked(Box::new(project), lies);
    Ok(OpenedDirectory { looks, kind })
}
