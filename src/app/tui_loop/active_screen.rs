//! The screen in front: that of the program's own run, or of a view over it.

use crate::domain::run::RunState;
use crate::tui::Screen;

/// A screen and the run that it draws.
pub type ActiveScreen<'a> = (&'a mut Screen, Option<&'a RunState>);
