//! Names that secrets are stored under, and names that only sound like it.
//!
//! The text next to a name is not known here.

/// Endings of names for secrets.
pub(super) static SECRET_NAME_ENDINGS: [&str; 112] = [
    "bindpw",
    "-auth",
    "basicauth",
    "basic auth",
    "$pw",
    "$pwd",
    "-pass",
    "seed_phrase",
    "seed phrase",
    "recovery phrase",
    "private-lines",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "credential",
    "credentials",
    "api_key",
    "api-key",
    "apikey",
    "api key",
    "api.key",
    "access_key",
    "access-key",
    "accesskey",
    "access key",
    "access_key_id",
    "accesskeyid",
    "access key id",
    "secret_key",
    "secret-key",
    "secretkey",
    "secret key",
    "secret_key_base",
    "private_key",
    "private-key",
    "privatekey",
    "private key",
    "signing_key",
    "signing-key",
    "signingkey",
    "encryption_key",
    "encryption-key",
    "encryptionkey",
    "auth_key",
    "auth-key",
    "authkey",
    "account_key",
    "accountkey",
    "master_key",
    "masterkey",
    "subscription-key",
    "subscription_key",
    "shared_key",
    "sharedkey",
    "sharedaccesskey",
    "presharedkey",
    "license_key",
    "licensekey",
    "deploy_key",
    "hmac_key",
    "service_key",
    "service_role_key",
    "app_key",
    "_pwd",
    "\"pwd",
    "'pwd",
    ";pwd",
    "; pwd",
    "mysql_pwd",
    "\"auth",
    "_auth",
    "_pat",
    "account-key",
    "storage-key",
    "storage_key",
    "storagekey",
    "master-key",
    "shared-key",
    "license-key",
    "storepass",
    "keypass",
    "sshpass",
    "bearer",
    "passwort",
    "functions-key",
    "_key",
    "requirepass",
    "masterauth",
    "psk",
    "_pw",
    "-pw",
    " pw",
    "\"pw",
    "'pw",
    "mnemonic",
    "secret_id",
    "secret-string",
    "secretstring",
    "key-data",
    "tls.key",
    "dockerconfigjson",
    "pass",
    "secret.key",
    "private.key",
    "access.key",
    "auth_salt",
    "_in_salt",
    "nonce_salt",
    "static key v1",
];

/// Words that end the name of a secret without a qualifier, unlike `key`, which needs one.
static WHOLE_NAME_ENDINGS: [&str; 6] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "passcode",
];

/// Words before `key` in such names; between them may be `_`, `-`, `.`, or nothing.
static KEY_QUALIFIERS: [&str; 11] = [
    "api",
    "access",
    "secret",
    "private",
    "signing",
    "encryption",
    "auth",
    "account",
    "master",
    "subscription",
    "shared",
];

/// Further endings; these must be written exactly like this.
static SHORT_NAME_ENDINGS: [&str; 9] = [
    "_pass",
    "_pwd",
    "_pw",
    "_pat",
    "_auth",
    "sshpass",
    "mysql_pwd",
    "requirepass",
    "secret_id",
];

/// Words in names that are not secret: pages, counts, public halves. They begin with `c`, `n` or `p`.
static HARMLESS_WORDS: [&str; 9] = [
    "public",
    "pagetoken",
    "page_token",
    "page-token",
    "nexttoken",
    "next_token",
    "next-token",
    "continuation",
    "cancellation",
];

/// Parts that make a name harmless, for example names of special tokens of a language model.
static HARMLESS_PARTS: [&str; 11] = [
    "max", "min", "stop", "pad", "eos", "bos", "unk", "sep", "cls", "mask", "design",
];

/// Returns whether a key of an object or table names a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    ends_as_secret(name) && !is_harmless_name(name)
}

/// Like [`is_secret_name`], for a name that is not harmless.
pub(super) fn ends_as_secret(name: &str) -> bool {
    if name.ends_with(['y', 'Y']) {
        return ends_in_qualified_key(name, &KEY_QUALIFIERS);
    }
    let is_whole = ["pass", "pwd"]
        .iter()
        .any(|whole| name.eq_ignore_ascii_case(whole));
    is_whole
        || SHORT_NAME_ENDINGS
            .iter()
            .any(|tail| strip_ending(name, tail).is_some())
        || WHOLE_NAME_ENDINGS
            .iter()
            .any(|ending| strip_ending(name, ending).is_some())
        || ends_in_qualified_key(name, &KEY_QUALIFIERS)
        || strip_name_part(name, "id")
            .is_some_and(|before| ends_in_qualified_key(before, &["access"]))
        || strip_name_part(name, "base")
            .is_some_and(|before| ends_in_qualified_key(before, &["secret"]))
}

pub(super) fn is_harmless_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let begins = |at: usize| {
        let begins_here = |word: &&str| {
            let here = bytes.get(at..at + word.len());
            here.is_some_and(|here| here.eq_ignore_ascii_case(word.as_bytes()))
        };
        matches!(bytes.get(at), Some(b'p' | b'n' | b'c' | b'P' | b'N' | b'C'))
            && HARMLESS_WORDS.iter().any(begins_here)
    };
    let places = bytes.len().saturating_sub(SHORTEST_HARMLESS - 1);
    (0..places).any(begins) || has_harmless_part(name)
}

/// The length of the shortest harmless word.
const SHORTEST_HARMLESS: usize = 6;

/// Returns whether a name ends in `pass` and means something else: `bypass`, `compass`.
pub(super) fn is_other_pass_word(name: &str) -> bool {
    let before = strip_ending(name, "pass");
    let is_inside =
        before.is_some_and(|before| before.ends_with(|c: char| c.is_ascii_alphanumeric()));
    is_inside
        && ![
            "sshpass",
            "requirepass",
            "storepass",
            "keypass",
            "dbpass",
            "userpass",
            "mypass",
        ]
        .iter()
        .any(|word| strip_ending(name, word).is_some())
}

fn has_harmless_part(name: &str) -> bool {
    let mut parts = name
        .as_bytes()
        .split_inclusive(|byte| matches!(byte, b'_' | b'-' | b'.'));
    parts.any(|part| match part {
        [word @ .., b'_' | b'-'] if (3..=6).contains(&word.len()) => HARMLESS_PARTS
            .iter()
            .any(|harmless| word.eq_ignore_ascii_case(harmless.as_bytes())),
        _ => false,
    })
}

fn ends_in_qualified_key(name: &str, keys: &[&str]) -> bool {
    let is_one = |before| keys.iter().any(|key| strip_ending(before, key).is_some());
    strip_name_part(name, "key").is_some_and(is_one)
}

/// Returns the text before a part and before the sign that may separate it.
fn strip_name_part<'t>(name: &'t str, part: &str) -> Option<&'t str> {
    let before = strip_ending(name, part)?;
    Some(before.strip_suffix(['_', '-', '.']).unwrap_or(before))
}

/// Names whose value in a URL is a secret however short it is: nothing else has these names there.
const SECRET_AT_ANY_LENGTH: [&str; 6] = [
    "password",
    "passwd",
    "passphrase",
    "access_token",
    "refresh_token",
    "id_token",
];

/// Returns whether a value in a URL with this name is a secret however short it is.
pub(super) fn is_secret_at_any_length(name: &str) -> bool {
    let mut all = SECRET_AT_ANY_LENGTH.iter();
    all.any(|ending| strip_ending(name, ending).is_some())
}

/// Returns the text before an ending, ignoring case.
pub(super) fn strip_ending<'t>(name: &'t str, ending: &str) -> Option<&'t str> {
    // Most names end differently, and their last letter shows it.
    let (last, end) = (name.as_bytes().last()?, ending.as_bytes().last()?);
    if !last.eq_ignore_ascii_case(end) {
        return None;
    }
    let (before, end) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
    end.eq_ignore_ascii_case(ending).then_some(before)
}

/// Returns whether a word is anywhere in a short text, ignoring case.
pub(super) fn contains_ignore_case(text: &str, word: &str) -> bool {
    let first = word.as_bytes().first().map(u8::to_ascii_lowercase);
    let mut windows = text.as_bytes().windows(word.len());
    windows.any(|window| {
        window.first().map(u8::to_ascii_lowercase) == first
            && window.eq_ignore_ascii_case(word.as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_they_keep() {
        for name in [
            "api_key",
            "x.API-KEY",
            "aws_secret_access_key",
            "accessKeyId",
            "pwd",
            "DB_PASS",
            "authToken",
            "secret_key_base",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "key",
            "public_key",
            "nextPageToken",
            "max_token",
            "eos-token",
            "tokens",
            "a_max_token",
            "compass",
            "cancellationToken",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
        assert!(is_secret_name("maximum_token") && is_secret_name("climax.token"));
    }
}
