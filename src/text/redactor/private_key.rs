//! Finds private keys in PEM armour: on one line, over many lines, or cut before their end.
//!
//! Each line is judged by itself, however the lines arrive.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::byte_pattern::BytePattern;
use super::secret_span::SecretSpan;

/// The kind in the marks of private keys.
pub(super) const PRIVATE_KEY_KIND: &str = "private-key";

static BEGIN: LazyLock<BytePattern> = LazyLock::new(|| {
    BytePattern::new(
        r"^-{4,5} ?BEGIN (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1) ?-{4,5}",
    )
});

/// Matches as much text after a begin mark as may be key material.
static MATERIAL: LazyLock<BytePattern> = LazyLock::new(|| {
    BytePattern::new(r"^(?:(?:\\+[nrt]|[ \t])*[A-Za-z0-9+/=]{16,})*(?:\\+[nrt]|[A-Za-z0-9+/=\\])*")
});

/// What may come at the end of a line whose string is joined with the next line's.
static CONTINUES_NEXT_LINE: LazyLock<BytePattern> =
    LazyLock::new(|| BytePattern::new(r#"^["'`]?[ \t]*[+.,\\]?[ \t\r]*$"#));

static END: LazyLock<BytePattern> = LazyLock::new(|| {
    BytePattern::new(
        r"-{4,5} ?END (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1) ?-{4,5}",
    )
});

/// A line of base64, an armour header or nothing, after the prefixes of diffs, quotes and listings.
static BODY: LazyLock<BytePattern> = LazyLock::new(|| {
    BytePattern::new(concat!(
        r#"^[\s>|+\-*#/:\d"']*"#,
        r#"(?:[A-Za-z0-9+/=]*|(?:Proc-Type|DEK-Info|Version|Comment|Hash): .*)"#,
        r#"(?:\\+[nr])*["'`,+.;)\\\s]*$"#,
    ))
});

static ARMOUR: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("BEGIN "));

/// Finds private keys in one line; a key that reaches the line's end without an end mark is open.
pub(super) fn find_private_keys(text: &str) -> Vec<SecretSpan> {
    let mut spans: Vec<SecretSpan> = Vec::new();
    let mut may_end = true;
    // A mark that is not a key by itself; a key after it on the same line may continue on the next line.
    let mut bare: Option<usize> = None;
    for word in ARMOUR.find_iter(text.as_bytes()) {
        let Some(armour) = armour_start(&text[..word]) else {
            continue;
        };
        if spans.last().is_some_and(|last| armour < last.end) {
            continue;
        }
        let Some(begin) = BEGIN.find_match(&text[armour..]) else {
            continue;
        };
        let inside = armour + begin.whole_range().end;
        let rest = &text[inside..];
        // If there is no end mark from here, there is none later.
        let ended = if may_end { find_key_end(rest) } else { None };
        may_end = ended.is_some();
        let material = || {
            MATERIAL
                .find_match(rest)
                .map_or(0, |found| found.whole_range().end)
        };
        let len = ended.unwrap_or_else(material);
        let after = &rest[len..];
        let goes_on = CONTINUES_NEXT_LINE.is_match(after)
            && (len > 0 || !after.trim_end().ends_with(['"', '\'', '`', ',']));
        let open = ended.is_none() && goes_on;
        // A mark alone, as in code that looks for keys, is not a key.
        if len == 0 && !open {
            bare.get_or_insert(armour);
            continue;
        }
        // Otherwise the end mark of the key that continues would seem to end the wrong part.
        let start = bare.take().filter(|_| open).unwrap_or(armour);
        spans.push(SecretSpan {
            context: start,
            start,
            end: inside + len,
            kind: PRIVATE_KEY_KIND,
            open,
            quote: None,
        });
    }
    spans.extend(find_key_lines(text));
    spans
}

/// The line before the lines of a key without armour.
static PRIVATE_LINES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("Private-Lines: "));

/// Finds the number of a key's lines, and the part of the key on the same line.
fn find_key_lines(text: &str) -> Option<SecretSpan> {
    let start = PRIVATE_LINES.find(text.as_bytes())? + PRIVATE_LINES.needle().len();
    let n_digits = text[start..].bytes().take_while(u8::is_ascii_digit).count();
    let rest = &text[start + n_digits..];
    let len = MATERIAL
        .find_match(rest)
        .map_or(0, |found| found.whole_range().end);
    let open = CONTINUES_NEXT_LINE.is_match(&rest[len..]);
    (n_digits > 0 && !text[start..].starts_with('0') && (len > 0 || open)).then_some(SecretSpan {
        context: start,
        start,
        end: start + n_digits + len,
        kind: PRIVATE_KEY_KIND,
        open,
        quote: None,
    })
}

/// Where the lines of a key are in a log with one object per line: after this member's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeyLogRecord(String);

impl KeyLogRecord {
    /// Returns the position of a key that begins in an object whose string ends with the key's first line.
    pub(super) fn from_first_line(line: &str) -> Option<Self> {
        let is_object = line.trim_start().starts_with('{') && line.trim_end().ends_with('}');
        if !is_object {
            return None;
        }
        let armour = armour_start(&line[..ARMOUR.find(line.as_bytes())?])?;
        let begin = armour + BEGIN.find_match(&line[armour..])?.whole_range().end;
        let is_whole = ["\"", "\\n\"", "\\r\\n\""]
            .iter()
            .any(|end| line[begin..].starts_with(end));
        let member = line[..armour].rfind(['{', ','])? + 1;
        let member = line[member..armour].trim_start();
        (is_whole && member.ends_with('"')).then(|| Self(member.to_owned()))
    }

    /// Finds the key's line in the next object, and returns whether the key ends there.
    pub(super) fn find_key_line(&self, line: &str) -> (Option<SecretSpan>, bool) {
        let Some(at) = line.find(&self.0) else {
            return (None, true);
        };
        let start = at + self.0.len();
        let value = &line[start..];
        let value = &value[..value.find(['"', '\\']).unwrap_or(value.len())];
        let ends = find_key_end(value).is_some();
        let is_key = !value.is_empty() && (ends || is_key_body(value, 0));
        let span = is_key.then_some(SecretSpan {
            context: start,
            start,
            end: start + value.len(),
            kind: PRIVATE_KEY_KIND,
            open: false,
            quote: None,
        });
        (span, ends || !is_key)
    }
}

/// Returns where the hyphens before a word begin.
fn armour_start(left: &str) -> Option<usize> {
    let trimmed = left.strip_suffix(' ').unwrap_or(left);
    let hyphens = trimmed
        .bytes()
        .rev()
        .take(5)
        .take_while(|byte| *byte == b'-');
    let n = hyphens.count();
    (n >= 4).then_some(trimmed.len() - n)
}

/// Finds where a key ends in a line inside it: the byte after the end mark.
pub(super) fn find_key_end(line: &str) -> Option<usize> {
    END.find_match(line).map(|found| found.whole_range().end)
}

/// Returns whether a line can belong to a key whose first line had `indent` bytes before it.
pub(super) fn is_key_body(line: &str, indent: usize) -> bool {
    BODY.is_match(line)
        || line.get(indent..).is_some_and(|rest| {
            let is_set_off = !line[..indent].ends_with(|c: char| c.is_ascii_alphanumeric());
            is_set_off && BODY.is_match(rest)
        })
}
