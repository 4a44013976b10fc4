//! The OpenAI Responses protocol as codex uses it: requests in, server-sent events out.

use serde_json::{Value, json};

use super::Chunk;
use super::script::{PROMPT, Part, Reply, Request, Tool, Vendor};

/// Reads what a brain needs to know out of a request.
pub fn parse_request(n: usize, body: Value) -> Request {
    let input = || body["input"].as_array().into_iter().flatten();
    let is_prompted = input().any(is_prompt);
    let mut outputs = Vec::new();
    let mut prompt = String::new();
    for item in input().rev() {
        match item["type"].as_str().unwrap_or("message") {
            "function_call_output" | "custom_tool_call_output" => {
                outputs.push(text_of(&item["output"]))
            }
            "message" if item["role"] == "user" && (is_prompt(item) || !is_prompted) => {
                prompt = text_of(&item["content"]);
                break;
            }
            _ => {}
        }
    }
    outputs.reverse();
    Request {
        vendor: Vendor::Openai,
        n,
        prompt,
        outputs,
        body,
    }
}

fn is_prompt(item: &Value) -> bool {
    item["role"] == "user" && text_of(&item["content"]).contains(PROMPT)
}

/// Joins the texts of a string or a list of content parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
        other => other.to_string(),
    }
}

/// Renders an answer as the stream of events that codex reads.
pub fn stream(request: &Request, reply: &Reply) -> Vec<Chunk> {
    let mut chunks = vec![event(
        json!({"type": "response.created", "response": {"id": format!("resp_{}", request.n)}}),
    )];
    match reply {
        Reply::Say(parts) => {
            for (index, part) in parts.iter().enumerate() {
                match part {
                    Part::Text(text) => chunks.extend(message(request.n, index, text, None)),
                    Part::Call(tool) => chunks.extend(call(request, index, tool)),
                }
            }
        }
        Reply::Cut(text) => {
            let mut half = message(request.n, 0, text, None);
            half.truncate(half.len() / 2);
            chunks.extend(half);
            chunks.push(Chunk::Break);
        }
        Reply::Pause(text, pause) => {
            chunks.extend(message(request.n, 0, text, Some(Chunk::Silence(*pause))))
        }
        Reply::Refuse { .. } | Reply::UsedUp { .. } => {}
    }
    chunks.push(event(json!({"type": "response.completed", "response": {
        "id": format!("resp_{}", request.n),
        "usage": {"input_tokens": 1000, "input_tokens_details": {"cached_tokens": 200},
                  "output_tokens": 50, "output_tokens_details": {"reasoning_tokens": 10}, "total_tokens": 1050}}})));
    chunks
}

fn message(n: usize, index: usize, text: &str, pause: Option<Chunk>) -> Vec<Chunk> {
    let id = format!("msg_{n}_{index}");
    let item = |content: Value| json!({"type": "message", "role": "assistant", "id": id, "content": content});
    let mut chunks = vec![event(
        json!({"type": "response.output_item.added", "output_index": index, "item": item(json!([]))}),
    )];
    let pieces = super::pieces(text);
    let middle = pieces.len() / 2;
    for (at, piece) in pieces.into_iter().enumerate() {
        if let (true, Some(pause)) = (at == middle, &pause) {
            chunks.push(pause.clone());
        }
        chunks.push(event(
            json!({"type": "response.output_text.delta", "item_id": id, "output_index": index,
                                 "content_index": 0, "delta": piece}),
        ));
    }
    chunks.push(event(
        json!({"type": "response.output_item.done", "output_index": index,
                             "item": item(json!([{"type": "output_text", "text": text}]))}),
    ));
    chunks
}

fn call(request: &Request, index: usize, tool: &Tool) -> Vec<Chunk> {
    let call_id = format!("call_{}_{index}", request.n);
    let item = match tool {
        Tool::Shell(command) => function(&call_id, json!({"cmd": command})),
        Tool::Read(path) => function(&call_id, json!({"cmd": format!("cat {path}")})),
        Tool::Escalated(command) => function(
            &call_id,
            json!({"cmd": command, "sandbox_permissions": "require_escalated",
                   "justification": "The scenario wants to leave the sandbox."}),
        ),
        Tool::Mcp { server, tool } => {
            let mut item = function(&call_id, json!({}));
            item["name"] = json!(tool);
            item["namespace"] = json!(format!("mcp__{server}"));
            item
        }
        Tool::Own { tool, input } => {
            let mut item = function(&call_id, input.clone());
            item["name"] = json!(tool);
            item["namespace"] = json!("mcp__agent_collab");
            item
        }
        Tool::Named { name, input } => match input.as_str() {
            Some(text) => patch(&call_id, text),
            None => {
                let mut item = function(&call_id, input.clone());
                item["name"] = json!(name);
                item
            }
        },
        Tool::Write { path, content } => patch(&call_id, &add_file(path, content)),
        Tool::Edit { path, old, new } => patch(
            &call_id,
            &format!(
                "*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"
            ),
        ),
    };
    vec![
        event(json!({"type": "response.output_item.added", "output_index": index, "item": item})),
        event(json!({"type": "response.output_item.done", "output_index": index, "item": item})),
    ]
}

fn function(call_id: &str, arguments: Value) -> Value {
    json!({"type": "function_call", "id": format!("fc_{call_id}"), "call_id": call_id, "name": "exec_command",
           "arguments": arguments.to_string()})
}

fn patch(call_id: &str, input: &str) -> Value {
    json!({"type": "custom_tool_call", "id": format!("ctc_{call_id}"), "call_id": call_id, "name": "apply_patch",
           "input": input, "status": "completed"})
}

/// Builds a patch that writes a whole file; codex's grammar accepts it for existing files, too.
fn add_file(path: &str, content: &str) -> String {
    let lines: String = content.lines().map(|line| format!("+{line}\n")).collect();
    format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n")
}

fn event(data: Value) -> Chunk {
    let name = data["type"].as_str().unwrap_or_default();
    Chunk::Bytes(format!("event: {name}\ndata: {data}\n\n"))
}

/// The body of an error status, as the vendor words it.
pub fn error_body(status: u16, message: &str) -> Value {
    let kind = match status {
        401 => "invalid_request_error",
        429 => "rate_limit_exceeded",
        _ => "server_error",
    };
    json!({"error": {"message": message, "type": kind, "param": null, "code": kind}})
}

/// Returns the headers and the body that report a used-up plan; it resets at this instant, in seconds since 1970.
pub fn used_up(resets_at: u64) -> (Vec<(&'static str, String)>, Value) {
    let headers = vec![
        ("x-codex-primary-used-percent", "100.0".to_owned()),
        ("x-codex-primary-window-minutes", "300".to_owned()),
        ("x-codex-primary-reset-at", resets_at.to_string()),
    ];
    let error = json!({
        "type": "usage_limit_reached", "message": "the plan is used up", "plan_type": "plus", "resets_at": resets_at,
    });
    (headers, json!({ "error": error }))
}
