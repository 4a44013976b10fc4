//! What is a secret, what only looks like one, and that no split and no second pass changes the result.

use proptest::prelude::*;

use super::*;

fn in_pieces(text: &str, size: usize) -> String {
    let mut redactor = SecretRedactor::new();
    let mut joined = String::new();
    let chars: Vec<char> = text.chars().collect();
    for piece in chars.chunks(size) {
        joined.push_str(&redactor.push(&piece.iter().collect::<String>()));
    }
    joined.push_str(&redactor.finish());
    joined
}

fn check(text: &str, expected: &str) {
    assert_eq!(redact_text(text), expected, "{text:?}");
    assert_eq!(
        redact_text(expected),
        expected,
        "not idempotent: {expected:?}"
    );
    for size in [1, 5] {
        assert_eq!(
            in_pieces(text, size),
            expected,
            "{text:?} in pieces of {size}"
        );
    }
}

fn check_kept(text: &str) {
    check(text, text);
}

#[test]
fn keys_with_a_known_shape_are_replaced() {
    let key = "Ab3dEf6hIj9lMn2pQr5tUv8xYz1a";
    let rows = [
        (format!("sk-{key}"), "api-key"),
        (format!("sk-proj-{key}_-{key}"), "api-key"),
        (format!("sk-ant-api03-{key}-{key}AA"), "api-key"),
        ("sk-abcdefghijklmnopqrstuvwx".to_owned(), "api-key"),
        (format!("sk_live_{key}"), "api-key"),
        (format!("ghp_{key}12345678"), "github-token"),
        (format!("gho_{key}12345678"), "github-token"),
        (format!("ghu_{key}12345678"), "github-token"),
        (format!("ghs_{key}12345678"), "github-token"),
        (format!("ghr_{key}12345678"), "github-token"),
        (format!("github_pat_11ABC_{key}"), "github-token"),
        (format!("xoxb-123456789012-{key}"), "slack-token"),
        (format!("xoxp-1-{key}"), "slack-token"),
        ("AKIAIOSFODNN7EXAMPLE".to_owned(), "aws-key"),
        ("ASIAIOSFODNN7EXAMPLE".to_owned(), "aws-key"),
        (format!("AIzaSy{key}abcdefg"), "google-key"),
        (
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9".to_owned(),
            "jwt",
        ),
        (format!("npm_{key}12345678"), "npm-token"),
        (format!("glpat-{key}"), "gitlab-token"),
        (
            format!("hf_{}", "abcdefGHIJKL".repeat(3)),
            "huggingface-token",
        ),
    ];
    for (secret, kind) in rows {
        check(
            &format!("see {secret}, ok"),
            &format!("see [redacted:{kind}], ok"),
        );
        check(&secret, &format!("[redacted:{kind}]"));
        check(
            &format!("a\\n{secret}\\n"),
            &format!("a\\n[redacted:{kind}]\\n"),
        );
        check(
            &format!("(`{secret}`)\nnext"),
            &format!("(`[redacted:{kind}]`)\nnext"),
        );
    }
}

#[test]
fn values_under_secret_names_are_replaced() {
    let rows = [
        (
            r#"{"password":"hunter2","user":"bob"}"#,
            r#"{"password":"[redacted:password]","user":"bob"}"#,
        ),
        (
            r#"{\"api_key\": \"abc123def\", \"n\": 1}"#,
            r#"{\"api_key\": \"[redacted:key]\", \"n\": 1}"#,
        ),
        (
            r#""{\"a\":\"b\",\"client_secret\":\"q1w2e3r4\"}""#,
            r#""{\"a\":\"b\",\"client_secret\":\"[redacted:secret]\"}""#,
        ),
        ("api_key = \"q1w2e3r4t5\"", "api_key = \"[redacted:key]\""),
        ("access_key = 'q1w2e3r4t5'", "access_key = '[redacted:key]'"),
        (
            "export FOO_TOKEN=abcdefgh",
            "export FOO_TOKEN=[redacted:token]",
        ),
        ("DB_PASSWORD=hunter", "DB_PASSWORD=[redacted:password]"),
        (
            "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY==",
            "AWS_SECRET_ACCESS_KEY=[redacted:key]",
        ),
        ("password: hunter2", "password: [redacted:password]"),
        (
            "Server=db;Password=hunter2;User=x",
            "Server=db;Password=[redacted:password];User=x",
        ),
        (
            "https://x.io/a?token=abcdef&a=1",
            "https://x.io/a?token=[redacted:query-secret]&a=1",
        ),
        (
            "GET /v1?a=1&api_key=xyzzy#top",
            "GET /v1?a=1&api_key=[redacted:query-secret]#top",
        ),
        (
            "tool --token a1b2c3d4 --verbose",
            "tool --token [redacted:token] --verbose",
        ),
        (
            "tool --password=hunter2",
            "tool --password=[redacted:password]",
        ),
        (
            "private_key: 'MIIBOgIBAAJBAKj34'",
            "private_key: '[redacted:key]'",
        ),
    ];
    for (text, expected) in rows {
        check(text, expected);
    }
}

#[test]
fn a_password_or_an_access_token_in_a_query_is_replaced_however_short() {
    let rows = [
        (
            "https://x.io/a?access_token=a1&b=2",
            "https://x.io/a?access_token=[redacted:query-secret]&b=2",
        ),
        (
            "/login?user=a&password=7&x=1",
            "/login?user=a&password=[redacted:query-secret]&x=1",
        ),
        (
            "/login?password=&access_token=<token>",
            "/login?password=&access_token=<token>",
        ),
    ];
    for (text, expected) in rows {
        check(text, expected);
    }
}

#[test]
fn a_value_ends_where_its_quote_does() {
    let rows = [
        (
            r#"("password", "hunter2")"#,
            r#"("password", "[redacted:password]")"#,
        ),
        (
            r#"{"password":"a\"b\\","user":"x"}"#,
            r#"{"password":"[redacted:password]","user":"x"}"#,
        ),
        ("password=\"never closed", "password=\"[redacted:password]"),
    ];
    for (text, expected) in rows {
        check(text, expected);
    }
}

#[test]
fn credentials_in_headers_and_addresses_are_replaced() {
    let rows = [
        (
            "Authorization: Bearer abc",
            "Authorization: Bearer [redacted:authorization]",
        ),
        (
            "authorization: basic dXNlcjpwYXNz",
            "authorization: basic [redacted:authorization]",
        ),
        (
            "-H 'Authorization: Bearer a.b-c_d:e'",
            "-H 'Authorization: Bearer [redacted:authorization]'",
        ),
        (
            r#"{"Authorization": "Bearer abc:def"}"#,
            r#"{"Authorization": "Bearer [redacted:authorization]"}"#,
        ),
        (
            "sent Bearer a1b2c3d4e5f6g7h8i9",
            "sent Bearer [redacted:authorization]",
        ),
        (
            "postgres://bob:hunter2@db:5432/x",
            "postgres://bob:[redacted:url-password]@db:5432/x",
        ),
        (
            "https://:p%40ss@host/",
            "https://:[redacted:url-password]@host/",
        ),
        (
            "redis://u:a@b@host",
            "redis://u:[redacted:url-password]@host",
        ),
    ];
    for (text, expected) in rows {
        check(text, expected);
    }
}

#[test]
fn credentials_without_a_scheme_are_replaced() {
    let rows = [
        (
            "Authorization: abc123def456",
            "Authorization: [redacted:authorization]",
        ),
        (
            "curl -s -u bob:hunter2 https://x",
            "curl -s -u bob:[redacted:password] https://x",
        ),
        (
            "curl --user 'bob:hunter2' x",
            "curl --user 'bob:[redacted:password]' x",
        ),
    ];
    for (text, expected) in rows {
        check(text, expected);
    }
    for text in [
        "docker run -u 1000:1000 x",
        "curl -u bob:$PASS x",
        "authorization: required",
        "curl -u bob x",
    ] {
        check_kept(text);
    }
}

#[test]
fn ordinary_text_and_code_are_kept() {
    let rows = [
        "token = next_token()",
        "let token = lexer.next_token();",
        "password: String,",
        "pub struct Login { password: String, token: Option<Token> }",
        "let secret = read()?;",
        "let secret = self.v2.read1;",
        "def login(user, password=None, token=default_token):",
        "login(user=user, password=password)",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "session 550e8400-e29b-41d4-a716-446655440000",
        "thread_id: 0199a213-81c0-7800-8aa1-bbab2a035a53",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "task-runner-with-a-long-name and disk-usage-report-2024-final",
        "the bearer of bad news, a basic understanding",
        "Basic authentication is required; Bearer authentication is not",
        "max_tokens: 4096, input_tokens: 128000, \"max_output_tokens\": 1234567",
        "token_count = 12345",
        "password: ${DB_PASSWORD}",
        "export TOKEN=$(cat token.txt)",
        "TOKEN=${TOKEN:-none}",
        "\"apiKey\": process.env.API_KEY",
        "api_key = os.environ[\"OPENAI_API_KEY\"]",
        "api_key = \"YOUR_API_KEY\"",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        "format!(\"Bearer {token}\")",
        "git@github.com:owner/repo.git",
        "http://localhost:8080/@scope/pkg",
        "https://user@example.com/path",
        "match token { Token::Ident1 => x, Token::V2Ident3 => y }",
        "if token == \"struct\" { password = input; }",
        "\"token\": \"if\"",
        "password: \"\"",
        "label: \"Password\", password: \"Enter your password\"",
        "npm_config_registry=https://registry.npmjs.org/",
        "hf_hub_download(repo_id)",
        "from sk-learn-contrib import x",
        "a token, a secret, a password: all of them",
        "secret: uint256",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "[redacted:github-token] and password=[redacted:password]",
    ];
    for text in rows {
        check_kept(text);
    }
}

#[test]
fn private_keys_are_replaced_whole() {
    let body = "MIIEpAIBAAKCAQEA7bq1\nProc-Type: 4,ENCRYPTED\n\nZm9vYmFyYmF6+/==\n";
    let begin = "-----BEGIN RSA PRIVATE KEY-----";
    let end = "-----END RSA PRIVATE KEY-----";
    check(
        &format!("a\n{begin}\n{body}{end}\nb\n"),
        "a\n[redacted:private-key]\nb\n",
    );
    check(
        &format!("a\n{begin}\n{body}"),
        "a\n[redacted:private-key]\n",
    );
    check(
        &format!("{begin}\n{body}This is text again.\nx"),
        "[redacted:private-key]\nThis is text again.\nx",
    );
    check(
        &format!("+{begin}\n+MIIEpAIB\n+{end}\n+x"),
        "+[redacted:private-key]\n+x",
    );
    check(
        &format!("{{\"k\":\"{begin}\\nMIIEpAIB\\n{end}\\n\",\"a\":1}}"),
        "{\"k\":\"[redacted:private-key]\\n\",\"a\":1}",
    );
    check(
        &format!("{{\"k\":\"{begin}\\nMIIEpAIB\\nMIIE\",\"a\":1}}"),
        "{\"k\":\"[redacted:private-key]\",\"a\":1}",
    );
    check(
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl",
        "[redacted:private-key]",
    );
    check(
        &format!("key={begin} {} {end} x", "A1".repeat(30)),
        "key=[redacted:private-key] x",
    );
}

#[test]
fn overlong_lines_are_cut_where_no_secret_is() {
    for pad in [
        LINE_HOLD_LIMIT - LOOKAHEAD - 40,
        LINE_HOLD_LIMIT - LOOKAHEAD - 12,
        LINE_HOLD_LIMIT - LOOKAHEAD - 5,
        LINE_HOLD_LIMIT - 9,
        LINE_HOLD_LIMIT - 1,
    ] {
        let filler = "word ".repeat(pad / 5);
        let text = format!(
            "{filler}password: hunter2 ghp_{} {}",
            "a1".repeat(18),
            "x ".repeat(LINE_HOLD_LIMIT)
        );
        let clean = redact_text(&text);
        assert!(
            !clean.contains("hunter2") && !clean.contains("ghp_"),
            "pad {pad}"
        );
        assert_eq!(
            clean.len(),
            text.len() - "hunter2".len() - 40 + "[redacted:password][redacted:github-token]".len()
        );
        assert_eq!(in_pieces(&text, 4_099), clean);
        assert_eq!(redact_text(&clean), clean);
    }
}

#[test]
fn a_token_longer_than_the_hold_is_replaced() {
    let text = format!("x sk-proj-{} tail\nend", "a1B2".repeat(LINE_HOLD_LIMIT));
    check_long(&text, "x [redacted:api-key] tail\nend");
    let text = format!("token=\"{}\" tail", "a1B2".repeat(LINE_HOLD_LIMIT));
    check_long(&text, "token=\"[redacted:token]\" tail");
}

fn check_long(text: &str, expected: &str) {
    assert_eq!(redact_text(text), expected);
    assert_eq!(in_pieces(text, 1_000), expected);
}

#[test]
fn hostile_runs_take_linear_time() {
    for unit in [
        "sk-",
        "eyJ",
        "eyJa.",
        "password ",
        "token:",
        "token=",
        "asksk-",
        "a://b:",
        "-----BEGIN PRIVATE KEY-----",
        "\\\"",
    ] {
        let text = unit.repeat(8_000 / unit.len());
        let clean = redact_text(&text);
        assert_eq!(redact_text(&clean), clean, "{unit}");
    }
}

fn mixed() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("token=".to_owned()),
        Just("\"password\": \"".to_owned()),
        Just("\"".to_owned()),
        Just("\\".to_owned()),
        Just("\n".to_owned()),
        Just(" ".to_owned()),
        Just("https://u:".to_owned()),
        Just("@host".to_owned()),
        Just("Authorization: Bearer ".to_owned()),
        Just("-----BEGIN PRIVATE KEY-----".to_owned()),
        Just("-----END PRIVATE KEY-----".to_owned()),
        Just("MIIEpAIBAAKCAQEA7bq1".to_owned()),
        Just("ghp_".to_owned()),
        Just("sk-proj-".to_owned()),
        Just("?key=".to_owned()),
        Just("[redacted:".to_owned()),
        Just("]".to_owned()),
        Just("Cookie: a=".to_owned()),
        Just("Authorization: Digest x=\"".to_owned()),
        Just("curl -u a:".to_owned()),
        Just("<password>".to_owned()),
        Just("</".to_owned()),
        Just("name: API_KEY\nvalue: ".to_owned()),
        Just("{\"password\":".to_owned()),
        Just("--token ".to_owned()),
        Just("password is ".to_owned()),
        Just(":AAab5".to_owned()),
        Just("MTk4NjIyNDgzNDcxOTI1MjQ4.".to_owned()),
        Just("abcdef.".to_owned()),
        Just("sshpass -p ".to_owned()),
        Just("%3D".to_owned()),
        Just("eyJab.".to_owned()),
        "[A-Za-z0-9]{1,24}",
        "[a-z:=,;&'漢]{1,6}",
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

#[test]
fn a_mark_before_a_key_that_goes_on_goes_with_it() {
    let (begin, end) = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----");
    let clean = redact_text(&format!("{begin}?key={begin}\n{end}{end}"));
    assert_eq!(clean, format!("[redacted:private-key]{end}"));
    assert_eq!(redact_text(&clean), clean);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_split_gives_the_same_text(text in mixed(), size in 1usize..9) {
        prop_assert_eq!(in_pieces(&text, size), redact_text(&text));
    }

    #[test]
    fn a_second_pass_changes_nothing(text in mixed()) {
        let clean = redact_text(&text);
        prop_assert_eq!(redact_text(&clean), clean);
    }

    #[test]
    fn a_seeded_secret_never_survives(left in mixed(), body in "[A-Za-z0-9]{36}", right in mixed()) {
        for secret in [format!("ghp_{body}"), format!("sk-ant-{body}"), format!("glpat-{body}")] {
            let clean = redact_text(&format!("{left} {secret} {right}"));
            prop_assert!(!clean.contains(&body), "{}", clean);
        }
    }
}
