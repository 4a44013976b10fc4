//! What claude can do: its tools, its sandbox, its probe.

use super::{launch_arguments, tool_inputs, version_check};
use crate::adapter::cli_capabilities::CliProbe;
use crate::adapter::{AdapterTraits, AgentSandbox, CallReports, ToolCallerId, ToolSupport};
use crate::permission::profile_registry::FileReadMethod;

pub(super) static TRAITS: AdapterTraits = AdapterTraits {
    cli_name: "claude",
    model_vendor: Some("Anthropic"),
    tools: ToolSupport::Mcp(ToolCallerId::Optional),
    removed_tools: launch_arguments::REMOVED_TOOLS,
    file_reads: FileReadMethod::ReadTools,
    call_reports: CallReports::All,
    sandbox: AgentSandbox::AgentCollab,
    bundled_bubblewrap: None,
    // claude asks its hook over the control channel, not through a hook process.
    hook_denial: None,
    probe: CliProbe::Version(version_check::VERSION_PROBE),
    reported_variables: &[
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
    ],
    rule_files: &[
        "CLAUDE.md",
        "CLAUDE.local.md",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".mcp.json",
    ],
    parse_tool_output: super::parse_tool_output,
    command_output: tool_inputs::command_output,
};
