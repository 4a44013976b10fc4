//! The places where any secret may stand: headers, addresses, command lines.

use super::super::judge::{always, is_credential, is_encoded_login, is_password, is_random};
use super::super::{addresses, headers};
use super::{Edge, Rule, after, in_line_with, query, read, word};

/// A row or a few a place.
pub(in super::super) static PLACES: &[Rule] = &[
    read("authorization", &["authorization"], headers::authorization),
    word(read("authorization", &["bearer"], headers::bearer)),
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
    read("url-password", &["://"], addresses::password),
    query(
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
        8,
        is_random,
    ),
    query(
        &[
            "?pwd=",
            "&pwd=",
            "?pass=",
            "&pass=",
            "&amp;pass=",
            "&amp;pwd=",
        ],
        4,
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
