//! The run's documents as they are shown: cleaned once, with a number that changes when they do.

use std::collections::BTreeMap;

use super::wrap::shown;
use crate::domain::ids::Sha256;
use crate::domain::plan::approval_hash;
use crate::domain::review::split_parts;
use crate::text::front_matter;

/// The documents of a run as they lie on disk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Documents {
    /// `plan.md`
    pub plan: Option<String>,
    /// `comments.md`
    pub comments: Option<String>,
    /// `log.md`
    pub log: Option<String>,
    /// The kept versions of the plan, the earliest first.
    pub earlier: Vec<KeptText>,
    /// The kept versions of the review, the earliest first.
    pub reviews: Vec<KeptText>,
}

/// A kept version of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptText {
    /// The iteration that it was kept for.
    pub iteration: u32,
    /// Which of its versions, from 1.
    pub version: u32,
    /// The file's text.
    pub text: String,
}

/// One document.
#[derive(Debug, Default)]
pub struct Text {
    /// The drawable text; `None` when the file does not exist.
    pub text: Option<String>,
    /// Goes up with each change.
    pub revision: u64,
    raw: Option<String>,
}

/// An earlier version of the plan.
#[derive(Debug)]
pub struct Earlier {
    /// Which, such as `iteration 1`.
    pub label: String,
    /// Its drawable text without what the program writes before it.
    pub text: String,
    /// What an approval of it is bound to.
    pub approval: Sha256,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Texts {
    /// `plan.md`
    pub plan: Text,
    /// `comments.md`
    pub comments: Text,
    /// `log.md`
    pub log: Text,
    /// Earlier versions of the plan, the earliest first; none is the same as the one that lies there.
    pub earlier: Vec<Earlier>,
    /// What the reviews say below each finding, by its number, as the last one that says something does.
    pub evidence: BTreeMap<u32, String>,
    /// What `comments.md` holds that is neither a finding nor an answer.
    pub rest: String,
    kept: Vec<KeptText>,
    reviews: Vec<KeptText>,
}

impl Texts {
    /// Takes the documents as they lie on disk; tells whether one of them changed.
    pub fn take(&mut self, documents: &Documents) -> bool {
        let plan = self.plan.take(documents.plan.as_deref());
        let comments = self.comments.take(documents.comments.as_deref());
        let log = self.log.take(documents.log.as_deref());
        let earlier = self.kept != documents.earlier;
        if plan || earlier {
            self.kept.clone_from(&documents.earlier);
            self.earlier = self.read_earlier();
        }
        let reviews = self.reviews != documents.reviews;
        if comments || reviews {
            self.reviews.clone_from(&documents.reviews);
            self.read_reviews();
        }
        plan || comments || log || earlier || reviews
    }

    fn read_reviews(&mut self) {
        self.evidence.clear();
        self.rest.clear();
        let kept = self.reviews.iter().map(|kept| kept.text.as_str());
        let now = self.comments.raw.as_deref();
        for text in kept.chain(now) {
            let parts = split_parts(front_matter::parse_document(text).body);
            let said = parts.evidence.into_iter();
            let said = said.filter(|(_, text)| !text.trim().is_empty());
            self.evidence
                .extend(said.map(|(n, text)| (n, shown(&text))));
            // That of the last one counts, which lies there now.
            self.rest = shown(&parts.rest);
        }
    }

    fn read_earlier(&self) -> Vec<Earlier> {
        let now = self.plan.raw.as_deref().map(approval_hash);
        let mut earlier: Vec<Earlier> = Vec::new();
        for kept in &self.kept {
            let approval = approval_hash(&kept.text);
            let is_same = earlier.last().is_some_and(|last| last.approval == approval);
            if is_same || now.as_ref() == Some(&approval) {
                continue;
            }
            let body = front_matter::parse_document(&kept.text).body;
            earlier.push(Earlier {
                label: match kept.version {
                    0 | 1 => format!("iteration {}", kept.iteration),
                    n => format!("iteration {}, version {n}", kept.iteration),
                },
                text: shown(body.trim_start_matches('\n')),
                approval,
            });
        }
        earlier
    }
}

impl Text {
    fn take(&mut self, raw: Option<&str>) -> bool {
        if self.raw.as_deref() == raw {
            return false;
        }
        self.raw = raw.map(str::to_owned);
        self.text = raw.map(shown);
        self.revision += 1;
        true
    }
}
