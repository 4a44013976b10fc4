//! The scenes of a demo: special situations, each a small change of the story.
//!
//! A scene adds turns to a script, changes a number in the configuration or adds to files of the repository. It does
//! not touch the run: the demo shows how the program reacts. A new scene is one entry of [`SCENES`].

use clap::ValueEnum;
use clap::builder::PossibleValue;
use toml::{Table, Value};

use super::DemoError;

/// A situation for `--scene`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DemoScene {
    /// Its word after `--scene`.
    pub(super) name: &'static str,
    /// What happens, for the help.
    pub(super) help: &'static str,
    /// Turns to add to the scripts, by adapter.
    turns: &'static [(&'static str, &'static str)],
    /// Numbers that it sets in the configuration.
    settings: &'static [(&'static str, i64)],
    /// Texts to append to files of the repository after its first commit.
    pub(super) added_files: &'static [(&'static str, &'static str)],
    /// The answers to its questions, by kind, for a demo without a screen.
    pub(super) headless_answers: &'static [(&'static str, &'static str)],
}

/// A scene that changes nothing.
const NO_CHANGE: DemoScene = DemoScene {
    name: "",
    help: "",
    turns: &[],
    settings: &[],
    added_files: &[],
    headless_answers: &[],
};

/// A hook that rejects the first commit. Its marker file is in the work tree: a file that a hook writes in the git
/// folder goes away with the commit.
const REFUSING_HOOK: &str = "#!/bin/sh\n\
    # Rejects the first commit and says why.\n\
    if [ ! -e .hook-asked ]; then\n    \
        : > .hook-asked\n    \
        echo 'the hook rejects the first commit, the next one passes' >&2\n    \
        exit 1\n\
    fi\n";

macro_rules! scene_script {
    ($name:literal) => {
        include_str!(concat!("../../../assets/demo/scenes/", $name, ".toml"))
    };
}

/// All scenes, in the order in which they are added to a demo, whatever the order of the flags: scenes whose turns
/// continue with the story (`join`) are below those that replace a part of it, and continue with that.
static SCENES: [DemoScene; 13] = [
    DemoScene {
        name: "dispute",
        help: "Reviewer and planner do not agree on a finding, and you decide",
        turns: &[
            ("codex", scene_script!("dispute.codex")),
            ("claude", scene_script!("dispute.claude")),
        ],
        headless_answers: &[("dispute", "reviewer")],
        ..NO_CHANGE
    },
    DemoScene {
        name: "unread",
        help: "The reviewer approves without opening a file that the plan names",
        turns: &[("claude", scene_script!("unread.claude"))],
        ..NO_CHANGE
    },
    DemoScene {
        name: "question",
        help: "The reviewer asks you something",
        turns: &[("claude", scene_script!("question.claude"))],
        headless_answers: &[("question", "the first by name")],
        ..NO_CHANGE
    },
    DemoScene {
        name: "arbitration",
        help: "The review reaches its limit, and you decide",
        settings: &[("max_iterations", 1)],
        headless_answers: &[("arbitration", "more:3")],
        ..NO_CHANGE
    },
    DemoScene {
        name: "no-document",
        help: "The planner returns no plan",
        turns: &[("codex", scene_script!("no-document.codex"))],
        headless_answers: &[("no_document", "retry")],
        ..NO_CHANGE
    },
    DemoScene {
        name: "adapter-failed",
        help: "The planner's service fails",
        turns: &[("codex", scene_script!("adapter-failed.codex"))],
        headless_answers: &[("adapter_failed", "retry")],
        ..NO_CHANGE
    },
    DemoScene {
        name: "usage-limit",
        help: "The planner reaches its usage limit for 90 seconds",
        turns: &[("codex", scene_script!("usage-limit.codex"))],
        headless_answers: &[("usage_limit", "retry")],
        ..NO_CHANGE
    },
    DemoScene {
        name: "blocked",
        help: "The executor of a step is blocked, and you amend, replan or skip it",
        turns: &[("codex", scene_script!("blocked.codex"))],
        headless_answers: &[("blocked", "retry")],
        ..NO_CHANGE
    },
    DemoScene {
        name: "dirty-files",
        help: "A step edits a file with uncommitted changes of yours",
        added_files: &[(
            "README.md",
            "\nA line of yours that is not committed yet.\n",
        )],
        headless_answers: &[("dirty_files", "leave-out")],
        ..NO_CHANGE
    },
    DemoScene {
        name: "entry-points",
        help: "A step changes what the tests run",
        turns: &[("codex", scene_script!("entry-points.codex"))],
        headless_answers: &[("entry_points", "allow"), ("unproven", "retry")],
        ..NO_CHANGE
    },
    DemoScene {
        name: "tests-failed",
        help: "The tests fail, and no automatic fix turn is left",
        settings: &[("max_fix_turns", 0)],
        headless_answers: &[("tests_failed", "retry")],
        ..NO_CHANGE
    },
    DemoScene {
        name: "commit-failed",
        help: "A hook rejects the first commit",
        added_files: &[
            (".git/hooks/pre-commit", REFUSING_HOOK),
            (".git/info/exclude", ".hook-asked\n"),
        ],
        headless_answers: &[("commit_failed", "retry")],
        ..NO_CHANGE
    },
    DemoScene {
        name: "silent",
        help: "The reviewer is silent for 100 seconds",
        turns: &[("claude", scene_script!("silent.claude"))],
        ..NO_CHANGE
    },
];

impl ValueEnum for DemoScene {
    fn value_variants<'a>() -> &'a [Self] {
        &SCENES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name).help(self.help))
    }
}

/// Returns the chosen scenes, each once, in the order in which they are added to a demo.
pub(super) fn in_table_order(chosen: &[DemoScene]) -> Vec<DemoScene> {
    let is_chosen = |scene: &&DemoScene| chosen.contains(scene);
    SCENES.iter().filter(is_chosen).copied().collect()
}

impl DemoScene {
    /// Returns the value that the scene sets for this number of the configuration.
    pub(super) fn config_setting(&self, name: &str) -> Option<i64> {
        let mut set = self.settings.iter();
        set.find(|(set, _)| *set == name).map(|(_, value)| *value)
    }

    /// Returns a script with the scene's turns first, so that they are played first.
    ///
    /// A turn with `join` continues with the actions of the story's own turn for the same prompt.
    ///
    /// # Errors
    /// One of the two is not a valid script.
    pub(super) fn add_to_script(&self, name: &str, script: &str) -> Result<String, DemoError> {
        let Some((_, added)) = self.turns.iter().find(|(adapter, _)| *adapter == name) else {
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

fn turn_prompt(turn: &Table) -> &str {
    let when = turn.get("when").and_then(Value::as_str);
    when.unwrap_or_default()
}

fn join_story_turn(mut turn: Table, story: &[Table]) -> Table {
    if turn.remove("join").is_none() {
        return turn;
    }
    // The story plays the first of its turns that the prompt fits.
    let is_next = |own: &&Table| turn_prompt(&turn).contains(turn_prompt(own));
    let goes_on = story
        .iter()
        .find(is_next)
        .map(turn_actions)
        .unwrap_or_default();
    let all: Vec<Value> = turn_actions(&turn).into_iter().chain(goes_on).collect();
    turn.insert("action".to_owned(), all.into());
    turn
}
