//! One-line patterns for commands: program, sub-commands, and options that must or must not be present.
//!
//! The syntax, as in `docker|podman system prune`, `kubectl ** --replicas=0`, `npm publish !--dry-run`: `|` separates
//! alternatives, `**` stands for any operands, `~` means that the next operand is something else, `*` inside a word is
//! any text, and options match in any position and spelling. Rules and classes are not known here.

use super::command_arguments::{CommandArguments, CommandOperand};
use super::command_invocation::CommandInvocation;

/// A pattern for commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern {
    /// The programs, without folder.
    pub programs: Vec<String>,
    tokens: Vec<PatternToken>,
}

/// How well a command matches a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PatternMatch {
    No,
    /// An unknown word decides.
    Maybe,
    Yes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternToken {
    Operand(Vec<String>),
    AnyOperands,
    /// The next operand is none of these; it is not consumed.
    NextOperandIsNot(Vec<String>),
    Option(Vec<PatternOption>),
    WithoutOption(Vec<PatternOption>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct PatternOption {
    name: String,
    value: Option<String>,
}

impl CommandPattern {
    /// Parses a line; `None` when it names no program.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let programs: Vec<String> = words.next()?.split('|').map(str::to_lowercase).collect();
        let tokens = words.map(parse_token).collect();
        Some(Self { programs, tokens })
    }

    /// Matches a command whose program is one of the pattern's.
    pub fn match_command(&self, command: &CommandInvocation<'_>) -> PatternMatch {
        let arguments = &command.arguments;
        let mut at = 0;
        let mut found = PatternMatch::Yes;
        for token in &self.tokens {
            match token {
                PatternToken::AnyOperands => {}
                PatternToken::NextOperandIsNot(words) => {
                    let next = arguments
                        .operands
                        .get(at)
                        .map(|operand| operand.word.text.as_str());
                    if next
                        .is_some_and(|text| words.iter().any(|word| matches_wildcard(word, text)))
                    {
                        return PatternMatch::No;
                    }
                }
                PatternToken::Option(flags) => {
                    if !flags.iter().any(|flag| flag.is_in_arguments(arguments)) {
                        return PatternMatch::No;
                    }
                }
                PatternToken::WithoutOption(flags) => {
                    if flags.iter().any(|flag| flag.is_spelled_out_in(arguments)) {
                        return PatternMatch::No;
                    }
                }
                PatternToken::Operand(words) => {
                    let any = self.follows_any_operands(token);
                    match match_next_operand(&arguments.operands, at, words, any) {
                        (PatternMatch::No, _) => return PatternMatch::No,
                        (PatternMatch::Maybe, next) => (found, at) = (PatternMatch::Maybe, next),
                        (PatternMatch::Yes, next) => at = next,
                    }
                }
            }
        }
        found
    }

    fn follows_any_operands(&self, token: &PatternToken) -> bool {
        let place = self
            .tokens
            .iter()
            .position(|other| std::ptr::eq(other, token));
        place
            .and_then(|place| place.checked_sub(1))
            .and_then(|before| self.tokens.get(before))
            == Some(&PatternToken::AnyOperands)
    }
}

fn match_next_operand(
    operands: &[CommandOperand<'_>],
    from: usize,
    words: &[String],
    any: bool,
) -> (PatternMatch, usize) {
    for (at, operand) in operands.iter().enumerate().skip(from) {
        let text = operand.word.text.as_str();
        if words.iter().any(|word| matches_wildcard(word, text)) {
            return (PatternMatch::Yes, at + 1);
        }
        if any || operand.may_be_value {
            continue;
        }
        return if operand.word.is_fully_known {
            (PatternMatch::No, at)
        } else {
            (PatternMatch::Maybe, at + 1)
        };
    }
    (PatternMatch::No, operands.len())
}

/// Matches a word against one that may contain `*`.
fn matches_wildcard(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern.eq_ignore_ascii_case(text);
    };
    let Some(mut text) = text.strip_prefix(start) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        match text.split_once(part) {
            Some((_, behind)) => text = behind,
            None => return false,
        }
    }
    text.ends_with(end)
}

fn parse_token(word: &str) -> PatternToken {
    if word == "**" {
        PatternToken::AnyOperands
    } else if let Some(flags) = word.strip_prefix('!') {
        PatternToken::WithoutOption(flags.split('|').map(PatternOption::parse).collect())
    } else if let Some(words) = word.strip_prefix('~') {
        PatternToken::NextOperandIsNot(words.split('|').map(str::to_owned).collect())
    } else if word.starts_with('-') {
        PatternToken::Option(word.split('|').map(PatternOption::parse).collect())
    } else {
        PatternToken::Operand(word.split('|').map(str::to_owned).collect())
    }
}

impl PatternOption {
    fn parse(text: &str) -> Self {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        Self {
            name: name.to_owned(),
            value,
        }
    }

    fn is_in_arguments(&self, arguments: &CommandArguments<'_>) -> bool {
        let Some(value) = &self.value else {
            return arguments.has_option(&[&self.name]);
        };
        let attached = arguments
            .option_values(&[&self.name])
            .any(|given| matches_wildcard(value, given));
        let named = arguments
            .options
            .iter()
            .any(|given| given.name == self.name);
        let behind = || {
            arguments
                .operands
                .iter()
                .any(|operand| operand.may_be_value && matches_wildcard(value, &operand.word.text))
        };
        attached || (named && behind())
    }

    /// An option that makes a command harmless must be written in full, or nearly so.
    fn is_spelled_out_in(&self, arguments: &CommandArguments<'_>) -> bool {
        arguments
            .find_option(&self.name)
            .is_some_and(|given| given.name.len() == 2 || given.name.len() >= 5)
    }
}
