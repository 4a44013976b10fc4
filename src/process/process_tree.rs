//! Tracks a child and everything that it started, wherever these processes moved.
//!
//! A command of an agent may have its own session, outlive its parent or clear its environment. A process
//! belongs to the tree if it is in the child's session, carries the child's mark, has a parent in the tree,
//! was in the tree before, or is a stray orphan that only this child can have left. The owner decides when to
//! send signals.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

use super::child_registry::{
    ChildRegistration, is_subreaper, registered_children, run_unless_registered,
};
use super::process_table::{
    ProcessEntry, ProcessIdentity, ProcessLiveness, find_mark, may_have_inherited_orphans,
    read_environment, read_process_entry, scan_processes,
};

/// How often an empty environment is read.
const MAX_ENVIRONMENT_READS: usize = 10;

/// A child and its descendants. If it is dropped before the end was handled, it kills them all.
#[derive(Debug)]
pub(super) struct ProcessTree {
    pub root: ProcessIdentity,
    mark: String,
    members: BTreeSet<ProcessIdentity>,
    stage: ProcessTreeStage,
    /// Whether this program was the subreaper when the child started.
    is_subreaper: bool,
    _registered: ChildRegistration,
}

#[derive(Debug, PartialEq, Eq)]
enum ProcessTreeStage {
    /// The child has not been waited for: its pid and its process group id cannot be reused.
    Running,
    /// The child was waited for; other processes of the tree may be alive.
    Orphaned,
    /// No process is left, or none that can be ended.
    Finished,
}

impl ProcessTree {
    pub(super) fn new(root: ChildRegistration, mark: String) -> Self {
        Self {
            root: root.id(),
            mark,
            members: BTreeSet::new(),
            stage: ProcessTreeStage::Running,
            is_subreaper: is_subreaper(),
            _registered: root,
        }
    }

    /// Records that the child itself has ended and was waited for.
    pub(super) fn on_root_reaped(&mut self) {
        self.stage = ProcessTreeStage::Orphaned;
    }

    /// Records that everything possible was done.
    pub(super) fn on_finished(&mut self) {
        self.stage = ProcessTreeStage::Finished;
    }

    /// Returns all living processes of the tree except the child itself; reaps ended orphans on the way.
    pub(super) fn descendants(&mut self) -> Vec<ProcessIdentity> {
        // Nearly every command leaves no process: then scanning all processes of the machine is unnecessary.
        if self.is_known_childless() {
            self.members.clear();
            return Vec::new();
        }
        let table = scan_processes();
        let own = std::process::id();
        let own_session = table
            .iter()
            .find(|entry| entry.id.pid == own)
            .map(|entry| entry.session);
        // Read after the table: every direct child in the table is registered, if it is still alive.
        let children = registered_children();
        reap_orphans(&table, own, own_session);
        self.add_members(&table, own, own_session, &children);
        add_descendants(&mut self.members, &table);
        self.members.remove(&self.root);
        let living: BTreeMap<_, _> = table
            .iter()
            .map(|entry| (entry.id, entry.liveness))
            .collect();
        self.members
            .retain(|id| living.get(id) == Some(&ProcessLiveness::Alive));
        self.members.iter().copied().collect()
    }

    /// Returns true if the ended child certainly left no process: any leftover would have been inherited.
    fn is_known_childless(&self) -> bool {
        self.stage == ProcessTreeStage::Orphaned
            && self.is_subreaper
            && read_process_entry(self.root.pid).is_none_or(|entry| entry.id != self.root)
            && !may_have_inherited_orphans()
    }

    fn add_members(
        &mut self,
        table: &[ProcessEntry],
        own: u32,
        own_session: Option<u32>,
        children: &BTreeSet<ProcessIdentity>,
    ) {
        // After the child was waited for, its pid may belong to an unrelated process.
        let number_is_ours = !table
            .iter()
            .any(|entry| entry.id.pid == self.root.pid && entry.id != self.root);
        let only_suspect = |orphan: &ProcessEntry| {
            children
                .iter()
                .all(|id| *id == self.root || id.start_time > orphan.id.start_time)
        };
        for entry in table {
            // A process that is older than the child cannot be its descendant.
            if entry.id.pid == own
                || entry.id.start_time < self.root.start_time
                || self.members.contains(&entry.id)
            {
                continue;
            }
            let is_root = entry.id == self.root;
            let in_session = number_is_ours && entry.session == self.root.pid;
            let is_stray = || {
                self.stage == ProcessTreeStage::Orphaned
                    && entry.parent == own
                    && Some(entry.session) != own_session
                    && !children.contains(&entry.id)
                    && only_suspect(entry)
            };
            if is_root || in_session || self.carries_mark(entry.id.pid) || is_stray() {
                self.members.insert(entry.id);
            }
        }
        if self.stage == ProcessTreeStage::Running {
            self.members.insert(self.root);
        }
    }

    /// Returns whether a process was started with the child's mark. While a process replaces its program by another one,
    /// its environment is empty for an instant. One that stays empty was cleared, or belongs to a kernel thread or to a process
    /// that has ended.
    fn carries_mark(&self, pid: u32) -> bool {
        for _ in 0..MAX_ENVIRONMENT_READS {
            match read_environment(pid) {
                None => return false,
                Some(environment) if environment.is_empty() => thread::yield_now(),
                Some(environment) => return find_mark(&environment).as_ref() == Some(&self.mark),
            }
        }
        false
    }

    /// Sends a signal to the child, its group and every other living process of the tree.
    ///
    /// The group comes first, so that the child cannot react to the death of its own children before it gets
    /// the signal.
    pub(super) fn signal_all(&mut self, signal: Signal) {
        let descendants = self.descendants();
        // The id belongs to the child until it was waited for; off Linux there is no other information.
        let by_group = self.stage == ProcessTreeStage::Running || cfg!(not(target_os = "linux"));
        if by_group {
            let _gone = killpg(to_nix_pid(self.root.pid), signal);
        }
        for id in descendants {
            // The signal to the group has already reached these processes.
            let reached = by_group
                && read_process_entry(id.pid).is_some_and(|entry| entry.group == self.root.pid);
            if !reached {
                signal_process(id, signal);
            }
        }
    }

    /// Returns true if the child's group outlived it, where the table is empty and only the group shows this.
    pub(super) fn is_group_alive_off_linux(&self) -> bool {
        cfg!(not(target_os = "linux")) && killpg(to_nix_pid(self.root.pid), None).is_ok()
    }

    /// Sends a signal to what outlived the child in its group, where the table is empty.
    pub(super) fn signal_group_off_linux(&self, signal: Signal) {
        if cfg!(not(target_os = "linux")) {
            let _gone = killpg(to_nix_pid(self.root.pid), signal);
        }
    }

    /// Sends a signal only to the child's own group.
    pub(super) fn signal_group(&self, signal: Signal) {
        if self.stage == ProcessTreeStage::Running {
            let _gone = killpg(to_nix_pid(self.root.pid), signal);
        }
    }

    /// Kills all processes at once, repeatedly for new ones, as far as that is possible without waiting.
    fn kill_all(&mut self) {
        for _ in 0..5 {
            self.signal_all(Signal::SIGKILL);
            if self.descendants().is_empty() {
                break;
            }
        }
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        if self.stage != ProcessTreeStage::Finished {
            self.kill_all();
        }
    }
}

/// Sends a signal to a process if its pid was not reused.
pub(super) fn signal_process(id: ProcessIdentity, signal: Signal) {
    if read_process_entry(id.pid).is_some_and(|entry| entry.id == id) {
        let _gone = kill(to_nix_pid(id.pid), signal);
    }
}

/// Adds all descendants of the processes in the set.
pub(super) fn add_descendants(known: &mut BTreeSet<ProcessIdentity>, table: &[ProcessEntry]) {
    let mut pids: BTreeSet<u32> = table
        .iter()
        .filter(|entry| known.contains(&entry.id))
        .map(|entry| entry.id.pid)
        .collect();
    loop {
        let before = known.len();
        for entry in table {
            if pids.contains(&entry.parent) && known.insert(entry.id) {
                pids.insert(entry.id.pid);
            }
        }
        if known.len() == before {
            return;
        }
    }
}

/// Reaps inherited orphans that have ended, one by one. Children of the async runtime, and processes in this
/// program's own session, have other owners that wait for them.
fn reap_orphans(table: &[ProcessEntry], own: u32, own_session: Option<u32>) {
    let inherited = table.iter().filter(|entry| {
        entry.liveness == ProcessLiveness::Zombie
            && entry.parent == own
            && Some(entry.session) != own_session
    });
    for orphan in inherited {
        run_unless_registered(orphan.id, || {
            let _taken_already = waitpid(to_nix_pid(orphan.id.pid), Some(WaitPidFlag::WNOHANG));
        });
    }
}

fn to_nix_pid(pid: u32) -> Pid {
    Pid::from_raw(i32::try_from(pid).unwrap_or(i32::MAX))
}
