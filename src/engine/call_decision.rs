//! Answers agents' calls: the one place where every call of every CLI is decided.
//!
//! Paths are resolved here, on the disk; the decision itself is made by `permission`, which is pure.

use std::path::{Path, PathBuf};

use crate::adapter::{AdapterCommand, CallDecision as Answer};
use crate::domain::effect::ExpiryReason;
use crate::domain::event::{Approval, ApprovalDecider, Event};
use crate::domain::ids::{RequestId, TurnId};
use crate::domain::run::ResultValidity;
use crate::domain::turn::{Role, TurnPurpose};
use crate::permission::hard_limits::Floor;
use crate::permission::{
    AgentToolCall, Decision, DecisionContext, DecisionReason, DecisionSource, LoopStatus,
    MaxApprovalScope, PermissionAction, PhaseAccess, ResolvedPath, StoredApproval,
    approval_suggestions::suggest_approvals, decide_call, lexical_path,
};

use super::approval_decision::{PendingApproval, RequestOwner};
use super::approval_request::{
    ApprovalRequest, CallCircumstances, hidden_permissions, hidden_tool_names,
};
use super::read_target_resolver::with_read_paths;
use super::run_setup::AskPolicy;
use super::staging_folder::TurnStagingFolder;
use super::{Engine, EngineError, agent_activity, error_with_hint};

/// Ends a turn that is in a loop when no user is present.
const UNATTENDED_LOOP_REASON: &str = "its last calls repeat, and no one can answer: the turn ends";

/// An answer, who gave it, and why.
pub(super) struct DecisionRecord {
    pub(super) decision: Answer,
    pub(super) by: ApprovalDecider,
    pub(super) reason: String,
}

/// How long a CLI waits for the decision on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DecisionWait {
    /// Until the user has answered.
    UntilUserDecides,
    /// Only for an immediate decision; if the user must decide, the CLI asks again.
    ImmediateOnly,
}

impl DecisionRecord {
    /// Adds the call to a denial, because more than one call may be pending.
    pub(super) fn with_call_description(self, call: &Approval) -> Self {
        let Answer::Deny { reason } = self.decision else {
            return self;
        };
        let targets = call.targets.join(", ");
        let reason = format!("{} {targets} was not allowed: {reason}", call.permission);
        Self {
            decision: deny_with_reason(&reason),
            ..self
        }
    }
}

impl Engine {
    /// Decides a call and answers the CLI, or leaves the call to the user.
    pub(super) fn on_approval_request(
        &mut self,
        role: Role,
        patience: DecisionWait,
        asking: ApprovalRequest,
    ) -> Result<(), EngineError> {
        if super::agent_tools::is_program_tool(&asking) {
            // The tool call is decided when it arrives.
            self.send_command_to_role(
                role,
                AdapterCommand::DecideApproval(asking.request, Answer::Allow),
            );
            return Ok(());
        }
        let approved = self.load_stored_approvals()?;
        let counts = self
            .state()
            .running
            .as_ref()
            .is_some_and(|running| running.result == ResultValidity::Yes);
        let Some(at_work) = self
            .active_turn
            .as_mut()
            .filter(|at_work| at_work.order.purpose.role() == role)
            .filter(|_| counts && !self.turn_has_ended)
        else {
            self.deny_outside_turn(role, asking.request);
            return Ok(());
        };
        let lineage = asking.lineage(&self.setup);
        let circumstances = asking.record_circumstances(&mut at_work.loop_detector, lineage);
        let turn = at_work.order.turn.clone();
        let Some(context) = self.decision_context(&asking.call, &circumstances, approved) else {
            self.deny_outside_turn(role, asking.request);
            return Ok(());
        };
        let decision = decide_call(&asking.call, &context);
        let said = self.decide_without_user(&decision, circumstances.repetition);
        if said.is_none() && patience == DecisionWait::ImmediateOnly {
            // The CLI asks again, and that request waits for the user.
            self.send_command_to_role(role, AdapterCommand::AskUserFirst(asking.request));
            return Ok(());
        }
        let approval = build_approval(&asking, turn, context.profile, &decision);
        let said = self.record_approval_request(approval, said)?;
        let ApprovalRequest {
            request,
            call,
            changes,
            ..
        } = asking;
        if let Some(session) = self.state().session(role) {
            let writes = context.phase_access == PhaseAccess::Execute;
            let hidden = hidden_permissions(&context.rules, writes);
            self.record_missing_tool_call(session.id.clone(), &call, &decision, &hidden)?;
        }
        match said {
            Some(said) => self.record_and_send_decision(request, said, Vec::new()),
            None => {
                let seat = RequestOwner::Role(role);
                let waiting = PendingApproval::new(seat, call, circumstances, &changes, decision);
                self.pending_requests.add_approval(request, waiting);
                Ok(())
            }
        }
    }

    /// Records a request ahead of its answer, and returns the decision if one was made at once.
    pub(super) fn record_approval_request(
        &mut self,
        approval: Approval,
        said: Option<DecisionRecord>,
    ) -> Result<Option<DecisionRecord>, EngineError> {
        let said = said.map(|said| said.with_call_description(&approval));
        let asked = Event::ApprovalRequested(approval);
        match &said {
            // The decision is recorded at once and makes both events durable.
            Some(_) => self.apply_event_unsynced(asked)?,
            None => self.apply_event(asked)?,
        }
        Ok(said)
    }

    /// Denies a call outside a turn of the run: nothing in such a turn is allowed.
    fn deny_outside_turn(&mut self, role: Role, request: RequestId) {
        let answer = deny_with_reason("no turn of the run is under way");
        self.send_command_to_role(role, AdapterCommand::DecideApproval(request, answer));
    }

    /// Returns the stored approvals; if they cannot be read, the user is asked again.
    pub(super) fn load_stored_approvals(&mut self) -> Result<Vec<StoredApproval>, EngineError> {
        match self.setup.approvals.list_for_run(&self.state().run) {
            Ok(approved) => Ok(approved),
            Err(error) => {
                self.warn_once("read your earlier approvals", error_with_hint(&error))?;
                Ok(Vec::new())
            }
        }
    }

    pub(super) fn decide_without_user(
        &self,
        decision: &Decision,
        repetition: LoopStatus,
    ) -> Option<DecisionRecord> {
        let by = match decision.source {
            DecisionSource::Written => ApprovalDecider::Rules,
            DecisionSource::Floor
            | DecisionSource::Program
            | DecisionSource::Approval
            | DecisionSource::Mode => ApprovalDecider::Permission,
        };
        Some(match decision.action {
            PermissionAction::Allow => DecisionRecord {
                decision: Answer::Allow,
                by,
                reason: decision.reason.reason.clone(),
            },
            PermissionAction::Deny => {
                let reason = denial_text(decision);
                DecisionRecord {
                    decision: deny_with_reason(&reason),
                    by,
                    reason,
                }
            }
            PermissionAction::Ask => {
                let reason = self.unattended_denial_reason(decision)?;
                let (answer, reason) = match repetition {
                    LoopStatus::NoLoop => (deny_with_reason(&reason), reason),
                    LoopStatus::Loop => (Answer::DenyAndStop, UNATTENDED_LOOP_REASON.to_owned()),
                };
                DecisionRecord {
                    decision: answer,
                    by: ApprovalDecider::Policy,
                    reason,
                }
            }
        })
    }

    /// Returns why a request is denied when no user is present; `None` if it waits.
    fn unattended_denial_reason(&self, decision: &Decision) -> Option<String> {
        let safety = Floor::SafetyList.label();
        let reason = match self.setup.ask_policy {
            AskPolicy::Wait => return None,
            AskPolicy::UserRules | AskPolicy::Deny
                if decision.reason.rule == Floor::Uncontained.label() =>
            {
                "no sandbox contains it, and no one can answer (--uncontained lets rules decide)"
                    .to_owned()
            }
            AskPolicy::UserRules | AskPolicy::Deny
                if decision.max_scope != MaxApprovalScope::Project =>
            {
                if decision.source == DecisionSource::Floor && decision.reason.rule != safety {
                    format!("{}, and no one can answer", decision.reason.reason)
                } else {
                    format!("the {safety} stops it, and no one can answer")
                }
            }
            AskPolicy::Deny => "no one can answer (--on-ask deny)".to_owned(),
            AskPolicy::UserRules => "no rule allows it, and no one can answer".to_owned(),
        };
        Some(reason)
    }

    pub(super) fn record_and_send_decision(
        &mut self,
        request: RequestId,
        said: DecisionRecord,
        kept: Vec<StoredApproval>,
    ) -> Result<(), EngineError> {
        self.pending_requests.remove(&request);
        let allowed = said.decision == Answer::Allow;
        let (by, reason) = (said.by, agent_activity::clean_line(&said.reason));
        // The answer must be on record before the CLI acts on it.
        self.apply_event(Event::ApprovalDecided {
            request: request.clone(),
            allowed,
            by,
            reason,
            kept,
        })?;
        self.send_approval_decision(request, said.decision);
        Ok(())
    }

    fn send_command_to_role(&mut self, role: Role, order: AdapterCommand) {
        let Some(order) = self.tools.intercept_command(order) else {
            return;
        };
        let asks = self.conversations.get(&role);
        if asks.is_none_or(|asks| {
            asks.try_send(super::agent_conversation::ConversationCommand::Adapter(
                order,
            ))
            .is_err()
        }) {
            tracing::warn!("an answer arrived that nothing was waiting for");
        }
    }

    /// Denies pending calls; their CLI may be gone already.
    pub(super) fn expire_approvals(
        &mut self,
        approvals: Vec<Approval>,
        why: ExpiryReason,
    ) -> Vec<Event> {
        let reason = why.describe().to_owned();
        for approval in &approvals {
            self.pending_requests.remove(&approval.request);
        }
        for approval in &approvals {
            if self.is_request_pending(&approval.request) {
                self.send_approval_decision(approval.request.clone(), deny_with_reason(&reason));
            }
        }
        let expired = |approval| Event::ApprovalExpired {
            approval,
            reason: reason.clone(),
        };
        approvals.into_iter().map(expired).collect()
    }

    /// Returns the decision context of a call of the active turn; `None` without a turn.
    pub(super) fn decision_context(
        &self,
        call: &AgentToolCall,
        circumstances: &CallCircumstances,
        approvals: Vec<StoredApproval>,
    ) -> Option<DecisionContext> {
        let at_work = self.active_turn.as_ref()?;
        let root = &self.setup.root;
        let purpose = &at_work.order.purpose;
        let phase_access = if purpose.may_write() {
            PhaseAccess::Execute
        } else {
            PhaseAccess::BeforeExecute
        };
        // The agent of the session's last user message, which the turn itself appended.
        let profile = self
            .state()
            .session(purpose.role())?
            .current_profile()
            .name();
        let context = self.base_decision_context(profile, phase_access, root);
        let context = DecisionContext {
            paths: resolve_call_paths(root, call),
            staging_files: writable_staging_files(purpose, &at_work.staging),
            hidden_tools: hidden_tool_names(call, &context.rules, at_work.removed_tools),
            approvals,
            lineage: circumstances.lineage.clone(),
            loop_status: circumstances.repetition,
            ..context
        };
        Some(with_read_paths(call, context))
    }

    /// Returns the part of the decision context that does not depend on who makes the call under this profile.
    pub(super) fn base_decision_context(
        &self,
        profile: &str,
        access: PhaseAccess,
        root: &Path,
    ) -> DecisionContext {
        DecisionContext {
            program_folders: vec![self.journal.layout().workdir().to_path_buf()],
            mode: self.state().mode,
            uncontained_policy: self.setup.uncontained_policy,
            ..self
                .setup
                .permissions
                .decision_context(profile, access, root)
        }
    }
}

/// Resolves the paths of a call on the disk.
pub fn resolve_call_paths(root: &Path, call: &AgentToolCall) -> Vec<ResolvedPath> {
    let paths = match call {
        AgentToolCall::Edit { paths, .. } | AgentToolCall::Read { paths, .. } => paths.as_slice(),
        AgentToolCall::Command { .. } | AgentToolCall::Tool { .. } => &[],
    };
    paths
        .iter()
        .map(|named| resolve_path(root, named))
        .collect()
}

/// Builds the approval request that is recorded and shown, with what can be approved for more than one call.
pub(super) fn build_approval(
    asking: &ApprovalRequest,
    turn: TurnId,
    profile: String,
    decision: &Decision,
) -> Approval {
    let (permission, targets) = displayed_permission_and_targets(&asking.call, decision);
    let mut offers = suggest_approvals(&asking.call, decision);
    // An offer is stored as it is, and secrets are never stored: an offer that cleaning would change is removed.
    offers.retain(|offer| agent_activity::clean_line(offer.as_str()) == offer.as_str());
    Approval {
        request: asking.request.clone(),
        turn,
        permission,
        targets,
        reason: asking.reason.as_deref().map(agent_activity::clean_line),
        why: Some(clean_decision_reason(&decision.reason)),
        offers,
        keeping: decision.max_scope,
        profile,
        child: asking.sub_agent.as_deref().map(agent_activity::clean_line),
        n: 0,
    }
}

/// Returns the staging files that a turn may write, depending on what it returns.
fn writable_staging_files(purpose: &TurnPurpose, staging: &TurnStagingFolder) -> Vec<PathBuf> {
    match purpose {
        TurnPurpose::WritePlan => vec![staging.plan.clone()],
        TurnPurpose::Review => vec![staging.comments.clone()],
        TurnPurpose::Respond => vec![staging.plan.clone(), staging.comments.clone()],
        TurnPurpose::RefineGoal { .. }
        | TurnPurpose::Step { .. }
        | TurnPurpose::Fix { .. }
        | TurnPurpose::Summary => Vec::new(),
    }
}

pub(super) fn deny_with_reason(reason: &str) -> Answer {
    Answer::Deny {
        reason: reason.to_owned(),
    }
}

/// Returns the text with which the agent is told why a call was denied.
fn denial_text(decision: &Decision) -> String {
    let DecisionReason {
        rule,
        origin,
        reason,
    } = &decision.reason;
    match decision.source {
        DecisionSource::Floor => reason.clone(),
        DecisionSource::Program
        | DecisionSource::Written
        | DecisionSource::Approval
        | DecisionSource::Mode => {
            format!("{reason}: {rule} ({origin})")
        }
    }
}

fn clean_decision_reason(why: &DecisionReason) -> DecisionReason {
    DecisionReason {
        rule: agent_activity::clean_line(&why.rule),
        origin: agent_activity::clean_line(&why.origin),
        reason: agent_activity::clean_line(&why.reason),
    }
}

/// Returns the permission and the targets of a call for display, cleaned.
fn displayed_permission_and_targets(
    call: &AgentToolCall,
    decision: &Decision,
) -> (String, Vec<String>) {
    if decision.action == PermissionAction::Ask {
        let targets = decision.request.targets.iter();
        return (
            agent_activity::clean_line(&decision.request.permission),
            targets
                .map(|target| agent_activity::clean_line(&target.text))
                .collect(),
        );
    }
    let list = |paths: &[PathBuf]| {
        paths
            .iter()
            .map(|path| agent_activity::clean_line(&path.to_string_lossy()))
            .collect()
    };
    match call {
        AgentToolCall::Command { line, .. } => {
            ("bash".to_owned(), vec![agent_activity::clean_line(line)])
        }
        AgentToolCall::Edit { paths, .. } => ("edit".to_owned(), list(paths)),
        AgentToolCall::Read { paths, .. } => ("read".to_owned(), list(paths)),
        AgentToolCall::Tool { name, input } => (
            agent_activity::clean_line(name),
            vec![agent_activity::clean_line(input)],
        ),
    }
}

/// Resolves a path by its name and on the disk; links are followed as far as the path exists.
pub fn resolve_path(root: &Path, named: &Path) -> ResolvedPath {
    let lexical = lexical_path::lexical_absolute(root, named);
    let real = real_path(&lexical);
    ResolvedPath { lexical, real }
}

/// Follows links in the longest part of a path that exists, and appends the rest as given.
fn real_path(lexical: &Path) -> PathBuf {
    let mut missing: Vec<&std::ffi::OsStr> = Vec::new();
    let mut at = lexical;
    loop {
        match at.canonicalize() {
            Ok(real) => {
                return missing
                    .iter()
                    .rev()
                    .fold(real, |path, name| path.join(name));
            }
            Err(_) if is_dangling_link(at) => return PathBuf::from("/proc/self/unresolvable-link"),
            Err(_) => {}
        }
        match (at.parent(), at.file_name()) {
            (Some(parent), Some(name)) => {
                missing.push(name);
                at = parent;
            }
            _ => return lexical.to_path_buf(),
        }
    }
}

/// Returns whether a path is a dangling link: its target may be created anywhere later, so a write could land
/// anywhere.
fn is_dangling_link(path: &Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|found| found.file_type().is_symlink())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_resolved_through_links_as_far_as_it_exists() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("in")).unwrap();
        std::os::unix::fs::symlink("/etc", root.join("out")).unwrap();
        std::os::unix::fs::symlink("/nowhere/at/all", root.join("dangling")).unwrap();
        let check = |named: &str| {
            let found = resolve_path(&root, Path::new(named));
            (found.lexical, found.real)
        };
        assert_eq!(
            check("in/../in/new.txt"),
            (root.join("in/new.txt"), root.join("in/new.txt"))
        );
        assert_eq!(
            check("out/new.txt"),
            (root.join("out/new.txt"), PathBuf::from("/etc/new.txt"))
        );
        assert!(!check("dangling").1.starts_with(&root));
    }
}
