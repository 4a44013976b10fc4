//! Finds the document that a turn left when the program ended, and accepts it or puts it aside.
//!
//! It is validated in the same way as every turn's document.

use crate::domain::event::Event;
use crate::domain::question::{DraftFile, QuestionKind};
use crate::domain::run::{ProgramOperation, ResultValidity};
use crate::domain::turn::{TurnOrder, TurnPurpose};
use crate::store::StoreError;
use crate::store::document_files::DocumentContent;
use crate::text::{count_changed_lines, count_lines};

use super::document_commit::WorkflowDocumentLock;
use crate::engine::{Engine, PendingDocument, failure_event, staging_folder};

impl Engine {
    /// Looks for what the interrupted turn left; only before EXECUTE, where turns return documents.
    pub(in crate::engine) fn find_recovered_draft(&self) -> Result<Option<Event>, StoreError> {
        let state = self.state();
        let order = match (&state.running, &state.busy) {
            (Some(running), _) if running.result == ResultValidity::Yes => &running.order,
            (None, Some(ProgramOperation::Collecting { order, .. })) => order,
            _ => return Ok(None),
        };
        let Some(left) = self.load_leftover_document(order)? else {
            return Ok(None);
        };
        let files = self.count_draft_files(&left);
        Ok((!files.is_empty()).then(|| Event::DraftFound {
            turn: order.turn.clone(),
            files,
        }))
    }

    fn count_draft_files(&self, left: &PendingDocument) -> Vec<DraftFile> {
        let (found, names) = (
            self.returned_documents(left),
            self.run.journal.layout().names(),
        );
        let (plan, comments) = (&left.staging.plan_before, &left.staging.comments_before);
        let files = match left.order.purpose {
            TurnPurpose::WritePlan => vec![(&names.plan, plan, found.plan)],
            TurnPurpose::Review => vec![(&names.comments, comments, found.comments)],
            // Answers to a review are appended: all of them are new.
            _ => vec![
                (&names.plan, plan, found.plan),
                (&names.comments, &None, found.comments),
            ],
        };
        let counted =
            |(name, before, text): (&String, &Option<DocumentContent>, Option<String>)| {
                Some(count_draft_file(name, before.as_ref(), &text?))
            };
        files.into_iter().filter_map(counted).collect()
    }

    /// Loads the documents in a turn's folder, as if the turn had just ended.
    fn load_leftover_document(
        &self,
        order: &TurnOrder,
    ) -> Result<Option<PendingDocument>, StoreError> {
        let brings_one = matches!(
            order.purpose,
            TurnPurpose::WritePlan | TurnPurpose::Review | TurnPurpose::Respond
        );
        let session = self.state().session(order.purpose.role());
        let Some(session) = session.filter(|_| brings_one) else {
            return Ok(None);
        };
        let layout = self.run.journal.layout();
        let staging =
            staging_folder::load_leftover_staging(layout, layout.staging_folder(&session.id))?;
        Ok(staging.map(|staging| PendingDocument {
            order: order.clone(),
            final_text: String::new(),
            staging,
            merged_text: None,
            n_failed_writes: 0,
        }))
    }

    /// Returns the document that the open question is about.
    pub(in crate::engine) fn document_in_question(
        &self,
    ) -> Result<Option<PendingDocument>, StoreError> {
        let kind = self
            .state()
            .awaiting
            .as_ref()
            .map(|question| &question.kind);
        match kind {
            Some(QuestionKind::Conflict { .. }) => Ok(self.pending_document.clone()),
            Some(QuestionKind::Draft { order, .. }) => self.load_leftover_document(order),
            _ => Ok(None),
        }
    }

    pub(in crate::engine) fn accept_draft(
        &mut self,
        order: &TurnOrder,
        pen: Result<WorkflowDocumentLock, StoreError>,
    ) -> Vec<Event> {
        match self.load_leftover_document(order) {
            Ok(Some(left)) => self.pending_document = Some(left),
            Ok(None) => {}
            Err(error) => return vec![failure_event("read the draft", error)],
        }
        self.collect_document(order, pen)
    }

    pub(in crate::engine) fn discard_draft(&mut self, order: &TurnOrder) -> Vec<Event> {
        let dropped = self.load_leftover_document(order).and_then(|left| {
            self.pending_document = left;
            self.save_agent_copy()
        });
        // The draft must not be removed if it could not be saved.
        match dropped {
            Ok(()) => self.drop_pending_document(),
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
