//! The page of the Status tab: its sections below each other, and two of them side by side where there is room.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::tui::diff_row::fill_row;
use crate::tui::scroll_view::ScrollView;
use crate::tui::theme::{self, Surface};

/// From this width on, two sections stand side by side.
const MIN_PAIR_COLUMNS: usize = 100;
/// How many columns are free between the two.
const PAIR_GAP: usize = 2;
/// What rows begin with below a heading that has no ground.
const ROW_INDENT: &str = "  ";
/// How many columns of a section beside another one are for its bar and its margins.
const CARD_MARGINS: usize = 3;

/// A heading with its lines; without lines it is not shown.
pub(super) struct StatusSection {
    pub(super) title: &'static str,
    /// The style of the heading, and of a bar at its left if the section is an agent's.
    pub(super) style: Style,
    pub(super) is_agent: bool,
    /// A quiet text beside the heading.
    pub(super) remark: String,
    pub(super) body: Vec<Line<'static>>,
}

impl StatusSection {
    pub(super) fn new(title: &'static str, body: Vec<Line<'static>>) -> Self {
        Self {
            title,
            style: theme::STRONG,
            is_agent: false,
            remark: String::new(),
            body,
        }
    }

    fn heading(&self) -> Line<'static> {
        let mut heading = Line::from(Span::styled(self.title, self.style));
        if !self.remark.is_empty() {
            heading.push_span(Span::styled(format!("  {}", self.remark), theme::QUIET));
        }
        heading
    }

    /// Lays the section out on a ground of its own.
    fn into_card(self, columns: usize, n_rows: usize) -> Vec<Line<'static>> {
        let bar = if self.is_agent {
            Span::styled("▎", self.style)
        } else {
            Span::raw(" ")
        };
        let heading = self.heading();
        let rows = [Line::default(), heading].into_iter();
        let body = self.body.into_iter().map(without_indent);
        let rows = rows.chain(body).chain(std::iter::repeat(Line::default()));
        let rows = rows.take(n_rows).map(|row| {
            let style = row.style;
            let spans = row.spans.into_iter().map(|mut span| {
                span.style = style.patch(span.style);
                span
            });
            let spans = [bar.clone(), Span::raw(" ")].into_iter().chain(spans);
            fill_row(Line::from_iter(spans), columns, Surface::Panel.style())
        });
        rows.collect()
    }
}

fn without_indent(mut row: Line<'static>) -> Line<'static> {
    if let Some(span) = row.spans.first_mut()
        && let Some(rest) = span.content.strip_prefix(ROW_INDENT)
    {
        span.content = rest.to_owned().into();
    }
    row
}

/// The lines of the page, as they are laid out.
pub(super) struct StatusPage {
    columns: usize,
    lines: Vec<Line<'static>>,
    /// The same with every section below the one before, for copying.
    text: Vec<Line<'static>>,
}

impl StatusPage {
    pub(super) fn new(columns: usize) -> Self {
        Self {
            columns,
            lines: Vec::new(),
            text: Vec::new(),
        }
    }

    /// Returns how wide the lines of a section in a pair may be.
    pub(super) fn pair_columns(&self) -> usize {
        if self.has_pairs() {
            self.card_columns() + ROW_INDENT.len() - CARD_MARGINS
        } else {
            self.columns
        }
    }

    pub(super) fn has_pairs(&self) -> bool {
        self.columns >= MIN_PAIR_COLUMNS
    }

    fn card_columns(&self) -> usize {
        (self.columns - PAIR_GAP) / 2
    }

    pub(super) fn push(&mut self, section: StatusSection) {
        self.push_text(&section);
        if !section.body.is_empty() {
            self.push_gap();
            self.lines.push(section.heading());
            self.lines.extend(section.body);
        }
    }

    /// Adds two sections side by side, or one below the other where there is no room.
    pub(super) fn push_pair(&mut self, pair: [StatusSection; 2]) {
        if !self.has_pairs() {
            return pair.into_iter().for_each(|section| self.push(section));
        }
        for section in &pair {
            self.push_text(section);
        }
        let n_lines = pair.iter().map(|section| section.body.len()).max();
        // A free row above and below, and the heading.
        let n_rows = n_lines.unwrap_or(0) + 3;
        let columns = self.card_columns();
        let pair = pair.into_iter().filter(|section| !section.body.is_empty());
        let mut cards = pair.map(|section| section.into_card(columns, n_rows));
        let (Some(left), right) = (cards.next(), cards.next()) else {
            return;
        };
        self.push_gap();
        let mut right = right.into_iter().flatten();
        self.lines.extend(left.into_iter().map(|mut row| {
            if let Some(beside) = right.next() {
                row.spans.push(Span::raw(" ".repeat(PAIR_GAP)));
                row.spans.extend(beside.spans);
            }
            row
        }));
    }

    fn push_gap(&mut self) {
        if !self.lines.is_empty() {
            self.lines.push(Line::default());
        }
    }

    fn push_text(&mut self, section: &StatusSection) {
        if section.body.is_empty() || !self.has_pairs() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push(Line::default());
        }
        self.text.push(section.heading());
        self.text.extend(section.body.iter().cloned());
    }

    /// Puts the lines into a view.
    pub(super) fn show_in(self, view: &mut ScrollView) {
        view.set_lines(self.lines);
        view.set_copied_lines(self.text);
    }
}
