//! Says which receipts a run's chain lacks: what the state of the run records and the chain does not (TRUTH.md T30).
//!
//! The state comes first, and the chain follows it, so that a kill between any two receipts loses none.

use std::collections::BTreeMap;

use super::{
    ApprovalLink, ChainLink, ChainStep, ChainStepStatus, ExtensionLink, LinkKind, ReversalLink,
    StepLink, VersionsLink, WaiverSource, list_steps,
};
use crate::domain::bound_parts::ApprovalBinding;
use crate::domain::ids::Sha256;
use crate::domain::plan_execution::{PlanExecution, StepRecord};
use crate::domain::recorded_proof::RecordedProof;
use crate::domain::run::RunState;
use crate::domain::step_proof::{ProofCell, ProofStatus};

/// What an approval's receipt names besides the plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApprovalFacts {
    /// The names of the environment variables that checks get.
    pub environment: Vec<String>,
    /// The versions of this program and of the CLIs, by name.
    pub versions: BTreeMap<String, String>,
}

/// Returns the receipts to append, in order; none where the chain says all that the state does.
pub fn missing_links(
    links: &[ChainLink],
    state: &RunState,
    facts: &ApprovalFacts,
) -> Vec<LinkKind> {
    let Some(execution) = state
        .execution
        .as_ref()
        .filter(|_| state.settings.proves_steps)
    else {
        return Vec::new();
    };
    let Some(plan_sha256) = &state.approved_sha256 else {
        return Vec::new();
    };
    let mut missing = Vec::new();
    missing.extend(missing_approval(links, execution, plan_sha256, facts));
    missing.extend(missing_extension(links, state).map(LinkKind::Extension));
    missing.extend(missing_undo(links, execution).map(LinkKind::Undo));
    missing.extend(missing_redo(links, execution).map(LinkKind::Redo));
    let recorded = list_steps(links);
    // A step that was undone and redone has its receipt, too.
    let is_recorded = |record: &StepRecord| {
        recorded
            .iter()
            .any(|step| step.step == record.n && step.commit.as_deref() == record.commit())
    };
    let new = execution.done.iter().filter(|record| !is_recorded(record));
    missing.extend(new.map(|record| LinkKind::Step(to_step_link(record, plan_sha256.clone()))));
    missing
}

/// Returns the receipt of an approval that the chain does not have as its last one, or of other versions than it names.
fn missing_approval(
    links: &[ChainLink],
    execution: &PlanExecution,
    plan_sha256: &Sha256,
    facts: &ApprovalFacts,
) -> Option<LinkKind> {
    let bound = execution.binding.iter();
    let bound = bound.flat_map(ApprovalBinding::parts_without_versions);
    let versions = execution.binding.iter().flat_map(ApprovalBinding::versions);
    let bound_versions: BTreeMap<String, String> = versions
        .map(|(name, version)| (name.to_owned(), version.to_owned()))
        .collect();
    let now = ApprovalLink {
        plan_sha256: plan_sha256.clone(),
        base: execution.base.clone(),
        test_command: execution.test.as_ref().map(|test| test.command.clone()),
        environment: facts.environment.clone(),
        versions: if bound_versions.is_empty() {
            facts.versions.clone()
        } else {
            bound_versions.clone()
        },
        bound: bound.cloned().collect(),
    };
    let is_same = |last: &ApprovalLink| {
        last.plan_sha256 == now.plan_sha256
            && (execution.binding.is_none()
                || (&last.test_command, &last.bound) == (&now.test_command, &now.bound))
    };
    let mut latest = links.iter().rev();
    let last = latest.find_map(|link| link.kind.try_as_approval_ref());
    if !last.is_some_and(is_same) {
        return Some(LinkKind::Approval(now));
    }
    let known = links.iter().rev().find_map(|link| match &link.kind {
        LinkKind::Approval(ApprovalLink { versions, .. })
        | LinkKind::Versions(VersionsLink { versions }) => Some(versions),
        _ => None,
    });
    let is_other = !bound_versions.is_empty() && known != Some(&bound_versions);
    is_other.then_some(LinkKind::Versions(VersionsLink {
        versions: bound_versions,
    }))
}

/// Returns the receipt of the answers that the chain lacks.
fn missing_extension(links: &[ChainLink], state: &RunState) -> Option<ExtensionLink> {
    let recorded = links
        .iter()
        .filter_map(|link| link.kind.try_as_extension_ref());
    let recorded = recorded.map(|extension| extension.answers.len());
    let answers = state.extensions.get(recorded.sum()..).unwrap_or_default();
    (!answers.is_empty()).then(|| ExtensionLink {
        answers: answers.to_vec(),
    })
}

/// Returns the receipt of an undo: the chain has steps that the state no longer has.
fn missing_undo(links: &[ChainLink], execution: &PlanExecution) -> Option<ReversalLink> {
    let steps = list_steps(links).into_iter();
    let steps = steps.filter(|step| step.status != ChainStepStatus::Undone);
    let is_gone = |step: &u32| execution.done.iter().all(|record| record.n != *step);
    let steps: Vec<u32> = steps.map(|step| step.step).filter(is_gone).collect();
    if steps.is_empty() {
        return None;
    }
    let commit = execution
        .undone
        .last()
        .and_then(|undone| undone.commit.clone());
    Some(ReversalLink { steps, commit })
}

/// Returns the receipt of a redo: the state has steps again that the chain has as undone.
fn missing_redo(links: &[ChainLink], execution: &PlanExecution) -> Option<ReversalLink> {
    let steps = list_steps(links).into_iter();
    let undone = steps.filter(|step| step.status == ChainStepStatus::Undone);
    let is_back = |step: &ChainStep| {
        let mut records = execution.done.iter();
        records.any(|record| record.n == step.step && record.commit() == step.commit.as_deref())
    };
    let steps: Vec<u32> = undone.filter(is_back).map(|step| step.step).collect();
    (!steps.is_empty()).then(|| ReversalLink {
        steps,
        commit: execution.redo_commit.clone(),
    })
}

fn to_step_link(record: &StepRecord, plan_sha256: Sha256) -> StepLink {
    let proof = record.proof.as_ref();
    let tree = |cell: ProofCell| {
        let run = proof.and_then(|proof| proof.found.run_of(cell));
        run.map(|run| run.tree.clone())
    };
    let (status, waived_by) = step_status(record);
    StepLink {
        step: record.n,
        text: record.text.clone(),
        plan_sha256,
        // Without cells nothing is known of the tree that was committed.
        tree_before: tree(ProofCell::Baseline).unwrap_or_default(),
        tree_after: tree(ProofCell::Green).unwrap_or_default(),
        commit: record.commit().map(str::to_owned),
        status,
        waived_by,
        checks: proof.map_or(Vec::new(), |proof| proof.found.receipts()),
        flaky: proof.map_or(Vec::new(), |proof| proof.found.flaky.first.clone()),
        summary: record.describe_tests(),
    }
}

/// Returns what a step's receipt says of its proof, and who accepted it without one.
fn step_status(record: &StepRecord) -> (ProofStatus, Option<WaiverSource>) {
    let user = |words: &str| Some(WaiverSource::User(words.to_owned()));
    if let Some(decided) = record.decided {
        let status = ProofStatus::Unproven(decided.describe().to_owned());
        return (status, user(&record.skip_reason));
    }
    match &record.proof {
        Some(RecordedProof {
            waiver: Some(reason),
            ..
        }) => (ProofStatus::Waived(reason.clone()), user(reason)),
        Some(proof) => {
            // A waiver for documentation alone needs nobody's approval.
            let is_waived = matches!(proof.status, ProofStatus::Waived(_));
            let counts = is_waived && record.unproven_reason().is_none();
            let by_plan = counts.then_some(WaiverSource::Plan);
            (proof.status.clone(), by_plan)
        }
        None => {
            let why = record.unproven_reason().unwrap_or("was not proven");
            (ProofStatus::Unproven(why.to_owned()), None)
        }
    }
}
