//! Decides whether a value under a secret name is a secret, or code, a type, a word or a placeholder.

use std::sync::LazyLock;

use super::byte_pattern::BytePattern;
use super::placeholders::{has_punctuation, is_environment_lookup, is_placeholder};
use super::secret_heuristics::{
    has_scrambled_case, is_made_of_name_parts, longest_alphanumeric_run, looks_random,
    looks_strongly_random,
};
use super::secret_names::{
    contains_ignore_case, ends_as_secret, is_secret_at_any_length, strip_ending,
};
use super::secret_span::redaction_mark;

/// The place of a value: its name, its separator and what is around it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueContext<'a> {
    pub(super) name: &'a str,
    pub(super) separator: SeparatorKind,
    is_password: bool,
}

/// What connects a value to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SeparatorKind {
    /// `name: value`
    Colon,
    /// `name=value`
    Equal,
    /// `name = value`
    SpacedEqual,
    /// `(name=value`
    Argument,
    /// `name == value`
    Equality,
    /// `?name=value`
    Query,
    /// `name%3Dvalue`
    Encoded,
    /// `("name", value`
    Comma,
    /// `<name>value</`
    Tag,
    /// `--name value`
    Flag,
    /// `name is value`
    Words,
    /// `name value`
    Near,
    /// `name => value` and other rare forms.
    Other,
}

/// Words in key names that mean something else than a secret key.
const OTHER_KEY_WORDS: [&str; 13] = [
    "cache",
    "primary",
    "foreign",
    "sort",
    "partition",
    "hash",
    "gpg",
    "index",
    "group",
    "routing",
    "lookup",
    "idempot",
    "object",
];

impl<'a> ValueContext<'a> {
    /// Returns whether the name is that of any key: `STRIPE_KEY`.
    fn has_generic_key_name(&self) -> bool {
        self.name.ends_with("_KEY") && !ends_as_secret(self.name)
    }

    /// Returns whether a name ends in `_key` but does not indicate a secret.
    pub(super) fn is_other_key_name(name: &str) -> bool {
        let is_other = || {
            OTHER_KEY_WORDS
                .iter()
                .any(|word| contains_ignore_case(name, word))
        };
        strip_ending(name, "_key").is_some()
            && !ends_as_secret(name)
            && (!name.ends_with("_KEY") || is_other())
    }

    pub(super) fn new(name: &'a str, sign: SeparatorKind) -> Self {
        let is_password = secret_kind(name) == "password";
        Self {
            name,
            separator: sign,
            is_password,
        }
    }
}

/// A field of a variable.
static CODE_PATH: LazyLock<BytePattern> = LazyLock::new(|| {
    BytePattern::new(r"^[&*]?[a-z_][A-Za-z0-9_]*(?:\??\.[A-Za-z_][A-Za-z0-9_]*)+$")
});

/// Algorithms and formats with digits in their names.
static NAMED_DIGITS: LazyLock<BytePattern> = LazyLock::new(|| {
    BytePattern::new(
        r"(?i)sha\d*|md\d|base\d+|utf-?\d+|ed25519|x25519|p\d{3}|secp\d+[rk]\d|rs\d{3}|hs\d{3}|es\d{3}|aes\d*|x509|oauth\d|ipv\d|i18n|pbkdf2|argon2(?:id?)?|pkcs\d+|v\d+",
    )
});

/// `v1.2.3`, `10ms`, `12:30`: numbers with at most three letters.
fn is_version_or_size(value: &str) -> bool {
    let digits = value.strip_prefix('v').unwrap_or(value);
    let unit = |c: char| c.is_ascii_alphabetic() || c == '%';
    let numbers = digits.trim_end_matches(unit);
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.len() - numbers.len() <= 3
        && numbers.split(['.', ':', '_', '-']).all(is_number)
}

pub(super) fn secret_kind(name: &str) -> &'static str {
    let ends = |ending: &str| strip_ending(name, ending).is_some();
    if contains_ignore_case(name, "pass") || ends("pwd") || ends("pw") || ends("psk") {
        "password"
    } else if ends("token") || ends("_pat") || ends("bearer") {
        "token"
    } else if contains_ignore_case(name, "key") {
        "key"
    } else {
        "secret"
    }
}

/// Returns the mark for a string stored under a secret name; `None` if the string is only a placeholder.
pub(crate) fn redact_value(name: &str, value: &str) -> Option<String> {
    is_quoted_secret(value, &ValueContext::new(name, SeparatorKind::Colon))
        .then(|| redaction_mark(secret_kind(name)))
}

/// Like [`redact_value`] for a number: a password may be a number, a token that is a number is a count.
pub(crate) fn redact_number(name: &str) -> Option<String> {
    (secret_kind(name) == "password").then(|| redaction_mark(secret_kind(name)))
}

/// Returns whether a variable's value is the secret itself and not a reference to its place.
pub(super) fn stands_for_secret(value: &str) -> bool {
    !is_placeholder(value) && !value.contains(char::is_whitespace)
}

/// Words that may follow "token is", "key is" or "secret is" in a sentence.
const ORDINARY_WORDS: [&str; 25] = [
    "token",
    "secret",
    "identifier",
    "keyword",
    "bearer",
    "comma",
    "operator",
    "punctuation",
    "newline",
    "comment",
    "literal",
    "whitespace",
    "return",
    "struct",
    "primary",
    "access",
    "refresh",
    "service",
    "private",
    "public",
    "apikey",
    "api_key",
    "header",
    "cookie",
    "session",
];

pub(super) fn is_quoted_secret(value: &str, place: &ValueContext<'_>) -> bool {
    let value = value.trim();
    if place.has_generic_key_name() && !(value.len() >= 20 && looks_strongly_random(value)) {
        return false;
    }
    let needs_digit = matches!(
        place.separator,
        SeparatorKind::Comma | SeparatorKind::Equality | SeparatorKind::Words | SeparatorKind::Near
    );
    // The quote ends the text that the name is in, so no value begins here.
    let is_outside = value.starts_with([')', ',', ';', ']', '}']);
    if value.is_empty()
        || is_outside
        || is_placeholder(value)
        || needs_digit && !is_literal(value, place)
    {
        return false;
    }
    if is_made_of_words(value, place) {
        return false;
    }
    if place.is_password {
        // A label or an error text contains the name of what it asks for; a password does not.
        let tells = ["password", "passphrase", "passcode"]
            .iter()
            .any(|word| contains_ignore_case(value, word));
        let label = value.contains(' ') && (tells || value.ends_with(['.', ':', '?', '…']));
        let code = value.contains('{') && value.contains('}') || value.starts_with("--");
        return !label
            && !code
            && !equals_any(value, &["password", "passwd", "passphrase", "pass"]);
    }
    let is_loose = equals_any(place.name, &["auth", "bearer", "credential", "credentials"])
        || ["_auth", "-auth", "basicauth", "basic auth"]
            .iter()
            .any(|ending| strip_ending(place.name, ending).is_some());
    if is_loose && !is_literal(value, place) {
        return value.len() >= 12 && value.ends_with('=');
    }
    let word = equals_any(value, &ORDINARY_WORDS);
    let is_phrase =
        contains_ignore_case(place.name, "mnemonic") || contains_ignore_case(place.name, "phrase");
    value.len() >= 6
        && (is_phrase && value.split(' ').count() >= 12 || !value.contains(char::is_whitespace))
        && !is_regular_expression(value)
        && !word
        && !is_version_or_size(value)
}

/// Returns whether a string in a list under a secret name is a secret; most are words.
pub(super) fn is_listed_secret(value: &str, name: &str) -> bool {
    let place = ValueContext::new(name, SeparatorKind::Colon);
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    (has_digit || has_scrambled_case(value))
        && !value.contains('/')
        && is_literal(value, &place)
        && is_quoted_secret(value, &place)
}

/// Accepts letters, digits and signs up to the line's end, as users choose passwords.
fn is_chosen_password(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.bytes().any(|byte| test(&byte));
    value.len() >= 8
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && value.contains(['!', '*', '%', '^', '~', '@', '#'])
        && !value.contains(['.', '/', '{', '='])
        && value.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !is_placeholder(value)
}

/// Returns whether a value is a name, a version or a pattern in code; no secret looks like that.
fn is_made_of_words(value: &str, place: &ValueContext<'_>) -> bool {
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let is_token = || {
        value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
    };
    let is_pattern =
        strip_ending(place.name, "_pat").is_some() && !(value.len() >= 16 && is_token());
    let is_hidden_name = value.starts_with("__") || value.starts_with('_') && !has_digit;
    let is_lower_word = place.separator == SeparatorKind::Colon
        && !place.is_password
        && value.len() <= 7
        && value.bytes().all(|byte| byte.is_ascii_lowercase());
    let plain = value.strip_prefix(['^', '~']).unwrap_or(value);
    let release = plain.split_once('-').filter(|(_, kind)| kind.len() <= 12);
    let plain = release.map_or(plain, |(version, _)| version);
    let is_version = plain.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && plain.contains('.')
        && plain
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_pattern || is_hidden_name || is_lower_word || is_version || is_constant(value)
}

/// `NDIS_802_11_AUTHENTICATION_MODE`
fn is_constant(value: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && part.len() <= 16
            && part
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    let is_word = |part: &&str| part.bytes().all(|byte| byte.is_ascii_uppercase());
    if value.bytes().any(|byte| byte.is_ascii_lowercase()) {
        return false;
    }
    let n_parts = memchr::memchr_iter(b'_', value.as_bytes()).count() + 1;
    n_parts >= 3
        && value.split('_').all(is_part)
        && 2 * value.split('_').filter(is_word).count() >= n_parts
}

/// A regular expression, as in code that looks for tokens.
fn is_regular_expression(value: &str) -> bool {
    ["(?", "[^", "]+", "]*", "\\s", "\\d", "\\w", "\\b"]
        .iter()
        .any(|sign| value.contains(sign))
}

/// Returns whether the text after a name in a report is the secret itself and not a time, path or word.
pub(super) fn is_reported_secret(value: &str) -> bool {
    let starts_with_digit = value.starts_with(|c: char| c.is_ascii_digit());
    looks_random(value)
        && !is_placeholder(value)
        && !is_code(value)
        && !value.contains(['/', '@', '\\'])
        && !is_version_or_size(value)
        && !has_digits_in_names_only(value)
        && (!starts_with_digit || longest_alphanumeric_run(value) >= 12)
}

fn equals_any(name: &str, all: &[&str]) -> bool {
    all.iter().any(|one| name.eq_ignore_ascii_case(one))
}

fn allows_any_length(place: &ValueContext<'_>) -> bool {
    matches!(
        place.separator,
        SeparatorKind::Query | SeparatorKind::Encoded
    ) && is_secret_at_any_length(place.name)
}

/// Returns whether an unquoted value is a secret; `after` is the text after it in the line.
pub(super) fn is_bare_secret(value: &str, after: &str, place: &ValueContext<'_>) -> bool {
    let next = after.chars().next();
    let is_count =
        equals_any(place.name, &["pass"]) && !value.bytes().any(|byte| byte.is_ascii_alphabetic());
    if is_count {
        return false;
    }
    if is_placeholder(value)
        || is_made_of_words(value, place)
        || value.len() < 3 && !allows_any_length(place)
        || after.starts_with("..")
        || after.starts_with('…')
    {
        return false;
    }
    if place.has_generic_key_name() {
        let is_constant_key = matches!(
            place.separator,
            SeparatorKind::Equal | SeparatorKind::SpacedEqual | SeparatorKind::Colon
        );
        return is_constant_key
            && value.len() >= 20
            && looks_strongly_random(value)
            && !is_code(value);
    }
    let is_constant =
        place.name.len() > 1 && !place.name.bytes().any(|byte| byte.is_ascii_lowercase());
    match place.separator {
        SeparatorKind::Comma | SeparatorKind::Equality | SeparatorKind::Tag => false,
        SeparatorKind::Query | SeparatorKind::Encoded => {
            (value.len() >= 4 || allows_any_length(place)) && !value.is_empty() && !is_code(value)
        }
        SeparatorKind::Equal if is_constant => {
            let is_count = value.bytes().all(|byte| byte.is_ascii_digit()) && !place.is_password;
            !is_code(value) && !is_code_path(value) && !is_count
        }
        SeparatorKind::Flag if place.is_password => {
            !is_code(value) && value.len() >= 4 && has_digit_or_mark(value)
                || is_literal(value, place)
        }
        SeparatorKind::Flag => {
            !is_code(value)
                && !is_made_of_name_parts(value)
                && value.len() >= 6
                && (has_digit_or_mark(value) || has_scrambled_case(value))
        }
        SeparatorKind::Words => {
            is_secret_in_sentence(value, place) || value.len() >= 20 && looks_strongly_random(value)
        }
        SeparatorKind::Near => value.len() >= 20 && looks_strongly_random(value),
        SeparatorKind::Colon if after.trim().is_empty() && is_chosen_password(value) => true,
        SeparatorKind::Equal if place.is_password && is_lone_word(value, next) => true,
        SeparatorKind::Colon
            if place.is_password
                && value.len() >= 6
                && is_lone_word(value, next)
                && after.trim().is_empty() =>
        {
            true
        }
        SeparatorKind::Colon
        | SeparatorKind::Equal
        | SeparatorKind::SpacedEqual
        | SeparatorKind::Argument
        | SeparatorKind::Other => {
            // A spaced assignment that ends in `;` is code, `Password=x;` is not; `<` belongs to a type.
            let code = matches!(next, Some('<' | '>'))
                || next == Some(';') && place.separator != SeparatorKind::Equal;
            !code && !is_code_variable(value, place) && is_literal(value, place)
        }
    }
}

/// A word of letters that may be a password: not a name in code.
fn is_lone_word(value: &str, next: Option<char>) -> bool {
    value.len() >= 4
        && value
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'!'))
        && !matches!(next, Some(',' | '<' | '>' | '(' | ')'))
        && !["pass", "token", "secret", "pwd"]
            .iter()
            .any(|word| contains_ignore_case(value, word))
}

/// A value in a sentence; most sentences are about secrets and contain none.
fn is_secret_in_sentence(value: &str, place: &ValueContext<'_>) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    digits >= 1
        && !is_made_of_name_parts(value)
        && !value.starts_with(|c: char| c.is_ascii_digit())
        && is_literal(value, place)
}

fn has_digit_or_mark(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit()) || value.contains(['!', '@', '#', '%', '^'])
}

fn is_code(value: &str) -> bool {
    has_punctuation(value) && is_punctuated_code(value)
}

fn is_punctuated_code(value: &str) -> bool {
    value.starts_with(['$', '(', '{', '[', ':', '=', '&'])
        || value.contains("::")
        || value.contains("$(")
        || value.contains("${")
        || value.ends_with([')', ']', '}', '?']) && value.contains(['(', '[', '{', '?'])
        || value.contains("(") && value.contains(")")
        || is_environment_lookup(value)
}

/// A variable's field, and not a token that happens to contain a dot.
fn is_code_path(value: &str) -> bool {
    let has_digit = || value.bytes().any(|byte| byte.is_ascii_digit());
    memchr::memchr(b'.', value.as_bytes()).is_some()
        && CODE_PATH.is_match(value)
        && !(has_digit() && longest_alphanumeric_run(value) >= 20)
}

/// `token = row2` in code without semicolons.
fn is_code_variable(value: &str, place: &ValueContext<'_>) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let is_name = value
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let begins = value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let spaced = matches!(
        place.separator,
        SeparatorKind::SpacedEqual | SeparatorKind::Argument | SeparatorKind::Other
    );
    is_name
        && value.len() < 20
        && !has_scrambled_case(value)
        && begins
        && digits <= 1
        && (!place.is_password && spaced || value.contains('_') && digits == 0)
}

/// Returns whether a value is a literal and not code: a path, a call, a type, a variable.
fn is_literal(value: &str, place: &ValueContext<'_>) -> bool {
    let code =
        is_code(value) || value.contains(['(', ')', '{', '}', '[', ']']) || value.starts_with('*');
    let is_rule = value.contains('*') && !place.is_password;
    if is_placeholder(value) || code || is_rule || is_code_path(value) {
        return false;
    }
    let count = |test: fn(&u8) -> bool| value.bytes().filter(test).count();
    let (digits, letters) = (count(u8::is_ascii_digit), count(u8::is_ascii_alphabetic));
    let is_identifier = value
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_identifier
        && digits <= 1
        && ["token", "secret", "password", "passwd", "api_key", "apikey"]
            .iter()
            .any(|word| contains_ignore_case(value, word))
    {
        return false;
    }
    let marks = value.contains(['!', '@', '#', '%', '^', '$', '*']);
    if place.is_password {
        let is_format = place.separator == SeparatorKind::Comma
            && digits > 0
            && has_digits_in_names_only(value);
        return !is_format
            && (digits > 0 || marks || has_scrambled_case(value))
            && (letters > 0 || digits >= 4)
            && value.len() >= 4
            && !is_duration(value);
    }
    let is_named = digits > 0
        && !has_scrambled_case(value)
        && longest_alphanumeric_run(value) < 20
        && has_digits_in_names_only(value);
    // Objects that contain secrets have names made of words; secrets do not.
    let is_object = equals_any(place.name, &["secret", "credential", "credentials"])
        && is_made_of_name_parts(value);
    (digits > 0 && letters > 0 && value.len() >= 6
        || value.len() >= 16 && has_scrambled_case(value))
        && !is_named
        && !is_object
        && !is_version_or_size(value)
}

fn has_digits_in_names_only(value: &str) -> bool {
    let mut rest = value;
    let mut between = String::new();
    while let Some(found) = NAMED_DIGITS.find_match(rest) {
        let (before, after) = (
            &rest[..found.whole_range().start],
            &rest[found.whole_range().end..],
        );
        between.push_str(before);
        rest = after;
    }
    between.push_str(rest);
    between.len() < value.len() && !between.bytes().any(|byte| byte.is_ascii_digit())
}

fn is_duration(value: &str) -> bool {
    is_version_or_size(value) && value.ends_with(|c: char| c.is_ascii_alphabetic() || c == '%')
}
