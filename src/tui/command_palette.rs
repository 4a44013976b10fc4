//! The command palette: finds every command by a few letters and shows its key.
//!
//! Its entries come from the keymap: first the recent commands, then those of the current tab, then the rest
//! by group. Once letters are typed, only the match counts. Themes are entries too; selecting one previews
//! it. While the palette is open it gets all keys, and no dialog counts as read.

mod palette_entry;

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::action::Action;
use super::appearance::ScreenAppearance;
use super::command::{self, ScrollMove};
use super::command_table::CommandGroup;
use super::composer_pane::ComposerPane;
use super::dialog::ChoiceDialog;
use super::fuzzy_picker::{self, FuzzyTarget, PickerRow};
use super::input_guard::unseen_dialog_reason;
use super::keymap::ComposerFocus;
use super::list_index;
use super::text_wrap::{text_width, truncate_to_columns};
use super::theme::{self, ColorTheme};
use super::{Screen, popup, text_wrap};
use crate::domain::run::RunState;
pub(super) use palette_entry::PaletteAction;
use palette_entry::{PaletteContext, PaletteEntry, command_entries, theme_entry};

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

    fn draw(&self, frame: &mut Frame, now: &PaletteContext<'_>) -> (Rect, Vec<(Rect, usize)>) {
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

impl Screen {
    fn palette_context<'a>(
        &'a self,
        state: Option<&'a RunState>,
        sheet: Option<&'a ChoiceDialog>,
    ) -> PaletteContext<'a> {
        PaletteContext {
            appearance: &self.settings.appearance,
            recent_commands: &self.composer.assist.recent_commands,
            tab_actions: self.tab_actions(),
            state,
            sheet,
            has_panes: self.tabs.view.side_area.is_some(),
        }
    }

    /// Returns the heading of the current tab's commands, and their names.
    pub(super) fn tab_actions(&self) -> (String, Vec<&'static str>) {
        let hints = self.tabs.get(self.tabs.view.shown).actions();
        let names = hints.iter().flat_map(|(names, _)| names.iter().copied());
        (
            format!("in {}", self.tabs.view.shown.title()),
            names.collect(),
        )
    }

    pub(super) fn open_palette(&mut self) -> Vec<Action> {
        self.overlays.palette = Some(CommandPalette {
            covered_dialog: self
                .dialogs
                .readable_dialog_id(self.overlays.pager.as_ref()),
            ..CommandPalette::default()
        });
        Vec::new()
    }

    /// Draws the palette if it is open.
    pub(super) fn draw_palette(
        &mut self,
        frame: &mut Frame,
        state: Option<&RunState>,
        sheet: Option<&ChoiceDialog>,
    ) {
        if let Some(palette) = &self.overlays.palette {
            let places = palette.draw(frame, &self.palette_context(state, sheet));
            self.hit_areas.palette = Some(places);
            // The user has not read the dialog under the palette.
            self.dialogs.drawn = None;
            self.dialogs.guard.clear_dialog();
        }
    }

    /// Returns the entries of the open palette; empty if it is closed.
    fn palette_entries(&self, state: Option<&RunState>) -> Vec<PaletteEntry> {
        let sheet = self.pending_dialog(state);
        let now = self.palette_context(state, sheet.as_ref());
        let palette = self.overlays.palette.as_ref();
        palette.map_or_else(Vec::new, |palette| palette.matching_entries(&now))
    }

    /// Selects the previous or next entry, without wrapping around.
    pub(super) fn scroll_palette(&mut self, to: ScrollMove, state: Option<&RunState>) {
        self.move_in_palette(state, |chosen, rows| {
            list_index::scroll_index(to, chosen, rows.0, rows.1)
        });
    }

    /// Selects another entry; `next` gets the selected index, the number of entries and the number of visible rows.
    fn move_in_palette(
        &mut self,
        state: Option<&RunState>,
        next: impl FnOnce(usize, (usize, usize)) -> usize,
    ) {
        let n = self.palette_entries(state).len();
        let n_shown = self.hit_areas.palette.as_ref();
        let n_shown = n_shown.map_or(1, |(_, rows)| rows.len());
        if let Some(palette) = &mut self.overlays.palette {
            palette.chosen = next(palette.chosen, (n, n_shown));
        }
        self.preview_palette_theme(state);
    }

    /// Previews the selected theme; on any other entry, restores the previous theme.
    fn preview_palette_theme(&mut self, state: Option<&RunState>) {
        let found = self.palette_entries(state);
        let Some(palette) = &mut self.overlays.palette else {
            return;
        };
        let theme = found
            .get(palette.chosen)
            .and_then(|entry| entry.theme.clone());
        match theme.or_else(|| palette.theme_before.clone()) {
            Some(theme) if palette.theme_before.is_none() => {
                palette.theme_before = Some(std::mem::replace(&mut self.settings.theme, theme));
            }
            Some(theme) => self.settings.theme = theme,
            None => {}
        }
    }

    /// Closes the palette and restores the theme if one was only previewed.
    fn close_palette(&mut self) {
        if let Some(before) = self
            .overlays
            .palette
            .take()
            .and_then(|palette| palette.theme_before)
        {
            self.settings.theme = before;
        }
    }

    /// Adds pasted text to the letters if the palette is open.
    pub(super) fn paste_into_palette(&mut self, text: &str) -> bool {
        let Some(palette) = &mut self.overlays.palette else {
            return false;
        };
        let line = text_wrap::to_one_line(text);
        palette.letters.extend(line.chars().take(100));
        palette.chosen = 0;
        true
    }

    /// Passes a key to the palette; `None` if it is not open.
    pub(super) fn on_palette_key(
        &mut self,
        key: KeyEvent,
        state: Option<&RunState>,
    ) -> Option<Vec<Action>> {
        self.overlays.palette.as_ref()?;
        let is_its_own = self.keymap().find_command(&key, ComposerFocus::Focused)
            == Some(command::ScreenCommand::OpenPalette);
        let to = list_index::list_move(key);
        match key.code {
            _ if is_its_own => self.close_palette(),
            KeyCode::Esc => self.close_palette(),
            KeyCode::Enter => return Some(self.accept_palette_entry(state)),
            _ if to.is_some() => self.move_in_palette(state, |chosen, rows| {
                to.map_or(chosen, |to| {
                    list_index::step_index(to, chosen, rows.0, rows.1)
                })
            }),
            _ => {
                self.type_in_palette(key);
                self.preview_palette_theme(state);
            }
        }
        Some(Vec::new())
    }

    fn type_in_palette(&mut self, key: KeyEvent) {
        let Some(palette) = &mut self.overlays.palette else {
            return;
        };
        let is_plain = key.modifiers - KeyModifiers::SHIFT == KeyModifiers::NONE;
        match key.code {
            KeyCode::Backspace => {
                palette.letters.pop();
            }
            KeyCode::Char('u') if key.modifiers == KeyModifiers::CONTROL => palette.letters.clear(),
            KeyCode::Char(c) if !c.is_control() && is_plain => palette.letters.push(c),
            _ => return,
        }
        palette.chosen = 0;
    }

    /// Handles a click: the first one selects an entry, a second one runs it, and one outside closes the palette.
    pub(super) fn click_palette(&mut self, at: Position, state: Option<&RunState>) -> Vec<Action> {
        let hint = self.hit_areas.hint_key_at(at);
        let (Some(palette), Some((area, rows))) =
            (&mut self.overlays.palette, &self.hit_areas.palette)
        else {
            return Vec::new();
        };
        if !area.contains(at) {
            self.close_palette();
            return Vec::new();
        }
        if let Some(key) = hint {
            return self.press_hint_key(key, state);
        }
        match rows.iter().find(|(place, _)| place.contains(at)) {
            Some((_, row)) if palette.chosen == *row => self.accept_palette_entry(state),
            Some((_, row)) => {
                palette.chosen = *row;
                self.preview_palette_theme(state);
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    fn accept_palette_entry(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let Some((chosen, over)) = self
            .overlays
            .palette
            .as_ref()
            .map(|it| (it.chosen, it.covered_dialog.clone()))
        else {
            return Vec::new();
        };
        let Some(entry) = self.palette_entries(state).into_iter().nth(chosen) else {
            return Vec::new();
        };
        self.close_palette();
        self.composer.note_recent_command(&entry);
        match entry.action {
            PaletteAction::Command(command) => {
                match unseen_dialog_reason(&command, over.as_deref(), state, &self.dialog_context())
                {
                    Some(why) => self.show_toast(&why),
                    None => self.perform_command(command, state),
                }
            }
            PaletteAction::FillComposer(text) => {
                if let Some(why) = self.settings.read_only_reason() {
                    return self.show_toast(&why);
                }
                if !self.composer.editor.is_empty() {
                    return self.show_toast("Send or delete your text first.");
                }
                self.composer.editor.set_text(&text);
                self.focus_composer();
                Vec::new()
            }
        }
    }
}

impl ComposerPane {
    /// Puts an entry first in the list of recent commands.
    fn note_recent_command(&mut self, entry: &PaletteEntry) {
        if entry.binding.is_some() {
            let used = &mut self.assist.recent_commands;
            used.retain(|slash| *slash != entry.slash);
            used.insert(0, entry.slash.clone());
            used.truncate(MAX_RECENT_ENTRIES);
        }
    }
}
