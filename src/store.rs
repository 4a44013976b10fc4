//! Stores everything that the program keeps in the work directory of a repository: atomic files, locks, the
//! event log, the snapshot, sessions, log.md, debug.log, history, and the guard over all of them.
//!
//! Does not know what a run, a plan or an event means: domain content is generic here and only has to be
//! serialisable. Starts no process and reads no configuration.
//!
//! The order of use: [`WorkdirLayout::new`] and [`WorkdirLayout::create`], [`InstanceLock::acquire`],
//! [`clean_up_workdir`], then [`TamperGuard::open`], and through the guard [`EventLog`], [`state_snapshot`],
//! [`SessionFiles`], [`RunLog`] and [`iteration_files`]. [`TamperGuard::check_and_restore`] compares after
//! every turn what was written through the guard. `plan.md` and `comments.md` belong to the user too and go
//! through [`document_files`].

pub mod approval_store;
pub mod archive_move;
pub mod atomic_file;
pub mod debug_log;
pub mod discussion_files;
pub mod document_files;
pub mod event_log;
pub mod failpoints;
pub mod input_history_file;
mod instance_lock;
pub mod iteration_files;
pub mod local_time;
pub mod merge_files;
mod nofollow_fs;
pub mod patch_files;
pub mod raw_stream;
pub mod receipt_files;
pub mod run_archives;
mod run_log;
pub mod scoped_read;
pub mod session_files;
mod startup_cleanup;
pub mod state_snapshot;
mod store_error;
mod tamper_guard;
#[cfg(test)]
mod test_repo;
pub mod utc_time;
mod workdir_layout;
pub mod worktree_records;

pub use event_log::{EventLog, EventLogRecord, EventOrigin, OpenedEventLog, TornTail};
pub use instance_lock::{DocumentLock, InstanceLock, LockError, LockHolder};
pub use raw_stream::{LineCleaner, RawStream};
pub use run_log::RunLog;
pub use session_files::SessionFiles;
pub use startup_cleanup::{CleanupReport, clean_up_workdir};
pub use store_error::StoreError;
pub use tamper_guard::{TamperGuard, TamperedFile};
pub use workdir_layout::{WorkdirLayout, WorkdirNames, WorkdirPrivacy};
