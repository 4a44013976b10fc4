//! Finds logins in URLs: `scheme://name:password@host`, and the same without a scheme.

use std::ops::Range;

use memchr::memchr_iter;

use super::redaction_rules::TokenAlphabet;
use super::secret_heuristics::{looks_random, may_be_credential};
use super::secret_span::SecretSpan;
use super::separators::is_blank;

/// Finds the password, or the token in place of a name, in a text that begins with `://` or `:\/\/`.
pub(super) fn find_url_password(text: &str) -> Option<Range<usize>> {
    // JSON may write a slash with a backslash.
    let begin = if text.starts_with("://") { 3 } else { 5 };
    let login = &text[begin..];
    let ends =
        |byte: u8| is_blank(byte) || matches!(byte, b'/' | b'"' | b'\'' | b'<' | b'>' | b'\\');
    let n = login.bytes().position(ends).unwrap_or(login.len());
    let login = &login[..n];
    let at = memchr::memrchr(b'@', login.as_bytes())?;
    let first = memchr::memchr2(b':', b'@', login.as_bytes())?;
    let (name, secret) = (&login[..first], first + 1..at);
    // In a manual this is an optional part, and in cleaned text it is a mark.
    if login.starts_with('[') {
        return None;
    }
    if login[first..].starts_with(':')
        && !secret.is_empty()
        && may_be_credential(&login[secret.clone()])
    {
        return Some(begin + secret.start..begin + secret.end);
    }
    let is_token = login[first..].starts_with('@')
        && first >= 16
        && name.bytes().all(|byte| TokenAlphabet::Url.contains(byte))
        && looks_random(name);
    is_token.then_some(begin..begin + first)
}

/// The length of a password before a host if there is no scheme, in bytes.
const PASSWORD_LENGTHS: std::ops::RangeInclusive<usize> = 6..=40;

/// Finds `@` signs with a colon shortly before them, as in `name:password@host`.
pub(super) fn login_signs(bytes: &[u8]) -> impl Iterator<Item = usize> {
    memchr_iter(b'@', bytes).filter(|at| {
        let left = &bytes[..*at];
        let near = left.iter().rev().take(*PASSWORD_LENGTHS.end());
        let mut near = near.take_while(|byte| byte.is_ascii_graphic());
        near.any(|byte| *byte == b':')
    })
}

/// Finds logins without a scheme; a version, a digest and a package name look similar and are not logins.
pub(super) fn find_logins(text: &str) -> Vec<SecretSpan> {
    let found = login_signs(text.as_bytes()).filter_map(|at| find_login_password(text, at));
    let spans = found.map(|secret| SecretSpan {
        context: secret.start,
        start: secret.start,
        end: secret.end,
        kind: "password",
        open: false,
        quote: None,
    });
    spans.collect()
}

fn find_login_password(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_password = |byte: &&u8| !is_blank(**byte) && !br#""'`/:@\<>(){}[]"#.contains(byte);
    let n = bytes[..at].iter().rev().take_while(is_password).count();
    let secret = at - n..at;
    let colon = secret.start.checked_sub(1)?;
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let n_name = bytes[..colon]
        .iter()
        .rev()
        .take(33)
        .take_while(is_name)
        .count();
    let name = colon - n_name;
    let opens = name == 0
        || bytes
            .get(name - 1)
            .is_some_and(|byte| is_blank(*byte) || br#""'`(=,"#.contains(byte));
    let is_login = bytes.get(colon) == Some(&b':')
        && PASSWORD_LENGTHS.contains(&n)
        && (1..=32).contains(&n_name)
        && bytes.get(name).is_some_and(u8::is_ascii_alphabetic)
        && opens
        && is_host(text.get(at + 1..)?)
        && looks_random(text.get(secret.clone())?);
    is_login.then_some(secret)
}

/// Returns whether a text begins with a host: one with a domain, four numbers, or this machine.
fn is_host(text: &str) -> bool {
    if text.starts_with("tcp(") || text.starts_with("unix(") {
        return true;
    }
    let is_host = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let (host, after) = text.split_at(text.find(|c| !is_host(c)).unwrap_or(text.len()));
    if after.starts_with(|c: char| c.is_ascii_uppercase() || c == '_') {
        return false;
    }
    let host = host.trim_end_matches(['-', '.']);
    let Some((labels, last)) = host.rsplit_once('.') else {
        return host == "localhost";
    };
    let is_number = |label: &str| {
        (1..=3).contains(&label.len()) && label.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_domain =
        (2..=12).contains(&last.len()) && last.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_named = is_domain && labels.split('.').all(|label| !label.is_empty());
    is_named || host.split('.').count() == 4 && host.split('.').all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_needs_a_name_a_password_and_a_host() {
        for (text, expected) in [
            ("bob:a1b2c3d4@db.example.com", Some("a1b2c3d4")),
            ("(bob:a1b2c3d4@10.0.0.1:5432", Some("a1b2c3d4")),
            ("bob:a1b2c3d4@localhost.", Some("a1b2c3d4")),
            ("bob:a1b2c3d4@x.Y", None),
            ("bob:a1b2c3d4@file", None),
            ("1bob:a1b2c3d4@db.example.com", None),
            ("name:1.2.3@sha.example.com", None),
            ("bob:a1b2c3d4@tcp(10.0.0.1)/x", Some("a1b2c3d4")),
        ] {
            let found = find_logins(text)
                .first()
                .map(|span| &text[span.start..span.end]);
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn an_address_has_a_password_or_a_token() {
        for (text, expected) in [
            ("://u:a@b@h/x@y", Some("a@b")),
            ("://:p@h", Some("p")),
            ("://u:@h", None),
            (":\\/\\/u:p@h\\/x", Some("p")),
            ("://Ab3dEf6hIj9lMn2pQr5t@h", Some("Ab3dEf6hIj9lMn2pQr5t")),
            ("://user@h:80/a:b@c", None),
            ("://h/a:b@c", None),
            ("://[user[:password]@]h", None),
            ("://[redacted:api-key]@h", None),
        ] {
            assert_eq!(
                find_url_password(text).map(|secret| &text[secret]),
                expected,
                "{text}"
            );
        }
    }
}
