//! Sanitiser and redactor together, and JSON lines.

use proptest::prelude::*;

use super::*;

fn check(line: &str, expected: &str) {
    let cleaned = clean_json_line(line);
    assert_eq!(cleaned, expected);
    assert_eq!(clean_json_line(&cleaned), cleaned);
    assert_eq!(
        serde_json::from_str::<Value>(line).is_ok(),
        serde_json::from_str::<Value>(&cleaned).is_ok()
    );
}

#[test]
fn a_sequence_inside_a_key_does_not_hide_it() {
    assert_eq!(
        clean_text("sk-pr\u{1b}[0moj-abcd\u{200b}1234\u{1b}]0;x\u{7}efgh!"),
        "[redacted:api-key]!"
    );
}

#[test]
fn json_lines_stay_json() {
    check(
        r#"{"a":"x sk-proj-abcd1234efgh","password":"p","n":1.50,"token":"abc123def"}"#,
        r#"{"a":"x [redacted:api-key]","password":"[redacted:password]","n":1.5,"token":"[redacted:token]"}"#,
    );
    check(
        r#"{"env":[{"name":"API_KEY","value":"abcdefgh"}],"api_keys":["k"],"secret":["abcdefgh"]}"#,
        r#"{"env":[{"name":"API_KEY","value":"[redacted:key]"}],"api_keys":["k"],"secret":["[redacted:secret]"]}"#,
    );
    check(r#"{"t":"\u001b[31mred\u001b[0m"}"#, r#"{"t":"red"}"#);
    check(
        r#"{"password":123456,"max_token":128000}"#,
        r#"{"password":"[redacted:password]","max_token":128000}"#,
    );
    check(
        r#""Bearer a1b2c3d4e5f6g7h8i9""#,
        r#""Bearer [redacted:authorization]""#,
    );
    check(
        r#"{"out":"cat k\n-----BEGIN PRIVATE KEY-----\nMIIEpAIB\n-----END PRIVATE KEY-----\n"}"#,
        r#"{"out":"cat k\n[redacted:private-key]\n"}"#,
    );
}

#[test]
fn a_clean_line_comes_back_as_it_was() {
    let line = r#"{ "type": "result",  "cost": 1.50, "session_id": "550e8400-e29b-41d4-a716-446655440000" }"#;
    check(line, line);
    check(&format!("{line}\n"), &format!("{line}\n"));
}

#[test]
fn a_repeated_member_hides_no_secret() {
    check(
        r#"{"a":"ghp_abcdefghijklmnop1234","a":"x"}"#,
        r#"{"a":"x"}"#,
    );
}

#[test]
fn a_line_that_is_no_json_is_cleaned_as_text() {
    check(
        "{\"password\": \"hunter2\", \u{1b}[31mcut",
        "{\"password\": \"[redacted:password]\", cut",
    );
    check("a\rb\u{2028}c\n", "a b c\n");
}

#[test]
fn the_end_of_a_text_is_cleaned_by_what_stands_before_it() {
    let member = r#", "api_key":"correct-horse-battery-staple""#;
    let key = "\n-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nstaple7staple7staple7\n-----END PRIVATE KEY-----";
    for (word, n) in [("a word of it, ", 40_000), ("a word of it\n", 40_000)] {
        for secret in [member, key] {
            let text = format!("{}{secret}\nthe last", word.repeat(n));
            for most in [10, 20, 30, 40, 50, 80, 1_000] {
                let end = clean_suffix(&text, most);
                assert!(!end.contains("staple"), "{most}: {end}");
                assert!(end.ends_with("\nthe last"), "{most}: {end}");
                assert!(end.len() <= most + redactor::LINE_HOLD_LIMIT + 1_000);
            }
        }
    }
    assert_eq!(clean_suffix("a\nb", 100), "a\nb");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_split_gives_the_same_text(text in "(\u{1b}|\\[|\\]|0m|\u{7}|\r|\n|token=|sk-proj-|[a-z0-9]{4,12}|👩|\u{200d}|\u{fe0f}|\"){0,30}", size in 1usize..7) {
        let mut cleaner = TextCleaner::new();
        let mut joined = String::new();
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(size) {
            joined.push_str(&cleaner.push(&piece.iter().collect::<String>()));
        }
        joined.push_str(&cleaner.finish());
        prop_assert_eq!(&joined, &clean_text(&text));
        prop_assert_eq!(clean_text(&joined), joined);
    }

    #[test]
    fn the_beginning_is_that_of_the_whole(text in "(\u{1b}\\[0m|\r|\n|token=|sk-proj-|[a-z0-9]{4,12}|👩\u{200d}|é){0,40}", times in 1usize..400, most in 0usize..90_000) {
        let text = text.repeat(times);
        let (whole, beginning) = (clean_text(&text), clean_prefix(&text, most));
        prop_assert!(whole.starts_with(&beginning));
        prop_assert!(beginning == whole || beginning.len() > most);
    }

    #[test]
    fn a_line_that_is_passed_over_would_not_have_changed(
        line in r#"(\{"|":|"|,|\}|\\n|\\t|\\"|\\\\|\\u0041|/|:|token|k|ey|pass|ghp_|sk-|[a-z0-9]{1,9}| |é|👩|\x{200d}|\x{2028}|\x{85}|\x{1b}){0,20}"#,
    ) {
        if is_plain_line(&line) {
            prop_assert_eq!(clean_line_content(&line), line);
        }
    }

    #[test]
    fn json_stays_json(key in "[a-z_]{1,10}|password|token", text in any::<String>(), n in any::<i64>()) {
        let line = serde_json::json!({ key: text, "n": [n, text] }).to_string();
        let cleaned = clean_json_line(&line);
        prop_assert!(serde_json::from_str::<Value>(&cleaned).is_ok());
        prop_assert_eq!(clean_json_line(&cleaned), cleaned);
    }
}
