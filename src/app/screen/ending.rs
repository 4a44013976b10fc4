//! How the screen ends: the terminal comes first, then the children, then the word on why. Whoever the terminal was lent
//! to ends beside the children and gives it back then.

use std::io;
use std::pin::Pin;
use std::time::Duration;

use futures_util::StreamExt;
use tokio::time::{Instant, sleep_until, timeout};

use crate::app::alone::{SHUT_DOWN, end_what_is_left};
use crate::app::start::Refusal;
use crate::app::terminal::{Left, say_last};
use crate::domain::event::Event;
use crate::engine::{Engine, EngineError, Outcome};
use crate::tui::{Action, QuitStep};

use super::farewell::farewell;
use super::{Input, Shell, Signalled, editor};
use crate::app::headless::code_of;

/// How long a turn that the user leaves may take to end by its CLI's protocol.
const LEAVE_GRACE: Duration = Duration::from_secs(2);
/// The same after a signal: everything is gone within two seconds.
const SIGNAL_GRACE: Duration = Duration::from_millis(600);
const SIGNAL_SHUT_DOWN: Duration = Duration::from_millis(500);

/// Why the screen ends.
#[derive(Debug)]
pub enum End {
    /// The user left; nothing runs any more, or it had its time.
    Left,
    /// The user wants everything killed now.
    Killed,
    /// A signal came.
    Signalled(&'static str),
    /// The terminal cannot be read or written any more.
    TerminalGone(io::Error),
    /// No run is possible here.
    Refused(Refusal),
    /// The record of the run cannot be kept.
    Failed(EngineError),
    /// A panic gave the terminal back and told itself.
    Panicked,
}

/// How patient the end is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// The user sees it end and can cut it short.
    Shown,
    /// A signal's.
    Brief,
    /// None.
    None,
}

impl End {
    fn patience(&self) -> Patience {
        match self {
            Self::Left => Patience::Shown,
            Self::Signalled(_) | Self::TerminalGone(_) | Self::Panicked => Patience::Brief,
            Self::Killed | Self::Refused(_) | Self::Failed(_) => Patience::None,
        }
    }

    /// What is recorded of it, where nothing was recorded before.
    fn reason(&self) -> Option<String> {
        match self {
            Self::Signalled(name) => Some(format!("interrupted by {name}")),
            Self::TerminalGone(error) => Some(format!("the terminal is gone: {error}")),
            Self::Panicked => Some("an error in the program".to_owned()),
            Self::Killed => Some("the user left at once".to_owned()),
            Self::Left | Self::Refused(_) | Self::Failed(_) => None,
        }
    }
}

impl From<EngineError> for End {
    fn from(error: EngineError) -> Self {
        Self::Failed(error)
    }
}

impl Shell {
    /// Leaves at once when nothing runs; otherwise interrupts, once the user has said so, and kills when asked again.
    pub(super) fn on_quit(&mut self, step: QuitStep) -> Result<Option<End>, End> {
        // Whoever looks at another run is asked on the screen of the one that would end.
        let state = self.engine.as_ref().map(Engine::state);
        if step == QuitStep::Ask && self.views.is_over() && self.screen.asks_before_leaving(state) {
            return Ok(self.close_view());
        }
        if step == QuitStep::Now || self.leave_at.is_some() {
            return Ok(Some(End::Killed));
        }
        if !self.is_at_work() {
            return Ok(Some(End::Left));
        }
        self.leave_at = Some(Instant::now() + LEAVE_GRACE);
        // The end of the run is told on its own screen.
        self.close_view();
        self.screen.on_notice(
            "you leave: the turn is asked to end, then made to (TERM, KILL); all is saved, and the next start offers to go on",
        );
        self.feed(Event::Left {
            reason: "the user left".to_owned(),
        })
    }

    /// Ends everything and gives the exit code.
    ///
    /// Apart from what goes on before, in memory and on the stack: otherwise there would be place for everything
    /// twice from the beginning.
    pub(super) fn closing(self, end: End) -> Pin<Box<dyn Future<Output = Result<u8, Refusal>>>> {
        Box::pin(self.close(end))
    }

    async fn close(mut self, end: End) -> Result<u8, Refusal> {
        self.closed.cancel();
        if !matches!(end, End::TerminalGone(_)) {
            self.ground.settle();
        }
        let patience = match (&self.input, end.patience()) {
            // Nobody sees how it ends while an editor has the terminal.
            (None, Patience::Shown) => Patience::Brief,
            (_, patience) => patience,
        };
        let is_lent = self.input.is_none();
        if !is_lent && patience != Patience::Shown {
            self.give_terminal_back();
        }
        self.screen.remember_draft();
        self.keep_written();
        if let Some(socket) = self.socket.take() {
            socket.close().await;
        }
        self.record_leaving(&end);
        if is_lent {
            tokio::join!(editor::end(), self.end_run(patience));
            self.terminal.take_back(Left::Anyhow);
        } else {
            self.end_run(patience).await;
        }
        self.give_terminal_back();
        self.tasks.shutdown().await;
        if self.engine.is_some() {
            end_what_is_left().await;
        }
        self.say_farewell(&end);
        match end {
            End::Left | End::Killed => self.exit_code(),
            End::Signalled(_) | End::TerminalGone(_) => Ok(130),
            End::Panicked => Ok(101),
            End::Refused(refusal) => Err(refusal),
            End::Failed(error) => Err(Refusal::error(&error, "what was recorded so far is kept")),
        }
    }

    /// Leaves a line in the terminal; the demo has lines of its own.
    fn say_farewell(&self, end: &End) {
        let is_told = match end {
            End::Left | End::Killed | End::Signalled(_) => !self.settings.demo,
            End::TerminalGone(_) | End::Refused(_) | End::Failed(_) | End::Panicked => false,
        };
        let engine = self.engine.as_ref().filter(|_| is_told);
        let told = |engine: &Engine| farewell(engine.state(), engine.journal().layout());
        if let Some(line) = engine.and_then(told) {
            // The terminal may be gone with the signal.
            let _gone = say_last(&format!("{line}\n"));
        }
    }

    fn give_terminal_back(&mut self) {
        self.input = None;
        // A terminal that is gone cannot be told so.
        let _gone = self.terminal.give_back();
    }

    fn record_leaving(&mut self, end: &End) {
        let Some(engine) = &mut self.engine else {
            return;
        };
        let over = engine.outcome().is_some() || self.leave_at.is_some();
        if let Some(reason) = end.reason().filter(|_| !over)
            && let Err(error) = engine.feed(Event::Left { reason })
        {
            tracing::error!(%error, "the end could not be recorded");
        }
    }

    async fn end_run(&mut self, patience: Patience) {
        match patience {
            Patience::Shown => self.end_patiently().await,
            Patience::Brief => self.end_briefly().await,
            Patience::None => {}
        }
    }

    /// Lets conversations end by their protocol while the last frame stands; Ctrl+C cuts it short.
    async fn end_patiently(&mut self) {
        let Self {
            engine: Some(engine),
            input: Some(input),
            signals,
            screen,
            ..
        } = self
        else {
            return;
        };
        let state = engine.state().clone();
        let ended = timeout(SHUT_DOWN, engine.shut_down());
        tokio::pin!(ended);
        loop {
            tokio::select! {
                biased;
                signalled = signals.next() => match signalled {
                    Signalled::End(_) => return,
                    Signalled::Stop | Signalled::Continued | Signalled::Resized => {}
                },
                event = input.next() => match event {
                    Some(Ok(Input::Key(key))) => {
                        let is_quit = |action: &Action| matches!(action, Action::Quit(_));
                        if screen.on_key(key, Some(&state)).iter().any(is_quit) {
                            return;
                        }
                    }
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return,
                },
                _ = &mut ended => return,
            }
        }
    }

    async fn end_briefly(&mut self) {
        let Some(engine) = &mut self.engine else {
            return;
        };
        let deadline = Instant::now() + SIGNAL_GRACE;
        while engine.state().running.is_some() {
            tokio::select! {
                inward = engine.next() => if engine.take(inward).is_err() { break },
                () = sleep_until(deadline) => break,
            }
        }
        let _late = timeout(SIGNAL_SHUT_DOWN, engine.shut_down()).await;
    }

    fn exit_code(&self) -> Result<u8, Refusal> {
        let Some(engine) = &self.engine else {
            return Ok(0);
        };
        match engine.outcome() {
            Some(Outcome::Halted(reason)) => {
                Err(Refusal::error(reason, "the run is kept as it is"))
            }
            // A run that the user left has its own code where it is over.
            Some(Outcome::Finished) | None => Ok(code_of(engine.state())),
        }
    }
}
