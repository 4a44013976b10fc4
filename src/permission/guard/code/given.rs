//! Code that runs what it is given: its own arguments, variables of its environment, what it reads.
//!
//! It refuses to know what it is given.

use crate::permission::shell::UNKNOWN;
use crate::permission::word_list::is_in_word_list;

use super::effect::Effect;
use super::names::{COMMON_NAMES, RUNNING_MODULES, SHELL_NAMES, SOURCE_NAMES};
use super::tokens::Token;
use super::{Code, Language};

/// How many tokens of a call are looked at for what it is given.
const NEAR: usize = 48;

impl Code<'_> {
    /// Notes a call by which the code runs what only its arguments, variables or input tell.
    pub(super) fn judge_given(
        &self,
        name: &str,
        arguments: &[Token],
        words: &[String],
        effects: &mut Vec<Effect>,
    ) {
        if self.runs_given(name, arguments, words) {
            self.note_given(effects);
        }
    }

    /// Every kind of source that the code names; unknown where it names none.
    pub(super) fn note_given(&self, effects: &mut Vec<Effect>) {
        // One call says it for all.
        let is_noted = |effect: &Effect| matches!(effect, Effect::Given(_) | Effect::Unknown);
        if effects.iter().any(is_noted) {
            return;
        }
        let before = effects.len();
        for (source, names) in SOURCE_NAMES {
            let is_named = |token: &Token| match token {
                Token::Name(name) => is_in_word_list(names, bare(name)),
                Token::Text(text) | Token::Command(text) => names_in(text, names),
                Token::Mark(_) => false,
            };
            if self.tokens.iter().any(is_named) {
                effects.push(Effect::Given(*source));
            }
        }
        if effects.len() == before {
            effects.push(Effect::Unknown);
        }
    }

    fn runs_given(&self, name: &str, arguments: &[Token], words: &[String]) -> bool {
        let near = arguments.get(..NEAR).unwrap_or(arguments);
        let given = near.iter().position(is_source);
        let Some(first) = words.first() else {
            let names_any = near.iter().any(|token| matches!(token, Token::Name(_)));
            return (given.is_some() || names_any) && self.surely_runs(name);
        };
        let is_shell = is_in_word_list(SHELL_NAMES, first.rsplit('/').next().unwrap_or_default());
        let said = near.iter().enumerate().position(|(at, token)| {
            let is_said = token.as_text().is_some_and(|text| !text.trim().is_empty());
            is_said && !is_module(arguments, at)
        });
        let is_first = match (given, said) {
            (Some(given), Some(said)) => given < said || is_shell,
            (Some(_), None) => true,
            (None, _) => false,
        };
        is_first || first.starts_with(UNKNOWN)
    }

    /// Whether a name does nothing but run programs.
    fn surely_runs(&self, name: &str) -> bool {
        let is_own_word = matches!(name, "exec" | "spawn")
            && matches!(
                self.language,
                Language::Ruby | Language::Perl | Language::Php
            );
        self.language != Language::Other && (!is_in_word_list(COMMON_NAMES, name) || is_own_word)
            || self.has_module
    }
}

/// Tells whether some token names a module that is there to run programs.
pub(super) fn has_module(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| match token {
        Token::Name(text) | Token::Text(text) => {
            is_in_word_list(RUNNING_MODULES, text.trim_start_matches("node:"))
        }
        Token::Command(_) | Token::Mark(_) => false,
    })
}

fn is_source(token: &Token) -> bool {
    matches!(token, Token::Name(name) if SOURCE_NAMES.iter().any(|(_, names)| is_in_word_list(names, bare(name))))
}

/// `require("fs")`.
fn is_module(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(2).and_then(|before| tokens.get(before));
    matches!(before, Some(Token::Name(name)) if matches!(name.as_str(), "require" | "import"))
}

/// `$ARGV`, `@ARGV`: the name alone.
fn bare(name: &str) -> &str {
    name.trim_start_matches(['$', '@'])
}

fn names_in(text: &str, names: &'static str) -> bool {
    text.contains(['$', '#', '@'])
        && text
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .any(|word| is_in_word_list(names, word))
}
