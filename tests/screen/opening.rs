//! The user's input while a run is being opened: it waits, or is returned.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::World;
use crate::keys::{CTRL_C, END, ENTER};
use crate::played::{PLAN, cast, leave, open, talking};
use crate::programs::put_program;
use crate::script::{Agent, say};
use crate::terminal::Terminal;

/// Makes each CLI wait before it answers, as long as a file exists.
fn slow(world: &World, config: &Path) -> PathBuf {
    let folder = world.folder.path();
    let (gate, slow) = (folder.join("gate"), folder.join("slow"));
    let program = env!("CARGO_BIN_EXE_agent-collab");
    put_program(
        &slow,
        &format!(
            "#!/bin/sh\nwhile [ -e {} ]; do sleep 0.05; done\nexec {program} \"$@\"\n",
            gate.display()
        ),
    );
    let text = std::fs::read_to_string(config).unwrap();
    let slow = format!("program = {:?}", slow.to_string_lossy());
    let text = text.replace(&format!("program = {program:?}"), &slow);
    std::fs::write(config, text).unwrap();
    gate
}

fn send(world: &World, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_agent-collab"))
        .arg("send")
        .args(arguments)
        .current_dir(world.repository())
        .env("HOME", world.home())
        .output()
        .unwrap()
}

fn state(world: &World) -> Option<Value> {
    let path = world.repository().join(".agent-collab/state.json");
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

fn type_line(terminal: &mut Terminal, text: &str) {
    terminal.type_keys(text);
    terminal.wait_for(text);
    terminal.type_keys(ENTER);
}

#[test]
fn what_is_sent_while_a_run_is_opened_waits_in_order_or_comes_back() {
    let world = World::new();
    let agree = "Yes.\n\n```stance\n{\"stance\": \"agree\", \"proposal\": \"sqlite\", \"confidence\": 0.7}\n```";
    let agreeing = |agent: Agent| {
        let names = ["advocate", "critic", "moderator"];
        names.iter().fold(agent, |agent, name| {
            let header = format!("[agent-collab discussion {name}]");
            agent.on(&header, vec![say(agree)])
        })
    };
    let (planner, reviewer) = (agreeing(talking().plan(PLAN)), agreeing(Agent::new()));
    let config = cast(&world, &planner, &reviewer, "");
    let gate = slow(&world, &config);
    let mut terminal = open(&world, &config);
    std::fs::write(&gate, "").unwrap();
    type_line(&mut terminal, "A first goal");
    terminal.wait_for("Checking the agents");
    type_line(&mut terminal, "/discuss SQLite or Postgres?");
    terminal.wait_gone("/discuss SQLite");
    type_line(&mut terminal, "A second goal");
    terminal.wait_for("A run is opening");
    assert!(
        terminal.text().contains("A second goal"),
        "{}",
        terminal.text()
    );
    let sent = send(&world, &["goal", "A third goal"]);
    let why = String::from_utf8_lossy(&sent.stderr);
    assert_eq!(sent.status.code(), Some(1), "{why}");
    assert!(why.contains("not done: A run is opening"), "{why}");
    std::fs::remove_file(&gate).unwrap();
    terminal.wait("goal and discussion", |_| {
        state(&world).is_some_and(|state| {
            let n_discussions = state["discussions"].as_array().map(Vec::len);
            state["goal"]["title"] == "A first goal" && n_discussions == Some(1)
        })
    });
    // Leaving while something is running asks first.
    terminal.wait("the end of both", |terminal| {
        let text = terminal.text();
        // The name line of a finished turn says how long it took.
        let mut lines = text.lines().map(str::trim_end);
        text.contains("consensus: sqlite")
            && lines.any(|line| line.contains("▎ Planner") && line.ends_with(" s"))
    });
    leave(terminal);
}

/// Returns whether an agent received a text, according to the run's files.
fn was_sent(world: &World, text: &str) -> bool {
    let sessions = world.repository().join(".agent-collab/sessions");
    let folders = std::fs::read_dir(sessions).unwrap().flatten();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten());
    let texts = files
        .flatten()
        .filter_map(|file| std::fs::read_to_string(file.path()).ok());
    texts.into_iter().any(|told| told.contains(text))
}

#[test]
fn instructions_of_an_untrusted_repository_are_shown_before_the_first_goal_and_asked_about_once() {
    let world = World::new();
    let config = cast(&world, &talking(), &Agent::new(), "");
    std::fs::write(
        world.repository().join("AGENTS.md"),
        "Be-brief-everywhere.\n",
    )
    .unwrap();
    let mut terminal = open(&world, &config);
    terminal.type_keys("A test\r");
    terminal.wait_for("Send AGENTS.md to the agents?");
    terminal.wait_for("Be-brief-everywhere.");
    assert!(
        !world
            .repository()
            .join(".agent-collab/events.jsonl")
            .exists()
    );
    // The goal comes back, and is asked about again.
    terminal.type_keys("w");
    terminal.wait_gone("Send AGENTS.md");
    terminal.type_keys(ENTER);
    terminal.wait_for("Send AGENTS.md to the agents?");
    terminal.type_keys("u");
    terminal.wait_for("Is this the goal");
    terminal.leave_composer();
    terminal.type_keys("5");
    terminal.wait_for("Stage  ");
    // What seldom matters is at the end.
    terminal.type_keys(END);
    terminal.wait_for("AGENTS.md: sent to the agents");
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    assert!(was_sent(&world, "Be-brief-everywhere."));
    // The answer is known at the next start.
    let mut terminal = world.open(&["--config", &config.to_string_lossy(), "--resume"]);
    terminal.wait_for("Is this the goal");
    terminal.leave_composer();
    terminal.type_keys("5");
    terminal.wait_for("Stage  ");
    // What seldom matters is at the end.
    terminal.type_keys(END);
    terminal.wait_for("AGENTS.md: sent to the agents");
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.assert_given_back();
}
