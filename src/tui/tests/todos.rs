//! Tests of todo lists on the screen: shown in the chat when they change, opened in full, never changed by
//! the user.

use crate::tui::pager::TextPager;
use ratatui::crossterm::event::{KeyEvent, KeyModifiers};

use super::pictures::{check, not_writing};
use super::world::{NOW, drawn, press, running, settings};
use crate::domain::event::{Event, EventRecord};
use crate::domain::ids::SessionId;
use crate::domain::phase::Phase;
use crate::domain::run::RunState;
use crate::domain::todo_list::{TodoInput, TodoList};
use crate::domain::turn::TurnPurpose;
use crate::tui::command_table::parse_slash_command;
use crate::tui::keymap::{ActiveKeymap, ComposerFocus, KeyContext};
use crate::tui::{Action, Screen, ScrollbackChunk};

fn list(all: &[(&str, &str, &str)]) -> TodoList {
    let wanted = |(content, status, priority): &(&str, &str, &str)| TodoInput {
        id: None,
        content: (*content).to_owned(),
        status: (*status).to_owned(),
        priority: Some((*priority).to_owned()),
    };
    TodoList::parse(all.iter().map(wanted).collect()).unwrap()
}

fn first() -> TodoList {
    list(&[
        ("look at calc.py", "completed", "medium"),
        (
            "写 `sum` 🎉 and a text that is so long that it has to be wrapped at forty columns",
            "in_progress",
            "high",
        ),
        ("tell it in README", "pending", "low"),
    ])
}

fn write(screen: &mut Screen, todos: TodoList) {
    let session = SessionId::new("ses_a");
    screen.on_event(NOW, &Event::TodosWritten { session, todos });
}

fn keeping() -> RunState {
    let mut state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    state.planner.todos = first();
    state.reviewer.as_mut().unwrap().todos = list(&[("read the tests", "pending", "medium")]);
    state
}

#[test]
fn the_chat_shows_the_list_that_was_written() {
    let state = keeping();
    let mut screen = not_writing();
    write(&mut screen, first());
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    for line in [
        "Todos: 1 of 3 completed",
        "☑ look at calc.py",
        "▸ 写 sum",
        "(high)",
        "☐ tell it in README (low)",
    ] {
        assert!(seen.contains(line), "{line} is not in\n{seen}");
    }
    write(
        &mut screen,
        list(&[("look at calc.py", "completed", "medium")]),
    );
    let seen = drawn(&mut screen, (80, 40), Some(&state));
    assert!(seen.contains("Todos: 1 of 1 completed"), "{seen}");
    check("chat_todos", &mut screen, Some(&state));
}

#[test]
fn a_list_stands_where_it_changed_last_and_a_row_where_it_stood_before() {
    let state = keeping();
    let mut screen = not_writing();
    let said = |screen: &mut Screen, text: &str| {
        let text = text.to_owned();
        screen.on_event(NOW, &Event::GoalMessageAdded { text });
    };
    let second = || {
        list(&[
            ("look at calc.py", "completed", "medium"),
            ("mend it", "completed", "medium"),
        ])
    };
    write(&mut screen, first());
    said(&mut screen, "between");
    write(&mut screen, second());
    let seen = drawn(&mut screen, (80, 40), Some(&state));
    assert!(seen.contains("▸ Todos: 1 of 3 completed"), "{seen}");
    assert!(!seen.contains("tell it in README"), "{seen}");
    assert!(
        seen.contains("▾ Todos: 2 of 2 completed") && seen.contains("☑ mend it"),
        "{seen}"
    );
    // Another agent's list is separate.
    let session = SessionId::new("ses_b");
    let todos = list(&[("read", "pending", "medium")]);
    screen.on_event(NOW, &Event::TodosWritten { session, todos });
    let seen = drawn(&mut screen, (80, 40), Some(&state));
    assert!(
        seen.contains("☑ mend it") && seen.contains("☐ read"),
        "{seen}"
    );
    // The earlier list can be opened.
    press(&mut screen, Some(&state), &[",", ",", ",", ",", " "]);
    let seen = drawn(&mut screen, (80, 40), Some(&state));
    assert!(
        seen.contains("▾ Todos: 1 of 3 completed") && seen.contains("tell it in README"),
        "{seen}"
    );
    // Nothing is between the two versions, so only the newer one stays.
    let mut screen = not_writing();
    write(&mut screen, first());
    write(&mut screen, second());
    let seen = drawn(&mut screen, (80, 40), Some(&state));
    assert_eq!(seen.matches("Todos: ").count(), 1, "{seen}");
}

#[test]
fn a_list_of_the_past_is_folded_where_it_is_written_again_later() {
    let state = keeping();
    let mut screen = Screen::new(settings());
    screen.composer.leave_to_view();
    write(&mut screen, list(&[("now", "pending", "medium")]));
    let session = SessionId::new("ses_a");
    let recorded = EventRecord {
        at: NOW,
        event: Event::TodosWritten {
            session,
            todos: first(),
        },
    };
    screen.on_scrollback(ScrollbackChunk::from_events(0, [&recorded]));
    press(&mut screen, Some(&state), &["<home>"]);
    let seen = drawn(&mut screen, (80, 60), Some(&state));
    assert!(
        seen.contains("▸ Todos: 1 of 3 completed") && seen.contains("☐ now"),
        "{seen}"
    );
    assert!(!seen.contains("tell it in README"), "{seen}");
}

#[test]
fn todos_are_read_and_no_key_changes_them() {
    let state = keeping();
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["/", "todos", "<enter>"]);
    check("todos", &mut screen, Some(&state));
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    for part in [
        "planner",
        "Todos: 1 of 3 completed",
        "☐ tell it in README (low)",
        "reviewer",
        "☐ read the tests",
    ] {
        assert!(seen.contains(part), "{part} is not in\n{seen}");
    }
    for (binding, keys) in ActiveKeymap::default().all_rows() {
        for key in keys {
            let mut screen = not_writing();
            screen.perform_command(parse_slash_command("/todos").unwrap(), Some(&state));
            drawn(&mut screen, (80, 24), Some(&state));
            if binding.context == KeyContext::Composer {
                screen.composer.focus = ComposerFocus::Focused;
            }
            let event = KeyEvent::new(key.code, key.modifiers | KeyModifiers::NONE);
            for action in screen.on_key(event, Some(&state)) {
                assert!(
                    !matches!(action, Action::Event(Event::TodosWritten { .. })),
                    "{}",
                    key.label()
                );
            }
        }
    }
}

#[test]
fn where_nobody_keeps_a_list_that_is_said() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["/", "todos", "<enter>"]);
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(seen.contains("No agent has a todo list."), "{seen}");
    let mut screen = not_writing();
    assert_eq!(
        screen.perform_command(parse_slash_command("/todos").unwrap(), None),
        []
    );
    assert!(!screen.overlays.has::<TextPager>() && screen.toast.text.is_some());
}
