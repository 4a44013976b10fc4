//! A pseudo-terminal with a program in it: keys go in, and the screen that a user would see comes out.
//!
//! Nothing sleeps here: each wait is for a screen, has a deadline, and shows the screen if the deadline passes.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{FlowArg, Termios, tcflow, tcgetattr};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use pty_process::Size;
use pty_process::blocking::{Command, Pts, Pty, open};

use crate::dialog_clock::DialogClock;

/// The time limit for any screen. Generous, because the machine may be busy and only failures take that long.
const PATIENCE: Duration = Duration::from_secs(120);
/// Written into the terminal after the program has ended, so that all of the program's output comes before it. No
/// terminal shows it.
const LAST: &[u8] = b"\x1b_all that was written\x1b\\";
/// The marks around a frame.
const BEGIN_FRAME: &[u8] = b"\x1b[?2026h";
const END_FRAME: &[u8] = b"\x1b[?2026l";
/// The size of every terminal here.
const ROWS: u16 = 40;
const COLUMNS: u16 = 120;

/// An editor that shows its file name and appends what is typed; `both` removes the markers
/// of a merge.
const EDITOR: &str = r#"sh -c 'echo "THE EDITOR HAS $(basename "$1")"; read line; if [ "$line" = both ]; then sed -i "/^[<=>]\{7\}/d; /^nothing done/d" "$1"; else echo "$line" >> "$1"; fi' sh"#;

/// A program in a terminal.
pub struct Terminal {
    child: Child,
    /// Kept open so that the terminal's settings can be checked after the program's end.
    pts: Pts,
    pty: Pty,
    keys: File,
    output: Receiver<Vec<u8>>,
    parser: vt100::Parser,
    /// The beginning of a frame whose end has not come. Such a frame is not shown, because it proves nothing.
    partial_frame: Vec<u8>,
    /// All that the program wrote.
    pub raw: Vec<u8>,
    settings_before: Termios,
    dialog: DialogClock,
}

impl Terminal {
    pub fn start(program: &Path, arguments: &[&str], home: &Path, cwd: &Path) -> Self {
        Self::start_with(program, arguments, (home, cwd), &[])
    }

    /// Starts a program with some additional environment variables.
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
            "TMUX",
            "TMUX_PANE",
            "VTE_VERSION",
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
            partial_frame: Vec::new(),
            raw: Vec::new(),
            settings_before,
            dialog: DialogClock::new(),
        }
    }

    /// Types bytes as a keyboard sends them, once what is asked can have been read.
    pub fn type_keys(&mut self, keys: &str) {
        self.look();
        self.wait("a dialog that takes keys", |terminal| {
            terminal.partial_frame.is_empty() && terminal.takes_keys()
        });
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Returns whether no dialog is on the screen, or it has been there for long enough.
    fn takes_keys(&mut self) -> bool {
        let screen = self.text();
        self.dialog.accepts_keys(&screen)
    }

    /// Shows all that has come by now.
    pub fn look(&mut self) {
        while let Ok(bytes) = self.output.try_recv() {
            self.show(&bytes);
        }
    }

    /// Sends a signal to the program.
    pub fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).unwrap();
    }

    pub fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).unwrap())
    }

    /// Waits until the program has stopped and has restored the terminal.
    pub fn wait_for_stop(&mut self) {
        let pid = self.pid();
        self.wait("the stop", |_| {
            let flags = WaitPidFlag::WUNTRACED | WaitPidFlag::WNOHANG;
            matches!(waitpid(pid, Some(flags)), Ok(WaitStatus::Stopped(..)))
        });
        self.wait("the terminal back", |terminal| {
            terminal.left_on().is_empty()
        });
    }

    /// Stops the terminal's output, as Ctrl+S does.
    pub fn stand_still(&self) {
        tcflow(&self.pts, FlowArg::TCOOFF).unwrap();
    }

    /// Restarts the terminal's output, as Ctrl+Q does.
    pub fn go_on(&self) {
        tcflow(&self.pts, FlowArg::TCOON).unwrap();
    }

    /// Types bytes into a terminal that shows nothing.
    pub fn type_blindly(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the program's end, which a terminal with stopped output does not show.
    pub fn wait_for_end_unseen(&mut self) -> ExitStatus {
        let mut status = None;
        self.wait("the program's end", |terminal| {
            status = terminal.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }

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

    /// All that the program wrote, as text.
    pub fn said(&self) -> String {
        String::from_utf8_lossy(&self.raw).into_owned()
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

    /// Clicks on the start of the first text that matches.
    pub fn click_on(&mut self, text: &str) {
        self.wait_for(text);
        let shown = self.text();
        let mut rows = (1..).zip(shown.lines());
        let (row, before) = rows
            .find_map(|(row, line)| Some((row, line.split_once(text)?.0.chars().count())))
            .unwrap();
        let column = before + 1;
        self.type_keys(&format!("\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m"));
    }

    /// Returns whether letters are commands now.
    pub fn takes_letters(&self) -> bool {
        takes_letters(&self.text())
    }

    /// Leaves the composer, which has the keys while an agent works, if that was not done before.
    pub fn leave_composer(&mut self) {
        if !self.takes_letters() {
            self.type_keys("\x1b");
            self.wait_until_letters_command();
        }
    }

    /// Waits until letters are commands, not text: a dialog or the view has the keys.
    pub fn wait_until_letters_command(&mut self) {
        self.wait("that letters are commands", |terminal| {
            takes_letters(&terminal.text())
        });
    }

    /// Waits until letters go into the composer.
    pub fn wait_until_writing(&mut self) {
        self.wait("that letters are written", |terminal| {
            !takes_letters(&terminal.text())
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
                Ok(bytes) => {
                    self.show(&bytes);
                    self.takes_keys();
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            assert!(
                Instant::now() < deadline,
                "waited in vain for {what}; the threads: {}; the screen:\n{}",
                self.describe_threads(),
                self.text()
            );
        }
    }

    /// Names the program's threads with what each waits for in the kernel.
    fn describe_threads(&self) -> String {
        let tasks = format!("/proc/{}/task", self.child.id());
        let tasks = fs::read_dir(tasks).into_iter().flatten().flatten();
        let thread = |task: fs::DirEntry| {
            let part = |name| fs::read_to_string(task.path().join(name)).unwrap_or_default();
            format!("{} in {}", part("comm").trim_end(), part("wchan"))
        };
        tasks.map(thread).collect::<Vec<_>>().join(", ")
    }

    fn show(&mut self, bytes: &[u8]) {
        self.raw.extend_from_slice(bytes);
        self.partial_frame.extend_from_slice(bytes);
        let end = end_of_whole_frames(&self.partial_frame);
        self.parser.process(&self.partial_frame[..end]);
        self.partial_frame.drain(..end);
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

    /// Returns whether every mode that a screen needs is on.
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

    /// Returns what differs from the state in which the program found the terminal.
    ///
    /// Every mode that was switched is checked, including modes that are new.
    pub fn left_on(&self) -> Vec<String> {
        let mut left = modes_left(&self.raw);
        let raw = String::from_utf8_lossy(&self.raw);
        for (on, off, what) in [
            ("\x1b[>1u", "\x1b[<1u", "the keyboard's extensions"),
            ("\x1b[22;2t", "\x1b[23;2t", "the window's title"),
        ] {
            if raw.matches(on).count() != raw.matches(off).count() {
                left.push(what.to_owned());
            }
        }
        // A colour, and the cursor's shape.
        for (ends_with, plain) in [('m', ["\x1b[0m", "\x1b[m"]), ('q', ["\x1b[0 q", "\x1b[ q"])] {
            let last = last_sequence(&raw, ends_with);
            if last.is_some_and(|last| !plain.contains(&last)) {
                left.push(format!("{:?}", last.unwrap()));
            }
        }
        if tcgetattr(&self.pts).unwrap() != self.settings_before {
            left.push("the terminal's settings".to_owned());
        }
        left
    }

    /// Closes the window: the terminal is gone for the program, whatever it does.
    pub fn hang_up(&mut self) {
        // The program's next output has no reader, and the thread that read it closes the terminal too.
        self.output = channel().1;
        let (pty, pts) = open().unwrap();
        self.keys = File::from(pty.as_fd().try_clone_to_owned().unwrap());
        let gone = std::mem::replace(&mut self.pty, pty);
        self.pts = pts;
        // Where nothing happens, there is an output for a new size.
        gone.resize(Size::new(ROWS - 1, COLUMNS)).unwrap();
    }

    /// Returns how the program has ended, if it has.
    pub fn end(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Writes into the terminal as another program does that has it meanwhile.
    pub fn scribble(&mut self, text: &str) {
        let mut pts = File::from(self.pts.as_fd().try_clone_to_owned().unwrap());
        pts.write_all(text.as_bytes()).unwrap();
    }
}

/// Returns the private modes that differ from a terminal's initial state, by their last change.
fn modes_left(raw: &[u8]) -> Vec<String> {
    /// On in a fresh terminal: the cursor, and the wrapping of lines.
    const ON_AT_FIRST: [&str; 2] = ["25", "7"];
    let raw = String::from_utf8_lossy(raw);
    let mut modes = std::collections::BTreeMap::new();
    for part in raw.split("\x1b[?").skip(1) {
        let Some(end) = part.find(|c: char| !c.is_ascii_digit() && c != ';') else {
            continue;
        };
        let (numbers, letter) = (&part[..end], &part[end..=end]);
        if let "h" | "l" = letter {
            for number in numbers.split(';') {
                modes.insert(number.to_owned(), letter == "h");
            }
        }
    }
    let is_left =
        |(number, is_on): &(String, bool)| ON_AT_FIRST.contains(&number.as_str()) != *is_on;
    let left = modes.into_iter().filter(is_left);
    left.map(|(number, _)| format!("mode {number}")).collect()
}

/// The last sequence that ends with a letter and has only numbers in front of it.
fn last_sequence(raw: &str, ends_with: char) -> Option<&str> {
    let starts: Vec<usize> = raw.match_indices("\x1b[").map(|(at, _)| at).collect();
    starts.into_iter().rev().find_map(|at| {
        let rest = &raw[at + 2..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && !";: ".contains(c))?;
        rest[end..]
            .starts_with(ends_with)
            .then(|| &raw[at..=at + 2 + end])
    })
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // After a failed wait the program still runs.
        let _over = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// Returns how many bytes of an output belong to no incomplete frame, nor to a mark that may begin one.
fn end_of_whole_frames(output: &[u8]) -> usize {
    let last = |mark: &[u8]| output.windows(mark.len()).rposition(|part| part == mark);
    match (last(BEGIN_FRAME), last(END_FRAME)) {
        (Some(begin), end) if Some(begin) > end => begin,
        _ => {
            let is_at_end = |n: &usize| output.ends_with(&BEGIN_FRAME[..*n]);
            let n_marked = (1..BEGIN_FRAME.len()).rev().find(is_at_end);
            output.len() - n_marked.unwrap_or(0)
        }
    }
}

#[test]
fn a_frame_is_shown_with_its_last_byte() {
    let frame = [BEGIN_FRAME, b"text\x1b[0m", END_FRAME].concat();
    let whole = [b"before".as_slice(), &frame, b"after"].concat();
    for n in 0..=whole.len() {
        let in_frame = n.checked_sub(6).filter(|n| *n < frame.len());
        let wanted = in_frame.map_or(n, |_| 6);
        assert_eq!(end_of_whole_frames(&whole[..n]), wanted, "{n}");
    }
}

/// Returns whether a dialog or the view takes the letters that are typed.
fn takes_letters(text: &str) -> bool {
    // In the composer it says which key leads to the choices.
    let chooses = text.contains("choose") && !text.contains("Esc choose");
    chooses || text.contains("to write, /") || text.contains("I write")
}
