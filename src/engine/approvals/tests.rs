//! Tests the life of an approval: each answer, its effect on the other calls, and how calls end without an answer.

use std::path::{Path, PathBuf};

use serde_json::json;
use tokio::sync::mpsc::Receiver;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::adapter::{AdapterCommand, AdapterEvent, FileChange, FileChangeKind, TextChange};
use crate::config::{self, ConfigFlags, UserDirs};
use crate::domain::event::{Event, RunParameters};
use crate::domain::ids::{RunId, SessionId, Sha256, TurnId};
use crate::domain::phase::Gate;
use crate::domain::plan::{self, file_hash};
use crate::domain::question::{
    AgentQuestion, CommitTarget, ExecutionTerms, QuestionAnswer as Said,
};
use crate::domain::session::{Message, MessageRole};
use crate::domain::turn::{Role, TurnOutcome, TurnProfile};
use crate::engine::agent_conversation::{ConversationCommand as ToLive, ConversationEvent};
use crate::engine::approvals::caller_context::CallingTurn;
use crate::engine::conversations::ActiveTurn;
use crate::engine::engine_input::EngineInput;
use crate::engine::run_journal::RunJournal;
use crate::engine::run_setup::{AskPolicy, RunSetup};
use crate::engine::{Engine, staging_folder, turn_start};
use crate::permission::MaxApprovalScope;
use crate::permission::loop_detector;
use crate::permission::{AgentToolCall, SandboxReach};
use crate::store::{TamperGuard, WorkdirLayout, WorkdirNames};

/// A run in the middle of a step, whose agent is played by the test.
pub(in crate::engine) struct ApprovalTestRun {
    _folder: tempfile::TempDir,
    pub(in crate::engine) engine: Engine,
    orders: Receiver<ToLive>,
}

const DENY_RULES: &str =
    "[[permission.rule]]\npermission = \"bash\"\npattern = \"pytest never*\"\naction = \"deny\"\n";

impl ApprovalTestRun {
    pub(in crate::engine) fn new() -> Self {
        Self::after(created(), until_the_step())
    }

    /// Creates a run whose planner writes the plan; each later turn waits for its release.
    pub(in crate::engine) fn planning(reviewer: Option<(SessionId, String)>) -> Self {
        let mut events = until_the_step();
        events.truncate(2);
        events.push(Event::GateChanged { gate: Gate::Manual });
        let created = RunParameters {
            reviewer,
            ..created()
        };
        Self::after(created, events)
    }

    /// Creates a run with these events recorded, whose planner's turn is running.
    fn after(created: RunParameters, events: Vec<Event>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let outside = folder.path().canonicalize().unwrap();
        let root = outside.join("repository");
        std::fs::create_dir(&root).unwrap();
        let layout = WorkdirLayout::new(&root, WorkdirNames::default()).unwrap();
        let _ = layout.create().unwrap();
        let places = UserDirs {
            home: outside.join("home"),
            config_dir: outside.join("home/config"),
            state_dir: outside.join("home/state"),
            cache_dir: outside.join("home/cache"),
        };
        std::fs::create_dir_all(&places.config_dir).unwrap();
        std::fs::write(places.config_dir.join("config.toml"), DENY_RULES).unwrap();
        let loaded = config::load(&places, &root, &ConfigFlags::default()).unwrap();
        let guard = TamperGuard::open(&layout, &outside.join("side")).unwrap();
        let (journal, _) = RunJournal::create(guard, created).unwrap();
        let setup = RunSetup::example(&root, &layout, &places, loaded.config, AskPolicy::Wait);
        let mut engine = Engine::new(setup, journal, None, None, CancellationToken::new());
        for event in events {
            // The effects are not performed: the test plays the outside world.
            engine.run.journal.record(event).unwrap();
        }
        let orders = play_running_turn(&mut engine);
        Self {
            _folder: folder,
            engine,
            orders,
        }
    }

    pub(in crate::engine) fn handle_adapter_event(&mut self, event: AdapterEvent) {
        let told = EngineInput::ConversationEvent(
            SessionId::new("ses_a"),
            ConversationEvent::Adapter(event),
        );
        self.engine.handle_input(told).unwrap();
    }

    fn asks(&mut self, request: &str, call: AgentToolCall, mark: Option<String>) {
        let changes = match &call {
            AgentToolCall::Edit { paths, .. } => paths.iter().map(|path| change(path)).collect(),
            AgentToolCall::Command { .. }
            | AgentToolCall::Read { .. }
            | AgentToolCall::Tool { .. } => Vec::new(),
        };
        self.asks_for(request, call, changes, mark);
    }

    /// Lets the agent ask for an edit with these changes.
    fn asks_to_change(&mut self, request: &str, call: AgentToolCall, changes: Vec<FileChange>) {
        self.asks_for(request, call, changes, Some(request.to_owned()));
    }

    fn asks_for(
        &mut self,
        request: &str,
        call: AgentToolCall,
        changes: Vec<FileChange>,
        mark: Option<String>,
    ) {
        self.handle_adapter_event(AdapterEvent::ApprovalRequested(Box::new(ApprovalRequest {
            request: RequestId::new(request),
            item: None,
            call,
            reason: None,
            sub_agent: None,
            changes,
            fingerprint: mark,
            wait: DecisionWait::UntilUserDecides,
        })));
    }

    /// Lets the agent ask to run a command; calls are different unless their fingerprints are equal.
    fn runs(&mut self, request: &str, line: &str) {
        let mark = loop_detector::call_fingerprint("Bash", &json!([request, line]));
        let cwd = self.engine.run.setup.root.clone();
        let call = command(line, cwd);
        self.asks(request, call, Some(mark));
    }

    fn answers(&mut self, request: &str, answer: ApprovalDecision) -> ApprovalDecisionResult {
        let mut waiting = self.engine.state().approvals.iter();
        let call = waiting.find(|approval| approval.request == RequestId::new(request));
        let call = call.map_or(0, |approval| approval.n);
        self.engine.decide_approval(call, answer).unwrap()
    }

    /// Returns what the CLI was answered since the last call, in order.
    fn answered(&mut self) -> Vec<String> {
        let mut told = Vec::new();
        while let Ok(ask) = self.orders.try_recv() {
            if let ToLive::Adapter(AdapterCommand::DecideApproval(request, answer)) = ask {
                let answer = match answer {
                    Answer::Allow => "allow".to_owned(),
                    Answer::Deny { reason } => format!("deny ({reason})"),
                    Answer::DenyAndStop => "deny and stop".to_owned(),
                };
                told.push(format!("{request} {answer}"));
            }
        }
        told
    }

    /// Returns the pending calls, in order.
    fn waiting(&self) -> String {
        let waiting = self.engine.state().approvals.iter();
        let waiting: Vec<String> = waiting.map(|call| call.request.to_string()).collect();
        waiting.join(" ")
    }

    /// Returns how each call ended and who decided; a call that ended twice is listed twice.
    fn ends(&mut self) -> Vec<String> {
        let recorded = self.engine.take_recorded().into_iter();
        let end = |event: Event| match event {
            Event::ApprovalDecided {
                request,
                allowed,
                by,
                ..
            } => Some(format!("{request} {allowed} by {by}")),
            Event::ApprovalExpired { approval, .. } => {
                Some(format!("{} expired", approval.request))
            }
            Event::AgentQuestionWithdrawn { request } => Some(format!("{request} withdrawn")),
            _ => None,
        };
        recorded.filter_map(|record| end(record.event)).collect()
    }
}

fn change(path: &Path) -> FileChange {
    FileChange::new(path.to_owned(), FileChangeKind::Update, "+x\n".to_owned())
}

fn command(line: &str, cwd: PathBuf) -> AgentToolCall {
    AgentToolCall::Command {
        line: line.to_owned(),
        cwd,
        reach: SandboxReach::Unconfined,
    }
}

fn created() -> RunParameters {
    RunParameters {
        gate: Gate::Auto,
        planner: (SessionId::new("ses_a"), "a".to_owned()),
        reviewer: None,
        ..RunParameters::example()
    }
}

/// Puts the turn that is running into a conversation that the test plays.
pub(in crate::engine) fn play_running_turn(engine: &mut Engine) -> Receiver<ToLive> {
    let order = engine.state().running.clone().unwrap().order;
    let layout = engine.run.journal.layout();
    let dir = layout.staging_folder(&engine.state().planner.id);
    let staging = staging_folder::prepare_staging(layout, dir).unwrap();
    let (commands, orders) = tokio::sync::mpsc::channel(64);
    let session = engine.state().planner.id.clone();
    let caller = turn_start::role_caller(&engine.run, &order, session.clone(), &staging);
    let active = ActiveTurn {
        session,
        order,
        prompt_sha256: file_hash(b""),
        recovery_prompt: "all of it again".to_owned(),
        staging,
        background_reports: Vec::new(),
        step_result: None,
    };
    engine
        .conversations
        .play_turn(active, CallingTurn::new(caller), commands);
    orders
}

/// Returns the events up to the first step's turn: a goal, a plan, and its approval.
fn until_the_step() -> Vec<Event> {
    until_the_step_of("# Task: x\n1. [ ] a step\n")
}

fn until_the_step_of(plan: &str) -> Vec<Event> {
    let plan = plan::parse(plan).unwrap();
    let text = "a goal".to_owned();
    let terms = ExecutionTerms {
        plan: plan.approval_sha256.clone(),
        test: None,
        other_test: None,
        commits: CommitTarget::Current {
            branch: "main".to_owned(),
        },
        dirty: Vec::new(),
        left: None,
        binding: None,
        change: None,
    };
    let message = Message {
        id: "msg_1".to_owned(),
        turn: None,
        role: MessageRole::User,
        agent: TurnProfile::Build,
        synthetic: true,
        ts: utc_time::now(),
        text: String::new(),
    };
    vec![
        Event::GoalGiven { text: text.clone() },
        Event::GoalConfirmed {
            title: text.clone(),
            text,
        },
        Event::TurnEnded {
            turn: TurnId::new("trn_1"),
            result: completed(),
        },
        Event::PlanCommitted {
            turn: TurnId::new("trn_1"),
            plan,
            file_sha256: sha(),
        },
        Event::RepositorySurveyed {
            terms: terms.clone(),
        },
        Event::QuestionAnswered {
            id: 1,
            answer: Said::Execute,
        },
        Event::ExecutionEntered { base: None, terms },
        Event::MessageAppended {
            role: Role::Planner,
            message,
        },
        Event::SnapshotTaken {
            step: 1,
            tree: None,
            attempt: 0,
        },
    ]
}

fn completed() -> TurnOutcome {
    TurnOutcome::completed("")
}

fn sha() -> Sha256 {
    file_hash(b"plan")
}

fn keep(what: &str, scope: ApprovalScope) -> ApprovalDecision {
    ApprovalDecision::AllowAndRemember {
        what: vec![ApprovalMatcher::Pattern(what.to_owned())],
        scope,
    }
}

#[test]
fn once_answers_one_call_and_stores_nothing() {
    let mut world = ApprovalTestRun::new();
    world.runs("1", "pytest one");
    world.runs("2", "pytest one");
    assert_eq!(world.waiting(), "1 2");
    assert_eq!(
        world.answers("1", ApprovalDecision::AllowOnce),
        ApprovalDecisionResult::Applied
    );
    assert_eq!(world.answered(), ["1 allow"]);
    assert_eq!(world.waiting(), "2");
    assert_eq!(world.ends(), ["1 true by user"]);
    assert!(world.engine.run.setup.approvals.list().unwrap().is_empty());
}

#[test]
fn a_second_answer_changes_nothing() {
    let mut world = ApprovalTestRun::new();
    world.runs("1", "pytest one");
    world.answers("1", ApprovalDecision::DenyAndStop);
    let _first = (world.answered(), world.ends());
    for answer in [
        ApprovalDecision::AllowOnce,
        ApprovalDecision::DenyAndStop,
        keep("pytest *", ApprovalScope::Run),
        ApprovalDecision::DenyWithReason("no".to_owned()),
    ] {
        assert_eq!(
            world.answers("1", answer),
            ApprovalDecisionResult::NoLongerPending
        );
    }
    assert_eq!(
        world.answers("nobody", ApprovalDecision::AllowOnce),
        ApprovalDecisionResult::NoLongerPending
    );
    assert!(world.answered().is_empty() && world.ends().is_empty());
}

#[test]
fn what_is_kept_lets_the_others_through_that_it_covers_and_that_no_floor_holds() {
    for scope in [ApprovalScope::Run, ApprovalScope::Project] {
        let mut world = ApprovalTestRun::new();
        for (request, line) in [
            ("1", "pytest one"),
            ("2", "pytest two"),
            ("3", "cargo build"),
            ("4", "pytest one && git push"),
            ("5", "pytest one && rm -rf /"),
        ] {
            world.runs(request, line);
        }
        assert_eq!(
            world.answers("1", keep("pytest *", scope)),
            ApprovalDecisionResult::Applied
        );
        assert_eq!(world.answered(), ["1 allow", "2 allow"]);
        assert_eq!(world.waiting(), "3 4 5");
        assert_eq!(world.ends(), ["1 true by user", "2 true by cascade"]);
        world.runs("6", "pytest six");
        world.runs("7", "pytest never");
        let answered = world.answered();
        assert_eq!(answered[0], "6 allow");
        assert!(answered[1].starts_with("7 deny ("), "{answered:?}");
        let stored = world.engine.run.setup.approvals.list().unwrap();
        let kept: Vec<(&str, ApprovalScope)> = stored
            .iter()
            .map(|stored| (stored.approved.profile.as_str(), stored.approved.scope))
            .collect();
        assert_eq!(kept, [("build", scope)]);
    }
}

#[test]
fn only_what_was_offered_is_kept_and_the_call_waits_on() {
    let mut world = ApprovalTestRun::new();
    world.runs("1", "pytest one");
    world.runs("2", "git push");
    world.runs("3", "rm -rf /");
    for (request, answer) in [
        ("1", keep("*", ApprovalScope::Run)),
        ("1", keep("cargo *", ApprovalScope::Run)),
        ("2", keep("git push *", ApprovalScope::Project)),
        ("3", keep("rm -rf *", ApprovalScope::Run)),
    ] {
        let granted = world.answers(request, answer.clone());
        assert!(
            matches!(granted, ApprovalDecisionResult::NotStored(_)),
            "{answer:?}"
        );
    }
    assert_eq!(world.waiting(), "1 2 3");
    assert!(world.answered().is_empty() && world.ends().is_empty());
    assert!(world.engine.run.setup.approvals.list().unwrap().is_empty());
}

#[test]
fn a_plain_no_ends_the_turn_and_declines_what_else_its_session_asked() {
    let mut world = ApprovalTestRun::new();
    for request in ["1", "2", "3"] {
        world.runs(request, "pytest one");
    }
    world.answers("2", ApprovalDecision::DenyAndStop);
    let answered = world.answered();
    assert_eq!(answered.last().map(String::as_str), Some("2 deny and stop"));
    assert!(answered[0].starts_with("1 deny (") && answered[1].starts_with("3 deny ("));
    assert_eq!(world.waiting(), "");
    assert_eq!(
        world.ends(),
        [
            "1 false by cascade",
            "3 false by cascade",
            "2 false by user"
        ]
    );
}

#[test]
fn a_no_with_a_word_reaches_the_agent_and_leaves_the_others_waiting() {
    let mut world = ApprovalTestRun::new();
    world.runs("1", "pytest one");
    world.runs("2", "pytest two");
    world.answers(
        "1",
        ApprovalDecision::DenyWithReason("use cargo".to_owned()),
    );
    assert_eq!(world.answered(), ["1 deny (use cargo)"]);
    assert_eq!(world.waiting(), "2");
}

#[test]
fn calls_expire_with_their_turn_with_a_stop_and_with_the_program() {
    let turn_ended = Event::TurnEnded {
        turn: TurnId::new("trn_2"),
        result: TurnOutcome::Interrupted,
    };
    let left = Event::ProgramExited {
        reason: "quit".to_owned(),
    };
    for (event, is_told_later) in [
        (turn_ended, false),
        (Event::RunStopped, false),
        (Event::RunCancelled, false),
        (left, true),
    ] {
        let mut world = ApprovalTestRun::new();
        world.runs("1", "pytest one");
        world.runs("2", "pytest two");
        world.engine.apply_event(event.clone()).unwrap();
        assert_eq!(world.waiting(), "");
        assert_eq!(world.ends(), ["1 expired", "2 expired"], "{event:?}");
        assert!(world.answered().iter().all(|told| told.contains(" deny (")));
        assert_eq!(
            world.answers("1", ApprovalDecision::AllowOnce),
            ApprovalDecisionResult::NoLongerPending
        );
        assert_eq!(world.engine.state().unanswered.len() == 2, is_told_later);
    }
}

#[test]
fn what_waited_when_the_program_was_killed_is_expired_by_the_next_one_and_its_agent_is_told() {
    let mut world = ApprovalTestRun::new();
    world.runs("1", "pytest one");
    let resumed = Event::RunResumed { gate: Gate::Manual };
    world.engine.apply_event(resumed).unwrap();
    assert_eq!(world.ends(), ["1 expired"]);
    let unanswered = &world.engine.state().unanswered;
    assert!(
        unanswered
            .iter()
            .any(|told| told.what.contains("pytest one"))
    );
}

#[test]
fn a_call_that_its_cli_takes_back_waits_no_more() {
    let mut world = ApprovalTestRun::new();
    world.runs("1", "pytest one");
    world.handle_adapter_event(AdapterEvent::RequestWithdrawn {
        request: RequestId::new("1"),
    });
    assert_eq!(world.waiting(), "");
    assert_eq!(world.ends(), ["1 expired"]);
    assert_eq!(
        world.answers("1", ApprovalDecision::AllowOnce),
        ApprovalDecisionResult::NoLongerPending
    );
}

#[test]
fn a_question_of_a_session_without_a_turn_is_answered_with_nothing() {
    let mut world = ApprovalTestRun::new();
    assert!(world.engine.conversations.end_turn(|_| true).is_some());
    world.handle_adapter_event(AdapterEvent::QuestionAsked {
        request: RequestId::new("1"),
        questions: vec![AgentQuestion::from_labels("Which one?", Vec::new())],
    });
    let answered = world.orders.try_recv();
    let Ok(ToLive::Adapter(AdapterCommand::AnswerQuestions(request, None))) = answered else {
        panic!("the CLI waits for an answer");
    };
    assert_eq!(request, RequestId::new("1"));
    assert_eq!(world.waiting(), "");
}

#[test]
fn a_circle_waits_whatever_was_approved_and_begins_anew_once_it_was_let_pass() {
    let mut world = ApprovalTestRun::new();
    let cwd = world.engine.run.setup.root.clone();
    let mark = Some(loop_detector::call_fingerprint(
        "Bash",
        &json!("pytest one"),
    ));
    let run = |world: &mut ApprovalTestRun, request: &str| {
        world.asks(request, command("pytest one", cwd.clone()), mark.clone());
    };
    run(&mut world, "1");
    world.answers("1", keep("pytest *", ApprovalScope::Run));
    run(&mut world, "2");
    run(&mut world, "3");
    assert_eq!(world.answered(), ["1 allow", "2 allow"]);
    let asked = world.engine.state().approvals.first().unwrap();
    assert_eq!(asked.why.as_ref().unwrap().rule, "doom loop");
    assert_eq!(
        (asked.keeping, asked.offers.len()),
        (MaxApprovalScope::Never, 0)
    );
    // An approval for another call does not allow it either.
    world.runs("4", "cargo build");
    world.answers("4", keep("cargo build *", ApprovalScope::Run));
    assert_eq!(world.waiting(), "3");
    world.answers("3", ApprovalDecision::AllowOnce);
    let _answered = world.answered();
    run(&mut world, "5");
    run(&mut world, "6");
    assert_eq!(world.answered(), ["5 allow", "6 allow"]);
    run(&mut world, "7");
    assert_eq!(world.waiting(), "7");
}

#[test]
fn approvals_serve_the_agent_that_they_were_given_under() {
    let mut world = ApprovalTestRun::new();
    let approved = StoredApproval {
        profile: "plan".to_owned(),
        permission: "bash".to_owned(),
        what: ApprovalMatcher::Pattern("pytest *".to_owned()),
        scope: ApprovalScope::Project,
    };
    let run = RunId::new("run_1");
    world
        .engine
        .run
        .setup
        .approvals
        .add(&run, utc_time::now(), &[approved])
        .unwrap();
    world.runs("1", "pytest one");
    assert_eq!(world.waiting(), "1");
}

#[test]
fn an_edit_outside_of_the_step_is_asked_about_once_and_a_deletion_again() {
    let mut created = created();
    created.settings.proves_steps = true;
    let text = "# Task: x\n1. [ ] a step\n   Files: src, Cargo.toml\n   Keeps behaviour\n";
    let mut world = ApprovalTestRun::after(created, until_the_step_of(text));
    let root = world.engine.run.setup.root.clone();
    let edit = |names: &[&str]| AgentToolCall::Edit {
        paths: names.iter().map(|name| root.join(name)).collect(),
        reach: SandboxReach::Unconfined,
    };
    for (request, names) in [
        ("1", &["src/new/a.rs", "Cargo.lock"][..]),
        ("2", &["src/a.rs", "docs/a.md"]),
    ] {
        world.asks(request, edit(names), Some(request.to_owned()));
    }
    assert_eq!(world.answered(), ["1 allow"]);
    assert_eq!(world.waiting(), "2");
    let why = world.engine.state().approvals[0].why.clone();
    assert_eq!(
        why.unwrap().reason,
        "step 1 names other files, not docs/a.md"
    );
    world.answers("2", ApprovalDecision::AllowOnce);
    world.asks("3", edit(&["docs/a.md"]), Some("3".to_owned()));
    assert_eq!(world.answered(), ["2 allow", "3 allow"]);
    let removed = FileChange {
        kind: FileChangeKind::Delete,
        ..change(&root.join("docs/a.md"))
    };
    world.asks_to_change("4", edit(&["docs/a.md"]), vec![removed.clone()]);
    assert_eq!(world.waiting(), "4");
    world.answers("4", ApprovalDecision::AllowOnce);
    world.asks_to_change("5", edit(&["docs/a.md"]), vec![removed]);
    assert_eq!(world.answered(), ["4 allow", "5 allow"]);
}

#[test]
fn an_edit_waits_with_its_diff_against_the_file() {
    let mut created = created();
    created.settings.proves_steps = true;
    let text = "# Task: x\n1. [ ] a step\n   Files: src\n   Keeps behaviour\n";
    let mut world = ApprovalTestRun::after(created, until_the_step_of(text));
    let path = world.engine.run.setup.root.join("a.md");
    std::fs::write(&path, "one\ntwo\n").unwrap();
    let call = AgentToolCall::Edit {
        paths: vec![path.clone()],
        reach: SandboxReach::Unconfined,
    };
    let emptied = FileChange {
        text_change: Some(TextChange::Whole(String::new())),
        ..FileChange::new(path.clone(), FileChangeKind::Add, String::new())
    };
    world.asks_to_change("1", call, vec![emptied]);
    let call = world.engine.state().approvals[0].n;
    let shown = world.engine.pending_approval_detail(call).unwrap();
    let expected = format!("{}\n@@ -1,2 +0,0 @@\n-one\n-two\n", path.display());
    assert_eq!(shown.diff, expected);
}

#[test]
fn what_was_offered_is_kept_or_less_of_it() {
    let pattern = |text: &str| ApprovalMatcher::Pattern(text.to_owned());
    let exact = |text: &str| ApprovalMatcher::Exact(text.to_owned());
    let offers = [exact("cargo test"), pattern("cargo test *")];
    let check = |keeping, what: &[ApprovalMatcher], scope, allowed| {
        let why = scope_error(&offers, keeping, what, scope);
        assert_eq!(why.is_none(), allowed, "{what:?} {why:?}");
    };
    let (run, project) = (ApprovalScope::Run, ApprovalScope::Project);
    check(
        MaxApprovalScope::Project,
        &[pattern("cargo test *")],
        project,
        true,
    );
    check(
        MaxApprovalScope::Project,
        &[pattern("cargo test --lib *")],
        run,
        true,
    );
    check(MaxApprovalScope::Project, &[pattern("cargo *")], run, false);
    check(MaxApprovalScope::Project, &[pattern("*")], run, false);
    check(MaxApprovalScope::Project, &[exact("*")], run, false);
    check(MaxApprovalScope::Project, &[], run, false);
    check(MaxApprovalScope::Run, &[exact("cargo test")], run, true);
    check(
        MaxApprovalScope::Run,
        &[exact("cargo test")],
        project,
        false,
    );
    check(MaxApprovalScope::Never, &[exact("cargo test")], run, false);
}
