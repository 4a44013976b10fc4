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

pub mod atomic;
mod error;
pub mod instant;
mod layout;
mod lock;
mod plain;

pub use error::StoreError;
pub use layout::{Layout, Names, Privacy};
pub use lock::{DocumentLock, Held, InstanceLock, LockError};
