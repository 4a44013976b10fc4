//! What came of a discussion: the conclusion and what it stands on, every vote, the minority, what is still open.
//!
//! Refuses to work it out.

use serde::{Deserialize, Serialize};

use super::{ProposalAttitude, ProposalName, SpeechError, SpeechPart, StanceConfidence};
use crate::domain::ids::SessionId;

/// What came of a discussion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscussionOutcome {
    /// The proposal that was decided for; `None` without a decision.
    pub decision: Option<ProposalName>,
    /// What the decision stands on.
    pub basis: DecisionBasis,
    /// The conclusion in words: the moderator's last word, else the votes in a sentence.
    pub conclusion: String,
    /// Why it stopped.
    pub stop: DiscussionStopReason,
    /// All proposals that somebody is for or against, the one with the most votes first.
    pub votes: Vec<VoteTally>,
    /// The same as it was before anybody had heard another.
    #[serde(default)]
    pub independent: Vec<VoteTally>,
    /// The proposals between which neither votes nor confidence decided; empty without a tie.
    #[serde(default)]
    pub tie: Vec<ProposalName>,
    /// Whether confidence decided between proposals with as many votes.
    #[serde(default)]
    pub tie_break: VoteTieBreak,
    /// Who abstained, by name.
    #[serde(default)]
    pub abstained: Vec<String>,
    /// Who has no vote, and why.
    #[serde(default)]
    pub no_vote: Vec<MissingVote>,
    /// Those who stand elsewhere than the decision, in their own words.
    #[serde(default)]
    pub minority: Vec<MinorityPosition>,
    /// What somebody wanted settled and nobody did.
    #[serde(default)]
    pub unresolved: Vec<UnresolvedPoint>,
    /// Who stands elsewhere than a round before, and whether that counts.
    #[serde(default)]
    pub shifts: Vec<StanceChange>,
    /// The speeches that failed.
    #[serde(default)]
    pub errors: Vec<SpeechFailure>,
    /// How many rounds were spoken to their end.
    pub rounds: u32,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The participants' sessions, where they are kept.
    #[serde(default)]
    pub children: Vec<SessionId>,
}

/// What a decision stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionBasis {
    /// Everybody who has a stance agrees, and nothing blocks.
    Consensus,
    /// The most votes.
    Vote,
    /// The moderator's word.
    Moderator,
    /// Nothing: there is no decision.
    None,
}

/// Why a discussion stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiscussionStopReason {
    /// The user, or who began it, stopped it.
    User,
    /// Too few spoke.
    LostQuorum,
    /// All agreed before they heard each other.
    Unanimous,
    /// All agreed.
    Consensus,
    /// The moderator ended it.
    Moderator,
    /// Nobody moved any more.
    Stalemate,
    /// The rounds were used up.
    MaxRounds,
    /// The time was used up.
    Deadline,
    /// The program ended.
    ProgramEnded,
}

/// Whether confidence decided between proposals with as many votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VoteTieBreak {
    /// It was not needed, or did not help.
    #[default]
    None,
    /// It did.
    Confidence,
}

/// Who is for a proposal and who is against it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoteTally {
    /// The proposal.
    pub proposal: ProposalName,
    /// The proposal as who named it first worded it.
    pub wording: String,
    /// Who votes for it.
    pub votes_for: Vec<ParticipantVote>,
    /// Who is against it.
    pub against: Vec<ParticipantVote>,
}

/// One participant's vote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParticipantVote {
    /// Who.
    pub participant: String,
    /// What it thinks of the proposal that it is counted at.
    pub attitude: ProposalAttitude,
    /// How sure it is.
    pub confidence: Option<StanceConfidence>,
    /// The round of the stance that counts.
    pub round: u32,
}

/// Somebody without a vote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingVote {
    /// Who.
    pub participant: String,
    /// Why.
    pub why: String,
}

/// Somebody who stands elsewhere than the decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MinorityPosition {
    /// Who.
    pub participant: String,
    /// What it stands for: the proposal it votes for, else the one it is against.
    pub proposal: Option<ProposalName>,
    /// What it thinks of that proposal.
    pub attitude: ProposalAttitude,
    /// What it is against besides, where it is for something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<ProposalName>,
    /// How sure it is.
    pub confidence: Option<StanceConfidence>,
    /// Its own words, cut.
    pub reason: String,
}

/// Something that somebody wanted settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnresolvedPoint {
    /// Who.
    pub participant: String,
    /// What.
    pub text: String,
}

/// Somebody who stands elsewhere than a round before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StanceChange {
    /// Who.
    pub participant: String,
    /// The round in which it moved.
    pub round: u32,
    /// Where it stood, in words: `for sqlite`, `against postgres, 2 blocking`.
    pub from: String,
    /// Where it stands.
    pub to: String,
    /// The reason that it gave.
    pub why: Option<String>,
    /// Why the move does not count, so that the earlier stance does; `None` when it counts.
    pub refused: Option<String>,
}

/// A speech that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpeechFailure {
    /// Whose.
    pub participant: String,
    /// In which round.
    pub round: u32,
    /// Whether it belongs to the round or was the last word.
    #[serde(default)]
    pub part: SpeechPart,
    /// Why.
    pub error: SpeechError,
}

impl DecisionBasis {
    /// Names it as results do.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Consensus => "consensus",
            Self::Vote => "vote",
            Self::Moderator => "moderator",
            Self::None => "none",
        }
    }
}

impl DiscussionStopReason {
    /// Names it as results do.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::LostQuorum => "lost_quorum",
            Self::Unanimous => "unanimous",
            Self::Consensus => "consensus",
            Self::Moderator => "moderator",
            Self::Stalemate => "stalemate",
            Self::MaxRounds => "max_rounds",
            Self::Deadline => "deadline",
            Self::ProgramEnded => "program_ended",
        }
    }

    /// Says it to a person.
    pub fn describe(self) -> &'static str {
        match self {
            Self::User => "the user or its starter stopped it",
            Self::LostQuorum => "too few participants could speak",
            Self::Unanimous => "all agreed before they heard each other",
            Self::Consensus => "all agreed",
            Self::Moderator => "the moderator ended it",
            Self::Stalemate => "no position changed any more",
            Self::MaxRounds => "the last round was done",
            Self::Deadline => "the time limit was reached",
            Self::ProgramEnded => "the program ended",
        }
    }
}
