//! Tests who speaks when, when a discussion stops, and how it resumes after a program end.

use proptest::prelude::*;
use strum::IntoEnumIterator;

use super::discussion_simulator::*;
use crate::domain::discussion::*;
use crate::domain::ids::{SessionId, UnixMillis};

fn disagreeing(_: &GroupDiscussion, speak: &SpeechRequest) -> ScriptedReply {
    match speak.participant.name.as_str() {
        "advocate" | "a" => votes_for("sqlite"),
        "moderator" => says("Undecided.", r#"{"stance": "abstain"}"#),
        _ => says(
            "No.",
            &format!(
                r#"{{"stance": "disagree", "proposal": "sqlite", "blocking": ["point {}"]}}"#,
                speak.round
            ),
        ),
    }
}

#[test]
fn an_early_stop_still_gives_the_moderator_its_turn() {
    let play =
        DiscussionSimulator::new(DiscussionMode::Debate, &["advocate", "critic", "moderator"])
            .until_over(|_, _| votes_for("sqlite"));
    assert_eq!(
        play.trace,
        [
            "1: advocate",
            "1: critic",
            "last word: moderator",
            "ends: unanimous"
        ]
    );
    assert_eq!(play.decision_label(), "sqlite by consensus: unanimous");
}

#[test]
fn one_after_another_hears_all_that_was_said_before() {
    let play = DiscussionSimulator::new(DiscussionMode::Debate, &["advocate", "critic"])
        .with_settings(|terms| (terms.order, terms.rounds) = (SpeakingOrder::Sequential, 2))
        .until_over(|_, speak| {
            let (name, n) = (&speak.participant.name, speak.round);
            let on = if name == "critic" {
                "disagree"
            } else {
                "agree"
            };
            says(
                &format!("{name}-{n}"),
                &format!(r#"{{"stance": "{on}", "proposal": "x"}}"#),
            )
        });
    assert!(
        !play
            .context("critic", 1, SpeechPart::Round)
            .contains("advocate-1"),
        "the first round is independent"
    );
    assert!(
        play.context("advocate", 2, SpeechPart::Round)
            .contains("critic-1")
    );
    assert!(
        play.context("critic", 2, SpeechPart::Round)
            .contains("advocate-2")
    );
}

#[test]
fn nobody_hears_anybody_before_the_first_position() {
    let play = DiscussionSimulator::new(DiscussionMode::Collaborative, &["a", "b", "c"])
        .with_settings(|terms| terms.concurrency = 1)
        .until_over(disagreeing);
    for name in ["a", "b", "c"] {
        let told = play.context(name, 1, SpeechPart::Round);
        assert!(
            !told.contains("stance") && !told.contains("because"),
            "{told}"
        );
    }
}

#[test]
fn so_many_speak_at_a_time_as_the_terms_allow() {
    let mut play =
        DiscussionSimulator::new(DiscussionMode::Collaborative, &["a", "b", "c", "d", "e"])
            .with_settings(|terms| terms.concurrency = 2);
    let mut most = 0;
    while play.step(&disagreeing) {
        most = most.max(play.discussion.speaking.len());
    }
    assert_eq!(most, 2);
}

#[test]
fn who_speaks_is_not_named_again() {
    let mut play = DiscussionSimulator::new(DiscussionMode::Collaborative, &["a", "b"])
        .with_settings(|terms| terms.concurrency = 1);
    let DiscussionEffect::Speak(first) = play.discussion.next_effect(play.now) else {
        panic!()
    };
    assert_eq!(first.len(), 1);
    play.step(&disagreeing);
    assert!(matches!(
        play.discussion.next_effect(play.now),
        DiscussionEffect::Wait { .. }
    ));
}

#[test]
fn a_deadline_stops_who_speaks_and_the_moderator_still_rules() {
    let play =
        DiscussionSimulator::new(DiscussionMode::Debate, &["advocate", "critic", "moderator"])
            .until_over(|discussion, speak| {
                match (speak.participant.name.as_str(), speak.round, speak.part) {
                    ("critic", 2, _) => ScriptedReply::Hangs,
                    ("moderator", ..) => votes_for("sqlite"),
                    _ => disagreeing(discussion, speak),
                }
            });
    let expected = [
        "1: advocate",
        "1: critic",
        "2: advocate",
        "2: critic",
        "stops 1: E_DEADLINE",
        "last word: moderator",
        "ends: deadline",
    ];
    assert_eq!(play.trace, expected);
    assert_eq!(play.decision_label(), "sqlite by moderator: deadline");
    assert_eq!(play.outcome().rounds, 1);
}

#[test]
fn the_user_s_stop_is_the_end_at_once() {
    let mut play =
        DiscussionSimulator::new(DiscussionMode::Debate, &["advocate", "critic", "moderator"]);
    play.step(&|_, _| ScriptedReply::Hangs);
    play.apply(&DiscussionEvent::StopAsked {
        reason: DiscussionStopReason::User,
    });
    let play = play.until_over(disagreeing);
    assert_eq!(
        play.trace,
        [
            "1: advocate",
            "1: critic",
            "stops 2: E_STOPPED",
            "ends: user"
        ]
    );
    assert_eq!(play.discussion.status, DiscussionStatus::Cancelled);
}

#[test]
fn what_nobody_moves_in_is_stale_unless_a_check_ran() {
    let stale = |_: &GroupDiscussion, speak: &SpeechRequest| match speak.participant.name.as_str() {
        "a" => votes_for("sqlite"),
        _ => says(
            "No.",
            r#"{"stance": "disagree", "proposal": "sqlite", "blocking": ["load"],
            "checks": [{"command": "cargo bench", "why": "the load"}]}"#,
        ),
    };
    let play = DiscussionSimulator::new(DiscussionMode::Collaborative, &["a", "b"])
        .with_settings(|terms| terms.rounds = 10)
        .until_over(stale);
    let expected = [
        "1: a",
        "1: b",
        "check 1: cargo bench (b)",
        "2: a",
        "2: b",
        "3: a",
        "3: b",
        "ends: stalemate",
    ];
    assert_eq!(play.trace, expected);
}

#[test]
fn what_a_check_printed_goes_into_the_next_round() {
    let mut play = DiscussionSimulator::new(DiscussionMode::Collaborative, &["a", "b"])
        .with_settings(|terms| terms.rounds = 2);
    let output = "1200 writes/s".to_owned();
    play.checks.insert(
        "cargo bench",
        CheckOutcome::Ran {
            exit_code: Some(0),
            output,
        },
    );
    let play = play.until_over(|_, speak| {
        let ask = r#"{"stance": "disagree", "proposal": "x", "checks": [{"command": "cargo bench", "why": "load"}]}"#;
        match (speak.participant.name.as_str(), speak.round) {
            (_, 1) => says("Measure.", ask),
            _ => votes_for("sqlite"),
        }
    });
    assert_eq!(
        play.trace[2], "check 1: cargo bench (a, b)",
        "what both want runs once"
    );
    let told = play.context("a", 2, SpeechPart::Round);
    assert!(
        told.contains("1200 writes/s") && told.contains("## Check 1"),
        "{told}"
    );
}

#[test]
fn jurors_answer_alone_and_vote_once_without_any_talk() {
    let play = DiscussionSimulator::new(DiscussionMode::Jury, &["a", "b", "c"]).until_over(|_, speak| {
        match (speak.participant.name.as_str(), speak.round) {
            ("a", 1) => says("secret-reason-a", r#"{"stance": "agree", "proposal": "sqlite: one file"}"#),
            ("b", 1) => says("secret-reason-b", r#"{"stance": "agree", "proposal": "postgres"}"#),
            (_, 1) => says("secret-reason-c", r#"{"stance": "agree", "proposal": "mysql"}"#),
            ("c", _) => says("It is better.", r#"{"stance": "agree", "proposal": "sqlite", "why_changed": "one file is easier to keep than a server"}"#),
            ("a", _) => votes_for("sqlite"),
            _ => votes_for("postgres"),
        }
    });
    assert_eq!(play.decision_label(), "sqlite by vote: max_rounds");
    let told = play.context("c", 2, SpeechPart::Round);
    assert!(
        told.contains("- sqlite: sqlite: one file\n") || told.contains("sqlite: one file"),
        "{told}"
    );
    assert!(
        !told.contains("secret-reason") && !told.contains("round 1"),
        "{told}"
    );
    assert_eq!(play.outcome().rounds, 2);
}

#[test]
fn a_moderator_among_equals_may_end_it_by_data_alone() {
    let play = DiscussionSimulator::new(DiscussionMode::Collaborative, &["a", "b", "moderator"])
        .until_over(|discussion, speak| {
            let ends = r#"{"stance": "agree", "proposal": "sqlite", "conclude": true}"#;
            match speak.participant.name.as_str() {
                "moderator" => says("Enough.", ends),
                "b" => says("Enough.", &ends.replace("sqlite", "postgres")),
                _ => disagreeing(discussion, speak),
            }
        });
    assert_eq!(play.decision_label(), "sqlite by moderator: moderator");
    assert_eq!(play.outcome().rounds, 2, "it has to hear them first");
}

#[test]
fn a_moderator_s_ruling_and_the_decision_say_the_same() {
    let rules = |ruling: &'static str| {
        let names = ["advocate", "critic", "moderator"];
        DiscussionSimulator::new(DiscussionMode::Debate, &names).until_over(move |_, speak| {
            match speak.participant.name.as_str() {
                "moderator" => says("So I rule.", ruling),
                _ => votes_for("sqlite"),
            }
        })
    };
    let told =
        |play: &DiscussionSimulator| (play.decision_label(), play.outcome().conclusion.clone());
    let same = rules(r#"{"stance": "agree", "proposal": "sqlite"}"#);
    assert_eq!(
        told(&same),
        (
            "sqlite by consensus: unanimous".to_owned(),
            "So I rule.".to_owned()
        )
    );
    let other = rules(r#"{"stance": "agree", "proposal": "postgres", "blocking": ["many write"]}"#);
    assert_eq!(
        told(&other),
        (
            "postgres by moderator: unanimous".to_owned(),
            "So I rule.".to_owned()
        )
    );
    let names: Vec<&str> = other
        .outcome()
        .minority
        .iter()
        .map(|each| each.participant.as_str())
        .collect();
    assert_eq!(names, ["advocate", "critic"]);
    assert_eq!(other.outcome().unresolved[0].participant, "moderator");
    let against = rules(r#"{"stance": "disagree", "proposal": "sqlite"}"#);
    assert_eq!(against.decision_label(), "none by none: unanimous");
    assert!(
        against
            .outcome()
            .conclusion
            .ends_with("moderator: So I rule.")
    );
    let abstains = rules(r#"{"stance": "abstain"}"#);
    let conclusion = "Agreed: sqlite.\n\nmoderator: So I rule.".to_owned();
    assert_eq!(
        told(&abstains),
        ("sqlite by consensus: unanimous".to_owned(), conclusion)
    );
    assert_eq!(abstains.outcome().abstained, ["moderator"]);
}

#[test]
fn each_is_asked_for_its_first_check_before_anybody_s_second() {
    let asks = |names: [&str; 3]| {
        let checks = names
            .map(|name| format!(r#"{{"command": "{name}"}}"#))
            .join(",");
        says(
            "Measure.",
            &format!(r#"{{"stance": "disagree", "proposal": "x", "checks": [{checks}]}}"#),
        )
    };
    let mut play = DiscussionSimulator::new(DiscussionMode::Collaborative, &["a", "b"])
        .with_settings(|terms| terms.rounds = 2);
    let ran = CheckOutcome::Ran {
        exit_code: Some(0),
        output: String::new(),
    };
    for name in ["a1", "a2", "a3", "b2", "b3"] {
        play.checks.insert(name, ran.clone());
    }
    let play = play.until_over(
        |_, speak| match (speak.participant.name.as_str(), speak.round) {
            ("a", 1) => asks(["a1", "a2", "a3"]),
            (_, 1) => asks(["b1", "b2", "b3"]),
            _ => votes_for("sqlite"),
        },
    );
    // A refused command does not count against the limits.
    let expected = [
        "check 1: a1 (a)",
        "check 2: b1 (b)",
        "check 3: a2 (a)",
        "check 4: b2 (b)",
    ];
    assert_eq!(play.trace[2..6], expected);
    let told = play.context("a", 2, SpeechPart::Round);
    assert!(
        told.contains("beyond those that run\n") && told.contains("a3 (a)\nb3 (b)"),
        "{told}"
    );
}

#[test]
fn a_crash_keeps_the_finished_rounds_and_it_goes_on_with_the_next() {
    let mut play =
        DiscussionSimulator::new(DiscussionMode::Debate, &["advocate", "critic", "moderator"])
            .with_settings(|terms| terms.rounds = 3);
    while play
        .discussion
        .round()
        .is_none_or(|round| round.n < 2 || round.speeches.is_empty())
    {
        assert!(play.step(&disagreeing));
    }
    play.discussion.on_program_ended();
    assert_eq!(play.discussion.status, DiscussionStatus::Cancelled);
    assert_eq!(play.discussion.rounds.len(), 1);
    assert_eq!(
        play.discussion.next_effect(play.now),
        DiscussionEffect::Over
    );
    let kept = play.discussion.rounds[0].clone();

    let mut again = DiscussionSimulator::from_order(&play.discussion.order.clone());
    again.discussion = play.discussion;
    again.now = UnixMillis(9_000_000);
    again.apply(&DiscussionEvent::Continued);
    let again = again.until_over(disagreeing);
    assert_eq!(again.trace[0], "2: advocate");
    assert_eq!(again.discussion.rounds[0], kept);
    assert_eq!(again.discussion.status, DiscussionStatus::Completed);
    assert!(
        again.told[0].0.session.is_some(),
        "each goes on in its own session"
    );
}

#[test]
fn what_failed_goes_on_with_the_round_in_which_too_few_could_speak() {
    let play =
        DiscussionSimulator::new(DiscussionMode::Debate, &["advocate", "critic", "moderator"])
            .with_settings(|terms| terms.rounds = 3)
            .until_over(
                |discussion, speak| match (speak.round, speak.participant.name.as_str()) {
                    (2, "critic") => ScriptedReply::Fails(SpeechErrorCode::Timeout),
                    _ => disagreeing(discussion, speak),
                },
            );
    assert_eq!(play.decision_label(), "none by none: lost_quorum");
    let first = play.discussion.rounds[0].clone();
    let mut again = DiscussionSimulator::from_order(&play.discussion.order.clone());
    (again.discussion, again.now) = (play.discussion, UnixMillis(9_000_000));
    again.apply(&DiscussionEvent::Continued);
    let again = again.until_over(disagreeing);
    assert_eq!(again.trace[0], "2: advocate");
    assert_eq!(again.discussion.rounds[0], first);
    assert_eq!(again.discussion.status, DiscussionStatus::Completed);
    assert!(again.outcome().errors.is_empty());
}

#[test]
fn whoever_failed_twice_is_not_asked_a_third_time() {
    let play = DiscussionSimulator::new(DiscussionMode::Collaborative, &["a", "b", "c"])
        .with_settings(|terms| (terms.rounds, terms.stalemate_rounds) = (4, 4))
        .until_over(|discussion, speak| match speak.participant.name.as_str() {
            "c" => ScriptedReply::Fails(SpeechErrorCode::Adapter),
            _ => disagreeing(discussion, speak),
        });
    assert_eq!(play.outcome().errors.len(), 2);
    assert_eq!(play.outcome().rounds, 4);
}

#[test]
fn what_is_over_changes_no_more() {
    let mut play = DiscussionSimulator::new(DiscussionMode::Jury, &["a", "b"])
        .until_over(|_, _| votes_for("x"));
    let before = play.discussion.clone();
    play.apply(&DiscussionEvent::StopAsked {
        reason: DiscussionStopReason::User,
    });
    play.apply(&DiscussionEvent::Continued);
    assert_eq!(play.discussion, before);
}

#[test]
fn a_discussion_is_read_back_as_it_was_written() {
    let play =
        DiscussionSimulator::new(DiscussionMode::Debate, &["advocate", "critic", "moderator"])
            .until_over(disagreeing);
    let written = serde_json::to_string(&play.discussion).unwrap();
    let read: GroupDiscussion = serde_json::from_str(&written).unwrap();
    assert_eq!(read, play.discussion);
}

fn any_said() -> impl Strategy<Value = ScriptedReply> {
    prop_oneof![
        6 => ("[ab]", "agree|agree_with_changes|disagree|abstain", 0u8..=10, 0usize..2).prop_map(|(on, stance, sure, n)| {
            let blocking = vec!["\"b\""; n].join(",");
            says("words", &format!(r#"{{"stance": "{stance}", "proposal": "{on}", "confidence": {}, "blocking": [{blocking}], "why_changed": "a reason of some length"}}"#, f64::from(sure) / 10.0))
        }),
        1 => Just(ScriptedReply::Text("no block".to_owned())),
        1 => Just(ScriptedReply::Fails(SpeechErrorCode::Timeout)),
        1 => Just(ScriptedReply::NoSession),
        1 => Just(ScriptedReply::Hangs),
    ]
}

proptest! {
    #[test]
    fn every_discussion_ends_within_its_rounds_and_the_moderator_read_the_last_one(
        mode in proptest::sample::select(DiscussionMode::iter().collect::<Vec<_>>()),
        order in proptest::sample::select(vec![SpeakingOrder::Simultaneous, SpeakingOrder::Sequential]),
        rounds in 1u32..=4,
        concurrency in 1u32..=4,
        said in proptest::collection::vec(any_said(), 40),
    ) {
        let names = ["advocate", "critic", "x", "moderator"];
        let play = DiscussionSimulator::new(mode, &names)
            .with_settings(|terms| (terms.rounds, terms.order, terms.concurrency) = (rounds, order, concurrency))
            .until_over(|_, speak| {
                let who = names.iter().position(|name| *name == speak.participant.name).unwrap();
                let part = usize::from(speak.part == SpeechPart::Closing);
                // A moderator that hangs in its closing speech is stopped by its timeout.
                match said[(speak.round as usize * 8 + who * 2 + part) % said.len()].clone() {
                    ScriptedReply::Hangs if speak.part == SpeechPart::Closing => ScriptedReply::Fails(SpeechErrorCode::Timeout),
                    said => said,
                }
            });
        let discussion = &play.discussion;
        prop_assert!(discussion.rounds.len() <= rounds as usize);
        for round in &discussion.rounds {
            let mut speakers: Vec<&str> = round.speeches.iter().map(|each| each.participant.as_str()).collect();
            speakers.sort_unstable();
            speakers.dedup();
            prop_assert_eq!(speakers.len(), round.speeches.len());
        }
        let turns: Vec<_> = play.told.iter().map(|(speak, _)| (speak.round, speak.part, speak.participant.name.clone())).collect();
        let unique: std::collections::BTreeSet<_> = turns.iter().map(|(n, part, name)| (*n, *part == SpeechPart::Closing, name.clone())).collect();
        prop_assert_eq!(unique.len(), turns.len(), "nobody is asked twice");
        if let Some((speak, told)) = play.told.iter().find(|(speak, _)| speak.part == SpeechPart::Closing) {
            prop_assert_eq!(play.told.iter().filter(|(speak, _)| speak.part == SpeechPart::Closing).count(), 1);
            for speech in &discussion.rounds.last().unwrap().speeches {
                let headline = format!("## {} in round {}", speech.participant, speak.round);
                prop_assert!(told.contains(&headline));
            }
        }
        let errors = discussion.rounds.iter().flat_map(|round| &round.speeches).chain(&discussion.closing).filter(|each| each.error.is_some()).count();
        prop_assert_eq!(play.outcome().errors.len(), errors, "each failure is an entry");
    }

    #[test]
    fn a_program_that_ends_anywhere_loses_no_finished_round(at in 0usize..30, rounds in 1u32..=4) {
        let mut play = DiscussionSimulator::new(DiscussionMode::Debate, &["advocate", "critic", "moderator"]).with_settings(|terms| terms.rounds = rounds);
        for _ in 0..at {
            play.step(&disagreeing);
        }
        let finished: Vec<Round> = play.discussion.rounds.iter().filter(|round| play.discussion.is_round_finished(round)).cloned().collect();
        play.discussion.on_program_ended();
        prop_assert_eq!(&play.discussion.rounds, &finished);
        let mut again = DiscussionSimulator::from_order(&play.discussion.order.clone());
        again.discussion = play.discussion;
        again.apply(&DiscussionEvent::Continued);
        let again = again.until_over(disagreeing);
        prop_assert_eq!(&again.discussion.rounds[..finished.len()], &finished[..]);
    }

    #[test]
    fn no_events_make_a_discussion_that_breaks_its_own_rules(
        mode in proptest::sample::select(DiscussionMode::iter().collect::<Vec<_>>()),
        events in proptest::collection::vec((0u32..5, 0usize..5, any::<bool>(), 0u8..7), 0..60),
    ) {
        let names = ["advocate", "critic", "x", "moderator", "nobody"];
        let mut play = DiscussionSimulator::new(mode, &names[..4]);
        for (round, who, closes, what) in events {
            let seat = SpeechSlot {
                round,
                part: if closes { SpeechPart::Closing } else { SpeechPart::Round },
                participant: names[who].to_owned(),
            };
            let session = SessionId::new(format!("ses_{who}"));
            let event = match what {
                0..=2 => DiscussionEvent::SpeechBegan {
                    round,
                    part: seat.part,
                    participant: seat.participant,
                    session,
                    attacker: None,
                },
                3..=4 => DiscussionEvent::Spoke { speech: Box::new(DiscussionSpeech::from_reply(seat, session, "Words.", 1)) },
                5 => DiscussionEvent::Spoke {
                    speech: Box::new(DiscussionSpeech::from_failure(seat, None, SpeechErrorCode::Session, String::new(), 0)),
                },
                _ => DiscussionEvent::Continued,
            };
            play.apply(&event);
        }
        let discussion = &play.discussion;
        for (at, round) in discussion.rounds.iter().enumerate() {
            prop_assert_eq!(round.n as usize, at + 1);
            prop_assert!(round.n <= discussion.max_rounds());
            let mut names: Vec<&str> = round.speeches.iter().map(|each| each.participant.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            prop_assert_eq!(names.len(), round.speeches.len());
            prop_assert!(!names.contains(&"nobody"));
        }
        let unfinished = discussion.rounds.iter().filter(|round| !discussion.is_round_finished(round)).count();
        prop_assert!(unfinished <= 1);
    }
}
