//! Plays the demo's scripts through the ordinary adapters.

use std::collections::VecDeque;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::workspace::{PROJECT, SCRIPTS};
use super::*;
use crate::adapter::DecisionWait;
use crate::adapter::{
    Adapter, AdapterCommand, AdapterEvent, AdapterOutput, CallDecision, CliTurnOutcome,
    SessionSpec, TurnAccess, TurnSpec, claude, codex,
};
use crate::domain::findings::evidence::EvidenceSource;
use crate::domain::findings::review_facts::{ReviewSources, assess_responses, assess_review};
use crate::domain::findings::{
    DisputeSide, Finding, FindingLedger, ReviewOutcome, UnsupportedFindings,
};
use crate::domain::ids::TurnId;
use crate::domain::review::{self, Verdict};
use crate::permission::AgentToolCall;
use crate::scripted::ScriptedProgram;
use crate::scripted::test_harness::{
    ScriptedAgentHarness, answer_claude_request, start_claude_turn, start_codex_turn,
};

fn demo() -> (tempfile::TempDir, DemoWorkspace) {
    demo_with(&[])
}

fn demo_with(scenes: &[&str]) -> (tempfile::TempDir, DemoWorkspace) {
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new("/bin/agent-collab");
    let scenes: Vec<DemoScene> = scenes
        .iter()
        .map(|name| DemoScene::from_str(name, false).unwrap())
        .collect();
    let demo = create_demo(folder.path(), program, DemoSpeed::Fast, &scenes).unwrap();
    (folder, demo)
}

/// Returns planner and reviewer with the scripts of a demo.
fn agents(demo: &DemoWorkspace) -> [ScriptedAgentHarness; 2] {
    [ScriptedProgram::Codex, ScriptedProgram::Claude].map(|guise| {
        let script = demo.folder.join("scripts");
        let script = script.join(format!("{}.toml", guise.name()));
        let script = std::fs::read_to_string(script).unwrap();
        ScriptedAgentHarness::new(guise, &script, &[], &demo.root)
    })
}

/// Runs the project's tests and returns their last line.
fn test(demo: &DemoWorkspace) -> String {
    let output = Command::new("sh")
        .arg("tests/run.sh")
        .current_dir(&demo.root)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let last = said.lines().last().unwrap_or_default().to_owned();
    format!("{} ({last})", output.status.code().unwrap())
}

fn prompt(demo: &DemoWorkspace, header: &str) -> String {
    let staging = demo.root.join(".agent-collab/turns/s");
    let [plan, comments] = ["plan.md", "comments.md"].map(|name| staging.join(name));
    format!(
        "[agent-collab {header}]\n\nWrite to `{}` and `{}`.",
        plan.display(),
        comments.display()
    )
}

fn staged(demo: &DemoWorkspace, name: &str) -> String {
    std::fs::read_to_string(demo.root.join(".agent-collab/turns/s").join(name)).unwrap()
}

/// Plays one turn of the planner with `decision` for every request; returns the last message.
fn play_codex(
    codex: &ScriptedAgentHarness,
    demo: &DemoWorkspace,
    header: &str,
    decision: &str,
) -> String {
    let execute = header.starts_with("EXECUTE");
    let sandbox = if execute {
        "workspace-write"
    } else {
        "read-only"
    };
    codex.send_frame(json!({"id": 1, "method": "initialize", "params": {}}));
    codex.send_frame(json!({"id": 2, "method": "thread/start", "params": {"sandbox": sandbox, "cwd": demo.root}}));
    let opened = codex
        .read_until(|frame| frame["method"] == "thread/started")
        .pop()
        .unwrap();
    let thread = opened["params"]["thread"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    start_codex_turn(codex, &thread, &prompt(demo, header));
    loop {
        let frame = codex.read_until(|_| true).remove(0);
        if frame["method"] == "turn/completed" {
            assert_eq!(frame["params"]["turn"]["status"], "completed", "{frame}");
            return frame["params"]["turn"]["items"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned();
        }
        if frame["method"].is_string() && frame.get("id").is_some() {
            codex.send_frame(json!({"id": frame["id"], "result": {"decision": decision}}));
        }
    }
}

fn play_claude(claude: &ScriptedAgentHarness, demo: &DemoWorkspace, header: &str) -> String {
    start_claude_turn(claude, &prompt(demo, header));
    loop {
        let frame = claude.read_until(|_| true).remove(0);
        if frame["type"] == "control_request" {
            answer_claude_request(claude, &frame, json!({"behavior": "allow"}));
        }
        if frame["type"] == "result" {
            assert_eq!(frame["is_error"], false, "{frame}");
            return staged(demo, "comments.md");
        }
    }
}

#[test]
fn the_whole_demo_plays_and_its_tests_fail_and_pass_where_they_should() {
    let (_folder, demo) = demo();
    let [codex, claude] = agents(&demo);
    assert_eq!(test(&demo), "1 (3 passed, 1 failed)");
    play_codex(&codex, &demo, "WRITE_PLAN", "accept");
    let first = crate::domain::plan::parse(&staged(&demo, "plan.md")).unwrap();
    let review = play_claude(&claude, &demo, "REVIEW 1");
    assert!(review.starts_with("[CHANGES_REQUIRED]\n"));
    play_codex(&codex, &demo, "RESPOND 1", "accept");
    let plan = crate::domain::plan::parse(&staged(&demo, "plan.md")).unwrap();
    assert_ne!(first.approval_sha256, plan.approval_sha256);
    assert_eq!(
        (plan.steps.len(), plan.test_command.as_deref()),
        (3, Some("sh tests/run.sh"))
    );
    assert!(play_claude(&claude, &demo, "REVIEW 2").starts_with("[APPROVED]\n"));
    std::fs::remove_dir_all(demo.root.join(".agent-collab")).unwrap();
    for (header, expected) in [
        ("EXECUTE step 1", "0 (4 passed, 0 failed)"),
        ("EXECUTE step 2", "1 (5 passed, 2 failed)"),
        ("EXECUTE fix 2.1", "0 (7 passed, 0 failed)"),
        ("EXECUTE step 3", "0 (13 passed, 0 failed)"),
        ("EXECUTE summary", "0 (13 passed, 0 failed)"),
    ] {
        let title = play_codex(&codex, &demo, header, "decline");
        assert!(header.ends_with("summary") || title.len() <= 60, "{title}");
        assert_eq!(test(&demo), expected, "{header}");
    }
}

#[test]
fn what_the_reviewer_cites_is_there() {
    let lines: Vec<&str> = PROJECT[1].1.lines().collect();
    for (line, holds) in [
        (4, "LC_ALL=C"),
        (12, "a star in a text is a word, not a pattern"),
        (27, "for file in \"$@\""),
    ] {
        assert!(
            lines[line - 1].contains(holds),
            "{line}: {}",
            lines[line - 1]
        );
        assert!(
            SCRIPTS[1].1.contains(&format!("wordstat.sh:{line} ")),
            "{line}"
        );
    }
}

/// The files of a demo, as evidence.
struct DemoFiles<'a>(&'a DemoWorkspace);

impl EvidenceSource for DemoFiles<'_> {
    fn read_file(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.0.root.join(path)).ok()
    }

    fn command_output(&self, _command: &str) -> Option<String> {
        None
    }
}

/// Plays a review and applies it to the ledger.
fn review(
    claude: &ScriptedAgentHarness,
    demo: &DemoWorkspace,
    ledger: &mut FindingLedger,
    plans: &[String],
) -> ReviewOutcome {
    let n = u32::try_from(plans.len()).unwrap();
    let text = play_claude(claude, demo, &format!("REVIEW {n}"));
    let review = review::parse(&text, ledger);
    let (plan, earlier_plans) = plans.split_last().unwrap();
    let evidence = &DemoFiles(demo);
    let unopened = Some(Vec::new());
    let sources = ReviewSources {
        plan,
        earlier_plans,
        evidence,
        unopened,
    };
    let facts = assess_review(&review, ledger, &sources);
    ledger.apply_review(&review, &facts, n, UnsupportedFindings::CountAsMinor)
}

/// Plays the planner's answers and applies them to the ledger; returns the plan after them.
fn respond(
    codex: &ScriptedAgentHarness,
    demo: &DemoWorkspace,
    ledger: &mut FindingLedger,
    before: &str,
) -> String {
    let header = format!("RESPOND {}", ledger.review_count());
    play_codex(codex, demo, &header, "accept");
    let mut responses = review::parse_responses(&staged(demo, "comments.md"));
    let after = staged(demo, "plan.md");
    assess_responses(&mut responses, ledger, before, &after, &DemoFiles(demo));
    for response in &responses {
        let check = response.check.as_ref().unwrap();
        assert!(check.is_verified(), "{}: {check:?}", response.n);
    }
    ledger.apply_responses(&responses);
    after
}

#[test]
fn in_the_dispute_all_evidence_is_true_and_whoever_is_right_the_plan_is_approved() {
    for side in [DisputeSide::Reviewer, DisputeSide::Planner] {
        let (_folder, demo) = demo_with(&["dispute"]);
        let [codex, claude] = agents(&demo);
        let mut ledger = FindingLedger::default();
        play_codex(&codex, &demo, "WRITE_PLAN", "accept");
        let mut plans = vec![staged(&demo, "plan.md")];
        let first = review(&claude, &demo, &mut ledger, &plans);
        assert_eq!(first.verdict, Verdict::ChangesRequired);
        assert!(ledger.all().iter().all(Finding::is_proven), "{ledger:?}");
        let after = respond(&codex, &demo, &mut ledger, &plans[0]);
        plans.push(after);
        let second = review(&claude, &demo, &mut ledger, &plans);
        assert_eq!((second.disputes, second.unproven_fixes), (vec![3], vec![]));
        let newest = ledger.get(3).unwrap().record.new_evidence.clone().unwrap();
        assert!(newest.check.is_verified(), "{newest:?}");
        ledger.decide_dispute(3, side);
        let after = match side {
            DisputeSide::Reviewer => respond(&codex, &demo, &mut ledger, &plans[1]),
            DisputeSide::Planner => plans[1].clone(),
        };
        plans.push(after);
        let third = review(&claude, &demo, &mut ledger, &plans);
        assert_eq!(third.verdict, Verdict::Approved, "{third:?}");
    }
}

#[test]
fn every_scene_is_in_the_documentation_and_its_turns_are_a_script() {
    let page = include_str!("../../../docs/scripted-agents.md");
    let mut names = Vec::new();
    for scene in DemoScene::value_variants() {
        let (first, rest) = scene.help.split_at(1);
        let row = format!("| `{}` | {}{rest} |", scene.name, first.to_lowercase());
        assert!(page.contains(&row), "{row}");
        for (name, story) in SCRIPTS {
            let script = scene.add_to_script(name, story).unwrap();
            let script: Value = toml::from_str(&script).unwrap();
            let is_unjoined = |turn: &Value| turn.get("join").is_some();
            assert!(!script["turn"].as_array().unwrap().iter().any(is_unjoined));
        }
        names.push(scene.name);
    }
    let n = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), n, "two scenes have the same name");
}

#[test]
fn scenes_continue_with_what_others_replace_whatever_the_order_of_the_flags() {
    let turns = |scenes: &[&str]| {
        let (_folder, demo) = demo_with(scenes);
        std::fs::read_to_string(demo.folder.join("scripts/claude.toml")).unwrap()
    };
    let both = turns(&["question", "dispute"]);
    assert_eq!(both, turns(&["dispute", "question", "question"]));
    let script: Value = toml::from_str(&both).unwrap();
    let first = script["turn"][0]["action"].to_string();
    assert!(first.contains("occur equally often"), "{first}");
    assert!(first.contains("A file named `--top`"), "{first}");
}

#[test]
fn the_repository_is_clean_has_one_commit_and_its_own_identity() {
    let (_folder, demo) = demo();
    let ask = |arguments: &[&str]| {
        let output = Command::new("git")
            .arg("-C")
            .arg(&demo.root)
            .args(arguments)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(ask(&["status", "--porcelain"]), "");
    assert_eq!(
        ask(&["log", "--format=%an <%ae> %s"]),
        "agent-collab demo <demo@agent-collab.invalid> wordstat, with a failing test"
    );
    assert_eq!(ask(&["branch", "--show-current"]), "main");
}

#[test]
fn the_configuration_names_the_program_and_both_scripts() {
    let (folder, demo) = demo();
    let text = std::fs::read_to_string(&demo.config_file).unwrap();
    let config: Value = toml::from_str(&text).unwrap();
    for name in ["codex", "claude"] {
        let adapter = &config["adapters"][name];
        let script = folder.path().join("scripts").join(format!("{name}.toml"));
        assert_eq!(adapter["program"], "/bin/agent-collab");
        assert_eq!(
            adapter["args"],
            json!(["scripted-agent", "--as", name, "--script", script, "--fast"])
        );
    }
}

#[test]
fn a_folder_that_holds_something_is_refused() {
    let made = tempfile::tempdir().unwrap();
    let inside = made.path().join("new");
    assert_eq!(
        open_demo_folder(Some(&inside)).unwrap(),
        DemoFolder::Empty(inside.canonicalize().unwrap())
    );
    let refused = open_demo_folder(Some(made.path())).unwrap_err().to_string();
    assert!(refused.contains("is not empty"), "{refused}");
}

fn session(demo: &DemoWorkspace) -> SessionSpec {
    SessionSpec {
        cwd: demo.root.clone(),
        staging: demo.root.join(".agent-collab/turns/s"),
        ..SessionSpec::example("x")
    }
}

/// Plays a prompt through the ordinary adapter, allows edits and denies everything else; returns the result.
fn adapted(
    adapter: &mut dyn Adapter,
    guise: ScriptedProgram,
    demo: &DemoWorkspace,
    header: &str,
    access: TurnAccess,
) -> String {
    let turn = TurnSpec {
        turn: TurnId::new("trn_1"),
        prompt: prompt(demo, header),
        access,
        hidden_permissions: Vec::new(),
    };
    let launch = adapter.prepare_launch(&session(demo), &turn);
    let arguments: Vec<&str> = launch.args.iter().map(String::as_str).collect();
    let script = SCRIPTS
        .iter()
        .find(|(name, _)| name.starts_with(guise.name()))
        .unwrap()
        .1;
    let puppet = ScriptedAgentHarness::new(guise, script, &arguments, &demo.root);
    let mut outputs: VecDeque<AdapterOutput> =
        adapter.on_command(AdapterCommand::StartTurn(turn)).into();
    let mut told = Vec::new();
    loop {
        match outputs.pop_front() {
            None => {
                let line = puppet.read_until(|_| true).remove(0).to_string();
                outputs.extend(adapter.on_stdout_line(&line));
            }
            Some(AdapterOutput::Send(line)) => puppet.send_line(line.trim_end()),
            Some(AdapterOutput::Event(AdapterEvent::ApprovalRequested(asking))) => {
                let request = asking.request;
                let order = match (asking.wait, &asking.call) {
                    (DecisionWait::UntilUserDecides, call) => {
                        let (asked, decision) = decide(call);
                        told.push(asked);
                        AdapterCommand::DecideApproval(request, decision)
                    }
                    (DecisionWait::ImmediateOnly, AgentToolCall::Read { .. }) => {
                        AdapterCommand::DecideApproval(request, CallDecision::Allow)
                    }
                    (DecisionWait::ImmediateOnly, _) => AdapterCommand::AskUserFirst(request),
                };
                outputs.extend(adapter.on_command(order));
            }
            Some(AdapterOutput::Event(AdapterEvent::TurnEnded(end))) => {
                puppet.close_input();
                return told.join("\n") + "\n" + &last_line(end);
            }
            Some(AdapterOutput::Event(event)) => told.extend(noteworthy(event)),
            Some(
                AdapterOutput::CloseInput | AdapterOutput::Relaunch | AdapterOutput::AnswerHook(..),
            ) => told.push("the process is given up".to_owned()),
        }
    }
}

fn decide(call: &AgentToolCall) -> (String, CallDecision) {
    match call {
        AgentToolCall::Edit { .. } => ("asked: edit".to_owned(), CallDecision::Allow),
        _ => (
            "asked: other".to_owned(),
            CallDecision::Deny {
                reason: "no".to_owned(),
            },
        ),
    }
}

fn noteworthy(event: AdapterEvent) -> Option<String> {
    match event {
        AdapterEvent::Unknown { kind, .. } => Some(format!("unknown: {kind}")),
        AdapterEvent::Malformed { problem, .. } => Some(format!("malformed: {problem}")),
        AdapterEvent::ToolEnded {
            status, exit_code, ..
        } => Some(format!(
            "tool: {status:?} {}",
            exit_code.unwrap_or_default()
        )),
        _ => None,
    }
}

fn last_line(end: CliTurnOutcome) -> String {
    match end {
        CliTurnOutcome::Completed { final_text } => {
            final_text.lines().last().unwrap_or_default().to_owned()
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn the_ordinary_adapters_understand_every_frame_of_the_demo() {
    let (_folder, demo) = demo();
    let mut told = Vec::new();
    for turn in [
        ("WRITE_PLAN", TurnAccess::ReadOnly),
        ("RESPOND 1", TurnAccess::ReadOnly),
        ("EXECUTE step 1", TurnAccess::Workspace),
        ("EXECUTE step 2", TurnAccess::Workspace),
        ("EXECUTE fix 2.1", TurnAccess::Workspace),
        ("EXECUTE step 3", TurnAccess::Workspace),
        ("EXECUTE summary", TurnAccess::ReadOnly),
    ] {
        told.push(format!(
            "-- {}\n{}",
            turn.0,
            adapted(
                &mut codex::CodexAdapter::default(),
                ScriptedProgram::Codex,
                &demo,
                turn.0,
                turn.1
            )
        ));
    }
    for turn in [
        ("REVIEW 1", TurnAccess::ReadOnly),
        ("REVIEW 2", TurnAccess::ReadOnly),
    ] {
        std::fs::remove_dir_all(demo.root.join("memory")).unwrap();
        told.push(format!(
            "-- {}\n{}",
            turn.0,
            adapted(
                &mut claude::ClaudeAdapter::default(),
                ScriptedProgram::Claude,
                &demo,
                turn.0,
                turn.1
            )
        ));
    }
    insta::assert_snapshot!("adapted", told.join("\n"));
}
