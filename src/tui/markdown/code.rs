//! Code with its words, strings, comments and numbers told apart, line by line.
//!
//! Knows languages as data and no grammar: what spans several lines is not followed.

use ratatui::style::Style;
use ratatui::text::Span;

use super::code_style;
use crate::tui::theme;

/// What is known of a language.
#[derive(Debug, PartialEq, Eq)]
pub struct Words {
    /// Its names in fences, between blanks.
    names: &'static str,
    /// What begins a comment, between blanks.
    comments: &'static str,
    /// The words that it keeps for itself, between blanks.
    kept: &'static str,
}

#[rustfmt::skip]
const LANGUAGES: &[Words] = &[
    Words { names: "rust rs", comments: "//", kept: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while" },
    Words { names: "python py", comments: "#", kept: "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return self True try while with yield" },
    Words { names: "javascript js jsx typescript ts tsx", comments: "//", kept: "as async await break case catch class const continue default delete do else enum export extends false finally for from function if implements import in instanceof interface let new null of private public readonly return static super switch this throw true try type typeof undefined var void while yield" },
    Words { names: "go golang", comments: "//", kept: "break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var" },
    Words { names: "c h cpp c++ hpp cc java kotlin swift cs csharp", comments: "//", kept: "auto bool break case catch char class const continue default do double else enum extends extern false final float for func fun goto if implements import int interface let long namespace new null nullptr override package private protected public return short signed sizeof static struct super switch template this throw true try typedef union unsigned using val var virtual void volatile while" },
    Words { names: "sh bash zsh shell console fish", comments: "#", kept: "case do done elif else esac exit export fi for function if in local return set shift source then until while" },
    Words { names: "ruby rb", comments: "#", kept: "begin break case class def do else elsif end ensure false for if in module next nil not or require rescue return self then true unless until when while yield" },
    Words { names: "sql", comments: "--", kept: "and as by case create delete distinct drop else end from group having in index inner insert into is join left limit not null on or order outer select set table then union update values when where with AND AS BY CASE CREATE DELETE DISTINCT DROP ELSE END FROM GROUP HAVING IN INDEX INNER INSERT INTO IS JOIN LEFT LIMIT NOT NULL ON OR ORDER OUTER SELECT SET TABLE THEN UNION UPDATE VALUES WHEN WHERE WITH" },
    Words { names: "toml yaml yml ini make makefile dockerfile", comments: "#", kept: "true false null yes no on off" },
    Words { names: "php", comments: "// #", kept: "abstract and array as break case catch class const continue default do echo else elseif extends false final finally fn for foreach function global if implements include instanceof interface match namespace new null or private protected public readonly require return static switch this throw trait true try use var while yield" },
    Words { names: "lua", comments: "--", kept: "and break do else elseif end false for function goto if in local nil not or repeat return then true until while" },
    Words { names: "haskell hs elm", comments: "--", kept: "as case class data deriving do else hiding if import in infix infixl infixr instance let module newtype of port qualified then type where" },
    Words { names: "elixir ex exs erlang erl", comments: "# %", kept: "after and begin case catch cond def defmodule defp defstruct do else end false fn for fun if import in nil not of or quote receive rescue true try unless use when with" },
    Words { names: "scala groovy gradle dart zig", comments: "//", kept: "abstract as async await break case catch class const comptime continue def default defer do else enum export extends extension false final finally fn for given if implements implicit import in interface late lazy match mixin new null object override package private protected pub public required return sealed static struct super switch test this throw trait true try type undefined union until using val var void while with yield" },
    Words { names: "r perl pl julia jl nim", comments: "#", kept: "and begin break const do else elseif elsif end export false FALSE for foreach function if import in last let local macro module my NA next not NULL or our package proc repeat require return struct sub then true TRUE type unless until use using var when while" },
    Words { names: "css scss sass less", comments: "// /*", kept: "auto block flex grid important inherit initial none solid @media @import @mixin @include @use var" },
    Words { names: "html xml svg vue svelte", comments: "<!--", kept: "a body button class div form h1 h2 h3 head href html id img input label li link meta p script span src style table td title tr type ul" },
    Words { names: "clojure clj lisp elisp scheme racket", comments: ";", kept: "and cond def define defmacro defn defun do else false fn if lambda let loop nil not ns or quote recur require set true when" },
    Words { names: "proto protobuf graphql gql hcl terraform tf nix", comments: "# //", kept: "else enum extend false for fragment if import in inherit input interface let locals map message module mutation null oneof option output package provider query rec repeated reserved resource returns rpc scalar schema service subscription syntax then true type union variable with" },
    Words { names: "powershell ps1 pwsh", comments: "#", kept: "begin break catch class continue do else elseif end enum exit finally for foreach function if in param process return switch throw trap try until using while" },
    Words { names: "json jsonc json5", comments: "//", kept: "true false null" },
];

/// The language of a block of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Nothing is known of it.
    Unknown,
    /// It is no code but a text.
    Prose,
    /// Changes, a line each.
    Diff,
    /// One of those that are known.
    Known(&'static Words),
}

impl Language {
    /// The language that a fence names.
    pub fn named(info: &str) -> Self {
        let name = info.split([' ', ',', '{', ':']).next().unwrap_or("");
        let name = name.trim_start_matches('.').to_ascii_lowercase();
        if matches!(name.as_str(), "diff" | "patch") {
            return Self::Diff;
        }
        if matches!(name.as_str(), "markdown" | "md" | "text" | "txt") || name.ends_with(".md") {
            return Self::Prose;
        }
        let has_name = |words: &&Words| words.names.split(' ').any(|known| known == name);
        match LANGUAGES.iter().find(has_name) {
            Some(words) => Self::Known(words),
            None => Self::Unknown,
        }
    }

    /// Styles a line.
    pub fn spans<'a>(&self, line: &'a str, base: Style) -> Vec<Span<'a>> {
        match self {
            Self::Unknown => vec![Span::styled(line, code_style(base))],
            Self::Prose => vec![Span::styled(line, base)],
            Self::Diff => vec![Span::styled(line, base.patch(of_change(line)))],
            Self::Known(words) => words.spans(line, base),
        }
    }
}

fn of_change(line: &str) -> Style {
    match line.chars().next() {
        Some('+') => theme::GOOD,
        Some('-') => theme::BAD,
        Some('@') => theme::CODE,
        _ => theme::PLAIN,
    }
}

impl Words {
    fn spans<'a>(&self, line: &'a str, base: Style) -> Vec<Span<'a>> {
        let mut spans = Vec::new();
        let mut rest = line;
        let mut before = ' ';
        while let Some(c) = rest.chars().next() {
            let (n_bytes, style) = self.part(rest, c, before);
            let (part, after) = rest.split_at(n_bytes);
            spans.push(Span::styled(part, base.patch(style)));
            before = part.chars().next_back().unwrap_or(' ');
            rest = after;
        }
        spans
    }

    /// How long the first part of a text is, at least one character, and what it is.
    fn part(&self, text: &str, c: char, before: char) -> (usize, Style) {
        let begins = |mark: &str| text.starts_with(mark);
        if !before.is_alphanumeric() && self.comments.split(' ').any(begins) && before != '$' {
            return (text.len(), theme::QUIET);
        }
        if matches!(c, '"' | '\'' | '`')
            && let Some(end) = end_of_string(text, c)
        {
            return (end, theme::GOOD);
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if !is_word(c) {
            let end = text.find(is_word).unwrap_or(text.len());
            let other = text.char_indices().skip(1);
            let special = other.map(|(at, _)| at).next().unwrap_or(text.len());
            // Marks that may begin a string or a comment are looked at one by one.
            return (special.min(end.max(1)), theme::PLAIN);
        }
        let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
        let word = text.get(..end).unwrap_or(text);
        let style = match c {
            '0'..='9' => theme::CODE,
            _ if self.kept.split(' ').any(|kept| kept == word) => theme::KEY,
            _ => theme::PLAIN,
        };
        (end, style)
    }
}

/// Where the string ends that a text begins with; a lone quote begins none.
fn end_of_string(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(language: &str, line: &str, wanted: &str) {
        let spans = Language::named(language).spans(line, Style::new());
        let parts = spans.iter().filter_map(|span| {
            let sign = match span.style {
                style if style == theme::KEY => "word",
                style if style == theme::GOOD => "text",
                style if style == theme::QUIET => "comment",
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
