//! What somebody is told who does not look at the screen: the window's title, and that they are needed.
//!
//! Refuses to tell them; whoever holds the terminal does.

use super::Screen;
use super::sheet::Sheet;
use super::wrap::{cut, one_line};
use crate::domain::run::RunState;

/// No title is longer, in columns.
const LONGEST: usize = 80;

/// What can be told outside of the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outside {
    /// The title of the window, drawable and in one line.
    pub title: String,
    /// What calls the user: its identity, and what is asked, or how the run ended.
    pub calls: Option<(String, String)>,
    /// Whether something waits for the user.
    pub waits: bool,
}

impl Screen {
    /// What can be told outside of the last frame.
    pub fn outside(&self) -> &Outside {
        &self.outside
    }

    /// Notes what is told while another screen lies over this one, which no frame shows then.
    pub fn note_behind(&mut self, state: Option<&RunState>) -> &Outside {
        let waiting = self.waiting(state);
        self.note_outside(waiting.as_ref(), state);
        &self.outside
    }

    /// Takes in what is told of the screen that this one lies over.
    pub fn on_behind(&mut self, behind: &Outside) {
        self.dirty |= self.is_needed_behind != behind.waits;
        self.is_needed_behind = behind.waits;
    }

    /// Notes what is told outside of a frame in which this waits.
    pub(super) fn note_outside(&mut self, waiting: Option<&Sheet>, state: Option<&RunState>) {
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
                format!("{name}: {} {}", purpose.role().name(), purpose.describe())
            }
            (None, None, Some(state)) => format!("{name}: {}", state.phase.name()),
            (None, None, None) => format!("{name}: agent-collab"),
        };
        self.outside = Outside {
            title: cut(&title, LONGEST),
            waits: asked.is_some(),
            calls: match asked {
                Some(sheet) => Some((sheet.id.clone(), sheet.title.clone())),
                None => state.and_then(ended),
            },
        };
    }
}

/// That a run is over, and how it ended: whoever waits for it is called as for a question.
fn ended(state: &RunState) -> Option<(String, String)> {
    let how = state.phase.name();
    let is_over = state.phase.is_final();
    is_over.then(|| {
        (
            format!("{how} {}", state.run.as_str()),
            format!("the run is over: {how}"),
        )
    })
}
