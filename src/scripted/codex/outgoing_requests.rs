//! What codex asks its client in the middle of a turn: whether a call may go ahead, and questions to the user.
//!
//! codex's questions were never recorded; their frames follow the schema that it generates of its protocol. Refuses to
//! know what becomes of a call.

use serde_json::{Value, json};

use super::{CodexWaitOutcome, ScriptedCodex, ScriptedCodexStop, frames};
use crate::scripted::script::ScriptQuestion;

/// The answer to a request for approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScriptedApprovalDecision {
    Accept,
    Decline,
    /// The client answered something else; the call fails, the turn goes on.
    Malformed,
}

impl ScriptedApprovalDecision {
    /// How an item ends that was not accepted.
    pub(super) fn item_status(self) -> &'static str {
        match self {
            Self::Decline => "declined",
            Self::Accept | Self::Malformed => "failed",
        }
    }
}

/// Why a request got no verdict.
pub(super) enum ScriptedApprovalCancellation {
    /// The client cancelled the turn with its answer.
    ByClient,
    ByTurnStop(ScriptedCodexStop),
}

impl ScriptedCodex {
    /// Asks for an approval and waits for it.
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

    /// Asks the user and goes on with the answer, or without one.
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

    /// Puts a request to the client and waits for its result; `None` for a refusal.
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

    /// Says what the turn waits for; nothing when it waits no more.
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
