//! Tests runs event by event: single paths as text, and the invariants with random events.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::domain::event::{Approval, CallPermission, StepAudit, WorkflowSettings};
use crate::domain::findings::tests::document_events::{DocumentSources, NoFiles};
use crate::domain::findings::{DisputeSide, FindingSeverity, ReviewRemark};
use crate::domain::ids::{RequestId, RunId, SessionId, Sha256, TurnId};
use crate::domain::phase::{Gate, Mode, Phase, TRANSITIONS};
use crate::domain::plan::{self, Plan};
use crate::domain::plan_execution::{CurrentStep, TestBaseline};
use crate::domain::question::{
    CommitTarget, EditFollowUp, EntryPoint, ExecutionTerms, HeldEdit, QuestionAnswer, QuestionKind,
};
use crate::domain::receipt::{MissingSocket, Receipt, TestOutcome};
use crate::domain::reversal_plan::UndoDirection;
use crate::domain::review::{ReviewDocument, Verdict};
use crate::domain::session::{Message, MessageRole};
use crate::domain::step_proof::{CellRun, ProofCell, StepProof, TestNames};
use crate::domain::step_scope::ScopeChange;
use crate::domain::test_command::{TestCommand, TestCommandOrigin, TestCommandSource};
use crate::domain::turn::{
    Role, TurnFailureKind, TurnOrder, TurnOutcome, TurnProfile, TurnPurpose, UsageLimit,
};
use crate::permission::{MaxApprovalScope, PermissionAction};

mod approval_checks;
mod baseline_run;
mod incomplete_document;
mod judge_turn;
mod scope_questions;
mod step_proofs;
mod step_redo;
mod tampered_files;
mod test_choice;
mod test_consent;
mod turn_hold;
mod unfinished_step;
mod user_plan;

const AT: UnixMillis = UnixMillis(1_000);

pub(super) fn created(gate: Gate, reviewer: bool, settings: WorkflowSettings) -> RunParameters {
    let example = RunParameters::example();
    RunParameters {
        gate,
        settings,
        reviewer: example.reviewer.filter(|_| reviewer),
        ..example
    }
}

pub(super) fn settings(max_iterations: u32) -> WorkflowSettings {
    WorkflowSettings {
        max_iterations,
        stall_limit: 2,
        auto_approve: false,
        max_fix_turns: 1,
        baseline: false,
        proves_steps: false,
        proves_by_step_tests: false,
        binds_versions: false,
    }
}

fn plan_of(version: u8, steps: u8) -> Plan {
    plan::parse(&plan_text(version, steps)).unwrap()
}

fn plan_text(version: u8, steps: u8) -> String {
    let boxes: String = (1..=steps.max(1))
        .map(|n| format!("{n}. [ ] step {n}\n"))
        .collect();
    format!("# Task: version {version}\nVersion {version} adds sums.\n{boxes}Test: sh t.sh\n")
}

fn sha(text: &str) -> Sha256 {
    plan::file_hash(text.as_bytes())
}

fn receipt(outcome: TestOutcome) -> Receipt {
    Receipt {
        outcome,
        ..Receipt::without_command()
    }
}

fn remark(n: u32, severity: FindingSeverity) -> ReviewRemark {
    ReviewRemark::new(n, severity, format!("finding {n}"))
}

/// A run with a simulated shell that answers its effects.
struct RunSimulation {
    run: Run,
    log: Vec<Event>,
    pending: Vec<Effect>,
    plan_version: u8,
    /// The plan of each review that counts.
    reviewed_plans: Vec<String>,
}

impl RunSimulation {
    fn new(gate: Gate, reviewer: bool, settings: WorkflowSettings) -> Self {
        let first = created(gate, reviewer, settings);
        let run = Run::new(AT, &first);
        Self {
            run,
            log: vec![Event::RunCreated(Box::new(first))],
            pending: Vec::new(),
            plan_version: 0,
            reviewed_plans: Vec::new(),
        }
    }

    /// A run in the auto gate with a reviewer and this maximum of iterations, whose planner writes the plan.
    fn planning(max_iterations: u32) -> Self {
        let mut world = Self::new(Gate::Auto, true, settings(max_iterations));
        for event in goal() {
            world.feed(event);
        }
        world
    }

    /// The same run with its plan approved by the first review.
    fn approved() -> Self {
        let mut world = Self::planning(1);
        for event in [
            ended(1),
            planned(1, 1),
            ended(2),
            reviewed(2, Verdict::Approved, Vec::new()),
        ] {
            world.feed(event);
        }
        world
    }

    fn feed(&mut self, event: Event) -> Vec<Effect> {
        if matches!(event, Event::RunResumed { .. }) {
            // A new process: the work of the old one does not return.
            self.pending.clear();
        }
        let reviewed = self.disk_plan_text();
        let n_reviews = self.run.state().findings.review_count();
        let effects = self.run.step(AT, &event);
        if self.run.state().findings.review_count() > n_reviews {
            self.reviewed_plans.push(reviewed);
        }
        self.log.push(event);
        for effect in &effects {
            if !matches!(
                effect,
                Effect::AppendLog(_)
                    | Effect::ExpireApprovals { .. }
                    | Effect::SwitchToBuildProfile
                    | Effect::SteerTurn(_)
                    | Effect::SwitchToPlanProfile
            ) {
                self.pending.push(effect.clone());
            }
        }
        effects
    }

    fn disk_plan(&self) -> Sha256 {
        self.run
            .state()
            .plan
            .as_ref()
            .map_or_else(|| sha(""), |p| p.plan.approval_sha256.clone())
    }

    fn terms(&self) -> ExecutionTerms {
        ExecutionTerms {
            plan: self.disk_plan(),
            test: Some(TestCommand {
                command: "sh t.sh".to_owned(),
                parts: Vec::new(),
                origin: TestCommandOrigin {
                    source: TestCommandSource::Proposed,
                    place: None,
                },
            }),
            other_test: None,
            commits: CommitTarget::Current {
                branch: "main".to_owned(),
            },
            dirty: vec!["mine.txt".to_owned()],
            left: None,
            binding: None,
            change: None,
        }
    }

    /// Returns the event that answers an effect; `dice` chooses among the possible results.
    #[expect(clippy::too_many_lines, reason = "one arm an effect: a list to read")]
    fn react(&mut self, effect: &Effect, dice: u8) -> Option<Event> {
        Some(match effect {
            Effect::StartTurn(order) => Event::TurnEnded {
                turn: order.turn.clone(),
                result: result(dice),
            },
            Effect::InterruptTurn(turn) => Event::TurnEnded {
                turn: turn.clone(),
                result: TurnOutcome::Interrupted,
            },
            Effect::CollectDocument(order) if dice % 11 == 10 => Event::DocumentMissing {
                turn: order.turn.clone(),
                reason: "nothing".to_owned().into(),
            },
            Effect::CollectDocument(order) if dice % 17 == 16 => Event::DocumentConflict {
                turn: order.turn.clone(),
                document: "plan.md".to_owned(),
                clash: None,
            },
            Effect::CollectDocument(order)
            | Effect::CommitDraft(order)
            | Effect::SettleConflict { order, .. } => self.document(order, dice),
            Effect::SurveyRepository if dice % 13 == 12 => Event::ExecutionRefused {
                reason: "no".to_owned(),
            },
            Effect::SurveyRepository => Event::RepositorySurveyed {
                terms: self.terms(),
            },
            Effect::EnterExecution(terms) => Event::ExecutionEntered {
                base: Some("b".to_owned()),
                terms: terms.clone(),
            },
            Effect::CheckApproval { step } => Event::ApprovalChecked {
                step: *step,
                changes: Vec::new(),
            },
            Effect::SnapshotTree { step, .. } => Event::SnapshotTaken {
                step: *step,
                tree: Some("t".to_owned()),
                attempt: 0,
            },
            Effect::WriteThreads => Event::ThreadsWritten {
                file_sha256: Sha256::new("threads"),
            },
            Effect::RestoreTree { step } => Event::TreeRestored { step: *step },
            Effect::RestoreFiles { step, paths } => Event::EditsPutBack {
                step: *step,
                paths: paths.clone(),
                kept: "kept".to_owned(),
            },
            Effect::StoreTree { .. } | Effect::ApplyReversal { .. } if dice % 7 == 6 => {
                Event::UndoFailed {
                    reason: "no".to_owned(),
                }
            }
            Effect::StoreTree { seen } => Event::UndoKept { tree: seen.clone() },
            Effect::ApplyReversal { reversal, .. } => Event::UndoPutBack {
                tree: "left".to_owned(),
                commit: (!reversal.commits.is_empty()).then(|| "u".repeat(40)),
            },
            Effect::RecordReversal {
                reversal,
                kept,
                commit,
            } => Event::UndoFinished {
                way: reversal.way,
                steps: reversal.steps.clone(),
                kept: kept.clone(),
                commit: commit.clone(),
                plan_file_sha256: Some(sha("boxes")),
            },
            Effect::AuditStep { step } => Event::StepAudited(audit(*step, dice)),
            Effect::RunBaseline(_) | Effect::StopTests if dice % 5 == 4 => Event::BaselineSkipped {
                reason: "stopped".to_owned(),
            },
            Effect::RunBaseline(_) => baseline_ran(dice),
            Effect::StopTests => return None,
            Effect::RunTests { step, .. } => tests_ran(*step, dice),
            Effect::ProveStep { step } => Event::StepProved {
                step: *step,
                proof: step_proof(dice),
                tree: Some("after".to_owned()),
            },
            Effect::CommitStep { step, message, .. } => match dice % 5 {
                0 => Event::CommitFailed {
                    step: *step,
                    message: "hook".to_owned(),
                },
                1 => Event::CommitSkipped {
                    step: *step,
                    reason: "nothing".to_owned(),
                },
                _ => Event::CommitMade {
                    step: *step,
                    commit: "c".repeat(40),
                    message: message.clone(),
                    size: None,
                },
            },
            Effect::AmendStep { step, .. } => Event::StepAmended { step: *step },
            Effect::RecordStep { step } => Event::StepRecorded {
                step: *step,
                plan_file_sha256: Some(sha("ticked")),
            },
            Effect::MoveRole { role, .. } if dice.is_multiple_of(3) => Event::SessionStayed {
                role: *role,
                reason: "it is not there".to_owned(),
            },
            Effect::MoveRole { role, adapter } => Event::SessionMoved {
                role: *role,
                session: SessionId::new(format!("ses_{dice}")),
                adapter: adapter.clone(),
            },
            Effect::AskUser(question)
                if matches!(question.kind, QuestionKind::UsageLimit { .. })
                    && dice.is_multiple_of(2) =>
            {
                Event::LimitPassed { id: question.id }
            }
            Effect::AskUser(question) => {
                let answer = self.answer(&question.kind, dice)?;
                Event::QuestionAnswered {
                    id: question.id,
                    answer,
                }
            }
            Effect::EnterPlan { reason } => Event::PlanEntered {
                step: None,
                reason: reason.clone(),
            },
            Effect::AnswerAgent { .. }
            | Effect::ForgetConversation(_)
            | Effect::SaveTestNetwork(_)
            | Effect::SaveTestSocket { .. }
            | Effect::AppendRemarks(_)
            | Effect::SwitchToBuildProfile
            | Effect::SteerTurn(_)
            | Effect::SwitchToPlanProfile
            | Effect::ExpireApprovals { .. }
            | Effect::DiscardDraft(_)
            | Effect::StopChildren(_)
            | Effect::AdvanceDiscussions
            | Effect::StopDiscussions(_)
            | Effect::AppendLog(_)
            | Effect::FinishRun
            | Effect::HaltRun(_) => return None,
        })
    }

    fn review(&self, turn: TurnId, dice: u8) -> Event {
        let highest = self.run.state().findings.highest_number();
        let marker = if dice.is_multiple_of(3) {
            Verdict::Approved
        } else {
            Verdict::ChangesRequired
        };
        // Some lines are from a log of an earlier version.
        if dice % 5 == 4 {
            let remarks = (1..=highest).take(2);
            let remarks = remarks.map(|n| remark(n, FindingSeverity::Major));
            return Event::ReviewCommitted {
                turn,
                review: legacy_review(marker, remarks.collect()),
                file_sha256: sha("c"),
                plan_now: self.disk_plan(),
            };
        }
        let mut text = format!("[{}]\n", marker.as_str());
        for finding in self.run.state().findings.active() {
            let n = finding.remark.n;
            match dice % 7 {
                0 | 3 => text.push_str(&format!("{n}. withdrawn: I was wrong\n")),
                1 => text.push_str(&format!("{n}. stands: nothing changed\n")),
                2 => text.push_str(&format!("{n}. fixed: `version {}`\n", self.plan_version)),
                _ => {}
            }
        }
        if dice % 4 == 1 {
            text.push_str(&format!(
                "{}. [blocking] nobody tests this\n   Place: step 1\n   Scenario: it fails\n",
                highest + 1
            ));
        }
        self.review_of(turn, &text)
    }

    /// Returns the event for the text of a review, as the engine builds it.
    fn review_of(&self, turn: TurnId, text: &str) -> Event {
        self.with_sources(|sources| sources.review_event(turn, text))
    }

    /// Returns the event for the text of answers and a returned plan, as the engine builds it.
    fn answers_of(&self, turn: TurnId, text: &str, plan: Option<&str>) -> Event {
        self.with_sources(|sources| sources.response_event(turn, text, plan))
    }

    fn with_sources(&self, build: impl FnOnce(&DocumentSources<'_>) -> Event) -> Event {
        let state = self.run.state();
        let n_earlier = match state.phase {
            Phase::Respond => state.iteration,
            _ => state.iteration.saturating_sub(1),
        };
        let n_later = self
            .reviewed_plans
            .len()
            .saturating_sub(usize::try_from(n_earlier).unwrap());
        build(&DocumentSources {
            state,
            plan: &self.disk_plan_text(),
            reviewed_plans: &self.reviewed_plans[n_later..],
            evidence: &NoFiles,
            unopened: None,
        })
    }

    /// Returns the text of the plan on disk; all plans of a simulation are written by `plan_text`.
    fn disk_plan_text(&self) -> String {
        let plan = &self.run.state().plan;
        plan.as_ref().map_or_else(String::new, |plan| {
            let version = plan.plan.title.trim_start_matches("version ");
            let n_steps = u8::try_from(plan.plan.steps.len()).unwrap();
            plan_text(version.parse().unwrap(), n_steps)
        })
    }

    fn document(&mut self, order: &TurnOrder, dice: u8) -> Event {
        let turn = order.turn.clone();
        match order.purpose {
            TurnPurpose::Review => self.review(turn, dice),
            TurnPurpose::Respond => {
                self.plan_version = self.plan_version.wrapping_add(1);
                let plan = plan_text(self.plan_version, 1 + dice % 3);
                let plan = dice.is_multiple_of(2).then_some(plan.as_str());
                let word = if dice % 3 == 2 {
                    "rejected"
                } else {
                    "accepted"
                };
                let open = self.run.state().findings.open();
                let answers: String = open
                    .take(usize::from(1 + dice % 2))
                    .map(|finding| format!("{}. {word}: done\n", finding.remark.n))
                    .collect();
                self.answers_of(turn, &answers, plan)
            }
            TurnPurpose::Judge => Event::DisputesJudged {
                turn,
                judgements: Vec::new(),
            },
            TurnPurpose::WritePlan
            | TurnPurpose::RefineGoal { .. }
            | TurnPurpose::Step { .. }
            | TurnPurpose::Fix { .. }
            | TurnPurpose::Summary => {
                self.plan_version = self.plan_version.wrapping_add(1);
                let plan = plan_of(self.plan_version, 1 + dice % 3);
                Event::PlanCommitted {
                    turn,
                    plan,
                    file_sha256: sha("p"),
                }
            }
        }
    }

    fn answer(&mut self, kind: &QuestionKind, dice: u8) -> Option<QuestionAnswer> {
        if let (QuestionKind::ManualEdit, then) = (kind, dice % 2) {
            self.plan_version = self.plan_version.wrapping_add(1);
            let then = if then == 0 {
                EditFollowUp::Review
            } else {
                EditFollowUp::Accept
            };
            let plan = plan_of(self.plan_version, 2);
            return Some(QuestionAnswer::Edited {
                then,
                plan,
                file_sha256: sha("e"),
            });
        }
        if let QuestionKind::Dispute { .. } = kind {
            let side = if dice.is_multiple_of(2) {
                DisputeSide::Reviewer
            } else {
                DisputeSide::Planner
            };
            return Some(QuestionAnswer::DecideDispute { side });
        }
        let words = [
            "pass",
            "more:1",
            "edit",
            "review",
            "accept",
            "yes",
            "switch-test",
            "host",
            "loopback",
            "changes:more",
            "retry",
            "skip",
            "already-true",
        ];
        let more = [
            "new-session",
            "dismiss",
            "overwrite",
            "merge",
            "use",
            "discard",
            "include",
            "leave-out",
            "allow",
            "keep",
            "put-back",
            "go-on",
            "continue",
            "done",
            "redo",
            "wait",
            "switch",
        ];
        let fitting: Vec<QuestionAnswer> = words
            .iter()
            .chain(&more)
            .filter_map(|word| kind.parse_answer(word))
            .collect();
        (!fitting.is_empty()).then(|| fitting[usize::from(dice) % fitting.len()].clone())
    }
}

fn result(dice: u8) -> TurnOutcome {
    match dice % 12 {
        0 => TurnOutcome::Interrupted,
        1 => TurnOutcome::Failed {
            kind: TurnFailureKind::Service,
            message: "500".to_owned(),
            transient: true,
            limit: None,
            other: Some("claude".to_owned()),
        },
        3 => limited(dice.is_multiple_of(2).then_some(UnixMillis(2_000))),
        2 => TurnOutcome::Completed {
            question: Some("which?".to_owned()),
            summary: String::new(),
            result: None,
        },
        _ => TurnOutcome::completed("did it"),
    }
}

fn limited(resets_at: Option<UnixMillis>) -> TurnOutcome {
    TurnOutcome::Failed {
        kind: TurnFailureKind::UsageLimit,
        message: "used up".to_owned(),
        transient: false,
        limit: Some(UsageLimit { resets_at }),
        other: Some("claude".to_owned()),
    }
}

fn audit(step: u32, dice: u8) -> StepAudit {
    let changed = if dice % 7 == 6 {
        Vec::new()
    } else {
        vec!["a.rs".to_owned(), "mine.txt".to_owned()]
    };
    let dirty = if dice.is_multiple_of(3) && !changed.is_empty() {
        vec!["mine.txt".to_owned()]
    } else {
        Vec::new()
    };
    let outside_of_calls = if dice % 13 == 12 && !changed.is_empty() {
        vec!["mine.txt".to_owned()]
    } else {
        Vec::new()
    };
    let entry_points = if dice % 9 == 8 {
        vec![EntryPoint {
            path: "conftest.py".to_owned(),
            why: "pytest".to_owned(),
            content: Some(format!("blob {}", dice / 9)),
        }]
    } else {
        Vec::new()
    };
    let held = if dice % 11 == 10 {
        vec![held("rules.md", PermissionAction::Ask, dice / 11)]
    } else {
        Vec::new()
    };
    let out_of_scope = if dice % 17 == 16 && !changed.is_empty() {
        vec![ScopeChange {
            path: "mine.txt".to_owned(),
            is_deleted: dice % 2 == 1,
        }]
    } else {
        Vec::new()
    };
    StepAudit {
        step,
        changed,
        dirty,
        outside_of_calls,
        entry_points,
        held,
        out_of_scope,
        tree: Some("after".to_owned()),
    }
}

fn held(path: &str, hold: PermissionAction, version: u8) -> HeldEdit {
    HeldEdit {
        path: path.to_owned(),
        hold,
        why: "a rule".to_owned(),
        content: Some(format!("blob {version}")),
    }
}

fn tests_ran(step: u32, dice: u8) -> Event {
    let outcome = if dice.is_multiple_of(3) {
        TestOutcome::Failed
    } else {
        TestOutcome::Passed
    };
    let changed = vec![
        "a.rs".to_owned(),
        "mine.txt".to_owned(),
        "cache.tmp".to_owned(),
    ];
    Event::TestsRan {
        step,
        receipt: receipt(outcome),
        changed,
        made_by_tests: vec!["cache.tmp".to_owned()],
        entry_points: audit(step, dice).entry_points,
        held: audit(step, dice).held,
        rewritten: Vec::new(),
        tree: Some("after".to_owned()),
    }
}

/// What the cells of a step showed: that it is proven, that nothing is known, or that something is wrong.
fn step_proof(dice: u8) -> StepProof {
    let run = |cell| CellRun {
        cell,
        tree: format!("tree {dice}"),
        outcome: TestOutcome::Passed,
        exit_code: Some(0),
        duration_ms: 1,
        n_passed: 2,
        n_failed: 0,
        n_skipped: 0,
        receipt: None,
        is_reused: false,
    };
    let cells = [
        ProofCell::Baseline,
        ProofCell::Red,
        ProofCell::Green,
        ProofCell::Kept,
    ];
    let names = |name: &str| TestNames {
        count: 1,
        first: vec![name.to_owned()],
    };
    let proven = StepProof {
        cells: cells.map(run).into(),
        is_by_identity: true,
        changed_tests: vec!["tests/a.rs".to_owned()],
        red: names("a"),
        ..StepProof::default()
    };
    match dice % 4 {
        0 => StepProof::without_cells("there is no sandbox"),
        1 => StepProof {
            red: TestNames::default(),
            ..proven
        },
        2 => StepProof {
            lost: names("b"),
            ..proven
        },
        _ => proven,
    }
}

/// A test result before the first step: one like a step's, or that the tests cannot run.
fn baseline_ran(dice: u8) -> Event {
    let outcome = match dice % 3 {
        0 => TestOutcome::Failed,
        1 => TestOutcome::Passed,
        _ => TestOutcome::NotStarted("it is not installed".to_owned()),
    };
    let lacks_network = (dice % 6 == 3).then(|| "ECONNREFUSED".to_owned());
    Event::BaselineRan(TestBaseline {
        receipt: Receipt {
            lacks_network,
            ..receipt(outcome)
        },
        made_by_tests: vec!["cache.tmp".to_owned()],
        changed: vec!["golden.txt".to_owned()],
        proof_cost: None,
        unplanned_failures: None,
    })
}

fn undo(way: UndoDirection) -> Event {
    Event::UndoAsked {
        way,
        seen: "now".to_owned(),
    }
}

/// Unexpected events: the user's, and events that arrive too late.
fn stray(dice: u8) -> Event {
    match dice % 20 {
        18 => Event::ModeChanged { mode: Mode::Yolo },
        19 => Event::ModeChanged { mode: Mode::Plan },
        16 => undo(UndoDirection::Undo {
            step: u32::from(dice % 4),
        }),
        17 => undo(UndoDirection::Redo),
        0 | 1 => Event::TurnSendConfirmed,
        2 => Event::GateChanged { gate: Gate::Auto },
        3 => Event::GateChanged { gate: Gate::Manual },
        4 => Event::InterruptRequested,
        15 if dice.is_multiple_of(2) => Event::MessageQueued {
            to: None,
            text: "look there too".to_owned(),
        },
        15 => Event::Steered {
            text: "look there too".to_owned(),
        },
        5 if (dice / 16).is_multiple_of(4) => Event::RunStopped,
        6 if (dice / 16).is_multiple_of(8) => Event::RunCancelled,
        6 if (dice / 16) % 8 == 3 => Event::PlanEntered {
            reason: "a part is missing".to_owned(),
            step: None,
        },
        6 if (dice / 16) % 8 == 4 => Event::PlanEntered {
            reason: "the step relies on a file that is not there".to_owned(),
            step: Some(u32::from(dice % 3)),
        },
        6 if (dice / 16) % 8 == 5 => Event::StepSkipped {
            step: u32::from(dice % 3),
            reason: "not wanted".to_owned(),
        },
        7 => Event::GoalGiven {
            text: "a goal".to_owned(),
        },
        8 => Event::GoalConfirmed {
            title: "a goal".to_owned(),
            text: "a goal".to_owned(),
        },
        9 => Event::TurnEnded {
            turn: TurnId::new("trn_999"),
            result: result(dice),
        },
        10 => Event::QuestionAnswered {
            id: u32::from(dice),
            answer: QuestionAnswer::ForcePass,
        },
        11 => {
            let plan = plan_of(200, 2);
            let approval_sha256 = plan.approval_sha256.clone();
            Event::PlanEdited {
                plan: Some(plan),
                approval_sha256,
                file_sha256: sha("user"),
                source: None,
            }
        }
        12 => Event::TestsRan {
            step: u32::from(dice),
            receipt: receipt(TestOutcome::Passed),
            changed: Vec::new(),
            made_by_tests: Vec::new(),
            entry_points: Vec::new(),
            held: Vec::new(),
            rewritten: Vec::new(),
            tree: None,
        },
        13 => Event::FindingSettled {
            n: u32::from(dice % 5),
        },
        _ if dice.is_multiple_of(3) => Event::RunResumed { gate: Gate::Auto },
        _ => Event::AgentQuestionWithdrawn {
            request: RequestId::new("r"),
        },
    }
}

/// Observes the effects and checks that the run keeps its invariants.
#[derive(Default)]
struct RunInvariants {
    running: Option<TurnId>,
    /// Turns that were released, by the user or by the gate, and have not started yet.
    released: u32,
    /// Whether the user agreed to an execution since the last approval.
    said_yes: bool,
    phases: BTreeSet<(Phase, Phase)>,
}

/// Checks that only the user changes the mode, and that yolo ends with the program.
fn look_at_mode(before: &RunState, event: &Event, after: &RunState) {
    match event {
        Event::ModeChanged { .. } => {
            let mode = before.mode;
            assert_eq!(
                RunState {
                    mode,
                    ..after.clone()
                },
                *before,
                "a mode changes nothing else"
            );
        }
        Event::RunResumed { .. } if !before.phase.is_final() => assert_ne!(after.mode, Mode::Yolo),
        _ => assert_eq!(after.mode, before.mode, "{event:?} changed the mode"),
    }
}

/// Checks that an agent is asked once for each kind of missing part, and that no review approves despite an open major
/// or blocking finding.
fn look_at_asked_back(event: &Event, after: &RunState) {
    let kinds: Vec<_> = after
        .asked_back
        .parts
        .iter()
        .map(std::mem::discriminant)
        .collect();
    let is_repeated = |kind| kinds.iter().filter(|other| *other == kind).count() > 1;
    assert!(
        !kinds.iter().any(is_repeated),
        "asked twice: {:?}",
        after.asked_back
    );
    let Event::ReviewCommitted { review, .. } = event else {
        return;
    };
    if review.facts.is_some() && after.findings.holding().next().is_some() {
        assert_ne!(
            after.phase,
            Phase::Approved,
            "approved beside a finding that weighs"
        );
    }
}

impl RunInvariants {
    fn look(&mut self, before: &RunState, event: &Event, effects: &[Effect], after: &RunState) {
        if before.phase != after.phase {
            let legal = TRANSITIONS
                .iter()
                .any(|t| t.from == before.phase && t.to == after.phase);
            assert!(legal, "{} -> {} by {event:?}", before.phase, after.phase);
            self.phases.insert((before.phase, after.phase));
            self.look_at_approval(before, event, after);
        }
        assert!(
            after.iteration <= after.iteration_limit(),
            "review {} of {}",
            after.iteration,
            after.iteration_limit()
        );
        if matches!(event, Event::RunResumed { .. }) && !before.phase.is_final() {
            // The process that ran the turn is gone.
            self.running = None;
        }
        if let Event::TurnEnded { turn, .. } = event {
            self.running.take_if(|running| running == turn);
        }
        look_at_mode(before, event, after);
        look_at_asked_back(event, after);
        self.look_at_iteration(before, after);
        self.look_at_release(before, event, after);
        if matches!(
            event,
            Event::QuestionAnswered {
                answer: QuestionAnswer::Execute,
                ..
            }
        ) {
            self.said_yes = true;
        }
        for effect in effects {
            if let Effect::StartTurn(order) = effect {
                assert!(self.running.is_none(), "two turns at once after {event:?}");
                assert_eq!(
                    self.released, 1,
                    "a turn not released exactly once after {event:?}"
                );
                assert!(
                    after.awaiting.is_none(),
                    "a turn starts while a question waits"
                );
                self.running = Some(order.turn.clone());
                self.released = 0;
            }
        }
        if matches!(event, Event::RunStopped | Event::RunCancelled) && before.phase != after.phase {
            assert!(after.awaiting.is_none() && after.approvals.is_empty() && after.busy.is_none());
            assert!(
                before.running.is_none()
                    == effects
                        .iter()
                        .all(|e| !matches!(e, Effect::InterruptTurn(_)))
            );
        }
    }

    /// Checks that the iteration rises by one with each review and is reset only with a new cycle, whose first review
    /// is the second one where the execution is kept and only the change is reviewed.
    fn look_at_iteration(&self, before: &RunState, after: &RunState) {
        let rises = after.iteration == before.iteration + 1 && after.phase == Phase::Review;
        let is_kept = after
            .replanning
            .as_ref()
            .is_some_and(|record| record.kept.is_some());
        let first = u32::from(is_kept) * 2;
        let begins_anew = after.cycle == before.cycle + 1 && after.iteration <= first;
        assert!(
            after.iteration == before.iteration || rises || begins_anew,
            "iteration {} after {}",
            after.iteration,
            before.iteration
        );
    }

    /// Counts a release when a turn leaves the gate or is proposed where the gate is open.
    fn look_at_release(&mut self, before: &RunState, event: &Event, after: &RunState) {
        let gated = |state: &RunState| {
            let kind = state.awaiting.as_ref().map(|question| &question.kind);
            matches!(kind, Some(QuestionKind::Gate { .. }))
        };
        let begins = |state: &RunState| match (&state.running, &state.busy) {
            (Some(running), _) => Some(running.order.turn.clone()),
            (None, Some(ProgramOperation::Storing { order })) => Some(order.turn.clone()),
            (None, _) => None,
        };
        if begins(after).is_none() || begins(after) == begins(before) {
            return;
        }
        let by_user = gated(before)
            && matches!(
                event,
                Event::TurnSendConfirmed | Event::GateChanged { gate: Gate::Auto }
            );
        // A turn that a limit rejected was released before it.
        let waited = before.awaiting.as_ref().map(|question| &question.kind);
        let by_limit = match waited {
            Some(QuestionKind::UsageLimit { then, .. }) => match event {
                Event::LimitPassed { .. } => *then == Gate::Auto,
                Event::QuestionAnswered { answer, .. } => *answer == QuestionAnswer::Retry,
                _ => false,
            },
            _ => false,
        };
        assert!(
            by_user || by_limit || after.gate == Gate::Auto,
            "begun by {event:?}"
        );
        self.released = 1;
    }

    fn look_at_approval(&mut self, before: &RunState, event: &Event, after: &RunState) {
        if after.phase == Phase::Approved {
            let by_review = matches!(event, Event::ReviewCommitted { review, .. } if review.verdict == Verdict::Approved);
            let by_user = matches!(event, Event::QuestionAnswered { .. });
            let is_plan = matches!(event, Event::PlanCommitted { .. })
                || matches!(event, Event::GoalConfirmed { .. }) && before.plan.is_some();
            let unreviewed = is_plan && before.reviewer.is_none();
            assert!(by_review || by_user || unreviewed, "approved by {event:?}");
        }
        if after.phase == Phase::Execute {
            let hash = after.plan.as_ref().map(|plan| &plan.plan.approval_sha256);
            assert_eq!(
                after.approved_sha256.as_ref(),
                hash,
                "an unapproved plan is executed"
            );
            assert!(
                self.said_yes || after.settings.auto_approve,
                "nobody said yes to the execution"
            );
            self.said_yes = false;
        }
    }
}

fn play(gate: Gate, reviewer: bool, cap: u32, dice: &[(u8, u8)]) -> (RunSimulation, RunInvariants) {
    let auto_approve = dice.len() % 2 == 1;
    let settings = WorkflowSettings {
        auto_approve,
        baseline: !dice.len().is_multiple_of(3),
        ..settings(cap)
    };
    let mut world = RunSimulation::new(gate, reviewer, settings);
    let mut watch = RunInvariants::default();
    // Some runs begin with a plan of the user's.
    let is_given = dice.first().is_some_and(|(kind, _)| kind % 8 == 0);
    let given = is_given.then_some((255, 11));
    for (kind, value) in given.iter().chain(&[(255, 7), (255, 8)]).chain(dice) {
        let event = next_event(&mut world, *kind, *value);
        let before = world.run.state().clone();
        let effects = world.feed(event.clone());
        let after = world.run.state().clone();
        watch.look(&before, &event, &effects, &after);
    }
    (world, watch)
}

fn next_event(world: &mut RunSimulation, kind: u8, value: u8) -> Event {
    if kind > 215 || world.pending.is_empty() {
        return stray(value);
    }
    let at = usize::from(kind) % world.pending.len();
    let effect = world.pending.remove(at);
    world.react(&effect, value).unwrap_or_else(|| stray(value))
}

/// Performs everything that needs no turn and no question, until nothing more happens.
fn settle(world: &mut RunSimulation) {
    let by_itself = |effect: &Effect| {
        !matches!(
            effect,
            Effect::StartTurn(_) | Effect::AskUser(_) | Effect::SnapshotTree { .. }
        )
    };
    while let Some(at) = world.pending.iter().position(by_itself) {
        let effect = world.pending.remove(at);
        if let Some(event) = world.react(&effect, 2) {
            world.feed(event);
        }
    }
}

fn dice() -> impl Strategy<Value = Vec<(u8, u8)>> {
    prop::collection::vec((any::<u8>(), any::<u8>()), 0..140)
}

proptest! {
    #[test]
    fn any_sequence_of_events_keeps_to_the_table_and_the_promises(
        auto in any::<bool>(), reviewer in any::<bool>(), cap in 1u32..4, dice in dice()
    ) {
        let gate = if auto { Gate::Auto } else { Gate::Manual };
        let (world, _) = play(gate, reviewer, cap, &dice);
        let Event::RunCreated(first) = &world.log[0] else { unreachable!() };
        let mut again = Run::new(AT, first);
        for event in &world.log[1..] {
            let text = serde_json::to_string(event).unwrap();
            again.step(AT, &serde_json::from_str(&text).unwrap());
        }
        prop_assert_eq!(&again, &world.run);
        let text = serde_json::to_string(&world.run).unwrap();
        prop_assert_eq!(serde_json::from_str::<Run>(&text).unwrap(), again);
    }

    #[test]
    fn what_is_undone_comes_back_as_it_was(dice in dice(), auto in any::<bool>(), step in 1u32..4) {
        let gate = if auto { Gate::Auto } else { Gate::Manual };
        let (mut world, _) = play(gate, false, 2, &dice);
        settle(&mut world);
        let before = world.run.state().clone();
        world.feed(undo(UndoDirection::Undo { step }));
        settle(&mut world);
        let undone = world.run.state().clone();
        if undone.execution == before.execution {
            return Ok(());
        }
        let execution = undone.execution.unwrap();
        prop_assert!(execution.done.iter().all(|record| record.n != step));
        prop_assert_eq!(undone.phase, before.phase);
        world.feed(undo(UndoDirection::Redo));
        settle(&mut world);
        let after = world.run.state().clone();
        let (before, after) = (before.execution.unwrap(), after.execution.unwrap());
        prop_assert_eq!(after.done, before.done);
        prop_assert_eq!(after.undone, before.undone);
        let at_hand = |current: &Option<CurrentStep>| current.as_ref().map(|current| (current.n, current.tree_before.clone()));
        if before.current.as_ref().is_some_and(|current| current.tree_before.is_some()) {
            prop_assert_eq!(at_hand(&after.current), at_hand(&before.current));
        }
    }

    #[test]
    fn a_program_that_ends_while_it_undoes_has_undone_all_or_nothing(dice in dice(), step in 1u32..4, n_events in 0usize..3) {
        let (mut world, _) = play(Gate::Auto, false, 2, &dice);
        settle(&mut world);
        let before = world.run.state().clone();
        world.feed(undo(UndoDirection::Undo { step }));
        for _ in 0..n_events {
            if let Some(effect) = world.pending.pop()
                && matches!(effect, Effect::StoreTree { .. } | Effect::ApplyReversal { .. } | Effect::RecordReversal { .. })
                && let Some(event) = world.react(&effect, 2)
            {
                world.feed(event);
            }
        }
        let kept = matches!(&world.run.state().busy, Some(ProgramOperation::Reversing { kept: Some(_), .. }));
        let was_asked = matches!(&world.run.state().busy, Some(ProgramOperation::Reversing { .. }));
        world.feed(Event::RunResumed { gate: Gate::Manual });
        settle(&mut world);
        let after = world.run.state().clone();
        prop_assert!(after.busy.is_none() || !was_asked);
        if was_asked {
            let (before, after) = (before.execution.unwrap(), after.execution.unwrap());
            prop_assert_eq!(after.done != before.done || after.undone != before.undone, kept);
        }
    }

    #[test]
    fn a_second_answer_to_a_question_changes_nothing(dice in dice(), value in any::<u8>()) {
        let (mut world, _) = play(Gate::Auto, true, 2, &dice);
        let Some(question) = world.run.state().awaiting.clone() else { return Ok(()) };
        let Some(answer) = world.answer(&question.kind, value) else { return Ok(()) };
        let event = Event::QuestionAnswered { id: question.id, answer };
        world.feed(event.clone());
        let before = world.run.clone();
        prop_assert!(world.feed(event).is_empty());
        prop_assert_eq!(before, world.run);
    }
}

#[test]
fn random_play_reaches_every_phase_change_of_the_table() {
    // The random runs cannot cancel before there is a goal: the goal comes first.
    let mut missing: BTreeSet<_> = TRANSITIONS
        .iter()
        .map(|t| (t.from, t.to))
        .filter(|(from, to)| from != to && *from != Phase::Init)
        .collect();
    let mut seed: u64 = 7;
    for round in 0..2_000u32 {
        if missing.is_empty() {
            break;
        }
        let mut dice = Vec::new();
        for _ in 0..120 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            dice.push(((seed >> 33) as u8, (seed >> 41) as u8));
        }
        let (_, watch) = play(Gate::Auto, !round.is_multiple_of(4), 1 + round % 3, &dice);
        missing.retain(|change| !watch.phases.contains(change));
    }
    assert!(missing.is_empty(), "never reached: {missing:?}");
}

/// Applies single events and prints the effects of each.
fn check(world: &mut RunSimulation, events: &[Event], expected: &str) {
    let mut out = Vec::new();
    for event in events {
        let effects = world.feed(event.clone());
        let effects: Vec<String> = effects.iter().map(describe_effect).collect();
        out.push(format!(
            "{} | {}",
            world.run.state().phase,
            effects.join(", ")
        ));
    }
    assert_eq!(out.join("\n"), expected);
}

fn describe_effect(effect: &Effect) -> String {
    match effect {
        Effect::StartTurn(order) => format!("start {}: {}", order.turn, order.purpose.describe()),
        Effect::CollectDocument(order) => format!("collect {}", order.turn),
        Effect::AskUser(question) => format!("ask {}", question.kind.name()),
        Effect::CommitStep { paths, message, .. } => {
            format!("commit {paths:?} {}", message.replace('\n', "/"))
        }
        other => format!("{other:?}")
            .split([' ', '(', '{'])
            .next()
            .unwrap_or_default()
            .to_owned(),
    }
}

fn goal() -> [Event; 2] {
    let text = "Add sums".to_owned();
    [
        Event::GoalGiven { text: text.clone() },
        Event::GoalConfirmed {
            title: text.clone(),
            text,
        },
    ]
}

fn ended(n: u32) -> Event {
    let result = TurnOutcome::completed("ok");
    Event::TurnEnded {
        turn: TurnId::new(format!("trn_{n}")),
        result,
    }
}

fn planned(n: u32, version: u8) -> Event {
    Event::PlanCommitted {
        turn: TurnId::new(format!("trn_{n}")),
        plan: plan_of(version, 1),
        file_sha256: sha("p"),
    }
}

fn reviewed(n: u32, verdict: Verdict, remarks: Vec<ReviewRemark>) -> Event {
    let review = legacy_review(verdict, remarks);
    let plan_now = plan_of(1, 1).approval_sha256;
    Event::ReviewCommitted {
        turn: TurnId::new(format!("trn_{n}")),
        review,
        file_sha256: sha("c"),
        plan_now,
    }
}

/// A review as version 0.1 stored it: without what the program found out.
fn legacy_review(verdict: Verdict, remarks: Vec<ReviewRemark>) -> ReviewDocument {
    ReviewDocument {
        verdict,
        consistent: true,
        marker: None,
        is_ambiguous: false,
        remarks,
        verdicts: Vec::new(),
        settled: None,
        facts: None,
    }
}

/// A run whose only review approved the plan.
fn agreed() -> RunSimulation {
    let mut world = RunSimulation::new(Gate::Auto, true, settings(5));
    check(
        &mut world,
        &goal(),
        "REFINE_GOAL | \nWRITE_PLAN | start trn_1: writes the plan",
    );
    check(
        &mut world,
        &[
            ended(1),
            planned(1, 1),
            ended(2),
            reviewed(2, Verdict::Approved, Vec::new()),
        ],
        "WRITE_PLAN | collect trn_1\nREVIEW | start trn_2: reviews the plan\nREVIEW | collect trn_2\nAPPROVED | SurveyRepository",
    );
    world
}

#[test]
fn an_agreed_plan_becomes_a_committed_step() {
    let mut world = agreed();
    let terms = world.terms();
    let surveyed = Event::RepositorySurveyed {
        terms: terms.clone(),
    };
    let yes = Event::QuestionAnswered {
        id: 1,
        answer: QuestionAnswer::Execute,
    };
    let entered = Event::ExecutionEntered { base: None, terms };
    let stored = Event::SnapshotTaken {
        step: 1,
        tree: None,
        attempt: 0,
    };
    check(
        &mut world,
        &[surveyed, yes, entered, stored, ended(3)],
        "APPROVED | ask execute\nAPPROVED | EnterExecution\nEXECUTE | SwitchToBuildProfile, SnapshotTree\nEXECUTE | start trn_3: works on step 1\nEXECUTE | AuditStep",
    );
    let audited = Event::StepAudited(StepAudit {
        step: 1,
        changed: vec!["a.rs".to_owned()],
        dirty: Vec::new(),
        outside_of_calls: Vec::new(),
        entry_points: Vec::new(),
        held: Vec::new(),
        out_of_scope: Vec::new(),
        tree: None,
    });
    let made = Event::CommitMade {
        step: 1,
        commit: "c".to_owned(),
        message: "[Step 1] step 1".to_owned(),
        size: None,
    };
    let before_summary = Event::SnapshotTaken {
        step: 0,
        tree: None,
        attempt: 0,
    };
    let recorded = Event::StepRecorded {
        step: 1,
        plan_file_sha256: Some(sha("t")),
    };
    check(
        &mut world,
        &[
            audited,
            tests_ran(1, 1),
            made,
            recorded,
            before_summary,
            ended(4),
        ],
        "EXECUTE | RunTests\nEXECUTE | commit [\"a.rs\"] [Step 1] ok//step 1//tests passed/\nEXECUTE | RecordStep\nEXECUTE | SnapshotTree\nEXECUTE | start trn_4: writes the summary\nDONE | FinishRun",
    );
    assert!(!world.run.state().has_changed_nothing());
}

/// Ends a step's turn and compares what follows each event, as the names of its effects.
fn check_held(events: &[Event], expected: &[&str]) {
    let mut world = agreed();
    let terms = world.terms();
    world.feed(Event::RepositorySurveyed {
        terms: terms.clone(),
    });
    world.feed(Event::QuestionAnswered {
        id: 1,
        answer: QuestionAnswer::Execute,
    });
    world.feed(Event::ExecutionEntered { base: None, terms });
    world.feed(Event::SnapshotTaken {
        step: 1,
        tree: Some("t".to_owned()),
        attempt: 0,
    });
    for event in events {
        world.feed(event.clone());
    }
    let told = |effect: &Effect| match effect {
        Effect::AskUser(question) => Some(format!("ask {}", question.kind.describe())),
        Effect::AuditStep { .. } => Some("audit".to_owned()),
        Effect::RestoreFiles { paths, .. } => Some(format!("put back {}", paths.join(" "))),
        Effect::RunTests { .. } => Some("test".to_owned()),
        Effect::SaveTestNetwork(network) => Some(format!("keep {network:?}")),
        Effect::SaveTestSocket { path, is_reached } => Some(format!("keep {path} {is_reached}")),
        Effect::SnapshotTree { attempt, .. } if *attempt > 0 => {
            Some(format!("before fix {attempt}"))
        }
        Effect::CommitStep { .. } => Some("commit".to_owned()),
        _ => None,
    };
    let found: Vec<String> = world.pending.iter().filter_map(told).collect();
    assert_eq!(found.get(1..).unwrap_or_default(), expected);
}

fn looked(held: Vec<HeldEdit>) -> Event {
    Event::StepAudited(StepAudit {
        held,
        ..audit(1, 1)
    })
}

/// The answer that skips a step, without a reason.
fn skipped() -> QuestionAnswer {
    let reason = String::new();
    QuestionAnswer::SkipStep { reason }
}

fn answered(id: u32, answer: QuestionAnswer) -> Event {
    Event::QuestionAnswered { id, answer }
}

/// Lets tests fail because something is missing; compares the question and what follows an answer.
fn check_lacking(
    lacks: impl FnOnce(&mut Receipt),
    ask: &str,
    answer: QuestionAnswer,
    expected: &[&str],
) {
    let Event::TestsRan { mut receipt, .. } = tests_ran(1, 1) else {
        panic!("not a test run");
    };
    receipt.outcome = TestOutcome::Failed;
    lacks(&mut receipt);
    let ran = Event::TestsRan {
        step: 1,
        receipt,
        changed: vec!["a.rs".to_owned()],
        made_by_tests: Vec::new(),
        entry_points: Vec::new(),
        held: Vec::new(),
        rewritten: Vec::new(),
        tree: None,
    };
    let events = [ended(3), looked(Vec::new()), ran, answered(2, answer)];
    check_held(&events, &[&["audit", "test", ask], expected].concat());
}

#[test]
fn tests_that_fail_for_want_of_a_network_get_it_by_the_users_word_alone() {
    const ASK: &str = "ask The tests of step 1 fail without the machine's network: ECONNREFUSED";
    let lacks = |receipt: &mut Receipt| receipt.lacks_network = Some("ECONNREFUSED".to_owned());
    check_lacking(
        lacks,
        ASK,
        QuestionAnswer::HostNetwork,
        &["keep Host", "test"],
    );
    let without = &["keep Loopback", "before fix 1"];
    check_lacking(lacks, ASK, QuestionAnswer::LoopbackNetwork, without);
}

#[test]
fn tests_that_fail_for_want_of_a_socket_reach_it_by_the_users_word_alone() {
    const ASK: &str = "ask The tests of step 1 fail without /run/docker.sock, which is hidden from them: no daemon";
    let lacks = |receipt: &mut Receipt| {
        receipt.lacks_network = Some("no daemon".to_owned());
        receipt.lacks_socket = Some(MissingSocket {
            path: "/run/docker.sock".to_owned(),
            line: "no daemon".to_owned(),
        });
    };
    let reached = &["keep /run/docker.sock true", "test"];
    check_lacking(lacks, ASK, QuestionAnswer::ReachSocket, reached);
    let without = &["keep /run/docker.sock false", "before fix 1"];
    check_lacking(lacks, ASK, QuestionAnswer::HideSocket, without);
}

#[test]
fn an_edit_that_a_rule_holds_back_is_kept_as_it_is_or_put_back() {
    const ASK: &str = "ask Step 1 changed files that your rules protect: rules.md (a rule)";
    let one = || vec![held("rules.md", PermissionAction::Deny, 1)];
    let other = vec![held("rules.md", PermissionAction::Deny, 2)];
    check_held(
        &[
            ended(3),
            looked(one()),
            answered(2, QuestionAnswer::PutBack),
            Event::EditsPutBack {
                step: 1,
                paths: vec!["rules.md".to_owned()],
                kept: "k".to_owned(),
            },
            looked(Vec::new()),
        ],
        &["audit", ASK, "put back rules.md", "audit", "test"],
    );
    check_held(
        &[
            ended(3),
            looked(one()),
            answered(2, QuestionAnswer::Keep),
            looked(one()),
            looked(other.clone()),
        ],
        &["audit", ASK, "audit", "test"],
    );
    let Event::TestsRan {
        step,
        receipt,
        changed,
        made_by_tests,
        entry_points,
        tree,
        ..
    } = tests_ran(1, 1)
    else {
        return;
    };
    let ran = Event::TestsRan {
        step,
        receipt,
        changed,
        made_by_tests,
        entry_points,
        held: other,
        rewritten: Vec::new(),
        tree,
    };
    check_held(
        &[
            ended(3),
            looked(one()),
            answered(2, QuestionAnswer::Keep),
            looked(one()),
            ran,
        ],
        &["audit", ASK, "audit", "test", ASK],
    );
}

#[test]
fn an_edit_that_the_user_allowed_is_not_asked_about_again_unless_it_is_denied() {
    let asked = Event::ApprovalRequested(Approval {
        request: RequestId::new("req_1"),
        item: None,
        turn: TurnId::new("trn_3"),
        permission: CallPermission::Edit,
        targets: vec!["rules.md".to_owned()],
        reason: None,
        why: None,
        offers: Vec::new(),
        keeping: MaxApprovalScope::Project,
        profile: "build".to_owned(),
        child: None,
        n: 0,
    });
    let check = |by: &str, hold: PermissionAction, expected: &[&str]| {
        let answered = Event::ApprovalDecided {
            request: RequestId::new("req_1"),
            allowed: true,
            by: by.parse().unwrap(),
            reason: String::new(),
            denial: None,
            kept: Vec::new(),
        };
        let events = [
            asked.clone(),
            answered,
            ended(3),
            looked(vec![held("rules.md", hold, 1)]),
        ];
        check_held(&events, expected);
    };
    const ASK: &str = "ask Step 1 changed files that your rules protect: rules.md (a rule)";
    check("user", PermissionAction::Ask, &["audit", "test"]);
    check("user", PermissionAction::Deny, &["audit", ASK]);
    check("rules", PermissionAction::Ask, &["audit", ASK]);
}

#[test]
fn an_execution_that_was_cut_off_as_it_began_switches_the_planner_once() {
    let mut world = agreed();
    let terms = world.terms();
    let surveyed = Event::RepositorySurveyed {
        terms: terms.clone(),
    };
    let yes = Event::QuestionAnswered {
        id: 1,
        answer: QuestionAnswer::Execute,
    };
    let entered = Event::ExecutionEntered { base: None, terms };
    let resumed = || Event::RunResumed { gate: Gate::Auto };
    let switched = Event::MessageAppended {
        role: Role::Planner,
        message: Message {
            id: "msg_1".to_owned(),
            turn: None,
            role: MessageRole::User,
            agent: TurnProfile::Build,
            synthetic: true,
            ts: AT,
            text: String::new(),
        },
    };
    check(
        &mut world,
        &[surveyed, yes, entered, resumed(), switched, resumed()],
        "APPROVED | ask execute\nAPPROVED | EnterExecution\nEXECUTE | SwitchToBuildProfile, SnapshotTree\n\
         EXECUTE | SwitchToBuildProfile, SnapshotTree\nEXECUTE | \nEXECUTE | SnapshotTree",
    );
}

#[test]
fn two_reviews_of_an_old_log_that_settle_nothing_ask_the_user_before_the_cap() {
    let mut world = RunSimulation::planning(5);
    let stuck = |n| {
        reviewed(
            n,
            Verdict::ChangesRequired,
            vec![remark(1, FindingSeverity::Minor)],
        )
    };
    let responded = |n: u32| Event::ResponseCommitted {
        turn: TurnId::new(format!("trn_{n}")),
        responses: Vec::new(),
        unanswered: vec![1],
        plan: None,
        comments_sha256: sha("c"),
        asked_back: Vec::new(),
    };
    for event in [
        ended(1),
        planned(1, 1),
        ended(2),
        stuck(2),
        ended(3),
        responded(3),
        ended(4),
        stuck(4),
    ] {
        world.feed(event);
    }
    assert_eq!(
        (world.run.state().iteration, world.run.state().stall),
        (2, 1)
    );
    check(
        &mut world,
        &[ended(5), responded(5), ended(6), stuck(6)],
        "RESPOND | collect trn_5\nREVIEW | start trn_6: reviews the plan\nREVIEW | collect trn_6\nREVIEW | ask arbitration",
    );
    check(
        &mut world,
        &[Event::QuestionAnswered {
            id: 1,
            answer: QuestionAnswer::ForcePass,
        }],
        "APPROVED | AppendLog, SurveyRepository",
    );
    assert!(
        world
            .run
            .state()
            .verdict
            .as_ref()
            .is_some_and(|verdict| verdict.forced)
    );
}

#[test]
fn an_edit_of_the_approved_plan_makes_the_approval_stale() {
    let mut world = RunSimulation::approved();
    let terms = world.terms();
    let plan = plan_of(9, 2);
    let approval_sha256 = plan.approval_sha256.clone();
    let edited = Event::PlanEdited {
        plan: Some(plan),
        approval_sha256,
        file_sha256: sha("u"),
        source: None,
    };
    check(
        &mut world,
        &[
            Event::RepositorySurveyed { terms },
            edited,
            Event::QuestionAnswered {
                id: 2,
                answer: QuestionAnswer::ReviewAgain,
            },
        ],
        "APPROVED | ask execute\nAPPROVED | ask stale_plan\nREVIEW | start trn_3: reviews the plan",
    );
    assert_eq!(
        (
            world.run.state().iteration,
            world.run.state().iteration_limit()
        ),
        (2, 2)
    );
}

#[test]
fn in_the_manual_gate_each_turn_waits_for_its_release() {
    let mut world = RunSimulation::new(Gate::Manual, true, settings(1));
    check(&mut world, &goal(), "REFINE_GOAL | \nWRITE_PLAN | ask gate");
    check(
        &mut world,
        &[
            Event::TurnSendConfirmed,
            Event::TurnSendConfirmed,
            Event::Steered {
                text: "look there too".to_owned(),
            },
            Event::InterruptRequested,
            ended(1),
            Event::Steered {
                text: "too late".to_owned(),
            },
        ],
        "WRITE_PLAN | start trn_1: writes the plan\nWRITE_PLAN | \nWRITE_PLAN | SteerTurn\nWRITE_PLAN | InterruptTurn\nWRITE_PLAN | collect trn_1\nWRITE_PLAN | ",
    );
}

#[test]
fn what_no_turn_could_be_told_goes_out_with_the_next_one_and_with_no_other() {
    let mut world = RunSimulation::new(Gate::Manual, true, settings(1));
    check(&mut world, &goal(), "REFINE_GOAL | \nWRITE_PLAN | ask gate");
    let kept = |text: &str| Event::MessageQueued {
        to: None,
        text: text.to_owned(),
    };
    let told = |world: &RunSimulation, n: u32| -> Vec<String> {
        let turn = TurnId::new(format!("trn_{n}"));
        let state = world.run.state();
        let kept = state.kept.for_turn(&turn, state.running.as_ref());
        kept.map(super::QueuedUserMessage::to_prompt_text).collect()
    };
    world.feed(kept(" use awk\n"));
    world.feed(kept(" "));
    assert_eq!(told(&world, 1), ["The user says: use awk"], "previewed");
    world.feed(Event::TurnSendConfirmed);
    world.feed(kept("and no perl"));
    assert_eq!(told(&world, 1), ["The user says: use awk"]);
    let started = Event::TurnStarted {
        turn: TurnId::new("trn_1"),
        prompt_sha256: sha("prompt"),
        process: None,
    };
    world.feed(started);
    world.feed(Event::MessageQueued {
        to: Some(Role::Planner),
        text: "why?".to_owned(),
    });
    let next = [
        "The user says: and no perl",
        "The user said this to the planner, too late for its turn: why?",
    ];
    assert_eq!(told(&world, 2), next);
    let state = serde_json::to_value(world.run.state()).unwrap();
    assert_eq!(state["kept"][2]["to"], "planner");
}

#[test]
fn what_a_turn_was_told_that_failed_is_told_again_where_its_conversation_is_lost() {
    let begun = |n: u32| {
        let mut world = RunSimulation::new(Gate::Manual, true, settings(1));
        goal().into_iter().for_each(|event| drop(world.feed(event)));
        world.feed(Event::MessageQueued {
            to: None,
            text: "use awk".to_owned(),
        });
        world.feed(Event::TurnSendConfirmed);
        let turn = TurnId::new(format!("trn_{n}"));
        world.feed(Event::TurnStarted {
            turn: turn.clone(),
            prompt_sha256: sha("prompt"),
            process: None,
        });
        (world, turn)
    };
    let told = |world: &RunSimulation, n: u32| {
        let turn = TurnId::new(format!("trn_{n}"));
        let state = world.run.state();
        let kept = state.kept.for_turn(&turn, state.running.as_ref());
        kept.count()
    };
    let ends = |world: &mut RunSimulation, turn: &TurnId, result: TurnOutcome| {
        world.feed(Event::TurnEnded {
            turn: turn.clone(),
            result,
        });
    };
    let failed = TurnOutcome::Failed {
        kind: TurnFailureKind::Service,
        message: "500".to_owned(),
        transient: false,
        limit: None,
        other: None,
    };
    for (answer, n_told) in [(QuestionAnswer::NewSession, 1), (QuestionAnswer::Retry, 0)] {
        let (mut world, turn) = begun(1);
        ends(&mut world, &turn, failed.clone());
        let id = world.run.state().awaiting.as_ref().unwrap().id;
        world.feed(Event::QuestionAnswered { id, answer });
        assert_eq!(told(&world, 2), n_told);
    }
    // A message that was received is not sent to a later conversation.
    let (mut world, turn) = begun(1);
    let done = TurnOutcome::completed("");
    ends(&mut world, &turn, done);
    world.feed(Event::SessionLost {
        role: Role::Planner,
        reason: "gone".to_owned(),
    });
    assert_eq!(told(&world, 2), 0);
}

#[test]
fn a_commit_is_titled_by_the_agents_line_and_the_plans_step_is_its_body() {
    let message = |summary: &str| {
        let turn = |turn, summary: &str| Event::TurnEnded {
            turn,
            result: TurnOutcome::completed(summary),
        };
        let mut world = agreed();
        let terms = world.terms();
        world.feed(Event::RepositorySurveyed {
            terms: terms.clone(),
        });
        world.feed(answered(1, QuestionAnswer::Execute));
        world.feed(Event::ExecutionEntered { base: None, terms });
        world.feed(Event::SnapshotTaken {
            step: 1,
            tree: Some("t".to_owned()),
            attempt: 0,
        });
        let running = world.run.state().running.as_ref();
        let id = running.map(|running| running.order.turn.clone()).unwrap();
        world.feed(turn(id, summary));
        world.feed(looked(Vec::new()));
        world.feed(tests_ran(1, 1));
        let made = world.pending.iter().find_map(|effect| match effect {
            Effect::CommitStep { message, .. } => Some(message.clone()),
            _ => None,
        });
        made.unwrap_or_default()
    };
    assert_eq!(
        message("**[Step 1] Add `sum`.**"),
        "[Step 1] Add `sum`\n\nstep 1\n\ntests passed\n"
    );
    assert_eq!(message(""), "[Step 1] step 1\n\ntests passed\n");
    let long = message(&"界".repeat(80));
    let title = long.lines().next().unwrap();
    assert_eq!(title.chars().count(), 72);
    assert!(title.ends_with('…'), "{title}");
}

fn limited_turn(n: u32, resets_at: Option<UnixMillis>) -> Event {
    Event::TurnEnded {
        turn: TurnId::new(format!("trn_{n}")),
        result: limited(resets_at),
    }
}

fn waits_until(world: &RunSimulation) -> i64 {
    match world.run.state().awaiting.as_ref().map(|asked| &asked.kind) {
        Some(QuestionKind::UsageLimit { until, .. }) => until.0 - AT.0,
        other => panic!("no limit is waited for: {other:?}"),
    }
}

#[test]
fn a_turn_that_a_limit_turned_away_goes_again_by_itself_when_it_is_over() {
    let mut world = RunSimulation::new(Gate::Manual, true, settings(1));
    check(&mut world, &goal(), "REFINE_GOAL | \nWRITE_PLAN | ask gate");
    check(
        &mut world,
        &[
            Event::TurnSendConfirmed,
            limited_turn(1, Some(UnixMillis(60_000))),
            Event::LimitPassed { id: 7 },
            Event::LimitPassed { id: 2 },
        ],
        "WRITE_PLAN | start trn_1: writes the plan\nWRITE_PLAN | ask usage_limit\nWRITE_PLAN | \n\
         WRITE_PLAN | start trn_2: writes the plan",
    );
}

#[test]
fn a_pause_or_a_new_start_keeps_the_turn_that_waited_for_a_limit_at_the_gate() {
    for interruption in [
        Event::GateChanged { gate: Gate::Manual },
        Event::RunResumed { gate: Gate::Manual },
    ] {
        let mut world = RunSimulation::new(Gate::Auto, true, settings(1));
        for event in goal()
            .into_iter()
            .chain([limited_turn(1, None), interruption])
        {
            world.feed(event);
        }
        assert_eq!(waits_until(&world), 5 * 60_000, "the end stays as it was");
        let id = world
            .run
            .state()
            .awaiting
            .as_ref()
            .map_or(0, |asked| asked.id);
        check(
            &mut world,
            &[Event::LimitPassed { id }, Event::TurnSendConfirmed],
            "WRITE_PLAN | ask gate\nWRITE_PLAN | start trn_2: writes the plan",
        );
    }
}

#[test]
fn waits_whose_end_nobody_told_grow_up_to_half_an_hour() {
    let mut world = RunSimulation::planning(1);
    let mut waits = Vec::new();
    for n in 1..=5 {
        // An end that passed some time ago gives no useful time.
        world.feed(limited_turn(n, Some(UnixMillis(AT.0 - 10_000))));
        waits.push(waits_until(&world) / 60_000);
        world.feed(Event::LimitPassed { id: n });
    }
    assert_eq!(waits, [5, 10, 20, 30, 30]);
}

#[test]
fn an_end_that_was_heard_of_too_late_is_waited_for_no_longer_than_needed() {
    for (told, waits) in [(2_000, 3_000), (0, 1_000), (-9_999, 1_000)] {
        let mut world = RunSimulation::planning(1);
        world.feed(limited_turn(1, Some(UnixMillis(AT.0 + told))));
        assert_eq!(waits_until(&world), waits, "{told}");
    }
}

#[test]
fn a_role_that_moves_goes_on_in_a_new_session_at_the_other_adapter_and_back() {
    let mut world = RunSimulation::planning(1);
    let moved = |to: &str, id: &str| Event::SessionMoved {
        role: Role::Planner,
        session: SessionId::new(id),
        adapter: to.to_owned(),
    };
    let switch = |id| Event::QuestionAnswered {
        id,
        answer: QuestionAnswer::SwitchAdapter,
    };
    check(
        &mut world,
        &[
            limited_turn(1, None),
            switch(1),
            moved("claude", "ses_c"),
            moved("claude", "ses_stray"),
        ],
        "WRITE_PLAN | ask usage_limit\nWRITE_PLAN | MoveRole\n\
         WRITE_PLAN | start trn_2: writes the plan\nWRITE_PLAN | ",
    );
    let planner = world.run.state().planner.clone();
    assert_eq!(
        (
            planner.id.as_str(),
            planner.adapter.as_str(),
            planner.moved_from.as_deref()
        ),
        ("ses_c", "claude", Some("codex"))
    );
    assert!(planner.needs_recovery());
    let back = planner.successor_at_adapter(SessionId::new("ses_d"), "codex".to_owned());
    assert_eq!(back.moved_from, None);
}

#[test]
fn a_role_that_cannot_move_is_asked_about_again() {
    let mut world = RunSimulation::planning(1);
    let stayed = Event::SessionStayed {
        role: Role::Planner,
        reason: "it is not there".to_owned(),
    };
    let switch = Event::QuestionAnswered {
        id: 1,
        answer: QuestionAnswer::SwitchAdapter,
    };
    check(
        &mut world,
        &[limited_turn(1, None), switch, stayed],
        "WRITE_PLAN | ask usage_limit\nWRITE_PLAN | MoveRole\nWRITE_PLAN | ask adapter_failed",
    );
}

#[test]
fn changes_asked_for_before_a_crash_are_written_after_it() {
    let world = RunSimulation::approved();
    let terms = world.terms();
    let changes = Event::QuestionAnswered {
        id: 1,
        answer: QuestionAnswer::RequestChanges {
            text: "say more".into(),
        },
    };
    let mut run = world.run.clone();
    run.step(AT, &Event::RepositorySurveyed { terms });
    run.step(AT, &changes);
    let resumed = Event::RunResumed { gate: Gate::Auto };
    let remarks = Effect::AppendRemarks("say more".into());
    assert_eq!(run.step(AT, &resumed).first(), Some(&remarks));
    let file_sha256 = sha("c");
    run.step(AT, &Event::RemarksAppended { file_sha256 });
    assert!(!run.step(AT, &resumed).contains(&remarks));
}

/// Returns what follows a step's turn with this summary and these changes.
fn after_turn(summary: &str, changed: &[&str], then: &[Event]) -> String {
    let mut world = agreed();
    let terms = world.terms();
    world.feed(Event::RepositorySurveyed {
        terms: terms.clone(),
    });
    world.feed(answered(1, QuestionAnswer::Execute));
    world.feed(Event::ExecutionEntered { base: None, terms });
    world.feed(Event::SnapshotTaken {
        step: 1,
        tree: Some("t".to_owned()),
        attempt: 0,
    });
    let running = world.run.state().running.as_ref();
    let turn = running.map(|running| running.order.turn.clone()).unwrap();
    world.feed(Event::TurnEnded {
        turn,
        result: TurnOutcome::completed(summary),
    });
    world.feed(Event::StepAudited(StepAudit {
        step: 1,
        changed: changed.iter().map(|path| (*path).to_owned()).collect(),
        dirty: Vec::new(),
        outside_of_calls: Vec::new(),
        entry_points: Vec::new(),
        held: Vec::new(),
        out_of_scope: Vec::new(),
        tree: None,
    }));
    for event in then {
        world.feed(event.clone());
    }
    let state = world.run.state();
    let question = state.current_question().map(|q| q.kind.describe());
    let done = state.execution.iter().flat_map(|e| &e.done);
    let done = done.map(|r| format!("{} {:?}", r.describe_tests(), r.unproven_reason()));
    question
        .into_iter()
        .chain(done)
        .collect::<Vec<_>>()
        .join(" | ")
}

#[test]
fn a_step_that_changed_nothing_is_done_by_the_users_word_alone() {
    let found = after_turn("It is there.", &[], &[]);
    assert_eq!(
        found,
        "Step 1 changed nothing. Its agent says: It is there."
    );
    let found = after_turn(
        "It is there.",
        &[],
        &[answered(2, QuestionAnswer::AlreadyTrue)],
    );
    assert_eq!(
        found,
        "changed nothing: the user marked it as already done Some(\"changed nothing\")"
    );
    let found = after_turn("It is there.", &[], &[answered(2, skipped())]);
    assert_eq!(
        found,
        "changed nothing: the user skipped it Some(\"was skipped\")"
    );
    assert_eq!(
        after_turn("", &[], &[answered(2, QuestionAnswer::Retry)]),
        ""
    );
}

#[test]
fn a_step_whose_agent_says_that_it_is_blocked_does_not_go_on() {
    for said in ["BLOCKED: no key", "Blocked: no key", "BLOCKED:** no key"] {
        let found = after_turn(said, &[], &[]);
        assert_eq!(found, "Step 1 is blocked, its agent says: no key");
    }
    let found = after_turn("BLOCKED: no key", &["a.rs"], &[]);
    assert_eq!(
        found,
        "Step 1 is blocked, its agent says: no key. It changed 1 file anyway"
    );
    let found = after_turn("BLOCKED: no key", &["a.rs"], &[answered(2, skipped())]);
    assert_eq!(found, "not tested Some(\"was skipped\")");
    // The same word about something else does not count.
    assert_eq!(after_turn("Unblocked: a", &["a.rs"], &[]), "");
}

#[test]
fn a_box_that_somebody_else_ticked_counts_for_nothing() {
    let mut world = agreed();
    let text = &plan_text(1, 1).replace("[ ]", "[x]");
    world.feed(Event::PlanEdited {
        plan: plan::parse(text).ok(),
        approval_sha256: plan::approval_hash(text),
        file_sha256: sha(text),
        source: None,
    });
    let terms = world.terms();
    world.feed(Event::RepositorySurveyed {
        terms: terms.clone(),
    });
    world.feed(answered(1, QuestionAnswer::Execute));
    world.feed(Event::ExecutionEntered { base: None, terms });
    let state = world.run.state();
    assert_eq!(state.phase, Phase::Execute);
    let current = state.execution.as_ref().unwrap().current.as_ref();
    assert_eq!(current.map(|current| current.n), Some(1));
    assert_eq!(state.step_count().done, 0);
}

#[test]
fn a_step_that_was_being_written_down_is_redone_and_not_done_twice() {
    let mut world = agreed();
    let terms = world.terms();
    world.feed(Event::RepositorySurveyed {
        terms: terms.clone(),
    });
    world.feed(answered(1, QuestionAnswer::Execute));
    world.feed(Event::ExecutionEntered { base: None, terms });
    world.feed(Event::SnapshotTaken {
        step: 1,
        tree: Some("t".to_owned()),
        attempt: 0,
    });
    let running = world.run.state().running.as_ref();
    let turn = running.map(|running| running.order.turn.clone()).unwrap();
    world.feed(Event::TurnEnded {
        turn,
        result: TurnOutcome::completed("Wrote."),
    });
    world.feed(looked(Vec::new()));
    world.feed(tests_ran(1, 1));
    world.feed(Event::CommitMade {
        step: 1,
        commit: "c".to_owned(),
        message: "[Step 1] Wrote".to_owned(),
        size: None,
    });
    world.feed(Event::RunResumed { gate: Gate::Auto });
    let question = world.run.state().current_question().cloned().unwrap();
    assert_eq!(question.kind.name(), "step_recovery");
    let effects = world.feed(answered(question.id, QuestionAnswer::RedoStep));
    assert_eq!(effects, [Effect::RestoreTree { step: 1 }]);
    world.feed(Event::TreeRestored { step: 1 });
    let state = world.run.state();
    assert_eq!(state.step_count().done, 0);
    assert!(
        matches!(&state.busy, Some(ProgramOperation::Storing { order }) if order.purpose == TurnPurpose::Step { n: 1 })
    );
}
