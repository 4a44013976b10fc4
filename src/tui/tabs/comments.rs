//! Tab: the review. It shows the result of each iteration, then the findings and their status, which can be
//! filtered, selected and opened, then the rest of `comments.md`.

mod comments_entry;
mod finding_entry;
mod finding_list;
mod finding_rows;
mod finding_selection;
mod review_table;
mod thread_entries;

use comments_entry::CommentsEntry;
use finding_list::ledger_entries;
use finding_rows::{FINDING_INDENT, FindingListLayout};
pub use finding_selection::FindingSelection;
use review_table::ReviewTableMode;

use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::screen_tab::{OpenedEntry, ScreenTab, SelectionStep, TabContext};
use super::{POINT_HINT, TabHints};
use crate::domain::ids::UnixMillis;
use crate::domain::plan_thread::UserNote;
use crate::domain::review;
use crate::domain::run::RunState;
use crate::tui::document_texts::DisplayDocuments;
use crate::tui::markdown;
use crate::tui::scroll_view::{ScrollContent, ScrollTarget, ScrollView, add_gutter};
use crate::tui::searchable_view::SearchableView;
use crate::tui::tab_kind::TabKind;
use crate::tui::text_wrap::wrap_trusted_text;
use crate::tui::theme;
use crate::tui::view_moves::SelectionMove;

#[derive(Debug, Default)]
pub struct CommentsTab {
    pub page: ScrollView,
    pub selection: FindingSelection,
}

/// The hints for reading the findings.
const COMMENTS_HINTS: TabHints = &[
    POINT_HINT,
    (&["open"], "open"),
    (&["discuss-finding"], "discuss"),
    (&["jump"], "its line"),
    (&["filter"], "filter"),
];

/// Further actions of the tab, which the help lists with the hints.
const THREAD_ACTIONS: TabHints = &[
    POINT_HINT,
    (&["open", "note", "unnote", "jump", "changed"], "threads"),
    (&["discuss-finding", "settle", "filter"], "findings"),
];

impl SearchableView for CommentsTab {
    fn searched_page(&self) -> Option<&ScrollView> {
        Some(&self.page)
    }

    fn searched_page_mut(&mut self) -> Option<&mut ScrollView> {
        Some(&mut self.page)
    }

    fn search(&mut self, letters: &str) {
        self.selection.set_query(letters);
        self.page.search(letters);
    }

    fn searched_name(&self) -> &'static str {
        TabKind::Comments.title()
    }

    fn accept_match(&mut self) {
        if let Some(ScrollTarget::Finding(n)) = self.page.match_target() {
            self.selection.select(ScrollTarget::Finding(n));
            self.selection.keep_open(n);
        }
    }

    fn end_search(&mut self) {
        self.page.end_search();
        self.selection.set_query("");
    }
}

impl ScreenTab for CommentsTab {
    fn hints(&self) -> TabHints {
        COMMENTS_HINTS
    }

    fn actions(&self) -> TabHints {
        THREAD_ACTIONS
    }

    fn is_hint_useful(&self, _label: &str, context: &TabContext<'_>) -> bool {
        let has_entries =
            |state: &RunState| !state.findings.all().is_empty() || !state.threads.all().is_empty();
        context.state.is_some_and(has_entries)
    }

    fn revision(&self, documents: &DisplayDocuments) -> u64 {
        documents.comments.revision
    }

    fn count(&self, state: &RunState) -> String {
        match state.findings.open().count() {
            0 => String::new(),
            n_open => format!(" {n_open}"),
        }
    }

    fn page(&mut self) -> Option<&mut ScrollView> {
        Some(&mut self.page)
    }

    fn draw(&mut self, frame: &mut Frame, area: Rect, context: &TabContext<'_>, _now: UnixMillis) {
        self.page.set_page_keys(context.page_keys());
        draw(self, frame, area, context);
    }

    fn entry_filter(&self) -> fn(ScrollTarget) -> bool {
        |mark| matches!(mark, ScrollTarget::Finding(_) | ScrollTarget::Note(_))
    }

    fn selected_entry(&self) -> Option<ScrollTarget> {
        self.selection.selected_finding().map(ScrollTarget::Finding)
    }

    fn select(&mut self, mark: ScrollTarget) {
        if is_entry(mark) {
            self.selection.select(mark);
        }
    }

    fn select_adjacent(&mut self, along: SelectionMove, context: &TabContext<'_>) -> SelectionStep {
        let Some(state) = context
            .state
            .filter(|state| !state.findings.all().is_empty() || !state.threads.all().is_empty())
        else {
            return SelectionStep::Empty("No findings to select yet.");
        };
        let above = self.page.has_target(ScrollTarget::Reviews);
        let above = above.then_some(ScrollTarget::Reviews);
        match self
            .selection
            .move_selection(along.is_forward(), state, above)
        {
            Some(mark) => {
                self.page.scroll_to(mark);
                SelectionStep::Selected(mark)
            }
            None => SelectionStep::AtEdge,
        }
    }

    fn clear_selection(&mut self) -> bool {
        self.selection.clear_selection()
    }

    fn click(&mut self, at: Position) -> bool {
        let Some(mark) = self.page.target_at(at).filter(|mark| is_entry(*mark)) else {
            return false;
        };
        // The other rows can only be opened, so the first click does it.
        let was = self.selection.selected_mark() == Some(mark)
            || !matches!(mark, ScrollTarget::Finding(_) | ScrollTarget::Note(_));
        self.selection.select(mark);
        was
    }

    fn open_selection(&mut self, _context: &TabContext<'_>) -> OpenedEntry {
        if self.selection.toggle_selected() {
            OpenedEntry::InPlace
        } else if let Some(ScrollTarget::Note(_)) = self.selection.selected_mark() {
            OpenedEntry::Refused("A thread is shown in full. > goes to its line, ; answers.")
        } else {
            OpenedEntry::NotSelected("a finding")
        }
    }

    fn cycle_filter(&mut self, context: &TabContext<'_>) -> Option<Result<(), &'static str>> {
        self.selection.next_filter(context.state);
        Some(Ok(()))
    }

    fn selected_text(&self, context: &TabContext<'_>) -> Option<String> {
        if let Some(ScrollTarget::Note(n)) = self.selection.selected_mark() {
            return context.state?.threads.get(n).map(review::render_thread);
        }
        let n = self.selection.selected_finding()?;
        let all = context.state?.findings.all().iter();
        let remark = all
            .map(|finding| &finding.remark)
            .find(|remark| remark.n == n)?;
        let evidence = context
            .documents
            .evidence
            .get(&n)
            .map_or("", String::as_str);
        let (severity, text) = (remark.severity.as_str(), &remark.text);
        let text = format!("{n}. [{severity}] {text}\n{evidence}");
        Some(text.trim_end().to_owned())
    }

    fn whole_text(&mut self, context: &TabContext<'_>) -> Result<String, String> {
        let text = context.documents.comments.text.clone();
        text.ok_or_else(|| "No comments yet.".to_owned())
    }

    fn noted_place(&self, context: &TabContext<'_>) -> Option<UserNote> {
        let threads = &context.state?.threads;
        if let Some(ScrollTarget::Note(n)) = self.selection.selected_mark() {
            return threads.get(n).map(|thread| UserNote {
                line: thread.line,
                quote: thread.quote.clone(),
                thread: Some(n),
                ..UserNote::default()
            });
        }
        let n = self.selection.selected_finding()?;
        let mut open_threads = threads.of_finding(n).filter(|thread| !thread.is_resolved);
        Some(UserNote {
            thread: open_threads.next().map(|thread| thread.n),
            finding: Some(n),
            ..UserNote::default()
        })
    }
}

/// Returns whether a target is an entry of the list.
fn is_entry(mark: ScrollTarget) -> bool {
    matches!(
        mark,
        ScrollTarget::Finding(_)
            | ScrollTarget::Settled
            | ScrollTarget::Reviews
            | ScrollTarget::Note(_)
    )
}

/// Names what can be done with the selected finding or thread, in a row below it.
fn selected_actions(
    selection: &FindingSelection,
    context: &TabContext<'_>,
) -> Option<CommentsEntry> {
    let state = context.state?;
    let mark = selection.selected_mark()?;
    let does: &[(&str, &str)] = match mark {
        ScrollTarget::Finding(n) if state.findings.open().any(|one| one.remark.n == n) => &[
            ("open", "details"),
            ("jump", "its line"),
            ("note", "note"),
            ("discuss-finding", "discuss"),
            ("copy", "copy"),
        ],
        ScrollTarget::Finding(_) => &[
            ("open", "details"),
            ("jump", "its line"),
            ("changed", "what changed"),
            ("copy", "copy"),
        ],
        ScrollTarget::Note(_) => &[
            ("jump", "its line"),
            ("note", "answer"),
            ("changed", "what changed"),
            ("copy", "copy"),
        ],
        _ => return None,
    };
    let parts = context.action_spans(does);
    if parts.is_empty() {
        return None;
    }
    let lead = match mark {
        ScrollTarget::Finding(_) => FINDING_INDENT,
        _ => 4,
    };
    Some(CommentsEntry {
        mark: Some(mark),
        is_indented: true,
        ..CommentsEntry::from_parts(parts, lead)
    })
}

/// Draws the findings and the one that is selected.
fn draw(tab: &mut CommentsTab, frame: &mut Frame, area: Rect, context: &TabContext<'_>) {
    let CommentsTab {
        page,
        selection: chosen,
    } = tab;
    let (texts, state, clock) = (context.documents, context.state, context.clock);
    let mut expanded = chosen.expanded;
    let selection = &*chosen;
    let columns = usize::from(area.width);
    let actions = selected_actions(selection, context);
    let of = |form: FindingListLayout, table: ReviewTableMode| {
        let ledger = state.map(|state| ledger_entries(state, selection, form, table, texts, clock));
        let mut ledger = ledger.unwrap_or_default();
        let of_selected = |entry: &CommentsEntry| entry.mark == selection.selected_mark();
        if let Some(at) = ledger.iter().rposition(of_selected) {
            ledger.splice(at + 1..at + 1, actions.clone());
        }
        ledger
    };
    let first = state.and_then(|state| selection.first_to_expand(state));
    let most = of(FindingListLayout::Expanded(first), ReviewTableMode::Full);
    let mut hasher = DefaultHasher::new();
    (columns, texts.comments.revision, selection.selected, &most).hash(&mut hasher);
    (area.height, selection.reviews_fold).hash(&mut hasher);
    selection.expansion().hash(&mut hasher);
    page.lay_out(hasher.finish(), || {
        let rows = usize::from(area.height);
        let laid = lay_out(&most, selection, texts, columns);
        expanded = first.filter(|_| laid.lines.len() <= rows);
        let laid = match (first, expanded) {
            (Some(_), None) => {
                let whole = of(FindingListLayout::Full, ReviewTableMode::Full);
                lay_out(&whole, selection, texts, columns)
            }
            _ => laid,
        };
        let (Some(state), true) = (state, laid.lines.len() > rows) else {
            return laid;
        };
        let n_verdicts = review_table::table_height(state, clock, columns);
        let table = if n_verdicts > 1 && n_verdicts * review_table::MAX_TABLE_SHARE > rows {
            selection.review_table_mode()
        } else {
            ReviewTableMode::Full
        };
        let laid = lay_out(
            &of(FindingListLayout::Full, table),
            selection,
            texts,
            columns,
        );
        if laid.lines.len() > rows
            && selection.listed_findings(state).len() >= finding_rows::MIN_COMPACT_FINDINGS
        {
            lay_out(
                &of(FindingListLayout::Compact, table),
                selection,
                texts,
                columns,
            )
        } else {
            laid
        }
    });
    chosen.expanded = expanded;
    page.draw(frame, area);
}

fn lay_out(
    ledger: &[CommentsEntry],
    chosen: &FindingSelection,
    texts: &DisplayDocuments,
    columns: usize,
) -> ScrollContent {
    let columns = columns.saturating_sub(1);
    let mut laid = ScrollContent::default();
    for entry in ledger {
        if let Some(mark) = entry.mark {
            laid.targets.entry(mark).or_insert(laid.lines.len());
        }
        let is_picked = entry.mark.is_some() && entry.mark == chosen.selected;
        laid.lines
            .extend(add_gutter(entry.lines(columns), is_picked));
    }
    if ledger.is_empty() && texts.comments.text.is_none() {
        let none = wrap_trusted_text(
            "No review yet. It starts after the plan is written.",
            columns,
            theme::QUIET,
        );
        laid.lines.extend(add_gutter(none, false));
    }
    if !texts.unparsed_comments.is_empty() {
        let mut rest = Vec::new();
        if !ledger.is_empty() {
            rest.push(Line::default());
            rest.push(Line::styled("── Also in the comments ", theme::QUIET));
        }
        rest.extend(markdown::lay_out(
            &texts.unparsed_comments,
            columns,
            theme::PLAIN,
        ));
        laid.lines.extend(add_gutter(rest, false));
    }
    laid
}
