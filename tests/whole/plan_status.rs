//! The status in `plan.md` always matches the state of the run.

use crate::script::{Agent, say, write};
use crate::world::World;

const ANSWERED: [&str; 4] = ["run", "--goal", "A test", "--auto"];

/// A run of one step whose reviewer approves each plan, with the planner's answers to the user's changes.
fn world(planner: Agent) -> World {
    let world = World::new();
    let approves = vec![write("${comments_path}", "[APPROVED]\n")];
    world.cast(
        &planner.step(1, vec![write("new.txt", "new\n"), say("Wrote.")]),
        &Agent::new().always("[agent-collab REVIEW", approves),
    );
    world
}

/// Returns the status in the front matter and the phase of the run.
fn status(world: &World) -> (String, String) {
    let text = world.read(".agent-collab/plan.md");
    let lines: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("status: "))
        .collect();
    let phase = world.state()["phase"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    (phase, lines.join(" and "))
}

#[track_caller]
fn check(world: &World, phase: &str, word: &str) {
    assert_eq!(status(world), (phase.to_owned(), word.to_owned()));
}

#[test]
fn a_plan_that_waits_for_its_approval_is_approved_by_its_review_and_stays_so() {
    let world = world(Agent::planning(&["Write"]));
    world.program(&ANSWERED).ends(3).complains("--yes-execute");
    check(&world, "APPROVED", "approved");
    world
        .program(&["resume", "--auto"])
        .ends(3)
        .complains("--yes-execute");
    check(&world, "APPROVED", "approved");
    world
        .program(&["resume", "--auto", "--yes-execute"])
        .ends(0);
    check(&world, "DONE", "approved");
}

#[test]
fn a_plan_that_the_user_wants_changed_is_under_review_until_it_is_agreed_on_again() {
    let world = world(Agent::planning(&["Write"]));
    let changes = ["--answer", "execute=changes:better, please"];
    // No script plays the answer, so the run stops in the middle of it.
    world
        .program(&[&ANSWERED[..], &changes].concat())
        .ends(3)
        .complains("adapter_failed");
    check(&world, "RESPOND", "reviewing");
    world
        .program(&["resume", "--auto"])
        .ends(3)
        .complains("adapter_failed");
    check(&world, "RESPOND", "reviewing");
}

#[test]
fn a_plan_whose_run_is_stopped_is_a_draft_again() {
    for answer in ["execute=stop", "tests_failed=stop"] {
        let world = world(Agent::planning(&["Write"]));
        let fails = [
            "-s",
            "test.default_command=false",
            "-s",
            "test.max_fix_turns=0",
        ];
        let mut arguments = [&ANSWERED[..], &fails, &["--answer", answer]].concat();
        if answer.starts_with("tests") {
            arguments.extend(["--yes-execute", "-s", "test.baseline=false"]);
        }
        world.program(&arguments).ends(3).complains("stopped");
        check(&world, "REFINE_GOAL", "draft");
        world.program(&["resume", "--auto"]);
        let (phase, word) = status(&world);
        assert_eq!((phase.as_str(), word.as_str()), ("REFINE_GOAL", "draft"));
    }
}

#[test]
fn a_plan_that_nobody_reviews_is_approved_as_soon_as_it_is_written() {
    let mut world = world(Agent::planning(&["Write"]));
    world.config = "[roles]\nreviewer = \"none\"\n".to_owned();
    world.program(&ANSWERED).ends(3).complains("--yes-execute");
    check(&world, "APPROVED", "approved");
}

#[test]
fn a_cancelled_run_leaves_the_last_word_on_its_plan() {
    let world = world(Agent::planning(&["Write"]));
    world
        .program(&[&ANSWERED[..], &["--answer", "execute=cancel"]].concat())
        .ends(5);
    check(&world, "CANCELLED", "approved");
}

#[test]
fn a_status_that_somebody_else_wrote_is_put_right() {
    let world = world(Agent::planning(&["Write"]));
    world.program(&ANSWERED).ends(3);
    let text = world.read(".agent-collab/plan.md");
    let other = text.replace("status: approved", "status: draft");
    assert_ne!(text, other);
    world.put(".agent-collab/plan.md", &other);
    world.program(&["resume", "--auto"]).ends(3);
    check(&world, "APPROVED", "approved");
}
