//! The demo: what a new user sees first.

use crate::repository::git;
use crate::world::World;

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
        .says("review: changes required")
        .says("review: approved")
        .says("tests failed")
        .says("tests passed");
    let log = git(&folder.join("wordstat"), &["log", "--format=%s"]);
    for step in ["[Step 1] ", "[Step 2] ", "[Step 3] "] {
        assert!(log.lines().any(|line| line.starts_with(step)), "{log}");
    }
    assert_eq!(ran.err, "", "a demo has nothing to complain about");
    assert!(world.leftovers().is_empty());
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
