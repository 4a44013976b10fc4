//! What users see without looking at the screen: the window title, and an alert when they are needed.
//!
//! The terminal code shows both.

use super::dialog::ChoiceDialog;
use super::labels::turn_title;
use super::text_wrap::{to_one_line, truncate_to_columns};
use crate::domain::run::RunState;

/// The maximum length of the title, in columns.
const MAX_TITLE_COLUMNS: usize = 80;

/// The status of a screen outside of its frames.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TerminalStatus {
    /// The window title; one line, safe to draw.
    pub title: String,
    /// The alert for the user: its id, and the question or how the run ended.
    pub alert: Option<(String, String)>,
    /// Whether the run waits for the user.
    pub needs_user: bool,
}

impl TerminalStatus {
    /// Describes a run; `asked` is the dialog that needs the user, if one does.
    pub fn describe(
        repository: &str,
        asked: Option<&ChoiceDialog>,
        state: Option<&RunState>,
    ) -> Self {
        let repository = to_one_line(repository);
        let name = repository.trim_end_matches('/').rsplit('/').next();
        let name = name.unwrap_or("agent-collab");
        let running = state.and_then(|state| state.running.as_ref());
        let title = match (asked, running, state) {
            (Some(sheet), _, _) => format!("? {name}: {}", sheet.heading()),
            (None, Some(running), _) => {
                let purpose = &running.order.purpose;
                format!(
                    "{name}: {} {}",
                    turn_title(purpose),
                    purpose.describe_progress()
                )
            }
            (None, None, Some(state)) => format!("{name}: {}", state.phase.label()),
            (None, None, None) => format!("{name}: agent-collab"),
        };
        Self {
            title: truncate_to_columns(&title, MAX_TITLE_COLUMNS),
            needs_user: asked.is_some(),
            alert: match asked {
                Some(sheet) => Some((sheet.id.clone(), sheet.heading())),
                None => state.and_then(run_end_alert),
            },
        }
    }
}

/// Returns the alert that the run is over, because the user may be waiting for it.
fn run_end_alert(state: &RunState) -> Option<(String, String)> {
    let how = state.phase.label();
    let is_over = state.phase.is_final();
    is_over.then(|| {
        (
            format!("{how} {}", state.run.as_str()),
            format!("Run finished: {how}"),
        )
    })
}
