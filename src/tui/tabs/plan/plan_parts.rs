//! Lays out the lines of the plan in parts: each with what the review found at it, and the findings of a step below the
//! step's last line. A step that a finding blocks is raised.

use ratatui::text::{Line, Span};

use super::SelectedLine;
use super::line_remark::{self, LineRemark};
use super::plan_line::{PageColumns, PlanLineRenderer};
use super::plan_view_state::first_body_line;
use super::step_folding::{PlanPart, PlanPartKind, step_blocks};
use super::step_marks::{self, PlanStepMark};
use crate::domain::findings::FindingSeverity;
use crate::domain::plan;
use crate::tui::scroll_view::{PICKED_BAR, ScrollTarget, raise_line};
use crate::tui::text_wrap::{line_width, text_width, wrap_spans};
use crate::tui::theme::{self, Surface};

/// What is laid out.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlanContent<'a> {
    pub(super) text: &'a str,
    pub(super) marks: &'a [PlanStepMark],
    pub(super) remarks: &'a [LineRemark],
    pub(super) picked: &'a SelectedLine,
    /// The command that runs after each step, as far as it is known.
    pub(super) step_test: Option<&'a str>,
}

/// Lays out the lines of the plan, each with the remarks below it.
pub(super) fn plan_parts(content: &PlanContent<'_>, page: PageColumns) -> Vec<PlanPart> {
    let text = content.text;
    let mut renderer = PlanLineRenderer::new(content.step_test);
    let mut left: Vec<(usize, &PlanStepMark)> = content.marks.iter().enumerate().collect();
    let mut parts: Vec<PlanPart> = Vec::new();
    // The findings of the step that the line belongs to.
    let mut findings: Vec<&LineRemark> = Vec::new();
    // The indent of that step's text; 0 outside steps.
    let mut below = 0;
    // Reviews count the lines of the whole file, front matter included.
    for (at, line) in text.lines().enumerate().skip(first_body_line(text)) {
        let is_in_fence = renderer.markdown.is_in_fence();
        // A step's status is shown only at the step's own line; every other line is shown as written.
        let own = plan::parse_step(line).filter(|_| !is_in_fence);
        let step = own.and_then(|own| left.iter().position(|(_, mark)| mark.matches_step(&own)));
        let (lines, kind) = match step.map(|step| left.remove(step)) {
            Some((n, step)) => {
                below = step_marks::text_indent(step);
                let lines = step_marks::step_lines(step, page.text);
                (lines, PlanPartKind::StepStart(n))
            }
            None => {
                let is_own = line.starts_with(|c: char| !c.is_whitespace()) && !is_in_fence;
                if is_own {
                    below = 0;
                }
                let lines = match below {
                    0 => renderer.own_lines(line, page.text),
                    below => renderer.step_lines(line, below, page.text),
                };
                let kind = if is_own {
                    PlanPartKind::OtherStart
                } else {
                    PlanPartKind::Continuation
                };
                (lines, kind)
            }
        };
        if kind != PlanPartKind::Continuation {
            add_findings(&mut parts, std::mem::take(&mut findings), page);
        }
        let mut part = PlanPart::new(at, kind);
        add_line(&mut part, lines, content.picked, page);
        let mut remarks = Vec::new();
        for remark in content.remarks.iter().filter(|it| it.line == Some(at)) {
            let waits = matches!(kind, PlanPartKind::StepStart(_))
                && matches!(remark.mark, ScrollTarget::Finding(_));
            if waits {
                findings.push(remark);
            } else {
                remarks.push(remark);
            }
        }
        add_remarks(&mut part, &remarks, page);
        parts.push(part);
    }
    add_findings(&mut parts, findings, page);
    raise_blocked_steps(&mut parts);
    parts
}

/// Adds the rows of a line, with what can be done with it if it is selected: at the end of its last row, or below.
fn add_line(
    part: &mut PlanPart,
    lines: Vec<Line<'static>>,
    picked: &SelectedLine,
    page: PageColumns,
) {
    let is_picked = picked.at == Some(part.line);
    let layout = &mut part.layout;
    layout.targets.insert(ScrollTarget::Line(part.line), 0);
    if let PlanPartKind::StepStart(n) = part.kind {
        layout.targets.insert(ScrollTarget::Step(n), 0);
    }
    let mut lines = lines;
    if is_picked && !picked.actions.is_empty() {
        let actions = picked.actions.iter();
        let actions: Vec<Span<'static>> = actions
            .map(|(text, style)| Span::styled(text.clone(), *style))
            .collect();
        let width: usize = actions.iter().map(|span| text_width(&span.content)).sum();
        let last = lines.last_mut();
        let room = last.and_then(|last| {
            let room = page.text.checked_sub(line_width(last) + width + 1)?;
            Some((last, room + 1))
        });
        match room {
            // At the right end, so that no row moves.
            Some((last, room)) => {
                last.spans.push(Span::raw(" ".repeat(room)));
                last.spans.extend(actions);
            }
            None => {
                let lead = std::iter::once(Span::raw("    "));
                let row: Vec<Span<'_>> = lead.chain(actions).collect();
                lines.extend(wrap_spans(&row, page.text, 4));
            }
        }
    }
    let bar = is_picked.then_some(theme::ACCENT);
    layout.lines.extend(page.add_margin(lines, bar));
}

fn add_remarks(part: &mut PlanPart, remarks: &[&LineRemark], page: PageColumns) {
    for remark in remarks {
        part.has_remarks = true;
        part.is_blocked |= remark.blocks;
    }
    line_remark::add_remarks(&mut part.layout, remarks, page, "     ");
}

/// Adds the findings of the last step below its last line.
fn add_findings(parts: &mut [PlanPart], findings: Vec<&LineRemark>, page: PageColumns) {
    let last = parts.iter_mut().rev().find(|part| !part.is_blank());
    if let Some(last) = last {
        add_remarks(last, &findings, page);
    }
}

/// Puts steps with a blocking finding on a ground of their own, with a bar in the finding's colour.
fn raise_blocked_steps(parts: &mut [PlanPart]) {
    for block in step_blocks(parts) {
        let Some(of_step) = parts.get_mut(block.parts) else {
            continue;
        };
        if !of_step.iter().any(|part| part.is_blocked) {
            continue;
        }
        let n_blank = of_step.iter().rev().take_while(|part| part.is_blank());
        let n_shown = of_step.len() - n_blank.count();
        let rows = of_step.iter_mut().take(n_shown);
        for line in rows.flat_map(|part| &mut part.layout.lines) {
            let is_picked = line
                .spans
                .first()
                .is_some_and(|it| it.content == PICKED_BAR);
            if is_picked {
                line.style = Surface::Picked.style();
            } else {
                raise_line(line, theme::severity_style(FindingSeverity::Blocking));
            }
        }
    }
}

/// Adds a blank row before each step that directly follows another one.
pub(super) fn separate_steps(parts: &mut [PlanPart]) {
    for n in separated_steps(parts) {
        if let Some(part) = parts.get_mut(n) {
            part.layout.lines.insert(0, Line::default());
            for row in part.layout.targets.values_mut() {
                *row += 1;
            }
        }
    }
}

/// Returns the parts that start a step directly below another one.
pub(super) fn separated_steps(parts: &[PlanPart]) -> Vec<usize> {
    let pairs = parts.windows(2).enumerate();
    let follows = pairs.filter(|(_, pair)| match pair {
        [before, after] => {
            matches!(after.kind, PlanPartKind::StepStart(_))
                && before.kind != PlanPartKind::OtherStart
                && !before.is_blank()
        }
        _ => false,
    });
    follows.map(|(n, _)| n + 1).collect()
}
