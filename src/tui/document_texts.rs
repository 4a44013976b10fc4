//! The run's documents as they are shown: cleaned once, with a number that changes when they do.

use std::collections::BTreeMap;

use super::text_wrap::clean_for_display;
use crate::domain::ids::Sha256;
use crate::domain::plan::approval_hash;
use crate::domain::review::split_parts;
use crate::text::front_matter;

/// The documents of a run as they lie on disk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunDocumentFiles {
    /// `plan.md`
    pub plan: Option<String>,
    /// `comments.md`
    pub comments: Option<String>,
    /// `log.md`
    pub log: Option<String>,
    /// The kept versions of the plan, the earliest first.
    pub plan_versions: Vec<DocumentRevision>,
    /// The kept versions of the review, the earliest first.
    pub review_versions: Vec<DocumentRevision>,
}

/// A kept version of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentRevision {
    /// The iteration that it was kept for.
    pub iteration: u32,
    /// Which of its versions, from 1.
    pub version: u32,
    /// The file's text.
    pub text: String,
}

/// One document.
#[derive(Debug, Default)]
pub struct DisplayDocument {
    /// The drawable text; `None` when the file does not exist.
    pub text: Option<String>,
    /// Goes up with each change.
    pub revision: u64,
    raw: Option<String>,
}

/// An earlier version of the plan.
#[derive(Debug)]
pub struct PlanVersion {
    /// Which, such as `iteration 1`.
    pub label: String,
    /// Its drawable text without what the program writes before it.
    pub text: String,
    /// What an approval of it is bound to.
    pub approval: Sha256,
}

/// All of them.
#[derive(Debug, Default)]
pub struct DisplayDocuments {
    /// `plan.md`
    pub plan: DisplayDocument,
    /// `comments.md`
    pub comments: DisplayDocument,
    /// `log.md`
    pub log: DisplayDocument,
    /// Earlier versions of the plan, the earliest first; none is the same as the one that lies there.
    pub plan_versions: Vec<PlanVersion>,
    /// What the reviews say below each finding, by its number, as the last one that says something does.
    pub evidence: BTreeMap<u32, String>,
    /// What `comments.md` holds that is neither a finding nor an answer.
    pub unparsed_comments: String,
    plan_files: Vec<DocumentRevision>,
    review_files: Vec<DocumentRevision>,
}

impl DisplayDocuments {
    /// Takes the documents as they lie on disk; tells whether one of them changed.
    pub fn update(&mut self, documents: &RunDocumentFiles) -> bool {
        let plan = self.plan.update(documents.plan.as_deref());
        let comments = self.comments.update(documents.comments.as_deref());
        let log = self.log.update(documents.log.as_deref());
        let earlier = self.plan_files != documents.plan_versions;
        if plan || earlier {
            self.plan_files.clone_from(&documents.plan_versions);
            self.plan_versions = self.collect_plan_versions();
        }
        let reviews = self.review_files != documents.review_versions;
        if comments || reviews {
            self.review_files.clone_from(&documents.review_versions);
            self.parse_reviews();
        }
        plan || comments || log || earlier || reviews
    }

    fn parse_reviews(&mut self) {
        self.evidence.clear();
        self.unparsed_comments.clear();
        let kept = self.review_files.iter().map(|kept| kept.text.as_str());
        let now = self.comments.raw.as_deref();
        for text in kept.chain(now) {
            let parts = split_parts(front_matter::parse_document(text).body);
            let said = parts.evidence.into_iter();
            let said = said.filter(|(_, text)| !text.trim().is_empty());
            self.evidence
                .extend(said.map(|(n, text)| (n, clean_for_display(&text))));
            // That of the last one counts, which lies there now.
            self.unparsed_comments = clean_for_display(&parts.rest);
        }
    }

    fn collect_plan_versions(&self) -> Vec<PlanVersion> {
        let now = self.plan.raw.as_deref().map(approval_hash);
        let mut earlier: Vec<PlanVersion> = Vec::new();
        for kept in &self.plan_files {
            let approval = approval_hash(&kept.text);
            let is_same = earlier.last().is_some_and(|last| last.approval == approval);
            if is_same || now.as_ref() == Some(&approval) {
                continue;
            }
            let body = front_matter::parse_document(&kept.text).body;
            earlier.push(PlanVersion {
                label: match kept.version {
                    0 | 1 => format!("iteration {}", kept.iteration),
                    n => format!("iteration {}, version {n}", kept.iteration),
                },
                text: clean_for_display(body.trim_start_matches('\n')),
                approval,
            });
        }
        earlier
    }
}

impl DisplayDocument {
    fn update(&mut self, raw: Option<&str>) -> bool {
        if self.raw.as_deref() == raw {
            return false;
        }
        self.raw = raw.map(str::to_owned);
        self.text = raw.map(clean_for_display);
        self.revision += 1;
        true
    }
}
