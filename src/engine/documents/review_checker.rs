//! Gathers what a review and its answers are checked against: the plans of earlier reviews, files of the project, and
//! the commands that the agent ran.
//!
//! A file that the rules do not let an agent read is not read here either: what was found goes back to the agent.

use crate::adapter::CallReports;
use crate::domain::findings::evidence::EvidenceSource;
use crate::domain::findings::plan_files::named_files;
use crate::domain::findings::review_facts::{
    ReviewFacts, ReviewSources, assess_responses, assess_review,
};
use crate::domain::findings::{DisputeJudgement, FindingResponse};
use crate::domain::phase::Phase;
use crate::domain::plan::file_hash;
use crate::domain::review::{self, ReviewDocument};
use crate::domain::turn::Role;
use crate::engine::run_context::RunContext;
use crate::engine::turn_calls::{TurnCalls, read_project_file};
use crate::store::{StoreError, iteration_files};
use crate::text::{clean_to_one_line, fenced_block, front_matter};

use super::{PendingDocument, plan_on_disk};

/// How many files the reviewer is asked to open at most.
const MAX_UNOPENED_FILES: usize = 20;
/// The name of the block in which a session returns its judgement of a dispute.
const JUDGEMENT_BLOCK: &str = "judgement";

/// Finds out what can be known of a review.
pub(super) fn assess(
    run: &RunContext,
    calls: &TurnCalls,
    review: &ReviewDocument,
) -> Result<ReviewFacts, StoreError> {
    let plan = plan_on_disk(run)?.unwrap_or_default();
    let sources = ReviewSources {
        plan: &plan,
        earlier_plans: &earlier_plans(run)?,
        evidence: &ProjectEvidence { run, calls },
        unopened: unopened_files(run, &plan),
    };
    Ok(assess_review(review, &run.state().findings, &sources))
}

/// Returns the files that the plan names and that the reviewer did not open as they are now; `None` where its calls are
/// not seen.
fn unopened_files(run: &RunContext, plan: &str) -> Option<Vec<String>> {
    let adapter = run.role_adapter(Role::Reviewer).ok()?;
    if adapter.traits().call_reports == CallReports::NoCalls {
        return None;
    }
    let rules = run.setup.permissions.rules("review");
    let root = &run.setup.root;
    let workdir = run.journal.layout().workdir();
    let opened = &run.state().opened_files;
    let is_unopened = |path: &String| {
        // What is no text cannot be read line by line.
        let text = read_project_file(root, path).filter(|bytes| !bytes.contains(&0));
        let is_ours = root.join(path).starts_with(workdir);
        let may_read = !is_ours && rules.allows_reading(path);
        may_read && text.is_some_and(|text| opened.get(path) != Some(&file_hash(&text)))
    };
    let body = front_matter::parse_document(plan).body;
    let named = named_files(body).into_iter().filter(is_unopened);
    Some(named.take(MAX_UNOPENED_FILES).collect())
}

/// Checks the planner's answers; `after` is the plan that it returned.
pub(super) fn check_responses(
    run: &RunContext,
    calls: &TurnCalls,
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
        &ProjectEvidence { run, calls },
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

/// Files of the project, as far as the reviewer may read them, and what the turn's commands printed.
struct ProjectEvidence<'a> {
    run: &'a RunContext,
    calls: &'a TurnCalls,
}

impl EvidenceSource for ProjectEvidence<'_> {
    fn read_file(&self, path: &str) -> Option<String> {
        let rules = self.run.setup.permissions.rules("review");
        if !rules.allows_reading(path) {
            return None;
        }
        let bytes = read_project_file(&self.run.setup.root, path)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn command_output(&self, command: &str) -> Option<String> {
        self.calls.command_output(command).map(str::to_owned)
    }
}
