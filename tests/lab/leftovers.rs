//! Finds processes that a scenario left behind.
//!
//! Every process of a scenario has the scenario's folder in its environment, its working directory
//! or its arguments; a scrubbed environment still has one of them. It ends nothing by itself.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Lists the processes that still belong to a scenario, as `pid command line`.
pub fn find_leftovers(root: &Path) -> Vec<(i32, String)> {
    let mark = root.to_string_lossy();
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
        let belongs =
            command.contains(&*mark) || environment.contains(&*mark) || cwd.starts_with(root);
        if belongs && pid != own {
            found.push((pid.cast_signed(), command));
        }
    }
    found
}

/// Fails when a process of the scenario is alive; the kernel gets a moment to bury the dead.
pub fn assert_none_left(root: &Path) {
    let deadline = Instant::now() + Duration::from_secs(2);
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
