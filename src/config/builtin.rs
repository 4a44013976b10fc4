//! `[safety.all_builtin_rules]`: what a user makes of single built-in rules of the guard, by their names.
//!
//! Refuses to know what the rules catch; the guard's list does.

use super::key::Key;
use super::keys::{Found, KEYS};
use super::layers::{self, Settings};
use super::problem::Problem;
use super::suggest::nearest;
use super::types::{BuiltinChange, Config};
use super::value::Value;
use crate::permission::command_safety::{
    BuiltinRule, BuiltinRuleLevel, all_builtin_rules, find_builtin_rule,
};

/// The path that stands in the list of keys.
pub const PATH: &str = "safety.builtin.*";

/// The table.
pub const TABLE: &str = "safety.builtin";

/// The rule's name in a path, whether it is written `files.tree` or `"files.tree"`.
fn name_in(path: &[String]) -> Option<String> {
    match path {
        [safety, builtin, name @ ..] if safety == "safety" && builtin == "builtin" => {
            Some(name.join(".")).filter(|name| !name.is_empty())
        }
        _ => None,
    }
}

/// Finds what a path below the table is; `None` for other paths.
pub fn find(path: &[String]) -> Option<Found> {
    let name = name_in(path)?;
    let key = KEYS.iter().find(|key| key.path == PATH);
    Some(match (find_builtin_rule(&name), key) {
        (Some(_), Some(key)) => Found::Key(key),
        _ if all_builtin_rules().any(|rule| rule.family() == name) => Found::Table,
        _ => Found::Unknown,
    })
}

/// Phrases what the user may have meant by a name that no rule has; `None` for other paths.
pub fn for_unknown(path: &[String]) -> Option<String> {
    let name = name_in(path)?;
    let names: Vec<&str> = all_builtin_rules().map(|rule| rule.name).collect();
    let near = nearest(&name, &names).map_or_else(String::new, |near| {
        format!("did you mean `{TABLE}.{near}`? ")
    });
    let family = name.split('.').next().unwrap_or_default();
    let mut known: Vec<&str> = all_builtin_rules()
        .filter(|rule| rule.family() == family)
        .map(|rule| rule.name)
        .collect();
    if known.is_empty() {
        known = names;
    }
    Some(format!(
        "{near}known: {}; `agent-collab permissions list --builtin` tells what each catches",
        known.join(", ")
    ))
}

/// The rule and what is made of it, of a setting of the table.
fn change_of(path: &str, value: &Value) -> Option<(&'static BuiltinRule, BuiltinRuleLevel)> {
    let name = path.strip_prefix(TABLE)?.strip_prefix('.')?;
    match value {
        Value::Text(text) => Some((find_builtin_rule(name)?, BuiltinRuleLevel::from_name(text)?)),
        _ => None,
    }
}

/// Tells whether a setting of the table is no milder than what is in force.
pub fn is_stricter(path: &str, held: Option<&Value>, value: &Value) -> bool {
    let before = held.and_then(|held| change_of(path, held));
    change_of(path, value).is_some_and(|(rule, change)| {
        rule.class_at_level(Some(change)) >= rule.class_at_level(before.map(|(_, change)| change))
    })
}

/// All changes in force, by the rule's name; a problem where a rule cannot be turned off.
pub fn changes(settings: &Settings) -> (Vec<(String, BuiltinChange)>, Vec<Problem>) {
    let (mut changes, mut problems) = (Vec::new(), Vec::new());
    for (path, held) in &settings.values {
        let Some((rule, change)) = change_of(path, &held.value) else {
            continue;
        };
        if change == BuiltinRuleLevel::Off && !rule.can_be_disabled() {
            problems.push(Problem {
                place: held.place.clone(),
                what: format!(
                    "`{path}` cannot be \"off\": it stands for what the guard cannot follow"
                ),
                text: String::new(),
                hint: "write \"confirm\", or leave it out".to_owned(),
            });
        }
        let layer = held.layer;
        let place = held.place.clone();
        changes.push((
            rule.name.to_owned(),
            BuiltinChange {
                change,
                layer,
                place,
            },
        ));
    }
    (changes, problems)
}

/// The change of a rule where it counts. What loosens counts only from where an allow would.
pub fn counted(
    config: &Config,
    rule: &BuiltinRule,
    allows: impl Fn(layers::Layer) -> bool,
) -> Option<BuiltinRuleLevel> {
    let made = config.safety.builtin.get(rule.name)?;
    let loosens = rule.class_at_level(Some(made.change)) < Some(rule.class);
    (!loosens || allows(made.layer)).then_some(made.change)
}

/// Names the key of an example of the table.
pub fn example_name(key: &Key) -> &'static str {
    match key.path {
        PATH => "files.tree",
        "keys.*" => "go",
        path => path.rsplit('.').next().unwrap_or(path),
    }
}
