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

use crate::engine::outputs;
use crate::store::StoreError;
use crate::tui::{LongCall, Viewer};

use super::ending::End;
use super::frames::Wanted;
use super::{Done, Shell, editor};

/// A pager that ends within this time waited for nobody.
const AT_ONCE: Duration = Duration::from_secs(1);

impl Shell {
    /// Gives the terminal to a program that shows a text; the run goes on behind it.
    pub(super) fn open_text(&mut self, text: String, with: Viewer) -> Result<Option<End>, End> {
        if self.input.is_none() {
            return Ok(None);
        }
        let file = match written(&text) {
            Ok(file) => file,
            Err(error) => {
                self.front().0.on_word(&format!(
                    "cannot write the text for another program: {error}"
                ));
                return Ok(None);
            }
        };
        let (what, line) = match with {
            Viewer::Editor => ("the editor", editor::command_line()),
            Viewer::Pager => ("the pager", pager()),
        };
        self.leave_input();
        self.terminal.lend().map_err(End::TerminalGone)?;
        self.beside(async move {
            let begun = Instant::now();
            let ended = match editor::edit(&line, file.path()).await {
                // It did not wait for the user, and its text would be covered before anybody read it.
                Ok(status)
                    if status.success() && with == Viewer::Pager && begun.elapsed() < AT_ONCE =>
                {
                    editor::wait_for_enter().await
                }
                ended => ended,
            };
            Done::TextClosed(what, ended)
        });
        Ok(None)
    }

    /// Reads all that the tool of a call said, beside the loop, to be shown.
    pub(super) fn open_call(&mut self, call: LongCall, with: Viewer) -> Result<Option<End>, End> {
        let own = self.occupied.as_ref().map(|occupied| &occupied.layout);
        let seen = self.views.run_in_front().map(|(_, layout)| layout);
        let Some(layout) = seen.or_else(|| own.cloned()) else {
            return self.open_text(kept(&call), with);
        };
        let closed = self.closed.clone();
        self.tasks.spawn_blocking(move || {
            let read = outputs::whole(&layout, (&call.item, &call.output), &closed);
            Done::CallRead(Box::new(call), with, read)
        });
        Ok(None)
    }

    /// Shows all that a tool said; where the disk does not have it any more, what is known of it.
    pub(super) fn on_call_read(
        &mut self,
        call: &LongCall,
        with: Viewer,
        read: Result<Option<String>, StoreError>,
    ) -> Result<Option<End>, End> {
        let text = match read {
            Ok(Some(whole)) => format!("{}\n{whole}", call.text),
            Ok(None) => kept(call),
            Err(error) => {
                self.front().0.on_word(&error.to_string());
                kept(call)
            }
        };
        self.open_text(text, with)
    }

    /// Takes the terminal back.
    pub(super) fn on_text_closed(
        &mut self,
        what: &'static str,
        ended: io::Result<ExitStatus>,
    ) -> Result<Option<End>, End> {
        self.terminal.take_back(editor::left_by(&ended));
        self.terminal.take_again().map_err(End::TerminalGone)?;
        self.telling.forget_title();
        self.input = Some(EventStream::new());
        self.touch();
        self.wanted = Wanted::ForUser;
        let word = match ended {
            Ok(status) if status.success() => return Ok(None),
            Ok(status) => format!("{what} ended with {status}"),
            Err(error) => format!("cannot start {what}: {error}"),
        };
        self.front().0.on_word(&word);
        Ok(None)
    }
}

/// What is known of a call without its stream.
fn kept(call: &LongCall) -> String {
    let note = "[not all of it: the rest is not on the disk any more]";
    format!("{}\n{note}\n{}", call.text, call.output)
}

fn written(text: &str) -> io::Result<tempfile::NamedTempFile> {
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
fn pager() -> String {
    let set = env::var("PAGER").ok();
    set.filter(|line| !line.trim().is_empty())
        .unwrap_or_else(|| "less".to_owned())
}
