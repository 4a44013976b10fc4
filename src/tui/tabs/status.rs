//! Tab: sessions, timeline, reviews, steps, checks and usage of the run.

mod agent_rows;
mod child_table;
mod discussion_rows;
mod review_rows;
mod run_rows;
mod status_context;
mod status_lines;
mod status_page;
mod status_row;
mod status_tab;
mod status_tables;
mod timeline_bars;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

pub use agent_rows::{usage_bar, usage_style};
use review_rows::FindingForm;
pub use status_context::AdapterSandboxView;
use status_context::StatusContext;
use status_page::{StatusPage, StatusSection};
use status_row::{StatusRow, lay_out_rows};
pub use status_tab::StatusTab;
use status_tables::{StatusTable, VerdictForm};

use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;
use crate::domain::turn::Role;
use crate::tui::labels;
use crate::tui::scroll_view::ScrollView;
use crate::tui::text_wrap::wrap_trusted_text;
use crate::tui::theme;

/// Draws the run, its agents, steps and limits.
fn draw(
    page: &mut ScrollView,
    frame: &mut Frame,
    area: Rect,
    about: StatusContext<'_>,
    now: UnixMillis,
) {
    let area = Rect {
        x: area.x + 1,
        width: area.width.saturating_sub(1),
        ..area
    };
    let columns = usize::from(area.width);
    match about.state {
        Some(state) => {
            lay_out(state, about, now, columns).show_in(page, usize::from(area.height));
        }
        None => page.set_lines(wrap_trusted_text("No run yet.", columns, theme::QUIET)),
    }
    page.draw(frame, area);
}

/// How wide rows of text are at most, with their names.
const MAX_TEXT_COLUMNS: usize = 114;
/// From this width on, the verdict of a review is whole beside the counts.
const MIN_VERDICT_COLUMNS: usize = 56;
/// Below this width tables have fewer columns.
const MIN_TABLE_COLUMNS: usize = 60;
/// From this width on, the reviews have the columns of their time and their answers.
const MIN_WHOLE_REVIEW_COLUMNS: usize = 90;

/// Lays out all sections: first what happens now, last what seldom matters.
fn lay_out(
    state: &RunState,
    about: StatusContext<'_>,
    now: UnixMillis,
    columns: usize,
) -> StatusPage {
    // Durations of a finished run end at its last event, not now.
    let last = state
        .course
        .last_event_at()
        .filter(|_| state.phase.is_final());
    let end = last.unwrap_or(now);
    let mut page = StatusPage::new(columns);
    let text_columns = columns.min(MAX_TEXT_COLUMNS);
    let is_narrow = columns < MIN_TABLE_COLUMNS;
    // In a narrow window the first columns would take the place of what the row is about.
    let table = |title, table: StatusTable, less: &[&str]| {
        let table = table.without_columns(if is_narrow { less } else { &[] });
        StatusSection::new(title, table.lay_out(columns))
    };
    let mut less = vec!["Took", "Commit", "Proof", "Fixes"];
    // The sign of a step says that its tests passed.
    less.extend((!status_tables::has_failing_tests(state)).then_some("Tests"));
    let steps = status_tables::step_table(state, end);
    let steps = StatusSection {
        // It explains a column that a narrow table leaves out.
        remark: if is_narrow {
            String::new()
        } else {
            status_tables::proof_words(state)
        },
        ..table("Steps", steps, &less)
    };
    push_run(&mut page, state, about, now, steps);
    page.push(StatusSection::new("Tasks", task_lines(state, end, columns)));
    let discussions = discussion_rows::discussion_rows(state, end);
    page.push(StatusSection::new(
        "Discussions",
        lay_out_rows(&discussions, text_columns),
    ));
    let timeline = StatusSection {
        remark: timeline_bars::axis_remark(state, end, about.clock),
        ..StatusSection::new(
            "Timeline",
            timeline_bars::timeline_lines(state, end, columns),
        )
    };
    let agents = agent_sections(state, about, now, page.pair_columns());
    if page.has_pairs() {
        page.push(timeline);
        page.push_pair(agents);
    } else {
        page.push_pair(agents);
        page.push(timeline);
    }
    let turns = status_tables::turn_table(state, end, about.clock);
    page.push(table("Last turns", turns, &["At", "Took", "Cost", "End"]));
    let mut details = run_rows::detail_rows(state, about);
    if !page.has_pairs() {
        details.splice(0..0, run_rows::setting_rows(state, about));
    }
    page.push(StatusSection::new(
        "Details",
        lay_out_rows(&details, text_columns),
    ));
    page
}

/// Adds the run, its steps and its reviews. Without room for two boxes the run is only what happens now, and the steps are
/// next to it.
fn push_run(
    page: &mut StatusPage,
    state: &RunState,
    about: StatusContext<'_>,
    now: UnixMillis,
    steps: StatusSection,
) {
    let has_pairs = page.has_pairs();
    let half = page.pair_columns();
    let reviews = review_section(state, about, half, has_pairs);
    let mut rows = run_rows::stage_rows(state, about, now);
    if has_pairs {
        rows.extend(run_rows::setting_rows(state, about));
    } else {
        rows.extend(run_rows::activity_row(state, about, now));
    }
    rows.extend(run_rows::proof_rows(state));
    let columns = if reviews.body.is_empty() {
        page.lone_columns().min(MAX_TEXT_COLUMNS)
    } else {
        half
    };
    let run = StatusSection::new("Run", lay_out_rows(&rows, columns));
    if has_pairs {
        page.push_pair([run, reviews]);
        page.push(steps);
    } else {
        page.push(run);
        page.push(steps);
        page.push(reviews);
    }
}

/// Lays out the reviews, and the findings that are not settled.
fn review_section(
    state: &RunState,
    about: StatusContext<'_>,
    columns: usize,
    is_card: bool,
) -> StatusSection {
    let has_room = state.findings.residual().next().is_none() && columns >= MIN_VERDICT_COLUMNS;
    let verdict = if has_room {
        VerdictForm::Whole
    } else {
        VerdictForm::OneWord
    };
    let table = status_tables::review_table(state, about.clock, verdict);
    let table = if is_card || columns < MIN_WHOLE_REVIEW_COLUMNS {
        table.without_columns(&["At", "Answers"])
    } else {
        table
    };
    let mut lines = table.lay_out(columns);
    let form = if is_card {
        FindingForm::Cut
    } else {
        FindingForm::Whole
    };
    lines.extend(review_rows::review_lines(state, columns, form));
    StatusSection::new("Review", lines)
}

/// Lays out what is known of each agent.
fn agent_sections(
    state: &RunState,
    about: StatusContext<'_>,
    now: UnixMillis,
    columns: usize,
) -> [StatusSection; 2] {
    [Role::Planner, Role::Reviewer].map(|role| {
        let rows = agent_rows::role_rows(state, role, about, now, columns);
        StatusSection {
            // Agents have the same color here as in the chat.
            style: theme::role_style(role),
            is_agent: true,
            ..StatusSection::new(labels::role_title(role), lay_out_rows(&rows, columns))
        }
    })
}

/// Renders the child sessions, and a hint to the command that manages them.
fn task_lines(state: &RunState, now: UnixMillis, columns: usize) -> Vec<Line<'static>> {
    let mut lines = child_table::child_table(state, now).lay_out(columns);
    if !lines.is_empty() {
        let hint = StatusRow::new("", "open or stop one with /sessions", theme::QUIET);
        lines.extend(hint.lay_out(columns));
    }
    lines
}
