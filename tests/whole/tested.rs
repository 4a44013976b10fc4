//! Exactly the tested content is committed, even if files are written between test and commit.

use crate::script::{Agent, say, shell, write};
use crate::world::World;

/// A process that waits until the tree after the tests is stored and then rewrites `src.txt`.
const LATER: &str = "setsid env -i PATH=\"$PATH\" sh -c 'trap \"\" TERM HUP; \
    while ! git for-each-ref refs/agent-collab | grep -q step-1-after; do :; done; echo evil > src.txt' \
    >/dev/null 2>&1 </dev/null &";

/// What HEAD has of `src.txt`, and what the receipt's trees have of it.
fn contents(world: &World) -> [String; 3] {
    let receipt = &world.state()["execution"]["done"][0]["receipt"];
    let of = |tree: &str| world.git(&["show", &format!("{tree}:src.txt")]);
    let tree = |name: &str| receipt[name].as_str().expect("a tree").to_owned();
    [
        of("HEAD"),
        of(&tree("tree_before")),
        of(&tree("tree_after")),
    ]
}

fn world(step: &str) -> World {
    let world = World::new();
    let actions = vec![write("src.txt", "good\n"), shell(step), say("Wrote.")];
    world.cast(
        &Agent::planning(&["Write"]).step(1, actions),
        &Agent::approving(),
    );
    world
}

#[test]
fn what_an_agents_command_left_behind_does_not_get_into_the_commit() {
    let world = world(LATER);
    world
        .run(&["-s", "test.default_command=grep -q good src.txt"])
        .ends(0);
    assert_eq!(contents(&world), ["good\n", "good\n", "good\n"]);
}

#[test]
fn what_a_test_left_behind_does_not_get_into_the_commit() {
    let world = world("true");
    world.put(
        "t.sh",
        &format!("grep -q good src.txt || exit 1\n{LATER}\n"),
    );
    crate::repository::commit_all(&world.root, "tests");
    world.run(&["-s", "test.default_command=sh t.sh"]).ends(0);
    assert_eq!(contents(&world), ["good\n", "good\n", "good\n"]);
}

#[test]
fn tests_that_rewrite_a_file_once_run_again_and_what_they_wrote_is_tested_and_committed() {
    let world = world("true");
    let test =
        "test.default_command=sh -c 'grep -q good src.txt && echo good, formatted > src.txt'";
    world.run(&["-s", test]).ends(0).says("tests passed");
    assert_eq!(world.events_of("tests.ran").len(), 2);
    let formatted = "good, formatted\n";
    assert_eq!(contents(&world), [formatted, formatted, formatted]);
}

/// A test that changes what it tests each time.
const NEVER_THE_SAME: &str = "test.default_command=sh -c 'echo x >> src.txt'";

#[test]
fn tests_that_rewrite_a_file_each_time_are_asked_about() {
    let world = world("true");
    world
        .run(&["-s", NEVER_THE_SAME])
        .ends(3)
        .complains("src.txt")
        .complains("each time they run")
        .complains("--on-dirty include|leave-out");
    assert_eq!(world.subjects(), ["first"]);
    assert_eq!(world.events_of("tests.ran").len(), 2);
}

#[test]
fn left_out_the_commit_has_what_was_tested_and_included_what_the_tests_wrote() {
    for (policy, nth) in [("leave-out", 1), ("include", 2)] {
        let world = world("true");
        world
            .run(&["-s", NEVER_THE_SAME, "--on-dirty", policy])
            .ends(0);
        let contents = contents(&world);
        assert_eq!(contents[0], contents[nth], "{policy}");
        assert_ne!(contents[1], contents[2]);
        assert_eq!(world.read("src.txt"), contents[2]);
    }
}

#[test]
fn what_an_agents_command_left_running_is_ended_before_its_work_is_looked_at() {
    // The process clears its environment, starts its own session and loses its parent.
    let left = "setsid env -i sh -c 'trap \"\" TERM HUP; (trap \"\" TERM HUP; \
                while :; do sleep 0.1; done) & echo $! > left.pid' >/dev/null 2>&1 </dev/null; \
                until test -s left.pid; do sleep 0.1; done";
    let world = world(left);
    // An ended process may stay a zombie until its status is read.
    let test = "test.default_command=sh -c 'test -s left.pid && ! grep -q \"^State:[[:space:]]*[^Z[:space:]]\" /proc/$(cat left.pid)/status'";
    world
        .run(&["-s", test, "-s", "safety.contain_tests=false"])
        .ends(0)
        .says("tests passed");
}

#[test]
fn a_name_that_is_no_text_is_committed() {
    let world = world("printf new > \"$(printf 'caf\\351.txt')\"");
    world.run(&[]).ends(0);
    let list = world.git(&[
        "-c",
        "core.quotePath=true",
        "ls-tree",
        "--name-only",
        "HEAD",
    ]);
    assert!(list.contains("\"caf\\351.txt\""), "{list}");
    assert_eq!(world.git(&["status", "--porcelain", "--", "caf*"]), "");
}

#[test]
fn what_a_step_keeps_out_of_commits_by_its_own_line_is_asked_about() {
    let step = "printf 'secret.py\\nnode_modules/\\n*.log\\n' > .gitignore; mkdir node_modules; \
                touch secret.py node_modules/a x.log";
    let world = world(step);
    let ran = world.run(&[]);
    ran.ends(3).complains("entry_points").complains("secret.py");
    // A change in an installed package is reported as such.
    let told = "node_modules (1 installed package changed: a (new)";
    ran.complains(told);
    assert!(
        !ran.err.contains("`node_modules/` of .gitignore") && !ran.err.contains("x.log"),
        "{}",
        ran.err
    );
}

#[test]
fn what_was_ignored_before_the_step_is_not_asked_about() {
    let world = world("echo '*.o' >> .gitignore; touch local.env");
    world.put(".gitignore", "local.env\n");
    crate::repository::commit_all(&world.root, "ignores");
    world.run(&[]).ends(0);
}

#[test]
fn a_file_that_acts_as_its_owner_is_asked_about() {
    let world = world("chmod u+s tool");
    world.put("tool", "#!/bin/sh\n");
    crate::repository::commit_all(&world.root, "tool");
    world
        .run(&[])
        .ends(3)
        .complains("entry_points")
        .complains("set-id");
}
