//! What a process that asks this program for something is to it: started by it, of some run, or apart.
//!
//! Refuses to guess: what the process table does not tell is unknown, and off Linux it tells nothing.

use super::ancestry::{LineEnd, LineReader, ParentLine};
use super::instance::KilledInstances;
use super::namespace::NamespaceSet;
use super::spec::MARK_VARIABLE;
use super::table::{ProcessIdentity, entry_of, environment_of, is_alive, mark_in, mark_of};

/// More generations than any real line of processes has.
const GENERATIONS: usize = 1024;

/// What a process is to this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Neither this program nor, as far as can be told, any run started it.
    Apart,
    /// It is this program or descends from it.
    Below,
    /// It or a parent of it carries the mark of a run.
    Marked,
    /// It is in a sandbox or a container, and this program is not in the same one.
    Elsewhere,
    /// It may be left of an instance that was killed.
    Orphaned,
    /// It is gone, hidden, or not ours to look at.
    Unknown,
}

impl Standing {
    /// Says why such a process is not obeyed; `None` for one that is apart.
    pub fn why_not(self) -> Option<String> {
        match self {
            Self::Apart => None,
            Self::Below => Some("it was started by the run itself".to_owned()),
            Self::Marked => Some(format!("it was started by a run (it has {MARK_VARIABLE})")),
            Self::Elsewhere => Some(
                "it is in another pid, mount or user namespace than this instance, as in a sandbox or a container; \
                 send from outside of it"
                    .to_owned(),
            ),
            Self::Orphaned => Some(
                "it may be left of an instance that was killed: it started after that one, and its parents are gone; \
                 send from the terminal of this instance, or from a program that is older than the killed one"
                    .to_owned(),
            ),
            Self::Unknown => Some("it cannot be seen who started it".to_owned()),
        }
    }
}

/// Looks what a process is to this program, of whose earlier instances these were killed.
pub fn standing_of(pid: u32, killed: &KilledInstances) -> Standing {
    let Some(entry) = entry_of(pid) else {
        return Standing::Unknown;
    };
    let line = LineReader::new(killed.adopters()).line_of(pid);
    let standing = match line.end {
        LineEnd::Own => Standing::Below,
        LineEnd::Unknown => Standing::Unknown,
        LineEnd::Shared | LineEnd::Outside | LineEnd::Adopted => standing_apart(pid, &line, killed),
    };
    // One whose number went to another process meanwhile was not looked at.
    match entry_of(pid) {
        Some(now) if now.id == entry.id => standing,
        Some(_) | None => Standing::Unknown,
    }
}

/// Looks at a process that does not descend from this program.
fn standing_apart(pid: u32, line: &ParentLine, killed: &KilledInstances) -> Standing {
    let Some(environment) = environment_of(pid) else {
        return Standing::Unknown;
    };
    // Another user's parent, such as cron, hides its environment and is of no run.
    let is_marked = |pid: u32| mark_of(pid).is_some();
    if mark_in(&environment).is_some() || line.line.iter().any(|entry| is_marked(entry.id.pid)) {
        return Standing::Marked;
    }
    match (NamespaceSet::of(pid), NamespaceSet::own()) {
        (Some(theirs), Some(ours)) if theirs == ours => {}
        (Some(_), Some(_)) => return Standing::Elsewhere,
        (None, _) | (_, None) => return Standing::Unknown,
    }
    if killed.may_have_left(line) {
        return Standing::Orphaned;
    }
    Standing::Apart
}

/// Tells whether a process is this one or descends from it; never where the process table does not tell.
pub fn is_below(pid: u32, ancestor: u32) -> bool {
    line_below(pid, ancestor) == Standing::Below
}

/// Names the process that started this one, or that took its place once that one was gone; `None` where the process
/// table does not tell.
pub fn parent_of(pid: u32) -> Option<ProcessIdentity> {
    let parent = entry_of(pid)?.parent;
    entry_of(parent).map(|entry| entry.id)
}

/// Tells whether this very process is there and has not ended.
pub fn is_there(id: ProcessIdentity) -> bool {
    is_alive(id)
}

/// Follows the parents up to the first process of the machine.
fn line_below(pid: u32, ancestor: u32) -> Standing {
    let mut at = pid;
    for _ in 0..GENERATIONS {
        if at == ancestor {
            return Standing::Below;
        }
        match entry_of(at) {
            Some(entry) if entry.parent == 0 => return Standing::Apart,
            Some(entry) => at = entry.parent,
            None => return Standing::Unknown,
        }
    }
    Standing::Unknown
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
        assert_eq!(standing_of(own, &none), Standing::Below);
        let parent = u32::try_from(parent).unwrap();
        assert_eq!(line_below(parent, own), Standing::Apart);
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
                standing_of(child.id(), &KilledInstances::default()),
                Standing::Below
            );
            drop(child.stdin.take());
            child.wait().unwrap();
            assert_eq!(
                standing_of(child.id(), &KilledInstances::default()),
                Standing::Unknown
            );
        }
    }

    #[test]
    fn only_who_is_apart_is_obeyed() {
        assert_eq!(Standing::Apart.why_not(), None);
        for standing in [
            Standing::Below,
            Standing::Marked,
            Standing::Elsewhere,
            Standing::Orphaned,
            Standing::Unknown,
        ] {
            assert!(standing.why_not().is_some(), "{standing:?}");
        }
    }
}
