//! A user at the screen answers what an agent asks while it executes: one call allowed once, one denied with a reason,
//! and an edit allowed after its diff was shown.

use serde_json::Value;

use crate::brain::{self, Purpose};
use crate::model_server::script::{Reply, Request, Tool, Vendor};
use crate::report::Notes;
use crate::world::{Cast, World, of_kind};

/// Asked about in every mode.
const PUSH: &str = "git push nowhere main";
/// Asked about each time.
const DELETE: &str = "rm -rf build";
/// What the user writes to the agent.
const WORD: &str = "keep what was built";
/// An edit that a rule asks about.
const RULE: &str =
    "[[permission.rule]]\npermission = \"edit\"\npattern = \"code.js\"\naction = \"ask\"\n";

fn wishing(request: &Request) -> Reply {
    match brain::purpose_of(&request.prompt) {
        Purpose::FirstStep => {
            let wishes = [PUSH, DELETE].map(|command| Tool::Shell(command.to_owned()));
            brain::after(&wishes, request)
        }
        _other => brain::honest(request),
    }
}

/// codex asks.
pub fn codex(notes: &mut Notes) {
    play("answered-codex", Vendor::Openai, notes);
}

/// claude asks.
pub fn claude(notes: &mut Notes) {
    play("answered-claude", Vendor::Anthropic, notes);
}

fn play(name: &str, vendor: Vendor, notes: &mut Notes) {
    let cast = Cast {
        planner: vendor,
        reviewer: vendor,
    };
    let world = World::create(name, cast, wishing);
    world.configure(RULE);
    world.repository.write("build/out.o", "built\n");
    world.repository.commit_all("something built");
    let name = vendor.cli().to_owned();
    let mut seat = world.execute_on_the_screen(&name);
    let shot = |what: &str| format!("{name}-{what}");
    seat.see(&shot("push"), &["Allow this command?", PUSH, "Allow once"]);
    let gone = |text: &str, what: &str| !text.contains(&format!("▌   {what}"));
    seat.press("y", |text| gone(text, PUSH));
    let screen = seat.see(&shot("delete"), &["Allow ", DELETE, "Deny and say why"]);
    assert!(!screen.contains("Always allow here"), "{screen}");
    seat.press("w", |text| text.contains("Why not?"));
    // What was pressed too often is no reason.
    seat.type_keys(&format!("\x15{WORD}"));
    seat.see(&shot("why"), &["Enter: deny it with this reason", WORD]);
    seat.type_keys("\r");
    seat.see(
        &shot("edit"),
        &["Allow this edit?", "exports.double = (a) => 2 * a;"],
    );
    seat.press("y", |text| !text.contains("Allow this edit?"));
    seat.wait_until("the run is done", || world.state()["phase"] == "DONE");
    seat.see(&shot("done"), &["Run finished"]);
    seat.end();
    let log = world.log();
    assert_answered(&world, vendor, &log);
    world.note_log(notes, &log);
    notes.prove(
        "a person at the screen allows a call, refuses one with a word, and allows an edit whose diff is shown",
        vendor,
        "yes",
    );
}

/// Checks that the three answers are recorded, and that the agent received the reason of the denial.
fn assert_answered(world: &World, vendor: Vendor, log: &[Value]) {
    let answers: Vec<(bool, &str)> = of_kind(log, "approval.answered")
        .map(|event| &event["data"])
        .filter(|data| data["by"] == "user")
        .map(|data| (data["allowed"] == true, text(&data["reason"])))
        .collect();
    assert_eq!(answers.len(), 3, "{answers:?}");
    assert_eq!(
        answers.iter().map(|answer| answer.0).collect::<Vec<_>>(),
        [true, false, true],
        "{answers:?}"
    );
    assert!(answers[1].1.contains(WORD), "{answers:?}");
    assert_eq!(world.repository.read("build/out.o"), "built\n");
    let told = world.server.bodies(vendor);
    assert!(
        told.iter().any(|body| body.contains(WORD)),
        "the agent hears the user's word"
    );
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
