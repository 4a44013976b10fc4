//! Steps are proven while the real CLIs write code and tests, and a clone of the repository confirms each check.

use std::process::Command;

use serde_json::Value;

use crate::brain::{self, Purpose};
use crate::model_server::script::{Reply, Request, Tool};
use crate::report::Notes;
use crate::world::{Cast, SWAPPED, USUAL, World};

const PLAN: &str = "# Task: Make `double` double

## Steps
1. [ ] Make `double` double in code.js
   Files: code.js, test/double.test.js
   Test first: test/double.test.js
2. [ ] Say `double` in code.js as a sum
   Files: code.js
   Keeps behaviour
";

const TEST: &str = r#"const assert = require("node:assert");
const test = require("node:test");
const { double } = require("../code.js");
test("double doubles a negative number", () => assert.strictEqual(double(-3), -6));
"#;

/// codex plans and executes, claude reviews.
pub fn usual(notes: &mut Notes) {
    play("proven-usual", USUAL, notes);
}

/// claude plans and executes, codex reviews.
pub fn swapped(notes: &mut Notes) {
    play("proven-swapped", SWAPPED, notes);
}

fn proving(request: &Request) -> Reply {
    let read = || Tool::Read("code.js".to_owned());
    let edit = |old: &str, new: &str| Tool::Edit {
        path: "code.js".to_owned(),
        old: old.to_owned(),
        new: new.to_owned(),
    };
    let doubled = "exports.double = (a) => 2 * a;";
    let (calls, last) = match brain::purpose_of(&request.prompt) {
        Purpose::WritePlan(path) => {
            let content = PLAN.to_owned();
            let calls = vec![Tool::Write { path, content }];
            (calls, "The plan is written.".to_owned())
        }
        Purpose::Review(_) => {
            let look = Tool::Shell("cat .agent-collab/plan.md code.js".to_owned());
            (vec![look], "[APPROVED]\n".to_owned())
        }
        Purpose::FirstStep => {
            let test = Tool::Write {
                path: "test/double.test.js".to_owned(),
                content: TEST.to_owned(),
            };
            let calls = vec![read(), test, edit("exports.double = (a) => a;", doubled)];
            (calls, brain::done("`double` doubles now."))
        }
        Purpose::SecondStep => {
            let calls = vec![read(), edit(doubled, "exports.double = (a) => a + a;")];
            (calls, brain::done("`double` is a sum now."))
        }
        Purpose::Respond(_) | Purpose::Summary | Purpose::Unclear => {
            return brain::honest(request);
        }
    };
    match calls.into_iter().nth(request.n_outputs()) {
        Some(call) => Reply::call(call),
        None => Reply::text(last),
    }
}

fn play(name: &str, cast: Cast, notes: &mut Notes) {
    let world = World::create(name, cast, proving);
    // A test of the repository fails before step 1, and the plan does not name it.
    let accepts = ["--answer", "red_baseline=accept"];
    let outcome = world.run(&[
        "--yes-execute",
        "-s",
        "test.proof=full",
        accepts[0],
        accepts[1],
    ]);
    world.note(notes, &outcome);
    outcome.assert_code(0);
    let state = world.state();
    let done = state["execution"]["done"].as_array().expect("steps");
    let statuses: Vec<&Value> = done
        .iter()
        .map(|step| &step["proof"]["status"]["status"])
        .collect();
    assert_eq!(statuses, ["proven", "proven"], "{done:#?}");
    assert_trailers(&world);
    let verified = world.program(&["verify"]);
    assert_eq!(verified.code(), 0, "{}{}", verified.stdout, verified.stderr);
    assert_clone_confirms(&world);
    let what = "executes steps that the program proves and a clone confirms";
    notes.prove(what, cast.planner, "yes");
}

/// Each step's commit names the step, the approved plan and a receipt of its own.
fn assert_trailers(world: &World) {
    let values = |key: &str| {
        let format = format!("--format=%(trailers:key={key},valueonly,separator=%x2C)");
        let range = ["log", "--reverse", "-2", &format];
        let text = world.repository.git(&range);
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(values("Agent-Collab-Step"), ["1", "2"]);
    let plans = values("Agent-Collab-Plan");
    assert!(plans.len() == 2 && plans[0] == plans[1], "{plans:?}");
    let receipts = values("Agent-Collab-Receipt");
    assert!(receipts.len() == 2 && receipts[0] != receipts[1]);
    for hash in receipts.iter().chain(&plans) {
        assert_eq!(hash.len(), 64, "{hash}");
    }
}

/// A clone that got nothing but the receipts runs each check again, with the same result.
fn assert_clone_confirms(world: &World) {
    let clone = world.outside("clone");
    let path = clone.display().to_string();
    world
        .repository
        .git(&["clone", "--quiet", "--no-local", ".", &path]);
    let from = world.repository.root().join(".agent-collab/receipts");
    let folder = clone.join(".agent-collab");
    std::fs::create_dir(&folder).expect("a folder in the clone");
    let copied = Command::new("cp").arg("-a").args([&from, &folder]).status();
    assert!(copied.is_ok_and(|status| status.success()), "cp");
    let again = world.program_in(&clone, &["verify", "--rerun", "--json"]);
    assert_eq!(again.code(), 0, "{}{}", again.stdout, again.stderr);
    let report = again.json_lines().pop().expect("a report");
    let reruns = report["runs"][0]["reruns"].as_array().expect("checks");
    let told: Vec<String> = reruns
        .iter()
        .map(|rerun| format!("{} {} {}", rerun["step"], rerun["cell"], rerun["result"]))
        .collect();
    let expected = [
        (1, "baseline"),
        (1, "red"),
        (1, "green"),
        (1, "kept"),
        (2, "green"),
    ];
    let expected = expected.map(|(step, cell)| format!("{step} {cell:?} \"same\""));
    assert_eq!(told, expected);
}
