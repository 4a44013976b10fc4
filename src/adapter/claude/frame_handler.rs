//! Handles what `claude` writes: each frame becomes events, answers and the end of a turn.
//!
//! The id of our prompt line tells our turn apart from one that the CLI started by itself. Our turn ends with its
//! `result`; frames are never counted.

use serde_json::Value;

use super::control_requests::{self, ControlRequestOutcome};
use super::launch_arguments::ClaudeConversation;
use super::message_translator::TranslatorOutput;
use super::messages_api::{AssistantFrame, UserFrame};
use super::open_turn::{self, ClaudeStopReason, ClaudeTurnStage};
use super::stream_json::{self, ClaudeFrame};
use super::{
    ClaudeAdapter, ClaudeProcessState, HANDSHAKE_REQUEST_ID, event_outputs, notice_output,
};
use crate::adapter::{AdapterEvent, AdapterOutput, CliUsageTotals};
use crate::domain::ids::RequestId;

/// Why a claude that did not apply our hook gets no prompt.
const HOOK_NOT_APPLIED: &str = "claude would not ask before each call: it did not accept the hook of agent-collab, so no prompt was sent; \
     look for a managed configuration that forbids hooks, or install the version that `agent-collab doctor` names";

/// The maximum length in bytes of a line that is reported or kept.
const MAX_EVENT_BYTES: usize = 4096;

impl ClaudeAdapter {
    pub(super) fn on_frame(
        &mut self,
        frame: ClaudeFrame,
        answers: &[String],
        line: &str,
    ) -> Vec<AdapterOutput> {
        match frame {
            ClaudeFrame::Init(init) => self.on_init(init),
            ClaudeFrame::Retry(retry) => self.on_retry(&retry),
            ClaudeFrame::PermissionDenied(denied) => {
                self.on_permission_denied(denied).into_iter().collect()
            }
            ClaudeFrame::Notice(told) => told.content.map(notice_output).into_iter().collect(),
            ClaudeFrame::TaskStarted(started) => on_agent_started(&started),
            ClaudeFrame::Stream(stream) => {
                translator_outputs(self.translator.on_stream(stream), line)
            }
            ClaudeFrame::Assistant(assistant) => self.on_assistant(assistant, line),
            ClaudeFrame::User(user) => self.on_user(user, line),
            ClaudeFrame::Result(result) => self.on_result(*result, answers),
            ClaudeFrame::ControlRequest(request) => self.on_control_request(request, line),
            ClaudeFrame::CancelRequest { request_id } => self.on_cancel_request(&request_id),
            ClaudeFrame::ControlResponse(response) => self.on_control_response(response.response),
            ClaudeFrame::Lifecycle(lifecycle) => self.on_lifecycle(&lifecycle),
            ClaudeFrame::RateLimit(told) => self.on_rate_limit(told.rate_limit_info),
            ClaudeFrame::Ignored => Vec::new(),
            ClaudeFrame::Unknown { kind } => vec![unknown_frame_output(kind, line)],
            ClaudeFrame::Malformed { problem } => vec![malformed_line_output(problem, line)],
        }
    }

    fn on_init(&mut self, init: stream_json::InitFrame) -> Vec<AdapterOutput> {
        let mut out = Vec::new();
        let is_other_model = self.model != init.model;
        self.model = init.model;
        if is_other_model || self.announced_conversation.as_ref() != Some(&init.session_id) {
            let external_id = init.session_id.clone();
            out.push(AdapterOutput::Event(AdapterEvent::SessionOpened {
                external_id,
                model: self.model.clone(),
            }));
            self.announced_conversation = Some(init.session_id);
        }
        match self.turn.as_ref().map(|turn| turn.stage) {
            None => out.push(notice_output("claude started a turn on its own".to_owned())),
            Some(ClaudeTurnStage::Sent) => out.extend(self.mark_turn_started()),
            Some(
                ClaudeTurnStage::WaitingForHandshake
                | ClaudeTurnStage::Queued
                | ClaudeTurnStage::Running,
            ) => {}
        }
        out
    }

    fn on_assistant(&mut self, assistant: AssistantFrame, line: &str) -> Vec<AdapterOutput> {
        if assistant.message.model.as_deref() != Some("<synthetic>") {
            let filled = assistant.message.context_tokens();
            if assistant.parent_tool_use_id.is_none() && assistant.agent_id.is_none() {
                self.context_tokens = filled.or(self.context_tokens);
            }
            return translator_outputs(self.translator.on_assistant(assistant), line);
        }
        let said = open_turn::parse_synthetic_message(&assistant);
        match (&mut self.turn, assistant.error.is_some()) {
            (Some(turn), true) => {
                turn.shown_failure = Some(said);
                Vec::new()
            }
            _not_ours_or_no_error => vec![notice_output(said.text)],
        }
    }

    fn on_user(&mut self, user: UserFrame, line: &str) -> Vec<AdapterOutput> {
        let mut out = Vec::new();
        if user
            .uuid
            .as_ref()
            .is_some_and(|uuid| self.is_prompt_line(uuid))
        {
            out.extend(self.mark_turn_started());
        }
        out.extend(translator_outputs(self.translator.on_user(user), line));
        out
    }

    /// Reports a retry. A refused login interrupts the turn, because the CLI would retry for minutes without a chance.
    fn on_retry(&mut self, retry: &stream_json::ApiRetryFrame) -> Vec<AdapterOutput> {
        let mut out = vec![AdapterOutput::Event(open_turn::retrying_event(retry))];
        if retry.error_status == Some(401) {
            let known = self
                .turn
                .as_ref()
                .is_some_and(|turn| turn.stop == ClaudeStopReason::LoginRefused);
            if let Some(turn) = &mut self.turn {
                turn.stop = ClaudeStopReason::LoginRefused;
            }
            if !known {
                out.push(self.interrupt_output());
            }
        }
        out
    }

    fn on_rate_limit(&mut self, limit: stream_json::RateLimitInfo) -> Vec<AdapterOutput> {
        let windows = limit.plan_windows();
        if let Some(turn) = &mut self.turn {
            turn.rate_limit = Some(limit);
        }
        if windows.is_empty() {
            Vec::new()
        } else {
            vec![AdapterOutput::Event(AdapterEvent::PlanUse { windows })]
        }
    }

    fn on_permission_denied(
        &mut self,
        denied: stream_json::PermissionDenialFrame,
    ) -> Option<AdapterOutput> {
        let is_new = match denied.tool_use_id {
            Some(call) => self.known_denied_calls.insert(call),
            None => true,
        };
        is_new.then(|| {
            AdapterOutput::Event(AdapterEvent::CallDenied {
                tool: denied.tool_name,
                reason: denied
                    .message
                    .unwrap_or_else(|| "a rule or a hook in claude's own settings".to_owned()),
            })
        })
    }

    fn on_control_request(
        &mut self,
        request: stream_json::ControlRequestFrame,
        line: &str,
    ) -> Vec<AdapterOutput> {
        let id = request.request_id.clone();
        match self.control_requests.on_control_request(request, &self.cwd) {
            ControlRequestOutcome::Pending(event) => {
                if let AdapterEvent::ApprovalRequested(asking) = &event
                    && let Some(item) = &asking.item
                {
                    self.known_denied_calls.insert(item.clone());
                }
                vec![AdapterOutput::Event(event)]
            }
            ControlRequestOutcome::Answered(line) => vec![AdapterOutput::Send(line)],
            ControlRequestOutcome::Unknown(kind) => vec![
                AdapterOutput::Send(control_requests::error_response(
                    &id,
                    "this host does not serve such requests",
                )),
                unknown_frame_output(kind, line),
            ],
            ControlRequestOutcome::Malformed(problem) => {
                vec![
                    AdapterOutput::Send(control_requests::error_response(&id, &problem)),
                    malformed_line_output(problem, line),
                ]
            }
        }
    }

    fn on_cancel_request(&mut self, request: &str) -> Vec<AdapterOutput> {
        let request_id = RequestId::new(request);
        let withdrawn =
            self.control_requests
                .remove(request)
                .map(|_| AdapterEvent::RequestWithdrawn {
                    request: request_id,
                });
        event_outputs(withdrawn.into_iter().collect())
    }

    fn on_control_response(
        &mut self,
        response: stream_json::ControlResponseBody,
    ) -> Vec<AdapterOutput> {
        let failed = response.subtype != "success";
        let error = response
            .error
            .unwrap_or_else(|| "claude gave no reason".to_owned());
        if response.request_id == HANDSHAKE_REQUEST_ID
            && self.process == ClaudeProcessState::Starting
        {
            let told = |key: &str| response.response.as_ref().and_then(|body| body.get(key));
            let refused = match told("hooks_applied") {
                _ if failed => Some(format!("claude refused the handshake: {error}")),
                Some(Value::Bool(true)) => None,
                Some(_) | None => Some(HOOK_NOT_APPLIED.to_owned()),
            };
            if let Some(refused) = refused {
                self.process = ClaudeProcessState::Absent;
                return self.finish_turn(open_turn::refused_failure(&refused));
            }
            self.process = ClaudeProcessState::Ready;
            let version = told("claude_code_version");
            let version = version.and_then(Value::as_str).map(str::to_owned);
            let mut out = vec![AdapterOutput::Event(AdapterEvent::Ready { version })];
            if let Some(turn) = &mut self.turn {
                turn.stage = ClaudeTurnStage::Sent;
                out.push(AdapterOutput::Send(control_requests::prompt_message(
                    &turn.uuid,
                    &turn.prompt,
                )));
            }
            return out;
        }
        if failed && response.request_id.starts_with("interrupt-") {
            return vec![notice_output(format!(
                "claude could not be interrupted: {error}"
            ))];
        }
        Vec::new()
    }

    fn on_lifecycle(
        &mut self,
        lifecycle: &stream_json::CommandLifecycleFrame,
    ) -> Vec<AdapterOutput> {
        if !self.is_prompt_line(&lifecycle.command_uuid) {
            let alone = match lifecycle.state.as_str() {
                "started" => self.interrupt_late_steer(&lifecycle.command_uuid),
                _ => None,
            };
            return alone.unwrap_or_default();
        }
        match (lifecycle.state.as_str(), &mut self.turn) {
            ("queued", Some(turn)) if turn.stage == ClaudeTurnStage::Sent => {
                turn.stage = ClaudeTurnStage::Queued;
                Vec::new()
            }
            ("started", Some(_)) => self.mark_turn_started(),
            ("cancelled", Some(turn)) => {
                let end = turn.outcome_without_result();
                self.finish_turn(end)
            }
            _later_states_follow_the_result => Vec::new(),
        }
    }

    /// Records that our turn runs. An interrupt sent while the turn was queued had no effect, and is sent again.
    pub(super) fn mark_turn_started(&mut self) -> Vec<AdapterOutput> {
        let Some(turn) = self
            .turn
            .as_mut()
            .filter(|turn| matches!(turn.stage, ClaudeTurnStage::Sent | ClaudeTurnStage::Queued))
        else {
            return Vec::new();
        };
        turn.stage = ClaudeTurnStage::Running;
        let stopped = turn.stop != ClaudeStopReason::NotStopping;
        self.translator.begin_turn();
        let mut out = vec![AdapterOutput::Event(AdapterEvent::TurnStarted)];
        if stopped {
            out.push(self.interrupt_output());
        }
        out
    }

    fn on_result(
        &mut self,
        result: stream_json::ClaudeResultFrame,
        answers: &[String],
    ) -> Vec<AdapterOutput> {
        let errors = result.errors.clone().unwrap_or_default().join("\n");
        if self.process == ClaudeProcessState::Starting
            && let Some(out) = self.relaunch_for_new_conversation(&errors)
        {
            return out;
        }
        let ours = self.belongs_to_our_turn(answers)
            || self
                .turn
                .as_ref()
                .is_some_and(|turn| turn.owns_result(&result));
        let mut out: Vec<AdapterOutput> =
            open_turn::usage_from_result(&result, self.model.as_deref())
                .map(|usage| CliUsageTotals {
                    context_tokens: self.context_tokens,
                    ..usage
                })
                .map(|usage| AdapterOutput::Event(AdapterEvent::Usage(usage)))
                .into_iter()
                .collect();
        for denied in result.permission_denials.iter().flatten() {
            out.extend(self.on_permission_denied(denied.clone()));
        }
        match &self.turn {
            Some(turn) if ours => {
                let end = turn.outcome_from_result(&result, self.translator.last_text());
                out.extend(self.finish_turn(end));
            }
            _no_turn_of_ours => out.extend(event_outputs(self.translator.close_turn())),
        }
        out
    }

    /// Requests a new process, once per turn, when the conversation is gone or its new id is already in use.
    pub(super) fn relaunch_for_new_conversation(
        &mut self,
        said: &str,
    ) -> Option<Vec<AdapterOutput>> {
        let turn = self.turn.as_ref()?;
        let reason = said.lines().find(|line| {
            line.contains("No conversation found") || line.contains("is already in use")
        })?;
        // One new process per turn; otherwise a failure that persists would relaunch for ever.
        if self.relaunch_attempted_for.as_ref() == Some(&turn.turn) {
            let end = open_turn::refused_failure(reason);
            return Some(self.finish_turn(end));
        }
        self.relaunch_attempted_for = Some(turn.turn.clone());
        self.process = ClaudeProcessState::AwaitingReplacement;
        let event = match self.conversation.take() {
            Some(ClaudeConversation::Resumed(id)) => {
                self.lost_conversation = Some(id);
                AdapterEvent::SessionLost {
                    reason: reason.to_owned(),
                }
            }
            Some(ClaudeConversation::New(_)) | None => AdapterEvent::Notice {
                text: reason.to_owned(),
            },
        };
        self.turn = None;
        // This must come first: everything that follows a lost conversation is void.
        let mut out = event_outputs(self.steer_queue.drain_undelivered());
        out.extend([AdapterOutput::Event(event), AdapterOutput::Relaunch]);
        Some(out)
    }
}

fn on_agent_started(started: &stream_json::TaskStartFrame) -> Vec<AdapterOutput> {
    let told = started.subagent_type.as_ref().zip(started.task_id.as_ref());
    let text = told.map(|(kind, id)| format!("claude started a sub-agent {kind} ({id})"));
    text.map(notice_output).into_iter().collect()
}

fn translator_outputs(told: Vec<TranslatorOutput>, line: &str) -> Vec<AdapterOutput> {
    let output = |told| match told {
        TranslatorOutput::Event(event) => AdapterOutput::Event(event),
        TranslatorOutput::Unknown(kind) => unknown_frame_output(kind, line),
        TranslatorOutput::Malformed(problem) => malformed_line_output(problem, line),
    };
    told.into_iter().map(output).collect()
}

fn unknown_frame_output(kind: String, line: &str) -> AdapterOutput {
    AdapterOutput::Event(AdapterEvent::Unknown {
        kind,
        frame: truncate_for_event(line),
    })
}

fn malformed_line_output(problem: String, line: &str) -> AdapterOutput {
    AdapterOutput::Event(AdapterEvent::Malformed {
        problem,
        line: truncate_for_event(line),
    })
}

fn truncate_for_event(line: &str) -> String {
    line[..line.floor_char_boundary(MAX_EVENT_BYTES)].to_owned()
}
