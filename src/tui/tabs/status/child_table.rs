//! The table of child sessions on the Status tab: each below its parent, with its current activity.
//!
//! `/sessions` opens and stops them.

use ratatui::style::Style;

use super::status_tables::StatusTable;
use crate::domain::child_activity::ChildActivity;
use crate::domain::event_wording::describe_tool_call;
use crate::domain::ids::{SessionId, UnixMillis};
use crate::domain::run::RunState;
use crate::domain::task::{ChildSession, TaskStatus};
use crate::domain::turn::Role;
use crate::tui::labels::format_elapsed;
use crate::tui::text_wrap::to_one_line;
use crate::tui::theme;

const COLUMN_TITLES: &[&str] = &["Given by", "Agent", "CLI", "Time", "Calls", "What"];

/// Returns the run's child sessions, each below the session that started it; empty if there are none.
pub(super) fn child_table(state: &RunState, now: UnixMillis) -> StatusTable {
    let callers = [
        ("planner", state.session(Role::Planner)),
        ("reviewer", state.session(Role::Reviewer)),
    ];
    let callers = callers
        .into_iter()
        .filter_map(|(name, session)| Some((name, Some(&session?.id))));
    let mut rows = Vec::new();
    for (caller, parent) in std::iter::once(("you", None)).chain(callers) {
        rows.extend(rows_below_caller(caller, parent, state, now));
    }
    StatusTable::new(COLUMN_TITLES, rows)
}

type ChildCells = Vec<(String, Style)>;

fn rows_below_caller(
    caller: &str,
    parent: Option<&SessionId>,
    state: &RunState,
    now: UnixMillis,
) -> Vec<ChildCells> {
    let own: Vec<&ChildSession> = state
        .children
        .iter()
        .filter(|child| child.order.parent.as_ref() == parent)
        // Participants of a discussion are listed with it.
        .filter(|child| child.order.speaks.is_none())
        .collect();
    let mut rows = Vec::new();
    for (at, child) in own.iter().enumerate() {
        let branch = if at + 1 == own.len() { "└" } else { "├" };
        let caller = if at == 0 { caller } else { "" };
        let mut cells = vec![(format!("{caller:<8} {branch}"), theme::QUIET)];
        cells.extend(child_cells(child, now));
        rows.push(cells);
    }
    rows
}

/// Returns the cells of a child: its mark and name, its CLI, its duration, its number of calls, and its
/// activity or result.
fn child_cells(child: &ChildSession, now: UnixMillis) -> [(String, Style); 5] {
    let (mark, style) = match (child.status, child.began_at) {
        (TaskStatus::Running, None) => ("○", theme::QUIET),
        (TaskStatus::Running, Some(_)) => ("◐", theme::PLAIN),
        (TaskStatus::Completed, _) => ("✓", theme::GOOD),
        (_, _) => ("✗", theme::BAD),
    };
    let took = child.took_ms.and_then(|took| i64::try_from(took).ok());
    let time = match (took, child.began_at) {
        (Some(took), _) => format_elapsed(UnixMillis(0), UnixMillis(took)),
        (None, Some(since)) => format_elapsed(since, now),
        (None, None) => String::new(),
    };
    let calls = match child.tool_calls {
        0 => String::new(),
        n => n.to_string(),
    };
    let stands = match (child.status, child.began_at) {
        (TaskStatus::Completed, _) | (TaskStatus::Running, Some(_)) => String::new(),
        _ => format!("{}: ", child.status_label()),
    };
    let doing = child.doing.as_ref().filter(|_| child.began_at.is_some());
    let doing = doing.map(|doing| match doing {
        ChildActivity::Call {
            tool,
            title,
            detail,
        } => {
            let (verb, subject) = describe_tool_call(tool, title, detail.as_ref());
            format!(" › {verb}{subject}")
        }
        ChildActivity::Patch(state) => format!(" › {}", state.label()),
    });
    let place = child.order.tree.as_ref().filter(|_| child.is_running());
    let place = place.map_or("", |_| " (in its own working tree)");
    let patch = child.patch.as_ref();
    let patch = patch.map(|patch| format!(", {}", patch.describe()));
    let what = format!(
        "{stands}{}{place}{}{}",
        child.order.description,
        doing.unwrap_or_default(),
        patch.unwrap_or_default()
    );
    [
        (
            format!("{mark} {}", to_one_line(&child.order.short_name())),
            style,
        ),
        (to_one_line(&child.order.adapter), theme::QUIET),
        (time, style),
        (calls, style),
        (to_one_line(&what), style),
    ]
}
