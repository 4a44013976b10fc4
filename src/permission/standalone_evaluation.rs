//! Decides by given rules and approvals alone: no floor, profile, mode or repository.
//!
//! Paths are normalised by name. A shell line is judged by each of its commands, and the files that its
//! redirects write count as edits.

use super::command_segments;
use super::required_permissions::{
    PermissionCheck, PermissionTarget, RequiredPermissions, TargetLocation,
};
use super::rule::{CallFacts, PermissionAction, TargetForm};
use super::rule_evaluation::{ApprovalLookup, PermissionOutcome, evaluate_checks};
use super::rule_layers::RuleSet;
use super::stored_approval::{ApprovalMatcher, MaxApprovalScope, StoredApproval};
use super::tool_names::{TargetKind, permission_for_tool, target_kind_for_tool};

/// A target: its text, and its resolved path where that differs.
pub type StandaloneTarget<'a> = (&'a str, Option<&'a str>);

/// The answer, and what decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandaloneDecision {
    /// Allow, ask or deny.
    pub action: PermissionAction,
    /// The rule or approval as text, with its place; `None` where nothing matches.
    pub rule: Option<String>,
    /// The reason, as a sentence without its full stop.
    pub reason: String,
}

/// The profile name for the given approvals.
const STANDALONE_PROFILE: &str = "given";

/// Makes an approval for [`decide_standalone`].
pub fn standalone_approval(tool: &str, what: ApprovalMatcher) -> StoredApproval {
    let what = match (target_kind_for_tool(tool), what) {
        (TargetKind::Path, ApprovalMatcher::Exact(path)) => {
            ApprovalMatcher::Exact(normalise_path(&path))
        }
        (TargetKind::Command, ApprovalMatcher::Exact(line)) => {
            ApprovalMatcher::Exact(line.trim().to_owned())
        }
        (_, what) => what,
    };
    StoredApproval {
        profile: STANDALONE_PROFILE.to_owned(),
        permission: permission_for_tool(tool).to_owned(),
        what,
        scope: super::ApprovalScope::Run,
    }
}

/// Decides what a tool may do to its targets. The strictest answer counts; without a target it is `*`.
pub fn decide_standalone(
    rules: &RuleSet,
    approvals: &[StoredApproval],
    tool: &str,
    targets: &[StandaloneTarget<'_>],
) -> StandaloneDecision {
    let targets = match targets {
        [] => &[("*", None)],
        targets => targets,
    };
    let answers = targets
        .iter()
        .map(|target| decide_target(rules, approvals, tool, *target));
    answers
        .reduce(|found, next| {
            if next.action > found.action {
                next
            } else {
                found
            }
        })
        .unwrap_or_else(|| no_match_decision(tool, "*"))
}

fn decide_target(
    rules: &RuleSet,
    approvals: &[StoredApproval],
    tool: &str,
    target: StandaloneTarget<'_>,
) -> StandaloneDecision {
    let checks = permissions_for_target(tool, target);
    let judged = evaluate_tool_names(rules, tool, &checks);
    let doubt = checks.doubt.as_deref();
    let asker = ApprovalLookup {
        profile: STANDALONE_PROFILE,
        approvals,
        max_scope: MaxApprovalScope::Project,
    };
    let answers = checks.checks.iter().zip(&judged).map(|(check, judged)| {
        // A command that is only partly understood asks, whatever allows it.
        let is_misread = doubt.is_some() && target_kind_for_tool(tool) == TargetKind::Command;
        let judged = PermissionOutcome {
            action: judged.action.max(if is_misread {
                PermissionAction::Ask
            } else {
                PermissionAction::Allow
            }),
            is_downgraded: judged.is_downgraded
                || is_misread && judged.action == PermissionAction::Allow,
            ..*judged
        };
        let answer = rule_decision(check, &judged, doubt);
        let permission = permission_for_tool(&check.permission);
        if answer.action != PermissionAction::Ask {
            return answer;
        }
        let whole = || asker.find_exact(permission_for_tool(tool), target.0.trim());
        let part = || {
            let check = PermissionCheck {
                permission: permission.to_owned(),
                ..check.clone()
            };
            doubt
                .is_none()
                .then(|| asker.find_for_check(&check))
                .flatten()
        };
        match whole().or_else(part) {
            Some(approved) => StandaloneDecision {
                action: PermissionAction::Allow,
                rule: Some(format!("approval {:?}", approved.what.as_str())),
                reason: format!("{} {:?} was approved", check.permission, check.target.text),
            },
            None => answer,
        }
    });
    answers
        .reduce(|found, next| {
            if next.action > found.action {
                next
            } else {
                found
            }
        })
        .unwrap_or_else(|| no_match_decision(tool, target.0))
}

/// A tool matches by its own name first, and by the permission that it needs if no rule is about its name. If
/// rules are about both, the stricter answer counts. A name in other letter case is another name, but a deny of
/// the permission also denies it.
fn evaluate_tool_names<'a>(
    rules: &'a RuleSet,
    tool: &str,
    checks: &RequiredPermissions,
) -> Vec<PermissionOutcome<'a>> {
    let facts = CallFacts::default();
    let judged = evaluate_checks(rules, checks, facts);
    let general = RequiredPermissions {
        checks: checks
            .checks
            .iter()
            .map(|check| PermissionCheck {
                permission: permission_for_tool(&check.permission).to_owned(),
                ..check.clone()
            })
            .collect(),
        doubt: checks.doubt.clone(),
    };
    let is_other_name = tool.chars().any(char::is_uppercase);
    judged
        .into_iter()
        .zip(evaluate_checks(rules, &general, facts))
        .map(|(own, general)| {
            let takes_general = match (own.rule, general.rule) {
                (_, None) => false,
                (None, Some(_)) => !is_other_name || general.action > own.action,
                (Some(_), Some(_)) => general.action > own.action,
            };
            if takes_general { general } else { own }
        })
        .collect()
}

fn permissions_for_target(tool: &str, (text, real): StandaloneTarget<'_>) -> RequiredPermissions {
    let path = |permission: &str, forms: Vec<TargetForm>| PermissionCheck {
        permission: permission.to_owned(),
        target: PermissionTarget {
            text: text.to_owned(),
            real: real.map(str::to_owned),
        },
        forms,
        aliases: Vec::new(),
        inner_commands: Vec::new(),
        location: TargetLocation::Inside,
    };
    match target_kind_for_tool(tool) {
        TargetKind::Command => permissions_for_line(tool, text),
        TargetKind::Path => {
            let forms = std::iter::once(text).chain(real);
            let forms = forms
                .map(|text| TargetForm::from_text(&normalise_path(text)))
                .collect();
            certain_permissions(vec![path(tool, forms)])
        }
        TargetKind::Text => {
            certain_permissions(vec![path(tool, vec![TargetForm::from_text(text)])])
        }
    }
}

fn certain_permissions(checks: Vec<PermissionCheck>) -> RequiredPermissions {
    RequiredPermissions {
        checks,
        doubt: None,
    }
}

fn permissions_for_line(tool: &str, line: &str) -> RequiredPermissions {
    let split = command_segments::split_command_line(line);
    let mut checks = Vec::new();
    let check = |permission: &str, text: &str, form: TargetForm| PermissionCheck {
        permission: permission.to_owned(),
        target: PermissionTarget {
            text: text.to_owned(),
            real: None,
        },
        forms: vec![form],
        aliases: Vec::new(),
        inner_commands: Vec::new(),
        location: TargetLocation::Inside,
    };
    for part in split.segments {
        if let Some(first) = part.match_texts.first().cloned() {
            let form = TargetForm {
                texts: part.match_texts,
                absolute_path: None,
            };
            checks.push(PermissionCheck {
                aliases: part.aliases,
                inner_commands: part.inner_commands,
                ..check(tool, &first, form)
            });
        }
        for written in &part.written_files {
            let path = normalise_path(written);
            checks.push(check("edit", written, TargetForm::from_text(&path)));
        }
    }
    RequiredPermissions {
        checks,
        doubt: split.doubt,
    }
}

/// Removes `.`, `..` and double slashes from a path by name; a path that leaves its start keeps its `..`.
pub fn normalise_path(path: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if is_absolute => {}
            part => parts.push(part),
        }
    }
    match (is_absolute, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) if path.is_empty() => String::new(),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}

fn rule_decision(
    check: &PermissionCheck,
    judged: &PermissionOutcome<'_>,
    doubt: Option<&str>,
) -> StandaloneDecision {
    let (permission, target) = (&check.permission, &check.target.text);
    let Some(rule) = judged.rule else {
        return no_match_decision(permission, target);
    };
    let reason = match doubt.filter(|_| judged.is_downgraded) {
        Some(doubt) => format!("{doubt}, so no allow applies"),
        None => {
            let place = &rule.origin.place;
            format!("{place} is the last that matches {permission} {target:?}")
        }
    };
    StandaloneDecision {
        action: judged.action,
        rule: Some(rule.to_string()),
        reason,
    }
}

fn no_match_decision(permission: &str, target: &str) -> StandaloneDecision {
    StandaloneDecision {
        action: PermissionAction::Ask,
        rule: None,
        reason: format!("no rule matches {permission} {target:?}"),
    }
}

#[cfg(test)]
mod tests;
