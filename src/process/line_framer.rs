//! Splits a stream of bytes into lines, however the bytes arrive.
//!
//! A line longer than the limit is not kept: it is reported with its length and its beginning, and the stream
//! continues after the next line end.

use memchr::memchr;

/// The maximum length of a line that is kept, in bytes without the line end.
pub(super) const MAX_LINE_BYTES: usize = 32 * 1024 * 1024;
/// How much of an over-long line is reported, in bytes.
const OVERLONG_HEAD_BYTES: usize = 1024;

/// One line of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FramedLine {
    /// A line without its line end, with invalid UTF-8 replaced.
    Line(String),
    /// A line that was too long to keep.
    TooLong { bytes: u64, head: String },
}

/// Stores the unfinished line of one stream.
pub(super) struct LineFramer {
    cap: usize,
    line: PartialLine,
}

/// A line without its end so far.
enum PartialLine {
    Buffered(Vec<u8>),
    /// The line exceeded the limit: only its beginning is kept.
    Overlong {
        bytes: u64,
        head: Vec<u8>,
    },
}

impl LineFramer {
    pub(super) fn new(cap: usize) -> Self {
        Self {
            cap,
            line: PartialLine::Buffered(Vec::new()),
        }
    }

    /// Adds bytes and returns every line that they complete.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Vec<FramedLine> {
        let mut framed = Vec::new();
        while let Some(end) = memchr(b'\n', bytes) {
            self.extend_line(&bytes[..end]);
            framed.push(self.finish_line());
            bytes = &bytes[end + 1..];
        }
        self.extend_line(bytes);
        framed
    }

    /// Returns the last line if the stream ended without a line end.
    pub(super) fn finish(&mut self) -> Option<FramedLine> {
        let empty = matches!(&self.line, PartialLine::Buffered(line) if line.is_empty());
        (!empty).then(|| self.finish_line())
    }

    fn extend_line(&mut self, more: &[u8]) {
        match &mut self.line {
            PartialLine::Buffered(line) if line.len() + more.len() <= self.cap => {
                line.extend_from_slice(more)
            }
            PartialLine::Buffered(line) => {
                let bytes = (line.len() + more.len()) as u64;
                let head = line
                    .iter()
                    .chain(more)
                    .take(OVERLONG_HEAD_BYTES)
                    .copied()
                    .collect();
                self.line = PartialLine::Overlong { bytes, head };
            }
            PartialLine::Overlong { bytes, head } => {
                *bytes += more.len() as u64;
                let wanted = OVERLONG_HEAD_BYTES
                    .saturating_sub(head.len())
                    .min(more.len());
                head.extend_from_slice(&more[..wanted]);
            }
        }
    }

    fn finish_line(&mut self) -> FramedLine {
        match std::mem::replace(&mut self.line, PartialLine::Buffered(Vec::new())) {
            PartialLine::Overlong { bytes, head } => FramedLine::TooLong {
                bytes,
                head: decode_utf8_lossy(head),
            },
            PartialLine::Buffered(mut line) => {
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                FramedLine::Line(decode_utf8_lossy(line))
            }
        }
    }
}

/// Converts bytes into text, without a copy if they are valid UTF-8.
pub(super) fn decode_utf8_lossy(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(invalid) => String::from_utf8_lossy(invalid.as_bytes()).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(cap: usize, chunks: &[&[u8]], expected: &str) {
        let mut framer = LineFramer::new(cap);
        let mut framed: Vec<FramedLine> =
            chunks.iter().flat_map(|chunk| framer.push(chunk)).collect();
        framed.extend(framer.finish());
        let told: Vec<String> = framed.into_iter().map(format_framed).collect();
        assert_eq!(told.join("|"), expected);
    }

    fn format_framed(framed: FramedLine) -> String {
        match framed {
            FramedLine::Line(line) => line,
            FramedLine::TooLong { bytes, head } => format!("<{bytes} bytes, {} told>", head.len()),
        }
    }

    #[test]
    fn lines_are_put_together_from_pieces() {
        check(99, &[b"o", b"ne\ntw", b"o\r", b"\n\nlast"], "one|two||last");
    }

    #[test]
    fn a_character_may_be_split_between_pieces() {
        check(99, &[b"\xe2\x82", b"\xac\n"], "\u{20ac}");
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        check(99, &[b"a\xffb\n"], "a\u{fffd}b");
    }

    #[test]
    fn an_over_long_line_is_told_and_the_next_one_is_whole() {
        let long = vec![b'x'; 5000];
        check(
            4096,
            &[&long[..3000], &long[..2000], b"\nnext\n"],
            "<5000 bytes, 1024 told>|next",
        );
        check(
            4,
            &[b"12345\n1234\n", b"12", b"345"],
            "<5 bytes, 5 told>|1234|<5 bytes, 5 told>",
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn any_split_gives_the_same_lines(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..200),
            cuts in proptest::collection::vec(1usize..20, 0..50),
            cap in 1usize..40,
        ) {
            let run = |cuts: &[usize]| {
                let mut framer = LineFramer::new(cap);
                let (mut framed, mut rest) = (Vec::new(), &bytes[..]);
                for cut in cuts {
                    let (chunk, after) = rest.split_at((*cut).min(rest.len()));
                    framed.extend(framer.push(chunk));
                    rest = after;
                }
                framed.extend(framer.push(rest));
                framed.extend(framer.finish());
                framed
            };
            prop_assert_eq!(run(&cuts), run(&[]));
        }
    }
}
