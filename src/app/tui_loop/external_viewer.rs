//! Opens a text of the chat in the user's editor or pager, which has the terminal while it runs.
//!
//! For a tool call it shows the whole output, read at that moment. The text is in a file that only the user can read,
//! and that is removed with the viewer. Changes to that file are ignored.

use std::env;
use std::io::{self, Write};
use std::process::ExitStatus;
use std::time::Duration;

use crossterm::event::EventStream;
use tokio::time::Instant;

use crate::engine::tool_output;
use crate::store::StoreError;
use crate::tui::{ExternalViewer, TruncatedToolCall};

use super::frame_limiter::FrameReason;
use super::shutdown::TuiEnd;
use super::{BackgroundResult, TuiApp, external_editor};

/// A pager that ends within this time did not wait for the user.
const PAGER_MIN_TIME: Duration = Duration::from_secs(1);

impl TuiApp {
    /// Shows a text in another program on the terminal; the run continues in the background.
    pub(super) fn open_text(
        &mut self,
        text: String,
        with: ExternalViewer,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        if self.input.is_none() {
            return Ok(None);
        }
        let file = match write_temporary_file(&text) {
            Ok(file) => file,
            Err(error) => {
                self.active_screen().0.set_toast(&format!(
                    "Cannot write the text to a file for another program: {error}"
                ));
                return Ok(None);
            }
        };
        let (what, line) = match with {
            ExternalViewer::Editor => ("the editor", external_editor::editor_command_line()),
            ExternalViewer::Pager => ("the pager", pager_command_line()),
        };
        self.release_input();
        self.terminal
            .lend_to_program()
            .map_err(TuiEnd::TerminalGone)?;
        self.spawn_background(async move {
            let started = Instant::now();
            let ended = match external_editor::run_editor(&line, file.path()).await {
                // The pager did not wait for the user: the screen would cover its text before the user has read it.
                Ok(status)
                    if status.success()
                        && with == ExternalViewer::Pager
                        && started.elapsed() < PAGER_MIN_TIME =>
                {
                    external_editor::wait_for_enter().await
                }
                ended => ended,
            };
            BackgroundResult::ViewerClosed(what, ended)
        });
        Ok(None)
    }

    /// Loads the whole output of a tool call in the background, then shows it.
    pub(super) fn open_call(
        &mut self,
        call: TruncatedToolCall,
        with: ExternalViewer,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let own = self.occupied.as_ref().map(|occupied| &occupied.layout);
        let seen = self.views.active_run().map(|(_, layout)| layout);
        let Some(layout) = seen.or_else(|| own.cloned()) else {
            return self.open_text(partial_call_text(&call), with);
        };
        let closed = self.closed.clone();
        self.tasks.spawn_blocking(move || {
            let read = tool_output::load_tool_output(&layout, &call.item, &call.output, &closed);
            BackgroundResult::CallRead(Box::new(call), with, read)
        });
        Ok(None)
    }

    /// Shows the whole output of a tool call; if it is not on disk any more, the part that is known.
    pub(super) fn on_call_read(
        &mut self,
        call: &TruncatedToolCall,
        with: ExternalViewer,
        read: Result<Option<String>, StoreError>,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let text = match read {
            Ok(Some(whole)) => format!("{}\n{whole}", call.text),
            Ok(None) => partial_call_text(call),
            Err(error) => {
                self.active_screen().0.set_toast(&error.to_string());
                partial_call_text(call)
            }
        };
        self.open_text(text, with)
    }

    /// Takes the terminal back.
    pub(super) fn on_text_closed(
        &mut self,
        what: &'static str,
        ended: io::Result<ExitStatus>,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        self.terminal
            .restore_after_program(external_editor::terminal_condition_after(&ended));
        self.terminal.reacquire().map_err(TuiEnd::TerminalGone)?;
        self.notifier.forget_title();
        self.input = Some(EventStream::new());
        self.mark_dirty();
        self.frame_reason = FrameReason::ForUser;
        let word = match ended {
            Ok(status) if status.success() => return Ok(None),
            Ok(status) => format!("{what} failed with {status}"),
            Err(error) => format!("Cannot start {what}: {error}"),
        };
        self.active_screen().0.set_toast(&word);
        Ok(None)
    }
}

/// Returns the known part of a call, without its full output.
fn partial_call_text(call: &TruncatedToolCall) -> String {
    let note = "[incomplete: the rest is no longer on disk]";
    format!("{}\n{note}\n{}", call.text, call.output)
}

fn write_temporary_file(text: &str) -> io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new()
        .prefix("agent-collab-")
        .suffix(".md")
        .tempfile()?;
    file.write_all(text.as_bytes())?;
    file.write_all(b"\n")?;
    file.flush()?;
    Ok(file)
}

/// Returns the pager's command line: `PAGER`, else less.
fn pager_command_line() -> String {
    let set = env::var("PAGER").ok();
    set.filter(|line| !line.trim().is_empty())
        .unwrap_or_else(|| "less".to_owned())
}
