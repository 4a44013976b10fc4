//! Secrets that show by their own shape, wherever they stand.
//!
//! It refuses to know the names of keys and settings; that is `pairs`.

use std::sync::LazyLock;

use regex::Regex;

use super::glance::may_hold_hint;
use super::{MARK, Span, pattern};

/// One shape: what finds it, and what must hold besides.
struct Shape {
    kind: &'static str,
    /// Group `secret` is what is replaced.
    regex: Regex,
    /// Refuses what a longer or shorter part of the same match could not save.
    holds: fn(&str) -> bool,
    edge: Edge,
}

/// Whether a shape may start in the middle of a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    Word,
    Anywhere,
}

/// What every secret has in it, so that ordinary lines are passed over quickly.
pub(super) static HINT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)sk-|[sr]k_(?:live|test)_|gh[pousr]_|github_pat_|xox[a-z]-|xapp-|akia|asia|abia|acca|aiza|eyj|npm_|glpat-",
        r"|gl[a-z]{2,5}-|hf_|gsk_|xai-|pypi-|ya29\.|sg\.|dckr_pat_|dop_v1_|whsec_|lin_api_|shp(?:at|ss)_|age-secret",
        r"|-----begin|bearer|basic|authorization|://|key|token|secret|pass|pwd|credential|sig=|signature|auth=|code=|curl",
    ))
});

static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let shape = |kind, text, holds, edge| Shape {
        kind,
        regex: whole_pattern(text, edge),
        holds,
        edge,
    };
    vec![
        shape(
            "api-key",
            r"sk-(?:proj|ant|svcacct|or|admin|live|test|lf|None)-[A-Za-z0-9_-]{8,}",
            always,
            Edge::Word,
        ),
        shape("api-key", r"sk-[A-Za-z0-9_-]{16,}", is_random, Edge::Word),
        shape(
            "api-key",
            r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}",
            always,
            Edge::Word,
        ),
        shape(
            "github-token",
            r"gh[pousr]_[A-Za-z0-9]{16,}",
            always,
            Edge::Word,
        ),
        shape(
            "github-token",
            r"github_pat_[A-Za-z0-9_]{20,}",
            always,
            Edge::Word,
        ),
        shape(
            "gitlab-token",
            r"gl(?:pat|ptt|dt|rt|ft|soat|cbt|agent|oas)-[A-Za-z0-9_-]{16,}",
            always,
            Edge::Word,
        ),
        shape(
            "slack-token",
            r"xox[a-z]-[A-Za-z0-9-]{8,}",
            always,
            Edge::Word,
        ),
        shape(
            "slack-token",
            r"xapp-\d-[A-Za-z0-9-]{8,}",
            always,
            Edge::Word,
        ),
        shape(
            "slack-webhook",
            r"hooks\.slack\.com/(?:services|workflows)/(?<secret>[A-Za-z0-9/+_-]{20,})",
            always,
            Edge::Word,
        ),
        shape(
            "aws-key",
            r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16,}",
            always,
            Edge::Word,
        ),
        shape("google-key", r"AIza[A-Za-z0-9_-]{30,}", always, Edge::Word),
        shape(
            "google-token",
            r"ya29\.[A-Za-z0-9_-]{20,}",
            always,
            Edge::Word,
        ),
        shape(
            "jwt",
            r"eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]+){0,3}",
            always,
            Edge::Word,
        ),
        shape("npm-token", r"npm_[A-Za-z0-9]{20,}", always, Edge::Word),
        shape(
            "huggingface-token",
            r"hf_[A-Za-z0-9]{16,}",
            always,
            Edge::Word,
        ),
        shape("pypi-token", r"pypi-[A-Za-z0-9_-]{30,}", always, Edge::Word),
        shape(
            "api-key",
            r"gsk_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{30,}|lin_api_[A-Za-z0-9]{30,}",
            always,
            Edge::Word,
        ),
        shape(
            "api-key",
            r"dckr_pat_[A-Za-z0-9_-]{20,}|dop_v1_[a-f0-9]{40,}|whsec_[A-Za-z0-9+/]{20,}",
            always,
            Edge::Word,
        ),
        shape(
            "api-key",
            r"shp(?:at|ss|ca|pa)_[a-fA-F0-9]{20,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
            always,
            Edge::Word,
        ),
        shape(
            "private-key",
            r"AGE-SECRET-KEY-1[A-Z0-9]{20,}",
            always,
            Edge::Word,
        ),
        shape(
            "authorization",
            AUTHORIZATION_BARE,
            is_random,
            Edge::Anywhere,
        ),
        shape("password", CURL_USER, is_credential, Edge::Anywhere),
        shape(
            "authorization",
            AUTHORIZATION,
            is_credential,
            Edge::Anywhere,
        ),
        shape(
            "authorization",
            r"(?i)bearer(?:\s+|%20)(?<secret>[A-Za-z0-9._~+/:=-]{16,})",
            is_random,
            Edge::Word,
        ),
        shape(
            "authorization",
            r"(?i)basic(?:\s+|%20)(?<secret>[A-Za-z0-9+/]{12,}={0,2})",
            is_random,
            Edge::Word,
        ),
        shape(
            "url-password",
            r#"(?i)[a-z][a-z0-9+.-]{1,20}://[^\s/@:"'<>]*:(?<secret>[^\s/"'<>]+)@"#,
            is_credential,
            Edge::Anywhere,
        ),
        shape(
            "url-password",
            r#"(?i)[a-z][a-z0-9+.-]{1,20}://(?<secret>[A-Za-z0-9_-]{20,})@"#,
            is_random,
            Edge::Anywhere,
        ),
        shape("query-secret", QUERY, is_query_value, Edge::Anywhere),
    ]
});

const AUTHORIZATION: &str = concat!(
    r#"(?i)authorization\\*["'`]?\s*(?:=>|[:=,])\s*\\*["'`]?\s*"#,
    r#"(?:bearer|basic|token|negotiate|apikey|api-key|key)(?:\s+|%20)(?<secret>[^\s"'`\\,;<>)}\]]+)"#,
);

/// A header whose value has no scheme before it.
const AUTHORIZATION_BARE: &str =
    r#"(?i)authorization\\*["'`]?\s*[:=]\s*\\*["'`]?(?<secret>[a-z0-9._~+/=-]{8,})"#;

const CURL_USER: &str =
    r#"curl\s(?:[^\n]*?\s)?(?:-u|--user)(?:\s+|=)?["']?[^\s:"'$]+:(?<secret>[^\s"']+)"#;

const QUERY: &str = concat!(
    r"(?i)(?:[?&]|&amp;)(?:[a-z0-9_.-]*(?:token|secret|password|passwd|api[_-]?key|apikey|access[_-]?key|private[_-]?key|signature|credential)",
    r#"|key|sig|auth|pwd|pass|code)=(?<secret>[^&#;\s"'`<>\\]+)"#,
);

/// Tells whether a line needs a closer look at all.
pub(crate) fn may_hold_secret(text: &str) -> bool {
    may_hold_hint(text) && HINT.is_match(text)
}

/// Finds every shape in one line; `before` is the character left of it.
pub(super) fn find(text: &str, before: Option<char>) -> Vec<Span> {
    SHAPES
        .iter()
        .flat_map(|shape| find_shape(shape, text, before))
        .collect()
}

fn find_shape(shape: &Shape, text: &str, before: Option<char>) -> Vec<Span> {
    let inside_word = shape.edge == Edge::Word && before.is_some_and(|c| c.is_ascii_alphanumeric());
    let mut spans = Vec::new();
    let mut from = 0;
    while let Some(found) = shape.regex.captures_at(text, from) {
        let (Some(whole), Some(secret)) = (found.get(0), found.name("secret")) else {
            break;
        };
        from = secret.end();
        let begins_text = whole.start() == 0 && secret.start() == 0;
        if !(inside_word && begins_text) && (shape.holds)(secret.as_str()) {
            let (start, end) = (secret.start(), secret.end());
            spans.push(Span {
                context: whole.start(),
                start,
                end,
                kind: shape.kind,
                open: false,
            });
        }
    }
    spans
}

/// A word starts after anything but a letter or digit, and after a written-out `\n`, `\r` or `\t`.
fn whole_pattern(text: &str, edge: Edge) -> Regex {
    let named = if text.contains("(?<secret>") {
        format!("(?:{text})")
    } else {
        format!("(?<secret>{text})")
    };
    match edge {
        Edge::Anywhere => pattern(&named),
        Edge::Word => pattern(&format!(r"(?:^|[^A-Za-z0-9]|\\[nrt]){named}")),
    }
}

fn always(_secret: &str) -> bool {
    true
}

/// Looks like something drawn from a generator: a digit among letters, or a long unbroken run.
fn is_random(secret: &str) -> bool {
    let has = |test: fn(&char) -> bool| secret.chars().any(|c| test(&c));
    let letters_and_digits = has(char::is_ascii_digit) && has(char::is_ascii_alphabetic);
    let unbroken = secret
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|run| run.len() >= 20);
    let mixed =
        has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase) && secret.ends_with('=');
    letters_and_digits || unbroken || mixed
}

/// A value in a place where a secret belongs, unless it stands for one.
fn is_credential(secret: &str) -> bool {
    !secret.starts_with(MARK)
        && !secret.starts_with(['$', '{', '<', '%', '*', '['])
        && !secret.starts_with("...")
}

/// As [`is_credential`]; a short value is a page number or a key of another sort.
fn is_query_value(secret: &str) -> bool {
    is_credential(secret) && secret.len() >= 4
}
