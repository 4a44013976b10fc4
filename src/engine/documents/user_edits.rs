//! Reads the documents on disk, and finds what the user changed in them.

use std::path::Path;

use crate::domain::event::Event;
use crate::domain::phase::Phase;
use crate::domain::plan::{self, Plan, Step};
use crate::engine::run_context::RunContext;
use crate::engine::{failure_event, warning_event};
use crate::store::document_files::{self as files, DocumentContent};
use crate::store::{StoreError, iteration_files};

use super::document_collector::{clean_plan, next_iteration};

/// Reads the text of `plan.md` from the disk.
pub(in crate::engine) fn plan_on_disk(run: &RunContext) -> Result<Option<String>, StoreError> {
    read_text(&run.journal.layout().plan())
}

/// Reads the text of `comments.md` from the disk.
pub(in crate::engine) fn comments_on_disk(run: &RunContext) -> Result<Option<String>, StoreError> {
    read_text(&run.journal.layout().comments())
}

fn read_text(path: &Path) -> Result<Option<String>, StoreError> {
    let document = files::read_document(path)?;
    Ok(document.map(|document| String::from_utf8_lossy(&document.bytes).into_owned()))
}

/// Returns events for the user's edits that are not recorded yet, or for the failure to read them.
pub(in crate::engine) fn detect_user_edits(run: &RunContext) -> Vec<Event> {
    try_detect_user_edits(run)
        .unwrap_or_else(|error| vec![failure_event("read the workflow files", error)])
}

/// Returns events for the user's edits to the workflow files that are not recorded yet.
///
/// # Errors
/// A file cannot be read.
pub(in crate::engine) fn try_detect_user_edits(run: &RunContext) -> Result<Vec<Event>, StoreError> {
    let mut events = Vec::new();
    match files::read_document(&run.journal.layout().plan())? {
        Some(now) => {
            let edit = plan_edit_event(run, &now);
            let foreign = edit.as_ref().and_then(|edit| foreign_tick_event(run, edit));
            events.extend(edit.into_iter().chain(foreign));
        }
        None if run.state().plan.is_some() => events.push(Event::PlanEdited {
            plan: None,
            approval_sha256: plan::approval_hash(""),
            file_sha256: plan::file_hash(b""),
            source: None,
        }),
        None => {}
    }
    if let Some(now) = files::read_document(&run.journal.layout().comments())?
        && run.state().comments_sha256.as_ref() != Some(&now.sha256)
    {
        events.push(Event::CommentsEdited {
            file_sha256: now.sha256,
        });
    }
    Ok(events)
}

fn plan_edit_event(run: &RunContext, now: &DocumentContent) -> Option<Event> {
    let text = String::from_utf8_lossy(&now.bytes);
    let plan = plan::parse(&text).ok().map(clean_plan);
    let is_edit = match &run.state().plan {
        Some(known) => known.file_sha256 != now.sha256,
        // The user's edits had made the file an invalid plan, and now it is a plan again.
        None => plan.is_some() && run.state().phase > Phase::WritePlan,
    };
    if !is_edit {
        return None;
    }
    let (n, name) = (next_iteration(run), &run.journal.layout().names().plan);
    if let Err(error) = iteration_files::save_version(run.journal.guard(), n, name, &now.bytes) {
        return Some(failure_event("save your edit of the plan", error));
    }
    Some(Event::PlanEdited {
        approval_sha256: plan::approval_hash(&text),
        file_sha256: now.sha256.clone(),
        plan,
        source: None,
    })
}

/// Returns an event about boxes that were not ticked by the program.
pub(super) fn foreign_tick_event(run: &RunContext, edit: &Event) -> Option<Event> {
    let Event::PlanEdited {
        plan: Some(Plan { steps, .. }),
        ..
    } = edit
    else {
        return None;
    };
    let done: Vec<u32> = run.state().ended_steps().map(|record| record.n).collect();
    let foreign = |step: &&Step| step.done && !done.contains(&step.n);
    let ticked: Vec<String> = steps
        .iter()
        .filter(foreign)
        .map(|step| step.n.to_string())
        .collect();
    (!ticked.is_empty()).then(|| {
        warning_event(
            "count a box that was ticked by hand as a finished step",
            format!(
                "step {}: only steps that agent-collab ran count",
                ticked.join(", ")
            ),
        )
    })
}
