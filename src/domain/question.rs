//! Everything that waits for the user except approvals of an agent's calls, with its choices.
//!
//! Refuses to know who answers: a dialog, a slash command or a headless flag.

mod agent_question;
mod answer_text;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::agent_question::{AgentQuestion, AnswerOption, AnswerSelectMode};
use super::ids::{RequestId, Sha256, TurnId, UnixMillis};
use super::phase::Gate;
use super::plan_execution::StepStage;
use super::receipt::MissingSocket;
use super::test_command::TestCommand;
use super::turn::{TurnOrder, TurnPurpose};
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

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum QuestionKind {
    /// May the next turn go?
    Gate {
        /// The turn that waits.
        order: TurnOrder,
    },
    /// The review loop does not end by itself.
    Arbitration {
        /// Why it was stopped.
        reason: ArbitrationReason,
        /// How many findings are open.
        open: usize,
    },
    /// The user edits by hand; the loop waits until that is done.
    ManualEdit,
    /// The plan is not the one that was reviewed.
    StalePlan {
        /// The hash that was reviewed.
        reviewed: Sha256,
        /// The hash of what lies on disk.
        now: Sha256,
    },
    /// Shall the approved plan be executed?
    Execute {
        /// What the user approves with it.
        terms: ExecutionTerms,
    },
    /// A turn brought no document, twice.
    NoDocument {
        /// What the turn was for.
        purpose: TurnPurpose,
        /// What was missing.
        reason: String,
    },
    /// The agent asks something.
    Agent {
        /// The request at its CLI, where it waits for the answer; `None` when the question stood in its last text.
        request: Option<RequestId>,
        /// The questions with their offered answers.
        questions: Vec<AgentQuestion>,
        /// What its turn is or was for.
        purpose: TurnPurpose,
    },
    /// The agent of a child session asks something; nothing else waits for the answer.
    Child {
        /// The request at its CLI.
        request: RequestId,
        /// The turn in which its task is done; with its end the question goes.
        turn: TurnId,
        /// Whose child it is, in names: `planner ▸ explore#2`.
        path: String,
        /// The questions with their offered answers.
        questions: Vec<AgentQuestion>,
    },
    /// A turn failed and trying again by ourselves did not help.
    AdapterFailed {
        /// What the turn was for.
        purpose: TurnPurpose,
        /// The kind of failure.
        kind: String,
        /// What the CLI said.
        message: String,
        /// The other adapter that the role could move to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        other: Option<String>,
    },
    /// A CLI's plan is used up; the turn goes again by itself when the wait is over.
    UsageLimit {
        /// What the turn was for.
        purpose: TurnPurpose,
        /// The adapter whose plan it is, by its name in the configuration.
        adapter: String,
        /// What the CLI said.
        message: String,
        /// When the turn is tried again.
        until: UnixMillis,
        /// Where that instant comes from.
        from: WaitSource,
        /// Who releases the turn then: auto while the run goes on, the run's gate once it was taken up again.
        then: Gate,
        /// The other adapter that the role could move to.
        other: Option<String>,
    },
    /// A workflow file changed under a turn that wrote it too.
    Conflict {
        /// The file's name.
        document: String,
        /// What the turn was for.
        purpose: TurnPurpose,
        /// What keeps a merge from being whole, once one was tried.
        #[serde(default)]
        clash: Option<MergeConflict>,
    },
    /// A turn that the program's end cut off left a changed document in its folder.
    Draft {
        /// The turn.
        order: TurnOrder,
        /// What it left.
        files: Vec<DraftFile>,
    },
    /// Files differ by more than a step's own changes: what of them goes into its commit?
    DirtyFiles {
        /// The step.
        step: u32,
        /// The files.
        paths: Vec<String>,
        /// Whose the other changes are.
        #[serde(default)]
        origin: FileOrigin,
    },
    /// A step changed something that the program would run.
    EntryPoints {
        /// The step.
        step: u32,
        /// What changed.
        changes: Vec<EntryPoint>,
    },
    /// A step changed files that path rules hold back.
    HeldEdits {
        /// The step.
        step: u32,
        /// The changes.
        edits: Vec<HeldEdit>,
    },
    /// A step's turn is over, and nothing is different.
    NothingChanged {
        /// The step.
        step: u32,
        /// The first line of its agent's last message.
        said: String,
    },
    /// A step's agent says that it cannot do it.
    Blocked {
        /// The step.
        step: u32,
        /// What stands in the way, as the agent says it.
        said: String,
        /// How many files it changed all the same.
        n_changed: usize,
    },
    /// The tests of a step fail after all fix turns.
    TestsFailed {
        /// The step.
        step: u32,
        /// What was found, in words.
        found: String,
    },
    /// The tests of a step do not fail, and they may not have tested what they tested before.
    TestsInDoubt {
        /// The step.
        step: u32,
        /// What was found, with the figures before and now.
        found: String,
    },
    /// What the tests are run by is not there, as they found that were run before the first step.
    RunnerMissing {
        /// What was found, in words.
        found: String,
    },
    /// The tests of a step fail for want of a network, and nobody has said yet whether they get the machine's.
    TestNetwork {
        /// The step; 0 before the first.
        step: u32,
        /// The line that tells of it.
        line: String,
    },
    /// The tests of a step fail for want of a socket that is hidden from them, and nobody has said yet whether they reach it.
    TestSocket {
        /// The step.
        step: u32,
        /// The socket, and the line that tells of it.
        lacked: MissingSocket,
    },
    /// A commit failed.
    CommitFailed {
        /// The step.
        step: u32,
        /// What git said.
        message: String,
    },
    /// The program ended in the middle of a step.
    StepRecovery {
        /// The step.
        step: u32,
        /// How far it was.
        stage: StepStage,
    },
    /// The execution could not be entered.
    CannotExecute {
        /// Why.
        reason: String,
    },
}

/// Where changes come from that are not, or not only, a step's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileOrigin {
    /// The files held uncommitted changes before the step edited them.
    #[default]
    UsersBefore,
    /// The step's tests change them each time they run.
    WrittenByTests,
    /// They changed while the step ran, and no call of its agent accounts for it.
    OutsideOfCalls,
}

/// A merge of the user's text and the agent's that is not whole yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeConflict {
    /// The file in which it is made whole by hand, below the repository.
    pub file: String,
    /// What is wrong with it, in words.
    pub why: String,
}

/// A document that a cut-off turn left, in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftFile {
    /// The document's name.
    pub name: String,
    /// How many lines it has.
    pub n_lines: usize,
    /// How many of them are not in the document that the turn began with.
    pub n_added: usize,
    /// How many lines of that document it lacks.
    pub n_removed: usize,
}

/// Why the review loop was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArbitrationReason {
    /// The cap of iterations is reached.
    Cap,
    /// No finding was settled for `stall_limit` iterations.
    Stall,
    /// The reviewer approves the plan beside an open blocking or major finding.
    ApprovedBeside,
}

/// Where the end of a wait comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitSource {
    /// The CLI told it.
    Cli,
    /// Nobody told it: the waits grow from one to the next.
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
    /// Where commits go.
    pub commits: CommitTarget,
    /// The uncommitted files at this moment.
    pub dirty: Vec<String>,
    /// Those of them that are not the user's, where there are some.
    #[serde(default)]
    pub left: Option<LeftoverFiles>,
}

impl ExecutionTerms {
    /// Tells whether the test command is the plan's, so that an agent chose it.
    pub fn runs_plan_test(&self) -> bool {
        self.test.as_ref().is_some_and(TestCommand::is_from_plan)
    }

    /// The same terms with the other test command.
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
    /// The files that are uncommitted still; at least one.
    pub files: Vec<String>,
}

impl LeftoverFiles {
    /// Divides paths into the user's own and those that were left.
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
    /// The path.
    pub path: String,
    /// What it may run.
    pub why: String,
    /// What it holds now, by its hash; an allowance is bound to it.
    pub content: Option<String>,
}

/// A change of a step that a path rule holds back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldEdit {
    /// The path.
    pub path: String,
    /// Ask or deny.
    pub hold: PermissionAction,
    /// What the rule says, and where it stands.
    pub why: String,
    /// What it holds now, by its hash; keeping it is bound to that. `None` where it is gone.
    pub content: Option<String>,
}

/// Where commits go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "commits", rename_all = "snake_case")]
pub enum CommitTarget {
    /// No git repository: commits are off.
    Off {
        /// Why.
        reason: String,
    },
    /// On the branch that is checked out.
    Current {
        /// Its name.
        branch: String,
    },
    /// On a new branch.
    New {
        /// Its name.
        branch: String,
    },
}

/// The network that the tests of a repository have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestNetworkChoice {
    /// The machine's.
    Host,
    /// A loopback interface of their own.
    Loopback,
}

/// An answer to a question. Which fit is said by [`QuestionKind::accepts`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum QuestionAnswer {
    /// The plan passes as it is.
    ForcePass,
    /// So many more iterations, at least 1.
    MoreIterations {
        /// How many.
        n: u32,
    },
    /// The user edits by hand.
    EditByHand,
    /// The run is given up.
    CancelRun,
    /// The user is done editing.
    Edited {
        /// What shall follow.
        then: EditFollowUp,
        /// The plan as it is now.
        plan: super::plan::Plan,
        /// The hash of its file.
        file_sha256: Sha256,
    },
    /// The changed plan is reviewed again.
    ReviewAgain,
    /// It is accepted as it is.
    AcceptAsIs,
    /// The plan is executed under the shown terms.
    Execute,
    /// The other test command is the one that runs; the user is asked again.
    SwitchTest,
    /// The plan is changed first.
    RequestChanges {
        /// What the user wants.
        text: String,
    },
    /// Once more.
    Retry,
    /// Once more, in a new session.
    NewSession,
    /// The run waits, and the turn goes by itself then.
    Wait,
    /// Once more, by the other adapter; the role stays there.
    SwitchAdapter,
    /// Back to the goal.
    Stop,
    /// Answers to an agent's questions, by question.
    Texts {
        /// Question to answer.
        answers: BTreeMap<String, String>,
    },
    /// The agent's question stays unanswered; it shall decide.
    Dismiss,
    /// The agent's text replaces the user's.
    Overwrite,
    /// Both texts are merged; where they clash, the user's hand in the merge counts.
    Merge,
    /// The agent's text is put aside.
    Discard,
    /// What the cut-off turn left counts as its document.
    UseDraft,
    /// The user's uncommitted changes go into the step's commit.
    Include,
    /// The files are left out of the step's commit.
    LeaveOut,
    /// The step's changes stand.
    Allow,
    /// The changes that rules hold back stand as they are now.
    Keep,
    /// The files that rules hold back are put back to before the step.
    PutBack,
    /// The step goes on without tests.
    SkipTests,
    /// What the step asks was there already.
    AlreadyTrue,
    /// The step is not done; the run goes on with the next one.
    SkipStep,
    /// The repository's tests get the machine's network, from now on.
    HostNetwork,
    /// They keep a loopback interface of their own, from now on.
    LoopbackNetwork,
    /// The repository's tests reach the socket, from now on.
    ReachSocket,
    /// It stays hidden from them, from now on.
    HideSocket,
    /// The run goes on without this commit.
    WithoutCommit,
    /// The cut-off step goes on from what is there.
    ContinueStep,
    /// What is there is the step's change; it is tested and committed.
    TreatAsDone,
    /// The tree is put back to before the step, and the step begins anew.
    RedoStep,
}

/// What follows an edit by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditFollowUp {
    /// A review.
    Review,
    /// The user's approval.
    Accept,
}

/// The kinds that `--answer KIND=CHOICE` can answer, with the words that choose.
pub const ANSWER_CHOICES: &[(&str, &[&str])] = &[
    ("arbitration", &["pass", "more:N", "edit", "cancel"]),
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
    ("entry_points", &["allow", "stop", "cancel"]),
    ("held_edits", &["keep", "put-back", "stop", "cancel"]),
    (
        "nothing_changed",
        &["already-true", "blocked", "retry", "skip", "cancel"],
    ),
    ("blocked", &["retry", "skip", "stop", "cancel"]),
    (
        "tests_failed",
        &["retry", "skip", "accept", "stop", "cancel"],
    ),
    (
        "tests_in_doubt",
        &["retry", "skip", "accept", "stop", "cancel"],
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
    /// The kind's name in events, in messages and for `--answer KIND=CHOICE`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Gate { .. } => "gate",
            Self::Arbitration { .. } => "arbitration",
            Self::ManualEdit => "manual_edit",
            Self::StalePlan { .. } => "stale_plan",
            Self::Execute { .. } => "execute",
            Self::NoDocument { .. } => "no_document",
            Self::Agent { .. } | Self::Child { .. } => "question",
            Self::AdapterFailed { .. } => "adapter_failed",
            Self::UsageLimit { .. } => "usage_limit",
            Self::Conflict { .. } => "conflict",
            Self::Draft { .. } => "draft",
            Self::DirtyFiles { .. } => "dirty_files",
            Self::EntryPoints { .. } => "entry_points",
            Self::HeldEdits { .. } => "held_edits",
            Self::NothingChanged { .. } => "nothing_changed",
            Self::Blocked { .. } => "blocked",
            Self::TestsFailed { .. } => "tests_failed",
            Self::TestsInDoubt { .. } => "tests_in_doubt",
            Self::RunnerMissing { .. } => "runner_missing",
            Self::TestNetwork { .. } => "test_network",
            Self::TestSocket { .. } => "test_socket",
            Self::CommitFailed { .. } => "commit_failed",
            Self::CannotExecute { .. } => "cannot_execute",
            Self::StepRecovery { .. } => "step_recovery",
        }
    }

    /// The request of a CLI that waits for the answer, where one does.
    pub fn request_id(&self) -> Option<&RequestId> {
        match self {
            Self::Agent { request, .. } => request.as_ref(),
            Self::Child { request, .. } => Some(request),
            _ => None,
        }
    }

    /// What an agent asks, with the answers that it offers; nothing where no agent does.
    pub fn agent_questions(&self) -> &[AgentQuestion] {
        match self {
            Self::Agent { questions, .. } | Self::Child { questions, .. } => questions,
            _ => &[],
        }
    }

    /// The words that choose an answer, in the order in which they are offered.
    pub fn choices(&self) -> &'static [&'static str] {
        let name = self.name();
        ANSWER_CHOICES
            .iter()
            .find(|(kind, _)| *kind == name)
            .map_or(&[], |(_, choices)| choices)
    }

    /// Tells whether an answer fits this question.
    #[expect(
        clippy::too_many_lines,
        reason = "a table: each question with the answers that fit it"
    )]
    pub fn accepts(&self, answer: &QuestionAnswer) -> bool {
        let is_childs = matches!(self, Self::Child { .. });
        if matches!(answer, QuestionAnswer::CancelRun) {
            return !is_childs;
        }
        match self {
            Self::Gate { .. } => false,
            Self::Arbitration { .. } => match answer {
                QuestionAnswer::ForcePass | QuestionAnswer::EditByHand => true,
                QuestionAnswer::MoreIterations { n } => *n >= 1,
                _ => false,
            },
            Self::ManualEdit => matches!(answer, QuestionAnswer::Edited { .. }),
            Self::StalePlan { .. } => {
                matches!(
                    answer,
                    QuestionAnswer::ReviewAgain | QuestionAnswer::AcceptAsIs | QuestionAnswer::Stop
                )
            }
            Self::Execute { terms } => match answer {
                QuestionAnswer::Execute
                | QuestionAnswer::RequestChanges { .. }
                | QuestionAnswer::Stop => true,
                QuestionAnswer::SwitchTest => terms.other_test.is_some(),
                _ => false,
            },
            Self::NoDocument { .. } | Self::CannotExecute { .. } => {
                matches!(answer, QuestionAnswer::Retry | QuestionAnswer::Stop)
            }
            Self::Agent { .. } | Self::Child { .. } => {
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
            Self::EntryPoints { .. } => {
                matches!(answer, QuestionAnswer::Allow | QuestionAnswer::Stop)
            }
            Self::HeldEdits { .. } => {
                matches!(
                    answer,
                    QuestionAnswer::Keep | QuestionAnswer::PutBack | QuestionAnswer::Stop
                )
            }
            Self::NothingChanged { .. } => matches!(
                answer,
                QuestionAnswer::AlreadyTrue
                    | QuestionAnswer::Retry
                    | QuestionAnswer::SkipStep
                    | QuestionAnswer::Stop
            ),
            Self::Blocked { .. } => {
                matches!(
                    answer,
                    QuestionAnswer::Retry | QuestionAnswer::SkipStep | QuestionAnswer::Stop
                )
            }
            Self::TestsFailed { .. } | Self::TestsInDoubt { .. } => matches!(
                answer,
                QuestionAnswer::Retry
                    | QuestionAnswer::SkipTests
                    | QuestionAnswer::AcceptAsIs
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

    /// Reads the word that chooses an answer, as typed after `--answer KIND=`.
    pub fn parse_answer(&self, word: &str) -> Option<QuestionAnswer> {
        let answer = match (self, word) {
            (_, "cancel") => QuestionAnswer::CancelRun,
            (Self::Agent { .. } | Self::Child { .. }, "dismiss") => QuestionAnswer::Dismiss,
            (Self::Agent { questions, .. } | Self::Child { questions, .. }, text) => {
                QuestionAnswer::Texts {
                    answers: questions
                        .iter()
                        .map(|asked| (asked.text.clone(), text.to_owned()))
                        .collect(),
                }
            }
            (_, "pass") => QuestionAnswer::ForcePass,
            (_, "edit") => QuestionAnswer::EditByHand,
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
            (Self::NothingChanged { .. } | Self::Blocked { .. }, "skip") => {
                QuestionAnswer::SkipStep
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

    /// What is asked, in one or a few lines, cleaned.
    pub fn describe(&self) -> String {
        clean_text(&self.describe_uncleaned())
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
            Self::Arbitration {
                reason: ArbitrationReason::Cap,
                open,
            } => {
                format!("Review limit reached, {} open", pluralize(*open, "finding"))
            }
            Self::Arbitration {
                reason: ArbitrationReason::Stall,
                open,
            } => {
                format!(
                    "The review makes no progress, {} open",
                    pluralize(*open, "finding")
                )
            }
            Self::Arbitration {
                reason: ArbitrationReason::ApprovedBeside,
                open,
            } => {
                format!(
                    "The reviewer approved the plan with {} open",
                    pluralize(*open, "finding")
                )
            }
            Self::ManualEdit => "The plan is being edited by hand".to_owned(),
            Self::StalePlan { .. } => "The plan changed after its review".to_owned(),
            Self::Execute { terms } => terms.describe(),
            Self::NoDocument { reason, .. } => format!("The turn returned no document: {reason}"),
            Self::Agent { questions, .. } => {
                let texts: Vec<&str> = questions.iter().map(|asked| asked.text.as_str()).collect();
                format!("The agent asks: {}", texts.join(" / "))
            }
            Self::Child {
                path, questions, ..
            } => {
                let texts: Vec<&str> = questions.iter().map(|asked| asked.text.as_str()).collect();
                format!("{path} asks: {}", texts.join(" / "))
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
            Self::NothingChanged { step, said } => {
                let said = clean_to_one_line(said);
                let said = if said.is_empty() {
                    String::new()
                } else {
                    format!(". Its agent says: {said}")
                };
                format!("Step {step} changed nothing{said}")
            }
            Self::Blocked {
                step,
                said,
                n_changed,
            } => {
                let left = match n_changed {
                    0 => String::new(),
                    n => format!(". It changed {} anyway", pluralize(*n, "file")),
                };
                format!(
                    "Step {step} is blocked, its agent says: {}{left}",
                    clean_to_one_line(said)
                )
            }
            Self::TestsFailed { step, found } | Self::TestsInDoubt { step, found } => {
                format!("Step {step}: {found}")
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
                format!(
                    "The program exited during step {step} ({})",
                    stage.describe()
                )
            }
        }
    }
}

impl FileOrigin {
    /// What is asked about these files, in words.
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
    /// The document and how much of it is new.
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
    /// By what is tested, and what else could have been.
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

    /// What the user approves, line by line.
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

fn parse_answer_with_argument(word: &str) -> Option<QuestionAnswer> {
    if let Some(n) = word.strip_prefix("more:") {
        return n
            .trim()
            .parse()
            .ok()
            .map(|n| QuestionAnswer::MoreIterations { n });
    }
    let text = word.strip_prefix("changes:")?.trim();
    (!text.is_empty()).then(|| QuestionAnswer::RequestChanges {
        text: text.to_owned(),
    })
}

/// Tells whether an answer is one of those to an adapter that cannot go on; `movable` where there is another one.
fn fits_adapter_failure(answer: &QuestionAnswer, movable: bool) -> bool {
    match answer {
        QuestionAnswer::Retry | QuestionAnswer::Stop => true,
        QuestionAnswer::SwitchAdapter => movable,
        _ => false,
    }
}

/// The tests of a step in words; step 0 is the time before the first one.
pub fn tests_label(step: u32) -> String {
    match step {
        0 => "The tests before step 1".to_owned(),
        step => format!("The tests of step {step}"),
    }
}
