//! Recognises text in place of a secret: words for one, types, examples, references to another place.
//!
//! The names next to it are not known here.

use std::sync::LazyLock;

use super::byte_pattern::BytePattern;
use super::secret_heuristics::is_varied;
use super::secret_names::strip_ending;
use super::secret_span::MARK_PREFIX;

/// Whole values, in upper or lower case.
static PLACEHOLDER_WORDS: [&str; 56] = [
    "none",
    "null",
    "nil",
    "true",
    "false",
    "yes",
    "no",
    "on",
    "off",
    "undefined",
    "required",
    "optional",
    "redacted",
    "removed",
    "masked",
    "hidden",
    "omitted",
    "filtered",
    "empty",
    "unset",
    "missing",
    "invalid",
    "valid",
    "wrong",
    "incorrect",
    "expired",
    "unknown",
    "given",
    "provided",
    "set",
    "changed",
    "prompt",
    "default",
    "input",
    "text",
    "value",
    "field",
    "file",
    "env",
    "any",
    "never",
    "object",
    "function",
    "string",
    "str",
    "bool",
    "boolean",
    "number",
    "integer",
    "array",
    "bytes",
    "secretstr",
    "secretstring",
    "changeme",
    "change-me",
    "change_me",
];

/// How template values begin.
static TEMPLATE_OPENINGS: [&str; 9] = ["$", "<", "{", "%", "[", "..", "…", "***", ".*"];

/// How values begin that are types, examples or instructions to fill something in.
static PLACEHOLDER_BEGINNINGS: [&str; 17] = [
    "workspace:",
    "varchar",
    "text(",
    "example",
    "dummy",
    "placeholder",
    "sample",
    "fake",
    "insert-",
    "insert_",
    "insert ",
    "replace-",
    "replace_",
    "replace ",
    "your-",
    "your_",
    "your ",
];

/// Types with a number, `my_api_key` and similar names, YAML tags.
static PLACEHOLDER_SHAPES: LazyLock<BytePattern> = LazyLock::new(|| {
    BytePattern::new(concat!(
        r"(?i)^(?:char\d*|u?int\d*(?:_t|array)?|[iuf]\d+|float\d*(?:array)?|",
        r"(?:my|the|some|a)[-_ ]?(?:api[-_]?)?(?:token|secret|password|key)|",
        r"@(?:[a-z_]+|(?:microsoft\.keyvault|secret|env|vault|ref)\b.*)|!(?:ref|sub|secret|env|vault|getatt)\b.*|",
        r"#[0-9a-f]{3}(?:[0-9a-f]{3}(?:[0-9a-f]{2})?)?|(?:string|id|password|boolean|int)!)$",
    ))
});

/// The longest value with such a shape, except for tags.
const MAX_SHAPE_BYTES: usize = 20;

/// A reference to another place.
static REFERENCE: LazyLock<BytePattern> = LazyLock::new(|| {
    BytePattern::new(concat!(
        r"^(?:https?://|file:|env:|vault:|op://|arn:|ssm:|secretsmanager:|aws-sm:|gcp:|sm://|keychain:|keyring:|pass:|projects/)",
        r"|^(?:~|\.{1,2})?/[a-z0-9._~-]{0,40}(?:/[A-Za-z0-9._~-]{0,40})*$|^[A-Za-z]:\\|^[\w./-]+\.(?:ya?ml|json|toml|txt|pem|key|crt|rs|py|[jt]sx?|go|md|env)$",
    ))
});

/// Objects that code reads environment variables and settings from; case is ignored.
static ENVIRONMENT_OBJECTS: [&str; 15] = [
    "process.env",
    "import.meta.env",
    "os.environ",
    "ENV",
    "env",
    "settings",
    "config",
    "secrets",
    "vars",
    "local",
    "var",
    "self",
    "this",
    "args",
    "data",
];

/// Endings of variable names for secrets.
static VARIABLE_ENDINGS: [&str; 6] = ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_PASS", "_ID"];

/// Returns whether a value stands for a secret and is not one.
pub(super) fn is_placeholder(value: &str) -> bool {
    is_repeated_char(value)
        || begins_as_placeholder(value)
        || is_placeholder_word(value)
        || has_placeholder_shape(value)
        || is_variable_name(value)
        || value.len() >= 12 && !is_varied(value)
        || contains_your(value)
        || has_punctuation(value) && is_punctuated_placeholder(value)
}

/// Returns whether `your`, as in `your-token`, is anywhere in a value.
fn contains_your(value: &str) -> bool {
    let begins = |at: usize| {
        let here = value.as_bytes().get(at..at + 5).unwrap_or_default();
        matches!(here, [word @ .., b'-' | b'_'] if word.eq_ignore_ascii_case(b"your"))
    };
    memchr::memchr2_iter(b'y', b'Y', value.as_bytes()).any(begins)
}

/// Returns whether a value contains anything but letters, digits, `_` and `-`.
pub(super) fn has_punctuation(value: &str) -> bool {
    // Without a branch, so that the compiler can check many bytes at a time.
    let is_sign = |byte: u8| {
        let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        let is_digit = byte.wrapping_sub(b'0') < 10;
        !(is_letter | is_digit | (byte == b'_') | (byte == b'-'))
    };
    value.bytes().fold(false, |any, byte| any | is_sign(byte))
}

/// Returns whether a value is a placeholder that shows it by a sign.
fn is_punctuated_placeholder(value: &str) -> bool {
    is_reference(value)
        || is_environment_lookup(value)
        || has_template(value)
        || value.contains('[') && value.contains(MARK_PREFIX)
        || value.contains('*') && value.contains("***")
        || value.ends_with("...")
        || value.ends_with('…')
}

/// Returns whether a value is like `xxxx`, `****`, `----`.
fn is_repeated_char(value: &str) -> bool {
    let first = value.chars().next().unwrap_or_default();
    matches!(first, '*' | 'x' | 'X' | '-' | '_' | '•' | '#')
        && value.chars().all(|c| c.eq_ignore_ascii_case(&first))
}

fn begins_as_placeholder(value: &str) -> bool {
    let bytes = value.as_bytes();
    let starts = |beginning: &&str| {
        let start = bytes.get(..beginning.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(beginning.as_bytes()))
    };
    match bytes {
        [first, ..] if !first.is_ascii_alphanumeric() => TEMPLATE_OPENINGS.iter().any(starts),
        [first, .., _, _, _] if first.is_ascii_alphabetic() => {
            bytes.iter().take(4).all(u8::is_ascii_alphabetic)
                && PLACEHOLDER_BEGINNINGS.iter().any(starts)
        }
        _ => false,
    }
}

fn is_placeholder_word(value: &str) -> bool {
    let bytes = value.as_bytes();
    if let [.., b'-' | b'_' | b' ', h, e, r, e2] = bytes
        && [*h, *e, *r, *e2].eq_ignore_ascii_case(b"here")
    {
        return true;
    }
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_');
    bytes.len() <= 12
        && bytes.iter().all(is_letter)
        && PLACEHOLDER_WORDS
            .iter()
            .any(|word| value.eq_ignore_ascii_case(word))
}

fn has_placeholder_shape(value: &str) -> bool {
    let first = value.bytes().next().unwrap_or_default();
    let begins = |word: &&str| {
        let start = value.as_bytes().get(..word.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
    };
    let is_short_type = || {
        matches!(first.to_ascii_lowercase(), b'i' | b'u' | b'f')
            && value.bytes().skip(1).all(|byte| byte.is_ascii_digit())
    };
    let is_named = || {
        ["token", "secret", "password", "key", "!"]
            .iter()
            .any(|end| strip_ending(value, end).is_some())
    };
    let is_short = || {
        first == b'#'
            || ["char", "uint", "int", "float"].iter().any(begins)
            || is_short_type()
            || is_named()
    };
    let may_be = matches!(first, b'@' | b'!') || value.len() <= MAX_SHAPE_BYTES && is_short();
    may_be && PLACEHOLDER_SHAPES.is_match(value)
}

/// Returns whether a value is a setting's own name, such as `OPENAI_API_KEY`.
fn is_variable_name(value: &str) -> bool {
    if !value.starts_with(|c: char| c.is_ascii_uppercase()) {
        return false;
    }
    let before = VARIABLE_ENDINGS
        .iter()
        .find_map(|end| value.strip_suffix(end));
    let is_part = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    before.is_some_and(|before| {
        before.starts_with(|c: char| c.is_ascii_uppercase()) && before.split('_').all(is_part)
    })
}

fn is_reference(value: &str) -> bool {
    let may_be = value.bytes().any(|byte| matches!(byte, b':' | b'/' | b'.'));
    may_be && REFERENCE.is_match(value)
}

/// Returns whether a value is read from the environment or from settings.
pub(super) fn is_environment_lookup(value: &str) -> bool {
    let reads = |name: &&str| {
        let after = value.strip_prefix(*name);
        after.is_some_and(|after| after.starts_with(['.', '[']))
    };
    ENVIRONMENT_OBJECTS.iter().any(reads)
}

/// Returns whether a part of a value is a template, to be filled in elsewhere.
fn has_template(value: &str) -> bool {
    let opens = |pair: &[u8]| matches!(pair, b"${" | b"{{" | b"$(" | b"<%" | b"#{");
    value.as_bytes().windows(2).any(opens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_a_secret_is_told_from_one() {
        for value in [
            "NULL",
            "xxxx",
            "••••",
            "...",
            "...abc",
            "your-token",
            "put_it_here",
            "<token>",
            "${TOKEN}",
            "a${b}",
            "varchar(20)",
            "uint8_t",
            "f32",
            "my_api_key",
            "!vault x",
            "@token",
            "OPENAI_API_KEY",
            "https://x.y",
            "~/.ssh/id",
            "a/b.pem",
            "process.env.X",
            "config[\"x\"]",
            "aaaaaaaaaaaaaaaa",
            "[redacted:key]",
            "ChangeMe",
        ] {
            assert!(is_placeholder(value), "{value}");
        }
        for value in [
            "hunter2",
            "here",
            "nonesuch",
            "Tr0ub4dor&3",
            "A_B_C",
            "integer7q",
        ] {
            assert!(!is_placeholder(value), "{value}");
        }
    }
}
