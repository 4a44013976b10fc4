//! A second run on one screen: nothing of the first is taken for its own.

use super::world::{NOW, created, screen};
use crate::domain::event::Event;
use crate::domain::turn::Role;

fn new_run() -> Event {
    Event::Created(Box::new(created()))
}

#[test]
fn what_another_run_or_conversation_was_sent_is_new() {
    let lost = Event::SessionLost {
        role: Role::Planner,
        external_id: "0199a-77".to_owned(),
    };
    for event in [new_run(), lost] {
        let mut screen = screen();
        screen.on_preview("## Goal\nsum");
        screen.on_event(NOW, &Event::Released);
        screen.on_preview("## Goal\nsum");
        let is_first = |screen: &crate::tui::Screen| screen.preview.as_ref().unwrap().is_first;
        assert!(!is_first(&screen));
        screen.on_event(NOW, &event);
        screen.on_preview("## Goal\nsum");
        assert!(is_first(&screen), "{event:?}");
    }
}
