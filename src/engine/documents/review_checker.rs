//! Gathers what a review and its answers are checked against: the plans of earlier reviews, files of the project, and
//! the commands that the agent ran.
//!
//! A file that the rules do not let an agent read is not read here either: what was found goes back to the agent.

use crate::domain::findings::evidence::EvidenceSource;
use crate::domain::findings::review_facts::{
    ReviewFacts, ReviewSources, assess_responses, assess_review,
};
use crate::domain::findings::{DisputeJudgement, FindingResponse};
use crate::domain::phase::Phase;
use crate::domain::review::{self, ReviewDocument};
use crate::engine::run_context::RunContext;
use crate::store::scoped_read::ScopedReader;
use crate::store::{StoreError, iteration_files};
use crate::text::{clean_to_one_line, fenced_block};

use super::{PendingDocument, plan_on_disk};

/// The largest file that evidence may quote, in bytes.
const MAX_FILE_BYTES: u64 = 2 * 1024 * 1024;
/// The name of the block in which a session returns its judgement of a dispute.
const JUDGEMENT_BLOCK: &str = "judgement";

/// Finds out what can be known of a review.
pub(super) fn assess(run: &RunContext, review: &ReviewDocument) -> Result<ReviewFacts, StoreError> {
    let plan = plan_on_disk(run)?.unwrap_or_default();
    let sources = ReviewSources {
        plan: &plan,
        earlier_plans: &earlier_plans(run)?,
        evidence: &ProjectEvidence { run },
        unopened: None,
    };
    Ok(assess_review(review, &run.state().findings, &sources))
}

/// Checks the planner's answers; `after` is the plan that it returned.
pub(super) fn check_responses(
    run: &RunContext,
    responses: &mut [FindingResponse],
    after: Option<&str>,
) -> Result<(), StoreError> {
    let before = earlier_plans(run)?.pop();
    let now = plan_on_disk(run)?.unwrap_or_default();
    let before = before.unwrap_or_else(|| now.clone());
    assess_responses(
        responses,
        &run.state().findings,
        &before,
        after.unwrap_or(&now),
        &ProjectEvidence { run },
    );
    Ok(())
}

/// Loads the plan that the review before this one saw; `None` for the first review, or if it is not stored.
pub(in crate::engine) fn last_reviewed_plan(
    run: &RunContext,
) -> Result<Option<String>, StoreError> {
    let last = earlier_plans(run)?.pop();
    Ok(last.filter(|plan| !plan.is_empty()))
}

/// Loads the plans of the earlier reviews of this goal, oldest first. In RESPOND the review that is being answered is
/// the last of them.
fn earlier_plans(run: &RunContext) -> Result<Vec<String>, StoreError> {
    let state = run.state();
    let layout = run.journal.layout();
    let n_reviews = state.findings.review_count();
    let n_earlier = match state.phase {
        Phase::Respond => state.iteration,
        _ => state.iteration.saturating_sub(1),
    };
    let mut plans = Vec::new();
    for review in n_reviews.saturating_sub(n_earlier)..n_reviews {
        let stored =
            iteration_files::load_newest_version(layout, review + 1, &layout.names().plan)?;
        plans.push(String::from_utf8_lossy(&stored.unwrap_or_default()).into_owned());
    }
    Ok(plans)
}

/// Stores the plan as it was reviewed, which the user may have edited after its turn.
pub(super) fn save_reviewed_plan(run: &RunContext, iteration: u32) -> Result<(), StoreError> {
    if let Some(plan) = plan_on_disk(run)? {
        let name = &run.journal.layout().names().plan;
        iteration_files::save_version(run.journal.guard(), iteration, name, plan.as_bytes())?;
    }
    Ok(())
}

/// Reads the judgements that a session returned; those on other findings are left out.
pub(super) fn read_judgements(
    run: &RunContext,
    pending: &PendingDocument,
) -> Vec<DisputeJudgement> {
    let text = &pending.final_text;
    let block = fenced_block::find_document(text, JUDGEMENT_BLOCK);
    let judgements = review::parse_judgements(block.as_deref().unwrap_or(text));
    let is_disputed = |judgement: &DisputeJudgement| {
        let mut disputed = run.state().findings.disputed();
        disputed.any(|finding| finding.remark.n == judgement.n)
    };
    let judgements = judgements.into_iter().filter(is_disputed);
    judgements
        .map(|judgement| DisputeJudgement {
            reason: clean_to_one_line(&judgement.reason),
            ..judgement
        })
        .collect()
}

/// Files of the project, as far as the reviewer may read them.
struct ProjectEvidence<'a> {
    run: &'a RunContext,
}

impl EvidenceSource for ProjectEvidence<'_> {
    fn read_file(&self, path: &str) -> Option<String> {
        let rules = self.run.setup.permissions.rules("review");
        if !rules.allows_reading(path) {
            return None;
        }
        let reader = ScopedReader::open(&self.run.setup.root).ok()?;
        let bytes = reader.read_file(path, MAX_FILE_BYTES).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn command_output(&self, _command: &str) -> Option<String> {
        None
    }
}
