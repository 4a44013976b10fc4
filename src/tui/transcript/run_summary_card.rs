//! The card at the end of a run: its result and, while the run is open, the keys for what can be done next.
//!
//! The caller provides all texts. The card stays in place when another run starts.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::ids::RunId;
use crate::domain::phase::Phase;
use crate::domain::plan_execution::CommitSize;
use crate::text::pluralize;
use crate::tui::clickable_keys;
use crate::tui::markdown::style_code;
use crate::tui::text_wrap::{text_width, truncate_to_columns, wrap_spans, wrap_spans_to_rows};
use crate::tui::theme::{self, Surface};

const MAX_CARD_COLUMNS: usize = 116;
/// Below this width, one line replaces the card.
const MIN_CARD_COLUMNS: usize = 20;
/// Below this height, one line replaces the card.
const MIN_CARD_ROWS: usize = 5;
/// What stands before a result that is good.
const GOOD_SIGN: &str = "✓ ";
/// Between the heading and the goal's title.
const TITLE_GAP: &str = "  ";
/// The bar and the blanks behind it.
const LEAD_COLUMNS: usize = 3;
/// The number, the commit and the beginning of its title, before the proof.
const MIN_TITLE_COLUMNS: usize = 24;
/// From this width on, the keys have their long labels.
const MIN_LONG_KEY_COLUMNS: usize = 56;
/// What stays blank at the right end.
const END_COLUMNS: usize = 2;
/// The blanks before each number of a commit's size.
const SIZE_GAP: usize = 2;
/// The sizes of commits are shown where this many columns remain for the text.
const MIN_TEXT_COLUMNS: usize = 40;
/// How many rows of the window stay free above it, in a window that is not low.
pub(super) const ROWS_ABOVE_CARD: usize = 3;
/// From this height on, a blank row of the card lies above its heading.
const PADDED_CARD_ROWS: usize = 24;
/// In a window lower than this, the card may take all rows.
pub(super) const LOW_WINDOW_ROWS: usize = 14;

/// Lines that are kept or dropped together; the highest rank is dropped first.
type RankedLines = (u8, Vec<Line<'static>>);

/// The result of a run; all texts are cleaned for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummaryCard {
    pub run: RunId,
    /// How the run ended: done or cancelled.
    pub phase: Phase,
    pub title: Option<String>,
    /// What was done and how it was checked.
    pub results: Vec<RunResultRow>,
    /// How the review ended, and the usage.
    pub counts: String,
    /// How long the run took.
    pub took: Option<String>,
    /// What the user can do next; empty once the run is no longer open.
    pub keys: Vec<RunSummaryKey>,
    /// The command that merges the commits.
    pub merge_command: Option<String>,
    /// What the run left as it was.
    pub untouched: Option<String>,
    /// Maximum number of rows.
    pub max_rows: usize,
}

/// A row of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunResultRow {
    pub text: String,
    pub style: Style,
    /// What was seen of its proof, behind the text, which is cut before it.
    pub proof: Option<String>,
    /// What its commit changes, at the right end of the row.
    pub size: Option<CommitSize>,
}

impl RunResultRow {
    /// Creates a row that is not about a commit.
    pub fn plain(text: String, style: Style) -> Self {
        Self {
            text,
            style,
            proof: None,
            size: None,
        }
    }

    /// Returns its text with the proof, for the clipboard.
    fn whole_text(&self) -> String {
        match &self.proof {
            Some(proof) => format!("{} · {proof}", self.text),
            None => self.text.clone(),
        }
    }

    /// Renders it without its size.
    fn lines(&self, columns: usize, titles: CommitTitles) -> Vec<Line<'static>> {
        // Where all is well, the sign says so, and the text is as any other.
        let (sign, rest, rest_style) = match self.text.strip_prefix(GOOD_SIGN) {
            Some(rest) => (GOOD_SIGN, rest, theme::PLAIN),
            None => ("", self.text.as_str(), self.style),
        };
        let proof = self.proof.as_ref().map(|proof| format!(" · {proof}"));
        let n_proof = proof.as_deref().map_or(0, text_width);
        let rest = match titles {
            CommitTitles::Cut if proof.is_some() => {
                truncate_to_columns(rest, columns.saturating_sub(n_proof).max(MIN_TITLE_COLUMNS))
            }
            CommitTitles::Cut | CommitTitles::Whole => rest.to_owned(),
        };
        let mut spans = vec![Span::styled(sign, self.style)];
        spans.extend(style_code(&rest, rest_style));
        let proof_style = match self.style {
            style if style == theme::PLAIN => theme::QUIET,
            style => style,
        };
        spans.extend(proof.map(|proof| Span::styled(proof, proof_style)));
        match titles {
            CommitTitles::Cut if self.size.is_some() => wrap_spans_to_rows(&spans, columns, 2, 1),
            CommitTitles::Cut | CommitTitles::Whole => wrap_spans(&spans, columns, 2),
        }
    }
}

/// Whether the rows of commits take more than a row each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommitTitles {
    Whole,
    /// A title that takes more than its row is cut.
    Cut,
}

/// A key and what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummaryKey {
    pub name: String,
    pub label: &'static str,
    /// The label where there is little room.
    pub short_label: &'static str,
    /// Whether it is not worth a row of its own.
    pub is_optional: bool,
}

impl RunSummaryCard {
    /// Returns whether its run is still open.
    pub(super) fn is_current(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Returns the heading, and the style of it and of the bar.
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
        let results = self.results.iter().map(|row| match row.size {
            Some(size) => format!("{} · {}", row.whole_text(), size.describe()),
            None => row.whole_text(),
        });
        let parts = self.title.iter().cloned().chain(results);
        let parts = parts.chain([self.counts_with_duration()]);
        let parts = parts.chain(self.merge_command.clone());
        let parts = parts.chain(self.untouched.clone());
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        parts.join("\n")
    }

    fn counts_with_duration(&self) -> String {
        let took = self.took.as_ref().map(|took| format!("took {took}"));
        let parts = [Some(self.counts.clone()), took].into_iter().flatten();
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        parts.join(" · ")
    }

    /// Returns what linear mode prints of it: also the commands for what can be done next.
    pub fn linear_lines(&self) -> Vec<String> {
        let head = format!("The run is {}.", self.phase.label().to_lowercase());
        // How a new goal is typed is said below.
        let is_command = |key: &&RunSummaryKey| key.name.starts_with('/') && key.name != "/write";
        let keys = self.keys.iter().filter(is_command);
        let keys = keys.map(|key| format!("{}: {}", key.name, key.label));
        let merge = self
            .merge_command
            .iter()
            .map(|line| format!("Merge: {line}"));
        let text = RunSummaryCard {
            merge_command: None,
            ..self.clone()
        };
        let text = text.to_text();
        let text = text.lines().map(str::to_owned);
        let lines = std::iter::once(head).chain(text).chain(merge).chain(keys);
        lines.collect()
    }

    /// Renders the lines that fit.
    pub fn lines(&self, columns: usize) -> Vec<Line<'static>> {
        if columns < MIN_CARD_COLUMNS || self.max_rows < MIN_CARD_ROWS {
            let (head, style) = self.heading();
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
        let mut parts = self.ranked_lines(inner, CommitTitles::Whole);
        if count_lines(&parts) > most {
            // The end of a commit's title is worth less than the command that merges all of them.
            parts = self.ranked_lines(inner, CommitTitles::Cut);
        }
        let lines = drop_low_ranks(parts, most);
        let (head, style) = self.heading();
        let mut panel = vec![Line::default(); n_blanks];
        let mut heading = Line::from(Span::styled(head, style.patch(theme::STRONG)));
        if self.has_title_in_heading(inner) {
            let title = style_code(self.title.as_deref().unwrap_or_default(), theme::STRONG);
            let title = title
                .into_iter()
                .map(|span| Span::styled(span.content.into_owned(), span.style));
            heading.push_span(Span::raw(TITLE_GAP));
            heading.spans.extend(title);
        }
        if let Some(took) = self
            .took
            .as_ref()
            .filter(|_| self.has_duration_in_heading(inner))
        {
            let gap = inner.saturating_sub(heading.width() + text_width(took));
            heading.push_span(Span::raw(" ".repeat(gap)));
            heading.push_span(Span::styled(took.clone(), theme::QUIET));
        }
        let pad = vec![Line::default(); n_pad];
        panel.extend(
            pad.into_iter()
                .chain([heading])
                .chain(lines)
                .chain([Line::default()])
                .map(|line| panel_line(line, style, columns)),
        );
        panel
    }

    /// Returns whether the duration has room at the right end of the heading.
    fn has_duration_in_heading(&self, columns: usize) -> bool {
        let (head, _) = self.heading();
        let title = self.title.as_deref().unwrap_or_default();
        let title = if self.has_title_in_heading(columns) {
            TITLE_GAP.len() + text_width(title)
        } else {
            0
        };
        let took = self.took.as_deref().map_or(0, text_width);
        text_width(&head) + title + TITLE_GAP.len() + took <= columns
    }

    /// Returns whether the goal's title has room behind the heading.
    fn has_title_in_heading(&self, columns: usize) -> bool {
        let title = self.title.as_deref().unwrap_or_default();
        let (head, _) = self.heading();
        text_width(&head) + TITLE_GAP.len() + text_width(title) <= columns
    }

    /// Renders each row of the result, with the size of its commit at the right end where that costs no row.
    fn result_lines(&self, columns: usize, titles: CommitTitles) -> Vec<Vec<Line<'static>>> {
        let mut widths = [0; 3];
        for size in self.results.iter().filter_map(|row| row.size) {
            let cells = size_cells(size);
            widths = std::array::from_fn(|i| widths[i].max(text_width(&cells[i])));
        }
        let size_columns = widths.iter().map(|width| SIZE_GAP + width).sum::<usize>();
        let text_columns = columns.saturating_sub(size_columns);
        let n_rows = |row: &RunResultRow, columns| row.lines(columns, CommitTitles::Whole).len();
        let mut sized = self.results.iter().filter(|row| row.size.is_some());
        let has_sizes = text_columns >= MIN_TEXT_COLUMNS
            && sized.all(|row| n_rows(row, text_columns) == n_rows(row, columns));
        let lines = self.results.iter().map(|row| {
            let Some(size) = row.size.filter(|_| has_sizes) else {
                return row.lines(columns, titles);
            };
            let mut lines = row.lines(text_columns, titles);
            if let Some(first) = lines.first_mut() {
                let gap = text_columns.saturating_sub(first.width());
                first.spans.push(Span::raw(" ".repeat(gap)));
                first.spans.extend(size_spans(size, widths));
            }
            lines
        });
        lines.collect()
    }

    /// Returns its lines, ranked by what is dropped first in a low window.
    fn ranked_lines(&self, columns: usize, titles: CommitTitles) -> Vec<RankedLines> {
        let mut parts = Vec::new();
        let is_below = !self.has_title_in_heading(columns);
        if let Some(title) = self.title.as_ref().filter(|_| is_below) {
            let title = style_code(title, theme::STRONG);
            let mut title = wrap_spans_to_rows(&title, columns, 0, 2).into_iter();
            parts.push((3, title.next().into_iter().collect()));
            parts.push((6, title.collect()));
        }
        let first_commit = self.results.iter().position(|row| row.size.is_some());
        for (at, lines) in self.result_lines(columns, titles).into_iter().enumerate() {
            if first_commit == Some(at) {
                parts.push((9, vec![Line::default()]));
            }
            parts.push((2, lines));
        }
        let counts = if self.has_duration_in_heading(columns) {
            self.counts.clone()
        } else {
            self.counts_with_duration()
        };
        if !counts.is_empty() {
            parts.push((9, vec![Line::default()]));
            let text = Span::styled(counts, theme::QUIET);
            parts.push((7, wrap_spans(&[text], columns, 0)));
        }
        let merge = self.merge_command.as_deref();
        parts.extend(merge.map(|command| (4, shell_command_lines("Merge it", command, columns))));
        parts.extend(self.untouched.iter().map(|text| {
            let text = Span::styled(text.clone(), theme::QUIET);
            (8, wrap_spans(&[text], columns, 0))
        }));
        if !self.keys.is_empty() {
            parts.push((5, vec![Line::default()]));
            parts.push((0, key_rows(&self.keys, columns)));
        }
        parts
    }
}

/// Renders the size of a commit in three columns of these widths: files, added lines, removed lines.
fn size_spans(size: CommitSize, widths: [usize; 3]) -> Vec<Span<'static>> {
    let style = |n: u32, style| if n > 0 { style } else { theme::QUIET };
    let styles = [
        theme::QUIET,
        style(size.added, theme::GOOD),
        style(size.removed, theme::BAD),
    ];
    let cells = size_cells(size).into_iter().zip(widths).zip(styles);
    let cells = cells.map(|((text, width), style)| {
        let pad = " ".repeat(SIZE_GAP + width.saturating_sub(text_width(&text)));
        Span::styled(pad + &text, style)
    });
    cells.collect()
}

fn size_cells(size: CommitSize) -> [String; 3] {
    [
        pluralize(size.files as usize, "file"),
        format!("+{}", size.added),
        format!("−{}", size.removed),
    ]
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

/// Returns the lines that fit; rank 0 is always kept.
fn drop_low_ranks(mut parts: Vec<RankedLines>, most: usize) -> Vec<Line<'static>> {
    while count_lines(&parts) > most {
        let ranks = parts.iter().map(|(rank, _)| *rank);
        match ranks.max().filter(|rank| *rank > 0) {
            // Among lines of the same rank, the last one matters least.
            Some(rank) => {
                let at = parts.iter().rposition(|(of, _)| *of == rank);
                at.map(|at| parts.remove(at));
            }
            None => break,
        }
    }
    let lines = parts.into_iter().flat_map(|(_, lines)| lines);
    lines.take(most).collect()
}

/// Renders a shell command in full, so that it can be copied.
fn shell_command_lines(what: &str, command: &str, columns: usize) -> Vec<Line<'static>> {
    let lead = format!("{what}  ");
    let indent = text_width(&lead);
    let spans = [
        Span::styled(lead, theme::QUIET),
        Span::styled(command.to_owned(), theme::CODE),
    ];
    wrap_spans(&spans, columns, indent)
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
            if key.is_optional {
                continue;
            }
            rows.push(Vec::new());
            used = 0;
        }
        used += needed;
        if let Some(row) = rows.last_mut() {
            let button = Surface::Button.style();
            let key_style = clickable_keys::mark_hint(button.patch(theme::KEY));
            row.push(Span::styled(" ", button));
            row.push(Span::styled(does, clickable_keys::mark_hint(button)));
            row.push(Span::styled(key.name.clone(), key_style));
            row.push(Span::styled(" ", button));
            row.push(Span::raw("  "));
        }
    }
    rows.into_iter().map(Line::from).collect()
}
