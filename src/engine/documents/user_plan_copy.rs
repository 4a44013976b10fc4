//! Copies a plan file of the user's to `plan.md`, before the run has a goal.

use crate::domain::event::Event;
use crate::domain::plan::Plan;
use crate::domain::run::DocumentAuthor;
use crate::domain::user_plan::UserPlan;
use crate::engine::run_context::RunContext;
use crate::engine::warnings::failure_event;
use crate::store::{StoreError, document_files};
use crate::text::clean_to_one_line;

use super::document_collector::{commit_plan, document_hash};
use super::document_commit::{DocumentCommitError, WorkflowDocumentLock};
use super::document_sanitizer::clean_plan;
use super::user_edits::foreign_tick_event;

/// Copies the plan and returns the events that describe it. Its boxes are emptied: only steps of this run count as done.
///
/// # Errors
/// The document cannot be read or written, or another program keeps it locked.
pub(in crate::engine) async fn copy_user_plan(
    run: &RunContext,
    file: &UserPlan,
) -> Result<Vec<Event>, StoreError> {
    let lock = WorkflowDocumentLock::acquire(run.journal.guard()).await?;
    let layout = run.journal.layout();
    let found = document_files::read_document(&layout.plan())?;
    let (base, author) = (document_hash(&found), DocumentAuthor::User);
    let plan = clean_plan(file.plan.clone());
    let copied = match commit_plan(run, &file.text, plan, author, base, &lock) {
        Ok(copied) => copied,
        Err(DocumentCommitError::Store(error)) => return Err(error),
        Err(DocumentCommitError::Conflict) => {
            let name = &layout.names().plan;
            let reason = format!("another program wrote {name} just now; start again");
            return Ok(vec![failure_event("copy your plan", reason)]);
        }
    };
    let event = |plan: Plan| Event::PlanEdited {
        approval_sha256: plan.approval_sha256.clone(),
        plan: Some(plan),
        file_sha256: copied.file_sha256.clone(),
        source: Some(clean_to_one_line(&file.name)),
    };
    let mut emptied = copied.plan.clone();
    emptied.steps.iter_mut().for_each(|step| step.done = false);
    let ticks = foreign_tick_event(run, &event(copied.plan));
    Ok([event(emptied)].into_iter().chain(ticks).collect())
}
