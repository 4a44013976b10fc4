//! The merge of all layers into one set of settings, each with its origin; the only place that knows
//! what an untrusted project may do.
//!
//! Refuses to read files: layers arrive parsed.

use std::collections::{BTreeMap, BTreeSet};

use super::builtin;
use super::key::{Key, Untrusted};
use super::parse::Setting;
use super::problem::{Notice, Place};
use super::trust::TrustState;
use super::types::{PermissionAction, Rule};
use super::value::{RuleText, Value};

/// Where a setting comes from; a later layer beats an earlier one, field by field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
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

impl Layer {
    /// Names the layer in one lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Global => "global",
            Self::Project => "project",
            Self::File => "file",
            Self::Flag => "flag",
        }
    }
}

/// A value in force and its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// The key.
    pub key: &'static Key,
    /// The value.
    pub value: Value,
    /// The layer that set it last.
    pub layer: Layer,
    /// Where it stands.
    pub place: Place,
    /// For rules: where each of them stands, in their order.
    pub rule_places: Vec<Place>,
}

impl Held {
    /// Reads the value as rules; one of another kind holds none.
    pub fn rules(&self) -> Vec<Rule> {
        match &self.value {
            Value::Rules(rules) => to_rules(self.layer, rules, &self.rule_places),
            _ => Vec::new(),
        }
    }
}

/// All values in force.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settings {
    /// By path, chosen names filled in. Holds no permission rules.
    pub values: BTreeMap<String, Held>,
    /// The user's and the trusted project's permission rules, earlier layers first.
    pub rules: Vec<Rule>,
    /// Permission rules of an untrusted project; none of them allows.
    pub restrictions: Vec<Rule>,
    /// Paths whose values are wrong in some layer; reported there, not in force.
    pub broken: Vec<String>,
}

impl Settings {
    /// Lays settings over what is in force. Laying the same layer twice is as good as once.
    pub fn lay(&mut self, layer: Layer, settings: Vec<Setting>) {
        for setting in settings {
            match &setting.value {
                Value::Rules(rules) if setting.key.untrusted == Untrusted::Restrict => {
                    let rules = to_rules(layer, rules, &setting.rule_places);
                    self.rules.retain(|rule| rule.layer != layer);
                    let end = self.rules.partition_point(|rule| rule.layer < layer);
                    self.rules.splice(end..end, rules);
                }
                _ => self.hold(layer, setting),
            }
        }
    }

    /// The keys that the user gives actions.
    pub fn keys(&self) -> BTreeMap<String, Vec<String>> {
        let keys = |(path, held): (&String, &Held)| match &held.value {
            Value::Texts(keys) => Some((path.strip_prefix("keys.")?.to_owned(), keys.clone())),
            _ => None,
        };
        self.values.iter().filter_map(keys).collect()
    }

    /// The user's own themes: their names, with the fields of each.
    pub fn themes(&self) -> BTreeMap<String, BTreeMap<String, String>> {
        let mut themes: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for (path, held) in &self.values {
            let field = path
                .strip_prefix("themes.")
                .and_then(|rest| rest.split_once('.'));
            if let (Some((name, field)), Value::Text(text)) = (field, &held.value) {
                let theme = themes.entry(name.to_owned()).or_default();
                theme.insert(field.to_owned(), text.clone());
            }
        }
        themes
    }

    /// Lays a project's settings over what is in force as far as its trust allows; tells what was left out.
    pub fn lay_project(&mut self, trust: TrustState, settings: Vec<Setting>) -> Vec<Notice> {
        let (own, settings): (Vec<Setting>, Vec<Setting>) = settings
            .into_iter()
            .partition(|setting| setting.key.untrusted == Untrusted::Never);
        let mut notices: Vec<Notice> = own.iter().map(never).collect();
        match trust {
            TrustState::Trusted => self.lay(Layer::Project, settings),
            TrustState::Untrusted | TrustState::Changed => {
                let settings = settings.into_iter();
                notices.extend(settings.flat_map(|setting| self.tighten(trust, setting)));
            }
        }
        notices
    }

    fn tighten(&mut self, trust: TrustState, mut setting: Setting) -> Vec<Notice> {
        let held = self.values.get(&setting.path).map(|held| &held.value);
        if held == Some(&setting.value) {
            return Vec::new();
        }
        match (setting.key.untrusted, held, &setting.value) {
            (Untrusted::Restrict, _, Value::Rules(rules)) => {
                let rules = to_rules(Layer::Project, rules, &setting.rule_places);
                return self.restrict(trust, rules);
            }
            (Untrusted::Grow, Some(Value::Texts(old)), Value::Texts(new)) => {
                let notice = shrinks(old, new).then(|| partly_ignored(trust, &setting));
                setting.value = Value::Texts(grown(old, new));
                self.hold(Layer::Project, setting);
                return notice.into_iter().collect();
            }
            (Untrusted::Lower, Some(Value::Number(old)), Value::Number(new)) if new < old => {}
            (Untrusted::Lower, Some(Value::Time(old)), Value::Time(new)) if new < old => {}
            (Untrusted::OnlyTrue, _, Value::Flag(true))
            | (Untrusted::OnlyFalse, _, Value::Flag(false)) => {}
            (Untrusted::Tighten, held, new) if builtin::is_stricter(&setting.path, held, new) => {}
            (
                Untrusted::Ignored
                | Untrusted::Never
                | Untrusted::Lower
                | Untrusted::Grow
                | Untrusted::OnlyTrue
                | Untrusted::OnlyFalse
                | Untrusted::Tighten
                | Untrusted::Restrict,
                ..,
            ) => return vec![ignored(trust, &setting)],
        }
        self.hold(Layer::Project, setting);
        Vec::new()
    }

    fn restrict(&mut self, trust: TrustState, rules: Vec<Rule>) -> Vec<Notice> {
        let (allowing, strict): (Vec<Rule>, Vec<Rule>) = rules
            .into_iter()
            .partition(|rule| rule.action == PermissionAction::Allow);
        self.restrictions = strict;
        let notice = |rule: Rule| {
            let what = format!(
                "the rule that allows {} `{}` is ignored {}",
                rule.permission,
                rule.pattern,
                because(trust)
            );
            Notice {
                place: rule.place,
                what,
                hint: hint(trust),
            }
        };
        allowing.into_iter().map(notice).collect()
    }

    fn hold(&mut self, layer: Layer, setting: Setting) {
        let Setting {
            key,
            path,
            value,
            place,
            rule_places,
        } = setting;
        self.values.insert(
            path,
            Held {
                key,
                value,
                layer,
                place,
                rule_places,
            },
        );
    }
}

fn to_rules(layer: Layer, rules: &[RuleText], places: &[Place]) -> Vec<Rule> {
    let to_rule = |(rule, place): (&RuleText, &Place)| Rule {
        permission: rule.permission.clone(),
        pattern: rule.pattern.clone(),
        // What is no action denies.
        action: PermissionAction::from_name(&rule.action).unwrap_or(PermissionAction::Deny),
        layer,
        place: place.clone(),
    };
    rules.iter().zip(places).map(to_rule).collect()
}

fn shrinks(old: &[String], new: &[String]) -> bool {
    old.iter().any(|entry| !new.contains(entry))
}

fn grown(old: &[String], new: &[String]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    old.iter()
        .chain(new)
        .filter(|entry| seen.insert(entry.as_str()))
        .cloned()
        .collect()
}

fn ignored(trust: TrustState, setting: &Setting) -> Notice {
    let given = format!("`{} = {}`", setting.path, setting.value.masked().to_toml());
    let limit = match setting.key.untrusted {
        Untrusted::Ignored | Untrusted::Never => String::new(),
        limited => format!(" (it may only {})", limited.limit()),
    };
    Notice {
        place: setting.place.clone(),
        what: format!("{given} is ignored {}{limit}", because(trust)),
        hint: hint(trust),
    }
}

/// What no project may say, trusted or not.
fn never(setting: &Setting) -> Notice {
    let given = format!("`{} = {}`", setting.path, setting.value.to_toml());
    Notice {
        place: setting.place.clone(),
        what: format!("{given} is ignored because a project does not choose your keys and colours"),
        hint: "put it into your own configuration if you want it".to_owned(),
    }
}

fn partly_ignored(trust: TrustState, setting: &Setting) -> Notice {
    let what = format!(
        "`{}` is added to the list in force and replaces none of it {}",
        setting.path,
        because(trust)
    );
    Notice {
        place: setting.place.clone(),
        what,
        hint: hint(trust),
    }
}

/// Says why a project's word does not count.
pub fn because(trust: TrustState) -> &'static str {
    match trust {
        TrustState::Changed => {
            "because the project's settings or prompts changed since you trusted this repository"
        }
        TrustState::Untrusted | TrustState::Trusted => "because this repository is not trusted",
    }
}

/// Says what makes it count.
pub fn hint(trust: TrustState) -> String {
    match trust {
        TrustState::Changed => "read the change, then run `agent-collab trust` again".to_owned(),
        TrustState::Untrusted | TrustState::Trusted => {
            "run `agent-collab trust` if you know where this repository comes from".to_owned()
        }
    }
}
