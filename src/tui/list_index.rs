//! Moves the selection of a list by a key or the wheel: by an entry, by a page, or to an end.
//!
//! Keys wrap around, the wheel does not.

use super::view_moves::ScrollMove;

use ratatui::crossterm::event::{KeyCode, KeyEvent};

/// Returns the move that a key stands for, if any.
pub fn list_move(key: KeyEvent) -> Option<ScrollMove> {
    let to = match key.code {
        KeyCode::Up => ScrollMove::Up,
        KeyCode::Down => ScrollMove::Down,
        KeyCode::PageUp => ScrollMove::PageUp,
        KeyCode::PageDown => ScrollMove::PageDown,
        KeyCode::Home => ScrollMove::Top,
        KeyCode::End => ScrollMove::End,
        _ => return None,
    };
    key.modifiers.is_empty().then_some(to)
}

/// Returns the move that a key stands for among buttons, which stand side by side.
pub fn button_move(key: KeyEvent) -> Option<ScrollMove> {
    let to = match key.code {
        KeyCode::Left => ScrollMove::Up,
        KeyCode::Right => ScrollMove::Down,
        _ => return list_move(key),
    };
    key.modifiers.is_empty().then_some(to)
}

/// Returns the index after a key, for `n` entries with `n_shown` visible; moving past one end continues at the other.
pub fn step_index(to: ScrollMove, chosen: usize, n: usize, n_shown: usize) -> usize {
    match to {
        ScrollMove::Up if chosen == 0 => n.saturating_sub(1),
        ScrollMove::Down if chosen + 1 >= n => 0,
        _ => scroll_index(to, chosen, n, n_shown),
    }
}

/// Returns the index after a wheel step. It stops at the ends, because the wheel often turns too far.
pub fn scroll_index(to: ScrollMove, chosen: usize, n: usize, n_shown: usize) -> usize {
    let last = n.saturating_sub(1);
    // One row of the old page stays visible, as context.
    let page = n_shown.saturating_sub(1).max(1);
    match to {
        ScrollMove::Up => chosen.saturating_sub(1),
        ScrollMove::Down => (chosen + 1).min(last),
        ScrollMove::PageUp => chosen.saturating_sub(page),
        ScrollMove::PageDown => (chosen + page).min(last),
        ScrollMove::Top => 0,
        ScrollMove::End => last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_goes_round_by_keys_and_ends_for_the_wheel() {
        let check = |to, chosen, wanted: (usize, usize)| {
            let gone = (
                step_index(to, chosen, 10, 4),
                scroll_index(to, chosen, 10, 4),
            );
            assert_eq!(gone, wanted, "{to:?} from {chosen}");
        };
        check(ScrollMove::Up, 0, (9, 0));
        check(ScrollMove::Down, 9, (0, 9));
        check(ScrollMove::Up, 5, (4, 4));
        check(ScrollMove::Down, 5, (6, 6));
        check(ScrollMove::PageUp, 5, (2, 2));
        check(ScrollMove::PageUp, 1, (0, 0));
        check(ScrollMove::PageDown, 5, (8, 8));
        check(ScrollMove::PageDown, 8, (9, 9));
        check(ScrollMove::Top, 5, (0, 0));
        check(ScrollMove::End, 5, (9, 9));
        assert_eq!(step_index(ScrollMove::Down, 0, 0, 0), 0);
        assert_eq!(step_index(ScrollMove::Up, 0, 0, 0), 0);
    }
}
