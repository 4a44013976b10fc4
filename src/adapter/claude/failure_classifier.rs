//! Classifies a failed turn of `claude`: messages and status codes become a [`TurnFailure`].

use crate::adapter::{TurnFailure, TurnFailureKind};

/// What is known about a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailureEvidence {
    /// The HTTP status of the request.
    pub status: Option<i64>,
    /// The CLI's own codes for it: `rate_limit`, `connection_failed`, `max_turns`, …
    pub codes: Vec<String>,
    /// The text that the CLI showed.
    pub text: String,
    /// When the used-up limit resets, in seconds since 1970.
    pub resets_at: Option<i64>,
}

/// Classifies a failure; without any known sign it is [`TurnFailureKind::Protocol`].
pub fn classify_failure(said: &FailureEvidence) -> TurnFailure {
    let rules: [(TurnFailureKind, bool); 8] = [
        (TurnFailureKind::Refused, is_local_stop(said)),
        (TurnFailureKind::Login, is_login_failure(said)),
        (TurnFailureKind::UsageLimit, is_usage_limit(said)),
        (TurnFailureKind::RateLimit, is_rate_limit(said)),
        (TurnFailureKind::ContextFull, is_context_full(said)),
        (TurnFailureKind::Connection, is_connection_failure(said)),
        (TurnFailureKind::Service, is_service_failure(said)),
        (TurnFailureKind::Refused, is_refused_request(said)),
    ];
    let kind = rules
        .into_iter()
        .find_map(|(kind, applies)| applies.then_some(kind))
        .unwrap_or(TurnFailureKind::Protocol);
    TurnFailure::new(kind, failure_message(said))
        .with_reset_time(said.resets_at.or_else(|| parse_limit_reset(&said.text)))
}

/// Parses the instant after the bar in `… usage limit reached|1760000400`, the format of older versions.
fn parse_limit_reset(text: &str) -> Option<i64> {
    let (_, behind) = text.split_once("limit reached|")?;
    let digits: String = behind.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn failure_message(said: &FailureEvidence) -> String {
    let text = said.text.trim();
    if !text.is_empty() {
        return text.chars().take(2000).collect();
    }
    match said.codes.first() {
        Some(code) => format!("claude ended the turn: {code}"),
        None => "claude ended the turn without a reason".to_owned(),
    }
}

fn is_login_failure(said: &FailureEvidence) -> bool {
    said.status == Some(401)
        || said.has_code(&[
            "authentication_failed",
            "authentication_error",
            "oauth_org_not_allowed",
        ])
        || said.text_contains(&["not logged in", "please run /login", "invalid api key"])
}

fn is_usage_limit(said: &FailureEvidence) -> bool {
    let hit = said.text_contains(&["hit your "]) && said.text_contains(&[" limit"]);
    hit || said.has_code(&["billing_error", "usage_limit_reached"])
        || said.text_contains(&["usage limit", "limit reached", "credit balance"])
}

fn is_rate_limit(said: &FailureEvidence) -> bool {
    said.status == Some(429) || said.has_code(&["rate_limit", "rate_limit_error"])
}

fn is_context_full(said: &FailureEvidence) -> bool {
    said.status == Some(413)
        || said.has_code(&["prompt_too_long"])
        || said.text_contains(&["prompt is too long"])
}

fn is_connection_failure(said: &FailureEvidence) -> bool {
    said.has_code(&["connection_failed"])
        || said.text_contains(&[
            "connection refused",
            "connection error",
            "econn",
            "enotfound",
            "timed out",
        ])
}

fn is_service_failure(said: &FailureEvidence) -> bool {
    said.status.is_some_and(|status| status >= 500)
        || said.has_code(&["overloaded", "server_error"])
        || said.text_contains(&["overloaded"])
}

/// Returns whether the user's own limits or hooks ended the turn; then no service is at fault, whatever the text says.
fn is_local_stop(said: &FailureEvidence) -> bool {
    said.has_code(&[
        "max_turns",
        "budget_exhausted",
        "hook_stopped",
        "tool_deferred",
        "prompt_blocked",
    ])
}

fn is_refused_request(said: &FailureEvidence) -> bool {
    said.status
        .is_some_and(|status| (400..500).contains(&status))
        || said.has_code(&["model_not_found", "invalid_request", "image_error"])
        || said.text_contains(&[
            "error: unknown option",
            "is already in use",
            "cannot be used with root",
        ])
}

impl FailureEvidence {
    fn has_code(&self, codes: &[&str]) -> bool {
        self.codes.iter().any(|code| codes.contains(&code.as_str()))
    }

    fn text_contains(&self, parts: &[&str]) -> bool {
        let text = self.text.to_lowercase();
        parts.iter().any(|part| text.contains(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::UnixMillis;
    use TurnFailureKind::{
        Connection, ContextFull, Login, Protocol, RateLimit, Refused, Service, UsageLimit,
    };

    fn check(status: Option<i64>, code: &str, text: &str) -> TurnFailureKind {
        classify_failure(&FailureEvidence {
            status,
            codes: vec![code.to_owned()],
            text: text.to_owned(),
            resets_at: None,
        })
        .kind
    }

    const TABLE: &[(Option<i64>, &str, &str, TurnFailureKind)] = &[
        (Some(401), "unknown", "", Login),
        (
            None,
            "authentication_failed",
            "Not logged in · Please run /login",
            Login,
        ),
        (
            None,
            "unknown",
            "Invalid API key · Fix external API key",
            Login,
        ),
        (
            Some(429),
            "rate_limit",
            "API Error: Request rejected (429) · slow down",
            RateLimit,
        ),
        (
            Some(429),
            "rate_limit",
            "Claude usage limit reached. Resets 5pm",
            UsageLimit,
        ),
        (
            Some(429),
            "rate_limit",
            "You've hit your 5-hour limit · resets 3:04am (UTC)",
            UsageLimit,
        ),
        (Some(429), "usage_limit_reached", "", UsageLimit),
        (
            Some(400),
            "billing_error",
            "Credit balance is too low",
            UsageLimit,
        ),
        (
            Some(529),
            "server_error",
            "Repeated 529 Overloaded errors",
            Service,
        ),
        (Some(500), "server_error", "Internal server error", Service),
        (
            None,
            "connection_failed",
            "API Error: Connection refused (ECONNREFUSED)",
            Connection,
        ),
        (
            Some(400),
            "prompt_too_long",
            "Prompt is too long",
            ContextFull,
        ),
        (Some(413), "invalid_request", "", ContextFull),
        (
            Some(404),
            "model_not_found",
            "There's an issue with the selected model",
            Refused,
        ),
        (Some(400), "invalid_request", "API Error: 400", Refused),
        (None, "max_turns", "", Refused),
        (None, "prompt_blocked", "the hook timed out", Refused),
        (None, "something_new", "words", Protocol),
    ];

    #[test]
    fn each_failure_is_told_by_what_the_user_can_do_about_it() {
        for (status, code, text, wanted) in TABLE {
            assert_eq!(
                check(*status, code, text),
                *wanted,
                "{status:?} {code} {text}"
            );
        }
    }

    #[test]
    fn a_limit_tells_its_end_by_an_event_or_behind_a_bar() {
        let said = |text: &str, resets_at| FailureEvidence {
            text: text.to_owned(),
            resets_at,
            ..FailureEvidence::default()
        };
        let old = classify_failure(&said("Claude AI usage limit reached|1760000400", None));
        assert_eq!(old.resets_at, Some(UnixMillis(1_760_000_400_000)));
        let told = classify_failure(&said("You've hit your weekly limit", Some(7)));
        assert_eq!(
            (told.kind, told.resets_at),
            (UsageLimit, Some(UnixMillis(7_000)))
        );
        let other = classify_failure(&said("Internal server error", Some(7)));
        assert_eq!(other.resets_at, None);
    }

    #[test]
    fn a_failure_without_words_still_says_something() {
        assert_eq!(
            classify_failure(&FailureEvidence::default()).message,
            "claude ended the turn without a reason"
        );
    }
}
