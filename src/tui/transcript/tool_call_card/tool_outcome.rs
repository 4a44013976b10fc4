//! The result of a tool call, with the end of its output. The session's raw stream has the full output.

use crate::text::truncate;
use crate::tui::text_wrap::{clean_for_display, to_one_line};

/// How many bytes of a tool's output are kept.
const MAX_OUTPUT_BYTES: usize = 8 << 10;
/// Shown for a call that was denied.
pub(super) const DENIED_LABEL: &str = "denied";

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCallOutcome {
    /// The status to show; empty for plain success.
    pub(super) status: String,
    pub(super) kind: ToolOutcomeKind,
    /// The last line of the output, if the call failed.
    pub(super) detail: Option<String>,
    /// The end of the output, cleaned for display.
    pub(super) output: String,
    /// The number of lines of the full output, if only a part of it is kept.
    pub(super) n_lines: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolOutcomeKind {
    Succeeded,
    Failed,
    /// Its turn ended before the tool did.
    Abandoned,
}

impl ToolCallOutcome {
    /// Creates the result from the CLI's status word, the exit code and the output.
    pub fn from_status(word: &str, exit_code: Option<i32>, output: &str) -> Self {
        let is_bad_word = matches!(word, "failed" | "error" | "declined" | "denied");
        let code = exit_code.filter(|code| *code != 0);
        let outcome = if code.is_some() || is_bad_word {
            ToolOutcomeKind::Failed
        } else if word == "abandoned" {
            ToolOutcomeKind::Abandoned
        } else {
            ToolOutcomeKind::Succeeded
        };
        let status = match (word, code) {
            ("completed", None) => String::new(),
            ("abandoned", None) => "ended with its turn".to_owned(),
            ("completed" | "failed", Some(code)) => format!("exit {code}"),
            (word, Some(code)) => format!("{word}, exit {code}"),
            (word, None) => word.to_owned(),
        };
        // CLIs use different words for a denied call; the screen uses one.
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

    /// Creates the result of a call that never ran, with the reason.
    pub fn not_run(why: &str) -> Self {
        Self {
            status: why.to_owned(),
            kind: ToolOutcomeKind::Abandoned,
            detail: None,
            output: String::new(),
            n_lines: None,
        }
    }

    /// Returns the size of its text in bytes.
    pub fn n_bytes(&self) -> usize {
        self.status.len() + self.output.len() + self.detail.as_ref().map_or(0, String::len)
    }
}

/// Returns the number of lines of the full output if lines are missing: cut here, or omitted by the sender.
fn total_lines(output: &str) -> Option<usize> {
    let output = output.trim_end();
    let n_not_there = truncate::count_omitted_lines(output);
    let n_notes = usize::from(n_not_there > 0);
    let is_cut = n_not_there > 0 || output.len() > MAX_OUTPUT_BYTES;
    is_cut.then(|| output.lines().count() - n_notes + n_not_there)
}

/// Returns the end of an output, in whole lines.
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
