//! Shuts the screen down: the terminal first, then the child processes, then the final message. A program that has the
//! terminal ends together with the children; the terminal is restored after that.

use std::pin::Pin;

use crate::app::oneshot_engine::terminate_remaining_processes;
use crate::app::startup::StartError;
use crate::tui::QuitStep;

use super::TuiApp;
use super::terminal_driver::terminate_program;
use super::tui_end::TuiEnd;

/// How long the shutdown may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TuiShutdownMode {
    /// The user sees it and can cut it short.
    Interactive,
    /// The limits after a signal.
    Brief,
    /// No waiting.
    Immediate,
}

impl From<&TuiEnd> for TuiShutdownMode {
    fn from(end: &TuiEnd) -> Self {
        match end {
            TuiEnd::Left => Self::Interactive,
            TuiEnd::Signalled(_) | TuiEnd::TerminalGone(_) | TuiEnd::Panicked => Self::Brief,
            TuiEnd::Killed | TuiEnd::Refused(_) | TuiEnd::Failed(_) => Self::Immediate,
        }
    }
}

impl TuiApp {
    /// Leaves at once if nothing runs. Otherwise interrupts the turn after the user has confirmed, and kills it on the
    /// next request.
    pub(super) fn on_quit(&mut self, step: QuitStep) -> Result<(), TuiEnd> {
        // A user who views another run is asked on the screen of the run that would end.
        if step == QuitStep::Ask && self.viewer.has_opened_run() {
            let (screen, state) = self.session.screen_and_state();
            if screen.open_quit_dialog(state) {
                return self.close_view();
            }
        }
        if step == QuitStep::Now || self.session.is_leaving() {
            return Err(TuiEnd::Killed);
        }
        if !self.session.is_busy() {
            return Err(TuiEnd::Left);
        }
        // The run's own screen shows how it ends.
        let _none_was_open = self.close_view();
        self.session.leave()
    }

    /// Quits at the end of the input in linear mode: nobody is there to confirm it. What the lines before it asked for
    /// starts first, and an error in the directory is reported.
    pub(super) fn on_end_of_lines(&mut self) -> Result<(), TuiEnd> {
        // Where another process has the run, nothing starts.
        if self.viewer.has_base() {
            for text in self.starter.cancel_pending() {
                let notice = format!("Not sent, because another program has the run: {text}");
                self.front().0.on_notice(&notice);
                self.draw()?;
            }
        }
        self.lines_have_ended = self.starter.is_pending() || !self.has_opened_directory();
        if self.session.is_leaving() || self.lines_have_ended {
            return Ok(());
        }
        if !self.session.is_busy() {
            return Err(TuiEnd::Left);
        }
        let _none_was_open = self.close_view();
        self.session.leave()
    }

    /// Ends everything and returns the exit code.
    ///
    /// Boxed and separate from the main loop: otherwise the loop's stack and memory would have room for both from the
    /// start.
    pub(super) fn shut_down_boxed(
        self,
        end: TuiEnd,
    ) -> Pin<Box<dyn Future<Output = Result<u8, StartError>>>> {
        Box::pin(self.shut_down(end))
    }

    async fn shut_down(mut self, end: TuiEnd) -> Result<u8, StartError> {
        self.work.cancel();
        self.terminal.discard_answer();
        let is_lent = self.terminal.is_lent();
        let mode = match TuiShutdownMode::from(&end) {
            // The user cannot see the shutdown while an editor has the terminal.
            TuiShutdownMode::Interactive if is_lent => TuiShutdownMode::Brief,
            mode => mode,
        };
        if !is_lent && mode != TuiShutdownMode::Interactive {
            self.terminal.release();
        }
        self.session.save_draft();
        if let Some(socket) = self.socket.take() {
            socket.close().await;
        }
        self.session.record_exit(end.reason());
        if is_lent {
            tokio::join!(terminate_program(), self.end_run(mode));
            self.terminal.restore_after_termination();
        } else {
            self.end_run(mode).await;
        }
        self.terminal.release();
        self.work.shut_down().await;
        if self.session.engine().is_some() {
            terminate_remaining_processes().await;
        }
        if let TuiEnd::Left | TuiEnd::Killed | TuiEnd::Signalled(_) = end
            && let Some(line) = self.session.exit_message()
        {
            // The terminal may be gone with the signal.
            let _gone = self.terminal.print_final_line(&line);
        }
        match end {
            TuiEnd::Left | TuiEnd::Killed => self.session.exit_code(),
            TuiEnd::Signalled(_) | TuiEnd::TerminalGone(_) => Ok(130),
            TuiEnd::Panicked => Ok(101),
            TuiEnd::Refused(refusal) => Err(refusal),
            TuiEnd::Failed(error) => {
                Err(StartError::new(&error, "what was recorded so far is saved"))
            }
        }
    }

    async fn end_run(&mut self, mode: TuiShutdownMode) {
        match mode {
            TuiShutdownMode::Interactive => self.session.end_gracefully(&mut self.terminal).await,
            TuiShutdownMode::Brief => self.session.end_quickly().await,
            TuiShutdownMode::Immediate => {}
        }
    }
}
