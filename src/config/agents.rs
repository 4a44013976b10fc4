//! What is written of agents: their rules out of every form they may have, and the names of those who are called.
//!
//! Refuses to know what a rule leads to.

use std::collections::BTreeMap;
use std::path::Path;

use super::layers::{Held, Settings};
use super::parse::SourceText;
use super::permissions::{Allowing, Permissions};
use super::problem::{Problem, Problems};
use super::suggest::nearest;
use super::types::{Config, PermissionAction, Rule};
use super::value::Value;
use crate::domain::discussion::Called;

/// Gathers an agent's rules in the order in which they count: what it may use, what it may not, single tools, rules.
///
/// A list of allowed tools without `*` denies all others; denied ones come after it, so that they win.
pub(super) fn rules<'a>(held: impl Fn(&str) -> Option<&'a Held>) -> Vec<Rule> {
    let mut rules = Vec::new();
    if let Some(allowed) = held("allowed_tools") {
        let tools = texts(allowed);
        if !tools.iter().any(|tool| tool == "*") {
            rules.push(rule(allowed, "*", PermissionAction::Deny));
        }
        rules.extend(
            tools
                .iter()
                .map(|tool| rule(allowed, tool, PermissionAction::Allow)),
        );
    }
    if let Some(denied) = held("denied_tools") {
        let tools = texts(denied).iter();
        rules.extend(tools.map(|tool| rule(denied, tool, PermissionAction::Deny)));
    }
    if let Some(tools) = held("tools")
        && let Value::Flags(flags) = &tools.value
    {
        let of = |wanted: bool, action: PermissionAction| {
            let named = flags.iter().filter(move |(_, flag)| **flag == wanted);
            named.map(move |(tool, _)| rule(tools, tool, action))
        };
        rules.extend(of(true, PermissionAction::Allow));
        rules.extend(of(false, PermissionAction::Deny));
    }
    rules.extend(held("rules").map(Held::rules).unwrap_or_default());
    rules
}

fn texts(held: &Held) -> &[String] {
    match &held.value {
        Value::Texts(texts) => texts,
        _ => &[],
    }
}

fn rule(held: &Held, tool: &str, action: PermissionAction) -> Rule {
    Rule {
        permission: tool.to_owned(),
        pattern: "*".to_owned(),
        action,
        layer: held.layer,
        place: held.place.clone(),
    }
}

/// Finds the text of each agent's prompt. Of two files with one name the later one counts, as for all prompts.
pub(super) fn prompts(
    settings: &Settings,
    files: &[&SourceText],
) -> Result<BTreeMap<String, SourceText>, Problems> {
    let (mut found, mut problems) = (BTreeMap::new(), Vec::new());
    for (path, held) in &settings.values {
        let name = path
            .strip_prefix("agents.")
            .and_then(|rest| rest.strip_suffix(".prompt"));
        let (Some(name), Value::Text(named)) = (name, &held.value) else {
            continue;
        };
        let wanted = Path::new(named).file_name();
        match files.iter().rfind(|source| source.file.file_name() == wanted) {
            Some(source) => drop(found.insert(name.to_owned(), Clone::clone(*source))),
            None => problems.push(Problem {
                place: held.place.clone(),
                what: format!("`{path}` names {named}, and there is no such prompt"),
                text: String::new(),
                hint: "prompts lie in the folder `prompts` beside your own config.toml; `agent-collab config path` \
                       tells where that is"
                    .to_owned(),
            }),
        }
    }
    match problems.is_empty() {
        true => Ok(found),
        false => Err(Problems(problems)),
    }
}

/// Everybody who is called into a discussion must be there.
pub(super) fn check_presets(settings: &Settings, config: &Config) -> Vec<Problem> {
    let profiles = Permissions::of(config, Allowing::Everybody).profiles;
    let presets = settings
        .values
        .iter()
        .filter(|(path, _)| path.starts_with("discuss.preset.") && path.ends_with(".agents"));
    let mut problems = Vec::new();
    for (path, held) in presets {
        for text in texts(held) {
            let called = match Called::parse(text) {
                Ok(called) => called,
                Err(unreadable) => {
                    problems.push(Problem {
                        place: held.place.clone(),
                        what: format!("`{path}`: {unreadable}"),
                        text: String::new(),
                        hint: "for example \"critic\" or \"ops=explore@claude\"".to_owned(),
                    });
                    continue;
                }
            };
            let name = called.agent.as_str();
            let Err(unknown) = profiles.find_by_name(name) else {
                continue;
            };
            let known: Vec<&str> = unknown.known.iter().map(String::as_str).collect();
            let near = nearest(name, &known)
                .map(|near| format!("did you mean {near:?}? "))
                .unwrap_or_default();
            problems.push(Problem {
                place: held.place.clone(),
                what: format!("`{path}` names the agent {name:?}, which is not known"),
                text: String::new(),
                hint: format!(
                    "{near}known agents: {}; add [agents.{name}] for another",
                    known.join(", ")
                ),
            });
        }
    }
    problems
}
