//! `run --plan`: a run begins with a plan of the user's, at its review.

use serde_json::json;

use crate::script::{Agent, FIXED, objection, say, write};
use crate::world::{Ran, World};

const PLAN: &str = "---\nauthor: me\nowner: team\n---\n# Task: Add a file\n\n## Goal\nA file is there.\n\n## Steps\n1. [ ] Write it\n2. [x] Write another one\n";

const ANSWERS: [&str; 3] = ["--auto", "--yes-execute", "--allow-plan-test"];

/// The user's plan, outside of the repository.
fn put_plan(world: &World, text: &str) -> String {
    let file = world.folder.join("my plan.md");
    std::fs::write(&file, text).expect("the plan");
    file.display().to_string()
}

fn run_plan(world: &World, file: &str, more: &[&str]) -> Ran {
    let words = ["run", "--plan", file];
    world.program(&[&words[..], &ANSWERS, more].concat())
}

/// An executor that has no plan to write.
fn executor() -> Agent {
    Agent::new()
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")])
        .step(2, vec![write("other.txt", "new\n"), say("Wrote again.")])
}

/// The prompts that the planner was sent.
fn planner_prompts(world: &World) -> String {
    let id = world.state()["planner"]["id"].as_str().map(str::to_owned);
    let id = id.expect("a session");
    world.read(&format!(".agent-collab/sessions/{id}/messages.jsonl"))
}

#[test]
fn a_plan_of_the_user_is_reviewed_answered_approved_and_executed() {
    let world = World::new();
    let planner = executor().revise("1. accepted: step 1 says it\n");
    let reviewer = Agent::new()
        .review(&objection("major", "say when"))
        .review(FIXED);
    world.cast(&planner, &reviewer);
    let file = put_plan(&world, PLAN);
    run_plan(&world, &file, &[])
        .ends(0)
        .says("my plan.md: 2 steps")
        .says("step 2: only steps that agent-collab ran count");
    let state = world.state();
    assert_eq!(state["goal"]["title"], "Add a file");
    assert_eq!(state["goal"]["text"], "Add a file\n\nA file is there.");
    assert_eq!(state["iteration"], 2);
    assert_eq!(
        world.subjects()[..2],
        ["[Step 2] Wrote again", "[Step 1] Wrote"]
    );
    let prompts = planner_prompts(&world);
    assert!(!prompts.contains("[agent-collab WRITE_PLAN]"), "{prompts}");
    assert!(
        prompts.contains("The reviewer judged the plan below, which the user wrote or edited.")
    );
    assert!(!prompts.contains("Your earlier session of this run was lost"));
    // The planner's version replaced the user's, which is kept twice: where it was, and beside the documents.
    assert_eq!(std::fs::read_to_string(file).expect("the plan"), PLAN);
    let first = world.read(".agent-collab/iterations/1/plan.md");
    let kept = [
        "author: user",
        "owner: team",
        "1. [ ] Write it",
        "2. [ ] Write another",
    ];
    assert!(kept.iter().all(|line| first.contains(line)), "{first}");
    let saved = world.files(".agent-collab/history/conflicts");
    let is_users = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains("1. [ ] Write it");
    assert!(saved.iter().any(|(_, bytes)| is_users(bytes)), "{saved:?}");
    assert!(
        world
            .read(".agent-collab/plan.md")
            .contains("author: planner")
    );
}

#[test]
fn without_a_reviewer_a_plan_of_the_user_is_approved_by_the_user_alone() {
    let world = World::new();
    world.cast(&executor(), &Agent::new());
    let file = put_plan(&world, "1. [ ] Write it\n");
    let solo = ["-s", "roles.reviewer=none"];
    let goal = ["--goal", "Another goal"];
    run_plan(&world, &file, &[solo, goal].concat()).ends(0);
    assert_eq!(world.state()["goal"]["text"], "Another goal");
    assert_eq!(world.subjects()[0], "[Step 1] Wrote");
    let plan = world.read(".agent-collab/plan.md");
    assert!(
        plan.contains("author: user") && plan.contains("status: approved"),
        "{plan}"
    );
    assert!(!world.root.join(".agent-collab/comments.md").exists());
    let phases = world.events_of("run.phase");
    let reached: Vec<&str> = phases
        .iter()
        .filter_map(|phase| phase["to"].as_str())
        .collect();
    assert_eq!(reached, ["REFINE_GOAL", "APPROVED", "EXECUTE", "DONE"]);
}

#[test]
fn a_file_that_is_no_plan_is_refused_with_its_line_before_anything_is_created() {
    let world = World::new();
    world.cast(&executor(), &Agent::approving());
    let check = |text: &str, problem: &str, hint: &str| {
        let file = put_plan(&world, text);
        run_plan(&world, &file, &[])
            .ends(2)
            .complains(problem)
            .complains(hint);
        assert!(!world.root.join(".agent-collab").exists());
    };
    check(
        "# Task: x\n- [ ] a\n",
        "my plan.md:2: `- [ ] a` is not a step",
        "hint: write each step",
    );
    check(
        "# Task: x\n1. [ ] a\n1. [ ] b\n",
        "my plan.md:3: step 1 appears twice",
        "of its own",
    );
    check("1. [ ] a\n", "my plan.md names no goal", "`--goal`");
    run_plan(&world, "nowhere.md", &[])
        .ends(2)
        .complains("cannot read the plan from nowhere.md");
    run_plan(&world, "-", &["--goal-file", "-"])
        .ends(2)
        .complains("standard input");
    run_plan(&world, "-", &["words"])
        .ends(2)
        .complains("is not a flag of `run`");
}

#[test]
fn a_plan_of_the_user_survives_a_kill_at_any_event_of_the_start() {
    for kind in [
        "plan.edited",
        "goal.given",
        "goal.confirmed",
        "turn.started",
    ] {
        let world = World::new();
        let approves = vec![write("${comments_path}", "[APPROVED]\n")];
        world.cast(
            &executor(),
            &Agent::new().always("[agent-collab REVIEW", approves),
        );
        let file = put_plan(&world, PLAN);
        let words = ["run", "--plan", &file, "--json"];
        let mut running = world.start(&[&words[..], &ANSWERS].concat());
        running.until(&format!("\"kind\":\"{kind}\""));
        running.signal("KILL");
        running.wait();
        // As if nothing had been recorded after that event.
        let log = world.read(".agent-collab/events.jsonl");
        let is_last = |line: &&str| line.contains(&format!("\"kind\":\"{kind}\""));
        let n_lines = 1 + log
            .lines()
            .position(|line| is_last(&line))
            .expect("the event");
        let kept: Vec<&str> = log.lines().take(n_lines).collect();
        world.put(".agent-collab/events.jsonl", &(kept.join("\n") + "\n"));
        world.put(".agent-collab/state.json", "{");
        let resumed = world.program(&[&["resume"][..], &ANSWERS].concat());
        if kind == "plan.edited" {
            // The run has no goal yet: the user starts again.
            resumed.ends(1).complains("no unfinished run here");
            run_plan(&world, &file, &[]).ends(0);
        } else {
            resumed.ends(0);
        }
        assert_eq!(world.subjects().len(), 3, "{kind}");
        assert!(world.events_of("plan.committed").is_empty(), "{kind}");
        assert_eq!(world.state()["plan_by"], json!("user"), "{kind}");
    }
}
