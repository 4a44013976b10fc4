//! Tests whole turns of the scripted `claude`, frame by frame.

use serde_json::{Value, json};

use crate::scripted::ScriptedProgram;
use crate::scripted::test_harness::{
    ScriptedAgentHarness, answer_claude_request, start_claude_turn,
};

fn text(frame: &Value) -> Option<&str> {
    frame["message"]["content"][0]["text"]
        .as_str()
        .filter(|_| frame["type"] == "assistant")
}

fn is_result(frame: &Value) -> bool {
    frame["type"] == "result"
}

fn is_ask(frame: &Value) -> bool {
    frame["type"] == "control_request"
}

/// Plays one prompt, answers every request with `answer` and returns the assistant's texts and the result.
fn check(script: &str, arguments: &[&str], answer: &Value) -> String {
    let folder = tempfile::tempdir().unwrap();
    let claude =
        ScriptedAgentHarness::new(ScriptedProgram::Claude, script, arguments, folder.path());
    start_claude_turn(&claude, "go");
    let mut said = Vec::new();
    loop {
        let news = claude.read_until(|frame| is_ask(frame) || is_result(frame));
        said.extend(news.iter().filter_map(text).map(str::to_owned));
        let last = news.last().unwrap();
        if is_ask(last) {
            said.push(format!(
                "<{}>",
                last["request"]["tool_name"].as_str().unwrap()
            ));
            answer_claude_request(&claude, last, answer.clone());
        } else {
            said.push(last["terminal_reason"].as_str().unwrap().to_owned());
            break;
        }
    }
    said.push(claude.close_input().code.to_string());
    said.join(" | ")
}

fn script(actions: &str) -> String {
    format!("[[turn]]\naction = [{actions}]")
}

const WRITING: &str = r#"{ do = "command", run = "touch made && test -e made", if_allowed = [{ do = "text", text = "made" }],
    if_denied = [{ do = "text", text = "not made" }] }"#;

#[test]
fn a_denied_command_takes_the_other_branch() {
    assert_eq!(
        check(&script(WRITING), &[], &json!({"behavior": "allow"})),
        "<Bash> | made | completed | 0"
    );
    let deny = json!({"behavior": "deny", "message": "no"});
    assert_eq!(
        check(&script(WRITING), &[], &deny),
        "<Bash> | not made | completed | 0"
    );
}

#[test]
fn a_denial_that_interrupts_ends_the_turn() {
    let deny = json!({"behavior": "deny", "message": "no", "interrupt": true});
    assert_eq!(
        check(&script(WRITING), &[], &deny),
        "<Bash> | aborted_tools | 1"
    );
}

#[test]
fn a_reading_command_is_asked_about_only_by_rule() {
    let actions = r#"{ do = "command", run = "ls" }, { do = "text", text = "seen" }"#;
    assert_eq!(
        check(&script(actions), &[], &json!({})),
        "seen | completed | 0"
    );
    let rule = r#"{"permissions":{"ask":["Bash"]}}"#;
    let asked = check(
        &script(actions),
        &["--settings", rule],
        &json!({"behavior": "allow"}),
    );
    assert_eq!(asked, "<Bash> | seen | completed | 0");
}

#[test]
fn the_host_may_change_the_input() {
    let folder = tempfile::tempdir().unwrap();
    let claude = ScriptedAgentHarness::new(
        ScriptedProgram::Claude,
        &script(r#"{ do = "write", path = "a", content = "mine" }"#),
        &[],
        folder.path(),
    );
    start_claude_turn(&claude, "go");
    let ask = claude.read_until(is_ask).pop().unwrap();
    let input = json!({"file_path": folder.path().join("a"), "content": "yours"});
    answer_claude_request(
        &claude,
        &ask,
        json!({"behavior": "allow", "updatedInput": input}),
    );
    claude.read_until(is_result);
    assert_eq!(
        std::fs::read_to_string(folder.path().join("a")).unwrap(),
        "yours"
    );
}

#[test]
fn an_answer_to_a_question_is_a_word_of_the_script() {
    let actions = r#"{ do = "question", question = "Which?", options = ["a", "b"],
        if_answered = [{ do = "text", text = "chose ${answer}" }], if_dismissed = [{ do = "text", text = "nothing" }] }"#;
    let allow =
        json!({"behavior": "allow", "updatedInput": {"questions": [], "answers": {"Which?": "b"}}});
    assert_eq!(
        check(&script(actions), &[], &allow),
        "<AskUserQuestion> | chose b | completed | 0"
    );
    let deny = json!({"behavior": "deny", "message": "nobody"});
    assert_eq!(
        check(&script(actions), &[], &deny),
        "<AskUserQuestion> | nothing | completed | 0"
    );
}

#[test]
fn a_prompt_without_a_turn_is_a_failed_turn_that_says_so() {
    let script = "[[turn]]\nwhen = \"else\"\n";
    assert_eq!(
        check(script, &[], &json!({})),
        "the script has no turn left for this prompt: go | api_error | 1"
    );
}

#[test]
fn an_interrupt_is_heard_in_a_stall_and_the_process_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let script = "[[turn]]\naction = [{ do = \"stall\" }]\n[[turn]]\naction = [{ do = \"text\", text = \"alive\" }]\n";
    let claude = ScriptedAgentHarness::new(ScriptedProgram::Claude, script, &[], folder.path());
    start_claude_turn(&claude, "go");
    claude.read_until(|frame| frame["subtype"] == "init");
    claude.send_frame(
        json!({"type": "control_request", "request_id": "i", "request": {"subtype": "interrupt"}}),
    );
    let ended = claude.read_until(is_result).pop().unwrap();
    assert_eq!(ended["terminal_reason"], "aborted_streaming");
    start_claude_turn(&claude, "again");
    let frames = claude.read_until(is_result);
    assert!(frames.iter().any(|frame| text(frame) == Some("alive")));
    assert_eq!(claude.close_input().code, 0);
}

#[test]
fn the_end_of_input_denies_what_is_asked_and_finishes_the_turn() {
    let folder = tempfile::tempdir().unwrap();
    let claude = ScriptedAgentHarness::new(
        ScriptedProgram::Claude,
        &script(WRITING),
        &[],
        folder.path(),
    );
    start_claude_turn(&claude, "go");
    claude.read_until(is_ask);
    let end = claude.close_input();
    assert!(
        end.lines.iter().any(|line| line.contains("not made")),
        "{:?}",
        end.lines
    );
    assert_eq!(end.code, 0);
}

#[test]
fn a_bad_line_ends_the_process() {
    let folder = tempfile::tempdir().unwrap();
    for line in ["{", r#"{"type":"user","message":{"role":"assistant"}}"#] {
        let claude = ScriptedAgentHarness::new(ScriptedProgram::Claude, "", &[], folder.path());
        claude.send_line(line);
        let end = claude.wait_for_exit();
        assert_eq!(end.code, 1);
        assert!(
            end.errors.starts_with("Error parsing streaming input line"),
            "{}",
            end.errors
        );
    }
}

#[test]
fn a_resumed_conversation_goes_on_where_it_was_and_its_id_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let script = "[[turn]]\naction = [{ do = \"text\", text = \"first\" }]\n[[turn]]\naction = [{ do = \"text\", text = \"second\" }]\n";
    for (flag, expected) in [("--session-id", "first"), ("--resume", "second")] {
        let claude = ScriptedAgentHarness::new(
            ScriptedProgram::Claude,
            script,
            &[flag, "s-1"],
            folder.path(),
        );
        start_claude_turn(&claude, "go");
        let frames = claude.read_until(is_result);
        assert_eq!(frames.iter().find_map(text), Some(expected));
        assert_eq!(claude.close_input().code, 0);
    }
    let taken = ScriptedAgentHarness::new(
        ScriptedProgram::Claude,
        script,
        &["--session-id", "s-1"],
        folder.path(),
    )
    .wait_for_exit();
    assert_eq!(
        (taken.code, taken.errors.as_str()),
        (1, "Error: Session ID s-1 is already in use.\n")
    );
}

#[test]
fn a_conversation_that_nobody_has_cannot_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let end = ScriptedAgentHarness::new(
        ScriptedProgram::Claude,
        "",
        &["--resume", "gone"],
        folder.path(),
    )
    .wait_for_exit();
    assert_eq!(
        (end.code, end.errors.as_str()),
        (1, "No conversation found with session ID: gone\n")
    );
}

#[test]
fn a_process_that_is_told_to_terminate_or_exits_by_script_sends_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let claude = ScriptedAgentHarness::new(
        ScriptedProgram::Claude,
        &script(r#"{ do = "stall" }"#),
        &[],
        folder.path(),
    );
    start_claude_turn(&claude, "go");
    claude.read_until(|frame| frame["subtype"] == "init");
    claude.terminate();
    assert_eq!(claude.wait_for_exit().code, 143);
    let exits = script(r#"{ do = "exit", code = 7, stderr = "oh" }"#);
    let claude = ScriptedAgentHarness::new(ScriptedProgram::Claude, &exits, &[], folder.path());
    start_claude_turn(&claude, "go");
    let end = claude.wait_for_exit();
    assert_eq!((end.code, end.errors.as_str()), (7, "oh\n"));
    assert!(!end.lines.iter().any(|line| line.contains("\"result\"")));
}

#[test]
fn tokens_and_costs_are_running_totals_over_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let script = "[[turn]]\nuses = \"always\"\naction = [{ do = \"usage\", input = 7, output = 3, cost_usd = 0.5 }]\n";
    let mut totals = Vec::new();
    for flag in ["--session-id", "--resume"] {
        let claude =
            ScriptedAgentHarness::new(ScriptedProgram::Claude, script, &[flag, "s"], folder.path());
        start_claude_turn(&claude, "go");
        let result = claude.read_until(is_result).pop().unwrap();
        let model = &result["modelUsage"]["claude-opus-5-5"];
        totals.push(format!(
            "{} {} {}",
            result["total_cost_usd"], model["inputTokens"], result["usage"]["input_tokens"]
        ));
        claude.close_input();
    }
    assert_eq!(totals, ["0.5 7 7", "1.0 14 7"]);
}

/// Plays a command that claude would ask about, with a hook that gives this answer; returns what was asked and the
/// result.
fn weighed(answer: &Value) -> String {
    let folder = tempfile::tempdir().unwrap();
    let claude = ScriptedAgentHarness::new(
        ScriptedProgram::Claude,
        &script(WRITING),
        &[],
        folder.path(),
    );
    let hooks = json!({"PreToolUse": [{"hookCallbackIds": ["before"], "onFailure": "block"}]});
    let request = json!({"subtype": "initialize", "hooks": hooks});
    claude.send_frame(json!({"type": "control_request", "request_id": "i", "request": request}));
    let answered = claude.read_until(|frame| frame["type"] == "control_response");
    assert_eq!(
        answered.last().unwrap()["response"]["response"]["hooks_applied"],
        true
    );
    start_claude_turn(&claude, "go");
    let mut said = Vec::new();
    loop {
        let news = claude.read_until(|frame| is_ask(frame) || is_result(frame));
        said.extend(news.iter().filter_map(text).map(str::to_owned));
        let last = news.last().unwrap();
        if !is_ask(last) {
            return said.join(" | ");
        }
        let subtype = last["request"]["subtype"].as_str().unwrap();
        said.push(format!("<{subtype}>"));
        let allow = json!({"behavior": "allow"});
        let answer = if subtype == "hook_callback" {
            answer.clone()
        } else {
            allow
        };
        answer_claude_request(&claude, last, answer);
    }
}

#[test]
fn a_hook_is_asked_first_and_asks_further_where_it_says_so() {
    let decides = |decision: &str| {
        let said = json!({"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": "why"});
        weighed(&json!({"hookSpecificOutput": said}))
    };
    assert_eq!(decides("allow"), "<hook_callback> | made");
    assert_eq!(decides("deny"), "<hook_callback> | not made");
    let asks = "<hook_callback> | <can_use_tool> | made";
    assert_eq!([decides("ask"), weighed(&json!({}))], [asks, asks]);
}
