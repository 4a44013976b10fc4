//! Classifies the errors of codex by what the user can do about them.

use serde_json::Value;

use super::app_server_protocol::{CodexRateLimits, CodexTurnError};
use crate::adapter::{CliExit, TurnFailure, TurnFailureKind};

/// Builds the failure that codex reported for a turn.
pub(super) fn classify_turn_error(error: &CodexTurnError) -> TurnFailure {
    let kind = error
        .codex_error_info
        .as_ref()
        .and_then(kind_by_info)
        .unwrap_or_else(|| kind_by_message(&error.message));
    let message = match &error.additional_details {
        Some(details) if !details.is_empty() => format!("{}: {details}", error.message),
        Some(_) | None => error.message.clone(),
    };
    TurnFailure::new(kind, message)
}

/// Builds the failure of a turn whose process exited during it.
pub(super) fn classify_exit(exit: &CliExit) -> TurnFailure {
    let complaint = exit
        .stderr_tail
        .lines()
        .map(str::trim)
        .rfind(|line| line.starts_with("Error: "));
    if let Some(line) = complaint {
        return TurnFailure::new(TurnFailureKind::Refused, line);
    }
    let mut message = format!("codex ended during the turn ({})", describe_exit(exit));
    // The last line on standard error is the best available explanation.
    let mut said = exit.stderr_tail.lines().map(str::trim);
    if let Some(last) = said.rfind(|line| !line.is_empty()) {
        message.push_str(&format!(": {last}"));
    }
    TurnFailure::new(TurnFailureKind::Protocol, message)
}

/// Returns when all used-up windows of the plan have reset, in seconds since 1970.
pub(super) fn latest_limit_reset(limits: &CodexRateLimits) -> Option<i64> {
    [&limits.primary, &limits.secondary]
        .into_iter()
        .flatten()
        .filter(|window| window.used_percent >= 100.0)
        .map(|window| window.resets_at)
        .max()?
}

/// Describes how a process ended.
pub(super) fn describe_exit(exit: &CliExit) -> String {
    match (exit.code, exit.signal) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "for an unknown reason".to_owned(),
    }
}

fn kind_by_info(info: &Value) -> Option<TurnFailureKind> {
    match info {
        Value::String(name) => kind_by_name(name),
        Value::Object(fields) => {
            let (name, details) = fields.iter().next()?;
            match details.get("httpStatusCode") {
                Some(status) => Some(kind_by_status(status.as_u64())),
                None => kind_by_name(name),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

fn kind_by_status(status: Option<u64>) -> TurnFailureKind {
    match status {
        None => TurnFailureKind::Connection,
        Some(401 | 403) => TurnFailureKind::Login,
        Some(429) => TurnFailureKind::RateLimit,
        Some(500..) => TurnFailureKind::Service,
        Some(_) => TurnFailureKind::Refused,
    }
}

fn kind_by_name(name: &str) -> Option<TurnFailureKind> {
    let kind = match name {
        "unauthorized" => TurnFailureKind::Login,
        "rateLimitExceeded" => TurnFailureKind::RateLimit,
        "usageLimitExceeded" | "sessionBudgetExceeded" => TurnFailureKind::UsageLimit,
        "contextWindowExceeded" => TurnFailureKind::ContextFull,
        "internalServerError"
        | "serverOverloaded"
        | "flexUnavailable"
        | "policyCapacityUnavailable" => TurnFailureKind::Service,
        "badRequest"
        | "modelNotFound"
        | "inferenceHookDenied"
        | "cyberPolicy"
        | "misalignmentPolicyViolation"
        | "tooManyDenials"
        | "sandboxError"
        | "threadRollbackFailed"
        | "activeTurnNotSteerable" => TurnFailureKind::Refused,
        _ => return None,
    };
    Some(kind)
}

/// The patterns in codex's plain messages; the first match wins.
const MESSAGE_PATTERNS: [(&str, TurnFailureKind); 10] = [
    ("missing environment variable", TurnFailureKind::Login),
    ("401 unauthorized", TurnFailureKind::Login),
    ("usage limit", TurnFailureKind::UsageLimit),
    ("quota exceeded", TurnFailureKind::UsageLimit),
    ("429 too many requests", TurnFailureKind::RateLimit),
    ("high demand", TurnFailureKind::Service),
    ("connection failed", TurnFailureKind::Connection),
    ("stream disconnected", TurnFailureKind::Connection),
    ("timed out", TurnFailureKind::Connection),
    ("error sending request", TurnFailureKind::Connection),
];

/// Classifies a message. Without a known pattern the service refused the request: codex passes such answers on raw.
fn kind_by_message(message: &str) -> TurnFailureKind {
    let lower = message.to_lowercase();
    MESSAGE_PATTERNS
        .iter()
        .find(|(sign, _)| lower.contains(sign))
        .map_or(TurnFailureKind::Refused, |(_, kind)| kind.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(info: Value, message: &str, wanted: TurnFailureKind) {
        let error = CodexTurnError {
            message: message.to_owned(),
            codex_error_info: Some(info),
            additional_details: None,
        };
        assert_eq!(classify_turn_error(&error).kind, wanted, "{error:?}");
    }

    #[test]
    fn a_status_decides_the_kind() {
        let http = |status: Value| json!({"httpConnectionFailed": {"httpStatusCode": status}});
        check(http(json!(401)), "", TurnFailureKind::Login);
        check(http(json!(429)), "", TurnFailureKind::RateLimit);
        check(http(json!(404)), "", TurnFailureKind::Refused);
        check(http(json!(503)), "", TurnFailureKind::Service);
        check(http(json!(null)), "", TurnFailureKind::Connection);
        check(
            json!({"responseTooManyFailedAttempts": {"httpStatusCode": 429}}),
            "",
            TurnFailureKind::RateLimit,
        );
        check(
            json!({"responseStreamDisconnected": {"httpStatusCode": null}}),
            "",
            TurnFailureKind::Connection,
        );
    }

    #[test]
    fn a_name_decides_the_kind() {
        check(json!("usageLimitExceeded"), "", TurnFailureKind::UsageLimit);
        check(
            json!("contextWindowExceeded"),
            "",
            TurnFailureKind::ContextFull,
        );
        check(json!("internalServerError"), "", TurnFailureKind::Service);
        check(json!("modelNotFound"), "", TurnFailureKind::Refused);
    }

    #[test]
    fn a_limit_ends_with_the_last_of_its_used_up_windows() {
        let limits = |primary: Value, secondary: Value| {
            let told = json!({"primary": primary, "secondary": secondary, "planType": null});
            latest_limit_reset(&serde_json::from_value(told).unwrap())
        };
        let window = |used: u32, resets_at: Value| json!({"usedPercent": used, "windowDurationMins": 300, "resetsAt": resets_at});
        assert_eq!(
            limits(window(100, json!(50)), window(40, json!(90))),
            Some(50)
        );
        assert_eq!(
            limits(window(100, json!(50)), window(100, json!(90))),
            Some(90)
        );
        assert_eq!(limits(window(99, json!(50)), Value::Null), None);
        assert_eq!(limits(window(100, Value::Null), Value::Null), None);
        assert_eq!(limits(Value::Null, Value::Null), None);
    }

    #[test]
    fn the_message_decides_where_nothing_else_does() {
        check(
            json!("other"),
            "Missing environment variable: `KEY`.",
            TurnFailureKind::Login,
        );
        check(
            json!("other"),
            "{\"error\":\"bad\"}",
            TurnFailureKind::Refused,
        );
        check(
            json!("brandNew"),
            "stream disconnected before completion",
            TurnFailureKind::Connection,
        );
        check(json!(null), "Quota exceeded.", TurnFailureKind::UsageLimit);
    }

    #[test]
    fn the_end_of_the_process_is_told_in_its_own_words_where_it_had_any() {
        let exit = |tail: &str| CliExit {
            code: Some(1),
            signal: None,
            stderr_tail: tail.to_owned(),
        };
        let refused = classify_exit(&exit("WARN x\nError: unknown variant `x`\n"));
        assert_eq!(refused.kind, TurnFailureKind::Refused);
        assert_eq!(refused.message, "Error: unknown variant `x`");
        let died = classify_exit(&exit("warned\n"));
        assert_eq!(died.kind, TurnFailureKind::Protocol);
        assert_eq!(
            died.message,
            "codex ended during the turn (exit status 1): warned"
        );
        assert_eq!(
            classify_exit(&exit("\n")).message,
            "codex ended during the turn (exit status 1)"
        );
    }
}
