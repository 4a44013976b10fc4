//! Everyday commands that are proven to only read, and those that must not be; `⏎` is a line break.

use super::*;

mod hostile_commands;

const ACCEPTED: &str = include_str!("cases/accepted.txt");
const REFUSED: &str = include_str!("cases/refused.txt");

fn judge(text: &str) -> Result<(), ReadOnlyRefusal> {
    prove_read_only(text, Path::new("/repo"), Path::new("/repo"))
}

fn lines(text: &'static str) -> impl Iterator<Item = String> {
    text.lines().map(|line| line.replace('⏎', "\n"))
}

#[test]
fn at_least_three_hundred_reading_commands_are_proven() {
    let refused: Vec<String> = lines(ACCEPTED)
        .filter_map(|line| {
            judge(&line)
                .err()
                .map(|refused| format!("{line:?} is not accepted: {refused}"))
        })
        .collect();
    assert!(
        refused.is_empty(),
        "{} misses\n{}",
        refused.len(),
        refused.join("\n")
    );
    assert!(lines(ACCEPTED).count() >= 300);
}

#[test]
fn nothing_that_writes_runs_or_leaves_is_proven() {
    let accepted: Vec<String> = lines(REFUSED)
        .filter(|line| judge(line).is_ok())
        .map(|line| format!("{line:?} is not refused"))
        .collect();
    assert!(
        accepted.is_empty(),
        "{} misses\n{}",
        accepted.len(),
        accepted.join("\n")
    );
}
