//! Runs one live conversation: an adapter, its CLI process, and the turn that runs in it.
//!
//! Each role has one such task, and each running task of a child. It performs the adapter's outputs, writes the raw stream and watches the deadlines.
//! It does not know the workflow: it sends [`ConversationEvent`]s to a bounded channel and awaits each send, so
//! that a flood slows down the child process and never the main loop.

mod cli_launch;
mod command_cleanup;
mod conversation_deadlines;
mod delta_coalescer;
mod hook_socket;
mod silence_watchdog;
mod stall_diagnosis;
mod stderr_lines;

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::adapter::{
    Adapter, AdapterCommand, AdapterEvent, AdapterOutput, CliExit, CliProcessLifetime,
    CliTurnOutcome, SessionSpec, TurnFailure, TurnFailureKind, TurnSpec,
};
use crate::domain::event::AgentProcess;
use crate::domain::ids::{RequestId, SessionId};
use crate::process::{
    self, ChildSpawner, CliProcesses, OutputEvent, ProcessMark, RunningChild, SandboxSpec,
    StopLadder,
};
use crate::store::RawStream;

use super::sandbox::{self, TurnSandbox};
use super::sandbox_escapes;
use cli_launch::to_cli_exit;
use conversation_deadlines::ConversationDeadlines;
use delta_coalescer::{PendingDelta, RawDeltaBatch, single_delta};
pub use hook_socket::MAX_HOOK_CALL_BYTES;
use hook_socket::{HookSocket, next_hook_call};
use silence_watchdog::SilenceWatchdog;

/// How long a CLI may take for its handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a CLI may take to end a turn after an interrupt before the process is stopped.
const INTERRUPT_GRACE: Duration = Duration::from_secs(5);

/// A command of the engine to a live conversation.
#[derive(Debug)]
pub enum ConversationCommand {
    StartTurn(Box<TurnStartRequest>),
    /// Passes a command to the adapter: answers and interrupts.
    Adapter(AdapterCommand),
    /// Forgets the CLI's conversation before the next turn.
    ForgetConversation,
    /// The agent waits for the program, so its CLI is silent for a reason.
    AgentWaits(RequestId),
    /// The agent no longer waits for this request.
    AgentResumed(RequestId),
    /// Stops the process, with the patient stop ladder, and then ends the task.
    Shutdown,
}

/// A turn with everything that may be needed to start its CLI.
#[derive(Debug)]
pub struct TurnStartRequest {
    /// The session's current state.
    pub session: SessionSpec,
    pub turn: TurnSpec,
    /// In which conversation the turn runs.
    pub conversation: ConversationStart,
    /// The text that is put before the prompt if the CLI has lost the conversation.
    pub recovery: String,
    /// The sandbox of the process that serves the turn.
    pub sandbox: TurnSandbox,
    pub timeout: Duration,
    /// After how long without an event the processes are checked.
    pub silence_timeout: Duration,
}

/// In which conversation a turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConversationStart {
    Existing,
    /// Starts a new conversation; the prompt contains everything that it needs.
    New,
    /// Starts one for this turn only: the next turn continues the session's own.
    Isolated,
}

/// An event of a live conversation.
#[derive(Debug)]
pub enum ConversationEvent {
    /// The turn's prompt goes to this process.
    Started(AgentProcess),
    Adapter(AdapterEvent),
    /// Nothing arrived for this long, with the reason as far as it is known.
    Silent(Duration, String),
    /// Writing the raw stream failed.
    RawStreamFailed(String),
    /// The task has ended.
    Closed,
}

/// The task of a conversation; it runs until it is shut down or every command sender is dropped.
pub struct AgentConversation {
    session: SessionId,
    adapter: Box<dyn Adapter>,
    raw: RawStream,
    marker: ProcessMark,
    children: ChildSpawner,
    commands: mpsc::Receiver<ConversationCommand>,
    events: mpsc::Sender<(SessionId, ConversationEvent)>,
    child: Option<RunningChild>,
    /// The CLI and its servers, as found at the turn's first call.
    cli: Option<CliProcesses>,
    /// When the turn's prompt went out, in clock ticks since boot.
    turn_started_at: u64,
    /// The sandbox of the process, if there is one; the process's temporary files are removed with it.
    sandbox: Option<SandboxSpec>,
    /// The socket on which the CLI's hook asks, for a CLI that has one.
    hook: Option<HookSocket>,
    process_lifetime: CliProcessLifetime,
    /// Whether the process has a conversation that is for one turn only.
    is_isolated: bool,
    turn: Option<Box<TurnStartRequest>>,
    ready: bool,
    forget: bool,
    deadlines: ConversationDeadlines,
    pending_delta: PendingDelta,
    /// Text deltas that are not in the raw stream yet.
    raw_deltas: RawDeltaBatch,
    watchdog: SilenceWatchdog,
    /// How many frames of this turn were not understood.
    n_unknown_lines: u32,
    /// How often the sandbox was set up for this turn without success.
    n_failed_setups: usize,
}

/// The parts of which [`AgentConversation::new`] makes a conversation.
pub struct ConversationParts {
    pub session: SessionId,
    pub adapter: Box<dyn Adapter>,
    pub raw: RawStream,
    /// The mark of the conversation's processes.
    pub marker: ProcessMark,
    pub children: ChildSpawner,
}

impl AgentConversation {
    /// Creates a conversation that waits for its first turn.
    pub fn new(
        parts: ConversationParts,
        asks: mpsc::Receiver<ConversationCommand>,
        told: mpsc::Sender<(SessionId, ConversationEvent)>,
    ) -> Self {
        let ConversationParts {
            session,
            adapter,
            raw,
            marker,
            children,
        } = parts;
        Self {
            session,
            adapter,
            raw,
            marker,
            children,
            commands: asks,
            events: told,
            child: None,
            cli: None,
            turn_started_at: 0,
            sandbox: None,
            hook: None,
            process_lifetime: CliProcessLifetime::Session,
            is_isolated: false,
            turn: None,
            ready: false,
            forget: false,
            deadlines: ConversationDeadlines::default(),
            pending_delta: PendingDelta::default(),
            raw_deltas: RawDeltaBatch::default(),
            watchdog: SilenceWatchdog::default(),
            n_unknown_lines: 0,
            n_failed_setups: 0,
        }
    }

    /// Handles commands until the conversation is shut down.
    pub async fn run_until_shutdown(mut self) {
        loop {
            let now = Instant::now();
            if let Some(child) = &self.child {
                child.set_relaxed_reading(self.pending_delta.is_relaxed(now));
            }
            let untold = self.pending_delta.flush_at(now);
            let due = [
                self.deadlines.next_deadline(),
                self.watchdog.next_check_at(),
                untold,
            ];
            let next = tokio::select! {
                biased;
                ask = self.commands.recv() => ConversationInput::Command(ask),
                // Before the lines: a flood of lines must not delay a deadline.
                () = sleep_until_due(due.into_iter().flatten().min()) => ConversationInput::Deadline,
                line = next_line(&mut self.child) => ConversationInput::Line(line),
                (number, text) = next_hook_call(&mut self.hook) => ConversationInput::HookCall(number, text),
            };
            match next {
                ConversationInput::Command(None | Some(ConversationCommand::Shutdown)) => break,
                ConversationInput::Command(Some(ask)) => self.on_command(ask).await,
                ConversationInput::Line(line) => self.on_lines(line).await,
                ConversationInput::HookCall(number, text) => {
                    self.on_adapter_command(AdapterCommand::HandleHookCall(number, text))
                        .await
                }
                ConversationInput::Deadline => self.on_deadline().await,
            }
        }
        self.terminate_child(StopLadder::patient()).await;
        while let Ok(ask) = self.commands.try_recv() {
            if let ConversationCommand::Adapter(AdapterCommand::Steer(text)) = ask {
                self.send_event(ConversationEvent::Adapter(AdapterEvent::InputUndelivered {
                    text,
                }))
                .await;
            }
        }
        self.send_event(ConversationEvent::Closed).await;
    }

    async fn on_command(&mut self, ask: ConversationCommand) {
        match ask {
            ConversationCommand::StartTurn(turn) => self.on_turn(turn).await,
            ConversationCommand::Adapter(order) => self.on_adapter_command(order).await,
            ConversationCommand::ForgetConversation => self.forget = true,
            ConversationCommand::AgentWaits(request) => self.watchdog.on_agent_waits(request),
            ConversationCommand::AgentResumed(request) => {
                self.watchdog.on_request_answered(&request)
            }
            ConversationCommand::Shutdown => {}
        }
    }

    async fn on_turn(&mut self, mut turn: Box<TurnStartRequest>) {
        let continues = turn.conversation == ConversationStart::Existing;
        if !continues {
            turn.session.external_id = None;
        }
        let forgets = std::mem::take(&mut self.forget);
        // The turn was made before the conversation was forgotten, so its prompt lacks the recovery text.
        if forgets && turn.session.external_id.take().is_some() {
            turn.turn.prompt = format!("{}\n\n{}", turn.recovery, turn.turn.prompt);
        }
        let was_isolated = std::mem::replace(
            &mut self.is_isolated,
            turn.conversation == ConversationStart::Isolated,
        );
        let keeps_process = continues && !forgets && !was_isolated;
        if !keeps_process || (self.child.is_some() && !self.adapter.can_serve(&turn.turn)) {
            self.terminate_child(StopLadder::patient()).await;
        }
        self.deadlines.turn = Some(Instant::now() + turn.timeout);
        self.watchdog = SilenceWatchdog::start(turn.silence_timeout);
        self.n_unknown_lines = 0;
        self.n_failed_setups = 0;
        self.turn = Some(turn);
        if self.child.is_none() && !self.launch_cli().await {
            return;
        }
        self.start_turn().await;
    }

    async fn start_turn(&mut self) {
        let (Some(ask), Some(child)) = (&self.turn, &self.child) else {
            return;
        };
        let id = child.identity();
        let process = AgentProcess {
            pid: id.pid,
            start_time: Some(id.start_time),
        };
        let order = AdapterCommand::StartTurn(ask.turn.clone());
        self.turn_started_at = process::read_uptime_ticks();
        self.send_event(ConversationEvent::Started(process)).await;
        let outputs = self.adapter.on_command(order);
        self.perform_outputs(outputs).await;
    }

    async fn on_adapter_command(&mut self, order: AdapterCommand) {
        let interrupts = order == AdapterCommand::Interrupt;
        if let AdapterCommand::DecideApproval(request, _)
        | AdapterCommand::AnswerQuestions(request, _) = &order
        {
            self.watchdog.on_request_answered(request);
        }
        match order {
            AdapterCommand::Steer(text) if self.turn.is_none() => {
                return self
                    .send_event(ConversationEvent::Adapter(AdapterEvent::InputUndelivered {
                        text,
                    }))
                    .await;
            }
            _ if interrupts && self.turn.is_none() => return,
            _ => {}
        }
        let outputs = self.adapter.on_command(order);
        if interrupts {
            self.deadlines.interrupt = Some(Instant::now() + INTERRUPT_GRACE);
        }
        self.perform_outputs(outputs).await;
    }

    async fn on_line(&mut self, line: OutputEvent) {
        match line {
            OutputEvent::Stdout(line) => {
                let outputs = self.adapter.on_stdout_line(&line);
                match single_delta(&outputs) {
                    Some(piece) => self.push_raw_delta(piece).await,
                    None => self.push_raw_frame("cli", &line).await,
                }
                self.perform_outputs(outputs).await;
            }
            OutputEvent::Stderr(line) => self.on_stderr_line(&line).await,
            OutputEvent::TooLong { bytes, head, .. } => {
                let problem = format!("a line of {bytes} bytes is longer than this program reads");
                self.send_event(ConversationEvent::Adapter(AdapterEvent::Malformed {
                    problem,
                    line: head,
                }))
                .await;
            }
            OutputEvent::Ended(exit) => self.on_process_exit(exit).await,
        }
    }

    async fn on_process_exit(&mut self, exit: process::ChildExit) {
        self.child = None;
        let was_ready = std::mem::take(&mut self.ready);
        self.deadlines.handshake = None;
        if !was_ready && self.turn.is_some() && self.may_retry_sandbox_setup(&exit) {
            self.n_failed_setups += 1;
            self.report_discarded_exit(&to_cli_exit(exit)).await;
            return self.relaunch().await;
        }
        let exit = to_cli_exit(exit);
        let outputs = self.adapter.on_exit(&exit);
        self.perform_outputs(outputs).await;
        if self.turn.is_some() && self.child.is_none() {
            let how = exit
                .stderr_tail
                .lines()
                .last()
                .unwrap_or_default()
                .to_owned();
            self.fail_turn(
                TurnFailureKind::Protocol,
                format!("the CLI ended during a turn: {how}"),
            )
            .await;
        }
    }

    async fn perform_outputs(&mut self, outputs: Vec<AdapterOutput>) {
        let mut pending: std::collections::VecDeque<AdapterOutput> = outputs.into();
        while let Some(output) = pending.pop_front() {
            match output {
                AdapterOutput::Send(text) => self.send_to_process(text).await,
                AdapterOutput::CloseInput => self.close_input(),
                AdapterOutput::AnswerHook(number, text) => {
                    if let Some(hook) = &mut self.hook {
                        hook.reply_to_call(number, text);
                    }
                }
                AdapterOutput::Relaunch => {
                    return Box::pin(self.relaunch_in_new_conversation(None)).await;
                }
                AdapterOutput::Event(AdapterEvent::SessionLost { reason }) => {
                    // The adapter's further outputs are void: a new conversation starts from the recovery prompt.
                    return Box::pin(self.relaunch_in_new_conversation(Some(reason))).await;
                }
                AdapterOutput::Event(event) => self.forward_event(event).await,
            }
        }
    }

    async fn send_to_process(&mut self, text: String) {
        self.push_raw_frame("us", text.trim_end()).await;
        self.flush_raw_stream().await;
        let Some(child) = &self.child else {
            return;
        };
        // A closed input means that the child is exiting; its exit is reported separately.
        let _closed = child.input().send(text).await;
    }

    fn close_input(&mut self) {
        if let Some(child) = &self.child {
            child.input().close();
        }
    }

    async fn forward_event(&mut self, mut event: AdapterEvent) {
        self.record_cli_servers(&event).await;
        match &mut event {
            AdapterEvent::ApprovalRequested(asking) => {
                let call = &mut asking.call;
                if self.sandbox.is_some() {
                    sandbox::mark_sandboxed(call);
                }
                if let Some(ask) = &self.turn {
                    sandbox_escapes::mark_possible_escape(call, &ask.sandbox.sandbox_escapes);
                }
            }
            AdapterEvent::Ready { .. } => {
                self.ready = true;
                self.deadlines.handshake = None;
            }
            AdapterEvent::Unknown { .. } | AdapterEvent::Malformed { .. }
                if !self.should_report_unknown_line().await =>
            {
                return;
            }
            AdapterEvent::TurnEnded(_) => {
                if self.turn.take().is_none() {
                    // A turn ends once: a second end from the adapter is ignored.
                    return;
                }
                self.deadlines = ConversationDeadlines::default();
                self.watchdog = SilenceWatchdog::default();
                self.terminate_commands().await;
            }
            _ => {}
        }
        if self.turn.is_some() {
            self.watchdog.on_event(&event);
        }
        self.send_event(ConversationEvent::Adapter(event)).await;
    }

    async fn on_deadline(&mut self) {
        let now = Instant::now();
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if due(self.pending_delta.flush_at(now)) {
            self.flush_all().await;
        } else if due(self.deadlines.handshake) {
            let seconds = HANDSHAKE_TIMEOUT.as_secs();
            self.abort_turn(
                TurnFailureKind::Protocol,
                format!("the CLI did not complete its handshake within {seconds} s"),
            )
            .await;
        } else if due(self.deadlines.interrupt) {
            self.deadlines.interrupt = None;
            self.terminate_child(StopLadder::brief()).await;
            self.end_turn(CliTurnOutcome::Interrupted).await;
        } else if due(self.deadlines.turn) {
            self.abort_turn(
                TurnFailureKind::Protocol,
                "the turn took longer than limits.turn_timeout".to_owned(),
            )
            .await;
        } else if due(self.watchdog.next_check_at()) {
            let root = self.child.as_ref().map(RunningChild::identity);
            if let Some((since, why)) = self.watchdog.check_processes(root).await {
                self.send_event(ConversationEvent::Silent(since, why)).await;
            }
        }
    }

    /// Stops a child that does not behave as expected, and fails the turn.
    async fn abort_turn(&mut self, kind: TurnFailureKind, message: String) {
        self.terminate_child(StopLadder::brief()).await;
        self.fail_turn(kind, message).await;
    }

    async fn fail_turn(&mut self, kind: TurnFailureKind, message: String) {
        self.end_turn(CliTurnOutcome::Failed(TurnFailure::new(kind, message)))
            .await;
    }

    async fn end_turn(&mut self, end: CliTurnOutcome) {
        self.forward_event(AdapterEvent::TurnEnded(end)).await;
    }

    /// Stops the process and discards its remaining output. The adapter is informed of the exit, but its outputs
    /// are void because the turn ends here.
    async fn terminate_child(&mut self, ladder: StopLadder) {
        if let Some(mut child) = self.child.take() {
            let exit = to_cli_exit(child.stop(ladder).await);
            self.report_discarded_exit(&exit).await;
        }
        self.flush_raw_stream().await;
        self.ready = false;
        self.deadlines.handshake = None;
    }

    /// Informs the adapter of an exit that does not end the turn.
    async fn report_discarded_exit(&mut self, exit: &CliExit) {
        for output in self.adapter.on_exit(exit) {
            // A user's message that was not delivered must not be lost.
            if let AdapterOutput::Event(event @ AdapterEvent::InputUndelivered { .. }) = output {
                self.send_event(ConversationEvent::Adapter(event)).await;
            }
        }
    }
}

enum ConversationInput {
    Command(Option<ConversationCommand>),
    Line(OutputEvent),
    HookCall(u64, String),
    Deadline,
}

async fn next_line(child: &mut Option<RunningChild>) -> OutputEvent {
    match child {
        Some(child) => child.next_event().await,
        None => std::future::pending().await,
    }
}

async fn sleep_until_due(due: Option<Instant>) {
    match due {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
