//! Builds the launch of `codex app-server` and the parameters of our requests to it.

use serde_json::{Value, json};

use super::{pre_tool_use_hook, sandbox_profile};
use crate::adapter::{
    CliProcessLifetime, LaunchSpec, RepositoryTrust, SandboxProvider, SessionSpec, ToolServerSpec,
    TurnAccess, TurnSpec,
};
use crate::domain::own_tool::TOOL_SERVER_NAME;
use crate::domain::tool_availability::describe_tool_turns;

/// The longest prompt that codex accepts, in characters.
pub(super) const MAX_PROMPT_CHARS: usize = 1_048_576;

/// The only approval policy that we use: under `untrusted` an accepted command leaves the sandbox.
pub(super) const APPROVAL_POLICY: &str = "on-request";

/// Who decides approvals: the user, never codex's own reviewing model.
pub(super) const APPROVALS_REVIEWER: &str = "user";

/// Whether codex has its own web search. Codex searches without asking, so an agent without the permission gets no
/// search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum WebSearchPolicy {
    /// As in the user's own configuration of codex.
    #[default]
    AsConfigured,
    /// The tool is left out.
    Disabled,
}

/// Returns whether the agent of a turn may search the web.
pub(super) fn web_search_policy(turn: &TurnSpec) -> WebSearchPolicy {
    if turn
        .hidden_permissions
        .iter()
        .any(|hidden| hidden == "websearch")
    {
        WebSearchPolicy::Disabled
    } else {
        WebSearchPolicy::AsConfigured
    }
}

/// Returns this program's tools that the agent of a turn does not have, as far as they depend on the turn.
pub(super) fn missing_tools(turn: &TurnSpec) -> Vec<String> {
    let of_turns = turn
        .hidden_permissions
        .iter()
        .filter(|tool| describe_tool_turns(tool).is_some());
    of_turns.cloned().collect()
}

/// Builds the launch of the app server. The user's own arguments come first, so that ours win.
pub(super) fn build_launch(session: &SessionSpec, search: WebSearchPolicy) -> LaunchSpec {
    let ours = [
        // With this, an unreachable server fails the turn after the configured retries; without it, the turn never
        // fails.
        "-c",
        "features.unbounded_connection_retries=false",
        // AGENTS.md reaches the agent only through our prompts, as marked data of a trusted repository.
        "-c",
        "project_doc_max_bytes=0",
        // Codex's own goals would start turns that the user did not release.
        "-c",
        "features.goals=false",
        // Codex's own agents are outside of this program's tasks; models that have them anyway are denied.
        "-c",
        "features.multi_agent=false",
        "-c",
        "features.multi_agent_v2=false",
        "app-server",
    ];
    let mut args = session.cli.args.clone();
    let hook = session
        .hook_command
        .iter()
        .flat_map(|command| pre_tool_use_hook::hook_arguments(command));
    let search: &[&str] = match search {
        WebSearchPolicy::AsConfigured => &[],
        WebSearchPolicy::Disabled => &["-c", "web_search=\"disabled\""],
    };
    args.extend(hook);
    args.extend(sandbox_profile::profile_arguments(session));
    args.extend(search.iter().copied().chain(ours).map(str::to_owned));
    LaunchSpec {
        program: session.cli.program.clone(),
        args,
        env: session.cli.env.clone(),
        env_remove: Vec::new(),
        cwd: session.cwd.clone(),
        lifetime: CliProcessLifetime::Session,
        sandbox: SandboxProvider::Cli,
    }
}

/// Builds the parameters of `initialize`.
pub(super) fn initialize_params() -> Value {
    json!({
        "clientInfo": {
            "name": "agent-collab",
            "title": "agent-collab",
            "version": env!("CARGO_PKG_VERSION"),
        },
        // The method that ends background commands is experimental.
        "capabilities": { "experimentalApi": true },
    })
}

/// Builds the parameters of `thread/start`.
pub(super) fn thread_start_params(session: &SessionSpec) -> Value {
    thread_params(session)
}

/// Builds the parameters of `thread/resume`.
pub(super) fn thread_resume_params(session: &SessionSpec, thread_id: &str) -> Value {
    let mut params = thread_params(session);
    params["threadId"] = json!(thread_id);
    params["excludeTurns"] = json!(true);
    params
}

/// Builds the common parameters of a thread. A thread is always opened read-only: the turn brings its own write
/// access, and a thread opened for writing makes codex mark the repository as trusted in the user's own configuration.
fn thread_params(session: &SessionSpec) -> Value {
    let mut params = json!({
        "cwd": session.cwd,
        "approvalPolicy": APPROVAL_POLICY,
        "approvalsReviewer": APPROVALS_REVIEWER,
        "permissions": sandbox_profile::profile_name(TurnAccess::ReadOnly),
        "config": thread_config(session),
    });
    if let Some(model) = &session.cli.model {
        params["model"] = json!(model);
    }
    params
}

/// Stops a repository that the user does not trust from configuring codex (MCP servers, hooks, rules) and from
/// instructing the agent through the descriptions of its skills. For a trusted repository codex's own settings apply;
/// this program never says `trusted` on the user's behalf.
fn thread_config(session: &SessionSpec) -> Value {
    let mut config = match session.trust {
        RepositoryTrust::Trusted => json!({}),
        RepositoryTrust::Untrusted => json!({
            "projects": { session.cwd.to_string_lossy(): { "trust_level": "untrusted" } },
            "skills": { "include_instructions": false },
        }),
    };
    if let Some(server) = &session.tool_server {
        config["mcp_servers"] = json!({ TOOL_SERVER_NAME: mcp_server_config(server) });
    }
    config
}

/// Describes this program's tool server. It is required, because codex would continue without one that is slow to
/// start. Codex asks no approval for its calls, because each call is decided when it arrives.
fn mcp_server_config(server: &ToolServerSpec) -> Value {
    json!({
        "command": server.program,
        "args": server.args,
        "required": true,
        "default_tools_approval_mode": "approve",
        "startup_timeout_sec": 60,
        "tool_timeout_sec": server.timeout_seconds,
    })
}

/// Builds the parameters of `turn/start`; one process serves turns of either access.
pub(super) fn turn_start_params(
    session: &SessionSpec,
    thread_id: &str,
    prompt: &str,
    access: TurnAccess,
) -> Value {
    json!({
        "threadId": thread_id,
        "input": [{ "type": "text", "text": prompt }],
        "cwd": session.cwd,
        "approvalPolicy": APPROVAL_POLICY,
        "approvalsReviewer": APPROVALS_REVIEWER,
        "permissions": sandbox_profile::profile_name(access),
    })
}
