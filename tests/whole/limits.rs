//! A used-up limit: the run waits for its reset, changes to the other CLI, or gives up.

use serde_json::{Value, json};

use crate::script::{Agent, say, shell, write};
use crate::world::World;

/// Builds a rejection; the limit resets in this many seconds, or at an unknown time.
fn turned_away(resets_in: Option<i64>) -> Value {
    let mut error = json!({ "do": "error", "kind": "usage_limit" });
    if let Some(seconds) = resets_in {
        error["resets_in"] = json!(seconds);
    }
    error
}

fn planner() -> Agent {
    Agent::planning(&["Write"]).step(1, vec![write("new.txt", "new\n"), say("Wrote.")])
}

/// A planner whose first turn is turned away.
fn limited(resets_in: Option<i64>) -> Agent {
    Agent::new()
        .on("[agent-collab WRITE_PLAN]", vec![turned_away(resets_in)])
        .plan(&crate::script::plan(&["Write"]))
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")])
}

/// Builds what claude does in the planner's place and in its own.
fn takes_both() -> Agent {
    planner().review("[APPROVED]\n")
}

fn adapters(world: &World) -> (Value, Value) {
    let run = &world.state()["run"];
    let state = if run.is_object() {
        run.clone()
    } else {
        world.state()
    };
    (state["planner"].clone(), state["reviewer"].clone())
}

#[test]
fn a_run_goes_on_by_itself_when_the_limit_is_over() {
    let world = World::new();
    let reviewer = Agent::new()
        .on("[agent-collab REVIEW", vec![turned_away(Some(5))])
        .review("[APPROVED]\n");
    world.cast(&limited(Some(5)), &reviewer);
    world
        .run(&[])
        .ends(0)
        .says("The planner waits for the codex usage limit until")
        .says("The reviewer waits for the claude usage limit until")
        .says("The usage limit has reset");
    assert_eq!(world.events_of("limit.passed").len(), 2);
    assert_eq!(world.subjects()[0], "[Step 1] Wrote");
}

#[test]
fn a_run_may_switch_to_the_other_cli_and_stays_there() {
    let world = World::new();
    world.cast(&limited(Some(3_600)), &takes_both());
    world
        .run(&["--answer", "usage_limit=switch"])
        .ends(0)
        .says("The planner continues on claude with a recovery prompt");
    let (planner, reviewer) = adapters(&world);
    assert_eq!(
        (
            &planner["adapter"],
            &planner["moved_from"],
            &planner["degraded"]
        ),
        (&json!("claude"), &json!("codex"), &json!(true))
    );
    assert_eq!(reviewer["adapter"], "claude");
    assert_ne!(planner["external_id"], reviewer["external_id"]);
    assert_eq!(world.subjects()[0], "[Step 1] Wrote");
}

#[test]
fn a_failed_adapter_may_be_switched_too() {
    let world = World::new();
    let refused = json!({ "do": "error", "kind": "unauthorized" });
    let planner = Agent::new().on("[agent-collab WRITE_PLAN]", vec![refused]);
    world.cast(&planner, &takes_both());
    world.run(&["--answer", "adapter_failed=switch"]).ends(0);
    assert_eq!(adapters(&world).0["adapter"], "claude");
}

#[test]
fn a_limit_may_end_the_run_or_stop_it() {
    for (answer, code) in [("cancel", 5), ("stop", 3)] {
        let world = World::new();
        world.cast(&limited(None), &Agent::approving());
        world
            .run(&["--answer", &format!("usage_limit={answer}")])
            .ends(code);
    }
}

#[test]
fn a_wait_outlives_the_program_and_a_switched_run_is_taken_up_where_it_was() {
    let world = World::new();
    let wait = world.fifo("wait");
    let claude = Agent::new()
        .on(
            "[agent-collab WRITE_PLAN]",
            vec![shell(&format!("cat {wait}"))],
        )
        .plan(&crate::script::plan(&["Write"]))
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")])
        .review("[APPROVED]\n");
    world.cast(&limited(Some(3_600)), &claude);
    let mut first = world.start_run(&[]);
    first.until("waits for the codex usage limit");
    first.signal("KILL");
    first.wait();
    let mut second = world.start(&[
        "resume",
        "--auto",
        "--yes-execute",
        "--answer",
        "usage_limit=switch",
    ]);
    second.until("continues on claude");
    second.until("$ cat");
    second.signal("KILL");
    second.wait();
    world
        .program(&["resume", "--auto", "--yes-execute"])
        .ends(0);
    assert_eq!(world.events_of("session.moved").len(), 1);
    assert_eq!(world.subjects()[0], "[Step 1] Wrote");
}
