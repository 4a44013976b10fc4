//! Loads the run's changes and the previews of an undo in the background.

use std::path::PathBuf;

use crate::app::export::export_file;
use crate::app::run_diff::{RunDiff, diff_run, diff_run_in_directory};
use crate::app::startup::{RunTreeReader, StartError};
use crate::domain::diff_scope::DiffScope;
use crate::domain::export_format::ExportFormat;
use crate::domain::reversal_plan::{ReversalPreview, UndoRequest};
use crate::engine::Engine;
use crate::engine::run_changes::RunChanges;
use crate::engine::tree_reversal::preview_reversals;
use crate::store::WorkdirLayout;
use crate::tui::{Action, DiffLookup};

use super::run_startup::RunStartKind;
use super::shutdown::TuiEnd;
use super::{BackgroundResult, TuiApp};

impl TuiApp {
    /// Returns the reader for the trees of the run in front; `None` while the directory is still being inspected.
    fn tree_reader(&self) -> Option<RunTreeReader> {
        let own = self.occupied.as_ref();
        let ours = || own.map(|occupied| RunTreeReader::from_project(&occupied.project));
        self.views.ground.clone().or_else(ours)
    }

    /// Returns the paths of the run in front.
    fn active_layout(&self) -> Option<WorkdirLayout> {
        match self.views.active_run() {
            Some((_, layout)) => Some(layout),
            None => Some(self.occupied.as_ref()?.layout.clone()),
        }
    }

    /// Exports the run in front, in the background.
    pub(super) fn export_run(&mut self, form: ExportFormat) -> Result<Option<TuiEnd>, TuiEnd> {
        let (Some(layout), Some(ground)) = (self.active_layout(), self.tree_reader()) else {
            let (screen, _) = self.active_screen();
            screen.set_toast("Still reading the directory. Try again.");
            return Ok(None);
        };
        self.spawn_background(async move {
            let written = export_file::write_to_exports(layout, &ground, form).await;
            let near = |path: PathBuf| match path.strip_prefix(&ground.root) {
                Ok(near) => near.to_path_buf(),
                Err(_) => path,
            };
            BackgroundResult::Exported(written.map(near))
        });
        Ok(None)
    }

    pub(super) fn on_exported(
        &mut self,
        written: Result<PathBuf, StartError>,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let (screen, _) = self.active_screen();
        screen.set_toast(&match written {
            Ok(path) => format!("Written to {}", path.display()),
            Err(refusal) => format!("{}; {}", refusal.problem, refusal.hint),
        });
        Ok(None)
    }

    /// Loads changes of the run in the front view; `None` without a view.
    fn show_view_diff(&mut self, scope: DiffScope) -> Option<()> {
        let (state, layout) = self.views.active_run()?;
        let ground = self.tree_reader()?;
        self.spawn_background(async move {
            let looked = match ground.open_repository(layout.workdir()).await {
                Ok(git) => Ok(diff_run(git.as_ref(), state.as_ref(), &layout, scope).await),
                Err(refusal) => Err(refusal),
            };
            BackgroundResult::DiffReady(scope, Box::new(looked))
        });
        Some(())
    }

    /// Loads changes: of the open run, else of the run in the directory.
    pub(super) fn show_diff(&mut self, scope: DiffScope) -> Result<Option<TuiEnd>, TuiEnd> {
        if self.show_view_diff(scope).is_some() {
            return Ok(None);
        }
        if let Some(engine) = &self.engine {
            let (git, state) = (engine.repository().cloned(), engine.state().clone());
            let layout = engine.journal().layout().clone();
            self.spawn_background(async move {
                let looked = diff_run(git.as_ref(), Some(&state), &layout, scope).await;
                BackgroundResult::DiffReady(scope, Box::new(Ok(looked)))
            });
            return Ok(None);
        }
        let Some(occupied) = &self.occupied else {
            let why = "still reading the directory, R reads it again".to_owned();
            let (screen, _) = self.active_screen();
            screen.on_diff(scope, vec![scope], DiffLookup::NoChanges(why));
            return Ok(None);
        };
        let (ground, layout) = (
            RunTreeReader::from_project(&occupied.project),
            occupied.layout.clone(),
        );
        self.spawn_background(async move {
            let looked = diff_run_in_directory(&ground, &layout, scope).await;
            BackgroundResult::DiffReady(scope, Box::new(looked))
        });
        Ok(None)
    }

    pub(super) fn on_diff_ready(&mut self, scope: DiffScope, looked: Result<RunDiff, StartError>) {
        let (screen, _) = self.active_screen();
        let RunDiff {
            scopes, changes, ..
        } = match looked {
            Ok(looked) => looked,
            Err(refusal) => {
                let text = format!("{}\n{}", refusal.problem, refusal.hint);
                let failed = DiffLookup::Failed(text.trim_end().to_owned());
                return screen.on_diff(scope, vec![scope], failed);
            }
        };
        let diff = match changes {
            Ok(RunChanges::Diff(patch)) => DiffLookup::Changes(patch),
            Ok(RunChanges::Unchanged(why)) => DiffLookup::NoChanges(why),
            Err(error) => DiffLookup::Failed(error.to_string()),
        };
        screen.on_diff(scope, scopes, diff);
    }

    /// Loads what an undo or redo of steps would do; the user is asked with the result.
    pub(super) fn preview_undo(&mut self, wish: UndoRequest) -> Result<Option<TuiEnd>, TuiEnd> {
        let Some(engine) = &self.engine else {
            return self.start_run(RunStartKind::ForAction(Box::new(Action::Undo(wish))));
        };
        if let Some(why) = engine.state().undo_blocker() {
            self.screen.set_toast(&why);
            return Ok(None);
        }
        let (git, commits) = (
            engine.repository().cloned(),
            engine.reversal_commit_repository(),
        );
        let Some(execution) = engine.state().execution.clone() else {
            return Ok(None);
        };
        self.spawn_background(async move {
            BackgroundResult::UndoOffers(
                preview_reversals(git.as_ref(), &commits, &execution, wish).await,
            )
        });
        Ok(None)
    }

    pub(super) fn on_undo_offers(&mut self, offers: Result<Vec<ReversalPreview>, String>) {
        let state = self.engine.as_ref().map(Engine::state);
        match (offers, state) {
            (Ok(offers), Some(state)) if state.undo_blocker().is_none() => {
                self.screen.on_undo_previews(&offers, state.phase);
            }
            (Ok(_), _) => self
                .screen
                .on_notice("The run continued while the changes were read. Try again."),
            (Err(why), _) => self.screen.on_notice(&format!("Nothing was undone: {why}")),
        }
    }
}
