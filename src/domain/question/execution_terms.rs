//! Defines what the user approves with an execution.

use serde::{Deserialize, Serialize};

use crate::domain::bound_parts::ApprovalBinding;
use crate::domain::ids::Sha256;
use crate::domain::plan_change::PlanChange;
use crate::domain::test_command::TestCommand;
use crate::text::pluralize;

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
    /// Which steps an earlier approval no longer covers, where an execution continues with a changed plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Box<PlanChange>>,
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
    pub(super) fn describe(&self) -> String {
        let test = self.describe_test();
        let commits = match &self.commits {
            CommitTarget::Off { reason } => format!("No commits: {reason}"),
            CommitTarget::Current { branch } => format!("Commits go to {branch}"),
            CommitTarget::New { branch, .. } => format!("Commits go to the new branch {branch}"),
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
        let change = self.change.iter();
        let change: String = change
            .map(|change| format!("{}. ", change.describe()))
            .collect();
        format!("Run this plan? {change}{commits}. {test}{yours}{left}")
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

/// Where commits go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "commits", rename_all = "snake_case")]
pub enum CommitTarget {
    /// No git repository: commits are off.
    Off { reason: String },
    /// On the branch that is checked out.
    Current { branch: String },
    /// On a new branch.
    New {
        branch: String,
        /// The branch that was checked out before; `None` with a detached HEAD, and in old logs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
    },
}

impl CommitTarget {
    /// Returns whether commits that were approved to go here may go to `other`. Old approvals do not say from which
    /// branch a new one is made.
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::New { branch, from: None },
                Self::New {
                    branch: of_other, ..
                },
            ) => branch == of_other,
            _ => self == other,
        }
    }
}
