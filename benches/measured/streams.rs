//! Generates streams of lines as `codex app-server` and `claude` write them: texts, commands with long outputs.

use serde_json::{Value, json};

/// The thread and the turn that codex's lines belong to.
pub const THREAD: &str = "01a1ffe3-c67d-74f0-b4b3-1623b2cff9bb";
pub const TURN: &str = "01a1ffe3-c69f-77f3-b71f-9f4ff0116adc";

/// About `n_bytes` of lines of about 1,000 bytes that codex writes.
pub fn codex(n_bytes: usize) -> Vec<String> {
    lines(n_bytes, |n| {
        let id = format!("item_{n}");
        let item = match n % 3 {
            0 => json!({"type": "agentMessage", "id": id, "text": text(n, 700), "phase": null}),
            1 => json!({"type": "reasoning", "id": id, "summary": [text(n, 500)], "content": []}),
            _ => {
                json!({"type": "commandExecution", "id": id, "command": "/bin/bash -lc 'cargo test'", "cwd": "/repo",
                "processId": "2309", "source": "agent", "status": "completed", "commandActions": [],
                "aggregatedOutput": text(n, 900), "exitCode": 0, "durationMs": 12})
            }
        };
        vec![notification("item/completed", item)]
    })
}

/// About `n_bytes` of lines with the pieces of a codex answer that is being written.
pub fn codex_pieces(n_bytes: usize) -> Vec<String> {
    lines(n_bytes, |n| {
        let params =
            json!({"threadId": THREAD, "turnId": TURN, "itemId": "msg_1", "delta": text(n, 20)});
        vec![
            json!({"method": "item/agentMessage/delta", "params": params, "emittedAtMs": 1})
                .to_string(),
        ]
    })
}

/// About `n_bytes` of lines of about 1,000 bytes that claude writes.
pub fn claude(n_bytes: usize) -> Vec<String> {
    lines(n_bytes, |n| {
        let id = format!("toolu_{n:024}");
        let call = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "cargo test"}});
        let output = json!({"type": "tool_result", "tool_use_id": id, "content": text(n, 1200), "is_error": false});
        let result = json!({"type": "user", "message": {"role": "user", "content": [output]},
            "parent_tool_use_id": null, "session_id": "s", "uuid": "u"});
        let said = json!({"type": "text", "text": text(n, 900)});
        vec![assistant(n, &said), assistant(n, &call), result.to_string()]
    })
}

/// About `n_bytes` of lines with the pieces of a claude answer that is being written.
pub fn claude_pieces(n_bytes: usize) -> Vec<String> {
    let start = [
        json!({"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": []}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    ];
    let mut all: Vec<String> = start.iter().map(stream_event).collect();
    all.extend(lines(n_bytes, |n| {
        let delta = json!({"type": "text_delta", "text": text(n, 20)});
        vec![stream_event(
            &json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        )]
    }));
    all
}

fn lines(n_bytes: usize, make: impl Fn(usize) -> Vec<String>) -> Vec<String> {
    let (mut all, mut so_far, mut n) = (Vec::new(), 0, 0);
    while so_far < n_bytes {
        for line in make(n) {
            so_far += line.len() + 1;
            all.push(line);
        }
        n += 1;
    }
    all
}

fn notification(method: &str, item: Value) -> String {
    let params = json!({"item": item, "threadId": THREAD, "turnId": TURN, "completedAtMs": 1});
    json!({"method": method, "params": params, "emittedAtMs": 1}).to_string()
}

fn assistant(n: usize, block: &Value) -> String {
    let usage = json!({"input_tokens": 4, "output_tokens": 300, "service_tier": "standard"});
    let message = json!({"model": "claude-sonnet-4-5", "id": format!("msg_{n:024}"), "type": "message", "role": "assistant",
        "content": [block], "stop_reason": null, "usage": usage});
    json!({"type": "assistant", "message": message, "parent_tool_use_id": null, "session_id": "s", "uuid": "u"}).to_string()
}

fn stream_event(event: &Value) -> String {
    let uuid = "0195e7b0-63b1-7a2c-8f3d-2b1c9e7d4a55";
    json!({"type": "stream_event", "event": event, "session_id": uuid, "parent_tool_use_id": null, "uuid": uuid}).to_string()
}

const TEXT: &str = "the state file is written after every step and `cargo test` was green, naïve café 漢字 … — “quoted” 🦀 ✅\n\
src/main.rs:42:    let \"x1\" = fn main struct Event match Some None Ok Err async await tokio\n";

/// Returns a text of about `n_bytes` that starts at another position each time.
fn text(n: usize, n_bytes: usize) -> String {
    let skip = TEXT.floor_char_boundary(n * 7 % TEXT.len());
    let text: String = TEXT[skip..]
        .chars()
        .chain(TEXT.chars().cycle())
        .take(n_bytes)
        .collect();
    text[..text.floor_char_boundary(n_bytes)].to_owned()
}
