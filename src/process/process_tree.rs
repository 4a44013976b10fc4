//! A child and everything that it started, wherever that went.
//!
//! A command of an agent may lead a session of its own, outlive its parent or clear its environment.
//! A process belongs to the family when it is in the child's session, carries the child's mark, has a
//! parent in the family, was in it before, or is a stray orphan that only this child can have left.
//! Refuses to decide when anybody is signalled.

use std::collections::{BTreeMap, BTreeSet};

use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

use super::child_registry::{
    ChildRegistration, is_subreaper, registered_children, run_unless_registered,
};
use super::process_table::{
    ProcessEntry, ProcessIdentity, ProcessLiveness, may_have_inherited_orphans,
    read_environment_mark, read_process_entry, scan_processes,
};

/// A child and its descendants. Dropped before its end was seen to, it kills them all.
#[derive(Debug)]
pub(super) struct ProcessTree {
    pub root: ProcessIdentity,
    mark: String,
    members: BTreeSet<ProcessIdentity>,
    stage: ProcessTreeStage,
    /// Whether this program was the heir of its descendants when the child began.
    is_subreaper: bool,
    _registered: ChildRegistration,
}

#[derive(Debug, PartialEq, Eq)]
enum ProcessTreeStage {
    /// The child has not been waited for: its number and its group's are its own.
    Running,
    /// The child was waited for; others of the family may live.
    Orphaned,
    /// Nobody is left, or nobody who can be ended.
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

    /// Notes that the child itself has ended and was waited for.
    pub(super) fn on_root_reaped(&mut self) {
        self.stage = ProcessTreeStage::Orphaned;
    }

    /// Notes that all was done that can be.
    pub(super) fn on_finished(&mut self) {
        self.stage = ProcessTreeStage::Finished;
    }

    /// Everybody of the family but the child itself who still lives; ended orphans are buried on the way.
    pub(super) fn descendants(&mut self) -> Vec<ProcessIdentity> {
        // Nearly every command ends alone: then there is no need to go through all processes of the machine.
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
        // Read after the table: whoever is a direct child in the table is in here, if it still lives.
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

    /// Tells whether surely nobody is left of the child that ended: whoever is left was inherited.
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
        // Once the child was waited for, its number may be given to a stranger.
        let number_is_ours = !table
            .iter()
            .any(|entry| entry.id.pid == self.root.pid && entry.id != self.root);
        let only_suspect = |orphan: &ProcessEntry| {
            children
                .iter()
                .all(|id| *id == self.root || id.start_time > orphan.id.start_time)
        };
        for entry in table {
            // Nobody who was there before the child can descend from it.
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
            if is_root
                || in_session
                || read_environment_mark(entry.id.pid).as_ref() == Some(&self.mark)
                || is_stray()
            {
                self.members.insert(entry.id);
            }
        }
        if self.stage == ProcessTreeStage::Running {
            self.members.insert(self.root);
        }
    }

    /// Sends a signal to the child, its group and everybody else of the family who lives.
    ///
    /// The group comes first, so that the child cannot answer the death of its own children before its turn.
    pub(super) fn signal_all(&mut self, signal: Signal) {
        let descendants = self.descendants();
        // The number is the child's as long as it was not waited for; off Linux there is nothing else to go by.
        let by_group = self.stage == ProcessTreeStage::Running || cfg!(not(target_os = "linux"));
        if by_group {
            let _gone = killpg(to_nix_pid(self.root.pid), signal);
        }
        for id in descendants {
            let reached = by_group
                && read_process_entry(id.pid).is_some_and(|entry| entry.group == self.root.pid);
            if !reached {
                signal_process(id, signal);
            }
        }
    }

    /// Tells whether the child's group outlived it, where the table is empty and only the group can tell.
    pub(super) fn is_group_alive_off_linux(&self) -> bool {
        cfg!(not(target_os = "linux")) && killpg(to_nix_pid(self.root.pid), None).is_ok()
    }

    /// Sends a signal to what outlived the child in its group, where the table is empty.
    pub(super) fn signal_group_off_linux(&self, signal: Signal) {
        if cfg!(not(target_os = "linux")) {
            let _gone = killpg(to_nix_pid(self.root.pid), signal);
        }
    }

    /// Sends a signal to the child's own group alone.
    pub(super) fn signal_group(&self, signal: Signal) {
        if self.stage == ProcessTreeStage::Running {
            let _gone = killpg(to_nix_pid(self.root.pid), signal);
        }
    }

    /// Kills everybody at once, over again for those born meanwhile, as far as that can be done without waiting.
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

/// Sends a signal to one process if it is still the same one.
pub(super) fn signal_process(id: ProcessIdentity, signal: Signal) {
    if read_process_entry(id.pid).is_some_and(|entry| entry.id == id) {
        let _gone = kill(to_nix_pid(id.pid), signal);
    }
}

/// Adds everybody whose parent is in the set, until nobody is added.
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

/// Waits, one by one, for orphans that this program inherited and that have ended. Children of the
/// async runtime, and anything of our own session, are somebody else's to wait for.
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
