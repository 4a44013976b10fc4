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

use super::registry::{Registered, is_subreaper, registered, unless_registered};
use super::table::{Entry, Life, ProcessIdentity, entry_of, mark_of, may_have_orphans, scan};

/// A child and its descendants. Dropped before its end was seen to, it kills them all.
#[derive(Debug)]
pub(super) struct Family {
    pub root: ProcessIdentity,
    mark: String,
    known: BTreeSet<ProcessIdentity>,
    stage: Stage,
    /// Whether this program was the heir of its descendants when the child began.
    inherits: bool,
    _registered: Registered,
}

#[derive(Debug, PartialEq, Eq)]
enum Stage {
    /// The child has not been waited for: its number and its group's are its own.
    Running,
    /// The child was waited for; others of the family may live.
    Orphaned,
    /// Nobody is left, or nobody who can be ended.
    Over,
}

impl Family {
    pub(super) fn new(root: Registered, mark: String) -> Self {
        Self {
            root: root.id(),
            mark,
            known: BTreeSet::new(),
            stage: Stage::Running,
            inherits: is_subreaper(),
            _registered: root,
        }
    }

    /// Notes that the child itself has ended and was waited for.
    pub(super) fn on_root_reaped(&mut self) {
        self.stage = Stage::Orphaned;
    }

    /// Notes that all was done that can be.
    pub(super) fn on_over(&mut self) {
        self.stage = Stage::Over;
    }

    /// Everybody of the family but the child itself who still lives; ended orphans are buried on the way.
    pub(super) fn descendants(&mut self) -> Vec<ProcessIdentity> {
        // Nearly every command ends alone: then there is no need to go through all processes of the machine.
        if self.is_childless() {
            self.known.clear();
            return Vec::new();
        }
        let table = scan();
        let own = std::process::id();
        let own_session = table
            .iter()
            .find(|entry| entry.id.pid == own)
            .map(|entry| entry.session);
        // Read after the table: whoever is a direct child in the table is in here, if it still lives.
        let children = registered();
        bury(&table, own, own_session);
        self.extend_by_root(&table, own, own_session, &children);
        extend_by_parent(&mut self.known, &table);
        self.known.remove(&self.root);
        let living: BTreeMap<_, _> = table.iter().map(|entry| (entry.id, entry.life)).collect();
        self.known.retain(|id| living.get(id) == Some(&Life::Alive));
        self.known.iter().copied().collect()
    }

    /// Tells whether surely nobody is left of the child that ended: whoever is left was inherited.
    fn is_childless(&self) -> bool {
        self.stage == Stage::Orphaned
            && self.inherits
            && entry_of(self.root.pid).is_none_or(|entry| entry.id != self.root)
            && !may_have_orphans()
    }

    fn extend_by_root(
        &mut self,
        table: &[Entry],
        own: u32,
        own_session: Option<u32>,
        children: &BTreeSet<ProcessIdentity>,
    ) {
        // Once the child was waited for, its number may be given to a stranger.
        let number_is_ours = !table
            .iter()
            .any(|entry| entry.id.pid == self.root.pid && entry.id != self.root);
        let only_suspect = |orphan: &Entry| {
            children
                .iter()
                .all(|id| *id == self.root || id.start_time > orphan.id.start_time)
        };
        for entry in table {
            // Nobody who was there before the child can descend from it.
            if entry.id.pid == own
                || entry.id.start_time < self.root.start_time
                || self.known.contains(&entry.id)
            {
                continue;
            }
            let is_root = entry.id == self.root;
            let in_session = number_is_ours && entry.session == self.root.pid;
            let is_stray = || {
                self.stage == Stage::Orphaned
                    && entry.parent == own
                    && Some(entry.session) != own_session
                    && !children.contains(&entry.id)
                    && only_suspect(entry)
            };
            if is_root
                || in_session
                || mark_of(entry.id.pid).as_ref() == Some(&self.mark)
                || is_stray()
            {
                self.known.insert(entry.id);
            }
        }
        if self.stage == Stage::Running {
            self.known.insert(self.root);
        }
    }

    /// Sends a signal to the child, its group and everybody else of the family who lives.
    ///
    /// The group comes first, so that the child cannot answer the death of its own children before its turn.
    pub(super) fn signal(&mut self, signal: Signal) {
        let descendants = self.descendants();
        // The number is the child's as long as it was not waited for; off Linux there is nothing else to go by.
        let by_group = self.stage == Stage::Running || cfg!(not(target_os = "linux"));
        if by_group {
            let _gone = killpg(raw(self.root.pid), signal);
        }
        for id in descendants {
            let reached =
                by_group && entry_of(id.pid).is_some_and(|entry| entry.group == self.root.pid);
            if !reached {
                signal_one(id, signal);
            }
        }
    }

    /// Tells whether the child's group outlived it, where the table is empty and only the group can tell.
    pub(super) fn untabled_group_lives(&self) -> bool {
        cfg!(not(target_os = "linux")) && killpg(raw(self.root.pid), None).is_ok()
    }

    /// Sends a signal to what outlived the child in its group, where the table is empty.
    pub(super) fn signal_untabled_group(&self, signal: Signal) {
        if cfg!(not(target_os = "linux")) {
            let _gone = killpg(raw(self.root.pid), signal);
        }
    }

    /// Sends a signal to the child's own group alone.
    pub(super) fn signal_group(&self, signal: Signal) {
        if self.stage == Stage::Running {
            let _gone = killpg(raw(self.root.pid), signal);
        }
    }

    /// Kills everybody at once, over again for those born meanwhile, as far as that can be done without waiting.
    fn kill_now(&mut self) {
        for _ in 0..5 {
            self.signal(Signal::SIGKILL);
            if self.descendants().is_empty() {
                break;
            }
        }
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        if self.stage != Stage::Over {
            self.kill_now();
        }
    }
}

/// Sends a signal to one process if it is still the same one.
pub(super) fn signal_one(id: ProcessIdentity, signal: Signal) {
    if entry_of(id.pid).is_some_and(|entry| entry.id == id) {
        let _gone = kill(raw(id.pid), signal);
    }
}

/// Adds everybody whose parent is in the set, until nobody is added.
pub(super) fn extend_by_parent(known: &mut BTreeSet<ProcessIdentity>, table: &[Entry]) {
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
fn bury(table: &[Entry], own: u32, own_session: Option<u32>) {
    let inherited = table.iter().filter(|entry| {
        entry.life == Life::Zombie && entry.parent == own && Some(entry.session) != own_session
    });
    for orphan in inherited {
        unless_registered(orphan.id, || {
            let _taken_already = waitpid(raw(orphan.id.pid), Some(WaitPidFlag::WNOHANG));
        });
    }
}

fn raw(pid: u32) -> Pid {
    Pid::from_raw(i32::try_from(pid).unwrap_or(i32::MAX))
}
