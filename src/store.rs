//! What the program keeps in the work directory of a repository: atomic files, locks, the event
//! log, the snapshot, sessions, log.md, debug.log, history, and the guard over all of them.
//!
//! Refuses to know what a run, a plan or an event means: content that is the domain's is generic
//! here and only has to be serialisable. Starts no process and reads no configuration.
//!
//! The order of use: [`Layout::new`] and [`Layout::create`], [`InstanceLock::take`], [`tidy`],
//! then [`Guard::open`], and through the guard [`EventLog`], [`snapshot`], [`SessionFiles`],
//! [`RunLog`] and [`iterations`]. What is written through the guard is compared after every turn
//! by [`Guard::check`]. `plan.md` and `comments.md` belong to the user too and go through
//! [`documents`].

pub mod approvals;
pub mod archives;
pub mod atomic;
pub mod beneath;
pub mod boundary;
pub mod debug_log;
pub mod discussions;
pub mod documents;
mod error;
pub mod events;
mod guard;
pub mod history;
pub mod instant;
pub mod iterations;
mod layout;
pub mod local;
mod lock;
pub mod merges;
pub mod patches;
#[cfg(test)]
mod place;
mod plain;
pub mod raw;
mod run_log;
pub mod sessions;
pub mod snapshot;
mod tidy;
pub mod worktrees;
pub mod written;

pub use error::StoreError;
pub use events::{EventLog, Opened, Origin, Record, TornTail};
pub use guard::{Guard, Tampered};
pub use layout::{Layout, Names, Privacy};
pub use lock::{DocumentLock, Held, InstanceLock, LockError};
pub use raw::{Clean, RawStream};
pub use run_log::RunLog;
pub use sessions::SessionFiles;
pub use tidy::{Tidied, tidy};
