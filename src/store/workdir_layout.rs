//! Defines the path of every file of the program inside a repository.
//!
//! Does not read or write these files; it only creates the directory and its `.gitignore`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use crate::domain::ids::{DiscussionId, RunId, SessionId};

use super::nofollow_fs::{self, PathKind};
use super::{StoreError, atomic_file};

/// The content of the work directory's `.gitignore`.
const GITIGNORE: &str = "*\n!.gitignore\n!config.toml\n!prompts/\n!prompts/**\n";

/// Names in the work directory that no document may use.
const RESERVED_NAMES: [&str; 17] = [
    ".gitignore",
    "archive.json",
    "config.toml",
    "discussions",
    "events.jsonl",
    "exports",
    "history",
    "iterations",
    "lock",
    "merges",
    "patches",
    "prompts",
    "receipts",
    "sessions",
    "socket",
    "state.json",
    "turns",
];

/// The names under `[paths]` in the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkdirNames {
    /// The work directory, relative to the repository.
    pub workdir: PathBuf,
    /// The file name of the plan.
    pub plan: String,
    /// The file name of the review.
    pub comments: String,
    /// The file name of the run's log for people.
    pub log: String,
    /// The file name of the diagnostic log.
    pub debug_log: String,
}

impl Default for WorkdirNames {
    fn default() -> Self {
        Self {
            workdir: ".agent-collab".into(),
            plan: "plan.md".into(),
            comments: "comments.md".into(),
            log: "log.md".into(),
            debug_log: "debug.log".into(),
        }
    }
}

/// Whether other users of the machine can read the work directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum WorkdirPrivacy {
    /// Only its owner can.
    Private,
    /// The file system does not allow a stricter mode; worth a notice.
    Open,
}

/// The paths of the program inside one repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkdirLayout {
    root: PathBuf,
    workdir: PathBuf,
    names: WorkdirNames,
}

impl WorkdirLayout {
    /// Checks the names against the repository at `root` and resolves `root` itself.
    ///
    /// The work directory must stay inside the repository, be neither the repository itself nor in `.git`,
    /// and have no symbolic link in its path. It need not exist yet.
    pub fn new(root: &Path, names: WorkdirNames) -> Result<Self, StoreError> {
        let root = root
            .canonicalize()
            .map_err(|e| StoreError::from_io("resolve", root, e))?;
        let workdir = root.join(check_workdir(&root, &names.workdir)?);
        check_names(&names)?;
        let layout = Self {
            root,
            workdir,
            names,
        };
        layout.check_workdir_path()?;
        Ok(layout)
    }

    fn check_workdir_path(&self) -> Result<(), StoreError> {
        let below = self.workdir.strip_prefix(&self.root).unwrap_or(&self.root);
        let mut way = self.root.clone();
        for part in below {
            way.push(part);
            match nofollow_fs::path_kind(&way)? {
                PathKind::Missing => return Ok(()),
                PathKind::Directory => {}
                found @ (PathKind::File | PathKind::Symlink | PathKind::Other) => {
                    return Err(StoreError::UnexpectedFileType {
                        path: way,
                        found: found.label(),
                        expected: "a directory",
                    });
                }
            }
        }
        Ok(())
    }

    /// Creates the work directory (0700) and its `.gitignore` (0600) if they are missing.
    ///
    /// An existing `.gitignore` belongs to the user and is not changed. A configured directory that already
    /// contains other files is refused, because git would ignore them from then on.
    pub fn create(&self) -> Result<WorkdirPrivacy, StoreError> {
        self.check_workdir_path()?;
        nofollow_fs::ensure_dirs(&self.root, &self.workdir)?;
        let ignore = self.workdir.join(".gitignore");
        if nofollow_fs::path_kind(&ignore)? == PathKind::Missing {
            self.check_no_foreign_files()?;
            atomic_file::replace_file(&ignore, GITIGNORE.as_bytes())?;
        }
        self.restrict_mode()
    }

    fn check_no_foreign_files(&self) -> Result<(), StoreError> {
        if self.names.workdir == WorkdirNames::default().workdir {
            return Ok(());
        }
        let entries = fs::read_dir(&self.workdir)
            .map_err(|e| StoreError::from_io("list", &self.workdir, e))?;
        for entry in entries {
            let entry = entry.map_err(|e| StoreError::from_io("list", &self.workdir, e))?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if !RESERVED_NAMES.contains(&name.as_ref()) && !atomic_file::is_temporary_name(&name) {
                return Err(StoreError::InvalidPathSetting {
                    key: "workdir",
                    value: self.names.workdir.display().to_string(),
                    reason: "the directory contains files that are not agent-collab's, and git would ignore them",
                });
            }
        }
        Ok(())
    }

    fn restrict_mode(&self) -> Result<WorkdirPrivacy, StoreError> {
        let look = || {
            fs::symlink_metadata(&self.workdir)
                .map(|meta| meta.permissions().mode() & 0o777)
                .map_err(|e| StoreError::from_io("access", &self.workdir, e))
        };
        if look()? != 0o700 {
            // A file system without modes, or another owner, refuses this; the check below reports it.
            let _ = fs::set_permissions(&self.workdir, fs::Permissions::from_mode(0o700));
        }
        Ok(match look()? & 0o077 {
            0 => WorkdirPrivacy::Private,
            _ => WorkdirPrivacy::Open,
        })
    }

    /// Returns the repository root with all links resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the work directory.
    pub fn workdir(&self) -> &Path {
        &self.workdir
    }

    /// Returns the configured names.
    pub fn names(&self) -> &WorkdirNames {
        &self.names
    }

    /// Returns the path of the run's snapshot.
    pub fn state(&self) -> PathBuf {
        self.workdir.join("state.json")
    }

    /// Returns the path of the run's event log.
    pub fn events(&self) -> PathBuf {
        self.workdir.join("events.jsonl")
    }

    /// Returns the path of the plan.
    pub fn plan(&self) -> PathBuf {
        self.workdir.join(&self.names.plan)
    }

    /// Returns the path of the review.
    pub fn comments(&self) -> PathBuf {
        self.workdir.join(&self.names.comments)
    }

    /// Returns the paths of the documents: the plan and the review.
    pub fn document_paths(&self) -> [PathBuf; 2] {
        [self.plan(), self.comments()]
    }

    /// Returns the paths of the record of everything that was said and done.
    pub fn record_paths(&self) -> [PathBuf; 4] {
        [
            self.state(),
            self.events(),
            self.sessions(),
            self.discussions(),
        ]
    }

    /// Returns the path of the log for people.
    pub fn log(&self) -> PathBuf {
        self.workdir.join(&self.names.log)
    }

    /// Returns the path of the instance lock.
    pub fn lock(&self) -> PathBuf {
        self.workdir.join("lock")
    }

    /// Returns the path of the socket on which the instance listens.
    pub fn socket(&self) -> PathBuf {
        self.workdir.join("socket")
    }

    /// Returns the directory of all stored iterations.
    pub fn iterations(&self) -> PathBuf {
        self.workdir.join("iterations")
    }

    /// Returns the directory of the stored documents of iteration `n`.
    pub fn iteration_folder(&self, n: u32) -> PathBuf {
        self.iterations().join(n.to_string())
    }

    /// Returns the directory of all sessions.
    pub fn sessions(&self) -> PathBuf {
        self.workdir.join("sessions")
    }

    /// Returns the directory of one session.
    pub fn session_folder(&self, id: &SessionId) -> PathBuf {
        self.sessions().join(id_to_file_name(id.as_str()))
    }

    /// Returns the directories of a run in which only the program writes.
    pub(super) fn guarded_folders(&self) -> [PathBuf; 4] {
        [
            self.sessions(),
            self.iterations(),
            self.discussions(),
            self.receipts(),
        ]
    }

    /// Returns the directory of all receipts.
    pub fn receipts(&self) -> PathBuf {
        self.workdir.join("receipts")
    }

    /// Returns the directory of the receipts of one run.
    pub fn receipts_folder(&self, run: &RunId) -> PathBuf {
        self.receipts().join(id_to_file_name(run.as_str()))
    }

    /// Returns the directory of all discussions.
    pub fn discussions(&self) -> PathBuf {
        self.workdir.join("discussions")
    }

    /// Returns the path of one discussion as data.
    pub fn discussion_file(&self, id: &DiscussionId) -> PathBuf {
        let name = id_to_file_name(id.as_str());
        self.discussions().join(format!("{name}.json"))
    }

    /// Returns the directory of all staging copies.
    pub fn turns(&self) -> PathBuf {
        self.workdir.join("turns")
    }

    /// Returns the directory in which one session's agent writes its staging copies.
    pub fn staging_folder(&self, id: &SessionId) -> PathBuf {
        self.turns().join(id_to_file_name(id.as_str()))
    }

    /// Returns the directory of merges that the user must resolve.
    pub fn merges(&self) -> PathBuf {
        self.workdir.join("merges")
    }

    /// Returns the directory of patches that were not applied; they outlive their run.
    pub fn patches(&self) -> PathBuf {
        self.workdir.join("patches")
    }

    /// Returns the directory of archived runs and of everything set aside.
    pub fn history(&self) -> PathBuf {
        self.workdir.join("history")
    }

    /// Returns the layout of an archived run, as if its directory were the work directory.
    ///
    /// `name` is a file name that was found in [`WorkdirLayout::history`].
    pub(super) fn archived_layout(&self, name: &str) -> Self {
        Self {
            workdir: self.history().join(name),
            ..self.clone()
        }
    }

    /// Returns the directory of exported pages, of every run of this repository.
    pub fn exports(&self) -> PathBuf {
        self.root.join(&self.names.workdir).join("exports")
    }

    /// Returns the directory of versions that lost a conflict.
    pub fn conflicts(&self) -> PathBuf {
        self.history().join("conflicts")
    }

    /// Returns the path of the note about an archive move in progress.
    pub(super) fn archive_note(&self) -> PathBuf {
        self.workdir.join("archive.json")
    }
}

/// Converts an id into one plain file name, so that no id can point elsewhere.
pub(super) fn id_to_file_name(id: &str) -> String {
    let name: String = id
        .chars()
        .map(|c| match c {
            c if c.is_alphanumeric() => c,
            '-' | '_' => c,
            _ => '_',
        })
        .collect();
    if name.is_empty() { "_".into() } else { name }
}

fn check_workdir<'a>(root: &Path, workdir: &'a Path) -> Result<&'a Path, StoreError> {
    let refuse = |reason| {
        Err(StoreError::InvalidPathSetting {
            key: "workdir",
            value: workdir.display().to_string(),
            reason,
        })
    };
    let below = workdir.strip_prefix(root).unwrap_or(workdir);
    let mut n_parts = 0;
    for part in below.components() {
        match part {
            Component::Normal(name) if name == ".git" => return refuse("it is inside .git"),
            Component::Normal(_) => n_parts += 1,
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return refuse("it leaves the repository");
            }
        }
    }
    match n_parts {
        0 => refuse("it is the repository itself"),
        _ => Ok(below),
    }
}

fn check_names(names: &WorkdirNames) -> Result<(), StoreError> {
    let all = [
        ("plan", &names.plan),
        ("comments", &names.comments),
        ("log", &names.log),
        ("debug_log", &names.debug_log),
    ];
    for (index, (key, name)) in all.iter().enumerate() {
        let reason =
            if name.is_empty() || *name == "." || *name == ".." || name.contains(['/', '\0']) {
                Some("it must be a file name without a directory")
            } else if RESERVED_NAMES.contains(&name.as_str())
                || atomic_file::is_temporary_name(name)
            {
                Some("the program uses this name for another file")
            } else if name.ends_with(".lock") {
                Some("names that end in .lock are the program's lock files")
            } else if all.iter().take(index).any(|(_, other)| other == name) {
                Some("two documents cannot have the same name")
            } else {
                None
            };
        if let Some(reason) = reason {
            return Err(StoreError::InvalidPathSetting {
                key,
                value: (*name).clone(),
                reason,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn check(workdir: &str, expected: &str) {
        let root = tempfile::tempdir().unwrap();
        symlink("/tmp", root.path().join("link")).unwrap();
        fs::create_dir(root.path().join("docs")).unwrap();
        fs::write(root.path().join("docs/guide.md"), "x").unwrap();
        let names = WorkdirNames {
            workdir: workdir.into(),
            ..WorkdirNames::default()
        };
        let told = match WorkdirLayout::new(root.path(), names).and_then(|layout| layout.create()) {
            Ok(privacy) => format!("{privacy:?}"),
            Err(e) => e.to_string().replace(
                &root.path().canonicalize().unwrap().display().to_string(),
                "/r",
            ),
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn a_work_directory_stays_inside_the_repository() {
        check(".agent-collab", "Private");
        check("tools/collab", "Private");
        check(
            "../x",
            "paths.workdir = \"../x\" cannot be used: it leaves the repository",
        );
        check(
            "/etc",
            "paths.workdir = \"/etc\" cannot be used: it leaves the repository",
        );
        check(
            ".",
            "paths.workdir = \".\" cannot be used: it is the repository itself",
        );
        check(
            "",
            "paths.workdir = \"\" cannot be used: it is the repository itself",
        );
        check(
            ".git/x",
            "paths.workdir = \".git/x\" cannot be used: it is inside .git",
        );
    }

    #[test]
    fn a_link_on_the_way_is_refused() {
        check("link", "/r/link is a symbolic link, expected a directory");
        check("link/x", "/r/link is a symbolic link, expected a directory");
    }

    #[test]
    fn a_directory_with_other_files_is_refused() {
        check(
            "docs",
            "paths.workdir = \"docs\" cannot be used: the directory contains files that are not agent-collab's, and git would ignore them",
        );
    }

    #[test]
    fn names_are_plain_distinct_and_not_the_programs() {
        let told = |names: WorkdirNames| check_names(&names).map_err(|e| e.to_string());
        let with = |plan: &str| WorkdirNames {
            plan: plan.into(),
            ..WorkdirNames::default()
        };
        assert_eq!(told(with("PLAN.md")), Ok(()));
        for bad in ["", "a/b", "..", "state.json", "x.lock"] {
            told(with(bad)).unwrap_err();
        }
        assert!(told(with("comments.md")).unwrap_err().contains("same name"));
    }

    #[test]
    fn the_directory_is_private_and_its_gitignore_is_written_once() {
        let root = tempfile::tempdir().unwrap();
        let layout = WorkdirLayout::new(root.path(), WorkdirNames::default()).unwrap();
        fs::create_dir(layout.workdir()).unwrap();
        fs::set_permissions(layout.workdir(), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(layout.create().unwrap(), WorkdirPrivacy::Private);
        let ignore = layout.workdir().join(".gitignore");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(layout.workdir()), mode(&ignore)), (0o700, 0o600));
        fs::write(&ignore, "mine").unwrap();
        assert_eq!(layout.create().unwrap(), WorkdirPrivacy::Private);
        assert_eq!(fs::read_to_string(&ignore).unwrap(), "mine");
    }

    #[test]
    fn an_id_never_points_elsewhere() {
        assert_eq!(id_to_file_name("../../etc/passwd"), "______etc_passwd");
        assert_eq!(id_to_file_name("ses_0a-1"), "ses_0a-1");
    }
}
