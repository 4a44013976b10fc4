//! One line that describes commands: program, sub-commands, options that must or must not be there.
//!
//! It refuses to know rules and classes. `docker|podman system prune`, `kubectl ** --replicas=0`,
//! `npm publish !--dry-run`: alternatives by `|`, `**` for any operands, `~` for a next operand that
//! is something else, `*` inside a word for any text, options in any place and spelling.

use super::command::Command;
use super::options::{Arguments, Operand};

/// A description of commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// The programs, without folder.
    pub programs: Vec<String>,
    tokens: Vec<Token>,
}

/// How far a command is what a pattern describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// It is something else.
    No,
    /// A word that is not known decides.
    Maybe,
    /// It is.
    Yes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Operand(Vec<String>),
    AnyOperands,
    /// The next operand is none of these; it is not used up.
    Not(Vec<String>),
    Option(Vec<Flag>),
    Without(Vec<Flag>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Flag {
    name: String,
    value: Option<String>,
}

impl Pattern {
    /// Reads a line; `None` when it names no program.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let programs: Vec<String> = words.next()?.split('|').map(str::to_lowercase).collect();
        let tokens = words.map(token).collect();
        Some(Self { programs, tokens })
    }

    /// Compares a command, whose program is one of the pattern's.
    pub fn find(&self, command: &Command<'_>) -> Match {
        let arguments = &command.arguments;
        let mut at = 0;
        let mut found = Match::Yes;
        for token in &self.tokens {
            match token {
                Token::AnyOperands => {}
                Token::Not(words) => {
                    let next = arguments
                        .operands
                        .get(at)
                        .map(|operand| operand.word.text.as_str());
                    if next.is_some_and(|text| words.iter().any(|word| is_like(word, text))) {
                        return Match::No;
                    }
                }
                Token::Option(flags) => {
                    if !flags.iter().any(|flag| flag.is_in(arguments)) {
                        return Match::No;
                    }
                }
                Token::Without(flags) => {
                    if flags.iter().any(|flag| flag.is_plainly_in(arguments)) {
                        return Match::No;
                    }
                }
                Token::Operand(words) => {
                    let any = self.precedes_any(token);
                    match next_operand(&arguments.operands, at, words, any) {
                        (Match::No, _) => return Match::No,
                        (Match::Maybe, next) => (found, at) = (Match::Maybe, next),
                        (Match::Yes, next) => at = next,
                    }
                }
            }
        }
        found
    }

    fn precedes_any(&self, token: &Token) -> bool {
        let place = self
            .tokens
            .iter()
            .position(|other| std::ptr::eq(other, token));
        place
            .and_then(|place| place.checked_sub(1))
            .and_then(|before| self.tokens.get(before))
            == Some(&Token::AnyOperands)
    }
}

fn next_operand(
    operands: &[Operand<'_>],
    from: usize,
    words: &[String],
    any: bool,
) -> (Match, usize) {
    for (at, operand) in operands.iter().enumerate().skip(from) {
        let text = operand.word.text.as_str();
        if words.iter().any(|word| is_like(word, text)) {
            return (Match::Yes, at + 1);
        }
        if any || operand.may_be_value {
            continue;
        }
        return match operand.word.is_sure {
            true => (Match::No, at),
            false => (Match::Maybe, at + 1),
        };
    }
    (Match::No, operands.len())
}

/// Compares a word with one that may hold `*`.
fn is_like(pattern: &str, text: &str) -> bool {
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

fn token(word: &str) -> Token {
    if word == "**" {
        Token::AnyOperands
    } else if let Some(flags) = word.strip_prefix('!') {
        Token::Without(flags.split('|').map(Flag::parse).collect())
    } else if let Some(words) = word.strip_prefix('~') {
        Token::Not(words.split('|').map(str::to_owned).collect())
    } else if word.starts_with('-') {
        Token::Option(word.split('|').map(Flag::parse).collect())
    } else {
        Token::Operand(word.split('|').map(str::to_owned).collect())
    }
}

impl Flag {
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

    fn is_in(&self, arguments: &Arguments<'_>) -> bool {
        let Some(value) = &self.value else {
            return arguments.has(&[&self.name]);
        };
        let attached = arguments
            .values(&[&self.name])
            .any(|given| is_like(value, given));
        let named = arguments
            .options
            .iter()
            .any(|given| given.name == self.name);
        let behind = || {
            arguments
                .operands
                .iter()
                .any(|operand| operand.may_be_value && is_like(value, &operand.word.text))
        };
        attached || (named && behind())
    }

    /// What takes a danger away must be written out, or nearly so.
    fn is_plainly_in(&self, arguments: &Arguments<'_>) -> bool {
        arguments
            .given(&self.name)
            .is_some_and(|given| given.name.len() == 2 || given.name.len() >= 5)
    }
}
