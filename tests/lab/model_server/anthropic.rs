//! The Anthropic Messages protocol as claude uses it: requests in, server-sent events out.

use serde_json::{Value, json};

use super::Chunk;
use super::script::{Part, Reply, Request, Tool, Vendor};

/// Reads what a brain needs to know out of a request.
pub fn parse_request(n: usize, body: Value) -> Request {
    let mut outputs = Vec::new();
    let mut prompt = String::new();
    for message in body["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .rev()
        .filter(|message| message["role"] == "user")
    {
        let results = results_of(&message["content"]);
        if results.is_empty() {
            prompt = text_of(&message["content"]);
            break;
        }
        outputs.extend(results.into_iter().rev());
    }
    outputs.reverse();
    Request {
        vendor: Vendor::Anthropic,
        n,
        prompt,
        outputs,
        body,
    }
}

fn results_of(content: &Value) -> Vec<String> {
    let blocks = content.as_array().into_iter().flatten();
    blocks
        .filter(|block| block["type"] == "tool_result")
        .map(|block| text_of(&block["content"]))
        .collect()
}

/// Joins the texts of a string or a list of content blocks.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks
            .iter()
            .filter_map(|block| block["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
        other => other.to_string(),
    }
}

/// Renders an answer as the stream of events that claude reads.
pub fn stream(request: &Request, reply: &Reply) -> Vec<Chunk> {
    let mut chunks = vec![event(json!({"type": "message_start", "message": {
        "id": format!("msg_{}", request.n), "type": "message", "role": "assistant", "model": request.body["model"],
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 100, "output_tokens": 1, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}}}))];
    match reply {
        Reply::Say(parts) => {
            for (index, part) in parts.iter().enumerate() {
                match part {
                    Part::Text(text) => chunks.extend(text_block(index, text, None)),
                    Part::Call(tool) => chunks.extend(tool_block(request, index, tool)),
                }
            }
        }
        Reply::Cut(text) => {
            let mut half = text_block(0, text, None);
            half.truncate(half.len() / 2);
            chunks.extend(half);
            chunks.push(Chunk::Break);
        }
        Reply::Pause(text, pause) => {
            chunks.extend(text_block(0, text, Some(Chunk::Silence(*pause))))
        }
        Reply::Refuse { .. } | Reply::UsedUp { .. } => {}
    }
    chunks.push(event(json!({"type": "message_delta", "delta": {"stop_reason": stop_reason(reply), "stop_sequence": null},
                             "usage": {"output_tokens": 20}})));
    chunks.push(event(json!({"type": "message_stop"})));
    chunks
}

/// Renders an answer as one object, for the CLI's requests without a stream.
pub fn whole(request: &Request, reply: &Reply) -> Value {
    let content: Vec<Value> = match reply {
        Reply::Say(parts) => parts
            .iter()
            .enumerate()
            .map(|(index, part)| match part {
                Part::Text(text) => json!({"type": "text", "text": text}),
                Part::Call(tool) => tool_use(request, index, tool),
            })
            .collect(),
        Reply::Cut(text) | Reply::Pause(text, _) => vec![json!({"type": "text", "text": text})],
        Reply::Refuse { .. } | Reply::UsedUp { .. } => Vec::new(),
    };
    json!({"id": format!("msg_{}", request.n), "type": "message", "role": "assistant", "model": request.body["model"],
           "content": content, "stop_reason": stop_reason(reply), "stop_sequence": null,
           "usage": {"input_tokens": 100, "output_tokens": 20}})
}

fn stop_reason(reply: &Reply) -> &'static str {
    match reply {
        Reply::Say(parts) if parts.iter().any(|part| matches!(part, Part::Call(_))) => "tool_use",
        Reply::Say(_)
        | Reply::Refuse { .. }
        | Reply::UsedUp { .. }
        | Reply::Cut(_)
        | Reply::Pause(..) => "end_turn",
    }
}

fn text_block(index: usize, text: &str, pause: Option<Chunk>) -> Vec<Chunk> {
    let mut chunks = vec![event(json!({"type": "content_block_start", "index": index,
                                       "content_block": {"type": "text", "text": ""}}))];
    let pieces = super::pieces(text);
    let middle = pieces.len() / 2;
    for (at, piece) in pieces.into_iter().enumerate() {
        if let (true, Some(pause)) = (at == middle, &pause) {
            chunks.push(pause.clone());
        }
        chunks.push(event(json!({"type": "content_block_delta", "index": index,
                                 "delta": {"type": "text_delta", "text": piece}})));
    }
    chunks.push(event(json!({"type": "content_block_stop", "index": index})));
    chunks
}

fn tool_block(request: &Request, index: usize, tool: &Tool) -> Vec<Chunk> {
    let mut block = tool_use(request, index, tool);
    let input = block["input"].to_string();
    block["input"] = json!({});
    let mut chunks = vec![event(
        json!({"type": "content_block_start", "index": index, "content_block": block}),
    )];
    for piece in super::pieces(&input) {
        chunks.push(event(json!({"type": "content_block_delta", "index": index,
                                 "delta": {"type": "input_json_delta", "partial_json": piece}})));
    }
    chunks.push(event(json!({"type": "content_block_stop", "index": index})));
    chunks
}

fn tool_use(request: &Request, index: usize, tool: &Tool) -> Value {
    let own = match tool {
        Tool::Mcp { server, tool } => format!("mcp__{server}__{tool}"),
        Tool::Own { tool, .. } => format!("mcp__agent_collab__{tool}"),
        _ => String::new(),
    };
    let (name, input) = match tool {
        Tool::Mcp { .. } => (own.as_str(), json!({})),
        Tool::Own { input, .. } => (own.as_str(), input.clone()),
        Tool::Named { name, input } => (*name, input.clone()),
        Tool::Shell(command) | Tool::Escalated(command) => (
            "Bash",
            json!({"command": command, "description": "A command of the scenario"}),
        ),
        Tool::Read(path) => ("Read", json!({"file_path": path})),
        Tool::Write { path, content } => ("Write", json!({"file_path": path, "content": content})),
        Tool::Edit { path, old, new } => (
            "Edit",
            json!({"file_path": path, "old_string": old, "new_string": new}),
        ),
    };
    json!({"type": "tool_use", "id": format!("toolu_{}_{index}", request.n), "name": name, "input": input})
}

fn event(data: Value) -> Chunk {
    let name = data["type"].as_str().unwrap_or_default();
    Chunk::Bytes(format!("event: {name}\ndata: {data}\n\n"))
}

/// The body of an error status, as the vendor words it.
pub fn error_body(status: u16, message: &str) -> Value {
    let kind = match status {
        401 => "authentication_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

/// Returns the headers and the body that report a used-up plan; it resets at this instant, in seconds since 1970.
pub fn used_up(resets_at: u64) -> (Vec<(&'static str, String)>, Value) {
    let headers = vec![
        ("anthropic-ratelimit-unified-status", "rejected".to_owned()),
        ("anthropic-ratelimit-unified-reset", resets_at.to_string()),
        (
            "anthropic-ratelimit-unified-representative-claim",
            "five_hour".to_owned(),
        ),
    ];
    (headers, error_body(429, "the plan is used up"))
}
