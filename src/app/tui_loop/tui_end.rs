//! The reasons why the screen ends; as an error, `?` passes one on from anywhere in the loop.

use std::io;

use crate::app::startup::StartError;
use crate::engine::EngineError;

/// The reason why the screen ends.
#[derive(Debug)]
pub enum TuiEnd {
    /// The user left, and everything has ended or had its time.
    Left,
    /// The user wants everything killed now.
    Killed,
    Signalled(&'static str),
    /// The terminal cannot be read or written any more.
    TerminalGone(io::Error),
    /// No run is possible here.
    Refused(StartError),
    /// The run's log cannot be written.
    Failed(EngineError),
    /// A panic restored the terminal and printed its message.
    Panicked,
}

impl TuiEnd {
    /// Returns the reason to record; `None` if it is recorded already or nothing is to be recorded.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Signalled(name) => Some(format!("interrupted by {name}")),
            Self::TerminalGone(error) => Some(format!("the terminal is gone: {error}")),
            Self::Panicked => Some("an error in the program".to_owned()),
            Self::Killed => Some("the user quit without waiting".to_owned()),
            Self::Left | Self::Refused(_) | Self::Failed(_) => None,
        }
    }
}

impl From<EngineError> for TuiEnd {
    fn from(error: EngineError) -> Self {
        Self::Failed(error)
    }
}

impl From<io::Error> for TuiEnd {
    fn from(error: io::Error) -> Self {
        Self::TerminalGone(error)
    }
}
