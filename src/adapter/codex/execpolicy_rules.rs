//! Finds the rules in codex's own rules files that let a command out of its sandbox without asking.
//!
//! The files are Starlark, and they are not executed: everything that is not a plain `prefix_rule` with a decision
//! of prompt or forbidden counts as a rule that allows.

use std::iter::Peekable;
use std::str::CharIndices;

use crate::adapter::SandboxEscapeRule;

/// A part of a rules file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum StarlarkToken {
    Identifier(String),
    StringLiteral(String),
    Punctuation(char),
}

/// Lists the rules of a file that let commands out of the sandbox, in file order.
pub(super) fn parse_sandbox_escape_rules(text: &str) -> Vec<SandboxEscapeRule> {
    let tokens = tokenize(text);
    let mut found = Vec::new();
    for (at, (line, token)) in tokens.iter().enumerate() {
        let is_rule = *token == StarlarkToken::Identifier("prefix_rule".to_owned());
        if !is_rule {
            continue;
        }
        let rest = tokens.get(at.saturating_add(1)..).unwrap_or_default();
        let call = match rest.first() {
            Some((_, StarlarkToken::Punctuation('('))) => call_arguments(rest),
            // The function may be bound to another name, and then anything can call it.
            Some(_) | None => &[],
        };
        if !keeps_in_sandbox(call) {
            let pattern = keyword_argument(call, "pattern");
            found.push(SandboxEscapeRule {
                line: *line,
                pattern_words: string_literals(pattern),
                first_words: possible_first_words(pattern),
            });
        }
    }
    found
}

/// Returns the tokens between a call's parentheses.
fn call_arguments(rest: &[(usize, StarlarkToken)]) -> &[(usize, StarlarkToken)] {
    let mut depth = 0_usize;
    for (at, (_, token)) in rest.iter().enumerate() {
        match token {
            StarlarkToken::Punctuation('(' | '[' | '{') => depth = depth.saturating_add(1),
            StarlarkToken::Punctuation(')' | ']' | '}') => depth = depth.saturating_sub(1),
            StarlarkToken::Punctuation(_)
            | StarlarkToken::Identifier(_)
            | StarlarkToken::StringLiteral(_) => {}
        }
        if depth == 0 {
            return rest.get(1..at).unwrap_or_default();
        }
    }
    &[]
}

/// Returns the tokens of a named argument; empty if it is not given.
fn keyword_argument<'a>(
    call: &'a [(usize, StarlarkToken)],
    name: &str,
) -> &'a [(usize, StarlarkToken)] {
    let mut depth = 0_usize;
    let mut begin = None;
    for (at, (_, token)) in call.iter().enumerate() {
        match token {
            StarlarkToken::Punctuation('(' | '[' | '{') => depth = depth.saturating_add(1),
            StarlarkToken::Punctuation(')' | ']' | '}') => depth = depth.saturating_sub(1),
            StarlarkToken::Punctuation(',') if depth == 0 => match begin {
                Some(begin) => return call.get(begin..at).unwrap_or_default(),
                None => continue,
            },
            StarlarkToken::Identifier(word) if depth == 0 && begin.is_none() && word == name => {
                let next = call.get(at.saturating_add(1)).map(|(_, token)| token);
                if next == Some(&StarlarkToken::Punctuation('=')) {
                    begin = Some(at.saturating_add(2));
                }
            }
            StarlarkToken::Punctuation(_)
            | StarlarkToken::Identifier(_)
            | StarlarkToken::StringLiteral(_) => {}
        }
    }
    begin
        .and_then(|begin| call.get(begin..))
        .unwrap_or_default()
}

/// Returns whether the decision is a literal that keeps the command in the sandbox.
fn keeps_in_sandbox(call: &[(usize, StarlarkToken)]) -> bool {
    match keyword_argument(call, "decision") {
        [(_, StarlarkToken::StringLiteral(decision))] => {
            ["prompt", "forbidden"].contains(&decision.as_str())
        }
        _ => false,
    }
}

fn string_literals(tokens: &[(usize, StarlarkToken)]) -> Vec<String> {
    let text = |(_, token): &(usize, StarlarkToken)| match token {
        StarlarkToken::StringLiteral(text) => Some(text.clone()),
        StarlarkToken::Identifier(_) | StarlarkToken::Punctuation(_) => None,
    };
    tokens.iter().filter_map(text).collect()
}

/// Returns the possible first words of a pattern: one string, or one of a list of strings.
fn possible_first_words(pattern: &[(usize, StarlarkToken)]) -> Vec<String> {
    match pattern {
        [
            (_, StarlarkToken::Punctuation('[')),
            (_, StarlarkToken::StringLiteral(first)),
            (_, StarlarkToken::Punctuation(',' | ']')),
            ..,
        ] => {
            vec![first.clone()]
        }
        [(_, StarlarkToken::Punctuation('[')), rest @ ..] => {
            let listed = matches!(rest, [(_, StarlarkToken::Punctuation('[')), ..]);
            let list = if listed { call_arguments(rest) } else { &[] };
            let plain = list.iter().all(|(_, token)| {
                matches!(
                    token,
                    StarlarkToken::StringLiteral(_) | StarlarkToken::Punctuation(',')
                )
            });
            if plain {
                string_literals(list)
            } else {
                Vec::new()
            }
        }
        _ => Vec::new(),
    }
}

/// Splits a file into words, strings and signs, each with its line; comments are left out.
fn tokenize(text: &str) -> Vec<(usize, StarlarkToken)> {
    let mut tokens = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line_number = index.saturating_add(1);
        let mut characters = line.char_indices().peekable();
        while let Some((_, character)) = characters.next() {
            match character {
                '#' => break,
                '"' | '\'' => {
                    tokens.push((
                        line_number,
                        StarlarkToken::StringLiteral(lex_string_literal(
                            &mut characters,
                            character,
                        )),
                    ));
                }
                _ if is_identifier_char(character) => {
                    let mut word = String::from(character);
                    while let Some((_, next)) =
                        characters.next_if(|(_, next)| is_identifier_char(*next))
                    {
                        word.push(next);
                    }
                    tokens.push((line_number, StarlarkToken::Identifier(word)));
                }
                _ if character.is_whitespace() => {}
                _ => tokens.push((line_number, StarlarkToken::Punctuation(character))),
            }
        }
    }
    tokens
}

/// Reads a string up to its quote; a string that continues on the next line ends here.
fn lex_string_literal(characters: &mut Peekable<CharIndices<'_>>, quote: char) -> String {
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

fn is_identifier_char(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Vec<String> {
        let told =
            |rule: SandboxEscapeRule| format!("{}: {}", rule.line, rule.pattern_words.join(" "));
        parse_sandbox_escape_rules(text)
            .into_iter()
            .map(told)
            .collect()
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
            assert_eq!(parse_sandbox_escape_rules(text).len(), 1, "{text}");
        }
        assert_eq!(
            check("other_rule(decision=\"allow\")"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_command_is_met_by_its_first_word_wherever_it_stands() {
        let meets = |rule: &str, command: &str| {
            parse_sandbox_escape_rules(rule)
                .iter()
                .all(|rule| rule.may_apply_to(command))
        };
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
