//! Rules for places where any secret may be: headers, URLs, command lines.

use super::super::secret_heuristics::{
    accept_any, has_secret_cookie, looks_random, may_be_credential, may_be_encoded_login,
    may_be_password,
};
use super::super::{auth_headers, url_logins};
use super::{
    RedactionRule, WordEdge, at_word_start, finder_rule, needs_nearby_word, pattern_rule,
    query_rule,
};

/// One or a few rules for each place.
pub(in super::super) static CONTEXT_RULES: &[RedactionRule] = &[
    finder_rule(
        "authorization",
        &["authorization"],
        auth_headers::find_authorization,
    ),
    at_word_start(finder_rule(
        "authorization",
        &["bearer"],
        auth_headers::find_bearer,
    )),
    at_word_start(pattern_rule(
        "authorization",
        &["basic"],
        r"basic(?:\s+|%20|\+)(?<secret>[A-Za-z0-9+/]{8,}={0,2})",
        may_be_encoded_login,
    )),
    pattern_rule(
        "cookie",
        &["set-cookie"],
        r#"set-cookie2?\\*["'`]?\s*[:,]\s*\[?\s*\\*["'`]?[\w.$-]+=(?<secret>[^;\s"'`\\,]{4,})"#,
        may_be_credential,
    ),
    RedactionRule {
        edge: WordEdge::UnhyphenatedWordStart,
        ..pattern_rule(
            "cookie",
            &["cookie"],
            r#"cookie(?:\\*["'`]?\s*[:=]|\\*["'`]\s*,)\s*b?\\*["'`]?(?<secret>[\w.$-]+=[^;\s"'`\\,]+(?:;\s*[\w.$-]+=[^;\s"'`\\,]*)*)"#,
            has_secret_cookie,
        )
    },
    needs_nearby_word(
        &["curl"],
        pattern_rule(
            "cookie",
            &[" -b ", "--cookie"],
            r#"(?: -b|--cookie[= ])\s*["']?(?<secret>[\w.$-]+=[^;\s"'`\\]+(?:;\s*[\w.$-]+=[^;\s"'`\\]*)*)"#,
            may_be_credential,
        ),
    ),
    finder_rule(
        "url-password",
        &["://", ":\\/\\/"],
        url_logins::find_url_password,
    ),
    query_rule(
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
            "?ticket=",
            "&ticket=",
            "signature=",
        ],
        8,
        looks_random,
    ),
    query_rule(
        &[
            "?pwd=",
            "&pwd=",
            "?pass=",
            "&pass=",
            "&amp;pass=",
            "&amp;pwd=",
        ],
        4,
        may_be_credential,
    ),
    needs_nearby_word(
        &["curl", "http", "wget"],
        pattern_rule(
            "password",
            &[" -u", " -a ", " --user", " --proxy-user"],
            r#" (?:-u|-a|--user|--proxy-user)(?:\s+|=)?["']?[^\s:"'$\[]+:["']?(?<secret>[^\s"'\\]+)"#,
            may_be_credential,
        ),
    ),
    needs_nearby_word(
        &["curl"],
        pattern_rule(
            "password",
            &[" -u", " --user"],
            r#" (?:-u|--user)(?:\s+|=)?["']?(?<secret>[A-Za-z0-9_]{20,}):["'\s]"#,
            looks_random,
        ),
    ),
    needs_nearby_word(
        &["zip", "7z", "sqlcmd", "bcp", "useradd"],
        pattern_rule(
            "password",
            &[" -p"],
            r#" -p\s*["']?(?<secret>[^\s"'\\-][^\s"'\\]*)"#,
            may_be_password,
        ),
    ),
    needs_nearby_word(
        &["cargo", "vault"],
        pattern_rule(
            "token",
            &[" login "],
            r#" login\s+["']?(?:token=)?(?<secret>[A-Za-z0-9_.-]{16,})"#,
            looks_random,
        ),
    ),
    needs_nearby_word(
        &["htpasswd"],
        pattern_rule(
            "password",
            &[" -b"],
            r#" -[a-z]*b[a-z]*\s+\S+\s+\S+\s+["']?(?<secret>[^\s"'\\]+)"#,
            may_be_credential,
        ),
    ),
    needs_nearby_word(
        &["--with-token", "--password-stdin"],
        pattern_rule(
            "token",
            &["<<<"],
            r#"<<<\s*["']?(?<secret>[^\s"'\\]{6,})"#,
            may_be_credential,
        ),
    ),
    // A name and a password with spaces in them.
    needs_nearby_word(
        &["curl", "http", "wget"],
        pattern_rule(
            "password",
            &[" -u", " --user", " --proxy-user"],
            r#" (?:-u|--user|--proxy-user)(?:\s+|=)?'[^\s:'$\[]+:(?<secret>[^'\n]+)'"#,
            may_be_credential,
        ),
    ),
    needs_nearby_word(
        &["curl", "http", "wget"],
        pattern_rule(
            "password",
            &[" -u", " --user", " --proxy-user"],
            r#" (?:-u|--user|--proxy-user)(?:\s+|=)?"[^\s:"$\[]+:(?<secret>[^"\n]+)""#,
            may_be_credential,
        ),
    ),
    // PostgreSQL's password file: host, port, database, name, password.
    pattern_rule(
        "password",
        &[":5432:", ":*:"],
        r#":(?:\d+|\*):[^\s:"']+:[^\s:"']+:(?<secret>[^\s:"'/]{4,})\s*$"#,
        may_be_credential,
    ),
    // Password hashes that servers store.
    pattern_rule(
        "password",
        &[
            ":$apr1$", ":$2y$", ":$2a$", ":$2b$", ":{SHA}", ":{SSHA}", ":$1$", ":$5$", ":$6$",
            ":$y$",
        ],
        r#":(?<secret>(?:\$(?:apr1|2[aby]|[156y])\$|\{SS?HA\})[^\s:"']{20,})"#,
        accept_any,
    ),
    needs_nearby_word(
        &["smbclient"],
        pattern_rule(
            "password",
            &[" -U"],
            r#" -U\s*["']?[^\s%"']+%(?<secret>[^\s"'\\]+)"#,
            may_be_credential,
        ),
    ),
    pattern_rule(
        "password",
        &["basic_auth(", "basicauth(", "auth=("],
        r#"[a-z_]+=?\(\s*["'][^"'\n]*["'],\s*(?:Some\()?["'](?<secret>[^"'\n]+)["']"#,
        may_be_credential,
    ),
    pattern_rule(
        "password",
        &[".auth(", "credentials("],
        r#"[a-z_.]+\(\s*["'][^"'\n]*["'],\s*["'](?<secret>[^"'\s]{6,})["']\s*[,)]"#,
        looks_random,
    ),
    needs_nearby_word(
        &["token", "secret", "password", "_key"],
        pattern_rule(
            "secret",
            &["\" -> \""],
            r#"" -> "(?<secret>[^"\n]{8,})""#,
            looks_random,
        ),
    ),
    pattern_rule(
        "cookie",
        &["\tTRUE\t", "\tFALSE\t"],
        r"\t[a-z]+\t[^\t\n]*\t[a-z]+\t\d+\t[^\t\n]+\t(?<secret>\S{8,})",
        looks_random,
    ),
    pattern_rule(
        "password",
        &["convertto-securestring"],
        r#"convertto-securestring\s+(?:-string\s+)?["'](?<secret>[^"'\n]+)["']"#,
        may_be_credential,
    ),
    needs_nearby_word(
        &["ssh-keygen"],
        pattern_rule(
            "password",
            &[" -N"],
            r#"(?-i) -N\s+["']?(?<secret>[^\s"'\\-][^\s"'\\]*)"#,
            may_be_password,
        ),
    ),
    needs_nearby_word(
        &["rabbitmqctl"],
        pattern_rule(
            "password",
            &["add_user ", "change_password "],
            r#"[a-z_]+\s+\S+\s+["']?(?<secret>[^\s"'\\]+)"#,
            may_be_credential,
        ),
    ),
    needs_nearby_word(
        &[
            "gh secret",
            "ssm put-parameter",
            "secretsmanager",
            "keys set",
        ],
        pattern_rule(
            "secret",
            &[" --body", " --value"],
            r#" --(?:body|value)[= ]\s*["']?(?<secret>[^\s"'\\]+)"#,
            may_be_credential,
        ),
    ),
    needs_nearby_word(
        &["mysql", "mariadb"],
        pattern_rule(
            "password",
            &["\"-p"],
            r#"(?-i)"-p(?<secret>[^\s"\\]{3,})""#,
            may_be_password,
        ),
    ),
    pattern_rule(
        "password",
        &["identified with"],
        r#"identified\s+with\s+\S+\s+by\s+\\*["'](?<secret>[^"'\\]+)"#,
        may_be_credential,
    ),
    pattern_rule(
        "password",
        &["set password for"],
        r#"set password for [^=\n]{1,80}=\s*["'](?<secret>[^"'\n]+)"#,
        may_be_credential,
    ),
    pattern_rule(
        "password",
        &["jdbc:oracle:thin:"],
        r#"jdbc:oracle:thin:[^/\s@]+/(?<secret>[^@\s"']+)@"#,
        may_be_credential,
    ),
    needs_nearby_word(
        &["sshpass", "login", "redis-cli", "ldap", "mongo", "twine"],
        pattern_rule(
            "password",
            &[" -p", " -a ", " -w "],
            r#" -[paw]\s*["']?(?<secret>[^\s"'\\-][^\s"'\\]*)"#,
            may_be_password,
        ),
    ),
    needs_nearby_word(
        &["mysql", "mariadb"],
        pattern_rule(
            "password",
            &[" -p"],
            r#"(?-i) -p["']?(?<secret>[^\s"'\\-][^\s"'\\]*)"#,
            may_be_password,
        ),
    ),
    needs_nearby_word(
        &["openssl"],
        pattern_rule(
            "password",
            &["pass:"],
            r#"pass:(?<secret>[^\s"'\\]+)"#,
            may_be_credential,
        ),
    ),
    needs_nearby_word(
        &["sshpass", "login", "redis-cli"],
        pattern_rule(
            "password",
            &["\"-p\"", "\"-a\""],
            r#""-[pa]",\s?"(?<secret>[^"\\]+)"#,
            may_be_password,
        ),
    ),
    at_word_start(pattern_rule(
        "password",
        &["pwd: ", "pw: "],
        r#"pwd?:\s+["']?(?<secret>[^\s"'/$<{~.][^\s"',;/]{5,})"#,
        looks_random,
    )),
    needs_nearby_word(
        &["openssl enc", "openssl aes"],
        pattern_rule(
            "password",
            &[" -k "],
            r#"(?-i) -k\s+["']?(?<secret>[^\s"'\\-][^\s"'\\]*)"#,
            may_be_password,
        ),
    ),
    pattern_rule(
        "password",
        &["pwd={", "password={"],
        r#"(?:pwd|password)=\{(?<secret>[^{}$\s]{4,})\}[;"']"#,
        looks_random,
    ),
    pattern_rule(
        "password",
        &["echo ", "printf "],
        r#"(?:echo|printf)\s+(?:-\w+\s+)*["']?[\w.-]+:(?<secret>[^\s"'|\\]+)(?:\\n)?["']?\s*\|\s*(?:sudo\s+)?chpasswd"#,
        may_be_credential,
    ),
    pattern_rule(
        "password",
        &["echo ", "printf "],
        r#"(?:echo|printf)\s+(?:-\w+\s+)*(?:["']%s(?:\\n)?["']\s+)?["']?(?<secret>[^\s"'|\\-][^\s"'|\\]{3,})(?:\\n)?["']?\s*\|\s*(?:sudo\s+-S\b|[^|\n]{1,160}--(?:password-)?stdin|[^|\n]{1,80}--with-token)"#,
        may_be_credential,
    ),
    pattern_rule(
        "password",
        &["chpasswd"],
        r#"chpasswd(?:\s+-\S+)*\s*<<<\s*["']?[\w.-]+:(?<secret>[^\s"'\\]+)"#,
        may_be_credential,
    ),
    pattern_rule(
        "key",
        &[
            "from_key(",
            "privatekeytoaccount(",
            "new wallet(",
            ".wallet(",
        ],
        r#"[a-z_. ]+\(\s*["'](?<secret>(?:0x)?[0-9a-f]{64})["']"#,
        accept_any,
    ),
    needs_nearby_word(
        &["jwt", "Jwt", "JWT"],
        pattern_rule(
            "key",
            &["\"key\"", "'key'"],
            r#"["']key["']\s*:\s*["'](?<secret>[^"'\\]{16,})["']"#,
            looks_random,
        ),
    ),
    // Values with any name may be secrets there; `next_line_values` looks for them.
    finder_rule("secret", &["data:\n"], |_text| None),
    pattern_rule(
        "password",
        &["identified by"],
        r#"identified\s+by\s+\\*["'](?<secret>[^"'\\]+)"#,
        may_be_credential,
    ),
];
