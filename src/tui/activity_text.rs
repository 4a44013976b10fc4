//! What happens now, in words: who works since when, or who is needed.

use std::time::Duration;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Screen;
use super::dialog::DialogOrigin;
use super::labels;
use super::labels::describe_program_operation;
use super::read_only::OwnerActivity;
use super::text_wrap::{text_width, truncate_to_columns};
use super::theme;
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::question::QuestionKind;
use crate::domain::run::{ProgramOperation, ResultValidity, RunState, RunningTurn};
use crate::domain::task::ChildSession;
use crate::domain::turn::Role;
use crate::text::pluralize;

/// The text for a run that waits for the user.
pub const WAITS: &str = "Waiting for you";
/// The style of that text while only a turn waits to be sent, which is no reason for alarm.
pub const WAITS_FOR_ROUTINE: Style = theme::ACCENT;

/// How an agent's activity is described.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentLabelForm {
    /// With all that is known of a usage limit.
    Full,
    Alone,
    /// Without the double blank.
    Briefly,
    /// Also without the activity, so that the elapsed time fits.
    WithTime,
}

impl AgentLabelForm {
    /// The forms, the longest first.
    pub const ALL: [Self; 4] = [Self::Full, Self::Alone, Self::Briefly, Self::WithTime];
}

/// Describes what the program waits for before there is a run.
fn describe_start(screen: &Screen) -> PresentText {
    let (text, style) = match screen.dialogs.unfinished_run {
        _ if screen.run_facts.is_needed_by_covered_screen => {
            ("● Your run is waiting for you", theme::NEEDS_YOU)
        }
        _ if screen.is_read_only() => ("No run yet", theme::QUIET),
        _ if screen.dialogs.instructions.is_some() => {
            ("● The run starts after your answer", theme::NEEDS_YOU)
        }
        Some(_) => ("● An unfinished run is waiting for you", theme::NEEDS_YOU),
        None if screen.run_facts.welcome.has_blocker() => ("Not ready", theme::WARNING),
        None => ("Ready", theme::QUIET),
    };
    PresentText::new(text, style)
}

/// The signs of the spinner, in turn; each without UTF-8 as a line that turns, see `ascii_fallback`.
pub const SPINNER: [&str; 8] = ["⠋ ", "⠙ ", "⠸ ", "⢰ ", "⣠ ", "⣄ ", "⡆ ", "⠇ "];
/// How long each is shown: as short as five seconds of it cost less than 25 ms of CPU time (tests/perf).
pub const SPINNER_STEP: Duration = Duration::from_millis(200);

/// The mark of what waits for the user.
pub const WAITING_MARK: &str = "● ";

/// Returns the mark before the text of [`describe_activity`]: for work and for what waits; empty for the rest.
fn activity_mark(screen: &Screen, state: &RunState, now: UnixMillis) -> &'static str {
    let is_waiting = !state.approvals.is_empty()
        || state.current_question().is_some()
        || state.phase == Phase::RefineGoal && state.running.is_none() && state.busy.is_none();
    match () {
        () if screen.run_facts.is_needed_by_covered_screen || is_waiting => WAITING_MARK,
        () if state.running.is_some() || state.busy.is_some() => {
            let step = i64::try_from(SPINNER_STEP.as_millis()).map_or(0, |step| now.0 / step);
            match usize::try_from(step) {
                Ok(step) if screen.run_facts.is_spinning => SPINNER[step % SPINNER.len()],
                _ => "◐ ",
            }
        }
        () => "",
    }
}

/// What happens now, as the footer says it.
#[derive(Debug, Clone, Default)]
pub struct PresentText {
    mark: &'static str,
    text: String,
    /// How long it has lasted, apart from the text; may be empty.
    time: String,
    pub style: Style,
}

/// How much room there is for it.
#[derive(Debug, Clone, Copy)]
pub struct PresentRoom {
    pub columns: usize,
    /// How many columns of these are for the hint that is always there.
    pub hint_columns: usize,
}

impl PresentText {
    fn new(text: impl Into<String>, style: Style) -> Self {
        Self {
            text: text.into(),
            style,
            ..Self::default()
        }
    }

    /// Creates a text that is about nothing that happens.
    pub fn quiet(text: String) -> Self {
        Self::new(text, theme::QUIET)
    }

    /// Adds how long it has lasted.
    fn with_time(self, took: &str) -> Self {
        Self {
            time: format!("  {took}"),
            ..self
        }
    }

    pub fn width(&self) -> usize {
        text_width(self.mark) + text_width(&self.text) + text_width(&self.time)
    }

    /// Cuts it to a width, its time first.
    fn truncated(mut self, columns: usize) -> Self {
        if self.width() > columns {
            let room = columns.saturating_sub(text_width(self.mark));
            let whole = truncate_to_columns(&format!("{}{}", self.text, self.time), room);
            match whole.strip_prefix(&self.text) {
                Some(time) => self.time = time.to_owned(),
                None => (self.text, self.time) = (whole, String::new()),
            }
        }
        self
    }

    /// Renders it; while something works, the colour is in the mark alone and the time is quiet.
    pub fn into_line(self) -> Line<'static> {
        let mark = Span::styled(self.mark, self.style);
        let works = [theme::RUNNING]
            .into_iter()
            .chain([Role::Planner, Role::Reviewer].map(theme::role_style))
            .any(|style| style == self.style);
        if self.mark.is_empty() || !works {
            let text = self.text + &self.time;
            return Line::from(vec![mark, Span::styled(text, self.style)]);
        }
        Line::from(vec![
            mark,
            Span::raw(self.text),
            Span::styled(self.time, theme::QUIET),
        ])
    }
}

/// Returns what happens now, in the longest form that leaves room for help's hint.
pub fn present_text(
    screen: &Screen,
    state: Option<&RunState>,
    now: UnixMillis,
    room: PresentRoom,
) -> PresentText {
    let columns = room.columns;
    let Some(state) = state else {
        return describe_start(screen).truncated(columns);
    };
    let forms = AgentLabelForm::ALL.map(|form| PresentText {
        mark: activity_mark(screen, state, now),
        ..describe_activity(screen, state, now, form)
    });
    let found = forms
        .iter()
        .find(|form| form.width() + room.hint_columns + 3 <= columns);
    let present = found.unwrap_or(&forms[forms.len() - 1]).clone();
    present.truncated(columns)
}

/// Describes who is active or needed: the user, an agent or the program.
fn describe_activity(
    screen: &Screen,
    state: &RunState,
    now: UnixMillis,
    named: AgentLabelForm,
) -> PresentText {
    if screen.run_facts.is_quitting {
        return PresentText::new("Quitting", theme::STRONG);
    }
    if screen.run_facts.is_needed_by_covered_screen {
        return PresentText::new("Your run is waiting for you", theme::NEEDS_YOU);
    }
    let clock = screen.local_clock();
    let limit = match named {
        AgentLabelForm::Full => labels::describe_usage_limit(state, now, clock),
        AgentLabelForm::Alone | AgentLabelForm::Briefly | AgentLabelForm::WithTime => {
            labels::describe_usage_wait(state, clock)
        }
    };
    if let Some(text) = limit {
        return PresentText::new(text, theme::WARNING);
    }
    let own = screen.dialogs.own.as_ref();
    if screen.is_read_only() && own.is_some_and(|own| own.origin == DialogOrigin::Run) {
        return PresentText::new(WAITS, theme::NEEDS_YOU);
    }
    if let Some(word) = describe_read_only_run(screen, state) {
        return PresentText::new(word, theme::QUIET);
    }
    if !state.approvals.is_empty() {
        return PresentText::new(WAITS, theme::NEEDS_YOU);
    }
    if let Some(question) = state.current_question() {
        let style = match question.kind {
            QuestionKind::Gate { .. } => WAITS_FOR_ROUTINE,
            _ => theme::NEEDS_YOU,
        };
        return PresentText::new(WAITS, style);
    }
    if let Some(running) = &state.running {
        return describe_turn(screen, running, now, named);
    }
    match &state.busy {
        Some(busy) => describe_busy_program(screen, state, busy, now, named),
        None if state.phase.is_final() => {
            let (sign, style) = match state.phase {
                Phase::Done => ("✓ ", theme::GOOD),
                _ => ("", theme::QUIET),
            };
            let tasks = describe_running_tasks(state);
            let lead = if tasks.is_empty() { "" } else { " · " };
            PresentText::new(format!("{sign}Run finished{lead}{tasks}"), style)
        }
        None if state.phase == Phase::RefineGoal => PresentText::new(WAITS, theme::NEEDS_YOU),
        None => match super::discussion_commands::describe_running(state, now) {
            Some(text) => PresentText::new(text, theme::RUNNING),
            None => PresentText::new("Idle", theme::QUIET),
        },
    }
}

/// Describes what the agent of the running turn is doing, and since when.
fn describe_turn(
    screen: &Screen,
    running: &RunningTurn,
    now: UnixMillis,
    named: AgentLabelForm,
) -> PresentText {
    let style = theme::role_style(running.order.purpose.role());
    let who = labels::turn_title(&running.order.purpose);
    let took = labels::format_elapsed(running.started_at, now);
    let text = match (&screen.tabs.status.silent_turn, running.result) {
        // The chat and Status say why, so that the keys keep their place here.
        (Some(silent), ResultValidity::Yes) => {
            format!("{who} silent {}", labels::format_elapsed(silent.since, now))
        }
        (None, ResultValidity::Yes) if named == AgentLabelForm::WithTime => {
            format!("{who} {took}")
        }
        (None, ResultValidity::Yes) => {
            let doing = format!("{who} {}", running.order.purpose.describe_progress());
            if named != AgentLabelForm::Briefly {
                return PresentText::new(doing, style).with_time(&took);
            }
            format!("{doing} {took}")
        }
        (_, ResultValidity::No) if named == AgentLabelForm::WithTime => {
            format!("{who} stopping {took}")
        }
        (_, ResultValidity::No) => format!("{who} is being interrupted {took}"),
    };
    PresentText::new(text, style)
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

/// Describes the tests of a step, and how many steps there are.
fn describe_step_tests(state: &RunState, what: String, named: AgentLabelForm) -> String {
    match named {
        AgentLabelForm::Full | AgentLabelForm::Alone => {
            format!("{what} of {}", state.step_count().all)
        }
        AgentLabelForm::Briefly | AgentLabelForm::WithTime => what,
    }
}

/// Describes what the program does: of a proof also which of its test runs, and since when.
fn describe_busy_program(
    screen: &Screen,
    state: &RunState,
    busy: &ProgramOperation,
    now: UnixMillis,
    named: AgentLabelForm,
) -> PresentText {
    let present = |text: String| PresentText::new(text, theme::RUNNING);
    let what = describe_program_operation(busy, state);
    let step = match busy {
        ProgramOperation::Baseline => Some(0),
        _ if state.is_testing_step() => state.current_step_number(),
        _ => None,
    };
    let running = step.and_then(|step| Some((step, screen.tabs.plan.proof_board.running(step)?)));
    let Some((step, (run, since))) = running else {
        return match screen.tabs.plan.proof_board.tests_since(state) {
            Some(since) => present(describe_step_tests(state, what, named))
                .with_time(&labels::format_elapsed(since, now)),
            None => present(what),
        };
    };
    let (run, took) = (run.describe(), labels::format_elapsed(since, now));
    match named {
        AgentLabelForm::WithTime => present(what).with_time(&took),
        AgentLabelForm::Briefly if step == 0 => present(format!("Before step 1: {run} {took}")),
        AgentLabelForm::Briefly => present(format!("Step {step}: {run} {took}")),
        AgentLabelForm::Full | AgentLabelForm::Alone => {
            present(format!("{what}: {run}")).with_time(&took)
        }
    }
}
