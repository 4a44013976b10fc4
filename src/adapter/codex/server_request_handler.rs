//! Handles each request of codex from its arrival to our answer.
//!
//! Every request is answered: an unknown one with an error, and one that no user can decide is declined.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::server_requests::{
    self, PendingServerRequest, ServerRequestContext, ServerRequestOutcome,
};
use super::{CodexAdapter, CodexTurnStage, push_malformed_line, push_notice, push_unknown_frame};
use crate::adapter::{AdapterEvent, AdapterOutput, CallDecision};
use crate::domain::ids::RequestId;

impl CodexAdapter {
    pub(super) fn on_request(
        &mut self,
        id: &Value,
        method: &str,
        params: Value,
        line: &str,
        out: &mut Vec<AdapterOutput>,
    ) {
        let Some(session) = &self.session else {
            return self.send_error_response(id, "no session is open", out);
        };
        let context = ServerRequestContext {
            own_thread: self.thread_id.as_deref(),
            cwd: &session.cwd,
            items: &self.open_items,
        };
        match server_requests::parse_server_request(id, method, params, context) {
            Ok(ServerRequestOutcome::Pending(pending)) => {
                let (ask, event) = *pending;
                self.on_pending_request(ask, event, out);
            }
            Ok(ServerRequestOutcome::Refused(result, text)) => {
                let answer = json!({ "id": id, "result": result });
                self.connection.send_frame(&answer, out);
                push_notice(out, &text);
            }
            Ok(ServerRequestOutcome::Unknown) => {
                self.send_error_response(id, &format!("agent-collab does not serve {method}"), out);
                push_unknown_frame(out, method, line);
            }
            Err(problem) => {
                self.send_error_response(id, &problem, out);
                push_malformed_line(out, format!("{method}: {problem}"), line);
            }
        }
    }

    fn send_error_response(&self, id: &Value, message: &str, out: &mut Vec<AdapterOutput>) {
        let error = json!({ "code": -32601, "message": message });
        let answer = json!({ "id": id, "error": error });
        self.connection.send_frame(&answer, out);
    }

    /// Outside a turn there is no user to decide, so nothing is allowed.
    fn on_pending_request(
        &mut self,
        ask: PendingServerRequest,
        event: AdapterEvent,
        out: &mut Vec<AdapterOutput>,
    ) {
        if self.turn.is_none() {
            let reason = "no turn is running".to_owned();
            let answer = ask.decision_response(&CallDecision::Deny { reason });
            self.connection.send_frame(&answer, out);
            return push_notice(out, "codex made a request outside a turn; it was declined");
        }
        self.server_requests.insert(ask);
        out.push(AdapterOutput::Event(event));
    }

    pub(super) fn on_decision(
        &mut self,
        request: &RequestId,
        decision: &CallDecision,
        out: &mut Vec<AdapterOutput>,
    ) {
        if self.pending_hooks.answer(request, decision, out) {
            if *decision == CallDecision::DenyAndStop {
                self.on_interrupt(out);
            }
            return;
        }
        let Some(ask) = self.server_requests.remove(request) else {
            return push_notice(out, &format!("codex no longer waits for request {request}"));
        };
        let own = self.thread_id.as_deref() == Some(&ask.thread_id);
        match decision {
            // An answer has no field for a reason. A text sent before the answer reaches the agent together with it.
            CallDecision::Deny { reason } if own => {
                self.steer_with_denial_reason(&ask, reason, out)
            }
            CallDecision::Allow | CallDecision::Deny { .. } | CallDecision::DenyAndStop => {}
        }
        self.connection
            .send_frame(&ask.decision_response(decision), out);
        let stops_by_itself = own && ask.ends_turn_when_cancelled();
        if *decision == CallDecision::DenyAndStop && !stops_by_itself {
            self.on_interrupt(out);
        }
    }

    fn steer_with_denial_reason(
        &mut self,
        ask: &PendingServerRequest,
        reason: &str,
        out: &mut Vec<AdapterOutput>,
    ) {
        let running = match &self.turn {
            Some(turn) => turn.stage.clone(),
            None => return,
        };
        let reason = reason.trim();
        if let (CodexTurnStage::Running(id), false) = (running, reason.is_empty())
            && ask.turn_id.as_ref() == Some(&id)
        {
            self.send_steer(&id, reason, out);
        }
    }

    pub(super) fn on_question_answers(
        &mut self,
        request: &RequestId,
        answers: Option<&BTreeMap<String, String>>,
        out: &mut Vec<AdapterOutput>,
    ) {
        match self.server_requests.remove(request) {
            Some(ask) => self
                .connection
                .send_frame(&ask.answers_response(answers), out),
            None => push_notice(out, &format!("codex no longer waits for request {request}")),
        }
    }

    /// Declines all open requests: a turn that has ended waits for no answer.
    pub(super) fn decline_pending_requests(&mut self, out: &mut Vec<AdapterOutput>) {
        for (request, ask) in self.server_requests.drain() {
            let reason = "the turn has ended".to_owned();
            let answer = ask.decision_response(&CallDecision::Deny { reason });
            self.connection.send_frame(&answer, out);
            out.push(AdapterOutput::Event(AdapterEvent::RequestWithdrawn {
                request,
            }));
        }
    }
}
