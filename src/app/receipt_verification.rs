//! Verifies the receipts of a run, or of a range of commits: the chain, the outputs and the commits (TRUTH.md T32).
//!
//! Works offline, takes no lock and changes nothing. Only [`CheckReruns`] runs tests.

mod check_reruns;
mod commit_range;
mod linked_commits;
mod outside_commits;
mod rewritten_commits;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::domain::ids::{RunId, Sha256};
use crate::domain::plan::file_hash;
use crate::domain::receipt_chain::{
    BreakCause, ChainBreak, ChainLink, ChainReading, ChainStep, LinkKind, NotedChain, WaiverPolicy,
    check_contents, list_steps, read_chain, read_notes,
};
use crate::domain::run::RunState;
use crate::engine::git::GitRepository;
use crate::engine::stored_run::load_partial_run;
use crate::store::{StoreError, WorkdirLayout, receipt_files};

use super::startup::StartError;

pub use check_reruns::{CheckRerun, CheckReruns};
pub use commit_range::verify_range;

/// What was found out about one or more chains.
#[derive(Debug, Default)]
pub struct VerificationReport {
    pub chains: Vec<ChainReport>,
    /// The breaks that belong to no chain.
    pub breaks: Vec<ChainBreak>,
    /// What could not be read or compared, one line each.
    pub unreadable: Vec<String>,
    /// The commits that replace the chain's own, one line each. Empty where no commit was rewritten.
    pub rewritten: Vec<String>,
    /// The commits of a range from before the first or after the last commit of its runs, one line each.
    pub outside: Vec<String>,
    /// What probably happened to commits that are broken, and what to try.
    pub hint: Option<String>,
}

/// What was found out about the chain of one run.
#[derive(Debug)]
pub struct ChainReport {
    pub run: RunId,
    pub n_receipts: usize,
    pub head: Option<Sha256>,
    pub steps: Vec<ChainStep>,
    /// The numbers of the plan's steps that have no receipt.
    pub steps_without_receipt: Vec<u32>,
    /// How many receipts of an unfinished run come after the head that its log names. They count for nothing.
    pub n_unlogged: usize,
    /// Whether the chain comes from git notes, which have no outputs.
    pub is_from_notes: bool,
    pub breaks: Vec<ChainBreak>,
    /// The receipts that can be read, in order.
    pub links: Vec<ChainLink>,
    /// The checks of the steps that were run again, or could not be; empty where nobody asked for it.
    pub reruns: Vec<CheckRerun>,
}

/// The result of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerificationResult {
    /// Whole, and every step is proven, kept or waived in the plan.
    Verified,
    /// Whole, but somebody has to look at a step, or commits were rewritten or are of no run.
    Unverified,
    Broken,
    /// A part cannot be read or compared, and nothing else is broken.
    Unreadable,
}

impl VerificationReport {
    /// Returns the result; a break outweighs everything else.
    pub fn result(&self, waivers: WaiverPolicy) -> VerificationResult {
        let of_chains = self.chains.iter().flat_map(|chain| &chain.breaks);
        if of_chains.chain(&self.breaks).next().is_some() {
            return VerificationResult::Broken;
        }
        if !self.unreadable.is_empty() {
            return VerificationResult::Unreadable;
        }
        let is_verified = |chain: &ChainReport| {
            let mut steps = chain.steps.iter();
            chain.steps_without_receipt.is_empty()
                && chain.n_unlogged == 0
                && chain.reruns.iter().all(CheckRerun::is_confirmed)
                && !chain.steps.is_empty()
                && steps.all(|step| step.status.is_verified(waivers))
        };
        let is_run_alone = self.rewritten.is_empty() && self.outside.is_empty();
        if is_run_alone && self.chains.iter().all(is_verified) {
            VerificationResult::Verified
        } else {
            VerificationResult::Unverified
        }
    }
}

impl VerificationResult {
    /// Returns the exit code of `agent-collab verify`.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Verified => 0,
            Self::Unreadable => 1,
            Self::Unverified => 6,
            Self::Broken => 7,
        }
    }
}

/// The chain of a run as it is on disk, or in git notes.
struct StoredChain {
    /// Where the outputs are; `None` for a chain from notes.
    layout: Option<WorkdirLayout>,
    run: RunId,
    /// The state of the run, where it can be read.
    state: Option<RunState>,
    /// The receipts; of an unfinished run those that its log covers.
    reading: ChainReading,
    n_unlogged: usize,
}

impl StoredChain {
    fn load(
        layout: &WorkdirLayout,
        run: RunId,
        state: Option<RunState>,
    ) -> Result<Self, StoreError> {
        let files = receipt_files::load_receipts(layout, &run)?;
        let state = state.filter(|state| state.run == run);
        let mut reading = read_chain(&files, state.as_ref().and_then(logged_head).as_ref());
        // The receipts after the first are compared with it.
        if let Some(first) = reading.links.first().filter(|first| first.run != run) {
            let cause = BreakCause::OtherRun(first.run.clone());
            let found = ChainBreak::of_receipt(first.number, cause);
            reading.breaks.insert(0, found);
        }
        let mut chain = Self {
            layout: Some(layout.clone()),
            run,
            state,
            reading,
            n_unlogged: 0,
        };
        if chain.is_unfinished() {
            chain.n_unlogged = set_unlogged_aside(&mut chain.reading);
        }
        Ok(chain)
    }

    fn from_notes(run: RunId, noted: NotedChain) -> Self {
        let files: Vec<Vec<u8>> = noted.receipts.into_values().collect();
        let mut reading = read_chain(&files, None);
        reading.breaks.extend(noted.breaks);
        Self {
            layout: None,
            run,
            state: None,
            reading,
            n_unlogged: 0,
        }
    }

    fn is_unfinished(&self) -> bool {
        let state = self.state.as_ref();
        state.is_some_and(|state| !state.phase.is_final())
    }

    /// Adds a break for each receipt that is another one in the notes.
    fn compare_with_notes(&mut self, noted: &NotedChain) {
        let mut found = noted.differences(&self.reading.hashes);
        if self.is_unfinished() {
            // The run may have gone on since its receipts were read.
            found.retain(|found| found.cause != BreakCause::OnlyNotedReceipt);
        }
        self.reading.breaks.extend(found);
    }

    fn links(&self) -> &[ChainLink] {
        &self.reading.links
    }

    /// Checks everything but the commits. Adds what this version does not know to `unreadable`.
    fn check(&self, unreadable: &mut Vec<String>) -> ChainReport {
        let mut breaks = self.reading.breaks.clone();
        breaks.extend(check_contents(self.links()));
        for link in self.links() {
            match self.check_output(link) {
                Ok(found) => breaks.extend(found),
                Err(error) => unreadable.push(error.to_string()),
            }
            if let LinkKind::Unknown(unknown) = &link.kind {
                unreadable.push(format!(
                    "receipt {} is of the kind `{}`, version {}, which this version of agent-collab does not know",
                    link.number, unknown.kind, unknown.version
                ));
            }
        }
        let steps = list_steps(self.links());
        ChainReport {
            run: self.run.clone(),
            n_receipts: self.reading.hashes.len(),
            head: self.reading.hashes.last().cloned(),
            steps_without_receipt: self.steps_without_receipt(&steps),
            steps,
            n_unlogged: self.n_unlogged,
            is_from_notes: self.layout.is_none(),
            breaks,
            links: Vec::new(),
            reruns: Vec::new(),
        }
    }

    fn check_output(&self, link: &ChainLink) -> Result<Option<ChainBreak>, StoreError> {
        let (LinkKind::Check(check), Some(layout)) = (&link.kind, &self.layout) else {
            return Ok(None);
        };
        let sha256 = &check.output_sha256;
        let cause = match receipt_files::load_output(layout, &self.run, sha256) {
            Ok(None) => BreakCause::MissingOutput(sha256.clone()),
            Ok(Some(bytes)) if file_hash(&bytes) == *sha256 => return Ok(None),
            // This program writes no output above the limit.
            Ok(Some(_)) | Err(StoreError::TooLarge { .. }) => {
                BreakCause::ChangedOutput(sha256.clone())
            }
            Err(error) => return Err(error),
        };
        Ok(Some(ChainBreak::of_receipt(link.number, cause)))
    }

    fn steps_without_receipt(&self, steps: &[ChainStep]) -> Vec<u32> {
        let with: BTreeSet<u32> = steps.iter().map(|step| step.step).collect();
        let plan = self.state.as_ref().and_then(|state| state.plan.as_ref());
        let planned = plan.into_iter().flat_map(|file| &file.plan.steps);
        planned
            .map(|step| step.n)
            .filter(|number| !with.contains(number))
            .collect()
    }
}

/// Returns the head of the chain that the log of a run names; `None` where it names none.
fn logged_head(state: &RunState) -> Option<Sha256> {
    state.receipt_head.clone()
}

/// Removes the receipts after the head that the log names, and returns how many there are. A receipt is written before
/// the log names it, so a run that is at work, or was killed, may have some.
fn set_unlogged_aside(reading: &mut ChainReading) -> usize {
    let head = reading.breaks.iter().find_map(|found| match found.cause {
        BreakCause::AfterHead(head) => Some(head),
        _ => None,
    });
    let Some(head) = head else {
        return 0;
    };
    let n_logged = usize::try_from(head).unwrap_or(usize::MAX);
    let n_unlogged = reading.hashes.len().saturating_sub(n_logged);
    reading.hashes.truncate(n_logged);
    reading.links.retain(|link| link.number <= head);
    let is_logged = |found: &ChainBreak| found.receipt.is_none_or(|number| number <= head);
    reading.breaks.retain(is_logged);
    n_unlogged
}

/// Verifies the run of a work directory, current or archived.
///
/// # Errors
/// The run has no receipts, they cannot be read, or git fails.
pub async fn verify_run(
    layout: &WorkdirLayout,
    git: Option<&GitRepository>,
) -> Result<VerificationReport, StartError> {
    // The receipts of a run can be checked without its state.
    let state = load_partial_run(layout).ok().flatten();
    let state = state.map(|found| found.state);
    let run = match &state {
        Some(state) => Some(state.run.clone()),
        None => receipt_files::list_runs(layout)?.pop(),
    };
    let Some(run) = run else {
        return Err(StartError::new("no run here yet", NO_RECEIPTS_HINT));
    };
    let mut chain = StoredChain::load(layout, run, state)?;
    if chain.reading.hashes.is_empty() && chain.reading.breaks.is_empty() {
        let problem = format!("the run {} has no receipts", chain.run);
        return Err(StartError::new(problem, NO_RECEIPTS_HINT));
    }
    let commits: BTreeSet<String> = chain
        .links()
        .iter()
        .flat_map(|link| link.kind.commits().iter().cloned())
        .collect();
    let git = git.filter(|_| !commits.is_empty());
    if let Some(git) = git {
        let notes = git.notes().load(Some(&commits)).await.map_err(git_failed)?;
        if let Some(noted) = read_notes(&notes).get(&chain.run) {
            chain.compare_with_notes(noted);
        }
    }
    let mut report = VerificationReport::default();
    let mut checked = chain.check(&mut report.unreadable);
    match git {
        Some(git) => {
            let found = linked_commits::check_commits(git, &chain).await;
            let found = found.map_err(git_failed)?;
            checked.breaks.extend(found.breaks);
            report.rewritten = found.rewritten;
            report.hint = found.hint;
        }
        None if !commits.is_empty() => {
            let problem = "the commits cannot be compared: this is no git repository";
            report.unreadable.push(problem.to_owned());
        }
        None => {}
    }
    checked.links = chain.reading.links;
    report.chains.push(checked);
    Ok(report)
}

const NO_RECEIPTS_HINT: &str =
    "a run has receipts from its approval on; `agent-collab history` lists the finished runs";

fn git_failed(error: crate::engine::git::GitError) -> StartError {
    StartError::new(&error, error.hint())
}
