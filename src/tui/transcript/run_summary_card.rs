//! The card at the end of a run: its result and, while the run is open, the keys for what can be done next.
//!
//! The caller provides all texts. The card stays in place when another run starts.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::commit_row::{CommitRow, CommitTitles, commit_lines};
use crate::domain::ids::RunId;
use crate::domain::phase::Phase;
use crate::tui::clickable_keys;
use crate::tui::markdown::style_code;
use crate::tui::text_wrap::{spans_width, text_width, truncate_to_columns, wrap_spans};
use crate::tui::theme::{self, Surface};

const MAX_CARD_COLUMNS: usize = 116;
/// Below this width, one line replaces the card.
const MIN_CARD_COLUMNS: usize = 20;
/// Below this height, one line replaces the card.
const MIN_CARD_ROWS: usize = 5;
/// Between the heading and its facts.
const FACT_GAP: &str = "  ";
/// Between two facts.
const FACT_SEPARATOR: &str = " · ";
/// The bar and the blanks behind it.
const LEAD_COLUMNS: usize = 3;
/// The labels are above each other, and their values below the titles of the commits.
const LABEL_COLUMNS: usize = 12;
/// From this width on, the keys have their long labels.
const MIN_LONG_KEY_COLUMNS: usize = 56;
/// What stays blank at the right end.
const END_COLUMNS: usize = 2;
/// How many rows of the window stay free above it, in a window that is not low.
pub(super) const ROWS_ABOVE_CARD: usize = 3;
/// From this height on, a blank row of the card lies above its heading.
const PADDED_CARD_ROWS: usize = 24;
/// In a window lower than this, the card may take all rows.
pub(super) const LOW_WINDOW_ROWS: usize = 14;
/// The rank of the command that merges the commits.
const MERGE_RANK: u8 = 4;

/// Lines that are kept or dropped together; the highest rank is dropped first.
type RankedLines = (u8, Vec<Line<'static>>);

/// The result of a run; all texts are cleaned for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummaryCard {
    pub run: RunId,
    /// How the run ended: done or cancelled.
    pub phase: Phase,
    /// The goal; the card shows it once another run may be in the header.
    pub title: Option<String>,
    /// What was done and how it was checked, behind the heading.
    pub facts: Vec<RunFact>,
    /// What did not go as planned, a row each.
    pub notes: Vec<RunFact>,
    pub commits: Vec<CommitRow>,
    /// How the review ended, the usage, and so on.
    pub details: Vec<RunDetail>,
    /// How long the run took.
    pub took: Option<String>,
    /// What the user can do next; empty once the run is no longer open.
    pub keys: Vec<RunSummaryKey>,
    /// The command that merges the commits.
    pub merge_command: Option<String>,
    /// The key that copies that command.
    pub copy_key: Option<RunSummaryKey>,
    /// What the run left as it was.
    pub untouched: Option<String>,
    /// Maximum number of rows.
    pub max_rows: usize,
}

/// Something that is so at the end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFact {
    pub text: String,
    /// The text where there is little room.
    pub short_text: String,
    pub style: Style,
}

impl RunFact {
    pub fn new(text: String, style: Style) -> Self {
        Self {
            short_text: text.clone(),
            text,
            style,
        }
    }
}

/// A row with a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDetail {
    pub label: &'static str,
    pub value: String,
    pub style: Style,
}

/// A key and what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummaryKey {
    pub name: String,
    pub label: &'static str,
    /// The label where there is little room.
    pub short_label: &'static str,
    pub weight: KeyWeight,
}

/// How a key stands out among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyWeight {
    /// What most users do next.
    Primary,
    Usual,
    /// It is not worth a row of its own.
    Optional,
}

impl RunSummaryCard {
    /// Returns whether its run is still open.
    pub(super) fn is_current(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Returns the sign and the word of the heading, and the style of both and of the bar.
    fn heading(&self) -> (String, Style) {
        let (sign, style) = match self.phase {
            Phase::Done => ("✓", theme::GOOD),
            _ => ("■", theme::QUIET),
        };
        (format!("{sign} {}", self.phase.label()), style)
    }

    /// Returns the size of its text in bytes.
    pub fn n_bytes(&self) -> usize {
        self.to_text().len()
    }

    /// Returns its text, for the clipboard.
    pub fn to_text(&self) -> String {
        let parts = self.texts().chain(self.merge_command.clone());
        let parts: Vec<String> = parts.chain(self.untouched.clone()).collect();
        parts.join("\n")
    }

    /// Returns its rows as texts, but not how its commits are merged and what it left as it was.
    fn texts(&self) -> impl Iterator<Item = String> + '_ {
        let facts: Vec<&str> = self.facts.iter().map(|fact| fact.text.as_str()).collect();
        let facts = (!facts.is_empty()).then(|| facts.join(FACT_SEPARATOR));
        let notes = self.notes.iter().map(|note| note.text.clone());
        let commits = self.commits.iter().map(CommitRow::to_text);
        let details = self.details.iter();
        let details = details.map(|detail| format!("{}: {}", detail.label, detail.value));
        let took = self.took.iter().map(|took| format!("Duration: {took}"));
        let title = self.title.iter().cloned();
        let head = title.chain(facts).chain(notes);
        head.chain(commits).chain(details).chain(took)
    }

    /// Returns what linear mode prints of it below the heading that says how the run ended: also the commands for what can be done next.
    pub fn linear_lines(&self) -> Vec<String> {
        // How a new goal is typed is said below.
        let is_command = |key: &&RunSummaryKey| key.name.starts_with('/') && key.name != "/write";
        let keys = self.keys.iter().chain(&self.copy_key);
        let keys = keys.filter(is_command);
        let keys = keys.map(|key| format!("{}: {}", key.name, key.label));
        let merge = self
            .merge_command
            .iter()
            .map(|line| format!("Merge: {line}"));
        let text = self.texts().chain(self.untouched.clone());
        text.chain(merge).chain(keys).collect()
    }

    /// Renders the lines that fit.
    pub fn lines(&self, columns: usize) -> Vec<Line<'static>> {
        let (head, style) = self.heading();
        if columns < MIN_CARD_COLUMNS || self.max_rows < MIN_CARD_ROWS {
            let title = self.title.as_deref().unwrap_or_default();
            let text = truncate_to_columns(&format!("{head}: {title}"), columns);
            return vec![Line::styled(text, style)];
        }
        let columns = columns.min(MAX_CARD_COLUMNS);
        let inner = columns - LEAD_COLUMNS - END_COLUMNS;
        // A blank line above it where there is room, a heading, and a blank row of the panel.
        let n_blanks = usize::from(self.max_rows >= LOW_WINDOW_ROWS);
        let n_pad = usize::from(self.max_rows >= PADDED_CARD_ROWS);
        let most = self.max_rows.saturating_sub(2 + n_blanks + n_pad).max(2);
        let mut titles = CommitTitles::Whole;
        let mut parts = self.ranked_lines(inner, titles, CopyPlace::MergeRow);
        if count_lines(&parts) > most {
            // The end of a commit's title is worth less than the command that merges all of them.
            titles = CommitTitles::Cut;
            parts = self.ranked_lines(inner, titles, CopyPlace::MergeRow);
        }
        drop_low_ranks(&mut parts, most);
        if !parts.iter().any(|(rank, _)| *rank == MERGE_RANK) {
            parts = self.ranked_lines(inner, titles, CopyPlace::Button);
            drop_low_ranks(&mut parts, most);
        }
        let lines = parts.into_iter().flat_map(|(_, lines)| lines).take(most);
        let mut panel = vec![Line::default(); n_blanks];
        let pad = vec![Line::default(); n_pad];
        panel.extend(
            pad.into_iter()
                .chain([self.heading_line(inner)])
                .chain(lines)
                .chain([Line::default()])
                .map(|line| panel_line(line, style, columns)),
        );
        panel
    }

    /// Returns whether the duration has room at the right end of the heading.
    fn has_duration_in_heading(&self, columns: usize) -> bool {
        let took = self.took.as_deref().map_or(0, text_width);
        text_width(&self.heading().0) + FACT_GAP.len() + took <= columns
    }

    /// Returns the facts behind the heading, short ones where that takes fewer rows, and how many of them fit there.
    fn fit_facts(&self, columns: usize) -> (Vec<Span<'static>>, usize) {
        let took = self.took.as_ref();
        let took = took.filter(|_| self.has_duration_in_heading(columns));
        let took = took.map_or(0, |took| FACT_GAP.len() + text_width(took));
        let head = text_width(&self.heading().0) + FACT_GAP.len();
        let room = columns.saturating_sub(head + took);
        let long = self.facts.iter().map(|fact| fact.text.as_str());
        let short = self.facts.iter().map(|fact| fact.short_text.as_str());
        let mut texts: Vec<&str> = long.collect();
        let joined = |texts: &[&str]| text_width(&texts.join(FACT_SEPARATOR));
        if joined(&texts) > room {
            texts = short.collect();
        }
        let mut n = texts.len();
        while n > 0 && joined(&texts[..n]) > room {
            n -= 1;
        }
        let styles = self.facts.iter().map(|fact| fact.style);
        let spans = texts.into_iter().zip(styles);
        let spans = spans.map(|(text, style)| Span::styled(text.to_owned(), style));
        (spans.collect(), n)
    }

    /// Renders the heading: how the run ended, as many facts as fit, and how long it took.
    fn heading_line(&self, columns: usize) -> Line<'static> {
        let (head, style) = self.heading();
        let mut spans = vec![Span::styled(head, style.patch(theme::STRONG))];
        let (facts, n) = self.fit_facts(columns);
        if n > 0 {
            spans.push(Span::raw(FACT_GAP));
            spans.extend(separate(facts.into_iter().take(n)));
        }
        let took = self.took.as_ref();
        if let Some(took) = took.filter(|_| self.has_duration_in_heading(columns)) {
            push_right(
                &mut spans,
                Span::styled(took.clone(), theme::QUIET),
                columns,
            );
        }
        Line::from(spans)
    }

    /// Returns its lines below the heading, ranked by what is dropped first in a low window.
    fn ranked_lines(
        &self,
        columns: usize,
        titles: CommitTitles,
        copy: CopyPlace,
    ) -> Vec<RankedLines> {
        let mut parts: Vec<RankedLines> = Vec::new();
        let (facts, n) = self.fit_facts(columns);
        if n < facts.len() {
            let rest: Vec<Span<'static>> = separate(facts.into_iter().skip(n)).collect();
            parts.push((1, wrap_spans(&rest, columns, 0)));
        }
        for note in &self.notes {
            let spans = style_code(&note.text, note.style);
            parts.push((2, wrap_spans(&spans, columns, 2)));
        }
        if !self.commits.is_empty() {
            parts.push((5, vec![Line::default()]));
        }
        let commits = commit_lines(&self.commits, columns, titles).into_iter();
        parts.extend(commits.map(|lines| (3, lines)));
        let details = self.detail_lines(columns);
        if !details.is_empty() {
            parts.push((8, vec![Line::default()]));
        }
        parts.extend(details.into_iter().map(|lines| (7, lines)));
        let mut keys = self.keys.clone();
        let (merge, has_copy) = self.merge_lines(columns);
        if copy == CopyPlace::Button || !has_copy {
            let copy_key = self.copy_key.clone().filter(|_| self.is_current());
            let is_optional = |key: &RunSummaryKey| key.weight == KeyWeight::Optional;
            let at = keys.iter().position(is_optional).unwrap_or(keys.len());
            keys.splice(at..at, copy_key);
        }
        if !merge.is_empty() {
            parts.push((9, vec![Line::default()]));
            parts.push((MERGE_RANK, merge));
        }
        if !keys.is_empty() {
            parts.push((5, vec![Line::default()]));
            parts.push((0, key_rows(&keys, columns)));
        }
        if let Some(untouched) = &self.untouched {
            let text = Span::styled(untouched.clone(), theme::QUIET);
            parts.push((9, vec![Line::default()]));
            parts.push((8, wrap_spans(&[text], columns, 0)));
        }
        parts
    }

    /// Renders the rows with a label.
    fn detail_lines(&self, columns: usize) -> Vec<Vec<Line<'static>>> {
        let detail = |label, value: &String| RunDetail {
            label,
            value: value.clone(),
            style: theme::PLAIN,
        };
        let goal = self.title.iter().filter(|_| !self.is_current());
        let goal = goal.map(|title| detail("Goal", title));
        let took = self.took.iter();
        let took = took.filter(|_| !self.has_duration_in_heading(columns));
        let took = took.map(|took| detail("Duration", took));
        let all = goal.chain(self.details.iter().cloned()).chain(took);
        let lines = all.map(|detail| {
            let mut spans = vec![label_span(detail.label)];
            spans.extend(
                style_code(&detail.value, detail.style)
                    .into_iter()
                    .map(|span| Span::styled(span.content.into_owned(), span.style)),
            );
            wrap_spans(&spans, columns, LABEL_COLUMNS)
        });
        lines.collect()
    }

    /// Renders the command that merges the commits in full, so that it can be copied, with the key for that at the right
    /// where it costs no row; says whether the key is there.
    fn merge_lines(&self, columns: usize) -> (Vec<Line<'static>>, bool) {
        let Some(command) = &self.merge_command else {
            return (Vec::new(), false);
        };
        let spans = [
            label_span("Merge it"),
            Span::styled(command.clone(), theme::CODE),
        ];
        let mut whole = wrap_spans(&spans, columns, LABEL_COLUMNS);
        let Some(key) = self.copy_key.as_ref().filter(|_| self.is_current()) else {
            return (whole, false);
        };
        let hint = [
            Span::styled(key.name.clone(), clickable_keys::mark_hint(theme::KEY)),
            Span::styled(" copy", clickable_keys::mark_hint(theme::QUIET)),
        ];
        let n_hint = spans_width(&hint) + FACT_GAP.len();
        let Some(last) = whole
            .last_mut()
            .filter(|last| last.width() + n_hint <= columns)
        else {
            return (whole, false);
        };
        let gap = columns - last.width() - spans_width(&hint);
        last.spans.push(Span::raw(" ".repeat(gap)));
        last.spans.extend(hint);
        (whole, true)
    }
}

/// Where the key that copies the merge command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CopyPlace {
    MergeRow,
    /// Among the other keys, because the command itself has no room.
    Button,
}

fn label_span(label: &str) -> Span<'static> {
    Span::styled(format!("{label:<LABEL_COLUMNS$}"), theme::QUIET)
}

/// Puts a separator between facts.
fn separate(facts: impl Iterator<Item = Span<'static>>) -> impl Iterator<Item = Span<'static>> {
    facts.enumerate().flat_map(|(n, fact)| {
        let separator = (n > 0).then(|| Span::styled(FACT_SEPARATOR, theme::QUIET));
        separator.into_iter().chain([fact])
    })
}

/// Adds a span at the right end of a row.
fn push_right(spans: &mut Vec<Span<'static>>, span: Span<'static>, columns: usize) {
    let gap = columns.saturating_sub(spans_width(spans) + span.width());
    spans.push(Span::raw(" ".repeat(gap)));
    spans.push(span);
}

/// Puts a line on the card's ground, behind its bar.
fn panel_line(line: Line<'static>, style: Style, columns: usize) -> Line<'static> {
    let pad = columns.saturating_sub(LEAD_COLUMNS + line.width());
    let mut spans = vec![Span::styled("▌", style), Span::raw("  ")];
    spans.extend(line.spans.into_iter().map(|span| Span {
        style: line.style.patch(span.style),
        ..span
    }));
    spans.push(Span::raw(" ".repeat(pad)));
    Line::from(spans).style(Surface::Raised.style())
}

fn count_lines(parts: &[RankedLines]) -> usize {
    parts.iter().map(|(_, lines)| lines.len()).sum()
}

/// Drops lines until the rest fits; rank 0 is always kept.
fn drop_low_ranks(parts: &mut Vec<RankedLines>, most: usize) {
    while count_lines(parts) > most {
        let ranks = parts.iter().map(|(rank, _)| *rank);
        let Some(rank) = ranks.max().filter(|rank| *rank > 0) else {
            return;
        };
        // Among lines of the same rank, the last one matters least.
        let at = parts.iter().rposition(|(of, _)| *of == rank);
        at.map(|at| parts.remove(at));
    }
}

/// Renders keys and labels as buttons, as many per row as fit.
fn key_rows(keys: &[RunSummaryKey], columns: usize) -> Vec<Line<'static>> {
    let mut rows: Vec<Vec<Span<'static>>> = vec![Vec::new()];
    let mut used = 0;
    for key in keys {
        let does = if columns >= MIN_LONG_KEY_COLUMNS {
            format!("{}  ", key.label)
        } else {
            format!("{} ", key.short_label)
        };
        let needed = text_width(&key.name) + text_width(&does) + 4;
        if used > 0 && used + needed > columns {
            if key.weight == KeyWeight::Optional {
                continue;
            }
            rows.push(Vec::new());
            used = 0;
        }
        used += needed;
        let (button, key_style) = match key.weight {
            KeyWeight::Primary => (theme::SUGGESTED, theme::STRONG),
            KeyWeight::Usual | KeyWeight::Optional => (Surface::Button.style(), theme::KEY),
        };
        if let Some(row) = rows.last_mut() {
            let mark = |style| clickable_keys::mark_hint(button.patch(style));
            row.push(Span::styled(" ", button));
            row.push(Span::styled(does, mark(theme::PLAIN)));
            row.push(Span::styled(key.name.clone(), mark(key_style)));
            row.push(Span::styled(" ", button));
            row.push(Span::raw("  "));
        }
    }
    rows.into_iter().map(Line::from).collect()
}
