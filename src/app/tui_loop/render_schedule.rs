//! Decides when to draw, and draws the screen.
//!
//! While the terminal accepts nothing, no frame is drawn: events are still handled, and the next frame shows all of
//! them.

use std::io;

use tokio::time::Instant;

use crate::engine::Engine;
use crate::store::utc_time;

use super::TuiApp;
use super::event_sources::next_tick;
use super::frame_limiter::FrameReason;
use super::read_only_views::ReadOnlyView;
use super::shutdown::TuiEnd;

impl TuiApp {
    /// Returns the next instant at which the loop has something to do.
    pub(super) fn next_timer_at(&self) -> Option<Instant> {
        let tick = self.input.as_ref().and(self.tick_at);
        // Clocks are not redrawn either while the terminal accepts nothing.
        let tick = tick.filter(|_| self.terminal.retry_at().is_none());
        let (frame, views) = (self.next_frame_at(), self.views.next_refresh_at());
        let (documents, unsent) = (
            self.document_tracker.next_read_at(),
            self.terminal.retry_at(),
        );
        [frame, tick, documents, views, unsent, self.leave_at]
            .into_iter()
            .flatten()
            .min()
    }

    fn next_frame_at(&self) -> Option<Instant> {
        self.input.as_ref()?;
        if self.terminal.retry_at().is_some() {
            return None;
        }
        let now = Instant::now();
        let is_dirty = self
            .views
            .top()
            .map_or(self.screen.is_dirty(), ReadOnlyView::is_dirty);
        let changed = is_dirty.then(|| self.frame_limiter.next_allowed_at(self.frame_reason, now));
        let news = (!self.pending_updates.is_empty()).then(|| {
            self.frame_limiter
                .next_allowed_at(FrameReason::ForNews, now)
        });
        changed.into_iter().chain(news).min()
    }

    /// Draws a frame if it is time.
    pub(super) fn draw_if_due(&mut self) -> Result<Option<TuiEnd>, TuiEnd> {
        if self
            .next_frame_at()
            .is_some_and(|due| due <= Instant::now())
        {
            self.draw().map_err(TuiEnd::TerminalGone)?;
        }
        Ok(None)
    }

    /// Sends what the terminal did not accept.
    pub(super) fn retry_terminal_output(&mut self) -> io::Result<()> {
        self.terminal.retry_unsent()?;
        match self.terminal.retry_at() {
            Some(_) => self.apply_updates(),
            None => self.mark_dirty(),
        }
        Ok(())
    }

    /// Sends the whole next frame, because another program may have written to the terminal.
    pub(super) fn redraw(&mut self) -> Result<Option<TuiEnd>, TuiEnd> {
        self.terminal
            .force_full_redraw()
            .map_err(TuiEnd::TerminalGone)?;
        self.mark_dirty();
        self.frame_reason = FrameReason::ForUser;
        Ok(None)
    }

    pub(super) fn draw(&mut self) -> io::Result<()> {
        let now = Instant::now();
        let has_news = self
            .frame_limiter
            .next_allowed_at(FrameReason::ForNews, now)
            <= now;
        if has_news {
            self.apply_updates();
        }
        // A user who views another run is still notified about their own.
        let behind = self.update_behind_notice();
        let own = self.engine.as_ref().map(Engine::state);
        let own = (&mut self.screen, own.or(self.unfinished_state.as_deref()));
        let (screen, state) = self.views.active_screen(own);
        let tick = state.and_then(|state| next_tick(state, self.motion));
        screen.on_time(utc_time::now());
        if state.is_some() {
            self.terminal.enable_frame_diff();
        }
        self.terminal
            .draw(|frame| screen.draw(frame, state, utc_time::now()))?;
        let moments = [
            tick,
            screen.guard_remaining(),
            screen.cross_tab_toast_remaining(),
        ];
        let tick = moments.into_iter().flatten().min();
        let outside = behind.as_ref().unwrap_or(screen.terminal_status());
        self.notifier.update(outside, &mut self.terminal)?;
        self.terminal.set_click_mode(screen.mouse_capture())?;
        let now = Instant::now();
        self.frame_limiter
            .on_drawn(now, self.frame_reason, has_news);
        self.frame_reason = FrameReason::ForNews;
        self.tick_at = tick.map(|after| now + after);
        self.read_after_first_page();
        self.read_requested_scrollback();
        Ok(())
    }
}
