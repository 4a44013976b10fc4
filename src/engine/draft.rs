//! What a turn left in its folder when the program ended: found, counted, taken in or put aside.
//!
//! Refuses to judge it: it goes the way of every turn's document.

use crate::domain::event::Event;
use crate::domain::question::{DraftFile, QuestionKind};
use crate::domain::run::{ProgramOperation, ResultValidity};
use crate::domain::turn::{TurnOrder, TurnPurpose};
use crate::store::StoreError;
use crate::store::document_files::DocumentContent;
use crate::text::{count_changed_lines, count_lines};

use super::documents::Pen;
use super::{Engine, Held, failed, staging};

impl Engine {
    /// Looks for what the turn that was cut off left; before EXECUTE only, where a turn brings a document.
    pub(super) fn find_draft(&self) -> Result<Option<Event>, StoreError> {
        let state = self.state();
        let order = match (&state.running, &state.busy) {
            (Some(running), _) if running.result == ResultValidity::Yes => &running.order,
            (None, Some(ProgramOperation::Collecting { order, .. })) => order,
            _ => return Ok(None),
        };
        let Some(left) = self.left_behind(order)? else {
            return Ok(None);
        };
        let files = self.counted(&left);
        Ok((!files.is_empty()).then(|| Event::DraftFound {
            turn: order.turn.clone(),
            files,
        }))
    }

    fn counted(&self, left: &Held) -> Vec<DraftFile> {
        let (found, names) = (self.returned(left), self.journal.layout().names());
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
                Some(count(name, before.as_ref(), &text?))
            };
        files.into_iter().filter_map(counted).collect()
    }

    /// What lies in the folder of a turn, as if it had just ended.
    fn left_behind(&self, order: &TurnOrder) -> Result<Option<Held>, StoreError> {
        let brings_one = matches!(
            order.purpose,
            TurnPurpose::WritePlan | TurnPurpose::Review | TurnPurpose::Respond
        );
        let session = self.state().session(order.purpose.role());
        let Some(session) = session.filter(|_| brings_one) else {
            return Ok(None);
        };
        let layout = self.journal.layout();
        let staging = staging::left_behind(layout, layout.staging_folder(&session.id))?;
        Ok(staging.map(|staging| Held {
            order: order.clone(),
            final_text: String::new(),
            staging,
            merged: None,
            n_refused: 0,
        }))
    }

    /// The document that the open question is about.
    pub(super) fn at_issue(&self) -> Result<Option<Held>, StoreError> {
        let kind = self
            .state()
            .awaiting
            .as_ref()
            .map(|question| &question.kind);
        match kind {
            Some(QuestionKind::Conflict { .. }) => Ok(self.held.clone()),
            Some(QuestionKind::Draft { order, .. }) => self.left_behind(order),
            _ => Ok(None),
        }
    }

    pub(super) fn take_draft(
        &mut self,
        order: &TurnOrder,
        pen: Result<Pen, StoreError>,
    ) -> Vec<Event> {
        match self.left_behind(order) {
            Ok(Some(left)) => self.held = Some(left),
            Ok(None) => {}
            Err(error) => return vec![failed("read the draft", error)],
        }
        self.collect(order, pen)
    }

    pub(super) fn drop_draft(&mut self, order: &TurnOrder) -> Vec<Event> {
        let dropped = self.left_behind(order).and_then(|left| {
            self.held = left;
            self.keep_agents()
        });
        // What could not be kept is not removed.
        match dropped {
            Ok(()) => self.drop_held(),
            Err(error) => return vec![failed("put the draft aside", error)],
        }
        Vec::new()
    }
}

fn count(name: &str, before: Option<&DocumentContent>, text: &str) -> DraftFile {
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
