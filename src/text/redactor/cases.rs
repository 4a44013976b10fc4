//! Runs the data files next to this one: every secret is replaced, everything else stays.

use serde_json::Value;

use super::prefilter::AnchorKind;
use super::redaction_rules::{REDACTION_RULES, SecretShape, find_nothing};
use super::token_patterns::{SearchedRange, find_by_rule};
use super::*;

const SECRETS: &str = include_str!("secrets.txt");
const TOKENS: &str = include_str!("tokens.txt");
const HARMLESS: &str = include_str!("harmless.txt");

/// Contexts for a token, with `@` in its place.
const PLACES: [&str; 16] = [
    "@",
    "2026-01-01T00:00:00Z INFO sent @ to the server",
    "see @, ok",
    "(`@`)",
    r#"{"a":"@","n":1}"#,
    r#""{\"a\":\"@\",\"n\":1}""#,
    r#"{"text":"first\n@\nlast"}"#,
    "SOME_VALUE=@",
    "value: '@'",
    "https://x.example/a?v=@&b=1",
    "X-Thing: @",
    "+const VALUE = \"@\";",
    "-  value: @",
    "<value>@</value>",
    "[@]",
    "a b\t@\tc",
];

/// Makes random letters that are the same in every run.
struct LetterGenerator(u64);

impl LetterGenerator {
    fn next(&mut self) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0)
    }

    fn draw(&mut self, from: &str) -> String {
        if from == "uuid" {
            return [8, 4, 4, 4, 12]
                .map(|n| self.draw(&format!("h:{n}")))
                .join("-");
        }
        let (letters, n) = from.split_once(':').expect("letters:n");
        let (small, capital, digits) = (
            "abcdefghijklmnopqrstuvwxyz",
            "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
            "0123456789",
        );
        let set = match letters {
            "w" => format!("{small}{capital}{digits}"),
            "u" => format!("{small}{capital}{digits}_-"),
            "b" => format!("{small}{capital}{digits}+/"),
            "h" => "0123456789abcdef".to_owned(),
            "H" => "0123456789ABCDEF".to_owned(),
            "X" => format!("{capital}234567"),
            "d" => digits.to_owned(),
            "l" => small.to_owned(),
            other => panic!("unknown letters {other}"),
        };
        let n: usize = n.parse().expect("a number");
        let mut drawn: Vec<char> = (0..n)
            .map(|_| set.chars().nth(self.next() % set.len()).unwrap_or('a'))
            .collect();
        // Like nearly every real token, a random one has a digit and a letter and begins with a letter.
        if n > 8 && letters != "d" && letters != "l" {
            drawn[n / 2] = '7';
            drawn[n / 3] = if letters == "X" || letters == "H" {
                'B'
            } else {
                'b'
            };
            drawn[0] = drawn[n / 3];
            drawn[n - 1] = '5';
        }
        drawn.into_iter().collect()
    }

    fn fill(&mut self, line: &str) -> String {
        let mut out = String::new();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            let end = after.find('}').filter(|end| {
                after[..*end] == *"uuid"
                    || after.as_bytes().get(1) == Some(&b':')
                        && after[2..*end].bytes().all(|b| b.is_ascii_digit())
            });
            match end {
                Some(end) => {
                    out.push_str(&self.draw(&after[..end]));
                    rest = &after[end + 1..];
                }
                None => {
                    out.push('{');
                    rest = after;
                }
            }
        }
        out + rest
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
}

/// Describes what is wrong with one line whose secret is between `left` and `right`.
fn wrong(left: &str, secret: &str, right: &str) -> Option<String> {
    let line = format!("{left}{secret}{right}");
    let clean = redact_text(&line);
    // The mark of a number gets quotes.
    let inside = clean
        .strip_prefix(left)
        .and_then(|rest| rest.strip_suffix(right));
    let is_mark =
        |text: &str| text.starts_with(MARK_PREFIX) && text.find(']') == Some(text.len() - 1);
    if !inside.is_some_and(|inside| is_mark(inside.trim_matches('"'))) {
        return Some(format!("{line}\n    {clean}"));
    }
    if redact_text(&clean) != clean {
        return Some(format!("twice: {clean}\n    {}", redact_text(&clean)));
    }
    let was_json = serde_json::from_str::<Value>(&line).is_ok();
    (was_json && serde_json::from_str::<Value>(&clean).is_err())
        .then(|| format!("no JSON: {clean}"))
}

fn tell(name: &str, n: usize, wrong: &[String]) {
    assert!(
        wrong.is_empty(),
        "{name}: {} of {n} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn secrets_in_their_places_are_replaced() {
    let mut letters = LetterGenerator(7);
    let (mut n, mut all) = (0, Vec::new());
    for line in lines(SECRETS) {
        for _ in 0..3 {
            let line = letters.fill(line);
            let (left, rest) = line.split_once('⟦').expect("a secret begins");
            let (secret, right) = rest.split_once('⟧').expect("a secret ends");
            n += 1;
            all.extend(wrong(left, secret, right));
        }
    }
    assert!(n >= 600, "{n}");
    tell("secrets", n, &all);
}

#[test]
fn tokens_are_replaced_wherever_they_stand() {
    let mut letters = LetterGenerator(11);
    let (mut n, mut all) = (0, Vec::new());
    for line in lines(TOKENS) {
        for place in PLACES {
            let token = letters.fill(line);
            let (left, right) = place.split_once('@').expect("a place");
            n += 1;
            let clean = redact_text(&format!("{left}{token}{right}"));
            let breaks = serde_json::from_str::<Value>(place).is_ok()
                && serde_json::from_str::<Value>(&clean).is_err();
            if breaks
                || clean.contains(&token)
                || !clean.starts_with(left)
                || !clean.ends_with(right)
                || redact_text(&clean) != clean
            {
                all.push(format!("{left}{token}{right}\n    {clean}"));
            }
        }
    }
    assert!(n >= 1_000, "{n}");
    tell("tokens", n, &all);
}

#[test]
fn the_example_of_each_rule_is_redacted_by_that_rule() {
    let mut all = Vec::new();
    for (number, rule) in REDACTION_RULES.iter().enumerate() {
        let example = LetterGenerator(13).fill(rule.example);
        let (left, rest) = example.split_once('⟦').expect("a secret begins");
        let (secret, right) = rest.split_once('⟧').expect("a secret ends");
        let text = format!("{left}{secret}{right}");
        let mut anchors = Vec::new();
        prefilter::collect_anchors(&text, None, &mut anchors);
        let mut own = anchors
            .into_iter()
            .filter(|anchor| anchor.kind == AnchorKind::Rule(number));
        let is_found = match rule.shape {
            SecretShape::Finder(find)
                if std::ptr::fn_addr_eq(find, find_nothing as fn(&str) -> _) =>
            {
                own.next().is_some()
            }
            _ => own.any(|anchor| {
                find_by_rule(number, anchor, &text, None, &mut SearchedRange::default())
                    .is_some_and(|span| {
                        (span.start, span.end) == (left.len(), left.len() + secret.len())
                    })
            }),
        };
        let clean = redact_text(&text);
        if !is_found || clean != format!("{left}{}{right}", redaction_mark(rule.kind)) {
            all.push(format!("{number}: {text}\n    {clean} ({is_found})"));
        }
    }
    tell("rules", REDACTION_RULES.len(), &all);
}

#[test]
fn harmless_lines_stay_as_they_are() {
    let (mut n, mut all) = (0, Vec::new());
    for line in lines(HARMLESS) {
        for line in [
            line.to_owned(),
            format!("    {line}"),
            format!("+{line}"),
            format!("{line}\r"),
        ] {
            n += 1;
            let clean = redact_text(&line);
            if clean != line {
                all.push(format!("{line}\n    {clean}"));
            }
        }
    }
    assert!(n >= 600, "{n}");
    tell("harmless", n, &all);
}

fn check_whole(text: &str, expected: &str) {
    assert_eq!(redact_text(text), expected);
    assert_eq!(redact_text(expected), expected);
}

#[test]
fn a_value_in_the_line_after_its_name_is_replaced() {
    check_whole(
        "- name: DB_PASSWORD\n  value: hunter2\n- name: A\n  value: b2c3d4e5\n",
        "- name: DB_PASSWORD\n  value: [redacted:password]\n- name: A\n  value: b2c3d4e5\n",
    );
    check_whole(
        "{\n\"name\": \"API_KEY\",\n\"value\": \"q1w2e3r4t5\"\n}",
        "{\n\"name\": \"API_KEY\",\n\"value\": \"[redacted:key]\"\n}",
    );
}

#[test]
fn keys_are_followed_through_what_stands_around_their_lines() {
    let body = "MIIEpAIBAAKCAQEA7bq1Zm9vYmFyYmF6MIIEpAIBAAKCAQEA7bq1Zm9vYmFyYmF6";
    let (begin, end) = (
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----END RSA PRIVATE KEY-----",
    );
    for (left, right) in [
        ("", "\r"),
        ("app-1  | ", ""),
        ("2026-01-01 00:00:00 INFO ", ""),
        ("Nov 22 08:00:01 h app[12]: ", ""),
        ("  \"", "\\n\" +"),
        ("'", "\\n'"),
    ] {
        let text = [begin, body, body, end].map(|line| format!("{left}{line}{right}\n"));
        let text = text.concat() + "after\n";
        let clean = redact_text(&text);
        let is_gone = !clean.contains(&body[..16]) && clean.contains("[redacted:private-key]");
        assert!(is_gone && clean.ends_with("after\n"), "{clean}");
        assert_eq!(redact_text(&clean), clean);
    }
}

#[test]
fn a_block_of_several_lines_is_replaced() {
    check_whole(
        "secret: >-\n  q1w2e3r4t5y6\n  a1s2d3f4g5h6\nnext: 1\n",
        "secret: >-\n  [redacted:secret]\n  [redacted:secret]\nnext: 1\n",
    );
}

#[test]
fn lines_of_a_list_a_log_and_a_cluster_are_followed() {
    check_whole(
        "args:\n  - --password\n  - 1418coqxVrhpdbvr\n  - --x\n",
        "args:\n  - --password\n  - [redacted:password]\n  - --x\n",
    );
    check_whole(
        "export A_TOKEN=\"6rIM8LBWsEjlXoBf\\\nBirZwi81uHlCdJ0g\"\nB=2",
        "export A_TOKEN=\"[redacted:token]\n[redacted:token]\"\nB=2",
    );
    check_whole(
        "data:\n  ca.crt: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0=\n  url: cG9zdGdyZXM6Ly91OnBAaC9kYjE=\nkind: Secret\nx: cG9zdGdyZXM6Ly8=\n",
        "data:\n  ca.crt: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0=\n  url: [redacted:secret]\nkind: Secret\nx: cG9zdGdyZXM6Ly8=\n",
    );
    check_whole(
        "Private-Lines: 2\n93eJ9/wJYuZ2CyaGKapn4AsTtLKtKi\nQ71UxX+VfI+GPR4m/g5K\nPrivate-MAC: 00\n",
        "Private-Lines: [redacted:private-key]\nPrivate-MAC: 00\n",
    );
    let log = |body: &str, end: &str| {
        format!(
            "{{\"log\":\"-----BEGIN PRIVATE KEY-----\\n\",\"time\":1}}\n{{\"log\":\"{body}\\n\",\"time\":2}}\n{{\"log\":\"{end}\\n\"}}\n{{\"log\":\"done\"}}\n"
        )
    };
    let key = "MIIEpAIBAAKCAQEA7bq1Zm9vYmFyYmF6MIIEpAIBAAKC";
    let mark = "[redacted:private-key]";
    let clean = log(mark, mark).replace("-----BEGIN PRIVATE KEY-----\\n", mark);
    check_whole(&log(key, "-----END PRIVATE KEY-----"), &clean);
}

#[test]
fn twice_the_input_is_not_more_than_twice_the_work() {
    let units = [
        "sk-",
        "eyJ",
        "eyJ-",
        "password ",
        "password=",
        "token: \"",
        "://a:",
        "curl -u ",
        "Cookie: a=",
        "Bearer ",
        "authorization: digest ",
        "a.bcdefg.",
        "key-",
        "name: token ",
        "-----BEGIN PRIVATE KEY-----",
        "\\\"token\\\"",
        "AKIA",
        ":AA",
        "<token>",
        "1//0-",
        "secret_",
        "set-cookie: a=b;",
        "\u{1b}]",
        "x-",
        "[redacted:",
    ];
    for unit in units {
        // Work is measured by how often a closer look is taken, and how much output there is.
        let looks = |n: usize| {
            let text = unit.repeat(n);
            let mut words = Vec::new();
            prefilter::collect_anchors(&text, None, &mut words);
            words.len() + redact_text(&text).len()
        };
        assert!(looks(2_000) <= 2 * looks(1_000) + 64, "{unit:?}");
    }
}
