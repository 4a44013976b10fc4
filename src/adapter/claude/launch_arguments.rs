//! Builds the arguments and the environment of a `claude` process for one session and access.
//!
//! It does not read the user's own settings; it overrides them.

use std::collections::BTreeMap;

use serde_json::json;

use super::config_folder;
use super::tool_inputs::QUESTION_TOOL;
use crate::adapter::{
    CliProcessLifetime, LaunchSpec, SandboxProvider, SessionSpec, ToolServerSpec, TurnAccess,
    TurnSpec,
};
use crate::domain::own_tool::TOOL_SERVER_NAME;
use crate::permission::tool_names::permission_for_tool;

/// Settings that override the user's: each tool that changes something asks, whatever the user's allow rules say.
const SETTINGS_OVERRIDE: &str = concat!(
    r#"{"useAutoModeDuringPlan":false,"#,
    r#""sandbox":{"autoAllowBashIfSandboxed":false},"#,
    r#""permissions":{"ask":["Bash","Write","Edit","MultiEdit","NotebookEdit","WebFetch","WebSearch"]}}"#
);

/// The tools before EXECUTE; Write and Edit are there for the staging file only.
const READ_ONLY_TOOLS: &[&str] = &[
    "Bash",
    "Read",
    "Grep",
    "Glob",
    "Write",
    "Edit",
    QUESTION_TOOL,
];

/// The tools in EXECUTE.
const WORKSPACE_TOOLS: &[&str] = &[
    "Bash",
    "Read",
    "Grep",
    "Glob",
    "Write",
    "Edit",
    "NotebookEdit",
    "WebFetch",
    "WebSearch",
    QUESTION_TOOL,
];

/// Tools that would act out of sight (agents, timers, watchers, worktrees), open the CLI's own screens
/// (plans, findings) or run text as commands (skills). The lists above leave them out already; this list denies
/// them even if they appear in another way, because a deny beats every allow rule.
pub(super) const REMOVED_TOOLS: &[&str] = &[
    "Agent",
    "Task",
    "TaskStop",
    "TaskOutput",
    "SendMessage",
    "ListAgents",
    "Workflow",
    "ScheduleWakeup",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Monitor",
    "RemoteTrigger",
    "PushNotification",
    "EnterWorktree",
    "ExitWorktree",
    "EnterPlanMode",
    "ExitPlanMode",
    "ReportFindings",
    "Skill",
];

/// The conversation that a process opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaudeConversation {
    /// A new one under this id.
    New(String),
    /// An existing one with this id.
    Resumed(String),
}

/// Builds the launch of a process for `conversation` that can serve `turn`.
pub fn build_launch(
    session: &SessionSpec,
    conversation: &ClaudeConversation,
    turn: &TurnSpec,
) -> LaunchSpec {
    let mut args = session.cli.args.clone();
    args.extend(PROTOCOL_ARGS.iter().map(|&arg| arg.to_owned()));
    args.push(format!("--disallowedTools={}", REMOVED_TOOLS.join(",")));
    match conversation {
        ClaudeConversation::New(id) => args.extend(["--session-id".to_owned(), id.clone()]),
        ClaudeConversation::Resumed(id) => args.extend(["--resume".to_owned(), id.clone()]),
    }
    args.push(format!("--tools={}", offered_tools(turn)));
    if let Some(server) = &session.tool_server {
        args.extend(["--mcp-config".to_owned(), mcp_config(server)]);
        args.push(format!("--allowedTools=mcp__{TOOL_SERVER_NAME}"));
    }
    if let Some(model) = &session.cli.model {
        args.extend(["--model".to_owned(), model.clone()]);
    }
    LaunchSpec {
        program: session.cli.program.clone(),
        args,
        env: launch_environment(&session.cli.env),
        env_remove: vec!["CLAUDE_CODE_RESUME_INTERRUPTED_TURN".to_owned()],
        cwd: session.cwd.clone(),
        lifetime: CliProcessLifetime::Session,
        sandbox: SandboxProvider::AgentCollab(config_folder::claude_state_folder(&session.cwd)),
    }
}

/// Describes this program's tool server: all tools in each request, and a long timeout for their answers.
fn mcp_config(server: &ToolServerSpec) -> String {
    let server = json!({
        "type": "stdio",
        "command": server.program,
        "args": server.args,
        "alwaysLoad": true,
        "timeout": u64::from(server.timeout_seconds) * 1000,
    });
    json!({ "mcpServers": { TOOL_SERVER_NAME: server } }).to_string()
}

/// The arguments that never change. `--setting-sources user` leaves out the repository's settings, hooks, CLAUDE.md
/// and AGENTS.md (its own and those of the parent folders); `--strict-mcp-config` leaves out its servers.
const PROTOCOL_ARGS: &[&str] = &[
    "-p",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    "--replay-user-messages",
    "--permission-prompt-tool",
    "stdio",
    "--permission-mode",
    "default",
    "--setting-sources",
    "user",
    "--strict-mcp-config",
    "--system-prompt-snapshot",
    "off",
    "--settings",
    SETTINGS_OVERRIDE,
];

/// Returns the tools for the turn's access, without those that are hidden from its agent.
fn offered_tools(turn: &TurnSpec) -> String {
    let tools = match turn.access {
        TurnAccess::ReadOnly => READ_ONLY_TOOLS,
        TurnAccess::Workspace => WORKSPACE_TOOLS,
    };
    let is_offered = |tool: &&str| {
        let permission = permission_for_tool(tool);
        !turn
            .hidden_permissions
            .iter()
            .any(|hidden| hidden == permission)
    };
    let offered: Vec<&str> = tools.iter().copied().filter(is_offered).collect();
    offered.join(",")
}

/// Environment switches that are always set.
const ENV_SWITCHES: [&str; 2] = [
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
    "CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR",
];

/// Bounds the retries, unless the user set another bound. Background tasks would start turns of their own, and
/// a shell that keeps its folder would run a command in another folder than the one that was checked.
fn launch_environment(users: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut env = BTreeMap::from([("CLAUDE_CODE_MAX_RETRIES".to_owned(), "4".to_owned())]);
    env.extend(
        users
            .iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    env.extend(ENV_SWITCHES.map(|name| (name.to_owned(), "1".to_owned())));
    env
}
