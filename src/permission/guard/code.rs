//! Code of python, node, perl, ruby and their like: what it deletes, runs and writes.
//!
//! It looks at names, calls and the strings in them, not at a grammar. It refuses to know where the
//! code came from.

use std::collections::HashMap;

use crate::permission::shell::UNKNOWN;
use crate::permission::word_list::is_in_word_list;

mod calls;
mod effect;
mod given;
mod names;
mod others;
mod tokens;

use calls::name_before_call;
pub use effect::{Effect, Source};
use names::{
    COMMON_NAMES, DROPPING_NAMES, EVALUATING_NAMES, FETCHING_NAMES, FLAGGED_NAMES, LISTING_NAMES,
    MODE_NAMES, REMOVING_NAMES, RUNNING_NAMES, RUNNING_WORDS, STATEMENT_NAMES, TREE_NAMES,
    WRITING_NAMES,
};
use tokens::{Token, has_tree_flag, is_everybody, texts_of, tokens};

/// A language, as far as it matters for reading its strings and comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Python.
    Python,
    /// JavaScript and TypeScript.
    JavaScript,
    /// Perl.
    Perl,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// Lua.
    Lua,
    /// PowerShell.
    PowerShell,
    /// Awk.
    Awk,
    /// Commands of vi and its like.
    Editor,
    /// Any other.
    Other,
}

/// How much code is looked at; what is longer is not known.
const TOKENS: usize = 6_000;
/// How many tokens of one call are looked at.
const ARGUMENTS: usize = 400;
/// How many effects are followed.
const EFFECTS: usize = 200;

/// Everything that a text of code does, as far as it can be seen.
pub fn effects(text: &str, language: Language) -> Vec<Effect> {
    match language {
        Language::PowerShell => return others::of_powershell(text),
        Language::Editor => return others::of_editor(text),
        Language::Awk => return others::of_awk(text),
        _ => {}
    }
    let mut tokens = tokens(text, language);
    let is_cut = tokens.len() > TOKENS;
    tokens.truncate(TOKENS);
    let code = Code::new(&tokens, language);
    let mut effects = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Name(name) => code.judge_name(at, name, &mut effects),
            Token::Command(text) => code.judge_command(text, &mut effects),
            Token::Text(text) => code.judge_text(at, text, &mut effects),
            Token::Mark(_) => {}
        }
    }
    code.judge_whole(&mut effects);
    match language {
        Language::Other => effects.extend(others::of_tcl(text)),
        Language::Python => effects.extend(others::of_notebook(text)),
        _ => {}
    }
    bounded(effects, is_cut)
}

/// The texts that stand in code.
pub fn texts(text: &str, language: Language) -> Vec<String> {
    let tokens = tokens(text, language);
    texts_of(&tokens).take(TOKENS).map(str::to_owned).collect()
}

/// Of very many effects the first, and that there is more.
fn bounded(mut effects: Vec<Effect>, is_cut: bool) -> Vec<Effect> {
    if is_cut || effects.len() > EFFECTS {
        effects.truncate(EFFECTS);
        effects.push(Effect::Unknown);
    }
    effects
}

struct Code<'a> {
    tokens: &'a [Token],
    language: Language,
    /// The texts of `name = "…"`, where the code says so first.
    assigned: HashMap<&'a str, Vec<String>>,
    /// Other names of names: `import rmtree as r`.
    renamed: HashMap<&'a str, &'a str>,
    /// Whether some word says that programs are run.
    names_runner: bool,
    /// Whether some module is there to run programs.
    has_module: bool,
}

impl<'a> Code<'a> {
    fn new(tokens: &'a [Token], language: Language) -> Self {
        let names_runner = tokens.iter().any(|token| match token {
            Token::Name(name) => is_in_word_list(RUNNING_WORDS, name),
            Token::Text(text) => matches!(
                text.trim_start_matches("node:"),
                "child_process" | "execa" | "shelljs"
            ),
            Token::Command(_) | Token::Mark(_) => false,
        });
        let mut code = Self {
            tokens,
            language,
            assigned: HashMap::new(),
            renamed: HashMap::new(),
            names_runner,
            has_module: given::has_module(tokens),
        };
        for (at, window) in tokens.windows(3).enumerate() {
            if let [Token::Name(name), Token::Name(word), Token::Name(other)] = window
                && word == "as"
            {
                code.renamed.insert(other, name);
            }
            if let [Token::Name(name), Token::Mark(':'), Token::Name(other)] = window
                && language == Language::JavaScript
            {
                code.renamed.insert(other, name);
            }
            if let [Token::Name(name), Token::Mark('='), value] = window
                && *value != Token::Mark('=')
                && !code.assigned.contains_key(name.as_str())
            {
                let texts = code.texts_from(at + 2);
                if !texts.is_empty() {
                    code.assigned.insert(name, texts);
                }
            }
        }
        code
    }

    /// The texts up to the end of a statement, joined where they are joined.
    fn texts_from(&self, from: usize) -> Vec<String> {
        let rest = self.tokens.get(from..).unwrap_or_default();
        let rest = rest.get(..ARGUMENTS).unwrap_or(rest);
        let ends = |token: &&Token| !matches!(token, Token::Mark(';' | '\n'));
        let mut texts: Vec<String> = Vec::new();
        let mut joins = false;
        for token in rest.iter().take_while(ends) {
            if let Token::Text(text) = token {
                match texts.last_mut().filter(|_| joins) {
                    Some(last) => last.push_str(text),
                    None => texts.push(text.clone()),
                }
            }
            joins = self.joins_with(token);
        }
        texts
    }

    fn judge_name(&self, at: usize, name: &str, effects: &mut Vec<Effect>) {
        if self.is_imported(at) {
            return;
        }
        let name = self.renamed.get(name).copied().unwrap_or(name);
        let arguments = self.arguments(at + 1);
        let is_tree = is_in_word_list(TREE_NAMES, name) && !self.is_defined(at);
        if is_tree || (is_in_word_list(FLAGGED_NAMES, name) && has_tree_flag(arguments)) {
            return effects.push(Effect::Tree);
        }
        if is_in_word_list(MODE_NAMES, name) && arguments.iter().any(is_everybody) {
            return effects.push(Effect::Everybody);
        }
        if is_in_word_list(REMOVING_NAMES, name) {
            let paths = texts_of(arguments).chain(self.object_text(at));
            effects.extend(paths.map(|path| Effect::Removes(path.to_owned())));
        }
        if is_in_word_list(EVALUATING_NAMES, name) && self.evaluates(at, name, effects) {
            return;
        }
        if is_in_word_list(RUNNING_NAMES, name) && self.runs(at, name) {
            self.judge_run(name, arguments, effects);
        }
        if is_in_word_list(WRITING_NAMES, name) {
            self.judge_open(at, name, effects);
        }
        if is_in_word_list(STATEMENT_NAMES, name) {
            effects.extend(texts_of(arguments).map(|text| Effect::Statement(text.to_owned())));
        }
        if is_in_word_list(DROPPING_NAMES, name) && self.is_call(at) {
            effects.push(Effect::Statement("DROP DATABASE x".to_owned()));
        }
        let kills = matches!(name, "kill" | "killpg");
        if kills && matches!(arguments, [Token::Mark('-'), Token::Name(one), ..] if one == "1") {
            let words = ["kill", "-9", "-1"].map(str::to_owned);
            effects.push(Effect::Words(words.to_vec()));
        }
    }

    /// `require('rimraf')`, `do shell script "…"`, `"…".execute()`.
    fn judge_text(&self, at: usize, text: &str, effects: &mut Vec<Effect>) {
        let name_before = |back: usize| match at
            .checked_sub(back)
            .and_then(|place| self.tokens.get(place))
        {
            Some(Token::Name(name)) => Some(name.as_str()),
            _ => None,
        };
        let is_required = name_before(2) == Some("require")
            || name_before(1) == Some("from")
            || name_before(2) == Some("import");
        if self.language == Language::JavaScript && matches!(text, "rimraf" | "del") && is_required
        {
            effects.push(Effect::Tree);
        }
        // `getattr(shutil, "rmtree")`, `fs["rmSync"]`.
        if is_in_word_list(TREE_NAMES, text) && name_before_call(self, at) == Some("getattr") {
            effects.push(Effect::Tree);
        }
        if self.is_run_by_somebody(at) {
            effects.push(Effect::Shell(text.to_owned()));
        }
        effects.extend(self.listed_words(at).map(Effect::Words));
        let is_executed = matches!(self.tokens.get(at + 1..at + 3), Some([Token::Mark('.'), Token::Name(name)]) if name == "execute");
        // `(shell-command "…")` of emacs.
        let is_behind_runner = name_before(1) == Some("script")
            || name_before(1) == Some("command") && name_before(3) == Some("shell");
        if self.language == Language::Other && (is_executed || is_behind_runner) {
            effects.push(Effect::Shell(text.to_owned()));
        }
    }

    /// What names say together, wherever they stand.
    fn judge_whole(&self, effects: &mut Vec<Effect>) {
        let has = |list: &'static str| {
            self.tokens
                .iter()
                .any(|token| matches!(token, Token::Name(name) if is_in_word_list(list, name)))
        };
        let maps = has("array_map array_walk map")
            && texts_of(self.tokens).any(|text| matches!(text, "unlink" | "rmdir"));
        let removes = has("remove unlink rmdir unlinkSync rmdirSync rmSync delete");
        if (removes || maps) && has(LISTING_NAMES) {
            effects.push(Effect::Many);
            let far = texts_of(self.tokens).filter(|text| text.starts_with(['/', '~']));
            effects.extend(far.map(|path| Effect::Removes(path.to_owned())));
        }
        if has("remove") && texts_of(self.tokens).any(|text| text == "fs-extra") {
            effects.push(Effect::Tree);
        }
        if has("fork") && has("while loop for until") {
            effects.push(Effect::Fork);
        }
        let names_shell = texts_of(self.tokens).any(|text| {
            is_in_word_list(
                "/bin/sh /bin/bash /bin/zsh sh bash cmd.exe",
                text.trim_end_matches(" -i"),
            )
        });
        if self.language == Language::JavaScript
            && has("fetch got axios http https")
            && has("eval Function")
        {
            effects.push(Effect::Remote);
        }
        let pipes_into_shell = texts_of(self.tokens)
            .filter_map(|text| text.trim().strip_prefix('|'))
            .any(|program| is_in_word_list("sh bash zsh dash /bin/sh /bin/bash", program.trim()));
        if self.language == Language::Perl && pipes_into_shell {
            effects.push(Effect::Unknown);
            effects.extend(texts_of(self.tokens).map(|text| Effect::Shell(text.to_owned())));
        }
        if names_shell && has("socket Socket net TCPSocket fsockopen connect") {
            effects.push(Effect::Remote);
        }
    }

    /// The tokens between the brackets behind a name, or up to the end of the statement.
    fn arguments(&self, from: usize) -> &[Token] {
        let rest = self.tokens.get(from..).unwrap_or_default();
        let rest = rest.get(..ARGUMENTS).unwrap_or(rest);
        // `exec {"rm"} "rm", "-rf"` of perl.
        let rest = match (self.language, rest) {
            (Language::Perl, [Token::Mark('{'), _, Token::Mark('}'), behind @ ..]) => behind,
            _ => rest,
        };
        let Some(Token::Mark('(')) = rest.first() else {
            let ends = |token: &Token| matches!(token, Token::Mark(';' | '\n' | '}'));
            let end = rest.iter().position(ends).unwrap_or(rest.len());
            let is_bare_call = matches!(
                self.language,
                Language::Ruby | Language::Perl | Language::Php | Language::Lua | Language::Other
            );
            return match is_bare_call {
                true => &rest[..end],
                false => &[],
            };
        };
        let mut depth = 0_usize;
        for (at, token) in rest.iter().enumerate() {
            match token {
                Token::Mark('(') => depth += 1,
                Token::Mark(')') => {
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
        matches!(self.tokens.get(at + 1), Some(Token::Mark('(')))
            || matches!(self.language, Language::Ruby | Language::Perl)
    }

    fn before(&self, at: usize) -> Option<&Token> {
        at.checked_sub(1).and_then(|before| self.tokens.get(before))
    }

    fn is_defined(&self, at: usize) -> bool {
        matches!(self.before(at), Some(Token::Name(name)) if matches!(name.as_str(), "def" | "function" | "sub" | "fn"))
    }

    /// In `from shutil import rmtree` nothing is called.
    fn is_imported(&self, at: usize) -> bool {
        let line = self
            .tokens
            .get(..at)
            .unwrap_or_default()
            .iter()
            .rev()
            .take_while(|token| !matches!(token, Token::Mark('\n' | ';')));
        let is_import = line
            .into_iter()
            .any(|token| matches!(token, Token::Name(name) if name == "import"));
        is_import && self.language == Language::Python
    }

    /// `Path("x").unlink()`: the text in front of the name.
    fn object_text(&self, at: usize) -> Option<&str> {
        let before = |back: usize| {
            at.checked_sub(back)
                .and_then(|place| self.tokens.get(place))
        };
        match (before(3), before(2), before(1)) {
            (Some(Token::Text(text)), Some(Token::Mark(')')), Some(Token::Mark('.'))) => Some(text),
            _ => None,
        }
    }

    /// Tells whether a name runs a program, where other things have the same name.
    fn runs(&self, at: usize, name: &str) -> bool {
        if self.is_defined(at) {
            return false;
        }
        if !is_in_word_list(COMMON_NAMES, name) {
            return true;
        }
        let is_bare = !matches!(self.before(at), Some(Token::Mark('.' | '>' | ':')));
        let is_bare_runner = is_bare
            && matches!(name, "exec" | "spawn")
            && matches!(
                self.language,
                Language::Ruby | Language::Perl | Language::Php
            );
        is_bare_runner || self.names_runner
    }

    /// A text that the language itself gives to a shell, names put into it.
    fn judge_command(&self, text: &str, effects: &mut Vec<Effect>) {
        let text = match self.language {
            Language::Ruby => tokens::without_braces(text, "#{"),
            _ => text.to_owned(),
        };
        if text.trim_start().starts_with([UNKNOWN, '$', '@']) {
            self.note_given(effects);
        }
        effects.push(Effect::Shell(text));
    }

    fn judge_run(&self, name: &str, arguments: &[Token], effects: &mut Vec<Effect>) {
        if arguments.is_empty() {
            return;
        }
        let words = self.words(arguments);
        let is_fed = arguments.iter().any(
            |token| matches!(token, Token::Name(name) if is_in_word_list(FETCHING_NAMES, name.as_str())),
        );
        if is_fed {
            effects.push(Effect::Remote);
        }
        self.judge_given(name, arguments, &words, effects);
        match words.as_slice() {
            [] => {}
            [text] => effects.push(Effect::Shell(text.clone())),
            [first, ..] if first.contains(' ') => effects.push(Effect::Shell(first.clone())),
            words => {
                effects.push(Effect::Words(words.to_vec()));
                // `os.execlp("rm", "rm", "-rf", "x")` names the program twice.
                if words.len() > 2 && words[0].rsplit('/').next() == words[1].rsplit('/').next() {
                    effects.push(Effect::Words(words[1..].to_vec()));
                }
            }
        }
    }

    /// The texts among arguments, joined where `+` or nothing stands between them, names looked up.
    fn words(&self, arguments: &[Token]) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut joins = false;
        let mut is_option = false;
        for (at, token) in arguments.iter().enumerate() {
            let next_is = |mark: char| arguments.get(at + 1) == Some(&Token::Mark(mark));
            match token {
                Token::Text(text) | Token::Command(text) => {
                    if is_option || next_is(':') {
                        is_option = false;
                        continue;
                    }
                    match words.last_mut().filter(|_| joins) {
                        Some(last) => last.push_str(text),
                        None => words.push(text.clone()),
                    }
                    joins = matches!(arguments.get(at + 1), Some(Token::Text(_)));
                }
                Token::Mark('+' | '.') if self.joins_with(token) => joins = !words.is_empty(),
                Token::Mark(',') => (joins, is_option) = (false, false),
                Token::Mark(_) => {}
                // A keyword's value is no word: `cwd="x"`, `{ shell: "x" }`.
                Token::Name(name) if next_is('=') || next_is(':') => {
                    is_option = !matches!(name.as_str(), "args" | "cmd" | "argv")
                }
                Token::Name(name) => match self.assigned.get(name.as_str()).cloned() {
                    Some(texts) if !joins => words.extend(texts),
                    Some(texts) => {
                        if let (Some(last), Some(text)) = (words.last_mut(), texts.first()) {
                            last.push_str(text);
                        }
                    }
                    None => {
                        if let Some(last) = words.last_mut().filter(|_| joins) {
                            last.push(UNKNOWN);
                        }
                    }
                },
            }
        }
        words
    }

    fn joins_with(&self, token: &Token) -> bool {
        match self.language {
            Language::Perl | Language::Php | Language::Lua => *token == Token::Mark('.'),
            _ => *token == Token::Mark('+'),
        }
    }
}
