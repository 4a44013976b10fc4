//! The Status tab: its page, and the facts that only it shows.

use super::draw;
use super::status_context::{AdapterSandboxView, SilentTurn, StatusContext};
use super::status_lines::status_lines;
use crate::domain::event::{AgentActivity, Event};
use crate::domain::ids::UnixMillis;
use crate::tui::keymap::ComposerFocus;
use crate::tui::scroll_view::ScrollView;
use crate::tui::searchable_view::SearchableView;
use crate::tui::tab_kind::TabKind;
use crate::tui::tabs::screen_tab::{ScreenTab, TabContext};
use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::Rect;

/// From this width on, a column stays empty at the right as at the left.
const MIN_MARGIN_COLUMNS: u16 = 60;

/// The Status tab, and the facts that only it shows.
#[derive(Debug, Default)]
pub struct StatusTab {
    pub page: ScrollView,
    /// Set while the running turn gives no output.
    pub silent_turn: Option<SilentTurn>,
    pub sandboxes: Vec<AdapterSandboxView>,
    /// How long a turn may take, if known.
    pub turn_timeout: Option<Duration>,
    /// Which agent instructions exist, and whether agents get them.
    pub instructions_note: String,
    /// When it was drawn last.
    drawn_at: Option<UnixMillis>,
}

impl StatusTab {
    /// Returns what it shows as lines of text, as of the last frame; `None` without a run or a frame.
    pub fn labeled_lines(&self, context: &TabContext<'_>) -> Option<Vec<String>> {
        let about = self.status_context(context, "/interrupt");
        Some(status_lines(context.state?, about, self.drawn_at?))
    }

    fn status_context<'a>(
        &'a self,
        context: &TabContext<'a>,
        interrupt: &'a str,
    ) -> StatusContext<'a> {
        StatusContext {
            state: context.state,
            silent: self.silent_turn.as_ref(),
            sandboxes: &self.sandboxes,
            instructions_note: &self.instructions_note,
            clock: context.clock,
            turn_timeout: self.turn_timeout,
            interrupt,
        }
    }

    fn on_agent_activity(&mut self, at: UnixMillis, news: &AgentActivity) {
        self.silent_turn = match news {
            AgentActivity::Silent { seconds, verdict } => {
                let millis = i64::try_from(*seconds).unwrap_or(0).saturating_mul(1_000);
                Some(SilentTurn {
                    since: UnixMillis(at.0.saturating_sub(millis)),
                    verdict: verdict.clone(),
                })
            }
            _ => None,
        };
    }
}

impl SearchableView for StatusTab {
    fn searched_page(&self) -> Option<&ScrollView> {
        Some(&self.page)
    }

    fn searched_page_mut(&mut self) -> Option<&mut ScrollView> {
        Some(&mut self.page)
    }

    fn searched_name(&self) -> &'static str {
        TabKind::Status.title()
    }
}

impl ScreenTab for StatusTab {
    fn on_event(&mut self, at: UnixMillis, event: &Event) {
        match event {
            Event::Agent { news, .. } => self.on_agent_activity(at, news),
            Event::RunCreated(_)
            | Event::TurnSendConfirmed
            | Event::TurnStarted { .. }
            | Event::TurnEnded { .. } => self.silent_turn = None,
            _ => {}
        }
    }

    fn page(&mut self) -> Option<&mut ScrollView> {
        Some(&mut self.page)
    }

    fn page_area(&self, area: Rect) -> Rect {
        // Two cards side by side and tables fill any window.
        Rect {
            width: area.width - u16::from(area.width >= MIN_MARGIN_COLUMNS),
            ..area
        }
    }

    fn draw(&mut self, frame: &mut Frame, area: Rect, context: &TabContext<'_>, now: UnixMillis) {
        self.page.set_page_keys(context.page_keys());
        self.drawn_at = Some(now);
        let interrupt = context
            .keymap
            .key_label("interrupt", ComposerFocus::Focused);
        let mut page = std::mem::take(&mut self.page);
        let about = self.status_context(context, &interrupt);
        draw(&mut page, frame, area, about, now);
        self.page = page;
    }

    fn whole_text(&mut self, _context: &TabContext<'_>) -> Result<String, String> {
        Ok(self.page.text())
    }
}
