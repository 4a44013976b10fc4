//! What came of a discussion: the conclusion and what it stands on, every vote, the minority, what is still open.
//!
//! Refuses to work it out.

use serde::{Deserialize, Serialize};

use super::{Attitude, Confidence, Part, Proposal, SpeechError};
use crate::domain::ids::SessionId;

/// What came of a discussion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The proposal that was decided for; `None` without a decision.
    pub decision: Option<Proposal>,
    /// What the decision stands on.
    pub basis: Basis,
    /// The conclusion in words: the moderator's last word, else the votes in a sentence.
    pub conclusion: String,
    /// Why it stopped.
    pub stop: StopReason,
    /// All proposals that somebody is for or against, the one with the most votes first.
    pub votes: Vec<Tally>,
    /// The same as it was before anybody had heard another.
    #[serde(default)]
    pub independent: Vec<Tally>,
    /// The proposals between which neither votes nor confidence decided; empty without a tie.
    #[serde(default)]
    pub tie: Vec<Proposal>,
    /// Whether confidence decided between proposals with as many votes.
    #[serde(default)]
    pub tie_break: TieBreak,
    /// Who abstained, by name.
    #[serde(default)]
    pub abstained: Vec<String>,
    /// Who has no vote, and why.
    #[serde(default)]
    pub no_vote: Vec<NoVote>,
    /// Those who stand elsewhere than the decision, in their own words.
    #[serde(default)]
    pub minority: Vec<Minority>,
    /// What somebody wanted settled and nobody did.
    #[serde(default)]
    pub unresolved: Vec<Point>,
    /// Who stands elsewhere than a round before, and whether that counts.
    #[serde(default)]
    pub shifts: Vec<Shift>,
    /// The speeches that failed.
    #[serde(default)]
    pub errors: Vec<Entry>,
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
pub enum Basis {
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
pub enum StopReason {
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
pub enum TieBreak {
    /// It was not needed, or did not help.
    #[default]
    None,
    /// It did.
    Confidence,
}

/// Who is for a proposal and who is against it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// The proposal.
    pub proposal: Proposal,
    /// The proposal as who named it first worded it.
    pub wording: String,
    /// Who votes for it.
    pub votes_for: Vec<Vote>,
    /// Who is against it.
    pub against: Vec<Vote>,
}

/// One participant's vote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    /// Who.
    pub participant: String,
    /// What it thinks of the proposal that it is counted at.
    pub attitude: Attitude,
    /// How sure it is.
    pub confidence: Option<Confidence>,
    /// The round of the stance that counts.
    pub round: u32,
}

/// Somebody without a vote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoVote {
    /// Who.
    pub participant: String,
    /// Why.
    pub why: String,
}

/// Somebody who stands elsewhere than the decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Minority {
    /// Who.
    pub participant: String,
    /// What it stands for: the proposal it votes for, else the one it is against.
    pub proposal: Option<Proposal>,
    /// What it thinks of that proposal.
    pub attitude: Attitude,
    /// What it is against besides, where it is for something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Proposal>,
    /// How sure it is.
    pub confidence: Option<Confidence>,
    /// Its own words, cut.
    pub reason: String,
}

/// Something that somebody wanted settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Who.
    pub participant: String,
    /// What.
    pub text: String,
}

/// Somebody who stands elsewhere than a round before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shift {
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
pub struct Entry {
    /// Whose.
    pub participant: String,
    /// In which round.
    pub round: u32,
    /// Whether it belongs to the round or was the last word.
    #[serde(default)]
    pub part: Part,
    /// Why.
    pub error: SpeechError,
}

impl Basis {
    /// Names it as results do.
    pub fn name(self) -> &'static str {
        match self {
            Self::Consensus => "consensus",
            Self::Vote => "vote",
            Self::Moderator => "moderator",
            Self::None => "none",
        }
    }
}

impl StopReason {
    /// Names it as results do.
    pub fn name(self) -> &'static str {
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
    pub fn in_words(self) -> &'static str {
        match self {
            Self::User => "the user, or who began it, stopped it",
            Self::LostQuorum => "too few participants could speak",
            Self::Unanimous => "all agreed before they heard each other",
            Self::Consensus => "all agreed",
            Self::Moderator => "the moderator ended it",
            Self::Stalemate => "nobody moved any more",
            Self::MaxRounds => "the rounds were used up",
            Self::Deadline => "the time was used up",
            Self::ProgramEnded => "the program ended",
        }
    }
}
