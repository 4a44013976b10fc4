//! Stores requests of agents that have no answer yet: calls as they were made, and the raw texts of questions.
//!
//! They are kept in memory only, because they may contain secrets.

use std::collections::BTreeMap;

use crate::domain::ids::RequestId;

use super::PendingApproval;
use super::caller_context::RequestAddress;

/// The requests that wait for an answer, by their id among those of all sessions.
#[derive(Default)]
pub(super) struct PendingRequests(BTreeMap<RequestId, PendingRequest>);

/// A request that waits.
pub(super) struct PendingRequest {
    pub(super) address: RequestAddress,
    kind: PendingRequestKind,
}

enum PendingRequestKind {
    Approval(Box<PendingApproval>),
    /// The raw texts of options, by their displayed texts.
    Questions(BTreeMap<String, String>),
}

impl PendingRequest {
    fn approval(&self) -> Option<&PendingApproval> {
        match &self.kind {
            PendingRequestKind::Approval(call) => Some(call),
            PendingRequestKind::Questions(_) => None,
        }
    }
}

impl PendingRequests {
    /// Adds a call that waits for the user.
    pub(super) fn add_approval(&mut self, address: RequestAddress, call: PendingApproval) {
        self.add(address, PendingRequestKind::Approval(Box::new(call)));
    }

    /// Adds questions that wait for the user: their raw texts, by the displayed texts.
    pub(super) fn add_questions(&mut self, address: RequestAddress, raw: BTreeMap<String, String>) {
        self.add(address, PendingRequestKind::Questions(raw));
    }

    fn add(&mut self, address: RequestAddress, kind: PendingRequestKind) {
        let request = address.request.clone();
        self.0.insert(request, PendingRequest { address, kind });
    }

    /// Returns a pending call and where its answer goes.
    pub(super) fn approval(
        &self,
        request: &RequestId,
    ) -> Option<(&RequestAddress, &PendingApproval)> {
        let pending = self.0.get(request)?;
        Some((&pending.address, pending.approval()?))
    }

    /// Returns all pending calls.
    pub(super) fn approvals(&self) -> impl Iterator<Item = (&RequestAddress, &PendingApproval)> {
        let all = self.0.values();
        all.filter_map(|pending| Some((&pending.address, pending.approval()?)))
    }

    /// Removes questions that are answered, and returns their raw texts by the displayed texts.
    pub(super) fn remove_questions(
        &mut self,
        request: &RequestId,
    ) -> Option<(RequestAddress, BTreeMap<String, String>)> {
        let pending = self.0.remove(request)?;
        match pending.kind {
            PendingRequestKind::Questions(raw) => Some((pending.address, raw)),
            PendingRequestKind::Approval(_) => None,
        }
    }

    /// Removes a request that is no longer pending, and returns where its answer goes.
    pub(super) fn remove(&mut self, request: &RequestId) -> Option<RequestAddress> {
        Some(self.0.remove(request)?.address)
    }
}
