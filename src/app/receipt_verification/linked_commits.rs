//! Compares the commits that a chain names with the repository: they are there, on a branch, and none is between them.

use std::collections::{BTreeSet, HashMap};

use crate::domain::ids::Sha256;
use crate::domain::plan_execution::PlanExecution;
use crate::domain::question::CommitTarget;
use crate::domain::receipt_chain::{BreakCause, ChainBreak, LinkKind, StepLink};
use crate::engine::git::{CommitId, CommitRecord, CommitTree, GitError, GitRepository};

use super::StoredChain;

/// A commit that a receipt names.
pub(super) struct LinkedCommit<'a> {
    /// The number of the receipt.
    pub(super) receipt: u32,
    pub(super) id: &'a str,
    /// The step that it is the commit of.
    pub(super) step: Option<&'a StepLink>,
}

/// Lists the commits of a chain in the order of its receipts.
pub(super) fn list_linked_commits(chain: &StoredChain) -> Vec<LinkedCommit<'_>> {
    let mut linked = Vec::new();
    for link in chain.links() {
        let step = match &link.kind {
            LinkKind::Step(step) => Some(step),
            LinkKind::Approval(_)
            | LinkKind::Extension(_)
            | LinkKind::Versions(_)
            | LinkKind::Check(_)
            | LinkKind::Undo(_)
            | LinkKind::Redo(_)
            | LinkKind::UsersCommits(_)
            | LinkKind::Unknown(_) => None,
        };
        linked.extend(link.kind.commits().iter().map(|id| LinkedCommit {
            receipt: link.number,
            id,
            step,
        }));
    }
    linked
}

/// Compares all commits of a run with the repository, in two calls of git.
pub(super) async fn check_commits(
    git: &GitRepository,
    chain: &StoredChain,
) -> Result<Vec<ChainBreak>, GitError> {
    let linked = list_linked_commits(chain);
    let approval = chain.links().iter().find_map(|link| match &link.kind {
        LinkKind::Approval(approval) => Some((link.number, approval.base.as_deref())),
        _ => None,
    });
    let base = approval.and_then(|(_, base)| base);
    let branch = run_branch(chain).map(|branch| format!("refs/heads/{branch}"));
    let revisions: Vec<String> = ["HEAD".to_owned()]
        .into_iter()
        .chain([
            branch.unwrap_or_default(),
            base.unwrap_or_default().to_owned(),
        ])
        .chain(linked.iter().map(|commit| commit.id.to_owned()))
        .collect();
    let mut found = git.resolve_commits(&revisions).await?.into_iter();
    let mut next = || found.next().flatten();
    let tips: BTreeSet<String> = [next(), next()]
        .into_iter()
        .flatten()
        .map(|tip| tip.commit.0)
        .collect();
    let tips: Vec<CommitId> = tips.into_iter().map(CommitId).collect();
    // A receipt names commits by their whole ids.
    let base_commit = next().filter(|found| Some(found.commit.0.as_str()) == base);
    let base_commit = base_commit.map(|found| found.commit);
    let records = git.list_commits(&tips, base_commit.as_ref()).await?;
    let by_id: HashMap<&str, &CommitRecord> = records
        .iter()
        .map(|record| (record.id.0.as_str(), record))
        .collect();
    let mut breaks = Vec::new();
    for commit in &linked {
        let resolved = next().filter(|found| found.commit.0 == commit.id);
        let record = by_id.get(commit.id).copied();
        let causes = commit_breaks(commit, resolved.as_ref(), record, chain);
        let of_receipt = |cause| ChainBreak::of_receipt(commit.receipt, cause);
        breaks.extend(causes.into_iter().map(of_receipt));
    }
    match approval {
        Some((receipt, Some(base))) if base_commit.is_none() => {
            let cause = BreakCause::MissingBase(base.to_owned());
            breaks.push(ChainBreak::of_receipt(receipt, cause));
        }
        Some(_) => breaks.extend(unlinked_breaks(&linked, &records, &by_id)),
        // Without an approval nobody knows where the run began, which is a break of its own.
        None => {}
    }
    Ok(breaks)
}

/// Returns the branch that the run commits to.
fn run_branch(chain: &StoredChain) -> Option<&str> {
    let execution: &PlanExecution = chain.state.as_ref()?.execution.as_ref()?;
    match &execution.commits {
        CommitTarget::Off { .. } => None,
        CommitTarget::Current { branch } | CommitTarget::New { branch } => Some(branch),
    }
}

fn commit_breaks(
    commit: &LinkedCommit<'_>,
    resolved: Option<&CommitTree>,
    record: Option<&CommitRecord>,
    chain: &StoredChain,
) -> Vec<BreakCause> {
    let id = commit.id.to_owned();
    match (resolved, record) {
        (None, _) => vec![BreakCause::MissingCommit(id)],
        (Some(_), None) => vec![BreakCause::RewrittenCommit(id)],
        (Some(_), Some(record)) => record_breaks(commit, record, &chain.reading.hashes),
    }
}

/// Compares the tree and the trailers of a step's commit with the step's receipt; `hashes` are those of all receipts.
pub(super) fn record_breaks(
    commit: &LinkedCommit<'_>,
    record: &CommitRecord,
    hashes: &[Sha256],
) -> Vec<BreakCause> {
    let Some(step) = commit.step else {
        return Vec::new();
    };
    let mut causes = Vec::new();
    // Of a step without checks only the commit is known.
    if !step.tree_after.is_empty() && record.tree.0 != step.tree_after {
        causes.push(BreakCause::OtherTree {
            commit: record.id.0.clone(),
            found: record.tree.0.clone(),
            expected: step.tree_after.clone(),
        });
    }
    let n_before = usize::try_from(commit.receipt - 1).unwrap_or(usize::MAX);
    let before = &hashes[..n_before.min(hashes.len())];
    let is_before = |value: &String| before.iter().any(|hash| hash.as_str() == value);
    let trailers = &record.trailers;
    let other_steps = trailers
        .steps
        .iter()
        .filter(|value| **value != step.step.to_string());
    let other_receipts = trailers.receipts.iter().filter(|value| !is_before(value));
    let plan = step.plan_sha256.as_str();
    let other_plans = trailers.plans.iter().filter(|value| *value != plan);
    let lines = other_steps
        .map(|value| format!("Agent-Collab-Step: {value}"))
        .chain(other_receipts.map(|value| format!("Agent-Collab-Receipt: {value}")))
        .chain(other_plans.map(|value| format!("Agent-Collab-Plan: {value}")));
    causes.extend(lines.map(|trailer| BreakCause::OtherTrailer {
        commit: record.id.0.clone(),
        trailer,
    }));
    causes
}

/// Names the commits up to the last one of the chain that no receipt stands for.
fn unlinked_breaks(
    linked: &[LinkedCommit<'_>],
    records: &[CommitRecord],
    by_id: &HashMap<&str, &CommitRecord>,
) -> Vec<ChainBreak> {
    let is_linked: BTreeSet<&str> = linked.iter().map(|commit| commit.id).collect();
    // The last receipt may be of an earlier commit: a step that was redone names its own again.
    let there = linked.iter().filter_map(|commit| by_id.get(commit.id));
    let mut open: Vec<&CommitRecord> = there.copied().collect();
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    while let Some(record) = open.pop() {
        if reached.insert(&record.id.0) {
            let parents = record.parents.iter();
            open.extend(parents.filter_map(|parent| by_id.get(parent.0.as_str()).copied()));
        }
    }
    let unlinked = records.iter().filter(|record| {
        let id = record.id.0.as_str();
        reached.contains(id) && !is_linked.contains(id)
    });
    unlinked
        .map(|record| {
            ChainBreak::of_chain(BreakCause::NoReceipt {
                commit: record.id.0.clone(),
                subject: record.subject.clone(),
            })
        })
        .collect()
}
