//! A review ends, for a stated reason.

use crate::programs::put_program;
use crate::script::{Agent, objection, say, write};
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

/// A planner that rejects the finding twice, and a reviewer that insists.
fn disputed(world: &World) {
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
        .review("[CHANGES_REQUIRED]\n\n1. stands: it stays wrong\n")
        .review("[APPROVED]\n");
    world.cast(&planner, &reviewer);
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
