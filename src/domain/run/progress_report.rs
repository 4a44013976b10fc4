//! Says how far a run is: how its review ended, which steps have ended, and what is proven of them.

use std::collections::BTreeSet;

use super::{PlanFileState, RunState, VerdictRecord};
use crate::domain::ids::Sha256;
use crate::domain::phase::Phase;
use crate::domain::plan::Step;
use crate::domain::plan_change::PlanChange;
use crate::domain::plan_execution::{PlanExecution, StepCount, StepRecord};
use crate::domain::run_timeline::ReviewSpan;
use crate::text::pluralize;

/// Who ended the review of a plan, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReviewEnd {
    /// The agents agreed.
    Settled,
    ForcedByUser,
    AcceptedByUser,
}

impl VerdictRecord {
    /// Returns how the review ended that led to the approval of this plan.
    fn review_end(&self, approved: &Sha256) -> ReviewEnd {
        if self.forced {
            ReviewEnd::ForcedByUser
        } else if self.value.is_approved() && self.plan_sha256 == *approved {
            ReviewEnd::Settled
        } else {
            ReviewEnd::AcceptedByUser
        }
    }

    fn describe_reviews(&self) -> String {
        pluralize(usize::try_from(self.iteration).unwrap_or(0), "review")
    }
}

impl RunState {
    /// Returns the last review of this goal; `None` before there is one.
    pub fn last_review(&self) -> Option<&ReviewSpan> {
        self.verdict.as_ref()?;
        self.course.reviews().last()
    }

    /// Says why the review of the plan ended: `finished after 3 reviews: 7 fixed, 1 rejected with reason, 2 minor left
    /// open`. `None` while it has not ended, and where there was none.
    pub fn describe_review_end(&self) -> Option<String> {
        let (verdict, approved) = (self.verdict.as_ref()?, self.approved_sha256.as_ref()?);
        let how = match verdict.review_end(approved) {
            ReviewEnd::Settled => "finished after",
            ReviewEnd::ForcedByUser => "approved by you anyway after",
            ReviewEnd::AcceptedByUser => "accepted by you after",
        };
        Some(self.with_finding_counts(&format!("{how} {}", verdict.describe_reviews())))
    }

    /// Says the same as a value behind the label `Review`: `3 reviews: 7 fixed`.
    pub fn describe_review_value(&self) -> Option<String> {
        let (verdict, approved) = (self.verdict.as_ref()?, self.approved_sha256.as_ref()?);
        match verdict.review_end(approved) {
            ReviewEnd::Settled => Some(self.with_finding_counts(&verdict.describe_reviews())),
            ReviewEnd::ForcedByUser | ReviewEnd::AcceptedByUser => self.describe_review_end(),
        }
    }

    fn with_finding_counts(&self, how: &str) -> String {
        let n_earlier = self.findings.review_count().saturating_sub(self.iteration);
        let counts = self.findings.describe_counts(n_earlier);
        if counts.is_empty() {
            format!("{how}, without findings")
        } else {
            format!("{how}: {counts}")
        }
    }

    /// Returns the records of the steps of this plan that have ended, also while one of the others is planned again.
    pub fn ended_steps(&self) -> impl Iterator<Item = &StepRecord> {
        let kept = self
            .replanning
            .iter()
            .filter_map(|record| record.kept.as_deref());
        let executions = self.execution.iter().chain(kept);
        executions.flat_map(|execution| &execution.done)
    }

    /// Returns how many steps of the plan are finished; zero of zero while there is no plan.
    pub fn step_count(&self) -> StepCount {
        let steps = self.plan.as_ref().map(|file| &file.plan.steps);
        let through: BTreeSet<u32> = self.ended_steps().map(|record| record.n).collect();
        let is_done = |step: &&Step| through.contains(&step.n);
        StepCount {
            done: steps.map_or(0, |steps| steps.iter().filter(is_done).count()),
            all: steps.map_or(0, Vec::len),
        }
    }

    /// Returns how the plan differs from the one whose execution runs or is kept; `None` where there is none, where the
    /// file is no plan, and in runs of earlier versions. Steps that have ended are left out.
    pub fn plan_change(&self) -> Option<PlanChange> {
        let file = self.plan.as_ref();
        let plan = &file
            .filter(|file| file.reading == PlanFileState::Plan)?
            .plan;
        let kept = self.replanning.as_ref();
        let kept = kept.and_then(|record| record.kept.as_deref());
        let approved = &self.execution.as_ref().or(kept)?.approved_steps;
        if approved.is_empty() {
            return None;
        }
        let mut change = PlanChange::between(approved, plan);
        let is_open = |n: &u32| self.ended_steps().all(|record| record.n != *n);
        change.changed.retain(is_open);
        change.removed.retain(is_open);
        Some(change)
    }

    /// Returns whether an execution finished without changing anything.
    pub fn has_changed_nothing(&self) -> bool {
        let execution = self.execution.as_ref();
        self.phase == Phase::Done && execution.is_none_or(PlanExecution::has_changed_nothing)
    }

    /// Counts the finished steps by what is proven of them: `4 of 5 proven, 1 waived`; `None` where proofs are off or no
    /// step has ended.
    pub fn describe_proofs(&self) -> Option<String> {
        let execution = self.execution.as_ref();
        execution
            .filter(|_| self.settings.proves_steps)?
            .describe_proofs()
    }

    /// Describes which steps are not proven and why, in one line; `None` where all are.
    pub fn describe_unproven_steps(&self) -> Option<String> {
        let execution = self.execution.as_ref();
        let told = execution.map_or(Vec::new(), PlanExecution::describe_unproven_steps);
        match told.is_empty() {
            true if self.has_changed_nothing() => Some("nothing was changed".to_owned()),
            true => None,
            false => Some(told.join(", ")),
        }
    }
}
