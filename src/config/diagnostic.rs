//! Describes problems of a configuration and settings that were left out: the location, the text and the remedy.

use std::fmt;
use std::path::PathBuf;

/// The location of a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConfigLocation {
    File(PathBuf),
    /// A line of a file, from 1, and a column in characters, from 1.
    Line {
        /// The file, as it is shown.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
    },
    /// A flag of the command line, such as `--set`.
    Flag(String),
}

impl fmt::Display for ConfigLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => write!(f, "{}", file.display()),
            Self::Line { file, line, column } => write!(f, "{}:{line}:{column}", file.display()),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}

/// One thing that is wrong, with its remedy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfigProblem {
    /// The location of the problem.
    pub place: ConfigLocation,
    pub what: String,
    /// The offending line, unchanged; empty if there is none.
    pub text: String,
    /// What the user can do about it.
    pub hint: String,
}

impl ConfigProblem {
    /// Creates a problem that shows no line.
    pub fn new(place: ConfigLocation, what: String, hint: impl Into<String>) -> Self {
        Self {
            place,
            what,
            text: String::new(),
            hint: hint.into(),
        }
    }
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}",
            escape_control_chars(&self.place.to_string()),
            escape_control_chars(&self.what)
        )?;
        if !self.text.is_empty() {
            write!(f, "\n  | {}", escape_control_chars(&self.text))?;
        }
        if !self.hint.is_empty() {
            write!(f, "\n  hint: {}", escape_control_chars(&self.hint))?;
        }
        Ok(())
    }
}

/// Everything that is wrong with the configuration, in the order of files and lines; never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", join_problems(.0))]
pub struct ConfigProblems(pub Vec<ConfigProblem>);

fn join_problems(problems: &[ConfigProblem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// A setting that was read and is well-formed, but was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigNotice {
    /// The location of the setting.
    pub place: ConfigLocation,
    /// What was left out and why.
    pub what: String,
    /// What the user can do to make it count.
    pub hint: String,
}

impl fmt::Display for ConfigNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}",
            escape_control_chars(&self.place.to_string()),
            escape_control_chars(&self.what)
        )
    }
}

/// Writes notices one per line, and each remedy only once.
pub fn format_notices(notices: &[ConfigNotice]) -> String {
    let mut lines: Vec<String> = notices.iter().map(ToString::to_string).collect();
    let mut hints: Vec<&str> = notices.iter().map(|notice| notice.hint.as_str()).collect();
    hints.dedup();
    lines.extend(hints.iter().map(|hint| format!("  hint: {hint}")));
    lines.join("\n")
}

/// Escapes characters that a terminal would interpret or hide: a repository's file may contain anything.
pub fn escape_control_chars(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let reorders = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if c.is_control() || reorders {
            out.extend(c.escape_unicode())
        } else {
            out.push(c)
        }
    }
    out
}
