//! When the screen is drawn, and that it is.
//!
//! While the terminal takes nothing no frame is drawn: what happens is taken in, and the first frame that it takes shows
//! all of it. Refuses to know what a frame shows.

use std::io;

use tokio::time::Instant;

use crate::engine::Engine;
use crate::store::utc_time;

use super::Shell;
use super::ending::End;
use super::frames::Wanted;
use super::viewing::Viewing;
use super::waiting::next_tick;

impl Shell {
    /// When there is something to do by the clock.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let tick = self.input.as_ref().and(self.tick_at);
        // What moves is not drawn either while the terminal takes nothing.
        let tick = tick.filter(|_| self.terminal.due().is_none());
        let (frame, views) = (self.frame_due(), self.views.due());
        let (documents, unsent) = (self.documents.due(), self.terminal.due());
        [frame, tick, documents, views, unsent, self.leave_at]
            .into_iter()
            .flatten()
            .min()
    }

    fn frame_due(&self) -> Option<Instant> {
        self.input.as_ref()?;
        if self.terminal.due().is_some() {
            return None;
        }
        let now = Instant::now();
        let is_dirty = self
            .views
            .top()
            .map_or(self.screen.is_dirty(), Viewing::is_dirty);
        let changed = is_dirty.then(|| self.frames.due(self.wanted, now));
        let news = (!self.unseen.is_empty()).then(|| self.frames.due(Wanted::ForNews, now));
        changed.into_iter().chain(news).min()
    }

    /// Draws a frame where it is time for one.
    pub(super) fn draw_if_due(&mut self) -> Result<Option<End>, End> {
        if self.frame_due().is_some_and(|due| due <= Instant::now()) {
            self.draw().map_err(End::TerminalGone)?;
        }
        Ok(None)
    }

    /// Sends on what the terminal did not take.
    pub(super) fn catch_up(&mut self) -> io::Result<()> {
        self.terminal.send_on()?;
        match self.terminal.due() {
            Some(_) => self.see_news(),
            None => self.touch(),
        }
        Ok(())
    }

    /// Draws all of the next frame, whatever another program wrote onto the screen.
    pub(super) fn redraw(&mut self) -> Result<Option<End>, End> {
        self.terminal.forget().map_err(End::TerminalGone)?;
        self.touch();
        self.wanted = Wanted::ForUser;
        Ok(None)
    }

    /// Draws a frame.
    pub(super) fn draw(&mut self) -> io::Result<()> {
        let now = Instant::now();
        let has_news = self.frames.due(Wanted::ForNews, now) <= now;
        if has_news {
            self.see_news();
        }
        // Whoever looks at another run is called for their own all the same.
        let behind = self.note_behind();
        let own = self.engine.as_ref().map(Engine::state);
        let own = (&mut self.screen, own.or(self.lying.as_deref()));
        let (screen, state) = self.views.front(own);
        let tick = state.and_then(|state| next_tick(state, self.motion));
        screen.on_time(utc_time::now());
        if state.is_some() {
            self.terminal.keep_frames();
        }
        self.terminal
            .draw(|frame| screen.draw(frame, state, utc_time::now()))?;
        let moments = [tick, screen.deaf_for(), screen.elsewhere_for()];
        let tick = moments.into_iter().flatten().min();
        let outside = behind.as_ref().unwrap_or(screen.outside());
        self.telling.tell(outside, &mut self.terminal)?;
        self.terminal.click_by(screen.clicks())?;
        let now = Instant::now();
        self.frames.on_drawn(now, self.wanted, has_news);
        self.wanted = Wanted::ForNews;
        self.tick_at = tick.map(|after| now + after);
        self.read_behind_first();
        self.read_earlier();
        Ok(())
    }
}
