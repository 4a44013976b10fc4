//! Parses a test command line: plain words, or a line that needs a shell.

use std::fmt;

/// A parsed test command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestCommandLine {
    /// A program and its arguments, without a shell. Never empty.
    Words(Vec<String>),
    /// A line for `sh -c`.
    Shell(String),
}

/// Words that only a shell understands.
const SHELL_BUILTINS: [&str; 24] = [
    ".", ":", "!", "{", "alias", "case", "cd", "command", "eval", "exec", "exit", "export", "for",
    "if", "read", "set", "source", "time", "trap", "ulimit", "umask", "unset", "until", "while",
];

impl TestCommandLine {
    /// Parses a command line; `None` if it is blank.
    pub fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        let words: Vec<String> = line.split_ascii_whitespace().map(str::to_owned).collect();
        let first = words.first()?;
        let is_plain = line
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || " \t_./:=@%+,-".contains(c));
        if is_plain && !first.contains('=') && !SHELL_BUILTINS.contains(&first.as_str()) {
            return Some(Self::Words(words));
        }
        Some(Self::Shell(line.to_owned()))
    }

    /// Returns the words of each simple command, without quotes, as far as they can be found without a shell.
    pub(super) fn simple_commands(&self) -> Vec<Vec<&str>> {
        match self {
            Self::Words(words) => vec![words.iter().map(String::as_str).collect()],
            Self::Shell(line) => line
                .split(['&', '|', ';', '\n', '(', ')', '`'])
                .map(|part| {
                    part.split_ascii_whitespace()
                        .map(|word| word.trim_matches(['"', '\'']))
                        .collect()
                })
                .filter(|words: &Vec<&str>| !words.is_empty())
                .collect(),
        }
    }
}

impl fmt::Display for TestCommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => f.write_str(&words.join(" ")),
            Self::Shell(line) => f.write_str(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        let told = match TestCommandLine::parse(line) {
            None => "none".to_owned(),
            Some(TestCommandLine::Words(words)) => format!("words {}", words.join("|")),
            Some(TestCommandLine::Shell(line)) => format!("shell {line}"),
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn plain_words_need_no_shell() {
        check("  cargo test --workspace ", "words cargo|test|--workspace");
        check(
            "python3 -m pytest tests/a.py::test_b",
            "words python3|-m|pytest|tests/a.py::test_b",
        );
    }

    #[test]
    fn operators_quotes_variables_and_builtins_need_one() {
        for line in [
            "a && b",
            "a \"b c\"",
            "A=1 a",
            "cd x",
            "a $B",
            "a > b",
            "~/a",
            "a *",
        ] {
            check(line, &format!("shell {line}"));
        }
    }

    #[test]
    fn a_blank_line_is_no_command() {
        check(" \t", "none");
    }
}
