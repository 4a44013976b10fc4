//! Compares every frame that a scripted agent sends with recorded streams of the real program.
//!
//! A frame is compared with the recorded ones of its own kind: it may contain no key that none of them contains, must
//! contain every key that all of them contain, and each value must have a JSON type that was recorded at its path.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use super::ScriptedProgram;
use super::test_harness::{
    ScriptedAgentHarness, answer_claude_request, start_claude_turn, start_codex_thread,
    start_codex_turn,
};

/// What was recorded at one path of a kind of frame.
#[derive(Default)]
struct RecordedField {
    types: BTreeSet<&'static str>,
    n_objects: usize,
    keys: BTreeMap<String, usize>,
}

/// Recorded fields by kind of frame and by path in it.
type RecordedFrameKinds = BTreeMap<String, BTreeMap<String, RecordedField>>;

/// Paths with values from elsewhere: a tool's input, names of models, echoes.
const UNCHECKED_PATHS: [&str; 11] = [
    ".request.input",
    ".message.content[].input",
    ".permission_denials[].tool_input",
    ".modelUsage",
    ".model_usage_since_last_result",
    ".response.response",
    ".tool_use_result",
    ".params.item.changes[].kind",
    ".params.error.codexErrorInfo",
    ".params.turn.error.codexErrorInfo",
    ".params.availableDecisions[]",
];

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Names the kind of a frame, which decides how a reader handles it.
fn frame_kind(frame: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if let Some(method) = frame["method"].as_str() {
        let request = if frame.get("id").is_some() {
            " request"
        } else {
            ""
        };
        return format!(
            "{method}{request} {}",
            text(&frame["params"]["item"]["type"])
        )
        .trim_end()
        .to_owned();
    }
    if frame.get("error").is_some() && frame.get("id").is_some() {
        return "refusal".to_owned();
    }
    if let Some(result) = frame.get("result").filter(|_| frame.get("id").is_some()) {
        let keys: Vec<&String> = result.as_object().unwrap().keys().take(2).collect();
        return format!("response {keys:?}");
    }
    format!("{} {}", text(&frame["type"]), claude_frame_kind(frame))
        .trim_end()
        .to_owned()
}

/// Names the kind of a claude frame within its type.
fn claude_frame_kind(frame: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match text(&frame["type"]).as_str() {
        "stream_event" => {
            let event = &frame["event"];
            let abandoned = if frame.get("abandoned_blocks").is_some() {
                " abandoned"
            } else {
                ""
            };
            let inner = [&event["delta"]["type"], &event["content_block"]["type"]]
                .map(text)
                .concat();
            format!("{} {inner}{abandoned}", text(&event["type"]))
        }
        "assistant" => match frame.get("error") {
            Some(_) => "error".to_owned(),
            None => format!(
                "{} {}",
                text(&frame["message"]["content"][0]["type"]),
                frame.get("aborted").is_some()
            ),
        },
        "user" => match &frame["message"]["content"] {
            Value::String(_) => "replay".to_owned(),
            content => text(&content[0]["type"]),
        },
        "control_request" => [
            &frame["request"]["subtype"],
            &frame["request"]["requires_user_interaction"],
        ]
        .map(|part| part.to_string())
        .join(" "),
        "control_response" => text(&frame["response"]["subtype"]),
        "result" => format!(
            "{} {}",
            text(&frame["subtype"]),
            text(&frame["terminal_reason"])
        ),
        _ => text(&frame["subtype"]),
    }
}

fn record_shape(places: &mut BTreeMap<String, RecordedField>, path: &str, value: &Value) {
    let place = places.entry(path.to_owned()).or_default();
    place.types.insert(json_type(value));
    if let Value::Object(object) = value {
        place.n_objects += 1;
        for key in object.keys() {
            *place.keys.entry(key.clone()).or_default() += 1;
        }
    }
    match value {
        Value::Object(object) => object
            .iter()
            .for_each(|(key, value)| record_shape(places, &format!("{path}.{key}"), value)),
        Value::Array(items) => items
            .iter()
            .for_each(|item| record_shape(places, &format!("{path}[]"), item)),
        _ => {}
    }
}

fn load_recordings(folder: &str) -> RecordedFrameKinds {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/scripted")
        .join(folder);
    let mut recorded = RecordedFrameKinds::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        for line in std::fs::read_to_string(entry.unwrap().path())
            .unwrap()
            .lines()
        {
            let line: Value = serde_json::from_str(line).unwrap();
            let frame = match line["dir"].as_str() {
                Some("->" | ">") => continue,
                Some(_) => &line["msg"],
                None => &line,
            };
            record_shape(recorded.entry(frame_kind(frame)).or_default(), "", frame);
        }
    }
    recorded
}

fn compare_shape(
    places: &BTreeMap<String, RecordedField>,
    path: &str,
    value: &Value,
    differences: &mut BTreeSet<String>,
) {
    if UNCHECKED_PATHS.contains(&path) {
        return;
    }
    let Some(place) = places.get(path) else {
        return;
    };
    if !place.types.contains(json_type(value)) {
        differences.insert(format!(
            "{path} is {}, recorded as {:?}",
            json_type(value),
            place.types
        ));
    }
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                if !place.keys.contains_key(key) {
                    differences.insert(format!("{path}.{key} was never recorded"));
                }
                compare_shape(places, &format!("{path}.{key}"), value, differences);
            }
            for (key, n) in &place.keys {
                if *n == place.n_objects && !object.contains_key(key) {
                    differences.insert(format!("{path}.{key} is missing"));
                }
            }
        }
        Value::Array(items) => {
            items
                .iter()
                .for_each(|item| compare_shape(places, &format!("{path}[]"), item, differences));
        }
        _ => {}
    }
}

/// Compares all frames with the recorded ones and returns the kinds that were sent.
fn check(folder: &str, frames: &[Value]) -> BTreeSet<String> {
    let recorded = load_recordings(folder);
    let mut differences = BTreeSet::new();
    for frame in frames {
        let kind = frame_kind(frame);
        let mut here = BTreeSet::new();
        match recorded.get(&kind) {
            Some(places) => compare_shape(places, "", frame, &mut here),
            None => drop(here.insert("this kind of frame was never recorded".to_owned())),
        }
        differences.extend(
            here.into_iter()
                .map(|difference| format!("{kind}: {difference}")),
        );
    }
    assert!(differences.is_empty(), "{differences:#?}");
    frames.iter().map(frame_kind).collect()
}

/// One turn for everything that both programs can do, each under its own prompt.
const SCRIPT: &str = r#"
[[turn]]
when = "talk"
action = [
  { do = "thinking", text = "let me see" },
  { do = "cut", text = "half a sent" },
  { do = "text", text = "a whole sentence" },
  { do = "usage", input = 10, output = 2 },
]
[[turn]]
when = "work"
action = [
  { do = "command", run = "echo asked; exit 3", ask = "always", reason = "to see" },
  { do = "command", run = "touch asked", ask = "always", if_denied = [{ do = "text", text = "refused" }] },
  { do = "write", path = "new.txt", content = "one\n", ask = "always" },
  { do = "edit", path = "new.txt", find = "one", replace = "two" },
  { do = "command", run = "true" },
]
[[turn]]
when = "wait"
action = [{ do = "text", text = "never " }, { do = "command", run = "echo up; sleep 600" }]
[[turn]]
when = "mid-sentence"
action = [{ do = "text", text = "never ending", pause_ms = 2000 }]
[[turn]]
when = "pending"
action = [{ do = "command", run = "touch x", ask = "always" }]
[[turn]]
when = "fail 401"
action = [{ do = "error", kind = "unauthorized", retries = 1 }]
[[turn]]
when = "fail 429"
action = [{ do = "error", kind = "rate_limit" }]
[[turn]]
when = "fail usage"
action = [{ do = "error", kind = "usage_limit", resets_in = 60 }]
[[turn]]
when = "fail 5"
action = [{ do = "error", kind = "server", retries = 1, outcome = "recovers" }, { do = "error", kind = "connection" }]
"#;

/// The turns for what only claude can do.
const CLAUDE_ONLY_SCRIPT: &str = r#"
[[turn]]
when = "ask me"
action = [
  { do = "question", question = "Which?", options = ["a"] },
  { do = "unsolicited", action = [{ do = "text", text = "by the way" }] },
]
"#;

/// The prompts of [`SCRIPT`], and one that it has no turn for.
const PROMPTS: [&str; 10] = [
    "talk",
    "work",
    "wait",
    "mid-sentence",
    "pending",
    "fail 401",
    "fail 429",
    "fail usage",
    "fail 5",
    "nothing",
];

#[test]
fn every_frame_of_scripted_codex_has_the_shape_of_a_recorded_one() {
    let folder = tempfile::tempdir().unwrap();
    let codex = ScriptedAgentHarness::new(ScriptedProgram::Codex, SCRIPT, &[], folder.path());
    let mut frames = Vec::new();
    codex.send_frame(json!({"id": 0, "method": "thread/start", "params": {}}));
    frames.extend(codex.read_until(|frame| frame["id"] == 0));
    codex.send_frame(json!({"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "t", "version": "1"}}}));
    codex.send_frame(
        json!({"id": 2, "method": "thread/start", "params": {"sandbox": "workspace-write"}}),
    );
    frames.extend(codex.read_until(|frame| frame["method"] == "thread/started"));
    let thread = frames.last().unwrap()["params"]["thread"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    codex.send_frame(json!({"id": 4, "method": "thread/resume", "params": {"threadId": "nope"}}));
    for prompt in PROMPTS {
        frames.extend(codex_frames(&codex, &thread, prompt));
    }
    assert_eq!(codex.close_input().code, 0);
    insta::assert_debug_snapshot!("codex_kinds", check("codex", &frames));
}

/// Plays one prompt to its end, accepting every call but the second.
fn codex_frames(codex: &ScriptedAgentHarness, thread: &str, prompt: &str) -> Vec<Value> {
    start_codex_turn(codex, thread, prompt);
    let (mut frames, mut n_asked, mut over) = (Vec::new(), 0, false);
    while !over {
        let frame = codex.read_until(|_| true).remove(0);
        let method = frame["method"].as_str().unwrap_or_default();
        let asks = !method.is_empty() && frame.get("id").is_some();
        if asks && prompt != "pending" {
            n_asked += 1;
            let decision = if n_asked == 2 { "decline" } else { "accept" };
            codex.send_frame(json!({"id": frame["id"], "result": {"decision": decision}}));
        }
        let speaks = method == "item/started" && frame["params"]["item"]["type"] == "agentMessage";
        let interrupts = match prompt {
            "wait" => method == "item/commandExecution/outputDelta",
            "mid-sentence" => speaks,
            _ => prompt == "pending" && asks,
        };
        if interrupts {
            codex.send_frame(json!({"id": 9, "method": "turn/interrupt", "params": {}}));
        }
        over = method == "turn/completed";
        frames.push(frame);
    }
    if prompt == "wait" {
        let clean = "thread/backgroundTerminals/clean";
        codex.send_frame(json!({"id": 10, "method": clean, "params": {"threadId": thread}}));
        frames.extend(codex.read_until(|frame| frame["method"] == "item/completed"));
    }
    frames
}

#[test]
fn every_frame_of_scripted_claude_has_the_shape_of_a_recorded_one() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!("{SCRIPT}{CLAUDE_ONLY_SCRIPT}");
    let claude = ScriptedAgentHarness::new(
        ScriptedProgram::Claude,
        &script,
        &["--replay-user-messages"],
        folder.path(),
    );
    let mut frames = Vec::new();
    for (id, subtype) in [("c1", "initialize"), ("c2", "nonsense")] {
        claude.send_frame(
            json!({"type": "control_request", "request_id": id, "request": {"subtype": subtype}}),
        );
    }
    for prompt in PROMPTS.into_iter().chain(["ask me"]) {
        frames.extend(claude_frames(&claude, prompt));
    }
    let parse = |line: &String| serde_json::from_str::<Value>(line).unwrap();
    frames.extend(claude.close_input().lines.iter().map(parse));
    let unknown = ScriptedAgentHarness::new(
        ScriptedProgram::Claude,
        SCRIPT,
        &["--resume", "gone"],
        folder.path(),
    );
    frames.extend(unknown.close_input().lines.iter().map(parse));
    insta::assert_debug_snapshot!("claude_kinds", check("claude", &frames));
}

/// Plays one prompt to its last result, allowing every call but the second.
fn claude_frames(claude: &ScriptedAgentHarness, prompt: &str) -> Vec<Value> {
    start_claude_turn(claude, prompt);
    let n_expected = if prompt == "ask me" { 2 } else { 1 };
    let (mut frames, mut n_asked, mut n_results) = (Vec::new(), 0, 0);
    while n_results < n_expected {
        let frame = claude.read_until(|_| true).remove(0);
        let asks = frame["type"] == "control_request";
        if asks && prompt != "pending" {
            n_asked += 1;
            answer_claude_request(claude, &frame, claude_verdict(n_asked, &frame));
        }
        let speaks = frame["event"]["type"] == "content_block_start";
        if (asks && ["pending", "wait"].contains(&prompt)) || (speaks && prompt == "mid-sentence") {
            interrupt(claude);
        }
        n_results += usize::from(frame["type"] == "result");
        frames.push(frame);
    }
    frames
}

fn claude_verdict(n_asked: usize, frame: &Value) -> Value {
    if n_asked == 2 {
        return json!({"behavior": "deny", "message": "no"});
    }
    let mut input = frame["request"]["input"].clone();
    if input["questions"].is_array() {
        input["answers"] = json!({"Which?": "a"});
    }
    json!({"behavior": "allow", "updatedInput": input})
}

fn interrupt(claude: &ScriptedAgentHarness) {
    claude.send_frame(json!({"type": "control_request", "request_id": "int", "request": {"subtype": "interrupt"}}));
}

#[test]
fn the_comparison_notices_a_key_too_many_a_key_too_few_and_another_type() {
    let mut places = BTreeMap::new();
    record_shape(&mut places, "", &json!({"a": 1, "b": {"c": null}}));
    record_shape(&mut places, "", &json!({"a": 1, "d": []}));
    let mut differences = BTreeSet::new();
    compare_shape(
        &places,
        "",
        &json!({"b": {"c": "text", "x": 1}}),
        &mut differences,
    );
    let expected = [
        ".a is missing",
        ".b.c is string, recorded as {\"null\"}",
        ".b.x was never recorded",
    ];
    assert_eq!(differences, expected.map(str::to_owned).into());
}

#[test]
fn a_thread_of_codex_that_nobody_has_is_refused_as_codex_refuses_it() {
    let folder = tempfile::tempdir().unwrap();
    let codex = ScriptedAgentHarness::new(ScriptedProgram::Codex, SCRIPT, &[], folder.path());
    start_codex_thread(&codex, "read-only");
    let id = "00000000-0000-4000-8000-000000000000";
    codex.send_frame(json!({"id": 5, "method": "thread/resume", "params": {"threadId": id}}));
    let frames = codex.read_until(|frame| frame["id"] == 5);
    assert_eq!(
        frames[0]["error"]["message"],
        format!("no rollout found for thread id {id}")
    );
    check("codex", &frames);
}
