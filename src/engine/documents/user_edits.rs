//! Reads the documents on disk, and finds what the user changed in them.

use std::path::Path;

use crate::domain::event::Event;
use crate::domain::phase::Phase;
use crate::domain::plan::{self, Plan, Step};
use crate::domain::plan_thread::ThreadAuthor;
use crate::domain::run::{ProgramOperation, RunState};
use crate::engine::run_context::RunContext;
use crate::engine::warnings::{failure_event, warning_event};
use crate::store::document_files::{self as files, DocumentContent};
use crate::store::{DocumentLock, StoreError, iteration_files};

use super::document_sanitizer::clean_plan;
use super::document_threads::DocumentThreads;

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
/// What the program itself wrote just before it ended, or before a later write failed, is no edit: a mark is recorded
/// now, and a document is committed again.
///
/// # Errors
/// A file cannot be read.
pub(in crate::engine) fn try_detect_user_edits(run: &RunContext) -> Result<Vec<Event>, StoreError> {
    let mut events = find_plan_changes(run)?;
    let mut threads = DocumentThreads::new(run, &[]);
    if events.iter().any(is_plan_edit) {
        threads.follow_plan(run)?;
    }
    let (path, state) = (run.journal.layout().comments(), run.state());
    if let Some(now) = files::read_document(&path)?
        && state.comments_sha256.as_ref() != Some(&now.sha256)
    {
        let is_own = DocumentLock::is_own_write(&path, &now.sha256)?;
        let file_sha256 = now.sha256;
        if is_own && !is_write_repeated(state) {
            events.push(Event::ThreadsWritten { file_sha256 });
        } else if !is_own {
            DocumentLock::forget_own_write(&path)?;
            events.push(Event::CommentsEdited { file_sha256 });
            let text = String::from_utf8_lossy(&now.bytes);
            threads.take_messages(run, &text, ThreadAuthor::User)?;
        }
    }
    events.extend(threads.into_event());
    Ok(events)
}

/// Returns whether an event is about another text of the plan.
fn is_plan_edit(event: &Event) -> bool {
    matches!(event, Event::PlanEdited { .. })
}

fn find_plan_changes(run: &RunContext) -> Result<Vec<Event>, StoreError> {
    let (path, state) = (run.journal.layout().plan(), run.state());
    let (now, known) = match (files::read_document(&path)?, &state.plan) {
        (Some(now), known) => (now, known),
        (None, None) => return Ok(Vec::new()),
        (None, Some(_)) => {
            DocumentLock::forget_own_write(&path)?;
            return Ok(vec![Event::PlanEdited {
                plan: None,
                approval_sha256: plan::approval_hash(""),
                file_sha256: plan::file_hash(b""),
                source: None,
            }]);
        }
    };
    if let Some(known) = known
        .as_ref()
        .filter(|known| known.file_sha256 != now.sha256)
        && DocumentLock::is_own_write(&path, &now.sha256)?
    {
        let text = String::from_utf8_lossy(&now.bytes);
        if plan::approval_hash(&text) == known.plan.approval_sha256 {
            return Ok(vec![Event::PlanMarked {
                file_sha256: now.sha256,
            }]);
        }
        if is_write_repeated(state) {
            return Ok(Vec::new());
        }
    }
    let Some(edit) = plan_edit_event(run, &now) else {
        return Ok(Vec::new());
    };
    DocumentLock::forget_own_write(&path)?;
    let foreign = foreign_tick_event(run, &edit);
    Ok([edit].into_iter().chain(foreign).collect())
}

/// Returns whether a document or remarks are still to be written, so that a write without an event is made again.
fn is_write_repeated(state: &RunState) -> bool {
    let is_collecting = matches!(state.busy, Some(ProgramOperation::Collecting { .. }));
    is_collecting || state.remarks.is_some()
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
    let (n, name) = (run.next_iteration(), &run.journal.layout().names().plan);
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
