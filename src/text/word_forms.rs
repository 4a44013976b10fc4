//! How a word or a figure stands in a sentence.

/// Starts a text with a capital letter.
pub fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// Formats a duration in milliseconds by its two largest units: `8 s`, `1 min 5 s`, `2 h 3 min`.
pub fn format_duration(millis: i64) -> String {
    let seconds = millis.max(0) / 1_000;
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_told_by_its_two_largest_units() {
        for (millis, wanted) in [
            (-1, "0 s"),
            (59_999, "59 s"),
            (65_000, "1 min 5 s"),
            (3_600_000, "1 h 0 min"),
            (7_384_000, "2 h 3 min"),
        ] {
            assert_eq!(format_duration(millis), wanted, "{millis}");
        }
    }
}
