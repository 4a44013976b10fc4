//! Tells a secret from a word, a name, a number or a placeholder, by the text alone.
//!
//! The place of the text is not known here.

use super::secret_span::MARK_PREFIX;
use crate::text::base64;

pub(super) fn accept_any(_secret: &str) -> bool {
    true
}

/// Rejects texts that repeat one character, as examples do.
pub(super) fn is_varied(secret: &str) -> bool {
    let tail = last_long_part(secret.as_bytes());
    let body = &tail[tail.len().saturating_sub(8)..];
    body.iter().any(|byte| Some(byte) != body.first())
}

/// Returns the last part with more than three bytes, or everything.
fn last_long_part(secret: &[u8]) -> &[u8] {
    let mut left = secret;
    loop {
        let sign = memchr::memrchr3(b'-', b'_', b'.', left);
        let (before, part) = left.split_at(sign.map_or(0, |at| at + 1));
        if part.len() > 3 {
            return part;
        }
        match before.split_last() {
            Some((_, before)) => left = before,
            None => return secret,
        }
    }
}

/// Like [`is_varied`], and also rejects texts made of words: `sk-ant-your-key`.
pub(super) fn is_not_example(secret: &str) -> bool {
    is_varied(secret) && !is_made_of_name_parts(secret)
}

/// Returns whether one of the cookies has a secret value.
pub(super) fn has_secret_cookie(cookies: &str) -> bool {
    cookies.split(';').any(|cookie| {
        let value = cookie.split_once('=').map_or("", |(_, value)| value.trim());
        !value.is_empty() && may_be_credential(value)
    })
}

/// Returns the length of the cookies before the first attribute, which says where they are sent.
pub(super) fn cookie_values_len(cookies: &str) -> usize {
    let mut at = 0;
    for cookie in cookies.split(';') {
        let name = cookie.split_once('=').map_or(cookie, |(name, _)| name);
        let attributes = [
            "path", "domain", "max-age", "expires", "samesite", "version",
        ];
        let is_attribute = |word: &&str| name.trim().eq_ignore_ascii_case(word);
        if at > 0 && attributes.iter().any(is_attribute) {
            return at - 1;
        }
        at += cookie.len() + 1;
    }
    cookies.len()
}

/// Returns whether a text looks random: a digit among letters, or a long unbroken run, and no words.
pub(super) fn looks_random(secret: &str) -> bool {
    if !may_be_credential(secret) || is_made_of_name_parts(secret) {
        return false;
    }
    let has = |test: fn(&u8) -> bool| secret.bytes().any(|byte| test(&byte));
    let letters_and_digits = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && secret.ends_with('=');
    let has_long_run = longest_alphanumeric_run(secret) >= 20 && has(u8::is_ascii_uppercase);
    letters_and_digits || has_long_run || mixed
}

/// Like [`looks_random`], and one part is longer than any word of a name.
pub(super) fn looks_strongly_random(secret: &str) -> bool {
    let has = |test: fn(&u8) -> bool| secret.bytes().any(|byte| test(&byte));
    let mixed =
        has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit);
    let is_mixed = mixed && secret.len() >= 20 && looks_random(secret);
    is_varied(secret) && (longest_alphanumeric_run(secret) >= 16 || is_mixed)
}

/// Returns whether upper and lower case letters are mixed as in no name.
pub(super) fn has_scrambled_case(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() < 8
        || !bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
    {
        return false;
    }
    let is_change = |pair: &[u8]| match *pair {
        [a, b] => a.is_ascii_lowercase() != b.is_ascii_lowercase(),
        _ => false,
    };
    let n_changes = bytes.windows(2).filter(|pair| is_change(pair)).count();
    let is_inner_run = |four: &[u8]| match *four {
        [a, b, c, d] => {
            a.is_ascii_lowercase()
                && b.is_ascii_uppercase()
                && c.is_ascii_uppercase()
                && d.is_ascii_lowercase()
        }
        _ => false,
    };
    5 * n_changes > 2 * bytes.len() || bytes.len() >= 16 && bytes.windows(4).any(is_inner_run)
}

pub(super) fn longest_alphanumeric_run(text: &str) -> usize {
    let runs = text.split(|c: char| !c.is_ascii_alphanumeric());
    runs.map(str::len).max().unwrap_or(0)
}

/// Returns whether there are two or more parts, each a word, a short number, or a word with a short number after it.
pub(super) fn is_made_of_name_parts(text: &str) -> bool {
    let is_word = |part: &str| {
        let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let n_digits = part.len() - letters.len();
        let is_lower = letters.bytes().all(|byte| byte.is_ascii_lowercase());
        let is_title = letters
            .bytes()
            .skip(1)
            .all(|byte| byte.is_ascii_lowercase());
        let is_short_capital =
            letters.len() <= 5 && letters.bytes().all(|byte| byte.is_ascii_uppercase());
        n_digits <= 4
            && letters.len() <= 14
            && (is_lower || is_title && n_digits == 0 || is_short_capital && n_digits <= 3)
    };
    let separators = ['-', '_', '.', '/', ':'];
    text.contains(separators) && text.split(separators).all(is_word)
}

/// Returns whether a value in a place for a secret is one, and not a placeholder.
pub(super) fn may_be_credential(secret: &str) -> bool {
    let n_digits = secret.bytes().filter(u8::is_ascii_digit).count();
    let is_named = secret.contains('_')
        && n_digits <= 3
        && secret
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    let is_yours = secret
        .get(..4)
        .is_some_and(|start| start.eq_ignore_ascii_case("your"));
    !is_named
        && !is_yours
        && !secret.starts_with(MARK_PREFIX)
        && !secret.starts_with(['$', '{', '<', '%', '*', '['])
        && !secret.starts_with("...")
        && !secret.ends_with("...")
        && !secret.ends_with('…')
        && !secret.contains("***")
        && !secret.starts_with('…')
        && !secret
            .bytes()
            .all(|byte| matches!(byte, b'x' | b'X' | b'*' | b'.' | b'-'))
}

/// Returns whether a value after a flag may be a password; a number there is a port.
pub(super) fn may_be_password(secret: &str) -> bool {
    may_be_credential(secret)
        && secret.len() >= 3
        && !secret
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b':'))
}

/// Returns whether a text is the base64 of a name and a password, or random anyway.
pub(super) fn may_be_encoded_login(secret: &str) -> bool {
    let has_cases = secret.bytes().any(|byte| byte.is_ascii_uppercase())
        && secret.bytes().skip(1).any(|byte| byte.is_ascii_lowercase());
    looks_strongly_random(secret) && has_cases
        || looks_random(secret) && secret.ends_with('=')
        || base64::decode(secret.trim_end_matches('=').bytes()).is_some_and(|bytes| {
            bytes.contains(&b':') && bytes.iter().all(|byte| (b' '..=b'~').contains(byte))
        })
}
