//! Tests `agent-collab permissions`: many cases at once, one command, reasons, stored approvals, and an old run with
//! today's rules.

use std::io::Write;
use std::process::Stdio;

use agent_collab::domain::ids::{RunId, UnixMillis};
use agent_collab::permission::{ApprovalMatcher, ApprovalScope, StoredApproval};
use agent_collab::store::approval_store::ApprovalStore;
use serde_json::{Value, json};

use crate::script::{Agent, say, write};
use crate::world::World;

/// Lines into a batch, the exit code and what each line was answered.
fn batch(world: &World, lines: &str) -> (Option<i32>, Vec<Value>) {
    let mut child = world
        .command(&["permissions", "check", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program");
    let mut stdin = child.stdin.take().expect("stdin");
    let lines = lines.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let out = child.wait_with_output().expect("its end");
    writer.join().expect("writer").expect("written");
    let told = String::from_utf8(out.stdout).expect("UTF-8");
    let told = told
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    (out.status.code(), told.collect())
}

#[test]
fn a_batch_answers_each_line_in_its_place() {
    let world = World::without_git();
    let lines = r#"{"id":"1","cmd":"sudo make"}
{"id":"2","cmd":"ls"}
nonsense
{"id":"4","rules":[["edit","*","deny"],["edit","docs/*","allow"]],"tool":"edit","target":"docs/../src/a"}
{"id":"5","rules":[],"tool":"bash","target":"make","approvals":[{"tool":"bash","target":"make","scope":"exact"}]}
"#;
    let (code, told) = batch(&world, lines);
    assert_eq!(code, Some(1));
    let word = |at: usize, key: &str| told[at][key].as_str().unwrap_or_default().to_owned();
    assert_eq!(word(0, "class"), "dangerous");
    assert_eq!(word(1, "class"), "safe");
    assert!(word(2, "error").contains("line 3"), "{told:?}");
    assert_eq!(word(3, "decision"), "deny");
    assert_eq!(word(4, "decision"), "allow");
}

#[test]
fn thousands_of_cases_are_answered_and_a_large_one_too() {
    let world = World::without_git();
    let mut lines: String = (0..2_000)
        .map(|n| {
            format!(
                "{}\n",
                json!({ "id": n, "cmd": format!("ls {n} && git status") })
            )
        })
        .collect();
    let long = "ls && ".repeat(10_000) + "ls";
    lines.push_str(&format!("{}\n", json!({ "id": "long", "cmd": long })));
    let (code, told) = batch(&world, &lines);
    assert_eq!((code, told.len()), (Some(0), 2_001));
    assert_eq!(told[1_999]["id"], 1_999);
}

#[test]
fn one_command_is_told_in_words_with_what_holds_it_back() {
    let world = World::without_git();
    world
        .program(&["permissions", "check", "ls && sudo make"])
        .ends(0)
        .says("dangerous")
        .says("ls && sudo make\n        ^^^^");
    world
        .program(&["permissions", "check", "--", "ls", "-la"])
        .ends(0)
        .says("safe");
    world.program(&["permissions", "check"]).ends(2);
    world
        .program(&["permissions", "check", "--help"])
        .ends(0)
        .says("`approvals`")
        .says("confirm");
}

#[test]
fn a_decision_is_explained_with_the_rule_and_its_line() {
    let world = World::new();
    world.put(
        "own.toml",
        "[[permission.rule]]\npermission = \"bash\"\npattern = \"cargo *\"\naction = \"allow\"\n",
    );
    let explain = |more: &[&str]| {
        let mut arguments = vec!["permissions", "explain", "--config", "own.toml"];
        arguments.extend(more);
        world.program(&arguments)
    };
    explain(&["bash", "cargo test"])
        .ends(0)
        .says("allow: bash \"cargo *\" allow (own.toml:1:1)");
    explain(&["bash", "cargo test && make"])
        .ends(0)
        .says("ask:");
    explain(&["bash", "cargo test", "--phase", "review"])
        .ends(0)
        .says("deny: phase (floor: phase)");
    explain(&["edit", ".git/config", "--mode", "yolo"])
        .ends(0)
        .says("floor: protected paths");
    explain(&["read", "x", "--agent", "explor"])
        .ends(2)
        .complains("explore");
    explain(&["nope", "x"])
        .ends(2)
        .complains("unknown tool \"nope\"")
        .complains("mcp__SERVER__TOOL");
    explain(&["mcp__docs__search", "x"]).ends(0);
    let ran = explain(&["edit", "src/a", "--json"]);
    let told: Value = serde_json::from_str(&ran.ends(0).out).expect("JSON");
    assert_eq!(told["decision"], "allow");
    assert_eq!(told["origin"], "the built-in profile build");
}

#[test]
fn approvals_are_listed_and_taken_back() {
    let world = World::new();
    let folder = world
        .folder
        .join("home/.local/state/agent-collab/approvals");
    let approvals = ApprovalStore::new(&folder, &world.root);
    world
        .program(&["permissions", "list"])
        .ends(0)
        .says("no approvals for more than one call");
    let approved = |text: &str| StoredApproval {
        profile: "build".to_owned(),
        permission: "bash".to_owned(),
        what: ApprovalMatcher::Pattern(text.to_owned()),
        scope: ApprovalScope::Project,
    };
    let new = [approved("make *"), approved("ls *")];
    let run = RunId::new("run_1");
    approvals
        .add(&run, UnixMillis(1_700_000_000_000), &new)
        .expect("kept");
    world
        .program(&["permissions", "explain", "bash", "make all"])
        .ends(0)
        .says("allow: bash \"make *\" (approved for this project)")
        .says("you approved what it asks");
    world
        .program(&["permissions", "list"])
        .ends(0)
        .says("make *")
        .says("2023-11-14")
        .says("this project");
    world
        .program(&["permissions", "revoke", "1"])
        .ends(0)
        .says("revoked")
        .says("make *");
    world.program(&["permissions", "revoke", "1"]).ends(2);
    let ran = world.program(&["permissions", "list", "--json"]);
    let told: Value = serde_json::from_str(&ran.ends(0).out).expect("JSON");
    assert_eq!(
        (&told[0]["id"], told.as_array().map(Vec::len)),
        (&json!(2), Some(1))
    );
    world.program(&["permissions", "revoke", "--all"]).ends(0);
    assert!(approvals.list().expect("list").is_empty());
}

#[test]
fn the_calls_of_a_run_are_decided_by_today_s_rules() {
    let world = World::new();
    let asked = json!({ "do": "command", "run": "touch asked.txt", "ask": "always" });
    let planner =
        Agent::planning(&["Write"]).step(1, vec![asked, write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&planner, &Agent::approving());
    world.run(&[]).ends(0);
    let ran = world.program(&["permissions", "replay", "--all"]);
    ran.ends(0).says("decided differently today");
    world.put(
        "mild.toml",
        "[[permission.rule]]\npermission = \"bash\"\npattern = \"touch *\"\naction = \"allow\"\n",
    );
    let ran = world.program(&["permissions", "replay", "--config", "mild.toml", "--json"]);
    let told: Value = serde_json::from_str(&ran.ends(0).out).expect("JSON");
    let calls = told.as_array().expect("calls");
    let made = calls.iter().find(|call| {
        call["targets"][0]
            .as_str()
            .is_some_and(|command| command.contains("touch asked.txt"))
    });
    let made = made.expect("the step's command");
    assert_eq!(
        (&made["then"], &made["now"]),
        (&json!("ask"), &json!("allow"))
    );
    assert_eq!(made["origin"], "mild.toml:1:1");
    world
        .program(&["permissions", "replay", "nosuchrun"])
        .ends(2);
}

#[test]
fn explain_says_that_a_command_reads_what_rules_ask_about_and_which_rule_it_is() {
    World::without_git()
        .program(&["permissions", "explain", "bash", "cat .env"])
        .says(
            "ask: read \".env\" ask (the built-in profile build)\n  a rule asks for read `.env`\n",
        )
        .says("call                            needs read for `.env`\n");
}

#[test]
fn a_replay_knows_the_turns_own_folder() {
    let world = World::new();
    let planner = Agent::planning(&["Write"]).step(1, vec![write("new.txt", "n\n"), say("Wrote.")]);
    world.cast(&planner, &Agent::approving());
    world.run(&[]).ends(0);
    let ran = world.program(&["permissions", "replay"]);
    ran.ends(0).says("0 of them decided differently today");
    let ran = world.program(&["permissions", "replay", "--all"]);
    ran.ends(0)
        .says("/plan.md\n  then  allow")
        .says("/comments.md\n  then  allow");
}
