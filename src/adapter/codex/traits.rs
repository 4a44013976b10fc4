//! What codex can do: its sandbox, its rules files, its hook, its probe.

use super::{execpolicy_rules, pre_tool_use_hook, version_check};
use crate::adapter::cli_capabilities::CliProbe;
use crate::adapter::{
    AdapterTraits, AgentSandbox, BundledBubblewrap, CallReports, EscapeRuleFiles,
    SandboxDescription, ToolCallerId, ToolSupport,
};
use crate::permission::profile_registry::FileReadMethod;

pub(super) static TRAITS: AdapterTraits = AdapterTraits {
    cli_name: "codex",
    model_vendor: Some("OpenAI"),
    // A sub-agent of codex has the same tools, and a conversation of its own.
    tools: ToolSupport::Mcp(ToolCallerId::Required),
    removed_tools: &[],
    file_reads: FileReadMethod::CommandsOnly,
    call_reports: CallReports::All,
    sandbox: AgentSandbox::Cli {
        description: SandboxDescription {
            by_kernel: "codex's own sandbox: read-only until Execute, then this repository, without .git, .agent-collab or network",
            by_protocol: "patches, MCP tools, commands outside the sandbox",
            summary: "writes this repository only during Execute, without .git; no network",
        },
        escape_rules: Some(EscapeRuleFiles {
            folder_variable: "CODEX_HOME",
            default_path_in_home: ".codex",
            rules_folder: "rules",
            extension: "rules",
            parse: execpolicy_rules::parse_sandbox_escape_rules,
        }),
    },
    bundled_bubblewrap: Some(BundledBubblewrap {
        npm_scope: "@openai",
        relative_path: "codex-resources/bwrap",
    }),
    hook_denial: Some(pre_tool_use_hook::format_hook_denial),
    probe: CliProbe::Version(version_check::VERSION_PROBE),
    reported_variables: &["OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_HOME"],
    rule_files: &["AGENTS.md", "AGENTS.override.md", ".codex/config.toml"],
    parse_tool_output: super::parse_tool_output,
    command_output: |output| output,
};
