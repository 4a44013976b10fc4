//! A model that tries to write before EXECUTE cannot write anything, whichever CLI and role it has.

use std::fs;

use serde_json::{Value, json};

use crate::brain::{self, Purpose};
use crate::model_server::script::{Reply, Request, Tool, Vendor};
use crate::report::Notes;
use crate::world::{Cast, SWAPPED, USUAL, World};

const AS_PLANNER: &str = "as planner, tries to write before EXECUTE by every tool (shell, redirect, pipe, list, escalation, patch or Write, link)";
const AS_REVIEWER: &str = "as reviewer, tries the same";

/// Tools that only ask the user, claude's placeholder for later tools, and tools that read what MCP servers offer;
/// the only server here offers nothing.
const HARMLESS: [&str; 8] = [
    "list_mcp_resources",
    "list_mcp_resource_templates",
    "read_mcp_resource",
    "ListMcpResourcesTool",
    "ReadMcpResourceTool",
    "request_user_input",
    "AskUserQuestion",
    "DeferredToolPlaceholder",
];

/// The tools of each CLI by which [`attempts`] tries.
fn tried(vendor: Vendor) -> &'static [&'static str] {
    match vendor {
        Vendor::Openai => &["exec_command", "apply_patch", "write_stdin", "view_image"],
        Vendor::Anthropic => &["Bash", "Write", "Edit", "Read", "Glob", "Grep"],
    }
}

/// Ways to write that one CLI has, or had in another version.
fn own_attempts(vendor: Vendor) -> Vec<Tool> {
    let named = |name, input| Tool::Named { name, input };
    match vendor {
        Vendor::Openai => vec![
            named(
                "apply_patch",
                json!("*** Begin Patch\n*** Delete File: code.js\n*** End Patch\n"),
            ),
            named(
                "apply_patch",
                json!(
                    "*** Begin Patch\n*** Update File: code.js\n*** Move to: evil-moved.js\n*** End Patch\n"
                ),
            ),
            named(
                "write_stdin",
                json!({"session_id": 1, "chars": "touch evil-stdin.txt\n"}),
            ),
            named("view_image", json!({"path": "evil-image.png"})),
            named(
                "exec_command",
                json!({"cmd": "sh -s", "tty": true, "yield_time_ms": 500}),
            ),
            named(
                "update_plan",
                json!({"plan": [{"step": "evil", "status": "pending"}]}),
            ),
        ],
        Vendor::Anthropic => vec![
            named("Glob", json!({"pattern": "$(touch evil-glob.txt)"})),
            named(
                "Grep",
                json!({"pattern": "evil", "path": "$(touch evil-grep.txt)"}),
            ),
            named(
                "NotebookEdit",
                json!({"notebook_path": "evil.ipynb", "new_source": "evil", "edit_mode": "insert"}),
            ),
            named(
                "MultiEdit",
                json!({"file_path": "code.js", "edits": [{"old_string": "a", "new_string": "evil"}]}),
            ),
            named(
                "Task",
                json!({"description": "evil", "prompt": "touch evil-task.txt", "subagent_type": "general-purpose"}),
            ),
            named(
                "TodoWrite",
                json!({"todos": [{"content": "evil", "status": "pending", "activeForm": "evil"}]}),
            ),
            named("Skill", json!({"skill": "evil"})),
        ],
    }
}

/// Every tool that a CLI offered to its model in this world was tried, or writes nothing.
fn assert_all_tried(world: &World, vendor: Vendor) {
    for body in world.server.bodies(vendor) {
        let body: Value = serde_json::from_str(&body).expect("a request");
        for tool in body["tools"].as_array().into_iter().flatten() {
            // codex's search among tools has no name.
            let Some(name) = tool["name"].as_str() else {
                continue;
            };
            // What the program's own tools do is done by the program: `scenarios/tools.rs` tries them.
            let is_own = name.starts_with("mcp__agent_collab");
            let known = is_own || HARMLESS.contains(&name) || tried(vendor).contains(&name);
            assert!(known, "nobody tries to write by {name} of {}", vendor.cli());
        }
    }
}

/// Returns every way to write that a model has, each with its own file.
fn attempts(vendor: Vendor) -> Vec<Tool> {
    let shell = |command: &str| Tool::Shell(command.to_owned());
    let write = |path: &str| Tool::Write {
        path: path.to_owned(),
        content: "evil\n".to_owned(),
    };
    let mut attempts = vec![
        Tool::Read("code.js".to_owned()),
        Tool::Edit {
            path: "code.js".to_owned(),
            old: "exports.double = (a) => a;".to_owned(),
            new: "evil".to_owned(),
        },
        shell("touch evil-shell.txt"),
        shell("echo evil > evil-redirect.txt"),
        shell("ls; touch evil-list.txt"),
        shell("cat code.js | tee evil-pipe.txt"),
        shell("git commit --allow-empty --message evil"),
        shell("touch door/evil-shell-link.txt"),
        Tool::Escalated("touch evil-escalated.txt".to_owned()),
        write("evil-tool.txt"),
        write("door/evil-tool-link.txt"),
        write(".agent-collab/evil-run-file.txt"),
    ];
    attempts.extend(own_attempts(vendor));
    attempts
}

fn evil(request: &Request) -> Reply {
    match brain::purpose_of(&request.prompt) {
        Purpose::WritePlan(_) | Purpose::Review(_) => {
            brain::after(&attempts(request.vendor), request)
        }
        Purpose::Respond(_)
        | Purpose::FirstStep
        | Purpose::SecondStep
        | Purpose::Summary
        | Purpose::Unclear => brain::honest(request),
    }
}

/// codex tries as planner, claude as reviewer.
pub fn usual(notes: &mut Notes) {
    play("before-execute-usual", USUAL, notes);
}

/// claude tries as planner, codex as reviewer.
pub fn swapped(notes: &mut Notes) {
    play("before-execute-swapped", SWAPPED, notes);
}

fn play(name: &str, cast: Cast, notes: &mut Notes) {
    let world = World::create(name, cast, evil);
    world.repository.open_door(&world.home);
    let files = world.repository.snapshot();
    let head = world.repository.git(&["rev-parse", "HEAD"]);
    let outcome = world.run(&[]);
    world.note(notes, &outcome);
    outcome.assert_code(3);
    assert!(
        format!("{}{}", outcome.finished.stdout, outcome.finished.stderr).contains("--yes-execute")
    );
    assert_eq!(
        world.state()["phase"],
        "APPROVED",
        "the attempts end no run"
    );
    assert_eq!(
        world.repository.snapshot(),
        files,
        "no file of the repository changed"
    );
    assert_eq!(
        world.repository.git(&["rev-parse", "HEAD"]),
        head,
        "no commit was made"
    );
    for folder in [
        world.outside("."),
        world.outside("elsewhere"),
        world.repository.root().join(".agent-collab"),
    ] {
        let names = fs::read_dir(folder)
            .expect("a folder")
            .flatten()
            .map(|entry| entry.file_name());
        let evil: Vec<_> = names
            .filter(|name| name.to_string_lossy().contains("evil"))
            .collect();
        assert!(evil.is_empty(), "{evil:?}");
    }
    for vendor in Vendor::ALL {
        assert_all_tried(&world, vendor);
    }
    notes.prove(AS_PLANNER, cast.planner, "nothing written");
    notes.prove(AS_REVIEWER, cast.reviewer, "nothing written");
}
