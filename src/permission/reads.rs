//! What a call opens to read, found on the disk by who can look, and what read rules say about it.
//!
//! It refuses to look at the disk itself: [`super::reading::openings`] says what to look for.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Call;
use super::approved::Keeping;
use super::context::{Context, ResolvedPath};
use super::floors::{Held, Looked};
use super::mode::Mode;
use super::path::{is_inside, shown};
use super::rule::{Action, Facts, Form};
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
pub struct ReadOpening {
    /// A path, or a pattern of paths.
    pub text: String,
    /// The folders from which it may be named, absolute.
    pub folders: Vec<PathBuf>,
    /// Whether the shell makes paths of a pattern.
    pub is_pattern: bool,
    /// Whether its name decides although it is not in the work tree: an object of git's may be read by it.
    pub is_object: bool,
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
    pub fn of(program: SearchProgram) -> Self {
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
    pub fn takes(&self, below: &str) -> bool {
        let included = || self.includes.iter().any(|glob| matches_file(glob, below));
        (self.includes.is_empty() || included()) && !self.leaves_out(below)
    }

    /// Tells whether it leaves a file or folder out by name.
    pub fn leaves_out(&self, below: &str) -> bool {
        self.excludes.iter().any(|glob| matches_file(glob, below))
    }

    /// Tells whether it names a hidden file by a pattern.
    pub fn names(&self, below: &str) -> bool {
        self.includes.iter().any(|glob| matches_file(glob, below))
    }

    fn advice(&self, file: &str) -> String {
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
fn matches_file(glob: &str, below: &str) -> bool {
    alternatives(glob).iter().any(|glob| {
        let bare = glob.trim_start_matches("**/").trim_start_matches("./");
        let bare = bare.trim_start_matches('/').trim_end_matches('/');
        let name = below.rsplit('/').next().unwrap_or(below);
        let anywhere = glob.starts_with("**/") && wildcard::matches(&format!("*/{bare}"), below);
        match bare.contains('/') {
            true => anywhere || wildcard::matches(bare, below),
            false => wildcard::matches(bare, name),
        }
    })
}

/// `*.{a,b}` as `*.a` and `*.b`.
fn alternatives(glob: &str) -> Vec<String> {
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
    pub met_by: Option<SearchScope>,
}

/// All that a call opens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallReads {
    /// The paths.
    pub opened: Vec<OpenedPath>,
    /// Why nobody can tell.
    pub trouble: Option<String>,
}

/// Tells what leads a command that is proven by name to something outside of the repository.
pub fn leads_out(context: &Context) -> Option<String> {
    if let Some(trouble) = &context.reads.trouble {
        return Some(trouble.clone());
    }
    let out = |opened: &&OpenedPath| !is_inside(&opened.path.real, &context.root);
    let opened = context.reads.opened.iter().find(out)?;
    Some(format!(
        "`{}` leads out of the repository, to {}",
        shown(&opened.path.lexical, &context.root),
        opened.path.real.display()
    ))
}

/// What the rules say about reading a path, by name and in truth.
pub fn ruled(context: &Context, path: &ResolvedPath) -> Action {
    let about = |path: &PathBuf| {
        let form = Form {
            texts: vec![shown(path, &context.root)],
            whole: Some(path.to_string_lossy().into_owned()),
        };
        let said = context.rules.about("read", &form, Facts::default());
        said.by.map_or(Action::Allow, |_| said.action)
    };
    about(&path.lexical).max(about(&path.real))
}

/// Refuses a search that would meet what read rules hold back, with words that would do: nobody named the file, so
/// nobody is asked.
pub fn meets_held_back(looked: &Looked<'_>) -> Option<Held> {
    let context = looked.context;
    if !matches!(looked.call, Call::Command { .. } | Call::Read { .. }) {
        return None;
    }
    let met = context.reads.opened.iter().find_map(|opened| {
        let search = opened.met_by.as_ref()?;
        let is_held = opened.depth == ReadDepth::Contents
            && match ruled(context, &opened.path) {
                Action::Allow => false,
                Action::Ask => context.mode != Mode::Yolo,
                Action::Deny => true,
            };
        is_held.then_some((search, &opened.path))
    });
    let (search, path) = met?;
    let file = shown(&path.lexical, &context.root);
    Some(Held {
        action: Action::Deny,
        keeping: Keeping::Never,
        reason: format!(
            "it would read `{file}`, which rules on `read` hold back; {}",
            search.advice(&file)
        ),
    })
}
