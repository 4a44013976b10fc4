//! What a step changed against a path rule, by whatever means: kept, or restored.

use crate::script::{Agent, say, shell, write};
use crate::world::World;

/// Denies `docs/` and asks about `keys/`, with rules of the user.
const RULES: &str = "[[permission.rule]]\npermission = \"edit\"\npattern = \"docs/*\"\naction = \"deny\"\n\
                     [[permission.rule]]\npermission = \"edit\"\npattern = \"keys/*\"\naction = \"ask\"\n";

/// Creates a run whose step writes protected files with a command, and unprotected ones with a tool.
fn world() -> World {
    let mut world = World::new();
    world.put("docs/a.md", "as it was\n");
    world.put("docs/gone.md", "was here\n");
    crate::repository::commit_all(&world.root, "documents");
    world.config = RULES.to_owned();
    let command = "mkdir -p keys && echo new > docs/a.md && echo new > docs/b.md && rm docs/gone.md && echo k > keys/k";
    let step = vec![shell(command), write("src.txt", "src\n"), say("Wrote.")];
    world.cast(
        &Agent::planning(&["Write"]).step(1, step),
        &Agent::approving(),
    );
    world
}

#[test]
fn a_headless_run_needs_an_answer_for_what_rules_hold_back() {
    let world = world();
    world
        .run(&[])
        .ends(3)
        .complains("held_edits")
        .complains("docs/a.md (denies: edit \"docs/*\" deny")
        .complains("keys/k (asks: edit \"keys/*\" ask")
        .complains("--answer held_edits=");
    assert_eq!(world.subjects(), ["documents", "first"]);
}

#[test]
fn what_is_put_back_is_as_before_the_step_and_can_be_had_again() {
    let world = world();
    world
        .run(&["--answer", "held_edits=put-back"])
        .ends(0)
        .says("Restored to before the step");
    assert_eq!(world.read("docs/a.md"), "as it was\n");
    assert_eq!(world.read("docs/gone.md"), "was here\n");
    for new in ["docs/b.md", "keys/k"] {
        assert!(!world.root.join(new).exists(), "{new}");
    }
    assert_eq!(world.committed(), ["src.txt"]);
    let put_back = world.events_of("edits.put_back").pop().expect("the event");
    let kept = put_back["kept"].as_str().expect("a tree");
    assert_eq!(world.git(&["show", &format!("{kept}:docs/b.md")]), "new\n");
    assert!(world.read(".agent-collab/log.md").contains(kept));
}

#[test]
fn what_is_kept_is_committed() {
    let world = world();
    world.run(&["--answer", "held_edits=keep"]).ends(0);
    let expected = [
        "docs/a.md",
        "docs/b.md",
        "docs/gone.md",
        "keys/k",
        "src.txt",
    ];
    assert_eq!(world.committed(), expected);
    assert_eq!(world.events_of("edits.put_back").len(), 0);
}

#[test]
fn mode_yolo_keeps_what_rules_ask_about_and_nothing_that_they_deny() {
    let world = world();
    world
        .run(&["--mode", "yolo", "--answer", "held_edits=put-back"])
        .ends(0);
    assert_eq!(world.committed(), ["keys/k", "src.txt"]);
}

#[test]
fn in_mode_plan_a_step_writes_nothing() {
    let world = world();
    world
        .run(&["--mode", "plan"])
        .ends(3)
        .complains("Step 1 changed nothing");
    assert_eq!(
        world.git(&["status", "--porcelain", "--", ":!.agent-collab"]),
        ""
    );
    assert_eq!(world.subjects(), ["documents", "first"]);
}

#[test]
fn a_step_of_which_everything_is_put_back_changed_nothing() {
    let mut world = world();
    world.config =
        "[[permission.rule]]\npermission = \"edit\"\npattern = \"*\"\naction = \"deny\"\n"
            .to_owned();
    let step = vec![shell("echo new > docs/a.md"), say("Wrote.")];
    world.cast(
        &Agent::planning(&["Write"]).step(1, step),
        &Agent::approving(),
    );
    world
        .run(&["--answer", "held_edits=put-back"])
        .ends(3)
        .complains("Step 1 changed nothing");
    assert_eq!(world.read("docs/a.md"), "as it was\n");
}
