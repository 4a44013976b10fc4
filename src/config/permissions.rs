//! The rules and profiles in force, in the words of the permission layer.
//!
//! Refuses to decide anything and to read files: it only converts what the layers hold.

use std::path::Path;
use std::sync::Arc;

use super::builtin;
use super::layers;
use super::problem::Notice;
use super::types::{AdapterKind, AgentProfile, Config, Rule};
use crate::permission::command_safety::{self, CommandSafetySettings};
use crate::permission::profile_registry::ProfileVisibility;
use crate::permission::rule_lint;
use crate::permission::{
    self, AgentMode, DecisionContext, PermissionAction, PhaseAccess, ProfileDefinition,
    ProfileRegistry, RuleLayer, RuleOrigin, RuleSet, SessionLineage, tool_names,
};

/// Everything written about permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permissions {
    /// The built-in profiles and the user's own, those with their own rules left out.
    pub profiles: ProfileRegistry,
    /// Which commands are held back whatever else allows them.
    pub safety: CommandSafetySettings,
    written: Vec<permission::Rule>,
    restrictions: Vec<permission::Rule>,
    own: Vec<(String, permission::Rule)>,
}

/// Whose allows count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowing {
    /// Those of everybody who may write rules.
    Everybody,
    /// The user's; a repository's do not, trusted or not.
    User,
    /// Nobody's: what is allowed is what the program allows by itself.
    Nobody,
}

impl Permissions {
    /// Takes the permissions of a configuration. An allow that does not count asks, where nothing before it allows.
    pub fn of(config: &Config, allowing: Allowing) -> Self {
        let counts = |layer: layers::Layer| match allowing {
            Allowing::Everybody => true,
            Allowing::User => layer != layers::Layer::Project,
            Allowing::Nobody => false,
        };
        let convert = |rule: &Rule, layer: RuleLayer| {
            let is_discounted = rule.action == PermissionAction::Allow && !counts(rule.layer);
            let action = match is_discounted {
                true => PermissionAction::Ask,
                false => rule.action,
            };
            permission::Rule {
                is_discounted,
                ..as_rule(rule, action, layer)
            }
        };
        let in_layers = |rules: &[Rule]| {
            let rules = rules.iter();
            rules
                .map(|rule| convert(rule, layer_of(rule.layer)))
                .collect()
        };
        let mut profiles = ProfileRegistry::default();
        let mut own = Vec::new();
        for (name, agent) in &config.agents {
            profiles.insert(profile(name, agent, &profiles));
            let rules = agent.rules.iter();
            own.extend(rules.map(|rule| (name.clone(), convert(rule, RuleLayer::Own))));
        }
        Self {
            profiles,
            safety: CommandSafetySettings {
                blocked_patterns: config.safety.blocked_commands.clone(),
                confirm_patterns: config.safety.require_confirm_for.clone(),
                builtin_levels: command_safety::all_builtin_rules()
                    .filter_map(|rule| {
                        let change = builtin::counted(config, rule, counts)?;
                        Some((rule.name.to_owned(), change))
                    })
                    .collect(),
                ..CommandSafetySettings::default()
            },
            written: in_layers(&config.permission.rules),
            restrictions: in_layers(&config.permission.restrictions),
            own,
        }
    }

    /// Tells of written rules that never decide anything, each list by itself; a rule of one place may well be
    /// meant to be overruled by one of another.
    pub fn oddities(config: &Config) -> Vec<Notice> {
        let mut lists: Vec<Vec<&Rule>> = Vec::new();
        let layered = config.permission.rules.iter();
        for rule in layered.chain(&config.permission.restrictions) {
            match lists.last_mut() {
                Some(list) if list.iter().all(|last| last.layer == rule.layer) => list.push(rule),
                Some(_) | None => lists.push(vec![rule]),
            }
        }
        lists.extend(
            config
                .agents
                .values()
                .map(|agent| agent.rules.iter().collect()),
        );
        lists.iter().flat_map(|list| oddities_of(list)).collect()
    }

    /// Tells of written rules about every agent that do not reach some of them: what a profile denies holds against
    /// all but the rules that name it.
    pub fn without_effect(config: &Config) -> Vec<Notice> {
        let permissions = Self::of(config, Allowing::Everybody);
        let profiles: Vec<(&str, RuleSet)> = permissions
            .profiles
            .iter_offered(AgentMode::All)
            .map(|profile| (profile.name.as_str(), permissions.layered(profile)))
            .collect();
        let told = |rule: &Rule| {
            let named = tool_names::permission_for_tool(&rule.permission);
            let agents: Vec<&str> = profiles
                .iter()
                .filter(|(_, rules)| rules.find_profile_floor(named).is_some())
                .map(|(name, _)| *name)
                .collect();
            let first = agents.first()?;
            Some(Notice {
                place: rule.place.clone(),
                what: format!(
                    "the rule {} has no effect on {}, who may not use {named} at all",
                    as_rule(rule, rule.action, layer_of(rule.layer)),
                    agents.join(", "),
                ),
                hint: format!(
                    "for one of them write it into its own: rules = [[{named:?}, {:?}, \"{}\"]] in [agents.{first}]",
                    rule.pattern,
                    rule.action.name()
                ),
            })
        };
        let rules = config.permission.rules.iter();
        rules
            .filter(|rule| rule.action != PermissionAction::Deny)
            .filter_map(told)
            .collect()
    }

    /// The written rules that hold for every session, in their order; those of a profile are not among them.
    fn of_every_session(&self) -> RuleSet {
        RuleSet::from_written(&self.written, &self.restrictions)
    }

    /// Layers the rules that hold for a profile; one that nobody knows may do nothing.
    pub fn rules(&self, profile: &str) -> RuleSet {
        match self.profiles.find_by_name(profile) {
            Ok(found) => self.layered(found),
            Err(_unknown) => RuleSet::from_list(ProfileDefinition::deny_all(profile).rules),
        }
    }

    /// The same at a CLI of this kind: codex reads files by commands alone.
    pub fn rules_at(&self, profile: &str, kind: Option<AdapterKind>) -> RuleSet {
        match (self.profiles.find_by_name(profile), kind) {
            (Ok(found), Some(AdapterKind::Codex)) => {
                self.layered(&found.clone().with_read_only_commands())
            }
            _ => self.rules(profile),
        }
    }

    /// What decisions rest on in a role's session under a profile, in mode default, before a call is known.
    pub fn context(&self, profile: &str, access: PhaseAccess, root: &Path) -> DecisionContext {
        DecisionContext {
            profile: profile.to_owned(),
            rules: Arc::new(self.rules(profile)),
            safety_settings: self.safety.clone(),
            ..DecisionContext::new(access, root.to_owned())
        }
    }

    /// Whose a child's session is: what is written holds for it, what its profile allows does not count further.
    pub fn of_a_child(&self) -> SessionLineage {
        SessionLineage::Child {
            session: Arc::new(self.of_every_session()),
        }
    }

    fn layered(&self, found: &ProfileDefinition) -> RuleSet {
        let profile = &found.name;
        let own = self.own.iter().filter(|(name, _)| name == profile);
        let written: Vec<permission::Rule> = self
            .written
            .iter()
            .chain(own.map(|(_, rule)| rule))
            .cloned()
            .collect();
        RuleSet::from_layers(found, &written, &self.restrictions)
    }
}

/// What the user says of an agent is laid over the built-in one of its name.
fn profile(name: &str, agent: &AgentProfile, known: &ProfileRegistry) -> ProfileDefinition {
    let base = known
        .find_by_name(name)
        .cloned()
        .unwrap_or_else(|_| ProfileDefinition::without_rules(name, AgentMode::All));
    let mode = agent.mode.as_deref().and_then(AgentMode::from_name);
    ProfileDefinition {
        mode: mode.unwrap_or(base.mode),
        description: agent.description.clone().unwrap_or(base.description),
        prompt: agent.prompt.clone().or(base.prompt),
        adapter: agent.adapter.clone().or(base.adapter),
        model: agent.model.clone().or(base.model),
        visibility: match agent.hidden {
            true => ProfileVisibility::Hidden,
            false => ProfileVisibility::Offered,
        },
        ..base
    }
}

fn layer_of(layer: layers::Layer) -> RuleLayer {
    match layer {
        layers::Layer::Default => RuleLayer::Default,
        layers::Layer::Global => RuleLayer::Global,
        layers::Layer::Project => RuleLayer::Project,
        layers::Layer::File => RuleLayer::File,
        layers::Layer::Flag => RuleLayer::Flag,
    }
}

/// Names of tools are taken for the permission that they need.
fn as_rule(rule: &Rule, action: PermissionAction, layer: RuleLayer) -> permission::Rule {
    let place = rule.place.to_string();
    let permission = tool_names::permission_for_tool(&rule.permission);
    permission::Rule::new(
        permission,
        &rule.pattern,
        action,
        RuleOrigin { layer, place },
    )
}

fn oddities_of(list: &[&Rule]) -> Vec<Notice> {
    let rules: Vec<permission::Rule> = list
        .iter()
        .map(|rule| as_rule(rule, rule.action, layer_of(rule.layer)))
        .collect();
    rule_lint::lint_rules(&rules)
        .into_iter()
        .filter_map(|odd| {
            Some(Notice {
                place: list.get(odd.rule_index)?.place.clone(),
                what: odd.message,
                hint: odd.hint,
            })
        })
        .collect()
}
