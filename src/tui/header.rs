//! The header: what it is about, the path of phases, the tabs, and who works.
//!
//! With too little room the path gives way to the present phase: who works stays.

mod path;
mod tabs;
mod terms;
mod used;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::Screen;
use super::read_only::Elsewhere;
use super::tabs::Tab;
use super::theme;
use super::words;
use super::wrap::{cut, one_line, put, width};
use crate::domain::ids::UnixMillis;
use crate::domain::phase::{Mode, Phase};
use crate::domain::question::CommitTarget;
use crate::domain::run::{ProgramOperation, ResultValidity, RunState};
use crate::domain::task::ChildSession;
use crate::text::pluralize;
pub use tabs::Read;
pub use used::used_in_words;

/// What of the header can be clicked.
#[derive(Debug, Default)]
pub struct Places {
    /// Each tab's title.
    pub tabs: Vec<(Rect, Tab)>,
    /// That the user is waited for.
    pub need: Rect,
}

/// Draws as many of its three lines as there is room for.
pub fn draw(
    screen: &Screen,
    frame: &mut Frame,
    area: Rect,
    state: Option<&RunState>,
    now: UnixMillis,
) -> Places {
    let columns = usize::from(area.width);
    let row = |n: u16| Rect {
        y: area.y.saturating_add(n),
        height: 1,
        ..area
    };
    let state_line = |frame: &mut Frame, row: Rect| {
        let line = state_line(screen, state, now, columns);
        let need = need_in(&line, row);
        put(frame, &line, row);
        need
    };
    match area.height {
        0 => Places::default(),
        1 => Places {
            tabs: Vec::new(),
            need: state_line(frame, row(0)),
        },
        2 => {
            let need = state_line(frame, row(0));
            let bar = tabs::bar(screen, row(1), state);
            put(frame, &Line::from(bar.spans), row(1));
            let tabs = bar.places;
            Places { tabs, need }
        }
        _ => {
            put(frame, &title_line(screen, state, columns), row(0));
            let bar = tabs::bar(screen, row(2), state);
            let room = columns.saturating_sub(bar.columns + 1);
            let works = state.and_then(|state| works(screen, state, now, room));
            let need = match (state, works) {
                (Some(state), Some(works)) => {
                    put(frame, &terms::path_line(state, columns), row(1));
                    let works = aligned_right(bar.spans, works, columns);
                    let need = need_in(&works, row(2));
                    put(frame, &works, row(2));
                    need
                }
                _ => {
                    put(frame, &Line::from(bar.spans), row(2));
                    state_line(frame, row(1))
                }
            };
            let tabs = bar.places;
            Places { tabs, need }
        }
    }
}

/// Where a line says that the user is waited for; nowhere where it does not.
fn need_in(line: &Line<'_>, row: Rect) -> Rect {
    let mut place = Rect { width: 0, ..row };
    for span in &line.spans {
        let columns = u16::try_from(width(&span.content)).unwrap_or(u16::MAX);
        let says_so = span.style == theme::CHOSEN || span.style == theme::NEEDS_YOU;
        if says_so && span.content.contains(WAITS) {
            place.width = columns;
            return place.intersection(row);
        }
        place.x = place.x.saturating_add(columns);
    }
    Rect::default()
}

/// That the user is waited for.
const WAITS: &str = "waits for you";

/// Two texts in one line, one at its left and one at its right.
fn aligned_right(
    mut left: Vec<Span<'static>>,
    right: Vec<Span<'static>>,
    columns: usize,
) -> Line<'static> {
    let used = path::columns(&left) + path::columns(&right);
    left.push(Span::raw(" ".repeat(columns.saturating_sub(used))));
    left.extend(right);
    Line::from(left)
}

/// The parts that say something.
fn joined(parts: &[&str], between: &str) -> String {
    let parts = parts.iter().copied().filter(|part| !part.is_empty());
    parts.collect::<Vec<&str>>().join(between)
}

/// Who works, and with what it cost so far where there is room; `None` where not even the first fits.
fn works(
    screen: &Screen,
    state: &RunState,
    now: UnixMillis,
    room: usize,
) -> Option<Vec<Span<'static>>> {
    let (long, style) = who_works(screen, state, now, Named::WithAdapter);
    let (short, _) = who_works(screen, state, now, Named::Alone);
    let (shortest, _) = who_works(screen, state, now, Named::Briefly);
    let mut forms = [long, short, shortest].into_iter();
    let who = forms.find(|who| width(who) < room)?;
    // What needs the user is lit.
    let needs_you = style == theme::NEEDS_YOU && width(&who) + 2 <= room;
    let who = match needs_you {
        true => Span::styled(format!(" {who} "), theme::CHOSEN),
        false => Span::styled(format!("{who} "), style),
    };
    let mut spans = Vec::new();
    let mut used = used::forms(state).into_iter();
    if let Some(used) = used.find(|used| width(used) + 3 + width(&who.content) <= room) {
        spans.push(Span::styled(format!("{used} · "), theme::QUIET));
    }
    spans.push(who);
    Some(spans)
}

/// The branch that commits go to, else the one that is checked out.
fn branch<'a>(screen: &'a Screen, state: Option<&'a RunState>) -> Option<&'a str> {
    let execution = state.and_then(|state| state.execution.as_ref());
    match execution.map(|execution| &execution.commits) {
        Some(CommitTarget::Current { branch } | CommitTarget::New { branch }) => Some(branch),
        Some(CommitTarget::Off { .. }) | None => screen.settings.branch.as_deref(),
    }
}

/// The goal at the left, the repository at the right.
fn title_line(screen: &Screen, state: Option<&RunState>, columns: usize) -> Line<'static> {
    let repository = folder(&screen.settings.repository);
    let place = match branch(screen, state) {
        Some(branch) => format!("{repository} · {}", one_line(branch)),
        None => repository,
    };
    let goal = state.and_then(|state| state.goal.as_ref());
    let title = goal.map_or_else(|| "agent-collab".to_owned(), |goal| one_line(&goal.title));
    let badge = badge(screen, columns);
    let badge = badge.as_str();
    let warns = screen.is_uncontained && badge.trim() == "uncontained";
    let badge_style = if warns { theme::WARNING } else { theme::PLAIN };
    let place = cut(&place, columns.saturating_sub(width(badge)) / 2);
    let room = columns.saturating_sub(width(&place) + width(badge) + 3);
    let title = cut(&title, room);
    let gap = columns.saturating_sub(width(&title) + width(badge) + width(&place) + 2);
    Line::from(vec![
        Span::raw(" "),
        Span::styled(title, theme::STRONG),
        Span::raw(" ".repeat(gap)),
        Span::styled(badge.to_owned(), badge_style),
        Span::styled(place, theme::QUIET),
        Span::raw(" "),
    ])
}

/// The name of a folder, by which people know it; the Status tab has the whole path.
fn folder(path: &str) -> String {
    let path = one_line(path);
    let name = path.trim_end_matches('/').rsplit('/').next();
    name.filter(|name| !name.is_empty())
        .map_or_else(|| path.clone(), str::to_owned)
}

/// What is out of the ordinary with this screen.
fn badge(screen: &Screen, columns: usize) -> String {
    match &screen.settings.read_only {
        Some(_) if columns < 60 => " read-only ".to_owned(),
        Some(read_only) => format!(" read-only, {} ", one_line(&read_only.badge)),
        None if screen.settings.demo && columns < 100 => " demo ".to_owned(),
        None if screen.settings.demo => " demo, no model is called ".to_owned(),
        None if screen.is_uncontained => " uncontained ".to_owned(),
        None => String::new(),
    }
}

fn state_line(
    screen: &Screen,
    state: Option<&RunState>,
    now: UnixMillis,
    columns: usize,
) -> Line<'static> {
    let Some(state) = state else {
        let (text, style) = match screen.unfinished {
            _ if screen.is_needed_behind => (" your run waits for you", theme::NEEDS_YOU),
            _ if screen.is_read_only() => (" no run yet", theme::QUIET),
            _ if screen.instructions.is_some() => {
                (" the run begins once you have answered", theme::NEEDS_YOU)
            }
            Some(_) => (" an unfinished run waits for your word", theme::NEEDS_YOU),
            None => (" no run yet: write what shall be done", theme::NEEDS_YOU),
        };
        return Line::from(Span::styled(cut(text, columns), style));
    };
    let mut parts = vec![(state.phase.name().to_owned(), theme::STRONG)];
    if state.mode != Mode::Default {
        // What is out of the ordinary stands where it is seen, however narrow the window is.
        parts.push((state.mode.name().to_owned(), terms::of_mode(state.mode)));
    }
    parts.extend(rest_of_state(
        screen,
        state,
        now,
        columns,
        columns_of(&parts),
    ));
    let mut spans = vec![Span::raw(" ")];
    let mut used = 1;
    for (n, (text, style)) in parts.into_iter().enumerate() {
        let lead = if n == 0 { "" } else { " · " };
        let text = cut(&text, columns.saturating_sub(used + width(lead)));
        used += width(lead) + width(&text);
        spans.push(Span::styled(lead, theme::QUIET));
        spans.push(Span::styled(text, style));
    }
    Line::from(spans)
}

/// A text of a line, and how it looks.
type Part = (String, ratatui::style::Style);

/// The columns of parts, with what stands between and before them.
fn columns_of(parts: &[Part]) -> usize {
    parts.iter().map(|(text, _)| width(text) + 3).sum()
}

/// How far it is, the gate, and who works since when: as much of it as fits; the time is the last to go.
fn rest_of_state(
    screen: &Screen,
    state: &RunState,
    now: UnixMillis,
    columns: usize,
    taken: usize,
) -> Vec<Part> {
    let plain = |text: &str| (text.to_owned(), theme::PLAIN);
    let who = |named| who_works(screen, state, now, named);
    let terms::HowFar { long, short } = terms::how_far(state);
    let gate = format!("gate {}", words::gate(state.gate));
    let forms = [
        vec![plain(&long), plain(&gate), who(Named::WithAdapter)],
        vec![plain(&short), who(Named::Alone), plain(&gate)],
        vec![plain(&short), who(Named::Alone)],
        vec![plain(&short), who(Named::WithTime), plain(&gate)],
        vec![plain(&short), who(Named::WithTime)],
    ];
    let told = |form: Vec<Part>| -> Vec<Part> {
        let parts = form.into_iter();
        parts.filter(|(text, _)| !text.is_empty()).collect()
    };
    // In a narrow window who works stands before the gate, whatever fits.
    let mut forms = forms.into_iter().map(told).skip(usize::from(columns < 60));
    let found = forms.find(|form| taken + columns_of(form) <= columns + 2);
    found.unwrap_or_else(|| vec![who(Named::WithTime)])
}

/// Whether an agent is named with its adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    WithAdapter,
    Alone,
    /// The same, and a silence without its reason, which Status tells.
    Briefly,
    /// Not what it does either: since when it does is seen before that.
    WithTime,
}

/// Who the run waits for: the user, an agent or the program.
fn who_works(
    screen: &Screen,
    state: &RunState,
    now: UnixMillis,
    named: Named,
) -> (String, ratatui::style::Style) {
    if screen.quitting {
        return ("leaving".to_owned(), theme::STRONG);
    }
    if screen.is_needed_behind {
        return (format!("your run {WAITS}"), theme::NEEDS_YOU);
    }
    if let Some(text) = words::limit(state, now, screen.clock_of_day()) {
        return (text, theme::WARNING);
    }
    if let Some(word) = seen_from_outside(screen, state) {
        return (word.to_owned(), theme::QUIET);
    }
    if !state.approvals.is_empty() || state.current_question().is_some() {
        return (WAITS.to_owned(), theme::NEEDS_YOU);
    }
    if let Some(running) = &state.running {
        let role = running.order.purpose.role();
        let adapter = state.session(role).map_or("", |session| &session.adapter);
        let who = match named {
            Named::WithAdapter => format!("{} ({})", role.name(), one_line(adapter)),
            Named::Alone | Named::Briefly | Named::WithTime => role.name().to_owned(),
        };
        let took = words::elapsed(running.started_at, now);
        let text = match (&screen.silent, running.result) {
            (Some(silent), ResultValidity::Yes)
                if matches!(named, Named::Briefly | Named::WithTime) =>
            {
                format!("{who} silent {}", words::elapsed(silent.since, now))
            }
            (Some(silent), ResultValidity::Yes) => format!(
                "{who} {}",
                screen.clock_of_day().local(&words::silent(silent, now))
            ),
            (None, ResultValidity::Yes) if named == Named::WithTime => format!("{who} {took}"),
            (None, ResultValidity::Yes) => {
                format!("{who} {} {took}", running.order.purpose.describe())
            }
            (_, ResultValidity::No) if named == Named::WithTime => format!("{who} stops {took}"),
            (_, ResultValidity::No) => format!("{who} is being interrupted {took}"),
        };
        return (text, theme::role(role));
    }
    match &state.busy {
        Some(busy) => (busy_in_words(busy).to_owned(), theme::RUNNING),
        None if state.phase.is_final() => {
            let style = match state.phase {
                Phase::Done => theme::GOOD,
                _ => theme::QUIET,
            };
            let parts = ["the run is over", &tasks_left(state)];
            (joined(&parts, " · "), style)
        }
        None if state.phase == Phase::RefineGoal => (WAITS.to_owned(), theme::NEEDS_YOU),
        None => match super::discussing::at_work(state, now) {
            Some(text) => (text, theme::RUNNING),
            None => ("nobody works".to_owned(), theme::QUIET),
        },
    }
}

/// How many tasks go on after the end of the run, in words; empty where none does.
fn tasks_left(state: &RunState) -> String {
    let is_task = |child: &&ChildSession| child.is_running() && child.order.speaks.is_none();
    let tasks = state.children.iter().filter(is_task);
    let (begun, queued): (Vec<&ChildSession>, Vec<&ChildSession>) =
        tasks.partition(|child| child.began_at.is_some());
    let verb = |n: usize, one: &str, several: &str| match n {
        1 => one.to_owned(),
        _ => several.to_owned(),
    };
    let runs = format!(
        "{} {}",
        pluralize(begun.len(), "task"),
        verb(begun.len(), "runs", "run")
    );
    let waits = |what: String| format!("{what} {}", verb(queued.len(), "waits", "wait"));
    match (begun.len(), queued.len()) {
        (0, 0) => String::new(),
        (_, 0) => runs,
        (0, n) => waits(pluralize(n, "task")),
        (_, n) => format!("{runs}, {}", waits(n.to_string())),
    }
}

/// What a screen that only looks says of a run at which no agent works.
fn seen_from_outside(screen: &Screen, state: &RunState) -> Option<&'static str> {
    let read_only = screen.settings.read_only.as_ref()?;
    let waits = !state.approvals.is_empty() || state.current_question().is_some();
    match read_only.elsewhere {
        Elsewhere::Works if waits => Some("waits for its user"),
        Elsewhere::Works if state.phase == Phase::RefineGoal && state.running.is_none() => {
            Some("waits for its user")
        }
        Elsewhere::Works => None,
        Elsewhere::Rests if state.phase.is_final() => None,
        Elsewhere::Rests => Some("nobody works"),
    }
}

/// What the program itself is at.
pub fn busy_in_words(busy: &ProgramOperation) -> &'static str {
    match busy {
        ProgramOperation::Collecting { .. } => "takes the document in",
        ProgramOperation::Storing { .. } => "stores the tree",
        ProgramOperation::Held { .. } => "waits for your answer",
        ProgramOperation::Surveying => "looks at the repository",
        ProgramOperation::Entering => "prepares the branch",
        ProgramOperation::Baseline => "runs the tests before step 1",
        ProgramOperation::Moving { .. } => "moves to the other CLI",
        ProgramOperation::Stepping { .. } => "checks the step",
        ProgramOperation::Reversing { .. } => "puts files back",
    }
}
