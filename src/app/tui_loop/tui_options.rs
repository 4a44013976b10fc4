//! What the full-screen program starts with.

use crate::app::startup::StartOptions;
use crate::app::terminal::DisplayMode;

/// The options of the full-screen program.
#[derive(Debug, Clone)]
pub struct TuiOptions {
    pub wishes: StartOptions,
    /// What starts by itself.
    pub first: TuiStart,
    pub display: DisplayMode,
}

/// What starts by itself when the screen opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TuiStart {
    /// Nothing: the user is asked for a goal.
    AskForGoal,
    /// Nothing, and nothing can start: the run is shown read-only.
    View,
    /// The same for a finished run.
    ViewArchived {
        /// The name of its directory in the history.
        name: String,
    },
    /// The unfinished run, without asking.
    Resume,
    /// An unfinished run of the history, moved back into the work directory.
    ResumeArchived {
        /// The name of its directory in the history.
        name: String,
    },
    Demo {
        /// The demo's goal; `None` if an existing demo is opened, which resumes like any run.
        goal: Option<String>,
    },
}
