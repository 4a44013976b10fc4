//! Follows the chain of parents above a process, up to this program's own ancestors or an adopter of orphans.
//!
//! An adopter is not the real parent: a process whose first living ancestor is an adopter may have been left
//! behind by any program.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::OnceLock;

use super::process_table::{ProcessEntry, read_process_entry, scan_processes};

/// The maximum number of generations; no real chain is longer.
const MAX_GENERATIONS: usize = 1024;
/// The first process of the machine or container, which adopts all remaining orphans.
const INIT_PID: u32 = 1;
/// Adopts the orphans of a user's session.
const SESSION_MANAGER_NAME: &str = "systemd";

/// The process that would adopt orphans of this program; known after [`detect_orphan_adopter`].
static ADOPTER: OnceLock<Option<u32>> = OnceLock::new();

/// Where a chain of parents ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AncestorChainEnd {
    /// At this program.
    ThisProgram,
    /// At a process that is an ancestor of this program.
    SharedAncestor,
    /// Outside of the process table, as for a process from a container's host.
    OutsideNamespace,
    /// At an adopter of orphans.
    OrphanAdopter,
    /// This cannot be determined.
    Unknown,
}

/// The chain above a process, starting with the process itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AncestorChain {
    pub entries: Vec<ProcessEntry>,
    pub end: AncestorChainEnd,
}

impl AncestorChain {
    /// Returns the last process of the chain.
    pub(super) fn top(&self) -> Option<&ProcessEntry> {
        self.entries.last()
    }
}

/// Follows chains of parents with the same set of adopters and own ancestors each time.
pub(super) struct AncestorChainReader {
    adopters: BTreeSet<u32>,
    own_ancestors: BTreeSet<u32>,
    /// One snapshot of the process table, or `None`: then each process is read individually.
    table: Option<BTreeMap<u32, ProcessEntry>>,
}

impl AncestorChainReader {
    /// Prepares to follow single chains; the given processes count as adopters, too.
    pub(super) fn new(adopters: impl IntoIterator<Item = u32>) -> Self {
        let mut reader = Self {
            adopters: adopters.into_iter().collect(),
            own_ancestors: BTreeSet::new(),
            table: None,
        };
        reader.adopters.extend(orphan_adopter());
        reader.own_ancestors = reader.read_own_ancestors();
        reader
    }

    /// Prepares to follow the chains of all processes; returns these processes.
    pub(super) fn with_process_table(
        adopters: impl IntoIterator<Item = u32>,
    ) -> (Self, Vec<ProcessEntry>) {
        let all = scan_processes();
        let mut reader = Self::new(adopters);
        reader.table = Some(all.iter().map(|entry| (entry.id.pid, *entry)).collect());
        (reader, all)
    }

    /// Follows the chain above a process.
    pub(super) fn read_chain(&self, pid: u32) -> AncestorChain {
        let own = std::process::id();
        let (mut line, mut at) = (Vec::new(), pid);
        let end = loop {
            if at == own {
                break AncestorChainEnd::ThisProgram;
            }
            if self.own_ancestors.contains(&at) {
                break AncestorChainEnd::SharedAncestor;
            }
            if self.is_adopter(at) {
                break AncestorChainEnd::OrphanAdopter;
            }
            let Some(entry) = self
                .lookup_entry(at)
                .filter(|_| line.len() < MAX_GENERATIONS)
            else {
                break AncestorChainEnd::Unknown;
            };
            line.push(entry);
            if entry.parent == 0 {
                break AncestorChainEnd::OutsideNamespace;
            }
            at = entry.parent;
        };
        AncestorChain { entries: line, end }
    }

    /// Returns the parents of this program up to the first adopter: a descendant of one of them belongs to
    /// its user's session.
    fn read_own_ancestors(&self) -> BTreeSet<u32> {
        let mut above = BTreeSet::new();
        let mut at = read_process_entry(std::process::id()).map(|entry| entry.parent);
        while let Some(pid) = at.filter(|pid| *pid != 0 && !self.is_adopter(*pid)) {
            if !above.insert(pid) {
                break;
            }
            at = read_process_entry(pid).map(|entry| entry.parent);
        }
        above
    }

    fn is_adopter(&self, pid: u32) -> bool {
        pid == INIT_PID || self.adopters.contains(&pid) || is_session_manager(pid)
    }

    fn lookup_entry(&self, pid: u32) -> Option<ProcessEntry> {
        match &self.table {
            None => read_process_entry(pid),
            Some(table) => table.get(&pid).copied(),
        }
    }
}

fn is_session_manager(pid: u32) -> bool {
    let name = fs::read_to_string(format!("/proc/{pid}/comm"));
    name.is_ok_and(|name| name.trim_end() == SESSION_MANAGER_NAME)
}

/// Returns the user who started a process, before the process changed its user; `None` if it is gone.
pub(super) fn read_real_uid(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    users.split_ascii_whitespace().next()?.parse().ok()
}

/// Returns the process that would adopt orphans of this program, if it was detected.
pub(super) fn orphan_adopter() -> Option<u32> {
    ADOPTER.get().copied().flatten()
}

/// Detects which process adopts orphans of this program, before this program becomes a subreaper itself:
/// creates an orphan and reads its parent.
#[cfg(target_os = "linux")]
pub(super) fn detect_orphan_adopter() {
    ADOPTER.get_or_init(|| match probe_orphan_adopter() {
        Ok(pid) => pid,
        Err(error) => {
            tracing::warn!(%error, "it is unknown which process adopts orphans here");
            None
        }
    });
}

#[cfg(target_os = "linux")]
fn probe_orphan_adopter() -> std::io::Result<Option<u32>> {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    // The orphan lives until its input is closed, which happens after its parent was read.
    let script = "exec 3<&0; { read -r _; } <&3 >/dev/null 2>&1 & echo $!";
    let mut parent = Command::new("/bin/sh")
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let keeps_the_orphan = parent.stdin.take();
    let mut line = String::new();
    if let Some(said) = parent.stdout.take() {
        BufReader::new(said).read_line(&mut line)?;
    }
    parent.wait()?;
    let orphan = line.trim().parse().ok().and_then(read_process_entry);
    drop(keeps_the_orphan);
    Ok(orphan.map(|orphan| orphan.parent))
}
