//! What a call opens to read.
//!
//! This file does not read the disk: [`super::read_only_prover`] lists what to look for, and the caller resolves it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::decision_context::ResolvedPath;
use super::wildcard;

/// How much of a path is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadDepth {
    /// That it exists, and its size.
    Names,
    /// What is in it.
    Contents,
}

/// Something that a call opens, as the command names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadTarget {
    /// A path, or a pattern of paths.
    pub text: String,
    /// The folders that it may be relative to, absolute.
    pub folders: Vec<PathBuf>,
    /// Whether the shell expands it as a pattern.
    pub is_pattern: bool,
    /// Whether the rules apply to its name even if it is not in the work tree: git may read it from an object.
    pub is_decided_by_name: bool,
    /// How much of it is shown.
    pub depth: ReadDepth,
    /// How folders are searched; `None`: files in them are not opened.
    pub search: Option<SearchScope>,
}

/// Which program searches, as far as options and arguments differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchProgram {
    /// grep, and other programs that go through all files.
    Grep,
    Ripgrep,
    /// claude's own Grep tool.
    GrepTool,
    /// git, which searches tracked files.
    Git,
    /// Files that `find` and similar programs pass on.
    Find,
}

/// Which files a search goes through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchScope {
    pub program: SearchProgram,
    /// Patterns of the files that are searched; empty: all.
    pub includes: Vec<String>,
    /// Patterns of files and folders that are skipped.
    pub excludes: Vec<String>,
    /// Whether it searches hidden files.
    pub hidden: bool,
    /// Whether it skips what `.gitignore` lists.
    pub ignores: bool,
    /// Whether it follows links.
    pub follows: bool,
}

impl SearchScope {
    /// Makes a search that skips nothing.
    pub fn everything(program: SearchProgram) -> Self {
        Self {
            program,
            includes: Vec::new(),
            excludes: Vec::new(),
            hidden: true,
            ignores: false,
            follows: false,
        }
    }

    /// Returns whether it opens a file, given the path below the folder that is searched.
    pub fn includes_file(&self, below: &str) -> bool {
        let included = || {
            self.includes
                .iter()
                .any(|glob| glob_matches_file(glob, below))
        };
        (self.includes.is_empty() || included()) && !self.excludes_path(below)
    }

    /// Returns whether it skips a file or folder by name.
    pub fn excludes_path(&self, below: &str) -> bool {
        self.excludes
            .iter()
            .any(|glob| glob_matches_file(glob, below))
    }

    /// Returns whether an include pattern names a hidden file.
    pub fn matches_include(&self, below: &str) -> bool {
        self.includes
            .iter()
            .any(|glob| glob_matches_file(glob, below))
    }

    pub(super) fn exclusion_hint(&self, file: &str) -> String {
        let how = match self.program {
            SearchProgram::Grep => {
                format!("--exclude='{}'", file.rsplit('/').next().unwrap_or(file))
            }
            SearchProgram::Ripgrep => format!("-g '!{file}'"),
            SearchProgram::GrepTool => format!("glob \"!{file}\""),
            SearchProgram::Git => format!("-- . ':!{file}'"),
            SearchProgram::Find => {
                format!("-not -name '{}'", file.rsplit('/').next().unwrap_or(file))
            }
        };
        format!("leave it out with {how}, or name other files")
    }
}

/// Matches a pattern without `/` against names, any other against paths.
fn glob_matches_file(glob: &str, below: &str) -> bool {
    expand_braces(glob).iter().any(|glob| {
        let bare = glob.trim_start_matches("**/").trim_start_matches("./");
        let bare = bare.trim_start_matches('/').trim_end_matches('/');
        let name = below.rsplit('/').next().unwrap_or(below);
        let anywhere = glob.starts_with("**/") && wildcard::matches(&format!("*/{bare}"), below);
        if bare.contains('/') {
            anywhere || wildcard::matches(bare, below)
        } else {
            wildcard::matches(bare, name)
        }
    })
}

/// Expands `*.{a,b}` to `*.a` and `*.b`.
fn expand_braces(glob: &str) -> Vec<String> {
    let parts = glob.split_once('{').and_then(|(before, rest)| {
        rest.split_once('}')
            .map(|(inner, behind)| (before, inner, behind))
    });
    match parts {
        Some((before, inner, behind)) => {
            let each = inner.split(',').map(|one| format!("{before}{one}{behind}"));
            each.collect()
        }
        None => vec![glob.to_owned()],
    }
}

/// A path that a call opens, as found on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedPath {
    pub path: ResolvedPath,
    /// How much of it is shown.
    pub depth: ReadDepth,
    /// The search that finds it; `None` where the call names it.
    pub search: Option<SearchScope>,
}

/// Everything that a call opens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallReads {
    pub opened_paths: Vec<OpenedPath>,
    /// Why it is unknown what else the call opens.
    pub unknown_reason: Option<String>,
}
