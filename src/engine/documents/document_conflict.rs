//! Handles a document that the user edited while a turn wrote it: shows both texts, merges them, and saves the
//! loser.
//!
//! A text is overwritten only after a copy was saved. The user resolves the merge in any editor: this code only
//! reads the file in which that happens.

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use crate::domain::event::Event;
use crate::domain::ids::Sha256;
use crate::domain::plan;
use crate::domain::question::{MergeConflict, QuestionAnswer, QuestionKind};
use crate::domain::review;
use crate::domain::run::DocumentAuthor;
use crate::domain::turn::{TurnOrder, TurnPurpose, TurnRetryReason};
use crate::store::document_files::{self as files, DocumentContent, hash_document};
use crate::store::{StoreError, merge_files};
use crate::text::three_way_merge::{ConflictVersions, MergeOutcome, ThreeWayTexts};
use crate::text::{front_matter, pluralize};

use super::document_collector::{
    CommitBase, DocumentsOnDisk, document_hash, missing_document_event,
};
use super::document_commit::WorkflowDocumentLock;
use crate::engine::{Engine, PendingDocument, error_with_hint, failure_event, warning_event};

/// Front matter fields that the program writes; they are no text of the user or of an agent.
const PROGRAM_FIELDS: [&str; 6] = [
    "version",
    "status",
    "iteration",
    "author",
    "updated",
    "plan_sha256",
];
/// How many characters of a text's hash are in the name of its merge file.
const MERGE_NAME_HASH_CHARS: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum WorkflowDocument {
    Plan,
    Comments,
}

/// A document of a turn, and the text that is on disk now.
struct DocumentConflict {
    kind: WorkflowDocument,
    base_text: String,
    user_text: String,
    agent_text: String,
    /// The file below `merges/` in which the user edits the merge; there is one for each pair of texts.
    merge_file: String,
}

/// The result of a merge.
enum MergeAttempt {
    Complete(String),
    /// The user must edit the merge.
    NeedsUser(MergeConflict),
}

impl DocumentConflict {
    fn three_way_texts(&self) -> ThreeWayTexts<'_> {
        ThreeWayTexts {
            base: &self.base_text,
            yours: &self.user_text,
            agents: &self.agent_text,
        }
    }

    /// Returns the reason why a text is not a valid version of this document.
    fn validation_error(&self, text: &str) -> Option<String> {
        let markers = self.three_way_texts().marker_lines(text);
        if let Some(first) = markers.first() {
            return Some(format!("line {first} still has a conflict marker"));
        }
        match self.kind {
            WorkflowDocument::Plan => plan::parse(&plan::untick_all_steps(text))
                .err()
                .map(|problem| problem.to_string()),
            WorkflowDocument::Comments => (!review::is_review(text))
                .then(|| "it has neither the marker line nor a numbered finding".to_owned()),
        }
    }
}

impl Engine {
    /// Continues after the user decided whose text counts.
    pub(in crate::engine) fn resolve_conflict(
        &mut self,
        order: &TurnOrder,
        answer: &QuestionAnswer,
        pen: Result<WorkflowDocumentLock, StoreError>,
    ) -> Vec<Event> {
        let settled = match answer {
            QuestionAnswer::Overwrite => self.overwrite_user_text(order, pen),
            QuestionAnswer::Merge => self.commit_merge(order, pen),
            _ => self.discard_agent_text(order),
        };
        settled.unwrap_or_else(|error| vec![failure_event("resolve the conflict", error)])
    }

    fn overwrite_user_text(
        &mut self,
        order: &TurnOrder,
        pen: Result<WorkflowDocumentLock, StoreError>,
    ) -> Result<Vec<Event>, StoreError> {
        let seen = self.read_documents()?;
        self.save_user_copy(&seen)?;
        Ok(self.commit_document(order, &CommitBase::OnDisk(seen), pen))
    }

    fn discard_agent_text(&mut self, order: &TurnOrder) -> Result<Vec<Event>, StoreError> {
        self.save_agent_copy()?;
        self.drop_pending_document();
        let reason = TurnRetryReason::USER_KEPT_OWN_TEXT;
        let mut events = self.move_merges_aside();
        events.push(missing_document_event(order, reason.to_owned()));
        Ok(events)
    }

    /// Commits the merge of the two texts, or reports what is left to do.
    fn commit_merge(
        &mut self,
        order: &TurnOrder,
        pen: Result<WorkflowDocumentLock, StoreError>,
    ) -> Result<Vec<Event>, StoreError> {
        let seen = self.read_documents()?;
        self.save_user_copy(&seen)?;
        self.save_agent_copy()?;
        let merged = match self.document_conflict(&seen) {
            None => None,
            Some(standing) => match self.try_merge(&standing)? {
                MergeAttempt::Complete(text) => Some(text),
                MergeAttempt::NeedsUser(clash) => {
                    let held = self.pending_document.as_ref();
                    return Ok(held
                        .map(|held| self.conflict_event(held, Some(clash)))
                        .into_iter()
                        .collect());
                }
            },
        };
        if let Some(held) = &mut self.pending_document {
            held.merged_text = merged;
        }
        let events = self.commit_document(order, &CommitBase::OnDisk(seen), pen);
        // What the user typed since then is merged again.
        if let Some(held) = &mut self.pending_document {
            held.merged_text = None;
        }
        Ok(events)
    }

    /// Reads the merge that the user edited, else creates one.
    fn try_merge(&self, standing: &DocumentConflict) -> Result<MergeAttempt, StoreError> {
        if let Some(document) = files::read_document(&self.merge_path(standing))? {
            let text = String::from_utf8_lossy(&document.bytes).into_owned();
            return Ok(match standing.validation_error(&text) {
                None => MergeAttempt::Complete(text),
                Some(why) => MergeAttempt::NeedsUser(self.merge_conflict(standing, why)),
            });
        }
        let (text, why) = match standing.three_way_texts().merge() {
            MergeOutcome::Clean(text) => match standing.validation_error(&text) {
                None => return Ok(MergeAttempt::Complete(text)),
                Some(why) => (text, why),
            },
            MergeOutcome::WithConflicts(text) => {
                let n_places = standing.three_way_texts().marker_lines(&text).len() / 3;
                let places = pluralize(n_places, "place");
                (text, format!("in {places} both changed the same lines"))
            }
        };
        merge_files::write_merge(self.run.journal.layout(), &standing.merge_file, &text)?;
        Ok(MergeAttempt::NeedsUser(self.merge_conflict(standing, why)))
    }

    fn merge_path(&self, standing: &DocumentConflict) -> PathBuf {
        self.run
            .journal
            .layout()
            .merges()
            .join(&standing.merge_file)
    }

    fn merge_conflict(&self, standing: &DocumentConflict, why: String) -> MergeConflict {
        let path = self.merge_path(standing);
        let below = path.strip_prefix(&self.run.setup.root).unwrap_or(&path);
        MergeConflict {
            file: below.to_string_lossy().into_owned(),
            why,
        }
    }

    /// Makes sure that the merge of the open conflict is in a file that can be edited, and returns its path.
    ///
    /// # Errors
    /// The reason why there is no such file.
    pub fn prepare_merge_file(&self) -> Result<PathBuf, String> {
        let prepared = || -> Result<Option<PathBuf>, StoreError> {
            let Some(standing) = self
                .document_conflict(&self.read_documents()?)
                .filter(|_| self.has_open_conflict())
            else {
                return Ok(None);
            };
            if files::read_document(&self.merge_path(&standing))?.is_none() {
                let (MergeOutcome::Clean(text) | MergeOutcome::WithConflicts(text)) =
                    standing.three_way_texts().merge();
                merge_files::write_merge(self.run.journal.layout(), &standing.merge_file, &text)?;
            }
            Ok(Some(self.merge_path(&standing)))
        };
        let nothing = || "there are no longer two versions to merge".to_owned();
        prepared()
            .map_err(|error| error.to_string())?
            .ok_or_else(nothing)
    }

    fn has_open_conflict(&self) -> bool {
        let awaiting = self.state().awaiting.as_ref();
        awaiting.is_some_and(|question| matches!(question.kind, QuestionKind::Conflict { .. }))
    }

    /// Returns the versions that the open question is about; none if it is about something else.
    ///
    /// # Errors
    /// A document cannot be read.
    pub fn conflict_versions(&self) -> Result<Vec<ConflictVersions>, StoreError> {
        let Some(held) = self.document_in_question()? else {
            return Ok(Vec::new());
        };
        let (seen, found) = (self.read_documents()?, self.returned_documents(&held));
        let names = self.run.journal.layout().names();
        // Answers to a review are appended, so the user has no text that they could conflict with.
        let (was, is) = (&held.staging, &seen);
        let comments = match held.order.purpose {
            TurnPurpose::Review => {
                [was.comments_before.as_ref(), is.comments.as_ref()].map(document_text)
            }
            _ => Default::default(),
        };
        let plan = [was.plan_before.as_ref(), is.plan.as_ref()].map(document_text);
        let texts = [
            (WorkflowDocument::Plan, &names.plan, plan, found.plan),
            (
                WorkflowDocument::Comments,
                &names.comments,
                comments,
                found.comments,
            ),
        ];
        let versions = |(kind, name, [before, yours], agents): (
            WorkflowDocument,
            &String,
            [String; 2],
            Option<String>,
        )| {
            Some(ConflictVersions {
                name: name.clone(),
                before: without_program_text(kind, &before),
                yours: without_program_text(kind, &yours),
                agents: without_program_text(kind, &agents?),
            })
        };
        Ok(texts.into_iter().filter_map(versions).collect())
    }

    /// Returns the document of the pending turn that must be merged; `None` if the user did not change it, or the
    /// turn returned none. Answers to a review are appended to the file as it is.
    fn document_conflict(&self, seen: &DocumentsOnDisk) -> Option<DocumentConflict> {
        let held = self.pending_document.as_ref()?;
        let found = self.returned_documents(held);
        let layout = self.run.journal.layout();
        let (kind, name, before, now, agents) = match held.order.purpose {
            TurnPurpose::Review => (
                WorkflowDocument::Comments,
                &layout.names().comments,
                &held.staging.comments_before,
                &seen.comments,
                found.comments?,
            ),
            _ => (
                WorkflowDocument::Plan,
                &layout.names().plan,
                &held.staging.plan_before,
                &seen.plan,
                found.plan?,
            ),
        };
        if document_hash(before) == document_hash(now) {
            return None;
        }
        let short = |hash: &Sha256| {
            hash.as_str()
                .chars()
                .take(MERGE_NAME_HASH_CHARS)
                .collect::<String>()
        };
        let yours = document_hash(now).map_or_else(|| "none".to_owned(), short);
        let file = format!(
            "{yours}-{}-{name}",
            short(&hash_document(agents.as_bytes()))
        );
        Some(DocumentConflict {
            kind,
            base_text: without_program_text(kind, &document_text(before.as_ref())),
            user_text: without_program_text(kind, &document_text(now.as_ref())),
            agent_text: agents,
            merge_file: file,
        })
    }

    /// Builds the event that reports a conflict.
    pub(in crate::engine) fn conflict_event(
        &self,
        held: &PendingDocument,
        clash: Option<MergeConflict>,
    ) -> Event {
        let names = self.run.journal.layout().names();
        let changed = match self.read_documents() {
            Err(_) => Vec::new(),
            Ok(seen) => [
                (&names.plan, &held.staging.plan_before, &seen.plan),
                (
                    &names.comments,
                    &held.staging.comments_before,
                    &seen.comments,
                ),
            ]
            .into_iter()
            .filter(|(_, before, now)| document_hash(before) != document_hash(now))
            .map(|(name, ..)| name.clone())
            .collect::<Vec<String>>(),
        };
        let document = match (changed.as_slice(), &held.order.purpose) {
            ([], TurnPurpose::Review) => names.comments.clone(),
            ([], _) => names.plan.clone(),
            (changed, _) => changed.join(" and "),
        };
        Event::DocumentConflict {
            turn: held.order.turn.clone(),
            document,
            clash,
        }
    }

    fn read_documents(&self) -> Result<DocumentsOnDisk, StoreError> {
        let layout = self.run.journal.layout();
        Ok(DocumentsOnDisk {
            plan: files::read_document(&layout.plan())?,
            comments: files::read_document(&layout.comments())?,
        })
    }

    /// Saves a copy of the files on disk if they are not what the turn began with.
    fn save_user_copy(&self, seen: &DocumentsOnDisk) -> Result<(), StoreError> {
        let Some(held) = &self.pending_document else {
            return Ok(());
        };
        let names = self.run.journal.layout().names();
        for (name, before, now) in [
            (&names.plan, &held.staging.plan_before, &seen.plan),
            (
                &names.comments,
                &held.staging.comments_before,
                &seen.comments,
            ),
        ] {
            if let Some(document) = now
                && document_hash(before) != document_hash(now)
            {
                self.save_conflict_copy("yours", name, &document.bytes)?;
            }
        }
        Ok(())
    }

    pub(in crate::engine) fn save_agent_copy(&self) -> Result<(), StoreError> {
        let Some(held) = &self.pending_document else {
            return Ok(());
        };
        let (names, found) = (
            self.run.journal.layout().names(),
            self.returned_documents(held),
        );
        for (name, text) in [(&names.plan, found.plan), (&names.comments, found.comments)] {
            if let Some(text) = text {
                self.save_conflict_copy("agents", name, text.as_bytes())?;
            }
        }
        Ok(())
    }

    fn save_conflict_copy(&self, whose: &str, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let name = format!("{whose}-{name}");
        files::save_conflict_copy(
            self.run.journal.layout(),
            &name,
            bytes,
            self.run.journal.now(),
        )?;
        Ok(())
    }

    /// Saves the user's text that the next version of a document removes, if that version is based on the file on
    /// disk: text that was read before a turn is not in conflict with it.
    pub(in crate::engine) fn save_overwritten_copy(
        &self,
        kind: WorkflowDocument,
        base: Option<&Sha256>,
    ) -> Result<(), StoreError> {
        let (layout, state) = (self.run.journal.layout(), self.state());
        let (path, name, by, known) = match kind {
            WorkflowDocument::Plan => (
                layout.plan(),
                &layout.names().plan,
                state.plan_by,
                state.plan.as_ref().map(|plan| &plan.file_sha256),
            ),
            WorkflowDocument::Comments => (
                layout.comments(),
                &layout.names().comments,
                state.comments_by,
                state.comments_sha256.as_ref(),
            ),
        };
        let Some(now) = files::read_document(&path)?.filter(|now| Some(&now.sha256) == base) else {
            return Ok(());
        };
        if by == DocumentAuthor::User || known != Some(&now.sha256) {
            self.save_conflict_copy("yours", name, &now.bytes)
        } else {
            Ok(())
        }
    }

    /// Moves merges, which the user may have edited, to the saved texts that lost a conflict.
    pub(in crate::engine) fn move_merges_aside(&self) -> Vec<Event> {
        let (layout, now) = (self.run.journal.layout(), self.run.journal.now());
        let put = merge_files::move_to_conflicts(layout, now);
        put.err()
            .map(|error| warning_event("save a merge", error_with_hint(&error)))
            .into_iter()
            .collect()
    }
}

fn document_text(document: Option<&DocumentContent>) -> String {
    document.map_or_else(String::new, |document| {
        String::from_utf8_lossy(&document.bytes).into_owned()
    })
}

/// Returns a document without the text that the program adds at each commit.
fn without_program_text(kind: WorkflowDocument, text: &str) -> String {
    let document = front_matter::parse_document(text);
    let mut fields = document.fields;
    fields.retain(|(key, _)| !PROGRAM_FIELDS.contains(&key.as_str()));
    let body = match kind {
        WorkflowDocument::Plan => document.body,
        WorkflowDocument::Comments => review::strip_responses(document.body),
    };
    front_matter::write_document(&fields, body)
}
