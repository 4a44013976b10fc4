//! Parses an agent's reply into a speech: its words, and the stance at their end.
//!
//! A stance is a closed fenced block whose info string has the word `stance`. It contains one JSON object, and nothing
//! follows it. Agreement is read nowhere else: words, quoted markers and blocks in quotations are text. Two different
//! blocks, or a block that cannot be read, are no stance.

use serde_json::Value;

use super::{
    CheckOrder, DiscussionSpeech, ParticipantStance, ProposalAttitude, ProposalName, SpeechError,
    SpeechErrorCode, SpeechPart, speech,
};
use crate::domain::ids::SessionId;
use crate::text::cleaner::clean_to_one_line;
use crate::text::fenced_block::{self, BlockEnd};
use crate::text::truncate::to_chars;

/// The info string of a stance block.
pub const STANCE_INFO: &str = "stance";
/// The longest stored speech, in characters.
pub const MAX_SPEECH_CHARS: usize = 8_000;
/// The longest line in a stance, in characters.
const MAX_LINE_CHARS: usize = 300;
/// How many blocking points and how many pieces of evidence count.
const MAX_ITEMS: usize = 10;
/// How many checks a speech may ask for.
const MAX_CHECKS: usize = 3;
/// The longest command of a check, in characters.
const MAX_COMMAND_CHARS: usize = 500;

/// The round and the participant of a speech.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpeechSlot {
    /// The round, from 1.
    pub round: u32,
    /// Whether it belongs to the round or closes the discussion.
    pub part: SpeechPart,
    pub participant: String,
}

impl DiscussionSpeech {
    /// Builds a speech from an agent's cleaned text. A reply without words and without a stance is a failure.
    pub fn from_reply(seat: SpeechSlot, session: SessionId, text: &str, took_ms: u64) -> Self {
        let (words, block) = split_stance(text);
        let none = || "it did not end with a `stance` block".to_owned();
        let stance = block.and_then(|block| block.ok_or_else(none));
        if words.is_empty() && stance.is_err() {
            let message = "it ended without a word".to_owned();
            return Self::from_failure(
                seat,
                Some(session),
                SpeechErrorCode::Empty,
                message,
                took_ms,
            );
        }
        let (stance, no_stance) = match stance {
            Ok(stance) => (Some(stance), None),
            Err(why) => (None, Some(why)),
        };
        Self {
            round: seat.round,
            part: seat.part,
            participant: seat.participant,
            session: Some(session),
            text: to_chars(&words, MAX_SPEECH_CHARS),
            stance,
            no_stance,
            error: None,
            took_ms,
        }
    }

    /// Builds a failed speech. No other participant's words replace it.
    pub fn from_failure(
        seat: SpeechSlot,
        session: Option<SessionId>,
        code: SpeechErrorCode,
        message: String,
        took_ms: u64,
    ) -> Self {
        Self {
            round: seat.round,
            part: seat.part,
            participant: seat.participant,
            session,
            text: String::new(),
            stance: None,
            no_stance: None,
            error: Some(SpeechError { code, message }),
            took_ms,
        }
    }

    /// Returns the round and the participant of the speech.
    pub fn slot(&self) -> SpeechSlot {
        SpeechSlot {
            round: self.round,
            part: self.part,
            participant: self.participant.clone(),
        }
    }
}

impl speech::ActiveSpeech {
    /// Returns the round and the participant of the coming speech.
    pub fn slot(&self) -> SpeechSlot {
        SpeechSlot {
            round: self.round,
            part: self.part,
            participant: self.participant.clone(),
        }
    }
}

/// Splits a reply into its words and the stance at their end, where there is one.
fn split_stance(text: &str) -> (String, Result<Option<ParticipantStance>, String>) {
    let text = text.trim();
    let parts = fenced_block::split_parts(text);
    let stated: Vec<&fenced_block::FencedBlock> = parts
        .iter()
        .filter_map(|part| match part {
            fenced_block::MarkdownPart::Block(block) if is_stance_block(&block.info) => Some(block),
            fenced_block::MarkdownPart::Block(_) | fenced_block::MarkdownPart::Prose(_) => None,
        })
        .collect();
    let Some(last) = stated.last() else {
        return (text.to_owned(), Ok(None));
    };
    let mut from_the_end = parts.iter().rev();
    let end = from_the_end.find(
        |part| !matches!(part, fenced_block::MarkdownPart::Prose(prose) if prose.trim().is_empty()),
    );
    let is_at_the_end = last.end == BlockEnd::Closed
        && matches!(end, Some(fenced_block::MarkdownPart::Block(block)) if std::ptr::eq(block, *last));
    let words = if is_at_the_end {
        text_before_block(text, &parts)
    } else {
        text.to_owned()
    };
    (words, parse_stances(&stated, is_at_the_end))
}

fn is_stance_block(info: &str) -> bool {
    info.split_whitespace().any(|word| word == STANCE_INFO)
}

/// Returns everything before the last block, unchanged.
fn text_before_block(text: &str, parts: &[fenced_block::MarkdownPart]) -> String {
    let tail: usize = parts.last().map_or(0, |part| match part {
        fenced_block::MarkdownPart::Prose(prose) => prose.len(),
        fenced_block::MarkdownPart::Block(_) => 0,
    });
    let n_lines_of_block = parts.iter().rev().find_map(|part| match part {
        fenced_block::MarkdownPart::Block(block) => Some(block.content.lines().count() + 2),
        fenced_block::MarkdownPart::Prose(_) => None,
    });
    let before_tail = text.get(..text.len() - tail).unwrap_or(text);
    let lines: Vec<&str> = before_tail.lines().collect();
    let n = lines.len().saturating_sub(n_lines_of_block.unwrap_or(0));
    lines
        .get(..n)
        .unwrap_or_default()
        .join("\n")
        .trim()
        .to_owned()
}

fn parse_stances(
    stated: &[&fenced_block::FencedBlock],
    is_at_the_end: bool,
) -> Result<Option<ParticipantStance>, String> {
    let mut read = Vec::new();
    for block in stated {
        let data = serde_json::from_str::<Value>(&block.content)
            .map_err(|error| format!("its `stance` block is no JSON: {error}"))?;
        read.push(ParticipantStance::from_json(&data)?);
    }
    if read.windows(2).any(|pair| pair[0] != pair[1]) {
        return Err("it stated two different stances".to_owned());
    }
    if is_at_the_end {
        Ok(read.pop())
    } else {
        Err("its `stance` block does not end the speech".to_owned())
    }
}

impl ParticipantStance {
    /// Reads a stance that arrived as data.
    ///
    /// # Errors
    ///
    /// Returns why it is not a stance, as a text that continues "it …".
    pub fn from_json(data: &Value) -> Result<Self, String> {
        let stance: Self = serde_json::from_value(normalize_json(data))
            .map_err(|error| format!("its stance cannot be read: {error}"))?;
        stance.validated()
    }

    /// Cleans and cuts the texts. Rejects a stance that says nothing or contradicts itself.
    fn validated(mut self) -> Result<Self, String> {
        let line = |text: &str| to_chars(&clean_to_one_line(text), MAX_LINE_CHARS);
        let some =
            |text: Option<String>| text.map(|text| line(&text)).filter(|text| !text.is_empty());
        self.proposal = line(&self.proposal);
        self.instead = some(self.instead);
        self.why_changed = some(self.why_changed);
        for list in [&mut self.blocking, &mut self.evidence] {
            *list = list.iter().map(|text| line(text)).collect();
            list.retain(|text| !text.is_empty());
            list.truncate(MAX_ITEMS);
        }
        self.checks = std::mem::take(&mut self.checks)
            .into_iter()
            .filter_map(CheckOrder::validated)
            .take(MAX_CHECKS)
            .collect();
        let named = ProposalName::from_wording(&self.proposal);
        if named.is_none() && self.stance != ProposalAttitude::Abstain {
            return Err(format!(
                "its stance is `{}` and names no proposal",
                self.stance.as_str()
            ));
        }
        match (self.stance, &self.instead) {
            (ProposalAttitude::Disagree, Some(instead))
                if ProposalName::from_wording(instead) == named =>
            {
                Err("its stance is against a proposal and for the same one".to_owned())
            }
            (ProposalAttitude::Agree | ProposalAttitude::AgreeWithChanges, Some(instead))
                if ProposalName::from_wording(instead) != named =>
            {
                Err("its stance is for a proposal and for another one instead".to_owned())
            }
            _ => Ok(self),
        }
    }
}

/// Normalizes forms that agents like to write: `null` for a missing value, a check as its command only, a single text
/// for a list, a number as a text, the attitude in another letter case. None of this changes the vote.
fn normalize_json(data: &Value) -> Value {
    let Value::Object(fields) = data else {
        return data.clone();
    };
    let mut fields = fields.clone();
    fields.retain(|_, value| !value.is_null());
    for key in ["evidence", "blocking"] {
        if let Some(list) = fields.get_mut(key).filter(|value| value.is_string()) {
            *list = Value::Array(vec![list.take()]);
        }
    }
    if let Some(Value::String(word)) = fields.get_mut("stance") {
        *word = word.trim().to_lowercase().replace(['-', ' '], "_");
    }
    if let Some(Value::String(text)) = fields.get("confidence")
        && let Ok(number) = text.trim().parse::<f64>()
    {
        fields.insert("confidence".to_owned(), serde_json::json!(number));
    }
    if let Some(Value::Array(checks)) = fields.get_mut("checks") {
        for check in checks.iter_mut().filter(|check| check.is_string()) {
            *check = serde_json::json!({ "command": check.take() });
        }
    }
    Value::Object(fields)
}

impl CheckOrder {
    /// Accepts only a command of one line that is short enough to be judged.
    fn validated(self) -> Option<Self> {
        let command = self.command.trim().to_owned();
        let is_sound = !command.is_empty()
            && !command.contains('\n')
            && command.chars().count() <= MAX_COMMAND_CHARS;
        is_sound.then(|| Self {
            command,
            why: to_chars(&clean_to_one_line(&self.why), MAX_LINE_CHARS),
        })
    }
}

#[cfg(test)]
mod tests;
