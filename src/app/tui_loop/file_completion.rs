//! Lists the repository's files for the composer's `@` completion, in the background on request.
//!
//! Git lists them, so ignored files are left out. Opens none of them.

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

    /// Sends the messages that were queued while an agent worked, once they can be sent.
    pub(super) fn send_queued_text(&mut self) -> Result<Option<TuiEnd>, TuiEnd> {
        let state = self.engine.as_ref().map(Engine::state);
        let due = self.screen.drain_due_messages(state);
        self.handle_actions(due)
    }
}
