//! What a participant said in a round, or why it said nothing.
//!
//! Refuses to know how it was made to speak.

use serde::{Deserialize, Serialize};

use super::ParticipantStance;
use crate::domain::ids::{SessionId, UnixMillis};
use crate::text::clean_to_one_line;

/// One round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Its number, from 1.
    pub n: u32,
    /// Who has to attack the leading proposal in it; nobody in the first one.
    #[serde(default)]
    pub attacker: Option<String>,
    /// What was said, in the order in which it came; each participant once.
    pub speeches: Vec<DiscussionSpeech>,
}

/// What a participant said, or why it said nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscussionSpeech {
    /// The round, from 1; of the moderator's last word the last one that was spoken.
    pub round: u32,
    /// Whether it belongs to the round or closes the discussion.
    #[serde(default)]
    pub part: SpeechPart,
    /// Who.
    pub participant: String,
    /// Its child session; `None` where it got none.
    #[serde(default)]
    pub session: Option<SessionId>,
    /// What it said, cleaned, without the block of its stance; empty where it failed.
    pub text: String,
    /// What it stands for.
    #[serde(default)]
    pub stance: Option<ParticipantStance>,
    /// Why there is no stance in a speech that was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_stance: Option<String>,
    /// Why it said nothing.
    #[serde(default)]
    pub error: Option<SpeechError>,
    /// How long it took from its start, in milliseconds.
    pub took_ms: u64,
}

/// Whether a speech belongs to a round or closes the discussion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpeechPart {
    /// It belongs to a round.
    #[default]
    Round,
    /// It is the moderator's last word in a debate.
    Closing,
}

/// Why a participant said nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpeechError {
    /// Which kind of failure.
    pub code: SpeechErrorCode,
    /// What happened, and what to do.
    pub message: String,
}

impl SpeechError {
    /// What happened, to a person. Who was stopped made no error.
    pub fn describe(&self) -> String {
        match self.code {
            SpeechErrorCode::Stopped => "stopped before it had spoken".to_owned(),
            code => format!("{}: {}", code.as_str(), clean_to_one_line(&self.message)),
        }
    }
}

/// Which kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SpeechErrorCode {
    /// It took longer than a speech may.
    #[serde(rename = "E_TIMEOUT")]
    Timeout,
    /// The discussion's time was over while it spoke.
    #[serde(rename = "E_DEADLINE")]
    Deadline,
    /// It got no session of its own. It is not asked again, and nobody speaks in its place.
    #[serde(rename = "E_SESSION")]
    Session,
    /// Its CLI failed.
    #[serde(rename = "E_ADAPTER")]
    Adapter,
    /// It ended without a word.
    #[serde(rename = "E_EMPTY")]
    Empty,
    /// It was not allowed to speak.
    #[serde(rename = "E_DECLINED")]
    Declined,
    /// It was stopped.
    #[serde(rename = "E_STOPPED")]
    Stopped,
}

impl SpeechErrorCode {
    /// What is shown of it to a person where there is room for a word.
    pub fn label(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            code => code.as_str(),
        }
    }

    /// The code as results show it: `E_TIMEOUT`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "E_TIMEOUT",
            Self::Deadline => "E_DEADLINE",
            Self::Session => "E_SESSION",
            Self::Adapter => "E_ADAPTER",
            Self::Empty => "E_EMPTY",
            Self::Declined => "E_DECLINED",
            Self::Stopped => "E_STOPPED",
        }
    }
}

/// Somebody who speaks at this moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveSpeech {
    /// The round.
    pub round: u32,
    /// Whether it belongs to the round or closes the discussion.
    #[serde(default)]
    pub part: SpeechPart,
    /// Who.
    pub participant: String,
    /// Its child session.
    pub session: SessionId,
    /// Since when.
    pub since: UnixMillis,
}

impl Round {
    /// The speech of a participant.
    pub fn speech(&self, participant: &str) -> Option<&DiscussionSpeech> {
        let mut speeches = self.speeches.iter();
        speeches.find(|speech| speech.participant == participant)
    }

    /// Tells whether somebody failed so in it.
    pub fn has_error(&self, code: SpeechErrorCode) -> bool {
        let mut errors = self
            .speeches
            .iter()
            .filter_map(|speech| speech.error.as_ref());
        errors.any(|error| error.code == code)
    }

    /// Tells whether somebody was stopped in it, by the user or by the deadline.
    pub fn was_interrupted(&self) -> bool {
        self.has_error(SpeechErrorCode::Stopped) || self.has_error(SpeechErrorCode::Deadline)
    }

    /// Those who said something.
    pub fn heard_speeches(&self) -> impl Iterator<Item = &DiscussionSpeech> {
        self.speeches.iter().filter(|speech| speech.is_heard())
    }
}

impl DiscussionSpeech {
    /// Tells whether it was given at all.
    pub fn is_heard(&self) -> bool {
        self.error.is_none()
    }
}
