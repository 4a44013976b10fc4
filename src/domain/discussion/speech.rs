//! Defines what a participant said in a round, or why it said nothing.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::ParticipantStance;
use crate::domain::ids::{SessionId, UnixMillis};
use crate::text::clean_to_one_line;

/// One round of a discussion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Its number, from 1.
    pub n: u32,
    /// Who has to attack the leading proposal in it; `None` in the first round.
    #[serde(default)]
    pub attacker: Option<String>,
    /// The speeches, in the order in which they arrived; at most one for each participant.
    pub speeches: Vec<DiscussionSpeech>,
}

/// What a participant said, or why it said nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscussionSpeech {
    /// The round, from 1; for the closing speech, the last round.
    pub round: u32,
    /// Whether it belongs to the round or closes the discussion.
    #[serde(default)]
    pub part: SpeechPart,
    pub participant: String,
    /// Its child session; `None` where it got none.
    #[serde(default)]
    pub session: Option<SessionId>,
    /// What it said, cleaned, without the stance block; empty where it failed.
    pub text: String,
    #[serde(default)]
    pub stance: Option<ParticipantStance>,
    /// Why a successful speech has no stance.
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
    /// It is the moderator's closing speech in a debate.
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
    /// Describes the failure for the user. A stopped speech is not an error.
    pub fn describe(&self) -> String {
        match self.code {
            SpeechErrorCode::Stopped => "stopped before it answered".to_owned(),
            code => format!("{}: {}", code.as_str(), clean_to_one_line(&self.message)),
        }
    }
}

/// The kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(prefix = "E_", serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum SpeechErrorCode {
    /// It took longer than a speech may.
    #[serde(rename = "E_TIMEOUT")]
    Timeout,
    /// The discussion's time ended while it spoke.
    #[serde(rename = "E_DEADLINE")]
    Deadline,
    /// It got no session of its own. It is not asked again, and no other participant replaces it.
    #[serde(rename = "E_SESSION")]
    Session,
    #[serde(rename = "E_ADAPTER")]
    Adapter,
    /// It ended without any text.
    #[serde(rename = "E_EMPTY")]
    Empty,
    /// It was not allowed to speak.
    #[serde(rename = "E_DECLINED")]
    Declined,
    #[serde(rename = "E_STOPPED")]
    Stopped,
}

impl SpeechErrorCode {
    /// Returns a one-word label for the user.
    pub fn label(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            code => code.as_str(),
        }
    }

    /// Returns the code as shown in results: `E_TIMEOUT`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A speech in progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveSpeech {
    pub round: u32,
    /// Whether it belongs to the round or closes the discussion.
    #[serde(default)]
    pub part: SpeechPart,
    pub participant: String,
    pub session: SessionId,
    pub since: UnixMillis,
}

impl Round {
    /// Returns the speech of a participant.
    pub fn speech(&self, participant: &str) -> Option<&DiscussionSpeech> {
        let mut speeches = self.speeches.iter();
        speeches.find(|speech| speech.participant == participant)
    }

    /// Returns whether a participant failed with this code in the round.
    pub fn has_error(&self, code: SpeechErrorCode) -> bool {
        let mut errors = self
            .speeches
            .iter()
            .filter_map(|speech| speech.error.as_ref());
        errors.any(|error| error.code == code)
    }

    /// Returns whether a speech was stopped in it, by the user or by the deadline.
    pub fn was_interrupted(&self) -> bool {
        self.has_error(SpeechErrorCode::Stopped) || self.has_error(SpeechErrorCode::Deadline)
    }

    /// Returns the speeches that did not fail.
    pub fn heard_speeches(&self) -> impl Iterator<Item = &DiscussionSpeech> {
        self.speeches.iter().filter(|speech| speech.is_heard())
    }
}

impl DiscussionSpeech {
    /// Returns whether the participant said anything.
    pub fn is_heard(&self) -> bool {
        self.error.is_none()
    }
}
