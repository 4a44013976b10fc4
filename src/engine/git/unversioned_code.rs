//! Scans for code that git or a test command would run or read although no tree shows it: hooks, git's own
//! configuration, and entry points among ignored files or in repositories nested in this one.
//!
//! Does not judge: two scans are compared, and the user decides about a difference.

mod file_walk;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::config_programs::{GitConfiguration, RepositoryConfig};
use super::error::GitError;
use super::excluded_paths::ExcludedFolders;
use super::git_command::{GitProgram, path_from_bytes, split_nul};
use super::installed_packages::{installed_packages, is_dependency_folder};
use super::sensitive_files::{HOOK_FOLDERS, is_sensitive_when_ignored};

use file_walk::{FileWalk, hash_path, is_skipped, sorted_entries};

/// The maximum number of files that are scanned, for hooks and for ignored files each; more are reported as
/// [`UnversionedCodeKind::Unseen`].
const MAX_FILES: usize = 20_000;

/// The files in another repository's git folder that decide what git runs or follows there.
const REPOSITORY_SETTINGS: [&str; 4] =
    ["config", "config.worktree", "commondir", "info/attributes"];

/// Folders with installed or built files, too large to scan.
const SKIPPED_FOLDERS: [&str; 5] = ["node_modules", "target", ".venv", "venv", ".git"];

/// Why the user is asked about a program that git's configuration names.
pub const PROGRAM_REASON: &str = "git's configuration names it as a program, which git runs";

/// The result of one scan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnversionedCode(pub BTreeMap<PathBuf, UnversionedCodeEntry>);

/// What was found at a path; the path is relative to the root if it is below it, else absolute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnversionedCodeEntry {
    pub kind: UnversionedCodeKind,
    /// A hash of type, mode, link and content; a count for [`UnversionedCodeKind::Unseen`].
    pub content: String,
}

/// Why a path is scanned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnversionedCodeKind {
    /// A file in the hooks folder, or in a folder that tools take hooks from.
    Hook,
    /// A file that git reads its configuration from.
    Configuration,
    /// The attributes file in git's folder; it selects filters.
    Attributes,
    /// A reference from git's folder to other repositories or objects.
    Pointer,
    /// The `.git` of a repository inside this one, with its settings and hooks.
    Repository,
    /// A file of the repository that git's configuration names as a program.
    Program,
    /// A file that a test command may read or run and that is in no tree.
    EntryPoint,
    /// A set-uid or set-gid file; a tree does not record this.
    SetId,
    /// An installed package beside the code.
    Dependency,
    /// More files than the scan looks at.
    Unseen,
}

impl UnversionedCodeKind {
    /// Describes for the user what the file decides.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Hook => "git runs hooks from it, and no commit shows it",
            Self::Configuration => "git's configuration: it names hooks, filters and programs",
            Self::Attributes => "git's own attributes: they choose filters",
            Self::Pointer => "git reads objects or its own folder from where it points",
            Self::Repository => {
                "a repository inside this one: its settings and hooks run when git works in it"
            }
            Self::Program => PROGRAM_REASON,
            Self::EntryPoint => "tests may run it, and no commit shows it",
            Self::SetId => {
                "whoever runs it acts as its owner or group (a set-id bit), and no commit shows it"
            }
            Self::Dependency => "it runs with the tests, and no commit shows it",
            Self::Unseen => "too many files that git does not track; not all were checked",
        }
    }
}

/// The places of what git or a test command would run or read and that no tree shows.
#[derive(Debug, Clone, Copy)]
pub struct UnversionedCodeSources<'a> {
    pub(super) git: &'a GitProgram,
    pub(super) excluded: &'a ExcludedFolders,
}

impl UnversionedCodeSources<'_> {
    /// Scans everything that git or a test command would run or read and that no tree shows.
    ///
    /// # Errors
    /// Git fails, or a file cannot be read.
    pub async fn scan(self) -> Result<UnversionedCode, GitError> {
        let configuration = RepositoryConfig { git: self.git }.read().await?;
        self.scan_with(&configuration).await
    }

    /// Scans as [`Self::scan`] does, with a configuration that was just read.
    ///
    /// # Errors
    /// Git fails, or a file cannot be read.
    pub async fn scan_with(
        self,
        configuration: &GitConfiguration,
    ) -> Result<UnversionedCode, GitError> {
        let mut look = UnversionedCodeScanner {
            sources: self,
            found: UnversionedCode::default(),
        };
        let hooks = configuration.hooks.clone();
        look.scan_hooks(&hooks.unwrap_or_else(|| self.git.common_dir.join("hooks")))?;
        look.scan_configuration(&self.configuration_files(configuration.files.clone()))?;
        let attributes = self.git.common_dir.join("info/attributes");
        look.add_path(&attributes, UnversionedCodeKind::Attributes)?;
        look.scan_pointers()?;
        look.scan_submodules(&self.git.common_dir.join("modules"))?;
        for program in &configuration.programs {
            let program = self.git.root.join(program);
            if program.is_file() {
                look.add_path(&program, UnversionedCodeKind::Program)?;
            }
        }
        let listed = self.list_work_tree().await?;
        for folder in &listed.folders {
            look.scan_nested_repository(&self.git.root.join(folder))?;
        }
        look.scan_unversioned_paths(listed.unversioned)?;
        look.scan_set_id_files(listed.files);
        Ok(look.found)
    }

    /// Returns true if there is any hook that a commit could run.
    ///
    /// # Errors
    /// Git fails.
    pub async fn has_hooks(self) -> Result<bool, GitError> {
        let hooks = sorted_entries(&RepositoryConfig { git: self.git }.hooks_path().await?);
        let is_hook = |path: &PathBuf| path.extension().is_none_or(|end| end != "sample");
        Ok(hooks.iter().any(is_hook))
    }

    /// Returns the files that git may read its configuration from, including the user's own and included
    /// ones.
    fn configuration_files(self, mut named: BTreeSet<PathBuf>) -> Vec<PathBuf> {
        named.insert(self.git.common_dir.join("config"));
        named.insert(self.git.common_dir.join("config.worktree"));
        named.insert(self.git.git_dir.join("config.worktree"));
        named.into_iter().collect()
    }

    /// Lists what is in the work tree, with one call for what git does not track and one for what it does.
    async fn list_work_tree(self) -> Result<WorkTreePaths, GitError> {
        let args = [
            "status",
            "--porcelain=v2",
            "-z",
            "--ignored=matching",
            "--untracked-files=all",
            "--ignore-submodules=all",
            "--no-renames",
        ];
        let output = self.git.command(&args).stdout_bytes().await?;
        let (mut files, mut folders) = (Vec::new(), BTreeSet::new());
        for record in split_nul(&output) {
            if let [b'?', b' ', path @ ..] = record {
                add_folders(path, &mut folders);
                files.push(path_from_bytes(path));
            }
        }
        let mut unversioned: Vec<PathBuf> = split_nul(&output)
            .filter_map(|record| match record {
                [b'!', b' ', path @ ..] => Some(path),
                [b'?', b' ', path @ ..] if path.ends_with(b"/") => Some(path),
                _ => None,
            })
            .map(path_from_bytes)
            .collect();
        let index = self
            .git
            .object_command(&["ls-files", "-z", "--stage"])
            .stdout_bytes()
            .await?;
        for entry in split_nul(&index) {
            if let Some(path) = entry.splitn(2, |byte| *byte == b'\t').nth(1) {
                add_folders(path, &mut folders);
                files.push(path_from_bytes(path));
            }
        }
        let submodules = split_nul(&index)
            .filter(|entry| entry.starts_with(b"160000 "))
            .filter_map(|entry| entry.split(|byte| *byte == b'\t').nth(1));
        unversioned.extend(submodules.map(path_from_bytes));
        let folders = folders.iter().map(|path| path_from_bytes(path)).collect();
        Ok(WorkTreePaths {
            unversioned,
            files,
            folders,
        })
    }
}

/// The paths in the work tree, relative to the root.
struct WorkTreePaths {
    /// What no tree shows: ignored files and folders, and nested repositories.
    unversioned: Vec<PathBuf>,
    /// Tracked and untracked files. A nested repository is one of them, a tracked file that is gone, too.
    files: Vec<PathBuf>,
    /// The folders of these files, in which a repository could hide.
    folders: Vec<PathBuf>,
}

/// Adds the folders above a path, without the root.
fn add_folders(path: &[u8], folders: &mut BTreeSet<Vec<u8>>) {
    let mut path = path;
    while let Some(at) = path.iter().rposition(|byte| *byte == b'/') {
        path = path.get(..at).unwrap_or_default();
        if !folders.insert(path.to_vec()) {
            return;
        }
    }
}

/// A scan in progress.
struct UnversionedCodeScanner<'a> {
    sources: UnversionedCodeSources<'a>,
    found: UnversionedCode,
}

impl UnversionedCodeScanner<'_> {
    fn scan_hooks(&mut self, folder: &Path) -> Result<(), GitError> {
        // The folder itself may be a link; its target matters as much as its content.
        if std::fs::symlink_metadata(folder).is_ok_and(|found| found.is_symlink()) {
            self.add_path(folder, UnversionedCodeKind::Hook)?;
        }
        let is_hook = |path: &Path| path.extension().is_none_or(|end| end != "sample");
        let mut files = FileWalk::from_folder(folder);
        // A folder that contains the whole work tree does not contain only hooks.
        files.is_recursive = !self.sources.git.root.starts_with(folder);
        for path in files.by_ref().filter(|path| is_hook(path)) {
            self.add_path(&path, UnversionedCodeKind::Hook)?;
        }
        self.add_limit_notice(folder, &files);
        Ok(())
    }

    fn scan_configuration(&mut self, files: &[PathBuf]) -> Result<(), GitError> {
        files
            .iter()
            .try_for_each(|file| self.add_path(file, UnversionedCodeKind::Configuration))
    }

    fn scan_unversioned_paths(&mut self, paths: Vec<PathBuf>) -> Result<(), GitError> {
        let UnversionedCodeSources { git, excluded } = self.sources;
        let paths = paths.into_iter().filter(|path| !excluded.contains(path));
        let paths: Vec<PathBuf> = paths.collect();
        for path in &paths {
            let is_inside = path.parent().is_some_and(is_skipped);
            if is_dependency_folder(path) && !is_inside {
                self.scan_packages(path)?;
            }
        }
        let paths = paths.into_iter().filter(|path| !is_skipped(path));
        let mut files = FileWalk::from_paths(paths.map(|path| git.root.join(path)).collect());
        for path in files.by_ref() {
            let below = path.strip_prefix(&git.root).unwrap_or(&path);
            if excluded.contains(below) {
                continue;
            }
            if path.file_name().is_some_and(|name| name == ".git") {
                self.add_repository(&path)?;
            } else if HOOK_FOLDERS.iter().any(|folder| below.starts_with(folder)) {
                self.add_path(&path, UnversionedCodeKind::Hook)?;
            } else if is_sensitive_when_ignored(below) {
                self.add_path(&path, UnversionedCodeKind::EntryPoint)?;
            }
        }
        self.add_limit_notice(&git.root, &files);
        Ok(())
    }

    /// Adds files with a set-id bit.
    fn scan_set_id_files(&mut self, files: Vec<PathBuf>) {
        for path in files {
            let found = std::fs::symlink_metadata(self.sources.git.root.join(&path));
            let mode = found.map_or(0, |found| if found.is_file() { found.mode() } else { 0 });
            if mode & 0o6000 != 0 {
                let mark = UnversionedCodeEntry {
                    kind: UnversionedCodeKind::SetId,
                    content: format!("{:o}", mode & 0o7777),
                };
                self.found.0.entry(path).or_insert(mark);
            }
        }
    }

    /// Adds the files in git's folder that lead to objects or settings elsewhere.
    fn scan_pointers(&mut self) -> Result<(), GitError> {
        for name in ["commondir", "objects/info/alternates"] {
            self.add_path(
                &self.sources.git.common_dir.join(name),
                UnversionedCodeKind::Pointer,
            )?;
        }
        Ok(())
    }

    /// Adds each package in a folder of installed packages.
    fn scan_packages(&mut self, folder: &Path) -> Result<(), GitError> {
        let place = self.sources.git.root.join(folder);
        // The folder itself may be a link; its target matters as much as its content.
        if std::fs::symlink_metadata(&place).is_ok_and(|found| found.is_symlink()) {
            self.add_path(&place, UnversionedCodeKind::Dependency)?;
        }
        let packages = installed_packages(&place);
        for (name, content) in packages.marks {
            let mark = UnversionedCodeEntry {
                kind: UnversionedCodeKind::Dependency,
                content,
            };
            self.found.0.insert(folder.join(name), mark);
        }
        if packages.n_remaining == 0 {
            let mark = UnversionedCodeEntry {
                kind: UnversionedCodeKind::Unseen,
                content: "more files than are looked at".to_owned(),
            };
            self.found.0.insert(folder.join("…"), mark);
        }
        Ok(())
    }

    /// Adds settings and hooks of the submodules whose git folders are inside this one's.
    fn scan_submodules(&mut self, folder: &Path) -> Result<(), GitError> {
        for path in sorted_entries(folder) {
            if !path.is_dir() {
                continue;
            }
            if path.join("HEAD").exists() || path.join("config").exists() {
                self.add_repository(&path)?;
                self.scan_submodules(&path.join("modules"))?;
            } else {
                self.scan_submodules(&path)?
            }
        }
        Ok(())
    }

    fn scan_nested_repository(&mut self, folder: &Path) -> Result<(), GitError> {
        let place = folder.join(".git");
        match place.symlink_metadata() {
            Ok(_) => self.add_repository(&place),
            Err(_) => Ok(()),
        }
    }

    /// Adds one repository: where its `.git` leads, and what git runs or follows there.
    fn add_repository(&mut self, place: &Path) -> Result<(), GitError> {
        let failed = |source| GitError::File {
            verb: "read",
            path: place.to_path_buf(),
            source,
        };
        let mut hash = Sha256::new();
        let mut add = |path: &Path| -> io::Result<()> {
            hash.update(hash_path(path)?.unwrap_or_default());
            hash.update(b"\0");
            Ok(())
        };
        add(place).map_err(failed)?;
        let folder = resolve_git_dir(place);
        for name in REPOSITORY_SETTINGS {
            add(&folder.join(name)).map_err(failed)?;
        }
        let is_hook = |path: &PathBuf| path.extension().is_none_or(|end| end != "sample");
        for hook in sorted_entries(&folder.join("hooks"))
            .iter()
            .filter(|path| is_hook(path))
        {
            add(hook).map_err(failed)?;
        }
        let content = hash.finalize();
        let content = content.iter().map(|byte| format!("{byte:02x}")).collect();
        let mark = UnversionedCodeEntry {
            kind: UnversionedCodeKind::Repository,
            content,
        };
        self.found
            .0
            .entry(self.relative_to_root(place))
            .or_insert(mark);
        Ok(())
    }

    /// Adds a path, if something exists there.
    fn add_path(&mut self, path: &Path, kind: UnversionedCodeKind) -> Result<(), GitError> {
        let content = hash_path(path).map_err(|source| GitError::File {
            verb: "read",
            path: path.to_path_buf(),
            source,
        })?;
        if let Some(content) = content {
            let mark = UnversionedCodeEntry { kind, content };
            self.found
                .0
                .entry(self.relative_to_root(path))
                .or_insert(mark);
        }
        Ok(())
    }

    fn add_limit_notice(&mut self, folder: &Path, files: &FileWalk) {
        if files.n_remaining == 0 {
            let mark = UnversionedCodeEntry {
                kind: UnversionedCodeKind::Unseen,
                content: format!("more than {MAX_FILES} files"),
            };
            self.found
                .0
                .insert(self.relative_to_root(folder).join("…"), mark);
        }
    }

    fn relative_to_root(&self, path: &Path) -> PathBuf {
        let below = path.strip_prefix(&self.sources.git.root);
        below.unwrap_or(path).to_path_buf()
    }
}

/// Returns the folder that a `.git` is or names.
fn resolve_git_dir(place: &Path) -> PathBuf {
    let named = std::fs::read(place).ok();
    let named = named
        .as_deref()
        .and_then(|text| text.strip_prefix(b"gitdir: "));
    let folder = place.parent().unwrap_or(place);
    named.map_or_else(
        || place.to_owned(),
        |named| folder.join(path_from_bytes(named.trim_ascii_end())),
    )
}
