//! Reads the configuration of agents: their rules in every accepted form, and the agents that presets name.

use std::collections::BTreeMap;
use std::path::Path;

use super::config_layers::{ConfigSetting, LayeredSettings};
use super::config_model::{AppConfig, ConfigRule, PermissionAction};
use super::diagnostic::{ConfigProblem, ConfigProblems};
use super::effective_permissions::{AllowAuthority, EffectivePermissions};
use super::toml_parser::ConfigSource;
use super::word_similarity::suggest_name;
use crate::domain::discussion::ParticipantSpec;

/// Collects an agent's rules, where later ones win: allowed tools, denied tools, single tools, rules.
///
/// A list of allowed tools without `*` denies all others; denied tools come after it, so that they win.
pub(super) fn agent_rules(settings: &LayeredSettings, agent: &str) -> Vec<ConfigRule> {
    let held = |key: &str| settings.values.get(&format!("agents.{agent}.{key}"));
    let mut rules = Vec::new();
    if let Some(allowed) = held("allowed_tools") {
        if allowed.texts().all(|tool| tool != "*") {
            rules.push(tool_rule(allowed, "*", PermissionAction::Deny));
        }
        let tools = allowed.texts();
        rules.extend(tools.map(|tool| tool_rule(allowed, tool, PermissionAction::Allow)));
    }
    if let Some(denied) = held("denied_tools") {
        let tools = denied.texts();
        rules.extend(tools.map(|tool| tool_rule(denied, tool, PermissionAction::Deny)));
    }
    if let Some(tools) = held("tools") {
        let of = |wanted: bool, action: PermissionAction| {
            let named = tools.value.as_table().into_iter().flatten();
            let named = named.filter(move |(_, flag)| flag.as_bool() == Some(wanted));
            named.map(move |(tool, _)| tool_rule(tools, tool, action))
        };
        rules.extend(of(true, PermissionAction::Allow));
        rules.extend(of(false, PermissionAction::Deny));
    }
    rules.extend(held("rules").map(ConfigSetting::rules).unwrap_or_default());
    rules
}

fn tool_rule(held: &ConfigSetting, tool: &str, action: PermissionAction) -> ConfigRule {
    ConfigRule {
        permission: tool.to_owned(),
        pattern: "*".to_owned(),
        action,
        layer: held.layer,
        place: held.place.clone(),
    }
}

/// Finds the text of each agent's prompt. If two files have the same name, the later one counts, as for all prompts.
pub(super) fn find_agent_prompts(
    settings: &LayeredSettings,
    files: &[&ConfigSource],
) -> Result<BTreeMap<String, ConfigSource>, ConfigProblems> {
    let (mut found, mut problems) = (BTreeMap::new(), Vec::new());
    for (path, held) in &settings.values {
        let name = path
            .strip_prefix("agents.")
            .and_then(|rest| rest.strip_suffix(".prompt"));
        let (Some(name), Some(named)) = (name, held.value.as_str()) else {
            continue;
        };
        let wanted = Path::new(named).file_name();
        match files.iter().rfind(|source| source.file.file_name() == wanted) {
            Some(source) => drop(found.insert(name.to_owned(), Clone::clone(*source))),
            None => problems.push(ConfigProblem::new(
                held.place.clone(),
                format!("`{path}` names {named}, but this prompt does not exist"),
                "prompts are in the folder `prompts` next to your own config.toml; `agent-collab config path` shows \
                 where that is",
            )),
        }
    }
    if problems.is_empty() {
        Ok(found)
    } else {
        Err(ConfigProblems(problems))
    }
}

/// Checks that every agent in a discussion preset exists.
pub(super) fn check_preset_agents(
    settings: &LayeredSettings,
    config: &AppConfig,
) -> Vec<ConfigProblem> {
    let profiles = EffectivePermissions::from_config(config, AllowAuthority::Everybody).profiles;
    let presets = settings
        .values
        .iter()
        .filter(|(path, _)| path.starts_with("discuss.preset.") && path.ends_with(".agents"));
    let mut problems = Vec::new();
    for (path, held) in presets {
        for text in held.texts() {
            let problem = |what, hint| ConfigProblem::new(held.place.clone(), what, hint);
            let called = match ParticipantSpec::parse(text) {
                Ok(called) => called,
                Err(unreadable) => {
                    let hint = "for example \"critic\" or \"ops=explore@claude\"";
                    problems.push(problem(format!("`{path}`: {unreadable}"), hint.to_owned()));
                    continue;
                }
            };
            let name = called.agent.as_str();
            if let Err(unknown) = profiles.find_by_name(name) {
                let known: Vec<&str> = unknown.known.iter().map(String::as_str).collect();
                let hint = format!(
                    "{}known agents: {}; add [agents.{name}] for another",
                    suggest_name(name, &known),
                    known.join(", ")
                );
                let what = format!("`{path}` names the unknown agent {name:?}");
                problems.push(problem(what, hint));
            }
        }
    }
    problems
}
