//! Finds the commits of a range that belong to no run: those before the first or after the last commit of each run.

use std::collections::BTreeSet;

use crate::engine::git::CommitRecord;

use super::StoredChain;
use super::linked_commits::{LinkedCommit, find_ancestors, index_by_id};

/// Returns the ids of the commits that are outside of all runs and carry no trailer of one. None where the range lacks
/// a later commit of a run: then one that no receipt names may stand in its place.
pub(super) fn find_outside_commits<'a>(
    records: &'a [CommitRecord],
    chains: &[StoredChain],
    linked: &[Vec<LinkedCommit<'_>>],
) -> BTreeSet<&'a str> {
    let by_id = index_by_id(records);
    let mut of_runs = BTreeSet::new();
    for (chain, commits) in chains.iter().zip(linked) {
        let ids = commits.iter().map(|commit| commit.id);
        let ids: Vec<&str> = ids.skip_while(|id| !by_id.contains_key(*id)).collect();
        if ids.iter().any(|id| !by_id.contains_key(*id)) {
            return BTreeSet::new();
        }
        let before = find_ancestors(&by_id, &[base_commit(chain).unwrap_or_default()]);
        let of_run = find_ancestors(&by_id, &ids);
        of_runs.extend(of_run.difference(&before).copied());
    }
    if of_runs.is_empty() {
        return BTreeSet::new();
    }
    let has_trailers = |record: &CommitRecord| {
        let trailers = &record.trailers;
        let all = [&trailers.steps, &trailers.receipts, &trailers.plans];
        all.iter().any(|values| !values.is_empty())
    };
    records
        .iter()
        .filter(|record| !has_trailers(record))
        .map(|record| record.id.0.as_str())
        .filter(|id| !of_runs.contains(id))
        .collect()
}

/// Returns the commit that was checked out when the run was approved.
pub(super) fn base_commit(chain: &StoredChain) -> Option<&str> {
    let mut links = chain.links().iter();
    let approval = links.find_map(|link| link.kind.try_as_approval_ref());
    approval?.base.as_deref()
}
