//! Where a key goes in a list that is chosen from: an entry, a page, an end; beyond an end the list begins anew.
//!
//! Refuses to know what is listed.

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::command::ScrollMove;

/// The move of a key, where it is one.
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

/// The entry that a key goes to, of `n` of which `n_shown` are seen: before the first stands the last, and behind it the
/// first.
pub fn step_index(to: ScrollMove, chosen: usize, n: usize, n_shown: usize) -> usize {
    match to {
        ScrollMove::Up if chosen == 0 => n.saturating_sub(1),
        ScrollMove::Down if chosen + 1 >= n => 0,
        _ => scroll_index(to, chosen, n, n_shown),
    }
}

/// The same by the wheel, which turns on after the end is seen: it stays there.
pub fn scroll_index(to: ScrollMove, chosen: usize, n: usize, n_shown: usize) -> usize {
    let last = n.saturating_sub(1);
    // A row stays in view, to read on from.
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
