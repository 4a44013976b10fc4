//! The terminal: how it is taken and given back, and the one writer to it.
//!
//! What entering switches on stands beside what leaving switches off, so that neither can be forgotten.
//! No answer of the terminal is ever waited for: one that answers nothing is as good as any. Refuses to know
//! what is drawn and which keys mean what.

mod sixteen;

use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use ratatui::Frame;
use ratatui::backend::{Backend, ClearType};
use tokio::sync::Notify;

use super::frugal::Frugal;
use crate::config::types::NotifyBy;
use crate::text::clean;
use crate::tui::{Clicks, Depth, Surroundings, Theme};

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
const MOUSE: (&str, &str) = ("\x1b[?1002h\x1b[?1006h", "\x1b[?1006l\x1b[?1002l");
/// Around a frame, so that the terminal shows it as a whole.
const BEGIN_FRAME: &[u8] = b"\x1b[?2026h";
const END_FRAME: &[u8] = b"\x1b[?2026l";

/// Whether the terminal is ours right now.
static ENTERED: AtomicBool = AtomicBool::new(false);
/// Whether clicks and the wheel are the terminal's own.
static MOUSE_IS_LEFT: AtomicBool = AtomicBool::new(false);
/// Told when a panic gave the terminal back.
static PANICKED: Notify = Notify::const_new();

fn enter() -> io::Result<()> {
    ENTERED.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    let on: String = MODES.iter().map(|(on, _)| *on).collect();
    let mouse = match MOUSE_IS_LEFT.load(Ordering::SeqCst) {
        true => "",
        false => MOUSE.0,
    };
    write_now(&format!("{on}{mouse}"))
}

fn leave() -> io::Result<()> {
    if !ENTERED.swap(false, Ordering::SeqCst) {
        return Ok(());
    }
    let off: String = MODES.iter().rev().map(|(_, off)| *off).collect();
    // A panic may have come in the middle of a frame.
    let written = write_now(&format!("\x1b[?2026l\x1b[0m{}{off}", MOUSE.1));
    disable_raw_mode()?;
    written
}

fn write_now(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The theme that fits the terminal, by what the environment says of it.
pub fn theme() -> Theme {
    with_surroundings(Theme::fitting)
}

/// How many colours the terminal shows, by what the environment says of it.
pub fn depth() -> Depth {
    with_surroundings(Depth::of)
}

fn with_surroundings<T>(look: impl FnOnce(Surroundings<'_>) -> T) -> T {
    let said = |name: &str| std::env::var(name).ok();
    let (no_color, ground) = (said("NO_COLOR"), said("COLORFGBG"));
    let (term, colours) = (said("TERM"), said("COLORTERM"));
    look(Surroundings {
        no_color: no_color.as_deref(),
        ground: ground.as_deref(),
        term: term.as_deref(),
        colours: colours.as_deref(),
    })
}

/// Tells whether there is a terminal to draw on and to read keys from.
pub fn is_there() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Makes every panic, on whatever thread, give the terminal back before it is told.
pub fn give_back_on_panic() {
    std::panic::set_hook(Box::new(move |panic| {
        let was_ours = ENTERED.load(Ordering::SeqCst);
        let _gone = leave();
        // What broke may have been at work on an agent's text.
        let told = clean(&format!("{panic}\n{}", Backtrace::capture()));
        let _nobody = writeln!(io::stderr(), "{told}");
        if was_ours {
            PANICKED.notify_one();
        }
    }));
}

/// Waits for a panic on some other thread that took the terminal away.
pub async fn panicked() {
    PANICKED.notified().await;
}

/// Begins with a blank screen, whether or not the terminal has one aside for us. Asks it nothing.
fn blank(pending: &Pending) -> io::Result<ratatui::Terminal<Frugal<Pending>>> {
    let mut inner = ratatui::Terminal::new(Frugal::new(pending.clone()))?;
    inner.backend_mut().clear_region(ClearType::All)?;
    Ok(inner)
}

/// The terminal while it is ours; given back when this goes.
pub struct Terminal {
    inner: ratatui::Terminal<Frugal<Pending>>,
    pending: Pending,
    out: File,
    /// What stands around a frame.
    around: (&'static [u8], &'static [u8]),
    keeps_frames: bool,
    /// Whether colours are asked for in the form that every terminal with colours knows.
    is_of_sixteen: bool,
}

/// Terminals that do not show a frame as a whole; they would pass over the marks, which cost bytes all the same.
fn around_a_frame() -> (&'static [u8], &'static [u8]) {
    let term = std::env::var("TERM").unwrap_or_default();
    let knows_not = ["linux", "dumb", "vt", "ansi", "cons25", "rxvt"];
    match knows_not.iter().any(|name| term.starts_with(name)) {
        true => (b"", b""),
        false => (BEGIN_FRAME, END_FRAME),
    }
}

impl Terminal {
    /// Takes the terminal.
    ///
    /// # Errors
    /// There is none, or it refuses.
    pub fn take() -> io::Result<Self> {
        let out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let pending = Pending::default();
        enter()?;
        let inner = blank(&pending).inspect_err(|_| drop(leave()))?;
        Ok(Self {
            inner,
            pending,
            out,
            around: around_a_frame(),
            is_of_sixteen: depth() == Depth::Sixteen,
            keeps_frames: false,
        })
    }

    /// Gives the terminal back as it was found. Does nothing the second time.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn give_back(&mut self) -> io::Result<()> {
        leave()
    }

    /// Takes the terminal again; neither what is on it nor its modes are relied on.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn take_again(&mut self) -> io::Result<()> {
        leave()?;
        enter()?;
        self.pending.0.borrow_mut().clear();
        self.inner = blank(&self.pending)?;
        Ok(())
    }

    /// Lets a frame be compared with the one before it, which is worth its memory as soon as there is a run.
    pub fn keep_frames(&mut self) {
        self.keeps_frames = true;
    }

    /// Draws one frame and sends what it changes in one piece; nothing where it changes nothing.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame)) -> io::Result<()> {
        if !ENTERED.load(Ordering::SeqCst) {
            return Ok(());
        }
        let (begin, end) = self.around;
        self.pending.0.borrow_mut().extend_from_slice(begin);
        let is_new = self.keeps_frames && !self.inner.backend().knows();
        let drawn = self.inner.draw(draw)?;
        if is_new {
            let shown = drawn.buffer.clone();
            self.inner.backend_mut().learn(shown);
        }
        let mut pending = self.pending.0.borrow_mut();
        if pending.len() == begin.len() {
            pending.clear();
            return Ok(());
        }
        pending.extend_from_slice(end);
        drop(pending);
        self.send()
    }

    /// Sends a text to the terminal's clipboard.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        use crossterm::clipboard::CopyToClipboard;
        crossterm::queue!(self.pending, CopyToClipboard::to_clipboard_from(text))?;
        self.send()
    }

    /// Gives the window a title; it must hold no control characters.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn entitle(&mut self, title: &str) -> io::Result<()> {
        self.tell(&format!("\x1b]2;{title}\x1b\\"))
    }

    /// Calls a user who looks elsewhere; the text must hold no control characters.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn call(&mut self, how: NotifyBy, text: &str) -> io::Result<()> {
        match how {
            NotifyBy::Off => Ok(()),
            NotifyBy::Bell => self.tell("\x07"),
            NotifyBy::Message => self.tell(&format!("\x1b]9;agent-collab: {text}\x1b\\\x07")),
        }
    }

    /// Asks the terminal something; the answer comes in with the keys, or never.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn ask(&mut self, question: &str) -> io::Result<()> {
        self.tell(question)
    }

    /// Takes clicks and the wheel, or leaves them to the terminal.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn click_by(&mut self, clicks: Clicks) -> io::Result<()> {
        let is_left = clicks == Clicks::Left;
        if MOUSE_IS_LEFT.swap(is_left, Ordering::SeqCst) == is_left {
            return Ok(());
        }
        let (on, off) = MOUSE;
        self.tell(if is_left { off } else { on })
    }

    fn tell(&mut self, text: &str) -> io::Result<()> {
        if !ENTERED.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.pending
            .0
            .borrow_mut()
            .extend_from_slice(text.as_bytes());
        self.send()
    }

    fn send(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut *self.pending.0.borrow_mut());
        let sent = match self.is_of_sixteen {
            true => self.out.write_all(&sixteen::in_short(&bytes)),
            false => self.out.write_all(&bytes),
        };
        // The room is used again.
        let mut room = bytes;
        room.clear();
        *self.pending.0.borrow_mut() = room;
        sent
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _gone = leave();
    }
}

/// What a frame writes, held back until the frame is whole.
#[derive(Debug, Clone, Default)]
struct Pending(Rc<RefCell<Vec<u8>>>);

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    /// Does nothing: only a whole frame is sent.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
