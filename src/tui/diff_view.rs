//! The view of a run's changes, all of them or step by step, over the whole height of the tabs.
//!
//! Lays out only what is visible. It does not compute diffs: it requests one and shows that it is loading.

mod diff_body;
mod diff_footer;
mod diff_line;
mod diff_panel;
mod diff_view_actions;
mod file_list;
mod scope_strip;

use std::collections::BTreeMap;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::markdown::to_plain_line;
use super::scroll_view::ScrollView;
use super::searchable_view::SearchableView;
use super::text_wrap::{truncate_to_columns, wrap_text};
use super::theme;
use super::view_area::{split_bottom, split_right};
use crate::domain::diff_scope::DiffScope;
use crate::domain::run::RunState;
use crate::text::unified_diff::UnifiedDiff;
use diff_body::{DiffBody, DiffPosition};
pub use diff_footer::{PositionPlace, position_place};
pub use diff_line::{DiffLineMap, parse_hunk_start};
use diff_panel::DiffSurroundings;
pub use diff_view_actions::DiffAction;
pub use file_list::count_spans;

/// The window width from which the old text can stand beside the new one.
pub const MIN_SIDES_WINDOW_COLUMNS: u16 = diff_body::MIN_SIDES_COLUMNS + 2;

/// From this height on, a blank row lies below the strip of diffs.
const MIN_ROWS_WITH_GAP: u16 = 24;

/// The result of a diff request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffLookup {
    Changes(UnifiedDiff),
    /// There are none, for this reason.
    NoChanges(String),
    /// They cannot be shown, for this reason.
    Failed(String),
}

/// The open diff view.
#[derive(Debug)]
pub struct DiffView {
    scope: DiffScope,
    /// The diffs that can be chosen, in order.
    scopes: Vec<DiffScope>,
    contents: BTreeMap<DiffScope, DiffContent>,
    /// Rows and columns of the text in the last frame.
    size: (usize, usize),
    /// Where the open search began, if a text was shown.
    search_origin: Option<DiffPosition>,
    /// Whether the old text stands beside the new one, where there is room.
    is_side_by_side: bool,
    /// The width of the view in the last frame.
    columns: u16,
    /// The area of each diff in the strip of the last frame.
    hit_areas: Vec<(Rect, DiffScope)>,
    /// The path of the file to go to when the first diff is there.
    wanted_file: Option<String>,
}

#[derive(Debug)]
enum DiffContent {
    Loading,
    NoChanges(String),
    Failed(String),
    Body(Box<DiffBody>),
}

impl SearchableView for DiffView {
    fn searched_page(&self) -> Option<&ScrollView> {
        None
    }

    fn searched_page_mut(&mut self) -> Option<&mut ScrollView> {
        None
    }

    fn begin_search(&mut self) {
        self.search_origin = self.position();
    }

    fn search(&mut self, letters: &str) {
        let (size, origin) = (self.size, self.search_origin.unwrap_or_default());
        if let Some(DiffContent::Body(body)) = self.contents.get_mut(&self.scope) {
            body.search(letters, origin, size);
        }
    }

    fn step_match(&mut self, is_next: bool, _state: Option<&RunState>) {
        let size = self.size;
        if let Some(DiffContent::Body(body)) = self.contents.get_mut(&self.scope) {
            body.step_match(is_next, size);
        }
    }

    fn match_position(&self, _state: Option<&RunState>) -> (usize, usize) {
        match self.contents.get(&self.scope) {
            Some(DiffContent::Body(body)) => body.match_position(),
            Some(DiffContent::Loading | DiffContent::NoChanges(_) | DiffContent::Failed(_))
            | None => (0, 0),
        }
    }

    fn searched_name(&self) -> &'static str {
        "this diff"
    }

    fn cancel_search(&mut self) {
        self.search("");
    }

    fn end_search(&mut self) {
        for shown in self.contents.values_mut() {
            if let DiffContent::Body(body) = shown {
                body.search("", body.position(), self.size);
            }
        }
    }
}

impl DiffView {
    /// Opens the view; its first diff is still loading.
    pub fn open(scope: DiffScope) -> Self {
        Self {
            scope,
            scopes: vec![scope],
            contents: BTreeMap::from([(scope, DiffContent::Loading)]),
            size: (0, 0),
            search_origin: None,
            is_side_by_side: false,
            columns: 0,
            hit_areas: Vec::new(),
            wanted_file: None,
        }
    }

    /// Returns the view that goes to a file as soon as its diff is there.
    pub fn with_file(mut self, path: String) -> Self {
        self.wanted_file = Some(path);
        self
    }

    fn click_file(&mut self, at: Position) {
        if let Some(DiffContent::Body(body)) = self.contents.get_mut(&self.scope) {
            body.click(at);
        }
    }

    /// Stores the result of a request and the other diffs that can be chosen.
    pub fn set_diff(&mut self, scope: DiffScope, scopes: Vec<DiffScope>, diff: DiffLookup) {
        self.scopes = scopes;
        if !self.scopes.contains(&self.scope) {
            self.scopes.push(self.scope);
        }
        let shown = match diff {
            DiffLookup::Changes(patch) => {
                let mut body = DiffBody::new(patch);
                if let Some(path) = self.wanted_file.take_if(|_| scope == self.scope) {
                    body.go_to_path(&path);
                }
                DiffContent::Body(Box::new(body))
            }
            DiffLookup::NoChanges(why) => DiffContent::NoChanges(why),
            DiffLookup::Failed(why) => DiffContent::Failed(why),
        };
        self.contents.insert(scope, shown);
    }

    /// Shows a diff of the strip; returns it if it has to be loaded.
    pub fn choose_scope(&mut self, scope: DiffScope) -> Option<DiffScope> {
        self.scope = scope;
        if self.contents.contains_key(&scope) {
            return None;
        }
        self.contents.insert(scope, DiffContent::Loading);
        Some(scope)
    }

    /// Moves to another diff; returns it if it has to be loaded.
    pub fn step_scope(&mut self, does: DiffAction) -> Option<DiffScope> {
        let n = self.scopes.len();
        let at = self.scopes.iter().position(|scope| *scope == self.scope);
        let at = at.unwrap_or(0);
        let next = match does {
            DiffAction::PreviousDiff => (at + n - 1) % n,
            DiffAction::NextDiff => (at + 1) % n,
            _ => at,
        };
        self.scope = self.scopes.get(next).copied().unwrap_or(self.scope);
        if does != DiffAction::Reload && self.contents.contains_key(&self.scope) {
            return None;
        }
        self.contents.insert(self.scope, DiffContent::Loading);
        Some(self.scope)
    }

    /// Shows the old text beside the new one, or below it again.
    ///
    /// # Errors
    /// The message that there is no room for it.
    pub fn toggle_side_by_side(&mut self) -> Result<(), String> {
        if self.columns < diff_body::MIN_SIDES_COLUMNS {
            return Err(format!(
                "Side by side needs {MIN_SIDES_WINDOW_COLUMNS} columns"
            ));
        }
        self.is_side_by_side = !self.is_side_by_side;
        Ok(())
    }

    /// Scrolls, or goes to another file.
    pub fn perform_move(&mut self, does: DiffAction) {
        let size = self.size;
        if let Some(DiffContent::Body(body)) = self.contents.get_mut(&self.scope) {
            body.scroll(does, size.0, size.1);
        }
    }

    /// Returns the scroll position, if a text is shown.
    fn position(&self) -> Option<DiffPosition> {
        match self.contents.get(&self.scope)? {
            DiffContent::Body(body) => Some(body.position()),
            DiffContent::Loading | DiffContent::NoChanges(_) | DiffContent::Failed(_) => None,
        }
    }

    /// Draws the strip of diffs with the counts of the chosen one, its title, its visible part, and the position in it
    /// unless the footer has that. Returns the area of each diff in the strip.
    fn draw_parts(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        about: &DiffSurroundings<'_>,
    ) -> Vec<(Rect, DiffScope)> {
        self.columns = area.width;
        let row = |n: u16| Rect {
            y: area.y.saturating_add(n),
            height: u16::from(n < area.height),
            ..area
        };
        let has_gap = about.title.is_some() || area.height >= MIN_ROWS_WITH_GAP;
        let n_above = 1 + u16::from(has_gap);
        let mut text = Rect {
            y: area.y.saturating_add(n_above),
            height: area.height.saturating_sub(n_above),
            ..area
        };
        let last = (about.position == PositionPlace::LastRow).then(|| split_bottom(&mut text, 1));
        self.draw_text(frame, text);
        if let Some(title) = &about.title {
            let title = truncate_to_columns(&to_plain_line(title), usize::from(area.width));
            frame.render_widget(Line::styled(title, theme::QUIET), row(1));
        }
        if let Some(last) = last {
            let room = usize::from(last.width).saturating_sub(1);
            let position = self.describe_position(room).unwrap_or_default();
            frame.render_widget(Line::styled(format!(" {position}"), theme::QUIET), last);
        }
        self.draw_strip(frame, row(0), about)
    }

    /// Draws the strip of diffs and, where a list of files leaves them out, the counts of the chosen one at its right.
    fn draw_strip(
        &self,
        frame: &mut Frame,
        mut row: Rect,
        about: &DiffSurroundings<'_>,
    ) -> Vec<(Rect, DiffScope)> {
        let totals = match self.contents.get(&self.scope) {
            Some(DiffContent::Body(body)) => body.totals_beside_scopes(),
            _ => None,
        };
        let short = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        if let Some(totals) = totals.filter(|totals| totals.width() < usize::from(row.width) / 2) {
            let place = split_right(&mut row, short(totals.width()));
            frame.render_widget(totals, place);
            split_right(&mut row, 2);
        }
        let columns = usize::from(row.width);
        let strip =
            scope_strip::lay_out_strip(&self.scopes, self.scope, about.waits, about.back, columns);
        frame.render_widget(strip.line, row);
        let place = |(from, columns, scope): (usize, usize, DiffScope)| {
            let place = Rect {
                x: row.x.saturating_add(short(from)),
                width: short(columns),
                ..row
            };
            (place.intersection(row), scope)
        };
        strip.hit_areas.into_iter().map(place).collect()
    }

    /// Says which file is shown and how far down it is, in at most `room` columns, if a text is shown.
    pub fn describe_position(&self, room: usize) -> Option<String> {
        match self.contents.get(&self.scope)? {
            DiffContent::Body(body) => Some(body.describe_position(self.size, room)),
            DiffContent::Loading | DiffContent::NoChanges(_) | DiffContent::Failed(_) => None,
        }
    }

    fn draw_text(&mut self, frame: &mut Frame, area: Rect) {
        let rows = usize::from(area.height);
        let columns = usize::from(area.width);
        if rows == 0 || columns == 0 {
            return;
        }
        let (text, style) = match self.contents.get_mut(&self.scope) {
            Some(DiffContent::Body(body)) => {
                self.size = body.draw(frame, area, self.is_side_by_side);
                return;
            }
            Some(DiffContent::Loading) | None => ("reading …", theme::QUIET),
            Some(DiffContent::NoChanges(why)) => (why.as_str(), theme::PLAIN),
            Some(DiffContent::Failed(why)) => (why.as_str(), theme::BAD),
        };
        for (n, line) in wrap_text(text, columns, style)
            .into_iter()
            .take(rows)
            .enumerate()
        {
            let n = u16::try_from(n).unwrap_or(u16::MAX);
            let place = Rect {
                y: area.y.saturating_add(n),
                height: 1,
                ..area
            };
            frame.render_widget(line, place);
        }
    }

    /// Returns the whole text of the shown diff, if there is one.
    pub fn text(&self) -> Option<String> {
        match self.contents.get(&self.scope)? {
            DiffContent::Body(body) => Some(body.to_text()),
            DiffContent::Loading | DiffContent::NoChanges(_) | DiffContent::Failed(_) => None,
        }
    }

    /// Returns the diff, or why there is none; `None` while it is loading.
    pub fn loaded_text(&self) -> Option<String> {
        match self.contents.get(&self.scope)? {
            DiffContent::Loading => None,
            DiffContent::NoChanges(why) | DiffContent::Failed(why) => Some(why.clone()),
            DiffContent::Body(body) => Some(body.to_text()),
        }
    }

    /// Returns the chosen diff.
    pub fn scope(&self) -> DiffScope {
        self.scope
    }
}
