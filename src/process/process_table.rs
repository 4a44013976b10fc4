//! The system's process table: who lives, whose child, which session, which mark.
//!
//! Refuses to signal anybody. Off Linux the table is empty: then a child is known by its process
//! group alone, and processes that lead sessions of their own are not found.

use std::fs::{self, File};
use std::io::Read;

use serde::{Deserialize, Serialize};

use super::kernel_namespaces::has_other_mount_namespace;
use super::spawn_spec::MARK_VARIABLE;

/// What the mount that bears a contained child's mark begins with.
const MARK_MOUNT_PREFIX: &str = "/dev/agent-collab.";

/// More than a `stat` line holds: 52 numbers and a name of at most 64 bytes.
const MAX_STAT_BYTES: usize = 2048;

/// A process, told apart from a later one that got the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// The process number.
    pub pid: u32,
    /// Clock ticks (100 a second) between the machine's start and the process's; 0 off Linux.
    pub start_time: u64,
}

/// One line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessEntry {
    pub id: ProcessIdentity,
    pub parent: u32,
    pub group: u32,
    pub session: u32,
    pub liveness: ProcessLiveness,
}

/// Whether a process still does anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProcessLiveness {
    Alive,
    /// Dead, and waiting for its parent to take note.
    Zombie,
}

/// Reads the whole table; processes that end meanwhile are left out.
pub(super) fn scan_processes() -> Vec<ProcessEntry> {
    let Ok(folder) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    folder
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(read_process_entry)
        .collect()
}

/// Tells whether this program may have inherited processes from its descendants; it must be their heir. Where
/// the system cannot say, it may.
///
/// Linux hands orphans to the first thread of their heir, and children are started by another one. The list
/// can lack somebody when children end meanwhile, but then it is not empty: only an empty one is relied on.
pub(super) fn may_have_inherited_orphans() -> bool {
    let own = std::process::id();
    let children = fs::read(format!("/proc/{own}/task/{own}/children"));
    children.map_or(true, |pids| !pids.is_empty())
}

/// Reads one process's line.
pub(super) fn read_process_entry(pid: u32) -> Option<ProcessEntry> {
    // The table is read whenever a child ends: one read a process, since the file tells no size to go by.
    let mut file = File::open(format!("/proc/{pid}/stat")).ok()?;
    let mut line = [0; MAX_STAT_BYTES];
    let n = file.read(&mut line).ok()?;
    parse_stat(&String::from_utf8_lossy(&line[..n]))
}

/// Names a process that was just started, before anybody can have waited for it.
pub(super) fn read_identity(pid: u32) -> ProcessIdentity {
    read_process_entry(pid).map_or(ProcessIdentity { pid, start_time: 0 }, |entry| entry.id)
}

/// How long the machine runs, in the clock ticks of [`ProcessIdentity`]; 0 off Linux.
pub(super) fn read_uptime_ticks() -> u64 {
    let text = fs::read_to_string("/proc/uptime").unwrap_or_default();
    let (seconds, rest) = text.split_once('.').unwrap_or(("0", ""));
    let hundredths = rest.get(..2).and_then(|digits| digits.parse().ok());
    let seconds: u64 = seconds.parse().unwrap_or_default();
    seconds * 100 + hundredths.unwrap_or(0)
}

/// Names this program's own process.
pub(super) fn read_own_identity() -> ProcessIdentity {
    read_identity(std::process::id())
}

/// Tells whether this very process is there and has not ended.
pub(super) fn is_alive(id: ProcessIdentity) -> bool {
    read_process_entry(id.pid)
        .is_some_and(|entry| entry.id == id && entry.liveness == ProcessLiveness::Alive)
}

/// Reads the mark that a process was started with; `None` where there is none or it is not ours to read.
pub(super) fn read_environment_mark(pid: u32) -> Option<String> {
    find_mark(&read_environment(pid)?)
}

/// Reads the environment that a process was started with; `None` where it is gone or not ours to read.
pub(super) fn read_environment(pid: u32) -> Option<Vec<u8>> {
    fs::read(format!("/proc/{pid}/environ")).ok()
}

/// Finds the mark in an environment.
pub(super) fn find_mark(environment: &[u8]) -> Option<String> {
    environment.split(|byte| *byte == 0).find_map(|variable| {
        let value = variable
            .strip_prefix(MARK_VARIABLE.as_bytes())?
            .strip_prefix(b"=")?;
        Some(String::from_utf8_lossy(value).into_owned())
    })
}

/// Where a contained child's mark is mounted; what a path or a table of mounts would write otherwise becomes `_`.
pub(super) fn mark_mount_path(mark: &str) -> String {
    let plain = |c: char| match c {
        ':' | '.' | '-' | '_' => c,
        _ if c.is_ascii_alphanumeric() => c,
        _ => '_',
    };
    let mark: String = mark.chars().map(plain).collect();
    format!("{MARK_MOUNT_PREFIX}{mark}")
}

/// Reads the mark among the mounts that a process sees; `None` where it sees this program's own.
pub(super) fn read_mount_mark(pid: u32) -> Option<String> {
    if !has_other_mount_namespace(pid) {
        return None;
    }
    let mounts = fs::read_to_string(format!("/proc/{pid}/mountinfo")).ok()?;
    let places = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    let mark = places
        .filter_map(|place| place.strip_prefix(MARK_MOUNT_PREFIX))
        .next_back();
    mark.map(str::to_owned)
}

/// Reads a process's command line, its words parted by blanks.
pub(super) fn read_command_line(pid: u32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words)
        .trim_end_matches('\0')
        .replace('\0', " ")
}

/// Reads a line of `/proc/<pid>/stat`. The name in brackets may hold blanks and brackets, so what counts comes after the last one.
fn parse_stat(line: &str) -> Option<ProcessEntry> {
    let (start, rest) = (line.split_once(" (")?.0, line.rsplit_once(')')?.1);
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let life = match *fields.first()? {
        "Z" | "X" | "x" => ProcessLiveness::Zombie,
        _ => ProcessLiveness::Alive,
    };
    Some(ProcessEntry {
        id: ProcessIdentity {
            pid: start.parse().ok()?,
            start_time: fields.get(19)?.parse().ok()?,
        },
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        liveness: life,
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks_confuses_nobody() {
        let line = "42 (a) b (c) Z 7 41 40 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 12345 0 0";
        let expected = ProcessEntry {
            id: ProcessIdentity {
                pid: 42,
                start_time: 12345,
            },
            parent: 7,
            group: 41,
            session: 40,
            liveness: ProcessLiveness::Zombie,
        };
        assert_eq!(parse_stat(line), Some(expected));
        assert_eq!(parse_stat("nonsense"), None);
    }

    #[test]
    fn this_process_is_in_the_table() {
        let own = read_own_identity();
        assert!(own.start_time > 0 && is_alive(own));
        assert!(scan_processes().iter().any(|entry| entry.id == own));
        assert!(!is_alive(ProcessIdentity {
            start_time: own.start_time + 1,
            ..own
        }));
    }
}
