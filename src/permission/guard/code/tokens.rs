//! Code cut into names, strings and marks; comments dropped.
//!
//! It refuses to know grammar; a quote that is never closed holds the rest of the text.

use crate::permission::shell::UNKNOWN;

use super::Language;
use super::names::FETCHING_NAMES;
use crate::permission::word_list::is_in_word_list;

/// A piece of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// A name or number.
    Name(String),
    /// A string; what is put into it at run time stands as unknown.
    Text(String),
    /// A string that a shell runs: backticks of perl, ruby and php, `%x()`, `qx()`, tagged templates.
    Command(String),
    /// Any other character; a line's end is `\n`.
    Mark(char),
}

impl Token {
    /// The text of a string.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Name(_) | Self::Command(_) | Self::Mark(_) => None,
        }
    }
}

/// Cuts code into tokens. Linear.
pub fn tokens(text: &str, language: Language) -> Vec<Token> {
    let mut cutter = Cutter {
        chars: text.chars().collect(),
        at: 0,
        language,
        tokens: Vec::new(),
    };
    while cutter.at < cutter.chars.len() {
        cutter.next();
    }
    cutter.tokens
}

struct Cutter {
    chars: Vec<char>,
    at: usize,
    language: Language,
    tokens: Vec<Token>,
}

impl Cutter {
    fn peek(&self, by: usize) -> Option<char> {
        self.chars.get(self.at + by).copied()
    }

    fn next(&mut self) {
        let Some(c) = self.peek(0) else {
            return;
        };
        if self.skips_comment(c) {
            return;
        }
        match c {
            '\n' => self.mark('\n'),
            c if c.is_whitespace() => self.at += 1,
            '\'' | '"' => self.string(c),
            '`' => self.backtick(),
            '%' if self.language == Language::Ruby && self.peek(1) == Some('x') => {
                self.delimited(2)
            }
            // `%w[rm -rf x]`: a list of texts.
            '%' if self.language == Language::Ruby
                && matches!(self.peek(1), Some('w' | 'W'))
                && matches!(self.peek(2), Some('(' | '[' | '{' | '<')) =>
            {
                self.at += 2;
                for word in self.until_delimiter().split_whitespace() {
                    self.tokens.push(Token::Text(word.to_owned()));
                    self.tokens.push(Token::Mark(','));
                }
            }
            c if is_name(c) => self.name(),
            c => self.mark(c),
        }
    }

    fn mark(&mut self, c: char) {
        self.tokens.push(Token::Mark(c));
        self.at += 1;
    }

    fn skips_comment(&mut self, c: char) -> bool {
        let next = self.peek(1);
        let is_line = match self.language {
            Language::JavaScript => {
                c == '/'
                    && next == Some('/')
                    && self.chars.get(self.at.wrapping_sub(1)) != Some(&':')
            }
            Language::Php => c == '#' || (c == '/' && next == Some('/')),
            Language::Lua => c == '-' && next == Some('-'),
            Language::Perl => {
                c == '#'
                    && self.at.checked_sub(1).is_none_or(|before| {
                        self.chars
                            .get(before)
                            .is_none_or(|before| before.is_whitespace() || *before == ';')
                    })
            }
            Language::Other => {
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
        let is_block = matches!(self.language, Language::JavaScript | Language::Php)
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

    fn name(&mut self) {
        let from = self.at;
        while self
            .peek(0)
            .is_some_and(|c| is_name(c) || (c == '!' && self.language == Language::Other))
        {
            self.at += 1;
        }
        let name: String = self
            .chars
            .get(from..self.at)
            .unwrap_or_default()
            .iter()
            .collect();
        let is_quoting =
            matches!(name.as_str(), "qx" | "q" | "qq" | "qw") && self.language == Language::Perl;
        let opens = self.peek(0).is_some_and(|c| {
            !c.is_whitespace() && !c.is_alphanumeric() && !matches!(c, ',' | ';' | '=' | ')')
        });
        if is_quoting && opens {
            let text = self.until_delimiter();
            match name.as_str() {
                "qx" => self.tokens.push(Token::Command(text)),
                "qw" => {
                    for word in text.split_whitespace() {
                        self.tokens.push(Token::Text(word.to_owned()));
                        self.tokens.push(Token::Mark(','));
                    }
                }
                _ => self.tokens.push(Token::Text(text)),
            }
            return;
        }
        self.tokens.push(Token::Name(name));
    }

    fn delimited(&mut self, skipped: usize) {
        self.at += skipped;
        let text = self.until_delimiter();
        self.tokens.push(Token::Command(text));
    }

    /// From an opening bracket or mark to the one that closes it.
    fn until_delimiter(&mut self) -> String {
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

    /// A backtick runs a shell, but in JavaScript, where a name before it decides.
    fn backtick(&mut self) {
        let text = self.quoted('`', 1);
        let is_tagged = matches!(self.tokens.last(), Some(Token::Name(name)) if name.ends_with('$') || name == "sh" || name == "exec");
        let token = match self.language {
            Language::JavaScript if !is_tagged => Token::Text(text),
            Language::JavaScript
            | Language::Perl
            | Language::Ruby
            | Language::Php
            | Language::Other => Token::Command(text),
            _ => Token::Text(text),
        };
        self.tokens.push(token);
    }

    fn string(&mut self, quote: char) {
        let is_triple = matches!(self.language, Language::Python | Language::Other)
            && self.peek(1) == Some(quote)
            && self.peek(2) == Some(quote);
        let is_formatted = matches!(self.tokens.last(), Some(Token::Name(name)) if matches!(name.as_str(), "f" | "F" | "rf" | "fr"))
            && self.language == Language::Python;
        let is_prefixed = self.at > 0
            && self.language == Language::Python
            && matches!(self.tokens.last(), Some(Token::Name(name)) if matches!(name.as_str(), "f" | "F" | "rf" | "fr" | "r" | "b" | "R" | "B" | "u" | "rb" | "br"));
        if is_prefixed {
            self.tokens.pop();
        }
        let mut text = self.quoted(quote, if is_triple { 3 } else { 1 });
        if is_formatted {
            text = without_braces(&text, "{");
        } else if self.language == Language::Ruby && quote == '"' {
            text = without_braces(&text, "#{");
        }
        self.tokens.push(Token::Text(text));
    }

    fn quoted(&mut self, quote: char, n_quotes: usize) -> String {
        self.at += n_quotes;
        let mut text = String::new();
        while let Some(c) = self.peek(0) {
            if c == quote && (0..n_quotes).all(|by| self.peek(by) == Some(quote)) {
                self.at += n_quotes;
                break;
            }
            self.at += 1;
            if c == '\\' {
                self.escape(&mut text);
            } else {
                text.push(c);
            }
        }
        match (quote, self.language) {
            ('`', Language::JavaScript) => without_braces(&text, "${"),
            _ => text,
        }
    }

    fn escape(&mut self, text: &mut String) {
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

/// What stands in braces behind a mark is put in at run time.
pub fn without_braces(text: &str, open: &str) -> String {
    let mut bare = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(open) {
        bare.push_str(before);
        bare.push(UNKNOWN);
        rest = behind.split_once('}').map_or("", |(_, behind)| behind);
    }
    bare.push_str(rest);
    bare
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$' || c == UNKNOWN || c == '@'
}

/// The texts among tokens.
pub fn texts_of(tokens: &[Token]) -> impl Iterator<Item = &str> {
    tokens.iter().filter_map(Token::as_text)
}

/// Tells whether a token speaks of fetching or decoding.
pub fn is_fetching(token: &Token) -> bool {
    matches!(token, Token::Name(name) if is_in_word_list(FETCHING_NAMES, name.as_str()))
        || token.as_text().is_some_and(|text| {
            ["http://", "https://", "curl ", "wget "]
                .iter()
                .any(|start| text.starts_with(start))
        })
}

/// Tells whether arguments ask for a whole tree.
pub fn has_tree_flag(arguments: &[Token]) -> bool {
    let names = arguments.iter().filter_map(|token| match token {
        Token::Name(name) => Some(name.as_str()),
        Token::Text(text) => Some(text.as_str()),
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

/// `0o777`, `0777`, `511`, `"777"`.
pub fn is_everybody(token: &Token) -> bool {
    let text = match token {
        Token::Name(text) | Token::Text(text) => text.as_str(),
        Token::Command(_) | Token::Mark(_) => return false,
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
