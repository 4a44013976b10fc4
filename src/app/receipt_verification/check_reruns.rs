//! Runs the checks of verified chains again, and adds what differs to their breaks (TRUTH.md T32).

use tokio_util::sync::CancellationToken;

use super::{ChainReport, VerificationReport};
use crate::app::headless_signals::HeadlessSignals;
use crate::app::startup::StartError;
use crate::config::{AppConfig, UserDirs};
use crate::domain::receipt_chain::{BreakCause, ChainBreak, StepCheck, list_step_checks};
use crate::domain::step_proof::ProofCell;
use crate::engine::git::GitRepository;
use crate::engine::proof_cells::{CheckRerunner, RerunGround, RerunResult};
use crate::engine::sandbox::find_sandbox_support;
use crate::process::{ChildSpawner, SandboxSupport};
use crate::store::WorkdirLayout;
use crate::store::approval_store::ApprovalStore;
use crate::store::worktree_records::WorktreeRegistry;

/// A check that was run again, or could not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRerun {
    pub step: u32,
    pub cell: ProofCell,
    pub command: String,
    /// The number of its receipt.
    pub receipt: u32,
    pub result: RerunResult,
}

impl CheckRerun {
    fn new(check: &StepCheck<'_>, result: RerunResult) -> Self {
        Self {
            step: check.step.step,
            cell: check.check.cell,
            command: check.check.command.clone(),
            receipt: check.receipt,
            result,
        }
    }

    /// Returns whether the check ended as its receipt says.
    pub fn is_confirmed(&self) -> bool {
        self.result == RerunResult::Same
    }

    fn to_break(&self) -> Option<ChainBreak> {
        let RerunResult::Different(what) = &self.result else {
            return None;
        };
        let cause = BreakCause::OtherResult {
            step: self.step,
            cell: self.cell.into(),
            what: what.clone(),
        };
        Some(ChainBreak::of_receipt(self.receipt, cause))
    }
}

/// Where the checks of a repository's chains are run again.
#[derive(Debug)]
pub struct CheckReruns<'a> {
    pub repository: GitRepository,
    pub config: &'a AppConfig,
    pub places: &'a UserDirs,
    /// The folder of the current run.
    pub layout: &'a WorkdirLayout,
}

impl CheckReruns<'_> {
    /// Runs the checks of all chains again, one after another; `tell` gets each when it has ended. Returns the name of
    /// the signal that stopped it, if one did.
    ///
    /// # Errors
    /// Signals cannot be awaited.
    pub async fn run(
        &self,
        report: &mut VerificationReport,
        tell: &mut dyn FnMut(&CheckRerun),
    ) -> Result<Option<&'static str>, StartError> {
        let no_signals = |error| StartError::new(format!("cannot wait for signals: {error}"), "");
        let mut signals = HeadlessSignals::listen().map_err(no_signals)?;
        let cancel = CancellationToken::new();
        let mut work = std::pin::pin!(self.rerun_chains(report, &cancel, tell));
        tokio::select! {
            () = &mut work => Ok(None),
            name = signals.next_signal() => {
                cancel.cancel();
                // What runs is stopped, and the copies are removed.
                work.await;
                Ok(Some(name))
            }
        }
    }

    async fn rerun_chains(
        &self,
        report: &mut VerificationReport,
        cancel: &CancellationToken,
        tell: &mut dyn FnMut(&CheckRerun),
    ) {
        let root = self.repository.root();
        let support = find_sandbox_support(&ChildSpawner::default(), self.config, root).await;
        for chain in &mut report.chains {
            if cancel.is_cancelled() {
                return;
            }
            let reruns = self.rerun_chain(chain, &support, cancel, tell).await;
            chain
                .breaks
                .extend(reruns.iter().filter_map(CheckRerun::to_break));
            chain.reruns = reruns;
        }
    }

    async fn rerun_chain(
        &self,
        chain: &ChainReport,
        support: &SandboxSupport,
        cancel: &CancellationToken,
        tell: &mut dyn FnMut(&CheckRerun),
    ) -> Vec<CheckRerun> {
        let checks = list_step_checks(&chain.links, &chain.steps);
        let mut reruns = Vec::new();
        let mut add = |check: &StepCheck<'_>, result| {
            let rerun = CheckRerun::new(check, result);
            tell(&rerun);
            reruns.push(rerun);
        };
        let prepared = if chain.breaks.is_empty() {
            self.prepare(chain, support)
        } else {
            // What a changed receipt names is not to be run.
            Err("the chain is broken".to_owned())
        };
        for check in &checks {
            let result = match &prepared {
                Err(why) => RerunResult::NotRun(why.clone()),
                Ok(rerunner) => match rerunner.rerun(check, cancel).await {
                    Ok(result) => result,
                    // It was stopped.
                    Err(_) => break,
                },
            };
            add(check, result);
        }
        reruns
    }

    fn prepare(
        &self,
        chain: &ChainReport,
        support: &SandboxSupport,
    ) -> Result<CheckRerunner, String> {
        let root = self.repository.root();
        CheckRerunner::prepare(RerunGround {
            repository: self.repository.clone(),
            root,
            config: self.config,
            approvals: &ApprovalStore::new(&self.places.approvals_dir(), root),
            worktrees: &WorktreeRegistry::new(&self.places.worktrees_dir(), self.layout),
            support: support.clone(),
            run: &chain.run,
        })
    }
}
