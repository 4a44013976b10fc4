//! Finds what the redaction rules describe, and tokens with three parts that no word announces.

use std::sync::{LazyLock, OnceLock};

use super::byte_pattern::BytePattern;
use super::prefilter::{AnchorMatch, token_dots};
use super::redaction_rules::{
    REDACTION_RULES, RedactionRule, SecretShape, TokenAlphabet, WordEdge,
};
use super::secret_heuristics::cookie_values_len;
use super::secret_span::SecretSpan;
use super::separators::is_blank;

/// How many bytes a pattern searches at first; only a match that reaches this end is searched again in the whole text.
const FIRST_WINDOW_BYTES: usize = 2_048;

/// How many bytes before a position are searched for a word that a rule needs.
const NEARBY_BYTES: usize = 400;

/// Each pattern is compiled when it is first needed: most never are.
static RULE_PATTERNS: LazyLock<Vec<OnceLock<BytePattern>>> =
    LazyLock::new(|| REDACTION_RULES.iter().map(|_| OnceLock::new()).collect());

/// A range that a rule need not search again: it contains nothing for the rule.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SearchedRange {
    number: usize,
    until: usize,
}

/// Finds the secret that a rule's word leads to; `before` is the character before the text.
pub(super) fn find_by_rule(
    number: usize,
    found: AnchorMatch,
    text: &str,
    before: Option<char>,
    passed: &mut SearchedRange,
) -> Option<SecretSpan> {
    let rule = REDACTION_RULES.get(number)?;
    if passed.number == number && found.start < passed.until {
        return None;
    }
    let left = &text[..found.start];
    let is_free = match rule.edge {
        WordEdge::Anywhere => true,
        WordEdge::WordStart => begins_word(left, before),
        WordEdge::UnhyphenatedWordStart => begins_word(left, before) && !left.ends_with('-'),
    };
    if !is_free || !has_nearby_word(rule.nearby_words, left) {
        return None;
    }
    let (start, end) = match rule.shape {
        SecretShape::Run(letters, least) => {
            let (n, is_run) = measure_run(rule, letters, least, found, text)?;
            let end = found.end + n;
            if !is_run || !(rule.is_secret)(&text[found.start..end]) {
                *passed = SearchedRange { number, until: end };
                return None;
            }
            (found.start, end)
        }
        SecretShape::Pattern(shape) => {
            let (start, end) = match_rule_pattern(number, shape, found.start, text)?;
            let is_cookie = rule.kind == "cookie";
            let len = is_cookie.then(|| cookie_values_len(&text[start..end]));
            (start, len.map_or(end, |len| start + len))
        }
        SecretShape::QueryValue(least) => {
            let n = query_len(&text[found.end..]);
            (n >= least).then_some((found.end, found.end + n))?
        }
        SecretShape::Finder(find) => {
            let secret = find(&text[found.start..])?;
            (found.start + secret.start, found.start + secret.end)
        }
    };
    (rule.is_secret)(&text[start..end]).then_some(SecretSpan {
        context: found.start,
        start,
        end,
        kind: rule.kind,
        open: false,
        quote: None,
    })
}

/// Returns the length of the run after a rule's word, if it is long enough.
fn measure_run(
    rule: &RedactionRule,
    letters: TokenAlphabet,
    least: usize,
    found: AnchorMatch,
    text: &str,
) -> Option<(usize, bool)> {
    let word = &text[found.start..found.end];
    if !rule.start_words.contains(&word) {
        return None;
    }
    let rest = text.as_bytes().get(found.end..)?;
    let n = rest
        .iter()
        .take_while(|byte| letters.contains(**byte))
        .count();
    // The end of a sentence is not part of a token, nor is the separator before the next pair.
    let trailing = rest[..n]
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b'.' | b'-'));
    let n = n - trailing.count();
    let is_cut =
        letters == TokenAlphabet::Hex && rest.get(n).is_some_and(u8::is_ascii_alphanumeric);
    Some((n, n >= least && !is_cut))
}

fn match_rule_pattern(
    number: usize,
    shape: &str,
    start: usize,
    text: &str,
) -> Option<(usize, usize)> {
    let pattern = RULE_PATTERNS
        .get(number)?
        .get_or_init(|| BytePattern::new(&format!("^(?i:{shape})")));
    let rest = &text[start..];
    let window = &rest[..rest.floor_char_boundary(FIRST_WINDOW_BYTES)];
    let mut secret = pattern.find_match(window)?.first_group_range()?;
    if secret.end == window.len() && window.len() < rest.len() {
        secret = pattern.find_match(rest)?.first_group_range()?;
    }
    Some((start + secret.start, start + secret.end))
}

fn query_len(text: &str) -> usize {
    let ends = |byte: u8| is_blank(byte) || br#"&#;"'`<>\)]},"#.contains(&byte);
    text.bytes().position(ends).unwrap_or(text.len())
}

/// A word starts after anything but a letter or digit, and after an escape that ends in one: `\n`, `%20`, `\u003d`.
fn begins_word(left: &str, before: Option<char>) -> bool {
    let bytes = left.as_bytes();
    let is_hex = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_hexdigit);
    match *bytes {
        [] => !before.is_some_and(|c| c.is_ascii_alphanumeric()),
        [.., last] if !last.is_ascii_alphanumeric() => true,
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'm'] if ends_colour(bytes) => true,
        [.., b'%', _, last] if last.is_ascii_hexdigit() => is_hex(bytes.len() - 2),
        [.., b'\\', b'u', _, _, _, _] => (1..=4).all(|back| is_hex(bytes.len() - back)),
        _ => false,
    }
}

/// Returns whether a colour sequence ends here.
fn ends_colour(left: &[u8]) -> bool {
    let parameters = left.iter().rev().skip(1).take(24);
    let n = parameters
        .take_while(|byte| matches!(byte, b'0'..=b'9' | b';' | b':'))
        .count();
    left.get(..left.len() - 1 - n)
        .is_some_and(|left| left.ends_with(b"\x1b["))
}

fn has_nearby_word(needs: &[&str], left: &str) -> bool {
    if needs.is_empty() {
        return true;
    }
    let near = &left[left.ceil_char_boundary(left.len().saturating_sub(NEARBY_BYTES))..];
    needs.iter().any(|need| near.contains(need))
}

/// Finds tokens made of a name, a time and a signature, such as chat bot tokens.
pub(super) fn find_dotted_tokens(text: &str) -> Vec<SecretSpan> {
    let bytes = text.as_bytes();
    let is_part = |byte: &u8| TokenAlphabet::Url.contains(*byte);
    let spans = token_dots(bytes).filter_map(|dot| {
        if bytes.get(dot + 7) != Some(&b'.') {
            return find_personal_token(bytes, dot);
        }
        let name = bytes[..dot]
            .iter()
            .rev()
            .take(40)
            .take_while(|byte| is_part(byte))
            .count();
        let signature = bytes[dot + 8..]
            .iter()
            .take_while(|byte| is_part(byte))
            .count();
        let start = dot - name;
        let is_encoded = start > 0 && bytes.get(start - 1) == Some(&b'%');
        let (start, name) = if is_encoded {
            (start + 2, name.saturating_sub(2))
        } else {
            (start, name)
        };
        let end = dot + 8 + signature;
        let begins = matches!(bytes.get(start), Some(b'M' | b'N' | b'O'));
        let is_token = begins
            && (23..=28).contains(&name)
            && (27..=45).contains(&signature)
            && bytes[dot + 1..dot + 7].iter().all(is_part);
        is_token.then_some(SecretSpan {
            context: start,
            start,
            end,
            kind: "bot-token",
            open: false,
            quote: None,
        })
    });
    spans.collect()
}

/// Finds `pat`, fourteen letters, a dot and sixty-four digits.
fn find_personal_token(bytes: &[u8], dot: usize) -> Option<SecretSpan> {
    let start = dot.checked_sub(17)?;
    let is_free = start == 0 || !bytes.get(start - 1)?.is_ascii_alphanumeric();
    let name = bytes.get(start..dot)?;
    let digits = bytes.get(dot + 1..dot + 65)?;
    let is_token = is_free
        && name.iter().all(u8::is_ascii_alphanumeric)
        && digits.iter().all(u8::is_ascii_hexdigit);
    is_token.then_some(SecretSpan {
        context: start,
        start,
        end: dot + 65,
        kind: "api-key",
        open: false,
        quote: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_says_what_the_secret_is() {
        for rule in REDACTION_RULES.iter() {
            if let SecretShape::Pattern(shape) = rule.shape {
                let pattern = BytePattern::try_new(&format!("^(?i:{shape})")).unwrap();
                assert_eq!(pattern.first_group(), Some("secret"), "{shape}");
            }
        }
    }
}
