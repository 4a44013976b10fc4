//! The search bar for what is open: a tab, a long text or a diff.
//!
//! Each view does its own searching.

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui_textarea::TextArea;

use super::command::ScreenCommand;
use super::keymap::{ComposerFocus, KeyContext};
use super::pager::front_transcript;
use super::scroll_view::{self, ScrollTarget};
use super::tabs::TabKind;
use super::text_wrap::{draw_line, text_width, to_one_line, truncate_to_columns};
use super::transcript::{
    self, LogSearchProgress, LogSearchResult, ScrollbackDemand, TranscriptSearch,
};
use super::{Screen, diff_view, theme};
use crate::domain::run::RunState;

/// How many characters of a pasted text are used.
const MAX_PASTE_CHARS: usize = 100;

/// The open search bar.
#[derive(Debug)]
pub struct SearchBar {
    typed: String,
    text_area: TextArea<'static>,
    /// The matches in the chat.
    chat_search: TranscriptSearch,
    origin: SearchOrigin,
}

/// What is searched, and its scroll position before the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SearchOrigin {
    Text(scroll_view::ScrollPosition),
    Diff(Option<diff_view::DiffPosition>),
    Chat(transcript::TranscriptPosition),
    /// A child's session in the pager.
    Child(transcript::TranscriptPosition),
    /// The page of a tab; for Log, also the event that was selected.
    Page(TabKind, scroll_view::ScrollPosition, Option<i64>),
}

impl SearchOrigin {
    /// Returns whether both are about the same view.
    fn is_same_place(self, other: Self) -> bool {
        match (self, other) {
            (Self::Text(_), Self::Text(_))
            | (Self::Diff(_), Self::Diff(_))
            | (Self::Chat(_), Self::Chat(_))
            | (Self::Child(_), Self::Child(_)) => true,
            (Self::Page(one, ..), Self::Page(other, ..)) => one == other,
            _ => false,
        }
    }

    /// Returns whether the search starts at the end and goes up.
    fn follows_end(self) -> bool {
        matches!(
            self,
            Self::Chat(_) | Self::Child(_) | Self::Page(TabKind::Log, ..)
        )
    }

    fn label(self) -> &'static str {
        match self {
            Self::Text(_) => "this text",
            Self::Diff(_) => "this diff",
            Self::Chat(_) => TabKind::Chat.title(),
            Self::Child(_) => "this session",
            Self::Page(tab, ..) => tab.title(),
        }
    }
}

/// An action in the search bar, besides typing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchStep {
    /// To the next match; upwards in views that follow their end.
    Next,
    Up,
    Down,
    /// Closes the search bar; the match stays visible and is selected.
    Accept,
    /// Closes the search bar and restores the scroll position.
    Cancel,
}

impl Screen {
    /// Opens the search bar.
    pub(super) fn open_search(&mut self) {
        self.clear_search();
        if self.is_board_open() {
            // The board covers the tab, so searching the tab would be confusing.
            let close = self
                .keymap()
                .key_label("close-board", ComposerFocus::Unfocused);
            self.show_toast(&format!(
                "Find does not work on a board. Close it first ({close})."
            ));
            return;
        }
        self.search_bar = Some(SearchBar {
            typed: String::new(),
            text_area: TextArea::default(),
            chat_search: TranscriptSearch::default(),
            origin: self.current_search_origin(),
        });
    }

    /// Returns the open view with its scroll position.
    fn current_search_origin(&mut self) -> SearchOrigin {
        match (&self.pager, &self.diff_view, self.focused_tab()) {
            (Some(pager), ..) => match pager.transcript() {
                Some(child) => SearchOrigin::Child(child.position()),
                None => SearchOrigin::Text(pager.position()),
            },
            (None, Some(view), _) => SearchOrigin::Diff(view.position()),
            (None, None, TabKind::Chat) => SearchOrigin::Chat(self.transcript.position()),
            (None, None, tab) => {
                let stand = self.pages.for_tab(tab).position();
                SearchOrigin::Page(tab, stand, self.record.selected_event())
            }
        }
    }

    /// Closes the search bar if another view is open by now.
    pub(super) fn close_stale_search(&mut self) {
        let open = self.current_search_origin();
        let began = self.search_bar.as_ref().map(|line| line.origin);
        if began.is_some_and(|began| !began.is_same_place(open)) {
            self.clear_search();
        }
    }

    /// Returns the letters searched for in a tab, in lower case; empty if none.
    pub(super) fn search_query(&self, tab: TabKind) -> String {
        let of_tab = |line: &&SearchBar| match line.origin {
            SearchOrigin::Chat(_) => tab == TabKind::Chat,
            SearchOrigin::Page(of, ..) => tab == of,
            SearchOrigin::Text(_) | SearchOrigin::Diff(_) | SearchOrigin::Child(_) => false,
        };
        let find = self.search_bar.as_ref().filter(of_tab);
        find.map_or_else(String::new, |line| line.typed.to_lowercase())
    }

    /// Returns the letters searched for in the open child's session, in lower case; empty if none.
    pub(super) fn child_search_query(&self) -> String {
        let of_child = |line: &&SearchBar| matches!(line.origin, SearchOrigin::Child(_));
        let find = self.search_bar.as_ref().filter(of_child);
        find.map_or_else(String::new, |line| line.typed.to_lowercase())
    }

    /// Passes a key to the search bar; returns whether it used the key.
    pub(super) fn on_search_key(&mut self, key: KeyEvent, state: Option<&RunState>) -> bool {
        self.close_stale_search();
        if self.search_bar.is_none() {
            return false;
        }
        if let Some(ScreenCommand::SearchAction(step)) =
            self.keymap().find_view_command(&key, KeyContext::Find)
        {
            self.perform_search_step(step, state);
            return true;
        }
        let moves = self.keymap().find_command(&key, ComposerFocus::Focused);
        let Some(line) = &mut self.search_bar else {
            return false;
        };
        let is_plain = key.modifiers - KeyModifiers::SHIFT == KeyModifiers::NONE;
        let is_ctrl = key.modifiers == KeyModifiers::CONTROL;
        let _changed = match key.code {
            KeyCode::Char('u') if is_ctrl => line.text_area.delete_line_by_head(),
            KeyCode::Char('w') if is_ctrl => line.text_area.delete_word(),
            KeyCode::Char(c) if is_plain && !c.is_control() => line.text_area.input(key),
            KeyCode::Backspace
            | KeyCode::Delete
            | KeyCode::Left
            | KeyCode::Right
            | KeyCode::Home
            | KeyCode::End => line.text_area.input(key),
            _ if matches!(moves, Some(ScreenCommand::Scroll(_))) => return false,
            // Any other key closes the search bar and is then handled as usual.
            _ => {
                self.clear_search();
                return false;
            }
        };
        self.update_search();
        true
    }

    /// Pastes a text into the search bar; returns whether it is open.
    pub(super) fn paste_into_search(&mut self, text: &str) -> bool {
        let Some(line) = &mut self.search_bar else {
            return false;
        };
        let text: String = to_one_line(text).chars().take(MAX_PASTE_CHARS).collect();
        line.text_area.insert_str(text);
        self.update_search();
        true
    }

    /// Searches again if the text has changed.
    fn update_search(&mut self) {
        let Some(line) = &mut self.search_bar else {
            return;
        };
        let typed = line.text_area.lines().join(" ");
        if typed != line.typed {
            line.typed = typed;
            self.start_search();
        }
    }

    fn start_search(&mut self) {
        let Some(line) = &mut self.search_bar else {
            return;
        };
        let typed = line.typed.as_str();
        match line.origin {
            SearchOrigin::Chat(stand) | SearchOrigin::Child(stand) => {
                let transcript = front_transcript(&mut self.pager, &mut self.transcript);
                if typed.is_empty() {
                    transcript.restore_position(stand);
                }
                transcript.search(&mut line.chat_search, typed);
            }
            SearchOrigin::Text(stand) => {
                if let Some(pager) = &mut self.pager {
                    pager.scroll_view_mut().search(typed, stand);
                }
            }
            SearchOrigin::Diff(stand) => {
                if let Some(view) = &mut self.diff_view {
                    view.search(typed, stand);
                }
            }
            // The log filters its list by the letters when drawing.
            SearchOrigin::Page(TabKind::Log, ..) => {}
            SearchOrigin::Page(tab, stand, _) => {
                self.finding_selection.set_query(typed);
                self.pages.for_tab(tab).search(typed, stand);
            }
        }
    }

    /// Goes to another match, or closes the search bar.
    pub(super) fn perform_search_step(&mut self, step: SearchStep, state: Option<&RunState>) {
        let Some(line) = &self.search_bar else {
            return;
        };
        let is_next = match step {
            SearchStep::Next => !line.origin.follows_end(),
            SearchStep::Up => false,
            SearchStep::Down => true,
            SearchStep::Accept => return self.close_search_at_match(),
            SearchStep::Cancel => return self.cancel_search(),
        };
        let Some(line) = &mut self.search_bar else {
            return;
        };
        match line.origin {
            SearchOrigin::Chat(_) | SearchOrigin::Child(_) => {
                let transcript = front_transcript(&mut self.pager, &mut self.transcript);
                transcript.step_match(&mut line.chat_search, is_next);
            }
            SearchOrigin::Text(_) => {
                if let Some(pager) = &mut self.pager {
                    pager.scroll_view_mut().step_match(is_next);
                }
            }
            SearchOrigin::Diff(_) => {
                if let Some(view) = &mut self.diff_view {
                    view.step_match(is_next);
                }
            }
            SearchOrigin::Page(TabKind::Log, ..) => {
                let letters = line.typed.to_lowercase();
                if let Some(mark) = self.record.move_selection(is_next, &letters, state) {
                    self.pages.for_tab(TabKind::Log).scroll_to(mark);
                }
            }
            SearchOrigin::Page(tab, ..) => self.pages.for_tab(tab).step_match(is_next),
        }
    }

    /// Returns the part of the log to search next.
    pub(super) fn wanted_log_search(&self) -> Option<ScrollbackDemand> {
        let line = self.search_bar.as_ref()?;
        self.transcript.wanted_log_search(&line.chat_search)
    }

    /// Handles the search result for a piece of the log.
    pub(super) fn on_log_search_result(&mut self, looked: &LogSearchResult) {
        if let Some(line) = &mut self.search_bar {
            self.transcript
                .on_log_search_result(&mut line.chat_search, looked);
        }
    }

    /// Goes to a match in older events once they are loaded.
    pub(super) fn go_to_loaded_match(&mut self) {
        if let Some(line) = &mut self.search_bar {
            self.transcript.go_to_loaded_match(&mut line.chat_search);
        }
    }

    /// Stops searching older events, because the log cannot be read.
    pub(super) fn stop_log_search(&mut self) {
        if let Some(line) = &mut self.search_bar {
            self.transcript.stop_log_search(&mut line.chat_search);
        }
    }

    /// Closes the search bar and selects the match, so that the next keys apply to it.
    fn close_search_at_match(&mut self) {
        let tab = self.search_bar.as_ref().map(|line| line.origin);
        let mark = match tab {
            Some(SearchOrigin::Page(tab, ..)) => self.pages.for_tab(tab).match_target(),
            _ => None,
        };
        match mark {
            Some(ScrollTarget::Line(line)) => self.plan_view.select_line(line),
            Some(ScrollTarget::Finding(n)) if self.focused_tab() == TabKind::Comments => {
                self.finding_selection.select(ScrollTarget::Finding(n));
                self.finding_selection.keep_open(n);
            }
            _ => {}
        }
        self.clear_search();
    }

    /// Closes the search bar and restores the view.
    fn cancel_search(&mut self) {
        let Some(line) = &mut self.search_bar else {
            return;
        };
        match line.origin {
            SearchOrigin::Chat(stand) | SearchOrigin::Child(stand) => {
                let transcript = front_transcript(&mut self.pager, &mut self.transcript);
                transcript.refold_opened(&mut line.chat_search);
                transcript.restore_position(stand);
            }
            SearchOrigin::Text(stand) => {
                if let Some(pager) = &mut self.pager {
                    pager.scroll_view_mut().restore_position(stand);
                }
            }
            SearchOrigin::Diff(stand) => {
                if let Some(view) = &mut self.diff_view {
                    view.search("", stand);
                }
            }
            SearchOrigin::Page(tab, stand, picked) => {
                self.pages.for_tab(tab).restore_position(stand);
                if tab == TabKind::Log {
                    self.record.restore_selection(picked);
                }
            }
        }
        self.clear_search();
    }

    /// Closes the search bar and ends the search; the view stays.
    pub(super) fn clear_search(&mut self) {
        if self.search_bar.take().is_none() {
            return;
        }
        self.transcript.stop_loading_match();
        for tab in TabKind::ALL {
            self.pages.for_tab(tab).end_search();
        }
        if let Some(pager) = &mut self.pager {
            pager.scroll_view_mut().end_search();
        }
        if let Some(view) = &mut self.diff_view {
            view.end_search();
        }
        self.finding_selection.set_query("");
    }

    /// Returns which match is current, from 1, and how many there are.
    fn match_position(&mut self, state: Option<&RunState>) -> (usize, usize) {
        let Some(line) = &self.search_bar else {
            return (0, 0);
        };
        match line.origin {
            SearchOrigin::Chat(_) | SearchOrigin::Child(_) => {
                front_transcript(&mut self.pager, &mut self.transcript)
                    .match_position(&line.chat_search)
            }
            SearchOrigin::Text(_) => match &mut self.pager {
                Some(pager) => pager.scroll_view_mut().match_position(),
                None => (0, 0),
            },
            SearchOrigin::Diff(_) => match &self.diff_view {
                Some(view) => view.match_position(),
                None => (0, 0),
            },
            SearchOrigin::Page(TabKind::Log, ..) => self
                .record
                .match_position(&line.typed.to_lowercase(), state),
            SearchOrigin::Page(tab, ..) => self.pages.for_tab(tab).match_position(),
        }
    }

    pub(super) fn draw_search_bar(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        state: Option<&RunState>,
    ) {
        let (at, n) = self.match_position(state);
        let Some(line) = &self.search_bar else {
            return;
        };
        let standing = match line.origin {
            SearchOrigin::Chat(_) => self.transcript.search_progress(&line.chat_search),
            SearchOrigin::Page(TabKind::Log, ..) => self.record.search_progress(),
            // These are loaded in full.
            SearchOrigin::Text(_)
            | SearchOrigin::Diff(_)
            | SearchOrigin::Child(_)
            | SearchOrigin::Page(..) => LogSearchProgress::Complete,
        };
        let name = match line.origin {
            // `log.md`, shown above the events, is not searched.
            SearchOrigin::Page(TabKind::Log, ..) if self.record.is_filtered() => {
                "the listed events"
            }
            SearchOrigin::Page(TabKind::Log, ..) => "the events",
            _ => line.origin.label(),
        };
        let place = if line.typed.is_empty() {
            format!(" in {name}")
        } else {
            match_position_label(at, n, name, standing)
        };
        let columns = usize::from(area.width);
        let head = truncate_to_columns(&format!("find: {}", line.typed), columns.saturating_sub(1));
        let before: String = line.typed.chars().take(line.text_area.cursor().1).collect();
        let before = text_width(&before) + text_width("find: ");
        let cursor = u16::try_from(before.min(text_width(&head))).unwrap_or(0);
        let rest = truncate_to_columns(&place, columns.saturating_sub(text_width(&head) + 1));
        let spans = vec![
            Span::styled(head, theme::KEY),
            Span::raw(" "),
            Span::styled(rest, theme::QUIET),
        ];
        draw_line(frame, &Line::from(spans), area);
        if !area.is_empty() {
            frame
                .set_cursor_position((area.x.saturating_add(cursor).min(area.right() - 1), area.y));
        }
    }
}

/// Describes the current match and the progress of the search. It never says "nothing" about
/// parts that were not searched.
fn match_position_label(at: usize, n: usize, name: &str, standing: LogSearchProgress) -> String {
    let n_found = match (at, n) {
        (_, 0) => String::new(),
        (0, n) => n.to_string(),
        (at, n) => format!("{at} of {n}"),
    };
    match (standing, n) {
        (LogSearchProgress::Complete, 0) => format!(" no match in {name}"),
        (LogSearchProgress::Complete, _) => format!(" {n_found} in {name}"),
        (LogSearchProgress::LoadedOnly, 0) => format!(" no match in the end of {name}"),
        (LogSearchProgress::LoadedOnly, _) => format!(" {n_found} so far in {name}"),
        (LogSearchProgress::Searching(percent), 0) => {
            format!(" searching further back … {percent} %")
        }
        (LogSearchProgress::Searching(percent), _) => {
            format!(" {n_found} · searching further back … {percent} %")
        }
        (LogSearchProgress::Loading, _) => " found further back, loading it …".to_owned(),
        (LogSearchProgress::Unreadable, 0) => {
            format!(" no match in the readable part of {name}")
        }
        (LogSearchProgress::Unreadable, _) => format!(" {n_found} in the readable part of {name}"),
    }
}
