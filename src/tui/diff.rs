//! The view of what a run changed: all of it or one step at a time, over the whole height of the tabs.
//!
//! Lays out what is visible and nothing else. Refuses to know where a diff comes from: it asks for one
//! and shows that it waits.

mod body;
mod does;
mod drawing;
mod line;
mod strip;

use std::collections::BTreeMap;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::theme;
use super::wrap::{cut, wrap_text};
use crate::domain::diff_scope::DiffScope;
use crate::text::unified_diff::UnifiedDiff;
use body::Body;
pub use body::Spot;
pub use does::Does;
pub use line::begins;

/// What came of a look at changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Diff {
    /// These changes.
    Found(UnifiedDiff),
    /// None, and why.
    Nothing(String),
    /// They cannot be shown, and why.
    Failed(String),
}

/// The open view.
#[derive(Debug)]
pub struct DiffView {
    scope: DiffScope,
    /// What can be chosen, in order.
    scopes: Vec<DiffScope>,
    shown: BTreeMap<DiffScope, Shown>,
    /// Rows and columns of the text in the last frame.
    size: (usize, usize),
}

#[derive(Debug)]
enum Shown {
    Looking,
    Nothing(String),
    Failed(String),
    Body(Box<Body>),
}

impl DiffView {
    /// Opens the view while its first diff is looked for.
    pub fn open(scope: DiffScope) -> Self {
        Self {
            scope,
            scopes: vec![scope],
            shown: BTreeMap::from([(scope, Shown::Looking)]),
            size: (0, 0),
        }
    }

    /// Takes in what came of a look, and what else can be looked at.
    pub fn take(&mut self, scope: DiffScope, scopes: Vec<DiffScope>, diff: Diff) {
        self.scopes = scopes;
        if !self.scopes.contains(&self.scope) {
            self.scopes.push(self.scope);
        }
        let shown = match diff {
            Diff::Found(patch) => Shown::Body(Box::new(Body::new(patch))),
            Diff::Nothing(why) => Shown::Nothing(why),
            Diff::Failed(why) => Shown::Failed(why),
        };
        self.shown.insert(scope, shown);
    }

    /// Shows a diff of the strip; gives it where it has to be looked for.
    pub fn choose(&mut self, scope: DiffScope) -> Option<DiffScope> {
        self.scope = scope;
        if self.shown.contains_key(&scope) {
            return None;
        }
        self.shown.insert(scope, Shown::Looking);
        Some(scope)
    }

    /// Moves to another diff; gives it where it has to be looked for.
    pub fn step(&mut self, does: Does) -> Option<DiffScope> {
        let n = self.scopes.len();
        let at = self.scopes.iter().position(|scope| *scope == self.scope);
        let at = at.unwrap_or(0);
        let next = match does {
            Does::Left => (at + n - 1) % n,
            Does::Right => (at + 1) % n,
            _ => at,
        };
        self.scope = self.scopes.get(next).copied().unwrap_or(self.scope);
        if does != Does::Again && self.shown.contains_key(&self.scope) {
            return None;
        }
        self.shown.insert(self.scope, Shown::Looking);
        Some(self.scope)
    }

    /// Moves the text.
    pub fn scroll(&mut self, does: Does) {
        let size = self.size;
        if let Some(Shown::Body(body)) = self.shown.get_mut(&self.scope) {
            body.scroll(does, size);
        }
    }

    /// Where the text stands, where there is one.
    pub fn stand(&self) -> Option<Spot> {
        match self.shown.get(&self.scope)? {
            Shown::Body(body) => Some(body.stand()),
            Shown::Looking | Shown::Nothing(_) | Shown::Failed(_) => None,
        }
    }

    /// Looks for letters in the text from where it stood on; with none it stands there again.
    pub fn look_for(&mut self, letters: &str, from: Option<Spot>) {
        let size = self.size;
        if let Some(Shown::Body(body)) = self.shown.get_mut(&self.scope) {
            body.look_for(letters, from.unwrap_or_default(), size);
        }
    }

    /// Goes to the next line that has what is looked for, or the one before.
    pub fn look_along(&mut self, is_next: bool) {
        let size = self.size;
        if let Some(Shown::Body(body)) = self.shown.get_mut(&self.scope) {
            body.look_along(is_next, size);
        }
    }

    /// Looks for nothing any more, and stays.
    pub fn end_looking(&mut self) {
        for shown in self.shown.values_mut() {
            if let Shown::Body(body) = shown {
                body.look_for("", body.stand(), self.size);
            }
        }
    }

    /// Which line of how many that have it is at hand, from 1.
    pub fn place_of_found(&self) -> (usize, usize) {
        match self.shown.get(&self.scope) {
            Some(Shown::Body(body)) => body.place_of_found(),
            Some(Shown::Looking | Shown::Nothing(_) | Shown::Failed(_)) | None => (0, 0),
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
        (waits, back): (Option<&str>, &str),
    ) -> Vec<(Rect, DiffScope)> {
        let columns = usize::from(area.width);
        let row = |n: u16| Rect {
            y: area.y.saturating_add(n),
            height: u16::from(n < area.height),
            ..area
        };
        let strip = strip::lay_out(&self.scopes, self.scope, (waits, back), columns);
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
        let places = strip.places.into_iter().map(place).collect();
        let about = match title {
            Some(title) => format!("{}: {title}", self.scope.describe()),
            None => self.scope.describe(),
        };
        frame.render_widget(Line::styled(cut(&about, columns), theme::QUIET), row(1));
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
        let (text, style) = match self.shown.get_mut(&self.scope) {
            Some(Shown::Body(body)) => {
                self.size = (rows.saturating_sub(1).max(1), columns);
                return body.draw(frame, area);
            }
            Some(Shown::Looking) | None => ("looking …", theme::QUIET),
            Some(Shown::Nothing(why)) => (why.as_str(), theme::PLAIN),
            Some(Shown::Failed(why)) => (why.as_str(), theme::BAD),
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
        match self.shown.get(&self.scope)? {
            Shown::Body(body) => Some(body.text()),
            Shown::Looking | Shown::Nothing(_) | Shown::Failed(_) => None,
        }
    }

    /// Which diff is chosen.
    pub fn scope(&self) -> DiffScope {
        self.scope
    }
}
