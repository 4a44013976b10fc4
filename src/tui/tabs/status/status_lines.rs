//! The Status tab as lines of text, each with its label: linear mode prints them uncut.

use super::{
    StatusContext, StatusRow, check_rows, discussion_rows, review_rows, run_rows, session_rows,
    timeline_bars,
};
use super::{child_table, status_tables};
use crate::domain::findings::{Finding, FindingOutcome};
use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;
use crate::domain::turn::Role;
use crate::tui::labels;
use crate::tui::text_wrap::to_one_line;

/// Returns the lines, a heading before each section.
pub(super) fn status_lines(
    state: &RunState,
    about: StatusContext<'_>,
    now: UnixMillis,
) -> Vec<String> {
    let last = state.course.last_event_at();
    let end = last.filter(|_| state.phase.is_final()).unwrap_or(now);
    let clock = about.clock;
    let mut reviews = status_tables::review_table(state, clock).labeled_rows();
    reviews.extend(labeled(&review_rows(state)));
    reviews.extend(finding_lines(state));
    let mut lines = section("Run", labeled(&run_rows(state, about, now)));
    lines.extend(section("Reviews", reviews));
    let tasks = child_table::child_table(state, end).labeled_rows();
    lines.extend(section("Tasks", tasks));
    let discussions = discussion_rows::discussion_rows(state, end);
    lines.extend(section("Discussions", labeled(&discussions)));
    lines.extend(section("Time", timeline_bars::time_sums(state, end)));
    let steps = status_tables::step_table(state, end).labeled_rows();
    lines.extend(section("Steps", steps));
    for role in [Role::Planner, Role::Reviewer] {
        let rows = state.session(role);
        let rows = rows.map(|session| session_rows(state, role, session, about, now));
        let rows = labeled(&rows.unwrap_or_default());
        lines.extend(section(labels::role_title(role), rows));
    }
    lines.extend(section("Checks", labeled(&check_rows(state))));
    let turns = status_tables::turn_table(state, end, clock).labeled_rows();
    lines.extend(section("Last turns", turns));
    lines
}

fn section(title: &str, rows: Vec<String>) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let rows = rows.into_iter().map(|row| format!("  {row}"));
    std::iter::once(format!("{title}:")).chain(rows).collect()
}

/// Returns the findings that are disputed, left open or rejected.
fn finding_lines(state: &RunState) -> Vec<String> {
    let all = state.findings.all().iter();
    let rejected = all.filter(|finding| finding.outcome() == FindingOutcome::Rejected);
    let line = |label: &str, finding: &Finding| {
        format!("{label}: {}", to_one_line(&finding.describe_in_line()))
    };
    let disputed = state.findings.disputed().map(|f| line("Disputed", f));
    let residual = state.findings.residual().map(|f| line("Left open", f));
    let rejected = rejected.map(|f| line("Rejected", f));
    disputed.chain(residual).chain(rejected).collect()
}

/// Returns each row with its label; a row without one has that of the row before.
fn labeled(rows: &[StatusRow]) -> Vec<String> {
    let mut label = "";
    let mut lines = Vec::new();
    for row in rows {
        if !row.name.trim().is_empty() {
            label = row.name.trim();
        }
        // A bar says what the percentage behind it says.
        let text = row.text.trim_matches([' ', '█', '░']);
        lines.push(format!("{label}: {text}"));
    }
    lines
}
