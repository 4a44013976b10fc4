//! Compares the kernel namespaces of a process with this program's own.
//!
//! Off Linux there are none; a namespace that cannot be read counts as different.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The namespaces that a sandbox or a container changes, by their kernel names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelNamespaces {
    pid: PathBuf,
    mount: PathBuf,
    user: PathBuf,
}

impl KernelNamespaces {
    /// Reads the namespaces of a process; `None` if it is gone or not readable.
    pub(super) fn read(pid: u32) -> Option<Self> {
        let link = |name: &str| fs::read_link(format!("/proc/{pid}/ns/{name}")).ok();
        Some(Self {
            pid: link("pid")?,
            mount: link("mnt")?,
            user: link("user")?,
        })
    }

    /// Reads this program's own namespaces.
    pub(super) fn read_own() -> Option<Self> {
        Self::read(std::process::id())
    }

    /// Returns true if both use the same process ids.
    pub(super) fn shares_pid_namespace(&self, other: &Self) -> bool {
        self.pid == other.pid
    }
}

/// Returns true if a process sees other mounts than this program, or if its namespace cannot be read.
pub(super) fn has_other_mount_namespace(pid: u32) -> bool {
    let mounts = |pid: u32| fs::read_link(format!("/proc/{pid}/ns/mnt")).ok();
    match (mounts(pid), mounts(std::process::id())) {
        (Some(theirs), Some(ours)) => theirs != ours,
        (None, _) | (_, None) => true,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_shares_its_namespaces_with_itself_and_one_that_is_gone_has_none() {
        let own = KernelNamespaces::read_own();
        assert!(own.is_some());
        assert_eq!(own, KernelNamespaces::read(std::process::id()));
        assert_eq!(KernelNamespaces::read(u32::MAX), None);
        assert!(!has_other_mount_namespace(std::process::id()));
        assert!(has_other_mount_namespace(u32::MAX));
    }
}
