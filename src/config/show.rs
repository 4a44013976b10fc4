//! What is in force, key by key with its origin, as TOML and as JSON.
//!
//! Refuses to print values of environment variables whose names promise a secret.

use std::collections::BTreeSet;

use serde_json::json;

use super::Loaded;
use super::builtin;
use super::key::{Key, Preset};
use super::layers::{Held, Layer, because};
use super::problem::Place;
use super::shipped;
use super::trust::TrustState;
use super::types::{BuiltinChange, Rule};
use super::value::toml_text;

/// Writes every key with its value and origin as TOML that reads as the same configuration.
pub fn to_toml(loaded: &Loaded) -> String {
    let mut text = format!("# This repository is {}.\n", trust_word(loaded.trust));
    for (table, keys) in shipped::tables() {
        if table == "permission" {
            text.push_str(&rules(loaded));
            continue;
        }
        if table == "keys" {
            text.push_str(&chosen_keys(loaded));
            continue;
        }
        if table == builtin::TABLE {
            text.push_str(&changes(loaded));
            continue;
        }
        for name in names(loaded, &table) {
            text.push_str(&format!("\n[{}]\n", table.replace('*', &name)));
            for key in &keys {
                text.push_str(&line(loaded, key, &name));
            }
        }
    }
    text
}

/// Writes every key with its value and origin as JSON.
pub fn to_json(loaded: &Loaded) -> serde_json::Value {
    let entry = |(path, held): (&String, &Held)| {
        let mut entry = origin_json(held.layer, &held.place);
        entry.insert("value".to_owned(), held.value.masked().to_json());
        (path.clone(), serde_json::Value::Object(entry))
    };
    let values: serde_json::Map<String, serde_json::Value> =
        loaded.settings.values.iter().map(entry).collect();
    let rules = |rules: &[Rule]| -> Vec<serde_json::Value> {
        let rule_json = |rule: &Rule| {
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
        "trust": trust_word(loaded.trust),
        "instructions": loaded.instructions_in_words(),
        "values": values,
        "rules": rules(&loaded.settings.rules),
        "restrictions": rules(&loaded.settings.restrictions),
        "notices": loaded.notices.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

/// Names a trust state in a few words.
pub fn trust_word(trust: TrustState) -> &'static str {
    match trust {
        TrustState::Trusted => "trusted",
        TrustState::Untrusted => "untrusted",
        TrustState::Changed => "untrusted (its settings or prompts changed since you trusted it)",
    }
}

fn names(loaded: &Loaded, table: &str) -> BTreeSet<String> {
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

fn line(loaded: &Loaded, key: &Key, name: &str) -> String {
    let path = key.path.replace('*', name);
    let key_name = key.path.rsplit('.').next().unwrap_or(key.path);
    match loaded.settings.values.get(&path) {
        Some(held) => {
            let value = held.value.masked().to_toml();
            format!(
                "# {}.\n{key_name} = {value} # {}\n",
                key.help,
                origin(held.layer, &held.place)
            )
        }
        None => {
            let (Preset::Is(example) | Preset::Unset(example) | Preset::Named(_, example)) =
                key.preset;
            format!(
                "# {}.\n# {key_name} = {example} # not set; an example\n",
                key.help
            )
        }
    }
}

fn chosen_keys(loaded: &Loaded) -> String {
    let held = loaded.settings.values.iter();
    let lines: String = held
        .filter_map(|(path, held)| Some((path.strip_prefix("keys.")?, held)))
        .map(|(action, held)| {
            let value = held.value.to_toml();
            format!("{action} = {value} # {}\n", origin(held.layer, &held.place))
        })
        .collect();
    match lines.is_empty() {
        true => {
            "\n# [keys] gives no action another key; `agent-collab keys` prints them.\n".to_owned()
        }
        false => format!("\n[keys]\n{lines}"),
    }
}

fn changes(loaded: &Loaded) -> String {
    let changes = &loaded.config.safety.builtin;
    if changes.is_empty() {
        return format!("\n# [{}] changes no rule.\n", builtin::TABLE);
    }
    let line = |(name, made): (&String, &BuiltinChange)| {
        let change = made.change.as_str();
        format!(
            "{name} = \"{change}\" # {}\n",
            origin(made.layer, &made.place)
        )
    };
    let lines: String = changes.iter().map(line).collect();
    format!("\n[{}]\n{lines}", builtin::TABLE)
}

fn rules(loaded: &Loaded) -> String {
    let mut text = String::new();
    let mut write = |rule: &Rule, note: String| {
        text.push_str(&format!(
            "\n[[permission.rule]] # {}{note}\n",
            origin(rule.layer, &rule.place)
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
        "; beside the rules above, the stricter answer holds, {}",
        because(loaded.trust)
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

fn origin(layer: Layer, place: &Place) -> String {
    match place {
        Place::Line { .. } | Place::File(_) if layer == Layer::Default => "default".to_owned(),
        Place::Line { file, line, .. } => format!("{}:{line}", file.display()),
        Place::File(file) => file.display().to_string(),
        Place::Flag(flag) => flag.clone(),
    }
}

fn origin_json(layer: Layer, place: &Place) -> serde_json::Map<String, serde_json::Value> {
    let mut entry = serde_json::Map::new();
    entry.insert("layer".to_owned(), json!(layer.name()));
    match place {
        Place::Line { file, line, .. } if layer != Layer::Default => {
            entry.insert("file".to_owned(), json!(file));
            entry.insert("line".to_owned(), json!(line));
        }
        Place::Flag(flag) => {
            entry.insert("flag".to_owned(), json!(flag));
        }
        Place::Line { .. } | Place::File(_) => {}
    }
    entry
}
