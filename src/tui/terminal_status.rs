//! What somebody is told who does not look at the screen: the window's title, and that they are needed.
//!
//! Refuses to tell them; whoever holds the terminal does.

use super::Screen;
use super::dialog::ChoiceDialog;
use super::text_wrap::{to_one_line, truncate_to_columns};
use crate::domain::run::RunState;

/// No title is longer, in columns.
const MAX_TITLE_COLUMNS: usize = 80;

/// What can be told outside of the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TerminalStatus {
    /// The title of the window, drawable and in one line.
    pub title: String,
    /// What calls the user: its identity, and what is asked, or how the run ended.
    pub alert: Option<(String, String)>,
    /// Whether something waits for the user.
    pub needs_user: bool,
}

impl Screen {
    /// What can be told outside of the last frame.
    pub fn terminal_status(&self) -> &TerminalStatus {
        &self.terminal_status
    }

    /// Notes what is told while another screen lies over this one, which no frame shows then.
    pub fn update_covered_status(&mut self, state: Option<&RunState>) -> &TerminalStatus {
        let waiting = self.pending_dialog(state);
        self.update_terminal_status(waiting.as_ref(), state);
        &self.terminal_status
    }

    /// Takes in what is told of the screen that this one lies over.
    pub fn on_covered_screen_status(&mut self, behind: &TerminalStatus) {
        self.is_dirty |= self.is_needed_by_covered_screen != behind.needs_user;
        self.is_needed_by_covered_screen = behind.needs_user;
    }

    /// Notes what is told outside of a frame in which this waits.
    pub(super) fn update_terminal_status(
        &mut self,
        waiting: Option<&ChoiceDialog>,
        state: Option<&RunState>,
    ) {
        let repository = to_one_line(&self.settings.repository);
        let name = repository.trim_end_matches('/').rsplit('/').next();
        let name = name.unwrap_or("agent-collab");
        let running = state.and_then(|state| state.running.as_ref());
        // What the screen itself asks was asked for by a key.
        let asked = waiting.filter(|_| self.own_dialog.is_none());
        let title = match (asked, running, state) {
            (Some(sheet), _, _) => format!("? {name}: {}", sheet.title),
            (None, Some(running), _) => {
                let purpose = &running.order.purpose;
                format!("{name}: {} {}", purpose.role().name(), purpose.describe())
            }
            (None, None, Some(state)) => format!("{name}: {}", state.phase.name()),
            (None, None, None) => format!("{name}: agent-collab"),
        };
        self.terminal_status = TerminalStatus {
            title: truncate_to_columns(&title, MAX_TITLE_COLUMNS),
            needs_user: asked.is_some(),
            alert: match asked {
                Some(sheet) => Some((sheet.id.clone(), sheet.title.clone())),
                None => state.and_then(run_end_alert),
            },
        };
    }
}

/// That a run is over, and how it ended: whoever waits for it is called as for a question.
fn run_end_alert(state: &RunState) -> Option<(String, String)> {
    let how = state.phase.name();
    let is_over = state.phase.is_final();
    is_over.then(|| {
        (
            format!("{how} {}", state.run.as_str()),
            format!("the run is over: {how}"),
        )
    })
}
