//! Formats instants in the user's local time, for display only.
//!
//! Times on disk are in UTC: see `utc_time`.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::utc_time;
use crate::domain::ids::UnixMillis;

/// Formats an instant in local time, to the minute: `2026-11-22 18:05`.
pub fn to_local_text(at: UnixMillis) -> String {
    to_zoned_text(at, TimeZone::system())
}

fn to_zoned_text(at: UnixMillis, zone: TimeZone) -> String {
    match Timestamp::from_millisecond(at.0) {
        Ok(instant) => instant
            .to_zoned(zone)
            .strftime("%Y-%m-%d %H:%M")
            .to_string(),
        // The instant is outside of every calendar.
        Err(_) => utc_time::to_rfc3339(at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::offset;

    #[test]
    fn an_instant_is_told_by_the_users_clock() {
        let at = utc_time::parse_rfc3339("2026-11-22T22:58:28.123Z").unwrap();
        let told = |hours| to_zoned_text(at, TimeZone::fixed(offset(hours)));
        assert_eq!([told(0), told(2)], ["2026-11-22 22:58", "2026-11-23 00:58"]);
        assert_eq!(
            to_local_text(UnixMillis(i64::MAX)),
            utc_time::to_rfc3339(UnixMillis(i64::MAX))
        );
    }
}
