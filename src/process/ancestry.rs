//! The line of parents above a process, up to where it meets this program's own line or an adopter of orphans.
//!
//! An adopter is no parent: whose first living ancestor is one may have been left behind by anybody.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::OnceLock;

use super::table::{Entry, entry_of, scan};

/// More generations than any real line of processes has.
const GENERATIONS: usize = 1024;
/// The first process of the machine or container, which adopts whom nobody else adopts.
const FIRST: u32 = 1;
/// Adopts the orphans of a user's session.
const SESSION_MANAGER: &str = "systemd";

/// Who adopts what this program would leave behind; known once [`note_adopter`] was called.
static ADOPTER: OnceLock<Option<u32>> = OnceLock::new();

/// Where a line of parents leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LineEnd {
    /// To this program.
    Own,
    /// To a process that this program descends from.
    Shared,
    /// Out of the process table, as from a container's host.
    Outside,
    /// To an adopter of orphans.
    Adopted,
    /// Nobody can tell.
    Unknown,
}

/// The line above a process, itself first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParentLine {
    pub line: Vec<Entry>,
    pub end: LineEnd,
}

impl ParentLine {
    /// The last process of the line.
    pub(super) fn top(&self) -> Option<&Entry> {
        self.line.last()
    }
}

/// Follows parents, each time through the same adopters and the same line of this program's.
pub(super) struct LineReader {
    adopters: BTreeSet<u32>,
    above_own: BTreeSet<u32>,
    /// One look at everybody, or none: then each process is read by itself.
    table: Option<BTreeMap<u32, Entry>>,
}

impl LineReader {
    /// Prepares to follow single lines; these are adopters, too.
    pub(super) fn new(adopters: impl IntoIterator<Item = u32>) -> Self {
        let mut reader = Self {
            adopters: adopters.into_iter().collect(),
            above_own: BTreeSet::new(),
            table: None,
        };
        reader.adopters.extend(adopter());
        reader.above_own = reader.line_above_own();
        reader
    }

    /// Prepares to follow the lines of everybody; gives them.
    pub(super) fn of_everybody(adopters: impl IntoIterator<Item = u32>) -> (Self, Vec<Entry>) {
        let all = scan();
        let mut reader = Self::new(adopters);
        reader.table = Some(all.iter().map(|entry| (entry.id.pid, *entry)).collect());
        (reader, all)
    }

    /// Follows the line above a process.
    pub(super) fn line_of(&self, pid: u32) -> ParentLine {
        let own = std::process::id();
        let (mut line, mut at) = (Vec::new(), pid);
        let end = loop {
            if at == own {
                break LineEnd::Own;
            }
            if self.above_own.contains(&at) {
                break LineEnd::Shared;
            }
            if self.is_adopter(at) {
                break LineEnd::Adopted;
            }
            let Some(entry) = self.entry(at).filter(|_| line.len() < GENERATIONS) else {
                break LineEnd::Unknown;
            };
            line.push(entry);
            if entry.parent == 0 {
                break LineEnd::Outside;
            }
            at = entry.parent;
        };
        ParentLine { line, end }
    }

    /// The parents of this program up to the first adopter: who descends from one of them is of its user's session.
    fn line_above_own(&self) -> BTreeSet<u32> {
        let mut above = BTreeSet::new();
        let mut at = entry_of(std::process::id()).map(|entry| entry.parent);
        while let Some(pid) = at.filter(|pid| *pid != 0 && !self.is_adopter(*pid)) {
            if !above.insert(pid) {
                break;
            }
            at = entry_of(pid).map(|entry| entry.parent);
        }
        above
    }

    fn is_adopter(&self, pid: u32) -> bool {
        pid == FIRST || self.adopters.contains(&pid) || is_session_manager(pid)
    }

    fn entry(&self, pid: u32) -> Option<Entry> {
        match &self.table {
            None => entry_of(pid),
            Some(table) => table.get(&pid).copied(),
        }
    }
}

fn is_session_manager(pid: u32) -> bool {
    let name = fs::read_to_string(format!("/proc/{pid}/comm"));
    name.is_ok_and(|name| name.trim_end() == SESSION_MANAGER)
}

/// The user who started a process, before any change of user of its own; `None` where it is gone.
pub(super) fn real_user_of(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    users.split_ascii_whitespace().next()?.parse().ok()
}

/// Who adopts what this program would leave behind, as far as it was found out.
pub(super) fn adopter() -> Option<u32> {
    ADOPTER.get().copied().flatten()
}

/// Finds out who adopts what this program would leave behind, while it does not yet do so itself: leaves a process
/// behind, and looks who its parent is.
#[cfg(target_os = "linux")]
pub(super) fn note_adopter() {
    ADOPTER.get_or_init(|| match find_adopter() {
        Ok(pid) => pid,
        Err(error) => {
            tracing::warn!(%error, "it cannot be seen who adopts orphans here");
            None
        }
    });
}

#[cfg(target_os = "linux")]
fn find_adopter() -> std::io::Result<Option<u32>> {
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
    let orphan = line.trim().parse().ok().and_then(entry_of);
    drop(keeps_the_orphan);
    Ok(orphan.map(|orphan| orphan.parent))
}
