//! `agent-collab scripted-agent`: plays a script in place of `codex` or `claude`.
//!
//! Started instead of the real program, with its arguments: the relevant ones take effect, the others are ignored.
//! Calls no model.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::scripted::conversation_store::ScriptConversationStore;
use crate::scripted::runtime::{PlaybackSpeed, ScriptRuntime};
use crate::scripted::script::AgentScript;
use crate::scripted::{ScriptedAgentOptions, ScriptedProgram, play_script};

/// The environment variable with the speed: every pause is divided by it.
pub const SPEED: &str = "AGENT_COLLAB_SCRIPT_SPEED";

/// Arguments of `agent-collab scripted-agent`.
#[derive(Debug, Clone, Args)]
pub struct ScriptedAgentArguments {
    /// The program to imitate
    #[arg(long = "as", value_name = "PROGRAM")]
    pub guise: ScriptedProgramFlag,
    /// The script: TOML, or JSON when its name ends in `.json`.
    #[arg(long, value_name = "FILE")]
    pub script: PathBuf,
    /// Where to store conversations [default: the script's folder]
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Skip every pause
    #[arg(long)]
    pub fast: bool,
    /// Arguments of the real program
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    pub arguments: Vec<String>,
}

/// The word after `--as`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScriptedProgramFlag {
    /// `codex app-server`
    Codex,
    /// `claude -p --input-format stream-json`
    Claude,
}

/// The reason why a scripted agent cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ScriptedAgentError {
    /// The script is not valid.
    #[error(transparent)]
    Script(#[from] crate::scripted::script::ScriptError),
    /// The working directory is gone.
    #[error("cannot find the working directory: {0}")]
    WorkingDirectory(std::io::Error),
    /// The speed is not a number above 0.
    #[error(
        "{SPEED} is `{text}`, not a number above 0\nhint: 2 halves every pause, 0.5 doubles it"
    )]
    Speed {
        /// The value of the variable.
        text: String,
    },
}

/// Plays the script until standard input ends; returns the exit code.
///
/// # Errors
/// The script or the speed is not valid.
pub fn run(args: &ScriptedAgentArguments) -> Result<i32, ScriptedAgentError> {
    let guise = match args.guise {
        ScriptedProgramFlag::Codex => ScriptedProgram::Codex,
        ScriptedProgramFlag::Claude => ScriptedProgram::Claude,
    };
    let script = AgentScript::load(&args.script, guise)?;
    let pace = parse_playback_speed(args)?;
    let mut stage = ScriptRuntime::from_stdio(pace);
    if args
        .arguments
        .iter()
        .any(|argument| argument == "--version")
    {
        let version = script
            .version
            .as_deref()
            .unwrap_or(guise.recorded_version());
        stage.send_line(&guise.version_line(version));
        return Ok(0);
    }
    let folder = args.script.parent().unwrap_or(Path::new("."));
    let name = args
        .script
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let casting = ScriptedAgentOptions {
        program: guise,
        script,
        conversations: ScriptConversationStore::new(
            args.state.clone().unwrap_or_else(|| folder.to_owned()),
            name,
        ),
        cwd: std::env::current_dir().map_err(ScriptedAgentError::WorkingDirectory)?,
        arguments: args.arguments.clone(),
    };
    Ok(play_script(casting, stage))
}

fn parse_playback_speed(
    args: &ScriptedAgentArguments,
) -> Result<PlaybackSpeed, ScriptedAgentError> {
    if args.fast {
        return Ok(PlaybackSpeed::Fast);
    }
    let Some(text) = std::env::var_os(SPEED) else {
        return Ok(PlaybackSpeed::Factor(1.0));
    };
    let text = text.to_string_lossy().into_owned();
    match text.parse::<f64>() {
        Ok(factor) if factor > 0.0 && factor.is_finite() => Ok(PlaybackSpeed::Factor(factor)),
        Ok(_) | Err(_) => Err(ScriptedAgentError::Speed { text }),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct ScriptedAgentTestParser {
        #[command(flatten)]
        args: ScriptedAgentArguments,
    }

    fn check(line: &str) -> Vec<String> {
        let words = format!("scripted-agent --as claude --script s.toml {line}");
        ScriptedAgentTestParser::parse_from(words.split_whitespace())
            .args
            .arguments
    }

    #[test]
    fn the_real_programs_arguments_are_accepted_as_they_are() {
        for line in [
            "-c a=b app-server",
            "-p --input-format stream-json --verbose --resume x",
            "--version",
            "--session-id=x --fast",
        ] {
            assert_eq!(check(line).join(" "), line);
        }
    }
}
