//! Holds the state of an execution: its terms, the current step and the record of each finished step.

mod baseline_result;
mod execution_proofs;
mod step_stage;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::baseline_result::TestBaseline;
pub use self::step_stage::StepStage;
use super::bound_parts::ApprovalBinding;
use super::ids::Sha256;
use super::plan::Plan;
use super::question::{CommitTarget, EntryPoint, HeldEdit, LeftoverFiles};
use super::receipt::{Receipt, ReceiptSource, TestOutcome};
use super::recorded_proof::{RecordedProof, is_documentation};
use super::step_calls::StepCalls;
use super::step_proof::ProofStatus;
use super::step_result::{StepResult, StepResultKind};
use super::step_scope::ScopeChange;
use super::test_command::TestCommand;
use crate::text::{clean_to_one_line, describe_line_counts, pluralize};

/// An execution, running or finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanExecution {
    pub commits: CommitTarget,
    /// The commit that was checked out on entering; `None` on an unborn branch or without git.
    pub base: Option<String>,
    /// The uncommitted files on entering.
    pub pre_dirty: Vec<String>,
    /// Those of them that a stopped step of an earlier execution left.
    #[serde(default)]
    pub left: Option<LeftoverFiles>,
    /// What the program runs after each step.
    pub test: Option<TestCommand>,
    /// The test result before the first step; `None` where the tests did not run then, and in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<TestBaseline>,
    /// The current step; `None` before the first and after the last.
    pub current: Option<CurrentStep>,
    /// The records of the finished steps.
    pub done: Vec<StepRecord>,
    /// The user's choice for their dirty files that steps edit, by path.
    pub dirty_policy: BTreeMap<String, DirtyPolicy>,
    /// The user's choice for files that the tests change each time they run, by path.
    #[serde(default)]
    pub rewritten_policy: BTreeMap<String, DirtyPolicy>,
    /// The tree before the first step; `None` until then, and in runs of earlier versions.
    #[serde(default)]
    pub base_tree: Option<String>,
    /// Steps that the user skips before their turn, each with the reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skips: BTreeMap<u32, StepSkip>,
    /// What was undone and can be redone, the last one at the end; empty once another turn has worked.
    #[serde(default)]
    pub undone: Vec<UndoRecord>,
    /// The commit of the last redo, where it made one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redo_commit: Option<String>,
    /// What the user allowed in earlier steps, each with its content: later audits find changes again that are in no
    /// commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_entry_points: Vec<EntryPoint>,
    /// What the approval is bound to; `None` where steps are not proven, and in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<ApprovalBinding>,
    /// The hash of each step's block as it was approved; empty in runs of earlier versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub approved_steps: BTreeMap<u32, Sha256>,
}

/// The user's wish to skip a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepSkip {
    /// The step's text: the number may belong to another step by the time it counts.
    pub text: String,
    /// Why; may be empty.
    pub reason: String,
}

/// What is known of the execution that the executor left to plan again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplanRecord {
    /// Why the plan must change, in the executor's words.
    pub reason: String,
    /// The steps of earlier plans that have ended since the goal was confirmed, in order.
    pub done: Vec<StepRecord>,
    /// The step that is planned again; `None` where the user edited the plan, or where all of it is planned again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// The execution that continues with the changed plan; `None` where a new one begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Box<PlanExecution>>,
}

/// A step that was stopped before it was finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoppedStep {
    pub n: u32,
    /// The tree before its first turn.
    pub tree_before: String,
}

impl ReplanRecord {
    /// Returns why a plan does not fit the execution that continues with it; `None` where it does.
    pub fn changed_ended_step(&self, plan: &Plan) -> Option<String> {
        self.kept.as_ref()?.changed_ended_step(plan)
    }
}

impl PlanExecution {
    /// Returns whether the user skips this step; a wish about another text under the same number does not count.
    pub fn is_skip_requested(&self, n: u32, text: &str) -> bool {
        self.skips.get(&n).is_some_and(|skip| skip.text == text)
    }

    /// Lists the last commits that the run itself made: of a step, of an undo, of a redo.
    pub(super) fn last_commits(&self) -> impl Iterator<Item = &str> {
        let of_step = self.done.iter().rev().find_map(StepRecord::commit);
        let of_undo = self
            .undone
            .last()
            .and_then(|undone| undone.commit.as_deref());
        let of_redo = self.redo_commit.as_deref();
        [of_step, of_undo, of_redo].into_iter().flatten()
    }

    /// Returns why the current step's tests, which do not fail, may not have tested what earlier tests did.
    pub fn describe_test_doubt(&self) -> Option<String> {
        let now = self.current.as_ref()?.receipt.as_ref()?;
        let of_steps = self.done.iter().rev();
        let of_step = of_steps
            .filter_map(|record| record.receipt.as_ref())
            .find(|receipt| receipt.outcome != TestOutcome::NoCommand);
        let of_step = of_step.map(|receipt| (receipt, ReceiptSource::CompletedStep));
        let baseline = self.baseline.as_ref();
        now.describe_test_doubt(
            of_step.or(baseline.map(|baseline| (&baseline.receipt, ReceiptSource::Baseline))),
        )
    }

    /// Returns the receipt from before the first step, where nothing else fails in this test run.
    pub fn matching_baseline_failure(&self, now: &Receipt) -> Option<&Receipt> {
        let before = &self.baseline.as_ref()?.receipt;
        now.has_only_known_failures(before).then_some(before)
    }

    /// Returns whether a file changed while the tests ran before the first step, because of them or of the user.
    pub(super) fn changed_during_baseline(&self, path: &String) -> bool {
        let baseline = self.baseline.as_ref();
        baseline.is_some_and(|baseline| baseline.changed.contains(path))
    }

    /// Returns why a plan does not fit the steps of this execution that have ended; `None` where it does. The whole block of
    /// a step counts as it was approved, which runs of earlier versions do not know.
    pub(super) fn changed_ended_step(&self, plan: &Plan) -> Option<String> {
        self.done.iter().find_map(|StepRecord { n, text, .. }| {
            let step = plan.step(*n);
            let block = step.and_then(|step| step.block_sha256.as_ref());
            let approved = self.approved_steps.get(n);
            let what = match step {
                Some(step) if step.text != *text => "",
                None => "",
                Some(_) if approved.is_some_and(|approved| block != Some(approved)) => {
                    ", with the lines below it"
                }
                Some(_) => return None,
            };
            Some(format!(
                "step {n} has ended and must stay as it is{what}: \"{text}\""
            ))
        })
    }

    /// Removes the current step; returns what is needed later, where the step's tree was stored.
    pub(super) fn stop_step(&mut self) -> Option<StoppedStep> {
        let CurrentStep { n, tree_before, .. } = self.current.take()?;
        tree_before.map(|tree_before| StoppedStep { n, tree_before })
    }
}

/// The progress of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepCount {
    pub done: usize,
    pub all: usize,
}

/// What happens to a file with uncommitted changes of the user that a step edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DirtyPolicy {
    /// Its whole content goes into the commit.
    Include,
    LeaveOut,
}

/// The step that is executed, and how far it has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrentStep {
    pub n: u32,
    pub text: String,
    pub stage: StepStage,
    /// How many fix turns it had.
    pub fix_turns: u32,
    /// The tree before its first turn; `None` without git.
    pub tree_before: Option<String>,
    /// The tree after its last test run, otherwise after the last audit of its changes.
    #[serde(default)]
    pub tree_after: Option<String>,
    /// The tree that its commit is made from, which was tested.
    #[serde(default)]
    pub commit_tree: Option<String>,
    /// Whether the tests ran a second time because the first run changed what it tested.
    #[serde(default)]
    pub tested_again: bool,
    /// What it has changed so far.
    pub changed: Vec<String>,
    /// Untracked files that its test runs made.
    pub made_by_tests: Vec<String>,
    /// Changes that would be run and that the user has allowed, with their content at that time.
    pub allowed_entry_points: Vec<EntryPoint>,
    /// Changes that rules hold back and that the user has kept, with their content at that time.
    #[serde(default)]
    pub kept_edits: Vec<HeldEdit>,
    /// Files that the user allowed its agent to edit when it asked.
    #[serde(default)]
    pub allowed_edits: Vec<String>,
    /// Changes outside of what its plan names that the user has allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_outside: Vec<ScopeChange>,
    /// The changes that its agent's calls account for; `None` in runs of earlier versions, where the user is not asked
    /// about them.
    #[serde(default)]
    pub calls: Option<StepCalls>,
    /// Files that no call of its agent accounts for and that the user excluded from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users_edits: Vec<String>,
    /// The last test run.
    pub receipt: Option<Receipt>,
    /// What the user decided where it does not pass by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<StepOverride>,
    /// The first line of the agent's last message.
    pub summary: String,
    /// The result that its agent stated last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<StepResult>,
    /// Whether its agent was asked for the result that it left out. It is asked once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_asked_for_result: bool,
    /// What running old and new tests on old and new code showed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<RecordedProof>,
}

impl CurrentStep {
    /// Returns what stands in the way, where its agent states that it is blocked.
    pub fn obstacle(&self) -> Option<&StepResult> {
        self.result_of(StepResultKind::Blocked)
    }

    /// Returns whether it changed nothing and its agent states that there was nothing to change.
    pub fn claims_already_true(&self) -> bool {
        self.changed.is_empty() && self.result_of(StepResultKind::AlreadyTrue).is_some()
    }

    /// Returns whether its tests run, or old and new tests on old and new code.
    pub fn is_at_tests(&self) -> bool {
        matches!(self.stage, StepStage::Test | StepStage::Prove)
    }

    fn result_of(&self, kind: StepResultKind) -> Option<&StepResult> {
        self.result.as_ref().filter(|result| result.kind == kind)
    }
}

/// The record of a finished step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRecord {
    pub n: u32,
    pub text: String,
    pub outcome: StepOutcome,
    /// The last test run, where there was a change to test.
    pub receipt: Option<Receipt>,
    /// How many fix turns it took.
    pub fix_turns: u32,
    /// The first line of the agent's last message.
    pub summary: String,
    pub changed: Vec<String>,
    /// Untracked files that its test runs made; not committed.
    pub made_by_tests: Vec<String>,
    /// Files it edited that stay uncommitted because they contained changes of the user.
    pub left_out: Vec<String>,
    /// Files that changed while it ran and do not belong to it: they stay uncommitted, and undoing it leaves them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users_edits: Vec<String>,
    /// What the user decided where it did not pass by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<StepOverride>,
    /// Why the user skipped it; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub skip_reason: String,
    /// What is known of its proof; `None` where proofs are off, and in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<RecordedProof>,
    /// The tree before its first turn; `None` in runs of earlier versions.
    #[serde(default)]
    pub tree_before: Option<String>,
    /// The tree after it, including what its tests made; `None` in runs of earlier versions.
    #[serde(default)]
    pub tree_after: Option<String>,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum StepOutcome {
    /// It is in a commit.
    Committed {
        /// The full commit id.
        commit: String,
        /// The commit's first line.
        message: String,
        /// `None` where it was not counted, and in runs of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<CommitSize>,
    },
    /// It changed files, and no commit was made.
    Uncommitted { reason: String },
    /// It changed nothing, so its work is never tested.
    NoChange,
}

/// How much a commit changes, compared with its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CommitSize {
    pub files: u32,
    /// Lines, without those of binary files.
    pub added: u32,
    /// Lines, without those of binary files.
    pub removed: u32,
}

impl CommitSize {
    /// Describes it in a few words: `2 files · +21 −1`.
    pub fn describe(self) -> String {
        let files = pluralize(self.files as usize, "file");
        let lines = describe_line_counts(self.added as usize, self.removed as usize);
        let gap = if lines.is_empty() { "" } else { " · " };
        format!("{files}{gap}{lines}")
    }
}

/// What the user decided about a step that did not pass by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOverride {
    /// What it asks for was already there.
    AlreadyTrue,
    /// It is not done, and its box stays open.
    Skipped,
    /// Its tests do not fail, but may not have tested what they tested before.
    TestsInDoubt,
}

impl StepOverride {
    pub fn describe(self) -> &'static str {
        match self {
            Self::AlreadyTrue => "the user marked it as already done",
            Self::Skipped => "the user skipped it",
            Self::TestsInDoubt => "the user accepted its doubtful tests",
        }
    }
}

/// How to show a finished step: one rule for all views.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepAssessment {
    /// It is committed, and nothing speaks against it.
    Committed,
    /// Nothing speaks against it, but it is in no commit.
    Uncommitted,
    /// It changed nothing, so its work is never tested.
    Unchanged,
    /// Its tests do not let it pass.
    Failing,
}

impl StepAssessment {
    /// The text for a step that changed nothing.
    pub const CHANGED_NOTHING: &str = "changed nothing";

    /// Returns its symbol: a tick only where something was done and nothing speaks against it.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Committed | Self::Uncommitted => "✓",
            Self::Unchanged => "–",
            Self::Failing => "■",
        }
    }
}

/// Steps that were undone and can be redone, as long as no other turn has worked since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoRecord {
    /// The records of the steps.
    pub records: Vec<StepRecord>,
    /// The step that was current, where it was undone too.
    pub current: Option<CurrentStep>,
    /// The tree from before the undo.
    pub kept: String,
    /// The tree from right after the undo.
    pub left: String,
    /// The commit that reverted theirs.
    pub commit: Option<String>,
}

impl StepRecord {
    /// Returns how to show the step.
    pub fn assessment(&self) -> StepAssessment {
        let passes = self.receipt.as_ref().is_none_or(Receipt::allows_next_step);
        match &self.outcome {
            StepOutcome::NoChange => StepAssessment::Unchanged,
            _ if !passes => StepAssessment::Failing,
            StepOutcome::Committed { .. } => StepAssessment::Committed,
            StepOutcome::Uncommitted { .. } => StepAssessment::Uncommitted,
        }
    }

    /// Returns whether it was skipped, so that its box stays open.
    pub fn is_skipped(&self) -> bool {
        self.decided == Some(StepOverride::Skipped)
    }

    /// Returns whether it was skipped before its first turn, so that it cannot have changed anything.
    pub fn is_skipped_unbegun(&self) -> bool {
        self.is_skipped() && self.tree_before.is_none() && self.outcome == StepOutcome::NoChange
    }

    /// Returns why its work is not proven; `None` where this program saw its tests pass, or where it changed only
    /// documentation.
    pub fn unproven_reason(&self) -> Option<&'static str> {
        let is_tested = matches!(
            self.receipt.as_ref().map(|receipt| &receipt.outcome),
            Some(TestOutcome::Passed)
        );
        let is_changed = matches!(
            self.assessment(),
            StepAssessment::Committed | StepAssessment::Uncommitted
        );
        if let Some(proof) = self
            .proof
            .as_ref()
            .filter(|_| is_changed && self.decided.is_none())
        {
            return proof.unproven_reason(&self.changed);
        }
        match (self.decided, self.assessment()) {
            (Some(StepOverride::Skipped), _) => Some("was skipped"),
            (Some(StepOverride::TestsInDoubt), _) => Some("was accepted with doubtful tests"),
            (None, StepAssessment::Unchanged) if self.proof.is_some() => {
                Some("was already true, seen by the baseline")
            }
            (_, StepAssessment::Unchanged) => Some(StepAssessment::CHANGED_NOTHING),
            (_, StepAssessment::Failing) => Some("was accepted with failing tests"),
            (_, StepAssessment::Committed | StepAssessment::Uncommitted) if is_tested => None,
            (_, StepAssessment::Committed | StepAssessment::Uncommitted) => {
                let is_documentation = self.changed.iter().all(|path| is_documentation(path));
                (!is_documentation).then_some("was not tested")
            }
        }
    }

    /// Returns the reason of a skipped step as it follows other words; empty where none was given.
    pub fn skip_words(&self) -> String {
        if self.skip_reason.is_empty() {
            String::new()
        } else {
            format!(" ({})", self.skip_reason)
        }
    }

    /// Returns why a step is only checked as it follows other words; empty for every other step.
    pub(super) fn checked_words(&self) -> String {
        let proof = self.proof.as_ref().filter(|proof| proof.waiver.is_none());
        match proof.map(|proof| &proof.status) {
            Some(ProofStatus::Checked(reason)) => format!(" ({})", clean_to_one_line(reason)),
            _ => String::new(),
        }
    }

    /// Returns the one word for what is proven of it: proven, kept, checked, waived or unproven.
    pub fn proof_word(&self) -> &'static str {
        match &self.proof {
            Some(_) if self.decided.is_some() => "unproven",
            Some(proof) if proof.waiver.is_some() => "waived",
            Some(proof) => proof.status.word(),
            None => "unproven",
        }
    }

    /// Returns the full id of its commit.
    pub fn commit(&self) -> Option<&str> {
        match &self.outcome {
            StepOutcome::Committed { commit, .. } => Some(commit),
            StepOutcome::Uncommitted { .. } | StepOutcome::NoChange => None,
        }
    }

    /// Returns the first line of its commit without the number of the step; `None` where nothing was committed.
    pub fn commit_title(&self) -> Option<&str> {
        let StepOutcome::Committed { message, .. } = &self.outcome else {
            return None;
        };
        let lead = format!("[Step {}] ", self.n);
        Some(message.strip_prefix(&lead).unwrap_or(message))
    }

    /// Describes what was tested, or says that it changed nothing where there was nothing to test.
    pub fn describe_tests(&self) -> String {
        let is_failing = self.assessment() == StepAssessment::Failing;
        if let Some(proof) = self.proof.as_ref().filter(|_| !is_failing) {
            return proof.describe();
        }
        match (&self.outcome, &self.receipt) {
            (StepOutcome::NoChange, _) => match self.decided {
                Some(decided) => format!(
                    "{}: {}{}",
                    StepAssessment::CHANGED_NOTHING,
                    decided.describe(),
                    self.skip_words()
                ),
                None => StepAssessment::CHANGED_NOTHING.to_owned(),
            },
            (_, Some(receipt)) => receipt.describe(),
            (_, None) => "not tested".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_change_that_nothing_speaks_against_has_a_tick() {
        let committed = StepOutcome::Committed {
            commit: "c".to_owned(),
            message: "m".to_owned(),
            size: None,
        };
        let uncommitted = StepOutcome::Uncommitted {
            reason: "r".to_owned(),
        };
        let failed = Receipt {
            outcome: TestOutcome::Failed,
            ..Receipt::without_command()
        };
        let came = |outcome: &StepOutcome, receipt: Option<&Receipt>| {
            let record = StepRecord {
                n: 1,
                text: String::new(),
                outcome: outcome.clone(),
                receipt: receipt.cloned(),
                fix_turns: 0,
                summary: String::new(),
                changed: Vec::new(),
                made_by_tests: Vec::new(),
                left_out: Vec::new(),
                users_edits: Vec::new(),
                decided: None,
                skip_reason: String::new(),
                proof: None,
                tree_before: None,
                tree_after: None,
            };
            (record.assessment(), record.assessment().symbol())
        };
        assert_eq!(came(&committed, None), (StepAssessment::Committed, "✓"));
        assert_eq!(came(&uncommitted, None), (StepAssessment::Uncommitted, "✓"));
        for outcome in [&committed, &uncommitted] {
            assert_eq!(came(outcome, Some(&failed)), (StepAssessment::Failing, "■"));
        }
        let nothing = StepOutcome::NoChange;
        assert_eq!(
            came(&nothing, Some(&failed)),
            (StepAssessment::Unchanged, "–")
        );
    }
}
