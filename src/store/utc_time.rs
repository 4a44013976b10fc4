//! Converts instants to RFC 3339 text in UTC and back, and reads the clock for the store.
//!
//! Does not know time zones: times on disk are in UTC.

use std::sync::OnceLock;

use jiff::Timestamp;

use crate::domain::ids::UnixMillis;

/// The clock of this process, if another than the system's was set.
static CLOCK: OnceLock<fn() -> UnixMillis> = OnceLock::new();

/// Returns the current time.
pub fn now() -> UnixMillis {
    match CLOCK.get() {
        Some(clock) => clock(),
        None => UnixMillis(Timestamp::now().as_millisecond()),
    }
}

/// Replaces the system's clock from now on; only the first call has an effect. The program itself never calls
/// this.
pub fn set_clock(clock: fn() -> UnixMillis) {
    let _the_first_stays = CLOCK.set(clock);
}

/// Formats an instant as RFC 3339 in UTC, such as `2026-11-21T22:58:28.123Z`.
///
/// An instant outside the years -9999 to 9999 is moved to the nearer end.
pub fn to_rfc3339(at: UnixMillis) -> String {
    let nearest = || {
        if at.0 < 0 {
            Timestamp::MIN
        } else {
            Timestamp::MAX
        }
    };
    let instant = Timestamp::from_millisecond(at.0).unwrap_or_else(|_| nearest());
    format!("{instant:.3}")
}

/// Parses RFC 3339 text with any offset; `None` if it is invalid.
pub fn parse_rfc3339(text: &str) -> Option<UnixMillis> {
    let instant: Timestamp = text.parse().ok()?;
    Some(UnixMillis(instant.as_millisecond()))
}

/// Formats an instant for a file name, such as `20261121T225828Z`.
pub(super) fn to_file_name(at: UnixMillis) -> String {
    let text = to_rfc3339(at);
    let seconds = text.split(['.', 'Z']).next().unwrap_or(&text);
    let mut name = seconds.replace(['-', ':'], "");
    name.push('Z');
    name
}

/// Serialises an instant as RFC 3339 text, for `#[serde(with = "…")]`.
pub(super) mod text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::domain::ids::UnixMillis;

    pub(in crate::store) fn serialize<S: Serializer>(
        at: &UnixMillis,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        out.serialize_str(&super::to_rfc3339(*at))
    }

    pub(in crate::store) fn deserialize<'de, D: Deserializer<'de>>(
        input: D,
    ) -> Result<UnixMillis, D::Error> {
        let text = String::deserialize(input)?;
        super::parse_rfc3339(&text)
            .ok_or_else(|| D::Error::custom(format!("{text:?} is not a valid time")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_survives_the_text() {
        let at = UnixMillis(1_795_388_308_123);
        assert_eq!(to_rfc3339(at), "2026-11-22T22:58:28.123Z");
        assert_eq!(to_file_name(at), "20261122T225828Z");
        assert_eq!(parse_rfc3339(&to_rfc3339(at)), Some(at));
        assert_eq!(parse_rfc3339("2026-11-23T00:58:28.123+02:00"), Some(at));
        assert_eq!(parse_rfc3339("yesterday"), None);
        assert_eq!(
            parse_rfc3339(&to_rfc3339(UnixMillis(i64::MAX))).map(|at| at.0 > 0),
            Some(true)
        );
    }
}
