//! How a word or a figure stands in a sentence.

/// Starts a text with a capital letter.
pub fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// Returns the beginning of a text that can be its title: up to the first `;`, `:`, `(` or sentence's end outside of code and
/// bold text; the whole text where that leaves less than 12 bytes.
pub fn first_clause(text: &str) -> &str {
    const MIN_BYTES: usize = 12;
    const ENDS: [&str; 4] = ["; ", ": ", " (", ". "];
    let ends = ENDS.iter().flat_map(|end| text.match_indices(end));
    // After `e.g. ` a sentence goes on.
    let ends_there = |(at, end): &(usize, &str)| {
        let rest = text.get(at + end.len()..).unwrap_or_default();
        *end != ". " || !rest.starts_with(char::is_lowercase)
    };
    let mut cuts: Vec<usize> = ends.filter(ends_there).map(|(at, _)| at).collect();
    cuts.sort_unstable();
    let heads = cuts.into_iter().filter_map(|at| text.get(..at));
    let is_outside = |head: &&str, mark: &str| head.matches(mark).count().is_multiple_of(2);
    let mut heads = heads.filter(|head| is_outside(head, "`") && is_outside(head, "**"));
    heads.find(|head| head.len() >= MIN_BYTES).unwrap_or(text)
}

/// Returns a text without the full stop at its end, as a title; dots of `…` or `etc...` stay.
pub fn without_full_stop(text: &str) -> &str {
    match text.strip_suffix('.') {
        Some(title) if !title.ends_with('.') => title,
        Some(_) | None => text,
    }
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
    fn a_clause_ends_outside_of_code_and_is_long_enough() {
        for (text, wanted) in [
            (
                "Add --top N to a.sh: divide by tr (no more)",
                "Add --top N to a.sh",
            ),
            (
                "In a.sh: take the last line (once); done",
                "In a.sh: take the last line",
            ),
            (
                "Write `a: b; c` into the file. Then test",
                "Write `a: b; c` into the file",
            ),
            (
                "Handle all errors, e.g. timeouts. Then log",
                "Handle all errors, e.g. timeouts",
            ),
            (
                "Write **a long name: b** there; done",
                "Write **a long name: b** there",
            ),
            ("Count words", "Count words"),
            ("", ""),
        ] {
            assert_eq!(first_clause(text), wanted, "{text}");
        }
    }

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
