//! Tests questions of agents: none is rejected because of another, and each ends with the agent that asked it.

use super::super::tests::{created, settings};
use super::super::{Run, UnixMillis};
use super::*;
use crate::domain::event::Event;
use crate::domain::ids::SessionId;
use crate::domain::phase::Gate;
use crate::domain::task::{TaskOrder, TaskOutcome, TaskResult, TaskWaitMode};
use crate::domain::turn::TurnOutcome;

const AT: UnixMillis = UnixMillis(1_000);

/// A run whose planner writes the plan, with a task of the user beside it.
fn at_work() -> Run {
    let mut run = Run::new(AT, &created(Gate::Auto, true, settings(5)));
    let goal = Event::GoalConfirmed {
        title: "A test".to_owned(),
        text: "A test".to_owned(),
    };
    run.step(
        AT,
        &Event::GoalGiven {
            text: "A test".to_owned(),
        },
    );
    run.step(AT, &goal);
    assert_eq!(turn(&run).as_str(), "trn_1");
    run.step(
        AT,
        &Event::TaskStarted(TaskOrder {
            session: SessionId::new("ses_c"),
            parent: None,
            n: 1,
            first_agent: None,
            agent: "general".to_owned(),
            description: "looks around".to_owned(),
            adapter: "codex".to_owned(),
            model: None,
            waits: TaskWaitMode::Background,
            turn: TurnId::new("ses_c.1"),
            speaks: None,
            tree: None,
        }),
    );
    run
}

fn turn(run: &Run) -> TurnId {
    let running = run.state().running.as_ref();
    running.expect("a turn").order.turn.clone()
}

fn asks(turn: &TurnId, request: &str, child: Option<&str>) -> Event {
    Event::AgentAsked {
        turn: turn.clone(),
        request: RequestId::new(request),
        questions: vec![AgentQuestion::from_labels(
            format!("{request}?"),
            Vec::new(),
        )],
        child: child.map(str::to_owned),
    }
}

fn of_child(request: &str) -> Event {
    asks(&TurnId::new("ses_c.1"), request, Some("you ▸ general#1"))
}

/// Returns the waiting questions by their texts, the first to be shown first.
fn open(run: &Run) -> Vec<String> {
    let mut run = run.clone();
    let mut open = Vec::new();
    while let Some(question) = run.state().current_question().cloned() {
        let asked = question
            .kind
            .agent_questions()
            .iter()
            .map(|asked| asked.text.as_str());
        open.extend(asked.map(str::to_owned));
        let id = question.id;
        let effects = run.step(
            AT,
            &Event::QuestionAnswered {
                id,
                answer: QuestionAnswer::Dismiss,
            },
        );
        let request = question.kind.request_id().expect("who waits").clone();
        let answer = QuestionAnswer::Dismiss;
        assert_eq!(effects, [Effect::AnswerAgent { request, answer }]);
        let again = Event::QuestionAnswered {
            id,
            answer: QuestionAnswer::Dismiss,
        };
        assert_eq!(run.step(AT, &again), [], "answered once");
    }
    open
}

#[test]
fn questions_wait_in_the_order_in_which_agents_asked_them() {
    let mut run = at_work();
    let trn = turn(&run);
    for event in [
        asks(&trn, "1", None),
        of_child("2"),
        asks(&trn, "3", None),
        of_child("4"),
    ] {
        let effects = run.step(AT, &event);
        assert!(
            matches!(effects.as_slice(), [Effect::AskUser(_)]),
            "{effects:?}"
        );
    }
    assert_eq!(open(&run), ["1?", "2?", "3?", "4?"]);
    run.step(
        AT,
        &Event::AgentQuestionWithdrawn {
            request: RequestId::new("1"),
        },
    );
    assert_eq!(open(&run), ["2?", "3?", "4?"]);
}

#[test]
fn a_question_goes_with_whoever_asked_it() {
    let mut run = at_work();
    let trn = turn(&run);
    for event in [asks(&trn, "1", None), of_child("2"), asks(&trn, "3", None)] {
        run.step(AT, &event);
    }
    let mut ended = run.clone();
    ended.step(
        AT,
        &Event::TaskEnded(TaskResult {
            task_id: SessionId::new("ses_c"),
            agent: "general".to_owned(),
            name: "general#1".to_owned(),
            end: TaskOutcome::from_last_message("found"),
            tool_calls: 0,
            duration_ms: 1,
            patch: None,
        }),
    );
    assert_eq!(open(&ended), ["1?", "3?"]);
    // Too late: the task is over.
    ended.step(AT, &of_child("5"));
    assert_eq!(open(&ended), ["1?", "3?"]);
    let through = Event::TurnEnded {
        turn: trn,
        result: TurnOutcome::Interrupted,
    };
    run.step(AT, &through);
    let first = run.state().current_question().expect("the child's");
    assert_eq!(first.kind.describe(), "you ▸ general#1 asks: 2?");
    // Meanwhile the workflow has moved on to its own question.
    assert_eq!(
        run.state().awaiting.as_ref().map(|q| q.kind.name()),
        Some("gate")
    );
}

#[test]
fn what_was_asked_when_the_program_ended_is_told_to_the_role_that_asked() {
    let mut run = at_work();
    let trn = turn(&run);
    for event in [asks(&trn, "1", None), of_child("2"), asks(&trn, "3", None)] {
        run.step(AT, &event);
    }
    run.step(AT, &Event::RunResumed { gate: Gate::Manual });
    let told: Vec<&str> = run
        .state()
        .unanswered
        .iter()
        .map(|u| u.what.as_str())
        .collect();
    assert_eq!(told, ["question: 1?", "question: 3?"]);
    assert_eq!(run.state().asked, []);
}
