//! Owns the requests of agents: decides calls or lets them wait for the user, and sends each answer on its way.
//!
//! ```text
//!  role's or child's CLI ─┐                          ┌─▶ recorded, answered at once
//!  tool socket ───────────┼─▶ ApprovalRequest ─▶ decide ─▶ waits ─▶ the user ─▶ recorded, answered
//!  a task's patch ────────┘    (CallingTurn)         └─▶ "ask first" (hooks that do not wait)
//! ```
//!
//! All answers leave by [`OwnerRequest::DeliverDecision`] and [`OwnerRequest::DeliverAnswers`], to the
//! [`RequestAddress`] that came with the request. The calls, including any secrets, are kept in memory only. Whether
//! a stored approval covers a call is decided by `decide_call`, as for every other call.

mod agent_questions;
mod approval_record;
pub(super) mod automatic_decision;
pub(super) mod call_request;
pub(super) mod caller_context;
mod edit_diff;
mod pending_requests;

use std::time::Duration;

use super::engine_error::EngineError;
use crate::adapter::{AdapterCommand, ApprovalRequest, CallDecision as Answer, DecisionWait};
use crate::domain::effect::ExpiryReason;
use crate::domain::event::{
    Approval, ApprovalDecider, ApprovalDecision, DENIED_BY_USER, DenialKind, Event,
};
use crate::domain::ids::{RequestId, SessionId};
use crate::permission::SessionLineage;
use crate::permission::approval_suggestions::suggest_approvals;
use crate::permission::{
    ApprovalMatcher, ApprovalScope, Decision, LoopStatus, PermissionAction, StoredApproval,
    decide_call,
};
use crate::store::utc_time;

use super::agent_activity;
use super::blocked_calls::record_missing_tool_call;
use super::owner_request::OwnerRequest;
use super::run_context::RunContext;
use approval_record::build_approval;
use automatic_decision::{DecisionRecord, decide_without_user, deny_with_reason};
use call_request::{CallCircumstances, is_program_tool};
use caller_context::{AnswerChannel, CallerContext, CallingTurn, NO_TURN, RequestAddress};
pub use pending_requests::ApprovalDetail;
use pending_requests::{PendingApproval, PendingRequests, scope_error};

/// The requests of agents that have no answer yet.
#[derive(Default)]
pub(super) struct ApprovalRequests {
    pending: PendingRequests,
}

/// The result of the user's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalDecisionResult {
    /// The decision was sent.
    Applied,
    /// The call no longer waits: it was answered, or its agent is gone. Nothing was changed.
    NoLongerPending,
    /// Nothing was answered: the approval cannot be stored in this form, for this reason.
    NotStored(String),
}

/// A request with what is known of it once the rules have decided.
struct RequestAssessment {
    asking: ApprovalRequest,
    address: RequestAddress,
    circumstances: CallCircumstances,
    /// What rules, stored approvals and the mode say.
    decision: Decision,
    /// The permissions whose tools the agent does not see.
    hidden_permissions: Vec<String>,
}

impl ApprovalRequests {
    /// Decides a call and answers it, or leaves it to the user. `turn` is the running turn of the session that makes
    /// it; without one the call is denied.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(super) fn on_request(
        &mut self,
        run: &mut RunContext,
        session: &SessionId,
        turn: Option<&mut CallingTurn>,
        asking: ApprovalRequest,
        channel: AnswerChannel,
    ) -> Result<(), EngineError> {
        let asking = match &turn {
            Some(turn) => turn.caller.qualify_request(asking),
            None => asking,
        };
        let address = RequestAddress {
            request: asking.request.clone(),
            session: session.clone(),
            channel,
        };
        let is_role = turn.as_ref().is_none_or(|turn| turn.caller.role.is_some());
        if is_role && channel == AnswerChannel::Cli && is_program_tool(&asking) {
            // The tool call is decided when it arrives.
            deliver(run, address, Answer::Allow);
            return Ok(());
        }
        let turn = match turn {
            Some(turn) if turn.closed_reason(run).is_none() => turn,
            closed => {
                let reason = closed.and_then(|turn| turn.closed_reason(run));
                deliver(run, address, deny_with_reason(reason.unwrap_or(NO_TURN)));
                return Ok(());
            }
        };
        let stored = run.load_stored_approvals()?;
        let lineage = match turn.caller.role {
            Some(_) if asking.sub_agent.is_none() => SessionLineage::Role,
            Some(_) | None => run.setup.permissions.child_lineage(),
        };
        let circumstances = CallCircumstances::record(&asking, &mut turn.loop_detector, lineage);
        let caller = &turn.caller;
        let context = caller.decision_context(run, &asking.call, &circumstances, stored);
        let decision = decide_call(&asking.call, &context);
        let hidden_permissions = caller.hidden_permissions(&context.rules);
        self.answer_or_wait(
            run,
            caller,
            RequestAssessment {
                asking,
                address,
                circumstances,
                decision,
                hidden_permissions,
            },
        )
    }

    /// Has the program's own question decided: whether the changes of a task are applied. `decision` is what the rules
    /// say about it.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(super) fn on_patch_request(
        &mut self,
        run: &mut RunContext,
        caller: &CallerContext,
        asking: ApprovalRequest,
        decision: Decision,
    ) -> Result<(), EngineError> {
        let asking = caller.qualify_request(asking);
        let address = RequestAddress {
            request: asking.request.clone(),
            session: caller.session.clone(),
            channel: AnswerChannel::Patch,
        };
        let circumstances = CallCircumstances {
            lineage: run.setup.permissions.child_lineage(),
            repetition: LoopStatus::NoLoop,
            deleted: Vec::new(),
        };
        self.answer_or_wait(
            run,
            caller,
            RequestAssessment {
                asking,
                address,
                circumstances,
                decision,
                hidden_permissions: Vec::new(),
            },
        )
    }

    /// Records a request, and answers it at once or lets it wait for the user.
    fn answer_or_wait(
        &mut self,
        run: &mut RunContext,
        caller: &CallerContext,
        assessment: RequestAssessment,
    ) -> Result<(), EngineError> {
        let RequestAssessment {
            asking,
            address,
            circumstances,
            decision,
            hidden_permissions,
        } = assessment;
        let policy = run.setup.ask_policy;
        let automatic = decide_without_user(policy, &decision, circumstances.repetition);
        if automatic.is_none() && asking.wait == DecisionWait::ImmediateOnly {
            // The CLI asks again, and that request waits for the user.
            let command = AdapterCommand::AskUserFirst(address.own_id());
            run.request(OwnerRequest::SendToSession(address.session, command));
            return Ok(());
        }
        let approval = build_approval(&asking, caller, &decision);
        let automatic = match address.channel {
            AnswerChannel::Cli | AnswerChannel::ToolSocket => {
                automatic.map(|automatic| automatic.with_call_description(&approval))
            }
            // The answer becomes part of the task's result, which names the changes itself.
            AnswerChannel::Patch => automatic,
        };
        let asked = Event::ApprovalRequested(approval);
        match &automatic {
            // The decision is recorded at once and makes both events durable.
            Some(_) => run.record_unsynced(asked)?,
            None => run.record(asked)?,
        }
        let session = caller.session.clone();
        // The changes of a task are no call of a tool.
        if address.channel != AnswerChannel::Patch {
            record_missing_tool_call(run, session, &asking.call, &decision, &hidden_permissions)?;
        }
        if let Some(automatic) = automatic {
            return self.record_decision(run, address, automatic, Vec::new());
        }
        if caller.role.is_none() && address.channel == AnswerChannel::Cli {
            run.request(OwnerRequest::StartUserTimeout(address.request.clone()));
        }
        let ApprovalRequest { call, changes, .. } = asking;
        let (caller, phase) = (caller.clone(), run.state().phase);
        let pending = PendingApproval::new(caller, phase, call, circumstances, &changes, decision);
        self.pending.add_approval(address, pending);
        Ok(())
    }

    /// Records a decision and sends it back to where the request was made.
    fn record_decision(
        &mut self,
        run: &mut RunContext,
        address: RequestAddress,
        record: DecisionRecord,
        kept: Vec<StoredApproval>,
    ) -> Result<(), EngineError> {
        self.pending.remove(&address.request);
        let denial = match (&record.decision, &record.by) {
            (Answer::Allow, _) => None,
            (Answer::DenyAndStop, ApprovalDecider::User) => Some(DenialKind::Unexplained),
            (Answer::Deny { .. } | Answer::DenyAndStop, _) => Some(DenialKind::Explained),
        };
        // The answer must be on record before the CLI acts on it.
        run.record(Event::ApprovalDecided {
            request: address.request.clone(),
            allowed: record.decision == Answer::Allow,
            by: record.by,
            reason: agent_activity::clean_line(&record.reason),
            denial,
            kept,
        })?;
        deliver(run, address, record.decision);
        Ok(())
    }

    /// Returns a pending call as it was made, an edit with its diff; `None` if it is no longer pending.
    pub(super) fn pending_detail(&self, run: &RunContext, call: u32) -> Option<&ApprovalDetail> {
        let request = run.state().request_of_call(call)?;
        let (_, pending) = self.pending.approval(request)?;
        Some(&pending.detail)
    }

    /// Applies the user's decision to a pending call. A call that no longer waits is left alone.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(super) fn decide(
        &mut self,
        run: &mut RunContext,
        call: u32,
        decision: ApprovalDecision,
    ) -> Result<ApprovalDecisionResult, EngineError> {
        let request = run.state().request_of_call(call);
        let Some((address, pending)) = request.and_then(|request| self.pending.approval(request))
        else {
            return Ok(ApprovalDecisionResult::NoLongerPending);
        };
        let address = address.clone();
        let record = match decision {
            ApprovalDecision::AllowOnce => {
                if pending.circumstances.repetition == LoopStatus::Loop {
                    // The user has seen the loop and lets it continue.
                    run.request(OwnerRequest::ResetLoopDetector(address.session.clone()));
                }
                DecisionRecord {
                    decision: Answer::Allow,
                    by: ApprovalDecider::User,
                    reason: "allowed by the user, this once".to_owned(),
                }
            }
            ApprovalDecision::AllowAndRemember { what, scope } => {
                return self.allow_and_remember(run, &address.request, &what, scope);
            }
            ApprovalDecision::DenyWithReason(text) => {
                DecisionRecord::denial(ApprovalDecider::User, &text)
            }
            ApprovalDecision::DenyAndStop => {
                self.deny_other_calls(run, &address)?;
                DecisionRecord {
                    decision: Answer::DenyAndStop,
                    by: ApprovalDecider::User,
                    reason: DENIED_BY_USER.to_owned(),
                }
            }
        };
        self.record_decision(run, address, record, Vec::new())?;
        Ok(ApprovalDecisionResult::Applied)
    }

    /// Handles a child's request that got no answer within `limit`: the agent decides its question itself, and a call
    /// is denied.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(super) fn on_user_timeout(
        &mut self,
        run: &mut RunContext,
        request: RequestId,
        limit: Duration,
    ) -> Result<(), EngineError> {
        let mut asked = run.state().asked.iter();
        if asked.any(|question| question.kind.request_id() == Some(&request)) {
            if let Some(address) = self.pending.remove(&request) {
                run.request(OwnerRequest::DeliverAnswers(address, None));
            }
            return self.on_withdrawn(run, request);
        }
        let Some((address, _)) = self.pending.approval(&request) else {
            return Ok(());
        };
        let address = address.clone();
        let reason = format!("no answer within {} s", limit.as_secs());
        let record = DecisionRecord::denial(ApprovalDecider::Policy, &reason);
        self.record_decision(run, address, record, Vec::new())
    }

    /// Allows a call and stores what is approved with it, after checking that this covers the call.
    fn allow_and_remember(
        &mut self,
        run: &mut RunContext,
        request: &RequestId,
        what: &[ApprovalMatcher],
        scope: ApprovalScope,
    ) -> Result<ApprovalDecisionResult, EngineError> {
        let not_stored = |why: String| Ok(ApprovalDecisionResult::NotStored(why));
        let Some((address, pending)) = self.pending.approval(request) else {
            return Ok(ApprovalDecisionResult::NoLongerPending);
        };
        let address = address.clone();
        let offers = suggest_approvals(&pending.call, &pending.decision);
        if let Some(why) = scope_error(&offers, pending.decision.max_scope, what, scope) {
            return not_stored(why.to_owned());
        }
        let id = run.state().run.clone();
        let Some(mut context) = pending.decision_context(run, Vec::new()) else {
            return Ok(ApprovalDecisionResult::NoLongerPending);
        };
        let kept = pending.stored_approvals(what, scope, &context.profile);
        context.approvals = match run.setup.approvals.list_for_run(&id) {
            Ok(before) => before,
            Err(error) => return not_stored(format!("{error}; {}", error.hint())),
        };
        context.approvals.extend(kept.iter().cloned());
        if decide_call(&pending.call, &context).action != PermissionAction::Allow {
            return not_stored("this would not cover the pending call".to_owned());
        }
        if let Err(error) = run.setup.approvals.add(&id, utc_time::now(), &kept) {
            return not_stored(format!("{error}; {}", error.hint()));
        }
        let record = DecisionRecord {
            decision: Answer::Allow,
            by: ApprovalDecider::User,
            reason: format!("allowed by the user for {}", scope.label()),
        };
        self.record_decision(run, address, record, kept)?;
        self.allow_covered_calls(run)?;
        Ok(ApprovalDecisionResult::Applied)
    }

    /// Allows the pending calls that the stored approvals now cover.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(super) fn allow_covered_calls(&mut self, run: &mut RunContext) -> Result<(), EngineError> {
        let Ok(stored) = run.setup.approvals.list_for_run(&run.state().run) else {
            return Ok(());
        };
        let is_covered = |pending: &PendingApproval| {
            let context = pending.decision_context(run, stored.clone());
            context.is_some_and(|context| {
                decide_call(&pending.call, &context).action == PermissionAction::Allow
            })
        };
        let covered: Vec<RequestAddress> = self
            .pending
            .approvals()
            .filter(|(_, pending)| is_covered(pending))
            .map(|(address, _)| address.clone())
            .collect();
        for address in covered {
            let record = DecisionRecord {
                decision: Answer::Allow,
                by: ApprovalDecider::Cascade,
                reason: "what you approved for another call covers it".to_owned(),
            };
            self.record_decision(run, address, record, Vec::new())?;
        }
        Ok(())
    }

    /// Denies the other pending calls of a session whose turn the user ends with a plain denial.
    fn deny_other_calls(
        &mut self,
        run: &mut RunContext,
        address: &RequestAddress,
    ) -> Result<(), EngineError> {
        let others: Vec<RequestAddress> = self
            .pending
            .approvals()
            .filter(|(other, _)| *other != address && other.session == address.session)
            .map(|(other, _)| other.clone())
            .collect();
        for other in others {
            let reason = "the user denied another call and ended the turn";
            let record = DecisionRecord::denial(ApprovalDecider::Cascade, reason);
            self.record_decision(run, other, record, Vec::new())?;
        }
        Ok(())
    }

    /// Denies pending calls that nobody answers any more; their CLI may be gone already.
    pub(super) fn expire(
        &mut self,
        run: &mut RunContext,
        approvals: Vec<Approval>,
        why: ExpiryReason,
    ) -> Vec<Event> {
        let reason = why.describe();
        for approval in &approvals {
            let address = self.pending.remove(&approval.request);
            // The CLI of a role whose turn has ended waits for nothing any more.
            let waits = |address: &RequestAddress| {
                why != ExpiryReason::TurnEnded
                    || address.channel != AnswerChannel::Cli
                    || run.child_session(&address.session).is_some()
            };
            if let Some(address) = address.filter(waits) {
                deliver(run, address, deny_with_reason(reason));
            }
        }
        let expired = |approval| Event::ApprovalExpired {
            approval,
            reason: reason.to_owned(),
        };
        approvals.into_iter().map(expired).collect()
    }

    /// Forgets a request without an answer.
    pub(super) fn forget(&mut self, request: &RequestId) {
        self.pending.remove(request);
    }

    /// Handles a withdrawn request: it ends like any other without an answer.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(super) fn on_withdrawn(
        &mut self,
        run: &mut RunContext,
        request: RequestId,
    ) -> Result<(), EngineError> {
        self.pending.remove(&request);
        let mut waiting = run.state().approvals.iter();
        let approval = waiting
            .find(|approval| approval.request == request)
            .cloned();
        run.record(match approval {
            Some(approval) => Event::ApprovalExpired {
                approval,
                reason: "its CLI no longer waits for an answer".to_owned(),
            },
            None => Event::AgentQuestionWithdrawn { request },
        })
    }
}

fn deliver(run: &mut RunContext, address: RequestAddress, decision: Answer) {
    run.request(OwnerRequest::DeliverDecision(address, decision));
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(super) use tests::{ApprovalTestRun, play_running_turn};
