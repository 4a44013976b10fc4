//! Tests the timeline of runs with a controlled clock.

use super::recorder::MAX_TURNS;
use super::*;
use crate::domain::event::{
    Approval, ApprovalDecider, CallPermission, Event, RunParameters, StepAudit,
};
use crate::domain::findings::{FindingSeverity, ReviewRemark};
use crate::domain::ids::RequestId;
use crate::domain::phase::Gate;
use crate::domain::plan;
use crate::domain::question::{CommitTarget, ExecutionTerms, QuestionAnswer};
use crate::domain::receipt::Receipt;
use crate::domain::review::ReviewDocument;
use crate::domain::run::Run;
use crate::domain::turn::{TurnFailureKind, TurnOutcome, UsageLimit};
use crate::permission::MaxApprovalScope;

fn ended(n: u32) -> Event {
    Event::TurnEnded {
        turn: TurnId::new(format!("trn_{n}")),
        result: TurnOutcome::completed(""),
    }
}

fn usage(input: u64) -> Event {
    Event::UsageReported {
        role: Role::Planner,
        usage: SessionUsage {
            input_tokens: input,
            output_tokens: 1,
            cost_micro_usd: None,
            ..SessionUsage::default()
        },
    }
}

/// Applies events, each at its second.
fn play(events: Vec<(i64, Event)>) -> Run {
    play_from(UnixMillis(0), events)
}

fn play_from(at: UnixMillis, events: Vec<(i64, Event)>) -> Run {
    let mut run = Run::new(at, &RunParameters::example());
    for (seconds, event) in events {
        run.step(UnixMillis(at.0 + seconds * 1_000), &event);
    }
    run
}

#[expect(clippy::too_many_lines, reason = "one entry an event: a list to read")]
/// A run of 600 seconds that has answered a review, had a pause and is at its second step.
pub fn example_timeline(at: UnixMillis) -> RunTimeline {
    let mut events = to_the_first_review();
    let hash = plan::file_hash(b"x");
    let order = |n| TurnId::new(format!("trn_{n}"));
    let changed = plan::parse("# Task: t\n1. [ ] a\n2. [ ] b\nTest: sh t.sh\n").unwrap();
    let terms = ExecutionTerms {
        plan: changed.approval_sha256.clone(),
        test: None,
        other_test: None,
        commits: CommitTarget::Off {
            reason: String::new(),
        },
        dirty: Vec::new(),
        left: None,
        binding: None,
        change: None,
    };
    let snapshot = |step| Event::SnapshotTaken {
        step,
        tree: Some("t".to_owned()),
        attempt: 0,
    };
    let answered = Event::ResponseCommitted {
        turn: order(4),
        responses: Vec::new(),
        unanswered: Vec::new(),
        plan: Some((changed.clone(), hash.clone())),
        comments_sha256: hash.clone(),
        asked_back: Vec::new(),
    };
    let approved = Event::ReviewCommitted {
        turn: order(5),
        review: ReviewDocument {
            verdict: Verdict::Approved,
            consistent: true,
            marker: None,
            is_ambiguous: false,
            remarks: Vec::new(),
            verdicts: Vec::new(),
            settled: None,
            facts: None,
        },
        file_sha256: hash,
        plan_now: changed.approval_sha256,
    };
    events.extend([
        (120, usage(41_000)),
        (130, ended(4)),
        (131, answered),
        (190, ended(5)),
        (191, approved),
        (
            192,
            Event::RepositorySurveyed {
                terms: terms.clone(),
            },
        ),
        (
            200,
            Event::ProgramExited {
                reason: "q".to_owned(),
            },
        ),
        (9_000, Event::RunResumed { gate: Gate::Auto }),
        (
            9_001,
            Event::RepositorySurveyed {
                terms: terms.clone(),
            },
        ),
        (
            9_040,
            Event::QuestionAnswered {
                id: 3,
                answer: QuestionAnswer::Execute,
            },
        ),
        (9_041, Event::ExecutionEntered { base: None, terms }),
        (9_042, snapshot(1)),
        (9_100, ended(6)),
        (
            9_101,
            Event::StepAudited(StepAudit {
                step: 1,
                changed: vec!["a.rs".to_owned()],
                dirty: Vec::new(),
                outside_of_calls: Vec::new(),
                entry_points: Vec::new(),
                held: Vec::new(),
                out_of_scope: Vec::new(),
                tree: None,
            }),
        ),
        (
            9_101,
            Event::TestsRan {
                step: 1,
                receipt: Receipt::without_command(),
                changed: vec!["a.rs".to_owned()],
                made_by_tests: Vec::new(),
                entry_points: Vec::new(),
                held: Vec::new(),
                rewritten: Vec::new(),
                tree: None,
            },
        ),
        (
            9_102,
            Event::StepRecorded {
                step: 1,
                plan_file_sha256: None,
            },
        ),
        (9_103, snapshot(2)),
    ]);
    play_from(at, events).state().course.clone()
}

fn to_the_first_review() -> Vec<(i64, Event)> {
    let text = "# Task: t\n1. [ ] a\nTest: sh t.sh\n";
    let plan = plan::parse(text).unwrap();
    let hash = plan::file_hash(text.as_bytes());
    let remark = ReviewRemark::new(1, FindingSeverity::Major, "why");
    vec![
        (
            1,
            Event::GoalGiven {
                text: "t".to_owned(),
            },
        ),
        (
            2,
            Event::GoalMessageAdded {
                text: "t".to_owned(),
            },
        ),
        (3, Event::GateChanged { gate: Gate::Auto }),
        (10, usage(100)),
        (20, ended(1)),
        (
            30,
            Event::GoalConfirmed {
                title: "t".to_owned(),
                text: "t".to_owned(),
            },
        ),
        (40, usage(150)),
        (50, ended(2)),
        (
            51,
            Event::PlanCommitted {
                turn: TurnId::new("trn_2"),
                plan: plan.clone(),
                file_sha256: hash.clone(),
            },
        ),
        (60, ended(3)),
        (
            61,
            Event::ReviewCommitted {
                turn: TurnId::new("trn_3"),
                review: ReviewDocument {
                    verdict: Verdict::ChangesRequired,
                    consistent: true,
                    marker: None,
                    is_ambiguous: false,
                    remarks: vec![remark],
                    verdicts: Vec::new(),
                    settled: None,
                    facts: None,
                },
                file_sha256: hash,
                plan_now: plan.approval_sha256,
            },
        ),
    ]
}

fn in_words(course: &RunTimeline) -> String {
    let seconds =
        |at: Option<UnixMillis>| at.map_or("…".to_owned(), |at| (at.0 / 1_000).to_string());
    let turns = course.turns.iter().map(|turn| {
        format!(
            "{} {} {}-{} {} {}",
            turn.role.name(),
            turn.what,
            seconds(Some(turn.from)),
            seconds(turn.to),
            turn.end.label(),
            turn.usage().input_tokens
        )
    });
    let spans = |name: &'static str, spans: &[ActivitySpan]| {
        let told = spans.iter().map(move |span| {
            format!(
                "{name} {} {}-{}",
                span.what,
                seconds(Some(span.from)),
                seconds(span.to)
            )
        });
        told.collect::<Vec<_>>()
    };
    let reviews = course.reviews.iter().map(|review| {
        format!(
            "review {} {}: {} open, {} new, {} resolved",
            review.review,
            review.verdict.as_str(),
            review.n_open,
            review.n_new,
            review.n_settled
        )
    });
    turns
        .chain(spans("waits", &course.waits))
        .chain(spans("pause", &course.pauses))
        .chain(reviews)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn turns_waits_and_reviews_are_kept_with_their_times() {
    let run = play(to_the_first_review());
    assert_eq!(
        in_words(&run.state().course),
        "planner talks about the goal 3-20 done 100\n\
         planner writes the plan 30-50 done 50\n\
         reviewer reviews the plan 51-60 done 0\n\
         planner answers the review 61-… runs 0\n\
         waits gate 2-3\n\
         waits goal 20-30\n\
         review 1 CHANGES_REQUIRED: 1 open, 1 new, 0 resolved"
    );
    let course = &run.state().course;
    assert_eq!(course.role_usage(Role::Planner).input_tokens, 150);
    assert_eq!(
        course.work_millis(Role::Reviewer, UnixMillis(99_000)),
        9_000
    );
    assert_eq!(course.wait_millis(UnixMillis(99_000)), 11_000);
}

#[test]
fn a_role_does_not_work_while_its_call_waits_for_the_user() {
    let mut events = to_the_first_review();
    let request = RequestId::new("req_1");
    let at = events.iter().position(|(at, _)| *at == 60).unwrap();
    let asked = Event::ApprovalRequested(Approval {
        request: request.clone(),
        item: None,
        turn: TurnId::new("trn_3"),
        permission: CallPermission::Bash,
        targets: vec!["make".to_owned()],
        reason: None,
        why: None,
        offers: Vec::new(),
        keeping: MaxApprovalScope::Never,
        profile: String::new(),
        child: None,
        n: 0,
    });
    let answered = Event::ApprovalDecided {
        request,
        allowed: true,
        by: ApprovalDecider::User,
        reason: String::new(),
        denial: None,
        kept: Vec::new(),
    };
    events.splice(at..at, [(52, asked), (58, answered)]);
    let run = play(events);
    let course = &run.state().course;
    let work = course.work_times(Role::Reviewer, UnixMillis(99_000));
    let pieces = [
        (UnixMillis(51_000), UnixMillis(52_000)),
        (UnixMillis(58_000), UnixMillis(60_000)),
    ];
    assert_eq!(work, pieces);
    assert_eq!(
        course.work_millis(Role::Reviewer, UnixMillis(99_000)),
        3_000
    );
    assert_eq!(course.wait_millis(UnixMillis(99_000)), 17_000);
}

#[test]
fn nobody_is_waited_for_until_a_limit_of_usage_is_over() {
    let mut events = to_the_first_review();
    events.truncate(events.len() - 2);
    events.push((
        60,
        Event::TurnEnded {
            turn: TurnId::new("trn_3"),
            result: TurnOutcome::Failed {
                kind: TurnFailureKind::UsageLimit,
                message: "used up".to_owned(),
                transient: false,
                limit: Some(UsageLimit {
                    resets_at: Some(UnixMillis(900_000)),
                }),
                other: None,
            },
        },
    ));
    let run = play(events);
    assert_eq!(
        run.state().current_question().unwrap().kind.name(),
        "usage_limit"
    );
    assert_eq!(run.state().course.wait_millis(UnixMillis(99_000)), 11_000);
}

#[test]
fn what_the_end_of_the_program_cut_off_ends_with_the_last_event() {
    let mut events = to_the_first_review();
    events.push((70, usage(170)));
    events.push((500, Event::RunResumed { gate: Gate::Manual }));
    let run = play(events);
    let told = in_words(&run.state().course);
    assert!(
        told.contains("planner answers the review 61-70 cut off 20"),
        "{told}"
    );
    assert!(told.contains("pause  70-500"), "{told}");
    assert!(told.contains("waits gate 500-…"), "{told}");
}

#[test]
fn a_snapshot_without_a_course_is_read_and_a_course_comes_back_from_its_snapshot() {
    let run = play(to_the_first_review());
    let mut value = serde_json::to_value(&run).unwrap();
    let again: Run = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(again, run);
    let fields = value.as_object_mut().unwrap();
    fields.remove("course");
    fields.remove("notes");
    let old: Run = serde_json::from_value(value).unwrap();
    assert_eq!(old.state().course, RunTimeline::default());
}

#[test]
fn a_step_lasts_from_its_first_turn_to_its_record() {
    let course = example_timeline(UnixMillis(0));
    let told = in_words(&course);
    let step = |n| {
        course
            .step_span(n)
            .map(|step| (step.from.0, step.to.map(|to| to.0)))
    };
    assert_eq!(step(1), Some((9_041_000, Some(9_102_000))), "{told}");
    assert_eq!(
        step(2).map(|(from, to)| (from, to.is_none())),
        Some((9_102_000, true)),
        "{told}"
    );
    assert_eq!(
        course.turns().last().unwrap().end,
        TurnSpanEnd::NotYet,
        "{told}"
    );
    assert!(told.contains("pause  200-9000"), "{told}");
}

#[test]
fn what_an_agent_says_leaves_the_run_as_its_snapshot_has_it() {
    let mut run = play(to_the_first_review());
    let before = run.clone();
    let said = Event::Agent {
        turn: TurnId::new("trn_4"),
        role: Role::Planner,
        news: crate::domain::event::AgentActivity::Text {
            text: "hm".to_owned(),
        },
    };
    run.step(UnixMillis(99_000), &said);
    assert_eq!(run, before);
}

/// A turn of this many seconds, optionally with a wait of one second in its middle.
fn turn(n: u32, role: Role, at: i64) -> TurnSpan {
    let used = |n: u32| SessionUsage {
        input_tokens: u64::from(n) * 10,
        ..SessionUsage::default()
    };
    TurnSpan {
        turn: TurnId::new(format!("trn_{n}")),
        role,
        what: "works on step 1".to_owned(),
        from: UnixMillis(at),
        to: Some(UnixMillis(at + 7_000)),
        end: match n % 50 {
            0 => TurnSpanEnd::Failed,
            _ => TurnSpanEnd::Completed,
        },
        before: used(n),
        after: used(n + 1),
        waited: 0,
    }
}

#[test]
fn of_many_waits_in_a_turn_each_counts_for_itself() {
    let mut course = RunTimeline::default();
    let minute = |n: i64| UnixMillis(n * 60_000);
    let long = TurnSpan {
        to: None,
        ..turn(1, Role::Planner, 0)
    };
    course.turns.push(long);
    for n in 0..100 {
        course.waits.push(ActivitySpan {
            from: minute(n),
            to: Some(UnixMillis(minute(n).0 + 1_000)),
            what: "bash".to_owned(),
        });
        course.compact();
    }
    let now = minute(100);
    let worked = 100 * 59_000;
    assert_eq!(course.work_millis(Role::Planner, now), worked);
    assert_eq!(course.wait_millis(now), 100_000);
    let again: RunTimeline =
        serde_json::from_str(&serde_json::to_string(&course).unwrap()).unwrap();
    assert_eq!(again.work_millis(Role::Planner, now), worked);
    // It does not change once the turn is old, too.
    course.turns[0].to = Some(now);
    for n in 0..30 {
        course.turns.push(turn(n, Role::Reviewer, now.0));
        course.compact();
    }
    assert_eq!(course.work_millis(Role::Planner, now), worked);
}

#[test]
fn of_a_long_run_each_step_review_and_pause_is_there() {
    let mut course = RunTimeline::default();
    for n in 1..=300 {
        let at = UnixMillis(i64::from(n));
        course.steps.push(StepSpan {
            n,
            from: at,
            to: Some(at),
        });
        course.reviews.push(ReviewSpan {
            review: n,
            iteration: n,
            at,
            verdict: Verdict::ChangesRequired,
            consistent: true,
            n_open: 0,
            n_new: 0,
            n_settled: 0,
            unopened: None,
            reverted: Vec::new(),
        });
        course.pauses.push(ActivitySpan {
            from: at,
            to: Some(at),
            what: String::new(),
        });
        course.compact();
    }
    assert_eq!(
        course.step_span(1).map(|step| step.from),
        Some(UnixMillis(1))
    );
    assert_eq!(course.reviews()[0].review, 1);
    assert_eq!(course.pauses().len(), 300);
}

#[test]
fn a_long_course_stays_small_and_its_sums_are_those_of_all_turns() {
    let mut course = RunTimeline::default();
    for n in 0..1_000 {
        let role = match n % 4 {
            3 => Role::Reviewer,
            _ => Role::Planner,
        };
        let at = i64::from(n) * 10_000;
        course.turns.push(turn(n, role, at));
        course.waits.push(ActivitySpan {
            from: UnixMillis(at + 3_000),
            to: Some(UnixMillis(at + 4_000)),
            what: "bash".to_owned(),
        });
        course.compact();
    }
    let now = UnixMillis(10_000_000);
    assert_eq!(course.turns().len(), MAX_TURNS);
    assert_eq!(course.turn_count(Role::Planner), 750);
    assert_eq!(course.turn_count(Role::Reviewer), 250);
    assert_eq!(course.work_millis(Role::Planner, now), 750 * 6_000);
    assert_eq!(course.work_millis(Role::Reviewer, now), 250 * 6_000);
    assert_eq!(course.role_usage(Role::Planner).input_tokens, 7_500);
    assert_eq!(course.wait_count(), 1_000);
    assert_eq!(course.wait_millis(now), 1_000_000);
    assert_eq!(course.failure_times(Role::Planner).count(), 20);
    // The bars start with the first turn, and none is outside of the run.
    let work = course.work_times(Role::Planner, now);
    assert_eq!(work.first().map(|(from, _)| *from), Some(UnixMillis(0)));
    assert!(work.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    let n_bytes = serde_json::to_string(&course).unwrap().len();
    assert!(n_bytes < 12_000, "{n_bytes} bytes");
    let again: RunTimeline =
        serde_json::from_str(&serde_json::to_string(&course).unwrap()).unwrap();
    assert_eq!(again, course);
}
