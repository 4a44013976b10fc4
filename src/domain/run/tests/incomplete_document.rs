//! Tests that an incomplete document is requested once more, and no more often.

use super::*;
use crate::domain::event::{ApprovalDecider, CallPermission, DENIED_BY_USER, DenialKind};
use crate::domain::missing_part::MissingPart;
use crate::domain::turn::TurnRetryReason;

/// A run whose plan is being reviewed: turn 2 is over.
fn reviewing() -> RunSimulation {
    let mut world = RunSimulation::planning(5);
    for event in [ended(1), planned(1, 1), ended(2)] {
        world.feed(event);
    }
    world
}

/// The event for a review's text, as the engine builds it.
fn review(world: &RunSimulation, n: u32, text: &str) -> Event {
    world.review_of(TurnId::new(format!("trn_{n}")), text)
}

/// A finding on the text under the heading of the first plan.
fn finding(n: u32, severity: &str) -> String {
    format!(
        "{n}. [{severity}] nobody says which\n   Place: Task: version 1\n   Scenario: two sums\n"
    )
}

/// The event for the planner's answers, as the engine builds it. An answer that accepts comes with a new plan.
fn answers(world: &RunSimulation, n: u32, text: &str) -> Event {
    let turn = TurnId::new(format!("trn_{n}"));
    let steps = u8::try_from(n % 3 + 1).unwrap();
    let plan = plan_text(u8::try_from(n).unwrap(), steps);
    let plan = text.contains("accepted").then_some(plan.as_str());
    world.answers_of(turn, text, plan)
}

/// Plays the texts of turns from the second one on, each with its expected effects.
fn play_texts(world: &mut RunSimulation, first: u32, texts: &[(&str, &str)]) {
    for (n, (text, expected)) in (first..).zip(texts) {
        if n > first {
            world.feed(ended(n));
        }
        let event = match world.run.state().phase {
            Phase::Respond => answers(world, n, text),
            _ => review(world, n, text),
        };
        check(world, &[event], expected);
    }
}

#[test]
fn a_review_that_says_nothing_is_asked_back_once_and_then_put_to_the_user() {
    let mut world = reviewing();
    play_texts(
        &mut world,
        2,
        &[
            ("Looks good.\n", "REVIEW | start trn_3: reviews the plan"),
            ("Looks good.\n", "REVIEW | ask arbitration"),
        ],
    );
    let state = world.run.state();
    assert_eq!((state.iteration, state.findings.review_count()), (1, 1));
    assert_eq!(
        state.verdict.as_ref().map(|verdict| verdict.value),
        Some(Verdict::ChangesRequired)
    );
}

#[test]
fn a_finding_that_an_approval_passes_over_twice_is_put_to_the_user() {
    let mut world = reviewing();
    play_texts(
        &mut world,
        2,
        &[
            (
                &format!("[CHANGES_REQUIRED]\n{}2. [minor] b\n", finding(1, "major")),
                "RESPOND | start trn_3: answers the review",
            ),
            (
                "1. accepted: x\n2. accepted: y\n",
                "REVIEW | start trn_4: reviews the plan",
            ),
            ("[APPROVED]\n", "REVIEW | start trn_5: reviews the plan"),
            ("[APPROVED]\n", "REVIEW | ask arbitration"),
        ],
    );
    let open: Vec<u32> = world
        .run
        .state()
        .findings
        .open()
        .map(|f| f.remark.n)
        .collect();
    assert_eq!(open, [1]);
}

#[test]
fn a_finding_that_is_named_as_settled_without_a_quote_goes_to_the_user() {
    let mut world = reviewing();
    play_texts(
        &mut world,
        2,
        &[
            (
                &format!("[CHANGES_REQUIRED]\n{}", finding(1, "blocking")),
                "RESPOND | start trn_3: answers the review",
            ),
            ("1. accepted: x\n", "REVIEW | start trn_4: reviews the plan"),
            ("[APPROVED]\n", "REVIEW | start trn_5: reviews the plan"),
            ("[APPROVED]\n\nSettled: 1\n", "REVIEW | ask arbitration"),
        ],
    );
}

#[test]
fn an_approval_beside_a_finding_that_weighs_is_put_to_the_user() {
    for severity in ["major", "blocking"] {
        let mut world = reviewing();
        let text = format!("[APPROVED]\n{}", finding(1, severity));
        play_texts(
            &mut world,
            2,
            &[
                (&text, "REVIEW | start trn_3: reviews the plan"),
                (&text, "REVIEW | ask arbitration"),
            ],
        );
        let passed = answered(1, QuestionAnswer::ForcePass);
        check(
            &mut world,
            &[passed],
            "APPROVED | AppendLog, SurveyRepository",
        );
    }
}

#[test]
fn a_planner_who_answers_one_of_three_is_asked_once_for_the_others() {
    let mut world = reviewing();
    play_texts(
        &mut world,
        2,
        &[
            (
                &format!(
                    "[CHANGES_REQUIRED]\n{}2. [minor] b\n3. [minor] c\n",
                    finding(1, "major")
                ),
                "RESPOND | start trn_3: answers the review",
            ),
            (
                "1. accepted: x\n",
                "RESPOND | start trn_4: answers the review",
            ),
            ("2. rejected: y\n", "REVIEW | start trn_5: reviews the plan"),
        ],
    );
    let left: Vec<u32> = world
        .run
        .state()
        .findings
        .unanswered()
        .map(|f| f.remark.n)
        .collect();
    assert_eq!(left, [3]);
}

#[test]
fn answers_that_are_kept_go_on_where_the_planner_adds_nothing() {
    let mut world = reviewing();
    play_texts(
        &mut world,
        2,
        &[
            (
                &format!("[CHANGES_REQUIRED]\n{}2. [minor] b\n", finding(1, "major")),
                "RESPOND | start trn_3: answers the review",
            ),
            (
                "1. accepted: x\n",
                "RESPOND | start trn_4: answers the review",
            ),
        ],
    );
    let nothing = Event::DocumentMissing {
        turn: TurnId::new("trn_4"),
        reason: "nothing".to_owned().into(),
    };
    check(
        &mut world,
        &[ended(4), nothing],
        "RESPOND | collect trn_4\nREVIEW | start trn_5: reviews the plan",
    );
}

#[test]
fn what_was_asked_back_is_known_after_a_restart() {
    let mut world = reviewing();
    play_texts(
        &mut world,
        2,
        &[("Good.\n", "REVIEW | start trn_3: reviews the plan")],
    );
    let text = serde_json::to_string(&world.run).unwrap();
    world.run = serde_json::from_str(&text).unwrap();
    world.feed(Event::RunResumed { gate: Gate::Auto });
    world.feed(ended(4));
    assert_eq!(world.run.state().asked_back.parts, [MissingPart::Verdict]);
    let again = review(&world, 4, "Good.\n");
    check(&mut world, &[again], "REVIEW | ask arbitration");
}

#[test]
fn a_review_of_a_log_of_an_earlier_version_settles_what_it_leaves_out() {
    let mut world = reviewing();
    let first = r#"{"verdict":"CHANGES_REQUIRED","consistent":true,"remarks":[{"n":1,"severity":"major","text":"a"}]}"#;
    let last = r#"{"verdict":"APPROVED","consistent":true,"remarks":[]}"#;
    let old = |world: &RunSimulation, n: u32, text: &str| Event::ReviewCommitted {
        turn: TurnId::new(format!("trn_{n}")),
        review: serde_json::from_str(text).unwrap(),
        file_sha256: sha("c"),
        plan_now: world.disk_plan(),
    };
    let event = old(&world, 2, first);
    world.feed(event);
    let answers = r#"{"kind":"response.committed","data":{"turn":"trn_3","responses":[],"unanswered":[1],"plan":null,"comments_sha256":"c"}}"#;
    world.feed(ended(3));
    world.feed(serde_json::from_str(answers).unwrap());
    world.feed(ended(4));
    let event = old(&world, 4, last);
    check(&mut world, &[event], "APPROVED | SurveyRepository");
}

#[test]
fn a_call_that_the_user_refused_with_the_rest_of_the_turn_is_told_with_the_next_one() {
    let mut world = RunSimulation::planning(5);
    let call = |n: u32, turn: u32| {
        Event::ApprovalRequested(Approval {
            request: RequestId::new(format!("r{n}")),
            turn: TurnId::new(format!("trn_{turn}")),
            targets: vec![format!("make {n}")],
            ..approval()
        })
    };
    let refused = |n: u32, reason: &str, denial| Event::ApprovalDecided {
        request: RequestId::new(format!("r{n}")),
        allowed: false,
        by: ApprovalDecider::User,
        reason: reason.to_owned(),
        denial,
        kept: Vec::new(),
    };
    for n in 1..=5 {
        world.feed(call(n, 1));
    }
    world.feed(refused(1, "not now", None));
    world.feed(refused(2, DENIED_BY_USER, None));
    // Earlier versions did not tell a typed reason from this text.
    world.feed(refused(3, DENIED_BY_USER, Some(DenialKind::Explained)));
    world.feed(refused(4, DENIED_BY_USER, Some(DenialKind::Unexplained)));
    world.feed(refused(5, "not now", Some(DenialKind::Explained)));
    world.feed(Event::TurnEnded {
        turn: TurnId::new("trn_1"),
        result: TurnOutcome::Interrupted,
    });
    let told = |world: &RunSimulation| -> Vec<String> {
        let refused = world.run.state().refused.iter();
        refused.map(|refused| refused.what.clone()).collect()
    };
    assert_eq!(told(&world), ["bash make 2", "bash make 4"]);
    let text = serde_json::to_string(&world.run).unwrap();
    world.run = serde_json::from_str(&text).unwrap();
    world.feed(Event::TurnSendConfirmed);
    assert_eq!(told(&world), ["bash make 2", "bash make 4"]);
    world.feed(Event::TurnStarted {
        turn: TurnId::new("trn_2"),
        prompt_sha256: sha("p"),
        process: None,
    });
    assert!(told(&world).is_empty());
}

fn approval() -> Approval {
    Approval {
        request: RequestId::new("r"),
        item: None,
        turn: TurnId::new("trn_1"),
        permission: CallPermission::Bash,
        targets: Vec::new(),
        reason: None,
        why: None,
        offers: Vec::new(),
        keeping: MaxApprovalScope::Never,
        profile: String::new(),
        child: None,
        n: 0,
    }
}

#[test]
fn a_plan_that_the_user_does_not_hand_on_is_kept_and_goes_to_no_review() {
    let told = |told: Option<&str>| Event::PlanExitAnswered {
        told: told.map(str::to_owned),
    };
    let mut world = RunSimulation::planning(5);
    world.feed(told(Some("no")));
    let text = serde_json::to_string(&world.run).unwrap();
    world.run = serde_json::from_str(&text).unwrap();
    check(
        &mut world,
        &[ended(1), planned(1, 1)],
        "WRITE_PLAN | collect trn_1\nWRITE_PLAN | start trn_2: writes the plan",
    );
    let again = world
        .run
        .state()
        .running
        .as_ref()
        .and_then(|running| running.order.again.clone());
    let answer = "no".to_owned();
    assert_eq!(again, Some(TurnRetryReason::Answered { answer }));
    assert!(world.run.state().plan.is_some());
    // A later yes replaces the no.
    world.feed(told(Some("no")));
    world.feed(told(None));
    check(
        &mut world,
        &[ended(2), planned(2, 2)],
        "WRITE_PLAN | collect trn_2\nREVIEW | start trn_3: reviews the plan",
    );
}

#[test]
fn a_no_that_no_planner_waits_for_changes_nothing() {
    let mut world = reviewing();
    let before = world.run.state().plan_stays.clone();
    world.feed(Event::PlanExitAnswered {
        told: Some("no".to_owned()),
    });
    assert_eq!(world.run.state().plan_stays, before);
}
