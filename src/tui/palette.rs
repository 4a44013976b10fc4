//! The palette: every action by a few letters of it, with its key.
//!
//! Made of the one keymap. While it is open no other key means anything, and no dialog counts as read.

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::action::Action;
use super::command::{self, Move};
use super::footer::is_useful;
use super::fuzzy::{self, Among, Row};
use super::keymap::{Binding, IsWriting, Key, Keymap};
use super::sheet::Sheet;
use super::theme;
use super::wrap::{cut, width};
use super::{Screen, popup, wrap};
use crate::domain::run::State;

/// How many columns it takes at most.
const WIDEST: u16 = 100;
/// How many rows it takes at most.
const TALLEST: u16 = 22;

/// The open palette.
#[derive(Debug, Default)]
pub struct Palette {
    letters: String,
    chosen: usize,
}

/// What decides which entries have something to do.
struct Now<'a> {
    keymap: &'a Keymap,
    state: Option<&'a State>,
    sheet: Option<&'a Sheet>,
}

/// One entry: a binding, by one of its slash commands.
struct Entry {
    slash: &'static str,
    binding: &'static Binding,
    /// The key that is shown.
    key: Option<Key>,
}

/// What is done with an entry.
enum Does {
    Command(command::Command),
    /// The composer takes the rest of it.
    Write(String),
}

fn entries(keymap: &Keymap) -> Vec<Entry> {
    let of = |(binding, keys): (&'static Binding, &[Key])| {
        let key = keys.first().copied();
        let slashes = binding.slash.split(", ");
        slashes.map(move |slash| Entry {
            slash,
            binding,
            key,
        })
    };
    let mut all: Vec<Entry> = keymap.rows().flat_map(of).collect();
    // The same command on another key is one entry.
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|entry| seen.insert(entry.slash));
    all
}

impl Entry {
    fn row(&self, letters: &str, now: &Now<'_>) -> Row {
        Row {
            name: self.slash.to_owned(),
            about: self.binding.help.to_owned(),
            key: self.key.map_or_else(String::new, Key::name),
            lit: fuzzy::places(letters, self.slash),
            is_idle: !self.is_useful(now),
        }
    }

    /// Tells whether it has something to do now.
    fn is_useful(&self, now: &Now<'_>) -> bool {
        match self.does() {
            Does::Command(command) => is_useful(&command, now.state, now.sheet),
            Does::Write(text) => match command::read(&format!("{text} 1")) {
                Ok(command) => is_useful(&command, now.state, now.sheet),
                Err(_) => true,
            },
        }
    }

    /// Tells whether another name of the same is listed.
    fn is_second_name(&self) -> bool {
        self.slash == "/manual"
    }

    fn does(&self) -> Does {
        let (name, argument) = self.slash.split_once(' ').unwrap_or((self.slash, ""));
        let wants_text = argument
            .split(' ')
            .any(|word| word.starts_with(char::is_uppercase));
        // What may be left out is left out.
        let typed = if argument.starts_with('[') {
            name
        } else {
            self.slash
        };
        match command::read(typed).or_else(|_| command::read(name)) {
            Ok(command) if !wants_text => Does::Command(command),
            Ok(_) | Err(_) => Does::Write(format!("{name} ")),
        }
    }
}

impl Palette {
    /// The entries that are called like the letters, then those whose help has them; first of all those
    /// that have something to do now.
    fn found(&self, now: &Now<'_>) -> Vec<Entry> {
        let mut all = entries(now.keymap);
        if self.letters.trim().is_empty() {
            all.retain(|entry| !entry.is_second_name());
        }
        let names = all.iter().map(|entry| entry.slash);
        let helps = all.iter().map(|entry| entry.binding.help);
        let by_name = fuzzy::best(&self.letters, names, (Among::Names, usize::MAX));
        let by_help = fuzzy::best(&self.letters, helps, (Among::Prose, usize::MAX));
        let mut all: Vec<Option<Entry>> = all.into_iter().map(Some).collect();
        let found = by_name.into_iter().chain(by_help);
        let found = found.filter_map(|at| all.get_mut(at).and_then(Option::take));
        let (mut useful, idle): (Vec<Entry>, Vec<Entry>) =
            found.partition(|entry| entry.is_useful(now));
        useful.extend(idle);
        useful
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
        let wanted = u16::try_from(found.len().max(1) + 3).unwrap_or(TALLEST);
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
    /// Opens the palette.
    pub(super) fn open_palette(&mut self) -> Vec<Action> {
        self.palette = Some(Palette::default());
        Vec::new()
    }

    /// Draws the palette where it is open.
    pub(super) fn draw_palette(
        &mut self,
        frame: &mut Frame,
        state: Option<&State>,
        sheet: Option<&Sheet>,
    ) {
        if let Some(palette) = &self.palette {
            let now = Now {
                keymap: self.keymap(),
                state,
                sheet,
            };
            let places = palette.draw(frame, &now);
            self.places.palette = Some(places);
            // What it covers was not read.
            (self.seen, self.call_seen) = (None, None);
        }
    }

    /// Points at the entry before or behind.
    pub(super) fn point_in_palette(&mut self, to: Move, state: Option<&State>) {
        if self.palette.is_none() {
            return;
        }
        let sheet = self.waiting(state);
        let now = Now {
            keymap: &self.settings.look.keymap,
            state,
            sheet: sheet.as_ref(),
        };
        if let Some(palette) = &mut self.palette {
            let last = palette.found(&now).len().saturating_sub(1);
            palette.chosen = match to {
                Move::Up => palette.chosen.saturating_sub(1),
                _ => (palette.chosen + 1).min(last),
            };
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
        state: Option<&State>,
    ) -> Option<Vec<Action>> {
        let keymap = &self.settings.look.keymap;
        let palette = self.palette.as_mut()?;
        if keymap.find(&key, IsWriting::Yes) == Some(command::Command::Palette) {
            self.palette = None;
            return Some(Vec::new());
        }
        match key.code {
            KeyCode::Esc => self.palette = None,
            KeyCode::Enter => return Some(self.take_entry(state)),
            KeyCode::Up => self.point_in_palette(Move::Up, state),
            KeyCode::Down => self.point_in_palette(Move::Down, state),
            KeyCode::Backspace => {
                palette.letters.pop();
                palette.chosen = 0;
            }
            KeyCode::Char('u') if key.modifiers == KeyModifiers::CONTROL => {
                *palette = Palette::default();
            }
            KeyCode::Char(c)
                if !c.is_control() && key.modifiers - KeyModifiers::SHIFT == KeyModifiers::NONE =>
            {
                palette.letters.push(c);
                palette.chosen = 0;
            }
            _ => {}
        }
        Some(Vec::new())
    }

    /// A click in the palette points at an entry or carries out the one that is pointed at; one beside it
    /// closes it.
    pub(super) fn click_palette(&mut self, at: Position, state: Option<&State>) -> Vec<Action> {
        let (Some(palette), Some((area, rows))) = (&mut self.palette, &self.places.palette) else {
            return Vec::new();
        };
        if !area.contains(at) {
            self.palette = None;
            return Vec::new();
        }
        match rows.iter().find(|(place, _)| place.contains(at)) {
            Some((_, row)) if palette.chosen == *row => self.take_entry(state),
            Some((_, row)) => {
                palette.chosen = *row;
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    fn take_entry(&mut self, state: Option<&State>) -> Vec<Action> {
        let Some(palette) = &self.palette else {
            return Vec::new();
        };
        let sheet = self.waiting(state);
        let now = Now {
            keymap: self.keymap(),
            state,
            sheet: sheet.as_ref(),
        };
        let Some(entry) = palette.found(&now).into_iter().nth(palette.chosen) else {
            return Vec::new();
        };
        self.palette = None;
        match entry.does() {
            Does::Command(command) => self.perform(command, state),
            Does::Write(text) => {
                if let Some(why) = self.read_only_word() {
                    return self.refuse(&why);
                }
                if !self.composer.is_empty() {
                    return self.refuse("send or remove what you have written first");
                }
                self.composer.set(&text);
                self.writing = IsWriting::Yes;
                Vec::new()
            }
        }
    }
}
