//! Tests pressure to agree: loud, numerous or always-agreeing participants do not decide.

use super::discussion_simulator::*;
use crate::domain::discussion::*;

/// A participant that alone is right in the first round, and agrees with the others as soon as it reads them.
fn sycophant(round: u32, why: Option<&str>, evidence: &str) -> ScriptedReply {
    match (round, why) {
        (1, _) => votes_for("postgres"),
        (_, None) => votes_for("sqlite"),
        (_, Some(why)) => says(
            "You are all right, of course.",
            &format!(
                r#"{{"stance": "agree", "proposal": "sqlite", "confidence": 1.0, "why_changed": "{why}", "evidence": [{evidence}]}}"#
            ),
        ),
    }
}

fn with_sycophant(why: Option<&str>, evidence: &str) -> DiscussionSimulator {
    DiscussionSimulator::new(DiscussionMode::Collaborative, &["a", "b", "sycophant"])
        .with_settings(|terms| terms.rounds = 2)
        .until_over(|_, speak| match speak.participant.name.as_str() {
            "a" => says(
                "A single file is backed up by copying it.",
                r#"{"stance": "agree", "proposal": "sqlite"}"#,
            ),
            "b" => votes_for("sqlite"),
            _ => sycophant(speak.round, why, evidence),
        })
}

fn check(why: Option<&str>, evidence: &str, expected: &str, refused: Option<&str>) {
    let play = with_sycophant(why, evidence);
    assert_eq!(play.decision_label(), expected);
    let shift = &play.outcome().shifts[0];
    assert_eq!(shift.refused.as_deref(), refused);
    assert_eq!(
        (shift.from.as_str(), shift.to.as_str()),
        ("for postgres", "for sqlite")
    );
}

const NOTHING_NEW: &str =
    "it joined the majority and named nothing new: no words that another said, no check that ran";

#[test]
fn giving_in_to_the_many_is_no_agreement() {
    let minority = &with_sycophant(None, "").outcome().minority.clone();
    assert_eq!(
        minority[0].participant, "sycophant",
        "where it stood first is what counts"
    );
    check(
        None,
        "",
        "sqlite by vote: max_rounds",
        Some("it gave no reason for the change"),
    );
    check(
        Some("ok"),
        "",
        "sqlite by vote: max_rounds",
        Some("it gave no reason for the change"),
    );
    let because = Some("everybody else is for it");
    check(because, "", "sqlite by vote: max_rounds", Some(NOTHING_NEW));
    check(
        because,
        r#""nobody ever said this""#,
        "sqlite by vote: max_rounds",
        Some(NOTHING_NEW),
    );
    check(
        because,
        r#""You are all right, of course.""#,
        "sqlite by vote: max_rounds",
        Some(NOTHING_NEW),
    );
    check(
        because,
        r#""check 1""#,
        "sqlite by vote: max_rounds",
        Some(NOTHING_NEW),
    );
}

#[test]
fn being_convinced_by_what_another_said_counts() {
    check(
        Some("I had not thought of the backup"),
        r#""backed up by  COPYING it""#,
        "sqlite by consensus: consensus",
        None,
    );
}

#[test]
fn what_blocks_another_and_what_a_check_printed_is_new_too() {
    let moves = |evidence: &'static str| {
        let mut play = DiscussionSimulator::new(DiscussionMode::Collaborative, &["a", "b", "c"])
            .with_settings(|terms| terms.rounds = 2);
        let output = "12000 writes per second".to_owned();
        play.checks.insert(
            "bench",
            CheckOutcome::Ran {
                exit_code: Some(0),
                output,
            },
        );
        let play = play.until_over(move |_, speak| {
            let moved = format!(r#"{{"stance": "agree", "proposal": "sqlite", "why_changed": "it is fast enough", "evidence": ["{evidence}"]}}"#);
            match (speak.participant.name.as_str(), speak.round) {
                ("c", 1) => votes_for("postgres"),
                ("c", _) => says("Well then.", &moved),
                ("a", _) => says("It is.", r#"{"stance": "agree", "proposal": "sqlite", "blocking": ["a backup every night"], "checks": [{"command": "bench"}]}"#),
                _ => votes_for("sqlite"),
            }
        });
        play.outcome().shifts[0].refused.is_none()
    };
    assert!(
        moves("a backup every night")
            && moves("Check 1: it is fast")
            && moves("12000 writes per second")
    );
    assert!(!moves("check 2") && !moves("check 12") && !moves("writes") && !moves("sqlite"));
}

#[test]
fn another_name_for_the_same_proposal_needs_a_reason_and_nothing_new() {
    let renames = |from: &'static str, why: &'static str| {
        let play = DiscussionSimulator::new(DiscussionMode::Collaborative, &["a", "b", "c"])
            .with_settings(|terms| terms.rounds = 2)
            .until_over(
                move |_, speak| match (speak.participant.name.as_str(), speak.round) {
                    ("c", 1) => votes_for(from),
                    ("c", _) => says(
                        "The same.",
                        &format!(
                            r#"{{"stance": "agree", "proposal": "sqlite", "why_changed": "{why}"}}"#
                        ),
                    ),
                    _ => votes_for("sqlite"),
                },
            );
        play.decision_label()
    };
    let why = "it is what the others call it";
    assert_eq!(renames("Use SQLite", why), "sqlite by consensus: consensus");
    assert_eq!(renames("Use SQLite", ""), "sqlite by vote: max_rounds");
    assert_eq!(renames("Use Postgres", why), "sqlite by vote: max_rounds");
}

#[test]
fn a_planted_anchor_does_not_move_the_outcome() {
    let anchor = "Everyone already agreed on postgres. I am 100 % certain.";
    let play = DiscussionSimulator::new(DiscussionMode::Collaborative, &["anchor", "b", "c", "d"])
        .until_over(|_, speak| {
            match (speak.participant.name.as_str(), speak.round) {
                ("anchor", _) => says(
                    anchor,
                    r#"{"stance": "agree", "proposal": "postgres", "confidence": 1.0}"#,
                ),
                ("d", 1) => votes_for("mysql"),
                (_, 1) => votes_for("sqlite"),
                // They all follow the participant that sounds sure.
                _ => says(
                    "Then postgres.",
                    r#"{"stance": "agree", "proposal": "postgres", "confidence": 1.0}"#,
                ),
            }
        });
    let outcome = play.outcome();
    assert_eq!(
        outcome.decision.as_ref().map(|of| of.as_str()),
        Some("sqlite")
    );
    assert_eq!(outcome.basis, DecisionBasis::Vote);
    assert_eq!(
        outcome
            .shifts
            .iter()
            .filter(|shift| shift.refused.is_some())
            .count(),
        3
    );
}

#[test]
fn whoever_leaves_the_many_must_say_why_and_nothing_else() {
    let leaves = |why: &'static str| {
        DiscussionSimulator::new(DiscussionMode::Collaborative, &["a", "b", "c", "d"])
            .with_settings(|terms| terms.rounds = 2)
            .until_over(move |_, speak| {
                let moved = format!(
                    r#"{{"stance": "disagree", "proposal": "sqlite", "why_changed": "{why}"}}"#
                );
                match (speak.participant.name.as_str(), speak.round) {
                    ("d", _) => votes_for("postgres"),
                    ("a", 2) => says("No after all.", &moved),
                    _ => votes_for("sqlite"),
                }
            })
    };
    let told = leaves("two writers lock each other out");
    assert_eq!(told.outcome().shifts[0].refused, None);
    assert_eq!(told.outcome().votes[0].against.len(), 1);
    assert!(leaves("").outcome().shifts[0].refused.is_some());
}

#[test]
fn a_blocking_point_that_is_dropped_without_a_reason_still_blocks() {
    let play = DiscussionSimulator::new(DiscussionMode::Collaborative, &["a", "b"]).with_settings(|terms| terms.rounds = 2).until_over(|_, speak| {
        match (speak.participant.name.as_str(), speak.round) {
            ("b", 1) => says("Only if backups work.", r#"{"stance": "agree_with_changes", "proposal": "sqlite", "blocking": ["nobody tried a backup"]}"#),
            _ => votes_for("sqlite"),
        }
    });
    assert_eq!(play.decision_label(), "sqlite by vote: max_rounds");
    assert_eq!(play.outcome().unresolved[0].text, "nobody tried a backup");
}

#[test]
fn somebody_attacks_in_every_round_but_the_first_and_each_in_turn() {
    let play = DiscussionSimulator::new(DiscussionMode::Collaborative, &["b", "a", "c"])
        .with_settings(|terms| (terms.rounds, terms.stalemate_rounds) = (5, 10))
        .until_over(|_, speak| match speak.participant.name.as_str() {
            "a" => votes_for("sqlite"),
            _ => votes_for("postgres"),
        });
    let attackers: Vec<_> = play
        .discussion
        .rounds
        .iter()
        .map(|round| round.attacker.as_deref().unwrap_or("-"))
        .collect();
    assert_eq!(attackers, ["-", "a", "b", "c", "a"]);
    assert_eq!(
        play.discussion.leading_proposal(2).as_deref(),
        Some("postgres")
    );
}
