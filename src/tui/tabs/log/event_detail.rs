//! The details of one event of the Log tab, in readable form; the event's name in the log comes last.
//!
//! Only fields that the summary already contains are left out.

use ratatui::text::{Line, Span};

use crate::domain::event::fields::{self, EventField};
use crate::domain::event::{AgentActivity, Event};
use crate::tui::markdown::hanging_indent;
use crate::tui::text_wrap::{clean_for_display, to_one_line, wrap_spans};
use crate::tui::theme;

/// Fields that the program needs but a reader does not.
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
/// Labels for field names that are unclear by themselves.
const FIELD_LABELS: &[(&str, &str)] = &[
    ("n", "number"),
    ("at", "when"),
    ("by", "answered by"),
    ("exit_code", "exit code"),
    ("what", "what failed"),
];

/// The details of an event.
#[derive(Debug)]
pub struct EventDetail {
    /// The full text of its row; empty if the fields contain it.
    summary: String,
    fields: Vec<EventField>,
    /// The event's name in the log; it is shown last, with the internal fields.
    event_name: String,
    internal_fields: Vec<EventField>,
}

impl EventDetail {
    /// Collects the details of an event whose row shows the summary `words`.
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
        // An agent's text is shown in full, so a summary that is its first line is dropped.
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

    /// Lays the details out in lines of so many columns.
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

    /// Returns the details as plain text.
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

/// Returns the fields of an event, with an agent's activity at the same depth as the others.
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

/// Returns whether the summary already contains the field.
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

/// Returns the readable label of a field name.
fn field_label(name: &str) -> String {
    let odd = FIELD_LABELS.iter().find(|(odd, _)| *odd == name);
    odd.map_or_else(|| name.replace('_', " "), |(_, words)| (*words).to_owned())
}

/// Returns whether the text before a colon is a field name and not part of a value.
fn is_field_name(name: &str) -> bool {
    let name = name.trim_start();
    name.len() < 24 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == ' ')
}

/// Renders a field as one line or several.
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
    use crate::domain::event::ToolStatus;
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
                status: ToolStatus::Failed,
                exit_code: Some(1),
                output: "a\nb".to_owned(),
            }),
            "The call ended: failed, exit 1",
            "The call ended: failed, exit 1\noutput:\n  a\n  b\n\nin the log: agent\nturn: trn_10\nrole: \
            planner\nnews: tool_ended\nitem: t",
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
            "Sent the turn",
            "Sent the turn\n\nin the log: turn.released",
        );
    }
}
