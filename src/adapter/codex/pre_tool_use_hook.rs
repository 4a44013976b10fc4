//! The hook through which codex asks before each call of its agent, including sub-agent and MCP calls.
//!
//! Codex trusts a command-line hook only together with its hash, and runs a call whose hook failed. So the hash is
//! computed here, the trust is checked before any prompt, and a failed hook ends the turn. The engine decides; it
//! learns whether codex's own sandbox covers a call. For calls that leave the sandbox codex also asks separately.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::app_server_protocol::{CodexHookInput, HookCompletedNotification, HooksListResponse};
use super::{CodexAdapter, InterruptState, TurnFailureKind};
use crate::adapter::ApprovalRequest;
use crate::adapter::DecisionWait;
use crate::adapter::{AdapterEvent, AdapterOutput, CallDecision, FileChange, FileChangeKind};
use crate::domain::ids::RequestId;
use crate::permission::{AgentToolCall, SandboxReach, loop_detector};

/// How long codex waits for the hook, in seconds: longer than any user needs.
pub(super) const HOOK_TIMEOUT_SECONDS: u32 = 7 * 24 * 60 * 60;

/// The path that codex reports for hooks of the command line.
const HOOK_SOURCE_PATH: &str = "/<session-flags>/config.toml";

/// Codex's key of the first hook on the command line.
const HOOK_KEY: &str = "/<session-flags>/config.toml:pre_tool_use:0:0";

/// Tools that change nothing and send nothing anywhere.
const HARMLESS_TOOLS: &[&str] = &["update_plan", "tool_search"];

/// Tools with which codex runs and steers agents of its own. This program has one task mechanism of its own.
const SUB_AGENT_TOOLS: &[&str] = &[
    "spawn_agent",
    "send_input",
    "send_message",
    "wait_agent",
    "resume_agent",
    "close_agent",
];

/// Programs that read commands from their input if no argument says what to run.
const INTERACTIVE_PROGRAMS: &[&str] = &[
    "bash", "sh", "zsh", "dash", "ksh", "fish", "python", "python2", "python3", "ipython", "node",
    "irb", "perl", "ruby", "php", "lua", "R", "psql", "sqlite3", "gdb", "screen", "tmux",
];

/// The hook calls that wait for an answer.
#[derive(Debug, Default)]
pub(super) struct PendingHooks {
    hook_numbers: BTreeMap<RequestId, u64>,
}

/// Returns the arguments that make codex ask through this command, and trust it.
pub(super) fn hook_arguments(command: &str) -> [String; 4] {
    let quoted = Value::from(command);
    let hook = format!(
        "hooks.PreToolUse=[{{matcher=\".*\",hooks=[{{type=\"command\",command={quoted},timeout={HOOK_TIMEOUT_SECONDS}}}]}}]"
    );
    let hash = hook_hash(command);
    let trust = format!("hooks.state={{{HOOK_KEY:?}={{trusted_hash={hash:?}}}}}");
    ["-c".to_owned(), hook, "-c".to_owned(), trust]
}

/// Computes the hash that codex makes of the hook: of its JSON, sorted and without blanks.
fn hook_hash(command: &str) -> String {
    let command = Value::from(command);
    let normal = format!(
        r#"{{"event_name":"pre_tool_use","hooks":[{{"async":false,"command":{command},"timeout":{HOOK_TIMEOUT_SECONDS},"type":"command"}}],"matcher":".*"}}"#
    );
    let digest = Sha256::digest(normal.as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// Checks that codex knows the hook and trusts it unchanged.
pub(super) fn check_hook_is_trusted(
    listed: &HooksListResponse,
    command: &str,
) -> Result<(), String> {
    let mut hooks = listed.data.iter().flat_map(|folder| &folder.hooks);
    let found = match hooks.find(|hook| hook.key == HOOK_KEY) {
        None => "it does not list the hook of agent-collab".to_owned(),
        Some(hook) if !hook.enabled => "the hook of agent-collab is switched off".to_owned(),
        Some(hook) if hook.current_hash != hook_hash(command) => {
            "it lists another hook in place of the one of agent-collab".to_owned()
        }
        Some(hook) if hook.trust_status == "trusted" => return Ok(()),
        Some(hook) => format!(
            "the trust status of the hook of agent-collab is {:?}",
            hook.trust_status
        ),
    };
    Err(format!(
        "codex would not ask before each call: {found}, so no prompt was sent. \
         Look for hooks in adapters.codex.args and for a managed configuration (requirements.toml), \
         or install the version of codex that `agent-collab doctor` names"
    ))
}

/// Returns what the hook prints; empty output allows the call.
fn decision_output(decision: &CallDecision) -> String {
    let reason = match decision {
        CallDecision::Allow => return String::new(),
        CallDecision::Deny { reason } => reason.as_str(),
        CallDecision::DenyAndStop => "The user declined this and stopped the turn.",
    };
    format_hook_denial(reason)
}

/// Formats the output with which a hook denies a call.
pub(super) fn format_hook_denial(reason: &str) -> String {
    let told = json!({
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": reason,
    });
    json!({ "hookSpecificOutput": told }).to_string()
}

impl PendingHooks {
    /// Answers a request if it is a hook's; returns whether it was.
    pub(super) fn answer(
        &mut self,
        request: &RequestId,
        decision: &CallDecision,
        out: &mut Vec<AdapterOutput>,
    ) -> bool {
        let number = self.hook_numbers.remove(request);
        out.extend(
            number.map(|number| AdapterOutput::AnswerHook(number, decision_output(decision))),
        );
        number.is_some()
    }

    /// Denies all waiting calls.
    pub(super) fn deny_all(&mut self, why: &str, out: &mut Vec<AdapterOutput>) {
        for (request, number) in std::mem::take(&mut self.hook_numbers) {
            out.push(AdapterOutput::AnswerHook(number, format_hook_denial(why)));
            out.push(AdapterOutput::Event(AdapterEvent::RequestWithdrawn {
                request,
            }));
        }
    }
}

impl CodexAdapter {
    /// Handles what codex asks through its hook.
    pub(super) fn on_hook_call(&mut self, number: u64, input: &str, out: &mut Vec<AdapterOutput>) {
        let asked = match (&self.turn, serde_json::from_str::<CodexHookInput>(input)) {
            (None, _) => HookCallKind::Denied("no turn of the run is under way".to_owned()),
            (_, Err(error)) => {
                HookCallKind::Denied(format!("agent-collab cannot read the call: {error}"))
            }
            (Some(_), Ok(input)) => {
                let origin = Some(&input.session_id) != self.thread_id.as_ref();
                match classify_hook_call(&input) {
                    HookCallKind::NeedsDecision(call) => {
                        let changes = patch_changes(&input);
                        let request = RequestId::new(format!("hook-{number}"));
                        self.pending_hooks
                            .hook_numbers
                            .insert(request.clone(), number);
                        let mark =
                            loop_detector::call_fingerprint(&input.tool_name, &input.tool_input);
                        return out.push(AdapterOutput::Event(AdapterEvent::ApprovalRequested(
                            Box::new(ApprovalRequest {
                                request,
                                item: input.tool_use_id,
                                call,
                                reason: None,
                                sub_agent: origin.then_some(input.session_id),
                                changes,
                                fingerprint: Some(mark),
                                wait: DecisionWait::UntilUserDecides,
                            }),
                        )));
                    }
                    other => other,
                }
            }
        };
        match asked {
            HookCallKind::Denied(reason) => {
                out.push(AdapterOutput::AnswerHook(
                    number,
                    format_hook_denial(&reason),
                ));
                let tool = "a call".to_owned();
                out.push(AdapterOutput::Event(AdapterEvent::CallDenied {
                    tool,
                    reason,
                }));
            }
            HookCallKind::ToolMissing { tool, reason } => {
                out.push(AdapterOutput::AnswerHook(
                    number,
                    format_hook_denial(&reason),
                ));
                out.push(AdapterOutput::Event(AdapterEvent::ToolBlocked {
                    tool,
                    reason,
                }));
            }
            HookCallKind::Harmless | HookCallKind::NeedsDecision(_) => {
                out.push(AdapterOutput::AnswerHook(number, String::new()));
            }
        }
    }

    /// Ends the turn if a hook failed, because codex runs the call in that case.
    pub(super) fn on_hook_completed(
        &mut self,
        told: &HookCompletedNotification,
        out: &mut Vec<AdapterOutput>,
    ) {
        let run = &told.run;
        let is_ours = run.source_path == HOOK_SOURCE_PATH && run.id.starts_with("pre-tool-use");
        if !is_ours || matches!(run.status.as_str(), "completed" | "blocked") {
            return;
        }
        let text = format!(
            "codex could not ask before a call (its hook ended as {:?}), so the turn was stopped",
            run.status
        );
        if let Some(turn) = &mut self.turn {
            let failure = super::TurnFailure::new(TurnFailureKind::Protocol, text);
            turn.overriding_failure.get_or_insert(failure);
            if turn.interrupt != InterruptState::Sent {
                self.on_interrupt(out);
            }
        }
    }
}

/// What a hook call needs.
#[derive(Debug, PartialEq, Eq)]
enum HookCallKind {
    /// It must be decided.
    NeedsDecision(AgentToolCall),
    /// It needs no decision.
    Harmless,
    /// It is always denied, for this reason.
    Denied(String),
    /// It is always denied, because agents here do not have this tool.
    ToolMissing {
        tool: String,
        /// The reason for the agent.
        reason: String,
    },
}

/// The reason why codex's own agent tools are not available.
const SUB_AGENTS_DISABLED: &str = "agents of codex's own are not run here: give the work to the tool `task` of agent_collab \
    where you have it, else do it yourself, step by step";

fn classify_hook_call(input: &CodexHookInput) -> HookCallKind {
    let name = input.tool_name.as_str();
    let text = |key: &str| input.tool_input.get(key).and_then(Value::as_str);
    match name {
        "Bash" => match text("command") {
            Some(line) => classify_shell_command(line, &input.cwd),
            None => HookCallKind::Denied("the call names no command".to_owned()),
        },
        "apply_patch" => match text("command") {
            Some(patch) => HookCallKind::NeedsDecision(AgentToolCall::Edit {
                paths: patch_paths(patch),
                reach: SandboxReach::Contained,
            }),
            None => HookCallKind::Denied("the call contains no patch".to_owned()),
        },
        "view_image" => HookCallKind::NeedsDecision(AgentToolCall::Read {
            paths: text("path").map(PathBuf::from).into_iter().collect(),
            search: None,
        }),
        _ if HARMLESS_TOOLS.contains(&name) => HookCallKind::Harmless,
        _ if name.starts_with("collaboration") || SUB_AGENT_TOOLS.contains(&name) => {
            HookCallKind::ToolMissing {
                tool: name.to_owned(),
                reason: SUB_AGENTS_DISABLED.to_owned(),
            }
        }
        _ => HookCallKind::NeedsDecision(AgentToolCall::Tool {
            name: dotted_tool_name(name),
            input: input.tool_input.to_string(),
        }),
    }
}

/// Classifies a command; one that only opens a shell is denied, because what is typed into it later is not checked.
fn classify_shell_command(line: &str, cwd: &Path) -> HookCallKind {
    let words: Vec<&str> = line.split_whitespace().collect();
    let waits = words.split_first().is_some_and(|(program, flags)| {
        let name = program.rsplit('/').next().unwrap_or(program);
        INTERACTIVE_PROGRAMS.contains(&name) && flags.iter().all(|flag| is_bare_flag(flag))
    });
    if waits {
        return HookCallKind::Denied(format!(
            "`{line}` waits for commands that cannot be checked; run each command on its own"
        ));
    }
    HookCallKind::NeedsDecision(AgentToolCall::Command {
        line: line.to_owned(),
        cwd: cwd.to_owned(),
        reach: SandboxReach::Contained,
    })
}

/// Returns whether a flag gives a shell nothing to run and does not make it print its version.
fn is_bare_flag(flag: &str) -> bool {
    let told = ["--version", "--help", "-V", "-h", "-v"];
    flag.starts_with('-') && !told.contains(&flag)
}

/// Lists every path that a patch names.
fn patch_paths(patch: &str) -> Vec<PathBuf> {
    let marks = [
        "*** Add File: ",
        "*** Update File: ",
        "*** Delete File: ",
        "*** Move to: ",
    ];
    let named = patch.lines().filter_map(|line| {
        marks
            .iter()
            .find_map(|mark| line.trim_start().strip_prefix(mark))
    });
    named.map(|path| PathBuf::from(path.trim())).collect()
}

/// Returns what a patch would change, file by file, as the patch states it.
fn patch_changes(input: &CodexHookInput) -> Vec<FileChange> {
    let patch = input.tool_input.get("command").and_then(Value::as_str);
    let patch = patch.filter(|_| input.tool_name == "apply_patch");
    let mut changes: Vec<FileChange> = Vec::new();
    for line in patch.unwrap_or_default().lines() {
        let named = |mark| {
            line.trim_start()
                .strip_prefix(mark)
                .map(|path: &str| PathBuf::from(path.trim()))
        };
        let begun = [
            ("*** Add File: ", FileChangeKind::Add),
            ("*** Update File: ", FileChangeKind::Update),
            ("*** Delete File: ", FileChangeKind::Delete),
        ]
        .into_iter()
        .find_map(|(mark, kind)| Some((named(mark)?, kind)));
        if let Some((path, kind)) = begun {
            changes.push(FileChange::new(path, kind, String::new()));
        } else if let Some(change) = changes.last_mut() {
            match named("*** Move to: ") {
                Some(target) => change.kind = FileChangeKind::Move(target),
                None if line.starts_with("*** ") => {}
                None => {
                    change.diff.push_str(line);
                    change.diff.push('\n');
                }
            }
        }
    }
    changes
}

/// Converts `mcp__server__tool` to the form that codex's own approval request uses: `server.tool`.
fn dotted_tool_name(name: &str) -> String {
    let parts = name
        .strip_prefix("mcp__")
        .and_then(|rest| rest.split_once("__"));
    match parts {
        Some((server, tool)) => format!("{server}.{tool}"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests;
