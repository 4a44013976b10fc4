//! The palette: every action by a few letters of it, with its key.
//!
//! Made of the one keymap: what was used last, what is about the tab, then the rest by what it is about; once something
//! is typed, only how well it fits counts. Themes are in it too, of which the one that is pointed at is shown at once.
//! While it is open no other key means anything, and no dialog counts as read.

mod entry;

use std::borrow::Cow;

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::action::Action;
use super::command::{self, Move};
use super::fuzzy::{self, Among, Row};
use super::keymap::{GROUPS, IsWriting};
use super::list;
use super::look::Look;
use super::sheet::Sheet;
use super::tabs::{self, Tab};
use super::theme::{self, Theme};
use super::wrap::{cut, width};
use super::{Screen, popup, wrap};
use crate::domain::run::RunState;
use entry::{Does, Entry, Now, entries, of_theme};

/// How many columns it takes at most.
const WIDEST: u16 = 100;
/// How many rows it takes at most.
const TALLEST: u16 = 22;

/// How many of those that were taken last are listed first.
const MOST_USED: usize = 5;

/// The command that gives the keys to the other pane, where there is one.
const OTHER_PANE: &str = "/other-pane";
/// The command that shows a theme.
const THEME: &str = "/theme ";

/// The open palette.
#[derive(Debug, Default)]
pub struct Palette {
    letters: String,
    chosen: usize,
    /// The theme that was shown before one was pointed at.
    before: Option<Theme>,
    /// The dialog that was read when it was opened, by its id.
    over: Option<String>,
}

impl Palette {
    /// All entries by what they are about; of each kind first those that have something to do now.
    fn listed(now: &Now<'_>) -> Vec<Entry> {
        let mut all = entries(&now.look.keymap);
        all.retain(|entry| !entry.is_second_name());
        all.retain(|entry| now.has_panes || entry.slash != OTHER_PANE);
        let mut listed = Vec::new();
        for used in now.used {
            let at = all.iter().position(|entry| entry.slash == *used);
            listed.extend(at.map(|at| all.remove(at).under("used last")));
        }
        let (heading, names) = &now.here;
        for name in names {
            let is_it = |entry: &Entry| entry.binding.is_some_and(|of| of.name == *name);
            let at = all.iter().position(is_it);
            listed.extend(at.map(|at| all.remove(at).under(heading)));
        }
        for group in GROUPS {
            let own = group.of(&mut all, |entry| entry.binding).into_iter();
            let own = own.map(|entry| entry.under(group.name));
            let (useful, idle): (Vec<Entry>, Vec<Entry>) =
                own.partition(|entry| entry.is_useful(now));
            listed.extend(useful.into_iter().chain(idle));
        }
        listed
    }

    /// The entries that are called like the letters, then those whose help has them; of either first those
    /// that have something to do now. All of them where there are no letters.
    fn found(&self, now: &Now<'_>) -> Vec<Entry> {
        if self.letters.trim().is_empty() {
            return Self::listed(now);
        }
        let mut all = entries(&now.look.keymap);
        all.retain(|entry| now.has_panes || entry.slash != OTHER_PANE);
        all.extend(self.themes(now.look).map(of_theme));
        let names = all.iter().map(|entry| entry.slash.as_ref());
        let helps = all.iter().map(|entry| entry.help);
        let by_name = fuzzy::best(&self.letters, names, (Among::Names, usize::MAX));
        let by_help = fuzzy::best(&self.letters, helps, (Among::Prose, usize::MAX));
        let mut all: Vec<Option<Entry>> = all.into_iter().map(Some).collect();
        let mut ordered = Vec::new();
        for found in [by_name, by_help] {
            let found = found.into_iter();
            let found = found.filter_map(|at| all.get_mut(at).and_then(Option::take));
            let (useful, idle): (Vec<Entry>, Vec<Entry>) =
                found.partition(|entry| entry.is_useful(now));
            ordered.extend(useful.into_iter().chain(idle));
        }
        ordered
    }

    /// The themes that are looked for: all of them by the beginning of that word, one by that of its name. Fewer
    /// letters mean something else, and no theme is to be seen on the way there.
    fn themes<'a>(&self, look: &'a Look) -> impl Iterator<Item = &'a Theme> + use<'a> {
        let letters = self.letters.trim().trim_start_matches('/').to_lowercase();
        let word = letters.split(' ').next().unwrap_or_default();
        let are_all = word.len() > 1 && "themes".starts_with(word);
        let themes = look.themes().iter();
        themes.filter(move |theme| {
            are_all || (letters.len() > 2 && theme.name().starts_with(&letters))
        })
    }

    fn draw(&self, frame: &mut Frame, now: &Now<'_>) -> (Rect, Vec<(Rect, usize)>) {
        let whole = frame.area();
        let found = self.found(now);
        let found = found.iter().map(|entry| entry.row(&self.letters, now));
        let found: Vec<Row> = found.collect();
        let size = (
            whole.width.saturating_sub(2).min(WIDEST),
            whole.height.min(TALLEST),
        );
        // Its upper edge stays where it is while what is found grows less.
        let wanted = u16::try_from(fuzzy::n_lines(&found).max(1) + 3).unwrap_or(TALLEST);
        let area = Rect {
            x: whole.x + (whole.width - size.0) / 2,
            y: whole.y + (whole.height - size.1) / 4,
            width: size.0,
            height: size.1.min(wanted),
        };
        let below = "↑↓ choose · Enter does it · Esc closes";
        let inner = popup::draw(frame, area, "what shall be done?", below);
        if inner.is_empty() {
            return (area, Vec::new());
        }
        let columns = usize::from(inner.width).saturating_sub(3);
        let letters = tail(&self.letters, columns);
        let cursor = u16::try_from(width(&letters) + 2).unwrap_or(0);
        frame.render_widget(Line::raw(format!("› {letters}")), inner);
        frame.set_cursor_position((inner.x + cursor, inner.y));
        let list = Rect {
            y: inner.y + 1,
            height: inner.height - 1,
            ..inner
        };
        if found.is_empty() {
            let text = cut("  nothing is called like this", usize::from(list.width));
            frame.render_widget(Line::styled(text, theme::QUIET), list);
        }
        (area, fuzzy::draw_rows(frame, list, &found, self.chosen))
    }
}

/// The end of a text, as much as fits.
fn tail(text: &str, columns: usize) -> String {
    let mut tail = text;
    while width(tail) > columns {
        let mut chars = tail.chars();
        chars.next();
        tail = chars.as_str();
    }
    tail.to_owned()
}

impl Screen {
    /// Tells whether a slash command has something to do now.
    pub(super) fn has_use(
        &self,
        slash: &str,
        state: Option<&RunState>,
        sheet: Option<&Sheet>,
    ) -> bool {
        let entry = Entry {
            slash: Cow::Owned(slash.to_owned()),
            help: "",
            key: None,
            binding: None,
            heading: String::new(),
        };
        entry.stands_against(state, sheet).is_none()
    }

    fn now<'a>(&'a self, state: Option<&'a RunState>, sheet: Option<&'a Sheet>) -> Now<'a> {
        Now {
            look: &self.settings.look,
            used: &self.helped.used,
            here: self.actions_here(),
            state,
            sheet,
            has_panes: self.places.side.is_some(),
        }
    }

    /// How the actions are headed that are about the tab, and their names.
    pub(super) fn actions_here(&self) -> (String, Vec<&'static str>) {
        let is_compared = self.tab == Tab::Plan && self.plan.against().is_some();
        let hints = match self.tab {
            Tab::Chat => tabs::READ,
            _ if is_compared => tabs::COMPARED,
            other => other.hints(),
        };
        let names = hints.iter().flat_map(|(names, _)| names.iter().copied());
        (format!("in {}", self.tab.title()), names.collect())
    }

    /// Opens the palette.
    pub(super) fn open_palette(&mut self) -> Vec<Action> {
        self.palette = Some(Palette {
            over: self.shown(),
            ..Palette::default()
        });
        Vec::new()
    }

    /// Draws the palette where it is open.
    pub(super) fn draw_palette(
        &mut self,
        frame: &mut Frame,
        state: Option<&RunState>,
        sheet: Option<&Sheet>,
    ) {
        if let Some(palette) = &self.palette {
            let places = palette.draw(frame, &self.now(state, sheet));
            self.places.palette = Some(places);
            // What it covers was not read.
            self.seen = None;
            self.reading.forget();
        }
    }

    /// What the open palette lists; nothing where it is closed.
    fn found_in_palette(&self, state: Option<&RunState>) -> Vec<Entry> {
        let sheet = self.waiting(state);
        let now = self.now(state, sheet.as_ref());
        let palette = self.palette.as_ref();
        palette.map_or_else(Vec::new, |palette| palette.found(&now))
    }

    /// Points at the entry before or behind, and no further than to the ends.
    pub(super) fn roll_palette(&mut self, to: Move, state: Option<&RunState>) {
        self.go_in_palette(state, |chosen, rows| list::rolled(to, chosen, rows));
    }

    /// Points at another entry, of which there are so many and so many are seen.
    fn go_in_palette(
        &mut self,
        state: Option<&RunState>,
        next: impl FnOnce(usize, (usize, usize)) -> usize,
    ) {
        let n = self.found_in_palette(state).len();
        let n_shown = self.places.palette.as_ref();
        let n_shown = n_shown.map_or(1, |(_, rows)| rows.len());
        if let Some(palette) = &mut self.palette {
            palette.chosen = next(palette.chosen, (n, n_shown));
        }
        self.show_theme_of_palette(state);
    }

    /// Shows the theme that is pointed at; where another entry is, the one from before again.
    fn show_theme_of_palette(&mut self, state: Option<&RunState>) {
        let found = self.found_in_palette(state);
        let Some(palette) = &mut self.palette else {
            return;
        };
        let name = found.get(palette.chosen).map(|entry| entry.slash.as_ref());
        let theme = name.and_then(|name| self.settings.look.theme(name.strip_prefix(THEME)?));
        match theme.or_else(|| palette.before.clone()) {
            Some(theme) if palette.before.is_none() => {
                palette.before = Some(std::mem::replace(&mut self.settings.theme, theme));
            }
            Some(theme) => self.settings.theme = theme,
            None => {}
        }
    }

    /// Closes the palette; a theme that was only pointed at is shown no more.
    fn close_palette(&mut self) {
        if let Some(before) = self.palette.take().and_then(|palette| palette.before) {
            self.settings.theme = before;
        }
    }

    /// Takes pasted text into the palette where it is open.
    pub(super) fn pasted_into_palette(&mut self, text: &str) -> bool {
        let Some(palette) = &mut self.palette else {
            return false;
        };
        let line = wrap::one_line(text);
        palette.letters.extend(line.chars().take(100));
        palette.chosen = 0;
        true
    }

    /// Gives a key to the palette; `None` where it is not open.
    pub(super) fn key_of_palette(
        &mut self,
        key: KeyEvent,
        state: Option<&RunState>,
    ) -> Option<Vec<Action>> {
        self.palette.as_ref()?;
        let is_its_own =
            self.keymap().find(&key, IsWriting::Yes) == Some(command::Command::Palette);
        let to = list::move_of(key);
        match key.code {
            _ if is_its_own => self.close_palette(),
            KeyCode::Esc => self.close_palette(),
            KeyCode::Enter => return Some(self.take_entry(state)),
            _ if to.is_some() => self.go_in_palette(state, |chosen, rows| {
                to.map_or(chosen, |to| list::stepped(to, chosen, rows))
            }),
            _ => {
                self.type_in_palette(key);
                self.show_theme_of_palette(state);
            }
        }
        Some(Vec::new())
    }

    fn type_in_palette(&mut self, key: KeyEvent) {
        let Some(palette) = &mut self.palette else {
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

    /// A click in the palette points at an entry or carries out the one that is pointed at; one beside it
    /// closes it.
    pub(super) fn click_palette(&mut self, at: Position, state: Option<&RunState>) -> Vec<Action> {
        let hint = self.hint_at(at);
        let (Some(palette), Some((area, rows))) = (&mut self.palette, &self.places.palette) else {
            return Vec::new();
        };
        if !area.contains(at) {
            self.close_palette();
            return Vec::new();
        }
        if let Some(key) = hint {
            return self.press_hint(key, state);
        }
        match rows.iter().find(|(place, _)| place.contains(at)) {
            Some((_, row)) if palette.chosen == *row => self.take_entry(state),
            Some((_, row)) => {
                palette.chosen = *row;
                self.show_theme_of_palette(state);
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// Puts an entry before those that were taken earlier.
    fn note_used(&mut self, entry: &Entry) {
        if entry.binding.is_some() {
            let used = &mut self.helped.used;
            used.retain(|slash| *slash != entry.slash);
            used.insert(0, entry.slash.to_string());
            used.truncate(MOST_USED);
        }
    }

    fn take_entry(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let Some((chosen, over)) = self.palette.as_ref().map(|it| (it.chosen, it.over.clone()))
        else {
            return Vec::new();
        };
        let Some(entry) = self.found_in_palette(state).into_iter().nth(chosen) else {
            return Vec::new();
        };
        self.close_palette();
        self.note_used(&entry);
        match entry.does() {
            Does::Command(command) => match self.unseen_word(&command, over.as_deref(), state) {
                Some(why) => self.refuse(&why),
                None => self.perform(command, state),
            },
            Does::Write(text) => {
                if let Some(why) = self.read_only_word() {
                    return self.refuse(&why);
                }
                if !self.composer.is_empty() {
                    return self.refuse("send or remove what you have written first");
                }
                self.composer.set(&text);
                self.begin_writing();
                Vec::new()
            }
        }
    }
}
