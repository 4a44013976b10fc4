//! Credentials in headers: `Authorization: Bearer x`, however the line around it is written.
//!
//! Refuses to know where headers come from.

use std::ops::Range;

use super::judge::{is_credential, is_random};
use super::signs::{Reader, is_blank};

/// Schemes that have one word of credentials.
static SCHEMES: [&str; 17] = [
    "bearer",
    "basic",
    "token",
    "negotiate",
    "ntlm",
    "apikey",
    "api-key",
    "api_key",
    "key",
    "jwt",
    "bot",
    "splunk",
    "genie-key",
    "geniekey",
    "sso-key",
    "dpop",
    "flyv1",
];

/// How schemes begin whose credentials are a list.
static LISTS: [&str; 7] = [
    "digest",
    "aws4-",
    "hawk",
    "oauth",
    "signature",
    "hmac",
    "sharedkey",
];

/// Finds the credentials in a text that begins with the header's name.
pub(super) fn authorization(text: &str) -> Option<Range<usize>> {
    let mut reader = Reader::new(text);
    reader.at = "authorization".len();
    reader.quote_or_slashes();
    reader.blanks(usize::MAX);
    let is_encoded = reader.word("%3a") || reader.word("%3A");
    let is_odd = is_encoded || reader.word("=>") || reader.one(b",");
    if !is_odd && !reader.one(b":=") {
        return None;
    }
    reader.blanks(usize::MAX);
    let is_listed = reader.one(b"[");
    reader.blanks(usize::MAX);
    reader.quote_or_slashes();
    reader.blanks(usize::MAX);
    let other = || without_scheme(text, reader.at).filter(|_| !is_listed && !is_odd);
    after_scheme(text, reader.at).or_else(other)
}

/// Finds the credentials in a text that begins with the scheme's name.
pub(super) fn bearer(text: &str) -> Option<Range<usize>> {
    let mut reader = Reader::new(text);
    reader.at = "bearer".len();
    let is_encoded = reader.word("%20") || reader.one(b"+");
    reader.one(b"\\");
    let n = reader.blanks(usize::MAX);
    if reader.one(b":=,") {
        reader.blanks(usize::MAX);
    } else if n == 0 && !is_encoded {
        return None;
    }
    reader.quote_or_slashes();
    reader.colours();
    let start = reader.at;
    let n = reader.take(usize::MAX, is_token);
    let secret = start..start + n;
    (n >= 10 && is_random(&text[secret.clone()])).then_some(secret)
}

fn after_scheme(text: &str, at: usize) -> Option<Range<usize>> {
    let mut reader = Reader { text, at };
    reader.take(usize::MAX, is_scheme);
    let scheme = reader.since(at);
    let is = |known: &&str| scheme.eq_ignore_ascii_case(known);
    let begins = |known: &&str| {
        let start = scheme.get(..known.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(known))
    };
    let is_known = SCHEMES.iter().chain(&["bearertoken"]).any(is);
    let n_blanks = {
        reader.one(b"\\");
        reader.blanks(usize::MAX)
    };
    if !is_known {
        let is_list = n_blanks > 0 && LISTS.iter().any(begins);
        return is_list.then(|| list(text, reader.at)).flatten();
    }
    let is_encoded = n_blanks == 0 && (reader.word("%20") || reader.one(b"+"));
    if n_blanks == 0 && !is_encoded {
        return None;
    }
    let start = reader.at;
    let n = reader.take(usize::MAX, |byte| {
        let ends = is_blank(byte)
            || is_encoded && byte == b'&'
            || matches!(
                byte,
                b'"' | b'\'' | b'`' | b'\\' | b',' | b';' | b'<' | b'>' | b')' | b'}' | b']'
            );
        !ends
    });
    let secret = start..start + n;
    (n > 0 && is_credential(&text[secret.clone()])).then_some(secret)
}

/// Measures `a="x", b=y` up to a quote that belongs to the text around it.
fn list(text: &str, start: usize) -> Option<Range<usize>> {
    let mut reader = Reader { text, at: start };
    loop {
        let from = reader.at;
        if reader.word("=\"") {
            reader.take(300, |byte| byte != b'"');
            if reader.one(b"\"") {
                continue;
            }
            reader.at = from + 1;
        } else if reader.many(b"\\") > 0 {
            if !reader.one(b"\"") {
                reader.at = from;
                break;
            }
        } else if reader.take(1, |byte| !matches!(byte, b'"' | b'\'')) == 0 {
            break;
        }
    }
    let secret = start..reader.at;
    (!secret.is_empty() && is_credential(&text[secret.clone()])).then_some(secret)
}

/// A header with another scheme or none.
fn without_scheme(text: &str, at: usize) -> Option<Range<usize>> {
    let mut reader = Reader { text, at };
    reader.take(31, is_scheme);
    let has_scheme = reader.at > at + 1 && (reader.blanks(usize::MAX) > 0 || reader.word("%20"));
    let after = if has_scheme { Some(reader.at) } else { None };
    after.into_iter().chain([at]).find_map(|start| {
        let mut reader = Reader { text, at: start };
        let n = reader.take(usize::MAX, |byte| is_token(byte) && byte != b'=');
        let n = n + reader.take(2, |byte| byte == b'=');
        let secret = start..start + n;
        (n >= 8 && is_random(&text[secret.clone()])).then_some(secret)
    })
}

fn is_scheme(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'.' | b'_' | b'~' | b'+' | b'/' | b':' | b'=' | b'|' | b'-'
        )
}
