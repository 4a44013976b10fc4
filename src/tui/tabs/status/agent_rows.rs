//! The rows about an agent: its CLI, its usage and limits, its todo list, its sandbox and its session.

use ratatui::style::Style;

use super::status_context::StatusContext;
use super::status_row::{StatusRow, TEXT_INDENT, plain_row};
use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;
use crate::domain::session::{AccountUsageWindow, Session, SessionUsage, version_label};
use crate::domain::todo_list::TodoStatus;
use crate::domain::turn::Role;
use crate::text::{pluralize, truncate};
use crate::tui::labels::{self, LocalClock, format_dollars, format_tokens, format_until};
use crate::tui::text_wrap::{text_width, to_one_line};
use crate::tui::theme;

/// How wide the bars are.
const BAR_COLUMNS: usize = 10;
/// How many characters of a session's id are shown, with the mark of what is cut.
const ID_CHARS: usize = 9;

/// Returns what is known of a role's agent; one row if the role has none.
pub(super) fn role_rows(
    state: &RunState,
    role: Role,
    about: StatusContext<'_>,
    now: UnixMillis,
    columns: usize,
) -> Vec<StatusRow> {
    match state.session(role) {
        Some(session) => session_rows(state, role, session, about, now, columns),
        None => vec![plain_row("CLI", "none, the plan is not reviewed")],
    }
}

fn session_rows(
    state: &RunState,
    role: Role,
    session: &Session,
    about: StatusContext<'_>,
    now: UnixMillis,
    columns: usize,
) -> Vec<StatusRow> {
    let cli = match session.version.as_deref() {
        Some(version) => version_label(&session.adapter, version),
        None => session.adapter.clone(),
    };
    let cli = session.with_model(&cli);
    let mut rows = vec![plain_row("CLI", &cli)];
    let all = state.course.role_usage(role);
    let used = if all.input_tokens > 0 {
        &all
    } else {
        &session.usage
    };
    rows.extend(usage_row(used));
    rows.extend(context_row(&session.usage));
    let room = columns.saturating_sub(TEXT_INDENT);
    rows.extend(account_usage_rows(&session.plan, about.clock, now, room));
    rows.extend(todo_rows(session));
    if let Some(from) = &session.moved_from {
        let text = format!("from {from}, continued here with a recovery prompt");
        rows.push(StatusRow::new("Moved", &text, theme::BAD));
    } else if session.degraded {
        let text = "The CLI lost the session once. It continued with a recovery prompt";
        rows.push(StatusRow::new("Degraded", text, theme::BAD));
    }
    // What does not change comes last.
    let sandboxes = about.sandboxes.iter();
    let own = sandboxes.filter(|sandbox| sandbox.adapter == session.adapter);
    rows.extend(own.map(|sandbox| plain_row("Sandbox", &sandbox.summary)));
    rows.extend(session_row(state, role, session));
    rows
}

/// Renders the beginning of the session's id, its number of messages, and the process that runs; nothing before it starts.
fn session_row(state: &RunState, role: Role, session: &Session) -> Option<StatusRow> {
    let id = session.external_id.as_deref();
    let id = id.map(|id| truncate::to_chars(&to_one_line(id), ID_CHARS));
    let n_messages = session.n_messages;
    let messages = (n_messages > 0).then(|| pluralize(n_messages as usize, "message"));
    let running = state.running.as_ref();
    let running = running.filter(|turn| turn.order.purpose.role() == role);
    let process = running.and_then(|turn| turn.process.as_ref());
    let process = process.map(|process| format!("process {}", process.pid));
    let parts: Vec<String> = [id, messages, process].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| plain_row("Session", &parts.join(" · ")))
}

/// Renders the agent's todo list.
fn todo_rows(session: &Session) -> Vec<StatusRow> {
    let items = session.todos.items().iter();
    let rows = items.enumerate().map(|(n, todo)| {
        let (sign, style) = match todo.status {
            TodoStatus::Pending => ("☐", theme::PLAIN),
            TodoStatus::InProgress => ("▸", theme::STRONG),
            TodoStatus::Completed => ("☑", theme::QUIET),
        };
        let name = if n == 0 { "Todos" } else { "" };
        StatusRow::new(name, &format!("{sign} {}", todo.content), style)
    });
    rows.collect()
}

/// Renders the token usage; nothing before the first answer.
fn usage_row(usage: &SessionUsage) -> Option<StatusRow> {
    if usage.input_tokens == 0 && usage.output_tokens == 0 {
        return None;
    }
    let cost = usage.cost_micro_usd.filter(|micro| *micro > 0);
    let cost = cost.map_or(String::new(), |micro| {
        format!(" · {}", format_dollars(micro))
    });
    let text = format!(
        "{} in · {} out{cost}",
        format_tokens(usage.input_tokens),
        format_tokens(usage.output_tokens)
    );
    Some(plain_row("Tokens", &text))
}

/// Renders how full the model's context is, if the CLI reports it.
fn context_row(usage: &SessionUsage) -> Option<StatusRow> {
    let window = usage.context_window.filter(|window| *window > 0)?;
    let Some(used) = usage.context_tokens else {
        let text = format!(
            "{} tokens (the CLI does not report how full it is)",
            format_tokens(window)
        );
        return Some(plain_row("Context", &text));
    };
    let percent = used.min(window) * 100 / window;
    let text = format!(
        "{} {percent}% of {} tokens",
        usage_bar(percent, BAR_COLUMNS),
        format_tokens(window)
    );
    Some(StatusRow::new("Context", &text, usage_style(percent)))
}

/// Renders how much of the account's usage limits is used, and when they reset, if the CLI reports it.
fn account_usage_rows(
    windows: &[AccountUsageWindow],
    clock: LocalClock,
    now: UnixMillis,
    room: usize,
) -> Vec<StatusRow> {
    let row = |(n, window): (usize, &AccountUsageWindow)| {
        let percent = u64::from(window.used_percent);
        let span = window.minutes.map_or(String::new(), |minutes| {
            format!(" of {}", labels::format_minutes(minutes))
        });
        let bar = usage_bar(percent, BAR_COLUMNS);
        let text = format!("{bar} {percent}%{span}");
        let text = match window.resets_at {
            Some(at) if at > now => {
                let text = format!("{text}, resets {}", clock.time_with_day(at, now));
                let whole = format!("{text} ({})", format_until(at, now));
                // Without room the time itself is enough.
                if text_width(&whole) <= room {
                    whole
                } else {
                    text
                }
            }
            Some(_) => format!("{text}, has reset since then"),
            None => text,
        };
        let name = if n == 0 { "Limits" } else { "" };
        StatusRow::new(name, &text, usage_style(percent))
    };
    windows.iter().enumerate().map(row).collect()
}

/// Renders a percentage as a bar of so many columns.
pub fn usage_bar(percent: u64, columns: usize) -> String {
    let percent = usize::try_from(percent.min(100)).unwrap_or(0);
    // What is used shows, however little it is.
    let filled = (percent * columns / 100).max(usize::from(percent > 0));
    format!("{}{}", "█".repeat(filled), "░".repeat(columns - filled))
}

/// Highlights a limit that is nearly reached.
pub fn usage_style(percent: u64) -> Style {
    match percent {
        90.. => theme::BAD,
        _ => theme::PLAIN,
    }
}
