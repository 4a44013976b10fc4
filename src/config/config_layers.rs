//! Merges all layers into one set of settings, each with its origin; the only place that decides what an untrusted
//! project may change.
//!
//! Layers arrive already parsed.

use std::collections::{BTreeMap, BTreeSet};

use strum::IntoStaticStr;

use super::builtin_rule_overrides;
use super::config_key::{ConfigKey, UntrustedPolicy};
use super::config_model::{ConfigRule, PermissionAction};
use super::diagnostic::{ConfigLocation, ConfigNotice};
use super::toml_parser::ConfigSetting;
use super::trust_store::TrustState;
use super::value_check::{ConfigValue, RuleSource};

/// The origin of a setting; a later layer beats an earlier one, field by field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum ConfigLayer {
    /// The shipped `config.toml`.
    Default,
    /// The user's own configuration.
    Global,
    /// `.agent-collab/config.toml` of the repository.
    Project,
    /// The file named by `--config`.
    File,
    /// A flag of the command line.
    Flag,
}

impl ConfigLayer {
    /// Names the layer in one lower-case word.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// An effective value and its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct LayeredValue {
    pub key: &'static ConfigKey,
    pub value: ConfigValue,
    /// The layer that set it last.
    pub layer: ConfigLayer,
    /// The file and line that set it.
    pub place: ConfigLocation,
    /// For rules: the location of each of them, in their order.
    pub rule_places: Vec<ConfigLocation>,
}

impl LayeredValue {
    /// Returns the value as rules; a value of another kind has none.
    pub fn rules(&self) -> Vec<ConfigRule> {
        match &self.value {
            ConfigValue::Rules(rules) => to_rules(self.layer, rules, &self.rule_places),
            _ => Vec::new(),
        }
    }
}

/// All effective values of the configuration, with the permission rules.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LayeredSettings {
    /// By path, with chosen names filled in. Contains no permission rules.
    pub values: BTreeMap<String, LayeredValue>,
    /// The user's and the trusted project's permission rules, earlier layers first.
    pub rules: Vec<ConfigRule>,
    /// Permission rules of an untrusted project; none of them allows anything.
    pub restrictions: Vec<ConfigRule>,
    /// Paths with a wrong value in some layer; the problem is already reported, and the value is not effective.
    pub broken: Vec<String>,
}

impl LayeredSettings {
    /// Merges the settings of a layer over the effective ones. Applying the same layer twice has no further effect.
    pub fn apply_layer(&mut self, layer: ConfigLayer, settings: Vec<ConfigSetting>) {
        for setting in settings {
            match &setting.value {
                ConfigValue::Rules(rules) if setting.key.untrusted == UntrustedPolicy::Restrict => {
                    let rules = to_rules(layer, rules, &setting.rule_places);
                    self.rules.retain(|rule| rule.layer != layer);
                    let end = self.rules.partition_point(|rule| rule.layer < layer);
                    self.rules.splice(end..end, rules);
                }
                _ => self.set_value(layer, setting),
            }
        }
    }

    /// Returns the key bindings that the user sets, by action.
    pub fn key_bindings(&self) -> BTreeMap<String, Vec<String>> {
        let keys = |(path, held): (&String, &LayeredValue)| match &held.value {
            ConfigValue::Texts(keys) => {
                Some((path.strip_prefix("keys.")?.to_owned(), keys.clone()))
            }
            _ => None,
        };
        self.values.iter().filter_map(keys).collect()
    }

    /// Returns the user's own themes by name, with the fields of each.
    pub fn themes(&self) -> BTreeMap<String, BTreeMap<String, String>> {
        let mut themes: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for (path, held) in &self.values {
            let field = path
                .strip_prefix("themes.")
                .and_then(|rest| rest.split_once('.'));
            if let (Some((name, field)), ConfigValue::Text(text)) = (field, &held.value) {
                let theme = themes.entry(name.to_owned()).or_default();
                theme.insert(field.to_owned(), text.clone());
            }
        }
        themes
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
            TrustState::Trusted => self.apply_layer(ConfigLayer::Project, settings),
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
        // Each arm accepts only what makes the configuration stricter; everything else is ignored with a notice.
        match (setting.key.untrusted, held, &setting.value) {
            (UntrustedPolicy::Restrict, _, ConfigValue::Rules(rules)) => {
                let rules = to_rules(ConfigLayer::Project, rules, &setting.rule_places);
                return self.set_restrictions(trust, rules);
            }
            (UntrustedPolicy::Append, Some(ConfigValue::Texts(old)), ConfigValue::Texts(new)) => {
                let notice =
                    drops_entries(old, new).then(|| partly_ignored_notice(trust, &setting));
                setting.value = ConfigValue::Texts(merge_lists(old, new));
                self.set_value(ConfigLayer::Project, setting);
                return notice.into_iter().collect();
            }
            (UntrustedPolicy::Lower, Some(ConfigValue::Number(old)), ConfigValue::Number(new))
                if new < old => {}
            (
                UntrustedPolicy::Lower,
                Some(ConfigValue::Duration(old)),
                ConfigValue::Duration(new),
            ) if new < old => {}
            (UntrustedPolicy::OnlyTrue, _, ConfigValue::Flag(true))
            | (UntrustedPolicy::OnlyFalse, _, ConfigValue::Flag(false)) => {}
            (UntrustedPolicy::Tighten, held, new)
                if builtin_rule_overrides::is_stricter(&setting.path, held, new) => {}
            (
                UntrustedPolicy::Ignored
                | UntrustedPolicy::UserOnly
                | UntrustedPolicy::Lower
                | UntrustedPolicy::Append
                | UntrustedPolicy::OnlyTrue
                | UntrustedPolicy::OnlyFalse
                | UntrustedPolicy::Tighten
                | UntrustedPolicy::Restrict,
                ..,
            ) => return vec![ignored_notice(trust, &setting)],
        }
        self.set_value(ConfigLayer::Project, setting);
        Vec::new()
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

    fn set_value(&mut self, layer: ConfigLayer, setting: ConfigSetting) {
        let ConfigSetting {
            key,
            path,
            value,
            place,
            rule_places,
        } = setting;
        self.values.insert(
            path,
            LayeredValue {
                key,
                value,
                layer,
                place,
                rule_places,
            },
        );
    }
}

fn to_rules(
    layer: ConfigLayer,
    rules: &[RuleSource],
    places: &[ConfigLocation],
) -> Vec<ConfigRule> {
    let to_rule = |(rule, place): (&RuleSource, &ConfigLocation)| ConfigRule {
        permission: rule.permission.clone(),
        pattern: rule.pattern.clone(),
        // An unknown action counts as deny, the strictest one.
        action: rule.action.parse().unwrap_or(PermissionAction::Deny),
        layer,
        place: place.clone(),
    };
    rules.iter().zip(places).map(to_rule).collect()
}

fn drops_entries(old: &[String], new: &[String]) -> bool {
    old.iter().any(|entry| !new.contains(entry))
}

fn merge_lists(old: &[String], new: &[String]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    old.iter()
        .chain(new)
        .filter(|entry| seen.insert(entry.as_str()))
        .cloned()
        .collect()
}

fn ignored_notice(trust: TrustState, setting: &ConfigSetting) -> ConfigNotice {
    let given = format!("`{} = {}`", setting.path, setting.value.masked().to_toml());
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
    let given = format!("`{} = {}`", setting.path, setting.value.to_toml());
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

/// Says why a project's setting does not count.
pub fn trust_reason(trust: TrustState) -> &'static str {
    match trust {
        TrustState::Changed => {
            "because the project's settings or prompts changed since you trusted this repository"
        }
        TrustState::Untrusted | TrustState::Trusted => "because this repository is not trusted",
    }
}

/// Says what the user can do to make it count.
pub fn trust_hint(trust: TrustState) -> String {
    match trust {
        TrustState::Changed => "read the change, then run `agent-collab trust` again".to_owned(),
        TrustState::Untrusted | TrustState::Trusted => {
            "run `agent-collab trust` if you trust the source of this repository".to_owned()
        }
    }
}
