//! Linear mode: the built program with pipes in place of a terminal, and in a terminal that can only print.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::World;
use crate::demo::n_agents;
use crate::terminal::Terminal;

/// The time limit for any line; only failures take that long.
const PATIENCE: Duration = Duration::from_secs(120);

/// The program with pipes: lines go in, lines come out.
struct Player {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
    /// All lines that were printed.
    lines: Vec<String>,
}

impl Player {
    fn start(world: &World, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_agent-collab"))
            .args(arguments)
            .current_dir(world.repository())
            .env("HOME", world.home())
            .env("TERM", "dumb")
            .env("LANG", "C.UTF-8")
            .env_remove("LC_ALL")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_STATE_HOME")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (tell, output) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    break;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            output,
            lines: Vec::new(),
        }
    }

    /// Waits for the next line that starts with a text.
    fn wait_for(&mut self, start: &str) {
        loop {
            let line = self.output.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("no `{start}` after {:#?}", self.lines));
            self.lines.push(line);
            if self
                .lines
                .last()
                .is_some_and(|line| line.starts_with(start))
            {
                return;
            }
        }
    }

    fn type_line(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }

    /// Waits for a question and answers it with the number of a choice.
    fn answer(&mut self, question: &str, choice: &str) {
        self.wait_for(&format!("Question: {question}"));
        self.wait_for("Type a number");
        let wanted = |line: &&String| {
            line.split_once(": ")
                .is_some_and(|(_, label)| label == choice)
        };
        let line = self.lines.iter().rfind(wanted);
        let line = line.unwrap_or_else(|| panic!("no `{choice}` in {:#?}", self.lines));
        let number = line.split(':').next().unwrap().to_owned();
        self.type_line(&number);
    }

    /// Closes the input, waits for the end and returns the exit code.
    fn end(&mut self) -> Option<i32> {
        self.input = None;
        while let Ok(line) = self.output.recv_timeout(PATIENCE) {
            self.lines.push(line);
        }
        self.child.wait().unwrap().code()
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        // After a failed wait the program still runs.
        let _over = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn open_demo(world: &World) -> Player {
    let folder = world.repository().join("demo");
    Player::start(
        world,
        &[
            "demo",
            "--fast",
            "--linear",
            "--dir",
            &folder.to_string_lossy(),
        ],
    )
}

#[test]
fn a_whole_run_is_played_by_numbers_and_commands() {
    let world = World::new();
    let mut player = open_demo(&world);
    player.answer("Is this the goal?", "Confirm and write the plan");
    player.answer("Send the goal to the planner?", "Send");
    player.wait_for("Question: Send the plan to the reviewer?");
    player.type_line("/tab plan");
    player.wait_for("Plan:");
    player.wait_for("Tests sh tests/run.sh");
    player.type_line("/auto");
    player.answer("Run this plan", "Run all steps");
    player.answer("Allow this command?", "Deny and say why...");
    player.wait_for("Why not?");
    player.type_line("not now");
    player.wait_for("Phase: Done.");
    player.wait_for("3 of 3 steps, 3 commits, tests passed after every step");
    player.wait_for("Proof: 3 of 3 proven");
    player.wait_for("Type the next goal");
    assert_eq!(player.end(), Some(0), "{:#?}", player.lines);
    let text = player.lines.join("\n");
    let is_control = |c: char| c.is_control() && c != '\n';
    assert!(!text.contains(is_control), "{text}");
    assert!(
        !text.contains(['▸', '✓', '✗', '■', '│', '─', '●']),
        "{text}"
    );
    assert_eq!(text.matches("not now").count(), 1, "{text}");
    for step in 1..=3 {
        assert!(text.contains(&format!("\nStep {step} done, ")), "{text}");
    }
    assert!(text.contains("No model was called."), "{text}");
    // A long line is one of an agent, a question or a result.
    let mut counts = BTreeMap::new();
    for line in player.lines.iter().filter(|line| line.len() > 60) {
        *counts.entry(line).or_insert(0) += 1;
    }
    let twice: Vec<_> = counts.iter().filter(|(_, n)| **n > 1).collect();
    assert!(twice.is_empty(), "{twice:#?}\n{text}");
}

#[test]
fn a_line_that_was_typed_before_a_question_was_printed_does_not_answer_it() {
    let world = World::new();
    let mut player = open_demo(&world);
    player.answer("Is this the goal?", "Confirm and write the plan");
    player.wait_for("Question: Send the goal to the planner?");
    // Both are there before the question is printed that the first one opens.
    player.type_line("/cancel\n1");
    player.wait_for("Not used: this was typed before the question was printed.");
    player.answer("Cancel the run?", "No, change nothing");
    player.answer("Send the goal to the planner?", "Send");
    player.wait_for("Question: Send the plan to the reviewer?");
    assert_eq!(player.end(), Some(0), "{:#?}", player.lines);
}

#[test]
fn an_interrupt_and_the_end_of_the_input_quit_a_run_that_waits_or_works() {
    let world = World::new();
    let mut player = open_demo(&world);
    player.answer("Is this the goal?", "Confirm and write the plan");
    player.wait_for("Question: Send the goal to the planner?");
    let pid = Pid::from_raw(i32::try_from(player.child.id()).unwrap());
    kill(pid, Signal::SIGINT).unwrap();
    player.wait_for("No model was called.");
    assert_eq!(player.end(), Some(0), "{:#?}", player.lines);
    let world = World::new();
    let folder = world.repository().join("demo");
    let folder = folder.to_string_lossy();
    let mut player = Player::start(&world, &["demo", "--linear", "--dir", &folder]);
    player.wait_for("Planner is reading the goal.");
    assert_eq!(player.end(), Some(0), "{:#?}", player.lines);
    assert_eq!(n_agents(&folder), 0);
}

#[test]
fn an_input_that_ends_at_once_still_starts_the_goal_before_it_and_reports_errors() {
    let world = World::new();
    world.configure(
        "[adapters.codex]\nprogram = \"/nonexistent/codex\"\n\
        [adapters.claude]\nprogram = \"/nonexistent/claude\"\n",
    );
    let mut player = Player::start(&world, &["--linear"]);
    player.type_line("Add a greeting");
    assert_eq!(player.end(), Some(0));
    let is_missing = |line: &String| line.contains("/nonexistent/codex");
    assert!(player.lines.iter().any(is_missing), "{:#?}", player.lines);

    let world = World::new();
    let settings = world.repository().join(".agent-collab");
    std::fs::create_dir(&settings).unwrap();
    std::fs::write(settings.join("config.toml"), "colour = 3\n").unwrap();
    let mut player = Player::start(&world, &["--linear"]);
    assert_eq!(player.end(), Some(1), "{:#?}", player.lines);
}

#[test]
fn a_goal_for_a_run_of_another_program_is_said_not_to_be_sent() {
    let world = World::new();
    let mut first = Player::start(&world, &["--linear"]);
    first.type_line("/history");
    first.wait_for("No finished runs");
    let mut second = Player::start(&world, &["--linear"]);
    second.type_line("Add a greeting");
    assert_eq!(second.end(), Some(0));
    let is_kept = |line: &String| line.contains("Not sent") && line.contains("Add a greeting");
    assert!(second.lines.iter().any(is_kept), "{:#?}", second.lines);
    assert_eq!(first.end(), Some(0));
}

#[test]
fn linear_mode_is_a_setting_and_needs_no_terminal() {
    let world = World::new();
    world.configure("[screen]\nlinear = true\n");
    let mut player = Player::start(&world, &[]);
    player.wait_for("agent-collab in linear mode");
    player.type_line("/help");
    player.wait_for("/quit: ");
    player.type_line("/quit");
    assert_eq!(player.end(), Some(0), "{:#?}", player.lines);
}

#[test]
fn a_terminal_that_only_prints_gets_linear_mode() {
    for (term, word) in [("dumb", "of type `dumb`"), ("", "TERM is not set")] {
        let world = World::new();
        let program = Path::new(env!("CARGO_BIN_EXE_agent-collab"));
        let places = (world.home(), world.repository());
        let places = (&*places.0, &*places.1);
        let mut terminal = Terminal::start_with(program, &[], places, &[("TERM", term)]);
        terminal.wait_for("Answer a question with the number of a choice");
        terminal.type_keys("/quit\r");
        assert_eq!(terminal.wait_for_end().code(), Some(0));
        let said = terminal.said();
        assert!(said.contains(word), "{said}");
        assert!(!said.contains('\x1b'), "{said}");
        terminal.assert_given_back();
    }
}
