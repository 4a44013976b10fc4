//! Describes a child to start: program, arguments, environment, folder and mark.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::bubblewrap::SandboxSpec;
use super::process_mark::ProcessMark;

/// A child to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpawnSpec {
    /// A name on the child's PATH, or a path; a relative path starts at `cwd`.
    pub program: String,
    /// The arguments after the program's name.
    pub args: Vec<String>,
    /// What the environment starts from.
    pub env_base: EnvironmentBase,
    /// Variables removed from the base.
    pub env_remove: Vec<String>,
    /// Variables set last, over everything else.
    pub env: BTreeMap<String, String>,
    pub cwd: PathBuf,
    /// The owner of the child.
    pub mark: ProcessMark,
    /// Its sandbox; `None` gives it all rights of this program.
    pub sandbox: Option<SandboxSpec>,
}

impl SpawnSpec {
    /// Describes a child with the whole environment of this program.
    pub fn new(program: impl Into<String>, cwd: impl Into<PathBuf>, marker: ProcessMark) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env_base: EnvironmentBase::Inherit,
            env_remove: Vec::new(),
            env: BTreeMap::new(),
            cwd: cwd.into(),
            mark: marker,
            sandbox: None,
        }
    }

    /// Adds arguments to the command line.
    #[must_use]
    pub fn args<A: Into<String>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets one environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Returns the whole environment of the child except its mark.
    pub fn child_environment(
        &self,
        ours: impl Iterator<Item = (OsString, OsString)>,
    ) -> BTreeMap<OsString, OsString> {
        let contained = self.sandbox.as_ref();
        let mut environment: BTreeMap<_, _> = ours
            .filter(|(name, _)| contained.is_none_or(|contained| contained.inherits_variable(name)))
            .filter(|(name, _)| self.env_base.keeps_variable(name))
            .filter(|(name, _)| {
                !self
                    .env_remove
                    .iter()
                    .any(|removed| OsStr::new(removed) == name)
            })
            .collect();
        environment.extend(
            self.env
                .iter()
                .map(|(name, value)| (name.into(), value.into())),
        );
        environment
    }
}

/// What a child's environment starts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvironmentBase {
    /// All variables of this program.
    Inherit,
    /// Only variables with these names; a name that ends in `*` matches all that start with it.
    Only(Vec<String>),
}

impl EnvironmentBase {
    fn keeps_variable(&self, name: &OsStr) -> bool {
        match self {
            Self::Inherit => true,
            Self::Only(kept) => name.to_str().is_some_and(|name| {
                kept.iter().any(|kept| match kept.strip_suffix('*') {
                    Some(start) => name.starts_with(start),
                    None => kept == name,
                })
            }),
        }
    }
}
