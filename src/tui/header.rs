//! The header: what it is about, how far it is, who works; and the tabs.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::Screen;
use super::read_only::Elsewhere;
use super::tabs::Tab;
use super::theme;
use super::words;
use super::wrap::{cut, one_line, width};
use crate::domain::ids::At;
use crate::domain::phase::{Mode, Phase};
use crate::domain::question::CommitTerms;
use crate::domain::run::{Busy, Counts, State};

/// Draws as many of its three lines as there is room for; gives the places of the tabs.
pub fn draw(
    screen: &Screen,
    frame: &mut Frame,
    area: Rect,
    state: Option<&State>,
    now: At,
) -> Vec<(Rect, Tab)> {
    let columns = usize::from(area.width);
    let row = |n: u16| Rect {
        y: area.y.saturating_add(n),
        height: 1,
        ..area
    };
    let state_line = state_line(screen, state, now, columns);
    match area.height {
        0 => Vec::new(),
        1 => {
            frame.render_widget(state_line, row(0));
            Vec::new()
        }
        2 => {
            frame.render_widget(state_line, row(0));
            draw_tabs(screen, frame, row(1))
        }
        _ => {
            frame.render_widget(title_line(screen, state, columns), row(0));
            frame.render_widget(state_line, row(1));
            draw_tabs(screen, frame, row(2))
        }
    }
}

/// The branch that commits go to, else the one that was checked out when the screen opened.
fn branch<'a>(screen: &'a Screen, state: Option<&'a State>) -> Option<&'a str> {
    let execution = state.and_then(|state| state.execution.as_ref());
    match execution.map(|execution| &execution.commits) {
        Some(CommitTerms::Current { branch } | CommitTerms::New { branch }) => Some(branch),
        Some(CommitTerms::Off { .. }) | None => screen.settings.branch.as_deref(),
    }
}

/// The goal at the left, the repository at the right.
fn title_line(screen: &Screen, state: Option<&State>, columns: usize) -> Line<'static> {
    let place = match branch(screen, state) {
        Some(branch) => format!(
            "{} · {}",
            one_line(&screen.settings.repository),
            one_line(branch)
        ),
        None => one_line(&screen.settings.repository),
    };
    let goal = state.and_then(|state| state.goal.as_ref());
    let title = goal.map_or_else(|| "agent-collab".to_owned(), |goal| one_line(&goal.title));
    let badge = badge(screen, columns);
    let badge = badge.as_str();
    let place = cut(&place, columns.saturating_sub(width(badge)) / 2);
    let room = columns.saturating_sub(width(&place) + width(badge) + 3);
    let title = cut(&title, room);
    let gap = columns.saturating_sub(width(&title) + width(badge) + width(&place) + 2);
    Line::from(vec![
        Span::raw(" "),
        Span::styled(title, theme::STRONG),
        Span::raw(" ".repeat(gap)),
        Span::styled(badge.to_owned(), theme::NEEDS_YOU),
        Span::styled(place, theme::QUIET),
        Span::raw(" "),
    ])
}

/// What is out of the ordinary with this screen.
fn badge(screen: &Screen, columns: usize) -> String {
    match &screen.settings.read_only {
        Some(_) if columns < 60 => " read-only ".to_owned(),
        Some(read_only) => format!(" read-only, {} ", one_line(&read_only.badge)),
        None if screen.settings.demo => " demo, no model is called ".to_owned(),
        None => String::new(),
    }
}

fn state_line(screen: &Screen, state: Option<&State>, now: At, columns: usize) -> Line<'static> {
    let Some(state) = state else {
        let text = match screen.unfinished {
            _ if screen.is_read_only() => " no run yet",
            Some(_) => " an unfinished run waits for your word",
            None => " no run yet: write what shall be done",
        };
        let text = cut(text, columns);
        return Line::styled(text, theme::NEEDS_YOU);
    };
    let mut parts = vec![(state.phase.name().to_owned(), theme::STRONG)];
    if let Some((long, short)) = how_far(state) {
        let text = if columns < 60 { short } else { long };
        parts.push((text, theme::PLAIN));
    }
    let (who, style) = who_works(screen, state, now);
    let gate = (format!("gate {}", words::gate(state.gate)), theme::PLAIN);
    if state.mode != Mode::Default {
        let style = match state.mode {
            Mode::Yolo => theme::NEEDS_YOU,
            Mode::Plan | Mode::Default | Mode::AutoEdit => theme::PLAIN,
        };
        // What is out of the ordinary stands where it is seen, however narrow the window is.
        parts.insert(1, (state.mode.name().to_owned(), style));
    }
    // Where not all fits, who works says more than the gate.
    let limited = words::limit(state, now).is_some();
    if columns < 60 || limited {
        parts.extend([(who, style), gate]);
    } else {
        parts.extend([gate, (who, style)]);
    }
    let mut spans = vec![Span::raw(" ")];
    let mut used = 1;
    for (n, (text, style)) in parts.into_iter().enumerate() {
        let lead = if n == 0 { "" } else { " · " };
        let room = columns.saturating_sub(used + width(lead));
        if room < 4 && n > 0 {
            break;
        }
        let text = cut(&text, room);
        used += width(lead) + width(&text);
        spans.push(Span::styled(lead, theme::QUIET));
        spans.push(Span::styled(text, style));
    }
    Line::from(spans)
}

/// Iterations or steps, in words and in short.
fn how_far(state: &State) -> Option<(String, String)> {
    match state.phase {
        Phase::Review | Phase::Respond if state.iteration > 0 => {
            let (n, cap) = (state.iteration, state.cap());
            Some((format!("iteration {n} of {cap}"), format!("{n}/{cap}")))
        }
        Phase::Execute => {
            let execution = state.execution.as_ref()?;
            let n_steps = state.plan.as_ref().map_or(0, |plan| plan.plan.steps.len());
            let n_done = execution.done.len();
            Some((
                format!("{n_done} of {n_steps} steps done"),
                format!("{n_done}/{n_steps}"),
            ))
        }
        Phase::RefineGoal => {
            let role = state.refiner;
            let adapter = state.session(role).map_or("", |session| &session.adapter);
            Some((
                format!("with the {} ({})", role.name(), one_line(adapter)),
                role.name().to_owned(),
            ))
        }
        Phase::Init
        | Phase::WritePlan
        | Phase::Review
        | Phase::Respond
        | Phase::Approved
        | Phase::Done
        | Phase::Cancelled => None,
    }
}

/// Who the run waits for: the user, an agent or the program.
fn who_works(screen: &Screen, state: &State, now: At) -> (String, ratatui::style::Style) {
    if screen.quitting {
        return ("is ending".to_owned(), theme::BAD);
    }
    if let Some(text) = words::limit(state, now) {
        return (text, theme::NEEDS_YOU);
    }
    if let Some(word) = seen_from_outside(screen, state) {
        return (word.to_owned(), theme::QUIET);
    }
    if !state.approvals.is_empty() || state.awaiting.is_some() {
        return ("waits for you".to_owned(), theme::NEEDS_YOU);
    }
    if let Some(running) = &state.running {
        let role = running.order.purpose.role();
        let adapter = state.session(role).map_or("", |session| &session.adapter);
        let who = format!("{} ({})", role.name(), one_line(adapter));
        let text = match (&screen.silent, running.result) {
            (Some(silent), Counts::Yes) => format!("{who} {}", words::silent(silent, now)),
            (None, Counts::Yes) => format!(
                "{who} {} {}",
                running.order.purpose.in_words(),
                words::elapsed(running.started_at, now)
            ),
            (_, Counts::No) => format!(
                "{who} is being interrupted {}",
                words::elapsed(running.started_at, now)
            ),
        };
        return (text, theme::role(role));
    }
    match &state.busy {
        Some(busy) => (busy_in_words(busy).to_owned(), theme::PLAIN),
        None if state.phase.is_final() => ("the run is over".to_owned(), theme::PLAIN),
        None if state.phase == Phase::RefineGoal => ("waits for you".to_owned(), theme::NEEDS_YOU),
        None => ("nobody works".to_owned(), theme::QUIET),
    }
}

/// What a screen that only looks says of a run at which no agent works.
fn seen_from_outside(screen: &Screen, state: &State) -> Option<&'static str> {
    let read_only = screen.settings.read_only.as_ref()?;
    let waits = !state.approvals.is_empty() || state.awaiting.is_some();
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

fn busy_in_words(busy: &Busy) -> &'static str {
    match busy {
        Busy::Collecting { .. } => "takes the document in",
        Busy::Storing { .. } => "stores the tree",
        Busy::Surveying => "looks at the repository",
        Busy::Entering => "prepares the branch",
        Busy::Moving { .. } => "moves to the other CLI",
        Busy::Stepping { .. } => "checks the step",
        Busy::Reversing { .. } => "puts files back",
    }
}

fn draw_tabs(screen: &Screen, frame: &mut Frame, area: Rect) -> Vec<(Rect, Tab)> {
    let columns = usize::from(area.width);
    // The titles of folded tabs are the first to go where there is no room.
    let is_narrow = columns < 44;
    let mut places = Vec::new();
    let mut spans = Vec::new();
    let mut used = 0;
    for tab in Tab::ALL {
        let is_open = !tab.folds() || screen.unfolded.contains(&tab) || screen.tab == tab;
        let label = match (is_open, is_narrow) {
            (true, false) => format!(" {} {} ", tab.digit(), tab.title()),
            (true, true) => format!("{} {} ", tab.digit(), cut(tab.title(), 5)),
            (false, false) => format!(" +{} {} ", tab.digit(), tab.title()),
            (false, true) => format!("+{} ", tab.digit()),
        };
        let label = cut(&label, columns.saturating_sub(used));
        let style = match (screen.tab == tab, is_open) {
            (true, _) => theme::STRONG.reversed(),
            (false, true) => theme::PLAIN,
            (false, false) => theme::QUIET,
        };
        let place = Rect {
            x: area
                .x
                .saturating_add(u16::try_from(used).unwrap_or(u16::MAX)),
            width: u16::try_from(width(&label)).unwrap_or(0),
            ..area
        };
        used += width(&label);
        places.push((place.intersection(area), tab));
        spans.push(Span::styled(label, style));
    }
    frame.render_widget(Line::from(spans), area);
    places
}
