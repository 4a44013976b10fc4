//! Defines the script of a scripted agent: turns, and the actions in each.
//!
//! The script is independent of the protocol. Actions that the real program was never recorded doing are rejected when
//! the script is loaded (`loader.rs`), so that no turn fails half-way because of them.

use serde::Deserialize;
use serde_json::Value;

mod loader;

pub use loader::ScriptError;

/// How a prompt that asks for a review of a plan says so.
const REVIEW_HEADER: &str = "[agent-collab REVIEW ";

/// The whole script of a scripted agent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentScript {
    /// The version to report instead of the recorded one.
    #[serde(default)]
    pub version: Option<String>,
    /// The model to report.
    #[serde(default)]
    pub model: Option<String>,
    /// A program that calls the host's tools in place of this agent. It is started instead of the tool server, with the
    /// server's command line after its own, and used through the same protocol.
    #[serde(default)]
    pub tool_client: Vec<String>,
    /// The turns, in order.
    #[serde(default, rename = "turn")]
    pub turns: Vec<ScriptTurn>,
}

/// One turn: when it is played and what it does.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptTurn {
    /// Text that the prompt must contain; a turn without it matches every prompt that no other turn matches.
    #[serde(default)]
    pub when: Option<String>,
    /// How often it may be played.
    #[serde(default)]
    pub uses: ScriptTurnUses,
    /// Which files it opens before its actions.
    #[serde(default)]
    pub opens: ScriptOpenedFiles,
    /// What is done, in order.
    #[serde(default, rename = "action")]
    pub actions: Vec<ScriptAction>,
}

/// Which files a turn opens before its actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptOpenedFiles {
    /// Those that a prompt for a review names and that exist, as an honest reviewer does.
    #[default]
    Reviewed,
    Nothing,
}

/// How often a turn may be played in one conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptTurnUses {
    #[default]
    Once,
    /// Every time it matches.
    Always,
}

/// One action of an agent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum ScriptAction {
    /// Sends a message, in deltas.
    Text(ScriptSpeech),
    /// Sends thinking, in deltas.
    Thinking(ScriptSpeech),
    /// Starts a message, loses the stream and withdraws it; the real program retries.
    Cut(ScriptSpeech),
    /// Runs a shell command.
    Command(ScriptCommand),
    /// Opens the files that the prompt names and that exist.
    Open(ScriptFileReads),
    /// Writes a whole file.
    Write(ScriptFileWrite),
    /// Replaces one text in a file.
    Edit(ScriptFileEdit),
    /// Asks the user (claude only).
    Question(ScriptQuestion),
    /// Fails, or recovers after retries.
    Error(ScriptFailure),
    Stall(ScriptStall),
    /// Ends the process in the middle of the turn.
    Exit(ScriptExit),
    /// Sends a frame unchanged, for frames that our program does not know.
    Frame(ScriptRawFrame),
    /// Sends a line that is not JSON.
    Malformed(ScriptMalformedLine),
    /// Plays a turn that was not requested, after this one (claude only).
    Unsolicited(ScriptUnsolicitedTurn),
    /// Calls a tool of the host, through the server that the host registered.
    Tool(ScriptToolCall),
    Usage(ScriptUsage),
}

/// A call of a host tool; its result is `${answer}` from then on.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptToolCall {
    /// The tool, by the host's name for it.
    pub tool: String,
    /// The arguments; `${…}` in their strings is filled in.
    #[serde(default = "nothing")]
    pub input: Value,
    /// The actions after a successful call.
    #[serde(default)]
    pub if_done: Vec<ScriptAction>,
    /// The actions after a failed call.
    #[serde(default)]
    pub if_failed: Vec<ScriptAction>,
}

/// Text that is sent in deltas.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptSpeech {
    /// The text; `${…}` is filled in.
    pub text: String,
    /// Milliseconds before each delta.
    #[serde(default)]
    pub pause_ms: u64,
    /// The size of the deltas.
    #[serde(default)]
    pub delta: DeltaGranularity,
    /// How often the text is repeated, for long answers.
    #[serde(default = "once")]
    pub repeat: u32,
}

/// How text is divided into deltas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeltaGranularity {
    /// A word at a time.
    #[default]
    Word,
    /// A line at a time.
    Line,
    /// All at once.
    Whole,
}

/// Whether the user is asked before a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptAskPolicy {
    /// As the real program would in this turn.
    #[default]
    AsReal,
    /// Always (codex: an escalation out of the sandbox).
    Always,
}

/// A shell command, really run by `sh -c`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptCommand {
    pub run: String,
    /// The reason for the command.
    #[serde(default)]
    pub reason: Option<String>,
    /// Whether the agent asks first.
    #[serde(default)]
    pub ask: ScriptAskPolicy,
    /// The actions after it ran.
    #[serde(default)]
    pub if_allowed: Vec<ScriptAction>,
    /// The actions after it was denied.
    #[serde(default)]
    pub if_denied: Vec<ScriptAction>,
}

/// Files that are really read: those that the prompt names.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptFileReads {}

/// A whole file, really written.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptFileWrite {
    /// The path, absolute or relative to the working directory.
    pub path: String,
    /// The new content of the file.
    pub content: String,
    /// Whether the agent asks first.
    #[serde(default)]
    pub ask: ScriptAskPolicy,
    /// The actions after it was written.
    #[serde(default)]
    pub if_allowed: Vec<ScriptAction>,
    /// The actions after it was denied.
    #[serde(default)]
    pub if_denied: Vec<ScriptAction>,
}

/// A text in a file, really replaced.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptFileEdit {
    /// The path, absolute or relative to the working directory.
    pub path: String,
    /// The text to replace; only its first occurrence is replaced.
    pub find: String,
    pub replace: String,
    /// Whether the agent asks first.
    #[serde(default)]
    pub ask: ScriptAskPolicy,
    /// The actions after the change.
    #[serde(default)]
    pub if_allowed: Vec<ScriptAction>,
    /// The actions after it was denied.
    #[serde(default)]
    pub if_denied: Vec<ScriptAction>,
}

/// A question to the user; its answer is `${answer}` from then on.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptQuestion {
    pub question: String,
    /// The heading of the question, one or two words.
    #[serde(default)]
    pub header: String,
    pub options: Vec<String>,
    /// The actions after an answer.
    #[serde(default)]
    pub if_answered: Vec<ScriptAction>,
    /// The actions if the user dismisses the question.
    #[serde(default)]
    pub if_dismissed: Vec<ScriptAction>,
}

/// A failure of the model service.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptFailure {
    /// The kind of failure.
    pub kind: ScriptFailureKind,
    /// How many retries are reported first.
    #[serde(default)]
    pub retries: u32,
    /// The number of seconds until a used-up limit resets, as the service reports it; without it no reset is reported.
    #[serde(default)]
    pub resets_in: Option<i64>,
    /// Milliseconds before each report.
    #[serde(default)]
    pub pause_ms: u64,
    /// The outcome of the failure.
    #[serde(default)]
    pub outcome: ScriptFailureOutcome,
}

/// The kinds of failure that a script can play.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptFailureKind {
    /// HTTP status 401.
    Unauthorized,
    /// HTTP status 429.
    RateLimit,
    /// The plan's limit is used up.
    UsageLimit,
    /// HTTP status 500 (codex) or 529 (claude).
    Server,
    /// The service cannot be reached.
    Connection,
}

/// The outcome of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptFailureOutcome {
    #[default]
    Fails,
    Recovers,
}

/// A pause without any output.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptStall {
    /// The length in milliseconds; without it until the turn is interrupted or the process ended.
    #[serde(default)]
    pub ms: Option<u64>,
}

/// The end of the process.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptExit {
    #[serde(default)]
    pub code: i32,
    /// The text to write to standard error first.
    #[serde(default)]
    pub stderr: Option<String>,
}

/// A frame that is sent unchanged.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptRawFrame {
    /// The frame; `${…}` in its strings is filled in.
    pub json: Value,
}

/// A line that is not JSON.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptMalformedLine {
    /// The line, without a line end.
    pub line: String,
}

/// A turn that was not requested.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptUnsolicitedTurn {
    /// The actions of the turn.
    #[serde(rename = "action")]
    pub actions: Vec<ScriptAction>,
}

/// The tokens of one request to the model.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptUsage {
    pub input: u64,
    pub output: u64,
    /// The cost in US dollars (claude only).
    #[serde(default)]
    pub cost_usd: f64,
}

fn once() -> u32 {
    1
}

/// Returns the arguments of a tool that has none.
fn nothing() -> Value {
    Value::Object(serde_json::Map::new())
}

impl ScriptTurn {
    /// Returns what is done for a prompt, in order.
    pub fn actions_for(&self, prompt: &str) -> Vec<ScriptAction> {
        let reads = self.opens == ScriptOpenedFiles::Reviewed && prompt.contains(REVIEW_HEADER);
        let reads = reads.then_some(ScriptAction::Open(ScriptFileReads {}));
        reads
            .into_iter()
            .chain(self.actions.iter().cloned())
            .collect()
    }
}

impl ScriptSpeech {
    /// Splits the whole text, with placeholders already filled in, into its deltas.
    pub fn split_into_deltas<'a>(&self, text: &'a str) -> Vec<&'a str> {
        match self.delta {
            DeltaGranularity::Word => text.split_inclusive([' ', '\n']).collect(),
            DeltaGranularity::Line => text.split_inclusive('\n').collect(),
            DeltaGranularity::Whole if text.is_empty() => vec![],
            DeltaGranularity::Whole => vec![text],
        }
    }
}
