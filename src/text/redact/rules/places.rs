//! The places where any secret may stand: headers, addresses, command lines.

use super::super::judge::{always, is_credential, is_encoded_login, is_password, is_random};
use super::{Edge, Rule, after, in_line_with, word};

/// A row or a few a place.
pub(in super::super) static PLACES: &[Rule] = &[
    after(
        "authorization",
        &["authorization"],
        AUTHORIZATION_KNOWN,
        is_credential,
    ),
    after(
        "authorization",
        &["authorization"],
        AUTHORIZATION_LISTED,
        is_credential,
    ),
    after(
        "authorization",
        &["authorization"],
        AUTHORIZATION_OTHER,
        is_random,
    ),
    word(after(
        "authorization",
        &["bearer"],
        r#"bearer(?:\\?\s+|%20|\+|\s*[:=]\s*)\\*["']?(?<secret>[A-Za-z0-9._~+/:=|-]{10,})"#,
        is_random,
    )),
    word(after(
        "authorization",
        &["basic"],
        r"basic(?:\s+|%20|\+)(?<secret>[A-Za-z0-9+/]{8,}={0,2})",
        is_encoded_login,
    )),
    after(
        "cookie",
        &["set-cookie"],
        r#"set-cookie\\*["'`]?\s*[:,]\s*\[?\s*\\*["'`]?[\w.$-]+=(?<secret>[^;\s"'`\\,]{4,})"#,
        is_credential,
    ),
    Rule {
        edge: Edge::Alone,
        ..after(
            "cookie",
            &["cookie"],
            r#"cookie\\*["'`]?\s*:\s*\\*["'`]?(?<secret>[\w.$-]+=[^;\s"'`\\,]+(?:;\s*[\w.$-]+=[^;\s"'`\\,]*)*)"#,
            always,
        )
    },
    in_line_with(
        &["curl"],
        after(
            "cookie",
            &[" -b ", "--cookie"],
            r#"(?: -b|--cookie[= ])\s*["']?(?<secret>[\w.$-]+=[^;\s"'`\\]+(?:;\s*[\w.$-]+=[^;\s"'`\\]*)*)"#,
            is_credential,
        ),
    ),
    after(
        "url-password",
        &["://"],
        r#"://[^\s/@:"'<>\\]*:(?<secret>[^\s/"'<>\\]+)@"#,
        is_credential,
    ),
    after(
        "url-password",
        &["://"],
        r"://(?<secret>[A-Za-z0-9_-]{16,})@",
        is_random,
    ),
    after(
        "query-secret",
        &[
            "?key=",
            "&key=",
            ";key=",
            "?sig=",
            "&sig=",
            ";sig=",
            "?auth=",
            "&auth=",
            ";auth=",
            "?jwt=",
            "&jwt=",
            "?code=",
            "&code=",
            "signature=",
        ],
        r#".{0,5}?[a-z]+=(?<secret>[^&#;\s"'`<>\\)\]},]{8,})"#,
        is_random,
    ),
    after(
        "query-secret",
        &[
            "?pwd=",
            "&pwd=",
            "?pass=",
            "&pass=",
            "&amp;pass=",
            "&amp;pwd=",
        ],
        r#".{0,5}?(?:pwd|pass)=(?<secret>[^&#;\s"'`<>\\)\]},]{4,})"#,
        is_credential,
    ),
    in_line_with(
        &["curl", "http", "wget"],
        after(
            "password",
            &[" -u", " -a ", " --user", " --proxy-user"],
            r#" (?:-u|-a|--user|--proxy-user)(?:\s+|=)?["']?[^\s:"'$]+:(?<secret>[^\s"'\\]+)"#,
            is_credential,
        ),
    ),
    in_line_with(
        &["sshpass", "login", "redis-cli", "ldap", "mongo"],
        after(
            "password",
            &[" -p", " -a ", " -w "],
            r#" -[paw]\s*["']?(?<secret>[^\s"'\\-][^\s"'\\]*)"#,
            is_password,
        ),
    ),
    in_line_with(
        &["mysql", "mariadb"],
        after(
            "password",
            &[" -p"],
            r#"(?-i) -p["']?(?<secret>[^\s"'\\-][^\s"'\\]*)"#,
            is_password,
        ),
    ),
    in_line_with(
        &["openssl"],
        after(
            "password",
            &["pass:"],
            r#"pass:(?<secret>[^\s"'\\]+)"#,
            is_credential,
        ),
    ),
    in_line_with(
        &["sshpass", "login", "redis-cli"],
        after(
            "password",
            &["\"-p\"", "\"-a\""],
            r#""-[pa]",\s?"(?<secret>[^"\\]+)"#,
            is_password,
        ),
    ),
    after(
        "password",
        &["identified by"],
        r#"identified\s+by\s+\\*["'](?<secret>[^"'\\]+)"#,
        is_credential,
    ),
];

const AUTHORIZATION_KNOWN: &str = concat!(
    r#"authorization\\*["'`]?\s*(?:=>|[:=,]|%3a)\s*\[?\s*\\*["'`]?\s*"#,
    r#"(?:bearer|basic|token|negotiate|ntlm|apikey|api-key|api_key|key|jwt|bot|splunk|genie-?key|sso-key|dpop|flyv1|bearertoken)"#,
    r#"(?:\\?\s+|%20|\+)(?<secret>[^\s"'`\\,;<>)}\]]+)"#,
);

/// Schemes whose credentials are a list.
const AUTHORIZATION_LISTED: &str = concat!(
    r#"authorization\\*["'`]?\s*(?:=>|[:=,])\s*\[?\s*\\*["'`]?\s*"#,
    r#"(?:digest|aws4-[a-z0-9-]+|hawk|oauth|signature|hmac[a-z0-9-]*|sharedkey\w*)\s+"#,
    r#"(?<secret>(?:="[^"\n]{0,300}"|[^"'\\\n]|\\+")+)"#,
);

/// A header with another scheme or none.
const AUTHORIZATION_OTHER: &str = concat!(
    r#"authorization\\*["'`]?\s*[:=]\s*\\*["'`]?"#,
    r#"(?:[a-z][a-z0-9_-]{1,30}(?:\s+|%20))?(?<secret>[a-z0-9._~+/:|-]{8,}={0,2})"#,
);
