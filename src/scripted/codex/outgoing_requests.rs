//! Sends the requests that codex makes in the middle of a turn: approvals and questions to the user.
//!
//! Codex's questions were never recorded; their frames follow the schema that codex generates of its protocol.

use serde_json::{Value, json};

use super::{CodexWaitOutcome, ScriptedCodex, ScriptedCodexStop, frames};
use crate::scripted::script::ScriptQuestion;

/// The answer to a request for approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScriptedApprovalDecision {
    Accept,
    Decline,
    /// The client answered something else; the call fails and the turn continues.
    Malformed,
}

impl ScriptedApprovalDecision {
    /// Returns the final status of an item that was not accepted.
    pub(super) fn item_status(self) -> &'static str {
        match self {
            Self::Decline => "declined",
            Self::Accept | Self::Malformed => "failed",
        }
    }
}

/// Why a request got no decision.
pub(super) enum ScriptedApprovalCancellation {
    /// The client cancelled the turn with its answer.
    ByClient,
    ByTurnStop(ScriptedCodexStop),
}

impl ScriptedCodex {
    /// Asks for an approval and waits for the answer.
    pub(super) fn request_approval(
        &mut self,
        method: &str,
        params: Value,
    ) -> Result<ScriptedApprovalDecision, ScriptedApprovalCancellation> {
        let result = self
            .send_request(method, params)
            .map_err(ScriptedApprovalCancellation::ByTurnStop)?;
        match result.and_then(|result| result["decision"].as_str().map(str::to_owned)) {
            Some(word) if word == "accept" || word == "acceptForSession" => {
                Ok(ScriptedApprovalDecision::Accept)
            }
            Some(word) if word == "decline" => Ok(ScriptedApprovalDecision::Decline),
            Some(word) if word == "cancel" => Err(ScriptedApprovalCancellation::ByClient),
            _ => Ok(ScriptedApprovalDecision::Malformed),
        }
    }

    /// Asks the user, and continues with or without an answer.
    pub(super) fn ask_question(
        &mut self,
        question: &ScriptQuestion,
    ) -> Result<(), ScriptedCodexStop> {
        let id = self.next_item_id("call");
        let options: Vec<String> = question
            .options
            .iter()
            .map(|o| self.expand_placeholders(o))
            .collect();
        let text = self.expand_placeholders(&question.question);
        let params =
            frames::user_input_params(&self.turn_ids(), &id, &question.header, &text, &options);
        self.send_waiting_status("waitingOnUserInput");
        let result = self.send_request("item/tool/requestUserInput", params)?;
        self.send_waiting_status("");
        let answer = result
            .as_ref()
            .map(|result| &result["answers"][&id]["answers"][0]);
        let Some(answer) = answer.and_then(Value::as_str).map(str::to_owned) else {
            return self.perform_actions(&question.if_dismissed);
        };
        if let Some(playing) = &mut self.active_turn {
            playing.placeholders.set("answer", answer);
        }
        self.perform_actions(&question.if_answered)
    }

    /// Sends a request to the client and waits for its result; `None` if the client answers with an error.
    fn send_request(
        &mut self,
        method: &str,
        params: Value,
    ) -> Result<Option<Value>, ScriptedCodexStop> {
        let asked = self.n_requests;
        self.n_requests += 1;
        self.runtime.send(&frames::request(asked, method, params));
        let answer = loop {
            match self.wait_for_event(None) {
                Ok(CodexWaitOutcome::Answer { request, result }) if request == asked => {
                    break Ok(result);
                }
                Ok(_) => {}
                Err(stop) => break Err(stop),
            }
        };
        if !matches!(answer, Err(ScriptedCodexStop::Exit(_))) {
            let params = json!({"threadId": self.turn_ids().thread, "requestId": asked});
            self.runtime
                .send(&frames::notification("serverRequest/resolved", params));
        }
        answer
    }

    /// Reports what the turn waits for; reports nothing if it no longer waits.
    pub(super) fn send_waiting_status(&mut self, flag: &str) {
        let flags: Vec<&str> = Some(flag)
            .into_iter()
            .filter(|flag| !flag.is_empty())
            .collect();
        let status = json!({"type": "active", "activeFlags": flags});
        self.runtime.send(&frames::thread_status_changed(
            &self.turn_ids().thread,
            status,
        ));
    }
}
