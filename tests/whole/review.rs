//! A review ends, for a stated reason.

use crate::programs::put_program;
use serde_json::{Value, json};

use crate::script::{Agent, FIXED, objection, say, write};
use crate::world::World;

fn stubborn(world: &World) {
    let mut planner =
        Agent::planning(&["Write"]).step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    let mut reviewer = Agent::new().review(&objection("blocking", "Wrong."));
    for _ in 1..8 {
        // Each answer changes the plan, and for the reviewer it is never enough.
        planner = planner.revise("1. accepted: yes\n");
        reviewer = reviewer.review("[CHANGES_REQUIRED]\n\n1. stands: still wrong\n");
    }
    world.cast(&planner, &reviewer);
}

#[test]
fn the_cap_is_a_question_that_names_its_flag() {
    let world = World::new();
    stubborn(&world);
    let ran = world.run(&["-s", "workflow.max_iterations=2"]);
    ran.ends(3)
        .complains("cap")
        .complains("--on-cap pass|more:N|cancel");
    assert_eq!(world.state()["iteration"], 2);
}

#[test]
fn the_plan_passes_at_the_cap_where_the_user_says_so() {
    let world = World::new();
    stubborn(&world);
    world
        .run(&["-s", "workflow.max_iterations=2", "--on-cap", "pass"])
        .ends(0);
    assert_eq!(world.state()["verdict"]["forced"], true);
    assert!(
        world
            .read(".agent-collab/log.md")
            .contains("approved the plan anyway, with 1 open finding")
    );
}

#[test]
fn more_iterations_are_granted_once() {
    let world = World::new();
    stubborn(&world);
    world
        .run(&["-s", "workflow.max_iterations=2", "--on-cap", "more:1"])
        .ends(3)
        .complains("--on-cap");
    assert_eq!(world.state()["iteration"], 3);
}

#[test]
fn a_run_is_cancelled_at_the_cap_where_the_user_says_so() {
    let world = World::new();
    stubborn(&world);
    world
        .run(&["-s", "workflow.max_iterations=1", "--on-cap", "cancel"])
        .ends(5);
    assert_eq!(world.state()["phase"], "CANCELLED");
}

fn disputed(world: &World) {
    let (planner, reviewer) = disputing();
    world.cast(&planner, &reviewer.review("[APPROVED]\n"));
}

/// A planner that rejects the finding twice, and a reviewer that insists.
fn disputing() -> (Agent, Agent) {
    let planner = Agent::planning(&["Write"])
        .respond(&format!("1. rejected: no {TRUE}\n"))
        .respond(&format!("1. rejected: never {TRUE}\n"))
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    let reviewer = Agent::new()
        // First, because a fresh session has played nothing yet.
        .on(
            "[agent-collab REVIEW 3 dispute]",
            vec![say("```judgement\n1. planner: the goal asks for it\n```\n")],
        )
        .review(&objection("blocking", "Wrong."))
        .review("[CHANGES_REQUIRED]\n\n1. stands: it is wrong\n")
        .review("[CHANGES_REQUIRED]\n\n1. stands: it stays wrong\n");
    (planner, reviewer)
}

/// Evidence that is true of the plan.
const TRUE: &str = "Evidence: the plan says \"# Task: A test\"";

#[test]
fn a_dispute_is_judged_in_a_fresh_session_and_put_to_the_user() {
    let world = World::new();
    disputed(&world);
    world
        .run(&[])
        .ends(3)
        .says("Judged 1 dispute")
        .complains("Reviewer and planner do not agree on finding 1");
    let finding = world.state()["findings"]["all"][0].clone();
    assert_eq!(finding["record"]["dispute"]["judgement"]["side"], "planner");
    assert_eq!(world.state()["iteration"], 3);
}

/// The disputed run, with agents that discuss the finding and all say this of it, and the review after that.
fn discussed(stance: &str, proposal: &str, last: &str) -> World {
    let world = World::new();
    let speech = || {
        let stance = json!({ "stance": stance, "proposal": proposal, "confidence": 0.8 });
        vec![say(&format!("I looked.\n\n```stance\n{stance}\n```"))]
    };
    let prompt = "[agent-collab discussion";
    let (planner, reviewer) = disputing();
    let planner = planner
        .always(prompt, speech())
        .revise("1. accepted: now\n");
    world.cast(&planner, &reviewer.review(last).always(prompt, speech()));
    world
}

#[test]
fn a_dispute_that_is_discussed_is_decided_for_the_side_that_the_discussion_names() {
    let world = discussed("agree", "finding-does-not-hold", "[APPROVED]\n");
    world.run(&["--on-dispute", "discuss"]).ends(0);
    let state = world.state();
    assert_eq!(state["discussions"][0]["order"]["finding"], 1);
    assert_eq!(state["findings"]["all"][0]["status"], "decided_by_user");
    assert_eq!(world.events_of("response.committed").len(), 2);
    let log = world.read(".agent-collab/log.md");
    assert!(
        log.contains("finding 1: the user decided for the planner"),
        "{log}"
    );

    let world = discussed("agree", "finding-holds", FIXED);
    world.run(&["--on-dispute", "discuss"]).ends(0);
    let log = world.read(".agent-collab/log.md");
    assert!(
        log.contains("finding 1: the user decided for the reviewer"),
        "{log}"
    );
    // The planner has to follow: its third answer accepts the finding.
    let answers = world.events_of("response.committed");
    assert_eq!(answers[2]["responses"][0]["stand"], "accepted");
    assert_eq!(
        world.state()["discussions"].as_array().map(Vec::len),
        Some(1)
    );
}

#[test]
fn a_dispute_whose_discussion_has_no_result_waits_for_the_user() {
    let world = discussed("disagree", "something-else", FIXED);
    world
        .run(&["--on-dispute", "discuss"])
        .ends(3)
        .says("the discussion of the finding has no result")
        .complains("do not agree on finding 1");
    assert_eq!(
        world.state()["findings"]["all"][0]["record"]["dispute"]["judgement"]["side"],
        "planner"
    );
    // The same question again, and no second discussion.
    world
        .program(&[
            "resume",
            "--auto",
            "--yes-execute",
            "--on-dispute",
            "discuss",
        ])
        .ends(3);
    assert_eq!(
        world.state()["discussions"].as_array().map(Vec::len),
        Some(1)
    );
}

#[test]
fn status_and_history_as_json_say_what_the_reviews_came_to() {
    let world = World::new();
    disputed(&world);
    world.run(&[]).ends(3);
    let review = |world: &World| {
        let status = world.program(&["status", "--json"]);
        let status: Value = serde_json::from_str(&status.ends(0).out).expect("JSON");
        status["review"].clone()
    };
    assert_eq!(
        review(&world),
        json!({ "ended": null, "open": [1], "disputed": [1], "residual": [], "rebutted": [], "unopened": [] })
    );
    let world = World::new();
    let planner =
        Agent::planning(&["Write"]).step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    let reviewer = Agent::new().review("[APPROVED]\n\n1. [minor] Say more.\n");
    world.cast(&planner, &reviewer);
    world.run(&[]).ends(0);
    let found = review(&world);
    assert_eq!(
        found,
        json!({ "ended": "finished after 1 review: 1 minor left open", "open": [], "disputed": [], "residual": [1], "rebutted": [], "unopened": [] })
    );
    // The next run moves it to the history.
    world.program(&["run", "--goal", "Another one"]).ends(3);
    let past = world.program(&["history", "1", "--json"]);
    let past: Value = serde_json::from_str(&past.ends(0).out).expect("JSON");
    assert_eq!(past["review"], found);
}

#[test]
fn without_a_reviewer_the_plan_is_approved_by_the_user_alone() {
    let world = World::new();
    let planner =
        Agent::planning(&["Write"]).step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&planner, &Agent::new());
    world.run(&["-s", "roles.reviewer=none"]).ends(0);
    assert!(!world.root.join(".agent-collab/comments.md").exists());
    assert_eq!(world.subjects()[0], "[Step 1] Wrote");
}

#[test]
fn any_program_that_reads_a_prompt_can_review() {
    let mut world = World::new();
    let script = world.folder.join("reviewer.sh");
    put_program(
        &script,
        "#!/bin/sh\nprompt=$(cat)\ncase $prompt in\n*'REVIEW 1]'*) printf '[CHANGES_REQUIRED]\\n\\n1. [blocking] Too short.\\n   Place: step 1\\n   Scenario: done as written, it is too short\\n' ;;\n*) printf '[APPROVED]\\n\\n1. fixed: now\\n' ;;\nesac\n",
    );
    world.config = format!(
        "[roles]\nreviewer = \"own\"\n[adapters.own]\nkind = \"pipe\"\nprogram = {:?}\n",
        script.display().to_string()
    );
    let planner = Agent::planning(&["Write"])
        .revise("1. accepted: longer now\n")
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&planner, &Agent::new());
    world.run(&[]).ends(0).says("Too short.");
    assert_eq!(world.state()["iteration"], 2);
}

#[test]
fn an_unreleased_turn_is_a_question() {
    let world = World::new();
    world.cast(&Agent::planning(&["Write"]), &Agent::approving());
    let ran = world.program(&["run", "--goal", "A test"]);
    ran.ends(3).complains("--auto");
}
