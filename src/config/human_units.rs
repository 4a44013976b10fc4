//! Parses and formats durations and sizes as users write them: `1h30m`, `10MB`.

use std::time::Duration;

/// Units of time, largest first, in milliseconds.
const TIME_UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Units of size, in bytes; each decimal unit comes before the binary unit of the same rank.
const SIZE_UNITS: [(&str, u64); 7] = [
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("KB", 1_000),
    ("KiB", 1 << 10),
    ("B", 1),
];

/// Parses a duration: whole numbers, each with `h`, `m`, `s` or `ms`, such as `1h30m`. `None` if it is not a duration.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut total = 0_u64;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (number, tail) = split_number(rest)?;
        let end = tail
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(tail.len());
        let (_, millis) = TIME_UNITS.iter().find(|(unit, _)| *unit == &tail[..end])?;
        total = total.checked_add(number.checked_mul(*millis)?)?;
        rest = &tail[end..];
    }
    Some(Duration::from_millis(total))
}

/// Parses a size: a whole number with `B`, `KB`, `KiB`, `MB`, `MiB`, `GB` or `GiB`. `None` if it is not a size.
pub fn parse_size(text: &str) -> Option<u64> {
    let (number, tail) = split_number(text.trim())?;
    let (_, bytes) = SIZE_UNITS.iter().find(|(unit, _)| *unit == tail.trim())?;
    number.checked_mul(*bytes)
}

/// Writes a duration so that [`parse_duration`] returns the same one.
pub fn format_duration(duration: Duration) -> String {
    let mut millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let mut text = String::new();
    for (unit, size) in TIME_UNITS {
        if millis >= size {
            text.push_str(&format!("{}{unit}", millis / size));
            millis %= size;
        }
    }
    if text.is_empty() {
        "0s".to_owned()
    } else {
        text
    }
}

/// Writes a size so that [`parse_size`] returns the same one, in the largest unit that divides it.
pub fn format_size(bytes: u64) -> String {
    let unit = SIZE_UNITS
        .iter()
        .find(|(_, size)| bytes != 0 && bytes.is_multiple_of(*size));
    unit.map_or_else(
        || format!("{bytes}B"),
        |(unit, size)| format!("{}{unit}", bytes / size),
    )
}

fn split_number(text: &str) -> Option<(u64, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_are_sums_of_numbers_with_units() {
        let read = |text| parse_duration(text).map(|d| d.as_millis());
        assert_eq!(read("30m"), Some(1_800_000));
        assert_eq!(read("1h30m"), Some(5_400_000));
        assert_eq!(read("250ms"), Some(250));
        for wrong in [
            "",
            "30",
            "m",
            "1.5h",
            "-1s",
            "30 m",
            "1x",
            "1d",
            "99999999999999999999h",
            "9999999999999999h",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sizes_have_decimal_and_binary_units() {
        assert_eq!(parse_size("10MB"), Some(10_000_000));
        assert_eq!(parse_size("64 KiB"), Some(65_536));
        for wrong in ["", "10", "MB", "10mb", "1.5MB", "99999999999GiB"] {
            assert_eq!(parse_size(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(n in 0_u64..=u64::from(u32::MAX)) {
            prop_assert_eq!(parse_size(&format_size(n)), Some(n));
            let duration = Duration::from_millis(n);
            prop_assert_eq!(parse_duration(&format_duration(duration)), Some(duration));
        }
    }
}
