//! Commands of the user about discussions, and the topic that a finding raises. Other modules carry them
//! out.

use crate::domain::discussion::GroupDiscussion;
use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;
use crate::tui::action::DiscussionTopic;
use crate::tui::labels::format_elapsed;

/// A command about discussions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiscussionScreenCommand {
    /// Starts one: a preset if the first word names one, and the topic; without a text, shows the board.
    Start(String),
    /// Shows the budget that a discussion would get, with a preset or without.
    PreviewBudget(Option<String>),
    /// Discusses the selected finding.
    DiscussFinding,
    /// Stops the running discussion.
    Stop,
    /// Resumes the last one that was stopped, was interrupted or failed.
    Resume,
    /// Exports the last one.
    Export,
    /// Shows the board of the running discussion, else of the last one.
    ShowBoard,
    /// Puts the result of the last finished discussion into the composer.
    Quote,
    /// Settles the selected finding by the result of a discussion.
    Settle,
}

/// A planned discussion for the user to confirm; every field is ready for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscussionPlanView {
    pub topic: DiscussionTopic,
    /// One description per participant.
    pub participants: Vec<String>,
    /// Mode and limits of the discussion.
    pub settings: String,
    /// The budget of each participant.
    pub budget: String,
}

/// Returns the discussions of a run; empty without a run.
pub fn discussions_of_run(state: Option<&RunState>) -> &[GroupDiscussion] {
    state.map_or(&[], |state| state.discussions.as_slice())
}

/// Describes the running discussion, its round and its duration; `None` if none runs.
pub fn describe_running(state: &RunState, now: UnixMillis) -> Option<String> {
    let discussion = state.discussions.iter().rfind(|each| each.is_running())?;
    let since = format_elapsed(discussion.running_since, now);
    let round = discussion.round().map_or(0, |round| round.n);
    Some(match round {
        0 => format!("Discussion starting {since}"),
        n => format!("Discussion, round {n} {since}"),
    })
}
