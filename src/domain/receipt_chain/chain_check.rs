//! Checks that a chain of receipts is whole, and that its receipts fit each other.
//!
//! Does not look at commits or outputs: `app::receipt_verification` compares those with the repository.

use std::collections::BTreeSet;
use std::fmt;

use thiserror::Error;

use super::{ChainLink, LinkKind, LinkParseError, parse_link};
use crate::domain::ids::{RunId, Sha256};
use crate::domain::plan::file_hash;

/// Something that is wrong with a chain, or with what its receipts stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainBreak {
    /// The number of the receipt by its place in the chain; `None` where it is about the whole chain or a commit.
    pub receipt: Option<u32>,
    pub cause: BreakCause,
}

impl ChainBreak {
    /// Creates a break of one receipt.
    pub fn of_receipt(number: u32, cause: BreakCause) -> Self {
        Self {
            receipt: Some(number),
            cause,
        }
    }

    /// Creates a break of the whole chain, or of a commit.
    pub fn of_chain(cause: BreakCause) -> Self {
        Self {
            receipt: None,
            cause,
        }
    }
}

impl fmt::Display for ChainBreak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.receipt {
            Some(number) => write!(f, "receipt {number}: {}", self.cause),
            None => self.cause.fmt(f),
        }
    }
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BreakCause {
    #[error(transparent)]
    Bytes(#[from] LinkParseError),
    #[error("it has the number {0}")]
    WrongNumber(u32),
    #[error("it belongs to the run {0}")]
    OtherRun(RunId),
    #[error("the hash that it names is not that of receipt {0}, so one of the two was changed")]
    WrongPrevious(u32),
    #[error("it is the first, but it names a receipt before it")]
    MissingPrevious,
    #[error("the log names another head of the chain: {0}")]
    WrongHead(Sha256),
    #[error("it comes after receipt {0}, which is the head of the chain by the log")]
    AfterHead(u32),
    #[error("the log names the head {0} of a chain, and there are no receipts")]
    NoReceipts(Sha256),
    #[error("no approval comes before this step")]
    NoApproval,
    #[error("the step belongs to the plan {step}, and the plan {approved} is approved")]
    OtherPlan { step: Sha256, approved: Sha256 },
    #[error("it names receipt {0} as a check, and that is none")]
    NotCheck(u32),
    #[error("the output {0} is missing")]
    MissingOutput(Sha256),
    #[error("the output {0} was changed")]
    ChangedOutput(Sha256),
    #[error("the notes have another receipt with this number")]
    OtherNotedReceipt,
    #[error("the notes have it, and it is not among the receipts here")]
    OnlyNotedReceipt,
    #[error("the notes have two receipts with this number")]
    TwoNotedReceipts,
    #[error("the note of the commit {commit} has a line that is no receipt: {why}")]
    NoteLine { commit: String, why: String },
    #[error("run again, the {cell} check of step {step} is another: {what}")]
    OtherResult {
        step: u32,
        cell: &'static str,
        what: String,
    },
    #[error("the base commit {0} is not in the repository")]
    MissingBase(String),
    #[error("the commit {0} is not in the repository")]
    MissingCommit(String),
    #[error("the commit {0} is on neither HEAD nor the run's branch: it was amended or rewritten")]
    RewrittenCommit(String),
    #[error("the commit {commit} has the tree {found}, and the receipt has {expected}")]
    OtherTree {
        commit: String,
        found: String,
        expected: String,
    },
    #[error("the commit {commit} says `{trailer}`, and the receipt does not")]
    OtherTrailer { commit: String, trailer: String },
    #[error("the commit {commit} (\"{subject}\") has no receipt")]
    NoReceipt { commit: String, subject: String },
    #[error(
        "the commit {commit} (\"{subject}\") carries a trailer of step {step} and is not its commit: it was amended or rewritten"
    )]
    CopiedTrailer {
        commit: String,
        subject: String,
        step: String,
    },
    #[error(
        "the commit {commit} (\"{subject}\") names the receipt {receipt}, which is in no chain here"
    )]
    UnknownReceipt {
        commit: String,
        subject: String,
        receipt: String,
    },
}

/// What the bytes of a chain contain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChainReading {
    /// The receipts that can be read, in order.
    pub links: Vec<ChainLink>,
    /// The hash of each file, in order.
    pub hashes: Vec<Sha256>,
    pub breaks: Vec<ChainBreak>,
}

/// Checks a chain, given the bytes of its receipts in order.
///
/// # Errors
/// Every break, in order.
pub fn check_chain(
    files: &[Vec<u8>],
    expected_head: Option<&Sha256>,
) -> Result<Vec<ChainLink>, Vec<ChainBreak>> {
    let reading = read_chain(files, expected_head);
    if reading.breaks.is_empty() {
        Ok(reading.links)
    } else {
        Err(reading.breaks)
    }
}

/// Reads a chain as far as possible, with everything that is wrong with it. `expected_head` is the hash that the log of
/// the run names, where it names one.
pub fn read_chain(files: &[Vec<u8>], expected_head: Option<&Sha256>) -> ChainReading {
    let mut reading = ChainReading::default();
    for (number, bytes) in (1..).zip(files) {
        match parse_link(bytes) {
            Ok(link) => {
                let run = reading.links.first().map_or(&link.run, |first| &first.run);
                let causes = place_breaks(&link, number, reading.hashes.last(), run);
                let found = causes.map(|cause| ChainBreak::of_receipt(number, cause));
                reading.breaks.extend(found);
                reading.links.push(link);
            }
            Err(error) => {
                let found = ChainBreak::of_receipt(number, error.into());
                reading.breaks.push(found);
            }
        }
        reading.hashes.push(file_hash(bytes));
    }
    let of_head = expected_head.and_then(|head| head_break(&reading.hashes, head));
    reading.breaks.extend(of_head);
    reading
}

/// Compares a receipt with its place in the chain.
fn place_breaks(
    link: &ChainLink,
    number: u32,
    before: Option<&Sha256>,
    run: &RunId,
) -> impl Iterator<Item = BreakCause> {
    let of_number = (link.number != number).then_some(BreakCause::WrongNumber(link.number));
    let of_run = (link.run != *run).then(|| BreakCause::OtherRun(link.run.clone()));
    let of_previous = match (before, &link.previous) {
        (None, Some(_)) => Some(BreakCause::MissingPrevious),
        (before, named) if before != named.as_ref() => Some(BreakCause::WrongPrevious(number - 1)),
        (_, _) => None,
    };
    [of_number, of_run, of_previous].into_iter().flatten()
}

fn head_break(hashes: &[Sha256], head: &Sha256) -> Option<ChainBreak> {
    let Some(last) = hashes.last() else {
        return Some(ChainBreak::of_chain(BreakCause::NoReceipts(head.clone())));
    };
    if last == head {
        return None;
    }
    let number = |at: usize| u32::try_from(at + 1).unwrap_or(u32::MAX);
    let named = hashes.iter().position(|hash| hash == head);
    Some(match named {
        Some(at) => ChainBreak::of_receipt(number(at + 1), BreakCause::AfterHead(number(at))),
        None => {
            let last = number(hashes.len() - 1);
            ChainBreak::of_receipt(last, BreakCause::WrongHead(head.clone()))
        }
    })
}

/// Checks that the steps of a chain belong to approved plans and name their checks.
pub fn check_contents(links: &[ChainLink]) -> Vec<ChainBreak> {
    let mut breaks = Vec::new();
    let mut approved: Option<&Sha256> = None;
    let mut checks = BTreeSet::new();
    for link in links {
        let mut found = |cause| breaks.push(ChainBreak::of_receipt(link.number, cause));
        match &link.kind {
            LinkKind::Approval(approval) => approved = Some(&approval.plan_sha256),
            LinkKind::Check(_) => {
                checks.insert(link.number);
            }
            LinkKind::Step(step) => {
                match approved {
                    None => found(BreakCause::NoApproval),
                    Some(plan) if *plan != step.plan_sha256 => found(BreakCause::OtherPlan {
                        step: step.plan_sha256.clone(),
                        approved: plan.clone(),
                    }),
                    Some(_) => {}
                }
                for number in &step.checks {
                    if !checks.contains(number) {
                        found(BreakCause::NotCheck(*number));
                    }
                }
            }
            LinkKind::Extension(_)
            | LinkKind::Versions(_)
            | LinkKind::Undo(_)
            | LinkKind::Redo(_)
            | LinkKind::UsersCommits(_)
            | LinkKind::Unknown(_) => {}
        }
    }
    breaks
}
