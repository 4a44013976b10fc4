//! Reads `[safety.builtin]`: a user's changes to single built-in rules of the command guard, by rule name.
//!
//! The guard's own list says what each rule catches.

use std::collections::BTreeMap;

use toml::Value;

use super::config_key::ConfigKey;
use super::config_layer::ConfigLayer;
use super::config_layers::LayeredSettings;
use super::config_model::{AppConfig, BuiltinRuleOverride};
use super::diagnostic::ConfigProblem;
use super::schema::{BUILTIN_RULE_PATH, BUILTIN_RULE_TABLE, builtin_rule_name};
use super::word_similarity::closest_match;
use crate::permission::command_safety::{
    BuiltinRule, BuiltinRuleLevel, all_builtin_rules, find_builtin_rule,
};

/// Suggests what the user may have meant by the name of a missing rule; `None` for other paths.
pub fn hint_for_unknown_rule(path: &[String]) -> Option<String> {
    let name = builtin_rule_name(path)?;
    let names: Vec<&str> = all_builtin_rules().map(|rule| rule.name.as_str()).collect();
    let near = closest_match(&name, &names).map_or_else(String::new, |near| {
        format!("did you mean `{BUILTIN_RULE_TABLE}.{near}`? ")
    });
    let family = name.split('.').next().unwrap_or_default();
    let mut known: Vec<&str> = all_builtin_rules()
        .filter(|rule| rule.family() == family)
        .map(|rule| rule.name.as_str())
        .collect();
    if known.is_empty() {
        known = names;
    }
    Some(format!(
        "{near}known: {}; `agent-collab permissions list --builtin` shows what each rule catches",
        known.join(", ")
    ))
}

/// Parses a setting of the table into the rule and its change.
fn parse_rule_override(
    path: &str,
    value: &Value,
) -> Option<(&'static BuiltinRule, BuiltinRuleLevel)> {
    let name = path.strip_prefix(BUILTIN_RULE_TABLE)?.strip_prefix('.')?;
    Some((find_builtin_rule(name)?, value.as_str()?.parse().ok()?))
}

/// Returns whether a setting of the table is at least as strict as the effective one.
pub fn is_stricter(path: &str, held: Option<&Value>, value: &Value) -> bool {
    let before = held.and_then(|held| parse_rule_override(path, held));
    parse_rule_override(path, value).is_some_and(|(rule, change)| {
        rule.class_at_level(Some(change)) >= rule.class_at_level(before.map(|(_, change)| change))
    })
}

/// Returns all effective changes by rule name. Reports rules that cannot be turned off.
pub(super) fn rule_overrides(
    settings: &LayeredSettings,
    problems: &mut Vec<ConfigProblem>,
) -> BTreeMap<String, BuiltinRuleOverride> {
    let mut changes = BTreeMap::new();
    for (path, held) in &settings.values {
        let Some((rule, change)) = parse_rule_override(path, &held.value) else {
            continue;
        };
        if change == BuiltinRuleLevel::Off && !rule.can_be_disabled() {
            problems.push(ConfigProblem::new(
                held.place.clone(),
                format!(
                    "`{path}` cannot be \"off\": this rule covers commands that cannot be analysed"
                ),
                "write \"confirm\", or remove the key",
            ));
        }
        let made = BuiltinRuleOverride {
            change,
            layer: held.layer,
            place: held.place.clone(),
        };
        changes.insert(rule.name.clone(), made);
    }
    changes
}

/// Returns the changes that count, by rule name. A loosening change counts only from a layer whose allow rules would
/// count.
pub fn effective_changes(
    config: &AppConfig,
    allows: impl Fn(ConfigLayer) -> bool,
) -> BTreeMap<String, BuiltinRuleLevel> {
    // Only changed rules are looked up: without a change, a start does not read the table of rules.
    let made = config.safety.builtin.iter();
    let counting = made.filter(|(name, made)| {
        let loosens = find_builtin_rule(name)
            .is_some_and(|rule| rule.class_at_level(Some(made.change)) < Some(rule.class));
        !loosens || allows(made.layer)
    });
    counting
        .map(|(name, made)| (name.clone(), made.change))
        .collect()
}

/// Returns the key's name in an example of the table.
pub fn example_key_name(key: &ConfigKey) -> &'static str {
    match key.path {
        BUILTIN_RULE_PATH => "files.tree",
        "keys.*" => "go",
        path => path.rsplit('.').next().unwrap_or(path),
    }
}
