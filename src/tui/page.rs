//! Lines that are laid out, and the window onto them.

mod drawing;

use std::collections::BTreeMap;

use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::command::Move;
use super::found::Found;
use super::keymap::{IsWriting, Keymap};
use super::tabs::Tab;
use super::theme;

/// Where the window starts when new lines come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Anchor {
    /// It stays where it is.
    #[default]
    Top,
    /// It follows the last line until the user scrolls.
    End,
}

/// Laid out lines with a window.
#[derive(Debug, Default)]
pub struct Page {
    lines: Vec<Line<'static>>,
    from: usize,
    rows: usize,
    anchor: Anchor,
    /// Whether the user scrolled away from what it follows.
    away: bool,
    /// What it follows in the place of its end.
    followed: Option<Mark>,
    /// What the lines were laid out for.
    key: Option<u64>,
    /// The lines that can be gone to, by number.
    marks: BTreeMap<Mark, usize>,
    /// Where to go with the next frame, and how.
    wanted: Option<(Mark, Near)>,
    /// Where it was drawn last.
    place: Rect,
    /// The keys that turn its pages.
    keys: String,
    /// The key with which it follows again.
    end: String,
    /// What is said of it beside them; empty where it is nothing.
    aside: String,
    /// How many times other lines were put there.
    version: u64,
    found: Found,
    /// Whether what was found is brought into view with the next frame.
    brings_found: bool,
}

/// Where in the window something is brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Near {
    /// With a third of the window above it.
    Amid,
    /// As near to where it comes from as it can be seen.
    Edge,
}

/// Where a window stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stand {
    from: usize,
    away: bool,
}

/// Something on a page that can be gone to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
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
pub fn gutter(lines: Vec<Line<'static>>, is_picked: bool) -> Vec<Line<'static>> {
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
pub struct Marked {
    /// All of them.
    pub lines: Vec<Line<'static>>,
    /// The places of some.
    pub marks: BTreeMap<Mark, usize>,
}

impl Marked {
    /// Puts others below them.
    pub fn append(&mut self, below: Self) {
        let n = self.lines.len();
        let marks = below.marks.into_iter();
        self.marks.extend(marks.map(|(mark, row)| (mark, n + row)));
        self.lines.extend(below.lines);
    }
}

impl From<Vec<Line<'static>>> for Marked {
    fn from(lines: Vec<Line<'static>>) -> Self {
        Self {
            lines,
            marks: BTreeMap::new(),
        }
    }
}

/// The pages of the tabs but Chat.
#[derive(Debug)]
pub struct Pages {
    plan: Page,
    comments: Page,
    log: Page,
    status: Page,
}

impl Default for Pages {
    fn default() -> Self {
        Self {
            plan: Page::default(),
            comments: Page::default(),
            log: Page::following(),
            status: Page::default(),
        }
    }
}

impl Pages {
    /// The page of a tab; Chat, which has none, gives that of the plan.
    pub fn of(&mut self, tab: Tab) -> &mut Page {
        match tab {
            Tab::Chat | Tab::Plan => &mut self.plan,
            Tab::Comments => &mut self.comments,
            Tab::Log => &mut self.log,
            Tab::Status => &mut self.status,
        }
    }
}

impl Page {
    /// A page that follows its end.
    pub fn following() -> Self {
        Self {
            anchor: Anchor::End,
            ..Self::default()
        }
    }

    /// Puts lines there that are laid out by `lay_out`, unless they were already at this `key`.
    pub fn lay_out<Laid: Into<Marked>>(&mut self, key: u64, lay_out: impl FnOnce() -> Laid) {
        if self.key != Some(key) {
            self.key = Some(key);
            let Marked { lines, marks } = lay_out().into();
            (self.lines, self.marks) = (lines, marks);
            self.version += 1;
        }
    }

    /// Puts lines there like [`Page::lay_out`]; what is marked and in view stays in its row, whatever comes before it.
    pub fn lay_out_around<Laid: Into<Marked>>(&mut self, key: u64, lay_out: impl FnOnce() -> Laid) {
        let stands = self.marks.iter().filter(|(_, row)| **row >= self.from);
        let stands = stands
            .min_by_key(|(_, row)| **row)
            .map(|(mark, row)| (*mark, *row));
        self.lay_out(key, lay_out);
        if let Some((mark, before)) = stands.filter(|_| self.away)
            && let Some(now) = self.marks.get(&mark)
        {
            self.from = (self.from + now).saturating_sub(before);
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
    pub fn is_away(&self) -> bool {
        self.away
    }

    /// Tells whether the first line that is marked stands in the window.
    pub fn sees_first_mark(&self) -> bool {
        let first = self.marks.values().min();
        first.is_some_and(|row| (self.from..self.from + self.rows).contains(row))
    }

    /// Brings a marked line into view with the next frame, where it has one of that number then.
    pub fn bring(&mut self, mark: Mark) {
        self.wanted = Some((mark, Near::Amid));
    }

    /// Moves the window with the next frame no further than a marked line needs to be seen with what belongs to it.
    pub fn reveal(&mut self, mark: Mark) {
        self.wanted = Some((mark, Near::Edge));
    }

    /// The first of the marked lines of one sort that is in view and says something, or the last one.
    pub fn in_view(&self, is_first: bool, is_of: impl Fn(Mark) -> bool) -> Option<Mark> {
        let says = |row: usize| {
            let text = self.lines.get(row).map(ToString::to_string);
            text.is_some_and(|text| text.chars().any(char::is_alphanumeric))
        };
        let window = self.from..self.from + self.rows;
        let marks = self.marks.iter();
        let seen =
            marks.filter(|(mark, row)| is_of(**mark) && window.contains(*row) && says(**row));
        let seen = seen.map(|(mark, row)| (*row, *mark));
        let found = if is_first { seen.min() } else { seen.max() };
        found.map(|(_, mark)| mark)
    }

    /// Where a marked line and what belongs to it begin, and where they end.
    fn rows_of(&self, mark: Mark) -> Option<(usize, usize)> {
        let begins = *self.marks.get(&mark)?;
        let sort = std::mem::discriminant(&mark);
        let next = self
            .marks
            .iter()
            .filter(|(other, row)| std::mem::discriminant(*other) == sort && **row > begins);
        let end = next.map(|(_, row)| *row).min();
        Some((begins, end.unwrap_or(self.lines.len())))
    }

    /// Tells whether it has a line that is marked so.
    pub fn has(&self, mark: Mark) -> bool {
        self.marks.contains_key(&mark)
    }

    /// Tells whether something of what belongs to a marked line is in view.
    pub fn shows(&self, mark: Mark) -> bool {
        let rows = self.rows_of(mark);
        rows.is_some_and(|(begins, end)| begins < self.from + self.rows && end > self.from)
    }

    /// Tells whether what belongs to a marked line goes on below the window, or above it.
    pub fn goes_on(&self, mark: Mark, is_below: bool) -> bool {
        self.rows_of(mark)
            .is_some_and(|(begins, end)| match is_below {
                true => end > self.from + self.rows,
                false => begins < self.from,
            })
    }

    /// Keeps a marked line and what belongs to it in view from now on, until the user scrolls or points at something.
    pub fn follow(&mut self, mark: Option<Mark>) {
        if self.followed.is_none() {
            self.away = false;
        }
        self.followed = mark;
    }

    /// The first line of the document, from 0, in whose place and that of others a row stands.
    pub fn first_fold(&self) -> Option<usize> {
        self.marks.keys().find_map(|mark| match mark {
            Mark::Folded(line) => Some(*line),
            _ => None,
        })
    }

    /// Tells whether a row stands in the place of this line of the document, from 0, and of others.
    pub fn is_folded(&self, line: usize) -> bool {
        self.is_hidden(line) || self.marks.contains_key(&Mark::Folded(line))
    }

    /// Tells whether a line of the document, from 0, is one of those that a row stands for, but for the first of them.
    pub fn is_hidden(&self, line: usize) -> bool {
        self.first_fold().is_some() && !self.marks.contains_key(&Mark::Line(line))
    }

    /// Puts other lines there; the window stays.
    pub fn set_lines(&mut self, lines: Vec<Line<'static>>) {
        self.lines = lines;
        self.version += 1;
    }

    /// Where the window stands, to come back to it.
    pub fn stand(&self) -> Stand {
        Stand {
            from: self.from,
            away: self.away,
        }
    }

    /// Stands where it stood.
    pub fn go_back(&mut self, stand: Stand) {
        (self.from, self.away) = (stand.from, stand.away);
        self.wanted = None;
        self.brings_found = false;
    }

    /// Looks for letters from where the window stood on; nothing is looked for with none.
    pub fn look_for(&mut self, letters: &str, stand: Stand) {
        self.go_back(stand);
        self.found.look_for(letters, stand.from);
        self.brings_found = true;
    }

    /// Tells whether something is looked for.
    pub fn is_looking(&self) -> bool {
        self.found.is_looking()
    }

    /// Looks for nothing any more; the window stays.
    pub fn end_looking(&mut self) {
        self.found = Found::default();
        self.brings_found = false;
    }

    /// Goes to the next place of what is looked for, or the one before.
    pub fn look_along(&mut self, is_next: bool) {
        self.found.step(is_next);
        self.brings_found = true;
    }

    /// Which place of how many is at hand, from 1.
    pub fn place_of_found(&self) -> (usize, usize) {
        self.found.place()
    }

    /// What begins at the place that is at hand, or above it.
    pub fn mark_of_found(&self) -> Option<Mark> {
        self.mark_above(self.found.row()?)
    }

    /// Says something beside how far it is.
    pub fn say_aside(&mut self, aside: &str) {
        self.aside = match aside {
            "" => String::new(),
            aside => format!("· {aside} "),
        };
    }

    /// Names the keys that turn its pages; none where it has none.
    pub fn name_keys(&mut self, keymap: Option<&Keymap>) {
        let Some(keymap) = keymap else {
            self.keys.clear();
            return;
        };
        let key = |action| keymap.named(action, IsWriting::Yes);
        self.keys = format!("{} {}", key("page-up"), key("page-down"));
        self.end = keymap.named("end", IsWriting::No);
    }

    /// The first line of the document that begins in view, from 0.
    pub fn first_line_in_view(&self) -> Option<usize> {
        let lines = self.marks.iter().filter_map(|(mark, row)| match mark {
            Mark::Line(line) if *row >= self.from => Some((*row, *line)),
            _ => None,
        });
        lines.min().map(|(_, line)| line)
    }

    /// The lines of the document that stand on the page, in order, from 0.
    pub fn document_lines(&self) -> Vec<usize> {
        let lines = self.marks.keys().filter_map(|mark| match mark {
            Mark::Line(line) => Some(*line),
            Mark::Folded(_)
            | Mark::Step(_)
            | Mark::Finding(_)
            | Mark::Settled
            | Mark::Reviews
            | Mark::Note(_)
            | Mark::Row(_) => None,
        });
        lines.collect()
    }

    /// Tells whether it was drawn at a place of the screen.
    pub fn is_at(&self, at: Position) -> bool {
        self.place.contains(at)
    }

    /// What stands at a place of the screen, where something begins there or above it.
    pub fn mark_at(&self, at: Position) -> Option<Mark> {
        if !self.place.contains(at) {
            return None;
        }
        let line = self.from + usize::from(at.y - self.place.y);
        if line >= self.lines.len() {
            return None;
        }
        self.mark_above(line)
    }

    fn mark_above(&self, line: usize) -> Option<Mark> {
        let before = self.marks.iter().filter(|(_, begins)| **begins <= line);
        before
            .max_by_key(|(_, begins)| **begins)
            .map(|(mark, _)| *mark)
    }

    /// Moves the window.
    pub fn scroll(&mut self, to: Move) {
        let page = self.rows.saturating_sub(1).max(1);
        let last = self.last();
        if self.followed.is_some() {
            // Its end is one key further.
            let comes_back = to == Move::End && self.away;
            self.away = last > 0 && !comes_back;
            if comes_back {
                return;
            }
        }
        self.from = match to {
            Move::Up => self.from.saturating_sub(1),
            Move::Down => self.from + 1,
            Move::PageUp => self.from.saturating_sub(page),
            Move::PageDown => self.from + page,
            Move::Top => 0,
            Move::End => last,
        }
        .min(last);
        if self.followed.is_none() {
            self.away = self.from < last;
        }
    }

    fn last(&self) -> usize {
        self.lines.len().saturating_sub(self.rows)
    }

    /// The first row of the window in which what is followed stands.
    fn row_of_followed(&self) -> Option<usize> {
        let row = *self.marks.get(&self.followed?)?;
        let next = self.marks.values().filter(|next| **next > row).min();
        let end = next.copied().unwrap_or(self.lines.len());
        match end <= self.rows {
            true => Some(0),
            false => Some(row.saturating_sub(self.rows / 3)),
        }
    }
}
