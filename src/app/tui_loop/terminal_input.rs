//! Reads keys, mouse, pastes and sizes in batches, and passes them to the screen in front.
//!
//! `tui` decides what a key means.

use std::io;
use std::time::Duration;

use crossterm::event::{Event as Input, EventStream, KeyEventKind, poll, read};
use futures_util::StreamExt;
use tokio::time::Instant;

use crate::store::utc_time;
use crate::tui::{Action, ColorTheme};

use super::background_query::{BACKGROUND_QUERY, QueryInput, TerminalBackground};
use super::frame_limiter::FrameReason;
use super::shutdown::TuiEnd;
use super::{MAX_INPUT_BATCH, TuiApp};

impl TuiApp {
    /// Stops reading keys, so that another program can.
    ///
    /// Dropping the stream leaves a wake-up behind. It is consumed here: the next stream would otherwise get it
    /// together with its first key, and that key would wait for another one.
    pub(super) fn release_input(&mut self) {
        self.input = None;
        // Input that is there already stays for the next stream.
        let _there = poll(Duration::ZERO);
    }

    /// Handles all available input, so that many keys make one frame.
    ///
    /// Reads available input directly, not from the stream, which would store a waker that wakes nothing.
    pub(super) fn on_inputs(
        &mut self,
        first: Option<io::Result<Input>>,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        self.paste_tail.begin_batch(Instant::now());
        if let Some(end) = self.on_raw_input(first)? {
            return Ok(Some(end));
        }
        for _ in 0..MAX_INPUT_BATCH {
            let is_there = self.input.is_some() && poll(Duration::ZERO).is_ok_and(|there| there);
            if !is_there {
                break;
            }
            if let Some(end) = self.on_raw_input(Some(read()))? {
                return Ok(Some(end));
            }
        }
        if let Some(rest) = self.paste_tail.take_text() {
            self.active_screen().0.on_paste(&rest);
        }
        self.save_input_history();
        Ok(None)
    }

    /// Asks for the terminal's background if the environment does not tell it; does not wait for the answer.
    pub(super) fn query_background(&mut self) {
        if self.screen.theme() == ColorTheme::default()
            && self.terminal.send_query(BACKGROUND_QUERY).is_ok()
        {
            self.background_query.start();
        }
    }

    /// Filters the terminal's answer out of the keys.
    fn on_raw_input(&mut self, input: Option<io::Result<Input>>) -> Result<Option<TuiEnd>, TuiEnd> {
        let Some(Ok(input)) = input else {
            return self.on_input(input);
        };
        match self.background_query.filter_input(input) {
            QueryInput::Input(inputs) => {
                for input in inputs {
                    if let Some(end) = self.on_input(Some(Ok(input)))? {
                        return Ok(Some(end));
                    }
                }
            }
            QueryInput::Reply(Some(TerminalBackground::Light)) => {
                self.screen.use_light_background();
                self.active_screen().0.use_light_background();
            }
            // The default colours fit a dark background.
            QueryInput::Reply(_) | QueryInput::Part => {}
        }
        Ok(None)
    }

    fn on_input(&mut self, input: Option<io::Result<Input>>) -> Result<Option<TuiEnd>, TuiEnd> {
        self.frame_reason = FrameReason::ForUser;
        let input = match input {
            Some(Ok(input)) => match self.paste_tail.filter_input(input, Instant::now()) {
                Some(input) => Some(Ok(input)),
                None => return Ok(None),
            },
            other => other,
        };
        let (screen, state) = self.active_screen();
        screen.on_time(utc_time::now());
        let was_written = screen.has_composer_text();
        let actions = match input {
            Some(Ok(Input::Key(key))) if key.kind != KeyEventKind::Release => {
                screen.on_key(key, state)
            }
            Some(Ok(Input::Mouse(mouse))) => screen.on_mouse(mouse, state),
            Some(Ok(Input::Paste(text))) => {
                screen.on_paste(&text);
                Vec::new()
            }
            Some(Ok(Input::Resize(..))) => {
                self.mark_dirty();
                Vec::new()
            }
            Some(Ok(focus @ (Input::FocusGained | Input::FocusLost))) => {
                self.notifier.is_elsewhere = focus == Input::FocusLost;
                return self.refresh_branch();
            }
            Some(Ok(Input::Key(_))) => Vec::new(),
            Some(Err(error)) => return Err(TuiEnd::TerminalGone(error)),
            None => return Err(TuiEnd::TerminalGone(io::ErrorKind::UnexpectedEof.into())),
        };
        let is_for_run = |action: &Action| matches!(action, Action::Event(_));
        if was_written
            && self.active_screen().0.is_composer_awaiting_text()
            && actions.iter().any(is_for_run)
        {
            // Clear the composer at once: the run waits for the disk.
            self.draw_if_due()?;
        }
        self.handle_actions(actions)
    }
}

/// Waits for the next input; none comes while an editor has the terminal.
pub(super) async fn next_input(input: &mut Option<EventStream>) -> Option<io::Result<Input>> {
    match input {
        Some(input) => input.next().await,
        None => std::future::pending().await,
    }
}
