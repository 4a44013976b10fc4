//! One turn of ours at `claude`: its stage, whether it is being stopped, and how it ended.
//!
//! The outcome depends on `is_error` and `terminal_reason`, never on `subtype`.

use sha2::{Digest, Sha256};

use super::failure_classifier::{FailureEvidence, classify_failure};
use super::messages_api::{AssistantFrame, ContentBlock, parse_content_block};
use super::stream_json::{ApiRetryFrame, ClaudeResultFrame, RateLimitInfo};
use crate::adapter::{
    AdapterEvent, CliExit, CliTurnOutcome, CliUsageTotals, TurnFailure, TurnFailureKind, TurnSpec,
};
use crate::domain::ids::TurnId;

/// A turn that has not ended.
#[derive(Debug)]
pub struct ClaudeOpenTurn {
    /// This program's id of the turn.
    pub turn: TurnId,
    pub prompt: String,
    /// The id of the line that carries the prompt.
    pub uuid: String,
    pub stage: ClaudeTurnStage,
    /// Whether and why it is being stopped.
    pub stop: ClaudeStopReason,
    /// A failure that the CLI showed as text.
    pub shown_failure: Option<FailureEvidence>,
    /// The limit because of which the service rejected the turn.
    pub rate_limit: Option<RateLimitInfo>,
}

/// The stage of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaudeTurnStage {
    /// The prompt waits for the handshake.
    WaitingForHandshake,
    /// The prompt line was sent.
    Sent,
    /// The CLI received the line but does something else first.
    Queued,
    /// The CLI works on it.
    Running,
}

/// Whether a turn is being stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaudeStopReason {
    NotStopping,
    /// The engine interrupts it, or a denied call stops it.
    Interrupted,
    /// The service refused the login.
    LoginRefused,
}

impl ClaudeStopReason {
    /// Keeps the earlier reason to stop, if there is one.
    pub fn or(self, later: Self) -> Self {
        if self == Self::NotStopping {
            later
        } else {
            self
        }
    }
}

impl ClaudeOpenTurn {
    /// Opens a turn. The id of its line must never repeat: the CLI silently drops a line whose id is already in the
    /// conversation, and sends no result. So the id depends on the launch and on the line's number too.
    pub fn new(turn: TurnSpec, fresh_id: &str, n_line: u64) -> Self {
        Self {
            uuid: prompt_line_id(&turn.turn, fresh_id, n_line),
            turn: turn.turn,
            prompt: turn.prompt,
            stage: ClaudeTurnStage::WaitingForHandshake,
            stop: ClaudeStopReason::NotStopping,
            shown_failure: None,
            rate_limit: None,
        }
    }

    /// Returns whether a result that names no line ends this turn: the turn runs, or the CLI never names lines
    /// and the result has no other origin.
    pub fn owns_result(&self, result: &ClaudeResultFrame) -> bool {
        match self.stage {
            ClaudeTurnStage::Running => true,
            ClaudeTurnStage::Sent | ClaudeTurnStage::WaitingForHandshake => result.origin.is_none(),
            ClaudeTurnStage::Queued => false,
        }
    }

    /// Derives how a turn ended from its result.
    pub fn outcome_from_result(
        &self,
        result: &ClaudeResultFrame,
        last_text: Option<&str>,
    ) -> CliTurnOutcome {
        let reason = result.terminal_reason.as_deref().unwrap_or_default();
        let stopped =
            matches!(reason, "hook_stopped" | "tool_deferred") || is_prompt_blocked(result);
        let aborted = reason.starts_with("aborted");
        match self.stop {
            ClaudeStopReason::LoginRefused if result.is_error || aborted => {
                CliTurnOutcome::Failed(login_failure())
            }
            ClaudeStopReason::Interrupted if result.is_error => CliTurnOutcome::Interrupted,
            ClaudeStopReason::NotStopping | ClaudeStopReason::Interrupted if aborted => {
                CliTurnOutcome::Interrupted
            }
            ClaudeStopReason::NotStopping
            | ClaudeStopReason::Interrupted
            | ClaudeStopReason::LoginRefused
                if result.is_error || stopped =>
            {
                CliTurnOutcome::Failed(classify_failure(&self.failure_evidence(result)))
            }
            ClaudeStopReason::NotStopping
            | ClaudeStopReason::Interrupted
            | ClaudeStopReason::LoginRefused => CliTurnOutcome::Completed {
                final_text: final_text(result, last_text),
            },
        }
    }

    fn failure_evidence(&self, result: &ClaudeResultFrame) -> FailureEvidence {
        let mut said = self.shown_failure.clone().unwrap_or_default();
        said.status = said.status.or(result.api_error_status);
        said.codes.extend(result.api_error.clone());
        said.codes.extend(result.terminal_reason.clone());
        if let Some(limit) = self.rate_limit.as_ref().filter(|limit| limit.is_used_up()) {
            said.codes.push("usage_limit_reached".to_owned());
            said.resets_at = limit.resets_at;
        }
        if is_prompt_blocked(result) {
            said.codes.push("prompt_blocked".to_owned());
        }
        let errors = result.errors.iter().flatten().cloned();
        let texts: Vec<String> = result.result.iter().cloned().chain(errors).collect();
        if !texts.is_empty() {
            said.text = texts.join("\n");
        }
        said
    }

    /// Derives how a turn ended that will get no result.
    pub fn outcome_without_result(&self) -> CliTurnOutcome {
        match self.stop {
            ClaudeStopReason::LoginRefused => CliTurnOutcome::Failed(login_failure()),
            ClaudeStopReason::Interrupted => CliTurnOutcome::Interrupted,
            ClaudeStopReason::NotStopping => protocol_failure("claude dropped the prompt"),
        }
    }

    /// Derives how a turn ended whose process exited before its result; a successful exit status changes nothing.
    pub fn outcome_from_exit(&self, exit: &CliExit) -> CliTurnOutcome {
        if self.stop != ClaudeStopReason::NotStopping {
            return self.outcome_without_result();
        }
        let stderr = exit.stderr_tail.trim();
        let mut said = self.shown_failure.clone().unwrap_or_default();
        said.text = [said.text.as_str(), stderr].join("\n").trim().to_owned();
        let mut failure = classify_failure(&said);
        if self.stage == ClaudeTurnStage::WaitingForHandshake
            && exit.code.is_some_and(|code| code != 0)
        {
            failure.kind = match failure.kind {
                TurnFailureKind::Protocol => TurnFailureKind::Refused,
                kind => kind,
            };
        }
        let ended = describe_exit(exit);
        let when = match self.stage {
            ClaudeTurnStage::WaitingForHandshake
            | ClaudeTurnStage::Sent
            | ClaudeTurnStage::Queued => "before the turn started",
            ClaudeTurnStage::Running => "during the turn",
        };
        failure.message = match said.text.as_str() {
            "" => format!("claude {ended} {when}"),
            text => format!("claude {ended} {when}: {text}"),
        };
        CliTurnOutcome::Failed(failure)
    }
}

/// Returns whether a hook of the user kept the prompt from the model; the CLI reports that as a success.
fn is_prompt_blocked(result: &ClaudeResultFrame) -> bool {
    result.num_turns == Some(0) && result.terminal_reason.is_none()
}

fn describe_exit(exit: &CliExit) -> String {
    match (exit.code, exit.signal) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

fn final_text(result: &ClaudeResultFrame, last_text: Option<&str>) -> String {
    let told = result.result.as_deref().filter(|text| !text.is_empty());
    told.or(last_text).unwrap_or_default().to_owned()
}

fn login_failure() -> TurnFailure {
    TurnFailure::new(
        TurnFailureKind::Login,
        "the service refused claude's login (401); run `claude` and `/login`, or set ANTHROPIC_API_KEY",
    )
}

/// Builds the outcome of a turn whose protocol broke.
pub fn protocol_failure(message: &str) -> CliTurnOutcome {
    CliTurnOutcome::Failed(TurnFailure::new(TurnFailureKind::Protocol, message))
}

/// Builds the outcome of a turn that the CLI refused to start.
pub fn refused_failure(message: &str) -> CliTurnOutcome {
    CliTurnOutcome::Failed(TurnFailure::new(TurnFailureKind::Refused, message))
}

/// Parses a failure or a remark that the CLI shows as if the model had written it.
pub fn parse_synthetic_message(assistant: &AssistantFrame) -> FailureEvidence {
    let texts =
        assistant
            .message
            .content
            .iter()
            .filter_map(|block| match parse_content_block(block) {
                Ok(ContentBlock::Text { text }) => Some(text),
                _no_text => None,
            });
    FailureEvidence {
        status: assistant.api_error_status,
        codes: assistant
            .error
            .iter()
            .chain(&assistant.api_error)
            .cloned()
            .collect(),
        text: texts.collect::<Vec<_>>().join("\n"),
        resets_at: None,
    }
}

/// Builds the event of a retry.
pub fn retrying_event(retry: &ApiRetryFrame) -> AdapterEvent {
    let error = retry.error.as_deref().unwrap_or("unknown");
    AdapterEvent::Retrying {
        attempt: retry.attempt,
        max: retry.max_retries,
        reason: match retry.error_status {
            Some(status) => format!("{error} ({status})"),
            None => "no complete answer from the service".to_owned(),
        },
    }
}

/// Returns the running totals; `None` if there are none, as in a result that only reports a failed start.
pub fn usage_from_result(
    result: &ClaudeResultFrame,
    model: Option<&str>,
) -> Option<CliUsageTotals> {
    let models = result
        .model_usage
        .as_ref()
        .filter(|models| !models.is_empty())?;
    let mut usage = CliUsageTotals {
        cost_usd: result.total_cost_usd,
        ..CliUsageTotals::default()
    };
    for used in models.values() {
        let read = [
            used.input_tokens,
            used.cache_read_input_tokens,
            used.cache_creation_input_tokens,
        ];
        for tokens in read.into_iter().flatten() {
            usage.input_tokens = usage.input_tokens.saturating_add(tokens);
        }
        usage.output_tokens = usage
            .output_tokens
            .saturating_add(used.output_tokens.unwrap_or(0));
    }
    let main = model.and_then(|model| models.get(model));
    usage.context_window = match main {
        Some(main) => main.context_window,
        None => models.values().filter_map(|used| used.context_window).max(),
    };
    Some(usage)
}

/// Returns the id of a prompt line, which never repeats: a UUID of version 8, because it is derived from a digest.
pub fn prompt_line_id(turn: &TurnId, fresh_id: &str, n_line: u64) -> String {
    let digest = Sha256::digest(format!("{fresh_id}\n{turn}\n{n_line}"));
    let mut bytes = [0_u8; 16];
    for (byte, from) in bytes.iter_mut().zip(digest) {
        *byte = from;
    }
    uuid::Builder::from_custom_bytes(bytes)
        .into_uuid()
        .to_string()
}
