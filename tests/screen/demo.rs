//! The demo on the screen, played with keys from the goal to the end.

use std::process::Command;

use crate::World;
use crate::giving_back::in_a_turn;
use crate::keys::{CTRL_C, CTRL_R, ENTER, ESC};
use crate::terminal::Terminal;

fn open_demo(world: &World) -> Terminal {
    let folder = world.repository().join("demo");
    let mut terminal = world.open(&["demo", "--fast", "--dir", &folder.to_string_lossy()]);
    terminal.wait_for(" demo ");
    terminal.wait_for("Is this the goal");
    // Letters are commands outside of the composer only.
    terminal.type_keys(ESC);
    terminal.wait_until_letters_command();
    terminal
}

/// Denies the agent's next call with a reason; the agent continues without it.
fn refuse_and_say_why(terminal: &mut Terminal) {
    terminal.wait_for("Allow this command?");
    terminal.type_keys("w");
    terminal.wait_for("Why not?");
    terminal.type_keys("\x15not now");
    terminal.wait_for("not now");
    terminal.type_keys(ENTER);
}

#[test]
fn a_whole_run_is_played_by_keys() {
    let world = World::new();
    let mut terminal = open_demo(&world);
    terminal.type_keys(ENTER);
    terminal.wait_for("Send the goal to the planner?");
    terminal.wait_for("The planner writes the plan");
    terminal.type_keys(ENTER);
    terminal.wait_for("Send the plan to the reviewer?");
    terminal.type_keys("2");
    terminal.wait_for("plan.md · version 1");
    terminal.type_keys("1a");
    terminal.wait_for("Auto");
    terminal.wait_for("Run this plan (");
    terminal.type_keys("p");
    terminal.wait_for("Manual");
    terminal.type_keys("m");
    terminal.wait_for("Start step 1?");
    terminal.type_keys("a");
    refuse_and_say_why(&mut terminal);
    terminal.wait_for("Run finished");
    terminal.type_keys("5");
    terminal.wait_for("✓ 3   ");
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.assert_given_back();
    assert!(terminal.text().contains("No model was called"));
    assert_eq!(n_commits(&world), 4);
}

#[test]
fn a_finished_run_is_looked_at_and_its_last_step_undone_and_redone() {
    let world = World::new();
    let mut terminal = open_demo(&world);
    let_go_to_approval(&mut terminal);
    terminal.type_keys("y");
    refuse_and_say_why(&mut terminal);
    terminal.wait_for("Run finished");
    terminal.type_keys("d");
    terminal.wait_for("Changes  All");
    terminal.wait_for("4 files +");
    terminal.type_keys("h");
    terminal.wait_for("The plan, its last version against the one before");
    terminal.type_keys("h");
    terminal.wait_for("Refuse");
    terminal.type_keys("q");
    terminal.wait_gone("Changes  All");
    terminal.type_keys("u");
    terminal.wait_for("Undo step 3?");
    terminal.type_keys("y");
    terminal.wait_for("Undo step 3, commit");
    assert_eq!(n_commits(&world), 5);
    // The same key goes back further; another key redoes the step.
    terminal.type_keys("u");
    terminal.wait_for("Undo step 2?");
    terminal.type_keys(ESC);
    terminal.wait_gone("Undo step 2?");
    terminal.type_keys(CTRL_R);
    terminal.wait_for("Redo step 3?");
    terminal.type_keys("y");
    terminal.wait_for("Redo step 3, commit");
    assert_eq!(n_commits(&world), 6);
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    // It can also be undone after a restart, and another question can be asked at the same time.
    let folder = world.repository().join("demo");
    let mut terminal = world.open(&["demo", "--fast", "--dir", &folder.to_string_lossy()]);
    terminal.wait_for("Describe the goal");
    terminal.type_keys(ESC);
    terminal.wait_until_letters_command();
    terminal.type_keys("u");
    terminal.wait_for("Undo step 3?");
    terminal.type_keys("y");
    // That it was undone once before is on the screen already.
    terminal.wait("the step taken back", |_| n_commits(&world) == 7);
    discuss(&mut terminal);
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
}

#[test]
fn a_question_is_discussed_on_its_board_and_the_result_goes_into_the_next_turn() {
    let world = World::new();
    let mut terminal = open_demo(&world);
    discuss(&mut terminal);
    assert!(
        terminal.text().contains("wc: keep it"),
        "{}",
        terminal.text()
    );
    terminal.type_keys("e");
    terminal.wait_for("Written to");
    terminal.type_keys("\"");
    terminal.wait_for("[paste 1");
    terminal.wait_for("Enter: send to the planner");
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    let written = world
        .repository()
        .join("demo/wordstat/.agent-collab/exports");
    let files = std::fs::read_dir(written).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let is_discussion = |name: &String| name.starts_with("dsc_") && name.ends_with(".md");
    assert_eq!(names.filter(is_discussion).count(), 1);
}

#[test]
fn what_a_stopped_step_left_is_not_called_yours() {
    let world = World::new();
    let folder = world.repository().join("demo");
    let folder = folder.to_string_lossy();
    let scene = [
        "demo",
        "--fast",
        "--scene",
        "tests-failed",
        "--dir",
        &folder,
    ];
    let mut terminal = world.open(&scene);
    terminal.wait_for("Is this the goal");
    terminal.type_keys(ESC);
    terminal.wait_until_letters_command();
    let_go_to_approval(&mut terminal);
    terminal.type_keys("y");
    terminal.wait_for("Stop and return to the goal");
    // In a list the letter goes back; here it asks what is meant.
    terminal.type_keys("b");
    terminal.wait_for("writes a new plan");
    terminal.type_keys("y");
    terminal.wait_for("Is this the goal");
    // Who stopped has the gate.
    terminal.wait_for("Manual");
    terminal.type_keys("a");
    terminal.wait_for("Auto");
    terminal.type_keys("g");
    terminal.wait_for("Run this plan (");
    terminal.type_keys("v");
    terminal.wait_for("/ finds");
    terminal.wait_for("from stopped step 2");
    assert!(
        !terminal.text().contains("Your uncommitted changes"),
        "{}",
        terminal.text()
    );
    terminal.type_keys(ESC);
    terminal.wait_for("Run this plan (");
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
}

/// Has the demo's question discussed to its end.
fn discuss(terminal: &mut Terminal) {
    terminal.type_keys("i");
    terminal.wait_until_writing();
    terminal.type_keys("/discuss Count words with awk or with wc?");
    terminal.wait_for("with wc?");
    terminal.type_keys(ENTER);
    terminal.wait_for("all agreed");
}

/// Lets turns follow each other until the plan waits for its approval.
fn let_go_to_approval(terminal: &mut Terminal) {
    terminal.type_keys("a");
    terminal.wait_for("Auto");
    terminal.type_keys(ENTER);
    terminal.wait_for("Run this plan (");
}

fn n_commits(world: &World) -> usize {
    let root = world.repository().join("demo/wordstat");
    let mut git = Command::new("git");
    git.arg("-C").arg(root).args(["log", "--oneline"]);
    let listed = git.env("HOME", world.home()).output().unwrap().stdout;
    String::from_utf8(listed).unwrap().lines().count()
}

#[test]
fn an_edit_of_the_plan_in_another_program_is_seen_and_makes_the_approval_stale() {
    let world = World::new();
    let mut terminal = open_demo(&world);
    let_go_to_approval(&mut terminal);
    let plan = world
        .repository()
        .join("demo/wordstat/.agent-collab/plan.md");
    let text = std::fs::read_to_string(&plan).unwrap();
    let edited = text.replace("1. [ ]", "1. [ ] Sing, then");
    assert_ne!(edited, text);
    std::fs::write(&plan, edited).unwrap();
    terminal.wait_gone("Run this plan (");
    terminal.type_keys("2");
    terminal.wait_for("Sing, then");
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
}

#[test]
fn the_users_own_editor_gets_the_terminal_and_gives_it_back() {
    let world = World::new();
    let mut terminal = open_demo(&world);
    let_go_to_approval(&mut terminal);
    terminal.type_keys("2e");
    terminal.wait_for("THE EDITOR HAS plan.md");
    assert!(
        !terminal.is_taken(),
        "the editor does not have the terminal"
    );
    terminal.type_keys("Sing first\r");
    terminal.wait("the terminal taken again", |terminal| terminal.is_taken());
    terminal.wait_for("Sing first");
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.assert_given_back();
}

#[test]
fn ctrl_c_in_a_turn_ends_the_agents_and_keeps_the_run() {
    let world = World::new();
    let (mut terminal, folder) = in_a_turn(&world, &[]);
    terminal.type_keys(CTRL_C);
    terminal.wait_for("Quit and end the turn?");
    terminal.wait_for("▸Stay  N");
    // Whoever stays has touched nothing.
    terminal.type_keys(ESC);
    terminal.wait_gone("Quit and end the turn?");
    assert!(!log_of(&world).contains("run.left"));
    terminal.type_keys(CTRL_C);
    terminal.wait_for("Quit and end the turn?");
    terminal.type_keys("y");
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.assert_given_back();
    assert!(log_of(&world).contains("run.left"));
    assert_eq!(n_agents(&folder), 0);
}

#[test]
fn ctrl_c_twice_in_a_turn_leaves_at_once_and_keeps_the_run() {
    let world = World::new();
    let (mut terminal, folder) = in_a_turn(&world, &[]);
    terminal.type_keys("\x03\x03");
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.assert_given_back();
    assert!(log_of(&world).contains("run.left"));
    assert_eq!(n_agents(&folder), 0);
}

#[test]
fn an_unfinished_run_goes_on_where_it_was() {
    let world = World::new();
    let mut terminal = open_demo(&world);
    terminal.type_keys(ENTER);
    terminal.wait_for("Send the goal to the planner?");
    terminal.type_keys(ENTER);
    terminal.wait_for("Send the plan to the reviewer?");
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    let (root, config) = ("demo/wordstat", "demo/config.toml");
    let config = world.repository().join(config);
    let mut terminal = world.open_in(root, &["--config", &config.to_string_lossy()]);
    terminal.wait_for("Resume the unfinished run?");
    terminal.wait_for("in phase Review");
    // What is decided about lies below the question.
    terminal.wait_for("Plan written, 3 steps");
    terminal.type_keys("2");
    terminal.wait_for("plan.md · version 1");
    terminal.type_keys("1y");
    terminal.wait_for("Send the plan to the reviewer?");
    terminal.wait_for("Plan written, 3 steps");
    terminal.type_keys(ENTER);
    terminal.wait_for("Send the review to the planner?");
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.assert_given_back();
    let left = terminal.text();
    assert!(left.contains("Saved: "), "{left}");
    assert!(
        left.contains("(Review). Run `agent-collab` to resume it"),
        "{left}"
    );
}

#[test]
fn an_unfinished_run_is_taken_up_at_once_where_that_is_asked_for() {
    let world = World::new();
    let mut terminal = open_demo(&world);
    terminal.type_keys(ENTER);
    terminal.wait_for("Send the goal to the planner?");
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    let config = world.repository().join("demo/config.toml");
    let flags = ["--resume", "--config", &config.to_string_lossy()];
    let mut terminal = world.open_in("demo/wordstat", &flags);
    terminal.wait_for("Goal confirmed");
    terminal.wait_for("Send the goal to the planner?");
    // The dialog has the keys, not the composer.
    terminal.wait_until_letters_command();
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.assert_given_back();
    let mut terminal = world.open(&["--resume"]);
    terminal.wait_for("No unfinished run here.");
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
}

pub fn log_of(world: &World) -> String {
    let workdir = world.repository().join("demo/wordstat/.agent-collab");
    std::fs::read_to_string(workdir.join("events.jsonl")).unwrap()
}

/// Counts the processes whose command line names a folder.
pub fn n_agents(folder: &str) -> usize {
    let names_it = |entry: &std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(folder)
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.filter(names_it).count()
}
