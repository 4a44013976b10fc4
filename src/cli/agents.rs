//! `agent-collab agents`: lists the agents, where each may be used, and its rules.
//!
//! Changes nothing: agents are configuration.

use clap::{Args, ValueEnum};
use serde_json::json;

use crate::app::startup::StartError;
use crate::cli::ConfigFlagArguments;
use crate::cli::cli_context::CliContext;
use crate::config::diagnostic::escape_control_chars;
use crate::config::effective_permissions::{AllowAuthority, EffectivePermissions};
use crate::permission::profile_registry::{ProfileVisibility, UnknownProfile};
use crate::permission::{AgentMode, ProfileDefinition};

/// Arguments of `agent-collab agents`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "An agent is a named set of a description, a prompt and rules. A run uses `plan`, `review` and `build` in its \
                  phases. Add [agents.NAME] to the configuration to define your own, or to change a built-in one.\n\n\
                  Examples:\n  agent-collab agents --mode subagent\n  agent-collab agents review"
)]
pub struct AgentsArguments {
    /// Show this agent with its rules, even a hidden one
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// List only agents that can be used this way [default: all]
    #[arg(long, value_enum, conflicts_with = "name")]
    pub mode: Option<AgentModeFlag>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// Where an agent may be used.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum AgentModeFlag {
    /// By you and in the phases of a run
    Primary,
    /// For a task or in a discussion
    Subagent,
}

/// Runs the command.
///
/// # Errors
/// The configuration has problems, or there is no such agent.
pub async fn run(args: AgentsArguments) -> Result<u8, StartError> {
    let CliContext { loaded, .. } = CliContext::load(&args.choices).await?;
    let permissions = EffectivePermissions::from_config(&loaded.config, AllowAuthority::Everybody);
    let mode = match args.mode {
        None => AgentMode::All,
        Some(AgentModeFlag::Primary) => AgentMode::Primary,
        Some(AgentModeFlag::Subagent) => AgentMode::Subagent,
    };
    let agents: Vec<&ProfileDefinition> = match &args.name {
        None => permissions.profiles.iter_offered(mode).collect(),
        Some(name) => vec![
            permissions
                .profiles
                .find_by_name(name)
                .map_err(unknown_agent_error)?,
        ],
    };
    let text = match (args.json, args.name) {
        (true, _) => {
            let all: Vec<serde_json::Value> = agents
                .iter()
                .map(|agent| agent_to_json(agent, &permissions))
                .collect();
            format!("{}\n", serde_json::Value::Array(all))
        }
        (false, None) => agents.iter().map(|agent| format_summary(agent)).collect(),
        (false, Some(_)) => agents
            .iter()
            .map(|agent| format_details(agent, &permissions))
            .collect(),
    };
    Ok(crate::cli::print_output(&text))
}

/// Returns the usage error for an unknown agent.
pub(super) fn unknown_agent_error(unknown: UnknownProfile) -> StartError {
    StartError {
        problem: format!("no agent {:?}", unknown.name),
        hint: format!("known agents: {}", unknown.known.join(", ")),
        code: 2,
    }
}

fn format_summary(agent: &ProfileDefinition) -> String {
    let line = format!(
        "{:<12} {:<9} {}",
        escape_control_chars(&agent.name),
        agent.mode.name(),
        escape_control_chars(&agent.description)
    );
    format!("{}\n", line.trim_end())
}

fn format_details(agent: &ProfileDefinition, permissions: &EffectivePermissions) -> String {
    let mut out = format_summary(agent);
    let known = [
        ("prompt", agent.prompt.as_deref()),
        ("adapter", agent.adapter.as_deref()),
        ("model", agent.model.as_deref()),
        ("hidden", is_hidden(agent).then_some("yes")),
    ];
    for (what, said) in known {
        let said = said.map(|said| format!("  {what:<8} {}\n", escape_control_chars(said)));
        out.push_str(&said.unwrap_or_default());
    }
    out.push_str("rules (the last match wins; a call that no rule matches asks you)\n");
    for (rule, origin) in rules_with_origins(agent, permissions) {
        out.push_str(&format!(
            "  {:<44} {}\n",
            escape_control_chars(&rule),
            escape_control_chars(&origin)
        ));
    }
    out
}

fn agent_to_json(
    agent: &ProfileDefinition,
    permissions: &EffectivePermissions,
) -> serde_json::Value {
    let rules: Vec<serde_json::Value> = rules_with_origins(agent, permissions)
        .into_iter()
        .map(|(rule, origin)| json!({ "rule": rule, "origin": origin }))
        .collect();
    json!({
        "name": agent.name,
        "mode": agent.mode.name(),
        "description": agent.description,
        "prompt": agent.prompt,
        "adapter": agent.adapter,
        "model": agent.model,
        "hidden": is_hidden(agent),
        "rules": rules,
    })
}

fn is_hidden(agent: &ProfileDefinition) -> bool {
    agent.visibility == ProfileVisibility::Hidden
}

/// Returns every rule of an agent with its origin; rules of a repository that is not trusted come last.
fn rules_with_origins(
    agent: &ProfileDefinition,
    permissions: &EffectivePermissions,
) -> Vec<(String, String)> {
    let rules = permissions.rules(&agent.name);
    let all = rules.rules().iter().chain(rules.restrictions());
    all.map(|rule| (rule.to_string(), rule.origin.to_string()))
        .collect()
}
