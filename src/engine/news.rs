//! Turns what a CLI told into news for the log and the screens, cleaned on the way.
//!
//! This is the one way by which agent text becomes an event. Deltas are for the view alone and are
//! not events.

use crate::adapter::{
    AdapterEvent, CliTurnOutcome, FileChange, FileChangeKind, ToolStatus, TurnFailure,
    TurnFailureKind,
};
use crate::domain::event::AgentActivity;
use crate::domain::session::SessionUsage;
use crate::domain::step_calls::MOVE_PREFIX;
use crate::domain::turn::{TurnOutcome, UsageLimit};
use crate::text::question_heuristic::find_question;
use crate::text::{clean_prefix, clean_suffix, clean_text, truncate};

/// The longest block of text that an event holds, in bytes; the raw stream has the rest.
const MAX_TEXT: usize = 64 * 1024;
/// How much of the end of a longer one is kept, in bytes.
const END: usize = 8 * 1024;
/// How much of a tool's output an event holds, in lines at its beginning and end.
const OUTPUT_LINES: (usize, usize) = (20, 40);
/// Up to how many bytes all of an output is cleaned.
const WHOLE: usize = 512 * 1024;
/// What is said of the lines between them.
const LEFT_OUT: &str = "left out here; raw.jsonl of the session has them";
/// How much of what changed in a file an event holds: lines at the beginning and the end, and bytes.
const DIFF_LINES: (usize, usize) = (120, 40);
const MAX_DIFF: usize = 16 * 1024;
/// The longest line for people, in characters.
const MAX_LINE: usize = 300;
/// The most characters of an id that is told back; no id of this program's has as many.
const MAX_ID: usize = 80;
/// The longest name of a call, in characters: its card opens to all of a command.
const MAX_TITLE: usize = 2_000;
/// In how many bytes at the beginning of a text that line is looked for.
const LINE_BYTES: usize = 16 * 1024;

/// Translates what concerns nobody but the reader; `None` for what the engine itself acts on and for deltas.
pub fn of(event: &AdapterEvent) -> Option<AgentActivity> {
    Some(match event {
        AdapterEvent::Text { text, .. } => AgentActivity::Text { text: said(text) },
        AdapterEvent::Thinking { text, .. } => AgentActivity::Thinking { text: block(text) },
        AdapterEvent::ToolStarted { item, tool, title } => AgentActivity::ToolStarted {
            item: line(item),
            tool: line(tool),
            title: line_of(title, MAX_TITLE),
        },
        AdapterEvent::ToolEnded {
            item,
            status,
            exit_code,
            output,
        } => AgentActivity::ToolEnded {
            item: line(item),
            status: tool_status(*status).to_owned(),
            exit_code: *exit_code,
            output: tool_output(output),
        },
        AdapterEvent::FilesChanged { item, changes } => files_changed(item, changes),
        AdapterEvent::CallDenied { tool, reason } => AgentActivity::CallDenied {
            tool: line(tool),
            reason: line(reason),
        },
        AdapterEvent::Retrying {
            attempt,
            max,
            reason,
        } => AgentActivity::Retrying {
            reason: retrying(*attempt, *max, reason),
        },
        AdapterEvent::Notice { text } => AgentActivity::Notice { text: line(text) },
        AdapterEvent::Unknown { kind, .. } => AgentActivity::Unknown { frame: line(kind) },
        AdapterEvent::Malformed { line: raw, .. } if is_prose(raw) => {
            AgentActivity::Notice { text: line(raw) }
        }
        AdapterEvent::Malformed { problem, .. } => AgentActivity::Malformed {
            problem: line(problem),
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
        | AdapterEvent::ApprovalRequested { .. }
        | AdapterEvent::HookApprovalRequested { .. }
        | AdapterEvent::QuestionAsked { .. }
        | AdapterEvent::RequestWithdrawn { .. }
        | AdapterEvent::ToolBlocked { .. }
        | AdapterEvent::Usage(_)
        | AdapterEvent::PlanUse { .. }
        | AdapterEvent::TurnEnded(_) => return None,
    })
}

/// The beginning and the end of what a tool said. What stands between them in a long one is not cleaned: nobody is
/// told it here.
fn tool_output(text: &str) -> String {
    if text.len() <= WHOLE {
        let text = truncate::to_lines_with_note(&clean_text(text), OUTPUT_LINES, LEFT_OUT);
        return with_end(text);
    }
    let (n_first, n_last) = OUTPUT_LINES;
    let beginning = clean_prefix(text, MAX_TEXT);
    let first = truncate::first_lines(&beginning, n_first);
    let end = clean_suffix(text, MAX_TEXT);
    let last = truncate::last_lines(&end, n_last);
    let n_lines = text.lines().count();
    let n_left = n_lines.saturating_sub(first.lines().count() + last.lines().count());
    let ellipsis = truncate::ELLIPSIS;
    with_end(format!(
        "{}\n{ellipsis} {n_left} lines {LEFT_OUT} {ellipsis}\n{last}",
        first.trim_end_matches('\n')
    ))
}

fn retrying(attempt: Option<u32>, max: Option<u32>, reason: &str) -> String {
    match (attempt, max) {
        (Some(attempt), Some(max)) => format!("{} (attempt {attempt} of {max})", line(reason)),
        (Some(attempt), None) => format!("{} (attempt {attempt})", line(reason)),
        (None, _) => line(reason),
    }
}

fn tool_status(status: ToolStatus) -> &'static str {
    match status {
        ToolStatus::Completed => "completed",
        ToolStatus::Failed => "failed",
        ToolStatus::Declined => "declined",
        ToolStatus::Abandoned => "abandoned",
    }
}

fn files_changed(item: &str, changes: &[FileChange]) -> AgentActivity {
    let path = |change: &FileChange| line(&change.path.to_string_lossy());
    let told = changes.iter().filter(|change| !change.diff.is_empty());
    AgentActivity::FilesChanged {
        item: line(item),
        paths: changes.iter().map(|c| (path(c), change(&c.kind))).collect(),
        diffs: told.map(|change| (path(change), diff(change))).collect(),
    }
}

/// The lines that a change takes and brings. Of a file that comes or goes whole a CLI may tell the text alone.
fn diff(change: &FileChange) -> String {
    let text = truncate::to_lines(&block(&change.diff), DIFF_LINES.0, DIFF_LINES.1);
    let sign = match &change.kind {
        _ if text.starts_with("@@ ") => return truncate::to_bytes(&text, MAX_DIFF),
        FileChangeKind::Add => "+",
        FileChangeKind::Delete => "-",
        FileChangeKind::Update | FileChangeKind::Move(_) => "",
    };
    let signed: Vec<String> = text.lines().map(|line| format!("{sign}{line}")).collect();
    truncate::to_bytes(&signed.join("\n"), MAX_DIFF)
}

fn change(kind: &FileChangeKind) -> String {
    match kind {
        FileChangeKind::Add => "add".to_owned(),
        FileChangeKind::Update => "update".to_owned(),
        FileChangeKind::Delete => "delete".to_owned(),
        FileChangeKind::Move(to) => format!("{MOVE_PREFIX}{}", line(&to.to_string_lossy())),
    }
}

/// Cleans a block of text and bounds it.
pub fn block(text: &str) -> String {
    truncate::to_bytes(&clean_prefix(text, MAX_TEXT), MAX_TEXT)
}

/// What an agent said, as [`block`]; a longer text ends with how long it is and where more of it stands.
fn said(text: &str) -> String {
    let cleaned = clean_prefix(text, MAX_TEXT);
    if cleaned.len() <= MAX_TEXT {
        return cleaned;
    }
    let kept = truncate::to_bytes(&cleaned, MAX_TEXT);
    let n_bytes = text.len();
    format!(
        "{kept}\n\n[cut: the text has {n_bytes} bytes; raw.jsonl of its session has more of it]"
    )
}

/// As [`block`], with its end kept where it is too long: there stands what it comes to.
pub fn block_with_end(text: &str) -> String {
    with_end(clean_text(text))
}

/// Bounds a cleaned text; its end is kept.
fn with_end(text: String) -> String {
    if text.len() <= MAX_TEXT {
        return text;
    }
    let head = truncate::to_bytes(&text, MAX_TEXT - END);
    let from = (text.len() - END..text.len()).find(|at| text.is_char_boundary(*at));
    let end = from.and_then(|from| text.get(from..)).unwrap_or_default();
    format!("{head}\n{end}")
}

/// Cleans a text to one line for people.
pub fn line(text: &str) -> String {
    line_of(text, MAX_LINE)
}

/// An id or a name as somebody gave it, to be told back: of a long one the beginning.
pub fn id(text: &str) -> String {
    line_of(text, MAX_ID)
}

fn line_of(text: &str, most: usize) -> String {
    let clean = clean_prefix(text.trim_start(), LINE_BYTES);
    truncate::to_chars(
        &clean.split_whitespace().collect::<Vec<_>>().join(" "),
        most,
    )
}

/// Translates a CLI's running totals.
pub fn usage(usage: &crate::adapter::CliUsageTotals) -> SessionUsage {
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

/// Translates a turn's end for the workflow; `other` is the adapter that its role could move to.
pub fn result(end: &CliTurnOutcome, other: Option<String>) -> TurnOutcome {
    match end {
        CliTurnOutcome::Completed { final_text } => TurnOutcome::Completed {
            question: find_question(final_text).map(|question| block(&question)),
            summary: summary(final_text),
        },
        CliTurnOutcome::Interrupted => TurnOutcome::Interrupted,
        CliTurnOutcome::Failed(failure) => failed(failure, other),
    }
}

/// The first line of a message that says something, as people would quote it.
fn summary(text: &str) -> String {
    let first = text
        .lines()
        .map(|line| line.trim_start_matches(['#', '*', '-', ' ']))
        .find(|line| !line.is_empty());
    line(first.unwrap_or_default())
}

fn failed(failure: &TurnFailure, other: Option<String>) -> TurnOutcome {
    let is_limit = failure.kind == TurnFailureKind::UsageLimit;
    TurnOutcome::Failed {
        kind: kind_word(failure.kind).to_owned(),
        message: block(&failure.message),
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

/// A failure's kind as a word.
pub fn kind_word(kind: TurnFailureKind) -> &'static str {
    match kind {
        TurnFailureKind::Login => "login",
        TurnFailureKind::RateLimit => "rate limit",
        TurnFailureKind::UsageLimit => "usage limit",
        TurnFailureKind::Service => "service",
        TurnFailureKind::Connection => "connection",
        TurnFailureKind::ContextFull => "context full",
        TurnFailureKind::Refused => "refused",
        TurnFailureKind::Protocol => "protocol",
    }
}

/// Tells whether a line is meant for people: a CLI that stumbles says so in words, in between its frames.
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
            of(&AdapterEvent::Malformed { problem, line })
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

    fn told(text: String) -> String {
        let item = "1".to_owned();
        match of(&AdapterEvent::Text { item, text }) {
            Some(AgentActivity::Text { text }) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_text_that_is_too_long_says_how_long_it_is_and_where_more_of_it_stands() {
        assert_eq!(told("short\u{1b}[31m".to_owned()), "short");
        let kept = told("a line of it\n".repeat(100_000));
        let told =
            "…\n\n[cut: the text has 1300000 bytes; raw.jsonl of its session has more of it]";
        assert!(kept.ends_with(told), "{}", &kept[kept.len() - 200..]);
        assert!(kept.len() < MAX_TEXT + 200);
    }

    #[test]
    fn of_a_long_output_beginning_and_end_are_told_and_how_much_is_between() {
        let output = |n: usize| (1..=n).map(|n| format!("line {n}\n")).collect::<String>();
        assert_eq!(tool_output(&output(3)), output(3));
        for n in [1_000, 100_000] {
            let told = tool_output(&output(n));
            assert!(told.starts_with("line 1\nline 2\n"), "{told}");
            assert!(
                told.ends_with(&format!("line {}\nline {n}\n", n - 1)),
                "{told}"
            );
            assert_eq!(told.lines().count(), 61, "{told}");
            assert_eq!(truncate::count_omitted_lines(&told), n - 60);
        }
        let told = tool_output(&format!("a{}z", "\u{1b}[31mx".repeat(1 << 20)));
        assert!(told.starts_with("ax") && told.ends_with("xz"));
        assert!(told.len() <= MAX_TEXT + 200);
    }

    #[test]
    fn a_secret_across_the_cut_of_a_long_output_is_told_to_nobody() {
        let lines = "a line\n".repeat(30);
        let (before, after) = ("a word, ".repeat(100_000), "a word, ".repeat(8_189));
        let secret = r#""api_key":"correct-horse-battery-staple","#;
        let told = tool_output(&format!("{lines}{{{before}{secret}{after}}}"));
        assert!(told.contains("a word, a word") && told.ends_with("a word, }"));
        assert!(!told.contains("staple"), "{told}");
    }

    #[test]
    fn a_line_is_that_of_the_first_words() {
        let long = format!("\n\n  many\twords {}", "and more ".repeat(100_000));
        assert!(line(&long).starts_with("many words and more and more"));
        assert_eq!(line(&long).chars().count(), MAX_LINE);
        assert_eq!(line(" few "), "few");
    }
}
