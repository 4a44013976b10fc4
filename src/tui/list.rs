//! Where a key goes in a list that is chosen from: an entry, a page, an end; beyond an end the list begins anew.
//!
//! Refuses to know what is listed.

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::command::Move;

/// The move of a key, where it is one.
pub fn move_of(key: KeyEvent) -> Option<Move> {
    let to = match key.code {
        KeyCode::Up => Move::Up,
        KeyCode::Down => Move::Down,
        KeyCode::PageUp => Move::PageUp,
        KeyCode::PageDown => Move::PageDown,
        KeyCode::Home => Move::Top,
        KeyCode::End => Move::End,
        _ => return None,
    };
    key.modifiers.is_empty().then_some(to)
}

/// The entry that a key goes to, of `n` of which `n_shown` are seen: before the first stands the last, and behind it the
/// first.
pub fn stepped(to: Move, chosen: usize, (n, n_shown): (usize, usize)) -> usize {
    match to {
        Move::Up if chosen == 0 => n.saturating_sub(1),
        Move::Down if chosen + 1 >= n => 0,
        _ => rolled(to, chosen, (n, n_shown)),
    }
}

/// The same by the wheel, which turns on after the end is seen: it stays there.
pub fn rolled(to: Move, chosen: usize, (n, n_shown): (usize, usize)) -> usize {
    let last = n.saturating_sub(1);
    // A row stays in view, to read on from.
    let page = n_shown.saturating_sub(1).max(1);
    match to {
        Move::Up => chosen.saturating_sub(1),
        Move::Down => (chosen + 1).min(last),
        Move::PageUp => chosen.saturating_sub(page),
        Move::PageDown => (chosen + page).min(last),
        Move::Top => 0,
        Move::End => last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_goes_round_by_keys_and_ends_for_the_wheel() {
        let check = |to, chosen, wanted: (usize, usize)| {
            let gone = (stepped(to, chosen, (10, 4)), rolled(to, chosen, (10, 4)));
            assert_eq!(gone, wanted, "{to:?} from {chosen}");
        };
        check(Move::Up, 0, (9, 0));
        check(Move::Down, 9, (0, 9));
        check(Move::Up, 5, (4, 4));
        check(Move::Down, 5, (6, 6));
        check(Move::PageUp, 5, (2, 2));
        check(Move::PageUp, 1, (0, 0));
        check(Move::PageDown, 5, (8, 8));
        check(Move::PageDown, 8, (9, 9));
        check(Move::Top, 5, (0, 0));
        check(Move::End, 5, (9, 9));
        assert_eq!(stepped(Move::Down, 0, (0, 0)), 0);
        assert_eq!(stepped(Move::Up, 0, (0, 0)), 0);
    }
}
