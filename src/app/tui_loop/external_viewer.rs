//! A text of the chat in the user's own editor or pager, which gets the terminal for as long as it runs.
//!
//! Of a call it shows all that its tool said, read at that moment. The text lies in a file that only the user can read and that goes with the program that showed it.
//! Refuses to take anything back: what is changed there changes nothing here.

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

/// A pager that ends within this time waited for nobody.
const PAGER_MIN_TIME: Duration = Duration::from_secs(1);

impl TuiApp {
    /// Gives the terminal to a program that shows a text; the run goes on behind it.
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
                    "cannot write the text for another program: {error}"
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
            let begun = Instant::now();
            let ended = match external_editor::run_editor(&line, file.path()).await {
                // It did not wait for the user, and its text would be covered before anybody read it.
                Ok(status)
                    if status.success()
                        && with == ExternalViewer::Pager
                        && begun.elapsed() < PAGER_MIN_TIME =>
                {
                    external_editor::wait_for_enter().await
                }
                ended => ended,
            };
            BackgroundResult::ViewerClosed(what, ended)
        });
        Ok(None)
    }

    /// Reads all that the tool of a call said, beside the loop, to be shown.
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

    /// Shows all that a tool said; where the disk does not have it any more, what is known of it.
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
            Ok(status) => format!("{what} ended with {status}"),
            Err(error) => format!("cannot start {what}: {error}"),
        };
        self.active_screen().0.set_toast(&word);
        Ok(None)
    }
}

/// What is known of a call without its stream.
fn partial_call_text(call: &TruncatedToolCall) -> String {
    let note = "[not all of it: the rest is not on the disk any more]";
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

/// The pager's command line by the environment: `PAGER`, else less.
fn pager_command_line() -> String {
    let set = env::var("PAGER").ok();
    set.filter(|line| !line.trim().is_empty())
        .unwrap_or_else(|| "less".to_owned())
}
