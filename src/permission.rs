//! Decides what an agent may do: a tool call goes in, a decision comes out.
//!
//! Pure: paths arrive resolved, and nothing here reads the disk, the clock or the environment.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub mod approval_suggestions;
pub mod call_reads;
pub mod command_safety;
pub mod command_segments;
pub mod decision;
pub mod decision_context;
mod embedded_table;
pub mod hard_limits;
pub mod lexical_path;
pub mod loop_detector;
pub mod permission_mode;
pub mod profile_registry;
pub mod read_only_prover;
pub mod required_permissions;
pub mod rule;
mod rule_evaluation;
pub mod rule_explanation;
pub mod rule_layers;
pub mod rule_lint;
mod sandbox_escape;
pub mod shell;
pub mod standalone_evaluation;
pub mod step_scope;
pub mod stored_approval;
pub mod tool_names;
pub mod uncontained_commands;
pub mod wildcard;
mod word_list;

pub use decision::{
    Decision, DecisionReason, DecisionSource, DecisionStep, PermissionRequest, PermissionTarget,
    TASK_CHANGES, decide_call,
};
pub use decision_context::{
    DecisionContext, LoopStatus, PhaseAccess, ResolvedPath, SessionLineage,
};
pub use permission_mode::Mode;
pub use profile_registry::{AgentMode, ProfileDefinition, ProfileRegistry};
pub use read_only_prover::{ReadOnlyRefusal, prove_read_only};
pub use rule::{PermissionAction, Rule, RuleLayer, RuleOrigin};
pub use rule_layers::RuleSet;
pub use step_scope::ScopePolicy;
pub use stored_approval::{ApprovalMatcher, ApprovalScope, MaxApprovalScope, StoredApproval};
pub use uncontained_commands::UncontainedCommandPolicy;

/// Something that an agent wants to do and that its CLI asks about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AgentToolCall {
    /// Runs a shell command line.
    Command {
        /// The line as the CLI shows it, without the CLI's own `bash -c '…'` wrapper.
        line: String,
        /// The folder that it would run in.
        cwd: PathBuf,
        /// How the command is sandboxed when it runs.
        reach: SandboxReach,
    },
    /// Creates, changes, moves or deletes files.
    Edit {
        /// Every path touched, as the CLI named it (absolute or relative to its working directory);
        /// empty when the CLI named none.
        paths: Vec<PathBuf>,
        /// How the edit is sandboxed when it is made.
        reach: SandboxReach,
    },
    /// Reads outside what the CLI reads without asking.
    Read {
        paths: Vec<PathBuf>,
        /// How the folders among them are searched; `None`: only their names are listed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        search: Option<call_reads::SearchScope>,
    },
    /// Calls any other tool, MCP tools included.
    Tool {
        /// The tool's name as the CLI sends it.
        name: String,
        /// The tool's input as JSON text.
        input: String,
    },
}

/// How a call is sandboxed once it is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxReach {
    /// The CLI's sandbox is lifted for this call: codex asks only to leave its sandbox.
    LeavesSandbox,
    /// One of the CLI's own rules lets the command out of its sandbox without asking.
    LetOut,
    /// No sandbox at all: the CLI has none of its own, and the system cannot put one around it.
    Unconfined,
    /// The kernel limits it to what its turn may write: codex's sandbox, or the sandbox around claude.
    Contained,
}
