//! Which test command runs, the repository's or the plan's, and that its origin is reported.

use crate::repository::commit_all;
use crate::script::{Agent, say, write};
use crate::world::{Ran, World};

const DETECT: [&str; 2] = ["-s", "test.default_command=auto"];
const APPROVED: [&str; 5] = ["run", "--goal", "A test", "--auto", "--yes-execute"];

fn agent() -> Agent {
    Agent::new()
        .plan("# Task: A\n\n1. [ ] Write\n\nTest: grep -q new new.txt\n")
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")])
}

/// Creates a repository whose manifest implies `cargo test`, and a plan that names another command.
fn with_two_commands() -> World {
    let mut world = World::new();
    let manifest = "[package]\nname = \"x\"\nversion = \"0.1.0\"\n";
    world.put("Cargo.toml", manifest);
    commit_all(&world.root, "second");
    let tools = world.folder.join("tools");
    let script = "#!/bin/sh\necho 'test result: ok. 2 passed; 0 failed; 0 ignored'\n";
    crate::programs::put_program(&tools.join("cargo"), script);
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", tools.display());
    world.env.push(("PATH".to_owned(), path));
    world.cast(&agent(), &Agent::approving());
    world
}

fn run(world: &World, more: &[&str]) -> Ran {
    world.program(&[&APPROVED[..], &DETECT[..], more].concat())
}

fn command(world: &World) -> String {
    let state = world.state();
    let receipt = &state["execution"]["done"][0]["receipt"]["command"];
    receipt.as_str().unwrap_or_default().to_owned()
}

#[test]
fn the_detected_command_runs_by_default_and_it_is_said_that_the_plan_names_another() {
    let world = with_two_commands();
    run(&world, &[])
        .ends(0)
        .says("Step 1: tests passed: 2 passed, 0 failed, 0 skipped, test command detected in Cargo.toml")
        .says("Tested with `cargo test` (detected in Cargo.toml)");
    assert_eq!(command(&world), "cargo test");
    let log = world.read(".agent-collab/log.md");
    for told in [
        "Tested with `cargo test` (detected in Cargo.toml), not with `grep -q new new.txt` (proposed by the plan)",
        "- test command: `cargo test` (detected in Cargo.toml)",
    ] {
        assert!(log.contains(told), "{told}\n{log}");
    }
}

#[test]
fn the_plans_command_runs_instead_where_a_flag_says_so() {
    let world = with_two_commands();
    run(&world, &["--test-command", "plan"])
        .ends(0)
        .says("Step 1: tests passed, test command proposed by the plan")
        .says("Tested with `grep -q new new.txt` (proposed by the plan)");
    assert_eq!(command(&world), "grep -q new new.txt");
    let log = world.read(".agent-collab/log.md");
    let told = "- test command: `grep -q new new.txt` (proposed by the plan)";
    assert!(log.contains(told), "{log}");
}

#[test]
fn a_command_that_only_the_plan_names_needs_a_flag_which_resume_takes_too() {
    let world = World::new();
    world.cast(&agent(), &Agent::approving());
    for more in [&[][..], &["--test-command", "detected"]] {
        let flags = [&["--new"][..], more].concat();
        run(&world, &flags)
            .ends(3)
            .complains("needs you (execute)")
            .complains("--yes-execute --test-command plan");
    }
    let resume = [
        "resume",
        "--auto",
        "--yes-execute",
        "--test-command",
        "plan",
    ];
    world.program(&[&resume[..], &DETECT[..]].concat()).ends(0);
    assert_eq!(command(&world), "grep -q new new.txt");
}

#[test]
fn a_configured_command_is_named_by_its_file() {
    let mut world = World::new();
    world
        .config
        .push_str("[test]\ndefault_command = \"test -f new.txt\"\n");
    world.cast(&agent(), &Agent::approving());
    world
        .program(&APPROVED)
        .ends(0)
        .says("(from config.toml)")
        .says("Tested with `test -f new.txt` (from config.toml)");
}
