//! What a CLI can do and how it differs from others, as data that its adapter gives and the rest of the program reads.
//!
//! A new difference between CLIs is a new field here. Nothing outside the adapters asks which CLI it is.

use super::cli_capabilities::CliProbe;
use crate::permission::profile_registry::FileReadMethod;

/// What the CLI of an adapter can do, and how it differs from others.
#[derive(Debug)]
pub struct AdapterTraits {
    /// The CLI's name in texts for the user, and the name of its kind in the configuration.
    pub cli_name: &'static str,
    /// The vendor of the CLI's models; `None` if it can be any. Prompts say that another vendor's model reviews.
    pub model_vendor: Option<&'static str>,
    /// Whether its agent can call this program's tools.
    pub tools: ToolSupport,
    /// The CLI's own tools that its agents must not have here.
    pub removed_tools: &'static [&'static str],
    /// How its agent reads files; an agent that may read needs the commands for it.
    pub file_reads: FileReadMethod,
    /// Whether the adapter reports the calls of the agent; changes that no reported call explains are asked about.
    pub call_reports: CallReports,
    /// Who sandboxes its agents. A role whose adapter hits a usage limit does not move to one that nobody sandboxes.
    pub sandbox: AgentSandbox,
    /// The bubblewrap that the CLI's package contains, used where the system has none.
    pub bundled_bubblewrap: Option<BundledBubblewrap>,
    /// Formats the output with which this program's hook command denies a call, with the reason; `None` if the CLI
    /// runs no hook command before each tool call of its agent.
    pub hook_denial: Option<fn(&str) -> String>,
    /// How to find out whether the CLI can be used.
    pub probe: CliProbe,
    /// Environment variables that change how the CLI behaves; `doctor` says which are set, never their values.
    pub reported_variables: &'static [&'static str],
    /// The files in a repository's root that its agents obey; an approval is bound to them.
    pub rule_files: &'static [&'static str],
    /// Returns the whole output of the tool call with this id if this line of the CLI ends it.
    pub parse_tool_output: fn(call: &str, line: &str) -> Option<String>,
    /// Returns what a command printed, from the output that the CLI reports for its call.
    pub command_output: fn(&str) -> &str,
}

/// Whether a CLI's agent can call this program's tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolSupport {
    NoTools,
    /// Through an MCP server that the CLI starts.
    Mcp(ToolCallerId),
}

/// Whether a call of a tool names the conversation that makes it, so that calls of the CLI's sub-agents can be told
/// from those of the session's own agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolCallerId {
    /// Always; a call without it is not the session's own.
    Required,
    /// Not always: the CLI's sub-agents cannot reach the tools.
    Optional,
}

/// Whether an adapter reports the calls of its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallReports {
    All,
    /// Only the answer is known.
    NoCalls,
}

/// Who sandboxes a CLI's agents. [`super::LaunchSpec::sandbox`] agrees with it.
#[derive(Debug)]
pub enum AgentSandbox {
    /// The CLI, with its own sandbox around each call.
    Cli {
        description: SandboxDescription,
        /// The user's files with rules that let commands leave that sandbox without asking.
        escape_rules: Option<EscapeRuleFiles>,
    },
    /// This program, around the whole process, where the system has bubblewrap.
    AgentCollab,
    /// Nobody: it is not known which files the program needs for itself.
    NoSandbox(SandboxDescription),
}

/// What limits an agent, as `doctor` and `status` say it.
#[derive(Debug)]
pub struct SandboxDescription {
    /// What the kernel enforces.
    pub by_kernel: &'static str,
    /// What only the protocol enforces.
    pub by_protocol: &'static str,
    /// What an agent can write and reach, in one short sentence for the Status tab.
    pub summary: &'static str,
}

/// Where a CLI's rules files are, and how they are read.
#[derive(Debug)]
pub struct EscapeRuleFiles {
    /// The environment variable that names the CLI's own folder.
    pub folder_variable: &'static str,
    /// That folder in the user's home, if the variable is not set.
    pub default_path_in_home: &'static str,
    /// The folder of the rules files in it.
    pub rules_folder: &'static str,
    /// The extension of a rules file, without a dot.
    pub extension: &'static str,
    /// Lists the rules of a file that let commands out of the sandbox, in file order.
    pub parse: fn(&str) -> Vec<SandboxEscapeRule>,
}

/// A rule that makes a CLI run commands outside of its sandbox without asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxEscapeRule {
    /// The line where the rule starts, from 1.
    pub line: usize,
    /// The words that a command must start with, as far as the file spells them out.
    pub pattern_words: Vec<String>,
    /// The possible first words; empty if they are not known.
    pub first_words: Vec<String>,
}

impl SandboxEscapeRule {
    /// Returns whether a rule may let a part of this command out; never false for a rule that does.
    pub fn may_apply_to(&self, command: &str) -> bool {
        // Quotes and backslashes in a word change nothing for a shell.
        let plain: String = command
            .chars()
            .filter(|character| !"'\"\\".contains(*character))
            .collect();
        self.first_words.is_empty() || self.first_words.iter().any(|first| plain.contains(first))
    }
}

/// Where npm puts the bubblewrap of a CLI's package.
#[derive(Debug)]
pub struct BundledBubblewrap {
    /// The scope of the packages, such as `@vendor`.
    pub npm_scope: &'static str,
    /// The program's path beside the native program of the CLI.
    pub relative_path: &'static str,
}

impl AdapterTraits {
    /// Returns whether something limits what a turn can write.
    pub fn is_sandboxed(&self) -> bool {
        !matches!(self.sandbox, AgentSandbox::NoSandbox(_))
    }

    /// Returns whether this program has to sandbox the CLI's process.
    pub fn needs_our_sandbox(&self) -> bool {
        matches!(self.sandbox, AgentSandbox::AgentCollab)
    }
}
