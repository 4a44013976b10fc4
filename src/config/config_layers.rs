//! Merges all layers into one set of settings, each with its origin; the only place that decides what an untrusted
//! project may change.
//!
//! Layers arrive already parsed.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::builtin_rule_overrides;
use super::config_key::{ConfigKey, UntrustedPolicy, ValueKind};
use super::config_layer::ConfigLayer;
use super::config_model::{ConfigRule, PermissionAction};
use super::diagnostic::{ConfigLocation, ConfigNotice};
use super::trust_state::{TrustState, trust_hint, trust_reason};
use super::value_check::{mask_secrets, to_written_value};

/// One key with its value and origin.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigSetting {
    pub key: &'static ConfigKey,
    /// The path of the key, with the chosen names filled in.
    pub path: String,
    /// The value in the form that [`super::config_model`] reads.
    pub value: Value,
    /// The layer that set it last.
    pub layer: ConfigLayer,
    /// The file and line that set it.
    pub place: ConfigLocation,
    /// For rules: the location of each of them, in their order.
    pub rule_places: Vec<ConfigLocation>,
}

impl ConfigSetting {
    /// Returns the value as it is written in a file, secrets included.
    pub fn written_value(&self) -> Value {
        to_written_value(self.key.kind, &self.value)
    }

    /// Returns the value as it is written in a file, without secrets.
    pub fn shown_value(&self) -> Value {
        let mut value = self.written_value();
        if let (ValueKind::Environment, Value::Table(variables)) = (self.key.kind, &mut value) {
            mask_secrets(variables);
        }
        value
    }

    /// Returns the value as rules; a value of another kind has none.
    pub fn rules(&self) -> Vec<ConfigRule> {
        let rules: Vec<(String, String, PermissionAction)> =
            self.value.clone().try_into().unwrap_or_default();
        let to_rule = |((permission, pattern, action), place): (_, &ConfigLocation)| ConfigRule {
            permission,
            pattern,
            action,
            layer: self.layer,
            place: place.clone(),
        };
        rules
            .into_iter()
            .zip(&self.rule_places)
            .map(to_rule)
            .collect()
    }

    /// Returns the value as a list of texts; a value of another kind has none.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let items = self.value.as_array().into_iter().flatten();
        items.filter_map(Value::as_str)
    }
}

/// All effective values of the configuration, with the permission rules.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LayeredSettings {
    /// By path, with chosen names filled in. Contains no permission rules.
    pub values: BTreeMap<String, ConfigSetting>,
    /// The user's and the trusted project's permission rules, earlier layers first.
    pub rules: Vec<ConfigRule>,
    /// Permission rules of an untrusted project; none of them allows anything.
    pub restrictions: Vec<ConfigRule>,
    /// Paths with a wrong value in some layer; the problem is already reported, and the value is not effective.
    pub broken: Vec<String>,
}

impl LayeredSettings {
    /// Merges the settings of a layer over the effective ones. Applying the same layer twice has no further effect.
    pub fn apply_layer(&mut self, settings: Vec<ConfigSetting>) {
        for setting in settings {
            if setting.key.untrusted == UntrustedPolicy::Restrict {
                self.rules.retain(|rule| rule.layer != setting.layer);
                let end = self
                    .rules
                    .partition_point(|rule| rule.layer < setting.layer);
                self.rules.splice(end..end, setting.rules());
            } else {
                self.values.insert(setting.path.clone(), setting);
            }
        }
    }

    /// Returns the effective values as the nested tables of a file, for `serde` to read.
    pub(super) fn to_table(&self) -> Table {
        let mut root = Table::new();
        for (path, held) in &self.values {
            let (parents, name) = path.rsplit_once('.').unwrap_or_default();
            let table = parents.split('.').try_fold(&mut root, |table, parent| {
                let inner = table.entry(parent);
                inner.or_insert_with(|| Table::new().into()).as_table_mut()
            });
            if let Some(table) = table {
                table.insert(name.to_owned(), held.value.clone());
            }
        }
        root
    }

    /// Reads one table of the file, such as `keys`; it is empty if nothing sets it.
    pub fn read_table<T: DeserializeOwned + Default>(&self, name: &str) -> T {
        let table = self.to_table().remove(name);
        table
            .and_then(|table| table.try_into().ok())
            .unwrap_or_default()
    }

    /// Returns the names that the user chose below a table, such as all `x` of `adapters.x.kind`, also those with only
    /// wrong values.
    pub fn table_names(&self, table: &str) -> BTreeSet<&str> {
        let paths = self.values.keys().chain(&self.broken);
        let rest = paths.filter_map(|path| path.strip_prefix(table)?.strip_prefix('.'));
        rest.filter_map(|rest| rest.split('.').next()).collect()
    }

    /// Merges a project's settings over the effective ones as far as its trust allows; returns what was left out.
    pub fn apply_project_layer(
        &mut self,
        trust: TrustState,
        settings: Vec<ConfigSetting>,
    ) -> Vec<ConfigNotice> {
        let (own, settings): (Vec<ConfigSetting>, Vec<ConfigSetting>) = settings
            .into_iter()
            .partition(|setting| setting.key.untrusted == UntrustedPolicy::UserOnly);
        let mut notices: Vec<ConfigNotice> = own.iter().map(user_only_notice).collect();
        match trust {
            TrustState::Trusted => self.apply_layer(settings),
            TrustState::Untrusted | TrustState::Changed => {
                let settings = settings.into_iter();
                notices.extend(
                    settings.flat_map(|setting| self.apply_untrusted_setting(trust, setting)),
                );
            }
        }
        notices
    }

    fn apply_untrusted_setting(
        &mut self,
        trust: TrustState,
        mut setting: ConfigSetting,
    ) -> Vec<ConfigNotice> {
        let held = self.values.get(&setting.path).map(|held| &held.value);
        if held == Some(&setting.value) {
            return Vec::new();
        }
        let mut notices = Vec::new();
        // Each arm accepts only what makes the configuration stricter; everything else is ignored with a notice.
        let is_accepted = match setting.key.untrusted {
            UntrustedPolicy::Ignored | UntrustedPolicy::UserOnly => false,
            UntrustedPolicy::Restrict => return self.set_restrictions(trust, setting.rules()),
            UntrustedPolicy::Append => match (held, &setting.value) {
                (Some(Value::Array(old)), Value::Array(new)) => {
                    if old.iter().any(|entry| !new.contains(entry)) {
                        notices.push(partly_ignored_notice(trust, &setting));
                    }
                    setting.value = Value::Array(merge_lists(old, new));
                    true
                }
                _ => false,
            },
            UntrustedPolicy::Lower => held
                .and_then(Value::as_integer)
                .zip(setting.value.as_integer())
                .is_some_and(|(old, new)| new < old),
            UntrustedPolicy::OnlyTrue => setting.value.as_bool() == Some(true),
            UntrustedPolicy::OnlyFalse => setting.value.as_bool() == Some(false),
            UntrustedPolicy::Tighten => {
                builtin_rule_overrides::is_stricter(&setting.path, held, &setting.value)
            }
        };
        if !is_accepted {
            return vec![ignored_notice(trust, &setting)];
        }
        self.values.insert(setting.path.clone(), setting);
        notices
    }

    fn set_restrictions(&mut self, trust: TrustState, rules: Vec<ConfigRule>) -> Vec<ConfigNotice> {
        let (allowing, strict): (Vec<ConfigRule>, Vec<ConfigRule>) = rules
            .into_iter()
            .partition(|rule| rule.action == PermissionAction::Allow);
        self.restrictions = strict;
        let notice = |rule: ConfigRule| {
            let what = format!(
                "the rule that allows {} `{}` is ignored {}",
                rule.permission,
                rule.pattern,
                trust_reason(trust)
            );
            ConfigNotice {
                place: rule.place,
                what,
                hint: trust_hint(trust),
            }
        };
        allowing.into_iter().map(notice).collect()
    }
}

fn merge_lists(old: &[Value], new: &[Value]) -> Vec<Value> {
    let mut merged: Vec<Value> = Vec::new();
    for entry in old.iter().chain(new) {
        if !merged.contains(entry) {
            merged.push(entry.clone());
        }
    }
    merged
}

fn ignored_notice(trust: TrustState, setting: &ConfigSetting) -> ConfigNotice {
    let given = format!("`{} = {}`", setting.path, setting.shown_value());
    let limit = match setting.key.untrusted {
        UntrustedPolicy::Ignored | UntrustedPolicy::UserOnly => String::new(),
        limited => format!(" (it may only {})", limited.allowed_change()),
    };
    ConfigNotice {
        place: setting.place.clone(),
        what: format!("{given} is ignored {}{limit}", trust_reason(trust)),
        hint: trust_hint(trust),
    }
}

/// Builds the notice about a key that no project may set, trusted or not.
fn user_only_notice(setting: &ConfigSetting) -> ConfigNotice {
    let given = format!("`{} = {}`", setting.path, setting.shown_value());
    ConfigNotice {
        place: setting.place.clone(),
        what: format!("{given} is ignored because a project cannot choose your keys and colours"),
        hint: "to use it, put it into your own configuration".to_owned(),
    }
}

fn partly_ignored_notice(trust: TrustState, setting: &ConfigSetting) -> ConfigNotice {
    let what = format!(
        "`{}` is added to the current list and does not replace it {}",
        setting.path,
        trust_reason(trust)
    );
    ConfigNotice {
        place: setting.place.clone(),
        what,
        hint: trust_hint(trust),
    }
}
