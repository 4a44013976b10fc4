//! Answers calls that wait for the user, by the user's word, and keeps what is approved for more than once.
//!
//! The calls themselves, secrets and all, are held in memory only. Refuses to decide by itself: what an
//! approval lets through is said by the one decision.

use crate::adapter::{CallDecision as Answer, FileChange, FileChangeKind};
use crate::domain::event::{ApprovalDecision, DENIED_BY_USER};
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::turn::Role;
use crate::permission::approval_suggestions::suggest_approvals;
use crate::permission::{
    AgentToolCall, ApprovalMatcher, ApprovalScope, Decision, DecisionContext, LoopStatus,
    MaxApprovalScope, PermissionAction, StoredApproval, decide_call, wildcard,
};
use crate::store::utc_time;
use crate::text::escape_invisible;

use super::answering::{Said, deny};
use super::asking::Circumstances;
use super::{Engine, EngineError};

/// Whose a call is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seat {
    /// The role's whose turn runs.
    Role(Role),
    /// A child's.
    Child(SessionId),
    /// The program's own, of what a child changed.
    Patch(SessionId),
}

/// A call that waits for the user.
#[derive(Debug)]
pub struct Waiting {
    seat: Seat,
    call: AgentToolCall,
    circumstances: Circumstances,
    decision: Decision,
    shown: Shown,
}

/// A call exactly as it was made, with everything visible that a terminal would hide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The command, the paths, or the tool with its input.
    pub text: String,
    /// What an edit would change, as a diff; empty for all else and where the CLI does not tell.
    pub diff: String,
}

/// What became of the user's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Granted {
    /// It was given.
    Yes,
    /// The call does not wait any more: it was answered, or its agent is gone. Nothing was changed.
    TooLate,
    /// Nothing was answered: it cannot be kept like that, for this reason.
    NotKept(String),
}

impl Waiting {
    /// Holds a call as its agent made it.
    pub(super) fn new(
        seat: Seat,
        (call, circumstances): (AgentToolCall, Circumstances),
        changes: &[FileChange],
        decision: Decision,
    ) -> Self {
        let shown = Shown {
            text: escape_invisible(&exact(&call)),
            diff: escape_invisible(&diff(changes)),
        };
        Self {
            seat,
            call,
            circumstances,
            decision,
            shown,
        }
    }

    /// What is approved, for every permission that asked; a command line is approved as such.
    fn approved(
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

fn exact(call: &AgentToolCall) -> String {
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

/// What a file would hold that is not there yet, as a diff; some CLIs tell it as the bare text.
fn as_new(text: &str) -> String {
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

fn diff(changes: &[FileChange]) -> String {
    let one = |change: &FileChange| {
        let end = if change.diff.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let diff = match change.kind {
            FileChangeKind::Add => as_new(&change.diff),
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
    /// A call that waits, exactly as it was made; `None` when it does not wait here any more.
    pub fn waiting_call(&self, request: &RequestId) -> Option<&Shown> {
        self.awaited.call(request).map(|waiting| &waiting.shown)
    }

    /// Answers a call that waits, by the user's word. One that no longer waits is left alone.
    ///
    /// # Errors
    /// The record of the run cannot be kept.
    pub fn answer_call(
        &mut self,
        request: &RequestId,
        answer: ApprovalDecision,
    ) -> Result<Granted, EngineError> {
        let Some(seat) = self
            .awaited
            .call(request)
            .map(|waiting| waiting.seat.clone())
        else {
            return Ok(Granted::TooLate);
        };
        let by_user = |answer, reason: &str| Said {
            answer,
            by: "user",
            reason: reason.to_owned(),
        };
        match answer {
            ApprovalDecision::AllowOnce => {
                self.let_the_circle_pass(request);
                let said = by_user(Answer::Allow, "allowed by the user, this once");
                self.answer(request.clone(), said, Vec::new())?;
            }
            ApprovalDecision::AllowAndRemember { what, scope } => {
                return self.allow_for_more(request, &what, scope);
            }
            ApprovalDecision::DenyWithReason(text) => {
                let said = by_user(deny(&text), &text);
                self.answer(request.clone(), said, Vec::new())?;
            }
            ApprovalDecision::DenyAndStop => {
                self.decline_others(request, &seat)?;
                let said = by_user(Answer::DenyAndStop, DENIED_BY_USER);
                self.answer(request.clone(), said, Vec::new())?;
            }
        }
        Ok(Granted::Yes)
    }

    /// The user looked at a circle and lets it go on: the next one is looked for anew.
    fn let_the_circle_pass(&mut self, request: &RequestId) {
        let closes = |waiting: &&Waiting| waiting.circumstances.repetition == LoopStatus::Loop;
        let seat = self.awaited.call(request).filter(closes);
        match seat.map(|waiting| waiting.seat.clone()) {
            Some(Seat::Role(_)) => {
                if let Some(at_work) = &mut self.at_work {
                    at_work.calls.reset();
                }
            }
            Some(Seat::Child(session)) => self.forget_calls_of(&session),
            Some(Seat::Patch(_)) | None => {}
        }
    }

    /// Lets a call go ahead and keeps what is approved with it, once that is known to cover the call.
    fn allow_for_more(
        &mut self,
        request: &RequestId,
        what: &[ApprovalMatcher],
        scope: ApprovalScope,
    ) -> Result<Granted, EngineError> {
        let not_kept = |why: String| Ok(Granted::NotKept(why));
        let Some(waiting) = self.awaited.call(request) else {
            return Ok(Granted::TooLate);
        };
        let offers = suggest_approvals(&waiting.call, &waiting.decision);
        if let Some(why) = forbidden(&offers, waiting.decision.max_scope, what, scope) {
            return not_kept(why.to_owned());
        }
        let run = self.state().run.clone();
        let context = self.context_of(waiting, Vec::new());
        let Some(mut context) = context else {
            return Ok(Granted::TooLate);
        };
        let kept = waiting.approved(what, scope, &context.profile);
        context.approvals = match self.setup.approvals.list_for_run(&run) {
            Ok(before) => before,
            Err(error) => return not_kept(format!("{error}; {}", error.hint())),
        };
        context.approvals.extend(kept.iter().cloned());
        if decide_call(&waiting.call, &context).action != PermissionAction::Allow {
            return not_kept("that would not cover the call that waits".to_owned());
        }
        if let Err(error) = self.setup.approvals.add(&run, utc_time::now(), &kept) {
            return not_kept(format!("{error}; {}", error.hint()));
        }
        let said = Said {
            answer: Answer::Allow,
            by: "user",
            reason: format!("allowed by the user for {}", scope.label()),
        };
        self.answer(request.clone(), said, kept)?;
        self.let_through()?;
        Ok(Granted::Yes)
    }

    /// Lets those of the waiting calls through that the approvals cover now.
    pub(super) fn let_through(&mut self) -> Result<(), EngineError> {
        let Ok(approved) = self.setup.approvals.list_for_run(&self.state().run) else {
            return Ok(());
        };
        let is_covered = |waiting: &Waiting| {
            let context = self.context_of(waiting, approved.clone());
            context.is_some_and(|context| {
                decide_call(&waiting.call, &context).action == PermissionAction::Allow
            })
        };
        let covered = self
            .awaited
            .calls()
            .filter(|(_, waiting)| is_covered(waiting));
        let covered: Vec<RequestId> = covered.map(|(request, _)| request.clone()).collect();
        for request in covered {
            let said = Said {
                answer: Answer::Allow,
                by: "cascade",
                reason: "what you approved for another call covers it".to_owned(),
            };
            self.answer(request, said, Vec::new())?;
        }
        Ok(())
    }

    /// What the decision about a call that waits rests on; `None` when its turn is over.
    fn context_of(
        &self,
        waiting: &Waiting,
        approvals: Vec<StoredApproval>,
    ) -> Option<DecisionContext> {
        let (call, circumstances) = (&waiting.call, &waiting.circumstances);
        match &waiting.seat {
            Seat::Role(_) => self.context(call, circumstances, approvals),
            Seat::Child(session) => {
                self.context_of_child(session, (call, circumstances), approvals)
            }
            Seat::Patch(session) => self.context_of_asked_patch(session, call, approvals),
        }
    }

    /// Declines what else a session asked for whose turn the user ends with a plain no.
    fn decline_others(&mut self, request: &RequestId, seat: &Seat) -> Result<(), EngineError> {
        let others = self.awaited.calls();
        let others = others.filter(|(other, waiting)| *other != request && waiting.seat == *seat);
        let others: Vec<RequestId> = others.map(|(other, _)| other.clone()).collect();
        for other in others {
            let reason = "the user refused another call and ended the turn";
            let said = Said {
                answer: deny(reason),
                by: "cascade",
                reason: reason.to_owned(),
            };
            self.answer(other, said, Vec::new())?;
        }
        Ok(())
    }
}

/// Why something cannot be approved for more than once; `None` when it can: it was offered for this very call,
/// or is narrower than a pattern that was.
fn forbidden(
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
        MaxApprovalScope::Never => Some("such a call is allowed once at a time"),
        MaxApprovalScope::Run if scope == ApprovalScope::Project => {
            Some("a call of the safety list is kept for this run at most")
        }
        MaxApprovalScope::Run | MaxApprovalScope::Project if what.is_empty() => {
            Some("there is nothing to keep")
        }
        MaxApprovalScope::Run | MaxApprovalScope::Project if !what.iter().all(is_offered) => {
            Some("only what is offered can be kept, or less of it")
        }
        MaxApprovalScope::Run | MaxApprovalScope::Project => None,
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(super) use tests::World;
