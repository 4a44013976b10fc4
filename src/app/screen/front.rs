//! The screen in front: that of a run that is looked at, else the program's own. What a key asks for is answered there.
//!
//! Refuses to know what is shown.

use crate::domain::run::State;
use crate::engine::Engine;
use crate::tui::{Outside, Screen};

use super::Shell;
use super::viewing::{Viewing, Views};

/// A screen and the run that it draws.
pub(super) type Front<'a> = (&'a mut Screen, Option<&'a State>);

impl Views {
    /// The screen in front and what it draws: a view's, else the program's own.
    pub(super) fn front<'a>(&'a mut self, own: Front<'a>) -> Front<'a> {
        self.top_mut().map_or(own, Viewing::front)
    }

    /// The screen that an opened run lies over, and that run's.
    fn behind<'a>(&'a mut self, own: Front<'a>) -> Option<(Front<'a>, &'a mut Screen)> {
        let (base, opened) = self.base_and_opened();
        let (front, _) = opened?.front();
        Some((base.map_or(own, Viewing::front), front))
    }
}

impl Shell {
    /// The screen in front and the run that its keys are about.
    pub(super) fn front(&mut self) -> Front<'_> {
        let state = self.engine.as_ref().map(Engine::state);
        self.views.front((&mut self.screen, state))
    }

    /// What is told outside of the screen behind the one in front, which says so where the user is waited for there;
    /// `None` where nothing behind it calls.
    pub(super) fn note_behind(&mut self) -> Option<Outside> {
        let own = self.engine.as_ref().map(Engine::state);
        let own = (&mut self.screen, own.or(self.lying.as_deref()));
        let ((behind, state), front) = self.views.behind(own)?;
        let outside = behind.note_behind(state);
        front.on_behind(outside);
        outside.calls.is_some().then(|| outside.clone())
    }
}
