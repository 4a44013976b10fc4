//! Decides about the changes of a child: like an edit of these files, and always by asking where the user's
//! tree changed in the same places.
//!
//! Does not write anything: `patch_writer` does.

use std::path::Path;

use super::{ActiveTaskStage, PatchApplyStage, PatchApplyTiming, PatchEvent, PatchMerge};
use crate::adapter::CallDecision as Answer;
use crate::domain::event::Event;
use crate::domain::ids::{RequestId, SessionId, TurnId};
use crate::engine::approval_decision::{PendingApproval, RequestOwner};
use crate::engine::approval_request::{ApprovalRequest, CallCircumstances};
use crate::engine::call_decision::{build_approval, resolve_path};
use crate::engine::git::TreeMerge;
use crate::engine::run_setup::AskPolicy;
use crate::engine::subagents::child_worktree::display_path;
use crate::engine::subagents::qualified_request_id;
use crate::engine::{Engine, EngineError, agent_activity};
use crate::permission::{
    AgentToolCall, Decision, DecisionContext, DecisionReason, DecisionSource, LoopStatus,
    MaxApprovalScope, PermissionAction, PhaseAccess, ResolvedPath, SandboxReach, StoredApproval,
    decide_call,
};

impl Engine {
    /// Decides about the changes as an edit of their files; the user is always asked about a conflict.
    pub(super) fn decide_patch(
        &mut self,
        session: &SessionId,
        prepared: PatchMerge,
    ) -> Result<(), EngineError> {
        let PatchMerge {
            merge: joined,
            changes,
            ..
        } = prepared;
        let Some(turn) = self
            .subagent_tasks
            .active_tasks
            .get(session)
            .map(|t| t.order.turn.clone())
        else {
            return Ok(());
        };
        let root = &self.run.setup.root;
        let call = AgentToolCall::Edit {
            paths: joined.paths.keys().map(|path| root.join(path)).collect(),
            reach: SandboxReach::Contained,
        };
        let approved = self.run.load_stored_approvals()?;
        let Some(context) = self.patch_decision_context(session, &call, approved) else {
            return Ok(());
        };
        let mut decision = decide_call(&call, &context);
        if !joined.conflicts.is_empty() && decision.action != PermissionAction::Deny {
            if self.run.setup.ask_policy != AskPolicy::Wait {
                let why = format!("{}, and no one can answer", describe_conflicts(&joined));
                return self.leave_patch_as_file(session, &why);
            }
            decision = Decision {
                action: PermissionAction::Ask,
                max_scope: MaxApprovalScope::Never,
                source: DecisionSource::Program,
                reason: conflict_reason(&joined),
                ..decision
            };
        }
        let patch = self
            .patch_application_mut(session)
            .map(|handing| handing.patch.diffstat());
        let asking = ApprovalRequest {
            request: qualified_request_id(session, &RequestId::new("patch")),
            item: None,
            call,
            changes,
            reason: patch.map(|amount| format!("this applies the changes of the task: {amount}")),
            sub_agent: Some(self.session_display_path(session)),
            fingerprint: None,
        };
        self.request_patch_approval(session, turn, asking, context, decision)
    }

    /// Reports the decision, or asks the user.
    fn request_patch_approval(
        &mut self,
        session: &SessionId,
        turn: TurnId,
        asking: ApprovalRequest,
        context: DecisionContext,
        decision: Decision,
    ) -> Result<(), EngineError> {
        let request = asking.request.clone();
        let said = self.decide_without_user(&decision, LoopStatus::NoLoop);
        let approval = build_approval(&asking, turn, context.profile, &decision);
        self.apply_event(Event::ApprovalRequested(approval))?;
        if let Some(said) = said {
            return self.record_and_send_decision(request, said, Vec::new());
        }
        let circumstances = CallCircumstances {
            lineage: context.lineage,
            repetition: LoopStatus::NoLoop,
        };
        let seat = RequestOwner::Patch(session.clone());
        let ApprovalRequest { call, changes, .. } = asking;
        let waiting = PendingApproval::new(seat, call, circumstances, &changes, decision);
        self.pending_requests.add_approval(request, waiting);
        Ok(())
    }

    /// Returns the context of the decision: an edit of the user's tree by the child.
    fn patch_decision_context(
        &self,
        session: &SessionId,
        call: &AgentToolCall,
        approvals: Vec<StoredApproval>,
    ) -> Option<DecisionContext> {
        let order = &self.subagent_tasks.active_tasks.get(session)?.order;
        let root = &self.run.setup.root;
        let access = match self.patch_apply_timing() {
            PatchApplyTiming::Never(_) => PhaseAccess::BeforeExecute,
            PatchApplyTiming::Now | PatchApplyTiming::Later => PhaseAccess::Execute,
        };
        let paths = match call {
            AgentToolCall::Edit { paths, .. } => paths
                .iter()
                .map(|path| resolve_tree_entry(root, path))
                .collect(),
            AgentToolCall::Command { .. }
            | AgentToolCall::Read { .. }
            | AgentToolCall::Tool { .. } => Vec::new(),
        };
        Some(DecisionContext {
            paths,
            approvals,
            lineage: self.run.setup.permissions.child_lineage(),
            ..self.run.base_decision_context(&order.agent, access, root)
        })
    }

    /// Like [`Engine::patch_decision_context`], for changes that the user is asked about; `NoLoop` for
    /// changes that no rule and no approval can allow, because both sides changed the same.
    pub(in crate::engine) fn pending_patch_decision_context(
        &self,
        session: &SessionId,
        call: &AgentToolCall,
        approvals: Vec<StoredApproval>,
    ) -> Option<DecisionContext> {
        match &self.subagent_tasks.active_tasks.get(session)?.stage {
            ActiveTaskStage::ApplyingPatch(handing) if handing.stage.has_conflicts() => None,
            _ => self.patch_decision_context(session, call, approvals),
        }
    }

    /// Forwards the answer about a child's changes; `false` if the request is about something else.
    pub(in crate::engine::subagents) fn forward_patch_decision(
        &mut self,
        session: &SessionId,
        own: &RequestId,
        answer: &Answer,
    ) -> bool {
        if own.as_str() != "patch" || self.patch_application_mut(session).is_none() {
            return false;
        }
        let answered = match answer {
            Answer::Allow => Ok(()),
            Answer::Deny { reason } => Err(reason.clone()),
            Answer::DenyAndStop => Err("declined by the user".to_owned()),
        };
        self.queue_patch_event(session, PatchEvent::Decided(answered));
        true
    }

    pub(super) fn on_patch_decided(
        &mut self,
        session: &SessionId,
        answered: Result<(), String>,
    ) -> Result<(), EngineError> {
        let Some(handing) = self.patch_application_mut(session) else {
            return Ok(());
        };
        let PatchApplyStage::AwaitingApproval(extent) = &handing.stage else {
            return Ok(());
        };
        match answered {
            Err(why) => self.leave_patch_as_file(session, &why),
            Ok(()) => {
                handing.stage = PatchApplyStage::Approved(extent.clone());
                self.start_patch_merge(session)
            }
        }
    }
}

/// Resolves an entry of the tree: links above it are followed, a link that is the entry itself is not.
fn resolve_tree_entry(root: &Path, path: &Path) -> ResolvedPath {
    let real = match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolve_path(root, parent).real.join(name),
        _ => resolve_path(root, path).real,
    };
    ResolvedPath {
        lexical: path.to_owned(),
        real,
    }
}

fn describe_conflicts(joined: &TreeMerge) -> String {
    let paths: Vec<String> = joined.conflicts.iter().map(display_path).collect();
    format!(
        "{} changed here too since the task started",
        paths.join(", ")
    )
}

fn conflict_reason(joined: &TreeMerge) -> DecisionReason {
    DecisionReason {
        rule: "changed on both sides".to_owned(),
        origin: "the task's changes".to_owned(),
        reason: agent_activity::clean_line(&format!(
            "{}; yes applies the task's version and keeps yours as a patch; \
             no keeps the task's changes as a patch",
            describe_conflicts(joined)
        )),
    }
}
