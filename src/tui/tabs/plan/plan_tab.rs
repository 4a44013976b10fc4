//! The Plan tab: what selecting, opening and searching mean in it.

use super::draw;
use super::plan_view_state::PlanViewState;
use crate::domain::diff_scope::DiffScope;
use crate::domain::event::Event;
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::plan_execution::{PlanExecution, StepCount};
use crate::domain::plan_thread::UserNote;
use crate::domain::run::RunState;
use crate::tui::document_texts::DisplayDocuments;
use crate::tui::finding_location::is_step_checkbox;
use crate::tui::proof_board::ProofBoard;
use crate::tui::scroll_view::{ScrollTarget, ScrollView};
use crate::tui::searchable_view::SearchableView;
use crate::tui::tab_kind::TabKind;
use crate::tui::tabs::screen_tab::{OpenedEntry, ScreenTab, SelectionStep, TabContext};
use crate::tui::tabs::{POINT_HINT, TabHints};
use crate::tui::view_moves::{ScrollMove, SelectionMove};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};

#[derive(Debug, Default)]
pub struct PlanTab {
    pub page: ScrollView,
    pub view: PlanViewState,
    /// How far the proof of the current step is.
    pub proof_board: ProofBoard,
    /// When the plan was last written or changed, as far as it is recorded.
    pub(super) written_at: Option<UnixMillis>,
}

impl PlanTab {
    /// Returns the selected line of the plan, from 1, and its text.
    pub fn selected_line(&self, documents: &DisplayDocuments) -> Option<(u32, String)> {
        let at = self.view.selected_line()?;
        let text = documents.plan.text.as_ref()?.lines().nth(at)?;
        Some((u32::try_from(at).ok()?.checked_add(1)?, text.to_owned()))
    }

    /// Selects the first visible line.
    pub fn select_first_visible_line(&mut self) {
        if let Some(line) = self.page.first_visible_line() {
            self.view.select_line(line);
        }
    }

    /// Unfolds the finished steps if their row is selected or nothing is; returns whether it did.
    fn unfold_steps(&mut self) -> bool {
        let first = match self.view.selected_line() {
            Some(line) => Some(line).filter(|line| self.page.is_folded(*line)),
            None => self.page.first_fold(),
        };
        if let Some(line) = first {
            self.view.unfold();
            self.page.scroll_to(ScrollTarget::Line(line));
        }
        first.is_some()
    }
}

impl SearchableView for PlanTab {
    fn searched_page(&self) -> Option<&ScrollView> {
        Some(&self.page)
    }

    fn searched_page_mut(&mut self) -> Option<&mut ScrollView> {
        Some(&mut self.page)
    }

    fn searched_name(&self) -> &'static str {
        TabKind::Plan.title()
    }

    fn accept_match(&mut self) {
        if let Some(ScrollTarget::Line(line)) = self.page.match_target() {
            self.view.select_line(line);
        }
    }
}

impl ScreenTab for PlanTab {
    fn hints(&self) -> TabHints {
        match self.view.compared_version() {
            Some(_) => COMPARISON_HINTS,
            None => PLAN_HINTS,
        }
    }

    fn entries_label(&self) -> &'static str {
        "lines"
    }

    fn is_hint_useful(&self, label: &str, context: &TabContext<'_>) -> bool {
        let has_execution = || context.state.is_some_and(|state| state.execution.is_some());
        match label {
            _ if context.documents.plan.text.is_none() => false,
            "compare" => !context.documents.plan_versions.is_empty(),
            "its diff" => has_execution(),
            _ => true,
        }
    }

    fn on_event(&mut self, at: UnixMillis, event: &Event) {
        self.proof_board.on_event(at, event);
        match event {
            // From here on the user wants to see what the steps do.
            Event::PhaseChanged {
                to: Phase::Execute, ..
            } => {
                self.view.close_comparison();
            }
            Event::PlanCommitted { .. }
            | Event::PlanEdited { .. }
            | Event::ResponseCommitted { plan: Some(_), .. } => self.written_at = Some(at),
            _ => {}
        }
    }

    fn revision(&self, documents: &DisplayDocuments) -> u64 {
        documents.plan.revision
    }

    fn count(&self, state: &RunState) -> String {
        if state.execution.is_none() {
            return String::new();
        }
        let StepCount { done, all } = state.step_count();
        format!(" {done}/{all}")
    }

    fn page(&mut self) -> Option<&mut ScrollView> {
        Some(&mut self.page)
    }

    // Its text is not wider than that of other tabs, but the version is at the right edge.
    fn page_area(&self, area: Rect) -> Rect {
        area
    }

    fn draw(&mut self, frame: &mut Frame, area: Rect, context: &TabContext<'_>, now: UnixMillis) {
        self.page.set_page_keys(context.page_keys());
        draw(self, frame, area, context, now);
    }

    fn scroll(&mut self, to: ScrollMove, _page_rows: u16) {
        if to == ScrollMove::End {
            let _was_open = self.view.fold();
        }
        self.page.scroll(to);
    }

    fn entry_filter(&self) -> fn(ScrollTarget) -> bool {
        |mark| matches!(mark, ScrollTarget::Line(_))
    }

    fn selected_entry(&self, _context: &TabContext<'_>) -> Option<ScrollTarget> {
        self.view.selected_line().map(ScrollTarget::Line)
    }

    fn select(&mut self, mark: ScrollTarget) {
        if let ScrollTarget::Line(line) = mark {
            self.view.select_line(line);
        }
    }

    fn select_adjacent(&mut self, along: SelectionMove, context: &TabContext<'_>) -> SelectionStep {
        let Some(text) = &context.documents.plan.text else {
            return SelectionStep::Empty("No plan to select a line of yet.");
        };
        let is_next = along.is_forward();
        let line = match (self.view.compared_version(), along) {
            (Some(_), SelectionMove::NextTurn | SelectionMove::PreviousTurn) => {
                self.view.choose_version(is_next, context.documents);
                None
            }
            // A comparison does not contain every line of the plan.
            (Some(_), _) => {
                let lines = self.page.document_lines();
                self.view.move_selection_among(is_next, &lines)
            }
            (None, _) => {
                let hidden = |line| self.page.is_hidden(line);
                self.view.move_selection(is_next, text, hidden)
            }
        };
        let Some(mark) = line.map(ScrollTarget::Line) else {
            return SelectionStep::AtEdge;
        };
        self.page.scroll_to(mark);
        SelectionStep::Selected(mark)
    }

    fn follow_selection_beside(&mut self, mark: ScrollTarget) {
        // The line of a finding.
        self.page.scroll_to(mark);
    }

    fn clear_selection(&mut self, _context: &TabContext<'_>) -> bool {
        self.view.clear_selection() || self.view.close_comparison() || self.view.fold()
    }

    fn click(&mut self, at: Position) -> bool {
        let Some(ScrollTarget::Line(line)) = self.page.target_at(at) else {
            return false;
        };
        let was = self.view.selected_line() == Some(line);
        self.view.select_line(line);
        was
    }

    fn open_selection(&mut self, context: &TabContext<'_>) -> OpenedEntry {
        if self.unfold_steps() {
            return OpenedEntry::InPlace;
        }
        if self.view.selected_line().is_none() {
            return OpenedEntry::NoList;
        }
        let execution = context.state.and_then(|state| state.execution.as_ref());
        let scopes = execution
            .map(PlanExecution::diff_scopes)
            .unwrap_or_default();
        let line = self.selected_line(context.documents).map(|(_, line)| line);
        let of_line = scopes.into_iter().find(|scope| match (scope, &line) {
            (DiffScope::Step(n), Some(line)) => is_step_checkbox(line.trim_start(), *n),
            _ => false,
        });
        match of_line {
            Some(scope) => OpenedEntry::Diff(scope),
            None => OpenedEntry::Refused("Select a step with changes to open its diff here."),
        }
    }

    fn cycle_filter(&mut self, context: &TabContext<'_>) -> Option<Result<(), &'static str>> {
        Some(if self.view.toggle_comparison(context.documents) {
            Ok(())
        } else {
            Err("No earlier version of the plan to compare with.")
        })
    }

    fn selected_text(&self, context: &TabContext<'_>) -> Option<String> {
        self.selected_line(context.documents).map(|(_, text)| text)
    }

    fn whole_text(&mut self, context: &TabContext<'_>) -> Result<String, String> {
        let text = context.documents.plan.text.clone();
        text.ok_or_else(|| "No plan yet.".to_owned())
    }

    fn noted_place(&self, context: &TabContext<'_>) -> Option<UserNote> {
        let (line, quote) = self.selected_line(context.documents)?;
        let text = context.documents.plan.text.as_deref().unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let at = self.view.selected_line();
        let threads = context.state.map(|state| state.threads.all());
        let mut of_line = threads.into_iter().flatten().filter(|thread| {
            !thread.is_resolved && thread.finding.is_none() && thread.find_line(&lines) == at
        });
        Some(UserNote {
            thread: of_line.next().map(|thread| thread.n),
            ..UserNote::at_line(line, quote)
        })
    }
}

/// The hints for reading the plan.
const PLAN_HINTS: TabHints = &[
    (&["previous-block", "next-block"], "select step"),
    (&["open"], "its diff"),
    (&["note"], "note"),
    (&["rewrite"], "edit line"),
    (&["filter"], "compare"),
];

/// The hints while the plan is compared with an earlier version.
const COMPARISON_HINTS: TabHints = &[
    (&["filter"], "back"),
    (&["side"], "other form"),
    POINT_HINT,
    (&["note"], "note"),
    (&["rewrite"], "edit line"),
];
