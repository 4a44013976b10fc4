//! Defines everything that waits for the user, with its choices, except approvals of an agent's calls.

mod agent_question;
mod answer_text;
mod question_asker;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

pub use self::agent_question::{AgentQuestion, AnswerOption, AnswerSelectMode};
pub use self::question_asker::QuestionAsker;
use super::bound_parts::{ApprovalBinding, BindingChange, describe_binding_changes};
use super::findings::DisputeSide;
use super::findings::evidence::EvidenceCheck;
use super::ids::{RequestId, Sha256, UnixMillis};
use super::phase::Gate;
use super::plan_execution::StepStage;
use super::receipt::MissingSocket;
use super::step_scope::ScopeChange;
use super::test_command::TestCommand;
use super::turn::{Role, TurnFailureKind, TurnOrder, TurnPurpose};
use crate::permission::PermissionAction;
use crate::text::{clean_text, clean_to_one_line, pluralize};

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
        /// Its number.
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
        reason: String,
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

/// What the user approves with an execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionTerms {
    /// The hash of the plan.
    pub plan: Sha256,
    /// The test command and where it comes from; `None` means that nothing will be tested.
    pub test: Option<TestCommand>,
    /// The command that does not run, where the plan names another one than was configured or detected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_test: Option<TestCommand>,
    pub commits: CommitTarget,
    /// The uncommitted files at this moment.
    pub dirty: Vec<String>,
    /// Those of them that are not the user's, where there are some.
    #[serde(default)]
    pub left: Option<LeftoverFiles>,
    /// What the approval is bound to besides the plan and the test command; `None` where steps are not proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<ApprovalBinding>,
}

impl ExecutionTerms {
    /// Returns whether the test command is the plan's, so that an agent chose it.
    pub fn runs_plan_test(&self) -> bool {
        self.test.as_ref().is_some_and(TestCommand::is_from_plan)
    }

    /// Returns the same terms with the other test command.
    #[must_use]
    pub fn with_other_test(self) -> Self {
        Self {
            test: self.other_test,
            other_test: self.test,
            ..self
        }
    }
}

/// Files that an agent changed in a step that was stopped before they were committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftoverFiles {
    /// The step, of the plan at that time.
    pub step: u32,
    /// The files that are still uncommitted; at least one.
    pub files: Vec<String>,
}

impl LeftoverFiles {
    /// Splits paths into the user's own and those that the step left.
    pub fn partition_paths<'a>(
        left: Option<&Self>,
        paths: &'a [String],
    ) -> (Vec<&'a String>, Vec<&'a String>) {
        paths
            .iter()
            .partition(|path| left.is_none_or(|left| !left.files.contains(path)))
    }
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

/// Where commits go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "commits", rename_all = "snake_case")]
pub enum CommitTarget {
    /// No git repository: commits are off.
    Off { reason: String },
    /// On the branch that is checked out.
    Current { branch: String },
    /// On a new branch.
    New { branch: String },
}

/// The network of a repository's tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestNetworkChoice {
    Host,
    /// A loopback interface of their own.
    Loopback,
}

/// An answer to a question. [`QuestionKind::accepts`] says which answers fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum QuestionAnswer {
    /// The plan passes as it is.
    ForcePass,
    MoreIterations {
        /// How many, at least 1.
        n: u32,
    },
    /// One side of a dispute is right.
    DecideDispute {
        side: DisputeSide,
    },
    /// The user edits by hand.
    EditByHand,
    /// The run is cancelled.
    CancelRun,
    /// The user is done editing.
    Edited {
        /// What follows the edit.
        then: EditFollowUp,
        /// The plan as it is now.
        plan: super::plan::Plan,
        /// The hash of its file.
        file_sha256: Sha256,
    },
    /// The changed plan is reviewed again.
    ReviewAgain,
    /// The plan is accepted as it is.
    AcceptAsIs,
    /// The plan is executed under the shown terms.
    Execute,
    /// The same, approved by a flag before anybody saw the plan: it approves no waiver.
    ExecuteByFlag,
    /// The other test command is used; the user is asked again.
    SwitchTest,
    /// The plan is changed first.
    RequestChanges {
        /// What the user wants.
        text: String,
    },
    Retry,
    /// Try again in a new session.
    NewSession,
    /// The run waits, and the turn starts by itself after the wait.
    Wait,
    /// Try again with the other adapter; the role stays there.
    SwitchAdapter,
    /// The run goes back to the goal.
    Stop,
    /// Answers to an agent's questions, by question.
    Texts {
        /// Each question's text with its answer.
        answers: BTreeMap<String, String>,
    },
    /// The agent's question stays unanswered; the agent decides.
    Dismiss,
    /// The agent's text replaces the user's.
    Overwrite,
    /// Both texts are merged; where they conflict, the user edits the merge.
    Merge,
    /// The agent's text is discarded.
    Discard,
    /// What the cut-off turn left counts as its document.
    UseDraft,
    /// The user's uncommitted changes go into the step's commit.
    Include,
    /// The files are left out of the step's commit.
    LeaveOut,
    /// The step's changes are allowed.
    Allow,
    /// The changes that rules hold back are kept as they are now.
    Keep,
    /// The files that rules hold back are restored to their state before the step.
    PutBack,
    /// The step continues without tests.
    SkipTests,
    /// What the step asks for was already there.
    AlreadyTrue,
    /// The step is not done; the run continues with the next one.
    SkipStep {
        /// Why; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// The user's words are added to the step, and it is tried again.
    AmendStep {
        text: String,
    },
    /// The planner plans the step again; the finished steps stay.
    ReplanStep {
        /// What the planner is told beside what stands in the way; may be empty.
        text: String,
    },
    /// The step counts without the proof that is missing.
    WaiveProof {
        /// Why, in the user's words.
        reason: String,
    },
    /// The repository's tests get the machine's network, from now on.
    HostNetwork,
    /// They keep a loopback interface of their own, from now on.
    LoopbackNetwork,
    /// The repository's tests may reach the socket, from now on.
    ReachSocket,
    /// The socket stays hidden from them, from now on.
    HideSocket,
    /// The run continues without this commit.
    WithoutCommit,
    /// The cut-off step continues from the current state.
    ContinueStep,
    /// The current state is the step's change; it is tested and committed.
    TreatAsDone,
    /// The tree is restored to its state before the step, and the step starts again.
    RedoStep,
}

/// What follows an edit by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditFollowUp {
    Review,
    Accept,
}

/// The kinds that `--answer KIND=CHOICE` can answer, with the words of each choice.
pub const ANSWER_CHOICES: &[(&str, &[&str])] = &[
    ("arbitration", &["pass", "more:N", "edit", "cancel"]),
    ("dispute", &["reviewer", "planner", "edit", "cancel"]),
    ("stale_plan", &["review", "accept", "stop", "cancel"]),
    (
        "execute",
        &["yes", "switch-test", "changes:TEXT", "stop", "cancel"],
    ),
    ("no_document", &["retry", "stop", "cancel"]),
    ("question", &["dismiss", "TEXT"]),
    (
        "adapter_failed",
        &["retry", "new-session", "switch", "stop", "cancel"],
    ),
    (
        "usage_limit",
        &["wait", "retry", "switch", "stop", "cancel"],
    ),
    ("conflict", &["overwrite", "merge", "discard", "cancel"]),
    ("draft", &["use", "discard", "cancel"]),
    ("dirty_files", &["include", "leave-out", "cancel"]),
    ("approval_changed", &["accept", "retry", "stop", "cancel"]),
    ("entry_points", &["allow", "stop", "cancel"]),
    ("held_edits", &["keep", "put-back", "stop", "cancel"]),
    ("out_of_scope", &["allow", "put-back", "stop", "cancel"]),
    (
        "nothing_changed",
        &[
            "already-true",
            "blocked",
            "retry",
            "amend:TEXT",
            "replan",
            "replan:TEXT",
            "skip",
            "skip:TEXT",
            "cancel",
        ],
    ),
    (
        "blocked",
        &[
            "retry",
            "amend:TEXT",
            "replan",
            "replan:TEXT",
            "skip",
            "skip:TEXT",
            "stop",
            "cancel",
        ],
    ),
    (
        "tests_failed",
        &["retry", "skip", "accept", "stop", "cancel"],
    ),
    (
        "tests_in_doubt",
        &["retry", "skip", "accept", "stop", "cancel"],
    ),
    (
        "unproven",
        &[
            "retry",
            "waive:TEXT",
            "replan",
            "replan:TEXT",
            "stop",
            "cancel",
        ],
    ),
    ("runner_missing", &["retry", "accept", "stop", "cancel"]),
    ("test_network", &["host", "loopback", "stop", "cancel"]),
    ("test_socket", &["reach", "hide", "stop", "cancel"]),
    (
        "step_recovery",
        &["continue", "done", "redo", "stop", "cancel"],
    ),
    ("commit_failed", &["retry", "go-on", "stop", "cancel"]),
    ("cannot_execute", &["retry", "stop", "cancel"]),
];

impl QuestionKind {
    /// Makes the question that a role's agent asked with the last text of its turn.
    pub fn from_last_text(text: String, purpose: TurnPurpose) -> Self {
        Self::Agent {
            request: None,
            questions: vec![AgentQuestion::from_labels(text, Vec::new())],
            asker: QuestionAsker::Role { purpose },
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

    /// Returns the words for its answers, in the order in which they are offered.
    pub fn choices(&self) -> &'static [&'static str] {
        let name = self.name();
        ANSWER_CHOICES
            .iter()
            .find(|(kind, _)| *kind == name)
            .map_or(&[], |(_, choices)| choices)
    }

    /// Returns whether an answer fits this question.
    #[expect(
        clippy::too_many_lines,
        reason = "a table: each question with the answers that fit it"
    )]
    pub fn accepts(&self, answer: &QuestionAnswer) -> bool {
        if matches!(answer, QuestionAnswer::CancelRun) {
            return !self.is_from_child();
        }
        match self {
            Self::Gate { .. } => false,
            Self::Arbitration { .. } => match answer {
                QuestionAnswer::ForcePass | QuestionAnswer::EditByHand => true,
                QuestionAnswer::MoreIterations { n } => *n >= 1,
                _ => false,
            },
            Self::Dispute { .. } => matches!(
                answer,
                QuestionAnswer::DecideDispute { .. } | QuestionAnswer::EditByHand
            ),
            Self::ManualEdit => matches!(answer, QuestionAnswer::Edited { .. }),
            Self::StalePlan { .. } => {
                matches!(
                    answer,
                    QuestionAnswer::ReviewAgain | QuestionAnswer::AcceptAsIs | QuestionAnswer::Stop
                )
            }
            Self::Execute { terms } => match answer {
                QuestionAnswer::Execute
                | QuestionAnswer::ExecuteByFlag
                | QuestionAnswer::RequestChanges { .. }
                | QuestionAnswer::Stop => true,
                QuestionAnswer::SwitchTest => terms.other_test.is_some(),
                _ => false,
            },
            Self::NoDocument { .. } | Self::CannotExecute { .. } => {
                matches!(answer, QuestionAnswer::Retry | QuestionAnswer::Stop)
            }
            Self::Agent { .. } => {
                matches!(
                    answer,
                    QuestionAnswer::Texts { .. } | QuestionAnswer::Dismiss
                )
            }
            Self::AdapterFailed { other, .. } => {
                matches!(answer, QuestionAnswer::NewSession)
                    || fits_adapter_failure(answer, other.is_some())
            }
            Self::UsageLimit { other, .. } => {
                matches!(answer, QuestionAnswer::Wait)
                    || fits_adapter_failure(answer, other.is_some())
            }
            Self::Conflict { .. } => {
                matches!(
                    answer,
                    QuestionAnswer::Overwrite | QuestionAnswer::Merge | QuestionAnswer::Discard
                )
            }
            Self::Draft { .. } => {
                matches!(answer, QuestionAnswer::UseDraft | QuestionAnswer::Discard)
            }
            Self::DirtyFiles { .. } => {
                matches!(answer, QuestionAnswer::Include | QuestionAnswer::LeaveOut)
            }
            Self::ApprovalChanged { .. } => matches!(
                answer,
                QuestionAnswer::AcceptAsIs | QuestionAnswer::Retry | QuestionAnswer::Stop
            ),
            Self::EntryPoints { .. } => {
                matches!(answer, QuestionAnswer::Allow | QuestionAnswer::Stop)
            }
            Self::HeldEdits { .. } => {
                matches!(
                    answer,
                    QuestionAnswer::Keep | QuestionAnswer::PutBack | QuestionAnswer::Stop
                )
            }
            Self::OutOfScope { .. } => {
                matches!(
                    answer,
                    QuestionAnswer::Allow | QuestionAnswer::PutBack | QuestionAnswer::Stop
                )
            }
            Self::NothingChanged { .. } => matches!(
                answer,
                QuestionAnswer::AlreadyTrue
                    | QuestionAnswer::Retry
                    | QuestionAnswer::AmendStep { .. }
                    | QuestionAnswer::ReplanStep { .. }
                    | QuestionAnswer::SkipStep { .. }
                    | QuestionAnswer::Stop
            ),
            Self::Blocked { .. } => matches!(
                answer,
                QuestionAnswer::Retry
                    | QuestionAnswer::AmendStep { .. }
                    | QuestionAnswer::ReplanStep { .. }
                    | QuestionAnswer::SkipStep { .. }
                    | QuestionAnswer::Stop
            ),
            Self::TestsFailed { .. } | Self::TestsInDoubt { .. } => matches!(
                answer,
                QuestionAnswer::Retry
                    | QuestionAnswer::SkipTests
                    | QuestionAnswer::AcceptAsIs
                    | QuestionAnswer::Stop
            ),
            Self::Unproven { .. } => matches!(
                answer,
                QuestionAnswer::Retry
                    | QuestionAnswer::WaiveProof { .. }
                    | QuestionAnswer::ReplanStep { .. }
                    | QuestionAnswer::Stop
            ),
            Self::RunnerMissing { .. } => {
                matches!(
                    answer,
                    QuestionAnswer::Retry | QuestionAnswer::AcceptAsIs | QuestionAnswer::Stop
                )
            }
            Self::TestNetwork { .. } => matches!(
                answer,
                QuestionAnswer::HostNetwork
                    | QuestionAnswer::LoopbackNetwork
                    | QuestionAnswer::Stop
            ),
            Self::TestSocket { .. } => matches!(
                answer,
                QuestionAnswer::ReachSocket | QuestionAnswer::HideSocket | QuestionAnswer::Stop
            ),
            Self::CommitFailed { .. } => {
                matches!(
                    answer,
                    QuestionAnswer::Retry | QuestionAnswer::WithoutCommit | QuestionAnswer::Stop
                )
            }
            Self::StepRecovery { .. } => matches!(
                answer,
                QuestionAnswer::ContinueStep
                    | QuestionAnswer::TreatAsDone
                    | QuestionAnswer::RedoStep
                    | QuestionAnswer::Stop
            ),
        }
    }

    /// Parses the word that chooses an answer, as typed after `--answer KIND=`.
    pub fn parse_answer(&self, word: &str) -> Option<QuestionAnswer> {
        let answer = match (self, word) {
            (_, "cancel") => QuestionAnswer::CancelRun,
            (Self::Agent { .. }, "dismiss") => QuestionAnswer::Dismiss,
            (Self::Agent { questions, .. }, text) => QuestionAnswer::Texts {
                answers: questions
                    .iter()
                    .map(|asked| (asked.text.clone(), text.to_owned()))
                    .collect(),
            },
            (_, "pass") => QuestionAnswer::ForcePass,
            (_, "edit") => QuestionAnswer::EditByHand,
            (_, "reviewer") => QuestionAnswer::DecideDispute {
                side: DisputeSide::Reviewer,
            },
            (_, "planner") => QuestionAnswer::DecideDispute {
                side: DisputeSide::Planner,
            },
            (_, "review") => QuestionAnswer::ReviewAgain,
            (_, "accept") => QuestionAnswer::AcceptAsIs,
            (_, "yes") => QuestionAnswer::Execute,
            (_, "switch-test") => QuestionAnswer::SwitchTest,
            (_, "retry") => QuestionAnswer::Retry,
            (_, "new-session") => QuestionAnswer::NewSession,
            (_, "wait") => QuestionAnswer::Wait,
            (_, "switch") => QuestionAnswer::SwitchAdapter,
            (_, "stop") => QuestionAnswer::Stop,
            (_, "overwrite") => QuestionAnswer::Overwrite,
            (_, "merge") => QuestionAnswer::Merge,
            (_, "discard") => QuestionAnswer::Discard,
            (_, "use") => QuestionAnswer::UseDraft,
            (_, "include") => QuestionAnswer::Include,
            (_, "leave-out") => QuestionAnswer::LeaveOut,
            (_, "allow") => QuestionAnswer::Allow,
            (_, "keep") => QuestionAnswer::Keep,
            (_, "put-back") => QuestionAnswer::PutBack,
            (Self::NothingChanged { .. } | Self::Blocked { .. } | Self::Unproven { .. }, word)
                if word.starts_with("skip") || word.starts_with("replan") =>
            {
                parse_answer_about_step(word)?
            }
            (_, "skip") => QuestionAnswer::SkipTests,
            (_, "already-true") => QuestionAnswer::AlreadyTrue,
            (Self::NothingChanged { .. }, "blocked") => QuestionAnswer::Stop,
            (_, "host") => QuestionAnswer::HostNetwork,
            (_, "loopback") => QuestionAnswer::LoopbackNetwork,
            (_, "reach") => QuestionAnswer::ReachSocket,
            (_, "hide") => QuestionAnswer::HideSocket,
            (_, "go-on") => QuestionAnswer::WithoutCommit,
            (_, "continue") => QuestionAnswer::ContinueStep,
            (_, "done") => QuestionAnswer::TreatAsDone,
            (_, "redo") => QuestionAnswer::RedoStep,
            (_, other) => parse_answer_with_argument(other)?,
        };
        self.accepts(&answer).then_some(answer)
    }

    /// Describes the question in one or a few lines, cleaned.
    pub fn describe(&self) -> String {
        clean_text(&self.describe_uncleaned())
    }

    /// Returns whether a review of the plan ends with it.
    pub fn is_about_review(&self) -> bool {
        matches!(self, Self::Arbitration { .. } | Self::Dispute { .. })
    }

    #[expect(clippy::too_many_lines, reason = "one arm a kind: a list to read")]
    fn describe_uncleaned(&self) -> String {
        match self {
            Self::Gate { order } => {
                format!(
                    "The next turn waits: the {} {}",
                    order.purpose.role().name(),
                    order.purpose.describe()
                )
            }
            Self::Arbitration { reason, open } => {
                let open = pluralize(*open, "finding");
                match reason {
                    ArbitrationReason::Cap => format!("Review limit reached, {open} open"),
                    ArbitrationReason::Stall => {
                        format!("The review makes no progress, {open} open")
                    }
                    ArbitrationReason::ApprovedBeside => {
                        format!("The reviewer approved the plan with {open} open")
                    }
                    ArbitrationReason::LeftOut => {
                        format!("The review leaves out findings that hold the plan up, {open} open")
                    }
                    ArbitrationReason::UnprovenFix => format!(
                        "The review calls findings fixed and quotes nothing that changed, {open} open"
                    ),
                    ArbitrationReason::NothingHolds => {
                        "The reviewer requires changes, but nothing holds the plan up".to_owned()
                    }
                    ArbitrationReason::Circle => {
                        format!("The review goes in a circle, {open} open")
                    }
                    ArbitrationReason::ResidualBlocker => {
                        "The plan is approved, but a blocking finding that came late is true"
                            .to_owned()
                    }
                }
            }
            Self::Dispute { n } => {
                format!("Reviewer and planner do not agree on finding {n}")
            }
            Self::ManualEdit => "The plan is being edited by hand".to_owned(),
            Self::StalePlan { fault, .. } => {
                let fault = fault.iter().map(|fault| format!(": {fault}"));
                format!(
                    "The plan changed after its review{}",
                    fault.collect::<String>()
                )
            }
            Self::Execute { terms } => terms.describe(),
            Self::NoDocument { reason, .. } => format!("The turn returned no document: {reason}"),
            Self::Agent {
                questions, asker, ..
            } => {
                let who = match asker {
                    QuestionAsker::Role { .. } => "The agent",
                    QuestionAsker::Child { path, .. } => path,
                };
                let texts: Vec<&str> = questions.iter().map(|asked| asked.text.as_str()).collect();
                format!("{who} asks: {}", texts.join(" / "))
            }
            Self::AdapterFailed { kind, message, .. } => {
                format!("The turn failed ({kind}): {message}")
            }
            Self::UsageLimit {
                purpose,
                adapter,
                message,
                until,
                ..
            } => format!(
                "The {} waits for the {adapter} usage limit until {}: {message}",
                purpose.role().name(),
                until.to_utc_hour_minute()
            ),
            Self::Conflict {
                document, clash, ..
            } => describe_conflict(document, clash.as_ref()),
            Self::Draft { files, .. } => {
                let files: Vec<String> = files.iter().map(DraftFile::describe).collect();
                format!(
                    "The interrupted turn left a draft of {}",
                    files.join(" and of ")
                )
            }
            Self::DirtyFiles {
                step,
                paths,
                origin,
            } => {
                let paths: Vec<String> = paths.iter().map(|path| clean_to_one_line(path)).collect();
                origin.describe_question(*step, &paths.join(", "))
            }
            Self::ApprovalChanged { step, changes, .. } => format!(
                "Before step {step}: what you approved has changed: {}",
                describe_binding_changes(changes)
            ),
            Self::EntryPoints { step, changes } => {
                let list: Vec<String> = changes
                    .iter()
                    .map(|c| {
                        format!(
                            "{} ({})",
                            clean_to_one_line(&c.path),
                            clean_to_one_line(&c.why)
                        )
                    })
                    .collect();
                format!(
                    "Step {step} changed files that this program runs: {}",
                    list.join(", ")
                )
            }
            Self::HeldEdits { step, edits } => {
                let list: Vec<String> = edits
                    .iter()
                    .map(|edit| {
                        format!(
                            "{} ({})",
                            clean_to_one_line(&edit.path),
                            clean_to_one_line(&edit.why)
                        )
                    })
                    .collect();
                format!(
                    "Step {step} changed files that your rules protect: {}",
                    list.join(", ")
                )
            }
            Self::OutOfScope { step, changes } => {
                let list: Vec<String> = changes
                    .iter()
                    .map(|change| {
                        let mark = if change.is_deleted { " (deleted)" } else { "" };
                        format!("{}{mark}", clean_to_one_line(&change.path))
                    })
                    .collect();
                format!(
                    "Step {step} changed files that its plan does not name: {}",
                    list.join(", ")
                )
            }
            Self::NothingChanged { step, said, found } => {
                let said = clean_to_one_line(said);
                let said = if said.is_empty() {
                    String::new()
                } else {
                    format!(". Its agent says: {said}")
                };
                let found = clean_to_one_line(found);
                let found = match found.as_str() {
                    "" => found,
                    found => format!(". Not seen by the baseline: {found}"),
                };
                format!("Step {step} changed nothing{said}{found}")
            }
            Self::Blocked {
                step,
                said,
                check,
                n_changed,
            } => {
                let check = check.as_ref().and_then(EvidenceCheck::describe);
                let check = check.map_or(String::new(), |check| format!(" ({check})"));
                let left = match n_changed {
                    0 => String::new(),
                    n => format!(". It changed {} anyway", pluralize(*n, "file")),
                };
                format!(
                    "Step {step} is blocked, its agent says: {}{check}{left}",
                    clean_to_one_line(said)
                )
            }
            Self::TestsFailed { step, found } | Self::TestsInDoubt { step, found } => {
                format!("Step {step}: {found}")
            }
            Self::Unproven { step, found } => {
                format!("Step {step} is not proven: {}", clean_to_one_line(found))
            }
            Self::RunnerMissing { found } => format!("Before step 1: {found}"),
            Self::TestNetwork { step, line } => format!(
                "{} fail without the machine's network: {}",
                tests_label(*step),
                clean_to_one_line(line)
            ),
            Self::TestSocket { step, lacked } => format!(
                "{} fail without {}, which is hidden from them: {}",
                tests_label(*step),
                lacked.path,
                clean_to_one_line(&lacked.line)
            ),
            Self::CommitFailed { step, message } => {
                format!("The commit of step {step} failed: {message}")
            }
            Self::CannotExecute { reason } => format!("The plan cannot run: {reason}"),
            Self::StepRecovery { step, stage } => {
                format!("Step {step} was cut off ({})", stage.describe())
            }
        }
    }
}

impl FileOrigin {
    /// Describes the question about these files.
    fn describe_question(self, step: u32, paths: &str) -> String {
        match self {
            Self::UsersBefore => {
                format!("Step {step} edited files with uncommitted changes: {paths}")
            }
            Self::WrittenByTests => format!(
                "The tests of step {step} change files each time they run, so the present files are not what \
                was tested (leave-out commits what was tested, include what they wrote): {paths}"
            ),
            Self::OutsideOfCalls => format!(
                "Files changed during step {step}, apparently not by its agent (leave-out keeps them out of \
                the step and its undo): {paths}"
            ),
        }
    }
}

impl DraftFile {
    /// Describes the document and how much of it is new.
    pub fn describe(&self) -> String {
        format!(
            "{}, {}, differs by +{} −{}",
            self.name,
            pluralize(self.n_lines, "line"),
            self.n_added,
            self.n_removed
        )
    }
}

fn describe_conflict(document: &str, clash: Option<&MergeConflict>) -> String {
    match clash {
        None => format!("{document} was edited while a turn was writing it"),
        Some(MergeConflict { file, why }) => format!(
            "{document} was edited while a turn was writing it, and the merge is not finished: {why}. Fix it \
            in {file} and merge again"
        ),
    }
}

impl ExecutionTerms {
    /// Describes the test command, and which other one was available.
    pub fn describe_test(&self) -> String {
        let Some(test) = &self.test else {
            return "No test command found, so nothing is tested".to_owned();
        };
        let other = self.other_test.as_ref();
        let other = other.map_or(String::new(), |other| {
            format!(", not with {}", other.describe())
        });
        format!("Tested with {}{other}", test.describe())
    }

    /// Describes the terms, line by line.
    fn describe(&self) -> String {
        let test = self.describe_test();
        let commits = match &self.commits {
            CommitTarget::Off { reason } => format!("No commits: {reason}"),
            CommitTarget::Current { branch } => format!("Commits go to {branch}"),
            CommitTarget::New { branch } => format!("Commits go to the new branch {branch}"),
        };
        let (yours, left) = LeftoverFiles::partition_paths(self.left.as_ref(), &self.dirty);
        let told = |n: usize, whose: &str| match n {
            0 => String::new(),
            n => format!(
                ". {} with uncommitted changes {whose} stay as they are",
                pluralize(n, "file")
            ),
        };
        let yours = told(yours.len(), "from you");
        let left = told(left.len(), "from a stopped step");
        format!("Run this plan? {commits}. {test}{yours}{left}")
    }
}

/// Parses `skip`, `skip:WHY`, `replan` and `replan:WORDS`.
fn parse_answer_about_step(word: &str) -> Option<QuestionAnswer> {
    let (name, text) = word.split_once(':').unwrap_or((word, ""));
    let text = text.trim().to_owned();
    match name {
        "skip" => Some(QuestionAnswer::SkipStep { reason: text }),
        "replan" => Some(QuestionAnswer::ReplanStep { text }),
        _ => None,
    }
}

fn parse_answer_with_argument(word: &str) -> Option<QuestionAnswer> {
    if let Some(n) = word.strip_prefix("more:") {
        return n
            .trim()
            .parse()
            .ok()
            .map(|n| QuestionAnswer::MoreIterations { n });
    }
    let (name, text) = word.split_once(':')?;
    let text = text.trim().to_owned();
    match name {
        _ if text.is_empty() => None,
        "changes" => Some(QuestionAnswer::RequestChanges { text }),
        "amend" => Some(QuestionAnswer::AmendStep { text }),
        "waive" => Some(QuestionAnswer::WaiveProof { reason: text }),
        _ => None,
    }
}

/// Returns whether an answer fits a question about an adapter that cannot continue; `movable` where there is another
/// adapter.
fn fits_adapter_failure(answer: &QuestionAnswer, movable: bool) -> bool {
    match answer {
        QuestionAnswer::Retry | QuestionAnswer::Stop => true,
        QuestionAnswer::SwitchAdapter => movable,
        _ => false,
    }
}

/// Names the tests of a step; step 0 is the time before the first one.
pub fn tests_label(step: u32) -> String {
    match step {
        0 => "The tests before step 1".to_owned(),
        step => format!("The tests of step {step}"),
    }
}
