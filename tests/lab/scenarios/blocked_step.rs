//! How a step ends by the result that its executor states, by the tool or in a block: done, asked for, or blocked.

use serde_json::{Value, json};

use super::review_ends::{ScriptedTurn, data_of, open_code, play_turns, submit_review, turn};
use crate::brain;
use crate::cut_off::prompts_before;
use crate::model_server::script::{Tool, Vendor};
use crate::report::Notes;
use crate::world::{Cast, Outcome, SWAPPED, USUAL, World};

/// What the executor quotes: a line of the scratch project.
const DETAIL: &str = "package.json:3 has `\"private\": true`: nobody reads a README.md here";
/// A message that states the same.
const BLOCKED: &str = "I wait.\n\n```step-result\nblocked: package.json:3 has `\"private\": true`: nobody reads a README.md here\n```";
/// What the user says to that.
const WORDS: &str = "describe them in FUNCTIONS.md";
/// Why the user skips the step.
const NOT_NEEDED: &str = "nobody needs it";
/// The second step of the changed plan.
const STEP_2_CHANGED: &str = "Describe both functions in FUNCTIONS.md";
/// How an agent is asked for the result that it left out.
const ASKED: &str = "Your turn ended without the result of the step.";
/// The executor's words after the first step, and the title of its commit.
const DOUBLES: &str = "`double` doubles now.";

fn submit_plan(plan: &str) -> Tool {
    let input = json!({ "plan": plan });
    let tool = "plan_submit";
    Tool::Own { tool, input }
}

fn state_result(result: &str, detail: Option<&str>) -> Tool {
    let input = json!({ "result": result, "detail": detail });
    let tool = "step_result";
    Tool::Own { tool, input }
}

fn approve() -> Tool {
    submit_review("approved", json!([]), json!([]))
}

fn work(when: &'static str, calls: Vec<Tool>, message: &'static str) -> ScriptedTurn {
    ScriptedTurn {
        when,
        calls,
        message,
    }
}

/// The calls that do the first step.
fn double() -> Vec<Tool> {
    let edit = Tool::Edit {
        path: "code.js".to_owned(),
        old: "exports.double = (a) => a;".to_owned(),
        new: "exports.double = (a) => 2 * a;".to_owned(),
    };
    vec![open_code(), edit]
}

/// The plan is approved at once.
fn planned() -> [ScriptedTurn; 2] {
    [
        turn(
            "[agent-collab WRITE_PLAN]",
            vec![submit_plan(&brain::plan(""))],
        ),
        turn("[agent-collab REVIEW 1]", vec![open_code(), approve()]),
    ]
}

/// The changed plan keeps the first step; every result is stated by the tool.
fn replanned_turns() -> Vec<ScriptedTurn> {
    let changed = brain::plan("").replace(brain::STEP_2, STEP_2_CHANGED);
    let describe = Tool::Write {
        path: "FUNCTIONS.md".to_owned(),
        content: "`sum` adds two numbers, `double` doubles one.\n".to_owned(),
    };
    let done = || state_result("done", None);
    let mut turns = vec![
        turn(
            "the user wants it planned again",
            vec![submit_plan(&changed)],
        ),
        turn("Judge the change alone", vec![approve()]),
        work(
            "[agent-collab EXECUTE step 1]",
            double().into_iter().chain([done()]).collect(),
            DOUBLES,
        ),
        work(
            "## Step 2\nDescribe both functions in FUNCTIONS.md",
            vec![describe, done()],
            "FUNCTIONS.md describes both.",
        ),
        work(
            "[agent-collab EXECUTE step 2]",
            vec![state_result("blocked", Some(DETAIL))],
            "I wait.",
        ),
    ];
    turns.extend(planned());
    turns
}

/// codex plans and executes, claude reviews.
pub fn replanned_usual(notes: &mut Notes) {
    play_replanned("blocked-replanned-usual", USUAL, notes);
}

/// claude plans and executes, codex reviews.
pub fn replanned_swapped(notes: &mut Notes) {
    play_replanned("blocked-replanned-swapped", SWAPPED, notes);
}

/// The result of the blocked step, with what the program found of its quote.
fn blocked_result() -> Value {
    let check = json!({ "evidence": "verified", "found": "package.json:3" });
    json!({ "kind": "blocked", "text": DETAIL, "check": check })
}

fn play_replanned(name: &str, cast: Cast, notes: &mut Notes) {
    let world = World::create(name, cast, play_turns(replanned_turns()));
    let answer = format!("blocked=replan:{WORDS}");
    let outcome = world.run(&["--yes-execute", "--answer", &answer]);
    world.note(notes, &outcome);
    outcome.assert_code(0);
    assert_blocked(&outcome, &json!({ "answer": "replan_step", "text": WORDS }));
    let stated = |kind: &str| json!({ "kind": kind });
    let blocked = blocked_result();
    assert_eq!(results(&outcome), [stated("done"), blocked, stated("done")]);
    let moved = outcome.of_kind("run.phase");
    let phases: Vec<&str> = moved
        .filter_map(|event| event["data"]["to"].as_str())
        .skip_while(|phase| *phase != "EXECUTE")
        .collect();
    let expected = [
        "EXECUTE",
        "WRITE_PLAN",
        "REVIEW",
        "APPROVED",
        "EXECUTE",
        "DONE",
    ];
    assert_eq!(phases, expected);
    let bodies = world.server.bodies(cast.planner).join("\n");
    assert!(bodies.contains("the result is accepted. End your turn now."));
    assert_eq!(
        prompts_before(&world, cast.planner, "EXECUTE summary"),
        [
            "WRITE_PLAN",
            "EXECUTE step 1",
            "EXECUTE step 2",
            "WRITE_PLAN",
            "EXECUTE step 2",
            "EXECUTE summary"
        ]
    );
    assert_change_is_planned(&world, cast);
    assert_change_is_reviewed(&world, cast);
    // The files of the step that has ended need not be opened again.
    assert_eq!(outcome.of_kind("document.asked_back").count(), 0);
    assert_commits(
        &world,
        &["FUNCTIONS.md describes both", "`double` doubles now"],
    );
    let plan = world.run_file("plan.md");
    let ticked = format!("1. [x] {}\n2. [x] {STEP_2_CHANGED}\n", brain::STEP_1);
    assert!(plan.contains(&ticked), "{plan}");
    notes.prove(
        "as executor: states by a call that a step is done or blocked; plans a blocked step again, in the same conversation",
        cast.planner,
        "yes",
    );
    notes.prove(
        "as reviewer: judges the change of a plan alone while it is executed",
        cast.reviewer,
        "yes",
    );
}

/// The planner learns what stands in the way, what the user says to it, and what must stay.
fn assert_change_is_planned(world: &World, cast: Cast) {
    let prompt = last_prompt(world, cast.planner, "WRITE_PLAN");
    for told in [
        "Step 2 of the plan below cannot be executed as it is written",
        &format!("{DETAIL}\n{WORDS}"),
        "They stay in the plan word for word",
        &format!("1. {} (", brain::STEP_1),
    ] {
        assert!(prompt.contains(told), "{told} is not told: {prompt}");
    }
}

/// The reviewer sees the changed step alone.
fn assert_change_is_reviewed(world: &World, cast: Cast) {
    let prompt = last_prompt(world, cast.reviewer, "REVIEW 2");
    for told in [
        "Judge the change alone",
        DETAIL,
        WORDS,
        "The whole plan is in `",
    ] {
        assert!(prompt.contains(told), "{told} is not told: {prompt}");
    }
    let changes: Vec<&str> = prompt
        .lines()
        .filter(|line| line.starts_with(['+', '-']) && line.contains(". ["))
        .collect();
    let (old, new) = (brain::STEP_2, STEP_2_CHANGED);
    assert_eq!(
        changes,
        [format!("-2. [ ] {old}"), format!("+2. [ ] {new}")]
    );
}

/// The result of step 1 is left out at first; all results are stated in blocks.
fn skipped_turns() -> Vec<ScriptedTurn> {
    let mut turns = vec![
        work(
            ASKED,
            Vec::new(),
            "It is complete.\n\n```step-result\ndone\n```",
        ),
        work("[agent-collab EXECUTE step 1]", double(), DOUBLES),
        work("[agent-collab EXECUTE step 2]", Vec::new(), BLOCKED),
    ];
    turns.extend(planned());
    turns
}

/// codex plans and executes, claude reviews.
pub fn skipped_usual(notes: &mut Notes) {
    play_skipped("blocked-skipped-usual", USUAL, notes);
}

/// claude plans and executes, codex reviews.
pub fn skipped_swapped(notes: &mut Notes) {
    play_skipped("blocked-skipped-swapped", SWAPPED, notes);
}

fn play_skipped(name: &str, cast: Cast, notes: &mut Notes) {
    let world = World::create(name, cast, play_turns(skipped_turns()));
    let answer = format!("blocked=skip:{NOT_NEEDED}");
    let outcome = world.run(&["--yes-execute", "--answer", &answer]);
    world.note(notes, &outcome);
    outcome.assert_code(6);
    assert_blocked(
        &outcome,
        &json!({ "answer": "skip_step", "reason": NOT_NEEDED }),
    );
    let stated = |kind: &str| json!({ "kind": kind });
    let blocked = blocked_result();
    assert_eq!(
        results(&outcome),
        [stated("unstated"), stated("done"), blocked]
    );
    let prompt = last_prompt(&world, cast.planner, "EXECUTE step 1");
    assert!(prompt.contains(ASKED), "{prompt}");
    let bodies = world.server.bodies(cast.planner);
    let last = bodies.last().expect("a request");
    assert_eq!(last.matches(ASKED).count(), 1, "{last}");
    assert_eq!(
        prompts_before(&world, cast.planner, "EXECUTE summary"),
        [
            "WRITE_PLAN",
            "EXECUTE step 1",
            "EXECUTE step 2",
            "EXECUTE summary"
        ]
    );
    let summary = last_prompt(&world, cast.planner, "EXECUTE summary");
    let skipped = format!("the user skipped it ({NOT_NEEDED})");
    assert!(summary.contains(&skipped), "{summary}");
    assert_commits(&world, &["`double` doubles now"]);
    assert_skipped(&world, &outcome);
    notes.prove(
        "as executor: is asked once, in the same conversation, for a result that it left out, and states it in a block",
        cast.planner,
        "yes",
    );
}

/// The second step is skipped with the user's reason, wherever it is shown.
fn assert_skipped(world: &World, outcome: &Outcome) {
    let skipped = &world.state()["execution"]["done"][1];
    assert_eq!(skipped["decided"], "skipped");
    assert_eq!(skipped["skip_reason"], NOT_NEEDED);
    assert_eq!(skipped["outcome"], json!({ "outcome": "no_change" }));
    let plan = world.run_file("plan.md");
    let open = format!("1. [x] {}\n2. [ ] {}\n", brain::STEP_1, brain::STEP_2);
    assert!(plan.contains(&open), "{plan}");
    let ended = format!("step 2 was skipped ({NOT_NEEDED})");
    let stderr = &outcome.finished.stderr;
    assert!(stderr.contains(&ended), "{stderr}");
    let shown = format!("changed nothing: the user skipped it ({NOT_NEEDED})");
    for text in [world.run_file("log.md"), world.program(&["status"]).stdout] {
        assert!(text.contains(&shown), "{text}");
    }
}

/// The only question about a blocked step quotes the executor, and gets this answer.
fn assert_blocked(outcome: &Outcome, answer: &Value) {
    let asked = data_of(outcome, "question.asked").into_iter();
    let asked: Vec<&Value> = asked
        .filter(|data| data["question"]["kind"]["about"] == "blocked")
        .collect();
    assert_eq!(asked.len(), 1, "{asked:#?}");
    let question = &asked[0]["question"];
    assert_eq!(question["kind"]["step"], 2);
    assert_eq!(question["kind"]["said"], DETAIL);
    let mut answered = data_of(outcome, "question.answered").into_iter();
    let answered = answered.find(|data| data["id"] == question["id"]);
    assert_eq!(answered.expect("an answer")["answer"], *answer);
}

/// The results of steps that the turns ended with.
fn results(outcome: &Outcome) -> Vec<Value> {
    let ended = outcome.of_kind("turn.ended");
    let stated = ended.map(|event| event["data"]["result"]["result"].clone());
    stated.filter(|result| !result.is_null()).collect()
}

/// The text of the last prompt of a phase, as the model got it.
fn last_prompt(world: &World, vendor: Vendor, phase: &str) -> String {
    let mark = format!("[agent-collab {phase}]");
    let bodies = world.server.bodies(vendor);
    let body = bodies.iter().rfind(|body| body.contains(&mark));
    let body = body.unwrap_or_else(|| panic!("{} gets no {phase}", vendor.cli()));
    let (_, rest) = body.rsplit_once(&mark).unwrap_or_default();
    rest.replace("\\n", "\n").replace("\\\"", "\"")
}

/// The branch has one commit a step on top of the first, the newest first, and the records name them.
fn assert_commits(world: &World, titles: &[&str]) {
    let log = world.repository.git(&["log", "--format=%H %s"]);
    let (mut hashes, mut subjects) = (Vec::new(), Vec::new());
    for line in log.lines() {
        let (hash, subject) = line.split_once(' ').expect("a hash and a subject");
        hashes.insert(0, hash.to_owned());
        subjects.push(subject.to_owned());
    }
    let numbers = (1..=titles.len()).rev();
    let mut expected: Vec<String> = titles
        .iter()
        .zip(numbers)
        .map(|(title, n)| format!("[Step {n}] {title}"))
        .collect();
    expected.push("a project with a failing test".to_owned());
    assert_eq!(subjects, expected);
    let state = world.state();
    let done = state["execution"]["done"].as_array().expect("the steps");
    let recorded: Vec<&str> = done
        .iter()
        .filter_map(|step| step["outcome"]["commit"].as_str())
        .collect();
    assert_eq!(recorded, hashes[1..]);
}
