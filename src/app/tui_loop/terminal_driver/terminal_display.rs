//! The two ways to show a screen: frames over the whole window, or lines that are printed once.
//!
//! Linear mode changes no mode of the terminal and sends it no control sequence, so most operations do nothing there.

use std::io::{self, IsTerminal};

use super::line_reader::LineReader;
use super::user_notifier::UserNotifier;
use crate::app::terminal::{
    DisplayMode, LinePrinter, TerminalCondition, TuiTerminal, write_final_text,
};
use crate::domain::run::RunState;
use crate::store::utc_time;
use crate::tui::{Screen, TerminalStatus};
use tokio::time::Instant;

/// The output of the program.
pub struct TerminalDisplay {
    output: DisplayOutput,
    notifier: UserNotifier,
}

enum DisplayOutput {
    Window(Box<TuiTerminal>),
    Lines(Box<LinePrinter>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawnFrame {
    Window,
    Lines,
}

impl TerminalDisplay {
    /// Takes the terminal; for lines, changes nothing.
    ///
    /// # Errors
    /// There is no terminal, or it reports an error.
    pub fn acquire(display: DisplayMode) -> io::Result<Self> {
        let output = match display {
            DisplayMode::FullScreen => DisplayOutput::Window(Box::new(TuiTerminal::acquire()?)),
            DisplayMode::Linear => DisplayOutput::Lines(Box::new(LinePrinter::new()?)),
        };
        Ok(Self {
            output,
            notifier: UserNotifier::default(),
        })
    }

    pub fn is_linear(&self) -> bool {
        matches!(self.output, DisplayOutput::Lines(_))
    }

    pub fn notifier(&mut self) -> &mut UserNotifier {
        &mut self.notifier
    }

    /// Returns whether another program can have the terminal.
    pub fn can_lend(&self) -> bool {
        !self.is_linear() || io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    fn window(&self) -> Option<&TuiTerminal> {
        match &self.output {
            DisplayOutput::Window(terminal) => Some(terminal),
            DisplayOutput::Lines(_) => None,
        }
    }

    fn window_mut(&mut self) -> Option<&mut TuiTerminal> {
        match &mut self.output {
            DisplayOutput::Window(terminal) => Some(terminal),
            DisplayOutput::Lines(_) => None,
        }
    }

    /// Draws a frame with its title and alert, or prints what is new.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn draw(
        &mut self,
        screen: &mut Screen,
        state: Option<&RunState>,
        lines: Option<&LineReader>,
        behind: Option<&TerminalStatus>,
    ) -> io::Result<DrawnFrame> {
        let now = utc_time::now();
        match &mut self.output {
            DisplayOutput::Window(terminal) => {
                if state.is_some() {
                    terminal.enable_frame_diff();
                }
                terminal.draw(|frame| screen.draw(frame, state, now))?;
                let outside = behind.unwrap_or(screen.terminal_status());
                self.notifier.update(outside, terminal)?;
                terminal.set_click_mode(screen.mouse_capture())?;
                Ok(DrawnFrame::Window)
            }
            DisplayOutput::Lines(printer) => {
                let news = printer.update(screen, state, now)?;
                if let Some(lines) = lines.filter(|_| news.asks) {
                    lines.note_question();
                }
                printer.print(&news.lines)?;
                Ok(DrawnFrame::Lines)
            }
        }
    }

    /// See [`TuiTerminal::release`].
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn release(&mut self) -> io::Result<()> {
        self.window_mut().map_or(Ok(()), TuiTerminal::release)
    }

    /// See [`TuiTerminal::lend_to_program`].
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn lend_to_program(&mut self) -> io::Result<()> {
        self.window_mut()
            .map_or(Ok(()), TuiTerminal::lend_to_program)
    }

    /// See [`TuiTerminal::restore_after_program`].
    pub fn restore_after_program(&mut self, left: TerminalCondition) {
        if let Some(terminal) = self.window_mut() {
            terminal.restore_after_program(left);
        }
    }

    /// See [`TuiTerminal::reacquire`].
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn reacquire(&mut self) -> io::Result<()> {
        self.window_mut().map_or(Ok(()), TuiTerminal::reacquire)
    }

    /// See [`TuiTerminal::force_full_redraw`].
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn force_full_redraw(&mut self) -> io::Result<()> {
        self.window_mut()
            .map_or(Ok(()), TuiTerminal::force_full_redraw)
    }

    /// Returns when to send the rest that the terminal did not accept.
    pub fn retry_at(&self) -> Option<Instant> {
        self.window()?.retry_at()
    }

    /// See [`TuiTerminal::retry_unsent`].
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn retry_unsent(&mut self) -> io::Result<()> {
        self.window_mut().map_or(Ok(()), TuiTerminal::retry_unsent)
    }

    /// Sends a query to the terminal; returns whether an answer can come.
    pub fn send_query(&mut self, question: &str) -> bool {
        self.window_mut()
            .is_some_and(|terminal| terminal.send_query(question).is_ok())
    }

    /// Sends a text to the terminal's clipboard; prints it in linear mode.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn copy_to_clipboard(&mut self, text: &str) -> io::Result<()> {
        match &mut self.output {
            DisplayOutput::Window(terminal) => terminal.copy_to_clipboard(text),
            DisplayOutput::Lines(printer) => {
                let lines: Vec<String> = text.lines().map(str::to_owned).collect();
                printer.print(&lines)
            }
        }
    }

    /// Prints a line that stays after the end.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn print_final_line(&mut self, line: &str) -> io::Result<()> {
        match &mut self.output {
            DisplayOutput::Window(_) => write_final_text(&format!("{line}\n")),
            DisplayOutput::Lines(printer) => printer.print(&[line.to_owned()]),
        }
    }
}
