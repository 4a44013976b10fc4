//! Renders the threads about the plan: each with its place, what was said, and its status.

use super::comments_entry::{CommentsEntry, EntryMargin, code_parts};
use crate::domain::plan_thread::{PlanThread, ThreadAuthor};
use crate::domain::run::RunState;
use crate::text::pluralize;
use crate::tui::labels::author_label;
use crate::tui::markdown::to_plain_line;
use crate::tui::scroll_view::ScrollTarget;
use crate::tui::text_wrap::{to_one_line, truncate_to_columns};
use crate::tui::theme;

/// The longest quotation of a line.
const MAX_QUOTE_COLUMNS: usize = 80;

/// Adds the threads that are about no finding, those that are not resolved first.
pub(super) fn add_threads(entries: &mut Vec<CommentsEntry>, state: &RunState, plan: &[&str]) {
    let all = state.threads.all().iter();
    let mut listed: Vec<&PlanThread> = all.filter(|thread| thread.finding.is_none()).collect();
    if listed.is_empty() {
        return;
    }
    listed.sort_by_key(|thread| thread.is_resolved);
    let n_open = listed.iter().filter(|thread| !thread.is_resolved).count();
    let count = format!("{n_open} of {} open", pluralize(listed.len(), "thread"));
    entries.push(CommentsEntry::blank());
    entries.push(CommentsEntry::new(&count, theme::STRONG));
    for thread in listed {
        entries.push(CommentsEntry::blank());
        let first = entries.len();
        let style = if thread.is_resolved {
            theme::QUIET
        } else {
            theme::PLAIN
        };
        let parts = vec![
            (format!("{}. ", thread.n), style),
            (describe_place(thread, plan), theme::QUIET),
        ];
        entries.push(CommentsEntry {
            margin: EntryMargin::Sign(thread_symbol(thread), style),
            ..CommentsEntry::from_parts(parts, 3)
        });
        entries.extend(message_entries(thread));
        let status = format!("{}{}", thread.describe_status(), describe_change(thread));
        entries.push(CommentsEntry::new(&status, theme::QUIET));
        for entry in &mut entries[first..] {
            entry.set_mark(ScrollTarget::Note(thread.n));
        }
    }
}

/// Returns what was said in the threads about a finding.
pub(super) fn finding_messages(state: &RunState, n: u32) -> Vec<CommentsEntry> {
    let threads = state.threads.of_finding(n);
    let mut entries: Vec<CommentsEntry> = threads.flat_map(message_entries).collect();
    for entry in &mut entries {
        entry.set_mark(ScrollTarget::Finding(n));
    }
    entries
}

/// Returns the sign of a thread: open, or resolved.
fn thread_symbol(thread: &PlanThread) -> &'static str {
    if thread.is_resolved { "☑" } else { "✎" }
}

fn describe_place(thread: &PlanThread, plan: &[&str]) -> String {
    // The checkbox of a step says nothing here.
    let quote = to_plain_line(&thread.quote).replacen("[ ] ", "", 1);
    let quote = truncate_to_columns(&quote, MAX_QUOTE_COLUMNS);
    match (thread.line, thread.find_line(plan)) {
        (0, _) => "the whole plan".to_owned(),
        (_, Some(at)) => format!("line {}: {quote}", at + 1),
        (_, None) => format!("stale, its line is gone: {quote}"),
    }
}

/// Says in which version of the plan the line changed.
fn describe_change(thread: &PlanThread) -> String {
    match thread.changed_in {
        Some(version) => format!(" · its line changed for review {version}"),
        None => String::new(),
    }
}

fn message_entries(thread: &PlanThread) -> Vec<CommentsEntry> {
    let entry = |(author, text): (ThreadAuthor, &str)| {
        let (name, style) = author_label(author);
        let text = format!(" {}", to_one_line(text));
        let mut parts = vec![("▎ ".to_owned(), style), (name.to_owned(), style)];
        parts.extend(code_parts(&text, theme::PLAIN));
        CommentsEntry::from_parts(parts, 2)
    };
    thread.messages().map(entry).collect()
}
