//! `agent-collab scrub`: standard input made safe to show to others, as a stream.
//!
//! Refuses to know files and runs: what comes in goes out, line by line, and little is held.

use std::io::{self, ErrorKind, IsTerminal, Read, Write};

use clap::{Args, ValueEnum};

use crate::app::start::Refusal;
use crate::text::{Scrubber, Taken};

/// Arguments of `agent-collab scrub`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Reads standard input and writes to standard output what may be pasted into a bug report. Keys, tokens, passwords,\n\
                  cookies, private keys and the values of this shell's own secret variables become marks such as\n\
                  [redacted:github-token]; escape sequences, control characters and invisible ones go. Ids, hashes and code stay.\n\
                  Lines come out as they come in; a text that was scrubbed before comes out as it is. Look it over all the same:\n\
                  a password that nothing announces looks like any other word.\n\n\
                  Examples:\n  \
                  agent-collab scrub < .agent-collab/debug.log > for-the-report.txt\n  \
                  cargo test 2>&1 | agent-collab scrub | tee report.txt\n  \
                  agent-collab scrub --only redact < colours.log"
)]
pub struct ScrubArgs {
    /// Takes only this out: secrets (redact), or what drives a terminal (control)
    #[arg(long, value_enum, value_name = "WHAT")]
    pub only: Option<Only>,
}

/// A part of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Only {
    /// Secrets
    Redact,
    /// Escape sequences, control characters and invisible ones
    Control,
}

/// How much is read at once, in bytes.
const PIECE: usize = 256 * 1024;

/// Runs the command.
///
/// # Errors
/// Standard input cannot be read, or standard output not written; a reader that has gone is no error.
pub fn run(args: &ScrubArgs) -> Result<u8, Refusal> {
    let taken = match args.only {
        None => Taken::All,
        Some(Only::Redact) => Taken::Secrets,
        Some(Only::Control) => Taken::Controls,
    };
    let input = io::stdin();
    if input.is_terminal() {
        let _closed = writeln!(
            io::stderr(),
            "reading what you type or paste; Ctrl+D at the start of a line ends it"
        );
    }
    match scrub(&mut input.lock(), &mut io::stdout().lock(), taken) {
        Ok(()) => Ok(0),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(0),
        Err(error) => Err(Refusal::error(format!("cannot scrub: {error}"), "")),
    }
}

fn scrub(input: &mut dyn Read, output: &mut dyn Write, taken: Taken) -> io::Result<()> {
    let mut scrubber = Scrubber::new(taken);
    let mut piece = vec![0; PIECE];
    let mut clean = String::with_capacity(PIECE);
    loop {
        let n = match input.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => n,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        scrubber.push(&piece[..n], &mut clean);
        output.write_all(clean.as_bytes())?;
        output.flush()?;
        clean.clear();
    }
    scrubber.finish(&mut clean);
    output.write_all(clean.as_bytes())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads that end wherever they like.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(self.0.len()).min(to.len());
            let (now, later) = self.0.split_at(n);
            to[..n].copy_from_slice(now);
            self.0 = later;
            Ok(n)
        }
    }

    fn check(text: &[u8], taken: Taken, expected: &str) {
        for size in [1, 3, text.len()] {
            let mut out = Vec::new();
            scrub(&mut Pieces(text, size), &mut out, taken).unwrap();
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
            Taken::All,
            "password: [redacted:password]\nend \u{fffd}",
        );
        check(text, Taken::Controls, "password: hunter2\nend \u{fffd}");
        check(
            b"\x1b[1mpassword: hunter2\x07",
            Taken::Secrets,
            "\u{1b}[1mpassword: [redacted:password]\u{7}",
        );
    }

    #[test]
    fn a_line_without_end_is_not_held_whole() {
        let mut scrubber = Scrubber::new(Taken::All);
        let mut out = String::new();
        for _ in 0..64 {
            scrubber.push("word ".repeat(10_000).as_bytes(), &mut out);
        }
        assert!(out.len() > 3_000_000, "{}", out.len());
    }
}
