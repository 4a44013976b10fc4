//! A group discussion: several agents on one open question, round by round, until there is a decision with its
//! reasons, its votes and its minority.
//!
//! It is a fold of [`DiscussionEvent`]s. What comes next follows from it alone; whoever performs that feeds an event
//! for everything that begins and for everything that ends. Refuses to know how an agent is made to speak.

mod check_command;
mod conclusion;
mod context_budget;
mod discussion_event;
mod discussion_outcome;
mod discussion_overrides;
mod discussion_settings;
mod markdown_report;
mod mode_rules;
mod participant;
mod participant_context;
mod roster;
mod scheduler;
mod speaking_order;
mod speech;
mod stance;
mod stance_parser;
mod vote;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ids::{DiscussionId, SessionId, UnixMillis};

pub use check_command::{CheckOrder, CheckOutcome, CheckRun};
pub use context_budget::{ContextBudget, MIN_CONTEXT_CHARS};
pub use discussion_event::{AttachmentFile, DiscussionEvent, DiscussionOrder};
pub use discussion_outcome::{
    DecisionBasis, DiscussionOutcome, DiscussionStopReason, MinorityPosition, MissingVote,
    ParticipantVote, SpeechFailure, StanceChange, UnresolvedPoint, VoteTally, VoteTieBreak,
};
pub use discussion_overrides::{DiscussionOverrides, SettingOutOfRange};
pub use discussion_settings::{
    BudgetSettings, DiscussionMode, DiscussionSettings, SizeProfile, SpeakingOrder,
};
pub use participant::{DebateSide, DiscussionParticipant};
pub use participant_context::{AttachmentText, MAX_TOPIC_CHARS};
pub use roster::{
    AvailableAgent, DEFAULT_AGENTS, MAX_PARTICIPANTS, ParticipantPool, ParticipantSpec, RosterError,
};
pub use scheduler::{DiscussionEffect, SpeechRequest, StopRequest};
pub use speech::{ActiveSpeech, DiscussionSpeech, Round, SpeechError, SpeechErrorCode, SpeechPart};
pub use stance::{
    FINDING_DOES_NOT_HOLD, FINDING_HOLDS, ParticipantStance, ProposalAttitude, ProposalName,
    StanceConfidence,
};
pub use stance_parser::{MAX_SPEECH_CHARS, STANCE_INFO, SpeechSlot};
pub use vote::{CountedStance, StanceTable};

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
    pub closing: Option<DiscussionSpeech>,
    /// Who speaks at this moment.
    #[serde(default)]
    pub speaking: Vec<ActiveSpeech>,
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
    pub stopping: Option<DiscussionStopReason>,
    /// What came of it, once it is over.
    #[serde(default)]
    pub outcome: Option<DiscussionOutcome>,
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
    pub fn participant(&self, name: &str) -> Option<&DiscussionParticipant> {
        let mut all = self.order.participants.iter();
        all.find(|participant| participant.name == name)
    }

    /// The round that is being spoken or was spoken last.
    pub fn round(&self) -> Option<&Round> {
        self.rounds.last()
    }

    /// The speech of a participant in a round, from 1.
    pub fn speech(&self, round: u32, participant: &str) -> Option<&DiscussionSpeech> {
        let round = self.rounds.iter().find(|each| each.n == round)?;
        round.speech(participant)
    }

    /// The participant whose child session this is.
    pub fn participant_of_session(&self, session: &SessionId) -> Option<&DiscussionParticipant> {
        let (name, _) = self.sessions.iter().find(|(_, of)| *of == session)?;
        self.participant(name)
    }
}

#[cfg(test)]
mod tests;
