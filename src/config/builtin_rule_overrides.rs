//! `[safety.all_builtin_rules]`: what a user makes of single built-in rules of the guard, by their names.
//!
//! Refuses to know what the rules catch; the guard's list does.

use super::config_key::ConfigKey;
use super::config_layers::{self, LayeredSettings};
use super::config_model::{AppConfig, BuiltinRuleOverride};
use super::config_value::ConfigValue;
use super::diagnostic::ConfigProblem;
use super::key_suggestions::closest_match;
use super::schema::{KEYS, KeyLookup};
use crate::permission::command_safety::{
    BuiltinRule, BuiltinRuleLevel, all_builtin_rules, find_builtin_rule,
};

/// The path that stands in the list of keys.
pub const BUILTIN_RULE_PATH: &str = "safety.builtin.*";

/// The table.
pub const BUILTIN_RULE_TABLE: &str = "safety.builtin";

/// The rule's name in a path, whether it is written `files.tree` or `"files.tree"`.
fn rule_name(path: &[String]) -> Option<String> {
    match path {
        [safety, builtin, name @ ..] if safety == "safety" && builtin == "builtin" => {
            Some(name.join(".")).filter(|name| !name.is_empty())
        }
        _ => None,
    }
}

/// Finds what a path below the table is; `None` for other paths.
pub fn find_rule_key(path: &[String]) -> Option<KeyLookup> {
    let name = rule_name(path)?;
    let key = KEYS.iter().find(|key| key.path == BUILTIN_RULE_PATH);
    Some(match (find_builtin_rule(&name), key) {
        (Some(_), Some(key)) => KeyLookup::Key(key),
        _ if all_builtin_rules().any(|rule| rule.family() == name) => KeyLookup::Table,
        _ => KeyLookup::Unknown,
    })
}

/// Phrases what the user may have meant by a name that no rule has; `None` for other paths.
pub fn hint_for_unknown_rule(path: &[String]) -> Option<String> {
    let name = rule_name(path)?;
    let names: Vec<&str> = all_builtin_rules().map(|rule| rule.name).collect();
    let near = closest_match(&name, &names).map_or_else(String::new, |near| {
        format!("did you mean `{BUILTIN_RULE_TABLE}.{near}`? ")
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
        "{near}known: {}; `agent-collab permissions list --builtin` shows what each rule catches",
        known.join(", ")
    ))
}

/// The rule and what is made of it, of a setting of the table.
fn parse_rule_override(
    path: &str,
    value: &ConfigValue,
) -> Option<(&'static BuiltinRule, BuiltinRuleLevel)> {
    let name = path.strip_prefix(BUILTIN_RULE_TABLE)?.strip_prefix('.')?;
    match value {
        ConfigValue::Text(text) => {
            Some((find_builtin_rule(name)?, BuiltinRuleLevel::from_name(text)?))
        }
        _ => None,
    }
}

/// Tells whether a setting of the table is no milder than what is in force.
pub fn is_stricter(path: &str, held: Option<&ConfigValue>, value: &ConfigValue) -> bool {
    let before = held.and_then(|held| parse_rule_override(path, held));
    parse_rule_override(path, value).is_some_and(|(rule, change)| {
        rule.class_at_level(Some(change)) >= rule.class_at_level(before.map(|(_, change)| change))
    })
}

/// All changes in force, by the rule's name; a problem where a rule cannot be turned off.
pub fn rule_overrides(
    settings: &LayeredSettings,
) -> (Vec<(String, BuiltinRuleOverride)>, Vec<ConfigProblem>) {
    let (mut changes, mut problems) = (Vec::new(), Vec::new());
    for (path, held) in &settings.values {
        let Some((rule, change)) = parse_rule_override(path, &held.value) else {
            continue;
        };
        if change == BuiltinRuleLevel::Off && !rule.can_be_disabled() {
            problems.push(ConfigProblem {
                place: held.place.clone(),
                what: format!(
                    "`{path}` cannot be \"off\": this rule covers commands that cannot be analysed"
                ),
                text: String::new(),
                hint: "write \"confirm\", or remove the key".to_owned(),
            });
        }
        let layer = held.layer;
        let place = held.place.clone();
        changes.push((
            rule.name.to_owned(),
            BuiltinRuleOverride {
                change,
                layer,
                place,
            },
        ));
    }
    (changes, problems)
}

/// The change of a rule where it counts. What loosens counts only from where an allow would.
pub fn effective_change(
    config: &AppConfig,
    rule: &BuiltinRule,
    allows: impl Fn(config_layers::ConfigLayer) -> bool,
) -> Option<BuiltinRuleLevel> {
    let made = config.safety.builtin.get(rule.name)?;
    let loosens = rule.class_at_level(Some(made.change)) < Some(rule.class);
    (!loosens || allows(made.layer)).then_some(made.change)
}

/// Names the key of an example of the table.
pub fn example_key_name(key: &ConfigKey) -> &'static str {
    match key.path {
        BUILTIN_RULE_PATH => "files.tree",
        "keys.*" => "go",
        path => path.rsplit('.').next().unwrap_or(path),
    }
}
