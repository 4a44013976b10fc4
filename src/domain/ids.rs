//! Defines newtypes for ids of runs, sessions, turns, discussions and requests, for hashes and for instants.
//!
//! Does not create ids: the shell does, and they arrive with events.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps an id unchanged.
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id!(
    /// One goal in one repository, from INIT to DONE or CANCELLED (`run_…`).
    RunId
);
text_id!(
    /// One conversation of one agent through one adapter (`ses_…`).
    SessionId
);
text_id!(
    /// One prompt and everything until its result (`trn_…`).
    TurnId
);
text_id!(
    /// One group discussion (`dsc_…`).
    DiscussionId
);
text_id!(
    /// The lower-case hexadecimal SHA-256 of something, 64 characters.
    Sha256
);

/// A request of an agent that waits for an answer. Its text is the id that the agent's process gave it, for a child
/// session `SESSION/ID`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct RequestId {
    /// The child session that asks; `None` for a role, and where the request was made.
    pub child: Option<SessionId>,
    /// The id where the request was made, unique within that process.
    pub own: String,
}

impl RequestId {
    /// Wraps the id of a request where it was made.
    pub fn new(own: impl Into<String>) -> Self {
        let own = own.into();
        Self { child: None, own }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.child {
            Some(child) => write!(f, "{child}/{}", self.own),
            None => f.write_str(&self.own),
        }
    }
}

impl From<RequestId> for String {
    fn from(id: RequestId) -> Self {
        id.to_string()
    }
}

impl From<String> for RequestId {
    fn from(text: String) -> Self {
        match text.split_once('/') {
            Some((child, own)) if child.starts_with("ses_") => Self {
                child: Some(SessionId::new(child)),
                own: own.to_owned(),
            },
            _ => Self::new(text),
        }
    }
}

/// An instant as milliseconds since 1970-01-01T00:00:00Z; only the shell reads the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnixMillis(pub i64);

impl UnixMillis {
    /// Formats the time of day in UTC, to the minute: `14:05Z`.
    pub fn to_utc_hour_minute(self) -> String {
        let minutes = self.0.div_euclid(60_000).rem_euclid(24 * 60);
        format!("{:02}:{:02}Z", minutes / 60, minutes % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_request_is_read_as_it_was_written() {
        for (text, child, own) in [
            ("7", None, "7"),
            ("\"a/b\"", None, "\"a/b\""),
            ("ses_c/tool-1", Some("ses_c"), "tool-1"),
            ("ses_c/a/b", Some("ses_c"), "a/b"),
        ] {
            let id: RequestId = serde_json::from_value(text.into()).unwrap();
            let found = (id.child.as_ref().map(SessionId::as_str), id.own.as_str());
            assert_eq!(found, (child, own));
            assert_eq!(serde_json::to_value(&id).unwrap(), text);
        }
    }
}
