//! What a step changed outside of the files that its plan names: asked about, allowed, or restored.

use serde_json::Value;

use crate::repository::commit_all;
use crate::script::{Agent, say, shell, write};
use crate::world::World;

/// Creates a run whose step names `src` and a manifest and does these actions.
fn world(actions: Vec<Value>) -> World {
    let mut world = World::new();
    world.proves_steps = true;
    world.put("docs/a.md", "as it was\n");
    world.put("docs/old.md", "was here\n");
    world.put("web/package.json", "{}\n");
    commit_all(&world.root, "project");
    let plan = "# Task: A change\n\n## Goal\nA change.\n\n## Steps\n1. [ ] Make the change\n   \
                Files: src, web/package.json\n   No test: only text changes\n";
    let agent = Agent::new().plan(plan).step(1, actions);
    world.cast(&agent, &Agent::approving());
    world
}

/// A step that writes what its plan names with a tool, and something else with a command.
fn command(line: &str) -> World {
    world(vec![
        write("src/new/a.txt", "a\n"),
        write("web/package-lock.json", "{}\n"),
        shell(line),
        say("Wrote."),
    ])
}

const INSIDE: [&str; 2] = ["src/new/a.txt", "web/package-lock.json"];
const ANSWERS: [&str; 2] = ["--on-unproven", "waive"];

/// Returns why edits were denied.
fn denied_edits(world: &World) -> Vec<String> {
    let decided = world.events_of("approval.answered");
    let asked = world.events_of("approval.asked");
    let said = |asked: Value| {
        let mut answers = decided.iter();
        let answer = answers.find(|one| one["request"] == asked["request"])?;
        let is_edit = asked["permission"] == "edit" && answer["allowed"] == false;
        is_edit.then(|| answer["reason"].as_str().unwrap_or_default().to_owned())
    };
    asked.into_iter().filter_map(said).collect()
}

#[test]
fn what_the_plan_names_is_written_without_a_question() {
    let world = command("true");
    world.run(&ANSWERS).ends(6);
    assert_eq!(world.committed(), INSIDE);
    assert_eq!(denied_edits(&world), Vec::<String>::new());
}

#[test]
fn what_a_command_changed_elsewhere_needs_an_answer() {
    let world = command("echo new > docs/a.md && rm docs/old.md");
    world
        .run(&ANSWERS)
        .ends(3)
        .complains(
            "Step 1 changed files that its plan does not name: docs/a.md, docs/old.md (deleted)",
        )
        .complains("--on-scope deny or --answer out_of_scope=allow|put-back|stop|cancel");
    assert_eq!(world.subjects(), ["project", "first"]);
}

#[test]
fn what_is_denied_is_as_before_the_step() {
    for flags in [
        ["--on-scope", "deny"],
        ["--answer", "out_of_scope=put-back"],
    ] {
        let world = command("echo new > docs/a.md && rm docs/old.md && echo x > docs/b.md");
        world.run(&[&ANSWERS[..], &flags].concat()).ends(6);
        assert_eq!(world.read("docs/a.md"), "as it was\n");
        assert_eq!(world.read("docs/old.md"), "was here\n");
        assert!(!world.root.join("docs/b.md").exists());
        assert_eq!(world.committed(), INSIDE);
    }
}

#[test]
fn what_is_allowed_is_committed_and_a_deletion_needs_its_own_answer() {
    let expected = ["docs/a.md", INSIDE[0], INSIDE[1]];
    let world = command("echo new > docs/a.md");
    let flags = ["--on-scope", "allow"];
    world.run(&[&ANSWERS[..], &flags].concat()).ends(6);
    assert_eq!(world.committed(), expected);

    let world = command("rm docs/old.md");
    world
        .run(&[&ANSWERS[..], &flags].concat())
        .ends(3)
        .complains("docs/old.md (deleted)");
    let world = command("rm docs/old.md");
    let flags = ["--answer", "out_of_scope=allow"];
    world.run(&[&ANSWERS[..], &flags].concat()).ends(6);
    assert_eq!(world.committed(), ["docs/old.md", INSIDE[0], INSIDE[1]]);
}

/// A step of claude that edits what its plan does not name with a tool.
fn editing() -> World {
    let mut world = world(Vec::new());
    let plan = "# Task: A change\n\n## Goal\nA change.\n\n## Steps\n1. [ ] Make the change\n   \
                Files: src\n   No test: only text changes\n";
    let step = vec![
        write("src/a.txt", "a\n"),
        write("docs/a.md", "new\n"),
        say("Wrote."),
    ];
    let agent = Agent::new().plan(plan).step(1, step);
    world.cast_claude_first(&agent, &Agent::approving());
    world
}

#[test]
fn an_edit_elsewhere_asks_before_it_is_made() {
    let world = editing();
    world.run(&ANSWERS).ends(6);
    let denied = denied_edits(&world);
    assert_eq!(denied.len(), 1, "{denied:?}");
    let why = "step 1 names other files, not docs/a.md, and no one can answer";
    assert!(denied[0].contains(why), "{denied:?}");
    assert_eq!(world.read("docs/a.md"), "as it was\n");
    assert_eq!(world.committed(), ["src/a.txt"]);
}

#[test]
fn the_flag_and_the_milder_modes_let_it_be_made_and_ask_at_the_end_of_the_turn() {
    let world = editing();
    let flags = ["--on-scope", "allow"];
    world.run(&[&ANSWERS[..], &flags].concat()).ends(6);
    assert_eq!(world.committed(), ["docs/a.md", "src/a.txt"]);
    for mode in ["auto-edit", "yolo"] {
        let world = editing();
        world
            .run(&[&ANSWERS[..], &["--mode", mode]].concat())
            .ends(3)
            .complains("Step 1 changed files that its plan does not name: docs/a.md")
            .complains("--on-scope allow|deny");
        assert_eq!(denied_edits(&world), Vec::<String>::new());
    }
}

#[test]
fn rules_are_stronger_than_the_flag() {
    let mut world = command("echo new > docs/a.md");
    world.config =
        "[[permission.rule]]\npermission = \"edit\"\npattern = \"docs/*\"\naction = \"deny\"\n"
            .to_owned();
    let flags = ["--on-scope", "allow"];
    world
        .run(&[&ANSWERS[..], &flags].concat())
        .ends(3)
        .complains("held_edits");
}

#[test]
fn a_step_without_such_a_line_writes_anywhere() {
    let mut world = World::new();
    world.proves_steps = true;
    let plan = "# Task: A change\n\n## Goal\nA change.\n\n## Steps\n1. [ ] Make the change\n   \
                No test: only text changes\n";
    let step = vec![
        write("a.txt", "a\n"),
        shell("echo b > b.txt"),
        say("Wrote."),
    ];
    let agent = Agent::new().plan(plan).step(1, step);
    world.cast(&agent, &Agent::approving());
    world.run(&ANSWERS).ends(6);
    assert_eq!(world.committed(), ["a.txt", "b.txt"]);
}
