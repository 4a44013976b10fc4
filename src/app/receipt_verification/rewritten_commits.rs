//! Finds the commits that replace those of a run after an amend, a rebase or a squash: they end with the run's last tree.

use std::collections::BTreeSet;
use std::slice;

use crate::domain::receipt_chain::{BreakCause, ChainBreak, LinkKind, StepLink};
use crate::engine::git::{CommitRecord, ReceiptTrailer};

use super::StoredChain;
use super::linked_commits::LinkedCommit;

/// Returns whether commits of a run are not where they were.
pub(super) fn is_rewritten(breaks: &[ChainBreak]) -> bool {
    breaks.iter().any(|found| {
        matches!(
            found.cause,
            BreakCause::RewrittenCommit(_)
                | BreakCause::MissingCommit(_)
                | BreakCause::CopiedTrailer { .. }
        )
    })
}

/// Finds the chain whose last tree the range ends with, although its last commit is not in the range: the range was
/// squashed or rebased.
pub(super) fn find_replaced_chain(
    records: &[CommitRecord],
    chains: &[StoredChain],
    linked: &[Vec<LinkedCommit<'_>>],
) -> Option<usize> {
    let last = records.last()?;
    let in_range: BTreeSet<&str> = records.iter().map(|record| record.id.0.as_str()).collect();
    (0..chains.len()).find(|at| {
        let chain = &chains[*at];
        let last_commit = linked[*at]
            .iter()
            .rev()
            .find(|commit| commit.step.is_some());
        chain.reading.breaks.is_empty()
            && last_tree(chain) == Some(last.tree.0.as_str())
            && last_commit.is_none_or(|commit| !in_range.contains(commit.id))
    })
}

/// Compares the trailers of a rewritten commit with the steps whose receipts they name.
pub(super) fn copied_trailer_breaks(record: &CommitRecord, chain: &StoredChain) -> Vec<BreakCause> {
    let trailers = &record.trailers;
    // The messages of squashed commits may be cut anywhere.
    let n = trailers.receipts.len();
    if trailers.steps.len() != n || trailers.plans.len() != n {
        return Vec::new();
    }
    let hashes = &chain.reading.hashes;
    let is_unknown = |receipt: &&String| !hashes.iter().any(|hash| hash.as_str() == **receipt);
    if let Some(receipt) = trailers.receipts.iter().find(is_unknown) {
        return vec![BreakCause::UnknownReceipt {
            commit: record.id.0.clone(),
            subject: record.subject.clone(),
            receipt: receipt.clone(),
        }];
    }
    let step_after = |receipt: &String| {
        let hashes = chain.reading.hashes.iter();
        let mut after = hashes
            .zip(1_u32..)
            .skip_while(|(hash, _)| hash.as_str() != receipt);
        let (_, number) = after.next()?;
        let mut later = chain.links().iter().filter(|link| link.number > number);
        later.find_map(|link| link.kind.try_as_step_ref())
    };
    let named = trailers.receipts.iter().zip(&trailers.steps);
    let wrong = named
        .zip(&trailers.plans)
        .flat_map(|((receipt, step), plan)| {
            other_step_trailers(
                step_after(receipt),
                slice::from_ref(step),
                slice::from_ref(plan),
            )
        });
    other_trailer_breaks(record, wrong)
}

/// Lists the lines of those trailers that do not name a step and its plan; all of them where there is no step.
pub(super) fn other_step_trailers<'a>(
    meant: Option<&'a StepLink>,
    steps: &'a [String],
    plans: &'a [String],
) -> impl Iterator<Item = String> + use<'a> {
    let is_step = move |value: &&String| meant.is_some_and(|step| step.step.to_string() == **value);
    let is_plan =
        move |value: &&String| meant.is_some_and(|step| step.plan_sha256.as_str() == **value);
    let steps = steps.iter().filter(move |value| !is_step(value));
    let plans = plans.iter().filter(move |value| !is_plan(value));
    let steps = steps.map(|value| ReceiptTrailer::Step.line(value));
    steps.chain(plans.map(|value| ReceiptTrailer::Plan.line(value)))
}

/// Returns a break for each line of a commit's trailers that should say something else.
pub(super) fn other_trailer_breaks(
    record: &CommitRecord,
    lines: impl Iterator<Item = String>,
) -> Vec<BreakCause> {
    let to_break = |trailer| BreakCause::OtherTrailer {
        commit: record.id.0.clone(),
        trailer,
    };
    lines.map(to_break).collect()
}

/// Returns the tree that the run ended with; `None` where its last change was an undo.
pub(super) fn last_tree(chain: &StoredChain) -> Option<&str> {
    let last = chain
        .links()
        .iter()
        .rev()
        .find_map(|link| match &link.kind {
            LinkKind::Undo(_) | LinkKind::Redo(_) => Some(None),
            kind => Some(Some(kind.try_as_step_ref()?.tree_after.as_str())),
        });
    last.flatten()
}

/// Finds the last of some commits that has the last tree of a chain.
pub(super) fn find_last_tree<'a>(
    records: &'a [CommitRecord],
    chain: &StoredChain,
) -> Option<&'a CommitRecord> {
    let tree = last_tree(chain)?;
    records.iter().rev().find(|record| record.tree.0 == tree)
}

/// Says what probably happened to a run's commits, and which range to verify.
pub(super) fn rewrite_hint(from: &str, to: &str) -> String {
    format!(
        "the run's commits were probably amended, rebased or squashed: try `agent-collab verify {from}..{to}`, \
         which compares the last trees"
    )
}

/// Returns as much of a commit's id as a command needs.
pub(super) fn short_id(id: &str) -> String {
    id.chars().take(12).collect()
}

/// Formats a commit as its short id and the first line of its message.
pub(super) fn describe_commit(record: &CommitRecord) -> String {
    let id: String = record.id.0.chars().take(7).collect();
    format!("{id} {}", record.subject)
}
