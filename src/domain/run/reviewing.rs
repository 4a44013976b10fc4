//! The review loop: verdicts, progress, the cap, arbitration, and the planner's answers.

use super::{
    DocumentAuthor, PlanFile, RunState, VerdictRecord, approving, asking_back, flow, planning,
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
    flow::propose(state, at, TurnPurpose::Review, None)
}

/// Grants one more iteration where the cap would forbid it.
pub(super) fn make_room(state: &mut RunState) {
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
    if planning::take_collecting(state, turn, |purpose| *purpose == TurnPurpose::Review).is_none() {
        return Vec::new();
    }
    let reviewed = state.reviewing.clone().unwrap_or_else(|| plan_now.clone());
    state.comments_sha256 = Some(file_sha256.clone());
    state.comments_by = DocumentAuthor::Agent;
    state.notes.on_judged(turn);
    take_review(state, review, &reviewed);
    if let Some(effects) = arbitrate_contradiction(state, review) {
        return effects;
    }
    match review.verdict {
        Verdict::Approved if *plan_now == reviewed => {
            flow::go(state, TransitionCause::PlanApproved);
            approving::enter_approved(state, reviewed)
        }
        Verdict::Approved => flow::ask(
            state,
            QuestionKind::StalePlan {
                reviewed,
                now: plan_now.clone(),
            },
        ),
        Verdict::ChangesRequired => go_on_or_arbitrate(state, at),
    }
}

/// Updates ledger, stall and verdict. Progress is an open finding settled; a changed plan alone is none.
fn take_review(state: &mut RunState, review: &ReviewDocument, reviewed: &Sha256) {
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

/// Asks the user where the reviewer approves a plan beside findings of its own that weigh.
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
    Some(flow::ask(state, question))
}

fn go_on_or_arbitrate(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    let open = state.findings.open().count();
    if state.iteration >= state.iteration_limit() {
        return flow::ask(
            state,
            QuestionKind::Arbitration {
                reason: ArbitrationReason::Cap,
                open,
            },
        );
    }
    if state.stall >= state.settings.stall_limit {
        return flow::ask(
            state,
            QuestionKind::Arbitration {
                reason: ArbitrationReason::Stall,
                open,
            },
        );
    }
    flow::go(state, TransitionCause::ChangesRequired);
    flow::propose(state, at, TurnPurpose::Respond, None)
}

pub(super) fn on_arbitrated(
    state: &mut RunState,
    at: UnixMillis,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    match answer {
        QuestionAnswer::ForcePass => force_pass(state),
        QuestionAnswer::MoreIterations { n } => {
            state.extra = state.extra.saturating_add(*n);
            state.stall = 0;
            flow::go(state, TransitionCause::MoreIterations);
            flow::propose(state, at, TurnPurpose::Respond, None)
        }
        _ => flow::ask(state, QuestionKind::ManualEdit),
    }
}

fn force_pass(state: &mut RunState) -> Vec<Effect> {
    let Some(hash) = state.plan_approval_hash().cloned() else {
        return flow::ask(state, QuestionKind::ManualEdit);
    };
    let open = pluralize(state.findings.open().count(), "open finding");
    if let Some(verdict) = &mut state.verdict {
        verdict.forced = true;
    }
    flow::go(state, TransitionCause::ForcedPass);
    let mut effects = vec![Effect::AppendLog(format!(
        "The user let the plan pass with {open}."
    ))];
    effects.extend(approving::enter_approved(state, hash));
    effects
}

pub(super) fn on_edited_by_hand(
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
            flow::go(state, TransitionCause::EditedForReview);
            enter_review(state, at)
        }
        EditFollowUp::Accept => {
            flow::go(state, TransitionCause::EditedAndAccepted);
            approving::enter_approved(state, plan.approval_sha256.clone())
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
    if planning::take_collecting(state, turn, |purpose| *purpose == TurnPurpose::Respond).is_none()
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
        return flow::propose(
            state,
            at,
            TurnPurpose::Respond,
            Some(TurnRetryReason::Answered { answer }),
        );
    }
    let lacks = missing_part::unrequested_parts(asked_back, &state.asked_back);
    match lacks.is_empty() {
        true => on_answered(state, at),
        false => asking_back::again(state, at, TurnPurpose::Respond, lacks),
    }
}

/// The planner has answered what it will answer.
pub(super) fn on_answered(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    flow::go(state, TransitionCause::Responded);
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

/// A finding that the user settles is progress.
pub(super) fn on_finding_settled(state: &mut RunState, n: u32) -> Vec<Effect> {
    if state.phase.is_final() || !state.findings.settle_by_user(n) {
        return Vec::new();
    }
    state.stall = 0;
    vec![Effect::AppendLog(format!("The user settled finding {n}."))]
}
