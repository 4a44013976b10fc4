//! Tab: the plan, its boxes with what became of each step, findings and notes at their lines; or the plan
//! beside an earlier version of it.

mod folded;
pub mod reading;
mod steps;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::findings::{Finding, FindingSeverity};
use crate::domain::ids::UnixMillis;
use crate::domain::plan;
use crate::domain::plan_note::PlanNote;
use crate::domain::run::RunState;
use crate::text::{count_changed_lines, front_matter};
use crate::tui::anchors;
use crate::tui::compare::{self, Side};
use crate::tui::documents::{Earlier, Texts};
use crate::tui::hints;
use crate::tui::keymap::{IsWriting, Keymap};
use crate::tui::markdown::Markdown;
use crate::tui::page::{Mark, Marked, Page, gutter};
use crate::tui::theme;
use crate::tui::wrap::{one_line, wrap, wrap_own};
use folded::{Of, Part};
use reading::{Reading, first_line};

/// Draws the plan.
pub fn draw(
    page: &mut Page,
    (texts, reading, keymap): (&Texts, &Reading, &Keymap),
    frame: &mut Frame,
    area: Rect,
    (state, now): (Option<&RunState>, UnixMillis),
) {
    let columns = usize::from(area.width);
    let mut hasher = DefaultHasher::new();
    (columns, texts.plan.revision, reading.picked()).hash(&mut hasher);
    (reading.against(), reading.form, texts.earlier.len()).hash(&mut hasher);
    let earlier = reading.against().and_then(|at| texts.earlier.get(at));
    let Some(text) = &texts.plan.text else {
        page.lay_out(hasher.finish(), || {
            gutter(
                wrap_own(
                    "There is no plan yet.",
                    columns.saturating_sub(1),
                    theme::QUIET,
                ),
                false,
            )
        });
        return page.draw(frame, area);
    };
    if let Some(earlier) = earlier {
        page.follow(None);
        page.lay_out(hasher.finish(), || {
            let earlier = (earlier, texts.earlier.len());
            compared(text, earlier, (reading, keymap), columns)
        });
        return page.draw(frame, area);
    }
    let marks = steps::marks(state, now);
    let remarks = remarks(state, text);
    let at_work = state.and_then(|state| folded::at_work(&marks, state));
    let folds = reading.folds() && at_work.is_some() && !page.is_looking();
    let n_rows = folds.then_some(usize::from(area.height));
    (&marks, &remarks, n_rows).hash(&mut hasher);
    page.lay_out(hasher.finish(), || {
        let open = keymap.named("open", IsWriting::No);
        let picked = (reading.picked(), n_rows);
        lay_out(text, (&marks, &remarks), picked, columns, &open)
    });
    page.follow(at_work.map(Mark::Step));
    page.draw(frame, area);
}

/// The plan beside an earlier version of it.
fn compared(
    text: &str,
    (earlier, n_earlier): (&Earlier, usize),
    (reading, keymap): (&Reading, &Keymap),
    columns: usize,
) -> Marked {
    let columns = columns.saturating_sub(1);
    let now = front_matter::parse_document(text)
        .body
        .trim_start_matches('\n');
    let (n_more, n_less) = count_changed_lines(&earlier.text, now);
    let at = reading.against().map_or(0, |at| at + 1);
    let key = |action| keymap.named(action, IsWriting::No);
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
            compare::Form::Diff => "side by side",
            compare::Form::Sides => "one below the other",
        },
        key("filter"),
    );
    let mut lines = wrap(&hints::spans(&head, theme::QUIET), columns, 0);
    lines.push(Line::default());
    let n_before = lines.len();
    let old = Side {
        label: &format!("the plan, {}", earlier.label),
        text: &earlier.text,
    };
    let new = Side {
        label: "the plan, now",
        text: now,
    };
    let both = compare::lay_out(old, new, reading.form, columns);
    lines.extend(both.lines);
    // Lines are counted over the whole file, as notes count them.
    let n_front = first_line(text);
    let marks = both.marks.into_iter().map(|(mark, row)| match mark {
        Mark::Line(line) => (Mark::Line(line + n_front), row + n_before),
        other => (other, row + n_before),
    });
    let marks: BTreeMap<Mark, usize> = marks.collect();
    let from = reading.picked().and_then(|at| marks.get(&Mark::Line(at)));
    let to = from.map(|from| {
        let next = marks.values().filter(|row| *row > from).min();
        next.copied().unwrap_or(lines.len())
    });
    let picked = from.copied().unwrap_or(0)..to.unwrap_or(0);
    let rows = lines.into_iter().enumerate();
    let rows = rows.flat_map(|(row, line)| gutter(vec![line], picked.contains(&row)));
    Marked {
        lines: rows.collect(),
        marks,
    }
}

/// What stands below a line: an open finding, or a note of the user.
#[derive(Debug, Hash)]
struct Remark {
    mark: Mark,
    style: Style,
    text: String,
    /// What is said of it quietly.
    about: String,
    line: Option<usize>,
    /// Whether the plan cannot pass while it stands.
    blocks: bool,
}

impl Remark {
    /// Tells whether it speaks of no line behind what the program writes before the plan.
    fn is_astray(&self, n_before: usize) -> bool {
        self.line.is_none_or(|line| line < n_before)
    }
}

fn remarks(state: Option<&RunState>, text: &str) -> Vec<Remark> {
    let Some(state) = state else {
        return Vec::new();
    };
    let lines: Vec<&str> = text.lines().collect();
    let findings = anchors::of_open(state, text).into_iter().map(of_finding);
    let notes = state.notes.all().iter();
    findings
        .chain(notes.map(|note| of_note(note, &lines)))
        .collect()
}

fn of_finding((finding, line): (&Finding, Option<usize>)) -> Remark {
    let remark = &finding.remark;
    let text = one_line(&remark.text);
    Remark {
        mark: Mark::Finding(remark.n),
        style: theme::severity(remark.severity),
        text: format!("○ {} [{}] {text}", remark.n, remark.severity.as_str()),
        about: String::new(),
        line,
        blocks: remark.severity == FindingSeverity::Blocking,
    }
}

fn of_note(note: &PlanNote, lines: &[&str]) -> Remark {
    let line = note.find_line(lines);
    let gone = match line {
        Some(_) => String::new(),
        None => format!(" (of a line that is gone: {})", one_line(&note.quote)),
    };
    Remark {
        mark: Mark::Note(note.n),
        style: if note.judged {
            theme::QUIET
        } else {
            theme::YOU
        },
        text: format!("✎ {} you: {}", note.n, one_line(&note.text)),
        about: format!(" · {}{gone}", note.describe_status()),
        line,
        blocks: false,
    }
}

fn lay_out(
    text: &str,
    (marks, remarks): (&[steps::Mark], &[Remark]),
    (picked, n_rows): (Option<usize>, Option<usize>),
    columns: usize,
    open: &str,
) -> Marked {
    let columns = columns.saturating_sub(1);
    let mut laid = above(text, (marks, remarks), (first_line(text), columns));
    let parts = parts(text, (marks, remarks), picked, columns);
    let all = laid.lines.len()
        + parts
            .iter()
            .map(|part| part.laid.lines.len())
            .sum::<usize>();
    let folds = match n_rows {
        Some(n_rows) if all > n_rows => folded::folds(&parts, marks),
        _ => Vec::new(),
    };
    let mut folds = folds.into_iter().peekable();
    let mut below = 0;
    for (n, part) in parts.into_iter().enumerate() {
        if let Some(fold) = folds.next_if(|fold| fold.parts.start == n) {
            below = fold.parts.end;
            let is_picked = picked.is_some_and(|at| fold.lines.contains(&at));
            for mark in [Mark::Folded(part.line), Mark::Line(part.line)] {
                laid.marks.insert(mark, laid.lines.len());
            }
            laid.lines
                .extend(gutter(vec![fold.row(open, columns)], is_picked));
        }
        if n >= below {
            laid.append(part.laid);
        }
    }
    let n_before = first_line(text);
    let astray = remarks.iter().filter(|remark| remark.is_astray(n_before));
    let mut rest = astray.filter(|remark| !remark.blocks).peekable();
    if rest.peek().is_some() {
        laid.lines.push(Line::default());
    }
    add_astray(&mut laid, rest, columns);
    laid
}

/// The lines of the plan with what stands below each.
fn parts(
    text: &str,
    (marks, remarks): (&[steps::Mark], &[Remark]),
    picked: Option<usize>,
    columns: usize,
) -> Vec<Part> {
    // Lines are counted over the whole file, as a review counts them.
    let n_before = first_line(text);
    let mut markdown = Markdown::default();
    let mut left: Vec<(usize, &steps::Mark)> = marks.iter().enumerate().collect();
    let mut parts = Vec::new();
    // The columns at which the text of the step begins that the line belongs to; 0 where it is of none.
    let mut below = 0;
    for (at, line) in text.lines().enumerate().skip(n_before) {
        // A line says what it says: what is known of a step stands at the step's own line only.
        let own = plan::parse_step(line).filter(|_| !markdown.is_in_fence());
        let step = own.and_then(|own| left.iter().position(|(_, mark)| mark.is_of(&own)));
        let (lines, of) = match step.map(|step| left.remove(step)) {
            Some((n, step)) => {
                below = steps::indent(step);
                (steps::lines(step, columns), Of::Step(n))
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
                    0 => markdown.line(line, columns, theme::PLAIN),
                    _ if is_code => markdown.line(line, columns, theme::PLAIN),
                    below => below_step(&mut markdown, trimmed, (below, columns)),
                };
                (lines, if is_own { Of::Itself } else { Of::TheOneAbove })
            }
        };
        let mut part = Part::new(at, of);
        part.laid.marks.insert(Mark::Line(at), 0);
        if let Of::Step(n) = of {
            part.laid.marks.insert(Mark::Step(n), 0);
        }
        part.laid.lines.extend(gutter(lines, picked == Some(at)));
        for remark in remarks.iter().filter(|remark| remark.line == Some(at)) {
            part.has_remarks = true;
            add_remark(&mut part.laid, remark, (columns, "    "));
        }
        parts.push(part);
    }
    parts
}

/// What stands above the plan: what is wrong with it, and what blocks it and is of no line of it.
fn above(
    text: &str,
    (marks, remarks): (&[steps::Mark], &[Remark]),
    (n_before, columns): (usize, usize),
) -> Marked {
    let mut laid = Marked::default();
    for flaw in steps::flaws(text, marks) {
        laid.lines.extend(gutter(
            wrap(&[Span::styled(format!("✗ {flaw}"), theme::BAD)], columns, 2),
            false,
        ));
    }
    let astray = remarks.iter().filter(|remark| remark.is_astray(n_before));
    add_astray(&mut laid, astray.filter(|remark| remark.blocks), columns);
    if !laid.lines.is_empty() {
        laid.lines.push(Line::default());
    }
    laid
}

/// Remarks of no line of the plan.
fn add_astray<'a>(laid: &mut Marked, remarks: impl Iterator<Item = &'a Remark>, columns: usize) {
    let mut remarks = remarks.peekable();
    if remarks.peek().is_some() {
        let head = Line::styled(" of no line in particular:", theme::QUIET);
        laid.lines.push(head);
    }
    for remark in remarks {
        add_remark(laid, remark, (columns, ""));
    }
}

/// A line that goes on with a step, at the columns of its text.
fn below_step(
    markdown: &mut Markdown,
    line: &str,
    (indent, columns): (usize, usize),
) -> Vec<Line<'static>> {
    let mut lines = markdown.line(line, columns.saturating_sub(indent), theme::PLAIN);
    for line in &mut lines {
        line.spans.insert(0, Span::raw(" ".repeat(indent)));
    }
    lines
}

/// Puts a finding or a note below the line that it speaks of.
fn add_remark(laid: &mut Marked, remark: &Remark, (columns, lead): (usize, &str)) {
    laid.marks.insert(remark.mark, laid.lines.len());
    let spans = [
        Span::raw(lead.to_owned()),
        Span::styled(remark.text.as_str(), remark.style),
        Span::styled(remark.about.as_str(), theme::QUIET),
    ];
    let lines = wrap(&spans, columns, lead.len() + 2);
    laid.lines.extend(gutter(lines, false));
}
