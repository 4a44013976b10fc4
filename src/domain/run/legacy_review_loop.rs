//! Replays reviews of version 0.1, which counted reviews without progress. New reviews never come here.

use super::RunState;
use crate::domain::findings::Finding;
use crate::domain::question::ArbitrationReason;
use crate::domain::review::{ReviewDocument, Verdict};

/// Updates the ledger and the stall count: only a settled open finding was progress.
pub(super) fn record_review(state: &mut RunState, review: &ReviewDocument) {
    let settled = review.settled.as_deref();
    let n_settled = state.findings.apply_legacy_review(&review.remarks, settled);
    if n_settled > 0 {
        state.stall = 0;
    } else if state.iteration > 1 {
        state.stall += 1;
    }
}

/// Returns why the user was asked after such a review.
pub(super) fn question_after_review(
    state: &RunState,
    review: &ReviewDocument,
) -> Option<ArbitrationReason> {
    let approves = review.marker == Some(Verdict::Approved);
    if approves && state.findings.open().any(Finding::holds) {
        return Some(ArbitrationReason::ApprovedBeside);
    }
    if review.verdict == Verdict::Approved {
        return None;
    }
    if state.iteration >= state.iteration_limit() {
        return Some(ArbitrationReason::Cap);
    }
    let is_stalled = state.stall >= state.settings.stall_limit;
    is_stalled.then_some(ArbitrationReason::Stall)
}
