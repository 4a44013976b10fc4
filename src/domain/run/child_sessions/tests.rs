//! Tests children beside a run: no sequence of their events changes the workflow.

use proptest::prelude::*;

use super::super::Run;
use super::*;
use crate::domain::event::{Approval, CallPermission, Event, RunParameters};
use crate::domain::ids::RequestId;
use crate::domain::question::{AgentQuestion, QuestionAsker, QuestionKind};
use crate::domain::task::{TaskOutcome, session_depth};
use crate::permission::MaxApprovalScope;

const AT: UnixMillis = UnixMillis(1_000);

fn run() -> Run {
    let session = |id: &str| (SessionId::new(id), "codex".to_owned());
    let created = RunParameters {
        planner: session("ses_planner"),
        reviewer: Some(session("ses_reviewer")),
        ..RunParameters::example()
    };
    Run::new(AT, &created)
}

fn order(child: u8, waits: TaskWaitMode) -> TaskOrder {
    let parents = [None, Some("ses_planner"), Some("ses_reviewer")];
    TaskOrder {
        session: SessionId::new(format!("ses_{child}")),
        parent: parents[usize::from(child) % 3].map(SessionId::new),
        n: u32::from(child),
        first_agent: None,
        agent: "explore".to_owned(),
        description: "looks around".to_owned(),
        adapter: "codex".to_owned(),
        model: None,
        waits,
        turn: TurnId::new(format!("ses_{child}.1")),
        speaks: None,
        tree: None,
    }
}

fn ended(child: u8) -> Event {
    Event::TaskEnded(TaskResult {
        task_id: SessionId::new(format!("ses_{child}")),
        agent: "explore".to_owned(),
        name: "explore#1".to_owned(),
        end: TaskOutcome::from_last_message(if child == 3 { "" } else { "found" }),
        tool_calls: 1,
        duration_ms: 5,
        patch: None,
    })
}

fn asked(child: u8) -> Event {
    Event::ApprovalRequested(Approval {
        request: RequestId::from(format!("ses_{child}/1")),
        item: None,
        turn: TurnId::new(format!("ses_{child}.1")),
        permission: CallPermission::Read,
        targets: vec![".env".to_owned()],
        reason: None,
        why: None,
        offers: Vec::new(),
        keeping: MaxApprovalScope::Never,
        profile: "explore".to_owned(),
        child: None,
        n: 0,
    })
}

fn questioned(child: u8) -> Event {
    Event::AgentAsked {
        turn: TurnId::new(format!("ses_{child}.1")),
        request: RequestId::from(format!("ses_{child}/2")),
        questions: vec![AgentQuestion::from_labels("Which?", Vec::new())],
        child: Some(format!("planner ▸ explore#{child}")),
    }
}

fn event() -> impl Strategy<Value = Event> {
    (0..10_u8, 0..6_u8).prop_map(|(what, child)| {
        let session = SessionId::new(format!("ses_{child}"));
        match what {
            0 => Event::TaskStarted(order(child, TaskWaitMode::Foreground)),
            1 => Event::TaskStarted(order(child, TaskWaitMode::Background)),
            2 => Event::TaskDispatched { session },
            3 => ended(child),
            4 => asked(child),
            5 => Event::TaskMovedToBackground { session },
            6 => Event::TaskReported { session },
            7 => Event::ChildDeleted { session },
            8 => questioned(child),
            _ => Event::TaskOpened {
                session,
                external_id: "x".to_owned(),
            },
        }
    })
}

proptest! {
    #[test]
    fn nothing_that_happens_to_children_moves_the_workflow(events in proptest::collection::vec(event(), 0..60)) {
        let mut run = run();
        let mut before = run.state().clone();
        for event in &events {
            for effect in run.step(AT, event) {
                let concerns_it = matches!(effect, Effect::ExpireApprovals { .. } | Effect::AskUser(_));
                prop_assert!(concerns_it, "{effect:?}");
            }
        }
        let state = run.state();
        for child in &state.children {
            prop_assert!(session_depth(&state.children, child.session_id()).is_some_and(|depth| depth == 1));
        }
        // A call can wait only while its child's task runs.
        for approval in &state.approvals {
            prop_assert!(is_child_turn(state, &approval.turn));
        }
        for question in &state.asked {
            let QuestionKind::Agent { asker: QuestionAsker::Child { turn, .. }, .. } = &question.kind else {
                return Err(TestCaseError::fail(format!("{question:?}")));
            };
            prop_assert!(is_child_turn(state, turn));
        }
        (before.children, before.approvals) = (state.children.clone(), state.approvals.clone());
        (before.asked, before.next_question) = (state.asked.clone(), state.next_question);
        before.n_approvals = state.n_approvals;
        before.course = state.course.clone();
        prop_assert_eq!(&before, state);
        let text = serde_json::to_string(&run).unwrap();
        prop_assert_eq!(serde_json::from_str::<Run>(&text).unwrap(), run);
    }
}

#[test]
fn a_turn_takes_what_it_waited_for_along_and_the_end_of_the_program_takes_all() {
    let mut run = run();
    for (child, waits) in [
        (1, TaskWaitMode::Foreground),
        (4, TaskWaitMode::Background),
        (2, TaskWaitMode::Foreground),
    ] {
        run.step(AT, &Event::TaskStarted(order(child, waits)));
    }
    let stopped = |effects: &[Effect]| match effects {
        [Effect::StopChildren(stopped)] => {
            let ids = stopped.iter().map(ToString::to_string);
            ids.collect::<Vec<_>>().join(" ")
        }
        other => format!("{other:?}"),
    };
    let of_planner = stop_foreground_children(run.state(), &SessionId::new("ses_planner"));
    assert_eq!(stopped(&of_planner), "ses_1");
    run.step(AT, &ended(4));
    let reports: Vec<_> = run.state().children.iter().map(|c| c.report).collect();
    assert_eq!(
        reports,
        [
            TaskReportStatus::Given,
            TaskReportStatus::Due,
            TaskReportStatus::Given
        ]
    );
    let left = Event::ProgramExited {
        reason: "you left".to_owned(),
    };
    assert_eq!(stopped(&run.step(AT, &left)), "ses_1 ses_2");
}

#[test]
fn a_session_that_is_gone_on_with_keeps_its_conversation() {
    let mut run = run();
    run.step(AT, &Event::TaskStarted(order(1, TaskWaitMode::Foreground)));
    let session = SessionId::new("ses_1");
    let opened = Event::TaskOpened {
        session: session.clone(),
        external_id: "at the CLI".to_owned(),
    };
    run.step(AT, &opened);
    // While it runs, it cannot be replaced or deleted.
    run.step(AT, &Event::TaskStarted(order(1, TaskWaitMode::Background)));
    run.step(AT, &Event::ChildDeleted { session });
    assert_eq!(run.state().children[0].n_tasks, 1);
    run.step(AT, &ended(1));
    run.step(AT, &Event::TaskStarted(order(1, TaskWaitMode::Foreground)));
    let child = &run.state().children[0];
    assert_eq!((child.n_tasks, child.status), (2, TaskStatus::Running));
    assert_eq!(child.external_id.as_deref(), Some("at the CLI"));
}
