//! Scripted agents: stand-ins that speak the real protocols of `codex` and `claude` from a script.
//!
//! They really run the commands and really write the files that their script names, and call no
//! model. They know nothing of runs, phases or adapters: what they emit is held to recorded
//! streams of the real programs (`tests/fixtures/scripted/`), not to our own reading of them.
//! The script format is described in `docs/scripted-agents.md`.

pub mod claude;
pub mod codex;
pub mod conversation_store;
mod mcp_client;
pub mod runtime;
pub mod script;

#[cfg(test)]
mod fidelity;
#[cfg(test)]
pub(crate) mod test_harness;

use std::path::PathBuf;

use crate::scripted::conversation_store::ScriptConversationStore;
use crate::scripted::runtime::ScriptRuntime;
use crate::scripted::script::AgentScript;

/// Which of the two programs a scripted agent behaves like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptedProgram {
    /// `codex app-server`.
    Codex,
    /// `claude -p --input-format stream-json --output-format stream-json`.
    Claude,
}

impl ScriptedProgram {
    /// Returns the line that `--version` prints, as the real program prints it.
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

/// Everything a scripted agent is started with.
#[derive(Debug)]
pub struct ScriptedAgentOptions {
    /// The program it behaves like.
    pub program: ScriptedProgram,
    /// What it plays.
    pub script: AgentScript,
    /// Where it remembers which turns were used.
    pub conversations: ScriptConversationStore,
    /// Its working directory.
    pub cwd: PathBuf,
    /// The arguments the real program would have got.
    pub arguments: Vec<String>,
}

/// Plays a script on a stage until the input ends or the script exits; returns the exit code.
pub fn play_script(casting: ScriptedAgentOptions, stage: ScriptRuntime) -> i32 {
    match casting.program {
        ScriptedProgram::Codex => codex::ScriptedCodex::new(casting, stage).play(),
        ScriptedProgram::Claude => claude::ScriptedClaude::new(casting, stage).play(),
    }
}

/// The instant in so many seconds, in seconds since 1970.
fn seconds_from_now(seconds: i64) -> i64 {
    jiff::Timestamp::now().as_second().saturating_add(seconds)
}
