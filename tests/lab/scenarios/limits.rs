//! A plan is used up: the run waits until it resets, or the other CLI takes over the role.

use crate::brain;
use crate::model_server::script::{Reply, Request, Vendor};
use crate::report::Notes;
use crate::world::{USUAL, World};

/// In how many seconds the plan resets.
const SOON: u64 = 8;

/// Each vendor's first request meets a used-up plan.
fn used_up_once(request: &Request) -> Reply {
    match request.n {
        1 => Reply::UsedUp { resets_in: SOON },
        _ => brain::honest(request),
    }
}

/// codex's plan is used up for an hour.
fn codex_used_up(request: &Request) -> Reply {
    match request.vendor {
        Vendor::Openai => Reply::UsedUp { resets_in: 3_600 },
        Vendor::Anthropic => brain::honest(request),
    }
}

/// codex is used up when it plans, claude when it reviews.
pub fn waited_out(notes: &mut Notes) {
    let mut world = World::create("limits-waited-out", USUAL, used_up_once);
    world.home.subscribe_claude();
    let outcome = world.run(&["--yes-execute"]);
    world.note(notes, &outcome);
    outcome.assert_code(0);
    assert!(world.repository.tests_pass(&world.home));
    let adapters: Vec<&str> = outcome
        .of_kind("question.asked")
        .map(|asked| &asked["data"]["question"]["kind"])
        .filter(|kind| kind["about"] == "usage_limit" && kind["from"] == "cli")
        .filter_map(|kind| kind["adapter"].as_str())
        .collect();
    assert_eq!(
        adapters,
        ["codex", "claude"],
        "each told when its plan begins anew"
    );
    assert_eq!(outcome.of_kind("limit.passed").count(), 2);
    for vendor in Vendor::ALL {
        notes.prove(
            "its plan is used up, the end told: the run waits and goes on by itself",
            vendor,
            "yes",
        );
    }
}

/// codex is used up when it plans, and claude does all.
pub fn left_to_claude(notes: &mut Notes) {
    let world = World::create("limits-left", USUAL, codex_used_up);
    let outcome = world.run(&["--yes-execute", "--answer", "usage_limit=switch"]);
    outcome.assert_code(0);
    assert!(world.repository.tests_pass(&world.home));
    assert_eq!(
        world.server.n_requests(Vendor::Openai),
        1,
        "codex is left alone"
    );
    let bodies = world.server.bodies(Vendor::Anthropic);
    let first = bodies.first().expect("claude is asked");
    assert!(
        first.contains("[agent-collab RECOVER]"),
        "it is told what codex knew"
    );
    let state = world.state();
    assert_eq!(state["planner"]["adapter"], "claude");
    assert_ne!(
        state["planner"]["external_id"],
        state["reviewer"]["external_id"]
    );
    notes.prove(
        "the other CLI's plan is used up: takes its role over, read-only before EXECUTE",
        Vendor::Anthropic,
        "yes",
    );
}
