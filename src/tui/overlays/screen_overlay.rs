//! What a layer over the tab can do: the trait of the diff, the board, the long text, the search bar and the palette.
//!
//! A layer owns its state and returns what it asks of the screen; it never reaches into a tab or another layer.

use std::any::Any;
use std::fmt::Debug;

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::{Position, Rect};

use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;
use crate::tui::action::Action;
use crate::tui::appearance::ScreenSettings;
use crate::tui::command::ScreenCommand;
use crate::tui::command_palette::PaletteEntry;
use crate::tui::command_table::works_in_view;
use crate::tui::composer_pane::ComposerPane;
use crate::tui::dialog::ChoiceDialog;
use crate::tui::discussion_commands::DiscussionViewState;
use crate::tui::keymap::{ActiveKeymap, ComposerFocus, KeyContext, KeyHint};
use crate::tui::run_commands::CommandOutcome;
use crate::tui::searchable_view::SearchableView;
use crate::tui::tabs::ScreenTabs;
use crate::tui::view_moves::ScrollMove;

/// How many hints a layer has in the footer; the help lists all keys.
pub const MAX_OVERLAY_HINTS: usize = 4;

/// How many lines one wheel step scrolls.
pub const WHEEL_LINES: usize = 3;

/// Where a layer lies; a later place is in front of an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LayerPlace {
    /// In place of the tab, the composer and the dialog.
    WholeHeight,
    /// In place of the tab and the dialog.
    Tab,
    /// In place of the composer.
    ComposerLine,
    /// Over a part of the window; nothing around it can be clicked.
    Window,
}

impl LayerPlace {
    pub fn covers_tab(self) -> bool {
        matches!(self, Self::WholeHeight | Self::Tab)
    }
}

/// What a layer can see of the screen.
#[derive(Debug, Clone, Copy)]
pub struct LayerContext<'a> {
    pub state: Option<&'a RunState>,
    /// The dialog that waits for the user behind the layers.
    pub waiting: Option<&'a ChoiceDialog>,
    pub settings: &'a ScreenSettings,
    pub tabs: &'a ScreenTabs,
    pub composer: &'a ComposerPane,
    pub discussions: &'a DiscussionViewState,
    /// The layers behind it, the last one in front.
    pub below: &'a [Box<dyn ScreenOverlay>],
    /// Whether a view opened by itself just now, so that no key is meant for it yet.
    pub is_guarded: bool,
    /// The height of what the tab or the view takes.
    pub page_rows: u16,
    pub now: UnixMillis,
}

impl<'a> LayerContext<'a> {
    pub fn keymap(&self) -> &'a ActiveKeymap {
        &self.settings.appearance.keymap
    }
}

/// What a layer does with a key, a click or a text, and what it asks of the screen.
pub enum LayerResponse {
    Used(Vec<Action>),
    Command(ScreenCommand),
    /// Opens what is selected in it.
    OpenSelected,
    /// Tells the user something; its keys can be clicked.
    Toast(String),
    /// Closes it.
    Closed,
    /// Closes it and carries out an entry; with the dialog that the user had read before.
    Accepted(Box<PaletteEntry>, Option<String>),
    /// Searches what lies behind it for other letters.
    SearchChanged(String),
    /// Ends the search; the next layer gets the key.
    SearchEnded,
    /// The next layer gets it, or what lies behind all of them.
    PassedOn,
}

impl LayerResponse {
    pub fn used() -> Self {
        Self::Used(Vec::new())
    }
}

/// A layer over the tab.
pub trait ScreenOverlay: Any + Debug {
    fn place(&self) -> LayerPlace;

    /// Returns where its own keys are listed in the keymap; `None` if they are fixed.
    fn key_context(&self) -> Option<KeyContext> {
        None
    }

    /// Draws it into the area of its place.
    fn draw(&mut self, frame: &mut Frame, area: Rect, context: &LayerContext<'_>);

    /// Handles a key: runs a command of its own, or one that also works in front of it. All other keys do nothing,
    /// because the composer and the dialog are hidden. A layer without keys of its own is closed by Esc.
    fn on_key(&mut self, key: KeyEvent, context: &LayerContext<'_>) -> LayerResponse {
        let own = self.key_context();
        if own.is_none() && key.code == KeyCode::Esc {
            return LayerResponse::Closed;
        }
        let Some(view) = own.filter(|_| !context.is_guarded) else {
            return LayerResponse::used();
        };
        let keymap = context.keymap();
        let other = || {
            let command = keymap.find_command(&key, ComposerFocus::Unfocused);
            command.filter(|command| works_in_view(command, view))
        };
        let command = keymap.find_view_command(&key, view).or_else(other);
        command.map_or_else(LayerResponse::used, LayerResponse::Command)
    }

    /// Inserts pasted text.
    fn on_paste(&mut self, _text: &str) -> LayerResponse {
        LayerResponse::PassedOn
    }

    /// Handles a click into the area of its place; on one in front of everything, a click anywhere.
    fn click(&mut self, _at: Position, _context: &LayerContext<'_>) -> LayerResponse {
        LayerResponse::PassedOn
    }

    /// Scrolls, or moves its selection.
    fn scroll(&mut self, _to: ScrollMove, _context: &LayerContext<'_>) -> LayerResponse {
        LayerResponse::PassedOn
    }

    /// Returns how often a step of the wheel scrolls.
    fn wheel_lines(&self) -> usize {
        WHEEL_LINES
    }

    /// Chooses the keys for the footer from those that have an effect now, the most important first.
    fn choose_hints(&self, mut all: Vec<KeyHint>, _state: Option<&RunState>) -> Vec<KeyHint> {
        all.truncate(MAX_OVERLAY_HINTS);
        all
    }

    /// Copies its text, or what is selected; `None`: what lies behind it is copied.
    fn copy(&self, _context: &LayerContext<'_>) -> Option<CommandOutcome> {
        None
    }

    /// Returns the title and the text that linear mode prints in its place; `None` while there is none.
    fn printed_text(&self, _state: Option<&RunState>) -> Option<(String, String)> {
        None
    }

    /// Returns what the search bar searches, if it can be searched.
    fn searched(&self) -> Option<&dyn SearchableView> {
        None
    }

    fn searched_mut(&mut self) -> Option<&mut dyn SearchableView> {
        None
    }

    /// Returns whether it belongs to a dialog that is not open any more.
    fn is_stale(&self, _waiting: Option<&ChoiceDialog>) -> bool {
        false
    }

    /// Returns where the last frame showed it, if it lies over a part of the window.
    fn window_area(&self) -> Option<Rect> {
        None
    }
}
