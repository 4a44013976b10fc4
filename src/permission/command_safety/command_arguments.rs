//! Splits the words of a command into options, their values and operands.
//!
//! What an option does is not known here. Where it is not known which options take a value, an operand after an option
//! is marked as a possible value, so nothing is lost.

use crate::permission::program_table::{ValueOptions, program_facts};
use crate::permission::shell::ShellWord;

/// The arguments of one command.
#[derive(Debug, Default)]
pub struct CommandArguments<'a> {
    /// In order; a cluster such as `-rf` is two options.
    pub options: Vec<CommandOption<'a>>,
    pub operands: Vec<CommandOperand<'a>>,
}

/// One option, as the command line gives it.
#[derive(Debug, PartialEq, Eq)]
pub struct CommandOption<'a> {
    /// With its dashes: `-f`, `--force`, `-auto-approve`.
    pub name: String,
    /// The text after `=`, the rest of a cluster, or the next word.
    pub value: Option<&'a str>,
}

/// One word that is not an option.
#[derive(Debug, Clone, Copy)]
pub struct CommandOperand<'a> {
    pub word: &'a ShellWord,
    /// Whether it follows an option that may take it as its value.
    pub may_be_value: bool,
}

impl CommandArguments<'_> {
    /// Splits the words after a program.
    pub fn parse<'a>(program: &str, words: &'a [ShellWord]) -> CommandArguments<'a> {
        match &program_facts(program).value_options {
            Some(valued) => CommandArguments::parse_with_known_options(valued, words),
            None => CommandArguments::parse_without_known_options(words),
        }
    }

    fn parse_with_known_options<'a>(
        valued: &ValueOptions,
        words: &'a [ShellWord],
    ) -> CommandArguments<'a> {
        let mut arguments = CommandArguments::default();
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            if word.text == "--" {
                break;
            } else if let Some(long) = word.text.strip_prefix("--") {
                let (name, mut value) = split_option_value(long);
                if value.is_none() && valued.long.iter().any(|known| known == name) {
                    value = rest.next().map(|next| next.text.as_str());
                }
                arguments.options.push(new_option("--", name, value));
            } else if let Some(cluster) = option_letters(&word.text) {
                arguments.push_cluster(cluster, valued, &mut rest);
            } else {
                arguments.push_operand(word, false);
            }
        }
        rest.for_each(|word| arguments.push_operand(word, false));
        arguments
    }

    fn parse_without_known_options(words: &[ShellWord]) -> CommandArguments<'_> {
        let mut arguments = CommandArguments::default();
        let mut rest = words.iter();
        let mut after_option = false;
        for word in rest.by_ref() {
            if word.text == "--" {
                break;
            } else if let Some(long) = word.text.strip_prefix("--") {
                let (name, value) = split_option_value(long);
                arguments.options.push(new_option("--", name, value));
                after_option = value.is_none();
            } else if let Some(cluster) = option_letters(&word.text) {
                let (name, value) = split_option_value(cluster);
                arguments.options.push(new_option("-", name, value));
                if name.chars().count() > 1 {
                    for letter in name.chars() {
                        arguments
                            .options
                            .push(new_option("-", &letter.to_string(), None));
                    }
                }
                after_option = value.is_none();
            } else {
                arguments.push_operand(word, after_option);
                after_option = false;
            }
        }
        rest.for_each(|word| arguments.push_operand(word, false));
        arguments
    }
}

impl<'a> CommandArguments<'a> {
    fn push_cluster(
        &mut self,
        cluster: &'a str,
        valued: &ValueOptions,
        rest: &mut std::slice::Iter<'a, ShellWord>,
    ) {
        if cluster.chars().count() > 1 {
            let (name, value) = split_option_value(cluster);
            self.options.push(new_option("-", name, value));
        }
        for (at, letter) in cluster.char_indices() {
            let behind = &cluster[at + letter.len_utf8()..];
            if valued.short.contains(letter) {
                let value = if behind.is_empty() {
                    rest.next().map(|next| next.text.as_str())
                } else {
                    Some(behind.strip_prefix('=').unwrap_or(behind))
                };
                self.options
                    .push(new_option("-", &letter.to_string(), value));
                return;
            }
            if letter == '=' {
                return;
            }
            self.options
                .push(new_option("-", &letter.to_string(), None));
        }
    }

    fn push_operand(&mut self, word: &'a ShellWord, may_be_value: bool) {
        self.operands.push(CommandOperand { word, may_be_value });
    }

    /// Returns whether one of the options is given and not switched off; a long name may be abbreviated.
    pub fn has_option(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.find_option(name).is_some())
    }

    /// Finds an option by its name, with dashes.
    pub fn find_option(&self, name: &str) -> Option<&CommandOption<'a>> {
        self.options.iter().find(|given| {
            is_same_option(&given.name, name) && !given.value.is_some_and(is_off_value)
        })
    }

    /// Returns the values of an option, in order.
    pub fn option_values<'b>(&'b self, names: &'b [&'b str]) -> impl Iterator<Item = &'a str> + 'b {
        self.options
            .iter()
            .filter(move |given| names.iter().any(|name| is_same_option(&given.name, name)))
            .filter_map(|given| given.value)
    }

    /// Returns the text of the operand at a position.
    pub fn operand_text(&self, at: usize) -> Option<&'a str> {
        self.operands
            .get(at)
            .map(|operand| operand.word.text.as_str())
    }

    /// Returns the operands' texts.
    pub fn operand_texts(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.operands
            .iter()
            .map(|operand| operand.word.text.as_str())
    }
}

fn new_option<'a>(dashes: &str, name: &str, value: Option<&'a str>) -> CommandOption<'a> {
    CommandOption {
        name: format!("{dashes}{name}"),
        value,
    }
}

fn option_letters(text: &str) -> Option<&str> {
    text.strip_prefix('-').filter(|rest| !rest.is_empty())
}

fn split_option_value(option: &str) -> (&str, Option<&str>) {
    match option.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (option, None),
    }
}

fn is_off_value(value: &str) -> bool {
    matches!(value, "false" | "none" | "0" | "no")
}

/// `--recur` means `--recursive`; `-auto-approve` and `--auto-approve` mean the same.
fn is_same_option(given: &str, name: &str) -> bool {
    if given == name {
        return true;
    }
    match (given.strip_prefix("--"), name.strip_prefix("--")) {
        (Some(given), Some(name)) => !given.is_empty() && name.starts_with(given),
        (Some(given), None) => name.len() > 2 && name.strip_prefix('-') == Some(given),
        (None, Some(name)) => name.len() > 1 && given.strip_prefix('-') == Some(name),
        (None, None) => false,
    }
}
