//! Draws screens without a terminal, and measures how long that takes.

use std::time::Duration;

use agent_collab::domain::event::{AgentActivity, Event};
use agent_collab::domain::ids::{TurnId, UnixMillis};
use agent_collab::domain::run::RunState;
use agent_collab::domain::turn::Role;
use agent_collab::tui::{Action, Screen, ScreenSettings};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::timed;

/// Slack against noise, of a key and its frame.
pub const SLACK: Duration = Duration::from_micros(500);
/// The limit for the slowest of a hundred keys until it is on the screen.
pub const A_KEY: Duration = Duration::from_millis(8);
/// Columns and rows of the window.
pub const SIZE: (u16, u16) = (200, 50);

/// A screen and the window that it is drawn in.
pub struct Drawn {
    pub screen: Screen,
    pub terminal: Terminal<TestBackend>,
    /// The run that it shows.
    pub state: Option<RunState>,
}

impl Drawn {
    /// A screen without a run.
    pub fn empty() -> anyhow::Result<Self> {
        Ok(Self {
            screen: Screen::new(ScreenSettings::default()),
            terminal: Terminal::new(TestBackend::new(SIZE.0, SIZE.1))?,
            state: None,
        })
    }

    /// A screen with so many blocks in its chat.
    pub fn long(n_blocks: usize) -> anyhow::Result<Self> {
        let mut long = Self::empty()?;
        for n in 0..n_blocks {
            long.says(&format!("{n}: {}", "a sentence of an answer. ".repeat(30)));
        }
        Ok(long)
    }

    /// Adds a text of the agent.
    pub fn says(&mut self, text: &str) {
        let news = AgentActivity::Text {
            text: text.to_owned(),
        };
        let (turn, role) = (TurnId::new("trn_1"), Role::Planner);
        let event = Event::Agent { turn, role, news };
        self.screen.on_event(UnixMillis(0), &event);
    }

    /// Measures a key without a frame.
    pub fn press(&mut self, code: KeyCode) -> Duration {
        self.press_with(code, KeyModifiers::NONE).0
    }

    /// The same with Ctrl or another, and what follows from it.
    pub fn press_with(&mut self, code: KeyCode, with: KeyModifiers) -> (Duration, Vec<Action>) {
        let key = KeyEvent::new(code, with);
        timed(|| self.screen.on_key(key, self.state.as_ref()))
    }

    /// Measures a frame.
    pub fn draw(&mut self) -> anyhow::Result<Duration> {
        let (screen, state) = (&mut self.screen, self.state.as_ref());
        let (took, drawn) = timed(|| {
            self.terminal
                .draw(|frame| screen.draw(frame, state, UnixMillis(0)))
                .map(drop)
        });
        drawn?;
        Ok(took)
    }

    /// Measures a key and the frame that answers it.
    pub fn key(&mut self, code: KeyCode) -> anyhow::Result<Duration> {
        Ok(self.press(code) + self.draw()?)
    }

    /// Measures a key that must change the screen, and undoes it with another key afterwards.
    pub fn key_and_back(&mut self, code: KeyCode, back: KeyCode) -> anyhow::Result<Duration> {
        self.draw()?;
        let before = self.terminal.backend().buffer().clone();
        let took = self.key(code)?;
        anyhow::ensure!(
            self.terminal.backend().buffer() != &before,
            "{code:?} changes nothing"
        );
        self.key(back)?;
        Ok(took)
    }
}
