//! A goal becomes commits: a complete run with every cast of the two CLIs.

use regex::Regex;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::brain;
use crate::home;
use crate::model_server::script::Vendor;
use crate::report::Notes;
use crate::world::{Cast, SWAPPED, USUAL, World, of_kind};

/// codex plans and executes, claude reviews.
pub fn usual(notes: &mut Notes) {
    play("whole-run-usual", USUAL, notes, |world| {
        assert!(
            !world.home.global_config().exists(),
            "the environment and the CLIs' own configuration are enough"
        );
    });
}

/// claude plans and executes, codex reviews.
pub fn swapped(notes: &mut Notes) {
    play("whole-run-swapped", SWAPPED, notes, |_| {});
}

/// codex talks to codex; its native program instead of the npm wrapper.
pub fn codex_twice(notes: &mut Notes) {
    let cast = Cast {
        planner: Vendor::Openai,
        reviewer: Vendor::Openai,
    };
    play("whole-run-codex", cast, notes, |world| {
        world.configure(&format!(
            "[adapters.codex]\nprogram = \"{}\"\n",
            home::native_codex().display()
        ));
    });
}

/// claude talks to claude.
pub fn claude_twice(notes: &mut Notes) {
    let cast = Cast {
        planner: Vendor::Anthropic,
        reviewer: Vendor::Anthropic,
    };
    play("whole-run-claude", cast, notes, |_| {});
}

fn play(name: &str, cast: Cast, notes: &mut Notes, prepare: impl Fn(&World)) {
    let world = World::create(name, cast, brain::honest);
    prepare(&world);
    let outcome = world.run(&["--yes-execute"]);
    world.note(notes, &outcome);
    outcome.assert_code(0);
    assert_run_is_done(&world, &outcome.events);
    for vendor in [cast.planner, cast.reviewer] {
        assert!(
            notes.versions.contains_key(&vendor),
            "the running {} told its version",
            vendor.cli()
        );
        assert!(
            world.server.n_requests(vendor) > 0,
            "{} asked its model",
            vendor.cli()
        );
    }
    assert_conversation_goes_on(&world, cast);
    notes.prove(
        "plans, answers the review and executes",
        cast.planner,
        "yes",
    );
    notes.prove("reviews", cast.reviewer, "yes");
}

/// The planner has one conversation from the plan to the last step: codex in one process, claude restarted
/// with `--resume` when what it may write changes.
fn assert_conversation_goes_on(world: &World, cast: Cast) {
    let bodies = world.server.bodies(cast.planner);
    let last_step = bodies
        .iter()
        .rfind(|body| body.contains("[agent-collab EXECUTE step 2]"))
        .expect("the second step is asked of the planner");
    for earlier in [
        "[agent-collab WRITE_PLAN]",
        "[agent-collab RESPOND",
        "[agent-collab EXECUTE step 1]",
    ] {
        assert!(
            last_step.contains(earlier),
            "{earlier} is missing in the history of step 2"
        );
    }
    let state = world.state();
    let id = state["planner"]["id"]
        .as_str()
        .expect("the planner's session");
    let raw = world.run_file(&format!("sessions/{id}/raw.jsonl"));
    let n_starts = raw.lines().filter(|line| is_handshake(line)).count();
    // claude for what it may write, codex for the tools that it has.
    assert_eq!(
        n_starts,
        3,
        "before EXECUTE, in it, and for the summary; the program's log:\n{}",
        world.run_file("debug.log")
    );
}

/// Returns whether a line of the raw stream is the first that we send to a new process.
fn is_handshake(line: &str) -> bool {
    let line: Value = serde_json::from_str(line).unwrap_or_default();
    let frame = &line["frame"];
    line["from"] == "us"
        && (frame["method"] == "initialize" || frame["request"]["subtype"] == "initialize")
}

/// One review with changes required, then approval; every step ticked, tested and committed; three records agree.
pub(super) fn assert_run_is_done(world: &World, events: &[Value]) {
    let state = world.state();
    let plan = world.run_file("plan.md");
    assert_eq!(state["phase"], "DONE");
    assert!(
        !plan.contains("[ ]") && plan.matches("[x]").count() == 2,
        "{plan}"
    );
    assert_eq!(state["verdict"]["value"], "APPROVED");
    assert_eq!(state["verdict"]["plan_sha256"], approval_hash(&plan));
    let verdicts: Vec<&Value> = of_kind(events, "review.committed")
        .map(|event| &event["data"]["review"]["verdict"])
        .collect();
    assert_eq!(verdicts, ["CHANGES_REQUIRED", "APPROVED"]);
    assert!(
        world
            .run_file("comments.md")
            .contains("1. accepted: the risks are named now")
    );
    assert!(
        world.repository.tests_pass(&world.home),
        "the test that failed before passes now"
    );
    let steps = steps_of_git(world);
    assert_eq!(
        steps.iter().map(|step| step.n.as_str()).collect::<Vec<_>>(),
        ["1", "2"]
    );
    assert_eq!(steps, steps_of_state(&state));
    assert_eq!(steps, steps_of_log(world));
    assert!(
        steps
            .iter()
            .all(|step| step.receipt.starts_with("tests passed")),
        "{steps:#?}"
    );
    assert_eq!(
        world
            .repository
            .git(&["status", "--porcelain", "--", ".", ":!.agent-collab"]),
        "",
        "nothing is left uncommitted"
    );
}

/// One step as each of the three records shows it.
#[derive(Debug, PartialEq, Eq)]
struct Record {
    n: String,
    commit: String,
    receipt: String,
}

fn steps_of_git(world: &World) -> Vec<Record> {
    let log = world
        .repository
        .git(&["log", "--reverse", "--format=%H%x00%B%x01"]);
    let pattern = Regex::new(
        r"(?s)^\s*([0-9a-f]{40})\x00\[Step (\d+)\] .*?(tests passed[^\n]*|not tested[^\n]*)",
    )
    .expect("a valid pattern");
    let commits = log
        .split('\x01')
        .filter_map(|commit| pattern.captures(commit));
    commits
        .map(|found| Record {
            n: found[2].to_owned(),
            commit: found[1].to_owned(),
            receipt: found[3].to_owned(),
        })
        .collect()
}

fn steps_of_state(state: &Value) -> Vec<Record> {
    let done = state["execution"]["done"]
        .as_array()
        .expect("the steps that are through");
    done.iter()
        .map(|step| {
            let receipt: agent_collab::domain::receipt::Receipt =
                serde_json::from_value(step["receipt"].clone()).expect("a receipt");
            Record {
                n: step["n"].to_string(),
                commit: step["outcome"]["commit"]
                    .as_str()
                    .expect("a commit")
                    .to_owned(),
                receipt: receipt.describe(),
            }
        })
        .collect()
}

fn steps_of_log(world: &World) -> Vec<Record> {
    let log = world.run_file("log.md");
    let pattern = Regex::new(r"(?s)^(\d+): .*?\n- tests: ([^\n]+)\n.*?\n- commit: ([0-9a-f]{40}) ")
        .expect("a valid pattern");
    log.split("\n## Step ")
        .skip(1)
        .map(|entry| {
            let found = pattern
                .captures(entry)
                .expect("a step with its tests and commit");
            Record {
                n: found[1].to_owned(),
                commit: found[3].to_owned(),
                receipt: found[2].to_owned(),
            }
        })
        .collect()
}

/// Computes what an approval binds to, independently of the program: the SHA-256 of the body after the
/// front matter, every box empty.
fn approval_hash(plan: &str) -> String {
    let front_matter = Regex::new(r"(?s)\A---\n.*?\n---\n").expect("a valid pattern");
    let boxes = Regex::new(r"(?m)^(\s{0,3}\d+[.)] \[)[xX ]\]").expect("a valid pattern");
    let body = front_matter.replace(plan, "");
    let normal = boxes.replace_all(&body, "${1} ]");
    Sha256::digest(normal.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
