//! Writes the effective configuration, key by key with its origin, as TOML and as JSON.
//!
//! Values of environment variables whose names suggest a secret are not printed.

use std::collections::BTreeSet;

use serde_json::json;

use super::LoadedConfig;
use super::config_key::ConfigKey;
use super::config_layer::ConfigLayer;
use super::config_layers::ConfigSetting;
use super::config_model::ConfigRule;
use super::defaults;
use super::diagnostic::ConfigLocation;
use super::schema;
use super::trust_state::{TrustState, trust_reason};

/// Writes every key with its value and origin as TOML that parses to the same configuration.
pub fn to_toml(loaded: &LoadedConfig) -> String {
    let mut text = format!("# This repository is {}.\n", trust_label(loaded.trust));
    for (table, keys) in defaults::key_tables() {
        if table == "permission" {
            text.push_str(&rule_tables(loaded));
            continue;
        }
        let empty = match table.as_str() {
            "keys" => Some("is empty; `agent-collab keys` prints all keys"),
            schema::BUILTIN_RULE_TABLE => Some("changes no rule"),
            _ => None,
        };
        if let Some(empty) = empty {
            text.push_str(&chosen_keys_table(loaded, &table, empty));
            continue;
        }
        let names = match table.strip_suffix(".*") {
            Some(parent) => loaded.settings.table_names(parent),
            None => BTreeSet::from([""]),
        };
        for name in names {
            text.push_str(&format!("\n[{}]\n", table.replace('*', name)));
            for key in &keys {
                text.push_str(&key_line(loaded, key, name));
            }
        }
    }
    text
}

/// Writes every key with its value and origin as JSON.
pub fn to_json(loaded: &LoadedConfig) -> serde_json::Value {
    let entry = |(path, held): (&String, &ConfigSetting)| {
        let mut entry = origin_json(held.layer, &held.place);
        entry.insert("value".to_owned(), json!(held.shown_value()));
        (path.clone(), serde_json::Value::Object(entry))
    };
    let values: serde_json::Map<String, serde_json::Value> =
        loaded.settings.values.iter().map(entry).collect();
    let rules = |rules: &[ConfigRule]| -> Vec<serde_json::Value> {
        let rule_json = |rule: &ConfigRule| {
            let mut entry = origin_json(rule.layer, &rule.place);
            for (name, text) in rule_fields(rule) {
                entry.insert(name.to_owned(), json!(text));
            }
            serde_json::Value::Object(entry)
        };
        rules.iter().map(rule_json).collect()
    };
    json!({
        "trust": trust_label(loaded.trust),
        "instructions": loaded.describe_instructions(),
        "values": values,
        "rules": rules(&loaded.settings.rules),
        "restrictions": rules(&loaded.settings.restrictions),
        "notices": loaded.notices.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

/// Names a trust state in a few words, for the user.
pub fn trust_label(trust: TrustState) -> &'static str {
    match trust {
        TrustState::Trusted => "trusted",
        TrustState::Untrusted => "untrusted",
        TrustState::Changed => "untrusted (its settings or prompts changed since you trusted it)",
    }
}

fn key_line(loaded: &LoadedConfig, key: &ConfigKey, name: &str) -> String {
    let path = key.path.replace('*', name);
    let key_name = key.path.rsplit('.').next().unwrap_or(key.path);
    match loaded.settings.values.get(&path) {
        Some(held) => {
            let origin = origin_label(held.layer, &held.place);
            format!(
                "# {}.\n{key_name} = {} # {origin}\n",
                key.help,
                held.shown_value()
            )
        }
        None => format!(
            "# {}.\n# {key_name} = {} # not set; an example\n",
            key.help,
            key.example()
        ),
    }
}

/// Writes a table whose keys the user chooses, or a comment that says what it means that there are none.
fn chosen_keys_table(loaded: &LoadedConfig, table: &str, empty: &str) -> String {
    let held = loaded.settings.values.iter();
    let lines: String = held
        .filter_map(|(path, held)| {
            let name = path.strip_prefix(table)?.strip_prefix('.')?;
            let origin = origin_label(held.layer, &held.place);
            Some(format!("{name} = {} # {origin}\n", held.shown_value()))
        })
        .collect();
    if lines.is_empty() {
        format!("\n# [{table}] {empty}.\n")
    } else {
        format!("\n[{table}]\n{lines}")
    }
}

fn rule_tables(loaded: &LoadedConfig) -> String {
    let mut text = String::new();
    let mut write = |rule: &ConfigRule, note: &str| {
        text.push_str(&format!(
            "\n[[permission.rule]] # {}{note}\n",
            origin_label(rule.layer, &rule.place)
        ));
        for (name, value) in rule_fields(rule) {
            text.push_str(&format!("{name} = {}\n", toml::Value::from(value)));
        }
    };
    let settings = &loaded.settings;
    for rule in &settings.rules {
        write(rule, "");
    }
    let reason = trust_reason(loaded.trust);
    let note = format!("; combined with the rules above, the stricter answer wins, {reason}");
    for rule in &settings.restrictions {
        write(rule, &note);
    }
    if text.is_empty() {
        "\n# No [[permission.rule]] is set.\n".to_owned()
    } else {
        text
    }
}

fn rule_fields(rule: &ConfigRule) -> [(&'static str, &str); 3] {
    [
        ("permission", &rule.permission),
        ("pattern", &rule.pattern),
        ("action", rule.action.name()),
    ]
}

fn origin_label(layer: ConfigLayer, place: &ConfigLocation) -> String {
    match place {
        ConfigLocation::Line { .. } | ConfigLocation::File(_) if layer == ConfigLayer::Default => {
            "default".to_owned()
        }
        ConfigLocation::Line { file, line, .. } => format!("{}:{line}", file.display()),
        ConfigLocation::File(file) => file.display().to_string(),
        ConfigLocation::Flag(flag) => flag.clone(),
    }
}

fn origin_json(
    layer: ConfigLayer,
    place: &ConfigLocation,
) -> serde_json::Map<String, serde_json::Value> {
    let mut entry = serde_json::Map::new();
    entry.insert("layer".to_owned(), json!(layer.as_str()));
    match place {
        ConfigLocation::Line { file, line, .. } if layer != ConfigLayer::Default => {
            entry.insert("file".to_owned(), json!(file));
            entry.insert("line".to_owned(), json!(line));
        }
        ConfigLocation::Flag(flag) => {
            entry.insert("flag".to_owned(), json!(flag));
        }
        ConfigLocation::Line { .. } | ConfigLocation::File(_) => {}
    }
    entry
}
