//! A scrollable view of laid-out lines.

mod scroll_view_render;

use std::collections::BTreeMap;

use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::keymap::{ActiveKeymap, ComposerFocus};
use super::search_highlight::SearchMatches;
use super::theme::{self, Surface};
use super::view_moves::ScrollMove;

/// Where the view goes when new lines arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScrollAnchor {
    #[default]
    Top,
    /// It follows the last line until the user scrolls.
    End,
}

/// Laid-out lines and the visible window.
#[derive(Debug, Default)]
pub struct ScrollView {
    lines: Vec<Line<'static>>,
    /// The lines to copy instead; none where the shown ones are copied.
    copied_lines: Vec<Line<'static>>,
    first_row: usize,
    height: usize,
    anchor: ScrollAnchor,
    /// Whether the user has scrolled away from what the view follows.
    is_scrolled_away: bool,
    /// The target that the view follows instead of its end.
    followed_target: Option<ScrollTarget>,
    /// The cache key of the current lines.
    key: Option<u64>,
    /// The rows of the targets.
    targets: BTreeMap<ScrollTarget, usize>,
    /// The target to scroll to in the next frame, and where to put it.
    pending_scroll: Option<(ScrollTarget, RevealPlacement)>,
    area: Rect,
    page_keys: [String; 2],
    /// The key that makes it follow again.
    end_key: String,
    /// The text beside the scroll position; may be empty.
    status_text: String,
    /// Increases each time the lines are replaced.
    version: u64,
    matches: SearchMatches,
    /// Whether the next frame scrolls to the current match.
    scrolls_to_match: bool,
    /// The position where the open search began.
    search_origin: Option<ScrollPosition>,
}

/// Where a target is placed in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RevealPlacement {
    /// With a third of the window above it.
    UpperThird,
    /// As close as possible to the edge where it comes into view.
    NearestEdge,
}

/// A scroll position that can be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScrollPosition {
    first_row: usize,
    is_scrolled_away: bool,
}

/// A position in a page that the view can scroll to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScrollTarget {
    /// A row that replaces several lines of the document, by the first line, from 0; that line is a target too.
    Folded(usize),
    /// A step of the plan, by its index; its line is a target too.
    Step(usize),
    Finding(u32),
    /// The row above the settled findings.
    Settled,
    Reviews,
    Note(u32),
    /// A line of the document, from 0.
    Line(usize),
    /// A row of a list, by its number.
    Row(i64),
}

/// Adds a column on the left that marks the selected lines, which have a ground of their own.
pub fn add_gutter(lines: Vec<Line<'static>>, is_picked: bool) -> Vec<Line<'static>> {
    add_bar(lines, is_picked.then_some(theme::ACCENT), 1)
}

/// Adds columns on the left: with a style, a bar in the first one, and the lines are on a ground of their own.
pub fn add_bar(
    mut lines: Vec<Line<'static>>,
    bar: Option<Style>,
    columns: usize,
) -> Vec<Line<'static>> {
    for line in &mut lines {
        // The bar must not get the line's own style.
        let style = std::mem::take(&mut line.style);
        for span in &mut line.spans {
            span.style = style.patch(span.style);
        }
        if columns > 1 {
            line.spans.insert(0, Span::raw(" ".repeat(columns - 1)));
        }
        line.spans.insert(0, Span::raw(" "));
        if let Some(bar) = bar {
            raise_line(line, bar);
        }
    }
    lines
}

/// Puts a bar into the first column of a line, and the line on a ground of its own.
pub fn raise_line(line: &mut Line<'static>, bar: Style) {
    if let Some(first) = line.spans.first_mut() {
        *first = Span::styled(PICKED_BAR, bar);
    }
    line.style = Surface::Raised.style();
}

/// What is before each row of a selected entry.
pub const PICKED_BAR: &str = "▌";

/// Laid-out lines with their targets.
#[derive(Debug, Default)]
pub struct ScrollContent {
    pub lines: Vec<Line<'static>>,
    /// The row of each target.
    pub targets: BTreeMap<ScrollTarget, usize>,
}

impl ScrollContent {
    /// Appends other content below.
    pub fn append(&mut self, below: Self) {
        let n = self.lines.len();
        let marks = below.targets.into_iter();
        self.targets
            .extend(marks.map(|(mark, row)| (mark, n + row)));
        self.lines.extend(below.lines);
    }
}

impl From<Vec<Line<'static>>> for ScrollContent {
    fn from(lines: Vec<Line<'static>>) -> Self {
        Self {
            lines,
            targets: BTreeMap::new(),
        }
    }
}

impl ScrollView {
    /// Creates a view that follows its end.
    pub fn following_end() -> Self {
        Self {
            anchor: ScrollAnchor::End,
            ..Self::default()
        }
    }

    /// Replaces the lines with the result of `lay_out`, unless the lines of this `key` are already there.
    pub fn lay_out<Laid: Into<ScrollContent>>(&mut self, key: u64, lay_out: impl FnOnce() -> Laid) {
        if self.key != Some(key) {
            self.key = Some(key);
            let ScrollContent {
                lines,
                targets: marks,
            } = lay_out().into();
            (self.lines, self.targets) = (lines, marks);
            self.version += 1;
        }
    }

    /// Replaces the lines like [`ScrollView::lay_out`], and keeps the first visible target in its row,
    /// whatever is inserted above.
    pub fn lay_out_keeping_view<Laid: Into<ScrollContent>>(
        &mut self,
        key: u64,
        lay_out: impl FnOnce() -> Laid,
    ) {
        let stands = self
            .targets
            .iter()
            .filter(|(_, row)| **row >= self.first_row);
        let stands = stands
            .min_by_key(|(_, row)| **row)
            .map(|(mark, row)| (*mark, *row));
        self.lay_out(key, lay_out);
        if let Some((mark, before)) = stands.filter(|_| self.is_scrolled_away)
            && let Some(now) = self.targets.get(&mark)
        {
            self.first_row = (self.first_row + now).saturating_sub(before);
        }
    }

    /// Returns all lines as text for copying.
    pub fn text(&self) -> String {
        let lines = match self.copied_lines.as_slice() {
            [] => &self.lines,
            lines => lines,
        };
        let lines = lines
            .iter()
            .map(|line| line.to_string().trim_end().to_owned());
        lines.collect::<Vec<String>>().join("\n")
    }

    /// Returns the number of all rows, as the last frame laid them out.
    pub fn row_count(&self) -> usize {
        self.lines.len()
    }

    /// Returns whether the user has scrolled away from what the view follows.
    pub fn is_scrolled_away(&self) -> bool {
        self.is_scrolled_away
    }

    /// Returns whether the first target is visible.
    pub fn is_first_target_visible(&self) -> bool {
        let first = self.targets.values().min();
        first.is_some_and(|row| (self.first_row..self.first_row + self.height).contains(row))
    }

    /// Scrolls to a target in the next frame, if the view has it then.
    pub fn scroll_to(&mut self, mark: ScrollTarget) {
        self.pending_scroll = Some((mark, RevealPlacement::UpperThird));
    }

    /// Scrolls in the next frame only as far as needed to show a target with its content.
    pub fn reveal(&mut self, mark: ScrollTarget) {
        self.pending_scroll = Some((mark, RevealPlacement::NearestEdge));
    }

    /// Returns the first or last visible target of one kind whose row contains text.
    pub fn visible_target(
        &self,
        is_first: bool,
        is_of: impl Fn(ScrollTarget) -> bool,
    ) -> Option<ScrollTarget> {
        let says = |row: usize| {
            let text = self.lines.get(row).map(ToString::to_string);
            text.is_some_and(|text| text.chars().any(char::is_alphanumeric))
        };
        let window = self.first_row..self.first_row + self.height;
        let marks = self.targets.iter();
        let seen =
            marks.filter(|(mark, row)| is_of(**mark) && window.contains(*row) && says(**row));
        let seen = seen.map(|(mark, row)| (*row, *mark));
        let found = if is_first { seen.min() } else { seen.max() };
        found.map(|(_, mark)| mark)
    }

    /// Returns the first row of a target, and the row after its content.
    fn target_rows(&self, mark: ScrollTarget) -> Option<(usize, usize)> {
        let begins = *self.targets.get(&mark)?;
        let sort = std::mem::discriminant(&mark);
        let next = self
            .targets
            .iter()
            .filter(|(other, row)| std::mem::discriminant(*other) == sort && **row > begins);
        let end = next.map(|(_, row)| *row).min();
        Some((begins, end.unwrap_or(self.lines.len())))
    }

    /// Returns whether the view has a target.
    pub fn has_target(&self, mark: ScrollTarget) -> bool {
        self.targets.contains_key(&mark)
    }

    /// Returns whether a part of a target's content is visible.
    pub fn is_target_visible(&self, mark: ScrollTarget) -> bool {
        let rows = self.target_rows(mark);
        rows.is_some_and(|(begins, end)| {
            begins < self.first_row + self.height && end > self.first_row
        })
    }

    /// Returns whether a target's content continues below or above the window.
    pub fn extends_beyond_view(&self, mark: ScrollTarget, is_below: bool) -> bool {
        self.target_rows(mark).is_some_and(|(begins, end)| {
            if is_below {
                end > self.first_row + self.height
            } else {
                begins < self.first_row
            }
        })
    }

    /// Keeps a target and its content visible until the user scrolls or selects something.
    pub fn follow_target(&mut self, mark: Option<ScrollTarget>) {
        if self.followed_target.is_none() {
            self.is_scrolled_away = false;
        }
        self.followed_target = mark;
    }

    /// Returns the first line of the document, from 0, that is folded into a row.
    pub fn first_fold(&self) -> Option<usize> {
        self.targets.keys().find_map(|mark| match mark {
            ScrollTarget::Folded(line) => Some(*line),
            _ => None,
        })
    }

    /// Returns whether a line of the document, from 0, is folded into a row.
    pub fn is_folded(&self, line: usize) -> bool {
        self.is_hidden(line) || self.targets.contains_key(&ScrollTarget::Folded(line))
    }

    /// Returns whether a line of the document, from 0, is folded and not the first of its fold.
    pub fn is_hidden(&self, line: usize) -> bool {
        self.first_fold().is_some() && !self.targets.contains_key(&ScrollTarget::Line(line))
    }

    /// Replaces the lines; the scroll position stays.
    pub fn set_lines(&mut self, lines: Vec<Line<'static>>) {
        self.lines = lines;
        self.copied_lines.clear();
        self.version += 1;
    }

    /// Sets the lines to copy where the shown ones stand side by side.
    pub fn set_copied_lines(&mut self, lines: Vec<Line<'static>>) {
        self.copied_lines = lines;
    }

    /// Returns the scroll position, for restoring it later.
    pub fn position(&self) -> ScrollPosition {
        ScrollPosition {
            first_row: self.first_row,
            is_scrolled_away: self.is_scrolled_away,
        }
    }

    /// Restores a scroll position.
    pub fn restore_position(&mut self, stand: ScrollPosition) {
        (self.first_row, self.is_scrolled_away) = (stand.first_row, stand.is_scrolled_away);
        self.pending_scroll = None;
        self.scrolls_to_match = false;
    }

    /// Starts a search at the current position.
    pub fn begin_search(&mut self) {
        self.search_origin = Some(self.position());
    }

    /// Searches for letters from where the search began; without letters, goes back there.
    pub fn search(&mut self, letters: &str) {
        let origin = self.search_origin.unwrap_or_else(|| self.position());
        self.restore_position(origin);
        self.matches.search(letters, origin.first_row);
        self.scrolls_to_match = true;
    }

    /// Goes back to where the search began.
    pub fn cancel_search(&mut self) {
        if let Some(origin) = self.search_origin {
            self.restore_position(origin);
        }
    }

    /// Returns whether a search is active.
    pub fn is_searching(&self) -> bool {
        self.matches.is_searching()
    }

    /// Ends the search; the scroll position stays.
    pub fn end_search(&mut self) {
        self.matches = SearchMatches::default();
        self.scrolls_to_match = false;
        self.search_origin = None;
    }

    /// Goes to the next or previous match.
    pub fn step_match(&mut self, is_next: bool) {
        self.matches.step_match(is_next);
        self.scrolls_to_match = true;
    }

    /// Returns which match is current, from 1, and how many there are.
    pub fn match_position(&self) -> (usize, usize) {
        self.matches.match_position()
    }

    /// Returns the target at the current match or above it.
    pub fn match_target(&self) -> Option<ScrollTarget> {
        self.target_above(self.matches.current_row()?)
    }

    /// Sets the text beside the scroll position.
    pub fn set_status_text(&mut self, aside: &str) {
        self.status_text = match aside {
            "" => String::new(),
            aside => format!("· {aside} "),
        };
    }

    /// Sets the key names for scrolling; `None` if the view has no keys.
    pub fn set_page_keys(&mut self, keymap: Option<&ActiveKeymap>) {
        let Some(keymap) = keymap else {
            self.page_keys = <[String; 2]>::default();
            return;
        };
        let key = |action| keymap.key_label(action, ComposerFocus::Focused);
        self.page_keys = [key("page-up"), key("page-down")];
        self.end_key = keymap.key_label("end", ComposerFocus::Unfocused);
    }

    /// Returns the first visible line of the document, from 0.
    pub fn first_visible_line(&self) -> Option<usize> {
        let lines = self.targets.iter().filter_map(|(mark, row)| match mark {
            ScrollTarget::Line(line) if *row >= self.first_row => Some((*row, *line)),
            _ => None,
        });
        lines.min().map(|(_, line)| line)
    }

    /// Returns the lines of the document on the page, in order, from 0.
    pub fn document_lines(&self) -> Vec<usize> {
        let lines = self.targets.keys().filter_map(|mark| match mark {
            ScrollTarget::Line(line) => Some(*line),
            ScrollTarget::Folded(_)
            | ScrollTarget::Step(_)
            | ScrollTarget::Finding(_)
            | ScrollTarget::Settled
            | ScrollTarget::Reviews
            | ScrollTarget::Note(_)
            | ScrollTarget::Row(_) => None,
        });
        lines.collect()
    }

    /// Returns whether the view was drawn at a position.
    pub fn contains(&self, at: Position) -> bool {
        self.area.contains(at)
    }

    /// Returns the target at a position or above it.
    pub fn target_at(&self, at: Position) -> Option<ScrollTarget> {
        let (line, _) = self.place_at(at)?;
        self.target_above(line)
    }

    /// Returns the line at a position, and the column in it.
    pub fn place_at(&self, at: Position) -> Option<(usize, usize)> {
        if !self.area.contains(at) {
            return None;
        }
        let line = self.first_row + usize::from(at.y - self.area.y);
        (line < self.lines.len()).then(|| (line, usize::from(at.x - self.area.x)))
    }

    fn target_above(&self, line: usize) -> Option<ScrollTarget> {
        let before = self.targets.iter().filter(|(_, begins)| **begins <= line);
        before
            .max_by_key(|(_, begins)| **begins)
            .map(|(mark, _)| *mark)
    }

    pub fn scroll(&mut self, to: ScrollMove) {
        let page = self.height.saturating_sub(1).max(1);
        let last = self.last_first_row();
        if self.followed_target.is_some() {
            // The first press returns to the followed target; the next one goes to the end.
            let comes_back = to == ScrollMove::End && self.is_scrolled_away;
            self.is_scrolled_away = last > 0 && !comes_back;
            if comes_back {
                return;
            }
        }
        self.first_row = match to {
            ScrollMove::Up => self.first_row.saturating_sub(1),
            ScrollMove::Down => self.first_row + 1,
            ScrollMove::PageUp => self.first_row.saturating_sub(page),
            ScrollMove::PageDown => self.first_row + page,
            ScrollMove::Top => 0,
            ScrollMove::End => last,
        }
        .min(last);
        if self.followed_target.is_none() {
            self.is_scrolled_away = self.first_row < last;
        }
    }

    fn last_first_row(&self) -> usize {
        self.lines.len().saturating_sub(self.height)
    }

    /// Returns the scroll position at which the followed target is visible.
    fn followed_row(&self) -> Option<usize> {
        let row = *self.targets.get(&self.followed_target?)?;
        let next = self.targets.values().filter(|next| **next > row).min();
        let end = next.copied().unwrap_or(self.lines.len());
        if end <= self.height {
            Some(0)
        } else {
            Some(row.saturating_sub(self.height / 3))
        }
    }
}
