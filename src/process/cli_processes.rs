//! Ends processes that an agent's commands left running, but not its CLI and the CLI's servers.
//!
//! A CLI starts its servers before its agent can call anything. Later processes below it belong to the
//! agent's calls, whatever session or environment they moved to. Off Linux no process is found.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::child_registry::registered_children;
use super::orphan_reaper::terminate_until_gone;
use super::process_activity::find_process_tree;
use super::process_table::{
    ProcessEntry, ProcessIdentity, ProcessLiveness, read_own_identity, scan_processes,
};
use super::process_tree::add_descendants;

/// A CLI and its servers, as they were before the first call of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliProcesses {
    root: ProcessIdentity,
    /// The CLI itself with its wrappers.
    cli: BTreeSet<ProcessIdentity>,
    /// The other processes at that time; everything that these start belongs to them.
    servers: BTreeSet<ProcessIdentity>,
    /// When the turn's prompt went out, in clock ticks since boot.
    turn_started_at: u64,
}

impl CliProcesses {
    /// Takes a snapshot of a child at its agent's first call. Reads the process table.
    ///
    /// `turn_started_at` is when the prompt went out, in clock ticks since boot. The first call may be over by now: what
    /// it left is told from a server by that time.
    pub fn take_snapshot(root: ProcessIdentity, turn_started_at: u64) -> Self {
        let family = find_process_tree(root, &scan_processes());
        let input = read_stdin_target(root);
        // The CLI and its wrappers read what this program writes; a server has an input of its own. A process
        // with unknown input counts as no server: what it starts is not spared.
        let is_own = |id: &ProcessIdentity| {
            let its = read_stdin_target(*id);
            *id == root || its.is_none() || its == input
        };
        let (own, servers) = family.into_iter().partition(is_own);
        Self {
            root,
            cli: own,
            servers,
            turn_started_at,
        }
    }

    /// Ends what the calls have left since: TERM, `grace`, KILL. Returns the survivors.
    pub async fn terminate_leftover_commands(&self, grace: Duration) -> Vec<ProcessIdentity> {
        terminate_until_gone(grace, || self.find_leftover_commands()).await
    }

    fn find_leftover_commands(&self) -> BTreeSet<ProcessIdentity> {
        let table = scan_processes();
        let mut spared = self.servers.clone();
        spared.retain(|id| table.iter().any(|entry| entry.id == *id));
        add_descendants(&mut spared, &table);
        spared.extend(&self.cli);
        // A server keeps its CLI as its parent, so that an orphan of this turn is none, whenever it started.
        let mut strays = self.find_stray_orphans(&table);
        add_descendants(&mut strays, &table);
        let mut family = find_process_tree(self.root, &table);
        add_descendants(&mut family, &table);
        family.retain(|id| !spared.contains(id));
        family.extend(strays);
        let alive = |id: &ProcessIdentity| {
            let entry = table.iter().find(|entry| entry.id == *id);
            entry.is_some_and(|entry| entry.liveness == ProcessLiveness::Alive)
        };
        family.retain(alive);
        family
    }

    /// Finds orphans that this program inherited in this turn, with a session of their own and perhaps without a
    /// mark. Which command started them is unknown, but no process that may stay gets here this way.
    fn find_stray_orphans(&self, table: &[ProcessEntry]) -> BTreeSet<ProcessIdentity> {
        let own = read_own_identity();
        let own_session = table
            .iter()
            .find(|entry| entry.id == own)
            .map(|e| e.session);
        // Read after the table: every direct child in the table is registered, if it is still alive.
        let children = registered_children();
        let is_stray = |entry: &&ProcessEntry| {
            entry.parent == own.pid
                && Some(entry.session) != own_session
                && entry.id.start_time >= self.turn_started_at
                && !children.contains(&entry.id)
        };
        table
            .iter()
            .filter(is_stray)
            .map(|entry| entry.id)
            .collect()
    }
}

fn read_stdin_target(id: ProcessIdentity) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{}/fd/0", id.pid)).ok()
}
