//! The demo, which a new user sees first.

use crate::repository::git;
use crate::verify::{change_byte, receipts, verify_in};
use crate::world::{Ran, World};

#[test]
fn the_demo_plays_a_whole_run_and_leaves_its_commits() {
    let world = World::without_git();
    let folder = world.folder.join("demo");
    let ran = world.program(&[
        "demo",
        "--headless",
        "--fast",
        "--dir",
        &folder.display().to_string(),
    ]);
    ran.ends(0)
        .says("No model is called")
        .says(&folder.join("wordstat").display().to_string())
        .says("Review: changes required")
        .says("Review: approved")
        .says("tests failed")
        .says("tests passed")
        .says("3 of 3 proven");
    let repository = folder.join("wordstat");
    let log = git(&repository, &["log", "--format=%s"]);
    for step in ["[Step 1] ", "[Step 2] ", "[Step 3] "] {
        assert!(log.lines().any(|line| line.starts_with(step)), "{log}");
    }
    assert_eq!(ran.err, "", "a demo has nothing to complain about");
    let (code, text) = verify_in(&world, &repository, &[]);
    assert_eq!(
        (code, text.matches("  proven  ").count()),
        (Some(0), 3),
        "{text}"
    );
    let config = folder.join("config.toml").display().to_string();
    let (code, text) = verify_in(&world, &repository, &["--rerun", "--config", &config]);
    assert_eq!(code, Some(0), "{text}");
    change_byte(&receipts(&repository)[2]);
    let (code, text) = verify_in(&world, &repository, &[]);
    assert_eq!(code, Some(7), "{text}");
    assert!(text.contains("is not that of receipt 3"), "{text}");
    assert!(world.leftovers().is_empty());
}

/// Plays a demo that meets a scene, and returns what it printed.
fn play(world: &World, scene: &str) -> Ran {
    let folder = world.folder.join(scene).display().to_string();
    world.program(&[
        "demo",
        "--headless",
        "--fast",
        "--dir",
        &folder,
        "--scene",
        scene,
    ])
}

#[test]
fn every_scene_leads_to_its_question_and_on_until_over() {
    let world = World::without_git();
    for (scene, question) in [
        ("dispute", "Reviewer and planner do not agree on finding 3"),
        (
            "unread",
            "did not open tests/test_count.sh, which the plan names",
        ),
        ("question", "The agent asks: Two words occur equally often"),
        ("arbitration", "Review limit reached, 3 findings open"),
        ("no-document", "returned no document"),
        ("adapter-failed", "The turn failed (service)"),
        ("usage-limit", "waits for the codex usage limit until"),
        (
            "blocked",
            "Step 2 is blocked, its agent says: wordstat.sh:4",
        ),
        (
            "dirty-files",
            "Step 3 edited files with uncommitted changes: README.md",
        ),
        (
            "entry-points",
            "Step 1 changed files that decide what runs: tests/run.sh",
        ),
        ("tests-failed", "Step 2: tests failed"),
        (
            "commit-failed",
            "The commit of step 1 failed: the hook rejects the first commit",
        ),
    ] {
        play(&world, scene).ends(0).says(question);
        let log = git(
            &world.folder.join(scene).join("wordstat"),
            &["log", "--format=%s"],
        );
        let n_steps = log
            .lines()
            .filter(|line| line.starts_with("[Step "))
            .count();
        // The user's uncommitted changes are in no commit of step 3.
        let expected = if scene == "dirty-files" { 2..=3 } else { 3..=3 };
        assert!(expected.contains(&n_steps), "{scene}: {log}");
    }
    assert!(world.leftovers().is_empty());
}

#[test]
fn scenes_can_be_put_together_in_one_demo() {
    let world = World::without_git();
    let folder = world.folder.join("demo").display().to_string();
    let scenes = ["question", "arbitration", "tests-failed", "commit-failed"];
    let flags = scenes.iter().flat_map(|scene| ["--scene", scene]);
    let all: Vec<&str> = ["demo", "--headless", "--fast", "--dir", &folder]
        .into_iter()
        .chain(flags)
        .collect();
    world
        .program(&all)
        .ends(0)
        .says("The agent asks")
        .says("Review limit reached")
        .says("tests failed")
        .says("The commit of step 1 failed");
}

#[test]
fn a_demo_that_was_killed_goes_on_when_it_is_opened_again() {
    for word in ["Review: changes required", "tests failed"] {
        let world = World::without_git();
        let folder = world.folder.join("demo").display().to_string();
        let arguments = ["demo", "--headless", "--fast", "--dir", &folder];
        let mut running = world.start(&arguments);
        running.until(word);
        running.signal("KILL");
        running.wait();
        world.program(&arguments).ends(0);
        let root = world.folder.join("demo/wordstat");
        let log = git(&root, &["log", "--format=%s"]);
        let n_steps = log.lines().filter(|line| line.starts_with("[Step "));
        assert_eq!(n_steps.count(), 3, "{log}");
        assert!(world.leftovers().is_empty());
    }
}

#[test]
fn a_demo_is_opened_again_by_its_folder_and_keeps_its_scenes() {
    let world = World::without_git();
    play(&world, "arbitration").ends(0);
    let folder = world.folder.join("arbitration").display().to_string();
    let again = ["demo", "--headless", "--fast", "--dir", &folder];
    world
        .program(&again)
        .ends(0)
        .complains("the run here is finished");
    let other: Vec<&str> = again.into_iter().chain(["--scene", "question"]).collect();
    world
        .program(&other)
        .ends(1)
        .complains("its scenes cannot be changed");
}

#[test]
fn a_folder_that_holds_something_is_no_place_for_a_demo() {
    let world = World::without_git();
    world.put("mine.txt", "mine");
    let ran = world.program(&[
        "demo",
        "--headless",
        "--fast",
        "--dir",
        &world.root.display().to_string(),
    ]);
    ran.ends(1).complains("is not empty").complains("--dir");
    assert_eq!(world.read("mine.txt"), "mine");
}

#[test]
fn a_place_that_cannot_be_made_is_told_with_a_way_out() {
    let world = World::new();
    world
        .program(&["demo", "--headless", "--dir", "/proc/nothing"])
        .ends(1)
        .complains("cannot create /proc/nothing")
        .complains("hint: pass a folder that you can create to --dir");
}
