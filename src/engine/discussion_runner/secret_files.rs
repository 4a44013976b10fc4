//! Lists the files of a repository that no agent may read without asking, so that the commands of a
//! discussion cannot read them, whatever they search.
//!
//! The rules decide by file name; the content of the files is not read.

use std::fs;
use std::path::{Path, PathBuf};

use crate::engine::agent_activity;
use crate::permission::RuleSet;

/// The limits: how many files and folders are scanned, and how many may be hidden from a command.
const SCAN_LIMITS: (usize, usize) = (200_000, 1_000);

/// Lists the files below the root that these rules let no agent read without asking, by their real paths.
/// Git's folder and `own`, which is handled separately, are left out.
///
/// # Errors
/// A folder cannot be listed, or there are too many files; the error is one sentence.
pub(super) fn list_secret_files(
    root: &Path,
    own: &Path,
    rules: &RuleSet,
) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut n_seen = 0;
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let told = |error| format!("cannot list {}: {error}", display_folder(root, &folder));
        for entry in fs::read_dir(&folder).map_err(told)? {
            let path = entry.map_err(told)?.path();
            n_seen += 1;
            if n_seen > SCAN_LIMITS.0 || found.len() > SCAN_LIMITS.1 {
                return Err("there are too many files to hide those it must not read".to_owned());
            }
            let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
            if path == own || path == root.join(".git") {
                continue;
            }
            if is_folder {
                folders.push(path);
            } else if !is_readable(root, &path, rules) {
                // A command would read the target of a link; a link that leads nowhere has nothing to hide.
                found.extend(path.canonicalize());
            }
        }
    }
    Ok(found)
}

fn is_readable(root: &Path, path: &Path, rules: &RuleSet) -> bool {
    let name = path.strip_prefix(root).unwrap_or(path);
    rules.allows_reading(&name.to_string_lossy())
}

fn display_folder(root: &Path, folder: &Path) -> String {
    let below = folder.strip_prefix(root).unwrap_or(folder);
    if below.as_os_str().is_empty() {
        "the repository".to_owned()
    } else {
        agent_activity::clean_line(&below.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::ProfileDefinition;

    fn place(names: &[&str]) -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        for name in names {
            let path = place.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        place
    }

    #[test]
    fn what_is_asked_about_is_kept_from_a_command_wherever_it_lies_and_whatever_leads_to_it() {
        let names = [
            "README.md",
            ".env",
            "web/.env.local",
            "web/.env.example",
            ".git/.env",
            "own/.env",
            "secret",
        ];
        let place = place(&names);
        let root = place.path().canonicalize().unwrap();
        std::os::unix::fs::symlink(root.join("secret"), root.join("web/.env")).unwrap();
        std::os::unix::fs::symlink(root.join("nowhere"), root.join(".env.nowhere")).unwrap();
        let plan = ProfileDefinition::built_in("plan").unwrap();
        let rules = RuleSet::from_layers(&plan, &[], &[]);
        let mut found = list_secret_files(&root, &root.join("own"), &rules).unwrap();
        found.sort();
        let expected = [".env", "secret", "web/.env.local"].map(|name| root.join(name));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_folder_that_cannot_be_listed_is_told_by_name() {
        let rules = RuleSet::from_list(Vec::new());
        let gone = Path::new("/nowhere");
        let error = list_secret_files(gone, gone, &rules).unwrap_err();
        assert!(error.starts_with("cannot list the repository: "), "{error}");
    }
}
