//! The files of the repository, for the composer's `@`: listed beside the loop when somebody asks.
//!
//! Git says which they are, so that ignored ones are not among them. Refuses to open any.

use crate::engine::Engine;
use crate::engine::git::GitError;

use super::ending::End;
use super::{Done, Shell};

impl Shell {
    pub(super) fn list_files(&mut self) -> Result<Option<End>, End> {
        let of_run = self.engine.as_ref().and_then(Engine::repository);
        let of_folder = || self.occupied.as_ref()?.found.repository.as_ref();
        let Some(repository) = of_run.or_else(of_folder).cloned() else {
            self.front().0.on_files(Vec::new());
            return Ok(None);
        };
        self.beside(async move { Done::Files(repository.files().await) });
        Ok(None)
    }

    pub(super) fn on_files(
        &mut self,
        files: Result<Vec<String>, GitError>,
    ) -> Result<Option<End>, End> {
        let (screen, _) = self.front();
        match files {
            Ok(files) => {
                let own = |file: &String| file.starts_with(".agent-collab/");
                let files = files.into_iter().filter(|file| !own(file)).collect();
                screen.on_files(files);
            }
            Err(error) => {
                screen.on_files(Vec::new());
                screen.on_notice(&error.to_string());
            }
        }
        Ok(None)
    }

    /// Says what the user sent while an agent talked, once it can be said.
    pub(super) fn say_what_was_queued(&mut self) -> Result<Option<End>, End> {
        let state = self.engine.as_ref().map(Engine::state);
        let due = self.screen.due(state);
        self.act(due)
    }
}
