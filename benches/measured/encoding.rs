//! Measures the output of a frame to the terminal: the program's own way, which moves rows that only moved, compared
//! with writing each changed cell. Counts the bytes too.

use std::cell::Cell;
use std::io::{self, Write};
use std::rc::Rc;
use std::time::Duration;

use agent_collab::app::diff_backend::{DiffBackend, FrameHandover};
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

use crate::drawn::{A_KEY, Drawn, SIZE};
use crate::limit::{Limit, verdict};
use crate::{say, side_by_side, timed};

const ROUNDS: usize = 400;

pub fn run() -> anyhow::Result<()> {
    let mut chat = Drawn::long(1_000)?;
    chat.press(KeyCode::Esc);
    chat.draw()?;
    chat.key(KeyCode::PageUp)?;
    let first = picture(&chat);
    // A line up: nearly all rows move by one.
    chat.key(KeyCode::Up)?;
    let moved = picture(&chat);
    chat.key(KeyCode::PageUp)?;
    let another = picture(&chat);
    anyhow::ensure!(first != moved && moved != another, "nothing moved");
    compare(
        "a frame whose rows moved, to the terminal",
        [&first, &moved],
    )?;
    compare("a frame of which all is new", [&first, &another])?;
    compare("a frame that is the one before", [&first, &first])
}

fn picture(drawn: &Drawn) -> Buffer {
    drawn.terminal.backend().buffer().clone()
}

/// Shows two pictures in turns in both ways, and prints the time and the number of bytes.
fn compare(name: &str, pictures: [&Buffer; 2]) -> anyhow::Result<()> {
    let (out, out_beside) = (Counting::default(), Counting::default());
    let mut ours = terminal(DiffBackend::new(out.clone()))?;
    let mut beside = terminal(CrosstermBackend::new(out_beside.clone()))?;
    let [first, second] = pictures;
    let frames = ours.backend().frames();
    let frames = Some(&frames);
    show(&mut ours, second, frames)?;
    show(&mut beside, second, None)?;
    for out in [&out, &out_beside] {
        out.0.set(0);
    }
    side_by_side(
        name,
        Limit::Within(A_KEY),
        ROUNDS,
        &mut || Ok(show(&mut ours, first, frames)? + show(&mut ours, second, frames)?),
        &mut || Ok(show(&mut beside, first, None)? + show(&mut beside, second, None)?),
    )?;
    let per_frame = |out: &Counting| out.0.get() as f64 / (2 * ROUNDS) as f64;
    let (n, n_beside) = (per_frame(&out), per_frame(&out_beside));
    say(format_args!(
        "{:<46} {n:>8.0} B {n_beside:>8.0} B          <= 1{}",
        "  the same, in bytes",
        verdict(&format!("{name}, in bytes"), n, n_beside)
    ))
}

fn terminal<B: Backend<Error = io::Error>>(backend: B) -> io::Result<Terminal<B>> {
    // No terminal is there to be asked how large it is.
    let viewport = Viewport::Fixed(Rect::new(0, 0, SIZE.0, SIZE.1));
    Terminal::with_options(backend, TerminalOptions { viewport })
}

fn show<B: Backend<Error = io::Error>>(
    terminal: &mut Terminal<B>,
    picture: &Buffer,
    frames: Option<&FrameHandover>,
) -> anyhow::Result<Duration> {
    let (took, drawn) = timed(|| {
        let draw = |frame: &mut ratatui::Frame| {
            frame.buffer_mut().clone_from(picture);
            if let Some(frames) = frames {
                frames.take_frame(frame.buffer_mut());
            }
        };
        terminal.draw(draw).map(drop)
    });
    drawn?;
    Ok(took)
}

/// Accepts everything and counts the bytes.
#[derive(Debug, Clone, Default)]
struct Counting(Rc<Cell<usize>>);

impl Write for Counting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.set(self.0.get() + bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
