//! The terminal: switches its modes on and off, and is the only writer to it.
//!
//! Each mode is listed with what switches it off, so that neither can be forgotten. Never waits for an answer of the
//! terminal, nor until it accepts output.

mod ascii_fallback;
mod line_printer;
mod nonblocking_writer;
#[cfg(panics_on_request)]
mod panic_injection;
mod sgr16;
mod terminal_restore;

use std::backtrace::Backtrace;
use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use ratatui::Frame;
use ratatui::backend::{Backend, ClearType};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::diff_backend::DiffBackend;
use crate::config::config_model::NotificationMethod;
use crate::text::clean_text;
use crate::tui::{ColorSupport, ColorTheme, MouseCapture, TerminalEnvironment};
use nonblocking_writer::NonblockingWriter;

pub use line_printer::LinePrinter;
pub use nonblocking_writer::write_final_text;
use terminal_restore::TerminalSnapshot;
pub use terminal_restore::{TerminalCondition, is_owned_by_another_group, is_owner_gone};

/// The sequences that switch modes on, in order, and off, in reverse order. Terminals ignore unknown ones.
const MODES: [(&str, &str); 6] = [
    // The alternate screen; saves the cursor position and has its own keyboard stack.
    ("\x1b[?1049h", "\x1b[?1049l"),
    // Flag 1 of the kitty keyboard protocol: tells apart keys that otherwise send the same bytes.
    ("\x1b[>1u", "\x1b[<1u"),
    // Bracketed paste.
    ("\x1b[?2004h", "\x1b[?2004l"),
    // Focus events.
    ("\x1b[?1004h", "\x1b[?1004l"),
    // The window title, saved and restored.
    ("\x1b[22;2t", "\x1b[23;2t"),
    // The cursor stays hidden until a frame places it.
    ("\x1b[?25l", "\x1b[?25h"),
];
/// Mouse buttons and drags, no plain motion, in the SGR encoding without coordinate limits. On unless the user leaves
/// the mouse to the terminal.
const MOUSE_MODES: (&str, &str) = ("\x1b[?1002h\x1b[?1006h", "\x1b[?1006l\x1b[?1002l");
/// Marks of synchronized output, so that the terminal shows a frame as a whole.
const BEGIN_FRAME: &[u8] = b"\x1b[?2026h";
const END_FRAME: &[u8] = b"\x1b[?2026l";

/// Whether the terminal is in this program's modes now.
static IS_ENTERED: AtomicBool = AtomicBool::new(false);
/// Whether the terminal itself handles clicks and the wheel.
static MOUSE_IS_LEFT: AtomicBool = AtomicBool::new(false);
/// Notified after a panic has restored the terminal.
static PANICKED: Notify = Notify::const_new();

/// Enables raw mode and returns the sequences to send.
fn enter_modes() -> io::Result<String> {
    // Set first: `leave_modes` then also undoes a start that fails halfway.
    IS_ENTERED.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    // The theme obeys NO_COLOR. For the terminal library a frame without colours is one whose every style is reset.
    crossterm::style::force_color_output(true);
    let on: String = MODES.iter().map(|(on, _)| *on).collect();
    let mouse = if MOUSE_IS_LEFT.load(Ordering::SeqCst) {
        ""
    } else {
        MOUSE_MODES.0
    };
    Ok(format!("{on}{mouse}"))
}

fn leave_modes() -> io::Result<()> {
    // The panic hook and the drop may both come here; only the first one restores.
    if !IS_ENTERED.swap(false, Ordering::SeqCst) {
        return Ok(());
    }
    let off: String = MODES.iter().rev().map(|(_, off)| *off).collect();
    // The last output may be cut off inside a frame, or inside a title in it: end both first.
    let written = write_final_text(&format!("\x1b\\\x1b[?2026l\x1b[0m{}{off}", MOUSE_MODES.1));
    disable_raw_mode()?;
    written
}

/// Chooses a theme for the terminal, by its environment variables.
pub fn detect_theme() -> ColorTheme {
    with_environment(ColorTheme::for_terminal)
}

/// Returns how many colours the terminal shows, by its environment variables.
pub fn detect_color_depth() -> ColorSupport {
    with_environment(ColorSupport::from_environment)
}

fn with_environment<T>(look: impl FnOnce(TerminalEnvironment<'_>) -> T) -> T {
    let said = |name: &str| std::env::var(name).ok();
    let (no_color, ground) = (said("NO_COLOR"), said("COLORFGBG"));
    let (term, colours) = (said("TERM"), said("COLORTERM"));
    look(TerminalEnvironment {
        no_color: no_color.as_deref(),
        color_fg_bg: ground.as_deref(),
        term: term.as_deref(),
        color_term: colours.as_deref(),
    })
}

/// Values of `TERM` for terminals that cannot position the cursor.
const DUMB_TERMINALS: [&str; 3] = ["", "dumb", "unknown"];

/// The reason why no screen can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScreenBlocker {
    /// There is no terminal to draw on or to read keys from.
    NoTerminal,
    /// The terminal can only print, by the value of `TERM`, which may be empty.
    PrintOnly(String),
}

/// Returns the reason why no screen can be shown, if there is one.
pub fn screen_blocker() -> Option<ScreenBlocker> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Some(ScreenBlocker::NoTerminal);
    }
    let term = std::env::var("TERM").unwrap_or_default();
    DUMB_TERMINALS
        .contains(&&*term)
        .then_some(ScreenBlocker::PrintOnly(term))
}

/// Returns whether there is a terminal for drawing and for keys.
pub fn is_usable() -> bool {
    screen_blocker().is_none()
}

/// What the program uses the terminal for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DisplayMode {
    /// Frames over the whole window.
    #[default]
    FullScreen,
    /// Lines, which need no terminal.
    Linear,
}

/// Restores the terminal on every panic, on any thread, before the panic is printed.
pub fn restore_on_panic(display: DisplayMode) {
    std::panic::set_hook(Box::new(move |panic| {
        let was_ours = IS_ENTERED.load(Ordering::SeqCst) || display == DisplayMode::Linear;
        let _gone = leave_modes();
        // The panic message may contain an agent's text.
        let told = clean_text(&format!("{panic}\n{}", Backtrace::capture()));
        let _nobody = writeln!(io::stderr(), "{told}");
        if was_ours {
            PANICKED.notify_one();
        }
    }));
}

/// Waits for a panic on another thread that restored the terminal.
pub async fn wait_for_panic() {
    PANICKED.notified().await;
}

/// Clears the screen, whether or not the terminal has an alternate one. Sends no query.
fn blank_terminal(
    pending: &PendingOutput,
) -> io::Result<ratatui::Terminal<DiffBackend<PendingOutput>>> {
    let mut inner = ratatui::Terminal::new(DiffBackend::new(pending.clone()))?;
    inner.backend_mut().clear_region(ClearType::All)?;
    Ok(inner)
}

/// The terminal in this program's modes; restored on drop.
pub struct TuiTerminal {
    inner: ratatui::Terminal<DiffBackend<PendingOutput>>,
    pending: PendingOutput,
    writer: NonblockingWriter,
    /// The sequences before and after a frame.
    frame_marks: (&'static [u8], &'static [u8]),
    diffs_frames: bool,
    /// Whether to send colours in the SGR form that every colour terminal knows.
    has_16_colors: bool,
    /// Whether to replace everything that is not ASCII.
    is_ascii_only: bool,
    /// The terminal's settings from before, while another program uses it.
    snapshot: Option<TerminalSnapshot>,
}

/// Returns the marks around frames; empty for terminals that would ignore them, because they still cost bytes.
fn detect_frame_marks() -> (&'static [u8], &'static [u8]) {
    let term = std::env::var("TERM").unwrap_or_default();
    let knows_not = ["linux", "dumb", "vt", "ansi", "cons25", "rxvt"];
    if knows_not.iter().any(|name| term.starts_with(name)) {
        (b"", b"")
    } else {
        (BEGIN_FRAME, END_FRAME)
    }
}

/// Returns whether the terminal takes notifications as OSC 777 (rxvt) and not as OSC 9 (iTerm2). Most take OSC 9; a
/// terminal that takes both would show each notification twice.
fn prefers_osc777() -> bool {
    let is_rxvt = std::env::var("TERM").is_ok_and(|term| term.starts_with("rxvt"));
    is_rxvt || std::env::var_os("VTE_VERSION").is_some()
}

impl TuiTerminal {
    /// Enters this program's modes and clears the screen.
    ///
    /// # Errors
    /// There is no terminal, or it reports an error.
    pub fn acquire() -> io::Result<Self> {
        let (mut way, pending) = (NonblockingWriter::default(), PendingOutput::default());
        let sent = enter_modes().and_then(|modes| way.send(modes.as_bytes()));
        let inner = sent.and_then(|()| blank_terminal(&pending));
        let inner = inner.inspect_err(|_| drop(leave_modes()))?;
        Ok(Self {
            inner,
            pending,
            writer: way,
            frame_marks: detect_frame_marks(),
            has_16_colors: detect_color_depth() == ColorSupport::Ansi16,
            is_ascii_only: ascii_fallback::is_needed(),
            diffs_frames: false,
            snapshot: None,
        })
    }

    /// Restores the terminal as it was. The second call does nothing.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn release(&mut self) -> io::Result<()> {
        leave_modes()
    }

    /// Restores the terminal so that another program can use it. Drops unsent output of the last frame: it would appear
    /// on that program's screen.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn lend_to_program(&mut self) -> io::Result<()> {
        self.release()?;
        self.writer.discard_unsent();
        self.snapshot = Some(TerminalSnapshot::capture());
        Ok(())
    }

    /// Restores the settings from before [`Self::lend_to_program`], after that program has ended. Does nothing if no
    /// program has the terminal.
    pub fn restore_after_program(&mut self, left: TerminalCondition) {
        if let Some(lent) = self.snapshot.take() {
            lent.restore(left);
        }
    }

    /// Enters this program's modes again; assumes nothing about the screen or the modes.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn reacquire(&mut self) -> io::Result<()> {
        leave_modes()?;
        self.writer.discard_unsent();
        self.writer.send(enter_modes()?.as_bytes())?;
        self.pending.0.borrow_mut().clear();
        self.force_full_redraw()
    }

    /// Forgets what is on the screen: the next frame is sent whole.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn force_full_redraw(&mut self) -> io::Result<()> {
        self.inner = blank_terminal(&self.pending)?;
        Ok(())
    }

    /// Returns when to send the rest that the terminal did not accept; `None` if it accepted everything. Draw no frame
    /// before.
    pub fn retry_at(&self) -> Option<Instant> {
        self.writer.retry_at()
    }

    /// Sends what the terminal did not accept.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn retry_unsent(&mut self) -> io::Result<()> {
        self.writer.retry_unsent()
    }

    /// Turns on comparing frames; worth its memory as soon as there is a run.
    pub fn enable_frame_diff(&mut self) {
        self.diffs_frames = true;
    }

    /// Draws one frame and sends the changes in one write; without changes, sends nothing.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame)) -> io::Result<()> {
        if !IS_ENTERED.load(Ordering::SeqCst) {
            return Ok(());
        }
        let (begin, end) = self.frame_marks;
        self.pending.0.borrow_mut().extend_from_slice(begin);
        let frames = self.diffs_frames.then(|| self.inner.backend().frames());
        #[cfg(panics_on_request)]
        panic_injection::panic_if_requested();
        let is_of_ascii = self.is_ascii_only;
        self.inner.draw(|frame| {
            draw(frame);
            if is_of_ascii {
                ascii_fallback::replace_non_ascii(frame.buffer_mut());
            }
            if let Some(frames) = frames {
                frames.take_frame(frame.buffer_mut());
            }
        })?;
        let mut pending = self.pending.0.borrow_mut();
        if pending.len() == begin.len() {
            pending.clear();
            return Ok(());
        }
        pending.extend_from_slice(end);
        drop(pending);
        self.flush_pending()
    }

    /// Sends a text to the terminal's clipboard.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn copy_to_clipboard(&mut self, text: &str) -> io::Result<()> {
        use crossterm::clipboard::CopyToClipboard;
        crossterm::queue!(self.pending, CopyToClipboard::to_clipboard_from(text))?;
        self.flush_pending()
    }

    /// Sets the window title; it must have no control characters.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn set_title(&mut self, title: &str) -> io::Result<()> {
        self.write_control(&format!("\x1b]2;{}\x1b\\", self.to_displayable(title)))
    }

    /// Notifies a user who looks elsewhere; the text must have no control characters.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn notify_user(&mut self, how: NotificationMethod, text: &str) -> io::Result<()> {
        match how {
            NotificationMethod::Off => Ok(()),
            NotificationMethod::Bell => self.write_control("\x07"),
            NotificationMethod::Message if prefers_osc777() => {
                self.notify_user(NotificationMethod::Osc777, text)
            }
            NotificationMethod::Message | NotificationMethod::Osc9 => {
                let text = self.to_displayable(text);
                self.write_control(&format!("\x1b]9;agent-collab: {text}\x1b\\\x07"))
            }
            NotificationMethod::Osc777 => {
                // Semicolons separate title and text.
                let text = self.to_displayable(text).replace(';', ",");
                self.write_control(&format!("\x1b]777;notify;agent-collab;{text}\x1b\\\x07"))
            }
        }
    }

    fn to_displayable<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_ascii_only {
            ascii_fallback::to_ascii(text).into()
        } else {
            text.into()
        }
    }

    /// Sends a query to the terminal; the answer arrives with the keys, or never.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn send_query(&mut self, question: &str) -> io::Result<()> {
        self.write_control(question)
    }

    /// Captures clicks and the wheel, or leaves them to the terminal.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn set_click_mode(&mut self, clicks: MouseCapture) -> io::Result<()> {
        let is_left = clicks == MouseCapture::Left;
        if MOUSE_IS_LEFT.swap(is_left, Ordering::SeqCst) == is_left {
            return Ok(());
        }
        let (on, off) = MOUSE_MODES;
        self.write_control(if is_left { off } else { on })
    }

    fn write_control(&mut self, text: &str) -> io::Result<()> {
        if !IS_ENTERED.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.pending
            .0
            .borrow_mut()
            .extend_from_slice(text.as_bytes());
        self.flush_pending()
    }

    fn flush_pending(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut *self.pending.0.borrow_mut());
        let sent = if self.has_16_colors {
            self.writer.send(&sgr16::to_sgr16(&bytes))
        } else {
            self.writer.send(&bytes)
        };
        // Reuse the buffer.
        let mut room = bytes;
        room.clear();
        *self.pending.0.borrow_mut() = room;
        sent
    }
}

impl Drop for TuiTerminal {
    fn drop(&mut self) {
        self.restore_after_program(TerminalCondition::Unknown);
        let _gone = leave_modes();
    }
}

/// Collects what a frame writes until the frame is complete.
#[derive(Debug, Clone, Default)]
struct PendingOutput(Rc<RefCell<Vec<u8>>>);

impl Write for PendingOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    /// Does nothing: only whole frames are sent.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
