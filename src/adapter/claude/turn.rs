//! One turn of ours at `claude`: how far it is, whether it is being stopped, and how it ended.
//!
//! Refuses to send anything. It goes by `is_error` and `terminal_reason`, never by `subtype`.

use sha2::{Digest, Sha256};

use super::failure::{Said, judge};
use super::messages::{Assistant, Block, parse_block};
use super::wire::{Limit, Retry, TurnResult};
use crate::adapter::{AdapterEvent, Exit, Failure, FailureKind, TurnEnd, TurnSpec, Usage};
use crate::domain::ids::TurnId;

/// A turn that has not ended.
#[derive(Debug)]
pub struct OpenTurn {
    /// The program's id of it.
    pub turn: TurnId,
    /// The prompt.
    pub prompt: String,
    /// The id of the line that carries the prompt.
    pub uuid: String,
    /// How far it is.
    pub stage: Stage,
    /// Whether and why it is being stopped.
    pub stop: Stop,
    /// A failure that the CLI showed as text.
    pub said: Option<Said>,
    /// A limit by which the service turned the turn away.
    pub limit: Option<Limit>,
}

/// How far a turn is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The handshake comes first.
    Held,
    /// The line was sent.
    Sent,
    /// The CLI has the line and does something else.
    Queued,
    /// The CLI works on it.
    Begun,
}

/// Whether a turn is being stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It is not.
    No,
    /// By an order, or by a denial that stops.
    Interrupted,
    /// Because the service refused the login.
    Login,
}

impl Stop {
    /// Keeps the earlier reason.
    pub fn or(self, later: Self) -> Self {
        if self == Self::No { later } else { self }
    }
}

impl OpenTurn {
    /// Opens a turn. Its line's id must never come twice: the CLI drops a line whose id is in the conversation
    /// already, without a word and without a result. So it depends on the launch and on the line's number too.
    pub fn new(turn: TurnSpec, fresh_id: &str, n_line: u64) -> Self {
        Self {
            uuid: line_id(&turn.turn, fresh_id, n_line),
            turn: turn.turn,
            prompt: turn.prompt,
            stage: Stage::Held,
            stop: Stop::No,
            said: None,
            limit: None,
        }
    }

    /// Tells whether a result that names no line ends this turn: the turn runs, or the CLI is one that never
    /// speaks of lines and nobody else asked for the result.
    pub fn owns(&self, result: &TurnResult) -> bool {
        match self.stage {
            Stage::Begun => true,
            Stage::Sent | Stage::Held => result.origin.is_none(),
            Stage::Queued => false,
        }
    }

    /// Judges how a turn ended by its result.
    pub fn ended_by(&self, result: &TurnResult, last_text: Option<&str>) -> TurnEnd {
        let reason = result.terminal_reason.as_deref().unwrap_or_default();
        let stopped = matches!(reason, "hook_stopped" | "tool_deferred") || is_blocked(result);
        let aborted = reason.starts_with("aborted");
        match self.stop {
            Stop::Login if result.is_error || aborted => TurnEnd::Failed(login()),
            Stop::Interrupted if result.is_error => TurnEnd::Interrupted,
            Stop::No | Stop::Interrupted if aborted => TurnEnd::Interrupted,
            Stop::No | Stop::Interrupted | Stop::Login if result.is_error || stopped => {
                TurnEnd::Failed(judge(&self.what_was_said(result)))
            }
            Stop::No | Stop::Interrupted | Stop::Login => TurnEnd::Completed {
                final_text: final_text(result, last_text),
            },
        }
    }

    fn what_was_said(&self, result: &TurnResult) -> Said {
        let mut said = self.said.clone().unwrap_or_default();
        said.status = said.status.or(result.api_error_status);
        said.codes.extend(result.api_error.clone());
        said.codes.extend(result.terminal_reason.clone());
        if let Some(limit) = self.limit.as_ref().filter(|limit| limit.is_used_up()) {
            said.codes.push("usage_limit_reached".to_owned());
            said.resets_at = limit.resets_at;
        }
        if is_blocked(result) {
            said.codes.push("prompt_blocked".to_owned());
        }
        let errors = result.errors.iter().flatten().cloned();
        let texts: Vec<String> = result.result.iter().cloned().chain(errors).collect();
        if !texts.is_empty() {
            said.text = texts.join("\n");
        }
        said
    }

    /// Judges a turn that will get no result.
    pub fn ended_without_result(&self) -> TurnEnd {
        match self.stop {
            Stop::Login => TurnEnd::Failed(login()),
            Stop::Interrupted => TurnEnd::Interrupted,
            Stop::No => protocol("claude dropped the prompt"),
        }
    }

    /// Judges a turn whose process ended before its result; a good exit status changes nothing.
    pub fn ended_by_exit(&self, exit: &Exit) -> TurnEnd {
        if self.stop != Stop::No {
            return self.ended_without_result();
        }
        let stderr = exit.stderr_tail.trim();
        let mut said = self.said.clone().unwrap_or_default();
        said.text = [said.text.as_str(), stderr].join("\n").trim().to_owned();
        let mut failure = judge(&said);
        if self.stage == Stage::Held && exit.code.is_some_and(|code| code != 0) {
            failure.kind = match failure.kind {
                FailureKind::Protocol => FailureKind::Refused,
                kind => kind,
            };
        }
        let ended = how(exit);
        let when = match self.stage {
            Stage::Held | Stage::Sent | Stage::Queued => "before the turn began",
            Stage::Begun => "in the middle of the turn",
        };
        failure.message = match said.text.as_str() {
            "" => format!("claude {ended} {when}"),
            text => format!("claude {ended} {when}: {text}"),
        };
        TurnEnd::Failed(failure)
    }
}

/// Tells whether a hook of the user's kept the prompt from the model; the CLI calls that a success.
fn is_blocked(result: &TurnResult) -> bool {
    result.num_turns == Some(0) && result.terminal_reason.is_none()
}

fn how(exit: &Exit) -> String {
    match (exit.code, exit.signal) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

fn final_text(result: &TurnResult, last_text: Option<&str>) -> String {
    let told = result.result.as_deref().filter(|text| !text.is_empty());
    told.or(last_text).unwrap_or_default().to_owned()
}

fn login() -> Failure {
    Failure::new(
        FailureKind::Login,
        "the service refused claude's login (401); run `claude` and `/login`, or set ANTHROPIC_API_KEY",
    )
}

/// Builds the end of a turn whose protocol broke.
pub fn protocol(message: &str) -> TurnEnd {
    TurnEnd::Failed(Failure::new(FailureKind::Protocol, message))
}

/// Builds the end of a turn that the CLI would not begin.
pub fn refused(message: &str) -> TurnEnd {
    TurnEnd::Failed(Failure::new(FailureKind::Refused, message))
}

/// Reads a failure, or a remark, that the CLI shows as if the model had said it.
pub fn said_by_cli(assistant: &Assistant) -> Said {
    let texts = assistant
        .message
        .content
        .iter()
        .filter_map(|block| match parse_block(block) {
            Ok(Block::Text { text }) => Some(text),
            _no_text => None,
        });
    Said {
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

/// Tells of a retry.
pub fn retrying(retry: &Retry) -> AdapterEvent {
    let error = retry.error.as_deref().unwrap_or("unknown");
    AdapterEvent::Retrying {
        attempt: retry.attempt,
        max: retry.max_retries,
        reason: match retry.error_status {
            Some(status) => format!("{error} ({status})"),
            None => "no answer from the service, or a cut one".to_owned(),
        },
    }
}

/// Reads the running totals; `None` when there are none, as in a result that only reports a failed start.
pub fn usage(result: &TurnResult, model: Option<&str>) -> Option<Usage> {
    let models = result
        .model_usage
        .as_ref()
        .filter(|models| !models.is_empty())?;
    let mut usage = Usage {
        cost_usd: result.total_cost_usd,
        ..Usage::default()
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

/// Makes the id of a line: a UUID of version 8, since it is made of a digest.
/// The id of a line, which never comes twice.
pub fn line_id(turn: &TurnId, fresh_id: &str, n_line: u64) -> String {
    let digest = Sha256::digest(format!("{fresh_id}\n{turn}\n{n_line}"));
    let mut bytes = [0_u8; 16];
    for (byte, from) in bytes.iter_mut().zip(digest) {
        *byte = from;
    }
    uuid::Builder::from_custom_bytes(bytes)
        .into_uuid()
        .to_string()
}
