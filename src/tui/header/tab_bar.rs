//! The names of the views with their counts, and a dot at those with new content.

use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::domain::run::RunState;
use crate::tui::Screen;
use crate::tui::command_palette::CommandPalette;
use crate::tui::keymap::ComposerFocus;
use crate::tui::pager::TextPager;
use crate::tui::tab_kind::TabKind;
use crate::tui::text_wrap::{text_width, truncate_to_columns};
use crate::tui::theme;
use crate::tui::view_area::gutter;

#[derive(Debug, Default)]
pub struct TabBar {
    pub spans: Vec<Span<'static>>,
    /// The area of each tab's title.
    pub hit_areas: Vec<(Rect, TabKind)>,
    pub columns: usize,
}

/// Lays out the names of the views. Their keys are before them only while keys are looked up.
pub fn lay_out_tab_bar(screen: &Screen, area: Rect, state: Option<&RunState>) -> TabBar {
    let columns = usize::from(area.width);
    let help = screen.overlays.find::<TextPager>();
    let shows_keys =
        screen.overlays.has::<CommandPalette>() || help.is_some_and(TextPager::is_help);
    let is_open = |tab: &TabKind| screen.tabs.view.is_open(*tab);
    let whole = TabKind::ALL;
    let most = columns.saturating_sub(MIN_STAGE_COLUMNS.min(columns / 2));
    let bar = lay_out_tabs(screen, area, state, whole, shows_keys);
    if bar.columns <= most {
        return bar;
    }
    let open: Vec<TabKind> = whole.iter().copied().filter(is_open).collect();
    let bar = lay_out_tabs(screen, area, state, &open, shows_keys);
    if bar.columns <= most {
        return bar;
    }
    // A click on the only name lists the views.
    let shown = screen.tabs.view.shown;
    let mut bar = lay_out_tabs(screen, area, state, &[shown], shows_keys);
    let mark = Span::styled(" ▾", theme::QUIET);
    bar.columns += text_width(&mark.content);
    bar.spans.push(mark);
    for (place, _) in &mut bar.hit_areas {
        place.width = (place.width + 2).min(area.width);
    }
    bar
}

/// How many columns stay free for the current stage.
const MIN_STAGE_COLUMNS: usize = 16;

fn lay_out_tabs(
    screen: &Screen,
    area: Rect,
    state: Option<&RunState>,
    tabs: &[TabKind],
    shows_keys: bool,
) -> TabBar {
    let columns = usize::from(area.width);
    let margin = usize::from(gutter(area.width));
    // The ground of the shown tab begins a column before its name.
    let (margin, pad) = match margin {
        0 => (0, ""),
        1.. => (margin - 1, " "),
    };
    let mut bar = TabBar {
        spans: vec![Span::raw(" ".repeat(margin))],
        columns: margin,
        ..TabBar::default()
    };
    for (n, tab) in tabs.iter().copied().enumerate() {
        let view = &screen.tabs.view;
        let page = screen.tabs.get(tab);
        let style = match (view.shown == tab, view.is_open(tab)) {
            (true, _) => theme::PICKED,
            (false, true) => theme::PLAIN,
            (false, false) => theme::QUIET,
        };
        let count = state.map(|state| page.count(state)).unwrap_or_default();
        let is_new =
            view.shown != tab && view.has_unseen_changes(tab, page.revision(&screen.documents));
        let key = Some(tab).filter(|_| shows_keys).and_then(|tab| {
            let action = format!("show-{}", tab.slash_name());
            let (key, _) = screen
                .keymap()
                .action_key(&action, ComposerFocus::Unfocused)?;
            Some(format!("{key} "))
        });
        let key = key.unwrap_or_default();
        let (gap, before) = if n == 0 { ("", pad) } else { (" ", " ") };
        let (after, after_style) = if is_new {
            ("•", theme::RUNNING)
        } else {
            (" ", style)
        };
        let name = format!("{}{count}", tab.title());
        let from = bar.columns + text_width(gap);
        for (text, style) in [
            (gap, theme::PLAIN),
            (before, style),
            (&key, style.patch(theme::KEY)),
            (&name, style),
            (after, after_style),
        ] {
            let text = truncate_to_columns(text, columns.saturating_sub(bar.columns));
            bar.columns += text_width(&text);
            bar.spans.push(Span::styled(text, style));
        }
        let short = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        let place = Rect {
            x: area.x.saturating_add(short(from)),
            width: short(bar.columns.saturating_sub(from)),
            ..area
        };
        bar.hit_areas.push((place.intersection(area), tab));
    }
    bar
}
