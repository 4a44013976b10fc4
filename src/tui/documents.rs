//! The run's documents as they are shown: cleaned once, with a number that changes when they do.

use super::Documents;
use super::wrap::shown;
use crate::domain::ids::Sha256;
use crate::domain::plan::approval_hash;
use crate::text::front_matter;

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
    kept: Vec<super::KeptPlan>,
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
        plan || comments || log || earlier
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
            let body = front_matter::split(&kept.text).body;
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
