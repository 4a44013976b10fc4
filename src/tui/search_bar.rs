//! The search bar for what is open: a tab, a long text or a diff. Each view does its own searching.

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui_textarea::TextArea;

use super::command::ScreenCommand;
use super::keymap::{ComposerFocus, KeyContext};
use super::overlays::{LayerContext, LayerPlace, LayerResponse, OverlayStack, ScreenOverlay};
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

/// The view that is searched: a layer, by its name, or a tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SearchPlace {
    Layer(&'static str),
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

    /// Asks for a search, if the letters have changed since the last call.
    fn search_changed_letters(&mut self) -> LayerResponse {
        let typed = self.text_area.lines().join(" ");
        if typed == self.typed {
            return LayerResponse::used();
        }
        self.typed.clone_from(&typed);
        LayerResponse::SearchChanged(typed)
    }
}

impl ScreenOverlay for SearchBar {
    fn place(&self) -> LayerPlace {
        LayerPlace::ComposerLine
    }

    fn key_context(&self) -> Option<KeyContext> {
        Some(KeyContext::Find)
    }

    fn on_key(&mut self, key: KeyEvent, context: &LayerContext<'_>) -> LayerResponse {
        let keymap = context.keymap();
        if let Some(command) = keymap.find_view_command(&key, KeyContext::Find) {
            return LayerResponse::Command(command);
        }
        if self.on_edit_key(key) {
            return self.search_changed_letters();
        }
        match keymap.find_command(&key, ComposerFocus::Focused) {
            Some(ScreenCommand::Scroll(_)) => LayerResponse::PassedOn,
            // Any other key closes the search bar and is then handled as usual.
            Some(_) | None => LayerResponse::SearchEnded,
        }
    }

    fn on_paste(&mut self, text: &str) -> LayerResponse {
        let text: String = to_one_line(text).chars().take(MAX_PASTE_CHARS).collect();
        self.text_area.insert_str(text);
        self.search_changed_letters()
    }

    /// Draws what is typed, with the position of the current match.
    fn draw(&mut self, frame: &mut Frame, area: Rect, context: &LayerContext<'_>) {
        let mut layers = context.below.iter().rev();
        let view = layers.find_map(|layer| layer.searched());
        let view = view.unwrap_or_else(|| context.tabs.get(context.tabs.view.focused()));
        let (at, n) = view.match_position(context.state);
        let place = if self.typed.is_empty() {
            format!(" in {}", view.searched_name())
        } else {
            match_position_label(at, n, view.searched_name(), view.search_progress())
        };
        let columns = usize::from(area.width);
        let head = truncate_to_columns(&format!("find: {}", self.typed), columns.saturating_sub(1));
        let before: String = self.typed.chars().take(self.text_area.cursor().1).collect();
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

impl OverlayStack {
    /// Opens the search bar for the view in front.
    pub fn open_search(&mut self, tabs: &mut ScreenTabs) {
        self.close_search(tabs);
        self.open(SearchBar {
            typed: String::new(),
            text_area: TextArea::default(),
            place: self.search_place(tabs),
        });
        self.searched_view(tabs).begin_search();
    }

    /// Returns where the view in front is that can be searched.
    fn search_place(&self, tabs: &ScreenTabs) -> SearchPlace {
        let view = self.top_down().find_map(ScreenOverlay::searched);
        view.map_or(SearchPlace::Tab(tabs.view.focused()), |view| {
            SearchPlace::Layer(view.searched_name())
        })
    }

    /// Returns the view in front that can be searched.
    fn searched_view<'a>(&'a mut self, tabs: &'a mut ScreenTabs) -> &'a mut dyn SearchableView {
        let view = self.top_down_mut().find_map(|layer| layer.searched_mut());
        view.unwrap_or_else(|| tabs.focused())
    }

    /// Closes the search bar if another view is open by now.
    pub fn close_stale_search(&mut self, tabs: &mut ScreenTabs) {
        let place = self.search_place(tabs);
        if self
            .find()
            .is_some_and(|bar: &SearchBar| bar.place != place)
        {
            self.close_search(tabs);
        }
    }

    /// Closes the search bar and ends the search; the view stays.
    pub fn close_search(&mut self, tabs: &mut ScreenTabs) {
        if self.close::<SearchBar>() {
            tabs.end_search();
            let views = self.top_down_mut().filter_map(|layer| layer.searched_mut());
            views.for_each(SearchableView::end_search);
        }
    }

    /// Searches the view for the letters in the search bar.
    pub fn search(&mut self, letters: &str, tabs: &mut ScreenTabs) {
        self.searched_view(tabs).search(letters);
    }

    /// Goes to another match, or closes the search bar.
    pub fn perform_search_step(
        &mut self,
        step: SearchStep,
        tabs: &mut ScreenTabs,
        state: Option<&RunState>,
    ) {
        self.close_stale_search(tabs);
        if !self.has::<SearchBar>() {
            return;
        }
        let view = self.searched_view(tabs);
        match step {
            SearchStep::Next => view.step_match(!view.starts_at_end(), state),
            SearchStep::Up => view.step_match(false, state),
            SearchStep::Down => view.step_match(true, state),
            SearchStep::Accept => view.accept_match(),
            SearchStep::Cancel => view.cancel_search(),
        }
        if matches!(step, SearchStep::Accept | SearchStep::Cancel) {
            self.close_search(tabs);
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
