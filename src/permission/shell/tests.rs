//! Texts and the commands that they would run, one line each.

use super::*;

fn render(reading: &Reading) -> String {
    let lines = reading.commands.iter().map(|command| {
        let words: Vec<&str> = command
            .words
            .iter()
            .map(|word| word.text.as_str())
            .collect();
        words.join("|")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn check(text: &str, expected: &[&str]) {
    let reading = read(text, &Limits::default());
    assert_eq!(render(&reading), expected.join("\n"), "{text}");
}

#[test]
fn lists_and_quotes_are_read() {
    check("a b; c 'd e' && f | g\\ h", &["a|b", "c|d e", "f", "g h"]);
}
