//! Decides about the calls of a child, under its own rules and the limits of the run.
//!
//! A call that needs the user waits in the common queue, labelled with the child's path.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{ActiveTask, qualified_request_id};
use crate::adapter::{AdapterCommand, AdapterEvent, CallDecision as Answer, adapter_entry};
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::task::MAX_CHILD_DEPTH;
use crate::domain::turn::Role;
use crate::engine::approval_decision::{PendingApproval, RequestOwner};
use crate::engine::approval_request::{
    ApprovalRequest, CallCircumstances, hidden_child_permissions, hidden_tool_names,
};
use crate::engine::call_decision::{
    DecisionWait, build_approval, deny_with_reason, resolve_call_paths,
};
use crate::engine::read_target_resolver::with_read_paths;
use crate::engine::{Engine, EngineError};
use crate::permission::profile_registry::FileReadMethod;
use crate::permission::{AgentToolCall, DecisionContext, PhaseAccess, StoredApproval, decide_call};

impl Engine {
    /// Decides about a call of a child and answers its CLI, or asks the user.
    pub(super) fn on_child_approval_request(
        &mut self,
        session: &SessionId,
        asked: AdapterEvent,
    ) -> Result<(), EngineError> {
        let patience = match &asked {
            AdapterEvent::HookApprovalRequested { .. } => DecisionWait::ImmediateOnly,
            _ => DecisionWait::UntilUserDecides,
        };
        let Some(asking) = ApprovalRequest::from_adapter_event(asked) else {
            return Ok(());
        };
        let own = asking.request.clone();
        let approved = self.load_stored_approvals()?;
        let lineage = self.setup.permissions.child_lineage();
        let at_task = self.subagent_tasks.active_tasks.get_mut(session);
        let Some(at_task) = at_task.filter(|at_task| at_task.stop_reason.is_none()) else {
            let answer = deny_with_reason("the task was stopped");
            self.send_child_command(session, AdapterCommand::DecideApproval(own, answer));
            return Ok(());
        };
        let circumstances = asking.record_circumstances(&mut at_task.loop_detector, lineage);
        let turn = at_task.order.turn.clone();
        let Some(context) =
            self.child_decision_context(session, &asking.call, &circumstances, approved)
        else {
            return Ok(());
        };
        let decision = decide_call(&asking.call, &context);
        let said = self.decide_without_user(&decision, circumstances.repetition);
        if said.is_none() && patience == DecisionWait::ImmediateOnly {
            self.send_child_command(session, AdapterCommand::AskUserFirst(own));
            return Ok(());
        }
        let request = qualified_request_id(session, &own);
        let origin = self.session_display_path(session);
        let asking = ApprovalRequest {
            request: request.clone(),
            sub_agent: Some(origin),
            ..asking
        };
        let approval = build_approval(&asking, turn, context.profile, &decision);
        let said = self.record_approval_request(approval, said)?;
        let hidden = hidden_child_permissions(&context.rules);
        self.record_missing_tool_call(session.clone(), &asking.call, &decision, &hidden)?;
        match said {
            Some(said) => self.record_and_send_decision(request, said, Vec::new()),
            None => {
                let ApprovalRequest { call, changes, .. } = asking;
                let seat = RequestOwner::Child(session.clone());
                let waiting = PendingApproval::new(seat, call, circumstances, &changes, decision);
                self.start_user_timeout(&request);
                self.pending_requests.add_approval(request, waiting);
                Ok(())
            }
        }
    }

    /// Returns the context for the decision about a child's call; `None` when its task has ended.
    pub(in crate::engine) fn child_decision_context(
        &self,
        session: &SessionId,
        call: &AgentToolCall,
        circumstances: &CallCircumstances,
        approvals: Vec<StoredApproval>,
    ) -> Option<DecisionContext> {
        let at_task = self.subagent_tasks.active_tasks.get(session)?;
        let ActiveTask {
            order,
            removed_tools: removed,
            ..
        } = at_task;
        // A child with a work tree of its own writes there; any other child works in the user's tree, where
        // only steps write.
        let (root, access) = match &order.tree {
            Some(tree) => (tree, PhaseAccess::Execute),
            None => (&self.setup.root, PhaseAccess::BeforeExecute),
        };
        let adapter = self.setup.config.adapters.get(&order.adapter);
        let reads = adapter.map_or(FileReadMethod::ReadTools, |adapter| {
            adapter_entry(adapter.kind).traits.file_reads
        });
        let rules = self
            .setup
            .permissions
            .rules_for_reading(&order.agent, reads);
        let context = DecisionContext {
            paths: resolve_call_paths(root, call),
            hidden_tools: hidden_tool_names(call, &rules, removed),
            rules: Arc::new(rules),
            approvals,
            lineage: circumstances.lineage.clone(),
            loop_status: circumstances.repetition,
            closed_folders: match &at_task.worktree {
                Some(plot) => plot.protected_folders(),
                None => Vec::new(),
            },
            ..self.base_decision_context(&order.agent, access, root)
        };
        Some(with_read_paths(call, context))
    }

    /// Sends the answer to an approval request: to the child that asked, else to the current turn.
    pub(in crate::engine) fn send_approval_decision(&mut self, request: RequestId, answer: Answer) {
        match self.subagent_tasks.task_of_request(&request) {
            Some((at_task, own)) => {
                let session = at_task.order.session.clone();
                if !self.forward_patch_decision(&session, &own, &answer) {
                    self.send_child_command(&session, AdapterCommand::DecideApproval(own, answer));
                }
            }
            None => self.send_command(AdapterCommand::DecideApproval(request, answer)),
        }
    }

    /// Sends the answers to questions: to the child that asked, else to the current turn.
    pub(in crate::engine) fn send_question_answers(
        &mut self,
        request: &RequestId,
        answers: Option<BTreeMap<String, String>>,
    ) {
        match self.subagent_tasks.task_of_request(request) {
            Some((at_task, own)) => {
                let session = at_task.order.session.clone();
                self.send_child_command(&session, AdapterCommand::AnswerQuestions(own, answers));
            }
            None => self.send_command(AdapterCommand::AnswerQuestions(request.clone(), answers)),
        }
    }

    /// Returns true if a request is still waiting for its answer.
    pub(in crate::engine) fn is_request_pending(&self, request: &RequestId) -> bool {
        self.active_turn.is_some() || self.subagent_tasks.task_of_request(request).is_some()
    }

    /// Resets the loop detector of a child after the user let a loop continue, so that it detects the next
    /// one.
    pub(in crate::engine) fn reset_child_loop_detector(&mut self, session: &SessionId) {
        if let Some(at_task) = self.subagent_tasks.active_tasks.get_mut(session) {
            at_task.loop_detector.reset();
        }
    }

    /// Returns the names from the parent down to the child: `planner ▸ explore#2`.
    pub fn session_display_path(&self, session: &SessionId) -> String {
        let mut names = Vec::new();
        let mut at = session.clone();
        loop {
            let Some(child) = self
                .child_session(&at)
                .filter(|_| names.len() <= MAX_CHILD_DEPTH)
            else {
                names.push(self.session_role_label(&at).to_owned());
                break;
            };
            names.push(child.order.short_name());
            match &child.order.parent {
                Some(parent) => at = parent.clone(),
                None => {
                    names.push("you".to_owned());
                    break;
                }
            }
        }
        names.reverse();
        names.join(" ▸ ")
    }

    fn session_role_label(&self, session: &SessionId) -> &'static str {
        let state = self.state();
        let is = |role: &Role| state.session(*role).is_some_and(|own| own.id == *session);
        let role = [Role::Planner, Role::Reviewer].into_iter().find(is);
        role.map_or("an earlier session", Role::name)
    }
}
