//! Instants as the user's clock shows them, for people alone.
//!
//! Refuses to be stored or read back: what is kept on disk is UTC.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::instant;
use crate::domain::ids::At;

/// Writes an instant in local time, to the minute: `2026-11-22 18:05`.
pub fn to_text(at: At) -> String {
    to_text_in(at, TimeZone::system())
}

fn to_text_in(at: At, zone: TimeZone) -> String {
    match Timestamp::from_millisecond(at.0) {
        Ok(instant) => instant
            .to_zoned(zone)
            .strftime("%Y-%m-%d %H:%M")
            .to_string(),
        // Outside of all calendars.
        Err(_) => instant::to_text(at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::offset;

    #[test]
    fn an_instant_is_told_by_the_users_clock() {
        let at = instant::parse("2026-11-22T22:58:28.123Z").unwrap();
        let told = |hours| to_text_in(at, TimeZone::fixed(offset(hours)));
        assert_eq!([told(0), told(2)], ["2026-11-22 22:58", "2026-11-23 00:58"]);
        assert_eq!(to_text(At(i64::MAX)), instant::to_text(At(i64::MAX)));
    }
}
