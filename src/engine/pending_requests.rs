//! Stores requests of agents that have no answer yet: calls as they were made, and the raw texts of questions.
//!
//! They are kept in memory only, because they may contain secrets.

use std::collections::BTreeMap;

use crate::domain::ids::RequestId;

use super::approval_decision::PendingApproval;

/// The requests that wait for an answer, by id.
#[derive(Default)]
pub(super) struct PendingRequests(BTreeMap<RequestId, PendingRequest>);

enum PendingRequest {
    Approval(Box<PendingApproval>),
    /// The raw texts of options, by their displayed texts.
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
    /// Adds a call that waits for the user.
    pub(super) fn add_approval(&mut self, request: RequestId, call: PendingApproval) {
        self.0
            .insert(request, PendingRequest::Approval(Box::new(call)));
    }

    /// Adds questions that wait for the user: their raw texts, by the displayed texts.
    pub(super) fn add_questions(&mut self, request: RequestId, raw: BTreeMap<String, String>) {
        self.0.insert(request, PendingRequest::Questions(raw));
    }

    /// Returns a pending call.
    pub(super) fn approval(&self, request: &RequestId) -> Option<&PendingApproval> {
        self.0.get(request)?.pending_approval()
    }

    /// Returns all pending calls.
    pub(super) fn approvals(&self) -> impl Iterator<Item = (&RequestId, &PendingApproval)> {
        let all = self.0.iter();
        all.filter_map(|(request, asked)| Some((request, asked.pending_approval()?)))
    }

    /// Removes questions that are answered, and returns their raw texts by the displayed texts.
    pub(super) fn remove_questions(&mut self, request: &RequestId) -> BTreeMap<String, String> {
        match self.0.remove(request) {
            Some(PendingRequest::Questions(raw)) => raw,
            Some(PendingRequest::Approval(_)) | None => BTreeMap::new(),
        }
    }

    /// Removes a request that is no longer pending.
    pub(super) fn remove(&mut self, request: &RequestId) {
        self.0.remove(request);
    }
}
