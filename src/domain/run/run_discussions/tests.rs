//! Tests discussions beside a run: they are kept in its state, are stopped and cut off with it, and never change the
//! workflow.

use super::super::tests::{created, settings};
use super::super::{Run, RunState};
use super::*;
use crate::domain::discussion::{
    DebateSide, DiscussionOrder, DiscussionParticipant, DiscussionSettings, DiscussionStatus,
    SpeechPart,
};
use crate::domain::event::Event;
use crate::domain::phase::Gate;

const AT: UnixMillis = UnixMillis(1_000);

fn id() -> DiscussionId {
    DiscussionId::new("dsc_1")
}

fn news(news: DiscussionEvent) -> Event {
    Event::Discussion { id: id(), news }
}

fn begun() -> Event {
    let participant = |name: &str| DiscussionParticipant {
        name: name.to_owned(),
        agent: name.to_owned(),
        adapter: "codex".to_owned(),
        model: None,
        role: None,
        side: DebateSide::Open,
    };
    let order = DiscussionOrder {
        id: id(),
        parent: None,
        topic: "Which?".to_owned(),
        context: String::new(),
        files: Vec::new(),
        participants: vec![participant("a"), participant("b")],
        terms: DiscussionSettings::default(),
        preset: None,
        finding: Some(3),
    };
    news(DiscussionEvent::Started {
        order: Box::new(order),
    })
}

fn speaks(participant: &str) -> Event {
    news(DiscussionEvent::SpeechBegan {
        round: 1,
        part: SpeechPart::Round,
        participant: participant.to_owned(),
        session: SessionId::new(format!("ses_{participant}")),
        attacker: None,
    })
}

fn discussing() -> Run {
    let mut run = Run::new(AT, &created(Gate::Manual, true, settings(5)));
    run.step(AT, &begun());
    run.step(AT, &speaks("a"));
    run
}

fn only(state: &RunState) -> &GroupDiscussion {
    assert_eq!(state.discussions.len(), 1);
    &state.discussions[0]
}

#[test]
fn a_discussion_is_kept_in_the_run_and_changes_nothing_else_of_it() {
    let before = Run::new(AT, &created(Gate::Manual, true, settings(5)));
    let mut run = discussing();
    assert_eq!(only(run.state()).speaking.len(), 1);
    assert_eq!(run.step(AT, &begun()), [], "an id counts once");
    assert_eq!(only(run.state()).speaking.len(), 1);
    let mut state = run.state().clone();
    state.discussions.clear();
    state.course = before.state().course.clone();
    assert_eq!(state, *before.state());
}

#[test]
fn a_run_that_is_stopped_stops_what_is_discussed() {
    let mut run = discussing();
    let goal = "Add a flag".to_owned();
    run.step(AT, &Event::GoalGiven { text: goal });
    let effects = run.step(AT, &Event::RunCancelled);
    assert!(
        effects.contains(&Effect::StopDiscussions(vec![id()])),
        "{effects:?}"
    );
    assert_eq!(only(run.state()).stopping, Some(DiscussionStopReason::User));
}

#[test]
fn a_run_that_is_taken_up_has_given_up_the_round_that_was_being_spoken() {
    let mut run = discussing();
    run.step(AT, &Event::RunResumed { gate: Gate::Manual });
    let discussion = only(run.state());
    assert_eq!(discussion.status, DiscussionStatus::Cancelled);
    assert!(discussion.rounds.is_empty() && discussion.speaking.is_empty());
    run.step(AT, &news(DiscussionEvent::Continued));
    assert!(only(run.state()).is_running());
}

#[test]
fn a_session_that_is_gone_is_not_gone_on_with() {
    let mut run = discussing();
    let session = SessionId::new("ses_a");
    run.step(AT, &Event::ChildDeleted { session });
    assert!(only(run.state()).sessions.is_empty());
}

#[test]
fn a_state_from_before_there_were_discussions_is_read() {
    let run = Run::new(AT, &created(Gate::Manual, true, settings(5)));
    let written = serde_json::to_value(&run).unwrap();
    assert_eq!(written.get("discussions"), None);
    assert_eq!(serde_json::from_value::<Run>(written).unwrap(), run);
    let written = serde_json::to_string(discussing().state()).unwrap();
    assert_eq!(
        serde_json::from_str::<RunState>(&written).unwrap(),
        *discussing().state()
    );
}
