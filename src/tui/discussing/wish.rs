//! What the user can ask about discussions, and the question that a finding raises.
//!
//! Refuses to do it.

use crate::domain::discussion::GroupDiscussion;
use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;
use crate::tui::action::Topic;
use crate::tui::words::elapsed;

/// What can be asked about discussions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// Begin one: a preset where the first word is one, and the topic; without a text, show the board.
    Begin(String),
    /// Show what one would be given, by a preset or without one.
    Budget(Option<String>),
    /// Have the finding discussed that is pointed at.
    Finding,
    /// Stop the one that runs.
    Stop,
    /// Go on with the last one that was stopped, was cut off or failed.
    GoOn,
    /// Write the last one down.
    Export,
    /// Show the board: that of what runs, else of the last one.
    Board,
    /// Put the result of the last one that is over into the composer.
    Quote,
    /// Settle the finding that is pointed at, by what a discussion came to.
    Settle,
}

impl Wish {
    /// Tells whether it does more than look.
    pub fn acts(&self) -> bool {
        match self {
            Self::Board | Self::Export => false,
            Self::Begin(text) => !text.is_empty(),
            Self::Budget(_) | Self::Finding | Self::Stop | Self::GoOn => true,
            Self::Quote | Self::Settle => true,
        }
    }

    /// Why there is nothing to do for it now; `None` where there is.
    pub fn stands_against(&self, state: Option<&RunState>) -> Option<&'static str> {
        let all = all(state);
        let (is_useful, why) = match self {
            Self::Begin(_) | Self::Budget(_) => (true, ""),
            Self::Finding => {
                let has_one = state.is_some_and(|state| state.findings.open().count() > 0);
                (has_one, "no finding is open")
            }
            Self::Board | Self::Export => (!all.is_empty(), "nothing was discussed yet"),
            Self::Stop => (
                all.iter().any(GroupDiscussion::is_running),
                "no discussion runs",
            ),
            Self::GoOn => (
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
pub struct Planned {
    /// What shall be discussed.
    pub topic: Topic,
    /// Who would take part, as one would say it.
    pub participants: Vec<String>,
    /// How it would go.
    pub terms: String,
    /// What each would be given.
    pub budget: String,
}

/// The discussions of a run; none where there is no run.
pub fn all(state: Option<&RunState>) -> &[GroupDiscussion] {
    state.map_or(&[], |state| state.discussions.as_slice())
}

/// The discussion that runs, its round, and how long it has been going on; `None` where none does.
pub fn at_work(state: &RunState, now: UnixMillis) -> Option<String> {
    let discussion = state.discussions.iter().rfind(|each| each.is_running())?;
    let since = elapsed(discussion.running_since, now);
    let round = discussion.round().map_or(0, |round| round.n);
    Some(match round {
        0 => format!("a discussion begins {since}"),
        n => format!("a discussion, round {n} {since}"),
    })
}
