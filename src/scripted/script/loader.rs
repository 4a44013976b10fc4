//! Loads a script, and rejects actions that the imitated program was never recorded doing.

use std::path::{Path, PathBuf};

use super::{AgentScript, ScriptAction};
use crate::scripted::ScriptedProgram;

/// Why a script cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The script could not be read.
    #[error("read script {path}: {source}\nhint: --script takes the path of a TOML or JSON file")]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The script is neither TOML nor JSON of the documented form.
    #[error(
        "script {path} is not of the documented form: {problem}\nhint: the form is described in docs/scripted-agents.md"
    )]
    InvalidFormat {
        path: PathBuf,
        /// What is wrong, with its line.
        problem: String,
    },
    /// The script contains an action that the real program was never recorded doing.
    #[error("script {path}, turn {turn}: {guise} cannot do `{action}`\nhint: {hint}")]
    NotRecorded {
        path: PathBuf,
        /// The turn, from 1.
        turn: usize,
        guise: &'static str,
        /// The action that was never recorded.
        action: &'static str,
        /// What to do instead.
        hint: &'static str,
    },
}

impl AgentScript {
    /// Reads and checks the script at `path`: JSON if its name ends in `.json`, TOML otherwise.
    ///
    /// # Errors
    /// See [`ScriptError`].
    pub fn load(path: &Path, guise: ScriptedProgram) -> Result<Self, ScriptError> {
        let text = std::fs::read_to_string(path).map_err(|source| ScriptError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text, path, guise)
    }

    /// Checks the script in `text`; `path` names it in errors and determines its format.
    ///
    /// # Errors
    /// See [`ScriptError`].
    pub fn parse(text: &str, path: &Path, guise: ScriptedProgram) -> Result<Self, ScriptError> {
        let form = |problem: String| ScriptError::InvalidFormat {
            path: path.to_owned(),
            problem,
        };
        let script: Self = if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            serde_json::from_str(text).map_err(|error| form(error.to_string()))?
        } else {
            toml::from_str(text).map_err(|error| form(error.to_string()))?
        };
        for (index, turn) in script.turns.iter().enumerate() {
            if let Some((action, hint)) = find_unrecorded_action(&turn.actions, guise) {
                return Err(ScriptError::NotRecorded {
                    path: path.to_owned(),
                    turn: index + 1,
                    guise: guise.name(),
                    action,
                    hint,
                });
            }
        }
        Ok(script)
    }
}

impl ScriptAction {
    /// Returns the actions that may follow this one.
    fn nested_actions(&self) -> Vec<&[ScriptAction]> {
        match self {
            Self::Command(command) => vec![&command.if_allowed, &command.if_denied],
            Self::Write(write) => vec![&write.if_allowed, &write.if_denied],
            Self::Edit(edit) => vec![&edit.if_allowed, &edit.if_denied],
            Self::Question(question) => vec![&question.if_answered, &question.if_dismissed],
            Self::Tool(tool) => vec![&tool.if_done, &tool.if_failed],
            Self::Unsolicited(unsolicited) => vec![&unsolicited.actions],
            Self::Text(_) | Self::Thinking(_) | Self::Cut(_) | Self::Error(_) => vec![],
            Self::Stall(_) | Self::Exit(_) | Self::Frame(_) | Self::Malformed(_) => vec![],
            Self::Usage(_) | Self::Open(_) => vec![],
        }
    }
}

/// Finds the first action that the real program was never recorded doing.
fn find_unrecorded_action(
    actions: &[ScriptAction],
    guise: ScriptedProgram,
) -> Option<(&'static str, &'static str)> {
    actions.iter().find_map(|action| {
        let here = match (guise, action) {
            (ScriptedProgram::Codex, ScriptAction::Unsolicited(_)) => Some((
                "unsolicited",
                "codex starts no turn on its own; play this script as claude",
            )),
            _ => None,
        };
        here.or_else(|| {
            action
                .nested_actions()
                .into_iter()
                .find_map(|branch| find_unrecorded_action(branch, guise))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::script::{DeltaGranularity, ScriptSpeech};

    fn check(text: &str, name: &str, guise: ScriptedProgram) -> String {
        match AgentScript::parse(text, Path::new(name), guise) {
            Ok(script) => format!("{} turns", script.turns.len()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_script_may_be_toml_or_json() {
        let toml = "[[turn]]\nwhen = \"go\"\n[[turn.action]]\ndo = \"text\"\ntext = \"hi\"\n";
        assert_eq!(check(toml, "a.toml", ScriptedProgram::Codex), "1 turns");
        let json = r#"{"turn":[{"action":[{"do":"text","text":"hi","delta":"whole"}]}]}"#;
        assert_eq!(check(json, "a.json", ScriptedProgram::Claude), "1 turns");
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_line() {
        let message = check(
            "[[turn]]\nwenn = \"go\"\n",
            "a.toml",
            ScriptedProgram::Codex,
        );
        assert!(
            message.contains("line 2") && message.contains("wenn"),
            "{message}"
        );
    }

    #[test]
    fn an_unknown_key_of_an_action_is_refused() {
        let toml = "[[turn]]\n[[turn.action]]\ndo = \"text\"\ntext = \"hi\"\npaus_ms = 3\n";
        let message = check(toml, "a.toml", ScriptedProgram::Codex);
        assert!(message.contains("paus_ms"), "{message}");
    }

    #[test]
    fn what_the_real_program_was_never_seen_doing_is_refused_in_every_branch() {
        let toml = "[[turn]]\n[[turn]]\n[[turn.action]]\ndo = \"command\"\nrun = \"true\"\n\
                    [[turn.action.if_denied]]\ndo = \"unsolicited\"\naction = []\n";
        assert_eq!(check(toml, "a.toml", ScriptedProgram::Claude), "2 turns");
        let message = check(toml, "a.toml", ScriptedProgram::Codex);
        assert!(
            message.starts_with("script a.toml, turn 2: codex cannot do `unsolicited`"),
            "{message}"
        );
    }

    #[test]
    fn deltas_join_to_the_text() {
        let text = "two words\n\nand  more ";
        for delta in [
            DeltaGranularity::Word,
            DeltaGranularity::Line,
            DeltaGranularity::Whole,
        ] {
            let speech = ScriptSpeech {
                text: String::new(),
                pause_ms: 0,
                delta,
                repeat: 1,
            };
            assert_eq!(speech.split_into_deltas(text).concat(), text);
        }
    }
}
