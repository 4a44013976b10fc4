//! Whatever ends the program at any moment, `resume` continues: same end, no double commit, nothing lost.

use std::path::Path;

use serde_json::{Value, json};

use crate::programs::put_program;
use crate::script::{Agent, FIXED, objection, plan, say, shell, whole_revision, write};
use crate::world::{World, wait_until};

/// Agents that do their turns as often as they are asked to.
fn cast(world: &World) {
    let plan =
        "# Task: A test\n\n## Steps\n1. [ ] Write one\n2. [ ] Write two\n\nTest: test -f one.txt\n";
    let planner = Agent::new()
        .always(
            "[agent-collab WRITE_PLAN]",
            vec![write("${plan_path}", plan)],
        )
        .always(
            "[agent-collab RESPOND",
            whole_revision(plan, "1. accepted: done\n"),
        )
        .always(
            "[agent-collab EXECUTE step 1]",
            vec![write("one.txt", "one\n"), say("Wrote one.")],
        )
        .always(
            "[agent-collab EXECUTE step 2]",
            vec![write("two.txt", "two\n"), say("Wrote two.")],
        );
    let reviewer = Agent::new()
        .on(
            "[agent-collab REVIEW 1]",
            vec![write("${comments_path}", &objection("major", "say why"))],
        )
        .always(
            "[agent-collab REVIEW",
            vec![write("${comments_path}", FIXED)],
        );
    world.cast(&planner, &reviewer);
}

const RESUME: [&str; 6] = [
    "resume",
    "--auto",
    "--yes-execute",
    "--allow-plan-test",
    "--on-step",
    "continue",
];

/// The first lines of the steps' commits, the oldest first.
fn steps(world: &World) -> Vec<String> {
    let mut steps = world.subjects();
    steps.retain(|subject| subject.starts_with("[Step"));
    if steps.first() > steps.last() {
        steps.reverse();
    }
    steps
}

/// The step of the plan that the newest commit is for.
fn body(world: &World) -> String {
    let message = world.git(&["log", "-1", "--format=%b"]);
    message.lines().next().unwrap_or_default().to_owned()
}

/// Kills the program at the first event of a kind and resumes the run.
fn check(kind: &str, on_step: &str) {
    let world = World::new();
    cast(&world);
    let mut running = world.start_run(&["--json"]);
    running.until(&format!("\"kind\":\"{kind}\""));
    running.signal("KILL");
    running.wait();
    let mut arguments = RESUME;
    arguments[5] = on_step;
    world.program(&arguments).ends(0);
    assert_eq!(
        steps(&world),
        ["[Step 1] Wrote one", "[Step 2] Wrote two"],
        "killed at {kind}"
    );
    let state = world.state();
    assert_eq!(state["phase"], "DONE");
    assert_eq!(state["verdict"]["value"], "APPROVED");
    let log = world.read(".agent-collab/log.md");
    assert_eq!(log.matches("\n## Step 1: ").count(), 1, "{log}");
    assert_eq!(log.matches("\n## Step 2: ").count(), 1, "{log}");
    assert!(!world.read(".agent-collab/plan.md").contains("[ ]"));
    assert_eq!(world.leftovers(), Vec::<String>::new());
    // What is over ends again as it did.
    world
        .program(&RESUME)
        .ends(0)
        .complains("the run here is finished")
        .says("done: 2 of 2 steps changed something");
}

/// A world whose log ends with these lines of a run that was killed while it planned, as if they were all.
fn cut_to(kinds: &[&str]) -> World {
    let world = World::new();
    cast(&world);
    let mut running = world.start(&["run", "--goal", "A test", "--auto", "--json"]);
    running.until("\"kind\":\"turn.started\"");
    running.signal("KILL");
    running.wait();
    let log = world.read(".agent-collab/events.jsonl");
    let events = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("event"));
    let kept = events.filter(|event| kinds.contains(&event["kind"].as_str().expect("kind")));
    let lines = kept.take(kinds.len()).enumerate().map(|(seq, mut event)| {
        event["seq"] = json!(seq);
        format!("{event}\n")
    });
    world.put(".agent-collab/events.jsonl", &lines.collect::<String>());
    world.put(".agent-collab/state.json", "{");
    world
}

#[test]
fn a_goal_that_nobody_was_asked_about_counts_as_confirmed() {
    let world = cut_to(&["log.opened", "run.created", "goal.given"]);
    world.program(&RESUME).ends(0);
    assert_eq!(steps(&world).len(), 2);
    assert_eq!(world.state()["goal"]["text"], "A test");
}

#[test]
fn a_goal_that_was_talked_about_waits_for_its_user() {
    let world = cut_to(&["log.opened", "run.created", "goal.given", "session.message"]);
    world.program(&RESUME).ends(3).complains("--yes-goal");
    world
        .program(&[&RESUME[..], &["--yes-goal"]].concat())
        .ends(0);
    assert_eq!(steps(&world).len(), 2);
}

#[test]
fn a_kill_while_the_plan_is_written_is_survived() {
    check("turn.started", "continue");
}

#[test]
fn a_kill_between_a_turn_and_its_document_is_survived() {
    check("turn.ended", "continue");
}

#[test]
fn a_kill_in_the_review_loop_is_survived() {
    check("response.committed", "continue");
}

#[test]
fn a_kill_before_the_change_of_phase_is_recorded_is_survived() {
    let world = World::new();
    cast(&world);
    let runs = ["run", "--goal", "A test", "--auto"];
    world.program(&runs).ends(3).complains("--yes-execute");
    let log = world.read(".agent-collab/events.jsonl");
    let last = log
        .rfind("\"kind\":\"review.committed\"")
        .expect("the review");
    let end = last + log[last..].find('\n').expect("its end") + 1;
    world.put(".agent-collab/events.jsonl", &log[..end]);
    world.put(".agent-collab/state.json", "{");
    let told = "review of the plan: finished after 2 reviews";
    let log = world.read(".agent-collab/log.md");
    let kept: Vec<&str> = log.lines().filter(|line| !line.contains(told)).collect();
    assert_ne!(kept.len(), log.lines().count(), "{log}");
    world.put(".agent-collab/log.md", &(kept.join("\n") + "\n"));
    for _ in 0..2 {
        let waits = world.program(&["resume", "--auto"]);
        waits.ends(3).complains("--yes-execute");
        let log = world.read(".agent-collab/log.md");
        assert_eq!(log.matches(told).count(), 1, "{log}");
        let changes = world.events_of("run.phase");
        let approved = changes.iter().filter(|change| change["to"] == "APPROVED");
        assert_eq!(approved.count(), 1, "{changes:?}");
    }
}

#[test]
fn a_kill_before_the_branch_stands_is_survived() {
    check("execution.surveyed", "continue");
}

#[test]
fn a_kill_before_a_step_begins_is_survived() {
    check("step.snapshot", "redo");
}

#[test]
fn a_kill_after_a_steps_turn_is_survived_in_each_way() {
    for way in ["continue", "done", "redo"] {
        check("step.audited", way);
    }
}

#[test]
fn a_kill_after_the_tests_makes_no_second_commit() {
    check("tests.ran", "continue");
}

#[test]
fn a_kill_after_the_commit_makes_no_second_one() {
    check("commit.made", "done");
}

#[test]
fn a_step_whose_commit_was_being_made_is_redone_on_the_tree_from_before_it() {
    let world = World::new();
    let does = |file: &str| {
        let step = vec![write(file, "x\n"), say(&format!("Wrote {file}."))];
        let planner = Agent::planning(&["Write"]).always("[agent-collab EXECUTE step 1]", step);
        world.cast(&planner, &Agent::approving());
    };
    let hook = world.root.join(".git/hooks/pre-commit");
    put_program(&hook, "#!/bin/sh\nexec tail -f /dev/null\n");
    does("first.txt");
    let mut running = world.start_run(&["--json"]);
    // The commit that follows waits for its hook.
    running.until("\"kind\":\"tests.ran\"");
    running.signal("KILL");
    running.wait();
    wait_until("nothing of the run is left", || {
        world.leftovers().is_empty()
    });
    std::fs::remove_file(&hook).expect("hook");
    assert_eq!(world.read("first.txt"), "x\n");
    assert_eq!(world.subjects(), ["first"]);

    does("second.txt");
    let mut arguments = RESUME;
    arguments[5] = "redo";
    world.program(&arguments).ends(0);
    assert_eq!(steps(&world), ["[Step 1] Wrote second.txt"]);
    assert_eq!(world.committed(), ["second.txt"]);
    assert!(!world.root.join("first.txt").exists());
}

#[test]
fn a_step_whose_commit_was_made_is_redone_and_its_first_commit_taken_back() {
    for last in ["tests.ran", "commit.made"] {
        let world = World::new();
        let does = |file: &str| {
            let step = vec![write(file, "x\n"), say(&format!("Wrote {file}."))];
            let planner = Agent::planning(&["Write"]).always("[agent-collab EXECUTE step 1]", step);
            world.cast(&planner, &Agent::approving());
        };
        does("first.txt");
        world.run(&[]).ends(0);
        // As a kill leaves it that comes between git's commit, or its record, and what follows.
        let log = world.read(".agent-collab/events.jsonl");
        let kind = format!("\"kind\":\"{last}\"");
        let end = log.find(&kind).expect("the event");
        let end = end + log[end..].find('\n').expect("its end") + 1;
        world.put(".agent-collab/events.jsonl", &log[..end]);
        world.put(".agent-collab/state.json", "{");
        let plan = world.read(".agent-collab/plan.md").replace("[x]", "[ ]");
        world.put(".agent-collab/plan.md", &plan);

        does("second.txt");
        let mut arguments = RESUME;
        arguments[5] = "redo";
        world.program(&arguments).ends(0);
        let subjects = [
            "[Step 1] Wrote second.txt",
            "[Undo step 1] Wrote first.txt",
            "[Step 1] Wrote first.txt",
            "first",
        ];
        assert_eq!(world.subjects(), subjects, "{last}");
        assert!(!world.root.join("first.txt").exists(), "{last}");
        assert_eq!(
            world.git(&["diff", "--name-only", "HEAD"]).trim(),
            "",
            "{last}"
        );
    }
}

#[test]
fn a_kill_between_two_steps_is_survived() {
    check("step.done", "continue");
}

#[test]
fn a_damaged_snapshot_is_rebuilt_from_the_log() {
    let world = World::new();
    cast(&world);
    let mut running = world.start(&["run", "--goal", "A test", "--auto", "--json"]);
    running.until("\"kind\":\"plan.committed\"");
    running.signal("KILL");
    running.wait();
    world.put(".agent-collab/state.json", "{\"schema\":1,\"last");
    world.program(&RESUME).ends(0);
    assert_eq!(steps(&world).len(), 2);
}

#[test]
fn a_question_that_waited_waits_again() {
    let world = World::new();
    cast(&world);
    world
        .program(&["run", "--goal", "A test", "--auto"])
        .ends(3)
        .complains("--yes-execute");
    world
        .program(&["resume", "--auto"])
        .ends(3)
        .complains("--yes-execute");
    world.program(&RESUME).ends(0);
}

#[test]
fn a_cut_off_step_asks_what_becomes_of_it() {
    let world = World::new();
    let planner = Agent::planning(&["Write"]).always(
        "[agent-collab EXECUTE step 1]",
        vec![
            shell("echo half > half.txt"),
            say("I begin."),
            json!({ "do": "stall" }),
        ],
    );
    world.cast(&planner, &Agent::approving());
    let mut running = world.start_run(&[]);
    running.until("planner │ I begin.");
    running.signal("KILL");
    running.wait();
    world
        .program(&["resume", "--auto"])
        .ends(3)
        .complains("--on-step continue|done|redo|stop");
    assert_eq!(world.leftovers(), Vec::<String>::new());
    world
        .program(&["resume", "--auto", "--on-step", "done"])
        .ends(0);
    assert_eq!(steps(&world), ["[Step 1] Write"]);
    assert_eq!(world.git(&["show", "HEAD:half.txt"]).trim(), "half");
}

/// A world whose run was killed after its plan was written.
fn killed_after_the_plan() -> World {
    let world = World::new();
    cast(&world);
    let mut running = world.start(&["run", "--goal", "A test", "--auto", "--json"]);
    running.until("\"kind\":\"plan.committed\"");
    running.signal("KILL");
    running.wait();
    world
}

/// Returns the content of the one file in the history whose name starts like this.
fn kept(world: &World, begins: &str) -> Vec<u8> {
    let mut files = world.files(".agent-collab/history");
    files.retain(|(path, _)| {
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().starts_with(begins)
    });
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0).1
}

#[test]
fn what_a_crash_tore_is_kept_and_told() {
    let world = killed_after_the_plan();
    let log = world.read(".agent-collab/events.jsonl");
    let half = "{\"seq\":99,\"ts\":\"20";
    world.put(".agent-collab/events.jsonl", &format!("{log}{half}"));
    world.put(".agent-collab/state.json", "{\"schema\":1,\"last");
    world
        .program(&RESUME)
        .ends(0)
        .complains(
            "note: the last line of events.jsonl was cut off by a crash; its 18 bytes are kept as",
        )
        .complains("state.json:1: EOF while parsing a string")
        .complains("is rebuilt from events.jsonl; it is kept as");
    assert_eq!(kept(&world, "torn-"), half.as_bytes());
    assert_eq!(kept(&world, "damaged-"), b"{\"schema\":1,\"last");
    assert_eq!(steps(&world).len(), 2);
}

#[test]
fn a_newer_schema_is_refused_and_nothing_is_touched() {
    let newer_log = |text: &str| text.replacen("\"schema\":1", "\"schema\":9", 1);
    let newer_state = |text: &str| text.replacen("\"schema\": 1", "\"schema\": 9", 1) + "\n";
    let torn = |text: &str| format!("{text}{{\"seq\":99");
    type Change<'a> = (&'a str, &'a dyn Fn(&str) -> String);
    let changes: [&[Change]; 2] = [
        &[("events.jsonl", &newer_log)],
        &[("state.json", &newer_state), ("events.jsonl", &torn)],
    ];
    for changed in changes {
        let world = killed_after_the_plan();
        for (name, change) in changed {
            let path = format!(".agent-collab/{name}");
            world.put(&path, &change(&world.read(&path)));
        }
        let run_files = || {
            let mut files = world.files(".agent-collab");
            // The last instance, the program's own log and a half-written file from the kill are not part of the run.
            let is_aside = |path: &Path| {
                let is_half = path.extension().is_some_and(|end| end == "tmp");
                is_half || path.ends_with("lock") || path.ends_with("debug.log")
            };
            files.retain(|(path, _)| !is_aside(path));
            files.sort();
            files
        };
        let before = run_files();
        world
            .program(&RESUME)
            .ends(1)
            .complains(&format!(
                "{} has schema 9, but this version knows 1",
                changed[0].0
            ))
            .complains("hint: update agent-collab, or start with --new");
        assert_eq!(run_files(), before);
    }
}

#[test]
fn where_both_are_damaged_nothing_is_deleted() {
    let world = killed_after_the_plan();
    world.put(".agent-collab/state.json", "{\"schema\":1,\"last");
    world.put(".agent-collab/events.jsonl", "no log\n");
    world
        .program(&RESUME)
        .ends(1)
        .complains("events.jsonl:1: ")
        .complains("--new");
    cast(&world);
    world.run(&["--new"]).ends(0);
    let kept = world.files(".agent-collab/history");
    let has = |end: &str| kept.iter().any(|(path, _)| path.ends_with(end));
    assert!(
        has("state.json") && has("events.jsonl") && has("plan.md"),
        "{kept:?}"
    );
}

/// Kills the program in the middle of the plan's turn, while a draft of the plan exists.
fn cut_off_with_a_draft() -> World {
    let world = World::new();
    let draft = plan(&["Write the draft"]);
    let planner = Agent::new().always(
        "[agent-collab WRITE_PLAN]",
        vec![
            write("${plan_path}", &draft),
            say("I begin."),
            json!({ "do": "stall" }),
        ],
    );
    world.cast(&planner, &Agent::approving());
    let mut running = world.start_run(&[]);
    running.until("planner │ I begin.");
    running.signal("KILL");
    running.wait();
    let planner = Agent::new()
        .always(
            "[agent-collab WRITE_PLAN]",
            vec![write("${plan_path}", &plan(&["Write anew"]))],
        )
        .always(
            "[agent-collab EXECUTE step 1]",
            vec![write("one.txt", "one\n"), say("Wrote.")],
        );
    world.cast(&planner, &Agent::approving());
    world
}

#[test]
fn a_draft_that_a_cut_off_turn_left_is_used_where_the_user_says_so() {
    let world = cut_off_with_a_draft();
    world
        .program(&[
            "resume",
            "--auto",
            "--yes-execute",
            "--allow-plan-test",
            "--answer",
            "draft=use",
        ])
        .ends(0)
        .says("left a draft of plan.md, 7 lines, differs by +7");
    assert_eq!(body(&world), "Write the draft");
}

#[test]
fn a_draft_is_put_aside_and_its_turn_done_again_where_nobody_says_otherwise() {
    let world = cut_off_with_a_draft();
    world
        .program(&["resume", "--auto", "--yes-execute", "--allow-plan-test"])
        .ends(0);
    assert_eq!(body(&world), "Write anew");
    let kept = world.files(".agent-collab/history/conflicts");
    let kept: Vec<_> = kept
        .iter()
        .map(|(_, bytes)| String::from_utf8_lossy(bytes))
        .collect();
    assert!(
        kept.iter().any(|text| text.contains("Write the draft")),
        "{kept:?}"
    );
}

#[test]
fn a_draft_in_the_place_of_the_users_own_plan_is_a_conflict() {
    let world = cut_off_with_a_draft();
    world.put(".agent-collab/plan.md", "# Mine\n\n1. [ ] Mine\n");
    world
        .program(&["resume", "--auto", "--answer", "draft=use"])
        .ends(3)
        .complains("needs you (conflict)");
    // Its turn was through: the same question, not the same turn, comes after another start.
    let n_turns = world.events_of("turn.started").len();
    world
        .program(&["resume", "--auto", "--answer", "conflict=overwrite"])
        .ends(3)
        .complains("--yes-execute");
    assert!(
        world
            .read(".agent-collab/plan.md")
            .contains("Write the draft")
    );
    let n_reviews = world.events_of("review.committed").len();
    assert_eq!(world.events_of("turn.started").len(), n_turns + n_reviews);
}
