//! Finds the screen in front: a read-only view, else the program's own. Actions are answered there.

use crate::domain::run::RunState;
use crate::engine::Engine;
use crate::tui::{Screen, TerminalStatus};

use super::TuiApp;
use super::read_only_views::{ReadOnlyView, ReadOnlyViews};

/// A screen and the run that it draws.
pub(super) type ActiveScreen<'a> = (&'a mut Screen, Option<&'a RunState>);

impl ReadOnlyViews {
    /// Returns the screen in front and its run: a view's, else the program's own.
    pub(super) fn active_screen<'a>(&'a mut self, own: ActiveScreen<'a>) -> ActiveScreen<'a> {
        self.top_mut().map_or(own, ReadOnlyView::screen_and_state)
    }

    /// Returns the screen behind an opened run, and the opened run's own screen.
    fn screen_behind<'a>(
        &'a mut self,
        own: ActiveScreen<'a>,
    ) -> Option<(ActiveScreen<'a>, &'a mut Screen)> {
        let (base, opened) = self.base_and_opened();
        let (front, _) = opened?.screen_and_state();
        Some((base.map_or(own, ReadOnlyView::screen_and_state), front))
    }
}

impl TuiApp {
    /// Returns the screen in front and the run that its keys apply to.
    pub(super) fn active_screen(&mut self) -> ActiveScreen<'_> {
        let state = self.engine.as_ref().map(Engine::state);
        self.views.active_screen((&mut self.screen, state))
    }

    /// Updates the notice on the front screen that the screen behind it needs the user. Returns the status of the
    /// screen behind if it has an alert.
    pub(super) fn update_behind_notice(&mut self) -> Option<TerminalStatus> {
        let own = self.engine.as_ref().map(Engine::state);
        let own = (&mut self.screen, own.or(self.unfinished_state.as_deref()));
        let ((behind, state), front) = self.views.screen_behind(own)?;
        let outside = behind.update_covered_status(state);
        front.on_covered_screen_status(outside);
        outside.alert.is_some().then(|| outside.clone())
    }
}
