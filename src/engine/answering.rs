//! Answers agents' calls: one decision for every call of every CLI.
//!
//! The paths are resolved here, on the disk; the decision itself is made by `permission`, which is pure.

use std::path::{Path, PathBuf};

use crate::adapter::{AdapterCommand, CallDecision as Answer};
use crate::domain::effect::ExpiryReason;
use crate::domain::event::{Approval, Event};
use crate::domain::ids::{RequestId, TurnId};
use crate::domain::run::ResultValidity;
use crate::domain::turn::{Role, TurnPurpose};
use crate::permission::hard_limits::Floor;
use crate::permission::{
    AgentToolCall, Decision, DecisionContext, DecisionReason, DecisionSource, LoopStatus,
    MaxApprovalScope, PermissionAction, PhaseAccess, ResolvedPath, StoredApproval,
    approval_suggestions::suggest_approvals, decide_call, lexical_path,
};

use super::asking::{Asking, Circumstances, hidden_permissions, hidden_tools};
use super::granting::{Seat, Waiting};
use super::reads::with_reads;
use super::setup::OnAsk;
use super::staging::Staging;
use super::{Engine, EngineError, news, with_hint};

/// What ends a turn that turns in a circle where nobody is there.
const NOBODY_ENDS_THE_LOOP: &str =
    "its last calls are the same, again and again, and nobody is there to ask: the turn ends";

/// What was answered, by whom and why.
pub(super) struct Said {
    pub(super) answer: Answer,
    pub(super) by: &'static str,
    pub(super) reason: String,
}

/// How long a CLI waits for the word on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// Until a person has answered.
    Long,
    /// For what is known at once; for a person it asks again.
    Short,
}

impl Said {
    /// Lets the agent read which call it is that does not go ahead: more than one may be under way.
    pub(super) fn about(self, call: &Approval) -> Self {
        let Answer::Deny { reason } = self.answer else {
            return self;
        };
        let targets = call.targets.join(", ");
        let reason = format!("{} {targets} was not allowed: {reason}", call.permission);
        Self {
            answer: deny(&reason),
            ..self
        }
    }
}

impl Engine {
    /// Takes a call to the decision and answers the CLI, or leaves it to the user.
    pub(super) fn on_asked(
        &mut self,
        (role, patience): (Role, Patience),
        asking: Asking,
    ) -> Result<(), EngineError> {
        if super::tools::is_own(&asking) {
            // It is decided when it comes.
            self.order_of(
                role,
                AdapterCommand::DecideApproval(asking.request, Answer::Allow),
            );
            return Ok(());
        }
        let approved = self.approved_before()?;
        let counts = self
            .state()
            .running
            .as_ref()
            .is_some_and(|running| running.result == ResultValidity::Yes);
        let Some(at_work) = self
            .at_work
            .as_mut()
            .filter(|at_work| at_work.order.purpose.role() == role)
            .filter(|_| counts && !self.turn_is_over)
        else {
            self.refuse_stray(role, asking.request);
            return Ok(());
        };
        let lineage = asking.lineage(&self.setup);
        let circumstances = asking.circumstances(&mut at_work.calls, lineage);
        let turn = at_work.order.turn.clone();
        let Some(context) = self.context(&asking.call, &circumstances, approved) else {
            self.refuse_stray(role, asking.request);
            return Ok(());
        };
        let decision = decide_call(&asking.call, &context);
        let said = self.say(&decision, circumstances.repetition);
        if said.is_none() && patience == Patience::Short {
            self.order_of(role, AdapterCommand::AskUserFirst(asking.request));
            return Ok(());
        }
        let approval = approval(&asking, turn, context.profile, &decision);
        let said = self.note_asked(approval, said)?;
        let Asking {
            request,
            call,
            changes,
            ..
        } = asking;
        if let Some(session) = self.state().session(role) {
            let writes = context.phase_access == PhaseAccess::Execute;
            let hidden = hidden_permissions(&context.rules, writes);
            self.note_missing_tool(session.id.clone(), &call, (&decision, &hidden))?;
        }
        match said {
            Some(said) => self.answer(request, said, Vec::new()),
            None => {
                let seat = Seat::Role(role);
                let waiting = Waiting::new(seat, (call, circumstances), &changes, decision);
                self.awaited.hold(request, waiting);
                Ok(())
            }
        }
    }

    /// Keeps a record of what is asked, ahead of the answer where one is said at once.
    pub(super) fn note_asked(
        &mut self,
        approval: Approval,
        said: Option<Said>,
    ) -> Result<Option<Said>, EngineError> {
        let said = said.map(|said| said.about(&approval));
        let asked = Event::ApprovalRequested(approval);
        match &said {
            Some(_) => self.feed_ahead(asked)?,
            None => self.feed(asked)?,
        }
        Ok(said)
    }

    /// A turn nobody asked for: nothing it wants is allowed.
    fn refuse_stray(&mut self, role: Role, request: RequestId) {
        let answer = deny("no turn of the run is under way");
        self.order_of(role, AdapterCommand::DecideApproval(request, answer));
    }

    /// What the user approved before; what cannot be read is asked about again.
    pub(super) fn approved_before(&mut self) -> Result<Vec<StoredApproval>, EngineError> {
        match self.setup.approvals.list_for_run(&self.state().run) {
            Ok(approved) => Ok(approved),
            Err(error) => {
                self.tell_trouble("read what you approved before", with_hint(&error))?;
                Ok(Vec::new())
            }
        }
    }

    pub(super) fn say(&self, decision: &Decision, repetition: LoopStatus) -> Option<Said> {
        let by = match decision.source {
            DecisionSource::Written => "rules",
            DecisionSource::Floor
            | DecisionSource::Program
            | DecisionSource::Approval
            | DecisionSource::Mode => "permission",
        };
        Some(match decision.action {
            PermissionAction::Allow => Said {
                answer: Answer::Allow,
                by,
                reason: decision.reason.reason.clone(),
            },
            PermissionAction::Deny => {
                let reason = denied(decision);
                Said {
                    answer: deny(&reason),
                    by,
                    reason,
                }
            }
            PermissionAction::Ask => {
                let reason = self.nobody_allows(decision)?;
                let (answer, reason) = match repetition {
                    LoopStatus::NoLoop => (deny(&reason), reason),
                    LoopStatus::Loop => (Answer::DenyAndStop, NOBODY_ENDS_THE_LOOP.to_owned()),
                };
                Said {
                    answer,
                    by: "policy",
                    reason,
                }
            }
        })
    }

    /// Why an ask is declined where nobody is there; `NoLoop` where it waits.
    fn nobody_allows(&self, decision: &Decision) -> Option<String> {
        let safety = Floor::SafetyList.label();
        let reason = match self.setup.on_ask {
            OnAsk::Wait => return None,
            OnAsk::Rules | OnAsk::Deny if decision.reason.rule == Floor::Uncontained.label() => {
                "nothing holds it, and nobody is there to ask (--uncontained lets rules decide)"
                    .to_owned()
            }
            OnAsk::Rules | OnAsk::Deny if decision.max_scope != MaxApprovalScope::Project => {
                match decision.source == DecisionSource::Floor && decision.reason.rule != safety {
                    true => format!("{}, and nobody is there to ask", decision.reason.reason),
                    false => format!("the {safety} stops it, and nobody is there to ask"),
                }
            }
            OnAsk::Deny => "nobody is there to ask (--on-ask deny)".to_owned(),
            OnAsk::Rules => "no rule allows it and nobody is there to ask".to_owned(),
        };
        Some(reason)
    }

    pub(super) fn answer(
        &mut self,
        request: RequestId,
        said: Said,
        kept: Vec<StoredApproval>,
    ) -> Result<(), EngineError> {
        self.awaited.forget(&request);
        let allowed = said.answer == Answer::Allow;
        let (by, reason) = (said.by.to_owned(), news::line(&said.reason));
        // The answer is on record before the CLI acts on it.
        self.feed(Event::ApprovalDecided {
            request: request.clone(),
            allowed,
            by,
            reason,
            kept,
        })?;
        self.answer_request(request, said.answer);
        Ok(())
    }

    fn order_of(&mut self, role: Role, order: AdapterCommand) {
        let Some(order) = self.tools.take(order) else {
            return;
        };
        let asks = self.lives.get(&role);
        if asks.is_none_or(|asks| asks.try_send(super::live::Ask::Order(order)).is_err()) {
            tracing::warn!("an answer found nobody who waits for it");
        }
    }

    /// Declines calls that waited; who asked may be gone already.
    pub(super) fn expire_approvals(
        &mut self,
        approvals: Vec<Approval>,
        why: ExpiryReason,
    ) -> Vec<Event> {
        let reason = why.describe().to_owned();
        for approval in &approvals {
            self.awaited.forget(&approval.request);
        }
        for approval in &approvals {
            if self.is_awaited(&approval.request) {
                self.answer_request(approval.request.clone(), deny(&reason));
            }
        }
        let expired = |approval| Event::ApprovalExpired {
            approval,
            reason: reason.clone(),
        };
        approvals.into_iter().map(expired).collect()
    }

    /// What the decision about a call of the turn at work rests on; `NoLoop` without a turn.
    pub(super) fn context(
        &self,
        call: &AgentToolCall,
        circumstances: &Circumstances,
        approvals: Vec<StoredApproval>,
    ) -> Option<DecisionContext> {
        let at_work = self.at_work.as_ref()?;
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
        let context = self.context_under(profile, phase_access, root);
        let context = DecisionContext {
            paths: paths_of(root, call),
            staging_files: writable(purpose, &at_work.staging),
            hidden_tools: hidden_tools(call, &context.rules, at_work.removed),
            approvals,
            lineage: circumstances.lineage.clone(),
            loop_status: circumstances.repetition,
            ..context
        };
        Some(with_reads(call, context))
    }

    /// What the decision about any call in this run rests on, whoever makes it under this profile.
    pub(super) fn context_under(
        &self,
        profile: &str,
        access: PhaseAccess,
        root: &Path,
    ) -> DecisionContext {
        DecisionContext {
            program_folders: vec![self.journal.layout().workdir().to_path_buf()],
            mode: self.state().mode,
            uncontained_policy: self.setup.uncontained,
            ..self
                .setup
                .permissions
                .decision_context(profile, access, root)
        }
    }
}

/// The paths of a call, resolved on the disk.
pub fn paths_of(root: &Path, call: &AgentToolCall) -> Vec<ResolvedPath> {
    let paths = match call {
        AgentToolCall::Edit { paths, .. } | AgentToolCall::Read { paths, .. } => paths.as_slice(),
        AgentToolCall::Command { .. } | AgentToolCall::Tool { .. } => &[],
    };
    paths.iter().map(|named| resolve(root, named)).collect()
}

/// A call as it is recorded and shown, with what of it could be kept.
pub(super) fn approval(
    asking: &Asking,
    turn: TurnId,
    profile: String,
    decision: &Decision,
) -> Approval {
    let (permission, targets) = shown(&asking.call, decision);
    let mut offers = suggest_approvals(&asking.call, decision);
    // What is kept is kept as it stands, and a secret is not kept.
    offers.retain(|offer| news::line(offer.as_str()) == offer.as_str());
    Approval {
        request: asking.request.clone(),
        turn,
        permission,
        targets,
        reason: asking.reason.as_deref().map(news::line),
        why: Some(clean_why(&decision.reason)),
        offers,
        keeping: decision.max_scope,
        profile,
        child: asking.origin.as_deref().map(news::line),
        n: 0,
    }
}

/// The staging files that a turn may write, by what it returns.
fn writable(purpose: &TurnPurpose, staging: &Staging) -> Vec<PathBuf> {
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

pub(super) fn deny(reason: &str) -> Answer {
    Answer::Deny {
        reason: reason.to_owned(),
    }
}

/// What the agent is told of a call that does not go ahead.
fn denied(decision: &Decision) -> String {
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

fn clean_why(why: &DecisionReason) -> DecisionReason {
    DecisionReason {
        rule: news::line(&why.rule),
        origin: news::line(&why.origin),
        reason: news::line(&why.reason),
    }
}

/// What is shown of a call: its permission and targets, cleaned.
fn shown(call: &AgentToolCall, decision: &Decision) -> (String, Vec<String>) {
    if decision.action == PermissionAction::Ask {
        let targets = decision.request.targets.iter();
        return (
            news::line(&decision.request.permission),
            targets.map(|target| news::line(&target.text)).collect(),
        );
    }
    let list = |paths: &[PathBuf]| {
        paths
            .iter()
            .map(|path| news::line(&path.to_string_lossy()))
            .collect()
    };
    match call {
        AgentToolCall::Command { line, .. } => ("bash".to_owned(), vec![news::line(line)]),
        AgentToolCall::Edit { paths, .. } => ("edit".to_owned(), list(paths)),
        AgentToolCall::Read { paths, .. } => ("read".to_owned(), list(paths)),
        AgentToolCall::Tool { name, input } => (news::line(name), vec![news::line(input)]),
    }
}

/// Resolves a path by name and by the disk, links followed as far as it exists.
pub fn resolve(root: &Path, named: &Path) -> ResolvedPath {
    let lexical = lexical_path::lexical_absolute(root, named);
    let real = real_path(&lexical);
    ResolvedPath { lexical, real }
}

/// Follows links in the longest part of a path that exists; the rest is put behind it as named.
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

/// A link that leads nowhere could lead anywhere once its target exists: nobody can say where a write would land.
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
            let found = resolve(&root, Path::new(named));
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
