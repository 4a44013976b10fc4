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
use crate::domain::turn::{MissingDocumentReason, TurnOrder, TurnPurpose};
use crate::engine::run_context::RunContext;
use crate::engine::warnings::{error_with_hint, failure_event, warning_event};
use crate::store::document_files::{self as files, DocumentContent, hash_document};
use crate::store::{StoreError, merge_files};
use crate::text::three_way_merge::{ConflictVersions, MergeOutcome, ThreeWayTexts};
use crate::text::{front_matter, pluralize};

use super::document_collector::{
    CommitBase, DocumentsOnDisk, document_hash, missing_document_event,
};
use super::document_commit::LockAttempt;
use super::{PendingDocument, RunDocuments};

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
pub(super) enum WorkflowDocument {
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

impl RunDocuments {
    /// Continues after the user decided whose text counts.
    pub(super) fn resolve_conflict(
        &mut self,
        run: &mut RunContext,
        order: &TurnOrder,
        answer: &QuestionAnswer,
        lock: LockAttempt,
    ) -> Vec<Event> {
        let resolved = match answer {
            QuestionAnswer::Overwrite => self.overwrite_user_text(run, order, lock),
            QuestionAnswer::Merge => self.commit_merge(run, order, lock),
            _ => self.discard_agent_text(run, order),
        };
        resolved.unwrap_or_else(|error| vec![failure_event("resolve the conflict", error)])
    }

    fn overwrite_user_text(
        &mut self,
        run: &mut RunContext,
        order: &TurnOrder,
        lock: LockAttempt,
    ) -> Result<Vec<Event>, StoreError> {
        let on_disk = read_documents(run)?;
        self.save_user_copy(run, &on_disk)?;
        Ok(self.commit_document(run, order, &CommitBase::OnDisk(on_disk), lock))
    }

    fn discard_agent_text(
        &mut self,
        run: &RunContext,
        order: &TurnOrder,
    ) -> Result<Vec<Event>, StoreError> {
        self.save_agent_copy(run)?;
        self.drop_pending();
        let mut events = move_merges_aside(run);
        let reason = MissingDocumentReason::UserKeptOwnText;
        events.push(missing_document_event(order, reason));
        Ok(events)
    }

    /// Commits the merge of the two texts, or reports what is left to do.
    fn commit_merge(
        &mut self,
        run: &mut RunContext,
        order: &TurnOrder,
        lock: LockAttempt,
    ) -> Result<Vec<Event>, StoreError> {
        let on_disk = read_documents(run)?;
        self.save_user_copy(run, &on_disk)?;
        self.save_agent_copy(run)?;
        if let Some(pending) = &mut self.pending {
            pending.merged_text = match find_conflict(run, pending, &on_disk) {
                None => None,
                Some(conflict) => match try_merge(run, &conflict)? {
                    MergeAttempt::Complete(text) => Some(text),
                    MergeAttempt::NeedsUser(clash) => {
                        return Ok(vec![conflict_event(run, pending, Some(clash))]);
                    }
                },
            };
        }
        let events = self.commit_document(run, order, &CommitBase::OnDisk(on_disk), lock);
        // What the user typed since then is merged again.
        if let Some(pending) = &mut self.pending {
            pending.merged_text = None;
        }
        Ok(events)
    }

    /// Makes sure that the merge of the open conflict is in a file, and returns its path or why there is none.
    pub(in crate::engine) fn prepare_merge_file(
        &self,
        run: &RunContext,
    ) -> Result<PathBuf, String> {
        let prepared = || -> Result<Option<PathBuf>, StoreError> {
            let on_disk = read_documents(run)?;
            let pending = self.pending.as_ref().filter(|_| has_open_conflict(run));
            let conflict = pending.and_then(|pending| find_conflict(run, pending, &on_disk));
            let Some(conflict) = conflict else {
                return Ok(None);
            };
            let path = merge_path(run, &conflict);
            if files::read_document(&path)?.is_none() {
                let (MergeOutcome::Clean(text) | MergeOutcome::WithConflicts(text)) =
                    conflict.three_way_texts().merge();
                merge_files::write_merge(run.journal.layout(), &conflict.merge_file, &text)?;
            }
            Ok(Some(path))
        };
        let nothing = || "there are no longer two versions to merge".to_owned();
        prepared()
            .map_err(|error| error.to_string())?
            .ok_or_else(nothing)
    }

    /// Returns the versions that the open question is about; none if it is about something else.
    pub(in crate::engine) fn conflict_versions(
        &self,
        run: &RunContext,
    ) -> Result<Vec<ConflictVersions>, StoreError> {
        let Some(pending) = self.document_in_question(run)? else {
            return Ok(Vec::new());
        };
        let names = run.journal.layout().names();
        let (on_disk, returned) = (read_documents(run)?, pending.returned_documents(names));
        // Answers to a review are appended, so the user has no text that they could conflict with.
        let before = &pending.staging;
        let comments = match pending.order.purpose {
            TurnPurpose::Review => {
                [before.comments_before.as_ref(), on_disk.comments.as_ref()].map(document_text)
            }
            _ => Default::default(),
        };
        let plan = [before.plan_before.as_ref(), on_disk.plan.as_ref()].map(document_text);
        let texts = [
            (WorkflowDocument::Plan, &names.plan, plan, returned.plan),
            (
                WorkflowDocument::Comments,
                &names.comments,
                comments,
                returned.comments,
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

    /// Saves a copy of the files on disk if they are not what the turn began with.
    fn save_user_copy(
        &self,
        run: &RunContext,
        on_disk: &DocumentsOnDisk,
    ) -> Result<(), StoreError> {
        let Some(pending) = &self.pending else {
            return Ok(());
        };
        for (name, now) in changed_documents(run, pending, on_disk) {
            if let Some(document) = now {
                save_conflict_copy(run, "yours", name, &document.bytes)?;
            }
        }
        Ok(())
    }

    pub(super) fn save_agent_copy(&self, run: &RunContext) -> Result<(), StoreError> {
        let Some(pending) = &self.pending else {
            return Ok(());
        };
        let names = run.journal.layout().names();
        let returned = pending.returned_documents(names);
        for (name, text) in [
            (&names.plan, returned.plan),
            (&names.comments, returned.comments),
        ] {
            if let Some(text) = text {
                save_conflict_copy(run, "agents", name, text.as_bytes())?;
            }
        }
        Ok(())
    }
}

fn has_open_conflict(run: &RunContext) -> bool {
    let awaiting = run.state().awaiting.as_ref();
    awaiting.is_some_and(|question| matches!(question.kind, QuestionKind::Conflict { .. }))
}

/// Reads the merge that the user edited, else creates one.
fn try_merge(run: &RunContext, conflict: &DocumentConflict) -> Result<MergeAttempt, StoreError> {
    if let Some(document) = files::read_document(&merge_path(run, conflict))? {
        let text = String::from_utf8_lossy(&document.bytes).into_owned();
        return Ok(match conflict.validation_error(&text) {
            None => MergeAttempt::Complete(text),
            Some(why) => MergeAttempt::NeedsUser(merge_conflict(run, conflict, why)),
        });
    }
    let (text, why) = match conflict.three_way_texts().merge() {
        MergeOutcome::Clean(text) => match conflict.validation_error(&text) {
            None => return Ok(MergeAttempt::Complete(text)),
            Some(why) => (text, why),
        },
        MergeOutcome::WithConflicts(text) => {
            let n_places = conflict.three_way_texts().marker_lines(&text).len() / 3;
            let places = pluralize(n_places, "place");
            (text, format!("in {places} both changed the same lines"))
        }
    };
    merge_files::write_merge(run.journal.layout(), &conflict.merge_file, &text)?;
    Ok(MergeAttempt::NeedsUser(merge_conflict(run, conflict, why)))
}

fn merge_path(run: &RunContext, conflict: &DocumentConflict) -> PathBuf {
    run.journal.layout().merges().join(&conflict.merge_file)
}

fn merge_conflict(run: &RunContext, conflict: &DocumentConflict, why: String) -> MergeConflict {
    let path = merge_path(run, conflict);
    let below = path.strip_prefix(&run.setup.root).unwrap_or(&path);
    MergeConflict {
        file: below.to_string_lossy().into_owned(),
        why,
    }
}

/// Returns the document of the pending turn that must be merged; `None` if the user did not change it, or the turn
/// returned none. Answers to a review are appended to the file as it is.
fn find_conflict(
    run: &RunContext,
    pending: &PendingDocument,
    on_disk: &DocumentsOnDisk,
) -> Option<DocumentConflict> {
    let names = run.journal.layout().names();
    let returned = pending.returned_documents(names);
    let (kind, name, before, now, agents) = match pending.order.purpose {
        TurnPurpose::Review => (
            WorkflowDocument::Comments,
            &names.comments,
            &pending.staging.comments_before,
            &on_disk.comments,
            returned.comments?,
        ),
        _ => (
            WorkflowDocument::Plan,
            &names.plan,
            &pending.staging.plan_before,
            &on_disk.plan,
            returned.plan?,
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
pub(super) fn conflict_event(
    run: &RunContext,
    pending: &PendingDocument,
    clash: Option<MergeConflict>,
) -> Event {
    let names = run.journal.layout().names();
    let changed = match read_documents(run) {
        Err(_) => Vec::new(),
        Ok(on_disk) => changed_documents(run, pending, &on_disk)
            .map(|(name, _)| name.to_owned())
            .collect::<Vec<String>>(),
    };
    let document = match (changed.as_slice(), &pending.order.purpose) {
        ([], TurnPurpose::Review) => names.comments.clone(),
        ([], _) => names.plan.clone(),
        (changed, _) => changed.join(" and "),
    };
    Event::DocumentConflict {
        turn: pending.order.turn.clone(),
        document,
        clash,
    }
}

fn read_documents(run: &RunContext) -> Result<DocumentsOnDisk, StoreError> {
    let layout = run.journal.layout();
    Ok(DocumentsOnDisk {
        plan: files::read_document(&layout.plan())?,
        comments: files::read_document(&layout.comments())?,
    })
}

/// Returns the names and contents of the documents on disk that are not what the turn began with.
fn changed_documents<'a>(
    run: &'a RunContext,
    pending: &'a PendingDocument,
    on_disk: &'a DocumentsOnDisk,
) -> impl Iterator<Item = (&'a str, Option<&'a DocumentContent>)> {
    let (names, before) = (run.journal.layout().names(), &pending.staging);
    [
        (&names.plan, &before.plan_before, &on_disk.plan),
        (&names.comments, &before.comments_before, &on_disk.comments),
    ]
    .into_iter()
    .filter(|(_, before, now)| document_hash(before) != document_hash(now))
    .map(|(name, _, now)| (name.as_str(), now.as_ref()))
}

fn save_conflict_copy(
    run: &RunContext,
    whose: &str,
    name: &str,
    bytes: &[u8],
) -> Result<(), StoreError> {
    let name = format!("{whose}-{name}");
    files::save_conflict_copy(run.journal.layout(), &name, bytes, run.journal.now())?;
    Ok(())
}

/// Saves the user's text that the next version of a document removes, if that version is based on the file on disk:
/// text that was read before a turn is not in conflict with it.
pub(super) fn save_overwritten_copy(
    run: &RunContext,
    kind: WorkflowDocument,
    base: Option<&Sha256>,
) -> Result<(), StoreError> {
    let (layout, state) = (run.journal.layout(), run.state());
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
        save_conflict_copy(run, "yours", name, &now.bytes)
    } else {
        Ok(())
    }
}

/// Moves merges, which the user may have edited, to the saved texts that lost a conflict.
pub(super) fn move_merges_aside(run: &RunContext) -> Vec<Event> {
    let moved = merge_files::move_to_conflicts(run.journal.layout(), run.journal.now());
    moved
        .err()
        .map(|error| warning_event("save a merge", error_with_hint(&error)))
        .into_iter()
        .collect()
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
        WorkflowDocument::Comments => &review::strip_program_sections(document.body),
    };
    front_matter::write_document(&fields, body)
}
