//! Written rules that have no effect, and examples that do not hold: told before anything runs.
//!
//! It refuses to know files; each rule brings its origin.

use super::given::normalised;
use super::names::{Sort, known, sort_of};
use super::parts;
use super::rule::{Action, Form, Rule};
use super::wildcard;

/// What is odd about a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oddity {
    /// The rule's place in the list.
    pub at: usize,
    /// What is odd.
    pub what: String,
    /// What to do about it.
    pub hint: String,
}

/// Finds the rules of one list that can never decide anything, or not what they seem to.
pub fn oddities(rules: &[Rule]) -> Vec<Oddity> {
    rules
        .iter()
        .enumerate()
        .filter_map(|(at, rule)| {
            let (what, hint) = never_matches(rule)
                .or_else(|| shadowed(rule, rules.get(at + 1..).unwrap_or_default()))
                .or_else(|| bare_command(rule))?;
            Some(Oddity { at, what, hint })
        })
        .collect()
}

fn shadowed(rule: &Rule, later: &[Rule]) -> Option<(String, String)> {
    let by = later.iter().find(|later| {
        wildcard::covers(&later.permission, &rule.permission)
            && wildcard::covers(&later.pattern, &rule.pattern)
    })?;
    Some((
        format!(
            "the rule {rule} never decides: {by} ({}) matches all that it matches, and the last match wins",
            by.origin
        ),
        "put the general rule first and its exceptions after it".to_owned(),
    ))
}

fn never_matches(rule: &Rule) -> Option<(String, String)> {
    let never =
        |why: String, hint: String| Some((format!("the rule {rule} never matches: {why}"), hint));
    if let Some((why, hint)) = no_tool(&rule.permission) {
        return never(why, hint);
    }
    let pattern = rule.pattern.as_str();
    match sort_of(&rule.permission) {
        Sort::Path => {
            let plain = normalised(pattern);
            if plain == pattern || pattern.contains("../*") {
                return None;
            }
            never(
                "paths are compared without `.`, `..`, double or closing slashes".to_owned(),
                format!("write {plain:?}, or \"{plain}/*\" for all below it"),
            )
        }
        Sort::Command => {
            let joint = ["&&", "||", ";", "|", "\n"]
                .into_iter()
                .find(|joint| pattern.contains(joint))?;
            let is_quoted = pattern.contains(['\'', '"']);
            if is_quoted {
                return None;
            }
            never(
                format!(
                    "each command of a line is judged by itself, and {joint:?} stands between two"
                ),
                "write one rule for each of the commands".to_owned(),
            )
        }
        Sort::Text => None,
    }
}

/// Says that no tool is called so, where none is, and how tools are called.
pub fn no_tool(name: &str) -> Option<(String, String)> {
    let names: Vec<&str> = known().collect();
    let hint = || {
        format!(
            "known are {}; tools of MCP servers are called mcp__SERVER__TOOL or SERVER.TOOL",
            names.join(", ")
        )
    };
    (!is_known(name)).then(|| (format!("no tool is called {name:?}"), hint()))
}

/// A pattern, a known name, or the name of an MCP server's tool.
fn is_known(permission: &str) -> bool {
    let is_foreign = permission.contains(['*', '?', '[', '.']) || permission.contains("__");
    is_foreign || known().any(|name| name == permission)
}

/// A deny of a bare name does not stop the command with arguments.
fn bare_command(rule: &Rule) -> Option<(String, String)> {
    let is_bare = sort_of(&rule.permission) == Sort::Command
        && !rule.pattern.contains(['*', '?', '[', ' ', '/'])
        && rule.action != Action::Allow;
    is_bare.then(|| {
        (
            format!(
                "the rule {rule} is about `{0}` without arguments only",
                rule.pattern
            ),
            format!("write \"{} *\" for all its uses", rule.pattern),
        )
    })
}

/// Tells whether a rule's pattern takes an example, as it would take the target of a call.
pub fn takes_example(rule: &Rule, example: &str) -> bool {
    match sort_of(&rule.permission) {
        Sort::Path => rule.takes(&Form::of(&normalised(example))),
        Sort::Text => rule.takes(&Form::of(example)),
        Sort::Command => parts::split(example).parts.into_iter().any(|part| {
            rule.takes(&Form {
                texts: part.said,
                whole: None,
            })
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::rule::{Layer, Origin};
    use super::*;

    fn rule(line: &str) -> Rule {
        let (permission, rest) = line.split_once(' ').unwrap();
        let (pattern, action) = rest.rsplit_once(' ').unwrap();
        let origin = Origin {
            layer: Layer::Global,
            place: "config.toml:1".to_owned(),
        };
        Rule::new(permission, pattern, Action::named(action).unwrap(), origin)
    }

    /// Places of the rules that are told, each with the word after "never", or "bare".
    fn check(lines: &[&str], expected: &[&str]) {
        let rules: Vec<Rule> = lines.iter().map(|line| rule(line)).collect();
        let found: Vec<String> = oddities(&rules)
            .iter()
            .map(|odd| {
                let word = odd
                    .what
                    .split("never ")
                    .nth(1)
                    .map_or("bare", |rest| rest.split(':').next().unwrap());
                format!("{} {word}", odd.at)
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
                takes_example(&rule(line), example),
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
