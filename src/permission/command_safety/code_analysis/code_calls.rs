//! Checks calls in code that need a closer look: evaluating code, opening files, passing a text to another call.
//!
//! The names that remove or run something are in `function_names`.

use super::code_lexer::{CodeToken, names_fetching};
use super::function_names::{COPYING_NAMES, DATA_NAMES};
use super::{CodeAnalyzer, CodeEffect};
use crate::permission::program_table::{CodeLanguage, ProgramTrait, has_trait};
use crate::permission::word_list::is_in_word_list;

/// The most tokens in such a list.
const MAX_LIST_TOKENS: usize = 24;

/// Returns the name before the bracket that encloses a token, if it is near.
pub(super) fn enclosing_call_name<'a>(code: &CodeAnalyzer<'a>, at: usize) -> Option<&'a str> {
    let mut depth = 0_usize;
    for back in (at.saturating_sub(16)..at).rev() {
        match code.tokens.get(back)? {
            CodeToken::Mark(')' | ']') => depth += 1,
            CodeToken::Mark('(' | '[') if depth > 0 => depth -= 1,
            CodeToken::Mark('(') => {
                return match code.tokens.get(back.checked_sub(1)?)? {
                    CodeToken::Name(name) => Some(name),
                    _ => None,
                };
            }
            CodeToken::Mark(';' | '\n' | '=' | '[') => return None,
            _ => {}
        }
    }
    None
}

impl CodeAnalyzer<'_> {
    /// Returns whether a text that begins with a program is passed to a call that does not
    /// just print, compare or search.
    pub(super) fn is_passed_to_call(&self, at: usize) -> bool {
        let Some(CodeToken::Text(text)) = self.tokens.get(at) else {
            return false;
        };
        let begins = ["rm -", "sudo ", "git push", "chmod ", "dd if", "dd of"];
        if !begins
            .iter()
            .any(|begin| text.trim_start().starts_with(begin))
        {
            return false;
        }
        let is_key = matches!(
            self.tokens.get(at + 1),
            Some(CodeToken::Mark(':' | '=')) | Some(CodeToken::Name(_))
        );
        if is_key || self.is_only_data(at) {
            return false;
        }
        // In an unknown language a text may run without any name for it: `"…".!`.
        self.language == CodeLanguage::Other || enclosing_call_name(self, at).is_some()
    }

    /// Returns whether a text is only printed, compared or searched.
    fn is_only_data(&self, at: usize) -> bool {
        let is_telling = |name: &str| is_in_word_list(DATA_NAMES, name);
        let is_behind =
            matches!(self.token_before(at), Some(CodeToken::Name(name)) if is_telling(name));
        is_behind && self.language == CodeLanguage::Other
            || enclosing_call_name(self, at).is_some_and(is_telling)
    }

    /// `"rm", "-rf", "x"`: a program and its arguments as separate texts, in an unknown language.
    pub(super) fn program_list_words(&self, at: usize) -> Option<Vec<String>> {
        let first = self.tokens.get(at)?.as_text()?;
        let name = first.rsplit('/').next().unwrap_or_default();
        let may_run =
            self.language == CodeLanguage::Other && has_trait(name, ProgramTrait::ListedInCode);
        let is_told = self.is_only_data(at)
            || self.token_before(at) == Some(&CodeToken::Mark('['))
                && self.is_only_data(at.saturating_sub(1));
        if !may_run || is_told {
            return None;
        }
        let rest = self.tokens.get(at..).unwrap_or_default();
        let near = rest.iter().take(MAX_LIST_TOKENS);
        let words = near.take_while(|token| !matches!(token, CodeToken::Mark(';' | '\n' | '=')));
        let words: Vec<String> = words
            .filter_map(CodeToken::as_text)
            .map(str::to_owned)
            .collect();
        (words.len() > 1).then_some(words)
    }

    /// Judges `eval` and similar calls; returns whether nothing else needs a check.
    pub(super) fn check_evaluation(
        &self,
        at: usize,
        name: &str,
        effects: &mut Vec<CodeEffect>,
    ) -> bool {
        let is_method = matches!(self.token_before(at), Some(CodeToken::Mark('.')));
        let arguments = self.call_arguments(at + 1);
        if is_method
            && matches!(
                name,
                "exec" | "load" | "compile" | "assert" | "include" | "eval"
            )
            && self.language != CodeLanguage::Other
        {
            return false;
        }
        if arguments.is_empty()
            || matches!(name, "compile" | "assert" | "load" | "include")
                && !arguments.iter().any(names_fetching)
        {
            return false;
        }
        if arguments.iter().any(names_fetching) {
            effects.push(CodeEffect::RunsRemoteCode);
            return true;
        }
        if name == "exec"
            && matches!(
                self.language,
                CodeLanguage::Ruby | CodeLanguage::Perl | CodeLanguage::Php
            )
        {
            return false;
        }
        match arguments {
            [CodeToken::Text(text)] => effects.extend(super::analyze_code(text, self.language)),
            _ if name == "eval" && self.tokens.iter().any(names_fetching) => {
                effects.push(CodeEffect::RunsRemoteCode)
            }
            _ if matches!(name, "eval" | "exec") && self.language == CodeLanguage::Python => {
                effects.push(CodeEffect::RunsUnknownCode)
            }
            _ if name == "eval" && self.language != CodeLanguage::Perl => {
                effects.push(CodeEffect::RunsUnknownCode)
            }
            _ => return false,
        }
        true
    }

    pub(super) fn check_file_open(&self, at: usize, name: &str, effects: &mut Vec<CodeEffect>) {
        let arguments = self.call_arguments(at + 1);
        let texts: Vec<&str> = arguments.iter().filter_map(CodeToken::as_text).collect();
        // `open(F, "-|", "rm", "-rf", "x")` of perl.
        if let [way, words @ ..] = texts.as_slice()
            && self.language == CodeLanguage::Perl
            && matches!(*way, "-|" | "|-")
            && !words.is_empty()
        {
            effects.push(CodeEffect::RunsProgram(
                words.iter().map(|word| (*word).to_owned()).collect(),
            ));
        }
        let is_mode = |text: &&str| text.len() <= 3 && text.contains(['w', 'a', '+', 'x', '>']);
        let writes = match name {
            "open" | "openSync" | "fopen" | "sysopen" => {
                texts.iter().skip(1).any(is_mode)
                    || texts.first().is_some_and(|first| first.starts_with('>'))
            }
            name if is_in_word_list(COPYING_NAMES, name) => texts.len() > 1,
            _ => true,
        };
        if !writes {
            // `open("|cmd")` of perl and ruby.
            let piped = texts
                .iter()
                .filter_map(|text| text.strip_prefix('|').or_else(|| text.strip_suffix('|')));
            if matches!(self.language, CodeLanguage::Ruby | CodeLanguage::Perl) && name == "open" {
                effects.extend(
                    piped
                        .filter(|text| !text.trim_matches('-').is_empty())
                        .map(|text| CodeEffect::RunsShellScript(text.to_owned())),
                );
            }
            return;
        }
        let skipped = usize::from(is_in_word_list(COPYING_NAMES, name));
        let paths = texts.iter().skip(skipped).take(2 - skipped);
        effects.extend(
            paths
                .map(|path| path.trim_start_matches(['>', ' ']))
                .map(|path| CodeEffect::WritesFile(path.to_owned())),
        );
        effects.extend(
            self.receiver_text(at)
                .map(|path| CodeEffect::WritesFile(path.to_owned())),
        );
    }
}
