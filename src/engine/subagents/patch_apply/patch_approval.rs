//! Decides about the changes of a child: like an edit of these files, and always by asking where the user's
//! tree changed in the same places.
//!
//! Does not write anything: `patch_writer` does.

use super::PatchApplyStage;
use crate::adapter::{ApprovalRequest, CallDecision as Answer, DecisionWait};
use crate::domain::ids::{RequestId, SessionId};
use crate::engine::agent_activity;
use crate::engine::approvals::call_request::CallCircumstances;
use crate::engine::approvals::caller_context::{CallPaths, CallerContext};
use crate::engine::engine_error::EngineError;
use crate::engine::git::TreeMerge;
use crate::engine::owner_request::OwnerRequest;
use crate::engine::run_context::RunContext;
use crate::engine::run_setup::AskPolicy;
use crate::engine::subagents::SubagentTasks;
use crate::engine::subagents::child_event::{PatchEvent, PatchMerge};
use crate::engine::subagents::child_worktree::display_path;
use crate::engine::subagents::task_start::child_caller;
use crate::permission::{
    AgentToolCall, Decision, DecisionReason, DecisionSource, LoopStatus, MaxApprovalScope,
    PermissionAction, PhaseAccess, SandboxReach, TASK_CHANGES, decide_call,
};

impl SubagentTasks {
    /// Decides about the changes as an edit of their files; the user is always asked about a conflict.
    pub(super) fn decide_patch(
        &mut self,
        run: &mut RunContext,
        session: &SessionId,
        prepared: PatchMerge,
    ) -> Result<(), EngineError> {
        let PatchMerge { merge, changes, .. } = prepared;
        let Some(task) = self.active_tasks.get(session) else {
            return Ok(());
        };
        let caller = CallerContext {
            access: PhaseAccess::Execute,
            root: run.setup.root.clone(),
            rules: None,
            paths: CallPaths::TreeEntries,
            only_user_decides: !merge.conflicts.is_empty(),
            ..child_caller(run, &task.order)
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
                return self.leave_patch_as_file(run, session, &why);
            }
            decision = Decision {
                action: PermissionAction::Ask,
                max_scope: MaxApprovalScope::Never,
                reason: conflict_reason(&merge),
                ..decision
            };
        }
        let amount = self
            .patch_application_mut(session)
            .map(|application| application.patch.diffstat());
        let asking = ApprovalRequest {
            request: RequestId::new("patch"),
            item: None,
            call,
            changes,
            reason: amount.map(|amount| format!("this applies the changes of the task: {amount}")),
            sub_agent: None,
            fingerprint: None,
            wait: DecisionWait::UntilUserDecides,
        };
        run.request(OwnerRequest::DecidePatch(
            Box::new(caller),
            Box::new(asking),
            Box::new(decision),
        ));
        Ok(())
    }

    /// Handles the answer about a child's changes after the current event.
    pub(in crate::engine) fn queue_patch_decision(
        &mut self,
        run: &mut RunContext,
        session: &SessionId,
        decision: Answer,
    ) {
        let decided = match decision {
            Answer::Allow => Ok(()),
            Answer::Deny { reason } => Err(reason),
            Answer::DenyAndStop => Err("declined by the user".to_owned()),
        };
        self.queue_patch_event(run, session, PatchEvent::Decided(decided));
    }

    pub(super) fn on_patch_decided(
        &mut self,
        run: &mut RunContext,
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
            Err(why) => self.leave_patch_as_file(run, session, &why),
            Ok(()) => {
                handing.stage = PatchApplyStage::Approved(extent.clone());
                self.queue_patch_event(run, session, PatchEvent::Continue);
                Ok(())
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
        source: DecisionSource::Program,
        rule: "changed on both sides".to_owned(),
        origin: TASK_CHANGES.to_owned(),
        reason: agent_activity::clean_line(&format!(
            "{}; yes applies the task's version and keeps yours as a patch; \
             no keeps the task's changes as a patch",
            describe_conflicts(joined)
        )),
    }
}
