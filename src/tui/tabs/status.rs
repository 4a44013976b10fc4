//! Tab: sessions, timeline, reviews, steps, checks and usage of the run.

mod child_table;
mod discussion_rows;
mod status_page;
mod status_tab;
mod status_tables;
mod timeline_bars;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use status_page::{StatusPage, StatusSection};
pub use status_tab::StatusTab;
use status_tables::StatusTable;

use crate::domain::findings::FindingOutcome;
use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;
use crate::domain::run_timeline::ReviewSpan;
use crate::domain::session::{AccountUsageWindow, Session, SessionUsage, version_label};
use crate::domain::todo_list::TodoStatus;
use crate::domain::turn::Role;
use crate::tui::labels::{
    self, LocalClock, format_dollars, format_elapsed, format_tokens, format_until,
};
use crate::tui::scroll_view::ScrollView;
use crate::tui::text_wrap::{
    text_width, to_one_line, truncate_to_columns, wrap_spans, wrap_trusted_text,
};
use crate::tui::theme;

/// A running turn that gives no output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SilentTurn {
    pub since: UnixMillis,
    /// The likely reason, where one is known.
    pub verdict: Option<String>,
}

impl SilentTurn {
    /// Describes the silence: its duration, and the reason if known.
    pub fn describe(&self, now: UnixMillis) -> String {
        let since = format_elapsed(self.since, now);
        match &self.verdict {
            Some(verdict) => format!("silent {since}, {}", to_one_line(verdict)),
            None => format!("silent {since}"),
        }
    }
}

/// What the Status tab shows: the run's state, and facts that the state does not contain.
#[derive(Debug, Clone, Copy)]
struct StatusContext<'a> {
    pub state: Option<&'a RunState>,
    /// Set when the running turn gives no output.
    pub silent: Option<&'a SilentTurn>,
    /// How each adapter's CLI is sandboxed.
    pub sandboxes: &'a [AdapterSandboxView],
    /// Which agent instructions the repository contains, and whether agents receive them; empty if there
    /// are none.
    pub instructions_note: &'a str,
    /// Converts times to the user's time zone.
    pub clock: LocalClock,
    /// The key that interrupts a turn.
    pub interrupt: &'a str,
}

/// How an adapter's CLI is sandboxed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterSandboxView {
    /// The adapter, by its name in the configuration.
    pub adapter: String,
    /// What the kernel enforces.
    pub by_kernel: String,
    /// What only the CLI's protocol enforces.
    pub by_protocol: String,
}

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
        Some(state) => lay_out(state, about, now, columns).show_in(page),
        None => page.set_lines(wrap_trusted_text("No run yet.", columns, theme::QUIET)),
    }
    page.draw(frame, area);
}

/// How wide rows of text are at most, with their names.
const MAX_TEXT_COLUMNS: usize = 114;
/// Below this width tables have fewer columns.
const MIN_TABLE_COLUMNS: usize = 60;

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
    let half = page.pair_columns();
    let text_columns = columns.min(MAX_TEXT_COLUMNS);
    let clock = about.clock;
    let is_narrow = columns < MIN_TABLE_COLUMNS;
    // In a narrow window the first columns would take the place of what the row is about.
    let table = |title, table: StatusTable, less: &[&str]| {
        let table = table.without_columns(if is_narrow { less } else { &[] });
        StatusSection::new(title, table.lay_out(columns))
    };
    let reviews = status_tables::review_table(state, clock);
    let reviews = if page.has_pairs() || is_narrow {
        reviews.without_columns(&["At", "Answers"])
    } else {
        reviews
    };
    let mut reviews = reviews.lay_out(half);
    reviews.extend(lay_out_rows(&review_rows(state), half));
    reviews.extend(finding_lines(state, half, page.has_pairs()));
    page.push_pair([
        StatusSection::new("Run", lay_out_rows(&run_rows(state, about, now), half)),
        StatusSection::new("Review", reviews),
    ]);
    page.push(StatusSection::new("Tasks", task_lines(state, end, columns)));
    let discussions = discussion_rows::discussion_rows(state, end);
    page.push(StatusSection::new(
        "Discussions",
        lay_out_rows(&discussions, text_columns),
    ));
    page.push(StatusSection {
        remark: timeline_bars::axis_remark(state, end, clock),
        ..StatusSection::new(
            "Timeline",
            timeline_bars::timeline_lines(state, end, columns),
        )
    });
    let steps = status_tables::step_table(state, end);
    page.push(table("Steps", steps, &["Took", "Commit", "Fixes"]));
    page.push_pair([Role::Planner, Role::Reviewer].map(|role| {
        let rows = match state.session(role) {
            Some(session) => session_rows(state, role, session, about, now),
            None => vec![plain_row("Adapter", "none, the plan is not reviewed")],
        };
        StatusSection {
            // Agents have the same color here as in the chat.
            style: theme::role_style(role),
            is_agent: true,
            ..StatusSection::new(labels::role_title(role), lay_out_rows(&rows, half))
        }
    }));
    page.push(StatusSection::new(
        "Checks",
        lay_out_rows(&check_rows(state), text_columns),
    ));
    let turns = status_tables::turn_table(state, end, clock);
    page.push(table("Last turns", turns, &["At", "Took", "Cost", "End"]));
    page
}

fn lay_out_rows(rows: &[StatusRow], columns: usize) -> Vec<Line<'static>> {
    rows.iter().flat_map(|row| row.lay_out(columns)).collect()
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

/// Describes the first review while it has no row in the table, and the files that the reviewer did not open.
fn review_rows(state: &RunState) -> Vec<StatusRow> {
    let mut rows = Vec::new();
    if state.iteration > 0 && state.course.reviews().is_empty() {
        let text = format!("{} of {}", state.iteration, state.iteration_limit());
        rows.push(plain_row("Review", &text));
    }
    if let Some(unopened) = state.last_review().and_then(ReviewSpan::describe_unopened) {
        rows.push(StatusRow::new("Reviewer", &unopened, theme::WARNING));
    }
    rows
}

/// Renders what is left of the reviews: disputed findings, those that are left open, and rejected ones. A card has one row for each, and the
/// Comments tab has them whole.
fn finding_lines(state: &RunState, columns: usize, is_card: bool) -> Vec<Line<'static>> {
    let rejected = state.findings.all().iter();
    let rejected = rejected.filter(|finding| finding.outcome() == FindingOutcome::Rejected);
    let mut lines = Vec::new();
    for (label, findings) in [
        ("Disputed", state.findings.disputed().collect::<Vec<_>>()),
        ("Left open", state.findings.residual().collect()),
        ("Rejected", rejected.collect()),
    ] {
        let labels = std::iter::once(label).chain(std::iter::repeat(""));
        for (label, finding) in labels.zip(findings) {
            let mut text = to_one_line(&finding.describe_in_line());
            if is_card {
                text = truncate_to_columns(&text, columns.saturating_sub(TEXT_INDENT));
            }
            lines.extend(plain_row(label, &text).lay_out(columns));
        }
    }
    lines
}

fn run_rows(state: &RunState, about: StatusContext<'_>, now: UnixMillis) -> Vec<StatusRow> {
    let clock = about.clock;
    let access = format!("{}: {}", state.mode.label(), state.mode.describe());
    let turns = format!("{}: {}", state.gate.label(), state.gate.describe());
    let mut rows = vec![
        plain_row("Stage", state.phase.label()),
        plain_row("Turns", &turns),
        plain_row("Access", &access),
    ];
    // What the turn does, and for how long, is in the last row of the screen.
    if let Some(silent) = about.silent.filter(|_| state.running.is_some()) {
        rows.extend(silence_rows(silent, clock, now, about.interrupt));
    }
    if let Some(text) = labels::describe_usage_limit(state, now, clock) {
        rows.push(StatusRow::new("Waits", &text, theme::WARNING));
    }
    if let Some(proofs) = state.describe_proofs() {
        let style = match state.describe_unproven_steps() {
            Some(_) => theme::WARNING,
            None => theme::PLAIN,
        };
        rows.push(StatusRow::new("Proof", &proofs, style));
        if let Some(unproven) = state.describe_unproven_steps() {
            rows.push(StatusRow::new("Unproven", &unproven, theme::WARNING));
        }
    }
    if state.failures > 0 {
        let text = format!("{} in a row", state.failures);
        rows.push(StatusRow::new("Failures", &text, theme::BAD));
    }
    if !about.instructions_note.is_empty() {
        rows.push(plain_row("Project", about.instructions_note));
    }
    let since = clock.time_with_minutes(state.created);
    rows.push(plain_row("Started", &since));
    if let Some(head) = &state.receipt_head {
        let head: String = head.as_str().chars().take(12).collect();
        let text = format!("seal {head}, see agent-collab verify");
        rows.push(plain_row("Record", &text));
    }
    rows.push(plain_row("Run id", state.run.as_str()));
    rows
}

fn silence_rows(
    silent: &SilentTurn,
    clock: LocalClock,
    now: UnixMillis,
    key: &str,
) -> [StatusRow; 2] {
    let text = clock.localize_utc_times(&silent.describe(now));
    [
        StatusRow::new("Silence", &text, theme::WARNING),
        plain_row(
            "You can",
            &format!("interrupt it with {key}. Otherwise it runs until limits.turn_timeout"),
        ),
    ]
}

fn session_rows(
    state: &RunState,
    role: Role,
    session: &Session,
    about: StatusContext<'_>,
    now: UnixMillis,
) -> Vec<StatusRow> {
    let cli = match session.version.as_deref() {
        Some(version) => version_label(&session.adapter, version),
        None => format!("{}, version not known yet", session.adapter),
    };
    let mut cli = session.with_model(&cli);
    let running = state.running.as_ref();
    let running = running.filter(|turn| turn.order.purpose.role() == role);
    if let Some(process) = running.and_then(|turn| turn.process.as_ref()) {
        cli.push_str(&format!(" · process {}", process.pid));
    }
    let mut rows = vec![plain_row("CLI", &cli)];
    let all = state.course.role_usage(role);
    let used = if all.input_tokens > 0 {
        &all
    } else {
        &session.usage
    };
    rows.extend(usage_row(used));
    rows.extend(context_row(&session.usage));
    rows.extend(account_usage_rows(&session.plan, about.clock, now));
    rows.extend(todo_rows(session));
    if let Some(from) = &session.moved_from {
        let text = format!("from {from}, continued here with a recovery prompt");
        rows.push(StatusRow::new("Moved", &text, theme::BAD));
    } else if session.degraded {
        let text = "The CLI lost the session once. It continued with a recovery prompt";
        rows.push(StatusRow::new("Degraded", text, theme::BAD));
    }
    // What does not change comes last.
    let sandboxes = about.sandboxes.iter();
    for sandbox in sandboxes.filter(|sandbox| sandbox.adapter == session.adapter) {
        rows.push(plain_row("Sandbox", &sandbox.by_kernel));
        let text = format!("checked by protocol only: {}", sandbox.by_protocol);
        rows.push(StatusRow::new("", &text, theme::QUIET));
    }
    let id = session.external_id.as_deref().unwrap_or("not started yet");
    rows.push(plain_row("Session", id));
    rows.push(plain_row("Messages", &session.n_messages.to_string()));
    rows
}

/// Renders the agent's todo list.
fn todo_rows(session: &Session) -> Vec<StatusRow> {
    let items = session.todos.items().iter();
    let rows = items.enumerate().map(|(n, todo)| {
        let (sign, style) = match todo.status {
            TodoStatus::Pending => ("☐", theme::PLAIN),
            TodoStatus::InProgress => ("▸", theme::STRONG),
            TodoStatus::Completed => ("☑", theme::QUIET),
        };
        let name = if n == 0 { "Todos" } else { "" };
        StatusRow::new(name, &format!("{sign} {}", todo.content), style)
    });
    rows.collect()
}

/// Renders the token usage; nothing before the first answer.
fn usage_row(usage: &SessionUsage) -> Option<StatusRow> {
    if usage.input_tokens == 0 && usage.output_tokens == 0 {
        return None;
    }
    let cost = usage.cost_micro_usd.filter(|micro| *micro > 0);
    let cost = cost.map_or(String::new(), |micro| {
        format!(" · {}", format_dollars(micro))
    });
    let text = format!(
        "{} in · {} out{cost}",
        format_tokens(usage.input_tokens),
        format_tokens(usage.output_tokens)
    );
    Some(plain_row("Tokens", &text))
}

/// Renders how full the model's context is, if the CLI reports it.
fn context_row(usage: &SessionUsage) -> Option<StatusRow> {
    let window = usage.context_window.filter(|window| *window > 0)?;
    let Some(used) = usage.context_tokens else {
        let text = format!(
            "{} tokens (the CLI does not report how full it is)",
            format_tokens(window)
        );
        return Some(plain_row("Context", &text));
    };
    let percent = used.min(window) * 100 / window;
    let text = format!(
        "{} {percent}% of {} tokens",
        usage_bar(percent),
        format_tokens(window)
    );
    Some(StatusRow::new("Context", &text, usage_style(percent)))
}

/// Renders how much of the account's usage limits is used, and when they reset, if the CLI reports it.
fn account_usage_rows(
    windows: &[AccountUsageWindow],
    clock: LocalClock,
    now: UnixMillis,
) -> Vec<StatusRow> {
    let row = |(n, window): (usize, &AccountUsageWindow)| {
        let percent = u64::from(window.used_percent);
        let span = window.minutes.map_or(String::new(), |minutes| {
            format!(" of {}", labels::format_minutes(minutes))
        });
        let anew = match window.resets_at {
            Some(at) if at > now => {
                format!(
                    ", resets {} ({})",
                    clock.time_with_day(at, now),
                    format_until(at, now)
                )
            }
            Some(_) => ", has reset since then".to_owned(),
            None => String::new(),
        };
        let text = format!("{} {percent}%{span}{anew}", usage_bar(percent));
        let name = if n == 0 { "Limits" } else { "" };
        StatusRow::new(name, &text, usage_style(percent))
    };
    windows.iter().enumerate().map(row).collect()
}

/// Renders a percentage as a bar.
pub fn usage_bar(percent: u64) -> String {
    const BAR_COLUMNS: usize = 20;
    let percent = usize::try_from(percent.min(100)).unwrap_or(0);
    // What is used shows, however little it is.
    let filled = (percent * BAR_COLUMNS / 100).max(usize::from(percent > 0));
    format!("{}{}", "█".repeat(filled), "░".repeat(BAR_COLUMNS - filled))
}

/// Highlights a limit that is nearly reached.
pub fn usage_style(percent: u64) -> Style {
    match percent {
        90.. => theme::BAD,
        _ => theme::PLAIN,
    }
}

fn check_rows(state: &RunState) -> Vec<StatusRow> {
    let Some(execution) = &state.execution else {
        return Vec::new();
    };
    match &execution.test {
        Some(test) => vec![plain_row(
            "Command",
            &format!("{} ({})", test.command, test.origin.describe()),
        )],
        None => vec![StatusRow::new(
            "Command",
            "none, nothing is tested",
            theme::BAD,
        )],
    }
}

/// How many columns the name of a row takes, with the blanks behind it.
const NAME_COLUMNS: usize = 10;
/// Column at which the text of a row starts.
const TEXT_INDENT: usize = 2 + NAME_COLUMNS;

/// A name and its text.
struct StatusRow {
    name: String,
    text: String,
    style: Style,
}

impl StatusRow {
    fn new(name: &str, text: &str, style: Style) -> Self {
        Self {
            name: name.to_owned(),
            text: to_one_line(text),
            style,
        }
    }

    fn lay_out(&self, columns: usize) -> Vec<Line<'static>> {
        let name = format!("  {:<1$}", self.name, NAME_COLUMNS);
        let spans = [
            Span::styled(name, theme::QUIET),
            Span::styled(self.text.as_str(), self.style),
        ];
        // A word that does not fit behind the name, such as a long path, starts further left instead of
        // being broken.
        let longest = self.text.split(' ').map(text_width).max().unwrap_or(0);
        let indent = if longest + TEXT_INDENT > columns {
            2
        } else {
            TEXT_INDENT
        };
        wrap_spans(&spans, columns, indent)
    }
}

fn plain_row(name: &str, text: &str) -> StatusRow {
    StatusRow::new(name, text, theme::PLAIN)
}
