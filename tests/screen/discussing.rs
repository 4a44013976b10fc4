//! Discussions on the screen: a finding is discussed from its row and settled, and one discussion is stopped and
//! resumed.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::World;
use crate::keys::{ENTER, ESC};
use crate::played::{
    PLAN, WANTS_MORE, begin, cast, command, fifo, leave, open, read, release, state, talk, talking,
    told,
};
use crate::script::{Agent, say, shell, write};
use crate::terminal::Terminal;

/// Adds what a participant says when it is its turn.
fn says(agent: Agent, name: &str, words: &str, proposal: &str) -> Agent {
    let stance = json!({ "stance": "agree", "proposal": proposal, "confidence": 0.7 });
    let text = format!("{words}\n\n```stance\n{stance}\n```");
    agent.on(&header(name), vec![say(&text)])
}

fn header(name: &str) -> String {
    format!("[agent-collab discussion {name}]")
}

/// A planner that waits on the pipe before it contradicts the review, and speaks for it in the discussion.
fn planner(fifo: &Path) -> Agent {
    let answers = vec![
        shell(&format!("cat {}", fifo.display())),
        write(
            "${comments_path}",
            "1. rejected: it says enough. Evidence: the plan says \"# Task: A test\"\n",
        ),
    ];
    let planner = talking().plan(PLAN).on("[agent-collab RESPOND", answers);
    says(planner, "advocate", "One word is enough.", "keep: one word")
}

/// Builds a reviewer that asks for changes, takes part, and then approves.
fn reviewer() -> Agent {
    let reviewer = Agent::new()
        .review(WANTS_MORE)
        .review("[APPROVED]\n\n1. withdrawn: it is enough\n");
    let reviewer = says(
        reviewer,
        "critic",
        "No objection, because it is short.",
        "keep: short",
    );
    says(
        reviewer,
        "moderator",
        "It is to stay as it is.",
        "keep: one word",
    )
}

/// Has the finding of the first review discussed from its row, while the planner answers it.
fn discuss_finding(world: &World, fifo: &Path) -> Terminal {
    let config = cast(world, &planner(fifo), &reviewer(), "");
    let mut terminal = begin(world, &config);
    terminal.wait_for("is answering");
    terminal.leave_composer();
    terminal.type_keys("3.");
    terminal.wait_for("Say more");
    terminal.type_keys("&");
    terminal.wait_for("Discuss finding 1?");
    terminal.type_keys("y");
    terminal.wait_for("all agreed");
    terminal
}

#[test]
fn what_a_discussion_says_of_a_finding_is_evidence_in_the_next_review() {
    let world = World::new();
    let fifo = fifo(&world);
    let mut terminal = discuss_finding(&world, &fifo);
    assert!(!told(&world, "reviewer").contains("It is to stay as it is."));
    release(&fifo);
    terminal.type_keys(ESC);
    terminal.wait_for("Run this plan (");
    let told_reviewer = told(&world, "reviewer");
    for words in [
        "Other agents discussed finding 1 of yours",
        "<discussion_result>",
        "It is to stay as it is.",
        "it says enough",
    ] {
        assert!(told_reviewer.contains(words), "{words} in\n{told_reviewer}");
    }
    let told_planner = told(&world, "planner");
    assert!(
        !told_planner.contains("<discussion_result>"),
        "{told_planner}"
    );
    leave(terminal);
}

/// Two that agree, as planner and reviewer.
fn agreeing(world: &World) -> std::path::PathBuf {
    let planner = says(talking().plan(PLAN), "advocate", "One file.", "sqlite");
    let reviewer = says(Agent::new(), "critic", "No objection.", "sqlite");
    let reviewer = says(reviewer, "moderator", "They agree.", "sqlite");
    cast(world, &planner, &reviewer, "")
}

#[test]
fn a_question_comes_before_any_goal_and_the_goal_follows_in_the_same_run() {
    let world = World::new();
    let config = agreeing(&world);
    let mut terminal = open(&world, &config);
    terminal.type_keys("/discuss SQLite or Postgres?");
    terminal.wait_for("or Postgres?");
    terminal.type_keys(ENTER);
    terminal.wait_for("all agreed");
    let run = state(&world)["run"].clone();
    assert_eq!(state(&world)["phase"], "INIT");
    // The board itself, not the line of keys, which gives way to whatever is told: an `i` right behind an Esc is Alt+i.
    terminal.wait_for("separately");
    terminal.type_keys(ESC);
    terminal.wait_gone("separately");
    leave(terminal);
    // A restart changes nothing of it.
    let mut terminal = open(&world, &config);
    terminal.wait_for("consensus: sqlite");
    terminal.type_keys("A test\r");
    terminal.wait_for("Is this the goal");
    let after = state(&world);
    assert_eq!(
        (&after["run"], &after["goal"]["title"]),
        (&run, &json!("A test"))
    );
    assert_eq!(after["discussions"].as_array().map(Vec::len), Some(1));
    leave(terminal);
}

#[test]
fn the_user_settles_a_finding_by_its_discussion() {
    let world = World::new();
    let fifo = fifo(&world);
    let mut terminal = discuss_finding(&world, &fifo);
    terminal.type_keys("a");
    terminal.wait_for("Resolve finding 1 as discussed?");
    terminal.type_keys("y");
    terminal.wait("the finding settled", |_| {
        read(&world, "events.jsonl").contains("finding.settled")
    });
    release(&fifo);
    terminal.wait_for("Run this plan (");
    let told = told(&world, "reviewer");
    let second = told.rfind("This is review 2").expect("a second review");
    assert!(!told[second..].contains("## Open findings"), "{told}");
    leave(terminal);
}

#[test]
fn a_discussion_is_stopped_and_gone_on_with_and_its_limits_are_looked_at() {
    let world = World::new();
    let planner = says(talking().plan(PLAN), "advocate", "One file.", "sqlite");
    let stalls = vec![say("Let me think."), json!({ "do": "stall" })];
    let planner = planner.on(&header("advocate"), stalls);
    let planner = says(planner, "advocate", "Still one file.", "sqlite");
    let mut reviewer = Agent::approving();
    for _ in 0..3 {
        reviewer = says(reviewer, "critic", "Many write at once.", "postgres");
    }
    let reviewer = says(reviewer, "moderator", "SQLite it is.", "sqlite");
    let config = cast(&world, &planner, &reviewer, "[discuss]\nrounds = 2\n");
    let mut terminal = talk(&world, &config);
    command(&mut terminal, "/budget");
    terminal.wait_for("What a discussion would get");
    terminal.wait_for("a prompt has room for");
    terminal.type_keys(ESC);
    terminal.wait_gone("a prompt has room for");
    command(&mut terminal, "/discuss SQLite or Postgres?");
    terminal.wait_for("Let me think.");
    // A board that has opened by itself takes no key until it can have been read.
    let mut pressed: Option<Instant> = None;
    let is_stopped = |terminal: &mut Terminal| {
        if pressed.is_none_or(|at| at.elapsed() > Duration::from_secs(1)) {
            terminal.type_keys("s");
            pressed = Some(Instant::now());
        }
        state(&world)["discussions"][0]["status"] == "cancelled"
    };
    terminal.wait("the end of the discussion", is_stopped);
    terminal.type_keys("c");
    let is_over = |_: &mut Terminal| state(&world)["discussions"][0]["status"] == "completed";
    terminal.wait("its end", is_over);
    terminal.wait_for("SQLite it is.");
    let over = state(&world)["discussions"][0].clone();
    assert_eq!(
        (
            &over["status"],
            &over["outcome"]["decision"],
            &over["outcome"]["rounds"]
        ),
        (&json!("completed"), &json!("sqlite"), &json!(2)),
        "{over}"
    );
    leave(terminal);
}
