//! Lays out what a dialog says: its question, the reason for it, and what is decided about.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::dialog_line::DialogLineKind;
use super::dialog_render::MAX_ROWS;
use super::{ChoiceDialog, DialogColumn, DialogLine};
use crate::tui::clickable_keys;
use crate::tui::diff_row::fill_row;
use crate::tui::markdown::{hanging_indent, style_code};
use crate::tui::tab_kind::TabKind;
use crate::tui::text_wrap::{
    join_columns, spans_width, text_width, truncate_to_columns, wrap_spans, wrap_spans_to_rows,
};
use crate::tui::theme::{self, Surface};

/// The maximum width of a dialog's text.
const MAX_TEXT_COLUMNS: usize = 112;
/// The width from which two texts are drawn side by side: that of a dialog in a window of 100 columns.
const MIN_COLUMNS_OF_TWO_TEXTS: usize = 96;
/// One row for each of two texts.
pub(super) const MIN_ROWS_OF_TWO_TEXTS: usize = 2;
/// Between two texts.
const COLUMN_GAP: usize = 3;
/// Between the question, what it is about, and who asks.
const TITLE_GAP: usize = 2;

/// The room beside the question from which on who asks is named, cut if need be.
const MIN_COLUMNS_OF_ABOUT: usize = 12;

impl ChoiceDialog {
    /// Adds the plan below the full text, as it is written, in place of the lines of steps that are neither new nor changed.
    #[must_use]
    pub fn with_whole_plan(mut self, name: &str, document: &str) -> Self {
        let kind = DialogLineKind::InFullText;
        self.body.retain(|line| !is_unchanged_step(line));
        let is_gap = |line: &DialogLine| line.kind == DialogLineKind::Gap;
        self.body
            .dedup_by(|line, before| is_gap(line) && is_gap(before));
        let line = |text: &str, style| DialogLine::new(text, style, kind);
        self.body.push(line("", theme::PLAIN));
        self.body.push(line(name, theme::STRONG));
        self.body.extend(document.lines().map(|text| {
            let is_heading = text.starts_with('#');
            let style = if is_heading {
                theme::STRONG
            } else {
                theme::PLAIN
            };
            line(text, style)
        }));
        match self.full_text.take() {
            Some((title, _)) => self.with_body_as_full_text(&title),
            None => self,
        }
    }

    /// Lays out the whole body, for a page of its own.
    pub fn full_text_lines(&self, columns: usize) -> Vec<Line<'static>> {
        self.lay_out_body(columns, usize::MAX, BodyForm::FullText)
    }

    /// Lays out the body with blank rows if it fits with them, else without.
    pub(super) fn whole_body_lines(&self, columns: usize, rows: usize) -> Vec<Line<'static>> {
        let airy = self.lay_out_body(columns, rows, BodyForm::Airy);
        if airy.len() <= rows {
            airy
        } else {
            self.lay_out_body(columns, rows, BodyForm::Dense)
        }
    }

    /// Lays out the body for so many rows; what does not fit is cut where that costs least.
    pub(super) fn body_lines(&self, columns: usize, rows: usize) -> Vec<Line<'static>> {
        let whole = self.whole_body_lines(columns, rows);
        if whole.len() <= rows {
            whole
        } else {
            self.lay_out_body(columns, rows, BodyForm::Cut)
        }
    }

    /// Returns whether the whole body fits into these rows.
    pub(super) fn fits_into(&self, columns: usize, rows: usize) -> bool {
        // With so many rows no reason is shortened to less than what does not fit.
        let enough = rows.saturating_mul(2).saturating_add(2);
        self.lay_out_body(columns, enough, BodyForm::Dense).len() <= rows
    }

    /// Returns how many rows of the whole body are missing where so many are shown; at least `MAX_ROWS` if it is longer.
    pub(super) fn n_missing_rows(&self, columns: usize, n_shown: usize) -> usize {
        let whole = self.lay_out_body(columns, MAX_ROWS, BodyForm::Dense);
        match whole.len() {
            MAX_ROWS.. => MAX_ROWS,
            n => n.saturating_sub(n_shown),
        }
    }

    fn lay_out_body(&self, columns: usize, rows: usize, form: BodyForm) -> Vec<Line<'static>> {
        let has_gaps = matches!(form, BodyForm::Airy | BodyForm::FullText);
        let why: Vec<BodyText<'_>> = self.reason().map(BodyText::of_line).collect();
        let is_in_title =
            form != BodyForm::FullText && self.subject_beside_title(columns).is_some();
        let what = self.body.iter().filter(|line| match line.kind {
            DialogLineKind::Reason => false,
            DialogLineKind::Subject => !is_in_title,
            DialogLineKind::Gap => has_gaps,
            DialogLineKind::InFullText => form == BodyForm::FullText,
            DialogLineKind::Text | DialogLineKind::Field(_) => true,
        });
        let mut what: Vec<&DialogLine> = what.collect();
        // What the gap divides may stand elsewhere.
        while what
            .pop_if(|line| line.kind == DialogLineKind::Gap)
            .is_some()
        {}
        let what = what.into_iter().map(|line| BodyText {
            has_one_row: form == BodyForm::Cut && is_cut_first(line),
            ..BodyText::of_line(line)
        });
        let mut what: Vec<BodyText<'_>> = what.collect();
        let mut lines = body_text_lines(&why, columns, rows);
        uncut_texts(&mut what, columns, rows.saturating_sub(lines.len()));
        let below = match &self.side_by_side {
            Some(_) => what.split_off(what.len().min(1)),
            None => Vec::new(),
        };
        let mut what = body_text_lines(&what, columns, rows);
        if let Some(edit) = &self.edit {
            let n_other = what.len() + lines.len().min(rows / 4);
            what.extend(edit.rows(columns, rows.saturating_sub(n_other)));
        }
        // The question is more important than its reason if only one of them fits.
        if lines.len() + what.len() > rows && !what.is_empty() {
            // What an edit changes is hardly ever in its first rows.
            let share = if self.edit.is_some() { 4 } else { 3 };
            let most = rows.saturating_sub(what.len()).max(rows / share);
            lines = fit_texts(&why, columns, most);
        }
        if has_gaps && !lines.is_empty() && !what.is_empty() {
            lines.push(Line::default());
        }
        lines.extend(what);
        if let Some(compared) = &self.side_by_side {
            lines.extend(column_lines(compared, columns));
            lines.extend(body_text_lines(&below, columns, rows));
            if lines.len() > rows {
                return fit_texts(&self.summarized_body(compared, rows), columns, rows);
            }
        }
        lines
    }

    /// Returns the body with both texts to compare in short, below its first line; without that line where only both
    /// fit.
    fn summarized_body<'a>(
        &'a self,
        compared: &'a [DialogColumn; 2],
        rows: usize,
    ) -> Vec<BodyText<'a>> {
        let texts: Vec<_> = self.body.iter().map(BodyText::of_line).collect();
        let (first, others) = texts.split_at(texts.len().min(1));
        let first = first.iter().filter(|_| rows != MIN_ROWS_OF_TWO_TEXTS);
        let summaries = compared
            .iter()
            .map(|column| BodyText::prose(&column.summary));
        let first: Vec<_> = first.copied().chain(summaries).collect();
        first.into_iter().chain(others.iter().copied()).collect()
    }

    /// Returns the line that names what the question is about, if it fits beside the question.
    pub(super) fn subject_beside_title(&self, columns: usize) -> Option<&str> {
        let mut lines = self.body.iter();
        let subject = lines.find(|line| line.kind == DialogLineKind::Subject)?;
        let texts = [&self.title, &subject.text, &self.about];
        let used: usize = texts.map(|text| text_width(text) + TITLE_GAP).iter().sum();
        (used <= columns + TITLE_GAP).then_some(&subject.text)
    }

    /// Lays out the question: what it is about beside it, and who asks at the right, as far as there is room.
    pub(super) fn title_line(&self, columns: usize) -> Line<'static> {
        let subject = self.subject_beside_title(columns);
        let used = text_width(&self.title) + TITLE_GAP + text_width(&self.about);
        if subject.is_none() && (self.about.is_empty() || used > columns) {
            // Who asks is left out where hardly anything of it fits.
            let room = columns.saturating_sub(text_width(&self.title));
            let title = match room {
                0..MIN_COLUMNS_OF_ABOUT => self.title.clone(),
                _ => self.heading(),
            };
            let title = truncate_to_columns(&title, columns);
            return Line::styled(title, theme::STRONG);
        }
        let mut spans = vec![Span::styled(self.title.clone(), theme::STRONG)];
        if let Some(subject) = subject {
            spans.push(Span::raw(" ".repeat(TITLE_GAP)));
            match &self.edit {
                Some(edit) => spans.extend(edit.summary_spans()),
                None => spans.push(Span::raw(subject.to_owned())),
            }
        }
        let gap = columns.saturating_sub(spans_width(&spans) + text_width(&self.about));
        spans.push(Span::raw(" ".repeat(gap)));
        spans.push(Span::styled(self.about.clone(), theme::QUIET));
        Line::from(spans)
    }
}

/// How the body is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyForm {
    /// On a page of its own.
    FullText,
    /// In the panel, with blank rows between its parts.
    Airy,
    /// In the panel, without blank rows.
    Dense,
    /// In a panel without room for all of it: one row for each step of a plan, and for each of its terms.
    Cut,
}

/// Returns whether a line is a step of a plan that is neither new nor changed.
fn is_unchanged_step(line: &DialogLine) -> bool {
    line.tabs.contains(&TabKind::Plan) && line.style == theme::PLAIN
}

/// Returns whether a line is cut before others are left out: each step should be there, and each term.
fn is_cut_first(line: &DialogLine) -> bool {
    // What warns is whole, too.
    let is_term = matches!(line.kind, DialogLineKind::Field(_)) && line.style == theme::PLAIN;
    is_term && !line.is_never_cut || is_unchanged_step(line)
}

/// Shows texts whole that would be cut after one row, the first ones first, as long as they fit into these rows. What comes
/// behind the last of them, such as findings, is left out first.
fn uncut_texts(texts: &mut [BodyText<'_>], columns: usize, rows: usize) {
    let n_rows = |text: &BodyText<'_>| {
        body_text_lines(std::slice::from_ref(text), columns, usize::MAX).len()
    };
    let Some(last) = texts.iter().rposition(|text| text.has_one_row) else {
        return;
    };
    let n_used: usize = texts.iter().take(last + 1).map(n_rows).sum();
    // One row says that something is missing.
    let mut n_left = rows.saturating_sub(n_used + 1);
    for text in texts.iter_mut().filter(|text| text.has_one_row) {
        let whole = BodyText {
            has_one_row: false,
            ..*text
        };
        let n_more = n_rows(&whole).saturating_sub(1);
        if n_more <= n_left {
            n_left -= n_more;
            *text = whole;
        }
    }
}

/// A line of the body.
#[derive(Debug, Clone, Copy)]
struct BodyText<'a> {
    text: &'a str,
    style: Style,
    /// Whether its marks of code are rendered. A command, a path or a file's text is shown exactly as it is.
    is_prose: bool,
    /// The width of the label at its start.
    label: usize,
    /// Whether it is cut after one row.
    has_one_row: bool,
}

impl<'a> BodyText<'a> {
    fn literal((text, style): &'a (String, Style)) -> Self {
        Self {
            text,
            style: *style,
            is_prose: false,
            label: 0,
            has_one_row: false,
        }
    }

    fn of_line(line: &'a DialogLine) -> Self {
        let label = match line.kind {
            DialogLineKind::Field(columns) => columns,
            _ => 0,
        };
        Self {
            text: &line.text,
            style: line.style,
            is_prose: line.is_prose || !line.tabs.is_empty(),
            label,
            has_one_row: false,
        }
    }

    /// Returns by how much the rows after the first are indented.
    fn indent(self) -> usize {
        match self.label {
            0 => hanging_indent(self.text),
            label => label,
        }
    }

    fn prose(line: &'a (String, Style)) -> Self {
        Self {
            is_prose: true,
            ..Self::literal(line)
        }
    }

    /// Returns whether it is what something would run or write: it stands on a ground of its own.
    fn is_code(self) -> bool {
        self.style == theme::CODE && !self.is_prose
    }

    fn spans(self) -> Vec<Span<'a>> {
        match clickable_keys::strip_hint_mark(self.style) {
            (style, true) => clickable_keys::hint_spans(self.text, style),
            (style, false) if self.is_prose => style_code(self.text, style),
            (style, false) => {
                // A label is ASCII, and one column is one byte of it.
                let (label, value) = self.text.split_at(self.label);
                vec![
                    Span::styled(label, theme::QUIET),
                    Span::styled(value, style),
                ]
            }
        }
    }
}

/// Fits several texts into a few rows: each gets its own first row, and is truncated if the others need the rest.
fn fit_texts(texts: &[BodyText<'_>], columns: usize, most: usize) -> Vec<Line<'static>> {
    let n_texts = texts.len().min(most);
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (n, text) in (1..).zip(texts.iter().take(n_texts)) {
        let rows = most.saturating_sub(lines.len() + (n_texts - n));
        let mut own = body_text_lines(std::slice::from_ref(text), columns, rows);
        if own.len() > rows {
            own.truncate(rows);
            if let Some(last) = own.last_mut() {
                let whole = format!("{} …", last.to_string().trim_end());
                *last = Line::styled(
                    truncate_to_columns(&whole, columns.min(MAX_TEXT_COLUMNS)),
                    text.style,
                );
            }
        }
        lines.extend(own);
    }
    lines
}

/// Lays out two texts side by side where there is room, else one after the other.
fn column_lines(compared: &[DialogColumn; 2], columns: usize) -> Vec<Line<'static>> {
    let lay_out = |column: &DialogColumn, width: usize| {
        let mut texts = vec![BodyText::prose(&column.title)];
        texts.extend(column.texts.iter().map(BodyText::prose));
        body_text_lines(&texts, width, usize::MAX)
    };
    let [left, right] = compared;
    if columns < MIN_COLUMNS_OF_TWO_TEXTS {
        let mut lines = lay_out(left, columns);
        lines.extend(lay_out(right, columns));
        return lines;
    }
    let width = (columns - COLUMN_GAP) / 2;
    join_columns(
        lay_out(left, width),
        lay_out(right, width),
        width + COLUMN_GAP,
    )
}

/// Lays out a line of code on its own ground.
fn code_rows(text: BodyText<'_>, columns: usize) -> Vec<Line<'static>> {
    let room = columns.saturating_sub(2);
    let rows = wrap_spans(&text.spans(), room, text.indent());
    let rows = rows.into_iter().map(|mut row| {
        row.spans.insert(0, Span::raw(" "));
        fill_row(row, columns, Surface::Panel.style())
    });
    rows.collect()
}

/// Lays out the body at a width; stops soon after the available rows.
fn body_text_lines(body: &[BodyText<'_>], columns: usize, rows: usize) -> Vec<Line<'static>> {
    // Longer lines are hard to read.
    let columns = columns.min(MAX_TEXT_COLUMNS);
    let mut lines = Vec::new();
    for text in body {
        if text.is_code() {
            lines.extend(code_rows(*text, columns));
        } else if text.has_one_row {
            lines.extend(wrap_spans_to_rows(&text.spans(), columns, text.indent(), 1));
        } else {
            lines.extend(wrap_spans(&text.spans(), columns, text.indent()));
        }
        if lines.len() > rows.saturating_add(1) {
            break;
        }
    }
    lines
}
