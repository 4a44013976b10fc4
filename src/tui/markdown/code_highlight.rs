//! Highlights code line by line: keywords, strings, comments and numbers.
//!
//! Languages are data without a grammar. A string that spans several lines is recognized if the caller knows that it is open.

use std::iter;
use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::Span;

use super::code_style;
use crate::tui::theme;

/// The syntax of a language, as far as highlighting needs it.
#[derive(Debug, PartialEq, Eq)]
pub struct LanguageSyntax {
    /// Its names in fences, separated by spaces.
    names: &'static str,
    /// The starts of comments, separated by spaces.
    comments: &'static str,
    /// The quotes whose strings may span lines.
    long_quotes: &'static str,
    /// Its keywords, separated by spaces.
    keywords: &'static str,
}

#[rustfmt::skip]
const LANGUAGES: &[LanguageSyntax] = &[
    LanguageSyntax { names: "rust rs", comments: "//", long_quotes: "\"", keywords: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while" },
    LanguageSyntax { names: "python py", comments: "#", long_quotes: "\"'", keywords: "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return self True try while with yield" },
    LanguageSyntax { names: "javascript js jsx typescript ts tsx", comments: "//", long_quotes: "`", keywords: "as async await break case catch class const continue default delete do else enum export extends false finally for from function if implements import in instanceof interface let new null of private public readonly return static super switch this throw true try type typeof undefined var void while yield" },
    LanguageSyntax { names: "go golang", comments: "//", long_quotes: "`", keywords: "break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var" },
    LanguageSyntax { names: "c h cpp c++ hpp cc java kotlin swift cs csharp", comments: "//", long_quotes: "", keywords: "auto bool break case catch char class const continue default do double else enum extends extern false final float for func fun goto if implements import int interface let long namespace new null nullptr override package private protected public return short signed sizeof static struct super switch template this throw true try typedef union unsigned using val var virtual void volatile while" },
    LanguageSyntax { names: "sh bash zsh shell console fish", comments: "#", long_quotes: "\"'", keywords: "case do done elif else esac exit export fi for function if in local return set shift source then until while" },
    LanguageSyntax { names: "ruby rb", comments: "#", long_quotes: "\"'", keywords: "begin break case class def do else elsif end ensure false for if in module next nil not or require rescue return self then true unless until when while yield" },
    LanguageSyntax { names: "sql", comments: "--", long_quotes: "", keywords: "and as by case create delete distinct drop else end from group having in index inner insert into is join left limit not null on or order outer select set table then union update values when where with AND AS BY CASE CREATE DELETE DISTINCT DROP ELSE END FROM GROUP HAVING IN INDEX INNER INSERT INTO IS JOIN LEFT LIMIT NOT NULL ON OR ORDER OUTER SELECT SET TABLE THEN UNION UPDATE VALUES WHEN WHERE WITH" },
    LanguageSyntax { names: "toml yaml yml ini make makefile dockerfile", comments: "#", long_quotes: "", keywords: "true false null yes no on off" },
    LanguageSyntax { names: "php", comments: "// #", long_quotes: "\"'", keywords: "abstract and array as break case catch class const continue default do echo else elseif extends false final finally fn for foreach function global if implements include instanceof interface match namespace new null or private protected public readonly require return static switch this throw trait true try use var while yield" },
    LanguageSyntax { names: "lua", comments: "--", long_quotes: "", keywords: "and break do else elseif end false for function goto if in local nil not or repeat return then true until while" },
    LanguageSyntax { names: "haskell hs elm", comments: "--", long_quotes: "", keywords: "as case class data deriving do else hiding if import in infix infixl infixr instance let module newtype of port qualified then type where" },
    LanguageSyntax { names: "elixir ex exs erlang erl", comments: "# %", long_quotes: "", keywords: "after and begin case catch cond def defmodule defp defstruct do else end false fn for fun if import in nil not of or quote receive rescue true try unless use when with" },
    LanguageSyntax { names: "scala groovy gradle dart zig", comments: "//", long_quotes: "", keywords: "abstract as async await break case catch class const comptime continue def default defer do else enum export extends extension false final finally fn for given if implements implicit import in interface late lazy match mixin new null object override package private protected pub public required return sealed static struct super switch test this throw trait true try type undefined union until using val var void while with yield" },
    LanguageSyntax { names: "r perl pl julia jl nim", comments: "#", long_quotes: "\"'", keywords: "and begin break const do else elseif elsif end export false FALSE for foreach function if import in last let local macro module my NA next not NULL or our package proc repeat require return struct sub then true TRUE type unless until use using var when while" },
    LanguageSyntax { names: "css scss sass less", comments: "// /*", long_quotes: "", keywords: "auto block flex grid important inherit initial none solid @media @import @mixin @include @use var" },
    LanguageSyntax { names: "html xml svg vue svelte", comments: "<!--", long_quotes: "", keywords: "a body button class div form h1 h2 h3 head href html id img input label li link meta p script span src style table td title tr type ul" },
    LanguageSyntax { names: "clojure clj lisp elisp scheme racket", comments: ";", long_quotes: "", keywords: "and cond def define defmacro defn defun do else false fn if lambda let loop nil not ns or quote recur require set true when" },
    LanguageSyntax { names: "proto protobuf graphql gql hcl terraform tf nix", comments: "# //", long_quotes: "", keywords: "else enum extend false for fragment if import in inherit input interface let locals map message module mutation null oneof option output package provider query rec repeated reserved resource returns rpc scalar schema service subscription syntax then true type union variable with" },
    LanguageSyntax { names: "powershell ps1 pwsh", comments: "#", long_quotes: "", keywords: "begin break catch class continue do else elseif end enum exit finally for foreach function if in param process return switch throw trap try until using while" },
    LanguageSyntax { names: "json jsonc json5", comments: "//", long_quotes: "", keywords: "true false null" },
];

/// The language of a code block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HighlightLanguage {
    Unknown,
    /// Not code but a text.
    Prose,
    Diff,
    Known(&'static LanguageSyntax),
}

impl HighlightLanguage {
    /// Returns the language that a fence names.
    pub fn from_info(info: &str) -> Self {
        let name = info.split([' ', ',', '{', ':']).next().unwrap_or("");
        let name = name.trim_start_matches('.').to_ascii_lowercase();
        if matches!(name.as_str(), "diff" | "patch") {
            return Self::Diff;
        }
        if matches!(name.as_str(), "markdown" | "md" | "text" | "txt") || name.ends_with(".md") {
            return Self::Prose;
        }
        let has_name = |words: &&LanguageSyntax| words.names.split(' ').any(|known| known == name);
        match LANGUAGES.iter().find(has_name) {
            Some(words) => Self::Known(words),
            None => Self::Unknown,
        }
    }

    /// Returns the language of a file; of an unknown one, plain text.
    pub fn from_file_name(name: &str) -> Self {
        let name = name.rsplit('/').next().unwrap_or(name);
        let extension = name.rsplit('.').next().unwrap_or(name);
        match Self::from_info(extension) {
            Self::Unknown | Self::Diff => Self::Prose,
            known => known,
        }
    }

    pub fn highlight_line<'a>(&self, line: &'a str, base: Style) -> Vec<Span<'a>> {
        match self {
            Self::Unknown => vec![Span::styled(line, code_style(base))],
            Self::Prose => vec![Span::styled(line, base)],
            Self::Diff => vec![Span::styled(line, base.patch(diff_line_style(line)))],
            Self::Known(words) => words.highlight_line(line, base),
        }
    }

    /// Highlights a line of which the first and the last bytes belong to strings that other lines end or begin.
    pub fn highlight_between_strings<'a>(
        &self,
        line: &'a str,
        code: Range<usize>,
        base: Style,
    ) -> Vec<Span<'a>> {
        let part = |bytes: Range<usize>| line.get(bytes).unwrap_or_default();
        let string = |bytes| Span::styled(part(bytes), base.patch(theme::GOOD));
        let mut spans = vec![string(0..code.start)];
        spans.extend(self.highlight_line(part(code.clone()), base));
        spans.push(string(code.end..line.len()));
        spans
    }

    /// Returns where a line opens a string that it leaves open, in bytes, and the quote; `None` also if its language has no strings
    /// over several lines.
    pub fn find_open_quote(&self, line: &str) -> Option<(usize, char)> {
        let Self::Known(syntax) = self else {
            return None;
        };
        syntax.find_open_quote(line)
    }
}

/// Returns the end of the string in which a text begins; `None` if it goes on in the next line.
pub fn find_quote(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
    None
}

fn diff_line_style(line: &str) -> Style {
    match line.chars().next() {
        Some('+') => theme::GOOD,
        Some('-') => theme::BAD,
        Some('@') => theme::CODE,
        _ => theme::PLAIN,
    }
}

impl LanguageSyntax {
    fn highlight_line<'a>(&self, line: &'a str, base: Style) -> Vec<Span<'a>> {
        let tokens = self.tokens(line);
        tokens
            .map(|(part, style)| Span::styled(part, base.patch(style)))
            .collect()
    }

    /// Splits a line into its tokens, each with its style.
    fn tokens<'a>(&self, line: &'a str) -> impl Iterator<Item = (&'a str, Style)> {
        let mut rest = line;
        let mut before = ' ';
        iter::from_fn(move || {
            let (n_bytes, style) = self.next_token(rest, rest.chars().next()?, before);
            let (part, after) = rest.split_at(n_bytes);
            before = part.chars().next_back().unwrap_or(' ');
            rest = after;
            Some((part, style))
        })
    }

    fn find_open_quote(&self, line: &str) -> Option<(usize, char)> {
        let mut at = 0;
        self.tokens(line).find_map(|(part, style)| {
            let place = at;
            at += part.len();
            // A quote of one character has no partner in this line.
            let mut quotes = self.long_quotes.chars();
            let quote = quotes.find(|quote| part.strip_prefix(*quote) == Some(""))?;
            (style == theme::PLAIN).then_some((place, quote))
        })
    }

    /// Returns the length of the first token, at least one character, and its style.
    fn next_token(&self, text: &str, c: char, before: char) -> (usize, Style) {
        let begins = |mark: &str| text.starts_with(mark);
        if !before.is_alphanumeric() && self.comments.split(' ').any(begins) && before != '$' {
            return (text.len(), theme::COMMENT);
        }
        if matches!(c, '"' | '\'' | '`')
            && let Some(end) = find_string_end(text, c)
        {
            return (end, theme::GOOD);
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if !is_word(c) {
            let end = text.find(is_word).unwrap_or(text.len());
            let other = text.char_indices().skip(1);
            let special = other.map(|(at, _)| at).next().unwrap_or(text.len());
            // Signs can start a string or a comment, so they are consumed one by one.
            return (special.min(end.max(1)), theme::PLAIN);
        }
        let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
        let word = text.get(..end).unwrap_or(text);
        let style = match c {
            '0'..='9' => theme::CODE,
            _ if self.keywords.split(' ').any(|kept| kept == word) => theme::KEYWORD,
            _ => theme::PLAIN,
        };
        (end, style)
    }
}

/// Returns the end of the string at the start of a text; a single quote without a partner starts none.
fn find_string_end(text: &str, quote: char) -> Option<usize> {
    let first = quote.len_utf8();
    find_quote(text.get(first..)?, quote).map(|end| end + first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(language: &str, line: &str, wanted: &str) {
        let spans = HighlightLanguage::from_info(language).highlight_line(line, Style::new());
        let parts = spans.iter().filter_map(|span| {
            let sign = match span.style {
                style if style == theme::KEYWORD => "word",
                style if style == theme::GOOD => "text",
                style if style == theme::COMMENT => "comment",
                style if style == theme::CODE => "code",
                style if style == theme::BAD => "gone",
                _ => return None,
            };
            Some(format!("{sign}:{}", span.content))
        });
        assert_eq!(parts.collect::<Vec<String>>().join("|"), wanted);
        let all: String = spans.iter().map(|span| span.content.as_ref()).collect();
        assert_eq!(all, line);
    }

    #[test]
    fn words_texts_comments_and_numbers_are_told_apart() {
        check(
            "rust",
            "let x = \"a // b\"; // 注",
            "word:let|text:\"a // b\"|comment:// 注",
        );
        check(
            "python",
            "def f(n): return 'é' + str(10)",
            "word:def|word:return|text:'é'|code:10",
        );
        check(
            "sh",
            "echo $# \"${a#b}\" # c",
            "text:\"${a#b}\"|comment:# c",
        );
        check(
            "rs,ignore",
            "fn it<'a>(s: &'a str)",
            "word:fn|text:'a>(s: &'",
        );
        check("diff", "-gone", "gone:-gone");
        check("", "fn x", "code:fn x");
        check("goal.md", "# for you", "");
        check(
            "lua",
            "local x = nil -- c",
            "word:local|word:nil|comment:-- c",
        );
        check("php", "return 1; # c", "word:return|code:1|comment:# c");
    }
}
