//! How `codex app-server` is started and what is said to it: arguments and request parameters.
//!
//! Refuses to know what comes back.

use serde_json::{Value, json};

use super::{pre_tool_use_hook, sandbox_profile};
use crate::adapter::{
    CliProcessLifetime, LaunchSpec, RepositoryTrust, SandboxProvider, SessionSpec, ToolServerSpec,
    TurnAccess, TurnSpec,
};
use crate::domain::tool_availability::{TOOL_SERVER_NAME, describe_tool_turns};

/// The longest prompt that codex takes, in characters.
pub(super) const MAX_PROMPT_CHARS: usize = 1_048_576;

/// The only approval policy that is ever asked for: under `untrusted` an accepted command leaves the sandbox.
pub(super) const APPROVAL_POLICY: &str = "on-request";

/// Who decides approvals: never codex's own reviewing model.
pub(super) const APPROVALS_REVIEWER: &str = "user";

/// Whether codex has its own search of the web. It asks nobody before it searches, so that who may not has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum WebSearchPolicy {
    /// As the user's configuration of codex says.
    #[default]
    AsConfigured,
    /// It is left out.
    Disabled,
}

/// Tells whether the agent of a turn may search the web.
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

/// The tools of the program's that the agent of a turn does not have, where that changes with the turn.
pub(super) fn missing_tools(turn: &TurnSpec) -> Vec<String> {
    let of_turns = turn
        .hidden_permissions
        .iter()
        .filter(|tool| describe_tool_turns(tool).is_some());
    of_turns.cloned().collect()
}

/// Describes how to start the app server. The user's own arguments come first, so that ours win.
pub(super) fn build_launch(session: &SessionSpec, search: WebSearchPolicy) -> LaunchSpec {
    let ours = [
        // A server that cannot be reached fails the turn after the configured retries instead of never.
        "-c",
        "features.unbounded_connection_retries=false",
        // AGENTS.md reaches the agent only through our prompts, as marked data of a trusted repository.
        "-c",
        "project_doc_max_bytes=0",
        // Goals of codex's own would begin turns that nobody released.
        "-c",
        "features.goals=false",
        // Agents of codex's own are outside of this program's tasks; models that have them all the same are refused.
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

/// Builds the parameters of `initialize_params`.
pub(super) fn initialize_params() -> Value {
    json!({
        "clientInfo": {
            "name": "agent-collab",
            "title": "agent-collab",
            "version": env!("CARGO_PKG_VERSION"),
        },
        // Ending background commands is an experimental method.
        "capabilities": { "experimentalApi": true },
    })
}

/// Builds the parameters of `thread_params/start`.
pub(super) fn thread_start_params(session: &SessionSpec) -> Value {
    thread_params(session)
}

/// Builds the parameters of `thread_params/resume`.
pub(super) fn thread_resume_params(session: &SessionSpec, thread_id: &str) -> Value {
    let mut params = thread_params(session);
    params["threadId"] = json!(thread_id);
    params["excludeTurns"] = json!(true);
    params
}

/// A thread is always opened read-only: what a turn may write comes with the turn, and a thread that is opened to
/// write makes codex mark the repository as trusted in the user's own configuration.
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

/// Keeps a repository that the user does not trust from configuring codex (MCP servers, hooks,
/// rules) and from instructing the agent by the descriptions of its skills. For a trusted one
/// codex's own settings hold; `trusted` is never said on the user's behalf.
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

/// The server of the program's tools. Required, because codex would go on without one that is slow to start; it asks
/// nobody about their calls, since each is decided when it comes.
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

/// Builds the parameters of `turn/start`; the same process serves turns of either access.
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
