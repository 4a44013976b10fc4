//! What agents asked for and nobody has answered yet: their calls, as they made them, and the raw texts of their questions.
//!
//! It is in memory only: secrets and all are in it. Refuses to answer anything.

use std::collections::BTreeMap;

use crate::domain::ids::RequestId;

use super::approval_decision::PendingApproval;

/// Everything that waits for an answer, by request.
#[derive(Default)]
pub(super) struct PendingRequests(BTreeMap<RequestId, PendingRequest>);

enum PendingRequest {
    Approval(Box<PendingApproval>),
    /// The raw texts by those that are shown.
    Questions(BTreeMap<String, String>),
}

impl PendingRequest {
    fn pending_approval(&self) -> Option<&PendingApproval> {
        match self {
            Self::Approval(call) => Some(call),
            Self::Questions(_) => None,
        }
    }
}

impl PendingRequests {
    /// Lets a call wait for the user.
    pub(super) fn add_approval(&mut self, request: RequestId, call: PendingApproval) {
        self.0
            .insert(request, PendingRequest::Approval(Box::new(call)));
    }

    /// Lets questions wait for the user: their raw texts, by those that are shown.
    pub(super) fn add_questions(&mut self, request: RequestId, raw: BTreeMap<String, String>) {
        self.0.insert(request, PendingRequest::Questions(raw));
    }

    /// A call that waits.
    pub(super) fn approval(&self, request: &RequestId) -> Option<&PendingApproval> {
        self.0.get(request)?.pending_approval()
    }

    /// All calls that wait.
    pub(super) fn approvals(&self) -> impl Iterator<Item = (&RequestId, &PendingApproval)> {
        let all = self.0.iter();
        all.filter_map(|(request, asked)| Some((request, asked.pending_approval()?)))
    }

    /// Takes out questions that are answered: their raw texts, by those that were shown.
    pub(super) fn remove_questions(&mut self, request: &RequestId) -> BTreeMap<String, String> {
        match self.0.remove(request) {
            Some(PendingRequest::Questions(raw)) => raw,
            Some(PendingRequest::Approval(_)) | None => BTreeMap::new(),
        }
    }

    /// Nobody waits for this any more.
    pub(super) fn remove(&mut self, request: &RequestId) {
        self.0.remove(request);
    }
}
