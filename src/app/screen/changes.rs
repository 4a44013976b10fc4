//! What the run changed, and what undoing it would do, looked at beside the loop.

use std::path::PathBuf;

use crate::app::changes::{Looked, of_directory, of_run};
use crate::app::export::writing;
use crate::app::start::{Ground, Refusal};
use crate::domain::changes::Scope;
use crate::domain::page::PageForm;
use crate::domain::undo::{Offer, Wish};
use crate::engine::Engine;
use crate::engine::changes::Changes;
use crate::engine::undo::offers;
use crate::store::WorkdirLayout;
use crate::tui::{Action, Diff};

use super::beginning::What;
use super::ending::End;
use super::{Done, Shell};

impl Shell {
    /// Where the trees lie of the run in front; `None` while the directory is still being looked at.
    fn ground(&self) -> Option<Ground> {
        let own = self.occupied.as_ref();
        let ours = || own.map(|occupied| Ground::of(&occupied.found));
        self.views.ground.clone().or_else(ours)
    }

    /// The run in front.
    fn layout_in_front(&self) -> Option<WorkdirLayout> {
        match self.views.run_in_front() {
            Some((_, layout)) => Some(layout),
            None => Some(self.occupied.as_ref()?.layout.clone()),
        }
    }

    /// Writes the run in front down as one page, beside the loop.
    pub(super) fn export_run(&mut self, form: PageForm) -> Result<Option<End>, End> {
        let (Some(layout), Some(ground)) = (self.layout_in_front(), self.ground()) else {
            let (screen, _) = self.front();
            screen.on_word("the directory is still being looked at; ask again");
            return Ok(None);
        };
        self.beside(async move {
            let written = writing::beside(layout, &ground, form).await;
            let near = |path: PathBuf| match path.strip_prefix(&ground.root) {
                Ok(near) => near.to_path_buf(),
                Err(_) => path,
            };
            Done::Exported(written.map(near))
        });
        Ok(None)
    }

    pub(super) fn on_exported(
        &mut self,
        written: Result<PathBuf, Refusal>,
    ) -> Result<Option<End>, End> {
        let (screen, _) = self.front();
        screen.on_word(&match written {
            Ok(path) => format!("written to {}", path.display()),
            Err(refusal) => format!("{}; {}", refusal.problem, refusal.hint),
        });
        Ok(None)
    }

    /// Looks at changes of the run that is looked at; `None` where none is.
    fn show_diff_of_view(&mut self, scope: Scope) -> Option<()> {
        let (state, layout) = self.views.run_in_front()?;
        let ground = self.ground()?;
        self.beside(async move {
            let looked = match ground.to_read(layout.workdir()).await {
                Ok(git) => Ok(of_run(git.as_ref(), state.as_ref(), &layout, scope).await),
                Err(refusal) => Err(refusal),
            };
            Done::Looked(scope, Box::new(looked))
        });
        Some(())
    }

    /// Looks at changes: of the run at hand, else of the one that lies in the directory.
    pub(super) fn show_diff(&mut self, scope: Scope) -> Result<Option<End>, End> {
        if self.show_diff_of_view(scope).is_some() {
            return Ok(None);
        }
        if let Some(engine) = &self.engine {
            let (git, state) = (engine.repository().cloned(), engine.state().clone());
            let layout = engine.journal().layout().clone();
            self.beside(async move {
                let looked = of_run(git.as_ref(), Some(&state), &layout, scope).await;
                Done::Looked(scope, Box::new(Ok(looked)))
            });
            return Ok(None);
        }
        let Some(occupied) = &self.occupied else {
            let why = "the directory is still being looked at; R looks again".to_owned();
            let (screen, _) = self.front();
            screen.on_diff(scope, vec![scope], Diff::Nothing(why));
            return Ok(None);
        };
        let (ground, layout) = (Ground::of(&occupied.found), occupied.layout.clone());
        self.beside(async move {
            let looked = of_directory(&ground, &layout, scope).await;
            Done::Looked(scope, Box::new(looked))
        });
        Ok(None)
    }

    pub(super) fn on_looked(&mut self, scope: Scope, looked: Result<Looked, Refusal>) {
        let (screen, _) = self.front();
        let Looked {
            scopes, changes, ..
        } = match looked {
            Ok(looked) => looked,
            Err(refusal) => {
                let text = format!("{}\n{}", refusal.problem, refusal.hint);
                let failed = Diff::Failed(text.trim_end().to_owned());
                return screen.on_diff(scope, vec![scope], failed);
            }
        };
        let diff = match changes {
            Ok(Changes::Found(patch)) => Diff::Found(patch),
            Ok(Changes::Nothing(why)) => Diff::Nothing(why),
            Err(error) => Diff::Failed(error.to_string()),
        };
        screen.on_diff(scope, scopes, diff);
    }

    /// Looks at what undoing or redoing steps would do; the user is asked with what comes back.
    pub(super) fn look_at_undo(&mut self, wish: Wish) -> Result<Option<End>, End> {
        let Some(engine) = &self.engine else {
            return self.begin(What::Beside(Box::new(Action::Undo(wish))));
        };
        if let Some(why) = engine.state().stands_against_undo() {
            self.screen.on_word(&why);
            return Ok(None);
        }
        let (git, commits) = (engine.repository().cloned(), engine.commits());
        let Some(execution) = engine.state().execution.clone() else {
            return Ok(None);
        };
        self.beside(async move {
            Done::Offered(offers(git.as_ref(), &commits, &execution, wish).await)
        });
        Ok(None)
    }

    pub(super) fn on_offered(&mut self, offers: Result<Vec<Offer>, String>) {
        let state = self.engine.as_ref().map(Engine::state);
        match (offers, state) {
            (Ok(offers), Some(state)) if state.stands_against_undo().is_none() => {
                self.screen.on_undo(&offers, state.phase);
            }
            (Ok(_), _) => self
                .screen
                .on_notice("the run went on while the changes were looked at; ask again"),
            (Err(why), _) => self.screen.on_notice(&format!("nothing is undone: {why}")),
        }
    }
}
