//! `agent-collab tools`: what tools of the program's an agent has, and what becomes of a call.
//!
//! Refuses to start anything. The descriptions are the ones that agents read.

use std::io::{self, Write};

use clap::Args;
use serde_json::{Value, json};

use super::run::ModeArg;
use crate::app::start::Refusal;
use crate::cli::ChoiceArgs;
use crate::cli::agents::unknown;
use crate::cli::checkout::Checkout;
use crate::config::permissions::{Allowing, Permissions};
use crate::config::problem::visible;
use crate::domain::tool::{Standing, hidden, when};
use crate::mcp::{Seen, TOOLS, Tool};
use crate::permission::{
    Action, AgentMode, Call, Context, Lineage, Mode, PhaseAccess, Profile, decide,
};

/// Arguments of `agent-collab tools`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Agents of codex and claude reach these tools through a server that their CLI starts; each call is decided like \
                  every other. A tool that an agent's rules deny altogether is not offered to it.\n\n\
                  Examples:\n  agent-collab tools --agent review\n  agent-collab tools --agent build --mode plan --json"
)]
pub struct ToolsArgs {
    /// The agent; by default the planner's, `plan`
    #[arg(long, value_name = "NAME", default_value = "plan")]
    pub agent: String,
    /// How much it does without asking
    #[arg(long, value_enum, default_value = "default")]
    pub mode: ModeArg,
    /// Prints JSON, with descriptions and schemas
    #[arg(long)]
    pub json: bool,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ChoiceArgs,
}

/// One tool as it is to an agent.
struct Told {
    tool: &'static Tool,
    /// What becomes of a call; nothing where the tool is not offered.
    action: Option<Action>,
    /// Why it is not offered, or when it is.
    why: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// The configuration has problems, or there is no such agent.
pub async fn run(args: ToolsArgs) -> Result<u8, Refusal> {
    let Checkout { root, loaded, .. } = Checkout::find(&args.choices).await?;
    let permissions = Permissions::of(&loaded.config, Allowing::Everybody);
    let agent = permissions.profiles.find(&args.agent).map_err(unknown)?;
    let context = context(agent, &permissions, &root, args.mode.into());
    let seen = seen(&permissions, &context);
    let told: Vec<Told> = TOOLS
        .iter()
        .map(|tool| tell(tool, &context, &seen))
        .collect();
    let text = match args.json {
        true => {
            let tools = told.iter().map(|told| as_json(told, &seen));
            format!("{}\n", Value::Array(tools.collect()))
        }
        false => {
            let widest = TOOLS.iter().map(|tool| tool.name.len()).max().unwrap_or(0);
            told.iter().map(|told| in_a_line(told, widest)).collect()
        }
    };
    Ok(crate::cli::printed(
        io::stdout().write_all(text.as_bytes()),
        0,
    ))
}

fn context(
    agent: &Profile,
    permissions: &Permissions,
    root: &std::path::Path,
    mode: Mode,
) -> Context {
    let access = match agent.name.as_str() {
        "build" => PhaseAccess::Execute,
        _ => PhaseAccess::BeforeExecute,
    };
    Context {
        mode,
        lineage: match agent.mode {
            AgentMode::Subagent => permissions.of_a_child(),
            AgentMode::Primary | AgentMode::All => Lineage::Role,
        },
        ..permissions.context(&agent.name, access, root)
    }
}

/// The agents that it may give tasks to, and have discuss.
fn seen(permissions: &Permissions, context: &Context) -> Seen {
    let by = |tool: &str| {
        let agents = permissions.profiles.offered(AgentMode::Subagent);
        agents
            .filter(|agent| {
                let input = json!({ "agent": agent.name });
                action(tool, &input, context) != Action::Deny
            })
            .map(|agent| (agent.name.clone(), agent.description.clone()))
            .collect()
    };
    Seen {
        agents: by("task"),
        participants: by("group_discuss"),
    }
}

fn action(tool: &str, input: &Value, context: &Context) -> Action {
    let call = Call::Tool {
        name: tool.to_owned(),
        input: input.to_string(),
    };
    decide(&call, context).action
}

fn tell(tool: &'static Tool, context: &Context, seen: &Seen) -> Told {
    let depth = u32::from(context.lineage != Lineage::Role);
    let standing = Standing {
        purpose: None,
        depth,
        rules: &context.rules,
    };
    // The turn is not known here: when a tool is there only in some, that is said instead.
    let when = when(tool.name);
    let hidden =
        hidden(tool.name, &standing).filter(|why| !when.is_some_and(|when| why.ends_with(when)));
    if let Some(why) = hidden {
        return Told {
            tool,
            action: None,
            why: Some(why),
        };
    }
    // A task is decided by the agent that it is for.
    let agents: Vec<&str> = seen.agents.iter().map(|(name, _)| name.as_str()).collect();
    let (input, for_agents) = match (tool.name, agents.first()) {
        ("task", Some(agent)) => (
            json!({ "agent": agent }),
            Some(format!("for {}", agents.join(", "))),
        ),
        _ => (json!({}), None),
    };
    Told {
        tool,
        action: Some(action(tool.name, &input, context)),
        why: when.map(str::to_owned).or(for_agents),
    }
}

fn word(action: Option<Action>) -> &'static str {
    match action {
        Some(Action::Allow) => "allow",
        Some(Action::Ask) => "ask",
        Some(Action::Deny) => "deny",
        None => "hidden",
    }
}

fn in_a_line(told: &Told, widest: usize) -> String {
    let why = told.why.as_deref().map(visible).unwrap_or_default();
    let name = told.tool.name;
    let line = format!("{name:<widest$} {:<7} {why}", word(told.action));
    format!("{}\n", line.trim_end())
}

fn as_json(told: &Told, seen: &Seen) -> Value {
    let offered = told.tool.offered(seen);
    json!({
        "name": offered.name,
        "decision": word(told.action),
        "why": told.why,
        "description": offered.description,
        "schema": offered.schema,
    })
}
