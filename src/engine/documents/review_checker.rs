//! Gathers what a review, its answers and a blocked step are checked against: the plans of earlier reviews, files of
//! the project, and the commands that the agent ran.
//!
//! A file that the rules do not let an agent read is not read here either: what was found goes back to the agent.

use crate::adapter::CallReports;
use crate::domain::findings::evidence::{EvidenceSource, check_obstacle};
use crate::domain::findings::plan_blocks::{BlockLabel, PlanBlocks};
use crate::domain::findings::plan_files::named_files;
use crate::domain::findings::review_facts::{
    ReviewFacts, ReviewSources, assess_responses, assess_review,
};
use crate::domain::findings::{DisputeJudgement, FindingResponse};
use crate::domain::ids::Sha256;
use crate::domain::phase::Phase;
use crate::domain::plan::{approval_hash, file_hash};
use crate::domain::review::{self, ReviewDocument};
use crate::domain::step_result::{StepResult, StepResultKind};
use crate::domain::turn::Role;
use crate::engine::run_context::RunContext;
use crate::engine::turn_calls::{TurnCalls, read_project_file};
use crate::store::{StoreError, iteration_files};
use crate::text::{clean_to_one_line, fenced_block};

use super::document_sanitizer::clean_check;
use super::{PendingDocument, plan_on_disk};

/// How many files the reviewer is asked to open at most.
const MAX_UNOPENED_FILES: usize = 20;

/// Finds out what can be known of a review.
pub(super) fn assess(
    run: &RunContext,
    calls: &TurnCalls,
    review: &ReviewDocument,
) -> Result<ReviewFacts, StoreError> {
    let plan = plan_in_review(run)?.unwrap_or_default();
    let sources = ReviewSources {
        plan: &plan,
        earlier_plans: &earlier_plans(run)?,
        evidence: &ProjectEvidence { run, calls },
        unopened: unopened_files(run, &plan),
    };
    Ok(assess_review(review, &run.state().findings, &sources))
}

/// Returns the files that the plan names and that the reviewer did not open as they are now; `None` where its calls are
/// not seen. Steps that have ended are not reviewed, so their files do not count.
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
    let ended = run.state().ended_steps();
    let ended: Vec<BlockLabel> = ended.map(|record| BlockLabel::Step(record.n)).collect();
    let blocks = PlanBlocks::parse(plan);
    let reviewed = blocks
        .all()
        .iter()
        .filter(|block| !ended.contains(&block.label));
    let texts: Vec<String> = reviewed
        .map(|block| format!("{} {}", block.label, block.text))
        .collect();
    let named = named_files(&texts.join("\n"))
        .into_iter()
        .filter(is_unopened);
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

/// Checks what a blocked step's agent quotes. A plan that cannot be read now is no source.
pub(in crate::engine) fn check_step_result(
    run: &RunContext,
    calls: &TurnCalls,
    result: &mut StepResult,
) {
    if result.kind != StepResultKind::Blocked {
        return;
    }
    let plan = plan_on_disk(run).ok().flatten().unwrap_or_default();
    let current = run
        .state()
        .execution
        .iter()
        .find_map(|e| e.current.as_ref());
    let step = current.map_or("", |current| current.text.as_str());
    let source = ProjectEvidence { run, calls };
    let mut check = check_obstacle(&result.text, step, &plan, &source, calls.commands());
    clean_check(&mut check);
    result.check = Some(check);
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
    let n_reviews = state.findings.review_count();
    let n_earlier = match state.phase {
        Phase::Respond => state.iteration,
        _ => state.iteration.saturating_sub(1),
    };
    let mut plans = Vec::new();
    for review in n_reviews.saturating_sub(n_earlier) + 1..=n_reviews {
        let reviewed = state.reviewed_plans.get(&review);
        plans.push(stored_plan(run, review, reviewed)?.unwrap_or_default());
    }
    Ok(plans)
}

/// Loads the plan that the current review is about, which the user may have edited since it was sent.
fn plan_in_review(run: &RunContext) -> Result<Option<String>, StoreError> {
    let now = plan_on_disk(run)?;
    let sent = run.state().reviewing.as_ref();
    let is_sent = |plan: &String| sent.is_none_or(|sent| approval_hash(plan) == *sent);
    if now.as_ref().is_some_and(is_sent) {
        return Ok(now);
    }
    let stored = stored_plan(run, run.next_iteration(), sent)?;
    Ok(stored.or(now))
}

/// Loads the stored plan with this approval hash, or the newest one up to a review whose hash is not known.
fn stored_plan(
    run: &RunContext,
    review: u32,
    hash: Option<&Sha256>,
) -> Result<Option<String>, StoreError> {
    let layout = run.journal.layout();
    let is_sought = |bytes: &[u8]| {
        hash.is_none_or(|hash| approval_hash(&String::from_utf8_lossy(bytes)) == *hash)
    };
    let found =
        iteration_files::load_version_until(layout, review, &layout.names().plan, is_sought)?;
    Ok(found.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Reads the judgements that a session returned; those on other findings are left out.
pub(super) fn read_judgements(
    run: &RunContext,
    pending: &PendingDocument,
) -> Vec<DisputeJudgement> {
    let text = &pending.final_text;
    let block = fenced_block::find_document(text, review::JUDGEMENT_BLOCK);
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
