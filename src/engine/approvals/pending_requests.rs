//! Stores requests of agents that have no answer yet: calls as they were made, an edit against the file as it was then,
//! and the raw texts of questions.
//!
//! They are kept in memory only, because they may contain secrets.

use std::collections::BTreeMap;
use std::path::Path;

use crate::adapter::{FileChange, FileChangeKind};
use crate::domain::ids::RequestId;
use crate::domain::phase::Phase;
use crate::engine::run_context::RunContext;
use crate::permission::{
    AgentToolCall, ApprovalMatcher, ApprovalScope, Decision, DecisionContext, MaxApprovalScope,
    StoredApproval, wildcard,
};
use crate::text::escape_invisible;

use super::call_request::CallCircumstances;
use super::caller_context::{CallPaths, CallerContext, RequestAddress};
use super::edit_diff::{FileKnowledge, diff_against_file, new_file_diff};

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

/// A call that waits for the user.
#[derive(Debug)]
pub(super) struct PendingApproval {
    pub(super) caller: CallerContext,
    /// The phase in which it was made.
    phase: Phase,
    pub(super) call: AgentToolCall,
    pub(super) circumstances: CallCircumstances,
    pub(super) decision: Decision,
    pub(super) detail: ApprovalDetail,
}

/// A call as it was made, with invisible characters made visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalDetail {
    /// The command, the paths, or the tool with its input.
    pub text: String,
    /// The diff of an edit, against the file where the CLI does not send one; empty for all other calls.
    pub diff: String,
}

impl PendingApproval {
    /// Stores a call as its agent made it.
    pub(super) fn new(
        caller: CallerContext,
        phase: Phase,
        call: AgentToolCall,
        circumstances: CallCircumstances,
        changes: &[FileChange],
        decision: Decision,
    ) -> Self {
        let detail = ApprovalDetail {
            text: escape_invisible(&call_text(&call)),
            diff: escape_invisible(&changes_diff(&caller.root, changes)),
        };
        Self {
            caller,
            phase,
            call,
            circumstances,
            decision,
            detail,
        }
    }

    /// Returns the context of another decision about the call; `None` if no stored approval can answer it: only the
    /// user can, or its turn or phase is over.
    pub(super) fn decision_context(
        &self,
        run: &RunContext,
        approvals: Vec<StoredApproval>,
    ) -> Option<DecisionContext> {
        let (caller, state) = (&self.caller, run.state());
        let running = state.running.as_ref();
        let is_current = match (caller.role, caller.paths) {
            (Some(_), _) => running.is_some_and(|running| running.order.turn == caller.turn),
            (None, CallPaths::TreeEntries) => self.phase == state.phase,
            (None, CallPaths::Files) => true,
        };
        (is_current && !caller.only_user_decides)
            .then(|| caller.decision_context(run, &self.call, &self.circumstances, approvals))
    }

    /// Returns the approvals for every permission that asked; a command line is approved as a command line.
    pub(super) fn stored_approvals(
        &self,
        what: &[ApprovalMatcher],
        scope: ApprovalScope,
        profile: &str,
    ) -> Vec<StoredApproval> {
        let bash = ["bash".to_owned()];
        let permissions = match self.call {
            AgentToolCall::Command { .. } => bash.as_slice(),
            AgentToolCall::Edit { .. }
            | AgentToolCall::Read { .. }
            | AgentToolCall::Tool { .. } => self.decision.permissions.as_slice(),
        };
        let mut approved = Vec::new();
        for permission in permissions {
            approved.extend(what.iter().map(|what| StoredApproval {
                profile: profile.to_owned(),
                permission: permission.clone(),
                what: what.clone(),
                scope,
            }));
        }
        approved
    }
}

fn call_text(call: &AgentToolCall) -> String {
    let list = |paths: &[std::path::PathBuf]| {
        let shown = paths.iter().map(|path| path.to_string_lossy());
        shown.collect::<Vec<_>>().join("\n")
    };
    match call {
        AgentToolCall::Command { line, .. } => line.clone(),
        AgentToolCall::Edit { paths, .. } | AgentToolCall::Read { paths, .. } => list(paths),
        AgentToolCall::Tool { name, input } => format!("{name} {input}"),
    }
}

/// Returns the text that is written into a file as a diff; some CLIs send only the text.
fn written_text_diff(text: &str) -> String {
    let is_diff = text.starts_with("@@ ")
        || text.starts_with("diff --git ")
        || text.lines().all(|line| line.starts_with('+'));
    if is_diff {
        text.to_owned()
    } else {
        new_file_diff(text, FileKnowledge::Unknown)
    }
}

fn changes_diff(root: &Path, changes: &[FileChange]) -> String {
    let one = |change: &FileChange| {
        let diff = match (diff_against_file(root, change), &change.kind) {
            (Some(diff), _) => diff,
            (None, _) if change.diff.is_empty() => return None,
            (None, FileChangeKind::Add) => written_text_diff(&change.diff),
            (None, FileChangeKind::Update | FileChangeKind::Delete | FileChangeKind::Move(_)) => {
                change.diff.clone()
            }
        };
        let end = if diff.ends_with('\n') { "" } else { "\n" };
        Some(format!("{}\n{diff}{end}", change.path.display()))
    };
    changes.iter().filter_map(one).collect()
}

/// Returns why something cannot be approved for more than one call; `None` if it can: it was offered for this very
/// call, or is narrower than a pattern that was offered.
pub(super) fn scope_error(
    offers: &[ApprovalMatcher],
    keeping: MaxApprovalScope,
    what: &[ApprovalMatcher],
    scope: ApprovalScope,
) -> Option<&'static str> {
    let is_offered = |what: &ApprovalMatcher| {
        offers.iter().any(|offer| match (offer, what) {
            (ApprovalMatcher::Pattern(wide), ApprovalMatcher::Pattern(narrow)) => {
                wildcard::covers(wide, narrow)
            }
            (offer, what) => offer == what,
        })
    };
    match keeping {
        MaxApprovalScope::Never => Some("such a call can only be allowed once"),
        MaxApprovalScope::Run if scope == ApprovalScope::Project => {
            Some("a call on the safety list can be allowed for this run at most")
        }
        MaxApprovalScope::Run | MaxApprovalScope::Project if what.is_empty() => {
            Some("nothing to save")
        }
        MaxApprovalScope::Run | MaxApprovalScope::Project if !what.iter().all(is_offered) => {
            Some("you can only save what is offered, or less")
        }
        MaxApprovalScope::Run | MaxApprovalScope::Project => None,
    }
}
