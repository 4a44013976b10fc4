//! Tests failures measured in an engine that judged by words: none of them may happen here.

use super::discussion_simulator::*;
use crate::domain::discussion::*;

#[test]
fn strong_disagreement_is_not_neutral() {
    let play = DiscussionSimulator::new(DiscussionMode::Collaborative, &["a", "b", "c"]).until_over(|_, speak| {
        match speak.participant.name.as_str() {
            "a" => votes_for("sqlite"),
            "b" => says(
                "I strongly disagree. I completely reject this.",
                r#"{"stance": "disagree", "proposal": "sqlite", "confidence": 1.0, "blocking": ["no network access"]}"#,
            ),
            _ => says("I have no opinion.", r#"{"stance": "abstain"}"#),
        }
    });
    assert_eq!(play.decision_label(), "none by none: stalemate");
    let outcome = play.outcome();
    assert_eq!(outcome.votes[0].votes_for.len(), 1);
    assert_eq!(outcome.votes[0].against[0].participant, "b");
    assert_eq!(outcome.abstained, ["c"]);
    assert_eq!(outcome.unresolved[0].text, "no network access");
}

#[test]
fn not_approved_does_not_approve() {
    let play = DiscussionSimulator::new(DiscussionMode::Collaborative, &["a", "b", "c"])
        .until_over(|_, _| {
            ScriptedReply::Text(
                "This is not approved. I cannot say LGTM, and I disagree: 不同意.".to_owned(),
            )
        });
    assert_eq!(play.decision_label(), "none by none: max_rounds");
    assert_eq!(play.outcome().no_vote.len(), 3);
    assert_eq!(play.outcome().rounds, 3);
}

#[test]
fn a_quoted_marker_changes_nothing() {
    let play = DiscussionSimulator::new(DiscussionMode::Collaborative, &["a", "b"]).until_over(
        |_, speak| {
            let words = "Do not write CONSENSUS_REACHED, and do not end with\n\
                     ```stance\n{\"stance\": \"agree\", \"proposal\": \"sqlite\"}\n```\n\
                     as long as nothing was measured. \"conclude\": true\nCONSENSUS_REACHED";
            match speak.participant.name.as_str() {
                "a" => ScriptedReply::Text(words.to_owned()),
                _ => votes_for("sqlite"),
            }
        },
    );
    assert_eq!(play.outcome().rounds, 3);
    assert_eq!(
        play.decision_label(),
        "none by none: max_rounds",
        "one is no vote"
    );
    assert_eq!(play.outcome().no_vote[0].participant, "a");
    let again = play.context("a", 2, SpeechPart::Round);
    assert!(
        again.contains("(no stance that counts: its `stance` block does not end the speech)"),
        "{again}"
    );
}

#[test]
fn a_unanimous_first_round_stops() {
    let play = DiscussionSimulator::new(DiscussionMode::Collaborative, &["a", "b", "c"])
        .until_over(|_, _| votes_for("SQLite"));
    assert_eq!(play.decision_label(), "sqlite by consensus: unanimous");
    assert_eq!(play.trace, ["1: a", "1: b", "1: c", "ends: unanimous"]);
}

#[test]
fn the_moderator_sees_the_last_round_and_speaks_once() {
    let names = ["advocate", "critic", "moderator"];
    let play = DiscussionSimulator::new(DiscussionMode::Debate, &names)
        .with_settings(|terms| terms.rounds = 2)
        .until_over(
            |_, speak| match (speak.participant.name.as_str(), speak.round) {
                ("advocate", n) => says(
                    &format!("advocate-words-{n}"),
                    r#"{"stance": "agree", "proposal": "sqlite"}"#,
                ),
                ("critic", n) => says(
                    &format!("critic-words-{n}"),
                    r#"{"stance": "disagree", "proposal": "sqlite", "instead": "postgres"}"#,
                ),
                _ => says(
                    "Postgres it is.",
                    r#"{"stance": "agree", "proposal": "postgres"}"#,
                ),
            },
        );
    let expected = [
        "1: advocate",
        "1: critic",
        "2: advocate",
        "2: critic",
        "last word: moderator",
        "ends: stalemate",
    ];
    assert_eq!(play.trace, expected);
    let told = play.context("moderator", 2, SpeechPart::Closing);
    assert!(
        told.contains("advocate-words-2") && told.contains("critic-words-2"),
        "{told}"
    );
    assert_eq!(play.decision_label(), "postgres by moderator: stalemate");
    assert_eq!(play.outcome().conclusion, "Postgres it is.");
}

#[test]
fn a_time_out_is_an_error_entry() {
    let play = DiscussionSimulator::new(DiscussionMode::Collaborative, &["a", "b", "c"])
        .until_over(|_, speak| match speak.participant.name.as_str() {
            "a" => ScriptedReply::Fails(SpeechErrorCode::Timeout),
            "b" => votes_for("sqlite"),
            _ => votes_for("postgres"),
        });
    let outcome = play.outcome();
    let entry = &outcome.errors[0];
    assert_eq!(
        (entry.participant.as_str(), entry.error.code.as_str()),
        ("a", "E_TIMEOUT")
    );
    assert_eq!(outcome.no_vote[0].participant, "a");
    assert_eq!(outcome.tie.len(), 2, "{outcome:?}");
}

#[test]
fn whoever_has_no_session_is_an_error_and_nobody_speaks_in_its_place() {
    let play = DiscussionSimulator::new(DiscussionMode::Collaborative, &["a", "b", "c"])
        .until_over(|_, speak| match speak.participant.name.as_str() {
            "a" => ScriptedReply::NoSession,
            "b" => votes_for("sqlite"),
            _ => votes_for("postgres"),
        });
    let outcome = play.outcome();
    assert_eq!(
        outcome.errors.len(),
        1,
        "it is not asked again: {:?}",
        outcome.errors
    );
    assert_eq!(outcome.errors[0].error.code.as_str(), "E_SESSION");
    assert!(!play.discussion.sessions.contains_key("a"));
    assert!(play.discussion.speech(2, "a").is_none());
}

#[test]
fn a_debate_without_one_side_fails() {
    let names = ["advocate", "critic", "critic-2", "moderator"];
    let mut order = order(DiscussionMode::Debate, &names);
    order.participants[2].side = DebateSide::Critic;
    let play = DiscussionSimulator::from_order(&order).until_over(|_, speak| {
        match speak.participant.side {
            DebateSide::Advocate => ScriptedReply::Fails(SpeechErrorCode::Timeout),
            _ => votes_for("sqlite"),
        }
    });
    assert_eq!(play.decision_label(), "none by none: lost_quorum");
    assert_eq!(play.discussion.status, DiscussionStatus::Failed);
    assert!(!play.trace.contains(&"last word: moderator".to_owned()));
    assert_eq!(
        play.outcome().votes[0].votes_for.len(),
        2,
        "what there was is shown"
    );
}
