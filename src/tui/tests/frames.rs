//! Checks that a picture is intact: every frame is closed on all sides, and no wide character is cut in
//! half. The content of the frames does not matter.

use ratatui::buffer::{Buffer, CellWidth};

use super::gallery::Kind;
use super::monkey::places;
use super::world::painted;
use crate::tui::keymap::ComposerFocus;
use proptest::prelude::*;

/// Corners of a closed frame: top left, top right, bottom left, bottom right.
const CORNERS: [[&str; 4]; 2] = [["╭", "╮", "╰", "╯"], ["┏", "┓", "┗", "┛"]];

/// All characters that frames consist of.
const BORDERS: &str = "─━│┃╭╮╰╯┏┓┗┛";

/// Returns a description of each flaw in a picture.
fn flaws(buffer: &Buffer) -> Vec<String> {
    let mut flaws = Vec::new();
    for y in 0..buffer.area.height {
        for x in 0..buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            flaws.extend(halved(buffer, x, y));
            if let Some(corners) = CORNERS.iter().find(|corners| corners[0] == symbol) {
                flaws.extend(unclosed(buffer, x, y, corners));
            }
        }
    }
    flaws
}

/// Finds a wide character that reaches out of the window or under another one.
fn halved(buffer: &Buffer, x: u16, y: u16) -> Option<String> {
    let symbol = buffer[(x, y)].symbol();
    let end = x + symbol.cell_width().max(1);
    let is_free = |x: u16| {
        buffer
            .cell((x, y))
            .is_some_and(|cell| cell.symbol().trim().is_empty())
    };
    let is_whole = (x + 1..end).all(is_free);
    (!is_whole).then(|| format!("{symbol} is halved at {x},{y}"))
}

/// Finds a frame with a missing side or corner.
fn unclosed(buffer: &Buffer, left: u16, top: u16, corners: &[&str; 4]) -> Option<String> {
    let is = |x: u16, y: u16, wanted: &str| {
        buffer
            .cell((x, y))
            .is_some_and(|cell| cell.symbol() == wanted)
    };
    let side = if corners[0] == "┏" { "┃" } else { "│" };
    let right = (left + 1..buffer.area.width).find(|x| is(*x, top, corners[1]));
    let bottom = (top + 1..buffer.area.height).find(|y| is(left, *y, corners[2]));
    let (Some(right), Some(bottom)) = (right, bottom) else {
        return Some(format!("the frame at {left},{top} has no end"));
    };
    if !is(right, bottom, corners[3]) {
        return Some(format!("the frame at {left},{top} lacks its last corner"));
    }
    let line = if corners[0] == "┏" { "━" } else { "─" };
    // A text in a border has a blank on either side; without the second one it was cut. Another frame may
    // cover this one.
    let is_border = |x: u16, y: u16| {
        let symbol = buffer.cell((x, y)).map(|cell| cell.symbol());
        symbol.is_some_and(|symbol| BORDERS.contains(symbol))
    };
    let ends_short = |y: u16| {
        let is_last = |x: u16| is(x + 1, y, line) || x + 1 == right;
        let is_text = |x: &u16| is_last(*x) && !is_border(*x, y) && !is(*x, y, " ");
        (left + 1..right).find(is_text)
    };
    if let Some(y) = [top, bottom].into_iter().find(|y| ends_short(*y).is_some()) {
        return Some(format!("what stands in row {y} is cut"));
    }
    let open = (top + 1..bottom).find(|y| !is(left, *y, side) || !is(right, *y, side));
    open.map(|y| format!("the frame at {left},{top} is open in row {y}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn every_frame_is_whole_at_any_size(
        columns in 40u16..200,
        rows in 12u16..50,
        is_writing in any::<bool>(),
        is_nasty in any::<bool>(),
    ) {
        let kind = if is_nasty { Kind::Nasty } else { Kind::Plain };
        for place in places() {
            let (mut screen, state) = kind.open(&place);
            if is_writing {
                screen.composer.focus = ComposerFocus::Focused;
            }
            let painted = painted(&mut screen, (columns, rows), state.as_ref());
            let flaws = flaws(&painted);
            prop_assert!(flaws.is_empty(), "{} at {columns}x{rows}: {flaws:?}\n{}", place.name(),
                super::world::drawn(&mut screen, (columns, rows), state.as_ref()));
        }
    }
}

#[test]
fn a_broken_frame_is_told() {
    let of = |lines: [&str; 3]| flaws(&Buffer::with_lines(lines)).join("; ");
    assert_eq!(of(["╭─中╮", "│ab │", "╰───╯"]), "");
    assert_eq!(
        of(["╭──╮", "│ab ", "╰──╯"]),
        "the frame at 0,0 is open in row 1"
    );
    assert_eq!(of(["╭──╮", "│ab│", "   "]), "the frame at 0,0 has no end");
    assert_eq!(
        of(["╭ ab─╮", "│    │", "╰────╯"]),
        "what stands in row 0 is cut"
    );
    let mut halved = Buffer::with_lines(["中a"]);
    halved[(1, 0)].set_symbol("b");
    assert_eq!(flaws(&halved).join("; "), "中 is halved at 0,0");
}
