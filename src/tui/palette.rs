//! The palette: every action by a few letters of it, with its key.
//!
//! Made of the one keymap. While it is open no other key means anything, and no dialog counts as read.

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::action::Action;
use super::command::{self, Move};
use super::fuzzy::{self, Among, Row};
use super::keymap::{Binding, IsWriting, Key, Keymap};
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
    fn row(&self) -> Row {
        Row {
            name: self.slash.to_owned(),
            about: self.binding.help.to_owned(),
            key: self.key.map_or_else(String::new, Key::name),
        }
    }

    fn does(&self) -> Does {
        let (name, argument) = self.slash.split_once(' ').unwrap_or((self.slash, ""));
        let wants_text = argument.chars().next().is_some_and(char::is_uppercase);
        match command::read(self.slash).or_else(|_| command::read(name)) {
            Ok(command) if !wants_text => Does::Command(command),
            Ok(_) | Err(_) => Does::Write(format!("{name} ")),
        }
    }
}

impl Palette {
    /// The entries that are called like the letters, then those whose help has them.
    fn found(&self, keymap: &Keymap) -> Vec<Entry> {
        let all = entries(keymap);
        let names = all.iter().map(|entry| entry.slash);
        let helps = all.iter().map(|entry| entry.binding.help);
        let by_name = fuzzy::best(&self.letters, names, (Among::Names, usize::MAX));
        let by_help = fuzzy::best(&self.letters, helps, (Among::Prose, usize::MAX));
        let mut all: Vec<Option<Entry>> = all.into_iter().map(Some).collect();
        let found = by_name.into_iter().chain(by_help);
        found
            .filter_map(|at| all.get_mut(at).and_then(Option::take))
            .collect()
    }

    fn draw(&self, frame: &mut Frame, keymap: &Keymap) {
        let whole = frame.area();
        let size = (
            whole.width.saturating_sub(2).min(WIDEST),
            whole.height.min(TALLEST),
        );
        let area = Rect {
            x: whole.x + (whole.width - size.0) / 2,
            y: whole.y + (whole.height - size.1) / 4,
            width: size.0,
            height: size.1,
        };
        let below = "↑↓ choose · Enter does it · Esc closes";
        let inner = popup::draw(frame, area, "what shall be done?", below);
        if inner.is_empty() {
            return;
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
        let found: Vec<Row> = self.found(keymap).iter().map(Entry::row).collect();
        if found.is_empty() {
            let text = cut("  nothing is called like this", usize::from(list.width));
            frame.render_widget(Line::styled(text, theme::QUIET), list);
        }
        fuzzy::draw_rows(frame, list, &found, self.chosen);
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
    pub(super) fn draw_palette(&mut self, frame: &mut Frame) {
        if let Some(palette) = &self.palette {
            palette.draw(frame, self.keymap());
            // What it covers was not read.
            (self.seen, self.call_seen) = (None, None);
        }
    }

    /// Points at the entry before or behind.
    pub(super) fn point_in_palette(&mut self, to: Move) {
        let keymap = &self.settings.look.keymap;
        if let Some(palette) = &mut self.palette {
            let last = palette.found(keymap).len().saturating_sub(1);
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
            KeyCode::Up => self.point_in_palette(Move::Up),
            KeyCode::Down => self.point_in_palette(Move::Down),
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

    fn take_entry(&mut self, state: Option<&State>) -> Vec<Action> {
        let Some(palette) = &self.palette else {
            return Vec::new();
        };
        let Some(entry) = palette.found(self.keymap()).into_iter().nth(palette.chosen) else {
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
