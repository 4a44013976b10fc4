//! Selects the next turn of a script, fills in its `${…}`, and stores the state over restarts.
//!
//! It is independent of the protocol. Each conversation has one cursor; a later process can resume a conversation by
//! its CLI id, as with the real programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::scripted::script::{AgentScript, ScriptAction, ScriptTurn, ScriptTurnUses};

/// The schema number of the stored state.
const STATE_SCHEMA: u32 = 1;

/// The folder in which conversations are stored.
#[derive(Debug, Clone)]
pub struct ScriptConversationStore {
    folder: PathBuf,
    /// The prefix of file names.
    prefix: String,
}

/// The stored state of a conversation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ScriptConversation {
    /// The schema number of this file.
    pub schema: u32,
    /// The turns already played, by their index in the script, from 0.
    pub used: Vec<usize>,
    /// The tokens read so far.
    pub input_tokens: u64,
    /// The tokens written so far.
    pub output_tokens: u64,
    /// The cost so far in US dollars.
    pub cost_usd: f64,
}

/// Why a conversation cannot be stored.
#[derive(Debug, thiserror::Error)]
pub enum ScriptConversationStoreError {
    /// The file could not be written.
    #[error(
        "save the script's position in {path}: {source}\nhint: {}",
        writable_folder_hint(path)
    )]
    Save {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The file has another format.
    #[error("continue the script from {path}: {problem}\nhint: remove the file to start over")]
    Load { path: PathBuf, problem: String },
}

/// Returns a hint on how to let the agent write a file.
fn writable_folder_hint(path: &Path) -> String {
    let folder = path.parent().unwrap_or(path).display();
    format!(
        "the agent must be able to write {folder}; if a sandbox contains it, add that folder to adapters.<name>.writable"
    )
}

impl ScriptConversationStore {
    /// Stores in `folder`, in files whose names start with `prefix`.
    pub fn new(folder: PathBuf, prefix: impl Into<String>) -> Self {
        Self {
            folder,
            prefix: prefix.into(),
        }
    }

    /// Selects the turn for a prompt in a conversation and records that it is used; otherwise says why there is none.
    pub fn select_turn(
        &self,
        id: &str,
        conversation: &mut ScriptConversation,
        script: &AgentScript,
        prompt: &str,
    ) -> Result<Vec<ScriptAction>, String> {
        let turn = conversation.select_turn(script, prompt);
        let actions = turn.map(|turn| turn.actions_for(prompt));
        let saved = self.save(id, conversation);
        saved.map_err(|error| error.to_string())?;
        let first = prompt.lines().next().unwrap_or_default();
        actions.ok_or_else(|| format!("the script has no turn left for this prompt: {first}"))
    }

    fn state_path(&self, id: &str) -> PathBuf {
        let safe: String = id
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '-' {
                    c
                } else {
                    '_'
                }
            })
            .collect();
        self.folder
            .join(format!("{}.{safe}.state.json", self.prefix))
    }

    /// Loads a conversation; `None` if there is none with this id.
    ///
    /// # Errors
    /// The file exists and cannot be read.
    pub fn load(
        &self,
        id: &str,
    ) -> Result<Option<ScriptConversation>, ScriptConversationStoreError> {
        let path = self.state_path(id);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(ScriptConversationStoreError::Load {
                    path,
                    problem: error.to_string(),
                });
            }
        };
        match serde_json::from_str::<ScriptConversation>(&text) {
            Ok(conversation) if conversation.schema == STATE_SCHEMA => Ok(Some(conversation)),
            Ok(other) => Err(ScriptConversationStoreError::Load {
                path,
                problem: format!("its schema is {}", other.schema),
            }),
            Err(error) => Err(ScriptConversationStoreError::Load {
                path,
                problem: error.to_string(),
            }),
        }
    }

    /// Saves a conversation atomically.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn save(
        &self,
        id: &str,
        conversation: &ScriptConversation,
    ) -> Result<(), ScriptConversationStoreError> {
        let path = self.state_path(id);
        let failed = |source| ScriptConversationStoreError::Save {
            path: path.clone(),
            source,
        };
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        let text = serde_json::to_string(conversation).map_err(|error| failed(error.into()))?;
        let draft = path.with_extension("json.new");
        std::fs::write(&draft, text)
            .and_then(|()| std::fs::rename(&draft, &path))
            .map_err(failed)
    }
}

impl ScriptConversation {
    /// Builds the state of a new conversation.
    pub fn new() -> Self {
        Self {
            schema: STATE_SCHEMA,
            ..Self::default()
        }
    }

    /// Selects the turn for a prompt: the first unused one whose `when` occurs in it, else the first unused one without
    /// `when`. `None` if the script has none left for it.
    fn select_turn<'s>(&mut self, script: &'s AgentScript, prompt: &str) -> Option<&'s ScriptTurn> {
        let unused = |(index, turn): &(usize, &ScriptTurn)| {
            turn.uses == ScriptTurnUses::Always || !self.used.contains(index)
        };
        let fits = |when: &Option<String>| when.as_ref().is_some_and(|when| prompt.contains(when));
        let turns = || script.turns.iter().enumerate().filter(unused);
        let (index, turn) = turns()
            .find(|(_, turn)| fits(&turn.when))
            .or_else(|| turns().find(|(_, turn)| turn.when.is_none()))?;
        if !self.used.contains(&index) {
            self.used.push(index);
        }
        Some(turn)
    }
}

/// What a scripted agent says in a thread.
const PLAYED_ANSWER: &str =
    "I am played from a script; a real agent would answer, and change the plan where you ask.";

/// The values of `${…}` in a turn.
#[derive(Debug, Clone, Default)]
pub struct ScriptPlaceholders(BTreeMap<&'static str, String>);

impl ScriptPlaceholders {
    /// Finds the values in a prompt: `${prompt}`; `${plan_path}` and `${comments_path}`, the staging paths that it names;
    /// and `${thread_answers}`, a section that answers each thread in it.
    pub fn from_prompt(prompt: &str) -> Self {
        let mut words = BTreeMap::from([
            ("prompt", prompt.to_owned()),
            ("thread_answers", answer_threads(prompt)),
        ]);
        for (word, file) in [("plan_path", "plan.md"), ("comments_path", "comments.md")] {
            if let Some(path) = find_staging_path(prompt, file) {
                words.insert(word, path);
            }
        }
        Self(words)
    }

    /// Sets the value of a placeholder.
    pub fn set(&mut self, word: &'static str, meaning: impl Into<String>) {
        self.0.insert(word, meaning.into());
    }

    /// Replaces every `${word}` that has a value; others stay unchanged.
    pub fn expand(&self, text: &str) -> String {
        self.0
            .iter()
            .fold(text.to_owned(), |text, (word, meaning)| {
                text.replace(&format!("${{{word}}}"), meaning)
            })
    }
}

/// Answers each thread about the plan that a prompt contains; empty without one.
fn answer_threads(prompt: &str) -> String {
    let threads = prompt
        .lines()
        .skip_while(|line| *line != "## Threads about the plan");
    let numbers = threads.filter_map(|line| {
        let (n, _) = line.strip_prefix("### ")?.split_once(". ")?;
        n.parse::<u32>().ok()
    });
    let answers: String = numbers
        .map(|n| format!("### {n}\n- {PLAYED_ANSWER}\n"))
        .collect();
    if answers.is_empty() {
        answers
    } else {
        format!("## Threads\n{answers}")
    }
}

/// Finds the path in a `turns/` folder that ends in `file`: first among the texts in backticks, where a path may
/// contain spaces, then among all words.
fn find_staging_path(prompt: &str, file: &str) -> Option<String> {
    let is_it = |word: &&str| word.contains("turns/") && word.ends_with(file);
    let quoted = prompt
        .lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2));
    let between = |c: char| c.is_whitespace() || "`'\"<>()[],;".contains(c);
    let words = prompt
        .split(between)
        .map(|word| word.trim_end_matches(['.', ':']));
    quoted.chain(words).find(is_it).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::ScriptedProgram;

    fn check(script: &str, prompts: &[&str]) -> String {
        let script = AgentScript::parse(
            script,
            std::path::Path::new("s.toml"),
            ScriptedProgram::Codex,
        )
        .unwrap();
        let mut conversation = ScriptConversation::new();
        let taken: Vec<String> = prompts
            .iter()
            .map(|prompt| match conversation.select_turn(&script, prompt) {
                Some(turn) => match turn.actions_for(prompt).as_slice() {
                    [ScriptAction::Text(speech)] => speech.text.clone(),
                    [ScriptAction::Open(_), ScriptAction::Text(speech)] => {
                        format!("reads,{}", speech.text)
                    }
                    _ => "?".to_owned(),
                },
                None => "none".to_owned(),
            })
            .collect();
        taken.join(" ")
    }

    fn turn(head: &str, text: &str) -> String {
        format!("[[turn]]\n{head}\n[[turn.action]]\ndo = \"text\"\ntext = \"{text}\"\n")
    }

    #[test]
    fn a_review_opens_the_files_that_its_prompt_names_unless_the_script_says_otherwise() {
        let script = turn("", "a") + &turn("opens = \"nothing\"", "b") + &turn("", "c");
        let (review, other) = ("[agent-collab REVIEW 1]", "[agent-collab RESPOND 1]");
        assert_eq!(check(&script, &[review, review, other]), "reads,a b c");
    }

    #[test]
    fn a_matching_turn_is_taken_once_and_then_the_next_that_matches() {
        let script = turn("when = \"go\"", "a") + &turn("when = \"go\"", "b") + &turn("", "c");
        assert_eq!(check(&script, &["go", "go", "go", "go"]), "a b c none");
    }

    #[test]
    fn a_turn_without_when_waits_behind_one_that_matches() {
        let script = turn("", "any") + &turn("when = \"REVIEW 2\"", "second review");
        assert_eq!(check(&script, &["REVIEW 2", "else"]), "second review any");
    }

    #[test]
    fn a_turn_of_always_is_never_used_up() {
        let script = turn("when = \"go\"\nuses = \"always\"", "a");
        assert_eq!(check(&script, &["go", "go", "stop"]), "a a none");
    }

    #[test]
    fn the_staging_paths_are_found_in_the_prompt() {
        let prompt = "Write to `/r/.agent-collab/turns/ses_1/plan.md`, answers to /r/.agent-collab/turns/ses_1/comments.md. \
                      Never touch plan.md itself.";
        let words = ScriptPlaceholders::from_prompt(prompt);
        assert_eq!(
            words.expand("${plan_path} ${comments_path} ${other}"),
            "/r/.agent-collab/turns/ses_1/plan.md /r/.agent-collab/turns/ses_1/comments.md ${other}"
        );
    }

    #[test]
    fn a_staging_path_between_backticks_may_hold_blanks() {
        let words = ScriptPlaceholders::from_prompt(
            "Write it to `/my repo/turns/s/plan.md`.\nOr a block `plan.md`.",
        );
        assert_eq!(words.expand("${plan_path}"), "/my repo/turns/s/plan.md");
    }

    #[test]
    fn a_conversation_is_remembered_by_its_id() {
        let folder = tempfile::tempdir().unwrap();
        let memory = ScriptConversationStore::new(folder.path().to_owned(), "s.toml");
        assert_eq!(memory.load("a/b").unwrap(), None);
        let mut conversation = ScriptConversation::new();
        conversation.used.push(3);
        memory.save("a/b", &conversation).unwrap();
        assert_eq!(memory.load("a/b").unwrap(), Some(conversation));
        std::fs::write(memory.state_path("x"), "{}").unwrap();
        assert!(memory.load("x").is_err());
    }
}
