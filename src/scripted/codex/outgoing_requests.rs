//! Sends the requests that codex makes in the middle of a turn: approvals and questions to the user.
//!
//! Codex's questions were never recorded; their frames follow the schema that codex generates of its protocol.

use serde_json::{Value, json};

use super::{ScriptedCodex, frames};
use crate::scripted::script::ScriptQuestion;
use crate::scripted::script_actor::{ScriptedTurnStop, wait_for_answer};

impl ScriptedCodex {
    /// Announces a call and asks for its approval; `None` if it is not accepted, and its item has ended.
    pub(super) fn request_approval(
        &mut self,
        item: Value,
        method: &str,
        params: Value,
    ) -> Result<Option<Value>, ScriptedTurnStop> {
        self.send_waiting_status("waitingOnApproval");
        self.start_item(&item);
        let result = self.send_request(method, params)?;
        let status = match result["decision"].as_str() {
            Some("accept" | "acceptForSession") => {
                self.send_waiting_status("");
                return Ok(Some(item));
            }
            Some("cancel") => {
                // A patch that the client cancels gets no more frames.
                if item["type"] == "commandExecution" {
                    self.end_item(item, "declined");
                    self.send_waiting_status("");
                }
                return Err(ScriptedTurnStop::Interrupted);
            }
            Some("decline") => "declined",
            // The call fails and the turn continues.
            _ => "failed",
        };
        self.send_waiting_status("");
        self.end_item(item, status);
        Ok(None)
    }

    /// Asks the user; `None` if the question is dismissed.
    pub(super) fn request_user_input(
        &mut self,
        question: &ScriptQuestion,
    ) -> Result<Option<String>, ScriptedTurnStop> {
        let id = self.next_item_id("call");
        let params = frames::user_input_params(
            &self.turn_ids(),
            &id,
            &question.header,
            &question.question,
            &question.options,
        );
        self.send_waiting_status("waitingOnUserInput");
        let result = self.send_request("item/tool/requestUserInput", params)?;
        self.send_waiting_status("");
        Ok(result["answers"][&id]["answers"][0]
            .as_str()
            .map(str::to_owned))
    }

    /// Sends a request to the client and waits for its result; null if the client answers with an error.
    fn send_request(&mut self, method: &str, params: Value) -> Result<Value, ScriptedTurnStop> {
        let asked = self.n_requests;
        self.n_requests += 1;
        self.runtime.send(&frames::request(asked, method, params));
        let answer = wait_for_answer(self, &asked.to_string());
        if !matches!(answer, Err(ScriptedTurnStop::Exit(_))) {
            let params = json!({"threadId": self.turn_ids().thread, "requestId": asked});
            self.runtime
                .send(&frames::notification("serverRequest/resolved", params));
        }
        answer.map(Option::unwrap_or_default)
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
