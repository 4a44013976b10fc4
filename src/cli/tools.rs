//! `agent-collab tools`: lists the program's tools that an agent has, and how a call is decided.
//!
//! Starts nothing. The descriptions are those that agents read.

use clap::Args;
use serde_json::{Value, json};

use super::run::RunModeFlag;
use crate::app::startup::StartError;
use crate::cli::ConfigFlagArguments;
use crate::cli::agents::unknown_agent_error;
use crate::cli::cli_context::CliContext;
use crate::config::diagnostic::escape_control_chars;
use crate::config::effective_permissions::{AllowAuthority, EffectivePermissions};
use crate::domain::tool_availability::{ToolContext, describe_tool_turns, hidden_reason};
use crate::domain::turn::TurnProfile;
use crate::mcp::{TOOLS, ToolDefinition, VisibleAgents};
use crate::permission::{
    AgentMode, AgentToolCall, DecisionContext, Mode, PermissionAction, PhaseAccess,
    ProfileDefinition, SessionLineage, decide_call,
};

/// Arguments of `agent-collab tools`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "codex and claude call these tools through a server that their CLI starts. Each call is decided like \
                  any other. A tool that an agent's rules always deny is not offered to it.\n\n\
                  Examples:\n  agent-collab tools --agent review\n  agent-collab tools --agent build --mode plan --json"
)]
pub struct ToolsArguments {
    /// The agent [default: the planner's, `plan`]
    #[arg(long, value_name = "NAME", default_value = "plan")]
    pub agent: String,
    /// How much the agent can do without asking
    #[arg(long, value_enum, default_value = "default")]
    pub mode: RunModeFlag,
    /// Print JSON, with descriptions and schemas
    #[arg(long)]
    pub json: bool,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// A tool from an agent's point of view.
struct ToolAvailability {
    tool: &'static ToolDefinition,
    /// The decision for a call; `None` if the tool is not offered.
    action: Option<PermissionAction>,
    /// Why it is not offered, or when it is.
    why: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// The configuration has problems, or there is no such agent.
pub async fn run(args: ToolsArguments) -> Result<u8, StartError> {
    let CliContext { root, loaded, .. } = CliContext::load(&args.choices).await?;
    let permissions = EffectivePermissions::from_config(&loaded.config, AllowAuthority::Everybody);
    let agent = permissions
        .profiles
        .find_by_name(&args.agent)
        .map_err(unknown_agent_error)?;
    let context = build_context(agent, &permissions, &root, args.mode.into());
    let seen = visible_agents(&permissions, &context);
    let told: Vec<ToolAvailability> = TOOLS
        .iter()
        .map(|tool| tool_availability(tool, &context, &seen))
        .collect();
    let text = if args.json {
        let tools = told.iter().map(|told| tool_to_json(told, &seen));
        format!("{}\n", Value::Array(tools.collect()))
    } else {
        let widest = TOOLS.iter().map(|tool| tool.name.len()).max().unwrap_or(0);
        told.iter()
            .map(|told| format_summary(told, widest))
            .collect()
    };
    Ok(crate::cli::print_output(&text))
}

fn build_context(
    agent: &ProfileDefinition,
    permissions: &EffectivePermissions,
    root: &std::path::Path,
    mode: Mode,
) -> DecisionContext {
    let access = if agent.name == TurnProfile::Build.name() {
        PhaseAccess::Execute
    } else {
        PhaseAccess::BeforeExecute
    };
    DecisionContext {
        mode,
        lineage: match agent.mode {
            AgentMode::Subagent => permissions.child_lineage(),
            AgentMode::Primary | AgentMode::All => SessionLineage::Role,
        },
        ..permissions.decision_context(&agent.name, access, root)
    }
}

/// Returns the agents to which it may give tasks, and those that it may let discuss.
fn visible_agents(permissions: &EffectivePermissions, context: &DecisionContext) -> VisibleAgents {
    let by = |tool: &str| {
        let agents = permissions.profiles.iter_offered(AgentMode::Subagent);
        agents
            .filter(|agent| {
                let input = json!({ "agent": agent.name });
                decide_action(tool, &input, context) != PermissionAction::Deny
            })
            .map(|agent| (agent.name.clone(), agent.description.clone()))
            .collect()
    };
    VisibleAgents {
        task_agents: by("task"),
        discussion_agents: by("group_discuss"),
    }
}

fn decide_action(tool: &str, input: &Value, context: &DecisionContext) -> PermissionAction {
    let call = AgentToolCall::Tool {
        name: tool.to_owned(),
        input: input.to_string(),
    };
    decide_call(&call, context).action
}

fn tool_availability(
    tool: &'static ToolDefinition,
    context: &DecisionContext,
    seen: &VisibleAgents,
) -> ToolAvailability {
    let depth = u32::from(context.lineage != SessionLineage::Role);
    let standing = ToolContext {
        purpose: None,
        depth,
        rules: &context.rules,
    };
    // The turn is unknown here, so a tool that only some turns have is shown with these turns.
    let when = describe_tool_turns(tool.name);
    let hidden = hidden_reason(tool.name, &standing)
        .filter(|why| !when.is_some_and(|when| why.ends_with(when)));
    if let Some(why) = hidden {
        return ToolAvailability {
            tool,
            action: None,
            why: Some(why),
        };
    }
    // The decision for a task depends on the agent that gets it.
    let agents: Vec<&str> = seen
        .task_agents
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let (input, for_agents) = match (tool.name, agents.first()) {
        ("task", Some(agent)) => (
            json!({ "agent": agent }),
            Some(format!("for {}", agents.join(", "))),
        ),
        _ => (json!({}), None),
    };
    ToolAvailability {
        tool,
        action: Some(decide_action(tool.name, &input, context)),
        why: when.map(str::to_owned).or(for_agents),
    }
}

fn action_label(action: Option<PermissionAction>) -> &'static str {
    match action {
        Some(PermissionAction::Allow) => "allow",
        Some(PermissionAction::Ask) => "ask",
        Some(PermissionAction::Deny) => "deny",
        None => "hidden",
    }
}

fn format_summary(told: &ToolAvailability, widest: usize) -> String {
    let why = told
        .why
        .as_deref()
        .map(escape_control_chars)
        .unwrap_or_default();
    let name = told.tool.name;
    let line = format!("{name:<widest$} {:<7} {why}", action_label(told.action));
    format!("{}\n", line.trim_end())
}

fn tool_to_json(told: &ToolAvailability, seen: &VisibleAgents) -> Value {
    let offered = told.tool.to_offered_tool(seen);
    json!({
        "name": offered.name,
        "decision": action_label(told.action),
        "why": told.why,
        "description": offered.description,
        "schema": offered.schema,
    })
}
