//! Secrets that show by the name they are kept under: JSON, TOML, YAML, env files, shell, code.
//!
//! It knows names and how literal values differ from code, and refuses to know key shapes.

use std::sync::LazyLock;

use regex::Regex;

use super::{MARK, Span, pattern};

/// Group 1 the name, 2 the quote after it, 3 the sign, 4 the value's quote, 5 the value's start.
static PAIR: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)([a-z0-9_.-]*(?:token|secret|password|passwd|passphrase|passcode|api[_-]?key|access[_-]?key(?:[_-]?id)?|",
        r"secret[_-]?key(?:[_-]?base)?|private[_-]?key|signing[_-]?key|encryption[_-]?key|auth[_-]?key|account[_-]?key|",
        r"master[_-]?key|_pass|_pwd|credentials?))",
        r#"(\\*["'`]?\]?)(\s*(?:=>|:=|[:=]|,\s)\s*)(?:[bfr]?(\\*["'`]))?"#,
    ))
});

/// `--password VALUE`, as command lines have it.
static FLAG: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i)--(?:[a-z-]*-)?(token|password|passwd|secret|api-?key|secret-key|access-key)\s+["']?([^\s"'`-][^\s"'`]*)"#,
    )
});

static NAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)(?:token|secret|password|passwd|passphrase|passcode|api[_-]?key|access[_-]?key(?:[_-]?id)?|",
        r"secret[_-]?key(?:[_-]?base)?|private[_-]?key|signing[_-]?key|encryption[_-]?key|auth[_-]?key|account[_-]?key|",
        r"master[_-]?key|_pass|_pwd)$",
    ))
});

/// Types, and words that stand for a value.
static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)^(?:[$<{%\[].*|\*+|x+|\.{2,}|…|-+|none|null|nil|true|false|undefined|required|optional|redacted|",
        r"string|str|bool(?:ean)?|number|integer|object|array|bytes|secretstr|",
        r"u?int\d*(?:_t)?|[iuf]\d+|float\d*|varchar.*|char\d*|your[-_ ].*|(?:my|the|some)[-_]?(?:token|secret|password|key))$",
    ))
});

/// A variable's field.
static CODE_PATH: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^&?[a-z_][a-z0-9_]*(?:\.[a-z_][A-Za-z0-9_]*)+$"));

/// A setting's own name in place of its value, such as `OPENAI_API_KEY`.
static ENV_NAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:KEY|TOKEN|SECRET|PASSWORD|PASS|ID)$")
});

/// How much of an unquoted value is looked at to tell whether it is a literal.
const JUDGED: usize = 512;

/// Finds values under secret names in one line.
pub(super) fn find(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut from = 0;
    while let Some(found) = PAIR.captures_at(text, from) {
        let (Some(whole), Some(name)) = (found.get(0), found.get(1)) else {
            break;
        };
        let sign = found.get(3).map_or("", |group| group.as_str());
        let rest = &text[whole.end()..];
        from = whole.end();
        let len = match found.get(4) {
            Some(quote) => quoted_secret(rest, quote.as_str(), name.as_str(), sign),
            None => bare_secret(rest, name.as_str(), sign),
        };
        if let Some(len) = len {
            from = whole.end() + len;
            let kind = kind_of(name.as_str());
            spans.push(Span {
                context: whole.start(),
                start: whole.end(),
                end: from,
                kind,
                open: false,
            });
        }
    }
    spans.extend(find_flags(text));
    spans
}

/// Measures the quoted secret that `rest` starts with.
fn quoted_secret(rest: &str, quote: &str, name: &str, sign: &str) -> Option<usize> {
    let len = quoted_len(rest, quote);
    let place = Place {
        name,
        sign,
        after: None,
    };
    is_quoted_secret(&rest[..len], &place).then_some(len)
}

/// Measures the unquoted secret that `rest` starts with.
fn bare_secret(rest: &str, name: &str, sign: &str) -> Option<usize> {
    let mut judged = rest.len().min(JUDGED);
    while !rest.is_char_boundary(judged) {
        judged -= 1;
    }
    let len = bare_len(&rest[..judged]);
    let after = rest[len..].chars().next();
    let place = Place { name, sign, after };
    is_bare_secret(&rest[..len], &place).then(|| if len == judged { bare_len(rest) } else { len })
}

/// Where a value stands.
struct Place<'a> {
    name: &'a str,
    sign: &'a str,
    /// The character right of the value.
    after: Option<char>,
}

fn find_flags(text: &str) -> impl Iterator<Item = Span> {
    FLAG.captures_iter(text).filter_map(|found| {
        let (name, value) = (found.get(1)?, found.get(2)?);
        is_literal(value.as_str(), name.as_str()).then(|| Span {
            context: name.start(),
            start: value.start(),
            end: value.end(),
            kind: kind_of(name.as_str()),
            open: false,
        })
    })
}

/// Tells whether a key of an object or table names a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    NAME.is_match(name)
}

/// The mark for a string kept under a secret name; `None` when the string stands for a secret only.
pub(crate) fn redact_value(name: &str, value: &str) -> Option<String> {
    let place = Place {
        name,
        sign: ":",
        after: None,
    };
    is_quoted_secret(value, &place).then(|| super::mark(kind_of(name)))
}

/// As [`redact_value`] for a number: a password may be one, a token is a count.
pub(crate) fn redact_number(name: &str) -> Option<String> {
    (kind_of(name) == "password").then(|| super::mark(kind_of(name)))
}

fn kind_of(name: &str) -> &'static str {
    let name = name.to_ascii_lowercase();
    if name.contains("pass") || name.ends_with("pwd") {
        "password"
    } else if name.ends_with("token") {
        "token"
    } else if name.contains("key") {
        "key"
    } else {
        "secret"
    }
}

/// Measures a value up to its closing quote, or to the line's end when it has none.
///
/// A quote written with backslashes (JSON inside JSON) is closed by its like, or by the end of the
/// string around it.
fn quoted_len(text: &str, quote: &str) -> usize {
    let n_slashes = quote.len() - 1;
    let sign = quote.as_bytes()[n_slashes];
    let mut slashes = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte == sign {
            if slashes < n_slashes {
                return at - slashes;
            }
            if slashes % (2 * (n_slashes + 1)) == n_slashes {
                return at - n_slashes;
            }
        }
        slashes = if byte == b'\\' { slashes + 1 } else { 0 };
    }
    text.len()
}

fn bare_len(text: &str) -> usize {
    let ends = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '"' | '\'' | '`' | ',' | ';' | '&' | '|' | '<' | '>' | '\\'
            )
    };
    let end = text.find(ends).unwrap_or(text.len());
    let run = &text[..end];
    // Padding of base64 belongs to a value; another pair does not.
    match run.find('=') {
        Some(at) if !run[at..].bytes().all(|byte| byte == b'=') => at,
        Some(_) | None => end,
    }
}

fn is_placeholder(value: &str) -> bool {
    value.starts_with(MARK) || PLACEHOLDER.is_match(value) || ENV_NAME.is_match(value)
}

fn is_quoted_secret(value: &str, place: &Place<'_>) -> bool {
    if is_placeholder(value.trim())
        || value.trim().is_empty()
        || place.sign.contains(", ") && !is_literal(value, place.name)
    {
        return false;
    }
    let lower = value.to_ascii_lowercase();
    if kind_of(place.name) == "password" {
        // A label or an error text names the thing that it asks for; a password does not.
        let label = value.contains(' ') && lower.contains("pass");
        return !label && !matches!(lower.as_str(), "password" | "passwd" | "passphrase");
    }
    let word = matches!(
        lower.as_str(),
        "token" | "secret" | "identifier" | "keyword" | "bearer" | "default"
    );
    value.len() >= 6 && !value.contains(char::is_whitespace) && !word
}

fn is_bare_secret(value: &str, place: &Place<'_>) -> bool {
    let shell = place.sign == "="
        && place.name.len() > 1
        && !place.name.bytes().any(|byte| byte.is_ascii_lowercase());
    if shell {
        let code = value.contains(['(', ')', '{', '}', '$', '[']);
        return value.len() >= 3 && !code && !is_placeholder(value);
    }
    // A list of words is no pair; a spaced assignment that ends in `;` is code, `Password=x;` is not.
    let code =
        matches!(place.after, Some('<' | '>')) || place.after == Some(';') && place.sign != "=";
    !place.sign.contains(',') && !code && is_literal(value, place.name)
}

/// Tells a literal from code: a path, a call, a type, a variable.
fn is_literal(value: &str, name: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let code = value.contains(['(', ')', '{', '}', '[', ']', '$', '?', '*'])
        || value.starts_with([':', '=']);
    if is_placeholder(value) || code || value.contains("::") || CODE_PATH.is_match(value) {
        return false;
    }
    let password = kind_of(name) == "password";
    if ["token", "secret", "password", "passwd", "api_key", "apikey"]
        .iter()
        .any(|word| lower.contains(word))
    {
        return false;
    }
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let marks = value.contains(['!', '@', '#', '%', '^']);
    match password {
        true => (digits > 0 || marks) && (letters > 0 || digits >= 4) && value.len() >= 4,
        false => digits > 0 && letters > 0 && value.len() >= 6,
    }
}
