//! Decides what an agent may do: a tool call goes in, a decision comes out.
//!
//! Pure: paths arrive resolved, and nothing here reads the disk, the clock or the environment.
//!
//! ```text
//!  AgentToolCall + DecisionContext
//!        │
//!        ▼  required_permissions: what the call needs, one check for each target
//!  ┌─ decide_call ─────────────────────────────────────────────────────────────────────────────────┐
//!  │ floors (hard_limits)    ──▶   rules (rule_layers)    ──▶   approvals    ──▶   mode            │──▶ Decision
//!  │ deny or ask; nothing          the last match of            turn an ask        turns an ask    │
//!  │ makes it milder               each check counts            into an allow      into an allow   │
//!  └────┬──────────────────────────────────────────────────────────────────────────────────────────┘
//!       │ of a command line
//!       ▼
//!  shell::analyze_script ──▶ every simple command that the text would run, and the doubts
//!       ├──▶ command_safety: safe, confirm or dangerous       ◀── command_safety/data/rules/*.toml
//!       ├──▶ read_only_prover: it only reads, or why not
//!       └──▶ approval_suggestions: what may be approved for more than one call
//!            shell and all three ask program_table            ◀── data/programs.toml
//! ```
//!
//! What lives where:
//!
//! - `decision`: the order above. `decision_context`: all that it depends on, which the caller collects.
//! - `hard_limits`: the floors; those with more than a few lines have files: `sandbox_escape`, `step_scope`,
//!   `uncontained_commands`. `permission_mode`, `stored_approval`: what may turn an ask into an allow.
//! - `rule`, `rule_layers`, `rule_evaluation`, `wildcard`, `profile_registry`: written rules and which of them counts;
//!   `rule_lint` and `rule_explanation` talk about them; `standalone_evaluation` decides by rules alone.
//! - `shell`: reads a text as bash would and follows it: wrappers, substitutions, functions, nested shells.
//! - `command_safety`: the guard. A rule is a row of `data/rules/` with its class, reason, patterns and an example; what a
//!   pattern cannot say is code, in a file for each family, which records the rule by its name.
//! - `read_only_prover`: an allow list of programs and options; `call_reads` applies the read rules to what is opened.
//! - `program_table`: what is known of a program, in its one row of `data/programs.toml`: its aliases and options, what it
//!   wraps, interprets, fetches, unpacks, writes or prints, with which options it only reads, how many of its words an
//!   approval keeps.
//!   What follows from a sub-command of one program is code, as in `git_commands`, `git_prover` and `shell::fan_out`.
//!
//! What goes wrong, and what prevents it:
//!
//! - A command hidden in another: in quotes, a wrapper, a variable, code. Nothing is searched in raw text; `shell` follows
//!   what can be followed and reports the rest as a doubt, which is at least confirmed. Limits count as doubts, too.
//! - A harmless command that looks alike is held back, and users learn to say yes. Each rule has a harmless neighbour in
//!   its row, and the cases in `command_safety/cases/` are half safe.
//! - A program that is known in one place and not in another. A fact is asked of the program's row, by a function of
//!   `program_table`; `match` on a program's name is for code that judges this one program.
//! - A table that cannot be read: a test reads every row. A rule that code names and no row has does not compile.
//! - A name in the wrong spelling: the guard looks programs up by their plain name (`normalize_program_name`: no folder,
//!   version or alias), the shell and the prover by the name that was written. A row's `aliases` serve the guard alone.
//! - An approval that covers more than the user saw: nothing that a floor holds back is stored, and no pattern is suggested
//!   for programs that run others.
//! - A start that waits: tables are parsed when the first command is judged.
//!
//! Recipes for a guard rule and for a program are in CONTRIBUTING.md.
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
mod floor_input;
pub mod hard_limits;
pub mod lexical_path;
pub mod loop_detector;
pub mod permission_mode;
pub mod profile_registry;
mod program_table;
pub mod read_checks;
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
mod step_scope;
pub mod stored_approval;
pub mod tool_names;
mod uncontained_commands;
pub mod wildcard;
mod word_list;

pub use decision::{
    Decision, DecisionReason, DecisionSource, DecisionStep, TASK_CHANGES, decide_call,
    known_or_none,
};
pub use decision_context::{
    DecisionContext, LoopStatus, PhaseAccess, ResolvedPath, ScopePolicy, SessionLineage,
    UncontainedCommandPolicy,
};
pub use permission_mode::Mode;
pub use profile_registry::{AgentMode, ProfileDefinition, ProfileRegistry};
pub use read_only_prover::{ReadOnlyRefusal, prove_read_only};
pub use required_permissions::{PermissionRequest, PermissionTarget};
pub use rule::{PermissionAction, Rule, RuleLayer, RuleOrigin};
pub use rule_layers::RuleSet;
pub use stored_approval::{ApprovalMatcher, ApprovalScope, MaxApprovalScope, StoredApproval};

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
