//! Draws a run and turns keys into actions.
//!
//! Pure: it holds the state of the view and nothing else. It knows no terminal, file, clock or engine;
//! the instant comes with each frame, events and texts are handed in.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod action;

use ratatui::Frame;
use ratatui::crossterm::event::{KeyEvent, MouseEvent};

pub use action::{Action, DocumentKind, QuitStep};

use crate::domain::event::Event;
use crate::domain::ids::At;
use crate::domain::run::State;
use crate::domain::turn::Role;

/// What a screen is told once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScreenSettings {
    /// Whether Enter needs a second one before a turn is released.
    pub confirm_enter: bool,
    /// Whether no model is called; the header says so.
    pub demo: bool,
    /// The repository's path or name, for the header.
    pub repository: String,
    /// The branch that is checked out, where there is one.
    pub branch: Option<String>,
}

/// A piece of a block that an agent is writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// More text of a block, not cleaned.
    Text {
        /// Whose.
        role: Role,
        /// The block.
        item: String,
        /// The piece.
        text: String,
    },
    /// The block's pieces are void.
    Withdrawn {
        /// Whose.
        role: Role,
        /// The block.
        item: String,
    },
}

/// The documents of a run as they lie on disk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Documents {
    /// `plan.md`
    pub plan: Option<String>,
    /// `comments.md`
    pub comments: Option<String>,
    /// `log.md`
    pub log: Option<String>,
}

/// The view of a run.
#[derive(Debug)]
pub struct Screen {
    settings: ScreenSettings,
    dirty: bool,
}

impl Screen {
    /// Makes the view of no run yet.
    pub fn new(settings: ScreenSettings) -> Self {
        Self {
            settings,
            dirty: true,
        }
    }

    /// Takes in what is known of the repository once it was looked at; the first frame does not wait for it.
    pub fn on_settings(&mut self, settings: ScreenSettings) {
        self.settings = settings;
        self.dirty = true;
    }

    /// Takes a recorded event in; also those that are replayed.
    pub fn on_event(&mut self, _at: At, _event: &Event) {
        self.dirty = true;
    }

    /// Takes a piece of text in.
    pub fn on_delta(&mut self, _delta: Delta) {
        self.dirty = true;
    }

    /// Takes the documents as they lie on disk now.
    pub fn on_documents(&mut self, _documents: Documents) {
        self.dirty = true;
    }

    /// Shows something worth knowing, quietly.
    pub fn on_notice(&mut self, _text: &str) {
        self.dirty = true;
    }

    /// Takes what the turn at the gate will send.
    pub fn on_preview(&mut self, _prompt: &str) {
        self.dirty = true;
    }

    /// Shows a diff.
    pub fn on_diff(&mut self, _text: &str) {
        self.dirty = true;
    }

    /// Turns a key into what the user asks for; keys of the view itself give nothing.
    pub fn on_key(&mut self, _key: KeyEvent, _state: Option<&State>) -> Vec<Action> {
        self.dirty = true;
        Vec::new()
    }

    /// Takes pasted text in.
    pub fn on_paste(&mut self, _text: &str) {
        self.dirty = true;
    }

    /// Turns a click or the wheel into what the user asks for.
    pub fn on_mouse(&mut self, _event: MouseEvent) -> Vec<Action> {
        self.dirty = true;
        Vec::new()
    }

    /// Draws one frame; the screen is clean after it.
    pub fn draw(&mut self, frame: &mut Frame, _state: Option<&State>, _now: At) {
        frame.render_widget(self.settings.repository.as_str(), frame.area());
        self.dirty = false;
    }

    /// Tells whether a frame is needed.
    pub fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// Makes the next frame needed, after a resize or a return to the terminal.
    pub fn touch(&mut self) {
        self.dirty = true;
    }
}
