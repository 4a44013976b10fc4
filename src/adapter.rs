//! What the program needs of a coding agent's command-line program, as a sans-I/O protocol.
//!
//! An adapter turns turns into bytes and lines into events. It refuses to know processes, files,
//! clocks and channels: the engine launches what [`Adapter::prepare_launch`] describes, feeds it every
//! line, order and exit, and performs the [`AdapterOutput`]s in order.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::domain::ids::{RequestId, SessionId, TurnId};
use crate::domain::question::AgentQuestion;
use crate::domain::session::AccountUsageWindow;
use crate::permission::AgentToolCall;

pub mod claude;
pub mod cli_capabilities;
pub mod codex;
pub mod pipe;
mod sandbox_provider;
mod turn_failure;

pub use sandbox_provider::{CliStateFolder, SandboxProvider, StateEntry, StateEntryKind};
pub use turn_failure::{TurnFailure, TurnFailureKind};

/// The protocol of one CLI for one session. Total: no input makes it panic or stop.
pub trait Adapter: Send + Sync {
    /// Describes how to start the CLI so that it can serve `turn`, resuming `session.external_id` where there is one.
    fn prepare_launch(&mut self, session: &SessionSpec, turn: &TurnSpec) -> LaunchSpec;

    /// Tells whether the running process can serve `turn`, or must be closed and launched anew.
    fn can_serve(&self, turn: &TurnSpec) -> bool;

    /// Takes one order of the engine.
    fn on_command(&mut self, order: AdapterCommand) -> Vec<AdapterOutput>;

    /// Takes one line of the child's standard output, without its line end, invalid UTF-8 replaced.
    fn on_stdout_line(&mut self, line: &str) -> Vec<AdapterOutput>;

    /// Takes one line of its standard error.
    fn on_stderr_line(&mut self, _line: &str) -> Vec<AdapterOutput> {
        Vec::new()
    }

    /// Tells whether the CLI is to ask, by a command of this program's, before each call of its agent.
    fn wants_hook(&self) -> bool {
        false
    }

    /// Tools that the CLI has, and that its agents here are not to have; each by its name.
    fn removed_tools(&self) -> &'static [&'static str] {
        &[]
    }

    /// Takes the child's end. A turn that is still open must be closed with [`AdapterEvent::TurnEnded`].
    fn on_exit(&mut self, exit: &CliExit) -> Vec<AdapterOutput>;
}

/// A frame as a raw stream keeps it.
#[derive(Deserialize)]
struct RawStreamFrame {
    from: String,
    frame: serde_json::Value,
}

/// What a tool said, whole, where this line of a CLI's raw stream tells its end: `{"from":"cli","frame":…}`.
pub fn parse_tool_output(call: &str, line: &str) -> Option<String> {
    let kept: RawStreamFrame = serde_json::from_str(line).ok()?;
    let frame = (kept.from == "cli").then(|| kept.frame.to_string())?;
    codex::parse_tool_output(call, &frame).or_else(|| claude::parse_tool_output(call, &frame))
}

/// What stays the same over a session's life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSpec {
    /// The program's own id of the session.
    pub session: SessionId,
    /// A UUID made anew for every launch, for CLIs that let the caller choose the id of a new conversation;
    /// the ids of what is sent are made of it, so that no two launches send the same one.
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
    /// The shell command by which the CLI asks before each call, where it is to ask so.
    pub hook_command: Option<String>,
    /// How the CLI starts the server of the program's tools, where its agent has any.
    pub tool_server: Option<ToolServerSpec>,
    /// Folders of which the agent's commands are to see nothing, where the CLI itself holds them.
    pub hidden_folders: Vec<PathBuf>,
}

/// How a CLI starts the server of the program's tools for one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolServerSpec {
    /// The program.
    pub program: String,
    /// All arguments; no secret is among them.
    pub args: Vec<String>,
    /// The folder that the server must be able to read.
    pub folder: PathBuf,
    /// How long the CLI must wait for a call's answer, in seconds.
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

/// Whether the user has said that this repository may configure and instruct agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepositoryTrust {
    /// The user ran `agent-collab trust` for this path and this content.
    Trusted,
    /// Everybody else.
    Untrusted,
}

/// One prompt and what its turn may write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnSpec {
    /// The program's id of the turn.
    pub turn: TurnId,
    /// The whole prompt.
    pub prompt: String,
    /// What the turn may write.
    pub access: TurnAccess,
    /// Permissions whose tools the agent is not to see, where the CLI can leave tools out.
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
    /// The program, a name on PATH or a path.
    pub program: String,
    /// All arguments.
    pub args: Vec<String>,
    /// Environment set on top of the user's own.
    pub env: BTreeMap<String, String>,
    /// Environment variables of the user's that the child must not see.
    pub env_remove: Vec<String>,
    /// The working directory.
    pub cwd: PathBuf,
    /// Whether the process outlives a turn.
    pub lifetime: CliProcessLifetime,
    /// Who holds what the agent does to what its turn may write.
    pub sandbox: SandboxProvider,
}

/// Whether a CLI's process outlives a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CliProcessLifetime {
    /// One process for many turns; standard input stays open.
    Session,
    /// One process a turn; standard input is closed after the turn's bytes, the exit ends the turn.
    Turn,
}

/// What the engine wants of a CLI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdapterCommand {
    /// Runs a turn. Follows a launch, or comes to an idle process that serves it.
    StartTurn(TurnSpec),
    /// Answers [`AdapterEvent::ApprovalRequested`] and [`AdapterEvent::HookApprovalRequested`].
    DecideApproval(RequestId, CallDecision),
    /// Answers [`AdapterEvent::HookApprovalRequested`]: the CLI is to ask.
    AskUserFirst(RequestId),
    /// Answers [`AdapterEvent::QuestionAsked`]: question text to chosen or typed answer; `None` dismisses.
    AnswerQuestions(RequestId, Option<BTreeMap<String, String>>),
    /// Takes what the CLI asked by its hook, and under which number its answer is awaited.
    HandleHookCall(u64, String),
    /// Says something to the agent in the middle of the running turn, which goes on; where that comes too
    /// late, a notice says so.
    Steer(String),
    /// Ends the running turn by the CLI's own protocol.
    Interrupt,
    /// Ends the process politely.
    Close,
}

/// The answer to a call. Never remembered by the CLI (invariant I26).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum CallDecision {
    /// The call goes ahead, once.
    Allow,
    /// The call does not go ahead, the turn goes on; the reason reaches the agent where the CLI can carry it.
    Deny {
        /// Why, for the agent to read.
        reason: String,
    },
    /// The call does not go ahead and the turn ends.
    DenyAndStop,
}

/// What an adapter wants done, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum AdapterOutput {
    /// Writes these bytes (a whole line with its line end) to the child's standard input.
    Send(String),
    /// Closes the child's standard input.
    CloseInput,
    /// Ends the process and launches anew for the same turn (a conversation the CLI no longer has).
    Relaunch,
    /// Says what the hook of this number prints.
    AnswerHook(u64, String),
    /// Tells the engine what happened.
    Event(AdapterEvent),
}

/// How a child ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CliExit {
    /// The exit code, where it ended by itself.
    pub code: Option<i32>,
    /// The signal, where one ended it.
    pub signal: Option<i32>,
    /// The last lines of standard error, sanitised by nobody yet.
    pub stderr_tail: String,
}

/// What a CLI told, in the program's own words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum AdapterEvent {
    /// The CLI answered its handshake.
    Ready {
        /// The version that the running CLI reported of itself.
        version: Option<String>,
    },
    /// The conversation's id at the CLI; from now on it can be resumed.
    SessionOpened {
        /// The CLI's id.
        external_id: String,
    },
    /// The CLI no longer has the conversation it was asked to resume; a new one follows.
    SessionLost {
        /// What the CLI said.
        reason: String,
    },
    /// The model began to work on the turn.
    TurnStarted,
    /// A piece of text that may still be withdrawn.
    TextDelta {
        /// The block it belongs to.
        item: String,
        /// The piece.
        text: String,
    },
    /// A piece of thinking that may still be withdrawn.
    ThinkingDelta {
        /// The block it belongs to.
        item: String,
        /// The piece.
        text: String,
    },
    /// All deltas of this block are void (a cut stream is retried).
    #[serde(rename = "withdrawn")]
    BlockWithdrawn {
        /// The block.
        item: String,
    },
    /// A finished block of text; replaces its deltas.
    Text {
        /// The block.
        item: String,
        /// The whole text.
        text: String,
    },
    /// A finished block of thinking; replaces its deltas.
    Thinking {
        /// The block.
        item: String,
        /// The whole text.
        text: String,
    },
    /// A tool began to run.
    ToolStarted {
        /// The tool call.
        item: String,
        /// What kind of tool: `command`, `edit`, `read`, `search`, `mcp`, or the CLI's own name.
        tool: String,
        /// One line for people: the command, the path, the query.
        title: String,
    },
    /// Live output of a running tool; may lack its beginning.
    ToolOutput {
        /// The tool call.
        item: String,
        /// The piece.
        text: String,
    },
    /// A tool ended.
    ToolEnded {
        /// The tool call.
        item: String,
        /// How.
        status: ToolStatus,
        /// The exit code of a command.
        exit_code: Option<i32>,
        /// Its whole output as far as the CLI told.
        output: String,
    },
    /// Files were changed by a tool call, or are about to be once it is allowed.
    FilesChanged {
        /// The tool call.
        item: String,
        /// The files.
        changes: Vec<FileChange>,
    },
    /// The agent wants to do something that its CLI asks about. Waits for [`AdapterCommand::DecideApproval`].
    #[serde(rename = "asked")]
    ApprovalRequested {
        /// The request.
        request: RequestId,
        /// The tool call it belongs to, where known.
        item: Option<String>,
        /// What it wants to do.
        call: AgentToolCall,
        /// The agent's or CLI's reason.
        reason: Option<String>,
        /// Whose call it is when it is a sub-agent's.
        origin: Option<String>,
        /// What an edit would change, as far as the CLI told; empty for all else.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changes: Vec<FileChange>,
        /// The mark of the tool with its whole input, see [`crate::permission::repetition::mark`]; `None` where the CLI does not tell it.
        #[serde(skip)]
        mark: Option<String>,
    },
    /// The agent is about to do something, and its CLI waits for a quick word about it: [`AdapterCommand::DecideApproval`], or
    /// [`AdapterCommand::AskUserFirst`] when a person is to answer, upon which it asks.
    #[serde(rename = "weighed")]
    HookApprovalRequested {
        /// The request.
        request: RequestId,
        /// The tool call it belongs to, where known.
        item: Option<String>,
        /// What it is about to do.
        call: AgentToolCall,
        /// Whose call it is when it is a sub-agent's.
        origin: Option<String>,
        /// The changes it would make to files, where the adapter knows them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changes: Vec<FileChange>,
        /// As in [`AdapterEvent::ApprovalRequested`].
        #[serde(skip)]
        mark: Option<String>,
    },
    /// The agent asks the user something. Waits for [`AdapterCommand::AnswerQuestions`].
    #[serde(rename = "questioned")]
    QuestionAsked {
        /// The request.
        request: RequestId,
        /// The questions.
        questions: Vec<AgentQuestion>,
    },
    /// The CLI no longer waits for an answer to this request.
    RequestWithdrawn {
        /// The request.
        request: RequestId,
    },
    /// The agent's CLI refused a call by itself.
    CallDenied {
        /// The tool.
        tool: String,
        /// What the CLI said.
        reason: String,
    },
    /// The agent called a tool that it does not have; nothing was done.
    ToolBlocked {
        /// The tool.
        tool: String,
        /// Why.
        reason: String,
    },
    /// Running totals of the conversation as the CLI counts them.
    Usage(CliUsageTotals),
    /// How much of the account's plan is used.
    PlanUse {
        /// All windows of it that the CLI tells.
        windows: Vec<AccountUsageWindow>,
    },
    /// A transient failure that the CLI is retrying by itself.
    Retrying {
        /// Which attempt follows, from 1, where known.
        attempt: Option<u32>,
        /// How many there are at the most, where known.
        max: Option<u32>,
        /// What went wrong.
        reason: String,
    },
    /// Something the user may want to know.
    Notice {
        /// The text.
        text: String,
    },
    /// What the user said in the middle of the turn came too late for it.
    #[serde(rename = "untold")]
    InputUndelivered {
        /// What.
        text: String,
    },
    /// A frame this program does not know; kept, shown quietly.
    Unknown {
        /// Its type as far as it names one.
        kind: String,
        /// The frame, cut to 4 KiB.
        frame: String,
    },
    /// A line that is no frame of the protocol; reported.
    Malformed {
        /// What is wrong with it.
        problem: String,
        /// The line, cut to 4 KiB.
        line: String,
    },
    /// The turn is over; nothing of it follows.
    TurnEnded(CliTurnOutcome),
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It did what it should.
    Completed,
    /// It failed, or its process was ended.
    Failed,
    /// It was not allowed to run.
    Declined,
    /// Nobody said: its end never came before the turn's.
    Abandoned,
}

/// One file of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The path as the CLI named it.
    pub path: PathBuf,
    /// What happens to it.
    pub kind: FileChangeKind,
    /// A unified diff or the new text, as far as the CLI told.
    pub diff: String,
}

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileChangeKind {
    /// It comes into being.
    Add,
    /// It changes in place.
    Update,
    /// It goes away.
    Delete,
    /// It moves to the given path.
    Move(PathBuf),
}

/// Running totals of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct CliUsageTotals {
    /// Tokens read by the model, cached ones included.
    pub input_tokens: u64,
    /// Tokens written by the model.
    pub output_tokens: u64,
    /// US dollars as the CLI computes them, where it does.
    pub cost_usd: Option<f64>,
    /// Tokens of the model's context that the last answer left filled, where told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// The model's context size in tokens, where told.
    pub context_window: Option<u64>,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum CliTurnOutcome {
    /// The agent finished.
    Completed {
        /// The agent's last message of the turn, whole; empty when it said nothing.
        final_text: String,
    },
    /// The turn was interrupted by us or by a refusal that stops.
    Interrupted,
    /// The turn failed.
    Failed(TurnFailure),
}
