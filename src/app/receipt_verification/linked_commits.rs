//! Compares the commits that a chain names with the repository: they are there, on a branch, and none is between them.

use std::collections::{BTreeSet, HashMap};

use crate::domain::ids::Sha256;
use crate::domain::plan_execution::PlanExecution;
use crate::domain::question::CommitTarget;
use crate::domain::receipt_chain::{BreakCause, ChainBreak, StepLink};
use crate::engine::git::{
    CommitId, CommitRecord, CommitTree, GitError, GitRepository, ReceiptTrailer,
};

use super::StoredChain;
use super::outside_commits::base_commit;
use super::rewritten_commits::{
    copied_trailer_breaks, describe_commit, find_last_tree, is_rewritten, last_tree,
    other_step_trailers, other_trailer_breaks, rewrite_hint, short_id,
};

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
        let step = link.kind.try_as_step_ref();
        linked.extend(link.kind.commits().iter().map(|id| LinkedCommit {
            receipt: link.number,
            id,
            step,
        }));
    }
    linked
}

/// What the repository has of a run's commits.
#[derive(Default)]
pub(super) struct CommitComparison {
    pub(super) breaks: Vec<ChainBreak>,
    /// The commits that replace the run's, where they end with its last tree.
    pub(super) rewritten: Vec<String>,
    /// What to try where they do not.
    pub(super) hint: Option<String>,
}

/// Compares all commits of a run with the repository, in two calls of git.
pub(super) async fn check_commits(
    git: &GitRepository,
    chain: &StoredChain,
) -> Result<CommitComparison, GitError> {
    let history = git.history();
    let linked = list_linked_commits(chain);
    let approval = chain.links().iter().find_map(|link| {
        let approval = link.kind.try_as_approval_ref()?;
        Some((link.number, approval.base.as_deref()))
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
    let mut found = history.resolve_commits(&revisions).await?.into_iter();
    let mut next = || found.next().flatten();
    let tips = [next(), next()].into_iter().flatten();
    let tips: Vec<CommitTree> = tips.collect();
    let tip_ids: BTreeSet<&str> = tips.iter().map(|tip| tip.commit.0.as_str()).collect();
    let tip_ids: Vec<CommitId> = tip_ids
        .into_iter()
        .map(|id| CommitId(id.to_owned()))
        .collect();
    // A receipt names commits by their whole ids.
    let base_commit = next().filter(|found| Some(found.commit.0.as_str()) == base);
    let base_commit = base_commit.map(|found| found.commit);
    let records = history.list_commits(&tip_ids, base_commit.as_ref()).await?;
    let by_id = index_by_id(&records);
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
        Some(_) => {
            // The last receipt may be of an earlier commit: a step that was redone names its own again.
            let own: Vec<&str> = linked.iter().map(|commit| commit.id).collect();
            breaks.extend(
                list_unlinked(&linked, &records, &own)
                    .into_iter()
                    .map(|record| {
                        ChainBreak::of_chain(BreakCause::NoReceipt {
                            commit: record.id.0.clone(),
                            subject: record.subject.clone(),
                        })
                    }),
            );
        }
        // Without an approval nobody knows where the run began, which is a break of its own.
        None => {}
    }
    Ok(if is_rewritten(&breaks) {
        compare_rewritten(chain, breaks, &linked, &records, &tips)
    } else {
        CommitComparison {
            breaks,
            ..CommitComparison::default()
        }
    })
}

/// Looks for commits that replace those of the run.
fn compare_rewritten(
    chain: &StoredChain,
    breaks: Vec<ChainBreak>,
    linked: &[LinkedCommit<'_>],
    records: &[CommitRecord],
    tips: &[CommitTree],
) -> CommitComparison {
    let is_whole = chain.reading.breaks.is_empty() && breaks.iter().all(is_of_rewriting);
    let last_tree = last_tree(chain).filter(|_| is_whole);
    let mut tips = tips.iter();
    if let Some(tip) = tips.find(|tip| last_tree == Some(tip.tree.0.as_str())) {
        let rewritten = list_unlinked(linked, records, &[tip.commit.0.as_str()]);
        let causes = rewritten
            .iter()
            .flat_map(|record| copied_trailer_breaks(record, chain));
        return CommitComparison {
            breaks: causes.map(ChainBreak::of_chain).collect(),
            rewritten: rewritten.into_iter().map(describe_commit).collect(),
            ..CommitComparison::default()
        };
    }
    let end = find_last_tree(records, chain).map(|record| short_id(&record.id.0));
    let from = base_commit(chain).map_or("A".to_owned(), short_id);
    let to = end.as_deref().unwrap_or("HEAD");
    CommitComparison {
        hint: is_whole.then(|| rewrite_hint(&from, to)),
        breaks,
        ..CommitComparison::default()
    }
}

/// Returns whether a break is nothing but a commit that another one replaces.
fn is_of_rewriting(found: &ChainBreak) -> bool {
    matches!(
        found.cause,
        BreakCause::RewrittenCommit(_)
            | BreakCause::MissingCommit(_)
            | BreakCause::NoReceipt { .. }
    )
}

/// Returns the branch that the run commits to.
fn run_branch(chain: &StoredChain) -> Option<&str> {
    let execution: &PlanExecution = chain.state.as_ref()?.execution.as_ref()?;
    match &execution.commits {
        CommitTarget::Off { .. } => None,
        CommitTarget::Current { branch } | CommitTarget::New { branch, .. } => Some(branch),
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
    let receipts = trailers.receipts.iter().filter(|value| !is_before(value));
    let lines = other_step_trailers(Some(step), &trailers.steps, &trailers.plans)
        .chain(receipts.map(|value| ReceiptTrailer::Receipt.line(value)));
    causes.extend(other_trailer_breaks(record, lines));
    causes
}

/// Finds commits by their ids.
pub(super) fn index_by_id(records: &[CommitRecord]) -> HashMap<&str, &CommitRecord> {
    let by_id = records.iter().map(|record| (record.id.0.as_str(), record));
    by_id.collect()
}

/// Returns the commits among `by_id` that lead to some commits, with these.
pub(super) fn find_ancestors<'a>(
    by_id: &HashMap<&'a str, &'a CommitRecord>,
    commits: &[&str],
) -> BTreeSet<&'a str> {
    let there = commits.iter().filter_map(|id| by_id.get(*id));
    let mut open: Vec<&CommitRecord> = there.copied().collect();
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    while let Some(record) = open.pop() {
        if reached.insert(&record.id.0) {
            let parents = record.parents.iter();
            open.extend(parents.filter_map(|parent| by_id.get(parent.0.as_str()).copied()));
        }
    }
    reached
}

/// Lists the commits among `records` that lead to some commits and that no receipt stands for.
fn list_unlinked<'a>(
    linked: &[LinkedCommit<'_>],
    records: &'a [CommitRecord],
    commits: &[&str],
) -> Vec<&'a CommitRecord> {
    let is_linked: BTreeSet<&str> = linked.iter().map(|commit| commit.id).collect();
    let reached = find_ancestors(&index_by_id(records), commits);
    let unlinked = records.iter().filter(|record| {
        let id = record.id.0.as_str();
        reached.contains(id) && !is_linked.contains(id)
    });
    unlinked.collect()
}
