//! Finds out whether bubblewrap works on this machine, by a child in a sandbox that tries to write.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::unistd::geteuid;
use tokio_util::sync::CancellationToken;

use super::bubblewrap::{BubblewrapProgram, SandboxProcesses, SandboxSpec};
use super::child_output::{CommandLimits, StdinSource};
use super::child_spawner::ChildSpawner;
use super::process_mark::ProcessMark;
use super::spawn_spec::SpawnSpec;

/// The exit code of the probe's shell if the folder is not writable.
const NOT_WRITABLE_EXIT_CODE: i32 = 42;

/// Whether children can be sandboxed by the kernel here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxSupport {
    Available(BubblewrapProgram),
    /// There is no working sandbox, for this reason.
    Unavailable(String),
}

/// Finds the first of these bubblewraps that works here; `place`, a folder that this program can write, must
/// not be writable inside it.
pub async fn detect_sandbox_support(
    children: &ChildSpawner,
    candidates: &[PathBuf],
    place: &Path,
) -> SandboxSupport {
    if children.is_simulated() {
        return SandboxSupport::Unavailable("simulated run, no process is started".to_owned());
    }
    if !cfg!(target_os = "linux") {
        return SandboxSupport::Unavailable("this system has no bubblewrap".to_owned());
    }
    if let Some(why) = describe_foreign_owner(place) {
        return SandboxSupport::Unavailable(why);
    }
    let mut why = "bubblewrap not found".to_owned();
    for bwrap in candidates {
        for processes in [SandboxProcesses::Own, SandboxProcesses::Host] {
            let tried = BubblewrapProgram {
                program: bwrap.clone(),
                processes,
            };
            match probe_bubblewrap(children, &tried, place).await {
                Ok(()) => return SandboxSupport::Available(tried),
                Err(problem) => why = format!("{} does not work here: {problem}", bwrap.display()),
            }
        }
    }
    SandboxSupport::Unavailable(why)
}

/// Names the foreign owner of a path if this program is root: sandboxed root can write only its own files.
pub fn describe_foreign_owner(place: &Path) -> Option<String> {
    let owner = place.metadata().ok()?.uid();
    let foreign = geteuid().is_root() && owner != 0;
    foreign.then(|| {
        let place = place.display();
        format!("this program runs as root, and {place} belongs to the user {owner}")
    })
}

async fn probe_bubblewrap(
    children: &ChildSpawner,
    bwrap: &BubblewrapProgram,
    place: &Path,
) -> Result<(), String> {
    let script = format!("test -w \"$1\" || exit {NOT_WRITABLE_EXIT_CODE}");
    let mut spec = SpawnSpec::new("sh", place, ProcessMark::new("probe", "contain")).args([
        "-c",
        &script,
        "sh",
        &place.to_string_lossy(),
    ]);
    spec.sandbox = Some(SandboxSpec::new(bwrap, []));
    let limits = CommandLimits {
        timeout: Duration::from_secs(10),
        output_cap: 4096,
        stdin: StdinSource::Null,
    };
    let never = CancellationToken::new();
    let ran = children.run_to_end(&spec, &limits, &never).await;
    let finished = ran.map_err(|error| error.to_string())?;
    match finished.exit.code {
        Some(NOT_WRITABLE_EXIT_CODE) => Ok(()),
        Some(0) => Err("programs inside it can still write".to_owned()),
        _ => Err(finished
            .exit
            .stderr_tail
            .lines()
            .last()
            .unwrap_or("it printed nothing")
            .to_owned()),
    }
}
