//! Side-by-side layouts of a wide window: a second pane, both agents, two versions of the plan; and which
//! pane has the keys.
//!
//! The tabs draw the content themselves.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders};

use super::Screen;
use super::action::Action;
use super::clickable_keys;
use super::keymap::ComposerFocus;
use super::tabs::TabKind;
use super::text_comparison;
use super::theme;
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::run::RunState;

/// The window width from which a second pane is shown.
pub const WIDE: u16 = 160;

/// Whether the user wants the second pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SidePaneVisibility {
    /// Shown if there is room.
    #[default]
    Shown,
    Hidden,
}

/// Which of two panes has the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PaneFocus {
    /// The pane of the current tab.
    #[default]
    Main,
    Side,
}

/// How the agents' messages are arranged in the chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChatArrangement {
    #[default]
    Stacked,
    /// In two columns if the window is wide enough, still in the order of time.
    SideBySide,
}

impl ChatArrangement {
    /// Switches to the other arrangement.
    pub fn toggle(&mut self) {
        *self = match self {
            Self::Stacked => Self::SideBySide,
            Self::SideBySide => Self::Stacked,
        };
    }
}

impl SidePaneVisibility {
    /// Shows or hides the second pane.
    pub fn toggle(&mut self) {
        *self = match self {
            Self::Shown => Self::Hidden,
            Self::Hidden => Self::Shown,
        };
    }
}

impl Screen {
    /// Returns the tab of the second pane: beside the chat, the document that the run is working on; beside
    /// a document, the other one.
    pub(super) fn side_tab(&self, columns: u16, state: Option<&RunState>) -> Option<TabKind> {
        if columns < WIDE || self.side_pane == SidePaneVisibility::Hidden {
            return None;
        }
        let phase = state?.phase;
        let comments = self
            .documents
            .comments
            .text
            .as_ref()
            .map(|_| TabKind::Comments);
        let plan = self.documents.plan.text.as_ref().map(|_| TabKind::Plan);
        match self.tab {
            TabKind::Chat if self.chat_arrangement == ChatArrangement::SideBySide => None,
            TabKind::Chat if phase == Phase::Respond => comments.or(plan),
            TabKind::Chat | TabKind::Comments => plan,
            TabKind::Plan if self.plan_view.compared_version().is_some() => None,
            TabKind::Plan => comments,
            TabKind::Log | TabKind::Status => None,
        }
    }

    /// Returns the tab that the keys apply to: the current tab, or the second pane's if it has the keys.
    pub(super) fn focused_tab(&self) -> TabKind {
        match self.hit_areas.side_pane {
            Some((_, tab)) if self.pane_focus == PaneFocus::Side => tab,
            Some(_) | None => self.tab,
        }
    }

    /// Moves the keys to the other pane.
    pub(super) fn toggle_pane_focus(&mut self) -> Vec<Action> {
        if self.hit_areas.side_pane.is_none() {
            return self.show_toast(&format!(
                "The window is too narrow for a second pane. It needs {WIDE} columns."
            ));
        }
        self.pane_focus = match self.pane_focus {
            PaneFocus::Main => PaneFocus::Side,
            PaneFocus::Side => PaneFocus::Main,
        };
        Vec::new()
    }

    /// Draws the second pane; returns the area that is left for the tab.
    pub(super) fn draw_side_pane(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        state: Option<&RunState>,
        now: UnixMillis,
    ) -> Rect {
        // The pager covers both panes only for a while, so the focus must not be reset.
        if self.pager.is_some() {
            return area;
        }
        let beside = self.side_tab(area.width, state);
        let Some(tab) = beside.filter(|_| area.height > 2) else {
            self.pane_focus = PaneFocus::default();
            return area;
        };
        let width = area.width * 9 / 20;
        let side = Rect {
            x: area.right() - width,
            width,
            ..area
        };
        self.hit_areas.side_pane = Some((side, tab));
        let key = |action| self.keymap().key_label(action, ComposerFocus::Unfocused);
        let (hides, goes) = (key("side"), key("other-pane"));
        let (style, title) = match self.pane_focus {
            PaneFocus::Main => (
                theme::QUIET,
                format!(" {} · {goes} goes there · {hides} hides it ", tab.title()),
            ),
            PaneFocus::Side => (
                theme::KEY,
                format!(" {} · {goes} goes back · {hides} hides it ", tab.title()),
            ),
        };
        let block = Block::new()
            .borders(Borders::LEFT | Borders::TOP)
            .border_style(style)
            .title(Line::from(clickable_keys::hint_spans(&title, style)));
        let inner = block.inner(side);
        frame.render_widget(block, side);
        let inner = Rect {
            x: inner.x + 1,
            width: inner.width.saturating_sub(1),
            ..inner
        };
        self.draw_tab(tab, frame, inner, state, now);
        self.seen_tabs.record_seen(tab, self.tab_revision(tab));
        Rect {
            width: area.width - width,
            ..area
        }
    }

    /// Switches between both agents side by side and one column.
    pub(super) fn toggle_chat_arrangement(&mut self) -> Vec<Action> {
        if let Some(columns) = self.columns_if_narrower(WIDE) {
            return self.show_toast(&format!(
                "Planner beside reviewer needs {WIDE} columns, the window has {columns}"
            ));
        }
        self.change_view(|screen| screen.chat_arrangement.toggle())
    }

    /// Shows or hides the second pane; while plan versions are compared, switches the form of the comparison.
    pub(super) fn toggle_side_pane(&mut self, state: Option<&RunState>) -> Vec<Action> {
        if self.tab == TabKind::Plan && self.plan_view.compared_version().is_some() {
            let least =
                u16::try_from(text_comparison::MIN_SIDE_BY_SIDE_COLUMNS).unwrap_or(u16::MAX);
            self.plan_view.form = self.plan_view.form.opposite();
            return match self.columns_if_narrower(least) {
                Some(columns)
                    if self.plan_view.form == text_comparison::ComparisonForm::SideBySide =>
                {
                    self.show_toast(&format!(
                        "Side by side needs {least} columns, the window has {columns}"
                    ))
                }
                Some(_) | None => Vec::new(),
            };
        }
        if let Some(columns) = self.columns_if_narrower(WIDE) {
            return self.show_toast(&format!(
                "A second pane needs {WIDE} columns, the window has {columns}"
            ));
        }
        self.side_pane.toggle();
        if self.side_pane == SidePaneVisibility::Shown && self.side_tab(WIDE, state).is_none() {
            self.show_toast(&format!("Nothing is shown beside {} now", self.tab.title()))
        } else {
            Vec::new()
        }
    }

    /// Returns the width of the window if it is less than `wanted`.
    fn columns_if_narrower(&self, wanted: u16) -> Option<u16> {
        // Before the first frame the width is unknown.
        let columns = self.hit_areas.composer.width;
        (columns > 0 && columns < wanted).then_some(columns)
    }
}
