//! Tab: the plan, with each step's progress, findings and notes at their lines; or a comparison with an
//! earlier version.

mod line_remark;
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

use super::screen_tab::TabContext;
use crate::domain::ids::UnixMillis;
use crate::domain::plan::{self, proof_lines};
use crate::domain::run::notes_blocker;
use crate::text::{count_changed_lines, front_matter};
use crate::tui::clickable_keys;
use crate::tui::document_texts::PlanVersion;
use crate::tui::keymap::{ActiveKeymap, ComposerFocus};
use crate::tui::markdown::MarkdownRenderer;
use crate::tui::scroll_view::{ScrollContent, ScrollTarget, add_gutter};
use crate::tui::text_comparison::{self, ComparisonSide};
use crate::tui::text_wrap::{line_width, text_width, to_one_line, wrap_spans, wrap_trusted_text};
use crate::tui::theme;
use line_remark::{LineRemark, add_remark, add_remarks_without_line, line_remarks};
use plan_view_state::{PlanViewState, first_body_line};
use step_folding::{PlanPart, PlanPartKind};

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
    } = tab;
    let (texts, keymap, state) = (context.documents, context.keymap, context.state);
    let reading = &*reading;
    let columns = usize::from(area.width);
    let mut hasher = DefaultHasher::new();
    (columns, texts.plan.revision, reading.selected_line()).hash(&mut hasher);
    (
        reading.compared_version(),
        reading.form,
        texts.plan_versions.len(),
        texts.plan_version(),
    )
        .hash(&mut hasher);
    let earlier = reading
        .compared_version()
        .and_then(|at| texts.plan_versions.get(at));
    let Some(text) = &texts.plan.text else {
        page.lay_out(hasher.finish(), || {
            add_gutter(
                wrap_trusted_text(
                    "No plan yet. Confirm the goal and the planner writes one.",
                    columns.saturating_sub(1),
                    theme::QUIET,
                ),
                false,
            )
        });
        return page.draw(frame, area);
    };
    if let Some(earlier) = earlier {
        page.follow_target(None);
        page.lay_out(hasher.finish(), || {
            let earlier = (earlier, texts.plan_versions.len());
            lay_out_comparison(text, earlier.0, earlier.1, reading, keymap, columns)
        });
        return page.draw(frame, area);
    }
    let marks = step_marks::step_marks(state, board, now);
    let remarks = line_remarks(state, text);
    let at_work = state.and_then(|state| step_folding::current_step(&marks, state));
    let folds = reading.is_folded() && at_work.is_some() && !page.is_searching();
    let n_rows = folds.then_some(usize::from(area.height));
    let picked = SelectedLine::new(reading.selected_line(), &remarks, context);
    (&marks, &remarks, n_rows, &picked).hash(&mut hasher);
    page.lay_out(hasher.finish(), || {
        let open = keymap.key_label("open", ComposerFocus::Unfocused);
        let mut content = lay_out(text, &marks, &remarks, &picked, n_rows, columns, &open);
        add_version(&mut content, texts.plan_version(), columns);
        content
    });
    page.follow_target(at_work.map(ScrollTarget::Step));
    page.draw(frame, area);
}

/// Names the file and its version at the right of the first row, where there is room.
fn add_version(content: &mut ScrollContent, version: usize, columns: usize) {
    let about = format!("plan.md · version {version}");
    if let Some(first) = content.lines.first_mut() {
        // The last column stays free: the other pane may begin right behind it.
        let room = columns.saturating_sub(line_width(first) + text_width(&about) + 1);
        if room >= 2 {
            first.spans.push(Span::raw(" ".repeat(room)));
            first.spans.push(Span::styled(about, theme::QUIET));
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
    columns: usize,
) -> ScrollContent {
    let columns = columns.saturating_sub(1);
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
        "since {}: +{n_more} −{n_less}{other} · {} {} · {} back",
        earlier.label,
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
    let rows = rows.flat_map(|(row, line)| add_gutter(vec![line], picked.contains(&row)));
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
            actions.extend([("note", "note"), ("rewrite", "rewrite")]);
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

fn lay_out(
    text: &str,
    marks: &[step_marks::PlanStepMark],
    remarks: &[LineRemark],
    picked: &SelectedLine,
    n_rows: Option<usize>,
    columns: usize,
    open: &str,
) -> ScrollContent {
    let columns = columns.saturating_sub(1);
    let mut laid = lay_out_heading(text, marks, remarks, first_body_line(text), columns);
    let parts = plan_parts(text, marks, remarks, picked, columns);
    let all = laid.lines.len()
        + parts
            .iter()
            .map(|part| part.layout.lines.len())
            .sum::<usize>();
    let folds = match n_rows {
        Some(n_rows) if all > n_rows => step_folding::find_folds(&parts, marks),
        _ => Vec::new(),
    };
    let mut folds = folds.into_iter().peekable();
    let mut below = 0;
    for (n, part) in parts.into_iter().enumerate() {
        if let Some(fold) = folds.next_if(|fold| fold.parts.start == n) {
            below = fold.parts.end;
            let is_picked = picked.at.is_some_and(|at| fold.lines.contains(&at));
            for mark in [
                ScrollTarget::Folded(part.line),
                ScrollTarget::Line(part.line),
            ] {
                laid.targets.insert(mark, laid.lines.len());
            }
            laid.lines
                .extend(add_gutter(vec![fold.to_line(open, columns)], is_picked));
        }
        if n >= below {
            laid.append(part.layout);
        }
    }
    let n_before = first_body_line(text);
    let astray = remarks
        .iter()
        .filter(|remark| remark.is_without_line(n_before));
    let mut rest = astray.filter(|remark| !remark.blocks).peekable();
    if rest.peek().is_some() {
        laid.lines.push(Line::default());
    }
    add_remarks_without_line(&mut laid, rest, columns);
    laid
}

/// Lays out the lines of the plan, each with the remarks below it.
fn plan_parts(
    text: &str,
    marks: &[step_marks::PlanStepMark],
    remarks: &[LineRemark],
    picked: &SelectedLine,
    columns: usize,
) -> Vec<PlanPart> {
    // Reviews count the lines of the whole file, front matter included.
    let n_before = first_body_line(text);
    let mut markdown = MarkdownRenderer::default();
    let mut left: Vec<(usize, &step_marks::PlanStepMark)> = marks.iter().enumerate().collect();
    let mut parts = Vec::new();
    // The indent of the step's text that the line belongs to; 0 outside steps.
    let mut below = 0;
    for (at, line) in text.lines().enumerate().skip(n_before) {
        // A step's status is shown only at the step's own line; every other line is shown as written.
        let own = plan::parse_step(line).filter(|_| !markdown.is_in_fence());
        let step = own.and_then(|own| left.iter().position(|(_, mark)| mark.matches_step(&own)));
        let (lines, of) = match step.map(|step| left.remove(step)) {
            Some((n, step)) => {
                below = step_marks::text_indent(step);
                (
                    step_marks::step_lines(step, columns),
                    PlanPartKind::StepStart(n),
                )
            }
            None => {
                let trimmed = line.trim_start();
                let is_own = trimmed.len() == line.len() && !trimmed.is_empty();
                let is_own = is_own && !markdown.is_in_fence();
                if is_own {
                    below = 0;
                }
                let is_code = markdown.is_in_fence()
                    || trimmed.starts_with("```")
                    || trimmed.starts_with("~~~");
                let lines = match below {
                    0 => markdown.lay_out_line(line, columns, theme::PLAIN),
                    _ if is_code => markdown.lay_out_line(line, columns, theme::PLAIN),
                    // Stars there are globs, not emphasis.
                    below if proof_lines::is_proof_line(trimmed) => {
                        field_lines(&to_one_line(trimmed), below, columns)
                    }
                    below => continuation_lines(&mut markdown, trimmed, below, columns),
                };
                (
                    lines,
                    if is_own {
                        PlanPartKind::OtherStart
                    } else {
                        PlanPartKind::Continuation
                    },
                )
            }
        };
        let mut part = PlanPart::new(at, of);
        part.layout.targets.insert(ScrollTarget::Line(at), 0);
        if let PlanPartKind::StepStart(n) = of {
            part.layout.targets.insert(ScrollTarget::Step(n), 0);
        }
        part.layout
            .lines
            .extend(add_gutter(lines, picked.at == Some(at)));
        let actions = if picked.at == Some(at) {
            picked.actions.as_slice()
        } else {
            &[]
        };
        let last = part.layout.lines.last_mut().filter(|_| !actions.is_empty());
        let is_beside = last.is_some_and(|line| add_actions_beside(line, actions, columns));
        for remark in remarks.iter().filter(|remark| remark.line == Some(at)) {
            part.has_remarks = true;
            add_remark(&mut part.layout, remark, columns, "     ");
        }
        if !actions.is_empty() && !is_beside {
            let spans = actions.iter();
            let spans = spans.map(|(text, style)| Span::styled(text.clone(), *style));
            let row: Vec<Span<'_>> = std::iter::once(Span::raw("    ")).chain(spans).collect();
            let rows = wrap_spans(&row, columns, 4);
            part.layout.lines.extend(add_gutter(rows, false));
        }
        parts.push(part);
    }
    parts
}

/// Lays out the part above the plan: problems of the plan, and blocking remarks without a line.
fn lay_out_heading(
    text: &str,
    marks: &[step_marks::PlanStepMark],
    remarks: &[LineRemark],
    n_before: usize,
    columns: usize,
) -> ScrollContent {
    let mut laid = ScrollContent::default();
    for flaw in step_marks::plan_problems(text, marks) {
        laid.lines.extend(add_gutter(
            wrap_spans(&[Span::styled(format!("✗ {flaw}"), theme::BAD)], columns, 2),
            false,
        ));
    }
    let astray = remarks
        .iter()
        .filter(|remark| remark.is_without_line(n_before));
    add_remarks_without_line(&mut laid, astray.filter(|remark| remark.blocks), columns);
    if !laid.lines.is_empty() {
        laid.lines.push(Line::default());
    }
    laid
}

/// Adds what can be done with the selected line at its right end, so that no row moves; returns whether there is room.
fn add_actions_beside(
    line: &mut Line<'static>,
    actions: &[(String, Style)],
    columns: usize,
) -> bool {
    let width: usize = actions.iter().map(|(text, _)| text_width(text)).sum();
    let room = columns.checked_sub(line_width(line) + width + 1);
    if let Some(room) = room {
        line.spans.push(Span::raw(" ".repeat(room)));
        let actions = actions.iter();
        line.spans
            .extend(actions.map(|(text, style)| Span::styled(text.clone(), *style)));
    }
    room.is_some()
}

/// Renders a line such as `Files: a, b` of a step, its label quietly.
fn field_lines(text: &str, indent: usize, columns: usize) -> Vec<Line<'static>> {
    let n_label = text.find(':').map_or(0, |at| at + 1);
    let (label, rest) = text.split_at(n_label);
    let spans = [
        Span::raw(" ".repeat(indent)),
        Span::styled(label, theme::QUIET),
        Span::raw(rest),
    ];
    wrap_spans(&spans, columns, indent)
}

/// Renders a continuation line of a step, indented like the step's text.
fn continuation_lines(
    markdown: &mut MarkdownRenderer,
    line: &str,
    indent: usize,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut lines = markdown.lay_out_line(line, columns.saturating_sub(indent), theme::PLAIN);
    for line in &mut lines {
        line.spans.insert(0, Span::raw(" ".repeat(indent)));
    }
    lines
}
