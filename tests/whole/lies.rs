//! Lying executors, and honest ones beside them: what each change is worth, as the program finds out by itself.
//!
//! `cargo test --test whole lies -- --nocapture` prints the tables.

mod cargo;
mod clean_copies;
mod first_tests;
mod flaky;
mod node;
mod pytest;
mod red_baseline;
mod step_tests;

use crate::repository::commit_all;
use crate::script::{Agent, say, shell, write};
use crate::world::World;

/// One change of an executor to a project.
pub struct Change {
    /// What it does, in words.
    pub name: &'static str,
    /// The lines of the plan below its step.
    pub plan: &'static str,
    /// Files that it writes, each with its whole text.
    pub writes: &'static [(&'static str, &'static str)],
    /// What it runs besides, a shell line.
    pub runs: &'static str,
    /// How the run ends: the exit code, and the question that is open with 3.
    pub end: &'static str,
}

/// A project with its tests.
pub struct Project {
    pub runner: &'static str,
    /// The test command.
    pub command: &'static str,
    pub files: &'static [(&'static str, &'static str)],
}

/// Plays a change; returns how its run ended, or, where it should have ended otherwise, that with the open question.
fn play(project: &Project, change: &Change) -> Result<String, String> {
    play_in(&lay_out(project), project, change)
}

/// Makes a world with this project, in which steps are proven.
fn lay_out(project: &Project) -> World {
    let mut world = World::new();
    world.proves_steps = true;
    world.config = format!("[test]\ndefault_command = {:?}\n", project.command);
    // The world has a home of its own, and rustup finds its toolchains below the real one. Settings, locks and caches of the
    // real cargo would make the worlds depend on each other and on the machine.
    let home = std::env::var("HOME").unwrap_or_default();
    let toolchains = std::env::var("RUSTUP_HOME").unwrap_or_else(|_| format!("{home}/.rustup"));
    world.env.push(("RUSTUP_HOME".to_owned(), toolchains));
    for (path, text) in project.files {
        world.put(path, text);
    }
    commit_all(&world.root, "project");
    world
}

/// Plays a change in a world that has its project, as [`play`] does.
#[expect(
    clippy::print_stderr,
    reason = "what a run said is shown where it ends otherwise"
)]
fn play_in(world: &World, project: &Project, change: &Change) -> Result<String, String> {
    let mut actions: Vec<_> = change
        .writes
        .iter()
        .map(|(path, text)| write(path, text))
        .collect();
    if !change.runs.is_empty() {
        actions.push(shell(change.runs));
    }
    actions.push(say("Done: the step is complete and all tests pass."));
    let plan = format!(
        "# Task: A change\n\n## Goal\nA change.\n\n## Steps\n1. [ ] Make the change\n{}\n",
        change.plan
    );
    let agent = Agent::new().plan(&plan).step(1, actions);
    world.cast(&agent, &Agent::approving());
    let ran = world.run(&["-s", "test.max_fix_turns=0", "--mode", "yolo"]);
    let state = world.state();
    let asked = state["awaiting"]["kind"]["about"]
        .as_str()
        .unwrap_or_default();
    let status = state["execution"]["done"][0]["proof"]["status"]["status"].as_str();
    let detail = if ran.code == 3 {
        asked
    } else {
        status.unwrap_or_default()
    };
    let end = format!("{} {detail}", ran.code).trim().to_owned();
    if end == change.end {
        return Ok(end);
    }
    eprintln!(
        "{}: {}: {end}, expected {}\n{}\n{}",
        project.runner, change.name, change.end, ran.out, ran.err
    );
    let receipt = &state["execution"]["current"]["receipt"];
    Err(format!(
        "{}: {end}, expected {}: {} {receipt}",
        change.name, change.end, state["awaiting"]["kind"]
    ))
}

/// Plays all changes of a table, prints it, and returns those that ended otherwise than they should.
#[track_caller]
#[expect(clippy::print_stdout, reason = "the table is what this prints")]
fn check_table(project: &Project, title: &str, changes: &[Change]) {
    let (mut wrong, mut lines) = (Vec::new(), Vec::new());
    for change in changes {
        match play(project, change) {
            Ok(end) => lines.push(format!(
                "| {} | {title} | {} | {end} |",
                project.runner, change.name
            )),
            Err(problem) => wrong.push(problem),
        }
    }
    println!("{}", lines.join("\n"));
    assert_eq!(wrong, Vec::<String>::new(), "{}", project.runner);
}
