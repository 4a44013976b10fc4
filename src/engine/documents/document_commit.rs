//! Takes the documents out of a finished turn and commits them to the workflow files.
//!
//! The program is the only writer: it writes the front matter, the boxes and the earlier answers, under a lock and
//! against the hash that the turn began with. What a review means is decided elsewhere.

use tokio::time::Instant;

use crate::domain::findings::{FindingLedger, FindingResponse};
use crate::domain::ids::{Sha256, UnixMillis};
use crate::domain::plan::{self, Plan, PlanStatus};
use crate::domain::plan_thread::PlanThreads;
use crate::domain::review::{self, ReviewDocument, Verdict};
use crate::domain::run::{DocumentAuthor, RunState};
use crate::engine::staging_folder::{self, MAX_DOCUMENT_BYTES, TurnStagingFolder};
use crate::store::{
    DocumentLock, StoreError, TamperGuard, document_files, iteration_files, utc_time,
};
use crate::text::{fenced_block, front_matter};

/// How often appending the user's remarks is tried while the file changes each time.
const MAX_APPEND_TRIES: u8 = 5;

/// The documents that a turn returned, not validated yet.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReturnedDocuments {
    pub plan: Option<String>,
    /// The text of the review or of the answers.
    pub comments: Option<String>,
    /// Files in the staging folder that were rejected, with the reason.
    pub rejected_files: Vec<String>,
}

/// The document that a turn's whole message can be, if the turn wrote no file and no block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WholeMessageDocument {
    Plan,
    Review,
    /// No document: answers are read from a file or block only.
    Neither,
}

/// Finds what a turn returned: the changed staging file, else the fenced block whose info string names the file,
/// else the whole message if it begins like a document.
pub fn extract_documents(
    staging: &TurnStagingFolder,
    final_text: &str,
    plan_name: &str,
    comments_name: &str,
    whole: WholeMessageDocument,
) -> ReturnedDocuments {
    let left = staging_folder::read_staging(staging);
    let mut found = ReturnedDocuments {
        plan: left
            .plan
            .or_else(|| fenced_block::find_document(final_text, plan_name)),
        comments: left
            .comments
            .or_else(|| fenced_block::find_document(final_text, comments_name)),
        rejected_files: left.rejected_files,
    };
    let message = || looks_like_document(final_text).then(|| final_text.to_owned());
    match whole {
        WholeMessageDocument::Plan => found.plan = found.plan.or_else(message),
        WholeMessageDocument::Review => found.comments = found.comments.or_else(message),
        WholeMessageDocument::Neither => {}
    }
    found.plan = found.plan.filter(|text| !text.trim().is_empty());
    found.comments = found.comments.filter(|text| !text.trim().is_empty());
    for (text, name) in [
        (&mut found.plan, plan_name),
        (&mut found.comments, comments_name),
    ] {
        if let Some(large) = text.take_if(|text| text.len() as u64 > MAX_DOCUMENT_BYTES) {
            found
                .rejected_files
                .push(too_large_message(name, large.len()));
        }
    }
    found
}

/// Returns the message that a document is too large to be accepted, wherever it came from.
pub fn too_large_message(name: &str, n_bytes: usize) -> String {
    format!(
        "{name} has {:.1} MiB, and a document may have 1 MiB: shorten it, and leave the content of files and logs out",
        n_bytes as f64 / (1024.0 * 1024.0)
    )
}

fn looks_like_document(text: &str) -> bool {
    let first = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    first.trim_end() == "---"
        || first.starts_with("# ")
        || first.starts_with("## ")
        || matches!(first.trim(), "[APPROVED]" | "[CHANGES_REQUIRED]")
}

/// The reason why a document was not committed.
#[derive(Debug)]
pub enum DocumentCommitError {
    /// The file changed since the turn began; nothing was overwritten.
    Conflict,
    Store(StoreError),
}

impl From<StoreError> for DocumentCommitError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// The right to write `plan.md` and `comments.md`; no other program can write them until it is dropped.
#[derive(Debug)]
pub struct WorkflowDocumentLock {
    guard: TamperGuard,
    plan: DocumentLock,
    comments: DocumentLock,
}

/// The lock, or the reason why the documents cannot be written yet.
pub type LockAttempt = Result<WorkflowDocumentLock, StoreError>;

impl WorkflowDocumentLock {
    /// Acquires the lock if it is free, else returns [`StoreError::LockBusy`]. Never waits.
    ///
    /// # Errors
    /// Another program is writing one of the two documents, or the lock files cannot be used.
    pub fn try_acquire(guard: &TamperGuard) -> Result<Self, StoreError> {
        Ok(Self {
            guard: guard.clone(),
            plan: DocumentLock::try_acquire(&guard.layout().plan())?,
            comments: DocumentLock::try_acquire(&guard.layout().comments())?,
        })
    }

    /// Acquires the lock, and retries until the lock's wait timeout.
    ///
    /// # Errors
    /// Same as [`WorkflowDocumentLock::try_acquire`].
    pub async fn acquire(guard: &TamperGuard) -> Result<Self, StoreError> {
        let give_up_at = Instant::now() + DocumentLock::WAIT_TIMEOUT;
        loop {
            match Self::try_acquire(guard) {
                Err(StoreError::LockBusy { .. }) if Instant::now() < give_up_at => {
                    tokio::time::sleep(DocumentLock::RETRY_INTERVAL).await;
                }
                taken => return taken,
            }
        }
    }
}

fn replace_locked_document(
    lock: &DocumentLock,
    base: Option<&Sha256>,
    bytes: &[u8],
) -> Result<Sha256, DocumentCommitError> {
    let now = document_files::read_document(lock.document())?;
    // Only before a write: the note of one that is not recorded yet must stay.
    if now.as_ref().map(|now| &now.sha256) == base {
        lock.note_own_write(&document_files::hash_document(bytes))?;
    }
    match document_files::replace_document(lock, base, bytes) {
        Ok(sha256) => Ok(sha256),
        Err(document_files::DocumentReplaceError::Store(error)) => {
            Err(DocumentCommitError::Store(error))
        }
        // The program may have written the file itself just before it ended, without an event that says so.
        Err(document_files::DocumentReplaceError::Conflict { .. }) => {
            match document_files::read_document(lock.document())? {
                Some(found) if is_equal_except_time(&found.bytes, bytes) => Ok(found.sha256),
                Some(_) | None => Err(DocumentCommitError::Conflict),
            }
        }
    }
}

/// Returns whether two documents are equal apart from the time when they were written.
fn is_equal_except_time(one: &[u8], other: &[u8]) -> bool {
    let timeless = |bytes: &[u8]| {
        let text = String::from_utf8(bytes.to_vec()).ok()?;
        let mut document = front_matter::parse_document(&text);
        document.fields.retain(|(key, _)| key != "updated");
        Some(front_matter::write_document(
            &document.fields,
            document.body,
        ))
    };
    let (one, other) = (timeless(one), timeless(other));
    one.is_some() && one == other
}

/// The facts that the program writes into front matter.
#[derive(Debug, Clone)]
pub struct FrontMatterFacts {
    /// The time of the write.
    pub at: UnixMillis,
    /// The iteration that the document belongs to.
    pub iteration: u32,
    /// The folder under `iterations/` that keeps this version.
    pub iteration_folder: u32,
    /// The status of the plan.
    pub status: PlanStatus,
}

/// A committed plan with the hash of its file.
#[derive(Debug, Clone)]
pub struct CommittedPlan {
    pub plan: Plan,
    pub file_sha256: Sha256,
}

/// Commits a plan: boxes are emptied, the program writes the front matter, and the version is saved.
///
/// # Errors
/// The user edited the file in between, or it cannot be written.
pub fn commit_plan(
    lock: &WorkflowDocumentLock,
    text: &str,
    plan: Plan,
    base: Option<&Sha256>,
    version: u32,
    author: DocumentAuthor,
    facts: &FrontMatterFacts,
) -> Result<CommittedPlan, DocumentCommitError> {
    let mut document = front_matter::parse_document(text);
    let fields = &mut document.fields;
    front_matter::set_field(fields, "version", &version.to_string());
    front_matter::set_field(fields, "status", facts.status.as_str());
    front_matter::set_field(fields, "iteration", &facts.iteration.to_string());
    let author = match author {
        DocumentAuthor::Agent => "planner",
        DocumentAuthor::User => "user",
    };
    front_matter::set_field(fields, "author", author);
    front_matter::set_field(fields, "updated", &utc_time::to_rfc3339(facts.at));
    let whole = front_matter::write_document(fields, document.body);
    let file_sha256 = replace_locked_document(&lock.plan, base, whole.as_bytes())?;
    iteration_files::save_version(
        &lock.guard,
        facts.iteration_folder,
        &lock.guard.layout().names().plan,
        whole.as_bytes(),
    )?;
    Ok(CommittedPlan { plan, file_sha256 })
}

/// Commits a review: the reviewer's text, then all answers so far, with the verdict in the front matter.
///
/// # Errors
/// The user edited the file in between, or it cannot be written.
pub fn commit_review(
    lock: &WorkflowDocumentLock,
    text: &str,
    review: &ReviewDocument,
    base: Option<&Sha256>,
    sections: &ProgramSections<'_>,
    plan_sha256: &Sha256,
    facts: &FrontMatterFacts,
) -> Result<Sha256, DocumentCommitError> {
    let document = front_matter::parse_document(text);
    let written = review::strip_program_sections(document.body);
    let body = sections.append_to(&written);
    let mut fields = document.fields;
    set_review_fields(&mut fields, review.verdict, plan_sha256, facts);
    write_comments(lock, base, &fields, &body, facts)
}

fn set_review_fields(
    fields: &mut Vec<(String, String)>,
    verdict: Verdict,
    plan: &Sha256,
    facts: &FrontMatterFacts,
) {
    front_matter::set_field(fields, "status", verdict.as_str());
    front_matter::set_field(fields, "iteration", &facts.iteration.to_string());
    front_matter::set_field(fields, "author", "reviewer");
    front_matter::set_field(fields, "updated", &utc_time::to_rfc3339(facts.at));
    front_matter::set_field(fields, "plan_sha256", plan.as_str());
}

/// What the program keeps in `comments.md` below the reviewer's text: all answers so far, and the threads.
#[derive(Debug, Clone, Copy)]
pub struct ProgramSections<'a> {
    pub ledger: &'a FindingLedger,
    pub threads: &'a PlanThreads,
}

impl<'a> ProgramSections<'a> {
    /// Returns the sections as the run has them.
    pub fn of(state: &'a RunState) -> Self {
        Self {
            ledger: &state.findings,
            threads: &state.threads,
        }
    }

    /// Returns the text of a review followed by the sections.
    pub(in crate::engine) fn append_to(&self, written: &str) -> String {
        let mut text = written.trim_end().to_owned();
        let sections = [
            review::render_responses(self.ledger),
            review::render_threads(self.threads),
        ];
        for section in sections.iter().filter(|section| !section.is_empty()) {
            text.push_str("\n\n");
            text.push_str(section.trim_end());
        }
        text.push('\n');
        text
    }
}

fn write_comments(
    lock: &WorkflowDocumentLock,
    base: Option<&Sha256>,
    fields: &[(String, String)],
    body: &str,
    facts: &FrontMatterFacts,
) -> Result<Sha256, DocumentCommitError> {
    let body = if body.starts_with('\n') {
        body.to_owned()
    } else {
        format!("\n{body}")
    };
    let whole = front_matter::write_document(fields, &body);
    let sha256 = replace_locked_document(&lock.comments, base, whole.as_bytes())?;
    iteration_files::save_version(
        &lock.guard,
        facts.iteration_folder,
        &lock.guard.layout().names().comments,
        whole.as_bytes(),
    )?;
    Ok(sha256)
}

/// Writes the planner's answers below the review in `comments.md`.
///
/// # Errors
/// The user edited the file in between, or it cannot be written.
pub fn commit_responses(
    lock: &WorkflowDocumentLock,
    responses: &[FindingResponse],
    base: Option<&Sha256>,
    sections: &ProgramSections<'_>,
    facts: &FrontMatterFacts,
) -> Result<Sha256, DocumentCommitError> {
    let mut answered = sections.ledger.clone();
    answered.apply_responses(responses);
    let sections = ProgramSections {
        ledger: &answered,
        ..*sections
    };
    append_to_comments(lock, base, facts, |written| sections.append_to(written))
}

/// Writes the answers and threads below the review in `comments.md` as they are now.
///
/// # Errors
/// The file cannot be written, or somebody keeps writing to it.
pub fn rewrite_sections(
    lock: &WorkflowDocumentLock,
    sections: &ProgramSections<'_>,
    facts: &FrontMatterFacts,
) -> Result<Sha256, DocumentCommitError> {
    let found = document_files::read_document(lock.comments.document())?;
    let base = found.map(|document| document.sha256);
    append_to_comments(lock, base.as_ref(), facts, |written| {
        sections.append_to(written)
    })
}

/// What happened before something is appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppendMode {
    First,
    /// A crash, perhaps just after the same text was written.
    AfterCrash,
}

/// Appends the user's remarks to `comments.md`; after a crash, only if they are not in the file yet.
///
/// # Errors
/// The file cannot be written. An edit in between is kept, not overwritten.
pub fn append_remarks(
    lock: &WorkflowDocumentLock,
    text: &str,
    after: AppendMode,
    sections: &ProgramSections<'_>,
    facts: &FrontMatterFacts,
) -> Result<Sha256, DocumentCommitError> {
    // The next try includes what an editor saved in the meantime.
    for _ in 1..MAX_APPEND_TRIES {
        match try_append_remarks(lock, text, after, sections, facts) {
            Err(DocumentCommitError::Conflict) => {}
            tried => return tried,
        }
    }
    try_append_remarks(lock, text, after, sections, facts)
}

fn try_append_remarks(
    lock: &WorkflowDocumentLock,
    text: &str,
    after: AppendMode,
    sections: &ProgramSections<'_>,
    facts: &FrontMatterFacts,
) -> Result<Sha256, DocumentCommitError> {
    let found = document_files::read_document(lock.comments.document())?;
    let section = format!("## Remarks of the user\n\n{}", text.trim());
    if let (Some(found), AppendMode::AfterCrash) = (&found, after)
        && String::from_utf8_lossy(&found.bytes).contains(&section)
    {
        return Ok(found.sha256.clone());
    }
    let base = found.map(|document| document.sha256);
    append_to_comments(lock, base.as_ref(), facts, |written| {
        sections.append_to(&format!("{written}\n\n{section}"))
    })
}

fn append_to_comments(
    lock: &WorkflowDocumentLock,
    base: Option<&Sha256>,
    facts: &FrontMatterFacts,
    change: impl Fn(&str) -> String,
) -> Result<Sha256, DocumentCommitError> {
    let now = document_files::read_document(lock.comments.document())?;
    let text = now.map(|document| String::from_utf8_lossy(&document.bytes).into_owned());
    let text = text.unwrap_or_default();
    let mut document = front_matter::parse_document(&text);
    let body = change(review::strip_program_sections(document.body).trim_end());
    front_matter::set_field(
        &mut document.fields,
        "updated",
        &utc_time::to_rfc3339(facts.at),
    );
    write_comments(lock, base, &document.fields, &body, facts)
}

/// The new state of boxes in `plan.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepMark {
    Ticked,
    Open,
}

/// Ticks or empties steps in `plan.md`; `None` if the user removed the box or the file changed in between.
///
/// # Errors
/// The file cannot be read or written.
pub fn mark_steps(
    lock: &WorkflowDocumentLock,
    steps: &[u32],
    mark: StepMark,
    at: UnixMillis,
) -> Result<Option<Sha256>, StoreError> {
    let Some(now) = document_files::read_document(lock.plan.document())? else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&now.bytes).into_owned();
    let marked = match mark {
        StepMark::Ticked => steps
            .iter()
            .fold(text, |text, step| plan::tick_step(&text, *step)),
        StepMark::Open => plan::untick_steps(&text, steps),
    };
    let mut document = front_matter::parse_document(&marked);
    front_matter::set_field(&mut document.fields, "status", "approved");
    front_matter::set_field(&mut document.fields, "updated", &utc_time::to_rfc3339(at));
    let whole = front_matter::write_document(&document.fields, document.body);
    match replace_locked_document(&lock.plan, Some(&now.sha256), whole.as_bytes()) {
        Ok(sha256) => Ok(Some(sha256)),
        Err(DocumentCommitError::Conflict) => Ok(None),
        Err(DocumentCommitError::Store(error)) => Err(error),
    }
}

/// Adds the user's words to a step in `plan.md`; returns whether they are in it. A plan without the step, or one that is
/// written in the meantime, stays.
///
/// # Errors
/// The file cannot be read or written.
pub fn amend_step(lock: &WorkflowDocumentLock, step: u32, words: &str) -> Result<bool, StoreError> {
    let Some(now) = document_files::read_document(lock.plan.document())? else {
        return Ok(false);
    };
    let text = String::from_utf8_lossy(&now.bytes);
    let Some(amended) = plan::amend_step(&text, step, words) else {
        return Ok(false);
    };
    // Not noted as a write of the program: it counts as an edit of the user.
    match document_files::replace_document(&lock.plan, Some(&now.sha256), amended.as_bytes()) {
        Ok(_) => Ok(true),
        Err(document_files::DocumentReplaceError::Conflict { .. }) => Ok(false),
        Err(document_files::DocumentReplaceError::Store(error)) => Err(error),
    }
}

/// Writes the plan's status into the front matter of `plan.md`; `None` if it is there already, or if the file is
/// not the known one.
///
/// # Errors
/// The file cannot be read or written.
pub fn set_plan_status(
    lock: &WorkflowDocumentLock,
    known: &Sha256,
    status: PlanStatus,
    at: UnixMillis,
) -> Result<Option<Sha256>, StoreError> {
    let Some(now) =
        document_files::read_document(lock.plan.document())?.filter(|now| now.sha256 == *known)
    else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&now.bytes).into_owned();
    let mut document = front_matter::parse_document(&text);
    if document.get("status") == Some(status.as_str()) {
        return Ok(None);
    }
    front_matter::set_field(&mut document.fields, "status", status.as_str());
    front_matter::set_field(&mut document.fields, "updated", &utc_time::to_rfc3339(at));
    let whole = front_matter::write_document(&document.fields, document.body);
    match replace_locked_document(&lock.plan, Some(known), whole.as_bytes()) {
        Ok(sha256) => Ok(Some(sha256)),
        Err(DocumentCommitError::Conflict) => Ok(None),
        Err(DocumentCommitError::Store(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_that_differ_in_their_time_alone_are_the_same() {
        let document =
            |at: &str, body: &str| format!("---\nversion: 1\nupdated: {at}\n---\n{body}");
        let one = document("now", "# Task\n");
        for (other, expected) in [
            (document("then", "# Task\n"), true),
            (document("now", "# Task \n"), false),
            (document("now", "# Task\n").replace('1', "2"), false),
            ("# Task\n".to_owned(), false),
        ] {
            let is_same = is_equal_except_time(one.as_bytes(), other.as_bytes());
            assert_eq!(is_same, expected, "{other}");
        }
        assert!(!is_equal_except_time(b"\xff", b"\xff"));
    }
}
