//! Tests who may call tools, and what happens to calls that wait: answered in time, late or never.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use tokio::sync::oneshot::{self, Receiver};
use tokio::sync::watch;
use tokio::time::{advance, timeout};

use super::*;
use crate::adapter::{AdapterEvent, CliTurnOutcome};
use crate::domain::event::{AgentActivity, ToolKind};
use crate::domain::ids::TurnId;
use crate::domain::phase::{Gate, Phase};
use crate::domain::plan::file_hash;
use crate::domain::question::{QuestionAnswer as Said, QuestionKind};
use crate::domain::step_result::StepResultKind;
use crate::domain::task::{TaskOrder, TaskOutcome, TaskResult, TaskWaitMode as TaskWaits};
use crate::domain::turn::{TurnProfile, TurnPurpose, TurnRetryReason};
use crate::engine::agent_conversation::ConversationEvent;
use crate::engine::approvals::ApprovalTestRun;
use crate::engine::engine_input::EngineInput;
use crate::engine::named_adapter::NamedAdapter;

/// Creates a run in the middle of a step whose planner is played by this CLI.
fn world(cli: &str) -> ApprovalTestRun {
    played_by(cli, ApprovalTestRun::new())
}

fn played_by(cli: &str, mut world: ApprovalTestRun) -> ApprovalTestRun {
    let setup = Arc::get_mut(&mut world.engine.run.setup).unwrap();
    let settings = setup.config.adapters[cli].clone();
    let name = "a".to_owned();
    setup
        .adapters
        .insert(Role::Planner, NamedAdapter::new(name, settings));
    world
}

fn call(
    world: &mut ApprovalTestRun,
    tool: &str,
    arguments: Value,
    thread: Option<&str>,
) -> Receiver<ToolAnswer> {
    let (give, given) = oneshot::channel();
    let n_open = world.engine.tools.pending_calls.len() + world.engine.take_recorded().len();
    let calling = IncomingToolCall {
        request: RequestId::new(format!("tool-{tool}-{n_open}")),
        session: SessionId::new("ses_a"),
        tool: tool.to_owned(),
        arguments,
        thread: thread.map(str::to_owned),
        reply_sender: give,
        progress: None,
    };
    let request = EngineInput::ToolRequest(ToolRequest::CallTool(calling));
    world.engine.handle_input(request).unwrap();
    given
}

/// Handles everything that happens without time passing.
async fn settle(world: &mut ApprovalTestRun) {
    while let Ok(inward) = timeout(Duration::from_millis(1), world.engine.next_input()).await {
        world.engine.handle_input(inward).unwrap();
    }
}

/// Lets the session's agent call a tool.
async fn calls(world: &mut ApprovalTestRun, tool: &str, arguments: Value) -> Receiver<ToolAnswer> {
    let given = call(world, tool, arguments, None);
    settle(world).await;
    given
}

/// Lets this many seconds pass.
async fn passes(world: &mut ApprovalTestRun, seconds: u64) {
    advance(Duration::from_secs(seconds)).await;
    settle(world).await;
}

fn take_reply_text(given: &mut Receiver<ToolAnswer>) -> String {
    given
        .try_recv()
        .map_or_else(|_| "nothing yet".to_owned(), |answer| answer.text)
}

/// Lets the user answer the open question.
async fn says(world: &mut ApprovalTestRun, word: &str) {
    let question = world.engine.state().awaiting.clone().unwrap();
    let QuestionKind::Agent { questions, .. } = question.kind else {
        panic!("an agent asks");
    };
    let answers = BTreeMap::from([(questions[0].text.clone(), word.to_owned())]);
    let answer = Said::Texts { answers };
    let id = question.id;
    world
        .engine
        .apply_event(Event::QuestionAnswered { id, answer })
        .unwrap();
    settle(world).await;
}

#[test]
fn each_tool_that_is_offered_is_performed_and_no_other() {
    let offered: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
    let performed: Vec<&str> = TOOL_PERFORMERS
        .iter()
        .map(|performer| performer.name)
        .collect();
    assert_eq!(offered, performed);
}

#[test]
fn of_a_call_only_what_it_is_about_is_kept() {
    let arguments = json!({"plan": "secret", "agent": "explore"});
    assert_eq!(
        select_arguments(&arguments, &["agent", "id"]),
        json!({"agent": "explore"})
    );
    assert_eq!(select_arguments(&Value::Null, &["agent"]), json!({}));
}

#[tokio::test(start_paused = true)]
async fn only_the_sessions_own_agent_has_the_tools_of_its_turn() {
    let check = |cli: &str, tool: &str, thread: Option<&str>, expected: &str| {
        let mut world = world(cli);
        world
            .engine
            .apply_event(Event::SessionOpened {
                role: Role::Planner,
                external_id: "own".to_owned(),
                model: None,
            })
            .unwrap();
        let mut given = call(&mut world, tool, json!({}), thread);
        let recorded = world.engine.take_recorded();
        let blocked = recorded
            .iter()
            .any(|record| matches!(record.event, Event::ToolBlocked { .. }));
        let told = if blocked {
            take_reply_text(&mut given)
        } else {
            "let in".to_owned()
        };
        assert!(told.contains(expected), "{cli} {tool}: {told}");
    };
    check("codex", "todoread", Some("own"), "let in");
    check(
        "codex",
        "todoread",
        Some("other"),
        "only the session's own agent",
    );
    check("codex", "todoread", None, "only the session's own agent");
    check("claude", "todoread", None, "let in");
    check("claude", "plan_submit", None, "plan_submit");
    check("claude", "nonsense", None, "there is no such tool");
}

#[tokio::test(start_paused = true)]
async fn a_call_after_the_turns_end_is_blocked() {
    let mut world = world("claude");
    world.engine.conversations.close_turn();
    let mut given = call(&mut world, "todoread", json!({}), None);
    assert!(take_reply_text(&mut given).contains("no turn of the session is under way"));
}

#[tokio::test(start_paused = true)]
async fn the_users_word_comes_back() {
    let mut world = world("claude");
    let question = json!({"question": "Which way?", "options": ["left", "right"]});
    let mut given = calls(&mut world, "ask_user", question).await;
    assert_eq!(take_reply_text(&mut given), "nothing yet");
    says(&mut world, "left").await;
    assert_eq!(take_reply_text(&mut given), "The user answered: left");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_brings_the_default_and_takes_the_question_back() {
    let mut world = world("claude");
    let question = json!({"question": "Which way?", "default": "left", "deadline_seconds": 20});
    let mut given = calls(&mut world, "ask_user", question).await;
    passes(&mut world, 21).await;
    assert_eq!(
        take_reply_text(&mut given),
        "The user did not answer; your default counts: left"
    );
    assert_eq!(world.engine.state().awaiting, None);
}

#[tokio::test(start_paused = true)]
async fn a_word_that_comes_late_is_told_with_the_next_turn() {
    let mut world = world("claude");
    let mut given = calls(&mut world, "ask_user", json!({"question": "Which way?"})).await;
    passes(&mut world, 51 * 60).await;
    assert!(take_reply_text(&mut given).starts_with("pending:"));
    assert!(world.engine.state().awaiting.is_some());
    says(&mut world, "left").await;
    let results = &world.engine.state().results;
    assert_eq!(results.len(), 1);
    assert_eq!(results[0].text, "The user's answer to \"Which way?\": left");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_beyond_a_calls_patience_brings_the_default_with_the_next_turn() {
    let mut world = world("claude");
    let question = json!({"question": "Which way?", "default": "left", "deadline_seconds": 4000});
    let mut given = calls(&mut world, "ask_user", question).await;
    passes(&mut world, 46 * 60).await;
    assert!(take_reply_text(&mut given).starts_with("pending:"));
    assert_eq!(world.engine.state().results, []);
    passes(&mut world, 21 * 60).await;
    let results = &world.engine.state().results;
    assert_eq!(
        results[0].text,
        "Nobody answered \"Which way?\" in time; your default counts: left"
    );
    assert_eq!(world.engine.state().awaiting, None);
}

#[tokio::test(start_paused = true)]
async fn a_late_yes_goes_back_to_planning() {
    let mut world = world("claude");
    let mut given = calls(&mut world, "plan_enter", json!({"reason": "it is wrong"})).await;
    passes(&mut world, 46 * 60).await;
    assert!(take_reply_text(&mut given).starts_with("pending:"));
    says(&mut world, "yes").await;
    let state = world.engine.state();
    assert_eq!((state.phase, state.cycle), (Phase::WritePlan, 2));
    assert_eq!(state.planner.current_profile(), TurnProfile::Plan);
}

/// Returns how many messages the planner's session has, and the bytes of their file.
fn messages(world: &ApprovalTestRun) -> (u32, Vec<u8>) {
    let session = &world.engine.state().planner;
    let folder = world.engine.run.journal.layout().workdir().join("sessions");
    let bytes = std::fs::read(folder.join(session.id.as_str()).join("messages.jsonl"));
    (session.n_messages, bytes.unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn a_no_leaves_the_session_as_it_was_and_a_yes_makes_it_plan() {
    let mut world = world("claude");
    let before = messages(&world);
    let mut given = calls(&mut world, "plan_enter", json!({"reason": "it is wrong"})).await;
    says(&mut world, "no").await;
    assert_eq!(
        take_reply_text(&mut given),
        "The user said no: you stay the executor."
    );
    assert_eq!(messages(&world), before);
    assert_eq!(world.engine.state().phase, Phase::Execute);

    let mut given = calls(
        &mut world,
        "plan_enter",
        json!({"reason": "it is still wrong"}),
    )
    .await;
    says(&mut world, "Yes").await;
    assert!(take_reply_text(&mut given).starts_with("The user agrees: you are the planner again"));
    let state = world.engine.state();
    assert_eq!((state.phase, state.cycle), (Phase::WritePlan, 2));
    assert_eq!(state.planner.current_profile(), TurnProfile::Plan);
    assert_eq!(state.planner.n_messages, before.0 + 1);
    assert_eq!(state.gate, Gate::Auto);
}

const PLAN_TEXT: &str = "# Task: x\n\n1. [ ] a step\n";

/// Lets a planner that has written a plan call `plan_exit`; returns the run, the user's question, and the answer.
async fn exits_plan(
    reviewer: Option<(SessionId, String)>,
    word: &str,
) -> (ApprovalTestRun, String, String) {
    let mut world = played_by("claude", ApprovalTestRun::planning(reviewer));
    let staged = world
        .engine
        .conversations
        .active_turn()
        .map(|at_work| at_work.staging.plan.clone());
    std::fs::write(staged.unwrap(), PLAN_TEXT).unwrap();
    let mut given = calls(&mut world, "plan_exit", json!({})).await;
    let question = world.engine.state().awaiting.clone().unwrap();
    let QuestionKind::Agent { questions, .. } = question.kind else {
        panic!("an agent asks");
    };
    says(&mut world, word).await;
    let end = CliTurnOutcome::Completed {
        final_text: "Done.".to_owned(),
    };
    let ended = EngineInput::ConversationEvent(
        SessionId::new("ses_a"),
        ConversationEvent::Adapter(AdapterEvent::TurnEnded(end)),
    );
    world.engine.handle_input(ended).unwrap();
    settle(&mut world).await;
    (
        world,
        questions[0].text.clone(),
        take_reply_text(&mut given),
    )
}

/// Returns the plan's status in its front matter.
fn plan_status(world: &ApprovalTestRun) -> String {
    let plan = std::fs::read_to_string(world.engine.run.journal.layout().plan()).unwrap();
    let status = plan.lines().find_map(|line| line.strip_prefix("status: "));
    status.unwrap_or("none").to_owned()
}

fn a_reviewer() -> Option<(SessionId, String)> {
    Some((SessionId::new("ses_b"), "b".to_owned()))
}

#[tokio::test(start_paused = true)]
async fn a_plan_whose_exit_the_user_refuses_is_kept_and_goes_to_nobody() {
    for reviewer in [a_reviewer(), None] {
        let (world, _, told) = exits_plan(reviewer, "no").await;
        assert_eq!(told, "The user said no: you stay the planner.");
        let state = world.engine.state();
        assert_eq!(state.phase, Phase::WritePlan);
        assert_eq!(
            state.plan.as_ref().map(|file| file.plan.steps.len()),
            Some(1)
        );
        assert_eq!(plan_status(&world), "draft");
        let Some(QuestionKind::Gate { order }) = state.current_question().map(|open| &open.kind)
        else {
            panic!(
                "the planner's next turn waits: {:?}",
                state.current_question()
            );
        };
        assert_eq!(order.purpose, TurnPurpose::WritePlan);
        let answer = "You wanted to hand the plan on, and the user said: no. Your plan is kept; it went to nobody.";
        let answer = answer.to_owned();
        assert_eq!(order.again, Some(TurnRetryReason::Answered { answer }));
    }
}

#[tokio::test(start_paused = true)]
async fn a_yes_hands_the_plan_on_to_where_the_question_said() {
    let way = "The planner says that the plan is complete. Continue with";
    for (reviewer, next, phase, status) in [
        (a_reviewer(), "its review", Phase::Review, "reviewing"),
        (None, "your approval", Phase::Approved, "approved"),
    ] {
        let (world, question, told) = exits_plan(reviewer, "yes").await;
        assert_eq!(question, format!("{way} {next}?"));
        assert!(told.starts_with("The plan is handed on."), "{told}");
        assert_eq!(world.engine.state().phase, phase);
        assert_eq!(plan_status(&world), status);
    }
}

#[tokio::test(start_paused = true)]
async fn a_plan_is_a_draft_again_once_the_user_agrees_to_plan_anew() {
    let mut world = world("claude");
    let known = world
        .engine
        .state()
        .plan
        .as_ref()
        .map(|file| file.file_sha256.clone());
    let text = "plan";
    assert_eq!(known, Some(file_hash(text.as_bytes())));
    std::fs::write(world.engine.run.journal.layout().plan(), text).unwrap();
    for (word, expected) in [("no", "none"), ("yes", "draft")] {
        let _given = calls(&mut world, "plan_enter", json!({"reason": word})).await;
        says(&mut world, word).await;
        assert_eq!(plan_status(&world), expected, "after a {word}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whatever_is_no_yes_leaves_the_session_as_it_was(word in "[a-zA-Z \u{e9}.,!]{0,12}", reason in "[a-z]{1,20}") {
        prop_assume!(!word.trim().eq_ignore_ascii_case("yes"));
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut world = world("claude");
            let (before, agent) = (messages(&world), world.engine.state().planner.current_profile());
            let _given = calls(&mut world, "plan_enter", json!({ "reason": reason })).await;
            says(&mut world, &word).await;
            let state = world.engine.state();
            assert_eq!((state.phase, state.planner.current_profile()), (Phase::Execute, agent));
            assert_eq!(messages(&world), before);
        });
    }
}

#[tokio::test(start_paused = true)]
async fn more_tasks_than_one_call_may_give_are_refused_before_anything_is_asked() {
    let mut world = world("claude");
    let many: Vec<Value> = (0..17)
        .map(|n| json!({"agent": "explore", "prompt": format!("look at {n}")}))
        .collect();
    let mut given = calls(&mut world, "task", json!({ "tasks": many })).await;
    let told = take_reply_text(&mut given);
    assert!(
        told.contains("16 tasks at the most (limits.tasks_per_call), and this one gives 17"),
        "{told}"
    );
    assert!(world.engine.state().children.is_empty());
    assert!(world.engine.state().awaiting.is_none());
}

/// Adds a child of this session.
fn child(world: &mut ApprovalTestRun, n: u32) -> SessionId {
    let session = SessionId::new(format!("ses_child_{n}"));
    let order = TaskOrder {
        session: session.clone(),
        parent: Some(SessionId::new("ses_a")),
        n,
        first_agent: None,
        agent: "explore".to_owned(),
        description: "looks around".to_owned(),
        adapter: "claude".to_owned(),
        model: None,
        waits: TaskWaits::Foreground,
        turn: TurnId::new(format!("{session}.1")),
        speaks: None,
        tree: None,
    };
    world.engine.apply_event(Event::TaskStarted(order)).unwrap();
    session
}

/// Adds a pending call that waits for a child, and returns the receiver of its progress.
fn waits_for(world: &mut ApprovalTestRun, child: &SessionId) -> watch::Receiver<String> {
    let (give, _given) = oneshot::channel();
    let (progress, told) = watch::channel(String::new());
    let request = RequestId::new(format!("tool-{child}"));
    let call = AdmittedToolCall {
        request: request.clone(),
        session: SessionId::new("ses_a"),
        role: Role::Planner,
        arguments: json!({}),
    };
    let open = PendingToolCall {
        call,
        performer: &TOOL_PERFORMERS[0],
        reply_sender: give,
        progress: Some(progress),
        question_wait: None,
        awaited_tasks: vec![child.clone()],
        awaited_discussion: None,
    };
    world.engine.tools.pending_calls.insert(request, open);
    told
}

#[tokio::test(start_paused = true)]
async fn a_call_is_told_what_its_own_child_does_and_of_no_other() {
    let mut world = world("claude");
    let [one, two] = [1, 2].map(|n| child(&mut world, n));
    let [mut of_one, mut of_two] = [&one, &two].map(|child| waits_for(&mut world, child));
    let began = |session: &SessionId| Event::TaskDispatched {
        session: session.clone(),
    };
    world.engine.apply_event(began(&one)).unwrap();
    assert!(!of_two.has_changed().unwrap());
    assert_eq!(*of_one.borrow_and_update(), "explore#1: begins");
    let calls = AgentActivity::ToolStarted {
        item: "i".to_owned(),
        tool: ToolKind::Command,
        title: "cargo test\n--all".to_owned(),
        detail: None,
    };
    let calls = Event::TaskActivity {
        session: two,
        news: calls,
    };
    world.engine.apply_event(calls).unwrap();
    assert!(!of_one.has_changed().unwrap());
    assert_eq!(*of_two.borrow_and_update(), "explore#2: $ cargo test --all");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_cannot_start_fails_its_call_and_says_why() {
    let why = "Subagent execution failed: ses_x is not a task of this session; leave the id out to start a new one";
    for background in [false, true] {
        let mut world = world("claude");
        let task = json!({"agent": "explore", "prompt": "look", "task_id": "ses_x", "background": background});
        let mut given = calls(&mut world, "task", task).await;
        assert_eq!(
            given.try_recv(),
            Ok(ToolAnswer::failed(why).with_data(json!({
                "agent": "explore",
                "status": "declined",
                "error": "ses_x is not a task of this session; leave the id out to start a new one",
            })))
        );
        assert!(world.engine.state().children.is_empty());
        assert!(world.engine.tools.pending_calls.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_discussion_that_cannot_start_fails_its_call_and_says_why() {
    let mut world = world("claude");
    let mut given = calls(&mut world, "group_discuss", json!({"topic": " "})).await;
    let why = "no topic: say what to decide, and between which options";
    assert_eq!(given.try_recv(), Ok(ToolAnswer::failed(why)));
}

#[tokio::test(start_paused = true)]
async fn a_session_is_deleted_once_its_task_has_ended_and_only_by_the_agent_that_gave_it() {
    let mut world = world("claude");
    let child = child(&mut world, 1);
    let delete = |id: &str| json!({"action": "delete", "task_id": id});
    let mut given = calls(&mut world, "session_manage", delete("ses_other")).await;
    assert!(take_reply_text(&mut given).starts_with("ses_other is no task of yours"));
    let mut given = calls(&mut world, "session_manage", delete(child.as_str())).await;
    let told = take_reply_text(&mut given);
    assert!(told.contains("is still running; stop it first"), "{told}");
    let ended = TaskResult {
        task_id: child.clone(),
        agent: "explore".to_owned(),
        name: "explore#1".to_owned(),
        end: TaskOutcome::from_last_message("Found."),
        tool_calls: 0,
        duration_ms: 0,
        patch: None,
    };
    world.engine.apply_event(Event::TaskEnded(ended)).unwrap();
    let mut given = calls(&mut world, "session_manage", delete(child.as_str())).await;
    assert_eq!(take_reply_text(&mut given), format!("{child} is forgotten"));
    assert!(world.engine.state().children.is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_result_of_a_step_is_kept_in_its_turn() {
    let mut world = world("claude");
    let mut given = calls(&mut world, "step_result", json!({"result": "done"})).await;
    assert_eq!(
        take_reply_text(&mut given),
        "the result is accepted. End your turn now."
    );
    let turn = world.engine.conversations.active_turn().unwrap();
    let kept = turn.step_result.as_ref().map(|result| result.kind);
    assert_eq!(kept, Some(StepResultKind::Done));
}
