//! Owns the terminal: its keys and signals, when a frame may be drawn, and the loan of it to another program.
//!
//! While the terminal accepts nothing, or another program has it, no frame is drawn: events are still handled, and the
//! next frame shows all of them. What a key means is decided by `tui`.

mod background_query;
mod external_program;
mod frame_limiter;
mod hangup_watch;
mod input_thread;
mod key_reader;
mod line_reader;
mod paste_tail;
mod signals;
mod spinner_clock;
mod terminal_display;
mod tmux_clipboard;
mod user_notifier;

use std::env;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use crossterm::event::Event as Input;
use nix::sys::signal::{Signal, raise};
use tokio::time::Instant;

use crate::app::terminal::{self, DisplayMode, TerminalCondition};
use crate::config::config_model::{MotionLevel, NotificationMethod};
use crate::domain::question::QuestionKind;
use crate::domain::run::RunState;
use crate::store::utc_time;
use crate::tui::SPINNER_STEP;
use crate::tui::{DocumentKind, ExternalViewer, LineTiming, TerminalStatus};

use super::active_screen::ActiveScreen;
use super::background_result::{BackgroundResult, TerminalResult};
use super::background_work::BackgroundWork;
use super::tui_end::TuiEnd;
use background_query::{BACKGROUND_QUERY, BackgroundQuery};
use frame_limiter::{FrameLimiter, FrameReason};
use hangup_watch::HangupWatch;
use key_reader::KeyReader;
use line_reader::LineReader;
use paste_tail::PasteTail;
use spinner_clock::SpinnerClock;
use terminal_display::{DrawnFrame, TerminalDisplay};

pub use background_query::QueryInput;
pub use external_program::{editor_problem, terminate_program, viewer_problem};
pub use signals::{TuiSignal, TuiSignals};

/// Interval for redrawing clocks while an agent or the program works and the user looks elsewhere.
const TICK: Duration = Duration::from_millis(500);
/// The same with reduced motion.
const SLOW_TICK: Duration = Duration::from_secs(10);

/// The terminal, and what the program and the user do with it.
pub struct TerminalDriver {
    terminal: TerminalDisplay,
    /// `None` while another program has the terminal.
    input: Option<InputSource>,
    /// The same, while another program has the terminal.
    paused_input: Option<InputSource>,
    signals: TuiSignals,
    hangup: HangupWatch,
    spinner: SpinnerClock,
    frame_limiter: FrameLimiter,
    frame_reason: FrameReason,
    /// Whether a frame is needed whatever the screens say.
    needs_frame: bool,
    tick_at: Option<Instant>,
    motion: MotionLevel,
    background_query: BackgroundQuery,
    paste_tail: PasteTail,
}

/// Where the user's input comes from.
enum InputSource {
    Keys(KeyReader),
    Lines(LineReader),
}

/// What comes from the terminal.
pub enum TerminalEvent {
    /// A line of the user in linear mode; `None` at the end of the input.
    Line(Option<(String, LineTiming)>),
    Signal(TuiSignal),
    /// A panic on another thread restored the terminal.
    Panicked,
    /// The spinner goes on.
    SpinnerTick,
    /// Inputs that came together.
    Inputs(io::Result<Vec<Input>>),
}

/// What waits for a frame.
#[derive(Debug, Clone, Copy)]
pub struct FrameDemand {
    pub screen_is_dirty: bool,
    pub has_agent_output: bool,
}

impl TerminalDriver {
    /// Takes the terminal; keys are read after [`Self::start_input`].
    ///
    /// # Errors
    /// There is no terminal, or it reports an error.
    pub fn acquire(signals: TuiSignals, display: DisplayMode) -> io::Result<Self> {
        Ok(Self {
            terminal: TerminalDisplay::acquire(display)?,
            input: None,
            paused_input: None,
            signals,
            hangup: HangupWatch::default(),
            spinner: SpinnerClock::default(),
            frame_limiter: FrameLimiter::default(),
            frame_reason: FrameReason::ForUser,
            needs_frame: false,
            tick_at: None,
            motion: MotionLevel::default(),
            background_query: BackgroundQuery::default(),
            paste_tail: PasteTail::default(),
        })
    }

    /// Applies the user's configuration.
    pub fn configure(&mut self, motion: MotionLevel, notify: NotificationMethod) {
        self.motion = motion;
        self.terminal.notifier().set_method(notify);
    }

    /// Starts to read keys.
    ///
    /// # Errors
    /// The terminal cannot be read.
    pub fn start_input(&mut self) -> io::Result<()> {
        let mut input = match self.paused_input.take() {
            Some(input) => input,
            None if self.is_linear() => InputSource::Lines(LineReader::default()),
            None => InputSource::Keys(KeyReader::default()),
        };
        match &mut input {
            InputSource::Lines(lines) => lines.resume()?,
            InputSource::Keys(keys) => {
                self.hangup.start()?;
                keys.resume()?;
            }
        }
        self.input = Some(input);
        Ok(())
    }

    /// Returns whether lines are printed in place of frames.
    pub fn is_linear(&self) -> bool {
        self.terminal.is_linear()
    }

    /// Asks for the terminal's background; does not wait for the answer, which comes among the keys.
    pub fn query_background(&mut self) {
        if self.terminal.send_query(BACKGROUND_QUERY) {
            self.background_query.start();
        }
    }

    /// Returns whether another program has the terminal.
    pub fn is_lent(&self) -> bool {
        self.input.is_none()
    }

    /// Waits for the next signal, panic or input, in this order. Cancel safe.
    pub async fn next_event(&mut self) -> TerminalEvent {
        let Self {
            signals,
            hangup,
            spinner,
            input,
            ..
        } = self;
        tokio::select! {
            biased;
            signalled = signals.next_signal() => TerminalEvent::Signal(signalled),
            () = terminal::wait_for_panic() => TerminalEvent::Panicked,
            () = hangup.wait() => TerminalEvent::Inputs(Err(io::ErrorKind::UnexpectedEof.into())),
            event = next_input(input) => event,
            () = spinner.tick() => TerminalEvent::SpinnerTick,
        }
    }

    /// Carries out what a signal asks for.
    pub fn on_signal(&mut self, signalled: TuiSignal) -> Result<(), TuiEnd> {
        match signalled {
            // An editor in the foreground gets the same signal from the keyboard; this program is not meant.
            TuiSignal::End("SIGINT" | "SIGQUIT") if self.is_lent() => Ok(()),
            TuiSignal::End(name) => Err(TuiEnd::Signalled(name)),
            TuiSignal::Stop => self.suspend(),
            TuiSignal::Continued if self.is_lent() => Ok(()),
            TuiSignal::Continued => self.reacquire(),
            TuiSignal::Resized => {
                self.frame_limiter.on_user_input(Instant::now());
                self.request_whole_frame();
                Ok(())
            }
        }
    }

    /// Starts a batch of inputs that came together.
    pub fn begin_batch(&mut self) {
        let now = Instant::now();
        self.frame_limiter.on_user_input(now);
        self.paste_tail.begin_batch(now);
    }

    /// Filters the terminal's answer out of the keys.
    pub fn filter_answer(&mut self, input: Input) -> QueryInput {
        self.background_query.filter_input(input)
    }

    /// Returns an input of the user; `None` for a key that belongs to a paste.
    pub fn filter_paste(&mut self, input: Input) -> Option<Input> {
        self.request_prompt_frame();
        self.paste_tail.filter_input(input, Instant::now())
    }

    /// Returns the rest of a paste that came as keys.
    pub fn take_paste_tail(&mut self) -> Option<String> {
        self.paste_tail.take_text()
    }

    /// Notes whether the user looks at the terminal.
    pub fn on_focus(&mut self, is_elsewhere: bool) {
        self.terminal.notifier().is_elsewhere = is_elsewhere;
    }

    /// Makes the next frame come at the pace of the user's keys.
    pub fn request_prompt_frame(&mut self) {
        self.frame_reason = FrameReason::ForUser;
    }

    /// Requests a frame in which the spinner has gone on.
    pub fn request_spinner_frame(&mut self) {
        self.needs_frame = true;
    }

    /// Requests a prompt frame, whatever it shows.
    pub fn request_whole_frame(&mut self) {
        self.needs_frame = true;
        self.request_prompt_frame();
    }

    /// Returns the next instant at which the terminal has something to do.
    pub fn next_timer_at(&self, demand: FrameDemand) -> Option<Instant> {
        let unsent = self.terminal.retry_at();
        // Clocks are not redrawn either while the terminal accepts nothing.
        let tick = self.tick_at.filter(|_| !self.is_lent() && unsent.is_none());
        let frame = self.next_frame_at(demand);
        [frame, tick, unsent].into_iter().flatten().min()
    }

    fn next_frame_at(&self, demand: FrameDemand) -> Option<Instant> {
        if self.is_lent() || self.terminal.retry_at().is_some() {
            return None;
        }
        let now = Instant::now();
        let allowed_at = |why| self.frame_limiter.next_allowed_at(why, now);
        let is_dirty = self.needs_frame || demand.screen_is_dirty;
        let changed = is_dirty.then(|| allowed_at(self.frame_reason));
        let news = demand
            .has_agent_output
            .then(|| allowed_at(FrameReason::ForNews));
        changed.into_iter().chain(news).min()
    }

    /// Returns whether a frame is due.
    pub fn is_frame_due(&self, demand: FrameDemand) -> bool {
        self.next_frame_at(demand)
            .is_some_and(|due| due <= Instant::now())
    }

    /// Returns whether the next frame may show new agent output.
    pub fn may_show_agent_output(&self) -> bool {
        let now = Instant::now();
        // A line stays as it is printed, so nothing that came before it may be missing.
        self.is_linear() || self.frame_limiter.may_carry_news(now)
    }

    /// Does what is due by now; returns whether the terminal still does not accept what was sent.
    pub fn on_timer(&mut self, now: Instant) -> Result<bool, TuiEnd> {
        let mut is_blocked = false;
        if self.terminal.retry_at().is_some_and(|at| at <= now) {
            self.terminal.retry_unsent()?;
            is_blocked = self.terminal.retry_at().is_some();
            self.needs_frame |= !is_blocked;
        }
        self.needs_frame |= self.tick_at.is_some_and(|at| at <= now);
        Ok(is_blocked)
    }

    /// Draws the screen in front. A screen behind it that needs the user gives the title and the alert.
    pub fn draw(
        &mut self,
        front: ActiveScreen<'_>,
        behind: Option<&TerminalStatus>,
        has_news: bool,
    ) -> Result<(), TuiEnd> {
        let (screen, state) = front;
        let is_watched = !self.terminal.notifier().is_elsewhere;
        let tick = state.and_then(|state| next_tick(state, self.motion, is_watched));
        screen.set_spinning(is_watched && self.motion == MotionLevel::Full);
        screen.on_time(utc_time::now());
        let lines = match &self.input {
            Some(InputSource::Lines(lines)) => Some(lines),
            _ => None,
        };
        let drawn = self.terminal.draw(screen, state, lines, behind)?;
        let tick = match drawn {
            // Clocks are not printed.
            DrawnFrame::Lines => None,
            DrawnFrame::Window => {
                let ticks_itself = match tick {
                    Some(SPINNER_STEP) => self.spinner.start(SPINNER_STEP),
                    _ => {
                        self.spinner.stop();
                        false
                    }
                };
                let moments = [
                    tick.filter(|_| !ticks_itself),
                    screen.guard_remaining(),
                    screen.cross_tab_toast_remaining(),
                ];
                moments.into_iter().flatten().min()
            }
        };
        let now = Instant::now();
        self.frame_limiter
            .on_drawn(now, self.frame_reason, has_news);
        self.frame_reason = FrameReason::ForNews;
        self.needs_frame = false;
        self.tick_at = tick.map(|after| now + after);
        Ok(())
    }

    /// Sends the whole next frame, because another program may have written to the terminal.
    pub fn redraw(&mut self) -> Result<(), TuiEnd> {
        self.terminal.force_full_redraw()?;
        self.request_whole_frame();
        Ok(())
    }

    /// Restores the terminal and stops the process; SIGCONT makes it enter the terminal again.
    pub fn suspend(&mut self) -> Result<(), TuiEnd> {
        self.discard_answer();
        self.terminal.release()?;
        raise(Signal::SIGSTOP).map_err(io::Error::from)?;
        match &mut self.input {
            Some(InputSource::Keys(keys)) => Ok(keys.resume()?),
            _ => Ok(()),
        }
    }

    /// Opens a document in the user's editor, which has the terminal until [`Self::take_back`].
    pub fn open_editor(
        &mut self,
        document: DocumentKind,
        file: PathBuf,
        work: &mut BackgroundWork,
    ) -> Result<(), TuiEnd> {
        self.lend()?;
        let can_lend = self.terminal.can_lend();
        work.spawn(async move {
            let ended = if can_lend {
                external_program::edit_file(&file).await
            } else {
                Err(io::Error::other(format!(
                    "there is no terminal for it. Edit {} in another program",
                    file.display()
                )))
            };
            BackgroundResult::Terminal(TerminalResult::EditorClosed(document, ended))
        });
        Ok(())
    }

    /// Shows a text in a program that has the terminal until [`Self::take_back`]; does nothing if one has it already.
    /// Returns a problem for the user.
    pub fn open_viewer(
        &mut self,
        text: &str,
        with: ExternalViewer,
        work: &mut BackgroundWork,
    ) -> Result<Option<String>, TuiEnd> {
        if self.is_lent() {
            return Ok(None);
        }
        if !self.terminal.can_lend() {
            self.terminal.copy_to_clipboard(text)?;
            return Ok(None);
        }
        let file = match external_program::write_temporary_file(text) {
            Ok(file) => file,
            Err(error) => {
                return Ok(Some(format!(
                    "Cannot write the text to a file for another program: {error}"
                )));
            }
        };
        self.lend()?;
        work.spawn(async move {
            let ended = external_program::view_file(file.path(), with).await;
            BackgroundResult::Terminal(TerminalResult::ViewerClosed(with, ended))
        });
        Ok(None)
    }

    fn lend(&mut self) -> Result<(), TuiEnd> {
        self.spinner.stop();
        let mut input = self.input.take();
        match &mut input {
            Some(InputSource::Lines(lines)) => lines.pause(),
            Some(InputSource::Keys(keys)) => keys.pause(),
            None => {}
        }
        self.paused_input = input;
        Ok(self.terminal.lend_to_program()?)
    }

    /// Takes the terminal back from a program that has ended.
    pub fn take_back(&mut self, ended: &io::Result<ExitStatus>) -> Result<(), TuiEnd> {
        self.terminal
            .restore_after_program(external_program::terminal_condition_after(ended));
        self.reacquire()?;
        Ok(self.start_input()?)
    }

    fn reacquire(&mut self) -> Result<(), TuiEnd> {
        self.terminal.reacquire()?;
        self.terminal.notifier().forget_title();
        self.request_whole_frame();
        Ok(())
    }

    /// Sends a text to the clipboard: through the terminal, or through tmux inside of tmux, which by default ignores a
    /// program's clipboard request. No terminal confirms it.
    pub fn copy_to_clipboard(
        &mut self,
        text: String,
        work: &mut BackgroundWork,
    ) -> Result<(), TuiEnd> {
        if env::var_os("TMUX").is_none() || self.is_linear() {
            return self.send_to_clipboard(&text);
        }
        work.spawn(async move {
            let ended = tmux_clipboard::copy_by_tmux(text.clone()).await;
            BackgroundResult::Terminal(TerminalResult::Copied(text, ended))
        });
        Ok(())
    }

    /// Prints a line that stays after the end.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn print_final_line(&mut self, line: &str) -> io::Result<()> {
        self.terminal.print_final_line(line)
    }

    /// Sends a text to the clipboard through the terminal itself. Linear mode sends no control sequence, so it prints it.
    pub fn send_to_clipboard(&mut self, text: &str) -> Result<(), TuiEnd> {
        Ok(self.terminal.copy_to_clipboard(text)?)
    }

    /// Catches an answer of the terminal that is on its way, so that the next program does not get it.
    pub fn discard_answer(&mut self) {
        if let Some(until) = self.background_query.take_reply_deadline()
            && let Some(InputSource::Keys(keys)) = &mut self.input
        {
            keys.discard_until(until);
        }
    }

    /// Restores the terminal for the last time.
    pub fn release(&mut self) {
        self.input = None;
        // Errors are ignored: the terminal may be gone.
        let _gone = self.terminal.release();
    }

    /// Restores the terminal's settings after the program that had it was ended.
    pub fn restore_after_termination(&mut self) {
        self.terminal
            .restore_after_program(TerminalCondition::Unknown);
    }
}

/// Waits for the next input; none comes while another program has the terminal.
async fn next_input(input: &mut Option<InputSource>) -> TerminalEvent {
    match input {
        Some(InputSource::Keys(keys)) => TerminalEvent::Inputs(keys.next_batch().await),
        Some(InputSource::Lines(lines)) => {
            let line = lines.next_line().await;
            TerminalEvent::Line(line.map(|line| {
                let timing = if lines.is_current(&line) {
                    LineTiming::AfterQuestion
                } else {
                    LineTiming::BeforeQuestion
                };
                (line.text, timing)
            }))
        }
        None => std::future::pending().await,
    }
}

/// Returns the time until the spinner or a clock on the screen changes: short while an agent or the program works, the
/// next minute while waiting for a usage limit, else never.
fn next_tick(state: &RunState, motion: MotionLevel, is_watched: bool) -> Option<Duration> {
    if state.is_working() {
        return Some(match motion {
            MotionLevel::Full if is_watched => SPINNER_STEP,
            MotionLevel::Full => TICK,
            MotionLevel::Reduced => SLOW_TICK,
        });
    }
    match state.awaiting.as_ref()?.kind {
        QuestionKind::UsageLimit { until, .. } => {
            let left = until.0.saturating_sub(utc_time::now().0);
            let into_minute = u64::try_from(left.rem_euclid(60_000)).unwrap_or(0);
            Some(Duration::from_millis(into_minute + 1))
        }
        _ => None,
    }
}
