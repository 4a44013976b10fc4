//! Unknown, malformed, truncated and huge lines: none of them panics or ends a turn twice.

use proptest::prelude::*;

use super::turns::{READ_ONLY, note, running, thread_opened, turn_frame};
use super::*;

fn check(line: &str, wanted: &str) {
    let mut codex = running();
    let shown = show(&codex.on_stdout_line(line));
    assert!(shown.starts_with(wanted), "{line:.200}\n{shown:.2000}");
    assert!(shown.len() < 10_000, "an event keeps a piece of the line");
}

#[test]
fn an_unknown_notification_is_kept() {
    check(
        r#"{"method":"future/told","params":{"x":1}}"#,
        r#"{"event":"unknown","kind":"future/told","frame":"{\"method\""#,
    );
}

#[test]
fn an_item_of_an_unknown_type_is_kept_at_both_ends() {
    let item = json!({"type": "hologram", "id": "h"});
    let params = json!({"threadId": "thr", "turnId": "t1", "item": item});
    for method in ["item/started", "item/completed"] {
        check(
            &note(method, params.clone()),
            r#"{"event":"unknown","kind":"hologram""#,
        );
    }
}

#[test]
fn a_known_frame_with_broken_fields_is_malformed_and_not_unknown() {
    for (method, params) in [
        ("turn/started", json!({})),
        (
            "item/started",
            json!({"threadId": "thr", "turnId": "t1", "item": {"type": "commandExecution", "id": 1}}),
        ),
        ("item/agentMessage/delta", json!({"threadId": "thr"})),
        ("error", json!({"error": "x"})),
        ("thread/tokenUsage/updated", json!(null)),
        ("serverRequest/resolved", json!([])),
    ] {
        check(&note(method, params), r#"{"event":"malformed","problem":"#);
    }
}

#[test]
fn an_approval_with_broken_fields_is_answered_and_reported() {
    check(
        r#"{"method":"item/commandExecution/requestApproval","id":3,"params":{}}"#,
        "send {\"id\":3,\"error\":{\"code\":-32601,\"message\":\"missing field `threadId`\"}}\n{\"event\":\"malformed\"",
    );
}

#[test]
fn an_unreadable_end_of_the_turn_ends_it() {
    let mut codex = running();
    let shown = show(&codex.on_stdout_line(&note("turn/completed", json!({"threadId": "thr"}))));
    assert!(
        shown.ends_with(
            "{\"event\":\"turn_ended\",\"status\":\"failed\",\"kind\":\"protocol\",\"message\":\"turn/completed: missing field `turn`\"}\n"
        ),
        "{shown}"
    );
    let mut codex = running();
    let shown = show(&codex.on_stdout_line(&note("turn/completed", json!({"threadId": "child"}))));
    assert!(!shown.contains("turn_ended"), "{shown}");
}

#[test]
fn truncated_lines_are_malformed() {
    let whole = turn_frame("turn/completed", "thr", "t1", "completed");
    for at in 0..whole.len() {
        check(&whole[..at], r#"{"event":"malformed","problem":"no JSON: "#);
    }
}

#[test]
fn a_line_of_five_megabytes_is_taken_whole_when_known_and_cut_when_not() {
    let huge = "x".repeat(5 << 20);
    check(&huge, r#"{"event":"malformed""#);
    check(&note("future/told", json!(huge)), r#"{"event":"unknown""#);
    check(&note(&huge, json!(1)), r#"{"event":"unknown""#);
    check(
        &note("error", json!({ "error": huge })),
        r#"{"event":"malformed""#,
    );
    let mut codex = running();
    let item = json!({"type": "agentMessage", "id": "m", "text": huge});
    let params = json!({"threadId": "thr", "turnId": "t1", "item": item});
    let outputs = codex.on_stdout_line(&note("item/completed", params));
    let wanted = AdapterEvent::Text {
        item: "m".to_owned(),
        text: huge,
    };
    assert_eq!(outputs, [AdapterOutput::Event(wanted)]);
}

#[test]
fn bytes_that_were_no_text_are_kept_as_marks() {
    let line = String::from_utf8_lossy(b"{\"method\":\"item/agentMessage/delta\",\"params\":{\"threadId\":\"thr\",\"turnId\":\"t1\",\"itemId\":\"m\",\"delta\":\"a\xff\xfeb\"}}").into_owned();
    check(
        &line,
        "{\"event\":\"text_delta\",\"item\":\"m\",\"text\":\"a\u{fffd}\u{fffd}b\"}",
    );
    let line = String::from_utf8_lossy(b"\xff\xfe{").into_owned();
    check(&line, r#"{"event":"malformed""#);
}

/// Generates lines that resemble codex's.
fn near_line() -> impl Strategy<Value = String> {
    let item = json!({"type": "fileChange", "id": "i", "status": "completed", "changes": [{"path": "a", "kind": {"type": "add"}, "diff": "x"}]});
    let params = json!({"threadId": "thr", "turnId": "t1", "item": item});
    let known = vec![
        thread_opened(2, "on-request", READ_ONLY),
        thread_opened(2, "never", READ_ONLY),
        r#"{"id":1,"result":{"userAgent":"agent-collab/0.169.0 x"}}"#.to_owned(),
        r#"{"id":3,"result":{"turn":{"id":"t1"}}}"#.to_owned(),
        r#"{"id":3,"error":{"code":1,"message":"no"}}"#.to_owned(),
        turn_frame("turn/started", "thr", "t1", "inProgress"),
        turn_frame("turn/completed", "thr", "t1", "completed"),
        turn_frame("turn/completed", "thr", "t1", "failed"),
        turn_frame("turn/started", "child", "c1", "inProgress"),
        note("item/started", params.clone()),
        note("item/completed", params),
        note("turn/completed", json!({"threadId": "thr"})),
        r#"{"method":"item/fileChange/requestApproval","id":0,"params":{"threadId":"thr","turnId":"t1","itemId":"i"}}"#.to_owned(),
        r#"{"method":"x","id":"a"}"#.to_owned(),
    ];
    prop_oneof![
        8 => prop::sample::select(known.clone()),
        1 => (prop::sample::select(known), 0..200_usize).prop_map(|(line, at)| {
            line.chars().take(at).collect()
        }),
        1 => any::<String>(),
    ]
}

/// An input to the adapter.
#[derive(Debug, Clone)]
enum AdapterTestInput {
    Line(String),
    Order(AdapterCommand),
    Exit,
}

fn step() -> impl Strategy<Value = AdapterTestInput> {
    let answer = |decision| AdapterCommand::DecideApproval(RequestId::new("0"), decision);
    let orders = vec![
        AdapterCommand::StartTurn(turn("again", TurnAccess::ReadOnly)),
        AdapterCommand::Interrupt,
        answer(CallDecision::Allow),
        answer(CallDecision::DenyAndStop),
    ];
    prop_oneof![
        10 => near_line().prop_map(AdapterTestInput::Line),
        2 => prop::sample::select(orders).prop_map(AdapterTestInput::Order),
        1 => Just(AdapterTestInput::Exit),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_turn_ends_at_most_once_and_always_with_its_process(steps in prop::collection::vec(step(), 0..40)) {
        let mut codex = launched(None);
        let mut n_open = 1_i32;
        let mut outputs = codex.on_command(AdapterCommand::StartTurn(turn("go", TurnAccess::Workspace)));
        let exit = crate::adapter::CliExit { code: Some(0), signal: None, stderr_tail: String::new() };
        for step in steps.into_iter().chain([AdapterTestInput::Exit]) {
            for output in outputs.drain(..) {
                if matches!(output, AdapterOutput::Event(AdapterEvent::TurnEnded(_))) {
                    n_open -= 1;
                }
            }
            prop_assert!(n_open == 0 || n_open == 1, "{n_open} open turns");
            outputs = match step {
                AdapterTestInput::Line(line) => codex.on_stdout_line(&line),
                AdapterTestInput::Order(AdapterCommand::StartTurn(spec)) if n_open == 0 => {
                    n_open = 1;
                    codex.on_command(AdapterCommand::StartTurn(spec))
                }
                AdapterTestInput::Order(order) => codex.on_command(order),
                AdapterTestInput::Exit => codex.on_exit(&exit),
            };
        }
        n_open -= i32::from(outputs.iter().any(|output| matches!(output, AdapterOutput::Event(AdapterEvent::TurnEnded(_)))));
        prop_assert_eq!(n_open, 0);
    }
}
