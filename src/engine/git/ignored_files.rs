//! Finds files that no commit will contain because of lines that a step wrote into a `.gitignore`.
//!
//! Files that were ignored before are the user's choice and are not reported.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::TreeId;
use super::error::GitError;
use super::git_command::{last_output, path_from_bytes, split_nul};
use super::git_status::WorkTreeStatus;

/// Names of build outputs, installed packages and caches: they are never committed, and every step that
/// sets up a project ignores them.
const BUILD_OUTPUT_NAMES: [&str; 25] = [
    "node_modules",
    "target",
    "dist",
    "build",
    "out",
    "bin",
    "obj",
    "coverage",
    ".coverage",
    "htmlcov",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
    ".venv",
    "venv",
    ".gradle",
    ".next",
    ".nuxt",
    ".cache",
    ".parcel-cache",
    ".turbo",
    ".DS_Store",
];

/// Extensions of files that tools build or write as logs.
const BUILD_OUTPUT_EXTENSIONS: [&str; 10] = [
    "pyc",
    "pyo",
    "o",
    "a",
    "so",
    "class",
    "log",
    "tsbuildinfo",
    "egg-info",
    "tmp",
];

impl WorkTreeStatus<'_> {
    /// Lists the files and folders in the work tree that the index does not have: untracked ones, and ignored ones that
    /// tools do not build or install.
    ///
    /// # Errors
    /// Git fails.
    pub async fn uncommitted_entries(self) -> Result<Vec<PathBuf>, GitError> {
        let git = self.git;
        let list = git.command(&["ls-files", "-z", "--others", "--directory"]);
        let output = list.stdout_bytes().await?;
        let paths = split_nul(&output).map(|path| path.strip_suffix(b"/").unwrap_or(path));
        Ok(paths
            .map(path_from_bytes)
            .filter(|path| !self.excluded.contains(path) && !is_build_output(path))
            .collect())
    }

    /// Lists ignored files in the work tree whose `.gitignore` line was added between two trees, with that
    /// line. Build outputs, installed packages and caches are left out.
    ///
    /// # Errors
    /// Git fails.
    pub async fn newly_ignored_files(
        self,
        before: &TreeId,
        now: &TreeId,
    ) -> Result<Vec<(PathBuf, String)>, GitError> {
        let changes = self.trees.changes_between(before, now).await?;
        let lists = changes.into_iter().map(|change| change.path);
        let lists: Vec<PathBuf> = lists
            .filter(|path| path.file_name() == Some(OsStr::new(".gitignore")))
            .collect();
        if lists.is_empty() {
            return Ok(Vec::new());
        }
        let mut known = BTreeMap::new();
        for list in lists {
            let text = self
                .trees
                .read_file_in_tree(before, &list)
                .await?
                .unwrap_or_default();
            known.insert(list, String::from_utf8_lossy(&text).into_owned());
        }
        let is_new = |source: &Path, pattern: &str| {
            let lines = known.get(source);
            lines.is_some_and(|text| text.lines().all(|line| line.trim_end() != pattern))
        };
        let ignored = self.ignored_files_with_patterns().await?.into_iter();
        let new = ignored.filter(|(path, source, pattern)| {
            is_new(source, pattern) && !is_build_output(path) && !self.excluded.contains(path)
        });
        Ok(new.map(|(path, _, pattern)| (path, pattern)).collect())
    }

    /// Lists everything ignored, a folder as one entry, with the file and the line that ignore it.
    async fn ignored_files_with_patterns(
        self,
    ) -> Result<Vec<(PathBuf, PathBuf, String)>, GitError> {
        let git = self.git;
        let args = [
            "status",
            "--porcelain=v2",
            "-z",
            "--ignored=matching",
            "--untracked-files=all",
            "--ignore-submodules=all",
            "--no-renames",
        ];
        let output = git.command(&args).stdout_bytes().await?;
        let ignored = split_nul(&output).filter_map(|record| record.strip_prefix(b"! "));
        let ignored: Vec<PathBuf> = ignored.map(path_from_bytes).collect();
        if ignored.is_empty() {
            return Ok(Vec::new());
        }
        let why = git.command(&["check-ignore", "--verbose", "-z", "--stdin"]);
        let finished = why
            .stdin_paths(ignored.iter().map(PathBuf::as_path))
            .output()
            .await?;
        // Exit code 1 means that no line ignores any of them, because the line is gone by now.
        let output = match (finished.exit.code, finished.stdout.complete_bytes()) {
            (Some(0 | 1), Some(output)) => output.to_vec(),
            _ => {
                return Err(GitError::Failed {
                    command: "check-ignore".to_owned(),
                    output: last_output(&finished),
                });
            }
        };
        let parts: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
        let records = parts.chunks_exact(4).map(|record| {
            let pattern = String::from_utf8_lossy(record[2]).into_owned();
            (
                path_from_bytes(record[3]),
                path_from_bytes(record[0]),
                pattern,
            )
        });
        Ok(records.collect())
    }
}

fn is_build_output(path: &Path) -> bool {
    let is_known = path
        .iter()
        .any(|name| BUILD_OUTPUT_NAMES.iter().any(|known| name == *known));
    let ending = path.extension().and_then(OsStr::to_str);
    is_known || ending.is_some_and(|ending| BUILD_OUTPUT_EXTENSIONS.contains(&ending))
}
