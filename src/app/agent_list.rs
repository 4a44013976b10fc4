//! Builds the list of agents that the screen shows, from the configuration.
//!
//! The permission rules decide what an agent may do; this file only displays it.

use crate::config::config_model::AppConfig;
use crate::config::effective_permissions::{AllowAuthority, EffectivePermissions};
use crate::permission::profile_registry::CHILD_FORBIDDEN_TOOLS;
use crate::permission::rule::CallFacts;
use crate::permission::{AgentMode, ProfileDefinition, RuleSet, tool_names};
use crate::tui::AgentEntry;

/// Lists every agent that the configuration offers.
pub fn list_agents(config: &AppConfig) -> Vec<AgentEntry> {
    let permissions = EffectivePermissions::from_config(config, AllowAuthority::Everybody);
    let offered = permissions.profiles.iter_offered(AgentMode::All);
    offered
        .map(|profile| to_listed_agent(profile, &permissions.rules(&profile.name)))
        .collect()
}

/// Permissions that say nothing of what an agent can do: limits of calls, and how a CLI changes its own mode.
const NO_TOOLS: [&str; 4] = ["external_directory", "doom_loop", "plan_enter", "plan_exit"];

fn to_listed_agent(profile: &ProfileDefinition, rules: &RuleSet) -> AgentEntry {
    let (mut has, mut asks, mut lacks) = (Vec::new(), Vec::new(), Vec::new());
    let is_child = profile.mode == AgentMode::Subagent;
    for permission in tool_names::known_permissions().filter(|name| !NO_TOOLS.contains(name)) {
        let is_kept_from_it = is_child && CHILD_FORBIDDEN_TOOLS.contains(&permission);
        let list = if is_kept_from_it || rules.find_hiding_rule(permission).is_some() {
            &mut lacks
        } else if rules.allows_everything(permission, CallFacts::default()) {
            &mut has
        } else {
            &mut asks
        };
        list.push(permission.to_owned());
    }
    let all = rules.rules().iter().chain(rules.restrictions());
    AgentEntry {
        name: profile.name.clone(),
        mode: profile.mode,
        description: profile.description.clone(),
        adapter_and_model: adapter_label(profile),
        allowed_tools: has,
        asked_tools: asks,
        missing_tools: lacks,
        rules: all
            .map(|rule| format!("{rule}  ({})\n", rule.origin))
            .collect(),
    }
}

fn adapter_label(profile: &ProfileDefinition) -> Option<String> {
    match (&profile.adapter, &profile.model) {
        (None, None) => None,
        (Some(adapter), None) => Some(adapter.clone()),
        (None, Some(model)) => Some(format!("model {model}")),
        (Some(adapter), Some(model)) => Some(format!("{adapter}, model {model}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, ConfigFlags, UserDirs};

    #[test]
    fn each_agent_is_told_with_what_it_may_do() {
        let folder = tempfile::tempdir().unwrap();
        let places = UserDirs {
            home: folder.path().to_owned(),
            config_dir: folder.path().join("config"),
            state_dir: folder.path().join("state"),
            cache_dir: folder.path().join("cache"),
        };
        let loaded = config::load(&places, folder.path(), &ConfigFlags::default()).unwrap();
        let agents = list_agents(&loaded.config);
        let explore = agents.iter().find(|agent| agent.name == "explore").unwrap();
        assert!(explore.accepts_tasks() && explore.allowed_tools.contains(&"grep".to_owned()));
        assert!(
            explore.missing_tools.contains(&"edit".to_owned()),
            "{explore:?}"
        );
        assert!(
            explore.missing_tools.contains(&"task".to_owned()),
            "{explore:?}"
        );
        let plan = agents.iter().find(|agent| agent.name == "plan").unwrap();
        assert!(!plan.accepts_tasks() && plan.allowed_tools.contains(&"task".to_owned()));
    }
}
