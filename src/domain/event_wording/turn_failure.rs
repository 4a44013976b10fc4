//! Words the failure of a turn: what happened to which CLI, and what the CLI said.

use crate::domain::turn::TurnFailureKind;
use crate::text::clean_to_one_line;

/// The words for the failure of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnFailureWording {
    /// What happened, as in `codex service unavailable`.
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
    let title = match kind {
        TurnFailureKind::Login => format!("{cli} is not logged in"),
        TurnFailureKind::RateLimit => format!("{cli} rate limit reached"),
        TurnFailureKind::UsageLimit => format!("{cli} usage limit reached"),
        TurnFailureKind::Service => format!("{cli} service unavailable"),
        TurnFailureKind::Connection => format!("{cli} connection failed"),
        TurnFailureKind::ContextFull => format!("{cli} context is full"),
        TurnFailureKind::Refused => format!("{cli} refused the turn"),
        TurnFailureKind::Protocol => format!("{cli} failed"),
        TurnFailureKind::TamperedFiles => "Files of agent-collab were changed".to_owned(),
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

/// Describes a failed turn where its CLI is not known.
pub(super) fn describe_failed_turn(kind: &TurnFailureKind, message: &str) -> String {
    match kind {
        // The message says what it was.
        TurnFailureKind::Protocol => format!("Turn failed: {message}"),
        kind => format!("Turn failed ({kind}): {message}"),
    }
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
    fn the_title_names_what_the_user_can_do_something_about() {
        let died = "codex ended during the turn (exit status 101): thread 'main' panicked";
        check(TurnFailureKind::Protocol, died, "codex failed", died);
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
        let tampered = TurnFailureKind::TamperedFiles;
        let title = "Files of agent-collab were changed";
        check(tampered, "log.md", title, "log.md");
        let words = word_turn_failure("", &TurnFailureKind::Login, "");
        assert_eq!(words.title, "The CLI is not logged in");
    }
}
