//! The terminal: how it is taken and given back, and the one writer to it.
//!
//! What entering switches on stands beside what leaving switches off, so that neither can be forgotten.
//! No answer of the terminal is ever waited for, nor that it takes what it is sent. Refuses to know
//! what is drawn and which keys mean what.

mod ascii_fallback;
mod nonblocking_writer;
#[cfg(debug_assertions)]
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

pub use nonblocking_writer::write_final_text;
pub use terminal_restore::TerminalCondition;
use terminal_restore::TerminalSnapshot;

/// What is switched on, in order, and what switches it off, in the opposite order. A terminal that
/// does not know one of them ignores it.
const MODES: [(&str, &str); 6] = [
    // The alternate screen, with the cursor's place kept. It has a keyboard stack of its own.
    ("\x1b[?1049h", "\x1b[?1049l"),
    // The kitty keyboard's flag 1: keys that would look alike are told apart.
    ("\x1b[>1u", "\x1b[<1u"),
    // Bracketed paste.
    ("\x1b[?2004h", "\x1b[?2004l"),
    // Focus events.
    ("\x1b[?1004h", "\x1b[?1004l"),
    // The window's title, put aside and taken back.
    ("\x1b[22;2t", "\x1b[23;2t"),
    // The cursor is hidden until a frame places it.
    ("\x1b[?25l", "\x1b[?25h"),
];
/// Mouse: buttons and drags, not mere motion, in the form without limits. On unless the user leaves it to the terminal.
const MOUSE_MODES: (&str, &str) = ("\x1b[?1002h\x1b[?1006h", "\x1b[?1006l\x1b[?1002l");
/// Around a frame, so that the terminal shows it as a whole.
const BEGIN_FRAME: &[u8] = b"\x1b[?2026h";
const END_FRAME: &[u8] = b"\x1b[?2026l";

/// Whether the terminal is ours right now.
static IS_ENTERED: AtomicBool = AtomicBool::new(false);
/// Whether clicks and the wheel are the terminal's own.
static MOUSE_IS_LEFT: AtomicBool = AtomicBool::new(false);
/// Told when a panic gave the terminal back.
static PANICKED: Notify = Notify::const_new();

/// Sets the terminal up, and gives what it is to be sent.
fn enter_modes() -> io::Result<String> {
    IS_ENTERED.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    let on: String = MODES.iter().map(|(on, _)| *on).collect();
    let mouse = if MOUSE_IS_LEFT.load(Ordering::SeqCst) {
        ""
    } else {
        MOUSE_MODES.0
    };
    Ok(format!("{on}{mouse}"))
}

fn leave_modes() -> io::Result<()> {
    if !IS_ENTERED.swap(false, Ordering::SeqCst) {
        return Ok(());
    }
    let off: String = MODES.iter().rev().map(|(_, off)| *off).collect();
    // What was sent last may have been cut off in the middle of a frame, and of a title in it.
    let written = write_final_text(&format!("\x1b\\\x1b[?2026l\x1b[0m{}{off}", MOUSE_MODES.1));
    disable_raw_mode()?;
    written
}

/// The theme that fits the terminal, by what the environment says of it.
pub fn detect_theme() -> ColorTheme {
    with_environment(ColorTheme::for_terminal)
}

/// How many colours the terminal shows, by what the environment says of it.
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

/// Terminals on which nothing can be put in its place.
const DUMB_TERMINALS: [&str; 3] = ["", "dumb", "unknown"];

/// Why no screen can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScreenBlocker {
    /// There is no terminal to draw on or to read keys from.
    NoTerminal,
    /// There is one that only prints, by what `TERM` says; empty where it says nothing.
    PrintOnly(String),
}

/// Says why no screen can be shown, where none can.
pub fn screen_blocker() -> Option<ScreenBlocker> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Some(ScreenBlocker::NoTerminal);
    }
    let term = std::env::var("TERM").unwrap_or_default();
    DUMB_TERMINALS
        .contains(&&*term)
        .then_some(ScreenBlocker::PrintOnly(term))
}

/// Tells whether there is a terminal to draw on and to read keys from.
pub fn is_usable() -> bool {
    screen_blocker().is_none()
}

/// Makes every panic, on whatever thread, give the terminal back before it is told.
pub fn restore_on_panic() {
    std::panic::set_hook(Box::new(move |panic| {
        let was_ours = IS_ENTERED.load(Ordering::SeqCst);
        let _gone = leave_modes();
        // What broke may have been at work on an agent's text.
        let told = clean_text(&format!("{panic}\n{}", Backtrace::capture()));
        let _nobody = writeln!(io::stderr(), "{told}");
        if was_ours {
            PANICKED.notify_one();
        }
    }));
}

/// Waits for a panic on some other thread that took the terminal away.
pub async fn wait_for_panic() {
    PANICKED.notified().await;
}

/// Begins with a blank screen, whether or not the terminal has one aside for us. Asks it nothing.
fn blank_terminal(
    pending: &PendingOutput,
) -> io::Result<ratatui::Terminal<DiffBackend<PendingOutput>>> {
    let mut inner = ratatui::Terminal::new(DiffBackend::new(pending.clone()))?;
    inner.backend_mut().clear_region(ClearType::All)?;
    Ok(inner)
}

/// The terminal while it is ours; given back when this goes.
pub struct TuiTerminal {
    inner: ratatui::Terminal<DiffBackend<PendingOutput>>,
    pending: PendingOutput,
    writer: NonblockingWriter,
    /// What stands around a frame.
    frame_marks: (&'static [u8], &'static [u8]),
    diffs_frames: bool,
    /// Whether colours are asked for in the form that every terminal with colours knows.
    has_16_colors: bool,
    /// Whether it shows ASCII only.
    is_ascii_only: bool,
    /// While another program has it: what it was before.
    snapshot: Option<TerminalSnapshot>,
}

/// Terminals that do not show a frame as a whole; they would pass over the marks, which cost bytes all the same.
fn detect_frame_marks() -> (&'static [u8], &'static [u8]) {
    let term = std::env::var("TERM").unwrap_or_default();
    let knows_not = ["linux", "dumb", "vt", "ansi", "cons25", "rxvt"];
    if knows_not.iter().any(|name| term.starts_with(name)) {
        (b"", b"")
    } else {
        (BEGIN_FRAME, END_FRAME)
    }
}

/// Tells whether the terminal is one of those that take messages in the form of rxvt and not in that of iTerm2; most
/// take the latter, and who takes both would show it twice.
fn prefers_osc777() -> bool {
    let is_rxvt = std::env::var("TERM").is_ok_and(|term| term.starts_with("rxvt"));
    is_rxvt || std::env::var_os("VTE_VERSION").is_some()
}

impl TuiTerminal {
    /// Takes the terminal.
    ///
    /// # Errors
    /// There is none, or it refuses.
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

    /// Gives the terminal back as it was found. Does nothing the second time.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn release(&mut self) -> io::Result<()> {
        leave_modes()
    }

    /// Gives the terminal back for another program to have it. The rest of a frame that it did not take is no more of
    /// use, and would be sent on into that program's screen.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn lend_to_program(&mut self) -> io::Result<()> {
        self.release()?;
        self.writer.discard_unsent();
        self.snapshot = Some(TerminalSnapshot::capture());
        Ok(())
    }

    /// Makes the terminal what it was before it was lent, once whoever had it is gone. Does nothing where nobody has it.
    pub fn restore_after_program(&mut self, left: TerminalCondition) {
        if let Some(lent) = self.snapshot.take() {
            lent.restore(left);
        }
    }

    /// Takes the terminal again; neither what is on it nor its modes are relied on.
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

    /// Relies on nothing that stands on the screen: the next frame is sent whole.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn force_full_redraw(&mut self) -> io::Result<()> {
        self.inner = blank_terminal(&self.pending)?;
        Ok(())
    }

    /// When what the terminal did not take is to be sent on; `None` where it took all. No frame is drawn before.
    pub fn retry_at(&self) -> Option<Instant> {
        self.writer.retry_at()
    }

    /// Sends on what the terminal did not take.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn retry_unsent(&mut self) -> io::Result<()> {
        self.writer.retry_unsent()
    }

    /// Lets a frame be compared with the one before it, which is worth its memory as soon as there is a run.
    pub fn enable_frame_diff(&mut self) {
        self.diffs_frames = true;
    }

    /// Draws one frame and sends what it changes in one piece; nothing where it changes nothing.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame)) -> io::Result<()> {
        if !IS_ENTERED.load(Ordering::SeqCst) {
            return Ok(());
        }
        let (begin, end) = self.frame_marks;
        self.pending.0.borrow_mut().extend_from_slice(begin);
        let is_new = self.diffs_frames && !self.inner.backend().knows_frame();
        #[cfg(debug_assertions)]
        panic_injection::panic_if_requested();
        let is_of_ascii = self.is_ascii_only;
        let drawn = self.inner.draw(|frame| {
            draw(frame);
            if is_of_ascii {
                ascii_fallback::replace_non_ascii(frame.buffer_mut());
            }
        })?;
        if is_new {
            let shown = drawn.buffer.clone();
            self.inner.backend_mut().learn_frame(shown);
        }
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

    /// Gives the window a title; it must hold no control characters.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn set_title(&mut self, title: &str) -> io::Result<()> {
        self.write_control(&format!("\x1b]2;{}\x1b\\", self.to_displayable(title)))
    }

    /// Calls a user who looks elsewhere; the text must hold no control characters.
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
                // Title and text stand between semicolons.
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

    /// Asks the terminal something; the answer comes in with the keys, or never.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn send_query(&mut self, question: &str) -> io::Result<()> {
        self.write_control(question)
    }

    /// Takes clicks and the wheel, or leaves them to the terminal.
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
        // The room is used again.
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

/// What a frame writes, held back until the frame is whole.
#[derive(Debug, Clone, Default)]
struct PendingOutput(Rc<RefCell<Vec<u8>>>);

impl Write for PendingOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    /// Does nothing: only a whole frame is sent.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
