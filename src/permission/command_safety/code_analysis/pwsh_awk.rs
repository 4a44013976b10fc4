//! Analyses PowerShell, awk, editor commands, notebooks and tcl: only the few constructs that run or remove something.
//!
//! Languages with the usual calls and strings are in `code_analysis`.

use super::code_lexer::{CodeToken, token_texts, tokenize};
use crate::permission::program_table::CodeLanguage;
use crate::permission::word_list::is_in_word_list;

use super::{CodeAnalyzer, CodeEffect, CodeInputSource, MAX_TOKENS, limit_effects};

/// Lists the effects of PowerShell code, by its words.
pub fn powershell_effects(text: &str) -> Vec<CodeEffect> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text
        .split(|c: char| {
            c.is_whitespace() || matches!(c, ';' | '|' | '(' | ')' | '{' | '}' | '"' | '\'')
        })
        .filter(|word| !word.is_empty())
        .collect();
    let has = |names: &[&str]| words.iter().any(|word| names.contains(word));
    let mut effects = Vec::new();
    let removes = has(&["remove-item", "ri", "rm", "del", "rd", "rmdir", "erase"]);
    if removes
        && words.iter().any(|word| {
            (word.len() > 2 && "-recurse".starts_with(word))
                || *word == "-r"
                || *word == "-rf"
                || *word == "/s"
        })
    {
        effects.push(CodeEffect::RemovesTree);
    }
    let fetches = has(&[
        "iwr",
        "irm",
        "curl",
        "wget",
        "invoke-webrequest",
        "invoke-restmethod",
        "net.webclient",
        "frombase64string",
    ]) || text.contains("downloadstring")
        || text.contains("frombase64string");
    if has(&["iex", "invoke-expression", "-enc", "-encodedcommand"]) {
        effects.push(if fetches {
            CodeEffect::RunsRemoteCode
        } else {
            CodeEffect::RunsUnknownCode
        });
    }
    if has(&[
        "format-volume",
        "clear-disk",
        "initialize-disk",
        "remove-partition",
        "stop-computer",
        "restart-computer",
        "clear-recyclebin",
        "remove-localuser",
    ]) {
        effects.push(CodeEffect::RemovesTree);
    }
    effects.extend(text.split([';', '\n']).map(|line| CodeEffect::RunsShellScript(line.trim().to_owned())).filter(|effect| matches!(effect, CodeEffect::RunsShellScript(line) if ["git ", "sudo ", "npm ", "bash ", "sh ", "cmd "].iter().any(|name| line.starts_with(name)))));
    effects
}

/// Lists the effects of editor commands: `:!cmd`, `:call system("cmd")`, `:%!cmd`.
pub fn editor_effects(text: &str) -> Vec<CodeEffect> {
    let mut effects = Vec::new();
    for line in text.split('\n') {
        let line = line
            .trim_start_matches([':', ' ', '%', '.', ',', '$'])
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .trim_start_matches("silent ")
            .trim_start_matches("silent! ");
        if let Some(command) = line
            .strip_prefix("r !")
            .or_else(|| line.strip_prefix("r!"))
            .or_else(|| line.strip_prefix('!'))
        {
            effects.push(CodeEffect::RunsShellScript(command.to_owned()));
        } else if line.contains("system(") || line.contains("delete(") {
            effects.extend(super::analyze_code(line, CodeLanguage::Other));
        }
    }
    effects
}

/// Lists the effects of awk code: `system("cmd")`, `"cmd" | getline`, `print | "cmd"`, `print > "file"`.
pub fn awk_effects(text: &str) -> Vec<CodeEffect> {
    let mut tokens = tokenize(text, CodeLanguage::Awk);
    let is_cut = tokens.len() > MAX_TOKENS;
    tokens.truncate(MAX_TOKENS);
    let code = CodeAnalyzer::new(&tokens, CodeLanguage::Awk);
    let mut effects = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let next = |by: usize| tokens.get(at + by);
        match token {
            CodeToken::Name(name) if name == "system" => {
                let words = code.argument_words(code.call_arguments(at + 1));
                let text = words.concat();
                if text.is_empty() {
                    effects.extend([
                        CodeEffect::RunsUnknownCode,
                        CodeEffect::RunsInput(CodeInputSource::Arguments),
                        CodeEffect::RunsInput(CodeInputSource::Input),
                    ])
                } else {
                    effects.push(CodeEffect::RunsShellScript(text))
                }
            }
            CodeToken::Name(_)
                if next(1) == Some(&CodeToken::Mark('|'))
                    && next(2) == Some(&CodeToken::Name("getline".to_owned())) =>
            {
                // The name may contain any of the texts in the program.
                let texts = token_texts(&tokens).map(str::to_owned);
                effects.extend(texts.map(CodeEffect::RunsShellScript));
            }
            CodeToken::Text(text)
                if next(1) == Some(&CodeToken::Mark('|'))
                    && next(2) == Some(&CodeToken::Name("getline".to_owned())) =>
            {
                effects.push(CodeEffect::RunsShellScript(text.clone()))
            }
            CodeToken::Mark('|') => {
                if let Some(CodeToken::Text(text)) = next(1) {
                    let pipe = awk_pipe_effect(text);
                    if pipe == CodeEffect::RunsUnknownCode {
                        // The text that it builds for the shell may begin with any of its texts.
                        let texts = token_texts(&tokens).map(str::to_owned);
                        effects.extend(texts.map(CodeEffect::RunsShellScript));
                    }
                    effects.push(pipe);
                    // The text that it prints is run.
                    if let Some(CodeToken::Text(printed)) =
                        at.checked_sub(1).and_then(|before| tokens.get(before))
                    {
                        effects.push(CodeEffect::RunsShellScript(printed.clone()));
                    }
                }
            }
            CodeToken::Mark('>') => effects.extend(
                next(1)
                    .and_then(CodeToken::as_text)
                    .map(|path| CodeEffect::WritesFile(path.to_owned())),
            ),
            _ => {}
        }
    }
    limit_effects(effects, is_cut)
}

/// `!rm -rf x` of ipython: its lines may be shell commands.
pub fn notebook_effects(text: &str) -> impl Iterator<Item = CodeEffect> {
    let lines = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix('!'));
    lines.map(|line| CodeEffect::RunsShellScript(line.trim_start_matches('!').to_owned()))
}

/// `exec rm -rf x`, `spawn rm -rf x` of tcl and expect: their words need no quotes.
pub fn tcl_effects(text: &str) -> Vec<CodeEffect> {
    text.split([';', '\n', '[', ']', '{', '}'])
        .filter_map(|part| {
            let part = part.trim();
            if let Some(text) = part.strip_prefix('!') {
                return Some(CodeEffect::RunsShellScript(text.to_owned()));
            }
            if part.starts_with("file delete -force") || part.starts_with("(delete-directory ") {
                return Some(CodeEffect::RemovesTree);
            }
            let called = part
                .strip_prefix("syscmd(")
                .or(part.strip_prefix("esyscmd("));
            if let Some(text) = called {
                let text = text.trim_end_matches([')', '\'']).trim_start_matches('`');
                return Some(CodeEffect::RunsShellScript(text.to_owned()));
            }
            let (runner, words) = part.split_once(' ')?;
            is_in_word_list("exec spawn system shell", runner)
                .then(|| CodeEffect::RunsShellScript(words.to_owned()))
        })
        .collect()
}

/// What awk prints into a shell is only known at run time.
fn awk_pipe_effect(text: &str) -> CodeEffect {
    match text.split_whitespace().next() {
        Some("sh" | "bash" | "/bin/sh" | "/bin/bash" | "zsh" | "dash") => {
            CodeEffect::RunsUnknownCode
        }
        _ => CodeEffect::RunsShellScript(text.to_owned()),
    }
}
