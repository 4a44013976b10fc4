//! Finds code that runs its own input: arguments, environment variables or standard input.
//!
//! What the input contains is judged in `interpreter_inputs`.

use crate::permission::program_table::CodeLanguage;
use crate::permission::shell::UNKNOWN_PLACEHOLDER;
use crate::permission::word_list::is_in_word_list;

use super::CodeAnalyzer;
use super::code_effect::CodeEffect;
use super::code_lexer::CodeToken;
use super::function_names::{COMMON_NAMES, RUNNING_MODULES, SHELL_NAMES, SOURCE_NAMES};

/// How many tokens of a call are searched for such a source.
const MAX_NEAR_TOKENS: usize = 48;

impl CodeAnalyzer<'_> {
    /// Records a call that runs what only the code's arguments, variables or input decide.
    pub(super) fn check_external_input(
        &self,
        name: &str,
        arguments: &[CodeToken],
        words: &[String],
        effects: &mut Vec<CodeEffect>,
    ) {
        if self.runs_external_input(name, arguments, words) {
            self.record_input_sources(effects);
        }
    }

    /// Records every kind of source that the code names; unknown if it names none.
    pub(super) fn record_input_sources(&self, effects: &mut Vec<CodeEffect>) {
        // One effect is enough for all such calls.
        let is_noted = |effect: &CodeEffect| {
            matches!(
                effect,
                CodeEffect::RunsInput(_) | CodeEffect::RunsUnknownCode
            )
        };
        if effects.iter().any(is_noted) {
            return;
        }
        let before = effects.len();
        for (source, names) in SOURCE_NAMES {
            let is_named = |token: &CodeToken| match token {
                CodeToken::Name(name) => is_in_word_list(names, strip_sigil(name)),
                CodeToken::Text(text) | CodeToken::Command(text) => contains_name(text, names),
                CodeToken::Mark(_) => false,
            };
            if self.tokens.iter().any(is_named) {
                effects.push(CodeEffect::RunsInput(*source));
            }
        }
        if effects.len() == before {
            effects.push(CodeEffect::RunsUnknownCode);
        }
    }

    fn runs_external_input(&self, name: &str, arguments: &[CodeToken], words: &[String]) -> bool {
        let near = arguments.get(..MAX_NEAR_TOKENS).unwrap_or(arguments);
        let given = near.iter().position(names_input_source);
        let Some(first) = words.first() else {
            let names_any = near.iter().any(|token| matches!(token, CodeToken::Name(_)));
            return (given.is_some() || names_any) && self.only_runs_programs(name);
        };
        let is_shell = is_in_word_list(SHELL_NAMES, first.rsplit('/').next().unwrap_or_default());
        let said = near.iter().enumerate().position(|(at, token)| {
            let is_said = token.as_text().is_some_and(|text| !text.trim().is_empty());
            is_said && !is_module_import(arguments, at)
        });
        let is_first = match (given, said) {
            (Some(given), Some(said)) => given < said || is_shell,
            (Some(_), None) => true,
            (None, _) => false,
        };
        is_first || first.starts_with(UNKNOWN_PLACEHOLDER)
    }

    /// Returns whether a name does nothing but run programs.
    fn only_runs_programs(&self, name: &str) -> bool {
        let is_own_word = matches!(name, "exec" | "spawn")
            && matches!(
                self.language,
                CodeLanguage::Ruby | CodeLanguage::Perl | CodeLanguage::Php
            );
        self.language != CodeLanguage::Other
            && (!is_in_word_list(COMMON_NAMES, name) || is_own_word)
            || self.has_process_module
    }
}

/// Returns whether some token names a module for running programs.
pub(super) fn has_process_module(tokens: &[CodeToken]) -> bool {
    tokens.iter().any(|token| match token {
        CodeToken::Name(text) | CodeToken::Text(text) => {
            is_in_word_list(RUNNING_MODULES, text.trim_start_matches("node:"))
        }
        CodeToken::Command(_) | CodeToken::Mark(_) => false,
    })
}

fn names_input_source(token: &CodeToken) -> bool {
    matches!(token, CodeToken::Name(name) if SOURCE_NAMES.iter().any(|(_, names)| is_in_word_list(names, strip_sigil(name))))
}

/// `require("fs")`.
fn is_module_import(tokens: &[CodeToken], at: usize) -> bool {
    let before = at.checked_sub(2).and_then(|before| tokens.get(before));
    matches!(before, Some(CodeToken::Name(name)) if matches!(name.as_str(), "require" | "import"))
}

/// `$ARGV`, `@ARGV`: returns the name alone.
fn strip_sigil(name: &str) -> &str {
    name.trim_start_matches(['$', '@'])
}

fn contains_name(text: &str, names: &'static str) -> bool {
    text.contains(['$', '#', '@'])
        && text
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .any(|word| is_in_word_list(names, word))
}
