//! Turns a completed turn's result into a commit of its document and the event that describes it.

use std::time::Duration;

use crate::domain::effect::Effect;
use crate::domain::event::Event;
use crate::domain::findings::{FindingResponse, ReviewRemark};
use crate::domain::ids::{Sha256, TurnId};
use crate::domain::phase::Phase;
use crate::domain::plan::{self, Plan, PlanStatus, Step};
use crate::domain::review::{self, ReviewDocument};
use crate::domain::run::ProgramOperation;
use crate::domain::turn::{TurnOrder, TurnPurpose};
use crate::store::document_files::DocumentContent;
use crate::store::{StoreError, document_files as files, iteration_files};
use crate::text::{clean_text, clean_to_one_line, front_matter};

use super::document_commit::{
    self, CommittedPlan, DocumentCommitError, FrontMatterFacts, ReturnedDocuments,
    WholeMessageDocument, WorkflowDocumentLock,
};
use super::document_conflict::WorkflowDocument;
use crate::engine::staging_folder::{self, SubmittedDocuments, TurnStagingFolder};
use crate::engine::{
    Engine, EngineError, EngineInput, PendingDocument, error_with_hint, failure_event,
    warning_event,
};

/// How often a failed write of a document is retried before the engine gives up.
const MAX_COMMIT_RETRIES: u8 = 12;
/// The delay between two tries.
const COMMIT_RETRY_DELAY: Duration = Duration::from_secs(5);

/// The base against which a document is committed.
pub(in crate::engine) enum CommitBase {
    /// The documents as the turn began: an edit in between is a conflict.
    TurnStart,
    /// The documents when the user resolved a conflict: an edit since then is a conflict again.
    OnDisk(DocumentsOnDisk),
}

/// The documents as they were on disk at one moment.
pub(in crate::engine) struct DocumentsOnDisk {
    pub plan: Option<DocumentContent>,
    pub comments: Option<DocumentContent>,
}

impl CommitBase {
    fn plan_hash<'a>(&'a self, staging: &'a TurnStagingFolder) -> Option<&'a Sha256> {
        document_hash(match self {
            Self::TurnStart => &staging.plan_before,
            Self::OnDisk(seen) => &seen.plan,
        })
    }

    fn comments_hash<'a>(&'a self, staging: &'a TurnStagingFolder) -> Option<&'a Sha256> {
        document_hash(match self {
            Self::TurnStart => &staging.comments_before,
            Self::OnDisk(seen) => &seen.comments,
        })
    }
}

pub(in crate::engine) fn document_hash(document: &Option<DocumentContent>) -> Option<&Sha256> {
    document.as_ref().map(|document| &document.sha256)
}

impl Engine {
    /// Extracts the document of the completed turn and commits it.
    pub(in crate::engine) fn collect_document(
        &mut self,
        order: &TurnOrder,
        pen: Result<WorkflowDocumentLock, StoreError>,
    ) -> Vec<Event> {
        self.commit_document(order, &CommitBase::TurnStart, pen)
    }

    pub(in crate::engine) fn commit_document(
        &mut self,
        order: &TurnOrder,
        base: &CommitBase,
        pen: Result<WorkflowDocumentLock, StoreError>,
    ) -> Vec<Event> {
        let Some(held) = self
            .pending_document
            .take_if(|held| held.order.turn == order.turn)
        else {
            return vec![failure_event(
                "collect a document",
                "the turn's text is missing",
            )];
        };
        let mut events = Vec::new();
        let committed = pen
            .map_err(DocumentCommitError::Store)
            .and_then(|pen| self.try_commit_document(&held, base, &pen, &mut events));
        match committed {
            Ok(event) => {
                self.pending_document = Some(held);
                self.drop_pending_document();
                events.push(event);
                events.extend(self.move_merges_aside());
            }
            Err(DocumentCommitError::Conflict) => {
                events.push(self.conflict_event(&held, None));
                self.pending_document = Some(held);
            }
            Err(DocumentCommitError::Store(error)) => {
                events.extend(self.on_commit_error(held, &error))
            }
        }
        events
    }

    fn try_commit_document(
        &self,
        held: &PendingDocument,
        base: &CommitBase,
        pen: &WorkflowDocumentLock,
        events: &mut Vec<Event>,
    ) -> Result<Event, DocumentCommitError> {
        events.extend(self.try_detect_user_edits()?);
        match held.order.purpose {
            TurnPurpose::WritePlan => self.commit_written_plan(held, base, pen),
            TurnPurpose::Review => self.commit_review(held, base, pen),
            TurnPurpose::Respond => self.commit_response(held, base, pen),
            TurnPurpose::RefineGoal { .. }
            | TurnPurpose::Step { .. }
            | TurnPurpose::Fix { .. }
            | TurnPurpose::Summary => Ok(missing_document_event(
                &held.order,
                "this turn returns none".to_owned(),
            )),
        }
    }

    /// Saves a document that is not committed yet, so that it survives the end of the program.
    fn save_pending_document(&self, held: &PendingDocument) {
        let found = self.returned_documents(held);
        let kept = staging_folder::save_submission(
            &held.staging,
            &SubmittedDocuments {
                plan: found.plan,
                comments: found.comments,
            },
        );
        if let Err(error) = kept {
            tracing::warn!(%error, "the turn's document is in memory alone");
        }
    }

    /// Saves what a turn returned if that must wait.
    pub(in crate::engine) fn save_returned_document(&self, turn: &TurnId) {
        if let Some(held) = self
            .pending_document
            .as_ref()
            .filter(|held| held.order.turn == *turn)
        {
            self.save_pending_document(held);
        }
    }

    /// Saves a document that could not be written, and schedules another try.
    fn on_commit_error(&mut self, mut held: PendingDocument, error: &StoreError) -> Vec<Event> {
        self.save_pending_document(&held);
        held.n_failed_writes = held.n_failed_writes.saturating_add(1);
        let (n, turn) = (held.n_failed_writes, held.order.turn.clone());
        self.pending_document = Some(held);
        if n > MAX_COMMIT_RETRIES {
            return vec![failure_event("commit a document", error_with_hint(error))];
        }
        let done = self.run.inputs.clone();
        self.run.tasks.spawn(async move {
            tokio::time::sleep(COMMIT_RETRY_DELAY).await;
            // The receiver is gone only if the program is about to end.
            let _nobody = done.send(EngineInput::RetryDocumentCommit(turn)).await;
        });
        match n {
            1 => vec![warning_event(
                "commit a document",
                format!("{}; it is tried again", error_with_hint(error)),
            )],
            _ => Vec::new(),
        }
    }

    /// Retries the commit of a turn's document if the run still needs it.
    pub(in crate::engine) fn retry_document_commit(
        &mut self,
        turn: &TurnId,
    ) -> Result<(), EngineError> {
        let order = match (&self.state().busy, &self.state().awaiting) {
            (Some(ProgramOperation::Collecting { order, .. }), None) if order.turn == *turn => {
                order.clone()
            }
            _ => return Ok(()),
        };
        for event in self.perform_or_queue(Effect::CollectDocument(order))? {
            self.apply_event(event)?;
        }
        Ok(())
    }

    /// Drops the pending document and removes its staging folder.
    pub(in crate::engine) fn drop_pending_document(&mut self) {
        if let Some(held) = self.pending_document.take()
            && let Err(error) = staging_folder::clear_staging(&held.staging)
        {
            tracing::warn!(%error, "the staging folder was left behind");
        }
    }

    /// Returns the documents of a turn; if a document was merged with the user's text, the merge.
    pub(in crate::engine) fn returned_documents(
        &self,
        held: &PendingDocument,
    ) -> ReturnedDocuments {
        let names = self.run.journal.layout().names();
        let (whole, merges_plan) = match held.order.purpose {
            TurnPurpose::WritePlan => (WholeMessageDocument::Plan, true),
            TurnPurpose::Review => (WholeMessageDocument::Review, false),
            _ => (WholeMessageDocument::Neither, true),
        };
        let mut found = document_commit::extract_documents(
            &held.staging,
            &held.final_text,
            &names.plan,
            &names.comments,
            whole,
        );
        match (&held.merged_text, merges_plan) {
            (Some(merged), true) => found.plan = Some(merged.clone()),
            (Some(merged), false) => found.comments = Some(merged.clone()),
            (None, _) => {}
        }
        found
    }

    fn front_matter_facts(&self, keep_in: u32) -> FrontMatterFacts {
        FrontMatterFacts {
            at: self.run.journal.now(),
            iteration: self.state().iteration.max(1),
            iteration_folder: keep_in,
            status: self.next_plan_status(),
        }
    }

    /// Returns the status of the plan after the current turn.
    fn next_plan_status(&self) -> PlanStatus {
        let state = self.state();
        match (state.phase, &state.reviewer) {
            (Phase::WritePlan, _) if state.plan_stays.is_some() => PlanStatus::Draft,
            (Phase::WritePlan, None) => PlanStatus::Approved,
            _ => PlanStatus::Reviewing,
        }
    }

    /// Returns the number of the folder under `iterations/` for the plan that the next review is about.
    fn next_iteration(&self) -> u32 {
        self.state().findings.review_count() + 1
    }

    fn commit_written_plan(
        &self,
        held: &PendingDocument,
        base: &CommitBase,
        pen: &WorkflowDocumentLock,
    ) -> Result<Event, DocumentCommitError> {
        let found = self.returned_documents(held);
        let Some(text) = found.plan else {
            let none = format!("no {} was returned", self.run.journal.layout().names().plan);
            return Ok(nothing_returned_event(held, &none, &found.rejected_files));
        };
        let plan = match plan::parse(&plan::untick_all_steps(&text)) {
            Ok(plan) => clean_plan(plan),
            Err(problem) => return Ok(missing_document_event(&held.order, problem.to_string())),
        };
        let CommittedPlan { plan, file_sha256 } =
            self.commit_plan(&text, plan, base.plan_hash(&held.staging), pen)?;
        Ok(Event::PlanCommitted {
            turn: held.order.turn.clone(),
            plan,
            file_sha256,
        })
    }

    fn commit_plan(
        &self,
        text: &str,
        plan: Plan,
        base: Option<&Sha256>,
        pen: &WorkflowDocumentLock,
    ) -> Result<CommittedPlan, DocumentCommitError> {
        self.save_overwritten_copy(WorkflowDocument::Plan, base)?;
        let version = self.state().plan.as_ref().map_or(0, |plan| plan.version) + 1;
        let facts = self.front_matter_facts(self.next_iteration());
        document_commit::commit_plan(pen, text, plan, base, version, &facts)
    }

    fn commit_review(
        &self,
        held: &PendingDocument,
        base: &CommitBase,
        pen: &WorkflowDocumentLock,
    ) -> Result<Event, DocumentCommitError> {
        let found = self.returned_documents(held);
        let Some(text) = found.comments else {
            let none = format!(
                "no {} was returned",
                self.run.journal.layout().names().comments
            );
            return Ok(nothing_returned_event(held, &none, &found.rejected_files));
        };
        if front_matter::parse_document(&text).body.trim().is_empty() {
            let empty = format!("{} is empty", self.run.journal.layout().names().comments);
            return Ok(missing_document_event(&held.order, empty));
        }
        let mut ledger = self.state().findings.clone();
        let review = clean_review(review::parse(&text, &ledger));
        let lacks = self.state().missing_in_review(&review);
        if !lacks.is_empty() {
            return Ok(Event::DocumentIncomplete {
                turn: held.order.turn.clone(),
                lacks,
            });
        }
        ledger.apply_review(&review.remarks, review.settled.as_deref());
        let reviewed = self
            .state()
            .reviewing
            .clone()
            .unwrap_or_else(|| Sha256::new(""));
        let base = base.comments_hash(&held.staging);
        self.save_overwritten_copy(WorkflowDocument::Comments, base)?;
        let facts = self.front_matter_facts(self.next_iteration());
        let file_sha256 =
            document_commit::commit_review(pen, &text, &review, base, &ledger, &reviewed, &facts)?;
        let plan_now = self
            .plan_on_disk()?
            .map_or_else(|| Sha256::new(""), |text| plan::approval_hash(&text));
        Ok(Event::ReviewCommitted {
            turn: held.order.turn.clone(),
            review,
            file_sha256,
            plan_now,
        })
    }

    fn commit_response(
        &self,
        held: &PendingDocument,
        base: &CommitBase,
        pen: &WorkflowDocumentLock,
    ) -> Result<Event, DocumentCommitError> {
        let found = self.returned_documents(held);
        let responses = review::parse_responses(found.comments.as_deref().unwrap_or_default());
        let responses: Vec<FindingResponse> = responses.into_iter().map(clean_response).collect();
        let plan = match found
            .plan
            .as_deref()
            .map(|text| (text, plan::parse(&plan::untick_all_steps(text))))
        {
            Some((_, Err(problem))) => {
                return Ok(missing_document_event(&held.order, problem.to_string()));
            }
            Some((text, Ok(plan))) => {
                Some((text, clean_plan(plan))).filter(|(_, plan)| self.is_new_plan(plan))
            }
            None => None,
        };
        if responses.is_empty() && plan.is_none() {
            let reason =
                "neither answers (N. accepted|rejected: …) nor a changed plan were returned";
            return Ok(nothing_returned_event(held, reason, &found.rejected_files));
        }
        let comments_base = base.comments_hash(&held.staging);
        let now =
            files::read_document(&self.run.journal.layout().comments())?.map(|now| now.sha256);
        if now.as_ref() != comments_base {
            return Err(DocumentCommitError::Conflict);
        }
        let plan = match plan {
            Some((text, plan)) => {
                Some(self.commit_plan(text, plan, base.plan_hash(&held.staging), pen)?)
            }
            None => None,
        };
        self.save_overwritten_copy(WorkflowDocument::Comments, comments_base)?;
        let facts = self.front_matter_facts(self.state().findings.review_count().max(1));
        let ledger = &self.state().findings;
        let comments_sha256 =
            document_commit::commit_responses(pen, &responses, comments_base, ledger, &facts)?;
        let plan = plan.map(|committed| (committed.plan, committed.file_sha256));
        let mut answered = ledger.clone();
        answered.apply_responses(&responses);
        let unanswered = answered
            .unanswered()
            .map(|finding| finding.remark.n)
            .collect();
        let asked_back = self.state().missing_in_answers(&answered);
        Ok(Event::ResponseCommitted {
            turn: held.order.turn.clone(),
            responses,
            unanswered,
            plan,
            comments_sha256,
            asked_back,
        })
    }

    fn is_new_plan(&self, plan: &Plan) -> bool {
        let now = self
            .state()
            .plan
            .as_ref()
            .map(|now| &now.plan.approval_sha256);
        now != Some(&plan.approval_sha256)
    }

    /// Reads the text of `plan.md` from the disk.
    pub(in crate::engine) fn plan_on_disk(&self) -> Result<Option<String>, StoreError> {
        let document = files::read_document(&self.run.journal.layout().plan())?;
        Ok(document.map(|document| String::from_utf8_lossy(&document.bytes).into_owned()))
    }

    /// Reads the text of `comments.md` from the disk.
    pub(in crate::engine) fn comments_on_disk(&self) -> Result<Option<String>, StoreError> {
        let document = files::read_document(&self.run.journal.layout().comments())?;
        Ok(document.map(|document| String::from_utf8_lossy(&document.bytes).into_owned()))
    }

    /// Records the user's changes to the workflow files since the run last read them.
    ///
    /// Do not call it for every file event: an editor may save in two steps, and only the second is complete.
    ///
    /// # Errors
    /// Reading a file or writing the record of the run failed.
    pub fn record_user_edits(&mut self) -> Result<(), EngineError> {
        for event in self.try_detect_user_edits()? {
            self.apply_event(event)?;
        }
        Ok(())
    }

    pub(in crate::engine) fn detect_user_edits(&self) -> Vec<Event> {
        self.try_detect_user_edits()
            .unwrap_or_else(|error| vec![failure_event("read the workflow files", error)])
    }

    /// Returns events for the user's edits to the workflow files that are not recorded yet.
    pub(in crate::engine) fn try_detect_user_edits(&self) -> Result<Vec<Event>, StoreError> {
        let mut events = Vec::new();
        match files::read_document(&self.run.journal.layout().plan())? {
            Some(now) => {
                let edit = self.plan_edit_event(&now);
                let foreign = edit.as_ref().and_then(|edit| self.foreign_tick_event(edit));
                events.extend(edit.into_iter().chain(foreign));
            }
            None if self.state().plan.is_some() => events.push(Event::PlanEdited {
                plan: None,
                approval_sha256: plan::approval_hash(""),
                file_sha256: plan::file_hash(b""),
            }),
            None => {}
        }
        if let Some(now) = files::read_document(&self.run.journal.layout().comments())?
            && self.state().comments_sha256.as_ref() != Some(&now.sha256)
        {
            events.push(Event::CommentsEdited {
                file_sha256: now.sha256,
            });
        }
        Ok(events)
    }

    fn plan_edit_event(&self, now: &files::DocumentContent) -> Option<Event> {
        let text = String::from_utf8_lossy(&now.bytes);
        let plan = plan::parse(&text).ok().map(clean_plan);
        let is_edit = match &self.state().plan {
            Some(known) => known.file_sha256 != now.sha256,
            // The user's edits had made the file an invalid plan, and now it is a plan again.
            None => plan.is_some() && self.state().phase > Phase::WritePlan,
        };
        if !is_edit {
            return None;
        }
        let (n, name) = (
            self.next_iteration(),
            &self.run.journal.layout().names().plan,
        );
        if let Err(error) =
            iteration_files::save_version(self.run.journal.guard(), n, name, &now.bytes)
        {
            return Some(failure_event("save your edit of the plan", error));
        }
        Some(Event::PlanEdited {
            approval_sha256: plan::approval_hash(&text),
            file_sha256: now.sha256.clone(),
            plan,
        })
    }
}

/// Cleans the texts of a plan before it becomes an event; its hash stays that of the original bytes.
fn clean_plan(plan: Plan) -> Plan {
    let step = |step: Step| Step {
        text: clean_to_one_line(&step.text),
        ..step
    };
    Plan {
        title: clean_to_one_line(&plan.title),
        steps: plan.steps.into_iter().map(step).collect(),
        // A command that cleaning would change has characters that a person could not see, so it is dropped.
        test_command: plan
            .test_command
            .filter(|command| clean_text(command) == *command),
        approval_sha256: plan.approval_sha256,
    }
}

fn clean_review(review: ReviewDocument) -> ReviewDocument {
    let remark = |remark: ReviewRemark| ReviewRemark {
        text: clean_to_one_line(&remark.text),
        ..remark
    };
    ReviewDocument {
        remarks: review.remarks.into_iter().map(remark).collect(),
        ..review
    }
}

fn clean_response(response: FindingResponse) -> FindingResponse {
    FindingResponse {
        reason: clean_to_one_line(&response.reason),
        ..response
    }
}

pub(in crate::engine) fn missing_document_event(order: &TurnOrder, reason: String) -> Event {
    Event::DocumentMissing {
        turn: order.turn.clone(),
        reason,
    }
}

fn nothing_returned_event(held: &PendingDocument, what: &str, refused: &[String]) -> Event {
    let reason = match refused {
        [] => what.to_owned(),
        refused => format!("{what}; not accepted: {}", refused.join(", ")),
    };
    missing_document_event(&held.order, reason)
}
