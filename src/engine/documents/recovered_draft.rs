//! Finds the document that a turn left when the program ended, and accepts it or puts it aside.
//!
//! It is validated in the same way as every turn's document.

use crate::domain::event::Event;
use crate::domain::question::{DraftFile, QuestionKind};
use crate::domain::run::{ProgramOperation, ResultValidity};
use crate::domain::turn::{TurnOrder, TurnPurpose};
use crate::engine::run_context::RunContext;
use crate::engine::staging_folder;
use crate::engine::warnings::failure_event;
use crate::store::document_files::DocumentContent;
use crate::store::{StoreError, WorkdirNames};
use crate::text::{count_changed_lines, count_lines};

use super::document_collector::CommitBase;
use super::document_commit::LockAttempt;
use super::{PendingDocument, RunDocuments};

/// Looks for what the interrupted turn left; only before EXECUTE, where turns return documents.
///
/// # Errors
/// The documents from the beginning of the turn cannot be read.
pub(in crate::engine) fn find_recovered_draft(
    run: &RunContext,
) -> Result<Option<Event>, StoreError> {
    let state = run.state();
    let order = match (&state.running, &state.busy) {
        (Some(running), _) if running.result == ResultValidity::Yes => &running.order,
        (None, Some(ProgramOperation::Collecting { order, .. })) => order,
        _ => return Ok(None),
    };
    let Some(left) = load_leftover_document(run, order)? else {
        return Ok(None);
    };
    let files = count_draft_files(run.journal.layout().names(), &left);
    Ok((!files.is_empty()).then(|| Event::DraftFound {
        turn: order.turn.clone(),
        files,
    }))
}

fn count_draft_files(names: &WorkdirNames, left: &PendingDocument) -> Vec<DraftFile> {
    let returned = left.returned_documents(names);
    let (plan, comments) = (&left.staging.plan_before, &left.staging.comments_before);
    let files = match left.order.purpose {
        TurnPurpose::WritePlan => vec![(&names.plan, plan, returned.plan)],
        TurnPurpose::Review => vec![(&names.comments, comments, returned.comments)],
        // Answers to a review are appended: all of them are new.
        _ => vec![
            (&names.plan, plan, returned.plan),
            (&names.comments, &None, returned.comments),
        ],
    };
    let counted = |(name, before, text): (&String, &Option<DocumentContent>, Option<String>)| {
        Some(count_draft_file(name, before.as_ref(), &text?))
    };
    files.into_iter().filter_map(counted).collect()
}

/// Loads the documents in a turn's folder, as if the turn had just ended.
fn load_leftover_document(
    run: &RunContext,
    order: &TurnOrder,
) -> Result<Option<PendingDocument>, StoreError> {
    let brings_one = matches!(
        order.purpose,
        TurnPurpose::WritePlan | TurnPurpose::Review | TurnPurpose::Respond
    );
    let session = run.state().session(order.purpose.role());
    let Some(session) = session.filter(|_| brings_one) else {
        return Ok(None);
    };
    let layout = run.journal.layout();
    let staging =
        staging_folder::load_leftover_staging(layout, layout.staging_folder(&session.id))?;
    Ok(staging.map(|staging| PendingDocument::new(order.clone(), String::new(), staging)))
}

impl RunDocuments {
    /// Returns the document that the open question is about.
    pub(super) fn document_in_question(
        &self,
        run: &RunContext,
    ) -> Result<Option<PendingDocument>, StoreError> {
        let question = run.state().awaiting.as_ref();
        match question.map(|question| &question.kind) {
            Some(QuestionKind::Conflict { .. }) => Ok(self.pending.clone()),
            Some(QuestionKind::Draft { order, .. }) => load_leftover_document(run, order),
            _ => Ok(None),
        }
    }

    pub(super) fn accept_draft(
        &mut self,
        run: &mut RunContext,
        order: &TurnOrder,
        lock: LockAttempt,
    ) -> Vec<Event> {
        match load_leftover_document(run, order) {
            Ok(Some(left)) => self.pending = Some(left),
            Ok(None) => {}
            Err(error) => return vec![failure_event("read the draft", error)],
        }
        self.commit_document(run, order, &CommitBase::TurnStart, lock)
    }

    /// Removes the draft of a turn, once a copy of it is saved.
    pub(in crate::engine) fn discard_draft(
        &mut self,
        run: &RunContext,
        order: &TurnOrder,
    ) -> Vec<Event> {
        let dropped = load_leftover_document(run, order).and_then(|left| {
            self.pending = left;
            self.save_agent_copy(run)
        });
        // The draft must not be removed if it could not be saved.
        match dropped {
            Ok(()) => self.drop_pending(),
            Err(error) => return vec![failure_event("save the draft", error)],
        }
        Vec::new()
    }
}

fn count_draft_file(name: &str, before: Option<&DocumentContent>, text: &str) -> DraftFile {
    let before = before.map_or_else(String::new, |before| {
        String::from_utf8_lossy(&before.bytes).into_owned()
    });
    let (n_added, n_removed) = count_changed_lines(&before, text);
    DraftFile {
        name: name.to_owned(),
        n_lines: count_lines(text),
        n_added,
        n_removed,
    }
}
