//! The line of parents above a process, up to where it meets this program's own line or an adopter of orphans.
//!
//! An adopter is no parent: whose first living ancestor is one may have been left behind by anybody.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::OnceLock;

use super::process_table::{ProcessEntry, read_process_entry, scan_processes};

/// More generations than any real line of processes has.
const MAX_GENERATIONS: usize = 1024;
/// The first process of the machine or container, which adopts whom nobody else adopts.
const INIT_PID: u32 = 1;
/// Adopts the orphans of a user's session.
const SESSION_MANAGER_NAME: &str = "systemd";

/// Who adopts what this program would leave behind; known once [`detect_orphan_adopter`] was called.
static ADOPTER: OnceLock<Option<u32>> = OnceLock::new();

/// Where a line of parents leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AncestorChainEnd {
    /// To this program.
    ThisProgram,
    /// To a process that this program descends from.
    SharedAncestor,
    /// Out of the process table, as from a container's host.
    OutsideNamespace,
    /// To an adopter of orphans.
    OrphanAdopter,
    /// Nobody can tell.
    Unknown,
}

/// The line above a process, itself first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AncestorChain {
    pub entries: Vec<ProcessEntry>,
    pub end: AncestorChainEnd,
}

impl AncestorChain {
    /// The last process of the line.
    pub(super) fn top(&self) -> Option<&ProcessEntry> {
        self.entries.last()
    }
}

/// Follows parents, each time through the same adopters and the same line of this program's.
pub(super) struct AncestorChainReader {
    adopters: BTreeSet<u32>,
    own_ancestors: BTreeSet<u32>,
    /// One look at everybody, or none: then each process is read by itself.
    table: Option<BTreeMap<u32, ProcessEntry>>,
}

impl AncestorChainReader {
    /// Prepares to follow single lines; these are adopters, too.
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

    /// Prepares to follow the lines of everybody; gives them.
    pub(super) fn with_process_table(
        adopters: impl IntoIterator<Item = u32>,
    ) -> (Self, Vec<ProcessEntry>) {
        let all = scan_processes();
        let mut reader = Self::new(adopters);
        reader.table = Some(all.iter().map(|entry| (entry.id.pid, *entry)).collect());
        (reader, all)
    }

    /// Follows the line above a process.
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

    /// The parents of this program up to the first adopter: who descends from one of them is of its user's session.
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

/// The user who started a process, before any change of user of its own; `None` where it is gone.
pub(super) fn read_real_uid(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    users.split_ascii_whitespace().next()?.parse().ok()
}

/// Who adopts what this program would leave behind, as far as it was found out.
pub(super) fn orphan_adopter() -> Option<u32> {
    ADOPTER.get().copied().flatten()
}

/// Finds out who adopts what this program would leave behind, while it does not yet do so itself: leaves a process
/// behind, and looks who its parent is.
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

    // The orphan lives until its input ends, which is when it has been looked at.
    let script = "exec 3<&0; cat <&3 >/dev/null 2>&1 & echo $!";
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
