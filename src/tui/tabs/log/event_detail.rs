//! All that one event of Log holds, in words; how the log itself calls it stands last.
//!
//! Refuses to leave anything out but what its words say already.

use ratatui::text::{Line, Span};

use crate::domain::event::fields::{self, EventField};
use crate::domain::event::{AgentActivity, Event};
use crate::tui::markdown::hanging_indent;
use crate::tui::text_wrap::{clean_for_display, to_one_line, wrap_spans};
use crate::tui::theme;

/// What the program finds its things by, and says nothing to a reader.
const INTERNAL_FIELDS: &[&str] = &[
    "base",
    "id",
    "item",
    "kept",
    "news",
    "pid",
    "process",
    "request",
    "role",
    "run",
    "schema",
    "session",
    "start_time",
    "tree",
    "turn",
];
/// Names that say too little by themselves.
const FIELD_LABELS: &[(&str, &str)] = &[
    ("n", "number"),
    ("at", "when"),
    ("by", "answered by"),
    ("exit_code", "exit code"),
    ("what", "what failed"),
];

/// An event, told whole.
#[derive(Debug)]
pub struct EventDetail {
    /// What its row says, uncut; empty where what follows says it.
    summary: String,
    fields: Vec<EventField>,
    /// How the log calls it, and what only the program needs.
    event_name: String,
    internal_fields: Vec<EventField>,
}

impl EventDetail {
    /// Tells an event whose row says `summary`.
    pub fn new(event: &Event, words: &str) -> Self {
        let mut told = Vec::new();
        let mut internal = Vec::new();
        let mut below = None;
        for field in flatten_activity(event) {
            let is_below = below.is_some_and(|depth| field.depth > depth);
            let is_own = !is_below && is_internal(&field.name);
            below = if is_below || is_own {
                below.or(Some(field.depth))
            } else {
                None
            };
            match below {
                Some(_) => internal.push(field),
                None => told.push(field),
            }
        }
        // An agent's words are there whole: their first line needs not be said before.
        let begins = |field: &EventField| {
            let first = field.text.lines().find(|line| !line.trim().is_empty());
            first.is_some_and(|first| words.ends_with(&to_one_line(first)))
        };
        let is_whole = matches!(
            event,
            Event::Agent {
                news: AgentActivity::Text { .. },
                ..
            }
        );
        let is_told = is_whole && told.iter().any(begins);
        told.retain(|field| is_whole || !is_in_summary(field, words));
        Self {
            summary: if is_told {
                String::new()
            } else {
                words.to_owned()
            },
            fields: told,
            event_name: fields::event_kind(event),
            internal_fields: internal,
        }
    }

    /// As drawable lines of so many columns.
    pub fn lines(&self, columns: usize) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        for (text, style) in self.styled_lines() {
            if text.is_empty() {
                lines.push(Line::default());
            }
            for line in clean_for_display(&text).lines() {
                let spans = match line.split_once(": ") {
                    Some((name, value)) if style == theme::PLAIN && is_field_name(name) => vec![
                        Span::styled(format!("{name}: "), theme::QUIET),
                        Span::raw(value.to_owned()),
                    ],
                    _ => vec![Span::styled(line.to_owned(), style)],
                };
                lines.extend(wrap_spans(&spans, columns, hanging_indent(line)));
            }
        }
        lines
    }

    /// As one text.
    pub fn to_text(&self) -> String {
        let parts: Vec<String> = self
            .styled_lines()
            .into_iter()
            .map(|(text, _)| text)
            .collect();
        parts.join("\n")
    }

    fn styled_lines(&self) -> Vec<(String, ratatui::style::Style)> {
        let mut parts = Vec::new();
        if !self.summary.is_empty() {
            parts.push((self.summary.clone(), theme::STRONG));
        }
        let is_alone = self.summary.is_empty() && self.fields.len() == 1;
        parts.extend(self.fields.iter().map(|field| {
            if is_alone {
                (field.text.clone(), theme::PLAIN)
            } else {
                (field_line(field, &field_label(&field.name)), theme::PLAIN)
            }
        }));
        parts.push((String::new(), theme::PLAIN));
        parts.push((format!("in the log: {}", self.event_name), theme::QUIET));
        let internal = self.internal_fields.iter();
        parts.extend(internal.map(|field| (field_line(field, &field.name), theme::QUIET)));
        parts
    }
}

/// What an event holds; what an agent did lies no deeper than the rest.
fn flatten_activity(event: &Event) -> Vec<EventField> {
    let mut all = fields::event_fields(event);
    if matches!(event, Event::Agent { .. } | Event::TaskActivity { .. }) {
        all.retain(|field| field.depth > 0 || field.name != "news");
        all.iter_mut()
            .for_each(|field| field.depth = field.depth.saturating_sub(1));
    }
    all
}

fn is_internal(name: &str) -> bool {
    INTERNAL_FIELDS.contains(&name) || name.ends_with("sha256") || name == "plan_now"
}

/// Tells whether the words say it already.
fn is_in_summary(field: &EventField, words: &str) -> bool {
    let text = to_one_line(&field.text);
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let stands = |(at, hit): (usize, &str)| {
        let before = words
            .get(..at)
            .and_then(|before| before.chars().next_back());
        let behind = words
            .get(at + hit.len()..)
            .and_then(|behind| behind.chars().next());
        !before.is_some_and(is_part) && !behind.is_some_and(is_part)
    };
    field.depth == 0 && !text.is_empty() && words.match_indices(text.as_str()).any(stands)
}

/// A name as a reader says it.
fn field_label(name: &str) -> String {
    let odd = FIELD_LABELS.iter().find(|(odd, _)| *odd == name);
    odd.map_or_else(|| name.replace('_', " "), |(_, words)| (*words).to_owned())
}

/// Tells whether what stands before a colon is a name of ours, and not a part of a text.
fn is_field_name(name: &str) -> bool {
    let name = name.trim_start();
    name.len() < 24 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == ' ')
}

/// A field as a line, or as several.
fn field_line(field: &EventField, name: &str) -> String {
    let lead = "  ".repeat(field.depth);
    let text = match field.text.as_str() {
        "true" => "yes",
        "false" => "no",
        text => text,
    };
    match (name, text.contains('\n')) {
        (_, true) => {
            let below: Vec<String> = text.lines().map(|line| format!("{lead}  {line}")).collect();
            format!("{lead}{name}:\n{}", below.join("\n"))
        }
        ("", false) => format!("{lead}{text}"),
        (name, false) => format!("{lead}{name}: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::TurnId;
    use crate::domain::turn::Role;

    fn check(event: &Event, words: &str, wanted: &str) {
        assert_eq!(EventDetail::new(event, words).to_text(), wanted);
    }

    #[test]
    fn an_event_is_told_in_words_and_then_as_the_log_has_it() {
        let news = |news| Event::Agent {
            turn: TurnId::new("trn_10"),
            role: Role::Planner,
            news,
        };
        check(
            &news(AgentActivity::ToolEnded {
                item: "t".to_owned(),
                status: "failed".to_owned(),
                exit_code: Some(1),
                output: "a\nb".to_owned(),
            }),
            "the call ended: failed, exit 1",
            "the call ended: failed, exit 1\noutput:\n  a\n  b\n\nin the log: agent\nturn: trn_10\nrole: planner\nnews: tool_ended\nitem: t",
        );
        check(
            &news(AgentActivity::Text {
                text: "I look.\n\nThen on.".to_owned(),
            }),
            "says: I look.",
            "I look.\n\nThen on.\n\nin the log: agent\nturn: trn_10\nrole: planner\nnews: text",
        );
        check(
            &Event::NoteMade {
                line: 3,
                quote: "1. [ ] a".to_owned(),
                text: "why?".to_owned(),
            },
            "notes on line 3: why?",
            "notes on line 3: why?\nquote: 1. [ ] a\n\nin the log: note.made",
        );
        check(
            &Event::TurnSendConfirmed,
            "releases the turn",
            "releases the turn\n\nin the log: turn.released",
        );
    }
}
