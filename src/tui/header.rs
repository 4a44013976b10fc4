//! The header: the goal, the phases, the tabs, and who is working.
//!
//! If space is short, only the current phase is shown, so that who is working stays visible.

mod phase_line;
mod phase_path;
mod tab_bar;
mod usage_line;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::Screen;
use super::labels;
use super::read_only::OwnerActivity;
use super::tabs::TabKind;
use super::text_wrap::{draw_line, text_width, to_one_line, truncate_to_columns};
use super::theme;
use crate::domain::ids::UnixMillis;
use crate::domain::phase::{Mode, Phase};
use crate::domain::plan_execution::StepStage;
use crate::domain::question::CommitTarget;
use crate::domain::run::{ProgramOperation, ResultValidity, RunState, RunningTurn};
use crate::domain::task::ChildSession;
use crate::text::pluralize;
pub use usage_line::describe_usage;

/// The clickable areas of the header.
#[derive(Debug, Default)]
pub struct HeaderHitAreas {
    pub tabs: Vec<(Rect, TabKind)>,
    /// The text that says that the run waits for the user.
    pub need: Rect,
}

/// Draws as many of its three lines as fit.
pub fn draw(
    screen: &Screen,
    frame: &mut Frame,
    area: Rect,
    state: Option<&RunState>,
    now: UnixMillis,
) -> HeaderHitAreas {
    let columns = usize::from(area.width);
    let row = |n: u16| Rect {
        y: area.y.saturating_add(n),
        height: 1,
        ..area
    };
    let state_line = |frame: &mut Frame, row: Rect| {
        let line = state_line(screen, state, now, columns);
        let need = find_need_area(&line, row);
        draw_line(frame, &line, row);
        need
    };
    match area.height {
        0 => HeaderHitAreas::default(),
        1 => HeaderHitAreas {
            tabs: Vec::new(),
            need: state_line(frame, row(0)),
        },
        2 => {
            let need = state_line(frame, row(0));
            let bar = tab_bar::lay_out_tab_bar(screen, row(1), state);
            draw_line(frame, &Line::from(bar.spans), row(1));
            let tabs = bar.hit_areas;
            HeaderHitAreas { tabs, need }
        }
        _ => {
            draw_line(frame, &title_line(screen, state, columns), row(0));
            let bar = tab_bar::lay_out_tab_bar(screen, row(2), state);
            let room = columns.saturating_sub(bar.columns + 1);
            let works = state.and_then(|state| activity_spans(screen, state, now, room));
            let need = match (state, works) {
                (Some(state), Some(works)) => {
                    draw_line(frame, &phase_line::phase_line(state, columns), row(1));
                    let works = align_left_and_right(bar.spans, works, columns);
                    let need = find_need_area(&works, row(2));
                    draw_line(frame, &works, row(2));
                    need
                }
                _ => {
                    draw_line(frame, &Line::from(bar.spans), row(2));
                    state_line(frame, row(1))
                }
            };
            let tabs = bar.hit_areas;
            HeaderHitAreas { tabs, need }
        }
    }
}

/// Returns the area of the text that says that the run waits for the user; empty if there is none.
fn find_need_area(line: &Line<'_>, row: Rect) -> Rect {
    let mut place = Rect { width: 0, ..row };
    for span in &line.spans {
        let columns = u16::try_from(text_width(&span.content)).unwrap_or(u16::MAX);
        let says_so = span.style == theme::CHOSEN || span.style == theme::NEEDS_YOU;
        if says_so && span.content.contains(WAITS) {
            place.width = columns;
            return place.intersection(row);
        }
        place.x = place.x.saturating_add(columns);
    }
    Rect::default()
}

/// The text for a run that waits for the user.
const WAITS: &str = "Waiting for you";

/// Joins two texts in one line, one aligned left and one right.
fn align_left_and_right(
    mut left: Vec<Span<'static>>,
    right: Vec<Span<'static>>,
    columns: usize,
) -> Line<'static> {
    let used = phase_path::spans_width(&left) + phase_path::spans_width(&right);
    left.push(Span::raw(" ".repeat(columns.saturating_sub(used))));
    left.extend(right);
    Line::from(left)
}

/// Joins the parts that are not empty.
fn join_parts(parts: &[&str], between: &str) -> String {
    let parts = parts.iter().copied().filter(|part| !part.is_empty());
    parts.collect::<Vec<&str>>().join(between)
}

/// Returns who is working, with the usage so far if there is room; `None` if not even the first fits.
fn activity_spans(
    screen: &Screen,
    state: &RunState,
    now: UnixMillis,
    room: usize,
) -> Option<Vec<Span<'static>>> {
    let forms = [
        AgentLabelForm::WithAdapter,
        AgentLabelForm::Alone,
        AgentLabelForm::Briefly,
        AgentLabelForm::WithTime,
    ];
    let mut forms = forms.into_iter().map(|form| {
        let (who, style) = describe_activity(screen, state, now, form);
        (form, who, style)
    });
    let (form, who, style) = forms.find(|(_, who, _)| text_width(who) < room)?;
    // A run that waits for the user is highlighted.
    let needs_you = style == theme::NEEDS_YOU && text_width(&who) + 2 <= room;
    let who = if needs_you {
        Span::styled(format!(" {who} "), theme::CHOSEN)
    } else {
        Span::styled(format!("{who} "), style)
    };
    let mut spans = Vec::new();
    // What the agent is doing matters more than the usage.
    if form != AgentLabelForm::WithTime {
        let room = room.saturating_sub(text_width(&who.content) + 3);
        let mut used = usage_line::usage_forms(state).into_iter();
        if let Some(used) = used.find(|used| text_width(used) <= room) {
            spans.push(Span::styled(format!("{used} · "), theme::QUIET));
        }
    }
    spans.push(who);
    Some(spans)
}

/// Returns the branch that gets the commits, or the checked-out one.
fn shown_branch<'a>(screen: &'a Screen, state: Option<&'a RunState>) -> Option<&'a str> {
    let execution = state.and_then(|state| state.execution.as_ref());
    match execution.map(|execution| &execution.commits) {
        Some(CommitTarget::Current { branch } | CommitTarget::New { branch }) => Some(branch),
        Some(CommitTarget::Off { .. }) | None => screen.settings.branch.as_deref(),
    }
}

/// Returns the line with the goal at the left and the repository at the right.
fn title_line(screen: &Screen, state: Option<&RunState>, columns: usize) -> Line<'static> {
    let repository = folder_name(&screen.settings.repository);
    let place = match shown_branch(screen, state) {
        Some(branch) => format!("{repository} · {}", to_one_line(branch)),
        None => repository,
    };
    let goal = state.and_then(|state| state.goal.as_ref());
    let title = goal.map_or_else(
        || "agent-collab".to_owned(),
        |goal| to_one_line(&goal.title),
    );
    let badge = badge_span(screen, columns);
    let n_badge = text_width(&badge.content);
    let place = truncate_to_columns(&place, columns.saturating_sub(n_badge) / 2);
    let room = columns.saturating_sub(text_width(&place) + n_badge + 3);
    let title = truncate_to_columns(&title, room);
    let gap = columns.saturating_sub(text_width(&title) + n_badge + text_width(&place) + 2);
    Line::from(vec![
        Span::raw(" "),
        Span::styled(title, theme::STRONG),
        Span::raw(" ".repeat(gap)),
        badge,
        Span::styled(place, theme::QUIET),
        Span::raw(" "),
    ])
}

/// Returns the last component of a path; the Status tab shows the whole path.
fn folder_name(path: &str) -> String {
    let path = to_one_line(path);
    let name = path.trim_end_matches('/').rsplit('/').next();
    name.filter(|name| !name.is_empty())
        .map_or_else(|| path.clone(), str::to_owned)
}

/// Returns the badge before the repository's name: read-only, demo or without a sandbox.
fn badge_span(screen: &Screen, columns: usize) -> Span<'static> {
    match &screen.settings.read_only {
        Some(_) if columns < 60 => Span::styled(" read-only · ", theme::PLAIN),
        Some(read_only) => {
            let text = format!(" read-only, {} · ", to_one_line(&read_only.badge));
            Span::styled(text, theme::PLAIN)
        }
        None if screen.settings.demo => Span::styled(" demo · ", theme::PLAIN),
        None if screen.run_facts.is_unsandboxed => Span::styled(" no sandbox · ", theme::WARNING),
        None => Span::styled("", theme::PLAIN),
    }
}

fn state_line(
    screen: &Screen,
    state: Option<&RunState>,
    now: UnixMillis,
    columns: usize,
) -> Line<'static> {
    let Some(state) = state else {
        let (text, style) = match screen.dialogs.unfinished_run {
            _ if screen.run_facts.is_needed_by_covered_screen => {
                (" Your run is waiting for you", theme::NEEDS_YOU)
            }
            _ if screen.is_read_only() => (" No run yet", theme::QUIET),
            _ if screen.dialogs.instructions.is_some() => {
                (" The run starts after your answer", theme::NEEDS_YOU)
            }
            Some(_) => (" An unfinished run is waiting for you", theme::NEEDS_YOU),
            None => (" What should we build?", theme::NEEDS_YOU),
        };
        return Line::from(Span::styled(truncate_to_columns(text, columns), style));
    };
    let mut progress = phase_line::phase_progress(state);
    let phase = if progress.names_phase {
        std::mem::take(&mut progress).short
    } else {
        state.phase.label().to_owned()
    };
    let mut parts = vec![(phase, theme::STRONG)];
    if state.mode != Mode::Default {
        // An unusual mode is shown early in the line, so that it is visible in a narrow window too.
        parts.push((
            state.mode.label().to_owned(),
            phase_line::mode_style(state.mode),
        ));
    }
    parts.extend(activity_parts(
        screen,
        state,
        now,
        columns,
        parts_width(&parts),
        progress,
    ));
    let mut spans = vec![Span::raw(" ")];
    let mut used = 1;
    for (n, (text, style)) in parts.into_iter().enumerate() {
        let lead = if n == 0 { "" } else { " · " };
        let text = truncate_to_columns(&text, columns.saturating_sub(used + text_width(lead)));
        used += text_width(lead) + text_width(&text);
        spans.push(Span::styled(lead, theme::QUIET));
        spans.push(Span::styled(text, style));
    }
    Line::from(spans)
}

/// A text of the line, and its style.
type HeaderPart = (String, ratatui::style::Style);

/// Returns the width of the parts with their separators and margin.
fn parts_width(parts: &[HeaderPart]) -> usize {
    parts.iter().map(|(text, _)| text_width(text) + 3).sum()
}

/// Returns the progress, the gate, and who has been working since when: as much as fits. The time is dropped last.
fn activity_parts(
    screen: &Screen,
    state: &RunState,
    now: UnixMillis,
    columns: usize,
    taken: usize,
    progress: phase_line::PhaseProgress,
) -> Vec<HeaderPart> {
    let plain = |text: &str| (text.to_owned(), theme::PLAIN);
    let who = |named| describe_activity(screen, state, now, named);
    let phase_line::PhaseProgress { long, short, .. } = progress;
    let gate = state.gate.label();
    let forms = [
        vec![plain(&long), plain(gate), who(AgentLabelForm::WithAdapter)],
        vec![plain(&short), who(AgentLabelForm::Alone), plain(gate)],
        vec![plain(&short), who(AgentLabelForm::Alone)],
        vec![plain(&short), who(AgentLabelForm::WithTime), plain(gate)],
        vec![plain(&short), who(AgentLabelForm::WithTime)],
    ];
    let told = |form: Vec<HeaderPart>| -> Vec<HeaderPart> {
        let parts = form.into_iter();
        parts.filter(|(text, _)| !text.is_empty()).collect()
    };
    // In a narrow window who is working comes before the gate, even if both would fit.
    let mut forms = forms.into_iter().map(told).skip(usize::from(columns < 60));
    let found = forms.find(|form| taken + parts_width(form) <= columns + 2);
    found.unwrap_or_else(|| vec![who(AgentLabelForm::WithTime)])
}

/// How an agent's activity is described.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AgentLabelForm {
    WithAdapter,
    Alone,
    /// Without the adapter and the double blank, and a silence without its reason, which Status shows.
    Briefly,
    /// Also without the activity, so that the elapsed time fits.
    WithTime,
}

/// Describes who is active or needed: the user, an agent or the program.
fn describe_activity(
    screen: &Screen,
    state: &RunState,
    now: UnixMillis,
    named: AgentLabelForm,
) -> (String, ratatui::style::Style) {
    if screen.run_facts.is_quitting {
        return ("Quitting".to_owned(), theme::STRONG);
    }
    if screen.run_facts.is_needed_by_covered_screen {
        return ("Your run is waiting for you".to_owned(), theme::NEEDS_YOU);
    }
    let clock = screen.local_clock();
    let limit = match named {
        AgentLabelForm::WithAdapter => labels::describe_usage_limit(state, now, clock),
        AgentLabelForm::Alone | AgentLabelForm::Briefly | AgentLabelForm::WithTime => {
            labels::describe_usage_wait(state, clock)
        }
    };
    if let Some(text) = limit {
        return (text, theme::WARNING);
    }
    if let Some(word) = describe_read_only_run(screen, state) {
        return (word.to_owned(), theme::QUIET);
    }
    if !state.approvals.is_empty() || state.current_question().is_some() {
        return (WAITS.to_owned(), theme::NEEDS_YOU);
    }
    if let Some(running) = &state.running {
        let role = running.order.purpose.role();
        let text = describe_turn(screen, state, running, now, named);
        return (text, theme::role_style(role));
    }
    match &state.busy {
        Some(busy) => {
            let text = describe_busy_program(screen, state, busy, now, named);
            (text, theme::RUNNING)
        }
        None if state.phase.is_final() => {
            let style = match state.phase {
                Phase::Done => theme::GOOD,
                _ => theme::QUIET,
            };
            let parts = ["Run finished", &describe_running_tasks(state)];
            (join_parts(&parts, " · "), style)
        }
        None if state.phase == Phase::RefineGoal => (WAITS.to_owned(), theme::NEEDS_YOU),
        None => match super::discussion_commands::describe_running(state, now) {
            Some(text) => (text, theme::RUNNING),
            None => ("Idle".to_owned(), theme::QUIET),
        },
    }
}

/// Describes what the agent of the running turn is doing, and since when.
fn describe_turn(
    screen: &Screen,
    state: &RunState,
    running: &RunningTurn,
    now: UnixMillis,
    named: AgentLabelForm,
) -> String {
    let role = running.order.purpose.role();
    let adapter = state.session(role).map_or("", |session| &session.adapter);
    let who = match named {
        AgentLabelForm::WithAdapter => {
            format!("{} ({})", labels::role_title(role), to_one_line(adapter))
        }
        AgentLabelForm::Alone | AgentLabelForm::Briefly | AgentLabelForm::WithTime => {
            labels::role_title(role).to_owned()
        }
    };
    let took = labels::format_elapsed(running.started_at, now);
    match (&screen.tabs.status.silent_turn, running.result) {
        (Some(silent), ResultValidity::Yes)
            if matches!(named, AgentLabelForm::Briefly | AgentLabelForm::WithTime) =>
        {
            format!("{who} silent {}", labels::format_elapsed(silent.since, now))
        }
        (Some(silent), ResultValidity::Yes) => format!(
            "{who} {}",
            screen
                .local_clock()
                .localize_utc_times(&silent.describe(now))
        ),
        (None, ResultValidity::Yes) if named == AgentLabelForm::WithTime => {
            format!("{who} {took}")
        }
        (None, ResultValidity::Yes) => {
            let doing = running.order.purpose.describe_progress();
            let gap = if named == AgentLabelForm::Briefly {
                " "
            } else {
                "  "
            };
            format!("{who} {doing}{gap}{took}")
        }
        (_, ResultValidity::No) if named == AgentLabelForm::WithTime => {
            format!("{who} stopping {took}")
        }
        (_, ResultValidity::No) => format!("{who} is being interrupted {took}"),
    }
}

/// Describes the tasks that still run after the end of the run; empty if there are none.
fn describe_running_tasks(state: &RunState) -> String {
    let is_task = |child: &&ChildSession| child.is_running() && child.order.speaks.is_none();
    let tasks = state.children.iter().filter(is_task);
    let (started, queued): (Vec<&ChildSession>, Vec<&ChildSession>) =
        tasks.partition(|child| child.began_at.is_some());
    let verb = |n: usize, one: &str, several: &str| match n {
        1 => one.to_owned(),
        _ => several.to_owned(),
    };
    let runs = format!(
        "{} {}",
        pluralize(started.len(), "task"),
        verb(started.len(), "runs", "run")
    );
    let waits = |what: String| format!("{what} {}", verb(queued.len(), "waits", "wait"));
    match (started.len(), queued.len()) {
        (0, 0) => String::new(),
        (_, 0) => runs,
        (0, n) => waits(pluralize(n, "task")),
        (_, n) => format!("{runs}, {}", waits(n.to_string())),
    }
}

/// Describes a run on a read-only screen while no agent works.
fn describe_read_only_run(screen: &Screen, state: &RunState) -> Option<&'static str> {
    let read_only = screen.settings.read_only.as_ref()?;
    let waits = !state.approvals.is_empty() || state.current_question().is_some();
    match read_only.owner_activity {
        OwnerActivity::Working if waits => Some("Waiting for its user"),
        OwnerActivity::Working if state.phase == Phase::RefineGoal && state.running.is_none() => {
            Some("Waiting for its user")
        }
        OwnerActivity::Working => None,
        OwnerActivity::Idle if state.phase.is_final() => None,
        OwnerActivity::Idle => Some("Idle"),
    }
}

/// Describes what the program does: of a proof also which of its test runs, and since when.
fn describe_busy_program(
    screen: &Screen,
    state: &RunState,
    busy: &ProgramOperation,
    now: UnixMillis,
    named: AgentLabelForm,
) -> String {
    let what = describe_program_operation(busy, state);
    let step = match busy {
        ProgramOperation::Baseline => Some(0),
        _ if state.is_testing_step() => state.current_step_number(),
        _ => None,
    };
    let running = step.and_then(|step| Some((step, screen.tabs.plan.proof_board.running(step)?)));
    let Some((step, (run, since))) = running else {
        return what;
    };
    let (run, took) = (run.describe(), labels::format_elapsed(since, now));
    match named {
        AgentLabelForm::WithTime => format!("{what}  {took}"),
        AgentLabelForm::Briefly if step == 0 => format!("Before step 1: {run} {took}"),
        AgentLabelForm::Briefly => format!("Step {step}: {run} {took}"),
        AgentLabelForm::WithAdapter | AgentLabelForm::Alone => format!("{what}: {run}  {took}"),
    }
}

/// Describes the program's own operation.
pub fn describe_program_operation(busy: &ProgramOperation, state: &RunState) -> String {
    let execution = state.execution.as_ref();
    let current = execution.and_then(|execution| execution.current.as_ref());
    let text = match (busy, current) {
        (ProgramOperation::Collecting { .. }, _) => "Reading the document",
        (ProgramOperation::Storing { .. }, _) => "Saving the working tree",
        (ProgramOperation::Held { .. }, _) => "Waiting for your answer",
        (ProgramOperation::Surveying, _) => "Checking the repository",
        (ProgramOperation::Entering, _) => "Preparing the branch",
        (ProgramOperation::Baseline, _) => "Running the tests before step 1",
        (ProgramOperation::Moving { .. }, _) => "Moving to the other CLI",
        (ProgramOperation::Stepping { .. }, Some(step)) => {
            let verb = match step.stage {
                StepStage::Test => "Testing",
                StepStage::Prove => "Proving",
                StepStage::Code
                | StepStage::Audit
                | StepStage::Fix
                | StepStage::Commit
                | StepStage::Record => "Checking",
            };
            &format!("{verb} step {}", step.n)
        }
        (ProgramOperation::Stepping { .. }, None) => "Checking the step",
        (ProgramOperation::Reversing { .. }, _) => "Restoring files",
    };
    text.to_owned()
}
