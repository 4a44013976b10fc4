//! What one participant did in one round, in a cell of the board: where it stands first, then as much of what
//! it said as there are rows.
//!
//! Lays out no more of a long text than can be seen.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::words::{self, NO_STANCE};
use crate::domain::discussion::{DiscussionSpeech, ParticipantStance, ProposalAttitude};
use crate::domain::ids::UnixMillis;
use crate::tui::markdown;
use crate::tui::theme;
use crate::tui::words::elapsed;
use crate::tui::wrap::{cut, one_line, width, wrap};

/// What a participant did in a round.
#[derive(Debug, Clone, Copy)]
pub enum Entry<'a> {
    /// Nothing, and the round is over.
    Silent,
    /// Nothing yet.
    ToCome,
    /// It waits for a place among those that may run.
    Waits {
        /// Since when.
        since: UnixMillis,
    },
    /// It speaks.
    Speaks {
        /// Since when.
        since: UnixMillis,
        /// What came so far, drawable.
        text: &'a str,
    },
    /// It spoke, or could not.
    Spoke {
        /// What came of it.
        speech: &'a DiscussionSpeech,
        /// Where it stood a round before.
        before: Option<&'a ParticipantStance>,
        /// Why it stands where it stood all the same, where its move does not count.
        refused: Option<&'a str>,
    },
}

/// How much of an entry is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Where the speaker stands.
    Brief,
    /// What it says as well.
    Open,
}

/// The rows of a cell in brief: the stance, the proposal, what blocks.
const BRIEF: usize = 3;

/// At most `rows` lines of an entry.
pub fn lines(
    entry: Entry<'_>,
    (columns, rows): (usize, usize),
    form: Form,
    now: UnixMillis,
) -> Vec<Line<'static>> {
    let rows = match form {
        Form::Brief => rows.min(BRIEF),
        Form::Open => rows,
    };
    let mut lines = match entry {
        Entry::Silent => vec![quiet("· did not speak", columns)],
        Entry::ToCome => vec![quiet("· to come", columns)],
        Entry::Waits { since } => {
            let text = format!("· waits for a place {}", elapsed(since, now));
            vec![quiet(&text, columns)]
        }
        Entry::Speaks { since, text } => speaks(since, text, (columns, rows), now),
        Entry::Spoke {
            speech,
            before,
            refused,
        } => match &speech.error {
            Some(error) => {
                let head = cut(&format!("! {}", error.code.label()), columns);
                let mut lines = vec![Line::styled(head, theme::BAD.patch(theme::STRONG))];
                lines.extend(some(&error.message, columns, rows, theme::PLAIN));
                lines
            }
            None => spoke(speech, (before, refused), (columns, rows), form),
        },
    };
    cut_rows(&mut lines, columns, rows);
    lines
}

fn quiet(text: &str, columns: usize) -> Line<'static> {
    Line::styled(cut(text, columns), theme::QUIET)
}

/// What comes now: its end is seen.
fn speaks(
    since: UnixMillis,
    text: &str,
    (columns, rows): (usize, usize),
    now: UnixMillis,
) -> Vec<Line<'static>> {
    let head = format!("◌ speaks {}", elapsed(since, now));
    let mut lines = vec![Line::styled(cut(&head, columns), theme::KEY)];
    let room = rows.saturating_sub(1);
    let end = end_of(text, columns.saturating_mul(room + 1).saturating_mul(4));
    let told: Vec<Line<'static>> = end
        .lines()
        .flat_map(|line| wrap(&[Span::styled(line, theme::PROVISIONAL)], columns, 0))
        .collect();
    let over = told.len().saturating_sub(room);
    lines.extend(told.into_iter().skip(over));
    lines
}

/// The end of a text, of about so many bytes, from the beginning of a line on where there is one.
fn end_of(text: &str, bytes: usize) -> &str {
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

fn spoke(
    speech: &DiscussionSpeech,
    (before, refused): (Option<&ParticipantStance>, Option<&str>),
    (columns, rows): (usize, usize),
    form: Form,
) -> Vec<Line<'static>> {
    let mut lines = vec![head(speech.stance.as_ref(), before, columns)];
    let most = match form {
        Form::Brief => 1,
        Form::Open => 3,
    };
    if let Some(why) = refused {
        let text = format!("the move does not count: {why}");
        lines.extend(led("⊘ ", &text, (columns, most), theme::BAD));
    }
    match &speech.stance {
        Some(stance) => lines.extend(of_stance(stance, columns, most)),
        None => {
            let why = speech.no_stance.as_deref().unwrap_or("it named none");
            lines.extend(led("", why, (columns, most), theme::QUIET));
        }
    }
    if form == Form::Open && lines.len() + 1 < rows {
        lines.push(Line::default());
        lines.extend(text_of(speech, columns, rows.saturating_sub(lines.len())));
    }
    lines
}

/// The beginning of what was said; one line more than `rows` where there is more.
fn text_of(speech: &DiscussionSpeech, columns: usize, rows: usize) -> Vec<Line<'static>> {
    let seen = beginning(&speech.text, columns, rows + 1);
    let mut lines = markdown::lay_out(&crate::tui::wrap::shown(seen), columns, theme::PLAIN);
    if seen.len() < speech.text.len() && lines.len() <= rows {
        lines.resize(rows + 1, Line::default());
    }
    lines
}

/// The stance: sign, word, and how sure.
pub fn head(
    stance: Option<&ParticipantStance>,
    before: Option<&ParticipantStance>,
    columns: usize,
) -> Line<'static> {
    let Some(stance) = stance else {
        let (sign, word, style) = NO_STANCE;
        return Line::styled(cut(&format!("{sign} {word}"), columns), style);
    };
    let (sign, word, style) = words::attitude(stance.stance);
    let bar = words::how_sure(stance.confidence, style);
    let style = style.patch(theme::STRONG);
    let before = before.filter(|before| before.stance != stance.stance);
    let before = before.map_or(String::new(), |before| {
        format!("{}→", words::attitude(before.stance).0)
    });
    let word = format!("{before}{sign} {word}");
    let taken: usize = bar.iter().map(|span| width(&span.content)).sum();
    if width(&word) + taken < columns {
        let mut spans = vec![Span::styled(format!("{word} "), style)];
        spans.extend(bar);
        return Line::from(spans);
    }
    // The sign and the number stay where the word and the bar give way.
    let number = stance
        .confidence
        .map_or(String::new(), |sure| format!(" {sure}"));
    let word = cut(&word, columns.saturating_sub(width(&number)));
    Line::from(vec![Span::styled(word, style), Span::raw(number)])
}

/// What it stands for, why it moved, and what blocks; each in at most so many lines.
pub fn of_stance(stance: &ParticipantStance, columns: usize, most: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if let Some((sign, proposal)) = words::stands_for(stance).filter(|(_, text)| !text.is_empty()) {
        lines.extend(led(sign, proposal, (columns, most), theme::STRONG));
    }
    if most > 1 && stance.stance == ProposalAttitude::Disagree && stance.instead.is_some() {
        lines.extend(led("not ", &stance.proposal, (columns, 1), theme::PLAIN));
    }
    for blocking in &stance.blocking {
        lines.extend(led("! ", blocking, (columns, most), theme::BAD));
    }
    if let Some(why) = &stance.why_changed {
        let text = format!("moved: {why}");
        lines.extend(led("↺ ", &text, (columns, most), theme::PLAIN));
    }
    lines
}

/// A text behind a sign, in at most so many lines.
pub fn led(
    sign: &str,
    text: &str,
    (columns, most): (usize, usize),
    style: Style,
) -> Vec<Line<'static>> {
    let text = format!("{sign}{}", one_line(beginning(text, columns, most + 1)));
    if most <= 1 {
        return vec![Line::styled(cut(&text, columns), style)];
    }
    let mut lines = wrap(&[Span::styled(text, style)], columns, width(sign));
    cut_rows(&mut lines, columns, most);
    lines
}

/// The first lines of a plain text.
fn some(text: &str, columns: usize, rows: usize, style: Style) -> Vec<Line<'static>> {
    led("", text, (columns, rows.max(2)), style)
}

/// As much of a text as can fill so many rows.
pub fn beginning(text: &str, columns: usize, rows: usize) -> &str {
    // A column holds a grapheme of a few bytes; more is not looked at.
    let most = columns.saturating_mul(rows).saturating_mul(4);
    let mut to = most.min(text.len());
    while !text.is_char_boundary(to) {
        to += 1;
    }
    text.get(..to).unwrap_or(text)
}

/// Keeps so many lines; the last one says that there is more where there is.
pub fn cut_rows(lines: &mut Vec<Line<'static>>, columns: usize, rows: usize) {
    if lines.len() <= rows {
        return;
    }
    lines.truncate(rows);
    if let Some(last) = lines.last_mut() {
        let style = last.spans.first().map_or(theme::PLAIN, |span| span.style);
        let text = last.to_string();
        let text = cut(text.trim_end(), columns.saturating_sub(2));
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
