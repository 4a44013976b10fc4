//! Tests every choice of every dialog, by its letter and by its word, against a table of results.
//!
//! A deliberate change of a result changes its line in the table.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::monkey::{Place, places};
use super::outcome::{assert_table, awake, outcome, wake};
use super::world::{approving, asking, drawn, press, questions};
use crate::domain::run::RunState;
use crate::tui::Screen;
use crate::tui::dialog::ChoiceDialog;

/// Returns the dialog of a place, if nothing covers it.
fn sheet(screen: &Screen, state: Option<&RunState>) -> Option<ChoiceDialog> {
    let is_over = !screen.overlays.is_empty();
    screen.pending_dialog(state).filter(|_| !is_over)
}

fn key(screen: &mut Screen, state: Option<&RunState>, code: KeyCode) -> String {
    outcome(screen, state, |screen| {
        screen.on_key(KeyEvent::new(code, KeyModifiers::NONE), state)
    })
}

/// Opens a place and presses the keys that lead to the dialogs behind it.
fn open(place: &Place, keys: &[char]) -> Screen {
    let state = place.state();
    let mut screen = awake(state, |screen| place.open(screen));
    for key in keys {
        let event = KeyEvent::new(KeyCode::Char(*key), KeyModifiers::NONE);
        screen.on_key(event, state);
        wake(&mut screen, state);
    }
    screen
}

/// Collects the result of each choice of a dialog, and of Enter, which selects the first.
fn choices(place: &Place, keys: &[char], found: &mut Vec<String>) {
    let state = place.state();
    let Some(sheet) = sheet(&open(place, keys), state) else {
        return;
    };
    let path: String = keys.iter().map(|key| format!(" {key}")).collect();
    let name = format!("{}{path}", place.name());
    let done = key(&mut open(place, keys), state, KeyCode::Enter);
    let first = sheet.choices[sheet.first_choice].key;
    found.push(format!("{name} Enter ({first}): {done}"));
    for choice in &sheet.choices {
        let mut screen = open(place, keys);
        let done = key(&mut screen, state, KeyCode::Char(choice.key));
        // A choice that opens another dialog: that dialog's choices are collected as well.
        let is_new = screen
            .dialogs
            .own
            .as_ref()
            .is_some_and(|own| own.id != sheet.id);
        if is_new && keys.len() < 2 {
            let on: Vec<char> = keys.iter().copied().chain([choice.key]).collect();
            choices(place, &on, found);
        }
        found.push(format!("{name} {}: {done}", choice.key));
    }
    let done = key(&mut open(place, keys), state, KeyCode::Esc);
    found.push(format!("{name} Esc: {done}"));
}

#[test]
fn every_choice_of_every_dialog_does_what_the_table_says() {
    let mut found = Vec::new();
    for place in places() {
        choices(&place, &[], &mut found);
    }
    assert_table(include_str!("choices.txt"), &found);
}

#[test]
fn every_word_of_every_question_does_what_the_table_says() {
    let mut found = Vec::new();
    for (phase, kind) in super::world::questions() {
        for word in kind.choices() {
            let word = word.replace("more:N", "more:2").replace("TEXT", "text");
            let state = asking(phase, kind.clone());
            let mut screen = awake(Some(&state), |_| {});
            let command =
                crate::tui::command_table::parse_slash_command(&format!("/answer {word}")).unwrap();
            let done = outcome(&mut screen, Some(&state), |screen| {
                screen.perform_command(command, Some(&state))
            });
            found.push(format!("{} {word}: {done}", kind.name()));
        }
    }
    assert_table(include_str!("words.txt"), &found);
}

#[test]
fn in_a_narrow_window_enter_keeps_what_matters_of_its_choice() {
    let call = approving(&["ls"]);
    let mut screen = awake(Some(&call), |_| ());
    let seen = drawn(&mut screen, (40, 20), Some(&call));
    assert!(seen.contains("▸ N  Deny and end the turn"), "{seen}");
    let (phase, kind) = questions()
        .into_iter()
        .find(|(_, kind)| kind.name() == "conflict")
        .unwrap();
    let conflict = asking(phase, kind);
    let mut screen = awake(Some(&conflict), |_| ());
    let seen: Vec<String> = (0..6)
        .map(|_| {
            press(&mut screen, Some(&conflict), &["<down>"]);
            drawn(&mut screen, (40, 20), Some(&conflict))
        })
        .collect();
    assert!(
        seen.iter().any(|seen| seen.contains("Keep mine")),
        "{seen:?}"
    );
}
