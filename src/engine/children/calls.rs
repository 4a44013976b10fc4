//! What a child wants to do: the one decision, under its own rules and the floors of the run.
//!
//! What waits for a person waits in the one queue, with the child's path. Refuses to decide by itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{AtTask, request_of};
use crate::adapter::{AdapterCommand, AdapterEvent, CallDecision as Answer};
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::task::MAX_CHILD_DEPTH;
use crate::domain::turn::Role;
use crate::engine::answering::{Patience, approval, deny, paths_of};
use crate::engine::asking::{Asking, Circumstances, hidden_from_child, hidden_tools};
use crate::engine::granting::{Seat, Waiting};
use crate::engine::reads::with_reads;
use crate::engine::{Engine, EngineError};
use crate::permission::{AgentToolCall, DecisionContext, PhaseAccess, StoredApproval, decide_call};

impl Engine {
    /// Takes a child's call to the decision and answers its CLI, or leaves it to the user.
    pub(super) fn on_child_asked(
        &mut self,
        session: &SessionId,
        asked: AdapterEvent,
    ) -> Result<(), EngineError> {
        let patience = match &asked {
            AdapterEvent::HookApprovalRequested { .. } => Patience::Short,
            _ => Patience::Long,
        };
        let Some(asking) = Asking::of(asked) else {
            return Ok(());
        };
        let own = asking.request.clone();
        let approved = self.approved_before()?;
        let lineage = self.setup.permissions.child_lineage();
        let at_task = self.children.at_work.get_mut(session);
        let Some(at_task) = at_task.filter(|at_task| at_task.stopped.is_none()) else {
            let answer = deny("the task was stopped");
            self.order_child(session, AdapterCommand::DecideApproval(own, answer));
            return Ok(());
        };
        let circumstances = asking.circumstances(&mut at_task.calls, lineage);
        let turn = at_task.order.turn.clone();
        let Some(context) =
            self.context_of_child(session, (&asking.call, &circumstances), approved)
        else {
            return Ok(());
        };
        let decision = decide_call(&asking.call, &context);
        let said = self.say(&decision, circumstances.repetition);
        if said.is_none() && patience == Patience::Short {
            self.order_child(session, AdapterCommand::AskUserFirst(own));
            return Ok(());
        }
        let request = request_of(session, &own);
        let origin = self.path_of(session);
        let asking = Asking {
            request: request.clone(),
            origin: Some(origin),
            ..asking
        };
        let approval = approval(&asking, turn, context.profile, &decision);
        let said = self.note_asked(approval, said)?;
        let hidden = hidden_from_child(&context.rules);
        self.note_missing_tool(session.clone(), &asking.call, (&decision, &hidden))?;
        match said {
            Some(said) => self.answer(request, said, Vec::new()),
            None => {
                let Asking { call, changes, .. } = asking;
                let seat = Seat::Child(session.clone());
                let waiting = Waiting::new(seat, (call, circumstances), &changes, decision);
                self.wait_for_user(&request);
                self.awaited.hold(request, waiting);
                Ok(())
            }
        }
    }

    /// What the decision about a child's call rests on; `None` when its task is over.
    pub(in crate::engine) fn context_of_child(
        &self,
        session: &SessionId,
        (call, circumstances): (&AgentToolCall, &Circumstances),
        approvals: Vec<StoredApproval>,
    ) -> Option<DecisionContext> {
        let at_task = self.children.at_work.get(session)?;
        let AtTask { order, removed, .. } = at_task;
        // A child with a tree of its own writes there; another one works in the user's, where only steps write.
        let (root, access) = match &order.tree {
            Some(tree) => (tree, PhaseAccess::Execute),
            None => (&self.setup.root, PhaseAccess::BeforeExecute),
        };
        let adapter = self.setup.config.adapters.get(&order.adapter);
        let kind = adapter.map(|adapter| adapter.kind);
        let rules = self.setup.permissions.rules_for_adapter(&order.agent, kind);
        let context = DecisionContext {
            paths: paths_of(root, call),
            hidden_tools: hidden_tools(call, &rules, removed),
            rules: Arc::new(rules),
            approvals,
            lineage: circumstances.lineage.clone(),
            loop_status: circumstances.repetition,
            closed_folders: match &at_task.plot {
                Some(plot) => plot.closed(),
                None => Vec::new(),
            },
            ..self.context_under(&order.agent, access, root)
        };
        Some(with_reads(call, context))
    }

    /// Answers a request: a child's where it is one's, else that of the turn at work.
    pub(in crate::engine) fn answer_request(&mut self, request: RequestId, answer: Answer) {
        match self.children.whose(&request) {
            Some((at_task, own)) => {
                let session = at_task.order.session.clone();
                if !self.answer_patch(&session, &own, &answer) {
                    self.order_child(&session, AdapterCommand::DecideApproval(own, answer));
                }
            }
            None => self.order(AdapterCommand::DecideApproval(request, answer)),
        }
    }

    /// Answers questions: a child's where they are one's, else those of the turn at work.
    pub(in crate::engine) fn answer_questions(
        &mut self,
        request: &RequestId,
        answers: Option<BTreeMap<String, String>>,
    ) {
        match self.children.whose(request) {
            Some((at_task, own)) => {
                let session = at_task.order.session.clone();
                self.order_child(&session, AdapterCommand::AnswerQuestions(own, answers));
            }
            None => self.order(AdapterCommand::AnswerQuestions(request.clone(), answers)),
        }
    }

    /// Tells whether somebody still waits for the answer to a request.
    pub(in crate::engine) fn is_awaited(&self, request: &RequestId) -> bool {
        self.at_work.is_some() || self.children.whose(request).is_some()
    }

    /// The user let a child's circle pass: the next one is looked for anew.
    pub(in crate::engine) fn forget_calls_of(&mut self, session: &SessionId) {
        if let Some(at_task) = self.children.at_work.get_mut(session) {
            at_task.calls.reset();
        }
    }

    /// Whose child it is, in names: `planner ▸ explore#2`.
    pub fn path_of(&self, session: &SessionId) -> String {
        let mut names = Vec::new();
        let mut at = session.clone();
        loop {
            let Some(child) = self.child(&at).filter(|_| names.len() <= MAX_CHILD_DEPTH) else {
                names.push(self.name_of(&at).to_owned());
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

    fn name_of(&self, session: &SessionId) -> &'static str {
        let state = self.state();
        let is = |role: &Role| state.session(*role).is_some_and(|own| own.id == *session);
        let role = [Role::Planner, Role::Reviewer].into_iter().find(is);
        role.map_or("an earlier session", Role::name)
    }
}
