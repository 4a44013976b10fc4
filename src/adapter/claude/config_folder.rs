//! Lists what claude stores in its own folder: the conversations of one project, its login, and transient files.
//!
//! Observed on 2.1.330; everything that is not listed here counts as a setting.

use std::path::Path;

use crate::adapter::{CliStateFolder, StateEntry, StateEntryKind};

/// The folder of all conversations, with one subfolder per project.
const PROJECTS_FOLDER: &str = "projects";

/// The tokens of a subscription. claude writes a new file next to it and renames it; if that is impossible because the
/// file is mounted, it writes the file itself.
const CREDENTIALS_FILE: &str = ".credentials.json";

/// What a process writes for itself while it runs: which sessions run and how to reach them, screen state, caches and
/// logs. The plugin store holds only counts that claude made.
const TRANSIENT_ENTRIES: &[&str] = &[
    ".session_ingress_token",
    "active-time.json",
    "api-dumps",
    "backups",
    "bridge-spawn",
    "cache",
    "computer-use.lock",
    "daemon",
    "debug",
    "dump-prompts",
    "file-history",
    "history.jsonl",
    "ide",
    "image-cache",
    "jobs",
    "logs",
    "paste-cache",
    "plans",
    "plugins/store",
    "remote-control",
    "scratch",
    "server-sessions.json",
    "server.lock",
    "session-env",
    "sessions",
    "shell-snapshots",
    "startup-perf",
    "stats-cache.json",
    "statsig",
    "tasks",
    "teams",
    "telemetry",
    "todos",
    "traces",
    "uploads",
    "usage-data",
];

/// The longest path that becomes a folder name without a checksum.
const MAX_PLAIN_NAME: usize = 200;

/// Describes claude's own folder for a process that starts in `cwd`.
pub fn claude_state_folder(cwd: &Path) -> CliStateFolder {
    let place = |below: String, keeps| StateEntry {
        relative_path: below,
        kind: keeps,
    };
    let conversations = format!("{PROJECTS_FOLDER}/{}", project_folder_name(cwd));
    let memory = format!("{conversations}/memory");
    let mut places = vec![
        // Conversations of other projects can be neither seen nor written.
        place(PROJECTS_FOLDER.to_owned(), StateEntryKind::Transient),
        place(conversations, StateEntryKind::Conversations),
        place(memory, StateEntryKind::AgentMemory),
        place(CREDENTIALS_FILE.to_owned(), StateEntryKind::Credentials),
    ];
    let transient = TRANSIENT_ENTRIES.iter();
    places.extend(transient.map(|below| place((*below).to_owned(), StateEntryKind::Transient)));
    CliStateFolder {
        env_variable: "CLAUDE_CONFIG_DIR",
        default_path_in_home: ".claude",
        settings_files_in_home: &[".claude.json"],
        entries: places,
    }
}

/// Names a project's folder as claude does: a dash replaces each UTF-16 unit that is not an ASCII letter or digit, and
/// a long name is cut and gets a checksum.
fn project_folder_name(cwd: &Path) -> String {
    let cwd = cwd.to_string_lossy();
    let plain = |unit: u16| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
        Ok(_) | Err(_) => '-',
    };
    let name: String = cwd.encode_utf16().map(plain).collect();
    match name.get(..MAX_PLAIN_NAME) {
        Some(beginning) if name.len() > MAX_PLAIN_NAME => {
            let sum = cwd.encode_utf16().fold(0_i32, |sum, unit| {
                sum.wrapping_mul(31).wrapping_add(i32::from(unit))
            });
            format!("{beginning}-{}", to_base36(sum.unsigned_abs()))
        }
        Some(_) | None => name,
    }
}

fn to_base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_named_as_claude_names_it() {
        // The names that claude 2.1.330 made for these folders.
        assert_eq!(
            project_folder_name(Path::new("/tmp/cl/repo/sub")),
            "-tmp-cl-repo-sub"
        );
        let parts: Vec<String> = (0..14).map(|n| format!("müller-𝒳 dir_{n:02}.x")).collect();
        let long = format!("/tmp/cl/long/{}", parts.join("/"));
        let named = project_folder_name(Path::new(&long));
        assert!(named.starts_with("-tmp-cl-long-m-ller----dir-00-x-m-ller----dir-01-x-"));
        assert!(
            named.ends_with("-m-ller----dir-08-x-m-ller----dir-09-6f8peq"),
            "{named}"
        );
    }

    #[test]
    fn of_all_conversations_those_of_the_project_alone_are_kept() {
        let places = claude_state_folder(Path::new("/repo")).entries;
        let kept = |keeps| {
            let of = places.iter().filter(move |place| place.kind == keeps);
            of.map(|place| place.relative_path.as_str())
                .collect::<Vec<_>>()
        };
        assert_eq!(kept(StateEntryKind::Conversations), ["projects/-repo"]);
        assert_eq!(kept(StateEntryKind::AgentMemory), ["projects/-repo/memory"]);
        assert_eq!(kept(StateEntryKind::Credentials), [".credentials.json"]);
    }
}
