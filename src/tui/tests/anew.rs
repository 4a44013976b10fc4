//! Tests that a second run on the same screen shows nothing of the first run as its own.

use super::world::{NOW, created, drawn, press, screen, settings, state};
use crate::domain::event::{AgentActivity, Event, EventRecord};
use crate::domain::ids::TurnId;
use crate::domain::phase::Phase;
use crate::domain::turn::Role;
use crate::tui::{RunDocumentFiles, Screen, ScrollbackChunk};

fn new_run() -> Event {
    Event::RunCreated(Box::new(created()))
}

#[test]
fn what_another_run_or_conversation_was_sent_is_new() {
    let lost = Event::SessionLost {
        role: Role::Planner,
        reason: "no such conversation".to_owned(),
    };
    for event in [new_run(), lost] {
        let mut screen = screen();
        screen.on_prompt_preview("## Goal\nsum");
        screen.on_event(NOW, &Event::TurnSendConfirmed);
        screen.on_prompt_preview("## Goal\nsum");
        let is_first =
            |screen: &crate::tui::Screen| screen.dialogs.prompt_preview.as_ref().unwrap().is_first;
        assert!(!is_first(&screen));
        screen.on_event(NOW, &event);
        screen.on_prompt_preview("## Goal\nsum");
        assert!(is_first(&screen), "{event:?}");
    }
}

#[test]
fn nothing_of_the_run_before_is_pointed_at_compared_or_written_on() {
    let state = state(Phase::Review);
    let mut screen = screen();
    screen.composer.leave_to_view();
    press(&mut screen, Some(&state), &["3", ".", "2", ".", "+"]);
    assert!(screen.composer.noted_line.is_some() && !screen.composer.editor.is_empty());
    assert!(
        screen
            .tabs
            .comments
            .selection
            .selected_finding(Some(&state))
            .is_some()
            && screen.tabs.plan.view.selected_line().is_some()
    );
    screen.on_event(NOW, &new_run());
    assert_eq!(screen.tabs.comments.selection.chosen_finding(), None);
    assert_eq!(screen.tabs.plan.view.selected_line(), None);
    assert_eq!(
        (screen.composer.noted_line.as_ref(), screen.composer.draft),
        (None, None)
    );
    assert!(screen.composer.editor.is_empty());
}

#[test]
fn an_old_proposal_of_the_goal_does_not_come_back_from_the_past() {
    let proposal = EventRecord {
        at: NOW,
        event: Event::Agent {
            turn: TurnId::new("trn_1"),
            role: Role::Planner,
            news: AgentActivity::Text {
                text: "```goal.md\n# Old\n\nthe old goal\n```".to_owned(),
            },
        },
    };
    let confirmed = Event::GoalConfirmed {
        title: "New".to_owned(),
        text: "the new goal".to_owned(),
    };
    let mut screen = Screen::new(settings());
    screen.on_scrollback(ScrollbackChunk::from_events(0, [&proposal]));
    assert!(screen.dialogs.proposed_goal.is_some());
    for is_in_past in [false, true] {
        let mut screen = Screen::new(settings());
        let confirmed = confirmed.clone();
        if is_in_past {
            let later = EventRecord {
                at: NOW,
                event: confirmed,
            };
            screen.on_scrollback(ScrollbackChunk::from_events(1, [&later]));
        } else {
            screen.on_event(NOW, &confirmed);
        }
        screen.on_scrollback(ScrollbackChunk::from_events(0, [&proposal]));
        assert_eq!(screen.dialogs.proposed_goal, None);
    }
}

#[test]
fn nothing_of_the_run_before_is_marked_as_new() {
    let marks = |screen: &mut Screen, phase| {
        let seen = drawn(screen, (120, 24), Some(&state(phase)));
        let bar = seen.lines().find(|line| line.contains("Chat ")).unwrap();
        bar.matches('•').count()
    };
    let mut screen = Screen::new(settings());
    screen.composer.leave_to_view();
    screen.on_documents(RunDocumentFiles {
        plan: Some("# Task: sum".to_owned()),
        comments: Some("1. [major] no".to_owned()),
        ..RunDocumentFiles::default()
    });
    assert_eq!(marks(&mut screen, Phase::Review), 2);
    screen.on_event(NOW, &new_run());
    assert_eq!(marks(&mut screen, Phase::Init), 0);
    // The screen learns that the documents of the previous run are gone.
    screen.on_documents(RunDocumentFiles::default());
    assert_eq!(marks(&mut screen, Phase::Init), 0);
    screen.on_documents(RunDocumentFiles {
        plan: Some("# Task: another".to_owned()),
        ..RunDocumentFiles::default()
    });
    assert_eq!(marks(&mut screen, Phase::Review), 1);
}
