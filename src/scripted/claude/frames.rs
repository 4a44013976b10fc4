//! Builds the frames of `claude --output-format stream-json` from values.
//!
//! It knows the format of each frame; when to send it is decided elsewhere. Every builder here is compared with
//! recorded streams of Claude Code 2.1.330 (`fidelity.rs`).

use serde_json::{Map, Value, json};

/// Builds frames with the values that all frames of a process share.
#[derive(Debug, Clone)]
pub struct ClaudeFrameBuilder {
    pub session_id: String,
    pub model: String,
    /// The version of the program.
    pub version: String,
    pub cwd: String,
    /// `--permission-mode`.
    pub permission_mode: String,
}

/// Returns a fresh UUID.
pub fn new_uuid() -> String {
    uuid::Uuid::new_v4().to_string()
}

fn timestamp() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

/// Builds a successful answer to a request of the host.
pub fn control_success(request: &Value, response: Value) -> Value {
    let response = json!({"subtype": "success", "request_id": request, "response": response});
    json!({"type": "control_response", "response": response})
}

/// Builds an error answer to a request of the host.
pub fn control_error(request: &Value, error: &str, code: &str) -> Value {
    let response =
        json!({"subtype": "error", "request_id": request, "error": error, "error_code": code});
    json!({"type": "control_response", "response": response})
}

/// Builds the frame that cancels a request of ours.
pub fn control_cancel(request: &str) -> Value {
    json!({"type": "control_cancel_request", "request_id": request})
}

impl ClaudeFrameBuilder {
    /// Builds the answer to `initialize`.
    pub fn initialize_response(&self) -> Value {
        json!({
            "commands": [], "agents": [], "output_style": "default",
            "available_output_styles": ["default"], "models": [],
            "account": {"tokenSource": "none", "apiKeySource": "none", "apiProvider": "firstParty"},
            "pid": std::process::id(), "claude_code_version": self.version,
            "current_permission_mode": self.permission_mode, "hook_on_failure_supported": true,
            "session_state": "idle", "capabilities": [],
        })
    }

    /// Builds the frame that reports the state of a user line with an id.
    pub fn command_lifecycle(&self, command: &str, state: &str) -> Value {
        json!({
            "type": "command_lifecycle", "command_uuid": command, "state": state,
            "uuid": new_uuid(), "session_id": self.session_id,
        })
    }

    /// Builds the frame that starts a turn.
    pub fn system_init(&self) -> Value {
        json!({
            "type": "system", "subtype": "init", "cwd": self.cwd, "session_id": self.session_id,
            "tools": ["AskUserQuestion", "Bash", "Edit", "NotebookEdit", "Read", "Write"],
            "mcp_servers": [], "model": self.model, "permissionMode": self.permission_mode,
            "slash_commands": [], "terminal_slash_commands": [], "apiKeySource": "none",
            "claude_code_version": self.version, "output_style": "default", "agents": [],
            "skills": [], "plugins": [], "capabilities": ["interrupt_receipt_v1"],
            "analytics_disabled": true, "product_feedback_disabled": true,
            "served_by_anthropic": false, "uuid": new_uuid(),
            "memory_paths": {"auto": self.cwd}, "original_cwd": self.cwd,
            "additional_directories": [], "messaging_socket_path": "",
            "fast_mode_state": "off", "fast_mode_disabled_reason": "sdk_opt_in_required",
            "per_turn_effort_active": true, "ultrathink_available": false,
            "ultrathink_typed_raises": false, "view_mode": "default",
        })
    }

    /// Builds the frame before a request to the model.
    pub fn requesting_status(&self) -> Value {
        json!({
            "type": "system", "subtype": "status", "status": "requesting",
            "session_id": self.session_id, "uuid": new_uuid(),
        })
    }

    /// Builds the frame about a retried request to the model.
    pub fn api_retry(
        &self,
        attempt: u32,
        of: u32,
        delay_ms: u64,
        status: Value,
        error: &str,
    ) -> Value {
        json!({
            "type": "system", "subtype": "api_retry", "attempt": attempt, "max_retries": of,
            "retry_delay_ms": delay_ms, "error_status": status, "error": error,
            "session_id": self.session_id, "uuid": new_uuid(),
        })
    }

    /// Builds the frame about a used-up plan limit that resets at this instant, in seconds since 1970.
    pub fn rate_limit_rejected(&self, resets_at: i64) -> Value {
        json!({
            "type": "rate_limit_event",
            "rate_limit_info": {
                "status": "rejected", "resetsAt": resets_at, "rateLimitType": "five_hour", "isUsingOverage": false,
                "unifiedWindows": {"five_hour": {"utilization": 1, "resetsAt": resets_at, "status": "rejected"}},
            },
            "uuid": new_uuid(), "session_id": self.session_id,
        })
    }

    /// Builds the frame with an estimate of the thinking tokens.
    pub fn thinking_tokens(&self, estimated: usize, more: usize) -> Value {
        json!({
            "type": "system", "subtype": "thinking_tokens", "estimated_tokens": estimated,
            "estimated_tokens_delta": more, "session_id": self.session_id, "uuid": new_uuid(),
        })
    }

    /// Builds the echo of a user line.
    pub fn user_message_replay(&self, content: &Value, uuid: &str) -> Value {
        json!({
            "type": "user", "message": {"role": "user", "content": content},
            "session_id": self.session_id, "parent_tool_use_id": null, "uuid": uuid,
            "timestamp": timestamp(), "isReplay": true,
        })
    }

    /// Builds the frame around an event of the model's stream.
    pub fn stream_event(&self, message: &str, event: Value) -> Value {
        let shows_thinking = event["type"] == "message_start"
            || event["content_block"]["type"] == "thinking"
            || event["delta"]["type"] == "thinking_delta";
        let starts = event["type"] == "message_start";
        let mut frame = json!({
            "type": "stream_event", "event": event, "session_id": self.session_id,
            "parent_tool_use_id": null, "uuid": new_uuid(), "api_message_id": message,
        });
        if starts {
            frame["ttft_ms"] = json!(1);
        }
        if shows_thinking {
            frame["thinking_display"] = json!("updates");
        }
        frame
    }

    /// Builds the event that starts a message.
    pub fn message_start(&self, message: &str) -> Value {
        let body = json!({
            "id": message, "type": "message", "role": "assistant", "model": self.model,
            "content": [], "stop_reason": null, "stop_sequence": null, "usage": message_usage(1),
        });
        self.stream_event(message, json!({"type": "message_start", "message": body}))
    }

    /// Builds the event that completes a message which was not withdrawn.
    pub fn message_delta(&self, message: &str, stop_reason: &Value) -> Value {
        let delta = json!({"stop_reason": stop_reason, "stop_sequence": null});
        self.stream_event(
            message,
            json!({"type": "message_delta", "delta": delta, "usage": message_usage(20)}),
        )
    }

    /// Builds the last event of a message; `abandoned` is the index of its first void block.
    pub fn message_stop(&self, message: &str, abandoned: Option<usize>) -> Value {
        let mut frame = self.stream_event(message, json!({"type": "message_stop"}));
        if let Some(index) = abandoned {
            frame["abandoned_blocks"] =
                json!({"api_message_id": message, "from_block_index": index});
        }
        frame
    }

    /// Builds the frame with a finished block of a message.
    pub fn assistant_message(&self, message: &str, block: &Value) -> Value {
        let mut frame = json!({
            "type": "assistant",
            "message": {
                "id": message, "type": "message", "role": "assistant", "model": self.model,
                "content": [block], "stop_reason": null, "stop_sequence": null,
                "usage": message_usage(1), "context_management": null,
            },
            "parent_tool_use_id": null, "session_id": self.session_id, "uuid": new_uuid(),
            "timestamp": timestamp(), "request_id": format!("req_{}", &message[4..]),
        });
        if block["type"] == "thinking" {
            frame["thinking_display"] = json!("updates");
            frame["thinking_duration_ms"] = json!(1);
        }
        frame
    }

    /// Builds an API error that is shown as a message of the agent.
    pub fn api_error_message(&self, text: &str, error: &str) -> Value {
        json!({
            "type": "assistant",
            "message": {
                "diagnostics": null, "id": new_uuid(), "container": null, "model": "<synthetic>",
                "role": "assistant", "stop_details": null, "stop_reason": "stop_sequence",
                "stop_sequence": "", "type": "message",
                "usage": {
                    "output_tokens_details": null, "input_tokens": 0, "output_tokens": 0,
                    "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
                    "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
                    "service_tier": null,
                    "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
                    "inference_geo": null, "iterations": null, "speed": null, "fallback_credit": null,
                },
                "content": [{"type": "text", "text": text}], "context_management": null,
            },
            "parent_tool_use_id": null, "session_id": self.session_id, "uuid": new_uuid(),
            "timestamp": timestamp(), "error": error, "is_api_error_message": true,
        })
    }

    /// Builds the request to use a tool.
    pub fn can_use_tool(&self, request: &str, tool: &ScriptedClaudeToolCall) -> Value {
        let mut body = json!({
            "subtype": "can_use_tool", "tool_name": tool.name, "display_name": tool.name,
            "input": tool.input, "tool_use_id": tool.id,
        });
        match tool.name.as_str() {
            "AskUserQuestion" => body["requires_user_interaction"] = json!(true),
            _ => body["description"] = json!(tool.description),
        }
        json!({"type": "control_request", "request_id": request, "request": body})
    }

    /// Builds the question to the host's hook before a call.
    pub fn hook_callback(&self, request: &str, hook: &str, tool: &ScriptedClaudeToolCall) -> Value {
        let input = json!({
            "session_id": self.session_id, "transcript_path": "", "cwd": self.cwd, "permission_mode": self.permission_mode,
            "hook_event_name": "PreToolUse", "tool_name": tool.name, "tool_input": tool.input,
            "tool_use_id": tool.id,
        });
        let body = json!({
            "subtype": "hook_callback", "callback_id": hook, "input": input, "tool_use_id": tool.id,
        });
        json!({"type": "control_request", "request_id": request, "request": body})
    }

    /// Builds the result of a tool call.
    pub fn tool_result(
        &self,
        tool: &ScriptedClaudeToolCall,
        result: &ScriptedClaudeToolResult,
    ) -> Value {
        let mut block =
            json!({"tool_use_id": tool.id, "type": "tool_result", "content": result.content});
        if let Some(is_error) = result.is_error {
            block["is_error"] = json!(is_error);
        }
        let mut frame = self.user_message(json!([block]));
        frame["tool_use_result"] = result.detail.clone();
        let mut meta = json!({"id": tool.id});
        for (key, value) in &result.meta {
            meta[key] = value.clone();
        }
        frame["tool_result_meta"] = json!([meta]);
        frame
    }

    /// Builds a note of the program to the model, written as a user message.
    pub fn user_note(&self, text: &str) -> Value {
        self.user_message(json!([{"type": "text", "text": text}]))
    }

    fn user_message(&self, content: Value) -> Value {
        json!({
            "type": "user", "message": {"role": "user", "content": content},
            "parent_tool_use_id": null, "session_id": self.session_id, "uuid": new_uuid(),
            "timestamp": timestamp(),
        })
    }

    /// Builds the end of a turn.
    pub fn result(&self, end: &ScriptedClaudeTurnResult) -> Value {
        let model_usage = json!({self.model.as_str(): model_usage(end.total_tokens.0, end.total_tokens.1, end.cost_usd)});
        let mut frame = json!({
            "duration_api_ms": end.duration_ms, "stop_reason": end.stop_reason,
            "session_id": self.session_id, "total_cost_usd": end.cost_usd, "usage": turn_usage(end.turn_tokens.0, end.turn_tokens.1),
            "modelUsage": model_usage, "permission_denials": end.denials,
            "terminal_reason": end.terminal_reason, "fast_mode_state": "off",
            "fast_mode_disabled_reason": "sdk_opt_in_required", "subagent_stats": subagent_stats(),
            "safety_stops": 0, "is_error": end.is_error, "num_turns": end.n_turns,
            "subtype": end.subtype, "type": "result", "duration_ms": end.duration_ms,
            "uuid": new_uuid(), "queued_turn_count": 0, "result_index": end.index,
            "model_usage_since_last_result": {},
        });
        let (key, text) = match end.subtype {
            "success" => ("result", json!(end.text)),
            _ => ("errors", json!([end.text])),
        };
        frame[key] = text;
        if end.subtype == "success" {
            frame["api_error_status"] = end.api_error_status.clone();
        } else {
            frame["begun_message_ids"] = json!([]);
        }
        if end.terminal_reason == "completed" {
            for key in [
                "ttft_ms",
                "ttft_stream_ms",
                "time_to_request_ms",
                "first_content_frame_ms",
            ] {
                frame[key] = json!(1);
            }
        }
        if let Some(origin) = &end.origin {
            frame["origin"] = origin.clone();
        }
        frame
    }

    /// Builds the only frame of a process that does not know the conversation to resume.
    pub fn unknown_conversation(&self, asked: &str) -> Value {
        json!({
            "type": "result", "subtype": "error_during_execution", "duration_ms": 0,
            "duration_api_ms": 0, "is_error": true, "num_turns": 0, "stop_reason": null,
            "session_id": asked, "total_cost_usd": 0, "usage": turn_usage(0, 0), "modelUsage": {},
            "permission_denials": [], "uuid": new_uuid(),
            "errors": [format!("No conversation found with session ID: {asked}")],
            "result_index": 0,
        })
    }
}

/// A tool call of the scripted claude.
#[derive(Debug, Clone)]
pub struct ScriptedClaudeToolCall {
    pub id: String,
    pub name: String,
    /// The input of the call.
    pub input: Value,
    /// One line that describes the call to the user.
    pub description: String,
}

/// The result of a tool call.
#[derive(Debug, Clone)]
pub struct ScriptedClaudeToolResult {
    /// The text for the model.
    pub content: String,
    /// Whether it failed; some tools do not report that.
    pub is_error: Option<bool>,
    /// The details for the host.
    pub detail: Value,
    /// Who decided about the call.
    pub meta: Map<String, Value>,
}

/// Everything that the end of a turn reports.
#[derive(Debug, Clone)]
pub struct ScriptedClaudeTurnResult {
    /// `success` or `error_during_execution`.
    pub subtype: &'static str,
    /// How the turn really ended.
    pub terminal_reason: &'static str,
    /// Whether the turn failed.
    pub is_error: bool,
    /// The last message, or what went wrong.
    pub text: String,
    /// Why the model stopped.
    pub stop_reason: Value,
    /// The HTTP status of an API error.
    pub api_error_status: Value,
    /// The calls that were denied.
    pub denials: Vec<Value>,
    /// How many times the model was asked.
    pub n_turns: u64,
    /// Tokens of this turn: read and written.
    pub turn_tokens: (u64, u64),
    /// Tokens of the conversation: read and written.
    pub total_tokens: (u64, u64),
    /// The cost of the conversation in US dollars.
    pub cost_usd: f64,
    /// How long the turn took.
    pub duration_ms: u64,
    /// The position among the results of this process, from 0.
    pub index: u64,
    /// What started the turn, if the user did not.
    pub origin: Option<Value>,
}

fn message_usage(output: u64) -> Value {
    json!({
        "input_tokens": 100, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        "output_tokens": output,
    })
}

fn turn_usage(input: u64, output: u64) -> Value {
    json!({
        "input_tokens": input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        "output_tokens": output, "output_tokens_details": {"thinking_tokens": 0},
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": "standard",
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
        "inference_geo": "", "iterations": [], "speed": "standard", "fallback_credit": null,
    })
}

fn model_usage(input: u64, output: u64, cost_usd: f64) -> Value {
    json!({
        "inputTokens": input, "outputTokens": output, "cacheReadInputTokens": 0,
        "cacheCreationInputTokens": 0, "webSearchRequests": 0, "costUSD": cost_usd,
        "contextWindow": 1_000_000, "maxOutputTokens": 128_000, "thinkingTokens": 0,
    })
}

fn subagent_stats() -> Value {
    json!({
        "spawned": 0, "requested": {"background": 0, "foreground": 0, "unset": 0},
        "started_in_background": 0, "max_depth": 0, "spawned_by_subagents": 0, "completed": 0,
        "failed": 0, "killed": {"parent": 0, "user": 0, "system": 0},
        "refused": {"depth_limit": 0, "concurrency_limit": 0, "budget": 0}, "by_type": {},
    })
}
