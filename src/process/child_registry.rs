//! Registers the running children of this program, and makes it the subreaper of their descendants.
//!
//! Does not stop or wait for them: their owners do.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::process_table::{ProcessIdentity, read_identity};

/// Direct children whose end has not been recorded yet. The async runtime waits for them; everything else
/// below this program is an inherited orphan.
static CHILDREN: Mutex<BTreeSet<ProcessIdentity>> = Mutex::new(BTreeSet::new());

/// Makes this program the parent of its descendants' orphans, so that none of them can escape.
///
/// Called once at the start, after detecting which process was the adopter until now. Off Linux it does
/// nothing, and orphans in sessions of their own are not found.
///
/// # Errors
/// The error of the system if it refuses.
pub fn become_subreaper() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        super::ancestor_chain::detect_orphan_adopter();
        nix::sys::prctl::set_child_subreaper(true)?;
    }
    Ok(())
}

/// Returns true if this program is the parent of its descendants' orphans.
#[cfg(target_os = "linux")]
pub(super) fn is_subreaper() -> bool {
    nix::sys::prctl::get_child_subreaper().unwrap_or(false)
}

/// Off Linux this is always false.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_subreaper() -> bool {
    false
}

/// The registration of a direct child; dropping it removes the entry.
#[derive(Debug)]
pub(super) struct ChildRegistration(ProcessIdentity);

impl ChildRegistration {
    /// Starts and registers a child in one step, so that it is never mistaken for an orphan in between.
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

/// Acts on a process while it is certain that it is not a direct child.
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

/// Returns all current direct children.
pub(super) fn registered_children() -> BTreeSet<ProcessIdentity> {
    lock_children().clone()
}

fn lock_children() -> MutexGuard<'static, BTreeSet<ProcessIdentity>> {
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}
