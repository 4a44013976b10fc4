//! Example runs for the tests, with every kind of question.

use std::collections::BTreeMap;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::domain::bound_parts::{BindingChange, BoundKind};
use crate::domain::event::{
    AgentActivity, Approval, CallPermission, Event, PathChange, RunParameters, ToolKind,
    ToolStatus, WorkflowSettings,
};
use crate::domain::findings::evidence::EvidenceCheck;
use crate::domain::findings::{FindingDisposition, FindingResponse, FindingSeverity, ReviewRemark};
use crate::domain::ids::{RequestId, RunId, SessionId, TurnId, UnixMillis};
use crate::domain::phase::{Gate, Mode, Phase};
use crate::domain::plan;
use crate::domain::plan_execution::{
    CurrentStep, PlanExecution, StepOutcome, StepRecord, StepStage,
};
use crate::domain::plan_thread::ThreadEntry;
use crate::domain::question::{
    AgentQuestion, ArbitrationReason, CommitTarget, DraftFile, EntryPoint, ExecutionTerms,
    FileOrigin, HeldEdit, Question, QuestionAsker, QuestionKind, WaitSource,
};
use crate::domain::receipt::MissingSocket;
use crate::domain::receipt::{Receipt, TestCounts, TestOutcome};
use crate::domain::review::Verdict;
use crate::domain::run::{
    PlanFile, PlanFileState, RUN_SCHEMA, ResultValidity, Run, RunGoal, RunState, RunningTurn,
    VerdictRecord,
};
use crate::domain::session::AccountUsageWindow;
use crate::domain::step_scope::ScopeChange;
use crate::domain::test_command::{TestCommand, TestCommandOrigin, TestCommandSource};
use crate::domain::turn::{Role, TurnFailureKind, TurnOrder, TurnPurpose};
use crate::permission::{
    ApprovalMatcher, DecisionReason, DecisionSource, MaxApprovalScope, PermissionAction as Hold,
};
use crate::tui::composer_pane::ComposerPane;
use crate::tui::keymap::ComposerFocus;
use crate::tui::{Action, NextRunSettings, Screen, ScreenSettings};

pub const PLAN: &str = "---\nversion: 2\n---\n\n# Task: 为计算器加入求和 `sum`\n\nThe calculator can add two numbers; **lists** come now.\n\n## Steps\n1. [ ] write `sum(numbers)` in calc.py, returning 0 for an empty list\n2. [ ] test sum with an empty list, one number, negative numbers and a very long list of numbers that wraps\n3. [ ] 在 README 中说明用法 🎉\n\n```python\ndef sum(numbers):\n    return total\n```\n\nTest: `python3 -m pytest -q`\n";
pub const COMMENTS: &str = "---\nverdict: CHANGES_REQUIRED\n---\n\n# Review\n\n1. [blocking] an empty list is not said to give 0\n2. [minor] 名称与内建函数冲突\n";
pub const LOG: &str = "# Log\n\n- 10:00 goal confirmed\n- 10:04 plan.md written, 3 steps\n";
pub const NOW: UnixMillis = UnixMillis(1_700_000_042_000);
const STARTED: UnixMillis = UnixMillis(1_700_000_000_000);

pub fn settings() -> ScreenSettings {
    ScreenSettings {
        shows_prompt: false,
        confirm_enter: false,
        demo: false,
        next_run: NextRunSettings {
            planner: "codex".to_owned(),
            reviewer: Some("claude".to_owned()),
            ..NextRunSettings::default()
        },
        repository: "~/src/calculator".to_owned(),
        branch: Some("main".to_owned()),
        read_only: None,
        theme: crate::tui::ColorTheme::default(),
        utc_offset: 3_600,
        appearance: crate::tui::ScreenAppearance::default(),
    }
}

pub fn created() -> RunParameters {
    RunParameters {
        schema: RUN_SCHEMA,
        run: RunId::new("run_0190"),
        gate: Gate::Manual,
        mode: Mode::Default,
        settings: WorkflowSettings {
            max_iterations: 5,
            stall_limit: 2,
            auto_approve: false,
            max_fix_turns: 2,
            baseline: false,
            proves_steps: false,
            proves_by_step_tests: false,
            binds_versions: false,
        },
        planner: (SessionId::new("ses_a"), "codex".to_owned()),
        reviewer: Some((SessionId::new("ses_b"), "claude".to_owned())),
    }
}

/// A run in a phase, with plan and findings.
pub fn state(phase: Phase) -> RunState {
    let mut state = Run::new(STARTED, &created()).state().clone();
    let parsed = plan::parse(PLAN).unwrap();
    state.goal = Some(RunGoal {
        title: "为计算器加入求和: the calculator can sum a list of numbers".to_owned(),
        text: "The calculator can sum a list of numbers.\n\nDone when:\n- the tests say so"
            .to_owned(),
        confirmed: true,
    });
    state.phase = phase;
    state.cycle = 1;
    state.planner.version = Some("codex 0.48.0".to_owned());
    state.planner.external_id = Some("0199a-77".to_owned());
    state.planner.usage.input_tokens = 41_230;
    state.planner.usage.output_tokens = 2_104;
    state.planner.plan = vec![
        AccountUsageWindow::from_report(Some(300), 42.0, Some(1_700_005_000)),
        AccountUsageWindow::from_report(Some(10_080), 93.0, Some(1_700_300_000)),
    ];
    if matches!(phase, Phase::Init | Phase::RefineGoal | Phase::WritePlan) {
        return state;
    }
    state.iteration = 2;
    let file_sha256 = plan::file_hash(PLAN.as_bytes());
    state.plan = Some(PlanFile {
        plan: parsed,
        file_sha256,
        version: 2,
        reading: PlanFileState::Plan,
    });
    let remarks = vec![
        remark(
            1,
            FindingSeverity::Blocking,
            "an empty list is not said to give 0",
        ),
        remark(
            2,
            FindingSeverity::Minor,
            "名称 `sum` 与内建函数冲突, so that a reader of this long remark has to wrap it",
        ),
    ];
    state.findings.apply_legacy_review(&remarks, None);
    state.findings.apply_responses(&[FindingResponse {
        n: 2,
        stand: FindingDisposition::Rejected,
        reason: "the module is never imported with a star".to_owned(),
        check: None,
    }]);
    state.verdict = Some(VerdictRecord {
        value: Verdict::ChangesRequired,
        consistent: true,
        forced: false,
        plan_sha256: plan::file_hash(b"x"),
        iteration: 2,
    });
    if matches!(phase, Phase::Execute | Phase::Done) {
        state.execution = Some(execution());
    }
    state
}

fn remark(n: u32, severity: FindingSeverity, text: &str) -> ReviewRemark {
    ReviewRemark::new(n, severity, text.to_owned())
}

fn receipt(outcome: TestOutcome) -> Receipt {
    Receipt {
        command: "python3 -m pytest -q".to_owned(),
        outcome,
        exit_code: Some(1),
        counts: Some(TestCounts {
            passed: 11,
            failed: 1,
            skipped: 0,
        }),
        output_tail: "E   assert 1 == 0\ntest_calc.py:12: AssertionError\n1 failed, 11 passed"
            .to_owned(),
        ..Receipt::without_command()
    }
}

fn execution() -> PlanExecution {
    PlanExecution {
        skips: BTreeMap::new(),
        binding: None,
        approved_steps: BTreeMap::new(),
        allowed_entry_points: Vec::new(),
        commits: CommitTarget::New {
            branch: "agent-collab/sum".to_owned(),
            from: Some("main".to_owned()),
        },
        base: None,
        pre_dirty: Vec::new(),
        left: None,
        test: Some(TestCommand {
            command: "python3 -m pytest -q".to_owned(),
            parts: Vec::new(),
            origin: TestCommandOrigin {
                source: TestCommandSource::Proposed,
                place: None,
            },
        }),
        baseline: None,
        current: Some(CurrentStep {
            n: 2,
            text: "test sum".to_owned(),
            stage: StepStage::Fix,
            fix_turns: 1,
            tree_before: Some("t2".to_owned()),
            tree_after: None,
            commit_tree: None,
            tested_again: false,
            changed: Vec::new(),
            made_by_tests: Vec::new(),
            allowed_entry_points: Vec::new(),
            kept_edits: Vec::new(),
            allowed_edits: Vec::new(),
            allowed_outside: Vec::new(),
            calls: None,
            users_edits: Vec::new(),
            receipt: Some(receipt(TestOutcome::Failed)),
            decided: None,
            summary: String::new(),
            result: None,
            was_asked_for_result: false,
            proof: None,
        }),
        done: vec![StepRecord {
            n: 1,
            text: "write sum".to_owned(),
            outcome: StepOutcome::Committed {
                commit: "3f2c9a1be0".to_owned(),
                message: "[Step 1] write sum".to_owned(),
                size: None,
            },
            receipt: Some(receipt(TestOutcome::Passed)),
            fix_turns: 0,
            summary: String::new(),
            changed: Vec::new(),
            made_by_tests: Vec::new(),
            left_out: Vec::new(),
            users_edits: Vec::new(),
            decided: None,
            skip_reason: String::new(),
            proof: None,
            tree_before: Some("t1".to_owned()),
            tree_after: Some("t2".to_owned()),
        }],
        dirty_policy: BTreeMap::new(),
        rewritten_policy: BTreeMap::new(),
        base_tree: Some("t1".to_owned()),
        undone: Vec::new(),
        redo_commit: None,
    }
}

pub fn order(purpose: TurnPurpose) -> TurnOrder {
    TurnOrder {
        turn: TurnId::new("trn_1"),
        purpose,
        again: None,
    }
}

/// The run with a running turn.
pub fn running(phase: Phase, purpose: TurnPurpose) -> RunState {
    let mut state = state(phase);
    state.running = Some(RunningTurn {
        order: order(purpose),
        started_at: STARTED,
        result: ResultValidity::Yes,
        process: None,
    });
    state
}

/// The run with a question.
pub fn asking(phase: Phase, kind: QuestionKind) -> RunState {
    let mut state = state(phase);
    state.awaiting = Some(Question { id: 7, kind });
    state
}

/// The run with a pending approval request.
pub fn approving(targets: &[&str]) -> RunState {
    let mut state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    state.approvals = vec![Approval {
        request: RequestId::new("req_1"),
        item: None,
        turn: TurnId::new("trn_1"),
        permission: CallPermission::Bash,
        targets: targets.iter().map(|t| (*t).to_owned()).collect(),
        reason: Some("the tests need the package index".to_owned()),
        why: Some(DecisionReason {
            stored_source: Some(DecisionSource::NoRule),
            rule: "* ask".to_owned(),
            origin: "the built-in profile build".to_owned(),
            reason: "it leaves the sandbox".to_owned(),
        }),
        offers: vec![
            ApprovalMatcher::Exact(targets.join("\n")),
            ApprovalMatcher::Pattern("npm install *".to_owned()),
        ],
        keeping: MaxApprovalScope::Project,
        profile: "build".to_owned(),
        child: None,
        n: 1,
    }];
    state
}

/// Every kind of question, each with the phase it belongs to.
#[expect(clippy::too_many_lines, reason = "one entry a kind: a list to read")]
pub fn questions() -> Vec<(Phase, QuestionKind)> {
    let purpose = TurnPurpose::WritePlan;
    let sha = |text: &str| plan::file_hash(text.as_bytes());
    let text = |text: &str| text.to_owned();
    vec![
        (
            Phase::Review,
            QuestionKind::Gate {
                order: order(TurnPurpose::Review),
            },
        ),
        (Phase::Review, QuestionKind::Dispute { n: 2 }),
        (
            Phase::Review,
            QuestionKind::Arbitration {
                reason: ArbitrationReason::Cap,
                open: 2,
            },
        ),
        (Phase::Review, QuestionKind::ManualEdit),
        (
            Phase::Approved,
            QuestionKind::StalePlan {
                reviewed: plan::approval_hash(
                    &PLAN.replace("returning 0 for an empty list", "as usual"),
                ),
                now: sha("b"),
                fault: None,
                change: None,
            },
        ),
        (Phase::Approved, QuestionKind::Execute { terms: terms() }),
        (
            Phase::WritePlan,
            QuestionKind::NoDocument {
                purpose: purpose.clone(),
                reason: text("neither plan.md nor a fenced block was there").into(),
            },
        ),
        (
            Phase::WritePlan,
            QuestionKind::Agent {
                request: Some(RequestId::new("req_q")),
                questions: vec![
                    AgentQuestion::from_labels(
                        text(
                            "空列表应该返回 0 吗? Shall an empty list give 0, or shall it be an error?",
                        ),
                        vec![
                            text("give 0"),
                            text(
                                "raise ValueError, 因为这更安全 and says more to whoever calls it with nothing at all",
                            ),
                        ],
                    ),
                    AgentQuestion::from_labels(text("Which Python?"), Vec::new()),
                ],
                asker: QuestionAsker::Role {
                    purpose: purpose.clone(),
                },
            },
        ),
        (
            Phase::WritePlan,
            QuestionKind::AdapterFailed {
                purpose: purpose.clone(),
                kind: TurnFailureKind::Login,
                message: text("codex is not logged in\nhint: run `codex login`"),
                other: Some(text("claude")),
            },
        ),
        (
            Phase::WritePlan,
            QuestionKind::UsageLimit {
                purpose: purpose.clone(),
                adapter: text("codex"),
                message: text(
                    "You've hit your usage limit. Visit https://example.com/settings/usage or try again at 3:04 AM.",
                ),
                until: UnixMillis(NOW.0 + 12 * 60_000),
                from: WaitSource::Cli,
                then: Gate::Manual,
                other: Some(text("claude")),
            },
        ),
        (
            Phase::Respond,
            QuestionKind::Conflict {
                document: text("plan.md"),
                purpose,
                clash: None,
            },
        ),
        (
            Phase::WritePlan,
            QuestionKind::Draft {
                order: order(TurnPurpose::WritePlan),
                files: vec![DraftFile {
                    name: text("plan.md"),
                    n_lines: 21,
                    n_added: 4,
                    n_removed: 1,
                }],
            },
        ),
        (
            Phase::Execute,
            QuestionKind::DirtyFiles {
                step: 2,
                paths: vec![text("calc.py"), text("说明.md")],
                origin: FileOrigin::UsersBefore,
            },
        ),
        (
            Phase::Execute,
            QuestionKind::ApprovalChanged {
                step: 2,
                changes: vec![BindingChange {
                    kind: BoundKind::RuleFile,
                    name: text("AGENTS.md"),
                    before: Some("1".repeat(64)),
                    now: Some("2".repeat(64)),
                    by_step: false,
                }],
                order: None,
            },
        ),
        (
            Phase::Execute,
            QuestionKind::EntryPoints {
                step: 2,
                changes: vec![EntryPoint {
                    path: text("Makefile"),
                    why: text("`make test` runs it"),
                    content: None,
                }],
            },
        ),
        (
            Phase::Execute,
            QuestionKind::HeldEdits {
                step: 2,
                edits: vec![HeldEdit {
                    path: text("docs/api.md"),
                    hold: Hold::Deny,
                    why: text("denies: edit \"docs/*\" deny (config.toml:7:1)"),
                    content: None,
                }],
            },
        ),
        (
            Phase::Execute,
            QuestionKind::OutOfScope {
                step: 2,
                changes: [("docs/api.md", false), ("旧.py", true)]
                    .map(|(path, is_deleted)| ScopeChange {
                        path: text(path),
                        is_deleted,
                    })
                    .to_vec(),
            },
        ),
        (
            Phase::Execute,
            QuestionKind::NothingChanged {
                step: 2,
                said: text("The sum is there already."),
                found: text("not every test of `Test first: test_sum` passes"),
            },
        ),
        (
            Phase::Execute,
            QuestionKind::Blocked {
                step: 2,
                said: text("calc.py is generated from calc.y, which the plan does not name"),
                check: Some(EvidenceCheck::Verified {
                    found: text("calc.py:1"),
                }),
                n_changed: 1,
            },
        ),
        (
            Phase::Execute,
            QuestionKind::TestsFailed {
                step: 2,
                found: text("tests failed (exit 1): 11 passed, 1 failed, 0 skipped"),
            },
        ),
        (
            Phase::Execute,
            QuestionKind::TestsInDoubt {
                step: 2,
                found: text(
                    "fewer tests ran than before: before 12 passed, 0 failed, 0 skipped; now 11 passed, 0 failed, 0 skipped",
                ),
            },
        ),
        (
            Phase::Execute,
            QuestionKind::Unproven {
                step: 2,
                found: text("no new or changed test fails without the change"),
            },
        ),
        (
            Phase::Execute,
            QuestionKind::RunnerMissing {
                found: text(
                    "tests could not be started: pytest is not installed (hint: install it, or set test.default_command in config.toml)",
                ),
            },
        ),
        (
            Phase::Execute,
            QuestionKind::RedBaseline {
                found: text(
                    "tests failed (exit 1): 11 passed, 1 failed, 0 skipped; failing: tests/test_calc.py: test_sum",
                ),
            },
        ),
        (
            Phase::Execute,
            QuestionKind::TestNetwork {
                step: 2,
                line: text("Error: connect ECONNREFUSED 127.0.0.1:5432"),
            },
        ),
        (
            Phase::Execute,
            QuestionKind::TestSocket {
                step: 2,
                lacked: MissingSocket {
                    path: text("/run/docker.sock"),
                    line: text(
                        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock.",
                    ),
                },
            },
        ),
        (
            Phase::Execute,
            QuestionKind::CommitFailed {
                step: 2,
                message: text("pre-commit hook: trailing whitespace in calc.py"),
            },
        ),
        (
            Phase::Execute,
            QuestionKind::StepRecovery {
                step: 2,
                stage: StepStage::Test,
            },
        ),
        (
            Phase::Approved,
            QuestionKind::CannotExecute {
                reason: text("the branch agent-collab/sum exists already"),
            },
        ),
    ]
}

fn terms() -> ExecutionTerms {
    ExecutionTerms {
        plan: plan::file_hash(b"x"),
        test: Some(TestCommand {
            command: "pytest".to_owned(),
            parts: Vec::new(),
            origin: TestCommandOrigin {
                source: TestCommandSource::Detected,
                place: Some("pyproject.toml".to_owned()),
            },
        }),
        other_test: Some(TestCommand {
            command: "python3 -m pytest -q".to_owned(),
            parts: Vec::new(),
            origin: TestCommandOrigin {
                source: TestCommandSource::Proposed,
                place: None,
            },
        }),
        commits: CommitTarget::New {
            branch: "agent-collab/sum".to_owned(),
            from: Some("main".to_owned()),
        },
        dirty: vec!["notes.txt".to_owned()],
        left: None,
        binding: None,
        change: None,
    }
}

/// The events of the run so far.
#[expect(clippy::too_many_lines, reason = "one entry an event: a list to read")]
pub fn story() -> Vec<Event> {
    let turn = TurnId::new("trn_1");
    let agent = |role, news| Event::Agent {
        turn: turn.clone(),
        role,
        news,
    };
    let text = |text: &str| AgentActivity::Text {
        text: text.to_owned(),
    };
    let tool = |item: &str, title: &str| AgentActivity::ToolStarted {
        item: item.to_owned(),
        tool: ToolKind::Command,
        title: title.to_owned(),
        detail: None,
    };
    let ended = |item: &str, status, code, output: &str| AgentActivity::ToolEnded {
        item: item.to_owned(),
        status,
        exit_code: Some(code),
        output: output.to_owned(),
    };
    let phase = |from, to| Event::PhaseChanged {
        from,
        to,
        reason: None,
    };
    vec![
        Event::RunCreated(Box::new(created())),
        Event::GoalGiven {
            text: "the calculator shall sum lists\n请用中文写计划".to_owned(),
        },
        phase(Phase::Init, Phase::RefineGoal),
        agent(
            Role::Planner,
            text(
                "I looked at `calc.py`. One question is open:\n\n1. Shall an empty list give 0? I would say **yes**.",
            ),
        ),
        Event::GoalMessageAdded {
            text: "yes".to_owned(),
        },
        phase(Phase::RefineGoal, Phase::WritePlan),
        agent(
            Role::Planner,
            AgentActivity::Thinking {
                text: "first\nsecond\nthird".to_owned(),
            },
        ),
        agent(
            Role::Planner,
            tool(
                "t1",
                "rg -n 'def ' calc.py tests | sort | uniq -c | sort -rn | head -n 20",
            ),
        ),
        agent(Role::Planner, ended("t1", ToolStatus::Completed, 0, "12 def")),
        agent(Role::Planner, tool("t2", "python3 -m pytest -q")),
        agent(
            Role::Planner,
            ended(
                "t2",
                ToolStatus::Failed,
                1,
                "collected 0 items\nE   ModuleNotFoundError: No module named 'calc'",
            ),
        ),
        agent(Role::Planner, tool("t3", "ls 目录 🎉")),
        agent(
            Role::Planner,
            AgentActivity::ToolStarted {
                item: "t4".to_owned(),
                tool: ToolKind::Edit,
                title: "~/src/calculator/.agent-collab/turns/ses_a/plan.md".to_owned(),
                detail: None,
            },
        ),
        agent(
            Role::Planner,
            AgentActivity::FilesChanged {
                item: "t4".to_owned(),
                paths: BTreeMap::from([(
                    "~/src/calculator/.agent-collab/turns/ses_a/plan.md".to_owned(),
                    PathChange::Update,
                )]),
                diffs: BTreeMap::from([(
                    "~/src/calculator/.agent-collab/turns/ses_a/plan.md".to_owned(),
                    "@@ -1,2 +1,3 @@\n # Task\n-1. [ ] 写\n+1. [ ] 写 `sum`\n+2. [ ] test it with a line that is long enough to be wrapped at forty columns 🎉".to_owned(),
                )]),
            },
        ),
        agent(Role::Planner, ended("t4", ToolStatus::Completed, 0, "")),
        phase(Phase::WritePlan, Phase::Review),
        agent(
            Role::Reviewer,
            text(
                "计划不完整:空列表的行为没有说明,这会让每一个调用者自己去猜测应该发生什么。\n\n- [blocking] an empty list",
            ),
        ),
        agent(
            Role::Reviewer,
            AgentActivity::Notice {
                text: "context is 80% full".to_owned(),
            },
        ),
        Event::EffectFailed {
            what: "save the raw stream".to_owned(),
            message: "no space left on device; free some space and type /go".to_owned(),
        },
    ]
}

/// The plan as it was before two reviews.
fn earlier() -> Vec<crate::tui::DocumentRevision> {
    let first = PLAN.replace("returning 0 for an empty list", "as usual");
    let second = PLAN.replace("3. [ ] 在 README 中说明用法 🎉\n", "");
    let kept = |(n, text): (usize, String)| crate::tui::DocumentRevision {
        iteration: u32::try_from(n).unwrap() + 1,
        version: 1,
        text,
    };
    [first, second, PLAN.to_owned()]
        .into_iter()
        .enumerate()
        .map(kept)
        .collect()
}

pub fn documents() -> crate::tui::RunDocumentFiles {
    crate::tui::RunDocumentFiles {
        plan: Some(PLAN.to_owned()),
        comments: Some(COMMENTS.to_owned()),
        log: Some(LOG.to_owned()),
        plan_versions: earlier(),
        review_versions: Vec::new(),
    }
}

impl ComposerPane {
    /// Gives the keys to the view, as Esc does.
    pub fn leave_to_view(&mut self) {
        self.focus = ComposerFocus::Unfocused;
        self.is_left = true;
    }
}

/// A screen that has shown the story.
pub fn screen() -> Screen {
    let mut screen = Screen::new(settings());
    for (n, event) in story().iter().enumerate() {
        let at = UnixMillis(STARTED.0 + i64::try_from(n).unwrap() * 1_000);
        screen.on_event(at, event);
    }
    screen.on_documents(documents());
    screen
}

/// Draws the screen at a size.
pub fn painted(screen: &mut Screen, size: (u16, u16), state: Option<&RunState>) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal
        .draw(|frame| screen.draw(frame, state, NOW))
        .unwrap();
    terminal.backend().buffer().clone()
}

/// Draws the screen at a size as text.
pub fn drawn(screen: &mut Screen, size: (u16, u16), state: Option<&RunState>) -> String {
    let buffer = painted(screen, size, state);
    let mut lines = Vec::new();
    for y in 0..size.1 {
        let mut line = String::new();
        let mut skip = 0;
        for x in 0..size.0 {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let symbol = buffer[(x, y)].symbol();
            skip = crate::tui::text_wrap::text_width(symbol).saturating_sub(1);
            line.push_str(symbol);
        }
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}

/// Presses keys and draws a frame after each, as the program does.
///
/// A key is one character, or one of `<enter> <esc> <up> <down> <tab> <c-c> <c-x> <pgup>`.
pub fn press(screen: &mut Screen, state: Option<&RunState>, keys: &[&str]) -> Vec<Action> {
    press_at(screen, (80, 24), state, keys)
}

/// Like [`press`], in a window of another size.
pub fn press_at(
    screen: &mut Screen,
    size: (u16, u16),
    state: Option<&RunState>,
    keys: &[&str],
) -> Vec<Action> {
    let mut actions = Vec::new();
    drawn(screen, size, state);
    for key in keys {
        let plain = |code| KeyEvent::new(code, KeyModifiers::NONE);
        let event = match *key {
            "<enter>" => plain(KeyCode::Enter),
            "<esc>" => plain(KeyCode::Esc),
            "<up>" => plain(KeyCode::Up),
            "<down>" => plain(KeyCode::Down),
            "<tab>" => plain(KeyCode::Tab),
            "<s-tab>" => plain(KeyCode::BackTab),
            "<pgup>" => plain(KeyCode::PageUp),
            "<f2>" => plain(KeyCode::F(2)),
            "<c-c>" => KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL),
            "<home>" => plain(KeyCode::Home),
            "<end>" => plain(KeyCode::End),
            "<back>" => plain(KeyCode::Backspace),
            "<left>" => plain(KeyCode::Left),
            "<right>" => plain(KeyCode::Right),
            "<del>" => plain(KeyCode::Delete),
            "<c-t>" => KeyEvent::new(KeyCode::Char('t'), KeyModifiers::CONTROL),
            "<c-p>" => KeyEvent::new(KeyCode::Char('p'), KeyModifiers::CONTROL),
            "<c-e>" => KeyEvent::new(KeyCode::Char('e'), KeyModifiers::CONTROL),
            "<c-w>" => KeyEvent::new(KeyCode::Char('w'), KeyModifiers::CONTROL),
            "<a-l>" => KeyEvent::new(KeyCode::Char('l'), KeyModifiers::ALT),
            "<a-y>" => KeyEvent::new(KeyCode::Char('y'), KeyModifiers::ALT),
            "<pgdn>" => plain(KeyCode::PageDown),
            "<f6>" => plain(KeyCode::F(6)),
            "<c-l>" => KeyEvent::new(KeyCode::Char('l'), KeyModifiers::CONTROL),
            "<c-r>" => KeyEvent::new(KeyCode::Char('r'), KeyModifiers::CONTROL),
            "<c-f>" => KeyEvent::new(KeyCode::Char('f'), KeyModifiers::CONTROL),
            "<c-s>" => KeyEvent::new(KeyCode::Char('s'), KeyModifiers::CONTROL),
            "<c-y>" => KeyEvent::new(KeyCode::Char('y'), KeyModifiers::CONTROL),
            "<c-/>" => KeyEvent::new(KeyCode::Char('/'), KeyModifiers::CONTROL),
            "<s-enter>" => KeyEvent::new(KeyCode::Enter, KeyModifiers::SHIFT),
            "<c-u>" => KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL),
            "<c-a>" => KeyEvent::new(KeyCode::Char('a'), KeyModifiers::CONTROL),
            "<a-d>" => KeyEvent::new(KeyCode::Char('d'), KeyModifiers::ALT),
            "<c-x>" => KeyEvent::new(KeyCode::Char('x'), KeyModifiers::CONTROL),
            text => {
                for c in text.chars() {
                    actions.extend(screen.on_key(plain(KeyCode::Char(c)), state));
                }
                // Nothing is typed in the moment after it.
                actions.extend(act_on_delayed_letter(screen, state));
                drawn(screen, size, state);
                continue;
            }
        };
        actions.extend(screen.on_key(event, state));
        drawn(screen, size, state);
    }
    actions
}

/// Carries out the letter that waits, as if its time were over.
pub fn act_on_delayed_letter(screen: &mut Screen, state: Option<&RunState>) -> Vec<Action> {
    let letter = screen.dialogs.take_letter();
    letter.map_or_else(Vec::new, |letter| screen.act_on_letter(&letter, state))
}

/// Opens a thread of the user on a line of the plan.
pub(super) fn note(state: &mut RunState, line: u32, quote: &str, text: &str) {
    let entry = ThreadEntry {
        line,
        quote: quote.to_owned(),
        text: text.to_owned(),
        version: 1,
        ..ThreadEntry::default()
    };
    assert!(state.threads.say(&entry));
}
