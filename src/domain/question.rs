//! Defines everything that waits for the user, with its choices, except approvals of an agent's calls.
//!
//! Answers with the words that choose them are in `question_answer`, the text of a question in `question_text`.

mod agent_question;
mod answer_text;
mod execution_terms;
mod question_answer;
mod question_asker;
mod question_text;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

pub use self::agent_question::{AgentQuestion, AnswerOption, AnswerSelectMode};
pub use self::execution_terms::{CommitTarget, ExecutionTerms, LeftoverFiles};
pub use self::question_answer::{ANSWER_CHOICES, EditFollowUp, QuestionAnswer};
pub use self::question_asker::QuestionAsker;
pub use self::question_text::tests_label;
use super::bound_parts::BindingChange;
use super::findings::evidence::EvidenceCheck;
use super::ids::{RequestId, Sha256, UnixMillis};
use super::phase::Gate;
use super::plan_change::PlanChange;
use super::plan_execution::StepStage;
use super::receipt::MissingSocket;
use super::step_scope::ScopeChange;
use super::turn::{MissingDocumentReason, Role, TurnFailureKind, TurnOrder, TurnPurpose};
use crate::permission::PermissionAction;

/// A question that waits for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Its number within the run, from 1.
    pub id: u32,
    /// What it is about.
    pub kind: QuestionKind,
}

/// What a question is about. In its stored form, the tag of an agent's question depends on its asker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(tag = "about", rename_all = "snake_case", remote = "Self")]
#[strum(serialize_all = "snake_case")]
pub enum QuestionKind {
    /// Whether the next turn may start.
    Gate {
        order: TurnOrder,
    },
    /// The review loop does not end by itself.
    Arbitration {
        /// Why it was stopped.
        reason: ArbitrationReason,
        /// How many findings are open.
        open: usize,
    },
    /// Reviewer and planner do not agree on a finding.
    Dispute {
        n: u32,
    },
    /// The user edits by hand; the loop waits until that is done.
    ManualEdit,
    /// The plan is not the one that was reviewed.
    StalePlan {
        /// The hash that was reviewed.
        reviewed: Sha256,
        /// The hash of the text on disk.
        now: Sha256,
        /// Why it cannot be accepted: a step that has ended is another one in it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<String>,
        /// Which steps the approval of the execution no longer covers; `None` where nothing is executed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        change: Option<Box<PlanChange>>,
    },
    /// Whether to execute the approved plan.
    Execute {
        /// What the user approves with it.
        terms: ExecutionTerms,
    },
    /// A turn produced no document, twice.
    NoDocument {
        /// What the turn was for.
        purpose: TurnPurpose,
        reason: MissingDocumentReason,
    },
    /// An agent asks something.
    #[serde(alias = "child")]
    #[strum(serialize = "question")]
    Agent {
        /// The request at its CLI, where it waits for the answer; `None` when the question was in its last text.
        request: Option<RequestId>,
        /// The questions with their offered answers.
        questions: Vec<AgentQuestion>,
        #[serde(flatten)]
        asker: QuestionAsker,
    },
    /// A turn failed, and automatic retries did not help.
    AdapterFailed {
        /// What the turn was for.
        purpose: TurnPurpose,
        kind: TurnFailureKind,
        /// What the CLI said.
        message: String,
        /// The other adapter to which the role could move.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        other: Option<String>,
    },
    /// A CLI's plan is used up; the turn is retried automatically after the wait.
    UsageLimit {
        /// What the turn was for.
        purpose: TurnPurpose,
        /// The adapter with that plan, by its name in the configuration.
        adapter: String,
        /// What the CLI said.
        message: String,
        /// When the turn is tried again.
        until: UnixMillis,
        /// Where that instant comes from.
        from: WaitSource,
        /// Who releases the turn then: auto while the run continues, the run's gate once it was resumed.
        then: Gate,
        /// The other adapter to which the role could move.
        other: Option<String>,
    },
    /// A workflow file changed while a turn wrote it too.
    Conflict {
        document: String,
        /// What the turn was for.
        purpose: TurnPurpose,
        /// Why a merge is incomplete, once one was tried.
        #[serde(default)]
        clash: Option<MergeConflict>,
    },
    /// A turn that the program's end cut off left a changed document in its folder.
    Draft {
        order: TurnOrder,
        files: Vec<DraftFile>,
    },
    /// Files contain more than a step's own changes: what goes into its commit?
    DirtyFiles {
        step: u32,
        paths: Vec<String>,
        /// Where the other changes come from.
        #[serde(default)]
        origin: FileOrigin,
    },
    /// What the approval is bound to changed, before a step's turn or its tests.
    ApprovalChanged {
        step: u32,
        changes: Vec<BindingChange>,
        /// The turn that waits; `None` where the step's tests do.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        order: Option<TurnOrder>,
    },
    /// A step changed something that the program would run.
    EntryPoints {
        step: u32,
        changes: Vec<EntryPoint>,
    },
    /// A step changed files that path rules hold back.
    HeldEdits {
        step: u32,
        edits: Vec<HeldEdit>,
    },
    /// A step changed files that its plan does not name.
    OutOfScope {
        step: u32,
        changes: Vec<ScopeChange>,
    },
    /// A step's turn is over, and nothing changed.
    NothingChanged {
        step: u32,
        /// The first line of its agent's last message.
        said: String,
        /// What the program found where its agent says that the step was already true; empty where it did not look.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        found: String,
    },
    /// A step's agent says that it cannot do the step.
    Blocked {
        step: u32,
        /// The obstacle, as the agent describes it.
        said: String,
        /// What the program found of what it quotes; `None` in runs of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        check: Option<EvidenceCheck>,
        /// How many files it changed anyway.
        n_changed: usize,
    },
    /// The tests of a step fail after all fix turns.
    TestsFailed {
        step: u32,
        /// The test result, as text.
        found: String,
    },
    /// The tests of a step do not fail, but may not have tested what they tested before.
    TestsInDoubt {
        step: u32,
        /// The test result, with the numbers before and now.
        found: String,
    },
    /// The program did not see what the plan promises as the proof of a step.
    Unproven {
        step: u32,
        /// What is missing, as text.
        found: String,
    },
    /// The program that runs the tests is missing, as the test run before the first step found.
    RunnerMissing {
        /// The test result, as text.
        found: String,
    },
    /// Tests fail before the first step, and the plan does not say that its steps fix all of them.
    RedBaseline {
        /// The test result with the names of the failing tests, as text.
        found: String,
    },
    /// The tests of a step fail because they need a network, and the user has not decided yet whether they get the
    /// machine's.
    TestNetwork {
        /// The step; 0 before the first.
        step: u32,
        /// The line of the output that shows it.
        line: String,
    },
    /// The tests of a step fail because they need a socket that is hidden from them, and the user has not decided yet
    /// whether they may reach it.
    TestSocket {
        step: u32,
        /// The socket, and the line of the output that shows it.
        lacked: MissingSocket,
    },
    CommitFailed {
        step: u32,
        message: String,
    },
    /// The program ended in the middle of a step.
    StepRecovery {
        step: u32,
        stage: StepStage,
    },
    /// The execution could not be entered.
    CannotExecute {
        reason: String,
    },
}

/// Where changes come from that are not only a step's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileOrigin {
    /// The files contained uncommitted changes before the step edited them.
    #[default]
    UsersBefore,
    /// The step's tests change them each time they run.
    WrittenByTests,
    /// They changed while the step ran, and no call of its agent accounts for it.
    OutsideOfCalls,
}

/// An incomplete merge of the user's text and the agent's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeConflict {
    /// The file in which the user completes it by hand, below the repository.
    pub file: String,
    /// What is wrong with it, as text.
    pub why: String,
}

/// A document that a cut-off turn left, in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftFile {
    pub name: String,
    /// How many lines it has.
    pub n_lines: usize,
    /// How many of them are not in the document that the turn started with.
    pub n_added: usize,
    /// How many lines of that document it lacks.
    pub n_removed: usize,
}

/// Why the review loop was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArbitrationReason {
    /// The maximum number of iterations is reached.
    Cap,
    /// No finding was settled for `stall_limit` iterations.
    Stall,
    /// The reviewer approves the plan despite an open blocking or major finding.
    ApprovedBeside,
    /// The reviewer says nothing of open blocking or major findings, also after it was asked.
    LeftOut,
    /// The reviewer calls open blocking or major findings fixed and quotes nothing that changed, also after it was
    /// asked.
    UnprovenFix,
    /// The reviewer requires changes, and nothing holds the plan up, also after it was asked.
    NothingHolds,
    /// Fixes go back to an earlier text, or each one raises a new finding on the text that it changed.
    Circle,
    /// The plan is approved, and a blocking finding that came too late to hold it up is true.
    ResidualBlocker,
}

/// Where the end of a wait comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitSource {
    /// The CLI reported it.
    Cli,
    /// It is not known: the waits grow from one to the next.
    Us,
}

/// Something that the program would run and that a step changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryPoint {
    pub path: String,
    /// What it may run.
    pub why: String,
    /// The hash of its current content; after the step a permission is bound to it.
    pub content: Option<String>,
}

/// A change of a step that a path rule holds back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldEdit {
    pub path: String,
    /// `Ask` or `Deny`.
    pub hold: PermissionAction,
    /// What the rule says, and where it is written.
    pub why: String,
    /// The hash of its current content; keeping the change is bound to it. `None` where the file is gone.
    pub content: Option<String>,
}

/// The network of a repository's tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestNetworkChoice {
    Host,
    /// A loopback interface of their own.
    Loopback,
}

impl QuestionKind {
    /// Makes the question that a role's agent asked with the last text of its turn.
    pub fn from_last_text(text: String, purpose: TurnPurpose) -> Self {
        Self::Agent {
            request: None,
            questions: vec![AgentQuestion::from_labels(text, Vec::new())],
            asker: QuestionAsker::Role { purpose },
        }
    }

    /// Returns the role whose turn [`QuestionAnswer::Retry`] starts again; `None` where it starts no turn.
    pub fn retried_role(&self) -> Option<Role> {
        match self {
            Self::AdapterFailed { purpose, .. } | Self::NoDocument { purpose, .. } => {
                Some(purpose.role())
            }
            Self::NothingChanged { step, .. }
            | Self::Blocked { step, .. }
            | Self::TestsFailed { step, .. }
            | Self::TestsInDoubt { step, .. }
            | Self::Unproven { step, .. } => Some(TurnPurpose::Step { n: *step }.role()),
            Self::Gate { .. }
            | Self::Dispute { .. }
            | Self::Arbitration { .. }
            | Self::ManualEdit
            | Self::StalePlan { .. }
            | Self::Execute { .. }
            | Self::Agent { .. }
            | Self::UsageLimit { .. }
            | Self::Conflict { .. }
            | Self::Draft { .. }
            | Self::DirtyFiles { .. }
            | Self::ApprovalChanged { .. }
            | Self::EntryPoints { .. }
            | Self::HeldEdits { .. }
            | Self::OutOfScope { .. }
            | Self::RunnerMissing { .. }
            | Self::RedBaseline { .. }
            | Self::TestNetwork { .. }
            | Self::TestSocket { .. }
            | Self::CommitFailed { .. }
            | Self::StepRecovery { .. }
            | Self::CannotExecute { .. } => None,
        }
    }

    /// Returns whose agent asks; `None` where no agent does.
    pub fn asker(&self) -> Option<&QuestionAsker> {
        match self {
            Self::Agent { asker, .. } => Some(asker),
            _ => None,
        }
    }

    /// Returns whether the agent of a child session asks.
    pub fn is_from_child(&self) -> bool {
        matches!(self.asker(), Some(QuestionAsker::Child { .. }))
    }

    /// Returns the role whose agent asks; `None` where no agent of a role does.
    pub fn asking_role(&self) -> Option<Role> {
        match self.asker()? {
            QuestionAsker::Role { purpose } => Some(purpose.role()),
            QuestionAsker::Child { .. } => None,
        }
    }

    /// Returns the kind's name, used in events, in messages and for `--answer KIND=CHOICE`.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// Returns the request for which a CLI waits, where one does.
    pub fn request_id(&self) -> Option<&RequestId> {
        match self {
            Self::Agent { request, .. } => request.as_ref(),
            _ => None,
        }
    }

    /// Returns what an agent asks, with the answers that it offers; empty where no agent asks.
    pub fn agent_questions(&self) -> &[AgentQuestion] {
        match self {
            Self::Agent { questions, .. } => questions,
            _ => &[],
        }
    }

    /// Returns whether a review of the plan ends with it.
    pub fn is_about_review(&self) -> bool {
        matches!(self, Self::Arbitration { .. } | Self::Dispute { .. })
    }
}
