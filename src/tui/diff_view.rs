//! The view of what a run changed: all of it or one step at a time, over the whole height of the tabs.
//!
//! Lays out what is visible and nothing else. Refuses to know where a diff comes from: it asks for one
//! and shows that it waits.

mod diff_body;
mod diff_line;
mod diff_panel;
mod diff_view_actions;
mod scope_strip;

use std::collections::BTreeMap;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::text_wrap::{truncate_to_columns, wrap_text};
use super::theme;
use crate::domain::diff_scope::DiffScope;
use crate::text::unified_diff::UnifiedDiff;
use diff_body::DiffBody;
pub use diff_body::DiffPosition;
pub use diff_line::parse_hunk_start;
pub use diff_view_actions::DiffAction;

/// What came of a look at changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffLookup {
    /// These changes.
    Changes(UnifiedDiff),
    /// None, and why.
    NoChanges(String),
    /// They cannot be shown, and why.
    Failed(String),
}

/// The open view.
#[derive(Debug)]
pub struct DiffView {
    scope: DiffScope,
    /// What can be chosen, in order.
    scopes: Vec<DiffScope>,
    contents: BTreeMap<DiffScope, DiffContent>,
    /// Rows and columns of the text in the last frame.
    size: (usize, usize),
}

#[derive(Debug)]
enum DiffContent {
    Loading,
    NoChanges(String),
    Failed(String),
    Body(Box<DiffBody>),
}

impl DiffView {
    /// Opens the view while its first diff is looked for.
    pub fn open(scope: DiffScope) -> Self {
        Self {
            scope,
            scopes: vec![scope],
            contents: BTreeMap::from([(scope, DiffContent::Loading)]),
            size: (0, 0),
        }
    }

    /// Takes in what came of a look, and what else can be looked at.
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

    /// Shows a diff of the strip; gives it where it has to be looked for.
    pub fn choose_scope(&mut self, scope: DiffScope) -> Option<DiffScope> {
        self.scope = scope;
        if self.contents.contains_key(&scope) {
            return None;
        }
        self.contents.insert(scope, DiffContent::Loading);
        Some(scope)
    }

    /// Moves to another diff; gives it where it has to be looked for.
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

    /// Moves the text.
    pub fn scroll(&mut self, does: DiffAction) {
        let size = self.size;
        if let Some(DiffContent::Body(body)) = self.contents.get_mut(&self.scope) {
            body.scroll(does, size.0, size.1);
        }
    }

    /// Where the text stands, where there is one.
    pub fn position(&self) -> Option<DiffPosition> {
        match self.contents.get(&self.scope)? {
            DiffContent::Body(body) => Some(body.position()),
            DiffContent::Loading | DiffContent::NoChanges(_) | DiffContent::Failed(_) => None,
        }
    }

    /// Looks for letters in the text from where it stood on; with none it stands there again.
    pub fn search(&mut self, letters: &str, from: Option<DiffPosition>) {
        let size = self.size;
        if let Some(DiffContent::Body(body)) = self.contents.get_mut(&self.scope) {
            body.search(letters, from.unwrap_or_default(), size);
        }
    }

    /// Goes to the next line that has what is looked for, or the one before.
    pub fn step_match(&mut self, is_next: bool) {
        let size = self.size;
        if let Some(DiffContent::Body(body)) = self.contents.get_mut(&self.scope) {
            body.step_match(is_next, size);
        }
    }

    /// Looks for nothing any more, and stays.
    pub fn end_search(&mut self) {
        for shown in self.contents.values_mut() {
            if let DiffContent::Body(body) = shown {
                body.search("", body.position(), self.size);
            }
        }
    }

    /// Which line of how many that have it is at hand, from 1.
    pub fn match_position(&self) -> (usize, usize) {
        match self.contents.get(&self.scope) {
            Some(DiffContent::Body(body)) => body.match_position(),
            Some(DiffContent::Loading | DiffContent::NoChanges(_) | DiffContent::Failed(_))
            | None => (0, 0),
        }
    }

    /// Draws the strip of diffs, what the chosen one is, and the visible part of it.
    ///
    /// `title` is the text of the chosen step; `waits` is what needs the user behind the view, `back` the key
    /// that goes there. Gives where each diff of the strip stands.
    pub fn draw(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        title: Option<&str>,
        waits: Option<&str>,
        back: &str,
    ) -> Vec<(Rect, DiffScope)> {
        let columns = usize::from(area.width);
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
        let about = match title {
            Some(title) => format!("{}: {title}", self.scope.describe()),
            None => self.scope.describe(),
        };
        frame.render_widget(
            Line::styled(truncate_to_columns(&about, columns), theme::QUIET),
            row(1),
        );
        let below = Rect {
            y: area.y.saturating_add(2),
            height: area.height.saturating_sub(2),
            ..area
        };
        self.draw_text(frame, below);
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
                self.size = (rows.saturating_sub(1).max(1), columns);
                return body.draw(frame, area);
            }
            Some(DiffContent::Loading) | None => ("looking …", theme::QUIET),
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

    /// All of the diff that is shown, where there is one.
    pub fn text(&self) -> Option<String> {
        match self.contents.get(&self.scope)? {
            DiffContent::Body(body) => Some(body.to_text()),
            DiffContent::Loading | DiffContent::NoChanges(_) | DiffContent::Failed(_) => None,
        }
    }

    /// Which diff is chosen.
    pub fn scope(&self) -> DiffScope {
        self.scope
    }
}
