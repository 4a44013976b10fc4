//! Finds and ends processes that outlived the program, by the mark in their environment or their mounts.
//!
//! Never touches a child of a program that is still running, or a process that got the reused pid of one that
//! was found.

use std::collections::BTreeSet;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

use super::process_table::{
    ProcessIdentity, ProcessLiveness, is_alive, read_command_line, read_environment_mark,
    read_mount_mark, scan_processes,
};
use super::process_tree::{add_descendants, signal_process};

/// The interval at which survivors are polled.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// The maximum number of searches for leftovers.
const MAX_SWEEPS: u32 = 8;

/// A process that was left behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftoverProcess {
    pub id: ProcessIdentity,
    /// Its whole mark, `<run>:<owner>:<unique>`.
    pub marker: String,
    pub command: String,
}

/// Finds processes whose mark starts with this prefix (`<run>` or `<run>:<owner>`; empty: any) and whose
/// program is gone. Off Linux it finds none.
pub fn find_leftovers(marker_prefix: &str) -> Vec<LeftoverProcess> {
    let own = std::process::id();
    scan_processes()
        .into_iter()
        .filter(|entry| entry.liveness == ProcessLiveness::Alive && entry.id.pid != own)
        .filter_map(|entry| {
            let pid = entry.id.pid;
            Some((
                entry.id,
                read_environment_mark(pid).or_else(|| read_mount_mark(pid))?,
            ))
        })
        .filter(|(_, mark)| has_mark_prefix(mark, marker_prefix) && !is_owner_alive(mark))
        .map(|(id, marker)| LeftoverProcess {
            id,
            marker,
            command: read_command_line(id.pid),
        })
        .collect()
}

/// Ends leftovers and all their descendants: TERM, `grace`, KILL. Returns the survivors.
pub async fn terminate_leftovers(
    leftovers: &[LeftoverProcess],
    grace: Duration,
) -> Vec<ProcessIdentity> {
    let found: BTreeSet<_> = leftovers.iter().map(|leftover| leftover.id).collect();
    terminate_until_gone(grace, || {
        let table = scan_processes();
        let mut known = found.clone();
        known.retain(|id| table.iter().any(|entry| entry.id == *id));
        add_descendants(&mut known, &table);
        known
    })
    .await
}

/// Ends all leftovers with such a mark, see [`find_leftovers`]. Repeats for new processes: a process that is
/// being ended may just have started another one, which then has no parent. `grace` applies to each round.
pub async fn terminate_leftovers_by_prefix(marker_prefix: &str, grace: Duration) {
    for _ in 0..MAX_SWEEPS {
        let left = find_leftovers(marker_prefix);
        if left.is_empty() || !terminate_leftovers(&left, grace).await.is_empty() {
            break;
        }
    }
}

/// Ends all descendants of this program that are not in its own session, when the program exits: TERM,
/// `grace`, KILL. Returns the survivors.
pub async fn terminate_descendants(grace: Duration) -> Vec<ProcessIdentity> {
    terminate_until_gone(grace, || living_descendants(SessionScope::Other)).await
}

/// Ends the descendants of this program in its own session, which are the processes that it lent its terminal
/// to: TERM, `grace`, KILL. Sends no signal during `first`: a process that was signalled together with this
/// program ends by itself, and may take a second signal as a request to abort. Returns the survivors.
pub async fn terminate_own_session(first: Duration, grace: Duration) -> Vec<ProcessIdentity> {
    let give_up_at = Instant::now() + first;
    while !living_descendants(SessionScope::Own).is_empty() {
        if Instant::now() >= give_up_at {
            return terminate_until_gone(grace, || living_descendants(SessionScope::Own)).await;
        }
        sleep(POLL_INTERVAL).await;
    }
    Vec::new()
}

/// Which sessions are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SessionScope {
    /// The session of this program.
    Own,
    Other,
}

/// Returns all living descendants of this program in such a session.
fn living_descendants(session: SessionScope) -> BTreeSet<ProcessIdentity> {
    let own = super::process_table::read_own_identity();
    let table = scan_processes();
    let entry_of = |id: ProcessIdentity| table.iter().find(|entry| entry.id == id);
    let own_session = entry_of(own).map(|entry| entry.session);
    let mut below = BTreeSet::from([own]);
    add_descendants(&mut below, &table);
    below.remove(&own);
    below.retain(|id| {
        entry_of(*id).is_some_and(|entry| {
            let is_own = Some(entry.session) == own_session;
            entry.liveness == ProcessLiveness::Alive && is_own == (session == SessionScope::Own)
        })
    });
    below
}

/// Signals every process found, repeatedly for new ones, until none is left or time is up.
pub(super) async fn terminate_until_gone(
    grace: Duration,
    find: impl Fn() -> BTreeSet<ProcessIdentity>,
) -> Vec<ProcessIdentity> {
    let mut seen = BTreeSet::new();
    for (signal, patience) in [
        (Signal::SIGTERM, grace),
        (Signal::SIGKILL, Duration::from_secs(5)),
    ] {
        let (give_up_at, mut signalled) = (Instant::now() + patience, BTreeSet::new());
        loop {
            seen.extend(find());
            seen.retain(|id| is_alive(*id));
            if seen.is_empty() {
                return Vec::new();
            }
            seen.iter()
                .filter(|id| signalled.insert(**id))
                .for_each(|id| signal_process(*id, signal));
            if Instant::now() >= give_up_at {
                break;
            }
            sleep(POLL_INTERVAL).await;
        }
    }
    seen.into_iter().collect()
}

fn has_mark_prefix(mark: &str, prefix: &str) -> bool {
    prefix.is_empty()
        || mark
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

/// Returns true if the program that made a mark is still running; a mark without an owner counts as left
/// behind.
fn is_owner_alive(mark: &str) -> bool {
    let owner = || {
        let mut parts = mark.rsplit(':').next()?.split('.');
        Some(ProcessIdentity {
            pid: parts.next()?.parse().ok()?,
            start_time: parts.next()?.parse().ok()?,
        })
    };
    owner().is_some_and(is_alive)
}
