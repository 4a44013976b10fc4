//! Draws the palette: what is typed, the entries by group, and what the selected one does.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Style, Stylize};
use ratatui::text::{Line, Span};

use super::CommandPalette;
use super::palette_entry::{PaletteContext, PaletteEntry};
use crate::tui::text_wrap::{
    draw_line, spans_width, text_width, truncate_to_columns, wrap_spans_to_rows,
};
use crate::tui::theme::{self, ColorTheme};
use crate::tui::view_area::{split_bottom, split_top};
use crate::tui::{clickable_keys, fuzzy_picker, popup};

const MAX_COLUMNS: u16 = 64;
const MAX_ROWS: u16 = 36;
/// From this window height on, the palette has a title.
const MIN_ROWS_FOR_TITLE: u16 = 20;
/// From this window height on, it also says what the selected entry does.
const MIN_ROWS_FOR_ABOUT: u16 = 30;
/// How many rows the description of the selected entry has at most.
const ABOUT_ROWS: usize = 2;
/// From this window height on, a blank row is between two groups.
const MIN_ROWS_OF_BLANKS: u16 = 24;

/// One line of the list.
enum PaletteLine {
    Blank,
    Heading(&'static str),
    /// An entry, by its index.
    Entry {
        at: usize,
        is_idle: bool,
    },
    /// Why the entry above has no effect now.
    Reason(usize, String),
    /// How many commands are found only by typing.
    More(usize),
}

impl PaletteLine {
    /// Returns the entry that it is about.
    fn entry(&self) -> Option<usize> {
        match self {
            Self::Entry { at, .. } | Self::Reason(at, _) => Some(*at),
            Self::Blank | Self::Heading(_) | Self::More(_) => None,
        }
    }
}

/// How the palette divides its rows and columns.
struct PaletteGrid {
    area: Rect,
    has_title: bool,
    /// How many rows say what the selected entry does, with the blank one above them.
    about_rows: usize,
    /// The blank columns at the left of a text, the first ones for the sign of the selected entry, and at its right.
    margins: (usize, usize),
}

impl PaletteGrid {
    fn new(window: Rect, n_lines: usize, chosen: Option<&PaletteEntry>) -> Self {
        let has_title = window.height >= MIN_ROWS_FOR_TITLE;
        let width = window.width.min(MAX_COLUMNS);
        let margins = if width < MAX_COLUMNS { (2, 0) } else { (3, 3) };
        let text_columns = usize::from(width).saturating_sub(margins.0 + margins.1);
        let about_rows = match chosen.map_or(0, |entry| about_lines(entry, text_columns).len()) {
            n_rows if n_rows > 0 && window.height >= MIN_ROWS_FOR_ABOUT => 1 + n_rows,
            _ => 0,
        };
        // Title, letters and description have a blank row each.
        let rest = 4 + 2 * usize::from(has_title) + about_rows;
        let most = if has_title {
            MAX_ROWS.min(window.height - 4)
        } else {
            // The footer stays visible.
            window.height.saturating_sub(1).max(3).min(window.height)
        };
        let wanted = u16::try_from(n_lines.max(1) + rest).unwrap_or(u16::MAX);
        Self {
            // The top edge stays in place as the list gets shorter.
            area: Rect {
                x: window.x + (window.width - width) / 2,
                y: window.y + (window.height - most) / 3,
                width,
                height: most.min(wanted),
            },
            has_title,
            about_rows,
            margins,
        }
    }

    /// Returns the part of an area where texts are.
    fn text_area(&self, area: Rect) -> Rect {
        let columns = |n: usize| u16::try_from(n).unwrap_or(0).min(area.width);
        let (left, right) = (columns(self.margins.0), columns(self.margins.1));
        Rect {
            x: area.x + left,
            width: area.width.saturating_sub(left + right),
            ..area
        }
    }
}

impl CommandPalette {
    /// Draws it; returns its area and those of its entries.
    pub(super) fn draw_list(
        &self,
        frame: &mut Frame,
        now: &PaletteContext<'_>,
        theme: &ColorTheme,
    ) -> (Rect, Vec<(Rect, usize)>) {
        let entries = self.matching_entries(now);
        let n_unlisted = self.count_unlisted(&entries, now);
        let mut lines = palette_lines(&entries, now, n_unlisted);
        if frame.area().height < MIN_ROWS_OF_BLANKS {
            lines.retain(|line| !matches!(line, PaletteLine::Blank));
        }
        let chosen = entries.get(self.chosen);
        let grid = PaletteGrid::new(frame.area(), lines.len(), chosen);
        let mut rest = popup::draw(frame, grid.area, "", theme);
        if grid.has_title {
            let title = grid.text_area(split_top(&mut rest, 2));
            draw_title(frame, title);
        }
        if grid.about_rows > 0 {
            let about = split_bottom(&mut rest, grid.about_rows);
            draw_about(frame, grid.text_area(about), chosen);
        }
        let typed = split_top(&mut rest, 2);
        self.draw_letters(frame, grid.text_area(typed));
        if entries.is_empty() {
            let text = Line::styled("No command matches", theme::QUIET);
            draw_line(frame, &text, grid.text_area(rest));
        }
        let is_chosen = |line: &PaletteLine| line.entry() == Some(self.chosen);
        // Below the last entry the list says how to find the others.
        let last = match self.chosen + 1 {
            n if n == entries.len() => lines.len().saturating_sub(1),
            _ => lines.iter().rposition(is_chosen).unwrap_or(0),
        };
        let rows = usize::from(rest.height);
        let mut from = (last + 1).saturating_sub(rows);
        let n_entries = |lines: &[PaletteLine]| {
            let entries = lines.iter();
            entries
                .filter(|line| matches!(line, PaletteLine::Entry { .. }))
                .count()
        };
        let n_cut = |from: usize| lines.get(from + rows - 1..).map_or(0, n_entries);
        // The last row says how many are below, where it is not the last line of the list.
        let is_cut = |from: usize| rows > 1 && from + rows < lines.len() && n_cut(from) > 0;
        if is_cut(from) && from + rows <= last + 1 {
            from += 1;
        }
        let more = is_cut(from).then(|| format!("▾ {} more", n_cut(from)));
        let n_rows = rows - usize::from(more.is_some());
        let mut places = Vec::new();
        for (place, line) in rest.rows().take(n_rows).zip(lines.iter().skip(from)) {
            places.extend(line.entry().map(|at| (place, at)));
            draw_line(frame, &self.list_line(line, &entries, &grid, place), place);
        }
        if let Some((row, more)) = rest.rows().next_back().zip(more) {
            draw_line(
                frame,
                &Line::styled(more, theme::QUIET),
                grid.text_area(row),
            );
        }
        (grid.area, places)
    }

    fn draw_letters(&self, frame: &mut Frame, area: Rect) {
        if area.is_empty() {
            return;
        }
        let letters = truncate_start(&self.letters, usize::from(area.width) - 1);
        let line = if letters.is_empty() {
            Line::styled("Type to search", theme::QUIET)
        } else {
            Line::raw(letters.clone())
        };
        draw_line(frame, &line, area);
        let cursor = u16::try_from(text_width(&letters)).unwrap_or(0);
        frame.set_cursor_position((area.x + cursor, area.y));
    }

    fn list_line(
        &self,
        line: &PaletteLine,
        entries: &[PaletteEntry],
        grid: &PaletteGrid,
        place: Rect,
    ) -> Line<'static> {
        let (left, _) = grid.margins;
        let blank = " ".repeat(left);
        let is_chosen = line.entry() == Some(self.chosen);
        let spans = match line {
            PaletteLine::Blank => Vec::new(),
            PaletteLine::Heading(heading) => {
                vec![
                    Span::raw(blank),
                    Span::styled(*heading, theme::KEYWORD).bold(),
                ]
            }
            PaletteLine::Reason(_, reason) => {
                vec![Span::styled(format!("{blank}  {reason}"), theme::QUIET)]
            }
            PaletteLine::More(n) => {
                let text = format!("{blank}{n} more: type to search");
                vec![Span::styled(text, theme::QUIET)]
            }
            PaletteLine::Entry { at, is_idle } => {
                let sign = if is_chosen { "▸ " } else { "" };
                let mut spans = vec![Span::styled(format!("{sign:>left$}"), theme::ACCENT)];
                let columns = usize::from(grid.text_area(place).width);
                let words = match (is_chosen, is_idle) {
                    (_, true) => theme::QUIET,
                    (true, false) => theme::STRONG,
                    (false, false) => theme::PLAIN,
                };
                if let Some(entry) = entries.get(*at) {
                    spans.extend(self.entry_spans(entry, words, columns));
                }
                spans
            }
        };
        fuzzy_picker::list_line(spans, is_chosen)
    }

    /// Returns the words at the left and, at the right, the key: or the slash command where there is none or a slash is
    /// typed.
    fn entry_spans(
        &self,
        entry: &PaletteEntry,
        style: Style,
        columns: usize,
    ) -> Vec<Span<'static>> {
        let key = entry.key.filter(|_| !self.letters.starts_with('/'));
        let needed = text_width(&entry.title) + 2 + text_width(&entry.fixed_slash);
        let right = match key {
            Some(key) => vec![Span::styled(key.label(), theme::QUIET)],
            None if needed > columns => Vec::new(),
            None => {
                let matched = fuzzy_picker::match_positions(&self.letters, &entry.slash);
                fuzzy_picker::matched_spans(&entry.fixed_slash, &matched, theme::QUIET)
            }
        };
        let n_right = spans_width(&right);
        let words = truncate_to_columns(&entry.title, columns.saturating_sub(n_right + 2));
        let gap = columns.saturating_sub(text_width(&words) + n_right);
        let mut spans = vec![Span::styled(words, style), Span::raw(" ".repeat(gap))];
        spans.extend(right);
        spans
    }
}

fn draw_title(frame: &mut Frame, area: Rect) {
    let back = "Esc";
    let gap = usize::from(area.width).saturating_sub("Commands".len() + back.len());
    let mut spans = vec![
        Span::styled("Commands", theme::STRONG),
        Span::raw(" ".repeat(gap)),
    ];
    spans.extend(clickable_keys::hint_spans(back, theme::QUIET));
    draw_line(frame, &Line::from(spans), area);
}

/// Draws what an entry does, where its title does not already say all of it.
fn draw_about(frame: &mut Frame, mut area: Rect, entry: Option<&PaletteEntry>) {
    split_top(&mut area, 1);
    if let Some(entry) = entry {
        let lines = about_lines(entry, usize::from(area.width));
        for (place, line) in area.rows().zip(lines) {
            draw_line(frame, &line, place);
        }
    }
}

/// Lays out what an entry does; no rows where its title already says all of it.
fn about_lines(entry: &PaletteEntry, columns: usize) -> Vec<Line<'static>> {
    if entry.help == entry.title {
        return Vec::new();
    }
    let text = [Span::styled(entry.help.to_string(), theme::QUIET)];
    wrap_spans_to_rows(&text, columns, 0, ABOUT_ROWS)
}

/// Returns the lines of the list: a heading above the first entry of each group, below an entry that has no effect now,
/// why, and at the end how many commands are not listed.
fn palette_lines(
    entries: &[PaletteEntry],
    now: &PaletteContext<'_>,
    n_unlisted: usize,
) -> Vec<PaletteLine> {
    let mut lines = Vec::new();
    let mut before = "";
    for (at, entry) in entries.iter().enumerate() {
        if entry.heading != before {
            if at > 0 {
                lines.push(PaletteLine::Blank);
            }
            lines.push(PaletteLine::Heading(entry.heading));
        }
        before = entry.heading;
        let reason = entry.blocker(now);
        let is_idle = reason.is_some();
        lines.push(PaletteLine::Entry { at, is_idle });
        lines.extend(reason.map(|reason| PaletteLine::Reason(at, reason)));
    }
    if n_unlisted > 0 {
        lines.extend([PaletteLine::Blank, PaletteLine::More(n_unlisted)]);
    }
    lines
}

/// Returns the end of a text, as much as fits.
fn truncate_start(text: &str, columns: usize) -> String {
    let mut tail = text;
    while text_width(tail) > columns {
        let mut chars = tail.chars();
        chars.next();
        tail = chars.as_str();
    }
    tail.to_owned()
}
