//! Scripted agents: stand-ins that speak the real protocols of `codex` and `claude` from a script.
//!
//! They really run the commands and write the files that their script names, and they call no model. They know nothing
//! about runs, phases or adapters: what they send is compared with recorded streams of the real programs
//! (`tests/fixtures/scripted/`), not with our own interpretation of them. `docs/scripted-agents.md` describes the
//! script format.

pub mod claude;
pub mod codex;
pub mod conversation_store;
mod mcp_client;
pub mod runtime;
pub mod script;
mod script_actor;

#[cfg(test)]
mod fidelity;
#[cfg(test)]
pub(crate) mod test_harness;

use std::path::PathBuf;

use crate::scripted::conversation_store::ScriptConversationStore;
use crate::scripted::runtime::ScriptRuntime;
use crate::scripted::script::AgentScript;

/// The program that a scripted agent imitates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptedProgram {
    /// `codex app-server`.
    Codex,
    /// `claude -p --input-format stream-json --output-format stream-json`.
    Claude,
}

impl ScriptedProgram {
    /// Returns the line that the real program prints for `--version`.
    pub fn version_line(self, version: &str) -> String {
        match self {
            Self::Codex => format!("codex-cli {version}"),
            Self::Claude => format!("{version} (Claude Code)"),
        }
    }

    /// Returns the version that this stand-in was recorded from.
    pub fn recorded_version(self) -> &'static str {
        match self {
            Self::Codex => "0.169.0",
            Self::Claude => "2.1.330",
        }
    }

    /// Returns the program's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
        }
    }
}

/// Everything that a scripted agent needs to start.
#[derive(Debug)]
pub struct ScriptedAgentOptions {
    /// The program that it imitates.
    pub program: ScriptedProgram,
    /// The script that it plays.
    pub script: AgentScript,
    /// The store of which turns were already used.
    pub conversations: ScriptConversationStore,
    pub cwd: PathBuf,
    /// The arguments that the real program would receive.
    pub arguments: Vec<String>,
}

/// Plays a script with a runtime until the input ends or the script exits; returns the exit code.
pub fn play_script(casting: ScriptedAgentOptions, stage: ScriptRuntime) -> i32 {
    match casting.program {
        ScriptedProgram::Codex => codex::ScriptedCodex::new(casting, stage).play(),
        ScriptedProgram::Claude => claude::ScriptedClaude::new(casting, stage).play(),
    }
}

/// Returns the instant this many seconds from now, in seconds since 1970.
fn seconds_from_now(seconds: i64) -> i64 {
    jiff::Timestamp::now().as_second().saturating_add(seconds)
}
