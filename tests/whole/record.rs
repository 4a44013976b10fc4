//! The records of a run agree: events, snapshot, log and history.

use agent_collab::domain::event::Event;
use agent_collab::domain::run::Run;
use serde_json::{Value, json};

use crate::script::{Agent, FIXED, objection, say, write};
use crate::world::World;

fn two_steps(world: &World) {
    let planner = Agent::planning(&["Write one", "Write two"])
        .revise("1. accepted: yes\n")
        .step(1, vec![write("one.txt", "1\n"), say("Wrote one.")])
        .step(2, vec![write("two.txt", "2\n"), say("Wrote two.")]);
    let reviewer = Agent::new()
        .review(&objection("major", "Hm."))
        .review(FIXED);
    world.cast(&planner, &reviewer);
}

#[test]
fn the_lines_of_json_are_the_events_of_the_log() {
    let world = World::new();
    two_steps(&world);
    let ran = world.run(&["--json"]);
    ran.ends(0);
    let told: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("a JSON object a line"))
        .collect();
    // The log's first line is its own schema, not an event.
    assert_eq!(told, world.events()[1..]);
    let seqs: Vec<u64> = told
        .iter()
        .filter_map(|event| event["seq"].as_u64())
        .collect();
    assert_eq!(seqs.len(), told.len());
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "{seqs:?}");
}

#[test]
fn a_question_ends_the_lines_of_json_with_the_reason() {
    let world = World::new();
    two_steps(&world);
    let ran = world.program(&["run", "--goal", "A test", "--auto", "--json"]);
    ran.ends(3);
    let last: Value = serde_json::from_str(ran.out.lines().last().expect("a line")).expect("JSON");
    assert_eq!(last["kind"], "run.left");
    assert!(
        last["data"]["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("--yes-execute"))
    );
}

#[test]
fn the_snapshot_is_the_fold_of_the_events() {
    let world = World::new();
    two_steps(&world);
    world.run(&[]).ends(0);
    let mut run: Option<Run> = None;
    // The first line is the log's own: its schema.
    for line in world.events().into_iter().skip(1) {
        let event: Event =
            serde_json::from_value(json!({ "kind": line["kind"], "data": line["data"] }))
                .expect("event");
        let at = line["ts"]
            .as_str()
            .and_then(agent_collab::store::utc_time::parse_rfc3339)
            .expect("instant");
        match (&mut run, &event) {
            (None, Event::RunCreated(created)) => run = Some(Run::new(at, created)),
            (None, other) => panic!("the log begins with {other:?}"),
            (Some(run), event) => {
                run.step(at, event);
            }
        }
    }
    let folded = serde_json::to_value(run.expect("run").state()).expect("JSON");
    let snapshot = world.state();
    for (key, value) in folded.as_object().expect("object") {
        assert_eq!(&snapshot[key], value, "{key}");
    }
}

#[test]
fn log_snapshot_and_history_list_the_same_steps_commits_and_receipts() {
    let world = World::new();
    two_steps(&world);
    world.run(&["-s", "test.default_command=true"]).ends(0);
    let log = world.read(".agent-collab/log.md");
    let state = world.state();
    let mut commits: Vec<String> = world
        .git(&["log", "--format=%H %s", "main..HEAD"])
        .lines()
        .map(str::to_owned)
        .collect();
    commits.reverse();
    let done = state["execution"]["done"]
        .as_array()
        .expect("steps")
        .clone();
    assert_eq!(done.len(), commits.len());
    for (step, line) in done.iter().zip(&commits) {
        let outcome = &step["outcome"];
        let told = format!(
            "{} {}",
            outcome["commit"].as_str().unwrap_or_default(),
            outcome["message"].as_str().unwrap_or_default()
        );
        assert_eq!(&told, line);
        assert!(log.contains(&format!("- commit: {line}")), "{log}");
    }
    assert_eq!(log.matches("- tests: tests passed").count(), 2, "{log}");
    assert_eq!(state["phase"], "DONE");
    assert_eq!(
        state["verdict"]["plan_sha256"],
        state["plan"]["plan"]["approval_sha256"]
    );
    let plan = world.read(".agent-collab/plan.md");
    assert!(
        plan.contains("1. [x]") && plan.contains("2. [x]") && !plan.contains("[ ]"),
        "{plan}"
    );
}
