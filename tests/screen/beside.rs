//! What works without a goal, and what remains of a run: a task with a missing CLI, a page to share, a kill after the
//! goal.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::World;
use crate::keys::{CTRL_C, CTRL_S, ENTER, ESC};
use crate::played::{
    PLAN, begin, cast, leave, left_at_the_approval, names_in, open, open_again, overwrite, state,
    talk, talking,
};
use crate::script::{Agent, say};

const TASK: &str = "[agent-collab task";

#[test]
fn a_task_needs_no_cli_but_its_own_and_a_goal_says_once_what_is_missing() {
    let world = World::new();
    let planner = talking().always(TASK, vec![say("I looked around.")]);
    let config = cast(&world, &planner, &Agent::new(), "");
    let text = fs::read_to_string(&config).unwrap();
    let (codex, claude) = text.split_once("[adapters.claude]\n").unwrap();
    let claude: String = claude
        .lines()
        .skip(1)
        .map(|line| format!("{line}\n"))
        .collect();
    let missing = "[adapters.claude]\nprogram = \"/nonexistent/claude\"\n";
    fs::write(&config, format!("{codex}{missing}{claude}")).unwrap();
    let mut terminal = open(&world, &config);
    terminal.wait_for("/nonexistent/claude not found");
    terminal.wait_for("More ways to fix it: agent-collab doctor");
    terminal.type_keys("@explore look around");
    terminal.wait_for("@explore look around");
    terminal.type_keys(ENTER);
    terminal.wait_for("I looked around.");
    // A goal in the same run asks again for what it needs.
    terminal.type_keys("A test\r");
    terminal.wait_for("hint: or set roles.reviewer = \"none\" to skip the review");
    terminal.wait_for("A test");
    terminal.type_keys(ENTER);
    terminal.wait_for("Not yet: /nonexistent/claude not found");
    let told = terminal.text().matches("to skip the review").count();
    assert_eq!(told, 1, "{}", terminal.text());
    // Once the missing part is there, the goal is still there.
    fs::write(&config, text).unwrap();
    leave(terminal);
    let mut terminal = open_again(&world, &config);
    terminal.wait_for("I looked around.");
    terminal.type_keys("A test\r");
    terminal.wait_for("Is this the goal");
    leave(terminal);
}

#[test]
fn a_run_that_was_killed_right_after_its_goal_is_asked_about() {
    let world = World::new();
    let config = cast(&world, &talking(), &Agent::new(), "");
    let mut terminal = talk(&world, &config);
    terminal.signal(Signal::SIGKILL);
    terminal.wait_for_end();
    // The state that exists if the program is killed between the log and its snapshot.
    let mut state = state(&world);
    state["last_seq"] = 1.into();
    for (key, value) in [
        ("goal", Value::Null),
        ("phase", "INIT".into()),
        ("running", Value::Null),
        ("busy", Value::Null),
        ("awaiting", Value::Null),
    ] {
        state[key] = value;
    }
    overwrite(&world, "state.json", &state.to_string());
    let mut terminal = open_again(&world, &config);
    terminal.wait_for("Resume the unfinished run?");
    terminal.wait_for("A test");
    terminal.wait_for("in phase Goal");
    leave(terminal);
}

#[test]
fn a_finished_run_is_written_down_as_a_page_from_the_screen() {
    let world = World::new();
    let planner = talking().plan(PLAN);
    let reviewer = Agent::approving();
    let config = cast(&world, &planner, &reviewer, "");
    let mut terminal = begin(&world, &config);
    terminal.wait_for("Run this plan (");
    terminal.type_keys("i/export md\r");
    terminal.wait_for("Written to .agent-collab/exports/a-test.md");
    terminal.type_keys(ESC);
    terminal.wait_until_letters_command();
    let exports = world.repository().join(".agent-collab/exports");
    let page = fs::read_to_string(exports.join("a-test.md")).unwrap();
    assert!(page.contains("A test"), "{page}");
    terminal.type_keys("i/cancel\r");
    terminal.wait_for("Cancel the run?");
    terminal.type_keys("y");
    terminal.wait_for("Run finished");
    terminal.wait_for("Export a report  Ctrl+S");
    terminal.type_keys(CTRL_S);
    terminal.wait_for("Written to .agent-collab/exports/a-test.html");
    terminal.type_keys(CTRL_S);
    terminal.wait_for("Written to .agent-collab/exports/a-test-2.html");
    // Where it is only looked at, too, and into the same place.
    terminal.type_keys("i/history\r");
    terminal.wait_for("1 earlier run");
    terminal.type_keys("1");
    terminal.wait_for("read-only, from the history");
    terminal.wait_for("Export a report  Ctrl+S");
    terminal.type_keys(CTRL_S);
    terminal.wait_for("Written to .agent-collab/exports/a-test-3.html");
    terminal.type_keys(ESC);
    terminal.wait_gone("read-only, from the history");
    terminal.type_keys(CTRL_C);
    // The code of a run that was cancelled.
    assert_eq!(terminal.wait_for_end().code(), Some(5));
}

#[test]
fn an_unfinished_run_of_the_history_is_taken_up_again_on_the_screen() {
    let world = World::new();
    left_at_the_approval(&world);
    // A mistaken N, and another goal.
    let config = cast(&world, &talking(), &Agent::new(), "");
    let mut terminal = open_again(&world, &config);
    terminal.wait_for("Resume the unfinished run?");
    terminal.type_keys("n");
    terminal.wait_for("Until then /resume continues it");
    terminal.type_keys("Something else\r");
    terminal.wait_for("Is this the goal");
    // What is under way is not put away.
    terminal.type_keys("/history\r");
    terminal.wait_for("1 earlier run");
    terminal.type_keys("r");
    terminal.wait_for("Resume this run?");
    terminal.type_keys("y");
    terminal.wait_for("A run is open. Finish or cancel it first");
    terminal.type_keys("i/cancel\r");
    terminal.wait_for("Cancel the run?");
    terminal.type_keys("y");
    terminal.wait_for("Run finished");
    terminal.type_keys("i/history\r");
    terminal.wait_for("2 earlier runs");
    terminal.type_keys("r");
    terminal.wait_for("Resume this run?");
    terminal.wait_for("A test");
    terminal.type_keys(ENTER);
    terminal.wait_for("is restored from the history; the run that was here is now in");
    terminal.wait_for("Run this plan (");
    terminal.wait_for("Plan written");
    leave(terminal);
    assert_eq!(state(&world)["goal"]["title"], "A test");
    let names = names_in(&world, "history");
    assert!(
        matches!(names.as_slice(), [only] if only.ends_with("-something-else")),
        "{names:?}"
    );
}

#[test]
fn a_run_that_was_opened_to_be_read_is_taken_up_again_by_a_key() {
    let world = World::new();
    let config = left_at_the_approval(&world);
    let workdir = world.repository().join(".agent-collab");
    let archived = workdir.join("history/2026-01-02-a-test");
    fs::create_dir_all(&archived).unwrap();
    for name in [
        "state.json",
        "events.jsonl",
        "plan.md",
        "iterations",
        "sessions",
        "log.md",
    ] {
        if workdir.join(name).exists() {
            fs::rename(workdir.join(name), archived.join(name)).unwrap();
        }
    }
    let mut terminal = world.open(&["history", "1", "--config", &config.to_string_lossy()]);
    terminal.wait_for("read-only, from the history");
    terminal.wait_for("R resume");
    terminal.type_keys("r");
    terminal.wait_for("Resume this run?");
    terminal.type_keys("y");
    terminal.wait_for("is restored from the history");
    terminal.wait_for("Run this plan (");
    leave(terminal);
    assert!(!archived.exists());
}
