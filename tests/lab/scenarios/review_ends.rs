//! How a review ends where it does not settle by itself: a dispute, a circle, a true blocker that comes late, and files
//! that the reviewer did not open.
//!
//! Reviews and answers are submitted by the program's own tools. Their evidence is what commands of the CLIs printed.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::brain;
use crate::cut_off::prompts_before;
use crate::model_server::script::{Reply, Request, Tool};
use crate::report::Notes;
use crate::world::{Cast, Outcome, SWAPPED, USUAL, World};

/// One turn of a model: its calls one after another, then its message.
pub(super) struct ScriptedTurn {
    /// A part of the prompts that it answers.
    pub(super) when: &'static str,
    pub(super) calls: Vec<Tool>,
    pub(super) message: &'static str,
}

pub(super) fn turn(when: &'static str, calls: Vec<Tool>) -> ScriptedTurn {
    let message = "That is all.";
    ScriptedTurn {
        when,
        calls,
        message,
    }
}

/// Plays the first turn that answers the prompt; other prompts are answered honestly.
pub(super) fn play_turns(
    turns: Vec<ScriptedTurn>,
) -> impl Fn(&Request) -> Reply + Send + Sync + 'static {
    move |request| {
        let mut turns = turns.iter();
        let Some(turn) = turns.find(|turn| request.prompt.contains(turn.when)) else {
            return brain::honest(request);
        };
        match turn.calls.get(request.n_outputs()) {
            Some(call) => Reply::call(call.clone()),
            None => Reply::text(turn.message),
        }
    }
}

fn shell(line: &str) -> Tool {
    Tool::Shell(line.to_owned())
}

pub(super) fn open_code() -> Tool {
    Tool::Read("code.js".to_owned())
}

pub(super) fn submit_review(verdict: &str, verdicts: Value, findings: Value) -> Tool {
    Tool::Own {
        tool: "review_submit",
        input: json!({ "verdict": verdict, "verdicts": verdicts, "findings": findings }),
    }
}

/// Submits an answer to a finding, with a plan that has this first step where it changes.
fn submit_answer(finding: u32, answer: &str, reason: &str, first_step: Option<&str>) -> Tool {
    let answer = json!({ "finding": finding, "answer": answer, "reason": reason });
    let plan = first_step.map(|step| brain::plan("").replace(brain::STEP_1, step));
    Tool::Own {
        tool: "plan_submit",
        input: json!({ "plan": plan, "answers": [answer] }),
    }
}

/// The first step after the first review.
const STEP_1_ADDS: &str = "Make `double` double in code.js by adding the number to itself";
/// The first step after the second review.
const STEP_1_CHECKS: &str =
    "Make `double` double in code.js by adding the number to itself, and check it with -1";
/// A quote that both contain and the first plan does not.
const CHANGED_TEXT: &str = "step 1 says \"by adding the number to itself\"";

fn fixed(finding: u32) -> Value {
    json!([{ "finding": finding, "verdict": "fixed", "detail": CHANGED_TEXT }])
}

/// The first review opens the plan's file and raises finding 1 about step 1, with evidence that is true.
fn first_review() -> ScriptedTurn {
    let finding = json!({
        "severity": "blocking", "place": "step 1", "text": "negative numbers are left out",
        "scenario": "double(-1) is called, and nobody knows what it returns",
        "evidence": "code.js:2 has \"exports.double = (a) => a;\"",
    });
    let submit = submit_review("changes_required", json!([]), json!([finding]));
    turn("[agent-collab REVIEW 1]", vec![open_code(), submit])
}

fn first_answer() -> ScriptedTurn {
    let submit = submit_answer(1, "accepted", "step 1 adds now", Some(STEP_1_ADDS));
    turn("[agent-collab RESPOND 1]", vec![submit])
}

/// The data of all events of a kind.
pub(super) fn data_of<'a>(outcome: &'a Outcome, kind: &'a str) -> Vec<&'a Value> {
    let events = outcome.of_kind(kind);
    events.map(|event| &event["data"]).collect()
}

/// The data of the only event of a kind.
pub(super) fn only<'a>(outcome: &'a Outcome, kind: &'a str) -> &'a Value {
    let all = data_of(outcome, kind);
    assert_eq!(all.len(), 1, "{kind}: {all:#?}");
    all[0]
}

fn committed_reviews(outcome: &Outcome) -> Vec<&Value> {
    let reviews = data_of(outcome, "review.committed").into_iter();
    reviews.map(|data| &data["review"]).collect()
}

/// Checks that no agent was asked for a missing part, and that every review knows that its reviewer opened all files.
fn assert_complete(outcome: &Outcome) {
    assert_eq!(outcome.of_kind("document.asked_back").count(), 0);
    for review in committed_reviews(outcome) {
        assert_eq!(review["facts"]["unopened"], json!([]), "{review:#}");
    }
}

fn assert_question(world: &World, question: &Value) {
    assert_eq!(world.state()["awaiting"]["kind"], *question);
}

fn assert_approved(world: &World, outcome: &Outcome, end: &str) {
    let state = world.state();
    assert_eq!(state["phase"], "APPROVED");
    assert_eq!(state["verdict"]["value"], "APPROVED");
    assert_eq!(state["awaiting"]["kind"]["about"], "execute");
    let mut phases = outcome.of_kind("run.phase");
    let approved = phases.find(|event| event["data"]["to"] == "APPROVED");
    assert_eq!(approved.expect("an approval")["data"]["reason"], end);
}

/// What the planner says against finding 1, and what the reviewer says to that.
const REJECTION: &str =
    "the project tests it: `grep -n double code.test.js` printed \"double doubles\"";
const INSISTENCE: &str = "no negative number is tested";
const NEW_EVIDENCE: &str = "`grep -n strictEqual code.test.js` printed \"double(4), 8\"";

/// The planner rejects the finding and the reviewer insists, each because of what a command printed. `last_verdicts` are
/// those of the review after the user's decision.
fn dispute_turns(last_verdicts: Value) -> Vec<ScriptedTurn> {
    let stands = json!([{
        "finding": 1, "verdict": "stands", "detail": INSISTENCE, "evidence": NEW_EVIDENCE,
    }]);
    let reject = submit_answer(1, "rejected", REJECTION, None);
    let insist = submit_review("changes_required", stands, json!([]));
    let accept = submit_answer(1, "accepted", "step 1 adds now", Some(STEP_1_ADDS));
    let approve = submit_review("approved", last_verdicts, json!([]));
    let (rejects, insists) = (
        "grep -n double code.test.js",
        "grep -n strictEqual code.test.js",
    );
    vec![
        first_review(),
        turn("[agent-collab RESPOND 1]", vec![shell(rejects), reject]),
        turn("[agent-collab REVIEW 2]", vec![shell(insists), insist]),
        ScriptedTurn {
            when: "[agent-collab REVIEW 2 dispute]",
            calls: vec![shell("cat code.test.js")],
            message: "I looked.\n\n````judgement\n1. planner: line 5 of code.test.js tests it\n````\n",
        },
        turn("[agent-collab RESPOND 2]", vec![accept]),
        turn("[agent-collab REVIEW 3]", vec![approve]),
    ]
}

/// codex plans, claude reviews and judges.
pub fn dispute_usual(notes: &mut Notes) {
    play_disputes("dispute-usual", USUAL, notes);
}

/// claude plans, codex reviews and judges.
pub fn dispute_swapped(notes: &mut Notes) {
    play_disputes("dispute-swapped", SWAPPED, notes);
}

fn play_disputes(name: &str, cast: Cast, notes: &mut Notes) {
    let world = World::create(
        &format!("{name}-planner"),
        cast,
        play_turns(dispute_turns(json!([]))),
    );
    let outcome = play_dispute(&world, cast, "planner", notes);
    let finding = &world.state()["findings"]["all"][0];
    assert_eq!(finding["status"], "decided_by_user");
    assert_approved(
        &world,
        &outcome,
        "finished after 3 reviews: 1 decided by you",
    );
    assert_eq!(outcome.of_kind("response.committed").count(), 1);

    let world = World::create(
        &format!("{name}-reviewer"),
        cast,
        play_turns(dispute_turns(fixed(1))),
    );
    let outcome = play_dispute(&world, cast, "reviewer", notes);
    let finding = &world.state()["findings"]["all"][0];
    assert_eq!(finding["status"], "fixed");
    assert_eq!(finding["record"]["is_upheld"], true);
    assert_approved(&world, &outcome, "finished after 3 reviews: 1 fixed");
    let told = "The user decided that the reviewer is right about finding 1";
    let mut bodies = world.server.bodies(cast.planner).into_iter();
    assert!(
        bodies.any(|body| body.contains(told)),
        "the planner is not told"
    );

    notes.prove(
        "as reviewer: a new session of it judges a dispute, and its own conversation stays as it is",
        cast.reviewer,
        "yes",
    );
    for vendor in [cast.planner, cast.reviewer] {
        let what = "what its commands printed is evidence that the program checks";
        notes.prove(what, vendor, "yes");
    }
}

/// Plays a dispute that the user decides for this side, against or with the judge, who is for the planner.
fn play_dispute(world: &World, cast: Cast, side: &str, notes: &mut Notes) -> Outcome {
    let outcome = world.run(&["--on-dispute", side]);
    world.note(notes, &outcome);
    outcome.assert_code(3);
    assert_complete(&outcome);
    let rejection = &data_of(&outcome, "response.committed")[0]["responses"][0];
    let reviews = committed_reviews(&outcome);
    for (facts, found) in [
        (&reviews[0]["facts"]["remarks"][0]["evidence"], "code.js:2"),
        (&rejection["check"], "`grep -n double code.test.js`"),
        (
            &reviews[1]["facts"]["verdicts"][0]["evidence"],
            "`grep -n strictEqual code.test.js`",
        ),
    ] {
        assert_eq!(*facts, json!({ "evidence": "verified", "found": found }));
    }
    let judged = &only(&outcome, "disputes.judged")["judgements"];
    let reason = "line 5 of code.test.js tests it";
    assert_eq!(
        *judged,
        json!([{ "n": 1, "side": "planner", "reason": reason }])
    );
    let question = &data_of(&outcome, "question.asked")[0]["question"]["kind"];
    assert_eq!(*question, json!({ "about": "dispute", "n": 1 }));
    let answer = &only(&outcome, "question.answered")["answer"];
    assert_eq!(*answer, json!({ "answer": "decide_dispute", "side": side }));
    assert_fresh_judge(world, cast, &outcome);
    outcome
}

/// Checks that the judge knows the words and the evidence of both sides and no history, and that the reviewer's own
/// conversation continues without the judgement.
fn assert_fresh_judge(world: &World, cast: Cast, outcome: &Outcome) {
    let bodies = world.server.bodies(cast.reviewer);
    let is_judge = |body: &&String| body.contains("[agent-collab REVIEW 2 dispute]");
    let judging: Vec<&String> = bodies.iter().filter(is_judge).collect();
    assert!(!judging.is_empty(), "nobody judges");
    for body in judging {
        assert_eq!(body.matches("[agent-collab ").count(), 1, "{body}");
        for known in [
            "negative numbers are left out",
            "double(-1) is called, and nobody knows what it returns",
            "the project tests it: `grep -n double code.test.js` printed",
            INSISTENCE,
            "`grep -n strictEqual code.test.js` printed",
            "reviewer: the evidence is true: code.js:2",
            "planner: the evidence is true: `grep -n double code.test.js`",
        ] {
            assert!(
                body.contains(known),
                "the judge does not know `{known}`: {body}"
            );
        }
    }
    assert_eq!(
        prompts_before(world, cast.reviewer, "REVIEW 3"),
        ["REVIEW 1", "REVIEW 2", "REVIEW 3"]
    );
    let opened = outcome.of_kind("session.opened");
    let of_reviewer = opened.filter(|event| event["data"]["role"] == "reviewer");
    let ids: BTreeSet<&str> = of_reviewer
        .filter_map(|event| event["data"]["external_id"].as_str())
        .collect();
    assert_eq!(
        ids.len(),
        2,
        "one conversation reviews, one judges: {ids:?}"
    );
}

/// codex plans, claude reviews.
pub fn circle_usual(notes: &mut Notes) {
    play_circle("circle-usual", USUAL, notes);
}

/// claude plans, codex reviews.
pub fn circle_swapped(notes: &mut Notes) {
    play_circle("circle-swapped", SWAPPED, notes);
}

/// The second answer takes back what the first one changed.
fn play_circle(name: &str, cast: Cast, notes: &mut Notes) {
    let finding = json!({
        "severity": "major", "place": "step 1", "text": "an addition is no multiplication",
        "scenario": "a text is doubled: it is repeated instead of refused",
        "evidence": CHANGED_TEXT,
    });
    let second = submit_review("changes_required", fixed(1), json!([finding]));
    let back = submit_answer(2, "accepted", "step 1 is as it was", Some(brain::STEP_1));
    let stands = json!([{ "finding": 2, "verdict": "stands", "detail": "now it says nothing" }]);
    let third = submit_review("changes_required", stands, json!([]));
    let turns = vec![
        first_review(),
        first_answer(),
        turn("[agent-collab REVIEW 2]", vec![second]),
        turn("[agent-collab RESPOND 2]", vec![back]),
        turn("[agent-collab REVIEW 3]", vec![third]),
    ];
    let world = World::create(name, cast, play_turns(turns));
    let outcome = world.run(&[]);
    world.note(notes, &outcome);
    outcome.assert_code(3);
    assert_complete(&outcome);
    let reviews = committed_reviews(&outcome);
    assert_eq!(reviews.len(), 3);
    assert_eq!(reviews[1]["facts"]["reverted"], Value::Null);
    assert_eq!(reviews[2]["facts"]["reverted"], json!([{ "step": 1 }]));
    assert_question(
        &world,
        &json!({ "about": "arbitration", "reason": "circle", "open": 1 }),
    );
    assert!(
        outcome
            .finished
            .stderr
            .contains("--on-cap pass|more:N|cancel")
    );
}

/// codex plans, claude reviews.
pub fn late_blocker_usual(notes: &mut Notes) {
    play_late_blocker("late-blocker-usual", USUAL, notes);
}

/// claude plans, codex reviews.
pub fn late_blocker_swapped(notes: &mut Notes) {
    play_late_blocker("late-blocker-swapped", SWAPPED, notes);
}

/// The third review approves, and raises a blocking finding on a step that never changed.
fn play_late_blocker(name: &str, cast: Cast, notes: &mut Notes) {
    let stands = json!([{ "finding": 1, "verdict": "stands", "detail": "nothing checks it" }]);
    let second = submit_review("changes_required", stands, json!([]));
    let checks = submit_answer(1, "accepted", "step 1 checks it now", Some(STEP_1_CHECKS));
    let late = json!({
        "severity": "blocking", "place": "step 2", "text": "no test reads what README.md says",
        "scenario": "README.md describes a third function, and the tests pass",
        "evidence": "`grep -n test package.json` printed `node --test`",
    });
    let third = submit_review("approved", fixed(1), json!([late]));
    let turns = vec![
        first_review(),
        first_answer(),
        turn("[agent-collab REVIEW 2]", vec![second]),
        turn("[agent-collab RESPOND 2]", vec![checks]),
        turn(
            "[agent-collab REVIEW 3]",
            vec![shell("grep -n test package.json"), third],
        ),
    ];
    let world = World::create(name, cast, play_turns(turns));
    // The flag was given before anybody knew of the blocker, so it does not count for it.
    let outcome = world.run(&["--on-cap", "pass"]);
    world.note(notes, &outcome);
    outcome.assert_code(3);
    assert_complete(&outcome);
    let state = world.state();
    assert_eq!(state["phase"], "REVIEW");
    assert_eq!(state["verdict"]["value"], "APPROVED");
    let findings = &state["findings"]["all"];
    assert_eq!(findings[0]["status"], "fixed");
    let late = &findings[1];
    assert_eq!(late["status"], "residual");
    assert_eq!(late["remark"]["severity"], "blocking");
    assert_eq!(late["record"]["residual"], "unchanged_text");
    let found = json!({ "evidence": "verified", "found": "`grep -n test package.json`" });
    assert_eq!(late["record"]["evidence"], found);
    assert_question(
        &world,
        &json!({ "about": "arbitration", "reason": "residual_blocker", "open": 0 }),
    );
    assert!(
        outcome
            .finished
            .stderr
            .contains("--answer arbitration=pass")
    );
}

/// codex plans, claude reviews.
pub fn unopened_usual(notes: &mut Notes) {
    play_unopened("unopened-usual", USUAL, notes);
}

/// claude plans, codex reviews.
pub fn unopened_swapped(notes: &mut Notes) {
    play_unopened("unopened-swapped", SWAPPED, notes);
}

/// The first reviewer never opens the plan's file, the second does when it is asked for it.
fn play_unopened(name: &str, cast: Cast, notes: &mut Notes) {
    let world = World::create(
        &format!("{name}-never"),
        cast,
        play_turns(unopened_turns(&[])),
    );
    let outcome = play_asked_back(&world, notes);
    assert_eq!(outcome.of_kind("review.opened").count(), 0);
    assert_unopened(&world, &outcome, &json!(["code.js"]));
    let shown = world.program(&["status"]).stdout;
    assert!(shown.contains("did not open code.js"), "{shown}");

    let world = World::create(
        &format!("{name}-asked"),
        cast,
        play_turns(unopened_turns(&[open_code()])),
    );
    let outcome = play_asked_back(&world, notes);
    let files = &only(&outcome, "review.opened")["files"];
    let opened: Vec<&String> = files
        .as_object()
        .into_iter()
        .flat_map(|files| files.keys())
        .collect();
    assert_eq!(opened, ["code.js"]);
    assert_unopened(&world, &outcome, &json!([]));

    notes.prove(
        "as reviewer: it is asked once for files of the plan that it did not open, and what it opens is seen",
        cast.reviewer,
        "yes",
    );
}

/// A reviewer that approves at once; it lists the file without opening it, and makes these calls when it is asked.
fn unopened_turns(when_asked: &[Tool]) -> Vec<ScriptedTurn> {
    let approve = || submit_review("approved", json!([]), json!([]));
    let again = when_asked.iter().cloned().chain([approve()]);
    vec![
        turn(
            "The plan names files that you did not open: code.js.",
            again.collect(),
        ),
        turn(
            "[agent-collab REVIEW 1]",
            vec![shell("ls code.js"), approve()],
        ),
    ]
}

/// Plays a run whose reviewer is asked for the file once.
fn play_asked_back(world: &World, notes: &mut Notes) -> Outcome {
    let outcome = world.run(&[]);
    world.note(notes, &outcome);
    outcome.assert_code(3);
    let lacks = &only(&outcome, "document.asked_back")["lacks"];
    let expected = json!([{ "lack": "opened_files", "files": ["code.js"] }]);
    assert_eq!(*lacks, expected);
    assert_approved(world, &outcome, "finished after 1 review, without findings");
    outcome
}

/// Checks what the review, the snapshot and `status` say of the files that were not opened.
fn assert_unopened(world: &World, outcome: &Outcome, files: &Value) {
    let review = &only(outcome, "review.committed")["review"];
    assert_eq!(review["facts"]["unopened"], *files);
    let reviews = &world.state()["course"]["reviews"];
    assert_eq!(reviews[0]["unopened"], json!({ "files": files }));
    let status = &world.program(&["status", "--json"]).json_lines()[0];
    assert_eq!(status["review"]["unopened"], *files);
}
