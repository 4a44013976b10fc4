//! Tests the four weights of dialogs: their colours, and that nothing is destroyed by one key or one click.

use std::collections::BTreeSet;

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use super::monkey::places;
use super::outcome::{SIZE, awake, wake};
use super::world::{asking, drawn, questions, screen};
use crate::domain::event::Event;
use crate::domain::question::QuestionAnswer;
use crate::tui::LineInterface;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, DialogOrigin, DialogWeight};
use crate::tui::theme::{ColorTheme, PLAIN};
use crate::tui::{Action, LineTiming, Screen, ScreenAppearance};

/// Returns the name of what an action destroys: work that ends, or files or texts that are overwritten.
pub fn destroys(action: &Action) -> Option<&'static str> {
    Some(match action {
        Action::Quit(_) => "quit",
        Action::StopChild(_) => "stop task",
        Action::Event(event) => match event {
            Event::RunCancelled => "cancel",
            Event::RunStopped => "stop",
            Event::PlanEntered { .. } => "replan",
            Event::UndoAsked { .. } => "undo",
            Event::QuestionAnswered { answer, .. } => match answer {
                QuestionAnswer::ForcePass => "force",
                QuestionAnswer::Stop => "back to the goal",
                QuestionAnswer::Overwrite => "overwrite",
                QuestionAnswer::Discard => "discard",
                QuestionAnswer::PutBack => "restore files",
                QuestionAnswer::RedoStep => "redo the step",
                _ => return None,
            },
            _ => return None,
        },
        _ => return None,
    })
}

/// Checks a dialog and those behind its choices; notes what they destroy.
fn check(sheet: &ChoiceDialog, path: &str, found: &mut BTreeSet<&'static str>) {
    for (at, choice) in sheet.choices.iter().enumerate() {
        let path = format!("{path} {}", choice.key);
        match &choice.action {
            ChoiceAction::Confirm(next) => check(next, &path, found),
            ChoiceAction::Act(actions)
            | ChoiceAction::ActAndClose(actions)
            | ChoiceAction::PutAside(actions) => {
                for loss in actions.iter().filter_map(destroys) {
                    found.insert(loss);
                    assert_eq!(sheet.weight, DialogWeight::Destructive, "{path}: {loss}");
                    assert_ne!(sheet.first_choice, at, "{path}: Enter means {loss}");
                    let safe = &sheet.choices[sheet.first_choice].action;
                    assert_eq!(*safe, ChoiceAction::Close, "{path}");
                }
            }
            _ => {}
        }
    }
}

#[test]
fn whatever_destroys_something_takes_a_second_key_in_a_destructive_dialog() {
    let mut found = BTreeSet::new();
    for place in places() {
        let state = place.state();
        let screen = awake(state, |screen| place.open(screen));
        if let Some(sheet) = screen.pending_dialog(state) {
            check(&sheet, place.name(), &mut found);
        }
    }
    for (phase, kind) in questions() {
        let sheet = screen().pending_dialog(Some(&asking(phase, kind)));
        let sheet = sheet.expect("a question has a dialog");
        assert_ne!(sheet.weight, DialogWeight::Destructive, "{}", sheet.title);
    }
    let found: Vec<&str> = found.into_iter().collect();
    assert_eq!(
        found,
        [
            "back to the goal",
            "cancel",
            "discard",
            "force",
            "overwrite",
            "quit",
            "redo the step",
            "replan",
            "restore files",
            "stop",
            "stop task",
            "undo",
        ]
    );
}

/// Returns the screen of a conflict whose choice to take the agent's text was made.
fn overwriting() -> (Screen, crate::domain::run::RunState) {
    let all = questions().into_iter();
    let mut conflict = all.filter(|(_, kind)| kind.name() == "conflict");
    let (phase, kind) = conflict.next().unwrap();
    let state = asking(phase, kind);
    let mut screen = awake(Some(&state), |_| {});
    let key = KeyEvent::new(KeyCode::Char('o'), KeyModifiers::NONE);
    assert_eq!(screen.on_key(key, Some(&state)), []);
    wake(&mut screen, Some(&state));
    (screen, state)
}

#[test]
fn a_destructive_choice_takes_two_clicks_and_a_key_that_is_not_its_own_leaves_it() {
    let (mut screen, state) = overwriting();
    let state = Some(&state);
    drawn(&mut screen, SIZE, state);
    let (place, _) = screen.hit_areas.choices[0];
    let click = MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column: place.x + 1,
        row: place.y,
        modifiers: KeyModifiers::NONE,
    };
    assert_eq!(screen.on_mouse(click, state), []);
    drawn(&mut screen, SIZE, state);
    let actions = screen.on_mouse(click, state);
    assert_eq!(
        actions.iter().find_map(destroys),
        Some("overwrite"),
        "{actions:?}"
    );
    for code in [KeyCode::Enter, KeyCode::Esc, KeyCode::Char('n')] {
        let (mut screen, state) = overwriting();
        let state = Some(&state);
        assert_eq!(
            screen.on_key(KeyEvent::new(code, KeyModifiers::NONE), state),
            []
        );
        assert!(screen.dialogs.own.is_none(), "{code:?}");
    }
}

#[test]
fn in_linear_mode_a_destructive_number_asks_for_another_one() {
    let all = questions().into_iter();
    let mut conflict = all.filter(|(_, kind)| kind.name() == "conflict");
    let (phase, kind) = conflict.next().unwrap();
    let state = asking(phase, kind);
    let mut screen = screen();
    screen.on_appearance(ScreenAppearance::default().for_lines());
    let mut printed = |line: &str| {
        let actions = match line {
            "" => Vec::new(),
            _ => LineInterface::new(&mut screen, Some(&state))
                .on_line(line, LineTiming::AfterQuestion),
        };
        drawn(&mut screen, SIZE, Some(&state));
        (
            actions,
            LineInterface::new(&mut screen, Some(&state))
                .print_news()
                .lines,
        )
    };
    let (_, lines) = printed("");
    let overwrites = |line: &&String| line.ends_with(": Use the agent's text");
    let number = lines.iter().find(overwrites).unwrap();
    let (actions, lines) = printed(&number[..1]);
    assert_eq!(actions, []);
    assert!(
        lines
            .iter()
            .any(|line| line == "Question: Replace your text?"),
        "{lines:#?}"
    );
    let (actions, _) = printed("1");
    assert_eq!(actions.iter().find_map(destroys), Some("overwrite"));
}

#[test]
fn every_theme_shows_the_weights_apart() {
    let all = [
        DialogWeight::Routine,
        DialogWeight::Question,
        DialogWeight::Permission,
        DialogWeight::Destructive,
    ];
    for theme in ColorTheme::built_in().filter(|theme| theme.name() != "none") {
        let shown = all.map(|weight| {
            let mut buffer = Buffer::with_lines(["▌"]);
            buffer.set_style(
                buffer.area,
                weight.bar_style().patch(weight.ground().style()),
            );
            theme.paint(&mut buffer);
            let cell = &buffer.content[0];
            (cell.fg, cell.bg)
        });
        for (n, (bar, ground)) in shown.iter().enumerate() {
            // Whatever waits for the user has the colour of attention; a permission differs by its choices.
            let waits = [DialogWeight::Question, DialogWeight::Permission];
            for (before, (other, _)) in all.iter().zip(&shown[..n]) {
                let both_wait = waits.contains(before) && waits.contains(&all[n]);
                assert_eq!(bar == other, both_wait, "{}: {:?}", theme.name(), all[n]);
            }
            let is_raised = n == 0 || *ground == shown[1].1;
            assert!(is_raised, "{}", theme.name());
        }
    }
}

#[test]
fn lists_of_the_user_and_turns_that_wait_raise_no_alarm() {
    let mut n_routine = 0;
    for place in places() {
        let state = place.state();
        let screen = awake(state, |screen| place.open(screen));
        let Some(sheet) = screen.pending_dialog(state) else {
            continue;
        };
        let is_routine = sheet.weight == DialogWeight::Routine;
        n_routine += usize::from(is_routine);
        if sheet.origin == DialogOrigin::User {
            assert!(is_routine, "{}", place.name());
        }
        let attention = crate::tui::theme::NEEDS_YOU.fg;
        for choice in &sheet.choices {
            let style = sheet.weight.chosen_style(choice);
            assert!(!is_routine || style.fg != attention, "{}", place.name());
            assert_ne!(style, PLAIN);
        }
    }
    assert!(n_routine > 5, "{n_routine}");
}
