//! The screen in front: that of a run that is looked at, else the program's own. What a key asks for is answered there.
//!
//! Refuses to know what is shown.

use crate::domain::run::State;
use crate::engine::Engine;
use crate::tui::Screen;

use super::Shell;
use super::viewing::{Viewing, Views};

/// A screen and the run that it draws.
pub(super) type Front<'a> = (&'a mut Screen, Option<&'a State>);

impl Views {
    /// The screen in front and what it draws: a view's, else the program's own.
    pub(super) fn front<'a>(&'a mut self, own: Front<'a>) -> Front<'a> {
        self.top_mut().map_or(own, Viewing::front)
    }
}

impl Shell {
    /// The screen in front and the run that its keys are about.
    pub(super) fn front(&mut self) -> Front<'_> {
        let state = self.engine.as_ref().map(Engine::state);
        self.views.front((&mut self.screen, state))
    }
}
