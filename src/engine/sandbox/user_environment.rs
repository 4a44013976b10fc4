//! Reads the user's home directory and variables, which determine the paths of tools and sockets.

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
    /// Reads the environment of this process.
    pub(super) fn from_process() -> Self {
        Self::new(std::env::vars_os())
    }

    pub(super) fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self {
            variables: variables.into_iter().collect(),
        }
    }

    /// Returns the value of a variable, if it is set and not empty.
    pub(super) fn value(&self, name: &str) -> Option<&OsStr> {
        let value = self.variables.get(OsStr::new(name))?;
        (!value.is_empty()).then_some(value.as_os_str())
    }

    /// Returns the user's home directory.
    pub(super) fn home(&self) -> Option<PathBuf> {
        self.value("HOME").map(PathBuf::from)
    }

    /// Returns the user's temporary folder.
    pub(super) fn temp_folder(&self) -> PathBuf {
        self.value("TMPDIR").map_or("/tmp".into(), PathBuf::from)
    }

    /// Returns each variable with the absolute paths in its value.
    pub(super) fn variable_paths(&self) -> impl Iterator<Item = (&OsStr, Vec<PathBuf>)> {
        let variables = self.variables.iter();
        variables.map(|(name, value)| (name.as_os_str(), parse_absolute_paths(value)))
    }
}

/// Parses the absolute paths in a value: `unix:path=/run/bus,guid=1`, `/tmp/tmux/default,12,0`, `a:/b:/c`,
/// `unix:///run/x`.
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
