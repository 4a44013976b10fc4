//! Says why a step cannot be skipped, planned again, undone or redone now.

use super::{ProgramOperation, RunState};
use crate::domain::phase::Phase;
use crate::domain::plan_execution::StepStage;
use crate::domain::question::QuestionKind;

/// The reason while the program works.
const BUSY: &str = "the program is working on a step: wait for the next question or turn";

impl RunState {
    /// Returns why a step cannot be skipped now; `None` where it can.
    pub fn skip_blocker(&self, step: u32) -> Option<String> {
        let is_worked_on = self.current_step_number() == Some(step) && self.busy.is_some();
        self.unfinished_step_blocker(step)
            .or_else(|| is_worked_on.then(|| BUSY.to_owned()))
    }

    /// Returns why a step cannot be planned again now; `None` where it can.
    pub fn replan_blocker(&self, step: u32) -> Option<String> {
        // A turn that has not started can be left; everything else that the program does must end first.
        let is_busy = match &self.busy {
            None | Some(ProgramOperation::Held { .. } | ProgramOperation::Storing { .. }) => false,
            Some(_) => true,
        };
        self.unfinished_step_blocker(step)
            .or_else(|| is_busy.then(|| BUSY.to_owned()))
    }

    pub(super) fn unfinished_step_blocker(&self, step: u32) -> Option<String> {
        let executes = self.phase == Phase::Execute;
        let Some(execution) = self.execution.as_ref().filter(|_| executes) else {
            return Some("no plan is being executed".to_owned());
        };
        if self.planned_step(step).is_none() {
            return Some(format!("the plan has no step {step}"));
        }
        if execution.done.iter().any(|record| record.n == step) {
            return Some(format!("step {step} has ended; /undo {step} takes it back"));
        }
        let kind = self.awaiting.as_ref().map(|question| &question.kind);
        match kind {
            Some(QuestionKind::StepRecovery { step, .. }) => Some(format!(
                "step {step} was cut off when the program exited: answer that first"
            )),
            _ => None,
        }
    }

    /// Returns why no step can be undone or redone now, and what to do about it; `None` when one can.
    pub fn undo_blocker(&self) -> Option<String> {
        let replanning = self.replanning.as_ref();
        if replanning.is_some_and(|record| record.kept.is_some()) {
            let what =
                "a step is being planned again: steps can be undone once the plan is approved";
            return Some(what.to_owned());
        }
        if self.execution.is_none() {
            return Some("no step has changed anything yet".to_owned());
        }
        if self.running.is_some() {
            let what = "a turn is running: wait or interrupt it (X), then undo";
            return Some(what.to_owned());
        }
        if self.busy.is_some() {
            let what = "the program is working on the step: wait for the next question, then undo";
            return Some(what.to_owned());
        }
        let kind = self.awaiting.as_ref().map(|question| &question.kind);
        match kind {
            Some(QuestionKind::StepRecovery {
                step,
                stage: StepStage::Commit | StepStage::Record,
            }) => Some(format!(
                "step {step} was being committed when the program exited: answer that first"
            )),
            Some(_) | None => None,
        }
    }

    /// Returns whether an undo or redo is in progress.
    pub(super) fn is_undo_running(&self) -> bool {
        matches!(self.busy, Some(ProgramOperation::Reversing { .. }))
    }
}
