//! What codex answers the requests of its client.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::frames::{self, Place};
use super::{Codex, Cue, Hands, Thread, calling};
use crate::scripted::cursor::Conversation;
use crate::scripted::tool_server::ToolServer;

impl Codex {
    /// Answers one request of the client.
    pub(super) fn on_request(&mut self, method: &str, id: &Value, params: &Value) -> Cue {
        let answer = match (method, self.hands) {
            ("initialize", Hands::NotShaken) => self.on_initialize(params),
            ("initialize", Hands::Shaken) => Err("Already initialized".to_owned()),
            (_, Hands::NotShaken) => Err("Not initialized".to_owned()),
            ("hooks/list", _) => Ok(frames::hooks(&self.trusted_hook, params)),
            ("thread/start", _) => return self.on_thread_start(id, params),
            ("thread/resume", _) => self.on_thread_resume(params),
            ("turn/start", _) => return self.on_turn_start(id, params),
            ("turn/steer", _) => self.on_steer(params),
            ("turn/interrupt", _) => return self.on_interrupt(id),
            ("thread/backgroundTerminals/clean", _) => self.on_clean_terminals(),
            _ => Err(format!("Invalid request: unknown variant `{method}`")),
        };
        let frame = match answer {
            Ok(result) => frames::response(id, result),
            Err(message) => frames::refusal(id, &message),
        };
        self.stage.send(&frame);
        Cue::Nothing
    }

    fn on_initialize(&mut self, params: &Value) -> Result<Value, String> {
        self.hands = Hands::Shaken;
        let client = &params["clientInfo"];
        let name = client["name"].as_str().unwrap_or("unknown");
        let client_version = client["version"].as_str().unwrap_or("0");
        Ok(json!({
            "userAgent": format!("{name}/{} (scripted; no model) dumb ({name}; {client_version})", self.version),
            "codexHome": self.cwd, "platformFamily": "unix", "platformOs": std::env::consts::OS,
        }))
    }

    fn on_thread_start(&mut self, id: &Value, params: &Value) -> Cue {
        let thread_id = uuid::Uuid::now_v7().to_string();
        let opened = self.open_thread(&thread_id, Conversation::new(), params);
        let started = frames::notification("thread/started", json!({"thread": opened["thread"]}));
        self.stage.send(&frames::response(id, opened));
        self.stage.send(&started);
        Cue::Nothing
    }

    fn on_thread_resume(&mut self, params: &Value) -> Result<Value, String> {
        let thread_id = params["threadId"].as_str().unwrap_or_default().to_owned();
        uuid::Uuid::parse_str(&thread_id)
            .map_err(|error| format!("invalid session id: {error}"))?;
        let remembered = self
            .memory
            .load(&thread_id)
            .map_err(|error| error.to_string())?;
        let conversation =
            remembered.ok_or_else(|| format!("no rollout found for thread id {thread_id}"))?;
        Ok(self.open_thread(&thread_id, conversation, params))
    }

    fn open_thread(&mut self, id: &str, conversation: Conversation, params: &Value) -> Value {
        let text = |key: &str, fallback: &str| params[key].as_str().unwrap_or(fallback).to_owned();
        let model = self
            .script
            .model
            .clone()
            .unwrap_or_else(|| "gpt-5.5".to_owned());
        let mut thread = Thread {
            conversation,
            cwd: params["cwd"]
                .as_str()
                .map_or_else(|| self.cwd.clone(), PathBuf::from),
            model: text("model", &model),
            policy: text("approvalPolicy", "on-request"),
            sandbox: sandbox(params["sandbox"].as_str().unwrap_or("read-only")),
            profile: None,
            tools: ToolServer::among(calling::servers(params)),
        };
        if let Some(server) = thread.tools.clone() {
            server.start_behind(&self.script.tool_client);
        }
        thread.take_profile(&self.profiles, params);
        let object = frames::thread(
            id,
            &thread.cwd.to_string_lossy(),
            &thread.model,
            &self.version,
        );
        let opened = frames::thread_opened(&object, &thread);
        self.threads.insert(id.to_owned(), thread);
        opened
    }

    fn on_turn_start(&mut self, id: &Value, params: &Value) -> Cue {
        let thread_id = params["threadId"].as_str().unwrap_or_default().to_owned();
        let Some(thread) = self.threads.get_mut(&thread_id) else {
            self.stage.send(&frames::refusal(
                id,
                &format!("thread not found: {thread_id}"),
            ));
            return Cue::Nothing;
        };
        let Some(input) = params["input"].as_array() else {
            self.stage.send(&frames::refusal(
                id,
                "Invalid request: missing field `input`",
            ));
            return Cue::Nothing;
        };
        let steered = self.playing.as_ref().map(|playing| playing.place.clone());
        if steered.is_none() && params["sandboxPolicy"].is_object() {
            thread.sandbox = params["sandboxPolicy"].clone();
        }
        if steered.is_none() {
            thread.take_profile(&self.profiles, params);
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
        let place = steered.unwrap_or(Place {
            thread: thread_id,
            turn,
        });
        let turn = frames::turn(&place.turn, "inProgress", [None; 3], None, &Value::Null);
        self.stage
            .send(&frames::response(id, json!({"turn": turn})));
        if steers {
            Cue::Nothing
        } else {
            Cue::Play { place, prompt }
        }
    }

    /// Takes what is said into the turn that is expected; the script plays on as it stands.
    fn on_steer(&self, params: &Value) -> Result<Value, String> {
        let turn = self.playing.as_ref().map(|playing| &playing.place.turn);
        match turn.filter(|turn| params["expectedTurnId"] == turn.as_str()) {
            Some(turn) => Ok(json!({ "turnId": turn })),
            None => Err("no active turn to steer".to_owned()),
        }
    }

    fn on_interrupt(&mut self, id: &Value) -> Cue {
        if self.playing.is_none() {
            self.stage
                .send(&frames::refusal(id, "no active turn to interrupt"));
            return Cue::Nothing;
        }
        self.stage.send(&frames::response(id, json!({})));
        Cue::Interrupt
    }

    fn on_clean_terminals(&mut self) -> Result<Value, String> {
        for run in self.terminals.keys().copied().collect::<Vec<_>>() {
            self.stage.kill(run);
        }
        Ok(json!({}))
    }
}

/// Turns the word of `thread/start` into the object of `sandboxPolicy`.
fn sandbox(word: &str) -> Value {
    match word {
        "workspace-write" => json!({
            "type": "workspaceWrite", "writableRoots": [], "networkAccess": false,
            "excludeTmpdirEnvVar": false, "excludeSlashTmp": false,
        }),
        "danger-full-access" => json!({"type": "dangerFullAccess"}),
        _ => json!({"type": "readOnly", "networkAccess": false}),
    }
}
