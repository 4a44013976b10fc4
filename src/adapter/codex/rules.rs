//! codex's own rules files: which of their rules let a command out of its sandbox unasked.
//!
//! They are Starlark. Refuses to run them: what is no plain `prefix_rule` with a decision that says prompt or
//! forbidden is taken for one that allows.

use std::iter::Peekable;
use std::str::CharIndices;

/// A rule by which codex runs commands outside of its sandbox without asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piercing {
    /// Where it begins in its file, from 1.
    pub line: usize,
    /// The words that a command begins with, as far as they stand there.
    pub words: Vec<String>,
    /// What the first word may be; empty where that is not known.
    firsts: Vec<String>,
}

impl Piercing {
    /// Tells whether a rule may let a part of this command out; never no for one that it does.
    pub fn may_meet(&self, command: &str) -> bool {
        // Quotes and backslashes in a word change nothing for a shell.
        let plain: String = command
            .chars()
            .filter(|character| !"'\"\\".contains(*character))
            .collect();
        self.firsts.is_empty() || self.firsts.iter().any(|first| plain.contains(first))
    }
}

/// A part of a rules file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Text(String),
    Sign(char),
}

/// Lists the rules of a file that pierce the sandbox, in its order.
pub fn piercing(text: &str) -> Vec<Piercing> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    for (at, (line, token)) in tokens.iter().enumerate() {
        let is_rule = *token == Token::Word("prefix_rule".to_owned());
        if !is_rule {
            continue;
        }
        let rest = tokens.get(at.saturating_add(1)..).unwrap_or_default();
        let call = match rest.first() {
            Some((_, Token::Sign('('))) => arguments(rest),
            // Another name for the function: whatever is called by it.
            Some(_) | None => &[],
        };
        if !holds(call) {
            let pattern = argument(call, "pattern");
            found.push(Piercing {
                line: *line,
                words: texts(pattern),
                firsts: firsts(pattern),
            });
        }
    }
    found
}

/// The tokens between a call's parentheses.
fn arguments(rest: &[(usize, Token)]) -> &[(usize, Token)] {
    let mut depth = 0_usize;
    for (at, (_, token)) in rest.iter().enumerate() {
        match token {
            Token::Sign('(' | '[' | '{') => depth = depth.saturating_add(1),
            Token::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Token::Sign(_) | Token::Word(_) | Token::Text(_) => {}
        }
        if depth == 0 {
            return rest.get(1..at).unwrap_or_default();
        }
    }
    &[]
}

/// What a named argument is given; empty where it is not.
fn argument<'a>(call: &'a [(usize, Token)], name: &str) -> &'a [(usize, Token)] {
    let mut depth = 0_usize;
    let mut begin = None;
    for (at, (_, token)) in call.iter().enumerate() {
        match token {
            Token::Sign('(' | '[' | '{') => depth = depth.saturating_add(1),
            Token::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Token::Sign(',') if depth == 0 => match begin {
                Some(begin) => return call.get(begin..at).unwrap_or_default(),
                None => continue,
            },
            Token::Word(word) if depth == 0 && begin.is_none() && word == name => {
                let next = call.get(at.saturating_add(1)).map(|(_, token)| token);
                if next == Some(&Token::Sign('=')) {
                    begin = Some(at.saturating_add(2));
                }
            }
            Token::Sign(_) | Token::Word(_) | Token::Text(_) => {}
        }
    }
    begin
        .and_then(|begin| call.get(begin..))
        .unwrap_or_default()
}

/// Tells whether the decision is one that keeps the command in, written out.
fn holds(call: &[(usize, Token)]) -> bool {
    match argument(call, "decision") {
        [(_, Token::Text(decision))] => ["prompt", "forbidden"].contains(&decision.as_str()),
        _ => false,
    }
}

fn texts(tokens: &[(usize, Token)]) -> Vec<String> {
    let text = |(_, token): &(usize, Token)| match token {
        Token::Text(text) => Some(text.clone()),
        Token::Word(_) | Token::Sign(_) => None,
    };
    tokens.iter().filter_map(text).collect()
}

/// What the first word of a pattern may be: a text, or one of a list of texts.
fn firsts(pattern: &[(usize, Token)]) -> Vec<String> {
    match pattern {
        [
            (_, Token::Sign('[')),
            (_, Token::Text(first)),
            (_, Token::Sign(',' | ']')),
            ..,
        ] => {
            vec![first.clone()]
        }
        [(_, Token::Sign('[')), rest @ ..] => {
            let listed = matches!(rest, [(_, Token::Sign('[')), ..]);
            let list = if listed { arguments(rest) } else { &[] };
            let plain = list
                .iter()
                .all(|(_, token)| matches!(token, Token::Text(_) | Token::Sign(',')));
            if plain { texts(list) } else { Vec::new() }
        }
        _ => Vec::new(),
    }
}

/// Cuts a file into words, texts and signs, each with its line; comments are left out.
fn tokens(text: &str) -> Vec<(usize, Token)> {
    let mut tokens = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line_number = index.saturating_add(1);
        let mut characters = line.char_indices().peekable();
        while let Some((_, character)) = characters.next() {
            match character {
                '#' => break,
                '"' | '\'' => {
                    tokens.push((line_number, Token::Text(quoted(&mut characters, character))));
                }
                _ if is_word(character) => {
                    let mut word = String::from(character);
                    while let Some((_, next)) = characters.next_if(|(_, next)| is_word(*next)) {
                        word.push(next);
                    }
                    tokens.push((line_number, Token::Word(word)));
                }
                _ if character.is_whitespace() => {}
                _ => tokens.push((line_number, Token::Sign(character))),
            }
        }
    }
    tokens
}

/// Takes a text up to its quote; one that goes on in the next line ends here.
fn quoted(characters: &mut Peekable<CharIndices<'_>>, quote: char) -> String {
    let mut text = String::new();
    while let Some((_, character)) = characters.next() {
        match character {
            '\\' => text.extend(characters.next().map(|(_, escaped)| escaped)),
            _ if character == quote => break,
            _ => text.push(character),
        }
    }
    text
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Vec<String> {
        let told = |rule: Piercing| format!("{}: {}", rule.line, rule.words.join(" "));
        piercing(text).into_iter().map(told).collect()
    }

    #[test]
    fn rules_that_allow_are_found_with_their_lines() {
        let text = r#"# prefix_rule(pattern=["rm"], decision="allow")
prefix_rule(pattern = ["git", "push"], decision = "prompt", justification = "decision=\"allow\"")
prefix_rule(
    pattern = ["cargo", ["build", "test"]],
    decision = "allow",  # fine
)
prefix_rule(pattern=['npm', 'publish'], decision='forbidden')
prefix_rule(pattern=["make"])
"#;
        assert_eq!(check(text), ["3: cargo build test", "8: make"]);
    }

    #[test]
    fn what_cannot_be_told_is_taken_for_an_allow() {
        for text in [
            "rule = prefix_rule\nrule(pattern=[\"a\"], decision=\"prompt\")",
            "prefix_rule(pattern=[\"a\"], decision=WORD)",
            "prefix_rule(pattern=[\"a\"], decision=\"pro\" + \"mpt\")",
            "prefix_rule(pattern=[\"a\"], decision=\"prompt\" if X else \"allow\")",
            "prefix_rule(**RULE)",
            "prefix_rule(pattern=[\"a\"], decision=\"prompt\"",
        ] {
            assert_eq!(piercing(text).len(), 1, "{text}");
        }
        assert_eq!(
            check("other_rule(decision=\"allow\")"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_command_is_met_by_its_first_word_wherever_it_stands() {
        let meets =
            |rule: &str, command: &str| piercing(rule).iter().all(|rule| rule.may_meet(command));
        let git = r#"prefix_rule(pattern=["git", "push"], decision="allow")"#;
        assert!(meets(git, "cd x && git push"));
        assert!(meets(git, "bash -c 'g\"it\" push'"));
        assert!(!meets(git, "ls -la"));
        let either = r#"prefix_rule(pattern=[["npm", "yarn"], "run"], decision="allow")"#;
        assert!(meets(either, "yarn run x"));
        assert!(!meets(either, "pnpx"));
        assert!(meets(
            "prefix_rule(pattern=[TOOL], decision=\"allow\")",
            "anything"
        ));
    }
}
