//! The effective configuration as plain fields, for the rest of the program to read.
//!
//! Fields are named as the keys of the file. Values are in the form of `value_check`: durations in milliseconds, sizes in
//! bytes. The origin of each value is in `config_layers`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use strum::VariantNames;

use super::config_layer::ConfigLayer;
use super::diagnostic::ConfigLocation;
use crate::domain::adapter_kind::AdapterKind;
use crate::domain::discussion::{BudgetSettings, DiscussionOverrides, DiscussionSettings};
use crate::domain::test_command::TestCommandPart;
use crate::permission::command_safety::BuiltinRuleLevel;
pub use crate::permission::{AgentMode, PermissionAction};

/// The whole effective configuration, except `[keys]` and `[themes]`, which the screen reads and checks.
#[derive(Debug, Clone, PartialEq, Deserialize)]
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
    /// `[commit]`
    pub commit: CommitConfig,
    /// `[limits]`
    pub limits: LimitsConfig,
    /// `[permission]`
    #[serde(skip)]
    pub permission: PermissionConfig,
    /// `[agents.<name>]`
    #[serde(default)]
    pub agents: BTreeMap<String, AgentConfig>,
    /// `[adapters.<name>]`; `codex` and `claude` are always present.
    pub adapters: BTreeMap<String, AdapterConfig>,
    /// `[discuss]`
    pub discuss: DiscussionConfig,
    /// `[screen]`
    pub screen: ScreenConfig,
    /// `[log]`
    pub log: LogConfig,
}

/// Which adapter plays which role. Every name is one of [`AppConfig::adapters`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RolesConfig {
    /// The adapter that plans and executes.
    pub planner: String,
    /// The adapter that reviews; `None` skips the review.
    pub reviewer: Option<String>,
}

/// The settings of the review loop.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct WorkflowConfig {
    /// Reviews of a plan before the user decides, 1 to 100.
    pub max_iterations: u32,
    /// Whether an approved plan is executed without asking.
    pub auto_approve: bool,
    /// Whether Enter must be pressed twice to release a turn.
    pub confirm_enter: bool,
    /// Whether the reviewer remembers its earlier reviews.
    pub reviewer_session: ReviewerSession,
    /// Whether another version of this program or of a CLI needs a new approval of a running execution.
    pub bind_versions: bool,
}

/// Whether the reviewer remembers its earlier reviews of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ReviewerSession {
    /// One conversation for all reviews.
    Resume,
    /// A new conversation for each review.
    Fresh,
}

/// Commands that are held back, whatever else allows them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SafetyConfig {
    /// Commands that stop and ask.
    pub blocked_commands: Vec<String>,
    /// Commands that run only after confirmation.
    pub require_confirm_for: Vec<String>,
    /// The changed built-in rules, by name.
    #[serde(skip)]
    pub builtin: BTreeMap<String, BuiltinRuleOverride>,
    /// Whether CLIs without their own sandbox run inside a sandbox of the operating system.
    pub contain_agents: bool,
    /// Whether the program's own test commands run inside such a sandbox.
    pub contain_tests: bool,
}

/// A change of a built-in rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltinRuleOverride {
    /// The new level of the rule.
    pub change: BuiltinRuleLevel,
    /// The layer that sets it.
    pub layer: ConfigLayer,
    /// The file and line that set it.
    pub place: ConfigLocation,
}

/// The folder and file names of a run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PathsConfig {
    /// The work directory, relative to the repository root, without `..`.
    pub workdir: PathBuf,
    /// The plan's file name in the work directory; the four file names must differ from one another.
    pub plan: String,
    /// The review's file name.
    pub comments: String,
    /// The step log's file name.
    pub log: String,
    /// The file name of the program's own log.
    pub debug_log: String,
    /// The size in bytes at which the program's own log is rotated.
    #[serde(rename = "debug_log_max_size")]
    pub debug_log_max_bytes: u64,
}

/// How a step is tested.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TestConfig {
    #[serde(rename = "default_command")]
    pub command: TestCommandChoice,
    /// Several commands, each for its paths; empty where `default_command` is the one.
    #[serde(rename = "command", default)]
    pub commands: Vec<TestCommandPart>,
    /// Whether a `Test:` line of the plan counts if no command is found.
    pub fallback_to_agent: bool,
    /// Whether the tests run once before the first step.
    pub baseline: bool,
    /// How many turns may fix the failing tests of a step, 0 to 20.
    pub max_fix_turns: u32,
    /// The time limit of one test run.
    #[serde(deserialize_with = "duration_from_millis")]
    pub timeout: Duration,
    /// The network that tests have inside their sandbox.
    pub network: ConfiguredTestNetwork,
    /// How a step is proven.
    pub proof: ConfiguredProof,
    /// More path patterns of tests, relative to the root.
    pub paths: Vec<String>,
    /// More variables of the test environment, as `NAME` or `NAME=value`.
    pub env: Vec<String>,
    /// Paths in no commit that a clean copy needs, relative to the root.
    pub carry: Vec<String>,
    /// What runs in each clean copy before its tests.
    pub setup: Option<String>,
    /// Sockets that tests may use although sockets are hidden from them.
    pub sockets: Vec<PathBuf>,
}

/// How steps are committed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CommitConfig {
    /// Whether commits name their step, plan and receipt in trailers.
    pub trailers: bool,
    /// Whether the receipts are written into git notes of the commits, too.
    pub notes: bool,
}

/// How a step is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ConfiguredProof {
    /// Old and new tests meet old and new code in clean copies of the repository.
    Full,
    /// As `Full`, but each step with the tests that it names or changes, and the whole suite once at the end.
    Red,
    /// The tests run once, in the working tree.
    Off,
}

/// The network that tests have inside their sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ConfiguredTestNetwork {
    /// A loopback interface of their own, until the user decides otherwise for the repository.
    Ask,
    /// A loopback interface of their own.
    Loopback,
    Host,
}

/// The command that tests a step.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum TestCommandChoice {
    /// The command that the repository's files suggest.
    Detect,
    /// This shell command line.
    Line(String),
}

impl From<String> for TestCommandChoice {
    fn from(line: String) -> Self {
        if line == "auto" {
            Self::Detect
        } else {
            Self::Line(line)
        }
    }
}

/// Limits on time and number.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct LimitsConfig {
    /// The number of concurrent child sessions.
    pub max_children: u32,
    /// The number of tasks in one call.
    pub tasks_per_call: u32,
    /// The number of concurrent turns of one adapter.
    pub per_adapter: u32,
    /// The time limit of one task of a child session.
    #[serde(deserialize_with = "duration_from_millis")]
    pub task_timeout: Duration,
    /// How often a task is retried after a transient failure, 0 to 10.
    pub task_retries: u32,
    /// The time limit of one turn.
    #[serde(deserialize_with = "duration_from_millis")]
    pub turn_timeout: Duration,
    /// After how long without an event of a turn its processes are checked, 1 s to 10 min.
    #[serde(deserialize_with = "duration_from_millis")]
    pub silence: Duration,
    /// How long a tool call waits before its agent is told to continue without the answer; shorter than CLIs wait.
    #[serde(deserialize_with = "duration_from_millis")]
    pub tool_patience: Duration,
    /// How long to wait for running children at the end.
    #[serde(deserialize_with = "duration_from_millis")]
    pub drain: Duration,
    /// How many days finished child sessions are kept.
    pub keep_sessions_days: u32,
}

/// The configured permission rules.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PermissionConfig {
    /// Rules of the user and of a trusted project, in order; the last match wins.
    pub rules: Vec<ConfigRule>,
    /// Rules of an untrusted project; none allows anything. They are a separate list next to `rules`: the
    /// stricter answer of the two counts, so that no project rule can soften a deny of the user.
    pub restrictions: Vec<ConfigRule>,
}

/// One permission rule with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigRule {
    /// The permission that it is about: `bash`, `edit`, `read`, …, or `*`.
    pub permission: String,
    /// The pattern of the target.
    pub pattern: String,
    /// The action on a match.
    pub action: PermissionAction,
    pub layer: ConfigLayer,
    /// The file and line that contain it.
    pub place: ConfigLocation,
}

/// An agent that the user configured.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct AgentConfig {
    /// Where it may be used. `None` means the mode of the built-in agent of its name, or else [`AgentMode::All`].
    pub mode: Option<AgentMode>,
    /// Whether it is left out of lists of agents.
    #[serde(default)]
    pub hidden: bool,
    /// What the agent is for.
    pub description: Option<String>,
    /// Its prompt file, `prompts/<name>.md` next to the configuration file.
    pub prompt: Option<String>,
    /// Its rules in order, each with its layer; those from lists and tables of tools come first.
    #[serde(skip)]
    pub rules: Vec<ConfigRule>,
    /// The adapter that runs it.
    pub adapter: Option<String>,
    /// The model to ask for.
    pub model: Option<String>,
}

/// One adapter, ready to start.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AdapterConfig {
    /// The protocol that it speaks.
    pub kind: AdapterKind,
    /// The program: a name on PATH or a path.
    pub program: String,
    /// Arguments put before the adapter's own.
    #[serde(default)]
    pub args: Vec<String>,
    /// Environment added to the user's own.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The model to ask for; `None` leaves the program's default.
    pub model: Option<String>,
    /// Folders that it may write inside a sandbox of the operating system, in addition to the CLI's own.
    #[serde(default)]
    pub writable: Vec<PathBuf>,
}

/// The settings of discussions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct DiscussionConfig {
    /// The values that apply if a preset leaves them out.
    #[serde(flatten)]
    pub defaults: DiscussionOverrides,
    /// `[discuss.budget.adapter.<name>]`, completed from `[discuss.budget]`.
    #[serde(default)]
    pub adapter_budgets: BTreeMap<String, BudgetSettings>,
    /// `[discuss.preset.<name>]`
    #[serde(default, rename = "preset")]
    pub presets: BTreeMap<String, DiscussionOverrides>,
}

impl DiscussionConfig {
    /// Returns the settings of a discussion without preset and arguments.
    pub fn default_settings(&self) -> DiscussionSettings {
        DiscussionSettings {
            adapter_budgets: self.adapter_budgets.clone(),
            ..self.defaults.apply_to(DiscussionSettings::default())
        }
    }
}

/// The appearance and the notifications of the full-screen program.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ScreenConfig {
    /// The theme's name, or `auto`.
    pub theme: String,
    /// Whether the program handles clicks and the mouse wheel.
    pub mouse: bool,
    /// Whether the screen is printed as lines of text.
    pub linear: bool,
    /// How much of the screen moves by itself.
    pub motion: MotionLevel,
    /// What a turn that waits shows of its prompt.
    pub prompt: PromptDisplay,
    /// How to notify a user who looks at another window.
    pub notify: NotificationMethod,
}

/// How much of the screen moves by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum MotionLevel {
    /// A sign turns while something works and the user looks, and timers run.
    #[default]
    Full,
    /// Nothing turns, and timers move now and then.
    Reduced,
}

/// What a turn that waits shows of its prompt; a key shows all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum PromptDisplay {
    /// How long it is, and what is new in it.
    #[default]
    Counts,
    /// Also its first new lines.
    Preview,
}

/// How to notify a user who is needed but looks at another window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum NotificationMethod {
    /// With the terminal's bell.
    #[default]
    Bell,
    /// With a terminal message, in the form that the terminal is known to support, and the bell.
    Message,
    /// With a message in the form of iTerm2 (OSC 9), and the bell.
    Osc9,
    /// With a message in the form of rxvt (OSC 777), and the bell.
    Osc777,
    /// Not at all.
    Off,
}

/// The program's own log.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct LogConfig {
    /// `error`, `warn`, `info`, `debug` or `trace`.
    pub level: String,
    /// Whether it is written to [`PathsConfig::debug_log`].
    pub file: bool,
    /// A file of the user that receives the log as lines of JSON.
    pub json_file: Option<PathBuf>,
    /// Whether standard error receives the log while no screen is shown.
    pub console: bool,
    /// Whether an entry contains more than its message.
    pub metadata: bool,
    /// Whether the log contains whole prompts.
    pub log_prompts: bool,
}

fn duration_from_millis<'de, D: Deserializer<'de>>(value: D) -> Result<Duration, D::Error> {
    u64::deserialize(value).map(Duration::from_millis)
}
