//! Finds the user's time zone quickly: the screen needs it for its first frame.
//!
//! The zone has no name here: looking up the name would search all zones of the system.

use std::fs;

use jiff::tz::TimeZone;

/// The system's rules for local time.
const LOCALTIME_FILE: &str = "/etc/localtime";

/// Returns the zone that `TZ` names, else the system's own; UTC if there is none.
pub fn local_timezone() -> TimeZone {
    let is_named = std::env::var_os("TZ").is_some();
    let rules = fs::read(LOCALTIME_FILE).ok().filter(|_| !is_named);
    rules
        .and_then(|rules| TimeZone::tzif("local", &rules).ok())
        .unwrap_or_else(TimeZone::system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_tells_the_same_time_as_the_zone_with_its_name() {
        for day in 0..400 {
            let at = jiff::Timestamp::from_second(1_700_000_000 + day * 86_400).unwrap();
            assert_eq!(
                local_timezone().to_offset(at),
                TimeZone::system().to_offset(at)
            );
        }
    }
}
