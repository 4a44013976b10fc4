//! The command palette: finds every command by a few letters and shows its key.
//!
//! Its entries come from the keymap: first the recent commands, then by group those that the command table lists, as far
//! as they have an effect now. Once letters are typed, all commands are there and only the match counts. Themes are entries
//! too; selecting one previews it. While the palette is open it gets all keys, and no dialog counts as read.

mod palette_entry;
mod palette_render;

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Position, Rect};

use super::appearance::ScreenAppearance;
use super::command::ScreenCommand;
use super::command_table::PaletteHeading;
use super::composer_pane::ComposerPane;
use super::fuzzy_picker::{self, FuzzyTarget};
use super::keymap::ComposerFocus;
use super::list_index;
use super::overlays::{LayerContext, LayerPlace, LayerResponse, ScreenOverlay};
use super::text_wrap;
use super::theme::ColorTheme;
use super::view_moves::ScrollMove;
pub(super) use palette_entry::{PaletteAction, PaletteContext, PaletteEntry};
use palette_entry::{go_title, theme_entry};

/// How many recent commands are listed first.
const MAX_RECENT_ENTRIES: usize = 5;
/// The command that goes to the open dialog.
const NEEDS_ME_COMMAND: &str = "/needs-me";

#[derive(Debug, Default)]
pub struct CommandPalette {
    letters: String,
    chosen: usize,
    /// The theme of the selected entry, which is shown in place of the one in use.
    preview: Option<ColorTheme>,
    /// The id of the dialog that the user had read when the palette opened.
    covered_dialog: Option<String>,
    /// Where the last frame showed it and its entries, by index.
    hit_areas: Option<(Rect, Vec<(Rect, usize)>)>,
}

impl ScreenOverlay for CommandPalette {
    fn place(&self) -> LayerPlace {
        LayerPlace::Window
    }

    fn draw(&mut self, frame: &mut Frame, _: Rect, context: &LayerContext<'_>) {
        let theme = self.preview.as_ref().unwrap_or(&context.settings.theme);
        self.hit_areas = Some(self.draw_list(frame, &palette_context(context), theme));
    }

    fn on_key(&mut self, key: KeyEvent, context: &LayerContext<'_>) -> LayerResponse {
        let now = palette_context(context);
        let command = context.keymap().find_command(&key, ComposerFocus::Focused);
        let is_its_own = command == Some(ScreenCommand::OpenPalette);
        match (key.code, list_index::list_move(key)) {
            _ if is_its_own => LayerResponse::Closed,
            (KeyCode::Esc, _) => LayerResponse::Closed,
            (KeyCode::Enter, _) => self.accept_chosen(&now),
            (_, Some(to)) => {
                let n = self.matching_entries(&now).len();
                let next = list_index::step_index(to, self.chosen, n, self.n_shown());
                self.choose(next, &now)
            }
            (_, None) => {
                self.type_key(key);
                self.choose(self.chosen, &now)
            }
        }
    }

    /// Adds pasted text to the letters.
    fn on_paste(&mut self, text: &str) -> LayerResponse {
        let line = text_wrap::to_one_line(text);
        self.letters.extend(line.chars().take(100));
        (self.chosen, self.preview) = (0, None);
        LayerResponse::used()
    }

    /// Handles a click: one outside closes it, the first one on a row selects an entry, a second one runs it.
    fn click(&mut self, at: Position, context: &LayerContext<'_>) -> LayerResponse {
        let Some((area, rows)) = &self.hit_areas else {
            return LayerResponse::used();
        };
        if !area.contains(at) {
            return LayerResponse::Closed;
        }
        let now = palette_context(context);
        match rows.iter().find(|(place, _)| place.contains(at)) {
            Some((_, row)) if self.chosen == *row => self.accept_chosen(&now),
            Some((_, row)) => self.choose(*row, &now),
            None => LayerResponse::used(),
        }
    }

    /// Selects the previous or next entry, without wrapping around.
    fn scroll(&mut self, to: ScrollMove, context: &LayerContext<'_>) -> LayerResponse {
        let now = palette_context(context);
        let n = self.matching_entries(&now).len();
        let next = list_index::scroll_index(to, self.chosen, n, self.n_shown());
        self.choose(next, &now)
    }

    fn window_area(&self) -> Option<Rect> {
        self.hit_areas.as_ref().map(|(area, _)| *area)
    }
}

impl CommandPalette {
    /// Returns what is listed while nothing is typed: after a run what comes next, then the recent commands, then by
    /// group the plain verbs that have an effect now, those of the current tab first.
    fn listed_entries(&self, now: &PaletteContext<'_>) -> Vec<PaletteEntry> {
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
        all.retain(|entry| entry.is_listed(now));
        // Where the dialog is in front of the user, nothing leads to it.
        let is_in_front = self.covered_dialog.is_some();
        all.retain(|entry| !is_in_front || entry.slash != NEEDS_ME_COMMAND);
        let mut headings = PaletteHeading::ALL;
        if now.state.is_none() {
            // Before a run there is little to see.
            headings.swap(1, 2);
        }
        for heading in headings {
            let is_own =
                |entry: &mut PaletteEntry| entry.place().is_some_and(|it| it.heading == heading);
            let mut own: Vec<PaletteEntry> = all.extract_if(.., is_own).collect();
            own.sort_by_key(|entry| entry.place().map(|place| place.order));
            let own = own
                .into_iter()
                .map(|entry| entry.with_heading(heading.label()));
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
            return self.listed_entries(now);
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

    /// Returns how many entries the last frame showed.
    fn n_shown(&self) -> usize {
        self.hit_areas.as_ref().map_or(1, |(_, rows)| rows.len())
    }

    /// Selects an entry and previews its theme, if it has one.
    fn choose(&mut self, at: usize, now: &PaletteContext<'_>) -> LayerResponse {
        self.chosen = at;
        let entry = self.matching_entries(now).into_iter().nth(at);
        self.preview = entry.and_then(|entry| entry.theme);
        LayerResponse::used()
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

    fn accept_chosen(&mut self, now: &PaletteContext<'_>) -> LayerResponse {
        match self.matching_entries(now).into_iter().nth(self.chosen) {
            Some(entry) => LayerResponse::Accepted(Box::new(entry), self.covered_dialog.take()),
            None => LayerResponse::used(),
        }
    }

    /// Returns the theme that is shown only because its entry is selected.
    pub fn previewed_theme(&self) -> Option<&ColorTheme> {
        self.preview.as_ref()
    }
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

/// Returns what decides which entries are available.
fn palette_context<'a>(context: &LayerContext<'a>) -> PaletteContext<'a> {
    PaletteContext {
        appearance: &context.settings.appearance,
        recent_commands: &context.composer.assist.recent_commands,
        tab_actions: context.tabs.shown_actions().1,
        state: context.state,
        go_title: context.waiting.and_then(go_title),
        dialog: context.settings.to_open_dialog(context.waiting),
        has_panes: context.tabs.view.side_area.is_some(),
    }
}
