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

impl DiscussionScreenCommand {
    /// Returns whether the command does more than show or export.
    pub fn has_side_effect(&self) -> bool {
        match self {
            Self::ShowBoard | Self::Export => false,
            Self::Start(text) => !text.is_empty(),
            Self::PreviewBudget(_) | Self::DiscussFinding | Self::Stop | Self::Resume => true,
            Self::Quote | Self::Settle => true,
        }
    }

    /// Returns why the command has no effect now; `None` if it has one.
    pub fn blocker(&self, state: Option<&RunState>) -> Option<&'static str> {
        let all = discussions_of_run(state);
        let (is_useful, why) = match self {
            Self::Start(_) | Self::PreviewBudget(_) => (true, ""),
            Self::DiscussFinding => {
                let has_one = state.is_some_and(|state| state.findings.open().count() > 0);
                (has_one, "no finding is open")
            }
            Self::ShowBoard | Self::Export => (!all.is_empty(), "no discussion yet"),
            Self::Stop => (
                all.iter().any(GroupDiscussion::is_running),
                "no discussion is running",
            ),
            Self::Resume => (
                all.iter().any(GroupDiscussion::can_resume),
                "no discussion was cut off",
            ),
            Self::Quote => (
                all.iter().any(|each| each.outcome.is_some()),
                "no discussion has finished yet",
            ),
            Self::Settle => (
                all.iter().any(|each| each.order.finding.is_some()),
                "no finding was discussed",
            ),
        };
        (!is_useful).then_some(why)
    }
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
