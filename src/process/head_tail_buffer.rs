//! Keeps the beginning and the end of an output of unknown length.

use std::collections::VecDeque;

/// An output: complete up to a limit; beyond it the beginning and the end, with the size of the gap.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CapturedOutput {
    /// The beginning; everything if nothing was dropped.
    pub head: Vec<u8>,
    /// How many bytes between head and tail were dropped.
    pub n_dropped: u64,
    /// The end; empty if nothing was dropped.
    pub tail: Vec<u8>,
}

impl CapturedOutput {
    /// Returns the output as text, with invalid UTF-8 replaced and the gap described.
    pub fn to_text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        if self.n_dropped > 0 {
            text.push_str(&format!("\n[… {} bytes left out …]\n", self.n_dropped));
        }
        text.push_str(&String::from_utf8_lossy(&self.tail));
        text
    }

    /// Returns the bytes if nothing was dropped.
    pub fn complete_bytes(&self) -> Option<&[u8]> {
        (self.n_dropped == 0).then_some(&self.head)
    }

    /// Converts the output into its bytes if nothing was dropped.
    pub fn into_complete_bytes(self) -> Option<Vec<u8>> {
        (self.n_dropped == 0).then_some(self.head)
    }
}

/// Collects an output while it arrives.
#[derive(Debug)]
pub(super) struct HeadTailBuffer {
    head_cap: usize,
    tail_cap: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    n_dropped: u64,
}

impl HeadTailBuffer {
    /// Keeps `cap` bytes: half from the beginning, half from the end.
    pub(super) fn new(cap: usize) -> Self {
        let head_cap = cap / 2;
        Self {
            head_cap,
            tail_cap: cap - head_cap,
            head: Vec::new(),
            tail: VecDeque::new(),
            n_dropped: 0,
        }
    }

    /// Keeps `cap` bytes from the end.
    pub(super) fn tail_only(cap: usize) -> Self {
        Self {
            head_cap: 0,
            tail_cap: cap,
            head: Vec::new(),
            tail: VecDeque::new(),
            n_dropped: 0,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(self.head_cap - self.head.len()));
        self.head.extend_from_slice(first);
        let excess = (self.tail.len() + rest.len()).saturating_sub(self.tail_cap);
        self.n_dropped += excess as u64;
        let from_tail = excess.min(self.tail.len());
        self.tail.drain(..from_tail);
        self.tail.extend(&rest[excess - from_tail..]);
    }

    pub(super) fn finish(mut self) -> CapturedOutput {
        if self.n_dropped == 0 {
            self.head.extend(self.tail);
            return CapturedOutput {
                head: self.head,
                n_dropped: 0,
                tail: Vec::new(),
            };
        }
        CapturedOutput {
            head: self.head,
            n_dropped: self.n_dropped,
            tail: self.tail.into(),
        }
    }

    /// Returns the last lines of the kept output as text.
    pub(super) fn last_lines(&mut self, n_lines: usize) -> String {
        let text = String::from_utf8_lossy(self.tail.make_contiguous());
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(n_lines)..].join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cap: usize, chunks: &[&str], expected: &str) {
        let mut capture = HeadTailBuffer::new(cap);
        for chunk in chunks {
            capture.push(chunk.as_bytes());
        }
        let CapturedOutput {
            head,
            n_dropped,
            tail,
        } = capture.finish();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        assert_eq!(
            format!("{} {} {}", text(head), n_dropped, text(tail)),
            expected
        );
    }

    #[test]
    fn an_output_within_the_cap_is_whole() {
        check(8, &["abc", "defgh"], "abcdefgh 0 ");
    }

    #[test]
    fn of_a_longer_output_both_ends_are_kept() {
        check(4, &["abcdefgh"], "ab 4 gh");
        check(4, &["a", "b", "c", "d", "e"], "ab 1 de");
        check(0, &["abc"], " 3 ");
    }

    #[test]
    fn the_last_lines_are_those_at_the_end() {
        let mut capture = HeadTailBuffer::tail_only(100);
        capture.push(b"one\ntwo\nthree\n");
        assert_eq!(capture.last_lines(2), "two\nthree");
    }
}
