//! The command palette: finds every command by a few letters and shows its key.
//!
//! Its entries come from the keymap: first the recent commands, then those of the current tab, then the rest
//! by group. Once letters are typed, only the match counts. Themes are entries too; selecting one previews
//! it. While the palette is open it gets all keys, and no dialog counts as read.

mod palette_entry;

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::appearance::ScreenAppearance;
use super::command;
use super::command_table::CommandGroup;
use super::composer_pane::ComposerPane;
use super::fuzzy_picker::{self, FuzzyTarget, PickerRow};
use super::keymap::ComposerFocus;
use super::list_index;
use super::scroll_view::ScrollMove;
use super::text_wrap::{text_width, truncate_to_columns};
use super::theme::{self, ColorTheme};
use super::{popup, text_wrap};
pub(super) use palette_entry::{PaletteAction, PaletteContext, PaletteEntry};
use palette_entry::{command_entries, theme_entry};

const MAX_COLUMNS: u16 = 100;
const MAX_ROWS: u16 = 22;

/// How many recent commands are listed first.
const MAX_RECENT_ENTRIES: usize = 5;

/// The command that moves the keys to the other pane, if there is one.
const OTHER_PANE_COMMAND: &str = "/other-pane";

/// The open palette.
#[derive(Debug, Default)]
pub struct CommandPalette {
    letters: String,
    chosen: usize,
    /// The theme that was in use before one was previewed.
    theme_before: Option<ColorTheme>,
    /// The id of the dialog that the user had read when the palette opened.
    covered_dialog: Option<String>,
}

impl CommandPalette {
    /// Returns all entries by group; within a group, available commands come first.
    fn all_entries(now: &PaletteContext<'_>) -> Vec<PaletteEntry> {
        let mut all = command_entries(&now.appearance.keymap);
        all.retain(|entry| !entry.is_alias);
        all.retain(|entry| now.has_panes || entry.slash != OTHER_PANE_COMMAND);
        let mut listed = Vec::new();
        for used in now.recent_commands {
            let at = all.iter().position(|entry| entry.slash == *used);
            listed.extend(at.map(|at| all.remove(at).with_heading("Recently used")));
        }
        let (heading, names) = &now.tab_actions;
        for name in names {
            let is_it = |entry: &PaletteEntry| entry.binding.is_some_and(|of| of.name == *name);
            let at = all.iter().position(is_it);
            listed.extend(at.map(|at| all.remove(at).with_heading(heading)));
        }
        for group in CommandGroup::ALL {
            let is_own =
                |entry: &mut PaletteEntry| entry.binding.is_some_and(|row| row.group == group);
            let own = all.extract_if(.., is_own);
            let own = own.map(|entry| entry.with_heading(group.label()));
            let (useful, idle): (Vec<PaletteEntry>, Vec<PaletteEntry>) =
                own.partition(|entry| entry.is_available(now));
            listed.extend(useful.into_iter().chain(idle));
        }
        listed
    }

    /// Returns the entries whose name matches the letters, then those whose help does; in both, available
    /// commands come first. Without letters, all entries.
    fn matching_entries(&self, now: &PaletteContext<'_>) -> Vec<PaletteEntry> {
        if self.letters.trim().is_empty() {
            return Self::all_entries(now);
        }
        let mut all = command_entries(&now.appearance.keymap);
        all.retain(|entry| now.has_panes || entry.slash != OTHER_PANE_COMMAND);
        all.extend(self.matching_themes(now.appearance).map(theme_entry));
        let names = all.iter().map(|entry| entry.slash.as_str());
        let helps = all.iter().map(|entry| entry.help.as_ref());
        let by_name =
            fuzzy_picker::best_matches(&self.letters, names, FuzzyTarget::Names, usize::MAX);
        let by_help =
            fuzzy_picker::best_matches(&self.letters, helps, FuzzyTarget::Prose, usize::MAX);
        let mut all: Vec<Option<PaletteEntry>> = all.into_iter().map(Some).collect();
        let mut ordered = Vec::new();
        for found in [by_name, by_help] {
            let found = found.into_iter();
            let found = found.filter_map(|at| all.get_mut(at).and_then(Option::take));
            let (useful, idle): (Vec<PaletteEntry>, Vec<PaletteEntry>) =
                found.partition(|entry| entry.is_available(now));
            ordered.extend(useful.into_iter().chain(idle));
        }
        ordered
    }

    /// Returns the themes that match: all of them for the beginning of the word "themes", one for the beginning of its
    /// name. Fewer letters usually mean a command, and no theme should flash up while it is typed.
    fn matching_themes<'a>(
        &self,
        look: &'a ScreenAppearance,
    ) -> impl Iterator<Item = &'a ColorTheme> + use<'a> {
        let letters = self.letters.trim().trim_start_matches('/').to_lowercase();
        let word = letters.split(' ').next().unwrap_or_default();
        let are_all = word.len() > 1 && "themes".starts_with(word);
        let themes = look.themes().iter();
        themes.filter(move |theme| {
            are_all || (letters.len() > 2 && theme.name().starts_with(&letters))
        })
    }

    /// Opens the palette over a dialog that the user has read, if there is one.
    pub fn over_dialog(covered_dialog: Option<String>) -> Self {
        Self {
            covered_dialog,
            ..Self::default()
        }
    }

    /// Selects the previous or next entry, without wrapping around.
    pub(super) fn scroll(
        &mut self,
        to: ScrollMove,
        n_shown: usize,
        now: &PaletteContext<'_>,
    ) -> PaletteResponse {
        let n = self.matching_entries(now).len();
        self.chosen = list_index::scroll_index(to, self.chosen, n, n_shown);
        PaletteResponse::Selected
    }

    /// Handles a key; `n_shown` is the number of visible rows.
    pub(super) fn on_key(
        &mut self,
        key: KeyEvent,
        n_shown: usize,
        now: &PaletteContext<'_>,
    ) -> PaletteResponse {
        let keymap = &now.appearance.keymap;
        let is_its_own = keymap.find_command(&key, ComposerFocus::Focused)
            == Some(command::ScreenCommand::OpenPalette);
        match (key.code, list_index::list_move(key)) {
            _ if is_its_own => PaletteResponse::Closed,
            (KeyCode::Esc, _) => PaletteResponse::Closed,
            (KeyCode::Enter, _) => self.accept_chosen(now),
            (_, Some(to)) => {
                let n = self.matching_entries(now).len();
                self.chosen = list_index::step_index(to, self.chosen, n, n_shown);
                PaletteResponse::Selected
            }
            (_, None) => {
                self.type_key(key);
                PaletteResponse::Selected
            }
        }
    }

    fn type_key(&mut self, key: KeyEvent) {
        let is_plain = key.modifiers - KeyModifiers::SHIFT == KeyModifiers::NONE;
        match key.code {
            KeyCode::Backspace => {
                self.letters.pop();
            }
            KeyCode::Char('u') if key.modifiers == KeyModifiers::CONTROL => self.letters.clear(),
            KeyCode::Char(c) if !c.is_control() && is_plain => self.letters.push(c),
            _ => return,
        }
        self.chosen = 0;
    }

    /// Handles a click on a row: the first one selects an entry, a second one runs it.
    pub(super) fn click_row(&mut self, row: usize, now: &PaletteContext<'_>) -> PaletteResponse {
        if self.chosen == row {
            return self.accept_chosen(now);
        }
        self.chosen = row;
        PaletteResponse::Selected
    }

    fn accept_chosen(&self, now: &PaletteContext<'_>) -> PaletteResponse {
        match self.matching_entries(now).into_iter().nth(self.chosen) {
            Some(entry) => PaletteResponse::Accepted(Box::new(entry)),
            None => PaletteResponse::Unchanged,
        }
    }

    /// Adds pasted text to the letters.
    pub(super) fn on_paste(&mut self, text: &str) {
        let line = text_wrap::to_one_line(text);
        self.letters.extend(line.chars().take(100));
        self.chosen = 0;
    }

    /// Previews the selected theme; on any other entry, restores the previous theme.
    pub(super) fn preview_theme(&mut self, now: &PaletteContext<'_>, shown: &mut ColorTheme) {
        let entries = self.matching_entries(now);
        let theme = entries
            .get(self.chosen)
            .and_then(|entry| entry.theme.clone());
        match theme.or_else(|| self.theme_before.clone()) {
            Some(theme) if self.theme_before.is_none() => {
                self.theme_before = Some(std::mem::replace(shown, theme));
            }
            Some(theme) => *shown = theme,
            None => {}
        }
    }

    /// Restores the theme if one was only previewed; returns the id of the dialog that the user had read before.
    pub(super) fn close(self, shown: &mut ColorTheme) -> Option<String> {
        if let Some(before) = self.theme_before {
            *shown = before;
        }
        self.covered_dialog
    }

    pub(super) fn draw(
        &self,
        frame: &mut Frame,
        now: &PaletteContext<'_>,
    ) -> (Rect, Vec<(Rect, usize)>) {
        let whole = frame.area();
        let found = self.matching_entries(now);
        let found = found.iter().map(|entry| entry.to_row(&self.letters, now));
        let found: Vec<PickerRow> = found.collect();
        let size = (
            whole.width.saturating_sub(2).min(MAX_COLUMNS),
            whole.height.min(MAX_ROWS),
        );
        // The top edge stays in place as the list gets shorter.
        let wanted = u16::try_from(fuzzy_picker::line_count(&found).max(1) + 3).unwrap_or(MAX_ROWS);
        let area = Rect {
            x: whole.x + (whole.width - size.0) / 2,
            y: whole.y + (whole.height - size.1) / 4,
            width: size.0,
            height: size.1.min(wanted),
        };
        let below = "↑↓ choose · Enter runs it · Esc closes";
        let inner = popup::draw(frame, area, "Commands", below);
        if inner.is_empty() {
            return (area, Vec::new());
        }
        let columns = usize::from(inner.width).saturating_sub(3);
        let letters = truncate_start(&self.letters, columns);
        let cursor = u16::try_from(text_width(&letters) + 2).unwrap_or(0);
        frame.render_widget(Line::raw(format!("› {letters}")), inner);
        frame.set_cursor_position((inner.x + cursor, inner.y));
        let list = Rect {
            y: inner.y + 1,
            height: inner.height - 1,
            ..inner
        };
        if found.is_empty() {
            let text = truncate_to_columns("  No command matches", usize::from(list.width));
            frame.render_widget(Line::styled(text, theme::QUIET), list);
        }
        (
            area,
            fuzzy_picker::draw_rows(frame, list, &found, self.chosen),
        )
    }
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

/// What a key or a click does to the palette.
pub(super) enum PaletteResponse {
    Unchanged,
    /// Another entry is selected, or other letters are typed.
    Selected,
    Closed,
    Accepted(Box<PaletteEntry>),
}

impl ComposerPane {
    /// Puts an entry first in the list of recent commands.
    pub(super) fn note_recent_command(&mut self, entry: &PaletteEntry) {
        if entry.binding.is_some() {
            let used = &mut self.assist.recent_commands;
            used.retain(|slash| *slash != entry.slash);
            used.insert(0, entry.slash.clone());
            used.truncate(MAX_RECENT_ENTRIES);
        }
    }
}
