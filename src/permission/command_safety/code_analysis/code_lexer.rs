//! Splits code into names, strings and marks, and drops comments.
//!
//! There is no grammar. A quote that is never closed extends to the end of the text.

use crate::permission::program_table::CodeLanguage;
use crate::permission::shell::UNKNOWN_PLACEHOLDER;

use super::function_names::FETCHING_NAMES;
use crate::permission::word_list::is_in_word_list;

/// A token of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeToken {
    /// A name or number.
    Name(String),
    /// A string; parts inserted at run time are marked as unknown.
    Text(String),
    /// A string that a shell runs: backticks of perl, ruby and php, `%x()`, `qx()`, tagged templates.
    Command(String),
    /// Any other character; a line's end is `\n`.
    Mark(char),
}

impl CodeToken {
    /// Returns the text of a string token.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Name(_) | Self::Command(_) | Self::Mark(_) => None,
        }
    }
}

/// Splits code into tokens, in linear time.
pub fn tokenize(text: &str, language: CodeLanguage) -> Vec<CodeToken> {
    let mut cutter = CodeLexer {
        chars: text.chars().collect(),
        at: 0,
        language,
        tokens: Vec::new(),
    };
    while cutter.at < cutter.chars.len() {
        cutter.lex_token();
    }
    cutter.tokens
}

struct CodeLexer {
    chars: Vec<char>,
    at: usize,
    language: CodeLanguage,
    tokens: Vec<CodeToken>,
}

impl CodeLexer {
    fn peek(&self, by: usize) -> Option<char> {
        self.chars.get(self.at + by).copied()
    }

    fn lex_token(&mut self) {
        let Some(c) = self.peek(0) else {
            return;
        };
        if self.skip_comment(c) {
            return;
        }
        match c {
            '\n' => self.push_mark('\n'),
            c if c.is_whitespace() => self.at += 1,
            '\'' | '"' => self.lex_string(c),
            '`' => self.lex_backtick(),
            '%' if self.language == CodeLanguage::Ruby && self.peek(1) == Some('x') => {
                self.lex_delimited_command(2)
            }
            // `%w[rm -rf x]`: a list of texts.
            '%' if self.language == CodeLanguage::Ruby
                && matches!(self.peek(1), Some('w' | 'W'))
                && matches!(self.peek(2), Some('(' | '[' | '{' | '<')) =>
            {
                self.at += 2;
                for word in self.read_delimited().split_whitespace() {
                    self.tokens.push(CodeToken::Text(word.to_owned()));
                    self.tokens.push(CodeToken::Mark(','));
                }
            }
            c if is_name_char(c) => self.lex_name(),
            c => self.push_mark(c),
        }
    }

    fn push_mark(&mut self, c: char) {
        self.tokens.push(CodeToken::Mark(c));
        self.at += 1;
    }

    fn skip_comment(&mut self, c: char) -> bool {
        let next = self.peek(1);
        let is_line = match self.language {
            CodeLanguage::JavaScript => {
                c == '/'
                    && next == Some('/')
                    && self.chars.get(self.at.wrapping_sub(1)) != Some(&':')
            }
            CodeLanguage::Php => c == '#' || (c == '/' && next == Some('/')),
            CodeLanguage::Lua => c == '-' && next == Some('-'),
            CodeLanguage::Perl => {
                c == '#'
                    && self.at.checked_sub(1).is_none_or(|before| {
                        self.chars
                            .get(before)
                            .is_none_or(|before| before.is_whitespace() || *before == ';')
                    })
            }
            CodeLanguage::Other => {
                c == '#'
                    && self.at.checked_sub(1).is_none_or(|before| {
                        self.chars
                            .get(before)
                            .is_none_or(|before| before.is_whitespace())
                    })
            }
            _ => c == '#',
        };
        if is_line {
            while self.peek(0).is_some_and(|c| c != '\n') {
                self.at += 1;
            }
            return true;
        }
        let is_block = matches!(self.language, CodeLanguage::JavaScript | CodeLanguage::Php)
            && c == '/'
            && next == Some('*');
        if is_block {
            self.at += 2;
            while self.at < self.chars.len()
                && !(self.peek(0) == Some('*') && self.peek(1) == Some('/'))
            {
                self.at += 1;
            }
            self.at += 2;
        }
        is_block
    }

    fn lex_name(&mut self) {
        let from = self.at;
        while self
            .peek(0)
            .is_some_and(|c| is_name_char(c) || (c == '!' && self.language == CodeLanguage::Other))
        {
            self.at += 1;
        }
        let name: String = self
            .chars
            .get(from..self.at)
            .unwrap_or_default()
            .iter()
            .collect();
        let is_quoting = matches!(name.as_str(), "qx" | "q" | "qq" | "qw")
            && self.language == CodeLanguage::Perl;
        let opens = self.peek(0).is_some_and(|c| {
            !c.is_whitespace() && !c.is_alphanumeric() && !matches!(c, ',' | ';' | '=' | ')')
        });
        if is_quoting && opens {
            let text = self.read_delimited();
            match name.as_str() {
                "qx" => self.tokens.push(CodeToken::Command(text)),
                "qw" => {
                    for word in text.split_whitespace() {
                        self.tokens.push(CodeToken::Text(word.to_owned()));
                        self.tokens.push(CodeToken::Mark(','));
                    }
                }
                _ => self.tokens.push(CodeToken::Text(text)),
            }
            return;
        }
        self.tokens.push(CodeToken::Name(name));
    }

    fn lex_delimited_command(&mut self, skipped: usize) {
        self.at += skipped;
        let text = self.read_delimited();
        self.tokens.push(CodeToken::Command(text));
    }

    /// Reads from an opening bracket or mark to the one that closes it.
    fn read_delimited(&mut self) -> String {
        let Some(open) = self.peek(0) else {
            return String::new();
        };
        let close = match open {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            other => other,
        };
        self.at += 1;
        let mut text = String::new();
        let mut depth = 1_usize;
        while let Some(c) = self.peek(0) {
            self.at += 1;
            if c == close {
                depth -= 1;
                if depth == 0 {
                    break;
                }
            } else if c == open {
                depth += 1;
            }
            text.push(c);
        }
        text
    }

    /// A backtick runs a shell, except in JavaScript, where the name before it decides.
    fn lex_backtick(&mut self) {
        let text = self.read_quoted('`', 1);
        let is_tagged = matches!(self.tokens.last(), Some(CodeToken::Name(name)) if name.ends_with('$') || name == "sh" || name == "exec");
        let token = match self.language {
            CodeLanguage::JavaScript if !is_tagged => CodeToken::Text(text),
            CodeLanguage::JavaScript
            | CodeLanguage::Perl
            | CodeLanguage::Ruby
            | CodeLanguage::Php
            | CodeLanguage::Other => CodeToken::Command(text),
            _ => CodeToken::Text(text),
        };
        self.tokens.push(token);
    }

    fn lex_string(&mut self, quote: char) {
        let is_triple = matches!(self.language, CodeLanguage::Python | CodeLanguage::Other)
            && self.peek(1) == Some(quote)
            && self.peek(2) == Some(quote);
        let is_formatted = matches!(self.tokens.last(), Some(CodeToken::Name(name)) if matches!(name.as_str(), "f" | "F" | "rf" | "fr"))
            && self.language == CodeLanguage::Python;
        let is_prefixed = self.at > 0
            && self.language == CodeLanguage::Python
            && matches!(self.tokens.last(), Some(CodeToken::Name(name)) if matches!(name.as_str(), "f" | "F" | "rf" | "fr" | "r" | "b" | "R" | "B" | "u" | "rb" | "br"));
        if is_prefixed {
            self.tokens.pop();
        }
        let mut text = self.read_quoted(quote, if is_triple { 3 } else { 1 });
        if is_formatted {
            text = replace_interpolations(&text, "{");
        } else if self.language == CodeLanguage::Ruby && quote == '"' {
            text = replace_interpolations(&text, "#{");
        }
        self.tokens.push(CodeToken::Text(text));
    }

    fn read_quoted(&mut self, quote: char, n_quotes: usize) -> String {
        self.at += n_quotes;
        let mut text = String::new();
        while let Some(c) = self.peek(0) {
            if c == quote && (0..n_quotes).all(|by| self.peek(by) == Some(quote)) {
                self.at += n_quotes;
                break;
            }
            self.at += 1;
            if c == '\\' {
                self.read_escape(&mut text);
            } else {
                text.push(c);
            }
        }
        match (quote, self.language) {
            ('`', CodeLanguage::JavaScript) => replace_interpolations(&text, "${"),
            _ => text,
        }
    }

    fn read_escape(&mut self, text: &mut String) {
        let Some(c) = self.peek(0) else {
            return;
        };
        self.at += 1;
        match c {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'x' | 'u' => {
                let n_digits = if c == 'x' { 2 } else { 4 };
                let digits: String = self.chars.iter().skip(self.at).take(n_digits).collect();
                match u32::from_str_radix(&digits, 16)
                    .ok()
                    .and_then(char::from_u32)
                {
                    Some(decoded) => {
                        text.push(decoded);
                        self.at += n_digits;
                    }
                    None => text.push(c),
                }
            }
            '\n' => {}
            other => text.push(other),
        }
    }
}

/// Marks the text in braces after a mark as unknown: it is inserted at run time.
pub fn replace_interpolations(text: &str, open: &str) -> String {
    let mut bare = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(open) {
        bare.push_str(before);
        bare.push(UNKNOWN_PLACEHOLDER);
        rest = behind.split_once('}').map_or("", |(_, behind)| behind);
    }
    bare.push_str(rest);
    bare
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$' || c == UNKNOWN_PLACEHOLDER || c == '@'
}

/// Returns the texts among tokens.
pub fn token_texts(tokens: &[CodeToken]) -> impl Iterator<Item = &str> {
    tokens.iter().filter_map(CodeToken::as_text)
}

/// Returns whether a token is about fetching or decoding.
pub fn names_fetching(token: &CodeToken) -> bool {
    matches!(token, CodeToken::Name(name) if is_in_word_list(FETCHING_NAMES, name.as_str()))
        || token.as_text().is_some_and(|text| {
            ["http://", "https://", "curl ", "wget "]
                .iter()
                .any(|start| text.starts_with(start))
        })
}

/// Returns whether arguments ask for a whole tree.
pub fn has_recursive_flag(arguments: &[CodeToken]) -> bool {
    let names = arguments.iter().filter_map(|token| match token {
        CodeToken::Name(name) => Some(name.as_str()),
        CodeToken::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let mut names = names.skip_while(|name| {
        !matches!(
            *name,
            "recursive" | "Recursive" | "-rf" | "-fr" | "-r" | "-R" | "--recursive"
        )
    });
    names.next().is_some() && !matches!(names.next(), Some("false" | "False" | "FALSE"))
}

/// Returns whether a token is a mode for all users: `0o777`, `0777`, `511`, `"777"`.
pub fn grants_everybody(token: &CodeToken) -> bool {
    let text = match token {
        CodeToken::Name(text) | CodeToken::Text(text) => text.as_str(),
        CodeToken::Command(_) | CodeToken::Mark(_) => return false,
    };
    matches!(
        text,
        "0o777"
            | "0777"
            | "511"
            | "777"
            | "0x1ff"
            | "0x1FF"
            | "0o0777"
            | "a+rwx"
            | "ugo+rwx"
            | "S_IRWXO"
            | "0O777"
            | "u=rwx,g=rwx,o=rwx"
            | "0o1777"
    )
}
