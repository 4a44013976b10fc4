//! Reads the system's process table: living processes, their parents, sessions and marks.
//!
//! Sends no signals. Off Linux the table is empty: then a child is known only by its process group, and
//! processes in sessions of their own are not found.

use std::fs::{self, File};
use std::io::Read;

use serde::{Deserialize, Serialize};

use super::kernel_namespaces::has_other_mount_namespace;
use super::process_mark::{MARK_MOUNT_PREFIX, MARK_VARIABLE};

/// The maximum size of a `stat` line: 52 numbers and a name of at most 64 bytes.
const MAX_STAT_BYTES: usize = 2048;

/// Identifies a process, even if a later process gets the same pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcessIdentity {
    pub pid: u32,
    /// Clock ticks (100 per second) between boot and the start of the process; 0 off Linux.
    pub start_time: u64,
}

/// One entry of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessEntry {
    pub id: ProcessIdentity,
    pub parent: u32,
    pub group: u32,
    pub session: u32,
    pub liveness: ProcessLiveness,
}

/// Whether a process is alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProcessLiveness {
    Alive,
    /// Dead, but its parent has not waited for it.
    Zombie,
}

/// Reads the whole table; processes that end in the meantime are left out.
pub(super) fn scan_processes() -> Vec<ProcessEntry> {
    let Ok(folder) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    folder
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(read_process_entry)
        .collect()
}

/// Returns true if this program, which must be the subreaper, may have inherited orphans from its
/// descendants. If the system cannot tell, it may have.
///
/// Linux attaches orphans to the first thread of the subreaper, while another thread starts children. The
/// list can miss a process while children end, but then it is not empty: the code only relies on an empty
/// list.
pub(super) fn may_have_inherited_orphans() -> bool {
    let own = std::process::id();
    let children = fs::read(format!("/proc/{own}/task/{own}/children"));
    children.map_or(true, |pids| !pids.is_empty())
}

/// Reads the entry of one process.
pub(super) fn read_process_entry(pid: u32) -> Option<ProcessEntry> {
    // The table is read whenever a child ends: use a single read per process, because the file reports no
    // size.
    let mut file = File::open(format!("/proc/{pid}/stat")).ok()?;
    let mut line = [0; MAX_STAT_BYTES];
    let n = file.read(&mut line).ok()?;
    parse_stat(&String::from_utf8_lossy(&line[..n]))
}

/// Identifies a process that was just started, before any code can have waited for it.
pub(super) fn read_identity(pid: u32) -> ProcessIdentity {
    read_process_entry(pid).map_or(ProcessIdentity { pid, start_time: 0 }, |entry| entry.id)
}

/// Returns the uptime of the machine, in the clock ticks of [`ProcessIdentity`]; 0 off Linux.
pub fn read_uptime_ticks() -> u64 {
    let text = fs::read_to_string("/proc/uptime").unwrap_or_default();
    let (seconds, rest) = text.split_once('.').unwrap_or(("0", ""));
    let hundredths = rest.get(..2).and_then(|digits| digits.parse().ok());
    let seconds: u64 = seconds.parse().unwrap_or_default();
    seconds * 100 + hundredths.unwrap_or(0)
}

/// Identifies this program's own process.
pub(super) fn read_own_identity() -> ProcessIdentity {
    read_identity(std::process::id())
}

/// Returns true if this exact process exists and has not ended.
pub(super) fn is_alive(id: ProcessIdentity) -> bool {
    read_process_entry(id.pid)
        .is_some_and(|entry| entry.id == id && entry.liveness == ProcessLiveness::Alive)
}

/// Reads the mark that a process was started with; `None` if there is none or it is not readable.
pub(super) fn read_environment_mark(pid: u32) -> Option<String> {
    find_mark(&read_environment(pid)?)
}

/// Reads the environment that a process was started with; `None` if it is gone or not readable.
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

/// Reads the mark from the mounts that a process sees; `None` if it sees the same mounts as this program.
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

/// Reads the command line of a process, with the words separated by spaces.
pub(super) fn read_command_line(pid: u32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words)
        .trim_end_matches('\0')
        .replace('\0', " ")
}

/// Parses a line of `/proc/<pid>/stat`. The name in parentheses may contain spaces and parentheses, so the
/// fields start after the last one.
fn parse_stat(line: &str) -> Option<ProcessEntry> {
    let (start, rest) = (line.split_once(" (")?.0, line.rsplit_once(')')?.1);
    let mut fields = rest.trim_start().split(' ');
    let liveness = match fields.next()? {
        "Z" | "X" | "x" => ProcessLiveness::Zombie,
        _ => ProcessLiveness::Alive,
    };
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    // The 20th field behind the name; the line has 30 more.
    let start_time = fields.nth(15)?.parse().ok()?;
    Some(ProcessEntry {
        id: ProcessIdentity {
            pid: start.parse().ok()?,
            start_time,
        },
        parent,
        group,
        session,
        liveness,
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
