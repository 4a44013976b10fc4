//! The line that stays in the terminal after the screen closes: what is saved and how to continue.

use crate::app::headless::{log_path, summarize_finished_run};
use crate::domain::phase::Phase;
use crate::domain::plan_execution::StepCount;
use crate::domain::run::RunState;
use crate::store::WorkdirLayout;
use crate::text::{clean_text, clean_to_one_line, pluralize, truncate};

/// Maximum length of the goal's title, in characters.
const TITLE_CHARS: usize = 60;

/// Describes where the run was left; `None` if it has no goal.
pub fn exit_message(state: &RunState, layout: &WorkdirLayout) -> Option<String> {
    let goal = state.goal.as_ref()?;
    let title = truncate::to_chars(&clean_to_one_line(&clean_text(&goal.title)), TITLE_CHARS);
    Some(match state.phase {
        Phase::Done if state.has_changed_nothing() => "Done. No step changed anything.".to_owned(),
        Phase::Done => summarize_finished_run(state, &log_path(layout)),
        Phase::Cancelled => format!("Cancelled: {title}. Files and commits stay as they are."),
        phase => {
            let StepCount { done, all } = state.step_count();
            let steps = match phase {
                Phase::Execute => format!(", {done} of {} done", pluralize(all, "step")),
                _ => String::new(),
            };
            format!(
                "Saved: {title} ({}{steps}). Run `agent-collab` to resume it.",
                phase.label()
            )
        }
    })
}
