//! The user's home and variables, from which the places of tools and the sockets of programs follow.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The environment of the user who started this program.
#[derive(Debug, Clone, Default)]
pub(super) struct UserEnvironment {
    variables: BTreeMap<OsString, OsString>,
}

impl UserEnvironment {
    /// That of this process.
    pub(super) fn from_process() -> Self {
        Self::new(std::env::vars_os())
    }

    pub(super) fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self {
            variables: variables.into_iter().collect(),
        }
    }

    /// A variable's value, where it is set and not empty.
    pub(super) fn value(&self, name: &str) -> Option<&OsStr> {
        let value = self.variables.get(OsStr::new(name))?;
        (!value.is_empty()).then_some(value.as_os_str())
    }

    /// The user's home.
    pub(super) fn home(&self) -> Option<PathBuf> {
        self.value("HOME").map(PathBuf::from)
    }

    /// The user's own folder for temporary files.
    pub(super) fn temp_folder(&self) -> PathBuf {
        self.value("TMPDIR").map_or("/tmp".into(), PathBuf::from)
    }

    /// Each variable with the absolute paths that its value contains.
    pub(super) fn variable_paths(&self) -> impl Iterator<Item = (&OsStr, Vec<PathBuf>)> {
        let variables = self.variables.iter();
        variables.map(|(name, value)| (name.as_os_str(), parse_absolute_paths(value)))
    }
}

/// The absolute paths in a value: `unix:path=/run/bus,guid=1`, `/tmp/tmux/default,12,0`, `a:/b:/c`, `unix:///run/x`.
pub(super) fn parse_absolute_paths(value: &OsStr) -> Vec<PathBuf> {
    let parts = value.as_bytes().split(|byte| b":,;= ".contains(byte));
    let whole = std::iter::once(value.as_bytes());
    let absolute = whole.chain(parts).filter_map(|part| {
        let n_slashes = part.iter().take_while(|byte| **byte == b'/').count();
        let path = part.get(n_slashes.checked_sub(1)?..)?;
        Some(PathBuf::from(OsString::from_vec(path.to_vec())))
    });
    let mut paths: Vec<PathBuf> = absolute.filter(|path| path != Path::new("/")).collect();
    paths.dedup();
    paths
}
