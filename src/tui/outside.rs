//! What somebody is told who does not look at the screen: the window's title, and that they are needed.
//!
//! Refuses to tell them; whoever holds the terminal does.

use super::Screen;
use super::sheet::Sheet;
use super::wrap::{cut, one_line};
use crate::domain::run::State;

/// No title is longer, in columns.
const LONGEST: usize = 80;

/// What can be told outside of the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outside {
    /// The title of the window, drawable and in one line.
    pub title: String,
    /// What waits for the user: its identity, and what is asked.
    pub waits: Option<(String, String)>,
}

impl Screen {
    /// What can be told outside of the last frame.
    pub fn outside(&self) -> &Outside {
        &self.outside
    }

    /// Notes what is told outside of a frame in which this waits.
    pub(super) fn note_outside(&mut self, waiting: Option<&Sheet>, state: Option<&State>) {
        let repository = one_line(&self.settings.repository);
        let name = repository.trim_end_matches('/').rsplit('/').next();
        let name = name.unwrap_or("agent-collab");
        let running = state.and_then(|state| state.running.as_ref());
        // What the screen itself asks was asked for by a key.
        let asked = waiting.filter(|_| self.own.is_none());
        let title = match (asked, running, state) {
            (Some(sheet), _, _) => format!("? {name}: {}", sheet.title),
            (None, Some(running), _) => {
                let purpose = &running.order.purpose;
                format!("{name}: {} {}", purpose.role().name(), purpose.in_words())
            }
            (None, None, Some(state)) => format!("{name}: {}", state.phase.name()),
            (None, None, None) => format!("{name}: agent-collab"),
        };
        self.outside = Outside {
            title: cut(&title, LONGEST),
            waits: asked.map(|sheet| (sheet.id.clone(), sheet.title.clone())),
        };
    }
}
