//! The tabs of the screen.
//!
//! A new tab is a file with its [`ScreenTab`], its `mod` line and its line in the list of `tab_kind`. All else reads
//! this list: the bar, `/tab NAME`, switching, search, copying, the palette. A key of its own is a row of `command_rows`.

pub mod chat;
pub mod comments;
pub mod log;
pub mod plan;
pub mod screen_tab;
pub mod status;

use std::collections::BTreeSet;

use ratatui::layout::Rect;

use super::dialog::ChoiceDialog;
use super::dialog::dialog_size::fits_above;
use super::document_texts::DisplayDocuments;
use super::tab_kind::{TabKind, for_each_tab};
use crate::domain::event::Event;
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::run::RunState;
use screen_tab::ScreenTab;
pub use screen_tab::TabHints;

const POINT_HINT: (&[&str], &str) = (&["previous-block", "next-block"], "select");

/// The window width from which a second pane is shown.
pub const WIDE: u16 = 160;
/// The width of the sidebar, with its padding.
pub const SIDEBAR_COLUMNS: u16 = 40;
/// The window width from which the sidebar is shown.
pub const MIN_SIDEBAR_COLUMNS: u16 = 140;
/// The window width from which the sidebar and a second pane are shown.
pub const MIN_COLUMNS_OF_BOTH: u16 = 190;

/// Declares the state of the tabs from their list.
macro_rules! screen_tabs {
    ($($name:ident $info:tt $field:ident: $type:ty,)*) => {
        /// All tabs with their state, and how they are shown.
        #[derive(Debug, Default)]
        pub struct ScreenTabs {
            $(pub $field: $type,)*
            pub view: TabView,
        }

        impl ScreenTabs {
            pub fn get(&self, tab: TabKind) -> &dyn ScreenTab {
                match tab {
                    $(TabKind::$name => &self.$field,)*
                }
            }

            /// Returns a tab, to change it.
            pub fn get_mut(&mut self, tab: TabKind) -> &mut dyn ScreenTab {
                match tab {
                    $(TabKind::$name => &mut self.$field,)*
                }
            }
        }
    };
}

for_each_tab!(screen_tabs);

#[cfg(test)]
mod tests;

/// Which tabs are shown, and which of two panes has the keys.
#[derive(Debug, Default)]
pub struct TabView {
    /// The tab of the main pane.
    pub shown: TabKind,
    /// Folded tabs that the user has opened.
    pub unfolded: BTreeSet<TabKind>,
    pub side_pane: SidePaneKind,
    pub pane_focus: PaneFocus,
    /// Where the last frame showed the second pane, and its tab.
    pub side_area: Option<(Rect, TabKind)>,
    /// Which revision of each tab the user has seen.
    seen: SeenTabRevisions,
}

/// What the user wants beside the tab, where there is room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SidePaneKind {
    /// The sidebar, and in a very wide window also a document.
    #[default]
    Sidebar,
    /// A document alone.
    Document,
    Hidden,
}

impl SidePaneKind {
    /// Switches to the next one that a window of this width has room for.
    pub fn cycle(&mut self, columns: u16) {
        *self = match self {
            Self::Sidebar if columns >= WIDE => Self::Document,
            Self::Sidebar | Self::Document => Self::Hidden,
            Self::Hidden => Self::Sidebar,
        };
    }
}

/// Which of two panes has the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PaneFocus {
    /// The pane of the current tab.
    #[default]
    Main,
    Side,
}

/// The revision of each tab when it was last visible.
#[derive(Debug, Default)]
struct SeenTabRevisions([u64; TabKind::ALL.len()]);

impl TabView {
    /// Returns the tab that the keys apply to: the current tab, or the second pane's if it has the keys.
    pub fn focused(&self) -> TabKind {
        match self.side_area {
            Some((_, tab)) if self.pane_focus == PaneFocus::Side => tab,
            Some(_) | None => self.shown,
        }
    }

    /// Returns the tab of the second pane in the last frame.
    pub fn side_tab(&self) -> Option<TabKind> {
        self.side_area.map(|(_, tab)| tab)
    }

    /// Returns whether the bar shows the tab's title.
    pub fn is_open(&self, tab: TabKind) -> bool {
        !tab.is_folded_at_first() || self.unfolded.contains(&tab) || self.shown == tab
    }

    /// Shows a tab. A tab that folds is folded again, unless something covered it.
    pub fn show(&mut self, tab: TabKind, was_covered: bool) {
        if tab.is_folded_at_first() && self.shown == tab && !was_covered {
            self.unfolded.remove(&tab);
            self.shown = TabKind::default();
            return;
        }
        if tab.is_folded_at_first() {
            self.unfolded.insert(tab);
        }
        self.shown = tab;
    }

    /// Shows the tab that many places further on; the ends meet.
    pub fn step(&mut self, by: isize) {
        let all = TabKind::ALL.iter().copied();
        let open = |tab: &TabKind| !tab.is_folded_at_first() || self.unfolded.contains(tab);
        let open: Vec<TabKind> = all.filter(open).collect();
        let at = open.iter().position(|tab| *tab == self.shown).unwrap_or(0);
        let next = at
            .checked_add_signed(by)
            .unwrap_or(open.len().saturating_sub(1));
        self.shown = open.get(next).copied().unwrap_or_default();
    }

    /// Records that a tab is visible with this revision.
    pub fn record_seen(&mut self, tab: TabKind, revision: u64) {
        if let Some(seen) = self.seen.0.get_mut(tab.index()) {
            *seen = revision;
        }
    }

    /// Returns whether the tab has changed since it was last visible.
    pub fn has_unseen_changes(&self, tab: TabKind, revision: u64) -> bool {
        let seen = self.seen.0.get(tab.index());
        seen.is_some_and(|seen| *seen != revision)
    }
}

impl ScreenTabs {
    /// Returns the tab that the keys apply to.
    pub fn focused(&mut self) -> &mut dyn ScreenTab {
        self.get_mut(self.view.focused())
    }

    /// Returns the heading of the current tab's actions, and their names.
    pub fn shown_actions(&self) -> (String, Vec<&'static str>) {
        let hints = self.get(self.view.shown).actions();
        let names = hints.iter().flat_map(|(names, _)| names.iter().copied());
        (format!("In {}", self.view.shown.title()), names.collect())
    }

    /// Applies a recorded event, live or replayed.
    pub fn on_event(&mut self, at: UnixMillis, event: &Event) {
        for tab in TabKind::ALL {
            self.get_mut(*tab).on_event(at, event);
        }
    }

    /// Returns the tab of the second pane: beside the chat, the document that the run is working on; beside a
    /// document, the other one.
    pub fn tab_beside(
        &self,
        columns: u16,
        documents: &DisplayDocuments,
        state: Option<&RunState>,
    ) -> Option<TabKind> {
        let least = match self.view.side_pane {
            SidePaneKind::Sidebar => MIN_COLUMNS_OF_BOTH,
            SidePaneKind::Document => WIDE,
            SidePaneKind::Hidden => return None,
        };
        if columns < least {
            return None;
        }
        let phase = state?.phase;
        let comments = documents.comments.text.as_ref().map(|_| TabKind::Comments);
        let plan = documents.plan.text.as_ref().map(|_| TabKind::Plan);
        match self.view.shown {
            TabKind::Chat if self.chat.arrangement == chat::ChatArrangement::SideBySide => None,
            TabKind::Chat if phase == Phase::Respond => comments.or(plan),
            TabKind::Chat | TabKind::Comments => plan,
            TabKind::Plan if self.plan.view.compared_version().is_some() => None,
            TabKind::Plan => comments,
            _ => None,
        }
    }

    /// Returns whether the sidebar is shown in a window of this width.
    pub fn has_sidebar(&self, columns: u16, state: Option<&RunState>) -> bool {
        let reads_run = matches!(
            self.view.shown,
            TabKind::Chat | TabKind::Plan | TabKind::Comments
        );
        let is_wanted = self.view.side_pane == SidePaneKind::Sidebar;
        let has_facts = state.is_some_and(|state| state.goal.is_some());
        let has_two_columns = self.view.shown == TabKind::Chat
            && self.chat.arrangement == chat::ChatArrangement::SideBySide;
        let least = if has_two_columns {
            WIDE + SIDEBAR_COLUMNS
        } else {
            MIN_SIDEBAR_COLUMNS
        };
        is_wanted && reads_run && has_facts && columns >= least
    }

    /// Returns the visible tabs whose texts a dialog need not repeat. The chat is scrolled, and a filter of Comments may
    /// hide findings.
    pub fn readable_tabs(&self, beside: Option<TabKind>) -> impl Iterator<Item = TabKind> {
        let shown = [Some(self.view.shown), beside].into_iter().flatten();
        let lists_residual = self.comments.selection.lists_residual();
        shown.filter(move |tab| match tab {
            TabKind::Chat => false,
            TabKind::Comments => lists_residual,
            _ => true,
        })
    }

    /// Returns how many rows the plan has, as the last frame laid it out.
    pub fn plan_row_count(&mut self) -> usize {
        self.plan.page().map_or(0, |page| page.row_count())
    }

    /// Drops from a dialog what also stands in the tabs that are read beside it.
    pub fn without_text_in_view(
        &mut self,
        mut sheet: ChoiceDialog,
        beside: Option<TabKind>,
        window: Rect,
    ) -> ChoiceDialog {
        let readable: Vec<TabKind> = self.readable_tabs(beside).collect();
        for tab in readable {
            let less = sheet.clone().without_text_of_tab(tab);
            // The steps of a plan that is not in view as a whole stay in the dialog.
            if tab != TabKind::Plan || fits_above(self.plan_row_count(), &less, window) {
                sheet = less;
            }
        }
        sheet
    }

    /// Marks all tabs as seen.
    pub fn mark_all_seen(&mut self, documents: &DisplayDocuments) {
        for tab in TabKind::ALL {
            let revision = self.get(*tab).revision(documents);
            self.view.record_seen(*tab, revision);
        }
    }

    /// Ends the search in every tab.
    pub fn end_search(&mut self) {
        for tab in TabKind::ALL {
            self.get_mut(*tab).end_search();
        }
    }
}
