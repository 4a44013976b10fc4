//! Verifies a range of commits: finds the receipts of each commit among the runs of the repository.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::domain::receipt_chain::{BreakCause, ChainBreak, read_notes};
use crate::engine::git::{CommitRecord, GitRepository, NOTES_REF};
use crate::engine::stored_run::load_partial_run;
use crate::store::run_archives::list_archives;
use crate::store::{WorkdirLayout, receipt_files};

use super::linked_commits::{LinkedCommit, list_linked_commits, record_breaks};
use super::outside_commits::find_outside_commits;
use super::rewritten_commits::{
    copied_trailer_breaks, describe_commit, find_last_tree, find_replaced_chain, is_rewritten,
    rewrite_hint, short_id,
};
use super::{StoredChain, VerificationReport, git_failed};
use crate::app::startup::StartError;

/// A commit of the range and what the chains know of it.
enum CommitMatch<'a> {
    /// A receipt of the chain with this index names it.
    Linked {
        chain: usize,
        commit: &'a LinkedCommit<'a>,
    },
    /// No receipt names it, but its trailer names a receipt.
    CopiedTrailer,
    /// Its trailer names a receipt that is in no chain here.
    UnknownReceipt(&'a str),
    NoReceipt,
}

/// Verifies the commits of `A..B`; an empty side is HEAD.
///
/// # Errors
/// A side is no commit, the range is empty, no run has receipts, or git fails.
pub async fn verify_range(
    layout: &WorkdirLayout,
    git: &GitRepository,
    range: &str,
) -> Result<VerificationReport, StartError> {
    let records = load_commits(git, range).await?;
    let mut report = VerificationReport::default();
    let mut chains = load_chains(layout, git, &mut report.unreadable).await?;
    if chains.is_empty() {
        return Err(StartError::new("no run here has receipts", fetch_hint()));
    }
    let linked: Vec<Vec<LinkedCommit<'_>>> = chains.iter().map(list_linked_commits).collect();
    let matches = match_commits(&records, &chains, &linked);
    let replaced = find_replaced_chain(&records, &chains, &linked);
    let outside = find_outside_commits(&records, &chains, &linked);
    let mut found: BTreeMap<usize, Vec<ChainBreak>> = BTreeMap::new();
    for (record, matched) in records.iter().zip(&matches) {
        match (matched, replaced) {
            (CommitMatch::Linked { chain, commit }, _) => {
                let causes = record_breaks(commit, record, &chains[*chain].reading.hashes);
                let of_receipt = |cause| ChainBreak::of_receipt(commit.receipt, cause);
                let breaks = found.entry(*chain).or_default();
                breaks.extend(causes.into_iter().map(of_receipt));
            }
            (CommitMatch::CopiedTrailer | CommitMatch::NoReceipt, Some(chain)) => {
                report.rewritten.push(describe_commit(record));
                let causes = copied_trailer_breaks(record, &chains[chain]);
                let breaks = causes.into_iter().map(ChainBreak::of_chain);
                found.entry(chain).or_default().extend(breaks);
            }
            (CommitMatch::NoReceipt, None) if outside.contains(record.id.0.as_str()) => {
                report.outside.push(describe_commit(record));
            }
            (
                CommitMatch::CopiedTrailer
                | CommitMatch::UnknownReceipt(_)
                | CommitMatch::NoReceipt,
                _,
            ) => {
                let cause = unmatched_cause(record, matched);
                report.breaks.push(ChainBreak::of_chain(cause));
            }
        }
    }
    if let Some(chain) = replaced {
        found.entry(chain).or_default();
    }
    report.hint = find_hint(&report.breaks, range, &records, &chains);
    let in_range: BTreeSet<&str> = records.iter().map(|record| record.id.0.as_str()).collect();
    let reported: Vec<usize> = found.keys().copied().collect();
    for (at, breaks) in found {
        let mut checked = chains[at].check(&mut report.unreadable);
        checked.breaks.extend(breaks);
        // The rest of the plan is not in question here.
        checked.steps_without_receipt.clear();
        checked.n_unlogged = 0;
        if replaced != Some(at) {
            let is_in_range = |id: &String| in_range.contains(id.as_str());
            checked
                .steps
                .retain(|step| step.commit.as_ref().is_some_and(is_in_range));
        }
        report.chains.push(checked);
    }
    for (at, chain) in reported.into_iter().zip(&mut report.chains) {
        chain.links = std::mem::take(&mut chains[at].reading.links);
    }
    Ok(report)
}

/// Says what to try where the breaks of a range may come from a part of it, or from notes that are not here.
fn find_hint(
    breaks: &[ChainBreak],
    range: &str,
    records: &[CommitRecord],
    chains: &[StoredChain],
) -> Option<String> {
    let is_unknown = |found: &ChainBreak| matches!(found.cause, BreakCause::UnknownReceipt { .. });
    if breaks.iter().any(is_unknown) {
        return Some(format!(
            "its receipts may be in git notes: {}",
            fetch_hint()
        ));
    }
    let (from, _) = range.split_once("..")?;
    let mut ends = chains
        .iter()
        .filter_map(|chain| find_last_tree(records, chain));
    let end = ends.next().filter(|_| is_rewritten(breaks))?;
    let is_shorter = records.last().is_some_and(|last| last.id != end.id);
    is_shorter.then(|| rewrite_hint(from, &short_id(&end.id.0)))
}

fn fetch_hint() -> String {
    format!("`git fetch origin {NOTES_REF}:{NOTES_REF}` gets the receipts of a clone's commits")
}

async fn load_commits(git: &GitRepository, range: &str) -> Result<Vec<CommitRecord>, StartError> {
    let history = git.history();
    let (from, to) = range.split_once("..").unwrap_or((range, ""));
    let sides = [from, to].map(|side| if side.is_empty() { "HEAD" } else { side });
    let found = history.resolve_commits(&sides.map(str::to_owned)).await;
    let mut found = found.map_err(git_failed)?.into_iter();
    let mut side = |name: &str| {
        found.next().flatten().ok_or_else(|| StartError {
            code: 2,
            ..StartError::new(
                format!("`{name}` is no commit of this repository"),
                "name a range as git does: main..HEAD",
            )
        })
    };
    let (from, to) = (side(sides[0])?, side(sides[1])?);
    let records = history.list_commits(&[to.commit], Some(&from.commit)).await;
    let records = records.map_err(git_failed)?;
    if records.is_empty() {
        return Err(StartError::new(format!("no commits in {range}"), ""));
    }
    Ok(records)
}

/// Loads the chains of the current run, of all archived ones, and those that only notes have.
async fn load_chains(
    layout: &WorkdirLayout,
    git: &GitRepository,
    unreadable: &mut Vec<String>,
) -> Result<Vec<StoredChain>, StartError> {
    let notes = git.notes().load(None).await.map_err(git_failed)?;
    let mut noted = read_notes(&notes);
    let mut chains = load_stored_chains(layout, unreadable)?;
    for chain in &mut chains {
        if let Some(noted) = noted.remove(&chain.run) {
            chain.compare_with_notes(&noted);
        }
    }
    let from_notes = noted.into_iter();
    chains.extend(from_notes.map(|(run, noted)| StoredChain::from_notes(run, noted)));
    Ok(chains)
}

fn load_stored_chains(
    layout: &WorkdirLayout,
    unreadable: &mut Vec<String>,
) -> Result<Vec<StoredChain>, StartError> {
    let archives = list_archives(layout)?.into_iter();
    let layouts = [layout.clone()]
        .into_iter()
        .chain(archives.map(|archive| archive.layout));
    let mut chains = Vec::new();
    for layout in layouts {
        let runs = receipt_files::list_runs(&layout).unwrap_or_else(|error| {
            unreadable.push(error.to_string());
            Vec::new()
        });
        for run in runs {
            let state = load_partial_run(&layout).ok().flatten();
            match StoredChain::load(&layout, run, state.map(|found| found.state)) {
                Ok(chain) => chains.push(chain),
                Err(error) => unreadable.push(error.to_string()),
            }
        }
    }
    Ok(chains)
}

fn match_commits<'a>(
    records: &'a [CommitRecord],
    chains: &'a [StoredChain],
    linked: &'a [Vec<LinkedCommit<'a>>],
) -> Vec<CommitMatch<'a>> {
    let mut by_id = HashMap::new();
    for (chain, commits) in linked.iter().enumerate() {
        for commit in commits {
            by_id.insert(commit.id, (chain, commit));
        }
    }
    let hashes = chains.iter().flat_map(|chain| &chain.reading.hashes);
    let receipts: BTreeSet<&str> = hashes.map(|hash| hash.as_str()).collect();
    let match_one = |record: &'a CommitRecord| {
        if let Some((chain, commit)) = by_id.get(record.id.0.as_str()) {
            return CommitMatch::Linked {
                chain: *chain,
                commit,
            };
        }
        let named = &record.trailers.receipts;
        let unknown = named.iter().find(|hash| !receipts.contains(hash.as_str()));
        match (named.is_empty(), unknown) {
            (true, _) => CommitMatch::NoReceipt,
            (false, Some(hash)) => CommitMatch::UnknownReceipt(hash),
            (false, None) => CommitMatch::CopiedTrailer,
        }
    };
    records.iter().map(match_one).collect()
}

fn unmatched_cause(record: &CommitRecord, matched: &CommitMatch<'_>) -> BreakCause {
    let (commit, subject) = (record.id.0.clone(), record.subject.clone());
    match matched {
        CommitMatch::CopiedTrailer => BreakCause::CopiedTrailer {
            commit,
            subject,
            step: record.trailers.steps.join(", "),
        },
        CommitMatch::UnknownReceipt(receipt) => BreakCause::UnknownReceipt {
            commit,
            subject,
            receipt: (*receipt).to_owned(),
        },
        CommitMatch::Linked { .. } | CommitMatch::NoReceipt => {
            BreakCause::NoReceipt { commit, subject }
        }
    }
}
