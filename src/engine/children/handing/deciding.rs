//! The decision about what a child changed: that of an edit of these files, and always a question where the user's
//! tree changed in the same places.
//!
//! Refuses to write anything.

use std::path::Path;

use super::{Handed, Prepared, Stage, Step, When};
use crate::adapter::CallDecision as Answer;
use crate::domain::event::Event;
use crate::domain::ids::{RequestId, SessionId, TurnId};
use crate::engine::answering::{approval, resolve};
use crate::engine::asking::{Asking, Circumstances};
use crate::engine::children::plot::news_path;
use crate::engine::children::request_of;
use crate::engine::git::Joined;
use crate::engine::granting::{Seat, Waiting};
use crate::engine::setup::OnAsk;
use crate::engine::{Engine, EngineError, news};
use crate::permission::{
    AgentToolCall, Decision, DecisionContext, DecisionReason, DecisionSource, LoopStatus,
    MaxApprovalScope, PermissionAction, PhaseAccess, ResolvedPath, SandboxReach, StoredApproval,
    decide_call,
};

impl Engine {
    /// Takes the changes to the decision about an edit of their files; a conflict is always asked about.
    pub(super) fn decide_patch(
        &mut self,
        session: &SessionId,
        prepared: Prepared,
    ) -> Result<(), EngineError> {
        let Prepared {
            joined, changes, ..
        } = prepared;
        let Some(turn) = self
            .children
            .at_work
            .get(session)
            .map(|t| t.order.turn.clone())
        else {
            return Ok(());
        };
        let root = &self.setup.root;
        let call = AgentToolCall::Edit {
            paths: joined.paths.keys().map(|path| root.join(path)).collect(),
            reach: SandboxReach::Contained,
        };
        let approved = self.approved_before()?;
        let Some(context) = self.context_of_patch(session, &call, approved) else {
            return Ok(());
        };
        let mut decision = decide_call(&call, &context);
        if !joined.conflicts.is_empty() && decision.action != PermissionAction::Deny {
            if self.setup.on_ask != OnAsk::Wait {
                let why = format!("{}, and nobody is there to ask", both(&joined));
                return self.keep_patch(session, &why);
            }
            decision = Decision {
                action: PermissionAction::Ask,
                max_scope: MaxApprovalScope::Never,
                source: DecisionSource::Program,
                reason: conflict(&joined),
                ..decision
            };
        }
        let patch = self
            .handing(session)
            .map(|handing| handing.patch.diffstat());
        let asking = Asking {
            request: request_of(session, &RequestId::new("patch")),
            item: None,
            call,
            changes,
            reason: patch.map(|amount| format!("it takes over what the task changed: {amount}")),
            origin: Some(self.path_of(session)),
            mark: None,
        };
        self.ask_about_patch((session, turn), asking, context, decision)
    }

    /// Says what was decided, or lets it wait for the user.
    fn ask_about_patch(
        &mut self,
        (session, turn): (&SessionId, TurnId),
        asking: Asking,
        context: DecisionContext,
        decision: Decision,
    ) -> Result<(), EngineError> {
        let request = asking.request.clone();
        let said = self.say(&decision, LoopStatus::NoLoop);
        let approval = approval(&asking, turn, context.profile, &decision);
        self.feed(Event::ApprovalRequested(approval))?;
        if let Some(said) = said {
            return self.answer(request, said, Vec::new());
        }
        let circumstances = Circumstances {
            lineage: context.lineage,
            repetition: LoopStatus::NoLoop,
        };
        let seat = Seat::Patch(session.clone());
        let Asking { call, changes, .. } = asking;
        let waiting = Waiting::new(seat, (call, circumstances), &changes, decision);
        self.awaited.hold(request, waiting);
        Ok(())
    }

    /// What the decision about changes rests on: that of an edit of the user's tree by their child.
    fn context_of_patch(
        &self,
        session: &SessionId,
        call: &AgentToolCall,
        approvals: Vec<StoredApproval>,
    ) -> Option<DecisionContext> {
        let order = &self.children.at_work.get(session)?.order;
        let root = &self.setup.root;
        let access = match self.when() {
            When::Never(_) => PhaseAccess::BeforeExecute,
            When::Now | When::Later => PhaseAccess::Execute,
        };
        let paths = match call {
            AgentToolCall::Edit { paths, .. } => {
                paths.iter().map(|path| entry(root, path)).collect()
            }
            AgentToolCall::Command { .. }
            | AgentToolCall::Read { .. }
            | AgentToolCall::Tool { .. } => Vec::new(),
        };
        Some(DecisionContext {
            paths,
            approvals,
            lineage: self.setup.permissions.child_lineage(),
            ..self.context_under(&order.agent, access, root)
        })
    }

    /// As [`Engine::context_of_patch`], of changes that the user is asked about; `NoLoop` for those that no rule and no
    /// approval lets through, since both sides changed the same.
    pub(in crate::engine) fn context_of_asked_patch(
        &self,
        session: &SessionId,
        call: &AgentToolCall,
        approvals: Vec<StoredApproval>,
    ) -> Option<DecisionContext> {
        match &self.children.at_work.get(session)?.stage {
            Stage::Handing(handing) if handing.step.is_in_conflict() => None,
            _ => self.context_of_patch(session, call, approvals),
        }
    }

    /// Passes the answer about a child's changes on; `false` where the request is about something else.
    pub(in crate::engine::children) fn answer_patch(
        &mut self,
        session: &SessionId,
        own: &RequestId,
        answer: &Answer,
    ) -> bool {
        if own.as_str() != "patch" || self.handing(session).is_none() {
            return false;
        }
        let answered = match answer {
            Answer::Allow => Ok(()),
            Answer::Deny { reason } => Err(reason.clone()),
            Answer::DenyAndStop => Err("declined by the user".to_owned()),
        };
        self.tell_handed(session, Handed::Answered(answered));
        true
    }

    pub(super) fn on_patch_answered(
        &mut self,
        session: &SessionId,
        answered: Result<(), String>,
    ) -> Result<(), EngineError> {
        let Some(handing) = self.handing(session) else {
            return Ok(());
        };
        let Step::Asked(extent) = &handing.step else {
            return Ok(());
        };
        match answered {
            Err(why) => self.keep_patch(session, &why),
            Ok(()) => {
                handing.step = Step::Allowed(extent.clone());
                self.hand_over(session)
            }
        }
    }
}

/// An entry of the tree: links above it are followed, one that it is itself is not.
fn entry(root: &Path, path: &Path) -> ResolvedPath {
    let real = match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolve(root, parent).real.join(name),
        _ => resolve(root, path).real,
    };
    ResolvedPath {
        lexical: path.to_owned(),
        real,
    }
}

fn both(joined: &Joined) -> String {
    let paths: Vec<String> = joined.conflicts.iter().map(news_path).collect();
    format!("{} changed here too since the task began", paths.join(", "))
}

fn conflict(joined: &Joined) -> DecisionReason {
    DecisionReason {
        rule: "changed on both sides".to_owned(),
        origin: "the task's changes".to_owned(),
        reason: news::line(&format!(
            "{}; yes takes the task's, what is here now is kept as a patch; \
             no keeps all of the task's as a patch",
            both(joined)
        )),
    }
}
