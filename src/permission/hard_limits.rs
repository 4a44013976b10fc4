//! Floors: denies and forced asks that no rule, approval or mode lifts.
//!
//! Each floor is one function that returns its restriction, or `None`. Rules are not consulted here.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use strum::VariantArray;

use super::decision_context::{DecisionContext, LoopStatus, PhaseAccess, SessionLineage};
use super::floor_input::{FloorInput, FloorRestriction};
use super::lexical_path::{is_inside, is_protected, lexical_absolute};
use super::permission_mode::Mode;
use super::profile_registry::CHILD_FORBIDDEN_TOOLS;
use super::rule::PermissionAction;
use super::rule_evaluation::evaluate_checks;
use super::sandbox_escape::check_outside_sandbox;
use super::stored_approval::MaxApprovalScope;
use super::{
    AgentToolCall, SandboxReach, command_safety, command_segments, read_checks, read_only_prover,
    step_scope, tool_names, uncontained_commands, wildcard,
};

/// The floors in the order in which they are reported. Each looks at one kind of danger. Events store their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Floor {
    /// The tool is not offered to the session.
    HiddenTool,
    /// `.git` and the program's own folders.
    ProtectedPaths,
    /// Every phase except EXECUTE only reads.
    Phase,
    /// Mode plan only reads.
    Mode,
    /// A child session may not do what its parent may not.
    ParentSession,
    /// Searches that would read files that the read rules protect.
    Search,
    /// Commands that would run outside a CLI's own sandbox.
    OutsideSandbox,
    SafetyList,
    /// No sandbox limits the command.
    Uncontained,
    /// A deletion of what the plan does not name for the step.
    DeletionOutsideStep,
    /// An edit of what the plan does not name for the step.
    EditOutsideStep,
    /// The agent repeats the same calls.
    DoomLoop,
}

impl Floor {
    /// Returns the floor's name for the user.
    pub fn label(self) -> &'static str {
        match self {
            Self::HiddenTool => "hidden tool",
            Self::ProtectedPaths => "protected paths",
            Self::Phase => "phase",
            Self::Mode => "mode",
            Self::ParentSession => "parent session",
            Self::Search => "search",
            Self::OutsideSandbox => "sandbox",
            Self::SafetyList => "safety list",
            Self::Uncontained => "uncontained",
            Self::DeletionOutsideStep => "deletion outside the step",
            Self::EditOutsideStep => "edit outside the step",
            Self::DoomLoop => "doom loop",
        }
    }
}

impl Floor {
    /// Returns what the floor demands for the call; `None` when it does not apply.
    pub fn evaluate(self, looked: &FloorInput<'_>) -> Option<FloorRestriction> {
        match self {
            Self::HiddenTool => check_hidden_tool(looked),
            Self::ProtectedPaths => {
                check_protected_paths(looked).or_else(|| check_closed_folders(looked))
            }
            Self::Phase => match looked.context.phase_access {
                PhaseAccess::BeforeExecute => match looked.context.lineage {
                    SessionLineage::Role => check_read_only(looked, "in this turn"),
                    SessionLineage::Child { .. } => check_read_only(looked, "in this task"),
                },
                PhaseAccess::Execute => None,
            },
            Self::Mode => match looked.context.mode {
                Mode::Plan => check_read_only(looked, "in mode plan"),
                Mode::Default | Mode::AutoEdit | Mode::Yolo => None,
            },
            Self::ParentSession => check_parent_session(looked),
            Self::Search => read_checks::check_search(looked),
            Self::OutsideSandbox => check_outside_sandbox(looked),
            Self::SafetyList => check_safety_list(looked),
            Self::Uncontained => uncontained_commands::check_uncontained_command(looked),
            Self::DeletionOutsideStep => step_scope::check_deletion(looked),
            Self::EditOutsideStep => step_scope::check_edit(looked),
            Self::DoomLoop => match looked.context.loop_status {
                LoopStatus::NoLoop => None,
                LoopStatus::Loop => Some(FloorRestriction {
                    action: PermissionAction::Ask,
                    max_scope: MaxApprovalScope::Never,
                    reason: "the same calls repeat".to_owned(),
                }),
            },
        }
    }
}

fn deny_restriction(reason: impl Into<String>) -> Option<FloorRestriction> {
    Some(FloorRestriction {
        action: PermissionAction::Deny,
        max_scope: MaxApprovalScope::Never,
        reason: reason.into(),
    })
}

fn check_hidden_tool(looked: &FloorInput<'_>) -> Option<FloorRestriction> {
    let AgentToolCall::Tool { name, .. } = looked.call else {
        return None;
    };
    let permission = tool_names::permission_for_tool(name);
    let is_hidden = looked
        .context
        .hidden_tools
        .iter()
        .any(|hidden| wildcard::matches(hidden, name) || wildcard::matches(hidden, permission));
    if !is_hidden {
        return None;
    }
    let by = match looked.context.rules.find_hiding_rule(permission) {
        Some(rule) => format!(": {rule} ({})", rule.origin),
        None => String::new(),
    };
    deny_restriction(format!("blocked: the tool {name} is not offered here{by}"))
}

/// Denies writing in `.git` and in the program's folders. The turn's own staging files are the only exception.
fn check_protected_paths(looked: &FloorInput<'_>) -> Option<FloorRestriction> {
    let context = looked.context;
    let forbidden = |path: &Path| {
        is_protected(path, &context.root, &context.program_folders)
            && !context.staging_files.iter().any(|file| file == path)
    };
    let written: Vec<PathBuf> = match looked.call {
        AgentToolCall::Edit { .. } => context
            .paths
            .iter()
            .flat_map(|path| [path.lexical.clone(), path.real.clone()])
            .collect(),
        AgentToolCall::Command { line, cwd, .. } => command_segments::split_command_line(line)
            .segments
            .iter()
            .flat_map(|part| &part.written_files)
            .map(|named| lexical_absolute(cwd, Path::new(named)))
            .collect(),
        AgentToolCall::Read { .. } | AgentToolCall::Tool { .. } => return None,
    };
    let path = written.iter().find(|path| forbidden(path))?;
    deny_restriction(format!(
        "{} may not be written: .git and the folders of agent-collab are protected",
        path.display()
    ))
}

/// Keeps a child with its own tree out of the user's folders: its changes are brought over when its task ends.
fn check_closed_folders(looked: &FloorInput<'_>) -> Option<FloorRestriction> {
    let context = looked.context;
    let is_closed = |path: &Path| {
        let mut closed = context.closed_folders.iter();
        closed.any(|folder| is_inside(path, folder)) && !is_inside(path, &context.root)
    };
    let is_held = match looked.call {
        AgentToolCall::Edit { .. } => {
            let mut paths = context.paths.iter();
            paths.any(|path| is_closed(&path.lexical) || is_closed(&path.real))
        }
        AgentToolCall::Command { line, cwd, .. } => {
            let parts = command_segments::split_command_line(line).segments;
            is_closed(cwd)
                || parts
                    .iter()
                    .any(|part| part.possible_paths(cwd).any(|path| is_closed(&path)))
        }
        AgentToolCall::Read { .. } | AgentToolCall::Tool { .. } => return None,
    };
    is_held.then(|| FloorRestriction {
        action: PermissionAction::Deny,
        max_scope: MaxApprovalScope::Never,
        reason: format!(
            "it works in its own worktree, {}, not in the user's: name files relative to it; its changes are applied \
             when the task ends",
            context.root.display()
        ),
    })
}

/// Denies every write except to the turn's staging files, and every command that is not proven to only read.
fn check_read_only(looked: &FloorInput<'_>, when: &str) -> Option<FloorRestriction> {
    let context = looked.context;
    match looked.call {
        AgentToolCall::Command { line, cwd, reach } => {
            match read_only_refusal(line, cwd, *reach, context) {
                Some(reason) => deny_restriction(format!("{reason}; {when} commands only read")),
                None => None,
            }
        }
        AgentToolCall::Edit { .. } if is_staging_edit(looked) => None,
        AgentToolCall::Edit { .. } => {
            let files: Vec<String> = context
                .staging_files
                .iter()
                .map(|file| file.display().to_string())
                .collect();
            deny_restriction(format!(
                "{when} nothing may be written but {}",
                if files.is_empty() {
                    "what the program asks for".to_owned()
                } else {
                    files.join(", ")
                }
            ))
        }
        AgentToolCall::Read { .. } => {
            let is_inside = |path: &super::ResolvedPath| is_inside(&path.real, &context.root);
            let is_known = looked.checks.doubt.is_none();
            if is_known && context.paths.iter().all(is_inside) {
                return None;
            }
            deny_restriction(format!("nothing may be read outside the repository {when}"))
        }
        AgentToolCall::Tool { name, .. } if is_harmless_tool(name) => None,
        AgentToolCall::Tool { name, .. } => {
            deny_restriction(format!("the tool {name} may not be used {when}"))
        }
    }
}

/// Returns whether a call writes only the turn's staging files.
pub fn is_staging_edit(looked: &FloorInput<'_>) -> bool {
    let is_staging = |path: &PathBuf| looked.context.staging_files.contains(path);
    let all = looked
        .context
        .paths
        .iter()
        .all(|path| is_staging(&path.lexical) && is_staging(&path.real));
    matches!(looked.call, AgentToolCall::Edit { .. })
        && looked.checks.doubt.is_none()
        && !looked.checks.checks.is_empty()
        && all
}

/// Returns whether a tool changes only the program's own state.
fn is_harmless_tool(tool: &str) -> bool {
    const HARMLESS: [&str; 9] = [
        "read",
        "glob",
        "grep",
        "list",
        "webfetch",
        "websearch",
        "question",
        "todoread",
        "todowrite",
    ];
    let permission = tool_names::permission_for_tool(tool);
    HARMLESS.contains(&permission) || CHILD_FORBIDDEN_TOOLS.contains(&permission)
}

/// Returns why a command is not proven to only read inside the repository.
pub fn read_only_refusal(
    line: &str,
    cwd: &Path,
    reach: SandboxReach,
    context: &DecisionContext,
) -> Option<String> {
    if reach == SandboxReach::LeavesSandbox {
        return Some("no command may leave the sandbox".to_owned());
    }
    if !is_inside(cwd, &context.root) {
        return Some(format!(
            "commands run inside the repository, not in {}",
            cwd.display()
        ));
    }
    let proof = read_only_prover::prove_read_only(line, cwd, &context.root);
    let refused = proof.err().map(|refused| refused.to_string());
    refused.or_else(|| read_checks::outside_read_reason(context))
}

/// Denies a child the tools that start or message sessions, and everything that its parent's session denies.
fn check_parent_session(looked: &FloorInput<'_>) -> Option<FloorRestriction> {
    let SessionLineage::Child { session } = &looked.context.lineage else {
        return None;
    };
    if let AgentToolCall::Tool { name, .. } = looked.call
        && CHILD_FORBIDDEN_TOOLS.contains(&tool_names::permission_for_tool(name))
    {
        return deny_restriction(format!("blocked: a child session has no tool {name}"));
    }
    let judged = evaluate_checks(session, looked.checks, looked.facts);
    let denied = judged
        .iter()
        .find(|judged| judged.action == PermissionAction::Deny)?;
    let rule = denied.rule?;
    deny_restriction(format!(
        "the session that started this one may not: {rule} ({})",
        rule.origin
    ))
}

fn check_safety_list(looked: &FloorInput<'_>) -> Option<FloorRestriction> {
    let AgentToolCall::Command { line, cwd, .. } = looked.call else {
        return None;
    };
    let settings = command_safety::CommandSafetySettings {
        root: Some(looked.context.root.clone()),
        cwd: Some(cwd.clone()),
        ..looked.context.safety_settings.clone()
    };
    let verdict = command_safety::classify_script(line, &settings);
    let keeping = match verdict.class {
        command_safety::Class::Safe => return None,
        command_safety::Class::Confirm => MaxApprovalScope::Run,
        command_safety::Class::Dangerous => MaxApprovalScope::Never,
    };
    Some(FloorRestriction {
        action: PermissionAction::Ask,
        max_scope: keeping,
        reason: verdict.describe(),
    })
}
