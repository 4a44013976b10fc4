//! Finds and ends processes that outlived the program, by the mark in their environment or among their mounts.
//!
//! Refuses to touch a child of a program that still runs, and a process that merely got the number
//! of one that was found.

use std::collections::BTreeSet;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

use super::family::{extend_by_parent, signal_one};
use super::table::{Life, ProcessIdentity, command_of, is_alive, mark_among_mounts, mark_of, scan};

/// How soon it is looked again who still lives.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// How often it is looked for leftovers at the most.
const LOOKS: u32 = 8;

/// A process that was left behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftover {
    /// The process.
    pub id: ProcessIdentity,
    /// Its whole mark, `<run>:<owner>:<unique>`.
    pub marker: String,
    /// Its command line.
    pub command: String,
}

/// Finds processes whose mark begins with these words (`<run>` or `<run>:<owner>`; empty: any) and
/// whose program is gone. Off Linux it finds none.
pub fn find_leftovers(marker_prefix: &str) -> Vec<Leftover> {
    let own = std::process::id();
    scan()
        .into_iter()
        .filter(|entry| entry.life == Life::Alive && entry.id.pid != own)
        .filter_map(|entry| {
            let pid = entry.id.pid;
            Some((entry.id, mark_of(pid).or_else(|| mark_among_mounts(pid))?))
        })
        .filter(|(_, mark)| begins_with_words(mark, marker_prefix) && !owner_lives(mark))
        .map(|(id, marker)| Leftover {
            id,
            marker,
            command: command_of(id.pid),
        })
        .collect()
}

/// Ends leftovers and all that descends from them: TERM, `grace`, KILL. Gives those who live on.
pub async fn end_leftovers(leftovers: &[Leftover], grace: Duration) -> Vec<ProcessIdentity> {
    let found: BTreeSet<_> = leftovers.iter().map(|leftover| leftover.id).collect();
    end_all(grace, || {
        let table = scan();
        let mut known = found.clone();
        known.retain(|id| table.iter().any(|entry| entry.id == *id));
        extend_by_parent(&mut known, &table);
        known
    })
    .await
}

/// Ends all leftovers with such a mark, see [`find_leftovers`], over again for newborns: who is being ended may have
/// started somebody just then, who is nobody's child by now. `grace` is that of each look.
pub async fn end_leftovers_of(marker_prefix: &str, grace: Duration) {
    for _ in 0..LOOKS {
        let left = find_leftovers(marker_prefix);
        if left.is_empty() || !end_leftovers(&left, grace).await.is_empty() {
            break;
        }
    }
}

/// Ends everything that descends from this program and is not of its own session, at the very end of
/// it: TERM, `grace`, KILL. Gives those who live on.
pub async fn end_everything(grace: Duration) -> Vec<ProcessIdentity> {
    end_all(grace, || below(Session::Another)).await
}

/// Ends what descends from this program and is of its own session, which is whoever it lent its terminal: TERM,
/// `grace`, KILL. For as long as `first` nobody is signalled: whoever was told together with this program ends by
/// itself, and may take a second signal for impatience. Gives those who live on.
pub async fn end_own_session(first: Duration, grace: Duration) -> Vec<ProcessIdentity> {
    let give_up_at = Instant::now() + first;
    while !below(Session::Own).is_empty() {
        if Instant::now() >= give_up_at {
            return end_all(grace, || below(Session::Own)).await;
        }
        sleep(LOOK_AGAIN).await;
    }
    Vec::new()
}

/// Whose session a process is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Session {
    /// This program's.
    Own,
    /// Somebody else's.
    Another,
}

/// All that live, descend from this program, and are of such a session.
fn below(session: Session) -> BTreeSet<ProcessIdentity> {
    let own = super::table::own_identity();
    let table = scan();
    let entry_of = |id: ProcessIdentity| table.iter().find(|entry| entry.id == id);
    let own_session = entry_of(own).map(|entry| entry.session);
    let mut below = BTreeSet::from([own]);
    extend_by_parent(&mut below, &table);
    below.remove(&own);
    below.retain(|id| {
        entry_of(*id).is_some_and(|entry| {
            let is_own = Some(entry.session) == own_session;
            entry.life == Life::Alive && is_own == (session == Session::Own)
        })
    });
    below
}

/// Signals everybody who is found, over again for newborns, until nobody lives or patience ends.
pub(super) async fn end_all(
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
                .for_each(|id| signal_one(*id, signal));
            if Instant::now() >= give_up_at {
                break;
            }
            sleep(LOOK_AGAIN).await;
        }
    }
    seen.into_iter().collect()
}

fn begins_with_words(mark: &str, prefix: &str) -> bool {
    prefix.is_empty()
        || mark
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

/// Tells whether the program that made a mark still runs; a mark that does not say counts as left.
fn owner_lives(mark: &str) -> bool {
    let owner = || {
        let mut parts = mark.rsplit(':').next()?.split('.');
        Some(ProcessIdentity {
            pid: parts.next()?.parse().ok()?,
            start_time: parts.next()?.parse().ok()?,
        })
    };
    owner().is_some_and(is_alive)
}
