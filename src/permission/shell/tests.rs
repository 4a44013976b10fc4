//! Shell texts and what they would run: one line for each command, one for each kind of doubt.

use super::*;

mod parser_robustness;

/// Renders an analysis as lines: `sudo> rm|-rf|x >f <"input" A=1`.
fn render(reading: &ShellAnalysis) -> Vec<String> {
    let mut lines: Vec<String> = reading.commands.iter().map(line).collect();
    for doubt in &reading.doubts {
        let line = match doubt {
            AnalysisDoubt::Unparsable { .. } => "? syntax".to_owned(),
            AnalysisDoubt::Limit { limit, .. } => format!("? limit {limit:?}"),
            AnalysisDoubt::DynamicProgram { .. } => "? program".to_owned(),
            AnalysisDoubt::DynamicScript { .. } => "? text".to_owned(),
            AnalysisDoubt::ForkBomb { .. } => "? fork bomb".to_owned(),
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn line(command: &SimpleCommand) -> String {
    let mut line = String::new();
    for wrapper in &command.wrappers {
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
        CommandInput::Nothing => String::new(),
        CommandInput::Pipe(from) => format!(" <{from:?}"),
        CommandInput::KnownText(text) => format!(" <{:?}", text.replace(UNKNOWN_PLACEHOLDER, "_")),
        CommandInput::Unknown => " <?".to_owned(),
    };
    for (name, value) in &command.assignments {
        line += &format!(" {name}={}", word(value));
    }
    line
}

/// `_` is an unknown part; `…` after a word: none or several words; `^`: a pattern.
fn word(word: &ShellWord) -> String {
    let text = word
        .text
        .replace(UNKNOWN_PLACEHOLDER, "_")
        .replace('\n', "\\n");
    let splits = if word.may_split { "…" } else { "" };
    let glob = if word.is_glob { "^" } else { "" };
    format!("{text}{splits}{glob}")
}

/// Checks every text of a table against the lines below it.
///
/// `# sentence` opens a group; `$ ` starts a text, `> ` starts its further lines, and two
/// spaces start what it would run.
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
        let found = render(&analyze_script(&text, &AnalysisLimits::default()));
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
