//! Decides about the changes of a child: like an edit of these files, and always by asking where the user's
//! tree changed in the same places.
//!
//! Does not write anything: `patch_writer` does.

use super::{PatchApplication, PatchApplyStage, PatchProgress};
use crate::adapter::{ApprovalRequest, DecisionWait};
use crate::domain::ids::RequestId;
use crate::engine::agent_activity;
use crate::engine::approvals::call_request::CallCircumstances;
use crate::engine::approvals::caller_context::{CallPaths, CallerContext};
use crate::engine::engine_error::EngineError;
use crate::engine::git::TreeMerge;
use crate::engine::owner_request::OwnerRequest;
use crate::engine::run_context::RunContext;
use crate::engine::run_setup::AskPolicy;
use crate::engine::subagents::child_event::{PatchEvent, PatchMerge};
use crate::engine::subagents::child_worktree::display_path;
use crate::engine::subagents::task_start::child_caller;
use crate::permission::{
    AgentToolCall, Decision, DecisionReason, DecisionSource, LoopStatus, MaxApprovalScope,
    PermissionAction, PhaseAccess, SandboxReach, TASK_CHANGES, decide_call,
};

impl PatchApplication {
    /// Decides about the changes as an edit of their files; the user is always asked about a conflict.
    pub(super) fn decide(
        &mut self,
        run: &mut RunContext,
        prepared: PatchMerge,
    ) -> Result<PatchProgress, EngineError> {
        let PatchMerge { merge, changes, .. } = prepared;
        let caller = CallerContext {
            access: PhaseAccess::Execute,
            root: run.setup.root.clone(),
            rules: None,
            paths: CallPaths::TreeEntries,
            only_user_decides: !merge.conflicts.is_empty(),
            ..child_caller(run, &self.order)
        };
        let root = &run.setup.root;
        let call = AgentToolCall::Edit {
            paths: merge.paths.keys().map(|path| root.join(path)).collect(),
            reach: SandboxReach::Contained,
        };
        let stored = run.load_stored_approvals()?;
        let circumstances = CallCircumstances {
            lineage: run.setup.permissions.child_lineage(),
            repetition: LoopStatus::NoLoop,
            deleted: Vec::new(),
        };
        let context = caller.decision_context(run, &call, &circumstances, stored);
        let mut decision = decide_call(&call, &context);
        if !merge.conflicts.is_empty() && decision.action != PermissionAction::Deny {
            if run.setup.ask_policy != AskPolicy::Wait {
                let why = format!("{}, and no one can answer", describe_conflicts(&merge));
                return Ok(self.leave_as_file(&why));
            }
            decision = Decision {
                action: PermissionAction::Ask,
                max_scope: MaxApprovalScope::Never,
                reason: conflict_reason(&merge),
                ..decision
            };
        }
        let asking = ApprovalRequest {
            request: RequestId::new("patch"),
            item: None,
            call,
            changes,
            reason: None,
            sub_agent: None,
            fingerprint: None,
            wait: DecisionWait::UntilUserDecides,
        };
        run.request(OwnerRequest::DecidePatch(
            Box::new(caller),
            Box::new(asking),
            Box::new(decision),
        ));
        Ok(PatchProgress::Open)
    }

    pub(super) fn on_decided(
        &mut self,
        run: &mut RunContext,
        answered: Result<(), String>,
    ) -> PatchProgress {
        let PatchApplyStage::AwaitingApproval(extent) = &self.stage else {
            return PatchProgress::Open;
        };
        match answered {
            Err(why) => self.leave_as_file(&why),
            Ok(()) => {
                self.stage = PatchApplyStage::Approved(extent.clone());
                self.queue_event(run, PatchEvent::Continue);
                PatchProgress::Open
            }
        }
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
        stored_source: Some(DecisionSource::Program),
        rule: "changed on both sides".to_owned(),
        origin: TASK_CHANGES.to_owned(),
        reason: agent_activity::clean_line(&format!(
            "{}; yes applies the task's version and keeps yours as a patch; \
             no keeps the task's changes as a patch",
            describe_conflicts(joined)
        )),
    }
}
