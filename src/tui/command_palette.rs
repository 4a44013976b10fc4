//! The command palette: finds every command by a few letters and shows its key.
//!
//! Its entries come from the keymap: first the recent commands, then by group those that the command table lists, as far
//! as they have an effect now. Once letters are typed, all commands are there and only the match counts. Themes are entries
//! too; selecting one previews it. While the palette is open it gets all keys, and no dialog counts as read.

mod palette_entry;
mod palette_render;
pub(super) use palette_render::draw_palette;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::appearance::ScreenAppearance;
use super::command;
use super::command_table::CommandGroup;
use super::composer_pane::ComposerPane;
use super::fuzzy_picker::{self, FuzzyTarget};
use super::keymap::ComposerFocus;
use super::list_index;
use super::text_wrap;
use super::theme::ColorTheme;
use super::view_moves::ScrollMove;
use palette_entry::theme_entry;
pub(super) use palette_entry::{PaletteAction, PaletteContext, PaletteEntry};

/// How many recent commands are listed first.
const MAX_RECENT_ENTRIES: usize = 5;

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
    /// Returns what is listed while nothing is typed: after a run what comes next, then the recent commands, then by
    /// group the plain verbs that have an effect now, those of the current tab first.
    fn listed_entries(now: &PaletteContext<'_>) -> Vec<PaletteEntry> {
        let mut all = now.all_entries();
        all.retain(|entry| !entry.is_alias && entry.is_available(now));
        let order = |entry: &PaletteEntry| entry.end_offer(now).map(|offer| offer.order);
        let mut listed: Vec<PaletteEntry> =
            all.extract_if(.., |entry| order(entry).is_some()).collect();
        listed.sort_by_key(order);
        let mut listed: Vec<PaletteEntry> = listed
            .into_iter()
            .map(|entry| entry.with_heading("Next"))
            .collect();
        for used in now.recent_commands {
            let at = all.iter().position(|entry| entry.slash == *used);
            listed.extend(at.map(|at| all.remove(at).with_heading("Recently used")));
        }
        all.retain(PaletteEntry::is_listed);
        let mut groups = CommandGroup::IN_PALETTE;
        if now.has_dialog {
            // What waits for the user comes before what else can be done.
            groups.swap(0, 1);
        }
        for group in groups {
            let is_own =
                |entry: &mut PaletteEntry| entry.binding.is_some_and(|row| row.group == group);
            let own = all.extract_if(.., is_own);
            let own = own.map(|entry| entry.with_heading(group.palette_label()));
            let (of_tab, others): (Vec<PaletteEntry>, Vec<PaletteEntry>) =
                own.partition(|entry| entry.is_of_tab(now));
            listed.extend(of_tab.into_iter().chain(others));
        }
        listed
    }

    /// Returns the entries whose name matches the letters, then those whose words do; what has no effect now comes
    /// last. Without letters, those that are listed.
    fn matching_entries(&self, now: &PaletteContext<'_>) -> Vec<PaletteEntry> {
        if self.letters.trim().is_empty() {
            return Self::listed_entries(now);
        }
        let mut all = now.all_entries();
        all.extend(self.matching_themes(now.appearance).map(theme_entry));
        let words = |entry: &PaletteEntry| format!("{} · {}", entry.title, entry.help);
        let words: Vec<String> = all.iter().map(words).collect();
        let names = all.iter().map(|entry| entry.slash.as_str());
        let words = words.iter().map(String::as_str);
        let by_name =
            fuzzy_picker::best_matches(&self.letters, names, FuzzyTarget::Names, usize::MAX);
        let by_words =
            fuzzy_picker::best_matches(&self.letters, words, FuzzyTarget::Prose, usize::MAX);
        let mut all: Vec<Option<PaletteEntry>> = all.into_iter().map(Some).collect();
        let found = by_name.into_iter().chain(by_words);
        let found = found.filter_map(|at| all.get_mut(at).and_then(Option::take));
        let (useful, idle): (Vec<PaletteEntry>, Vec<PaletteEntry>) =
            found.partition(|entry| entry.is_available(now));
        useful.into_iter().chain(idle).collect()
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

    /// Returns how many commands are found only by typing, while nothing is typed.
    fn count_unlisted(&self, entries: &[PaletteEntry], now: &PaletteContext<'_>) -> usize {
        if !self.letters.trim().is_empty() {
            return 0;
        }
        let mut all = now.all_entries();
        all.retain(|entry| !entry.is_alias);
        all.len().saturating_sub(entries.len())
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
        match (theme, &self.theme_before) {
            (Some(theme), None) => self.theme_before = Some(std::mem::replace(shown, theme)),
            (Some(theme), Some(_)) => *shown = theme,
            (None, _) => {
                if let Some(before) = self.theme_before.take() {
                    *shown = before;
                }
            }
        }
    }

    /// Returns whether a theme is shown only because it is selected.
    pub fn previews_theme(&self) -> bool {
        self.theme_before.is_some()
    }

    /// Restores the theme if one was only previewed; returns the id of the dialog that the user had read before.
    pub(super) fn close(self, shown: &mut ColorTheme) -> Option<String> {
        if let Some(before) = self.theme_before {
            *shown = before;
        }
        self.covered_dialog
    }
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
