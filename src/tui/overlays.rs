//! What lies over the tab: at most one of a diff and a discussion board, a long text in front of it, then the
//! search bar and the palette. The topmost one gets the key.

use super::command::ScreenCommand;
use super::command_palette::CommandPalette;
use super::command_table::{is_safe_in_overlay, works_in_view};
use super::diff_view::DiffView;
use super::discussion_board::DiscussionBoard;
use super::keymap::KeyContext;
use super::pager::TextPager;
use super::search_bar::SearchBar;
use super::transcript::ChatTranscript;

/// A view that covers the tab and takes the keys.
pub trait ScreenOverlay {
    /// Returns where its own keys are listed in the keymap.
    fn key_context(&self) -> KeyContext;

    /// Returns whether a command of the keymap also works in front of it. Help, interrupting and pausing always do.
    fn allows(&self, command: &ScreenCommand) -> bool;

    /// Returns whether it takes the place of the composer and the dialog, too.
    fn takes_whole_height(&self) -> bool;

    /// Returns the action that closes it, if other keys are answered with it.
    fn named_close_action(&self) -> Option<&'static str> {
        None
    }
}

#[derive(Debug, Default)]
pub struct OverlayStack {
    pub palette: Option<CommandPalette>,
    pub search: Option<SearchBar>,
    pub pager: Option<TextPager>,
    pub diff: Option<DiffView>,
    /// The board of a discussion; never open together with a diff.
    pub board: Option<DiscussionBoard>,
}

impl OverlayStack {
    /// Returns the view that covers the tab; the search bar and the palette cover nothing.
    pub fn top(&self) -> Option<&dyn ScreenOverlay> {
        if let Some(pager) = &self.pager {
            return Some(pager);
        }
        if let Some(diff) = &self.diff {
            return Some(diff);
        }
        self.board.as_ref().map(|board| board as &dyn ScreenOverlay)
    }

    /// Returns whether anything covers the tab.
    pub fn covers_tab(&self) -> bool {
        self.top().is_some()
    }

    /// Returns whether the view in front takes the place of the composer and the dialog.
    pub fn takes_whole_height(&self) -> bool {
        self.top().is_some_and(ScreenOverlay::takes_whole_height)
    }

    /// Returns whether the palette fades what lies behind it; not while a theme is previewed there.
    pub fn fades_rest(&self) -> bool {
        let previews = CommandPalette::previews_theme;
        self.palette.as_ref().is_some_and(|open| !previews(open))
    }

    /// Returns whether the board is in front.
    pub fn is_board_in_front(&self) -> bool {
        self.board.is_some() && self.pager.is_none()
    }

    /// Returns whether the diff is in front.
    pub fn is_diff_in_front(&self) -> bool {
        self.diff.is_some() && self.pager.is_none()
    }

    /// Closes everything that covers the tab.
    pub fn close_views(&mut self) {
        (self.pager, self.diff, self.board) = (None, None, None);
    }

    /// Returns the transcript in front: that of the open child's session, otherwise the chat's.
    pub fn front_transcript<'a>(
        &'a mut self,
        chat: &'a mut ChatTranscript,
    ) -> &'a mut ChatTranscript {
        let child = self.pager.as_mut().and_then(TextPager::child_mut);
        child.map_or(chat, |child| &mut child.transcript)
    }
}

impl ScreenOverlay for TextPager {
    fn key_context(&self) -> KeyContext {
        KeyContext::Text
    }

    // Commands that change the run do nothing, because users of other pagers press letters to move.
    fn allows(&self, command: &ScreenCommand) -> bool {
        is_safe_in_overlay(command)
    }

    fn takes_whole_height(&self) -> bool {
        false
    }

    fn named_close_action(&self) -> Option<&'static str> {
        Some("close")
    }
}

impl ScreenOverlay for DiffView {
    fn key_context(&self) -> KeyContext {
        KeyContext::Diff
    }

    fn allows(&self, command: &ScreenCommand) -> bool {
        works_in_view(command, KeyContext::Diff)
    }

    fn takes_whole_height(&self) -> bool {
        true
    }
}

impl ScreenOverlay for DiscussionBoard {
    fn key_context(&self) -> KeyContext {
        KeyContext::Board
    }

    fn allows(&self, command: &ScreenCommand) -> bool {
        works_in_view(command, KeyContext::Board)
    }

    fn takes_whole_height(&self) -> bool {
        true
    }
}
