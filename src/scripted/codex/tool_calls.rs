//! Performs calls of the host's tools as codex would: the item around a call, and the server that receives it.
//!
//! Codex asks no approval for these calls, because the host registers its server as approved.

use serde_json::{Value, json};

use super::{CodexWaitOutcome, ScriptedCodex, ScriptedCodexStop, frames};
use crate::scripted::mcp_client::{ScriptedToolCall, ScriptedToolOutcome, expand_strings};
use crate::scripted::script::ScriptToolCall;

impl ScriptedCodex {
    /// Calls a tool of the host; its server is started for this call.
    pub(super) fn call_tool(&mut self, used: &ScriptToolCall) -> Result<(), ScriptedCodexStop> {
        let id = self.next_item_id("call");
        let input = expand_strings(&used.input, &|text| self.expand_placeholders(text));
        let mut item = frames::tool_call_item(&id, &used.tool, &input);
        self.runtime
            .send(&frames::item_started(&self.turn_ids(), &item));
        let call = ScriptedToolCall {
            tool: used.tool.clone(),
            input,
            thread: Some(self.turn_ids().thread),
        };
        let outcome = ScriptedToolOutcome::parse(&self.run_tool_call(call)?);
        if outcome.result.is_null() {
            item["error"] = json!({ "message": outcome.text });
        } else {
            item["result"] = outcome.result.clone();
        }
        let status = if outcome.is_error {
            "failed"
        } else {
            "completed"
        };
        self.end_item(item, status);
        if let Some(playing) = &mut self.active_turn {
            playing.placeholders.set("answer", outcome.text);
        }
        self.perform_actions(if outcome.is_error {
            &used.if_failed
        } else {
            &used.if_done
        })
    }

    /// Returns the line that answers a call; empty if there is no answer.
    fn run_tool_call(&mut self, call: ScriptedToolCall) -> Result<String, ScriptedCodexStop> {
        let thread = self.threads.get(&self.turn_ids().thread);
        let server = thread.and_then(|thread| thread.mcp_server.clone());
        let server = server.map(|server| server.through_client(&self.script.tool_client));
        let Some(run) = server.and_then(|server| self.runtime.start_tool_call(&server, call).ok())
        else {
            return Ok(String::new());
        };
        self.pending_tool_call = Some((run, String::new()));
        loop {
            match self.wait_for_event(None) {
                Ok(CodexWaitOutcome::CommandEnded(ended)) if ended == run => {
                    let called = self.pending_tool_call.take();
                    return Ok(called.map(|(_, line)| line).unwrap_or_default());
                }
                Ok(_) => {}
                Err(stop) => {
                    self.runtime.kill_command(run);
                    return Err(stop);
                }
            }
        }
    }
}

/// Returns the table of tool servers in the parameters of `thread/start` and `thread/resume`.
pub(super) fn mcp_servers(params: &Value) -> &Value {
    &params["config"]["mcp_servers"]
}
