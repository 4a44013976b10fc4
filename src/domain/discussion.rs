//! A group discussion: several agents on one open question, round by round, until there is a decision with its
//! reasons, its votes and its minority.
//!
//! It is a fold of [`DiscussionEvent`]s. What comes next follows from it alone; whoever performs that feeds an event
//! for everything that begins and for everything that ends. Refuses to know how an agent is made to speak.

mod budget;
mod calling;
mod check;
mod concluding;
mod context;
mod event;
mod markdown;
mod mode;
mod next;
mod outcome;
mod participant;
mod reading;
mod seats;
mod speech;
mod stance;
mod terms;
mod vote;
mod wishes;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ids::{DiscussionId, SessionId, UnixMillis};

pub use budget::{Budget, FLOOR};
pub use calling::{Called, DEFAULT_AGENTS, Known, KnownAgent, MAX_PARTICIPANTS, NotCalled};
pub use check::{CheckEnd, CheckOrder, CheckRun};
pub use context::{MAX_TOPIC, SourceText};
pub use event::{DiscussionEvent, DiscussionOrder, SourceFile};
pub use next::{Next, Speak, Stop};
pub use outcome::{
    Basis, Entry, Minority, NoVote, Outcome, Point, Shift, StopReason, Tally, TieBreak, Vote,
};
pub use participant::{Participant, Side};
pub use reading::{MAX_SPEECH, STANCE, Seat};
pub use speech::{Part, Round, Speaking, Speech, SpeechError, SpeechErrorCode};
pub use stance::{Attitude, Confidence, DOES_NOT_HOLD, HOLDS, Proposal, Stance};
pub use terms::{BudgetSettings, Mode, Order, SizeProfile, Terms};
pub use vote::{Standing, Standings};
pub use wishes::{OutOfRange, Wishes};

/// One discussion as it stands. Changes only through [`GroupDiscussion::take`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupDiscussion {
    /// What it was begun with.
    pub order: DiscussionOrder,
    /// When it was begun.
    pub begun_at: UnixMillis,
    /// When it was begun or gone on with last; the deadline counts from here.
    pub running_since: UnixMillis,
    /// Where it stands.
    pub status: DiscussionStatus,
    /// Its rounds, from 1. Only the last one may be unfinished, and only while the discussion runs.
    pub rounds: Vec<Round>,
    /// The moderator's last word in a debate.
    #[serde(default)]
    pub closing: Option<Speech>,
    /// Who speaks at this moment.
    #[serde(default)]
    pub speaking: Vec<Speaking>,
    /// The commands that were to settle something, in the order in which they ended.
    #[serde(default)]
    pub checks: Vec<CheckRun>,
    /// The command that runs at this moment.
    #[serde(default)]
    pub checking: Option<CheckOrder>,
    /// The child session of each participant that has spoken, by the participant's name.
    #[serde(default)]
    pub sessions: BTreeMap<String, SessionId>,
    /// Why it is to stop, where somebody said so.
    #[serde(default)]
    pub stopping: Option<StopReason>,
    /// What came of it, once it is over.
    #[serde(default)]
    pub outcome: Option<Outcome>,
}

/// Where a discussion stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiscussionStatus {
    /// Somebody speaks, or is about to.
    Running,
    /// It is over and has an outcome.
    Completed,
    /// It is over because too few could speak; its outcome says what there was.
    Failed,
    /// It was stopped, or the program ended. Its finished rounds are there, and it can be gone on with.
    Cancelled,
}

impl DiscussionStatus {
    /// Names it as results do.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl GroupDiscussion {
    /// Its id.
    pub fn id(&self) -> &DiscussionId {
        &self.order.id
    }

    /// Tells whether it is still going on.
    pub fn is_running(&self) -> bool {
        self.status == DiscussionStatus::Running
    }

    /// Tells whether it was stopped or cut off, or failed, and goes on where its user wants it to.
    pub fn can_resume(&self) -> bool {
        matches!(
            self.status,
            DiscussionStatus::Cancelled | DiscussionStatus::Failed
        )
    }

    /// The participant of a name.
    pub fn participant(&self, name: &str) -> Option<&Participant> {
        let mut all = self.order.participants.iter();
        all.find(|participant| participant.name == name)
    }

    /// The round that is being spoken or was spoken last.
    pub fn round(&self) -> Option<&Round> {
        self.rounds.last()
    }

    /// The speech of a participant in a round, from 1.
    pub fn speech(&self, round: u32, participant: &str) -> Option<&Speech> {
        let round = self.rounds.iter().find(|each| each.n == round)?;
        round.speech(participant)
    }

    /// The participant whose child session this is.
    pub fn participant_of_session(&self, session: &SessionId) -> Option<&Participant> {
        let (name, _) = self.sessions.iter().find(|(_, of)| *of == session)?;
        self.participant(name)
    }
}

#[cfg(test)]
mod tests;
