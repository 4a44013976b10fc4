//! The children that this program is running right now, and its office as their descendants' heir.
//!
//! Refuses to stop or wait for them: that is their owners' work.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::process_table::{ProcessIdentity, read_identity};

/// Direct children whose end has not been noted yet. They are the async runtime's to wait for;
/// everything else below this program is an orphan that it inherited.
static CHILDREN: Mutex<BTreeSet<ProcessIdentity>> = Mutex::new(BTreeSet::new());

/// Makes this program the parent of its descendants' orphans, so that none of them can slip away.
///
/// Called once at the start. Finds out first who did so until now. Off Linux it does nothing, and orphans of own sessions are not found.
///
/// # Errors
/// What the system said, where it refuses.
pub fn become_subreaper() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        super::ancestor_chain::detect_orphan_adopter();
        nix::sys::prctl::set_child_subreaper(true)?;
    }
    Ok(())
}

/// Tells whether this program is the parent of its descendants' orphans.
#[cfg(target_os = "linux")]
pub(super) fn is_subreaper() -> bool {
    nix::sys::prctl::get_child_subreaper().unwrap_or(false)
}

/// Off Linux it never is.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_subreaper() -> bool {
    false
}

/// A direct child's entry; leaves with it.
#[derive(Debug)]
pub(super) struct ChildRegistration(ProcessIdentity);

impl ChildRegistration {
    /// Starts a child and enters it in one stroke, so that nobody takes it for an orphan in between.
    pub(super) fn spawn_registered<C>(
        start: impl FnOnce() -> io::Result<C>,
        pid_of: impl FnOnce(&C) -> Option<u32>,
    ) -> io::Result<(C, Self)> {
        let mut children = lock_children();
        let child = start()?;
        let id = pid_of(&child)
            .map(read_identity)
            .ok_or(io::ErrorKind::NotFound)?;
        children.insert(id);
        Ok((child, Self(id)))
    }

    pub(super) fn id(&self) -> ProcessIdentity {
        self.0
    }
}

/// Does something to a process while it surely is none of the direct children.
pub(super) fn run_unless_registered(id: ProcessIdentity, act: impl FnOnce()) {
    let children = lock_children();
    if !children.contains(&id) {
        act();
    }
}

impl Drop for ChildRegistration {
    fn drop(&mut self) {
        lock_children().remove(&self.0);
    }
}

/// All direct children now.
pub(super) fn registered_children() -> BTreeSet<ProcessIdentity> {
    lock_children().clone()
}

fn lock_children() -> MutexGuard<'static, BTreeSet<ProcessIdentity>> {
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}
