//! What we ask of codex and what becomes of its answers: handshake, thread, turn.
//!
//! Refuses to know items and approvals.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::wire::{self, Frame, HooksListed, Initialized, OpenedThread, RpcError, StartedTurn};
use super::{Codex, Stage, hook, launch, malformed, notice, settings, unknown};
use crate::adapter::{AdapterEvent, FailureKind, Output};

/// The state of the process and what it owes us.
#[derive(Debug, Default)]
pub(super) struct Connection {
    pub(super) link: Link,
    n_sent: i64,
    owed: BTreeMap<i64, Sent>,
    /// What the user said in the middle of the turn, by the requests that tell it.
    said: BTreeMap<i64, String>,
}

/// How far the process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Link {
    /// It does not run.
    #[default]
    Down,
    /// It runs and has been told nothing.
    Fresh,
    /// The handshake is under way.
    Opening,
    /// Our thread is open.
    Ready,
    /// The handshake failed; the process is of no use.
    Broken,
    /// Its input is closed.
    Closing,
}

/// A request of ours that is not answered yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent {
    Initialize,
    HooksList,
    ThreadStart,
    ThreadResume,
    TurnStart,
    Interrupt,
    Clean,
    Steer,
}

impl Sent {
    fn method(self) -> &'static str {
        match self {
            Self::Initialize => "initialize",
            Self::HooksList => "hooks/list",
            Self::ThreadStart => "thread/start",
            Self::ThreadResume => "thread/resume",
            Self::TurnStart => "turn/start",
            Self::Interrupt => "turn/interrupt",
            Self::Clean => "thread/backgroundTerminals/clean",
            Self::Steer => "turn/steer",
        }
    }
}

impl Connection {
    /// Starts the state of a new process.
    pub(super) fn fresh() -> Self {
        Self {
            link: Link::Fresh,
            ..Self::default()
        }
    }

    /// What the user said and codex has not taken in, in that order.
    pub(super) fn untold(self) -> impl Iterator<Item = Output> {
        let said = self.said.into_values();
        said.map(|text| Output::Event(AdapterEvent::Untold { text }))
    }

    fn request(&mut self, sent: Sent, params: &Value, out: &mut Vec<Output>) {
        if matches!(self.link, Link::Down | Link::Closing) {
            return;
        }
        self.n_sent += 1;
        self.owed.insert(self.n_sent, sent);
        let frame = json!({ "id": self.n_sent, "method": sent.method(), "params": params });
        self.send(&frame, out);
    }

    /// Ends a turn. A running command outlives it, so the thread's background commands are ended too.
    pub(super) fn interrupt(&mut self, thread_id: &str, turn_id: &str, out: &mut Vec<Output>) {
        let params = json!({ "threadId": thread_id, "turnId": turn_id });
        self.request(Sent::Interrupt, &params, out);
        self.clean(thread_id, out);
    }

    /// Ends the background commands of a thread.
    pub(super) fn clean(&mut self, thread_id: &str, out: &mut Vec<Output>) {
        let params = json!({ "threadId": thread_id });
        self.request(Sent::Clean, &params, out);
    }

    /// Writes one frame, unless the process no longer listens.
    pub(super) fn send(&self, frame: &Value, out: &mut Vec<Output>) {
        match self.link {
            Link::Down | Link::Closing => {}
            Link::Fresh | Link::Opening | Link::Ready | Link::Broken => {
                out.push(Output::Send(format!("{frame}\n")));
            }
        }
    }
}

impl Codex {
    pub(super) fn on_frame(&mut self, line: &str, out: &mut Vec<Output>) {
        match wire::parse_frame(line) {
            Err(problem) => malformed(out, problem, line),
            Ok(Frame::Unknown { kind }) => unknown(out, &kind, line),
            Ok(Frame::Answer { id, outcome }) => self.on_answered(id, outcome, line, out),
            Ok(Frame::Request { id, method, params }) => {
                self.on_request((&id, &method), params, line, out);
            }
            Ok(Frame::Notification { method, params }) => {
                self.on_notification(&method, params, line, out);
            }
        }
    }

    fn on_answered(
        &mut self,
        id: i64,
        outcome: Result<Value, RpcError>,
        line: &str,
        out: &mut Vec<Output>,
    ) {
        let Some(sent) = self.connection.owed.remove(&id) else {
            return unknown(out, "an answer to a request that was never made", line);
        };
        let said = self.connection.said.remove(&id);
        match (sent, outcome) {
            (Sent::Interrupt | Sent::Clean | Sent::Steer, Ok(_)) => {}
            // Nothing to steer, interrupt or end: the turn was over before codex read this.
            (Sent::Steer, Err(_)) => {
                let untold = said.map(|text| Output::Event(AdapterEvent::Untold { text }));
                out.extend(untold);
            }
            (Sent::Interrupt | Sent::Clean, Err(_)) => {}
            (Sent::ThreadResume, Err(error)) => self.on_resume_refused(&error, out),
            (
                Sent::Initialize | Sent::HooksList | Sent::ThreadStart | Sent::TurnStart,
                Err(error),
            ) => {
                self.on_refused(sent, &error, out);
            }
            (_, Ok(result)) => {
                let read = self.on_result(sent, result, out);
                if let Err(problem) = read {
                    let problem = format!("the answer to {}: {problem}", sent.method());
                    malformed(out, problem.clone(), line);
                    self.connection.link = Link::Broken;
                    self.fail(FailureKind::Protocol, problem, out);
                }
            }
        }
    }

    fn on_result(
        &mut self,
        sent: Sent,
        result: Value,
        out: &mut Vec<Output>,
    ) -> Result<(), String> {
        match sent {
            Sent::Initialize => self.on_initialized(&wire::parse_params(result)?, out),
            Sent::HooksList => self.on_hooks(&wire::parse_params(result)?, out),
            Sent::ThreadStart => self.on_thread(&wire::parse_params(result)?, out),
            Sent::ThreadResume => {
                let opened: OpenedThread = wire::parse_params(result)?;
                if Some(&opened.thread.id) != self.announced.as_ref() {
                    return Err(format!("another thread was opened: {}", opened.thread.id));
                }
                self.on_thread(&opened, out);
            }
            Sent::TurnStart => {
                let StartedTurn { turn } = wire::parse_params(result)?;
                self.on_turn_accepted(turn.id);
            }
            Sent::Interrupt | Sent::Clean | Sent::Steer => {}
        }
        Ok(())
    }

    pub(super) fn send_initialize(&mut self, out: &mut Vec<Output>) {
        self.connection.link = Link::Opening;
        self.connection
            .request(Sent::Initialize, &launch::initialize(), out);
    }

    fn on_initialized(&mut self, answer: &Initialized, out: &mut Vec<Output>) {
        let version = version(&answer.user_agent);
        out.push(Output::Event(AdapterEvent::Ready { version }));
        self.connection
            .send(&json!({ "method": "initialized" }), out);
        let Some(session) = &self.session else {
            return;
        };
        match &session.hook {
            Some(_) => {
                let params = json!({ "cwds": [session.cwd] });
                self.connection.request(Sent::HooksList, &params, out);
            }
            None => self.open_thread(out),
        }
    }

    /// Goes on only when codex will really ask before each call: it leaves out a hook that it does not trust
    /// without a word.
    fn on_hooks(&mut self, listed: &HooksListed, out: &mut Vec<Output>) {
        let hook = self
            .session
            .as_ref()
            .and_then(|session| session.hook.as_ref());
        match hook.map_or(Ok(()), |command| hook::check(listed, command)) {
            Ok(()) => self.open_thread(out),
            Err(problem) => {
                self.connection.link = Link::Broken;
                self.fail(FailureKind::Refused, problem, out);
            }
        }
    }

    fn open_thread(&mut self, out: &mut Vec<Output>) {
        let Some(session) = &self.session else {
            return;
        };
        match &session.external_id {
            Some(thread_id) => {
                let params = launch::thread_resume(session, thread_id);
                self.connection.request(Sent::ThreadResume, &params, out);
            }
            None => self.send_thread_start(out),
        }
    }

    fn send_thread_start(&mut self, out: &mut Vec<Output>) {
        if let Some(session) = &self.session {
            let params = launch::thread_start(session);
            self.connection.request(Sent::ThreadStart, &params, out);
        }
    }

    /// Takes the opened thread, and goes no further when what holds there is weaker than what was asked.
    fn on_thread(&mut self, opened: &OpenedThread, out: &mut Vec<Output>) {
        if let Err(problem) = settings::check_opened(opened) {
            self.connection.link = Link::Broken;
            return self.fail(FailureKind::Refused, problem, out);
        }
        self.thread_id = Some(opened.thread.id.clone());
        if self.connection.link == Link::Opening {
            self.connection.link = Link::Ready;
            self.send_turn(out);
        }
    }

    pub(super) fn send_turn(&mut self, out: &mut Vec<Output>) {
        let (Some(session), Some(thread_id), Some(turn)) =
            (&self.session, &self.thread_id, &mut self.turn)
        else {
            return;
        };
        turn.stage = Stage::Sent;
        let spec = &turn.spec;
        let params = launch::turn_start(session, thread_id, &spec.prompt, spec.access);
        self.connection.request(Sent::TurnStart, &params, out);
    }

    fn on_turn_accepted(&mut self, turn_id: String) {
        if let Some(turn) = &mut self.turn
            && turn.stage == Stage::Sent
        {
            turn.stage = Stage::Accepted(turn_id);
        }
    }

    /// A thread that codex no longer has is replaced by a new one; anything else fails the turn.
    fn on_resume_refused(&mut self, error: &RpcError, out: &mut Vec<Output>) {
        let gone = ["no rollout found", "invalid session id", "thread not found"];
        if !gone.iter().any(|sign| error.message.contains(sign)) {
            return self.on_refused(Sent::ThreadResume, error, out);
        }
        let reason = error.message.clone();
        out.push(Output::Event(AdapterEvent::SessionLost { reason }));
        self.announced = None;
        self.send_thread_start(out);
    }

    fn on_refused(&mut self, sent: Sent, error: &RpcError, out: &mut Vec<Output>) {
        let hint = if error.message.contains("already has an active writer") {
            "; another codex has this conversation open: end it, then try again"
        } else {
            ""
        };
        let text = format!(
            "codex refused {}: {}{hint} (code {})",
            sent.method(),
            error.message,
            error.code
        );
        match sent {
            Sent::Initialize | Sent::HooksList | Sent::ThreadStart | Sent::ThreadResume => {
                self.connection.link = Link::Broken;
            }
            Sent::TurnStart | Sent::Interrupt | Sent::Clean | Sent::Steer => {}
        }
        match self.turn {
            Some(_) => self.fail(FailureKind::Refused, text, out),
            None => notice(out, &text),
        }
    }

    /// Passes on what the user says in the middle of the turn.
    pub(super) fn on_steer(&mut self, text: String, out: &mut Vec<Output>) {
        match self.turn.as_ref().map(|turn| turn.stage.clone()) {
            Some(Stage::Running(id)) if self.thread_id.is_some() => {
                self.send_steer(&id, &text, out);
                self.connection.said.insert(self.connection.n_sent, text);
            }
            Some(_) | None => out.push(Output::Event(AdapterEvent::Untold { text })),
        }
    }

    /// Says something to the agent in the middle of its turn.
    pub(super) fn send_steer(&mut self, turn_id: &str, text: &str, out: &mut Vec<Output>) {
        if let Some(thread_id) = &self.thread_id {
            let params = json!({
                "threadId": thread_id,
                "expectedTurnId": turn_id,
                "input": [{ "type": "text", "text": text }],
            });
            self.connection.request(Sent::Steer, &params, out);
        }
    }
}

/// Reads the version out of `agent-collab/0.169.0 (Debian …) …`.
fn version(user_agent: &str) -> Option<String> {
    let (_, rest) = user_agent.split_once('/')?;
    let version = rest.split(' ').next().unwrap_or(rest);
    (!version.is_empty()).then(|| version.to_owned())
}
