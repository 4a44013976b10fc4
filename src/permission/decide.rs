//! The one decision about a call.
//!
//! Paths arrive resolved; nothing here looks at the disk. It refuses to know adapters, rules' origins
//! and who answers an ask.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::path::{is_below, is_inside, is_protected, shown};
use super::{Call, Reach, plain_words, read_only};

/// What happens to a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// It goes ahead, once.
    Allow,
    /// The user or the user's rules answer.
    Ask(Ask),
    /// It does not go ahead.
    Deny {
        /// Why, and what to do instead; for the agent to read.
        reason: String,
    },
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// `bash`, `edit`, `read` or a tool's name.
    pub permission: String,
    /// What it is asked for; empty when the CLI did not say.
    pub targets: Vec<Target>,
}

/// One thing that an ask is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// A whole command line, a tool's input, or a path by name: below the root relative to it, else absolute.
    pub text: String,
    /// The path's real form, where it differs from its name.
    pub real: Option<String>,
}

impl Target {
    /// Every form that a rule must hold for.
    pub fn forms(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.text.as_str()).chain(self.real.as_deref())
    }
}

/// Which part of a run a call comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseAccess {
    /// Every phase but EXECUTE: agents write their staging files alone.
    BeforeExecute,
    /// EXECUTE: agents write the repository.
    Execute,
}

/// A path of a call, resolved by who can look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPath {
    /// Absolute, `.` and `..` taken out by name; [`super::path::absolute`] makes it.
    pub lexical: PathBuf,
    /// Absolute, links resolved as far as the path exists.
    pub real: PathBuf,
}

/// What a decision rests on besides the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// Where the run is.
    pub phase_access: PhaseAccess,
    /// The paths of the call, one for each, in its order; empty for commands and tools.
    pub paths: Vec<ResolvedPath>,
    /// The repository's real root, absolute.
    pub root: PathBuf,
    /// The files that the turn may write before EXECUTE, real and absolute.
    pub staging_files: Vec<PathBuf>,
    /// Folders of the program's own besides the root's `.agent-collab`, real and absolute; nothing in them may be written in EXECUTE.
    pub own: Vec<PathBuf>,
}

/// Decides about a call. Total; what is not known to be harmless is asked in EXECUTE and denied before.
pub fn decide(call: &Call, context: &Context) -> Decision {
    match context.phase_access {
        PhaseAccess::BeforeExecute => decide_before_execute(call, context),
        PhaseAccess::Execute => decide_in_execute(call, context),
    }
}

fn decide_before_execute(call: &Call, context: &Context) -> Decision {
    match call {
        Call::Command { line, cwd, reach } => read_command(line, cwd, *reach, &context.root),
        Call::Edit { paths, .. } => edit_staging(paths, context),
        Call::Read { paths } => read_inside(paths, context),
        Call::Tool { name, .. } => deny(format!("the tool {name} may not be used before EXECUTE")),
    }
}

fn decide_in_execute(call: &Call, context: &Context) -> Decision {
    match call {
        Call::Command { line, .. } => ask("bash", vec![text_target(line)]),
        Call::Edit { paths, reach } => edit_repository(paths, *reach, context),
        Call::Read { paths } => match read_inside(paths, context) {
            Decision::Allow => Decision::Allow,
            Decision::Ask(_) | Decision::Deny { .. } => ask("read", path_targets(paths, context)),
        },
        Call::Tool { name, input } => ask(name, vec![text_target(input)]),
    }
}

fn read_command(line: &str, cwd: &Path, reach: Reach, root: &Path) -> Decision {
    match reach {
        Reach::LeavesSandbox => return deny("no command may leave the sandbox before EXECUTE"),
        Reach::Unconfined | Reach::Contained => {}
    }
    let words = match plain_words::plain_words(line) {
        Ok(words) => words,
        Err(refused) => return deny(format!("{refused}; before EXECUTE commands only read")),
    };
    if let Some(reason) = read_only::refusal(&words) {
        return deny(reason);
    }
    if !is_inside(cwd, root) {
        return deny(format!(
            "before EXECUTE commands run inside the repository, not in {}",
            cwd.display()
        ));
    }
    match read_only::escaping_argument(&words, cwd, root) {
        Some(word) => deny(format!(
            "`{word}` may name something outside the repository"
        )),
        None => Decision::Allow,
    }
}

fn edit_staging(paths: &[PathBuf], context: &Context) -> Decision {
    let is_staging = |path: &PathBuf| context.staging_files.contains(path);
    let staged = context
        .paths
        .iter()
        .all(|path| is_staging(&path.lexical) && is_staging(&path.real));
    if are_resolved(paths, context) && staged {
        return Decision::Allow;
    }
    let files: Vec<String> = context
        .staging_files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    deny(format!(
        "before EXECUTE nothing may be written but {}",
        files.join(", ")
    ))
}

fn read_inside(paths: &[PathBuf], context: &Context) -> Decision {
    let inside = context
        .paths
        .iter()
        .all(|path| is_inside(&path.real, &context.root));
    if are_resolved(paths, context) && inside {
        return Decision::Allow;
    }
    deny("nothing may be read outside the repository before EXECUTE")
}

fn edit_repository(paths: &[PathBuf], reach: Reach, context: &Context) -> Decision {
    let forms = || {
        context
            .paths
            .iter()
            .flat_map(|path| [&path.lexical, &path.real])
    };
    if let Some(path) = forms().find(|path| is_protected(path, &context.root, &context.own)) {
        return deny(format!(
            "{} may not be written: .git and the folders of agent-collab are the program's",
            path.display()
        ));
    }
    let inside = forms().all(|path| is_below(path, &context.root));
    match reach {
        Reach::Unconfined | Reach::Contained if inside && are_resolved(paths, context) => {
            Decision::Allow
        }
        Reach::Unconfined | Reach::Contained | Reach::LeavesSandbox => {
            ask("edit", path_targets(paths, context))
        }
    }
}

/// A call that names no path, or whose paths were not all resolved, says nothing to rely on.
fn are_resolved(paths: &[PathBuf], context: &Context) -> bool {
    !paths.is_empty() && paths.len() == context.paths.len()
}

/// No targets when the paths are not resolved, so that no rule can allow the call.
fn path_targets(paths: &[PathBuf], context: &Context) -> Vec<Target> {
    if !are_resolved(paths, context) {
        return Vec::new();
    }
    let target = |path: &ResolvedPath| Target {
        text: shown(&path.lexical, &context.root),
        real: (path.real != path.lexical).then(|| shown(&path.real, &context.root)),
    };
    context.paths.iter().map(target).collect()
}

fn text_target(text: &str) -> Target {
    Target {
        text: text.to_owned(),
        real: None,
    }
}

fn ask(permission: &str, targets: Vec<Target>) -> Decision {
    Decision::Ask(Ask {
        permission: permission.to_owned(),
        targets,
    })
}

fn deny(reason: impl Into<String>) -> Decision {
    Decision::Deny {
        reason: reason.into(),
    }
}

#[cfg(test)]
mod tests;
