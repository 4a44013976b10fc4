//! Answers the requests of the client as codex would.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::frames::{self, ScriptedTurnIds};
use super::{ClientHandshake, CodexInputOutcome, ScriptedCodex, ScriptedThread};
use crate::scripted::conversation_store::ScriptConversation;
use crate::scripted::mcp_client::ToolServerCommand;

impl ScriptedCodex {
    /// Answers one request of the client.
    pub(super) fn on_request(
        &mut self,
        method: &str,
        id: &Value,
        params: &Value,
    ) -> CodexInputOutcome {
        let answer = match (method, self.handshake) {
            ("initialize", ClientHandshake::Pending) => self.on_initialize(params),
            ("initialize", ClientHandshake::Complete) => Err("Already initialized".to_owned()),
            (_, ClientHandshake::Pending) => Err("Not initialized".to_owned()),
            ("hooks/list", _) => Ok(frames::hooks_list(&self.trusted_hook_hash, params)),
            ("thread/start", _) => return self.on_thread_start(id, params),
            ("thread/resume", _) => self.on_thread_resume(params),
            ("turn/start", _) => return self.on_turn_start(id, params),
            ("turn/steer", _) => self.on_turn_steer(params),
            ("turn/interrupt", _) => return self.on_turn_interrupt(id),
            ("thread/backgroundTerminals/clean", _) => self.on_clean_terminals(),
            _ => Err(format!("Invalid request: unknown variant `{method}`")),
        };
        let frame = match answer {
            Ok(result) => frames::response(id, result),
            Err(message) => frames::error_response(id, &message),
        };
        self.runtime.send(&frame);
        CodexInputOutcome::Nothing
    }

    fn on_initialize(&mut self, params: &Value) -> Result<Value, String> {
        self.handshake = ClientHandshake::Complete;
        let client = &params["clientInfo"];
        let name = client["name"].as_str().unwrap_or("unknown");
        let client_version = client["version"].as_str().unwrap_or("0");
        Ok(json!({
            "userAgent": format!("{name}/{} (scripted; no model) dumb ({name}; {client_version})", self.version),
            "codexHome": self.cwd, "platformFamily": "unix", "platformOs": std::env::consts::OS,
        }))
    }

    fn on_thread_start(&mut self, id: &Value, params: &Value) -> CodexInputOutcome {
        let thread_id = uuid::Uuid::now_v7().to_string();
        let opened = self.open_thread(&thread_id, ScriptConversation::new(), params);
        let started = frames::notification("thread/started", json!({"thread": opened["thread"]}));
        self.runtime.send(&frames::response(id, opened));
        self.runtime.send(&started);
        CodexInputOutcome::Nothing
    }

    fn on_thread_resume(&mut self, params: &Value) -> Result<Value, String> {
        let thread_id = params["threadId"].as_str().unwrap_or_default().to_owned();
        uuid::Uuid::parse_str(&thread_id)
            .map_err(|error| format!("invalid session id: {error}"))?;
        let remembered = self
            .conversations
            .load(&thread_id)
            .map_err(|error| error.to_string())?;
        let conversation =
            remembered.ok_or_else(|| format!("no rollout found for thread id {thread_id}"))?;
        Ok(self.open_thread(&thread_id, conversation, params))
    }

    fn open_thread(&mut self, id: &str, conversation: ScriptConversation, params: &Value) -> Value {
        let text = |key: &str, fallback: &str| params[key].as_str().unwrap_or(fallback).to_owned();
        let model = self
            .script
            .model
            .clone()
            .unwrap_or_else(|| "gpt-5.5".to_owned());
        let mut thread = ScriptedThread {
            conversation,
            cwd: params["cwd"]
                .as_str()
                .map_or_else(|| self.cwd.clone(), PathBuf::from),
            model: text("model", &model),
            policy: text("approvalPolicy", "on-request"),
            sandbox: sandbox_policy_from_mode(params["sandbox"].as_str().unwrap_or("read-only")),
            profile: None,
            mcp_server: ToolServerCommand::from_server_table(&params["config"]["mcp_servers"]),
        };
        if let Some(server) = thread.mcp_server.clone() {
            server.start_client(&self.script.tool_client);
        }
        thread.apply_profile(&self.profiles, params);
        let object = frames::thread_object(
            id,
            &thread.cwd.to_string_lossy(),
            &thread.model,
            &self.version,
        );
        let opened = frames::thread_opened(&object, &thread);
        self.threads.insert(id.to_owned(), thread);
        opened
    }

    fn on_turn_start(&mut self, id: &Value, params: &Value) -> CodexInputOutcome {
        let thread_id = params["threadId"].as_str().unwrap_or_default().to_owned();
        let Some(thread) = self.threads.get_mut(&thread_id) else {
            self.runtime.send(&frames::error_response(
                id,
                &format!("thread not found: {thread_id}"),
            ));
            return CodexInputOutcome::Nothing;
        };
        let Some(input) = params["input"].as_array() else {
            self.runtime.send(&frames::error_response(
                id,
                "Invalid request: missing field `input`",
            ));
            return CodexInputOutcome::Nothing;
        };
        let steered = self
            .active_turn
            .as_ref()
            .map(|playing| playing.turn_ids.clone());
        if steered.is_none() && params["sandboxPolicy"].is_object() {
            thread.sandbox = params["sandboxPolicy"].clone();
        }
        if steered.is_none() {
            thread.apply_profile(&self.profiles, params);
        }
        if let Some(policy) = params["approvalPolicy"].as_str() {
            thread.policy = policy.to_owned();
        }
        let prompt: Vec<&str> = input
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect();
        let prompt = prompt.join("\n");
        let steers = steered.is_some();
        let turn = uuid::Uuid::now_v7().to_string();
        let place = steered.unwrap_or(ScriptedTurnIds {
            thread: thread_id,
            turn,
        });
        let turn = frames::turn_object(&place.turn, "inProgress", [None; 3], None, &Value::Null);
        self.runtime
            .send(&frames::response(id, json!({"turn": turn})));
        if steers {
            CodexInputOutcome::Nothing
        } else {
            CodexInputOutcome::StartTurn { place, prompt }
        }
    }

    /// Accepts a steering text for the expected turn; the script continues unchanged.
    fn on_turn_steer(&self, params: &Value) -> Result<Value, String> {
        let turn = self
            .active_turn
            .as_ref()
            .map(|playing| &playing.turn_ids.turn);
        match turn.filter(|turn| params["expectedTurnId"] == turn.as_str()) {
            Some(turn) => Ok(json!({ "turnId": turn })),
            None => Err("no active turn to steer".to_owned()),
        }
    }

    fn on_turn_interrupt(&mut self, id: &Value) -> CodexInputOutcome {
        if self.active_turn.is_none() {
            self.runtime
                .send(&frames::error_response(id, "no active turn to interrupt"));
            return CodexInputOutcome::Nothing;
        }
        self.runtime.send(&frames::response(id, json!({})));
        CodexInputOutcome::Interrupt
    }

    fn on_clean_terminals(&mut self) -> Result<Value, String> {
        for run in self.terminals.keys().copied().collect::<Vec<_>>() {
            self.runtime.kill_command(run);
        }
        Ok(json!({}))
    }
}

/// Converts the sandbox mode of `thread/start` to a `sandboxPolicy` object.
fn sandbox_policy_from_mode(word: &str) -> Value {
    match word {
        "workspace-write" => json!({
            "type": "workspaceWrite", "writableRoots": [], "networkAccess": false,
            "excludeTmpdirEnvVar": false, "excludeSlashTmp": false,
        }),
        "danger-full-access" => json!({"type": "dangerFullAccess"}),
        _ => json!({"type": "readOnly", "networkAccess": false}),
    }
}
