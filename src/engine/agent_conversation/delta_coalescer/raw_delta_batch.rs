//! Merges text deltas for the raw stream: consecutive ones become one line, and each text is cleaned as a whole.
//!
//! Cleaning lines separately would miss a secret of several lines.

use std::collections::BTreeMap;
use std::mem::take;

use serde_json::{Value, json};

use crate::adapter::{AdapterEvent, AdapterOutput};
use crate::text::TextCleaner;

use super::MAX_DELTA_BYTES;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine::agent_conversation) struct RawDelta<'a> {
    what: &'static str,
    item: &'a str,
    text: &'a str,
}

/// Returns the delta of an output line that contains nothing else.
pub(in crate::engine::agent_conversation) fn single_delta(
    outputs: &[AdapterOutput],
) -> Option<RawDelta<'_>> {
    let [AdapterOutput::Event(event)] = outputs else {
        return None;
    };
    let (what, item, text) = match event {
        AdapterEvent::TextDelta { item, text } => ("text", item, text),
        AdapterEvent::ThinkingDelta { item, text } => ("thinking", item, text),
        AdapterEvent::ToolOutput { item, text } => ("output", item, text),
        _ => return None,
    };
    Some(RawDelta { what, item, text })
}

/// The key of a text: its kind, and the CLI's id of it.
type RawDeltaKey = (&'static str, String);

/// All deltas that are not in the raw stream yet.
#[derive(Debug, Default)]
pub(in crate::engine::agent_conversation) struct RawDeltaBatch {
    /// Consecutive deltas of one text.
    pending: Option<(RawDeltaKey, u32, String)>,
    /// A cleaner for each text, which keeps the end that it cannot clean yet.
    cleaners: BTreeMap<RawDeltaKey, TextCleaner>,
}

impl RawDeltaBatch {
    /// Adds a delta; returns the line of the earlier ones if they belong to another text.
    pub fn push(&mut self, piece: RawDelta<'_>) -> Option<String> {
        if let Some(((what, item), n, text)) = &mut self.pending
            && (*what, item.as_str()) == (piece.what, piece.item)
            && text.len() < MAX_DELTA_BYTES
        {
            *n += 1;
            text.push_str(piece.text);
            return None;
        }
        let line = self.take_line();
        let of = (piece.what, piece.item.to_owned());
        self.pending = Some((of, 1, piece.text.to_owned()));
        line
    }

    /// Returns the line of the collected deltas, as `{"from":"cli","pieces":…,"item":…,"text":…}`, with the text
    /// that is already cleaned.
    pub fn take_line(&mut self) -> Option<String> {
        let (of, n, text) = self.pending.take()?;
        let cleaner = self.cleaners.entry(of.clone()).or_default();
        format_line(&of, n, &cleaner.push(&text))
    }

    /// Ends all texts; returns the lines of the remaining text.
    pub fn finish_texts(&mut self) -> Vec<String> {
        let mut lines: Vec<String> = self.take_line().into_iter().collect();
        let cleaners = take(&mut self.cleaners).into_iter();
        lines.extend(
            cleaners.filter_map(|(of, mut cleaner)| format_line(&of, 0, &cleaner.finish())),
        );
        lines
    }
}

fn format_line((what, item): &RawDeltaKey, n: u32, text: &str) -> Option<String> {
    if text.is_empty() {
        return None;
    }
    let mut line = json!({ "from": "cli", "pieces": n, "item": item });
    if let Value::Object(members) = &mut line {
        members.insert((*what).to_owned(), text.into());
    }
    Some(line.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &str) -> Vec<AdapterOutput> {
        let item = "c1".to_owned();
        let text = text.to_owned();
        vec![AdapterOutput::Event(AdapterEvent::ToolOutput {
            item,
            text,
        })]
    }

    /// Checks the raw lines of an output that arrives in such deltas.
    fn check(pieces: &[String], expected: &[Value]) {
        let mut raw = RawDeltaBatch::default();
        let mut lines = Vec::new();
        for piece in pieces {
            lines.extend(raw.push(single_delta(&output(piece)).unwrap()));
        }
        lines.extend(raw.take_line());
        lines.extend(raw.finish_texts());
        let told: Vec<Value> = lines
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn pieces_that_come_together_are_one_line() {
        check(
            &["a\nb".to_owned(), "c\nd".to_owned()],
            &[
                json!({ "from": "cli", "pieces": 2, "item": "c1", "output": "a\nbc\n" }),
                json!({ "from": "cli", "pieces": 0, "item": "c1", "output": "d" }),
            ],
        );
    }

    #[test]
    fn a_key_of_several_lines_is_taken_out_wherever_its_pieces_are_cut() {
        let long = "a line of it\n".repeat(MAX_DELTA_BYTES / 13 + 1);
        let key = ["-----BEGIN PRIVATE KEY-----", "MIIEpAIB", "AAKCAQEA"];
        let first = format!("{long}{}\n{}\n", key[0], key[1]);
        let last = format!("{}\n-----END PRIVATE KEY-----\nend\n", key[2]);
        let kept = format!("{long}[redacted:private-key]");
        check(
            &[first, last],
            &[
                json!({ "from": "cli", "pieces": 1, "item": "c1", "output": kept }),
                json!({ "from": "cli", "pieces": 1, "item": "c1", "output": "\nend\n" }),
            ],
        );
    }
}
