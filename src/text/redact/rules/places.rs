//! The places where any secret may stand: headers, addresses, command lines.

use super::super::judge::{
    always, has_cookie, is_credential, is_encoded_login, is_password, is_random,
};
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
        r#"set-cookie2?\\*["'`]?\s*[:,]\s*\[?\s*\\*["'`]?[\w.$-]+=(?<secret>[^;\s"'`\\,]{4,})"#,
        is_credential,
    ),
    Rule {
        edge: Edge::Alone,
        ..after(
            "cookie",
            &["cookie"],
            r#"cookie(?:\\*["'`]?\s*[:=]|\\*["'`]\s*,)\s*b?\\*["'`]?(?<secret>[\w.$-]+=[^;\s"'`\\,]+(?:;\s*[\w.$-]+=[^;\s"'`\\,]*)*)"#,
            has_cookie,
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
    read("url-password", &["://", ":\\/\\/"], addresses::password),
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
            "?ticket=",
            "&ticket=",
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
            r#" (?:-u|-a|--user|--proxy-user)(?:\s+|=)?["']?[^\s:"'$\[]+:["']?(?<secret>[^\s"'\\]+)"#,
            is_credential,
        ),
    ),
    in_line_with(
        &["curl"],
        after(
            "password",
            &[" -u", " --user"],
            r#" (?:-u|--user)(?:\s+|=)?["']?(?<secret>[A-Za-z0-9_]{20,}):["'\s]"#,
            is_random,
        ),
    ),
    in_line_with(
        &["zip", "7z", "sqlcmd", "bcp", "useradd"],
        after(
            "password",
            &[" -p"],
            r#" -p\s*["']?(?<secret>[^\s"'\\-][^\s"'\\]*)"#,
            is_password,
        ),
    ),
    in_line_with(
        &["cargo", "vault"],
        after(
            "token",
            &[" login "],
            r#" login\s+["']?(?:token=)?(?<secret>[A-Za-z0-9_.-]{16,})"#,
            is_random,
        ),
    ),
    in_line_with(
        &["htpasswd"],
        after(
            "password",
            &[" -b"],
            r#" -[a-z]*b[a-z]*\s+\S+\s+\S+\s+["']?(?<secret>[^\s"'\\]+)"#,
            is_credential,
        ),
    ),
    in_line_with(
        &["--with-token", "--password-stdin"],
        after(
            "token",
            &["<<<"],
            r#"<<<\s*["']?(?<secret>[^\s"'\\]{6,})"#,
            is_credential,
        ),
    ),
    // A name and a password with blanks in them.
    in_line_with(
        &["curl", "http", "wget"],
        after(
            "password",
            &[" -u", " --user", " --proxy-user"],
            r#" (?:-u|--user|--proxy-user)(?:\s+|=)?'[^\s:'$\[]+:(?<secret>[^'\n]+)'"#,
            is_credential,
        ),
    ),
    in_line_with(
        &["curl", "http", "wget"],
        after(
            "password",
            &[" -u", " --user", " --proxy-user"],
            r#" (?:-u|--user|--proxy-user)(?:\s+|=)?"[^\s:"$\[]+:(?<secret>[^"\n]+)""#,
            is_credential,
        ),
    ),
    // The file of logins of PostgreSQL: host, port, database, name, password.
    after(
        "password",
        &[":5432:", ":*:"],
        r#":(?:\d+|\*):[^\s:"']+:[^\s:"']+:(?<secret>[^\s:"'/]{4,})\s*$"#,
        is_credential,
    ),
    // What servers keep of passwords.
    after(
        "password",
        &[
            ":$apr1$", ":$2y$", ":$2a$", ":$2b$", ":{SHA}", ":{SSHA}", ":$1$", ":$5$", ":$6$",
            ":$y$",
        ],
        r#":(?<secret>(?:\$(?:apr1|2[aby]|[156y])\$|\{SS?HA\})[^\s:"']{20,})"#,
        always,
    ),
    in_line_with(
        &["smbclient"],
        after(
            "password",
            &[" -U"],
            r#" -U\s*["']?[^\s%"']+%(?<secret>[^\s"'\\]+)"#,
            is_credential,
        ),
    ),
    after(
        "password",
        &["basic_auth(", "basicauth(", "auth=("],
        r#"[a-z_]+=?\(\s*["'][^"'\n]*["'],\s*(?:Some\()?["'](?<secret>[^"'\n]+)["']"#,
        is_credential,
    ),
    after(
        "password",
        &[".auth(", "credentials("],
        r#"[a-z_.]+\(\s*["'][^"'\n]*["'],\s*["'](?<secret>[^"'\s]{6,})["']\s*[,)]"#,
        is_random,
    ),
    in_line_with(
        &["token", "secret", "password", "_key"],
        after(
            "secret",
            &["\" -> \""],
            r#"" -> "(?<secret>[^"\n]{8,})""#,
            is_random,
        ),
    ),
    after(
        "cookie",
        &["\tTRUE\t", "\tFALSE\t"],
        r"\t[a-z]+\t[^\t\n]*\t[a-z]+\t\d+\t[^\t\n]+\t(?<secret>\S{8,})",
        is_random,
    ),
    after(
        "password",
        &["convertto-securestring"],
        r#"convertto-securestring\s+(?:-string\s+)?["'](?<secret>[^"'\n]+)["']"#,
        is_credential,
    ),
    in_line_with(
        &["ssh-keygen"],
        after(
            "password",
            &[" -N"],
            r#"(?-i) -N\s+["']?(?<secret>[^\s"'\\-][^\s"'\\]*)"#,
            is_password,
        ),
    ),
    in_line_with(
        &["rabbitmqctl"],
        after(
            "password",
            &["add_user ", "change_password "],
            r#"[a-z_]+\s+\S+\s+["']?(?<secret>[^\s"'\\]+)"#,
            is_credential,
        ),
    ),
    in_line_with(
        &[
            "gh secret",
            "ssm put-parameter",
            "secretsmanager",
            "keys set",
        ],
        after(
            "secret",
            &[" --body", " --value"],
            r#" --(?:body|value)[= ]\s*["']?(?<secret>[^\s"'\\]+)"#,
            is_credential,
        ),
    ),
    in_line_with(
        &["mysql", "mariadb"],
        after(
            "password",
            &["\"-p"],
            r#"(?-i)"-p(?<secret>[^\s"\\]{3,})""#,
            is_password,
        ),
    ),
    after(
        "password",
        &["identified with"],
        r#"identified\s+with\s+\S+\s+by\s+\\*["'](?<secret>[^"'\\]+)"#,
        is_credential,
    ),
    after(
        "password",
        &["set password for"],
        r#"set password for [^=\n]{1,80}=\s*["'](?<secret>[^"'\n]+)"#,
        is_credential,
    ),
    after(
        "password",
        &["jdbc:oracle:thin:"],
        r#"jdbc:oracle:thin:[^/\s@]+/(?<secret>[^@\s"']+)@"#,
        is_credential,
    ),
    in_line_with(
        &["sshpass", "login", "redis-cli", "ldap", "mongo", "twine"],
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
    word(after(
        "password",
        &["pwd: ", "pw: "],
        r#"pwd?:\s+["']?(?<secret>[^\s"'/$<{~.][^\s"',;/]{5,})"#,
        is_random,
    )),
    in_line_with(
        &["openssl enc", "openssl aes"],
        after(
            "password",
            &[" -k "],
            r#"(?-i) -k\s+["']?(?<secret>[^\s"'\\-][^\s"'\\]*)"#,
            is_password,
        ),
    ),
    after(
        "password",
        &["pwd={", "password={"],
        r#"(?:pwd|password)=\{(?<secret>[^{}$\s]{4,})\}[;"']"#,
        is_random,
    ),
    after(
        "password",
        &["echo ", "printf "],
        r#"(?:echo|printf)\s+(?:-\w+\s+)*["']?[\w.-]+:(?<secret>[^\s"'|\\]+)(?:\\n)?["']?\s*\|\s*(?:sudo\s+)?chpasswd"#,
        is_credential,
    ),
    after(
        "password",
        &["echo ", "printf "],
        r#"(?:echo|printf)\s+(?:-\w+\s+)*(?:["']%s(?:\\n)?["']\s+)?["']?(?<secret>[^\s"'|\\-][^\s"'|\\]{3,})(?:\\n)?["']?\s*\|\s*(?:sudo\s+-S\b|[^|\n]{1,160}--(?:password-)?stdin|[^|\n]{1,80}--with-token)"#,
        is_credential,
    ),
    after(
        "password",
        &["chpasswd"],
        r#"chpasswd(?:\s+-\S+)*\s*<<<\s*["']?[\w.-]+:(?<secret>[^\s"'\\]+)"#,
        is_credential,
    ),
    after(
        "key",
        &[
            "from_key(",
            "privatekeytoaccount(",
            "new wallet(",
            ".wallet(",
        ],
        r#"[a-z_. ]+\(\s*["'](?<secret>(?:0x)?[0-9a-f]{64})["']"#,
        always,
    ),
    in_line_with(
        &["jwt", "Jwt", "JWT"],
        after(
            "key",
            &["\"key\"", "'key'"],
            r#"["']key["']\s*:\s*["'](?<secret>[^"'\\]{16,})["']"#,
            is_random,
        ),
    ),
    // Values of any name may be a secret there; `announced` looks for them.
    read("secret", &["data:\n"], |_text| None),
    after(
        "password",
        &["identified by"],
        r#"identified\s+by\s+\\*["'](?<secret>[^"'\\]+)"#,
        is_credential,
    ),
];
