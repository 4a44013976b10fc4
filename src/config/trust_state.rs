//! Whether the user trusts a repository's configuration, and what to say about it.

/// Whether a repository may configure and instruct agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustState {
    /// The user ran `agent-collab trust` for this path and this content.
    Trusted,
    /// The user never trusted it, or revoked the trust.
    Untrusted,
    /// The user trusted it, but the content has changed since; counts as untrusted.
    Changed,
}

/// Says why a project's setting does not count.
pub fn trust_reason(trust: TrustState) -> &'static str {
    match trust {
        TrustState::Changed => {
            "because the project's settings or prompts changed since you trusted this repository"
        }
        TrustState::Untrusted | TrustState::Trusted => "because this repository is not trusted",
    }
}

/// Says what the user can do to make it count.
pub fn trust_hint(trust: TrustState) -> String {
    match trust {
        TrustState::Changed => "read the change, then run `agent-collab trust` again".to_owned(),
        TrustState::Untrusted | TrustState::Trusted => {
            "run `agent-collab trust` if you trust the source of this repository".to_owned()
        }
    }
}
