//! Analyses code of python, node, perl, ruby and similar languages: what it deletes, runs and writes.
//!
//! Looks at names, calls and the strings in them, not at a grammar.

use std::collections::HashMap;

use crate::permission::program_table::CodeLanguage;
use crate::permission::shell::UNKNOWN_PLACEHOLDER;
use crate::permission::word_list::is_in_word_list;

mod code_calls;
mod code_effect;
mod code_inputs;
mod code_lexer;
mod function_names;
mod pwsh_awk;

use code_calls::enclosing_call_name;
pub use code_effect::{CodeEffect, CodeInputSource};
use code_lexer::{CodeToken, grants_everybody, has_recursive_flag, token_texts, tokenize};
use function_names::{
    COMMON_NAMES, DROPPING_NAMES, EVALUATING_NAMES, FETCHING_NAMES, FLAGGED_NAMES, LISTING_NAMES,
    MODE_NAMES, REMOVING_NAMES, RUNNING_NAMES, RUNNING_WORDS, STATEMENT_NAMES, TREE_NAMES,
    WRITING_NAMES,
};

/// How many tokens of code are analysed; the rest counts as unknown.
const MAX_TOKENS: usize = 6_000;
/// How many tokens of one call are analysed.
const MAX_CALL_TOKENS: usize = 400;
/// How many effects are followed.
const MAX_EFFECTS: usize = 200;

/// Lists everything that a code text does, as far as it can be seen.
pub fn analyze_code(text: &str, language: CodeLanguage) -> Vec<CodeEffect> {
    match language {
        CodeLanguage::PowerShell => return pwsh_awk::powershell_effects(text),
        CodeLanguage::Editor => return pwsh_awk::editor_effects(text),
        CodeLanguage::Awk => return pwsh_awk::awk_effects(text),
        _ => {}
    }
    let mut tokens = tokenize(text, language);
    let is_cut = tokens.len() > MAX_TOKENS;
    tokens.truncate(MAX_TOKENS);
    let code = CodeAnalyzer::new(&tokens, language);
    let mut effects = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            CodeToken::Name(name) => code.check_name(at, name, &mut effects),
            CodeToken::Command(text) => code.check_shell_literal(text, &mut effects),
            CodeToken::Text(text) => code.check_string(at, text, &mut effects),
            CodeToken::Mark(_) => {}
        }
    }
    code.check_name_combinations(&mut effects);
    match language {
        CodeLanguage::Other => effects.extend(pwsh_awk::tcl_effects(text)),
        CodeLanguage::Python => effects.extend(pwsh_awk::notebook_effects(text)),
        _ => {}
    }
    limit_effects(effects, is_cut)
}

/// Lists the string literals in code.
pub fn string_literals(text: &str, language: CodeLanguage) -> Vec<String> {
    let tokens = tokenize(text, language);
    token_texts(&tokens)
        .take(MAX_TOKENS)
        .map(str::to_owned)
        .collect()
}

/// Keeps the first effects of very many, and records that there are more.
fn limit_effects(mut effects: Vec<CodeEffect>, is_cut: bool) -> Vec<CodeEffect> {
    if is_cut || effects.len() > MAX_EFFECTS {
        effects.truncate(MAX_EFFECTS);
        effects.push(CodeEffect::RunsUnknownCode);
    }
    effects
}

struct CodeAnalyzer<'a> {
    tokens: &'a [CodeToken],
    language: CodeLanguage,
    /// The texts in `name = "…"`, where an assignment comes first in the code.
    assigned_texts: HashMap<&'a str, Vec<String>>,
    /// Aliases of names: `import rmtree as r`.
    aliases: HashMap<&'a str, &'a str>,
    /// Whether some name says that programs are run.
    names_runner: bool,
    /// Whether the code uses a module for running programs.
    has_process_module: bool,
}

impl<'a> CodeAnalyzer<'a> {
    fn new(tokens: &'a [CodeToken], language: CodeLanguage) -> Self {
        let names_runner = tokens.iter().any(|token| match token {
            CodeToken::Name(name) => is_in_word_list(RUNNING_WORDS, name),
            CodeToken::Text(text) => matches!(
                text.trim_start_matches("node:"),
                "child_process" | "execa" | "shelljs"
            ),
            CodeToken::Command(_) | CodeToken::Mark(_) => false,
        });
        let mut code = Self {
            tokens,
            language,
            assigned_texts: HashMap::new(),
            aliases: HashMap::new(),
            names_runner,
            has_process_module: code_inputs::has_process_module(tokens),
        };
        for (at, window) in tokens.windows(3).enumerate() {
            if let [
                CodeToken::Name(name),
                CodeToken::Name(word),
                CodeToken::Name(other),
            ] = window
                && word == "as"
            {
                code.aliases.insert(other, name);
            }
            if let [
                CodeToken::Name(name),
                CodeToken::Mark(':'),
                CodeToken::Name(other),
            ] = window
                && language == CodeLanguage::JavaScript
            {
                code.aliases.insert(other, name);
            }
            if let [CodeToken::Name(name), CodeToken::Mark('='), value] = window
                && *value != CodeToken::Mark('=')
                && !code.assigned_texts.contains_key(name.as_str())
            {
                let texts = code.statement_texts(at + 2);
                if !texts.is_empty() {
                    code.assigned_texts.insert(name, texts);
                }
            }
        }
        code
    }

    /// Returns the texts up to the end of a statement, joined where the code joins them.
    fn statement_texts(&self, from: usize) -> Vec<String> {
        let rest = self.tokens.get(from..).unwrap_or_default();
        let rest = rest.get(..MAX_CALL_TOKENS).unwrap_or(rest);
        let ends = |token: &&CodeToken| !matches!(token, CodeToken::Mark(';' | '\n'));
        let mut texts: Vec<String> = Vec::new();
        let mut joins = false;
        for token in rest.iter().take_while(ends) {
            if let CodeToken::Text(text) = token {
                match texts.last_mut().filter(|_| joins) {
                    Some(last) => last.push_str(text),
                    None => texts.push(text.clone()),
                }
            }
            joins = self.is_concatenation(token);
        }
        texts
    }

    fn check_name(&self, at: usize, name: &str, effects: &mut Vec<CodeEffect>) {
        if self.is_imported(at) {
            return;
        }
        let name = self.aliases.get(name).copied().unwrap_or(name);
        let arguments = self.call_arguments(at + 1);
        let is_tree = is_in_word_list(TREE_NAMES, name) && !self.is_definition(at);
        if is_tree || (is_in_word_list(FLAGGED_NAMES, name) && has_recursive_flag(arguments)) {
            return effects.push(CodeEffect::RemovesTree);
        }
        if is_in_word_list(MODE_NAMES, name) && arguments.iter().any(grants_everybody) {
            return effects.push(CodeEffect::GrantsEverybody);
        }
        if is_in_word_list(REMOVING_NAMES, name) {
            let paths = token_texts(arguments).chain(self.receiver_text(at));
            effects.extend(paths.map(|path| CodeEffect::RemovesFile(path.to_owned())));
        }
        if is_in_word_list(EVALUATING_NAMES, name) && self.check_evaluation(at, name, effects) {
            return;
        }
        if is_in_word_list(RUNNING_NAMES, name) && self.is_run_call(at, name) {
            self.check_run_call(name, arguments, effects);
        }
        if is_in_word_list(WRITING_NAMES, name) {
            self.check_file_open(at, name, effects);
        }
        if is_in_word_list(STATEMENT_NAMES, name) {
            effects.extend(
                token_texts(arguments).map(|text| CodeEffect::RunsStatement(text.to_owned())),
            );
        }
        if is_in_word_list(DROPPING_NAMES, name) && self.is_call(at) {
            effects.push(CodeEffect::RunsStatement("DROP DATABASE x".to_owned()));
        }
        let kills = matches!(name, "kill" | "killpg");
        if kills
            && matches!(arguments, [CodeToken::Mark('-'), CodeToken::Name(one), ..] if one == "1")
        {
            let words = ["kill", "-9", "-1"].map(str::to_owned);
            effects.push(CodeEffect::RunsProgram(words.to_vec()));
        }
    }

    /// Checks texts as in `require('rimraf')`, `do shell script "…"`, `"…".execute()`.
    fn check_string(&self, at: usize, text: &str, effects: &mut Vec<CodeEffect>) {
        let name_before = |back: usize| match at
            .checked_sub(back)
            .and_then(|place| self.tokens.get(place))
        {
            Some(CodeToken::Name(name)) => Some(name.as_str()),
            _ => None,
        };
        let is_required = name_before(2) == Some("require")
            || name_before(1) == Some("from")
            || name_before(2) == Some("import");
        if self.language == CodeLanguage::JavaScript
            && matches!(text, "rimraf" | "del")
            && is_required
        {
            effects.push(CodeEffect::RemovesTree);
        }
        // `getattr(shutil, "rmtree")`, `fs["rmSync"]`.
        if is_in_word_list(TREE_NAMES, text) && enclosing_call_name(self, at) == Some("getattr") {
            effects.push(CodeEffect::RemovesTree);
        }
        if self.is_passed_to_call(at) {
            effects.push(CodeEffect::RunsShellScript(text.to_owned()));
        }
        effects.extend(self.program_list_words(at).map(CodeEffect::RunsProgram));
        let is_executed = matches!(self.tokens.get(at + 1..at + 3), Some([CodeToken::Mark('.'), CodeToken::Name(name)]) if name == "execute");
        // `(shell-command "…")` of emacs.
        let is_behind_runner = name_before(1) == Some("script")
            || name_before(1) == Some("command") && name_before(3) == Some("shell");
        if self.language == CodeLanguage::Other && (is_executed || is_behind_runner) {
            effects.push(CodeEffect::RunsShellScript(text.to_owned()));
        }
    }

    /// Checks for harmful combinations of names, anywhere in the code.
    fn check_name_combinations(&self, effects: &mut Vec<CodeEffect>) {
        let has = |list: &'static str| {
            self.tokens
                .iter()
                .any(|token| matches!(token, CodeToken::Name(name) if is_in_word_list(list, name)))
        };
        let maps = has("array_map array_walk map")
            && token_texts(self.tokens).any(|text| matches!(text, "unlink" | "rmdir"));
        let removes = has("remove unlink rmdir unlinkSync rmdirSync rmSync delete");
        if (removes || maps) && has(LISTING_NAMES) {
            effects.push(CodeEffect::RemovesManyFiles);
            let far = token_texts(self.tokens).filter(|text| text.starts_with(['/', '~']));
            effects.extend(far.map(|path| CodeEffect::RemovesFile(path.to_owned())));
        }
        if has("remove") && token_texts(self.tokens).any(|text| text == "fs-extra") {
            effects.push(CodeEffect::RemovesTree);
        }
        if has("fork") && has("while loop for until") {
            effects.push(CodeEffect::ForkBomb);
        }
        let names_shell = token_texts(self.tokens).any(|text| {
            is_in_word_list(
                "/bin/sh /bin/bash /bin/zsh sh bash cmd.exe",
                text.trim_end_matches(" -i"),
            )
        });
        if self.language == CodeLanguage::JavaScript
            && has("fetch got axios http https")
            && has("eval Function")
        {
            effects.push(CodeEffect::RunsRemoteCode);
        }
        let pipes_into_shell = token_texts(self.tokens)
            .filter_map(|text| text.trim().strip_prefix('|'))
            .any(|program| is_in_word_list("sh bash zsh dash /bin/sh /bin/bash", program.trim()));
        if self.language == CodeLanguage::Perl && pipes_into_shell {
            effects.push(CodeEffect::RunsUnknownCode);
            effects.extend(
                token_texts(self.tokens).map(|text| CodeEffect::RunsShellScript(text.to_owned())),
            );
        }
        if names_shell && has("socket Socket net TCPSocket fsockopen connect") {
            effects.push(CodeEffect::RunsRemoteCode);
        }
    }

    /// Returns the tokens between the brackets after a name, or up to the end of the statement.
    fn call_arguments(&self, from: usize) -> &[CodeToken] {
        let rest = self.tokens.get(from..).unwrap_or_default();
        let rest = rest.get(..MAX_CALL_TOKENS).unwrap_or(rest);
        // `exec {"rm"} "rm", "-rf"` of perl.
        let rest = match (self.language, rest) {
            (CodeLanguage::Perl, [CodeToken::Mark('{'), _, CodeToken::Mark('}'), behind @ ..]) => {
                behind
            }
            _ => rest,
        };
        let Some(CodeToken::Mark('(')) = rest.first() else {
            let ends = |token: &CodeToken| matches!(token, CodeToken::Mark(';' | '\n' | '}'));
            let end = rest.iter().position(ends).unwrap_or(rest.len());
            let is_bare_call = matches!(
                self.language,
                CodeLanguage::Ruby
                    | CodeLanguage::Perl
                    | CodeLanguage::Php
                    | CodeLanguage::Lua
                    | CodeLanguage::Other
            );
            return if is_bare_call { &rest[..end] } else { &[] };
        };
        let mut depth = 0_usize;
        for (at, token) in rest.iter().enumerate() {
            match token {
                CodeToken::Mark('(') => depth += 1,
                CodeToken::Mark(')') => {
                    depth -= 1;
                    if depth == 0 {
                        return &rest[1..at];
                    }
                }
                _ => {}
            }
        }
        &rest[1..]
    }

    fn is_call(&self, at: usize) -> bool {
        matches!(self.tokens.get(at + 1), Some(CodeToken::Mark('(')))
            || matches!(self.language, CodeLanguage::Ruby | CodeLanguage::Perl)
    }

    fn token_before(&self, at: usize) -> Option<&CodeToken> {
        at.checked_sub(1).and_then(|before| self.tokens.get(before))
    }

    fn is_definition(&self, at: usize) -> bool {
        matches!(self.token_before(at), Some(CodeToken::Name(name)) if matches!(name.as_str(), "def" | "function" | "sub" | "fn"))
    }

    /// In `from shutil import rmtree` nothing is called.
    fn is_imported(&self, at: usize) -> bool {
        let line = self
            .tokens
            .get(..at)
            .unwrap_or_default()
            .iter()
            .rev()
            .take_while(|token| !matches!(token, CodeToken::Mark('\n' | ';')));
        let is_import = line
            .into_iter()
            .any(|token| matches!(token, CodeToken::Name(name) if name == "import"));
        is_import && self.language == CodeLanguage::Python
    }

    /// `Path("x").unlink()`: the text before the name.
    fn receiver_text(&self, at: usize) -> Option<&str> {
        let before = |back: usize| {
            at.checked_sub(back)
                .and_then(|place| self.tokens.get(place))
        };
        match (before(3), before(2), before(1)) {
            (
                Some(CodeToken::Text(text)),
                Some(CodeToken::Mark(')')),
                Some(CodeToken::Mark('.')),
            ) => Some(text),
            _ => None,
        }
    }

    /// Returns whether a name runs a program; other things may have the same name.
    fn is_run_call(&self, at: usize, name: &str) -> bool {
        if self.is_definition(at) {
            return false;
        }
        if !is_in_word_list(COMMON_NAMES, name) {
            return true;
        }
        let is_bare = !matches!(
            self.token_before(at),
            Some(CodeToken::Mark('.' | '>' | ':'))
        );
        let is_bare_runner = is_bare
            && matches!(name, "exec" | "spawn")
            && matches!(
                self.language,
                CodeLanguage::Ruby | CodeLanguage::Perl | CodeLanguage::Php
            );
        is_bare_runner || self.names_runner
    }

    /// Judges a text that the language itself passes to a shell, with names inserted.
    fn check_shell_literal(&self, text: &str, effects: &mut Vec<CodeEffect>) {
        let text = match self.language {
            CodeLanguage::Ruby => code_lexer::replace_interpolations(text, "#{"),
            _ => text.to_owned(),
        };
        if text
            .trim_start()
            .starts_with([UNKNOWN_PLACEHOLDER, '$', '@'])
        {
            self.record_input_sources(effects);
        }
        effects.push(CodeEffect::RunsShellScript(text));
    }

    fn check_run_call(&self, name: &str, arguments: &[CodeToken], effects: &mut Vec<CodeEffect>) {
        if arguments.is_empty() {
            return;
        }
        let words = self.argument_words(arguments);
        let is_fed = arguments.iter().any(
            |token| matches!(token, CodeToken::Name(name) if is_in_word_list(FETCHING_NAMES, name.as_str())),
        );
        if is_fed {
            effects.push(CodeEffect::RunsRemoteCode);
        }
        self.check_external_input(name, arguments, &words, effects);
        match words.as_slice() {
            [] => {}
            [text] => effects.push(CodeEffect::RunsShellScript(text.clone())),
            [first, ..] if first.contains(' ') => {
                effects.push(CodeEffect::RunsShellScript(first.clone()))
            }
            words => {
                effects.push(CodeEffect::RunsProgram(words.to_vec()));
                // `os.execlp("rm", "rm", "-rf", "x")` names the program twice.
                if words.len() > 2 && words[0].rsplit('/').next() == words[1].rsplit('/').next() {
                    effects.push(CodeEffect::RunsProgram(words[1..].to_vec()));
                }
            }
        }
    }

    /// Returns the texts among arguments, joined where `+` or nothing is between them, with names resolved.
    fn argument_words(&self, arguments: &[CodeToken]) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut joins = false;
        let mut is_option = false;
        for (at, token) in arguments.iter().enumerate() {
            let next_is = |mark: char| arguments.get(at + 1) == Some(&CodeToken::Mark(mark));
            match token {
                CodeToken::Text(text) | CodeToken::Command(text) => {
                    if is_option || next_is(':') {
                        is_option = false;
                        continue;
                    }
                    match words.last_mut().filter(|_| joins) {
                        Some(last) => last.push_str(text),
                        None => words.push(text.clone()),
                    }
                    joins = matches!(arguments.get(at + 1), Some(CodeToken::Text(_)));
                }
                CodeToken::Mark('+' | '.') if self.is_concatenation(token) => {
                    joins = !words.is_empty()
                }
                CodeToken::Mark(',') => (joins, is_option) = (false, false),
                CodeToken::Mark(_) => {}
                // The value of a keyword argument is not a word of the command: `cwd="x"`, `{ shell: "x" }`.
                CodeToken::Name(name) if next_is('=') || next_is(':') => {
                    is_option = !matches!(name.as_str(), "args" | "cmd" | "argv")
                }
                CodeToken::Name(name) => match self.assigned_texts.get(name.as_str()).cloned() {
                    Some(texts) if !joins => words.extend(texts),
                    Some(texts) => {
                        if let (Some(last), Some(text)) = (words.last_mut(), texts.first()) {
                            last.push_str(text);
                        }
                    }
                    None => {
                        if let Some(last) = words.last_mut().filter(|_| joins) {
                            last.push(UNKNOWN_PLACEHOLDER);
                        }
                    }
                },
            }
        }
        words
    }

    fn is_concatenation(&self, token: &CodeToken) -> bool {
        match self.language {
            CodeLanguage::Perl | CodeLanguage::Php | CodeLanguage::Lua => {
                *token == CodeToken::Mark('.')
            }
            _ => *token == CodeToken::Mark('+'),
        }
    }
}
