//! How a tool ended, and the end of what it said.
//!
//! Refuses to keep a long output: the session's raw stream has it.

use crate::text::truncate;
use crate::tui::text_wrap::{clean_for_display, to_one_line};

/// How many bytes of a tool's output are kept.
const MAX_OUTPUT_BYTES: usize = 8 << 10;
/// What is said of a call that did not go ahead.
pub(super) const DENIED_LABEL: &str = "refused";

/// How a tool ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCallOutcome {
    /// What is worth saying of it: nothing where it just went well.
    pub(super) status: String,
    /// Whether it went well.
    pub(super) kind: ToolOutcomeKind,
    /// The last line of its output, where it went badly.
    pub(super) detail: Option<String>,
    /// The end of its output, drawable.
    pub(super) output: String,
    /// How many lines all of it has, where that is not all of it.
    pub(super) n_lines: Option<usize>,
}

/// Whether a tool did what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolOutcomeKind {
    /// It did what it should.
    Succeeded,
    /// It did not.
    Failed,
    /// Its turn ended before it did.
    Abandoned,
}

impl ToolCallOutcome {
    /// Says how a tool ended, by the CLI's word, its exit code and its output.
    pub fn from_status(word: &str, exit_code: Option<i32>, output: &str) -> Self {
        let is_bad_word = matches!(word, "failed" | "error" | "declined" | "denied");
        let code = exit_code.filter(|code| *code != 0);
        let outcome = match code.is_some() || is_bad_word {
            true => ToolOutcomeKind::Failed,
            false if word == "abandoned" => ToolOutcomeKind::Abandoned,
            false => ToolOutcomeKind::Succeeded,
        };
        let status = match (word, code) {
            ("completed", None) => String::new(),
            ("abandoned", None) => "ended with its turn".to_owned(),
            ("completed" | "failed", Some(code)) => format!("exit {code}"),
            (word, Some(code)) => format!("{word}, exit {code}"),
            (word, None) => word.to_owned(),
        };
        // One word for one thing, whichever CLI says it.
        let status = status
            .replace("declined", DENIED_LABEL)
            .replace("denied", DENIED_LABEL);
        let last = output.lines().rev().find(|line| !line.trim().is_empty());
        Self {
            status: clean_for_display(&status),
            kind: outcome,
            detail: last
                .filter(|_| outcome == ToolOutcomeKind::Failed)
                .map(|line| to_one_line(&truncate::to_bytes(line, 400))),
            output: output_tail(output),
            n_lines: total_lines(output),
        }
    }

    /// A call that was never made, and why.
    pub fn not_run(why: &str) -> Self {
        Self {
            status: why.to_owned(),
            kind: ToolOutcomeKind::Abandoned,
            detail: None,
            output: String::new(),
            n_lines: None,
        }
    }

    /// How many bytes it holds.
    pub fn n_bytes(&self) -> usize {
        self.status.len() + self.output.len() + self.detail.as_ref().map_or(0, String::len)
    }
}

/// How many lines a tool's output has, where more of it is known than is kept here, or was than is told.
fn total_lines(output: &str) -> Option<usize> {
    let output = output.trim_end();
    let n_not_there = truncate::count_omitted_lines(output);
    let n_notes = usize::from(n_not_there > 0);
    let is_cut = n_not_there > 0 || output.len() > MAX_OUTPUT_BYTES;
    is_cut.then(|| output.lines().count() - n_notes + n_not_there)
}

/// The end of a tool's output, whole lines of it.
fn output_tail(output: &str) -> String {
    let output = output.trim_end();
    let mut from = output.len().saturating_sub(MAX_OUTPUT_BYTES);
    while !output.is_char_boundary(from) {
        from += 1;
    }
    match output.get(from..) {
        Some(end) if from > 0 => {
            clean_for_display(end.split_once('\n').map_or(end, |(_, rest)| rest))
        }
        Some(end) => clean_for_display(end),
        None => String::new(),
    }
}
