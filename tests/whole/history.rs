//! Finished runs: listed and read, also by read-only commands.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::script::{Agent, say, write};
use crate::world::World;

/// Creates a world with a finished and a waiting run in the history, and a third run in the work folder.
fn with_history() -> World {
    let world = World::new();
    let planner =
        Agent::planning(&["Write"]).step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&planner, &Agent::approving());
    world.run(&[]).ends(0);
    world.cast(&planner, &Agent::approving());
    world
        .program(&["run", "--goal", "Another", "--auto"])
        .ends(3);
    world.cast(&planner, &Agent::approving());
    world
        .program(&["run", "--goal", "A third", "--auto", "--new"])
        .ends(3);
    world
}

#[test]
fn finished_runs_are_listed_the_latest_first() {
    let world = World::new();
    world
        .program(&["history"])
        .ends(0)
        .says("no finished run in");
    assert!(!world.root.join(".agent-collab").exists());
    let world = with_history();
    let ran = world.program(&["history"]);
    ran.ends(0)
        .says("Done, 1 of 1 step, 1 commit, codex and claude")
        .says("unfinished in Approve, 0 of 1 step")
        .says(".agent-collab/history/");
    assert!(
        ran.out.find("Another") < ran.out.find("A test"),
        "{}",
        ran.out
    );
    let listed: Value =
        serde_json::from_str(&world.program(&["history", "--json"]).out).expect("JSON");
    assert_eq!(listed[0]["title"], "Another");
    assert_eq!(listed[0]["finished"], false);
    assert_eq!(listed[1]["phase"], "DONE");
    assert_eq!(listed[1]["commits"], 1);
    assert_eq!(listed[1]["agents"], serde_json::json!(["codex", "claude"]));
}

/// Has the planner write a file in its step.
fn writes(world: &World, name: &str) {
    let step = vec![write(name, "new\n"), say("Wrote.")];
    world.cast(
        &Agent::planning(&["Write"]).step(1, step),
        &Agent::approving(),
    );
}

#[test]
fn an_unfinished_run_of_the_history_is_taken_up_again() {
    let world = with_history();
    // Nothing unfinished is moved without asking.
    world
        .program(&["resume", "another", "--auto"])
        .ends(3)
        .complains("there is an unfinished run: `A third`, in phase Approve")
        .complains("finish or cancel it first, then run `agent-collab resume ");
    writes(&world, "third.txt");
    world
        .program(&["resume", "--auto", "--yes-execute"])
        .ends(0);
    writes(&world, "another.txt");
    // The run to continue is looked up before anything is moved.
    let listed = || world.program(&["history", "--json"]).ends(0).out.clone();
    let before = listed();
    let absent = "adapters.codex.program=no-such-codex";
    world
        .program(&["resume", "another", "--auto", "-s", absent])
        .ends(1)
        .complains("no-such-codex not found");
    assert_eq!(listed(), before);
    world
        .program(&["status"])
        .ends(0)
        .says("goal       A third");
    world
        .program(&["resume", "a-test", "--auto"])
        .ends(1)
        .complains("the run and its discussions are finished");
    world
        .program(&["resume", "nothing-like-it"])
        .ends(2)
        .complains("`agent-collab history` lists them");
    world
        .program(&["resume", "another", "--auto", "--yes-execute"])
        .ends(0)
        .complains("-another is restored from the history; the run that was here is now in ")
        .says("Step 1");
    world
        .program(&["status"])
        .ends(0)
        .says("goal       Another")
        .says("phase      Done");
    let titles = |text: &str| {
        let listed: Value = serde_json::from_str(text).expect("JSON");
        let runs = listed.as_array().expect("a list").clone();
        let mut titles: Vec<String> = runs.iter().map(|run| run["title"].to_string()).collect();
        titles.sort();
        titles
    };
    // None is lost, none is there twice.
    assert_eq!(titles(&listed()), titles(&before));
    assert_eq!(titles(&before).len(), 3);
    world
        .program(&["resume", "another"])
        .ends(2)
        .complains("no finished run is named `another`");
}

#[test]
fn a_finished_run_is_printed_by_its_number_or_its_name() {
    let world = with_history();
    world
        .program(&["history", "2"])
        .ends(0)
        .says("goal       A test")
        .says("phase      Done (in the history)")
        .says("1. [x] Write")
        .says("## Step 1: ");
    world
        .program(&["history", "a-test", "--print"])
        .ends(0)
        .says("phase      Done");
    let whole = world.program(&["history", "1", "--json"]);
    let whole: Value = serde_json::from_str(&whole.ends(0).out).expect("JSON");
    assert_eq!(whole["run"]["phase"], "APPROVED");
    world
        .program(&["history", "3"])
        .ends(2)
        .complains("no finished run 3, the history has 2");
    world
        .program(&["history", "nothing-like-it"])
        .ends(2)
        .complains("`agent-collab history` lists them");
    world
        .program(&["history", "t"])
        .ends(2)
        .complains("several finished runs");
}

#[test]
fn a_damaged_run_is_listed_with_what_is_wrong() {
    let world = with_history();
    for (name, state) in [
        ("2026-01-02-torn", "{\"schema\":1,\n\"last"),
        ("2026-01-03-newer", "{\"schema\":7,\"last_seq\":1}"),
    ] {
        world.put(&format!(".agent-collab/history/{name}/state.json"), state);
    }
    world.put(".agent-collab/history/2026-01-01-empty/plan.md", "a plan");
    world
        .program(&["history"])
        .ends(0)
        .says("damaged")
        .says("state.json:2: EOF while parsing")
        .says("has schema 7, but this version knows 1")
        .says("state.json is missing");
    world
        .program(&["history", "2026-01-03-newer"])
        .ends(0)
        .says("damaged    ")
        .says("schema 7");
}

#[test]
fn looking_changes_nothing_and_needs_no_right_to_write() {
    let world = with_history();
    let folder = world.root.join(".agent-collab");
    let before = world.files(".agent-collab");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).expect("mode");
    for arguments in [
        vec!["history"],
        vec!["history", "--json"],
        vec!["history", "1"],
        vec!["status"],
    ] {
        world.program(&arguments).ends(0);
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("mode");
    assert_eq!(world.files(".agent-collab"), before);
}

#[test]
fn what_held_tasks_alone_is_no_run_to_look_back_at() {
    let world = World::new();
    let planner = Agent::planning(&["Write"])
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")])
        .always("[agent-collab task explore", vec![say("Found it.")]);
    world.cast(&planner, &Agent::approving());
    world
        .program(&["task", "--agent", "explore", "look"])
        .ends(0);
    world.run(&[]).ends(0);
    let listed = world.program(&["history"]);
    listed.ends(0).says("  1  ").says("A test");
    assert!(!listed.out.contains("without a goal"), "{}", listed.out);
    assert!(!listed.out.contains("  2  "), "{}", listed.out);
}
