//! The run's documents as they are shown: cleaned once, with a number that changes when they do.

use super::Documents;
use super::wrap::shown;

/// One document.
#[derive(Debug, Default)]
pub struct Text {
    /// The drawable text; `None` when the file does not exist.
    pub text: Option<String>,
    /// Goes up with each change.
    pub revision: u64,
    raw: Option<String>,
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
}

impl Texts {
    /// Takes the documents as they lie on disk; tells whether one of them changed.
    pub fn take(&mut self, documents: &Documents) -> bool {
        let plan = self.plan.take(documents.plan.as_deref());
        let comments = self.comments.take(documents.comments.as_deref());
        let log = self.log.take(documents.log.as_deref());
        plan || comments || log
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
