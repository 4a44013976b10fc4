//! Tests of codex's hook without codex: what it asks and what it answers.
//!
//! The lab tests show that the real codex accepts the hook.

use super::super::app_server_protocol::FolderHooks;
use super::super::app_server_protocol::HookMetadata;
use super::*;

fn input(tool: &str, input: Value) -> CodexHookInput {
    CodexHookInput {
        session_id: "thr".to_owned(),
        cwd: PathBuf::from("/r"),
        tool_name: tool.to_owned(),
        tool_input: input,
        tool_use_id: Some("c0".to_owned()),
    }
}

fn check_call(tool: &str, given: Value, wanted: &str) {
    let found = match classify_hook_call(&input(tool, given)) {
        HookCallKind::NeedsDecision(call) => serde_json::to_string(&call).unwrap(),
        HookCallKind::Harmless => "harmless".to_owned(),
        HookCallKind::Denied(reason) => format!("denied: {reason}"),
        HookCallKind::ToolMissing { tool, reason } => format!("no tool {tool}: {reason}"),
    };
    assert!(found.contains(wanted), "{found}");
}

#[test]
fn the_hash_is_the_one_that_codex_makes() {
    // The hash that codex 0.169.0 reported for this command, apart from its timeout.
    let told = "sha256:2abf9b21b79e2570235e31031387c44234a66d1e91f81f095c34cd28302c481b";
    let normal = r#"{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"/tmp/contain/cx/hook.sh","timeout":86400,"type":"command"}],"matcher":".*"}"#;
    let digest = Sha256::digest(normal.as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(format!("sha256:{hex}"), told);
}

#[test]
fn the_arguments_are_toml_whatever_the_command_is_called() {
    for command in ["'/a b/x' hook", "\"q\" \\ é", "x"] {
        let [_, hook, _, trust] = hook_arguments(command);
        assert!(hook.contains(&Value::from(command).to_string()), "{hook}");
        assert!(trust.contains(&hook_hash(command)), "{trust}");
    }
}

#[test]
fn commands_patches_tools_and_agents_are_told_apart() {
    check_call(
        "Bash",
        json!({"command": "ls"}),
        r#""line":"ls","cwd":"/r","reach":"contained""#,
    );
    let patch =
        "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b c\n*** Move to: d\n*** End Patch";
    check_call(
        "apply_patch",
        json!({ "command": patch }),
        r#""paths":["a","b c","d"]"#,
    );
    check_call(
        "mcp__notes__write_it",
        json!({}),
        r#""name":"notes.write_it""#,
    );
    check_call("update_plan", json!({}), "harmless");
    for agents in ["collaborationspawn_agent", "spawn_agent"] {
        let wanted = format!("no tool {agents}: agents of codex's own");
        check_call(agents, json!({}), &wanted);
    }
    check_call("Bash", json!({}), "denied: ");
}

#[test]
fn a_shell_with_nothing_to_run_is_denied() {
    for line in [
        "bash",
        "/bin/bash -i",
        "sh",
        "zsh -l",
        "python3",
        "python3 -i",
        "node",
    ] {
        check_call("Bash", json!({ "command": line }), "denied: ");
    }
    for line in [
        "bash run.sh",
        "python3 --version",
        "python3 -m pytest",
        "node -v",
        "bash -c ls",
    ] {
        check_call("Bash", json!({ "command": line }), "contained");
    }
}

fn listed(change: impl Fn(&mut HookMetadata)) -> HooksListResponse {
    let mut hook = HookMetadata {
        key: HOOK_KEY.to_owned(),
        enabled: true,
        current_hash: hook_hash("x"),
        trust_status: "trusted".to_owned(),
    };
    change(&mut hook);
    HooksListResponse {
        data: vec![FolderHooks { hooks: vec![hook] }],
    }
}

#[test]
fn a_hook_that_is_not_there_on_or_trusted_stops_the_start() {
    assert_eq!(check_hook_is_trusted(&listed(|_| {}), "x"), Ok(()));
    for broken in [
        listed(|hook| hook.enabled = false),
        listed(|hook| hook.trust_status = "untrusted".to_owned()),
        listed(|hook| hook.current_hash = hook_hash("y")),
        listed(|hook| hook.key = "other".to_owned()),
        HooksListResponse { data: Vec::new() },
    ] {
        let problem = check_hook_is_trusted(&broken, "x").unwrap_err();
        assert!(
            problem.contains("would not ask before each call"),
            "{problem}"
        );
    }
}

#[test]
fn a_patch_is_shown_file_by_file() {
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+new\n*** Update File: b.txt\n*** Move to: c.txt\n@@\n-old\n+new\n*** Delete File: d.txt\n*** End Patch\n";
    let change =
        |path: &str, kind, diff: &str| FileChange::new(PathBuf::from(path), kind, diff.to_owned());
    assert_eq!(
        patch_changes(&input("apply_patch", json!({ "command": patch }))),
        [
            change("a.txt", FileChangeKind::Add, "+new\n"),
            change(
                "b.txt",
                FileChangeKind::Move("c.txt".into()),
                "@@\n-old\n+new\n"
            ),
            change("d.txt", FileChangeKind::Delete, ""),
        ]
    );
    assert_eq!(
        patch_changes(&input("Bash", json!({ "command": patch }))),
        []
    );
}
