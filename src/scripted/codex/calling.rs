//! Calls of the host's tools by codex: the item around a call, and the server that it goes to.
//!
//! codex here asks nobody about them: the host registers its server as approved.

use serde_json::{Value, json};

use super::{Codex, Stop, Wake, frames};
use crate::scripted::script::ToolUse;
use crate::scripted::tool_server::{ToolCall, ToolOutcome, filled};

impl Codex {
    /// Calls a tool of the host's; its server is started for it.
    pub(super) fn use_tool(&mut self, used: &ToolUse) -> Result<(), Stop> {
        let id = self.next_item("call");
        let input = filled(&used.input, &|text| self.fill(text));
        let mut item = frames::tool_call(&id, &used.tool, &input);
        self.stage.send(&frames::item_started(&self.place(), &item));
        let call = ToolCall {
            tool: used.tool.clone(),
            input,
            thread: Some(self.place().thread),
        };
        let outcome = ToolOutcome::read(&self.answer_of(call)?);
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
        if let Some(playing) = &mut self.playing {
            playing.words.set("answer", outcome.text);
        }
        self.perform(match outcome.is_error {
            true => &used.if_failed,
            false => &used.if_done,
        })
    }

    /// The line that answers a call; empty where nobody does.
    fn answer_of(&mut self, call: ToolCall) -> Result<String, Stop> {
        let thread = self.threads.get(&self.place().thread);
        let server = thread.and_then(|thread| thread.tools.clone());
        let server = server.map(|server| server.behind(&self.script.tool_client));
        let Some(run) = server.and_then(|server| self.stage.call(&server, call).ok()) else {
            return Ok(String::new());
        };
        self.called = Some((run, String::new()));
        loop {
            match self.listen(None) {
                Ok(Wake::Ended(ended)) if ended == run => {
                    let called = self.called.take();
                    return Ok(called.map(|(_, line)| line).unwrap_or_default());
                }
                Ok(_) => {}
                Err(stop) => {
                    self.stage.kill(run);
                    return Err(stop);
                }
            }
        }
    }
}

/// What a server of tools is in `thread/start` and `thread/resume`.
pub(super) fn servers(params: &Value) -> &Value {
    &params["config"]["mcp_servers"]
}
