//! The list of all configuration keys, in the order of `config.toml`.
//!
//! Keys of planned features are listed too: they are accepted and checked, so that a configuration does not break
//! later.

use super::builtin_rule_overrides;
use super::config_key::{ConfigKey, KeyDefault, UntrustedPolicy, ValueKind};
use crate::permission::command_safety::BuiltinRuleLevel;

use KeyDefault::{Fixed, PerName, Unset};
use UntrustedPolicy::{Append, Ignored, Lower, OnlyFalse, OnlyTrue, Restrict, Tighten, UserOnly};
use ValueKind::{
    Adapter, AdapterOrNone, Choice, Colour, Command, Duration, Environment, FileName, Flag, Flags,
    Folder, KeyBindings, Number, PromptFile, Rules, ShortRules, Size, Text, Texts, UserFile,
};

const DAY: u64 = 86_400;

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

/// The values of `agents.*.mode`.
pub const AGENT_MODES: &[&str] = &["primary", "subagent", "all"];
/// The values of `discuss.mode`.
pub const DISCUSS_MODES: &[&str] = &["debate", "collaborative", "jury"];
/// The values of `discuss.order`.
pub const DISCUSS_ORDERS: &[&str] = &["simultaneous", "sequential"];
/// The values of `adapters.*.kind`.
pub const ADAPTER_KINDS: &[&str] = &["codex", "claude", "pipe"];

/// All configuration keys; the order is that of `config.toml`.
#[rustfmt::skip]
pub const KEYS: &[ConfigKey] = &[
    key("roles.planner", Adapter, Fixed("\"codex\""), Ignored, "The adapter that plans and executes"),
    key("roles.reviewer", AdapterOrNone, Fixed("\"claude\""), Ignored, "The adapter that reviews the plan; \"none\" skips the review"),

    key("workflow.max_iterations", Number(1, 100), Fixed("5"), Lower, "How many reviews a plan may have before you decide"),
    key("workflow.auto_approve", Flag, Fixed("false"), OnlyFalse, "Whether an approved plan is executed without asking you"),
    key("workflow.confirm_enter", Flag, Fixed("false"), OnlyTrue, "Whether Enter must be pressed twice to release a turn"),
    key("workflow.stall_limit", Number(1, 100), Fixed("2"), Lower, "How many reviews in a row may settle no finding before you decide"),
    key("workflow.reviewer_session", Choice(&["resume", "fresh"]), Fixed("\"resume\""), Ignored, "Whether the reviewer remembers its earlier reviews of the run"),

    key("safety.blocked_commands", Texts, Fixed("[\"rm -rf\", \"sudo\", \"chmod 777\", \"> /dev/\"]"), Append, "Commands that always stop and ask you, whatever else allows them"),
    key("safety.require_confirm_for", Texts, Fixed("[\"git push\", \"npm publish\"]"), Append, "Commands that run only after you confirm them"),
    key("safety.contain_agents", Flag, Fixed("true"), OnlyTrue, "Whether claude runs inside a sandbox of the system (bubblewrap), where there is one"),
    key("safety.contain_tests", Flag, Fixed("true"), OnlyTrue, "Whether the tests and commits that this program makes, with their hooks, run inside such a sandbox"),
    key(builtin_rule_overrides::BUILTIN_RULE_PATH, Choice(&BuiltinRuleLevel::NAMES), Unset("\"off\""), Tighten, "What a built-in rule of the guard gives in place of its own class; `agent-collab permissions list --builtin` prints them all"),

    key("paths.workdir", Folder, Fixed("\".agent-collab\""), Ignored, "Where a run keeps its files, inside the repository"),
    key("paths.plan", FileName, Fixed("\"plan.md\""), Ignored, "The plan, in paths.workdir"),
    key("paths.comments", FileName, Fixed("\"comments.md\""), Ignored, "The review and its answers, in paths.workdir"),
    key("paths.log", FileName, Fixed("\"log.md\""), Ignored, "The log of executed steps, in paths.workdir"),
    key("paths.debug_log", FileName, Fixed("\"debug.log\""), Ignored, "The program's own log, in paths.workdir"),
    key("paths.debug_log_max_size", Size(64 * 1024, 1_000_000_000), Fixed("\"10MB\""), Ignored, "The size at which the program's own log is rotated"),

    key("test.default_command", Text, Fixed("\"auto\""), Ignored, "The command that checks a step; \"auto\" finds pytest, npm test, cargo test or go test"),
    key("test.fallback_to_agent", Flag, Fixed("true"), Ignored, "Whether a `Test:` line of the plan counts when no command is found"),
    key("test.baseline", Flag, Fixed("true"), OnlyTrue, "Whether the tests run once before the first step, so that what fails already is no step's fault"),
    key("test.max_fix_turns", Number(0, 20), Fixed("2"), Lower, "How many turns the agent has to mend failing tests of a step"),
    key("test.timeout", Duration(1, DAY), Fixed("\"10m\""), Lower, "How long one run of the tests may take"),
    key("test.network", Choice(&["ask", "loopback", "host"]), Fixed("\"ask\""), Ignored, "Which network tests and the hooks of commits have inside their sandbox: a loopback interface of their own, or the machine's; \"ask\" is loopback until you say otherwise for a repository"),
    key("test.sockets", Texts, Fixed("[]"), UserOnly, "Sockets that tests and the hooks of commits reach although such are hidden, such as \"/run/docker.sock\"; ~/ is your home"),

    key("limits.max_children", Number(1, 64), Fixed("2"), Lower, "How many child sessions run at a time"),
    key("limits.tasks_per_call", Number(1, 256), Fixed("16"), Lower, "How many tasks an agent may give in one call"),
    key("limits.per_adapter", Number(1, 64), Fixed("2"), Lower, "How many turns one adapter runs at a time"),
    key("limits.task_timeout", Duration(1, DAY), Fixed("\"30m\""), Lower, "How long one task of a child session may take"),
    key("limits.task_retries", Number(0, 10), Fixed("2"), Lower, "How often a task is begun again whose CLI could not start, was turned away for a while or lost its connection"),
    key("limits.turn_timeout", Duration(1, DAY), Fixed("\"1h\""), Lower, "How long one turn may take"),
    key("limits.silence", Duration(1, 600), Fixed("\"30s\""), Ignored, "After how long without a word of an agent its processes are looked at"),
    key("limits.tool_patience", Duration(1, 55 * 60), Fixed("\"45m\""), Lower, "How long a tool's call waits for you or for a task before its agent is told to end its turn; what it waited for comes with its next one"),
    key("limits.drain", Duration(1, 600), Fixed("\"30s\""), Lower, "How long a run that is over waits for tasks that are not, before they are interrupted; a signal ends them at once"),
    key("limits.keep_sessions_days", Number(0, 3650), Fixed("14"), Ignored, "How many days finished child sessions are kept"),

    key("permission.rule", Rules, Unset("[{ permission = \"bash\", pattern = \"cargo *\", action = \"allow\" }]"), Restrict, "Ordered rules, the last match wins; action is \"allow\", \"ask\" or \"deny\"; `match` and `not_match` may hold examples, which are checked"),

    key("agents.*.mode", Choice(AGENT_MODES), Unset("\"subagent\""), Ignored, "Where the agent may be used; \"all\" when left out"),
    key("agents.*.description", Text, Unset("\"Writes documentation\""), Ignored, "What the agent is for, in one line"),
    key("agents.*.prompt", PromptFile, Unset("\"prompts/docs.md\""), Ignored, "The agent's prompt, a file in the folder `prompts` beside your own config.toml"),
    key("agents.*.allowed_tools", Texts, Unset("[\"read\", \"grep\"]"), Ignored, "The tools it may use, in place of rules; \"*\" is all, others than these are denied"),
    key("agents.*.denied_tools", Texts, Unset("[\"bash\"]"), Ignored, "Tools it may not use; they win over allowed_tools"),
    key("agents.*.tools", Flags, Unset("{ write = false }"), Ignored, "Single tools, allowed by true and denied by false"),
    key("agents.*.rules", ShortRules, Unset("[[\"*\", \"*\", \"deny\"], [\"read\", \"*\", \"allow\"]]"), Ignored, "The agent's ordered rules: permission, pattern, action; they come after all others, and after the three above"),
    key("agents.*.adapter", Adapter, Unset("\"claude\""), Ignored, "The adapter that plays the agent"),
    key("agents.*.model", Text, Unset("\"a-model\""), Ignored, "The model to ask for"),
    key("agents.*.hidden", Flag, Unset("true"), Ignored, "Whether it is left out of what is offered to models and to you"),

    key("adapters.*.kind", Choice(ADAPTER_KINDS), PerName(&[("codex", "\"codex\""), ("claude", "\"claude\"")], "\"pipe\""), Ignored, "The protocol: codex, claude, or any program that reads a prompt and writes an answer"),
    key("adapters.*.program", Text, PerName(&[("codex", "\"codex\""), ("claude", "\"claude\"")], "\"mytool\""), Ignored, "The program, a name on PATH or a path; ~/ is your home"),
    key("adapters.*.args", Texts, Unset("[\"--stdin\"]"), Ignored, "Arguments put before the adapter's own"),
    key("adapters.*.command", Command, Unset("[\"mytool\", \"--stdin\"]"), Ignored, "Program and arguments in one, instead of program and args"),
    key("adapters.*.env", Environment, Unset("{ NAME = \"value\" }"), Ignored, "Environment variables added to your own"),
    key("adapters.*.writable", Texts, Unset("[\"~/.cache/mytool\"]"), Ignored, "Folders beside the CLI's own that it may write inside its sandbox; ~/ is your home"),
    key("adapters.*.model", Text, Unset("\"a-model\""), Ignored, "The model to ask for; the program's own default when left out"),

    key("discuss.mode", Choice(DISCUSS_MODES), Fixed("\"debate\""), Ignored, "How a discussion goes: advocate against critic and a moderator, everybody together, or answers and a vote"),
    key("discuss.order", Choice(DISCUSS_ORDERS), Fixed("\"simultaneous\""), Ignored, "Whether those of a round after the first speak at once or one after another, each hearing the last"),
    key("discuss.rounds", Number(1, 10), Fixed("3"), Ignored, "How many rounds a discussion has at the most"),
    key("discuss.stalemate_rounds", Number(2, 10), Fixed("2"), Ignored, "After how many rounds with the same stances a discussion ends"),
    key("discuss.concurrency", Number(1, 64), Fixed("2"), Ignored, "How many participants speak at a time, within limits.max_children"),
    key("discuss.timeout", Duration(1, DAY), Fixed("\"10m\""), Ignored, "How long one speech may take, from its start; waiting for you takes a third of it at most"),
    key("discuss.deadline", Duration(1, DAY), Fixed("\"30m\""), Ignored, "How long a whole discussion may take; then those who spoke vote"),
    key("discuss.max_retries", Number(0, 20), Fixed("3"), Ignored, "How often a speech is tried again that failed for what can pass"),
    key("discuss.keep_sessions", Flag, Fixed("false"), Ignored, "Whether the participants' sessions are kept"),
    key("discuss.budget.profile", Choice(&["small", "balanced", "large"]), Fixed("\"balanced\""), Ignored, "How long the messages of a discussion may be"),
    key("discuss.budget.input_tokens", Number(256, 10_000_000), Fixed("6000"), Ignored, "Tokens of a participant's prompt"),
    key("discuss.budget.min_output_tokens", Number(1, 1_000_000), Fixed("512"), Ignored, "Tokens kept free for an answer"),
    key("discuss.budget.reasoning_headroom_tokens", Number(0, 1_000_000), Fixed("0"), Ignored, "Tokens kept free for thinking"),
    key("discuss.budget.chars_per_token", Number(1, 16), Fixed("4"), Ignored, "Characters that count as one token"),
    key("discuss.budget.adapter.*.input_tokens", Number(256, 10_000_000), Unset("24000"), Ignored, "The same for participants that this adapter plays"),
    key("discuss.budget.adapter.*.chars_per_token", Number(1, 16), Unset("3"), Ignored, "The same for participants that this adapter plays"),
    key("discuss.preset.*.agents", Texts, Unset("[\"advocate\", \"critic\", \"moderator\"]"), Ignored, "Who takes part, each as [name=]agent[@adapter]"),
    key("discuss.preset.*.mode", Choice(DISCUSS_MODES), Unset("\"debate\""), Ignored, "How the discussion goes"),
    key("discuss.preset.*.order", Choice(DISCUSS_ORDERS), Unset("\"sequential\""), Ignored, "Whether they speak at once or one after another"),
    key("discuss.preset.*.context", Text, Unset("\"We release each week.\""), Ignored, "What everybody is told beside the topic"),
    key("discuss.preset.*.rounds", Number(1, 10), Unset("3"), Ignored, "How many rounds it has at the most"),
    key("discuss.preset.*.stalemate_rounds", Number(2, 10), Unset("2"), Ignored, "After how many rounds with the same stances it ends"),
    key("discuss.preset.*.concurrency", Number(1, 64), Unset("2"), Ignored, "How many participants speak at a time"),
    key("discuss.preset.*.timeout", Duration(1, DAY), Unset("\"10m\""), Ignored, "How long one speech may take"),
    key("discuss.preset.*.deadline", Duration(1, DAY), Unset("\"30m\""), Ignored, "How long the whole discussion may take"),
    key("discuss.preset.*.max_retries", Number(0, 20), Unset("3"), Ignored, "How often a speech is tried again"),
    key("discuss.preset.*.keep_sessions", Flag, Unset("false"), Ignored, "Whether the participants' sessions are kept"),

    key("screen.theme", Text, Fixed("\"auto\""), Ignored, "What colours are shown as: one of the themes that /theme lists, or \"auto\" for what fits the terminal"),
    key("screen.notify", Choice(&["bell", "message", "osc9", "osc777", "off"]), Fixed("\"bell\""), Ignored, "How you are told that you are needed while you look at another window: `message` is a desktop notification in the form that the terminal is known to take, `osc9` and `osc777` one in that form"),
    key("screen.mouse", Flag, Fixed("true"), Ignored, "Whether the program takes clicks and the wheel; without it they are the terminal's (F3 switches it while the program runs)"),
    key("screen.motion", Choice(&["full", "reduced"]), Fixed("\"full\""), Ignored, "Whether what counts time moves with each second, or every ten"),

    key("keys.*", KeyBindings, Unset("\"ctrl+g\""), UserOnly, "The key of an action, or a list of them, or \"none\"; `agent-collab keys` prints all actions with theirs"),

    key("themes.*.base", Text, Unset("\"nord\""), UserOnly, "The theme that yours begins with; without it \"terminal\""),
    key("themes.*.ground", Colour, Unset("\"default\""), UserOnly, "What lies below everything"),
    key("themes.*.text", Colour, Unset("\"#e5e9f0\""), UserOnly, "Text as it is"),
    key("themes.*.quiet", Colour, Unset("245"), UserOnly, "What this program says"),
    key("themes.*.attention", Colour, Unset("\"#ebcb8b\""), UserOnly, "What needs you, and nothing else"),
    key("themes.*.warning", Colour, Unset("\"lightred\""), UserOnly, "What is to be watched"),
    key("themes.*.running", Colour, Unset("\"lightcyan\""), UserOnly, "What goes on"),
    key("themes.*.good", Colour, Unset("\"green\""), UserOnly, "What went well, and what you said"),
    key("themes.*.bad", Colour, Unset("\"#ff8000\""), UserOnly, "What went wrong"),
    key("themes.*.code", Colour, Unset("\"cyan\""), UserOnly, "Code, commands and keys"),
    key("themes.*.planner", Colour, Unset("\"lightblue\""), UserOnly, "The planner's name"),
    key("themes.*.reviewer", Colour, Unset("\"magenta\""), UserOnly, "The reviewer's name"),

    key("log.level", Choice(&["error", "warn", "info", "debug", "trace"]), Fixed("\"info\""), Ignored, "What the program's own log holds"),
    key("log.file", Flag, Fixed("true"), Ignored, "Whether it is written to paths.debug_log"),
    key("log.json_file", UserFile, Unset("\"~/agent-collab.jsonl\""), UserOnly, "A file of yours outside the repository that gets it too, one JSON object a line; it is rotated like paths.debug_log; ~/ is your home"),
    key("log.console", Flag, Fixed("false"), Ignored, "Whether standard error gets it too; never while the screen is shown"),
    key("log.metadata", Flag, Fixed("true"), Ignored, "Whether an entry holds its fields and the module that wrote it, or its message alone"),
    key("log.log_prompts", Flag, Fixed("false"), Ignored, "Whether the program's own log holds whole prompts"),
];

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
    if let Some(found) = builtin_rule_overrides::find_rule_key(path) {
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

/// Returns what follows these segments in a key's path if the path starts with them; `None` if it does not.
fn match_path_prefix(key: &'static ConfigKey, path: &[String]) -> Option<Option<&'static str>> {
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
        key.path != builtin_rule_overrides::BUILTIN_RULE_PATH
            && match_path_prefix(key, before)
                .flatten()
                .is_some_and(is_chosen)
    })
}
