//! Sorts what codex says went wrong by what the user can do about it.
//!
//! Refuses to know when a turn fails; it is handed an error and names its kind.

use serde_json::Value;

use super::wire::{RateLimits, TurnError};
use crate::adapter::{Exit, Failure, FailureKind};

/// Builds the failure that codex reported for a turn.
pub(super) fn failure(error: &TurnError) -> Failure {
    let kind = error
        .codex_error_info
        .as_ref()
        .and_then(kind_by_info)
        .unwrap_or_else(|| kind_by_message(&error.message));
    let message = match &error.additional_details {
        Some(details) if !details.is_empty() => format!("{}: {details}", error.message),
        Some(_) | None => error.message.clone(),
    };
    Failure::new(kind, message)
}

/// Builds the failure of a turn whose process ended under it.
pub(super) fn ended(exit: &Exit) -> Failure {
    let complaint = exit
        .stderr_tail
        .lines()
        .map(str::trim)
        .rfind(|line| line.starts_with("Error: "));
    if let Some(line) = complaint {
        return Failure::new(FailureKind::Refused, line);
    }
    let mut message = format!("codex ended in the middle of the turn ({})", how(exit));
    // Its last words are the best there is to say why.
    let mut said = exit.stderr_tail.lines().map(str::trim);
    if let Some(last) = said.rfind(|line| !line.is_empty()) {
        message.push_str(&format!(": {last}"));
    }
    Failure::new(FailureKind::Protocol, message)
}

/// Tells when all used-up windows of the plan have begun anew, in seconds since 1970.
pub(super) fn resets_at(limits: &RateLimits) -> Option<i64> {
    [&limits.primary, &limits.secondary]
        .into_iter()
        .flatten()
        .filter(|window| window.used_percent >= 100.0)
        .map(|window| window.resets_at)
        .max()?
}

/// Says how a process ended.
pub(super) fn how(exit: &Exit) -> String {
    match (exit.code, exit.signal) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "nobody knows how".to_owned(),
    }
}

fn kind_by_info(info: &Value) -> Option<FailureKind> {
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

fn kind_by_status(status: Option<u64>) -> FailureKind {
    match status {
        None => FailureKind::Connection,
        Some(401 | 403) => FailureKind::Login,
        Some(429) => FailureKind::RateLimit,
        Some(500..) => FailureKind::Service,
        Some(_) => FailureKind::Refused,
    }
}

fn kind_by_name(name: &str) -> Option<FailureKind> {
    let kind = match name {
        "unauthorized" => FailureKind::Login,
        "rateLimitExceeded" => FailureKind::RateLimit,
        "usageLimitExceeded" | "sessionBudgetExceeded" => FailureKind::UsageLimit,
        "contextWindowExceeded" => FailureKind::ContextFull,
        "internalServerError"
        | "serverOverloaded"
        | "flexUnavailable"
        | "policyCapacityUnavailable" => FailureKind::Service,
        "badRequest"
        | "modelNotFound"
        | "inferenceHookDenied"
        | "cyberPolicy"
        | "misalignmentPolicyViolation"
        | "tooManyDenials"
        | "sandboxError"
        | "threadRollbackFailed"
        | "activeTurnNotSteerable" => FailureKind::Refused,
        _ => return None,
    };
    Some(kind)
}

/// The signs that codex's plain messages carry, first match wins.
const SIGNS: [(&str, FailureKind); 10] = [
    ("missing environment variable", FailureKind::Login),
    ("401 unauthorized", FailureKind::Login),
    ("usage limit", FailureKind::UsageLimit),
    ("quota exceeded", FailureKind::UsageLimit),
    ("429 too many requests", FailureKind::RateLimit),
    ("high demand", FailureKind::Service),
    ("connection failed", FailureKind::Connection),
    ("stream disconnected", FailureKind::Connection),
    ("timed out", FailureKind::Connection),
    ("error sending request", FailureKind::Connection),
];

/// What bears no sign was refused by the service as it stood: codex passes such answers on raw.
fn kind_by_message(message: &str) -> FailureKind {
    let lower = message.to_lowercase();
    SIGNS
        .iter()
        .find(|(sign, _)| lower.contains(sign))
        .map_or(FailureKind::Refused, |(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(info: Value, message: &str, wanted: FailureKind) {
        let error = TurnError {
            message: message.to_owned(),
            codex_error_info: Some(info),
            additional_details: None,
        };
        assert_eq!(failure(&error).kind, wanted, "{error:?}");
    }

    #[test]
    fn a_status_decides_the_kind() {
        let http = |status: Value| json!({"httpConnectionFailed": {"httpStatusCode": status}});
        check(http(json!(401)), "", FailureKind::Login);
        check(http(json!(429)), "", FailureKind::RateLimit);
        check(http(json!(404)), "", FailureKind::Refused);
        check(http(json!(503)), "", FailureKind::Service);
        check(http(json!(null)), "", FailureKind::Connection);
        check(
            json!({"responseTooManyFailedAttempts": {"httpStatusCode": 429}}),
            "",
            FailureKind::RateLimit,
        );
        check(
            json!({"responseStreamDisconnected": {"httpStatusCode": null}}),
            "",
            FailureKind::Connection,
        );
    }

    #[test]
    fn a_name_decides_the_kind() {
        check(json!("usageLimitExceeded"), "", FailureKind::UsageLimit);
        check(json!("contextWindowExceeded"), "", FailureKind::ContextFull);
        check(json!("internalServerError"), "", FailureKind::Service);
        check(json!("modelNotFound"), "", FailureKind::Refused);
    }

    #[test]
    fn a_limit_ends_with_the_last_of_its_used_up_windows() {
        let limits = |primary: Value, secondary: Value| {
            let told = json!({"primary": primary, "secondary": secondary, "planType": null});
            resets_at(&serde_json::from_value(told).unwrap())
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
            FailureKind::Login,
        );
        check(json!("other"), "{\"error\":\"bad\"}", FailureKind::Refused);
        check(
            json!("brandNew"),
            "stream disconnected before completion",
            FailureKind::Connection,
        );
        check(json!(null), "Quota exceeded.", FailureKind::UsageLimit);
    }

    #[test]
    fn the_end_of_the_process_is_told_in_its_own_words_where_it_had_any() {
        let exit = |tail: &str| Exit {
            code: Some(1),
            signal: None,
            stderr_tail: tail.to_owned(),
        };
        let refused = ended(&exit("WARN x\nError: unknown variant `x`\n"));
        assert_eq!(refused.kind, FailureKind::Refused);
        assert_eq!(refused.message, "Error: unknown variant `x`");
        let died = ended(&exit("warned\n"));
        assert_eq!(died.kind, FailureKind::Protocol);
        assert_eq!(
            died.message,
            "codex ended in the middle of the turn (exit status 1): warned"
        );
        assert_eq!(
            ended(&exit("\n")).message,
            "codex ended in the middle of the turn (exit status 1)"
        );
    }
}
