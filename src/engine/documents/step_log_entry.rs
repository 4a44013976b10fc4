//! Formats the log.md entry of a step. Plain lines; no file name can forge another entry.

use crate::domain::plan_execution::{StepAssessment, StepOutcome, StepRecord};
use crate::domain::receipt::Receipt;
use crate::engine::agent_activity;
use crate::engine::run_log_entries::join_paths;

/// Returns the number of the last step that log.md records.
pub(super) fn last_logged_step(log: &str) -> Option<u32> {
    let heading = log.lines().rfind(|line| line.starts_with("## Step "))?;
    let digits = heading["## Step ".len()..].split(':').next()?;
    digits.trim().parse().ok()
}

/// Formats the log.md entry of a step.
pub(super) fn format_step_entry(record: &StepRecord, at: &str) -> String {
    let mut lines = vec![format!(
        "\n## Step {}: {}\n",
        record.n,
        agent_activity::clean_line(&record.text)
    )];
    lines.push(format!("- time: {at}"));
    if !record.summary.is_empty() {
        lines.push(format!("- summary: {}", record.summary));
    }
    if !record.changed.is_empty() {
        lines.push(format!("- changed: {}", join_paths(&record.changed)));
    }
    lines.push(format!("- tests: {}", record.describe_tests()));
    lines.extend(record.receipt.as_ref().and_then(test_command_line));
    if let Some(decided) = record.decided {
        let why = record.skip_words();
        lines.push(format!("- decided: {}{why}", decided.describe()));
    }
    if record.fix_turns > 0 {
        lines.push(format!("- fix turns: {}", record.fix_turns));
    }
    if !record.made_by_tests.is_empty() {
        lines.push(format!(
            "- made by the tests, not committed: {}",
            join_paths(&record.made_by_tests)
        ));
    }
    if !record.left_out.is_empty() {
        lines.push(format!(
            "- left uncommitted, yours: {}",
            join_paths(&record.left_out)
        ));
    }
    if !record.users_edits.is_empty() {
        lines.push(format!(
            "- changed in the meantime, not by this step: {}",
            join_paths(&record.users_edits)
        ));
    }
    lines.push(match &record.outcome {
        StepOutcome::Committed {
            commit, message, ..
        } => format!("- commit: {commit} {message}"),
        StepOutcome::Uncommitted { reason } => format!("- commit: none, {reason}"),
        StepOutcome::NoChange => format!("- commit: none, it {}", StepAssessment::CHANGED_NOTHING),
    });
    lines.push(String::new());
    lines.join("\n")
}

/// Formats the test command of a receipt with its duration.
fn test_command_line(receipt: &Receipt) -> Option<String> {
    let status = receipt
        .exit_code
        .map_or("no exit status".to_owned(), |code| {
            format!("exit status {code}")
        });
    let origin = receipt.origin.as_ref();
    let origin = origin.map_or(String::new(), |origin| format!(" ({})", origin.describe()));
    let line = format!(
        "- test command: `{}`{origin}, {status}, {} ms",
        receipt.command, receipt.duration_ms
    );
    (!receipt.command.is_empty()).then_some(line)
}
