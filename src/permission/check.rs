//! What a call needs: one permission for each of its targets.
//!
//! It refuses to know rules and floors. Paths arrive resolved; those of redirects are known by name alone.

use std::path::Path;

use super::context::{Context, ResolvedPath};
use super::decide::Target;
use super::names;
use super::parts::{self, Part};
use super::path::{absolute, is_below, is_inside, shown};
use super::reads::{ReadDepth, ruled};
use super::rule::{Action, Facts, Form};
use super::{Call, Reach};

/// One permission for one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The permission.
    pub permission: String,
    /// The target, as people see it.
    pub target: Target,
    /// What rules look at; each must be allowed, one that is forbidden is enough.
    pub forms: Vec<Form>,
    /// Texts that must not be forbidden.
    pub looks: Vec<String>,
    /// Texts of which an explicit word counts too.
    pub inner: Vec<String>,
    /// Where it leads.
    pub place: Place,
}

/// Where a target lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Inside the repository by name and in truth, or no path at all.
    Inside,
    /// Outside, or nobody can tell.
    Outside,
}

/// Everything that a call needs, and why that may not be all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checks {
    /// In the call's order; empty when a call that acts on paths names none.
    pub checks: Vec<Check>,
    /// What cannot be told about the call.
    pub doubt: Option<String>,
}

/// Tells what a call needs.
pub fn of(call: &Call, context: &Context) -> Checks {
    match call {
        Call::Command { line, cwd, .. } => {
            let mut checks = of_command(line, cwd, &context.root);
            with_reads(&mut checks.checks, context);
            checks
        }
        Call::Edit { paths, .. } => of_paths("edit", paths.len(), context),
        Call::Read { paths, .. } => of_paths("read", paths.len(), context),
        Call::Tool { name, input } => of_tool(name, input),
    }
}

/// The most reads of one command that are told.
const TOLD_READS: usize = 64;

/// Adds what a command opens: what is held back first, since it says the most. What no rule is about is left to the
/// rules about the command.
fn with_reads(checks: &mut Vec<Check>, context: &Context) {
    let named = context
        .reads
        .opened
        .iter()
        .filter(|opened| opened.met_by.is_none() && opened.depth == ReadDepth::Contents);
    let (mut held, mut free) = (Vec::new(), Vec::new());
    for opened in named {
        let check = of_path("read", &opened.path, &context.root)
            .into_iter()
            .next();
        let list = match ruled(context, &opened.path) {
            Action::Allow => &mut free,
            Action::Ask | Action::Deny => &mut held,
        };
        list.extend(
            check
                .filter(|check| !list.contains(check))
                .map(|check| Check {
                    place: Place::Inside,
                    ..check
                }),
        );
    }
    let is_ruled = |check: &Check| {
        check.forms.iter().all(|form| {
            let said = context.rules.about("read", form, Facts::default());
            said.by.is_some()
        })
    };
    free.retain(is_ruled);
    free.truncate(TOLD_READS);
    checks.splice(0..0, held);
    checks.extend(free);
}

/// Tells what a command line needs.
pub fn of_command(line: &str, cwd: &Path, root: &Path) -> Checks {
    let split = parts::split(line);
    let mut checks = Vec::new();
    for part in split.parts {
        let writes = part.writes.clone();
        if !part.said.is_empty() {
            checks.push(of_part(part, cwd, root));
        }
        for named in writes {
            let path = absolute(cwd, Path::new(&named));
            let path = ResolvedPath {
                lexical: path.clone(),
                real: path,
            };
            checks.extend(of_path("edit", &path, root));
        }
    }
    Checks {
        checks,
        doubt: split.doubt,
    }
}

fn of_part(part: Part, cwd: &Path, root: &Path) -> Check {
    let place = if part.leaves(cwd, root) {
        Place::Outside
    } else {
        Place::Inside
    };
    Check {
        permission: "bash".to_owned(),
        target: Target {
            text: part.said.first().cloned().unwrap_or_default(),
            real: None,
        },
        forms: vec![Form {
            texts: part.said,
            whole: None,
        }],
        looks: part.looks,
        inner: part.inner,
        place,
    }
}

fn of_paths(permission: &str, n_named: usize, context: &Context) -> Checks {
    if n_named == 0 || n_named != context.paths.len() {
        return Checks {
            checks: Vec::new(),
            doubt: Some("which files it is about is not known".to_owned()),
        };
    }
    let checks = context
        .paths
        .iter()
        .flat_map(|path| of_path(permission, path, &context.root));
    Checks {
        checks: checks.collect(),
        doubt: None,
    }
}

/// A path outside needs `external_directory` beside its own permission.
fn of_path(permission: &str, path: &ResolvedPath, root: &Path) -> Vec<Check> {
    let is_in = match permission {
        "edit" => is_below,
        _ => is_inside,
    };
    let is_in = is_in(&path.lexical, root) && is_in(&path.real, root);
    let place = if is_in { Place::Inside } else { Place::Outside };
    let check = |permission: &str| {
        let (named, real) = (form(&path.lexical, root), form(&path.real, root));
        Check {
            permission: permission.to_owned(),
            target: target(path, root),
            forms: if named == real {
                vec![named]
            } else {
                vec![named, real]
            },
            looks: Vec::new(),
            inner: Vec::new(),
            place,
        }
    };
    let mut checks = vec![check(permission)];
    if !is_in {
        checks.push(check("external_directory"));
    }
    checks
}

/// A path below the root goes by its name below it, and by its whole name.
fn form(path: &Path, root: &Path) -> Form {
    Form {
        texts: vec![shown(path, root)],
        whole: Some(path.to_string_lossy().into_owned()),
    }
}

fn target(path: &ResolvedPath, root: &Path) -> Target {
    Target {
        text: shown(&path.lexical, root),
        real: (path.real != path.lexical).then(|| shown(&path.real, root)),
    }
}

/// Keys of an input that say what a tool is about, the telling ones first.
const MAIN: [&str; 13] = [
    "file_path",
    "path",
    "notebook_path",
    "url",
    "query",
    "command",
    "pattern",
    "agent",
    "subagent_type",
    "name",
    "id",
    "topic",
    "prompt",
];

/// Keys of an input that name an agent.
const AGENT: [&str; 2] = ["agent", "subagent_type"];

/// What a tool is about whose input does not tell.
const ANY: &str = "*";

/// What a tool is about, out of its input; `*` where the input does not tell.
pub fn main_text(input: &str) -> String {
    serde_json::from_str::<serde_json::Value>(input)
        .ok()
        .and_then(|input| {
            MAIN.iter()
                .find_map(|key| input.get(*key)?.as_str().map(str::to_owned))
        })
        .unwrap_or_else(|| ANY.to_owned())
}

/// The inputs of the tasks that a call gives at once; none where it gives one.
fn batch(input: &str) -> Vec<String> {
    let input = serde_json::from_str::<serde_json::Value>(input).ok();
    let tasks = input
        .as_ref()
        .and_then(|input| input.get("tasks")?.as_array());
    let tasks = tasks.into_iter().flatten();
    tasks.map(serde_json::Value::to_string).collect()
}

/// The agents that a call names as participants of a discussion, each as `{"agent": …}`; none where it names none.
fn called(input: &str) -> Vec<String> {
    let input = serde_json::from_str::<serde_json::Value>(input).ok();
    let listed = |key: &str| input.as_ref()?.get(key)?.as_array().cloned();
    let listed = |key: &str| listed(key).unwrap_or_default().into_iter();
    let named = listed("agents").map(|text| {
        let text = text.as_str().unwrap_or(ANY);
        let agent = text.split_once('=').map_or(text, |(_, agent)| agent);
        agent
            .split_once('@')
            .map_or(agent, |(agent, _)| agent)
            .to_owned()
    });
    let described = listed("participants").map(|one| {
        let agent = AGENT.iter().find_map(|key| one.get(*key)?.as_str());
        agent.unwrap_or("general").to_owned()
    });
    let all = named.chain(described);
    all.map(|agent| serde_json::json!({ "agent": agent.trim() }).to_string())
        .collect()
}

/// Of several tasks each is a target, as is each participant that a discussion names; so is what stands beside them,
/// of which nobody may get away with.
fn of_tool(name: &str, input: &str) -> Checks {
    let permission = names::permission_of(name);
    let mut inputs = match permission {
        "task" => batch(input),
        "group_discuss" => called(input),
        _ => Vec::new(),
    };
    let alone = main_text(input);
    if inputs.is_empty() || alone != ANY {
        inputs.push(input.to_owned());
    }
    let check = |input: String| Check {
        permission: permission.to_owned(),
        forms: vec![Form::of(&main_text(&input))],
        target: Target {
            text: input,
            real: None,
        },
        looks: Vec::new(),
        inner: Vec::new(),
        // Rights that a CLI asks for go beyond what it holds; nobody can tell where they lead.
        place: match name {
            "request_permissions" | "network" => Place::Outside,
            _ => Place::Inside,
        },
    };
    Checks {
        checks: inputs.into_iter().map(check).collect(),
        doubt: None,
    }
}

/// Tells whether a call has its sandbox lifted, or is contained.
pub fn reach(call: &Call) -> Option<Reach> {
    match call {
        Call::Command { reach, .. } | Call::Edit { reach, .. } => Some(*reach),
        Call::Read { .. } | Call::Tool { .. } => None,
    }
}
