//! The text of one diff: a list of its files, then each file with its lines, and the window onto them.
//!
//! A place in it is an item and a row of that item, so that no more is laid out than is seen.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::Does;
use super::line::{self, Places};
use crate::text::unified_diff::{DiffLineKind, FileDiff, UnifiedDiff};
use crate::tui::found;
use crate::tui::theme;
use crate::tui::wrap::{cut, width};

/// A diff with the window onto it.
#[derive(Debug)]
pub struct Body {
    patch: UnifiedDiff,
    places: Places,
    items: Vec<Item>,
    at: Spot,
    sought: Sought,
}

/// What is looked for, and the items that have it.
#[derive(Debug, Default)]
struct Sought {
    /// In lower case; empty where nothing is.
    letters: String,
    items: Vec<usize>,
    /// Which of them is at hand, from 0.
    at: usize,
}

/// One thing in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    /// All files, counted.
    Totals,
    /// A file in the list of all.
    Listed(usize),
    Blank,
    /// A file before its lines.
    File(usize),
    /// A line.
    Line(usize),
}

/// A row of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Spot {
    item: usize,
    row: usize,
}

impl Body {
    /// Takes a diff, seen from its beginning.
    pub fn new(patch: UnifiedDiff) -> Self {
        let mut items = vec![Item::Totals];
        items.extend((0..patch.files.len()).map(Item::Listed));
        let before_first = patch
            .files
            .first()
            .map_or(patch.lines.len(), |file| file.first_line);
        items.extend((0..before_first).map(Item::Line));
        for (n, file) in patch.files.iter().enumerate() {
            items.extend([Item::Blank, Item::File(n)]);
            let lines = patch.file_lines(n).iter().enumerate();
            // What git says of a file stands in its heading.
            let shown = lines.filter(|(_, line)| line.kind != DiffLineKind::File);
            items.extend(shown.map(|(at, _)| Item::Line(file.first_line + at)));
        }
        Self {
            places: Places::of(&patch),
            patch,
            items,
            at: Spot::default(),
            sought: Sought::default(),
        }
    }

    /// Where the window stands, to come back to it.
    pub fn stand(&self) -> Spot {
        self.at
    }

    /// Looks for letters from a place on; with none the window stands there again.
    pub fn look_for(&mut self, letters: &str, from: Spot, size: (usize, usize)) {
        let letters = letters.to_lowercase();
        let has = |at: &usize| {
            let text = self.items.get(*at).map_or("", |item| self.text_of(*item));
            !letters.is_empty() && text.to_lowercase().contains(&letters)
        };
        let items: Vec<usize> = (0..self.items.len()).filter(has).collect();
        let at = items.iter().position(|item| *item >= from.item);
        self.at = from;
        self.sought = Sought {
            letters,
            items,
            at: at.unwrap_or(0),
        };
        self.bring(size);
    }

    /// Goes to the next line that has what is looked for, or the one before; around the ends.
    pub fn look_along(&mut self, is_next: bool, size: (usize, usize)) {
        let n = self.sought.items.len().max(1);
        self.sought.at = match is_next {
            true => (self.sought.at + 1) % n,
            false => (self.sought.at + n - 1) % n,
        };
        self.bring(size);
    }

    /// Which line of how many that have it is at hand, from 1.
    pub fn place_of_found(&self) -> (usize, usize) {
        let n = self.sought.items.len();
        ((self.sought.at + 1).min(n), n)
    }

    /// Brings the line that is at hand into the window.
    fn bring(&mut self, (rows, columns): (usize, usize)) {
        let Some(item) = self.sought.items.get(self.sought.at).copied() else {
            return;
        };
        let mut left = rows;
        for seen in self.at.item..self.items.len() {
            left = left.saturating_sub(self.lay_out(seen, columns).len());
            if seen == item && self.at <= (Spot { item, row: 0 }) {
                return;
            }
            if left == 0 {
                break;
            }
        }
        self.at = Spot { item, row: 0 };
        self.up(rows / 3, columns);
        self.at = self.at.min(self.end(rows, columns));
    }

    /// All of it as one would copy it.
    pub fn text(&self) -> String {
        let lines = self.patch.lines.iter().map(|line| line.text.as_str());
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The text in which something is looked for.
    fn text_of(&self, item: Item) -> &str {
        let line = |n: usize| self.patch.lines.get(n);
        match item {
            Item::File(n) => self.patch.files.get(n).map_or("", |file| &file.name),
            Item::Line(n) => line(n).map_or("", |line| match line.kind {
                DiffLineKind::Added | DiffLineKind::Removed | DiffLineKind::Context => {
                    line.text.get(1..).unwrap_or_default()
                }
                DiffLineKind::File | DiffLineKind::Hunk | DiffLineKind::Note => &line.text,
            }),
            Item::Totals | Item::Listed(_) | Item::Blank => "",
        }
    }

    /// Moves the window, which has so many rows and columns.
    pub fn scroll(&mut self, does: Does, (rows, columns): (usize, usize)) {
        let end = self.end(rows, columns);
        match does {
            Does::Up => self.up(1, columns),
            Does::Down => self.down(1, end, columns),
            Does::PageUp => self.up(rows.saturating_sub(1).max(1), columns),
            Does::PageDown => self.down(rows.saturating_sub(1).max(1), end, columns),
            Does::Top => self.at = Spot::default(),
            Does::End => self.at = end,
            Does::FileBefore => self.go_to_file_before(),
            Does::FileAfter => self.go_to_file_after(),
            Does::Left | Does::Right | Does::Again | Does::Close => {}
        }
    }

    /// The spot from which the last rows fill the window.
    fn end(&self, rows: usize, columns: usize) -> Spot {
        let mut left = rows;
        for item in (0..self.items.len()).rev() {
            let n = self.lay_out(item, columns).len();
            if n >= left {
                return Spot {
                    item,
                    row: n - left,
                };
            }
            left -= n;
        }
        Spot::default()
    }

    fn up(&mut self, n_rows: usize, columns: usize) {
        for _ in 0..n_rows {
            if self.at.row > 0 {
                self.at.row -= 1;
            } else if self.at.item > 0 {
                self.at.item -= 1;
                self.at.row = self.lay_out(self.at.item, columns).len().saturating_sub(1);
            }
        }
    }

    fn down(&mut self, n_rows: usize, end: Spot, columns: usize) {
        for _ in 0..n_rows {
            if self.at >= end {
                return;
            }
            if self.at.row + 1 < self.lay_out(self.at.item, columns).len() {
                self.at.row += 1;
            } else {
                self.at = Spot {
                    item: self.at.item + 1,
                    row: 0,
                };
            }
        }
    }

    fn files(&self) -> impl DoubleEndedIterator<Item = usize> {
        let is_file = |(_, item): &(usize, &Item)| matches!(item, Item::File(_));
        self.items
            .iter()
            .enumerate()
            .filter(is_file)
            .map(|(at, _)| at)
    }

    fn go_to_file_after(&mut self) {
        let next = self.files().find(|at| *at > self.at.item);
        if let Some(item) = next {
            self.at = Spot { item, row: 0 };
        }
    }

    fn go_to_file_before(&mut self) {
        let item = self.files().rfind(|at| *at < self.at.item).unwrap_or(0);
        self.at = Spot { item, row: 0 };
    }

    /// The file that the first visible row belongs to.
    fn file_here(&self) -> Option<usize> {
        let until_here = self.items.get(..=self.at.item)?;
        until_here.iter().rev().find_map(|item| match item {
            Item::File(n) => Some(*n),
            Item::Totals | Item::Listed(_) | Item::Blank | Item::Line(_) => None,
        })
    }

    /// Draws the visible rows and, below them, where they are.
    pub fn draw(&mut self, frame: &mut Frame, area: Rect) {
        let columns = usize::from(area.width);
        let rows = usize::from(area.height).saturating_sub(1);
        let last_row = self.lay_out(self.at.item, columns).len().saturating_sub(1);
        self.at.row = self.at.row.min(last_row);
        let mut visible: Vec<Line<'static>> = Vec::with_capacity(rows);
        let mut item = self.at.item;
        while visible.len() < rows && item < self.items.len() {
            let skip = if item == self.at.item { self.at.row } else { 0 };
            let rows = self.lay_out(item, columns);
            let is_at_hand = self.sought.items.get(self.sought.at) == Some(&item);
            let rows = found::lit(rows, &self.sought.letters, is_at_hand);
            visible.extend(rows.into_iter().skip(skip));
            item += 1;
        }
        visible.truncate(rows);
        frame.render_widget(Paragraph::new(visible), area);
        let below = Rect {
            y: area.bottom().saturating_sub(1),
            height: 1,
            ..area
        };
        let place = cut(&self.place(rows, columns), columns);
        frame.render_widget(Line::styled(place, theme::QUIET), below);
    }

    fn place(&self, rows: usize, columns: usize) -> String {
        let end = self.end(rows, columns);
        let percent = match self.at >= end {
            true => 100,
            false => self.at.item * 100 / end.item.max(1),
        };
        let file = self.file_here().and_then(|n| {
            let name = self.patch.files.get(n)?.title();
            Some(format!(
                "{name} ({} of {}) · ",
                n + 1,
                self.patch.files.len()
            ))
        });
        // The end of the line is what a narrow window may lose.
        format!("── {percent}% · {}", file.unwrap_or_default())
            .trim_end_matches(" · ")
            .to_owned()
    }

    fn lay_out(&self, item: usize, columns: usize) -> Vec<Line<'static>> {
        let file = |n: &usize| self.patch.files.get(*n);
        match self.items.get(item) {
            Some(Item::Totals) => vec![self.totals(columns)],
            Some(Item::Listed(n)) => file(n)
                .map(|file| listed(file, columns))
                .into_iter()
                .collect(),
            Some(Item::File(n)) => file(n)
                .map(|file| heading(file, columns))
                .into_iter()
                .collect(),
            Some(Item::Line(n)) => line::lines(&self.patch, &self.places, *n, columns),
            Some(Item::Blank) | None => vec![Line::default()],
        }
    }

    fn totals(&self, columns: usize) -> Line<'static> {
        let (added, removed) = self.patch.totals();
        let n_files = match self.patch.files.len() {
            1 => "1 file".to_owned(),
            n => format!("{n} files"),
        };
        let text = cut(&format!("{n_files}  +{added} −{removed}"), columns);
        Line::styled(text, theme::STRONG)
    }
}

/// A file in the list, with its counts in their colours.
fn listed(file: &FileDiff, columns: usize) -> Line<'static> {
    let counts = format!(
        "{:>6} {:>6}",
        format!("+{}", file.added),
        format!("−{}", file.removed)
    );
    let room = columns.saturating_sub(width(&counts) + 4);
    let mut about = file.notes.clone();
    if !about.is_empty() {
        about = format!("  {about}");
    }
    let title = cut(&file.title(), room.saturating_sub(width(&about)));
    let (added, removed) = counts.split_at(counts.find(" −").unwrap_or(counts.len()));
    let style = |n: usize, style: Style| if n > 0 { style } else { theme::QUIET };
    Line::from(vec![
        Span::styled(added.to_owned(), style(file.added, theme::GOOD)),
        Span::styled(removed.to_owned(), style(file.removed, theme::BAD)),
        Span::raw("  "),
        Span::raw(title),
        Span::styled(cut(&about, room), theme::QUIET),
    ])
}

/// A file before its lines.
fn heading(file: &FileDiff, columns: usize) -> Line<'static> {
    let counts = format!("  {} ", file.summary());
    let room = columns.saturating_sub(width(&counts) + 3);
    let text = format!("── {}{counts}", cut(&file.title(), room));
    let text = cut(&text, columns);
    let rest = "─".repeat(columns.saturating_sub(width(&text)));
    Line::styled(text + &rest, theme::STRONG)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(n_lines: usize) -> Body {
        let mut text = String::new();
        for name in ["a", "b"] {
            text.push_str(&format!(
                "diff --git a/{name} b/{name}\n@@ -0,0 +1,{n_lines} @@\n"
            ));
            for n in 0..n_lines {
                text.push_str(&format!("+line {n} 求和求和求和\n"));
            }
        }
        Body::new(UnifiedDiff::parse(&text))
    }

    #[test]
    fn the_next_and_the_earlier_file_are_found() {
        let mut body = body(50);
        let here = |body: &Body| body.file_here();
        assert_eq!(here(&body), None);
        for (does, wanted) in [
            (Does::FileAfter, Some(0)),
            (Does::FileAfter, Some(1)),
            (Does::FileAfter, Some(1)),
            (Does::Down, Some(1)),
            (Does::FileBefore, Some(1)),
            (Does::FileBefore, Some(0)),
            (Does::FileBefore, None),
        ] {
            body.scroll(does, (10, 80));
            assert_eq!(here(&body), wanted, "{does:?}");
        }
    }

    #[test]
    fn what_is_looked_for_is_brought_into_the_window() {
        let mut body = body(50);
        let size = (10, 80);
        body.look_for("LINE 7", Spot::default(), size);
        assert_eq!(body.place_of_found(), (1, 2));
        assert_eq!(body.file_here(), Some(0));
        body.look_along(true, size);
        assert_eq!(body.place_of_found(), (2, 2));
        assert_eq!(body.file_here(), Some(1));
        let there = body.stand();
        body.look_along(true, size);
        body.look_along(false, size);
        assert_eq!((body.place_of_found(), body.stand()), ((2, 2), there));
        body.look_for("+line", Spot::default(), size);
        assert_eq!(body.place_of_found(), (0, 0));
        body.look_for("", Spot::default(), size);
        assert_eq!(body.stand(), Spot::default());
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
        #[test]
        fn the_window_never_leaves_the_text(moves in proptest::collection::vec(0usize..8, 1..60), rows in 1usize..20, columns in 1usize..40) {
            let mut body = body(20);
            let end = body.end(rows, columns);
            for n in moves {
                let does = [Does::Up, Does::Down, Does::PageUp, Does::PageDown, Does::Top, Does::End, Does::Up, Does::Down][n];
                body.scroll(does, (rows, columns));
                proptest::prop_assert!(body.at <= end);
            }
            body.scroll(Does::End, (rows, columns));
            proptest::prop_assert_eq!(body.at, end);
        }
    }
}
