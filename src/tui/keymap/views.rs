//! The lines of the table that work in one view only: a diff, the board of a discussion, the line that looks for something, a long text.
//!
//! Moves by lines, pages and ends are those of the whole table. Refuses to know what else works there.

use ratatui::crossterm::event::KeyCode;

use super::key::{ctrl, letter, plain};
use super::{Binding, Context};
use crate::tui::board::Does as OnBoard;
use crate::tui::command::{Command, Move};
use crate::tui::diff::Does;
use crate::tui::find::Step;

const fn bind(
    name: &'static str,
    keys: &'static [super::Key],
    context: Context,
    command: fn() -> Command,
    texts: [&'static str; 2],
) -> Binding {
    super::bind(name, keys, context, command, ["", texts[0], texts[1]])
}

/// All of them, in the order of the footer. What belongs together has one hint.
pub const BINDINGS: &[Binding] = &[
    bind(
        "close-diff",
        &[letter('q'), plain(KeyCode::Esc), letter('d')],
        Context::Diff,
        || Command::InDiff(Does::Close),
        ["close it", "close"],
    ),
    bind(
        "diff-before",
        &[plain(KeyCode::Left), plain(KeyCode::BackTab), letter('h')],
        Context::Diff,
        || Command::InDiff(Does::Left),
        ["the diff before", "step"],
    ),
    bind(
        "diff-after",
        &[plain(KeyCode::Right), plain(KeyCode::Tab), letter('l')],
        Context::Diff,
        || Command::InDiff(Does::Right),
        ["the next diff", "step"],
    ),
    bind(
        "file-before",
        &[letter('[')],
        Context::Diff,
        || Command::InDiff(Does::FileBefore),
        ["the file before", "file"],
    ),
    bind(
        "file-after",
        &[letter(']'), letter('n')],
        Context::Diff,
        || Command::InDiff(Does::FileAfter),
        ["the next file", "file"],
    ),
    bind(
        "diff-page-up",
        &[letter('b')],
        Context::Diff,
        || Command::Scroll(Move::PageUp),
        ["a page up", ""],
    ),
    bind(
        "diff-page-down",
        &[letter(' ')],
        Context::Diff,
        || Command::Scroll(Move::PageDown),
        ["a page down", ""],
    ),
    bind(
        "look-again",
        &[letter('r')],
        Context::Diff,
        || Command::InDiff(Does::Again),
        ["look again at what changed", "look again"],
    ),
    bind(
        "diff-find",
        &[letter('/')],
        Context::Diff,
        || Command::Find,
        ["find something in it", "find"],
    ),
    bind(
        "find-next",
        &[plain(KeyCode::Enter)],
        Context::Find,
        || Command::InFind(Step::Next),
        [
            "the next one; in the chat and in Log, which are looked through from their ends, the one above",
            "next",
        ],
    ),
    bind(
        "close-find",
        &[plain(KeyCode::Esc)],
        Context::Find,
        || Command::InFind(Step::Close),
        ["close the line, and go back to where it was opened", "back"],
    ),
    bind(
        "find-stay",
        &[ctrl('f')],
        Context::Find,
        || Command::InFind(Step::Stay),
        ["close the line, and stay at what was found", "stay here"],
    ),
    bind(
        "find-back",
        &[plain(KeyCode::Up)],
        Context::Find,
        || Command::InFind(Step::Back),
        ["the one above", "above, below"],
    ),
    bind(
        "find-on",
        &[plain(KeyCode::Down)],
        Context::Find,
        || Command::InFind(Step::On),
        ["the one below", "above, below"],
    ),
    bind(
        "close",
        &[plain(KeyCode::Esc), letter('q')],
        Context::Text,
        || Command::Close,
        [
            "close a long text, or a run that is only looked at; point at nothing any more",
            "close",
        ],
    ),
    bind(
        "text-page-down",
        &[letter(' ')],
        Context::Text,
        || Command::Scroll(Move::PageDown),
        ["a page down", ""],
    ),
    bind(
        "text-find",
        &[letter('/')],
        Context::Text,
        || Command::Find,
        ["find something in it", ""],
    ),
];

/// Those of the board of a discussion.
pub const OF_BOARD: &[Binding] = &[
    bind(
        "close-board",
        &[plain(KeyCode::Esc), letter('q'), letter('#')],
        Context::Board,
        || Command::OnBoard(OnBoard::Close),
        ["close the speech that is read, then the board", "close"],
    ),
    bind(
        "read-speech",
        &[plain(KeyCode::Enter), letter(' ')],
        Context::Board,
        || Command::OnBoard(OnBoard::Open),
        [
            "read what is pointed at: a speech, a check, the whole outcome",
            "read",
        ],
    ),
    bind(
        "participant-before",
        &[plain(KeyCode::Left), plain(KeyCode::BackTab), letter('h')],
        Context::Board,
        || Command::OnBoard(OnBoard::Left),
        ["the participant before", "who"],
    ),
    bind(
        "participant-after",
        &[plain(KeyCode::Right), plain(KeyCode::Tab), letter('l')],
        Context::Board,
        || Command::OnBoard(OnBoard::Right),
        ["the next participant", "who"],
    ),
    bind(
        "round-before",
        &[letter('[')],
        Context::Board,
        || Command::OnBoard(OnBoard::Before),
        [
            "the round before; a speech that is read stays open",
            "round",
        ],
    ),
    bind(
        "round-after",
        &[letter(']')],
        Context::Board,
        || Command::OnBoard(OnBoard::After),
        ["the next round", "round"],
    ),
    bind(
        "quote-result",
        &[letter('"'), letter('i')],
        Context::Board,
        || Command::OnBoard(OnBoard::Quote),
        [
            "put the result into the composer, for the next turn",
            "quote",
        ],
    ),
    bind(
        "settle-by-it",
        &[letter('a')],
        Context::Board,
        || Command::OnBoard(OnBoard::Settle),
        ["settle the finding that was discussed", "settle finding"],
    ),
    bind(
        "stop-discussion",
        &[letter('s')],
        Context::Board,
        || Command::OnBoard(OnBoard::Stop),
        ["stop the discussion; what was said stays", "stop"],
    ),
    bind(
        "go-on-discussing",
        &[letter('c')],
        Context::Board,
        || Command::OnBoard(OnBoard::GoOn),
        [
            "go on with one that was stopped, was cut off or failed, after its last finished round",
            "go on",
        ],
    ),
    bind(
        "copy-speech",
        &[letter('y')],
        Context::Board,
        || Command::OnBoard(OnBoard::Copy),
        ["copy what is read, else the result", "copy"],
    ),
    bind(
        "export-discussion",
        &[letter('e')],
        Context::Board,
        || Command::OnBoard(OnBoard::Export),
        ["write the discussion down as Markdown", "export"],
    ),
    bind(
        "next-discussion",
        &[letter('n')],
        Context::Board,
        || Command::OnBoard(OnBoard::Other),
        ["the next discussion of the run", "next"],
    ),
];

/// The actions of the whole table that work in a view too; in each of them the program can be left.
pub fn works_in(context: Context, action: &str) -> bool {
    let everywhere = ["quit", "suspend", "redraw"];
    let in_diff = [
        "help",
        "interrupt",
        "pause",
        "palette",
        "line-up",
        "line-down",
        "page-up",
        "page-down",
        "top",
        "end",
        "show-chat",
        "show-plan",
        "show-comments",
        "show-log",
        "show-status",
    ];
    match context {
        Context::Diff => {
            everywhere.contains(&action)
                || in_diff.contains(&action)
                || ["find", "copy"].contains(&action)
        }
        Context::Board => {
            everywhere.contains(&action) || in_diff.contains(&action) || action == "copy"
        }
        Context::Find | Context::Text => everywhere.contains(&action),
        Context::Anywhere | Context::Outside | Context::Composer => false,
    }
}

/// The moves that a view's hints name, two actions at a time.
pub const MOVES: &[([&str; 2], &str)] = &[
    (["line-up", "line-down"], "line"),
    (["page-up", "page-down"], "page"),
    (["top", "end"], "ends"),
];
