//! Finds processes that a scenario left behind.
//!
//! Every process of a scenario has the scenario's folder in its environment or its working directory, or the
//! run's mark, which the program sets on everything that it starts. With a scrubbed environment the folder is at
//! least in the arguments. The arguments of a process that carries the mark of another run do not count: the
//! sandboxes of all runs hide each other's sockets by their paths. Nothing is killed here.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use agent_collab::process::MARK_VARIABLE;

/// Lists the processes that still belong to a scenario, as `pid command line`.
pub fn find_leftovers(root: &Path) -> Vec<(i32, String)> {
    let mut marks = vec![root.to_string_lossy().into_owned()];
    marks.extend(mark_of_run(root));
    let own = std::process::id();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        let folder = entry.path();
        let read = |name: &str| fs::read(folder.join(name)).unwrap_or_default();
        let command = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
        let environment = String::from_utf8_lossy(&read("environ")).into_owned();
        let cwd = fs::read_link(folder.join("cwd")).unwrap_or_default();
        let marked = |text: &str| marks.iter().any(|mark| text.contains(mark));
        let is_of_another_run = environment.contains(MARK_VARIABLE);
        let belongs = marked(&environment)
            || cwd.starts_with(root)
            || (marked(&command) && !is_of_another_run);
        if belongs && pid != own {
            found.push((pid.cast_signed(), command));
        }
    }
    found
}

/// Returns what the environment of every process of the run in the scenario's repository contains.
fn mark_of_run(root: &Path) -> Option<String> {
    let state = fs::read(root.join("repository/.agent-collab/state.json")).ok()?;
    let state: serde_json::Value = serde_json::from_slice(&state).ok()?;
    Some(format!("{MARK_VARIABLE}={}", state["run"].as_str()?))
}

/// Fails when a process of the scenario is alive; the kernel gets a moment to bury the dead.
pub fn assert_none_left(root: &Path) {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let left = find_leftovers(root);
        if left.is_empty() {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "processes are left behind: {left:#?}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}
