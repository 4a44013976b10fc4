//! Steps undone and redone: files, commits, boxes, and a program that is killed meanwhile.

use crate::programs::put_program;
use crate::script::{Agent, say, write};
use crate::world::{Ran, World};

/// Two steps: one writes `one.txt`, two writes `two.txt` and changes `one.txt`.
fn played(world: &World) {
    let planner = Agent::planning(&["Write one", "Write two"])
        .step(1, vec![write("one.txt", "one\n"), say("Wrote one.")])
        .step(
            2,
            vec![
                write("two.txt", "two\n"),
                write("one.txt", "one and two\n"),
                say("Wrote two."),
            ],
        );
    world.cast(&planner, &Agent::approving());
    world.run(&[]).ends(0);
}

fn undo(world: &World, more: &[&str]) -> Ran {
    let mut arguments = vec!["undo", "--yes"];
    arguments.extend(more);
    world.program(&arguments)
}

fn boxes(world: &World) -> String {
    let plan = world.read(".agent-collab/plan.md");
    let lines = plan.lines().filter(|line| line.contains("Write"));
    lines.collect::<Vec<_>>().join("\n")
}

/// What git sees as not committed, our own folder apart.
fn dirty(world: &World) -> String {
    let status = world.git(&["status", "--porcelain"]);
    let lines = status
        .lines()
        .filter(|line| !line.contains(".agent-collab"));
    lines.collect::<Vec<_>>().join("\n")
}

fn is_there(world: &World, path: &str) -> bool {
    world.root.join(path).exists()
}

#[test]
fn a_step_of_a_finished_run_is_undone_and_comes_back() {
    let world = World::new();
    played(&world);
    world
        .program(&["undo"])
        .ends(3)
        .says("undo step 2")
        .says("  ~ one.txt")
        .says("  - two.txt")
        .says("commits [Undo step 2] Write two")
        .complains("--yes");
    assert!(is_there(&world, "two.txt"), "only told");
    undo(&world, &[]).ends(0).says("step 2 undone, commit ");
    assert!(!is_there(&world, "two.txt"));
    assert_eq!(world.read("one.txt"), "one\n");
    assert_eq!(boxes(&world), "1. [x] Write one\n2. [ ] Write two");
    assert_eq!(
        world.subjects(),
        [
            "[Undo step 2] Write two",
            "[Step 2] Wrote two",
            "[Step 1] Wrote one",
            "first"
        ]
    );
    assert_eq!(world.state()["phase"], "DONE");
    assert_eq!(dirty(&world), "");
    assert!(
        world
            .read(".agent-collab/log.md")
            .contains("step 2 undone, commit ")
    );
    undo(&world, &["--redo"]).ends(0).says("step 2 redone");
    assert_eq!(world.read("one.txt"), "one and two\n");
    assert_eq!(boxes(&world), "1. [x] Write one\n2. [x] Write two");
    assert_eq!(world.subjects()[0], "[Redo step 2] Write two");
    assert_eq!(dirty(&world), "");
    undo(&world, &["--step", "1"]).ends(0);
    assert_eq!(world.subjects()[0], "[Undo steps 1–2]");
    assert!(!is_there(&world, "one.txt") && !is_there(&world, "two.txt"));
    assert_eq!(world.read("README.md"), "# A project\n");
    undo(&world, &["--redo"]).ends(0);
    undo(&world, &["--redo"])
        .ends(1)
        .complains("nothing to redo");
}

#[test]
fn an_undone_step_is_done_anew_and_the_run_comes_to_its_end() {
    let world = World::new();
    let plan = "# Task: A test\n\n## Steps\n1. [ ] Write one\n2. [ ] Write two\n\nTest: test ! -f broken\n";
    let planner = Agent::new()
        .plan(plan)
        .step(1, vec![write("one.txt", "one\n"), say("Wrote one.")])
        .step(2, vec![write("broken", "x\n"), say("Broke it.")])
        .step(
            1,
            vec![write("one.txt", "better\n"), say("Wrote one anew.")],
        )
        .step(2, vec![write("two.txt", "two\n"), say("Wrote two.")]);
    world.cast(&planner, &Agent::approving());
    let run = world.run(&["-s", "test.max_fix_turns=0"]);
    run.ends(3).complains("tests_failed");
    undo(&world, &[]).ends(0).says("step 2 is not finished");
    assert!(!is_there(&world, "broken"));
    assert_eq!(world.subjects(), ["[Step 1] Wrote one", "first"]);
    undo(&world, &["--step", "1"]).ends(0);
    assert_eq!(world.subjects()[0], "[Undo step 1] Write one");
    world
        .program(&["resume", "--auto", "--yes-execute", "--allow-plan-test"])
        .ends(0);
    assert_eq!(
        world.subjects(),
        [
            "[Step 2] Wrote two",
            "[Step 1] Wrote one anew",
            "[Undo step 1] Write one",
            "[Step 1] Wrote one",
            "first"
        ]
    );
    assert_eq!(world.read("one.txt"), "better\n");
    assert_eq!(world.read("two.txt"), "two\n");
    assert_eq!(boxes(&world), "1. [x] Write one\n2. [x] Write two");
    assert_eq!(world.state()["phase"], "DONE");
    undo(&world, &["--redo"])
        .ends(1)
        .complains("nothing to redo");
}

#[test]
fn what_the_user_changed_stays_or_is_named_and_kept() {
    let world = World::new();
    world.put("mine.txt", "mine before\n");
    played(&world);
    world.put("mine.txt", "mine after\n");
    world.put("new.txt", "mine, new\n");
    world.put("one.txt", "one and two, and mine\n");
    let ran = undo(&world, &[]);
    ran.ends(0).says("changed since, restored anyway: one.txt");
    assert_eq!(world.read("mine.txt"), "mine after\n");
    assert_eq!(world.read("new.txt"), "mine, new\n");
    assert_eq!(world.read("one.txt"), "one\n");
    assert_eq!(world.committed(), ["one.txt", "two.txt"]);
    assert_eq!(dirty(&world), "?? mine.txt\n?? new.txt");
    let kept = &world.events_of("undo.done")[0]["kept"];
    let kept = format!("{}:one.txt", kept.as_str().unwrap_or_default());
    assert_eq!(world.git(&["show", &kept]).trim(), "one and two, and mine");
    undo(&world, &["--redo"]).ends(0);
    assert_eq!(world.read("one.txt"), "one and two, and mine\n");
}

#[test]
fn dirty_files_that_went_into_a_step_are_dirty_again() {
    let world = World::new();
    world.put("README.md", "# A project\nmine, uncommitted\n");
    let planner = Agent::planning(&["Write one"])
        .step(1, vec![write("README.md", "# Changed\n"), say("Changed.")]);
    world.cast(&planner, &Agent::approving());
    world.run(&["--on-dirty", "include"]).ends(0);
    undo(&world, &[]).ends(0);
    assert_eq!(world.read("README.md"), "# A project\nmine, uncommitted\n");
    assert_eq!(world.git(&["show", "HEAD:README.md"]).trim(), "# A project");
}

#[test]
fn what_cannot_be_taken_back_cleanly_is_left_alone() {
    let world = World::new();
    played(&world);
    world.git(&["switch", "-q", "main"]);
    undo(&world, &[])
        .ends(1)
        .complains("git switch agent-collab/");
    world.git(&["switch", "-q", "-"]);
    world.put("two.txt", "two, by me\n");
    world.git(&["commit", "-q", "-a", "-m", "mine"]);
    undo(&world, &[])
        .ends(1)
        .complains("two.txt changed in another commit since step 2")
        .complains("git revert ");
    assert_eq!(world.read("one.txt"), "one and two\n");
    assert_eq!(world.subjects()[0], "mine");
    world
        .program(&["undo", "--step", "7"])
        .ends(1)
        .complains("step 7 has nothing to undo")
        .complains("`agent-collab status` lists the steps");
}

#[test]
fn a_hook_that_refuses_leaves_everything_as_it_was() {
    let world = World::new();
    played(&world);
    put_program(
        &world.root.join(".git/hooks/pre-commit"),
        "#!/bin/sh\necho 'no way back' >&2\nexit 1\n",
    );
    undo(&world, &[]).ends(1).complains("no way back");
    assert_eq!(world.read("two.txt"), "two\n");
    assert_eq!(world.read("one.txt"), "one and two\n");
    assert_eq!(dirty(&world), "");
    assert_eq!(boxes(&world), "1. [x] Write one\n2. [x] Write two");
}

#[test]
fn a_program_killed_while_it_undoes_goes_through_with_it_at_the_next_start() {
    let world = World::new();
    played(&world);
    let (there, wait) = (world.fifo("there"), world.fifo("wait"));
    let hook = world.root.join(".git/hooks/pre-commit");
    put_program(
        &hook,
        &format!("#!/bin/sh\necho there > {there}\ncat {wait}\n"),
    );
    let running = world.start(&["undo", "--yes"]);
    // The hook runs once the files are put back; the program waits for it.
    assert_eq!(world.heard("there"), "there\n");
    assert!(!is_there(&world, "two.txt"));
    running.signal("KILL");
    running.wait();
    std::fs::remove_file(&hook).unwrap();
    undo(&world, &[]).ends(1).complains("resume");
    world.program(&["resume", "--auto"]).ends(0);
    assert_eq!(
        world.subjects()[..2],
        ["[Undo step 2] Write two", "[Step 2] Wrote two"]
    );
    assert_eq!(world.subjects().len(), 4, "no commit twice");
    assert_eq!(boxes(&world), "1. [x] Write one\n2. [ ] Write two");
    assert_eq!(world.read("one.txt"), "one\n");
    assert_eq!(world.state()["phase"], "DONE");
    assert_eq!(world.leftovers(), Vec::<String>::new());
    world
        .program(&["resume", "--auto"])
        .ends(0)
        .complains("the run here is finished");
    undo(&world, &["--redo"]).ends(0);
    assert_eq!(world.read("two.txt"), "two\n");
}

#[test]
fn a_folder_without_git_is_put_back_too() {
    let world = World::without_git();
    world.put("old.txt", "old\n");
    played(&world);
    undo(&world, &["--step", "1"])
        .ends(0)
        .says("steps 1–2 undone");
    assert!(!is_there(&world, "one.txt") && !is_there(&world, "two.txt"));
    assert_eq!(world.read("old.txt"), "old\n");
    undo(&world, &["--redo"]).ends(0);
    assert_eq!(world.read("one.txt"), "one and two\n");
}

#[test]
fn a_run_that_somebody_holds_is_not_undone_behind_their_back() {
    let world = World::new();
    let wait = world.fifo("wait");
    let planner = Agent::planning(&["Write"]).step(
        1,
        vec![
            say("I begin."),
            crate::script::shell(&format!("cat {wait}")),
        ],
    );
    world.cast(&planner, &Agent::approving());
    let mut running = world.start_run(&[]);
    running.until("planner │ I begin.");
    undo(&world, &[])
        .ends(4)
        .complains("another agent-collab is running");
    running.signal("TERM");
    running.wait();
}

#[test]
fn where_no_run_is_nothing_is_made_to_say_so() {
    let world = World::new();
    world.program(&["undo"]).ends(1).complains("no run here");
    world
        .program(&["send", "fly"])
        .ends(1)
        .complains("you cannot send `fly`");
    assert!(!world.root.join(".agent-collab").exists());
}
