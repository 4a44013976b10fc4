//! Describes a configuration key: its path, its values, its default, what an untrusted project may do to it, and one
//! line of help.
//!
//! The list of all keys is in `schema`.

use std::fmt;

/// One key of the configuration, described once for parsing, checking, defaults, `config show` and `config.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfigKey {
    /// The dotted path; `*` stands for a name that the user chooses.
    pub path: &'static str,
    /// The values that it accepts.
    pub kind: ValueKind,
    /// The value if no layer sets it.
    pub preset: KeyDefault,
    /// What a project may do to it before the user trusts the repository.
    pub untrusted: UntrustedPolicy,
    /// One line of help: a sentence without its full stop.
    pub help: &'static str,
}

impl ConfigKey {
    /// Returns a right value, as TOML.
    pub fn example(&self) -> &'static str {
        match self.preset {
            KeyDefault::Fixed(example)
            | KeyDefault::Unset(example)
            | KeyDefault::PerName(_, example) => example,
        }
    }
}

/// The values that a key accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// `true` or `false`.
    Flag,
    /// A whole number within a range, both ends included.
    Number(i64, i64),
    /// A duration within a range of seconds, both ends included.
    Duration(i64, i64),
    /// A size within a range of bytes, both ends included.
    Size(i64, i64),
    /// Any text that is not blank.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The name of an adapter.
    Adapter,
    /// The name of an adapter, or `none`.
    AdapterOrNone,
    /// A file name without a folder.
    FileName,
    /// A folder inside the repository.
    Folder,
    /// A file of the user: an absolute path, or one below `~/`.
    UserFile,
    /// A Markdown file in the `prompts` folder next to the configuration file.
    PromptFile,
    /// A program and its arguments.
    Command,
    /// An array of tables, each with `run` and perhaps `paths`.
    Commands,
    /// A list of texts, none of them blank.
    Texts,
    /// A table of texts: environment variables.
    Environment,
    /// A table of `true` and `false`.
    Flags,
    /// An array of tables, each with `permission`, `pattern` and `action`.
    Rules,
    /// A list of `[permission, pattern, action]`.
    ShortRules,
    /// One key of the keyboard, or a list of them; their names are checked where they are used.
    KeyBindings,
    /// A colour as a text or a number; which colours exist is checked where they are used.
    Colour,
}

impl ValueKind {
    /// Returns whether a value of this kind is a list of rules.
    pub fn is_rules(self) -> bool {
        matches!(self, Self::Rules | Self::ShortRules)
    }
}

impl fmt::Display for ValueKind {
    /// Writes the expected form so that it can follow the word "expected".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("`true` or `false`"),
            Self::Number(low, high) => write!(f, "a whole number from {low} to {high}"),
            Self::Duration(..) => f.write_str("a duration such as \"90s\", \"30m\" or \"1h30m\""),
            Self::Size(..) => f.write_str("a size such as \"64KiB\" or \"10MB\""),
            Self::Text => f.write_str("a string in quotes"),
            Self::Choice(words) => write!(f, "one of {}", quote_alternatives(words)),
            Self::Adapter => f.write_str("the name of an adapter in quotes"),
            Self::AdapterOrNone => f.write_str("the name of an adapter in quotes, or \"none\""),
            Self::FileName => f.write_str("a file name without a folder"),
            Self::Folder => f.write_str("a folder inside the repository"),
            Self::UserFile => {
                f.write_str("a file with an absolute path, or a path that starts with \"~/\"")
            }
            Self::PromptFile => f.write_str("a file such as \"prompts/docs.md\""),
            Self::Command => {
                f.write_str("a program and its arguments such as [\"mytool\", \"--stdin\"]")
            }
            Self::Commands => f.write_str("tables [[test.command]] with run and paths"),
            Self::Texts => f.write_str("a list of strings such as [\"one\", \"two\"]"),
            Self::Environment => f.write_str("a table of strings such as { NAME = \"value\" }"),
            Self::Flags => f.write_str("a table such as { write = false }"),
            Self::Rules => {
                f.write_str("tables [[permission.rule]] with permission, pattern and action")
            }
            Self::ShortRules => f.write_str("a list such as [[\"edit\", \"docs/*\", \"allow\"]]"),
            Self::KeyBindings => f.write_str("a key such as \"ctrl+g\", or a list of them"),
            Self::Colour => f.write_str("a colour such as \"#ff8000\", \"red\" or 208"),
        }
    }
}

/// A key's value if no layer sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyDefault {
    /// This value, as TOML.
    Fixed(&'static str),
    /// No value; the text is an example, as TOML.
    Unset(&'static str),
    /// For a path with `*`: values, as TOML, for some names, and an example for the others.
    PerName(&'static [(&'static str, &'static str)], &'static str),
}

/// What a project may do to a key before the user trusts the repository. It may tighten, never loosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UntrustedPolicy {
    /// It may change nothing; the key counts once the repository is trusted.
    Ignored,
    /// It may change nothing, even if the repository is trusted: only the user decides.
    UserOnly,
    /// It may set a smaller value than the effective one.
    Lower,
    /// It may add entries to the effective list.
    Append,
    /// It may set `true`, the stricter value.
    OnlyTrue,
    /// It may set `false`, the stricter value.
    OnlyFalse,
    /// It may set a stricter value than the effective one.
    Tighten,
    /// It may add rules that deny or ask; they apply together with the user's own rules, and the stricter answer wins.
    Restrict,
}

impl UntrustedPolicy {
    /// Describes what an untrusted project may do, so that it can follow "may only".
    pub fn allowed_change(self) -> &'static str {
        match self {
            Self::Ignored | Self::UserOnly => "not set it",
            Self::Lower => "lower it",
            Self::Append => "add to it",
            Self::OnlyTrue => "set it to true",
            Self::OnlyFalse => "set it to false",
            Self::Tighten => "make it stricter",
            Self::Restrict => "add rules that deny or ask",
        }
    }
}

/// Writes words as `"a", "b" or "c"`.
pub fn quote_alternatives(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}
