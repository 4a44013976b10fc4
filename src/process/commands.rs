//! Ends what an agent's commands left running, and leaves its CLI and the CLI's servers alone.
//!
//! A CLI starts its servers before its agent can call anything; what comes later below it is of the agent's calls,
//! whatever session or environment it moved to. Off Linux nobody is found.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::doing::family_of;
use super::family::extend_by_parent;
use super::leftover::end_all;
use super::registry::registered;
use super::table::{Entry, Life, ProcessIdentity, own_identity, scan, uptime_in_ticks};

/// A CLI and its servers, as they were before a turn's first call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliProcesses {
    root: ProcessIdentity,
    /// The CLI itself, with what wraps it.
    own: BTreeSet<ProcessIdentity>,
    /// What else there was; all that these start is theirs.
    servers: BTreeSet<ProcessIdentity>,
    /// When it was looked, in clock ticks since the machine's start.
    seen_at: u64,
}

impl CliProcesses {
    /// Looks at a child before its agent's first call. Reads the process table.
    pub fn look(root: ProcessIdentity) -> Self {
        let family = family_of(root, &scan());
        let input = stdin_of(root);
        // The CLI reads what this program writes, and so do its wrappers; a server has an input of its own. Whose
        // input cannot be seen is none: what it starts is not spared.
        let is_own = |id: &ProcessIdentity| {
            let its = stdin_of(*id);
            *id == root || its.is_none() || its == input
        };
        let (own, servers) = family.into_iter().partition(is_own);
        Self {
            root,
            own,
            servers,
            seen_at: uptime_in_ticks(),
        }
    }

    /// Ends what the calls since have left: TERM, `grace`, KILL. Gives those who live on.
    pub async fn end_others(&self, grace: Duration) -> Vec<ProcessIdentity> {
        end_all(grace, || self.others()).await
    }

    fn others(&self) -> BTreeSet<ProcessIdentity> {
        let table = scan();
        let mut spared = self.servers.clone();
        spared.retain(|id| table.iter().any(|entry| entry.id == *id));
        extend_by_parent(&mut spared, &table);
        spared.extend(&self.own);
        let mut family = family_of(self.root, &table);
        family.extend(self.strays(&table));
        extend_by_parent(&mut family, &table);
        let alive = |id: &ProcessIdentity| {
            let entry = table.iter().find(|entry| entry.id == *id);
            entry.is_some_and(|entry| entry.life == Life::Alive)
        };
        family.retain(|id| !spared.contains(id) && alive(id));
        family
    }

    /// Who lost its parent and came to this program since, with a session of its own and perhaps no mark any more.
    /// Whose command it was cannot be told; nobody who may stay comes this way.
    fn strays(&self, table: &[Entry]) -> BTreeSet<ProcessIdentity> {
        let own = own_identity();
        let own_session = table
            .iter()
            .find(|entry| entry.id == own)
            .map(|e| e.session);
        // Read after the table: whoever is a direct child in the table is in here, if it still lives.
        let children = registered();
        let is_stray = |entry: &&Entry| {
            entry.parent == own.pid
                && Some(entry.session) != own_session
                && entry.id.start_time >= self.seen_at
                && !children.contains(&entry.id)
        };
        table
            .iter()
            .filter(is_stray)
            .map(|entry| entry.id)
            .collect()
    }
}

fn stdin_of(id: ProcessIdentity) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{}/fd/0", id.pid)).ok()
}
