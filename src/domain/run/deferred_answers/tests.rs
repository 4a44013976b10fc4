//! Tests late answers: none is lost, nothing continues before them, and a yes or no still counts.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::Run;
use super::super::tests::{created, settings};
use super::*;
use crate::domain::event::Event;
use crate::domain::ids::TurnId;
use crate::domain::phase::{Gate, Phase};
use crate::domain::question::AgentQuestion;
use crate::domain::turn::TurnPurpose;

const AT: UnixMillis = UnixMillis(1_000);

/// A run whose planner writes the plan.
fn planning() -> Run {
    let mut run = Run::new(AT, &created(Gate::Auto, true, settings(5)));
    let text = "A test".to_owned();
    let title = text.clone();
    run.step(AT, &Event::GoalGiven { text: text.clone() });
    run.step(AT, &Event::GoalConfirmed { title, text });
    assert_eq!(run.state().phase, Phase::WritePlan);
    run
}

fn turn(run: &Run) -> TurnId {
    let running = run.state().running.as_ref();
    running.map_or_else(|| TurnId::new("none"), |running| running.order.turn.clone())
}

fn asks(run: &mut Run, request: &str) {
    let asked = Event::AgentAsked {
        turn: turn(run),
        request: RequestId::new(request),
        questions: vec![AgentQuestion::from_labels(
            format!("{request}?"),
            Vec::new(),
        )],
        child: None,
    };
    run.step(AT, &asked);
}

fn pends(run: &mut Run, request: &str, about: DeferredDecision) {
    let request = RequestId::new(request);
    run.step(AT, &Event::AnswerPending { request, about });
}

/// Lets the agent ask; it is instructed to end its turn.
fn asks_late(run: &mut Run, request: &str, about: DeferredDecision) {
    asks(run, request);
    pends(run, request, about);
}

fn plain() -> DeferredDecision {
    DeferredDecision::Answer { default: None }
}

fn ends(run: &mut Run, result: TurnOutcome) -> Vec<Effect> {
    let turn = turn(run);
    run.step(AT, &Event::TurnEnded { turn, result })
}

fn completed() -> TurnOutcome {
    TurnOutcome::completed("said")
}

/// Answers the first question with this word.
fn says(run: &mut Run, word: &str) -> Vec<Effect> {
    let question = run.state().current_question().cloned().expect("a question");
    let asked = question.kind.agent_questions().iter();
    let answers: BTreeMap<_, _> = asked.map(|q| (q.text.clone(), word.to_owned())).collect();
    let (id, answer) = (question.id, QuestionAnswer::Texts { answers });
    run.step(AT, &Event::QuestionAnswered { id, answer })
}

fn results_text(run: &Run) -> Vec<&str> {
    let results = run.state().results.iter();
    results.map(|result| result.text.as_str()).collect()
}

fn collects(effects: &[Effect]) -> bool {
    matches!(effects, [Effect::CollectDocument(_)])
}

/// Returns the turn that is started, and its retry reason.
fn started(effects: &[Effect]) -> Option<(TurnPurpose, Option<TurnRetryReason>)> {
    let mut orders = effects.iter().filter_map(|effect| match effect {
        Effect::StartTurn(order) => Some((order.purpose.clone(), order.again.clone())),
        _ => None,
    });
    orders.next()
}

#[test]
fn an_answer_within_the_turn_is_told_with_the_next_one() {
    let mut run = planning();
    asks_late(&mut run, "1", plain());
    assert_eq!(says(&mut run, "left"), []);
    assert_eq!(results_text(&run), ["The user's answer to \"1?\": left"]);
    assert!(collects(&ends(&mut run, completed())));
}

#[test]
fn a_turn_that_ended_without_its_answers_goes_on_with_the_last_of_them() {
    let mut run = planning();
    asks_late(&mut run, "1", plain());
    asks(&mut run, "2");
    asks_late(&mut run, "3", plain());
    assert_eq!(ends(&mut run, completed()), []);
    assert_eq!(says(&mut run, "left"), []);
    // The second one's call ended with the turn.
    assert!(collects(&says(&mut run, "right")));
    let expected = [
        "The user's answer to \"1?\": left",
        "The user's answer to \"3?\": right",
    ];
    assert_eq!(results_text(&run), expected);
}

#[test]
fn a_turn_that_brought_nothing_but_its_question_is_done_again_with_the_answer() {
    let mut run = planning();
    let waiting = turn(&run);
    asks_late(&mut run, "1", plain());
    ends(&mut run, completed());
    says(&mut run, "left");
    let nothing = Event::DocumentMissing {
        turn: waiting,
        reason: "there is none".to_owned().into(),
    };
    let again = started(&run.step(AT, &nothing));
    let answer = "The user's answer to \"1?\": left".to_owned();
    let expected = (
        TurnPurpose::WritePlan,
        Some(TurnRetryReason::Answered { answer }),
    );
    assert_eq!(again, Some(expected));
    assert_eq!(results_text(&run), Vec::<&str>::new(), "told once");
}

#[test]
fn a_late_yes_goes_back_to_planning_and_a_late_no_does_not() {
    let reason = "a part is missing".to_owned();
    let about = DeferredDecision::PlanEnter {
        reason: reason.clone(),
    };
    for after_turn in [false, true] {
        let mut run = planning();
        asks_late(&mut run, "1", about.clone());
        if after_turn {
            assert_eq!(ends(&mut run, completed()), []);
        }
        let reason = reason.clone();
        assert_eq!(says(&mut run, "Yes"), [Effect::EnterPlan { reason }]);
        let mut run = planning();
        asks_late(&mut run, "1", about.clone());
        if after_turn {
            ends(&mut run, completed());
        }
        assert_eq!(collects(&says(&mut run, "no")), after_turn);
        assert_eq!(results_text(&run), ["The user's answer to \"1?\": no"]);
    }
}

#[test]
fn a_late_no_keeps_the_planner_planning_and_a_late_yes_hands_the_plan_on() {
    for after_turn in [false, true] {
        let mut run = planning();
        asks_late(&mut run, "1", DeferredDecision::PlanExit);
        let effects = if after_turn {
            ends(&mut run, completed());
            says(&mut run, "the tests are missing")
        } else {
            assert_eq!(says(&mut run, "the tests are missing"), []);
            ends(&mut run, completed())
        };
        let answer = "The user's answer to \"1?\": the tests are missing".to_owned();
        let expected = (
            TurnPurpose::WritePlan,
            Some(TurnRetryReason::Answered { answer }),
        );
        assert_eq!(started(&effects), Some(expected));
        // Its plan goes to the history before the folder is emptied for the next turn.
        assert!(matches!(effects.first(), Some(Effect::DiscardDraft(_))));
        let mut run = planning();
        asks_late(&mut run, "1", DeferredDecision::PlanExit);
        ends(&mut run, completed());
        assert!(collects(&says(&mut run, "yes")));
    }
}

#[test]
fn what_nobody_answers_in_time_has_its_default_and_goes_on() {
    let mut run = planning();
    let default = Some("left".to_owned());
    asks_late(&mut run, "1", DeferredDecision::Answer { default });
    ends(&mut run, completed());
    let request = RequestId::new("1");
    let effects = run.step(AT, &Event::AnswerMissed { request });
    assert!(collects(&effects));
    assert_eq!(
        results_text(&run),
        ["Nobody answered \"1?\" in time; your default counts: left"]
    );
    let request = RequestId::new("1");
    assert_eq!(run.step(AT, &Event::AnswerMissed { request }), []);
}

#[test]
fn a_turn_that_waits_is_taken_up_with_its_question_and_given_up_by_a_stop() {
    let mut run = planning();
    asks_late(&mut run, "1", plain());
    ends(&mut run, completed());
    let mut stopped = run.clone();
    let effects = run.step(AT, &Event::RunResumed { gate: Gate::Auto });
    assert!(matches!(effects.as_slice(), [Effect::AskUser(_)]));
    assert!(collects(&says(&mut run, "left")));
    stopped.step(AT, &Event::RunStopped);
    assert_eq!(stopped.state().current_question(), None);
    assert_eq!(stopped.state().phase, Phase::RefineGoal);
    let confirmed = Event::GoalConfirmed {
        title: "again".to_owned(),
        text: "again".to_owned(),
    };
    // After a stop, the user releases the next turn.
    stopped.step(AT, &confirmed);
    assert!(started(&stopped.step(AT, &Event::TurnSendConfirmed)).is_some());
}

/// Performs one of all possible events.
fn happens(run: &mut Run, what: u8, request: &str) -> Vec<Effect> {
    match what {
        0 | 1 => asks(run, request),
        2 => pends(run, request, plain()),
        3 => pends(run, request, DeferredDecision::PlanExit),
        4 => {
            let reason = "r".to_owned();
            pends(run, request, DeferredDecision::PlanEnter { reason });
        }
        5 | 6 => return ends(run, completed()),
        7 => return ends(run, TurnOutcome::Interrupted),
        8 if run.state().current_question().is_some() => return says(run, "yes"),
        9 if run.state().current_question().is_some() => return says(run, "no"),
        10 => {
            let request = RequestId::new(request);
            return run.step(AT, &Event::AnswerMissed { request });
        }
        11 => {
            let request = RequestId::new(request);
            return run.step(AT, &Event::AgentQuestionWithdrawn { request });
        }
        12 => return run.step(AT, &Event::RunResumed { gate: Gate::Auto }),
        _ => {}
    }
    Vec::new()
}

fn waits_for_answers_and_for_nothing_else(all: &[(u8, u8)]) -> Result<(), TestCaseError> {
    let mut run = planning();
    for (what, n) in all {
        let effects = happens(&mut run, *what, &n.to_string());
        let state = run.state();
        if state.held_end.is_some() {
            prop_assert!(state.awaiting.is_some() && state.running.is_none());
            prop_assert!(started(&effects).is_none() && !collects(&effects));
        }
    }
    Ok(())
}

#[test]
fn what_one_request_asked_twice_is_answered_twice() {
    for last in [10, 11] {
        let all = [(0, 0), (2, 0), (0, 0), (5, 0), (8, 0), (last, 0)];
        waits_for_answers_and_for_nothing_else(&all).unwrap();
    }
}

proptest! {
    #[test]
    fn nothing_goes_on_while_an_answer_is_awaited_and_nothing_waits_without_a_question(
        all in proptest::collection::vec((0_u8..13, 0_u8..4), 1..40)
    ) {
        waits_for_answers_and_for_nothing_else(&all)?;
    }
}
