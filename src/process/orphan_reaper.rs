//! Finds and ends processes that outlived the program, by the mark in their environment or among their mounts.
//!
//! Refuses to touch a child of a program that still runs, and a process that merely got the number
//! of one that was found.

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

/// How soon it is looked again who still lives.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// How often it is looked for leftovers at the most.
const MAX_SWEEPS: u32 = 8;

/// A process that was left behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftoverProcess {
    /// The process.
    pub id: ProcessIdentity,
    /// Its whole mark, `<run>:<owner>:<unique>`.
    pub marker: String,
    /// Its command line.
    pub command: String,
}

/// Finds processes whose mark begins with these words (`<run>` or `<run>:<owner>`; empty: any) and
/// whose program is gone. Off Linux it finds none.
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

/// Ends leftovers and all that descends from them: TERM, `grace`, KILL. Gives those who live on.
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

/// Ends all leftovers with such a mark, see [`find_leftovers`], over again for newborns: who is being ended may have
/// started somebody just then, who is nobody's child by now. `grace` is that of each look.
pub async fn terminate_leftovers_by_prefix(marker_prefix: &str, grace: Duration) {
    for _ in 0..MAX_SWEEPS {
        let left = find_leftovers(marker_prefix);
        if left.is_empty() || !terminate_leftovers(&left, grace).await.is_empty() {
            break;
        }
    }
}

/// Ends everything that descends from this program and is not of its own session, at the very end of
/// it: TERM, `grace`, KILL. Gives those who live on.
pub async fn terminate_descendants(grace: Duration) -> Vec<ProcessIdentity> {
    terminate_until_gone(grace, || living_descendants(SessionScope::Other)).await
}

/// Ends what descends from this program and is of its own session, which is whoever it lent its terminal: TERM,
/// `grace`, KILL. For as long as `first` nobody is signalled: whoever was told together with this program ends by
/// itself, and may take a second signal for impatience. Gives those who live on.
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

/// Whose session a process is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SessionScope {
    /// This program's.
    Own,
    /// Somebody else's.
    Other,
}

/// All that live, descend from this program, and are of such a session.
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

/// Signals everybody who is found, over again for newborns, until nobody lives or patience ends.
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

/// Tells whether the program that made a mark still runs; a mark that does not say counts as left.
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
