//! Which instances of this program were killed since the machine started, and who may be left of them.
//!
//! An instance that ends by itself ends all that it started. A killed one can leave a process that cleared its
//! environment, leads a session of its own and has no parent: nothing of it tells whose it was. So it is known by
//! what it cannot change: it started after that instance, and its line of parents ends at an adopter of orphans.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use nix::unistd::getuid;
use serde::{Deserialize, Serialize};

use super::ancestry::{LineEnd, LineReader, ParentLine, adopter, real_user_of};
use super::namespace::NamespaceSet;
use super::registry::registered;
use super::table::{Life, ProcessIdentity, command_of, is_alive, own_identity, scan};

/// One instance of this program, as its record on disk tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceRecord {
    /// The program's process.
    pub id: ProcessIdentity,
    /// Which start of the machine it belongs to.
    boot: String,
    namespaces: Option<NamespaceSet>,
    /// Who adopts what it leaves behind, where that is known.
    #[serde(default)]
    adopter: Option<u32>,
}

/// What a record of an instance says now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstanceFate {
    /// It lives, or another container has it.
    Alive,
    /// It was killed, and something of it may live.
    Killed,
    /// The machine was started again since: nothing of it lives.
    Past,
}

impl InstanceRecord {
    /// Describes this program; `None` where the system does not tell processes apart.
    pub fn own() -> Option<Self> {
        Some(Self {
            id: own_identity(),
            boot: boot_id()?,
            namespaces: NamespaceSet::own(),
            adopter: adopter(),
        })
    }

    /// Tells what became of it.
    pub fn fate(&self) -> InstanceFate {
        if boot_id().is_some_and(|boot| boot != self.boot) {
            return InstanceFate::Past;
        }
        let is_here = match (&self.namespaces, NamespaceSet::own()) {
            (Some(theirs), Some(ours)) => theirs.shares_processes(&ours),
            (None, _) | (_, None) => true,
        };
        if !is_here || is_alive(self.id) {
            InstanceFate::Alive
        } else {
            InstanceFate::Killed
        }
    }
}

/// The instances of which something may be left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KilledInstances(Vec<InstanceRecord>);

/// A process that a killed instance may have left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftoverSuspect {
    /// The process.
    pub id: ProcessIdentity,
    /// Its command line.
    pub command: String,
    /// Where it works, where that can be seen.
    pub folder: Option<PathBuf>,
}

impl KilledInstances {
    /// Takes these instances for killed.
    pub fn new(instances: impl IntoIterator<Item = InstanceRecord>) -> Self {
        Self(instances.into_iter().collect())
    }

    /// Finds the living processes that one of them may have left. Where there are none, nothing of them can ever
    /// come back: whoever is born later has other parents.
    pub fn suspects(&self) -> Vec<LeftoverSuspect> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let (reader, all) = LineReader::of_everybody(self.adopters());
        let alive = all.iter().filter(|entry| entry.life == Life::Alive);
        let suspects = alive.filter(|entry| self.may_have_left(&reader.line_of(entry.id.pid)));
        suspects
            .map(|entry| LeftoverSuspect {
                id: entry.id,
                command: command_of(entry.id.pid),
                folder: fs::read_link(format!("/proc/{}/cwd", entry.id.pid)).ok(),
            })
            .collect()
    }

    /// Tells whether one of them may have started whoever is at the bottom of this line.
    pub(super) fn may_have_left(&self, line: &ParentLine) -> bool {
        let (LineEnd::Adopted, Some(top)) = (&line.end, line.top()) else {
            return false;
        };
        let earliest = self.0.iter().map(|instance| instance.id.start_time).min();
        // Whoever was there before, and whatever another user's process started, is nobody's leftover.
        earliest.is_some_and(|earliest| top.id.start_time >= earliest)
            && real_user_of(top.id.pid).is_none_or(|user| user == getuid().as_raw())
    }

    /// Who adopted what they left.
    pub(super) fn adopters(&self) -> BTreeSet<u32> {
        self.0
            .iter()
            .filter_map(|instance| instance.adopter)
            .collect()
    }
}

/// Tells whether a process that this program started still lives.
pub fn has_living_descendants() -> bool {
    if !registered().is_empty() {
        return true;
    }
    let reader = LineReader::new([]);
    let own = std::process::id();
    scan().iter().any(|entry| {
        entry.life == Life::Alive
            && entry.id.pid != own
            && reader.line_of(entry.id.pid).end == LineEnd::Own
    })
}

fn boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::table::Entry;
    use super::*;

    fn record(start_time: u64) -> InstanceRecord {
        InstanceRecord {
            id: ProcessIdentity {
                pid: u32::MAX,
                start_time,
            },
            ..InstanceRecord::own().unwrap()
        }
    }

    fn line(start_time: u64, end: LineEnd) -> ParentLine {
        let own = own_identity();
        let top = Entry {
            id: ProcessIdentity { start_time, ..own },
            parent: 1,
            group: own.pid,
            session: own.pid,
            life: Life::Alive,
        };
        ParentLine {
            line: vec![top],
            end,
        }
    }

    #[test]
    fn an_orphan_of_a_killed_instances_time_may_be_its_and_nobody_else() {
        let killed = KilledInstances::new([record(200), record(100)]);
        assert!(killed.may_have_left(&line(100, LineEnd::Adopted)));
        assert!(!killed.may_have_left(&line(99, LineEnd::Adopted)));
        for end in [LineEnd::Shared, LineEnd::Outside, LineEnd::Own] {
            assert!(!killed.may_have_left(&line(300, end)));
        }
        assert!(!KilledInstances::default().may_have_left(&line(300, LineEnd::Adopted)));
    }

    #[test]
    fn a_record_tells_what_became_of_its_instance() {
        let own = InstanceRecord::own().unwrap();
        assert_eq!(own.fate(), InstanceFate::Alive);
        assert_eq!(record(100).fate(), InstanceFate::Killed);
        let mut past = record(100);
        past.boot = "another".to_owned();
        assert_eq!(past.fate(), InstanceFate::Past);
        let mut elsewhere = record(100);
        elsewhere.namespaces = NamespaceSet::of(std::process::id()).map(|_| {
            serde_json::from_value(serde_json::json!({
                "pid": "pid:[1]", "mount": "mnt:[1]", "user": "user:[1]"
            }))
            .unwrap()
        });
        assert_eq!(elsewhere.fate(), InstanceFate::Alive);
    }
}
