//! Sends our requests to codex and handles its answers: handshake, thread, turn.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::app_server_protocol::{
    self, HooksListResponse, InitializeResponse, RpcError, ThreadOpenResponse, TurnStartResponse,
};
use super::{
    CodexAdapter, CodexTurnStage, launch_parameters, pre_tool_use_hook, push_malformed_line,
    push_notice, push_unknown_frame, settings_check,
};
use crate::adapter::{AdapterEvent, AdapterOutput, TurnFailureKind};

/// The state of the process and of our unanswered requests.
#[derive(Debug, Default)]
pub(super) struct CodexConnection {
    pub(super) state: CodexConnectionState,
    n_requests: i64,
    unanswered_requests: BTreeMap<i64, ClientRequestKind>,
    /// What the user sent in the middle of the turn, by the ids of the requests that carry it.
    steered_texts: BTreeMap<i64, String>,
}

/// The state of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum CodexConnectionState {
    /// It does not run.
    #[default]
    NotRunning,
    /// It runs; nothing was sent to it yet.
    Launched,
    /// The handshake is under way.
    Handshaking,
    /// Our thread is open.
    Ready,
    /// The handshake failed; the process is useless.
    Broken,
}

/// A request of ours that is not answered yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClientRequestKind {
    Initialize,
    HooksList,
    ThreadStart,
    ThreadResume,
    TurnStart,
    Interrupt,
    Clean,
    Steer,
}

impl ClientRequestKind {
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

impl CodexConnection {
    /// Builds the state of a new process.
    pub(super) fn for_new_process() -> Self {
        Self {
            state: CodexConnectionState::Launched,
            ..Self::default()
        }
    }

    /// Returns the user's texts that codex has not received, in sending order.
    pub(super) fn into_undelivered_events(self) -> impl Iterator<Item = AdapterOutput> {
        let said = self.steered_texts.into_values();
        said.map(|text| AdapterOutput::Event(AdapterEvent::InputUndelivered { text }))
    }

    fn send_request(
        &mut self,
        sent: ClientRequestKind,
        params: &Value,
        out: &mut Vec<AdapterOutput>,
    ) {
        if self.state == CodexConnectionState::NotRunning {
            return;
        }
        self.n_requests += 1;
        self.unanswered_requests.insert(self.n_requests, sent);
        let frame = json!({ "id": self.n_requests, "method": sent.method(), "params": params });
        self.send_frame(&frame, out);
    }

    /// Interrupts a turn. A running command outlives it, so the thread's background commands are stopped too.
    pub(super) fn send_interrupt(
        &mut self,
        thread_id: &str,
        turn_id: &str,
        out: &mut Vec<AdapterOutput>,
    ) {
        let params = json!({ "threadId": thread_id, "turnId": turn_id });
        self.send_request(ClientRequestKind::Interrupt, &params, out);
        self.send_clean_terminals(thread_id, out);
    }

    /// Stops the background commands of a thread.
    pub(super) fn send_clean_terminals(&mut self, thread_id: &str, out: &mut Vec<AdapterOutput>) {
        let params = json!({ "threadId": thread_id });
        self.send_request(ClientRequestKind::Clean, &params, out);
    }

    /// Sends one frame, unless the process no longer listens.
    pub(super) fn send_frame(&self, frame: &Value, out: &mut Vec<AdapterOutput>) {
        match self.state {
            CodexConnectionState::NotRunning => {}
            CodexConnectionState::Launched
            | CodexConnectionState::Handshaking
            | CodexConnectionState::Ready
            | CodexConnectionState::Broken => {
                out.push(AdapterOutput::Send(format!("{frame}\n")));
            }
        }
    }
}

impl CodexAdapter {
    pub(super) fn on_response(
        &mut self,
        id: i64,
        outcome: Result<Value, RpcError>,
        line: &str,
        out: &mut Vec<AdapterOutput>,
    ) {
        let Some(sent) = self.connection.unanswered_requests.remove(&id) else {
            return push_unknown_frame(out, "an answer to a request that was never made", line);
        };
        let said = self.connection.steered_texts.remove(&id);
        match (sent, outcome) {
            (
                ClientRequestKind::Interrupt | ClientRequestKind::Clean | ClientRequestKind::Steer,
                Ok(_),
            ) => {}
            // There is nothing left to steer, interrupt or end: the turn was over before codex read this.
            (ClientRequestKind::Steer, Err(_)) => {
                let untold =
                    said.map(|text| AdapterOutput::Event(AdapterEvent::InputUndelivered { text }));
                out.extend(untold);
            }
            (ClientRequestKind::Interrupt | ClientRequestKind::Clean, Err(_)) => {}
            (ClientRequestKind::ThreadResume, Err(error)) => self.on_resume_refused(&error, out),
            (
                ClientRequestKind::Initialize
                | ClientRequestKind::HooksList
                | ClientRequestKind::ThreadStart
                | ClientRequestKind::TurnStart,
                Err(error),
            ) => {
                self.on_request_refused(sent, &error, out);
            }
            (_, Ok(result)) => {
                let read = self.on_result(sent, result, out);
                if let Err(problem) = read {
                    let problem = format!("the answer to {}: {problem}", sent.method());
                    push_malformed_line(out, problem.clone(), line);
                    self.connection.state = CodexConnectionState::Broken;
                    self.fail_turn(TurnFailureKind::Protocol, problem, out);
                }
            }
        }
    }

    fn on_result(
        &mut self,
        sent: ClientRequestKind,
        result: Value,
        out: &mut Vec<AdapterOutput>,
    ) -> Result<(), String> {
        match sent {
            ClientRequestKind::Initialize => {
                self.on_initialize_response(&app_server_protocol::parse_params(result)?, out)
            }
            ClientRequestKind::HooksList => {
                self.on_hooks_listed(&app_server_protocol::parse_params(result)?, out)
            }
            ClientRequestKind::ThreadStart => {
                self.on_thread_opened(&app_server_protocol::parse_params(result)?, out)
            }
            ClientRequestKind::ThreadResume => {
                let opened: ThreadOpenResponse = app_server_protocol::parse_params(result)?;
                if Some(&opened.thread.id) != self.announced_thread_id.as_ref() {
                    return Err(format!("another thread was opened: {}", opened.thread.id));
                }
                self.on_thread_opened(&opened, out);
            }
            ClientRequestKind::TurnStart => {
                let TurnStartResponse { turn } = app_server_protocol::parse_params(result)?;
                self.on_turn_accepted(turn.id);
            }
            ClientRequestKind::Interrupt | ClientRequestKind::Clean | ClientRequestKind::Steer => {}
        }
        Ok(())
    }

    pub(super) fn send_initialize(&mut self, out: &mut Vec<AdapterOutput>) {
        self.connection.state = CodexConnectionState::Handshaking;
        self.connection.send_request(
            ClientRequestKind::Initialize,
            &launch_parameters::initialize_params(),
            out,
        );
    }

    fn on_initialize_response(
        &mut self,
        answer: &InitializeResponse,
        out: &mut Vec<AdapterOutput>,
    ) {
        let version = parse_user_agent_version(&answer.user_agent);
        out.push(AdapterOutput::Event(AdapterEvent::Ready { version }));
        self.connection
            .send_frame(&json!({ "method": "initialized" }), out);
        let Some(session) = &self.session else {
            return;
        };
        match &session.hook_command {
            // The thread is opened only after codex has confirmed that it trusts our hook.
            Some(_) => {
                let params = json!({ "cwds": [session.cwd] });
                self.connection
                    .send_request(ClientRequestKind::HooksList, &params, out);
            }
            None => self.open_thread(out),
        }
    }

    /// Continues only if codex will really ask before each call: it silently leaves out a hook that it does not
    /// trust.
    fn on_hooks_listed(&mut self, listed: &HooksListResponse, out: &mut Vec<AdapterOutput>) {
        let hook = self
            .session
            .as_ref()
            .and_then(|session| session.hook_command.as_ref());
        match hook.map_or(Ok(()), |command| {
            pre_tool_use_hook::check_hook_is_trusted(listed, command)
        }) {
            Ok(()) => self.open_thread(out),
            Err(problem) => {
                self.connection.state = CodexConnectionState::Broken;
                self.fail_turn(TurnFailureKind::Refused, problem, out);
            }
        }
    }

    fn open_thread(&mut self, out: &mut Vec<AdapterOutput>) {
        let Some(session) = &self.session else {
            return;
        };
        match &session.external_id {
            Some(thread_id) => {
                let params = launch_parameters::thread_resume_params(session, thread_id);
                self.connection
                    .send_request(ClientRequestKind::ThreadResume, &params, out);
            }
            None => self.send_thread_start(out),
        }
    }

    fn send_thread_start(&mut self, out: &mut Vec<AdapterOutput>) {
        if let Some(session) = &self.session {
            let params = launch_parameters::thread_start_params(session);
            self.connection
                .send_request(ClientRequestKind::ThreadStart, &params, out);
        }
    }

    /// Uses the opened thread, but stops if the settings that apply there are weaker than what was asked for.
    fn on_thread_opened(&mut self, opened: &ThreadOpenResponse, out: &mut Vec<AdapterOutput>) {
        if let Err(problem) = settings_check::check_opened_thread(opened) {
            self.connection.state = CodexConnectionState::Broken;
            return self.fail_turn(TurnFailureKind::Refused, problem, out);
        }
        self.thread_id = Some(opened.thread.id.clone());
        self.model.clone_from(&opened.model);
        if self.connection.state == CodexConnectionState::Handshaking {
            self.connection.state = CodexConnectionState::Ready;
            self.send_turn(out);
        }
    }

    pub(super) fn send_turn(&mut self, out: &mut Vec<AdapterOutput>) {
        let (Some(session), Some(thread_id), Some(turn)) =
            (&self.session, &self.thread_id, &mut self.turn)
        else {
            return;
        };
        turn.stage = CodexTurnStage::Sent;
        let spec = &turn.spec;
        let params =
            launch_parameters::turn_start_params(session, thread_id, &spec.prompt, spec.access);
        self.connection
            .send_request(ClientRequestKind::TurnStart, &params, out);
    }

    fn on_turn_accepted(&mut self, turn_id: String) {
        if let Some(turn) = &mut self.turn
            && turn.stage == CodexTurnStage::Sent
        {
            turn.stage = CodexTurnStage::Accepted(turn_id);
        }
    }

    /// Replaces a thread that codex no longer has with a new one; any other error fails the turn.
    fn on_resume_refused(&mut self, error: &RpcError, out: &mut Vec<AdapterOutput>) {
        let gone = ["no rollout found", "invalid session id", "thread not found"];
        if !gone.iter().any(|sign| error.message.contains(sign)) {
            return self.on_request_refused(ClientRequestKind::ThreadResume, error, out);
        }
        let reason = error.message.clone();
        out.push(AdapterOutput::Event(AdapterEvent::SessionLost { reason }));
        self.announced_thread_id = None;
        self.send_thread_start(out);
    }

    fn on_request_refused(
        &mut self,
        sent: ClientRequestKind,
        error: &RpcError,
        out: &mut Vec<AdapterOutput>,
    ) {
        let hint = if error.message.contains("already has an active writer") {
            "; this conversation is open in another codex: end it, then try again"
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
            ClientRequestKind::Initialize
            | ClientRequestKind::HooksList
            | ClientRequestKind::ThreadStart
            | ClientRequestKind::ThreadResume => {
                self.connection.state = CodexConnectionState::Broken;
            }
            ClientRequestKind::TurnStart
            | ClientRequestKind::Interrupt
            | ClientRequestKind::Clean
            | ClientRequestKind::Steer => {}
        }
        match self.turn {
            Some(_) => self.fail_turn(TurnFailureKind::Refused, text, out),
            None => push_notice(out, &text),
        }
    }

    /// Handles a text that the user sends in the middle of the turn.
    pub(super) fn on_steer(&mut self, text: String, out: &mut Vec<AdapterOutput>) {
        match self.turn.as_ref().map(|turn| turn.stage.clone()) {
            Some(CodexTurnStage::Running(id)) if self.thread_id.is_some() => {
                self.send_steer(&id, &text, out);
                self.connection
                    .steered_texts
                    .insert(self.connection.n_requests, text);
            }
            Some(_) | None => out.push(AdapterOutput::Event(AdapterEvent::InputUndelivered {
                text,
            })),
        }
    }

    /// Sends a text to the agent in the middle of its turn.
    pub(super) fn send_steer(&mut self, turn_id: &str, text: &str, out: &mut Vec<AdapterOutput>) {
        if let Some(thread_id) = &self.thread_id {
            let params = json!({
                "threadId": thread_id,
                "expectedTurnId": turn_id,
                "input": [{ "type": "text", "text": text }],
            });
            self.connection
                .send_request(ClientRequestKind::Steer, &params, out);
        }
    }
}

/// Parses the version in `agent-collab/0.169.0 (Debian …) …`.
fn parse_user_agent_version(user_agent: &str) -> Option<String> {
    let (_, rest) = user_agent.split_once('/')?;
    let version = rest.split(' ').next().unwrap_or(rest);
    (!version.is_empty()).then(|| version.to_owned())
}
