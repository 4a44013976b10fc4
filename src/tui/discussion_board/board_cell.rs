//! A cell of the board: what one participant did in one round. The stance comes first, then as much of the
//! message as there are rows.
//!
//! Lays out only as much of a long text as can be visible.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::discussion_labels::{self, NO_STANCE};
use crate::domain::discussion::{DiscussionSpeech, ParticipantStance, ProposalAttitude};
use crate::domain::ids::UnixMillis;
use crate::tui::labels::format_elapsed;
use crate::tui::markdown;
use crate::tui::text_wrap::{text_width, to_one_line, truncate_to_columns, wrap_spans};
use crate::tui::theme;

/// What a participant did in a round.
#[derive(Debug, Clone, Copy)]
pub enum BoardCellContent<'a> {
    /// Did not speak, and the round is over.
    Silent,
    /// Has not spoken yet.
    Pending,
    /// Waits for a free slot among the sessions that may run.
    Waiting {
        /// When the participant started to wait.
        since: UnixMillis,
    },
    Speaking {
        since: UnixMillis,
        /// Text received so far, cleaned for display.
        text: &'a str,
    },
    /// Spoke, or failed to.
    Finished {
        speech: &'a DiscussionSpeech,
        /// The stance of the previous round.
        before: Option<&'a ParticipantStance>,
        /// Why the stance change does not count, if it does not.
        refused: Option<&'a str>,
    },
}

/// How much of a cell is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoardCellDetail {
    /// Only the stance.
    Brief,
    /// The stance and the message.
    Full,
}

/// Rows of a brief cell: the stance, the proposal, the blocker.
const MAX_BRIEF_ROWS: usize = 3;

/// Lays out a cell in at most `rows` lines.
pub fn cell_lines(
    entry: BoardCellContent<'_>,
    columns: usize,
    rows: usize,
    form: BoardCellDetail,
    now: UnixMillis,
) -> Vec<Line<'static>> {
    let rows = match form {
        BoardCellDetail::Brief => rows.min(MAX_BRIEF_ROWS),
        BoardCellDetail::Full => rows,
    };
    let mut lines = match entry {
        BoardCellContent::Silent => vec![quiet_line("· did not answer", columns)],
        BoardCellContent::Pending => vec![quiet_line("· pending", columns)],
        BoardCellContent::Waiting { since } => {
            let text = format!("· waiting for a free slot {}", format_elapsed(since, now));
            vec![quiet_line(&text, columns)]
        }
        BoardCellContent::Speaking { since, text } => {
            speaking_lines(since, text, columns, rows, now)
        }
        BoardCellContent::Finished {
            speech,
            before,
            refused,
        } => match &speech.error {
            Some(error) => {
                let head = truncate_to_columns(&format!("! {}", error.code.label()), columns);
                let mut lines = vec![Line::styled(head, theme::BAD.patch(theme::STRONG))];
                lines.extend(first_lines(&error.message, columns, rows, theme::PLAIN));
                lines
            }
            None => speech_lines(speech, before, refused, columns, rows, form),
        },
    };
    truncate_rows(&mut lines, columns, rows);
    lines
}

fn quiet_line(text: &str, columns: usize) -> Line<'static> {
    Line::styled(truncate_to_columns(text, columns), theme::QUIET)
}

/// Renders text that is being received; its end is visible.
fn speaking_lines(
    since: UnixMillis,
    text: &str,
    columns: usize,
    rows: usize,
    now: UnixMillis,
) -> Vec<Line<'static>> {
    let head = format!("◐ answering {}", format_elapsed(since, now));
    let mut lines = vec![Line::styled(
        truncate_to_columns(&head, columns),
        theme::ACCENT,
    )];
    let room = rows.saturating_sub(1);
    let end = text_tail(text, columns.saturating_mul(room + 1).saturating_mul(4));
    let told = markdown::lay_out(end, columns, theme::PROVISIONAL);
    let over = told.len().saturating_sub(room);
    lines.extend(told.into_iter().skip(over));
    lines
}

/// Returns about the last `bytes` bytes of a text, from the start of a line on if there is one.
fn text_tail(text: &str, bytes: usize) -> &str {
    let mut from = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let end = text.get(from..).unwrap_or_default();
    match end.split_once('\n') {
        Some((_, rest)) if from > 0 && !rest.is_empty() => rest,
        _ => end,
    }
}

fn speech_lines(
    speech: &DiscussionSpeech,
    before: Option<&ParticipantStance>,
    refused: Option<&str>,
    columns: usize,
    rows: usize,
    form: BoardCellDetail,
) -> Vec<Line<'static>> {
    let mut lines = vec![stance_line(speech.stance.as_ref(), before, columns)];
    let most = match form {
        BoardCellDetail::Brief => 1,
        BoardCellDetail::Full => 3,
    };
    if let Some(why) = refused {
        let text = format!("the change does not count: {why}");
        lines.extend(signed_lines("⊘ ", &text, columns, most, theme::BAD));
    }
    match &speech.stance {
        Some(stance) => lines.extend(stance_detail_lines(stance, columns, most)),
        None => {
            let why = speech.no_stance.as_deref().unwrap_or("no reason given");
            lines.extend(signed_lines("", why, columns, most, theme::QUIET));
        }
    }
    if form == BoardCellDetail::Full && lines.len() + 1 < rows {
        lines.push(Line::default());
        lines.extend(speech_text_lines(
            speech,
            columns,
            rows.saturating_sub(lines.len()),
        ));
    }
    lines
}

/// Returns the start of a message; one line more than `rows` if there is more.
fn speech_text_lines(speech: &DiscussionSpeech, columns: usize, rows: usize) -> Vec<Line<'static>> {
    let seen = text_head(&speech.text, columns, rows + 1);
    let mut lines = markdown::lay_out(
        &crate::tui::text_wrap::clean_for_display(seen),
        columns,
        theme::PLAIN,
    );
    if seen.len() < speech.text.len() && lines.len() <= rows {
        lines.resize(rows + 1, Line::default());
    }
    lines
}

/// Renders the stance: sign, word, confidence.
pub fn stance_line(
    stance: Option<&ParticipantStance>,
    before: Option<&ParticipantStance>,
    columns: usize,
) -> Line<'static> {
    let Some(stance) = stance else {
        let (sign, word, style) = NO_STANCE;
        return Line::styled(
            truncate_to_columns(&format!("{sign} {word}"), columns),
            style,
        );
    };
    let (sign, word, style) = discussion_labels::attitude_label(stance.stance);
    let bar = discussion_labels::confidence_spans(stance.confidence, style);
    let style = style.patch(theme::STRONG);
    let before = before.filter(|before| before.stance != stance.stance);
    let before = before.map_or(String::new(), |before| {
        format!("{}→", discussion_labels::attitude_label(before.stance).0)
    });
    let word = format!("{before}{sign} {word}");
    let taken: usize = bar.iter().map(|span| text_width(&span.content)).sum();
    if text_width(&word) + taken < columns {
        let mut spans = vec![Span::styled(format!("{word} "), style)];
        spans.extend(bar);
        return Line::from(spans);
    }
    // The sign and the number stay; the word is cut and the bar dropped first.
    let number = stance
        .confidence
        .map_or(String::new(), |sure| format!(" {sure}"));
    let word = truncate_to_columns(&word, columns.saturating_sub(text_width(&number)));
    Line::from(vec![Span::styled(word, style), Span::raw(number)])
}

/// Renders the proposal, the reason for a stance change and the blocker, each in at most `most` lines.
pub fn stance_detail_lines(
    stance: &ParticipantStance,
    columns: usize,
    most: usize,
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if let Some((sign, proposal)) =
        discussion_labels::stance_position(stance).filter(|(_, text)| !text.is_empty())
    {
        lines.extend(signed_lines(sign, proposal, columns, most, theme::STRONG));
    }
    if most > 1 && stance.stance == ProposalAttitude::Disagree && stance.instead.is_some() {
        lines.extend(signed_lines(
            "not ",
            &stance.proposal,
            columns,
            1,
            theme::PLAIN,
        ));
    }
    for blocking in &stance.blocking {
        lines.extend(signed_lines("! ", blocking, columns, most, theme::BAD));
    }
    if let Some(why) = &stance.why_changed {
        let text = format!("changed: {why}");
        lines.extend(signed_lines("↺ ", &text, columns, most, theme::PLAIN));
    }
    lines
}

/// Renders a text behind a sign in at most so many lines.
pub fn signed_lines(
    sign: &str,
    text: &str,
    columns: usize,
    most: usize,
    style: Style,
) -> Vec<Line<'static>> {
    let text = format!("{sign}{}", to_one_line(text_head(text, columns, most + 1)));
    if most <= 1 {
        return vec![Line::styled(truncate_to_columns(&text, columns), style)];
    }
    let mut lines = wrap_spans(&[Span::styled(text, style)], columns, text_width(sign));
    truncate_rows(&mut lines, columns, most);
    lines
}

/// Returns the first lines of a plain text.
fn first_lines(text: &str, columns: usize, rows: usize, style: Style) -> Vec<Line<'static>> {
    signed_lines("", text, columns, rows.max(2), style)
}

/// Returns as much of a text as can fill so many rows.
pub fn text_head(text: &str, columns: usize, rows: usize) -> &str {
    // A grapheme has a few bytes: four bytes per column are enough to fill the rows.
    let most = columns.saturating_mul(rows).saturating_mul(4);
    let mut to = most.min(text.len());
    while !text.is_char_boundary(to) {
        to += 1;
    }
    text.get(..to).unwrap_or(text)
}

/// Keeps so many lines; the last one is marked if there were more.
pub fn truncate_rows(lines: &mut Vec<Line<'static>>, columns: usize, rows: usize) {
    if lines.len() <= rows {
        return;
    }
    lines.truncate(rows);
    if let Some(last) = lines.last_mut() {
        let style = last.spans.first().map_or(theme::PLAIN, |span| span.style);
        let text = last.to_string();
        let text = truncate_to_columns(text.trim_end(), columns.saturating_sub(2));
        let more = match text.as_str() {
            "" => "…",
            cut if cut.ends_with('…') => "",
            _ => " …",
        };
        *last = Line::from(vec![
            Span::styled(text, style),
            Span::styled(more, theme::QUIET),
        ]);
    }
}
