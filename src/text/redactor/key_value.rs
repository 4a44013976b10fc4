//! Finds secrets by the name that they are stored under: in JSON, TOML, YAML, XML, env files, shell, headers and code.
//!
//! This file knows names and what may be between a name and its value. `secret_values`
//! decides whether a value is a secret.

use std::sync::LazyLock;

use super::byte_pattern::BytePattern;
use super::prefilter::can_end_name;
use super::secret_names::{is_harmless_name, is_other_pass_word, strip_ending};
use super::secret_span::{MARK_PREFIX, SecretSpan};
use super::secret_values::{
    SeparatorKind, ValueContext, is_bare_secret, is_quoted_secret, is_reported_secret, secret_kind,
};
use super::separators::{self, ValueSeparator, is_blank};

/// How far before its end a name may begin, in bytes.
const MAX_NAME_BYTES: usize = 96;

/// Commands that may come before a name whose value follows after a space.
static COMMAND_BEFORE_NAME: LazyLock<BytePattern> = LazyLock::new(|| {
    BytePattern::new(
        r#"(?i)(?:^|[\s"'`(;])(?:env|arg|setx|setenv|set\s+-[a-z]+|(?:config(?:ure)?|secrets?)\s+set|(?:login|user|connect|account|ssid)\s+[^\s,;]+)\s+["']?(?:\S{0,60}:)?$"#,
    )
});

/// The text before a name that is itself a value: `name: `, `"key": `.
static NAME_FIELD: LazyLock<BytePattern> = LazyLock::new(|| {
    BytePattern::new(
        r#"(?i)(?:^|[\s{,<"'\\-])(?:name|key)\\*["']?\s{0,40}[:=]\s{0,40}\\*["']?(?:[A-Za-z0-9_.-]{1,40}:){0,4}$"#,
    )
});

/// Finds the value stored under the name that ends at `end`.
pub(super) fn find_key_value(text: &str, end: usize) -> Option<SecretSpan> {
    let rest = &text[end..];
    let next = *rest.as_bytes().first()?;
    if !can_end_name(next) {
        return None;
    }
    // After these bytes a sign leads to the value, or nothing does; most second looks end here.
    let is_signed = matches!(next, b'=' | b':');
    if is_signed && leads_to_mark(rest) {
        return None;
    }
    let start = name_start(text, end);
    if next == b' ' && !may_lead_to_value(&text[..start], &text[start..end], rest) {
        return None;
    }
    let name = &text[start..end];
    // The word inside a mark is not a name.
    let is_expected = || {
        text[..start]
            .trim_end_matches(['"', '\'', '`'])
            .ends_with("expected ")
    };
    if is_harmless_name(name)
        || is_expected()
        || ValueContext::is_other_key_name(name)
        || is_other_pass_word(name)
        || text[..start].ends_with(MARK_PREFIX)
        || is_in_resource_path(&text[..start])
    {
        return None;
    }
    let signed = find_after_separator(text, start, end);
    if is_signed && signed.is_none() {
        return None;
    }
    let mut span = signed
        .or_else(|| find_in_tag(text, start, end))
        .or_else(|| find_in_element(text, start, end))
        .or_else(|| find_in_call(text, start, end))
        .or_else(|| find_reported_value(text, start, end))
        .or_else(|| find_after_blank(text, start, end))
        .or_else(|| find_beside_name(text, start, end))?;
    span.context = start;
    Some(span)
}

fn leads_to_mark(rest: &str) -> bool {
    let value = rest.get(1..).unwrap_or_default();
    let value = value.strip_prefix(' ').unwrap_or(value);
    let value = value.strip_prefix(['"', '\'']).unwrap_or(value);
    value.starts_with(MARK_PREFIX)
}

/// Returns whether a name is part of a cloud resource name (`arn:…:secret:x`) or of the
/// path of the login file in `/etc/`.
fn is_in_resource_path(left: &str) -> bool {
    // Both end in a sign that few names have before them.
    if !left.ends_with([':', '/']) {
        return false;
    }
    let near = &left[left.ceil_char_boundary(left.len().saturating_sub(160))..];
    let word = near
        .rsplit(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '=' | ','))
        .next();
    near.ends_with("/etc/") || word.is_some_and(|word| word.starts_with("arn:"))
}

/// The text between a name and its value in a report: `Token created: x`, `password for a: x`.
static REPORTED_VALUE: LazyLock<BytePattern> = LazyLock::new(|| {
    BytePattern::new(concat!(
        r"(?i)^(?: \([^)\n]{1,60}\))?(?: (?:is|was|has been|have been))?",
        r"(?: (?:now|successfully|automatically|generated|created|issued|set|reset|changed|updated|added|rotated|provided|given))*",
        r"(?:(?: (?:for|by|with)(?: [^\s:=]{1,60}){1,5})?(?::| as| is:?)",
        r"|(?: for(?: [^\s:=]{1,60}){1,6}?)?(?: (?:has been|was|is))? (?:set|reset|changed|updated|rotated) to) ",
        r#"\s{0,20}["'`]?(?<secret>[^\s"'`,;<>()]{6,})["'`]?[.,;)]?(?:\s|$)"#,
    ))
});

/// How many bytes of a report are searched.
const MAX_REPORT_BYTES: usize = 300;

fn find_reported_value(text: &str, start: usize, end: usize) -> Option<SecretSpan> {
    let rest = &text[end..];
    if let Some(value) = next_cell_start(&text[..start], rest) {
        let word = rest[value..]
            .split([' ', '\t', ',', ';', '"', '\''])
            .next()?;
        let word = word.trim_end_matches('.');
        return is_reported_secret(word)
            .then(|| value_span(end + value, word.len(), &text[start..end]));
    }
    if !rest.starts_with(' ') || !begins_report(rest) {
        return None;
    }
    let rest = &rest[..rest.floor_char_boundary(MAX_REPORT_BYTES)];
    let secret = REPORTED_VALUE.find_match(rest)?.first_group_range()?;
    let value = rest[secret.clone()].trim_end_matches('.');
    let name = &text[start..end];
    is_reported_secret(value).then(|| value_span(end + secret.start, value.len(), name))
}

/// Returns where the word after a name begins in a table row, or after `with password `.
fn next_cell_start(left: &str, rest: &str) -> Option<usize> {
    let value = rest.trim_start_matches(' ');
    let cell = value
        .strip_prefix("| ")
        .filter(|_| left.trim_end().ends_with('|'));
    let is_with = left.ends_with("with ") || left.ends_with("using ");
    let word = cell.map(|cell| cell.trim_start_matches(' '));
    let word = word.or_else(|| (is_with && rest.starts_with(' ')).then_some(value))?;
    Some(rest.len() - word.len()).filter(|_| !begins_report(rest))
}

fn begins_report(rest: &str) -> bool {
    let rest = rest.trim_start_matches(' ');
    if !rest.starts_with(|c: char| "(iwhfntagcsrup".contains(c)) {
        return false;
    }
    let begins = [
        "(",
        "is ",
        "was ",
        "has ",
        "have ",
        "for ",
        "now ",
        "to ",
        "as ",
        "generated",
        "created",
        "issued",
        "set ",
        "reset",
        "changed",
        "updated",
        "added",
        "rotated",
        "provided",
        "given",
        "successfully",
        "automatically",
    ];
    begins.iter().any(|word| rest.starts_with(word))
}

/// Returns quickly whether a value may follow after a space: most names in prose are skipped here.
fn may_lead_to_value(left: &str, name: &str, rest: &str) -> bool {
    let rest_text = rest;
    let rest = rest.trim_start_matches(' ').as_bytes();
    let signs = b"=:,<?+|\"'`\\";
    if rest.first().is_some_and(|first| signs.contains(first)) {
        return true;
    }
    let is_told = rest.starts_with(b"is")
        || rest.starts_with(b"was")
        || begins_report(rest_text)
        || next_cell_start(left, rest_text).is_some();
    let is_flag = is_option(left, name);
    // Commands that take a name and a value (ENV, ARG, set, login and similar) end like this.
    let before = left.trim_end_matches(['"', '\'', ' ']).as_bytes();
    let is_command = || {
        let near = &before[before.len().saturating_sub(80)..];
        let mut words = near.rsplit(|byte| is_blank(*byte)).take(4);
        let ends = b"vVgGtx:";
        before.last().is_some_and(|last| ends.contains(last))
            || words.any(|word| {
                VALUE_COMMANDS
                    .iter()
                    .any(|command| ends_with_ignore_case(word, command))
            })
    };
    let is_long = || rest.iter().take(20).all(u8::is_ascii_graphic) && rest.len() >= 20;
    let is_row = is_password_row(left, name, rest_text);
    is_told || is_row || is_flag || is_long() || is_command()
}

/// Commands that take a name, with its value in the word after next.
const VALUE_COMMANDS: [&[u8]; 6] = [b"login", b"set", b"user", b"connect", b"account", b"ssid"];

fn ends_with_ignore_case(word: &[u8], ending: &[u8]) -> bool {
    let end = word.get(word.len().saturating_sub(ending.len())..);
    end.is_some_and(|end| end.eq_ignore_ascii_case(ending))
}

/// Returns whether `password x` is the whole line.
fn is_password_row(left: &str, name: &str, rest: &str) -> bool {
    let is_password = || {
        let endings = ["password", "pass", "bindpw", "masterauth"];
        endings
            .iter()
            .any(|ending| strip_ending(name, ending).is_some())
    };
    left.bytes().all(is_blank) && is_password() && rest.trim().bytes().all(|byte| !is_blank(byte))
}

/// Returns whether the name is an option: `--token`, `-storepass`.
fn is_option(left: &str, name: &str) -> bool {
    let is_short = name.starts_with('-') && left.ends_with([' ', '\t', '"', '\'']);
    is_short || name.starts_with("--") || left.ends_with("--")
}

pub(super) fn name_start(text: &str, end: usize) -> usize {
    let bytes = text.as_bytes();
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let n = bytes[..end]
        .iter()
        .rev()
        .take(MAX_NAME_BYTES)
        .take_while(is_name)
        .count();
    // An escape such as `\n` before a name is not part of it.
    let escaped = n > 1
        && matches!(bytes[..end - n], [.., b'\\'])
        && matches!(bytes[end - n], b'n' | b'r' | b't');
    end - n + usize::from(escaped)
}

fn find_after_separator(text: &str, start: usize, end: usize) -> Option<SecretSpan> {
    let way = separators::parse_separator(&text[end..])?;
    let name = &text[start..end];
    let left = text[..start]
        .strip_suffix("&amp;")
        .map_or(&text[..start], |left| &text[..left.len() + 1]);
    let sign = classify_separator(
        way.separator,
        left.chars().next_back(),
        text[end..].chars().next(),
    );
    // In a list a name is one of many words; in a call or after a flag its value follows.
    let is_option = name.starts_with("--");
    let listed =
        sign == SeparatorKind::Comma && !is_option && !opens_call(&text[..start], way.separator);
    let sign = match sign {
        SeparatorKind::Comma if is_option && way.quote.is_none() => SeparatorKind::Flag,
        sign => sign,
    };
    let in_address = sign == SeparatorKind::Colon && text[..start].ends_with("://");
    if listed || in_address {
        return None;
    }
    if text[end + way.value_start..].starts_with(MARK_PREFIX) {
        return None;
    }
    let mut span = find_value_at(text, end + way.value_start, way.quote, name, sign)?;
    // The mark for a number becomes a string where its name is one: JSON stays JSON.
    let around = way.name_quote.trim_end_matches(']');
    if way.quote.is_none() && around.ends_with('"') && sign == SeparatorKind::Colon {
        span.quote = Some(around.len());
    }
    Some(span)
}

fn opens_call(left: &str, sign: &str) -> bool {
    let left = left.trim_end_matches([' ', '"', '\'', '`', '\\', ':']);
    sign.ends_with(char::is_whitespace)
        && (left.ends_with(['(', '{']) || left.ends_with("env") || left.ends_with("ENV"))
}

fn classify_separator(sign: &str, before: Option<char>, after: Option<char>) -> SeparatorKind {
    let spaced = sign.contains(char::is_whitespace);
    match sign.trim() {
        typed if typed.starts_with(':') && typed.len() > 2 => SeparatorKind::SpacedEqual,
        "," => SeparatorKind::Comma,
        "==" | "===" | "||" | "??" => SeparatorKind::Equality,
        ":" => SeparatorKind::Colon,
        "=" if matches!(before, Some('?' | '&' | '#')) => SeparatorKind::Query,
        "=" if spaced => SeparatorKind::SpacedEqual,
        "=" if matches!(before, Some('(' | ',')) && after == Some('=') => SeparatorKind::Argument,
        encoded if encoded.starts_with("%3") => SeparatorKind::Encoded,
        "\\u003d" | "\\u003D" => SeparatorKind::Query,
        "=" => SeparatorKind::Equal,
        _ => SeparatorKind::Other,
    }
}

/// How far away the end of a tag may be, in bytes.
const TAG_LIMIT: usize = 160;

/// Finds the value in `<password>x</password>`.
fn find_in_tag(text: &str, start: usize, end: usize) -> Option<SecretSpan> {
    if !text[..start].ends_with(['<', ':']) {
        return None;
    }
    // Attributes may come before the end of the tag.
    let rest = &text[end..];
    let rest = &rest[..rest.floor_char_boundary(TAG_LIMIT)];
    let at = rest
        .find('>')
        .filter(|at| *at == 0 || rest.starts_with(' '))?;
    let begin = end + at + 1;
    let inner = &text[begin..];
    let close = inner
        .find('<')
        .filter(|at| inner[*at..].starts_with("</"))?;
    let place = ValueContext::new(&text[start..end], SeparatorKind::Tag);
    is_quoted_secret(&inner[..close], &place).then(|| value_span(begin, close, place.name))
}

/// The text between a name in an attribute, or in a list of settings, and its value.
static XML_ELEMENT: LazyLock<BytePattern> = LazyLock::new(|| {
    BytePattern::new(
        r#"^(?:"(?: +[\w:]+="[^"<>]{0,80}")* *>\s*(?:<value>)?|</key>\s*<string>)(?<secret>[^<>]{1,400})</"#,
    )
});

/// Finds the value in `<setting name="Token"><value>x</value>`, `<entry key="password">x</entry>`,
/// `<key>Token</key><string>x</string>`.
fn find_in_element(text: &str, start: usize, end: usize) -> Option<SecretSpan> {
    let is_named = text[..start].ends_with(['"', '.', ':', '>']);
    if !is_named || !matches!(text.as_bytes().get(end), Some(b'"' | b'<')) {
        return None;
    }
    let rest = &text[end..];
    let rest = &rest[..rest.floor_char_boundary(1_024)];
    let secret = XML_ELEMENT.find_match(rest)?.first_group_range()?;
    let place = ValueContext::new(&text[start..end], SeparatorKind::Equality);
    is_quoted_secret(&rest[secret.clone()], &place)
        .then(|| value_span(end + secret.start, secret.len(), place.name))
}

fn find_in_call(text: &str, start: usize, end: usize) -> Option<SecretSpan> {
    let way = separators::parse_call_argument(&text[end..])?;
    let name = &text[start..end];
    // "pass" is also a verb: tests pass.
    let is_verb = strip_ending(name, ".pass").is_some() || name.eq_ignore_ascii_case("pass");
    if is_verb || secret_kind(name) != "password" && !text[end..].starts_with('(') {
        return None;
    }
    let value = find_value_at(
        text,
        end + way.value_start,
        way.quote,
        name,
        SeparatorKind::Comma,
    )?;
    let is_long = secret_kind(name) == "password" || value.end - value.start >= MIN_ARGUMENT_BYTES;
    is_long.then_some(value)
}

/// The fewest bytes of an argument that may be a secret: a shorter argument of a function that
/// makes tokens is usually their kind.
const MIN_ARGUMENT_BYTES: usize = 10;

fn find_after_blank(text: &str, start: usize, end: usize) -> Option<SecretSpan> {
    let way = separators::parse_blank_separator(&text[end..])?;
    let name = &text[start..end];
    let left = &text[..start];
    let near = &left[left.ceil_char_boundary(start.saturating_sub(80))..];
    let is_flag = || is_option(left, name) || COMMAND_BEFORE_NAME.is_match(near);
    let sign = match way.separator {
        "" if is_flag() || is_password_row(left, name, &text[end..]) => SeparatorKind::Flag,
        "" => SeparatorKind::Near,
        _ => SeparatorKind::Words,
    };
    find_value_at(text, end + way.value_start, way.quote, name, sign)
}

fn find_beside_name(text: &str, start: usize, end: usize) -> Option<SecretSpan> {
    let ValueSeparator {
        value_start: value,
        quote,
        ..
    } = separators::parse_value_beside(&text[end..])?;
    let left = &text[text[..start].ceil_char_boundary(start.saturating_sub(120))..start];
    if !NAME_FIELD.is_match(left) {
        return None;
    }
    find_value_at(
        text,
        end + value,
        quote,
        &text[start..end],
        SeparatorKind::Colon,
    )
}

pub(super) fn find_value_at(
    text: &str,
    at: usize,
    quote: Option<&str>,
    name: &str,
    sign: SeparatorKind,
) -> Option<SecretSpan> {
    let rest = &text[at..];
    let place = ValueContext::new(name, sign);
    let len = match quote {
        Some(quote) => {
            let len = quoted_len(rest, quote);
            is_quoted_secret(&rest[..len], &place).then_some(len)?
        }
        None => bare_secret_len(rest, &place)?,
    };
    let kind = match sign {
        SeparatorKind::Query | SeparatorKind::Encoded => "query-secret",
        _ => secret_kind(name),
    };
    Some(SecretSpan {
        kind,
        ..value_span(at, len, name)
    })
}

fn value_span(start: usize, len: usize, name: &str) -> SecretSpan {
    SecretSpan {
        context: start,
        start,
        end: start + len,
        kind: secret_kind(name),
        open: false,
        quote: None,
    }
}

/// How many bytes of an unquoted value are checked to decide whether it is a literal.
const MAX_BARE_BYTES: usize = 512;

/// Returns the length of the unquoted secret that `rest` starts with.
fn bare_secret_len(rest: &str, place: &ValueContext<'_>) -> Option<usize> {
    let judged = rest.floor_char_boundary(MAX_BARE_BYTES);
    let len = bare_len(&rest[..judged], place.separator);
    let after = &rest[len..];
    is_bare_secret(&rest[..len], after, place).then(|| {
        if len == judged {
            bare_len(rest, place.separator)
        } else {
            len
        }
    })
}

/// Returns the length of a value up to its closing quote, or to the line's end when there is none.
///
/// A quote with backslashes (JSON inside JSON) is closed by the same kind of quote, or by
/// the end of the string around it.
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

fn bare_len(text: &str, sign: SeparatorKind) -> usize {
    let in_address = matches!(sign, SeparatorKind::Query | SeparatorKind::Encoded);
    let ends = |byte: &u8| match *byte {
        b'"' | b'\'' | b'`' | b',' | b';' | b'&' | b'|' | b'<' | b'>' | b'\\' | 0x7f | ..=b' ' => {
            true
        }
        b'#' | b')' | b']' | b'}' => in_address,
        b'%' => sign == SeparatorKind::Encoded,
        _ => false,
    };
    let end = text
        .bytes()
        .position(|byte| ends(&byte))
        .unwrap_or(text.len());
    let run = &text[..end];
    let end = if run.is_ascii() {
        end
    } else {
        run.find(|c: char| c.is_whitespace() || c.is_control())
            .unwrap_or(end)
    };
    let run = &run[..end];
    // Base64 padding belongs to a value; another key-value pair does not.
    let len = match memchr::memchr(b'=', run.as_bytes()) {
        Some(at) if !run[at..].bytes().all(|byte| byte == b'=') => at,
        Some(_) | None => end,
    };
    let run = &run[..len];
    if !run.ends_with([')', ']', '}', '.', ':']) {
        return len;
    }
    let opens = run.contains(['(', '[', '{']);
    let trimmed =
        run.trim_end_matches(|c| matches!(c, ')' | ']' | '}') && !opens || matches!(c, '.' | ':'));
    trimmed.len()
}
