//! Tests of what a style expresses: the selected line, highlights, changes. Every theme shows it, and the
//! theme without colors uses other means.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use super::outcome::awake;
use super::world::{NOW, approving, press, running};
use crate::domain::phase::Phase;
use crate::domain::run::RunState;
use crate::domain::turn::TurnPurpose;
use crate::tui::command::ScreenCommand;
use crate::tui::tab_kind::TabKind;
use crate::tui::{ColorTheme, Screen};

const SIZE: (u16, u16) = (120, 30);

/// The appearance of a cell, except its letter.
type Look = (Color, Color, Modifier);

/// Returns the appearance of a place, without blanks.
fn looks(screen: &mut Screen, state: &RunState, place: Rect) -> Vec<(String, Look)> {
    let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).unwrap();
    terminal
        .draw(|frame| screen.draw(frame, Some(state), NOW))
        .unwrap();
    let buffer = terminal.backend().buffer();
    let cells = place.positions().map(|at| &buffer[at]);
    let cells = cells.filter(|cell| !cell.symbol().trim().is_empty());
    cells
        .map(|cell| (cell.symbol().to_owned(), (cell.fg, cell.bg, cell.modifier)))
        .collect()
}

fn all_of(screen: &mut Screen, state: &RunState) -> Vec<(String, Look)> {
    looks(screen, state, Rect::new(0, 0, SIZE.0, SIZE.1))
}

/// Returns the appearance of a text wherever it occurs, letter by letter.
fn looks_of(screen: &mut Screen, state: &RunState, text: &str) -> Vec<Vec<Look>> {
    let all = all_of(screen, state);
    let letters: Vec<String> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(String::from)
        .collect();
    let parts = all.windows(letters.len());
    let found = parts.filter(|part| part.iter().map(|(letter, _)| letter).eq(letters.iter()));
    found
        .map(|part| part.iter().map(|(_, look)| *look).collect())
        .collect()
}

fn in_every_theme(check: impl Fn(&str, &mut Screen)) {
    let names: Vec<String> = ColorTheme::built_in()
        .map(|theme| theme.name().to_owned())
        .collect();
    assert!(names.iter().any(|name| name == "none"), "{names:?}");
    for name in names {
        let mut screen = awake(None, |screen| {
            screen.perform_command(ScreenCommand::Theme(Some(name.clone())), None);
        });
        assert_eq!(screen.theme().name(), name);
        check(&name, &mut screen);
    }
}

#[test]
fn the_chosen_line_of_a_dialog_looks_otherwise_than_the_rest() {
    let state = approving(&["npm install left-pad"]);
    in_every_theme(|name, screen| {
        super::outcome::wake(screen, Some(&state));
        all_of(screen, &state);
        let places = screen.hit_areas.choices.clone();
        let sheet = screen.pending_dialog(Some(&state)).unwrap();
        let chosen = screen.dialogs.chosen_choice(&sheet);
        let look = |screen: &mut Screen, at: usize| {
            let place = places.iter().find(|(_, of)| *of == at).unwrap().0;
            let looks = looks(screen, &state, place);
            // The sign in front counts as well; the shortcut letters do not.
            (looks[0].0.clone(), looks.last().unwrap().1)
        };
        let is_like = |screen: &mut Screen, at| look(screen, at).1 == look(screen, chosen).1;
        let other = (0..sheet.choices.len()).find(|at| *at != chosen).unwrap();
        assert!(!is_like(screen, other), "{name}");
    });
}

#[test]
fn the_chosen_entry_of_the_palette_looks_otherwise_than_the_rest() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    in_every_theme(|name, screen| {
        press(screen, Some(&state), &["<c-p>", "/ne"]);
        let chosen = looks_of(screen, &state, "/next-block");
        press(screen, Some(&state), &["<down>"]);
        let other = looks_of(screen, &state, "/next-block");
        assert!(!chosen.is_empty() && chosen != other, "{name}");
    });
}

#[test]
fn the_phase_and_the_roles_are_told_apart_in_every_theme() {
    let state = running(Phase::Review, TurnPurpose::Review);
    in_every_theme(|name, screen| {
        screen.show_tab(TabKind::Status);
        let one = |screen: &mut Screen, text: &str| {
            let found = looks_of(screen, &state, text);
            found.last().map(|looks| looks[0])
        };
        let (passed, present, to_come) = (
            one(screen, "✓ Plan"),
            one(screen, "● Review"),
            one(screen, "○ Approve"),
        );
        assert!(passed.is_some() && present.is_some(), "{name}");
        assert!(passed != present && present != to_come, "{name}");
        assert_ne!(passed, to_come, "{name}");
        let (planner, reviewer) = (one(screen, "Planner"), one(screen, "Reviewer"));
        assert!(planner.is_some() && reviewer.is_some(), "{name}");
        assert!(name == "none" || planner != reviewer, "{name}");
    });
}

#[test]
fn what_is_looked_for_is_lit() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    in_every_theme(|name, screen| {
        screen.show_tab(TabKind::Plan);
        let plain = looks_of(screen, &state, "negative");
        press(screen, Some(&state), &["<c-f>", "negative"]);
        let lit = looks_of(screen, &state, "negative");
        assert!(!plain.is_empty() && !lit.is_empty(), "{name}");
        assert!(lit.iter().any(|look| !plain.contains(look)), "{name}");
    });
}
