//! Tests of requests that children wait for: the user answers in turn, or the time runs out.

use std::collections::BTreeMap;

use tokio::sync::mpsc::{self, Receiver};
use tokio::time::{advance, timeout};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::adapter::AdapterCommand;
use crate::adapter::ApprovalRequest;
use crate::adapter::DecisionWait;
use crate::adapter::{AdapterEvent, CallDecision};
use crate::domain::event::Event;
use crate::domain::ids::TurnId;
use crate::domain::question::AgentQuestion;
use crate::domain::question::QuestionAnswer;
use crate::domain::task::{TaskOrder, TaskWaitMode as Waited};
use crate::engine::agent_conversation::{ConversationCommand, ConversationEvent};
use crate::engine::approvals::ApprovalTestRun;
use crate::engine::approvals::caller_context::CallingTurn;
use crate::engine::engine_input::EngineInput;
use crate::engine::subagents::ActiveTask;
use crate::engine::subagents::patch_apply::ActiveTaskStage;
use crate::engine::subagents::task_start::child_caller;
use crate::engine::subagents::task_transcript::TaskTranscript;
use crate::permission::AgentToolCall;

/// A child of this agent that the test simulates.
struct UserTimeoutSimulation {
    world: ApprovalTestRun,
    orders: Receiver<ConversationCommand>,
}

const CHILD: &str = "ses_c";

impl UserTimeoutSimulation {
    fn new(agent: &str) -> Self {
        let mut world = ApprovalTestRun::new();
        let session = SessionId::new(CHILD);
        let order = TaskOrder {
            session: session.clone(),
            parent: None,
            n: 1,
            first_agent: None,
            agent: agent.to_owned(),
            description: "looks around".to_owned(),
            adapter: "codex".to_owned(),
            model: None,
            waits: Waited::Background,
            turn: TurnId::new("ses_c.1"),
            speaks: None,
            tree: None,
        };
        let started = Event::TaskStarted(order.clone());
        world.engine.apply_event(started).unwrap();
        let (commands, orders) = mpsc::channel(8);
        let caller = child_caller(&world.engine.run, &order);
        let turn = CallingTurn::new(caller);
        world.engine.conversations.add_child(commands, turn);
        let at_task = ActiveTask {
            order,
            cancel: CancellationToken::new(),
            time_limit: world.engine.run.setup.config.limits.task_timeout,
            stop_reason: None,
            waiters: Vec::new(),
            worktree: None,
            stage: ActiveTaskStage::Working,
            transcript: TaskTranscript::default(),
        };
        world.engine.subagents.active_tasks.insert(session, at_task);
        Self { world, orders }
    }

    fn tells(&mut self, event: AdapterEvent) {
        let said = ChildEvent::Conversation(ConversationEvent::Adapter(event));
        self.world
            .engine
            .handle_input(EngineInput::ChildEvent(SessionId::new(CHILD), said))
            .unwrap();
    }

    fn asks(&mut self, request: &str) {
        self.tells(AdapterEvent::QuestionAsked {
            request: RequestId::new(request),
            questions: vec![AgentQuestion::from_labels(
                format!("{request}?"),
                vec!["left".to_owned()],
            )],
        });
    }

    fn wants_to_read(&mut self, request: &str, path: &str) {
        self.tells(AdapterEvent::ApprovalRequested(Box::new(ApprovalRequest {
            request: RequestId::new(request),
            item: None,
            call: AgentToolCall::Read {
                paths: vec![path.into()],
                search: None,
            },
            reason: None,
            sub_agent: None,
            changes: Vec::new(),
            fingerprint: None,
            wait: DecisionWait::UntilUserDecides,
        })));
    }

    /// Lets everything run that can run at once.
    async fn settle(&mut self) {
        while let Ok(inward) =
            timeout(Duration::from_millis(1), self.world.engine.next_input()).await
        {
            self.world.engine.handle_input(inward).unwrap();
        }
    }

    /// Returns what was sent to the child's CLI since the last call.
    fn drain_commands(&mut self) -> Vec<String> {
        let mut told = Vec::new();
        while let Ok(ask) = self.orders.try_recv() {
            told.push(match ask {
                ConversationCommand::Adapter(AdapterCommand::AnswerQuestions(request, None)) => {
                    format!("{request}: decide")
                }
                ConversationCommand::Adapter(AdapterCommand::AnswerQuestions(
                    request,
                    Some(answers),
                )) => {
                    let answers: Vec<String> = answers.into_values().collect();
                    format!("{request}: {}", answers.join(", "))
                }
                ConversationCommand::Adapter(AdapterCommand::DecideApproval(
                    request,
                    CallDecision::Deny { reason },
                )) => {
                    format!("{request}: no, {reason}")
                }
                _ => "something else".to_owned(),
            });
        }
        told
    }

    fn waits(&self) -> (usize, usize) {
        let state = self.world.engine.state();
        (state.asked.len(), state.approvals.len())
    }
}

#[tokio::test(start_paused = true)]
async fn the_users_answer_reaches_the_child_in_its_own_words() {
    let mut played = UserTimeoutSimulation::new("general");
    played.asks("1");
    played.asks("2");
    assert_eq!(
        (played.drain_commands(), played.waits()),
        (Vec::new(), (2, 0))
    );
    let second = played.world.engine.state().asked[1].clone();
    assert_eq!(second.kind.describe(), "you ▸ general#1 asks: 2?");
    let answers = BTreeMap::from([("2?".to_owned(), "left".to_owned())]);
    let answered = Event::QuestionAnswered {
        id: second.id,
        answer: QuestionAnswer::Texts { answers },
    };
    played.world.engine.apply_event(answered).unwrap();
    assert_eq!(
        (played.drain_commands(), played.waits()),
        (vec!["2: left".to_owned()], (1, 0))
    );
}

#[tokio::test(start_paused = true)]
async fn nobody_there_means_that_the_child_decides_and_its_calls_do_not_go_ahead() {
    let mut played = UserTimeoutSimulation::new("general");
    played.asks("1");
    played.wants_to_read("2", ".env");
    assert_eq!(
        (played.drain_commands(), played.waits()),
        (Vec::new(), (1, 1))
    );
    advance(Duration::from_secs(9 * 60)).await;
    played.settle().await;
    assert_eq!(
        (played.drain_commands(), played.waits()),
        (Vec::new(), (1, 1))
    );
    advance(Duration::from_secs(2 * 60)).await;
    played.settle().await;
    let told = played.drain_commands();
    assert_eq!((told[0].as_str(), played.waits()), ("1: decide", (0, 0)));
    assert!(
        told[1].starts_with("2: no, ") && told[1].contains("no answer within 600 s"),
        "{told:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_may_not_ask_is_told_to_decide() {
    let mut played = UserTimeoutSimulation::new("explore");
    played.asks("1");
    assert_eq!(
        (played.drain_commands(), played.waits()),
        (vec!["1: decide".to_owned()], (0, 0))
    );
    let mut stopped = UserTimeoutSimulation::new("general");
    stopped
        .world
        .engine
        .stop_child_task(&SessionId::new(CHILD), "test");
    stopped.asks("1");
    assert_eq!(
        (stopped.drain_commands(), stopped.waits()),
        (vec!["1: decide".to_owned()], (0, 0))
    );
}

#[tokio::test(start_paused = true)]
async fn a_wait_takes_a_part_of_the_child_s_own_time() {
    let mut played = UserTimeoutSimulation::new("general");
    let at_work = &mut played.world.engine.subagents.active_tasks;
    at_work
        .values_mut()
        .for_each(|child| child.time_limit = Duration::from_secs(30));
    played.wants_to_read("1", ".env");
    advance(Duration::from_secs(9)).await;
    played.settle().await;
    assert_eq!(
        (played.drain_commands(), played.waits()),
        (Vec::new(), (0, 1))
    );
    advance(Duration::from_secs(2)).await;
    played.settle().await;
    let told = played.drain_commands();
    assert!(told[0].contains("no answer within 10 s"), "{told:?}");
}
