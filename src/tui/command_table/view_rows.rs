//! The keys of single views: a diff, a discussion board, the search bar, a long text.
//!
//! Scrolling by lines, pages and ends uses the global rows.

use ratatui::crossterm::event::KeyCode;

use super::command_conditions as only_if;
use super::command_row::{CommandRow, view_command};
use crate::tui::command::ScreenCommand;
use crate::tui::diff_view::DiffAction;
use crate::tui::discussion_board::BoardAction as OnBoard;
use crate::tui::keymap::{KeyContext, ctrl_key, letter_key, plain_key};
use crate::tui::view_moves::{ScrollMove, SearchStep};

/// All of them except the board's, in the order of the footer. Related keys share a hint.
#[rustfmt::skip]
pub static VIEW_ROWS: &[CommandRow] = &[
    view_command("diff-before", &[plain_key(KeyCode::Left), plain_key(KeyCode::BackTab), letter_key('h')], KeyContext::Diff,
        |_| Ok(ScreenCommand::DiffAction(DiffAction::PreviousDiff)), ["Previous diff", "step"]),
    view_command("diff-after", &[plain_key(KeyCode::Right), plain_key(KeyCode::Tab), letter_key('l')], KeyContext::Diff,
        |_| Ok(ScreenCommand::DiffAction(DiffAction::NextDiff)), ["Next diff", "step"]),
    view_command("file-before", &[letter_key('[')], KeyContext::Diff,
        |_| Ok(ScreenCommand::DiffAction(DiffAction::PreviousFile)), ["Previous file", "file"]),
    view_command("file-after", &[letter_key(']'), letter_key('n')], KeyContext::Diff,
        |_| Ok(ScreenCommand::DiffAction(DiffAction::NextFile)), ["Next file", "file"]),
    view_command("undo-shown-step", &[letter_key('u')], KeyContext::Diff,
        |_| Ok(ScreenCommand::UndoShownStep), ["Undo the steps from the shown one on, or the last", "undo step"])
        .unless(only_if::step_can_be_undone).changes_run(),
    view_command("diff-sides", &[letter_key('s')], KeyContext::Diff,
        |_| Ok(ScreenCommand::DiffAction(DiffAction::SideBySide)), ["Show the old text beside the new one, or below it", "side by side"]),
    view_command("diff-page-up", &[letter_key('b')], KeyContext::Diff,
        |_| Ok(ScreenCommand::Scroll(ScrollMove::PageUp)), ["Page up", ""]),
    view_command("diff-page-down", &[letter_key(' ')], KeyContext::Diff,
        |_| Ok(ScreenCommand::Scroll(ScrollMove::PageDown)), ["Page down", ""]),
    view_command("diff-find", &[letter_key('/')], KeyContext::Diff,
        |_| Ok(ScreenCommand::OpenSearch), ["Find text in it", "find"]),
    view_command("look-again", &[letter_key('r')], KeyContext::Diff,
        |_| Ok(ScreenCommand::DiffAction(DiffAction::Reload)), ["Read the changes again", "reload"]),
    view_command("close-diff", &[plain_key(KeyCode::Esc), letter_key('q'), letter_key('d')], KeyContext::Diff,
        |_| Ok(ScreenCommand::DiffAction(DiffAction::Close)), ["Close the diff", "close"]),
    view_command("find-next", &[plain_key(KeyCode::Enter)], KeyContext::Find,
        |_| Ok(ScreenCommand::SearchAction(SearchStep::Next)), ["Next match (above, in the chat and in Log)", "next"]),
    view_command("close-find", &[plain_key(KeyCode::Esc)], KeyContext::Find,
        |_| Ok(ScreenCommand::SearchAction(SearchStep::Cancel)), ["Close the search and go back", "back"]),
    view_command("find-stay", &[ctrl_key('f')], KeyContext::Find,
        |_| Ok(ScreenCommand::SearchAction(SearchStep::Accept)), ["Close the search and stay at the match", "stay here"]),
    view_command("find-back", &[plain_key(KeyCode::Up)], KeyContext::Find,
        |_| Ok(ScreenCommand::SearchAction(SearchStep::Up)), ["Match above", "above, below"]),
    view_command("find-on", &[plain_key(KeyCode::Down)], KeyContext::Find,
        |_| Ok(ScreenCommand::SearchAction(SearchStep::Down)), ["Match below", "above, below"]),
    view_command("close", &[plain_key(KeyCode::Esc), letter_key('q')], KeyContext::Text,
        |_| Ok(ScreenCommand::Close), ["Close a long text or a read-only run, or clear the selection", "close"]),
    view_command("text-page-down", &[letter_key(' ')], KeyContext::Text,
        |_| Ok(ScreenCommand::Scroll(ScrollMove::PageDown)), ["Page down", ""]),
    view_command("text-find", &[letter_key('/')], KeyContext::Text,
        |_| Ok(ScreenCommand::OpenSearch), ["Find text in it", ""]),
];

/// The keys of the discussion board.
#[rustfmt::skip]
pub static BOARD_ROWS: &[CommandRow] = &[
    view_command("close-board", &[plain_key(KeyCode::Esc), letter_key('q'), letter_key('#')], KeyContext::Board,
        |_| Ok(ScreenCommand::BoardAction(OnBoard::Close)), ["Close the open answer, then the board", "close"]),
    view_command("read-speech", &[plain_key(KeyCode::Enter), letter_key(' ')], KeyContext::Board,
        |_| Ok(ScreenCommand::BoardAction(OnBoard::Open)), ["Read the selected answer, check or outcome", "read"]),
    view_command("participant-before", &[plain_key(KeyCode::Left), plain_key(KeyCode::BackTab), letter_key('h')], KeyContext::Board,
        |_| Ok(ScreenCommand::BoardAction(OnBoard::PreviousParticipant)), ["Previous participant", "who"]),
    view_command("participant-after", &[plain_key(KeyCode::Right), plain_key(KeyCode::Tab), letter_key('l')], KeyContext::Board,
        |_| Ok(ScreenCommand::BoardAction(OnBoard::NextParticipant)), ["Next participant", "who"]),
    view_command("round-before", &[letter_key('[')], KeyContext::Board,
        |_| Ok(ScreenCommand::BoardAction(OnBoard::PreviousRound)), ["Previous round (an open answer stays open)", "round"]),
    view_command("round-after", &[letter_key(']')], KeyContext::Board,
        |_| Ok(ScreenCommand::BoardAction(OnBoard::NextRound)), ["Next round", "round"]),
    view_command("quote-result", &[letter_key('"'), letter_key('i')], KeyContext::Board,
        |_| Ok(ScreenCommand::BoardAction(OnBoard::Quote)), ["Quote the result in the composer", "quote"]).changes_run(),
    view_command("settle-by-it", &[letter_key('a')], KeyContext::Board,
        |_| Ok(ScreenCommand::BoardAction(OnBoard::Settle)), ["Resolve the discussed finding", "resolve finding"]).changes_run(),
    view_command("stop-discussion", &[letter_key('s')], KeyContext::Board,
        |_| Ok(ScreenCommand::BoardAction(OnBoard::Stop)), ["Stop the discussion (what was said stays)", "stop"]).changes_run(),
    view_command("go-on-discussing", &[letter_key('c')], KeyContext::Board,
        |_| Ok(ScreenCommand::BoardAction(OnBoard::Resume)), ["Continue a stopped or failed one after its last finished round", "continue"]).changes_run(),
    view_command("copy-speech", &[letter_key('y')], KeyContext::Board,
        |_| Ok(ScreenCommand::BoardAction(OnBoard::Copy)), ["Copy the open answer, or the result", "copy"]),
    view_command("export-discussion", &[letter_key('e')], KeyContext::Board,
        |_| Ok(ScreenCommand::BoardAction(OnBoard::Export)), ["Export the discussion as Markdown", "export"]),
    view_command("next-discussion", &[letter_key('n')], KeyContext::Board,
        |_| Ok(ScreenCommand::BoardAction(OnBoard::NextDiscussion)), ["Next discussion of the run", "next"]),
];

/// The scrolling hints of views; each covers two actions.
pub const MOVE_HINTS: &[([&str; 2], &str)] = &[
    (["line-up", "line-down"], "line"),
    (["page-up", "page-down"], "page"),
    (["top", "end"], "ends"),
];
