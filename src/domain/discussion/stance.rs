//! Defines a participant's stance at the end of a speech, as data.
//!
//! A stance that cannot be read is no stance, and no stance is no vote.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// The stance of a participant.
///
/// It votes for `proposal` when it agrees, with or without changes. When it disagrees it is against `proposal`, and
/// votes for `instead` where that is given. An abstention is neither.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParticipantStance {
    /// What it thinks of the proposal.
    pub stance: ProposalAttitude,
    /// Which proposal it is about, as the participant named it; see [`ProposalName`].
    #[serde(default)]
    pub proposal: String,
    /// What it would do instead, where it disagrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    /// How sure it is; `None` when it did not say.
    #[serde(default)]
    pub confidence: Option<StanceConfidence>,
    /// What must be settled before it could agree.
    #[serde(default)]
    pub blocking: Vec<String>,
    /// Why its position differs from that of the round before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_changed: Option<String>,
    /// What is new since then: words of another participant or of a check's output, or `check N` for a check that ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// Commands that would settle a question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<super::CheckOrder>,
    /// Whether the discussion should end with this round; only a moderator's value counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conclude: bool,
}

/// What a participant thinks of a proposal.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ProposalAttitude {
    Agree,
    AgreeWithChanges,
    Disagree,
    Abstain,
}

/// How sure a participant is, from 0 to 1 in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct StanceConfidence(u16);

/// The normalized name that identifies a proposal: its words in lower case joined by hyphens, up to the first colon,
/// semicolon or line end, without a label such as `Answer:`. `SQLite`, `sqlite: one file` and ` SQLITE.` are the same
/// proposal; `C` and `C++` are not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProposalName(String);

impl ProposalAttitude {
    /// Returns the label for the user.
    pub fn label(self) -> &'static str {
        match self {
            Self::Agree => "agrees",
            Self::AgreeWithChanges => "agrees with changes",
            Self::Disagree => "disagrees",
            Self::Abstain => "abstains",
        }
    }

    /// Returns the name used in results.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl StanceConfidence {
    /// Creates it from thousandths; more than 1000 counts as 1000.
    pub fn from_thousandths(n: u16) -> Self {
        Self(n.min(1_000))
    }

    /// Returns it in thousandths, 0 to 1000.
    pub fn in_thousandths(self) -> u16 {
        self.0
    }

    /// Returns it in percent, 0 to 100.
    pub fn percent(self) -> u16 {
        (self.0 + 5) / 10
    }
}

impl TryFrom<f64> for StanceConfidence {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, String> {
        match (0.0..=1.0).contains(&value) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between 0 and 1000"
            )]
            true => Ok(Self((value * 1_000.0).round() as u16)),
            false => Err(format!("a confidence of {value} is not between 0 and 1")),
        }
    }
}

impl From<StanceConfidence> for f64 {
    fn from(confidence: StanceConfidence) -> Self {
        Self::from(confidence.0) / 1_000.0
    }
}

impl fmt::Display for StanceConfidence {
    /// Writes it with two decimal places: `0.70`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2}", f64::from(*self))
    }
}

/// The proposal that a finding of a review is right.
pub const FINDING_HOLDS: &str = "finding-holds";
/// The proposal that a finding of a review is wrong.
pub const FINDING_DOES_NOT_HOLD: &str = "finding-does-not-hold";
/// Words that announce a proposal and are not its name.
const PROPOSAL_LABELS: [&str; 24] = [
    "answer",
    "option",
    "proposal",
    "choice",
    "decision",
    "recommendation",
    "solution",
    "suggestion",
    "vote",
    "verdict",
    "use",
    "choose",
    "pick",
    "prefer",
    "the",
    "my",
    "our",
    "antwort",
    "vorschlag",
    "答案",
    "方案",
    "选择",
    "建议",
    "提案",
];
/// Punctuation that separates words; all other signs are part of a name, as in `C++`.
const PUNCTUATION_MARKS: &str = ".,!?'\"`()[]{}*_-/\\–—…·、。，！？「」『』“”‘’«»（）《》【】";

impl ProposalName {
    /// Returns the name for this wording; `None` where it contains no letter or digit.
    pub fn from_wording(text: &str) -> Option<Self> {
        let name = normalized_words(Self::strip_explanation(text)).join("-");
        name.chars()
            .any(char::is_alphanumeric)
            .then_some(Self(name))
    }

    /// Returns the wording of a proposal without its explanation: `SQLite` for `Answer: SQLite: one file`.
    pub fn strip_explanation(text: &str) -> &str {
        let text = text.trim();
        let end = text.char_indices().find(|(at, c)| ends_name(text, *at, *c));
        let Some((at, c)) = end else {
            return text;
        };
        let head = text.get(..at).unwrap_or(text);
        let rest = text.get(at + c.len_utf8()..).unwrap_or_default();
        // A label is not a name: the name follows it.
        let labels = normalized_words(head);
        let is_label = labels
            .iter()
            .all(|word| PROPOSAL_LABELS.contains(&word.as_str()));
        if is_label && !labels.is_empty() && !normalized_words(rest).is_empty() {
            Self::strip_explanation(rest)
        } else {
            head
        }
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn normalized_words(text: &str) -> Vec<String> {
    let words =
        text.split(|c: char| c.is_whitespace() || c.is_control() || PUNCTUATION_MARKS.contains(c));
    words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Returns whether a name ends at this sign. A colon within a word, as in `std::list` and `https://…`, is part of it.
fn ends_name(text: &str, at: usize, c: char) -> bool {
    let next = text
        .get(at + c.len_utf8()..)
        .and_then(|rest| rest.chars().next());
    match c {
        ':' => next.is_none_or(char::is_whitespace),
        ';' | '\n' | '：' | '；' => true,
        _ => false,
    }
}

impl fmt::Display for ProposalName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ParticipantStance {
    /// Returns the proposal it votes for; `None` where it votes for none.
    pub fn votes_for(&self) -> Option<ProposalName> {
        match self.stance {
            ProposalAttitude::Agree | ProposalAttitude::AgreeWithChanges => {
                ProposalName::from_wording(&self.proposal)
            }
            ProposalAttitude::Disagree => {
                self.instead.as_deref().and_then(ProposalName::from_wording)
            }
            ProposalAttitude::Abstain => None,
        }
    }

    /// Returns the proposal it is against; `None` where it is against none.
    pub fn votes_against(&self) -> Option<ProposalName> {
        match self.stance {
            ProposalAttitude::Disagree => ProposalName::from_wording(&self.proposal),
            ProposalAttitude::Agree
            | ProposalAttitude::AgreeWithChanges
            | ProposalAttitude::Abstain => None,
        }
    }
}
