//! Prints the screen in linear mode: lines of text, each once, without a single control sequence.
//!
//! The frame is drawn into memory, because drawing keeps the screen's views up to date. Writing blocks, as for every
//! output that may be a pipe.

use std::convert::Infallible;
use std::io::{self, Stdout, Write};

use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::ascii_fallback;
use crate::app::write_watchdog::WatchedWriter;
use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;
use crate::tui::LineInterface;
use crate::tui::{LinearOutput, Screen};

/// Columns and rows of the frame in memory: wide enough for tables, and high enough for every dialog.
const FRAME_SIZE: (u16, u16) = (112, 60);

/// The output of linear mode.
pub struct LinePrinter {
    frame: Terminal<TestBackend>,
    out: WatchedWriter<Stdout>,
    is_ascii_only: bool,
}

impl LinePrinter {
    /// Creates the output.
    ///
    /// # Errors
    /// Never: the frame is in memory.
    pub fn new() -> io::Result<Self> {
        let (columns, rows) = FRAME_SIZE;
        let frame = Terminal::new(TestBackend::new(columns, rows)).map_err(never_fails)?;
        Ok(Self {
            frame,
            out: WatchedWriter(io::stdout()),
            is_ascii_only: ascii_fallback::is_needed(),
        })
    }

    /// Brings the screen up to date, and returns what it has to print.
    ///
    /// # Errors
    /// Never: the frame is in memory.
    pub fn update(
        &mut self,
        screen: &mut Screen,
        state: Option<&RunState>,
        now: UnixMillis,
    ) -> io::Result<LinearOutput> {
        self.frame
            .draw(|frame| screen.draw(frame, state, now))
            .map_err(never_fails)?;
        Ok(LineInterface::new(screen, state).print_news())
    }

    /// Prints lines.
    ///
    /// # Errors
    /// The output is closed.
    pub fn print(&mut self, lines: &[String]) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        for line in lines {
            // Every text is cleaned already; this is what the output promises.
            text.extend(line.chars().filter(|c| !c.is_control()));
            text.push('\n');
        }
        if self.is_ascii_only {
            let lines: Vec<String> = text.lines().map(ascii_fallback::to_ascii).collect();
            text = lines.join("\n") + "\n";
        }
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }
}

fn never_fails(error: Infallible) -> io::Error {
    match error {}
}
