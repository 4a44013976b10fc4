//! A row of the card at the end of a run for each step: its commit, what was seen of its proof, and its size.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::plan_execution::CommitSize;
use crate::text::{describe_line_counts, pluralize};
use crate::tui::markdown::style_code;
use crate::tui::text_wrap::{
    spans_width, text_width, truncate_to_columns, wrap_spans, wrap_spans_to_rows,
};
use crate::tui::theme;

/// The number, the commit and the beginning of its title, before the proof.
const MIN_TITLE_COLUMNS: usize = 24;
/// From this width on, the rows say what was seen of a proof where all is well.
const MIN_PROOF_COLUMNS: usize = 92;
/// The blanks before each number of a commit's size.
const SIZE_GAP: usize = 2;
/// The sizes of commits are shown where this many columns remain for the text.
const MIN_TEXT_COLUMNS: usize = 40;

/// A step of the run that has ended; its texts are cleaned for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitRow {
    pub step: u32,
    /// The short id of its commit, if it has one.
    pub commit: Option<String>,
    /// The title of the commit; without one, what was tested.
    pub text: String,
    /// What was seen of its proof, behind the text, which is cut before it.
    pub proof: Option<String>,
    /// The style of a step that is not proven, otherwise plain.
    pub style: Style,
    /// What its commit changes, at the right end of the row.
    pub size: Option<CommitSize>,
}

/// Whether the rows of commits take more than a row each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitTitles {
    Whole,
    /// A title that takes more than its row is cut.
    Cut,
}

impl CommitRow {
    /// Returns the whole row, for the clipboard.
    pub fn to_text(&self) -> String {
        let commit = self.commit.iter().map(|commit| format!("{commit}  "));
        let commit: String = commit.collect();
        let proof = self.proof.clone();
        let size = self.size.map(CommitSize::describe);
        let rest: String = [proof, size]
            .into_iter()
            .flatten()
            .map(|part| format!(" · {part}"))
            .collect();
        format!("{}  {commit}{}{rest}", self.step, self.text)
    }

    /// Renders it without its size, its number in so many columns.
    fn lines(&self, columns: usize, titles: CommitTitles, digits: usize) -> Vec<Line<'static>> {
        let is_plain = self.style == theme::PLAIN;
        let mut spans = vec![Span::styled(
            format!("{:>digits$} ", self.step),
            theme::QUIET,
        )];
        if let Some(commit) = &self.commit {
            spans.push(Span::styled(format!("{commit}  "), theme::CODE));
        }
        let lead = spans_width(&spans);
        let proof = self.proof.as_ref();
        let proof = proof.filter(|_| !is_plain || columns >= MIN_PROOF_COLUMNS);
        let proof = proof.map(|proof| format!(" · {proof}"));
        let n_proof = proof.as_deref().map_or(0, text_width);
        let text = match titles {
            CommitTitles::Cut if proof.is_some() => {
                let room = columns.saturating_sub(n_proof).max(MIN_TITLE_COLUMNS);
                truncate_to_columns(&self.text, room.saturating_sub(lead))
            }
            CommitTitles::Cut | CommitTitles::Whole => self.text.clone(),
        };
        let text_style = if self.commit.is_some() {
            theme::PLAIN
        } else {
            self.style
        };
        spans.extend(style_code(&text, text_style));
        let proof_style = if is_plain { theme::QUIET } else { self.style };
        spans.extend(proof.map(|proof| Span::styled(proof, proof_style)));
        match titles {
            CommitTitles::Cut if self.size.is_some() => {
                wrap_spans_to_rows(&spans, columns, lead, 1)
            }
            CommitTitles::Cut | CommitTitles::Whole => wrap_spans(&spans, columns, lead),
        }
    }
}

/// Renders each row, with the size of its commit at the right end where that costs no row.
pub fn commit_lines(
    rows: &[CommitRow],
    columns: usize,
    titles: CommitTitles,
) -> Vec<Vec<Line<'static>>> {
    let digits = rows.iter().map(|row| row.step.to_string().len());
    let digits = digits.max().unwrap_or(1);
    let mut widths = [0; 3];
    for size in rows.iter().filter_map(|row| row.size) {
        let cells = size_cells(size);
        widths = std::array::from_fn(|i| widths[i].max(text_width(&cells[i])));
    }
    let shown = widths.iter().filter(|width| **width > 0);
    let size_columns = shown.map(|width| SIZE_GAP + width).sum::<usize>();
    let text_columns = columns.saturating_sub(size_columns);
    let n_rows = |row: &CommitRow, columns| row.lines(columns, CommitTitles::Whole, digits).len();
    let mut sized = rows.iter().filter(|row| row.size.is_some());
    let has_sizes = text_columns >= MIN_TEXT_COLUMNS
        && sized.all(|row| n_rows(row, text_columns) == n_rows(row, columns));
    let lines = rows.iter().map(|row| {
        let Some(size) = row.size.filter(|_| has_sizes) else {
            return row.lines(columns, titles, digits);
        };
        let mut lines = row.lines(text_columns, titles, digits);
        if let Some(first) = lines.first_mut() {
            let gap = text_columns.saturating_sub(first.width());
            first.spans.push(Span::raw(" ".repeat(gap)));
            first.spans.extend(size_spans(size, widths));
        }
        lines
    });
    lines.collect()
}

/// Renders the size of a commit in three columns of these widths: files, added lines, removed lines.
fn size_spans(size: CommitSize, widths: [usize; 3]) -> Vec<Span<'static>> {
    let styles = [theme::QUIET, theme::GOOD, theme::BAD];
    let cells = size_cells(size).into_iter().zip(widths).zip(styles);
    let cells = cells.filter(|((_, width), _)| *width > 0);
    let cells = cells.map(|((text, width), style)| {
        let pad = " ".repeat(SIZE_GAP + width.saturating_sub(text_width(&text)));
        Span::styled(pad + &text, style)
    });
    cells.collect()
}

/// Returns the texts of the three columns; a count of zero is blank.
fn size_cells(size: CommitSize) -> [String; 3] {
    [
        pluralize(size.files as usize, "file"),
        describe_line_counts(size.added as usize, 0),
        describe_line_counts(0, size.removed as usize),
    ]
}
