//! The user's own keys and themes, as the screen shows and takes them.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::world::{drawn, press, running, settings, state};
use crate::domain::phase::Phase;
use crate::domain::turn::Purpose;
use crate::tui::keymap::{BINDINGS, IsWriting};
use crate::tui::{Clicks, Depth, Keymap, Look, Screen, Theme, WishedKeys};

fn wished(action: &str, key: &str) -> WishedKeys {
    WishedKeys {
        action: action.to_owned(),
        keys: vec![key.to_owned()],
    }
}

fn with(wishes: &[WishedKeys]) -> Screen {
    let mut screen = Screen::new(settings());
    let keymap = Keymap::with(wishes).unwrap();
    screen.on_look(Look::new(keymap, Vec::new(), Depth::All));
    screen.writing = IsWriting::No;
    screen
}

#[test]
fn another_key_does_it_and_footer_help_and_palette_show_that_one() {
    let state = running(Phase::Review, Purpose::Review);
    let mut screen = with(&[
        wished("auto", "w"),
        wished("help", "f9"),
        wished("write", "f7"),
    ]);
    assert_eq!(press(&mut screen, Some(&state), &["a"]), []);
    assert_eq!(press(&mut screen, Some(&state), &["w"]).len(), 1);
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert!(seen.contains(" W auto "), "{seen}");
    assert!(seen.contains("F7 to write"), "{seen}");
    let key = KeyEvent::new(KeyCode::F(9), KeyModifiers::NONE);
    screen.on_key(key, Some(&state));
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert!(seen.contains(" W         /auto"), "{seen}");
    press(&mut screen, Some(&state), &["<esc>", "<c-p>", "auto"]);
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    let row = seen
        .lines()
        .find(|line| line.contains("let turns follow each other"));
    assert!(row.is_some_and(|row| row.contains(" W ")), "{seen}");
}

#[test]
fn the_palettes_own_key_closes_it_whichever_it_is() {
    let mut screen = with(&[wished("palette", "f8")]);
    let key = KeyEvent::new(KeyCode::F(8), KeyModifiers::NONE);
    screen.on_key(key, None);
    assert!(screen.palette.is_some());
    screen.on_key(key, None);
    assert!(screen.palette.is_none());
}

#[test]
fn what_has_no_key_at_first_can_have_one() {
    let state = state(Phase::Review);
    let mut screen = with(&[wished("theme", "ctrl+t")]);
    press(&mut screen, Some(&state), &["<c-t>"]);
    assert_eq!(
        screen.own.as_ref().map(|own| own.id.as_str()),
        Some("themes")
    );
}

#[test]
fn every_action_with_a_key_has_a_name() {
    for binding in BINDINGS {
        assert_eq!(
            binding.name.is_empty(),
            binding.command.is_none(),
            "{}",
            binding.slash
        );
    }
}

#[test]
fn a_theme_of_the_users_own_is_offered_and_shown_and_an_unknown_one_is_refused() {
    let own = Theme::own("mine", [("base", "nord"), ("bad", "#ff8000")].into_iter()).unwrap();
    let mut screen = with(&[]);
    screen.on_look(Look::new(Keymap::default(), vec![own], Depth::All));
    press(&mut screen, None, &["/theme mine", "<enter>"]);
    assert_eq!(screen.theme().name(), "mine");
    press(&mut screen, None, &["/theme", "<enter>"]);
    assert!(drawn(&mut screen, (120, 40), None).contains("L  mine"));
    press(&mut screen, None, &["<esc>", "/theme their", "<enter>"]);
    assert_eq!(screen.theme().name(), "mine");
    assert!(
        screen
            .toast
            .as_ref()
            .is_some_and(|toast| toast.contains("mine"))
    );
}

#[test]
fn the_mouse_is_left_and_taken_by_a_key() {
    let mut screen = with(&[]);
    assert_eq!(screen.clicks(), Clicks::Taken);
    let key = KeyEvent::new(KeyCode::F(3), KeyModifiers::NONE);
    screen.on_key(key, None);
    assert_eq!(screen.clicks(), Clicks::Left);
    assert!(drawn(&mut screen, (120, 40), None).contains("F3 changes it"));
    screen.on_key(key, None);
    assert_eq!(screen.clicks(), Clicks::Taken);
}
