//! Holds the state of a group discussion: several agents work on one open question, round by round, until there is a
//! decision with its reasons, its votes and its minority.
//!
//! The state is a fold of [`DiscussionEvent`]s, and the next effect follows from it alone. The code that performs
//! effects feeds an event whenever something starts or ends.

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
use strum::IntoStaticStr;

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

/// The state of one discussion. It changes only through [`GroupDiscussion::apply`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupDiscussion {
    /// What it was started with.
    pub order: DiscussionOrder,
    pub begun_at: UnixMillis,
    /// When it was started or last resumed; the deadline counts from here.
    pub running_since: UnixMillis,
    pub status: DiscussionStatus,
    /// Its rounds, from 1. Only the last one may be unfinished, and only while the discussion runs.
    pub rounds: Vec<Round>,
    /// The moderator's closing speech in a debate.
    #[serde(default)]
    pub closing: Option<DiscussionSpeech>,
    /// The speeches in progress.
    #[serde(default)]
    pub speaking: Vec<ActiveSpeech>,
    /// The check commands that ended, in the order in which they ended.
    #[serde(default)]
    pub checks: Vec<CheckRun>,
    /// The check command that runs now.
    #[serde(default)]
    pub checking: Option<CheckOrder>,
    /// The child session of each participant that has spoken, by the participant's name.
    #[serde(default)]
    pub sessions: BTreeMap<String, SessionId>,
    /// Why it has to stop, where a stop was requested.
    #[serde(default)]
    pub stopping: Option<DiscussionStopReason>,
    /// The result, once the discussion is over.
    #[serde(default)]
    pub outcome: Option<DiscussionOutcome>,
}

/// The status of a discussion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DiscussionStatus {
    /// A participant speaks, or is about to.
    Running,
    /// It is over and has an outcome.
    Completed,
    /// It is over because too few participants could speak. The outcome says what there was.
    Failed,
    /// It was stopped, or the program ended. Its finished rounds are kept, and it can be resumed.
    Cancelled,
}

impl DiscussionStatus {
    /// Returns the name used in results.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl GroupDiscussion {
    /// Returns the discussion's id.
    pub fn id(&self) -> &DiscussionId {
        &self.order.id
    }

    /// Returns whether it is still running.
    pub fn is_running(&self) -> bool {
        self.status == DiscussionStatus::Running
    }

    /// Returns whether the user can resume it: it was stopped, was cut off or failed.
    pub fn can_resume(&self) -> bool {
        matches!(
            self.status,
            DiscussionStatus::Cancelled | DiscussionStatus::Failed
        )
    }

    /// Returns the participant with this name.
    pub fn participant(&self, name: &str) -> Option<&DiscussionParticipant> {
        let mut all = self.order.participants.iter();
        all.find(|participant| participant.name == name)
    }

    /// Returns the current round, or the last one.
    pub fn round(&self) -> Option<&Round> {
        self.rounds.last()
    }

    /// Returns the speech of a participant in a round, counted from 1.
    pub fn speech(&self, round: u32, participant: &str) -> Option<&DiscussionSpeech> {
        let round = self.rounds.iter().find(|each| each.n == round)?;
        round.speech(participant)
    }
}

#[cfg(test)]
mod tests;
