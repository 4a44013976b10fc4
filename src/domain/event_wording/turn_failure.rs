//! Words the failure of a turn: what happened to which CLI, and what the CLI said.

use crate::domain::turn::TurnFailureKind;
use crate::text::clean_to_one_line;

/// The words for the failure of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnFailureWording {
    /// What happened, as in `codex crashed (exit 101)`.
    pub title: String,
    /// What the CLI said, without what the title says; may be empty.
    pub reason: String,
}

/// Words a failure; `adapter` is empty where the CLI is not known.
pub fn word_turn_failure(
    adapter: &str,
    kind: &TurnFailureKind,
    message: &str,
) -> TurnFailureWording {
    let cli = match adapter {
        "" => "The CLI".to_owned(),
        adapter => clean_to_one_line(adapter),
    };
    if *kind == TurnFailureKind::Protocol
        && let Some((end, reason)) = split_exit(message)
    {
        return TurnFailureWording {
            title: format!("{cli} {end}"),
            reason: reason.to_owned(),
        };
    }
    let title = match kind {
        TurnFailureKind::Login => format!("{cli} is not logged in"),
        TurnFailureKind::RateLimit => format!("{cli} rate limit reached"),
        TurnFailureKind::UsageLimit => format!("{cli} usage limit reached"),
        TurnFailureKind::Service => format!("{cli} service unavailable"),
        TurnFailureKind::Connection => format!("{cli} connection failed"),
        TurnFailureKind::ContextFull => format!("{cli} context is full"),
        TurnFailureKind::Refused => format!("{cli} refused the turn"),
        TurnFailureKind::Protocol => format!("{cli} failed"),
        TurnFailureKind::Other(kind) => format!("{cli} failed ({})", clean_to_one_line(kind)),
    };
    // Some CLIs begin with the same words.
    let reason = match message.strip_prefix(title.as_str()) {
        Some(rest) if rest.is_empty() || rest.starts_with('\n') => rest.trim_start(),
        Some(_) | None => message,
    };
    TurnFailureWording {
        reason: reason.to_owned(),
        title,
    }
}

/// Splits `codex ended during the turn (exit status 101): words` into how the process ended and the words behind it.
fn split_exit(message: &str) -> Option<(String, &str)> {
    let (head, reason) = message.split_once(": ").unwrap_or((message, ""));
    let ended = ["exit status ", "exit code ", "signal "];
    let (what, number) = ended.iter().find_map(|what| {
        let (_, rest) = head.split_once(what)?;
        let n_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        rest.get(..n_digits).map(|number| (*what, number))
    })?;
    let end = match (what, number) {
        (_, "") => return None,
        ("signal ", number) => format!("crashed (signal {number})"),
        (_, "0") => "ended too early".to_owned(),
        (_, number) => format!("crashed (exit {number})"),
    };
    Some((end, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: TurnFailureKind, message: &str, title: &str, reason: &str) {
        let words = word_turn_failure("codex", &kind, message);
        assert_eq!(
            (words.title.as_str(), words.reason.as_str()),
            (title, reason)
        );
    }

    #[test]
    fn a_process_that_ended_has_crashed_and_its_last_words_are_the_reason() {
        let crash = TurnFailureKind::Protocol;
        let said = "codex ended during the turn (exit status 101): thread 'main' panicked";
        let (title, reason) = ("codex crashed (exit 101)", "thread 'main' panicked");
        check(crash.clone(), said, title, reason);
        let said = "codex was killed by signal 9 during the turn";
        check(crash.clone(), said, "codex crashed (signal 9)", "");
        let said = "codex ended with exit code 0 during the turn";
        check(crash.clone(), said, "codex ended too early", "");
        check(
            crash,
            "no JSON: exit status 1",
            "codex failed",
            "no JSON: exit status 1",
        );
    }

    #[test]
    fn the_title_names_what_the_user_can_do_something_about() {
        let service = TurnFailureKind::Service;
        check(
            service,
            "high demand",
            "codex service unavailable",
            "high demand",
        );
        let login = TurnFailureKind::Login;
        let said = "codex is not logged in\nhint: log in";
        check(login, said, "codex is not logged in", "hint: log in");
        let words = word_turn_failure("", &TurnFailureKind::Login, "");
        assert_eq!(words.title, "The CLI is not logged in");
    }
}
