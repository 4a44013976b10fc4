//! What stands beside each other in a wide window: a second pane, both agents, two versions of the plan; and which of
//! two panes has the keys.
//!
//! Refuses to draw what stands in a pane.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders};

use super::Screen;
use super::action::Action;
use super::compare;
use super::hints;
use super::keymap::IsWriting;
use super::tabs::Tab;
use super::theme;
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::run::RunState;

/// From how many columns on a second pane stands beside the first.
pub const WIDE: u16 = 160;

/// Whether the second pane is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Side {
    /// Where there is room.
    #[default]
    Shown,
    /// Never.
    Hidden,
}

/// Which of two panes has the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Focus {
    /// The tab that is shown.
    #[default]
    Tab,
    /// What stands beside it.
    Beside,
}

/// How both agents stand in the chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Voices {
    /// One below the other.
    #[default]
    Below,
    /// Beside each other, in a window that is wide enough; in the order in which they speak all the same.
    Beside,
}

impl Voices {
    /// Changes it.
    pub fn turn(&mut self) {
        *self = match self {
            Self::Below => Self::Beside,
            Self::Beside => Self::Below,
        };
    }
}

impl Side {
    /// Wants it, or not any more.
    pub fn turn(&mut self) {
        *self = match self {
            Self::Shown => Self::Hidden,
            Self::Hidden => Self::Shown,
        };
    }
}

impl Screen {
    /// What stands beside the tab: beside the chat the document that the run is at, beside either document the other.
    pub(super) fn beside(&self, columns: u16, state: Option<&RunState>) -> Option<Tab> {
        if columns < WIDE || self.side == Side::Hidden {
            return None;
        }
        let phase = state?.phase;
        let comments = self.documents.comments.text.as_ref().map(|_| Tab::Comments);
        let plan = self.documents.plan.text.as_ref().map(|_| Tab::Plan);
        match self.tab {
            Tab::Chat if self.voices == Voices::Beside => None,
            Tab::Chat if phase == Phase::Respond => comments.or(plan),
            Tab::Chat | Tab::Comments => plan,
            Tab::Plan if self.plan.against().is_some() => None,
            Tab::Plan => comments,
            Tab::Log | Tab::Status => None,
        }
    }

    /// The tab that keys mean: the one that is shown, or what stands beside it and has them.
    pub(super) fn tab_at_hand(&self) -> Tab {
        match self.places.side {
            Some((_, tab)) if self.focus == Focus::Beside => tab,
            Some(_) | None => self.tab,
        }
    }

    /// Gives the keys to the other pane.
    pub(super) fn turn_focus(&mut self) -> Vec<Action> {
        if self.places.side.is_none() {
            return self.refuse(&format!(
                "there is one pane here; from {WIDE} columns on a second one can stand beside it"
            ));
        }
        self.focus = match self.focus {
            Focus::Tab => Focus::Beside,
            Focus::Beside => Focus::Tab,
        };
        Vec::new()
    }

    /// Draws what stands beside the tab; gives what is left for the tab.
    pub(super) fn draw_side(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        state: Option<&RunState>,
        now: UnixMillis,
    ) -> Rect {
        // What lies over both panes has the keys for a while only.
        if self.pager.is_some() {
            return area;
        }
        let beside = self.beside(area.width, state);
        let Some(tab) = beside.filter(|_| area.height > 2) else {
            self.focus = Focus::default();
            return area;
        };
        let width = area.width * 9 / 20;
        let side = Rect {
            x: area.right() - width,
            width,
            ..area
        };
        self.places.side = Some((side, tab));
        let key = |action| self.keymap().named(action, IsWriting::No);
        let (hides, goes) = (key("side"), key("other-pane"));
        let (style, title) = match self.focus {
            Focus::Tab => (
                theme::QUIET,
                format!(" {} · {goes} goes there · {hides} hides it ", tab.title()),
            ),
            Focus::Beside => (
                theme::KEY,
                format!(" {} · {goes} goes back · {hides} hides it ", tab.title()),
            ),
        };
        let block = Block::new()
            .borders(Borders::LEFT | Borders::TOP)
            .border_style(style)
            .title(Line::from(hints::spans(&title, style)));
        let inner = block.inner(side);
        frame.render_widget(block, side);
        let inner = Rect {
            x: inner.x + 1,
            width: inner.width.saturating_sub(1),
            ..inner
        };
        self.draw_tab(tab, frame, inner, (state, now));
        self.read.note(tab, self.changes(tab));
        Rect {
            width: area.width - width,
            ..area
        }
    }

    /// Shows both agents beside each other, or one below the other.
    pub(super) fn turn_voices(&mut self) -> Vec<Action> {
        if let Some(columns) = self.narrower_than(WIDE) {
            return self.refuse(&format!(
                "wants {WIDE} columns, the window has {columns}: planner beside reviewer"
            ));
        }
        self.quietly(|screen| screen.voices.turn())
    }

    /// Shows or hides the second pane; of two versions of the plan, shows them the other way.
    pub(super) fn turn_sides(&mut self, state: Option<&RunState>) -> Vec<Action> {
        if self.tab == Tab::Plan && self.plan.against().is_some() {
            let least = u16::try_from(compare::MIN_COLUMNS).unwrap_or(u16::MAX);
            self.plan.form = self.plan.form.other();
            return match self.narrower_than(least) {
                Some(columns) if self.plan.form == compare::Form::Sides => self.refuse(&format!(
                    "wants {least} columns, the window has {columns}: side by side"
                )),
                Some(_) | None => Vec::new(),
            };
        }
        if let Some(columns) = self.narrower_than(WIDE) {
            return self.refuse(&format!(
                "wants {WIDE} columns, the window has {columns}: a second pane"
            ));
        }
        self.side.turn();
        match self.side == Side::Shown && self.beside(WIDE, state).is_none() {
            true => self.refuse(&format!("nothing stands beside {} now", self.tab.title())),
            false => Vec::new(),
        }
    }

    /// How many columns the window has, where those are less than what something wants.
    fn narrower_than(&self, wanted: u16) -> Option<u16> {
        // Nothing is known of it before the first frame.
        let columns = self.places.composer.width;
        (columns > 0 && columns < wanted).then_some(columns)
    }
}
