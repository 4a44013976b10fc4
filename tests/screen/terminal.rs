//! A pseudo-terminal with a program in it: keys go in, the screen that a person would see comes out.
//!
//! Nothing here sleeps: it waits for a screen, with a deadline, and shows the screen when that passes.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{FlowArg, Termios, tcflow, tcgetattr};
use nix::unistd::Pid;
use pty_process::Size;
use pty_process::blocking::{Command, Pts, Pty, open};

/// How long any screen may take to come. Generous: the machine may be busy, and only what fails takes so long.
const PATIENCE: Duration = Duration::from_secs(120);
/// What is written into the terminal once the program has ended: all that it wrote comes out before. No terminal shows it.
const LAST: &[u8] = b"\x1b_all that was written\x1b\\";
/// What a dialog says that takes no keys yet.
const DEAF: &str = "a moment, to read it";
/// The size of every terminal here.
const ROWS: u16 = 40;
const COLUMNS: u16 = 120;

/// An editor that says which file it has and puts what is typed at its end; `both` takes the markers
/// of a merge out.
const EDITOR: &str = r#"sh -c 'echo "THE EDITOR HAS $(basename "$1")"; read line; if [ "$line" = both ]; then sed -i "/^[<=>]\{7\}/d; /^nothing done/d" "$1"; else echo "$line" >> "$1"; fi' sh"#;

/// A program in a terminal.
pub struct Terminal {
    child: Child,
    /// Kept open so that the terminal's settings can be looked at after the program's end.
    pts: Pts,
    pty: Pty,
    keys: File,
    output: Receiver<Vec<u8>>,
    parser: vt100::Parser,
    /// All that the program wrote.
    pub raw: Vec<u8>,
    settings_before: Termios,
}

impl Terminal {
    /// Starts a program.
    pub fn start(program: &Path, arguments: &[&str], home: &Path, cwd: &Path) -> Self {
        Self::start_with(program, arguments, (home, cwd), &[])
    }

    /// Starts a program with some variables of the environment besides.
    pub fn start_with(
        program: &Path,
        arguments: &[&str],
        (home, cwd): (&Path, &Path),
        variables: &[(&str, &str)],
    ) -> Self {
        let (pty, pts) = open().unwrap();
        pty.resize(Size::new(ROWS, COLUMNS)).unwrap();
        let settings_before = tcgetattr(&pts).unwrap();
        let mut command = Command::new(program)
            .args(arguments)
            .current_dir(cwd)
            .env("HOME", home)
            .env("TERM", "xterm-256color")
            .env("LANG", "C.UTF-8")
            .env("VISUAL", EDITOR);
        for variable in [
            "XDG_CONFIG_HOME",
            "XDG_STATE_HOME",
            "XDG_DATA_HOME",
            "NO_COLOR",
            "COLORFGBG",
            "COLORTERM",
            "LC_ALL",
            "LC_CTYPE",
        ] {
            command = command.env_remove(variable);
        }
        for (name, value) in variables {
            command = command.env(name, value);
        }
        let child = command.spawn_borrowed(&pts).unwrap();
        let keys = File::from(pty.as_fd().try_clone_to_owned().unwrap());
        let (tell, output) = channel();
        let mut from = File::from(pty.as_fd().try_clone_to_owned().unwrap());
        std::thread::spawn(move || {
            let mut bytes = [0; 65536];
            while let Ok(n @ 1..) = from.read(&mut bytes) {
                if tell.send(bytes[..n].to_vec()).is_err() {
                    break;
                }
            }
        });
        let size = |n| NonZeroU16::new(n).unwrap();
        Self {
            child,
            pts,
            pty,
            keys,
            output,
            parser: vt100::Parser::new(size(ROWS), size(COLUMNS), 0),
            raw: Vec::new(),
            settings_before,
        }
    }

    /// Types bytes as a keyboard sends them, once what is asked can have been read.
    pub fn type_keys(&mut self, keys: &str) {
        while let Ok(bytes) = self.output.try_recv() {
            self.show(&bytes);
        }
        self.wait("a dialog that takes keys", |terminal| {
            terminal.is_whole() && !terminal.text().contains(DEAF)
        });
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Tells whether the last frame that began has come to its end: of a part of one nothing can be said.
    fn is_whole(&self) -> bool {
        let last = |mark: &[u8]| self.raw.windows(mark.len()).rposition(|part| part == mark);
        last(b"\x1b[?2026h") <= last(b"\x1b[?2026l")
    }

    /// Sends a signal to the program.
    pub fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).unwrap();
    }

    /// The program's process.
    pub fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).unwrap())
    }

    /// From now on the terminal takes nothing, as after Ctrl+S.
    pub fn stand_still(&self) {
        tcflow(&self.pts, FlowArg::TCOOFF).unwrap();
    }

    /// It takes again, as after Ctrl+Q.
    pub fn go_on(&self) {
        tcflow(&self.pts, FlowArg::TCOON).unwrap();
    }

    /// Types bytes into a terminal that shows nothing.
    pub fn type_blindly(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the program's end, which a terminal that takes nothing does not show.
    pub fn wait_for_end_unseen(&mut self) -> ExitStatus {
        let mut status = None;
        self.wait("the program's end", |terminal| {
            status = terminal.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }

    /// Gives the terminal another size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        let size = |n| NonZeroU16::new(n).unwrap();
        self.pty.resize(Size::new(rows, columns)).unwrap();
        self.parser.screen_mut().set_size(size(rows), size(columns));
    }

    /// The colours of all text on the screen.
    pub fn colours(&self) -> Vec<vt100::Color> {
        let screen = self.parser.screen();
        let (rows, columns) = screen.size();
        let cells =
            (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (row, column)));
        let drawn = cells.filter_map(|(row, column)| screen.cell(row, column));
        let text = drawn.filter(|cell| !cell.contents().trim().is_empty());
        text.map(vt100::Cell::fgcolor).collect()
    }

    /// The text of the screen.
    pub fn text(&self) -> String {
        self.parser.screen().contents()
    }

    /// Waits until the screen shows a text.
    pub fn wait_for(&mut self, text: &str) {
        self.wait(&format!("`{text}` on the screen"), |terminal| {
            terminal.text().contains(text)
        });
    }

    /// Waits until the screen no longer shows a text.
    pub fn wait_gone(&mut self, text: &str) {
        self.wait(&format!("no `{text}` on the screen"), |terminal| {
            !terminal.text().contains(text)
        });
    }

    /// Waits until something is true of the terminal.
    pub fn wait(&mut self, what: &str, mut is_so: impl FnMut(&mut Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so(self) {
            // A short wait at a time, for conditions that no output announces.
            match self.output.recv_timeout(Duration::from_millis(20)) {
                Ok(bytes) => self.show(&bytes),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            assert!(
                Instant::now() < deadline,
                "waited in vain for {what}; the screen:\n{}",
                self.text()
            );
        }
    }

    fn show(&mut self, bytes: &[u8]) {
        self.raw.extend_from_slice(bytes);
        self.parser.process(bytes);
    }

    /// Waits for the program's end and for its last output.
    pub fn wait_for_end(&mut self) -> ExitStatus {
        let status = self.wait_for_end_unseen();
        self.show_the_rest();
        status
    }

    /// Shows what the program wrote last.
    fn show_the_rest(&mut self) {
        let mut pts = File::from(self.pts.as_fd().try_clone_to_owned().unwrap());
        pts.write_all(LAST).unwrap();
        let mut rest = Vec::new();
        let end = loop {
            let mut parts = rest.windows(LAST.len());
            if let Some(end) = parts.position(|part| part == LAST) {
                break end;
            }
            rest.extend(self.output.recv_timeout(PATIENCE).unwrap());
        };
        self.show(&rest[..end]);
    }

    /// Tells whether every mode that a screen needs is on.
    pub fn is_taken(&self) -> bool {
        let screen = self.parser.screen();
        screen.alternate_screen()
            && screen.bracketed_paste()
            && screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None
            && tcgetattr(&self.pts).unwrap() != self.settings_before
    }

    /// Fails unless the terminal is as the program found it.
    pub fn assert_given_back(&self) {
        assert_eq!(self.left_on(), [""; 0], "left on");
    }

    /// What is not as the program found it.
    pub fn left_on(&self) -> Vec<&'static str> {
        let screen = self.parser.screen();
        let differs = |on: &str, off: &str| {
            count(&self.raw, on.as_bytes()) != count(&self.raw, off.as_bytes())
        };
        let mouse = screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None;
        let settings = tcgetattr(&self.pts).unwrap() != self.settings_before;
        [
            (screen.alternate_screen(), "the alternate screen"),
            (screen.bracketed_paste(), "bracketed paste"),
            (screen.hide_cursor(), "the hidden cursor"),
            (mouse, "the mouse"),
            (settings, "the terminal's settings"),
            (differs("\x1b[>1u", "\x1b[<1u"), "the keyboard's extensions"),
            (differs("\x1b[?1004h", "\x1b[?1004l"), "the focus events"),
        ]
        .into_iter()
        .filter_map(|(is_on, what)| is_on.then_some(what))
        .collect()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // After a failed wait the program still runs.
        let _over = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn count(bytes: &[u8], what: &[u8]) -> usize {
    bytes
        .windows(what.len())
        .filter(|part| *part == what)
        .count()
}
