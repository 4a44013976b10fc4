//! Tab: the plan, with each step's progress, findings and notes at their lines; or a comparison with an
//! earlier version.

mod line_remark;
mod plan_line;
mod plan_parts;
mod plan_tab;
pub mod plan_view_state;
mod step_folding;
pub mod step_marks;

pub use plan_tab::PlanTab;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::screen_tab::{TabContext, limit_page_width};
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::question::QuestionKind;
use crate::domain::run::{RunState, notes_blocker};
use crate::domain::turn::TurnPurpose;
use crate::text::{count_changed_lines, describe_line_changes, front_matter};
use crate::tui::clickable_keys;
use crate::tui::command_table;
use crate::tui::document_texts::PlanVersion;
use crate::tui::keymap::{ActiveKeymap, ComposerFocus};
use crate::tui::scroll_view::{ScrollContent, ScrollTarget};
use crate::tui::text_comparison::{self, ComparisonSide};
use crate::tui::text_wrap::{line_width, text_width, wrap_spans, wrap_trusted_text};
use crate::tui::theme;
use line_remark::{LineRemark, add_remarks_without_line, line_remarks};
use plan_line::PageColumns;
use plan_parts::{PlanContent, plan_parts, separate_steps, separated_steps};
use plan_view_state::{PlanViewState, first_body_line};

/// Draws the plan with its steps and what the review found at its lines.
fn draw(
    tab: &mut PlanTab,
    frame: &mut Frame,
    area: Rect,
    context: &TabContext<'_>,
    now: UnixMillis,
) {
    let PlanTab {
        page,
        view: reading,
        proof_board: board,
        written_at,
    } = tab;
    let (texts, keymap, state) = (context.documents, context.keymap, context.state);
    let reading = &*reading;
    let columns = usize::from(area.width);
    let page_columns = page_columns(area, reading);
    let mut hasher = DefaultHasher::new();
    (columns, texts.plan.revision, reading.selected_line()).hash(&mut hasher);
    (
        reading.compared_version(),
        reading.form,
        texts.plan_versions.len(),
        texts.plan_version(),
        *written_at,
        frame.area().height >= MIN_ROWS_OF_BLANKS,
    )
        .hash(&mut hasher);
    let earlier = reading
        .compared_version()
        .and_then(|at| texts.plan_versions.get(at));
    let Some(text) = &texts.plan.text else {
        let none = describe_missing_plan(state);
        none.hash(&mut hasher);
        page.lay_out(hasher.finish(), || {
            wrap_trusted_text(none, columns, theme::QUIET)
        });
        return page.draw(frame, area);
    };
    if let Some(earlier) = earlier {
        page.follow_target(None);
        page.lay_out(hasher.finish(), || {
            let earlier = (earlier, texts.plan_versions.len());
            lay_out_comparison(text, earlier.0, earlier.1, reading, keymap, page_columns)
        });
        return page.draw(frame, area);
    }
    let marks = step_marks::step_marks(state, board, now);
    let remarks = line_remarks(text, context);
    let at_work = state.and_then(|state| step_folding::current_step(&marks, state));
    let folds = reading.is_folded() && at_work.is_some() && !page.is_searching();
    let room = PlanRoom {
        page: page_columns,
        rows: usize::from(area.height),
        may_fold: folds,
        window_rows: frame.area().height,
    };
    let picked = SelectedLine::new(reading.selected_line(), &remarks, context);
    let content = PlanContent {
        text,
        marks: &marks,
        remarks: &remarks,
        picked: &picked,
        step_test: state.and_then(step_test),
    };
    (&marks, &remarks, folds, area.height).hash(&mut hasher);
    (&picked, content.step_test).hash(&mut hasher);
    page.lay_out(hasher.finish(), || {
        let open = keymap.key_label("open", ComposerFocus::Unfocused);
        let mut laid = lay_out(&content, room, &open);
        let version = format!("plan.md · version {}", texts.plan_version());
        let time = written_at.map(|at| context.clock.time_with_minutes(at));
        let dated = time.map(|time| format!("{version} · {time}"));
        add_version(&mut laid, [dated, Some(version)], columns);
        laid
    });
    page.follow_target(at_work.map(ScrollTarget::Step));
    page.draw(frame, area);
}

/// Returns the columns of the text, which is not wider than that of other tabs; the version is at the right edge of the
/// pane.
fn page_columns(area: Rect, reading: &PlanViewState) -> PageColumns {
    let text_area = if reading.is_side_by_side() {
        area
    } else {
        limit_page_width(area)
    };
    PageColumns::new(usize::from(text_area.width))
}

/// Returns the command that runs after each step, as far as it is known: that of the execution, or of its approval.
fn step_test(state: &RunState) -> Option<&str> {
    let approved = state.execution.as_ref().map(|it| it.test.as_ref());
    let asked = || match command_table::open_question(Some(state)) {
        Some(QuestionKind::Execute { terms }) => Some(terms.test.as_ref()),
        _ => None,
    };
    let test = approved.or_else(asked).flatten()?;
    Some(&test.command)
}

/// Names the file and its version at the right end of the first row: the first of the texts that there is room for.
fn add_version(content: &mut ScrollContent, texts: [Option<String>; 2], columns: usize) {
    let Some(first) = content.lines.first_mut() else {
        return;
    };
    let used = line_width(first);
    for about in texts.into_iter().flatten() {
        let room = columns.saturating_sub(used + text_width(&about));
        if room >= 2 {
            first.spans.push(Span::raw(" ".repeat(room)));
            first.spans.push(Span::styled(about, theme::QUIET));
            return;
        }
    }
}

/// Lays out the comparison with an earlier version.
fn lay_out_comparison(
    text: &str,
    earlier: &PlanVersion,
    n_earlier: usize,
    reading: &PlanViewState,
    keymap: &ActiveKeymap,
    page: PageColumns,
) -> ScrollContent {
    let columns = page.text;
    let now = front_matter::parse_document(text)
        .body
        .trim_start_matches('\n');
    let (n_more, n_less) = count_changed_lines(&earlier.text, now);
    let at = reading.compared_version().map_or(0, |at| at + 1);
    let key = |action| keymap.key_label(action, ComposerFocus::Unfocused);
    let other = match n_earlier {
        1 => String::new(),
        n => format!(
            " · {} {} another ({at} of {n})",
            key("previous-turn"),
            key("next-turn")
        ),
    };
    let head = format!(
        "since {}: {}{other} · {} {} · {} back",
        earlier.label,
        describe_line_changes(n_more, n_less),
        key("side"),
        match reading.form {
            text_comparison::ComparisonForm::Diff => "side by side",
            text_comparison::ComparisonForm::SideBySide => "one below the other",
        },
        key("filter"),
    );
    let mut lines = wrap_spans(&clickable_keys::hint_spans(&head, theme::QUIET), columns, 0);
    lines.push(Line::default());
    let n_before = lines.len();
    let old = ComparisonSide {
        label: &format!("The plan, {}", earlier.label),
        text: &earlier.text,
    };
    let new = ComparisonSide {
        label: "The plan, now",
        text: now,
    };
    let both = text_comparison::lay_out(old, new, reading.form, columns);
    lines.extend(both.lines);
    // Notes count the lines of the whole file, front matter included.
    let n_front = first_body_line(text);
    let marks = both.targets.into_iter().map(|(mark, row)| match mark {
        ScrollTarget::Line(line) => (ScrollTarget::Line(line + n_front), row + n_before),
        other => (other, row + n_before),
    });
    let marks: BTreeMap<ScrollTarget, usize> = marks.collect();
    let from = reading
        .selected_line()
        .and_then(|at| marks.get(&ScrollTarget::Line(at)));
    let to = from.map(|from| {
        let next = marks.values().filter(|row| *row > from).min();
        next.copied().unwrap_or(lines.len())
    });
    let picked = from.copied().unwrap_or(0)..to.unwrap_or(0);
    let rows = lines.into_iter().enumerate();
    let bar = |row| Some(theme::ACCENT).filter(|_| picked.contains(&row));
    let rows = rows.flat_map(|(row, line)| page.add_margin(vec![line], bar(row)));
    ScrollContent {
        lines: rows.collect(),
        targets: marks,
    }
}

/// The selected line of the plan, and what can be done with it.
#[derive(Debug, Hash)]
struct SelectedLine {
    /// The line, from 0.
    at: Option<usize>,
    /// The actions, with their keys.
    actions: Vec<(String, Style)>,
}

impl SelectedLine {
    fn new(at: Option<usize>, remarks: &[LineRemark], context: &TabContext<'_>) -> Self {
        let takes_notes = context
            .state
            .is_some_and(|state| notes_blocker(state).is_none());
        let mut actions = Vec::new();
        if takes_notes {
            actions.extend([("note", "note"), ("rewrite", "edit line")]);
        }
        if remarks.iter().any(|remark| remark.line == at) {
            actions.push(("jump", "to its comment"));
        }
        Self {
            at,
            actions: context.action_spans(&actions),
        }
    }
}

/// The room for the plan.
#[derive(Debug, Clone, Copy)]
struct PlanRoom {
    page: PageColumns,
    rows: usize,
    /// Whether finished steps may share a row where there is no room for all.
    may_fold: bool,
    /// The rows of the whole window.
    window_rows: u16,
}

/// From this height on, a blank row is between steps.
const MIN_ROWS_OF_BLANKS: u16 = 30;

fn lay_out(content: &PlanContent<'_>, room: PlanRoom, open: &str) -> ScrollContent {
    let page = room.page;
    let n_before = first_body_line(content.text);
    let mut laid = lay_out_heading(content, n_before, page);
    let rest = lay_out_rest(content, n_before, page);
    let mut parts = plan_parts(content, page);
    let of_parts = parts.iter().map(|part| part.layout.lines.len());
    let n_steps = laid.lines.len() + of_parts.sum::<usize>();
    let folds = if room.may_fold && n_steps > room.rows {
        step_folding::find_folds(&parts, content.marks)
    } else {
        Vec::new()
    };
    let folded = folds.iter().flat_map(|fold| fold.parts.clone());
    let folded = folded.filter_map(|n| parts.get(n));
    let n_folded: usize = folded.map(|part| part.layout.lines.len()).sum();
    let n_all = n_steps + rest.lines.len() + folds.len() - n_folded;
    let is_folded = |n: &usize| folds.iter().any(|fold| fold.parts.contains(n));
    let separated = separated_steps(&parts).into_iter();
    let n_blank = separated.filter(|n| !is_folded(n)).count();
    // The blank rows are not worth that the page has to be scrolled, or further than without them past folded steps.
    let is_scrolled_anyway = n_all > room.rows && folds.is_empty();
    let has_room = is_scrolled_anyway || n_all + n_blank <= room.rows;
    if room.window_rows >= MIN_ROWS_OF_BLANKS && has_room {
        separate_steps(&mut parts);
    }
    let mut folds = folds.into_iter().peekable();
    let mut below = 0;
    for (n, part) in parts.into_iter().enumerate() {
        if let Some(fold) = folds.next_if(|fold| fold.parts.start == n) {
            below = fold.parts.end;
            let picked = content.picked.at;
            let is_picked = picked.is_some_and(|at| fold.lines.contains(&at));
            for mark in [
                ScrollTarget::Folded(part.line),
                ScrollTarget::Line(part.line),
            ] {
                laid.targets.insert(mark, laid.lines.len());
            }
            let row = vec![fold.to_line(open, page.text)];
            let bar = is_picked.then_some(theme::ACCENT);
            laid.lines.extend(page.add_margin(row, bar));
        }
        if n >= below {
            laid.append(part.layout);
        }
    }
    laid.append(rest);
    laid
}

/// Lays out the part above the plan: problems of the plan, and blocking remarks without a line.
fn lay_out_heading(content: &PlanContent<'_>, n_before: usize, page: PageColumns) -> ScrollContent {
    let mut laid = ScrollContent::default();
    for flaw in step_marks::plan_problems(content.text, content.marks) {
        let flaw = [Span::styled(format!("✗ {flaw}"), theme::BAD)];
        let lines = wrap_spans(&flaw, page.text, 2);
        laid.lines.extend(page.add_margin(lines, None));
    }
    let astray = content.remarks.iter();
    let astray = astray.filter(|remark| remark.is_without_line(n_before) && remark.blocks);
    add_remarks_without_line(&mut laid, astray, page);
    if !laid.lines.is_empty() {
        laid.lines.push(Line::default());
    }
    laid
}

/// Lays out the part below the plan: the other remarks without a line.
fn lay_out_rest(content: &PlanContent<'_>, n_before: usize, page: PageColumns) -> ScrollContent {
    let mut laid = ScrollContent::default();
    let astray = content.remarks.iter();
    let astray = astray.filter(|remark| remark.is_without_line(n_before) && !remark.blocks);
    let mut astray = astray.peekable();
    if astray.peek().is_some() {
        laid.lines.push(Line::default());
    }
    add_remarks_without_line(&mut laid, astray, page);
    laid
}

/// Says why there is no plan, and what brings one.
fn describe_missing_plan(state: Option<&RunState>) -> &'static str {
    let is_sent_next = |state: &RunState| {
        let question = state.current_question().map(|question| &question.kind);
        let gate = |kind: &QuestionKind| matches!(kind, QuestionKind::Gate { order } if order.purpose == TurnPurpose::WritePlan);
        question.is_some_and(gate)
    };
    match state {
        Some(state) if is_sent_next(state) => {
            "No plan yet. Send the goal and the planner writes one."
        }
        Some(state) if state.phase != Phase::RefineGoal => "No plan yet.",
        Some(_) | None => "No plan yet. Confirm the goal and the planner writes one.",
    }
}
