//! The sidebar of a wide window: the goal, the steps with their proof, the findings, the agents, the changed files and
//! the branch.
//!
//! It only repeats the run's state in short; a click opens the tab that has the rest.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::command::ScreenCommand;
use super::header::describe_total_usage;
use super::labels::{format_tokens, role_title};
use super::markdown::to_plain_line;
use super::proof_board::ProofBoard;
use super::tab_kind::TabKind;
use super::tabs::plan::step_marks::{PlanStepMark, step_marks};
use super::tabs::status::{usage_bar, usage_style};
use super::text_wrap::{
    text_width, to_one_line, truncate_middle, truncate_to_columns, wrap_spans_to_rows,
};
use super::theme::{self, Surface};
use crate::domain::diff_scope::DiffScope;
use crate::domain::findings::{Finding, FindingOutcome, FindingSeverity, FindingStatus};
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::plan_execution::{CommitSize, StepOutcome, StepRecord};
use crate::domain::run::RunState;
use crate::domain::turn::Role;
use crate::text::{first_clause, pluralize};

const PADDING_COLUMNS: u16 = 2;
const MAX_GOAL_ROWS: usize = 3;
/// How wide the bar of a context is.
const BAR_COLUMNS: usize = 20;
/// How many entries a list keeps at least in a low window.
const MIN_LIST_ENTRIES: usize = 3;
const MAX_LIST_ENTRIES: usize = 12;

/// The areas of the sections that a click opens.
pub type SidebarButtons = Vec<(Rect, ScreenCommand)>;

/// What the sidebar depends on beside the run's state.
#[derive(Debug, Clone, Copy)]
pub struct SidebarContext<'a> {
    /// The heading of the goal; empty before there is one.
    pub goal: &'a str,
    pub branch: Option<&'a str>,
    /// The tabs that are visible in the two panes.
    pub shown: [Option<TabKind>; 2],
    pub now: UnixMillis,
}

/// A title, what stands at its right end, and the lines below it.
struct SidebarSection {
    title: &'static str,
    meta: Vec<Span<'static>>,
    lines: Vec<Line<'static>>,
    opens: Option<ScreenCommand>,
    /// What a click on one of the lines opens, in their order, where it is something else.
    line_commands: Vec<ScreenCommand>,
}

/// Draws the sidebar; returns the areas that can be clicked.
pub fn draw(
    frame: &mut Frame,
    area: Rect,
    state: &RunState,
    about: &SidebarContext<'_>,
) -> SidebarButtons {
    Surface::Panel.fill(frame.buffer_mut(), area);
    let inner = Rect {
        x: area.x + PADDING_COLUMNS,
        width: area.width.saturating_sub(2 * PADDING_COLUMNS),
        ..area
    };
    let columns = usize::from(inner.width);
    let rows = usize::from(inner.height);
    let mut n_entries = MAX_LIST_ENTRIES;
    let mut sections = lay_out(state, about, columns, n_entries);
    while n_rows(&sections) > rows && n_entries > MIN_LIST_ENTRIES {
        n_entries -= 1;
        sections = lay_out(state, about, columns, n_entries);
    }
    let mut buttons = Vec::new();
    let mut y = inner.y;
    for section in sections {
        let height = u16::try_from(section.lines.len() + 1).unwrap_or(u16::MAX);
        if y.saturating_add(height) > inner.bottom() {
            break;
        }
        let place = Rect { y, height, ..inner };
        let line_places = (y + 1..).map(|y| Rect {
            y,
            height: 1,
            ..inner
        });
        // The first area under the pointer counts.
        buttons.extend(line_places.zip(section.line_commands.iter().cloned()));
        buttons.extend(section.opens.clone().map(|command| (place, command)));
        let mut lines = vec![heading_line(&section, columns)];
        lines.extend(section.lines);
        frame.render_widget(Paragraph::new(lines), place);
        y = y.saturating_add(height).saturating_add(1);
    }
    buttons
}

fn n_rows(sections: &[SidebarSection]) -> usize {
    sections
        .iter()
        .map(|one| one.lines.len() + 2)
        .sum::<usize>()
        .saturating_sub(1)
}

fn heading_line(section: &SidebarSection, columns: usize) -> Line<'static> {
    let room = columns.saturating_sub(section.title.len() + 2);
    let mut meta = section.meta.clone();
    while meta.iter().map(Span::width).sum::<usize>() > room {
        meta.pop();
    }
    let n_meta: usize = meta.iter().map(Span::width).sum();
    let gap = columns.saturating_sub(text_width(section.title) + n_meta);
    let title = [
        Span::styled(section.title, theme::STRONG),
        Span::raw(" ".repeat(gap)),
    ];
    Line::from_iter(title.into_iter().chain(meta))
}

/// Returns what stands at the right end of a heading.
fn quiet_meta(text: impl Into<String>) -> Vec<Span<'static>> {
    vec![Span::styled(text.into(), theme::QUIET)]
}

fn lay_out(
    state: &RunState,
    about: &SidebarContext<'_>,
    columns: usize,
    n_entries: usize,
) -> Vec<SidebarSection> {
    // What stands beside the sidebar is not repeated.
    let is_elsewhere = |tab| !about.shown.contains(&Some(tab));
    let all = [
        goal_section(about.goal, columns),
        plan_section(state, about.now, columns, n_entries).filter(|_| is_elsewhere(TabKind::Plan)),
        findings_section(state, columns, n_entries).filter(|_| is_elsewhere(TabKind::Comments)),
        agents_section(state, columns),
        files_section(state, columns, n_entries),
        about.branch.map(|branch| SidebarSection {
            title: "Branch",
            meta: Vec::new(),
            lines: vec![Line::raw(truncate_middle(&to_one_line(branch), columns))],
            opens: None,
            line_commands: Vec::new(),
        }),
    ];
    all.into_iter().flatten().collect()
}

fn goal_section(goal: &str, columns: usize) -> Option<SidebarSection> {
    let title = Span::styled(goal.to_owned(), theme::PLAIN);
    (!goal.is_empty()).then(|| SidebarSection {
        title: "Goal",
        meta: Vec::new(),
        lines: wrap_spans_to_rows(&[title], columns, 0, MAX_GOAL_ROWS),
        opens: Some(ScreenCommand::Show(TabKind::Chat)),
        line_commands: Vec::new(),
    })
}

fn plan_section(
    state: &RunState,
    now: UnixMillis,
    columns: usize,
    n_entries: usize,
) -> Option<SidebarSection> {
    let Some(plan) = &state.plan else {
        return (state.phase == Phase::WritePlan).then(|| SidebarSection {
            title: "Plan",
            meta: quiet_meta("being written"),
            lines: Vec::new(),
            opens: Some(ScreenCommand::Show(TabKind::Plan)),
            line_commands: Vec::new(),
        });
    };
    let steps = &plan.plan.steps;
    let ended = |n: u32| state.ended_steps().find(|record| record.n == n);
    let row = |mark: &PlanStepMark| {
        let (sign, style) = mark.sign_and_style();
        let record = ended(mark.n).filter(|_| state.settings.proves_steps);
        let word = record.map_or("", StepRecord::proof_word);
        let room = columns.saturating_sub(2 + if word.is_empty() { 0 } else { word.len() + 2 });
        let text = truncate_to_columns(&to_plain_line(first_clause(mark.text())), room);
        let gap = columns.saturating_sub(2 + text_width(&text) + word.len());
        Line::from(vec![
            Span::styled(format!("{sign} "), style),
            Span::styled(text, theme::PLAIN),
            Span::raw(" ".repeat(gap)),
            Span::styled(word, theme::QUIET),
        ])
    };
    // Of a long plan, the steps around the current one.
    let n_before = steps
        .iter()
        .position(|step| ended(step.n).is_none())
        .unwrap_or(steps.len())
        .saturating_sub(n_entries / 2)
        .min(steps.len().saturating_sub(n_entries));
    let marks = step_marks(Some(state), &ProofBoard::default(), now);
    let shown = marks.iter().skip(n_before).take(n_entries);
    let mut lines: Vec<Line<'static>> = shown.map(row).collect();
    let n_hidden = steps.len() - lines.len();
    if n_hidden > 0 {
        lines.push(more_line(n_hidden));
    }
    let count = state.step_count();
    let meta = quiet_meta(match state.execution {
        Some(_) => format!("{} of {} done", count.done, count.all),
        None => pluralize(steps.len(), "step"),
    });
    Some(SidebarSection {
        title: "Plan",
        meta,
        lines,
        opens: Some(ScreenCommand::Show(TabKind::Plan)),
        line_commands: Vec::new(),
    })
}

fn findings_section(state: &RunState, columns: usize, n_entries: usize) -> Option<SidebarSection> {
    let all = state.findings.all();
    let mut open: Vec<&Finding> = all.iter().filter(|finding| finding.is_open()).collect();
    open.sort_by_key(|finding| std::cmp::Reverse(finding.stated_severity()));
    let row = |finding: &&Finding| {
        let severity = finding.stated_severity();
        let style = match severity {
            FindingSeverity::Blocking => theme::BAD,
            FindingSeverity::Major => theme::WARNING,
            FindingSeverity::Minor => theme::QUIET,
        };
        // Colour alone would say nothing in a theme without colours.
        let lead = format!("{} {}  ", finding.remark.n, severity.as_str());
        let room = columns.saturating_sub(2 + lead.len());
        Line::from(vec![
            Span::styled("● ", style),
            Span::styled(lead, style),
            Span::raw(truncate_to_columns(
                &to_plain_line(&finding.remark.text),
                room,
            )),
        ])
    };
    let mut lines: Vec<Line<'static>> = open.iter().take(n_entries).map(row).collect();
    let n_hidden = open.len() - lines.len();
    if n_hidden > 0 {
        lines.push(more_line(n_hidden));
    }
    let is_before = matches!(state.phase, Phase::Init | Phase::RefineGoal);
    if all.is_empty() && state.iteration == 0 && is_before {
        return None;
    }
    let has_no_review = state.course.reviews().is_empty();
    Some(SidebarSection {
        title: "Findings",
        meta: quiet_meta(match (all.len(), open.len()) {
            (0, _) if state.iteration == 0 || has_no_review => "none yet".to_owned(),
            (0, _) => "none".to_owned(),
            (_, 0) => describe_closed(all),
            (n, open) => format!("{open} of {n} open"),
        }),
        lines,
        opens: Some(ScreenCommand::Show(TabKind::Comments)),
        line_commands: Vec::new(),
    })
}

/// Describes findings of which none is open: `3 resolved · 1 left open`.
fn describe_closed(findings: &[Finding]) -> String {
    let residual = |finding: &&Finding| finding.status == FindingStatus::Residual;
    let n_left = findings.iter().filter(residual).count();
    let parts = [
        (findings.len() - n_left, "resolved"),
        (n_left, FindingOutcome::LeftOpen.label()),
    ];
    let parts = parts.into_iter().filter(|(n, _)| *n > 0);
    let parts: Vec<String> = parts.map(|(n, word)| format!("{n} {word}")).collect();
    parts.join(" · ")
}

fn agents_section(state: &RunState, columns: usize) -> Option<SidebarSection> {
    let mut lines = Vec::new();
    for role in [Role::Planner, Role::Reviewer] {
        let Some(session) = state.session(role) else {
            continue;
        };
        let name = role_title(role);
        let cli = to_one_line(&session.with_model(&session.adapter));
        lines.push(Line::from(vec![
            Span::styled(name, theme::role_style(role)),
            Span::raw(" ".repeat(10_usize.saturating_sub(text_width(name)))),
            Span::raw(truncate_to_columns(&cli, columns.saturating_sub(10))),
        ]));
        let usage = &session.usage;
        let window = usage.context_window.filter(|window| *window > 0);
        let tokens = state
            .course
            .role_usage(role)
            .input_tokens
            .max(usage.input_tokens);
        match (window, usage.context_tokens) {
            (Some(window), Some(used)) => {
                let percent = used.min(window) * 100 / window;
                lines.push(Line::from(vec![
                    Span::styled(usage_bar(percent, BAR_COLUMNS), bar_style(percent, role)),
                    Span::styled(format!(" {percent}% context"), theme::QUIET),
                ]));
            }
            _ if tokens > 0 => {
                let text = format!("{} tokens in", format_tokens(tokens));
                lines.push(Line::styled(text, theme::QUIET));
            }
            _ => {}
        }
    }
    (!lines.is_empty()).then_some(SidebarSection {
        title: "Agents",
        meta: quiet_meta(describe_total_usage(state).unwrap_or_default()),
        lines,
        opens: Some(ScreenCommand::Show(TabKind::Status)),
        line_commands: Vec::new(),
    })
}

/// Returns the style of a role's bar, which is its own until little is left.
fn bar_style(percent: u64, role: Role) -> Style {
    match usage_style(percent) {
        theme::PLAIN => theme::role_style(role),
        warning => warning,
    }
}

fn files_section(state: &RunState, columns: usize, n_entries: usize) -> Option<SidebarSection> {
    let mut paths: Vec<&String> = state.ended_steps().flat_map(|step| &step.changed).collect();
    paths.sort_unstable();
    paths.dedup();
    if paths.is_empty() {
        return None;
    }
    let shown = paths.iter().take(n_entries);
    let mut lines: Vec<Line<'static>> = shown
        .clone()
        .map(|path| Line::raw(truncate_middle(&to_one_line(path), columns)))
        .collect();
    let n_hidden = paths.len() - lines.len();
    if n_hidden > 0 {
        lines.push(more_line(n_hidden));
    }
    Some(SidebarSection {
        title: "Changed",
        meta: changed_meta(paths.len(), committed_lines(state)),
        lines,
        opens: Some(ScreenCommand::Diff(DiffScope::All)),
        line_commands: shown
            .map(|path| ScreenCommand::DiffOfFile((*path).clone()))
            .collect(),
    })
}

/// Counts the changed files, and the lines where they are known.
fn changed_meta(n_files: usize, lines: Option<(u32, u32)>) -> Vec<Span<'static>> {
    let mut meta = quiet_meta(pluralize(n_files, "file"));
    if let Some((added, removed)) = lines {
        let lead = if added > 0 { " −" } else { "  −" };
        let counts = [("  +", added, theme::GOOD), (lead, removed, theme::BAD)];
        let counts = counts.into_iter().filter(|(_, n, _)| *n > 0);
        meta.extend(counts.map(|(sign, n, style)| Span::styled(format!("{sign}{n}"), style)));
    }
    meta
}

/// Returns how many lines the commits of all steps add and remove; `None` unless each of them was counted.
fn committed_lines(state: &RunState) -> Option<(u32, u32)> {
    let sizes = state.ended_steps().filter_map(|step| match step.outcome {
        StepOutcome::Committed { size, .. } => Some(size),
        StepOutcome::Uncommitted { .. } => Some(None),
        StepOutcome::NoChange => None,
    });
    let sizes: Vec<CommitSize> = sizes.collect::<Option<_>>()?;
    let added = sizes.iter().map(|size| size.added).sum();
    Some((added, sizes.iter().map(|size| size.removed).sum()))
}

fn more_line(n: usize) -> Line<'static> {
    Line::styled(format!("  {n} more"), theme::QUIET)
}
