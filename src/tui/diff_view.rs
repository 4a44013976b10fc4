//! The view of a run's changes, all of them or step by step, over the whole height of the tabs.
//!
//! Lays out only what is visible. It does not compute diffs: it requests one and shows that it is loading.

mod diff_body;
mod diff_line;
mod diff_panel;
mod diff_view_actions;
mod file_list;
mod scope_strip;

use std::collections::BTreeMap;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::markdown::to_plain_line;
use super::scroll_view::ScrollView;
use super::searchable_view::SearchableView;
use super::text_wrap::{truncate_to_columns, wrap_text};
use super::theme;
use crate::domain::diff_scope::DiffScope;
use crate::domain::run::RunState;
use crate::text::capitalize;
use crate::text::unified_diff::UnifiedDiff;
use diff_body::{DiffBody, DiffPosition};
pub use diff_line::{DiffLineMap, parse_hunk_start};
pub use diff_panel::draw_diff_panel;
pub use diff_view_actions::DiffAction;

/// The window width from which the old text can stand beside the new one.
pub const MIN_SIDES_WINDOW_COLUMNS: u16 = diff_body::MIN_SIDES_COLUMNS + 2;

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
        }
    }

    /// Stores the result of a request and the other diffs that can be chosen.
    pub fn set_diff(&mut self, scope: DiffScope, scopes: Vec<DiffScope>, diff: DiffLookup) {
        self.scopes = scopes;
        if !self.scopes.contains(&self.scope) {
            self.scopes.push(self.scope);
        }
        let shown = match diff {
            DiffLookup::Changes(patch) => DiffContent::Body(Box::new(DiffBody::new(patch))),
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

    pub fn scroll(&mut self, does: DiffAction) {
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

    /// Draws the strip of diffs, a description of the chosen one, and its visible part.
    ///
    /// `title` is the text of the chosen step; `waits` is what needs the user behind the view, `back` the key
    /// that goes there. Returns the area of each diff in the strip.
    pub fn draw(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        title: Option<&str>,
        waits: Option<&str>,
        back: &str,
    ) -> Vec<(Rect, DiffScope)> {
        let columns = usize::from(area.width);
        self.columns = area.width;
        let row = |n: u16| Rect {
            y: area.y.saturating_add(n),
            height: u16::from(n < area.height),
            ..area
        };
        let strip = scope_strip::lay_out_strip(&self.scopes, self.scope, waits, back, columns);
        frame.render_widget(strip.line, row(0));
        let short = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        let place = |(from, columns, scope): (usize, usize, DiffScope)| {
            let place = Rect {
                x: area.x.saturating_add(short(from)),
                width: short(columns),
                ..row(0)
            };
            (place.intersection(area), scope)
        };
        let places = strip.hit_areas.into_iter().map(place).collect();
        let scope = capitalize(&self.scope.describe());
        let about = match title {
            Some(title) => format!("{scope}: {title}"),
            None => scope,
        };
        let below = Rect {
            y: area.y.saturating_add(2),
            height: area.height.saturating_sub(2),
            ..area
        };
        self.draw_text(frame, below);
        // Where the totals are depends on the width that was just drawn.
        let totals = match self.contents.get(&self.scope) {
            Some(DiffContent::Body(body)) => body.totals_beside_title(),
            _ => None,
        };
        let totals = totals.filter(|totals| totals.width() + 1 < columns / 2);
        let n_totals = totals.as_ref().map_or(0, |totals| totals.width() + 2);
        let about = to_plain_line(&about);
        frame.render_widget(
            Line::styled(
                truncate_to_columns(&about, columns.saturating_sub(n_totals)),
                theme::QUIET,
            ),
            row(1),
        );
        if let Some(totals) = totals {
            let place = row(1);
            let width = short(totals.width() + 1);
            let place = Rect {
                x: place.right().saturating_sub(width),
                width,
                ..place
            };
            frame.render_widget(totals, place);
        }
        places
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
