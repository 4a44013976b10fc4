//! Command lines that are nothing but words: no operator, redirect, substitution, variable or pattern.
//!
//! It refuses whatever it does not know to be plain, and refuses to know what the words do.

use thiserror::Error;

/// Why a line is not plain.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refused {
    /// The line holds a character that means something to a shell.
    #[error("`{0}` outside of quotes; use one command of plain words")]
    Special(char),
    /// Double quotes hold a character that still means something in them.
    #[error("`{0}` inside double quotes; use single quotes")]
    SpecialInQuotes(char),
    /// The line holds a newline or another control character.
    #[error("a line break or control character in a command")]
    Control,
    /// A quote is never closed.
    #[error("a quote is not closed")]
    OpenQuote,
    /// The line sets a variable.
    #[error("`{0}` sets a variable; use one command of plain words")]
    Assignment(String),
    /// There is no word.
    #[error("an empty command")]
    Empty,
}

/// Splits a line into its words, quotes taken off.
///
/// Single quotes hold anything but control characters; double quotes hold no `$`, backtick,
/// backslash or `!`. Outside of quotes only what no shell interprets may stand: patterns are refused
/// as well, since `.*` and `.?` can name the parent folder.
pub fn plain_words(line: &str) -> Result<Vec<String>, Refused> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => word
                .get_or_insert_default()
                .push_str(&quoted(&mut chars, '\'')?),
            '"' => word
                .get_or_insert_default()
                .push_str(&quoted(&mut chars, '"')?),
            _ if is_unsafe_control(c) => return Err(Refused::Control),
            '#' | '=' if word.is_none() => return Err(Refused::Special(c)),
            _ if is_special(c) => return Err(Refused::Special(c)),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    let Some(first) = words.first() else {
        return Err(Refused::Empty);
    };
    if first.is_empty() {
        return Err(Refused::Empty);
    }
    if first.contains('=') {
        return Err(Refused::Assignment(first.clone()));
    }
    Ok(words)
}

fn quoted(chars: &mut std::str::Chars<'_>, quote: char) -> Result<String, Refused> {
    let mut content = String::new();
    for c in chars {
        match c {
            _ if c == quote => return Ok(content),
            _ if is_unsafe_control(c) => return Err(Refused::Control),
            '$' | '`' | '\\' | '!' if quote == '"' => return Err(Refused::SpecialInQuotes(c)),
            _ => content.push(c),
        }
    }
    Err(Refused::OpenQuote)
}

/// Control characters, and those that make a line look other than it is.
fn is_unsafe_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn is_special(c: char) -> bool {
    matches!(
        c,
        ';' | '&'
            | '|'
            | '<'
            | '>'
            | '('
            | ')'
            | '{'
            | '}'
            | '['
            | ']'
            | '`'
            | '$'
            | '~'
            | '!'
            | '\\'
            | '*'
            | '?'
            | '^'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(line: &str, expected: &str) {
        let found = match plain_words(line) {
            Ok(words) => words.join("|"),
            Err(refused) => format!("refused: {refused}"),
        };
        assert_eq!(found, expected, "{line:?}");
    }

    #[test]
    fn plain_words_are_split_at_spaces() {
        check("ls -la  src", "ls|-la|src");
        check("\tcat a#b --x=y:z", "cat|a#b|--x=y:z");
        check("cat 漢字.md", "cat|漢字.md");
    }

    #[test]
    fn plain_quotes_are_taken_off() {
        check("grep -n 'a|b; $x *' \"c d\"", "grep|-n|a|b; $x *|c d");
        check("cat a'b'\"c\" ''", "cat|abc|");
    }

    #[test]
    fn what_a_shell_interprets_is_refused() {
        for c in ";&|<>(){}[]`$~!\\*?^".chars() {
            check(
                &format!("ls a{c}b"),
                &format!("refused: `{c}` outside of quotes; use one command of plain words"),
            );
        }
        check(
            "ls #x",
            "refused: `#` outside of quotes; use one command of plain words",
        );
        check(
            "ls =x",
            "refused: `=` outside of quotes; use one command of plain words",
        );
        for c in "$`\\!".chars() {
            check(
                &format!("ls \"a{c}b\""),
                &format!("refused: `{c}` inside double quotes; use single quotes"),
            );
        }
        for line in [
            "ls\nid",
            "ls\rid",
            "ls 'a\nb'",
            "ls \0",
            "ls a\u{202e}b",
            "ls \u{85}x",
        ] {
            check(
                line,
                "refused: a line break or control character in a command",
            );
        }
    }

    #[test]
    fn open_quotes_assignments_and_nothing_are_refused() {
        check("ls 'a", "refused: a quote is not closed");
        check("ls \"a", "refused: a quote is not closed");
        check(
            "X=1 ls",
            "refused: `X=1` sets a variable; use one command of plain words",
        );
        check("", "refused: an empty command");
        check("'' ls", "refused: an empty command");
    }

    proptest! {
        #[test]
        fn an_operator_outside_of_quotes_is_never_plain(left in "[a-z ./-]{0,8}('[a-z;]{0,3}'|\"[a-z;]{0,3}\"|)[a-z -]{0,4}", c in "[;&|<>(){}`$\n!*?~\\\\]", right in "[a-z ./-]{0,12}") {
            let line = format!("{left}{c}{right}");
            prop_assert!(plain_words(&line).is_err());
        }

        #[test]
        fn every_line_is_judged(line in any::<String>()) {
            if let Ok(words) = plain_words(&line) {
                prop_assert!(!words.is_empty());
                prop_assert!(!words.concat().chars().any(char::is_control));
            }
        }
    }
}
