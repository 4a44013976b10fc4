//! Tests the parser: texts in, words and stances out.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn speech(text: &str) -> DiscussionSpeech {
    let seat = SpeechSlot {
        round: 1,
        part: SpeechPart::Round,
        participant: "a".to_owned(),
    };
    DiscussionSpeech::from_reply(seat, SessionId::new("ses_1"), text, 5)
}

/// Compares the parsed stance as text, or the reason why there is none.
fn check(text: &str, expected: &str) {
    let speech = speech(text);
    let told = match (&speech.stance, &speech.no_stance) {
        (Some(stance), None) => stance.describe(),
        (None, Some(why)) => why.clone(),
        other => format!("{other:?}"),
    };
    assert_eq!(told, expected, "{text}");
}

const BLOCK: &str = "```stance\n{\"stance\": \"agree\", \"proposal\": \"SQLite: one file\", \"confidence\": 0.7}\n```";

#[test]
fn the_stance_stands_at_the_end_and_is_no_part_of_the_words() {
    let speech = speech(&format!(
        "# Why\n\n```sh\nls\n```\nIt is small.\n\n{BLOCK}\n\n"
    ));
    assert_eq!(speech.text, "# Why\n\n```sh\nls\n```\nIt is small.");
    let stance = speech.stance.unwrap();
    assert_eq!(stance.votes_for().unwrap().as_str(), "sqlite");
    assert_eq!(stance.confidence.unwrap().to_string(), "0.70");
    check(
        &format!("~~~~ json stance\n{}\n~~~~", r#"{"stance":"abstain"}"#),
        "abstains",
    );
}

#[test]
fn what_is_quoted_is_no_stance() {
    let none = "it did not end with a `stance` block";
    check(
        "CONSENSUS_REACHED. I agree. LGTM. {\"stance\": \"agree\"}",
        none,
    );
    check(
        &format!("He wrote:\n> {}", BLOCK.replace('\n', "\n> ")),
        none,
    );
    check(&format!("He wrote:\n````markdown\n{BLOCK}\n````"), none);
    check(
        &format!("He wrote:\n\n    {}", BLOCK.replace('\n', "\n    ")),
        none,
    );
    check(
        &BLOCK
            .replace("stance\n", "json\n")
            .replace("```stance", "```json"),
        none,
    );
    check(
        &format!("{BLOCK}\nThat is what I would never say."),
        "its `stance` block does not end the speech",
    );
    check(
        BLOCK.trim_end_matches('`'),
        "its `stance` block does not end the speech",
    );
}

#[test]
fn two_different_stances_are_none() {
    let other = BLOCK.replace("agree", "disagree");
    check(
        &format!("{other}\nNo, rather:\n{BLOCK}"),
        "it stated two different stances",
    );
    check(&format!("{BLOCK}\nOnce more:\n{BLOCK}"), "for sqlite");
}

#[test]
fn what_cannot_be_read_is_none() {
    for (json, why) in [
        ("{\"stance\": \"agree\"", "its `stance` block is no JSON"),
        ("[]", "its stance cannot be read"),
        (
            r#"{"stance": "agreed", "proposal": "x"}"#,
            "its stance cannot be read",
        ),
        (r#"{"proposal": "x"}"#, "its stance cannot be read"),
        (
            r#"{"stance": "agree", "proposal": "x", "confidence": 1.5}"#,
            "its stance cannot be read",
        ),
        (
            r#"{"stance": "agree", "proposal": "x", "confidence": "high"}"#,
            "its stance cannot be read",
        ),
        (
            r#"{"stance": "agree", "proposal": " .: x"}"#,
            "its stance is `agree` and names no proposal",
        ),
        (
            r#"{"stance": "disagree"}"#,
            "its stance is `disagree` and names no proposal",
        ),
        (
            r#"{"stance": "disagree", "proposal": "x", "instead": "X: again"}"#,
            "its stance is against a proposal and for the same one",
        ),
        (
            r#"{"stance": "agree", "proposal": "x", "instead": "y"}"#,
            "its stance is for a proposal and for another one instead",
        ),
    ] {
        let speech = speech(&format!("Words.\n```stance\n{json}\n```"));
        assert_eq!(speech.stance, None, "{json}");
        let told = speech.no_stance.unwrap();
        assert!(told.starts_with(why), "{json}: {told}");
    }
}

#[test]
fn proposals_are_the_same_by_their_short_names() {
    let named = |text: &str| ProposalName::from_wording(text).map(|of| of.as_str().to_owned());
    for text in [
        "SQLite",
        " sqlite.",
        "sqlite: one file",
        "SQLITE; because",
        "SQLite：一个文件",
        "\"sqlite\"\nx",
    ] {
        assert_eq!(named(text).as_deref(), Some("sqlite"), "{text}");
    }
    assert_eq!(
        named("Use Postgres 16!").as_deref(),
        Some("use-postgres-16")
    );
    assert_eq!(named("用 SQLite").as_deref(), Some("用-sqlite"));
    assert_eq!(named(" -: "), None);
    assert_eq!(named("Answer:"), Some("answer".to_owned()));
    assert_eq!(
        named("My proposal: SQLite: one file").as_deref(),
        Some("sqlite")
    );
}

#[test]
fn different_proposals_have_different_names() {
    let long = "we should move the whole service to a new database engine that is called";
    let (first, second) = (format!("{long} sqlite"), format!("{long} postgres"));
    for (one, other) in [
        ("Answer: SQLite", "Answer: Postgres"),
        ("Use: SQLite", "use: Postgres"),
        ("方案：一个文件", "方案：服务器"),
        ("C", "C++"),
        ("C#", "C"),
        ("std::vec", "std::list"),
        ("https://a.example", "https://b.example"),
        ("a < b", "a > b"),
        (first.as_str(), second.as_str()),
    ] {
        assert_ne!(
            ProposalName::from_wording(one),
            ProposalName::from_wording(other),
            "{one}, {other}"
        );
    }
}

#[test]
fn a_check_is_one_line_and_there_are_three_at_most() {
    let check = |command: &str| json!({"command": command});
    let data = json!({"stance": "abstain", "checks": [check("ls\nrm -rf /"), check(" "), check(&"x".repeat(501)), check(" ls "), check("a"), check("b"), check("c")]});
    let stance = ParticipantStance::from_json(&data).unwrap();
    let commands: Vec<&str> = stance
        .checks
        .iter()
        .map(|check| check.command.as_str())
        .collect();
    assert_eq!(commands, ["ls", "a", "b"]);
}

#[test]
fn what_agents_like_to_write_otherwise_is_read_too() {
    let data = json!({"stance": "abstain", "proposal": null, "instead": null, "confidence": null, "blocking": null,
        "evidence": "its words", "checks": ["ls", {"command": "pwd", "why": "where"}], "note": 1});
    let stance = ParticipantStance::from_json(&data).unwrap();
    assert_eq!(stance.evidence, ["its words"]);
    assert_eq!(stance.checks.len(), 2);
    assert!(ParticipantStance::from_json(&json!({"stance": null, "proposal": "x"})).is_err());
    let told = json!({"stance": "Agree-with changes", "proposal": "x", "blocking": "p", "confidence": " 0.7 "});
    let stance = ParticipantStance::from_json(&told).unwrap();
    assert_eq!(stance.describe(), "for x, 1 blocking");
    assert_eq!(stance.confidence.map(|of| of.in_thousandths()), Some(700));
}

#[test]
fn a_stance_that_is_longer_than_it_may_be_is_cut() {
    let long = "x ".repeat(1_000);
    let data = json!({"stance": "disagree", "proposal": long, "blocking": vec![long.clone(); 20]});
    let stance = ParticipantStance::from_json(&data).unwrap();
    assert_eq!(stance.proposal.chars().count(), 300);
    assert_eq!(stance.blocking.len(), 10);
}

#[test]
fn nothing_said_is_a_failure() {
    let empty = speech(" \n");
    assert_eq!(empty.error.unwrap().code, SpeechErrorCode::Empty);
    assert!(speech(BLOCK).is_heard(), "a stance alone is said");
    assert_eq!(
        speech(&"x".repeat(9_000)).text.chars().count(),
        MAX_SPEECH_CHARS
    );
}

proptest! {
    #[test]
    fn no_text_without_the_block_agrees(text in "(agree|LGTM|stance|[{}\":`~> \n]|CONSENSUS_REACHED|同意|```|json){0,40}") {
        let speech = speech(&text);
        prop_assert!(speech.stance.is_none() || text.contains("```") || text.contains("~~~"));
    }

    #[test]
    fn words_before_a_block_change_nothing_in_it(words in "[a-z#>*\n -]{0,60}") {
        let speech = speech(&format!("{words}\n\n{BLOCK}"));
        prop_assert_eq!(speech.stance.unwrap().describe(), "for sqlite");
        prop_assert_eq!(speech.text, words.trim());
    }
}
