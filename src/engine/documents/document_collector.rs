//! Turns a completed turn's result into a commit of its document and the event that describes it.

use std::time::Duration;

use crate::domain::effect::Effect;
use crate::domain::event::Event;
use crate::domain::findings::{FindingResponse, UnsupportedFindings};
use crate::domain::ids::{Sha256, TurnId};
use crate::domain::phase::Phase;
use crate::domain::plan::{self, Plan, PlanStatus};
use crate::domain::plan_thread::ThreadAuthor;
use crate::domain::review::{self};
use crate::domain::run::{DocumentAuthor, ProgramOperation, RunState};
use crate::domain::turn::{MissingDocumentReason, TurnOrder, TurnPurpose};
use crate::engine::engine_input::EngineInput;
use crate::engine::run_context::RunContext;
use crate::engine::staging_folder::TurnStagingFolder;
use crate::engine::warnings::{error_with_hint, failure_event, warning_event};
use crate::store::document_files::DocumentContent;
use crate::store::{DocumentLock, StoreError, document_files as files};
use crate::text::front_matter;

use super::document_commit::{
    self, CommittedPlan, DocumentCommitError, FrontMatterFacts, LockAttempt, ProgramSections,
    WorkflowDocumentLock,
};
use super::document_conflict::{
    WorkflowDocument, conflict_event, move_merges_aside, save_overwritten_copy,
};
use super::document_sanitizer::{
    clean_facts, clean_plan, clean_response, clean_response_check, clean_review,
};
use super::document_threads::DocumentThreads;
use super::{PendingDocument, RunDocuments, plan_on_disk, review_checker, try_detect_user_edits};

/// How often a failed write of a document is retried before the engine gives up.
const MAX_COMMIT_RETRIES: u8 = 12;
/// The delay between two tries.
const COMMIT_RETRY_DELAY: Duration = Duration::from_secs(5);

/// The base against which a document is committed.
pub(super) enum CommitBase {
    /// The documents as the turn began: an edit in between is a conflict.
    TurnStart,
    /// The documents when the user resolved a conflict: an edit since then is a conflict again.
    OnDisk(DocumentsOnDisk),
}

/// The documents as they were on disk at one moment.
pub(super) struct DocumentsOnDisk {
    pub plan: Option<DocumentContent>,
    pub comments: Option<DocumentContent>,
}

impl CommitBase {
    fn plan_hash<'a>(&'a self, staging: &'a TurnStagingFolder) -> Option<&'a Sha256> {
        document_hash(match self {
            Self::TurnStart => &staging.plan_before,
            Self::OnDisk(on_disk) => &on_disk.plan,
        })
    }

    fn comments_hash<'a>(&'a self, staging: &'a TurnStagingFolder) -> Option<&'a Sha256> {
        document_hash(match self {
            Self::TurnStart => &staging.comments_before,
            Self::OnDisk(on_disk) => &on_disk.comments,
        })
    }
}

pub(super) fn document_hash(document: &Option<DocumentContent>) -> Option<&Sha256> {
    document.as_ref().map(|document| &document.sha256)
}

impl RunDocuments {
    /// Extracts the document of a completed turn and commits it.
    pub(super) fn commit_document(
        &mut self,
        run: &mut RunContext,
        order: &TurnOrder,
        base: &CommitBase,
        lock: LockAttempt,
    ) -> Vec<Event> {
        let Some(pending) = self
            .pending
            .take_if(|pending| pending.order.turn == order.turn)
        else {
            return vec![failure_event(
                "collect a document",
                "the turn's text is missing",
            )];
        };
        let mut events = Vec::new();
        let committed = lock
            .map_err(DocumentCommitError::Store)
            .and_then(|lock| try_commit_document(run, &pending, base, &lock, &mut events));
        match committed {
            Ok(event) => {
                events.push(event);
                events.extend(move_merges_aside(run));
                self.committed = Some(pending);
            }
            Err(DocumentCommitError::Conflict) => {
                events.push(conflict_event(run, &pending, None));
                self.pending = Some(pending);
            }
            Err(DocumentCommitError::Store(error)) => {
                events.extend(self.on_commit_error(run, pending, &error));
            }
        }
        events
    }

    /// Saves a document that could not be written, and schedules another try.
    fn on_commit_error(
        &mut self,
        run: &mut RunContext,
        mut pending: PendingDocument,
        error: &StoreError,
    ) -> Vec<Event> {
        pending.save(run.journal.layout().names());
        pending.n_failed_writes = pending.n_failed_writes.saturating_add(1);
        let (n, turn) = (pending.n_failed_writes, pending.order.turn.clone());
        self.pending = Some(pending);
        if n > MAX_COMMIT_RETRIES {
            return vec![failure_event("commit a document", error_with_hint(error))];
        }
        run.spawn_input_task(async move {
            tokio::time::sleep(COMMIT_RETRY_DELAY).await;
            EngineInput::RetryDocumentCommit(turn)
        });
        match n {
            1 => vec![warning_event(
                "commit a document",
                format!("{}; it is tried again", error_with_hint(error)),
            )],
            _ => Vec::new(),
        }
    }
}

/// Returns the effect that retries the commit of a turn's document; `None` if the run no longer needs it.
pub(in crate::engine) fn find_commit_to_retry(state: &RunState, turn: &TurnId) -> Option<Effect> {
    match (&state.busy, &state.awaiting) {
        (Some(ProgramOperation::Collecting { order, .. }), None) if order.turn == *turn => {
            Some(Effect::CollectDocument(order.clone()))
        }
        _ => None,
    }
}

/// Commits the document; `events` gets the user's edits from before, also if the commit fails.
fn try_commit_document(
    run: &RunContext,
    pending: &PendingDocument,
    base: &CommitBase,
    lock: &WorkflowDocumentLock,
    events: &mut Vec<Event>,
) -> Result<Event, DocumentCommitError> {
    events.extend(try_detect_user_edits(run)?);
    let mut threads = DocumentThreads::new(run, events);
    let committed = commit_document_of_turn(run, pending, base, lock, &mut threads)?;
    let is_committed = matches!(
        committed,
        Event::PlanCommitted { .. }
            | Event::ReviewCommitted { .. }
            | Event::ResponseCommitted { .. }
    );
    // What it says belongs to the state from which the next turn starts.
    events.extend(threads.into_event().filter(|_| is_committed));
    Ok(committed)
}

fn commit_document_of_turn(
    run: &RunContext,
    pending: &PendingDocument,
    base: &CommitBase,
    lock: &WorkflowDocumentLock,
    threads: &mut DocumentThreads,
) -> Result<Event, DocumentCommitError> {
    let mut commit = |kind| {
        let text = match find_document(run, pending, kind) {
            Ok(text) => text,
            Err(reason) => return Ok(missing_document_event(&pending.order, reason)),
        };
        match kind {
            WorkflowDocument::Plan => {
                let event = commit_written_plan(run, &text, pending, base, lock);
                threads.follow_plan(run)?;
                event
            }
            WorkflowDocument::Comments => commit_review(run, &text, pending, base, lock, threads),
        }
    };
    match pending.order.purpose {
        TurnPurpose::WritePlan => commit(WorkflowDocument::Plan),
        TurnPurpose::Review => commit(WorkflowDocument::Comments),
        TurnPurpose::Respond => commit_response(run, pending, base, lock, threads),
        TurnPurpose::Judge => Ok(Event::DisputesJudged {
            turn: pending.order.turn.clone(),
            judgements: review_checker::read_judgements(run, pending),
        }),
        TurnPurpose::RefineGoal { .. }
        | TurnPurpose::Step { .. }
        | TurnPurpose::Fix { .. }
        | TurnPurpose::Summary => Ok(missing_document_event(
            &pending.order,
            "this turn returns none".to_owned(),
        )),
    }
}

/// Returns the document that the turn returned, or why there is none.
fn find_document(
    run: &RunContext,
    pending: &PendingDocument,
    kind: WorkflowDocument,
) -> Result<String, String> {
    let names = run.journal.layout().names();
    let returned = pending.returned_documents(names);
    let (text, name) = match kind {
        WorkflowDocument::Plan => (returned.plan, &names.plan),
        WorkflowDocument::Comments => (returned.comments, &names.comments),
    };
    let why_none =
        || with_rejected_files(&format!("no {name} was returned"), &returned.rejected_files);
    text.ok_or_else(why_none)
}

fn front_matter_facts(run: &RunContext, iteration_folder: u32) -> FrontMatterFacts {
    FrontMatterFacts {
        at: run.journal.now(),
        iteration: run.state().iteration.max(1),
        iteration_folder,
        status: next_plan_status(run.state()),
    }
}

/// Returns the status of the plan after the current turn.
fn next_plan_status(state: &RunState) -> PlanStatus {
    match (state.phase, &state.reviewer) {
        (Phase::WritePlan, _) if state.plan_stays.is_some() => PlanStatus::Draft,
        (Phase::WritePlan, None) => PlanStatus::Approved,
        (Phase::Init | Phase::RefineGoal, _) => PlanStatus::Draft,
        _ => PlanStatus::Reviewing,
    }
}

fn commit_written_plan(
    run: &RunContext,
    text: &str,
    pending: &PendingDocument,
    base: &CommitBase,
    lock: &WorkflowDocumentLock,
) -> Result<Event, DocumentCommitError> {
    let plan = match parse_returned_plan(run, text) {
        Ok(plan) => plan,
        Err(problem) => return Ok(missing_document_event(&pending.order, problem)),
    };
    let base = base.plan_hash(&pending.staging);
    let author = DocumentAuthor::Agent;
    let CommittedPlan { plan, file_sha256 } = commit_plan(run, text, plan, author, base, lock)?;
    Ok(Event::PlanCommitted {
        turn: pending.order.turn.clone(),
        plan,
        file_sha256,
    })
}

/// Parses a plan that an agent returned. While an execution is kept, its finished steps must be in it as they were.
fn parse_returned_plan(run: &RunContext, text: &str) -> Result<Plan, String> {
    let plan = plan::parse(&plan::untick_all_steps(text)).map_err(|problem| problem.to_string())?;
    let plan = clean_plan(plan);
    let replanning = run.state().replanning.as_ref();
    match replanning.and_then(|record| record.changed_ended_step(&plan)) {
        Some(changed) => Err(changed),
        None => Ok(plan),
    }
}

pub(super) fn commit_plan(
    run: &RunContext,
    text: &str,
    plan: Plan,
    author: DocumentAuthor,
    base: Option<&Sha256>,
    lock: &WorkflowDocumentLock,
) -> Result<CommittedPlan, DocumentCommitError> {
    save_overwritten_copy(run, WorkflowDocument::Plan, base)?;
    let version = run.state().plan.as_ref().map_or(0, |plan| plan.version) + 1;
    let facts = front_matter_facts(run, run.next_iteration());
    // The boxes of steps that have ended stay ticked while another one is planned again.
    let ended = run.state().ended_steps();
    let ended = ended.filter(|record| !record.is_skipped());
    let text = plan::untick_all_steps(text);
    let text = ended.fold(text, |text, record| plan::tick_step(&text, record.n));
    document_commit::commit_plan(lock, &text, plan, base, version, author, &facts)
}

fn commit_review(
    run: &RunContext,
    text: &str,
    pending: &PendingDocument,
    base: &CommitBase,
    lock: &WorkflowDocumentLock,
    threads: &mut DocumentThreads,
) -> Result<Event, DocumentCommitError> {
    let text = &threads.take_messages(run, text, ThreadAuthor::Reviewer)?;
    if front_matter::parse_document(text).body.trim().is_empty() {
        let empty = format!("{} is empty", run.journal.layout().names().comments);
        return Ok(missing_document_event(&pending.order, empty));
    }
    let state = run.state();
    let mut ledger = state.findings.clone();
    let mut review = clean_review(review::parse(text, &ledger));
    let facts = clean_facts(review_checker::assess(run, &pending.calls, &review)?);
    let lacks = state
        .asked_back
        .missing_in_review(&review, &facts, &ledger, state.iteration);
    if !lacks.is_empty() {
        review.facts = Some(facts);
        return Ok(Event::DocumentIncomplete {
            turn: pending.order.turn.clone(),
            lacks,
            review: Some(Box::new(review)),
        });
    }
    let lowered = UnsupportedFindings::CountAsMinor;
    let outcome = ledger.apply_review(&review, &facts, state.iteration, lowered);
    review.verdict = outcome.verdict;
    review.consistent = !review.is_ambiguous && outcome.contradiction.is_none();
    review.facts = Some(facts);
    let reviewed = state.reviewing.clone().unwrap_or_else(|| Sha256::new(""));
    let base = base.comments_hash(&pending.staging);
    save_overwritten_copy(run, WorkflowDocument::Comments, base)?;
    let facts = front_matter_facts(run, run.next_iteration());
    let sections = ProgramSections {
        ledger: &ledger,
        threads: &threads.threads,
    };
    let file_sha256 =
        document_commit::commit_review(lock, text, &review, base, &sections, &reviewed, &facts)?;
    let plan_now =
        plan_on_disk(run)?.map_or_else(|| Sha256::new(""), |text| plan::approval_hash(&text));
    Ok(Event::ReviewCommitted {
        turn: pending.order.turn.clone(),
        review,
        file_sha256,
        plan_now,
    })
}

fn commit_response(
    run: &RunContext,
    pending: &PendingDocument,
    base: &CommitBase,
    lock: &WorkflowDocumentLock,
    threads: &mut DocumentThreads,
) -> Result<Event, DocumentCommitError> {
    let layout = run.journal.layout();
    let returned = pending.returned_documents(layout.names());
    let answers = returned.comments.as_deref().unwrap_or_default();
    let answers = threads.take_messages(run, answers, ThreadAuthor::Planner)?;
    let responses = review::parse_responses(&answers);
    let mut responses: Vec<FindingResponse> = responses.into_iter().map(clean_response).collect();
    for response in &mut responses {
        response.n = run.state().findings.resolve_number(response.n);
    }
    let plan = match returned
        .plan
        .as_deref()
        .map(|text| (text, parse_returned_plan(run, text)))
    {
        Some((_, Err(problem))) => {
            return Ok(missing_document_event(&pending.order, problem));
        }
        Some((text, Ok(plan))) => {
            Some((text, plan)).filter(|(_, plan)| is_new_plan(run.state(), plan))
        }
        None => None,
    };
    let returned_plan = plan.as_ref().map(|(text, _)| *text);
    review_checker::check_responses(run, &pending.calls, &mut responses, returned_plan)?;
    responses.iter_mut().for_each(clean_response_check);
    if responses.is_empty() && plan.is_none() && !threads.has_messages() {
        let reason = "neither answers (N. accepted|rejected: …) nor a changed plan were returned";
        let reason = with_rejected_files(reason, &returned.rejected_files);
        return Ok(missing_document_event(&pending.order, reason));
    }
    let comments_base = base.comments_hash(&pending.staging);
    let now = files::read_document(&layout.comments())?.map(|now| now.sha256);
    if now.as_ref() != comments_base && !is_written_before(run, now.as_ref())? {
        return Err(DocumentCommitError::Conflict);
    }
    let plan_base = base.plan_hash(&pending.staging);
    let plan = match plan {
        Some((text, plan)) => {
            let author = DocumentAuthor::Agent;
            let committed = commit_plan(run, text, plan, author, plan_base, lock)?;
            threads.follow_plan(run)?;
            Some(committed)
        }
        None => None,
    };
    save_overwritten_copy(run, WorkflowDocument::Comments, comments_base)?;
    let ledger = &run.state().findings;
    let facts = front_matter_facts(run, ledger.review_count().max(1));
    let sections = ProgramSections {
        ledger,
        threads: &threads.threads,
    };
    let comments_sha256 =
        document_commit::commit_responses(lock, &responses, comments_base, &sections, &facts)?;
    let plan = plan.map(|committed| (committed.plan, committed.file_sha256));
    let mut answered = ledger.clone();
    answered.apply_responses(&responses);
    let unanswered = answered
        .unanswered()
        .map(|finding| finding.remark.n)
        .collect();
    let asked_back = run
        .state()
        .asked_back
        .missing_in_answers(&answered, &responses);
    Ok(Event::ResponseCommitted {
        turn: pending.order.turn.clone(),
        responses,
        unanswered,
        plan,
        comments_sha256,
        asked_back,
    })
}

/// Returns whether `comments.md` is what the program wrote itself before it could record that.
fn is_written_before(run: &RunContext, now: Option<&Sha256>) -> Result<bool, StoreError> {
    match now.filter(|now| run.state().comments_sha256.as_ref() != Some(*now)) {
        Some(now) => DocumentLock::is_own_write(&run.journal.layout().comments(), now),
        None => Ok(false),
    }
}

fn is_new_plan(state: &RunState, plan: &Plan) -> bool {
    let now = state.plan.as_ref().map(|now| &now.plan.approval_sha256);
    now != Some(&plan.approval_sha256)
}

pub(super) fn missing_document_event(
    order: &TurnOrder,
    reason: impl Into<MissingDocumentReason>,
) -> Event {
    Event::DocumentMissing {
        turn: order.turn.clone(),
        reason: reason.into(),
    }
}

fn with_rejected_files(what: &str, rejected_files: &[String]) -> String {
    match rejected_files {
        [] => what.to_owned(),
        files => format!("{what}; not accepted: {}", files.join(", ")),
    }
}
