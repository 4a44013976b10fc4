//! Finds secrets in lists and tables under one name: `"tokens": ["x", "y"]`, `secret = { value = "x" }`.
//!
//! The search ends at the first closing bracket.

use super::key_value::name_start;
use super::secret_heuristics::looks_random;
use super::secret_names::{is_harmless_name, is_secret_name};
use super::secret_span::SecretSpan;
use super::secret_values::{is_listed_secret, secret_kind};
use super::separators::is_blank;

/// How many bytes of a list are searched.
const MAX_LIST_BYTES: usize = 4_096;

/// The key of the value in a table under the name of one secret.
const VALUE_KEYS: [&str; 3] = ["value", "plain", "default"];

/// Finds the values in the list or table under the name that ends at `end`, not counting a plural `s`.
pub(super) fn find_listed_secrets(text: &str, end: usize) -> Vec<SecretSpan> {
    let bytes = text.as_bytes();
    let is_plural = matches!(bytes.get(end), Some(b's' | b'S'));
    let Some((open, inside)) = parse_opening_bracket(bytes, end + usize::from(is_plural)) else {
        return Vec::new();
    };
    let name = &text[name_start(text, end)..end];
    if !is_secret_name(name) || is_harmless_name(name) {
        return Vec::new();
    }
    let rest = &text[inside..];
    let rest = &rest[..rest.floor_char_boundary(MAX_LIST_BYTES)];
    let strings = collect_strings(rest, if open == b'[' { ']' } else { '}' });
    let mut key = "";
    let mut spans = Vec::new();
    for (start, string, names_next) in strings {
        if names_next {
            key = string;
            continue;
        }
        let key = std::mem::take(&mut key);
        let is_meant = match open {
            b'[' => true,
            _ if is_plural => !key.ends_with("id") && !key.ends_with("Id"),
            _ => VALUE_KEYS.contains(&key_before_value(rest, start, key)),
        };
        if is_meant && is_listed_secret(string, name) && (!is_plural || looks_random(string)) {
            spans.push(SecretSpan {
                context: inside + start,
                start: inside + start,
                end: inside + start + string.len(),
                kind: secret_kind(name),
                open: false,
                quote: None,
            });
        }
    }
    spans
}

/// Returns the bracket after a name's quote and sign, and the position after it.
fn parse_opening_bracket(bytes: &[u8], at: usize) -> Option<(u8, usize)> {
    // Most names lead to a single value.
    if let [b'=' | b':' | b' ', next, ..] = bytes.get(at..)?
        && !is_blank(*next)
        && !matches!(next, b'[' | b'{' | b'=' | b':')
    {
        return None;
    }
    let skip = |at: usize, test: &dyn Fn(u8) -> bool| {
        let n = bytes.get(at..)?.iter().take(8);
        Some(at + n.take_while(|byte| test(**byte)).count())
    };
    let at = skip(at, &|byte| matches!(byte, b'"' | b'\'' | b'\\'))?;
    let at = skip(at, &is_blank)?;
    if !matches!(bytes.get(at), Some(b':' | b'=')) {
        return None;
    }
    let at = skip(at + 1, &is_blank)?;
    let bracket = *bytes.get(at)?;
    matches!(bracket, b'[' | b'{').then_some((bracket, at + 1))
}

/// Returns the strings up to a bracket: where each begins, and whether it is a key for the next value.
fn collect_strings(text: &str, close: char) -> Vec<(usize, &str, bool)> {
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find(['"', '\'', close]) {
        let start = at + found + 1;
        let quote = text.as_bytes().get(start - 1).copied().map(char::from);
        let Some(quote) = quote.filter(|quote| *quote != close) else {
            break;
        };
        let Some(len) = text[start..].find(quote) else {
            break;
        };
        let string = text[start..start + len].trim_end_matches('\\');
        let after = text[start + len + 1..].trim_start();
        all.push((start, string, after.starts_with([':', '='])));
        at = start + len + 1;
    }
    all
}

/// Returns the key before a value: the string before it, or the word before its sign.
fn key_before_value<'t>(text: &'t str, start: usize, key: &'t str) -> &'t str {
    if !key.is_empty() {
        return key;
    }
    let left = text[..start - 1].trim_end();
    let left = left.strip_suffix(['=', ':']).unwrap_or(left).trim_end();
    &left[name_start(left, left.len())..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::redact_text;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn lists_stay_lists_and_lose_their_secrets(
            // Every character occurs at most once in a secret: text with repetitions may be a word.
            words in prop::collection::vec("[a-z]{1,8}|[A-D][e-h][23][I-L][m-p][45][Q-T][u-x][67][E-H][a-d][89][M-P][i-l][01]", 1..6),
            name in prop::sample::select(vec!["tokens", "api_keys", "passwords", "secrets", "token"]),
        ) {
            let text = serde_json::json!({ name: words }).to_string();
            let clean = redact_text(&text);
            prop_assert_eq!(redact_text(&clean), clean.as_str());
            let seen: serde_json::Value = serde_json::from_str(&clean).unwrap();
            prop_assert_eq!(seen[name].as_array().map(Vec::len), Some(words.len()));
            for word in words.iter().filter(|word| word.len() == 15) {
                prop_assert!(!clean.contains(word.as_str()), "{} {}", text, clean);
            }
        }
    }

    #[test]
    fn values_in_lists_and_tables_are_replaced() {
        for (text, expected) in [
            (
                r#"{"tokens":["Ab3dEf6hIj9l","word","Zz8yXx7wVv6u"]}"#,
                r#"{"tokens":["[redacted:token]","word","[redacted:token]"]}"#,
            ),
            (
                r#"{"api_keys":{"prod":"Ab3dEf6hIj9l","type":"array"},"page":"a1b2c3d4e5"}"#,
                r#"{"api_keys":{"prod":"[redacted:key]","type":"array"},"page":"a1b2c3d4e5"}"#,
            ),
            (
                r#"secret = { value = "Ab3dEf6hIj9l", version = "1.2.3" }"#,
                r#"secret = { value = "[redacted:secret]", version = "1.2.3" }"#,
            ),
            (
                r#""password": {"value": "hunter2A!x"}"#,
                r#""password": {"value": "[redacted:password]"}"#,
            ),
        ] {
            assert_eq!(redact_text(text), expected);
            assert_eq!(redact_text(expected), expected);
        }
        for kept in [
            r#"{"tokens":{"input":1024,"kind":"word"}}"#,
            r#""max_tokens": ["a1b2c3d4e5"]"#,
            r#"secret = { path = "a1b2c3d4e5" }"#,
        ] {
            assert_eq!(redact_text(kept), kept);
        }
    }
}
