//! The Status tab as lines of text, each with its label: linear mode prints them uncut.

use super::status_context::StatusContext;
use super::status_row::StatusRow;
use super::status_tables::{self, VerdictForm};
use super::{agent_rows, child_table, discussion_rows, review_rows, run_rows, timeline_bars};
use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;
use crate::domain::turn::Role;
use crate::tui::labels;
use crate::tui::text_wrap::to_one_line;

/// Rows that are cut to a width have room for all they say.
const LINE_COLUMNS: usize = 400;

/// Returns the lines, a heading before each section.
pub(super) fn status_lines(
    state: &RunState,
    about: StatusContext<'_>,
    now: UnixMillis,
) -> Vec<String> {
    let last = state.course.last_event_at();
    let end = last.filter(|_| state.phase.is_final()).unwrap_or(now);
    let clock = about.clock;
    let mut run = run_rows::stage_rows(state, about, now);
    run.extend(run_rows::activity_row(state, about, now));
    run.extend(run_rows::setting_rows(state, about));
    run.extend(run_rows::proof_rows(state));
    let reviews = status_tables::review_table(state, clock, VerdictForm::Whole);
    let mut reviews = reviews.labeled_rows();
    let unopened = review_rows::unopened_files(state).into_iter();
    reviews.extend(unopened.map(|text| format!("Reviewer: {text}")));
    let findings = review_rows::labelled_findings(state).into_iter();
    reviews.extend(findings.map(|(label, finding)| {
        let text = to_one_line(&finding.describe_in_line());
        format!("{label}: {text}")
    }));
    let mut lines = section("Run", labeled(&run));
    lines.extend(section("Reviews", reviews));
    let tasks = child_table::child_table(state, end).labeled_rows();
    lines.extend(section("Tasks", tasks));
    let discussions = discussion_rows::discussion_rows(state, end);
    lines.extend(section("Discussions", labeled(&discussions)));
    lines.extend(section("Time", timeline_bars::time_sums(state, end)));
    let steps = status_tables::step_table(state, end).labeled_rows();
    lines.extend(section("Steps", steps));
    for role in [Role::Planner, Role::Reviewer] {
        let rows = agent_rows::role_rows(state, role, about, now, LINE_COLUMNS);
        lines.extend(section(labels::role_title(role), labeled(&rows)));
    }
    let turns = status_tables::turn_table(state, end, clock).labeled_rows();
    lines.extend(section("Last turns", turns));
    lines.extend(section(
        "Details",
        labeled(&run_rows::detail_rows(state, about)),
    ));
    lines
}

fn section(title: &str, rows: Vec<String>) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let rows = rows.into_iter().map(|row| format!("  {row}"));
    std::iter::once(format!("{title}:")).chain(rows).collect()
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
