//! The line in which the user looks for something in the chat.
//!
//! Refuses to search: the transcript does.

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::Screen;
use super::command::Command;
use super::keymap::{Context, IsWriting};
use super::tabs::Tab;
use super::theme;
use super::transcript::Find;
use super::wrap::{cut, width};

/// What is looked for, as it is typed.
#[derive(Debug, Default)]
pub struct FindLine {
    typed: String,
    find: Find,
}

/// What can be done in the line beside typing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// To what was found before.
    Back,
    /// To what was found next.
    On,
    /// Closes the line.
    Close,
}

impl Screen {
    /// Opens the line.
    pub(super) fn open_find(&mut self) {
        // Log lists what has the letters; everywhere else the chat is searched.
        if self.tab != Tab::Log || self.pager.is_some() {
            self.show_chat();
        }
        self.find = Some(FindLine::default());
    }

    /// The letters that are looked for, in lower case; empty where nothing is.
    pub(super) fn looked_for(&self) -> String {
        let find = self.find.as_ref();
        find.map_or_else(String::new, |line| match self.tab {
            Tab::Log => line.typed.to_lowercase(),
            _ => line.find.letters().to_owned(),
        })
    }

    /// Gives a key to the line; tells whether it is open and the key was for it.
    pub(super) fn key_of_find(&mut self, key: KeyEvent) -> bool {
        if self.find.is_none() {
            return false;
        }
        match self.keymap().find_in(&key, Context::Find) {
            // What Log lists is gone through by the keys of the tab.
            Some(Command::InFind(Step::Back | Step::On)) if self.tab == Tab::Log => return false,
            Some(Command::InFind(step)) => {
                self.find_step(step);
                return true;
            }
            Some(_) | None => {}
        }
        let moves = self.keymap().find(&key, IsWriting::Yes);
        let Some(line) = &mut self.find else {
            return false;
        };
        let is_plain = key.modifiers - KeyModifiers::SHIFT == KeyModifiers::NONE;
        match key.code {
            KeyCode::Char('u') if key.modifiers == KeyModifiers::CONTROL => line.typed.clear(),
            KeyCode::Backspace => {
                line.typed.pop();
            }
            KeyCode::Char(c) if is_plain && !c.is_control() => line.typed.push(c),
            _ if matches!(moves, Some(Command::Scroll(_))) => return false,
            KeyCode::Home | KeyCode::End => return false,
            // Whatever else it is, the line is left by it.
            _ => {
                self.find = None;
                return false;
            }
        }
        if self.tab != Tab::Log {
            self.transcript.look_for(&mut line.find, &line.typed);
        }
        true
    }

    /// Goes along what was found, or closes the line.
    pub(super) fn find_step(&mut self, step: Step) {
        let Some(line) = &self.find else {
            return;
        };
        match step {
            Step::Back => self.transcript.go_along(&line.find, false),
            Step::On => self.transcript.go_along(&line.find, true),
            Step::Close => self.find = None,
        }
    }

    /// Draws the line.
    pub(super) fn draw_find(&self, frame: &mut Frame, area: Rect) {
        let Some(line) = &self.find else {
            return;
        };
        let (at, n) = self.transcript.place_of(&line.find);
        let place = match (line.typed.is_empty(), n) {
            (true, _) => String::new(),
            (false, _) if self.tab == Tab::Log => String::new(),
            (false, 0) => " nothing like it here".to_owned(),
            (false, n) => format!(" {at} of {n}"),
        };
        let columns = usize::from(area.width);
        let head = cut(&format!("find: {}", line.typed), columns.saturating_sub(1));
        let cursor = u16::try_from(width(&head)).unwrap_or(0);
        let room = columns.saturating_sub(width(&head) + 1);
        let about = match self.tab {
            Tab::Log => "  the events that have it are listed",
            _ => "",
        };
        let rest = cut(&format!("{place}{about}"), room);
        let spans = vec![
            Span::styled(head, theme::KEY),
            Span::raw(" "),
            Span::styled(rest, theme::QUIET),
        ];
        frame.render_widget(Line::from(spans), area);
        if !area.is_empty() {
            frame
                .set_cursor_position((area.x.saturating_add(cursor).min(area.right() - 1), area.y));
        }
    }
}
