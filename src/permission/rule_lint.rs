//! Finds written rules that have no effect and examples that do not match, so that they are
//! reported before anything runs.
//!
//! Does not read files: each rule brings its origin.

use super::command_segments;
use super::rule::{PermissionAction, Rule, TargetForm};
use super::standalone_evaluation::normalise_path;
use super::tool_names::{TargetKind, known_permissions, target_kind_for_tool};
use super::wildcard;

/// A problem with a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleLint {
    /// The rule's index in the list.
    pub rule_index: usize,
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// Finds the rules of one list that never decide anything, or do not do what they seem to.
pub fn lint_rules(rules: &[Rule]) -> Vec<RuleLint> {
    rules
        .iter()
        .enumerate()
        .filter_map(|(at, rule)| {
            let (what, hint) = lint_unmatchable_rule(rule)
                .or_else(|| lint_shadowed_rule(rule, rules.get(at + 1..).unwrap_or_default()))
                .or_else(|| lint_bare_command(rule))?;
            Some(RuleLint {
                rule_index: at,
                message: what,
                hint,
            })
        })
        .collect()
}

fn lint_shadowed_rule(rule: &Rule, later: &[Rule]) -> Option<(String, String)> {
    let by = later.iter().find(|later| {
        wildcard::covers(&later.permission, &rule.permission)
            && wildcard::covers(&later.pattern, &rule.pattern)
    })?;
    Some((
        format!(
            "the rule {rule} never decides: {by} ({}) matches everything it matches, and the last match wins",
            by.origin
        ),
        "put the general rule first and its exceptions after it".to_owned(),
    ))
}

fn lint_unmatchable_rule(rule: &Rule) -> Option<(String, String)> {
    let never =
        |why: String, hint: String| Some((format!("the rule {rule} never matches: {why}"), hint));
    if let Some((why, hint)) = unknown_tool_message(&rule.permission) {
        return never(why, hint);
    }
    let pattern = rule.pattern.as_str();
    match target_kind_for_tool(&rule.permission) {
        TargetKind::Path => {
            let plain = normalise_path(pattern);
            if plain == pattern || pattern.contains("../*") {
                return None;
            }
            never(
                "paths are compared without `.`, `..`, double or trailing slashes".to_owned(),
                format!("write {plain:?}, or \"{plain}/*\" for everything below it"),
            )
        }
        TargetKind::Command => {
            let joint = ["&&", "||", ";", "|", "\n"]
                .into_iter()
                .find(|joint| pattern.contains(joint))?;
            let is_quoted = pattern.contains(['\'', '"']);
            if is_quoted {
                return None;
            }
            never(
                format!(
                    "each command of a line is checked on its own, and {joint:?} separates two"
                ),
                "write one rule for each of the commands".to_owned(),
            )
        }
        TargetKind::Text => None,
    }
}

/// Returns a message and a hint when no tool has this name.
pub fn unknown_tool_message(name: &str) -> Option<(String, String)> {
    let names: Vec<&str> = known_permissions().collect();
    let hint = || {
        format!(
            "known tools: {}; tools of MCP servers are called mcp__SERVER__TOOL or SERVER.TOOL",
            names.join(", ")
        )
    };
    (!is_known_permission(name)).then(|| (format!("unknown tool {name:?}"), hint()))
}

/// Returns whether it is a pattern, a known name, or a tool name of an MCP server.
fn is_known_permission(permission: &str) -> bool {
    let is_foreign = permission.contains(['*', '?', '[', '.']) || permission.contains("__");
    is_foreign || known_permissions().any(|name| name == permission)
}

/// A deny of a bare name does not stop the command with arguments.
fn lint_bare_command(rule: &Rule) -> Option<(String, String)> {
    let is_bare = target_kind_for_tool(&rule.permission) == TargetKind::Command
        && !rule.pattern.contains(['*', '?', '[', ' ', '/'])
        && rule.action != PermissionAction::Allow;
    is_bare.then(|| {
        (
            format!(
                "the rule {rule} matches `{0}` only without arguments",
                rule.pattern
            ),
            format!("write \"{} *\" for all uses", rule.pattern),
        )
    })
}

/// Returns whether a rule's pattern matches an example, the way it would match the target of a call.
pub fn matches_example(rule: &Rule, example: &str) -> bool {
    match target_kind_for_tool(&rule.permission) {
        TargetKind::Path => rule.matches_target(&TargetForm::from_text(&normalise_path(example))),
        TargetKind::Text => rule.matches_target(&TargetForm::from_text(example)),
        TargetKind::Command => command_segments::split_command_line(example)
            .segments
            .into_iter()
            .any(|part| {
                rule.matches_target(&TargetForm {
                    texts: part.match_texts,
                    absolute_path: None,
                })
            }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::rule::{RuleLayer, RuleOrigin};
    use super::*;

    fn rule(line: &str) -> Rule {
        let (permission, rest) = line.split_once(' ').unwrap();
        let (pattern, action) = rest.rsplit_once(' ').unwrap();
        let origin = RuleOrigin {
            layer: RuleLayer::Global,
            place: "config.toml:1".to_owned(),
        };
        Rule::new(permission, pattern, action.parse().unwrap(), origin)
    }

    /// The indices of the reported rules, each with the word after "never", or "bare".
    fn check(lines: &[&str], expected: &[&str]) {
        let rules: Vec<Rule> = lines.iter().map(|line| rule(line)).collect();
        let found: Vec<String> = lint_rules(&rules)
            .iter()
            .map(|odd| {
                let word = odd
                    .message
                    .split("never ")
                    .nth(1)
                    .map_or("bare", |rest| rest.split(':').next().unwrap());
                format!("{} {word}", odd.rule_index)
            })
            .collect();
        assert_eq!(found, expected, "{lines:?}");
    }

    #[test]
    fn a_rule_behind_which_a_wider_one_stands_is_told() {
        check(&["edit src/* allow", "* * deny"], &["0 decides"]);
        check(&["* * deny", "edit src/* allow"], &[]);
        check(&["bash ls * allow", "bash ls* deny"], &["0 decides"]);
        check(&["bash ls* allow", "bash ls * deny"], &[]);
        check(&["edit a/?.rs allow", "edit a/*.rs ask"], &["0 decides"]);
        check(&["edit a/*.rs allow", "edit a/?.rs ask"], &[]);
        check(&["edit a/[xy] allow", "edit a/? ask"], &["0 decides"]);
        check(&["edit src/* allow", "read * deny"], &[]);
        check(&["bash x * allow", "bash x * allow"], &["0 decides"]);
    }

    #[test]
    fn a_rule_that_matches_nothing_is_told() {
        check(&["edti * deny"], &["0 matches"]);
        check(
            &["edit ./src/* deny", "edit src/ deny", "edit a//b deny"],
            &["0 matches", "1 matches", "2 matches"],
        );
        check(
            &[
                "edit ../* deny",
                "edit /etc/* deny",
                "mcp__git__push * deny",
                "git.push * deny",
            ],
            &[],
        );
        check(
            &["bash curl * | sh deny", "bash ls && pwd allow"],
            &["0 matches", "1 matches"],
        );
        check(&["bash yarn deny", "bash pwd allow"], &["0 bare"]);
    }

    #[test]
    fn examples_are_taken_as_targets_are() {
        let check = |line: &str, example: &str, expected: bool| {
            assert_eq!(
                matches_example(&rule(line), example),
                expected,
                "{line} {example}"
            );
        };
        check("bash ls * allow", "ls -la", true);
        check("bash ls * allow", "lsof", false);
        check("bash rm * deny", "ls && rm x", true);
        check("edit src/* allow", "./src/a", true);
        check("webfetch https://* allow", "https://a", true);
    }
}
