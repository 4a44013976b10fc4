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
    /// The planner gets what the user said in threads, and the plan is changed first.
    SendNotes,
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
    /// The plan is written again, with a first step that fixes the tests that fail.
    FixFirst,
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
#[rustfmt::skip]
pub const ANSWER_CHOICES: &[(&str, &[&str])] = &[
    ("arbitration", &["pass", "more:N", "edit", "cancel"]),
    ("dispute", &["reviewer", "planner", "edit", "cancel"]),
    ("stale_plan", &["review", "accept", "stop", "cancel"]),
    ("execute", &["yes", "switch-test", "send-notes", "changes:TEXT", "stop", "cancel"]),
    ("no_document", &["retry", "stop", "cancel"]),
    ("question", &["dismiss", "TEXT"]),
    ("adapter_failed", &["retry", "new-session", "switch", "stop", "cancel"]),
    ("usage_limit", &["wait", "retry", "switch", "stop", "cancel"]),
    ("conflict", &["overwrite", "merge", "discard", "cancel"]),
    ("draft", &["use", "discard", "cancel"]),
    ("dirty_files", &["include", "leave-out", "cancel"]),
    ("approval_changed", &["accept", "retry", "stop", "cancel"]),
    ("entry_points", &["allow", "stop", "cancel"]),
    ("held_edits", &["keep", "put-back", "stop", "cancel"]),
    ("out_of_scope", &["allow", "put-back", "stop", "cancel"]),
    ("nothing_changed", &["already-true", "blocked", "retry", "amend:TEXT", "replan", "replan:TEXT", "skip", "skip:TEXT", "cancel"]),
    ("blocked", &["retry", "amend:TEXT", "replan", "replan:TEXT", "skip", "skip:TEXT", "stop", "cancel"]),
    ("tests_failed", &["retry", "skip", "accept", "stop", "cancel"]),
    ("tests_in_doubt", &["retry", "skip", "accept", "stop", "cancel"]),
    ("unproven", &["retry", "waive:TEXT", "replan", "replan:TEXT", "stop", "cancel"]),
    ("runner_missing", &["retry", "accept", "stop", "cancel"]),
    ("red_baseline", &["accept", "fix-first", "stop", "cancel"]),
    ("test_network", &["host", "loopback", "stop", "cancel"]),
    ("test_socket", &["reach", "hide", "stop", "cancel"]),
    ("step_recovery", &["continue", "done", "redo", "stop", "cancel"]),
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
    pub fn accepts(&self, answer: &QuestionAnswer) -> bool {
        use QuestionAnswer as Answer;
        match (self, answer) {
            (_, Answer::CancelRun) => !self.is_from_child(),
            (Self::ManualEdit, answer) => matches!(answer, Answer::Edited { .. }),
            (Self::Agent { .. }, answer) => {
                matches!(answer, Answer::Texts { .. } | Answer::Dismiss)
            }
            (Self::Arbitration { .. }, Answer::MoreIterations { n }) => *n >= 1,
            (Self::Execute { .. }, Answer::ExecuteByFlag) => true,
            (Self::Execute { terms }, Answer::SwitchTest) => terms.other_test.is_some(),
            (
                Self::AdapterFailed { other, .. } | Self::UsageLimit { other, .. },
                Answer::SwitchAdapter,
            ) => other.is_some(),
            // Its word is `blocked`.
            (Self::NothingChanged { .. }, Answer::Stop) => true,
            // Two answers have the word `skip`.
            (Self::NothingChanged { .. } | Self::Blocked { .. }, Answer::SkipTests)
            | (Self::TestsFailed { .. } | Self::TestsInDoubt { .. }, Answer::SkipStep { .. }) => {
                false
            }
            (_, answer) => answer
                .choice()
                .is_some_and(|word| self.choices().contains(&word)),
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
            (Self::NothingChanged { .. } | Self::Blocked { .. } | Self::Unproven { .. }, word)
                if word.starts_with("skip") || word.starts_with("replan") =>
            {
                parse_answer_about_step(word)?
            }
            (Self::NothingChanged { .. }, "blocked") => QuestionAnswer::Stop,
            (_, word) => match ANSWER_WORDS.iter().find(|(known, _)| *known == word) {
                Some((_, answer)) => answer.clone(),
                None => parse_answer_with_argument(word)?,
            },
        };
        self.accepts(&answer).then_some(answer)
    }
}

impl QuestionAnswer {
    /// Returns the word of [`ANSWER_CHOICES`] that chooses it; `None` where none does.
    fn choice(&self) -> Option<&'static str> {
        match self {
            Self::MoreIterations { .. } => Some("more:N"),
            Self::RequestChanges { .. } => Some("changes:TEXT"),
            Self::AmendStep { .. } => Some("amend:TEXT"),
            Self::WaiveProof { .. } => Some("waive:TEXT"),
            Self::SkipStep { .. } => Some("skip:TEXT"),
            Self::ReplanStep { .. } => Some("replan:TEXT"),
            answer => {
                let row = ANSWER_WORDS.iter().find(|(_, known)| known == answer);
                row.map(|(word, _)| *word)
            }
        }
    }
}

/// The words of the answers without a text of the user.
#[rustfmt::skip]
const ANSWER_WORDS: &[(&str, QuestionAnswer)] = &[
    ("pass", QuestionAnswer::ForcePass),
    ("edit", QuestionAnswer::EditByHand),
    ("reviewer", QuestionAnswer::DecideDispute { side: DisputeSide::Reviewer }),
    ("planner", QuestionAnswer::DecideDispute { side: DisputeSide::Planner }),
    ("review", QuestionAnswer::ReviewAgain),
    ("accept", QuestionAnswer::AcceptAsIs),
    ("yes", QuestionAnswer::Execute),
    ("switch-test", QuestionAnswer::SwitchTest),
    ("send-notes", QuestionAnswer::SendNotes),
    ("retry", QuestionAnswer::Retry),
    ("new-session", QuestionAnswer::NewSession),
    ("wait", QuestionAnswer::Wait),
    ("switch", QuestionAnswer::SwitchAdapter),
    ("stop", QuestionAnswer::Stop),
    ("overwrite", QuestionAnswer::Overwrite),
    ("merge", QuestionAnswer::Merge),
    ("discard", QuestionAnswer::Discard),
    ("use", QuestionAnswer::UseDraft),
    ("include", QuestionAnswer::Include),
    ("leave-out", QuestionAnswer::LeaveOut),
    ("allow", QuestionAnswer::Allow),
    ("keep", QuestionAnswer::Keep),
    ("put-back", QuestionAnswer::PutBack),
    ("skip", QuestionAnswer::SkipTests),
    ("already-true", QuestionAnswer::AlreadyTrue),
    ("fix-first", QuestionAnswer::FixFirst),
    ("host", QuestionAnswer::HostNetwork),
    ("loopback", QuestionAnswer::LoopbackNetwork),
    ("reach", QuestionAnswer::ReachSocket),
    ("hide", QuestionAnswer::HideSocket),
    ("go-on", QuestionAnswer::WithoutCommit),
    ("continue", QuestionAnswer::ContinueStep),
    ("done", QuestionAnswer::TreatAsDone),
    ("redo", QuestionAnswer::RedoStep),
];

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
