//! Reports what a child and everything below it are doing: processor time, stopped or not, waiting for input
//! or not.
//!
//! Does not judge or signal. Off Linux the list is empty, because nothing is known there.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use super::process_table::{
    ProcessEntry, ProcessIdentity, read_command_line, read_environment_mark, scan_processes,
};
use super::process_tree::add_descendants;

/// Clock ticks per second, as Linux reports them to programs.
const TICKS_PER_SECOND: u64 = 100;
/// The numbers of the system calls that read: `read` and `readv`.
#[cfg(target_arch = "x86_64")]
const READS: [&str; 2] = ["0", "19"];
#[cfg(not(target_arch = "x86_64"))]
const READS: [&str; 2] = ["63", "65"];

/// The activity of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessActivity {
    pub id: ProcessIdentity,
    /// Its command line, with the words separated by spaces, not sanitized.
    pub command: String,
    /// Its state in the process table.
    pub state: ProcessState,
    /// The processor time of the process and its ended children.
    pub cpu_time: Duration,
    /// The time since it started.
    pub age: Duration,
    /// Whether it waits for input.
    pub input_wait: InputWait,
}

/// The state of a process as the system reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    /// It runs, or sleeps until an event arrives.
    Normal,
    /// It waits for a device and receives no signals in the meantime.
    Uninterruptible,
    Stopped,
    /// It has ended, and its parent has not waited for it.
    Zombie,
}

/// Whether a process waits for input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputWait {
    /// It is blocked reading its standard input: a terminal, or a pipe that no process other than the child
    /// itself writes to.
    Waiting,
    /// It does not wait for input, or this is unknown.
    Unknown,
}

/// Returns the activity of a child and its process tree, the child first. Reads the process table, so do not
/// call it often.
pub fn read_tree_activity(root: ProcessIdentity) -> Vec<ProcessActivity> {
    let table = scan_processes();
    let family = find_process_tree(root, &table);
    let up = read_uptime();
    let mut doing: Vec<ProcessActivity> = family
        .iter()
        .filter_map(|id| read_activity(*id, up, &family, root))
        .collect();
    doing.sort_by_key(|one| (one.id != root, one.id.start_time, one.id.pid));
    doing
}

/// Returns a child, all processes in its session or with its mark, and all their descendants.
pub(super) fn find_process_tree(
    root: ProcessIdentity,
    table: &[ProcessEntry],
) -> BTreeSet<ProcessIdentity> {
    let mark = read_environment_mark(root.pid);
    let belongs = |entry: &&ProcessEntry| {
        let is_later = entry.id.start_time >= root.start_time;
        let carries_mark = || mark.is_some() && read_environment_mark(entry.id.pid) == mark;
        entry.id == root || is_later && (entry.session == root.pid || carries_mark())
    };
    let mut family = table.iter().filter(belongs).map(|entry| entry.id).collect();
    add_descendants(&mut family, table);
    family
}

fn read_activity(
    id: ProcessIdentity,
    up: Duration,
    family: &BTreeSet<ProcessIdentity>,
    root: ProcessIdentity,
) -> Option<ProcessActivity> {
    let stat = read_stat_fields(id.pid)?;
    let fields: Vec<&str> = stat.split_ascii_whitespace().collect();
    let ticks = |n: usize| fields.get(n).and_then(|text| text.parse::<u64>().ok());
    // Its own time and that of the children that it has waited for, in user and kernel mode.
    let cpu: u64 = (11..=14).filter_map(ticks).sum();
    Some(ProcessActivity {
        id,
        command: read_command_line(id.pid),
        state: parse_process_state(fields.first()?),
        cpu_time: ticks_to_duration(cpu),
        age: up.saturating_sub(ticks_to_duration(id.start_time)),
        input_wait: detect_input_wait(id.pid, family, root),
    })
}

/// Returns the fields of a process from its state on: the name before it may contain anything.
fn read_stat_fields(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit_once(')')?.1.to_owned())
}

fn parse_process_state(letter: &str) -> ProcessState {
    match letter {
        "D" => ProcessState::Uninterruptible,
        "T" | "t" => ProcessState::Stopped,
        "Z" | "X" | "x" => ProcessState::Zombie,
        _ => ProcessState::Normal,
    }
}

/// Returns the state of a process; `None` if the system reports none.
pub fn read_process_state(pid: u32) -> Option<ProcessState> {
    read_stat_fields(pid)?
        .split_ascii_whitespace()
        .next()
        .map(parse_process_state)
}

fn ticks_to_duration(ticks: u64) -> Duration {
    Duration::from_millis(ticks.saturating_mul(1_000 / TICKS_PER_SECOND))
}

/// Returns the uptime of the machine.
fn read_uptime() -> Duration {
    let text = fs::read_to_string("/proc/uptime").unwrap_or_default();
    let seconds = text.split_ascii_whitespace().next();
    let seconds: Option<f64> = seconds.and_then(|seconds| seconds.parse().ok());
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .unwrap_or_default()
}

fn detect_input_wait(
    pid: u32,
    family: &BTreeSet<ProcessIdentity>,
    root: ProcessIdentity,
) -> InputWait {
    if !is_reading_stdin(pid) {
        return InputWait::Unknown;
    }
    let Ok(source) = fs::read_link(format!("/proc/{pid}/fd/0")) else {
        return InputWait::Unknown;
    };
    let name = source.to_string_lossy();
    let may_keep_waiting = ["pipe:", "socket:", "/dev/pts/", "/dev/tty"]
        .iter()
        .any(|kind| name.starts_with(kind));
    let mut others = family.iter().filter(|id| id.pid != pid && **id != root);
    // In `make | tail`, tail waits for make.
    let is_fed = name.starts_with("pipe:") && others.any(|id| has_write_end(id.pid, &source));
    if may_keep_waiting && !is_fed {
        InputWait::Waiting
    } else {
        InputWait::Unknown
    }
}

/// Returns true if a thread of the process is inside a call that reads descriptor 0.
fn is_reading_stdin(pid: u32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    tasks.into_iter().flatten().flatten().any(|task| {
        let call = fs::read_to_string(task.path().join("syscall")).unwrap_or_default();
        let mut words = call.split_ascii_whitespace();
        words.next().is_some_and(|number| READS.contains(&number)) && words.next() == Some("0x0")
    })
}

/// Returns true if a process has the write end of a pipe open.
fn has_write_end(pid: u32, pipe: &PathBuf) -> bool {
    let held = fs::read_dir(format!("/proc/{pid}/fd"));
    held.into_iter().flatten().flatten().any(|held| {
        let is_it = fs::read_link(held.path()).is_ok_and(|target| target == *pipe);
        let mode = held
            .path()
            .symlink_metadata()
            .map(|link| link.permissions().mode());
        is_it && mode.is_ok_and(|mode| mode & 0o200 != 0)
    })
}
