//! The details of one event of the Log tab, in readable form; the event's name in the log comes last.
//!
//! Only fields that the summary already contains are left out.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::event::fields::{self, EventField};
use crate::domain::event::{AgentActivity, Event};
use crate::tui::markdown::hanging_indent;
use crate::tui::text_wrap::{clean_for_display, to_one_line, wrap_spans};
use crate::tui::theme;

/// Fields that the program needs but a reader does not.
const INTERNAL_FIELDS: &[&str] = &[
    "base",
    "detail",
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
        for row in self.rows() {
            // They are cleaned together: the redactor knows some secrets by their names.
            let text = clean_for_display(&format!("{}{}", row.name, row.text));
            for (n, line) in text.trim_end_matches('\n').split('\n').enumerate() {
                let (lead, value) = match line.strip_prefix(&row.name) {
                    Some(value) if n == 0 => (row.name.as_str(), value),
                    _ => ("", line),
                };
                let spans = [
                    Span::styled(lead.to_owned(), theme::QUIET),
                    Span::styled(value.to_owned(), row.style),
                ];
                lines.extend(wrap_spans(&spans, columns, hanging_indent(line)));
            }
        }
        lines
    }

    /// Returns the details as plain text.
    pub fn to_text(&self) -> String {
        let rows = self.rows();
        let rows: Vec<String> = rows
            .iter()
            .map(|row| format!("{}{}", row.name, row.text))
            .collect();
        rows.join("\n")
    }

    fn rows(&self) -> Vec<DetailRow> {
        let mut rows = Vec::new();
        if !self.summary.is_empty() {
            rows.push(DetailRow::text(&self.summary, theme::STRONG));
        }
        let is_alone = self.summary.is_empty() && self.fields.len() == 1;
        rows.extend(self.fields.iter().map(|field| {
            if is_alone {
                DetailRow::text(&field.text, theme::PLAIN)
            } else {
                DetailRow::from_field(field, &field_label(&field.name), theme::PLAIN)
            }
        }));
        rows.push(DetailRow::text("", theme::PLAIN));
        let kind = format!("in the log: {}", self.event_name);
        rows.push(DetailRow::text(&kind, theme::QUIET));
        let internal = self.internal_fields.iter();
        rows.extend(internal.map(|field| DetailRow::from_field(field, &field.name, theme::QUIET)));
        rows
    }
}

/// A part of the details: a text behind the name of its field.
struct DetailRow {
    /// With the indent, the colon and the space; empty where the text has no name.
    name: String,
    /// May be several lines.
    text: String,
    style: Style,
}

impl DetailRow {
    fn text(text: &str, style: Style) -> Self {
        let (name, text) = (String::new(), text.to_owned());
        Self { name, text, style }
    }

    /// Puts a text of several lines below the name.
    fn from_field(field: &EventField, name: &str, style: Style) -> Self {
        let lead = "  ".repeat(field.depth);
        let text = match field.text.as_str() {
            "true" => "yes",
            "false" => "no",
            text => text,
        };
        if text.contains('\n') {
            let below = text.lines().map(|line| format!("\n{lead}  {line}"));
            let (name, text) = (format!("{lead}{name}:"), below.collect());
            return Self { name, text, style };
        }
        let name = match name {
            "" => lead,
            name => format!("{lead}{name}: "),
        };
        let text = text.to_owned();
        Self { name, text, style }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::{CommandAccess, ToolCallDetail, ToolKind, ToolStatus};
    use crate::domain::ids::TurnId;
    use crate::domain::plan_thread::UserNote;
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
            &news(AgentActivity::ToolStarted {
                item: "t".to_owned(),
                tool: ToolKind::Command,
                title: "ls".to_owned(),
                detail: Some(ToolCallDetail::Command(CommandAccess::ReadOnly)),
            }),
            "calls $ ls",
            "calls $ ls\ntool: command\n\nin the log: agent\nturn: trn_10\nrole: planner\nnews: tool_started\n\
            item: t\ndetail: \n  command: read_only",
        );
        check(
            &news(AgentActivity::Text {
                text: "I look.\n\nThen on.".to_owned(),
            }),
            "says: I look.",
            "I look.\n\nThen on.\n\nin the log: agent\nturn: trn_10\nrole: planner\nnews: text",
        );
        check(
            &Event::NoteMade(UserNote {
                line: 3,
                quote: "1. [ ] a".to_owned(),
                text: "why?".to_owned(),
                ..UserNote::default()
            }),
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
