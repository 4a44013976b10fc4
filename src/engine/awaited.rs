//! What agents asked for and nobody has answered yet: their calls, as they made them, and the raw texts of their questions.
//!
//! It is in memory only: secrets and all are in it. Refuses to answer anything.

use std::collections::BTreeMap;

use crate::domain::ids::RequestId;

use super::granting::Waiting;

/// Everything that waits for an answer, by request.
#[derive(Default)]
pub(super) struct Awaited(BTreeMap<RequestId, Asked>);

enum Asked {
    Call(Box<Waiting>),
    /// The raw texts by those that are shown.
    Questions(BTreeMap<String, String>),
}

impl Asked {
    fn call(&self) -> Option<&Waiting> {
        match self {
            Self::Call(call) => Some(call),
            Self::Questions(_) => None,
        }
    }
}

impl Awaited {
    /// Lets a call wait for the user.
    pub(super) fn hold(&mut self, request: RequestId, call: Waiting) {
        self.0.insert(request, Asked::Call(Box::new(call)));
    }

    /// Lets questions wait for the user: their raw texts, by those that are shown.
    pub(super) fn ask(&mut self, request: RequestId, raw: BTreeMap<String, String>) {
        self.0.insert(request, Asked::Questions(raw));
    }

    /// A call that waits.
    pub(super) fn call(&self, request: &RequestId) -> Option<&Waiting> {
        self.0.get(request)?.call()
    }

    /// All calls that wait.
    pub(super) fn calls(&self) -> impl Iterator<Item = (&RequestId, &Waiting)> {
        let all = self.0.iter();
        all.filter_map(|(request, asked)| Some((request, asked.call()?)))
    }

    /// Takes out questions that are answered: their raw texts, by those that were shown.
    pub(super) fn take_questions(&mut self, request: &RequestId) -> BTreeMap<String, String> {
        match self.0.remove(request) {
            Some(Asked::Questions(raw)) => raw,
            Some(Asked::Call(_)) | None => BTreeMap::new(),
        }
    }

    /// Nobody waits for this any more.
    pub(super) fn forget(&mut self, request: &RequestId) {
        self.0.remove(request);
    }
}
