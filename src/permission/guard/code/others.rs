//! PowerShell, awk and the commands of editors, each by the little that runs or removes something.
//!
//! It refuses to know the languages that share calls and strings.

use super::tokens::{Token, texts_of, tokens};
use crate::permission::word_list::is_in_word_list;

use super::{Code, Effect, Language, Source, TOKENS, bounded};

/// PowerShell, by its words.
pub fn of_powershell(text: &str) -> Vec<Effect> {
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
        effects.push(Effect::Tree);
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
            Effect::Remote
        } else {
            Effect::Unknown
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
        effects.push(Effect::Tree);
    }
    effects.extend(text.split([';', '\n']).map(|line| Effect::Shell(line.trim().to_owned())).filter(|effect| matches!(effect, Effect::Shell(line) if ["git ", "sudo ", "npm ", "bash ", "sh ", "cmd "].iter().any(|name| line.starts_with(name)))));
    effects
}

/// `:!cmd`, `:call system("cmd")`, `:%!cmd`.
pub fn of_editor(text: &str) -> Vec<Effect> {
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
            effects.push(Effect::Shell(command.to_owned()));
        } else if line.contains("system(") || line.contains("delete(") {
            effects.extend(super::effects(line, Language::Other));
        }
    }
    effects
}

/// `system("cmd")`, `"cmd" | getline`, `print | "cmd"`, `print > "file"`.
pub fn of_awk(text: &str) -> Vec<Effect> {
    let mut tokens = tokens(text, Language::Awk);
    let is_cut = tokens.len() > TOKENS;
    tokens.truncate(TOKENS);
    let code = Code::new(&tokens, Language::Awk);
    let mut effects = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let next = |by: usize| tokens.get(at + by);
        match token {
            Token::Name(name) if name == "system" => {
                let words = code.words(code.arguments(at + 1));
                let text = words.concat();
                match text.is_empty() {
                    true => effects.extend([
                        Effect::Unknown,
                        Effect::Given(Source::Arguments),
                        Effect::Given(Source::Input),
                    ]),
                    false => effects.push(Effect::Shell(text)),
                }
            }
            Token::Name(_)
                if next(1) == Some(&Token::Mark('|'))
                    && next(2) == Some(&Token::Name("getline".to_owned())) =>
            {
                // Which text the name holds is one of those that are there.
                let texts = texts_of(&tokens).map(str::to_owned);
                effects.extend(texts.map(Effect::Shell));
            }
            Token::Text(text)
                if next(1) == Some(&Token::Mark('|'))
                    && next(2) == Some(&Token::Name("getline".to_owned())) =>
            {
                effects.push(Effect::Shell(text.clone()))
            }
            Token::Mark('|') => {
                if let Some(Token::Text(text)) = next(1) {
                    let pipe = of_awk_pipe(text);
                    if pipe == Effect::Unknown {
                        // What it puts together for the shell may begin with any of its texts.
                        let texts = texts_of(&tokens).map(str::to_owned);
                        effects.extend(texts.map(Effect::Shell));
                    }
                    effects.push(pipe);
                    // What it prints is run.
                    if let Some(Token::Text(printed)) =
                        at.checked_sub(1).and_then(|before| tokens.get(before))
                    {
                        effects.push(Effect::Shell(printed.clone()));
                    }
                }
            }
            Token::Mark('>') => effects.extend(
                next(1)
                    .and_then(Token::as_text)
                    .map(|path| Effect::Writes(path.to_owned())),
            ),
            _ => {}
        }
    }
    bounded(effects, is_cut)
}

/// `!rm -rf x`: of ipython, whose lines may be a shell's.
pub fn of_notebook(text: &str) -> impl Iterator<Item = Effect> {
    let lines = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix('!'));
    lines.map(|line| Effect::Shell(line.trim_start_matches('!').to_owned()))
}

/// `exec rm -rf x`, `spawn rm -rf x`: of tcl and expect, whose words need no quotes.
pub fn of_tcl(text: &str) -> Vec<Effect> {
    text.split([';', '\n', '[', ']', '{', '}'])
        .filter_map(|part| {
            let part = part.trim();
            if let Some(text) = part.strip_prefix('!') {
                return Some(Effect::Shell(text.to_owned()));
            }
            if part.starts_with("file delete -force") || part.starts_with("(delete-directory ") {
                return Some(Effect::Tree);
            }
            let called = part
                .strip_prefix("syscmd(")
                .or(part.strip_prefix("esyscmd("));
            if let Some(text) = called {
                let text = text.trim_end_matches([')', '\'']).trim_start_matches('`');
                return Some(Effect::Shell(text.to_owned()));
            }
            let (runner, words) = part.split_once(' ')?;
            is_in_word_list("exec spawn system shell", runner)
                .then(|| Effect::Shell(words.to_owned()))
        })
        .collect()
}

/// What awk prints into a shell only a run would show.
fn of_awk_pipe(text: &str) -> Effect {
    match text.split_whitespace().next() {
        Some("sh" | "bash" | "/bin/sh" | "/bin/bash" | "zsh" | "dash") => Effect::Unknown,
        _ => Effect::Shell(text.to_owned()),
    }
}
