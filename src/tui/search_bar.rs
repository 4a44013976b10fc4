//! The search bar for what is open: a tab, a long text or a diff. Each view does its own searching.

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui_textarea::TextArea;

use super::command::ScreenCommand;
use super::keymap::{ActiveKeymap, ComposerFocus, KeyContext};
use super::overlays::OverlayStack;
use super::searchable_view::SearchableView;
use super::tab_kind::TabKind;
use super::tabs::ScreenTabs;
use super::text_wrap::{draw_line, text_width, to_one_line, truncate_to_columns};
use super::theme;
use super::transcript::LogSearchProgress;
use super::view_moves::SearchStep;
use crate::domain::run::RunState;

/// How many characters of a pasted text are used.
const MAX_PASTE_CHARS: usize = 100;

/// The open search bar.
#[derive(Debug)]
pub struct SearchBar {
    typed: String,
    text_area: TextArea<'static>,
    place: SearchPlace,
}

/// The view that is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SearchPlace {
    Text,
    /// A child's session in the pager.
    Session,
    Diff,
    Tab(TabKind),
}

impl SearchBar {
    /// Handles a key that edits the letters; returns whether it did.
    fn on_edit_key(&mut self, key: KeyEvent) -> bool {
        let is_plain = key.modifiers - KeyModifiers::SHIFT == KeyModifiers::NONE;
        let is_ctrl = key.modifiers == KeyModifiers::CONTROL;
        let _changed = match key.code {
            KeyCode::Char('u') if is_ctrl => self.text_area.delete_line_by_head(),
            KeyCode::Char('w') if is_ctrl => self.text_area.delete_word(),
            KeyCode::Char(c) if is_plain && !c.is_control() => self.text_area.input(key),
            KeyCode::Backspace
            | KeyCode::Delete
            | KeyCode::Left
            | KeyCode::Right
            | KeyCode::Home
            | KeyCode::End => self.text_area.input(key),
            _ => return false,
        };
        true
    }

    /// Returns the letters if they have changed since the last call.
    fn take_change(&mut self) -> Option<String> {
        let typed = self.text_area.lines().join(" ");
        (typed != self.typed).then(|| {
            self.typed.clone_from(&typed);
            typed
        })
    }
}

impl OverlayStack {
    /// Opens the search bar for the view in front.
    pub fn open_search(&mut self, tabs: &mut ScreenTabs) {
        self.close_search(tabs);
        self.search = Some(SearchBar {
            typed: String::new(),
            text_area: TextArea::default(),
            place: self.search_place(tabs),
        });
        if let Some(view) = self.searched_view(tabs) {
            view.begin_search();
        }
    }

    /// Returns the view in front that can be searched.
    fn search_place(&self, tabs: &ScreenTabs) -> SearchPlace {
        match (&self.pager, &self.diff) {
            (Some(pager), _) if pager.session().is_some() => SearchPlace::Session,
            (Some(_), _) => SearchPlace::Text,
            (None, Some(_)) => SearchPlace::Diff,
            (None, None) => SearchPlace::Tab(tabs.view.focused()),
        }
    }

    /// Returns the view that the open search bar searches.
    fn searched_view<'a>(
        &'a mut self,
        tabs: &'a mut ScreenTabs,
    ) -> Option<&'a mut dyn SearchableView> {
        Some(match self.search.as_ref()?.place {
            SearchPlace::Text | SearchPlace::Session => self.pager.as_mut()?,
            SearchPlace::Diff => self.diff.as_mut()?,
            SearchPlace::Tab(tab) => tabs.get_mut(tab),
        })
    }

    /// Closes the search bar if another view is open by now.
    pub fn close_stale_search(&mut self, tabs: &mut ScreenTabs) {
        let place = self.search_place(tabs);
        if self.search.as_ref().is_some_and(|bar| bar.place != place) {
            self.close_search(tabs);
        }
    }

    /// Closes the search bar and ends the search; the view stays.
    pub fn close_search(&mut self, tabs: &mut ScreenTabs) {
        if self.search.take().is_none() {
            return;
        }
        tabs.end_search();
        if let Some(pager) = &mut self.pager {
            pager.end_search();
        }
        if let Some(diff) = &mut self.diff {
            diff.end_search();
        }
    }

    /// Passes a key to the search bar; returns whether it used the key.
    pub fn on_search_key(
        &mut self,
        key: KeyEvent,
        keymap: &ActiveKeymap,
        tabs: &mut ScreenTabs,
        state: Option<&RunState>,
    ) -> bool {
        self.close_stale_search(tabs);
        let Some(bar) = &mut self.search else {
            return false;
        };
        if let Some(ScreenCommand::SearchAction(step)) =
            keymap.find_view_command(&key, KeyContext::Find)
        {
            self.perform_search_step(step, tabs, state);
            return true;
        }
        if !bar.on_edit_key(key) {
            let command = keymap.find_command(&key, ComposerFocus::Focused);
            if !matches!(command, Some(ScreenCommand::Scroll(_))) {
                // Any other key closes the search bar and is then handled as usual.
                self.close_search(tabs);
            }
            return false;
        }
        self.update_search(tabs);
        true
    }

    /// Pastes a text into the search bar; returns whether it is open.
    pub fn paste_into_search(&mut self, text: &str, tabs: &mut ScreenTabs) -> bool {
        let Some(bar) = &mut self.search else {
            return false;
        };
        let text: String = to_one_line(text).chars().take(MAX_PASTE_CHARS).collect();
        bar.text_area.insert_str(text);
        self.update_search(tabs);
        true
    }

    /// Searches again if the letters have changed.
    fn update_search(&mut self, tabs: &mut ScreenTabs) {
        let changed = self.search.as_mut().and_then(SearchBar::take_change);
        if let Some(letters) = changed
            && let Some(view) = self.searched_view(tabs)
        {
            view.search(&letters);
        }
    }

    /// Goes to another match, or closes the search bar.
    pub fn perform_search_step(
        &mut self,
        step: SearchStep,
        tabs: &mut ScreenTabs,
        state: Option<&RunState>,
    ) {
        let Some(view) = self.searched_view(tabs) else {
            return;
        };
        match step {
            SearchStep::Next => view.step_match(!view.starts_at_end(), state),
            SearchStep::Up => view.step_match(false, state),
            SearchStep::Down => view.step_match(true, state),
            SearchStep::Accept => {
                view.accept_match();
                self.close_search(tabs);
            }
            SearchStep::Cancel => {
                view.cancel_search();
                self.close_search(tabs);
            }
        }
    }

    /// Draws the search bar, with the position of the current match.
    pub fn draw_search_bar(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        tabs: &mut ScreenTabs,
        state: Option<&RunState>,
    ) {
        let Some(view) = self.searched_view(tabs) else {
            return;
        };
        let ((at, n), name) = (view.match_position(state), view.searched_name());
        let progress = view.search_progress();
        let Some(bar) = &self.search else {
            return;
        };
        let place = if bar.typed.is_empty() {
            format!(" in {name}")
        } else {
            match_position_label(at, n, name, progress)
        };
        let columns = usize::from(area.width);
        let head = truncate_to_columns(&format!("find: {}", bar.typed), columns.saturating_sub(1));
        let before: String = bar.typed.chars().take(bar.text_area.cursor().1).collect();
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
