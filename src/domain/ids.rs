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
    /// A request of an agent that waits for an answer, unique within its session's process.
    RequestId
);
text_id!(
    /// The lower-case hexadecimal SHA-256 of something, 64 characters.
    Sha256
);

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
