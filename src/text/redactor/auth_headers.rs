//! Finds credentials in headers such as `Authorization: Bearer x`, however the line around it is written.

use std::ops::Range;

use super::secret_heuristics::{looks_random, may_be_credential};
use super::separators::{ByteReader, is_blank};

/// Schemes with a single word of credentials.
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

/// How schemes with a list of credentials begin.
static LIST_SCHEMES: [&str; 7] = [
    "digest",
    "aws4-",
    "hawk",
    "oauth",
    "signature",
    "hmac",
    "sharedkey",
];

/// Finds the credentials in a text that begins with the header's name.
pub(super) fn find_authorization(text: &str) -> Option<Range<usize>> {
    let mut reader = ByteReader::new(text);
    reader.at = "authorization".len();
    reader.skip_quote_or_slashes();
    reader.skip_blanks(usize::MAX);
    let is_encoded = reader.skip_word("%3a") || reader.skip_word("%3A");
    let is_odd = is_encoded || reader.skip_word("=>") || reader.skip_one_of(b",");
    if !is_odd && !reader.skip_one_of(b":=") {
        return None;
    }
    reader.skip_blanks(usize::MAX);
    let is_listed = reader.skip_one_of(b"[");
    reader.skip_blanks(usize::MAX);
    reader.skip_quote_or_slashes();
    reader.skip_blanks(usize::MAX);
    let other = || find_without_scheme(text, reader.at).filter(|_| !is_listed && !is_odd);
    find_after_scheme(text, reader.at).or_else(other)
}

/// Finds the credentials in a text that begins with the scheme's name.
pub(super) fn find_bearer(text: &str) -> Option<Range<usize>> {
    let mut reader = ByteReader::new(text);
    reader.at = "bearer".len();
    let is_encoded = reader.skip_word("%20") || reader.skip_one_of(b"+");
    reader.skip_one_of(b"\\");
    let n = reader.skip_blanks(usize::MAX);
    if reader.skip_one_of(b":=,") {
        reader.skip_blanks(usize::MAX);
    } else if n == 0 && !is_encoded {
        return None;
    }
    reader.skip_quote_or_slashes();
    reader.skip_colours();
    let start = reader.at;
    let n = reader.skip_while(usize::MAX, is_token_byte);
    let secret = start..start + n;
    (n >= 10 && looks_random(&text[secret.clone()])).then_some(secret)
}

fn find_after_scheme(text: &str, at: usize) -> Option<Range<usize>> {
    let mut reader = ByteReader { text, at };
    reader.skip_while(usize::MAX, is_scheme_byte);
    let scheme = reader.since(at);
    let is = |known: &&str| scheme.eq_ignore_ascii_case(known);
    let begins = |known: &&str| {
        let start = scheme.get(..known.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(known))
    };
    let is_known = SCHEMES.iter().chain(&["bearertoken"]).any(is);
    let n_blanks = {
        reader.skip_one_of(b"\\");
        reader.skip_blanks(usize::MAX)
    };
    if !is_known {
        let is_list = n_blanks > 0 && LIST_SCHEMES.iter().any(begins);
        return is_list
            .then(|| measure_parameter_list(text, reader.at))
            .flatten();
    }
    let is_encoded = n_blanks == 0 && (reader.skip_word("%20") || reader.skip_one_of(b"+"));
    if n_blanks == 0 && !is_encoded {
        return None;
    }
    let start = reader.at;
    let n = reader.skip_while(usize::MAX, |byte| {
        let ends = is_blank(byte)
            || is_encoded && byte == b'&'
            || matches!(
                byte,
                b'"' | b'\'' | b'`' | b'\\' | b',' | b';' | b'<' | b'>' | b')' | b'}' | b']'
            );
        !ends
    });
    let secret = start..start + n;
    (n > 0 && may_be_credential(&text[secret.clone()])).then_some(secret)
}

/// Returns the range of `a="x", b=y`, up to a quote that belongs to the text around it.
fn measure_parameter_list(text: &str, start: usize) -> Option<Range<usize>> {
    let mut reader = ByteReader { text, at: start };
    loop {
        let from = reader.at;
        if reader.skip_word("=\"") {
            reader.skip_while(300, |byte| byte != b'"');
            if reader.skip_one_of(b"\"") {
                continue;
            }
            reader.at = from + 1;
        } else if reader.skip_any_of(b"\\") > 0 {
            if !reader.skip_one_of(b"\"") {
                reader.at = from;
                break;
            }
        } else if reader.skip_while(1, |byte| !matches!(byte, b'"' | b'\'')) == 0 {
            break;
        }
    }
    let secret = start..reader.at;
    (!secret.is_empty() && may_be_credential(&text[secret.clone()])).then_some(secret)
}

/// Finds the credentials of a header with another scheme or none.
fn find_without_scheme(text: &str, at: usize) -> Option<Range<usize>> {
    let mut reader = ByteReader { text, at };
    reader.skip_while(31, is_scheme_byte);
    let has_scheme =
        reader.at > at + 1 && (reader.skip_blanks(usize::MAX) > 0 || reader.skip_word("%20"));
    let after = if has_scheme { Some(reader.at) } else { None };
    after.into_iter().chain([at]).find_map(|start| {
        let mut reader = ByteReader { text, at: start };
        let n = reader.skip_while(usize::MAX, |byte| is_token_byte(byte) && byte != b'=');
        let n = n + reader.skip_while(2, |byte| byte == b'=');
        let secret = start..start + n;
        (n >= 8 && looks_random(&text[secret.clone()])).then_some(secret)
    })
}

fn is_scheme_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'.' | b'_' | b'~' | b'+' | b'/' | b':' | b'=' | b'|' | b'-'
        )
}
