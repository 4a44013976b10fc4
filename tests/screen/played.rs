//! A run that scripted agents play on the screen: how it is started, inspected and left.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::World;
use crate::keys::{CTRL_C, ENTER, ESC};
use crate::script::{Agent, say};
use crate::terminal::Terminal;

pub const PLAN: &str = "# Task: A test\n\nOne word.\n\n1. [ ] Write\n";
/// A review with one finding.
pub const WANTS_MORE: &str = "[CHANGES_REQUIRED]\n\n1. [major] Say more.\n   Place: step 1\n   Scenario: it is done as written, and nobody knows why\n";

/// Lets two scripted agents play; returns the configuration that names them.
pub fn cast(world: &World, planner: &Agent, reviewer: &Agent, more: &str) -> PathBuf {
    let folder = world.folder.path();
    // These tests are about the screen; their test commands prove nothing.
    let off = "[test]\nproof = \"off\"\n";
    let mut config = if more.contains("[test]\n") {
        format!("{}\n", more.replacen("[test]\n", off, 1))
    } else if more.contains("[test]") {
        format!("{}\n", more.replacen("[test]", off.trim_end(), 1))
    } else {
        format!("{more}\n{off}")
    };
    for (name, agent) in [("codex", planner), ("claude", reviewer)] {
        let script = folder.join(format!("{name}.json"));
        std::fs::write(&script, agent.to_json()).unwrap();
        let program = env!("CARGO_BIN_EXE_agent-collab");
        config.push_str(&format!(
            "[adapters.{name}]\nprogram = {program:?}\nargs = [\"scripted-agent\", \"--as\", \"{name}\", \
             \"--fast\", \"--script\", {:?}]\nwritable = [{:?}]\n",
            script.to_string_lossy(),
            folder.to_string_lossy()
        ));
    }
    let path = folder.join("config.toml");
    std::fs::write(&path, config).unwrap();
    path
}

pub fn talking() -> Agent {
    Agent::new().always("[agent-collab REFINE_GOAL]", vec![say("Understood.")])
}

/// Starts the program where no run is.
pub fn open(world: &World, config: &Path) -> Terminal {
    let mut terminal = open_again(world, config);
    terminal.wait_for("Describe the goal");
    terminal
}

/// Starts the program in a place that may already have files.
pub fn open_again(world: &World, config: &Path) -> Terminal {
    world.open(&["--config", &config.to_string_lossy()])
}

/// Enters the goal without confirming it.
pub fn talk(world: &World, config: &Path) -> Terminal {
    let mut terminal = open(world, config);
    give_goal(&mut terminal);
    terminal
}

/// The same on a screen that is open.
pub fn give_goal(terminal: &mut Terminal) {
    terminal.type_keys("A test\r");
    terminal.wait_for("Is this the goal");
    terminal.type_keys(ESC);
    terminal.wait_until_letters_command();
}

/// Enters and confirms the goal; the first turn waits for its release.
pub fn confirm(world: &World, config: &Path) -> Terminal {
    let mut terminal = talk(world, config);
    terminal.type_keys(ENTER);
    terminal.wait_for("Send the goal to the planner?");
    terminal
}

/// Enters and confirms the goal, and lets turns follow each other.
pub fn begin(world: &World, config: &Path) -> Terminal {
    let mut terminal = talk(world, config);
    terminal.type_keys("a");
    terminal.wait_for("Auto");
    terminal.type_keys(ENTER);
    terminal
}

/// A run that was left when its plan was approved; returns the configuration.
pub fn left_at_the_approval(world: &World) -> PathBuf {
    let config = cast(world, &talking().plan(PLAN), &Agent::approving(), "");
    let mut terminal = begin(world, &config);
    terminal.wait_for("Run this plan (");
    leave(terminal);
    config
}

/// Writes a line into the composer and sends it.
pub fn command(terminal: &mut Terminal, text: &str) {
    if terminal.takes_letters() {
        terminal.type_keys("i");
        terminal.wait_until_writing();
    }
    terminal.type_keys(text);
    terminal.wait_for(text);
    terminal.type_keys(ENTER);
}

pub fn leave(mut terminal: Terminal) {
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.assert_given_back();
}

fn workdir(world: &World) -> PathBuf {
    world.repository().join(".agent-collab")
}

pub fn read(world: &World, name: &str) -> String {
    std::fs::read_to_string(workdir(world).join(name)).unwrap()
}

/// Writes a document as another program does.
pub fn overwrite(world: &World, name: &str, text: &str) {
    std::fs::write(workdir(world).join(name), text).unwrap();
}

/// The names in a folder of the run's, sorted; none where there is no such folder.
pub fn names_in(world: &World, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(workdir(world).join(folder));
    let entries = entries.into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Returns the texts that were preserved after conflicts.
pub fn kept_of_conflicts(world: &World) -> Vec<String> {
    let names = names_in(world, "history/conflicts");
    let texts = names.iter();
    texts
        .map(|name| read(world, &format!("history/conflicts/{name}")))
        .collect()
}

pub fn state(world: &World) -> Value {
    serde_json::from_str(&read(world, "state.json")).unwrap()
}

/// The data of the events of one kind.
pub fn events_of(world: &World, kind: &str) -> Vec<Value> {
    let log = read(world, "events.jsonl");
    let whole = log
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    let events = whole.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_kind = events.filter(|event| event["kind"] == kind);
    of_kind.map(|event| event["data"].clone()).collect()
}

/// Returns everything in a role's current session, its prompts included.
pub fn told(world: &World, role: &str) -> String {
    let id = state(world)[role]["id"].clone();
    let id = id.as_str().unwrap();
    read(world, &format!("sessions/{id}/messages.jsonl"))
}

/// Creates a pipe on which an agent waits until it is written to.
pub fn fifo(world: &World) -> PathBuf {
    let fifo = world.folder.path().join("wait");
    let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    fifo
}

/// Lets the agent that waits at the pipe continue.
pub fn release(fifo: &Path) {
    let fifo = fifo.to_owned();
    // If no agent ever reads, only this thread blocks.
    std::thread::spawn(move || std::fs::write(fifo, "go on\n"));
}
