//! Lines that are laid out, and the window onto them.

mod scroll_view_render;

use std::collections::BTreeMap;

use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::command::ScrollMove;
use super::keymap::{ActiveKeymap, ComposerFocus};
use super::search_highlight::SearchMatches;
use super::tabs::TabKind;
use super::theme;

/// Where the window starts when new lines come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScrollAnchor {
    /// It stays where it is.
    #[default]
    Top,
    /// It follows the last line until the user scrolls.
    End,
}

/// Laid out lines with a window.
#[derive(Debug, Default)]
pub struct ScrollView {
    lines: Vec<Line<'static>>,
    first_row: usize,
    height: usize,
    anchor: ScrollAnchor,
    /// Whether the user scrolled away from what it follows.
    is_scrolled_away: bool,
    /// What it follows in the place of its end.
    followed_target: Option<ScrollTarget>,
    /// What the lines were laid out for.
    key: Option<u64>,
    /// The lines that can be gone to, by number.
    targets: BTreeMap<ScrollTarget, usize>,
    /// Where to go with the next frame, and how.
    pending_scroll: Option<(ScrollTarget, RevealPlacement)>,
    /// Where it was drawn last.
    area: Rect,
    /// The keys that turn its pages.
    page_keys: String,
    /// The key with which it follows again.
    end_key: String,
    /// What is said of it beside them; empty where it is nothing.
    status_text: String,
    /// How many times other lines were put there.
    version: u64,
    matches: SearchMatches,
    /// Whether what was found is brought into view with the next frame.
    scrolls_to_match: bool,
}

/// Where in the window something is brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RevealPlacement {
    /// With a third of the window above it.
    UpperThird,
    /// As near to where it comes from as it can be seen.
    NearestEdge,
}

/// Where a window stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScrollPosition {
    first_row: usize,
    is_scrolled_away: bool,
}

/// Something on a page that can be gone to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScrollTarget {
    /// A row in the place of several lines of the document, by the first of them, from 0; that line is marked there, too.
    Folded(usize),
    /// A step of the plan, by its place among them, from 0; its line is marked there, too.
    Step(usize),
    /// A finding, by its number.
    Finding(u32),
    /// The row before the settled findings.
    Settled,
    /// The row that stands for all reviews.
    Reviews,
    /// A note of the user, by its number.
    Note(u32),
    /// A line of the document, from 0.
    Line(usize),
    /// A row of a list, by its number.
    Row(i64),
}

/// Puts the column in front of lines in which the one that is pointed at is marked.
pub fn add_gutter(lines: Vec<Line<'static>>, is_picked: bool) -> Vec<Line<'static>> {
    let sign = if is_picked { "▌" } else { " " };
    let mut lines = lines;
    for line in &mut lines {
        // The line's own style is not the mark's.
        let style = std::mem::take(&mut line.style);
        for span in &mut line.spans {
            span.style = style.patch(span.style);
        }
        line.spans.insert(0, Span::styled(sign, theme::KEY));
    }
    lines
}

/// Lines, and those of them that can be gone to.
#[derive(Debug, Default)]
pub struct ScrollContent {
    /// All of them.
    pub lines: Vec<Line<'static>>,
    /// The places of some.
    pub targets: BTreeMap<ScrollTarget, usize>,
}

impl ScrollContent {
    /// Puts others below them.
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

/// The pages of the tabs but Chat.
#[derive(Debug)]
pub struct TabScrollViews {
    plan: ScrollView,
    comments: ScrollView,
    log: ScrollView,
    status: ScrollView,
}

impl Default for TabScrollViews {
    fn default() -> Self {
        Self {
            plan: ScrollView::default(),
            comments: ScrollView::default(),
            log: ScrollView::following_end(),
            status: ScrollView::default(),
        }
    }
}

impl TabScrollViews {
    /// The page of a tab; Chat, which has none, gives that of the plan.
    pub fn for_tab(&mut self, tab: TabKind) -> &mut ScrollView {
        match tab {
            TabKind::Chat | TabKind::Plan => &mut self.plan,
            TabKind::Comments => &mut self.comments,
            TabKind::Log => &mut self.log,
            TabKind::Status => &mut self.status,
        }
    }
}

impl ScrollView {
    /// A page that follows its end.
    pub fn following_end() -> Self {
        Self {
            anchor: ScrollAnchor::End,
            ..Self::default()
        }
    }

    /// Puts lines there that are laid out by `lay_out`, unless they were already at this `key`.
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

    /// Puts lines there like [`ScrollView::lay_out`]; what is marked and in view stays in its row, whatever comes before it.
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

    /// All that stands there, as one would copy it.
    pub fn text(&self) -> String {
        let lines = self
            .lines
            .iter()
            .map(|line| line.to_string().trim_end().to_owned());
        lines.collect::<Vec<String>>().join("\n")
    }

    /// Tells whether somebody scrolled away from what the window follows.
    pub fn is_scrolled_away(&self) -> bool {
        self.is_scrolled_away
    }

    /// Tells whether the first line that is marked stands in the window.
    pub fn is_first_target_visible(&self) -> bool {
        let first = self.targets.values().min();
        first.is_some_and(|row| (self.first_row..self.first_row + self.height).contains(row))
    }

    /// Brings a marked line into view with the next frame, where it has one of that number then.
    pub fn scroll_to(&mut self, mark: ScrollTarget) {
        self.pending_scroll = Some((mark, RevealPlacement::UpperThird));
    }

    /// Moves the window with the next frame no further than a marked line needs to be seen with what belongs to it.
    pub fn reveal(&mut self, mark: ScrollTarget) {
        self.pending_scroll = Some((mark, RevealPlacement::NearestEdge));
    }

    /// The first of the marked lines of one sort that is in view and says something, or the last one.
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

    /// Where a marked line and what belongs to it begin, and where they end.
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

    /// Tells whether it has a line that is marked so.
    pub fn has_target(&self, mark: ScrollTarget) -> bool {
        self.targets.contains_key(&mark)
    }

    /// Tells whether something of what belongs to a marked line is in view.
    pub fn is_target_visible(&self, mark: ScrollTarget) -> bool {
        let rows = self.target_rows(mark);
        rows.is_some_and(|(begins, end)| {
            begins < self.first_row + self.height && end > self.first_row
        })
    }

    /// Tells whether what belongs to a marked line goes on below the window, or above it.
    pub fn extends_beyond_view(&self, mark: ScrollTarget, is_below: bool) -> bool {
        self.target_rows(mark).is_some_and(|(begins, end)| {
            if is_below {
                end > self.first_row + self.height
            } else {
                begins < self.first_row
            }
        })
    }

    /// Keeps a marked line and what belongs to it in view from now on, until the user scrolls or points at something.
    pub fn follow_target(&mut self, mark: Option<ScrollTarget>) {
        if self.followed_target.is_none() {
            self.is_scrolled_away = false;
        }
        self.followed_target = mark;
    }

    /// The first line of the document, from 0, in whose place and that of others a row stands.
    pub fn first_fold(&self) -> Option<usize> {
        self.targets.keys().find_map(|mark| match mark {
            ScrollTarget::Folded(line) => Some(*line),
            _ => None,
        })
    }

    /// Tells whether a row stands in the place of this line of the document, from 0, and of others.
    pub fn is_folded(&self, line: usize) -> bool {
        self.is_hidden(line) || self.targets.contains_key(&ScrollTarget::Folded(line))
    }

    /// Tells whether a line of the document, from 0, is one of those that a row stands for, but for the first of them.
    pub fn is_hidden(&self, line: usize) -> bool {
        self.first_fold().is_some() && !self.targets.contains_key(&ScrollTarget::Line(line))
    }

    /// Puts other lines there; the window stays.
    pub fn set_lines(&mut self, lines: Vec<Line<'static>>) {
        self.lines = lines;
        self.version += 1;
    }

    /// Where the window stands, to come back to it.
    pub fn position(&self) -> ScrollPosition {
        ScrollPosition {
            first_row: self.first_row,
            is_scrolled_away: self.is_scrolled_away,
        }
    }

    /// Stands where it stood.
    pub fn restore_position(&mut self, stand: ScrollPosition) {
        (self.first_row, self.is_scrolled_away) = (stand.first_row, stand.is_scrolled_away);
        self.pending_scroll = None;
        self.scrolls_to_match = false;
    }

    /// Looks for letters from where the window stood on; nothing is looked for with none.
    pub fn search(&mut self, letters: &str, stand: ScrollPosition) {
        self.restore_position(stand);
        self.matches.search(letters, stand.first_row);
        self.scrolls_to_match = true;
    }

    /// Tells whether something is looked for.
    pub fn is_searching(&self) -> bool {
        self.matches.is_searching()
    }

    /// Looks for nothing any more; the window stays.
    pub fn end_search(&mut self) {
        self.matches = SearchMatches::default();
        self.scrolls_to_match = false;
    }

    /// Goes to the next place of what is looked for, or the one before.
    pub fn step_match(&mut self, is_next: bool) {
        self.matches.step_match(is_next);
        self.scrolls_to_match = true;
    }

    /// Which place of how many is at hand, from 1.
    pub fn match_position(&self) -> (usize, usize) {
        self.matches.match_position()
    }

    /// What begins at the place that is at hand, or above it.
    pub fn match_target(&self) -> Option<ScrollTarget> {
        self.target_above(self.matches.current_row()?)
    }

    /// Says something beside how far it is.
    pub fn set_status_text(&mut self, aside: &str) {
        self.status_text = match aside {
            "" => String::new(),
            aside => format!("· {aside} "),
        };
    }

    /// Names the keys that turn its pages; none where it has none.
    pub fn set_page_keys(&mut self, keymap: Option<&ActiveKeymap>) {
        let Some(keymap) = keymap else {
            self.page_keys.clear();
            return;
        };
        let key = |action| keymap.key_label(action, ComposerFocus::Focused);
        self.page_keys = format!("{} {}", key("page-up"), key("page-down"));
        self.end_key = keymap.key_label("end", ComposerFocus::Unfocused);
    }

    /// The first line of the document that begins in view, from 0.
    pub fn first_visible_line(&self) -> Option<usize> {
        let lines = self.targets.iter().filter_map(|(mark, row)| match mark {
            ScrollTarget::Line(line) if *row >= self.first_row => Some((*row, *line)),
            _ => None,
        });
        lines.min().map(|(_, line)| line)
    }

    /// The lines of the document that stand on the page, in order, from 0.
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

    /// Tells whether it was drawn at a place of the screen.
    pub fn contains(&self, at: Position) -> bool {
        self.area.contains(at)
    }

    /// What stands at a place of the screen, where something begins there or above it.
    pub fn target_at(&self, at: Position) -> Option<ScrollTarget> {
        if !self.area.contains(at) {
            return None;
        }
        let line = self.first_row + usize::from(at.y - self.area.y);
        if line >= self.lines.len() {
            return None;
        }
        self.target_above(line)
    }

    fn target_above(&self, line: usize) -> Option<ScrollTarget> {
        let before = self.targets.iter().filter(|(_, begins)| **begins <= line);
        before
            .max_by_key(|(_, begins)| **begins)
            .map(|(mark, _)| *mark)
    }

    /// Moves the window.
    pub fn scroll(&mut self, to: ScrollMove) {
        let page = self.height.saturating_sub(1).max(1);
        let last = self.last_first_row();
        if self.followed_target.is_some() {
            // Its end is one key further.
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

    /// The first row of the window in which what is followed stands.
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
