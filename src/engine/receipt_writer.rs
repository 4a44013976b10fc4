//! Appends receipts to the run's chain, from the main loop and from work beside it (TRUTH.md T30).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::domain::event::Event;
use crate::domain::ids::{RunId, Sha256};
use crate::domain::receipt_chain::{
    ApprovalFacts, CheckLink, LinkKind, UserCommitsLink, missing_links, note_lines,
};
use crate::domain::run::RunState;
use crate::domain::turn::Role;
use crate::store::receipt_files::{ReceiptError, ReceiptLog, ReceiptReference};
use crate::store::{TamperGuard, utc_time};

use super::git::GitRepository;
use super::test_runner::KEPT_VARIABLES;

/// The one writer of a run's receipts.
#[derive(Debug, Clone)]
pub(super) struct ReceiptWriter {
    guard: TamperGuard,
    run: RunId,
    /// Opened with the first receipt, and again after an error.
    log: Arc<Mutex<Option<ReceiptLog>>>,
    /// How many receipts this process knows to be in notes. Locked while notes are written.
    n_noted: Arc<tokio::sync::Mutex<usize>>,
}

impl ReceiptWriter {
    pub(super) fn new(guard: TamperGuard, run: RunId) -> Self {
        Self {
            guard,
            run,
            log: Arc::default(),
            n_noted: Arc::default(),
        }
    }

    /// Does something with the chain. After an error it is opened again.
    fn with_log<T>(
        &self,
        work: impl FnOnce(&mut ReceiptLog) -> Result<T, ReceiptError>,
    ) -> Result<T, ReceiptError> {
        let mut open = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let mut log = match open.take() {
            Some(log) => log,
            None => ReceiptLog::open(&self.guard, &self.run)?,
        };
        let done = work(&mut log)?;
        *open = Some(log);
        Ok(done)
    }

    /// Returns whether this process wrote receipts, or read them to write more.
    pub(super) fn is_open(&self) -> bool {
        let open = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        open.is_some()
    }

    /// Appends the receipt of a check with what it printed, which is already free of secrets.
    ///
    /// # Errors
    /// The disk fails, or the chain on disk is not whole.
    pub(super) fn append_check(
        &self,
        check: CheckLink,
        output: &str,
    ) -> Result<ReceiptReference, ReceiptError> {
        self.with_log(|log| {
            let output_sha256 = log.save_output(output)?;
            let check = CheckLink {
                output_sha256,
                ..check
            };
            log.append(utc_time::now(), LinkKind::Check(check))
        })
    }

    /// Returns the last check of a command on a tree in an environment, with its number.
    ///
    /// # Errors
    /// The disk fails, or the chain on disk is not whole.
    pub(super) fn find_check(
        &self,
        tree: &str,
        command: &str,
        environment: &Sha256,
    ) -> Result<Option<(u32, CheckLink)>, ReceiptError> {
        self.with_log(|log| {
            let found = log.find_check(tree, command, environment);
            Ok(found.map(|(number, check)| (number, check.clone())))
        })
    }

    /// Appends the commits that no receipt names, oldest first: the user made them between two steps.
    ///
    /// # Errors
    /// The disk fails, or the chain on disk is not whole.
    pub(super) fn append_users_commits(&self, found: Vec<String>) -> Result<(), ReceiptError> {
        self.with_log(|log| {
            let linked: Vec<&String> = log
                .links()
                .iter()
                .flat_map(|link| link.kind.commits())
                .collect();
            let is_new = |commit: &String| !linked.contains(&commit);
            let commits: Vec<String> = found.into_iter().filter(is_new).collect();
            if !commits.is_empty() {
                let link = LinkKind::UsersCommits(UserCommitsLink { commits });
                log.append(utc_time::now(), link)?;
            }
            Ok(())
        })
    }

    /// Writes the receipts that the notes lack into the notes of the run's commits.
    ///
    /// # Errors
    /// Git fails, or the chain on disk is not whole; with a hint.
    pub(super) async fn write_notes(&self, git: &GitRepository) -> Result<(), String> {
        let mut n_noted = self.n_noted.lock().await;
        let (lines, n_receipts) = self
            .with_log(|log| Ok((note_lines(log.links(), *n_noted), log.links().len())))
            .map_err(|error| format!("{error} (hint: {})", error.hint()))?;
        // Before the first commit they have no place.
        if !lines.is_empty() {
            let written = git.notes().append(&lines).await;
            written.map_err(|error| format!("{error} (hint: {})", error.hint()))?;
            *n_noted = n_receipts;
        }
        Ok(())
    }

    /// Appends what the state of the run records and the chain lacks. Returns the event that names the new head; `None`
    /// where the state names it already.
    ///
    /// # Errors
    /// The disk fails, or the chain on disk is not whole.
    pub(super) fn complete_chain(&self, state: &RunState) -> Result<Option<Event>, ReceiptError> {
        if !state.settings.proves_steps || state.execution.is_none() {
            return Ok(None);
        }
        self.with_log(|log| {
            let missing = missing_links(log.links(), state, &approval_facts(state));
            for kind in missing {
                log.append(utc_time::now(), kind)?;
            }
            let number = u32::try_from(log.links().len()).unwrap_or(u32::MAX);
            let head = log
                .head()
                .filter(|head| state.receipt_head.as_ref() != Some(*head));
            Ok(head.map(|sha256| Event::ReceiptsAdded {
                number,
                sha256: sha256.clone(),
            }))
        })
    }
}

/// Returns what is known of the environment of checks and of the programs.
fn approval_facts(state: &RunState) -> ApprovalFacts {
    let own = (
        "agent-collab".to_owned(),
        env!("CARGO_PKG_VERSION").to_owned(),
    );
    let roles = [Role::Planner, Role::Reviewer].into_iter();
    let sessions = roles.filter_map(|role| state.session(role));
    let clis = sessions.filter_map(|session| {
        let version = session.version.clone()?;
        Some((session.adapter.clone(), version))
    });
    ApprovalFacts {
        environment: KEPT_VARIABLES.map(str::to_owned).into(),
        versions: std::iter::once(own).chain(clis).collect::<BTreeMap<_, _>>(),
    }
}
