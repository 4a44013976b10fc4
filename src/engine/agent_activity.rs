//! Turns adapter events into activity events for the log and the screens, and cleans their text.
//!
//! All text of agents becomes an event here and nowhere else. Deltas are for the view only and are not events.

use crate::adapter::{
    AdapterEvent, CliTurnOutcome, FileChange, FileChangeKind, TurnFailure, TurnFailureKind,
};
use crate::domain::event::tampering::RestoredFile;
use crate::domain::event::{AgentActivity, PathChange, ToolCallDetail, ToolKind};
use crate::domain::session::SessionUsage;
use crate::domain::step_result::{StepResult, StepResultKind, split_result};
use crate::domain::turn::{TurnOutcome, TurnPurpose, UsageLimit};
use crate::text::question_heuristic::find_question;
use crate::text::{clean_prefix, clean_suffix, clean_text, pluralize, truncate};

/// The longest block of text in an event, in bytes; the raw stream has the rest.
const MAX_TEXT_BYTES: usize = 64 * 1024;
/// How much of the end of a longer block is kept, in bytes.
const TEXT_END_BYTES: usize = 8 * 1024;
/// How much of a tool's output an event contains: lines at the beginning and at the end.
const MAX_OUTPUT_LINES: (usize, usize) = (20, 40);
/// Output up to this many bytes is cleaned as a whole.
const MAX_FULLY_CLEANED_BYTES: usize = 512 * 1024;
/// Describes the lines that are left out between beginning and end.
const OMITTED_LINES_TEXT: &str = "left out here; raw.jsonl of the session has them";
/// How much of a file's change an event contains: lines at the beginning and at the end, and bytes.
const MAX_DIFF_LINES: (usize, usize) = (120, 40);
const MAX_DIFF_BYTES: usize = 16 * 1024;
/// The longest single line for display, in characters.
const MAX_LINE_CHARS: usize = 300;
/// How many restored files the failure of a turn names; the event before it names them all.
const MAX_NAMED_FILES: usize = 3;
/// The longest id that is echoed to its sender, in characters; the program's own ids are shorter.
const MAX_ID_CHARS: usize = 80;
/// The longest title of a call, in characters, because its card can show the whole command.
const MAX_TITLE_CHARS: usize = 2_000;
/// How many bytes at the beginning of a text are searched for a line.
const LINE_SEARCH_BYTES: usize = 16 * 1024;

/// Translates an event that is only for display; returns `None` for deltas and for events that the engine acts on.
pub fn to_activity(event: &AdapterEvent) -> Option<AgentActivity> {
    Some(match event {
        AdapterEvent::Text { text, .. } => AgentActivity::Text {
            text: clean_agent_text(text),
        },
        AdapterEvent::Thinking { text, .. } => AgentActivity::Thinking {
            text: clean_block(text),
        },
        AdapterEvent::ToolStarted {
            item,
            tool,
            title,
            detail,
            ..
        } => AgentActivity::ToolStarted {
            item: clean_line(item),
            tool: clean_tool_kind(tool),
            title: clean_line_up_to(title, MAX_TITLE_CHARS),
            detail: Some(clean_call_detail(detail)),
        },
        AdapterEvent::ToolEnded {
            item,
            status,
            exit_code,
            output,
        } => AgentActivity::ToolEnded {
            item: clean_line(item),
            status: status.clone(),
            exit_code: *exit_code,
            output: clean_tool_output(output),
        },
        AdapterEvent::FilesChanged { item, changes } => files_changed_activity(item, changes),
        AdapterEvent::CallDenied { tool, reason } => AgentActivity::CallDenied {
            tool: clean_line(tool),
            reason: clean_line(reason),
        },
        AdapterEvent::Retrying {
            attempt,
            max,
            reason,
        } => AgentActivity::Retrying {
            reason: clean_line(reason),
            attempt: *attempt,
            max: *max,
        },
        AdapterEvent::Notice { text } => AgentActivity::Notice {
            text: clean_line(text),
        },
        AdapterEvent::Unknown { kind, .. } => AgentActivity::Unknown {
            frame: clean_line(kind),
        },
        AdapterEvent::Malformed { line: raw, .. } if is_prose(raw) => AgentActivity::Notice {
            text: clean_line(raw),
        },
        AdapterEvent::Malformed { problem, .. } => AgentActivity::Malformed {
            problem: clean_line(problem),
        },
        AdapterEvent::Ready { .. }
        | AdapterEvent::SessionOpened { .. }
        | AdapterEvent::SessionLost { .. }
        | AdapterEvent::TurnStarted
        | AdapterEvent::TextDelta { .. }
        | AdapterEvent::ThinkingDelta { .. }
        | AdapterEvent::BlockWithdrawn { .. }
        | AdapterEvent::ToolOutput { .. }
        | AdapterEvent::InputUndelivered { .. }
        | AdapterEvent::ApprovalRequested(_)
        | AdapterEvent::QuestionAsked { .. }
        | AdapterEvent::RequestWithdrawn { .. }
        | AdapterEvent::ToolBlocked { .. }
        | AdapterEvent::Usage(_)
        | AdapterEvent::PlanUse { .. }
        | AdapterEvent::TurnEnded(_) => return None,
    })
}

fn clean_tool_kind(tool: &ToolKind) -> ToolKind {
    match tool {
        ToolKind::Other(name) => ToolKind::from(clean_line(name)),
        known => known.clone(),
    }
}

fn clean_call_detail(detail: &ToolCallDetail) -> ToolCallDetail {
    match detail {
        ToolCallDetail::Edit(paths) => {
            ToolCallDetail::Edit(paths.iter().map(|path| clean_line(path)).collect())
        }
        known => known.clone(),
    }
}

/// Returns the beginning and the end of a tool's output. The middle of a long output is left out and not cleaned.
fn clean_tool_output(text: &str) -> String {
    if text.len() <= MAX_FULLY_CLEANED_BYTES {
        let text = truncate::to_lines_with_note(
            &clean_text(text),
            MAX_OUTPUT_LINES.0,
            MAX_OUTPUT_LINES.1,
            OMITTED_LINES_TEXT,
        );
        return truncate_keep_end(text);
    }
    let (n_first, n_last) = MAX_OUTPUT_LINES;
    let beginning = clean_prefix(text, MAX_TEXT_BYTES);
    let first = truncate::first_lines(&beginning, n_first);
    let end = clean_suffix(text, MAX_TEXT_BYTES);
    let last = truncate::last_lines(&end, n_last);
    let n_lines = text.lines().count();
    let n_left = n_lines.saturating_sub(first.lines().count() + last.lines().count());
    let ellipsis = truncate::ELLIPSIS;
    truncate_keep_end(format!(
        "{}\n{ellipsis} {n_left} lines {OMITTED_LINES_TEXT} {ellipsis}\n{last}",
        first.trim_end_matches('\n')
    ))
}

fn files_changed_activity(item: &str, changes: &[FileChange]) -> AgentActivity {
    let path = |change: &FileChange| clean_line(&change.path.to_string_lossy());
    let told = changes.iter().filter(|change| !change.diff.is_empty());
    AgentActivity::FilesChanged {
        item: clean_line(item),
        paths: changes
            .iter()
            .map(|c| (path(c), path_change(&c.kind)))
            .collect(),
        diffs: told
            .map(|change| (path(change), file_change_diff(change)))
            .collect(),
    }
}

/// Returns the removed and added lines of a change. For an added or deleted file, a CLI may send only its text.
fn file_change_diff(change: &FileChange) -> String {
    let text = truncate::to_lines(
        &clean_block(&change.diff),
        MAX_DIFF_LINES.0,
        MAX_DIFF_LINES.1,
    );
    let sign = match &change.kind {
        _ if text.starts_with("@@ ") => return truncate::to_bytes(&text, MAX_DIFF_BYTES),
        FileChangeKind::Add => "+",
        FileChangeKind::Delete => "-",
        FileChangeKind::Update | FileChangeKind::Move(_) => "",
    };
    let signed: Vec<String> = text.lines().map(|line| format!("{sign}{line}")).collect();
    truncate::to_bytes(&signed.join("\n"), MAX_DIFF_BYTES)
}

fn path_change(kind: &FileChangeKind) -> PathChange {
    match kind {
        FileChangeKind::Add => PathChange::Add,
        FileChangeKind::Update => PathChange::Update,
        FileChangeKind::Delete => PathChange::Delete,
        FileChangeKind::Move(to) => PathChange::Move(clean_line(&to.to_string_lossy())),
    }
}

/// Cleans a block of text and limits its length.
pub fn clean_block(text: &str) -> String {
    truncate::to_bytes(&clean_prefix(text, MAX_TEXT_BYTES), MAX_TEXT_BYTES)
}

/// Cleans an agent's text like [`clean_block`]; a cut text ends with its length and where to find more of it.
fn clean_agent_text(text: &str) -> String {
    let cleaned = clean_prefix(text, MAX_TEXT_BYTES);
    if cleaned.len() <= MAX_TEXT_BYTES {
        return cleaned;
    }
    let kept = truncate::to_bytes(&cleaned, MAX_TEXT_BYTES);
    let n_bytes = text.len();
    format!(
        "{kept}\n\n[cut: the text has {n_bytes} bytes; raw.jsonl of its session has more of it]"
    )
}

/// Cleans like [`clean_block`] but keeps the end of a text that is too long, because results are at the end.
pub fn clean_block_keep_end(text: &str) -> String {
    truncate_keep_end(clean_text(text))
}

/// Limits the length of a cleaned text and keeps its end.
fn truncate_keep_end(text: String) -> String {
    if text.len() <= MAX_TEXT_BYTES {
        return text;
    }
    let head = truncate::to_bytes(&text, MAX_TEXT_BYTES - TEXT_END_BYTES);
    let from = (text.len() - TEXT_END_BYTES..text.len()).find(|at| text.is_char_boundary(*at));
    let end = from.and_then(|from| text.get(from..)).unwrap_or_default();
    format!("{head}\n{end}")
}

/// Cleans a text to one line for display.
pub fn clean_line(text: &str) -> String {
    clean_line_up_to(text, MAX_LINE_CHARS)
}

/// Cleans an id or a name that is echoed to its sender; keeps the beginning of a long one.
pub fn clean_id(text: &str) -> String {
    clean_line_up_to(text, MAX_ID_CHARS)
}

fn clean_line_up_to(text: &str, most: usize) -> String {
    let clean = clean_prefix(text.trim_start(), LINE_SEARCH_BYTES);
    truncate::to_chars(
        &clean.split_whitespace().collect::<Vec<_>>().join(" "),
        most,
    )
}

/// Translates a CLI's running totals into the session's usage.
pub fn to_session_usage(usage: &crate::adapter::CliUsageTotals) -> SessionUsage {
    let micro = usage
        .cost_usd
        .filter(|cost| cost.is_finite() && *cost >= 0.0)
        .map(|cost| cost * 1e6);
    SessionUsage {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        // A cost beyond the range saturates; the cast of a finite, non-negative number is what `as` defines.
        cost_micro_usd: micro.map(|micro| micro.round() as u64),
        context_tokens: usage.context_tokens,
        context_window: usage.context_window,
    }
}

/// Translates the end of a turn for the workflow: `other` is the adapter that the role could move to, `stated` the
/// result of the step that its agent stated by a call. That one counts before one in the message.
pub fn to_turn_outcome(
    end: &CliTurnOutcome,
    purpose: &TurnPurpose,
    other: Option<String>,
    stated: Option<StepResult>,
) -> TurnOutcome {
    match end {
        CliTurnOutcome::Completed { final_text } => {
            let (result, message) = match purpose {
                TurnPurpose::Step { .. } | TurnPurpose::Fix { .. } => {
                    let (in_message, message) = split_result(final_text);
                    let result = stated.or(in_message);
                    let unstated = || StepResult::new(StepResultKind::Unstated, "");
                    (Some(result.unwrap_or_else(unstated)), message)
                }
                _ => (None, final_text.clone()),
            };
            TurnOutcome::Completed {
                question: find_question(&message).map(|question| clean_block(&question)),
                summary: summary_line(&message),
                result,
            }
        }
        CliTurnOutcome::Interrupted => TurnOutcome::Interrupted,
        CliTurnOutcome::Failed(failure) => to_failed_outcome(failure, other),
    }
}

/// Returns the first non-empty line of a message without Markdown markers, as a summary.
fn summary_line(text: &str) -> String {
    let first = text
        .lines()
        .map(|line| line.trim_start_matches(['#', '*', '-', ' ']))
        .find(|line| !line.is_empty());
    clean_line(first.unwrap_or_default())
}

/// Returns the outcome of a turn during which the program's own files were changed: whatever it did, the user decides
/// whether to continue.
pub fn to_tampered_outcome(restored: &[RestoredFile]) -> TurnOutcome {
    let paths: Vec<&str> = restored.iter().map(|(path, _)| path.as_str()).collect();
    let files = match paths.split_at_checked(MAX_NAMED_FILES) {
        Some((named, others)) if !others.is_empty() => {
            let others = pluralize(others.len(), "other");
            format!("{} and {others}", named.join(", "))
        }
        Some(_) | None => paths.join(", "),
    };
    TurnOutcome::Failed {
        kind: TurnFailureKind::TamperedFiles,
        message: format!(
            "something else changed files that only agent-collab writes, and they were restored: {files}"
        ),
        transient: false,
        limit: None,
        other: None,
    }
}

fn to_failed_outcome(failure: &TurnFailure, other: Option<String>) -> TurnOutcome {
    let is_limit = failure.kind == TurnFailureKind::UsageLimit;
    TurnOutcome::Failed {
        kind: failure.kind.clone(),
        message: clean_block(&failure.message),
        transient: matches!(
            failure.kind,
            TurnFailureKind::Service | TurnFailureKind::Connection | TurnFailureKind::Protocol
        ),
        limit: is_limit.then_some(UsageLimit {
            resets_at: failure.resets_at,
        }),
        other,
    }
}

/// Returns whether a line is meant for people: a CLI in trouble prints plain text between its frames.
fn is_prose(line: &str) -> bool {
    !line.trim_start().is_empty() && !line.trim_start().starts_with(['{', '[', '"'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_in_words_between_the_frames_is_told_as_it_is_and_half_a_frame_as_none() {
        let told = |line: &str| {
            let (problem, line) = ("no JSON".to_owned(), line.to_owned());
            to_activity(&AdapterEvent::Malformed { problem, line })
        };
        let text = "Warning: the disk is full".to_owned();
        assert_eq!(
            told(&format!("\u{1b}[31m{text}")),
            Some(AgentActivity::Notice { text })
        );
        let problem = "no JSON".to_owned();
        assert_eq!(
            told(r#"{"type":"#),
            Some(AgentActivity::Malformed { problem })
        );
    }

    fn clean_event_text(text: String) -> String {
        let item = "1".to_owned();
        match to_activity(&AdapterEvent::Text { item, text }) {
            Some(AgentActivity::Text { text }) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_text_that_is_too_long_says_how_long_it_is_and_where_more_of_it_stands() {
        assert_eq!(clean_event_text("short\u{1b}[31m".to_owned()), "short");
        let kept = clean_event_text("a line of it\n".repeat(100_000));
        let told =
            "…\n\n[cut: the text has 1300000 bytes; raw.jsonl of its session has more of it]";
        assert!(kept.ends_with(told), "{}", &kept[kept.len() - 200..]);
        assert!(kept.len() < MAX_TEXT_BYTES + 200);
    }

    #[test]
    fn of_a_long_output_beginning_and_end_are_told_and_how_much_is_between() {
        let output = |n: usize| (1..=n).map(|n| format!("line {n}\n")).collect::<String>();
        assert_eq!(clean_tool_output(&output(3)), output(3));
        for n in [1_000, 100_000] {
            let told = clean_tool_output(&output(n));
            assert!(told.starts_with("line 1\nline 2\n"), "{told}");
            assert!(
                told.ends_with(&format!("line {}\nline {n}\n", n - 1)),
                "{told}"
            );
            assert_eq!(told.lines().count(), 61, "{told}");
            assert_eq!(truncate::count_omitted_lines(&told), n - 60);
        }
        let told = clean_tool_output(&format!("a{}z", "\u{1b}[31mx".repeat(1 << 20)));
        assert!(told.starts_with("ax") && told.ends_with("xz"));
        assert!(told.len() <= MAX_TEXT_BYTES + 200);
    }

    #[test]
    fn a_secret_across_the_cut_of_a_long_output_is_told_to_nobody() {
        let lines = "a line\n".repeat(30);
        let (before, after) = ("a word, ".repeat(100_000), "a word, ".repeat(8_189));
        let secret = r#""api_key":"correct-horse-battery-staple","#;
        let told = clean_tool_output(&format!("{lines}{{{before}{secret}{after}}}"));
        assert!(told.contains("a word, a word") && told.ends_with("a word, }"));
        assert!(!told.contains("staple"), "{told}");
    }

    #[test]
    fn a_line_is_that_of_the_first_words() {
        let long = format!("\n\n  many\twords {}", "and more ".repeat(100_000));
        assert!(clean_line(&long).starts_with("many words and more and more"));
        assert_eq!(clean_line(&long).chars().count(), MAX_LINE_CHARS);
        assert_eq!(clean_line(" few "), "few");
    }
}
