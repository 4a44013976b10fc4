//! Defines the outcome of a discussion: the conclusion and its basis, every vote, the minority, and open points.
//!
//! Does not compute it: `conclusion` does.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::{
    FINDING_DOES_NOT_HOLD, FINDING_HOLDS, ProposalAttitude, ProposalName, SpeechError, SpeechPart,
    StanceConfidence,
};
use crate::domain::ids::SessionId;

/// The outcome of a discussion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscussionOutcome {
    /// The proposal that was decided for; `None` without a decision.
    pub decision: Option<ProposalName>,
    pub basis: DecisionBasis,
    /// The conclusion as text: the moderator's closing speech, otherwise the votes in a sentence.
    pub conclusion: String,
    pub stop: DiscussionStopReason,
    /// All proposals that a participant is for or against, the one with the most votes first.
    pub votes: Vec<VoteTally>,
    /// The same tallies before any participant had read another's speech.
    #[serde(default)]
    pub independent: Vec<VoteTally>,
    /// The proposals that neither votes nor confidence could decide between; empty without a tie.
    #[serde(default)]
    pub tie: Vec<ProposalName>,
    /// Whether confidence decided between proposals with equal votes.
    #[serde(default)]
    pub tie_break: VoteTieBreak,
    #[serde(default)]
    pub abstained: Vec<String>,
    /// Who has no vote, and why.
    #[serde(default)]
    pub no_vote: Vec<MissingVote>,
    /// Participants that disagree with the decision, in their own words.
    #[serde(default)]
    pub minority: Vec<MinorityPosition>,
    /// Points that a participant wanted settled and that are still open.
    #[serde(default)]
    pub unresolved: Vec<UnresolvedPoint>,
    /// Participants that changed their position from one round to the next, and whether the change counts.
    #[serde(default)]
    pub shifts: Vec<StanceChange>,
    #[serde(default)]
    pub errors: Vec<SpeechFailure>,
    /// How many rounds were finished.
    pub rounds: u32,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The participants' sessions, where they are kept.
    #[serde(default)]
    pub children: Vec<SessionId>,
}

impl DiscussionOutcome {
    /// Describes how the decision was made.
    pub fn basis_label(&self) -> &'static str {
        match self.basis {
            DecisionBasis::Consensus => "consensus",
            DecisionBasis::Vote => "decided by vote",
            DecisionBasis::Moderator => "decided by the moderator",
            DecisionBasis::None if !self.tie.is_empty() => "a tie, not decided",
            DecisionBasis::None => "not decided",
        }
    }

    /// Describes the decision and how it was made: `decided by vote: SQLite`.
    pub fn describe_decision(&self) -> String {
        let decision = self.decision.as_ref();
        let wording = |decision: &ProposalName| match decision.as_str() {
            FINDING_HOLDS => "the finding holds".to_owned(),
            FINDING_DOES_NOT_HOLD => "the finding does not hold".to_owned(),
            _ => self.proposal_wording(decision),
        };
        let decision = decision.map(|decision| format!(": {}", wording(decision)));
        format!("{}{}", self.basis_label(), decision.unwrap_or_default())
    }
}

/// The basis of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DecisionBasis {
    /// Every participant that has a stance agrees, and no point is blocking.
    Consensus,
    /// The most votes.
    Vote,
    Moderator,
    /// There is no decision.
    None,
}

/// Why a discussion stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DiscussionStopReason {
    /// The user, or the session that started it, stopped it.
    User,
    /// Too few participants spoke.
    LostQuorum,
    /// All participants agreed before they read each other's speeches.
    Unanimous,
    Consensus,
    /// The moderator ended it.
    Moderator,
    /// No participant changed position any more.
    Stalemate,
    /// The maximum number of rounds was reached.
    MaxRounds,
    Deadline,
    ProgramEnded,
}

/// Whether confidence decided between proposals with equal votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VoteTieBreak {
    /// It was not needed, or did not help.
    #[default]
    None,
    Confidence,
}

/// Who is for a proposal and who is against it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoteTally {
    pub proposal: ProposalName,
    /// The shortest wording of the proposal; among equally short ones, the first in alphabetical order.
    pub wording: String,
    pub votes_for: Vec<ParticipantVote>,
    pub against: Vec<ParticipantVote>,
}

/// A participant with the option it voted for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParticipantVote {
    pub participant: String,
    /// What it thinks of the proposal for which it is counted.
    pub attitude: ProposalAttitude,
    /// How sure it is.
    pub confidence: Option<StanceConfidence>,
    /// The round of the stance that counts.
    pub round: u32,
}

/// A participant without a vote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingVote {
    pub participant: String,
    pub why: String,
}

/// A participant that disagrees with the decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MinorityPosition {
    pub participant: String,
    /// The proposal it votes for, otherwise the one it is against.
    pub proposal: Option<ProposalName>,
    /// What it thinks of that proposal.
    pub attitude: ProposalAttitude,
    /// The proposal it is also against, where it is for another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<ProposalName>,
    pub confidence: Option<StanceConfidence>,
    /// Its own words, cut to a maximum length.
    pub reason: String,
}

/// A point that a participant wanted settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnresolvedPoint {
    pub participant: String,
    pub text: String,
}

/// A participant's change of position from one round to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StanceChange {
    pub participant: String,
    /// The round in which it changed.
    pub round: u32,
    /// The earlier position as text: `for sqlite`, `against postgres, 2 blocking`.
    pub from: String,
    /// The new position as text.
    pub to: String,
    /// The reason that it gave.
    pub why: Option<String>,
    /// Why the change does not count, so that the earlier stance stays; `None` when it counts.
    pub refused: Option<String>,
}

/// A speech that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpeechFailure {
    pub participant: String,
    pub round: u32,
    /// Whether it belongs to the round or was the closing speech.
    #[serde(default)]
    pub part: SpeechPart,
    pub error: SpeechError,
}

impl DecisionBasis {
    /// Returns the name used in results.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl DiscussionStopReason {
    /// Returns the name used in results.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Describes the reason for the user.
    pub fn describe(self) -> &'static str {
        match self {
            Self::User => "the user or the agent that started it stopped it",
            Self::LostQuorum => "too few participants could answer",
            Self::Unanimous => "all agreed before they heard each other",
            Self::Consensus => "all agreed",
            Self::Moderator => "the moderator ended it",
            Self::Stalemate => "no position changed",
            Self::MaxRounds => "the last round ended",
            Self::Deadline => "the time limit was reached",
            Self::ProgramEnded => "the program ended",
        }
    }
}
