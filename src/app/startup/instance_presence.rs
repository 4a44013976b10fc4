//! Locks a directory, and records this instance beside the user's state: a record without its process shows that the
//! instance was killed.
//!
//! For what follows from that, see [`KilledInstances`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::config::UserDirs;
use crate::engine::agent_activity::clean_line;
use crate::process::{
    InstanceFate, InstanceRecord, KilledInstances, LeftoverSuspect, has_living_descendants,
};
use crate::store::{InstanceLock, LockError, WorkdirLayout};

use super::{LockedProject, StartError};

/// Maximum number of processes to name.
const MAX_NAMED_PROCESSES: usize = 5;
/// The file extension of records.
const RECORD_SUFFIX: &str = "json";

/// The record of this instance; dropping it removes the file, unless a process it started still lives.
#[derive(Debug)]
pub struct InstancePresence {
    folder: PathBuf,
    /// `None` if processes cannot be told apart on this system.
    record: Option<PathBuf>,
}

impl InstancePresence {
    /// Records that this instance runs.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn register(places: &UserDirs) -> Result<Self, StartError> {
        let folder = places.instances_dir();
        let record = InstanceRecord::current()
            .map(|own| write_record(&folder, &own))
            .transpose();
        let record = record.map_err(|error| {
            StartError::new(
                format!("cannot write in {}: {error}", folder.display()),
                "make the folder writable; it records what a killed instance may have left running",
            )
        })?;
        Ok(Self { folder, record })
    }

    /// Finds the killed instances that may have left processes, with the suspects; removes the other records.
    pub fn find_killed(&self) -> (KilledInstances, Vec<LeftoverSuspect>) {
        let records = load_records(&self.folder);
        let of_fate = |fate| {
            records
                .iter()
                .filter(move |(_, found)| found.fate() == fate)
        };
        let forget = |path: &Path| {
            if let Err(error) = fs::remove_file(path) {
                tracing::warn!(%error, path = %path.display(), "a record of an instance was left behind");
            }
        };
        of_fate(InstanceFate::BeforeReboot).for_each(|(path, _)| forget(path));
        let killed = of_fate(InstanceFate::Killed).map(|(_, record)| record.clone());
        let killed = KilledInstances::new(killed);
        let suspects = killed.find_suspects();
        if suspects.is_empty() {
            of_fate(InstanceFate::Killed).for_each(|(path, _)| forget(path));
            return (KilledInstances::default(), suspects);
        }
        (killed, suspects)
    }
}

impl LockedProject {
    /// Finds the killed instances that may have left processes, and names those that work in this directory.
    pub fn find_killed_instances(&self) -> (KilledInstances, Option<String>) {
        let Some(presence) = &self.presence else {
            return (KilledInstances::default(), None);
        };
        let (killed, suspects) = presence.find_killed();
        let here = [
            self.project.root.clone(),
            self.project.places.worktrees_dir(),
        ];
        let works_here = |suspect: &&LeftoverSuspect| {
            let folder = suspect.folder.as_ref();
            folder.is_some_and(|folder| here.iter().any(|here| folder.starts_with(here)))
        };
        let here: Vec<&LeftoverSuspect> = suspects.iter().filter(works_here).collect();
        for suspect in &here {
            let (pid, command) = (suspect.id.pid, clean_line(&suspect.command));
            tracing::warn!(pid, %command, "a killed instance may have left this process");
        }
        (killed, describe_leftovers(&here))
    }
}

/// Says which processes a killed instance may have left, and how to end them; nothing where there are none.
fn describe_leftovers(suspects: &[&LeftoverSuspect]) -> Option<String> {
    let named: Vec<(String, String)> = suspects
        .iter()
        .take(MAX_NAMED_PROCESSES)
        .map(|suspect| {
            let program = suspect
                .command
                .split_whitespace()
                .next()
                .unwrap_or_default();
            let program = clean_line(program.rsplit('/').next().unwrap_or(program));
            (suspect.id.pid.to_string(), program)
        })
        .collect();
    match named.as_slice() {
        [] => None,
        [(pid, program)] => Some(format!(
            "Process {pid} ({program}) seems to be left over from a killed run. Its commands are ignored. \
             Unless you started it, end it: kill {pid}"
        )),
        many => {
            let list: Vec<String> = many
                .iter()
                .map(|(pid, name)| format!("{pid} ({name})"))
                .collect();
            let pids: Vec<&str> = many.iter().map(|(pid, _)| pid.as_str()).collect();
            Some(format!(
                "Processes {} seem to be left over from a killed run. Their commands are ignored. \
                 Unless you started them, end them: kill {}",
                list.join(", "),
                pids.join(" ")
            ))
        }
    }
}

/// Locks the directory, or reports which instance has the lock.
pub(super) fn acquire_lock(layout: &WorkdirLayout) -> Result<InstanceLock, StartError> {
    InstanceLock::acquire(layout).map_err(|error| {
        let code = if matches!(error, LockError::HeldByInstance(_)) {
            4
        } else {
            1
        };
        StartError {
            problem: error.to_string(),
            hint: error.hint(),
            code,
        }
    })
}

impl Drop for InstancePresence {
    fn drop(&mut self) {
        let Some(record) = self.record.take() else {
            return;
        };
        // Keep the record: the next instance must learn of leftover processes, as after a kill.
        if std::thread::panicking() || has_living_descendants() {
            return;
        }
        if let Err(error) = fs::remove_file(&record) {
            tracing::warn!(%error, path = %record.display(), "the record of this instance was left behind");
        }
    }
}

fn write_record(folder: &Path, own: &InstanceRecord) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let name = format!("{}-{}", own.id.pid, own.id.start_time);
    let path = folder.join(&name).with_extension(RECORD_SUFFIX);
    let unfinished = folder.join(name).with_extension("tmp");
    fs::write(&unfinished, serde_json::to_vec(own)?)?;
    fs::rename(&unfinished, &path)?;
    Ok(path)
}

/// Loads all readable records. Others are only logged: they do not show which instance they belong to.
fn load_records(folder: &Path) -> Vec<(PathBuf, InstanceRecord)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let paths = paths.filter(|path| path.extension().is_some_and(|end| end == RECORD_SUFFIX));
    let read = |path: PathBuf| {
        let bytes = fs::read(&path);
        let record = bytes.and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
        match record {
            Ok(record) => Some((path, record)),
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "no record of an instance");
                None
            }
        }
    };
    paths.filter_map(read).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_record_lies_there_as_long_as_its_instance_and_a_killed_one_without_leftovers_is_forgotten()
    {
        let folder = tempfile::tempdir().unwrap();
        let places = UserDirs::under(folder.path());
        let presence = InstancePresence::register(&places).unwrap();
        let own = presence.record.clone().unwrap();
        let mut killed: serde_json::Value =
            serde_json::from_slice(&fs::read(&own).unwrap()).unwrap();
        // No living process started after that one.
        killed["id"] = serde_json::json!({ "pid": u32::MAX, "start_time": u64::MAX });
        let earlier = places.instances_dir().join("1-1.json");
        fs::write(&earlier, killed.to_string()).unwrap();
        assert_eq!(
            presence.find_killed(),
            (KilledInstances::default(), Vec::new())
        );
        assert!(!earlier.exists());
        assert!(own.exists());
    }
}
