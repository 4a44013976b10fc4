//! Pieces of texts on their way to the raw stream: those that come together are one line of it, and each text is
//! cleaned as one.
//!
//! A secret of several lines is none to whoever sees its last lines alone. Refuses to know the stream.

use std::collections::BTreeMap;
use std::mem::take;

use serde_json::{Value, json};

use crate::adapter::{AdapterEvent, AdapterOutput};
use crate::text::TextCleaner;

use super::MAX_DELTA_BYTES;

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine::agent_conversation) struct RawDelta<'a> {
    what: &'static str,
    item: &'a str,
    text: &'a str,
}

/// The piece that is all that a line told.
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

/// Which text: what it is, and the CLI's name of it.
type RawDeltaKey = (&'static str, String);

/// All pieces that are not in the raw stream yet.
#[derive(Debug, Default)]
pub(in crate::engine::agent_conversation) struct RawDeltaBatch {
    /// Those of one text that came together.
    pending: Option<(RawDeltaKey, u32, String)>,
    /// What of each text is not certain yet.
    cleaners: BTreeMap<RawDeltaKey, TextCleaner>,
}

impl RawDeltaBatch {
    /// Takes a piece in; gives the line of those before it, where it does not go with them.
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

    /// The line of those that came together, as `{"from":"cli","pieces":…,"item":…,"text":…}`, as far as they are
    /// certain.
    pub fn take_line(&mut self) -> Option<String> {
        let (of, n, text) = self.pending.take()?;
        let cleaner = self.cleaners.entry(of.clone()).or_default();
        format_line(&of, n, &cleaner.push(&text))
    }

    /// Ends all texts; gives the lines of what is left of them.
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

    /// What becomes of an output that comes in such pieces.
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
