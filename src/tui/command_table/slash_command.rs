//! The type of a slash command: its name and its argument, from which help, completion and palette take what they show.

use std::fmt;

use crate::permission::permission_mode::Mode;

/// A slash command. Displayed as the help shows it: `/diff [N|plan]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SlashCommand {
    /// With its slash.
    pub name: &'static str,
    pub argument: SlashArgument,
}

/// What follows a slash command. Words in capitals are placeholders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SlashArgument {
    None,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One of these, or nothing.
    Optional(&'static [&'static str]),
    /// Placeholders for what the user writes.
    Text(&'static str),
}

/// What completion offers for the argument of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentValues {
    /// The words of the argument itself.
    Words,
    Themes,
    Modes,
    Agents,
    /// The agents that take tasks.
    TaskAgents,
    /// The presets of discussions.
    Presets,
    /// The answers to the open question.
    Answers,
}

impl SlashCommand {
    /// Creates a command without an argument.
    pub const fn new(name: &'static str) -> Self {
        let argument = SlashArgument::None;
        Self { name, argument }
    }

    /// Returns the mode that it sets.
    pub fn mode(self) -> Option<Mode> {
        Mode::from_name(self.name.trim_start_matches('/'))
    }

    /// Returns the argument where there is only one; empty in all other cases.
    pub fn fixed_argument(self) -> &'static str {
        match self.argument {
            SlashArgument::Choice([only]) => only,
            _ => "",
        }
    }

    /// Returns what is always the same: the name, and the argument where there is only one.
    pub fn fixed_part(self) -> String {
        format!("{} {}", self.name, self.fixed_argument())
            .trim_end()
            .to_owned()
    }

    /// Checks an argument by its form alone.
    ///
    /// # Errors
    /// A text is missing, or the word is none of the choices; the message says what to type.
    pub fn check(self, argument: &str) -> Result<(), String> {
        let name = self.name;
        match self.argument {
            SlashArgument::Text(_) if argument.is_empty() => {
                Err(format!("Write a text after {name}."))
            }
            SlashArgument::Choice(words) if !words.contains(&argument) => {
                Err(format!("{name} takes {}", words.join(", ")))
            }
            SlashArgument::None
            | SlashArgument::Choice(_)
            | SlashArgument::Optional(_)
            | SlashArgument::Text(_) => Ok(()),
        }
    }

    /// Returns the text that completes the name, with a trailing space if an argument can follow.
    pub fn typed_prefix(self) -> String {
        match self.argument {
            SlashArgument::None | SlashArgument::Choice([_]) => self.fixed_part(),
            _ => format!("{} ", self.name),
        }
    }

    /// Returns the words that its argument can be; placeholders are left out.
    pub fn argument_words(self) -> impl Iterator<Item = &'static str> {
        let words: &[&str] = match self.argument {
            SlashArgument::Choice(words) | SlashArgument::Optional(words) => words,
            SlashArgument::None | SlashArgument::Text(_) => &[],
        };
        let is_word = |word: &&str| word.starts_with(|c: char| c.is_ascii_lowercase());
        words.iter().copied().filter(is_word)
    }
}

impl fmt::Display for SlashCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name;
        match self.argument {
            SlashArgument::None => f.write_str(name),
            SlashArgument::Choice(words) => write!(f, "{name} {}", words.join("|")),
            SlashArgument::Optional(words) => write!(f, "{name} [{}]", words.join("|")),
            SlashArgument::Text(text) => write!(f, "{name} {text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_filled_up_to_where_its_text_begins() {
        for (name, argument, shown, prefix) in [
            ("/go", SlashArgument::None, "/go", "/go"),
            (
                "/tab",
                SlashArgument::Choice(&["plan"]),
                "/tab plan",
                "/tab plan",
            ),
            ("/goal", SlashArgument::Text("TEXT"), "/goal TEXT", "/goal "),
            (
                "/diff",
                SlashArgument::Optional(&["N", "plan"]),
                "/diff [N|plan]",
                "/diff ",
            ),
            (
                "/edit",
                SlashArgument::Choice(&["plan", "merge"]),
                "/edit plan|merge",
                "/edit ",
            ),
        ] {
            let command = SlashCommand { name, argument };
            assert_eq!(
                (
                    command.to_string().as_str(),
                    command.typed_prefix().as_str()
                ),
                (shown, prefix)
            );
        }
    }
}
