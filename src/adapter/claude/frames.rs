//! What `claude` says: each frame becomes events, answers and the end of a turn.
//!
//! Refuses to know orders. A turn of ours is told from one that the CLI began by itself by the id of our
//! line, and ends with its `result`, never by counting.

use serde_json::Value;

use super::asks::{self, Asked};
use super::launch::Conversation;
use super::messages::{Assistant, User};
use super::translate::Told;
use super::turn::{self, Stage, Stop};
use super::wire::{self, Frame};
use super::{Claude, HANDSHAKE, Process, events, notice};
use crate::adapter::{AdapterEvent, Output, Usage};
use crate::domain::ids::RequestId;

/// Why a claude that took no hook gets no prompt.
const NO_HOOK: &str = "claude would not ask before each call: it did not take the hook of agent-collab, and no prompt was sent; \
     look for a managed configuration that forbids hooks, or install the version that `agent-collab doctor` names";

/// A line that is reported or kept is cut to this many bytes.
const KEPT: usize = 4096;

impl Claude {
    pub(super) fn on_frame(&mut self, frame: Frame, answers: &[String], line: &str) -> Vec<Output> {
        match frame {
            Frame::Init(init) => self.on_init(init),
            Frame::Retry(retry) => self.on_retry(&retry),
            Frame::Denied(denied) => self.on_denied(denied).into_iter().collect(),
            Frame::Notice(told) => told.content.map(notice).into_iter().collect(),
            Frame::AgentStarted(started) => on_agent_started(&started),
            Frame::Stream(stream) => tell(self.transcript.on_stream(stream), line),
            Frame::Assistant(assistant) => self.on_assistant(assistant, line),
            Frame::User(user) => self.on_user(user, line),
            Frame::Result(result) => self.on_result(*result, answers),
            Frame::Request(request) => self.on_request(request, line),
            Frame::CancelRequest { request_id } => self.on_cancel(&request_id),
            Frame::Response(response) => self.on_response(response.response),
            Frame::Lifecycle(lifecycle) => self.on_lifecycle(&lifecycle),
            Frame::Limit(told) => self.on_limit(told.rate_limit_info),
            Frame::Quiet => Vec::new(),
            Frame::Unknown { kind } => vec![unknown(kind, line)],
            Frame::Malformed { problem } => vec![malformed(problem, line)],
        }
    }

    fn on_init(&mut self, init: wire::Init) -> Vec<Output> {
        let mut out = Vec::new();
        self.model = init.model;
        if self.announced.as_ref() != Some(&init.session_id) {
            let external_id = init.session_id.clone();
            out.push(Output::Event(AdapterEvent::SessionOpened { external_id }));
            self.announced = Some(init.session_id);
        }
        match self.turn.as_ref().map(|turn| turn.stage) {
            None => out.push(notice("claude began a turn by itself".to_owned())),
            Some(Stage::Sent) => out.extend(self.begin()),
            Some(Stage::Held | Stage::Queued | Stage::Begun) => {}
        }
        out
    }

    fn on_assistant(&mut self, assistant: Assistant, line: &str) -> Vec<Output> {
        if assistant.message.model.as_deref() != Some("<synthetic>") {
            let filled = assistant.message.filled();
            if assistant.parent_tool_use_id.is_none() && assistant.agent_id.is_none() {
                self.filled = filled.or(self.filled);
            }
            return tell(self.transcript.on_assistant(assistant), line);
        }
        let said = turn::said_by_cli(&assistant);
        match (&mut self.turn, assistant.error.is_some()) {
            (Some(turn), true) => {
                turn.said = Some(said);
                Vec::new()
            }
            _not_ours_or_no_error => vec![notice(said.text)],
        }
    }

    fn on_user(&mut self, user: User, line: &str) -> Vec<Output> {
        let mut out = Vec::new();
        if user.uuid.as_ref().is_some_and(|uuid| self.is_line(uuid)) {
            out.extend(self.begin());
        }
        out.extend(tell(self.transcript.on_user(user), line));
        out
    }

    /// A refused login is not worth the CLI's retries, which go on for minutes.
    fn on_retry(&mut self, retry: &wire::Retry) -> Vec<Output> {
        let mut out = vec![Output::Event(turn::retrying(retry))];
        if retry.error_status == Some(401) {
            let known = self
                .turn
                .as_ref()
                .is_some_and(|turn| turn.stop == Stop::Login);
            if let Some(turn) = &mut self.turn {
                turn.stop = Stop::Login;
            }
            if !known {
                out.push(self.interrupt());
            }
        }
        out
    }

    fn on_limit(&mut self, limit: wire::Limit) -> Vec<Output> {
        let windows = limit.windows();
        if let Some(turn) = &mut self.turn {
            turn.limit = Some(limit);
        }
        match windows.is_empty() {
            true => Vec::new(),
            false => vec![Output::Event(AdapterEvent::PlanUse { windows })],
        }
    }

    fn on_denied(&mut self, denied: wire::Denied) -> Option<Output> {
        let is_new = match denied.tool_use_id {
            Some(call) => self.known_denials.insert(call),
            None => true,
        };
        is_new.then(|| {
            Output::Event(AdapterEvent::CallDenied {
                tool: denied.tool_name,
                reason: denied
                    .message
                    .unwrap_or_else(|| "a rule or a hook of claude's own settings".to_owned()),
            })
        })
    }

    fn on_request(&mut self, request: wire::Request, line: &str) -> Vec<Output> {
        let id = request.request_id.clone();
        match self.asks.take(request, &self.cwd) {
            Asked::Waits(event) => {
                if let AdapterEvent::Asked {
                    item: Some(item), ..
                }
                | AdapterEvent::Weighed {
                    item: Some(item), ..
                } = &event
                {
                    self.known_denials.insert(item.clone());
                }
                vec![Output::Event(event)]
            }
            Asked::Answered(line) => vec![Output::Send(line)],
            Asked::Unknown(kind) => vec![
                Output::Send(asks::refuse(&id, "this host does not serve such requests")),
                unknown(kind, line),
            ],
            Asked::Malformed(problem) => {
                vec![
                    Output::Send(asks::refuse(&id, &problem)),
                    malformed(problem, line),
                ]
            }
        }
    }

    fn on_cancel(&mut self, request: &str) -> Vec<Output> {
        let request_id = RequestId::new(request);
        let withdrawn = self
            .asks
            .remove(request)
            .map(|_| AdapterEvent::RequestWithdrawn {
                request: request_id,
            });
        events(withdrawn.into_iter().collect())
    }

    fn on_response(&mut self, response: wire::ResponseBody) -> Vec<Output> {
        let failed = response.subtype != "success";
        let error = response
            .error
            .unwrap_or_else(|| "claude did not say why".to_owned());
        if response.request_id == HANDSHAKE && self.process == Process::Starting {
            let told = |key: &str| response.response.as_ref().and_then(|body| body.get(key));
            let refused = match told("hooks_applied") {
                _ if failed => Some(format!("claude refused the handshake: {error}")),
                Some(Value::Bool(true)) => None,
                Some(_) | None => Some(NO_HOOK.to_owned()),
            };
            if let Some(refused) = refused {
                self.process = Process::Absent;
                return self.finish(turn::refused(&refused));
            }
            self.process = Process::Ready;
            let version = told("claude_code_version");
            let version = version.and_then(Value::as_str).map(str::to_owned);
            let mut out = vec![Output::Event(AdapterEvent::Ready { version })];
            if let Some(turn) = &mut self.turn {
                turn.stage = Stage::Sent;
                out.push(Output::Send(asks::prompt(&turn.uuid, &turn.prompt)));
            }
            return out;
        }
        if failed && response.request_id.starts_with("interrupt-") {
            return vec![notice(format!("claude could not interrupt: {error}"))];
        }
        Vec::new()
    }

    fn on_lifecycle(&mut self, lifecycle: &wire::Lifecycle) -> Vec<Output> {
        if !self.is_line(&lifecycle.command_uuid) {
            let alone = match lifecycle.state.as_str() {
                "started" => self.on_steer_alone(&lifecycle.command_uuid),
                _ => None,
            };
            return alone.unwrap_or_default();
        }
        match (lifecycle.state.as_str(), &mut self.turn) {
            ("queued", Some(turn)) if turn.stage == Stage::Sent => {
                turn.stage = Stage::Queued;
                Vec::new()
            }
            ("started", Some(_)) => self.begin(),
            ("cancelled", Some(turn)) => {
                let end = turn.ended_without_result();
                self.finish(end)
            }
            _later_states_follow_the_result => Vec::new(),
        }
    }

    /// Notes that our turn runs. An interrupt that came while it was queued met nothing, and is sent again.
    pub(super) fn begin(&mut self) -> Vec<Output> {
        let Some(turn) = self
            .turn
            .as_mut()
            .filter(|turn| matches!(turn.stage, Stage::Sent | Stage::Queued))
        else {
            return Vec::new();
        };
        turn.stage = Stage::Begun;
        let stopped = turn.stop != Stop::No;
        self.transcript.begin_turn();
        let mut out = vec![Output::Event(AdapterEvent::TurnStarted)];
        if stopped {
            out.push(self.interrupt());
        }
        out
    }

    fn on_result(&mut self, result: wire::TurnResult, answers: &[String]) -> Vec<Output> {
        let errors = result.errors.clone().unwrap_or_default().join("\n");
        if self.process == Process::Starting
            && let Some(out) = self.start_over(&errors)
        {
            return out;
        }
        let ours =
            self.is_ours(answers) || self.turn.as_ref().is_some_and(|turn| turn.owns(&result));
        let mut out: Vec<Output> = turn::usage(&result, self.model.as_deref())
            .map(|usage| Usage {
                context_tokens: self.filled,
                ..usage
            })
            .map(|usage| Output::Event(AdapterEvent::Usage(usage)))
            .into_iter()
            .collect();
        for denied in result.permission_denials.iter().flatten() {
            out.extend(self.on_denied(denied.clone()));
        }
        match &self.turn {
            Some(turn) if ours => {
                let end = turn.ended_by(&result, self.transcript.last_text());
                out.extend(self.finish(end));
            }
            _no_turn_of_ours => out.extend(events(self.transcript.close())),
        }
        out
    }

    /// Asks for a new process when the conversation is gone or its new id is taken, once a turn.
    pub(super) fn start_over(&mut self, said: &str) -> Option<Vec<Output>> {
        let turn = self.turn.as_ref()?;
        let reason = said.lines().find(|line| {
            line.contains("No conversation found") || line.contains("is already in use")
        })?;
        if self.relaunched.as_ref() == Some(&turn.turn) {
            let end = turn::refused(reason);
            return Some(self.finish(end));
        }
        self.relaunched = Some(turn.turn.clone());
        self.process = Process::Replaced;
        let event = match self.conversation.take() {
            Some(Conversation::Resumed(id)) => {
                self.lost = Some(id);
                AdapterEvent::SessionLost {
                    reason: reason.to_owned(),
                }
            }
            Some(Conversation::New(_)) | None => AdapterEvent::Notice {
                text: reason.to_owned(),
            },
        };
        self.turn = None;
        // First: what follows a lost conversation is void.
        let mut out = events(self.steering.lost());
        out.extend([Output::Event(event), Output::Relaunch]);
        Some(out)
    }
}

fn on_agent_started(started: &wire::AgentStarted) -> Vec<Output> {
    let told = started.subagent_type.as_ref().zip(started.task_id.as_ref());
    let text = told.map(|(kind, id)| format!("claude began a sub-agent {kind} ({id})"));
    text.map(notice).into_iter().collect()
}

fn tell(told: Vec<Told>, line: &str) -> Vec<Output> {
    let output = |told| match told {
        Told::Event(event) => Output::Event(event),
        Told::Unknown(kind) => unknown(kind, line),
        Told::Malformed(problem) => malformed(problem, line),
    };
    told.into_iter().map(output).collect()
}

fn unknown(kind: String, line: &str) -> Output {
    Output::Event(AdapterEvent::Unknown {
        kind,
        frame: cut(line),
    })
}

fn malformed(problem: String, line: &str) -> Output {
    Output::Event(AdapterEvent::Malformed {
        problem,
        line: cut(line),
    })
}

fn cut(line: &str) -> String {
    line[..line.floor_char_boundary(KEPT)].to_owned()
}
