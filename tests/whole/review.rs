//! A review ends, for a stated reason.

use crate::programs::put_program;
use crate::script::{Agent, plan, say, write};
use crate::world::World;

const WRONG: &str = "[CHANGES_REQUIRED]\n\n1. [blocking] Wrong.\n";

fn stubborn(world: &World) {
    let mut planner =
        Agent::planning(&["Write"]).step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    let mut reviewer = Agent::new();
    for round in 1..8 {
        // Each review settles the last finding and adds a new one: that is progress, but it never ends.
        planner = planner.respond(&format!("{round}. accepted: yes\n"));
        reviewer = reviewer.review(&format!(
            "[CHANGES_REQUIRED]\n\n{round}. [blocking] Wrong in {round}.\n\nSettled: {}\n",
            round - 1
        ));
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

#[test]
fn a_review_without_progress_is_stopped_before_the_cap() {
    let world = World::new();
    let mut planner = Agent::new().plan(&plan(&["Write"]));
    let mut reviewer = Agent::new();
    for round in 0..6 {
        let changed = plan(&[&format!("Write {round}")]);
        planner = planner.on(
            "[agent-collab RESPOND",
            vec![
                write("${plan_path}", &changed),
                write("${comments_path}", "1. rejected: no\n"),
            ],
        );
        reviewer = reviewer.review(WRONG);
    }
    world.cast(&planner, &reviewer);
    world
        .run(&[])
        .ends(3)
        .complains("no progress")
        .complains("--on-cap");
    assert_eq!(
        world.state()["iteration"],
        3,
        "two reviews in a row settled nothing"
    );
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
        "#!/bin/sh\nprompt=$(cat)\ncase $prompt in\n*'REVIEW 1]'*) printf '[CHANGES_REQUIRED]\\n\\n1. [blocking] Too short.\\n' ;;\n*) printf '[APPROVED]\\n\\nSettled: 1\\n' ;;\nesac\n",
    );
    world.config = format!(
        "[roles]\nreviewer = \"own\"\n[adapters.own]\nkind = \"pipe\"\nprogram = {:?}\n",
        script.display().to_string()
    );
    let planner = Agent::planning(&["Write"])
        .respond("1. accepted: longer now\n")
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
