//! `agent-collab scrub`: makes standard input safe to show to others, as a stream.
//!
//! Knows no files or runs: lines are written as they come in, and little is buffered.

use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::num::NonZero;
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use clap::{Args, ValueEnum};

use crate::app::startup::StartError;
use crate::text::{ByteScrubber, ScrubScope};

/// Arguments of `agent-collab scrub`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Reads standard input and writes to standard output what you can paste into a bug report. Keys, tokens, passwords, \
                  cookies, private keys and the values of secret environment variables become marks such as \
                  [redacted:github-token]. Escape sequences, control characters and invisible characters are removed. Ids, hashes and code stay. \
                  Lines stay as they are, except that each carriage return, alone or before a line feed, becomes a line end (not with \
                  --only redact). Scrubbing twice changes nothing. Read the result before you share it: a password that \
                  nothing marks as one looks like any other word.\n\n\
                  Examples:\n  \
                  agent-collab scrub < .agent-collab/debug.log > for-the-report.txt\n  \
                  cargo test 2>&1 | agent-collab scrub | tee report.txt\n  \
                  agent-collab scrub --only redact < colours.log"
)]
pub struct ScrubArguments {
    /// Remove only this: secrets (redact) or terminal control sequences (control)
    #[arg(long, value_enum, value_name = "WHAT")]
    pub only: Option<ScrubOnlyFlag>,
}

/// A part of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScrubOnlyFlag {
    /// Secrets
    Redact,
    /// Escape sequences, control characters and invisible characters
    Control,
}

/// Size of one read, in bytes.
const READ_BYTES: usize = 256 * 1024;

/// Maximum size of an unfinished line that waits for its end, in bytes.
const MAX_TAIL_BYTES: usize = 64 * 1024;

/// Maximum number of workers; more would wait for the pipes.
const MAX_WORKERS: usize = 4;

/// Runs the command.
///
/// # Errors
/// Standard input cannot be read, or standard output not written; a closed output is not an error.
pub fn run(args: &ScrubArguments) -> Result<u8, StartError> {
    let taken = match args.only {
        None => ScrubScope::All,
        Some(ScrubOnlyFlag::Redact) => ScrubScope::Secrets,
        Some(ScrubOnlyFlag::Control) => ScrubScope::Controls,
    };
    let input = io::stdin();
    let mut output = io::stdout();
    if input.is_terminal() {
        let _closed = writeln!(
            io::stderr(),
            "type or paste the text, then press Ctrl+D at the start of a line"
        );
    }
    widen(&input);
    widen(&output);
    let n_workers = thread::available_parallelism().map_or(1, NonZero::get);
    let n_workers = n_workers.min(MAX_WORKERS);
    match scrub_stream(&mut input.lock(), &mut output, taken, n_workers) {
        Ok(()) => Ok(0),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(0),
        Err(error) => Err(StartError::new(format!("cannot scrub: {error}"), "")),
    }
}

/// Enlarges a pipe's buffer, so that its two ends wait for each other less often.
#[cfg(target_os = "linux")]
fn widen(pipe: &impl AsFd) {
    use nix::fcntl::{FcntlArg, fcntl};
    use std::ffi::c_int;

    // Fails for other files and at the system's limit, without harm.
    let _refused = fcntl(pipe, FcntlArg::F_SETPIPE_SZ(4 * READ_BYTES as c_int));
}

/// Other systems cannot change the buffer of a pipe.
#[cfg(not(target_os = "linux"))]
fn widen(_pipe: &impl AsFd) {}

/// A part of the input, with whole lines if possible.
struct InputBlock {
    bytes: Vec<u8>,
    start: BlockStart,
}

/// Whether a block starts at the start of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockStart {
    Line,
    InsideLine,
}

/// A block, and its result if nothing before it matters: the text and the scrubber's state.
struct ScrubbedBlock {
    block: InputBlock,
    independent_result: Option<(String, ByteScrubber)>,
}

/// Scrubs a stream: workers take blocks in turn, and one writer restores their order.
///
/// The meaning of a block may depend on the text before it, for example on the start of a private key. So the writer
/// uses a worker's result only if nothing is open before the block; otherwise it scrubs the block itself.
fn scrub_stream(
    input: &mut dyn Read,
    output: &mut (dyn Write + Send),
    taken: ScrubScope,
    n_workers: usize,
) -> io::Result<()> {
    thread::scope(|scope| {
        let (mut lanes, mut all_done) = (Vec::new(), Vec::new());
        for _ in 0..n_workers {
            let (lane, blocks) = sync_channel(1);
            let (to_writer, done) = sync_channel(1);
            scope.spawn(move || scrub_blocks(&blocks, &to_writer, taken));
            lanes.push(lane);
            all_done.push(done);
        }
        let writer = scope.spawn(move || write_in_order(&all_done, output, taken));
        let read = read_blocks(input, &lanes);
        drop(lanes);
        let written = writer.join();
        read.and(written.unwrap_or_else(|_| Err(io::Error::other("the writer broke off"))))
    })
}

/// Reads to the end, or until the writer has ended; sends the blocks to the lanes in turn.
fn read_blocks(input: &mut dyn Read, lanes: &[SyncSender<InputBlock>]) -> io::Result<()> {
    let mut lanes = lanes.iter().cycle();
    let mut send = |block| lanes.next().is_some_and(|lane| lane.send(block).is_ok());
    let mut held = Vec::with_capacity(READ_BYTES + MAX_TAIL_BYTES);
    let mut begins = BlockStart::Line;
    loop {
        let before = held.len();
        held.resize(before + READ_BYTES, 0);
        let n = match input.read(held.get_mut(before..).unwrap_or_default()) {
            Ok(n) => n,
            Err(error) if error.kind() == ErrorKind::Interrupted => {
                held.truncate(before);
                continue;
            }
            Err(error) => return Err(error),
        };
        held.truncate(before + n);
        let lines = memchr::memrchr(b'\n', &held).map_or(0, |at| at + 1);
        let whole = if n == 0 || held.len() - lines > MAX_TAIL_BYTES {
            held.len()
        } else {
            lines
        };
        if whole > 0 {
            let tail = held.split_off(whole);
            let bytes = std::mem::replace(&mut held, tail);
            let block = InputBlock {
                bytes,
                start: begins,
            };
            begins = if whole == lines {
                BlockStart::Line
            } else {
                BlockStart::InsideLine
            };
            if !send(block) {
                return Ok(());
            }
        }
        if n == 0 {
            return Ok(());
        }
    }
}

fn scrub_blocks(
    blocks: &Receiver<InputBlock>,
    to_writer: &SyncSender<ScrubbedBlock>,
    taken: ScrubScope,
) {
    for block in blocks {
        let alone = (block.start == BlockStart::Line).then(|| {
            let mut scrubber = ByteScrubber::new(taken);
            let mut clean = String::with_capacity(block.bytes.len());
            scrubber.push(&block.bytes, &mut clean);
            (clean, scrubber)
        });
        if to_writer
            .send(ScrubbedBlock {
                block,
                independent_result: alone,
            })
            .is_err()
        {
            return;
        }
    }
}

fn write_in_order(
    all_done: &[Receiver<ScrubbedBlock>],
    output: &mut (dyn Write + Send),
    taken: ScrubScope,
) -> io::Result<()> {
    let mut scrubber = ByteScrubber::new(taken);
    // The lanes take turns, so the first lane that has ended is the end of the input.
    for done in all_done.iter().cycle().map_while(|done| done.recv().ok()) {
        let clean = match done.independent_result {
            Some((clean, after)) if scrubber.is_at_rest() => {
                scrubber = after;
                clean
            }
            Some(_) | None => {
                let mut clean = String::with_capacity(done.block.bytes.len());
                scrubber.push(&done.block.bytes, &mut clean);
                clean
            }
        };
        output.write_all(clean.as_bytes())?;
        output.flush()?;
    }
    let mut rest = String::new();
    scrubber.finish(&mut rest);
    output.write_all(rest.as_bytes())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use proptest::prelude::*;

    use super::*;

    /// A reader that ends its reads anywhere.
    struct ChunkedReader<'a>(&'a [u8], usize);

    impl Read for ChunkedReader<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(self.0.len()).min(to.len());
            let (now, later) = self.0.split_at(n);
            to[..n].copy_from_slice(now);
            self.0 = later;
            Ok(n)
        }
    }

    fn check(text: &[u8], taken: ScrubScope, expected: &str) {
        for size in [1, 3, text.len()] {
            let mut out = Vec::new();
            scrub_stream(&mut ChunkedReader(text, size), &mut out, taken, 2).unwrap();
            assert_eq!(
                String::from_utf8(out).unwrap(),
                expected,
                "pieces of {size}"
            );
        }
    }

    #[test]
    fn each_part_of_the_work_can_be_done_alone() {
        let text = b"\x1b[31mpassword\x1b[0m: hunter2\n\x9b2Jend \xff";
        check(
            text,
            ScrubScope::All,
            "password: [redacted:password]\nend \u{fffd}",
        );
        check(
            text,
            ScrubScope::Controls,
            "password: hunter2\nend \u{fffd}",
        );
        check(
            b"\x1b[1mpassword: hunter2\x07",
            ScrubScope::Secrets,
            "\u{1b}[1mpassword: [redacted:password]\u{7}",
        );
    }

    /// Text that may leave something open at the end of a block.
    fn openings() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("-----BEGIN PRIVATE KEY-----\n"),
            Just("MIIEpAIBAAKCAQEA7bq1\n"),
            Just("-----END PRIVATE KEY-----\n"),
            Just("- name: API_KEY\n"),
            Just("  value: q1w2e3r4t5\n"),
            Just("\u{1b}]0;title"),
            Just("\u{1b}_Gf=100;QUJD\n"),
            Just("\u{1b}\\"),
            Just("\r"),
            Just("\n"),
            Just("\u{200d}\n"),
            Just("\u{fe0f}👩"),
            Just("password=hunter2"),
            Just("漢字 "),
            Just("plain text\n"),
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn blocks_and_workers_make_no_difference(text in openings(), size in 1usize..60, n_workers in 1usize..4) {
            for taken in [ScrubScope::All, ScrubScope::Secrets, ScrubScope::Controls] {
                let mut whole = ByteScrubber::new(taken);
                let mut expected = String::new();
                whole.push(text.as_bytes(), &mut expected);
                whole.finish(&mut expected);
                let mut out = Vec::new();
                scrub_stream(&mut ChunkedReader(text.as_bytes(), size), &mut out, taken, n_workers).unwrap();
                prop_assert_eq!(String::from_utf8(out).unwrap(), expected);
            }
        }
    }

    /// A reader that returns the next line only after the last one was written.
    struct LockstepReader<'a>(&'a AtomicUsize, usize);

    impl Read for LockstepReader<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            while self.0.load(Ordering::SeqCst) < self.1 {
                thread::yield_now();
            }
            self.1 += 1;
            let line: &[u8] = if self.1 > 9 { b"" } else { b"line\n" };
            let (start, _) = to.split_at_mut(line.len());
            start.copy_from_slice(line);
            Ok(line.len())
        }
    }

    struct LineCountingWriter<'a>(&'a AtomicUsize);

    impl Write for LineCountingWriter<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let n = bytes.iter().filter(|byte| **byte == b'\n').count();
            self.0.fetch_add(n, Ordering::SeqCst);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_comes_out_before_the_next_comes_in() {
        let n_out = AtomicUsize::new(0);
        scrub_stream(
            &mut LockstepReader(&n_out, 0),
            &mut LineCountingWriter(&n_out),
            ScrubScope::All,
            3,
        )
        .unwrap();
        assert_eq!(n_out.load(Ordering::SeqCst), 9);
    }

    #[test]
    fn a_reader_that_has_gone_ends_the_work() {
        struct ClosedWriter;
        impl Write for ClosedWriter {
            fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
                Err(ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error = scrub_stream(
            &mut io::repeat(b'\n'),
            &mut ClosedWriter,
            ScrubScope::All,
            2,
        )
        .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_line_without_end_is_not_held_whole() {
        let mut scrubber = ByteScrubber::new(ScrubScope::All);
        let mut out = String::new();
        for _ in 0..64 {
            scrubber.push("word ".repeat(10_000).as_bytes(), &mut out);
        }
        assert!(out.len() > 3_000_000, "{}", out.len());
    }
}
