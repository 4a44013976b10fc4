//! The list of all configuration keys, in the order of `config.toml`: the only place that says what each accepts and
//! what an untrusted repository may do to it.
//!
//! Keys of planned features are listed too: they are accepted and checked, so that a configuration does not break
//! later.

use strum::VariantNames;

use super::config_key::{ConfigKey, KeyDefault, UntrustedPolicy, ValueKind};
use super::config_model::{
    ConfiguredProof, ConfiguredTestNetwork, MotionLevel, NotificationMethod, PromptDisplay,
    ReviewerSession,
};
use crate::domain::adapter_kind::AdapterKind;
use crate::domain::discussion::{DiscussionMode, SizeProfile, SpeakingOrder};
use crate::permission::command_safety::{BuiltinRuleLevel, all_builtin_rules, find_builtin_rule};
use crate::permission::profile_registry::AgentMode;

use KeyDefault::{Fixed, PerName, Unset};
use UntrustedPolicy::{Append, Ignored, Lower, OnlyFalse, OnlyTrue, Restrict, Tighten, UserOnly};
use ValueKind::{
    Adapter, AdapterOrNone, Choice, Colour, Command, Commands, Duration, Environment, FileName,
    Flag, Flags, Folder, KeyBindings, Number, PromptFile, Rules, ShortRules, Size, Text, Texts,
    UserFile,
};

const DAY: i64 = 86_400;

/// The path of the keys that change built-in rules of the command guard.
pub const BUILTIN_RULE_PATH: &str = "safety.builtin.*";

/// The path of their table.
pub const BUILTIN_RULE_TABLE: &str = "safety.builtin";

const fn key(
    path: &'static str,
    kind: ValueKind,
    preset: KeyDefault,
    untrusted: UntrustedPolicy,
    help: &'static str,
) -> ConfigKey {
    ConfigKey {
        path,
        kind,
        preset,
        untrusted,
        help,
    }
}

/// All configuration keys; the order is that of `config.toml`.
#[rustfmt::skip]
pub const KEYS: &[ConfigKey] = &[
    key("roles.planner", Adapter, Fixed("\"codex\""), Ignored, "The adapter that plans and executes"),
    key("roles.reviewer", AdapterOrNone, Fixed("\"claude\""), Ignored, "The adapter that reviews the plan; \"none\" skips the review"),

    key("workflow.max_iterations", Number(1, 100), Fixed("5"), Lower, "How many reviews a plan may have before you decide"),
    key("workflow.auto_approve", Flag, Fixed("false"), OnlyFalse, "Whether an approved plan is executed without asking you"),
    key("workflow.confirm_enter", Flag, Fixed("false"), OnlyTrue, "Whether to press Enter twice to send a turn"),
    key("workflow.reviewer_session", Choice(ReviewerSession::VARIANTS), Fixed("\"resume\""), Ignored, "Whether the reviewer remembers its earlier reviews of the run"),
    key("workflow.bind_versions", Flag, Fixed("false"), OnlyTrue, "Whether a run asks again once this program or a CLI has another version than when its plan was approved"),

    key("safety.blocked_commands", Texts, Fixed("[\"rm -rf\", \"sudo\", \"chmod 777\", \"> /dev/\"]"), Append, "Commands that always stop and ask you, whatever else allows them"),
    key("safety.require_confirm_for", Texts, Fixed("[\"git push\", \"npm publish\"]"), Append, "Commands that run only after you confirm them"),
    key("safety.contain_agents", Flag, Fixed("true"), OnlyTrue, "Whether claude runs in a sandbox (bubblewrap), if the system has it"),
    key("safety.contain_tests", Flag, Fixed("true"), OnlyTrue, "Whether tests, commits and their hooks run in such a sandbox"),
    key(BUILTIN_RULE_PATH, Choice(BuiltinRuleLevel::VARIANTS), Unset("\"off\""), Tighten, "The class of a built-in command rule, in place of its own; `agent-collab permissions list --builtin` prints all rules"),

    key("paths.workdir", Folder, Fixed("\".agent-collab\""), Ignored, "Where a run keeps its files, inside the repository"),
    key("paths.plan", FileName, Fixed("\"plan.md\""), Ignored, "The plan, in paths.workdir"),
    key("paths.comments", FileName, Fixed("\"comments.md\""), Ignored, "The review and its answers, in paths.workdir"),
    key("paths.log", FileName, Fixed("\"log.md\""), Ignored, "The log of executed steps, in paths.workdir"),
    key("paths.debug_log", FileName, Fixed("\"debug.log\""), Ignored, "The program's own log, in paths.workdir"),
    key("paths.debug_log_max_size", Size(64 * 1024, 1_000_000_000), Fixed("\"10MB\""), Ignored, "The size at which the program's own log is rotated"),

    key("test.default_command", Text, Fixed("\"auto\""), Ignored, "The command that checks a step; \"auto\" finds pytest, npm test, cargo test or go test"),
    key("test.command", Commands, Unset("[{ run = \"pytest service\", paths = [\"service/**\"] }]"), Ignored, "Several test commands instead of default_command, also as tables [[test.command]]; each runs where a step changes one of its paths, and always without `paths`"),
    key("test.fallback_to_agent", Flag, Fixed("true"), Ignored, "Whether a `Test:` line of the plan counts when no command is found"),
    key("test.baseline", Flag, Fixed("true"), OnlyTrue, "Whether the tests run once before the first step, to know which failures are older than the run"),
    key("test.max_fix_turns", Number(0, 20), Fixed("2"), Lower, "How many turns the agent has to fix failing tests of a step"),
    key("test.timeout", Duration(1, DAY), Fixed("\"10m\""), Lower, "How long one run of the tests may take"),
    key("test.network", Choice(ConfiguredTestNetwork::VARIANTS), Fixed("\"ask\""), Ignored, "The network of tests and commit hooks in their sandbox: only their own loopback interface, or the machine's network; \"ask\" is loopback until you choose for a repository"),
    key("test.proof", Choice(ConfiguredProof::VARIANTS), Fixed("\"full\""), Ignored, "How a step is proven: \"full\" runs old and new tests on old and new code, in clean copies of the repository; \"red\" runs only the tests that a step names or changes, and the whole suite once after the last step, as \"full\" does where the suite takes more than two minutes; \"off\" runs the tests once, in your working tree"),
    key("test.paths", Texts, Fixed("[]"), Ignored, "More paths that hold tests, their helpers or data, such as \"checks/**\""),
    key("test.env", Texts, Fixed("[]"), Ignored, "More environment variables for tests: NAME keeps yours, NAME=value sets one"),
    key("test.carry", Texts, Fixed("[]"), Ignored, "Files and folders in no commit that tests need in a clean copy, such as \".env\""),
    key("test.setup", Text, Unset("\"npm run build\""), Ignored, "A command that prepares each clean copy before its tests run"),
    key("test.sockets", Texts, Fixed("[]"), UserOnly, "Sockets that tests and commit hooks can reach in their sandbox, such as \"/run/docker.sock\"; ~/ is your home"),

    key("commit.trailers", Flag, Fixed("true"), Ignored, "Whether a step's commit names its step, plan and receipt in trailers, which `agent-collab verify A..B` reads"),
    key("commit.notes", Flag, Fixed("true"), Ignored, "Whether the receipts of a step are a git note of its commit, too (refs/notes/agent-collab), so that `agent-collab verify A..B` works in a clone"),

    key("limits.max_children", Number(1, 64), Fixed("2"), Lower, "How many tasks and discussion participants run at a time"),
    key("limits.tasks_per_call", Number(1, 256), Fixed("16"), Lower, "How many tasks an agent may start in one call"),
    key("limits.per_adapter", Number(1, 64), Fixed("2"), Lower, "How many turns one adapter runs at a time"),
    key("limits.task_timeout", Duration(1, DAY), Fixed("\"30m\""), Lower, "How long one task may take"),
    key("limits.task_retries", Number(0, 10), Fixed("2"), Lower, "How often a task is retried if its CLI could not start, hit a temporary limit or lost its connection"),
    key("limits.turn_timeout", Duration(1, DAY), Fixed("\"1h\""), Lower, "How long one turn may take"),
    key("limits.silence", Duration(1, 600), Fixed("\"30s\""), Ignored, "How long an agent may be silent before its processes are checked"),
    key("limits.tool_patience", Duration(1, 55 * 60), Fixed("\"45m\""), Lower, "How long a tool call waits for you or for a task; then the agent ends its turn and gets the result with the next one"),
    key("limits.drain", Duration(1, 600), Fixed("\"30s\""), Lower, "How long a finished run waits for tasks before it interrupts them; a signal ends them at once"),
    key("limits.keep_sessions_days", Number(0, 3650), Fixed("14"), Ignored, "How many days sessions of finished tasks are kept"),

    key("permission.rule", Rules, Unset("[{ permission = \"bash\", pattern = \"cargo *\", action = \"allow\" }]"), Restrict, "Ordered rules, the last match wins; action is \"allow\", \"ask\" or \"deny\"; `match` and `not_match` may list examples, which are checked"),

    key("agents.*.mode", Choice(AgentMode::VARIANTS), Unset("\"subagent\""), Ignored, "Where the agent can be used; \"all\" if not set"),
    key("agents.*.description", Text, Unset("\"Writes documentation\""), Ignored, "What the agent is for, in one line"),
    key("agents.*.prompt", PromptFile, Unset("\"prompts/docs.md\""), Ignored, "The agent's prompt, a file in the folder `prompts` next to your own config.toml"),
    key("agents.*.allowed_tools", Texts, Unset("[\"read\", \"grep\"]"), Ignored, "The tools it may use, in place of rules; \"*\" means all, tools not listed are denied"),
    key("agents.*.denied_tools", Texts, Unset("[\"bash\"]"), Ignored, "Tools it must not use; they override allowed_tools"),
    key("agents.*.tools", Flags, Unset("{ write = false }"), Ignored, "Single tools: true allows, false denies"),
    key("agents.*.rules", ShortRules, Unset("[[\"*\", \"*\", \"deny\"], [\"read\", \"*\", \"allow\"]]"), Ignored, "The agent's ordered rules: permission, pattern, action; they apply after all others, including the three above"),
    key("agents.*.adapter", Adapter, Unset("\"claude\""), Ignored, "The adapter that runs the agent"),
    key("agents.*.model", Text, Unset("\"a-model\""), Ignored, "The model to ask for"),
    key("agents.*.hidden", Flag, Unset("true"), Ignored, "Whether the agent is hidden from models and from lists"),

    key("adapters.*.kind", Choice(AdapterKind::VARIANTS), PerName(&[("codex", "\"codex\""), ("claude", "\"claude\"")], "\"pipe\""), Ignored, "The protocol: codex, claude, or any program that reads a prompt and writes an answer"),
    key("adapters.*.program", Text, PerName(&[("codex", "\"codex\""), ("claude", "\"claude\"")], "\"mytool\""), Ignored, "The program, a name on PATH or a path; ~/ is your home"),
    key("adapters.*.args", Texts, Unset("[\"--stdin\"]"), Ignored, "Arguments before the adapter's own"),
    key("adapters.*.command", Command, Unset("[\"mytool\", \"--stdin\"]"), Ignored, "Program and arguments in one list, instead of program and args"),
    key("adapters.*.env", Environment, Unset("{ NAME = \"value\" }"), Ignored, "Environment variables to add to yours"),
    key("adapters.*.writable", Texts, Unset("[\"~/.cache/mytool\"]"), Ignored, "More folders that the CLI may write to in its sandbox; ~/ is your home"),
    key("adapters.*.model", Text, Unset("\"a-model\""), Ignored, "The model to ask for; the program's default if not set"),

    key("discuss.mode", Choice(DiscussionMode::VARIANTS), Fixed("\"debate\""), Ignored, "How a discussion works: advocate against critic with a moderator, everyone together, or separate answers and a vote"),
    key("discuss.order", Choice(SpeakingOrder::VARIANTS), Fixed("\"simultaneous\""), Ignored, "Whether participants answer at once or in turn, from the second round on"),
    key("discuss.rounds", Number(1, 10), Fixed("3"), Ignored, "Maximum number of rounds"),
    key("discuss.stalemate_rounds", Number(2, 10), Fixed("2"), Ignored, "How many rounds without a change of position end a discussion"),
    key("discuss.concurrency", Number(1, 64), Fixed("2"), Ignored, "How many participants answer at a time, within limits.max_children"),
    key("discuss.timeout", Duration(1, DAY), Fixed("\"10m\""), Ignored, "How long one answer may take; at most a third of it is spent waiting for you"),
    key("discuss.deadline", Duration(1, DAY), Fixed("\"30m\""), Ignored, "How long a discussion may take; then those who answered vote"),
    key("discuss.max_retries", Number(0, 20), Fixed("3"), Ignored, "How often an answer is retried after a temporary failure"),
    key("discuss.keep_sessions", Flag, Fixed("false"), Ignored, "Whether the participants' sessions are kept"),
    key("discuss.budget.profile", Choice(SizeProfile::VARIANTS), Fixed("\"balanced\""), Ignored, "How long messages may be"),
    key("discuss.budget.input_tokens", Number(256, 10_000_000), Fixed("6000"), Ignored, "Tokens for a participant's prompt"),
    key("discuss.budget.min_output_tokens", Number(1, 1_000_000), Fixed("512"), Ignored, "Tokens reserved for the answer"),
    key("discuss.budget.reasoning_headroom_tokens", Number(0, 1_000_000), Fixed("0"), Ignored, "Tokens reserved for thinking"),
    key("discuss.budget.chars_per_token", Number(1, 16), Fixed("4"), Ignored, "Characters that count as one token"),
    key("discuss.budget.adapter.*.input_tokens", Number(256, 10_000_000), Unset("24000"), Ignored, "The same, for participants that this adapter runs"),
    key("discuss.budget.adapter.*.chars_per_token", Number(1, 16), Unset("3"), Ignored, "The same, for participants that this adapter runs"),
    key("discuss.preset.*.agents", Texts, Unset("[\"advocate\", \"critic\", \"moderator\"]"), Ignored, "Who takes part, each as [name=]agent[@adapter]"),
    key("discuss.preset.*.mode", Choice(DiscussionMode::VARIANTS), Unset("\"debate\""), Ignored, "How the discussion works"),
    key("discuss.preset.*.order", Choice(SpeakingOrder::VARIANTS), Unset("\"sequential\""), Ignored, "Whether they answer at once or in turn"),
    key("discuss.preset.*.context", Text, Unset("\"We release each week.\""), Ignored, "Context for every participant, beside the topic"),
    key("discuss.preset.*.rounds", Number(1, 10), Unset("3"), Ignored, "Maximum number of rounds"),
    key("discuss.preset.*.stalemate_rounds", Number(2, 10), Unset("2"), Ignored, "How many rounds without a change of position end it"),
    key("discuss.preset.*.concurrency", Number(1, 64), Unset("2"), Ignored, "How many participants answer at a time"),
    key("discuss.preset.*.timeout", Duration(1, DAY), Unset("\"10m\""), Ignored, "How long one answer may take"),
    key("discuss.preset.*.deadline", Duration(1, DAY), Unset("\"30m\""), Ignored, "How long the whole discussion may take"),
    key("discuss.preset.*.max_retries", Number(0, 20), Unset("3"), Ignored, "How often an answer is retried"),
    key("discuss.preset.*.keep_sessions", Flag, Unset("false"), Ignored, "Whether the participants' sessions are kept"),

    key("screen.theme", Text, Fixed("\"auto\""), Ignored, "The theme: one of those that /theme lists, or \"auto\" to match the terminal"),
    key("screen.notify", Choice(NotificationMethod::VARIANTS), Fixed("\"bell\""), Ignored, "How to notify you in another window when you are needed: `message` sends a desktop notification in the format of the terminal, `osc9` and `osc777` force that format"),
    key("screen.mouse", Flag, Fixed("true"), Ignored, "Whether the program handles clicks and the wheel, in place of the terminal (F3 switches it at any time)"),
    key("screen.linear", Flag, Fixed("false"), Ignored, "Whether to print the screen as lines of text and read your answers as lines (as `--linear` does), for screen readers"),
    key("screen.motion", Choice(MotionLevel::VARIANTS), Fixed("\"full\""), Ignored, "Whether a sign turns and timers run while something works (`full`), or timers move every ten seconds (`reduced`)"),
    key("screen.prompt", Choice(PromptDisplay::VARIANTS), Fixed("\"counts\""), Ignored, "What a turn that waits shows of its prompt: how much is new in it, or also the first new lines"),

    key("keys.*", KeyBindings, Unset("\"ctrl+g\""), UserOnly, "The key of an action, a list of keys, or \"none\"; `agent-collab keys` prints all actions with their keys"),

    key("themes.*.base", Text, Unset("\"nord\""), UserOnly, "The theme to start from; \"terminal\" if not set"),
    key("themes.*.ground", Colour, Unset("\"default\""), UserOnly, "Background"),
    key("themes.*.text", Colour, Unset("\"#e5e9f0\""), UserOnly, "Normal text"),
    key("themes.*.quiet", Colour, Unset("245"), UserOnly, "Messages of this program"),
    key("themes.*.attention", Colour, Unset("\"#ebcb8b\""), UserOnly, "What needs your attention"),
    key("themes.*.warning", Colour, Unset("\"lightred\""), UserOnly, "Warnings"),
    key("themes.*.running", Colour, Unset("\"lightcyan\""), UserOnly, "What is running"),
    key("themes.*.good", Colour, Unset("\"green\""), UserOnly, "Successes, and your own messages"),
    key("themes.*.bad", Colour, Unset("\"#ff8000\""), UserOnly, "Failures"),
    key("themes.*.code", Colour, Unset("\"cyan\""), UserOnly, "Code, commands and keys"),
    key("themes.*.planner", Colour, Unset("\"lightblue\""), UserOnly, "The planner's name"),
    key("themes.*.reviewer", Colour, Unset("\"magenta\""), UserOnly, "The reviewer's name"),
    key("themes.*.panel", Colour, Unset("\"#353c4a\""), UserOnly, "Ground of what stands beside or in the text; these grounds are mixed from the colours above if not set"),
    key("themes.*.raised", Colour, Unset("\"#3b4252\""), UserOnly, "Ground of the composer, popups and your messages"),
    key("themes.*.edge", Colour, Unset("\"#4c566a\""), UserOnly, "Thin lines"),
    key("themes.*.add", Colour, Unset("\"#3a4248\""), UserOnly, "Ground of added lines"),
    key("themes.*.del", Colour, Unset("\"#403d48\""), UserOnly, "Ground of deleted lines"),
    key("themes.*.ask", Colour, Unset("\"#3d4046\""), UserOnly, "Ground of what needs you"),
    key("themes.*.picked", Colour, Unset("\"#535863\""), UserOnly, "Ground of the selected row"),
    key("themes.*.add_word", Colour, Unset("\"#465050\""), UserOnly, "Ground of changed words in added lines"),
    key("themes.*.del_word", Colour, Unset("\"#524650\""), UserOnly, "Ground of changed words in deleted lines"),
    key("themes.*.button", Colour, Unset("\"#3a3c4e\""), UserOnly, "Ground of a choice beside others"),

    key("log.level", Choice(&["error", "warn", "info", "debug", "trace"]), Fixed("\"info\""), Ignored, "The level of the program's own log"),
    key("log.file", Flag, Fixed("true"), Ignored, "Whether to write it to paths.debug_log"),
    key("log.json_file", UserFile, Unset("\"~/agent-collab.jsonl\""), UserOnly, "Another file for the log, outside the repository, with one JSON object per line; rotated like paths.debug_log; ~/ is your home"),
    key("log.console", Flag, Fixed("false"), Ignored, "Whether to write it to standard error too, except while the screen is open"),
    key("log.metadata", Flag, Fixed("true"), Ignored, "Whether entries include fields and module, or only the message"),
    key("log.log_prompts", Flag, Fixed("false"), Ignored, "Whether the log includes whole prompts"),
];

/// Returns why a key of an earlier version has no effect any more; such a key is accepted and ignored.
pub fn retired_key_reason(path: &[String]) -> Option<&'static str> {
    let is_stall_limit = path.iter().eq(["workflow", "stall_limit"]);
    is_stall_limit.then_some("reviews end by rules, see docs/workflow.md")
}

/// The result of looking up a path.
#[derive(Debug, Clone, Copy)]
pub enum KeyLookup {
    Key(&'static ConfigKey),
    /// A table that contains keys.
    Table,
    /// Neither a key nor a table.
    Unknown,
}

/// Looks up a path, given by its segments.
pub fn find_key(path: &[String]) -> KeyLookup {
    if let Some(found) = find_rule_key(path) {
        return found;
    }
    let mut found = KeyLookup::Unknown;
    for key in KEYS {
        match match_path_prefix(key, path) {
            Some(None) => return KeyLookup::Key(key),
            Some(Some(_)) => found = KeyLookup::Table,
            None => {}
        }
    }
    found
}

/// Returns the name of a built-in rule in a path, whether it is written `files.tree` or `"files.tree"`.
pub(super) fn builtin_rule_name(path: &[String]) -> Option<String> {
    match path {
        [safety, builtin, name @ ..] if safety == "safety" && builtin == "builtin" => {
            Some(name.join(".")).filter(|name| !name.is_empty())
        }
        _ => None,
    }
}

/// Looks up a path below the table of built-in rules; `None` for other paths.
fn find_rule_key(path: &[String]) -> Option<KeyLookup> {
    let name = builtin_rule_name(path)?;
    let key = KEYS.iter().find(|key| key.path == BUILTIN_RULE_PATH);
    Some(match (find_builtin_rule(&name), key) {
        (Some(_), Some(key)) => KeyLookup::Key(key),
        _ if all_builtin_rules().any(|rule| rule.family() == name) => KeyLookup::Table,
        _ => KeyLookup::Unknown,
    })
}

/// Returns what follows these segments in a key's path if the path starts with them; `None` if it does not.
pub(super) fn match_path_prefix(
    key: &'static ConfigKey,
    path: &[String],
) -> Option<Option<&'static str>> {
    let mut rest = Some(key.path);
    for have in path {
        let (want, then) = match rest?.split_once('.') {
            Some((want, then)) => (want, Some(then)),
            None => (rest?, None),
        };
        if want != "*" && want != have {
            return None;
        }
        rest = then;
    }
    Some(rest)
}

/// Returns whether the last segment of a path is a name that the user chooses, such as `x` in `adapters.x`.
pub fn is_chosen_name(path: &[String]) -> bool {
    let Some((_, before)) = path.split_last() else {
        return false;
    };
    let is_chosen = |rest: &str| rest == "*" || rest.starts_with("*.");
    KEYS.iter().any(|key| {
        key.path != BUILTIN_RULE_PATH
            && match_path_prefix(key, before)
                .flatten()
                .is_some_and(is_chosen)
    })
}
