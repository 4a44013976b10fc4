//! The script of a scripted agent: turns, and what is done in each.
//!
//! Knows neither protocol; what one of them was never recorded saying is refused when the script
//! is loaded (`load.rs`), so that no turn fails half-way for it.

use serde::Deserialize;
use serde_json::Value;

mod loader;

pub use loader::ScriptError;

/// A whole script.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentScript {
    /// The version to report instead of the recorded one.
    #[serde(default)]
    pub version: Option<String>,
    /// The model to report.
    #[serde(default)]
    pub model: Option<String>,
    /// A program that calls the host's tools in this agent's place: it is started as their server would be, with the
    /// server's command line after its own, and spoken to in the same way.
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
    /// Text that the prompt must contain; without it the turn fits every prompt that fits no other.
    #[serde(default)]
    pub when: Option<String>,
    /// How often it may be played.
    #[serde(default)]
    pub uses: ScriptTurnUses,
    /// What is done, in order.
    #[serde(default, rename = "action")]
    pub actions: Vec<ScriptAction>,
}

/// How often a turn may be played in one conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptTurnUses {
    /// Once.
    #[default]
    Once,
    /// Whenever it fits.
    Always,
}

/// One thing that an agent does.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum ScriptAction {
    /// Says something, in deltas.
    Text(ScriptSpeech),
    /// Thinks something, in deltas.
    Thinking(ScriptSpeech),
    /// Begins to say something, loses the stream and takes it back; the real program retries.
    Cut(ScriptSpeech),
    /// Runs a shell command.
    Command(ScriptCommand),
    /// Writes a whole file.
    Write(ScriptFileWrite),
    /// Replaces one passage of a file.
    Edit(ScriptFileEdit),
    /// Asks the user (claude only).
    Question(ScriptQuestion),
    /// Fails, or recovers after retries.
    Error(ScriptFailure),
    /// Is silent.
    Stall(ScriptStall),
    /// Ends the process in the middle of the turn.
    Exit(ScriptExit),
    /// Emits a frame as it stands, for frames that our program does not know.
    Frame(ScriptRawFrame),
    /// Emits a line that is no JSON at all.
    Malformed(ScriptMalformedLine),
    /// Plays a turn that nobody asked for, after this one (claude only).
    Unsolicited(ScriptUnsolicitedTurn),
    /// Calls a tool of the host's, through the server that the host registered.
    Tool(ScriptToolCall),
    /// Counts tokens.
    Usage(ScriptUsage),
}

/// A tool of the host's; what it came to is `${answer}` from then on.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptToolCall {
    /// The tool, by the name that the host gives it.
    pub tool: String,
    /// Its arguments; `${…}` is filled in inside their strings.
    #[serde(default = "nothing")]
    pub input: Value,
    /// What follows when it did what it should.
    #[serde(default)]
    pub if_done: Vec<ScriptAction>,
    /// What follows when it did not.
    #[serde(default)]
    pub if_failed: Vec<ScriptAction>,
}

/// Text that comes in deltas.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptSpeech {
    /// The text; `${…}` is filled in.
    pub text: String,
    /// Milliseconds before each delta.
    #[serde(default)]
    pub pause_ms: u64,
    /// How the text is divided.
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
    /// The command line.
    pub run: String,
    /// What it is for.
    #[serde(default)]
    pub reason: Option<String>,
    /// Whether it is asked about.
    #[serde(default)]
    pub ask: ScriptAskPolicy,
    /// What follows when it ran.
    #[serde(default)]
    pub if_allowed: Vec<ScriptAction>,
    /// What follows when it was not allowed.
    #[serde(default)]
    pub if_denied: Vec<ScriptAction>,
}

/// A whole file, really written.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptFileWrite {
    /// The path, absolute or relative to the working directory.
    pub path: String,
    /// Its new content.
    pub content: String,
    /// Whether it is asked about.
    #[serde(default)]
    pub ask: ScriptAskPolicy,
    /// What follows when it was written.
    #[serde(default)]
    pub if_allowed: Vec<ScriptAction>,
    /// What follows when it was not allowed.
    #[serde(default)]
    pub if_denied: Vec<ScriptAction>,
}

/// A passage of a file, really replaced.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptFileEdit {
    /// The path, absolute or relative to the working directory.
    pub path: String,
    /// The passage; its first occurrence is replaced.
    pub find: String,
    /// What takes its place.
    pub replace: String,
    /// Whether it is asked about.
    #[serde(default)]
    pub ask: ScriptAskPolicy,
    /// What follows when it was changed.
    #[serde(default)]
    pub if_allowed: Vec<ScriptAction>,
    /// What follows when it was not allowed.
    #[serde(default)]
    pub if_denied: Vec<ScriptAction>,
}

/// A question to the user; its answer is `${answer}` from then on.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptQuestion {
    /// The question.
    pub question: String,
    /// Its heading of a word or two.
    #[serde(default)]
    pub header: String,
    /// The offered answers.
    pub options: Vec<String>,
    /// What follows an answer.
    #[serde(default)]
    pub if_answered: Vec<ScriptAction>,
    /// What follows when nobody answers.
    #[serde(default)]
    pub if_dismissed: Vec<ScriptAction>,
}

/// A failure of the model service.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptFailure {
    /// What fails.
    pub kind: ScriptFailureKind,
    /// How many retries are reported first.
    #[serde(default)]
    pub retries: u32,
    /// In how many seconds a used-up limit ends, as the service tells; without it nobody tells.
    #[serde(default)]
    pub resets_in: Option<i64>,
    /// Milliseconds before each report.
    #[serde(default)]
    pub pause_ms: u64,
    /// What comes of it.
    #[serde(default)]
    pub outcome: ScriptFailureOutcome,
}

/// What fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptFailureKind {
    /// 401.
    Unauthorized,
    /// 429.
    RateLimit,
    /// The plan is used up.
    UsageLimit,
    /// 500 (codex) or 529 (claude).
    Server,
    /// Nothing listens there.
    Connection,
}

/// What comes of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptFailureOutcome {
    /// The turn fails.
    #[default]
    Fails,
    /// The turn goes on.
    Recovers,
}

/// Silence.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptStall {
    /// How long, in milliseconds; without it until the turn is interrupted or the process ended.
    #[serde(default)]
    pub ms: Option<u64>,
}

/// The end of the process.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptExit {
    /// The exit code.
    #[serde(default)]
    pub code: i32,
    /// What is said on standard error before.
    #[serde(default)]
    pub stderr: Option<String>,
}

/// A frame as it stands.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptRawFrame {
    /// The frame; `${…}` is filled in inside its strings.
    pub json: Value,
}

/// A line that is no JSON.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptMalformedLine {
    /// The line, without a line end.
    pub line: String,
}

/// A turn that nobody asked for.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptUnsolicitedTurn {
    /// What it does.
    #[serde(rename = "action")]
    pub actions: Vec<ScriptAction>,
}

/// Tokens of one call of the model.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptUsage {
    /// Tokens read.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// What it cost in US dollars (claude only).
    #[serde(default)]
    pub cost_usd: f64,
}

fn once() -> u32 {
    1
}

/// Arguments of a tool that takes none.
fn nothing() -> Value {
    Value::Object(serde_json::Map::new())
}

impl ScriptSpeech {
    /// Divides the whole text, already filled in, into its deltas.
    pub fn split_into_deltas<'a>(&self, text: &'a str) -> Vec<&'a str> {
        match self.delta {
            DeltaGranularity::Word => text.split_inclusive([' ', '\n']).collect(),
            DeltaGranularity::Line => text.split_inclusive('\n').collect(),
            DeltaGranularity::Whole if text.is_empty() => vec![],
            DeltaGranularity::Whole => vec![text],
        }
    }
}
