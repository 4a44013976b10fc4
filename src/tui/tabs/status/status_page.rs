//! The page of the Status tab: its sections below each other, and two of them side by side where there is room.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::tui::diff_row::fill_row;
use crate::tui::scroll_view::ScrollView;
use crate::tui::text_wrap::{text_width, wrap_spans};
use crate::tui::theme::{self, Surface};

/// From this width on, two sections stand side by side.
const MIN_PAIR_COLUMNS: usize = 100;
/// How many columns are free between the two.
const PAIR_GAP: usize = 2;
/// What rows begin with below a heading that has no ground.
const ROW_INDENT: &str = "  ";
/// How many columns of a section beside another one are for its bar and its margins.
const CARD_MARGINS: usize = 3;

/// How many rows of a section without a ground stand together at least: its heading, the titles of a table, and a row.
const MIN_SECTION_ROWS: usize = 3;

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

    /// Puts a remark that is too wide for the heading below the section.
    fn with_remark_that_fits(mut self, columns: usize) -> Self {
        let width = text_width(self.title) + 2 + text_width(&self.remark);
        if width > columns && !self.body.is_empty() {
            let remark = std::mem::take(&mut self.remark);
            let indent = ROW_INDENT.len();
            let row = Span::styled(format!("{ROW_INDENT}{remark}"), theme::QUIET);
            self.body.extend(wrap_spans(&[row], columns, indent));
        }
        self
    }

    fn heading(&self) -> Line<'static> {
        let mut heading = Line::from(Span::styled(self.title, self.style));
        if !self.remark.is_empty() {
            heading.push_span(Span::styled(format!("  {}", self.remark), theme::QUIET));
        }
        heading
    }

    /// Lays the section out on a ground of its own.
    fn to_card(&self, columns: usize, n_rows: usize, heading: HeadingGap) -> Vec<Line<'static>> {
        let bar = if self.is_agent {
            Span::styled("▎", self.style)
        } else {
            Span::raw(" ")
        };
        let rows = [Line::default(), self.heading()].into_iter();
        let rows = rows.chain(std::iter::repeat_n(Line::default(), heading.rows()));
        let body = self.body.iter().cloned().map(without_indent);
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

/// Whether a row is free below the headings of boxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeadingGap {
    Free,
    /// There is none, so that more fits into the window.
    Dense,
}

impl HeadingGap {
    fn rows(self) -> usize {
        match self {
            Self::Free => 1,
            Self::Dense => 0,
        }
    }
}

/// What stands in the whole width of the page.
enum StatusBlock {
    Section(StatusSection),
    /// One or two boxes.
    Cards(Vec<StatusSection>),
}

impl StatusBlock {
    fn lay_out(&self, columns: usize, heading: HeadingGap) -> Vec<Line<'static>> {
        let cards = match self {
            Self::Section(section) => {
                let body = section.body.iter().cloned();
                return std::iter::once(section.heading()).chain(body).collect();
            }
            Self::Cards(cards) => cards,
        };
        let n_lines = cards.iter().map(|section| section.body.len()).max();
        // A free row above and below, and the heading.
        let n_rows = n_lines.unwrap_or(0) + 3 + heading.rows();
        let columns = match cards.len() {
            1 => columns,
            _ => card_columns(columns),
        };
        let mut cards = cards
            .iter()
            .map(|card| card.to_card(columns, n_rows, heading));
        let left = cards.next().unwrap_or_default();
        let mut right = cards.next().into_iter().flatten();
        let rows = left.into_iter().map(|mut row| {
            if let Some(beside) = right.next() {
                row.spans.push(Span::raw(" ".repeat(PAIR_GAP)));
                row.spans.extend(beside.spans);
            }
            row
        });
        rows.collect()
    }

    /// Returns how many of its rows must be in one window; of a table the rest may follow below.
    fn least_rows(&self, n_rows: usize) -> usize {
        match self {
            Self::Section(_) => n_rows.min(MIN_SECTION_ROWS),
            Self::Cards(_) => n_rows,
        }
    }
}

fn card_columns(columns: usize) -> usize {
    (columns - PAIR_GAP) / 2
}

/// The sections of the page.
pub(super) struct StatusPage {
    columns: usize,
    blocks: Vec<StatusBlock>,
    /// The lines with every section below the one before, for copying.
    text: Vec<Line<'static>>,
}

impl StatusPage {
    pub(super) fn new(columns: usize) -> Self {
        Self {
            columns,
            blocks: Vec::new(),
            text: Vec::new(),
        }
    }

    /// Returns how wide the lines of a section in a pair may be.
    pub(super) fn pair_columns(&self) -> usize {
        if self.has_pairs() {
            card_columns(self.columns) + ROW_INDENT.len() - CARD_MARGINS
        } else {
            self.columns
        }
    }

    /// Returns how wide the lines of a section may be that is alone in a pair.
    pub(super) fn lone_columns(&self) -> usize {
        if self.has_pairs() {
            self.columns + ROW_INDENT.len() - CARD_MARGINS
        } else {
            self.columns
        }
    }

    pub(super) fn has_pairs(&self) -> bool {
        self.columns >= MIN_PAIR_COLUMNS
    }

    pub(super) fn push(&mut self, section: StatusSection) {
        if !section.body.is_empty() {
            let section = section.with_remark_that_fits(self.columns);
            self.push_text(&section);
            self.blocks.push(StatusBlock::Section(section));
        }
    }

    /// Adds two sections side by side, or one below the other where there is no room.
    pub(super) fn push_pair(&mut self, pair: [StatusSection; 2]) {
        if !self.has_pairs() {
            return pair.into_iter().for_each(|section| self.push(section));
        }
        let pair = pair.into_iter().filter(|section| !section.body.is_empty());
        let cards: Vec<StatusSection> = pair.collect();
        for section in &cards {
            self.push_text(section);
        }
        if !cards.is_empty() {
            self.blocks.push(StatusBlock::Cards(cards));
        }
    }

    fn push_text(&mut self, section: &StatusSection) {
        if !self.text.is_empty() {
            self.text.push(Line::default());
        }
        self.text.push(section.heading());
        self.text.extend(section.body.iter().cloned());
    }

    /// Puts the lines into a view of this height, so that its first window cuts no box.
    pub(super) fn show_in(self, view: &mut ScrollView, height: usize) {
        let free = self.lay_out(HeadingGap::Free);
        let dense = self.lay_out(HeadingGap::Dense);
        // Air is worth less than the last boxes.
        let fits = |blocks: &[Vec<Line<'static>>]| self.card_rows(blocks) < height;
        let blocks = if !fits(&free) && fits(&dense) {
            dense
        } else {
            free
        };
        view.set_lines(self.join(blocks, height));
        view.set_copied_lines(self.text);
    }

    fn lay_out(&self, heading: HeadingGap) -> Vec<Vec<Line<'static>>> {
        let blocks = self.blocks.iter();
        blocks
            .map(|block| block.lay_out(self.columns, heading))
            .collect()
    }

    /// Counts the rows down to the end of the last boxes.
    fn card_rows(&self, blocks: &[Vec<Line<'static>>]) -> usize {
        let is_cards = |block: &StatusBlock| matches!(block, StatusBlock::Cards(_));
        let n = self.blocks.iter().rposition(is_cards);
        let n = n.map_or(0, |last| last + 1);
        let rows: usize = blocks.iter().take(n).map(Vec::len).sum();
        rows + n.saturating_sub(1)
    }

    /// Joins the blocks, with a free row between them. Boxes that the end of the first window would cut begin behind it, and
    /// what follows them fills their place.
    fn join(&self, blocks: Vec<Vec<Line<'static>>>, height: usize) -> Vec<Line<'static>> {
        let all = blocks.iter().map(|rows| rows.len() + 1).sum::<usize>();
        // The last row of a window that has not all says so.
        let window = if all > height + 1 {
            height.saturating_sub(1)
        } else {
            height
        };
        let mut lines: Vec<Line<'static>> = Vec::new();
        let mut later = Vec::new();
        // Sections keep their order.
        let mut is_section_later = false;
        for (block, rows) in self.blocks.iter().zip(blocks) {
            let begin = lines.len() + usize::from(!lines.is_empty());
            let least = block.least_rows(rows.len());
            let is_cut = begin < window && begin + least > window && least <= window;
            if is_cut || begin < window && is_section_later {
                is_section_later |= matches!(block, StatusBlock::Section(_));
                later.push(rows);
                continue;
            }
            if begin >= window {
                later
                    .drain(..)
                    .for_each(|rows| push_block(&mut lines, rows));
            }
            push_block(&mut lines, rows);
        }
        if !later.is_empty() {
            let window = window.saturating_sub(1).max(lines.len());
            lines.resize(window, Line::default());
        }
        later
            .into_iter()
            .for_each(|rows| push_block(&mut lines, rows));
        lines
    }
}

fn push_block(lines: &mut Vec<Line<'static>>, rows: Vec<Line<'static>>) {
    if !lines.is_empty() {
        lines.push(Line::default());
    }
    lines.extend(rows);
}
