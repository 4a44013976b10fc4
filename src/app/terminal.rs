//! The terminal: how it is taken and given back, and the one writer to it.
//!
//! What entering switches on stands beside what leaving switches off, so that neither can be forgotten.
//! No answer of the terminal is ever waited for, nor that it takes what it is sent. Refuses to know
//! what is drawn and which keys mean what.

mod ascii;
#[cfg(debug_assertions)]
mod breaking;
mod lending;
mod sixteen;
mod way;

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

use super::frugal::Frugal;
use crate::config::types::NotifyBy;
use crate::text::clean;
use crate::tui::{Clicks, Depth, Surroundings, Theme};
use way::Way;

pub use lending::Left;
use lending::Lent;
pub use way::say_last;

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

/// Sets the terminal up, and gives what it is to be sent.
fn enter() -> io::Result<String> {
    ENTERED.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    let on: String = MODES.iter().map(|(on, _)| *on).collect();
    let mouse = match MOUSE_IS_LEFT.load(Ordering::SeqCst) {
        true => "",
        false => MOUSE.0,
    };
    Ok(format!("{on}{mouse}"))
}

fn leave() -> io::Result<()> {
    if !ENTERED.swap(false, Ordering::SeqCst) {
        return Ok(());
    }
    let off: String = MODES.iter().rev().map(|(_, off)| *off).collect();
    // What was sent last may have been cut off in the middle of a frame, and of a title in it.
    let written = say_last(&format!("\x1b\\\x1b[?2026l\x1b[0m{}{off}", MOUSE.1));
    disable_raw_mode()?;
    written
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

/// Terminals on which nothing can be put in its place.
const DUMB: [&str; 3] = ["", "dumb", "unknown"];

/// Why no screen can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoScreen {
    /// There is no terminal to draw on or to read keys from.
    NoTerminal,
    /// There is one that only prints, by what `TERM` says; empty where it says nothing.
    Prints(String),
}

/// Says why no screen can be shown, where none can.
pub fn no_screen() -> Option<NoScreen> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Some(NoScreen::NoTerminal);
    }
    let term = std::env::var("TERM").unwrap_or_default();
    DUMB.contains(&&*term).then_some(NoScreen::Prints(term))
}

/// Tells whether there is a terminal to draw on and to read keys from.
pub fn is_there() -> bool {
    no_screen().is_none()
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
    way: Way,
    /// What stands around a frame.
    around: (&'static [u8], &'static [u8]),
    keeps_frames: bool,
    /// Whether colours are asked for in the form that every terminal with colours knows.
    is_of_sixteen: bool,
    /// Whether it shows ASCII only.
    is_of_ascii: bool,
    /// While another program has it: what it was before.
    lent: Option<Lent>,
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

/// Tells whether the terminal is one of those that take messages in the form of rxvt and not in that of iTerm2; most
/// take the latter, and who takes both would show it twice.
fn takes_777() -> bool {
    let is_rxvt = std::env::var("TERM").is_ok_and(|term| term.starts_with("rxvt"));
    is_rxvt || std::env::var_os("VTE_VERSION").is_some()
}

impl Terminal {
    /// Takes the terminal.
    ///
    /// # Errors
    /// There is none, or it refuses.
    pub fn take() -> io::Result<Self> {
        let (mut way, pending) = (Way::default(), Pending::default());
        let sent = enter().and_then(|modes| way.send(modes.as_bytes()));
        let inner = sent.and_then(|()| blank(&pending));
        let inner = inner.inspect_err(|_| drop(leave()))?;
        Ok(Self {
            inner,
            pending,
            way,
            around: around_a_frame(),
            is_of_sixteen: depth() == Depth::Sixteen,
            is_of_ascii: ascii::is_wanted(),
            keeps_frames: false,
            lent: None,
        })
    }

    /// Gives the terminal back as it was found. Does nothing the second time.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn give_back(&mut self) -> io::Result<()> {
        leave()
    }

    /// Gives the terminal back for another program to have it. The rest of a frame that it did not take is no more of
    /// use, and would be sent on into that program's screen.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn lend(&mut self) -> io::Result<()> {
        self.give_back()?;
        self.way.forget();
        self.lent = Some(Lent::begin());
        Ok(())
    }

    /// Makes the terminal what it was before it was lent, once whoever had it is gone. Does nothing where nobody has it.
    pub fn take_back(&mut self, left: Left) {
        if let Some(lent) = self.lent.take() {
            lent.end(left);
        }
    }

    /// Takes the terminal again; neither what is on it nor its modes are relied on.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn take_again(&mut self) -> io::Result<()> {
        leave()?;
        self.way.forget();
        self.way.send(enter()?.as_bytes())?;
        self.pending.0.borrow_mut().clear();
        self.forget()
    }

    /// Relies on nothing that stands on the screen: the next frame is sent whole.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn forget(&mut self) -> io::Result<()> {
        self.inner = blank(&self.pending)?;
        Ok(())
    }

    /// When what the terminal did not take is to be sent on; `None` where it took all. No frame is drawn before.
    pub fn due(&self) -> Option<Instant> {
        self.way.due()
    }

    /// Sends on what the terminal did not take.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn send_on(&mut self) -> io::Result<()> {
        self.way.send_on()
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
        #[cfg(debug_assertions)]
        breaking::where_wanted();
        let is_of_ascii = self.is_of_ascii;
        let drawn = self.inner.draw(|frame| {
            draw(frame);
            if is_of_ascii {
                ascii::write_over(frame.buffer_mut());
            }
        })?;
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
        self.tell(&format!("\x1b]2;{}\x1b\\", self.in_its_signs(title)))
    }

    /// Calls a user who looks elsewhere; the text must hold no control characters.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn call(&mut self, how: NotifyBy, text: &str) -> io::Result<()> {
        match how {
            NotifyBy::Off => Ok(()),
            NotifyBy::Bell => self.tell("\x07"),
            NotifyBy::Message if takes_777() => self.call(NotifyBy::Osc777, text),
            NotifyBy::Message | NotifyBy::Osc9 => {
                let text = self.in_its_signs(text);
                self.tell(&format!("\x1b]9;agent-collab: {text}\x1b\\\x07"))
            }
            NotifyBy::Osc777 => {
                // Title and text stand between semicolons.
                let text = self.in_its_signs(text).replace(';', ",");
                self.tell(&format!("\x1b]777;notify;agent-collab;{text}\x1b\\\x07"))
            }
        }
    }

    fn in_its_signs<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.is_of_ascii {
            true => ascii::text(text).into(),
            false => text.into(),
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
            true => self.way.send(&sixteen::in_short(&bytes)),
            false => self.way.send(&bytes),
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
        self.take_back(Left::Anyhow);
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
