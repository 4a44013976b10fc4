//! Tab: who took part and when, what was reviewed, done and checked, and what it used.

mod children;
mod discussions;
mod tables;
mod timeline;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;
use crate::domain::session::{AccountUsageWindow, Session, SessionUsage, version_label};
use crate::domain::todo_list::TodoStatus;
use crate::domain::turn::Role;
use crate::tui::Silent;
use crate::tui::page::Page;
use crate::tui::theme;
use crate::tui::words::{self, Clock, dollars, elapsed, gate, silent as in_words, tokens, until};
use crate::tui::wrap::{one_line, width, wrap, wrap_own};

/// What of the run stands outside of its state.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The run.
    pub state: Option<&'a RunState>,
    /// That its turn gives no sign of life.
    pub silent: Option<&'a Silent>,
    /// What holds each adapter's CLI.
    pub held: &'a [Held],
    /// Which instructions for agents the repository has, and whether they reach them; empty where there are none.
    pub project_asks: &'a str,
    /// The user's time of day.
    pub clock: Clock,
    /// The key that interrupts a turn.
    pub interrupt: &'a str,
}

/// What holds the CLI of an adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The adapter, by its name in the configuration.
    pub adapter: String,
    /// What the kernel holds.
    pub by_kernel: String,
    /// What only its protocol does.
    pub by_protocol: String,
}

/// Draws the run's facts.
pub fn draw(page: &mut Page, frame: &mut Frame, area: Rect, about: About<'_>, now: UnixMillis) {
    let area = Rect {
        x: area.x + 1,
        width: area.width.saturating_sub(1),
        ..area
    };
    let columns = usize::from(area.width);
    page.set_lines(match about.state {
        Some(state) => lay_out(state, about, now, columns),
        None => wrap_own("There is no run yet.", columns, theme::QUIET),
    });
    page.draw(frame, area);
}

fn lay_out(
    state: &RunState,
    about: About<'_>,
    now: UnixMillis,
    columns: usize,
) -> Vec<Line<'static>> {
    // Nothing goes on any more in a run that is over.
    let last = state
        .course
        .last_event_at()
        .filter(|_| state.phase.is_final());
    let end = last.unwrap_or(now);
    let mut lines = Vec::new();
    let mut section = |title: &str, body: Vec<Line<'static>>| {
        if body.is_empty() {
            return;
        }
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        // What is an agent's has its colour here, too.
        let mut roles = [Role::Planner, Role::Reviewer].into_iter();
        let style = roles.find(|role| role.name() == title).map(theme::role);
        let style = style.unwrap_or(theme::STRONG);
        lines.push(Line::styled(title.to_owned(), style));
        lines.extend(body);
    };
    let rows = |rows: Vec<Row>| rows.iter().flat_map(|row| row.lay_out(columns)).collect();
    section("now", rows(now_rows(state, about, now)));
    section("tasks", tasks(state, end, columns));
    section("discussions", rows(discussions::rows(state, end)));
    section(
        "timeline",
        timeline::lines(state, (end, about.clock), columns),
    );
    section(
        "reviews",
        tables::reviews(state, about.clock).lay_out(columns),
    );
    section("steps", tables::steps(state, end).lay_out(columns));
    section("checks", rows(checks(state)));
    for role in [Role::Planner, Role::Reviewer] {
        let body = match state.session(role) {
            Some(session) => of_session(state, (role, session), about, now),
            None => vec![row("adapter", "none: the plan is not reviewed")],
        };
        section(role.name(), rows(body));
    }
    section(
        "last turns",
        tables::turns(state, (end, about.clock)).lay_out(columns),
    );
    lines
}

/// The children, and where more can be done with them.
fn tasks(state: &RunState, now: UnixMillis, columns: usize) -> Vec<Line<'static>> {
    let mut lines = children::table(state, now).lay_out(columns);
    if !lines.is_empty() {
        let hint = Row::new("", "/sessions opens one, or stops it", theme::QUIET);
        lines.extend(hint.lay_out(columns));
    }
    lines
}

fn now_rows(state: &RunState, about: About<'_>, now: UnixMillis) -> Vec<Row> {
    let clock = about.clock;
    let mut rows = vec![row(
        "phase",
        &format!(
            "{} · gate {} · mode {}: {}",
            state.phase.name(),
            gate(state.gate),
            state.mode.name(),
            state.mode.describe()
        ),
    )];
    if state.iteration > 0 {
        let text = format!(
            "iteration {} of at most {} · without progress: {} of at most {}",
            state.iteration,
            state.iteration_limit(),
            state.stall,
            state.settings.stall_limit
        );
        rows.push(row("review", &text));
    }
    if let Some(running) = &state.running {
        let process = match &running.process {
            Some(process) => format!("process {}", process.pid),
            None => "no process yet".to_owned(),
        };
        let text = format!(
            "{} {} for {}, {process}",
            running.order.purpose.role().name(),
            running.order.purpose.describe(),
            elapsed(running.started_at, now)
        );
        rows.push(row("turn", &text));
        let silent = about.silent.into_iter();
        rows.extend(silent.flat_map(|silent| of_silence(silent, (clock, now), about.interrupt)));
    }
    if let Some(text) = words::limit(state, now, clock) {
        rows.push(Row::new("waits", &text, theme::WARNING));
    }
    if state.failures > 0 {
        let text = format!("{} in a row", state.failures);
        rows.push(Row::new("failures", &text, theme::BAD));
    }
    if !about.project_asks.is_empty() {
        rows.push(row("project", about.project_asks));
    }
    let run = format!("since {}, {}", clock.minute(state.created), state.run);
    rows.push(row("run", &run));
    rows
}

fn of_silence(silent: &Silent, (clock, now): (Clock, UnixMillis), key: &str) -> [Row; 2] {
    let text = clock.local(&in_words(silent, now));
    [
        Row::new("silence", &text, theme::WARNING),
        row(
            "you may",
            &format!("interrupt it with {key}; nothing is ended before limits.turn_timeout"),
        ),
    ]
}

fn of_session(
    state: &RunState,
    (role, session): (Role, &Session),
    about: About<'_>,
    now: UnixMillis,
) -> Vec<Row> {
    let cli = match session.version.as_deref() {
        Some(version) => version_label(&session.adapter, version),
        None => format!("{}, version not known yet", session.adapter),
    };
    let mut rows = vec![row("cli", &cli)];
    let all = state.course.role_usage(role);
    let used = if all.input_tokens > 0 {
        &all
    } else {
        &session.usage
    };
    rows.extend(used_row(used));
    rows.extend(context_row(&session.usage));
    rows.extend(plan_rows(&session.plan, about.clock, now));
    let held = about.held.iter();
    for held in held.filter(|held| held.adapter == session.adapter) {
        rows.push(row("held", &format!("by the kernel: {}", held.by_kernel)));
        rows.push(row("", &format!("by protocol only: {}", held.by_protocol)));
    }
    rows.extend(todos(session));
    let id = session.external_id.as_deref().unwrap_or("not opened yet");
    let n = session.n_messages;
    let messages = if n == 1 { "message" } else { "messages" };
    rows.push(row("session", &format!("{n} {messages}, {id}")));
    if let Some(from) = &session.moved_from {
        let text = format!("from {from}: it goes on here from a recovery prompt");
        rows.push(Row::new("moved", &text, theme::BAD));
    } else if session.degraded {
        let text = "the CLI lost the conversation once; it goes on from a recovery prompt";
        rows.push(Row::new("degraded", text, theme::BAD));
    }
    rows
}

/// What the agent has on its list.
fn todos(session: &Session) -> Vec<Row> {
    let items = session.todos.items().iter();
    let rows = items.enumerate().map(|(n, todo)| {
        let (sign, style) = match todo.status {
            TodoStatus::Pending => ("☐", theme::PLAIN),
            TodoStatus::InProgress => ("▸", theme::STRONG),
            TodoStatus::Completed => ("☑", theme::QUIET),
        };
        let name = if n == 0 { "todos" } else { "" };
        Row::new(name, &format!("{sign} {}", todo.content), style)
    });
    rows.collect()
}

/// What was used; nothing before the first answer.
fn used_row(usage: &SessionUsage) -> Option<Row> {
    if usage.input_tokens == 0 && usage.output_tokens == 0 {
        return None;
    }
    let cost = usage.cost_micro_usd.filter(|micro| *micro > 0);
    let cost = cost.map_or(String::new(), |micro| format!(", {}", dollars(micro)));
    let text = format!(
        "{} tokens in, {} out{cost}",
        tokens(usage.input_tokens),
        tokens(usage.output_tokens)
    );
    Some(row("used", &text))
}

/// How full the model's context is, where the CLI tells.
fn context_row(usage: &SessionUsage) -> Option<Row> {
    let window = usage.context_window.filter(|window| *window > 0)?;
    let Some(used) = usage.context_tokens else {
        let text = format!(
            "{} tokens; how full it is, the CLI does not tell",
            tokens(window)
        );
        return Some(row("context", &text));
    };
    let percent = used.min(window) * 100 / window;
    let text = format!(
        "{} {} of {}, {percent}%",
        bar(percent),
        tokens(used),
        tokens(window)
    );
    Some(Row::new("context", &text, by_fill(percent)))
}

/// How much of its account's plan is used, and when that begins anew, where the CLI tells.
fn plan_rows(windows: &[AccountUsageWindow], clock: Clock, now: UnixMillis) -> Vec<Row> {
    let row = |(n, window): (usize, &AccountUsageWindow)| {
        let percent = u64::from(window.used_percent);
        let span = window.minutes.map_or(String::new(), |minutes| {
            format!(" of {}", words::length(minutes))
        });
        let anew = match window.resets_at {
            Some(at) if at > now => {
                format!(", anew {} ({})", clock.day(at, now), until(at, now))
            }
            Some(_) => ", anew since then".to_owned(),
            None => String::new(),
        };
        let text = format!("{} {percent}%{span}{anew}", bar(percent));
        let name = if n == 0 { "limits" } else { "" };
        Row::new(name, &text, by_fill(percent))
    };
    windows.iter().enumerate().map(row).collect()
}

/// A share of a hundred as a bar.
fn bar(percent: u64) -> String {
    /// Columns of the bar.
    const BAR: usize = 20;
    let filled = usize::try_from(percent.min(100)).unwrap_or(0) * BAR / 100;
    format!("{}{}", "█".repeat(filled), "░".repeat(BAR - filled))
}

/// What is nearly full stands out.
fn by_fill(percent: u64) -> Style {
    match percent {
        90.. => theme::BAD,
        _ => theme::PLAIN,
    }
}

fn checks(state: &RunState) -> Vec<Row> {
    let Some(execution) = &state.execution else {
        return Vec::new();
    };
    match &execution.test {
        Some(test) => vec![row(
            "command",
            &format!("{} ({})", test.command, test.origin.describe()),
        )],
        None => vec![Row::new("command", "none: nothing is tested", theme::BAD)],
    }
}

/// Where what is said begins.
const INDENT: usize = 11;

/// A name and what is to be said of it.
struct Row {
    name: String,
    text: String,
    style: Style,
}

impl Row {
    fn new(name: &str, text: &str, style: Style) -> Self {
        Self {
            name: name.to_owned(),
            text: one_line(text),
            style,
        }
    }

    fn lay_out(&self, columns: usize) -> Vec<Line<'static>> {
        let name = format!("  {:<9}", self.name);
        let spans = [
            Span::styled(name, theme::QUIET),
            Span::styled(self.text.as_str(), self.style),
        ];
        // What cannot be broken is read whole: it begins further to the left rather than to be cut in two.
        let longest = self.text.split(' ').map(width).max().unwrap_or(0);
        let indent = match longest + INDENT > columns {
            true => 2,
            false => INDENT,
        };
        wrap(&spans, columns, indent)
    }
}

fn row(name: &str, text: &str) -> Row {
    Row::new(name, text, theme::PLAIN)
}
