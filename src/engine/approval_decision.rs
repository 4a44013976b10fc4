//! Applies the user's decision to pending calls, and stores approvals that cover more than one call.
//!
//! The calls, including any secrets, are kept in memory only. Whether an approval covers a call is decided by
//! `decide_call`, as for every other call.

use crate::adapter::{CallDecision as Answer, FileChange, FileChangeKind};
use crate::domain::event::{ApprovalDecider, ApprovalDecision, DENIED_BY_USER};
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::turn::Role;
use crate::permission::approval_suggestions::suggest_approvals;
use crate::permission::{
    AgentToolCall, ApprovalMatcher, ApprovalScope, Decision, DecisionContext, LoopStatus,
    MaxApprovalScope, PermissionAction, StoredApproval, decide_call, wildcard,
};
use crate::store::utc_time;
use crate::text::escape_invisible;

use super::approval_request::CallCircumstances;
use super::call_decision::{DecisionRecord, deny_with_reason};
use super::{Engine, EngineError};

/// The session or patch that a request belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RequestOwner {
    /// The role whose turn runs.
    Role(Role),
    Child(SessionId),
    /// The program's own request about a child's patch.
    Patch(SessionId),
}

/// A call that waits for the user.
#[derive(Debug)]
pub struct PendingApproval {
    owner: RequestOwner,
    call: AgentToolCall,
    circumstances: CallCircumstances,
    decision: Decision,
    detail: ApprovalDetail,
}

/// A call exactly as it was made, with invisible characters made visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalDetail {
    /// The command, the paths, or the tool with its input.
    pub text: String,
    /// The diff of an edit; empty for all other calls and if the CLI does not send it.
    pub diff: String,
}

/// The result of the user's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalDecisionResult {
    /// The decision was sent.
    Applied,
    /// The call no longer waits: it was answered, or its agent is gone. Nothing was changed.
    NoLongerPending,
    /// Nothing was answered: the approval cannot be stored in this form, for this reason.
    NotStored(String),
}

impl PendingApproval {
    /// Stores a call as its agent made it.
    pub(super) fn new(
        seat: RequestOwner,
        call: AgentToolCall,
        circumstances: CallCircumstances,
        changes: &[FileChange],
        decision: Decision,
    ) -> Self {
        let shown = ApprovalDetail {
            text: escape_invisible(&call_text(&call)),
            diff: escape_invisible(&changes_diff(changes)),
        };
        Self {
            owner: seat,
            call,
            circumstances,
            decision,
            detail: shown,
        }
    }

    /// Returns the approvals for every permission that asked; a command line is approved as a command line.
    fn stored_approvals(
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

/// Returns the content of a new file as a diff; some CLIs send only the text.
fn new_file_diff(text: &str) -> String {
    let is_diff = text.starts_with("@@ ")
        || text.starts_with("diff --git ")
        || text.lines().all(|line| line.starts_with('+'));
    if is_diff {
        return text.to_owned();
    }
    let lines = text.split_inclusive('\n').map(|line| format!("+{line}"));
    let n = text.lines().count();
    format!("@@ -0,0 +1,{n} @@\n{}", lines.collect::<String>())
}

fn changes_diff(changes: &[FileChange]) -> String {
    let one = |change: &FileChange| {
        let end = if change.diff.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let diff = match change.kind {
            FileChangeKind::Add => new_file_diff(&change.diff),
            FileChangeKind::Update | FileChangeKind::Delete | FileChangeKind::Move(_) => {
                change.diff.clone()
            }
        };
        format!("{}\n{diff}{end}", change.path.display())
    };
    changes
        .iter()
        .filter(|change| !change.diff.is_empty())
        .map(one)
        .collect()
}

impl Engine {
    /// Returns a pending call exactly as it was made; `None` if it is no longer pending.
    pub fn pending_approval_detail(&self, request: &RequestId) -> Option<&ApprovalDetail> {
        self.pending_requests
            .approval(request)
            .map(|waiting| &waiting.detail)
    }

    /// Applies the user's decision to a pending call. A call that no longer waits is left alone.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub fn decide_approval(
        &mut self,
        request: &RequestId,
        answer: ApprovalDecision,
    ) -> Result<ApprovalDecisionResult, EngineError> {
        let Some(seat) = self
            .pending_requests
            .approval(request)
            .map(|waiting| waiting.owner.clone())
        else {
            return Ok(ApprovalDecisionResult::NoLongerPending);
        };
        let by_user = |answer, reason: &str| DecisionRecord {
            decision: answer,
            by: ApprovalDecider::User,
            reason: reason.to_owned(),
        };
        match answer {
            ApprovalDecision::AllowOnce => {
                self.reset_loop_detector(request);
                let said = by_user(Answer::Allow, "allowed by the user, this once");
                self.record_and_send_decision(request.clone(), said, Vec::new())?;
            }
            ApprovalDecision::AllowAndRemember { what, scope } => {
                return self.allow_and_remember(request, &what, scope);
            }
            ApprovalDecision::DenyWithReason(text) => {
                let said = by_user(deny_with_reason(&text), &text);
                self.record_and_send_decision(request.clone(), said, Vec::new())?;
            }
            ApprovalDecision::DenyAndStop => {
                self.deny_other_calls(request, &seat)?;
                let said = by_user(Answer::DenyAndStop, DENIED_BY_USER);
                self.record_and_send_decision(request.clone(), said, Vec::new())?;
            }
        }
        Ok(ApprovalDecisionResult::Applied)
    }

    /// Restarts the loop detection after the user has seen a loop and lets it continue.
    fn reset_loop_detector(&mut self, request: &RequestId) {
        let closes =
            |waiting: &&PendingApproval| waiting.circumstances.repetition == LoopStatus::Loop;
        let seat = self.pending_requests.approval(request).filter(closes);
        match seat.map(|waiting| waiting.owner.clone()) {
            Some(RequestOwner::Role(_)) => {
                if let Some(at_work) = &mut self.active_turn {
                    at_work.loop_detector.reset();
                }
            }
            Some(RequestOwner::Child(session)) => self.reset_child_loop_detector(&session),
            Some(RequestOwner::Patch(_)) | None => {}
        }
    }

    /// Allows a call and stores what is approved with it, after checking that this covers the call.
    fn allow_and_remember(
        &mut self,
        request: &RequestId,
        what: &[ApprovalMatcher],
        scope: ApprovalScope,
    ) -> Result<ApprovalDecisionResult, EngineError> {
        let not_kept = |why: String| Ok(ApprovalDecisionResult::NotStored(why));
        let Some(waiting) = self.pending_requests.approval(request) else {
            return Ok(ApprovalDecisionResult::NoLongerPending);
        };
        let offers = suggest_approvals(&waiting.call, &waiting.decision);
        if let Some(why) = scope_error(&offers, waiting.decision.max_scope, what, scope) {
            return not_kept(why.to_owned());
        }
        let run = self.state().run.clone();
        let context = self.pending_approval_context(waiting, Vec::new());
        let Some(mut context) = context else {
            return Ok(ApprovalDecisionResult::NoLongerPending);
        };
        let kept = waiting.stored_approvals(what, scope, &context.profile);
        context.approvals = match self.setup.approvals.list_for_run(&run) {
            Ok(before) => before,
            Err(error) => return not_kept(format!("{error}; {}", error.hint())),
        };
        context.approvals.extend(kept.iter().cloned());
        if decide_call(&waiting.call, &context).action != PermissionAction::Allow {
            return not_kept("this would not cover the pending call".to_owned());
        }
        if let Err(error) = self.setup.approvals.add(&run, utc_time::now(), &kept) {
            return not_kept(format!("{error}; {}", error.hint()));
        }
        let said = DecisionRecord {
            decision: Answer::Allow,
            by: ApprovalDecider::User,
            reason: format!("allowed by the user for {}", scope.label()),
        };
        self.record_and_send_decision(request.clone(), said, kept)?;
        self.allow_covered_calls()?;
        Ok(ApprovalDecisionResult::Applied)
    }

    /// Allows the pending calls that the stored approvals now cover.
    pub(super) fn allow_covered_calls(&mut self) -> Result<(), EngineError> {
        let Ok(approved) = self.setup.approvals.list_for_run(&self.state().run) else {
            return Ok(());
        };
        let is_covered = |waiting: &PendingApproval| {
            let context = self.pending_approval_context(waiting, approved.clone());
            context.is_some_and(|context| {
                decide_call(&waiting.call, &context).action == PermissionAction::Allow
            })
        };
        let covered = self
            .pending_requests
            .approvals()
            .filter(|(_, waiting)| is_covered(waiting));
        let covered: Vec<RequestId> = covered.map(|(request, _)| request.clone()).collect();
        for request in covered {
            let said = DecisionRecord {
                decision: Answer::Allow,
                by: ApprovalDecider::Cascade,
                reason: "what you approved for another call covers it".to_owned(),
            };
            self.record_and_send_decision(request, said, Vec::new())?;
        }
        Ok(())
    }

    /// Returns the decision context of a pending call; `None` when its turn is over.
    fn pending_approval_context(
        &self,
        waiting: &PendingApproval,
        approvals: Vec<StoredApproval>,
    ) -> Option<DecisionContext> {
        let (call, circumstances) = (&waiting.call, &waiting.circumstances);
        match &waiting.owner {
            RequestOwner::Role(_) => self.decision_context(call, circumstances, approvals),
            RequestOwner::Child(session) => {
                self.child_decision_context(session, call, circumstances, approvals)
            }
            RequestOwner::Patch(session) => {
                self.pending_patch_decision_context(session, call, approvals)
            }
        }
    }

    /// Denies the other pending calls of a session whose turn the user ends with a plain denial.
    fn deny_other_calls(
        &mut self,
        request: &RequestId,
        seat: &RequestOwner,
    ) -> Result<(), EngineError> {
        let others = self.pending_requests.approvals();
        let others = others.filter(|(other, waiting)| *other != request && waiting.owner == *seat);
        let others: Vec<RequestId> = others.map(|(other, _)| other.clone()).collect();
        for other in others {
            let reason = "the user denied another call and ended the turn";
            let said = DecisionRecord {
                decision: deny_with_reason(reason),
                by: ApprovalDecider::Cascade,
                reason: reason.to_owned(),
            };
            self.record_and_send_decision(other, said, Vec::new())?;
        }
        Ok(())
    }
}

/// Returns why something cannot be approved for more than one call; `None` if it can: it was offered for this very
/// call, or is narrower than a pattern that was offered.
fn scope_error(
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

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(super) use tests::ApprovalTestRun;
