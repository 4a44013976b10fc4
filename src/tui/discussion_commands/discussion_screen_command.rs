//! What the user can ask about discussions, and the question that a finding raises.
//!
//! Refuses to do it.

use crate::domain::discussion::GroupDiscussion;
use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;
use crate::tui::action::DiscussionTopic;
use crate::tui::labels::format_elapsed;

/// What can be asked about discussions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiscussionScreenCommand {
    /// Begin one: a preset where the first word is one, and the topic; without a text, show the board.
    Start(String),
    /// Show what one would be given, by a preset or without one.
    PreviewBudget(Option<String>),
    /// Have the finding discussed that is pointed at.
    DiscussFinding,
    /// Stop the one that runs.
    Stop,
    /// Go on with the last one that was stopped, was cut off or failed.
    Resume,
    /// Write the last one down.
    Export,
    /// Show the board: that of what runs, else of the last one.
    ShowBoard,
    /// Put the result of the last one that is over into the composer.
    Quote,
    /// Settle the finding that is pointed at, by what a discussion came to.
    Settle,
}

impl DiscussionScreenCommand {
    /// Tells whether it does more than look.
    pub fn has_side_effect(&self) -> bool {
        match self {
            Self::ShowBoard | Self::Export => false,
            Self::Start(text) => !text.is_empty(),
            Self::PreviewBudget(_) | Self::DiscussFinding | Self::Stop | Self::Resume => true,
            Self::Quote | Self::Settle => true,
        }
    }

    /// Why there is nothing to do for it now; `None` where there is.
    pub fn blocker(&self, state: Option<&RunState>) -> Option<&'static str> {
        let all = discussions_of_run(state);
        let (is_useful, why) = match self {
            Self::Start(_) | Self::PreviewBudget(_) => (true, ""),
            Self::DiscussFinding => {
                let has_one = state.is_some_and(|state| state.findings.open().count() > 0);
                (has_one, "no finding is open")
            }
            Self::ShowBoard | Self::Export => (!all.is_empty(), "nothing was discussed yet"),
            Self::Stop => (
                all.iter().any(GroupDiscussion::is_running),
                "no discussion runs",
            ),
            Self::Resume => (
                all.iter().any(GroupDiscussion::can_resume),
                "no discussion was cut off",
            ),
            Self::Quote => (
                all.iter().any(|each| each.outcome.is_some()),
                "no discussion is over yet",
            ),
            Self::Settle => (
                all.iter().any(|each| each.order.finding.is_some()),
                "no finding was discussed",
            ),
        };
        (!is_useful).then_some(why)
    }
}

/// What a discussion would be begun with, to be agreed to; every text is in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscussionPlanView {
    /// What shall be discussed.
    pub topic: DiscussionTopic,
    /// Who would take part, as one would say it.
    pub participants: Vec<String>,
    /// How it would go.
    pub settings: String,
    /// What each would be given.
    pub budget: String,
}

/// The discussions of a run; none where there is no run.
pub fn discussions_of_run(state: Option<&RunState>) -> &[GroupDiscussion] {
    state.map_or(&[], |state| state.discussions.as_slice())
}

/// The discussion that runs, its round, and how long it has been going on; `None` where none does.
pub fn describe_running(state: &RunState, now: UnixMillis) -> Option<String> {
    let discussion = state.discussions.iter().rfind(|each| each.is_running())?;
    let since = format_elapsed(discussion.running_since, now);
    let round = discussion.round().map_or(0, |round| round.n);
    Some(match round {
        0 => format!("a discussion begins {since}"),
        n => format!("a discussion, round {n} {since}"),
    })
}
