//! The configuration in force, as plain fields: what the rest of the program reads.
//!
//! Refuses to know where a value comes from; `layers` does.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::config_layers::ConfigLayer;
use super::diagnostic::ConfigLocation;
pub use crate::permission::PermissionAction;
use crate::permission::command_safety::BuiltinRuleLevel;

/// The whole configuration in force.
#[derive(Debug, Clone, PartialEq)]
pub struct AppConfig {
    /// `[roles]`
    pub roles: RolesConfig,
    /// `[workflow]`
    pub workflow: WorkflowConfig,
    /// `[safety]`
    pub safety: SafetyConfig,
    /// `[paths]`
    pub paths: PathsConfig,
    /// `[test]`
    pub test: TestConfig,
    /// `[limits]`
    pub limits: LimitsConfig,
    /// `[permission]`
    pub permission: PermissionConfig,
    /// `[agents.<as_str>]`
    pub agents: BTreeMap<String, AgentConfig>,
    /// `[adapters.<as_str>]`; `codex` and `claude` are always there.
    pub adapters: BTreeMap<String, AdapterConfig>,
    /// `[discuss]`
    pub discuss: DiscussionConfig,
    /// `[screen]`
    pub screen: ScreenConfig,
    /// `[keys]`: an action's name and how its keys are spelled.
    pub keys: BTreeMap<String, Vec<String>>,
    /// `[themes.<as_str>]`: a field's name and its text.
    pub themes: BTreeMap<String, BTreeMap<String, String>>,
    /// `[log]`
    pub log: LogConfig,
}

/// Which adapter plays which role. Every name is one of [`AppConfig::adapters`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RolesConfig {
    /// The adapter that plans and executes.
    pub planner: String,
    /// The adapter that reviews; `None` skips the review.
    pub reviewer: Option<String>,
}

/// How the review loop goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowConfig {
    /// Reviews of a plan before the user decides, 1 to 100.
    pub max_iterations: u32,
    /// Whether an approved plan is executed without asking.
    pub auto_approve: bool,
    /// Whether Enter must be pressed twice to release a turn.
    pub confirm_enter: bool,
    /// Reviews in a row without progress before the user decides, 1 to 100.
    pub stall_limit: u32,
    /// Whether the reviewer remembers its earlier reviews.
    pub reviewer_session: ReviewerSession,
}

/// Whether the reviewer remembers its earlier reviews of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewerSession {
    /// One conversation for all reviews.
    Resume,
    /// A new conversation for each review.
    Fresh,
}

/// Commands that are held back whatever else allows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafetyConfig {
    /// Commands that stop and ask.
    pub blocked_commands: Vec<String>,
    /// Commands that run only after confirmation.
    pub require_confirm_for: Vec<String>,
    /// What is made of built-in rules, by their names.
    pub builtin: BTreeMap<String, BuiltinRuleOverride>,
    /// Whether CLIs without a sandbox of their own run inside one of the system's.
    pub contain_agents: bool,
    /// Whether the program's own test commands run inside one.
    pub contain_tests: bool,
}

/// What somebody made of a built-in rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltinRuleOverride {
    /// What it gives now.
    pub change: BuiltinRuleLevel,
    /// Who said so.
    pub layer: ConfigLayer,
    /// Where it stands.
    pub place: ConfigLocation,
}

/// Where a run keeps its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathsConfig {
    /// The work directory, relative to the repository root, without `..`.
    pub workdir: PathBuf,
    /// The plan's file name in the work directory; the four names differ from one another.
    pub plan: String,
    /// The review's file name.
    pub comments: String,
    /// The step log's file name.
    pub log: String,
    /// The file name of the program's own log.
    pub debug_log: String,
    /// The size in bytes at which the program's own log is rotated.
    pub debug_log_max_bytes: u64,
}

/// How a step is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestConfig {
    /// The command.
    pub command: TestCommandChoice,
    /// Whether a `TestConfig:` line of the plan counts when no command is found.
    pub fallback_to_agent: bool,
    /// Whether the tests run once before the first step.
    pub baseline: bool,
    /// Turns to mend failing tests of a step, 0 to 20.
    pub max_fix_turns: u32,
    /// How long one run of the tests may take.
    pub timeout: Duration,
    /// Which network tests have inside their sandbox.
    pub network: ConfiguredTestNetwork,
    /// Sockets that they reach although such are hidden.
    pub sockets: Vec<PathBuf>,
}

/// Which network tests have inside their sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfiguredTestNetwork {
    /// A loopback interface of their own, until the user says otherwise for the repository.
    Ask,
    /// A loopback interface of their own.
    Loopback,
    /// The machine's.
    Host,
}

/// Which command checks a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestCommandChoice {
    /// The one that the repository's files suggest.
    Detect,
    /// This shell command line.
    Line(String),
}

/// Caps on time and number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitsConfig {
    /// Child sessions at a time.
    pub max_children: u32,
    /// Tasks in one call.
    pub tasks_per_call: u32,
    /// Turns at a time of one adapter.
    pub per_adapter: u32,
    /// One task of a child session.
    pub task_timeout: Duration,
    /// How often a task is begun again that could pass, 0 to 10.
    pub task_retries: u32,
    /// One turn.
    pub turn_timeout: Duration,
    /// After how long without an event of a turn its processes are looked at, 1 s to 10 min.
    pub silence: Duration,
    /// How long a tool's call waits before its agent is told to go on without the answer; shorter than CLIs wait.
    pub tool_patience: Duration,
    /// Waiting for running children at the end.
    pub drain: Duration,
    /// Days that finished child sessions are kept.
    pub keep_sessions_days: u32,
}

/// Written permissions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PermissionConfig {
    /// Rules of the user and of a trusted project, in order; the last match wins.
    pub rules: Vec<ConfigRule>,
    /// Rules of an untrusted project; none allows. They are a second list beside `rules`: the
    /// stricter answer of the two holds, so that none of them can soften a deny of the user.
    pub restrictions: Vec<ConfigRule>,
}

/// One permission rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigRule {
    /// What it is about: `bash`, `edit`, `read`, …, or `*`.
    pub permission: String,
    /// The pattern of the target.
    pub pattern: String,
    /// What happens on a match.
    pub action: PermissionAction,
    /// The layer that it comes from.
    pub layer: ConfigLayer,
    /// Where it stands.
    pub place: ConfigLocation,
}

/// One agent of the user's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentConfig {
    /// Where it may be used: `primary`, `subagent` or `all`; `None` leaves it to the built-in one of its name, else all.
    pub mode: Option<String>,
    /// Whether it is left out of what is offered.
    pub hidden: bool,
    /// What it is for.
    pub description: Option<String>,
    /// Its prompt's file, `prompts/<as_str>.md` beside the configuration file.
    pub prompt: Option<String>,
    /// Its ordered rules, each of the layer that names them; what lists and tables of tools say stands first.
    pub rules: Vec<ConfigRule>,
    /// The adapter that plays it.
    pub adapter: Option<String>,
    /// The model to ask for.
    pub model: Option<String>,
}

/// One adapter, ready to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterConfig {
    /// The protocol it speaks.
    pub kind: AdapterKind,
    /// The program, a name on PATH or a path.
    pub program: String,
    /// Arguments put before the adapter's own.
    pub args: Vec<String>,
    /// Environment added to the user's own.
    pub env: BTreeMap<String, String>,
    /// The model to ask for; `None` leaves the program's default.
    pub model: Option<String>,
    /// Folders beside the CLI's own that it may write inside a sandbox of the system's.
    pub writable: Vec<PathBuf>,
}

/// The protocols there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdapterKind {
    /// `codex app-server`.
    Codex,
    /// `claude` with stream-json.
    Claude,
    /// A program that reads a prompt and writes an answer.
    Pipe,
}

impl AdapterKind {
    /// Names the kind as the configuration does.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::Pipe => "pipe",
        }
    }
}

/// How discussions go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscussionConfig {
    /// What holds when a preset says nothing; every field but `agents` and `context` is set.
    pub defaults: DiscussionPreset,
    /// How much a participant reads and writes.
    pub budget: DiscussionBudgetConfig,
    /// `[discuss.preset.<as_str>]`
    pub presets: BTreeMap<String, DiscussionPreset>,
}

/// A named set of arguments of a discussion; `None` leaves the default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiscussionPreset {
    /// Who takes part.
    pub agents: Option<Vec<String>>,
    /// `debate`, `collaborative` or `jury`.
    pub mode: Option<String>,
    /// `simultaneous` or `sequential`.
    pub order: Option<String>,
    /// What everybody is told beside the topic; never among the defaults.
    pub context: Option<String>,
    /// Rounds at the most, 1 to 10.
    pub rounds: Option<u32>,
    /// Rounds with the same stances after which it ends, 2 to 10.
    pub stalemate_rounds: Option<u32>,
    /// Participants that speak at a time.
    pub concurrency: Option<u32>,
    /// How long one speech may take, from its start.
    pub timeout: Option<Duration>,
    /// How long the whole discussion may take.
    pub deadline: Option<Duration>,
    /// New tries of a speech that failed for what can pass.
    pub max_retries: Option<u32>,
    /// Whether the participants' sessions are kept.
    pub keep_sessions: Option<bool>,
}

/// How much a participant of a discussion reads and writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscussionBudgetConfig {
    /// `small`, `balanced` or `large`.
    pub profile: String,
    /// Tokens of a prompt.
    pub input_tokens: u64,
    /// Tokens kept free for an answer.
    pub min_output_tokens: u64,
    /// Tokens kept free for thinking.
    pub reasoning_headroom_tokens: u64,
    /// Characters that count as one token.
    pub chars_per_token: u64,
    /// `[discuss.budget.adapter.<as_str>]`: what is other for those that an adapter plays.
    pub adapters: BTreeMap<String, AdapterBudgetConfig>,
}

/// What of a budget is other for participants that one adapter plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AdapterBudgetConfig {
    /// Tokens of a prompt.
    pub input_tokens: Option<u64>,
    /// Characters that count as one token.
    pub chars_per_token: Option<u64>,
}

/// How the full-screen program looks and calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenConfig {
    /// The theme's name, or `auto`.
    pub theme: String,
    /// Whether the program takes clicks and the wheel.
    pub mouse: bool,
    /// How much moves by itself.
    pub motion: MotionLevel,
    /// How a user is told who looks elsewhere.
    pub notify: NotificationMethod,
}

/// How much of the screen moves by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MotionLevel {
    /// What counts time moves with each second.
    #[default]
    Full,
    /// It moves now and then.
    Reduced,
}

/// How a user is told that they are needed who looks at another window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NotificationMethod {
    /// By the terminal's bell.
    #[default]
    Bell,
    /// By a message of the terminal, in the form that it is known to take, and the bell.
    Message,
    /// By a message in the form of iTerm2 (OSC 9), and the bell.
    Osc9,
    /// By a message in the form of rxvt (OSC 777), and the bell.
    Osc777,
    /// Not at all.
    Off,
}

/// The program's own log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogConfig {
    /// `error`, `warn`, `info`, `debug` or `trace`.
    pub level: String,
    /// Whether it is written to [`PathsConfig::debug_log`].
    pub file: bool,
    /// The file of the user's that gets it as lines of JSON.
    pub json_file: Option<PathBuf>,
    /// Whether standard error gets it where no screen is shown.
    pub console: bool,
    /// Whether an entry holds more than its message.
    pub metadata: bool,
    /// Whether it holds whole prompts.
    pub log_prompts: bool,
}
