//! One more layer over the tab: a type with its place, its drawing and its keys, which anything may open.

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;

use super::pictures::not_writing;
use super::world::{drawn, press, state};
use crate::domain::phase::Phase;
use crate::tui::overlays::{LayerContext, LayerPlace, LayerResponse, ScreenOverlay};
use crate::tui::pager::TextPager;

/// A note that is typed over the tab.
#[derive(Debug, Default)]
struct NoteLayer {
    typed: String,
}

impl ScreenOverlay for NoteLayer {
    fn place(&self) -> LayerPlace {
        LayerPlace::Window
    }

    fn draw(&mut self, frame: &mut Frame, area: Rect, _context: &LayerContext<'_>) {
        frame.render_widget(format!("Note: {}", self.typed), area);
    }

    fn on_key(&mut self, key: KeyEvent, _context: &LayerContext<'_>) -> LayerResponse {
        match key.code {
            KeyCode::Char(letter) => self.typed.push(letter),
            KeyCode::Esc => return LayerResponse::Closed,
            _ => return LayerResponse::PassedOn,
        }
        LayerResponse::used()
    }
}

#[test]
fn a_new_layer_is_a_type_that_is_opened() {
    let (mut screen, state) = (not_writing(), state(Phase::Review));
    press(&mut screen, Some(&state), &["?"]);
    let help = drawn(&mut screen, (80, 24), Some(&state));
    screen.overlays.open(NoteLayer::default());
    press(&mut screen, Some(&state), &["q", "?"]);
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(seen.starts_with("Note: q?"), "{seen}");
    press(&mut screen, Some(&state), &["<esc>"]);
    assert_eq!(drawn(&mut screen, (80, 24), Some(&state)), help);
    // A key that it passes on reaches what lies behind it.
    screen.overlays.open(NoteLayer::default());
    press(&mut screen, Some(&state), &["<end>"]);
    assert!(screen.overlays.has::<NoteLayer>() && screen.overlays.has::<TextPager>());
    assert_ne!(drawn(&mut screen, (80, 24), Some(&state)), help);
}
