//! Replaces values that are known to be secret wherever they appear: those of secret environment variables.
//!
//! The environment is not read here; the caller that starts the program sets the source once.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::prefilter;
use super::secret_names::is_secret_name;
use super::secret_span::SecretSpan;
use super::secret_values::stands_for_secret;

/// The shortest value that is replaced, in bytes: a shorter one is likely to be an ordinary word.
const MIN_SECRET_BYTES: usize = 8;

/// Known secret values to replace.
#[derive(Debug, Clone)]
pub struct EnvSecrets {
    automaton: AhoCorasick,
}

/// The values for this process. Text is cleaned in a hundred places, many of them deep in layers that pass no context
/// down; one that forgot to pass the values would leak a secret. So the values are set once, before the first text, and
/// never change: the output still depends only on the input.
static ENV_SECRETS: OnceLock<Option<EnvSecrets>> = OnceLock::new();

/// The function that returns the secret values.
static SECRET_SOURCE: OnceLock<fn() -> Option<EnvSecrets>> = OnceLock::new();

/// Sets the source of the secret values for the rest of the process. Only the first call counts. The source is called
/// once, when the first text is checked, because checking the names takes too long to do at every start.
pub fn set_secret_source(source: fn() -> Option<EnvSecrets>) {
    let _already = SECRET_SOURCE.set(source);
}

impl EnvSecrets {
    /// Takes the names and values of variables and keeps the values of those that name a secret.
    ///
    /// `None` when there is nothing to keep.
    pub fn from_variables(variables: impl IntoIterator<Item = (String, String)>) -> Option<Self> {
        let mut values: Vec<String> = variables
            .into_iter()
            .filter(|(name, value)| is_secret_variable(name) && is_replaceable(value))
            .flat_map(|(_, value)| spellings(value.trim()))
            .collect();
        values.sort();
        values.dedup();
        if values.is_empty() {
            return None;
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(values);
        automaton.ok().map(|automaton| Self { automaton })
    }

    /// Finds the values in one line.
    pub(super) fn find_spans(&self, text: &str) -> Vec<SecretSpan> {
        let spans = self.automaton.find_iter(text).map(|found| SecretSpan {
            context: found.start(),
            start: found.start(),
            end: found.end(),
            kind: "known-value",
            open: false,
            quote: None,
        });
        spans.collect()
    }

    /// Returns the positions in a text where a value begins.
    pub(super) fn match_starts<'t>(&'t self, text: &'t str) -> impl Iterator<Item = usize> + 't {
        self.automaton.find_iter(text).map(|found| found.start())
    }
}

/// Returns the secret values of this process.
pub(super) fn env_secrets() -> Option<&'static EnvSecrets> {
    let ask = || SECRET_SOURCE.get().and_then(|source| source());
    ENV_SECRETS.get_or_init(ask).as_ref()
}

/// Returns whether a text needs a closer look at all.
pub(crate) fn may_hold_secret(text: &str) -> bool {
    prefilter::has_hint(text, env_secrets())
}

fn is_secret_variable(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    // Every shell sets these two, and their values are folders.
    let is_folder = matches!(upper.as_str(), "PWD" | "OLDPWD");
    if is_folder
        || !["KEY", "TOKEN", "SECRET", "PASS", "PWD", "PAT", "AUTH"]
            .iter()
            .any(|word| upper.contains(word))
    {
        return false;
    }
    let is_key = upper.ends_with("_KEY")
        && !["PUBLIC", "CACHE", "GPG"]
            .iter()
            .any(|word| upper.contains(word));
    let is_name =
        is_secret_name(name) || is_key || upper.ends_with("PASSWD") || upper.ends_with("_PAT");
    is_name && !upper.ends_with("ASKPASS")
}

fn is_replaceable(value: &str) -> bool {
    let value = value.trim();
    value.len() >= MIN_SECRET_BYTES && !value.contains('\n') && stands_for_secret(value)
}

/// Returns the value, and the way JSON and URLs write it.
fn spellings(value: &str) -> Vec<String> {
    let json = serde_json::Value::String(value.to_owned()).to_string();
    let percent = value.bytes().map(|byte| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    });
    vec![
        value.to_owned(),
        json.get(1..json.len() - 1).unwrap_or_default().to_owned(),
        percent.collect(),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::SecretRedactor;
    use super::*;

    #[test]
    fn known_values_are_replaced_wherever_they_stand() {
        let variables = [
            ("MY_API_KEY", "correct/horse \"battery"),
            ("MY_SECRET", "qwertyuiop"),
            ("MY_TOKEN", "short"),
            ("GIT_ASKPASS", "/usr/bin/askpass"),
            ("PASSWORD_HINT", "something else"),
            ("OTHER_TOKEN", "${FROM_ELSEWHERE}"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let known: &EnvSecrets = Box::leak(Box::new(
            EnvSecrets::from_variables(variables).expect("some are kept"),
        ));
        let redact = |text: &str| {
            let mut redactor = SecretRedactor::with_known_secrets(known);
            redactor.push(text) + &redactor.finish()
        };
        for (text, expected) in [
            ("xqwertyuiopx", "x[redacted:known-value]x"),
            (
                "a short something else /usr/bin/askpass ${FROM_ELSEWHERE}",
                "a short something else /usr/bin/askpass ${FROM_ELSEWHERE}",
            ),
            (
                "{\"a\":\"qwertyuiop\"}",
                "{\"a\":\"[redacted:known-value]\"}",
            ),
        ] {
            assert_eq!(redact(text), expected);
        }
    }
}
