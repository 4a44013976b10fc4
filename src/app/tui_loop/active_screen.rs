//! The screen that is in front, whoever owns it.

use crate::domain::run::RunState;
use crate::tui::Screen;

/// A screen and the run that it draws.
pub type ActiveScreen<'a> = (&'a mut Screen, Option<&'a RunState>);
