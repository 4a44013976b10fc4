//! Tests handshake, resumption, interruption and failure, frame by frame.

use super::*;
use crate::adapter::{CliExit, CliTurnOutcome};

const INITIALIZED: &str = r#"{"id":1,"result":{"userAgent":"agent-collab/0.169.0 (Debian 12.0.0; x86_64) dumb","codexHome":"/h"}}"#;

pub(super) fn thread_opened(id: i64, policy: &str, sandbox: &str) -> String {
    format!(
        r#"{{"id":{id},"result":{{"thread":{{"id":"thr"}},"approvalPolicy":"{policy}","approvalsReviewer":"user","sandbox":{sandbox},"activePermissionProfile":{{"id":"agent-collab-before"}}}}}}"#
    )
}

pub(super) const READ_ONLY: &str = r#"{"type":"readOnly","networkAccess":false}"#;

pub(super) fn note(method: &str, params: Value) -> String {
    json!({"method": method, "params": params}).to_string()
}

pub(super) fn turn_frame(method: &str, thread: &str, id: &str, status: &str) -> String {
    let turn = json!({"id": id, "status": status, "error": null});
    note(method, json!({"threadId": thread, "turn": turn}))
}

/// Builds an adapter with turn `t1` of thread `thr` running; the next request of ours has id 4.
pub(super) fn running() -> CodexAdapter {
    let mut codex = launched(None);
    codex.on_command(AdapterCommand::StartTurn(turn("go", TurnAccess::Workspace)));
    codex.on_stdout_line(INITIALIZED);
    codex.on_stdout_line(&thread_opened(2, "on-request", READ_ONLY));
    codex.on_stdout_line(r#"{"id":3,"result":{"turn":{"id":"t1"}}}"#);
    codex.on_stdout_line(&turn_frame("turn/started", "thr", "t1", "inProgress"));
    codex
}

fn feed(codex: &mut CodexAdapter, lines: &[&str]) -> String {
    let outputs: Vec<_> = lines
        .iter()
        .flat_map(|line| codex.on_stdout_line(line))
        .collect();
    show(&outputs)
}

fn check(shown: &str, wanted: &[&str]) {
    let shown: Vec<_> = shown.lines().collect();
    assert_eq!(shown, wanted);
}

fn exit(code: i32, tail: &str) -> CliExit {
    CliExit {
        code: Some(code),
        signal: None,
        stderr_tail: tail.to_owned(),
    }
}

#[test]
fn the_launch_bounds_retries_and_switches_agents_md_off_after_the_users_own_arguments() {
    let mut codex = CodexAdapter::default();
    let launch = codex.prepare_launch(
        &session(None, RepositoryTrust::Untrusted),
        &turn("go", TurnAccess::ReadOnly),
    );
    assert_eq!(
        launch.args.join(" "),
        r#"--user-flag -c default_permissions="agent-collab-before" -c permissions.agent-collab-before.filesystem={":root"="read"} -c permissions.agent-collab-before.network={enabled=false} -c permissions.agent-collab-execute.filesystem={":root"="read",":workspace_roots"={"."="write",".agent-collab"="read"}} -c permissions.agent-collab-execute.network={enabled=false} -c features.unbounded_connection_retries=false -c project_doc_max_bytes=0 -c features.goals=false -c features.multi_agent=false -c features.multi_agent_v2=false app-server"#
    );
}

#[test]
fn commands_in_codexs_own_sandbox_see_nothing_of_what_is_hidden() {
    let hidden = ["/tmp/agent-collab-7", "/var/tmp/\"q\""].map(PathBuf::from);
    let session = SessionSpec {
        hidden_folders: hidden.to_vec(),
        ..session(None, RepositoryTrust::Untrusted)
    };
    let launch =
        CodexAdapter::default().prepare_launch(&session, &turn("go", TurnAccess::ReadOnly));
    let profiles: Vec<_> = launch
        .args
        .iter()
        .filter(|argument| argument.contains(".filesystem="))
        .collect();
    assert_eq!(profiles.len(), 2);
    for profile in profiles {
        let nothing = r#","/tmp/agent-collab-7"="none","/var/tmp/\"q\""="none"}"#;
        assert!(profile.ends_with(nothing), "{profile}");
    }
}

#[test]
fn a_first_turn_opens_a_read_only_thread_and_gives_the_turn_its_own_sandbox() {
    let mut codex = launched(None);
    let mut shown =
        show(&codex.on_command(AdapterCommand::StartTurn(turn("go", TurnAccess::Workspace))));
    let opened = thread_opened(2, "on-request", READ_ONLY);
    shown += &feed(&mut codex, &[INITIALIZED, &opened]);
    insta::assert_snapshot!("first_turn", shown);
}

#[test]
fn a_trusted_repository_is_left_to_codexs_own_settings() {
    let mut codex = CodexAdapter::default();
    let spec = turn("go", TurnAccess::ReadOnly);
    codex.prepare_launch(&session(None, RepositoryTrust::Trusted), &spec);
    codex.on_command(AdapterCommand::StartTurn(spec));
    let shown = feed(&mut codex, &[INITIALIZED]);
    assert!(shown.contains(r#""config":{}"#), "{shown}");
    assert!(!shown.contains("trusted"), "{shown}");
}

#[test]
fn the_same_process_serves_turns_of_either_access() {
    let mut codex = running();
    codex.on_stdout_line(&turn_frame("turn/completed", "thr", "t1", "completed"));
    assert!(codex.can_serve(&turn("look", TurnAccess::ReadOnly)));
    let shown = show(&codex.on_command(AdapterCommand::StartTurn(turn(
        "look",
        TurnAccess::ReadOnly,
    ))));
    check(
        &shown,
        &[
            r#"send {"id":4,"method":"turn/start","params":{"threadId":"thr","input":[{"type":"text","text":"look"}],"cwd":"/repo","approvalPolicy":"on-request","approvalsReviewer":"user","permissions":"agent-collab-before"}}"#,
        ],
    );
}

#[test]
fn weaker_settings_fail_the_turn_before_any_prompt() {
    for (policy, sandbox) in [
        ("never", READ_ONLY),
        ("untrusted", READ_ONLY),
        ("on-request", r#"{"type":"dangerFullAccess"}"#),
    ] {
        let mut codex = launched(None);
        codex.on_command(AdapterCommand::StartTurn(turn("go", TurnAccess::ReadOnly)));
        let shown = feed(
            &mut codex,
            &[INITIALIZED, &thread_opened(2, policy, sandbox)],
        );
        assert!(!shown.contains("turn/start"), "{shown}");
        assert!(
            shown.contains(r#""status":"failed","kind":"refused""#),
            "{shown}"
        );
        assert!(!codex.can_serve(&turn("go", TurnAccess::ReadOnly)));
    }
}

#[test]
fn another_profile_than_ours_fails_the_turn_before_any_prompt() {
    for found in ["null", r#"{"id":":workspace"}"#] {
        let mut codex = launched(None);
        codex.on_command(AdapterCommand::StartTurn(turn("go", TurnAccess::ReadOnly)));
        let ours = r#"{"id":"agent-collab-before"}"#;
        let opened = thread_opened(2, "on-request", READ_ONLY).replace(ours, found);
        let shown = feed(&mut codex, &[INITIALIZED, &opened]);
        assert!(!shown.contains("turn/start"), "{shown}");
        assert!(shown.contains("permission profile"), "{shown}");
    }
}

#[test]
fn settings_that_turn_weaker_stop_the_turn_as_refused() {
    let mut codex = running();
    let settings = note(
        "thread/settings/updated",
        json!({"threadId": "thr", "threadSettings": {"approvalPolicy": "never", "approvalsReviewer": "user", "sandboxPolicy": {"type": "readOnly"}}}),
    );
    let ended = turn_frame("turn/completed", "thr", "t1", "interrupted");
    let shown = feed(&mut codex, &[&settings, &ended]);
    assert!(shown.contains("turn/interrupt"), "{shown}");
    assert!(
        shown.contains(r#""status":"failed","kind":"refused""#),
        "{shown}"
    );
}

#[test]
fn a_lost_conversation_is_told_and_replaced() {
    let mut codex = launched(Some("old"));
    codex.on_command(AdapterCommand::StartTurn(turn("go", TurnAccess::ReadOnly)));
    let gone = r#"{"error":{"code":-32600,"message":"no rollout found for thread id old"},"id":2}"#;
    let shown = feed(
        &mut codex,
        &[
            INITIALIZED,
            gone,
            &thread_opened(3, "on-request", READ_ONLY),
            r#"{"id":4,"result":{"turn":{"id":"t1"}}}"#,
            &turn_frame("turn/started", "thr", "t1", "inProgress"),
        ],
    );
    insta::assert_snapshot!("lost_conversation", shown);
}

#[test]
fn a_conversation_that_another_codex_has_open_is_refused() {
    let mut codex = launched(Some("old"));
    codex.on_command(AdapterCommand::StartTurn(turn("go", TurnAccess::ReadOnly)));
    codex.on_stdout_line(INITIALIZED);
    let busy =
        r#"{"error":{"code":-32600,"message":"thread old already has an active writer"},"id":2}"#;
    check(
        &feed(&mut codex, &[busy]),
        &[
            r#"{"event":"turn_ended","status":"failed","kind":"refused","message":"codex refused thread/resume: thread old already has an active writer; this conversation is open in another codex: end it, then try again (code -32600)"}"#,
        ],
    );
    assert!(!codex.can_serve(&turn("go", TurnAccess::ReadOnly)));
}

#[test]
fn a_resumed_conversation_is_not_announced_again() {
    let mut codex = launched(Some("thr"));
    codex.on_command(AdapterCommand::StartTurn(turn("go", TurnAccess::ReadOnly)));
    codex.on_stdout_line(INITIALIZED);
    let shown = feed(
        &mut codex,
        &[
            &thread_opened(2, "on-request", READ_ONLY),
            r#"{"id":3,"result":{"turn":{"id":"t1"}}}"#,
            &turn_frame("turn/started", "thr", "t1", "inProgress"),
        ],
    );
    assert!(shown.ends_with("{\"event\":\"turn_started\"}\n"), "{shown}");
    assert!(!shown.contains("session_opened"), "{shown}");
}

#[test]
fn the_model_is_told_also_of_a_resumed_conversation_and_when_it_changes() {
    let mut codex = launched(Some("thr"));
    codex.on_command(AdapterCommand::StartTurn(turn("go", TurnAccess::ReadOnly)));
    codex.on_stdout_line(INITIALIZED);
    let opened = thread_opened(2, "on-request", READ_ONLY);
    let opened = opened.replacen(r#""result":{"#, r#""result":{"model":"big","#, 1);
    let shown = feed(
        &mut codex,
        &[
            &opened,
            r#"{"id":3,"result":{"turn":{"id":"t1"}}}"#,
            &turn_frame("turn/started", "thr", "t1", "inProgress"),
        ],
    );
    let told = |model: &str| {
        format!(r#"{{"event":"session_opened","external_id":"thr","model":"{model}"}}"#)
    };
    assert_eq!(shown.matches(&told("big")).count(), 1, "{shown}");
    let moved = json!({"threadId": "thr", "turnId": "t1", "fromModel": "big", "toModel": "small", "reason": "x"});
    let shown = feed(&mut codex, &[&note("model/rerouted", moved)]);
    assert!(shown.contains(&told("small")), "{shown}");
}

#[test]
fn an_interrupt_before_the_turn_is_sent_ends_it_at_once() {
    let mut codex = launched(None);
    codex.on_command(AdapterCommand::StartTurn(turn("go", TurnAccess::ReadOnly)));
    let shown = show(&codex.on_command(AdapterCommand::Interrupt));
    check(
        &shown,
        &[r#"{"event":"turn_ended","status":"interrupted"}"#],
    );
    let opened = thread_opened(2, "on-request", READ_ONLY);
    let shown = feed(&mut codex, &[INITIALIZED, &opened]);
    assert!(!shown.contains("turn/start"), "{shown}");
    let shown = show(&codex.on_command(AdapterCommand::StartTurn(turn(
        "next",
        TurnAccess::ReadOnly,
    ))));
    assert!(shown.contains("turn/start"), "{shown}");
}

#[test]
fn an_interrupt_before_the_turn_has_an_id_is_remembered() {
    let mut codex = launched(None);
    codex.on_command(AdapterCommand::StartTurn(turn("go", TurnAccess::ReadOnly)));
    codex.on_stdout_line(INITIALIZED);
    codex.on_stdout_line(&thread_opened(2, "on-request", READ_ONLY));
    check(&show(&codex.on_command(AdapterCommand::Interrupt)), &[]);
    check(
        &feed(
            &mut codex,
            &[
                r#"{"id":3,"result":{"turn":{"id":"t1"}}}"#,
                &turn_frame("turn/started", "thr", "t1", "inProgress"),
            ],
        ),
        &[
            r#"{"event":"session_opened","external_id":"thr"}"#,
            r#"{"event":"turn_started"}"#,
            r#"send {"id":4,"method":"turn/interrupt","params":{"threadId":"thr","turnId":"t1"}}"#,
            r#"send {"id":5,"method":"thread/backgroundTerminals/clean","params":{"threadId":"thr"}}"#,
        ],
    );
}

#[test]
fn only_the_own_threads_own_turn_ends_the_turn() {
    let mut codex = running();
    let foreign = turn_frame("turn/completed", "child", "t1", "completed");
    let earlier = turn_frame("turn/completed", "thr", "t0", "completed");
    check(&feed(&mut codex, &[&foreign, &earlier]), &[]);
    let own = turn_frame("turn/completed", "thr", "t1", "completed");
    check(
        &feed(&mut codex, &[&own, &own]),
        &[r#"{"event":"turn_ended","status":"completed","final_text":""}"#],
    );
}

#[test]
fn a_sub_agent_that_still_works_at_the_turns_end_is_interrupted() {
    let mut codex = running();
    let child = turn_frame("turn/started", "child", "c1", "inProgress");
    let own = turn_frame("turn/completed", "thr", "t1", "completed");
    check(
        &feed(&mut codex, &[&child, &own]),
        &[
            r#"send {"id":4,"method":"turn/interrupt","params":{"threadId":"child","turnId":"c1"}}"#,
            r#"send {"id":5,"method":"thread/backgroundTerminals/clean","params":{"threadId":"child"}}"#,
            r#"{"event":"turn_ended","status":"completed","final_text":""}"#,
        ],
    );
}

#[test]
fn a_turn_that_nobody_ordered_is_interrupted() {
    let mut codex = running();
    codex.on_stdout_line(&turn_frame("turn/completed", "thr", "t1", "completed"));
    check(
        &feed(
            &mut codex,
            &[&turn_frame("turn/started", "thr", "t2", "inProgress")],
        ),
        &[
            r#"{"event":"notice","text":"codex started a turn on its own; it was interrupted"}"#,
            r#"send {"id":4,"method":"turn/interrupt","params":{"threadId":"thr","turnId":"t2"}}"#,
            r#"send {"id":5,"method":"thread/backgroundTerminals/clean","params":{"threadId":"thr"}}"#,
        ],
    );
}

#[test]
fn the_processs_end_ends_the_turn_once() {
    let mut codex = running();
    let item = json!({"type": "commandExecution", "id": "c", "command": "sleep 9", "status": "inProgress"});
    let started = note(
        "item/started",
        json!({"threadId": "thr", "turnId": "t1", "item": item}),
    );
    codex.on_stdout_line(&started);
    let mut shown = show(&codex.on_exit(&exit(1, "Error: no disk\n")));
    shown += &show(&codex.on_exit(&exit(1, "")));
    check(
        &shown,
        &[
            r#"{"event":"tool_ended","item":"c","status":"abandoned","exit_code":null,"output":""}"#,
            r#"{"event":"turn_ended","status":"failed","kind":"refused","message":"Error: no disk"}"#,
        ],
    );
    assert!(!codex.can_serve(&turn("go", TurnAccess::ReadOnly)));
}

#[test]
fn the_end_of_an_idle_process_is_a_notice() {
    let mut codex = running();
    codex.on_stdout_line(&turn_frame("turn/completed", "thr", "t1", "completed"));
    check(
        &show(&codex.on_exit(&exit(0, ""))),
        &[r#"{"event":"notice","text":"codex ended (exit status 0)"}"#],
    );
}

#[test]
fn a_prompt_beyond_the_limit_is_refused_and_nothing_is_sent() {
    let mut codex = launched(None);
    let fits = "é".repeat(super::super::launch_parameters::MAX_PROMPT_CHARS);
    let shown = show(&codex.on_command(AdapterCommand::StartTurn(turn(
        &(fits + "é"),
        TurnAccess::ReadOnly,
    ))));
    check(
        &shown,
        &[
            r#"{"event":"turn_ended","status":"failed","kind":"refused","message":"the prompt has 1048577 characters, but codex accepts at most 1048576; shorten the goal or the plan"}"#,
        ],
    );
}

#[test]
fn a_refused_request_of_ours_fails_the_turn() {
    let mut codex = launched(None);
    codex.on_command(AdapterCommand::StartTurn(turn("go", TurnAccess::ReadOnly)));
    codex.on_stdout_line(INITIALIZED);
    codex.on_stdout_line(&thread_opened(2, "on-request", READ_ONLY));
    let refused = r#"{"id":3,"error":{"code":-32602,"message":"Input exceeds the maximum length of 1048576 characters."}}"#;
    check(
        &feed(&mut codex, &[refused]),
        &[
            r#"{"event":"turn_ended","status":"failed","kind":"refused","message":"codex refused turn/start: Input exceeds the maximum length of 1048576 characters. (code -32602)"}"#,
        ],
    );
}

fn ask(method: &str, params: Value) -> String {
    json!({"method": method, "id": 7, "params": params}).to_string()
}

fn answered(codex: &mut CodexAdapter, decision: CallDecision) -> String {
    show(&codex.on_command(AdapterCommand::DecideApproval(
        RequestId::new("7"),
        decision,
    )))
}

#[test]
fn the_reason_of_a_denial_is_said_to_the_agent_before_the_denial() {
    let mut codex = running();
    let params = json!({"kind": "command", "threadId": "thr", "turnId": "t1", "itemId": "i", "command": "/bin/bash -lc 'rm -rf x'", "cwd": "/repo"});
    let shown = feed(
        &mut codex,
        &[&ask("item/commandExecution/requestApproval", params)],
    );
    check(
        &shown,
        &[
            r#"{"event":"asked","request":"7","item":"i","call":{"kind":"command","line":"rm -rf x","cwd":"/repo","reach":"leaves_sandbox"},"reason":null,"origin":null}"#,
        ],
    );
    let reason = "ask first".to_owned();
    check(
        &answered(&mut codex, CallDecision::Deny { reason }),
        &[
            r#"send {"id":4,"method":"turn/steer","params":{"threadId":"thr","expectedTurnId":"t1","input":[{"type":"text","text":"ask first"}]}}"#,
            r#"send {"id":7,"result":{"decision":"decline"}}"#,
        ],
    );
}

#[test]
fn what_the_user_says_in_the_middle_of_a_turn_is_passed_on() {
    let mut codex = running();
    let steer = |codex: &mut CodexAdapter| {
        show(&codex.on_command(AdapterCommand::Steer("look there too 中".to_owned())))
    };
    check(
        &steer(&mut codex),
        &[
            r#"send {"id":4,"method":"turn/steer","params":{"threadId":"thr","expectedTurnId":"t1","input":[{"type":"text","text":"look there too 中"}]}}"#,
        ],
    );
    let refused = r#"{"id":4,"error":{"code":-32600,"message":"no active turn to steer"}}"#;
    check(
        &feed(&mut codex, &[refused]),
        &[r#"{"event":"untold","text":"look there too 中"}"#],
    );
    let mut idle = CodexAdapter::default();
    check(
        &steer(&mut idle),
        &[r#"{"event":"untold","text":"look there too 中"}"#],
    );
}

#[test]
fn what_codex_has_not_taken_in_when_it_dies_is_handed_back_before_the_turn_ends() {
    let exit = CliExit {
        code: Some(1),
        signal: None,
        stderr_tail: String::new(),
    };
    let mut codex = running();
    for text in ["taken in", "first", "second"] {
        codex.on_command(AdapterCommand::Steer(text.to_owned()));
    }
    feed(&mut codex, &[r#"{"id":4,"result":{}}"#]);
    let told = show(&codex.on_exit(&exit));
    let told: Vec<&str> = told.lines().map(str::trim).collect();
    assert_eq!(
        told[..2],
        [
            r#"{"event":"untold","text":"first"}"#,
            r#"{"event":"untold","text":"second"}"#
        ]
    );
    assert!(told.last().is_some_and(|last| last.contains("turn_ended")));
}

#[test]
fn a_patch_whose_item_is_unknown_names_no_paths() {
    let mut codex = running();
    let params = json!({"threadId": "child", "turnId": "c1", "itemId": "i", "reason": null});
    check(
        &feed(
            &mut codex,
            &[&ask("item/fileChange/requestApproval", params)],
        ),
        &[
            r#"{"event":"asked","request":"7","item":"child:i","call":{"kind":"edit","paths":[],"reach":"leaves_sandbox"},"reason":null,"origin":"child"}"#,
        ],
    );
    let shown = answered(&mut codex, CallDecision::DenyAndStop);
    assert!(shown.contains(r#""decision":"cancel""#), "{shown}");
    assert!(shown.contains(r#""turn/interrupt""#), "{shown}");
}

#[test]
fn input_to_a_running_command_is_no_command_line() {
    let mut codex = running();
    let params = json!({"kind": "writeStdin", "threadId": "thr", "turnId": "t1", "itemId": "i", "command": "y\n"});
    let shown = feed(
        &mut codex,
        &[&ask("item/commandExecution/requestApproval", params)],
    );
    assert!(
        shown.contains(r#""call":{"kind":"tool","name":"writeStdin","input":"{\"kind\""#),
        "{shown}"
    );
}

#[test]
fn rights_are_granted_for_the_turn_at_the_longest() {
    let mut codex = running();
    let params = json!({"threadId": "thr", "turnId": "t1", "itemId": "i", "reason": "fetch", "permissions": {"network": {"enabled": true}, "fileSystem": null}});
    let shown = feed(
        &mut codex,
        &[&ask("item/permissions/requestApproval", params)],
    );
    assert!(shown.contains(r#""name":"request_permissions""#), "{shown}");
    check(
        &answered(&mut codex, CallDecision::Allow),
        &[r#"send {"id":7,"result":{"permissions":{"network":{"enabled":true}},"scope":"turn"}}"#],
    );
}

#[test]
fn questions_are_answered_by_their_ids() {
    let mut codex = running();
    let params = json!({"threadId": "thr", "turnId": "t1", "itemId": "i", "questions": [
        {"id": "q1", "header": "H", "question": "Which?", "options": [{"label": "a", "description": "the first"}]},
        {"id": "q2", "header": "H", "question": "Why?", "options": null},
    ]});
    let shown = feed(&mut codex, &[&ask("item/tool/requestUserInput", params)]);
    check(
        &shown,
        &[
            r#"{"event":"questioned","request":"7","questions":[{"text":"Which?","header":"H","options":[{"label":"a","description":"the first"}]},{"text":"Why?","header":"H","options":[]}]}"#,
        ],
    );
    let answers = BTreeMap::from([("Why?".to_owned(), "because".to_owned())]);
    let order = AdapterCommand::AnswerQuestions(RequestId::new("7"), Some(answers));
    check(
        &show(&codex.on_command(order)),
        &[r#"send {"id":7,"result":{"answers":{"q2":{"answers":["because"]}}}}"#],
    );
}

#[test]
fn a_request_that_codex_withdraws_takes_no_answer() {
    let mut codex = running();
    let params = json!({"threadId": "thr", "turnId": "t1", "itemId": "i"});
    codex.on_stdout_line(&ask("item/fileChange/requestApproval", params));
    let resolved = note(
        "serverRequest/resolved",
        json!({"threadId": "thr", "requestId": 7}),
    );
    let mut shown = feed(&mut codex, &[&resolved, &resolved]);
    shown += &answered(&mut codex, CallDecision::Allow);
    check(
        &shown,
        &[
            r#"{"event":"request_withdrawn","request":"7"}"#,
            r#"{"event":"notice","text":"codex no longer waits for request 7"}"#,
        ],
    );
}

#[test]
fn outside_a_turn_nothing_is_allowed() {
    let mut codex = running();
    codex.on_stdout_line(&turn_frame("turn/completed", "thr", "t1", "completed"));
    let params = json!({"threadId": "child", "turnId": "c1", "itemId": "i"});
    check(
        &feed(
            &mut codex,
            &[&ask("item/fileChange/requestApproval", params)],
        ),
        &[
            r#"send {"id":7,"result":{"decision":"decline"}}"#,
            r#"{"event":"notice","text":"codex made a request outside a turn; it was declined"}"#,
        ],
    );
}

#[test]
fn an_unknown_request_is_answered_with_an_error_and_kept() {
    let mut codex = running();
    let shown = feed(&mut codex, &[&ask("future/ask", json!({}))]);
    check(
        &shown,
        &[
            r#"send {"id":7,"error":{"code":-32601,"message":"agent-collab does not serve future/ask"}}"#,
            r#"{"event":"unknown","kind":"future/ask","frame":"{\"method\":\"future/ask\",\"id\":7,\"params\":{}}"}"#,
        ],
    );
}

#[test]
fn the_last_message_of_the_own_thread_is_the_final_text() {
    let mut codex = running();
    let message = |thread: &str, turn: &str, text: &str| {
        let item = json!({"type": "agentMessage", "id": "m", "text": text});
        note(
            "item/completed",
            json!({"threadId": thread, "turnId": turn, "item": item}),
        )
    };
    let mut ends = 0;
    for line in [
        message("thr", "t1", "first"),
        message("thr", "t1", "last"),
        message("child", "c1", "child's"),
        turn_frame("turn/completed", "thr", "t1", "completed"),
    ] {
        for output in codex.on_stdout_line(&line) {
            if let AdapterOutput::Event(AdapterEvent::TurnEnded(CliTurnOutcome::Completed {
                final_text,
            })) = output
            {
                assert_eq!(final_text, "last");
                ends += 1;
            }
        }
    }
    assert_eq!(ends, 1);
}
