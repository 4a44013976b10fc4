//! The scrollable text of one diff: a list of its files, then each file with its lines.
//!
//! A position is an item and a row within that item, so that only visible rows are laid out.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::DiffAction;
use super::diff_line::{DiffLineMap, hunk_label, parse_hunk_start};
use super::file_list::{self, FileAreas};
use crate::text::unified_diff::{DiffLineKind, FileDiff, UnifiedDiff};
use crate::text::{describe_line_counts, pluralize};
use crate::tui::diff_row::fill_row;
use crate::tui::markdown::HighlightLanguage;
use crate::tui::search_highlight;
use crate::tui::text_wrap::{text_width, truncate_middle, truncate_to_columns};
use crate::tui::theme::{self, Surface};
use crate::tui::view_moves::ScrollMove;

/// From this width on, the files stand at the left of the text.
const MIN_FILE_LIST_COLUMNS: u16 = 98;
/// From this width on, there is room for the old text beside the new one.
pub const MIN_SIDES_COLUMNS: u16 = 148;

/// A diff and the visible window of it.
#[derive(Debug)]
pub struct DiffBody {
    diff: UnifiedDiff,
    line_map: DiffLineMap,
    items: Vec<DiffItem>,
    position: DiffPosition,
    search: DiffSearch,
    /// Whether the files stand at the left instead of above the text.
    has_file_list: bool,
    /// The files of that list in the last frame.
    file_areas: FileAreas,
    /// Whether the old text stands beside the new one.
    is_side_by_side: bool,
}

/// A search in the diff, with the items that match.
#[derive(Debug, Default)]
struct DiffSearch {
    /// In lower case; empty without a search.
    query: String,
    matches: Vec<usize>,
    /// Index into `matches`, from 0.
    current: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DiffItem {
    /// Counts of all files.
    Totals,
    /// Index of a file in the list at the top.
    FileEntry(usize),
    Blank,
    /// Index of a file, as a heading above its lines.
    FileHeading(usize),
    Line(usize),
}

/// A scroll position: an item and a row of that item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct DiffPosition {
    item: usize,
    row: usize,
}

impl DiffBody {
    /// Creates the view of a diff, scrolled to its start.
    pub fn new(patch: UnifiedDiff) -> Self {
        let mut items = vec![DiffItem::Totals];
        items.extend((0..patch.files.len()).map(DiffItem::FileEntry));
        let before_first = patch
            .files
            .first()
            .map_or(patch.lines.len(), |file| file.first_line);
        items.extend((0..before_first).map(DiffItem::Line));
        for (n, file) in patch.files.iter().enumerate() {
            items.extend([DiffItem::Blank, DiffItem::FileHeading(n)]);
            let lines = patch.file_lines(n).iter().enumerate();
            // Git's own lines about a file are summarized in its heading.
            let shown = lines.filter(|(_, line)| line.kind != DiffLineKind::File);
            // The heading also says where the first hunk starts.
            let mut shown = shown.peekable();
            shown.next_if(|(_, line)| line.kind == DiffLineKind::Hunk);
            items.extend(shown.map(|(at, _)| DiffItem::Line(file.first_line + at)));
        }
        Self {
            line_map: DiffLineMap::new(&patch, None),
            diff: patch,
            items,
            position: DiffPosition::default(),
            search: DiffSearch::default(),
            has_file_list: false,
            file_areas: Vec::new(),
            is_side_by_side: false,
        }
    }

    /// Returns the scroll position, to restore it later.
    pub fn position(&self) -> DiffPosition {
        self.position
    }

    /// Searches for a text from a position on; an empty text scrolls back to that position.
    pub fn search(&mut self, letters: &str, from: DiffPosition, size: (usize, usize)) {
        let letters = letters.to_lowercase();
        let has = |at: &usize| {
            let text = self.items.get(*at).map_or("", |item| self.item_text(*item));
            !letters.is_empty() && text.to_lowercase().contains(&letters)
        };
        let items: Vec<usize> = (0..self.items.len()).filter(has).collect();
        let at = items.iter().position(|item| *item >= from.item);
        self.position = from;
        self.search = DiffSearch {
            query: letters,
            matches: items,
            current: at.unwrap_or(0),
        };
        self.reveal_match(size.0, size.1);
    }

    /// Moves to the next or previous match, with wrap-around.
    pub fn step_match(&mut self, is_next: bool, size: (usize, usize)) {
        let n = self.search.matches.len().max(1);
        self.search.current = if is_next {
            (self.search.current + 1) % n
        } else {
            (self.search.current + n - 1) % n
        };
        self.reveal_match(size.0, size.1);
    }

    /// Returns the number of the current match, from 1, and the count of matches.
    pub fn match_position(&self) -> (usize, usize) {
        let n = self.search.matches.len();
        ((self.search.current + 1).min(n), n)
    }

    /// Scrolls the current match into the window.
    fn reveal_match(&mut self, rows: usize, columns: usize) {
        let Some(item) = self.search.matches.get(self.search.current).copied() else {
            return;
        };
        let item = self.visible_item(item);
        let mut left = rows;
        for seen in self.position.item..self.items.len() {
            left = left.saturating_sub(self.item_lines(seen, columns).len());
            if seen == item && self.position <= (DiffPosition { item, row: 0 }) {
                return;
            }
            if left == 0 {
                break;
            }
        }
        self.position = DiffPosition { item, row: 0 };
        self.scroll_up(rows / 3, columns);
        self.position = self.position.min(self.end_position(rows, columns));
    }

    /// Returns the item whose rows show an item: of two lines side by side, the removed one.
    fn visible_item(&self, item: usize) -> usize {
        let Some(DiffItem::Line(n)) = self.items.get(item).filter(|_| self.is_side_by_side) else {
            return item;
        };
        let owner = self.line_map.row_owner(&self.diff, *n);
        item.saturating_sub(n.saturating_sub(owner))
    }

    /// Returns the whole diff as text, for the clipboard.
    pub fn to_text(&self) -> String {
        let lines = self.diff.lines.iter().map(|line| line.text.as_str());
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Returns the text that a search matches against.
    fn item_text(&self, item: DiffItem) -> &str {
        let line = |n: usize| self.diff.lines.get(n);
        match item {
            DiffItem::FileHeading(n) => self.diff.files.get(n).map_or("", |file| &file.name),
            DiffItem::Line(n) => line(n).map_or("", |line| match line.kind {
                DiffLineKind::Added | DiffLineKind::Removed | DiffLineKind::Context => {
                    line.text.get(1..).unwrap_or_default()
                }
                DiffLineKind::File | DiffLineKind::Hunk | DiffLineKind::Note => &line.text,
            }),
            DiffItem::Totals | DiffItem::FileEntry(_) | DiffItem::Blank => "",
        }
    }

    /// Scrolls a window of that many rows and columns.
    pub fn scroll(&mut self, does: DiffAction, rows: usize, columns: usize) {
        let end = self.end_position(rows, columns);
        match does {
            DiffAction::Scroll(ScrollMove::Up) => self.scroll_up(1, columns),
            DiffAction::Scroll(ScrollMove::Down) => self.scroll_down(1, end, columns),
            DiffAction::Scroll(ScrollMove::PageUp) => {
                self.scroll_up(rows.saturating_sub(1).max(1), columns)
            }
            DiffAction::Scroll(ScrollMove::PageDown) => {
                self.scroll_down(rows.saturating_sub(1).max(1), end, columns)
            }
            DiffAction::Scroll(ScrollMove::Top) => self.position = DiffPosition::default(),
            DiffAction::Scroll(ScrollMove::End) => self.position = end,
            DiffAction::PreviousFile => self.go_to_previous_file(),
            DiffAction::NextFile => self.go_to_next_file(columns),
            DiffAction::PreviousDiff
            | DiffAction::NextDiff
            | DiffAction::Reload
            | DiffAction::SideBySide
            | DiffAction::Close => {}
        }
    }

    /// Returns the position from which the last rows fill the window.
    fn end_position(&self, rows: usize, columns: usize) -> DiffPosition {
        let mut left = rows;
        for item in (0..self.items.len()).rev() {
            let n = self.item_lines(item, columns).len();
            if n >= left {
                return DiffPosition {
                    item,
                    row: n - left,
                };
            }
            left -= n;
        }
        DiffPosition::default()
    }

    fn scroll_up(&mut self, n_rows: usize, columns: usize) {
        for _ in 0..n_rows {
            if self.position.row > 0 {
                self.position.row -= 1;
                continue;
            }
            let before = (0..self.position.item).rev().map(|item| DiffPosition {
                item,
                row: self.item_lines(item, columns).len(),
            });
            if let Some(found) = before.into_iter().find(|found| found.row > 0) {
                self.position = DiffPosition {
                    row: found.row - 1,
                    ..found
                };
            }
        }
    }

    fn scroll_down(&mut self, n_rows: usize, end: DiffPosition, columns: usize) {
        for _ in 0..n_rows {
            // An item without rows is no step.
            while self.position < end && self.item_lines(self.position.item, columns).is_empty() {
                self.position.item += 1;
            }
            if self.position >= end {
                return;
            }
            if self.position.row + 1 < self.item_lines(self.position.item, columns).len() {
                self.position.row += 1;
            } else {
                self.position = DiffPosition {
                    item: self.position.item + 1,
                    row: 0,
                };
            }
        }
    }

    fn file_items(&self) -> impl DoubleEndedIterator<Item = usize> {
        let is_file = |(_, item): &(usize, &DiffItem)| matches!(item, DiffItem::FileHeading(_));
        self.items
            .iter()
            .enumerate()
            .filter(is_file)
            .map(|(at, _)| at)
    }

    fn go_to_next_file(&mut self, columns: usize) {
        let here = self.position.item;
        // Where the list of files has a column of its own, the first heading already stands at the top.
        let has_rows = |item: usize| !self.item_lines(item, columns).is_empty();
        let is_below = |at: usize| at > here && (here..at).any(has_rows);
        let next = self.file_items().find(|at| is_below(*at));
        if let Some(item) = next {
            self.position = DiffPosition { item, row: 0 };
        }
    }

    fn go_to_previous_file(&mut self) {
        let item = self
            .file_items()
            .rfind(|at| *at < self.position.item)
            .unwrap_or(0);
        self.position = DiffPosition { item, row: 0 };
    }

    /// Goes to the file of the list that is at this place of the last frame.
    pub fn click(&mut self, at: Position) {
        let mut areas = self.file_areas.iter();
        let clicked = areas.find_map(|(place, file)| place.contains(at).then_some(*file));
        if let Some(file) = clicked {
            self.go_to_file(file);
        }
    }

    /// Goes to the file of this path, if it is in the diff.
    pub fn go_to_path(&mut self, path: &str) {
        let mut files = self.diff.files.iter();
        if let Some(file) = files.position(|file| file.name == path) {
            self.go_to_file(file);
        }
    }

    fn go_to_file(&mut self, file: usize) {
        let heading = self.file_items().nth(file);
        if let Some(item) = heading {
            self.position = DiffPosition { item, row: 0 };
        }
    }

    /// Returns the file of the first visible row.
    fn current_file(&self) -> Option<usize> {
        let until_here = self.items.get(..=self.position.item)?;
        until_here.iter().rev().find_map(|item| match item {
            DiffItem::FileHeading(n) => Some(*n),
            DiffItem::Totals | DiffItem::FileEntry(_) | DiffItem::Blank | DiffItem::Line(_) => None,
        })
    }

    /// Returns a line with the counts of all files, if the list of files does not tell them.
    pub fn totals_beside_scopes(&self) -> Option<Line<'static>> {
        let (added, removed) = self.diff.totals();
        let n_files = pluralize(self.diff.files.len(), "file");
        let mut spans = vec![Span::styled(n_files, theme::QUIET)];
        spans.extend(file_list::count_spans(added, removed));
        self.has_file_list.then(|| Line::from(spans))
    }

    /// Draws the visible rows, where there is room the files at their left. Returns rows and columns of the text.
    pub fn draw(
        &mut self,
        frame: &mut Frame,
        whole: Rect,
        is_side_by_side: bool,
    ) -> (usize, usize) {
        self.has_file_list = whole.width >= MIN_FILE_LIST_COLUMNS && !self.diff.files.is_empty();
        self.is_side_by_side = is_side_by_side && whole.width >= MIN_SIDES_COLUMNS;
        let mut area = whole;
        self.file_areas.clear();
        if self.has_file_list {
            let list = Rect {
                width: (whole.width / 4).clamp(28, 40),
                ..whole
            };
            let chosen = self.current_file().unwrap_or(0);
            self.file_areas = file_list::draw(&self.diff.files, chosen, frame, list);
            area.x = list.right().saturating_add(1);
            area.width = whole.right().saturating_sub(area.x);
        }
        let columns = usize::from(area.width);
        let rows = usize::from(area.height);
        let last_row = self
            .item_lines(self.position.item, columns)
            .len()
            .saturating_sub(1);
        self.position.row = self.position.row.min(last_row);
        let mut visible: Vec<Line<'static>> = Vec::with_capacity(rows);
        let mut item = self.position.item;
        while visible.len() < rows && item < self.items.len() {
            let skip = if item == self.position.item {
                self.position.row
            } else {
                0
            };
            let rows = self.item_lines(item, columns);
            let at_hand = self.search.matches.get(self.search.current);
            let is_at_hand = at_hand.is_some_and(|at| self.visible_item(*at) == item);
            let rows = search_highlight::highlight_lines(rows, &self.search.query, is_at_hand);
            visible.extend(rows.into_iter().skip(skip));
            item += 1;
        }
        visible.truncate(rows);
        frame.render_widget(Paragraph::new(visible), area);
        (rows.max(1), columns)
    }

    /// Says which file is at the top of the window and how far down it is, in at most `room` columns; `size` is that of
    /// the window.
    pub fn describe_position(&self, size: (usize, usize), room: usize) -> String {
        let end = self.end_position(size.0, size.1);
        let percent = if self.position >= end {
            100
        } else {
            self.position.item * 100 / end.item.max(1)
        };
        // At the start it says nothing.
        let percent = match percent {
            0 => String::new(),
            percent => format!(" · {percent}%"),
        };
        let first = self.has_file_list.then_some(0);
        let at = self.current_file().or(first);
        let n_files = self.diff.files.len();
        let Some((n, file)) = at.and_then(|n| Some((n + 1, self.diff.files.get(n)?))) else {
            return format!("{}{percent}", pluralize(n_files, "file"));
        };
        let place = match n_files {
            1 => percent,
            _ => format!(" · {n} of {n_files}{percent}"),
        };
        truncate_middle(&file.name, room.saturating_sub(text_width(&place))) + &place
    }

    fn item_lines(&self, item: usize, columns: usize) -> Vec<Line<'static>> {
        let file = |n: &usize| self.diff.files.get(*n);
        let is_above_files = item <= self.diff.files.len() + 1;
        match self.items.get(item) {
            Some(DiffItem::Totals | DiffItem::FileEntry(_)) if self.has_file_list => Vec::new(),
            Some(DiffItem::Blank) if self.has_file_list && is_above_files => Vec::new(),
            Some(DiffItem::Totals) => vec![self.totals_line(columns)],
            Some(DiffItem::FileEntry(n)) => file(n)
                .map(|file| file_entry_line(file, columns))
                .into_iter()
                .collect(),
            Some(DiffItem::FileHeading(n)) => file(n)
                .map(|file| file_heading_line(file, self.first_hunk(*n), columns))
                .into_iter()
                .collect(),
            Some(DiffItem::Line(n)) if self.is_side_by_side => {
                self.line_map.row_pairs(&self.diff, *n, columns)
            }
            Some(DiffItem::Line(n)) => self.line_map.line_rows(&self.diff, *n, columns),
            Some(DiffItem::Blank) | None => vec![Line::default()],
        }
    }

    /// Returns where the first hunk of a file starts; `None` where that is its first line.
    fn first_hunk(&self, n: usize) -> Option<String> {
        let lines = self.diff.file_lines(n).iter();
        let mut shown = lines.filter(|line| line.kind != DiffLineKind::File);
        let first = shown.next()?;
        let name = &self.diff.files.get(n)?.name;
        let language = HighlightLanguage::from_file_name(name);
        let is_hunk = first.kind == DiffLineKind::Hunk;
        let starts_later = parse_hunk_start(&first.text).is_none_or(|(_, after)| after > 1);
        (is_hunk && starts_later).then(|| hunk_label(&first.text, language))
    }

    fn totals_line(&self, columns: usize) -> Line<'static> {
        let (added, removed) = self.diff.totals();
        let n_files = pluralize(self.diff.files.len(), "file");
        let counts = describe_line_counts(added, removed);
        let text = truncate_to_columns(&format!("{n_files}  {counts}"), columns);
        Line::styled(text, theme::STRONG)
    }
}

/// Renders a file of the list, with its counts in their colors.
fn file_entry_line(file: &FileDiff, columns: usize) -> Line<'static> {
    let added = format!("{:>6}", describe_line_counts(file.added, 0));
    let removed = format!(" {:>6}", describe_line_counts(0, file.removed));
    let room = columns.saturating_sub(text_width(&added) + text_width(&removed) + 4);
    let mut about = file.notes.clone();
    if !about.is_empty() {
        about = format!("  {about}");
    }
    let title = truncate_to_columns(&file.title(), room.saturating_sub(text_width(&about)));
    Line::from(vec![
        Span::styled(added, theme::GOOD),
        Span::styled(removed, theme::BAD),
        Span::raw("  "),
        Span::raw(title),
        Span::styled(truncate_to_columns(&about, room), theme::QUIET),
    ])
}

/// Renders the heading above a file's lines.
fn file_heading_line(file: &FileDiff, hunk: Option<String>, columns: usize) -> Line<'static> {
    let room = columns.saturating_sub(text_width(&file.summary()) + 3);
    let mut spans = vec![
        Span::raw(" "),
        Span::styled(truncate_to_columns(&file.title(), room), theme::STRONG),
        Span::raw(" "),
    ];
    if file.added + file.removed > 0 {
        spans.extend(file_list::count_spans(file.added, file.removed));
    }
    if !file.notes.is_empty() {
        spans.push(Span::styled(format!(" {}", file.notes), theme::QUIET));
    }
    let used: usize = spans.iter().map(Span::width).sum();
    if let Some(hunk) = hunk {
        let room = columns.saturating_sub(used);
        let hunk = truncate_to_columns(&format!("   {hunk}"), room);
        spans.push(Span::styled(hunk, theme::QUIET));
    }
    let line = truncate_line(Line::from(spans), columns);
    fill_row(line, columns, Surface::Panel.style())
}

/// Cuts a line that is too long for its row.
fn truncate_line(line: Line<'static>, columns: usize) -> Line<'static> {
    if line.width() <= columns {
        return line;
    }
    Line::styled(
        truncate_to_columns(&line.to_string(), columns),
        theme::STRONG,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(n_lines: usize) -> DiffBody {
        let mut text = String::new();
        for name in ["a", "b"] {
            text.push_str(&format!(
                "diff --git a/{name} b/{name}\n@@ -0,0 +1,{n_lines} @@\n"
            ));
            for n in 0..n_lines {
                text.push_str(&format!("+line {n} 求和求和求和\n"));
            }
        }
        DiffBody::new(UnifiedDiff::parse(&text))
    }

    #[test]
    fn beside_a_list_of_files_the_first_key_goes_to_the_second_file() {
        let mut body = body(50);
        body.has_file_list = true;
        body.scroll(DiffAction::NextFile, 10, 80);
        assert_eq!(body.current_file(), Some(1));
    }

    #[test]
    fn the_next_and_the_earlier_file_are_found() {
        let mut body = body(50);
        let here = |body: &DiffBody| body.current_file();
        assert_eq!(here(&body), None);
        for (does, wanted) in [
            (DiffAction::NextFile, Some(0)),
            (DiffAction::NextFile, Some(1)),
            (DiffAction::NextFile, Some(1)),
            (DiffAction::Scroll(ScrollMove::Down), Some(1)),
            (DiffAction::PreviousFile, Some(1)),
            (DiffAction::PreviousFile, Some(0)),
            (DiffAction::PreviousFile, None),
        ] {
            body.scroll(does, 10, 80);
            assert_eq!(here(&body), wanted, "{does:?}");
        }
    }

    #[test]
    fn what_is_looked_for_is_brought_into_the_window() {
        let mut body = body(50);
        let size = (10, 80);
        body.search("LINE 7", DiffPosition::default(), size);
        assert_eq!(body.match_position(), (1, 2));
        assert_eq!(body.current_file(), Some(0));
        body.step_match(true, size);
        assert_eq!(body.match_position(), (2, 2));
        assert_eq!(body.current_file(), Some(1));
        let there = body.position();
        body.step_match(true, size);
        body.step_match(false, size);
        assert_eq!((body.match_position(), body.position()), ((2, 2), there));
        body.search("+line", DiffPosition::default(), size);
        assert_eq!(body.match_position(), (0, 0));
        body.search("", DiffPosition::default(), size);
        assert_eq!(body.position(), DiffPosition::default());
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
        #[test]
        fn the_window_never_leaves_the_text(moves in proptest::collection::vec(0usize..8, 1..60), rows in 1usize..20, columns in 1usize..40) {
            let mut body = body(20);
            let end = body.end_position(rows, columns);
            for n in moves {
                let to = [ScrollMove::Up, ScrollMove::Down, ScrollMove::PageUp, ScrollMove::PageDown, ScrollMove::Top, ScrollMove::End, ScrollMove::Up, ScrollMove::Down][n];
                body.scroll(DiffAction::Scroll(to), rows, columns);
                proptest::prop_assert!(body.position <= end);
            }
            body.scroll(DiffAction::Scroll(ScrollMove::End), rows, columns);
            proptest::prop_assert_eq!(body.position, end);
        }
    }
}
