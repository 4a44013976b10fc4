//! The run's documents as the screen shows them: cleaned once, with a revision that changes when they do.

use std::collections::BTreeMap;

use super::text_wrap::clean_for_display;
use crate::domain::findings::plan_blocks::{BlockLabel, PlanBlocks};
use crate::domain::ids::Sha256;
use crate::domain::plan::approval_hash;
use crate::domain::review::split_parts;
use crate::text::front_matter;

/// The documents of a run as they are on disk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunDocumentFiles {
    pub plan: Option<String>,
    pub comments: Option<String>,
    pub log: Option<String>,
    /// The stored versions of the plan, the earliest first.
    pub plan_versions: Vec<DocumentRevision>,
    /// The stored versions of the review, the earliest first.
    pub review_versions: Vec<DocumentRevision>,
}

/// A stored version of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentRevision {
    /// The iteration that it belongs to.
    pub iteration: u32,
    /// Its number within the iteration, from 1.
    pub version: u32,
    pub text: String,
}

/// One document, cleaned for display.
#[derive(Debug, Default)]
pub struct DisplayDocument {
    /// The text, safe to draw; `None` if the file does not exist.
    pub text: Option<String>,
    /// Increases with each change.
    pub revision: u64,
    raw: Option<String>,
}

/// An earlier version of the plan.
#[derive(Debug)]
pub struct PlanVersion {
    /// Its label, such as `iteration 1`.
    pub label: String,
    /// The review that it was written for, from 1.
    pub review: u32,
    /// The text without its front matter; safe to draw.
    pub text: String,
    /// The hash that an approval of this version refers to.
    pub approval: Sha256,
}

/// All documents of the run, cleaned for display.
#[derive(Debug, Default)]
pub struct DisplayDocuments {
    pub plan: DisplayDocument,
    pub comments: DisplayDocument,
    pub log: DisplayDocument,
    /// Earlier versions of the plan, the earliest first; the current version is not among them.
    pub plan_versions: Vec<PlanVersion>,
    /// What the reviews say below each finding, by its number; the latest non-empty text counts.
    pub evidence: BTreeMap<u32, String>,
    /// The parts of `comments.md` that are neither findings nor answers.
    pub unparsed_comments: String,
    /// The blocks of the current plan that changed since a review, by the review's number; of the last two reviews.
    changed_blocks: Vec<(u32, Vec<BlockLabel>)>,
    plan_files: Vec<DocumentRevision>,
    review_files: Vec<DocumentRevision>,
}

impl DisplayDocuments {
    /// Updates the documents from disk; returns whether one of them changed.
    pub fn update(&mut self, documents: &RunDocumentFiles) -> bool {
        let plan = self.plan.update(documents.plan.as_deref());
        let comments = self.comments.update(documents.comments.as_deref());
        let log = self.log.update(documents.log.as_deref());
        let earlier = self.plan_files != documents.plan_versions;
        if plan || earlier {
            self.plan_files.clone_from(&documents.plan_versions);
            self.plan_versions = self.collect_plan_versions();
            self.changed_blocks = self.compare_with_reviewed_plans();
        }
        let reviews = self.review_files != documents.review_versions;
        if comments || reviews {
            self.review_files.clone_from(&documents.review_versions);
            self.parse_reviews();
        }
        plan || comments || log || earlier || reviews
    }

    /// Returns the blocks of the current plan that changed since a review; `None` where its plan is not known.
    pub fn changed_blocks_since(&self, review: u32) -> Option<&[BlockLabel]> {
        let mut known = self.changed_blocks.iter();
        let (_, blocks) = known.find(|(of, _)| *of == review)?;
        Some(blocks)
    }

    fn compare_with_reviewed_plans(&self) -> Vec<(u32, Vec<BlockLabel>)> {
        let now = PlanBlocks::parse(self.plan.raw.as_deref().unwrap_or_default());
        let mut compared: Vec<(u32, Vec<BlockLabel>)> = Vec::new();
        for kept in self.plan_files.iter().rev() {
            if compared.iter().any(|(review, _)| *review == kept.iteration) {
                continue;
            }
            if compared.len() == 2 {
                break;
            }
            let then = PlanBlocks::parse(&kept.text);
            let changed = now.changed_since(&then).map(|block| block.label.clone());
            compared.push((kept.iteration, changed.collect()));
        }
        compared
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
            // The last text wins: the current file comes after the stored versions.
            self.unparsed_comments = clean_for_display(&parts.rest);
        }
    }

    /// Returns the number of the plan's text, counted over all texts that it has had, from 1.
    pub fn plan_version(&self) -> usize {
        let now = self.plan.raw.as_deref();
        let is_kept = self.plan_files.last().map(|kept| kept.text.as_str()) == now;
        self.plan_files.len() + usize::from(!is_kept)
    }

    /// Returns the lines of the plan.
    pub fn plan_lines(&self) -> Vec<&str> {
        let text = self.plan.text.as_deref();
        text.unwrap_or_default().lines().collect()
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
                    0 | 1 => format!("review {}", kept.iteration),
                    n => format!("review {}, version {n}", kept.iteration),
                },
                review: kept.iteration,
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
