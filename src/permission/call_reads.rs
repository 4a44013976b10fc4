//! What a call opens to read, found on the disk by who can look, and what read rules say about it.
//!
//! It refuses to look at the disk itself: [`super::reading::openings`] says what to look for.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::AgentToolCall;
use super::decision_context::{DecisionContext, ResolvedPath};
use super::hard_limits::{FloorInput, FloorRestriction};
use super::lexical_path::{display_path, is_inside};
use super::permission_mode::Mode;
use super::rule::{CallFacts, PermissionAction, TargetForm};
use super::stored_approval::MaxApprovalScope;
use super::wildcard;

/// What of a path is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadDepth {
    /// That it is there, and how large.
    Names,
    /// What it holds.
    Contents,
}

/// Something that a call opens, as it is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadTarget {
    /// A path, or a pattern of paths.
    pub text: String,
    /// The folders from which it may be named, absolute.
    pub folders: Vec<PathBuf>,
    /// Whether the shell makes paths of a pattern.
    pub is_pattern: bool,
    /// Whether its name decides although it is not in the work tree: an object of git's may be read by it.
    pub is_decided_by_name: bool,
    /// What of it is shown.
    pub depth: ReadDepth,
    /// How folders are searched; `None`: what is in them is not opened.
    pub search: Option<SearchScope>,
}

/// Which program searches, as far as its options and words differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchProgram {
    /// grep and what goes through all files like it.
    Grep,
    /// ripgrep and ag.
    Ripgrep,
    /// claude's own tool.
    GrepTool,
    /// git, of tracked files.
    Git,
    /// What find and its like hand on.
    Find,
}

/// What a search goes through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchScope {
    /// Which program.
    pub program: SearchProgram,
    /// Patterns of the files that it is about; empty: all.
    pub includes: Vec<String>,
    /// Patterns of files and folders that it leaves out.
    pub excludes: Vec<String>,
    /// Whether it goes into what is hidden.
    pub hidden: bool,
    /// Whether it leaves out what `.gitignore` does.
    pub ignores: bool,
    /// Whether it follows links.
    pub follows: bool,
}

impl SearchScope {
    /// A search of everything.
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

    /// Tells whether it opens a file below its folder, by its path from there.
    pub fn includes_file(&self, below: &str) -> bool {
        let included = || {
            self.includes
                .iter()
                .any(|glob| glob_matches_file(glob, below))
        };
        (self.includes.is_empty() || included()) && !self.excludes_path(below)
    }

    /// Tells whether it leaves a file or folder out by name.
    pub fn excludes_path(&self, below: &str) -> bool {
        self.excludes
            .iter()
            .any(|glob| glob_matches_file(glob, below))
    }

    /// Tells whether it names a hidden file by a pattern.
    pub fn matches_include(&self, below: &str) -> bool {
        self.includes
            .iter()
            .any(|glob| glob_matches_file(glob, below))
    }

    fn exclusion_hint(&self, file: &str) -> String {
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

/// A pattern without `/` is about names, any other about paths.
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

/// `*.{a,b}` as `*.a` and `*.b`.
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

/// A path that a call opens, found on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedPath {
    /// The path.
    pub path: ResolvedPath,
    /// What of it is shown.
    pub depth: ReadDepth,
    /// The search that meets it; `None` where it is named.
    pub search: Option<SearchScope>,
}

/// All that a call opens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallReads {
    /// The paths.
    pub opened_paths: Vec<OpenedPath>,
    /// Why nobody can tell.
    pub unknown_reason: Option<String>,
}

/// Tells what leads a command that is proven by name to something outside of the repository.
pub fn outside_read_reason(context: &DecisionContext) -> Option<String> {
    if let Some(trouble) = &context.reads.unknown_reason {
        return Some(trouble.clone());
    }
    let out = |opened: &&OpenedPath| !is_inside(&opened.path.real, &context.root);
    let opened = context.reads.opened_paths.iter().find(out)?;
    Some(format!(
        "`{}` leads out of the repository, to {}",
        display_path(&opened.path.lexical, &context.root),
        opened.path.real.display()
    ))
}

/// What the rules say about reading a path, by name and in truth.
pub fn evaluate_read_rules(context: &DecisionContext, path: &ResolvedPath) -> PermissionAction {
    let about = |path: &PathBuf| {
        let form = TargetForm {
            texts: vec![display_path(path, &context.root)],
            absolute_path: Some(path.to_string_lossy().into_owned()),
        };
        let said = context.rules.evaluate("read", &form, CallFacts::default());
        said.rule.map_or(PermissionAction::Allow, |_| said.action)
    };
    about(&path.lexical).max(about(&path.real))
}

/// Refuses a search that would meet what read rules hold back, with words that would do: nobody named the file, so
/// nobody is asked.
pub fn check_search(looked: &FloorInput<'_>) -> Option<FloorRestriction> {
    let context = looked.context;
    if !matches!(
        looked.call,
        AgentToolCall::Command { .. } | AgentToolCall::Read { .. }
    ) {
        return None;
    }
    let met = context.reads.opened_paths.iter().find_map(|opened| {
        let search = opened.search.as_ref()?;
        let is_held = opened.depth == ReadDepth::Contents
            && match evaluate_read_rules(context, &opened.path) {
                PermissionAction::Allow => false,
                PermissionAction::Ask => context.mode != Mode::Yolo,
                PermissionAction::Deny => true,
            };
        is_held.then_some((search, &opened.path))
    });
    let (search, path) = met?;
    let file = display_path(&path.lexical, &context.root);
    Some(FloorRestriction {
        action: PermissionAction::Deny,
        max_scope: MaxApprovalScope::Never,
        reason: format!(
            "it would read `{file}`, which rules on `read` hold back; {}",
            search.exclusion_hint(&file)
        ),
    })
}
