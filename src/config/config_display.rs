//! Writes the effective configuration, key by key with its origin, as TOML and as JSON.
//!
//! Values of environment variables whose names suggest a secret are not printed.

use std::collections::BTreeSet;

use serde_json::json;

use super::LoadedConfig;
use super::builtin_rule_overrides;
use super::config_key::{ConfigKey, KeyDefault};
use super::config_layers::{ConfigLayer, LayeredValue, trust_reason};
use super::config_model::{BuiltinRuleOverride, ConfigRule};
use super::defaults;
use super::diagnostic::ConfigLocation;
use super::trust_store::TrustState;
use super::value_check::toml_text;

/// Writes every key with its value and origin as TOML that parses to the same configuration.
pub fn to_toml(loaded: &LoadedConfig) -> String {
    let mut text = format!("# This repository is {}.\n", trust_label(loaded.trust));
    for (table, keys) in defaults::key_tables() {
        if table == "permission" {
            text.push_str(&rule_tables(loaded));
            continue;
        }
        if table == "keys" {
            text.push_str(&key_bindings_table(loaded));
            continue;
        }
        if table == builtin_rule_overrides::BUILTIN_RULE_TABLE {
            text.push_str(&builtin_rule_table(loaded));
            continue;
        }
        for name in table_names(loaded, &table) {
            text.push_str(&format!("\n[{}]\n", table.replace('*', &name)));
            for key in &keys {
                text.push_str(&key_line(loaded, key, &name));
            }
        }
    }
    text
}

/// Writes every key with its value and origin as JSON.
pub fn to_json(loaded: &LoadedConfig) -> serde_json::Value {
    let entry = |(path, held): (&String, &LayeredValue)| {
        let mut entry = origin_json(held.layer, &held.place);
        entry.insert("value".to_owned(), held.value.masked().to_json());
        (path.clone(), serde_json::Value::Object(entry))
    };
    let values: serde_json::Map<String, serde_json::Value> =
        loaded.settings.values.iter().map(entry).collect();
    let rules = |rules: &[ConfigRule]| -> Vec<serde_json::Value> {
        let rule_json = |rule: &ConfigRule| {
            let mut entry = origin_json(rule.layer, &rule.place);
            for (name, text) in [
                ("permission", rule.permission.as_str()),
                ("pattern", &rule.pattern),
                ("action", rule.action.name()),
            ] {
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

fn table_names(loaded: &LoadedConfig, table: &str) -> BTreeSet<String> {
    match table.strip_suffix('*') {
        Some(prefix) => {
            let rest = loaded
                .settings
                .values
                .keys()
                .filter_map(|path| path.strip_prefix(prefix));
            rest.filter_map(|rest| rest.split('.').next())
                .map(str::to_owned)
                .collect()
        }
        None => BTreeSet::from([String::new()]),
    }
}

fn key_line(loaded: &LoadedConfig, key: &ConfigKey, name: &str) -> String {
    let path = key.path.replace('*', name);
    let key_name = key.path.rsplit('.').next().unwrap_or(key.path);
    match loaded.settings.values.get(&path) {
        Some(held) => {
            let value = held.value.masked().to_toml();
            format!(
                "# {}.\n{key_name} = {value} # {}\n",
                key.help,
                origin_label(held.layer, &held.place)
            )
        }
        None => {
            let (KeyDefault::Fixed(example)
            | KeyDefault::Unset(example)
            | KeyDefault::PerName(_, example)) = key.preset;
            format!(
                "# {}.\n# {key_name} = {example} # not set; an example\n",
                key.help
            )
        }
    }
}

fn key_bindings_table(loaded: &LoadedConfig) -> String {
    let held = loaded.settings.values.iter();
    let lines: String = held
        .filter_map(|(path, held)| Some((path.strip_prefix("keys.")?, held)))
        .map(|(action, held)| {
            let value = held.value.to_toml();
            format!(
                "{action} = {value} # {}\n",
                origin_label(held.layer, &held.place)
            )
        })
        .collect();
    if lines.is_empty() {
        "\n# [keys] is empty; `agent-collab keys` prints all keys.\n".to_owned()
    } else {
        format!("\n[keys]\n{lines}")
    }
}

fn builtin_rule_table(loaded: &LoadedConfig) -> String {
    let changes = &loaded.config.safety.builtin;
    if changes.is_empty() {
        return format!(
            "\n# [{}] changes no rule.\n",
            builtin_rule_overrides::BUILTIN_RULE_TABLE
        );
    }
    let line = |(name, made): (&String, &BuiltinRuleOverride)| {
        let change: &str = made.change.into();
        format!(
            "{name} = \"{change}\" # {}\n",
            origin_label(made.layer, &made.place)
        )
    };
    let lines: String = changes.iter().map(line).collect();
    format!(
        "\n[{}]\n{lines}",
        builtin_rule_overrides::BUILTIN_RULE_TABLE
    )
}

fn rule_tables(loaded: &LoadedConfig) -> String {
    let mut text = String::new();
    let mut write = |rule: &ConfigRule, note: String| {
        text.push_str(&format!(
            "\n[[permission.rule]] # {}{note}\n",
            origin_label(rule.layer, &rule.place)
        ));
        let fields = [
            ("permission", rule.permission.as_str()),
            ("pattern", &rule.pattern),
            ("action", rule.action.name()),
        ];
        for (name, value) in fields {
            text.push_str(&format!("{name} = {}\n", toml_text(value)));
        }
    };
    loaded
        .settings
        .rules
        .iter()
        .for_each(|rule| write(rule, String::new()));
    let note = format!(
        "; combined with the rules above, the stricter answer wins, {}",
        trust_reason(loaded.trust)
    );
    loaded
        .settings
        .restrictions
        .iter()
        .for_each(|rule| write(rule, note.clone()));
    if text.is_empty() {
        "\n# No [[permission.rule]] is set.\n".to_owned()
    } else {
        text
    }
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
