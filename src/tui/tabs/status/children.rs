//! The children of a run on Status: below whom each stands, and what it is at.
//!
//! Refuses to know how one is opened or stopped: `/sessions` offers that.

use ratatui::style::Style;

use super::{Row, row};
use crate::domain::ids::{At, SessionId};
use crate::domain::run::State;
use crate::domain::task::{Child, TaskStatus};
use crate::domain::turn::Role;
use crate::tui::theme;
use crate::tui::words::elapsed;

/// The rows of a run's children, as a tree; none where it has none.
pub(super) fn rows(state: &State, now: At) -> Vec<Row> {
    // Who speaks in a discussion stands with it.
    let is_task = |child: &&Child| child.order.speaks.is_none();
    if !state.children.iter().any(|child| is_task(&child)) {
        return Vec::new();
    }
    let mut rows = Vec::new();
    let callers = [
        ("planner", state.session(Role::Planner)),
        ("reviewer", state.session(Role::Reviewer)),
    ];
    let mut of = |name: &str, parent: Option<&SessionId>| {
        let own: Vec<&Child> = state
            .children
            .iter()
            .filter(is_task)
            .filter(|child| child.order.parent.as_ref() == parent)
            .collect();
        for (at, child) in own.iter().enumerate() {
            let branch = if at + 1 == own.len() { "└" } else { "├" };
            let (text, style) = in_words(child, now);
            let name = if at == 0 { name } else { " " };
            let text = format!("{branch} {}  {text}", child.order.name());
            rows.push(Row::new(name, &text, style));
        }
    };
    of("you", None);
    for (name, session) in callers {
        if let Some(session) = session {
            of(name, Some(&session.id));
        }
    }
    rows.push(row(" ", "/sessions opens one, or stops it"));
    rows
}

/// Where a child's task stands, in a line.
pub fn in_words(child: &Child, now: At) -> (String, Style) {
    let title = &child.order.description;
    let calls = match child.tool_calls {
        0 => String::new(),
        1 => ", 1 call".to_owned(),
        n => format!(", {n} calls"),
    };
    let took = child.took_ms.map(|took| {
        let ended = At(i64::try_from(took).unwrap_or(i64::MAX));
        format!(" in {}", elapsed(At(0), ended))
    });
    let took = took.unwrap_or_default();
    match (child.status, child.began_at) {
        (TaskStatus::Running, None) => {
            let text = format!("waits for its turn: {title}");
            (text, theme::QUIET)
        }
        (TaskStatus::Running, Some(since)) => {
            let doing = child.doing.as_ref().map(|doing| format!(": {doing}"));
            let doing = doing.unwrap_or_default();
            let place = match child.order.tree {
                Some(_) => " in a tree of its own",
                None => "",
            };
            let text = format!(
                "running for {}{place}{calls}: {title}{doing}",
                elapsed(since, now)
            );
            (text, theme::PLAIN)
        }
        (status, _) => {
            let style = match status {
                TaskStatus::Completed => theme::GOOD,
                _ => theme::BAD,
            };
            let patch = child.patch.as_ref();
            let patch = patch.map(|patch| format!("; {}", patch.in_words()));
            let patch = patch.unwrap_or_default();
            (
                format!("{}{took}{calls}: {title}{patch}", status.name()),
                style,
            )
        }
    }
}
