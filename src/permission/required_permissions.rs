//! Lists what a call needs: one permission for each of its targets.
//!
//! Paths arrive resolved; the targets of redirects are known only by name. Rules and floors are applied elsewhere.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::call_reads::ReadDepth;
use super::command_segments::{self, CommandSegment};
use super::decision_context::{DecisionContext, ResolvedPath};
use super::lexical_path::{display_path, is_below, is_inside, lexical_absolute};
use super::read_checks::evaluate_read_rules;
use super::rule::{CallFacts, PermissionAction, TargetForm};
use super::tool_names;
use super::{AgentToolCall, SandboxReach};

/// What the user is asked to permit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRequest {
    /// `bash`, `edit`, `read` or a tool's name.
    pub permission: String,
    /// The targets of the permission; empty when the CLI named none.
    pub targets: Vec<PermissionTarget>,
}

/// One target of an ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionTarget {
    /// A whole command line, a tool's input, or a path by name: relative to the root when it is
    /// below the root, else absolute.
    pub text: String,
    /// The resolved path, where it differs from the name.
    pub real: Option<String>,
}

impl PermissionTarget {
    /// Returns its text and, where it differs, its resolved path.
    pub fn forms(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.text.as_str()).chain(self.real.as_deref())
    }

    pub(super) fn to_display(&self) -> String {
        match &self.real {
            Some(real) => format!("`{}` (really `{real}`)", self.text),
            None => format!("`{}`", self.text),
        }
    }
}

/// One permission for one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionCheck {
    pub permission: String,
    /// The target as the user sees it.
    pub target: PermissionTarget,
    /// The texts that rules match: each form must be allowed, and one denied form is enough to deny.
    pub forms: Vec<TargetForm>,
    /// Texts that must not be denied.
    pub aliases: Vec<String>,
    /// Texts for which only an explicit rule counts.
    pub inner_commands: Vec<String>,
    pub location: TargetLocation,
}

/// Where a target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetLocation {
    /// Inside the repository by name and by resolved path, or no path at all.
    Inside,
    /// Outside the repository, or unknown.
    Outside,
}

/// Everything that a call needs, and why the list may be incomplete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredPermissions {
    /// In the call's order; empty when a call on paths names none.
    pub checks: Vec<PermissionCheck>,
    /// What is unknown about the call.
    pub doubt: Option<String>,
}

/// Lists the permissions that a call needs.
pub fn permissions_for_call(
    call: &AgentToolCall,
    context: &DecisionContext,
) -> RequiredPermissions {
    match call {
        AgentToolCall::Command { line, cwd, .. } => {
            let mut checks = permissions_for_command(line, cwd, &context.root);
            add_read_checks(&mut checks.checks, context);
            checks
        }
        AgentToolCall::Edit { paths, .. } => permissions_for_paths("edit", paths.len(), context),
        AgentToolCall::Read { paths, .. } => permissions_for_paths("read", paths.len(), context),
        AgentToolCall::Tool { name, input } => permissions_for_tool(name, input),
    }
}

/// The most allowed reads of one command that are listed; restricted reads are all listed.
const MAX_READ_CHECKS: usize = 64;

/// Adds what a command opens, the most restricted reads first because they say the most. Reads that no read rule is
/// about are covered by the rules about the command.
fn add_read_checks(checks: &mut Vec<PermissionCheck>, context: &DecisionContext) {
    let named = context
        .reads
        .opened_paths
        .iter()
        .filter(|opened| opened.search.is_none() && opened.depth == ReadDepth::Contents);
    let (mut held, mut free) = (Vec::new(), Vec::new());
    for opened in named {
        let check = path_checks("read", &opened.path, &context.root)
            .into_iter()
            .next();
        let list = match evaluate_read_rules(context, &opened.path) {
            PermissionAction::Allow => &mut free,
            PermissionAction::Ask | PermissionAction::Deny => &mut held,
        };
        list.extend(
            check
                .filter(|check| !list.contains(check))
                .map(|check| PermissionCheck {
                    location: TargetLocation::Inside,
                    ..check
                }),
        );
    }
    let is_ruled = |check: &PermissionCheck| {
        check.forms.iter().all(|form| {
            let said = context.rules.evaluate("read", form, CallFacts::default());
            said.rule.is_some()
        })
    };
    free.retain(is_ruled);
    // Only allowed reads are limited: each restricted one must be decided.
    free.truncate(MAX_READ_CHECKS);
    checks.splice(0..0, held);
    checks.extend(free);
}

/// Lists the permissions that a command line needs.
pub fn permissions_for_command(line: &str, cwd: &Path, root: &Path) -> RequiredPermissions {
    let split = command_segments::split_command_line(line);
    let mut checks = Vec::new();
    for part in split.segments {
        let writes = part.written_files.clone();
        if !part.match_texts.is_empty() {
            checks.push(segment_check(part, cwd, root));
        }
        for named in writes {
            let path = lexical_absolute(cwd, Path::new(&named));
            let path = ResolvedPath {
                lexical: path.clone(),
                real: path,
            };
            checks.extend(path_checks("edit", &path, root));
        }
    }
    RequiredPermissions {
        checks,
        doubt: split.doubt,
    }
}

fn segment_check(part: CommandSegment, cwd: &Path, root: &Path) -> PermissionCheck {
    let place = if part.leaves_root(cwd, root) {
        TargetLocation::Outside
    } else {
        TargetLocation::Inside
    };
    PermissionCheck {
        permission: "bash".to_owned(),
        target: PermissionTarget {
            text: part.match_texts.first().cloned().unwrap_or_default(),
            real: None,
        },
        forms: vec![TargetForm {
            texts: part.match_texts,
            absolute_path: None,
        }],
        aliases: part.aliases,
        inner_commands: part.inner_commands,
        location: place,
    }
}

fn permissions_for_paths(
    permission: &str,
    n_named: usize,
    context: &DecisionContext,
) -> RequiredPermissions {
    if n_named == 0 || n_named != context.paths.len() {
        return RequiredPermissions {
            checks: Vec::new(),
            doubt: Some("which files it is about is not known".to_owned()),
        };
    }
    let checks = context
        .paths
        .iter()
        .flat_map(|path| path_checks(permission, path, &context.root));
    RequiredPermissions {
        checks: checks.collect(),
        doubt: None,
    }
}

/// A path outside the repository needs `external_directory` in addition to its own permission.
fn path_checks(permission: &str, path: &ResolvedPath, root: &Path) -> Vec<PermissionCheck> {
    let is_in = match permission {
        "edit" => is_below,
        _ => is_inside,
    };
    let is_in = is_in(&path.lexical, root) && is_in(&path.real, root);
    let place = if is_in {
        TargetLocation::Inside
    } else {
        TargetLocation::Outside
    };
    let check = |permission: &str| {
        let (named, real) = (path_form(&path.lexical, root), path_form(&path.real, root));
        PermissionCheck {
            permission: permission.to_owned(),
            target: path_target(path, root),
            forms: if named == real {
                vec![named]
            } else {
                vec![named, real]
            },
            aliases: Vec::new(),
            inner_commands: Vec::new(),
            location: place,
        }
    };
    let mut checks = vec![check(permission)];
    if !is_in {
        checks.push(check("external_directory"));
    }
    checks
}

/// A path below the root matches by its relative name and by its absolute path.
fn path_form(path: &Path, root: &Path) -> TargetForm {
    TargetForm {
        texts: vec![display_path(path, root)],
        absolute_path: Some(path.to_string_lossy().into_owned()),
    }
}

fn path_target(path: &ResolvedPath, root: &Path) -> PermissionTarget {
    PermissionTarget {
        text: display_path(&path.lexical, root),
        real: (path.real != path.lexical).then(|| display_path(&path.real, root)),
    }
}

/// Input keys that say what a tool acts on, the most specific first.
const MAIN_INPUT_KEYS: [&str; 13] = [
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

/// Input keys that name an agent.
const AGENT_INPUT_KEYS: [&str; 2] = ["agent", "subagent_type"];

/// The target of a tool whose input does not name one.
const ANY_TARGET: &str = "*";

/// Returns what a tool acts on according to its input; `*` where the input does not say.
pub fn main_input_text(input: &str) -> String {
    serde_json::from_str::<serde_json::Value>(input)
        .ok()
        .and_then(|input| {
            MAIN_INPUT_KEYS
                .iter()
                .find_map(|key| input.get(*key)?.as_str().map(str::to_owned))
        })
        .unwrap_or_else(|| ANY_TARGET.to_owned())
}

/// Returns the inputs of all tasks in a call that contains several; empty for a call with one task.
fn batch_task_inputs(input: &str) -> Vec<String> {
    let input = serde_json::from_str::<serde_json::Value>(input).ok();
    let tasks = input
        .as_ref()
        .and_then(|input| input.get("tasks")?.as_array());
    let tasks = tasks.into_iter().flatten();
    tasks.map(serde_json::Value::to_string).collect()
}

/// Returns the agents that a call names as participants of a discussion, each as
/// `{"agent": …}`; empty if there are none.
fn discussion_agent_inputs(input: &str) -> Vec<String> {
    let input = serde_json::from_str::<serde_json::Value>(input).ok();
    let listed = |key: &str| input.as_ref()?.get(key)?.as_array().cloned();
    let listed = |key: &str| listed(key).unwrap_or_default().into_iter();
    let named = listed("agents").map(|text| {
        let text = text.as_str().unwrap_or(ANY_TARGET);
        let agent = text.split_once('=').map_or(text, |(_, agent)| agent);
        agent
            .split_once('@')
            .map_or(agent, |(agent, _)| agent)
            .to_owned()
    });
    let described = listed("participants").map(|one| {
        let agent = AGENT_INPUT_KEYS
            .iter()
            .find_map(|key| one.get(*key)?.as_str());
        agent.unwrap_or("general").to_owned()
    });
    let all = named.chain(described);
    all.map(|agent| serde_json::json!({ "agent": agent.trim() }).to_string())
        .collect()
}

/// Each task is a target of its own, and so is each participant of a discussion. Fields next to them are targets as
/// well, so that no agent escapes the check.
fn permissions_for_tool(name: &str, input: &str) -> RequiredPermissions {
    let permission = tool_names::permission_for_tool(name);
    let mut inputs = match permission {
        "task" => batch_task_inputs(input),
        "group_discuss" => discussion_agent_inputs(input),
        _ => Vec::new(),
    };
    let alone = main_input_text(input);
    if inputs.is_empty() || alone != ANY_TARGET {
        inputs.push(input.to_owned());
    }
    let check = |input: String| PermissionCheck {
        permission: permission.to_owned(),
        forms: vec![TargetForm::from_text(&main_input_text(&input))],
        target: PermissionTarget {
            text: input,
            real: None,
        },
        aliases: Vec::new(),
        inner_commands: Vec::new(),
        // The rights that a CLI requests go beyond its sandbox, and where they lead is unknown.
        location: match name {
            "request_permissions" | "network" => TargetLocation::Outside,
            _ => TargetLocation::Inside,
        },
    };
    RequiredPermissions {
        checks: inputs.into_iter().map(check).collect(),
        doubt: None,
    }
}

/// Returns how a call is sandboxed.
pub fn sandbox_reach(call: &AgentToolCall) -> Option<SandboxReach> {
    match call {
        AgentToolCall::Command { reach, .. } | AgentToolCall::Edit { reach, .. } => Some(*reach),
        AgentToolCall::Read { .. } | AgentToolCall::Tool { .. } => None,
    }
}
