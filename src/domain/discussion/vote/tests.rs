//! Tests votes: stances in, votes out; nothing depends on who speaks first.

use proptest::prelude::*;
use strum::IntoEnumIterator;

use super::*;
use crate::domain::discussion::tests::discussion_simulator::{
    DiscussionSimulator, ScriptedReply, against, order, says, votes_for,
};
use crate::domain::discussion::{
    DiscussionMode, DiscussionStopReason, SpeechPart, StanceConfidence,
};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Runs one round with these replies and compares the result.
fn check(said: &[ScriptedReply], expected: &str) {
    let names = &NAMES[..said.len()];
    let play = DiscussionSimulator::new(DiscussionMode::Collaborative, names)
        .with_settings(|terms| terms.rounds = 1)
        .until_over(|_, speak| {
            let at = names
                .iter()
                .position(|name| *name == speak.participant.name);
            said[at.unwrap()].clone()
        });
    let tie: Vec<&str> = play
        .outcome()
        .tie
        .iter()
        .map(ProposalName::as_str)
        .collect();
    let by = match play.outcome().tie_break {
        VoteTieBreak::Confidence => " (confidence)",
        VoteTieBreak::None => "",
    };
    let told = play.decision_label().split(':').next().unwrap().to_owned() + by;
    let told = if tie.is_empty() {
        told
    } else {
        format!("{told}, tie {}", tie.join(" "))
    };
    assert_eq!(told, expected);
}

fn sure(proposal: &str, confidence: f64) -> ScriptedReply {
    says(
        "Words.",
        &format!(r#"{{"stance": "agree", "proposal": "{proposal}", "confidence": {confidence}}}"#),
    )
}

fn abstains() -> ScriptedReply {
    says("Words.", r#"{"stance": "abstain"}"#)
}

fn silent() -> ScriptedReply {
    ScriptedReply::Text("I agree, LGTM.".to_owned())
}

#[test]
fn votes_decide_and_ties_are_shown() {
    check(
        &[votes_for("x"), votes_for("x"), votes_for("y")],
        "x by vote",
    );
    check(&[votes_for("x"), votes_for("y")], "none by none, tie x y");
    check(&[sure("x", 0.6), sure("y", 0.7)], "y by vote (confidence)");
    check(
        &[sure("x", 0.1), sure("x", 0.1), sure("y", 1.0)],
        "x by vote",
    );
    check(
        &[
            sure("x", 0.9),
            votes_for("x"),
            sure("y", 1.0),
            sure("y", 0.5),
        ],
        "none by none, tie x y",
    );
}

#[test]
fn consensus_needs_two_stances_of_half_the_speakers_that_all_agree() {
    check(
        &[votes_for("x"), votes_for("X: once more")],
        "x by consensus",
    );
    check(
        &[votes_for("x"), votes_for("x"), silent(), silent()],
        "x by consensus",
    );
    check(
        &[
            votes_for("x"),
            silent(),
            ScriptedReply::Text("?".to_owned()),
        ],
        "none by none",
    );
    check(&[votes_for("x"), votes_for("x"), abstains()], "x by vote");
    check(&[votes_for("x"), votes_for("x"), against("x")], "x by vote");
    check(&[silent(), silent()], "none by none");
    check(&[abstains(), abstains()], "none by none");
}

#[test]
fn what_blocks_is_no_consensus() {
    let blocks = |stance: &str| {
        says(
            "Words.",
            &format!(r#"{{"stance": "{stance}", "proposal": "x", "blocking": ["p"]}}"#),
        )
    };
    check(&[votes_for("x"), blocks("agree_with_changes")], "x by vote");
    check(&[votes_for("x"), blocks("agree")], "x by vote");
    let changes = says(
        "Words.",
        r#"{"stance": "agree_with_changes", "proposal": "x"}"#,
    );
    check(&[votes_for("x"), changes], "x by consensus");
}

#[test]
fn a_vote_needs_a_quorum_too() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let decided = |n_silent: usize| {
        DiscussionSimulator::new(DiscussionMode::Collaborative, &names)
            .with_settings(|terms| terms.rounds = 1)
            .until_over(|_, speak| {
                let at = names
                    .iter()
                    .position(|name| *name == speak.participant.name)
                    .unwrap();
                match at {
                    at if at < n_silent => silent(),
                    5 => votes_for("y"),
                    _ => votes_for("x"),
                }
            })
    };
    assert_eq!(decided(3).decision_label(), "x by vote: max_rounds");
    let few = decided(4);
    assert_eq!(few.decision_label(), "none by none: max_rounds");
    let one = DiscussionSimulator::new(DiscussionMode::Collaborative, &names[..2])
        .with_settings(|terms| terms.rounds = 1)
        .until_over(|_, speak| match speak.participant.name.as_str() {
            "a" => silent(),
            _ => votes_for("x"),
        });
    assert_eq!(
        one.outcome().conclusion,
        "No decision: only 1 stance counts."
    );
}

#[test]
fn who_is_against_one_and_for_another_stands_for_the_other() {
    let instead = says(
        "I would not.",
        r#"{"stance": "disagree", "proposal": "x", "instead": "y: a server"}"#,
    );
    let said = [votes_for("x"), votes_for("x"), instead];
    let names = &NAMES[..3];
    let play = DiscussionSimulator::new(DiscussionMode::Collaborative, names)
        .with_settings(|terms| terms.rounds = 1)
        .until_over(|_, speak| {
            let at = names
                .iter()
                .position(|name| *name == speak.participant.name);
            said[at.unwrap()].clone()
        });
    let outcome = play.outcome();
    assert_eq!(
        outcome.minority[0].describe_position(outcome),
        "for y, against x"
    );
    assert_eq!(outcome.minority[0].attitude, ProposalAttitude::Agree);
    let of_y = outcome
        .votes
        .iter()
        .find(|tally| tally.proposal.as_str() == "y");
    assert_eq!(of_y.unwrap().votes_for[0].attitude, ProposalAttitude::Agree);
}

#[test]
fn a_jury_ends_with_its_vote() {
    let play = DiscussionSimulator::new(DiscussionMode::Jury, &["a", "b"])
        .until_over(|_, speak| votes_for(&speak.participant.name));
    assert_eq!(play.decision_label(), "none by none: max_rounds");
}

#[test]
fn what_as_many_are_against_as_for_wins_nothing() {
    check(&[votes_for("x"), against("x")], "none by none");
    check(
        &[votes_for("x"), against("x"), against("x")],
        "none by none",
    );
    check(&[against("x"), against("x")], "none by none");
    let instead = says(
        "Words.",
        r#"{"stance": "disagree", "proposal": "x", "instead": "y"}"#,
    );
    check(&[votes_for("x"), instead.clone(), instead], "y by vote");
}

#[test]
fn whoever_fell_silent_still_stands_where_it_stood() {
    let play = DiscussionSimulator::new(DiscussionMode::Collaborative, &["a", "b", "c", "d"])
        .with_settings(|terms| terms.rounds = 2)
        .until_over(
            |_, speak| match (speak.participant.name.as_str(), speak.round) {
                ("d", 1) => against("x"),
                ("d", _) => {
                    ScriptedReply::Fails(crate::domain::discussion::SpeechErrorCode::Timeout)
                }
                _ => votes_for("x"),
            },
        );
    assert_eq!(play.decision_label(), "x by vote: max_rounds");
    assert_eq!(play.outcome().minority[0].participant, "d");
}

#[test]
fn whoever_did_not_say_how_sure_it_is_counts_as_not_sure() {
    let unsure = says("Words.", r#"{"stance": "agree", "proposal": "x"}"#);
    check(&[unsure, sure("y", 0.1)], "y by vote (confidence)");
    assert!(StanceConfidence::try_from(f64::NAN).is_err());
}

fn any_stance() -> impl Strategy<Value = (String, String, Option<u16>, usize, bool)> {
    let stance = proptest::sample::select(vec![
        "agree",
        "agree_with_changes",
        "disagree",
        "abstain",
        "?",
    ]);
    let on = proptest::sample::select(vec!["x", "X.", "y", "z: and more"]);
    let confidence = proptest::option::of(0u16..=1_000);
    (stance, on, confidence, 0usize..2, any::<bool>())
        .prop_map(|(stance, on, sure, n, why)| (stance.to_owned(), on.to_owned(), sure, n, why))
}

fn scripted_reply(
    (stance, on, sure, n, why): &(String, String, Option<u16>, usize, bool),
) -> ScriptedReply {
    let sure = sure.map_or("null".to_owned(), |n| (f64::from(n) / 1_000.0).to_string());
    let blocking = vec!["\"p\""; *n].join(",");
    let why = if *why {
        "it was said that words weigh"
    } else {
        ""
    };
    says(
        "These are my words on it.",
        &format!(
            r#"{{"stance": "{stance}", "proposal": "{on}", "confidence": {sure}, "blocking": [{blocking}], "why_changed": "{why}", "evidence": ["my words on it"]}}"#
        ),
    )
}

proptest! {
    #[test]
    fn who_speaks_and_who_ends_first_changes_nothing(
        mode in proptest::sample::select(DiscussionMode::iter().collect::<Vec<_>>()),
        stances in proptest::collection::vec(any_stance(), 12),
        names in Just(NAMES.to_vec()).prop_shuffle(),
        ends in proptest::collection::vec(0usize..8, 1..8),
    ) {
        let script = |_: &GroupDiscussion, speak: &crate::domain::discussion::SpeechRequest| {
            let who = NAMES.iter().position(|name| *name == speak.participant.name).unwrap();
            scripted_reply(&stances[((speak.round as usize) - 1) * 4 % 12 + who])
        };
        let straight = DiscussionSimulator::new(mode, &NAMES).until_over(script);
        let mut order = order(mode, &names);
        order.terms = straight.discussion.order.terms.clone();
        let mut play = DiscussionSimulator::from_order(&order);
        play.ends = ends;
        let shuffled = play.until_over(script);
        prop_assert_eq!(straight.outcome(), shuffled.outcome());
    }

    #[test]
    fn consensus_is_what_two_said_and_nobody_contradicts(stances in proptest::collection::vec(any_stance(), 4)) {
        let play = DiscussionSimulator::new(DiscussionMode::Collaborative, &NAMES).with_settings(|terms| terms.rounds = 1).until_over(|_, speak| {
            let who = NAMES.iter().position(|name| *name == speak.participant.name).unwrap();
            scripted_reply(&stances[who])
        });
        let outcome = play.outcome();
        if outcome.stop == DiscussionStopReason::Unanimous {
            let decision = outcome.decision.clone().unwrap();
            let read: Vec<&ParticipantStance> = play.discussion.rounds[0].heard_speeches().filter_map(|each| each.stance.as_ref()).collect();
            prop_assert!(read.len() >= 2);
            prop_assert!(read.iter().all(|each| each.is_for() && each.blocking.is_empty() && each.votes_for() == Some(decision.clone())));
        }
        let n_votes: usize = outcome.votes.iter().map(|tally| tally.votes_for.len()).sum();
        prop_assert!(n_votes <= NAMES.len(), "each votes once");
        let all = outcome.no_vote.len() + outcome.abstained.len();
        prop_assert!(all <= NAMES.len());
        prop_assert!(play.told.iter().all(|(speak, _)| speak.part == SpeechPart::Round));
    }
}
