//! Answers agents' calls: one decision for every call of every CLI.
//!
//! The paths are resolved here, on the disk; the decision itself is made by `permission`, which is pure.

use std::path::{Path, PathBuf};

use crate::adapter::{AdapterCommand, CallDecision as Answer};
use crate::domain::effect::Expiry;
use crate::domain::event::{Approval, Event};
use crate::domain::ids::{RequestId, TurnId};
use crate::domain::run::Counts;
use crate::domain::turn::{Purpose, Role};
use crate::permission::floors::Floor;
use crate::permission::{
    Action, Approved, By, Call, Context, Decision, Keeping, PhaseAccess, Repetition, ResolvedPath,
    Why, decide, path, proposals::propose,
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
            .is_some_and(|running| running.result == Counts::Yes);
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
        let decision = decide(&asking.call, &context);
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
        let asked = Event::ApprovalAsked(approval);
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
    pub(super) fn approved_before(&mut self) -> Result<Vec<Approved>, EngineError> {
        match self.setup.approvals.list_for_run(&self.state().run) {
            Ok(approved) => Ok(approved),
            Err(error) => {
                self.tell_trouble("read what you approved before", with_hint(&error))?;
                Ok(Vec::new())
            }
        }
    }

    pub(super) fn say(&self, decision: &Decision, repetition: Repetition) -> Option<Said> {
        let by = match decision.by {
            By::Written => "rules",
            By::Floor | By::Program | By::Approval | By::Mode => "permission",
        };
        Some(match decision.action {
            Action::Allow => Said {
                answer: Answer::Allow,
                by,
                reason: decision.why.reason.clone(),
            },
            Action::Deny => {
                let reason = denied(decision);
                Said {
                    answer: deny(&reason),
                    by,
                    reason,
                }
            }
            Action::Ask => {
                let reason = self.nobody_allows(decision)?;
                let (answer, reason) = match repetition {
                    Repetition::None => (deny(&reason), reason),
                    Repetition::Loop => (Answer::DenyAndStop, NOBODY_ENDS_THE_LOOP.to_owned()),
                };
                Said {
                    answer,
                    by: "policy",
                    reason,
                }
            }
        })
    }

    /// Why an ask is declined where nobody is there; `None` where it waits.
    fn nobody_allows(&self, decision: &Decision) -> Option<String> {
        let safety = Floor::Safety.name();
        let reason = match self.setup.on_ask {
            OnAsk::Wait => return None,
            OnAsk::Rules | OnAsk::Deny if decision.why.rule == Floor::Uncontained.name() => {
                "nothing holds it, and nobody is there to ask (--uncontained lets rules decide)"
                    .to_owned()
            }
            OnAsk::Rules | OnAsk::Deny if decision.keeping != Keeping::Project => {
                match decision.by == By::Floor && decision.why.rule != safety {
                    true => format!("{}, and nobody is there to ask", decision.why.reason),
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
        kept: Vec<Approved>,
    ) -> Result<(), EngineError> {
        self.awaited.forget(&request);
        let allowed = said.answer == Answer::Allow;
        let (by, reason) = (said.by.to_owned(), news::line(&said.reason));
        // The answer is on record before the CLI acts on it.
        self.feed(Event::ApprovalAnswered {
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
    pub(super) fn expire_approvals(&mut self, approvals: Vec<Approval>, why: Expiry) -> Vec<Event> {
        let reason = why.in_words().to_owned();
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

    /// What the decision about a call of the turn at work rests on; `None` without a turn.
    pub(super) fn context(
        &self,
        call: &Call,
        circumstances: &Circumstances,
        approvals: Vec<Approved>,
    ) -> Option<Context> {
        let at_work = self.at_work.as_ref()?;
        let root = &self.setup.root;
        let purpose = &at_work.order.purpose;
        let phase_access = if purpose.writes() {
            PhaseAccess::Execute
        } else {
            PhaseAccess::BeforeExecute
        };
        // The agent of the session's last user message, which the turn itself appended.
        let profile = self.state().session(purpose.role())?.current_agent().name();
        let context = self.context_under(profile, phase_access, root);
        let context = Context {
            paths: paths_of(root, call),
            staging_files: writable(purpose, &at_work.staging),
            hidden: hidden_tools(call, &context.rules, at_work.removed),
            approvals,
            lineage: circumstances.lineage.clone(),
            repetition: circumstances.repetition,
            ..context
        };
        Some(with_reads(call, context))
    }

    /// What the decision about any call in this run rests on, whoever makes it under this profile.
    pub(super) fn context_under(&self, profile: &str, access: PhaseAccess, root: &Path) -> Context {
        Context {
            own: vec![self.journal.layout().workdir().to_path_buf()],
            mode: self.state().mode,
            uncontained: self.setup.uncontained,
            ..self.setup.permissions.context(profile, access, root)
        }
    }
}

/// The paths of a call, resolved on the disk.
pub fn paths_of(root: &Path, call: &Call) -> Vec<ResolvedPath> {
    let paths = match call {
        Call::Edit { paths, .. } | Call::Read { paths, .. } => paths.as_slice(),
        Call::Command { .. } | Call::Tool { .. } => &[],
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
    let mut offers = propose(&asking.call, decision);
    // What is kept is kept as it stands, and a secret is not kept.
    offers.retain(|offer| news::line(offer.text()) == offer.text());
    Approval {
        request: asking.request.clone(),
        turn,
        permission,
        targets,
        reason: asking.reason.as_deref().map(news::line),
        why: Some(clean_why(&decision.why)),
        offers,
        keeping: decision.keeping,
        profile,
        child: asking.origin.as_deref().map(news::line),
        n: 0,
    }
}

/// The staging files that a turn may write, by what it returns.
fn writable(purpose: &Purpose, staging: &Staging) -> Vec<PathBuf> {
    match purpose {
        Purpose::WritePlan => vec![staging.plan.clone()],
        Purpose::Review => vec![staging.comments.clone()],
        Purpose::Respond => vec![staging.plan.clone(), staging.comments.clone()],
        Purpose::RefineGoal { .. }
        | Purpose::Step { .. }
        | Purpose::Fix { .. }
        | Purpose::Summary => Vec::new(),
    }
}

pub(super) fn deny(reason: &str) -> Answer {
    Answer::Deny {
        reason: reason.to_owned(),
    }
}

/// What the agent is told of a call that does not go ahead.
fn denied(decision: &Decision) -> String {
    let Why {
        rule,
        origin,
        reason,
    } = &decision.why;
    match decision.by {
        By::Floor => reason.clone(),
        By::Program | By::Written | By::Approval | By::Mode => {
            format!("{reason}: {rule} ({origin})")
        }
    }
}

fn clean_why(why: &Why) -> Why {
    Why {
        rule: news::line(&why.rule),
        origin: news::line(&why.origin),
        reason: news::line(&why.reason),
    }
}

/// What is shown of a call: its permission and targets, cleaned.
fn shown(call: &Call, decision: &Decision) -> (String, Vec<String>) {
    if decision.action == Action::Ask {
        let targets = decision.ask.targets.iter();
        return (
            news::line(&decision.ask.permission),
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
        Call::Command { line, .. } => ("bash".to_owned(), vec![news::line(line)]),
        Call::Edit { paths, .. } => ("edit".to_owned(), list(paths)),
        Call::Read { paths, .. } => ("read".to_owned(), list(paths)),
        Call::Tool { name, input } => (news::line(name), vec![news::line(input)]),
    }
}

/// Resolves a path by name and by the disk, links followed as far as it exists.
pub fn resolve(root: &Path, named: &Path) -> ResolvedPath {
    let lexical = path::absolute(root, named);
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
