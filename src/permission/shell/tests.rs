//! Texts and what they would run: one line for each command, one for each kind of doubt.

use super::*;

mod hostile;

/// A reading in lines: `sudo> rm|-rf|x >f <"input" A=1`.
fn render(reading: &Reading) -> Vec<String> {
    let mut lines: Vec<String> = reading.commands.iter().map(line).collect();
    for doubt in &reading.doubts {
        let line = match doubt {
            Doubt::Unparsable { .. } => "? syntax".to_owned(),
            Doubt::Limit { limit, .. } => format!("? limit {limit:?}"),
            Doubt::DynamicProgram { .. } => "? program".to_owned(),
            Doubt::DynamicText { .. } => "? text".to_owned(),
            Doubt::ForkBomb { .. } => "? fork bomb".to_owned(),
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn line(command: &Simple) -> String {
    let mut line = String::new();
    for wrapper in &command.via {
        line += &format!("{}> ", wrapper.name);
    }
    let words: Vec<String> = command.words.iter().map(word).collect();
    line += &words.join("|");
    for redirect in &command.redirects {
        let sign = match redirect.kind {
            RedirectKind::Read => "<",
            RedirectKind::Write => ">",
            RedirectKind::Append => ">>",
            RedirectKind::ReadWrite => "<>",
            RedirectKind::Duplicate => ">&",
        };
        let fd = redirect
            .fd
            .map_or_else(|| "{}".to_owned(), |fd| fd.to_string());
        line += &format!(" {fd}{sign}{}", word(&redirect.target));
    }
    line += &match &command.input {
        Input::Nothing => String::new(),
        Input::Pipe(from) => format!(" <{from:?}"),
        Input::Text(text) => format!(" <{:?}", text.replace(UNKNOWN, "_")),
        Input::Unknown => " <?".to_owned(),
    };
    for (name, value) in &command.assigned {
        line += &format!(" {name}={}", word(value));
    }
    line
}

/// `_` is what is not known; `…` behind a word: it may be none or several; `^`: it is a pattern.
fn word(word: &Word) -> String {
    let text = word.text.replace(UNKNOWN, "_").replace('\n', "\\n");
    let splits = if word.may_split { "…" } else { "" };
    let glob = if word.glob { "^" } else { "" };
    format!("{text}{splits}{glob}")
}

/// Holds every text of a table to the lines below it.
///
/// `# sentence` opens a group; `$ ` stands before a text, `> ` before its further lines, two blanks
/// before what it would run.
fn check_table(table: &str) {
    let mut wrong = String::new();
    for case in table.split("\n$ ").skip(1) {
        let mut text = String::new();
        let mut expected = Vec::new();
        for (at, line) in case.lines().enumerate() {
            if at == 0 {
                text.push_str(line);
            } else if let Some(further) = line.strip_prefix("> ").or(line.strip_prefix('>')) {
                text.push('\n');
                text.push_str(further);
            } else if let Some(command) = line.strip_prefix("  ") {
                expected.push(command);
            }
        }
        let found = render(&read(&text, &Limits::default()));
        if found != expected {
            wrong += &format!("$ {text}\n  {}\n", found.join("\n  "));
        }
    }
    assert!(wrong.is_empty(), "read otherwise:\n{wrong}");
}

#[test]
fn words_are_expanded_as_far_as_they_can_be_followed() {
    check_table(include_str!("tests/words.txt"));
}

#[test]
fn lists_and_blocks_are_followed_on_every_way() {
    check_table(include_str!("tests/blocks.txt"));
}

#[test]
fn texts_that_are_run_are_read_and_others_are_not() {
    check_table(include_str!("tests/texts.txt"));
}

#[test]
fn wrappers_are_taken_off_their_commands() {
    check_table(include_str!("tests/wrapped.txt"));
}
