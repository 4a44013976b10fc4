//! The bindings of single views: a diff, a discussion board, the search bar, a long text.
//!
//! Scrolling by lines, pages and ends uses the global bindings.

use ratatui::crossterm::event::KeyCode;

use super::key_chord::{ctrl_key, letter_key, plain_key};
use super::{KeyBinding, KeyContext};
use crate::tui::command::{ScreenCommand, ScrollMove};
use crate::tui::diff_view::DiffAction;
use crate::tui::discussion_board::BoardAction as OnBoard;
use crate::tui::search_bar::SearchStep;

const fn bind_view_keys(
    name: &'static str,
    keys: &'static [super::KeyChord],
    context: KeyContext,
    command: fn() -> ScreenCommand,
    texts: [&'static str; 2],
) -> KeyBinding {
    super::bind_keys(name, keys, context, command, ["", texts[0], texts[1]])
}

/// All of them except the board's, in the order of the footer. Related keys share a hint.
#[rustfmt::skip]
pub const VIEW_BINDINGS: &[KeyBinding] = &[
    bind_view_keys("close-diff", &[letter_key('q'), plain_key(KeyCode::Esc), letter_key('d')], KeyContext::Diff,
        || ScreenCommand::DiffAction(DiffAction::Close), ["Close the diff", "close"]),
    bind_view_keys("diff-before", &[plain_key(KeyCode::Left), plain_key(KeyCode::BackTab), letter_key('h')], KeyContext::Diff,
        || ScreenCommand::DiffAction(DiffAction::PreviousDiff), ["Previous diff", "step"]),
    bind_view_keys("diff-after", &[plain_key(KeyCode::Right), plain_key(KeyCode::Tab), letter_key('l')], KeyContext::Diff,
        || ScreenCommand::DiffAction(DiffAction::NextDiff), ["Next diff", "step"]),
    bind_view_keys("file-before", &[letter_key('[')], KeyContext::Diff,
        || ScreenCommand::DiffAction(DiffAction::PreviousFile), ["Previous file", "file"]),
    bind_view_keys("file-after", &[letter_key(']'), letter_key('n')], KeyContext::Diff,
        || ScreenCommand::DiffAction(DiffAction::NextFile), ["Next file", "file"]),
    bind_view_keys("diff-page-up", &[letter_key('b')], KeyContext::Diff,
        || ScreenCommand::Scroll(ScrollMove::PageUp), ["Page up", ""]),
    bind_view_keys("diff-page-down", &[letter_key(' ')], KeyContext::Diff,
        || ScreenCommand::Scroll(ScrollMove::PageDown), ["Page down", ""]),
    bind_view_keys("diff-find", &[letter_key('/')], KeyContext::Diff,
        || ScreenCommand::OpenSearch, ["Find text in it", "find"]),
    bind_view_keys("look-again", &[letter_key('r')], KeyContext::Diff,
        || ScreenCommand::DiffAction(DiffAction::Reload), ["Read the changes again", "reload"]),
    bind_view_keys("find-next", &[plain_key(KeyCode::Enter)], KeyContext::Find,
        || ScreenCommand::SearchAction(SearchStep::Next), ["Next match (above, in the chat and in Log)", "next"]),
    bind_view_keys("close-find", &[plain_key(KeyCode::Esc)], KeyContext::Find,
        || ScreenCommand::SearchAction(SearchStep::Cancel), ["Close the search and go back", "back"]),
    bind_view_keys("find-stay", &[ctrl_key('f')], KeyContext::Find,
        || ScreenCommand::SearchAction(SearchStep::Accept), ["Close the search and stay at the match", "stay here"]),
    bind_view_keys("find-back", &[plain_key(KeyCode::Up)], KeyContext::Find,
        || ScreenCommand::SearchAction(SearchStep::Up), ["Match above", "above, below"]),
    bind_view_keys("find-on", &[plain_key(KeyCode::Down)], KeyContext::Find,
        || ScreenCommand::SearchAction(SearchStep::Down), ["Match below", "above, below"]),
    bind_view_keys("close", &[plain_key(KeyCode::Esc), letter_key('q')], KeyContext::Text,
        || ScreenCommand::Close, ["Close a long text or a read-only run, or clear the selection", "close"]),
    bind_view_keys("text-page-down", &[letter_key(' ')], KeyContext::Text,
        || ScreenCommand::Scroll(ScrollMove::PageDown), ["Page down", ""]),
    bind_view_keys("text-find", &[letter_key('/')], KeyContext::Text,
        || ScreenCommand::OpenSearch, ["Find text in it", ""]),
];

/// The bindings of the discussion board.
#[rustfmt::skip]
pub const BOARD_BINDINGS: &[KeyBinding] = &[
    bind_view_keys("close-board", &[plain_key(KeyCode::Esc), letter_key('q'), letter_key('#')], KeyContext::Board,
        || ScreenCommand::BoardAction(OnBoard::Close), ["Close the open answer, then the board", "close"]),
    bind_view_keys("read-speech", &[plain_key(KeyCode::Enter), letter_key(' ')], KeyContext::Board,
        || ScreenCommand::BoardAction(OnBoard::Open), ["Read the selected answer, check or outcome", "read"]),
    bind_view_keys("participant-before", &[plain_key(KeyCode::Left), plain_key(KeyCode::BackTab), letter_key('h')], KeyContext::Board,
        || ScreenCommand::BoardAction(OnBoard::PreviousParticipant), ["Previous participant", "who"]),
    bind_view_keys("participant-after", &[plain_key(KeyCode::Right), plain_key(KeyCode::Tab), letter_key('l')], KeyContext::Board,
        || ScreenCommand::BoardAction(OnBoard::NextParticipant), ["Next participant", "who"]),
    bind_view_keys("round-before", &[letter_key('[')], KeyContext::Board,
        || ScreenCommand::BoardAction(OnBoard::PreviousRound), ["Previous round (an open answer stays open)", "round"]),
    bind_view_keys("round-after", &[letter_key(']')], KeyContext::Board,
        || ScreenCommand::BoardAction(OnBoard::NextRound), ["Next round", "round"]),
    bind_view_keys("quote-result", &[letter_key('"'), letter_key('i')], KeyContext::Board,
        || ScreenCommand::BoardAction(OnBoard::Quote), ["Quote the result in the composer", "quote"]),
    bind_view_keys("settle-by-it", &[letter_key('a')], KeyContext::Board,
        || ScreenCommand::BoardAction(OnBoard::Settle), ["Resolve the discussed finding", "resolve finding"]),
    bind_view_keys("stop-discussion", &[letter_key('s')], KeyContext::Board,
        || ScreenCommand::BoardAction(OnBoard::Stop), ["Stop the discussion (what was said stays)", "stop"]),
    bind_view_keys("go-on-discussing", &[letter_key('c')], KeyContext::Board,
        || ScreenCommand::BoardAction(OnBoard::Resume), ["Continue a stopped or failed one after its last finished round", "continue"]),
    bind_view_keys("copy-speech", &[letter_key('y')], KeyContext::Board,
        || ScreenCommand::BoardAction(OnBoard::Copy), ["Copy the open answer, or the result", "copy"]),
    bind_view_keys("export-discussion", &[letter_key('e')], KeyContext::Board,
        || ScreenCommand::BoardAction(OnBoard::Export), ["Export the discussion as Markdown", "export"]),
    bind_view_keys("next-discussion", &[letter_key('n')], KeyContext::Board,
        || ScreenCommand::BoardAction(OnBoard::NextDiscussion), ["Next discussion of the run", "next"]),
];

/// Returns whether a global action also works in a view; quitting works in every view.
pub fn works_in_view(context: KeyContext, action: &str) -> bool {
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
        KeyContext::Diff => {
            everywhere.contains(&action)
                || in_diff.contains(&action)
                || ["find", "copy"].contains(&action)
        }
        KeyContext::Board => {
            everywhere.contains(&action) || in_diff.contains(&action) || action == "copy"
        }
        KeyContext::Find | KeyContext::Text => everywhere.contains(&action),
        KeyContext::Anywhere | KeyContext::OutsideComposer | KeyContext::Composer => false,
    }
}

/// The scrolling hints of views; each covers two actions.
pub const MOVE_HINTS: &[([&str; 2], &str)] = &[
    (["line-up", "line-down"], "line"),
    (["page-up", "page-down"], "page"),
    (["top", "end"], "ends"),
];
