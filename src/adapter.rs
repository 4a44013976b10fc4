//! The protocol between the engine and a coding agent's CLI, as a sans-I/O state machine.
//!
//! An adapter turns engine commands into bytes and output lines into events. It touches no process, file, clock or
//! channel: the engine launches what [`Adapter::prepare_launch`] describes, feeds it every line, command and exit,
//! and performs the [`AdapterOutput`]s in order.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use strum::IntoEnumIterator;

use crate::domain::adapter_kind::AdapterKind;
use crate::domain::event::{ToolCallDetail, ToolKind, ToolStatus};
use crate::domain::ids::{RequestId, SessionId, TurnId};
use crate::domain::question::AgentQuestion;
use crate::domain::session::AccountUsageWindow;
use crate::permission::AgentToolCall;

mod adapter_traits;
mod approval_request;
pub mod claude;
pub mod cli_capabilities;
pub mod codex;
mod example;
pub mod pipe;
mod registry;
mod sandbox_provider;
mod turn_failure;

pub use adapter_traits::{
    AdapterTraits, AgentSandbox, BundledBubblewrap, CallReports, EscapeRuleFiles,
    SandboxDescription, SandboxEscapeRule, ToolCallerId, ToolSupport,
};
pub use approval_request::{ApprovalRequest, DecisionWait};
pub use registry::{AdapterEntry, adapter_entry};
pub use sandbox_provider::{CliStateFolder, SandboxProvider, StateEntry, StateEntryKind};
pub use turn_failure::{TurnFailure, TurnFailureKind};

/// The protocol of one CLI for one session. Total: no input makes it panic or block.
pub trait Adapter: Send + Sync {
    /// Returns what the CLI can do; the same for all sessions.
    fn traits(&self) -> &'static AdapterTraits;

    /// Describes how to start the CLI so that it can serve `turn`, resuming `session.external_id` if there is one.
    fn prepare_launch(&mut self, session: &SessionSpec, turn: &TurnSpec) -> LaunchSpec;

    /// Returns whether the running process can serve `turn`; if not, it must be closed and launched again.
    fn can_serve(&self, turn: &TurnSpec) -> bool;

    /// Handles one command of the engine.
    fn on_command(&mut self, order: AdapterCommand) -> Vec<AdapterOutput>;

    /// Handles one line of the child's standard output, without its line end, invalid UTF-8 replaced.
    fn on_stdout_line(&mut self, line: &str) -> Vec<AdapterOutput>;

    /// Handles one line of the child's standard error.
    fn on_stderr_line(&mut self, _line: &str) -> Vec<AdapterOutput> {
        Vec::new()
    }

    /// Handles the child's exit. A turn that is still open must be closed with [`AdapterEvent::TurnEnded`].
    fn on_exit(&mut self, exit: &CliExit) -> Vec<AdapterOutput>;
}

/// A frame as a raw stream stores it.
#[derive(Deserialize)]
struct RawStreamFrame {
    from: String,
    frame: serde_json::Value,
}

/// Returns the whole output of the tool call `call` if this line of a CLI's raw stream
/// (`{"from":"cli","frame":…}`) ends it.
pub fn parse_tool_output(call: &str, line: &str) -> Option<String> {
    let kept: RawStreamFrame = serde_json::from_str(line).ok()?;
    let frame = (kept.from == "cli").then(|| kept.frame.to_string())?;
    AdapterKind::iter()
        .find_map(|kind| (adapter_entry(kind).traits.parse_tool_output)(call, &frame))
}

/// What stays the same for the whole life of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSpec {
    /// This program's own id of the session.
    pub session: SessionId,
    /// A UUID made new for every launch, for CLIs that let the caller choose the id of a new conversation.
    /// The ids of sent lines are derived from it, so that no two launches send the same one.
    pub fresh_id: String,
    /// The CLI's id of the conversation to resume; `None` starts a new one.
    pub external_id: Option<String>,
    /// The repository's real root; the CLI's working directory.
    pub cwd: PathBuf,
    /// The folder in which the agent of a turn before EXECUTE may write, `.agent-collab/turns/<session>/`.
    pub staging: PathBuf,
    /// How the user wants this CLI started.
    pub cli: CliSpec,
    /// Whether the user trusts this repository.
    pub trust: RepositoryTrust,
    /// The shell command that the CLI runs before each tool call, where it supports such a hook.
    pub hook_command: Option<String>,
    /// How the CLI starts this program's MCP tool server, where its agent has one.
    pub tool_server: Option<ToolServerSpec>,
    /// Folders that the agent's commands must not see, where the CLI sandboxes them itself.
    pub hidden_folders: Vec<PathBuf>,
}

/// How a CLI starts this program's MCP tool server for one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolServerSpec {
    pub program: String,
    /// All arguments; none of them is a secret.
    pub args: Vec<String>,
    /// The folder that the server must be able to read.
    pub folder: PathBuf,
    /// How long the CLI must wait for the answer to a call, in seconds.
    pub timeout_seconds: u32,
}

/// `[adapters.<name>]` of the configuration, resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliSpec {
    /// The program, a name on PATH or a path.
    pub program: String,
    /// Arguments put before the adapter's own.
    pub args: Vec<String>,
    /// Environment added to the user's own.
    pub env: BTreeMap<String, String>,
    /// The model to ask for; `None` leaves the CLI's default.
    pub model: Option<String>,
}

/// Whether the user allowed this repository to configure and instruct agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepositoryTrust {
    /// The user ran `agent-collab trust` for this path and this content.
    Trusted,
    Untrusted,
}

/// One prompt and what its turn may write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnSpec {
    /// This program's id of the turn.
    pub turn: TurnId,
    pub prompt: String,
    /// What the turn may write.
    pub access: TurnAccess,
    /// Permissions whose tools are hidden from the agent, where the CLI can leave tools out.
    pub hidden_permissions: Vec<String>,
}

/// What a turn may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnAccess {
    /// Every phase but EXECUTE: nothing but the turn's staging folder.
    ReadOnly,
    /// EXECUTE: the repository, but not `.git` and `.agent-collab`.
    Workspace,
}

/// How to start a CLI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchSpec {
    /// The program to run: a name on PATH or a path.
    pub program: String,
    pub args: Vec<String>,
    /// Environment set on top of the user's own.
    pub env: BTreeMap<String, String>,
    /// Variables of the user's environment that the child must not see.
    pub env_remove: Vec<String>,
    pub cwd: PathBuf,
    /// Whether the process outlives a turn.
    pub lifetime: CliProcessLifetime,
    /// Who sandboxes the agent, so that it writes only what the turn allows.
    pub sandbox: SandboxProvider,
}

/// Whether a CLI's process outlives a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CliProcessLifetime {
    /// One process for many turns; standard input stays open.
    Session,
    /// One process per turn; standard input is closed after the turn's bytes, and the exit ends the turn.
    Turn,
}

/// A command of the engine to an adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdapterCommand {
    /// Runs a turn, either right after a launch or on an idle process that can serve it.
    StartTurn(TurnSpec),
    /// Answers [`AdapterEvent::ApprovalRequested`].
    DecideApproval(RequestId, CallDecision),
    /// Answers an [`AdapterEvent::ApprovalRequested`] that waits for an immediate decision only: the CLI must ask the
    /// user.
    AskUserFirst(RequestId),
    /// Answers [`AdapterEvent::QuestionAsked`]: maps question text to the chosen or typed answer; `None` dismisses.
    AnswerQuestions(RequestId, Option<BTreeMap<String, String>>),
    /// Handles what the CLI's hook asks; the number identifies the hook process that waits for the answer.
    HandleHookCall(u64, String),
    /// Sends a text to the agent in the middle of the running turn, which continues. A notice reports a text that
    /// came too late.
    Steer(String),
    /// Ends the running turn by the CLI's own protocol.
    Interrupt,
}

/// The answer to a call. The CLI never remembers it (invariant I26).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum CallDecision {
    /// The call runs, once.
    Allow,
    /// The call does not run and the turn continues; the reason reaches the agent where the CLI can carry it.
    Deny {
        /// The reason, for the agent to read.
        reason: String,
    },
    /// The call does not run and the turn ends.
    DenyAndStop,
}

/// What an adapter wants done, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum AdapterOutput {
    /// Writes these bytes (a whole line with its line end) to the child's standard input.
    Send(String),
    /// Closes the child's standard input.
    CloseInput,
    /// Ends the process and launches it again for the same turn, because the CLI no longer has the conversation.
    Relaunch,
    /// Prints this answer from the hook process with this number.
    AnswerHook(u64, String),
    /// Reports an event to the engine.
    Event(AdapterEvent),
}

/// How a child ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CliExit {
    /// The exit code, if the child exited by itself.
    pub code: Option<i32>,
    /// The signal that ended the child, if one did.
    pub signal: Option<i32>,
    /// The last lines of standard error, not sanitised yet.
    pub stderr_tail: String,
}

/// What a CLI reported, translated into this program's vocabulary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum AdapterEvent {
    /// The CLI answered its handshake.
    Ready {
        /// The version that the running CLI reported.
        version: Option<String>,
    },
    /// The id of the conversation at the CLI; from now on it can be resumed.
    SessionOpened {
        /// The CLI's id of the conversation.
        external_id: String,
        /// The model that answers, where the CLI reports it.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// The CLI no longer has the conversation that it was asked to resume; a new one follows.
    SessionLost {
        /// What the CLI said.
        reason: String,
    },
    /// The model started to work on the turn.
    TurnStarted,
    /// A piece of text that may still be withdrawn.
    TextDelta {
        /// The block that the text belongs to.
        item: String,
        text: String,
    },
    /// A piece of thinking that may still be withdrawn.
    ThinkingDelta {
        /// The block that the text belongs to.
        item: String,
        text: String,
    },
    /// All deltas of this block are void, because a cut stream is retried.
    #[serde(rename = "withdrawn")]
    BlockWithdrawn { item: String },
    /// A finished block of text; replaces its deltas.
    Text { item: String, text: String },
    /// A finished block of thinking; replaces its deltas.
    Thinking { item: String, text: String },
    /// A tool started to run.
    ToolStarted {
        item: String,
        tool: ToolKind,
        /// One line for people: the command, the path, the query.
        title: String,
        /// What it does, where the agent itself makes it and the CLI says so.
        #[serde(skip)]
        call: Option<Box<AgentToolCall>>,
        /// What the adapter knows of it besides the title.
        #[serde(skip)]
        detail: ToolCallDetail,
    },
    /// Live output of a running tool; may lack its beginning.
    ToolOutput { item: String, text: String },
    /// A tool call ended.
    ToolEnded {
        item: String,
        status: ToolStatus,
        /// The exit code, if it was a command.
        exit_code: Option<i32>,
        /// The whole output as far as the CLI reported it.
        output: String,
    },
    /// A tool call changed files, or will change them once it is allowed.
    FilesChanged {
        item: String,
        changes: Vec<FileChange>,
    },
    /// Asks for a decision about a call. Waits for [`AdapterCommand::DecideApproval`], or, if it is for an immediate
    /// decision only, for [`AdapterCommand::AskUserFirst`]; then the CLI asks again.
    #[serde(rename = "asked")]
    ApprovalRequested(Box<ApprovalRequest>),
    /// The agent asks the user questions. Waits for [`AdapterCommand::AnswerQuestions`].
    #[serde(rename = "questioned")]
    QuestionAsked {
        request: RequestId,
        questions: Vec<AgentQuestion>,
    },
    /// The CLI no longer waits for an answer to this request.
    RequestWithdrawn { request: RequestId },
    /// The CLI denied a call by itself.
    CallDenied {
        tool: String,
        /// The reason that the CLI gave.
        reason: String,
    },
    /// The agent called a tool that it does not have; nothing ran.
    ToolBlocked { tool: String, reason: String },
    /// Running totals of the conversation as the CLI counts them.
    Usage(CliUsageTotals),
    /// How much of the account's plan is used up.
    PlanUse {
        /// All usage windows that the CLI reports.
        windows: Vec<AccountUsageWindow>,
    },
    /// A transient failure; the CLI retries by itself.
    Retrying {
        /// The number of the next attempt, from 1, where known.
        attempt: Option<u32>,
        /// The maximum number of attempts, where known.
        max: Option<u32>,
        reason: String,
    },
    /// Something the user may want to know.
    Notice { text: String },
    /// A text that the user sent during the turn came too late for it.
    #[serde(rename = "untold")]
    InputUndelivered {
        /// The text that was not delivered.
        text: String,
    },
    /// A frame of an unknown type; it is kept and shown quietly.
    Unknown {
        /// The type of the frame, if it names one.
        kind: String,
        /// The frame, cut to 4 KiB.
        frame: String,
    },
    /// A line that is not a frame of the protocol; it is reported.
    Malformed {
        problem: String,
        /// The line, cut to 4 KiB.
        line: String,
    },
    /// The turn is over; no further event of it follows.
    TurnEnded(CliTurnOutcome),
}

/// One file of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The path as the CLI named it.
    pub path: PathBuf,
    /// What happens to it.
    pub kind: FileChangeKind,
    /// A unified diff or the new text, as far as the CLI reported it.
    pub diff: String,
    /// What the call does with the file's text, where its input says so exactly; else `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_change: Option<TextChange>,
}

impl FileChange {
    /// Creates a change of which only the diff is known.
    pub fn new(path: PathBuf, kind: FileChangeKind, diff: String) -> Self {
        Self {
            path,
            kind,
            diff,
            text_change: None,
        }
    }
}

/// What a call does with the text of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextChange {
    /// It becomes this text.
    Whole(String),
    /// These parts of it are replaced, one after the other.
    Replaced(Vec<TextReplacement>),
}

/// A part of a text, and what takes its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextReplacement {
    pub old: String,
    pub new: String,
    /// Whether every place is replaced; otherwise there must be one only.
    pub is_everywhere: bool,
    /// Whether the line end behind it goes, too, where there is one.
    pub takes_line_end: bool,
}

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileChangeKind {
    /// The file is new.
    Add,
    /// The file changes in place.
    Update,
    /// The file is removed.
    Delete,
    /// The file moves to the given path.
    Move(PathBuf),
}

/// Running totals of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct CliUsageTotals {
    /// Tokens that the model read, cached ones included.
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// US dollars as computed by the CLI, where it does that.
    pub cost_usd: Option<f64>,
    /// Tokens in the model's context after the last answer, where reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// The model's context size in tokens, where reported.
    pub context_window: Option<u64>,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum CliTurnOutcome {
    Completed {
        /// The agent's complete last message of the turn; empty if it sent none.
        final_text: String,
    },
    /// The user interrupted the turn, or a denied call stopped it.
    Interrupted,
    /// The turn failed for this reason.
    Failed(TurnFailure),
}
