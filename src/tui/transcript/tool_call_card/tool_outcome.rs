//! The result of a tool call, with the end of its output. The session's raw stream has the full output.

use crate::domain::event::ToolStatus;
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
    /// Creates the result from the CLI's status, the exit code and the output.
    pub fn from_status(status: &ToolStatus, exit_code: Option<i32>, output: &str) -> Self {
        let code = exit_code.filter(|code| *code != 0);
        let outcome = match (status, code) {
            (ToolStatus::Failed | ToolStatus::Declined, _) | (_, Some(_)) => {
                ToolOutcomeKind::Failed
            }
            (ToolStatus::Abandoned, None) => ToolOutcomeKind::Abandoned,
            (ToolStatus::Completed | ToolStatus::Other(_), None) => ToolOutcomeKind::Succeeded,
        };
        let word = match status {
            ToolStatus::Declined => DENIED_LABEL.to_owned(),
            status => status.to_string(),
        };
        let status = match (status, code) {
            (ToolStatus::Completed, None) => String::new(),
            (ToolStatus::Abandoned, None) => "ended with its turn".to_owned(),
            (ToolStatus::Completed | ToolStatus::Failed, Some(code)) => format!("exit {code}"),
            (_, Some(code)) => format!("{word}, exit {code}"),
            (_, None) => word,
        };
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
