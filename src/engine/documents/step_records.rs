//! Records steps for people: their entries in log.md, and their boxes in plan.md.

use crate::domain::event::Event;
use crate::domain::reversal_plan::{ReversalPlan, UndoDirection};
use crate::domain::run::changed_boxes;
use crate::engine::run_context::RunContext;
use crate::engine::warnings::{failure_event, warning_event};
use crate::store::{StoreError, document_files as files, utc_time};

use super::document_commit::{self, LockAttempt, StepMark};
use super::step_log_entry::{format_step_entry, last_logged_step};
use super::{RunDocuments, detect_user_edits};

impl RunDocuments {
    /// Writes the step's entry into log.md and ticks its box.
    pub(super) fn record_step(
        &mut self,
        run: &RunContext,
        step: u32,
        lock: LockAttempt,
    ) -> Vec<Event> {
        let execution = run.state().execution.as_ref();
        let record =
            execution.and_then(|execution| execution.done.iter().rfind(|record| record.n == step));
        let Some(record) = record else {
            return vec![failure_event("record the step", "its record is missing")];
        };
        let now = run.journal.now();
        let entry = format_step_entry(record, &utc_time::to_rfc3339(now));
        if let Err(error) = self.append_step_log_entry(run, step, &entry) {
            return vec![failure_event("write the step log", error)];
        }
        self.is_resumed = false;
        let mut events = detect_user_edits(run);
        // The box of a skipped step stays open.
        let ticked: &[u32] = if record.is_skipped() { &[] } else { &[step] };
        let marked =
            lock.and_then(|lock| document_commit::mark_steps(&lock, ticked, StepMark::Ticked, now));
        events.push(match marked {
            Ok(plan_file_sha256) => Event::StepRecorded {
                step,
                plan_file_sha256,
            },
            Err(error) => failure_event("mark the step as done", error),
        });
        events
    }

    /// Appends a step's entry to log.md, unless it was already written before a crash.
    fn append_step_log_entry(
        &self,
        run: &RunContext,
        step: u32,
        entry: &str,
    ) -> Result<(), StoreError> {
        let log = files::read_document(&run.journal.layout().log())?;
        let text = log.map(|log| String::from_utf8_lossy(&log.bytes).into_owned());
        if last_logged_step(&text.unwrap_or_default()) == Some(step) && self.is_resumed {
            Ok(())
        } else {
            run.journal.append_log_entry(entry)
        }
    }
}

/// Adds the user's words to a step in plan.md, as an edit of the user.
pub(super) fn amend_step(run: &RunContext, step: u32, text: &str, lock: LockAttempt) -> Vec<Event> {
    match lock.and_then(|lock| document_commit::amend_step(&lock, step, text)) {
        Ok(is_written) => {
            let mut events = detect_user_edits(run);
            if !is_written {
                let plan = &run.journal.layout().names().plan;
                let why = format!(
                    "{plan} has no step {step}, or changed meanwhile; write it there: {text}"
                );
                events.push(warning_event("amend the step", why));
            }
            events.push(Event::StepAmended { step });
            events
        }
        Err(error) => vec![failure_event("amend the step", error)],
    }
}

/// Unticks or ticks the boxes of the steps in plan.md. `kept` is the tree from before.
pub(super) fn record_reversal(
    run: &RunContext,
    reversal: &ReversalPlan,
    kept: String,
    commit: Option<String>,
    lock: LockAttempt,
) -> Vec<Event> {
    let mark = match reversal.way {
        UndoDirection::Undo { .. } => StepMark::Open,
        UndoDirection::Redo => StepMark::Ticked,
    };
    let mut events = detect_user_edits(run);
    let steps = changed_boxes(reversal, run.state());
    let now = run.journal.now();
    let marked = lock.and_then(|lock| document_commit::mark_steps(&lock, &steps, mark, now));
    events.push(match marked {
        Ok(plan_file_sha256) => Event::UndoFinished {
            way: reversal.way,
            steps: reversal.steps.clone(),
            kept,
            commit,
            plan_file_sha256,
        },
        Err(error) => failure_event("write the plan", error),
    });
    events
}
