//! Runs the review loop: verdicts, disputes, the maximum of iterations, arbitration, and the planner's answers.

use super::{
    DocumentAuthor, PlanFile, RunState, VerdictRecord, incomplete_documents, legacy_review_loop,
    open_questions, phase_entry, turn_start,
};
use crate::domain::effect::Effect;
use crate::domain::event::Event;
use crate::domain::findings::{
    DisputeJudgement, DisputeSide, Finding, ReviewOutcome, UnsupportedFindings,
    VerdictContradiction,
};
use crate::domain::ids::{Sha256, TurnId, UnixMillis};
use crate::domain::phase::TransitionCause;
use crate::domain::question::{ArbitrationReason, EditFollowUp, QuestionAnswer, QuestionKind};
use crate::domain::review::Verdict;
use crate::domain::turn::{TurnPurpose, TurnRetryReason};
use crate::text::pluralize;

pub(super) fn on_review_committed(
    state: &mut RunState,
    at: UnixMillis,
    event: &Event,
) -> Vec<Effect> {
    let Event::ReviewCommitted {
        turn,
        review,
        file_sha256,
        plan_now,
    } = event
    else {
        return Vec::new();
    };
    let reviews = |purpose: &TurnPurpose| *purpose == TurnPurpose::Review;
    if incomplete_documents::take_collected_turn(state, turn, reviews).is_none() {
        return Vec::new();
    }
    let reviewed = state.reviewing.clone().unwrap_or_else(|| plan_now.clone());
    state.comments_sha256 = Some(file_sha256.clone());
    state.comments_by = DocumentAuthor::Agent;
    state.threads.on_judged(turn);
    let outcome = match &review.facts {
        Some(facts) => Some(state.findings.apply_review(
            review,
            facts,
            state.iteration,
            UnsupportedFindings::CountAsMinor,
        )),
        None => {
            legacy_review_loop::record_review(state, review);
            None
        }
    };
    if review.facts.is_some() {
        let n_review = state.findings.review_count();
        state.reviewed_plans.insert(n_review, reviewed.clone());
    }
    if let Some(earlier) = state.asked_back_review.take() {
        state.findings.record_dropped_remarks(&earlier, review);
    }
    let verdict = outcome
        .as_ref()
        .map_or(review.verdict, |outcome| outcome.verdict);
    state.verdict = Some(VerdictRecord {
        value: verdict,
        consistent: review.consistent,
        forced: false,
        plan_sha256: reviewed.clone(),
        iteration: state.iteration,
    });
    let question = match &outcome {
        Some(outcome) if !outcome.disputes.is_empty() => {
            state.arbitration_after_disputes = question_beside_disputes(state, outcome);
            return turn_start::propose_turn(state, at, TurnPurpose::Judge, None);
        }
        Some(outcome) => question_after_review(state, outcome),
        None => legacy_review_loop::question_after_review(state, review),
    };
    if let Some(reason) = question {
        return ask_to_arbitrate(state, reason);
    }
    match verdict {
        Verdict::Approved if *plan_now == reviewed => {
            phase_entry::change_phase(state, TransitionCause::PlanApproved);
            phase_entry::enter_approved(state, reviewed)
        }
        // The plan changed during the review, so the approval is not for the plan on disk.
        Verdict::Approved => open_questions::ask_user(
            state,
            QuestionKind::StalePlan {
                reviewed,
                now: plan_now.clone(),
                fault: None,
                change: state.plan_change().map(Box::new),
            },
        ),
        Verdict::ChangesRequired => respond(state, at),
    }
}

/// Returns why the user decides about more than the disputes of a review.
fn question_beside_disputes(
    state: &RunState,
    outcome: &ReviewOutcome,
) -> Option<ArbitrationReason> {
    use ArbitrationReason as Reason;
    match question_after_review(state, outcome)? {
        reason @ (Reason::Circle | Reason::LeftOut | Reason::UnprovenFix) => Some(reason),
        // They are about the findings that hold the plan up, which the disputes still decide.
        Reason::Cap
        | Reason::Stall
        | Reason::ApprovedBeside
        | Reason::NothingHolds
        | Reason::ResidualBlocker => None,
    }
}

/// Returns why the user decides after a review; `None` where the workflow continues by itself.
fn question_after_review(state: &RunState, outcome: &ReviewOutcome) -> Option<ArbitrationReason> {
    // Without a finding that holds the plan up there is nothing to go in a circle about. The user's own edit may go
    // back to an earlier text.
    let is_holding = state.findings.holding().next().is_some();
    if outcome.is_circle && is_holding && state.plan_by == DocumentAuthor::Agent {
        return Some(ArbitrationReason::Circle);
    }
    if !outcome.unmentioned.is_empty() {
        return Some(ArbitrationReason::LeftOut);
    }
    if !outcome.unproven_fixes.is_empty() {
        return Some(ArbitrationReason::UnprovenFix);
    }
    let is_approved = outcome.verdict == Verdict::Approved;
    match outcome.contradiction {
        Some(VerdictContradiction::ApprovedBesideHolding) => {
            return Some(ArbitrationReason::ApprovedBeside);
        }
        Some(VerdictContradiction::NothingHolds) => return Some(ArbitrationReason::NothingHolds),
        None if is_approved => {
            let mut residual = state.findings.residual();
            let is_blocked = residual.any(Finding::is_residual_blocker);
            return is_blocked.then_some(ArbitrationReason::ResidualBlocker);
        }
        None => {}
    }
    let is_at_limit = state.iteration >= state.iteration_limit();
    is_at_limit.then_some(ArbitrationReason::Cap)
}

fn ask_to_arbitrate(state: &mut RunState, reason: ArbitrationReason) -> Vec<Effect> {
    let open = state.findings.open().count();
    open_questions::ask_user(state, QuestionKind::Arbitration { reason, open })
}

/// Lets the planner answer the open findings.
fn respond(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    phase_entry::change_phase(state, TransitionCause::ChangesRequired);
    turn_start::propose_turn(state, at, TurnPurpose::Respond, None)
}

/// Stores what a fresh session made of the disputes, and asks the user about the first.
pub(super) fn on_disputes_judged(
    state: &mut RunState,
    at: UnixMillis,
    turn: &TurnId,
    judgements: &[DisputeJudgement],
) -> Vec<Effect> {
    let judged = |purpose: &TurnPurpose| *purpose == TurnPurpose::Judge;
    if incomplete_documents::take_collected_turn(state, turn, judged).is_none() {
        return Vec::new();
    }
    state.findings.apply_judgements(judgements);
    ask_about_dispute(state, at)
}

/// Asks about the first dispute; without one the review continues.
pub(super) fn ask_about_dispute(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    let first = state.findings.disputed().next();
    if let Some(n) = first.map(|finding| finding.remark.n) {
        return open_questions::ask_user(state, QuestionKind::Dispute { n });
    }
    let reason = state.arbitration_after_disputes.take();
    let is_holding = state.findings.holding().next().is_some();
    if let Some(reason) = reason.filter(|_| is_holding) {
        return ask_to_arbitrate(state, reason);
    }
    if state.iteration >= state.iteration_limit() {
        return ask_to_arbitrate(state, ArbitrationReason::Cap);
    }
    if state.findings.active().next().is_none() {
        phase_entry::change_phase(state, TransitionCause::ChangesRequired);
        return phase_entry::on_findings_answered(state, at);
    }
    respond(state, at)
}

pub(super) fn on_dispute_answered(
    state: &mut RunState,
    at: UnixMillis,
    n: u32,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    let QuestionAnswer::DecideDispute { side } = answer else {
        return open_questions::ask_user(state, QuestionKind::ManualEdit);
    };
    state.findings.decide_dispute(n, *side);
    let side = match side {
        DisputeSide::Reviewer => "reviewer",
        DisputeSide::Planner => "planner",
    };
    let mut effects = vec![Effect::AppendLog(format!(
        "Dispute about finding {n}: the user decided for the {side}."
    ))];
    effects.extend(ask_about_dispute(state, at));
    effects
}

pub(super) fn on_arbitration_answered(
    state: &mut RunState,
    at: UnixMillis,
    reason: ArbitrationReason,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    match answer {
        QuestionAnswer::ForcePass => force_pass(state),
        QuestionAnswer::MoreIterations { n } => {
            state.extra = state.extra.saturating_add(*n);
            state.stall = 0;
            if reason == ArbitrationReason::ResidualBlocker {
                state.findings.reopen_residual_blockers();
            }
            phase_entry::change_phase(state, TransitionCause::MoreIterations);
            if reason == ArbitrationReason::NothingHolds {
                return phase_entry::on_findings_answered(state, at);
            }
            turn_start::propose_turn(state, at, TurnPurpose::Respond, None)
        }
        _ => open_questions::ask_user(state, QuestionKind::ManualEdit),
    }
}

fn force_pass(state: &mut RunState) -> Vec<Effect> {
    let Some(hash) = state.plan_approval_hash().cloned() else {
        return open_questions::ask_user(state, QuestionKind::ManualEdit);
    };
    let open = pluralize(state.findings.open().count(), "open finding");
    if let Some(verdict) = &mut state.verdict {
        verdict.forced = true;
    }
    phase_entry::change_phase(state, TransitionCause::ForcedPass);
    let mut effects = vec![Effect::AppendLog(format!(
        "The user approved the plan anyway, with {open}."
    ))];
    effects.extend(phase_entry::enter_approved(state, hash));
    effects
}

pub(super) fn on_manual_edit(
    state: &mut RunState,
    at: UnixMillis,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    let QuestionAnswer::Edited {
        then,
        plan,
        file_sha256,
    } = answer
    else {
        return Vec::new();
    };
    state.set_plan(PlanFile::from_plan(plan, file_sha256), DocumentAuthor::User);
    match then {
        EditFollowUp::Review => {
            state.extra += 1;
            state.stall = 0;
            phase_entry::change_phase(state, TransitionCause::EditedForReview);
            phase_entry::enter_review(state, at)
        }
        EditFollowUp::Accept => {
            phase_entry::change_phase(state, TransitionCause::EditedAndAccepted);
            phase_entry::enter_approved(state, plan.approval_sha256.clone())
        }
    }
}

pub(super) fn on_response_committed(
    state: &mut RunState,
    at: UnixMillis,
    event: &Event,
) -> Vec<Effect> {
    let Event::ResponseCommitted {
        turn,
        responses,
        plan,
        comments_sha256,
        unanswered: _,
        asked_back,
    } = event
    else {
        return Vec::new();
    };
    let responds = |purpose: &TurnPurpose| *purpose == TurnPurpose::Respond;
    if incomplete_documents::take_collected_turn(state, turn, responds).is_none() {
        return Vec::new();
    }
    state.findings.apply_responses(responses);
    state.threads.on_answered(turn);
    state.comments_sha256 = Some(comments_sha256.clone());
    if let Some((plan, file_sha256)) = plan {
        state.set_plan(
            PlanFile::from_plan(plan, file_sha256),
            DocumentAuthor::Agent,
        );
    }
    if let Some(answer) = state.plan_stays.take() {
        return turn_start::propose_turn(
            state,
            at,
            TurnPurpose::Respond,
            Some(TurnRetryReason::Answered { answer }),
        );
    }
    let lacks = state.asked_back.unrequested_parts(asked_back);
    if lacks.is_empty() {
        phase_entry::on_findings_answered(state, at)
    } else {
        incomplete_documents::request_missing_parts(state, at, TurnPurpose::Respond, lacks)
    }
}

pub(super) fn on_comments_edited(state: &mut RunState, file_sha256: &Sha256) -> Vec<Effect> {
    state.comments_sha256 = Some(file_sha256.clone());
    state.comments_by = DocumentAuthor::User;
    Vec::new()
}

pub(super) fn on_remarks_appended(state: &mut RunState, file_sha256: &Sha256) -> Vec<Effect> {
    state.remarks = None;
    on_comments_edited(state, file_sha256)
}

/// Settles a finding for the user, which counts as progress.
pub(super) fn on_finding_settled(state: &mut RunState, n: u32) -> Vec<Effect> {
    if state.phase.is_final() || !state.findings.settle_by_user(n) {
        return Vec::new();
    }
    state.stall = 0;
    vec![Effect::AppendLog(format!("The user resolved finding {n}."))]
}
