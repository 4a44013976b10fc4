//! Finds instances of this program that were killed since boot, and the processes they may have left.
//!
//! An instance that ends normally ends everything that it started. A killed one can leave a process that
//! cleared its environment, has its own session and no parent: nothing shows where it came from. So it is
//! recognized by what it cannot change: it started after that instance, and its chain of parents ends at an
//! adopter of orphans.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use nix::unistd::getuid;
use serde::{Deserialize, Serialize};

use super::ancestor_chain::{
    AncestorChain, AncestorChainEnd, AncestorChainReader, orphan_adopter, read_real_uid,
};
use super::child_registry::registered_children;
use super::kernel_namespaces::KernelNamespaces;
use super::process_table::{
    ProcessIdentity, ProcessLiveness, is_alive, read_command_line, read_own_identity,
    scan_processes,
};

/// One instance of this program, from its record on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceRecord {
    pub id: ProcessIdentity,
    /// The boot of the machine that it belongs to.
    boot: String,
    namespaces: Option<KernelNamespaces>,
    /// The process that adopts its orphans, if known.
    #[serde(default)]
    adopter: Option<u32>,
}

/// The state of a recorded instance now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstanceFate {
    /// It is alive, or runs in another container.
    Alive,
    /// It was killed, and some of its processes may be alive.
    Killed,
    /// The machine was rebooted since: none of its processes is alive.
    BeforeReboot,
}

impl InstanceRecord {
    /// Describes this program; `None` if the system cannot identify processes.
    pub fn current() -> Option<Self> {
        Some(Self {
            id: read_own_identity(),
            boot: read_boot_id()?,
            namespaces: KernelNamespaces::read_own(),
            adopter: orphan_adopter(),
        })
    }

    /// Returns what happened to the instance.
    pub fn fate(&self) -> InstanceFate {
        if read_boot_id().is_some_and(|boot| boot != self.boot) {
            return InstanceFate::BeforeReboot;
        }
        let is_here = match (&self.namespaces, KernelNamespaces::read_own()) {
            (Some(theirs), Some(ours)) => theirs.shares_pid_namespace(&ours),
            (None, _) | (_, None) => true,
        };
        if !is_here || is_alive(self.id) {
            InstanceFate::Alive
        } else {
            InstanceFate::Killed
        }
    }
}

/// The killed instances whose processes may still exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KilledInstances(Vec<InstanceRecord>);

/// A process that a killed instance may have left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftoverSuspect {
    pub id: ProcessIdentity,
    pub command: String,
    /// Its working directory, if visible.
    pub folder: Option<PathBuf>,
}

impl KilledInstances {
    /// Treats these instances as killed.
    pub fn new(instances: impl IntoIterator<Item = InstanceRecord>) -> Self {
        Self(instances.into_iter().collect())
    }

    /// Finds the living processes that a killed instance may have left. If there are none, none can appear
    /// later: new processes have other parents.
    pub fn find_suspects(&self) -> Vec<LeftoverSuspect> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let (reader, all) = AncestorChainReader::with_process_table(self.adopters());
        let alive = all
            .iter()
            .filter(|entry| entry.liveness == ProcessLiveness::Alive);
        let suspects = alive.filter(|entry| self.may_have_left(&reader.read_chain(entry.id.pid)));
        suspects
            .map(|entry| LeftoverSuspect {
                id: entry.id,
                command: read_command_line(entry.id.pid),
                folder: fs::read_link(format!("/proc/{}/cwd", entry.id.pid)).ok(),
            })
            .collect()
    }

    /// Returns true if a killed instance may have started the process at the bottom of this chain.
    pub(super) fn may_have_left(&self, line: &AncestorChain) -> bool {
        let (AncestorChainEnd::OrphanAdopter, Some(top)) = (&line.end, line.top()) else {
            return false;
        };
        let earliest = self.0.iter().map(|instance| instance.id.start_time).min();
        // A process that existed before, or that belongs to another user, is no leftover.
        earliest.is_some_and(|earliest| top.id.start_time >= earliest)
            && read_real_uid(top.id.pid).is_none_or(|user| user == getuid().as_raw())
    }

    /// Returns the processes that adopted the orphans of these instances.
    pub(super) fn adopters(&self) -> BTreeSet<u32> {
        self.0
            .iter()
            .filter_map(|instance| instance.adopter)
            .collect()
    }
}

/// Returns true if a process that this program started is still alive.
pub fn has_living_descendants() -> bool {
    if !registered_children().is_empty() {
        return true;
    }
    let reader = AncestorChainReader::new([]);
    let own = std::process::id();
    scan_processes().iter().any(|entry| {
        entry.liveness == ProcessLiveness::Alive
            && entry.id.pid != own
            && reader.read_chain(entry.id.pid).end == AncestorChainEnd::ThisProgram
    })
}

fn read_boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::process_table::ProcessEntry;
    use super::*;

    fn record(start_time: u64) -> InstanceRecord {
        InstanceRecord {
            id: ProcessIdentity {
                pid: u32::MAX,
                start_time,
            },
            ..InstanceRecord::current().unwrap()
        }
    }

    fn line(start_time: u64, end: AncestorChainEnd) -> AncestorChain {
        let own = read_own_identity();
        let top = ProcessEntry {
            id: ProcessIdentity { start_time, ..own },
            parent: 1,
            group: own.pid,
            session: own.pid,
            liveness: ProcessLiveness::Alive,
        };
        AncestorChain {
            entries: vec![top],
            end,
        }
    }

    #[test]
    fn an_orphan_of_a_killed_instances_time_may_be_its_and_nobody_else() {
        let killed = KilledInstances::new([record(200), record(100)]);
        assert!(killed.may_have_left(&line(100, AncestorChainEnd::OrphanAdopter)));
        assert!(!killed.may_have_left(&line(99, AncestorChainEnd::OrphanAdopter)));
        for end in [
            AncestorChainEnd::SharedAncestor,
            AncestorChainEnd::OutsideNamespace,
            AncestorChainEnd::ThisProgram,
        ] {
            assert!(!killed.may_have_left(&line(300, end)));
        }
        assert!(
            !KilledInstances::default().may_have_left(&line(300, AncestorChainEnd::OrphanAdopter))
        );
    }

    #[test]
    fn a_record_tells_what_became_of_its_instance() {
        let own = InstanceRecord::current().unwrap();
        assert_eq!(own.fate(), InstanceFate::Alive);
        assert_eq!(record(100).fate(), InstanceFate::Killed);
        let mut past = record(100);
        past.boot = "another".to_owned();
        assert_eq!(past.fate(), InstanceFate::BeforeReboot);
        let mut elsewhere = record(100);
        elsewhere.namespaces = KernelNamespaces::read(std::process::id()).map(|_| {
            serde_json::from_value(serde_json::json!({
                "pid": "pid:[1]", "mount": "mnt:[1]", "user": "user:[1]"
            }))
            .unwrap()
        });
        assert_eq!(elsewhere.fate(), InstanceFate::Alive);
    }
}
