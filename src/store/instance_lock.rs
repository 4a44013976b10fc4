//! Locks the repository for one instance of the program, and single documents for short times.
//!
//! Never trusts a process id in a file: only the kernel's lock counts, and it ends with the process that has
//! it. Documents are replaced by rename, so their locks are files beside them.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{FileExt as _, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fs2::FileExt;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::domain::ids::{Sha256, UnixMillis};

use super::{StoreError, WorkdirLayout, local_time, nofollow_fs, utc_time};

/// The maximum number of tries; a lock file that is replaced more often is replaced on purpose.
const MAX_LOCK_TRIES: u32 = 8;
/// The maximum size of the note in a document's lock file, in bytes.
const MAX_NOTE_BYTES: u64 = 4096;
/// How long to wait for readers of the lock, which share it for microseconds at a time.
const LOOKER_TIMEOUT: Duration = Duration::from_secs(5);

/// The holder of the instance lock, as far as the lock file shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockHolder {
    /// The process, unless it has not written its id yet.
    pub pid: Option<u32>,
    /// When it acquired the lock.
    pub since: Option<UnixMillis>,
}

/// Explains why the instance lock could not be acquired.
#[derive(Debug, Error)]
pub enum LockError {
    /// Another instance is running in this repository.
    #[error("another agent-collab is running in this repository{}", describe_holder(.0))]
    HeldByInstance(LockHolder),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LockError {
    /// Suggests what the user can do.
    pub fn hint(&self) -> String {
        match self {
            Self::HeldByInstance(_) => {
                "continue there, or end it with `agent-collab send quit`".into()
            }
            Self::Store(e) => e.hint(),
        }
    }
}

impl fmt::Display for LockHolder {
    /// Writes `process 123, since 2026-11-22 10:00`, in local time and as far as it is known; otherwise
    /// nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pid = self.pid.map(|pid| format!("process {pid}"));
        let since = self
            .since
            .map(|at| format!("since {}", local_time::to_local_text(at)));
        let parts: Vec<String> = pid.into_iter().chain(since).collect();
        f.write_str(&parts.join(", "))
    }
}

fn describe_holder(held: &LockHolder) -> String {
    match held.to_string() {
        none if none.is_empty() => none,
        known => format!(" ({known})"),
    }
}

/// The content of the lock file.
#[derive(Debug, Serialize, Deserialize)]
struct LockNote {
    pid: u32,
    #[serde(with = "utc_time::text")]
    since: UnixMillis,
}

/// Proves that this process is the only instance in the repository, until it is dropped.
#[derive(Debug)]
pub struct InstanceLock {
    file: File,
}

impl InstanceLock {
    /// Acquires the lock, or returns its holder. Never waits for another instance.
    pub fn acquire(layout: &WorkdirLayout) -> Result<Self, LockError> {
        let file = acquire_lock_file(&layout.lock())?;
        Ok(Self { file })
    }

    /// Returns the holder of the lock, `None` if there is none. It does not disturb other instances: it
    /// shares the lock only for a moment, which an instance that is just starting does not mistake for
    /// another instance.
    ///
    /// # Errors
    /// The lock file is not a plain file, or cannot be opened or locked.
    pub fn read_holder(layout: &WorkdirLayout) -> Result<Option<LockHolder>, StoreError> {
        let path = layout.lock();
        let Some(file) = nofollow_fs::open_read(&path)? else {
            return Ok(None);
        };
        match FileExt::try_lock_shared(&file) {
            Ok(()) => Ok(None),
            Err(e) if is_contended(&e) => read_lock_note(&path).map(Some),
            Err(e) => Err(StoreError::from_io("lock", &path, e)),
        }
    }

    /// Waits until the instance with the lock has ended; returns at once if there is none. Blocks.
    ///
    /// It does not disturb an instance that starts in the meantime, see [`InstanceLock::read_holder`].
    ///
    /// # Errors
    /// The lock file is not a plain file, or cannot be opened or locked.
    pub fn wait_until_free(layout: &WorkdirLayout) -> Result<(), StoreError> {
        let path = layout.lock();
        let Some(file) = nofollow_fs::open_read(&path)? else {
            return Ok(());
        };
        FileExt::lock_shared(&file).map_err(|e| StoreError::from_io("lock", &path, e))?;
        FileExt::unlock(&file).map_err(|e| StoreError::from_io("unlock", &path, e))
    }
}

impl Drop for InstanceLock {
    fn drop(&mut self) {
        // Closing alone would leave the lock with a child that was forked and has not started its program
        // yet.
        let _ = FileExt::unlock(&self.file);
    }
}

fn acquire_lock_file(path: &Path) -> Result<File, LockError> {
    let failed = |e| StoreError::from_io("lock", path, e);
    for _ in 0..MAX_LOCK_TRIES {
        let mut file = nofollow_fs::open_lock(path)?;
        match try_lock_alone(&file).map_err(failed)? {
            ExclusiveAttempt::Locked => {}
            ExclusiveAttempt::HeldByAnother => {
                return Err(LockError::HeldByInstance(read_lock_note(path)?));
            }
        }
        // Another process may have replaced the file between opening and locking.
        if !is_same_file(&file, path)? {
            continue;
        }
        let note = LockNote {
            pid: std::process::id(),
            since: utc_time::now(),
        };
        let text = serde_json::to_string(&note).map_err(|e| failed(e.into()))?;
        file.set_len(0).map_err(failed)?;
        file.rewind().map_err(failed)?;
        writeln!(file, "{text}").map_err(failed)?;
        return Ok(file);
    }
    Err(failed(io::Error::other("the lock file keeps being replaced")).into())
}

enum ExclusiveAttempt {
    Locked,
    HeldByAnother,
}

/// Locks a file exclusively. An instance has an exclusive lock, readers share it: if sharing is possible
/// there is no instance, and the readers are gone in a moment.
fn try_lock_alone(file: &File) -> io::Result<ExclusiveAttempt> {
    let started = Instant::now();
    loop {
        match FileExt::try_lock_exclusive(file) {
            Ok(()) => return Ok(ExclusiveAttempt::Locked),
            Err(e) if is_contended(&e) => {}
            Err(e) => return Err(e),
        }
        match FileExt::try_lock_shared(file) {
            Ok(()) => FileExt::unlock(file)?,
            Err(e) if is_contended(&e) => return Ok(ExclusiveAttempt::HeldByAnother),
            Err(e) => return Err(e),
        }
        if started.elapsed() >= LOOKER_TIMEOUT {
            return Err(io::Error::other(
                "a program that only looks at the lock does not let go of it",
            ));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn is_contended(error: &io::Error) -> bool {
    error.raw_os_error() == fs2::lock_contended_error().raw_os_error()
}

fn is_same_file(file: &File, path: &Path) -> Result<bool, StoreError> {
    let failed = |e| StoreError::from_io("access", path, e);
    let ours = file.metadata().map_err(failed)?;
    match fs::symlink_metadata(path) {
        Ok(theirs) => Ok((ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(failed(e)),
    }
}

fn read_lock_note(path: &Path) -> Result<LockHolder, StoreError> {
    let bytes = nofollow_fs::read_limited(path, 4096)?.unwrap_or_default();
    let note: Option<LockNote> = serde_json::from_slice(&bytes).ok();
    Ok(LockHolder {
        pid: note.as_ref().map(|note| note.pid),
        since: note.as_ref().map(|note| note.since),
    })
}

/// The right to replace one document, until it is dropped.
#[derive(Debug)]
pub struct DocumentLock {
    document: PathBuf,
    file: File,
}

impl DocumentLock {
    /// How long to wait for a document lock; the program keeps one for milliseconds.
    pub const WAIT_TIMEOUT: Duration = Duration::from_secs(5);
    /// The interval between two tries in the meantime.
    pub const RETRY_INTERVAL: Duration = Duration::from_millis(5);

    /// Locks the file `<document>.lock`; [`StoreError::LockBusy`] if another process has the lock. Never
    /// waits.
    pub fn try_acquire(document: &Path) -> Result<Self, StoreError> {
        let path = document_lock_path(document);
        let file = nofollow_fs::open_lock(&path)?;
        match FileExt::try_lock_exclusive(&file) {
            Ok(()) if is_same_file(&file, &path)? => Ok(Self {
                document: document.to_owned(),
                file,
            }),
            Err(e) if !is_contended(&e) => Err(StoreError::from_io("lock", &path, e)),
            Ok(()) | Err(_) => Err(StoreError::LockBusy {
                path,
                seconds: Self::WAIT_TIMEOUT.as_secs(),
            }),
        }
    }

    /// Locks the file like [`DocumentLock::try_acquire`], but waits at most five seconds. Blocks.
    pub fn acquire(document: &Path) -> Result<Self, StoreError> {
        let started = Instant::now();
        loop {
            match Self::try_acquire(document) {
                Err(StoreError::LockBusy { .. }) if started.elapsed() < Self::WAIT_TIMEOUT => {
                    std::thread::sleep(Self::RETRY_INTERVAL);
                }
                taken => return taken,
            }
        }
    }

    /// Returns the path of the locked document.
    pub fn document(&self) -> &Path {
        &self.document
    }

    /// Notes in the lock file, durably, which version of the document the program is about to write. Where the program
    /// ends before the event log has that write, the note tells it from an edit of the user.
    pub fn note_own_write(&self, version: &Sha256) -> Result<(), StoreError> {
        let failed = |e| StoreError::from_io("write the lock of", &self.document, e);
        let written = self.file.write_all_at(version.as_str().as_bytes(), 0);
        written.and_then(|()| self.file.sync_data()).map_err(failed)
    }

    /// Returns whether a version of the document is the last one that the program wrote, or was about to write.
    pub fn is_own_write(document: &Path, version: &Sha256) -> Result<bool, StoreError> {
        let note = nofollow_fs::read_limited(&document_lock_path(document), MAX_NOTE_BYTES)?;
        Ok(note.is_some_and(|note| note == version.as_str().as_bytes()))
    }

    /// Forgets what the program wrote, because the user has changed it: if they change it back, that is an edit, too.
    pub fn forget_own_write(document: &Path) -> Result<(), StoreError> {
        let path = document_lock_path(document);
        let file = nofollow_fs::open_lock(&path)?;
        file.set_len(0)
            .map_err(|e| StoreError::from_io("empty", &path, e))
    }
}

fn document_lock_path(document: &Path) -> PathBuf {
    let mut name = document.file_name().unwrap_or_default().to_os_string();
    name.push(".lock");
    document.with_file_name(name)
}

impl Drop for DocumentLock {
    fn drop(&mut self) {
        // Unlock explicitly, as for the instance lock.
        let _ = FileExt::unlock(&self.file);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    use super::super::WorkdirNames;
    use super::*;

    fn layout(root: &Path) -> WorkdirLayout {
        let layout = WorkdirLayout::new(root, WorkdirNames::default()).unwrap();
        let _ = layout.create().unwrap();
        layout
    }

    const CHILD_ROOT: &str = "AGENT_COLLAB_TEST_LOCK_ROOT";

    /// Runs as the other process: reports what it got, then keeps it until its input closes.
    #[test]
    fn a_child_reports_what_it_got() {
        let Some(root) = std::env::var_os(CHILD_ROOT) else {
            return;
        };
        let taken = InstanceLock::acquire(&layout(Path::new(&root)));
        match &taken {
            Ok(_) => eprintln!("taken"),
            Err(LockError::HeldByInstance(held)) => eprintln!("held by {}", held.pid.unwrap()),
            Err(e) => eprintln!("{e}"),
        }
        let _ = io::stdin().read_line(&mut String::new());
    }

    fn child(root: &Path) -> (Child, String) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "--nocapture",
                "store::instance_lock::tests::a_child_reports_what_it_got",
            ])
            .env(CHILD_ROOT, root)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        (child, line.trim().to_owned())
    }

    #[test]
    fn two_processes_never_both_hold_the_lock() {
        let root = tempfile::tempdir().unwrap();
        let (mut first, told) = child(root.path());
        assert_eq!(told, "taken");
        let pid = first.id();
        let (mut second, told) = child(root.path());
        assert_eq!(told, format!("held by {pid}"));
        match InstanceLock::acquire(&layout(root.path())) {
            Err(LockError::HeldByInstance(held)) => assert_eq!(held.pid, Some(pid)),
            other => panic!("{other:?}"),
        }
        first.kill().unwrap();
        first.wait().unwrap();
        let ours = InstanceLock::acquire(&layout(root.path())).unwrap();
        let (mut third, told) = child(root.path());
        assert_eq!(told, format!("held by {}", std::process::id()));
        drop(ours);
        drop((second.stdin.take(), third.stdin.take()));
        second.wait().unwrap();
        third.wait().unwrap();
    }

    #[test]
    fn looking_tells_the_holder_and_leaves_no_file() {
        let root = tempfile::tempdir().unwrap();
        let layout = layout(root.path());
        let holder = || {
            InstanceLock::read_holder(&layout)
                .unwrap()
                .map(|held| held.pid)
        };
        assert_eq!((holder(), layout.lock().exists()), (None, false));
        let ours = InstanceLock::acquire(&layout).unwrap();
        assert_eq!(holder(), Some(Some(std::process::id())));
        drop(ours);
        assert_eq!(holder(), None);
        let (mut other, _) = child(root.path());
        assert_eq!(holder(), Some(Some(other.id())));
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(holder(), None);
        fs::remove_file(layout.lock()).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", layout.lock()).unwrap();
        assert!(matches!(
            InstanceLock::read_holder(&layout),
            Err(StoreError::UnexpectedFileType { .. })
        ));
    }

    #[test]
    fn an_instance_starts_however_many_look_at_the_lock() {
        let root = tempfile::tempdir().unwrap();
        let layout = layout(root.path());
        drop(InstanceLock::acquire(&layout).unwrap());
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !done.load(std::sync::atomic::Ordering::Relaxed) {
                        InstanceLock::read_holder(&layout).unwrap();
                    }
                });
            }
            let taken: Result<Vec<()>, LockError> = (0..100)
                .map(|_| InstanceLock::acquire(&layout).map(drop))
                .collect();
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            taken.unwrap();
        });
    }

    #[test]
    fn an_instance_waits_for_a_slow_looker() {
        let root = tempfile::tempdir().unwrap();
        let layout = layout(root.path());
        drop(InstanceLock::acquire(&layout).unwrap());
        let looker = nofollow_fs::open_read(&layout.lock()).unwrap().unwrap();
        FileExt::try_lock_shared(&looker).unwrap();
        std::thread::scope(|scope| {
            let starting = scope.spawn(|| InstanceLock::acquire(&layout));
            std::thread::yield_now();
            drop(looker);
            starting.join().unwrap().unwrap();
        });
    }

    #[test]
    fn an_old_pid_or_nonsense_in_a_free_lock_file_does_not_block() {
        let root = tempfile::tempdir().unwrap();
        let layout = layout(root.path());
        for old in [
            "{\"pid\":1,\"since\":\"2020-01-01T00:00:00Z\"}",
            "nonsense",
            "",
        ] {
            fs::write(layout.lock(), old).unwrap();
            let lock = InstanceLock::acquire(&layout).unwrap();
            assert_eq!(
                read_lock_note(&layout.lock()).unwrap().pid,
                Some(std::process::id())
            );
            drop(lock);
        }
    }

    #[test]
    fn the_message_names_the_holder_and_the_remedy() {
        let error = LockError::HeldByInstance(LockHolder {
            pid: Some(42),
            since: Some(UnixMillis(0)),
        });
        assert_eq!(
            format!("{error}; {}", error.hint()),
            format!(
                "another agent-collab is running in this repository (process 42, since {}); \
                 continue there, or end it with `agent-collab send quit`",
                local_time::to_local_text(UnixMillis(0))
            )
        );
    }

    #[test]
    fn a_document_has_one_writer() {
        let dir = tempfile::tempdir().unwrap();
        let plan = dir.path().join("plan.md");
        let first = DocumentLock::acquire(&plan).unwrap();
        let refused = DocumentLock::try_acquire(&plan).unwrap_err();
        assert!(matches!(refused, StoreError::LockBusy { .. }));
        drop(first);
        DocumentLock::acquire(&plan).unwrap();
    }

    #[test]
    fn the_last_version_that_the_program_wrote_is_known_until_it_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let plan = dir.path().join("plan.md");
        let versions = ["a", "b"].map(|letter| Sha256::new(letter.repeat(64)));
        let known = || {
            versions
                .clone()
                .map(|version| DocumentLock::is_own_write(&plan, &version).unwrap())
        };
        assert_eq!(known(), [false, false]);
        for (n, version) in versions.iter().enumerate() {
            let lock = DocumentLock::acquire(&plan).unwrap();
            lock.note_own_write(version).unwrap();
            drop(lock);
            assert_eq!(known(), [n == 0, n == 1]);
        }
        DocumentLock::forget_own_write(&plan).unwrap();
        assert_eq!(known(), [false, false]);
    }
}
