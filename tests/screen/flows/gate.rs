//! How a turn is released: by hand, automatically, held, stopped.

use crate::World;
use crate::keys::{ENTER, ESC};
use crate::played::{
    PLAN, begin, cast, command, confirm, events_of, fifo, leave, read, release, state, talking,
    told,
};
use crate::script::{Agent, say, shell, write};
use crate::terminal::Terminal;

/// A planner that waits on the pipe before it writes its plan.
fn slow_planner(fifo: &std::path::Path) -> Agent {
    let waits = shell(&format!("cat {}", fifo.display()));
    let plan = write("${plan_path}", PLAN);
    talking().on("[agent-collab WRITE_PLAN]", vec![waits, plan])
}

fn n_turns(world: &World) -> usize {
    events_of(world, "turn.started").len()
}

/// Waits until this many turns have started.
fn wait_for_turns(world: &World, terminal: &mut Terminal, n: usize) {
    terminal.wait(&format!("{n} turns"), |_| n_turns(world) == n);
}

#[test]
fn nothing_begins_before_its_release_and_what_is_sent_is_read_first() {
    let world = World::new();
    let config = cast(&world, &talking().plan(PLAN), &Agent::approving(), "");
    let mut terminal = confirm(&world, &config);
    terminal.wait_for("Send the goal to the planner?");
    terminal.type_keys("v");
    terminal.wait_for("[agent-collab WRITE_PLAN]");
    terminal.type_keys(ESC);
    terminal.wait_gone("[agent-collab WRITE_PLAN]");
    // The one before is the talk about the goal, which was released by being sent.
    assert_eq!(n_turns(&world), 1);
    terminal.type_keys(ENTER);
    terminal.wait_for("Send the plan to the reviewer?");
    assert_eq!(n_turns(&world), 2);
    terminal.type_keys("2");
    terminal.wait_for("One word.");
    terminal.type_keys("1v");
    terminal.wait_for("[agent-collab REVIEW 1]");
    terminal.type_keys(ESC);
    terminal.wait_gone("[agent-collab REVIEW 1]");
    assert_eq!(n_turns(&world), 2);
    assert!(read(&world, "plan.md").contains("One word."));
    terminal.type_keys("g");
    terminal.wait_for("Run this plan (");
    assert_eq!(n_turns(&world), 3);
    leave(terminal);
}

#[test]
fn enter_is_pressed_twice_where_that_is_wanted() {
    let world = World::new();
    let more = "[workflow]\nconfirm_enter = true\n";
    let config = cast(&world, &talking().plan(PLAN), &Agent::approving(), more);
    let mut terminal = confirm(&world, &config);
    terminal.type_keys(ENTER);
    terminal.wait_for("Send it now? (confirm_enter)");
    terminal.type_keys(ESC);
    terminal.wait_gone("Send it now? (confirm_enter)");
    terminal.wait_for("Send the goal to the planner?");
    assert_eq!(n_turns(&world), 1);
    terminal.type_keys(ENTER);
    terminal.wait_for("Send it now? (confirm_enter)");
    terminal.type_keys(ENTER);
    terminal.wait_for("Send the plan to the reviewer?");
    assert_eq!(n_turns(&world), 2);
    leave(terminal);
}

#[test]
fn auto_goes_up_to_the_approval_and_y_executes() {
    let world = World::new();
    let planner = talking()
        .plan(PLAN)
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    let tested = "[test]\ndefault_command = \"true\"\n";
    let config = cast(&world, &planner, &Agent::approving(), tested);
    let mut terminal = begin(&world, &config);
    terminal.wait_for("Run this plan (1 step)?");
    assert_eq!(state(&world)["gate"], "auto");
    // A stray Enter only shows what would be approved.
    terminal.type_keys(ENTER);
    terminal.wait_for("What you approve");
    terminal.type_keys(ESC);
    terminal.wait_gone("What you approve");
    assert!(events_of(&world, "execution.entered").is_empty());
    assert!(!world.repository().join("new.txt").exists());
    terminal.type_keys("y");
    terminal.wait_for("Run finished");
    assert_eq!(state(&world)["phase"], "DONE");
    assert!(read(&world, "plan.md").contains("1. [x] Write"));
    assert!(read(&world, "log.md").contains("Step 1"));
    assert!(world.repository().join("new.txt").exists());
    leave(terminal);
}

#[test]
fn auto_executes_where_that_is_wanted() {
    let world = World::new();
    let planner = talking()
        .plan(PLAN)
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    let more = "[workflow]\nauto_approve = true\n[test]\ndefault_command = \"true\"\n";
    let config = cast(&world, &planner, &Agent::approving(), more);
    let mut terminal = begin(&world, &config);
    terminal.wait_for("Run finished");
    assert_eq!(state(&world)["phase"], "DONE");
    leave(terminal);
}

#[test]
fn p_in_a_turn_lets_it_end_and_holds_the_next() {
    let world = World::new();
    let fifo = fifo(&world);
    let config = cast(&world, &slow_planner(&fifo), &Agent::approving(), "");
    let mut terminal = begin(&world, &config);
    wait_for_turns(&world, &mut terminal, 2);
    terminal.leave_composer();
    terminal.type_keys("p");
    terminal.wait_for("Manual");
    assert_eq!(events_of(&world, "turn.ended").len(), 1);
    release(&fifo);
    terminal.wait_for("Send the plan to the reviewer?");
    assert!(events_of(&world, "turn.interrupted").is_empty());
    assert_eq!(n_turns(&world), 2);
    assert!(read(&world, "plan.md").contains("One word."));
    terminal.type_keys(ENTER);
    terminal.wait_for("Run this plan (");
    leave(terminal);
}

#[test]
fn s_in_a_turn_ends_it_and_goes_back_to_the_goal() {
    let world = World::new();
    let fifo = fifo(&world);
    let config = cast(
        &world,
        &slow_planner(&fifo).plan(PLAN),
        &Agent::approving(),
        "",
    );
    let mut terminal = begin(&world, &config);
    wait_for_turns(&world, &mut terminal, 2);
    // The agent begins this turn's script again if it is ended before it read its prompt.
    let waits = format!("cat {}", fifo.display());
    terminal.wait("the command", |_| crate::demo::n_agents(&waits) > 0);
    terminal.leave_composer();
    terminal.type_keys("s");
    terminal.wait_for("Stop and return to the goal?");
    // A stray Enter stops nothing.
    terminal.type_keys(ENTER);
    terminal.wait_gone("Stop and return to the goal?");
    assert_eq!(events_of(&world, "turn.ended").len(), 1);
    terminal.type_keys("s");
    terminal.wait_for("Stop and return to the goal?");
    terminal.type_keys("y");
    terminal.wait_for("Is this the goal");
    let now = state(&world);
    assert_eq!(now["phase"], "REFINE_GOAL");
    assert!(now["running"].is_null(), "{now}");
    terminal.wait("the command's end", |_| crate::demo::n_agents(&waits) == 0);
    // Nothing was written, and the same goal leads to a plan, once its turn is released: who stopped has the gate.
    assert!(!world.repository().join(".agent-collab/plan.md").exists());
    terminal.wait_for("Manual");
    assert_eq!(now["gate"], "manual");
    terminal.type_keys("g");
    terminal.wait_for("Send the goal to the planner?");
    terminal.type_keys("a");
    terminal.wait_for("Run this plan (");
    assert!(read(&world, "plan.md").contains("One word."));
    leave(terminal);
}

#[test]
fn s_stays_when_the_turn_ends_and_the_next_one_waits_for_its_answer() {
    let world = World::new();
    let fifo = fifo(&world);
    let config = cast(&world, &slow_planner(&fifo), &Agent::approving(), "");
    let mut terminal = begin(&world, &config);
    wait_for_turns(&world, &mut terminal, 2);
    terminal.leave_composer();
    terminal.type_keys("s");
    terminal.wait_for("Stop and return to the goal?");
    release(&fifo);
    terminal.wait_for("No turn is running. The next one waits for your answer.");
    assert_eq!(state(&world)["phase"], "REVIEW");
    assert_eq!(n_turns(&world), 2);
    terminal.wait_for("Stop and return to the goal?");
    // Auto goes on where the user does not stop.
    terminal.type_keys(ENTER);
    terminal.wait_for("Run this plan (");
    assert_eq!(n_turns(&world), 3);
    leave(terminal);
}

#[test]
fn s_stops_the_run_whose_turn_ended_behind_it() {
    let world = World::new();
    let fifo = fifo(&world);
    let config = cast(&world, &slow_planner(&fifo), &Agent::approving(), "");
    let mut terminal = begin(&world, &config);
    wait_for_turns(&world, &mut terminal, 2);
    terminal.leave_composer();
    terminal.type_keys("s");
    terminal.wait_for("Stop and return to the goal?");
    release(&fifo);
    terminal.wait_for("No turn is running. The next one waits for your answer.");
    terminal.type_keys("y");
    terminal.wait_for("Is this the goal");
    terminal.wait_for("Manual");
    assert_eq!(state(&world)["phase"], "REFINE_GOAL");
    assert_eq!(n_turns(&world), 2);
    leave(terminal);
}

#[test]
fn the_enter_that_goes_back_from_cancel_releases_nothing() {
    let world = World::new();
    let fifo = fifo(&world);
    let config = cast(&world, &slow_planner(&fifo), &Agent::approving(), "");
    let mut terminal = confirm(&world, &config);
    terminal.type_keys(ENTER);
    wait_for_turns(&world, &mut terminal, 2);
    let released = events_of(&world, "turn.released").len();
    command(&mut terminal, "/cancel");
    terminal.wait_for("Cancel the run?");
    release(&fifo);
    terminal.wait("the plan", |_| {
        events_of(&world, "question.asked").len() == 2
    });
    terminal.look();
    assert!(terminal.text().contains("Cancel the run?"));
    terminal.type_keys(ENTER);
    terminal.wait_for("Send the plan to the reviewer?");
    assert_eq!(n_turns(&world), 2);
    assert_eq!(events_of(&world, "turn.released").len(), released);
    leave(terminal);
}

#[test]
fn a_plan_that_its_user_edits_while_it_is_reviewed_is_reviewed_again() {
    let world = World::new();
    let fifo = fifo(&world);
    let waits = shell(&format!("cat {}", fifo.display()));
    let approves = write("${comments_path}", "[APPROVED]\n");
    let reviewer = Agent::new()
        .on("[agent-collab REVIEW 1]", vec![waits, approves])
        .review("[APPROVED]\n");
    let config = cast(&world, &talking().plan(PLAN), &reviewer, "");
    let mut terminal = begin(&world, &config);
    wait_for_turns(&world, &mut terminal, 3);
    terminal.leave_composer();
    terminal.type_keys("2");
    terminal.wait_for("One word.");
    terminal.type_keys("e");
    terminal.wait_for("THE EDITOR HAS plan.md");
    // The turn ends while the editor has the terminal.
    release(&fifo);
    terminal.wait("the verdict", |_| {
        events_of(&world, "turn.ended").len() == 3
    });
    terminal.type_keys("2. [ ] Sing\r");
    terminal.wait("the terminal taken again", |terminal| terminal.is_taken());
    terminal.wait_for("Plan changed after its review");
    terminal.wait_for("+ 2. [ ] Sing");
    // Enter only shows it.
    terminal.type_keys(ENTER);
    terminal.wait_for("What changed");
    terminal.type_keys(ESC);
    terminal.wait_for("Review it again");
    assert_eq!(state(&world)["iteration"], 1);
    terminal.type_keys("r");
    terminal.wait_for("Run this plan (2 steps)?");
    assert_eq!(events_of(&world, "review.committed").len(), 2);
    assert!(told(&world, "reviewer").contains("2. [ ] Sing"));
    leave(terminal);
}
