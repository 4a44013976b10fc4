//! Classifies a process that sends a request to this program: started by it, part of a run, or unrelated.
//!
//! Does not guess: what the process table does not show is unknown, and off Linux it shows nothing.

use super::ancestor_chain::{AncestorChain, AncestorChainEnd, AncestorChainReader};
use super::kernel_namespaces::KernelNamespaces;
use super::killed_instances::KilledInstances;
use super::process_mark::MARK_VARIABLE;
use super::process_table::{
    ProcessIdentity, find_mark, is_alive, read_environment, read_environment_mark,
    read_process_entry,
};

/// The maximum number of generations; no real chain of processes is longer.
const MAX_GENERATIONS: usize = 1024;

/// The relation of a process to this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerOrigin {
    /// Neither this program nor, as far as is known, any run started it.
    Unrelated,
    /// It is this program or a descendant of it.
    Descendant,
    /// It, or a parent of it, carries the mark of a run.
    CarriesRunMark,
    /// It is in a sandbox or a container, and this program is not in the same one.
    OtherNamespace,
    /// It may be left over from a killed instance.
    PossibleLeftover,
    /// It is gone, hidden, or not readable.
    Unknown,
}

impl PeerOrigin {
    /// Returns the reason why requests of such a process are refused; `None` if it is unrelated.
    pub fn refusal_reason(self) -> Option<String> {
        match self {
            Self::Unrelated => None,
            Self::Descendant => Some("it was started by the run itself".to_owned()),
            Self::CarriesRunMark => Some(format!("it was started by a run (it has {MARK_VARIABLE})")),
            Self::OtherNamespace => Some(
                "it is in another pid, mount or user namespace than this instance, such as a sandbox or a container; \
                 send from outside it"
                    .to_owned(),
            ),
            Self::PossibleLeftover => Some(
                "it may be left over from a killed instance: it started after that one, and its parents are gone; \
                 send from the terminal of this instance, or from a program that is older than the killed one"
                    .to_owned(),
            ),
            Self::Unknown => Some("it is unknown who started it".to_owned()),
        }
    }
}

/// Classifies a process, given the killed earlier instances of this program.
pub fn classify_peer(pid: u32, killed: &KilledInstances) -> PeerOrigin {
    let Some(entry) = read_process_entry(pid) else {
        return PeerOrigin::Unknown;
    };
    let line = AncestorChainReader::new(killed.adopters()).read_chain(pid);
    let standing = match line.end {
        AncestorChainEnd::ThisProgram => PeerOrigin::Descendant,
        AncestorChainEnd::Unknown => PeerOrigin::Unknown,
        AncestorChainEnd::SharedAncestor
        | AncestorChainEnd::OutsideNamespace
        | AncestorChainEnd::OrphanAdopter => classify_non_descendant(pid, &line, killed),
    };
    // If the pid was reused in the meantime, another process was examined.
    match read_process_entry(pid) {
        Some(now) if now.id == entry.id => standing,
        Some(_) | None => PeerOrigin::Unknown,
    }
}

/// Classifies a process that is not a descendant of this program.
fn classify_non_descendant(pid: u32, line: &AncestorChain, killed: &KilledInstances) -> PeerOrigin {
    let Some(environment) = read_environment(pid) else {
        return PeerOrigin::Unknown;
    };
    // A parent of another user, such as cron, hides its environment and belongs to no run.
    let is_marked = |pid: u32| read_environment_mark(pid).is_some();
    if find_mark(&environment).is_some() || line.entries.iter().any(|entry| is_marked(entry.id.pid))
    {
        return PeerOrigin::CarriesRunMark;
    }
    match (KernelNamespaces::read(pid), KernelNamespaces::read_own()) {
        (Some(theirs), Some(ours)) if theirs == ours => {}
        (Some(_), Some(_)) => return PeerOrigin::OtherNamespace,
        (None, _) | (_, None) => return PeerOrigin::Unknown,
    }
    if killed.may_have_left(line) {
        return PeerOrigin::PossibleLeftover;
    }
    PeerOrigin::Unrelated
}

/// Returns true if a process is this one or a descendant; false if the process table does not show it.
pub fn is_descendant(pid: u32, ancestor: u32) -> bool {
    classify_descent(pid, ancestor) == PeerOrigin::Descendant
}

/// Returns the process that started this one, or that adopted it since; `None` if the process table does not
/// show it.
pub fn read_parent(pid: u32) -> Option<ProcessIdentity> {
    let parent = read_process_entry(pid)?.parent;
    read_process_entry(parent).map(|entry| entry.id)
}

/// Returns true if this exact process exists and has not ended.
pub fn is_process_alive(id: ProcessIdentity) -> bool {
    is_alive(id)
}

/// Follows the parents up to the first process of the machine.
fn classify_descent(pid: u32, ancestor: u32) -> PeerOrigin {
    let mut at = pid;
    for _ in 0..MAX_GENERATIONS {
        if at == ancestor {
            return PeerOrigin::Descendant;
        }
        match read_process_entry(at) {
            Some(entry) if entry.parent == 0 => return PeerOrigin::Unrelated,
            Some(entry) => at = entry.parent,
            None => return PeerOrigin::Unknown,
        }
    }
    PeerOrigin::Unknown
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Read;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn who_started_us_is_apart_and_we_are_not() {
        let parent = nix::unistd::getppid().as_raw();
        let own = std::process::id();
        let none = KilledInstances::default();
        assert_eq!(classify_peer(own, &none), PeerOrigin::Descendant);
        let parent = u32::try_from(parent).unwrap();
        assert_eq!(classify_descent(parent, own), PeerOrigin::Unrelated);
    }

    #[test]
    fn a_child_is_below_with_and_without_a_mark_and_then_unknown() {
        for name in [MARK_VARIABLE, "OTHER"] {
            let mut child = Command::new("sh")
                .args(["-c", "echo begun; read line"])
                .env(name, "run_1:planner:x")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut begun = [0; 6];
            child.stdout.take().unwrap().read_exact(&mut begun).unwrap();
            assert_eq!(
                classify_peer(child.id(), &KilledInstances::default()),
                PeerOrigin::Descendant
            );
            drop(child.stdin.take());
            child.wait().unwrap();
            assert_eq!(
                classify_peer(child.id(), &KilledInstances::default()),
                PeerOrigin::Unknown
            );
        }
    }

    #[test]
    fn only_who_is_apart_is_obeyed() {
        assert_eq!(PeerOrigin::Unrelated.refusal_reason(), None);
        for standing in [
            PeerOrigin::Descendant,
            PeerOrigin::CarriesRunMark,
            PeerOrigin::OtherNamespace,
            PeerOrigin::PossibleLeftover,
            PeerOrigin::Unknown,
        ] {
            assert!(standing.refusal_reason().is_some(), "{standing:?}");
        }
    }
}
