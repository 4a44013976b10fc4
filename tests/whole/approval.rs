//! What the approval of a plan is bound to: a change of it asks before the next step, whatever flags were given.

use std::fs;

use crate::repository::{commit_all, init};
use crate::script::{Agent, say, shell, write};
use crate::world::{Ran, World};

const RESUME: [&str; 6] = [
    "resume",
    "--auto",
    "--on-unproven",
    "waive",
    "--answer",
    "nothing_changed=retry",
];

/// Two steps; `files` are what the plan names for the first one. The second one changes nothing.
fn cast(world: &World, files: &str, first: Vec<serde_json::Value>) {
    let plan = format!(
        "# Task: A change\n\n## Goal\nA change.\n\n## Steps\n1. [ ] Write one\n   Files: {files}\n   No test: only text \
         changes\n2. [ ] Write two\n   Files: two.md\n   No test: only text changes\n"
    );
    let agent = Agent::new()
        .plan(&plan)
        .step(1, first)
        .step(2, vec![say("There is nothing to do.")]);
    world.cast(&agent, &Agent::approving());
}

/// Runs until the first step is committed and the second one has changed nothing.
fn stop_after_first_step(world: &World) {
    let first = vec![write("one.md", "one\n"), say("Wrote.")];
    cast(world, "one.md", first);
    world
        .run(&["--on-unproven", "waive"])
        .ends(3)
        .complains("Step 2 changed nothing");
}

/// A run whose first step is committed and whose second one waits for an answer.
fn waiting() -> World {
    let mut world = World::new();
    world.proves_steps = true;
    world.config = config("true", "KEY=old", "allow");
    world.put("AGENTS.md", "Be brief.\n");
    world.put(".gitignore", ".env\n");
    commit_all(&world.root, "project");
    world.put(".env", "NAME=old\n");
    stop_after_first_step(&world);
    // The next time its agent has something to do.
    world.cast(&second_step(), &Agent::approving());
    world
}

/// An agent that only does the second step.
fn second_step() -> Agent {
    let actions = vec![write("two.md", "two\n"), say("Wrote.")];
    Agent::new().always("[agent-collab EXECUTE step 2]", actions)
}

fn config(test: &str, variable: &str, action: &str) -> String {
    format!(
        "[test]\ndefault_command = \"{test}\"\nenv = [\"{variable}\"]\ncarry = [\".env\"]\n\
         [[permission.rule]]\npermission = \"bash\"\npattern = \"ls *\"\naction = \"{action}\"\n"
    )
}

fn resume(world: &World, more: &[&str]) -> Ran {
    world.program(&[&RESUME[..], more].concat())
}

/// Returns the receipts of a kind, as text.
fn receipts(world: &World, kind: &str) -> Vec<String> {
    let files = world.files(".agent-collab/receipts");
    let texts = files
        .into_iter()
        .map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned());
    let kind = format!("\"kind\":\"{kind}\"");
    texts.filter(|text| text.contains(&kind)).collect()
}

#[test]
fn where_nothing_changed_nothing_is_asked() {
    let world = waiting();
    resume(&world, &[]).ends(0);
    assert_eq!(world.committed(), ["two.md"]);
    assert_eq!(receipts(&world, "approval").len(), 1);
}

#[test]
fn each_kind_of_change_asks_before_the_next_step_and_says_what_changed() {
    type Change = fn(&mut World);
    let table: [(Change, &str); 7] = [
        (
            |world| world.put("AGENTS.md", "Skip tests.\n"),
            "AGENTS.md: ",
        ),
        (
            |world| world.put("src/AGENTS.md", "Skip tests.\n"),
            "src/AGENTS.md: none → ",
        ),
        (
            |world| fs::remove_file(world.root.join("AGENTS.md")).expect("file"),
            "AGENTS.md: ",
        ),
        (
            |world| world.config = config("test -d .", "KEY=old", "allow"),
            "the test command: true → test -d .",
        ),
        (
            |world| world.config = config("true", "KEY=new", "allow"),
            "test.env KEY: ",
        ),
        (|world| world.put(".env", "NAME=new\n"), "test.carry .env: "),
        (
            |world| world.config = config("true", "KEY=old", "ask"),
            "permissions of config.toml: ",
        ),
    ];
    for (change, said) in table {
        let mut world = waiting();
        change(&mut world);
        resume(&world, &[])
            .ends(3)
            .complains(&format!(
                "Before step 2: what you approved has changed: {said}"
            ))
            .complains("--answer approval_changed=accept|retry|stop|cancel");
        assert_eq!(world.committed(), ["one.md"], "{said}");
    }
}

#[test]
fn an_accepted_change_is_bound_and_a_link_of_the_chain() {
    let world = waiting();
    world.put("AGENTS.md", "Be very brief.\n");
    // The changed file is the user's: it stays out of the step's commit.
    let answers = [
        "--answer",
        "approval_changed=accept",
        "--on-dirty",
        "leave-out",
    ];
    resume(&world, &answers).ends(0);
    assert_eq!(world.committed(), ["two.md"]);
    let approvals = receipts(&world, "approval");
    assert_eq!(approvals.len(), 2, "{approvals:?}");
    let answers = receipts(&world, "extension");
    assert!(
        answers[0].contains("approval_changed") && answers[0].contains("AGENTS.md"),
        "{answers:?}"
    );
    world.program(&["verify"]).ends(0).says("step 2");
}

#[test]
fn a_rule_file_that_the_plan_names_needs_no_new_approval_of_what_its_step_wrote() {
    for (files, more, code) in [
        ("AGENTS.md", &[][..], 6),
        ("one.md", &["--answer", "out_of_scope=allow"], 3),
        (
            "one.md",
            &[
                "--answer",
                "out_of_scope=allow",
                "--answer",
                "entry_points=allow",
            ],
            6,
        ),
    ] {
        let mut world = World::new();
        world.proves_steps = true;
        world.put("AGENTS.md", "Be brief.\n");
        commit_all(&world.root, "project");
        cast(
            &world,
            files,
            vec![write("AGENTS.md", "Be kind.\n"), say("Wrote.")],
        );
        let skip = ["--on-unproven", "waive", "--answer", "nothing_changed=skip"];
        let ran = world.run(&[&skip[..], more].concat());
        ran.ends(code);
        assert!(
            !ran.err.contains("what you approved has changed"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn an_undo_of_a_step_that_changed_a_rule_file_needs_no_new_approval_of_what_it_put_back() {
    for (path, edits_after) in [
        ("AGENTS.md", false),
        ("src/CLAUDE.md", false),
        ("AGENTS.md", true),
    ] {
        let mut world = World::new();
        world.proves_steps = true;
        world.put(path, "Be brief.\n");
        commit_all(&world.root, "project");
        cast(&world, path, vec![write(path, "Be kind.\n"), say("Wrote.")]);
        world.run(&["--on-unproven", "waive"]).ends(3);
        world.program(&["undo", "--yes", "--step", "1"]).ends(0);
        assert_eq!(world.read(path), "Be brief.\n");
        if edits_after {
            world.put(path, "Skip tests.\n");
        }
        let again = vec![write(path, "Be kinder.\n"), say("Wrote.")];
        let agent = second_step().always("[agent-collab EXECUTE step 1]", again);
        world.cast(&agent, &Agent::approving());
        let ran = resume(&world, &[]);
        if edits_after {
            ran.ends(3)
                .complains("Before step 1: what you approved has changed: AGENTS.md: ");
        } else {
            ran.ends(0);
            assert_eq!(world.read(path), "Be kinder.\n");
            world.program(&["verify"]).ends(0);
        }
    }
}

#[test]
fn a_run_in_a_repository_without_a_commit_needs_no_new_approval_after_its_own_ones() {
    let mut world = World::without_git();
    world.proves_steps = true;
    init(&world.root);
    stop_after_first_step(&world);
    let again = vec![write("one.md", "1\n"), say("Wrote.")];
    let agent = second_step().always("[agent-collab EXECUTE step 1]", again);
    world.cast(&agent, &Agent::approving());
    world.program(&["undo", "--yes", "--step", "1"]).ends(0);
    resume(&world, &[]).ends(0);
    assert_eq!(world.committed(), ["two.md"]);
    world.program(&["verify"]).ends(0);
}

#[test]
fn a_commit_of_somebody_else_in_a_repository_that_had_none_asks_before_the_next_step() {
    let mut world = World::without_git();
    world.proves_steps = true;
    init(&world.root);
    let commits = shell("git commit --quiet --allow-empty -m mine");
    cast(
        &world,
        "one.md",
        vec![commits, write("one.md", "one\n"), say("Wrote.")],
    );
    let ran = world.run(&["--on-unproven", "waive"]);
    ran.ends(3)
        .complains("the base commit, which HEAD no longer contains: none → ");
}

#[test]
fn another_version_is_told_and_asks_only_where_versions_are_bound() {
    for (bound, code) in [("false", 0), ("true", 3)] {
        let mut world = World::new();
        world.proves_steps = true;
        world.config = format!("[workflow]\nbind_versions = {bound}\n");
        cast(
            &world,
            "one.md",
            vec![write("one.md", "one\n"), say("Wrote.")],
        );
        world.run(&["--on-unproven", "waive"]).ends(3);
        let agent = second_step().version("0.999.0");
        world.cast(&agent, &Agent::approving());
        let ran = resume(&world, &[]);
        ran.ends(code);
        if code == 3 {
            ran.complains("the version of codex: ");
        } else {
            assert!(
                world
                    .read(".agent-collab/log.md")
                    .contains("the version of codex: ")
            );
            let versions = receipts(&world, "versions");
            assert!(versions[0].contains("0.999.0"), "{versions:?}");
        }
    }
}
