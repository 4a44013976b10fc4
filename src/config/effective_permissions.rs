//! Converts the effective rules and profiles of the configuration to the types of the permission layer.

use std::path::Path;
use std::sync::Arc;

use super::builtin_rule_overrides;
use super::config_layer::ConfigLayer;
use super::config_model::{AgentConfig, AppConfig, ConfigRule};
use super::diagnostic::ConfigNotice;
use crate::permission::command_safety::CommandSafetySettings;
use crate::permission::profile_registry::{FileReadMethod, ProfileVisibility};
use crate::permission::rule_lint;
use crate::permission::{
    self, AgentMode, DecisionContext, PermissionAction, PhaseAccess, ProfileDefinition,
    ProfileRegistry, RuleLayer, RuleOrigin, RuleSet, SessionLineage, tool_names,
};

/// The permissions that apply in a repository: rules of all configuration files, in the order in which they count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectivePermissions {
    /// The built-in profiles and the user's own, without the rules that the user configures for them.
    pub profiles: ProfileRegistry,
    /// The commands that are held back, whatever else allows them.
    pub safety: CommandSafetySettings,
    written: Vec<permission::Rule>,
    restrictions: Vec<permission::Rule>,
    own: Vec<(String, permission::Rule)>,
}

/// Whose allow rules count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowAuthority {
    /// Those of everyone who may write rules.
    Everybody,
    /// Only the user's; a repository's do not count, trusted or not.
    User,
    /// None: only what the program allows by itself is allowed.
    Nobody,
}

impl EffectivePermissions {
    /// Converts the permissions of a configuration. An allow that does not count asks, unless an earlier rule allows.
    pub fn from_config(config: &AppConfig, allowing: AllowAuthority) -> Self {
        let counts = |layer: ConfigLayer| match allowing {
            AllowAuthority::Everybody => true,
            AllowAuthority::User => layer != ConfigLayer::Project,
            AllowAuthority::Nobody => false,
        };
        let convert = |rule: &ConfigRule, layer: RuleLayer| {
            let is_discounted = rule.action == PermissionAction::Allow && !counts(rule.layer);
            let action = if is_discounted {
                PermissionAction::Ask
            } else {
                rule.action
            };
            permission::Rule {
                is_discounted,
                ..to_permission_rule(rule, action, layer)
            }
        };
        let in_layers = |rules: &[ConfigRule]| {
            let rules = rules.iter();
            rules
                .map(|rule| convert(rule, to_permission_layer(rule.layer)))
                .collect()
        };
        let mut profiles = ProfileRegistry::default();
        let mut own = Vec::new();
        for (name, agent) in &config.agents {
            profiles.insert(merge_profile(name, agent, &profiles));
            let rules = agent.rules.iter();
            own.extend(rules.map(|rule| (name.clone(), convert(rule, RuleLayer::Own))));
        }
        Self {
            profiles,
            safety: CommandSafetySettings {
                blocked_patterns: config.safety.blocked_commands.clone(),
                confirm_patterns: config.safety.require_confirm_for.clone(),
                builtin_levels: builtin_rule_overrides::effective_changes(config, counts),
                ..CommandSafetySettings::default()
            },
            written: in_layers(&config.permission.rules),
            restrictions: in_layers(&config.permission.restrictions),
            own,
        }
    }

    /// Reports configured rules that never decide anything. Each list is checked by itself, because a rule from one
    /// place may be meant to be overruled by a rule from another.
    pub fn ineffective_rules(config: &AppConfig) -> Vec<ConfigNotice> {
        let mut lists: Vec<Vec<&ConfigRule>> = Vec::new();
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
        lists.iter().flat_map(|list| lint_rules(list)).collect()
    }

    /// Reports configured rules for every agent that do not reach some agents: what a profile denies can only be
    /// overruled by a rule that names the profile.
    pub fn rules_denied_by_profiles(config: &AppConfig) -> Vec<ConfigNotice> {
        let permissions = Self::from_config(config, AllowAuthority::Everybody);
        let profiles: Vec<(&str, RuleSet)> = permissions
            .profiles
            .iter_offered(AgentMode::All)
            .map(|profile| (profile.name.as_str(), permissions.layered_rules(profile)))
            .collect();
        let told = |rule: &ConfigRule| {
            let named = tool_names::permission_for_tool(&rule.permission);
            let agents: Vec<&str> = profiles
                .iter()
                .filter(|(_, rules)| rules.find_profile_floor(named).is_some())
                .map(|(name, _)| *name)
                .collect();
            let first = agents.first()?;
            Some(ConfigNotice {
                place: rule.place.clone(),
                what: format!(
                    "the rule {} has no effect on {}, which cannot use {named} at all",
                    to_permission_rule(rule, rule.action, to_permission_layer(rule.layer)),
                    agents.join(", "),
                ),
                hint: format!(
                    "to apply it to one of them, add rules = [[{named:?}, {:?}, \"{}\"]] to [agents.{first}]",
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

    /// Returns the configured rules that apply to every session, in order; those of a profile are not included.
    fn session_rules(&self) -> RuleSet {
        RuleSet::from_written(&self.written, &self.restrictions)
    }

    /// Combines the rules that apply to a profile; an unknown profile may do nothing.
    pub fn rules(&self, profile: &str) -> RuleSet {
        match self.profiles.find_by_name(profile) {
            Ok(found) => self.layered_rules(found),
            Err(_unknown) => RuleSet::from_list(ProfileDefinition::deny_all(profile).rules),
        }
    }

    /// Combines the same rules for a CLI whose agent reads files in this way.
    pub fn rules_for_reading(&self, profile: &str, reads: FileReadMethod) -> RuleSet {
        match (self.profiles.find_by_name(profile), reads) {
            (Ok(found), FileReadMethod::CommandsOnly) => {
                self.layered_rules(&found.clone().with_read_only_commands())
            }
            _ => self.rules(profile),
        }
    }

    /// Builds the context of decisions in a role's session under a profile, in mode default, before a call is known.
    pub fn decision_context(
        &self,
        profile: &str,
        access: PhaseAccess,
        root: &Path,
    ) -> DecisionContext {
        DecisionContext {
            profile: profile.to_owned(),
            rules: Arc::new(self.rules(profile)),
            safety_settings: self.safety.clone(),
            ..DecisionContext::new(access, root.to_owned())
        }
    }

    /// Returns the lineage of a child session: configured rules apply to it, but what its profile allows grants nothing
    /// more.
    pub fn child_lineage(&self) -> SessionLineage {
        SessionLineage::Child {
            session: Arc::new(self.session_rules()),
        }
    }

    fn layered_rules(&self, found: &ProfileDefinition) -> RuleSet {
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

/// Merges the user's settings of an agent over the built-in agent of its name.
fn merge_profile(name: &str, agent: &AgentConfig, known: &ProfileRegistry) -> ProfileDefinition {
    let base = known
        .find_by_name(name)
        .cloned()
        .unwrap_or_else(|_| ProfileDefinition::without_rules(name, AgentMode::All));
    ProfileDefinition {
        mode: agent.mode.unwrap_or(base.mode),
        description: agent.description.clone().unwrap_or(base.description),
        prompt: agent.prompt.clone().or(base.prompt),
        adapter: agent.adapter.clone().or(base.adapter),
        model: agent.model.clone().or(base.model),
        visibility: if agent.hidden {
            ProfileVisibility::Hidden
        } else {
            ProfileVisibility::Offered
        },
        ..base
    }
}

fn to_permission_layer(layer: ConfigLayer) -> RuleLayer {
    match layer {
        ConfigLayer::Default => RuleLayer::Default,
        ConfigLayer::Global => RuleLayer::Global,
        ConfigLayer::Project => RuleLayer::Project,
        ConfigLayer::File => RuleLayer::File,
        ConfigLayer::Flag => RuleLayer::Flag,
    }
}

/// Converts a rule; the name of a tool stands for the permission that the tool needs.
fn to_permission_rule(
    rule: &ConfigRule,
    action: PermissionAction,
    layer: RuleLayer,
) -> permission::Rule {
    let place = rule.place.to_string();
    let permission = tool_names::permission_for_tool(&rule.permission);
    permission::Rule::new(
        permission,
        &rule.pattern,
        action,
        RuleOrigin { layer, place },
    )
}

fn lint_rules(list: &[&ConfigRule]) -> Vec<ConfigNotice> {
    let rules: Vec<permission::Rule> = list
        .iter()
        .map(|rule| to_permission_rule(rule, rule.action, to_permission_layer(rule.layer)))
        .collect();
    rule_lint::lint_rules(&rules)
        .into_iter()
        .filter_map(|odd| {
            Some(ConfigNotice {
                place: list.get(odd.rule_index)?.place.clone(),
                what: odd.message,
                hint: odd.hint,
            })
        })
        .collect()
}
