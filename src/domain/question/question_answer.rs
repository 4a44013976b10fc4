//! Defines the answers to questions: which fit a question, and the words that choose them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::QuestionKind;
use crate::domain::findings::DisputeSide;
use crate::domain::ids::Sha256;
use crate::domain::plan::Plan;

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
        plan: Plan,
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
