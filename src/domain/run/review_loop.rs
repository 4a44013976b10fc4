//! Runs the review loop: verdicts, progress, the maximum of iterations, arbitration, and the planner's answers.

use super::{
    DocumentAuthor, PlanFile, RunState, VerdictRecord, goal_and_plan, incomplete_documents,
    plan_approval, turn_lifecycle,
};
use crate::domain::effect::Effect;
use crate::domain::event::Event;
use crate::domain::findings::{Finding, FindingSeverity};
use crate::domain::ids::{Sha256, UnixMillis};
use crate::domain::missing_part;
use crate::domain::phase::TransitionCause;
use crate::domain::question::{ArbitrationReason, EditFollowUp, QuestionAnswer, QuestionKind};
use crate::domain::review::{ReviewDocument, Verdict};
use crate::domain::turn::{TurnPurpose, TurnRetryReason};
use crate::text::pluralize;

/// Counts the iteration and proposes the reviewer's turn.
pub(super) fn enter_review(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    state.iteration += 1;
    state.asked_back.clear();
    turn_lifecycle::propose_turn(state, at, TurnPurpose::Review, None)
}

/// Grants one more iteration where the maximum would forbid it.
pub(super) fn allow_one_more_iteration(state: &mut RunState) {
    if state.iteration >= state.iteration_limit() {
        state.extra += 1;
    }
}

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
    if goal_and_plan::take_collected_turn(state, turn, |purpose| *purpose == TurnPurpose::Review)
        .is_none()
    {
        return Vec::new();
    }
    let reviewed = state.reviewing.clone().unwrap_or_else(|| plan_now.clone());
    state.comments_sha256 = Some(file_sha256.clone());
    state.comments_by = DocumentAuthor::Agent;
    state.notes.on_judged(turn);
    record_review(state, review, &reviewed);
    if let Some(effects) = arbitrate_contradiction(state, review) {
        return effects;
    }
    match review.verdict {
        Verdict::Approved if *plan_now == reviewed => {
            turn_lifecycle::change_phase(state, TransitionCause::PlanApproved);
            plan_approval::enter_approved(state, reviewed)
        }
        // The plan changed during the review, so the approval is not for the plan on disk.
        Verdict::Approved => turn_lifecycle::ask_user(
            state,
            QuestionKind::StalePlan {
                reviewed,
                now: plan_now.clone(),
            },
        ),
        Verdict::ChangesRequired => respond_or_arbitrate(state, at),
    }
}

/// Updates ledger, stall count and verdict. Only a settled open finding is progress; a changed plan alone is not.
fn record_review(state: &mut RunState, review: &ReviewDocument, reviewed: &Sha256) {
    let settled = review.settled.as_deref();
    let change = state.findings.apply_review(&review.remarks, settled);
    if change.settled > 0 {
        state.stall = 0;
    } else if state.iteration > 1 {
        state.stall += 1;
    }
    state.verdict = Some(VerdictRecord {
        value: review.verdict,
        consistent: review.consistent,
        forced: false,
        plan_sha256: reviewed.clone(),
        iteration: state.iteration,
    });
}

/// Asks the user where the reviewer approves a plan despite its own open major or blocking findings.
fn arbitrate_contradiction(state: &mut RunState, review: &ReviewDocument) -> Option<Vec<Effect>> {
    let weighs = |finding: &&Finding| finding.remark.severity >= FindingSeverity::Major;
    let approves = review.marker == Some(Verdict::Approved);
    if !approves || !state.findings.open().any(|finding| weighs(&finding)) {
        return None;
    }
    let question = QuestionKind::Arbitration {
        reason: ArbitrationReason::ApprovedBeside,
        open: state.findings.open().count(),
    };
    Some(turn_lifecycle::ask_user(state, question))
}

fn respond_or_arbitrate(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    let open = state.findings.open().count();
    if state.iteration >= state.iteration_limit() {
        return turn_lifecycle::ask_user(
            state,
            QuestionKind::Arbitration {
                reason: ArbitrationReason::Cap,
                open,
            },
        );
    }
    if state.stall >= state.settings.stall_limit {
        return turn_lifecycle::ask_user(
            state,
            QuestionKind::Arbitration {
                reason: ArbitrationReason::Stall,
                open,
            },
        );
    }
    turn_lifecycle::change_phase(state, TransitionCause::ChangesRequired);
    turn_lifecycle::propose_turn(state, at, TurnPurpose::Respond, None)
}

pub(super) fn on_arbitration_answered(
    state: &mut RunState,
    at: UnixMillis,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    match answer {
        QuestionAnswer::ForcePass => force_pass(state),
        QuestionAnswer::MoreIterations { n } => {
            state.extra = state.extra.saturating_add(*n);
            state.stall = 0;
            turn_lifecycle::change_phase(state, TransitionCause::MoreIterations);
            turn_lifecycle::propose_turn(state, at, TurnPurpose::Respond, None)
        }
        _ => turn_lifecycle::ask_user(state, QuestionKind::ManualEdit),
    }
}

fn force_pass(state: &mut RunState) -> Vec<Effect> {
    let Some(hash) = state.plan_approval_hash().cloned() else {
        return turn_lifecycle::ask_user(state, QuestionKind::ManualEdit);
    };
    let open = pluralize(state.findings.open().count(), "open finding");
    if let Some(verdict) = &mut state.verdict {
        verdict.forced = true;
    }
    turn_lifecycle::change_phase(state, TransitionCause::ForcedPass);
    let mut effects = vec![Effect::AppendLog(format!(
        "The user approved the plan anyway, with {open}."
    ))];
    effects.extend(plan_approval::enter_approved(state, hash));
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
            turn_lifecycle::change_phase(state, TransitionCause::EditedForReview);
            enter_review(state, at)
        }
        EditFollowUp::Accept => {
            turn_lifecycle::change_phase(state, TransitionCause::EditedAndAccepted);
            plan_approval::enter_approved(state, plan.approval_sha256.clone())
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
    if goal_and_plan::take_collected_turn(state, turn, |purpose| *purpose == TurnPurpose::Respond)
        .is_none()
    {
        return Vec::new();
    }
    state.findings.apply_responses(responses);
    state.notes.on_answered(turn);
    state.comments_sha256 = Some(comments_sha256.clone());
    if let Some((plan, file_sha256)) = plan {
        state.set_plan(
            PlanFile::from_plan(plan, file_sha256),
            DocumentAuthor::Agent,
        );
    }
    if let Some(answer) = state.plan_stays.take() {
        return turn_lifecycle::propose_turn(
            state,
            at,
            TurnPurpose::Respond,
            Some(TurnRetryReason::Answered { answer }),
        );
    }
    let lacks = missing_part::unrequested_parts(asked_back, &state.asked_back);
    if lacks.is_empty() {
        on_findings_answered(state, at)
    } else {
        incomplete_documents::request_missing_parts(state, at, TurnPurpose::Respond, lacks)
    }
}

/// Continues with the next review: the planner gives no more answers.
pub(super) fn on_findings_answered(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    turn_lifecycle::change_phase(state, TransitionCause::Responded);
    enter_review(state, at)
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
