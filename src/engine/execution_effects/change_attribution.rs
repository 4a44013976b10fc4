//! Finds the changes that the calls of a step's agent explain, by the paths in its edits and the file times
//! on disk.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::adapter::CallReports;
use crate::domain::ids::UnixMillis;
use crate::domain::step_calls::StepCalls;
use crate::domain::turn::Role;
use crate::engine::git::TreeChange;
use crate::engine::run_context::RunContext;
use crate::permission::lexical_path::lexical_absolute;

use super::tree_audit::path_to_event_text;

/// What the calls of a step explain in a repository.
#[derive(Debug)]
pub(super) struct ChangeAttribution {
    root: PathBuf,
    calls: StepCalls,
}

impl ChangeAttribution {
    /// Returns what the calls of the current step explain; `None` where its agent does not report calls.
    pub(super) fn for_current_step(run: &RunContext) -> Option<Self> {
        let current = run.state().current_step()?;
        let adapter = run.role_adapter(Role::Planner).ok()?;
        (adapter.traits().call_reports == CallReports::All).then_some(())?;
        Some(Self {
            root: run.setup.root.clone(),
            calls: current.calls.clone()?,
        })
    }

    /// Returns the changes that no call explains.
    pub(super) fn unattributed_paths(&self, changes: &[TreeChange]) -> Vec<String> {
        let named = self.paths_named_by_edits();
        let is_outside = |change: &&TreeChange| {
            !named.contains(&change.path) && !self.is_changed_during_command(&change.path)
        };
        let outside = changes.iter().filter(is_outside);
        outside
            .map(|change| path_to_event_text(&change.path))
            .collect()
    }

    /// Returns the files that edits name, below the root, both as written and with links resolved.
    fn paths_named_by_edits(&self) -> BTreeSet<PathBuf> {
        let real_root = fs::canonicalize(&self.root).unwrap_or_else(|_| self.root.clone());
        let mut named = BTreeSet::new();
        for file in self.calls.edited_files() {
            let path = lexical_absolute(&self.root, Path::new(file));
            let folder = path
                .parent()
                .and_then(|folder| fs::canonicalize(folder).ok());
            let real = folder.zip(path.file_name()).map(|(f, name)| f.join(name));
            let linked = fs::canonicalize(&path).ok();
            for path in [Some(path), real, linked].into_iter().flatten() {
                let below = path.strip_prefix(&self.root);
                let below = below.or_else(|_| path.strip_prefix(&real_root));
                named.extend(below.ok().map(Path::to_path_buf));
            }
        }
        named
    }

    /// Returns true if a command ran when the file last changed. The time at which a file was deleted is
    /// unknown, so any command explains a deletion.
    fn is_changed_during_command(&self, path: &Path) -> bool {
        match fs::symlink_metadata(self.root.join(path)) {
            Ok(about) => [
                to_unix_millis(about.mtime(), about.mtime_nsec()),
                to_unix_millis(about.ctime(), about.ctime_nsec()),
            ]
            .into_iter()
            .any(|at| self.calls.has_command_at(at)),
            Err(_) => self.calls.has_commands(),
        }
    }
}

fn to_unix_millis(seconds: i64, nanoseconds: i64) -> UnixMillis {
    UnixMillis(
        seconds
            .saturating_mul(1_000)
            .saturating_add(nanoseconds / 1_000_000),
    )
}
