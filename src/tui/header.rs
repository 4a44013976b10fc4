//! The header: what the run is about and where, the views, and the stages of the run.
//!
//! If space is short, only the current stage is shown.

mod stage_line;
mod tab_bar;
mod usage_line;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::Screen;
use super::dialogs::goal_title;
use super::markdown::to_plain_line;
use super::tab_kind::TabKind;
use super::text_wrap::{draw_line, spans_width, text_width, to_one_line, truncate_to_columns};
use super::theme;
use super::view_area::gutter;
use crate::domain::question::CommitTarget;
use crate::domain::run::RunState;
pub use stage_line::mode_style;
pub use usage_line::{describe_tokens, describe_total_usage};

/// Stands before the stage of a run that is only looked at, where no title says so.
const READ_ONLY: &str = "Read-only  ";
/// Stands there in a demo.
const DEMO: &str = "Demo  ";

/// Returns the height of the header for a window height.
pub fn n_rows(height: u16) -> u16 {
    match height {
        0..6 => 0,
        6..25 => 1,
        25..30 => 2,
        30.. => 3,
    }
}

/// Draws as many of its rows as fit; returns the areas of the views' names. The last of three rows stays empty, on the first screen
/// the last two.
pub fn draw(
    screen: &Screen,
    frame: &mut Frame,
    area: Rect,
    state: Option<&RunState>,
) -> Vec<(Rect, TabKind)> {
    let row = |n: u16| Rect {
        y: area.y.saturating_add(n),
        height: 1,
        ..area
    };
    let is_welcome = is_first_screen(screen, state);
    let n_filled = if is_welcome { 1 } else { 2 };
    let filled = Rect {
        height: area.height.min(n_filled),
        ..area
    };
    theme::Surface::Panel.fill(frame.buffer_mut(), filled);
    if area.height >= n_filled {
        let title = title_line(screen, state, usize::from(area.width));
        draw_line(frame, &title, row(0));
    }
    let views = match area.height {
        0 => return Vec::new(),
        _ if is_welcome => return Vec::new(),
        1 => row(0),
        2.. => row(1),
    };
    let columns = usize::from(views.width);
    let margin = usize::from(gutter(views.width));
    let bar = tab_bar::lay_out_tab_bar(screen, views, state);
    let room = columns.saturating_sub(bar.columns + margin + 1);
    let stages = state.map_or(Vec::new(), |state| stage_line::stage_spans(state, room));
    let note = match &screen.settings.read_only {
        Some(_) => READ_ONLY,
        None if screen.settings.demo => DEMO,
        None => "",
    };
    let has_room = area.height < n_filled && spans_width(&stages) + note.len() <= room;
    let note = if has_room { note } else { "" };
    let stages: Vec<Span<'static>> = std::iter::once(Span::raw(note)).chain(stages).collect();
    let used = bar.columns + spans_width(&stages) + margin;
    let mut spans = bar.spans;
    spans.push(Span::raw(" ".repeat(columns.saturating_sub(used))));
    spans.extend(stages);
    draw_line(frame, &Line::from(spans), views);
    bar.hit_areas
}

/// Returns whether the screen asks what to build and nothing happened yet, so that the other views have nothing.
fn is_first_screen(screen: &Screen, state: Option<&RunState>) -> bool {
    screen.shows_welcome_page(state) && screen.tabs.chat.transcript.is_empty()
}

/// Returns the branch that gets the commits, or the checked-out one.
pub fn shown_branch<'a>(screen: &'a Screen, state: Option<&'a RunState>) -> Option<&'a str> {
    let execution = state.and_then(|state| state.execution.as_ref());
    match execution.map(|execution| &execution.commits) {
        Some(CommitTarget::Current { branch } | CommitTarget::New { branch, .. }) => Some(branch),
        Some(CommitTarget::Off { .. }) | None => screen.settings.branch.as_deref(),
    }
}

/// Returns the heading of the goal: of the one that an agent wrote, also before the user confirms it. Empty without a goal.
pub fn shown_goal(screen: &Screen, state: &RunState) -> String {
    let Some(goal) = &state.goal else {
        return String::new();
    };
    let proposed = screen.dialogs.proposed_goal.as_deref();
    match proposed.filter(|_| !goal.confirmed) {
        Some(text) => to_plain_line(&goal_title(text)),
        None => to_plain_line(&goal.title),
    }
}

/// Returns the line with the goal at the left and the repository at the right.
fn title_line(screen: &Screen, state: Option<&RunState>, columns: usize) -> Line<'static> {
    let repository = folder_name(&screen.settings.repository);
    let place = match shown_branch(screen, state) {
        Some(branch) => format!("{repository} · {}", to_one_line(branch)),
        None => repository,
    };
    let goal = state.and_then(|state| Some((state, state.goal.as_ref()?)));
    let (title, version) = match goal {
        Some((state, _)) => (shown_goal(screen, state), ""),
        None => (
            "agent-collab".to_owned(),
            concat!("  ", env!("CARGO_PKG_VERSION")),
        ),
    };
    let margin = usize::from(gutter(u16::try_from(columns).unwrap_or(u16::MAX)));
    let columns = columns.saturating_sub(2 * margin);
    let badge = badge_span(screen, columns);
    let n_badge = text_width(&badge.content);
    let place = truncate_to_columns(&place, columns.saturating_sub(n_badge) / 2);
    let room = columns.saturating_sub(text_width(&place) + n_badge + version.len() + 3);
    let title = truncate_to_columns(&title, room);
    let used = text_width(&title) + version.len() + n_badge + text_width(&place) + 2;
    let gap = columns.saturating_sub(used);
    Line::from(vec![
        Span::raw(" ".repeat(margin)),
        Span::styled("◆ ", theme::ACCENT),
        Span::styled(title, theme::STRONG),
        Span::styled(version, theme::QUIET),
        Span::raw(" ".repeat(gap)),
        badge,
        Span::styled(place, theme::QUIET),
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
