//! The files of the repository, for the composer's `@`: listed beside the loop when somebody asks.
//!
//! Git says which they are, so that ignored ones are not among them. Refuses to open any.

use crate::engine::Engine;
use crate::engine::git::GitError;

use super::shutdown::TuiEnd;
use super::{BackgroundResult, TuiApp};

impl TuiApp {
    pub(super) fn list_repository_files(&mut self) -> Result<Option<TuiEnd>, TuiEnd> {
        let of_run = self.engine.as_ref().and_then(Engine::repository);
        let of_folder = || self.occupied.as_ref()?.project.repository.as_ref();
        let Some(repository) = of_run.or_else(of_folder).cloned() else {
            self.active_screen().0.on_repository_files(Vec::new());
            return Ok(None);
        };
        self.spawn_background(
            async move { BackgroundResult::Files(repository.list_files().await) },
        );
        Ok(None)
    }

    pub(super) fn on_files(
        &mut self,
        files: Result<Vec<String>, GitError>,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let (screen, _) = self.active_screen();
        match files {
            Ok(files) => {
                let own = |file: &String| file.starts_with(".agent-collab/");
                let files = files.into_iter().filter(|file| !own(file)).collect();
                screen.on_repository_files(files);
            }
            Err(error) => {
                screen.on_repository_files(Vec::new());
                screen.on_notice(&error.to_string());
            }
        }
        Ok(None)
    }

    /// Says what the user sent while an agent talked, once it can be said.
    pub(super) fn send_queued_text(&mut self) -> Result<Option<TuiEnd>, TuiEnd> {
        let state = self.engine.as_ref().map(Engine::state);
        let due = self.screen.drain_due_messages(state);
        self.handle_actions(due)
    }
}
