//! Private keys in PEM armour: on one line, over many lines, or cut before their end.
//!
//! It refuses to know how the lines arrive; it judges one line at a time.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::Span;
use super::pattern::Pattern;

static BEGIN: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        r"^-{4,5} ?BEGIN (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1) ?-{4,5}",
    )
});

/// As much after a begin mark as can be key material.
static MATERIAL: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(r"^(?:(?:\\+[nrt]|[ \t])*[A-Za-z0-9+/=]{16,})*(?:\\+[nrt]|[A-Za-z0-9+/=\\])*")
});

/// What may stand at the end of a line whose string is put together with the next line's.
static GOES_ON: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::new(r#"^["'`]?[ \t]*[+.,\\]?[ \t\r]*$"#));

static END: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        r"-{4,5} ?END (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1) ?-{4,5}",
    )
});

/// A line of base64, an armour header or nothing, behind what diffs, quotes and listings put before a line.
static BODY: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(concat!(
        r#"^[\s>|+\-*#/:\d"']*"#,
        r#"(?:[A-Za-z0-9+/=]*|(?:Proc-Type|DEK-Info|Version|Comment|Hash): .*)"#,
        r#"(?:\\+[nr])*["'`,+.;)\\\s]*$"#,
    ))
});

static ARMOUR: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("BEGIN "));

/// Finds private keys in one line; one that reaches the line's end without its own end is open.
pub(super) fn find(text: &str) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut may_end = true;
    for word in ARMOUR.find_iter(text.as_bytes()) {
        let Some(armour) = armour_start(&text[..word]) else {
            continue;
        };
        if spans.last().is_some_and(|last| armour < last.end) {
            continue;
        }
        let Some(begin) = BEGIN.find(&text[armour..]) else {
            continue;
        };
        let inside = armour + begin.whole().end;
        let rest = &text[inside..];
        // What has no end from here on has none further on.
        let ended = if may_end { end_in(rest) } else { None };
        may_end = ended.is_some();
        let material = || MATERIAL.find(rest).map_or(0, |found| found.whole().end);
        let len = ended.unwrap_or_else(material);
        let after = &rest[len..];
        let goes_on = GOES_ON.is_match(after)
            && (len > 0 || !after.trim_end().ends_with(['"', '\'', '`', ',']));
        let open = ended.is_none() && goes_on;
        // A mark alone, as code that looks for keys has it, is no key.
        if len == 0 && !open {
            continue;
        }
        spans.push(Span {
            context: armour,
            start: armour,
            end: inside + len,
            kind: "private-key",
            open,
            quote: None,
        });
    }
    spans
}

/// Where the hyphens begin that stand before a word.
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
pub(super) fn end_in(line: &str) -> Option<usize> {
    END.find(line).map(|found| found.whole().end)
}

/// Tells whether a line can belong to a key whose first line had `indent` bytes before it.
pub(super) fn is_body(line: &str, indent: usize) -> bool {
    BODY.is_match(line)
        || line.get(indent..).is_some_and(|rest| {
            let is_set_off = !line[..indent].ends_with(|c: char| c.is_ascii_alphanumeric());
            is_set_off && BODY.is_match(rest)
        })
}
