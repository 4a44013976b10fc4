//! The tab bar: titles with counts, and signs for new content and for the tab that an open question is about.

use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::domain::phase::Phase;
use crate::domain::question::QuestionKind;
use crate::domain::run::RunState;
use crate::tui::Screen;
use crate::tui::tabs::TabKind;
use crate::tui::text_wrap::{text_width, truncate_to_columns};
use crate::tui::theme;

/// The laid-out bar.
#[derive(Debug, Default)]
pub struct TabBar {
    pub spans: Vec<Span<'static>>,
    /// The area of each tab's title.
    pub hit_areas: Vec<(Rect, TabKind)>,
    pub columns: usize,
}

/// Lays out the bar in the first row of an area.
pub fn lay_out_tab_bar(screen: &Screen, area: Rect, state: Option<&RunState>) -> TabBar {
    let columns = usize::from(area.width);
    // Folded tabs lose their titles first if space is short.
    let is_narrow = columns < 44;
    let is_short = columns < 100;
    let is_open = |tab: TabKind| screen.tabs.view.is_open(tab);
    let is_tight = columns < 40 || TabKind::ALL.iter().copied().all(is_open);
    let mut bar = TabBar::default();
    for tab in TabKind::ALL.iter().copied() {
        let is_open = is_open(tab);
        let gap = if is_tight { "" } else { " " };
        let label = match (is_open, is_narrow) {
            (true, false) => format!(" {} {}", tab.digit(), tab.title()),
            (true, true) => format!(
                "{gap}{} {}",
                tab.digit(),
                truncate_to_columns(tab.title(), 5)
            ),
            (false, false) if !is_short => format!(" +{} {}", tab.digit(), tab.title()),
            (false, false) => format!(" +{}", tab.digit()),
            (false, true) => format!("{gap}+{}", tab.digit()),
        };
        let (key_style, style) = match (screen.tabs.view.shown == tab, is_open) {
            (true, _) => (theme::KEY.reversed(), theme::KEY.reversed()),
            (false, true) => (theme::KEY, theme::PLAIN),
            (false, false) => (theme::QUIET, theme::QUIET),
        };
        let badge = if is_narrow {
            String::new()
        } else {
            state
                .map(|state| screen.tabs.get(tab).count(state))
                .unwrap_or_default()
        };
        let (sign, sign_style) = tab_sign(screen, tab, state);
        let sign_style = if screen.tabs.view.shown == tab {
            style
        } else {
            sign_style
        };
        // The digit is the tab's key.
        let digit = label.find(|c: char| c.is_ascii_digit());
        let (key, title) = label.split_at(digit.map_or(0, |at| at + 1));
        let parts = [
            (key.to_owned(), key_style),
            (title.to_owned(), style),
            (badge, style),
            (sign.to_owned(), sign_style),
        ];
        let from = bar.columns;
        for (text, style) in parts {
            let text = truncate_to_columns(&text, columns.saturating_sub(bar.columns));
            bar.columns += text_width(&text);
            bar.spans.push(Span::styled(text, style));
        }
        let short = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        let place = Rect {
            x: area.x.saturating_add(short(from)),
            width: short(bar.columns - from),
            ..area
        };
        bar.hit_areas.push((place.intersection(area), tab));
    }
    bar
}

/// Returns `?` for the tab that the open question is about, or a dot for new content; always one column.
fn tab_sign(
    screen: &Screen,
    tab: TabKind,
    state: Option<&RunState>,
) -> (&'static str, ratatui::style::Style) {
    let is_about = state.and_then(relevant_tab) == Some(tab) && !screen.is_read_only();
    match (is_about, screen.tabs.view.shown == tab) {
        (true, false) => ("?", theme::NEEDS_YOU),
        (false, false)
            if screen
                .tabs
                .view
                .has_unseen_changes(tab, screen.tabs.get(tab).revision(&screen.documents)) =>
        {
            ("•", theme::RUNNING)
        }
        _ => (" ", theme::PLAIN),
    }
}

/// Returns the tab that helps the user decide what is pending.
fn relevant_tab(state: &RunState) -> Option<TabKind> {
    if !state.approvals.is_empty() {
        return Some(TabKind::Chat);
    }
    let Some(question) = state.current_question() else {
        let is_idle = state.running.is_none() && state.busy.is_none();
        return (state.phase == Phase::RefineGoal && is_idle).then_some(TabKind::Chat);
    };
    Some(match question.kind {
        QuestionKind::Arbitration { .. } => TabKind::Comments,
        QuestionKind::Execute { .. }
        | QuestionKind::StalePlan { .. }
        | QuestionKind::ManualEdit
        | QuestionKind::StepRecovery { .. } => TabKind::Plan,
        _ => TabKind::Chat,
    })
}
