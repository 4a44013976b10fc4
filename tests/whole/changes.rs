//! Tests `agent-collab diff`: what a run changed, and each of its steps.

use crate::script::{Agent, objection, say, write};
use crate::world::World;

fn played(world: &World) {
    let planner = Agent::planning(&["Write one", "Look", "Write two"])
        .step(1, vec![write("one.txt", "one\n"), say("Wrote one.")])
        .step(2, vec![say("Looked.")])
        .step(3, vec![write("two.txt", "zwei\n"), say("Wrote two.")]);
    world.cast(&planner, &Agent::approving());
    // The second step changes nothing: the user says that it was already done.
    let ran = world.run(&["--answer", "nothing_changed=already-true"]);
    ran.ends(6)
        .complains("not verified: step 2 changed nothing");
}

#[test]
fn the_whole_run_and_each_step_are_shown_apart() {
    let world = World::new();
    world.put("mine.txt", "mine before\n");
    played(&world);
    world.put("mine.txt", "mine after\n");
    let all = world.program(&["diff"]);
    all.ends(0)
        .says("+++ b/one.txt\n@@ -0,0 +1 @@\n+one\n")
        .says("+zwei")
        .says("-mine before\n+mine after\n");
    assert!(!all.out.contains('\u{1b}'), "no colours in a pipe");
    let first = world.program(&["diff", "--step", "1"]);
    first.ends(0).says("+one");
    assert!(!first.out.contains("two.txt"), "{}", first.out);
    let last = world.program(&["diff", "--step", "3", "--stat"]);
    assert_eq!(last.ends(0).out, "+1 new  two.txt\n1 file, +1\n");
    world
        .program(&["diff", "--step", "2"])
        .ends(0)
        .complains("step 2 changed nothing");
    world
        .program(&["diff", "--step", "9"])
        .ends(2)
        .complains("step 9 has not started")
        .complains("`agent-collab status` lists the steps");
    world
        .program(&["diff", "--plan"])
        .ends(0)
        .complains("no earlier version");
}

#[test]
fn a_folder_without_git_has_its_changes_too() {
    let world = World::without_git();
    world.put("old.txt", "old\n");
    played(&world);
    world
        .program(&["diff", "--stat"])
        .ends(0)
        .says("one.txt")
        .says("2 files, +2");
}

#[test]
fn a_secret_in_a_file_is_not_printed() {
    let world = World::new();
    let key = "AKIAIOSFODNN7EXAMPLE";
    let planner = Agent::planning(&["Write"]).step(
        1,
        vec![write("key.txt", &format!("{key}\u{1b}[2J\n")), say("Done.")],
    );
    world.cast(&planner, &Agent::approving());
    world.run(&[]).ends(0);
    let ran = world.program(&["diff"]);
    ran.ends(0).says("key.txt").says("␛[2J");
    assert!(!ran.out.contains(key) && !ran.out.contains('\u{1b}'));
}

#[test]
fn where_there_is_no_run_nothing_has_changed() {
    let world = World::new();
    world
        .program(&["diff"])
        .ends(0)
        .complains("no step has changed anything yet");
}

#[test]
fn the_plans_last_two_versions_are_compared() {
    let world = World::new();
    let planner = Agent::planning(&["Write"])
        .on(
            "[agent-collab RESPOND",
            vec![
                write("${plan_path}", &crate::script::plan(&["Write it well"])),
                write("${comments_path}", "1. accepted: done\n"),
            ],
        )
        .step(1, vec![write("one.txt", "one\n"), say("Wrote.")]);
    let reviewer = Agent::new()
        .review(&objection("major", "how?"))
        .review("[APPROVED]\n\n1. fixed: \"Write it well\"\n");
    world.cast(&planner, &reviewer);
    world.run(&[]).ends(0);
    world
        .program(&["diff", "--plan"])
        .ends(0)
        .says("-1. [ ] Write\n+1. [ ] Write it well\n");
}
