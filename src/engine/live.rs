//! One live conversation: an adapter, the process that it speaks to, and the turn that runs in it.
//!
//! Each role has one task of this kind. It performs the adapter's outputs, keeps the raw stream and
//! the deadlines, and refuses to know the workflow: what comes out are [`Told`]s on a bounded channel,
//! awaited, so that a flood slows the child and never the loop.

mod adoption;
mod deadlines;
mod error_lines;
mod hook;
mod silence;
mod starting;
mod sweeping;
mod telling;
mod verdict;

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::adapter::{
    Adapter, AdapterCommand, AdapterEvent, AdapterOutput, CliProcessLifetime, CliTurnOutcome,
    SessionSpec, TurnFailure, TurnFailureKind, TurnSpec,
};
use crate::domain::event::AgentProcess;
use crate::domain::ids::RequestId;
use crate::domain::turn::Role;
use crate::process::{
    self, ChildSpawner, CliProcesses, OutputEvent, ProcessMark, RunningChild, SandboxSpec,
    StopLadder,
};
use crate::store::RawStream;

use super::codex_rules;
use super::containing::{self, Holder};
pub use adoption::Adoption;
use deadlines::Deadlines;
pub use hook::QUESTION_BYTES;
use hook::{Hook, next_question};
use silence::Silence;
use starting::exit_of;
use telling::{RawPieces, Untold, only_piece};

/// How long a CLI may take to answer its handshake.
const HANDSHAKE: Duration = Duration::from_secs(60);
/// How long a CLI may take to end a turn that it was asked to interrupt, before it is ended itself.
const INTERRUPT_GRACE: Duration = Duration::from_secs(5);

/// What the engine asks of a live conversation.
#[derive(Debug)]
pub enum Ask {
    /// Runs a turn.
    Turn(Box<TurnAsk>),
    /// Passes an order on: answers and interrupts.
    Order(AdapterCommand),
    /// Forgets the conversation at the CLI.
    Forget,
    /// The agent waits for the program: its CLI is silent for a reason.
    Waits(RequestId),
    /// It waits no more.
    Waited(RequestId),
    /// Goes on in a new session by another protocol.
    Adopt(Box<Adoption>),
    /// Ends the process, patiently, and then the task.
    End,
}

/// A turn with everything that a launch may need.
#[derive(Debug)]
pub struct TurnAsk {
    /// The session as it stands.
    pub session: SessionSpec,
    /// The turn.
    pub turn: TurnSpec,
    /// Whether the turn goes on in the conversation that there is.
    pub conversation: Conversation,
    /// What goes in front of the prompt when the CLI has lost the conversation.
    pub recovery: String,
    /// What holds the process that serves the turn.
    pub holder: Holder,
    /// How long the turn may take.
    pub limit: Duration,
    /// After how long without an event its processes are looked at.
    pub patience: Duration,
}

/// Whether a turn goes on in the conversation that there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversation {
    /// It does.
    Continued,
    /// It begins a new one; its prompt says all it needs.
    Fresh,
}

/// What a live conversation tells.
#[derive(Debug)]
pub enum Told {
    /// The turn's prompt goes to this process.
    Started(AgentProcess),
    /// What the CLI told.
    Event(AdapterEvent),
    /// Nothing came for so long, and this is why as far as it is known.
    Silent(Duration, String),
    /// The raw stream could not be kept.
    RawFailed(String),
    /// The task is over.
    Gone,
}

/// A conversation's task; runs until it is asked to end or nobody asks any more.
pub struct Live {
    role: Role,
    adapter: Box<dyn Adapter>,
    raw: RawStream,
    marker: ProcessMark,
    children: ChildSpawner,
    asks: mpsc::Receiver<Ask>,
    told: mpsc::Sender<(Role, Told)>,
    child: Option<RunningChild>,
    /// The CLI and its servers as the turn's first call found them.
    cli: Option<CliProcesses>,
    /// What the kernel holds the process to, where it does; with it go the process's temporary files.
    contained: Option<SandboxSpec>,
    /// Where its hook asks, for a CLI that has one.
    hook: Option<Hook>,
    life: CliProcessLifetime,
    turn: Option<Box<TurnAsk>>,
    ready: bool,
    forget: bool,
    deadlines: Deadlines,
    untold: Untold,
    /// Pieces of texts that are not in the raw stream yet.
    raw_pieces: RawPieces,
    silence: Silence,
    /// How many frames of this turn nobody understood.
    n_odd: u32,
}

/// What a live conversation is made of.
pub struct Parts {
    /// Whose it is.
    pub role: Role,
    /// The protocol.
    pub adapter: Box<dyn Adapter>,
    /// Where the raw stream goes.
    pub raw: RawStream,
    /// The mark of its processes.
    pub marker: ProcessMark,
    /// Who starts them.
    pub children: ChildSpawner,
}

impl Live {
    /// Makes a conversation that waits for its first turn.
    pub fn new(parts: Parts, asks: mpsc::Receiver<Ask>, told: mpsc::Sender<(Role, Told)>) -> Self {
        let Parts {
            role,
            adapter,
            raw,
            marker,
            children,
        } = parts;
        Self {
            role,
            adapter,
            raw,
            marker,
            children,
            asks,
            told,
            child: None,
            cli: None,
            contained: None,
            hook: None,
            life: CliProcessLifetime::Session,
            turn: None,
            ready: false,
            forget: false,
            deadlines: Deadlines::default(),
            untold: Untold::default(),
            raw_pieces: RawPieces::default(),
            silence: Silence::default(),
            n_odd: 0,
        }
    }

    /// Serves asks until the end.
    pub async fn run(mut self) {
        loop {
            let now = Instant::now();
            if let Some(child) = &self.child {
                child.set_relaxed_reading(self.untold.is_calm(now));
            }
            let untold = self.untold.due(now);
            let due = [self.deadlines.next(), self.silence.due(), untold];
            let next = tokio::select! {
                biased;
                ask = self.asks.recv() => Next::Ask(ask),
                // Before the lines: however many come, what is late is late.
                () = sleep_to(due.into_iter().flatten().min()) => Next::Due,
                line = next_line(&mut self.child) => Next::Line(line),
                (number, text) = next_question(&mut self.hook) => Next::Hooked(number, text),
            };
            match next {
                Next::Ask(None | Some(Ask::End)) => break,
                Next::Ask(Some(ask)) => self.on_ask(ask).await,
                Next::Line(line) => self.on_lines(line).await,
                Next::Hooked(number, text) => {
                    self.on_order(AdapterCommand::HandleHookCall(number, text))
                        .await
                }
                Next::Due => self.on_due().await,
            }
        }
        self.end_child(StopLadder::patient()).await;
        while let Ok(ask) = self.asks.try_recv() {
            if let Ask::Order(AdapterCommand::Steer(text)) = ask {
                self.tell(Told::Event(AdapterEvent::InputUndelivered { text }))
                    .await;
            }
        }
        self.tell(Told::Gone).await;
    }

    async fn on_ask(&mut self, ask: Ask) {
        match ask {
            Ask::Turn(turn) => self.on_turn(turn).await,
            Ask::Order(order) => self.on_order(order).await,
            Ask::Forget => self.forget = true,
            Ask::Waits(request) => self.silence.on_waits(request),
            Ask::Waited(request) => self.silence.on_answered(&request),
            Ask::Adopt(adoption) => self.adopt(*adoption).await,
            Ask::End => {}
        }
    }

    async fn adopt(&mut self, adoption: Adoption) {
        self.end_child(StopLadder::patient()).await;
        self.adapter = adoption.adapter;
        self.raw = adoption.raw;
        self.forget = false;
    }

    async fn on_turn(&mut self, mut turn: Box<TurnAsk>) {
        if std::mem::take(&mut self.forget) {
            // Who did not know yet that the conversation goes has not said what it knew either.
            if turn.session.external_id.take().is_some() {
                turn.turn.prompt = format!("{}\n\n{}", turn.recovery, turn.turn.prompt);
            }
            self.end_child(StopLadder::patient()).await;
        }
        if turn.conversation == Conversation::Fresh {
            turn.session.external_id = None;
            self.end_child(StopLadder::patient()).await;
        }
        if self.child.is_some() && !self.adapter.can_serve(&turn.turn) {
            self.end_child(StopLadder::patient()).await;
        }
        self.deadlines.turn = Some(Instant::now() + turn.limit);
        self.silence = Silence::begin(turn.patience);
        self.n_odd = 0;
        self.turn = Some(turn);
        if self.child.is_none() && !self.launch().await {
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
        self.tell(Told::Started(process)).await;
        let outputs = self.adapter.on_command(order);
        self.perform(outputs).await;
    }

    async fn on_order(&mut self, order: AdapterCommand) {
        let interrupts = order == AdapterCommand::Interrupt;
        if let AdapterCommand::DecideApproval(request, _)
        | AdapterCommand::AnswerQuestions(request, _) = &order
        {
            self.silence.on_answered(request);
        }
        match order {
            AdapterCommand::Steer(text) if self.turn.is_none() => {
                return self
                    .tell(Told::Event(AdapterEvent::InputUndelivered { text }))
                    .await;
            }
            _ if interrupts && self.turn.is_none() => return,
            _ => {}
        }
        let outputs = self.adapter.on_command(order);
        if interrupts {
            self.deadlines.interrupt = Some(Instant::now() + INTERRUPT_GRACE);
        }
        self.perform(outputs).await;
    }

    async fn on_line(&mut self, line: OutputEvent) {
        match line {
            OutputEvent::Stdout(line) => {
                let outputs = self.adapter.on_stdout_line(&line);
                match only_piece(&outputs) {
                    Some(piece) => self.keep_piece(piece).await,
                    None => self.keep_raw("cli", &line).await,
                }
                self.perform(outputs).await;
            }
            OutputEvent::Stderr(line) => self.on_error_line(&line).await,
            OutputEvent::TooLong { bytes, head, .. } => {
                let problem = format!("a line of {bytes} bytes is longer than this program reads");
                self.tell(Told::Event(AdapterEvent::Malformed {
                    problem,
                    line: head,
                }))
                .await;
            }
            OutputEvent::Ended(exit) => self.on_end(exit).await,
        }
    }

    async fn on_end(&mut self, exit: process::ChildExit) {
        self.child = None;
        self.ready = false;
        self.deadlines.handshake = None;
        let exit = exit_of(exit);
        let outputs = self.adapter.on_exit(&exit);
        self.perform(outputs).await;
        if self.turn.is_some() && self.child.is_none() {
            let how = exit
                .stderr_tail
                .lines()
                .last()
                .unwrap_or_default()
                .to_owned();
            self.fail_turn(
                TurnFailureKind::Protocol,
                format!("the CLI ended in the middle of a turn: {how}"),
            )
            .await;
        }
    }

    async fn perform(&mut self, outputs: Vec<AdapterOutput>) {
        let mut pending: std::collections::VecDeque<AdapterOutput> = outputs.into();
        while let Some(output) = pending.pop_front() {
            match output {
                AdapterOutput::Send(text) => self.send(text).await,
                AdapterOutput::CloseInput => self.close_input(),
                AdapterOutput::AnswerHook(number, text) => {
                    if let Some(hook) = &mut self.hook {
                        hook.answer(number, text);
                    }
                }
                AdapterOutput::Relaunch => return Box::pin(self.relaunch(None)).await,
                AdapterOutput::Event(AdapterEvent::SessionLost { reason }) => {
                    // Whatever the adapter would do next is void: a new conversation starts from the recovery prompt.
                    return Box::pin(self.relaunch(Some(reason))).await;
                }
                AdapterOutput::Event(event) => self.pass_on(event).await,
            }
        }
    }

    async fn send(&mut self, text: String) {
        self.keep_raw("us", text.trim_end()).await;
        self.flush_raw().await;
        let Some(child) = &self.child else {
            return;
        };
        // A closed input means that the child is going; its end is told by itself.
        let _closed = child.input().send(text).await;
    }

    fn close_input(&mut self) {
        if let Some(child) = &self.child {
            child.input().close();
        }
    }

    async fn pass_on(&mut self, mut event: AdapterEvent) {
        self.note_servers(&event).await;
        match &mut event {
            AdapterEvent::ApprovalRequested { call, .. }
            | AdapterEvent::HookApprovalRequested { call, .. } => {
                if self.contained.is_some() {
                    containing::mark(call);
                }
                if let Some(ask) = &self.turn {
                    codex_rules::mark(call, &ask.holder.ways_out);
                }
            }
            AdapterEvent::Ready { .. } => {
                self.ready = true;
                self.deadlines.handshake = None;
            }
            AdapterEvent::Unknown { .. } | AdapterEvent::Malformed { .. }
                if !self.tells_odd().await =>
            {
                return;
            }
            AdapterEvent::TurnEnded(_) => {
                if self.turn.take().is_none() {
                    // A turn ends once: an adapter that says so twice is not believed.
                    return;
                }
                self.deadlines = Deadlines::default();
                self.silence = Silence::default();
                self.end_commands().await;
            }
            _ => {}
        }
        if self.turn.is_some() {
            self.silence.on_event(&event);
        }
        self.tell(Told::Event(event)).await;
    }

    async fn on_due(&mut self) {
        let now = Instant::now();
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if due(self.untold.due(now)) {
            self.tell_untold().await;
        } else if due(self.deadlines.handshake) {
            let seconds = HANDSHAKE.as_secs();
            self.give_up(
                TurnFailureKind::Protocol,
                format!("the CLI did not answer its handshake within {seconds} s"),
            )
            .await;
        } else if due(self.deadlines.interrupt) {
            self.deadlines.interrupt = None;
            self.end_child(StopLadder::brief()).await;
            self.end_turn(CliTurnOutcome::Interrupted).await;
        } else if due(self.deadlines.turn) {
            self.give_up(
                TurnFailureKind::Protocol,
                "the turn took longer than limits.turn_timeout".to_owned(),
            )
            .await;
        } else if due(self.silence.due()) {
            let root = self.child.as_ref().map(RunningChild::identity);
            if let Some((since, why)) = self.silence.look(root).await {
                self.tell(Told::Silent(since, why)).await;
            }
        }
    }

    /// Ends a child that no longer does what it should, and the turn with it.
    async fn give_up(&mut self, kind: TurnFailureKind, message: String) {
        self.end_child(StopLadder::brief()).await;
        self.fail_turn(kind, message).await;
    }

    async fn fail_turn(&mut self, kind: TurnFailureKind, message: String) {
        self.end_turn(CliTurnOutcome::Failed(TurnFailure::new(kind, message)))
            .await;
    }

    async fn end_turn(&mut self, end: CliTurnOutcome) {
        self.pass_on(AdapterEvent::TurnEnded(end)).await;
    }

    /// Ends the process and throws away what it still says; the adapter hears of the exit, and what
    /// it has to say to it is void because its turn ends here.
    async fn end_child(&mut self, ladder: StopLadder) {
        if let Some(mut child) = self.child.take() {
            let exit = exit_of(child.stop(ladder).await);
            for output in self.adapter.on_exit(&exit) {
                // What the user said is not void.
                if let AdapterOutput::Event(event @ AdapterEvent::InputUndelivered { .. }) = output
                {
                    self.tell(Told::Event(event)).await;
                }
            }
        }
        self.flush_raw().await;
        self.ready = false;
        self.deadlines.handshake = None;
    }
}

enum Next {
    Ask(Option<Ask>),
    Line(OutputEvent),
    Hooked(u64, String),
    Due,
}

async fn next_line(child: &mut Option<RunningChild>) -> OutputEvent {
    match child {
        Some(child) => child.next_event().await,
        None => std::future::pending().await,
    }
}

async fn sleep_to(due: Option<Instant>) {
    match due {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
