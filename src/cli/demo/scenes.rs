//! The scenes of a demo: special situations, each a small change of the story.
//!
//! A scene adds turns to a script, changes a number in the configuration or adds to files of the repository. It does
//! not touch the run: the demo shows how the program reacts.

use clap::ValueEnum;
use toml::{Table, Value};

use super::DemoError;

/// A situation for `--scene`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DemoScene {
    /// The reviewer asks you something
    Question,
    /// The review reaches its limit, and you decide
    Arbitration,
    /// The planner returns no plan
    NoDocument,
    /// The planner's service fails
    AdapterFailed,
    /// The planner reaches its usage limit for 90 seconds
    UsageLimit,
    /// A step edits a file with uncommitted changes of yours
    DirtyFiles,
    /// A step changes what the tests run
    EntryPoints,
    /// The tests fail, and no automatic fix turn is left
    TestsFailed,
    /// A hook rejects the first commit
    CommitFailed,
    /// The reviewer is silent for 100 seconds
    Silent,
}

/// A hook that rejects the first commit. Its marker file is in the work tree: a file that a hook writes in the git
/// folder goes away with the commit.
const REFUSING_HOOK: &str = "#!/bin/sh\n\
    # Rejects the first commit and says why.\n\
    if [ ! -e .hook-asked ]; then\n    \
        : > .hook-asked\n    \
        echo 'the hook rejects the first commit, the next one passes' >&2\n    \
        exit 1\n\
    fi\n";

impl DemoScene {
    /// Returns the turns to add to the script of the adapter `name`.
    fn added_turns(self, name: &str) -> Option<&'static str> {
        match (self, name) {
            (Self::Question, "claude") => Some(include_str!(
                "../../../assets/demo/scenes/question.claude.toml"
            )),
            (Self::NoDocument, "codex") => Some(include_str!(
                "../../../assets/demo/scenes/no-document.codex.toml"
            )),
            (Self::AdapterFailed, "codex") => Some(include_str!(
                "../../../assets/demo/scenes/adapter-failed.codex.toml"
            )),
            (Self::UsageLimit, "codex") => Some(include_str!(
                "../../../assets/demo/scenes/usage-limit.codex.toml"
            )),
            (Self::EntryPoints, "codex") => Some(include_str!(
                "../../../assets/demo/scenes/entry-points.codex.toml"
            )),
            (Self::Silent, "claude") => Some(include_str!(
                "../../../assets/demo/scenes/silent.claude.toml"
            )),
            _ => None,
        }
    }

    /// Returns the value that the scene sets for this number of the configuration.
    pub(super) fn config_setting(self, name: &str) -> Option<i64> {
        match (self, name) {
            (Self::Arbitration, "max_iterations") => Some(1),
            (Self::TestsFailed, "max_fix_turns") => Some(0),
            _ => None,
        }
    }

    /// Returns the texts to append to files of the repository after its first commit.
    pub(super) fn added_files(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::DirtyFiles => vec![(
                "README.md",
                "\nA line of yours that is not committed yet.\n",
            )],
            Self::CommitFailed => vec![
                (".git/hooks/pre-commit", REFUSING_HOOK),
                (".git/info/exclude", ".hook-asked\n"),
            ],
            _ => Vec::new(),
        }
    }

    /// Returns the answer to the scene's question, for a demo without a screen.
    pub(super) fn headless_answer(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Question => Some(("question", "the first by name")),
            Self::Arbitration => Some(("arbitration", "more:3")),
            Self::NoDocument => Some(("no_document", "retry")),
            Self::AdapterFailed => Some(("adapter_failed", "retry")),
            Self::UsageLimit => Some(("usage_limit", "retry")),
            Self::DirtyFiles => Some(("dirty_files", "leave-out")),
            Self::EntryPoints => Some(("entry_points", "allow")),
            Self::TestsFailed => Some(("tests_failed", "retry")),
            Self::CommitFailed => Some(("commit_failed", "retry")),
            Self::Silent => None,
        }
    }

    /// Returns a script with the scene's turns first, so that they are played first.
    ///
    /// A turn with `join` continues with the actions of the story's own turn for the same prompt.
    ///
    /// # Errors
    /// One of the two is not a valid script.
    pub(super) fn add_to_script(self, name: &str, script: &str) -> Result<String, DemoError> {
        let Some(added) = self.added_turns(name) else {
            return Ok(script.to_owned());
        };
        let mut story: Table = script.parse()?;
        let added: Table = added.parse()?;
        let own = script_turns(&story);
        let all = script_turns(&added)
            .into_iter()
            .map(|turn| join_story_turn(turn, &own));
        let all: Vec<Value> = all.chain(own.clone()).map(Value::Table).collect();
        story.insert("turn".to_owned(), all.into());
        Ok(toml::to_string(&story)?)
    }
}

fn script_turns(script: &Table) -> Vec<Table> {
    let listed = script.get("turn").and_then(Value::as_array);
    let tables = listed.into_iter().flatten().filter_map(Value::as_table);
    tables.cloned().collect()
}

fn turn_actions(turn: &Table) -> Vec<Value> {
    let listed = turn.get("action").and_then(Value::as_array);
    listed.cloned().unwrap_or_default()
}

fn join_story_turn(mut turn: Table, story: &[Table]) -> Table {
    if turn.remove("join").is_none() {
        return turn;
    }
    let same = |own: &&Table| own.get("when") == turn.get("when");
    let goes_on = story
        .iter()
        .find(same)
        .map(turn_actions)
        .unwrap_or_default();
    let all: Vec<Value> = turn_actions(&turn).into_iter().chain(goes_on).collect();
    turn.insert("action".to_owned(), all.into());
    turn
}
